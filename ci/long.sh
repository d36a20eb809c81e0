#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What takes longer than CI should: run by hand, its last result stands in
# docs/long_runs.md.
#
#   ci/long.sh                        hours
#   FUZZ_SECONDS=60 ci/long.sh        less of it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

operations=${TWIN_OPERATIONS:-40000}
fuzz_seconds=${FUZZ_SECONDS:-600}

echo "== machine and twin: $operations random operations of each drive"
./bazelw test //test/machine:machine_twin_test --test_timeout=3600 \
  --test_env=LOOKASIDE_TWIN_OPERATIONS="$operations" --test_output=summary

random=${RANDOM_OPERATIONS:-10000000}
echo "== recorded and timed order: $random random operations under each kernel version"
./bazelw test //test/kernel:kernel_random_test //test/kernel:timed_random_test \
  --test_timeout=14400 --test_output=summary \
  --test_env=LOOKASIDE_RECORDED_OPERATIONS="$random" \
  --test_env=LOOKASIDE_TIMED_OPERATIONS="$random"

echo "== published figures, all of them"
./bazelw run //:lookaside -- reproduce

echo "== fuzz targets: $fuzz_seconds seconds each"
FUZZ_SECONDS=$fuzz_seconds ci/clang_sanitizers.sh
