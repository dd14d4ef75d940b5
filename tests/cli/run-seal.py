#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# needs: deflate
"""run-seal.py - `datarep check --seal --external`: chunks in other files get the checksums that they lack.

The files come from the writer of tests/spec, the sums must be those that libxxhash gives for the bytes of the
sources, and the reader of tests/spec says what is stored.  TAP on stdout.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../spec"), os.path.join(HERE, "../interop")]
import borrowed  # noqa: E402
import cases  # noqa: E402
import reader  # noqa: E402
from cases import case, check, must, run  # noqa: E402
from drepwrite import Builder, u64  # noqa: E402

TIME = 1700000000
ROW, HEAD = 20, 12  # bytes: of a row of an external record, of what stands before the rows
FLAG, TAIL = 0x20, b"said by a later version"


def without(rows):
    """Takes the sums of these rows out of a record, and sets a flag that means nothing to anybody."""
    def edit(record):
        raw = bytearray(record)
        raw[1] |= FLAG
        for i in rows:
            at = HEAD + ROW * i + 12
            raw[at:at + 8] = u64(0)
        return bytes(raw)
    return edit


def write(path, image, time=TIME):
    with open(path, "wb") as f:
        f.write(image)
    os.utime(path, (time, time))


def joined(folder, name="joined.drep"):
    """Two datasets of two sources; all rows but one lack their sums.  Gives the bytes of each row."""
    b = Builder()
    stored = {}
    for k, (title, filters) in enumerate((("filtered", [("shuffle", [4]), ("deflate", [1])]), ("plain", []))):
        d = b.dataset(1, title, "INT", (5, 6), "chunked", (1, 6), filters)
        values = [[100 * k + 10 * i + j * j for j in range(6)] for i in range(5)]
        rows = [b.encoded(d, v) if filters else b.payload("INT", v)[0] for v in values]
        front = b"what belongs to %d" % k
        target = b.target("source%d.bin" % k, front + b"".join(rows), time=TIME)
        at = [len(front) + sum(map(len, rows[:i])) for i in range(5)]
        b.pointed(d, (0, 0), target, list(zip(at[:3], rows[:3])), edit=without((0, 2)), tail=TAIL)
        b.pointed(d, (3, 0), target, list(zip(at[3:], rows[3:])), edit=without((0, 1)))
        stored[title] = rows
    b.commit()
    write(os.path.join(folder, name), b.image())
    for other, content in b.beside.items():
        write(os.path.join(folder, other), content)
    return stored


def records(path):
    """The records of the chunks of each dataset, and the sums in them."""
    with reader.File(path, external=True) as f:
        found = {}
        for ident, name in ((2, "filtered"), (3, "plain")):
            found[name] = ([e.value for e in f.tree.of(ident, 64)],
                           [row.sums for r in f.datasets[ident].records for row in r.rows])
        return f.sequence, found


def values(path):
    return json.loads(must("dump", "--json", "--external", path))["root"]


def bare(record):
    """A record without its sums."""
    return without(range(record[2]))(record)


@case
def sums(d):
    """the sums are those of the sources' bytes, in one commit, and nothing else changes"""
    drep = d + "/joined.drep"
    stored = joined(d)
    out = must("check", "--external", drep)
    check(out.count("blocks without a checksum: 4; datarep check --seal --external") == 2, "%s", out)
    before, old = records(drep)
    was = values(drep)
    out = must("check", "--seal", "--external", drep)
    check("8 blocks sealed\n" in out and out.endswith(": ok, 5 chunks not decoded\n"), "%s", out)
    after, new = records(drep)
    check(after == before + 1, "commit %d follows %d", after, before)
    for name, rows in stored.items():
        want = [borrowed.xxh3(row) for row in rows]
        check(new[name][1] == want, "%s: %r, not %r", name, new[name][1], want)
        check(list(map(bare, new[name][0])) == list(map(bare, old[name][0])), "%s: more than sums", name)
        check(new[name][0][0].endswith(TAIL) and new[name][0][0][1] == FLAG, "%s: lost what it does not know", name)
    check(values(drep) == was, "other values")
    # What has its sums needs the time no more, and is not sealed again.
    os.utime(d + "/source0.bin", (5, 5))
    check("0 blocks sealed" in must("check", "--seal", "--external", drep), "sealed twice")
    check("0 blocks sealed" in must("check", "--seal", drep), "nothing is read")
    check(records(drep)[0] == after, "a commit of nothing")


def unchanged(d, words, *options):
    """Sealing fails, says why, and leaves the file as it is."""
    drep = d + "/joined.drep"
    before = records(drep)
    status, out, err = run("check", "--seal", "-q", *options, drep)
    check(status not in (0, 1, None) and "sealed" not in out, "status %s: %s", status, out)
    for word in words:
        check(word in err, "no %r in %s", word, err)
    check(records(drep) == before, "the file has changed")


@case
def refused(d):
    """a source that may not be read, or is not the recorded one, is named, and nothing is sealed"""
    joined(d)
    source = d + "/source1.bin"
    where = '/plain: chunk (0,0): '
    unchanged(d, ['/filtered: chunk (0,0): ', '"source0.bin"', "--external"])
    content = open(source, "rb").read()
    os.utime(source, (TIME + 1, TIME + 1))
    unchanged(d, [where, "source1.bin", "its time"], "--external")
    write(source, content + b"x")
    unchanged(d, [where, "source1.bin", "bytes"], "--external")
    write(source, b"W" + content[1:])
    unchanged(d, [where, "source1.bin", "have changed"], "--external")
    os.unlink(source)
    unchanged(d, [where, "source1.bin"], "--external")
    os.symlink("source0.bin", source)
    unchanged(d, [where, "source1.bin", "symbolic link"], "--external")
    os.unlink(source)
    write(source, content)
    must("check", "--seal", "--external", d + "/joined.drep")


@case
def hostile(d):
    """rows that claim more than they can have are not read"""
    for name, rows, words in (
            ("often", [(0, 4000)] * 96, ["16 times", "R8.48"]),
            ("outside", [(3990, 11)], ["R8.47"]),
            ("no time", [(0, 16)], ["its time"]),
            ("URI", [(0, 16)], ["chunk (0,0)", "drep_external_urls"])):
        b = Builder()
        c = b.dataset(1, "d", "UINT8_T", (96, 4000), "chunked", (1, 4000))
        uri = name == "URI"
        target = b.target("https://example.org/x.bin" if uri else "x.bin", bytes(4000), kind=1 + uri,
                          time=0 if name == "no time" else TIME)
        b.pointed(c, (0, 0), target, [(at, bytes(n)) for at, n in rows], edit=without(range(len(rows))))
        b.commit()
        write(d + "/x.bin", bytes(4000))
        write(d + "/x.drep", b.image())
        status, _, err = run("check", "--seal", "--external", "-q", d + "/x.drep")
        check(status not in (0, 1, None) and all(w in err for w in words), "%s: status %s: %s", name, status, err)


def source(folder, spoil):
    """A container with filtered chunks and where each is; spoil: its sums are wrong by one bit."""
    b = Builder()
    d = b.dataset(1, "v", "INT", (4, 6), "chunked", (1, 6), [("deflate", [1])])
    rows = [b.encoded(d, [i * j for j in range(6)]) for i in range(4)]

    def wrong(at, step, n):
        def edit(record):
            raw = bytearray(record)
            for i in range(n if spoil else 0):
                raw[at + step * i + 7] ^= 1
            return bytes(raw)
        return edit

    b.packed(d, (0, 0), rows, edit=wrong(16 + 4, 12, 4))
    at = b.image().index(rows[0] + rows[1])
    write(folder + "/source.drep", (b.commit(), b.image())[1])
    places = [at + sum(map(len, rows[:i])) for i in range(4)]
    return b.image(), list(zip(places, rows))


@case
def of_a_container(d):
    """a source that is a container gives the sums that it has; other bytes of it are read"""
    for spoil in (False, True):
        image, rows = source(d, spoil)
        b = Builder()
        c = b.dataset(1, "v", "INT", (5, 6), "chunked", (1, 6), [("deflate", [1])])
        target = b.target("source.drep", image, time=TIME)
        both = (rows[0][0], rows[0][1] + rows[1][1])  # exactly no chunk of the source
        b.pointed(c, (0, 0), target, [*rows, both], edit=without(range(5)))
        b.commit()
        write(d + "/joined.drep", b.image())
        status, out, err = run("check", "--seal", "--external", d + "/joined.drep")
        check("5 blocks sealed" in out and status == int(spoil), "status %s: %s%s", status, out, err)
        with reader.File(d + "/joined.drep") as f:
            got = [row.sums for r in f.datasets[2].records for row in r.rows]
        want = [borrowed.xxh3(row) ^ spoil for _, row in rows] + [borrowed.xxh3(both[1])]
        check(got == want, "%r, not %r", got, want)
        # What the source promises and has not is found by whoever reads it.
        check(out.count("have changed") == 4 * spoil, "%s", out)


if __name__ == "__main__":
    sys.exit(cases.main())
