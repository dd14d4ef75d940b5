# SPDX-License-Identifier: MIT
"""Annotated dumps of Datarep files: `offset  bytes  meaning`, each field of each record that a commit uses.

dump(bytes) takes a file apart from its slots on, without believing it: bytes that cannot be taken apart
are shown as they are, so that broken files have dumps too.  The readers are others (reader/, lib/); this
program checks nothing.
"""
import codes as C
from reader.records import Record

SLOT, HEAD, SHOWN = 4096, 40, 64  # bytes: of a slot, of a block's header; of a payload that are shown
OBJECTS = {1: "group", 2: "dataset", 3: "named datatype", 4: "dimension"}
LAYOUTS = ("none", "compact", "contiguous", "chunked")
FILLS = ("zeros", "a value", "not set")


class Pen:
    """Takes fields from the front of some bytes and writes a row for each."""

    def __init__(self, raw, origin=0):
        self.raw, self.at, self.rows, self.origin = raw, 0, [], origin

    def left(self):
        return len(self.raw) - self.at

    def note(self, n, meaning):
        part = self.raw[self.at:self.at + n]
        assert len(part) == n, "record ends too early"
        for i in range(0, max(n, 1), 16):
            self.rows.append((self.origin + self.at + i, part[i:i + 16].hex(" "), "" if i else meaning))
        self.at += n

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
        if self.left() > 0:
            self.note(self.left(), meaning)


def datatype(v):
    return "TYPE %d" % (v - 65536) if v >= 65536 else C.PREDEFINED[v][0]


def type_number(p):
    before = len(p.rows)
    v = p.var("")
    p.rows[before] = p.rows[before][:2] + ("type: " + datatype(v),)


def self_described(p, size):
    end = p.at + size
    for _ in range(p.pair("rows")[0]):
        p.pair(("format", {k: v[0] for k, v in C.FORMATS.items()}), "bytes")
    p.note(end - p.at, "items, and the heap")


def dataset(p, flags):
    p.var("changed")
    type_number(p)
    p.var("representation")
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
        p.pair("dimensions of the suffix")
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
    kind, flags = p.pair(("kind", {1: "plain", 2: "packed", 3: "placed", 4: "external"}), "flags")
    if kind == 1:
        p.number(4, "run")
        p.number(8, "offset")
        p.number(8, "size of each chunk")
        run, size = (int.from_bytes(p.raw[at:at + n], "big") for at, n in ((2, 4), (14, 8)))
        far = run * -(-size // 4096) > 4
        while p.left():
            p.note(20 if far else 8, "reference to a block of sums" if far else "sum")
        return
    rows, _ = p.pair("rows", "zero")
    p.number(4, "skipped")
    if kind == 2:
        p.number(8, "offset")
    if kind == 4:
        p.number(4, "file")
    for _ in range(rows):
        if kind > 2:
            p.number(8, "offset")
        p.number(4, "size")
        p.note(8, "sum")


def free(p):
    p.number(8, "length")
    p.number(8, "freed by commit")


def target(p):
    p.pair(("kind", {1: "path", 2: "URI"}), "flags")
    p.text(p.number(2, "n"), "name")
    p.number(8, "size of the file")
    p.note(8, "sum of its head")
    p.number(8, "time")
    p.text(p.number(2, "m"), "version of the file")


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
        p.note(2, "predefined: " + datatype(int.from_bytes(p.raw[p.at:p.at + 2], "big")))
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
        p.pair(("form", {1: "table", 2: "functions"}), "flags")
        p.number(2, "number")
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



def slot(p):
    p.note(8, "magic")
    p.note(4, "version %d.%d" % (p.raw[9], p.raw[11]))
    size = p.number(4, "H, bytes of header proper")
    p.number(8, "sequence")
    p.note(16, "UUID")
    for what in ("incompatible", "write-incompatible", "compatible"):
        p.number(8, what + " features")
    p.number(8, "end of allocated space")
    p.number(8, "time of the commit, nanoseconds")
    found = []
    for what in ("root", "pending list", "header continuation"):
        found.append(reference(p, what))
    p.number(8, "offset of the metadata extent")
    p.number(8, "its length")
    p.number(8, "next object id")
    p.number(4, "next datatype number")
    p.at = 256
    header(p, 256 + size)
    p.at = SLOT - 8
    p.note(8, "sum of bytes 0 to 4087")
    return found


def header(p, end):
    part = Pen(p.raw[p.at:min(end, SLOT - 8)], p.origin + p.at)
    attempt(header_records, part)
    p.rows += part.rows
    p.at = end


def header_records(p):
    while p.left():
        header_record(p)


def reference(p, what):
    offset, length = (int.from_bytes(p.raw[p.at + a:p.at + b], "big") for a, b in ((0, 8), (8, 12)))
    p.note(20, "%s: %s" % (what, "%d bytes at %d" % (length, offset) if length else "none"))
    return offset, length


def attempt(function, p, *args):
    """Take bytes apart as far as they can be."""
    try:
        return function(p, *args)
    except Exception as e:  # of a broken file, whatever it is
        p.rest("cannot be taken apart: %s" % (e or type(e).__name__))
        return None


BLOCKS = {1: "node", 2: "value", 3: "pending list", 4: "header continuation", 5: "sums"}


def block(p):
    p.note(4, "magic")
    kind, level = p.pair(("kind", BLOCKS), "level")
    p.note(2, "zeros")
    p.note(8, "UUID, first 8 bytes")
    p.number(8, "written by commit")
    p.number(4, "length of the block")
    count = p.number(4, "count")
    p.note(8, "checksum")
    return kind, level, count


def whole_block(p):
    """A block that is no node."""
    kind, level, count = block(p)
    if kind == 4:
        attempt(header_records, p)
    for _ in range(count if kind in (3, 5) else 0):
        attempt(pending if kind == 3 else sum_of, p)


def pending(p):
    p.number(8, "offset")
    free(p)


def sum_of(p):
    p.note(8, "sum")


TAGS = {1: ("FREE", free), 2: ("LOG", log), 3: ("TYPE", datatype_record), 4: ("FILES", target), 16: ("OBJECT", obj),
        24: ("DATA", None), 32: ("LINK", link), 34: ("DIM", dimension), 48: ("ATTR", attribute), 64: ("CHUNK", chunk),
        80: ("USER", None)}


def tag_of(key):
    """The tag of a key; None: the key is short, -1: it is of another version's or an application's."""
    if len(key) < 10:
        return None
    return key[9] if key[0] <= 1 else -1


def key_text(key):
    """A key in words: the object, the tag, the tail."""
    number, tag, tail = int.from_bytes(key[1:9], "big"), tag_of(key), key[10:]
    name = TAGS.get(tag, ("tag %d" % key[9], None))[0]
    if name in ("LINK", "DIM", "ATTR"):
        shown = ' "%s"' % tail.decode("utf-8", "backslashreplace")
    elif name in ("FREE", "LOG", "TYPE", "FILES"):
        shown = " %d" % int.from_bytes(tail, "big")
    else:
        shown = " (%s)" % ",".join(str(int.from_bytes(tail[i:i + 8], "big")) for i in range(0, len(tail), 8)) if tail else ""
    return "space %d, object %d, %s%s" % (key[0], number, name, shown)


class File:
    def __init__(self, raw):
        self.raw, self.out, self.done = raw, [], set()
        self.found = []  # entries: (key, value)
        self.work = []  # blocks still to be shown: (offset, length, key of the value or None)
        self.payload = []  # (offset, size, whose)

    def show(self, title, pen):
        self.out.append(title)
        self.out += [("%8d  %-47s  %s" % row).rstrip() for row in pen.rows]
        self.out.append("")

    def slots(self):
        places = [("slot A", 0), ("slot B", SLOT)]
        if len(self.raw) > 3 * SLOT and self.raw[40:48] == bytes(7) + b"\1":
            places.append(("slot at the end", len(self.raw) - SLOT))
        for name, at in places:
            raw = self.raw[at:at + SLOT]
            if not any(raw):
                self.out += ["%s: zeros" % name, ""]
                continue
            pen = Pen(raw, at)
            found = attempt(slot, pen) or []
            self.show(name, pen)
            self.work += [(offset, length, None) for offset, length in found if length]

    def block(self, offset, length, key):
        pen = Pen(self.raw[offset:offset + length], offset)
        head = attempt(block, pen)
        title = "block at %d: %s" % (offset, BLOCKS.get(head[0], "?") if head else "?")
        if head and head[0] == 1:
            attempt(self.node, pen, head[1], head[2])
        elif head and head[0] == 2 and key is not None:
            title += " of %s" % key_text(key)
            self.value(pen, key, pen.left())
        elif head:
            pen = Pen(pen.raw, offset)
            whole_block(pen)
        pen.rest("not taken apart")
        self.show(title, pen)

    def node(self, p, level, count):
        key = b""
        for _ in range(count):
            head = int.from_bytes(p.raw[p.at:p.at + 4], "big")
            shared, suffix, value, far = head >> 24, head >> 13 & 0x7ff, head >> 1 & 0xfff, head & 1
            p.note(4, "shared %d, suffix %d, value %d, far %d" % (shared, suffix, value, far))
            key = key[:shared] + p.raw[p.at:p.at + suffix]
            p.note(suffix, key_text(key) if tag_of(key) is not None else "key")
            if level or far:
                offset, length = reference(p, "child" if level else "value")
                self.work.append((offset, length, None if level else key))
            else:
                self.value(p, key, value)

    def value(self, p, key, size):
        tag = TAGS.get(tag_of(key), ("", None))
        self.found.append((key, p.raw[p.at:p.at + size]))
        part = Pen(p.raw[p.at:p.at + size], p.origin + p.at)
        if tag[1]:
            attempt(tag[1], part)
            part.rest("fields of later versions")
        elif size:
            part.rest("payload" if tag[0] == "DATA" else "value")
        if tag[0] == "CHUNK":
            self.chunk(part.raw, key)
        p.rows += part.rows
        p.at += size

    def chunk(self, raw, key):
        """Where the payload of a record is, and blocks of its sums."""
        try:
            rows, sums = places(raw)
        except (IndexError, ValueError):
            return
        self.payload += [(offset, size, "payload of %s" % key_text(key)) for offset, size in rows]
        self.work += [(offset, length, None) for offset, length in sums]

    def entries(self):
        """Keys and values, in the order in which the blocks are shown."""
        self.text()
        return self.found

    def text(self):
        self.slots()
        while self.work:
            offset, length, key = self.work.pop(0)
            if offset not in self.done and offset < len(self.raw):
                self.done.add(offset)
                self.block(offset, length, key)
        for offset, size, whose in sorted(set(self.payload)):
            pen = Pen(self.raw[offset:offset + min(size, SHOWN)], offset)
            pen.rest("")
            more = " (the first %d)" % SHOWN if size > SHOWN else ""
            self.show("%s, %d bytes%s" % (whose, size, more), pen)
        return "\n".join(self.out)


def places(raw):
    """({(offset, size)} of a chunk record's payload, those of its blocks of sums)."""
    def number(at, size):
        if at + size > len(raw):
            raise ValueError("record ends too early")
        return int.from_bytes(raw[at:at + size], "big")

    if raw[0] == 1:
        run, offset, size = number(2, 4), number(6, 8), number(14, 8)
        far = range(22, len(raw) - 19, 20) if raw[1] & 1 else ()
        return [(offset, run * size)], [(number(at, 8), number(at + 8, 4)) for at in far]
    if raw[0] == 2:
        return [(number(8, 8), sum(number(16 + 12 * i, 4) for i in range(raw[2])))], []
    if raw[0] == 3:
        return [(number(8 + 20 * i, 8), number(16 + 20 * i, 4)) for i in range(raw[2])], []
    return [], []


def dump(raw):
    return File(raw).text()
