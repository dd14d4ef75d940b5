# SPDX-License-Identifier: MIT
"""Elements in the file: sizes, items, contents of the heap (SPEC.md 5.6)."""

from . import datatypes as T
from . import scalars, text
from .codes import PREDEFINED
from .errors import Newer, limit, need
from .records import Record


class Codec:
    """How the items of a payload are stored; `encoding` gives that of a code."""

    def __init__(self, encoding, packed=False):
        self.encoding, self.packed = encoding, packed
        self._sizes = {}

    def size(self, t):
        """The stored size of a type (R5.28)."""
        if t not in self._sizes:
            self._sizes[t] = self._size(t)
        return self._sizes[t]

    def _size(self, t):
        if t.kind == T.CODE:
            return self.encoding(t.code).size
        if t.kind == T.SCALAR:
            return t.scalar.size
        if t.kind in (T.STRING, T.OPAQUE):
            return t.size
        if t.kind in (T.ENUM, T.BOOLEAN):
            return self.size(t.base)
        if t.kind == T.ARRAY:
            total = self.size(t.base)
            for length in t.dims:
                total *= length
            limit(total, T.LIMIT, "R5.11", "an array of more than 2^62 bytes")
            return total
        if t.kind == T.COMPOUND:
            if self.packed:
                return sum(map(self.size, t.children))
            self._laid_out(t)
            return t.size
        if t.kind == T.REFERENCE:
            return 24 if t.what else 8
        return 16

    def _laid_out(self, t):
        """R5.18."""
        spans = sorted((offset, offset + self.size(child))
                       for offset, child in zip(t.offsets, t.children))
        need(spans[-1][1] <= t.size and all(end <= t.size for _, end in spans), "R5.18", t.offset,
             "a member lies outside its compound")
        need(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), "R5.18", t.offset,
             "members of a compound overlap")

    def places(self, t, start):
        """The members of a compound and where they begin."""
        for number, child in enumerate(t.children):
            yield child, start if self.packed else start + t.offsets[number]
            if self.packed:
                start += self.size(child)


class Payload:
    """Elements of one type: `data` holds the fixed parts, then from `heap` on the contents."""

    def __init__(self, codec, t, data, heap, offset, path_of):
        self.codec, self.type, self.data, self.heap = codec, t, data, heap
        self.offset, self.path_of = offset, path_of
        self.named, self.contents = 0, []

    def check(self, starts):
        """The contents that the elements at `starts` name: R5.32 to R5.35."""
        if not self.type.variable:
            return
        work = [(self.type, start) for start in starts]
        while work:
            t, at = work.pop()
            if t.kind == T.ARRAY and t.variable:
                size, count = self.codec.size(t.base), self.codec.size(t)
                work.extend((t.base, place) for place in range(at, at + count, size))
            elif t.kind == T.COMPOUND:
                work.extend(self.codec.places(t, at))
            elif t.kind in (T.VSTRING, T.SEQUENCE) or t.kind == T.REFERENCE and t.what:
                work.extend(self._content(t, at))
        self._overlaps()

    def _content(self, t, at):
        """One content is counted and remembered; what it may name in turn is returned."""
        begin, end, count = self.span(t, at)
        if not count:
            return []
        self.named += end - begin
        limit(self.named, 16 * (len(self.data) - self.heap), "R5.34",
              "contents are named more often than 16 times the heap")
        if t.kind != T.SEQUENCE:
            need(t.kind == T.VSTRING or b"\0" not in self.data[begin:end], "R5.35", self.offset,
                 "the text of a region has a NUL")
            self.contents.append((begin, end, b""))
            return []
        base = t.base
        self.contents.append((begin, end, None if base.variable else base.raw))
        if not base.variable:
            return []
        return [(base, place) for place in range(begin, end, self.codec.size(base))]

    def _overlaps(self):
        self.contents.sort(key=lambda content: content[:2])
        for one, two in zip(self.contents, self.contents[1:]):
            shared = one == two and one[2] is not None
            need(shared or one[1] <= two[0], "R5.33", self.offset, "two contents overlap")

    def span(self, t, at):
        """Where a content stands in `data`, and its number of elements."""
        if t.kind == T.REFERENCE:
            at += 8
        count = int.from_bytes(self.data[at:at + 8], "big")
        if count == 0:
            return 0, 0, 0
        begin = self.heap + int.from_bytes(self.data[at + 8:at + 16], "big")
        size = self.codec.size(t.base) if t.kind == T.SEQUENCE else 1
        need(size >= 1, "R5.32", self.offset, "elements of a sequence take no byte")
        end = begin + count * size
        need(end <= len(self.data), "R5.32", self.offset, "a content lies outside the heap")
        return begin, end, count

    def value(self, t, at):
        """The element at `at` as JSON (datarep-dump(1))."""
        codec, data = self.codec, self.data
        if t.kind == T.CODE:
            encoding = codec.encoding(t.code)
            return text.scalar(encoding.value(data[at:at + encoding.size]), encoding.shortest32)
        if t.kind == T.SCALAR:
            return text.scalar(t.scalar.value(data[at:at + t.scalar.size]),
                               t.scalar.format == scalars.BINARY32)
        if t.kind == T.STRING:
            return text.string(data[at:at + t.size], t.padding)
        if t.kind == T.OPAQUE:
            return data[at:at + t.size].hex()
        if t.kind == T.ENUM:
            number = self.value(t.base, at)
            return t.names.get(int(number), number)
        if t.kind == T.BOOLEAN:
            return self.value(t.base, at) not in (0, "0", False)
        if t.kind == T.ARRAY:
            return self._array(t, at)
        if t.kind == T.COMPOUND:
            values = [self.value(child, place) for child, place in codec.places(t, at)]
            return text.Pairs(zip(t.names, values)) if t.names[0] else values
        if t.kind == T.REFERENCE:
            return self._reference(t, at)
        begin, end, count = self.span(t, at)
        if t.kind == T.VSTRING:
            return text.any_text(data[begin:end])
        size = codec.size(t.base)
        return [self.value(t.base, begin + i * size) for i in range(count)]

    def _array(self, t, at):
        size, total = self.codec.size(t.base), self.codec.size(t)
        values = [self.value(t.base, place) for place in range(at, at + total, size)]
        return nested(values, t.dims)

    def _reference(self, t, at):
        number = int.from_bytes(self.data[at:at + 8], "big")
        path = self.path_of(number)
        if t.what == 0 or path is None:
            return path
        begin, end, _ = self.span(t, at)
        return text.Pairs([("object", path), ("region", text.any_text(self.data[begin:end]))])


READER_LISTS = 1 << 20  # How many empty lists this reader shows for a shape with a length of 0.


def nested(values, shape):
    """A flat list as lists nested as deep as the shape has dimensions."""
    if not shape:
        return values[0]
    if 0 in shape:
        lists = 1
        for length in shape[:shape.index(0)]:
            lists *= length
        need(lists <= READER_LISTS, "R1.5", None, "a shape of %d empty lists" % lists)
        return empty(shape)
    for length in reversed(shape[1:]):
        values = [values[i:i + length] for i in range(0, len(values), length)]
    return values


def empty(shape):
    if shape[0] == 0:
        return []
    return [empty(shape[1:]) for _ in range(shape[0])]


class SelfDescribed:
    """An attribute's value or a fill value (R5.36)."""

    def __init__(self, data, t, count, offset, path_of):
        r = Record(data, offset, "a self-described value")
        codes = t.codes()
        need(r.u8() == len(codes), "R5.36", offset, "a self-described value has another number of "
             "rows than its type has datatypes")
        rows = {code: self._row(code, r) for code in codes}
        codec = Codec(lambda code: rows[code], packed=True)
        self.type, self.count, self.size = t, count, codec.size(t)
        fixed = count * self.size
        at = r.here
        items = r.bytes(r.left)
        need(len(items) >= fixed if t.variable else len(items) == fixed, "R5.37", at,
             "a self-described value has %d bytes of items, not %d" % (len(items), fixed))
        self.payload = Payload(codec, t, items, fixed, at, path_of)
        self.payload.check(self.starts)

    @staticmethod
    def _row(code, r):
        at = r.here
        form, size = r.u8(), r.u8()
        datatype = PREDEFINED[code]
        need(form != scalars.CUSTOM, "R5.36", at, "format 255 in a self-described value")
        if form not in scalars.FORMATS:
            raise Newer("format %d" % form)
        part = size // 2 if scalars.FORMATS[form].kind == "real" else size
        scalars.size_limits(scalars.FORMATS[form].kind, part, "R3.18")
        need(scalars.suits(scalars.FORMATS[form].kind, datatype.kind), "R5.36", at,
             "format %d does not suit %s" % (form, datatype.name))
        part = size // 2 if datatype.kind == "complex" else size
        need(scalars.size_fits(form, part) and (form != 23 or part == 10) and
             (datatype.kind != "complex" or size % 2 == 0), "R5.36", at + 1,
             "format %d has no size of %d bytes" % (form, size))
        return scalars.Encoding(form, scalars.BIG, size, datatype.kind, None)

    @property
    def starts(self):
        return range(0, self.count * self.size, self.size) if self.size else []

    def values(self):
        return [self.payload.value(self.type, start) for start in self.starts]
