#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 3000
# slow: builds programs of netCDF's source package
"""run-suites.py - the tests of others with names that end in .drep: netCDF-C's nc_test4, xarray's, netCDF4-python's.

Usage: run-suites.py [--full] [--list] [nc_test4|xarray|netcdf4-python]...
Without --full it skips: the suites take minutes.  --list prints a line of known/SUITE.txt for each test that fails.

A test runs first as it is, on netCDF-4 without the library: one that fails so is not counted.  Then with the library
and each ".nc" in its source made ".drep".  known/SUITE.txt lists those that fail, each with its reason; one that
fails and is not listed, or passes and is, is an error.  Tests of HDF5's own interface, of parallel files, of speed and of
filters' modules, which do not see what kind of file it is, are left out by name (LEFT_OUT).
"""
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import door as lib
import sources
from door import Failed, PYTHON, run

LISTING = "--list" in sys.argv
SUITES = ("nc_test4", "xarray", "netcdf4-python")
# Programs of nc_test4 that are no tests of files through netCDF's interface.
LEFT_OUT = r"parallel|mpi|_par$|perf|large|tst_h_|tst_udf|simplerw|interop|h5_endians|virtual_datasets|bm_|cdm_sea|szip|h5test"
CONFIG = """
#define USE_NETCDF4 1
#define USE_HDF5 1
#define HAVE_UNISTD_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_STRDUP 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SSIZE_T 1
#define HAVE_PTRDIFF_T 1
#define SIZEOF_SIZE_T 8
#define SIZEOF_OFF_T 8
#define DEFAULT_CHUNK_SIZE 16777216
#define VERSION "4.9.0"
#define PACKAGE_VERSION "4.9.0"
#define TEMP_LARGE "."
#define TOPSRCDIR "."
#include <stdint.h>
"""


def name_of_drep(text):
    """Each name of a file that the test makes; ref_*.nc come with it."""
    return re.sub(r"([\"'](?!ref_)[^\"'\n]*|\W)\.nc(?=[\"'])", r"\1.drep", text)


def compiled(top, name, folder, change):
    """A program of nc_test4 in a folder of its own; False if it does not compile."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.h"), "w", encoding="utf-8") as f:
        f.write(CONFIG)
    with open(os.path.join(top, "nc_test4", name + ".c"), encoding="utf-8", errors="replace") as f:
        text = f.read()
    with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as f:
        f.write(change(text))
    flags = run(["pkg-config", "--cflags", "--libs", "netcdf", "hdf5"]).split()
    try:
        run(["gcc", "-w", "-O0", "-DHAVE_CONFIG_H", "-I" + folder, *("-I" + os.path.join(top, n) for n in ("include", "nc_test", "nc_test4", "libsrc")),
             os.path.join(folder, name + ".c"), "-o", os.path.join(folder, name), *flags, "-lnetcdf", "-lhdf5_hl", "-lm"])
    except Failed:
        return False
    for path in glob.glob(os.path.join(top, "nc_test4", "ref_*.nc")):
        shutil.copy(path, folder)
    return True


def tried(folder, name, preload):
    """(ended well, number of its parts that did, the last lines)"""
    env = lib.environment(preload)
    try:
        done = subprocess.run(["./" + name], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120, check=False)
        text, status = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired:
        return False, 0, "stopped after 120 s"
    parts = len(re.findall(r"\bok\.", text))
    lines = [s for s in text.splitlines() if s.strip()]
    said = " | ".join(lines[-3:])
    return status == 0, parts, "signal %d: %s" % (-status, said) if status < 0 else said


def nc_test4(work):
    """{program: (passed, what it said)}, those that fail with netCDF itself, the number of .drep files"""
    top = sources.source("netcdf", sources.NETCDF)
    programs = [os.path.basename(p)[:-2] for p in sorted(glob.glob(os.path.join(top, "nc_test4", "*.c")))]
    programs = [p for p in programs if not re.search(LEFT_OUT, p) and re.match(r"tst_|t_type|renamegroup", p)]
    results, without, ours = {}, [], 0

    def one(name):
        plain, drep = os.path.join(work, "nc", name), os.path.join(work, "drep", name)
        if not compiled(top, name, plain, lambda t: t) or not tried(plain, name, False)[0]:
            return name, None, 0
        compiled(top, name, drep, name_of_drep)
        shutil.rmtree(plain)
        return name, tried(drep, name, True), sum(lib.is_drep(p) for p in glob.glob(os.path.join(drep, "*.drep")))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, result, files in pool.map(one, programs):
            ours += files
            if result is None:
                without.append(name)
            else:
                results[name] = (result[0], result[2])
    return results, without, ours


def pytest(work, folder, paths, options, suffix):
    out = os.path.join(work, "results.json")
    lib.remove(out)
    run([PYTHON, "-m", "pytest", "-p", "suite_plugin", "-p", "no:cacheprovider", "-q", "-W", "ignore", "--rootdir", folder,
         "-c", os.devnull, *options, *paths], preload=suffix == ".drep", status=None, cwd=work, timeout=1500,
        PYTHONPATH=lib.HERE, PYTHONDONTWRITEBYTECODE="1", DOOR_RESULTS=out, DOOR_SUFFIX=suffix)
    if not os.path.exists(out):
        raise Failed("pytest ended without results: it crashed")
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def both(work, folder, paths, options):
    plain = pytest(work, folder, paths("nc"), options, ".nc")
    found = pytest(work, folder, paths("drep"), options, ".drep")
    without = sorted(plain["failed"])
    results = {n: (True, "") for n in found["passed"] if n not in found["failed"]}
    results.update({n: (False, why) for n, why in found["failed"].items()})
    return {n: r for n, r in results.items() if n not in without}, without, found["ours"]


def xarray(work):
    folder = "/usr/lib/python3/dist-packages/xarray"
    path = folder + "/tests/test_backends.py"
    if not os.path.exists(path):
        raise Failed("xarray's tests are not installed: make deps-netcdf")
    # Classes of the engine netcdf4; those of other engines use no netCDF library.
    options = ["-k", "NetCDF4Data or NetCDF4AlreadyOpen or NetCDF4ViaDask or GenericNetCDF or DataArrayToNetCDF or "
                     "(TestEncodingInvalid) or (NumCFEncoding) or (TestDask and netcdf)"]
    return both(work, folder, lambda kind: [path], options)


def netcdf4_python(work):
    top = sources.source("netcdf4-python", sources.NETCDF4_PYTHON)
    for kind in ("nc", "drep"):
        shutil.copytree(os.path.join(top, "test"), os.path.join(work, kind, "test"))
    for path in glob.glob(os.path.join(work, "drep", "test", "*.py")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(name_of_drep(text))
    return both(work, work, lambda kind: sorted(glob.glob(os.path.join(work, kind, "test", "tst_*.py"))), ["-o", "python_files=tst_*.py"])


def report(suite, results, without, ours):
    cases = lib.Cases(suite)
    bad = {n: why for n, (passed, why) in results.items() if not passed}
    for name in sorted(set(bad) | set(cases.known)):
        passed = name not in bad
        if LISTING and not passed:
            print("%s: %s" % (name, cases.known.get(name) or bad[name].replace("\n", " ")[:160]))
        elif passed and name not in results:
            yield name, "is listed, and not there", ""
        elif passed:
            yield name, "passes, but is listed in known/%s.txt" % suite, ""
        elif name not in cases.known:
            yield name, "fails, and is not listed: " + bad[name], ""
    for reason, n in collections.Counter(cases.known.get(n, "not listed") for n in bad).most_common():
        print("# %3d %s" % (n, reason))
    good = len(results) - len(bad)
    print("# %s: %d pass, %d fail; %d fail with netCDF-4, too; %d files of ours were there at the end of a test" %
          (suite, good, len(bad), len(without), ours))
    print("counted: %d tests of %s with .drep names" % (len(results), suite))
    yield "%d tests of %s pass, %d fail for a listed reason, on %d files of ours" % (good, suite, len(bad), ours), \
        "" if good and ours else "no test passed, or none made a Datarep file", ""


def main():
    lib.built()
    if "--full" not in sys.argv and not LISTING:
        print("1..0 # SKIP the suites take minutes: make netcdf")
        return 0
    names = [a for a in sys.argv[1:] if not a.startswith("--")] or SUITES
    top, count, failed = lib.folder(), 0, 0
    for suite in names:
        work = os.path.join(top, suite)
        os.makedirs(work)
        try:
            found = list(report(suite, *globals()[suite.replace("-", "_")](work)))
        except Failed as e:
            found = [(suite, "", str(e).replace("\n", " "))]
        for name, problem, skip in found:
            count += 1
            failed += bool(problem)
            print("%sok %d - %s: %s%s" % ("not " if problem else "", count, suite, name.replace("#", " "), " # SKIP " + skip if skip else ""))
            if problem:
                print("# " + problem)
    print("1..%d" % count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
