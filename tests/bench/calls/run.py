#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - counts the frames and the calls of one drep_write, and the calls that climb.

Usage: tests/bench/calls/run.py [--list] [WRITE...]      all writes of program.c when none is named

Builds the library without optimisation (gcc -O0 -finstrument-functions) into build/calls, makes each
write on one thread, and prints

frames    From drep_write, or where filters let payload wait from drep_close, to pwrite, both
          counted, as a debugger shows them: inline functions, too.  Of several stacks the most
          frequent, of these the deepest.  Beside it what is wanted.
calls     Functions entered from the call of drep_write to its return (filtered: and in drep_close);
          inline ones, and those of borrowed headers, are part of who calls them.
rooms     Calls between functions of different folders.
upwards   Calls to a room that the caller's may not include (the table of step_includes of
          tools/lint).  lib/base is left out: its worker pool runs the functions of its callers.

Below each write are its stack and its calls upwards; --list prints the calls between rooms, too, most
frequent first.  Needs gdb for the frames."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
BUILD = "build/calls"
HERE = "tests/bench/calls"
FLAGS = "-w -O0 -finstrument-functions -finstrument-functions-exclude-file-list=borrowed/ -include %s/inline.h" % HERE
# What is written: where its frames begin, how many are wanted.
WRITES = {"contiguous": ("drep_write", 17), "plain": ("drep_write", 17), "strided": ("drep_write", 20),
          "filtered": ("drep_close", 14), "box": (None, None), "stepped": (None, None)}


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def build():
    make = ["make", "-s", "-j%d" % (os.cpu_count() or 1), "BUILD=" + BUILD, "MODE=debug", "CC=gcc"]
    subprocess.run(make + ["CFLAGS=" + FLAGS, BUILD + "/tests/internal.a"], check=True)
    # Only make knows the libraries of the filters; addresses are those of the file.
    libs = output(*make, "print-LIB_LIBS")
    program = BUILD + "/program"
    subprocess.run(["gcc", "-std=c11", "-g", "-O0", "-Ilib", "-no-pie", "-pthread", "-o", program,
                    HERE + "/program.c", BUILD + "/tests/internal.a"] + libs.split(), check=True)
    return program


def room(path):
    """The room of a source as tools/lint names it."""
    return re.sub("^lib/", "", os.path.dirname(path))


def may_include():
    """{room: the rooms that it may include}, from tools/lint."""
    with open("tools/lint", encoding="utf-8") as f:
        rows = re.findall(r'^ *(may\["[^;\n]*)', f.read(), re.M)
    may = {}
    for row in rows:
        left, _, right = row.rpartition(" = ")
        words = [w for quoted, name in re.findall(r'may\["([\w/]+)"\]|"([^"]*)"', right)
                 for w in (may[quoted] if quoted else name.split())]
        may.update((name, set(words) | {"format"}) for name in re.findall(r'may\["([\w/]+)"\]', left))
    return may


def places(program, addresses):
    """{address: (function, file)}"""
    addresses = sorted(addresses)
    out = output("addr2line", "-f", "-e", program, input="\n".join(addresses)).splitlines()
    return {address: (name, os.path.relpath(os.path.realpath(where.split(" ")[0].rsplit(":", 1)[0]), ROOT))
            for address, name, where in zip(addresses, out[::2], out[1::2])}


def frames(program, what, container):
    """The stack, outermost first, of (function, file)."""
    start = WRITES[what][0]
    if not start or not shutil.which("gdb"):
        return None
    out = output("gdb", "-batch", "-nx", "-x", HERE + "/frames.py", "--args", program, what, container,
                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=dict(os.environ, START=start))
    stacks = collections.Counter(re.findall(r"^frames (.*)", out, re.M))
    if not stacks:
        sys.exit("calls: %s: no pwrite below %s" % (what, start))
    names = max(stacks, key=lambda s: (stacks[s], len(s.split()))).split()
    return [(n.split("@")[0], os.path.relpath(n.split("@")[1], ROOT) if n.split("@")[1] else "") for n in names[::-1]]


def measure(program, what, container, may):
    trace = output(program, what, container).split()
    place = places(program, set(trace) - {"-"})
    stack, calls, between, upwards = [], 0, collections.Counter(), collections.Counter()
    for entry in trace:
        if entry == "-":
            stack.pop()
            continue
        name, path = place[entry]
        if stack and room(place[stack[-1]][1]) != room(path):
            between[room(place[stack[-1]][1]), room(path)] += 1
        above = next((place[s] for s in reversed(stack) if room(place[s][1]) != "base"), None)
        if above and room(path) != "base" and room(path) not in may[room(above[1])] | {room(above[1])}:
            upwards["%s (%s) -> %s (%s)" % (above + (name, path))] += 1
        stack.append(entry)
        calls += 1
    os.remove(container)
    path = frames(program, what, container)
    print("%-11s %6s %6s %7d %6d %8d" % (what, len(path) if path else "-", WRITES[what][1] or "-", calls,
                                        sum(between.values()), sum(upwards.values())))
    for name, source in path or ():
        print("            %-24s %s" % (name, source))
    for call, n in upwards.most_common():
        print("%8d  upwards: %s" % (n, call))
    for (a, b), n in between.most_common() if "--list" in sys.argv else ():
        print("%8d  %s -> %s" % (n, a, b))


def main():
    writes = [a for a in sys.argv[1:] if a != "--list"] or list(WRITES)
    if set(writes) - set(WRITES):
        print(__doc__.split("\n\n")[1])
        return 2
    os.chdir(ROOT)
    program, may = build(), may_include()
    print("%-11s %6s %6s %7s %6s %8s" % ("write", "frames", "wanted", "calls", "rooms", "upwards"))
    with tempfile.TemporaryDirectory() as folder:
        for what in writes:
            container = os.path.join(folder, what + ".drep")
            measure(program, what, container, may)
            if os.path.exists(container):
                os.remove(container)
    return 0


if __name__ == "__main__":
    sys.exit(main())
