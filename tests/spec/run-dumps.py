#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-dumps.py [--update] - are the dumps beside the vectors what is in the vectors?

tests/vectors/scalar.txt is a whole file, byte by byte, records.txt one record of each kind.  --update writes
them anew.  Every vector's dump (dumps.py) shows the bytes of the file at their places, and all fields of all
records that this version has.  Prints TAP.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTORS = os.path.join(ROOT, "tests", "vectors")
sys.path.insert(0, HERE)

import dumps  # noqa: E402
from tap import Tap  # noqa: E402

# (title, vector, tag, which entry of it: a test of the value)
SHOWN = [
    ("A group", "links", "OBJECT", lambda v: v[0] == 1),
    ("A dataset in chunks, with maxima", "chunked", "OBJECT", lambda v: v[0] == 2 and v[1] & 1),
    ("A contiguous dataset", "contiguous", "OBJECT", lambda v: v[0] == 2),
    ("A named datatype", "named", "OBJECT", lambda v: v[0] == 3),
    ("A dimension", "dims", "OBJECT", lambda v: v[0] == 4),
    ("A hard link", "links", "LINK", lambda v: v[0] == 1),
    ("A soft link", "links", "LINK", lambda v: v[0] == 2),
    ("An external link", "links", "LINK", lambda v: v[0] == 3),
    ("An entry of a dimension", "dims", "DIM", lambda v: True),
    ("An attribute", "attrs", "ATTR", lambda v: True),
    ("A compound, laid out", "native-i386", "TYPE", lambda v: v[8:10] == b"\x08\1"),
    ("An enum", "attrs", "TYPE", lambda v: v[8] == 5),
    ("A scalar with a description", "scalars", "TYPE", lambda v: v[8] == 2),
    ("Plain chunks", "chunked", "CHUNK", lambda v: v[:2] == b"\1\0"),
    ("Plain chunks with many sums", "chunked", "CHUNK",
     lambda v: v[0] == 1 and len(v) == 42),
    ("A packed run", "runs", "CHUNK", lambda v: v[0] == 2 and 1 < v[2] < 5),
    ("A placed run", "runs", "CHUNK", lambda v: v[0] == 3 and 1 < v[2] < 5),
    ("An external run", "external", "CHUNK", lambda v: v[0] == 4),
    ("A file that has payload", "external", "FILES", lambda v: True),
    ("A free extent", "second-commit", "FREE", lambda v: True),
    ("An earlier commit", "commits", "LOG", lambda v: True),
]
BLOCKS = [("A pending list", "second-commit", 3), ("A block of sums", "chunked", 5)]
HEADERS = ("reps", "code")
# Vectors with records of later versions, which cannot be taken apart.
LATER = ("extended", "external", "later", "later-chunks", "later-dims", "later-value", "reps-later", "version-1-3")


def image(vector):
    with open(os.path.join(VECTORS, vector + ".drep"), "rb") as f:
        return f.read()


def record(title, vector, tag, wanted):
    for key, value in dumps.File(image(vector)).entries():
        name, take = dumps.TAGS.get(dumps.tag_of(key), ("", None))
        if name == tag and wanted(value):
            pen = dumps.Pen(value)
            take(pen)
            pen.rest("fields of later versions")
            return section("%s (`%s.drep`, %s)" % (title, vector, dumps.key_text(key)), pen)
    return "%s: no such record in %s.drep\n" % (title, vector)


def section(title, pen):
    return title + ":\n\n" + "\n".join(("    %-47s  %s" % row[1:]).rstrip() for row in pen.rows) + "\n"


def block(title, vector, kind):
    """The first block of a kind; blocks begin at multiples of 64."""
    raw = image(vector)
    for at in range(8192, len(raw), 64):
        if raw[at:at + 5] == b"DRPB" + bytes([kind]):
            pen = dumps.Pen(raw[at:at + int.from_bytes(raw[at + 24:at + 28], "big")])
            dumps.whole_block(pen)
            return section("%s (`%s.drep`, byte %d)" % (title, vector, at), pen)
    return "%s: no such block in %s.drep\n" % (title, vector)


def header(vector):
    raw = image(vector)
    pen = dumps.Pen(raw[256:256 + int.from_bytes(raw[12:16], "big")])
    dumps.header_records(pen)
    return section("A header proper (`%s.drep`)" % vector, pen)


def pages():
    records = [record(*shown) for shown in SHOWN] + [block(*b) for b in BLOCKS] + [header(h) for h in HEADERS]
    return {"records.txt": "\n".join(records), "scalar.txt": dumps.dump(image("scalar"))}


def kept(name, page):
    try:
        with open(os.path.join(VECTORS, name), encoding="utf-8") as f:
            old = f.read().splitlines()
    except FileNotFoundError:
        old = []
    new = page.splitlines()
    if "no such" in page:
        yield next(line for line in new if "no such" in line)
    for n, (a, b) in enumerate(zip(old + [None] * len(new), new + [None] * len(old)), 1):
        if a != b:
            yield "%s, line %d: run-dumps.py --update would write `%s`" % (name, n, b)
            return


def true_to(vector):
    """The dump shows the bytes of the file at their places, and knows each record."""
    raw, shown = image(vector), 0
    for line in dumps.dump(raw).splitlines():
        found = re.match(r" *(\d+)  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)", line)
        if found:
            at, data = int(found[1]), bytes.fromhex(found[2])
            shown += len(data)
            if raw[at:at + len(data)] != data:
                yield "%s.drep: byte %d is not `%s`" % (vector, at, found[2])
        if re.search("cannot be taken apart|not taken apart", line) and vector not in LATER:
            yield "%s.drep: %s" % (vector, line.strip())
    if shown < 200:
        yield "%s.drep: only %d bytes are shown" % (vector, shown)


def main(argv):
    made = pages()
    if argv == ["--update"]:
        for name, page in made.items():
            with open(os.path.join(VECTORS, name), "w", encoding="utf-8") as f:
                f.write(page)
        return 0
    vectors = sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(VECTORS, "*.drep")))
    tap = Tap()
    for name, page in made.items():
        tap.run("tests/vectors/" + name, kept, name, page)
    tap.run("dumps of all vectors", lambda: (line for v in vectors for line in true_to(v)))
    print("counted: %d records shown, %d vectors" % (len(SHOWN) + len(BLOCKS) + len(HEADERS), len(vectors)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
