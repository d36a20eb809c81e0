# SPDX-License-Identifier: Apache-2.0
"""Everything that comes from outside this repository.

A workspace that uses this one calls lookaside_deps() too. A repository that it
has declared before, under the same name, is left alone.
"""

load("@lookaside//bazel:system.bzl", "system_library")

def _carried_impl(rctx):
    for entry in rctx.path(rctx.attr.marker).dirname.readdir():
        rctx.symlink(entry, entry.basename)

_carried = repository_rule(
    implementation = _carried_impl,
    attrs = {"marker": attr.label(mandatory = True)},
    local = True,
)

def _maybe(rule, name, **kwargs):
    if name not in native.existing_rules():
        rule(name = name, **kwargs)

def lookaside_deps():
    """Declares the repositories; each is looked up only when a target needs it."""

    # Bazel 4 would download these to build any C++ at all; the little of them
    # that it uses is carried here.
    _maybe(_carried, "rules_cc", marker = "@lookaside//bazel:rules_cc/WORKSPACE")
    _maybe(_carried, "rules_java", marker = "@lookaside//bazel:rules_java/WORKSPACE")
    _maybe(_carried, "remote_coverage_tools", marker = "@lookaside//bazel:remote_coverage_tools/WORKSPACE")

    _maybe(system_library, "lookaside_absl", deb = "libabsl-dev", headers = ["absl"], targets = {
        "flat_hash_map": "absl_flat_hash_map absl_flat_hash_set",
        "function_ref": "absl_function_ref",
        "hash": "absl_hash",
        "inlined_vector": "absl_inlined_vector",
        "span": "absl_span",
        "status": "absl_status",
        "statusor": "absl_statusor",
        "strings": "absl_strings absl_str_format",
    })
    _maybe(system_library, "lookaside_fmt", deb = "libfmt-dev", headers = ["fmt"], targets = {"fmt": "fmt"})
    _maybe(system_library, "lookaside_cli11", deb = "libcli11-dev", headers = ["CLI"], targets = {"cli11": ""})

    # Only headers: the shared library is built with exceptions, we are not.
    _maybe(system_library, "lookaside_tomlplusplus", deb = "libtomlplusplus-dev", headers = ["toml++"], targets = {"tomlplusplus": ""})
    _maybe(system_library, "lookaside_json", deb = "nlohmann-json3-dev", headers = ["nlohmann"], targets = {"json": ""})
    _maybe(system_library, "lookaside_zstd", deb = "libzstd-dev", headers = ["zstd.h", "zstd_errors.h", "zdict.h"], targets = {"zstd": "libzstd"})
    _maybe(system_library, "lookaside_zlib", deb = "zlib1g-dev", headers = ["zlib.h", "zconf.h"], targets = {"zlib": "zlib"})
    _maybe(system_library, "lookaside_lzma", deb = "liblzma-dev", headers = ["lzma.h", "lzma"], targets = {"lzma": "liblzma"})
    _maybe(system_library, "lookaside_lz4", deb = "liblz4-dev", headers = ["lz4frame.h", "lz4.h"], targets = {"lz4": "liblz4"})
    _maybe(system_library, "lookaside_bz2", deb = "libbz2-dev", headers = ["bzlib.h"], targets = {"bz2": "-lbz2"})
    _maybe(system_library, "lookaside_snappy", deb = "libsnappy-dev", headers = ["snappy.h", "snappy-stubs-public.h"], targets = {"snappy": "snappy"})
    _maybe(system_library, "lookaside_zip", deb = "libzip-dev", headers = ["zip.h", "zipconf.h"], targets = {"zip": "libzip"})
    _maybe(system_library, "lookaside_xxhash", deb = "libxxhash-dev", headers = ["xxhash.h", "xxh3.h"], targets = {"xxhash": "libxxhash"})

    _maybe(system_library, "lookaside_googletest", deb = "libgtest-dev libgmock-dev", headers = ["gtest", "gmock"], targets = {
        "gtest": "gmock gtest",
        "gtest_main": "gmock_main",
    })
    _maybe(system_library, "lookaside_benchmark", deb = "libbenchmark-dev", headers = ["benchmark"], targets = {"benchmark": "benchmark"})
