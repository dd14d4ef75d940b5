#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-files - HDF5 files of all kinds through import and export: each comes back exactly, or what is lost is
reported; none loses anything in silence.

The files are those of hdf5files.py and hdf5gen.c, of writers that users have (PyTables, pandas, h5netcdf,
xarray, netCDF4, MATLAB as its layout is known) and of Debian's packages.  hdf5raw.c, which shares no
code with import and export, compares the original with what is exported.  A difference counts as reported if a
report of import or export names its object, or one above it, as lost.  TAP on stdout; last a table.

Usage: run-files.py [--full] [NAME...]    without --full every fourth file
# timeout: 1800
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np

    import hdf5files
    import hdf5writers
    from packages import PACKAGES, fetch
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

BUILD = os.path.abspath(os.environ.get("BUILDDIR", "build"))
DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
PROGRAMS = os.path.join(BUILD, "release", "tests", "interop")
SHARE = 4  # without --full one of so many files
INSTALLED = {"PyTables' tests": "/usr/lib/python3/dist-packages/tables/**/*.%s",
             "h5py's tests": "/usr/lib/python3/dist-packages/h5py/**/*.%s"}


class Silent(Exception):
    """Something is lost, and nobody said so."""


def run(*command, timeout=300):
    p = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def is_hdf5(path):
    with open(path, "rb") as f:
        head = f.read(8192)
    return any(head[at:at + 8] == b"\x89HDF\r\n\x1a\n" for at in (0, 512, 1024, 2048, 4096))


def made(folder):
    """(source, name, path) of files that the tests make; each is made when its turn comes."""
    status, out, err = run(os.path.join(PROGRAMS, "hdf5gen"), folder)
    if status:
        raise OSError("hdf5gen: " + err)
    for line in out.splitlines():
        name = line.split("\t")[0]
        yield "libhdf5 in C", name, lambda path=os.path.join(folder, name + ".h5"): path
    for c in hdf5files.CASES:
        def make(c=c):
            path = os.path.join(folder, c.name + ".h5")
            hdf5files.make(path, c)
            return path
        yield "h5py", c.name, make
    for group, name, write in hdf5writers.all_writers():
        def make_other(name=name, write=write):
            path = os.path.join(folder, "w-" + re.sub(r"\W", "-", name) + ".h5")
            write(path)
            return path
        yield group, name, make_other


def of_packages():
    for package in PACKAGES:
        for path in fetch(package):
            yield package, os.path.basename(path), lambda path=path: path
    for group, pattern in INSTALLED.items():
        for path in sorted(sum((glob.glob(pattern % end, recursive=True) for end in ("h5", "hdf5", "mat", "nc")), [])):
            if is_hdf5(path):
                yield group, os.path.basename(path), lambda path=path: path


def lost_paths(text):
    """Paths, as HDF5 has them, of what a report says is lost or changed."""
    return [f["path"] for f in json.loads(text)["findings"] if f["weight"] == "lost"]


def stored_otherwise(text):
    """(path, word) of what a report says is stored in another way: a layout, a filter."""
    return {(f["path"], f["what"]) for f in json.loads(text)["findings"] if f["weight"] in ("kept", "stored")}


def covers(lost, otherwise, line):
    """True if a finding is about this object, one above it, or the whole file; or about its storage."""
    where, what = line.split(": ", 1)
    where = where.split("@")[0]
    if any(path in ("", "/") or where == path or where.startswith(path + "/") for path in lost):
        return True
    if re.match(r"\d+ links, ", what) and any(os.path.dirname(path) == where for path in lost):
        return True
    word = "filter" if "filter" in what else "layout" if "layout" in what or "raw files" in what else ""
    return (where, word) in otherwise


def trip(source, folder):
    """"exact" or "reported"; Silent."""
    drep, back, first, second = (os.path.join(folder, n) for n in ("t.drep", "t.h5", "import.json", "export.json"))
    for path in (drep, back, first, second):
        if os.path.exists(path):
            os.unlink(path)
    status, _, err = run(DATAREP, "import", "-f", "--external", "--exact", "--partial", "--json", "--report=" + first, source, drep)
    if status < 0 or status > 4:
        raise Silent("import: status %d: %s" % (status, err[-300:]))
    if status > 1:
        return "reported"  # it is refused, with a message
    status, _, err = run(DATAREP, "export", "-f", "--json", "--report=" + second, drep, back)
    if status < 0 or status > 1:
        raise Silent("export: status %d: %s" % (status, err[-300:]))
    with open(first, encoding="utf-8") as a, open(second, encoding="utf-8") as b:
        reports = a.read(), b.read()
    lost = lost_paths(reports[0]) + lost_paths(reports[1])
    otherwise = stored_otherwise(reports[0]) | stored_otherwise(reports[1])
    status, out, err = run(os.path.join(PROGRAMS, "hdf5raw"), source, back)
    if status not in (0, 1):
        raise Silent("hdf5raw: status %d: %s" % (status, err))
    silent = [line for line in out.splitlines() if not covers(lost, otherwise, line)]
    if silent:
        raise Silent("\n".join(silent[:12]))
    return "reported" if lost or out else "exact"


def main():
    full = "--full" in sys.argv
    only = [a for a in sys.argv[1:] if not a.startswith("--")]
    rows, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where HDF5 looks for raw files
        files = [f for f in list(made(folder)) + list(of_packages()) if not only or f[1] in only]
        if not full and not only:
            files = files[::SHARE]
        print("1..%d" % len(files))
        for n, (group, name, make) in enumerate(files, 1):
            row = rows.setdefault(group, {"exact": 0, "reported": 0, "silent": 0})
            try:
                found = trip(make(), folder)
                print("ok %d - %s: %s: %s" % (n, group, name, found), flush=True)
            except Exception as e:  # whatever goes wrong is this file's failure
                failed += 1
                found = "silent"
                print("not ok %d - %s: %s" % (n, group, name))
                print("# " + ("" if isinstance(e, Silent) else type(e).__name__ + ": ") + str(e).replace("\n", "\n# "), flush=True)
            row[found] += 1
        os.chdir("/")
    print("# %-28s %6s %6s %9s %7s" % ("source", "files", "exact", "reported", "silent"))
    for group, row in rows.items():
        print("# %-28s %6d %6d %9d %7d" % (group, sum(row.values()), row["exact"], row["reported"], row["silent"]))
    total = {k: sum(row[k] for row in rows.values()) for k in ("exact", "reported", "silent")}
    print("# %d files: %d exact, %d reported, %d silent" % (sum(total.values()), *total.values()))
    print("counted: %d HDF5 files, %d exact, %d reported, %d silent" % (sum(total.values()), *total.values()))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
