"""Filters and chunks (section 8): from chunk records to unfiltered, verified payload."""

import numpy as np

from . import borrowed
from .errors import Cursor, DrepError
from .tree import SUMS, read_ref

SHUFFLE, BITSHUFFLE, DELTA, DEFLATE, ZSTD, LZ4 = 1, 2, 3, 16, 17, 18
NAMES = {1: "shuffle", 2: "bitshuffle", 3: "delta", 16: "deflate", 17: "zstd", 18: "lz4"}
USERS = 32768  # ids from here on are users' filters, known by name
PIECE = 4096

_users = {}


def register_filter(name, decode):
    """decode(parameters, data, size) -> size bytes."""
    _users[name] = decode


class Filter:
    def __init__(self, ident, flags, name, parameters):
        self.id, self.flags, self.parameters = ident, flags, parameters
        self.name = name or NAMES.get(ident, str(ident))

    def parameter(self, i, default=None):
        if i >= len(self.parameters):
            if default is not None:
                return default
            raise DrepError("FORMAT", "filter %s lacks a parameter (R8.31)" % self.name)
        return self.parameters[i]

    def prefixed(self):
        """Is the length of the input written before what the filter makes of it?"""
        return self.id in (DEFLATE, ZSTD, LZ4) or self.id >= USERS

    def undo(self, data, fixed, limit):
        """The bytes before this filter; the first `fixed` of `data` are fixed parts."""
        if self.prefixed():
            if self.id >= USERS and self.name not in _users:
                raise DrepError("UNSUPPORTED", 'filter "%s" is not known here' % self.name)
            cur = Cursor(data, None, self.name)
            size = cur.u64()
            if size > limit:
                raise DrepError("FORMAT", "%s states %d bytes, at most %d are possible (R8.35)"
                                % (self.name, size, limit))
            if self.id >= USERS:
                return _users[self.name](self.parameters, cur.bytes(cur.left()), size)
            decode = {DEFLATE: borrowed.deflate_decode, ZSTD: borrowed.zstd_decode,
                      LZ4: borrowed.lz4_decode}[self.id]
            return decode(cur.bytes(cur.left()), size)
        head, tail = data[:fixed], data[fixed:]
        if self.id == SHUFFLE:
            return unshuffle(head, self.parameter(0)) + tail
        if self.id == BITSHUFFLE:
            return unbitshuffle(head, self.parameter(0)) + tail
        if self.id == DELTA:
            return undelta(head, self.parameter(0), self.parameter(1)) + tail
        raise DrepError("UNSUPPORTED", 'filter "%s" (%d) is unknown' % (self.name, self.id))


def unshuffle(data, s):
    if s < 1:
        raise DrepError("FORMAT", "shuffle of elements of 0 bytes (R8.32)")
    n = len(data) // s
    a = np.frombuffer(data[:n * s], np.uint8).reshape(s, n)
    return a.T.tobytes() + data[n * s:]


def unbitshuffle(data, s):
    if s < 1:
        raise DrepError("FORMAT", "bitshuffle of elements of 0 bytes (R8.32)")
    groups = len(data) // s // 8
    n = groups * 8 * s
    a = np.frombuffer(data[:n], np.uint8).reshape(s, 8, groups)
    out = np.zeros((groups, 8, s), np.uint8)
    for b in range(s):
        for k in range(8):
            for j in range(8):
                out[:, j, b] |= (a[b, k] >> j & 1) << k
    return out.tobytes() + data[n:]


def undelta(data, w, order):
    if w not in (1, 2, 4, 8) or order not in (0, 1):
        raise DrepError("FORMAT", "delta of width %d, order %d (R8.32)" % (w, order))
    n = len(data) // w
    a = np.frombuffer(data[:n * w], np.dtype(("<" if order else ">") + "u%d" % w))
    sums = np.add.accumulate(a.astype("u%d" % w), dtype="u%d" % w)
    return sums.astype(a.dtype).tobytes() + data[n * w:]


class Run:
    """A chunk record: `run` chunks of `size` bytes from grid coordinates `at` on."""

    def __init__(self, raw, base, at, blocks):
        cur = Cursor(raw, base, "chunk record")
        self.at = at
        self.flags = cur.u8()
        cur.u8()
        self.skipped, self.run = cur.u32(), cur.u32()
        self.offset, self.size = cur.u64(), cur.u64()
        self.filtered = bool(self.flags & 1)
        if self.run < 1:
            cur.fail("run of no chunks (R8.15)")
        if self.size == 0 and self.run != 1:
            cur.fail("run of %d chunks without bytes (R8.15)" % self.run)
        if self.filtered and self.run != 1:
            cur.fail("filtered run of %d chunks (R8.15)" % self.run)
        if self.run * self.size > 1 << 62:
            cur.fail("run of more than 2^62 bytes (R2.14)")
        pieces = 1 if self.filtered else -(-self.size // PIECE)
        count = self.run * pieces
        blocks.claim(self.offset, self.run * self.size, "payload")
        if self.size and self.offset % 64:
            cur.fail("payload does not begin at a multiple of 64 (R6.1)")
        if self.flags & 2 and not self.filtered:
            got, data, at = blocks.get(read_ref(cur), SUMS)
            cur = Cursor(data, at, "sums")
            if got != count or len(data) != 8 * count:
                cur.fail("%d sums where %d belong (R8.26)" % (got, count))
        elif not self.filtered and count > 4:
            cur.fail("%d sums stand in the record (R8.25)" % count)
        sums = [cur.u64() for _ in range(count)]
        self.absent = sums.count(0)
        self.verify(blocks.image, sums, pieces)

    def verify(self, image, sums, pieces):
        for i, want in enumerate(sums):
            chunk, piece = divmod(i, pieces)
            start = self.offset + chunk * self.size
            size = self.size
            if not self.filtered:
                start += piece * PIECE
                size = min(PIECE, self.size - piece * PIECE)
            if want and (borrowed.xxh3(image[start:start + size]) or 1) != want:
                raise DrepError("CHECKSUM", "sum of payload does not match (R8.29)", start)

    def stored(self, image, i):
        start = self.offset + i * self.size
        return image[start:start + self.size]


def unfilter(run, data, filters, fixed, full, limit):
    """Undo `filters`; `fixed` bytes of fixed parts, output at most `full` (None: `limit`)."""
    if not run.filtered:
        return data
    bound = limit if full is None else full
    for i in reversed(range(len(filters))):
        if run.skipped >> i & 1:
            continue
        # What stands before filter i is still compressed if a compressor acted earlier.
        before = [f for j, f in enumerate(filters[:i]) if f.prefixed() and not run.skipped >> j & 1]
        most = bound
        for f in before:
            most = 2 * most + 65536 if f.id >= USERS else most
        data = filters[i].undo(data, len(data) if before else fixed, most)
    return data
