# SPDX-License-Identifier: MIT
"""Objects, links, attributes, dimensions: their records (SPEC.md 7)."""

from . import datatypes as T
from .elements import SelfDescribed
from .errors import Beyond, Newer, limit, need
from .records import Record

GROUP, DATASET, NAMED, DIMENSION = range(1, 5)
NULL_RANK = 255
UNLIMITED = (1 << 64) - 1
LIMIT = 1 << 62
NONE, COMPACT, CONTIGUOUS, CHUNKED = range(4)
FLAGS = {GROUP: 0, DATASET: 3, NAMED: 0, DIMENSION: 1}


def lengths(r, rank, what, rule="R8.1"):
    if rank != NULL_RANK:
        limit(rank, 32, rule, "%s has rank %d" % (what, rank))
    result, total = [], 1
    for _ in range(0 if rank == NULL_RANK else rank):
        length = r.var()
        limit(length, LIMIT, "R8.1", "a length of %d" % length)
        result.append(length)
        total *= length or 1
    limit(total, LIMIT, "R8.1", "%s has %d elements" % (what, total))
    return None if rank == NULL_RANK else result


class Object:
    """What the OBJECT record says; `newer` if only a later version can read it."""

    def __init__(self, number, entry, file):
        self.id, self.entry, self.file = number, entry, file
        r = self.record = Record(entry.value, entry.offset, "object %d" % number)
        self.offset = r.offset
        self.kind, self.flags = r.u8(), r.u8()
        self.newer = (self.kind not in FLAGS or bool(self.flags & 15 & ~FLAGS[self.kind]))
        self.hard_links, self.next_attribute = r.var32(), r.var32()
        self.beyond = False
        self.partly = False  # A dataset that only a newer reader understands.
        if self.newer:
            return
        if self.kind == GROUP:
            self.next_index, self.links = r.var(), r.var()
        elif self.kind == DATASET:
            try:
                self._dataset(r)
            except Newer:
                self.partly = True
        elif self.kind == NAMED:
            self._named(r)
        else:
            self.length = r.var()
            try:
                limit(self.length, LIMIT, "R8.1", "a dimension of length %d" % self.length)
            except Beyond:
                self.newer = self.beyond = True
            self.scales = [r.u64() for _ in range(r.u16())]

    def _named(self, r):
        at = r.here
        self.type_number = r.var32()
        try:
            self.type = self.file.type(self.type_number, at)
            T.check_layout(self.type, False)
        except Newer:
            self.type = None

    def _dataset(self, r):
        self.changed = r.var()
        need(1 <= self.changed <= self.file.sequence, "R7.20", r.here,
             "dataset %d was changed by commit %d" % (self.id, self.changed))
        type_at = r.here
        self.type_number, rep = r.var32(), r.var32()
        limit(rep, 65535, "R3.4", "representation %d" % rep)
        self.rep = self.file.header.representation(rep, r.here - 1)
        self.layout, rank = r.u8(), r.u8()
        self.dimensions = None
        self.shape = self.maximum = lengths(r, rank, "dataset %d" % self.id)
        rank = len(self.shape or [])
        if self.flags & 1:
            self.maximum = [r.var() for _ in range(rank)]
        if self.flags & 2:
            self.dimensions = [r.var() for _ in range(rank)]
        for length, most in zip(self.shape or [], self.maximum or []):
            if most != UNLIMITED:
                limit(most, LIMIT, "R8.1", "a maximum of %d" % most)
            need(length <= most, "R8.2", r.offset, "dataset %d is longer than its maximum" % self.id)
        if self.layout > CHUNKED:
            raise Newer("layout %d" % self.layout)
        self.chunk = [r.var()] if self.layout == CONTIGUOUS else []
        if self.layout == CHUNKED:
            self.chunk = [r.var32() for _ in range(rank)]
        need(all(1 <= length for length in self.chunk), "R8.5", r.here, "a chunk length of 0")
        limit(max(self.chunk, default=0), LIMIT, "R8.5", "a slab of %s elements" % self.chunk)
        if self.layout == CHUNKED:
            self._suffix(r.u8(), r.here - 1)
        from . import filters
        self.filters = filters.parse(r)
        self.fill_kind = r.u8()
        if self.fill_kind > 2:
            raise Newer("fill %d" % self.fill_kind)
        self.type = self.file.type(self.type_number, type_at)
        T.check_use(self.type, True, type_at)
        self._encodings()
        self.fill = None
        if self.fill_kind == 1:
            size = r.var32()
            at = r.here
            self._fill(r.bytes(size), at)
        self._layout()

    def _suffix(self, k, at):
        """R8.18."""
        rank = len(self.shape)
        need(k == rank == 0 or 1 <= k <= rank, "R8.18", at, "a suffix of %d dimensions" % k)
        self.suffix, product = k, 1
        for most, chunk in list(zip(self.maximum, self.chunk))[rank - k + 1:]:
            need(most != UNLIMITED, "R8.18", at, "a dimension inside the suffix is unlimited")
            product *= -(-most // chunk)
        limit(product, LIMIT, "R8.18", "a suffix of %d chunks" % product)

    def _encodings(self):
        """Every datatype that is used is one of the representation's (R3.15)."""
        if self.rep.unreadable:
            raise Newer("representation %d" % self.rep.number)
        for code in self.type.codes():
            need(code in self.rep.extents, "R3.15", self.offset, "dataset %d uses datatype %d, "
                 "which the EXTENTS of its representation do not list" % (self.id, code))
            if self.rep.form == 1:
                self.rep.encoding(code)

    def _fill(self, data, at):
        """The type of a fill value is the dataset's, packed."""
        try:
            self.fill = SelfDescribed(data, self.type, 1, at, self.file.path_of)
        except Newer:
            self.fill = None

    def _layout(self):
        null = self.shape is None
        at = self.offset
        if self.layout == NONE:
            need(null or 0 in self.shape, "R8.3", at, "a dataset with elements has no layout")
        need(not null or self.layout == NONE, "R8.3", at, "the null dataspace has a layout")
        if any(f.hdf5 and not f.newer for f in self.filters):
            need(not self.type.variable and not self.type.refers, "R8.54", at,
                 "filters of HDF5 for elements with variable parts or references")
        if self.layout == COMPACT:
            need(not self.filters, "R8.10", at, "a compact dataset has filters")
        if self.layout == CONTIGUOUS:
            need(not self.filters and not self.type.variable, "R8.11", at,
                 "a contiguous dataset has filters or variable parts")
            need(self.shape and self.shape[1:] == self.maximum[1:] or not self.shape, "R8.11", at,
                 "a contiguous dataset grows in another dimension than its first")

    @property
    def count(self):
        total = 0 if self.shape is None else 1
        for length in self.shape or []:
            total *= length
        return total


def too_long(name):
    """R7.10: what has such a name cannot be read."""
    try:
        limit(len(name.encode()), 1023, "R7.10", "a name of %d bytes" % len(name.encode()))
    except Beyond:
        return True
    return False


class Link:
    """A LINK or DIM record: what a name in a group leads to."""

    def __init__(self, entry, name):
        self.name, self.entry = name, entry
        r = Record(entry.value, entry.offset, "link %r" % name)
        self.offset = r.offset
        self.kind, self.flags = r.u8(), r.u8()
        self.index = r.var()
        self.target = None
        self.beyond = too_long(name)
        self.newer = self.kind not in (1, 2, 3) or bool(self.flags & 15) or self.beyond
        if self.newer:
            return
        if self.kind == 1:
            self.object_kind, self.target = r.u8(), r.var()
        if self.kind == 3:
            self.file = self._text(r)
        if self.kind > 1:
            self.path = self._text(r)

    @staticmethod
    def _text(r):
        count = r.u16()
        need(count >= 1, "R7.8", r.here - 2, "an empty path")
        return r.text(count, "a path")


class DimensionName:
    """A DIM record (R7.14)."""

    def __init__(self, entry, name):
        self.name, self.entry = name, entry
        r = Record(entry.value, entry.offset, "dimension %r" % name)
        self.offset = r.offset
        self.kind, self.flags, self.index = r.u8(), r.u8(), r.var()
        self.beyond = too_long(name)
        self.newer = self.kind != 1 or bool(self.flags & 15) or self.beyond
        self.target = None if self.newer else r.var()
        self.object_kind = DIMENSION


class Attribute:
    """An ATTR record (R7.13)."""

    def __init__(self, entry, name, file):
        self.name = name
        r = Record(entry.value, entry.offset, "attribute %r" % name)
        self.offset = r.offset
        self.kind, self.flags, self.index = r.u8(), r.u8(), r.var32()
        self.beyond = too_long(name)
        self.newer = self.kind != 1 or bool(self.flags & 15) or self.beyond
        if self.newer:
            return
        at = r.here
        self.type_number = r.var32()
        try:
            self.shape = lengths(r, r.u8(), "attribute %r" % name, "R7.13")
        except Beyond:
            self.newer = self.beyond = True
            return
        size = r.var32()
        value_at = r.here
        data = r.bytes(size)
        self.type = self.value = None
        need(self.shape is not None or size == 0, "R7.13", value_at,
             "attribute %r of the null dataspace has a value" % name)
        count = 0 if self.shape is None else 1
        for length in self.shape or []:
            count *= length
        try:
            self.type = file.type(self.type_number, at)
            T.check_use(self.type, False, at)
            if self.shape is None:
                return  # The null dataspace has no value to describe.
            self.value = SelfDescribed(data, self.type, count, value_at, file.path_of)
        except Newer:
            pass
