#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""count.py - how many instructions conversions take on each machine, by element.

Usage: tests/hetero/count.py [MACHINE...]    those that `make hetero` has built, or the named

No time means anything under an emulator, but instructions can be counted: qemu-user logs each
one.  Every conversion of count.c runs over two numbers of elements, once and three times; the
differences leave what one element takes.  amd64 has two columns, with the kernels that every
machine has and with those for AVX2.
"""
import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from machines import MACHINES, emulator_fails, run  # noqa: E402

FEW, MANY = 1000, 5000
COUNT = ["-singlestep", "-d", "exec,nochain", "-D", "/dev/stdout"]


def columns(names):
    """(title, command) of every machine that can be counted."""
    here = MACHINES[0]
    yield "amd64", ["qemu-x86_64-static", "-cpu", "Nehalem"] + COUNT, here
    yield "amd64 AVX2", ["qemu-x86_64-static", "-cpu", "max"] + COUNT, here
    for m in MACHINES[1:]:
        if names and m.name not in names or not os.path.exists(program(m)) or emulator_fails(m):
            continue
        yield m.name, ["qemu-%s-static" % (m.qemu or "i386"), "-L", "/usr/" + m.triplet] + COUNT, m


def program(m):
    return m.program("tests", "hetero", "count")


def instructions(command):
    """Lines of the log; None if the program fails."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        lines = 0
        for part in iter(lambda: p.stdout.read(1 << 20), b""):
            lines += part.count(b"\nTrace ") + part.startswith(b"Trace ")
    return lines if p.returncode == 0 else None


def per_element(command, row):
    n = [instructions(command + [str(row), str(size), str(times)])
         for size in (FEW, MANY) for times in (1, 3)]
    if None in n:
        return None
    return ((n[3] - n[2]) - (n[1] - n[0])) / 2 / (MANY - FEW)


def main():
    rows = run([program(MACHINES[0])], 60)[1].splitlines()
    found = list(columns(sys.argv[1:]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(
            lambda c: [per_element(c[1] + [program(c[2])], row) for row in range(len(rows))], found))
    print("| machine | " + " | ".join(rows) + " |")
    print("|---|" + "--:|" * len(rows))
    for (title, _, _), count in zip(found, counts):
        print("| %s | %s |" % (title, " | ".join("-" if n is None else "%.1f" % n for n in count)))


if __name__ == "__main__":
    main()
