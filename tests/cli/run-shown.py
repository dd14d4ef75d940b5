#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-shown.py - what every subcommand, message and completion shows of a file's names and texts.

A file has each character that acts on other text, or is not shown, in every kind of name and text.
None may reach the output as it is: a terminal would obey it, or show other text than there is.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATAREP = os.path.abspath(os.environ.get("DATAREP", HERE + "/../../build/release/datarep"))
ACTING = "".join(map(chr, [*range(1, 32), *range(0x7f, 0xa0), 0x61c, 0x200b, 0x200e, 0x200f, *range(0x2028, 0x202f),
                           *range(0x2060, 0x206a), 0xfeff]))
FILE, OTHER, BAD = "a\u202e\x1b.drep", "b\u2066\x9b.drep", "no\u200f\x07.drep"
EVERY = "".join(ACTING)

# The command lines of each subcommand; a new one has to have some.
LINES = {
    "check": [["F"], ["-d", "F", "O"], ["--json", "F"], ["B"], ["--repair=R", "F"], ["D"], ["-d", "D"], ["--repair=R2", "D"]],
    "convert": [["F", "C"], ["--only=/N", "--datarep=external32", "F", "C2"], ["--chunk=/N=2", "F", "C2"], ["F", "F2/N"],
                ["-v", "F", "C3"], ["B", "C4"], ["F", "C"]],
    "create": [["-s", "B", "X"], ["-s", "S", "X"], ["-s", "WRONG", "X"], ["-s", "S", "X"]],
    "diff": [["F", "O"], ["--storage", "F", "O"], ["--json", "F", "O"], ["-n", "3", "F", "O"], ["F", "B"], ["F", "O", "/N"]],
    "dump": [["F"], ["-H", "F"], ["--json", "F"], ["--jsonl", "F"], ["--yaml", "F"], ["-H", "--yaml", "F"], ["F", "/N"], ["B"],
             ["--as=external32", "F"], ["-w", "0", "F"], ["F", "/g0/N"], ["D"]],
    "edit": [["-n", "F", "set", "/@N=N", "rename", "/@N", "N", "rm", "/g0"], ["F", "set", "/N@a=1"], ["F", "mv", "/N", "/N"], ["F", "set", "/@a:N=N"],
             ["-v", "O", "set", "/@a=N", "set", "/@N=1", "rename", "/g0", "N"], ["O", "set", "/@N=N"], ["F", "N"], ["F", "rename", "N", "a/N"], ["D", "rm", "/N"]],
    "export": [["--root=/g0/N", "F", "E.csv"], ["F", "E.h5"], ["-v", "--report=-", "F", "E2.h5"], ["F", "E.npz"],
               ["--json", "F", "E3.h5"], ["--format=cdf5", "F", "E.nc"], ["B", "E4.csv"], ["--root=/N", "F", "E5.npy"]],
    "import": [["E.h5", "I"], ["-v", "--report=-", "E.h5", "I2"], ["B", "I3"], ["T.csv", "I4"], ["-u", "-i", "/N", "T.csv", "F"],
               ["--format=csv", "S", "I5"]],
    "join": [["F", "F", "J"], ["--dim=N", "F", "O", "J2"], ["--virtual", "--dim=d%s" % ("\x01" + "z"), "F", "F", "J3"], ["F", "B", "J4"],
             ["-v", "--virtual", "--copy", "F", "O", "J5"], ["D", "F", "J6"]],
    "log": [["F"], ["--json", "F"], ["B"]],
    "ls": [["F"], ["-lr", "F"], ["-m", "-r", "F"], ["--json", "-r", "F"], ["F", "/N"], ["B"], ["-lr", "D"]],
    "mpiexec": [["--mpi=N", "F"], ["--mpi=N"]],
    "netcdf": [["N"], ["--", "N", "F"], ["F"], ["./D"], ["cdo", "info", "F"], ["--install", "N"], ["--N"], ["--status"]],
    "plot": [["--preview", "F", "/g0/v"], ["--preview", "F", "/N"], ["-o", "P.svg", "F", "/N"], ["--preview", "--member=N", "F", "/g0/v"]],
    "refs": [["F"], ["-o", "P.json", "F"], ["--strict", "F"], ["--url=N", "F"], ["B"], ["D"]],
    "reps": [[], ["internal"], ["N"], ["-s", "WRONG"], ["--json"]],
    "stat": [["F"], ["-r", "F"], ["--json", "-r", "F"], ["B"], ["F", "/N"]],
    "validate": [["-s", "S", "F"], ["-s", "S", "O"], ["-s", "B", "F"], ["-s", "WRONG", "F"], ["--json", "-s", "S", "O"]],
    "view": [["--export=V", "F", "O"], ["--export=V/N", "F"], ["--no-browser", "B"], ["--port=N", "F"]],
}


def escaped(text):
    return '"' + "".join("\\u%04x" % ord(c) if c in ACTING or c in '"\\' else c for c in text) + '"'


def schema(values):
    """A group for each character, with that in all names and texts."""
    lines = ["root:"]
    for i, c in enumerate(ACTING):
        def name(text):
            return escaped(text + c + "z")
        lines += [
            "  %s:" % escaped("g%d%s" % (i, c) if i else "g0"),
            "    dims: {%s: 2}" % name("d"),
            "    attrs: {%s: %s, units: %s, long_name: %s}" % (name("a"), name("w"), name("u"), name("l")),
            "    members:",
            "      %s: {dataset: %s, dims: [%s], attrs: {units: %s, %s: [%s, %s]}}"
            % (name("t"), escaped('struct{"m%s": INT, x: DOUBLE}' % type_text(c)), name("d"), name("u"), name("b"), name("p"), name("q")),
            "      %s: {dataset: vstring, shape: [2], data: [%s, %s]}" % (name("s"), name(values), name("k")),
            "      %s: {dataset: %s, shape: [2]}" % (name("e"), escaped('enum(INT8_T){"r%s"=0,G=1}' % type_text(c))),
            "      %s: {dataset: %s, shape: [1]}" % (name("o"), escaped('opaque(2,"tag%s")' % type_text(c))),
            "      %s: {link: soft, target: %s}" % (name("f"), name("/nowhere")),
            "      %s: {type: INT}" % name("y"),
            "      v: {dataset: DOUBLE, shape: [4], data: [1, 2, 3, %d], attrs: {units: %s, long_name: %s}}" % (i, name("u"), name("l")),
        ]
    return "\n".join(lines) + "\n"


def type_text(c):
    """A character in quotes in a one-line datatype."""
    return "".join("\\x%02x" % b for b in c.encode())


def acting(raw, allowed="\n"):
    """The first character of an output that acts, or a byte that is no text, with what stands around it."""
    text = raw.decode("utf-8", "surrogateescape")
    for i, c in enumerate(text):
        if (c in ACTING and c not in allowed) or "\ud800" <= c <= "\udfff":
            return "U+%04X in %s" % (ord(c), ascii(text[max(0, i - 60):i + 20]))
    return None


def run(*command, **more):
    return subprocess.run([DATAREP, *command], capture_output=True, timeout=100, check=False, **more)


class Cases:
    n = bad = 0

    def put(self, name, why):
        self.n += 1
        self.bad += bool(why)
        print("%sok %d - %s" % ("not " if why else "", self.n, name))
        if why:
            print("# " + why)


def prepare():
    for path, text in (("s.yaml", schema("h")), ("s2.yaml", schema("i")),
                       ("wrong\u202e.yaml", "root: {%s: {dataset: %s}, %s: 3, %s: {dataset: INT, shape: [2], data: [%s]}}\n"
                        % tuple(map(escaped, ["x" + EVERY, "IN" + EVERY, "y" + EVERY, "z" + EVERY, "q" + EVERY]))),
                       ("t.csv", "%s,b\n1,2\n" % EVERY.replace("\n", "").replace("\r", ""))):
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
    for path, source in ((FILE, "s.yaml"), (OTHER, "s2.yaml")):
        done = run("create", "-s", source, path)
        assert done.returncode == 0, done.stderr
    with open(FILE, "rb") as f:
        damaged = bytearray(f.read())
    for at in range(12288, len(damaged), 4099):  # some of the names, some of the nodes
        damaged[at] ^= 0x40
    with open("d\u2028.drep", "wb") as f:
        f.write(damaged)


def word(text):
    names = {"F": FILE, "O": OTHER, "B": BAD, "D": "d\u2028.drep", "S": "s.yaml", "WRONG": "wrong\u202e.yaml", "T.csv": "t.csv"}
    return names.get(text, re.sub(r"\bN$|\bN\b(?==)", "n" + EVERY, text))


def completes(cases):
    """The records for zsh and fish, and bash's words; zsh quotes controls (run-complete-names.py)."""
    for line in ([FILE, "/"], [FILE, "/g0/"], [FILE, "/g0/#"], ["-"], [FILE, "/g0/t\x01z[0]."]):
        done = run("__complete", "dump", *line)
        for record in done.stdout.split(b"\0"):
            about, _, candidate = record.partition(b"\t")
            why = acting(about) or acting(candidate, "".join(map(chr, [*range(32), *range(0x7f, 0xa0)])))
            if why:
                break
        cases.put("completion for zsh and fish of %s" % ascii(line[-1]), why)
        text = "datarep dump " + " ".join(map(quote, line))
        done = run("__complete", "--bash", line[-1], text)
        cases.put("completion for bash of %s" % ascii(line[-1]), acting(done.stdout, "\0\t\n"))


def quote(text):
    return "'" + text + "'"


def main():
    cases = Cases()
    known = re.findall(r"^  ([a-z]+)  ", run("--help").stdout.decode(), re.M)
    cases.put("every subcommand is here", "" if set(known) <= set(LINES) | {"help"} else "%s has no line" % (set(known) - set(LINES)))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        for command, lines in LINES.items():
            for line in lines:
                done = run(command, *map(word, line))
                cases.put("%s %s" % (command, " ".join(line)), acting(done.stdout) or acting(done.stderr))
        completes(cases)
        for flag in ([], ["-H"]):
            text = run("dump", "--yaml", *flag, FILE).stdout
            done = run("create", "-f", "-s", "-", "again.drep", input=text)
            same = run("diff", *flag, FILE, "again.drep")
            cases.put("dump --yaml %s makes the same file" % " ".join(flag),
                      "" if done.returncode == same.returncode == 0 else ascii((done.stderr + same.stdout)[:300]))
    print("counted: %d characters that act on text" % len(ACTING))
    print("1..%d" % cases.n)
    return 1 if cases.bad else 0


if __name__ == "__main__":
    sys.exit(main())
