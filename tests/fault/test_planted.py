#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_planted.py - bytes of a user that look like nodes of the file, wherever they are, and a repair.

Each file has three commits, in which /v is 1, 2 and 3, and bytes of a user from the first one on:
leaves with right sums, for every commit up to the ninth, in which /v is 666.  Slots and nodes are
damaged; what is repaired is the newest commit that is whole, and 666 is nowhere but in /lost+found.
The same with files of the command that hold older and newer copies of themselves."""
import json
import os
import random
import re
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../spec"))

import limits  # noqa: E402
from drepwrite import Builder, block, node_content, u64  # noqa: E402
from vectors import log_entry  # noqa: E402

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
BYTES = 40000
cases = failures = runs = 0


def run(*args):
    return limits.run([DATAREP, *args], text=True)


def case(name, problems):
    global cases, failures
    cases += 1
    failures += bool(problems)
    print("%sok %d - %s" % ("not " if problems else "", cases, name))
    for line in problems[:20]:
        print("# " + line.replace("\n", "; "))


# ---- files made byte by byte

def base(many, **more):
    """/v, and enough groups that a tree of small nodes has several leaves."""
    b = Builder(hints={"drep_keep": "8"}, node_max=400 if many else 4096, **more)
    v = b.dataset(1, "v", "INT", (1,), data=[1])
    for i in range(8 if many else 0):
        b.group(1, "g%d" % i)
    return b, v


def leaves():
    """What is planted: leaves of all commits, in which /v is 666; all of the tree, and alone."""
    b, v = base(False)
    b.tree[b.key(v, 24)] = b.payload("INT", [666])[0]
    b.object_records()
    every = sorted(b.tree.items())
    some = [e for e in every if e[0][:8] == u64(v)]
    out = []
    for entries in every, some:
        content = node_content([(k, 0, value) for k, value in entries], 0)
        out += [block(1, content, s, 0, len(entries)) for s in range(1, 10)]
    return out


def planted(aligned):
    """Bytes with all leaves, each at a multiple of 64; or the last ones at every offset from one."""
    if aligned:
        raw = b"".join(x + bytes(-len(x) % 64) for x in leaves())
    else:
        x = leaves()[-6]
        raw = b"".join(x + bytes(-len(x) % 64 + 1) for _ in range(64))
    return (raw + bytes(BYTES))[:BYTES]


def contiguous(b):
    d = b.dataset(1, "user", "UINT8_T", (BYTES,), "contiguous", (BYTES,))
    b.run(d, (0,), [planted(True)])


def chunked(b):
    d = b.dataset(1, "user", "UINT8_T", (BYTES,), "chunked", (BYTES // 4,))
    raw = planted(True)
    for i in range(4):
        b.run(d, (i,), [raw[i * BYTES // 4:][:BYTES // 4]])


def filtered(b):
    """Stored as it is, since no filter was applied."""
    d = b.dataset(1, "user", "UINT8_T", (BYTES,), "chunked", (BYTES,), (("deflate", [6]),))
    b.placed(d, (0,), [planted(True)], 1)


def compact(b):
    d = b.dataset(1, "user", "UINT8_T", (BYTES,), "compact")
    b.compact(d, planted(False))


def attribute(b):
    b.attr(1, "user", ("opaque", BYTES, ""), [planted(False).hex()], (1,))


def heap(b):
    """A sequence of bytes in a heap."""
    d = b.dataset(1, "user", ("seq", "UINT8_T"), (1,), "chunked", (1,))
    b.run(d, (0,), [u64(BYTES) + u64(0) + planted(False)])


def external(b):
    d = b.dataset(1, "user", "UINT8_T", (BYTES,), "chunked", (BYTES,))
    raw = planted(True)
    b.pointed(d, (0,), b.target("user.bin", raw), [(0, raw)])


PLACES = [contiguous, chunked, filtered, compact, attribute, heap, external]


def three_commits(place, many):
    b, v = base(many)
    place(b)
    roots = []
    for n in range(1, 4):
        b.tree[b.key(v, 24)] = b.payload("INT", [n])[0]
        b.commit()
        slot = b.slots[(b.sequence + 1) % 2]
        roots.append(struct.unpack_from(">QI", slot, 80))
        log_entry(b)
    return b, roots


def slot_of(commit):
    return (commit + 1) % 2 * 4096


def damages(roots):
    """Name, function, and the commit that is the newest whole one then (0: none is)."""
    def flip(at):
        return lambda b: b.__setitem__(at, b[at] ^ 1)

    def beyond(at):
        """Of a slot: it is mended while no other byte of it is damaged."""
        return both(flip(at), flip(at - at % 4096 + 4000))

    def zero(at, n):
        return lambda b: b.__setitem__(slice(at, at + n), bytes(n))

    def both(*all_of):
        return lambda b: [f(b) for f in all_of]

    newest, older = slot_of(3), slot_of(2)
    (r1, _), (r2, n2), (r3, n3) = roots
    wipe3, wipe2 = zero(r3, n3), zero(r2, n2)
    yield "nothing", lambda b: None, 3
    yield "the newest slot is zeros", zero(newest, 4096), 2
    yield "a bit of the newest slot's sum", flip(newest + 4095), 3
    yield "a bit of the newest slot's root", flip(newest + 86), 3
    yield "a bit of the newest slot's sequence", flip(newest + 23), 3
    yield "a bit of each slot", both(flip(newest + 86), flip(older + 86)), 3
    yield "the newest slot's sum", beyond(newest + 4095), 2
    yield "the newest slot's root", beyond(newest + 86), 2
    yield "the newest slot's sequence", beyond(newest + 23), 2
    yield "the older slot is zeros", zero(older, 4096), 3
    yield "the older slot's sum", beyond(older + 4095), 3
    yield "both sums", both(beyond(newest + 4095), beyond(older + 4095)), 3
    yield "both sums, and the newest root", both(beyond(newest + 4095), beyond(older + 4095), wipe3), 2
    yield "the newest root is zeros", wipe3, 2
    yield "a bit of the newest root", flip(r3 + n3 - 3), 2
    yield "the newest root's sequence", flip(r3 + 23), 2
    yield "the newest root and the older slot", both(wipe3, zero(older, 4096)), 0
    yield "the newest root and the older slot's sum", both(wipe3, beyond(older + 4095)), 2
    yield "the newest slot and the older root", both(zero(newest, 4096), wipe2), 0
    yield "the two newest roots", both(wipe3, wipe2), 0


def values(path):
    """/v and all names outside /lost+found that this file has."""
    done = run("dump", "--json", "--external", path)
    if done.returncode:
        return None, done.stderr
    links = json.loads(done.stdout)["root"]["members"]
    v = links.get("v", {}).get("data")
    return v, sorted(n for n in links if not n.startswith("lost+found"))


def repaired(folder, raw, name):
    global runs
    bad, new = os.path.join(folder, name), os.path.join(folder, "new.drep")
    with open(bad, "wb") as f:
        f.write(raw)
    if os.path.exists(new):
        os.unlink(new)
    runs += 1
    return run("check", "--repair=" + new, bad), new


def sound(done, new):
    """What is wrong with the new file itself."""
    wrong = done.wrong(limits.memory_bar(new)) if os.path.exists(new) else "no file: " + done.stderr
    if not wrong and ": the new file" not in done.stdout:
        checked = run("check", "--deep", new)
        wrong = checked.stdout + checked.stderr if checked.returncode else ""
    return [wrong] if wrong else []


def one(folder, image, many, name, commit, place):
    done, new = repaired(folder, image, "bad.drep")
    problems = sound(done, new)
    if problems:
        return problems
    v, names = values(new)
    known = ["user", "v"] if place is not attribute else ["v"]
    known += ["g%d" % i for i in range(8)] if many else []
    if commit and (v != [commit] or names != sorted(known)):
        return ["%r, %r, not commit %d" % (v, names, commit)]
    if not commit and (v not in (None, [0], [1], [2], [3]) or set(names) - set(known)):
        return ["%r, %r" % (v, names)]
    if done.returncode != (1 if name != "nothing" else 0):
        return ["status %d: %s" % (done.returncode, done.stdout)]
    return []


def by_hand(folder):
    for place in PLACES:
        for many in (False, True) if place in (contiguous, filtered, compact) else (False,):
            b, roots = three_commits(place, many)
            for name, raw in b.beside.items():
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(raw)
            problems, n = [], 0
            for name, change, commit in damages(roots):
                if place is external and name == "a bit of the newest root":
                    continue  # it is one of the sum of the other file's bytes
                image = bytearray(b.image())
                change(image)
                # Of several leaves the root alone is lost: what says so is still somewhere.
                wrong = one(folder, bytes(image), many, name, commit, place)
                problems += ["%s: %s" % (name, w) for w in wrong]
                n += 1
            case("%s, %s: %d damages" % (place.__name__, "several leaves" if many else "one leaf", n),
                 problems)


def at_random(folder):
    """Bytes of metadata at random: never a value that the file did not have."""
    rng = random.Random("planted")
    for many in False, True:
        problems = []
        for i in range(25):
            place = PLACES[i % len(PLACES)]
            b, _ = three_commits(place, many)
            image = bytearray(b.image())
            nodes = [at for at in range(8192, len(image) - 64, 64) if image[at:at + 4] == b"DRPB"]
            hits = rng.sample([0, 4096] + nodes[-12:], rng.randrange(1, 5))
            for at in hits:
                at += rng.randrange(0, 300)
                n = rng.choice([1, 1, 8, 64])
                image[at:at + n] = rng.randbytes(len(image[at:at + n]))
            done, new = repaired(folder, bytes(image), "bad.drep")
            if done.returncode == 4:
                continue
            wrong = sound(done, new)
            v = values(new)[0] if not wrong else None
            if wrong or v not in (None, [0], [1], [2], [3]):
                problems.append("%s, %r: %r %s" % (place.__name__, hits, v, wrong))
        case("25 files damaged at random, %s" % ("several leaves" if many else "one leaf"), problems)


# ---- files of the command

def by_command(folder):
    """A file that holds a copy of itself as it was, to which another commit was added."""
    path, copy = os.path.join(folder, "own.drep"), os.path.join(folder, "copy.drep")
    raw, schema = os.path.join(folder, "raw"), os.path.join(folder, "s.yaml")
    with open(schema, "w") as f:
        f.write("root:\n  v: {dataset: INT32_T, shape: [1]}\n"
                "  user: {dataset: UINT8_T, shape: [0], maxshape: [unlimited], chunk: [8192]}\n")

    def put(to, value):
        with open(raw, "wb") as f:
            f.write(struct.pack("=i", value))
        return run("import", "--type=INT32_T", "-u", "-i", "/v", raw, to)

    steps = [run("create", "-s", schema, path), put(path, 1)]
    with open(path, "rb") as f, open(copy, "wb") as g:
        g.write(f.read())
    steps += [put(copy, 666), put(copy, 667), put(copy, 668)]
    with open(copy, "rb") as f:
        size = len(f.read())
    steps += [run("import", "--type=UINT8_T", "-a", "-i", "/user", "--shape=%d" % size, copy, path),
              put(path, 2)]
    problems = ["%d: %s" % (i, s.stderr) for i, s in enumerate(steps) if s.returncode]
    with open(path, "rb") as f:
        data = f.read()
    slots = {struct.unpack_from(">Q", data, at + 16)[0]: at for at in (0, 4096)}
    newest, older = max(slots), min(slots)
    root, length = struct.unpack_from(">QI", data, slots[newest] + 80)
    for name, at, n, want in (
            ("nothing", 0, 0, [2]), ("the newest slot", slots[newest], 4096, [1]),
            ("the newest slot's sum", slots[newest] + 4088, 8, [1]),
            ("the older slot", slots[older], 4096, [2]), ("the newest root", root, length, [1]),
            ("a byte of the newest root", root + length - 1, 1, [1])):
        image = bytearray(data)
        image[at:at + n] = bytes(x ^ 255 for x in image[at:at + n])
        done, new = repaired(folder, bytes(image), "bad.drep")
        wrong = sound(done, new)
        if not wrong and values(new) != (want, ["user", "v"]):
            wrong = [repr(values(new)) + " " + done.stdout]
        problems += ["%s: %s" % (name, w) for w in wrong]
    case("a file that holds another version of itself", problems)


def named(folder):
    """What is found is under the name that it had, with what it held."""
    def taken(b):
        b.group(1, "lost+found")

    for name, place, group in (("", contiguous, "/lost+found"), (" of another name", taken, "")):
        b, roots = three_commits(place, False)
        image = bytearray(b.image())
        image[roots[2][0] + 23] ^= 1  # the newest leaf's sequence: its entries are as they were
        done, new = repaired(folder, bytes(image), "bad.drep")
        problems = sound(done, new)
        said = re.search('object 2, which is "(/lost.found.*)/v" now', done.stdout)
        path = said.group(1) if said else "?"
        dumped = run("dump", "--raw", new, path + "/v")
        if not problems and (dumped.stdout.encode() != struct.pack("=i", 3) or (group and path != group)):
            problems = [repr((path, done.stdout, dumped.stdout, dumped.stderr))]
        case("a commit that is not whole is in a group lost+found" + name, problems)


def main():
    with tempfile.TemporaryDirectory() as folder:
        by_hand(folder)
        at_random(folder)
        by_command(folder)
        named(folder)
    print("counted: %d repairs of files with planted nodes" % runs)
    print("1..%d" % cases)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
