# SPDX-License-Identifier: MIT
"""Numbers, texts and records (SPEC.md 1.3)."""

import ctypes
import ctypes.util

from .errors import ReadError, need


def library(name):
    """A library of the system, or None: what needs it then refuses to guess."""
    path = ctypes.util.find_library(name)
    return ctypes.CDLL(path) if path else None


_xxhash = library("xxhash")
if _xxhash is None:
    raise ImportError("the library xxhash is not there: no sum could be verified")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def sum64(data):
    """The sum of R1.4."""
    data = bytes(data)
    return _xxhash.XXH3_64bits(data, len(data))


def decode_text(data, offset, what):
    """Text of R1.3."""
    try:
        text = bytes(data).decode("utf-8")
    except UnicodeDecodeError as e:
        raise ReadError("R1.3", offset + e.start, "%s is not UTF-8" % what) from None
    need("\0" not in text, "R1.3", offset, "%s has a NUL" % what)
    return text


class Record:
    """Reads the fields of a record one after the other; `offset` is its place in the file."""

    def __init__(self, data, offset, what):
        self.data, self.offset, self.what = bytes(data), offset, what
        self.position = 0

    @property
    def here(self):
        return self.offset + self.position

    @property
    def left(self):
        return len(self.data) - self.position

    def bytes(self, count):
        need(count <= self.left, "R1.6", self.here,
             "%s ends within a field of %d bytes" % (self.what, count))
        start = self.position
        self.position += count
        return self.data[start:self.position]

    def number(self, size):
        return int.from_bytes(self.bytes(size), "big")

    def u8(self):
        return self.number(1)

    def u16(self):
        return self.number(2)

    def u32(self):
        return self.number(4)

    def u64(self):
        return self.number(8)

    def i64(self):
        return int.from_bytes(self.bytes(8), "big", signed=True)

    def var(self, bits=64):
        start, value, shift = self.here, 0, 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            need(value < 1 << bits, "R1.10", start, "%s: a number is too large" % self.what)
            if byte < 128:
                need(byte or not shift, "R1.10", start,
                     "%s: a number takes more bytes than it needs" % self.what)
                return value
            shift += 7
            need(shift < 70, "R1.10", start, "%s: a number does not end" % self.what)

    def var32(self):
        return self.var(32)

    def text(self, count, what="a text"):
        start = self.here
        return decode_text(self.bytes(count), start, "%s: %s" % (self.what, what))
