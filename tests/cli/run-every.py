#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# needs: deflate zstd lz4
"""run-every.py - every subcommand with every option: what it prints, and its exit status.

every/COMMAND.txt is a session as a terminal would show it:

    $ datarep ls a.drep | head -1     a line for bash; lines that begin with > belong to it
    /x          dataset INT [3]       its standard output
    ! datarep: a.drep: ...            its standard error
    [4]                               its exit status, where it is not 0

A file runs from top to bottom in an empty directory.  What changes from run to run is replaced
by its name.  `# needs: hdf5 plot` names modules without which the file is skipped.

    UPDATE=1 tests/cli/run-every.py [COMMAND...]    writes the files anew: look at the difference
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATAREP = os.path.abspath(os.environ.get("DATAREP", HERE + "/../../build/release/datarep"))
CHANGING = [
    (re.compile(rb'(uuid:? |"uuid": ")[0-9a-f]{32}'), rb"\1UUID"),
    (re.compile(rb'("time": ")[0-9]{18,}'), rb"\1TIME"),
    (re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ UTC"), rb"TIME"),
    (re.compile(rb'("writer": "|^writer: ")[^"\n]+', re.M), rb"\1WRITER"),
    (re.compile(rb'("machine": "|^writer: "WRITER", machine ")[^"\n]+', re.M), rb"\1MACHINE"),
]


class Step:
    def __init__(self, line):
        self.lines, self.want = [line], []

    def name(self):
        return self.lines[0][2:].replace("#", "\\#")


def parse(path):
    """The comment lines at the beginning, and the steps."""
    head, steps = [], []
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f.read().split("\n")[:-1]:
            if line.startswith("$ "):
                steps.append(Step(line))
            elif not steps:
                head.append(line)
            elif line.startswith("> ") and not steps[-1].want:
                steps[-1].lines.append(line)
            else:
                steps[-1].want.append(line)
    return head, steps


def text(raw):
    for pattern, name in CHANGING:
        raw = pattern.sub(name, raw)
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines[:-1] + [lines[-1] + "\\"]


def run(step, folder, env):
    script = "\n".join(line[2:] for line in step.lines)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    got = text(done.stdout) + ["! " + line for line in text(done.stderr)]
    return got + (["[%d]" % done.returncode] if done.returncode else [])


class Cases:
    def __init__(self):
        self.n = self.bad = 0

    def put(self, ok, name, why=()):
        self.n += 1
        self.bad += not ok
        print("%sok %d - %s" % ("" if ok else "not ", self.n, name))
        if not ok:
            for line in why:
                print("# " + line.encode("utf-8", "backslashreplace").decode())

    def skip(self, name, reason):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, reason))


def session(cases, command, head, steps):
    env = dict(os.environ, LC_ALL="C", TZ="UTC", HERE=HERE, COLUMNS="80")
    env.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(top + "/bin")
        os.mkdir(top + "/work")
        os.symlink(DATAREP, top + "/bin/datarep")
        env["PATH"] = top + "/bin:" + env["PATH"]
        for step in steps:
            got = run(step, top + "/work", env)
            if "UPDATE" in os.environ:
                step.want = got
            cases.put(got == step.want, step.name(),
                      ["- " + x for x in step.want] + ["+ " + x for x in got])
    if "UPDATE" in os.environ:
        with open("%s/every/%s.txt" % (HERE, command), "w", encoding="utf-8",
                  errors="surrogateescape") as f:
            for line in head + [x for s in steps for x in s.lines + s.want]:
                f.write(line + "\n")


def options(command):
    """(letter or None, long name) of each line of the command's help."""
    said = subprocess.run([DATAREP, command, "--help"], stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^  (?:-(\w), |    )--([a-z-]+)", said, re.M)


def uses(steps, command, letter, name):
    """Whether a step calls the command with this option."""
    call = re.compile(r"datarep %s\b([^|;&\n]*)" % command)
    wanted = re.compile(r"\s--%s(?=[\s=]|$)" % name)
    short = letter and re.compile(r"\s-[a-zA-Z]*%s" % letter)
    for step in steps:
        script = re.sub(r"'[^']*'", "''", "\n".join(line[2:] for line in step.lines))
        for words in call.findall(script):
            if wanted.search(words) or short and short.search(words):
                return True
    return False


def main(only):
    cases = Cases()
    said = subprocess.run([DATAREP, "--help"], stdout=subprocess.PIPE, text=True).stdout
    for command in re.findall(r"^  ([a-z]+) ", said, re.M):
        path = "%s/every/%s.txt" % (HERE, command)
        if only and command not in only:
            continue
        if not os.path.exists(path):
            cases.put(False, command, ["tests/cli/every/%s.txt is not there" % command])
            continue
        head, steps = parse(path)
        for letter, name in options(command):
            cases.put(uses(steps, command, letter, name), "%s --%s is tried" % (command, name),
                      ["no line of tests/cli/every/%s.txt calls it" % command])
        needs = re.findall(r"\w+", " ".join(x[8:] for x in head if x.startswith("# needs:")))
        missing = [x for x in needs
                   if not os.path.exists("%s/datarep-%s.so" % (os.path.dirname(DATAREP), x))]
        if missing:
            cases.skip(command, "built without datarep-%s.so" % missing[0])
        else:
            session(cases, command, head, steps)
    print("1..%d" % cases.n)
    return cases.bad > 0


sys.exit(main(sys.argv[1:]))
