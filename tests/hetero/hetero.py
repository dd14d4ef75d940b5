#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hetero.py - builds Datarep for other machines, runs it there, and compares what they say.

Usage: tests/hetero/hetero.py [MACHINE...]    all machines when none is named
       tests/hetero/hetero.py --list          what there is
       tests/hetero/hetero.py --golden DIR    the machines' files of tests/vectors/machines, anew

Every machine is cross compiled into build/hetero/MACHINE and its programs run under qemu-user
(i386 natively).  There run the unit tests and the vectors; then every machine writes the files
of matrix.c under four representations, and every machine reads those of all.  What they held
and got is compared, value by value, with exact arithmetic in Python (expect.py, formats.py).
The machine that runs this (amd64) takes part like any other.

HETERO_UNIT: names of the unit tests to run there (default all).
HETERO_SHARE: percent of the random cases of the unit tests under qemu (default 3).
HETERO_TIME: seconds that one program may take (default 1800).
"""
import concurrent.futures
import glob
import hashlib
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import expect  # noqa: E402
from machines import (MACHINES, ROOT, WORK, emulator_fails, environment, has_compiler,  # noqa: E402
                      how, keep)
from machines import run as run_for  # noqa: E402

REPS = ("native", "external32", "internal", "odd")
COLUMNS = ("built", "unit tests", "vectors", "long doubles", "matrix")
SHARE = os.environ.get("HETERO_SHARE", "3")
TIME = int(os.environ.get("HETERO_TIME", "1800"))
JOBS = os.cpu_count() or 1
TABLE = os.path.join(WORK, "table.md")
lock = threading.Lock()
libraries = threading.Lock()


def say(text):
    with lock:
        print(text, flush=True)


def run(command, seconds=TIME, **more):
    return run_for(command, seconds, **more)


# -------------------------------------------------------------------- stages


def build(m, unit):
    if not m.triplet:
        return True, "here"
    with libraries:
        status, out = run(["tools/cross-libs", m.triplet], 3600)
    if status != 0:
        m.bare = (out.strip().splitlines() or [how(status)])[-1]
        m.notes.append("without borrowed libraries: " + m.bare)
    folder = os.path.relpath(m.build, ROOT)
    targets = ["all", "test-programs"]
    if unit != names_of_unit_tests():
        targets[1:] = [os.path.join(folder, "tests", p) for p in (
            "hetero/matrix", "hetero/hard", "vectors/test_vectors", *("unit/" + n for n in unit))]
    status, more = run(["make", "--no-print-directory", "-j%d" % JOBS, "CROSS=" + m.triplet,
                        "BUILD=" + folder, "CFLAGS=" + m.cflags,
                        "LDFLAGS=" + m.ldflags, *targets], 3600)
    log = keep(m, "build", out + more)
    warnings = len(re.findall("warning:", more))
    if status != 0:
        errors = re.findall(r".*(?:error:|Error \d).*", more)
        m.notes.append("%s: %s (%s)" % (how(status), errors[0] if errors else "", log))
        return False, "no"
    if warnings:
        m.notes.append("%d warnings (%s)" % (warnings, log))
    return not warnings, "%d warnings" % warnings if warnings else "yes"


def names_of_unit_tests():
    return os.environ.get("HETERO_UNIT", "").split() or sorted(os.path.basename(p)[:-2]
                  for p in glob.glob(os.path.join(ROOT, "tests", "unit", "test_*.c")))


def unit_tests(m, names):
    checks = failed = 0
    for name in names:
        status, out = run(m.command(m.program("tests", "unit", name)),
                          env=environment(DREP_TEST_SHARE=SHARE, CK_DEFAULT_TIMEOUT=str(TIME),
                                          CK_TIMEOUT_MULTIPLIER="10"))
        found = re.findall(r"\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", out)
        for n, failures, errors in found:
            checks += int(n)
            failed += int(failures) + int(errors)
        if status != 0 or not found:
            failed += not any(int(f) + int(e) for _, f, e in found)
            first = [s for s in out.splitlines() if re.match(r"\S+:\d+:[FE]:", s)]
            m.notes.append("%s: %s%s (%s)" % (name, how(status), ": " + first[0] if first else "",
                                              keep(m, name, out)))
    return counted(checks - failed, failed)


def counted(passed, failed):
    text = "%d passed" % passed
    if failed:
        text += ", %d failed" % failed
    return passed > 0 and not failed, text


def committed():
    """The vectors, and the files that other machines wrote."""
    return sorted(os.path.relpath(p, ROOT) for p in glob.glob(
        os.path.join(ROOT, "tests", "vectors", "**", "*.drep"), recursive=True)
        if "/bad/" not in p and "/draft5/" not in p)


_dumps = {}


def dump(m, path):
    status, out = run(m.command(m.program("datarep"), "dump", "--json", path), err=subprocess.PIPE)
    return status, out


def unbuilt(m, path):
    """The filter that a build for this machine lacks, by what dump says of the file; or None."""
    status, out = run(m.command(m.program("datarep"), "dump", "--json", path))
    found = status != 0 and re.search(r"filter [\w ']+ is not (built in|here)", out)
    return found.group() if found else None


def vectors(m):
    """The committed files: the C test, and the command's JSON against the one made here."""
    status, out = run(m.command(m.program("tests", "vectors", "test_vectors")))
    passed = len(re.findall(r"^ok", out, re.M))
    failed = len(re.findall(r"^not ok", out, re.M)) or int(status != 0)
    if failed:
        m.notes.append("vectors: %s (%s)" % (how(status), keep(m, "vectors", out)))
    for path in committed():
        if path not in _dumps:
            _dumps[path] = dump(MACHINES[0], path)
        got = dump(m, path)
        lacks = got != _dumps[path] and unbuilt(m, path)
        if lacks:
            print("# %s: %s is not compared: %s" % (m.name, path, lacks))
            continue
        passed += got == _dumps[path]
        if got != _dumps[path]:
            failed += 1
            log = keep(m, "dump-" + os.path.basename(path), got[1])
            m.notes.append("%s: the dump is not that made here, %s (%s)" % (path, how(got[0]), log))
    return counted(passed, failed)


class Oracle:
    """What MPFR says of long doubles, made once; and how a machine's library fares."""

    def __init__(self):
        self.path = os.path.join(WORK, "long-doubles")
        status, out = run([MACHINES[0].program("tests", "hetero", "oracle"), "2000", "1"],
                          err=subprocess.PIPE)
        self.error = None if status == 0 else out.strip() or how(status)
        with open(self.path, "w", encoding="ascii") as f:
            f.write(out)

    def check(self, m):
        if self.error:
            return False, self.error
        status, out = run(m.command(m.program("tests", "hetero", "hard"), self.path))
        passed, failed = (len(re.findall(p, out, re.M)) for p in ("^ok", "^not ok"))
        if status == 0 and passed and not failed:
            return True, "%d passed" % passed
        m.notes.append("long doubles: %s (%s)" % (how(status), keep(m, "hard", out)))
        return False, "%d failed" % (failed or 1)


# -------------------------------------------------------------------- matrix


def files_of(m, kind):
    return {rep: os.path.join(WORK, kind, "%s-%s.drep" % (m.name, rep)) for rep in REPS}


def write(m, kind, values):
    """The machine writes its files; its log."""
    os.makedirs(os.path.join(WORK, kind), exist_ok=True)
    for path in files_of(m, kind).values():
        if os.path.exists(path):
            os.unlink(path)
    status, out = run(m.command(m.program("tests", "hetero", "matrix"),
                                "write" if kind == "matrix" else "common", values,
                                os.path.join(WORK, kind), m.name))
    log = keep(m, "write-" + kind, out)
    if status != 0:
        raise expect.Wrong("writing: %s: %s (%s)" % (how(status), out[-300:].strip(), log))
    return out


class Matrix:
    """What every machine wrote and how every machine read it."""

    def __init__(self):
        os.makedirs(WORK, exist_ok=True)
        self.path = os.path.join(WORK, "values")
        self.values = expect.write_values(self.path)
        self.common_path = os.path.join(WORK, "values-common")
        expect.write_values(self.common_path, "common")
        self.written = {}  # machine -> Written
        self.sides = {}  # machine -> {representation: Side}
        self.common = {}  # machine -> {representation: sum of the file}
        self.pairs = self.values_compared = 0

    def write(self, m):
        log = write(m, "matrix", self.path)
        files = files_of(m, "matrix")
        sides = {rep: expect.side_of(path) for rep, path in files.items()}
        written = expect.Written(log, sides["native"], self.values)
        for rep in REPS:
            written.check_file(rep, sides[rep])
        write(m, "common", self.common_path)
        sums = {}
        for rep, path in files_of(m, "common").items():
            with open(path, "rb") as f:
                sums[rep] = hashlib.sha256(f.read()).hexdigest()
        with lock:
            self.written[m], self.sides[m], self.common[m] = written, sides, sums
            self.values_compared += written.compared
        if written.without:
            m.notes.append("without " + ", ".join(written.without))

    def read(self, name):
        """Everybody's files, as this machine reads them: what is wrong, how many files and
        values were compared."""
        m = next(m for m in self.written if m.name == name)
        wrong, pairs, compared = [], 0, 0
        for other in self.written:
            status, out = run(m.command(m.program("tests", "hetero", "matrix"), "read",
                                        *files_of(other, "matrix").values()))
            if status != 0:
                wrong.append("reading %s: %s (%s)" % (other.name, how(status),
                                                      keep(m, "read-" + other.name, out)))
                continue
            logs = expect.read_log(out)
            for rep, path in files_of(other, "matrix").items():
                try:
                    memory = self.sides[m]["native"]
                    n = expect.check_read(logs[path], self.written[other].files[rep],
                                          self.sides[other][rep], memory)
                    expect.check_header(logs[path], other.table if rep == "native" else "any")
                    pairs += 1
                    compared += n
                except (expect.Wrong, KeyError) as e:
                    wrong.append("%s under %s: %s (%s)" % (
                        other.name, rep, e, keep(m, "read-" + other.name, out)))
        return wrong, pairs, compared

    def identical(self, m):
        """Under external32, internal and the declared one the common files are the same bytes."""
        first = next(iter(self.common.values()))
        return [rep for rep in REPS if rep != "native" and self.common[m][rep] != first[rep]]


# -------------------------------------------------------------------- the run


def kernels(m):
    status, out = run(m.command(m.program("datarep"), "--version"), err=subprocess.PIPE)
    found = re.search(r"kernels (\S+)", out) if status == 0 else None
    return found.group(1) if found else "?"


def vectors_and_matrix(m, matrix):
    try:
        matrix.write(m)
    except (expect.Wrong, OSError) as e:
        m.notes.append(str(e))
        m.cell["matrix"] = False, "wrote wrong"
    m.cell["vectors"] = vectors(m)


def pipeline(m, matrix, oracle, unit):
    """All that one machine does without the others."""
    begin = time.monotonic()
    if not has_compiler(m):
        m.cell["built"] = False, "no compiler"
        m.notes.append("there is no %s-gcc" % m.triplet)
        return m
    m.cell["built"] = build(m, unit)
    fault = emulator_fails(m)
    if fault:
        m.notes.append(fault)
        m.cell.update(dict.fromkeys(COLUMNS[1:], (False, "emulator")))
    elif m.cell["built"][1] != "no":
        m.kernels = kernels(m)
        if m.bare:  # what was compressed elsewhere cannot be read here
            m.cell["vectors"] = m.cell["matrix"] = False, "no libraries"
        else:
            vectors_and_matrix(m, matrix)
        m.cell["long doubles"] = oracle.check(m)
        m.cell["unit tests"] = unit_tests(m, unit)
    m.seconds = time.monotonic() - begin
    return m


def report(m):
    say("%-13s %s" % (m.name, ", ".join("%s: %s" % (c, m.cell[c][1]) for c in COLUMNS if c in m.cell)))
    for note in m.notes:
        say("    " + note)


def read_all(matrix, machines):
    """Every machine reads the files of all, each in a process of its own."""
    able = [m for m in machines if m in matrix.written]
    with multiprocessing.get_context("fork").Pool(JOBS) as pool:
        parts = pool.imap(matrix.read, [m.name for m in able])
        for m, (wrong, pairs, compared) in zip(able, parts):
            matrix.pairs += pairs
            matrix.values_compared += compared
            odd = matrix.identical(m)
            if odd:
                wrong.append("its common files under %s are not those of %s"
                             % (", ".join(odd), able[0].name))
            m.cell["matrix"] = not wrong, "%d files" % pairs if not wrong else "%d wrong" % len(wrong)
            for w in wrong:
                say("%-13s %s" % (m.name, w))


def all_right(m):
    return all(m.cell.get(c, (False,))[0] for c in COLUMNS)


def table(machines, closing):
    """The table as text, and as PORTABILITY.md has it."""
    text, md = [], ["| machine | what is special | " + " | ".join(COLUMNS) + " | kernels |",
                    "|---|---|" + "---|" * (len(COLUMNS) + 1)]
    text.append("%-13s %-9s %-19s %-12s %-13s %-11s %-8s %s" % (("machine",) + COLUMNS +
                                                              ("kernels", "time")))
    for m in machines:
        cells = [m.cell.get(c, (False, "-"))[1] for c in COLUMNS]
        text.append("%-13s %-9s %-19s %-12s %-13s %-11s %-8s %4.0f s" % tuple(
            [m.name] + cells + [m.kernels, m.seconds]))
        md.append("| %s | %s | %s | %s |" % (m.name, m.what, " | ".join(cells), m.kernels))
    return "\n".join(text + closing), "\n".join(md + [""] + closing) + "\n"


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--list" in sys.argv:
        for m in MACHINES:
            print("%-13s %s" % (m.name, m.what))
        return 0
    if "--golden" in sys.argv:
        return golden(args[0])
    names = args or os.environ.get("HETERO", "").split() or [m.name for m in MACHINES]
    unknown = set(names) - {m.name for m in MACHINES}
    if unknown:
        print("hetero: no such machine: %s; --list shows them" % ", ".join(sorted(unknown)))
        return 2
    machines = [m for m in MACHINES if m.name in names or m.name == "amd64"]
    begin = time.monotonic()
    matrix, oracle, unit = Matrix(), Oracle(), names_of_unit_tests()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for f in concurrent.futures.as_completed([pool.submit(pipeline, m, matrix, oracle, unit)
                                                  for m in machines]):
            report(f.result())
    read_all(matrix, machines)
    right = [m for m in machines if all_right(m)]
    closing = [
        "%d of %d machines right in every column, in %.0f minutes on %d processors." % (
            len(right), len(machines), (time.monotonic() - begin) / 60, JOBS),
        "%d files of %d machines, each read on %d: %d pairs, all there are; %d values compared." % (
            len(REPS) * len(matrix.written), len(matrix.written), len(matrix.written), matrix.pairs,
            matrix.values_compared)]
    closing += ["%s: %s." % (m.name, "; ".join(m.notes)) for m in machines if not all_right(m)]
    text, md = table(machines, closing)
    print("\n" + text)
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write(md)
    return 0 if all(all_right(m) or m.cell.get("matrix") == (False, "emulator") for m in machines) else 1


def golden(folder):
    """Every machine that is built writes its file into the folder."""
    os.makedirs(folder, exist_ok=True)
    values = os.path.join(WORK, "values-few")
    expect.write_values(values, "few")
    for m in MACHINES:
        path = os.path.join(os.path.abspath(folder), m.name + ".drep")
        program = m.program("tests", "hetero", "matrix")
        if not os.path.exists(program) or emulator_fails(m):
            print("%s: it cannot write" % m.name)
            continue
        if os.path.exists(path):
            os.unlink(path)
        status, out = run(m.command(program, "golden", values, path))
        if status != 0:
            print("%s: %s: %s" % (m.name, how(status), out[-300:]))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
