#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-terminal.py - what the command does on a terminal: colours, bars, and how it is stopped.

Terminals are pseudo-terminals.  Nothing waits for a machine to be slow: a command is held up by
a pipe that nobody reads, as long as it takes for a bar to be due."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATAREP = os.path.abspath(os.environ.get("DATAREP", HERE + "/../../build/release/datarep"))
ENV = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", DATAREP_PAGER="")
for name in ("NO_COLOR", "COLUMNS"):
    ENV.pop(name, None)
cases = bad = 0


def check(name, ok, why=""):
    global cases, bad
    cases += 1
    bad += not ok
    print("%sok %d - %s" % ("" if ok else "not ", cases, name))
    if not ok:
        print("# %r" % (why,))


def terminal(columns=80):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return master, slave


def drain(fd):
    """All that comes until the other end is closed."""
    out = b""
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            return out
        if not more:
            return out
        out += more


def on_terminal(*args, env=None, columns=80):
    """What a command prints whose standard output is a terminal; None takes a variable away."""
    master, slave = terminal(columns)
    env = {k: v for k, v in dict(ENV, **(env or {})).items() if v is not None}
    child = subprocess.Popen([DATAREP, *args], stdin=subprocess.DEVNULL, stdout=slave,
                             stderr=subprocess.PIPE, env=env)
    os.close(slave)
    out = drain(master)
    child.communicate()
    os.close(master)
    return out.replace(b"\r\n", b"\n").decode()


def wait_until_full(pipe):
    """Until the other end waits for somebody to read."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        size = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
        if int.from_bytes(size, sys.byteorder) >= 32768:
            return
        time.sleep(0.02)


def held_up(seconds, *args, env=None, terminal_stderr=True, stop=None):
    """Runs a command whose output nobody reads for a while; what came on standard error, the
    exit status, and how much came on standard output."""
    master, slave = terminal()
    read, write = os.pipe()
    child = subprocess.Popen([DATAREP, *args], stdin=subprocess.DEVNULL, stdout=write,
                             stderr=slave if terminal_stderr else subprocess.PIPE,
                             env=dict(ENV, **(env or {})))
    os.close(slave)
    os.close(write)
    wait_until_full(read)
    time.sleep(seconds)
    if stop:
        child.send_signal(stop)
    size = len(drain(read))
    os.close(read)
    said = drain(master) if terminal_stderr else child.stderr.read()
    status = child.wait()
    os.close(master)
    return said.decode(), status, size


def dump(path, *args):
    return subprocess.run([DATAREP, "dump", *args, path], stdout=subprocess.PIPE).stdout


def colours():
    for args in (["ls", "sea.drep"], ["dump", "-H", "sea.drep"], ["diff", "sea.drep", "big.drep"],
                 ["plot", "--preview", "sea.drep", "/sst"]):
        what = " ".join(args)
        plain = subprocess.run([DATAREP, *args], env=ENV, stdout=subprocess.PIPE).stdout.decode()
        check("%s: no colours in a pipe" % what, "\x1b" not in plain, plain)
        check("%s: colours on a terminal" % what, "\x1b[" in on_terminal(*args))
        check("%s: not with NO_COLOR" % what, "\x1b" not in on_terminal(*args, env={"NO_COLOR": "1"}))
        check("%s: not on a dumb terminal" % what,
              "\x1b" not in on_terminal(*args, env={"TERM": "dumb"}))
        check("%s: not with --color=never" % what, "\x1b" not in on_terminal(*args, "--color=never"))
        check("%s: an empty NO_COLOR is none" % what,
              "\x1b[" in on_terminal(*args, env={"NO_COLOR": ""}))
        forced = subprocess.run([DATAREP, *args, "--color"], env=dict(ENV, NO_COLOR="1"),
                                stdout=subprocess.PIPE).stdout
        check("%s: --color is asked for" % what, b"\x1b[" in forced)


def pages():
    """A pager shows what dump prints on a terminal, and nowhere else."""
    marks = "sed s/^/shown:/"
    plain = on_terminal("dump", "-H", "sea.drep")
    lines = plain.split("\n")
    for words in ({"DATAREP_PAGER": marks}, {"DATAREP_PAGER": marks, "PAGER": "false"}):
        out = on_terminal("dump", "-H", "sea.drep", env=words)
        check("dump goes to a pager: %s" % words, out == "".join("shown:%s\n" % t for t in lines[:-1]), out)
    check("its colours stay", "\x1b[" in out)
    check("none of an empty name, nor cat", on_terminal("dump", "-H", "sea.drep", env={"DATAREP_PAGER": "cat"}) == plain)
    out = subprocess.run([DATAREP, "dump", "-H", "sea.drep"], env=dict(ENV, DATAREP_PAGER=marks), stdout=subprocess.PIPE)
    check("none in a pipe", b"shown:" not in out.stdout, out.stdout)
    out = on_terminal("dump", "-H", "sea.drep", env={"DATAREP_PAGER": None, "PAGER": marks})
    check("PAGER counts where there is no DATAREP_PAGER", "shown:" in out, out)
    out = on_terminal("dump", "big.drep", env={"DATAREP_PAGER": "sed 2q"})
    check("a pager that ends early ends the command", out.count("\n") == 2, out[:200])
    out = on_terminal("dump", "no.drep", env={"DATAREP_PAGER": marks})
    check("an error needs no pager", out == "", out)


def widths():
    for columns in (40, 100):
        out = on_terminal("plot", "--preview", "--color=never", "sea.drep", "/sst", columns=columns)
        longest = max(len(line) for line in out.split("\n")[1:])
        check("a preview is as wide as the terminal, %d" % columns, longest == columns,
              (longest, out))


def bars():
    said, status, size = held_up(1.5, "dump", "--json", "big.drep")
    check("a bar after a second", status == 0 and re.search(
        r"\r\S+.*%.*B of .*B .*B/s .*left", said.replace("\x1b[K", "")) is not None, (status, said))
    check("which is wiped at the end", said.endswith("\r\x1b[K"), said[-80:])
    check("and leaves the output alone", size == len(dump("big.drep", "--json")), size)
    longest = max(len(x) for x in said.replace("\x1b[K", "").split("\r"))
    check("in one line", longest < 80, longest)
    said, status, _ = held_up(1.5, "dump", "--json", "big.drep", env={"LC_ALL": "C"})
    check("without UTF-8 in ASCII", status == 0 and "%" in said and said.isascii(), said)
    said, status, _ = held_up(1.5, "dump", "--json", "big.drep", env={"TERM": "dumb"})
    check("not on a dumb terminal", (said, status) == ("", 0), said)
    said, status, _ = held_up(1.5, "dump", "--json", "big.drep", terminal_stderr=False)
    check("not where standard error is no terminal", (said, status) == ("", 0), said)


def stops():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        _, status, size = held_up(0.3, "dump", "--json", "big.drep", stop=number)
        check("dump ends by %s" % number.name, status == -number, status)
        check("before all is printed", size < len(dump("big.drep", "--json")), size)
    before = dump("table.drep")
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen([DATAREP, "import", "--append", "--format=csv", "--no-header",
                                  "--into=/t", "rows.fifo", "table.drep"], env=ENV)
        with open("rows.fifo", "wb") as f:
            f.write(b"1\n" * 100000)
            f.flush()
            child.send_signal(number)
            time.sleep(0.2)
        status = child.wait()
        check("import ends by %s" % number.name, status == -number, status)
        check("and leaves the last commit", dump("table.drep") == before)
    child = subprocess.Popen([DATAREP, "create", "-s", "-", "new.drep"], stdin=subprocess.PIPE,
                             env=ENV)
    child.stdin.write(b"root: {}\n")
    child.stdin.flush()
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    child.stdin.close()
    check("create ends by SIGINT", child.wait() == -signal.SIGINT)
    check("and makes no file", not os.path.exists("new.drep"), os.listdir("."))


def create(name, schema):
    subprocess.run([DATAREP, "create", "-s", "-", name], input=schema.encode(), check=True)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        create("sea.drep", "root: {sst: {dataset: FLOAT, data: [[1, 2], [3, 4]]}, g: {}}")
        create("big.drep", "root: {sst: {dataset: DOUBLE, shape: [2000, 1000], fill: 0.1}}")
        create("table.drep", "root: {t: {dataset: INT64_T, shape: [0], maxshape: [unlimited]}}")
        os.mkfifo("rows.fifo")
        colours()
        pages()
        widths()
        bars()
        stops()
        os.chdir("/")
    print("1..%d" % cases)
    return bad > 0


sys.exit(main())
