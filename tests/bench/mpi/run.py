#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - the tables of each benchmark under each MPI, on tmpfs, with 2 ranks and with 4.

Usage: tests/bench/mpi/run.py [PROGRAM [ROW]]    e.g. write "native rows"; all when none is named

Bars are for 2 ranks; the tables of 4 are for information, as they share the processors of 2.  Views of
files are timed by one rank.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../mpi"))
import launch

# A rank may use all processors, as programs with threads are run; Open MPI binds it to one.  It
# offers the processor to others in each poll only where ranks are more than processors.
def environment(ranks):
    crowded = ranks > len(os.sched_getaffinity(0))
    return launch.environment({"OMPI_MCA_hwloc_base_binding_policy": "none",
                               "OMPI_MCA_mpi_yield_when_idle": "1" if crowded else "0"})

TIMEOUT = 900  # a table; ranks that starve each other would take for ever
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = sorted(name[:-2] for name in os.listdir(HERE)
                  if name.endswith(".c") and name != "bench.c")


def tables(mpi, where, program, row):
    path = os.path.join(launch.BUILD, "release", mpi, "bench-" + program)
    if not os.path.exists(path):
        print("%s: no parallel HDF5 is installed for it, %s is left out" % (mpi, program))
        return
    for ranks in (1,) if program == "views" else (2, 4):
        print("\n%s, %d ranks, in %s\n" % (mpi, ranks, os.path.dirname(where)), flush=True)
        subprocess.run(launch.command(mpi, ranks, [path, where] + row), check=True,
                       env=environment(ranks), stdin=subprocess.DEVNULL, timeout=TIMEOUT)


with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as where:
    for program in sys.argv[1:2] or PROGRAMS:
        for mpi in launch.installed():
            tables(mpi, where, program, sys.argv[2:])
