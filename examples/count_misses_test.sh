#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The example runs, and shows what it is meant to: 64 entries hold 64 pages.
set -euo pipefail
output=$("$1")
echo "$output"
grep -Eq '^ +64 +0 +0$' <<< "$output"
grep -Eq '^ +4096 +4096 +[1-9]' <<< "$output"
