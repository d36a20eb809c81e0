#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gcc and clang give the same results, byte for byte, outside `host`.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
packages/install ci

# One line a comparison: the arguments of the command. In a line, OUT is the
# file for the result; a line without OUT is compared by its standard output.
comparisons=(
  "version"
)

step "gcc: build" bazel build //:lookaside || exit 0
cp -L "$(bazel info bazel-bin 2> /dev/null)/lookaside" "$scratch/gcc" || exit 1
step "clang: build" bazel build --config=clang //:lookaside || exit 0
cp -L "$(bazel info --config=clang bazel-bin 2> /dev/null)/lookaside" "$scratch/clang" || exit 1

compare() {
  local arguments=$1 compiler
  for compiler in gcc clang; do
    local out=$scratch/$compiler.out
    # shellcheck disable=SC2086 # The arguments are words.
    "$scratch/$compiler" ${arguments//OUT/$out.json} > "$out" || return
    if [[ $arguments == *OUT* ]]; then
      ci/without_host.py < "$out.json" > "$out" || return
    fi
  done
  [[ -s $scratch/gcc.out ]] || { echo "error: nothing to compare"; return 1; }
  cmp "$scratch/gcc.out" "$scratch/clang.out" || { diff "$scratch/gcc.out" "$scratch/clang.out" | head -n 20; return 1; }
}
for arguments in "${comparisons[@]}"; do
  step "gcc against clang: $arguments" compare "$arguments"
done
exit 0
