#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""versus.py - is any row of the benchmarks slower than it was?

Usage: tests/bench/versus.py OLD NEW [--rounds=7] [--ours] [PROGRAM[:ARGUMENT]...]

OLD and NEW are directories of bench programs (build/release/tests/bench of two trees, both built by
`make MODE=release all bench-programs`; the older tree needs this tree's tests/bench/bench*).  Each round runs each program of
OLD and of NEW once, with one round of its own, which of the two first in turn.  A row fails when NEW has less than
0.95 of OLD's speed and the difference is more than two median deviations.  What is not ours (limits, peers) is run
the same way: these rows show what the machine alone makes of the ratio, and never fail; --ours saves their time, most of
it all.  Exit status 1: a row failed.
"""
import collections
import os
import statistics
import subprocess
import sys
import tempfile

ALL = ("bench_append", "bench_carry", "bench_cf", "bench_chunks", "bench_defaults", "bench_elements", "bench_file", "bench_import", "bench_kernels",
       "bench_names", "bench_objects", "bench_runs", "bench_space", "bench_texts", "bench_threads", "bench_types", "bench_virtual")
LEAST = 0.95
# How the names of entries begin that do not run this library.
OTHERS = ("HDF5", "cat", "cp", "h5repack", "libdeflate", "libnetcdf", "LMDB", "SQLite", "XXH3", "limit", "loop", "memcpy", "one thread", "open, pread", "plain", "pread", "pwrite", "read, sum", "swap")
TOGETHER = ("bench_virtual",)  # programs whose rows take what entries of others have computed


def times(folder, program, argument, skip):
    """{(row, entry, how often before): seconds} of one run, at the root of its tree."""
    with tempfile.NamedTemporaryFile("r", suffix=".tsv") as out:
        subprocess.run([os.path.abspath(os.path.join(folder, program))] + ([argument] if argument else []), check=True,
                       stdout=subprocess.DEVNULL, cwd=os.path.join(folder, "..", "..", "..", ".."),
                       env=dict(os.environ, BENCH_ROUNDS="1", BENCH_TIMES=out.name, BENCH_SKIP="" if program in TOGETHER else skip))
        found, seen = {}, collections.Counter()
        for line in out:
            row, entry, seconds = line.rstrip("\n").split("\t")
            found[row, entry, seen[row, entry]] = float(seconds)
            seen[row, entry] += 1
        return found


def deviation(values):
    middle = statistics.median(values)
    return statistics.median(abs(v - middle) for v in values)


def main(argv):
    rounds = next((int(a.split("=")[1]) for a in argv if a.startswith("--rounds=")), 7)
    skip = "|".join(OTHERS) if "--ours" in argv else ""
    words = [a for a in argv if not a.startswith("--")]
    if len(words) < 2:
        sys.exit(__doc__)
    old, new = words[:2]
    failed, ours, ratios, controls = 0, 0, [], []
    for word in words[2:] or ALL:
        program, _, argument = word.partition(":")
        found = ({}, {})
        for r in range(rounds):
            for which in (0, 1) if r % 2 == 0 else (1, 0):
                for key, seconds in times((old, new)[which], program, argument, skip).items():
                    found[which].setdefault(key, []).append(seconds)
        print("== %s" % word)
        for key, before in found[0].items():
            after = found[1].get(key)
            if not after:
                print("  %s, %s: gone" % key[:2])
                continue
            a, b = statistics.median(before), statistics.median(after)
            slower = b - a > 2 * max(deviation(before), deviation(after))
            other = key[1].startswith(OTHERS)
            (controls if other else ratios).append(a / b)
            ours += not other
            bad = a / b < LEAST and slower and not other
            failed += bad
            print("  %-60.60s %-28.28s %10.6f %10.6f  %5.2f%s"
                  % (key[0], key[1], a, b, a / b, "  SLOWER" if bad else "  (not ours)" if other else ""), flush=True)
    for name, values in (("ours", ratios), ("not ours", controls)):
        if values:
            print("%s: %d rows, old to new: median %.3f, least %.2f" % (name, len(values), statistics.median(values), min(values)))
    print("%d of %d rows slower" % (failed, ours))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
