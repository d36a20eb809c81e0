# SPDX-License-Identifier: Apache-2.0
"""How this repository builds C++.

lookaside_library    a library of src/; its place among the floors decides who may use it
lookaside_binary     a program
lookaside_test       a GoogleTest program
lookaside_benchmark  a Google Benchmark program
lookaside_fuzz_test  a libFuzzer target, and a test that replays its corpus
embed                files, as a library
command_and_library  one label that can be run and can be linked
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

# Who may include whom: a lower number never includes a higher one, and equal
# numbers never include each other.
_FLOORS = {
    "base": 1,
    "tlb": 2,
    "cost": 2,
    "trace": 2,
    "pagetable": 3,
    "rcu": 3,
    "machine": 4,
    "kernel": 5,
    "xpfo": 6,
    "hypervisor": 6,
    "config": 7,
    "workload": 8,
    "replay": 9,
    "report": 10,
    "sweep": 11,
    "check": 11,
    "reproduce": 11,
    "record": 11,
    "cli": 12,
}

# These see every floor, and no floor sees them.
_ABOVE_ALL = [
    "//:__pkg__",
    "//src:__pkg__",
    "//src/testing:__subpackages__",
    "//test:__subpackages__",
    "//bench:__subpackages__",
    "//examples:__subpackages__",
]

_TESTING_VISIBILITY = [
    "//src/testing:__subpackages__",
    "//test:__subpackages__",
    "//bench:__subpackages__",
]

# A workspace that uses this one inherits nothing of our .bazelrc, so the
# language stands with the targets. Warnings are for us alone: see .bazelrc.
# Nothing here replaces a function at run time: gcc may inline within a file
# though the objects are position-independent (BM_UniformRandom: a fifth).
_COPTS = [
    "-std=c++20",
    "-fno-semantic-interposition",
]

# toml++ without exceptions. Local: a user's own toml++ stays as it is.
_LOCAL_DEFINES = ["TOML_EXCEPTIONS=0"]

def _directory(package):
    """"tlb" for src/tlb and src/tlb/internal; "" for src; None outside src."""
    parts = package.split("/")
    if parts[0] != "src":
        return None
    return parts[1] if len(parts) > 1 else ""

def _check_deps(name, deps, testonly):
    """Fails where visibility would, but says which rule is broken."""
    package = native.package_name()
    here = _directory(package)
    if here in [None, "", "testing"] or type(deps) != "list":
        return
    for dep in deps:
        label = dep.split("//", 1)[-1] if "//" in dep else ""
        if dep.startswith("@") and not dep.startswith(("@//", "@lookaside//")):
            continue
        there = _directory(label.split(":")[0]) if label else None
        if there == None or there == here:
            continue
        if there == "testing":
            if not testonly:
                fail("//%s:%s depends on %s, which is for tests only" % (package, name, dep))
            continue
        if there == "":
            fail("//%s:%s depends on %s, which stands above all floors" % (package, name, dep))
        if there not in _FLOORS:
            fail("//%s:%s depends on %s: src/%s has no floor in bazel/lookaside.bzl" % (package, name, dep, there))
        if _FLOORS[there] >= _FLOORS[here]:
            fail("//%s:%s (floor %d) depends %s on %s (floor %d); see the table of floors in bazel/lookaside.bzl" % (
                package,
                name,
                _FLOORS[here],
                "upward" if _FLOORS[there] > _FLOORS[here] else "sideways",
                dep,
                _FLOORS[there],
            ))

def _visibility():
    """Who may use the targets of the package being built."""
    package = native.package_name()
    here = _directory(package)
    if here == None:
        # Data and helpers outside src: below every floor.
        return ["//src:__subpackages__"] + _ABOVE_ALL
    if here == "testing":
        return _TESTING_VISIBILITY
    if here == "":
        return [v for v in _ABOVE_ALL if not v.startswith("//src")]
    if here not in _FLOORS:
        fail("src/%s has no floor in bazel/lookaside.bzl" % here)
    return ["//src/%s:__subpackages__" % d for d, floor in _FLOORS.items() if d == here or floor > _FLOORS[here]] + _ABOVE_ALL

def _include_directory():
    """The directory of an include: lookaside/tlb for src/tlb, lookaside/test/tlb for test/tlb."""
    package = native.package_name()
    path = package[len("src"):].lstrip("/") if _directory(package) != None else package
    return "lookaside/" + path if path else "lookaside"

def lookaside_library(name, srcs = [], hdrs = [], deps = [], testonly = None, copts = [], local_defines = [], visibility = None, **kwargs):
    """A library whose headers are included as "lookaside/<directory below src>/<file>.h".

    Args:
      name: as in cc_library, like the rest.
      srcs: sources.
      hdrs: headers.
      deps: libraries; a dependency on a higher or equal floor is an error.
      testonly: implied by src/testing, test and bench.
      copts: further options.
      local_defines: further defines.
      visibility: follows from the floors; may only be made private.
      **kwargs: further attributes of cc_library.
    """
    package = native.package_name()
    here = _directory(package)
    for_tests = here == "testing" or package.split("/")[0] in ["test", "bench"]
    if testonly == None:
        testonly = for_tests
    _check_deps(name, deps, testonly)
    if visibility not in [None, ["//visibility:private"]]:
        fail("//%s:%s: visibility follows from the table of floors" % (package, name))
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps,
        testonly = testonly,
        copts = _COPTS + copts,
        local_defines = _LOCAL_DEFINES + local_defines,
        strip_include_prefix = "/src" if here != None else "/",
        include_prefix = "lookaside",
        # Nothing here is linked dynamically; this saves a link per library.
        linkstatic = True,
        visibility = visibility or (_TESTING_VISIBILITY if for_tests else _visibility()),
        **kwargs
    )

def lookaside_binary(name, srcs, deps = [], copts = [], local_defines = [], testonly = False, **kwargs):
    """A program; private unless visibility is given."""
    _check_deps(name, deps, testonly)
    cc_binary(
        name = name,
        srcs = srcs,
        deps = deps,
        copts = _COPTS + copts,
        local_defines = _LOCAL_DEFINES + local_defines,
        testonly = testonly,
        **kwargs
    )

def lookaside_test(name, srcs, deps = [], size = "small", copts = [], local_defines = [], main = True, **kwargs):
    """A GoogleTest program; gmock is there too.

    Args:
      name: as in cc_test, like the rest.
      srcs: sources.
      deps: libraries, without GoogleTest.
      size: of the test.
      copts: further options.
      local_defines: further defines.
      main: False for a test that brings its own main().
      **kwargs: further attributes of cc_test.
    """
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        deps = deps + ["//third_party:gtest_main" if main else "//third_party:gtest"],
        copts = _COPTS + copts,
        local_defines = _LOCAL_DEFINES + local_defines,
        linkstatic = True,
        **kwargs
    )

def lookaside_benchmark(name, srcs, deps = [], copts = [], local_defines = [], tags = [], **kwargs):
    """A Google Benchmark program; the source ends with BENCHMARK_MAIN()."""
    cc_binary(
        name = name,
        srcs = srcs,
        deps = deps + ["//third_party:benchmark"],
        copts = _COPTS + copts,
        local_defines = _LOCAL_DEFINES + local_defines,
        testonly = True,
        tags = tags + ["benchmark"],
        **kwargs
    )

def lookaside_fuzz_test(name, srcs, corpus, deps = [], size = "small", copts = [], local_defines = [], tags = [], **kwargs):
    """A source with LLVMFuzzerTestOneInput.

    <name> is a test that runs it once on the empty input and once on each file
    of the corpus, with any compiler. <name>_fuzzer is the libFuzzer program,
    for --config=clang-san; it is tagged manual, since gcc cannot link it.

    Args:
      name: of the test.
      srcs: sources.
      corpus: files, at least one.
      deps: libraries.
      size: of the test.
      copts: further options.
      local_defines: further defines.
      tags: of the test.
      **kwargs: further attributes of the test.
    """
    if not corpus:
        fail("//%s:%s has no corpus" % (native.package_name(), name))
    cc_library(
        name = name + "_target",
        srcs = srcs,
        deps = deps,
        testonly = True,
        copts = _COPTS + copts,
        local_defines = _LOCAL_DEFINES + local_defines,
        alwayslink = True,
        linkstatic = True,
        visibility = ["//visibility:private"],
    )
    native.filegroup(
        name = name + "_corpus",
        srcs = corpus,
        visibility = ["//visibility:private"],
    )
    cc_test(
        name = name,
        size = size,
        args = ["$(rootpaths :%s_corpus)" % name],
        data = [":%s_corpus" % name],
        deps = [":%s_target" % name, "//test/fuzz:corpus_main"],
        linkstatic = True,
        tags = tags,
        **kwargs
    )
    cc_binary(
        name = name + "_fuzzer",
        deps = [":%s_target" % name],
        linkopts = ["-fsanitize=fuzzer"],
        testonly = True,
        tags = ["fuzzer", "manual"],
    )

def _link_only_impl(ctx):
    return [CcInfo(linking_context = ctx.attr.dep[CcInfo].linking_context)]

# Passes on what is linked and not what is compiled: a change of an embedded
# file then recompiles nothing but the object that holds it.
_link_only = rule(
    implementation = _link_only_impl,
    attrs = {"dep": attr.label(mandatory = True, providers = [CcInfo])},
)

def _camel_case(name):
    return "".join([word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_")])

def embed(name, srcs, function = None, visibility = None, testonly = None):
    """Files as a library, found wherever the program is copied to.

    embed(name = "presets", srcs = glob(["*.toml"])) in the package presets (or
    src/presets) gives the header "lookaside/presets/presets.h" with

        namespace lookaside {
        std::span<const EmbeddedFile> Presets();  // sorted by name
        }

    where EmbeddedFile has name ("skylake-sp.toml", relative to the package) and
    contents, both std::string_view.

    Args:
      name: of the library.
      srcs: files, given as names or labels within this package.
      function: the name of the function, if the name of the library in CamelCase is not good.
      visibility: as lookaside_library has it, unless given.
      testonly: as in cc_library.
    """
    if not srcs:
        fail("//%s:%s embeds no file" % (native.package_name(), name))
    function = function or _camel_case(name)
    header = "%s/%s.h" % (_include_directory(), name)
    guard = header.upper().replace("/", "_").replace(".", "_").replace("-", "_") + "_"
    symbol = "lookaside_embedded_" + (native.package_name() + "/" + name).replace("_", "_u").replace("/", "_s").replace("-", "_d").replace(".", "_p")

    files = sorted([(src[1:] if src.startswith(":") else src) for src in srcs])
    assembly, declarations, entries = [], [], []
    for i, file in enumerate(files):
        begin, end = "%s_%d" % (symbol, i), "%s_%d_end" % (symbol, i)

        # The hash makes the text change with the file: .incbin is no include
        # to the compiler, so Bazel 4 would not see that the object is stale.
        assembly.append("""
echo "// $$(sha256sum < $(location {file}))"
echo ' .balign 16'
echo ' .global {begin}, {end}'
echo '{begin}: .incbin "$(location {file})"'
echo '{end}: .byte 0'
""".format(file = file, begin = begin, end = end))
        declarations.append("extern const char %s[];\nextern const char %s[];" % (begin, end))
        entries.append("      File(\"%s\", %s, %s)," % (file, begin, end))

    native.genrule(
        name = name + "_assembly",
        srcs = files,
        outs = [name + "_embedded.S"],
        cmd = "{\necho ' .section .rodata'\n%s\necho ' .section .note.GNU-stack,\"\",@progbits'\n} > $@" % "".join(assembly),
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name + "_object",
        srcs = [name + "_embedded.S"],
        # The only attribute that hands any file at all to a compilation.
        textual_hdrs = files,
        linkstatic = True,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    _link_only(
        name = name + "_link",
        dep = ":%s_object" % name,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.genrule(
        name = name + "_sources",
        outs = [name + ".h", name + "_embedded.cc"],
        cmd = """
cat > $(location {name}.h) <<'END'
// Generated by embed() of bazel/lookaside.bzl.
#ifndef {guard}
#define {guard}

#include <span>

#include "lookaside/embed/embedded_file.h"

namespace lookaside {{

// {count} files, sorted by name.
std::span<const EmbeddedFile> {function}();

}}  // namespace lookaside

#endif  // {guard}
END
cat > $(location {name}_embedded.cc) <<'END'
// Generated by embed() of bazel/lookaside.bzl.
#include "{header}"

#include <cstddef>

extern "C" {{
{declarations}
}}

namespace lookaside {{
namespace {{

EmbeddedFile File(const char* name, const char* begin, const char* end) {{
  return {{name, {{begin, static_cast<std::size_t>(end - begin)}}}};
}}

}}  // namespace

std::span<const EmbeddedFile> {function}() {{
  static const EmbeddedFile kFiles[] = {{
{entries}
  }};
  return kFiles;
}}

}}  // namespace lookaside
END
""".format(
            name = name,
            guard = guard,
            header = header,
            count = len(files),
            function = function,
            declarations = "\n".join(declarations),
            entries = "\n".join(entries),
        ),
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + "_embedded.cc"],
        hdrs = [name + ".h"],
        deps = [":%s_link" % name, "//bazel:embedded_file"],
        copts = _COPTS,
        strip_include_prefix = "/" + native.package_name(),
        include_prefix = _include_directory(),
        linkstatic = True,
        testonly = testonly,
        visibility = visibility or _visibility(),
    )

def _command_and_library_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = program, target_file = ctx.executable.command, is_executable = True)
    return [
        DefaultInfo(
            executable = program,
            files = depset([program]),
            runfiles = ctx.attr.command[DefaultInfo].default_runfiles,
        ),
        ctx.attr.library[CcInfo],
    ]

command_and_library = rule(
    implementation = _command_and_library_impl,
    doc = "One label that `bazel run` runs and that stands in the deps of a cc_* target.",
    attrs = {
        "command": attr.label(mandatory = True, executable = True, cfg = "target"),
        "library": attr.label(mandatory = True, providers = [CcInfo]),
    },
    executable = True,
)
