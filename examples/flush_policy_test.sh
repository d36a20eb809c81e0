#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The example runs, and its policy makes a difference; it has at most 60 lines.
set -euo pipefail
output=$("$1")
echo "$output"
ceiling=$(awk '$1 == "ceiling" { print $2 }' <<< "$output")
own=$(awk '$1 == "own" { print $2 }' <<< "$output")
[[ $ceiling -gt 0 && $own -gt 0 && $ceiling -ne $own ]]
[[ $(wc -l < "$2") -le 60 ]]
