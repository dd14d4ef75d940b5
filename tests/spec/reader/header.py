# SPDX-License-Identifier: MIT
"""The header proper: representations and hints (SPEC.md 3)."""

from . import scalars
from .codes import PREDEFINED
from .errors import Beyond, Newer, ReadError, limit, need
from .records import Record

MAX_HEADER = 1 << 20
REP, EXTENTS, ENCODINGS, SCALARS, WITNESSES, HINTS, WRITER, MACHINE = range(1, 9)
# Functions of representations of form 2, by name: (code, stored bytes) -> value (R3.11).
FUNCTIONS = {}
WITNESS_COUNT = {"integer": 3, "char": 3, "wchar": 3, "real": 5, "complex": 5, "bool": 2,
                 "bytes": 0}


def records(data, offset, rule):
    """The records {tag, length, content} that fill `data` exactly (R3.1, R3.6)."""
    position = 0
    while position < len(data):
        need(position + 6 <= len(data), rule, offset + position, "a record of the header is cut")
        tag = int.from_bytes(data[position:position + 2], "big")
        length = int.from_bytes(data[position + 2:position + 6], "big")
        position += 6
        need(position + length <= len(data), rule, offset + position,
             "record %d of the header has more bytes than are there" % tag)
        yield tag, Record(data[position:position + length], offset + position,
                          "record %d of the header" % tag)
        position += length


def ascending(codes, offset, what):
    for before, code in zip(codes, codes[1:]):
        need(before < code, "R3.16", offset, "%s: code %d follows %d" % (what, code, before))


class Representation:
    """One REP record (3.1)."""

    def __init__(self, record):
        self.offset = record.offset
        self.form, self.flags, self.number = record.u8(), record.u8(), record.u16()
        count = record.u8()
        need(1 <= count, "R3.7", record.here, "a representation's name has no bytes")
        self.name = record.text(count, "name of a representation")
        self.extents, self.encodings, self.descriptions = {}, None, []
        self.machine, self.witnesses = "", None
        self.unreadable = self.form not in (1, 2) or bool(self.flags & 15)
        try:
            limit(count, 127, "R3.7", "a representation's name has %d bytes" % count)
        except Beyond:
            self.name, self.unreadable = "", True
        if not self.unreadable:
            self._nested(record)
            self._check()

    @property
    def form_name(self):
        return {1: "table", 2: "code"}.get(self.form, "unknown")

    def _nested(self, record):
        found = {}
        start = record.here
        for tag, nested in records(record.bytes(record.left), start, "R3.6"):
            need(tag not in found, "R3.6", nested.offset, "tag %d occurs twice in a REP" % tag)
            found[tag] = nested
        if SCALARS in found:
            self._scalars(found[SCALARS])
        if ENCODINGS in found:
            self._encodings(found[ENCODINGS])
        if EXTENTS in found:
            self._extents(found[EXTENTS])
        if WITNESSES in found:
            self._witnesses(found[WITNESSES])
        if MACHINE in found:
            self.machine = found[MACHINE].text(found[MACHINE].left, "machine")

    def _scalars(self, record):
        need(record.left % 32 == 0, "R3.22", record.offset, "SCALARS holds a part of a description")
        while record.left:
            offset = record.here
            try:
                self.descriptions.append(scalars.description(record.bytes(32), offset))
            except Newer as newer:
                self.descriptions.append(newer)

    def _encodings(self, record):
        need(record.left % 8 == 0, "R1.6", record.offset, "ENCODINGS holds a part of a row")
        rows = [Record(record.bytes(8), record.here - 8, "a row of ENCODINGS")
                for _ in range(record.left // 8)]
        ascending([int.from_bytes(row.data[:2], "big") for row in rows], record.offset,
                  "ENCODINGS")
        self.encodings = {}
        for row in rows:
            code = row.u16()
            if code in PREDEFINED:
                try:
                    self.encodings[code] = self._row(code, row)
                except Newer as newer:
                    self.encodings[code] = newer

    def _row(self, code, row):
        datatype = PREDEFINED[code]
        form, order, size, align, custom, zero = row.data[2:]
        at = row.offset
        need(zero == 0, "R3.20", at + 7, "the last byte of a row is not 0")
        need(align in (1, 2, 4, 8, 16), "R3.20", at + 5, "an alignment of %d" % align)
        need(1 <= size and (size == 1 or datatype.kind != "bytes"), "R3.18", at + 4, "%s has %d bytes" % (datatype.name, size))
        scalars.size_limits(scalars.FORMATS[form].kind if form in scalars.FORMATS else "", size, "R3.18")
        part = size
        if datatype.kind == "complex":
            need(size % 2 == 0, "R3.18", at + 4, "a complex of %d bytes" % size)
            part = size // 2
        described = None
        if form == scalars.CUSTOM:
            need(custom < len(self.descriptions), "R3.21", at + 6, "SCALARS has no description %d"
                 % custom)
            described = self.descriptions[custom]
            if isinstance(described, Newer):
                raise described
            need(described.size == part, "R3.21", at + 4,
                 "%s and its description differ in size" % datatype.name)
            form_class, order = described.class_name, described.order
        else:
            if form not in scalars.FORMATS:
                raise Newer("format %d" % form)
            form_class = scalars.FORMATS[form].kind
        need(scalars.suits(form_class, datatype.kind), "R3.19", at + 2,
             "%s is stored as a format of class %s" % (datatype.name, form_class))
        if order > 2:
            raise Newer("byte order %d" % order)
        if described is None:
            need(scalars.size_fits(form, part), "R3.18", at + 4, "format %d has no size of %d bytes"
                 % (form, part))
        need(order != 2 or part == 1 or part % 2 == 0, "R3.17", at + 3,
             "VAX order with an odd size")
        return scalars.Encoding(form, order, size, datatype.kind, described, align)

    def _extents(self, record):
        need(record.left % 4 == 0, "R1.6", record.offset, "EXTENTS holds a part of a row")
        rows = [(record.u16(), record.u16(), record.here - 4) for _ in range(record.left // 4)]
        ascending([code for code, _, _ in rows], record.offset, "EXTENTS")
        for code, size, offset in rows:
            if code not in PREDEFINED:
                continue
            need(size >= 1, "R3.14", offset, "%s has an extent of 0" % PREDEFINED[code].name)
            self.extents[code] = size
            if self.form == 1:
                try:
                    encoding = self.encoding(code)
                except Newer:
                    continue
                need(encoding.size == size, "R3.14", offset, "EXTENTS gives %s %d bytes, its "
                     "encoding %d" % (PREDEFINED[code].name, size, encoding.size))

    def _witnesses(self, record):
        codes = []
        self.witnesses = {}
        while record.left:
            at = record.here
            code, count, size = record.u16(), record.u8(), record.u8()
            values = record.bytes(count * size)
            codes.append(code)
            if code in PREDEFINED:
                datatype = PREDEFINED[code]
                need(self.extents.get(code) == size, "R3.23", at,
                     "the witnesses of %s do not have the size of EXTENTS" % datatype.name)
                need(count <= WITNESS_COUNT[datatype.kind], "R3.23", at,
                     "%s has %d witnesses" % (datatype.name, count))
                self.witnesses[code] = values
        ascending(codes, record.offset, "WITNESSES")

    def _check(self):
        if self.form == 1:
            predefined = self.name in ("external32", "internal")
            need(predefined == (self.encodings is None), "R3.9", self.offset,
                 "%s %s ENCODINGS" % (self.name, "has" if predefined else "has no"))

    def encoding(self, code):
        """How elements of a predefined datatype are stored (R3.9)."""
        if self.encodings is None:
            return scalars.predefined(code, self.name == "internal")
        need(code in self.encodings, "R3.14", self.offset, "%s has no encoding of %s"
             % (self.name, PREDEFINED[code].name))
        found = self.encodings[code]
        if isinstance(found, Newer):
            raise found
        return found


class Header:
    """All records of the header proper."""

    def __init__(self, parts):
        """`parts` are pairs of bytes and their place: the slot's and the continuation's."""
        data = b"".join(part for part, _ in parts)
        offset = parts[0][1]
        limit(len(data), MAX_HEADER, "R3.2", "the header proper has %d bytes" % len(data))
        self.representations, self.hints, self.writer = {}, {}, ""
        seen = set()
        for tag, record in records(data, offset, "R3.1"):
            if tag == REP:
                self._representation(record)
                continue
            need(self.representations, "R3.4", record.offset, "the first record is not a REP")
            need(tag not in seen, "R3.4", record.offset, "tag %d occurs twice" % tag)
            seen.add(tag)
            if tag == HINTS:
                self._hints(record)
            elif tag == WRITER:
                self.writer = record.text(record.left, "writer")
        need(self.representations, "R3.4", offset, "the header has no representation")

    def _representation(self, record):
        rep = Representation(record)
        highest = max(self.representations, default=-1)
        need(rep.number > highest and (self.representations or rep.number == 0), "R3.4",
             record.offset, "representation %d is out of order" % rep.number)
        self.representations[rep.number] = rep

    def _hints(self, record):
        before = None
        while record.left:
            at = record.here
            count = record.u16()
            need(1 <= count <= 255, "R3.26", at, "a hint's key has %d bytes" % count)
            key = record.text(count, "key of a hint")
            count = record.u16()
            need(1 <= count <= 4096, "R3.26", at, "a hint's value has %d bytes" % count)
            self.hints[key] = record.text(count, "value of a hint")
            need(before is None or before < key.encode(), "R3.26", at, "the hint %r is out of order"
                 % key)
            before = key.encode()

    def number_hint(self, key):
        """A hint's decimal number, or None (R3.27)."""
        text = self.hints.get(key, "")
        if text.isascii() and text.isdigit() and len(text) <= 20:
            return int(text)
        return None

    def representation(self, number, offset):
        if number not in self.representations:
            raise ReadError("R8.4", offset, "the file has no representation %d" % number)
        return self.representations[number]
