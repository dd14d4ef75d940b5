"""Filters and chunks (section 8): from chunk records to unfiltered, verified payload."""

import numpy as np

from . import borrowed
from .errors import Cursor, DrepError
from .tree import SUMS, read_ref

SHUFFLE, BITSHUFFLE, DELTA, DEFLATE, ZSTD, LZ4 = 1, 2, 3, 16, 17, 18
NAMES = {1: "shuffle", 2: "bitshuffle", 3: "delta", 16: "deflate", 17: "zstd", 18: "lz4"}
USERS = 32768  # ids from here on are users' filters, known by name
PIECE = 4096
DECODE = {DEFLATE: borrowed.deflate_decode, ZSTD: borrowed.zstd_decode, LZ4: borrowed.lz4_decode}

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
        if self.flags & 14:
            raise DrepError("UNSUPPORTED", "filter %s with flags %d, written by a newer version"
                            % (self.name, self.flags))
        if self.flags & 1:
            return DECODE[self.id](data, fixed)
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
            return DECODE[self.id](cur.bytes(cur.left()), size)
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


PLAIN, PACKED, PLACED = 1, 2, 3
INLINE_SUMS, BLOCK_SUMS = 4, (65536 - 40) // 8


class Run:
    """`run` chunks of `size` bytes from grid coordinates `at` on; a filtered chunk is one alone."""

    def __init__(self, at, offset, size, run=1, filtered=False, skipped=0):
        self.at, self.offset, self.size, self.run = at, offset, size, run
        self.filtered, self.skipped = filtered, skipped
        self.absent = 0

    def stored(self, image, i):
        start = self.offset + i * self.size
        return image[start:start + self.size]


def verify(image, start, size, want):
    if want and (borrowed.xxh3(image[start:start + size]) or 1) != want:
        raise DrepError("CHECKSUM", "sum of payload does not match (R8.29)", start)


def suffix(maximum, chunk):
    """How many of the last dimensions count on in the one before, and their grid lengths."""
    lengths = []
    for m, c in list(zip(maximum, chunk))[:0:-1]:
        product = max(1, -(-m // c))
        for n in lengths:
            product *= n
        if m == (1 << 64) - 1 or product > 1 << 32:
            break
        lengths.insert(0, max(1, -(-m // c)))
    return lengths


def runs(raw, base, at, blocks, inner):
    """The runs of one chunk record; `inner`: what suffix() says of the grid."""
    cur = Cursor(raw, base, "chunk record")
    kind, flags = cur.u8(), cur.u8()
    if kind not in (PLAIN, PACKED, PLACED) or flags & 15 & ~(kind == PLAIN):
        return None  # a newer version's
    if kind == PLAIN:
        return [plain(cur, flags, at, blocks)]
    rows = cur.u8()
    cur.u8()
    if not 1 <= rows <= (128 if kind == PACKED else 96):
        cur.fail("%d rows of a run (R8.%d)" % (rows, 14 + kind))
    skipped = cur.u32()
    offset = start = cur.u64() if kind == PACKED else None
    found, lines = [], set()
    for i in range(rows):
        if kind == PLACED:
            offset = cur.u64()
        size, want = cur.u32(), cur.u64()
        if kind == PLACED:
            blocks.inside(offset, size, "payload")
        if kind == PLACED and size:
            new = set(range(offset // 64, -(-(offset + size) // 64))) - lines
            blocks.claims += [(64 * line, 64 * line + 64, "payload") for line in new]
            if any(offset < r.offset + r.size and r.offset < offset + size for r in found):
                cur.fail("rows of a run overlap (R8.39)")
            lines |= new
        found.append(Run(step(at, i, inner, cur), offset, size, 1, True, skipped))
        if kind == PACKED:
            offset += size
    if kind == PACKED:
        blocks.claim(start, offset - start, "payload")
        if start % 64:
            cur.fail("payload does not begin at a multiple of 64 (R8.22)")
    if rows > 1 and (not at or any(c >= n for c, n in zip(at[len(at) - len(inner):], inner))):
        cur.fail("run outside the grid (R8.19)")
    cur = Cursor(raw, base, "chunk record")
    cur.bytes(16 if kind == PACKED else 8)
    for r in found:
        cur.bytes(4 if kind == PACKED else 12)
        verify(blocks.image, r.offset, r.size, cur.u64() or -1)
    return found


def step(at, n, inner, cur):
    at = list(at)
    for d in range(1, len(inner) + 1):
        n, at[-d] = divmod(at[-d] + n, inner[-d])
    if n:
        if len(at) <= len(inner):
            cur.fail("run outside the grid (R8.19)")
        at[-len(inner) - 1] += n
    return at


def plain(cur, flags, at, blocks):
    run, offset, size = cur.u32(), cur.u64(), cur.u64()
    if run < 1:
        cur.fail("run of no chunks (R8.15)")
    if size == 0 and run != 1:
        cur.fail("run of %d chunks without bytes (R8.15)" % run)
    if run * size > 1 << 62:
        cur.fail("run of more than 2^62 bytes (R2.14)")
    pieces = -(-size // PIECE)
    count = run * pieces
    blocks.claim(offset, run * size, "payload")
    if size and offset % 64:
        cur.fail("payload does not begin at a multiple of 64 (R6.1)")
    if (flags & 1) != (count > INLINE_SUMS):
        cur.fail("%d sums stand in the wrong place (R8.25)" % count)
    sums = []
    while flags & 1 and len(sums) < count:
        want = min(BLOCK_SUMS, count - len(sums))
        got, data, where = blocks.get(read_ref(cur), SUMS)
        block = Cursor(data, where, "sums")
        if got != want or len(data) != 8 * want:
            block.fail("%d sums where %d belong (R8.26)" % (got, want))
        sums += [block.u64() for _ in range(want)]
    if not flags & 1:
        sums = [cur.u64() for _ in range(count)]
    for i, want in enumerate(sums):
        chunk, piece = divmod(i, pieces)
        verify(blocks.image, offset + chunk * size + piece * PIECE,
               min(PIECE, size - piece * PIECE), want)
    found = Run(at, offset, size, run)
    found.absent = sums.count(0)
    return found


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
