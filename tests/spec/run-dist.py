#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-dist.py - can the package of vectors be used without the rest of the repository?

It is unpacked into an empty directory, and its runner tries three readers: the command, the reader in Python,
and the command with a fault in it, which must be found.  Made twice it has the same bytes.  Prints TAP.
"""
import filecmp
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from tap import Tap  # noqa: E402

DATAREP = os.path.abspath(os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep")))
# Readers that are wrong in one place each: what they change of the command's words, and how they end.
FAULTS = {"of a value": 's/"data": 3.25/"data": 3.5/', "of an attribute": 's/"unit"/"units"/', "of an order": 's/1, 2, 3/1, 3, 2/'}


def make(work, name):
    path = os.path.join(work, name)
    done = subprocess.run([os.path.join(HERE, "vectors-dist.py"), path], capture_output=True, text=True, timeout=120, check=True)
    return path, done.stdout


def unpack(work, path):
    with tarfile.open(path) as tar:
        tar.extractall(os.path.join(work, "empty"))
        return os.path.join(work, "empty", tar.getnames()[0].split("/")[0])


def runner(package, *args, path=None):
    """(exit status, last line, all lines) of the runner, in the package, without this repository."""
    done = subprocess.run([os.path.join(package, "run.py"), *args], cwd=package, capture_output=True, text=True, timeout=500,
                          env={"PATH": os.environ["PATH"], "PYTHONPATH": path or ""}, check=False)
    lines = done.stdout.splitlines()
    return done.returncode, lines[-1] if lines else done.stderr, lines


def script(work, name, body):
    path = os.path.join(work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + body)
    os.chmod(path, stat.S_IRWXU)
    return path


def tries(package, *args, path=None):
    status, last, lines = runner(package, *args, path=path)
    return None if status == 0 else "\n".join(lines[-20:] or [last])


def wrong_one(work, package):
    """Each fault of a reader is found, by name of the file."""
    for n, (what, change) in enumerate(FAULTS.items()):
        path = script(work, "fault%d" % n, '%s dump --json --external "$1" | sed \'%s\'\n' % (DATAREP, change))
        status, last, _ = runner(package, "--every", "3", path)
        if status != 1:
            return "a fault %s is not found: %s" % (what, last)
    path = script(work, "trusting", '%s dump --json --external "$1" 2>/dev/null || true\n' % DATAREP)
    status, last, lines = runner(package, "--every", "3", "--class", "header", path)
    found = [line for line in lines if line.startswith("bad/") and "it was read" in line]
    return None if status == 1 and found else "a reader that believes every file passes: %s" % last


def whole(package):
    """Every rule that a bad vector breaks has a file, and every file a line and a dump."""
    with open(os.path.join(package, "INDEX"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    files = {line.split()[1] for line in lines if line.startswith("file ")}
    wrong = [path for path in files if not os.path.exists(os.path.join(package, path))
             or not os.path.exists(os.path.join(package, path[:-5] + ".txt"))]
    named = {name for line in lines if line.startswith("rule ") for name in re.findall(r"(?:good|bad)/[\w-]+\.drep", line)}
    return "\n".join(sorted(wrong) + ["%s has no line" % n for n in sorted(named - files)]) or (
        None if len(files) > 300 else "only %d files" % len(files))


def main():
    with tempfile.TemporaryDirectory() as work:
        first, said = make(work, "a.tar.gz")
        second, _ = make(work, "b.tar.gz")
        package = unpack(work, first)
        command = [DATAREP, "dump", "--json", "--external"]
        cases = (
            ("the package is made alike twice", lambda: None if filecmp.cmp(first, second, False) else "it differs"),
            ("its index is whole", lambda: whole(package)),
            ("the command passes all, by rules", lambda: tries(
                package, "--rules", "--check", "%s check --deep --external" % DATAREP, *command)),
            ("the reader in Python passes every eighth", lambda: tries(
                package, "--every", "8", sys.executable, "-m", "reader", "--external", path=HERE)),
            ("faults of readers are found", lambda: wrong_one(work, package)))
        tap = Tap()
        for name, function in cases:
            tap.run(name, function)
        print("counted: %s" % said.split(": ", 1)[1].strip())
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
