#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""drepwrite.py - a small writer of Datarep test files, from SPEC.md alone.

It shares nothing with the reader but the tables of section 5 and the borrowed
libraries, and it will write anything it is told to, also what is malformed.
A file is built in memory: objects first, then commit() lays them into blocks.
"""

import ctypes
import math
import os
import struct
import sys
import zlib
from fractions import Fraction
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import borrowed  # noqa: E402
import codes as C  # noqa: E402

UUID = bytes.fromhex("0f1e2d3c4b5a69788796a5b4c3d2e1f0")
TIME = 1700000000123456789
WRITER = "drepwrite 1"


def u8(n):
    return struct.pack(">B", n)


def u16(n):
    return struct.pack(">H", n)


def u32(n):
    return struct.pack(">I", n)


def u64(n):
    return struct.pack(">Q", n)


def var(n):
    out = b""
    while n > 127:
        out += u8(n & 127 | 128)
        n >>= 7
    return out + u8(n)


def i64(n):
    return struct.pack(">q", n)


def to_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def pad64(n):
    return (n + 63) // 64 * 64


# ---------------------------------------------------------------- scalars

def significand(value, bits, emin):
    """(sig, exp) with value = sig x 2^exp, sig of at most `bits`, exp >= emin; half to even."""
    value = Fraction(value)
    if value == 0:
        return 0, emin
    exp = value.numerator.bit_length() - value.denominator.bit_length() - bits
    while True:
        e = max(exp, emin)
        sig = round(value / Fraction(2) ** e)
        if sig.bit_length() <= bits:
            return sig, e
        exp += 1


def special(value):
    """(negative, kind, magnitude): kind is "nan", "inf" or None for a number."""
    if isinstance(value, str):
        return value.startswith("-"), value.lstrip("-"), None
    neg = value < 0 or isinstance(value, float) and math.copysign(1, value) < 0
    return neg, None, abs(Fraction(value))


def ieee(value, ebits, fbits, bias):
    neg, kind, mag = special(value)
    top = (1 << ebits) - 1
    sign = neg << (ebits + fbits)
    if kind == "nan":
        return sign | top << fbits | 1 << (fbits - 1)
    if kind == "inf":
        return sign | top << fbits
    sig, exp = significand(mag, fbits + 1, 1 - bias - fbits)
    e = exp + bias + fbits if sig >> fbits else 0
    assert e < top or (ebits, fbits) == (4, 3)
    return sign | e << fbits | sig & (1 << fbits) - 1


def extended(value, lowest):
    """(sign and exponent, significand) of x87 (lowest exponent -16382) and m68k (-16383)."""
    neg, kind, mag = special(value)
    if kind == "nan":
        return neg << 15 | 0x7fff, 3 << 62
    if kind == "inf":
        return neg << 15 | 0x7fff, 1 << 63
    sig, exp = significand(mag, 64, lowest - 63)
    if not sig >> 63:
        e = 0
    else:
        e = exp + 63 + 16383
    return neg << 15 | e, sig


def ibm(value, fbits):
    neg, _, mag = special(value)
    if mag == 0:
        return neg << (fbits + 7)
    e = 0
    while mag >= 1:
        mag /= 16
        e += 1
    while mag < Fraction(1, 16):
        mag *= 16
        e -= 1
    f = round(mag * 2 ** fbits)
    return neg << (fbits + 7) | (e + 64) << fbits | f


def vax(value, ebits, fbits, bias):
    neg, kind, mag = special(value)
    if kind == "nan":
        return 1 << (ebits + fbits)
    if mag == 0:
        return 0
    sig, exp = significand(mag, fbits + 1, -1 << 20)
    e = exp + fbits + 1 + bias
    return neg << (ebits + fbits) | e << fbits | sig & (1 << fbits) - 1


def cray(value):
    neg, kind, mag = special(value)
    if kind == "inf":
        return neg << 63 | 24576 << 48
    if mag == 0:
        return 0
    sig, exp = significand(mag, 48, -1 << 20)
    return neg << 63 | (exp + 48 + 16384) << 48 | sig


def ordered(n, order, size):
    if order == 1:
        return n.to_bytes(size, "little")
    raw = n.to_bytes(size, "big")
    if order == 2:
        raw = b"".join(raw[i:i + 2][::-1] for i in range(0, size, 2))
    return raw


IEEE = {C.BINARY16: (5, 10, 15), C.BFLOAT16: (8, 7, 127), C.FP8_E5M2: (5, 2, 15),
        C.BINARY32: (8, 23, 127), C.BINARY64: (11, 52, 1023), C.BINARY128: (15, 112, 16383)}
VAX = {C.VAX_F: (8, 23, 128), C.VAX_D: (8, 55, 128), C.VAX_G: (11, 52, 1024),
       C.VAX_H: (15, 112, 16384)}


def encode(value, form, order, size):
    """One scalar.  A bytes value is taken as it is."""
    if isinstance(value, bytes):
        assert len(value) == size
        return value
    if form in (C.INT, C.UINT, C.BYTES, C.BOOL):
        return ordered(int(value) & (1 << 8 * size) - 1, order, size)
    if form in (C.CHAR, C.UNICODE):
        return ordered(ord(value), order, size)
    if form == C.EBCDIC:
        return value.encode("cp037")
    if form in IEEE:
        return ordered(ieee(value, *IEEE[form]), order, size)
    if form == C.FP8_E4M3:
        if value == "nan":
            return b"\x7f"
        return ordered(ieee(value, 4, 3, 7), order, size)
    if form == C.X87:
        head, sig = extended(value, -16382)
        return ordered(head << 64 | sig, order, size)
    if form == C.M68K:
        head, sig = extended(value, -16383)
        return ordered(head << 80 | sig, order, size)
    if form == C.DOUBLE_DOUBLE:
        high = value if isinstance(value, str) else float(Fraction(value))
        low = 0.0 if isinstance(value, str) else float(Fraction(value) - Fraction(high))
        return (ordered(ieee(high, 11, 52, 1023), order, 8) +
                ordered(ieee(low, 11, 52, 1023), order, 8))
    if form in (C.IBM32, C.IBM64):
        return ordered(ibm(value, 24 if form == C.IBM32 else 56), order, size)
    if form == C.IBM128:
        n = ibm(value, 112)
        sign, e, f = n >> 119, n >> 112 & 0x7f, n & (1 << 112) - 1
        high = sign << 63 | e << 56 | f >> 56
        low = sign << 63 | (e - 14 & 0x7f) << 56 | f & (1 << 56) - 1
        return ordered((high << 64 | low) if f else sign << 127 | sign << 63, order, 16)
    if form in VAX:
        return ordered(vax(value, *VAX[form]), order, size)
    if form == C.CRAY64:
        return ordered(cray(value), order, size)
    raise ValueError("format %d" % form)


# ---------------------------------------------------------------- types
#
# A type is "INT" (predefined), "vstring", "ref", "region", or a tuple:
# ("string", padding, size) ("opaque", size, tag) ("enum", base, [(name, value)])
# ("bool", base) ("array", [dims], base) ("struct", [(name, type)]) ("seq", base)
# ("scalar", 32 bytes, encode function) ("raw", record bytes).

def codes_of(t):
    if isinstance(t, str):
        return {C.CODE_OF[t]} if t in C.CODE_OF else set()
    if t[0] == "struct":
        return set().union(*(codes_of(m[1]) for m in t[1])) if t[1] else set()
    if t[0] in ("enum", "bool", "seq"):
        return codes_of(t[1])
    return codes_of(t[2]) if t[0] == "array" else set()


class Shape:
    """Sizes and alignments: rows maps a code to (format, order, size, align)."""

    placed = True  # offsets that a struct states count

    def __init__(self, rows, aligned=False, packed=False):
        self.rows, self.aligned, self.packed = rows, aligned, packed

    def size(self, t):
        if isinstance(t, str):
            fixed = {"vstring": 16, "ref": 8, "region": 24}
            return fixed[t] if t in fixed else self.rows[C.CODE_OF[t]][2]
        if t[0] == "string":
            return t[2]
        if t[0] == "opaque":
            return t[1]
        if t[0] in ("enum", "bool"):
            return self.size(t[1])
        if t[0] == "array":
            n = self.size(t[2])
            for d in t[1]:
                n *= d
            return n
        if t[0] == "struct":
            return self.members(t)[1]
        if t[0] == "seq":
            return 16
        if t[0] == "scalar":
            return t[1][2]
        raise ValueError(t)

    def align(self, t):
        if isinstance(t, str):
            return 8 if t in ("vstring", "ref", "region") else self.rows[C.CODE_OF[t]][3]
        if t[0] == "struct":
            return max([self.align(m[1]) for m in t[1]] or [1])
        if t[0] == "array":
            return self.align(t[2])
        if t[0] in ("enum", "bool"):
            return self.align(t[1])
        return 8 if t[0] == "seq" else 1

    def members(self, t):
        """([offset of each member], size); a struct may state them: ("struct", [...], offsets,
        size)."""
        if len(t) > 2 and self.placed:
            return t[2], t[3]
        at, offsets = 0, []
        for _, m in t[1]:
            if self.aligned:
                at = -(-at // self.align(m)) * self.align(m)
            offsets.append(at)
            at += self.size(m)
        if self.aligned:
            at = -(-at // self.align(t)) * self.align(t)
        return offsets, at

    def record(self, t, laid_out):
        """The datatype record."""
        def text(s):
            return u16(len(s.encode())) + s.encode()

        if isinstance(t, str):
            if t in C.CODE_OF:
                return b"\1\0" + u16(C.CODE_OF[t])
            return {"vstring": b"\x0a\0", "ref": b"\x0b\0\0", "region": b"\x0b\0\1"}[t]
        k = t[0]
        if k == "raw":
            return t[1]
        if k == "scalar":
            return b"\2\0" + t[1]
        if k == "string":
            return b"\3\0" + u8(t[1]) + u64(t[2])
        if k == "opaque":
            return b"\4\0" + u64(t[1]) + text(t[2])
        if k == "enum":
            return (b"\5\0" + u32(len(t[2])) + b"".join(text(n) + i64(v) for n, v in t[2]) +
                    self.record(t[1], laid_out))
        if k == "bool":
            return b"\6\0" + self.record(t[1], laid_out)
        if k == "array":
            return (b"\7\0" + u8(len(t[1])) + b"".join(map(u64, t[1])) +
                    self.record(t[2], laid_out))
        if k == "seq":
            return b"\x09\0" + self.record(t[1], laid_out)
        offsets, size = self.members(t) if laid_out else ([0] * len(t[1]), 0)
        return (b"\x08" + u8(1 if laid_out else 0) + u32(len(t[1])) + u64(size) +
                b"".join(text(n) + u64(o) + self.record(m, laid_out)
                         for (n, m), o in zip(t[1], offsets)))

    def encode(self, t, value, heap):
        """The fixed part of one element; variable parts are appended to `heap`."""
        if isinstance(t, str):
            if t == "vstring":
                return self.variable(to_bytes(value), heap, None)
            if t == "ref":
                return u64(value)
            if t == "region":
                return u64(value[0]) + self.variable(to_bytes(value[1]), heap, None)
            code = C.CODE_OF[t]
            form, order, size = self.rows[code][:3]
            if C.PREDEFINED[code][1] == "complex":
                return b"".join(encode(v, form, order, size // 2) for v in value)
            return encode(value, form, order, size)
        k = t[0]
        if k == "scalar":
            return t[2](value)
        if k == "string":
            raw = to_bytes(value)
            return raw + (b" " if t[1] == 2 else b"\0") * (t[2] - len(raw))
        if k == "opaque":
            return bytes.fromhex(value)
        if k in ("enum", "bool"):
            return self.encode(t[1], value, heap)
        if k == "array":
            n = self.size(t) // self.size(t[2])
            assert len(value) == n
            return b"".join(self.encode(t[2], v, heap) for v in value)
        if k == "seq":
            return self.variable(value, heap, t[1])
        offsets, size = self.members(t)
        out = bytearray(size)
        for (_, m), at, v in zip(t[1], offsets, value):
            raw = self.encode(m, v, heap)
            out[at:at + len(raw)] = raw
        return bytes(out)

    def variable(self, value, heap, base):
        if not value:
            return bytes(16)
        if base is None:
            at = len(heap)
            heap += value
            return u64(len(value)) + u64(at)
        size = self.size(base)
        at = len(heap)
        heap += bytes(size * len(value))
        for i, v in enumerate(value):
            raw = self.encode(base, v, heap)
            heap[at + i * size:at + (i + 1) * size] = raw
        return u64(len(value)) + u64(at)


def self_described(t, values, forms=None):
    """A self-described value; `forms` overrides {code: (format, size)}."""
    rows = {}
    for code in sorted(codes_of(t)):
        form, _, size = C.standard_table("internal")[code]
        form, size = (forms or {}).get(code, (form, size))
        rows[code] = (form, 0, size, 1)
    shape = Shape(rows)
    shape.placed = False
    heap = bytearray()
    fixed = b"".join(shape.encode(t, v, heap) for v in values)
    head = u8(len(rows)) + b"".join(u8(r[0]) + u8(r[2]) for _, r in sorted(rows.items()))
    return head + fixed + bytes(heap)


# ---------------------------------------------------------------- filters

def shuffle(data, s):
    n = len(data) // s
    return b"".join(data[b:n * s:s] for b in range(s)) + data[n * s:]


def bitshuffle(data, s):
    groups = len(data) // s // 8
    out = bytearray()
    for b in range(s):
        for k in range(8):
            for m in range(groups):
                out.append(sum((data[(8 * m + j) * s + b] >> k & 1) << j for j in range(8)))
    return bytes(out) + data[groups * 8 * s:]


def delta(data, w, order):
    name = "little" if order else "big"
    n = len(data) // w
    out, before = b"", 0
    for i in range(n):
        v = int.from_bytes(data[i * w:(i + 1) * w], name)
        out += ((v - before) % (1 << 8 * w)).to_bytes(w, name)
        before = v
    return out + data[n * w:]


def zstd(data, level):
    lib = borrowed.zstd()
    out = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    n = lib.ZSTD_compress(out, len(out), data, len(data), level)
    return out.raw[:n]


def lz4(data):
    out = ctypes.create_string_buffer(len(data) * 2 + 64)
    n = borrowed.lz4().LZ4_compress_default(data, out, len(data), len(out))
    return out.raw[:n]


def blocks(data, size, pack):
    """Blocks of that many bytes, each with its length in front, as they are where packing does not help."""
    out = b""
    for at in range(0, len(data), size):
        part = data[at:at + size]
        packed = pack(part)
        packed = part if len(packed) >= len(part) else packed
        out += u32(len(packed)) + packed
    return out


def lzf(data):
    """Repetitions of up to 264 bytes at the nearest place before; else literal runs."""
    out, plain, at = b"", b"", 0
    while at < len(data):
        best = 0, 0
        for back in range(1, min(at, 300) + 1):
            n = 0
            while n < 264 and at + n < len(data) and data[at + n] == data[at + n - back]:
                n += 1
            best = max(best, (n, -back))
        n, back = best[0], -best[1]
        if n < 3:
            plain += data[at:at + 1]
            at += 1
        if plain and (n >= 3 or len(plain) == 32 or at == len(data)):
            out, plain = out + u8(len(plain) - 1) + plain, b""
        if n >= 3:
            high, low = divmod(back - 1, 256)
            out += u8((n - 2) << 5 | high) + u8(low) if n - 2 < 7 else u8(7 << 5 | high) + u8(n - 9) + u8(low)
            at += n
    return out


def hdf5_bitshuffle(data, size, block, how, level):
    block = block or max(8192 // size // 8 * 8, 128)
    whole = len(data) // size // 8 * 8 * size
    parts = [bitshuffle(data[at:min(at + block * size, whole)], size) for at in range(0, whole, block * size)]
    if how == 0:
        return b"".join(parts) + data[whole:]
    packed = [lz4(p) if how == 2 else zstd(p, level) for p in parts]
    return u64(len(data)) + u32(block * size) + b"".join(u32(len(p)) + p for p in packed) + data[whole:]


def blosc(data, size, level, shuffled, code):
    """One block, its bytes shuffled or not: zlib (3), or as it is at level 0."""
    def little(n):
        return n.to_bytes(4, "little")

    if level == 0:
        return bytes([2, 1, 2, size]) + little(len(data)) * 2 + little(16 + len(data)) + data
    part = shuffle(data, size) if shuffled == 1 else data
    stream = zlib.compress(part, level)
    stream = part if len(stream) >= len(part) else stream
    return bytes([2, 1, 16 | 3 << 5 | (shuffled == 1), size]) + little(len(data)) * 2 + little(24 + len(stream)) + \
        little(20) + little(len(stream)) + stream


def mirror(parameters, data):
    """A user's filter: the bytes backwards, each changed by the first parameter."""
    return bytes(b ^ parameters[0] for b in reversed(data))


FILTER = {"shuffle": 1, "bitshuffle": 2, "delta": 3, "deflate": 16, "zstd": 17, "lz4": 18, "hdf5-lz4": 19, "lzf": 20,
          "hdf5-bitshuffle": 21, "blosc": 22}


class Hdf5(NamedTuple):
    """A filter of HDF5, in the place of a filter's name."""
    id: int
    name: str = ""
    optional: bool = False


def fletcher32(data):
    """As libhdf5 computes it: two sums of words, folded now and then."""
    a = b = 0
    for at in range(0, len(data), 2):
        a += int.from_bytes(data[at:at + 2].ljust(2, b"\0"), "big")
        b += a
        a, b = [(n & 0xffff) + (n >> 16) for n in (a, b)]
    return (b << 16 | a).to_bytes(4, "little")


def apply_hdf5(number, parameters, data):
    """What HDF5's filter of this number makes of data."""
    if number == 1:
        return zlib.compress(data, parameters[0])
    if number == 2:
        return shuffle(data, parameters[0])
    if number == 3:
        return data + fletcher32(data)
    if number == 32000:
        return lzf(data)
    if number == 32001:
        return blosc(data, parameters[2], *parameters[4:])
    if number == 32004:
        size = (parameters or [0])[0] or len(data)
        return u64(len(data)) + u32(size) + blocks(data, size, lz4)
    if number == 32008:
        return hdf5_bitshuffle(data, *(parameters[2:] + [0] * 4)[:4])
    if number == 32015:
        return zstd(data, parameters[0])
    return bytes(b ^ 0x5a for b in data)


def apply_filter(name, parameters, data, fixed):
    if isinstance(name, Hdf5):
        return apply_hdf5(name.id, parameters, data)
    if name == "deflate":
        return zlib.compress(data, parameters[0])
    if name == "zstd":
        return zstd(data, parameters[0])
    if name == "lz4":
        return lz4(data)
    if name == "hdf5-lz4":
        size = parameters[0] or len(data)
        return u64(len(data)) + u32(size) + blocks(data, size, lz4)
    if name == "lzf":
        return lzf(data)
    if name == "hdf5-bitshuffle":
        return hdf5_bitshuffle(data, *parameters)
    if name == "blosc":
        return blosc(data, *parameters)
    if name == "mirror":
        return u64(len(data)) + u64(borrowed.xxh3(data) or 1) + mirror(parameters, data)
    call = {"shuffle": shuffle, "bitshuffle": bitshuffle, "delta": delta}[name]
    return call(data[:fixed], *parameters) + data[fixed:]


# ---------------------------------------------------------------- the file

def block(kind, content, sequence, level=0, count=0, uuid=UUID, spoil=None):
    head = bytearray(b"DRPB" + u8(kind) + u8(level) + bytes(2) + uuid[:8] + u64(sequence) +
                     u32(40 + len(content)) + u32(count) + bytes(8))
    raw = bytearray(head + content)
    if spoil:
        spoil(raw)
    raw[32:40] = u64(borrowed.xxh3(raw[:32] + bytes(8) + raw[40:]))
    return bytes(raw)


def node_content(entries, level):
    """[(key, far, value)] as the entries of a node."""
    out, before = b"", b""
    for i, (key, far, value) in enumerate(entries):
        shared = 0
        while i and shared < min(len(key), len(before), 255) and key[shared] == before[shared]:
            shared += 1
        out += u32(shared << 24 | len(key) - shared << 13 | len(value) << 1 | far)
        out += key[shared:] + value
        before = key
    return out


class Rep:
    """A representation: `records` are further nested ones, `head` replaces its first fields."""

    def __init__(self, number, name, form, table, aligned, scalars, machine):
        self.number, self.name, self.form, self.flags = number, name, form, 0
        self.table = table or {c: r + (1,) for c, r in C.standard_table(
            name if name in ("external32", "internal") else "internal").items()}
        self.encodings = table is not None
        self.shape = Shape(self.table, aligned)
        self.scalars, self.machine = scalars, machine
        self.used, self.witnesses, self.records, self.head = set(), {}, [], None

    def nested(self):
        """(tag, content): the fields of the record under its tag 1, then what is nested in it."""
        name = self.name.encode()
        out = [(1, self.head or u8(self.form) + u8(self.flags) + u16(self.number) + u8(len(name)) +
                name)]
        if self.used:
            out.append((2, b"".join(u16(c) + u16(self.table[c][2]) for c in sorted(self.used))))
        if self.encodings:
            out.append((3, b"".join(
                u16(c) + u8(r[0]) + u8(r[1]) + u8(r[2]) + u8(r[3]) +
                u8(r[4] if len(r) > 4 else 0) + u8(0) for c, r in sorted(self.table.items()))))
            if self.scalars:
                out.append((4, self.scalars))
        if self.witnesses:
            out.append((5, b"".join(u16(c) + u8(len(w)) + u8(len(w[0])) + b"".join(w)
                                    for c, w in sorted(self.witnesses.items()))))
        return out + [(8, self.machine.encode())] + self.records


def rep_content(nested):
    return nested[0][1] + b"".join(u16(t) + u32(len(c)) + c for t, c in nested[1:])


class Builder:
    """Makes one file.  `spoil` maps a place to a function that may break what is about to be
    written there: "slot", "node", "value", "sums", "pending" (bytearrays before the sum),
    "entries" (of each leaf), "interior", "header" (list of (tag, content)), "rep" (list of the
    fields of representation 0 and of what is nested in it)."""

    def __init__(self, name="external32", form=1, table=None, aligned=False, hints=None, scalars=b"",
                 machine="s390x", node_max=4096, spoil=None):
        self.reps = [Rep(0, name, form, table, aligned, scalars, machine)]
        self.shape = self.reps[0].shape
        self.hints = hints or {}
        self.node_max = node_max
        self.spoil = spoil or {}
        self.space = bytearray(8192)
        self.slots = [bytes(4096), bytes(4096)]
        self.at_end = False  # the first commit's slot stands behind everything else
        self.end_slot = b""
        self.sequence = 0
        self.writing = 1
        self.tree = {}
        self.far = set()
        self.types = {}
        self.type_uses = {}
        self.extra_records = []
        self.slot_fields = {}
        self.continue_from = None
        self.next_object = 1
        self.objects = {}
        self.node_extents = []
        self.beside = {}  # files that stand beside the vector: name, content
        self.group(None, None)

    def rep(self, name, form=1, table=None, aligned=False, scalars=b"", machine="s390x"):
        """Adds a representation; the number names it in dataset()."""
        self.reps.append(Rep(len(self.reps), name, form, table, aligned, scalars, machine))
        return self.reps[-1].number

    # space

    def alloc(self, raw, align=64):
        while len(self.space) % align:
            self.space += bytes(1)
        at = len(self.space)
        self.space += raw
        while len(self.space) % 64:
            self.space += bytes(1)
        return at

    def put_block(self, kind, content, place, level=0, count=0):
        raw = block(kind, content, self.writing, level, count, spoil=self.spoil.get(place))
        at = self.alloc(raw)
        if kind in (1, 3, 4) or place == "value-tree":
            self.node_extents.append((at, pad64(len(raw))))
        return u64(at) + u32(len(raw)) + raw[32:40]

    # objects

    def key(self, ident, tag, tail=b""):
        return u8(tag == 48) + u64(ident) + u8(tag) + tail

    def new(self, kind, parent, name):
        ident = self.next_object
        self.next_object += 1
        self.objects[ident] = {"kind": kind, "hard": 0, "attrs": 0, "links": 0, "flags": 0,
                               "rest": b"", "tail": b"", "next_link": 0}
        if parent is not None:
            self.link(parent, name, ident)
        elif ident == 1:
            self.objects[1]["hard"] = 1
        return ident

    def add_link(self, parent, name, kind, rest):
        p = self.objects[parent]
        index = p["next_link"]
        p["next_link"] += 1
        p["links"] += 1
        self.tree[self.key(parent, 32, name.encode())] = u8(kind) + u8(0) + var(index) + rest

    def link(self, parent, name, ident):
        self.objects[ident]["hard"] += 1
        self.add_link(parent, name, 1, u8(self.objects[ident]["kind"]) + var(ident))

    def soft(self, parent, name, path):
        raw = path.encode()
        self.add_link(parent, name, 2, u16(len(raw)) + raw)

    def external(self, parent, name, file, path):
        a, b = file.encode(), path.encode()
        self.add_link(parent, name, 3, u16(len(a)) + a + u16(len(b)) + b)

    def unlink(self, parent, name):
        del self.tree[self.key(parent, 32, name.encode())]
        self.objects[parent]["links"] -= 1

    def group(self, parent, name):
        return self.new(1, parent, name)

    def dimension(self, parent, name, length, unlimited=False, scales=(), flags=0):
        """parent None: without an entry in a group."""
        d = self.new(4, None, None)
        self.objects[d]["rest"] = var(length) + u16(len(scales)) + b"".join(map(u64, scales))
        if parent is not None:
            p = self.objects[parent]
            self.objects[d]["hard"] = 1
            self.tree[self.key(parent, 34, name.encode())] = (
                u8(1) + u8(flags) + var(p["next_link"]) + var(d))
            p["next_link"] += 1
        self.objects[d]["flags"] = int(unlimited)
        return d

    def type_number(self, t, laid_out, rep=0):
        """The u32 of a datatype; a reference to a TYPE entry is counted."""
        if isinstance(t, str) and t in C.CODE_OF:
            return C.CODE_OF[t]
        record = self.reps[rep].shape.record(t, laid_out)
        if record not in self.types:
            self.types[record] = len(self.types)
        number = self.types[record]
        self.type_uses[number] = self.type_uses.get(number, 0) + 1
        return 65536 + number

    def named(self, parent, name, t):
        n = self.new(3, parent, name)
        self.objects[n]["rest"] = var(self.type_number(t, False))
        return n

    def attr(self, ident, name, t, value, shape=(), forms=None, tail=b"", laid_out=False,
             raw=None):
        """shape None: the null dataspace; value: a flat list unless the shape is (); raw: the
        self-described value instead."""
        values = [value] if shape == () else (value or [])
        index = self.objects[ident]["attrs"]
        self.objects[ident]["attrs"] += 1
        if raw is None:
            raw = b"" if shape is None else self_described(t, values, forms)
        dims = b"" if shape is None else b"".join(map(var, shape))
        record = (b"\1\0" + var(index) + var(self.type_number(t, laid_out)) +
                  u8(255 if shape is None else len(shape)) + dims + var(len(raw)) + raw + tail)
        key = self.key(ident, 48, name.encode())
        self.tree[key] = record
        if len(record) > 2000:
            self.far.add(key)

    def payload(self, t, values, rep=0):
        heap = bytearray()
        fixed = b"".join(self.reps[rep].shape.encode(t, v, heap) for v in values)
        return fixed + bytes(heap), len(fixed)

    def dataset(self, parent, name, t, shape=(), layout="null", chunk=(), filters=(), fill=0,
                fill_value=None, maxshape=None, dims=None, tail=b"", data=None, rep=0,
                fill_forms=None, suffix=None):
        """Declares a dataset.  shape None: null dataspace.  `data` is a flat list: stored compact,
        or as one contiguous slab.  suffix: the dimensions that rows count over."""
        ident = self.new(2, parent, name)
        if data is not None and layout == "null":
            layout = "compact"
        if layout == "contiguous" and not chunk:
            chunk = (max(1, len(data) if data is not None else 1),)
        self.reps[rep].used |= codes_of(t)
        o = self.objects[ident]
        o["flags"] = (1 if maxshape else 0) | (2 if dims else 0)
        kinds = ("null", "compact", "contiguous", "chunked")
        rest = var(self.type_number(t, True, rep)) + var(self.reps[rep].number)
        rest += u8(kinds.index(layout))
        rest += u8(255 if shape is None else len(shape)) + b"".join(map(var, shape or ()))
        if maxshape:
            rest += b"".join(var((1 << 64) - 1 if m is None else m) for m in maxshape)
        if dims:
            rest += b"".join(var(d or 0) for d in dims)
            for i, d in enumerate(dims):
                if d:
                    self.tree[self.key(d, 80, u64(ident) + u8(i))] = b""
        if layout == "contiguous":
            rest += var(chunk[0])
        if layout == "chunked":
            rest += b"".join(map(var, chunk))
            if suffix is None:  # as long as may be
                suffix = min(1, len(chunk))
                while suffix < len(chunk) and (maxshape or shape)[-suffix] is not None:
                    suffix += 1
            rest += u8(suffix)
        rest += u8(len(filters))
        for f, parameters in filters:
            if isinstance(f, Hdf5):
                number, flags, own = f.id, 2 | 4 * f.optional, f.name.encode()
            else:
                f, flags = f if isinstance(f, tuple) else (f, 0)
                number, own = FILTER.get(f, 32768), f.encode() if f not in FILTER else b""
            rest += u16(number) + u8(flags) + u8(len(own)) + own + u8(len(parameters))
            rest += b"".join(map(u32, parameters))
        rest += u8(fill)
        if fill == 1:
            raw = self_described(t, [fill_value], fill_forms)
            rest += var(len(raw)) + raw
        o["rest"], o["tail"], o["changed"] = rest, tail, self.sequence + 1
        o["type"], o["filters"], o["ranks"] = t, filters, len(chunk)
        if data is not None and layout == "compact":
            self.compact(ident, self.payload(t, data, rep)[0])
        elif data is not None and layout == "contiguous":
            self.run(ident, (0,), [self.payload(t, data, rep)[0]])
        return ident

    def compact(self, ident, raw):
        key = self.key(ident, 24)
        self.objects[ident]["changed"] = self.sequence + 1
        self.tree[key] = raw
        if len(raw) > 2000:
            self.far.add(key)

    def run(self, ident, at, payloads, sums=True, tail=b"", edit=None):
        """Chunks from grid coordinates `at` on, of equal size, back to back."""
        raw = b"".join(payloads)
        size = len(payloads[0])
        assert all(len(p) == size for p in payloads)
        offset = self.alloc(raw, 4096 if len(raw) >= 65536 else 64) if raw else 0
        values = [borrowed.xxh3(p[i:i + 4096]) or 1 for p in payloads for i in range(0, size, 4096)]
        if not sums:
            values = [0] * len(values)
        rest = b"".join(map(u64, values if len(values) <= 4 else ()))
        for i in range(0, len(values) if len(values) > 4 else 0, 8187):
            part = values[i:i + 8187]
            rest += self.put_block(5, b"".join(map(u64, part)), "sums", 0, len(part))
        self.record(ident, at, u8(1) + u8(0) + u32(len(payloads)) + u64(offset) +
                    u64(size) + rest + tail, edit)

    def record(self, ident, at, record, edit=None):
        self.objects[ident]["changed"] = self.sequence + 1
        self.tree[self.key(ident, 64, b"".join(map(u64, at)))] = edit(record) if edit else record

    def packed(self, ident, at, stored, skipped=0, tail=b"", edit=None):
        """Filtered chunks from grid coordinates `at` on, back to back."""
        rows = b"".join(u32(len(s)) + u64(borrowed.xxh3(s) or 1) for s in stored)
        self.record(ident, at, u8(2) + u8(0) + u8(len(stored)) + u8(0) + u32(skipped) +
                    u64(self.alloc(b"".join(stored))) + rows + tail, edit)

    def placed(self, ident, at, stored, skipped=0, tail=b"", edit=None, where=None):
        """Filtered chunks from `at` on, each somewhere: where[i], or in lines of its own."""
        where = where or [self.alloc(s) for s in stored]
        rows = b"".join(u64(o) + u32(len(s)) + u64(borrowed.xxh3(s) or 1)
                        for o, s in zip(where, stored))
        self.record(ident, at, u8(3) + u8(0) + u8(len(stored)) + u8(0) + u32(skipped) + rows + tail,
                    edit)

    def target(self, name, content, kind=1, time=0, number=None, flags=0, edit=None, tail=b"", version=b""):
        """A FILES entry; the file of that name is written beside the vector.  Gives its number."""
        number = number or 1 + sum(key.startswith(self.key(0, 4)) for key in self.tree)
        raw = name.encode() if isinstance(name, str) else name
        record = (u8(kind) + u8(flags) + u16(len(raw)) + raw + u64(len(content)) +
                  u64(borrowed.xxh3(content[:65536]) or 1) + i64(time) + u16(len(version)) + version + tail)
        self.tree[self.key(0, 4, u32(number))] = edit(record) if edit else record
        if len(record) > 2000:
            self.far.add(self.key(0, 4, u32(number)))
        self.beside[name] = content
        return number

    def pointed(self, ident, at, number, rows, skipped=0, edit=None, tail=b""):
        """Chunks from `at` on whose bytes are in a target: rows of (offset, bytes)."""
        raw = b"".join(u64(o) + u32(len(s)) + u64(borrowed.xxh3(s) or 1) for o, s in rows)
        self.record(ident, at, u8(4) + u8(0) + u8(len(rows)) + u8(0) + u32(skipped) + u32(number) + raw + tail, edit)

    def filtered(self, ident, at, values, skipped=0, full=None):
        """One chunk through the dataset's filters."""
        self.packed(ident, at, [self.encoded(ident, values, skipped)], skipped)

    def encoded(self, ident, values, skipped=0):
        """The stored bytes of a chunk."""
        o = self.objects[ident]
        raw, fixed = self.payload(o["type"], values)
        for i, (name, parameters) in enumerate(o["filters"]):
            if not skipped >> i & 1:
                raw = apply_filter(name, parameters, raw, fixed)
                if isinstance(name, Hdf5) or name in ("deflate", "zstd", "lz4", "mirror", "hdf5-lz4", "lzf", "hdf5-bitshuffle", "blosc"):
                    fixed = len(raw)
        return raw

    # commit

    def object_records(self):
        for ident, o in self.objects.items():
            rest = o["rest"]
            if o["kind"] == 1:
                rest = var(o["next_link"]) + var(o["links"])
            if o["kind"] == 2:
                rest = var(o["changed"]) + rest
            record = u8(o["kind"]) + u8(o["flags"]) + var(o["hard"]) + var(o["attrs"])
            key = self.key(ident, 16)
            self.tree[key] = record + rest + o["tail"]
            if len(self.tree[key]) > 2000:
                self.far.add(key)
        for record, number in self.types.items():
            key = self.key(0, 3, u32(number))
            self.tree[key] = u64(self.type_uses[number]) + record
            if len(self.tree[key]) > 2000:
                self.far.add(key)

    def header(self):
        spoil = self.spoil.get("rep", lambda r: r)
        records = [(1, rep_content(spoil(r.nested()) if not r.number else r.nested()))
                   for r in self.reps]
        if self.hints:
            records.append((6, b"".join(u16(len(k)) + k.encode() + u16(len(v)) + v.encode()
                                        for k, v in sorted(self.hints.items()))))
        records += [(7, WRITER.encode())] + self.extra_records
        return self.spoil.get("header", lambda r: r)(records)

    def commit(self, free_old=False):
        """Write the tree into fresh space and the slot that the sequence number names."""
        self.sequence += 1
        old, self.node_extents = self.node_extents, []
        self.object_records()
        entries = []
        for key in sorted(self.tree):
            value = self.tree[key]
            if key in self.far:
                entries.append((key, 1, self.put_block(2, value, "value-tree")))
            else:
                entries.append((key, 0, value))
        root = self.write_nodes(entries)
        pending = bytes(20)
        if free_old and old:
            content = b"".join(u64(a) + u64(pad64(n)) + u64(self.sequence) for a, n in sorted(old))
            pending = self.put_block(3, content, "pending", 0, len(old))
        self.write_slot(root, pending)
        self.writing += 1

    def write_nodes(self, entries):
        level = 0
        while True:
            groups, group, size = [], [], 40
            for e in entries:
                n = 4 + len(e[0]) + len(e[2])
                if group and size + n > self.node_max:
                    groups.append(group)
                    group, size = [], 40
                group.append(e)
                size += n
            groups.append(group)
            above = []
            for i, g in enumerate(groups):
                # The shortest key above everything before; nothing for the first.
                key = b""
                if i:
                    last, first = groups[i - 1][-1][0], g[0][0]
                    if level:
                        key = first
                    else:
                        n = 1
                        while first[:n] <= last:
                            n += 1
                        key = first[:n]
                hook = self.spoil.get("interior" if level else "entries")
                shown = hook(list(g)) if hook else g
                content = node_content(shown, level)
                if level == 0 and "content" in self.spoil:
                    content = self.spoil["content"](content)
                above.append((key, 0, self.put_block(1, content, "interior-node" if level else
                                                     "node", level, len(shown))))
            if len(groups) == 1:
                return above[0][2]
            entries, level = above, level + 1

    def write_slot(self, root, pending):
        records = [u16(t) + u32(len(c)) + c for t, c in self.header()]
        here, more = b"", b""
        for i, r in enumerate(records):
            cut = self.continue_from is not None and i >= self.continue_from
            if more or cut or len(here) + len(r) > 3832:
                more += r
            else:
                here += r
        continuation = self.put_block(4, more, "continuation") if more else bytes(20)
        if len(self.space) % 64:
            self.space += bytes(-len(self.space) % 64)
        f = {"major": 1, "minor": 1, "compatible": 0, "incompatible": 0, "write_incompatible": 0,
             "end": len(self.space)}
        if self.at_end and self.sequence == 1:
            f["incompatible"] = 1
        f.update(self.slot_fields)
        raw = bytearray(
            bytes.fromhex("894452500d0a1a0a") + u16(f["major"]) + u16(f["minor"]) +
            u32(len(here)) + u64(self.sequence) + UUID + u64(f["incompatible"]) +
            u64(f["write_incompatible"]) + u64(f["compatible"]) + u64(f["end"]) +
            i64(TIME + self.sequence - 1) + root + pending + continuation + bytes(16) +
            u64(self.next_object) + u32(len(self.types)) + bytes(88) + here)
        assert len(raw) == 256 + len(here)
        raw += bytes(4088 - len(raw))
        if "slot" in self.spoil:
            self.spoil["slot"](raw)
        raw += u64(borrowed.xxh3(raw))
        if self.at_end and self.sequence == 1:
            self.end_slot = bytes(raw)
            # What a stream begins with: magic, version, sequence, UUID and the feature.
            raw = raw[:12] + bytes(4) + raw[16:48] + bytes(4040)
            raw += u64(borrowed.xxh3(raw))
        elif self.end_slot:
            # The commit that follows brings the slot to its place first.
            first = bytearray(self.end_slot)
            first[47] &= 0xfe
            self.slots[0] = resum(first)
            self.end_slot = b""
        self.slots[(self.sequence + 1) % 2] = bytes(raw)

    def image(self):
        return self.slots[0] + self.slots[1] + bytes(self.space[8192:]) + self.end_slot


def resum(image, index=0):
    """Set the sum of a slot right again after a change."""
    raw = bytearray(image)
    at = 4096 * index
    raw[at + 4088:at + 4096] = u64(borrowed.xxh3(raw[at:at + 4088]))
    return bytes(raw)
