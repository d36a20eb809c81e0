#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gcc and clang give the same results, byte for byte, outside `host`.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
packages/install ci

# One line a comparison: the arguments of the command. In a line, OUT is the
# file for the result; a line without OUT is compared by its standard output.
recording=testdata/zstd.lackey.xz
comparisons=(
  "version"
  "demo"
  "config show sapphirerapids"
  "trace info $recording"
  "trace info $recording --json -"
  "replay $recording --cpu neoverse-n1"
  "replay $recording --cpu textbook --json OUT"
  "replay $recording --cpu nehalem-ep --json OUT"
  "replay $recording --cpu skylake-sp --json OUT"
  "replay $recording --cpu sapphirerapids --set paging.levels=5 --json OUT"
  "replay $recording --cpu zen3 --set paging.thp=always --set replay.warmup=1000000 --json OUT"
  "replay $recording --cpu haswell-ep --set replay.cpu=40 --set walk.overlap=0.333 --set walk.data_pressure=0.5 --json OUT"
  "replay $recording --cpu skylake-sp --set tlb.dtlb_4k.replacement=random --set tlb.dtlb_4k.entries=16 --seed 42 --json OUT"
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
