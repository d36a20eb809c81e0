#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Clang with layering_check, address and undefined-behaviour sanitizers and
# assertions; then every fuzz target for a few seconds, from its corpus.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
packages/install ci
seconds=${FUZZ_SECONDS:-5}

bazel_test clang-san --config=clang-san //...

mapfile -t fuzzers < <(bazel query 'attr(tags, "\bfuzzer\b", //...)' 2> "$scratch/query.log")
((${#fuzzers[@]})) || { cat "$scratch/query.log" >&2; exit 0; }
step "fuzzers: build" bazel build --config=clang-san "${fuzzers[@]}" || exit 0
bin=$(bazel info --config=clang-san bazel-bin 2> /dev/null)

fuzz() {
  local fuzzer=$1 corpus=$scratch/corpus file
  rm -rf "$corpus"
  mkdir "$corpus"
  # The corpus is copied: libFuzzer writes what it finds beside it.
  while read -r file; do
    file=${file#//}
    cp "${file/://}" "$corpus/$(sha1sum <<< "$file" | cut -c 1-16)" || return
  done < <(bazel query "labels(srcs, ${fuzzer%_fuzzer}_corpus)" 2> /dev/null)
  (cd "$corpus" && "$bin/$(sed 's#^//##; s#:#/#' <<< "$fuzzer")" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 .)
}
for fuzzer in "${fuzzers[@]}"; do
  step "fuzz $fuzzer" fuzz "$fuzzer"
done
exit 0
