#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 1800
"""run-model.py - asks spin whether commits are safe (commit.pml), and the model whether it describes the library.

Usage: tests/model/run-model.py [--full] [--runs] [--story NAME SEED]

Every configuration is searched completely; every fault that is planted in the model must be found.
Then record.c lets the library's processes loose, and the model must accept what they did; a run whose
order was changed must be refused.  --full: all configurations and faults, and TRACES runs (100).
--runs: the runs alone.  --story: one run, as a list of events, and how far the model follows it."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
BUILD = os.environ.get("BUILDDIR", "build")
RECORD = os.path.join(BUILD, "release", "tests", "model", "record")
MEMORY = 2000  # MB, of one search.
TRACES = int(os.environ.get("TRACES", "100"))
SEED = int(os.environ.get("MODEL_SEED", "1"))

# What is searched: who takes part and what may go wrong.  The short form has those with a mark.
CONFIGURATIONS = [
    ("a crash", "CRASHES=1 COMMITS=4", False),
    ("two crashes", "CRASHES=2 COMMITS=3 EXTENTS=3", True),
    ("a kill, then a crash", "CRASHES=1 KILLS=1 COMMITS=4 LOWEST=1", False),
    ("a sync that fails, then a crash", "FAILS=1 CRASHES=1 COMMITS=3 EXTENTS=3", False),
    ("two ranks, one is killed", "RANKS=2 KILLS=1 COMMITS=3 EXTENTS=3", False),
    ("two ranks and another writer, one is killed", "RANKS=2 WRITERS=2 KILLS=1 COMMITS=3 EXTENTS=3 KEEP=2", False),
    ("two ranks and a crash", "RANKS=2 CRASHES=1 COMMITS=3 EXTENTS=3", False),
    ("the state at the end, a kill, two crashes", "STREAM=1 CRASHES=2 KILLS=1 COMMITS=3 EXTENTS=3 LOWEST=1", False),
    ("the state at the end and a reader", "STREAM=1 READERS=1 COMMITS=2 EXTENTS=3", False),
    ("a reader", "READERS=1 COMMITS=4 LOWEST=1 KEEP=2", False),
    ("a reader, nothing kept", "READERS=1 COMMITS=4 LOWEST=1 KEEP=1", False),
    ("two writers, one is killed", "WRITERS=2 KILLS=1 COMMITS=3 EXTENTS=3 KEEP=2", False),
]
FAULTS = [  # The number in commit.pml, what is not kept, where it is found.
    (1, "the slot is written before the sync", "CRASHES=1 COMMITS=3 EXTENTS=3", True),
    (2, "space freed by N is used by N+1", "READERS=1 COMMITS=4", True),
    (3, "a reader does not read the slots again under its lock", "READERS=1 COMMITS=4 LOWEST=1 KEEP=2", True),
    (4, "locks of readers are ignored", "READERS=1 COMMITS=4 LOWEST=1 KEEP=2", False),
    (5, "the LOG is ignored", "CRASHES=1 COMMITS=5 LOWEST=1", False),
    (6, "the slot is not synced", "CRASHES=1 COMMITS=3 EXTENTS=3", False),
    (7, "a rank does not sync", "RANKS=2 CRASHES=1 COMMITS=3 EXTENTS=3", False),
    (8, "the end is cut off before slot A is synced", "STREAM=1 CRASHES=1 COMMITS=3 EXTENTS=3", False),
    (9, "every commit goes to slot A", "CRASHES=1 COMMITS=3 EXTENTS=3", False),
    (10, "ranks write on although rank 0 is killed", "RANKS=2 WRITERS=2 KILLS=1 COMMITS=3 EXTENTS=3 KEEP=2", False),
    (10, "ranks write on although rank 0 has closed the file", "RANKS=2 COMMITS=3 EXTENTS=3", False),
    (11, "a writer reuses space that a lost slot's predecessor keeps", "CRASHES=1 KILLS=1 COMMITS=4 LOWEST=1 KEEP=2", False),
    (12, "the LOG of that predecessor is ignored", "CRASHES=1 KILLS=1 COMMITS=5 LOWEST=1", False),
]
STORIES = ["commits", "readers", "stream", "unlocked", "kill", "abandon", "sync-fails", "two-writers", "ranks",
           "ranks-left", "stream-readers"]
FOLLOW = "RANKS=2 WRITERS=2 READERS=2 KILLS=20 FAILS=20 WRITES=255"
EXTENTS, COMMITS = 160, 30  # Of a recorded run, at most.

count = failed = 0


def case(good, what, why=()):
    global count, failed
    count += 1
    failed += not good
    for line in why if not good else ():
        print("# " + line)
    print("%s %d - %s" % ("ok" if good else "not ok", count, what), flush=True)


# ---- spin ----

def build(folder, options, flags):
    """A verifier for the model."""
    os.makedirs(folder)
    model = os.path.join(HERE, "commit.pml")
    made = subprocess.run(["spin", "-a"] + options.split() + [model], cwd=folder, capture_output=True, text=True)
    if made.returncode or not os.path.exists(os.path.join(folder, "pan.c")):
        raise SystemExit("spin: " + made.stdout + made.stderr)
    subprocess.run(["gcc", "-w", "-I" + HERE, "-DSAFETY", "-DVECTORSZ=16384", "-DMEMLIM=%d" % MEMORY] + flags +
                   ["-o", "pan", "pan.c"], cwd=folder, check=True)
    return os.path.join(folder, "pan")


class Search:
    """What a verifier says of its search."""

    def __init__(self, pan, arguments, settings):
        start = time.monotonic()
        done = subprocess.run([pan] + arguments, cwd=os.path.dirname(pan), capture_output=True, text=True,
                              env=dict(os.environ, **dict(one.split("=") for one in settings.split())))
        self.seconds, self.text = time.monotonic() - start, done.stdout + done.stderr
        self.errors = int((re.search(r"errors: (\d+)", self.text) or [0, -1])[1])
        self.states = int((re.search(r"(\d+) states, stored", self.text) or [0, 0])[1])
        self.depth = int((re.search(r"depth reached (\d+)", self.text) or [0, 0])[1])
        self.memory = float((re.search(r"([\d.]+)\s+total actual memory", self.text) or [0, 0])[1])
        self.complete = "Search not completed" not in self.text and "out of memory" not in self.text and \
            "max search depth too small" not in self.text and self.errors >= 0
        self.violated = (re.search(r"pan:1: (.*)", self.text) or [0, ""])[1]

    def figures(self):
        return "%d states, depth %d, %.0f MB, %.1f s" % (self.states, self.depth, self.memory, self.seconds)


def search(pan, settings):
    return Search(pan, ["-m200000", "-w22"], settings)


def configurations(pan, full):
    for name, settings, short in CONFIGURATIONS:
        if full or short:
            s = search(pan, settings)
            case(s.complete and s.errors == 0, "%s: %s" % (name, s.figures()), s.text.splitlines()[-40:])


def faults(pan, longer, full):
    for number, name, settings, short in FAULTS:
        if full or short:
            s = search(longer if "COMMITS=5" in settings else pan, "FAULT=%d %s" % (number, settings))
            case(s.errors == 1 and "violated" in s.violated, "found: %s (%s)" % (name, s.figures()),
                 s.text.splitlines()[-40:])


# ---- recorded runs ----

def record(folder, story, seed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run([RECORD, folder, str(seed), story], check=True, timeout=120)


def follow(pan, folder, data):
    """Whether the model can do what the trace says, and how far it came."""
    path = os.path.join(folder, "trace")
    with open(path, "wb") as out:
        out.write(data)
    s = Search(pan, ["-E", "-m1000000", "-w16"], FOLLOW + " TRACE=" + path)
    at = int((re.search(r"trace: (\d+) of", s.text) or [0, -1])[1])
    return s.errors == 1 and s.violated.startswith("assertion violated 0 "), at, s


def wrong_orders(events, kind):
    """Runs that a writer must not do, made from one that it did: (what, events)."""
    slots = [i for i, e in enumerate(events) if e[0] == kind["SLOT_BEGUN"]]
    i = slots[-1]
    sync = max(k for k in range(i) if events[k][0] == kind["SYNC"])
    yield "the slot before the sync", events[:sync] + events[i:i + 2] + [events[sync]] + events[sync + 1:i] + events[i + 2:]
    yield "no sync before the slot", events[:sync] + events[sync + 1:]
    yield "no sync after the slot", [e for k, e in enumerate(events) if k != i + 2]
    yield "the other slot", events[:i] + [(e[0], e[1], 1 - e[2], e[3]) for e in events[i:i + 2]] + events[i + 2:]
    drops = [k for k in range(sync) if events[k][0] == kind["DROP"] and k > slots[-2]]
    write = next(k for k in range(slots[-2], i) if events[k][0] == kind["WRITE"])
    e = events[drops[0]]
    yield "an extent of the last commit overwritten", \
        events[:write] + [(kind["WRITE"], e[1], e[2], 0)] + events[write:]


def runs(work, full):
    import recorded
    pan = build(os.path.join(work, "follow"), "-DTRACE -DEXTENTS=%d -DCOMMITS=%d" % (EXTENTS, COMMITS), ["-O1", "-DNOREDUCE"])
    accepted = {}
    first = None
    number = TRACES if full else len(STORIES)
    for n in range(number):
        story, seed = STORIES[n % len(STORIES)], SEED + n // len(STORIES)
        folder = os.path.join(work, "run")
        record(folder, story, seed)
        try:
            run = recorded.Run(folder)
            good, at, s = follow(pan, folder, run.bytes())
            why = [] if good else recorded.text(run.events[:at + 1]).splitlines()[-40:] + s.text.splitlines()[-6:]
            good = good and run.extents <= EXTENTS
        except Exception as e:  # Whatever is wrong with a run is a failure that names it.
            good, why = False, ["%s: %s" % (type(e).__name__, e)]
        if good:
            had = accepted.setdefault(story, [0, 0, 0, 0])
            had[:] = [had[0] + 1, had[1] + len(run.events), had[2] + len(run.commits), had[3] + s.states]
            first = first or run
        else:
            case(False, "run %s, seed %d" % (story, seed), why)
    total = sum(had[0] for had in accepted.values())
    for story in STORIES:
        if story in accepted:
            print("# %-15s %3d runs, %6d events, %4d commits, %8d states" % ((story,) + tuple(accepted[story])))
    case(total == number, "the model accepts %d of %d recorded runs" % (total, number))
    print("# counted: %d recorded runs" % total)
    for what, events in wrong_orders(first.events, recorded.EVENT):
        good, at, _ = follow(pan, os.path.join(work, "run"), b"".join(bytes(e) for e in events))
        case(not good, "refused: %s, at event %d of %d" % (what, at, len(events)))


def one_story(work, story, seed):
    import recorded
    pan = build(os.path.join(work, "follow"), "-DTRACE -DEXTENTS=%d -DCOMMITS=%d" % (EXTENTS, COMMITS), ["-O1", "-DNOREDUCE"])
    folder = os.path.join(work, "run")
    record(folder, story, seed)
    run = recorded.Run(folder)
    good, at, s = follow(pan, folder, run.bytes())
    print(recorded.text(run.events))
    print("%d extents, %d commits; %s" % (run.extents, 1 + len(run.commits), s.figures()))
    print("accepted" if good else "refused at event %d" % at)


def main():
    full = "--full" in sys.argv
    if not shutil.which("spin") or not shutil.which("gcc"):
        print("1..0 # SKIP spin and gcc are not both here (tools/install-deps model)")
        return 0
    with tempfile.TemporaryDirectory(prefix="datarep-model-") as work:
        if "--story" in sys.argv:
            one_story(work, sys.argv[-2], int(sys.argv[-1]))
            return 0
        if "--runs" not in sys.argv:
            pan = build(os.path.join(work, "search"), "", ["-O2" if full else "-O1", "-DCOLLAPSE"])
            longer = full and build(os.path.join(work, "longer"), "-DCOMMITS=5", ["-O2", "-DCOLLAPSE"])
            configurations(pan, full)
            faults(pan, longer, full)
        runs(work, full)
    print("1..%d" % count)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("# %.0f s of one processor" % (used.ru_utime + used.ru_stime))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
