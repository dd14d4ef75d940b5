#!/usr/bin/python3
"""run-claims.py - small files that claim to be large (claims.py), through the command.

Each run has to stay within SECURITY.md's bars: memory at most the limit that the command states
plus its libraries, processor time at most the limit plus the grace of the last resort.  Where a
limit ends the work, the message names it and the option that raises it.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import claims  # noqa: E402

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
MIB = 1 << 20
PROCESSORS = os.cpu_count() or 1
TIME = 1          # --limit time
GRACE = 3.5       # the last resort waits for 2 s, and this machine is shared
LIBRARIES = 48 * MIB
RUNAWAY = 25      # seconds of processor time after which the test itself gives up

# Commands that write so much less than they could that only the time ends them.
ENDLESS = {"fill", "fill-of-chunks-of-one", "many-ranks", "many-chunks"}


def memory_bar(*files):
    """The default of --limit memory, and what no file has a part in."""
    size = sum(os.path.getsize(f) for f in files)
    return 128 * MIB + 2 * PROCESSORS * 16 * MIB + 2 * size + LIBRARIES


class Run:
    def __init__(self, args, stdin=subprocess.DEVNULL):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (RUNAWAY, RUNAWAY + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with tempfile.TemporaryFile() as err:
            child = subprocess.Popen([DATAREP] + args, stdin=stdin, stdout=subprocess.DEVNULL,
                                     stderr=err, preexec_fn=limits)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = 0
            err.seek(0)
            self.err = err.read().decode("utf-8", "replace")
        self.status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        self.memory = used.ru_maxrss * 1024
        self.time = used.ru_utime + used.ru_stime

    def wrong(self, memory, time):
        """What does not hold, or ""."""
        if self.status < 0:
            return "ended by %s" % signal.Signals(-self.status).name
        if self.memory > memory:
            return "took %d MiB of memory, may take %d" % (self.memory // MIB, memory // MIB)
        if self.time > time:
            return "took %.1f s of processor time, may take %.1f" % (self.time, time)
        if self.status not in range(5):
            return "exit status %d" % self.status
        if "limit" in self.err and "--limit " not in self.err:
            return "names a limit and no option"
        return ""


class Cases:
    def __init__(self):
        self.n = self.bad = self.runs = 0
        self.memory = self.time = 0

    def put(self, name, wrong):
        self.n += 1
        self.bad += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", self.n, name))
        for line in wrong[:20]:
            print("# " + line)


def commands(path, second, out):
    yield ["dump", path]
    yield ["dump", "--json", path]
    yield ["ls", "-rlm", path]
    yield ["stat", "-r", path]
    yield ["diff", path, second]
    yield ["check", "--deep", path]
    yield ["convert", path, out + ".drep"]
    yield ["convert", "--datarep=internal", path, out + "2.drep"]
    yield ["check", "--repair=" + out + "3.drep", path]
    for suffix in "h5", "npz":
        yield ["export", path, out + "." + suffix]
    for suffix in "npy", "csv":
        yield ["export", "--root=/d", path, out + "." + suffix]


def try_container(cases, directory, name, path):
    second = os.path.join(directory, "second.drep")
    shutil.copyfile(path, second)
    wrong = []
    for args in commands(path, second, os.path.join(directory, "out")):
        # Each kind of command once for those that only time can end.
        if name in ENDLESS and args[0] not in ("dump", "ls", "check", "convert"):
            continue
        run = Run(args[:1] + ["--limit=time=%d" % TIME, "--limit=output=20M"] + args[1:])
        said = run.wrong(memory_bar(path, second), TIME + GRACE)
        cases.runs += 1
        cases.memory = max(cases.memory, run.memory)
        cases.time = max(cases.time, run.time)
        if said:
            wrong.append("%s: %s: %s" % (" ".join(args[:2]), said, run.err[-200:].strip()))
        for made in os.listdir(directory):
            if made.startswith("out"):
                os.unlink(os.path.join(directory, made))
            elif made.endswith(".tmp") and args[:1] != ["check"]:
                wrong.append("%s leaves %s" % (" ".join(args[:2]), made))
    cases.put(name, wrong)


def try_foreign(cases, directory, name, path):
    target = os.path.join(directory, "out.drep")
    run = Run(["import", "--limit=output=50M", "--limit=time=5", path, target])
    wrong = run.wrong(memory_bar(path), 5 + GRACE)
    cases.runs += 1
    cases.memory = max(cases.memory, run.memory)
    if run.status == 0 or os.path.exists(target):
        wrong = wrong or "it is imported"
    cases.put(name, [wrong + ": " + run.err] if wrong else [])


def says(cases, what, run, status, *words):
    wrong = [] if run.status == status else ["exit status %d: %s" % (run.status, run.err)]
    cases.put(what, wrong + ["no '%s' in: %s" % (w, run.err) for w in words if w not in run.err])


def messages(cases, directory, paths):
    fill, chunk = paths["fill"], paths["one-chunk"]
    says(cases, "a limit of time", Run(["ls", "-m", "--limit=time=1", fill]), 4,
         "fill.drep", "took 1 s of processor time", "--limit time=")
    says(cases, "a limit of output", Run(["dump", "--limit=output=1M", fill]), 4,
         "fill.drep", "1048576 bytes of output", "--limit output=")
    says(cases, "a limit of a chunk", Run(["dump", chunk]), 4, "/d", "1073741824 bytes",
         "drep_limit_chunk is 16777216", "--limit chunk=")
    says(cases, "a limit of memory", Run(["dump", "--limit=memory=100M", paths["long-element"]]), 3,
         "/string", "--limit memory=")
    says(cases, "a limit that is raised",
         Run(["dump", "--limit=chunk=1G", "--limit=memory=none", paths["hungry-hints"], "/d[0:1]"]),
         0)
    with open("/dev/zero", "rb") as zero:
        says(cases, "a stream without an end", Run(["ls", "-"], zero), 4, "not a Datarep file")
    head = os.path.join(directory, "head")
    with open(chunk, "rb") as f, open(head, "wb") as h:
        h.write(f.read(8192))
    for command in ["ls", "-"], ["import", "--type=INT", "--format=raw", "-", "out.drep"]:
        stream = subprocess.Popen(["cat", head, "/dev/zero"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        run = Run(command[:1] + ["--limit=input=40M"] + command[1:], stream.stdout)
        stream.stdout.close()
        stream.wait()
        says(cases, "a pipe without an end: " + command[0], run, 4, "41943040 bytes",
             "--limit input=")


def defaults(cases, path):
    """Nobody gives a limit."""
    run = Run(["ls", "-m", path])
    wrong = run.wrong(memory_bar(path), 10 + GRACE)
    cases.put("without options time is limited to 10 s", [wrong] if wrong else [])


def main():
    cases, paths = Cases(), {}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for path in claims.make(directory):
            paths[os.path.basename(path).replace(".drep", "")] = path
        for name, path in paths.items():
            (try_foreign if "." in name else try_container)(cases, directory, name, path)
        messages(cases, directory, paths)
        defaults(cases, paths["many-ranks"])
    print("counted: %d commands on files that claim to be large, at most %d MiB and %.1f s" %
          (cases.runs, cases.memory // MIB, cases.time))
    print("1..%d" % cases.n)
    return cases.bad > 0


sys.exit(main())
