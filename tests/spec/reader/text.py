# SPDX-License-Identifier: MIT
"""Text forms: JSON values and one-line datatypes (datarep-dump(1), datarep-types(7))."""

import json
import math
from fractions import Fraction

from . import datatypes as T
from .codes import PREDEFINED
from .scalars import CUSTOM, FORMATS, Dyadic

SAFE = (1 << 53) - 1
ORDERS = ("big", "little", "vax")


class Pairs(list):
    """A JSON object whose names may occur twice: a dimension and a dataset, for example."""


def dumps(value):
    """JSON without blanks; numbers stand as Python writes them."""
    if isinstance(value, dict):
        value = Pairs(value.items())
    if isinstance(value, Pairs):
        return "{%s}" % ",".join("%s:%s" % (json.dumps(k), dumps(v)) for k, v in value)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(dumps, value))
    return json.dumps(value)


def integer(value):
    return value if -SAFE <= value <= SAFE else str(value)


def real(value, shortest32=False):
    """A real of `scalars`: a number, where binary64 holds it, else a string."""
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return value
    mantissa, exponent = value
    bits = abs(mantissa).bit_length()
    if mantissa == 0:
        return 0.0
    if bits <= 53 and exponent >= -1074 and bits + exponent <= 1024:
        exact = math.ldexp(mantissa, exponent)
        return shortest(exact) if shortest32 else exact
    digits = (bits - 1 + 3) // 4
    fraction = (abs(mantissa) - (1 << bits - 1)) << (4 * digits - (bits - 1))
    tail = ("%0*x" % (digits, fraction)).rstrip("0") if digits else ""
    return "%s0x1%sp%+d" % ("-" if mantissa < 0 else "", "." + tail if tail else "",
                            exponent + bits - 1)


def shortest(value):
    """The shortest decimal that reads back to a binary32 value, the nearest of several."""
    exact = abs(Fraction(value))
    for digits in range(1, 10):
        power = int(("%.*e" % (digits - 1, value)).split("e")[1]) - digits + 1
        unit = Fraction(10) ** power
        below = exact // unit
        near = [n * unit for n in (below, below + 1) if rounded32(n * unit) == exact]
        if near:
            best = min(near, key=lambda decimal: abs(decimal - exact))
            return math.copysign(float(best), value)
    return value


def rounded32(number):
    """A positive fraction rounded to binary32, ties to even."""
    if number == 0:
        return number
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if Fraction(2) ** exponent > number:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    result = round(number / unit) * unit
    return result if result < 2 ** 128 else None


def scalar(value, shortest32=False):
    if isinstance(value, list):
        return [real(part, shortest32) for part in value]
    if isinstance(value, (float, Dyadic)):
        return real(value, shortest32)
    if isinstance(value, int) and not isinstance(value, bool):
        return integer(value)
    return value


def string(data, padding):
    if padding == 0:
        data = data.rstrip(b"\0")
    elif padding == 1:
        data = data.split(b"\0", 1)[0]
    else:
        data = data.rstrip(b" ")
    return any_text(data)


def any_text(data):
    return data.decode("utf-8", "surrogateescape")


def controls(code):
    """Does this character change how others are shown (datarep-types(7))?"""
    return (code < 0x20 or 0x7f <= code <= 0x9f or code in (0x61c, 0x200b, 0x200e, 0x200f, 0xfeff)
            or 0x2028 <= code <= 0x202e or 0x2060 <= code <= 0x2069)


def quoted(text):
    return '"%s"' % "".join(
        "\\" + c if c in '"\\' else c if not controls(ord(c)) else
        "".join("\\x%02x" % byte for byte in c.encode()) for c in text)


def name(text):
    identifier = text.isascii() and text.isidentifier()
    return text if identifier else quoted(text)


def described(s):
    if s.format != CUSTOM:
        return "scalar{%s,%s,%d}" % (FORMATS[s.format].name, ORDERS[s.order], s.size)
    return ("scalar{custom,%s,%s,%d,signed=%d,norm=%d,pad=%d/%d,precision=%d,offset=%d,sign=%d,"
            "exp=%d/%d,sig=%d/%d,base=%d,bias=%d}" % (
                s.class_name, ORDERS[s.order], s.size, s.signed, s.norm, s.low_pad, s.high_pad,
                s.precision, s.position, s.sign, s.exponent, s.exponent_width, s.significand,
                s.significand_width, 16 if s.log_base == 4 else 2, s.bias))


def numbers(values):
    return "[%s]" % ",".join(map(str, values))


def datatype(t):
    """The one-line form (datarep-types(7))."""
    kind = t.kind
    inner = [datatype(child) for child in t.children]
    base = inner[0] if inner else ""
    if kind == T.CODE:
        return PREDEFINED[t.code].name
    if kind == T.SCALAR:
        return described(t.scalar)
    if kind == T.STRING:
        return "string(%d%s)" % (t.size, ("", ",nulterm", ",space")[t.padding])
    if kind == T.OPAQUE:
        return "opaque(%d%s)" % (t.size, "," + quoted(t.tag) if t.tag else "")
    if kind == T.ENUM:
        return "enum(%s){%s}" % (base, ",".join("%s=%d" % (name(n), v) for n, v in t.values))
    if kind == T.BOOLEAN:
        return "bool(%s)" % base
    if kind == T.ARRAY:
        return array(t)
    if kind == T.COMPOUND:
        return "struct{%s}" % ", ".join((name(n) + ": " if n else "") + text
                                        for n, text in zip(t.names, inner))
    if kind == T.SEQUENCE:
        return "seq(%s)" % base
    if kind == T.VSTRING:
        return "vstring"
    if kind == T.REFERENCE:
        return "ref(%s)" % ("object", "region")[t.what]
    return typemap(t, inner, base)


def array(t):
    """An array of arrays is INT[3][4]: 4 times 3 INT, so the innermost lengths come first."""
    lengths = []
    while t.kind == T.ARRAY:
        lengths.insert(0, numbers(t.dims))
        t = t.base
    return datatype(t) + "".join(lengths)


def typemap(t, inner, base):
    kind, order = t.kind, ("c", "fortran")[getattr(t, "order", 0)]
    if kind in (T.CONTIGUOUS, T.VECTOR, T.HVECTOR, T.RESIZED):
        word = {T.CONTIGUOUS: "contiguous", T.VECTOR: "vector", T.HVECTOR: "hvector",
                T.RESIZED: "resized"}[kind]
        return "%s(%s,%s)" % (word, ",".join(map(str, t.numbers)), base)
    if kind in (T.INDEXED, T.HINDEXED):
        return "%sindexed(%s,%s,%s)" % ("h" if kind == T.HINDEXED else "", numbers(t.lengths),
                                        numbers(t.places), base)
    if kind in (T.INDEXED_BLOCK, T.HINDEXED_BLOCK):
        return "%sindexed_block(%d,%s,%s)" % ("h" if kind == T.HINDEXED_BLOCK else "", t.length,
                                              numbers(t.places), base)
    if kind == T.STRUCT:
        return "struct(%s,%s,[%s])" % (numbers(t.lengths), numbers(t.places), ",".join(inner))
    if kind == T.SUBARRAY:
        return "subarray(%s,%s,%s,%s,%s)" % (numbers(t.sizes), numbers(t.subsizes),
                                             numbers(t.starts), order, base)
    if kind == T.DARRAY:
        words = [("none", "block", "cyclic")[d] for d in t.distributions]
        return "darray(%d,%d,%s,%s,%s,%s,%s,%s)" % (
            t.processes, t.process, numbers(t.sizes), numbers(words), numbers(t.arguments),
            numbers(t.grid), order, base)
    return "dup(%s)" % base
