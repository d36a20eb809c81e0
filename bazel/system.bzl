# SPDX-License-Identifier: Apache-2.0
"""A library of the system as a Bazel repository.

Flags come from pkg-config. Headers are linked into the repository, so that
Bazel sees them change, and are searched as system headers, so that warnings
inside them are nobody's business here.
"""

_TARGET = """
cc_library(
    name = "{name}",
    hdrs = glob({hdrs}),
    includes = {includes},
    defines = {defines},
    linkopts = {linkopts},
)
"""

def _missing(rctx, what):
    fail("%s is missing; on Debian: apt-get install %s" % (what, rctx.attr.deb))

def _pkg_config(rctx, args):
    tool = rctx.which("pkg-config")
    if not tool:
        fail("pkg-config is missing; on Debian: apt-get install pkg-config")
    result = rctx.execute([tool] + args)
    if result.return_code != 0:
        _missing(rctx, "pkg-config: %s\nA library" % result.stderr.strip())
    return [word for word in result.stdout.replace("\n", " ").split(" ") if word]

def _keep_last(flags):
    # Of a repeated flag the last counts: an archive stands after its users.
    kept = {}
    for flag in reversed(flags):
        kept.setdefault(flag, True)
    return reversed(kept.keys())

def _system_library_impl(rctx):
    includedir = "/usr/include"
    pc_files = [p for p in rctx.attr.targets.values() if p and not p.startswith("-l")]
    if pc_files:
        variable = _pkg_config(rctx, ["--variable=includedir", pc_files[0].split(" ")[0]])
        if variable:
            includedir = variable[0]
    for header in rctx.attr.headers:
        path = rctx.path(includedir + "/" + header)
        if not path.exists:
            _missing(rctx, str(path))
        rctx.symlink(path, "include/" + header)

    build = "package(default_visibility = [\"//visibility:public\"])\n"
    for target, packages in rctx.attr.targets.items():
        includes, defines, linkopts = ["include"], [], []
        flags = packages.split(" ") if packages else []
        if packages and not packages.startswith("-l"):
            flags = _pkg_config(rctx, ["--cflags", "--libs"] + flags)
        for flag in flags:
            if flag.startswith("-I"):
                directory = "%s_include%d" % (target, len(includes))
                rctx.symlink(flag[2:], directory)
                includes.append(directory)
            elif flag.startswith("-D"):
                defines.append(flag[2:])
            else:
                linkopts.append(flag)
        build += _TARGET.format(
            name = target,
            hdrs = repr([i + "/**" for i in includes]),
            includes = repr(includes),
            defines = repr(_keep_last(defines)),
            linkopts = repr(_keep_last(linkopts)),
        )
    rctx.file("BUILD", build)
    rctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % rctx.name)

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "targets": attr.string_dict(
            mandatory = True,
            doc = "target -> names for pkg-config, or linker flags (-lNAME) of a library that it does not know; empty for a library that is only headers",
        ),
        "headers": attr.string_list(doc = "the entries of the include directory that are the library's"),
        "deb": attr.string(mandatory = True, doc = "the Debian packages, for the message"),
    },
    environ = ["PATH", "PKG_CONFIG_PATH"],
    # Not local, which would ask again at each start of the server. After an
    # upgrade of the system: bazel sync --configure.
    configure = True,
)
