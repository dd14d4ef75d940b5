#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""suites.py - MPICH's tests of files and ROMIO's, with and without libdatarep-mpiio.

Usage: tests/mpiio/suites.py [MPI:]TEST...     all when none is named

The tests are those of Debian's source package of MPICH, downloaded into build/others.  Each runs as it is, and once more with
"external32" and "internal" in the place of "native", so that its views go through the library.  A test that passes without
the library and not with it fails here, unless it fails without it, too, when it is run again: some tests of atomic mode
under Open MPI end now one way, now the other, and are listed as such.  What passes with it alone is listed, with the calls that the library worked for.
The table is left in build/test-logs/mpiio-suites.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "mpi"), os.path.join(HERE, "..", "netcdf")]
import launch
import sources
from launch import report

VERSION = "4.0.2"  # of Debian 12
LIMIT = 60  # seconds of a run
AGAIN = 8  # runs without the library of what passed so, and not with it
# They need 6.5 GB of memory, or hours.
LEFT_OUT = {"bigtype", "i_bigtype", "perf", "coll_perf", "fperf", "large_file", "large_array", "big_extents"}
# What may fail with the library alone, and why.
KNOWN = {
    "setviewcur": "it writes native bytes and reads them as external32",
    "i_setviewcur": "it writes native bytes and reads them as external32",
    "tst_fileview": "it wants ROMIO's class of errors, and displacements that decrease",
}
FOUR = {"hindexed", "aggregation1", "aggregation2", "coll_test", "split_coll", "shared_fp", "ordered_fp", "atomicity", "darray_read"}
TWO = {"noncontig", "noncontig_coll", "noncontig_coll2", "i_noncontig", "i_noncontig_coll", "i_noncontig_coll2", "types_with_zeros"}
# What configure would find.
CONFIG = """#define HAVE_STDIO_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STDARG_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_ERRNO_H 1
#define HAVE_FCNTL_H 1
#define HAVE_SIGNAL_H 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_DOUBLE 1
#define STDC_HEADERS 1
#define HAVE_MPI_IO 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
"""


class Suite:
    """The tests for one MPI."""

    def __init__(self, mpi, top):
        self.mpi, self.top = mpi, top
        self.folder = tempfile.mkdtemp(prefix="suites-")
        with open(os.path.join(self.folder, "mpitestconf.h"), "w") as f:
            f.write(CONFIG)
        self.library = os.path.join(launch.BUILD, "release", "libdatarep-mpiio-%s.so" % mpi)

    def tests(self):
        """(name, path, ranks, is of ROMIO)"""
        ranks = {}
        for line in open(os.path.join(self.top, "test/mpi/io/testlist.in")):
            if re.match(r"\w+ \d", line):
                ranks[line.split()[0]] = int(line.split()[1])
        for romio, folder in ((False, "test/mpi/io"), (True, "src/mpi/romio/test")):
            for file in sorted(os.listdir(os.path.join(self.top, folder))):
                name = re.sub(r"\.c(\.in)?$", "", file)
                if name == file or name in LEFT_OUT:
                    continue
                n = ranks.get(name, 1) if not romio else 4 if name in FOUR else 2
                yield ("romio/" if romio else "") + name, os.path.join(self.top, folder, file), min(n, 4), romio

    def compiled(self, path, datarep):
        """The program of a test, with another representation in the place of "native"; None: it does not compile."""
        text = open(path, errors="replace").read()
        if datarep != "native":
            changed = text.replace('"native"', '"%s"' % datarep)
            if changed == text:
                return None
            text = changed
        # What ROMIO's configure fills in.
        text = text.replace("@F77MPIOINC@", "").replace("@TEST_CC@", "")
        source = os.path.join(self.folder, os.path.basename(path).replace(".in", ""))
        with open(source, "w") as f:
            f.write(text)
        program = source[:-2] + "-" + datarep
        util = os.path.join(self.top, "test/mpi/util")
        helpers = [os.path.join(util, f) for f in ("mtest.c", "mtest_common.c", "mtest_single.c")] \
            if "mpitest.h" in text else []
        command = ["gcc", "-w", "-std=gnu11", "-I" + self.folder, "-I" + os.path.join(self.top, "test/mpi/include"),
                   "-I" + os.path.join(self.top, "src/mpi/romio/test"), "-o", program, source, *helpers,
                   *launch.flags(self.mpi), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode and "-v" in sys.argv:
            print(made.stderr)
        return None if made.returncode else program

    def run(self, program, ranks, romio, preloaded):
        """(what came of it, calls of the library)"""
        data = os.path.join(self.folder, "data")
        shutil.rmtree(data, ignore_errors=True)
        os.mkdir(data)
        stats = os.path.join(data, "stats")
        env = {"DATAREP_MPIIO_STATS": stats}
        if preloaded:
            env["LD_PRELOAD"] = self.library
        argv = [program] + (["-fname", os.path.join(data, "file")] if romio else
                            [os.path.join(data, "file")] if "simple_collective" in program else [])
        command = launch.command(self.mpi, ranks, argv)
        try:
            done = subprocess.run(command, capture_output=True, timeout=LIMIT, cwd=data, env=launch.environment(env),
                                  stdin=subprocess.DEVNULL)
            said = (done.stdout + done.stderr).decode(errors="replace")
        except subprocess.TimeoutExpired:
            return "hangs", 0
        calls = sum(int(line.split()[1]) for line in open(stats)) if os.path.exists(stats) else 0
        if done.returncode:
            result = "killed" if done.returncode < 0 or done.returncode > 128 else "fails"
        else:
            result = "passes" if "No Errors" in said or romio and not re.search(r"(?i)\berror|\bfail", said) else "fails"
        return result, calls


def try_test(suite, name, path, ranks, romio, table):
    for datarep in ("native", "external32", "internal"):
        program = suite.compiled(path, datarep)
        if program is None:
            if datarep == "native":
                table.append((suite.mpi, name, datarep, "-", "does not compile", 0))
            continue
        alone, _ = suite.run(program, ranks, romio, False)
        with_it, calls = suite.run(program, ranks, romio, True)
        table.append((suite.mpi, name, datarep, alone, with_it, calls))
        worse = alone == "passes" and with_it != "passes" and (datarep == "native" or name not in KNOWN)
        if worse and any(suite.run(program, ranks, romio, False)[0] != "passes" for _ in range(AGAIN)):
            print("# %s, %s: %s passes at times alone, also without the library" % (suite.mpi, datarep, name))
            worse = False
        if datarep != "native" and with_it == "passes" and not calls:
            worse = True  # it was only passed on
        report("%s without the library, %s with it" % (alone, with_it) if worse else "",
               "%s, %s: %s is none worse (%s, %s, %d calls of the library)" % (suite.mpi, datarep, name, alone, with_it, calls))


def main():
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    try:
        top = sources.source("mpich", VERSION)
    except sources.Failed as e:
        print("1..0 # SKIP %s" % e)
        return 0
    table = []
    for mpi in launch.installed():
        suite = Suite(mpi, top)
        for name, path, ranks, romio in suite.tests():
            if not wanted or name in wanted or "%s:%s" % (mpi, name) in wanted:
                try_test(suite, name, path, ranks, romio, table)
        shutil.rmtree(suite.folder)
    lines = ["%-8s %-28s %-11s %-8s %-16s %6d" % row for row in table]
    logs = os.path.join(launch.BUILD, "test-logs")
    os.makedirs(logs, exist_ok=True)
    with open(os.path.join(logs, "mpiio-suites"), "w") as f:
        f.write("\n".join(lines) + "\n")
    turned = [line for line, row in zip(lines, table) if row[3] != "passes" and row[4] == "passes"]
    print("# MPI      test                         datarep     without  with              calls")
    for line in turned:
        print("# " + line)
    print("# %d of %d turn right" % (len(turned), len(table)))
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
