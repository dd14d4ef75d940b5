#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""libraries.py - PnetCDF's and parallel HDF5's own tests, with and without libdatarep-mpiio.

Usage: tests/mpiio/libraries.py [[MPI:]TEST]...     all when none is named

The tests are those of Debian's source packages, downloaded into build/others and linked with Debian's libraries.  Each runs
without the library, with it, and a third time with external.c before it, which makes the engine write and read what these
libraries call "native".  A test that passes alone has to pass all three times; the third has to reach the engine if the
test makes files, and the files have to be those of the first: byte for byte, those of HDF5 by h5diff, as they hold times.
Zeros at the end do not count: where PnetCDF moves variables that were never written, Open MPI says that it read bytes
behind the end of the file, and PnetCDF writes them.  A file that two runs without the library make differently is left out.
"""
import filecmp
import glob
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

PNETCDF, HDF5 = "1.12.3", "1.10.8"  # of Debian 12
LIMIT = 150  # seconds of a run
RANKS = {"pnetcdf": 4, "hdf5": 2, "t_pread": 3}
# Tests of HDF5 and the files that they are made of.
HDF5_TESTS = {
    "t_mpi": ["t_mpi"], "t_pread": ["t_pread"], "t_pshutdown": ["t_pshutdown"],
    "t_filters_parallel": ["t_filters_parallel"],
    "testphdf5": ["testphdf5", "t_dset", "t_file", "t_file_image", "t_mdset", "t_ph5basic", "t_coll_chunk", "t_span_tree",
                  "t_chunk_alloc", "t_filter_read", "t_prop", "t_coll_md_read"],
}
LEFT_OUT = {
    "t_cache": "it takes more than minutes", "t_shapesame": "it takes more than minutes", "t_bigio": "it needs gigabytes",
    "t_cache_image": "it needs another of HDF5's own libraries", "t_pflush1": "it ends without MPI_Finalize() by intent",
    "t_pflush2": "it reads what t_pflush1 left", "t_prestart": "it reads what t_pshutdown left",
    "t_init_term": "it makes its file after MPI_Finalize()",
}
# They read what another test of PnetCDF left.
BEFORE = {"pres_temp_4D_rd": "pres_temp_4D_wr"}


def hdf5_folder(mpi):
    return "/usr/include/hdf5/" + mpi


class Tests:
    """The programs for one MPI, in a folder that goes away."""

    def __init__(self, mpi):
        self.mpi = mpi
        self.folder = tempfile.mkdtemp(prefix="libraries-")
        self.library = os.path.join(launch.BUILD, "release", "libdatarep-mpiio-%s.so" % mpi)
        self.shim = os.path.join(self.folder, "external.so")
        self.compiled(self.shim, [os.path.join(HERE, "external.c")], "-D_GNU_SOURCE", "-shared", "-fPIC")

    def compiled(self, program, files, *options):
        """Compiles with MPI's own flags.  False: reported."""
        made = subprocess.run(["gcc", "-w", "-std=gnu11", "-O1", "-o", program, *files, *options, *launch.flags(self.mpi),
                               "-lm", "-lpthread", "-ldl"], capture_output=True, text=True)
        if made.returncode:
            report(made.stderr[-2000:], "%s: %s is compiled" % (self.mpi, os.path.basename(program)))
        return made.returncode == 0

    def pnetcdf(self, top):
        """(name, program) of each test"""
        helpers = os.path.join(top, "test/common")
        for path in sorted(p for d in ("C", "testcases", "nonblocking") for p in glob.glob(os.path.join(top, "test", d, "*.c"))):
            name = os.path.basename(path)[:-2]
            program = os.path.join(self.folder, name)
            if self.wanted(name) and self.compiled(program, [path, os.path.join(helpers, "testutils.c")], "-I" + helpers,
                                                   "-lpnetcdf"):
                yield name, program

    def hdf5(self, top):
        with open(os.path.join(self.folder, "H5srcdir_str.h"), "w") as f:
            f.write('#define config_srcdir "."\n')
        include = hdf5_folder(self.mpi)
        options = ["-I" + d for d in (self.folder, include, *(os.path.join(top, d) for d in ("src", "test", "testpar")))]
        for name, parts in HDF5_TESTS.items():
            files = [os.path.join(top, "testpar", part + ".c") for part in parts]
            files += [os.path.join(top, "test", f) for f in ("h5test.c", "testframe.c")]
            program = os.path.join(self.folder, name)
            if self.wanted(name) and self.compiled(program, files, *options, "-lhdf5_" + self.mpi):
                yield name, program

    def wanted(self, name):
        names = sys.argv[1:]
        return not names or name in names or "%s:%s" % (self.mpi, name) in names

    def run(self, kind, name, program, how):
        """(what came of it, calls of the engine, its folder, what it said)"""
        data = os.path.join(self.folder, "data-" + how)
        shutil.rmtree(data, ignore_errors=True)
        os.mkdir(data)
        stats = os.path.join(self.folder, "stats")
        if os.path.exists(stats):
            os.unlink(stats)
        env = {"DATAREP_MPIIO_STATS": stats, "HDF5_PARAPREFIX": data, "HDF5_NOCLEANUP": "1", "DATAREP_DEBUG": "1"}
        preload = {"alone": [], "with": [self.library], "through": [self.shim, self.library]}[how]
        if preload:
            env["LD_PRELOAD"] = ":".join(preload)
        argv = [[program, *(["file.nc"] if kind == "pnetcdf" else [])]]
        if name in BEFORE:
            argv.insert(0, [os.path.join(self.folder, BEFORE[name]), "file.nc"])
        said, passes = "", True
        for a in argv:
            try:
                done = subprocess.run(launch.command(self.mpi, RANKS.get(name, RANKS[kind]), a), capture_output=True, timeout=LIMIT, cwd=data,
                                      env=launch.environment(env), stdin=subprocess.DEVNULL)
                said += (done.stdout + done.stderr).decode(errors="replace")
                passes &= done.returncode == 0
            except subprocess.TimeoutExpired:
                return "hangs", 0, data, said
        calls = sum(int(line.split()[1]) for line in open(stats)) if os.path.exists(stats) else 0
        passes &= not re.search(r"FAILED|\bfail\b|^Error", said, re.M)
        return "passes" if passes else "fails", calls, data, said


def without_end(path):
    with open(path, "rb") as f:
        return f.read().rstrip(b"\0")


def differ(kind, one, other):
    """The names of files that one folder has otherwise than the other."""
    names = sorted(set(os.listdir(one)) | set(os.listdir(other)))
    wrong = []
    for name in names:
        a, b = os.path.join(one, name), os.path.join(other, name)
        if not (os.path.exists(a) and os.path.exists(b)):
            wrong.append(name)
            continue
        same = filecmp.cmp(a, b, shallow=False) or kind == "pnetcdf" and without_end(a) == without_end(b)
        if not same and kind == "hdf5":
            same = subprocess.run(["h5diff", a, b], capture_output=True).returncode == 0
        if not same:
            wrong.append(name)
    return len(names), wrong


def try_test(tests, kind, name, program):
    alone, _, first, _ = tests.run(kind, name, program, "alone")
    with_it, _, _, said = tests.run(kind, name, program, "with")
    through, calls, last, more = tests.run(kind, name, program, "through")
    files, wrong = differ(kind, first, last)
    if wrong:  # they may hold what was never set
        os.rename(first, first + "-1")
        again = tests.run(kind, name, program, "alone")[2]
        wrong = sorted(set(wrong) - set(differ(kind, first + "-1", again)[1]))
        shutil.rmtree(first + "-1")
    problem = ""
    if alone == "passes" and (with_it, through) != ("passes", "passes"):
        problem = "%s with the library, %s through it\n%s" % (with_it, through, (said + more)[-3000:])
    elif alone == "passes" and wrong:
        problem = "other files: " + " ".join(wrong)
    elif alone == "passes" and files and not calls:
        problem = "no call has reached the engine"
    report(problem, "%s, %s: %s is none worse (%s, %s, %s, %d calls, %d files)" %
           (tests.mpi, kind, name, alone, with_it, through, calls, files))
    return alone == "passes" and calls > 0


def why_not(mpi, kind):
    """Why Debian has no such library for this MPI; None: it has."""
    if kind == "hdf5":
        return None if os.path.isdir(hdf5_folder(mpi)) else "libhdf5-%s-dev is not installed" % mpi
    library = subprocess.run(["gcc", "-print-file-name=libpnetcdf.so"], capture_output=True, text=True).stdout.strip()
    linked = subprocess.run(["ldd", library], capture_output=True, text=True).stdout
    if not linked:
        return "libpnetcdf-dev is not installed"
    return None if ("libmpich" in linked) == (mpi == "mpich") else "Debian's libpnetcdf is of the other MPI"


def main():
    passed = {}
    for kind, version in (("pnetcdf", PNETCDF), ("hdf5", HDF5)):
        try:
            top = sources.source(kind, version)
        except sources.Failed as e:
            print("# SKIP %s: %s" % (kind, e))
            continue
        for mpi in launch.installed():
            reason = why_not(mpi, kind)
            if reason:
                print("# SKIP %s under %s: %s" % (kind, mpi, reason))
                continue
            tests = Tests(mpi)
            done = [try_test(tests, kind, *test) for test in list(getattr(tests, kind)(top))]
            passed[mpi, kind] = "%d of %d" % (sum(done), len(done))
            shutil.rmtree(tests.folder)
    for name, reason in LEFT_OUT.items():
        print("# left out: %s of HDF5, %s" % (name, reason))
    for (mpi, kind), n in passed.items():
        print("# %s, %s: %s pass through the engine" % (mpi, kind, n))
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
