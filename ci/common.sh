# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts of ci/. Each of them can be run alone and then ends
# with its own "N passed, N failed"; .ci/run adds them up, through a file.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One line a result: "pass NAME" or "fail NAME: REASON".
if [[ -n ${LOOKASIDE_CI_RESULTS:-} ]]; then
  results=$LOOKASIDE_CI_RESULTS
  alone=
else
  results=$(mktemp)
  alone=1
fi
scratch=$(mktemp -d)

finish() {
  local status=$?
  rm -rf "$scratch"
  # A script that stops half-way has not passed, whatever it had counted.
  ((status == 0)) || fail "$(basename "$0")" "stopped with status $status"
  [[ -n $alone ]] || exit 0
  summary
  status=$?
  rm -f "$results"
  exit "$status"
}
trap finish EXIT

pass() { echo "pass $1" >> "$results"; }

fail() {
  echo "FAILED: $1: $2" >&2
  echo "fail $1: $2" >> "$results"
}

# The closing line; its status says whether all is well.
summary() {
  local passed failed
  passed=$(grep -c '^pass ' "$results")
  failed=$(grep -c '^fail ' "$results")
  sed -n 's/^fail /FAILED: /p' "$results"
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}

# step NAME COMMAND...: one result. The output is shown when it fails.
step() {
  local name=$1 status
  shift
  echo "== $name" >&2
  "$@" > "$scratch/step.log" 2>&1 < /dev/null
  status=$?
  if ((status == 0)); then
    pass "$name"
  else
    tail -n 100 "$scratch/step.log" >&2
    fail "$name" "$(reason "$scratch/step.log") (status $status)"
  fi
  return "$status"
}

# The line of a log that most likely says why.
reason() {
  local line pattern
  for pattern in '^[^ ]+:[0-9]+:[0-9]+: (fatal )?error: ' 'ERROR: (AddressSanitizer|LeakSanitizer|libFuzzer)|runtime error: ' '^Error in ' '^[^ ]*error: ' '^ERROR: '; do
    line=$(grep -m 1 -E "$pattern" "$1") && break
    line=$(tail -n 1 "$1")
  done
  echo "${line:0:240}"
}

# What Bazel is told in every script: objects are shared between clones. Bazel
# does not know the system's compilers and headers by content, so the place of
# the cache does, by the versions of their packages.
cache=${LOOKASIDE_CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookaside-bazel}
if [[ $(du -sm "$cache" 2> /dev/null | cut -f 1) -gt 6000 ]]; then
  rm -rf "$cache"  # Bazel never shrinks it.
fi
cache+=/$(dpkg-query -W -f '${Package} ${Version}\n' 'binutils*' 'clang*' 'g++*' 'gcc*' 'lib*-dev' 2> /dev/null | sha256sum | cut -c 1-16)
bazel_flags=(--disk_cache="$cache" --color=no --curses=no --show_progress_rate_limit=30)
# In CI every test runs, also one that passed in another clone. Only the
# commands that run tests know the flag.
test_flags=()
[[ -z ${CI:-} ]] || test_flags+=(--nocache_test_results)

# bazel COMMAND ARGUMENTS...
bazel() {
  local command=$1
  shift
  ./bazelw "$command" "${bazel_flags[@]}" "$@" < /dev/null
}

# bazel_test NAME ARGUMENTS...: one result for each test target, and one for
# the rest of the build, since //... also holds what no test needs.
bazel_test() {
  local name=$1 events=$scratch/events.json status
  shift
  echo "== $name: bazel test $*" >&2
  rm -f "$events"
  ./bazelw test "$@" "${bazel_flags[@]}" "${test_flags[@]}" --keep_going --build_event_json_file="$events" \
    > "$scratch/test.log" 2>&1 < /dev/null
  status=$?
  # 3: it was built, and a test failed; 4: there is no test.
  ((status == 0)) || cat "$scratch/test.log" >&2
  case $status in
    0 | 3) pass "$name: build" ;;
    *) fail "$name: build" "$(reason "$scratch/test.log") (status $status)" ;;
  esac
  [[ -s $events ]] || return "$status"
  if ! jq -r --arg name "$name" '
      if .testSummary then
        .id.testSummary.label as $target
        | if .testSummary.overallStatus == "PASSED" then "pass \($name): \($target)"
          else "fail \($name): \($target): \(.testSummary.overallStatus)" end
      elif .id.targetCompleted and .aborted then
        "fail \($name): \(.id.targetCompleted.label): \(.aborted.reason)"
      else empty end' "$events" | sort -u > "$scratch/targets"; then
    fail "$name" "cannot read what Bazel reports"
  fi
  cat "$scratch/targets" >> "$results"
  return "$status"
}
