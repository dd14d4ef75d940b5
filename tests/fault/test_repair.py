#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_repair.py - damaged copies of a file are repaired, and nothing is lost in silence.

Whatever the damage is: the new file has no fault that is not told, the old one is not touched,
and when nothing is said to be lost the two hold the same.  Payload loses no more than the damaged
blocks, metadata no more than the entries that make no sense any more.  No run takes more memory
or time than SECURITY.md allows."""
# timeout: 300
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import limits  # noqa: E402

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
SRCDIR = os.environ.get("SRCDIR", ".")
SCHEMA = """
datarep: internal
dims: {time: unlimited, lat: 90, lon: 60}
root:
  attrs: {title: "Sea surface temperature", version: 3}
  sst: {dataset: FLOAT, dims: [time, lat, lon], chunk: [1, 45, 60], filters: [shuffle, deflate],
        fill: -1, attrs: {units: K}}
  grid: {dataset: DOUBLE, shape: [200, 300], fill: -9}
  words: {dataset: vstring, shape: [3], data: [one, "two words", three], chunk: [2]}
  deep:
    er:
      log: {dataset: INT32_T, shape: [0], maxshape: [unlimited]}
"""
GRID = struct.pack("<60000d", *range(60000))
SST = struct.pack("<%df" % (3 * 5400), *(i % 97 for i in range(3 * 5400)))

cases = 0
failures = 0


def case(name, problem):
    """Reports one case; problem: None or what is wrong."""
    global cases, failures
    cases += 1
    print("%s %d - %s" % ("not ok" if problem else "ok", cases, name))
    if problem:
        failures += 1
        for line in str(problem).splitlines()[:30]:
            print("# " + line)


def run(*args):
    return limits.run([DATAREP, *args], text=True)


def make(folder):
    """The file, made by the command in several commits."""
    path = os.path.join(folder, "a.drep")
    for name, data in (("s.yaml", SCHEMA.encode()), ("grid", GRID), ("sst", SST)):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    for args in (["create", "-s", folder + "/s.yaml", path],
                 ["import", "--type=DOUBLE", "-u", "-i", "/grid", folder + "/grid", path],
                 ["import", "--type=FLOAT", "--shape=3,90,60", "-a", "-i", "/sst",
                  folder + "/sst", path]):
        done = run(*args)
        if done.returncode:
            sys.exit("Bail out! " + done.stderr)
    return path


def damage(data, kind, rng):
    """A damaged copy."""
    b = bytearray(data)
    if kind == "bits":
        for _ in range(rng.randint(1, 8)):
            b[rng.randrange(len(b))] ^= 1 << rng.randrange(8)
    elif kind == "page":
        at = rng.randrange(0, len(b), 4096)
        b[at:at + 4096] = rng.randbytes(len(b[at:at + 4096]))
    elif kind == "zeros":
        at = rng.randrange(0, len(b), 512)
        b[at:at + 2048] = bytes(len(b[at:at + 2048]))
    elif kind == "cut":
        del b[rng.randrange(8192, len(b)):]
    elif kind == "metadata":  # blocks begin with DRPB
        places = [i for i in range(8192, len(b) - 64, 64) if b[i:i + 4] == b"DRPB"]
        at = rng.choice(places)
        b[at + rng.randrange(64)] ^= 255
    else:
        b[rng.choice([0, 4096]) + rng.randrange(4096)] ^= 255
    return bytes(b)


def repaired(folder, data, original):
    """What is wrong with the repair of these bytes; how it ended."""
    bad, new = os.path.join(folder, "bad.drep"), os.path.join(folder, "new.drep")
    with open(bad, "wb") as f:
        f.write(data)
    if os.path.exists(new):
        os.unlink(new)
    done = run("check", "--repair=" + new, bad)
    over = done.wrong(limits.memory_bar(bad))
    if over:
        return "%s: %s" % (over, done.stderr), done
    with open(bad, "rb") as f:
        if f.read() != data:
            return "the damaged file was changed", done
    if done.returncode == 4:
        return None if not os.path.exists(new) and done.stderr else "no file, no word", done
    if done.returncode not in (0, 1):
        return "status %d: %s" % (done.returncode, done.stderr), done
    checked = run("check", "--deep", new)
    if checked.returncode and ": the new file" not in done.stdout:
        return "the new file is not sound: " + checked.stdout + checked.stderr, done
    if done.returncode == 0:
        same = run("diff", original, new)
        if same.returncode:
            return "nothing was said of this: " + same.stdout + same.stderr, done
    return None, done


def at_random(folder, path):
    with open(path, "rb") as f:
        data = f.read()
    for kind in ("bits", "page", "zeros", "cut", "metadata", "slot"):
        rng = random.Random(kind)
        ends = {}
        problem = None
        for i in range(25):
            problem, done = repaired(folder, damage(data, kind, rng), path)
            ends[done.returncode] = ends.get(done.returncode, 0) + 1
            if problem:
                problem = "copy %d: %s" % (i, problem)
                break
        case("%s: %s" % (kind, ", ".join("%d ended with %d" % (n, status)
                                         for status, n in sorted(ends.items()))), problem)


def values(path):
    done = subprocess.run([DATAREP, "dump", "--raw", path, "/grid"], capture_output=True,
                          check=True, timeout=60)
    return struct.unpack("<60000d", done.stdout)


def one_block(folder, path):
    """A damaged block of a contiguous dataset costs its 512 elements and nothing else."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = data.index(GRID[:4096])
    data[at + 3 * 4096 + 17] ^= 1
    problem, done = repaired(folder, bytes(data), path)
    if not problem:
        want = tuple(-9.0 if 3 * 512 <= i < 4 * 512 else float(i) for i in range(60000))
        if values(os.path.join(folder, "new.drep")) != want:
            problem = "other elements"
        elif "elements 1536 to 2047" not in done.stdout or str(at + 3 * 4096) not in done.stdout:
            problem = "not named: " + done.stdout
    case("a damaged block is 512 elements of fill", problem)


def with_root(path):
    """The bytes of a file, where its root node begins and how long it is."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    slots = [(struct.unpack_from(">Q", data, at + 16)[0], at) for at in (0, 4096)]
    return (data, *struct.unpack_from(">QI", data, max(slots)[1] + 80))


def no_root(folder, path):
    """Without a root node, the leaves that lie about are found."""
    data, root, _ = with_root(path)
    data[root:root + 64] = bytes(64)
    problem, done = repaired(folder, bytes(data), path)
    if not problem and done.returncode != 1:
        problem = "status %d" % done.returncode
    case("a lost root node", problem)


def damaged_root(folder, path):
    """One byte of the only node of the newest commit: the commit before it is whole, and is what is
    taken; what the damaged one says is in /lost+found.  If only its own checksum is damaged, the
    node is as good as it was."""
    new, before = os.path.join(folder, "new.drep"), os.path.join(folder, "before.drep")
    log = run("log", path).stdout.split("\n")
    second = str(max(int(line.split()[0]) for line in log if line.strip()[:1].isdigit()) - 1)
    made = run("convert", "--commit=" + second, path, before)
    for name, place, whole in (("its sequence", 16, False), ("its checksum", 32, True),
                               ("a text", None, False)):
        data, root, size = with_root(path)
        data[root + place if place else data.index(b"Sea surface", root, root + size)] ^= 1
        problem, done = repaired(folder, bytes(data), path)
        diff = run("diff", path if whole else before, new)
        if not problem and (done.returncode != 1 or made.returncode):
            problem = done.stdout + made.stderr
        elif not problem and whole and (diff.returncode or "its entries are right" not in done.stdout):
            problem = done.stdout + diff.stdout
        elif not problem and not whole:
            sst = subprocess.run([DATAREP, "dump", "--raw", new, "/lost+found/sst"],
                                 capture_output=True, timeout=60).stdout
            if diff.stdout.count("\n") != 1 or "/lost+found: only in" not in diff.stdout:
                problem = diff.stdout
            elif sst != SST or "entries of it are used as found" not in done.stdout:
                problem = "the newest elements are not in /lost+found: " + done.stdout
        case("a damaged root node: " + name, problem)


def every_entry(folder, path):
    """One bit anywhere in the only node: mostly no object is lost, on the average a few."""
    data, root, size = with_root(path)
    whole = run("check", "--repair=" + os.path.join(folder, "whole.drep"), path).stdout
    rng = random.Random("entries")
    kept = []
    problem = None
    for _ in range(40):
        bad = bytearray(data)
        bad[rng.randrange(root + 40, root + size)] ^= 1 << rng.randrange(8)
        problem, done = repaired(folder, bytes(bad), path)
        if problem:
            break
        told = re.search("objects: ([0-9]+)", done.stdout)
        kept.append(int(told.group(1)) if told else 1)
    objects = int(whole.split("objects: ")[-1])
    if not problem and (sorted(kept)[20] < objects or sum(kept) < 0.8 * objects * len(kept)):
        problem = "objects kept, of %d: %s" % (objects, kept)
    case("one bit of a node: %d of %d objects kept" % (sum(kept), objects * len(kept)), problem)


def clobber(folder, path):
    new = os.path.join(folder, "new.drep")
    with open(new, "w", encoding="ascii") as f:
        f.write("mine")
    done = run("check", "-n", "--repair=" + new, path)
    with open(new, encoding="ascii") as f:
        kept = f.read() == "mine"
    case("--no-clobber", None if kept and done.returncode == 3 else done)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = make(folder)
        with open(path, "rb") as f:
            problem, done = repaired(folder, f.read(), path)
        case("an undamaged file", problem or (done.returncode and done.stdout))
        one_block(folder, path)
        no_root(folder, path)
        damaged_root(folder, path)
        every_entry(folder, path)
        at_random(folder, path)
        clobber(folder, path)
        done = run("check", "--repair=" + folder + "/n.drep", os.path.join(SRCDIR, "README.md"))
        case("what is no Datarep file", None if done.returncode == 4 else done)
    print("1..%d" % cases)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
