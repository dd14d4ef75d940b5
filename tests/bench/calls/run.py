#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - counts the calls of one drep_write, and those that change rooms.

Usage: tests/bench/calls/run.py [--list]

Builds the library without optimisation (gcc -O0 -finstrument-functions) into build/calls, writes
400 elements of a chunked and filtered dataset under a user's representation on one thread, once
with a stride of two and once as a box, and prints for each, from the entry of drep_write to its
return:

calls     Functions entered; inline ones, and those of borrowed headers, are part of who calls them.
rooms     Calls between functions of different folders.
before    Functions on the way (entered before, and not yet left) to the first that tests the
          layout, the kind or the selection, and all that were entered before it.  A function
          tests one when a condition in its source names it, other than as an argument.

--list prints the calls between rooms, most frequent first."""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
BUILD = "build/calls"
HERE = "tests/bench/calls"
FLAGS = "-w -O0 -finstrument-functions -finstrument-functions-exclude-file-list=borrowed/ -include %s/inline.h" % HERE
CONDITION = re.compile(r"\b(?:if|while|switch)\s*\((.*)|(?:=|return|^)(.*)\?")
CALL = re.compile(r"\b(?!(?:if|while|switch|return)\b)\w+\([^()]*\)")
DECISION = re.compile(r"\b(?:layout|kind|sel|selection)\b")


def build():
    make = ["make", "-s", "-j%d" % (os.cpu_count() or 1), "BUILD=" + BUILD, "MODE=debug", "CC=gcc"]
    subprocess.run(make + ["CFLAGS=" + FLAGS, BUILD + "/tests/internal.a"], check=True)
    # Only make knows the libraries of the filters; addresses are those of the file.
    libs = subprocess.run(make + ["print-LIB_LIBS"], check=True, stdout=subprocess.PIPE, text=True).stdout
    program = BUILD + "/program"
    subprocess.run(["gcc", "-std=c11", "-g", "-O0", "-Ilib", "-no-pie", "-pthread", "-o", program,
                    HERE + "/program.c", BUILD + "/tests/internal.a"] + libs.split(), check=True)
    return program


def places(program, addresses):
    """{address: (function, file, line)}"""
    addresses = sorted(addresses)
    out = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(addresses), check=True,
                         stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = {}
    for address, name, where in zip(addresses, out[::2], out[1::2]):
        path, line = where.split(" ")[0].rsplit(":", 1)
        found[address] = (name, os.path.relpath(os.path.realpath(path), ROOT), int(line))
    return found


def decides(place):
    """Does a condition of the function name the layout, the kind or the selection?"""
    _, path, line = place
    with open(path, encoding="utf-8") as f:
        body = f.read().split("\n")[line - 1:]
    body = "\n".join(body[:body.index("}")]).partition("{")[2]
    while CALL.search(body):  # what is only handed on is not tested
        body = CALL.sub("", body)
    return any(DECISION.search(a or b) for a, b in CONDITION.findall(body))


def measure(program, what):
    trace = subprocess.run([program, what], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    place = places(program, set(trace) - {"-"})
    stack, calls, between, before = [], 0, collections.Counter(), None
    for entry in trace:
        if entry == "-":
            stack.pop()
            continue
        room = os.path.dirname(place[entry][1])
        if before is None and decides(place[entry]):
            before = ([place[s][0] for s in stack], calls, place[entry][0])
        if stack and os.path.dirname(place[stack[-1]][1]) != room:
            between[os.path.dirname(place[stack[-1]][1]), room] += 1
        stack.append(entry)
        calls += 1
    print("%s: %d calls, %d between rooms; %d functions on the way to %s, %d entered before: %s" % (
        what, calls, sum(between.values()), len(before[0]), before[2], before[1], " ".join(before[0])))
    if "--list" in sys.argv:
        for (a, b), n in between.most_common():
            print("%8d  %s -> %s" % (n, a, b))


def main():
    os.chdir(ROOT)
    program = build()
    for what in ("box", "strided"):
        measure(program, what)


if __name__ == "__main__":
    main()
