#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-heat.py - the example heat.c: a run that other ranks go on with ends as one that was whole."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch
from launch import report

DATAREP = os.environ.get("DATAREP", os.path.join(launch.BUILD, "release", "datarep"))
SOURCE = os.path.join(launch.ROOT, "tests/examples/mpi/heat.c")
# The runs of one file: ranks, steps, decomposition.
WHOLE = [(1, 120, [])]
PARTS = [(4, 40, []), (3, 30, ["rows"]), (2, 50, [])]


def output(command):
    """"" if it succeeds, else what it says."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return "" if done.returncode == 0 else "status %d\n%s%s" % (done.returncode, done.stdout, done.stderr)


def build(mpi, where):
    release = os.path.join(launch.BUILD, "release")
    binary = os.path.join(where, "heat-" + mpi)
    return binary, output(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-o", binary, SOURCE,
         "-I" + os.path.join(launch.ROOT, "lib"), "-I" + os.path.join(launch.ROOT, "lib/mpi")] +
        [f.replace("-I", "-isystem", 1) if f.startswith("-I") else f for f in launch.flags(mpi)] +
        ["-L" + release, "-Wl,-rpath," + release, "-ldatarep-mpi-" + mpi, "-ldatarep"])


def runs(mpi, binary, path, steps):
    for ranks, n, more in steps:
        done = launch.run(mpi, ranks, [binary, path, str(n)] + more)
        if done.returncode:
            return "%d ranks: status %d\n%s%s" % (ranks, done.returncode, done.stdout, done.stderr)
    return ""


def main():
    there = launch.installed()
    if not there:
        print("1..0 # SKIP no MPI is installed that the library was built for (make deps-mpi)")
        return 0
    with tempfile.TemporaryDirectory(prefix="heat-") as where:
        for mpi in there:
            whole, parts = (os.path.join(where, mpi + n) for n in ("-whole.drep", "-parts.drep"))
            binary, problem = build(mpi, where)
            report(problem, mpi + ": heat.c compiles")
            problem = problem or runs(mpi, binary, whole, WHOLE) or runs(mpi, binary, parts, PARTS)
            report(problem or output([DATAREP, "check", "--deep", parts]),
                   mpi + ": three runs by 4, 3 and 2 ranks make a valid file")
            report(output([DATAREP, "diff", whole, parts]),
                   mpi + ": it has the values of one run by one rank")
            picture = os.path.join(where, mpi + ".png")
            plotted = output([DATAREP, "plot", "-o", picture, parts, "/u"])
            if "datarep-plot.so" in plotted:
                report("", mpi + ": the last step is plotted # SKIP no Cairo")
            else:
                report(plotted or ("" if open(picture, "rb").read(4) == b"\x89PNG" else "no picture"),
                       mpi + ": the last step is plotted")
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
