# SPDX-License-Identifier: MIT
"""Datasets: chunk records, sums, elements (SPEC.md 8.1 to 8.3)."""

import bisect

from . import filters, scalars, tree
from .elements import Codec, Payload, nested
from .errors import Beyond, Newer, limit, need
from .objects import CHUNKED, COMPACT, CONTIGUOUS, NONE
from .header import FUNCTIONS
from .records import Record, sum64
from .slots import Reference

PLAIN, PACKED, PLACED, EXTERNAL = 1, 2, 3, 4
MOST_ROWS = {PACKED: (128, "R8.16"), PLACED: (96, "R8.17"), EXTERNAL: (96, "R8.44")}
PIECE = 4096
SUMS_IN_BLOCK = 8187
LIMIT = 1 << 62
READER_CHUNK = 1 << 24  # What this reader spends on one chunk (R3.28), and
READER_ELEMENTS = 1 << 22  # on the elements of one dataset, and
READER_BYTES = 1 << 28  # on their bytes.


class Row:
    """One stored chunk: its place, its sums."""

    def __init__(self, offset, size, sums, skipped=None):
        self.offset, self.size, self.sums, self.skipped = offset, size, sums, skipped


class ChunkRecord:
    """The value of a CHUNK entry: neighbouring chunks from the key's coordinates on (8.2)."""

    def __init__(self, dataset, entry):
        self.dataset, self.space, self.key = dataset, dataset.file.space, entry.tail
        r = Record(entry.value, entry.offset, "a chunk record of object %d" % dataset.id)
        self.offset = r.offset
        grid = dataset.grid_rank
        need(len(entry.tail) == 8 * grid, "R4.19", r.offset, "a chunk's key has %d bytes"
             % len(entry.tail))
        self.at = [int.from_bytes(entry.tail[8 * i:8 * i + 8], "big") for i in range(grid)]
        self.kind, self.flags = r.u8(), r.u8()
        self.newer = not PLAIN <= self.kind <= EXTERNAL or bool(self.flags & 15)
        self.extents = []
        if self.newer:
            return
        try:
            limit(max(self.at, default=0), LIMIT, "R8.13", "a grid coordinate is too large")
            self._read(r, dataset)
        except Beyond:
            self.newer, self.extents = True, []

    def _read(self, r, dataset):
        if self.kind == PLAIN:
            self._plain(r)
            return
        need(dataset.layout == CHUNKED, "R8.22", r.offset, "filtered chunks in a contiguous dataset")
        rows = r.u8()
        r.u8()
        self.skipped = r.u32()
        most, rule = MOST_ROWS[self.kind]
        need(rows >= 1, rule, r.offset + 2, "a chunk record has no rows")
        limit(rows, most, rule, "a chunk record has %d rows" % rows)
        self.run = rows
        if self.kind == PACKED:
            self._packed(r)
        elif self.kind == PLACED:
            self._placed(r)
        else:
            self._external(r)
        for offset, size in self.extents:
            need(8192 <= offset and offset + size <= self.space.end, "R2.14", r.offset,
                 "a chunk lies outside the allocated space")

    def _plain(self, r):
        self.run, self.start, self.size = r.u32(), r.u64(), r.u64()
        need(self.run >= 1, "R8.15", r.offset + 2, "a run of 0 chunks")
        need(self.run == 1 or self.size and self.at, "R8.15", r.offset + 2,
             "a run of more than one chunk without bytes or without a grid")
        need(8192 <= self.start and self.start + self.run * self.size <= self.space.end, "R2.14",
             r.offset + 6, "a run lies outside the allocated space")
        need(self.start % 64 == 0, "R6.1", r.offset + 6, "a run begins at byte %d" % self.start)
        self.extents = [(self.start, self.run * self.size)]
        self.pieces = -(-self.size // PIECE)
        total = self.run * self.pieces
        if total <= 4:
            self.sums = [r.u64() for _ in range(total)]
        else:
            self.sums = None
            limit(int.from_bytes(r.data[r.position + 8:r.position + 12], "big"), 65536, "R8.26", "a long block of sums")
            blocks = -(-total // SUMS_IN_BLOCK)
            self.references = [Reference(r.bytes(20)) for _ in range(blocks)]

    def _packed(self, r):
        offset = r.u64()
        need(offset % 64 == 0, "R8.22", r.offset, "a packed run begins at byte %d" % offset)
        self.rows = []
        start = offset
        for _ in range(self.run):
            size = r.u32()
            self.rows.append(Row(offset, size, r.u64(), self.skipped))
            offset += size
        self.extents = [(start, offset - start)]

    def _placed(self, r):
        self.rows = []
        for _ in range(self.run):
            offset, size = r.u64(), r.u32()
            self.rows.append(Row(offset, size, r.u64(), self.skipped))
        self.extents = [(row.offset, row.size) for row in self.rows]

    def _external(self, r):
        number = r.u32()
        targets = self.dataset.file.targets
        need(number in targets, "R8.44", r.offset, "chunks are in file %d, which has no entry" % number)
        self.target = targets[number]
        self.rows = []
        for _ in range(self.run):
            offset, size = r.u64(), r.u32()
            need(offset + size <= self.target.size, "R8.47", r.offset, "a chunk lies outside file %d" % number)
            self.rows.append(Row(offset, size, r.u64(), self.skipped))

    def intervals(self):
        """The chunks that are covered, as (coordinates but the last, first, end, number)."""
        if not self.at:
            yield (), 0, 1, 0
        elif self.kind == PLAIN:
            yield tuple(self.at[:-1]), self.at[-1], self.at[-1] + self.run, 0
        else:
            yield from self._neighbours()

    def _neighbours(self):
        """The rows of packed and placed records, in row-major order (R8.18)."""
        lengths, first = self.dataset.suffix
        at = list(self.at)
        for i in range(first + 1, len(at)):
            need(at[i] < lengths[i], "R8.19", self.offset,
                 "a coordinate lies outside the grid of its record")
        for number in range(self.run):
            yield tuple(at[:-1]), at[-1], at[-1] + 1, number
            i = len(at) - 1
            at[i] += 1
            while i > first and at[i] == lengths[i]:
                at[i] = 0
                i -= 1
                at[i] += 1

    def payload(self, number):
        """The stored bytes of a chunk, verified, and the filters that it skips (R8.29)."""
        if self.kind != PLAIN:
            row = self.rows[number]
            data = (self.target.read(row.offset, row.size, row.sums != 0) if self.kind == EXTERNAL else
                    self.space.read(row.offset, row.size, "a chunk"))
            need(row.sums in (sum64(data) or 1, 0 if self.kind == EXTERNAL else None), "R8.29", row.offset, "a chunk's sum is wrong")
            return data, row.skipped, row.offset
        offset = self.start + number * self.size
        data = self.space.read(offset, self.size, "a chunk")
        sums = self.all_sums()
        for i in range(self.pieces):
            stored = sums[number * self.pieces + i]
            piece = data[i * PIECE:(i + 1) * PIECE]
            need(stored == 0 or stored == (sum64(piece) or 1), "R8.29", offset + i * PIECE,
                 "the sum of a piece of a chunk is wrong")
        return data, None, offset

    def all_sums(self):
        if self.sums is None:
            self.sums = []
            total = self.run * self.pieces
            for reference in self.references:
                block = self.space.block(reference, tree.SUMS, 0, 65536 - tree.HEAD)
                expected = min(SUMS_IN_BLOCK, total - len(self.sums))
                need(block.count == expected and len(block.content) == 8 * expected, "R8.26",
                     block.offset, "a block has %d sums" % block.count)
                self.sums += [int.from_bytes(block.content[i:i + 8], "big")
                              for i in range(0, len(block.content), 8)]
        return self.sums


class Dataset:
    """The elements of a dataset: what its object says, put to its payload."""

    def __init__(self, info, file):
        self.info, self.file, self.id, self.layout = info, file, info.id, info.layout
        self.codec = Codec(info.rep.encoding if info.rep.form == 1 else self._foreign)
        self.grid_rank = {CONTIGUOUS: 1, CHUNKED: len(info.shape or [])}.get(info.layout, 0)
        # Only a representation's author knows its elements, under form 2.
        self.hidden = (info.rep.form == 2 and bool(info.type.codes())
                       and info.rep.name not in FUNCTIONS)
        self.records, self.covered = [], {}
        self._check_entries()
        if info.shape is None:
            return
        self.element = self.codec.size(info.type)
        self._check_sizes()
        for entry in file.tree.of(self.id, tree.CHUNK):
            self._add(ChunkRecord(self, entry))
        self._check_cover()

    def _foreign(self, code):
        rep = self.info.rep
        return _Foreign(code, rep.extents[code], FUNCTIONS.get(rep.name))

    def _check_entries(self):
        at = self.info.offset
        has_data = bool(self.file.tree.of(self.id, tree.DATA))
        need(not has_data or self.layout == COMPACT, "R8.10", at,
             "dataset %d is not compact and has a DATA entry" % self.id)
        need(self.layout not in (NONE, COMPACT) or not self.file.tree.of(self.id, tree.CHUNK),
             "R8.13", at, "dataset %d has no chunks and a CHUNK entry" % self.id)

    def _check_sizes(self):
        info = self.info
        whole = self.element
        for length in info.shape or ():
            whole *= length or 1
        limit(whole, LIMIT, "R8.1", "dataset %d has more than 2^62 bytes" % self.id)
        if self.layout == COMPACT:
            limit(whole, 65536, "R8.10", "a compact dataset of %d bytes" % whole)
        self.in_chunk = 1
        for length in info.chunk:
            self.in_chunk *= length
        limit(self.in_chunk * self.element, LIMIT, "R8.5", "a chunk of %d elements" % self.in_chunk)

    @property
    def suffix(self):
        """Grid lengths by the maximum, and the first dimension of the suffix of R8.18."""
        grid = [-(-most // chunk) for most, chunk in zip(self.info.maximum, self.info.chunk)]
        return grid, len(grid) - self.info.suffix

    def _add(self, record):
        self.records.append(record)
        if record.newer:
            return
        for prefix, first, end, number in record.intervals():
            self.covered.setdefault(prefix, []).append((first, end, record, number))

    def _check_cover(self):
        for spans in self.covered.values():
            spans.sort(key=lambda span: span[:2])
            for one, two in zip(spans, spans[1:]):
                need(one[1] <= two[0], "R8.20", two[2].offset,
                     "a chunk of dataset %d is covered by two records" % self.id)
        self.keys = [record.key for record in self.records]
        self.firsts = {prefix: [span[0] for span in spans]
                       for prefix, spans in self.covered.items()}

    def _find(self, at):
        """The record that covers a chunk and the chunk's number in it, or None."""
        key = b"".join(c.to_bytes(8, "big") for c in at)
        before = bisect.bisect_right(self.keys, key) - 1
        if before >= 0 and self.records[before].newer:
            raise Newer("a chunk record of kind %d" % self.records[before].kind)
        last, prefix = at[-1] if at else 0, tuple(at[:-1])
        place = bisect.bisect_right(self.firsts.get(prefix, []), last) - 1
        if place < 0:
            return None
        first, end, record, number = self.covered[prefix][place]
        return (record, number + last - first) if last < end else None

    def values(self):
        """The elements as nested JSON lists; None if this reader cannot show them."""
        info = self.info
        if info.shape is None:
            return None
        need(info.count <= READER_ELEMENTS, "R1.5", info.offset,
             "dataset %d has %d elements, this reader shows %d" % (self.id, info.count,
                                                                   READER_ELEMENTS))
        need(max(info.count, 1) * self.element <= READER_BYTES, "R1.5", info.offset,
             "dataset %d has %d bytes, this reader shows %d"
             % (self.id, max(info.count, 1) * self.element, READER_BYTES))
        if self.hidden:
            self.verify()
            return None
        try:
            return nested(self._elements(), info.shape) if info.count else nested([], info.shape)
        except Newer:
            return None

    def verify(self):
        """The sums of all chunks (R3.11: also where no element can be shown)."""
        for record in self.records:
            if not record.newer:
                try:
                    for number in range(record.run):
                        record.payload(number)
                except Newer:
                    pass  # They are in a file that only a newer version can open.

    def _elements(self):
        if self.layout == COMPACT:
            return self._compact()
        values = [None] * self.info.count
        for at, places in self._chunks():
            chunk = self._chunk(at, sorted(places.values()))
            for place, inside in places.items():
                values[place] = chunk[inside]
        return values

    def _compact(self):
        found = self.file.tree.of(self.id, tree.DATA)
        data, offset = (found[0].value, found[0].offset) if found else (b"", self.info.offset)
        return self._decode(data, self.info.count, range(self.info.count), offset, bool(found))

    def _chunks(self):
        """Chunks inside the shape: coordinates, {place in the dataset: place in the chunk}."""
        info = self.info
        if self.layout == CONTIGUOUS:
            slab = info.chunk[0]
            for start in range(0, info.count, slab):
                end = min(start + slab, info.count)
                yield [start // slab], {place: place - start for place in range(start, end)}
            return
        rank = len(info.shape)
        grid = [-(-length // chunk) for length, chunk in zip(info.shape, info.chunk)]
        for at in _product([range(n) for n in grid]):
            places = {}
            inner = [range(at[i] * info.chunk[i], min((at[i] + 1) * info.chunk[i], info.shape[i]))
                     for i in range(rank)]
            for index in _product(inner):
                place = inside = 0
                for i in range(rank):
                    place = place * info.shape[i] + index[i]
                    inside = inside * info.chunk[i] + index[i] - at[i] * info.chunk[i]
                places[place] = inside
            yield list(at), places

    def _chunk(self, at, wanted):
        """{place in the chunk: value} of the elements that are wanted."""
        found = self._find(at)
        if found is None:
            return _Same(self.fill())
        record, number = found
        data, skipped, offset = record.payload(number)
        variable = self.info.type.variable
        full = self.in_chunk * self.element
        if skipped is not None:
            hint = self.file.header.number_hint("drep_chunk_max") or 0
            limit(full, max(READER_CHUNK, hint), "R8.36", "a filtered chunk of %d bytes" % full)
            need(full <= READER_CHUNK, "R3.28", offset,
                 "a chunk of %d bytes is beyond this reader's limit of %d" % (full, READER_CHUNK))
            need(len(data) <= max(READER_CHUNK, hint), "R8.36", offset,
                 "a stored chunk of %d bytes" % len(data))
            most = max(full, filters.stored_limit(self.info.filters, skipped, full))
            need(variable or not self.info.filters or len(data) <= most, "R8.36", offset,
                 "a stored chunk of %d bytes, %d are possible" % (len(data), most))
            data = filters.undo(self.info.filters, skipped, data, full, variable, READER_CHUNK,
                                offset)
        values = self._decode(data, self.in_chunk, wanted, offset, True)
        return dict(zip(wanted, values))

    def _decode(self, data, full, wanted, offset, stored):
        """The wanted elements of a payload; those that it lacks are fill (R8.9)."""
        t, size = self.info.type, self.element
        if t.variable:
            need(not stored or len(data) >= full * size, "R8.9", offset,
                 "a payload with variable parts lacks some of its fixed parts")
        else:
            need(len(data) <= full * size and (not size or len(data) % size == 0), "R8.9", offset,
                 "a payload of %d bytes does not hold whole elements" % len(data))
        here = full if stored and t.variable else len(data) // size if size else 0
        payload = Payload(self.codec, t, data, here * size, offset, self.file.path_of)
        payload.check([i * size for i in wanted if i < here])
        return [payload.value(t, i * size) if i < here else self.fill() for i in wanted]

    def fill(self):
        """The value of an element that is not stored (R8.6)."""
        if self.info.fill_kind == 1:
            if self.info.fill is None:
                raise Newer("a fill value")
            return self.info.fill.values()[0]
        # The value 0, whatever its bytes are under form 2.
        codec = Codec(lambda code: scalars.predefined(code, False), packed=True)
        size = codec.size(self.info.type)
        zeros = Payload(codec, self.info.type, bytes(size), size, self.info.offset,
                        self.file.path_of)
        return zeros.value(self.info.type, 0)


class _Foreign:
    """The encoding of a datatype under form 2: its size, and its author's function if it is here."""

    shortest32 = False

    def __init__(self, code, size, function):
        self.code, self.size, self.function = code, size, function

    def value(self, data):
        return self.function(self.code, data)


class _Same:
    """A chunk that no record covers."""

    def __init__(self, value):
        self.value = value

    def __getitem__(self, place):
        return self.value


def _product(ranges):
    """All indices in row-major order."""
    if not ranges:
        yield ()
        return
    for first in ranges[0]:
        for rest in _product(ranges[1:]):
            yield (first,) + rest
