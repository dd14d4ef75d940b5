# SPDX-License-Identifier: MIT
"""Scalars: what their bytes mean (SPEC.md 5.2, 5.3, 5.5).

A finite real is a Dyadic, mantissa x 2^exponent, exact even where the exponent has 64 bits; the
others are the floats nan, inf, -inf and -0.0.
"""

from collections import namedtuple
from fractions import Fraction

from .codes import PREDEFINED
from .errors import Newer, limit, need

BIG, LITTLE, VAX = range(3)
CUSTOM = 255
NAN, INFINITY = float("nan"), float("inf")
MINUS_ZERO = -0.0
INT, UINT, BOOL, CHAR, UNICODE, EBCDIC = range(2, 8)
BINARY32 = 20

Format = namedtuple("Format", "name kind sizes")
FORMATS = {
    1: Format("bytes", "bytes", range(1, 33)),
    INT: Format("int", "integer", range(1, 17)),
    UINT: Format("uint", "integer", range(1, 17)),
    BOOL: Format("bool", "bool", range(1, 17)),
    CHAR: Format("char", "char", (1,)),
    UNICODE: Format("unicode", "wchar", range(1, 5)),
    EBCDIC: Format("ebcdic", "char", (1,)),
    16: Format("binary16", "real", (2,)),
    17: Format("bfloat16", "real", (2,)),
    18: Format("fp8-e4m3", "real", (1,)),
    19: Format("fp8-e5m2", "real", (1,)),
    BINARY32: Format("binary32", "real", (4,)),
    21: Format("binary64", "real", (8,)),
    22: Format("binary128", "real", (16,)),
    23: Format("x87", "real", (10, 12, 16)),
    24: Format("m68k", "real", (12,)),
    25: Format("double-double", "real", (16,)),
    26: Format("ibm-hex32", "real", (4,)),
    27: Format("ibm-hex64", "real", (8,)),
    28: Format("ibm-hex128", "real", (16,)),
    29: Format("vax-f", "real", (4,)),
    30: Format("vax-d", "real", (8,)),
    31: Format("vax-g", "real", (8,)),
    32: Format("vax-h", "real", (16,)),
    33: Format("cray64", "real", (8,)),
}
IEEE = {16: (5, 10), 17: (8, 7), 19: (5, 2), BINARY32: (8, 23), 21: (11, 52), 22: (15, 112)}
IBM = {26: 24, 27: 56}
VAX_REALS = {29: (8, 23), 30: (8, 55), 31: (11, 52), 32: (15, 112)}
REAL_FORMATS = {2: 16, 4: BINARY32, 8: 21, 16: 22}


def size_fits(form, size):
    return size in FORMATS[form].sizes


def suits(form_class, datatype_class):
    """R3.19; a boolean may be stored as an integer."""
    if datatype_class == "bool":
        return form_class in ("bool", "integer")
    return form_class == ("real" if datatype_class == "complex" else datatype_class)


class Dyadic(namedtuple("Dyadic", "mantissa exponent")):
    """mantissa x 2^exponent; the mantissa is odd, or 0."""

    @property
    def fraction(self):
        return Fraction(self.mantissa) * Fraction(2) ** self.exponent


def dyadic(mantissa, exponent, negative=False):
    if mantissa == 0:
        return MINUS_ZERO if negative else Dyadic(0, 0)
    zeros = (mantissa & -mantissa).bit_length() - 1
    mantissa >>= zeros
    return Dyadic(-mantissa if negative else mantissa, exponent + zeros)


def in_order(data, order):
    """The bytes of a scalar as one number (R3.17)."""
    if order == VAX and len(data) > 1:
        data = b"".join(data[i:i + 2][::-1] for i in range(0, len(data), 2))
    return int.from_bytes(data, "little" if order == LITTLE else "big")


def signed(number, bits):
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def field(number, position, width):
    return number >> position & ((1 << width) - 1)


def implied(negative, exponent, fraction, exponent_bits, fraction_bits, bias):
    """A real whose leading 1 is implied, as IEEE 754 has them (R5.26)."""
    if exponent == (1 << exponent_bits) - 1:
        if fraction:
            return NAN
        return -INFINITY if negative else INFINITY
    if exponent == 0:
        return dyadic(fraction, 1 - bias - fraction_bits, negative)
    return dyadic(fraction | 1 << fraction_bits, exponent - bias - fraction_bits, negative)


def real(form, data, order):
    """The value of a real in a format of 5.2."""
    if form == 25:
        return double_double(data, order)
    number = in_order(data, order)
    bits = 8 * len(data)
    negative = bool(number >> (bits - 1))
    if form in IEEE:
        exponent_bits, fraction_bits = IEEE[form]
        return implied(negative, field(number, fraction_bits, exponent_bits),
                       field(number, 0, fraction_bits), exponent_bits, fraction_bits,
                       (1 << (exponent_bits - 1)) - 1)
    if form == 18:
        exponent, fraction = field(number, 3, 4), field(number, 0, 3)
        if number & 127 == 127:
            return NAN
        if exponent == 0:
            return dyadic(fraction, -9, negative)
        return dyadic(fraction | 8, exponent - 10, negative)
    if form == 23:
        return x87(field(number, 0, 80))
    if form == 24:
        return m68k(number)
    if form in IBM:
        width = IBM[form]
        return dyadic(field(number, 0, width), 4 * (field(number, width, 7) - 64) - width, negative)
    if form == 28:
        fraction = field(number, 64, 56) << 56 | field(number, 0, 56)
        return dyadic(fraction, 4 * (field(number, 120, 7) - 64) - 112, negative)
    if form in VAX_REALS:
        exponent_bits, fraction_bits = VAX_REALS[form]
        exponent = field(number, fraction_bits, exponent_bits)
        if exponent == 0:
            return NAN if negative else dyadic(0, 0)
        return dyadic(field(number, 0, fraction_bits) | 1 << fraction_bits,
                      exponent - (1 << (exponent_bits - 1)) - fraction_bits - 1, negative)
    if form == 33:
        exponent = field(number, 48, 15)
        if exponent >= 24576:
            return -INFINITY if negative else INFINITY
        return dyadic(field(number, 0, 48), exponent - 16384 - 48, negative)
    raise Newer("format %d" % form)


def x87(number):
    negative, exponent = bool(number >> 79), field(number, 64, 15)
    significand = field(number, 0, 64)
    if exponent == 0:
        return dyadic(significand, -16382 - 63, negative)
    if not significand >> 63:
        return NAN
    if exponent == 32767:
        if significand << 1 & (1 << 64) - 1:
            return NAN
        return -INFINITY if negative else INFINITY
    return dyadic(significand, exponent - 16383 - 63, negative)


def m68k(number):
    negative, exponent = bool(number >> 95), field(number, 80, 15)
    if exponent == 32767:
        if field(number, 0, 63):
            return NAN
        return -INFINITY if negative else INFINITY
    return dyadic(field(number, 0, 64), exponent - 16383 - 63, negative)


def double_double(data, order):
    high, low = real(21, data[:8], order), real(21, data[8:], order)
    for part in (high, low):
        if isinstance(part, float) and part != 0:  # An infinity or a NaN counts alone.
            return part
    if low == 0 or low == Dyadic(0, 0):
        return high
    if high == 0 or high == Dyadic(0, 0):
        return low
    total = high.fraction + low.fraction
    return dyadic(abs(total.numerator), 1 - total.denominator.bit_length(), total < 0)


def size_limits(kind, size, rule):
    limit(size, 32, rule, "a scalar of %d bytes" % size)
    if kind in ("integer", "bool"):
        limit(size, 16, rule, "an integer of %d bytes" % size)


class Description:
    """A scalar description of 32 bytes (5.5)."""

    def __init__(self, data, offset):
        def number(position, size):
            return int.from_bytes(data[position:position + size], "big")

        (self.kind, self.order, self.size, self.signed, self.format, self.norm, self.low_pad,
         self.high_pad) = data[:8]
        self.precision, self.position = number(8, 2), number(10, 2)
        self.sign, self.exponent, self.exponent_width = number(12, 2), number(14, 2), number(16, 2)
        self.significand, self.significand_width = number(18, 2), number(20, 2)
        self.log_base, zero = data[22], data[23]
        self.bias = signed(number(24, 8), 64)
        self._check(offset, zero)

    @property
    def is_signed(self):
        return self.signed == 1 if self.format == CUSTOM else self.format == INT

    @property
    def class_name(self):
        return ("integer", "real", "bits")[self.kind - 1]

    def _check(self, at, zero):
        need(1 <= self.kind <= 3, "R5.20", at, "a scalar of class %d" % self.kind)
        if self.order > 2:
            raise Newer("byte order %d" % self.order)
        need(self.signed <= 1, "R5.20", at + 3, "signed is %d" % self.signed)
        need(self.norm <= 2, "R5.20", at + 5, "normalisation is %d" % self.norm)
        need(self.low_pad <= 2 and self.high_pad <= 2, "R5.20", at + 6, "an unknown padding")
        need(zero == 0, "R5.20", at + 23, "byte 23 of a description is not 0")
        if self.format not in FORMATS and self.format != CUSTOM:
            raise Newer("format %d" % self.format)
        size_limits("real" if self.kind == 2 else "integer", self.size, "R5.21")
        if self.kind == 2 and self.format == CUSTOM:
            limit(self.exponent_width, 32, "R5.24", "an exponent of %d bits" % self.exponent_width)
            limit(self.significand_width, 113, "R5.24", "a significand of %d bits" % self.significand_width)
        need(self.size >= 1, "R5.21", at + 2, "a scalar of no bytes")
        need(self.order != VAX or self.size == 1 or self.size % 2 == 0, "R3.17", at + 1,
             "VAX order with an odd size")
        if self.format == CUSTOM:
            self._check_fields(at)
            return
        form = FORMATS[self.format]
        allowed = (form.kind == "integer", form.kind == "real", self.format in (UINT, 1))
        need(allowed[self.kind - 1], "R5.21", at + 4, "format %s does not suit class %s"
             % (form.name, self.class_name))
        need(size_fits(self.format, self.size), "R5.21", at + 2, "format %s has no size of %d bytes"
             % (form.name, self.size))

    def _check_fields(self, at):
        need(self.precision >= 1 and self.position + self.precision <= 8 * self.size, "R5.22",
             at + 8, "the value bits do not lie inside the scalar")
        if self.kind != 2:
            return
        need(1 <= self.exponent_width and 1 <= self.significand_width
             and self.log_base in (1, 4), "R5.24", at + 16, "a width or the base is not allowed")
        need(self.log_base == 1 or (self.norm != 0 and self.significand_width >= 4), "R5.24",
             at + 20, "base 16 with an implied 1, or fewer than 4 bits")
        need(self.norm != 0 or self.exponent_width >= 2, "R5.24", at + 16,
             "an exponent of one bit with an implied 1")
        spans = sorted([(self.sign, self.sign + 1),
                        (self.exponent, self.exponent + self.exponent_width),
                        (self.significand, self.significand + self.significand_width)])
        need(all(first[1] <= second[0] for first, second in zip(spans, spans[1:])), "R5.23",
             at + 12, "sign, exponent and significand overlap")
        need(spans[0][0] >= self.position and spans[-1][1] <= self.position + self.precision,
             "R5.23", at + 12, "sign, exponent or significand lie outside the value bits")

    def value(self, data):
        number = in_order(data, self.order)
        if self.format != CUSTOM:
            if self.kind == 3:
                return number
            return plain(self.format, data, self.order)
        if self.kind != 2:
            number = field(number, self.position, self.precision)
            return signed(number, self.precision) if self.kind == 1 and self.signed else number
        negative = bool(field(number, self.sign, 1))
        exponent = field(number, self.exponent, self.exponent_width)
        significand = field(number, self.significand, self.significand_width)
        if self.norm == 0:
            return implied(negative, exponent, significand, self.exponent_width,
                           self.significand_width, self.bias)
        below = self.significand_width - (1 if self.log_base == 1 else 0)
        return dyadic(significand, self.log_base * (exponent - self.bias) - below, negative)


def description(data, offset):
    return Description(data, offset)


def plain(form, data, order):
    """A scalar of any format of 5.2 but custom."""
    if form not in FORMATS:
        raise Newer("format %d" % form)
    kind = FORMATS[form].kind
    if kind == "real":
        return real(form, data, order)
    number = in_order(data, order)
    if form == INT:
        return signed(number, 8 * len(data))
    if kind == "bool":
        return number != 0
    if form == CHAR:
        return chr(number)
    if form == EBCDIC:
        return bytes([number]).decode("cp037")
    if form == UNICODE and (number < 0xd800 or 0xe000 <= number <= 0x10ffff):
        return chr(number)
    return number


class Encoding(namedtuple("Encoding", "format order size kind described align", defaults=(1,))):
    """How a predefined datatype is stored: `size` counts both parts of a complex."""

    def value(self, data):
        if self.kind == "complex":
            half = self.size // 2
            return [self._part(data[:half]), self._part(data[half:])]
        if self.kind == "bool":
            return bool(self._part(data))
        return self._part(data)

    def _part(self, data):
        if self.described:
            return self.described.value(data)
        return plain(self.format, data, self.order)

    @property
    def shortest32(self):
        return self.format == BINARY32


def predefined(code, internal):
    """The encoding under `internal` or `external32` (R5.4)."""
    datatype = PREDEFINED[code]
    size = datatype.internal if internal else datatype.external
    special = {"BFLOAT16": 17, "FP8_E4M3": 18, "FP8_E5M2": 19}
    if datatype.name in special:
        form = special[datatype.name]
    elif datatype.kind == "real":
        form = REAL_FORMATS[size]
    elif datatype.kind == "complex":
        form = REAL_FORMATS[size // 2]
    elif datatype.kind == "integer":
        form = INT if datatype.signed else UINT
    else:
        form = {"bool": BOOL, "char": CHAR, "wchar": UNICODE, "bytes": 1}[datatype.kind]
    return Encoding(form, LITTLE if internal else BIG, size, datatype.kind, None)
