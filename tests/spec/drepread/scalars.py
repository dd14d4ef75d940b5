"""Scalars (5.2 and 5.5): from stored bytes to exact values.

A real is a Python float where binary64 holds the value exactly (also NaN and
the infinities), else a Dyadic: sign, significand and power of two, exactly.
"""

import math

import numpy as np

from . import codes as C
from .errors import DrepError

INF = math.inf
NAN = math.nan


class Dyadic:
    """(-1)^neg x sig x 2^exp with sig odd; a value that binary64 does not hold."""

    __slots__ = ("neg", "sig", "exp")

    def __init__(self, neg, sig, exp):
        self.neg, self.sig, self.exp = neg, sig, exp

    def hex(self):
        bits = self.sig.bit_length() - 1
        text = "-0x1" if self.neg else "0x1"
        if bits:
            fraction = self.sig - (1 << bits)
            pad = -bits % 4
            digits = "%0*x" % ((bits + pad) // 4, fraction << pad)
            text += "." + digits.rstrip("0")
        return text + "p%+d" % (self.exp + bits)


def real(neg, sig, exp):
    """(-1)^neg x sig x 2^exp, as a float if that is exact."""
    if sig == 0:
        return -0.0 if neg else 0.0
    zeros = (sig & -sig).bit_length() - 1
    sig >>= zeros
    exp += zeros
    bits = sig.bit_length()
    if bits <= 53 and exp + bits <= 1024 and exp >= -1074:
        value = math.ldexp(sig, exp)
        return -value if neg else value
    return Dyadic(neg, sig, exp)


def parts(value):
    """The inverse of real() for finite values."""
    if isinstance(value, Dyadic):
        return value.neg, value.sig, value.exp
    neg = math.copysign(1.0, value) < 0
    num, den = abs(value).as_integer_ratio()
    return neg, num, 1 - den.bit_length()


def add(a, b):
    """The exact sum of two reals (a double-double)."""
    for v in (a, b):
        if isinstance(v, float) and not math.isfinite(v):
            return v
    (na, sa, ea), (nb, sb, eb) = parts(a), parts(b)
    exp = min(ea, eb)
    total = ((-sa if na else sa) << (ea - exp)) + ((-sb if nb else sb) << (eb - exp))
    if total == 0:
        return a if sa == 0 else 0.0
    return real(total < 0, abs(total), exp)


def ieee(n, ebits, fbits, bias):
    f = n & ((1 << fbits) - 1)
    e = n >> fbits & ((1 << ebits) - 1)
    neg = bool(n >> (ebits + fbits) & 1)
    if e == (1 << ebits) - 1:
        if f:
            return NAN
        return -INF if neg else INF
    if e == 0:
        return real(neg, f, 1 - bias - fbits)
    return real(neg, f | 1 << fbits, e - bias - fbits)


def e4m3(n):
    if n & 0x7f == 0x7f:
        return NAN
    f, e, neg = n & 7, n >> 3 & 15, bool(n & 0x80)
    return real(neg, f, -9) if e == 0 else real(neg, f | 8, e - 10)


def x87(n):
    sig = n & (1 << 64) - 1
    e = n >> 64 & 0x7fff
    neg = bool(n >> 79 & 1)
    if e and not sig >> 63:
        return NAN
    if e == 0x7fff:
        if sig & (1 << 63) - 1:
            return NAN
        return -INF if neg else INF
    return real(neg, sig, max(e, 1) - 16383 - 63)


def m68k(n):
    sig = n & (1 << 64) - 1
    e = n >> 80 & 0x7fff
    neg = bool(n >> 95 & 1)
    if e == 0x7fff:
        if sig & (1 << 63) - 1:
            return NAN
        return -INF if neg else INF
    return real(neg, sig, e - 16383 - 63)


def ibm(n, fbits):
    f = n & (1 << fbits) - 1
    e = n >> fbits & 0x7f
    return real(bool(n >> (fbits + 7)), f, 4 * (e - 64) - fbits)


def ibm128(n):
    """The fractions of both halves are one; sign and exponent of the low half say nothing."""
    f = (n >> 64 & (1 << 56) - 1) << 56 | n & (1 << 56) - 1
    return real(bool(n >> 127), f, 4 * ((n >> 120 & 0x7f) - 64) - 112)


def vax(n, ebits, fbits, bias):
    f = n & (1 << fbits) - 1
    e = n >> fbits & (1 << ebits) - 1
    neg = bool(n >> (ebits + fbits) & 1)
    if e == 0:
        return NAN if neg else 0.0
    return real(neg, f | 1 << fbits, e - bias - fbits - 1)


def cray(n):
    f = n & (1 << 48) - 1
    e = n >> 48 & 0x7fff
    neg = bool(n >> 63)
    if n == 0:
        return 0.0
    if e >= 24576:
        return -INF if neg else INF
    return real(neg, f, e - 16384 - 48)


EBCDIC = bytes(range(256)).decode("cp037")


def signed(n, bits):
    return n - (1 << bits) if n >> (bits - 1) & 1 else n


DECODE = {
    C.BYTES: lambda n, size: n,
    C.INT: lambda n, size: signed(n, 8 * size),
    C.UINT: lambda n, size: n,
    C.BOOL: lambda n, size: n != 0,
    C.CHAR: lambda n, size: chr(n),
    C.UNICODE: lambda n, size: chr(n) if n < 0xd800 or 0xdfff < n < 0x110000 else n,
    C.EBCDIC: lambda n, size: EBCDIC[n],
    C.BINARY16: lambda n, size: ieee(n, 5, 10, 15),
    C.BFLOAT16: lambda n, size: ieee(n, 8, 7, 127),
    C.FP8_E4M3: lambda n, size: e4m3(n),
    C.FP8_E5M2: lambda n, size: ieee(n, 5, 2, 15),
    C.BINARY32: lambda n, size: ieee(n, 8, 23, 127),
    C.BINARY64: lambda n, size: ieee(n, 11, 52, 1023),
    C.BINARY128: lambda n, size: ieee(n, 15, 112, 16383),
    C.X87: lambda n, size: x87(n),
    C.M68K: lambda n, size: m68k(n),
    C.IBM32: lambda n, size: ibm(n, 24),
    C.IBM64: lambda n, size: ibm(n, 56),
    C.IBM128: lambda n, size: ibm128(n),
    C.VAX_F: lambda n, size: vax(n, 8, 23, 128),
    C.VAX_D: lambda n, size: vax(n, 8, 55, 128),
    C.VAX_G: lambda n, size: vax(n, 11, 52, 1024),
    C.VAX_H: lambda n, size: vax(n, 15, 112, 16384),
    C.CRAY64: lambda n, size: cray(n),
}

NUMPY = {
    (C.BINARY16, 2): "f2", (C.BINARY32, 4): "f4", (C.BINARY64, 8): "f8",
    **{(C.INT, s): "i%d" % s for s in (1, 2, 4, 8)},
    **{(C.UINT, s): "u%d" % s for s in (1, 2, 4, 8)},
}


def number(raw, order):
    """The bytes put in order and taken as one number."""
    if order == 1:
        return int.from_bytes(raw, "little")
    if order == 2:
        raw = b"".join(raw[i:i + 2][::-1] for i in range(0, len(raw), 2))
    return int.from_bytes(raw, "big")


class Description:
    """A scalar description of 32 bytes (5.5)."""

    def __init__(self, cur):
        self.cls = cur.u8()
        self.order = cur.u8()
        self.size = cur.u8()
        self.signed = cur.u8()
        self.format = cur.u8()
        self.normalisation = cur.u8()
        self.low_pad = cur.u8()
        self.high_pad = cur.u8()
        self.precision = cur.u16()
        self.offset = cur.u16()
        self.sign_pos = cur.u16()
        self.exp_pos = cur.u16()
        self.exp_width = cur.u16()
        self.sig_pos = cur.u16()
        self.sig_width = cur.u16()
        self.base_log2 = cur.u8()
        cur.u8()
        self.bias = cur.i64()
        self.check(cur)

    def check(self, cur):
        self.later = self.format not in C.FORMATS or self.order > 2
        if self.later:  # only what uses it cannot be read
            return
        if self.cls not in (1, 2, 3):
            cur.fail("scalar description of class %d (R5.20)" % self.cls)
        if not 1 <= self.size <= 32:
            cur.fail("scalar of %d bytes (R5.21)" % self.size)
        if self.signed > 1 or max(self.normalisation, self.low_pad, self.high_pad) > 2:
            cur.fail("unknown number in a scalar description (R5.20)")
        if self.format != C.CUSTOM:
            return
        lo, hi = self.offset, self.offset + self.precision
        if self.precision < 1 or hi > 8 * self.size:
            cur.fail("value bits lie outside the scalar (R5.22)")
        if self.cls != 2:
            return
        if self.normalisation > 2 or self.base_log2 not in (1, 4):
            cur.fail("unknown normalisation or base (R5.20)")
        if self.exp_width > 32 or self.sig_width > 113 or not self.exp_width or not self.sig_width:
            cur.fail("exponent or significand too wide (R5.24)")
        if self.normalisation == 0 and (self.base_log2 == 4 or self.exp_width < 2) or (
                self.base_log2 == 4 and self.sig_width < 4):
            cur.fail("base and leading bit do not go together (R5.24)")
        used = 0
        for pos, width in ((self.sign_pos, 1), (self.exp_pos, self.exp_width),
                           (self.sig_pos, self.sig_width)):
            if pos < lo or pos + width > hi:
                cur.fail("a field lies outside the value bits (R5.23)")
            mask = ((1 << width) - 1) << pos
            if used & mask:
                cur.fail("fields overlap (R5.23)")
            used |= mask

    def value(self, n):
        if self.cls != 2:
            v = n >> self.offset & (1 << self.precision) - 1
            return signed(v, self.precision) if self.cls == 1 and self.signed else v
        neg = bool(n >> self.sign_pos & 1)
        e = n >> self.exp_pos & (1 << self.exp_width) - 1
        f = n >> self.sig_pos & (1 << self.sig_width) - 1
        if self.normalisation == 0:
            top = (1 << self.exp_width) - 1
            if e == top:
                if f:
                    return NAN
                return -INF if neg else INF
            if e == 0:
                return real(neg, f, self.base_log2 * (1 - self.bias) - self.sig_width)
            return real(neg, f | 1 << self.sig_width,
                        self.base_log2 * (e - self.bias) - self.sig_width)
        point = self.sig_width if self.base_log2 == 4 else self.sig_width - 1
        return real(neg, f, self.base_log2 * (e - self.bias) - point)


class Scalar:
    """How one scalar is stored: format, order of its bytes, size, description if custom."""

    def __init__(self, form, order, size, desc=None, where=None):
        self.format, self.order, self.size, self.desc = form, order, size, desc
        cur = where
        if form not in C.FORMATS:
            self._fail("unknown format %d (R3.19)" % form, cur)
        if size not in C.FORMATS[form][2]:
            self._fail("size %d does not suit format %s (R3.18)" % (size, C.FORMATS[form][0]), cur)
        if order > 2:
            self._fail("unknown byte order %d (R3.17)" % order, cur)
        if order == 2 and size % 2 and size > 1:
            self._fail("VAX order of an odd size (R3.17)", cur)
        if form == C.CUSTOM and desc is None:
            self._fail("custom format without a description (R3.21)", cur)

    @staticmethod
    def _fail(message, cur):
        if cur is not None:
            cur.fail(message)
        raise DrepError("FORMAT", message)

    def decode(self, raw):
        if self.format == C.CUSTOM:
            return self.desc.value(number(raw, self.order))
        if self.format == C.DOUBLE_DOUBLE:
            return add(ieee(number(raw[:8], self.order), 11, 52, 1023),
                       ieee(number(raw[8:], self.order), 11, 52, 1023))
        return DECODE[self.format](number(raw, self.order), self.size)

    def decode_many(self, buf, starts):
        """Values of the scalars that begin at `starts` in `buf`."""
        kind = NUMPY.get((self.format, self.size))
        if kind and self.order < 2 and len(starts) > 16:
            raw = np.frombuffer(buf, np.uint8)
            at = np.asarray(starts, np.int64)[:, None] + np.arange(self.size)
            dtype = np.dtype(("<" if self.order else ">") + kind)
            got = np.ascontiguousarray(raw[at]).view(dtype)[:, 0]
            if kind[0] == "f":
                got = got.astype(np.float64)
            return got.tolist()
        size = self.size
        return [self.decode(buf[s:s + size]) for s in starts]
