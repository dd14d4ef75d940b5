#!/usr/bin/python3
# timeout: 300
# SPDX-License-Identifier: MIT
"""run-mpiio.py - programs that know MPI alone, with libdatarep-mpiio preloaded, under each MPI.

Usage: tests/mpiio/run-mpiio.py [--full]    --full: by more ranks, the three ways of Fortran, mpi4py
"""
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mpi"))
import launch
from launch import report

RELEASE = os.path.join(launch.BUILD, "release")
CASES = 9
OTHER = {"mpich": "openmpi", "openmpi": "mpich"}


def library(mpi):
    return os.path.join(RELEASE, "libdatarep-mpiio-%s.so" % mpi)


class Programs:
    """What is compiled for one MPI, in a folder that goes away."""

    def __init__(self, mpi):
        self.mpi = mpi
        self.folder = tempfile.mkdtemp(prefix="mpiio-")
        self.data = self.path("data")
        os.mkdir(self.data)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, name, source, *options):
        """Compiles with MPI's own flags, as a user would.  False: reported."""
        command = ["gcc", "-std=gnu11", "-O0", "-I" + launch.ROOT, "-o", self.path(name),
                   os.path.join(HERE, source), *options, *launch.flags(self.mpi), "-ldl"]
        return self.compiled(command, name)

    def make_fortran(self, name, by):
        command = ["mpifort." + self.mpi, "-cpp", "-DBY=%d" % by, "-ffree-line-length-none", "-fallow-argument-mismatch",
                   "-J" + self.folder, "-o", self.path(name), os.path.join(HERE, "fortran.F90")]
        return self.compiled(command, name)

    def compiled(self, command, name):
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            report(made.stderr, "%s: %s is compiled" % (self.mpi, name))
        return made.returncode == 0

    def run(self, ranks, argv, preload=None, env=None):
        env = dict(env or {}, DATAREP_MPIIO_STATS=self.path("stats"))
        if preload is None:
            preload = [library(self.mpi)]
        if preload:
            env["LD_PRELOAD"] = ":".join(preload)
        if os.path.exists(self.path("stats")):
            os.unlink(self.path("stats"))
        try:
            return launch.run(self.mpi, ranks, argv, 120, env)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(argv, -1, (e.stdout or b"").decode(), "stopped after 120 s")

    def calls(self):
        """Calls that the engine worked for, of each process that had any."""
        if not os.path.exists(self.path("stats")):
            return []
        return [int(line.split()[1]) for line in open(self.path("stats"))]


def tap(p, name, ranks):
    """A program that reports itself; its cases become ours."""
    done = p.run(ranks, [p.path(name), p.data])
    where = "%s, %d ranks: " % (p.mpi, ranks)
    cases, notes = 0, []
    for line in done.stdout.splitlines():
        if line.startswith(("ok ", "not ok ")):
            cases += 1
            report("\n".join(notes) or "failed" if line.startswith("not") else "", where + line.split(" - ", 1)[1])
            notes = []
        elif line != "1..%d" % cases:
            notes.append(line)
    if done.returncode or "1..%d" % cases not in done.stdout or not cases:
        report("status %d\n%s\n%s" % (done.returncode, "\n".join(notes), done.stderr[-3000:]), where + name)


def not_by_itself(p):
    """What the tests above want no MPI does alone: a library that passes calls on would fail them."""
    done = p.run(1, [p.path("calls"), p.data], preload=[])
    passed = [line for line in done.stdout.splitlines() if line.startswith("ok")]
    report("\n".join(passed), "%s: without the library no case passes" % p.mpi)


def same_bytes(p, ranks):
    """Files by MPI's calls are those by ours.  Returns their folder."""
    made, want = p.path("made"), p.path("want")
    os.makedirs(made)
    os.makedirs(want)
    done = p.run(ranks, [p.path("bytes"), made, str(ranks)])
    oracle = p.run(1, [p.path("oracle"), want, str(ranks)], preload=[])
    said = done.stdout + done.stderr + oracle.stdout + oracle.stderr
    names = [str(n) for n in range(CASES)]
    equal, differ, errors = filecmp.cmpfiles(made, want, names, shallow=False)
    report("" if len(equal) == CASES else "differ: %s, missing: %s\n%s" % (differ, errors, said),
           "%s: %d files are those of <datarep.h>" % (p.mpi, CASES))
    return made


def profilers(p):
    """A profiler counts each call of the program, and no other, on either side of the library.  (There is no run without
    the library: MPICH 4.0 writes beyond its own memory in these views.)"""
    tool = p.path("profiler.so")
    pairs = 28 if p.mpi == "mpich" else 14  # with and without large counts
    wanted = 2 * ["%d 7 3 3 %d\n" % (2 * pairs, 2 * pairs)]
    for name, preload in [("before", [tool, library(p.mpi)]), ("behind", [library(p.mpi), tool])]:
        log = p.path("profile-" + name)
        done = p.run(2, [p.path("calls"), p.data], preload, {"PROFILE": log})
        passed = done.stdout.count("\nok") + done.stdout.startswith("ok")
        report("" if passed == pairs else done.stdout + done.stderr,
               "%s: the library works with a profiler %s it" % (p.mpi, name))
        counts = open(log).readlines() if os.path.exists(log) else []
        report("" if counts == wanted else "%s, not %s" % (counts, wanted),
               "%s: a profiler %s it counts every call" % (p.mpi, name))


def inert(p):
    """Processes without MPI start and end; another MPI is told."""
    done = subprocess.run(["sh", "-c", "ldd --version > /dev/null; python3 -c 'print(6*7)'"], capture_output=True, text=True,
                          env=dict(os.environ, LD_PRELOAD=library(p.mpi)))
    report("" if done.stdout == "42\n" and not done.stderr else done.stdout + done.stderr,
           "%s: a process without MPI does not notice it" % p.mpi)
    undefined = subprocess.run(["nm", "-D", "--undefined-only", library(p.mpi)], capture_output=True, text=True).stdout
    of_mpi = [name for name in undefined.split() if "mpi" in name.lower() or "datarep" in name]
    report(" ".join(of_mpi), "%s: it refers to nothing of MPI" % p.mpi)
    if not os.path.exists(library(OTHER[p.mpi])):
        return
    done = p.run(1, [p.path("calls"), p.data], [library(OTHER[p.mpi])])
    report("" if "runs under another MPI" in done.stderr else done.stdout + done.stderr,
           "%s: the library of another MPI is told" % p.mpi)


def fortran(p, ways):
    if not shutil.which("mpifort." + p.mpi):
        return
    for by, name in [(1, "mpif.h"), (2, "use mpi"), (3, "use mpi_f08")]:
        if by not in ways or not p.make_fortran("fortran%d" % by, by):
            continue
        done = p.run(2, [p.path("fortran%d" % by), p.data])
        wrong = done.stdout.replace("fortran ends\n", "").strip()
        if "fortran ends" not in done.stdout:
            wrong += done.stderr or "it does not end"
        if p.calls() != [7, 7]:
            wrong += "calls that reached the library: %s, not 7 of each rank" % p.calls()
        report(wrong, "%s: a program of Fortran by %s" % (p.mpi, name))


def python(p):
    """mpi4py, for the MPI that it was built for: it loads MPI late."""
    version = subprocess.run(["/usr/bin/python3", "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
                             capture_output=True, text=True, env=launch.environment()).stdout
    if {"mpich": "MPICH", "openmpi": "Open MPI"}[p.mpi] not in version:
        return
    done = p.run(2, ["/usr/bin/python3", os.path.join(HERE, "program.py"), p.data])
    report("" if "python ends" in done.stdout and len(p.calls()) == 2 else done.stdout + done.stderr,
           "%s: a program of mpi4py" % p.mpi)


def main():
    full = "--full" in sys.argv[1:]
    there = [mpi for mpi in launch.installed() if os.path.exists(library(mpi))]
    if not full and len(there) < 2:
        print("1..0 # SKIP MPICH and Open MPI are not both installed (make deps-mpi)")
        return 0
    folders = []
    programs = [Programs(mpi) for mpi in there]
    for p in programs:
        oracle = ["-DORACLE", "-I" + os.path.join(launch.ROOT, "lib"), "-I" + os.path.join(launch.ROOT, "lib/mpi"),
                  os.path.join(RELEASE, "libdatarep-mpi-%s.so" % p.mpi), os.path.join(RELEASE, "libdatarep.so"),
                  "-Wl,-rpath," + RELEASE]
        if not all([p.make("calls", "calls.c"), p.make("rules", "rules.c"), p.make("bytes", "bytes.c"),
                    p.make("oracle", "bytes.c", *oracle), p.make("profiler.so", "profiler.c", "-shared", "-fPIC")]):
            continue
        for ranks in [1, 2, 3, 4] if full else [2]:
            tap(p, "calls", ranks)
            tap(p, "rules", ranks)
        not_by_itself(p)
        folders.append(same_bytes(p, 3 if full else 2))
        profilers(p)
        inert(p)
        fortran(p, (1, 2, 3) if full else (3,))
        if full:
            python(p)
    if len(folders) == 2:
        names = [str(n) for n in range(CASES)]
        equal, differ, errors = filecmp.cmpfiles(*folders, names, shallow=False)
        report("" if len(equal) == CASES else "%s %s" % (differ, errors), "both MPIs write the same bytes")
    for p in programs:
        shutil.rmtree(p.folder)
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
