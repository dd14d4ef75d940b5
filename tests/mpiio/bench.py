#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bench.py - what views cost a program that libdatarep-mpiio is preloaded into, beside MPI's own native views.

Usage: tests/mpiio/bench.py

One of four doubles, on tmpfs.  CPU seconds of all ranks: an external32 view with the library over a native one without it.
Instructions of one rank by callgrind: a native view with the library over one without, less those of a run without rounds.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mpi"))
import launch

VIEW_BAR, NATIVE_BAR = 1.5, 1.02
RANKS, ROUNDS = 2, 21
missed = []


class Bench:
    def __init__(self, mpi, where):
        self.mpi, self.where = mpi, where
        self.program = os.path.join(where, "bench-" + mpi)
        self.library = os.path.join(launch.BUILD, "release", "libdatarep-mpiio-%s.so" % mpi)
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-o", self.program, os.path.join(HERE, "bench.c"), *launch.flags(mpi)],
                       check=True)

    def run(self, ranks, datarep, how, what, rounds, preloaded, before=()):
        path = os.path.join(self.where, "file")
        if os.path.exists(path):
            os.unlink(path)
        # The preloaded library goes to the program, not to the launcher: callgrind passes it on.
        env = {"LD_PRELOAD": self.library} if preloaded else {}
        done = subprocess.run(launch.command(self.mpi, ranks, [*before, self.program, path, datarep, how, what, str(rounds)]),
                              capture_output=True, text=True, check=True, timeout=300, env=launch.environment(env),
                              stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr

    def seconds(self, datarep, how, what, preloaded):
        return float(self.run(RANKS, datarep, how, what, ROUNDS, preloaded))

    def instructions(self, how, what, preloaded):
        """Of eight rounds."""
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        counts = [int(re.search(r"Collected : (\d+)", self.run(1, "native", how, what, rounds, preloaded, tool))[1])
                  for rounds in (0, 8)]
        return counts[1] - counts[0]


def row(name, ours, theirs, bar, unit):
    ratio = ours / theirs
    if ratio > bar:
        missed.append(name)
    print("| %s | %s | %s | %.3f (%.2f%s) |" % (name, unit % ours, unit % theirs, ratio, bar, ", missed" if ratio > bar else ""),
          flush=True)


def main():
    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shm) as where:
        for mpi in launch.installed():
            b = Bench(mpi, where)
            print("\n| %s, one of four doubles | with the library | native without it | ratio (bar) |\n|---|---|---|---|" % mpi)
            for how in ("independent", "collective"):
                for what in ("write", "read"):
                    row("external32, %s, %s, ms CPU of %d ranks" % (how, what, RANKS),
                        1e3 * b.seconds("external32", how, what, True), 1e3 * b.seconds("native", how, what, False),
                        VIEW_BAR, "%.1f")
            if not shutil.which("valgrind"):
                print("# instructions: valgrind is not installed")
                continue
            for what in ("write", "read"):
                row("native, independent, %s, million instructions" % what,
                    b.instructions("independent", what, True) / 1e6, b.instructions("independent", what, False) / 1e6,
                    NATIVE_BAR, "%.2f")
    print("\n%d bars missed%s" % (len(missed), "".join("\n- " + name for name in missed)))


if __name__ == "__main__":
    main()
