#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-complete-names.py - hostile names of objects and files, completed in a pseudo-terminal by
bash, zsh and fish in every state of quotes, and submitted: the command gets exactly that name,
nothing runs, and no control character reaches the terminal."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from complete import Shell

SCRIPTS = os.path.join(os.environ["SRCDIR"], "tools/completion")
DATAREP = os.path.abspath(os.environ["DATAREP"])
ESCAPE = "\x1b]0;PWNED\x07"

# What stands behind two letters that tell them apart.
NAMES = ["$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", "\"; touch PWNED; \"", "!touch !$",
         "\n touch PWNED\n", ESCAPE, "\x9b31m", "*?[a]{b,c}~^", " a  b\\", "\ttab", "éλ€𝄞",
         "\\'$(touch PWNED)", "%{" + ESCAPE + "%}%F{red}", "<>|&;()#", "'", "!", "\"", " ", "=:=~",
         "\r${HOME}", "'$(touch PWNED)'", "\"$(touch PWNED)\"", "\\", "\\\\$(touch PWNED)", "\x7f",
         ":files", "-x --y=z"]
NAMES = ["%c%c%s" % (ord("a") + i // 26, ord("a") + i % 26, name) for i, name in enumerate(NAMES)]
FIRST = ["-first", "~first", ":first", "=first", "'first", "\"first", "!first", "$first"]
STATES = {"plain": "", "single quotes": "'", "double quotes": '"', "dollar quotes": "$'"}

# The function in place of the command: completion asks the real one, all else is recorded.
FUNCTIONS = {
    "bash": ["datarep() { if [ \"$1\" = __complete ]; then \"$REAL\" \"$@\"; else "
             "printf '%s\\0' \"$@\" > \"$ARGUMENTS.part\"; mv \"$ARGUMENTS.part\" \"$ARGUMENTS\"; fi; }",
             ". '%s/datarep.bash'" % SCRIPTS],
    "zsh": ["datarep() { if [ \"$1\" = __complete ]; then \"$REAL\" \"$@\"; else "
            "printf '%s\\0' \"$@\" > \"$ARGUMENTS.part\"; mv \"$ARGUMENTS.part\" \"$ARGUMENTS\"; fi; }",
            "fpath=('%s' $fpath); compinit -u -D" % SCRIPTS],
    "fish": ["function datarep; if test $argv[1] = __complete; $REAL $argv; else; "
             "printf '%s\\0' $argv > $ARGUMENTS.part; mv $ARGUMENTS.part $ARGUMENTS; end; end",
             "source '%s/datarep.fish'" % SCRIPTS],
}


def control(name):
    return any(ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 for c in name)


# fish puts control characters into quotes as they are: such names are not offered to it.
NOT_OFFERED = {"bash": lambda name: False, "zsh": lambda name: False, "fish": control}


def left_open(kind, line, state, name):
    """Whether zsh's own completion of files leaves the quotes open, so that nothing is submitted."""
    return kind == "zsh" and line == "import " and \
        (state == "single quotes" and "'" in name or state == "dollar quotes" and control(name))


cases = failed = 0


def case(good, text, why=""):
    global cases, failed
    cases += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", cases, text))
    if not good:
        print("# %s" % why)


def write_names(folder):
    """A container with the names in its root group and one group, and files of these names."""
    os.chdir(folder)
    quoted = ["\"%s\"" % "".join(c if c.isalnum() and c.isascii() else "\\U%08x" % ord(c)
                                 for c in name) for name in NAMES + FIRST]
    with open("names.yaml", "w") as f:
        f.write("root:\n")
        for name in quoted:
            f.write("  %s: {dataset: INT, data: 1}\n" % name)
        f.write("  \"two words\":\n")
        for name in quoted:
            f.write("    %s: {dataset: INT, data: 1}\n" % name)
    subprocess.run([DATAREP, "create", "-s", "names.yaml", "n.drep"], check=True)
    os.mkdir("files")
    for name in NAMES:
        open("files/" + name, "w").close()


def cancel(shell):
    """An empty line again."""
    shell.press("", "\x15")


def submit(shell):
    """The words that the command gets, each with a NUL, or None where it is not called."""
    shell.send("\n")
    for _ in range(2000):
        if os.path.exists("arguments"):
            with open("arguments", "rb") as f:
                got = f.read()
            os.remove("arguments")
            return got
        time.sleep(0.01)
    # Quotes were left open.  The terminal drops what comes too soon behind the interrupt.
    shell.send("\x03")
    time.sleep(0.5)
    cancel(shell)
    return None


def complete(shell, line, want):
    """Presses the key, submits the line, and gives what is wrong, or ""."""
    bare = line.encode()
    after, seen = shell.press(line)
    if b"PWNED\x07" in seen or b"\xc2\x9b" in seen:
        cancel(shell)
        return "%r reached the terminal" % seen
    if want is None:
        cancel(shell)
        return "" if after.rstrip() == bare.rstrip() else "%r became %r" % (bare, after)
    got = submit(shell)
    if os.path.exists("PWNED"):
        os.remove("PWNED")
        return "%r became %r, which ran code" % (bare, after)
    if got != b"".join(word.encode() + b"\0" for word in want):
        return "%r became %r: the command got %r" % (bare, after, got)
    return ""


def each_state(shell, kind, what, names, line, begin, typed, ends=""):
    """One case for each state of quotes; begin is in front of the name, in quotes."""
    for state, quote in STATES.items():
        if kind == "fish" and state == "dollar quotes":
            continue
        wrong = []
        for name in names:
            start = begin.replace(" ", "\\ ") if not quote else begin
            words = line.split() + [begin + name + ends]
            if left_open(kind, line, state, name):
                continue
            if NOT_OFFERED[kind](name):
                words = None
            if words and line.endswith("="):
                words = line.split()[:-1] + [line.split()[-1] + begin + name + ends]
            why = complete(shell, "datarep " + line + quote + start + name[:typed], words)
            if why:
                wrong.append(why)
        case(not wrong, "%s: %s, %s" % (kind, what, state), "\n# ".join(wrong))


def first_characters(shell, kind):
    """Names that begin as a shell's own words do, typed without a slash in front."""
    wrong = []
    for quote, escapes in ("", "-~:='\"!$"), ("'", ""), ('"', '"$'):
        for name in FIRST:
            typed = ("\\" if name[0] in escapes else "") + name[:2]
            if quote == "'" and name[0] == "'":
                typed = "\\'f" if kind == "fish" else "'\\''f"
            why = complete(shell, "datarep dump n.drep -- " + quote + typed,
                           ["dump", "n.drep", "--", name])
            if why:
                wrong.append(why)
    case(not wrong, kind + ": the first character of a name", "\n# ".join(wrong))


def list_names(shell, kind):
    """What the shell lists shows no control character."""
    after, seen = shell.press("datarep dump n.drep /", "\t" if kind == "fish" else "\t\t")
    bad = [c for c in (b"PWNED\x07", b"\xc2\x9b", b"\x7f") if c in seen]
    case(not bad and (b"aa" in seen or kind == "fish"), kind + ": a list of the names", "%r in %r" % (bad, seen))
    cancel(shell)


def main():
    folder = tempfile.mkdtemp()
    write_names(folder)
    for kind in sys.argv[1:] or FUNCTIONS:
        if not shutil.which(kind):
            case(True, "%s # SKIP %s is not installed" % (kind, kind))
            continue
        os.environ.update(REAL=DATAREP, ARGUMENTS=folder + "/arguments", HOME=folder)
        shell = Shell(kind, FUNCTIONS[kind])
        list_names(shell, kind)
        first_characters(shell, kind)
        each_state(shell, kind, "an object", NAMES, "dump n.drep ", "/", 2)
        each_state(shell, kind, "an object in a group", NAMES[::4], "dump n.drep ", "/two words/", 2)
        each_state(shell, kind, "a file", NAMES, "import ", "files/", 2)
        if kind != "fish":  # offers no files there
            each_state(shell, kind, "a file behind =", NAMES[::4], "create --schema=", "files/", 2)
    shutil.rmtree(folder)
    print("1..%d" % cases)
    return failed > 0


sys.exit(main())
