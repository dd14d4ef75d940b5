#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# needs: lz4
"""run-reads.py - how often the command reads a file to show one element of it (D41).

The file has 10^5 filtered chunks.  The kernel counts a process's reads; they are asked for where it
ends, and those of a run that finds no file are not the file's.
"""
import ctypes
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATAREP = os.path.abspath(os.environ.get("DATAREP", HERE + "/../../build/release/datarep"))
TRACEME, CONT, SETOPTIONS, OPTION_EXIT, EVENT_EXIT = 0, 7, 0x4200, 0x40, 6
CHUNKS, CHUNK, MOST = 100000, 16, 6
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, pid, data=0):
    if libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), None, ctypes.c_void_p(data)) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def reads_of(*arguments):
    """How many calls of read() and its like this makes, and what it prints."""
    with tempfile.TemporaryFile() as out:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                ptrace(TRACEME, 0)
            finally:
                os.execv(DATAREP, [DATAREP, *arguments])
        _, status = os.waitpid(pid, 0)
        if not os.WIFSTOPPED(status):
            raise OSError(0, "the command was not stopped")
        ptrace(SETOPTIONS, pid, OPTION_EXIT)
        count, deliver = None, 0
        while True:
            ptrace(CONT, pid, deliver)
            _, status = os.waitpid(pid, 0)
            if not os.WIFSTOPPED(status):
                break
            deliver = os.WSTOPSIG(status)
            if status >> 8 == signal.SIGTRAP | EVENT_EXIT << 8:
                with open("/proc/%d/io" % pid, encoding="ascii") as f:
                    count = int(dict(line.split(": ") for line in f)["syscr"])
                deliver = 0
        out.seek(0)
        return count, out.read().decode()


def make_file(folder):
    """A line of doubles in as many chunks, and the first of them."""
    schema, raw, path = (os.path.join(folder, n) for n in ("s.yaml", "x.raw", "x.drep"))
    values = random.Random(1).randbytes(8 * CHUNK) * CHUNKS
    with open(raw, "wb") as f:
        f.write(values)
    subprocess.run([DATAREP, "import", "--type=INT64_T", "--datarep=external32", raw, schema + ".drep"],
                   check=True)
    subprocess.run([DATAREP, "convert", "--chunk=%d" % CHUNK, "--filters=lz4", schema + ".drep", path],
                   check=True)
    return path, struct.unpack_from(">q", values)[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, first = make_file(folder)
        name = subprocess.run([DATAREP, "ls", path], check=True, capture_output=True,
                              text=True).stdout.split()[0]
        try:
            none, _ = reads_of("dump", os.path.join(folder, "none.drep"), name + "[0:1]")
            some, text = reads_of("dump", path, name + "[0:1]")
        except OSError as e:
            print("1..0 # SKIP no process can be traced here: %s" % e)
            return 0
    good = str(first) in text and some is not None and none is not None and some - none <= MOST
    print("%s 1 - one element of %d filtered chunks in %s reads, at most %d" %
          ("ok" if good else "not ok", CHUNKS, some - none if some and none else "?", MOST))
    if not good:
        print("# " + text.replace("\n", "\n# "))
    print("1..1")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
