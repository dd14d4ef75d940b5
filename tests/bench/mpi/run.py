#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - the tables of write.c under each MPI, on tmpfs.

Usage: tests/bench/mpi/run.py [ROW]    e.g. "native rows"; all rows when none is named
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../mpi"))
import launch

with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as where:
    for mpi in launch.installed():
        program = os.path.join(launch.BUILD, "release", mpi, "bench-write")
        if not os.path.exists(program):
            print("%s: no parallel HDF5 is installed for it" % mpi)
            continue
        print("\n%s, in %s\n" % (mpi, os.path.dirname(where)), flush=True)
        command = launch.command(mpi, 2, [program, where] + sys.argv[1:])
        if subprocess.run(command, env=launch.environment(), stdin=subprocess.DEVNULL).returncode:
            sys.exit(1)
