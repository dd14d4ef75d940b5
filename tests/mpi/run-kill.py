#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-kill.py - a rank is killed or stopped: the last commit is whole, and the others get an error; until
the last of them has ended nobody else can write.

Usage: tests/mpi/run-kill.py [--full]    more kills
"""
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch
from launch import report

DATAREP = os.environ.get("DATAREP", os.path.join(launch.BUILD, "release", "datarep"))
TIMEOUT = 2  # seconds that ranks wait for others
PATIENCE = 60  # until a launcher must have ended


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Job:
    """Ranks of writer.c in a directory of their own."""

    def __init__(self, mpi, ranks, timeout, io, options=()):
        self.dir = tempfile.mkdtemp(prefix="kill-")
        self.path = os.path.join(self.dir, "k.drep")
        self.ranks = ranks
        command = launch.command(mpi, ranks, [launch.test_program(mpi, "writer"), self.path, self.dir,
                                              str(timeout), io])
        command[1:1] = options
        self.process = subprocess.Popen(command, env=launch.environment(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        self.began = wait_for(lambda: all(os.path.exists(self.file("pid", r)) for r in range(ranks)), 60)

    def file(self, what, rank):
        return os.path.join(self.dir, "%s.%d" % (what, rank))

    def pid(self, rank):
        return int(open(self.file("pid", rank)).read().split()[0])

    def ended(self, rank):
        """The code and the message with which its calls ended, or None."""
        if not os.path.exists(self.file("end", rank)):
            return None
        code, text = open(self.file("end", rank)).read().split(" ", 1)
        return int(code), text

    def wait(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def kill_all(self):
        for rank in range(self.ranks):
            if os.path.exists(self.file("pid", rank)):
                try:
                    os.kill(self.pid(rank), signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def close(self):
        """Ends what is left: the ranks by their numbers, the launcher with its session."""
        self.kill_all()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.dir)

    def held(self, victim):
        """What is wrong with its locks: nobody else may write until the last rank has ended."""
        def writes():
            return subprocess.run([DATAREP, "check", "--seal", self.path], capture_output=True, text=True)

        done, says = writes(), "another writer" if victim else "ranks of a parallel job"
        if done.returncode != 3 or says not in done.stderr:
            return "while ranks live, --seal: status %d\n%s%s" % (done.returncode, done.stdout, done.stderr)
        self.kill_all()
        if not wait_for(lambda: writes().returncode == 0, 10):
            return "when all have ended, --seal: " + writes().stderr
        return ""

    def whole(self):
        """What is wrong with the last commit."""
        done = subprocess.run([DATAREP, "check", "--deep", self.path], capture_output=True, text=True)
        if done.returncode:
            return "check: status %d\n%s%s" % (done.returncode, done.stdout, done.stderr)
        raw = os.path.join(self.dir, "p.raw")
        done = subprocess.run([DATAREP, "export", "--root=/p", self.path, raw], capture_output=True,
                              text=True)
        if done.returncode:
            return "export: " + done.stderr
        values = set(struct.iter_unpack(">i", open(raw, "rb").read()))
        return "" if len(values) == 1 else "elements of several commits: %s" % sorted(values)[:9]


def killed(mpi, ranks, times, io):
    rnd = random.Random(ranks)
    problem = ""
    for n in range(times):
        job = Job(mpi, ranks, 0, io)
        try:
            if not job.began:
                problem = "it did not begin"
                break
            time.sleep(rnd.uniform(0, 0.5))
            os.kill(job.pid(rnd.randrange(ranks)), signal.SIGKILL)
            if not job.wait(PATIENCE):
                problem = "the launcher did not end the job"
                break
            problem = job.whole()
            if problem:
                problem = "kill %d: %s" % (n, problem)
                break
        finally:
            job.close()
    report(problem, "%s, %d ranks, %s: the last commit is whole after each of %d kills" %
           (mpi, ranks, io, times))


def missing(mpi, ranks, how, victim, io, options=()):
    """One rank is gone: all others end with an error within the timeout."""
    job = Job(mpi, ranks, TIMEOUT, io, options)
    problem = ""
    try:
        if not job.began:
            problem = "it did not begin"
        else:
            os.kill(job.pid(victim), how)
            others = [r for r in range(ranks) if r != victim]
            if not wait_for(lambda: all(job.ended(r) for r in others), 4 * TIMEOUT):
                problem = "these did not end: %s" % [r for r in others if not job.ended(r)]
            for r in others:
                end = job.ended(r)
                if end and (end[0] == 0 or "rank" not in end[1]):
                    problem += "rank %d: %s\n" % (r, end)
            problem = problem or job.whole()
            if how == signal.SIGKILL:
                problem = problem or job.held(victim)
    finally:
        job.close()
    report(problem, "%s, %d ranks, %s: all others get an error when rank %d is %s" %
           (mpi, ranks, io, victim, "stopped" if how == signal.SIGSTOP else "killed"))


def stories(mpi, io, full):
    short = io == "mpiio" and not full
    for ranks in [2, 3, 4] if full else [3]:
        killed(mpi, ranks, 20 if full else 2 if short else 4, io)
        for victim in range(ranks) if full else [ranks - 1] if short else [0, ranks - 1]:
            missing(mpi, ranks, signal.SIGSTOP, victim, io)
    if mpi == "openmpi":
        for victim in [1, 0]:
            missing(mpi, 3, signal.SIGKILL, victim, io, ["--enable-recovery"])


def main():
    full = "--full" in sys.argv[1:]
    there = launch.installed()
    if not there:
        print("1..0 # SKIP no MPI is installed that the library was built for (make deps-mpi)")
        return 0
    for mpi in there:
        for io in ["posix", "mpiio"]:
            stories(mpi, io, full)
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
