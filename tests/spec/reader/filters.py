# SPDX-License-Identifier: MIT
"""Filters (SPEC.md 8.4)."""

import ctypes
import zlib

from .errors import Newer, ReadError, need
from .records import library

SHUFFLE, BITSHUFFLE, DELTA, DEFLATE, ZSTD, LZ4 = 1, 2, 3, 16, 17, 18
USER = 32768
NAMES = {SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle", DELTA: "delta", DEFLATE: "deflate",
         ZSTD: "zstd", LZ4: "lz4"}
PARAMETERS = {SHUFFLE: 1, BITSHUFFLE: 1, DELTA: 2, DEFLATE: 1, ZSTD: 1, LZ4: 1}
COMPRESSORS = (DEFLATE, ZSTD, LZ4)

# Functions of users' filters, by name: (parameters, bytes, length of the result) -> bytes (R8.38).
FUNCTIONS = {}

_zstd, _lz4 = library("zstd"), library("lz4")
if _zstd:
    _zstd.ZSTD_decompress.restype = ctypes.c_size_t
    _zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                      ctypes.c_size_t]
    _zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    _zstd.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    _zstd.ZSTD_getDictID_fromFrame.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


class Filter:
    """One filter of a dataset's list."""

    def __init__(self, r):
        self.offset = r.here
        self.id, self.flags = r.u16(), r.u8()
        self.name = r.text(r.u8(), "name of a filter")
        count = r.u8()
        need(count <= 8, "R8.31", r.here - 1, "a filter has %d parameters" % count)
        self.parameters = [r.u32() for _ in range(count)]
        self.bare = bool(self.flags & 1)
        self.newer = bool(self.flags & 14) or (self.id < USER and self.id not in NAMES)
        need(not self.name or self.id >= USER, "R8.37", self.offset,
             "a filter of the format has a name")
        if not self.newer:
            self._check()

    def _check(self):
        at = self.offset
        if self.id >= USER:
            need(1 <= len(self.name.encode()) <= 127, "R8.37", at, "a user's filter has no name")
            need(not self.bare, "R8.33", at, "a user's filter is bare")
            return
        need(len(self.parameters) == PARAMETERS[self.id], "R8.31", at, "%s has %d parameters"
             % (NAMES[self.id], len(self.parameters)))
        need(not self.bare or self.id in COMPRESSORS, "R8.33", at, "%s is bare" % NAMES[self.id])
        first = self.parameters[0]
        if self.id in (SHUFFLE, BITSHUFFLE):
            need(first >= 1, "R8.32", at, "elements of 0 bytes are shuffled")
        if self.id == DELTA:
            need(first in (1, 2, 4, 8) and self.parameters[1] <= 1, "R8.32", at,
                 "delta has parameters that it cannot have")

    @property
    def changes_lengths(self):
        return self.id in COMPRESSORS or self.id >= USER

    def shown(self):
        name = NAMES.get(self.id) or self.name or str(self.id)
        result = {"name": name, "parameters": self.parameters}
        if self.bare:
            result["bare"] = True
        return result


def parse(r):
    count = r.u8()
    need(count <= 16, "R8.31", r.here - 1, "a dataset has %d filters" % count)
    return [Filter(r) for _ in range(count)]


def undo(filters, skipped, data, fixed, variable, most, offset):
    """The payload of a filtered chunk: `fixed` bytes of fixed parts if it is full (R8.30)."""
    applied = [f for number, f in enumerate(filters) if not skipped >> number & 1]
    for number in reversed(range(len(applied))):
        current, before = applied[number], applied[:number]
        if current.newer or current.id >= USER and current.name not in FUNCTIONS:
            raise Newer("filter %s" % (current.name or current.id))
        behind = any(f.changes_lengths for f in before)
        if current.changes_lengths:
            data = decompress(current, data, limit(before, fixed, variable, most), fixed,
                              variable or behind, offset)
        else:
            end = len(data) if behind else min(fixed, len(data))
            data = REORDER[current.id](data[:end], *current.parameters) + data[end:]
    return data


def limit(before, fixed, variable, most):
    """How many bytes a compressor may say that it had (R8.35)."""
    result = most if variable else fixed
    for current in before:
        if current.id >= USER:
            result = 2 * result + 65536
    return result


def decompress(current, data, most, fixed, no_bare, offset):
    if current.bare:
        need(not no_bare, "R8.33", offset, "a bare filter where lengths are not known")
        length = fixed
    else:
        need(len(data) >= 8, "R8.34", offset, "a compressed chunk of %d bytes" % len(data))
        length = int.from_bytes(data[:8], "big")
        data = data[8:]
        need(length <= most, "R8.35", offset, "a compressor says %d bytes, %d are possible"
             % (length, most))
    if current.id >= USER:
        result = FUNCTIONS[current.name](current.parameters, data, length)
    else:
        result = {DEFLATE: inflate, ZSTD: unzstd, LZ4: unlz4}[current.id](data, length)
    need(result is not None and len(result) == length, "R8.34", offset,
         "a stream of %s is damaged" % (NAMES.get(current.id) or current.name))
    return result


def inflate(data, length):
    stream = zlib.decompressobj()
    try:
        result = stream.decompress(data, length + 1)
    except zlib.error:
        return None
    return result if stream.eof and not stream.unused_data else None


def unzstd(data, length):
    if _zstd is None:
        raise ReadError("R1.5", None, "the library zstd is not there")
    if data[:4] != bytes.fromhex("28b52ffd"):
        return None
    if (_zstd.ZSTD_findFrameCompressedSize(data, len(data)) != len(data)
            or _zstd.ZSTD_getDictID_fromFrame(data, len(data))):
        return None
    out = ctypes.create_string_buffer(max(length, 1))
    done = _zstd.ZSTD_decompress(out, length, data, len(data))
    return out.raw[:length] if done == length else None


def unlz4(data, length):
    if _lz4 is None:
        raise ReadError("R1.5", None, "the library lz4 is not there")
    out = ctypes.create_string_buffer(max(length, 1))
    done = _lz4.LZ4_decompress_safe(data, out, len(data), length)
    return out.raw[:length] if done == length else None


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
