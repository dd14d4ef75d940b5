# SPDX-License-Identifier: MIT
"""Scalars by exact arithmetic: what a value becomes in another format, and what is lost.

Written from SPEC.md, 5.2, alone, with Python's integers; it shares no line with the library.
A scalar is a Num.  decode() and encode() go between a Num and the bytes of an encoding, and
convert() does what a transfer does to one scalar.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "spec"))

import codes as C  # noqa: E402

OVER, INEXACT, NAN, TO_NUMBER = 1, 2, 4, 8
WRAP, CLAMP = "wrap", "clamp"

# format: (bits of the exponent, of the fraction, bias), IEEE 754's way
IEEE = {C.BINARY16: (5, 10, 15), C.BFLOAT16: (8, 7, 127), C.FP8_E5M2: (5, 2, 15),
        C.BINARY32: (8, 23, 127), C.BINARY64: (11, 52, 1023), C.BINARY128: (15, 112, 16383)}
# 0.1f x 2^(e - bias)
VAX = {C.VAX_F: (8, 23, 128), C.VAX_D: (8, 55, 128), C.VAX_G: (11, 52, 1024),
       C.VAX_H: (15, 112, 16384)}
IBM = {C.IBM32: 24, C.IBM64: 56, C.IBM128: 112}
PAIR_LOW = 0x7c8ffffffffffffe  # beside the largest binary64


class Num:
    """kind "zero", "finite" (m x 2^e, m > 0), "inf" or "nan" (frac: 128 bits, left-aligned)."""

    __slots__ = ("kind", "neg", "m", "e", "frac")

    def __init__(self, kind, neg, m=0, e=0, frac=0):
        self.kind, self.neg, self.m, self.e, self.frac = kind, neg, m, e, frac
        if kind == "finite" and m == 0:
            self.kind = "zero"
        if self.kind == "finite":
            zeros = (m & -m).bit_length() - 1
            self.m, self.e = m >> zeros, e + zeros

    def key(self):
        return self.kind, self.neg, self.m, self.e, self.frac

    def top(self):
        """Power of two of the leading bit."""
        return self.m.bit_length() - 1 + self.e

    def __repr__(self):
        return "%s%s" % ("-" if self.neg else "", {
            "zero": "0", "inf": "inf", "nan": "nan(%x)" % self.frac,
            "finite": "%#x*2^%d" % (self.m, self.e)}[self.kind])


def rounded(m, shift):
    """m / 2^shift to nearest, ties to even; and whether that lost anything."""
    if shift <= 0:
        return m << -shift, False
    q, rest = m >> shift, m & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and q & 1):
        q += 1
    return q, rest != 0


# -------------------------------------------------------------------- decode


def finite(neg, m, e):
    return Num("finite", neg, m, e) if m else Num("zero", neg)


def decode_ieee(n, ebits, fbits, bias):
    f, e, neg = n & (1 << fbits) - 1, n >> fbits & (1 << ebits) - 1, bool(n >> (ebits + fbits) & 1)
    if e == (1 << ebits) - 1:
        return Num("nan", neg, frac=f << (128 - fbits)) if f else Num("inf", neg)
    return finite(neg, f | (1 << fbits if e else 0), (e or 1) - bias - fbits)


def decode_pair(high, low):
    a, b = (decode_ieee(n, *IEEE[C.BINARY64]) for n in (high, low))
    if a.kind in ("inf", "nan") or b.kind == "zero":
        return a
    if b.kind != "finite" or a.kind == "zero":
        return b
    e = min(a.e, b.e)
    total = sum((-x.m if x.neg else x.m) << (x.e - e) for x in (a, b))
    return finite(total < 0, abs(total), e)


def decode_real(form, n, parts=None):
    """The Num of the scalar n, its bytes put in order; parts: of a pair, its two halves."""
    if form in IEEE:
        return decode_ieee(n, *IEEE[form])
    if form == C.FP8_E4M3:
        if n & 0x7f == 0x7f:
            return Num("nan", bool(n >> 7))
        f, e = n & 7, n >> 3 & 15
        return finite(bool(n >> 7), f | (8 if e else 0), (e or 1) - 10)
    if form in (C.X87, C.M68K):
        sig, at = n & (1 << 64) - 1, 64 if form == C.X87 else 80
        e, neg = n >> at & 0x7fff, bool(n >> (at + 15) & 1)
        whole = sig >> 63 or form == C.M68K
        if e == 0x7fff or (e and not whole):
            fraction = sig & (1 << 63) - 1
            if fraction or not whole:
                return Num("nan", neg, frac=fraction << 65)
            return Num("inf", neg)
        return finite(neg, sig, (max(e, 1) if form == C.X87 else e) - 16383 - 63)
    if form == C.DOUBLE_DOUBLE:
        return decode_pair(*parts)
    if form in (C.IBM32, C.IBM64):
        fbits = IBM[form]
        return finite(bool(n >> (fbits + 7) & 1), n & (1 << fbits) - 1,
                      4 * ((n >> fbits & 127) - 64) - fbits)
    if form == C.IBM128:
        f = (n >> 64 & (1 << 56) - 1) << 56 | n & (1 << 56) - 1
        return finite(bool(n >> 127), f, 4 * ((n >> 120 & 127) - 64) - 112)
    if form in VAX:
        ebits, fbits, bias = VAX[form]
        f, e, neg = n & (1 << fbits) - 1, n >> fbits & (1 << ebits) - 1, bool(n >> (ebits + fbits))
        if e == 0:
            return Num("nan", False) if neg else Num("zero", False)
        return finite(neg, f | 1 << fbits, e - bias - fbits - 1)
    if form == C.CRAY64:
        f, e, neg = n & (1 << 48) - 1, n >> 48 & 0x7fff, bool(n >> 63)
        if e >= 24576:
            return Num("inf", neg)
        return finite(neg, f, e - 16384 - 48)
    raise ValueError(form)


# -------------------------------------------------------------------- encode


def encode_binary(x, digits, low, high):
    """A finite x with at most `digits` digits and its last one at 2^(low) or above; above 2^high
    there is nothing.  Gives (q, power of its last digit, lost), q None on overflow."""
    last = max(x.top() - digits + 1, low)
    q, lost = rounded(x.m, last - x.e)
    if q.bit_length() > digits:
        q >>= 1
        last += 1
    if q and q.bit_length() - 1 + last > high:
        return None, 0, OVER
    return q, last, INEXACT if lost else 0


def encode_ieee(x, ebits, fbits, bias, clamp):
    sign = int(x.neg) << (ebits + fbits)
    top = (1 << ebits) - 1
    if x.kind == "zero":
        return sign, 0
    if x.kind == "inf":
        return sign | top << fbits, 0
    if x.kind == "nan":
        quiet = x.frac | 1 << 127
        lost = NAN if quiet & ((1 << (128 - fbits)) - 1) else 0
        return sign | top << fbits | quiet >> (128 - fbits), lost
    q, last, lost = encode_binary(x, fbits + 1, 1 - bias - fbits, bias)
    if q is None:
        return sign | ((top << fbits) - 1 if clamp else top << fbits), lost
    if q < 1 << fbits:
        return sign | q, lost
    return sign | (last + fbits + bias) << fbits | q - (1 << fbits), lost


def encode_e4m3(x, clamp):
    sign = int(x.neg) << 7
    if x.kind == "zero":
        return sign, 0
    if x.kind == "nan":
        return sign | 0x7f, NAN if x.frac & ~(1 << 127) else 0
    if x.kind == "inf":
        return sign | 0x7e, OVER
    q, last, lost = encode_binary(x, 4, -9, 8)
    if q is None or (last == 5 and q == 15):
        return sign | 0x7e, OVER
    return sign | (q if q < 8 else (last + 10) << 3 | q - 8), lost


def encode_extended(x, m68k, clamp):
    at = 80 if m68k else 64
    sign = int(x.neg) << (at + 15)
    if x.kind == "zero":
        return sign, 0
    if x.kind == "inf":
        return sign | 0x7fff << at | (0 if m68k else 1 << 63), 0
    if x.kind == "nan":
        quiet = x.frac | 1 << 127
        lost = NAN if quiet & ((1 << 65) - 1) else 0
        return sign | 0x7fff << at | 1 << 63 | quiet >> 65, lost
    low = -16383 - 63 if m68k else -16382 - 63
    q, last, lost = encode_binary(x, 64, low, 16383)
    if q is None:
        if clamp:
            return sign | 0x7ffe << at | (1 << 64) - 1, lost
        return sign | 0x7fff << at | (0 if m68k else 1 << 63), lost
    e = last + 63 + 16383 if q >> 63 or m68k else 0
    return sign | e << at | q, lost


def encode_pair(x, clamp):
    """The two halves: the nearest binary64, then the nearest to what is left."""
    b64 = IEEE[C.BINARY64]
    high, lost = encode_ieee(x, *b64, clamp)
    if x.kind != "finite":
        return (high, 0), lost
    if lost & OVER:
        return (high, int(x.neg) << 63 | PAIR_LOW if clamp else 0), lost
    h = decode_ieee(high, *b64)
    e = min(x.e, h.e) if h.kind == "finite" else x.e
    rest = (-x.m if x.neg else x.m) << (x.e - e)
    if h.kind == "finite":
        rest -= (-h.m if h.neg else h.m) << (h.e - e)
    if rest == 0:
        return (high, 0), 0
    low, lost = encode_ieee(Num("finite", rest < 0, abs(rest), e), *b64, clamp)
    return (high, low if low & (1 << 63) - 1 else 0), lost


def encode_ibm(x, form, clamp):
    fbits = IBM[form]
    largest = (127, (1 << fbits) - 1)
    lost = 0
    if x.kind == "zero":
        e, f = 0, 0
    elif x.kind in ("inf", "nan"):
        lost = OVER if x.kind == "inf" else NAN | TO_NUMBER
        e, f = largest
    else:
        e = max(-(-(x.top() + 1) // 4) + 64, 0)
        f, inexact = rounded(x.m, 4 * (e - 64) - fbits - x.e)
        if f >> fbits:
            e, f = e + 1, f >> 4
        lost = INEXACT if inexact else 0
        if e > 127:
            lost = OVER
            e, f = largest
    sign = int(x.neg)
    if form != C.IBM128:
        return sign << (fbits + 7) | e << fbits | f, lost
    high = sign << 63 | e << 56 | f >> 56
    low = sign << 63 | (e - 14 & 127) << 56 | f & (1 << 56) - 1
    if f == 0:
        high = low = sign << 63
    return high << 64 | low, lost


def encode_vax(x, form, clamp):
    ebits, fbits, bias = VAX[form]
    sign, largest = int(x.neg) << (ebits + fbits), (1 << (ebits + fbits)) - 1
    if x.kind == "zero":
        return 0, 0
    if x.kind == "nan":
        return 1 << (ebits + fbits), NAN if x.frac & ~(1 << 127) or x.neg else 0
    if x.kind == "inf":
        return sign | largest, OVER
    lowest = -bias  # the smallest number is 2^-bias
    if x.top() < lowest:
        up = x.top() == lowest - 1 and x.m != 1  # nearer to the smallest than to 0
        return (sign | 1 << fbits if up else 0), INEXACT
    q, last, lost = encode_binary(x, fbits + 1, -(1 << 40), (1 << ebits) - 2 - bias)
    if q is None:
        return sign | largest, lost
    return sign | (last + fbits + bias + 1) << fbits | q - (1 << fbits), lost


def encode_cray(x, clamp):
    sign = int(x.neg) << 63
    if x.kind == "zero":
        return 0, 0
    if x.kind == "inf":
        return sign | 24576 << 48 | 1 << 47, 0
    if x.kind == "nan":
        return sign | 24576 << 48 | 1 << 47, NAN | TO_NUMBER
    e = max(x.top() + 1 + 16384, 0)
    f, inexact = rounded(x.m, e - 16384 - 48 - x.e)
    if f >> 48:
        e, f = e + 1, f >> 1
    if e > 24575:
        return (sign | 24575 << 48 | (1 << 48) - 1 if clamp else sign | 24576 << 48 | 1 << 47), OVER
    if f == 0:
        return 0, INEXACT
    return sign | e << 48 | f, INEXACT if inexact else 0


def encode_real(form, x, clamp):
    """(n, or for the pairs its two halves; what was lost)."""
    if form in IEEE:
        return encode_ieee(x, *IEEE[form], clamp)
    if form == C.FP8_E4M3:
        return encode_e4m3(x, clamp)
    if form in (C.X87, C.M68K):
        return encode_extended(x, form == C.M68K, clamp)
    if form == C.DOUBLE_DOUBLE:
        return encode_pair(x, clamp)
    if form in IBM:
        return encode_ibm(x, form, clamp)
    if form in VAX:
        return encode_vax(x, form, clamp)
    return encode_cray(x, clamp)


# --------------------------------------------------------------------- bytes


def ordered(raw, order):
    """The bytes with the most significant first, and back."""
    if order == 1:
        return raw[::-1]
    if order == 2:
        return b"".join(raw[i:i + 2][::-1] for i in range(0, len(raw), 2))
    return raw


EBCDIC = bytes(range(256)).decode("cp037")
PAIRS = (C.DOUBLE_DOUBLE,)
REALS = set(IEEE) | set(VAX) | set(IBM) | {C.FP8_E4M3, C.X87, C.M68K, C.DOUBLE_DOUBLE, C.CRAY64}


class Encoding:
    """How one scalar lies in bytes: format, order, size."""

    def __init__(self, form, order, size):
        self.form, self.order, self.size = form, order, size

    def key(self):
        return self.form, self.order, self.size

    def decode(self, raw):
        """A Num of a real, an int, a bool, or the bytes."""
        if self.form in PAIRS:
            halves = [int.from_bytes(ordered(raw[i:i + 8], self.order), "big") for i in (0, 8)]
            return decode_real(self.form, None, halves)
        raw = ordered(raw, self.order)
        if self.form == C.X87:
            return decode_real(C.X87, int.from_bytes(raw[-10:], "big"))
        n = int.from_bytes(raw, "big")
        if self.form in REALS:
            return decode_real(self.form, n)
        if self.form == C.INT:
            return n - (1 << 8 * self.size) if n >> (8 * self.size - 1) else n
        if self.form == C.BOOL:
            return n != 0
        if self.form == C.EBCDIC:
            return ord(EBCDIC[n])
        return n

    def encode(self, value, policy):
        """(bytes with zeros as padding, what was lost)."""
        if self.form in REALS:
            n, lost = encode_real(self.form, value, policy == CLAMP)
            if self.form in PAIRS:
                return b"".join(ordered(h.to_bytes(8, "big"), self.order) for h in n), lost
            return ordered(n.to_bytes(self.size, "big"), self.order), lost
        lost, bits = 0, 8 * self.size
        if self.form == C.EBCDIC:
            value = EBCDIC.index(chr(value))
        if self.form in (C.INT, C.UINT, C.UNICODE):
            low = -(1 << (bits - 1)) if self.form == C.INT else 0
            high = low + (1 << bits) - 1
            if not low <= value <= high:
                lost = OVER
                value = min(max(value, low), high) if policy == CLAMP else value
        n = int(value) & (1 << bits) - 1
        return ordered(n.to_bytes(self.size, "big"), self.order), lost

    def same(self, a, b):
        """Are these the same bytes, padding aside?"""
        if self.form == C.X87 and self.size > 10:
            return ordered(a, self.order)[-10:] == ordered(b, self.order)[-10:]
        if self.form == C.M68K:
            a, b = (ordered(x, self.order) for x in (a, b))
            return a[:2] == b[:2] and a[4:] == b[4:]
        return a == b


def copies(to, source):
    """Only the order of the bytes differs: nothing is looked at."""
    return to.form == source.form and (to.size == source.size or to.form == C.X87)


def convert(raw, source, to, policy):
    """The bytes of one scalar in another encoding, and what was lost."""
    if copies(to, source):
        if source.form in PAIRS:
            return b"".join(ordered(ordered(raw[i:i + 8], source.order), to.order) for i in (0, 8)), 0
        raw = ordered(raw, source.order)
        if source.form == C.X87:
            raw = bytes(to.size - 10) + raw[-10:]
        return ordered(raw, to.order), 0
    return to.encode(source.decode(raw), policy)
