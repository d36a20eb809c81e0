#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A workspace of somebody else's, with this one as a local_repository.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

here=$PWD
user=$scratch/user
mkdir "$user"
# What docs/building.md tells a user to write.
cat > "$user/WORKSPACE" << END
workspace(name = "user")

local_repository(
    name = "lookaside",
    path = "$here",
)

load("@lookaside//bazel:deps.bzl", "lookaside_deps")

lookaside_deps()
END
cat > "$user/BUILD" << 'END'
cc_binary(
    name = "program",
    srcs = ["program.cc"],
    copts = ["-std=c++20"],
    deps = ["@lookaside//:lookaside"],
)
END
echo 'common --experimental_repository_disable_download' > "$user/.bazelrc"
if [[ -e examples/count_misses.cc ]]; then
  cp examples/count_misses.cc "$user/program.cc"
else
  cat > "$user/program.cc" << 'END'
#include <cstdio>

#include "lookaside/lookaside.h"

int main() { std::puts(lookaside::kVersion); }
END
fi

in_user() { (cd "$user" && "$here/bazelw" --output_user_root="$scratch/bazel" "$@" < /dev/null); }
step "downstream: a program that links the library" in_user run "${bazel_flags[@]}" //:program
step "downstream: the command" in_user run "${bazel_flags[@]}" @lookaside//:lookaside -- version
in_user shutdown
# Bazel writes its tree without the right to write.
chmod -R u+w "$scratch/bazel" 2> /dev/null
exit 0
