# SPDX-License-Identifier: MIT
"""frames.py - what gdb does for run.py: prints the stack of each pwrite, innermost frame first.

    START=drep_write gdb -batch -x tests/bench/calls/frames.py --args PROGRAM...

prints "frames NAME@FILE NAME@FILE..." for each pwrite below the function START, up to it.  Inline
functions have frames of their own."""
import os

import gdb


def stack(start):
    """The frames up to `start`, or None when it is not among them."""
    frame, found = gdb.newest_frame(), []
    while frame:
        symtab = frame.find_sal().symtab
        found.append("%s@%s" % (frame.name(), symtab.fullname() if symtab else ""))
        if frame.name() == start:
            return found
        frame = frame.older()
    return None


def main():
    gdb.execute("set confirm off")
    gdb.Breakpoint("drep_write")
    gdb.execute("run", to_string=True)
    gdb.Breakpoint("pwrite64")
    while gdb.selected_inferior().pid:
        gdb.execute("continue", to_string=True)
        found = stack(os.environ["START"]) if gdb.selected_inferior().pid else None
        if found and found[0].split("@")[0] != os.environ["START"]:
            print("frames " + " ".join(found))


main()
