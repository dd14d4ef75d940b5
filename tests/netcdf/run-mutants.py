#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 7200
"""run-mutants.py - damaged Datarep files through ncdump, and through a program that reads and then changes them, with
the library built with ASan: never a crash, a report of ASan or a hang.

Usage: run-mutants.py [--full | COUNT [SEED]]    300 of ncdump and 300 of the walker; --full: 2,000 and 100,000
The mutants are those of tests/fault/mutants.c: half of them have right sums on the way to the change.  Their sources
are imports and copies by nccopy, and the vectors.  A failure names file and seed: MUTANT_KEEP=OUT mutants 1 SEED FILE.
"""
import concurrent.futures
import glob
import os
import subprocess
import sys
import time

import door as lib
from door import ASAN_LIBRARY, DATAREP, PYTHON, ROOT, Failed, run

CASES = lib.Cases("mutants")
MUTANTS = os.path.join(lib.BUILD, "release", "tests", "fault", "mutants")
BATCH = 50
JOBS = 2
LIMIT = 60  # seconds of one file


def runtime():
    """The sanitizer's libraries, which come first."""
    return " ".join(run(["gcc", "-print-file-name=" + n]).strip() for n in ("libasan.so", "libubsan.so"))


def sanitized(command, preload):
    """(status, output) of a program with the library built with ASan."""
    env = lib.environment(preload)
    env.update(ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=3000:exitcode=99:abort_on_error=0",
               UBSAN_OPTIONS="print_stacktrace=1:exitcode=99")
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
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


def mutant(seed, source, target):
    subprocess.run([MUTANTS, "1", str(seed), source], env=dict(os.environ, MUTANT_KEEP=target), check=True, stdout=subprocess.DEVNULL)
    return target


def crashed(status, text):
    return status < 0 or status in (99, 134) or "Sanitizer" in text or "runtime error" in text


def batch(files, first, count, walker, preload):
    """What is wrong with the first of `count` mutants that crashes, or ""; and how many were read without an error."""
    at = [(seed, files[seed % len(files)], "m%d.drep" % seed) for seed in range(first, first + count)]
    for seed, source, target in at:
        mutant(seed, source, target)
    read, problem = 0, ""
    if walker:
        status, text = sanitized(["./walk", "-w", *(t for _, _, t in at)], preload)
        read = sum(line.endswith(" 0") for line in text.splitlines())
        if crashed(status, text):
            target = [w for w in text.split() if w.startswith("m") and w.endswith(".drep")][-1]
            problem = next("%s, seed %d" % (os.path.basename(s), seed) for seed, s, t in at if t == target) + \
                ": status %d\n%s" % (status, text[text.find(target):][:3000])
    else:
        for seed, source, target in at:
            status, text = sanitized(["ncdump", target], preload)
            read += status == 0
            if crashed(status, text):
                problem = "%s, seed %d: status %d\n%s" % (os.path.basename(source), seed, status, text[-3000:])
                break
    for _, _, target in at:
        os.unlink(target)
    return problem, read


def many(what, files, seed, count, walker, preload):
    begin, read, done, problems = time.monotonic(), 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        waiting = [pool.submit(batch, files, seed + k, min(BATCH, count - k), walker, preload) for k in range(0, count, BATCH)]
        for future in concurrent.futures.as_completed(waiting):
            problem, n = future.result()
            read, done = read + n, done + BATCH
            if problem:
                problems.append(problem)
            if len(problems) > 5:
                pool.shutdown(cancel_futures=True)
                break
    CASES.report("no crash of %s in damaged files" % what, "\n".join(problems))
    CASES.report("%s reads some of them, and refuses others" % what, "" if 0 < read < count else "%d of %d are read" % (read, count))
    print("counted: %d damaged files through %s, %d read without an error, %.0f s" % (count, what, read, time.monotonic() - begin))


def planted(preload):
    """The control: a crash is seen."""
    with open("crash.c", "w", encoding="utf-8") as f:
        f.write("#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); free(p); (void)v; return p[n]; }\n")
    run(["gcc", "-fsanitize=address", "-o", "crash", "crash.c"])
    return "" if crashed(*sanitized(["./crash"], preload)) else "a use after free is not seen"


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    full = "--full" in sys.argv
    dumps, walks = (2000, 100000) if full else (numbers or [300])[:1] * 2
    seed = numbers[1] if len(numbers) > 1 else int(time.time()) if full else 1
    for path in (lib.LIBRARY, ASAN_LIBRARY, MUTANTS):
        lib.built(path)
    lib.folder()
    run(["gcc", "-O1", "-g", "-o", "walk", os.path.join(lib.HERE, "clients", "walk.c"), "-lnetcdf"])
    files = made()
    first = runtime()
    preload = first + " " + ASAN_LIBRARY
    print("# seed %d, %d files" % (seed, len(files)))
    CASES.report("the planted crash is seen", planted(first))
    status, text = sanitized(["./walk", *[f for f in files if "/" not in f]], preload)
    CASES.report("the files themselves are read", "" if not status and text.count(" 0\n") == sum("/" not in f for f in files) else text)
    many("ncdump", files, seed, dumps, False, preload)
    many("the walker", files, seed, walks, True, preload)
    return CASES.end(True)


if __name__ == "__main__":
    sys.exit(main())
