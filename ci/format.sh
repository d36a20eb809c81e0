#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C++ file under version control is as clang-format 19 writes it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
packages/install ci

format() {
  git ls-files -z '*.h' '*.cc' | xargs -0 clang-format-19 --dry-run --Werror
}
step "clang-format" format
exit 0
