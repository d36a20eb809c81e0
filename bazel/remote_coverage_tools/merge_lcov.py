#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for Bazel's Java CoverageOutputGenerator: gcov JSON and lcov files in, one lcov file out.

Called in two ways by Bazel 4:
  lcov_merger              --coverage_dir=D --output_file=F [--filter_sources=RE]... [--source_file_manifest=M]
  coverage_report_generator --reports_file=LIST --output_file=F
"""
import gzip, json, os, re, sys

def main():
    opts, filters = {}, []
    for a in sys.argv[1:]:
        k, _, v = a.lstrip("-").partition("=")
        if k == "filter_sources":
            filters.append(re.compile(v))
        else:
            opts[k] = v
    lines, funcs = {}, {}  # file -> {line: hits}; file -> {name: (line, hits)}

    def add_line(f, n, c):
        d = lines.setdefault(f, {})
        d[n] = d.get(n, 0) + c

    def add_func(f, name, n, c):
        d = funcs.setdefault(f, {})
        d[name] = (n, d.get(name, (n, 0))[1] + c)

    def read_lcov(p):
        f, fn = None, {}
        for l in open(p, errors="replace"):
            k, _, v = l.strip().partition(":")
            if k == "SF":
                f, fn = v, {}
                lines.setdefault(f, {})
            elif k == "DA":
                n, c = v.split(",")[:2]
                add_line(f, int(n), int(c))
            elif k == "FN":
                n, name = v.split(",", 1)
                fn[name] = int(n)
            elif k == "FNDA":
                c, name = v.split(",", 1)
                add_func(f, name, fn.get(name, 0), int(c))

    def read_gcov_json(p):
        for f in json.load(gzip.open(p))["files"]:
            name = f["file"]
            for l in f["lines"]:
                add_line(name, l["line_number"], l["count"])
            for g in f["functions"]:
                add_func(name, g["name"], g["start_line"], g["execution_count"])

    inputs = []
    if "reports_file" in opts:
        inputs = [l.strip() for l in open(opts["reports_file"]) if l.strip()]
    elif "coverage_dir" in opts:
        inputs = [os.path.join(d, n) for d, _, ns in os.walk(opts["coverage_dir"]) for n in ns]
    for p in inputs:
        if p.endswith(".gcov.json.gz"):
            read_gcov_json(p)
        elif p.endswith(".dat") and os.path.exists(p):
            read_lcov(p)
    wanted = None
    m = opts.get("source_file_manifest")
    if m and os.path.exists(m):
        wanted = {l.strip() for l in open(m)}
    with open(opts["output_file"], "w") as o:
        for f in sorted(lines):
            if f.startswith("/") or any(r.fullmatch(f) for r in filters) or (wanted is not None and f not in wanted):
                continue
            o.write("SF:%s\n" % f)
            fs = funcs.get(f, {})
            for name, (n, _) in sorted(fs.items()):
                o.write("FN:%d,%s\n" % (n, name))
            for name, (_, c) in sorted(fs.items()):
                o.write("FNDA:%d,%s\n" % (c, name))
            o.write("FNF:%d\nFNH:%d\n" % (len(fs), sum(c > 0 for _, c in fs.values())))
            for n, c in sorted(lines[f].items()):
                o.write("DA:%d,%d\n" % (n, c))
            o.write("LH:%d\nLF:%d\nend_of_record\n" % (sum(c > 0 for c in lines[f].values()), len(lines[f])))

main()
