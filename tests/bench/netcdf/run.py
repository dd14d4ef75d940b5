#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - CPU time of the same work through netCDF-C, on Datarep files and on netCDF-4 files with the same data.

Usage: run.py [--rounds N] [WORD...]    only the rows that have a WORD
Each row runs both kinds in turn, N rounds (9); the ratio is of the medians.  Beside it stands its bar: a row above it is
marked, and the status is 1.  Sizes of files follow, with their bars.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "netcdf"))
import door as lib  # noqa: E402

# Row, bar (None: no promise), arguments of work or a command, what makes its file.  "deflated" and "plain" are records
# of 240 times 180 x 360 floats, a chunk each; "cubes" has chunks of 24 x 30 x 60.
ROWS = [
    ("deflated read, 62 MB", 0.4, ["read", "deflated", 1], "make-deflated"),
    ("plain read, 62 MB, 5 times", 0.6, ["read", "plain", 5], "make-plain"),
    ("contiguous read, 62 MB, 5 times", None, ["read", "contiguous", 5], "make-contiguous"),
    ("strided read (2, 3, 2)", 0.5, ["strided", "plain"], "make-plain"),
    ("strided read, contiguous", None, ["strided", "contiguous"], "make-contiguous"),
    ("strided read, deflated cubes", 0.5, ["strided", "cubes"], "make-cubes"),
    ("300 time series across chunks", 0.12, ["series", "deflated", 300], "make-deflated"),
    ("300 time series, cubes", None, ["series", "cubes", 300], "make-cubes"),
    ("record-wise write, plain", 0.45, ["write-plain", "out"], None),
    ("the same without fdatasync()", None, ["write-unsynced", "out"], None),  # netCDF-4 has none
    ("record-wise write, deflated", 0.4, ["write-deflated", "out"], None),
    ("ncdump -h of 3,000 variables", 0.4, "ncdump -h variables.{k}", "make-variables"),
    ("ncra over 365 files", 0.9, "ncra -O -h {days} average.{k}", "make-days"),
]
# What no format can be faster than: a row below that of the same name.
LIMITS = {"record-wise write, plain": ("pwrite() alone", ["write-bytes", "out"]),
          "record-wise write, deflated": ("libdeflate alone", ["deflate", "out"])}
LONG = {"300 time series across chunks": 1}  # rounds: netCDF-4 needs a minute
SIZES = [
    ("365 daily appends, deflated", ["append", "days", 365], 1.0, None),
    ("365 daily appends, plain", ["append-plain", "days", 365], 1.0, None),
    ("2 steps of 3x4 floats", ["small", "small"], None, 10000),
    ("the same, each by an open file", ["append-small", "small"], 1.0, None),
]


def work(kind, arguments):
    """CPU seconds that work says, and what it read."""
    what, name, *more = arguments
    if what.startswith("write-"):  # an old file is no part of the work
        lib.remove("%s.%s" % (name, kind))
    done = subprocess.run(["./work", what, "%s.%s" % (name, kind), *map(str, more)], env=lib.environment(kind == "drep"),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("work %s %s: %s" % (what, kind, done.stderr))
    return float(done.stdout), done.stderr


def command(kind, template):
    """CPU seconds of a whole process."""
    days = " ".join("day%d.%s" % (k, kind) for k in range(365))
    words = template.format(k=kind, days=days).split()
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen(words, env=lib.environment(kind == "drep"), stdout=null)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise SystemExit("%s: status %d" % (" ".join(words[:4]), status))
    return usage.ru_utime + usage.ru_stime, ""


def prepare(maker, made):
    for kind in ("nc", "drep"):
        if maker and (maker, kind) not in made:
            name = {"make-days": "day%"}.get(maker, maker[5:])
            work(kind, [maker, name, {"make-days": 365, "make-variables": 3000}.get(maker, 1)])
            made.add((maker, kind))
            one = {"make-days": "day0"}.get(maker, name) + "." + kind
            if lib.is_drep(one) != (kind == "drep"):
                raise SystemExit("%s is of the wrong kind" % one)


def row(name, bar, what, rounds):
    times = {"nc": [], "drep": []}
    said, limit = {}, []
    for _ in range(rounds):
        if name in LIMITS:
            limit.append(work("nc", LIMITS[name][1])[0])
        for kind in ("nc", "drep"):
            took, text = work(kind, what) if isinstance(what, list) else command(kind, what)
            times[kind].append(took)
            if said.setdefault("text", text) != text:
                raise SystemExit("%s: other values are read from .%s" % (name, kind))
    ours, theirs = (statistics.median(times[k]) for k in ("drep", "nc"))
    ratio = ours / theirs
    above = bar is not None and ratio > bar
    print("%-32s %9.3f s %9.3f s   %5.2f   %s%s" % (name, ours, theirs, ratio, "bar %4.2f" % bar if bar else "",
                                                    "   ABOVE" if above else ""), flush=True)
    if limit:
        least = statistics.median(limit)
        print("%-32s %9.3f s %11s   %5.2f" % ("  " + LIMITS[name][0], least, "", least / theirs), flush=True)
    return not above


def size(name, what, share, most):
    sizes = {}
    for kind in ("nc", "drep"):
        path = "%s.%s" % (what[1], kind)
        lib.remove(path)
        work(kind, what)
        if lib.is_drep(path) != (kind == "drep"):
            raise SystemExit("%s is of the wrong kind" % path)
        sizes[kind] = os.path.getsize(path)
    if most:
        good, bar = sizes["drep"] <= most, "bar %d bytes" % most
    else:
        good, bar = sizes["drep"] <= share * sizes["nc"], "bar %4.2f" % share
    print("%-32s %9d B %9d B   %5.2f   %s%s" % (name, sizes["drep"], sizes["nc"], sizes["drep"] / sizes["nc"], bar,
                                                "" if good else "   ABOVE"), flush=True)
    return good


def main():
    arguments, rounds = sys.argv[1:], 9
    if "--rounds" in arguments:
        at = arguments.index("--rounds")
        rounds = int(arguments[at + 1])
        del arguments[at:at + 2]
    lib.built()
    with tempfile.TemporaryDirectory(prefix="bench-netcdf-") as folder:
        os.chdir(folder)
        lib.run(["gcc", "-O2", "-o", "work", os.path.join(HERE, "work.c"), "-lnetcdf", "-ldeflate", "-lm"])
        made, good = set(), True
        print("%-32s %11s %11s   %s" % ("CPU time through netCDF-C", "Datarep", "netCDF-4", "ratio"))
        for name, bar, what, maker in ROWS:
            if arguments and not any(a in name for a in arguments):
                continue
            if isinstance(what, str) and not shutil.which(what.split()[0]):
                print("%-32s %s is not installed" % (name, what.split()[0]))
                continue
            prepare(maker, made)
            good &= row(name, bar, what, min(rounds, LONG.get(name, rounds)))
        for name, what, share, most in SIZES:
            if not arguments or any(a in name for a in arguments):
                good &= size(name, what, share, most)
        os.chdir("/")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
