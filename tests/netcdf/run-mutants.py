#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 7200
"""run-mutants.py - damaged Datarep files through ncdump, and through a program that reads and then changes them, with
the library built with ASan: never a crash, a report of ASan or a hang.

Usage: run-mutants.py [--full | COUNT [SEED]]    300 files, each through both programs; --full: 100,000
The mutants are those of tests/fault/mutants.c: half of them have right sums on the way to the change.  Their sources
are imports and copies by nccopy, and the vectors.  A failure names file and seed: MUTANT_KEEP=OUT mutants 1 SEED FILE.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

import door as lib
from door import ASAN_LIBRARY, DATAREP, PYTHON, ROOT, Failed, run

CASES = lib.Cases("mutants")
MUTANTS = os.path.join(lib.BUILD, "release", "tests", "fault", "mutants")
BATCH = 200
JOBS = 2
LIMIT = 60     # seconds of one file
MEMORY = 3000  # MiB


def runtime():
    """The sanitizer's libraries, which come first."""
    return " ".join(run(["gcc", "-print-file-name=" + n]).strip() for n in ("libasan.so", "libubsan.so"))


def sanitized(command, preload, names=""):
    """(status, output) of a program with the library built with ASan; `names` is its standard input."""
    env = lib.environment(preload)
    env.update(ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=%d:" % MEMORY +
               "exitcode=99:abort_on_error=0",
               UBSAN_OPTIONS="print_stacktrace=1:exitcode=99")
    try:
        done = subprocess.run(command, env=env, input=names.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LIMIT * 10, check=False)
    except subprocess.TimeoutExpired:
        return -14, "it hangs"
    return done.returncode, done.stdout.decode("utf-8", "replace")


def made():
    """The files that are damaged."""
    for n, path in enumerate(sorted(glob.glob(os.path.join(lib.HERE, "cdl", "*.cdl")) +
                                    glob.glob(os.path.join(ROOT, "tests", "interop", "*.cdl")))):
        run(["ncgen", "-4", "-o", "s.nc", path])
        run([DATAREP, "import", "s.nc", "import%d.drep" % n])
        try:
            run(["nccopy", "-d", "3", "s.nc", "copy%d.drep" % n], preload=True)
        except Failed:
            lib.remove("copy%d.drep" % n)
    run([PYTHON, os.path.join(lib.HERE, "weather.py"), "w.nc", 0, 4])
    run(["nccopy", "w.nc", "weather.drep"], preload=True)
    return sorted(glob.glob("*.drep")) + sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", "*.drep")))


def crashed(status, text):
    """An allocation that ASan refuses (ncdump's own of a variable, say) is an error of the program that asked."""
    text = re.sub(r"==\d+==WARNING: AddressSanitizer failed to allocate.*", "", text)
    return status < 0 or status in (97, 98, 99, 134) or "Sanitizer" in text or "runtime error" in text


def dumped(targets, preload):
    """(what is wrong, the file, how many were read) of ncdump, which is loaded once for all files (clients/each.c)."""
    status, text = sanitized(["ncdump", "FILE"], preload + " " + os.path.abspath("each.so"), "\n".join(targets) + "\n")
    said, read, ended = "", 0, 0
    for line in text.splitlines():
        result = re.fullmatch(r"(\S+\.drep) (-?\d+) (\d+)", line)
        if not result:
            said += line + "\n"
            continue
        path, one, peak = result[1], int(result[2]), int(result[3])
        if crashed(one, said) or peak > 1024 * MEMORY:
            return "status %d, %d KiB of memory\n%s" % (one, peak, said[-3000:]), path, read
        read, ended, said = read + (one == 0), ended + 1, ""
    if status or ended < len(targets):
        return "status %d after %d of %d files\n%s" % (status, ended, len(targets), text[-3000:]), targets[min(ended, len(targets) - 1)], read
    return "", "", read


def walked(targets, preload):
    """Likewise of the walker, which reads each file and then changes it."""
    status, text = sanitized(["./walk", "-w", *targets], preload)
    read = sum(line.endswith(" 0") for line in text.splitlines())
    if not crashed(status, text):
        return "", "", read
    target = [w for w in text.split() if w.endswith(".drep")][-1]
    return "status %d\n%s" % (status, text[text.find(target):][:3000]), target, read


def batch(files, first, count, preload):
    """[(what is wrong, how many were read)] for each program of `count` mutants."""
    with tempfile.TemporaryDirectory(dir=".", prefix="m") as folder:
        subprocess.run([MUTANTS, str(count), str(first), *files], env=dict(os.environ, MUTANT_FOLDER=folder), check=True,
                       stdout=subprocess.DEVNULL)
        targets = [os.path.join(folder, "%d.drep" % seed) for seed in range(first, first + count)]
        found = []
        for program in PROGRAMS.values():
            problem, target, read = program(targets, preload)
            if problem:
                seed = int(os.path.basename(target)[:-5])
                problem = "%s, seed %d: %s" % (os.path.basename(files[seed % len(files)]), seed, problem)
            found.append((problem, read))
    return found


PROGRAMS = {"ncdump": dumped, "the walker": walked}


def many(files, seed, count, preload):
    begin = time.monotonic()
    read, problems = dict.fromkeys(PROGRAMS, 0), {name: [] for name in PROGRAMS}
    ended = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        waiting = [pool.submit(batch, files, seed + k, min(BATCH, count - k), preload) for k in range(0, count, BATCH)]
        for future in concurrent.futures.as_completed(waiting):
            for name, (problem, n) in zip(PROGRAMS, future.result()):
                read[name] += n
                if problem:
                    problems[name].append(problem)
                    print("# %s: %s" % (name, problem), flush=True)
            ended += 1
            if ended % 50 == 0:
                print("# %d of %d after %.0f s" % (ended * BATCH, count, time.monotonic() - begin), flush=True)
            if any(len(p) > 5 for p in problems.values()):
                pool.shutdown(cancel_futures=True)
                break
    for name in PROGRAMS:
        CASES.report("no crash of %s in damaged files" % name, "\n".join(problems[name]))
        CASES.report("%s reads some of them, and refuses others" % name, "" if 0 < read[name] < count else "%d of %d are read" % (read[name], count))
        print("counted: %d damaged files through %s, %d read without an error, %.0f s of both" % (count, name, read[name], time.monotonic() - begin))


def planted(first, preload):
    """The control: a crash is seen, by itself and in a child of clients/each.c."""
    with open("crash.c", "w", encoding="utf-8") as f:
        f.write("#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); free(p); (void)v; return p[n]; }\n")
    run(["gcc", "-fsanitize=address", "-o", "crash", "crash.c"])
    if not crashed(*sanitized(["./crash"], first)):
        return "a use after free is not seen"
    subprocess.run(["cp", "crash.c", "no.drep"], check=True)
    problem = sanitized(["./crash", "FILE"], first + " " + os.path.abspath("each.so"), "no.drep\n")[1]
    return "" if re.search("Sanitizer.*^no.drep 99 ", problem, re.S | re.M) else "a use after free is not seen in a child\n" + problem


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    full = "--full" in sys.argv
    count = 100000 if full else (numbers or [300])[0]
    seed = numbers[1] if len(numbers) > 1 else int(time.time()) if full else 1
    for path in (lib.LIBRARY, ASAN_LIBRARY, MUTANTS):
        lib.built(path)
    lib.folder()
    run(["gcc", "-O1", "-g", "-o", "walk", os.path.join(lib.HERE, "clients", "walk.c"), "-lnetcdf"])
    run(["gcc", "-O1", "-g", "-shared", "-fPIC", "-o", "each.so", os.path.join(lib.HERE, "clients", "each.c")])
    files = [os.path.abspath(f) for f in made()]
    first = runtime()
    preload = first + " " + ASAN_LIBRARY
    print("# seed %d, %d files" % (seed, len(files)))
    CASES.report("the planted crash is seen", planted(first, preload))
    mine = [os.path.basename(f) for f in files if os.path.dirname(f) == os.getcwd()]
    status, text = sanitized(["./walk", *mine], preload)
    CASES.report("the files themselves are read", "" if not status and text.count(" 0\n") == len(mine) else text)
    problem, _, read = dumped(mine, preload)
    CASES.report("ncdump reads them", problem or ("" if read == len(mine) else "%d of %d are read" % (read, len(mine))))
    many(files, seed, count, preload)
    return CASES.end(True)


if __name__ == "__main__":
    sys.exit(main())
