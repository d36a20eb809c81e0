#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's test command: gcc, optimised, warnings are errors.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bazel_test gcc //...
exit 0
