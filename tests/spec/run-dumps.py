#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-dumps.py [--update] - do the dumps of records in SPEC.md (11.2) show what is in the vectors?

Each record is found by its key in a vector and taken apart field by field; the page must hold exactly
what comes out.  --update writes it into the page.  Prints TAP.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import codes as C  # noqa: E402
import reader  # noqa: E402
from reader.records import Record  # noqa: E402

BEGIN, END = "<!-- dumps: begin, written by tests/spec/run-dumps.py --update -->", "<!-- dumps: end -->"
OBJECTS = {1: "group", 2: "dataset", 3: "named datatype", 4: "dimension"}
LAYOUTS = ("none", "compact", "contiguous", "chunked")
FILLS = ("zeros", "a value", "not set")


class Pen:
    """Takes fields from the front of a record and writes a row for each."""

    def __init__(self, raw):
        self.raw, self.at, self.rows = raw, 0, []

    def left(self):
        return len(self.raw) - self.at

    def note(self, n, meaning):
        part = self.raw[self.at:self.at + n]
        assert len(part) == n, "record ends too early"
        self.at += n
        for i in range(0, max(n, 1), 16):
            self.rows.append((part[i:i + 16].hex(" "), "" if i else meaning))

    def number(self, n, meaning, names=None):
        v = int.from_bytes(self.raw[self.at:self.at + n], "big")
        self.note(n, "%s: %s" % (meaning, names[v]) if names else "%s: %d" % (meaning, v))
        return v

    def pair(self, *meanings):
        """Bytes that stand in one row."""
        values = self.raw[self.at:self.at + len(meanings)]
        self.note(len(meanings), ", ".join(
            "%s: %s" % (m[0], m[1][v]) if isinstance(m, tuple) else "%s: %d" % (m, v)
            for m, v in zip(meanings, values)))
        return values

    def var(self, meaning):
        record = Record(self.raw[self.at:], self.at, "a record")
        v = record.var()
        self.note(record.position, "%s: %s" % (meaning, "unlimited" if v == (1 << 64) - 1 else v))
        return v

    def vars(self, n, meaning):
        return [self.var("%s %d" % (meaning, i)) for i in range(n)]

    def text(self, n, meaning):
        self.note(n, '%s: "%s"' % (meaning, self.raw[self.at:self.at + n].decode()))

    def rest(self, meaning):
        if self.left():
            self.note(self.left(), meaning)


def datatype(v):
    return "TYPE %d" % (v - 65536) if v >= 65536 else C.PREDEFINED[v][0]


def type_number(p):
    before = len(p.rows)
    v = p.var("")
    p.rows[before] = (p.rows[before][0], "type: " + datatype(v))


def self_described(p, size):
    end = p.at + size
    for _ in range(p.pair("rows")[0]):
        p.pair(("format", {k: v[0] for k, v in C.FORMATS.items()}), "bytes")
    p.note(end - p.at, "items, and the heap")


def dataset(p, flags):
    type_number(p)
    p.pair("representation")
    layout, rank = p.pair(("layout", LAYOUTS), "rank")
    n = 0 if rank == 255 else rank
    p.vars(n, "length")
    if flags & 1:
        p.vars(n, "maximum")
    if flags & 2:
        p.vars(n, "dimension")
    if layout == 2:
        p.var("elements per slab")
    if layout == 3:
        p.vars(n, "chunk length")
    for _ in range(p.pair("filters")[0]):
        p.number(2, "filter")
        p.pair("flags")
        p.text(p.pair("n")[0], "name") if p.raw[p.at] else p.pair("n")
        for i in range(p.pair("parameters")[0]):
            p.number(4, "parameter")
    if p.pair(("fill", FILLS))[0] == 1:
        self_described(p, p.var("bytes of the fill value"))


def obj(p):
    kind, flags = p.pair(("kind", OBJECTS), "flags")
    p.var("hard links")
    p.var("next attribute index")
    if kind == 1:
        p.var("next creation index")
        p.var("links")
    elif kind == 2:
        dataset(p, flags)
    elif kind == 3:
        type_number(p)
    else:
        p.var("length")
        for i in range(p.number(2, "further scales")):
            p.number(8, "dataset %d" % i)


def dimension(p):
    p.pair("kind", "flags")
    p.var("creation index")
    p.var("object id")


def link(p):
    kind, _ = p.pair(("kind", {1: "hard", 2: "soft", 3: "external"}), "flags")
    p.var("creation index")
    if kind == 1:
        p.pair(("kind of the object", OBJECTS))
        p.var("object")
    if kind == 3:
        p.text(p.number(2, "n"), "file")
    if kind > 1:
        p.text(p.number(2, "n"), "path")


def attribute(p):
    p.pair("kind", "flags")
    p.var("creation index")
    type_number(p)
    p.vars(p.pair("rank")[0], "length")
    self_described(p, p.var("bytes of the value"))


def chunk(p):
    kind, flags = p.pair(("kind", {1: "plain", 2: "packed", 3: "placed"}), "flags")
    if kind == 1:
        p.number(4, "run")
        p.number(8, "offset")
        p.number(8, "size of each chunk")
        while p.left():
            p.note(20 if flags & 1 else 8, "reference to a block of sums" if flags & 1 else "sum")
        return
    rows, _ = p.pair("rows", "zero")
    p.number(4, "skipped")
    if kind == 2:
        p.number(8, "offset")
    for _ in range(rows):
        if kind == 3:
            p.number(8, "offset")
        p.number(4, "size")
        p.note(8, "sum")


def free(p):
    p.number(8, "length")
    p.number(8, "freed by commit")


def log(p):
    p.number(8, "time")
    p.number(8, "end of allocated space")
    p.note(20, "reference to the root")
    p.number(8, "next object id")


def node(p):
    """A node of a datatype record, as far as the vectors shown have it."""
    kind = p.raw[p.at]
    if kind == 1:
        p.pair("kind", "flags")
        before = len(p.rows)
        p.rows[before:] = [(p.raw[p.at:p.at + 2].hex(" "), "predefined: " + datatype(
            int.from_bytes(p.raw[p.at:p.at + 2], "big")))]
        p.at += 2
    elif kind == 3:
        p.pair(("kind", {3: "string"}), "flags")
        p.pair("padding")
        p.number(8, "size")
    elif kind == 7:
        p.pair(("kind", {7: "array"}), "flags")
        for _ in range(p.pair("rank")[0]):
            p.number(8, "dimension")
        node(p)
    elif kind == 8:
        p.pair(("kind", {8: "compound"}), "flags")
        count = p.number(4, "members")
        p.number(8, "size")
        for _ in range(count):
            p.text(p.number(2, "n"), "name")
            p.number(8, "offset")
            node(p)
    elif kind == 5:
        p.pair(("kind", {5: "enum"}), "flags")
        for _ in range(p.number(4, "values")):
            p.text(p.number(2, "n"), "name")
            p.number(8, "value")
        node(p)
    elif kind == 2:
        p.pair(("kind", {2: "scalar"}), "flags")
        p.note(8, "class, order, size, signed, format, normalisation, low and high padding")
        for what in ("precision", "offset", "sign position", "exponent position", "exponent width",
                     "significand position", "significand width"):
            p.number(2, what)
        p.pair("log2 of the base", "zero")
        p.number(8, "bias")
    else:
        p.rest("kind, flags, fields")


def datatype_record(p):
    p.number(8, "uses")
    node(p)


ROWS = {2: "EXTENTS", 3: "ENCODINGS", 4: "SCALARS", 5: "WITNESSES", 8: "MACHINE"}
TEXTS = {7: "WRITER", 8: "MACHINE"}


def header_record(p):
    """One record of the header proper, and those nested in a REP."""
    tag = p.number(2, "tag", {1: "REP", 6: "HINTS", 7: "WRITER", **ROWS})
    end = p.number(4, "length") + p.at
    if tag == 1:
        p.pair(("form", {1: "table", 2: "functions"}), "flags", "number")
        p.text(p.pair("n")[0], "name")
        while p.at < end:
            header_record(p)
    while p.at < end:
        if tag in TEXTS:
            p.text(end - p.at, "text")
        elif tag == 6:
            p.text(p.number(2, "n"), "key")
            p.text(p.number(2, "m"), "value")
        elif tag == 2:
            code = int.from_bytes(p.raw[p.at:p.at + 2], "big")
            p.note(4, "%s takes %d" % (datatype(code), p.raw[p.at + 3]))
        elif tag == 3:
            code = int.from_bytes(p.raw[p.at:p.at + 2], "big")
            row = p.raw[p.at + 2:p.at + 8]
            p.note(8, "%s: %s, order %d, size %d, align %d" % (
                datatype(code), C.FORMATS[row[0]][0], row[1], row[2], row[3]))
        elif tag == 5:
            code, k, size = p.raw[p.at + 1], p.raw[p.at + 2], p.raw[p.at + 3]
            p.note(4, "%s: %d values of %d bytes" % (datatype(code), k, size))
            p.note(k * size, "as stored")
        else:
            p.note(end - p.at, "descriptions")


def headers(vector):
    """The header proper as far as it stands in the slot."""
    image, slot = opened(vector)
    pen = Pen(slot.header)
    while pen.left():
        header_record(pen)
    return "A header proper (`%s.drep`):\n\n%s" % (vector, written(pen))


def block(p):
    p.note(4, "magic")
    kind, _ = p.pair(("kind", {1: "node", 2: "value", 3: "pending list", 4: "header continuation",
                               5: "sums"}), "level")
    p.note(2, "zeros")
    p.note(8, "UUID, first 8 bytes")
    p.number(8, "written by commit")
    p.number(4, "length of the block")
    count = p.number(4, "count")
    p.note(8, "checksum")
    for _ in range(count):
        if kind == 3:
            p.number(8, "offset")
            free(p)
        elif kind == 5:
            p.note(8, "sum")


TAGS = {"FREE": (1, free), "LOG": (2, log), "TYPE": (3, datatype_record), "OBJECT": (16, obj),
        "LINK": (32, link), "DIM": (34, dimension), "ATTR": (48, attribute), "CHUNK": (64, chunk)}

# (title, vector, tag, which entry of it: a test of the key's object, tail and value)
SHOWN = [
    ("A group", "links", "OBJECT", lambda o, t, v: o == 1),
    ("A dataset in chunks, with maxima", "chunked", "OBJECT",
     lambda o, t, v: v[0] == 2 and v[1] & 1),
    ("A contiguous dataset", "contiguous", "OBJECT", lambda o, t, v: v[0] == 2),
    ("A named datatype", "named", "OBJECT", lambda o, t, v: v[0] == 3),
    ("A dimension", "dims", "OBJECT", lambda o, t, v: v[0] == 4),
    ("A hard link", "links", "LINK", lambda o, t, v: v[0] == 1),
    ("A soft link", "links", "LINK", lambda o, t, v: v[0] == 2),
    ("An external link", "links", "LINK", lambda o, t, v: v[0] == 3),
    ("An entry of a dimension", "dims", "DIM", lambda o, t, v: True),
    ("An attribute", "attrs", "ATTR", lambda o, t, v: True),
    ("A compound, laid out", "native-i386", "TYPE", lambda o, t, v: v[8:10] == b"\x08\1"),
    ("An enum", "attrs", "TYPE", lambda o, t, v: v[8] == 5),
    ("A scalar with a description", "scalars", "TYPE", lambda o, t, v: v[8] == 2),
    ("Plain chunks", "chunked", "CHUNK", lambda o, t, v: v[:2] == b"\1\0"),
    ("Plain chunks with many sums", "chunked", "CHUNK", lambda o, t, v: v[:2] == b"\1\1"),
    ("A packed run", "runs", "CHUNK", lambda o, t, v: v[0] == 2 and 1 < v[2] < 5),
    ("A placed run", "runs", "CHUNK", lambda o, t, v: v[0] == 3 and 1 < v[2] < 5),
    ("A free extent", "second-commit", "FREE", lambda o, t, v: True),
    ("An earlier commit", "commits", "LOG", lambda o, t, v: True),
]


def opened(vector):
    with reader.File(path_of(vector)) as file, open(path_of(vector), "rb") as f:
        return f.read(), file.slot


def path_of(vector):
    return os.path.join(ROOT, "tests", "vectors", vector + ".drep")


def entries(vector):
    """All entries in the order of their keys: those of attributes stand behind the others."""
    with reader.File(path_of(vector)) as file:
        found = [entry for tags in file.tree.objects.values() for some in tags.values()
                 for entry in some]
        return [(entry.id, entry.tag, entry.tail, entry.value) for entry in found]


def tail_text(tail, tag):
    if tag in ("LINK", "DIM", "ATTR"):
        return ' "%s"' % tail.decode()
    if tag in ("FREE", "LOG", "TYPE"):
        return " %d" % int.from_bytes(tail, "big")
    if tag == "CHUNK":
        return " (%s)" % ",".join(str(int.from_bytes(tail[i:i + 8], "big"))
                                  for i in range(0, len(tail), 8))
    return ""


def written(pen):
    return "\n".join(("    %-47s  %s" % row).rstrip() for row in pen.rows) + "\n"


def pending(vector):
    image, slot = opened(vector)
    ref = slot.pending
    pen = Pen(image[ref.offset:ref.offset + ref.length])
    block(pen)
    return "A pending list (`%s.drep`, byte %d):\n\n%s" % (vector, ref.offset, written(pen))


def sums(vector):
    """The first block of sums, which begin at multiples of 64 as all blocks do."""
    image, slot = opened(vector)
    for at in range(8192, slot.end, 64):
        if image[at:at + 5] == b"DRPB\5":
            pen = Pen(image[at:at + int.from_bytes(image[at + 24:at + 28], "big")])
            block(pen)
            return "A block of sums (`%s.drep`, byte %d):\n\n%s" % (vector, at, written(pen))
    return "A block of sums: no such record in %s.drep\n" % vector


def dump(title, vector, tag, wanted):
    number, take = TAGS[tag]
    for ident, kind, tail, value in entries(vector):
        if kind == number and wanted(ident, tail, value):
            pen = Pen(value)
            take(pen)
            pen.rest("fields of later versions")
            head = "%s (`%s.drep`, object %d, %s%s):" % (title, vector, ident, tag,
                                                         tail_text(tail, tag))
            return head + "\n\n" + written(pen)
    return "%s: no such record in %s.drep\n" % (title, vector)


def main(argv):
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
        page = f.read()
    made = "\n".join([dump(*shown) for shown in SHOWN] +
                     [pending("second-commit"), sums("chunked"), headers("reps"), headers("code")])
    if argv == ["--update"]:
        page = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END),
                      lambda m: BEGIN + "\n\n" + made + "\n" + END, page, flags=re.S)
        with open(os.path.join(ROOT, "SPEC.md"), "w", encoding="utf-8") as f:
            f.write(page)
        return 0
    found = re.search(re.escape(BEGIN) + "\n\n(.*?)\n" + re.escape(END), page, flags=re.S)
    shown = set(found[1].split("\n\n")) if found else set()
    wrong = [part for part in made.rstrip("\n").split("\n\n")
             if part not in shown and part + "\n" not in shown or "no such record" in part]
    print("%sok 1 - the dumps of records in SPEC.md" % ("not " if wrong else ""))
    for line in "\n".join(wrong).splitlines()[:40]:
        print("# should be: " + line)
    print("counted: %d records shown" % (len(SHOWN) + 4))
    print("1..1")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
