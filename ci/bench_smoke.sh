#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every benchmark runs, for a moment: this shows that it works, not how fast.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t benchmarks < <(bazel query 'attr(tags, "\bbenchmark\b", //...)' 2> "$scratch/query.log")
((${#benchmarks[@]})) || { cat "$scratch/query.log" >&2; exit 0; }
step "benchmarks: build" bazel build "${benchmarks[@]}" || exit 0
bin=$(bazel info bazel-bin 2> /dev/null)
for benchmark in "${benchmarks[@]}"; do
  program=$bin/$(sed 's#^//##; s#:#/#' <<< "$benchmark")
  run() { (cd "$program.runfiles/lookaside" && "$program" --benchmark_min_time=0.01); }
  step "benchmark $benchmark" run
done
exit 0
