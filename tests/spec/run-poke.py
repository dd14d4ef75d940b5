#!/usr/bin/python3
"""run-poke.py - does the machine-readable description of the format fit every vector?

datarep.pk describes the records for GNU poke, which shares nothing with our readers.  One poke walks
the state of every good vector: slots, header proper, tree and records; and refuses files whose fields
were damaged behind right sums, by the rules that the description states.  Prints TAP.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(os.path.dirname(HERE), "vectors")
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
from drepread import tree  # noqa: E402

# Rules that the description states: of fields alone, not of what two records say of each other.
STATED = {"R2.4", "R2.8", "R2.11", "R2.15", "R3.1", "R3.16", "R3.20", "R4.1", "R4.2", "R4.4", "R4.8",
          "R4.9", "R4.10", "R4.11", "R4.13", "R4.14", "R4.17", "R6.3", "R7.8", "R7.13", "R8.15", "R8.31",
          "R8.37"}


def slot_at(path):
    """Where the slot of the state stands, and its fields; None where our reader knows none."""
    with open(path, "rb") as f:
        image = f.read()
    try:
        return tree.choose_slot(image)[0].base
    except Exception:
        return 0


def walks(paths):
    """For each file the number of records that poke maps, or what it says."""
    script = ["set_endian (ENDIAN_BIG);"]
    for path in paths:
        script.append('{ var ios = open ("%s", IOS_M_RDONLY);\n'
                      '  try printf "%%i32d\\n", drep_walk (%d);\n'
                      '  catch (Exception e) { printf "%%s %%s\\n", e.name, e.msg; }\n'
                      '  close (ios); }' % (path, slot_at(path)))
    with tempfile.NamedTemporaryFile("w", suffix=".pk") as f:
        f.write("\n".join(script) + "\n")
        f.flush()
        done = subprocess.run(["poke", "-q", "-l", os.path.join(HERE, "datarep.pk"), "-L", f.name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return [line for line in done.stdout.splitlines()
            if line.strip() and not line.startswith("constraint expression")]


def main():
    if not shutil.which("poke"):
        print("1..0 # SKIP poke is not installed")
        return 0
    good = sorted(glob.glob(os.path.join(VECTORS, "*.drep")))
    failed = cases = 0

    def result(name, wrong):
        nonlocal failed, cases
        cases += 1
        failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", cases, name))
        for line in wrong:
            print("# " + line)

    said = walks(good)
    result("poke answers for each vector", [] if len(said) == len(good) else
           ["%d answers for %d files" % (len(said), len(good))] + said[-3:])
    for path, line in zip(good, said):
        result("%s is as described" % os.path.basename(path), [] if line.isdigit() else [line])
    with tempfile.TemporaryDirectory() as work:
        badvectors.write(work, everything=True)
        bad = [(os.path.join(work, name + ".drep"), rule) for name, _, rule, _, _ in badvectors.BAD
               if STATED & set(rule.split("|"))]
        for (path, rule), line in zip(bad, walks([path for path, _ in bad])):
            result("%s is not (%s)" % (os.path.basename(path), rule),
                   ["it is mapped: %s records" % line] if line.isdigit() else [])
    print("counted: %d records mapped by poke" % sum(int(s) for s in said if s.isdigit()))
    print("1..%d" % cases)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
