#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-claims.py - small files that claim to be large (claims.py), through the command.

Each run has to stay within SECURITY.md's bars: memory at most the limit that the command states
plus its libraries, processor time at most the limit plus the grace of the last resort.  Where a
limit ends the work, the message names it and the option that raises it.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import claims  # noqa: E402
import limits  # noqa: E402
from limits import GRACE, MIB, memory_bar  # noqa: E402

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
TIME = 1  # --limit time
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

# Commands that write so much less than they could that only the time ends them.
ENDLESS = {"fill", "fill-of-chunks-of-one", "many-ranks", "many-chunks"}


def run(args, stdin=subprocess.DEVNULL):
    return limits.run([DATAREP] + args, stdin, subprocess.DEVNULL, text=True)


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
    if os.path.basename(path).startswith("external"):
        yield ["dump", "--external", path]
        yield ["convert", "--external", path, out + "4.drep"]
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
        done = run(args[:1] + ["--limit=time=%d" % TIME, "--limit=output=20M"] + args[1:])
        said = done.wrong(memory_bar(path, second), TIME + GRACE)
        cases.runs += 1
        cases.memory = max(cases.memory, done.memory)
        cases.time = max(cases.time, done.time)
        if said:
            wrong.append("%s: %s: %s" % (" ".join(args[:2]), said, done.stderr[-200:].strip()))
        for made in os.listdir(directory):
            if made.startswith("out"):
                os.unlink(os.path.join(directory, made))
            elif made.endswith(".tmp") and args[:1] != ["check"]:
                wrong.append("%s leaves %s" % (" ".join(args[:2]), made))
    cases.put(name, wrong)


def try_foreign(cases, directory, name, path):
    target = os.path.join(directory, "out.drep")
    done = run(["import", "--limit=output=50M", "--limit=time=5", path, target])
    wrong = done.wrong(memory_bar(path), 5 + GRACE)
    cases.runs += 1
    cases.memory = max(cases.memory, done.memory)
    if done.returncode == 0 or os.path.exists(target):
        wrong = wrong or "it is imported"
    cases.put(name, [wrong + ": " + done.stderr] if wrong else [])


def says(cases, what, done, status, *words):
    wrong = [] if done.returncode == status else ["exit status %d: %s" % (done.returncode, done.stderr)]
    cases.put(what, wrong + ["no '%s' in: %s" % (w, done.stderr) for w in words if w not in done.stderr])


def messages(cases, directory, paths):
    fill, chunk = paths["fill"], paths["one-chunk"]
    says(cases, "a limit of time", run(["ls", "-m", "--limit=time=1", fill]), 4,
         "fill.drep", "took 1 s of processor time", "--limit time=")
    says(cases, "a limit of output", run(["dump", "--limit=output=1M", fill]), 4,
         "fill.drep", "1048576 bytes of output", "--limit output=")
    says(cases, "a limit of a chunk", run(["dump", chunk]), 4, "/d", "1073741824 bytes",
         "drep_limit_chunk is 16777216", "--limit chunk=")
    says(cases, "a limit of memory", run(["dump", "--limit=memory=100M", paths["long-element"]]), 3,
         "/string", "--limit memory=")
    for name in "external-rows", "external-rows-filtered":
        says(cases, "rows longer than their chunk: " + name,
             run(["convert", paths[name], os.path.join(directory, "out.drep")]), 4, "/d",
             "claims 4294967295 bytes", "R8.36")
    says(cases, "rows longer than any chunk",
         run(["convert", "--external", paths["external-texts"], os.path.join(directory, "out.drep")]),
         4, "/d", "4294967295 bytes", "--limit chunk=")
    says(cases, "a limit that is raised",
         run(["dump", "--limit=chunk=1G", "--limit=memory=none", paths["hungry-hints"], "/d[0:1]"]),
         0)
    with open("/dev/zero", "rb") as zero:
        says(cases, "a stream without an end", run(["ls", "-"], zero), 4, "not a Datarep file")
    head = os.path.join(directory, "head")
    with open(chunk, "rb") as f, open(head, "wb") as h:
        h.write(f.read(8192))
    for command in ["ls", "-"], ["import", "--type=INT", "--format=raw", "-", "out.drep"]:
        stream = subprocess.Popen(["cat", head, "/dev/zero"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        done = run(command[:1] + ["--limit=input=40M"] + command[1:], stream.stdout)
        stream.stdout.close()
        stream.wait()
        says(cases, "a pipe without an end: " + command[0], done, 4, "41943040 bytes",
             "--limit input=")


def exports(cases, directory, paths):
    """A chunk beyond the limit ends every export alike, however large it is."""
    for args in ["x.npz"], ["x.h5"], ["--root=/d", "x.npy"], ["--root=/d", "x.csv"]:
        for name in "one-chunk", "one-chunk-of-doubles":
            says(cases, "a limit of a chunk, %s to %s" % (name, args[-1]),
                 run(["export"] + args[:-1] + [paths[name], os.path.join(directory, args[-1])]), 4,
                 "/d", "drep_limit_chunk is 16777216", "--limit chunk=")
    for name in "x.npz", "x.npy", "x.csv":
        says(cases, "no dataset for " + name,
             run(["export", paths["group-in-itself"], os.path.join(directory, name)]), 2,
             "/: there are no datasets in this group")
    for value in "memory=18446744073709551615T", "memory=-1", "time=9223372036854775807h", "time=1d":
        says(cases, "no limit: " + value, run(["ls", "--limit=" + value, paths["fill"]]), 2,
             "--limit " + value.split("=")[0])


def escapes(cases, directory, path):
    """Nothing that is printed holds control characters of the file, or of its name."""
    wrong = []
    named = os.path.join(directory, claims.ESCAPE.replace("/", "") + ".drep")
    shutil.copyfile(path, named)
    runs = list(commands(path, named, os.path.join(directory, "out")))
    runs += [args[:-2] + [named] + args[-1:] if args[0] in ("convert", "export", "diff") else
             args[:-1] + [named] for args in runs]
    runs += [["dump", "-H", named], ["dump", named, "/x" + claims.ESCAPE], ["stat", "-r", named], ["log", named],
             ["ls", "--limit=" + claims.ESCAPE, path], ["ls", "--limit=time=" + claims.ESCAPE, path],
             ["ls", "-rlm", "--limit=time=0", named], ["dump", "--limit=output=1", named],
             ["import", named, "out.drep"], [claims.ESCAPE], ["ls", "--" + claims.ESCAPE],
             ["create", "-s", claims.ESCAPE, "out.drep"], ["dump", "--commit=" + claims.ESCAPE, path]]
    schema = os.path.join(directory, "schema" + claims.ESCAPE.replace("/", ""))
    with open(schema, "w", encoding="utf-8") as f:
        f.write('root:\n  "a\\e]0;t\\a": {dataset: "no\\e[31m", shape: [3]}\n')
    runs += [["create", "-s", schema, "out.drep"], ["validate", "-s", schema, path]]
    for args in runs:
        done = limits.run([DATAREP] + args, text=True)
        said = done.stdout + done.stderr
        found = [c for c in said if c != "\n" and (c < " " or "\x7f" <= c < "\xa0" or c in BIDI)]
        lines = [s for s in said.split("\n") if s.startswith("\r") or s.startswith("title")]
        cases.runs += 1
        if found or lines:
            wrong.append("%r prints %r: %r" % (args, found[:3], said[-200:]))
        for made in os.listdir(directory):
            if made.startswith("out"):
                os.unlink(os.path.join(directory, made))
    os.unlink(named)
    cases.put("control characters", wrong)


def defaults(cases, path):
    """Nobody gives a limit."""
    done = run(["ls", "-m", path])
    wrong = done.wrong(memory_bar(path), 10 + GRACE)
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
        exports(cases, directory, paths)
        escapes(cases, directory, paths["escapes"])
        defaults(cases, paths["many-ranks"])
    print("counted: %d commands on files that claim to be large, at most %d MiB and %.1f s" %
          (cases.runs, cases.memory // MIB, cases.time))
    print("1..%d" % cases.n)
    return cases.bad > 0


sys.exit(main())
