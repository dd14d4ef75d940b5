#!/usr/bin/python3
# timeout: 900
# SPDX-License-Identifier: MIT
"""run-hashes.py - hashes of files that ranks write together in any parts: those of one process.

Usage: tests/mpi/run-hashes.py [--full]    without --full by 1, 3 and 4 ranks, with it by up to 16

Prints a table, a row for each kind of file.  What ranks write alone has the same values.
"""
import hashlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch
from launch import report

DATAREP = os.environ.get("DATAREP", os.path.join(launch.BUILD, "release", "datarep"))
KINDS = ["native", "external32", "user", "shuffle-deflate", "shuffle-zstd", "texts", "contiguous"]
TOGETHER = ["rows", "columns", "blocks", "boxes"]


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


def differences(serial, path):
    # The command does not know the functions of a user's representation: hashes say all.
    done = subprocess.run([DATAREP, "diff", serial, path], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    return "" if done.returncode == 0 else "%s: %s%s" % (path, done.stdout, done.stderr)


def kind_row(mpi, where, kind, ranks):
    """Says what differs; prints the row."""
    serial = os.path.join(where, kind + ".serial.1.drep")
    wanted = hash_of(serial)
    odd = []
    for n in ranks:
        for way in TOGETHER:
            got = hash_of(os.path.join(where, "%s.%s.%d.drep" % (kind, way, n)))
            if got != wanted:
                odd.append("%s by %d: %s" % (way, n, got))
    print("| %-15s | %s | %d files of ranks, %s |" %
          (kind, wanted, len(ranks) * len(TOGETHER), "; ".join(odd) or "the same"))
    report("\n".join(odd), "%s, %s: one hash, that of one process" % (mpi, kind))
    if kind != "user":
        told = [differences(serial, os.path.join(where, "%s.alone.%d.drep" % (kind, n))) for n in ranks]
        report("".join(told), "%s, %s: what ranks write alone has the same values" % (mpi, kind))


def main():
    ranks = [1, 2, 3, 4, 8, 16] if "--full" in sys.argv[1:] else [1, 3, 4]
    there = launch.installed()
    if not there:
        print("1..0 # SKIP no MPI is installed that the library was built for (make deps-mpi)")
        return 0
    for mpi in there:
        with tempfile.TemporaryDirectory(prefix="hashes-") as where:
            for n in ranks:
                done = launch.run(mpi, n, [launch.test_program(mpi, "hashes"), where], timeout=300)
                bad = [line for line in done.stdout.splitlines() if line[:1] == "#" or line[:6] == "not ok"]
                if done.returncode or bad:
                    report("status %d\n%s\n%s" % (done.returncode, "\n".join(bad[:20]), done.stderr),
                           "%s: %d ranks write" % (mpi, n))
                    break
            else:
                print("\n%s, %s ranks\n\n| file | hash of the serial one | written together |\n|---|---|---|" %
                      (mpi, ", ".join(map(str, ranks))))
                for kind in KINDS:
                    kind_row(mpi, where, kind, ranks)
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
