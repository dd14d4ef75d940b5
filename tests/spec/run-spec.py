#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-spec.py - does everybody read and write the file format as SPEC.md says?  Prints TAP.

First the writer is held to the vectors, and both to the worked examples of the page; then, if the
command `datarep` is there ($DATAREP, else build/release/datarep), it is held to what the independent
reader (run-reader.py) says.  On a file that is bad or changed it takes no more memory and time than
SECURITY.md allows.
"""

import contextlib
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "tests", "fault"))

import badvectors  # noqa: E402
import codes as C  # noqa: E402
import compare  # noqa: E402
import drepwrite  # noqa: E402
import limits  # noqa: E402
import makevectors  # noqa: E402
import reader  # noqa: E402
import vectors  # noqa: E402
from tap import Tap  # noqa: E402

VECTORS = os.path.join(ROOT, "tests", "vectors")
CHANGED = int(os.environ.get("CHANGED_FILES", 600))


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return compare.parse(f.read())


def log_of(datarep, path):
    """The commits that the command can open, the newest first."""
    done = subprocess.run([datarep, "log", "--json", path], capture_output=True, timeout=60)
    return [c["sequence"] for c in json.loads(done.stdout)["commits"]]


def commits_by_command(datarep, path):
    """The command shows the same of each commit that its log names."""
    for sequence in log_of(datarep, path):
        done = subprocess.run([datarep, "dump", "--json", "--external", "--commit", str(sequence), path],
                              capture_output=True, timeout=60)
        if done.returncode:
            return done.stderr.decode()
        wrong = compare.difference(compare.document(path, sequence),
                                   compare.parse(done.stdout.decode()))
        if wrong:
            return "commit %d: %s" % (sequence, wrong)
    return None


def earlier_by_command(datarep, path):
    log = log_of(datarep, path)
    return commits_by_command(datarep, path) if log == [4, 3, 2, 1] else "the log is %r" % log


def made_anew(function, directory):
    """The vector as the writer makes it now: its data are those stated, its JSON the kept one."""
    makevectors.make(function, directory)
    name = vectors.file_name(function)[:-5] + ".json"
    kept = os.path.join(VECTORS, name)
    if not os.path.exists(kept):
        return "%s is missing" % name
    return compare.difference(read_json(kept), read_json(os.path.join(directory, name)))


# ---------------------------------------------------------------- the worked examples of the page

def spec_text():
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
        return f.read()


def spec_vector():
    """The vector of 5.3: a struct under external32, and the long double 1/3."""
    text = " ".join(spec_text().split())
    found = re.search(r"double 1\.5; int 7\}` is `([0-9a-f ]+)`; the long double 1/3 of an x86 "
                      r"machine is `([0-9a-f ]+)`", text)
    if not found:
        return "the page has no such vector any more"
    shape = drepwrite.Shape({c: r + (1,) for c, r in C.standard_table("external32").items()})
    worked = ("struct", [("c", "CHAR"), ("d", "DOUBLE"), ("i", "INT")])
    if shape.encode(worked, ("A", 1.5, 7), bytearray()) != bytes.fromhex(found[1]):
        return "the struct is not " + found[1]
    _, sig = drepwrite.extended(Fraction(1, 3), -16382)
    third = Fraction(sig, 2 ** 65)
    if drepwrite.encode(third, C.BINARY128, 0, 16) != bytes.fromhex(found[2]):
        return "1/3 is not " + found[2]
    return None


# ---------------------------------------------------------------- the command

def command_refuses(datarep, path, check):
    """The command refuses the file with a message and does not crash."""
    args = ["check", "--external", path] if check else ["dump", "--json", "--external", path]
    done = limits.run([datarep] + args)
    if check and done.returncode == 0:  # in a stream that no read and no sum tells from others
        done = limits.run([datarep, "check", "--deep", "--external", path])
    err = (done.stderr + done.stdout if check else done.stderr).decode("utf-8", "replace")
    if done.returncode == 0:
        return "accepted"
    if done.returncode < 0 or "Sanitizer" in err:
        return "crashed with status %d: %s" % (done.returncode, err[:500])
    return done.wrong(limits.memory_bar(path)) or (None if err.strip() else "refused without a word")


def library_refuses(tap, program, directory):
    """The library's own test of bad files, over all of them: each by the code EXPECT names."""
    done = subprocess.run([program, directory], capture_output=True, timeout=300)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for line, more in zip(lines, lines[1:] + [""]):
        found = re.match(r"(not )?ok \d+ - (.*)", line)
        if found:
            tap.run("library: " + found[2], lambda: more.lstrip("# ") if found[1] else None)
    if done.returncode != 0:
        tap.run("library: test_vectors ends", lambda: "status %d" % done.returncode)


def bad_list(directory):
    with open(os.path.join(directory, "EXPECT"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                yield (os.path.join(directory, words[0]), words[1].split("|"), words[2].split("|"),
                       "check" in words[3:])


def own_tests(tap, work):
    for function in vectors.GOOD:
        tap.run("writer: %s made anew" % vectors.file_name(function), made_anew, function, work)
    tap.run("SPEC.md: worked vector of external32", spec_vector)


def files_of_long_work(tap, directory, datarep):
    """What the library leaves after dozens of commits, some of them never finished."""
    program = os.path.join(os.path.dirname(datarep), "tests", "fault", "crash")
    if not os.access(program, os.X_OK):
        tap.skip("datarep: files of long work", "%s is not there" % program)
        return
    os.mkdir(directory)
    subprocess.run([program, "--files", "24", "1", directory], check=True, timeout=300)
    commits = absent = 0
    for path in sorted(glob.glob(os.path.join(directory, "*.drep"))):
        tap.run("datarep: %s" % os.path.basename(path), commits_by_command, datarep, path)
        commits += len(log_of(datarep, path))
        with reader.File(path) as file:
            absent += sum(record.all_sums().count(0) for dataset in file.datasets.values()
                          for record in dataset.records if record.kind == reader.PLAIN)
    tap.run("datarep: %d commits in these files, %d absent sums" % (commits, absent),
            lambda: None if commits > 48 and absent > 20 else "too few")


def check_passes(datarep, path):
    done = limits.run([datarep, "check", "--deep", "--external", path], timeout=60)
    over = done.wrong(limits.memory_bar(path))
    if over:
        raise RuntimeError("check of %s %s" % (os.path.basename(path), over))
    return done.returncode == 0


def refusal(path):
    """Why the independent reader refuses the file; None if it does not, or for a limit of its own."""
    try:
        reader.document(path)
    except reader.ReadError as e:
        return None if e.rule in ("R1.5", "R3.28") else str(e)
    return None


class Changer:
    """The program that changes files and writes to them; what it left of one."""

    def __init__(self, work, datarep):
        self.program = os.path.join(os.path.dirname(datarep), "tests", "fault", "mutants")
        self.datarep = datarep
        self.path = os.path.join(work, "changed.drep")
        self.after = os.path.join(work, "written.drep")

    def change(self, count, seed, files):
        if os.path.exists(self.after):
            os.unlink(self.after)
        subprocess.run([self.program, str(count), str(seed)] + files, check=True, timeout=60,
                       env=dict(os.environ, MUTANT_KEEP=self.path, MUTANT_WRITTEN=self.after))

    def spoiled(self):
        """What is wrong with the sound file after it was written to."""
        return refusal(self.after) or (None if check_passes(self.datarep, self.after) else
                                       "check finds something")


def nothing_missed(changer):
    """What the reader refuses of a changed file, the command's check finds."""
    files = sorted(glob.glob(os.path.join(VECTORS, "*.drep")))
    refused_ones, wrong = 0, []
    for seed in range(1, CHANGED + 1):
        changer.change(1, seed, files)
        why = refusal(changer.path)
        refused_ones += why is not None
        sound = check_passes(changer.datarep, changer.path)
        if sound and why:
            wrong.append("seed %d: check does not find: %s" % (seed, why))
        elif sound and os.path.exists(changer.after) and changer.spoiled():
            wrong.append("seed %d, written to: %s" % (seed, changer.spoiled()))
    return "\n".join(wrong) or (None if refused_ones > CHANGED // 10 else "too few are refused")


def sound_when_written_to(changer, path):
    """A file that another writer made, after the library wrote to it in many ways."""
    for how in range(0, 32, 3):
        changer.change(0, how, [path])
        if not check_passes(changer.datarep, path):
            return None  # nobody may write to it, or its filter is not there
        written = os.path.exists(changer.after)
        if written == (os.path.basename(path) == "readonly.drep"):
            return "it can be written to" if written else "it cannot be written to"
        if written and changer.spoiled():
            return "changes %d: %s" % (how, changer.spoiled())
    return None


def changed_files(tap, work, datarep):
    changer = Changer(work, datarep)
    if not os.access(changer.program, os.X_OK):
        tap.skip("datarep: changed files", "%s is not there" % changer.program)
        return
    tap.run("datarep: check finds what the reader refuses of %d changed files" % CHANGED,
            nothing_missed, changer)
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.drep"))):
        tap.run("datarep: %s, written to" % os.path.basename(path), sound_when_written_to,
                changer, path)


def command_tests(tap, work, datarep):
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.drep"))):
        tap.run("datarep: %s" % os.path.basename(path), compare.compare, datarep, path)
    tap.run("datarep: earlier commits", earlier_by_command, datarep,
            os.path.join(VECTORS, "commits.drep"))
    for path, _, _, check in bad_list(os.path.join(work, "bad")):
        tap.run("datarep: %s is refused" % os.path.basename(path), command_refuses, datarep, path,
                check)
    program = os.path.join(os.path.dirname(datarep), "tests", "vectors", "test_vectors")
    if os.access(program, os.X_OK):
        library_refuses(tap, program, os.path.join(work, "bad"))
    else:
        tap.skip("library: bad vectors", "%s is not there" % program)
    files_of_long_work(tap, os.path.join(work, "files"), datarep)
    changed_files(tap, work, datarep)


def main():
    tap = Tap()
    datarep = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
    with tempfile.TemporaryDirectory() as work:
        badvectors.write(os.path.join(work, "bad"), everything=True)
        with contextlib.redirect_stderr(io.StringIO()):
            own_tests(tap, work)
            if os.access(datarep, os.X_OK):
                command_tests(tap, work, datarep)
            else:
                tap.skip("datarep: all vectors", "%s is not there" % datarep)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
