#!/usr/bin/python3
# timeout: 1800
# SPDX-License-Identifier: MIT
"""run-short.py - three other machines, in a few minutes (make hetero-short).

Datarep is built for s390x, i386 and m68k and runs there: the vectors, the long doubles, some
of the unit tests, and the matrix of the four machines (amd64 is the fourth).  `make hetero` does
all of it on all machines (hetero.py).  A machine without a compiler here is skipped, with its
reason.  Prints TAP.
"""
import concurrent.futures
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import hetero  # noqa: E402
from machines import MACHINES, has_compiler, has_emulator  # noqa: E402

NAMES = ("amd64", "s390x", "i386", "m68k")
# Conversions, layouts, records, trees and whole files: where machines differ.
UNIT = ("test_cursor", "test_format_type", "test_golden", "test_rep_convert", "test_rep_real",
        "test_placement", "test_rep_unit", "test_tree", "test_type", "test_data_transfer")
cases = 0


def result(name, right, text, notes=(), skip=None):
    global cases
    cases += 1
    print("%sok %d - %s%s" % ("" if right else "not ", cases, name,
                              " # SKIP " + skip if skip else ": " + text if text else ""))
    for note in notes:
        print("# " + note)


def main():
    machines = []
    for m in MACHINES:
        if m.name not in NAMES:
            continue
        missing = None
        if not has_compiler(m):
            missing = m.triplet + "-gcc"
        elif not has_emulator(m):
            missing = m.command()[0]
        if missing:
            result(m.name, True, "", skip="%s is missing: tools/install-deps hetero-short" % missing)
        else:
            # `make hetero` compiles at -O2, which takes nearly twice the time.
            m.cflags += " -O1 -g0"
            machines.append(m)
    matrix, oracle = hetero.Matrix(), hetero.Oracle()
    with concurrent.futures.ThreadPoolExecutor(hetero.JOBS) as pool:
        list(pool.map(lambda m: hetero.pipeline(m, matrix, oracle, UNIT), machines))
    hetero.read_all(matrix, machines)
    for m in machines:
        for column in hetero.COLUMNS:
            right, text = m.cell.get(column, (False, "not tried"))
            skip = m.bare if m.bare and column in ("vectors", "matrix") else None
            result("%s: %s" % (m.name, column), right or skip, text, () if right else m.notes, skip)
    result("%d files, each read on every machine, %d values compared"
           % (len(hetero.REPS) * len(matrix.written), matrix.values_compared),
           len(matrix.written) == sum(not m.bare for m in machines), "")
    print("1..%d" % cases)


if __name__ == "__main__":
    main()
