# SPDX-License-Identifier: MIT
"""Filters (SPEC.md 8.4)."""

import ctypes
import zlib

from . import errors
from .errors import Newer, ReadError, need
from .records import library, sum64

SHUFFLE, BITSHUFFLE, DELTA, DEFLATE, ZSTD, LZ4 = 1, 2, 3, 16, 17, 18
HDF5_LZ4, LZF, HDF5_BITSHUFFLE, BLOSC = 19, 20, 21, 22
USER = 32768
NAMES = {SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle", DELTA: "delta", DEFLATE: "deflate",
         ZSTD: "zstd", LZ4: "lz4", HDF5_LZ4: "hdf5-lz4", LZF: "lzf",
         HDF5_BITSHUFFLE: "hdf5-bitshuffle", BLOSC: "blosc"}
PARAMETERS = {SHUFFLE: 1, BITSHUFFLE: 1, DELTA: 2, DEFLATE: 1, ZSTD: 1, LZ4: 1, HDF5_LZ4: 1,
              LZF: 0, HDF5_BITSHUFFLE: 4, BLOSC: 4}
COMPRESSORS = (DEFLATE, ZSTD, LZ4, HDF5_LZ4, LZF, HDF5_BITSHUFFLE, BLOSC)

# Flags, and HDF5's numbers with the filters that do the same (R8.55, R8.56).
HDF5, OPTIONAL = 2, 4
FLETCHER32 = 3
SAME = {1: DEFLATE, 2: SHUFFLE, 32000: LZF, 32001: BLOSC, 32004: HDF5_LZ4, 32008: HDF5_BITSHUFFLE, 32015: ZSTD}

# Functions of users' filters, by name: (parameters, bytes, length of the result) -> bytes (R8.38).
FUNCTIONS = {}

_zstd = library("zstd")
if _zstd:
    _zstd.ZSTD_decompress.restype = ctypes.c_size_t
    _zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                      ctypes.c_size_t]
    _zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    _zstd.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    _zstd.ZSTD_getDictID_fromFrame.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    _zstd.ZSTD_getErrorName.restype = ctypes.c_char_p
    _zstd.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]


class TooLong(Exception):
    """A stream gives more bytes than it may."""


class Filter:
    """One filter of a dataset's list."""

    def __init__(self, r):
        self.offset = r.here
        self.id, self.flags = r.u16(), r.u8()
        self.name = r.text(r.u8(), "name of a filter")
        count = r.u8()
        self.parameters = [r.u32() for _ in range(count)]
        self.hdf5 = bool(self.flags & HDF5)
        self.newer = bool(self.flags & 15 & ~(HDF5 | OPTIONAL if self.hdf5 else 0)) or (
            not self.hdf5 and self.id < USER and self.id not in NAMES)
        need(not self.name or self.id >= USER or self.flags & 15, "R8.37", self.offset,
             "a filter of the format has a name")
        if not self.newer and not self.hdf5:
            self._check()

    def _check(self):
        at = self.offset
        if self.id >= USER:
            need(self.name, "R8.37", at, "a user's filter has no name")
            errors.limit(len(self.name.encode()), 127, "R8.37", "a user's filter has a long name")
            return
        need(len(self.parameters) == PARAMETERS[self.id], "R8.31", at, "%s has %d parameters"
             % (NAMES[self.id], len(self.parameters)))
        first = self.parameters[0] if self.parameters else 0
        if self.id in (SHUFFLE, BITSHUFFLE):
            need(first >= 1, "R8.32", at, "elements of 0 bytes are shuffled")
        if self.id == HDF5_BITSHUFFLE:
            need(first >= 1 and self.parameters[1] % 8 == 0 and self.parameters[2] in (0, 2, 3),
                 "R8.32", at, "hdf5-bitshuffle has parameters that it cannot have")
        if self.id == DELTA:
            need(first in (1, 2, 4, 8) and self.parameters[1] <= 1, "R8.32", at,
                 "delta has parameters that it cannot have")

    @property
    def users(self):
        return not self.hdf5 and self.id >= USER

    @property
    def changes_lengths(self):
        if self.hdf5:
            return self.id != 2
        return self.id in COMPRESSORS or self.id >= USER

    def shown(self):
        if self.hdf5:
            return {"name": "hdf5:%d" % self.id, "parameters": self.parameters,
                    "hdf5": {"name": self.name, "optional": bool(self.flags & OPTIONAL)}}
        name = NAMES.get(self.id) or self.name or str(self.id)
        return {"name": name, "parameters": self.parameters}


def parse(r):
    count = r.u8()
    errors.limit(count, 32, "R8.31", "a dataset has %d filters" % count)
    filters = [Filter(r) for _ in range(count)]
    need(len({f.hdf5 for f in filters if not f.flags & 15 or f.hdf5 and not f.newer}) <= 1, "R8.53",
         r.here, "filters of HDF5 beside others")
    for number, f in enumerate(filters):
        need(f.hdf5 or f.id not in REORDER or not any(before.users for before in filters[:number]), "R8.50",
             f.offset, "%s behind a user's filter" % NAMES.get(f.id))
    return filters


def undo(filters, skipped, data, fixed, variable, most, offset):
    """The payload of a filtered chunk: `fixed` bytes of fixed parts if it is full (R8.30)."""
    if filters and filters[0].hdf5:
        return undo_hdf5(filters, skipped, data, fixed, offset)
    applied = [f for number, f in enumerate(filters) if not skipped >> number & 1]
    for number in reversed(range(len(applied))):
        current, before = applied[number], applied[:number]
        if current.newer or current.id >= USER and current.name not in FUNCTIONS:
            raise Newer("filter %s" % (current.name or current.id))
        behind = any(f.changes_lengths for f in before)
        if current.changes_lengths:
            data = decompress(current, data, limit(before, fixed, variable, most), offset)
        else:
            end = len(data) if behind else min(fixed, len(data))
            data = REORDER[current.id](data[:end], *current.parameters) + data[end:]
    return data


def undo_hdf5(filters, skipped, data, full, offset):
    """A payload that went through filters of HDF5, each of which acts on all bytes it gets (R8.56)."""
    applied = [f for number, f in enumerate(filters) if not skipped >> number & 1]
    for number in reversed(range(len(applied))):
        f = applied[number]
        same = SAME.get(f.id)
        parameters = f.parameters
        if f.id == FLETCHER32:
            data = unfletcher(data, offset)
            continue
        if f.id == 32001 and len(parameters) >= 4:
            parameters = parameters[2:3] + parameters[4:]
        elif f.id == 32008:
            parameters = parameters[2:] + [0] * 4
        if f.newer or same is None or same == SHUFFLE and (parameters or [0])[0] == 0:
            raise Newer("HDF5 filter %d '%s'" % (f.id, f.name))
        if same == SHUFFLE:
            data = unshuffle(data, parameters[0])
            continue
        most = full
        for before in applied[:number]:
            most = 2 * most + 65536 if before.changes_lengths else most
        try:
            data = STREAMS[same](data, most, parameters)
        except TooLong:
            need(False, "R8.35", offset, "%s gives more than %d bytes" % (NAMES[same], most))
        need(data is not None, "R8.34", offset, "a stream of %s is damaged" % NAMES[same])
    need(len(data) == full, "R8.58", offset, "filters of HDF5 give %d bytes, not %d" % (len(data), full))
    return data


def unfletcher(data, offset):
    need(len(data) >= 4, "R8.58", offset, "%d bytes with a sum of fletcher32" % len(data))
    data, found = data[:-4], data[-4:]
    a = b = 0
    for at in range(0, len(data), 2):
        a += data[at] << 8 | (data[at + 1] if at + 1 < len(data) else 0)
        b += a
    words = [(n - 1) % 65535 + 1 if n else 0 for n in (a, b)]
    low = b"".join(n.to_bytes(2, "little") for n in words)
    swapped = b"".join(n.to_bytes(2, "big") for n in words)
    need(found in (low, swapped), "R8.58", offset, "a sum of fletcher32 is wrong")
    return data


def limit(before, fixed, variable, most):
    """How many bytes a compressor may have had (R8.35)."""
    result = max(most, fixed) if variable else fixed
    for current in before:
        if current.users:
            result = 2 * result + 65536
    return result


def stored_limit(filters, skipped, full):
    """How many bytes a payload may be stored as (R8.36)."""
    for number, f in enumerate(filters):
        if not skipped >> number & 1 and f.changes_lengths:
            full = 2 * full + 65536
    return full


def decompress(current, data, most, offset):
    if current.id >= USER:
        return users(current, data, most, offset)
    try:
        result = STREAMS[current.id](data, most, current.parameters)
    except TooLong:
        result = bytes(most + 1)
    need(result is not None, "R8.34", offset, "a stream of %s is damaged" % NAMES[current.id])
    need(len(result) <= most, "R8.35", offset, "%s gives more than %d bytes"
         % (NAMES[current.id], most))
    return result


def users(current, data, most, offset):
    """R8.38, R8.51: length and sum stand in front."""
    need(len(data) >= 16, "R8.38", offset, "%d bytes of a user's filter" % len(data))
    length, proof = (int.from_bytes(data[at:at + 8], "big") for at in (0, 8))
    need(length <= most, "R8.35", offset, "a user's filter says %d bytes, %d are possible"
         % (length, most))
    result = FUNCTIONS[current.name](current.parameters, data[16:], length)
    need(len(result) == length, "R8.38", offset, "a user's filter gives %d bytes, not %d"
         % (len(result), length))
    need(not proof or (sum64(result) or 1) == proof, "R8.51", offset,
         "a user's filter gives other bytes than were stored")
    return result


def inflate(data, most, _):
    stream = zlib.decompressobj()
    try:
        result = stream.decompress(data, most + 1)
    except zlib.error:
        return None
    if len(result) > most:
        raise TooLong
    return result if stream.eof and not stream.unused_data else None


def unzstd(data, most, _=None):
    if _zstd is None:
        raise ReadError("R1.5", None, "the library zstd is not there")
    if data[:4] != bytes.fromhex("28b52ffd"):
        return None
    if (_zstd.ZSTD_findFrameCompressedSize(data, len(data)) != len(data)
            or _zstd.ZSTD_getDictID_fromFrame(data, len(data))):
        return None
    out = ctypes.create_string_buffer(max(most, 1))
    done = _zstd.ZSTD_decompress(out, most, data, len(data))
    if done > most and b"too small" in _zstd.ZSTD_getErrorName(done):
        raise TooLong
    return out.raw[:done] if done <= most else None


def lz4_number(data, at, four):
    """A number of four bits, and the bytes that follow if they are all set."""
    while four >= 15:
        four += data[at]
        at += 1
        if data[at - 1] != 255:
            break
    return four, at


def unlz4(data, most, _=None):
    """The LZ4 block format: sequences of a token, literals, two bytes of offset, a match."""
    out, at = bytearray(), 0
    try:
        while True:
            token = data[at]
            count, at = lz4_number(data, at + 1, token >> 4)
            if at + count > len(data):
                return None
            out += data[at:at + count]
            at += count
            if at == len(data):
                break
            back = data[at] + 256 * data[at + 1]
            count, at = lz4_number(data, at + 2, token & 15)
            if not 0 < back <= len(out):
                return None
            repeat(out, back, count + 4, most)
    except IndexError:
        return None
    return bytes(out) if len(out) <= most else too_long()


def repeat(out, back, count, most):
    """`count` bytes again that came `back` bytes before; they may overlap."""
    if len(out) + count > most:
        raise TooLong
    for _ in range(count):
        out.append(out[-back])


def too_long():
    raise TooLong


def exactly(decode, data, size):
    """A stream inside another: `size` bytes or None."""
    try:
        part = decode(data, size)
    except TooLong:
        return None
    return part if part is not None and len(part) == size else None


def blocks_of(data, at, sizes, decode):
    """Blocks with a u32 length in front; what they decode to, and the place behind them."""
    result = b""
    for size in sizes:
        length = int.from_bytes(data[at:at + 4], "big")
        part = data[at + 4:at + 4 + length]
        if len(data) < at + 4 or len(part) != length:
            return None, at
        part = exactly(decode, part, size)
        if part is None:
            return None, at
        result += part
        at += 4 + length
    return result, at


def cut(length, block):
    return [min(block, length - at) for at in range(0, length, block)]


def stated(length, most):
    if length > most:
        raise TooLong
    return length


def unhdf5lz4(data, most, _):
    if len(data) < 12:
        return None
    length = stated(int.from_bytes(data[:8], "big"), most)
    block = int.from_bytes(data[8:12], "big")
    if length and not block:
        return None
    result, at = blocks_of(data, 12, cut(length, block),
                           lambda part, size: part if len(part) == size else unlz4(part, size))
    return result if at == len(data) else None


def unlzf(data, most, _):
    out, at = bytearray(), 0
    try:
        while at < len(data):
            control = data[at]
            at += 1
            if control < 32:
                if at + control + 1 > len(data):
                    return None
                out += data[at:at + control + 1]
                at += control + 1
                continue
            count = (control >> 5) + 2
            if control >> 5 == 7:
                count += data[at]
                at += 1
            back = (control & 31) * 256 + data[at] + 1
            at += 1
            if back > len(out):
                return None
            repeat(out, back, count, most)
    except IndexError:
        return None
    return bytes(out) if len(out) <= most else too_long()


def unhdf5bitshuffle(data, most, parameters):
    size, block, how = parameters[:3]
    if how and len(data) < 12:
        return None
    length = stated(int.from_bytes(data[:8], "big") if how else len(data), most)
    whole, at = length // size // 8 * 8, 0
    if how:
        block = int.from_bytes(data[8:12], "big") // size
        if not block or block % 8:
            return None
        bits, at = blocks_of(data, 12, [n * size for n in cut(whole, block)],
                             unlz4 if how == 2 else unzstd)
    else:
        block = block or max(8192 // size // 8 * 8, 128)
        bits = data[:whole * size]
        at = len(bits)
    tail = data[at:]
    if bits is None or len(bits) != whole * size or len(tail) != length - whole * size:
        return None
    result = b""
    for number, n in enumerate(cut(whole, block)):
        first = number * block * size
        result += unbitshuffle(bits[first:first + n * size], size)
    return result + tail


def unblosc(data, most, _):
    little = [int.from_bytes(data[at:at + 4], "little") for at in (4, 8, 12)]
    if len(data) < 16 or data[0] != 2 or little[2] != len(data):
        return None
    length = stated(little[0], most)
    flags, size, block = data[2], data[3] or 1, little[1]
    if not length:
        return b"" if len(data) == 16 else None
    if not 0 < block <= length:
        return None
    if flags & 2:
        return data[16:] if len(data) == 16 + length else None
    result = b""
    for number, n in enumerate(cut(length, block)):
        at = int.from_bytes(data[16 + 4 * number:20 + 4 * number], "little")
        split = not (flags & 16 or n < block or size > 16 or block // size < 128)
        part = b""
        for _ in range(size if split else 1):
            want = n // size if split else n
            used = int.from_bytes(data[at:at + 4], "little")
            stream = data[at + 4:at + 4 + used]
            if at < 16 or len(stream) != used:
                return None
            at += 4 + used
            part += stream if used == want else exactly(lambda *x: blosc_stream(flags >> 5, *x), stream, want) or b""
        if len(part) != n:
            return None
        if flags & 1:
            part = unshuffle(part, size)
        elif flags & 4 and n >= size * 8:
            part = unbitshuffle(part, size)
        result += part
    return result


def blosc_stream(kind, data, length):
    if kind == 0:
        return unblosclz(data, length)
    if kind == 1:
        return unlz4(data, length)
    if kind == 3:
        return inflate(data, length, None)
    if kind == 4:
        return unzstd(data, length)
    raise ReadError("R1.5", None, "a compressor of blosc that this reader has not")


def unblosclz(data, length):
    """Like LZF, with a longer form of both numbers; the first byte has only its lowest 5 bits."""
    out, at = bytearray(), 1
    try:
        control = data[0] & 31
        while True:
            if control < 32:
                out += data[at:at + control + 1]
                at += control + 1
            else:
                count, far = (control >> 5) - 1, (control & 31) << 8
                if count == 6:
                    while True:
                        count += data[at]
                        at += 1
                        if data[at - 1] != 255:
                            break
                near = data[at]
                at += 1
                back = far + near + 1
                if near == 255 and far == 31 << 8:
                    back = (data[at] << 8) + data[at + 1] + 8191 + 1
                    at += 2
                for _ in range(count + 3):
                    out.append(out[-back])
            if at >= len(data):
                break
            control = data[at]
            at += 1
    except IndexError:
        return None
    return bytes(out) if len(out) == length else None


STREAMS = {DEFLATE: inflate, ZSTD: unzstd, LZ4: unlz4, HDF5_LZ4: unhdf5lz4, LZF: unlzf,
           HDF5_BITSHUFFLE: unhdf5bitshuffle, BLOSC: unblosc}


def unshuffle(data, size):
    count = len(data) // size
    out = bytearray(data)
    for byte in range(size if count else 0):
        out[byte:count * size:size] = data[byte * count:(byte + 1) * count]
    return bytes(out)


def unbitshuffle(data, size):
    groups = len(data) // size // 8
    out = bytearray(groups * 8 * size)
    position = 0
    for byte in range(size if groups else 0):
        for bit in range(8):
            for group in range(groups):
                bits = data[position]
                position += 1
                for element in range(8):
                    out[(8 * group + element) * size + byte] |= (bits >> element & 1) << bit
    return bytes(out) + data[len(out):]


def undelta(data, width, order):
    order = ("big", "little")[order]
    mask, last, out = (1 << 8 * width) - 1, 0, bytearray()
    whole = len(data) // width * width
    for at in range(0, whole, width):
        last = last + int.from_bytes(data[at:at + width], order) & mask
        out += last.to_bytes(width, order)
    return bytes(out) + data[whole:]


REORDER = {SHUFFLE: unshuffle, BITSHUFFLE: unbitshuffle, DELTA: undelta}
