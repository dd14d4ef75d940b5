# SPDX-License-Identifier: MIT
"""vectors.py - the good vectors, one function each, and the data to expect of them.

Every function returns a Builder that was committed; `expect` maps the path of a dataset to its
data as JSON, stated here from the values that went in, not from the reader.
"""

import json
import os
import re
import struct
from fractions import Fraction

import codes as C
import drepwrite
from drepwrite import Builder, encode, i64, u8, u16, u32, u64, var

SAFE = (1 << 53) - 1
RED = ("enum", "INT8_T", [("RED", 0), ("GREEN", 1), ("dark blue", 2)])


def shown(v):
    """A number that went in, as 10.1 shows it."""
    if isinstance(v, bool) or not isinstance(v, int):
        return v
    return v if -SAFE <= v <= SAFE else str(v)


def done(b, expect=None, **more):
    b.commit(**more)
    b.expect = expect or {}
    return b


def empty():
    return done(Builder())


def scalar():
    b = Builder()
    d = b.dataset(1, "pi", "DOUBLE", (), data=[3.25])
    b.attr(d, "unit", "vstring", "m")
    return done(b, {"/pi": 3.25})


def part1():
    """The file that Part I of SPEC.md reads by hand: a number, and an array in compressed chunks."""
    b = Builder(machine="amd64")
    b.dataset(1, "pi", "DOUBLE", (), data=[3.25])
    tide = b.dataset(1, "tide", "INT", (24,), "chunked", (12,), [("shuffle", (4,)), ("deflate", (9,))])
    heights = [300 + 20 * abs(12 - hour) for hour in range(24)]
    b.packed(tide, (0,), [b.encoded(tide, heights[:12]), b.encoded(tide, heights[12:])])
    return done(b, {"/pi": 3.25, "/tide": heights})


def every_type(name):
    """Every predefined datatype with the edges of its range."""
    b = Builder(name)
    expect = {}
    for code, (tname, cls, signed, *_) in C.PREDEFINED.items():
        form, order, size, _ = b.reps[0].table[code]
        part = size // 2 if cls == "complex" else size
        if cls == "integer":
            bits = 8 * size
            lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            values = [0, 1, hi, lo, hi // 3]
            json = [shown(v) for v in values]
        elif cls == "bytes":
            values = json = [0, 1, 127, 255]
        elif cls == "char":
            values = json = ["A", "\0", "\xe9", "\n", '"', "\xff"]
        elif cls == "wchar":
            values = json = ["A", "\u20ac", "\0", "\uffff"]
            if size == 4:
                values = values + ["\U0001f600", (0xd800).to_bytes(4, "little")]
                json = json + ["\U0001f600", 0xd800]
        elif cls == "boolean":
            values, json = [False, True, b"\2" * size], [False, True, True]
        else:
            values, json = real_edges(form)
        if cls == "complex":
            n = len(values)
            values = [(values[i], values[(i + 1) % n]) for i in range(n)]
            json = [[json[i], json[(i + 1) % n]] for i in range(n)]
        assert part <= 16
        b.dataset(1, tname, tname, (len(values),), data=values)
        expect["/" + tname] = json
    return done(b, expect)


def real_edges(form):
    """Values at the edges of a format, and how they are shown."""
    shape = {C.BINARY16: (11, 15), C.BFLOAT16: (8, 127), C.BINARY32: (24, 127),
             C.BINARY64: (53, 1023), C.BINARY128: (113, 16383), C.FP8_E5M2: (3, 15),
             C.FP8_E4M3: (4, 7)}[form]
    p, emax = shape
    emin = 1 - emax
    big = Fraction((1 << p) - 1) * Fraction(2) ** (emax + 1 - p)
    if form == C.FP8_E4M3:
        big = Fraction(448)
    low = Fraction(2) ** (emin + 1 - p)
    least = Fraction(2) ** emin
    values = [0.0, -0.0, 1.0, -2.5, big, -big, least, low, "nan"]
    if form == C.FP8_E4M3:
        json = [0.0, -0.0, 1.0, -2.5, 448.0, -448.0, 2.0 ** -6, 2.0 ** -9, "nan"]
        return values, json
    values += ["inf", "-inf"]
    if form == C.BINARY128:
        json = [0.0, -0.0, 1.0, -2.5, "0x1." + "f" * 28 + "p+16383",
                "-0x1." + "f" * 28 + "p+16383", "0x1p-16382", "0x1p-16494", "nan", "inf", "-inf"]
        values += [Fraction(1, 3), Fraction(1, 10) + Fraction(1, 10 ** 30)]
        json += ["0x1.5555555555555555555555555555p-2", None]
    elif form == C.BINARY32:
        json = [0.0, -0.0, 1.0, -2.5, 3.4028235e+38, -3.4028235e+38, 1.1754944e-38, 1e-45,
                "nan", "inf", "-inf"]
        values += [Fraction(1, 10), Fraction(16777217)]
        json += [0.1, 16777216.0]
    else:
        json = [0.0, -0.0, 1.0, -2.5, float(big), -float(big), float(least), float(low),
                "nan", "inf", "-inf"]
    return values, json


def types():
    return every_type("external32")


def types_internal():
    return every_type("internal")


def description(cls, order, size, signed=0, fmt=255, norm=0, pads=(0, 0), precision=0, offset=0,
                sign=0, exp=(0, 0), sig=(0, 0), base=1, bias=0):
    return (u8(cls) + u8(order) + u8(size) + u8(signed) + u8(fmt) + u8(norm) + u8(pads[0]) +
            u8(pads[1]) + u16(precision) + u16(offset) + u16(sign) + u16(exp[0]) + u16(exp[1]) +
            u16(sig[0]) + u16(sig[1]) + u8(base) + u8(0) + i64(bias))


TWELVE = description(1, 0, 2, 1, precision=12, offset=2)          # 12 bits, signed, 2 up
BITS = description(3, 1, 3, precision=20, offset=4)
HALF24 = description(2, 0, 4, precision=24, offset=8, sign=31, exp=(24, 7), sig=(8, 16), bias=63)
OWN16 = description(2, 1, 8, norm=2, precision=64, sign=63, exp=(56, 7), sig=(0, 56), base=4,
                    bias=64)
TOPBIT = description(2, 0, 6, norm=1, precision=48, sign=47, exp=(40, 7), sig=(0, 40), bias=64)
REAL12 = description(2, 0, 2, precision=12, offset=4, sign=15, exp=(11, 4), sig=(4, 7), bias=7)
VAXF = description(2, 2, 4, fmt=C.VAX_F)
VAXH = description(2, 2, 16, fmt=C.VAX_H)
# Beyond binary128: one bit more, and 32 bits of exponent, once in base 16.
WIDEST = description(2, 0, 32, precision=146, sign=145, exp=(113, 32), sig=(0, 113),
                     bias=(1 << 31) - 1)
FAR16 = description(2, 1, 10, norm=2, precision=80, sign=79, exp=(47, 32), sig=(0, 47), base=4,
                    bias=5)


def raw(n, order="big"):
    return lambda v: v.to_bytes(n, order)


def scalars():
    """Scalars with their own description, in a dataset and in an attribute."""
    b = Builder()
    cases = [
        ("twelve", TWELVE, raw(2), [0x1ffc, 0x2000, 0xc007], [2047, -2048, 1]),
        ("bits", BITS, raw(3, "little"), [0xfffff0, 0x00001f], [0xfffff, 1]),
        ("implied", HALF24, raw(4), [0x3f000000, 0xc0400000, 0x7f000000, 0x7f000100, 0x00000100],
         [1.0, -2.5, "inf", "nan", 2.0 ** -78]),
        ("hex", OWN16, raw(8, "little"), [0x4110000000000000, 0xc280000000000000],
         [1.0, -128.0]),
        ("topbit", TOPBIT, raw(6), [0x408000000000, 0xc1a000000000], [1.0, -2.5]),
        ("vax-h", VAXH, lambda v: v,
         [bytes.fromhex("0100" + "0000" * 6 + "0100"), bytes.fromhex("0180" + "ffff" * 7),
          bytes.fromhex("0200" + "0000" * 7), bytes.fromhex("0080" + "0000" * 7)],
         ["0x1.00" + "0" * 25 + "1p-16384", "-0x1." + "f" * 28 + "p-16384", "0x1p-16383", "nan"]),
        ("widest", WIDEST, raw(32),
         [(1 << 144) - (1 << 113) | 1, 1 << 113, 1, (1 << 145) - (1 << 113) - 1,
          1 << 145 | (1 << 145) - (1 << 113), (1 << 145) - 1, 1 << 145, 3 << 143 | 5 << 110],
         ["0x1." + "0" * 28 + "8p+0", "0x1p-2147483646", "0x1p-2147483759",
          "0x1." + "f" * 28 + "8p+2147483647", "-inf", "nan", -0.0, None]),
        ("far", FAR16, raw(10, "little"), [5 << 47 | 1 << 46, ((1 << 29) + 5 << 47) - 1, 1 << 79 | 1],
         [0.5, "0x1." + "f" * 11 + "cp+2147483643", -2.0 ** -67]),
        ("vax", VAXF, lambda v: encode(v, C.VAX_F, 2, 4), [1.0, -2.5, "nan"], [1.0, -2.5, "nan"]),
        ("byte", description(1, 2, 1, fmt=C.INT), raw(1), [5, 0xf9, 100], [5, -7, 100]),
        ("fp8", description(2, 2, 1, fmt=C.FP8_E4M3), raw(1), [0x38, 0xc2], [1.0, -2.5]),
        ("six", description(1, 2, 1, 1, precision=6, offset=2), raw(1), [0x14, 0xe4], [5, -7]),
    ]
    expect = {}
    for name, desc, put, values, json in cases:
        t = ("scalar", desc, put)
        d = b.dataset(1, name, t, (len(values),), data=values)
        b.attr(d, "same", t, values, (len(values),))
        expect["/" + name] = json
    return done(b, expect)


PERSON = ("struct", [("name", ("string", 0, 8)), ("at", ("array", [2, 2], "SHORT")),
                     ("inner", ("struct", [("c", "CHAR"), ("z", "C_DOUBLE_COMPLEX")])),
                     ("ok", ("bool", "INT8_T")), ("colour", RED), ("id", ("opaque", 3, "id")),
                     ("odd name", "UINT64_T")])
ANN = ("Ann", [1, -2, 3, -4], ("x", (0.5, -0.0)), 1, 2, "00ff10", (1 << 64) - 1)
BEA = ("B\u00e9a", [5, 6, 7, 8], ("\xe9", ("nan", "inf")), 0, 7, "aabbcc", 12)
PEOPLE = [
    {"name": "Ann", "at": [[1, -2], [3, -4]], "inner": {"c": "x", "z": [0.5, -0.0]}, "ok": True,
     "colour": "dark blue", "id": "00ff10", "odd name": "18446744073709551615"},
    {"name": "B\u00e9a", "at": [[5, 6], [7, 8]], "inner": {"c": "\xe9", "z": ["nan", "inf"]},
     "ok": False, "colour": 7, "id": "aabbcc", "odd name": 12}]


def compound():
    b = Builder()
    b.dataset(1, "people", PERSON, (2,), data=[ANN, BEA])
    unnamed = ("struct", [("", "INT"), ("", ("struct", [("a", "INT8_T"), ("b", "INT8_T")])),
                          ("", "DOUBLE")])
    b.dataset(1, "unnamed", unnamed, (1, 2), data=[(1, (2, 3), 4.0), (5, (6, 7), 8.0)])
    arr = ("array", [4], ("array", [3], "INT"))
    b.dataset(1, "arrays", arr, (), data=[[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]])
    worked = ("struct", [("c", "CHAR"), ("d", "DOUBLE"), ("i", "INT")])
    b.dataset(1, "worked", worked, (), data=[("A", 1.5, 7)])
    for name, padding, text, json in (("nul", 0, b"ab\0c\0", "ab\0c"),
                                      ("nulterm", 1, b"ab\0cd", "ab"),
                                      ("space", 2, b"ab c  ", "ab c"),
                                      ("broken", 0, b"a\xff\xc3\xa9", "a\udcff\u00e9")):
        b.dataset(1, name, ("string", padding, 6), (1,), data=[text])
        compound.strings[name] = json
    b.attr(1, "people", PERSON, [ANN, BEA], (2,))
    return done(b, {"/people": PEOPLE, "/unnamed": [[[1, {"a": 2, "b": 3}, 4.0],
                                                     [5, {"a": 6, "b": 7}, 8.0]]],
                    "/arrays": [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]],
                    "/worked": {"c": "A", "d": 1.5, "i": 7},
                    **{"/" + n: [j] for n, j in compound.strings.items()}})


compound.strings = {}


def control_names():
    """Names and a tag with characters that change how others are shown: escaped in a type alone."""
    b = Builder()
    names = ["\x01", "tab\t", "\x7f\x80\x9f", "\u202a\u202e", "\u2066\u2069", "\xa0",
             "\u2029\u202f\u2065\u206a", 'a"\\x01', "\U0010ffff"]
    t = ("struct", [(name, "INT") for name in names])
    d = b.dataset(1, "members", t, (), data=[tuple(range(len(names)))])
    b.attr(d, "again", t, tuple(range(len(names))))
    coded = ("enum", "INT8_T", list(zip(names, range(len(names)))))
    b.dataset(1, "values", coded, (2,), data=[0, 3])
    b.dataset(1, "tag", ("opaque", 2, "line\n\u2028"), (), data=["0102"])
    return done(b, {"/members": dict(zip(names, range(len(names)))), "/values": [names[0], names[3]],
                    "/tag": "0102"})


def placed():
    """Compounds whose members lie anywhere; their gaps hold what a reader must not see."""
    b = Builder()

    def spoiled(t, values):
        """The payload with gaps of ones."""
        gaps = b.payload(t, values)[0]
        shape = b.shape
        size = shape.size(t)
        taken = bytearray(b"\xff" * size)
        for at, n in items(shape, t, 0):
            taken[at:at + n] = bytes(n)
        return bytes(x | y for x, y in zip(gaps, bytes(taken) * len(values)))

    def items(shape, t, at):
        if t[0] == "array":
            for i in range(shape.size(t) // shape.size(t[2])):
                yield from items(shape, t[2], at + i * shape.size(t[2]))
        elif t[0] == "struct":
            for (_, m), offset in zip(t[1], shape.members(t)[0]):
                yield from items(shape, m, at + offset)
        else:
            yield at, shape.size(t)

    down = ("struct", [("a", "INT"), ("b", "INT"), ("c", "INT"), ("d", "INT")], [12, 8, 4, 0], 16)
    loose = ("struct", [("x", "DOUBLE"), ("n", "SHORT"), ("t", ("string", 0, 3))], [9, 1, 4], 24)
    nested = ("struct", [("in", loose), ("all", ("array", [2], loose)), ("c", "CHAR")],
              [70, 3, 60], 100)
    rows = [(0.5, -1, b"abc"), (2.0, 7, b"d"), (-3.25, 256, b"")]
    names = [{"x": x, "n": n, "t": t.decode()} for x, n, t in rows]
    for name, t, values in (("down", down, [(1, 2, 3, 4), (5, 6, 7, 8)]), ("loose", loose, rows)):
        d = b.dataset(1, name, t, (len(values),), "compact")
        b.compact(d, spoiled(t, values))
        b.attr(d, "same", t, values, (len(values),))
    d = b.dataset(1, "nested", nested, (2,), "chunked", (2,))
    b.run(d, (0,), [spoiled(nested, [(rows[0], rows[1:], "A"), (rows[1], rows[:2], "B")])])
    d = b.dataset(1, "filtered", loose, (3,), "chunked", (3,), [("shuffle", [24]), ("lz4", [1])])
    b.filtered(d, (0,), rows)
    b.dataset(1, "rows", ("seq", loose), (2,), data=[rows, []])
    b.dataset(1, "last", ("struct", [("i", "INT")], [96], 100), (2,), "contiguous",
              data=[(1,), (2,)])
    return done(b, {
        "/down": [{"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 5, "b": 6, "c": 7, "d": 8}],
        "/loose": names, "/filtered": names, "/rows": [names, []],
        "/nested": [{"in": names[0], "all": names[1:], "c": "A"},
                    {"in": names[1], "all": names[:2], "c": "B"}],
        "/last": [{"i": 1}, {"i": 2}]})


def vlen():
    b = Builder("internal")
    g = b.group(1, "g")
    target = b.dataset(g, "target", "INT", (4,), data=[1, 2, 3, 4])
    b.dataset(1, "words", "vstring", (2, 2), data=[b"one", b"", "zw\u00f6lf".encode(), b"\xff"])
    deep = ("seq", ("struct", [("k", "vstring"), ("v", ("seq", "DOUBLE"))]))
    b.dataset(1, "deep", deep, (3,), data=[
        [(b"a", [1.0, 2.0]), (b"", [])], [], [(b"bc", [-0.0])]])
    b.dataset(1, "refs", "ref", (3,), data=[target, 0, 1])
    b.dataset(1, "regions", "region", (2,), data=[(target, "[0:4:2]"), (0, "")])
    c = b.dataset(1, "chunks", ("seq", "INT16_T"), (5,), "chunked", (2,))
    for i, values in enumerate(([[1], [2, 3]], [[], [4, 5, 6]], [[7], [9]])):
        b.run(c, (i,), [b.payload(("seq", "INT16_T"), values)[0]])
    s = b.dataset(1, "holes", "vstring", (5,), "chunked", (2,))
    b.run(s, (1,), [b.payload("vstring", [b"x", b"yy"])[0]])
    return done(b, {
        "/words": [["one", ""], ["zw\u00f6lf", "\udcff"]],
        "/deep": [[{"k": "a", "v": [1.0, 2.0]}, {"k": "", "v": []}], [],
                  [{"k": "bc", "v": [-0.0]}]],
        "/refs": ["/g/target", None, "/"],
        "/regions": [{"object": "/g/target", "region": "[0:4:2]"}, None],
        "/chunks": [[1], [2, 3], [], [4, 5, 6], [7]],
        "/holes": ["", "", "x", "yy", ""]})


def at(*refs):
    """References {count, offset}, one behind the other."""
    return b"".join(u64(n) + u64(offset) for n, offset in refs)


def shared():
    """Contents that several elements share, as far as they may."""
    b = Builder()
    heap = b"spring" + b"autumn"
    words = [(6, 0), (6, 6)] * 15 + [(0, 7), (6, 0)]
    d = b.dataset(1, "words", "vstring", (32,), "compact")
    b.compact(d, at(*words) + heap)
    t = ("struct", [("a", ("seq", "SHORT")), ("b", ("seq", "SHORT"))])
    d = b.dataset(1, "pairs", t, (3,), "chunked", (3,))
    b.run(d, (0,), [at((2, 4), (2, 0), (2, 0), (2, 4), (0, 0), (2, 4)) +
                    u16(1) + u16(2) + u16(3) + u16(4)])
    d = b.dataset(1, "parts", "region", (2,), "compact")
    b.compact(d, u64(2) + at((5, 0)) + u64(3) + at((5, 0)) + b"[1:3]")
    t = ("seq", "ref")
    d = b.dataset(1, "ways", t, (3,), "compact")
    b.compact(d, at((2, 0), (2, 0), (1, 16)) + u64(1) + u64(2) + u64(2))
    t = ("seq", "vstring")
    d = b.dataset(1, "lists", t, (2,), "compact")
    b.compact(d, at((2, 0), (1, 32)) + at((3, 48), (3, 48), (3, 48)) + b"abc")
    d = b.dataset(1, "most", "vstring", (16,), "compact")
    b.compact(d, at(*[(4, 0)] * 16) + b"full")
    b.attr(1, "a", "vstring", shape=(3,), value=None,
           raw=u8(0) + at((2, 0), (2, 0), (0, 0)) + b"ok")
    return done(b, {
        "/words": ["spring", "autumn"] * 15 + ["", "spring"],
        "/pairs": [{"a": [3, 4], "b": [1, 2]}, {"a": [1, 2], "b": [3, 4]},
                   {"a": [], "b": [3, 4]}],
        "/ways": [["/", "/words"], ["/", "/words"], ["/words"]],
        "/lists": [["abc", "abc"], ["abc"]],
        "/most": ["full"] * 16})


def nuls():
    """Texts with NULs, wherever a text may be, and names of enums over wide bases."""
    b = Builder()
    texts = ["a\0b", "", "\0", "\0\0z"]
    d = b.dataset(1, "compact", "vstring", (2,), "compact")
    b.compact(d, at((2, 0), (3, 2)) + b"oka\0b")
    t = ("struct", [("n", "INT"), ("s", ("seq", "vstring"))])
    b.dataset(1, "rows", t, (2,), data=[(1, ["p"]), (2, ["q", "r\0"])])
    d = b.dataset(1, "chunks", "vstring", (6,), "chunked", (2,), fill=1, fill_value="f\0g")
    b.run(d, (1,), [b.payload("vstring", texts[:2])[0]])
    b.run(d, (2,), [b.payload("vstring", texts[2:])[0]])
    b.attr(1, "many", "vstring", texts, (4,))
    wide = [1, 2 ** 64 + 1, -1, 2 ** 64 - 1]
    b.dataset(1, "signed", ("enum", "INTEGER16", [("A", 1), ("M", -1)]), (4,), data=wide)
    b.dataset(1, "unsigned", ("enum", "UINT128_T", [("A", 1), ("M", -1)]), (3,),
              data=[1, 2 ** 64 - 1, 2 ** 128 - 1])
    return done(b, {
        "/compact": ["ok", "a\0b"], "/rows": [{"n": 1, "s": ["p"]}, {"n": 2, "s": ["q", "r\0"]}],
        "/chunks": ["f\0g", "f\0g", *texts], "/signed": ["A", str(2 ** 64 + 1), "M", str(2 ** 64 - 1)],
        "/unsigned": ["A", "M", str(2 ** 128 - 1)]})


def two_chunks(b, name, filters):
    values = [7 * i * i - 300 for i in range(24)]
    d = b.dataset(1, name, "INT", (20,), "chunked", (12,), filters)
    for c in range(2):
        part = values[12 * c:12 * c + 12]
        if filters:
            b.filtered(d, (c,), part)
        else:
            b.run(d, (c,), [b.payload("INT", part)[0]])
    return values[:20]


def framed():
    """Filters of libraries that few builds have: LZF and blosc."""
    b = Builder()
    return done(b, {"/" + name: two_chunks(b, name, filters) for name, filters in (
        ("lzf", [("shuffle", [4]), ("lzf", [])]),
        ("blosc", [("blosc", [4, 9, 1, 3])]), ("blosc plain", [("blosc", [4, 0, 0, 0])]))})


# Streams of BloscLZ as the library blosc 1.21.3 gives them (level 9): one of bytes, with a copy from 9,048 bytes
# before; and one of shuffled INTs, split.
BLOSCLZ = [bytes.fromhex(text) for text in (
    "02010001ff230000ff230000a3000000140000008b0000003f00265ba1f868e67e2deecec7db115fcd5f12e3dc0044af480af311"
    "57cc75505c109b14bda3c01bac7d8cd868394ba13f2200e0ffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffffffffffffff4100ff26ff03581322696e20612066696c652c20696e206120747265a00a08206c6561663b20696ee036200020"
    "e008920212e3dc",
    "0201010400040000000400005c010000140000000c0000002300000000e0f003020000000c0000002300000000e0f00302000000"
    "200000002300000000e065030001e024000002e01a000003e015000004e010000205050500010000000000000000000001010202"
    "02030304050506070808090a0b0c0d0e0f10121314151718191b1c1e2021232426282a2c2e30323436383a3c3e404345484a4c4f"
    "515457595c5f6264676a6d707376797c808386898d9093979a9ea2a5a9acb0b4b8bcc0c4c8ccd0d4d8dce0e4e9edf2f6faff0308"
    "0d11161b2024292e33383d42474c52575c61676c71777c82888d93989ea4aab0b6bcc2c8ced4dae0e6ecf3f900060c131920272d"
    "343b42484f565d646b727980888f969da5acb3bbc2cad2d9e1e8f0f80008101820283038404850586169727a828b939ca5adb6bf"
    "c8d0d9e2ebf4fd060f18222b343d475059636c768089939ca6b0bac4ced8e2ecf6000a14")]


def blosclz():
    """Streams of BloscLZ that came as they are; no writer of this format makes them."""
    b = Builder()
    word = bytes((i * i * 7 + i * 31 + i * i * i // 5) % 251 for i in range(48))
    one = list(word + bytes(9000) + word + b"in a file, in a tree, in a leaf; " * 3 + word[:20])
    two = [i * i // 50 for i in range(256)]
    for name, t, values, stream, shuffled in (("far", "UINT8_T", one, BLOSCLZ[0], 0), ("split", "INT", two, BLOSCLZ[1], 1)):
        d = b.dataset(1, name, t, (len(values),), "chunked", (len(values),),
                      filters=[("blosc", [4 if shuffled else 1, 9, shuffled, 0])])
        b.packed(d, (0,), [stream])
    return done(b, {"/far": one, "/split": two})


def chunked():
    b = Builder()
    values = [7 * i * i - 300 for i in range(24)]
    expect = {}
    for name, filters in (
            ("none", []), ("shuffle", [("shuffle", [4])]), ("bitshuffle", [("bitshuffle", [4])]),
            ("delta", [("delta", [4, 0])]), ("deflate", [("deflate", [6])]),
            ("zstd", [("zstd", [3])]), ("lz4", [("lz4", [1])]),
            ("three", [("delta", [4, 0]), ("bitshuffle", [4]), ("zstd", [1])]),
            ("odd", [("delta", [8, 1]), ("shuffle", [5]), ("lz4", [1])]),
            ("behind", [("deflate", [9]), ("shuffle", [3])]),
            ("shuffle deflate", [("shuffle", [4]), ("deflate", [6])]),
            ("delta lz4", [("delta", [4, 0]), ("lz4", [1])]),
            ("hdf5-lz4", [("hdf5-lz4", [20])]), ("one block", [("shuffle", [4]), ("hdf5-lz4", [0])]),
            ("bits", [("hdf5-bitshuffle", [4, 8, 0, 0])]), ("bits lz4", [("hdf5-bitshuffle", [4, 8, 2, 0])]),
            ("bits zstd", [("hdf5-bitshuffle", [4, 0, 3, 5])]),
            ("odd bits", [("hdf5-bitshuffle", [5, 0, 2, 0])])):
        expect["/" + name] = two_chunks(b, name, filters)
    d = b.dataset(1, "skipped", "INT", (30,), "chunked", (10,), [("shuffle", [4]), ("zstd", [3])])
    b.filtered(d, (0,), values[:10], skipped=1)
    b.filtered(d, (1,), values[10:20], skipped=2)
    b.run(d, (2,), [b.payload("INT", values[:10])[0]])
    expect["/skipped"] = values[:20] + values[:10]
    grid = ("DOUBLE", (3, 7), "chunked", (2, 2))
    d = b.dataset(1, "grid", *grid, fill=1, fill_value=-1.5, maxshape=(None, 9))
    part = [[float(10 * c + i) for i in range(4)] for c in range(5)]
    b.run(d, (0, 1), [b.payload("DOUBLE", p)[0] for p in part])       # 1..5, the last outside
    b.run(d, (1, 0), [b.payload("DOUBLE", [5.0, 6.0, 7.0])[0]])
    b.run(d, (9, 9), [b.payload("DOUBLE", [8.0])[0]])                 # outside the shape
    want = [[-1.5] * 7 for _ in range(3)]
    for c in range(5):
        for i in range(4):
            row, col = i // 2, 2 * (c + 1) + i % 2
            if col < 7:
                want[row][col] = part[c][i]
    want[2][0:2] = [5.0, 6.0]
    expect["/grid"] = want
    d = b.dataset(1, "many sums", "UINT8_T", (5, 3), "chunked", (1, 3))
    for r in range(5):
        b.run(d, (r, 0), [bytes([r, r, r])])
    d = b.dataset(1, "sums block", "UINT8_T", (6, 3), "chunked", (6, 1))
    b.run(d, (0, 0), [bytes(range(6)), bytes(range(6, 12)), bytes(range(12, 18))])
    expect["/many sums"] = [[r] * 3 for r in range(5)]
    expect["/sums block"] = [[r, r + 6, r + 12] for r in range(6)]
    d = b.dataset(1, "seven", "UINT8_T", (7,), "chunked", (1,))
    b.run(d, (0,), [bytes([i]) for i in range(7)])                    # 7 sums: in a block
    expect["/seven"] = list(range(7))
    text = ("string", 0, 2100)
    d = b.dataset(1, "pieces", text, (2,), "chunked", (2,))
    b.run(d, (0,), [b.payload(text, ["abc" * 700, "xyzw" * 500])[0]])
    expect["/pieces"] = ["abc" * 700, "xyzw" * 500]
    d = b.dataset(1, "no sums", "INT", (2,), "chunked", (2,))
    b.run(d, (0,), [b.payload("INT", [1, 2])[0]], sums=False)
    expect["/no sums"] = [1, 2]
    d = b.dataset(1, "point", "INT", (), "chunked", ())
    b.run(d, (), [b.payload("INT", [5])[0]])
    expect["/point"] = 5
    d = b.dataset(1, "variable", "vstring", (3,), "chunked", (4,), [("shuffle", [16]),
                                                                    ("deflate", [1])])
    b.filtered(d, (0,), [b"a", b"bb", b"ccc", b"outside"])
    expect["/variable"] = ["a", "bb", "ccc"]
    # What elements outside the shape refer to means nothing: no heap, another content's middle, NULs.
    d = b.dataset(1, "stray", "vstring", (3, 3), "chunked", (2, 2), maxshape=(4, 4))
    stray = [struct.pack(">QQ", *at) for at in ((3, 1 << 40), (2, 1), (1 << 60, 0))]
    texts = [struct.pack(">QQ", 2, 0), struct.pack(">QQ", 2, 2)]
    b.run(d, (0, 1), [texts[0] + stray[0] + texts[1] + stray[1] + b"abcd"])
    b.run(d, (1, 0), [texts[0] + texts[1] + stray[2] + stray[1] + b"efgh"])
    b.run(d, (1, 1), [texts[0] + b"".join(stray) + b"ij"])
    expect["/stray"] = [["", "", "ab"], ["", "", "cd"], ["ef", "gh", "ij"]]
    d = b.dataset(1, "stray region", "region", (1,), "chunked", (2,), maxshape=(2,))
    b.run(d, (0,), [u64(d) + struct.pack(">QQ", 3, 0) + u64(d) + struct.pack(">QQ", 2, 3) + b"[0]\0\0"])
    expect["/stray region"] = [{"object": "/stray region", "region": "[0]"}]
    words = ["word %d" % (i * i % 7) for i in range(40)]
    for name, filters in (
            ("words zstd", [("zstd", [3])]), ("words lz4", [("shuffle", [16]), ("lz4", [1])]),
            ("words lzf", [("lzf", [])]), ("words hdf5-lz4", [("hdf5-lz4", [100])]),
            ("words twice", [("lz4", [1]), ("deflate", [9])])):
        d = b.dataset(1, name, "vstring", (40,), "chunked", (40,), filters)
        b.filtered(d, (0,), [w.encode() for w in words])
        expect["/" + name] = words
    # A frame of zstd that does not say its length: one raw block.
    d = b.dataset(1, "no length", "INT", (4,), "chunked", (4,), [("zstd", [3])])
    raw = b.payload("INT", [1, 2, 3, 4])[0]
    b.packed(d, (0,), [bytes.fromhex("28b52ffd 0058") + (len(raw) << 3 | 1).to_bytes(3, "little") + raw])
    expect["/no length"] = [1, 2, 3, 4]
    d = b.dataset(1, "unset", "INT", (2,), "chunked", (1,), fill=2)
    expect["/unset"] = [0, 0]
    return done(b, expect)


def short():
    """Filtered chunks that leave out their last elements: those behind the end, and others, which are fill."""
    b = Builder()
    expect = {}
    values = [3 * (i // 4) for i in range(100)]
    for name, filters in (
            ("deflate", [("shuffle", [4]), ("deflate", [6])]), ("zstd", [("bitshuffle", [4]), ("zstd", [3])]),
            ("lz4", [("delta", [4, 0]), ("lz4", [1])]), ("hdf5-lz4", [("hdf5-lz4", [20])]),
            ("lzf", [("shuffle", [4]), ("lzf", [])]), ("bits", [("hdf5-bitshuffle", [4, 8, 2, 0])]),
            ("plain bits", [("hdf5-bitshuffle", [4, 8, 0, 0])]), ("blosc", [("blosc", [4, 9, 1, 3])]),
            ("twice", [("lz4", [1]), ("deflate", [6])]), ("behind", [("deflate", [9]), ("shuffle", [3])])):
        d = b.dataset(1, name, "INT", (100,), "chunked", (40,), filters, fill=1, fill_value=-7)
        b.filtered(d, (0,), values[:40])
        b.filtered(d, (1,), values[40:71])
        b.filtered(d, (2,), values[80:])
        expect["/" + name] = values[:71] + [-7] * 9 + values[80:]
    return done(b, expect)


def runs():
    """Runs of filtered chunks, packed and placed, and sums in two blocks."""
    b = Builder()
    filters = [("shuffle", [4]), ("zstd", [3])]

    def chunk(i):
        return [1000 * i + 3 * j * j for j in range(6)]

    # Time steps of 1 x 2 chunks of (1, 2, 3): a run over steps, and one chunk with another mask.
    d = b.dataset(1, "steps", "INT", (5, 2, 6), "chunked", (1, 2, 3), filters,
                  maxshape=(None, 2, 6))
    b.packed(d, (0, 0, 1), [b.encoded(d, chunk(i)) for i in range(1, 7)])
    b.packed(d, (3, 0, 1), [b.encoded(d, chunk(7), 2)], 2)
    b.placed(d, (4, 0, 0), [b.encoded(d, chunk(i)) for i in (8, 9)], tail=b"later")
    want = [[[0] * 6 for _ in range(2)] for _ in range(5)]
    for i in range(1, 10):
        for j, v in enumerate(chunk(i)):
            want[i // 2][j // 3][i % 2 * 3 + j % 3] = v
    expect = {"/steps": want}
    # Of a packed run, the chunk in the middle went elsewhere: the others share its lines still.
    d = b.dataset(1, "moved", "INT", (18,), "chunked", (6,), [("shuffle", [4])])
    old = [b.encoded(d, chunk(i)) for i in range(3)]
    at = b.alloc(b"".join(old))
    elsewhere = b.alloc(b.encoded(d, chunk(5)))
    b.placed(d, (0,), [old[0], b.encoded(d, chunk(5)), old[2]], where=[at, elsewhere, at + 48])
    expect["/moved"] = chunk(0) + chunk(5) + chunk(2)
    # The last coordinate counts alone where the dimension before it may be unlimited.
    d = b.dataset(1, "last", "INT", (2, 12), "chunked", (2, 3), [("shuffle", [4])],
                  maxshape=(2, None))
    b.packed(d, (0, 1), [b.encoded(d, chunk(i)) for i in range(3)])
    want = [[0] * 12 for _ in range(2)]
    for i in range(3):
        for j, v in enumerate(chunk(i)):
            want[j // 3][3 + 3 * i + j % 3] = v
    expect["/last"] = want
    # Rows count over the last dimension alone, where it is said so; and over three.
    d = b.dataset(1, "row", "INT", (2, 12), "chunked", (2, 3), [("shuffle", [4])], suffix=1)
    b.packed(d, (0, 2), [b.encoded(d, chunk(i)) for i in range(4)])   # two outside the shape
    want = [[0] * 12 for _ in range(2)]
    for i in range(2):
        for j, v in enumerate(chunk(i)):
            want[j // 3][6 + 3 * i + j % 3] = v
    expect["/row"] = want
    # The steps have 2^62 chunks, and nothing of all that is there.
    b.dataset(1, "far", "INT", (2, 0, 0), "chunked", (1, 2, 2), [("shuffle", [4])],
              maxshape=(None, 1 << 32, 1 << 32))
    expect["/far"] = [[], []]
    # 128 rows, and an empty one: of it all elements are fill.
    d = b.dataset(1, "full", "UINT8_T", (128,), "chunked", (1,), [("shuffle", [1])], fill=1,
                  fill_value=9)
    b.packed(d, (0,), [bytes([i]) if i != 77 else b"" for i in range(128)])
    expect["/full"] = [i if i != 77 else 9 for i in range(128)]
    d = b.dataset(1, "blocks", "UINT8_T", (8200,), "chunked", (1,))
    b.run(d, (0,), [bytes([i % 251]) for i in range(8200)])
    expect["/blocks"] = [i % 251 for i in range(8200)]
    return done(b, expect)


def external():
    """Chunks whose bytes are in another file, beside chunks that are here."""
    b = Builder()
    filters = [("shuffle", [4]), ("deflate", [1])]
    part = {i: [100 * i + j * j for j in range(6)] for i in range(5)}
    plain = {i: b.payload("INT", part[i])[0] for i in part}
    d = b.dataset(1, "filtered", "INT", (30,), "chunked", (6,), filters)
    stored = {i: b.encoded(d, part[i], i == 2) for i in part}
    content = b"somebody else's file\n" + stored[0] + b"..." + stored[1] + stored[2] + plain[3] + plain[4][:8]
    at = {0: 21}
    at[1] = at[0] + len(stored[0]) + 3
    at[2] = at[1] + len(stored[1])
    at[3] = at[2] + len(stored[2])
    at[4] = at[3] + len(plain[3])
    target = b.target("external.bin", content, time=1700000000)
    b.target("external/absent.bin", b"", tail=b"later")
    del b.beside["external/absent.bin"]
    # What tells its version; and a long path that leads to nothing.
    b.target("https://example.org/x.bin", b"", kind=2, version=b'W/"5f2a-61e"')
    del b.beside["https://example.org/x.bin"]
    b.target("/".join(["y" * 255] * 16), b"")
    del b.beside["/".join(["y" * 255] * 16)]
    # Kinds and flags of a later version, of files that nothing here is in.
    b.target("x:/y", b"", kind=9)
    b.target("z", b"", flags=8)
    for name in ("x:/y", "z"):
        del b.beside[name]
    b.pointed(d, (0,), target, [(at[i], stored[i]) for i in (0, 1)], tail=b"later")
    b.pointed(d, (2,), target, [(at[2], stored[2])], 1)
    b.packed(d, (3,), [stored[3]])
    expect = {"/filtered": part[0] + part[1] + part[2] + part[3] + [0] * 6}
    # Without filters the bytes are the payload; the last chunk is shorter.
    d = b.dataset(1, "plain", "INT", (2, 6), "chunked", (1, 6), fill=1, fill_value=-1)
    b.pointed(d, (0, 0), target, [(at[3], plain[3]), (at[4], plain[4][:8])])
    expect["/plain"] = [part[3], part[4][:2] + [-1] * 4]
    return done(b, expect)


def hdf5_filters():
    """Chunks as HDF5 has them: its own orders, masks and sums."""
    h = drepwrite.Hdf5
    b = Builder()
    values = [3 * i * i - 40 for i in range(20)]
    expect = {}
    for name, filters in (
            ("netcdf", [(h(3), []), (h(2, optional=True), [4]), (h(1, optional=True), [4])]),
            ("h5py", [(h(1, optional=True), [4]), (h(2, optional=True), [4]), (h(32000, "lzf", True), [4, 261, 48])]),
            ("sums", [(h(3), []), (h(3), [])]),
            ("zstd", [(h(32015, "Zstandard compression: http://www.zstd.net"), [3]), (h(2), [3])]),
            ("lz4", [(h(1), [9]), (h(32004, "HDF5 lz4 filter"), [])]),
            ("bitshuffle", [(h(32008, "bitshuffle; see https://github.com/kiyo-masui/bitshuffle"), [0, 4, 4, 0, 2]),
                            (h(3), [])]),
            ("blosc", [(h(2), [2]), (h(32001, "blosc"), [2, 2, 4, 48, 9, 1, 3])])):
        d = b.dataset(1, name, "INT", (20,), "chunked", (12,), filters)
        # The chunk at the end is whole, too.
        b.packed(d, (0,), [b.encoded(d, part) for part in (values[:12], values[12:] + [-1] * 4)])
        expect["/" + name] = values
    d = b.dataset(1, "swapped", "INT", (3,), "chunked", (3,), [(h(3), [])])
    part = b.encoded(d, [1, 2, 70000])
    b.placed(d, (0,), [part[:-4] + bytes(part[-4:][i] for i in (1, 0, 3, 2))])
    expect["/swapped"] = [1, 2, 70000]
    return done(b, expect)


def hdf5_unknown():
    """A filter of HDF5 that nobody here has: all but the elements is there."""
    h = drepwrite.Hdf5
    b = Builder()
    d = b.dataset(1, "nobody", "INT", (20,), "chunked", (12,),
                  [(h(2), [4]), (h(32026, "blosc2", True), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), (h(3), [])])
    b.attr(d, "a", "INT", 3)
    b.packed(d, (0,), [b.encoded(d, range(12)), b.encoded(d, range(12))], edit=lambda r: r[:1] + u8(0x10) + r[2:])
    d = b.dataset(1, "masks", "INT", (24,), "chunked", (6,),
                  [(h(32026, "blosc2", True), [1]), (h(2), [4]), (h(1), [4])])
    for at, skipped in enumerate((1, 5, 7, 1)):
        part = b.encoded(d, range(6 * at, 6 * at + 6), skipped)
        # Nobody has decoded the last one (R8.57).
        b.packed(d, (at,), [part], skipped, edit=(lambda r: r[:1] + u8(0x10) + r[2:]) if at == 3 else None)
    expect = {"/masks": list(range(24))}
    expect["/nobody"] = None
    return done(b, expect)


def user_filter():
    """Filters that only their author has: "mirror" is what drepwrite.mirror() does."""
    b = Builder()
    values = [7 * i * i - 300 for i in range(12)]
    expect = {}
    for name, filters in (("alone", [("mirror", [90, 7])]),
                          ("between", [("shuffle", [4]), ("mirror", [3]), ("lz4", [1])])):
        d = b.dataset(1, name, "INT", (12,), "chunked", (12,), filters)
        b.filtered(d, (0,), values)
        expect["/" + name] = None
    d = b.dataset(1, "skipped", "INT", (12,), "chunked", (6,), [("delta", [4, 0]), ("mirror", [1])])
    b.filtered(d, (0,), values[:6], skipped=2)
    b.filtered(d, (1,), values[6:], skipped=3)
    expect["/skipped"] = values
    return done(b, expect)


def contiguous():
    b = Builder()
    d = b.dataset(1, "slabs", "SHORT", (7, 2), "contiguous", (4,), maxshape=(None, 2),
                  fill=1, fill_value=-9)
    b.run(d, (0,), [b.payload("SHORT", [1, 2, 3, 4])[0], b.payload("SHORT", [5, 6, 7, 8])[0]])
    b.run(d, (3,), [b.payload("SHORT", [9, 10])[0]])
    one = b.dataset(1, "one", "INT", (3,), "contiguous", (3,), data=[7, 8, 9])
    b.attr(one, "note", "vstring", b"one slab".decode())
    b.dataset(1, "nothing", "INT", (0, 3))
    b.dataset(1, "null", "INT", None)
    b.dataset(1, "zeros", PERSON, (1,), "compact")
    b.dataset(1, "half", "INT", (4,), "compact", fill=1, fill_value=3, data=[1, 2])
    big = b.dataset(1, "big", "DOUBLE", (300,), data=[i / 4 for i in range(300)])
    b.attr(big, "where", "vstring", "in a value block")
    zeros = dict(PEOPLE[0], name="", at=[[0, 0], [0, 0]], inner={"c": "\0", "z": [0.0, 0.0]},
                 ok=False, colour="RED", id="000000")
    zeros["odd name"] = 0
    return done(b, {"/slabs": [[1, 2], [3, 4], [5, 6], [7, 8], [-9, -9], [-9, -9], [9, 10]],
                    "/one": [7, 8, 9], "/nothing": [], "/null": None, "/zeros": [zeros],
                    "/half": [1, 2, 3, 3], "/big": [i / 4 for i in range(300)]})


def links():
    b = Builder()
    z = b.group(1, "z first")
    a = b.group(1, "a")
    d = b.dataset(a, "d", "INT", (), data=[1])
    b.link(z, "hard", d)
    b.link(1, "again", a)
    b.soft(1, "soft", "/a/d")
    b.soft(a, "dangling", "../nowhere")
    b.external(1, "ext", "other.drep", "/x/y")
    b.soft(1, "gone", "x")
    b.unlink(1, "gone")
    b.group(1, "\u00fcn\u00efc\u00f6d\u00e9 \u2603")
    b.group(1, "n" * 1023)
    b.group(1, 'quote"\\ \t')
    return done(b, {"/z first/hard": 1})


def attrs():
    b = Builder()
    g = b.group(1, "g")
    b.attr(g, "null", "INT", None, None)
    b.attr(g, "empty", "INT", [], (0, 2))
    b.attr(g, "matrix", "SHORT", [1, 2, 3, 4, 5, 6], (2, 3))
    b.attr(g, "b no creation order", "FLOAT", Fraction(1, 10))
    b.attr(g, "a", "LONG_DOUBLE", [Fraction(1, 3), -0.0, "nan"], (3,))
    b.attr(g, "people", PERSON, [ANN, BEA], (2,))
    b.attr(g, "seq", ("seq", ("seq", "vstring")), [[[b"a"], []], [], [[b"b", b"c"]]], (3,))
    b.attr(g, "ref", "ref", g)
    b.attr(g, "region", "region", (g, "[0:1:1]"))
    b.attr(g, "enum", RED, [0, 1, 9], (3,))
    b.attr(g, "twelve", ("scalar", TWELVE, raw(2)), 0x1ffc)
    b.attr(g, "string", ("string", 2, 5), b"ab")
    b.attr(g, "long", "vstring", "x" * 3000)
    b.attr(g, "wide", "INT64_T", [1 << 53, SAFE, -SAFE, -(1 << 53)], (4,))
    b.attr(g, "n\u00e4me/with slash", "C_BOOL", 1)
    ld, z = C.CODE_OF["LONG_DOUBLE"], C.CODE_OF["C_LONG_DOUBLE_COMPLEX"]
    third = Fraction(1, 3)
    for name, form, size in (("x87", C.X87, 10), ("m68k", C.M68K, 12),
                             ("double-double", C.DOUBLE_DOUBLE, 16), ("ibm", C.IBM128, 16),
                             ("vax", C.VAX_H, 16), ("cray", C.CRAY64, 8)):
        b.attr(g, name, "LONG_DOUBLE", [1.5, third, -2.5], (3,), forms={ld: (form, size)})
        b.attr(g, name + " complex", "C_LONG_DOUBLE_COMPLEX", (0.5, -8.0),
               forms={z: (form, 2 * size)})
    f, i = C.CODE_OF["FLOAT"], C.CODE_OF["INT"]
    b.attr(g, "ibm32", "FLOAT", 100.0, forms={f: (C.IBM32, 4)})
    b.attr(g, "three bytes", "INT", -5, forms={i: (C.INT, 3)})
    return done(b)


def dims():
    b = Builder()
    time = b.dimension(1, "time", 5, unlimited=True)
    x = b.dimension(1, "x", 2)
    b.attr(x, "unit", "vstring", "m")
    b.dataset(1, "t", "INT", (5, 2), dims=(time, x), maxshape=(None, 2), data=list(range(10)))
    b.dataset(1, "short", "INT", (3,), dims=(time,), maxshape=(None,), data=[1, 2, 3])
    b.dataset(1, "half", "INT", (2, 2), dims=(0, x), data=[1, 2, 3, 4])
    g = b.group(1, "g")
    b.dimension(g, "time", 2, flags=0x30)
    y = b.dimension(g, "y", 3)
    # Coordinates: the dataset of the dimension's name; further ones by id.
    b.dataset(g, "y", "DOUBLE", (3,), dims=(y,), data=[0.5, 1.5, 2.5])
    other = b.dataset(g, "other y", "INT", (3,), dims=(y,), data=[7, 8, 9])
    b.objects[y]["rest"] = var(3) + u16(2) + u64(other) + u64(other)
    b.dataset(g, "above", "INT", (2, 3), dims=(x, y), data=[1, 2, 3, 4, 5, 6])
    odd = b.group(1, "a#b")
    b.dimension(odd, "c", 0)
    return done(b, {"/t": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]], "/short": [1, 2, 3]})


def named():
    """Named datatypes, also those that describe memory."""
    b = Builder()
    for name, t in (("person", PERSON), ("seq", ("seq", ("seq", "INT"))), ("ref", "ref"),
                    ("region", "region"), ("int", "INT"), ("scalar", ("scalar", TWELVE, None)),
                    ("custom", ("scalar", OWN16, None)), ("vax", ("scalar", VAXF, None)),
                    ("opaque", ("opaque", 4, "")), ("quoted", ("opaque", 4, 'a"b\\')),
                    ("arrays", ("array", [4], ("array", [3, 2], "INT"))),
                    ("unnamed", ("struct", [("", "INT"), ("", "DOUBLE")])),
                    ("odd names", ("struct", [("2x", "INT"), ("a b", "DOUBLE")]))):
        b.named(1, name, t)
    INT, DOUBLE = b"\1\0\0\x08", b"\1\0\0\x10"
    for name, record in (
            ("contiguous", u8(32) + u8(0) + i64(3) + INT),
            ("vector", u8(33) + u8(0) + i64(3) + i64(2) + i64(-4) + INT),
            ("hvector", u8(34) + u8(0) + i64(3) + i64(2) + i64(100) + INT),
            ("indexed", u8(35) + u8(0) + u64(2) + i64(1) + i64(0) + i64(2) + i64(-5) + INT),
            ("hindexed", u8(36) + u8(0) + u64(1) + i64(1) + i64(8) + INT),
            ("indexed_block", u8(37) + u8(0) + u64(2) + i64(3) + i64(0) + i64(7) + INT),
            ("hindexed_block", u8(38) + u8(0) + u64(0) + i64(3) + INT),
            ("mpi struct", u8(39) + u8(0) + u64(2) + i64(1) + i64(0) + INT + i64(2) + i64(8) +
             DOUBLE),
            ("resized", u8(42) + u8(0) + i64(-8) + i64(64) + u8(43) + u8(0) + DOUBLE)):
        b.named(1, name, ("raw", record))
    d = b.dataset(1, "shares", "INT", (), data=[1])
    b.attr(d, "person", PERSON, ANN)
    return done(b)


def tree():
    """Three levels of small nodes, values in blocks, a long header."""
    b = Builder(node_max=360, hints={"drep_chunk_max": "33554432", "note": "h" * 300})
    b.continue_from = 2
    g = b.group(1, "many")
    expect = {}
    for i in range(40):
        d = b.dataset(g, "dataset %d" % (i * 7 % 40), "INT", (2,), data=[i, -i])
        expect["/many/dataset %d" % (i * 7 % 40)] = [i, -i]
        if i % 9 == 0:
            b.attr(d, "number", "INT", i)
    deep = 1
    for i in range(12):
        deep = b.group(deep, "d%d" % i)
    b.dataset(deep, "far", "INT", (600,), data=list(range(600)))
    return done(b, expect)


# What gcc says of these machines: order, long, alignment of 4 and 8 bytes, long double.
ABIS = {
    "s390x": (0, 8, 4, 8, (C.BINARY128, 16, 8)),
    "m68k": (0, 4, 2, 2, (C.M68K, 12, 2)),
    "i386": (1, 4, 4, 4, (C.X87, 12, 4)),
    "ppc64el-ibm": (1, 8, 4, 8, (C.DOUBLE_DOUBLE, 16, 16)),
}

# The arrays that gcc laid out for them: a struct twice, and values of long double.
IMAGES = {
    "s390x": (
        "6100fffe00000003fffffffffffffffc00000000000000053f00000000000000bfd0000000000000"
        "3ffb999999999999999999999999999a01000000000000007a000102010203040000000000000007"
        "fffffffffffffff8501502f90000000054b249ad2594c37dc0004000000000000000000000000000"
        "0000000000000000",
        "00000000000000000000000000000000800000000000000000000000000000003fff000000000000"
        "0000000000000000c00040000000000000000000000000003ffb999999999999999999999999999a"
        "4000921fb54442d18469898cc51701b87ffeffffffffffffffffffffffffffff0001000000000000"
        "0000000000000000000000000000000000000000000000017fff0000000000000000000000000000"
        "ffff00000000000000000000000000007fff8000000000000000000000000000",),
    "m68k": (
        "6100fffe00000003fffffffc00000000000000053f000000bfd00000000000003ffb0000cccccccc"
        "cccccccd01007a0001020102030400000007fffffffffffffff8501502f954b249ad2594c37dc000"
        "0000a0000000000000000000",
        "0000000000000000000000008000000000000000000000003fff00008000000000000000c0000000"
        "a0000000000000003ffb0000cccccccccccccccd40000000c90fdaa22168c2357ffe0000ffffffff"
        "ffffffff0000000080000000000000000000000000000000000000017fff00000000000000000000"
        "ffff000000000000000000007fff0000ffffffffffffffff",),
    "i386": (
        "6100feff03000000fcffffff05000000000000000000003f000000000000d0bfcdcccccccccccccc"
        "fb3f0000010000007a0002010403020107000000f8fffffffffffffff90215507dc39425ad49b254"
        "00000000000000a000c0000000000000",
        "0000000000000000000000000000000000000000008000000000000000000080ff3f000000000000"
        "000000a000c00000cdccccccccccccccfb3f000035c26821a2da0fc900400000ffffffffffffffff"
        "fe7f00000000000000000080010000000100000000000000000000000000000000000080ff7f0000"
        "0000000000000080ffff000000000000000000c0ff7f0000",),
    "ppc64el-ibm": (
        "6100feff03000000fcffffffffffffff05000000000000000000003f00000000000000000000d0bf"
        "00000000000000009a9999999999b93f9a999999999959bc01000000000000000000000000000000"
        "7a000201040302010700000000000000f8fffffffffffffff9021550000000007dc39425ad49b254"
        "000000000000000000000000000004c0000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000800000000000000000000000000000f03f"
        "000000000000000000000000000004c000000000000000009a9999999999b93f9a999999999959bc"
        "182d4454fb210940065c143326a6a13cffffffffffffef7ffeffffffffff8f7c0000000000006003"
        "000000000000000001000000000000000000000000000000000000000000f07f0000000000000000"
        "000000000000f0ff0000000000000000000000000000f87f0000000000000000",),
}

MIXED = ("struct", [("c", "CHAR"), ("s", "SHORT"), ("i", "INT"), ("l", "LONG"),
                    ("q", "LONG_LONG"), ("f", "FLOAT"), ("d", "DOUBLE"), ("e", "LONG_DOUBLE"),
                    ("b", "C_BOOL")])
MIXED_VALUES = [("a", -2, 3, -4, 5, 0.5, -0.25, Fraction(1, 10), 1),
                ("z", 0x0102, 0x01020304, 7, -8, Fraction(10 ** 10), Fraction(10 ** 100), -2.5, 0)]
TENTH = {"s390x": "0x1.999999999999999999999999999ap-4", "m68k": "0x1.999999999999999ap-4",
         "i386": "0x1.999999999999999ap-4", "ppc64el-ibm": "0x1.999999999999999999999999998p-4"}


def table_of(abi):
    order, long_size, a4, a8, (form, size, align) = ABIS[abi]
    a2 = 2

    def row(f, n, a):
        return (f, order, n, a)

    rows = {"BYTE": row(C.BYTES, 1, 1), "CHAR": row(C.CHAR, 1, 1), "C_BOOL": row(C.BOOL, 1, 1),
            "SIGNED_CHAR": row(C.INT, 1, 1), "UNSIGNED_CHAR": row(C.UINT, 1, 1),
            "SHORT": row(C.INT, 2, a2), "UNSIGNED_SHORT": row(C.UINT, 2, a2),
            "INT": row(C.INT, 4, a4), "UNSIGNED": row(C.UINT, 4, a4),
            "LONG": row(C.INT, long_size, a8 if long_size == 8 else a4),
            "UNSIGNED_LONG": row(C.UINT, long_size, a8 if long_size == 8 else a4),
            "LONG_LONG": row(C.INT, 8, a8), "UNSIGNED_LONG_LONG": row(C.UINT, 8, a8),
            "WCHAR": row(C.UNICODE, 4, a4), "FLOAT": row(C.BINARY32, 4, a4),
            "DOUBLE": row(C.BINARY64, 8, a8), "LONG_DOUBLE": row(form, size, align),
            "C_FLOAT_COMPLEX": row(C.BINARY32, 8, a4), "C_DOUBLE_COMPLEX": row(C.BINARY64, 16, a8),
            "C_LONG_DOUBLE_COMPLEX": row(form, 2 * size, align)}
    return {C.CODE_OF[n]: r for n, r in rows.items()}


def native(abi):
    b = Builder("native:" + abi, table=table_of(abi), aligned=True, machine=abi)
    b.dataset(1, "mixed", MIXED, (2,), data=MIXED_VALUES)
    size = b.shape.size(MIXED)
    image = bytes.fromhex(IMAGES[abi][0])
    assert b.payload(MIXED, MIXED_VALUES)[0] == image[:2 * size], abi
    ld = b.reps[0].table[C.CODE_OF["LONG_DOUBLE"]][2]
    image = bytes.fromhex(IMAGES[abi][1])
    items = [image[i * ld:(i + 1) * ld] for i in range(12)]
    b.dataset(1, "long double", "LONG_DOUBLE", (12,), data=items)
    b.dataset(1, "complex", "C_LONG_DOUBLE_COMPLEX", (2,), data=[(1.0, 2.0), (-0.5, "inf")])
    nested = ("struct", [("c", "CHAR"), ("in", ("array", [2], ("struct", [
        ("c", "CHAR"), ("q", "LONG_LONG")]))), ("v", "vstring"), ("s", ("string", 0, 3))])
    b.dataset(1, "nested", nested, (1,), data=[("a", [("b", 1), ("c", -2)], b"text", b"xyz")])
    b.attr(1, "tenth", "LONG_DOUBLE", Fraction(1, 10))
    rows = [dict(zip([m[0] for m in MIXED[1]], row)) for row in MIXED_VALUES]
    rows[0].update(e=TENTH[abi], b=True)
    rows[1].update(f=1e10, d=1e100, b=False)
    return done(b, {"/mixed": rows, "/complex": [[1.0, 2.0], [-0.5, "inf"]],
                    "/nested": [{"c": "a", "in": [{"c": "b", "q": 1}, {"c": "c", "q": -2}],
                                 "v": "text", "s": "xyz"}]})


def fill_exact():
    """A fill value that no machine with a shorter long double holds, stored and not stored."""
    b = Builder()
    third = "0x1.5555555555555555555555555555p-2"
    d = b.dataset(1, "third", "LONG_DOUBLE", (5,), "chunked", (2,), fill=1,
                  fill_value=Fraction(1, 3))
    b.run(d, (0,), [b.payload("LONG_DOUBLE", [-2.5])[0]])
    t = ("struct", [("c", "CHAR"), ("e", "LONG_DOUBLE"), ("d", "DOUBLE")])
    d = b.dataset(1, "struct", t, (2,), "chunked", (1,), fill=1,
                  fill_value=("x", Fraction(1, 3), 1.5))
    b.run(d, (0,), [b.payload(t, [("y", 0.5, -1.0)])[0]])
    return done(b, {"/third": [-2.5] + [third] * 4,
                    "/struct": [{"c": "y", "e": 0.5, "d": -1.0}, {"c": "x", "e": third, "d": 1.5}]})


def native_s390x():
    return native("s390x")


def native_m68k():
    return native("m68k")


def native_i386():
    return native("i386")


def native_ppc64el():
    return native("ppc64el-ibm")


def hexadecimal(x):
    """A number whose digits end, as datarep-dump(1) says."""
    exponent = 0
    rest = abs(x)
    while rest >= 2:
        rest, exponent = rest / 2, exponent + 1
    while rest < 1:
        rest, exponent = rest * 2, exponent - 1
    text = "%s0x1" % ("-" if x < 0 else "")
    rest -= 1
    text += "." if rest else ""
    while rest:
        text += "%x" % int(16 * rest)
        rest = 16 * rest - int(16 * rest)
    return text + "p%+d" % exponent


def far_pairs():
    """Pairs of doubles with zeros between them, more than any other format has digits."""
    b = Builder("native:ppc64el-ibm", table=table_of("ppc64el-ibm"), aligned=True, machine="ppc64el-ibm")
    pairs = [(1.0, 2.0 ** -1074), (1.0, -2.0 ** -200), (-3.0, 2.0 ** -1000), (2.0 ** -1000, 0.5),
             (0.0, -0.0), (-0.0, 0.0), (1.0, -1.0), (1e308, 5e-324)]
    items = [struct.pack("<dd", *p) for p in pairs]
    b.dataset(1, "far", "LONG_DOUBLE", (len(pairs),), data=items)
    big = ("scalar", description(2, 0, 16, fmt=C.DOUBLE_DOUBLE), lambda p: struct.pack(">dd", *p))
    b.dataset(1, "big", big, (2,), data=pairs[:2])
    sums = [Fraction(p[0]) + Fraction(p[1]) for p in pairs]
    texts = [hexadecimal(s) if s else 0.0 for s in sums]
    texts[5] = -0.0
    return done(b, {"/far": texts, "/big": texts[:2]})


def native_unknown():
    """A machine of which no reader has heard: its table alone says how to read it."""
    table = table_of("s390x")
    rows = {"CHAR": (C.EBCDIC, 0, 1, 1), "C_BOOL": (C.BOOL, 0, 2, 2), "SHORT": (C.INT, 0, 3, 1),
            "LONG": (C.INT, 2, 6, 2), "WCHAR": (C.UNICODE, 1, 3, 1), "FLOAT": (C.IBM32, 0, 4, 4),
            "DOUBLE": (C.VAX_G, 2, 8, 4), "LONG_DOUBLE": (C.X87, 0, 10, 2),
            "C_DOUBLE_COMPLEX": (C.VAX_G, 2, 16, 4)}
    table.update({C.CODE_OF[n]: row for n, row in rows.items()})
    b = Builder("native:univac", table=table, aligned=True, machine="univac")
    b.dataset(1, "mixed", ("struct", [(n.lower(), n) for n in rows]), (2,), data=[
        ("a", True, -3, 1 << 40, "\u20ac", 0.5, -2.5, Fraction(3, 7 << 3), (1.0, -0.125)),
        ("\xe9", False, (1 << 23) - 1, -(1 << 47), "\U0010ffff", -100.0, 0.1, -1.0, (0.0, 3.0))])
    b.dataset(1, "long", "LONG", (3,), data=[(1 << 47) - 1, -1, 0])
    b.attr(1, "double", "DOUBLE", 0.1)
    return done(b, {"/long": [(1 << 47) - 1, -1, 0], "/mixed": [
        dict(zip([n.lower() for n in rows], row)) for row in (
            ("a", True, -3, 1 << 40, "\u20ac", 0.5, -2.5, None, [1.0, -0.125]),
            ("\xe9", False, (1 << 23) - 1, -(1 << 47), "\U0010ffff", -100.0, 0.1, -1.0, [0.0, 3.0]))]})


def declared(name, rows, values, scalars=b""):
    table = {C.CODE_OF[n]: r for n, r in rows.items()}
    b = Builder(name, table=table, scalars=scalars)
    expect = {}
    for n, (stored, json) in values.items():
        b.dataset(1, n, n, (len(stored),), data=stored)
        expect["/" + n] = json
    b.dataset(1, "struct", ("struct", [("a", "INT"), ("b", "DOUBLE")]), (1,), data=[(-3, 0.5)])
    expect["/struct"] = [{"a": -3, "b": 0.5}]
    return done(b, expect)


def item_rows():
    """The rows of items.def: datatype, format, order, bytes, value."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors", "items.def")
    with open(path, encoding="utf-8") as f:
        for row in re.findall(r"^X\((.*)\)$", f.read(), flags=re.M):
            yield json.loads("[" + row + "]")


def items():
    """Every format but the named reals, value by value: items.def."""
    descriptions = (TWELVE, description(1, 1, 3, precision=20, offset=4), HALF24, OWN16, TOPBIT, REAL12)
    codes = {name: number for number, (name, *_) in C.FORMATS.items()}
    table, stored, expect = {}, {}, {}
    for name, form, order, raw, value in item_rows():
        raw = bytes.fromhex(raw)
        custom = int(form[7:]) if form.startswith("custom") else None
        number = codes[form] if custom is None else C.CUSTOM
        table[C.CODE_OF[name]] = (number, ("big", "little", "vax").index(order), len(raw), 1,
                                  custom or 0)
        stored.setdefault(name, []).append(raw)
        expect.setdefault("/" + name, []).append(json.loads(value))
    b = Builder("items", table=table, scalars=b"".join(descriptions))
    for name, data in stored.items():
        b.dataset(1, name, name, (len(data),), data=data)
    return done(b, expect)


def signs():
    """Integers of a format of the other sign: their bits mean what the format says."""
    values = {"INT": (C.UINT, 0, 4, [1, 1 << 31, (1 << 32) - 1]), "UNSIGNED": (C.INT, 0, 4, [1, -1, -1 << 31]),
              "INT8_T": (C.UINT, 0, 1, [127, 128, 255]), "UINT8_T": (C.INT, 0, 1, [127, -128, -1]),
              "LONG": (C.UINT, 1, 16, [1, 1 << 127, (1 << 128) - 1]), "UINT64_T": (C.INT, 1, 8, [-1, -1 << 63])}
    b = Builder("signs", table={C.CODE_OF[name]: (form, order, size, 1)
                                for name, (form, order, size, _) in values.items()})
    # Attributes and fill values too, also wider than their datatypes are here.
    forms = {C.CODE_OF[name]: (form, size) for name, (form, _, size, _) in values.items()}
    both = ("struct", [("i", "INT"), ("u", ("array", [2], "UNSIGNED"))])
    d = b.dataset(1, "fill", "INT", (2,), "chunked", (2,), fill=1, fill_value=(1 << 32) - 1,
                  fill_forms=forms)
    b.attr(d, "both", both, ((1 << 32) - 1, [-1, 1]), forms=forms)
    for name, (*_, data) in values.items():
        b.attr(d, name, name, data, (len(data),), forms=forms)
    b.attr(d, "wide", "UINT8_T", -1 << 100, forms={C.CODE_OF["UINT8_T"]: (C.INT, 16)})
    b.attr(d, "pair", "LONG_DOUBLE", 1 + Fraction(1, 1 << 140), forms={C.CODE_OF["LONG_DOUBLE"]:
                                                                      (C.DOUBLE_DOUBLE, 16)})
    b.dataset(1, "both", both, (1,), data=[((1 << 32) - 1, [-1, 1])])
    for name, (*_, data) in values.items():
        b.dataset(1, name, name, (len(data),), data=data)
    expect = {"/" + name: [shown(v) for v in data] for name, (*_, data) in values.items()}
    # Numbers that the C type has not, some of which have names; a name of a number that the base has not.
    names = ("enum", "INT", [("A", 5), ("B", -1)])
    b.dataset(1, "names", names, (3,), data=[5, (1 << 32) - 1, (1 << 32) - 7])
    b.attr(d, "names", names, [5, -1, 1 << 40], (3,), forms={C.CODE_OF["INT"]: (C.INT, 8)})
    b.attr(d, "truth", ("bool", "INT"), [0, 1 << 40], (2,), forms={C.CODE_OF["INT"]: (C.INT, 8)})
    b.dataset(1, "unfit", ("enum", "UINT8_T", [("A", 300), ("B", -1), ("C", 2)]), (3,), data=[44, -1, 2])
    # Numbers of which not even the power of two is a number of 64 bits.
    for name, base, bias, want in (
            ("small", 1, (1 << 63) - 1, ["0x1.6p-9223372036854775802", "-0x1.0000000ep-9223372036854775806"]),
            ("great", 4, -1 << 63, ["0x1.8p+36893488147419103250", "-0x1.cp+36893488147419103207"])):
        number = description(2, 0, 8, norm=base // 4, precision=64, sign=63, exp=(31, 32), sig=(0, 31), base=base,
                             bias=bias)
        b.dataset(1, name, ("scalar", number, raw(8)), (2,), data=[5 << 31 | 3 << 28, 1 << 63 | 1 << 31 | 7])
        expect["/" + name] = want
    expect.update({"/names": ["A", (1 << 32) - 1, (1 << 32) - 7], "/unfit": [44, -1, "C"]})
    return done(b, {"/both": [{"i": (1 << 32) - 1, "u": [-1, 1]}], **expect})


def declared_ibm():
    third = "0x1.5555555555555555555555555554p-2"
    return declared("ibm-hex", {
        "CHAR": (C.EBCDIC, 0, 1, 1), "INT": (C.INT, 0, 4, 4), "FLOAT": (C.IBM32, 0, 4, 4),
        "DOUBLE": (C.IBM64, 0, 8, 8), "LONG_DOUBLE": (C.IBM128, 0, 16, 8),
        "C_DOUBLE_COMPLEX": (C.IBM64, 0, 16, 8), "LOGICAL": (C.INT, 0, 4, 4)}, {
        "CHAR": (["A", "z", "0", "\xe9"], ["A", "z", "0", "\xe9"]),
        "INT": ([1, -2], [1, -2]),
        "FLOAT": ([0.0, 1.0, -2.5, 100.0, bytes.fromhex("7fffffff"), bytes.fromhex("00100000"),
                   bytes.fromhex("c276a000")],
                  [0.0, 1.0, -2.5, 100.0, float((1 << 24) - 1) * 2.0 ** 228, 2.0 ** -260,
                   -118.625]),
        "DOUBLE": ([1.0, -118.625, bytes.fromhex("7fffffffffffffff")],
                   [1.0, -118.625, "0x1.fffffffffffffep+251"]),
        "LONG_DOUBLE": ([1.0, -2.5, Fraction(1, 3)], [1.0, -2.5, third]),
        "C_DOUBLE_COMPLEX": ([(0.5, -16.0)], [[0.5, -16.0]]),
        "LOGICAL": ([0, 1, -1], [False, True, True])})


def declared_vax():
    return declared("vax", {
        "CHAR": (C.CHAR, 0, 1, 1), "INT": (C.INT, 1, 4, 4), "LONG": (C.INT, 2, 4, 4),
        "FLOAT": (C.VAX_F, 2, 4, 4), "DOUBLE": (C.VAX_G, 2, 8, 8),
        "DOUBLE_PRECISION": (C.VAX_D, 2, 8, 8), "LONG_DOUBLE": (C.VAX_H, 2, 16, 16),
        "REAL": (C.VAX_F, 0, 4, 4),
        # Of one byte the order says nothing.
        "BYTE": (C.BYTES, 2, 1, 1), "CHARACTER": (C.EBCDIC, 2, 1, 1), "WCHAR": (C.UNICODE, 2, 1, 1),
        "SHORT": (C.INT, 2, 1, 1), "UINT8_T": (C.UINT, 2, 1, 1), "LOGICAL": (C.BOOL, 2, 1, 1),
        "FP8_E4M3": (C.FP8_E4M3, 2, 1, 1), "FP8_E5M2": (C.FP8_E5M2, 2, 1, 1),
        "C_FLOAT_COMPLEX": (C.FP8_E5M2, 2, 2, 1), "INT8_T": (C.CUSTOM, 2, 1, 1),
        "COMPLEX": (C.BFLOAT16, 2, 4, 1)}, {
        "BYTE": ([5, 255], [5, 255]), "CHARACTER": (["A", "z"], ["A", "z"]),
        "WCHAR": (["A", "\xe9"], ["A", "\xe9"]), "SHORT": ([5, -7, 100], [5, -7, 100]),
        "UINT8_T": ([5, 255], [5, 255]), "LOGICAL": ([1, 0, 2], [True, False, True]),
        "FP8_E4M3": ([1.0, -2.5, "nan"], [1.0, -2.5, "nan"]),
        "FP8_E5M2": ([1.0, -2.5, "inf"], [1.0, -2.5, "inf"]),
        "C_FLOAT_COMPLEX": ([(0.5, -16.0)], [[0.5, -16.0]]),
        "COMPLEX": ([(0.10009765625, -0.2001953125)], [[0.10009765625, -0.2001953125]]),
        "INT8_T": ([b"\x14", b"\xe4"], [5, -7]),
        "INT": ([1, -2, 0x01020304], [1, -2, 0x01020304]),
        "LONG": ([1, -2, 0x01020304], [1, -2, 0x01020304]),
        "FLOAT": ([bytes.fromhex("80400000"), -2.5, 0.0, "nan", bytes.fromhex("49 41 d0 0f")],
                  [1.0, -2.5, 0.0, "nan", 3.141590118408203]),
        "DOUBLE": ([bytes.fromhex("1040000000000000"), -2.5, 0.1], [1.0, -2.5, 0.1]),
        "DOUBLE_PRECISION": ([1.0, Fraction(1, 3), "nan"],
                             [1.0, "0x1.55555555555556p-2", "nan"]),
        "LONG_DOUBLE": ([1.0, Fraction(2) ** -16384, -0.5,
                         Fraction((1 << 113) - 1, 1 << 16496)],
                        [1.0, "0x1p-16384", -0.5, "0x1." + "f" * 28 + "p-16384"]),
        "REAL": ([1.0, 0.0], [1.0, 0.0])},
        scalars=description(1, 2, 1, 1, precision=6, offset=2))


def declared_cray():
    """Cray floats, integers of 8 bytes, and a custom format (MIL-STD-1750A-like, 6 bytes)."""
    return declared("cray", {
        "CHAR": (C.CHAR, 0, 1, 1), "INT": (C.INT, 0, 8, 8), "SHORT": (C.INT, 0, 3, 1),
        "FLOAT": (C.CRAY64, 0, 8, 8), "DOUBLE": (C.CRAY64, 0, 8, 8),
        "REAL": (255, 0, 6, 2, 1), "UNSIGNED": (255, 0, 2, 2, 0)}, {
        "INT": ([1, -2], [1, -2]), "SHORT": ([1, -2, (1 << 23) - 1], [1, -2, (1 << 23) - 1]),
        "FLOAT": ([1.0, -2.5, 0.0, "inf"], [1.0, -2.5, 0.0, "inf"]),
        "DOUBLE": ([bytes.fromhex("4001800000000000"), bytes.fromhex("2000800000000000")],
                   [1.0, "0x1p-8193"]),
        "REAL": ([bytes.fromhex("408000000000")], [1.0]),
        "UNSIGNED": ([b"\x1f\xfc"], [2047])},
        TWELVE + TOPBIT)


def code():
    """Form 2: only its author can read the elements."""
    b = Builder("zigzag", form=2, machine="amd64")
    b.reps[0].table[C.CODE_OF["DOUBLE"]] = (C.BINARY64, 1, 8, 1)
    b.reps[0].table[C.CODE_OF["INT"]] = (C.INT, 1, 4, 1)

    def zigzag(v):
        return (v << 1 ^ v >> 31).to_bytes(4, "little") if v >= 0 else (-2 * v - 1).to_bytes(
            4, "little")

    def flipped(v):
        return bytes(255 - c for c in encode(v, C.BINARY64, 1, 8))

    top = Fraction((1 << 53) - 1) * Fraction(2) ** 971
    b.reps[0].witnesses = {C.CODE_OF["INT"]: [zigzag(v) for v in (0, 1, 2 ** 31 - 1)],
                   C.CODE_OF["DOUBLE"]: [flipped(v) for v in (0.0, 1.0, -2.5, top, "nan")]}
    d = b.dataset(1, "i", "INT", (3,), data=[zigzag(v) for v in (5, -5, 0)])
    b.attr(d, "shown", "INT", [5, -5, 0], (3,))
    b.dataset(1, "d", "DOUBLE", (2,), data=[flipped(v) for v in (1.5, -0.0)], fill=1,
              fill_value=2.0)
    b.dataset(1, "text", ("string", 0, 4), (1,), data=[b"abc"])
    return done(b, {"/i": None, "/d": None})


def code_native():
    """Form 2 of a creator without a write function: stored as its machine holds them."""
    b = Builder("reader-only", form=2, table=table_of("m68k"), machine="m68k")
    d = b.dataset(1, "d", "LONG_DOUBLE", (2,), data=[1.0, -2.5])
    b.attr(d, "a", "LONG_DOUBLE", 1.0)
    return done(b, {"/d": None})


def extended():
    """What a later minor version may add."""
    b = Builder()
    b.slot_fields = {"compatible": 5}
    b.extra_records = [(99, b"later"), (1000, b"")]

    b.reps[0].flags = 0xa0
    b.reps[0].records = [(9, b"later"), (30000, b"")]
    d = b.dataset(1, "d", "INT", (2,), "chunked", (2,), tail=b"later")
    b.run(d, (0,), [b.payload("INT", [1, 2])[0]], tail=b"later")
    b.attr(d, "a", "INT", 3, tail=b"later")
    raw = b.dataset(1, "undecoded", "INT", (2,), "chunked", (2,), [("deflate", (1,))])
    b.packed(raw, (0,), [b.encoded(raw, [3, 4])], edit=lambda r: r[:1] + u8(0x10) + r[2:])
    b.dimension(1, "x", 3)
    b.objects[1]["tail"] = b"later"
    key = b.key(1, 32, b"d")
    b.tree[key] += b"later"
    for ident, tag, tail in ((0, 100, b"x"), (d, 24 + 1, b""), (d, 97, b"yy"), (d, 5, b"zzz"),
                             (1, 255, b"\xff" * 8)):
        b.tree[b.key(ident, tag, tail)] = b"whatever"
    for space, ident, tag in ((1, d, 32 + 1), (2, d, 16), (127, 0, 0), (128, 1, 64), (255, d, 48)):
        b.tree[u8(space) + u64(ident) + u8(tag)] = b"whatever"
    return done(b, {"/d": [1, 2], "/undecoded": [3, 4]})


def later():
    """Kinds and flags of a later version: each makes one item unreadable, and is no damage."""
    b = Builder()
    d = b.dataset(1, "d", "INT", (), data=[7])
    b.attr(d, "a", "INT", 1)
    b.attr(d, "kind", "INT", 2)
    b.attr(d, "flag", "INT", 3)
    for name, head in (("kind", b"\2\0"), ("flag", b"\1\4")):
        key = b.key(d, 48, name.encode())
        b.tree[key] = head + b.tree[key][2:]
    o = b.group(1, "object")
    b.attr(o, "a", "INT", 4)
    b.objects[o].update(kind=9, rest=b"whatever")
    f = b.dataset(1, "flag", "INT", (), data=[8])
    b.objects[f]["flags"] = 8
    b.tree[b.key(1, 32, b"object")] = u8(1) + u8(0) + u8(1) + u8(9) + u8(o)
    b.soft(1, "link", "d")
    b.tree[b.key(1, 32, b"link")] = u8(77) + u8(0) + u8(3) + b"whatever"
    b.soft(1, "link flag", "d")
    key = b.key(1, 32, b"link flag")
    b.tree[key] = b"\2\2" + b.tree[key][2:]
    b.soft(1, "e", "d")
    key = b.key(1, 32, b"e")
    b.tree[key] = b"\2\x90" + b.tree[key][2:]
    d = b.dataset(1, "layout", "INT", (2,))
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u8(0) + u8(1) + u8(2), u8(9) + u8(1) + u8(2))
    b.tree[b.key(d, 24)] = b.tree[b.key(d, 64)] = b"whatever"
    b.attr(d, "a", "INT", 5)
    d = b.dataset(1, "null", "INT", None)
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u8(0) + u8(255), u8(255) + u8(255))
    d = b.dataset(1, "fill", "INT", (2,), "chunked", (2,))
    b.objects[d]["rest"] = b.objects[d]["rest"][:-1] + u8(3)
    b.run(d, (0,), [b.payload("INT", [1, 2])[0]], tail=b"later")
    return done(b, {"/d": 7})


def later_dims():
    """Dimensions of a later version: the entry, or the object that it leads to."""
    b = Builder()
    x = b.dimension(1, "x", 2)
    del b.objects[b.dimension(1, "entry", 3)]
    key = b.key(1, 34, b"entry")
    b.tree[key] = b"\2\0" + b.tree[key][2:]
    o = b.dimension(1, "object", 4)
    b.attr(o, "a", "INT", 5)
    b.objects[o].update(kind=9, rest=b"whatever")
    b.dataset(1, "d", "INT", (2,), dims=(x,), data=[6, 7])
    return done(b, {"/d": [6, 7]})


def later_value():
    """An attribute in a format of a later version: only its value cannot be read."""
    b = Builder()
    d = b.dataset(1, "d", "INT", (), data=[7])
    b.attr(d, "a", "INT", None, shape=(2,), raw=u8(1) + u8(99) + u8(4) + b"whatever")
    b.attr(d, "b", "INT", 1)
    return done(b, {"/d": 7})


def later_chunks():
    """Chunks and filters of a later version: only the elements cannot be read."""
    b = Builder()
    one = b.payload("INT", [1, 2])[0]
    for name, head in (("kind", u8(9) + u8(0)), ("flag", u8(1) + u8(8))):
        d = b.dataset(1, name, "INT", (4,), "chunked", (2,))
        b.run(d, (0,), [one])
        b.record(d, (1,), head + b"whatever")
    for name, head in (("filter", u16(40) + u8(0)), ("filter flag", u16(16) + u8(4))):
        d = b.dataset(1, name, "INT", (2,), "chunked", (2,), filters=[("deflate", (6,))])
        b.objects[d]["rest"] = b.objects[d]["rest"].replace(u16(16) + u8(0), head)
        b.packed(d, (0,), [b"whatever"])
    d = b.dataset(1, "skipped", "INT", (2,), "chunked", (2,), filters=[("deflate", (6,))])
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u16(16) + u8(0), u16(40) + u8(0))
    b.packed(d, (0,), [one], skipped=1)
    return done(b, {"/skipped": [1, 2]})


TOP = 1 << 62
WORD = b"abcd"


def nested(count, node, inner=b"\1\0" + u16(8)):
    """A datatype record of so many nodes around another."""
    return ("raw", node * count + inner)


def external_rows(b, name, count, target):
    """A dataset whose chunks of one INT are `count` rows of another file, each its first one."""
    d = b.dataset(1, name, "INT", (count,), "chunked", (1,))
    b.pointed(d, (0,), target, [(0, WORD)] * count)


def hidden_target(b, name, **more):
    """A FILES entry of a file that is not there; its number."""
    number = b.target(name, b"", **more)
    del b.beside[name]
    return number


def rows_of(b, name, count, placed=False):
    """Packed or placed rows of one INT each, behind shuffle."""
    d = b.dataset(1, name, "INT", (count,), "chunked", (1,), filters=[("shuffle", [4])])
    stored = [b.encoded(d, [i]) for i in range(count)]
    if placed:
        at = b.alloc(b"".join(stored))
        b.placed(d, (0,), stored, where=[at + 4 * i for i in range(count)])
    else:
        b.packed(d, (0,), stored)


def limits():
    """Values at the limits of section 9, as far as their size allows."""
    b = Builder()
    d = b.dataset(1, "d", "INT", (1,) * 32, data=[7])
    b.attr(d, "rank", "INT", [1], (1,) * 32)
    b.attr(d, "n" * 1023, "INT", 2)
    b.soft(1, "n" * 1023, "d")
    b.dimension(1, "n" * 1023, TOP)
    own = b.rep("r" * 127, table={8: (C.INT, 0, 16, 1), 16: (255, 0, 32, 1, 0)}, scalars=WIDEST)
    b.reps[own].number = 65535
    b.dataset(1, "rep", "INT", (2,), data=[1, -2], rep=own)
    b.dataset(1, "wide", ("struct", [("m" * 1023, "DOUBLE")]), (), data=[(bytes(32),)], rep=own)
    b.named(1, "deep", nested(63, b"\7\0\1" + u64(1)))
    b.named(1, "sequences", nested(8, b"\x09\0"))
    b.named(1, "array", ("array", [1] * 32, "INT"))
    b.named(1, "long", ("string", 0, TOP))
    b.named(1, "integer", ("scalar", description(1, 0, 16, precision=128)))
    b.named(1, "real", ("scalar", WIDEST))
    v = b.dataset(1, "shared", "vstring", (16,), "compact")
    b.compact(v, (u64(4) + u64(0)) * 16 + b"full")
    b.attr(d, "shared", "vstring", None, (16,), raw=u8(0) + (u64(4) + u64(0)) * 16 + b"full")
    b.dataset(1, "compact", ("string", 0, 1 << 16), (), data=["65,536"])
    b.dataset(1, "maximum", "INT8_T", (1,), "chunked", (1,), maxshape=(TOP,))
    far = b.dataset(1, "far", "INT8_T", (1,), "chunked", (1,), maxshape=(None,))
    b.run(far, (TOP,), [b"x"])
    b.dataset(1, "slab", "INT8_T", (1,), "contiguous", (TOP,))
    b.dataset(1, "suffix", "INT8_T", (1, 1, 1), "chunked", (1, 1, 1), maxshape=(None, 1 << 31, 1 << 31))
    rows_of(b, "packed", 128)
    rows_of(b, "placed", 96, True)
    sums = b.dataset(1, "sums", ("string", 0, 1), (8188,), "chunked", (1,))
    b.run(sums, (0,), [b"x"] * 8188)
    full = b.dataset(1, "filters", "INT", (2,), "chunked", (2,), filters=[("shuffle", [4])] * 32)
    b.packed(full, (0,), [b.encoded(full, [3, 4])])
    b.dataset(1, "users filter", "INT", (2,), "chunked", (2,), filters=[("f" * 127, list(range(255)))])
    external_rows(b, "external", 96, b.target("limits.bin", WORD * 24))
    hidden_target(b, "/".join(["y" * 255] * 16), version=b"t" * 1023)
    b.tree[b.key(0, 200, b"k" * 1030)] = b"v" * 2048
    return done(b, {"/rep": [1, -2], "/packed": list(range(128)), "/placed": list(range(96)),
                    "/filters": [3, 4], "/shared": ["full"] * 16, "/compact": "65,536"})


def beyond():
    """A value beyond each limit of section 9 but those of sections 2 to 4: what has it is unreadable, no more."""
    b = Builder()
    d = b.dataset(1, "d", "INT", (), data=[7])
    b.attr(d, "a", "INT", 1)
    b.attr(d, "rank", "INT", [1], (1,) * 33)
    b.attr(d, "length", "INT", [1], (TOP + 1,))
    b.attr(d, "count", "INT", [1], (1 << 31, 1 << 32))
    b.attr(d, "n" * 1024, "INT", 2)
    b.attr(d, "integer", "INT", 1 << 40, forms={8: (C.INT, 17)})
    b.attr(d, "shared", "vstring", None, (17,), raw=u8(0) + (u64(1) + u64(0)) * 17 + b"x")
    b.soft(1, "n" * 1024, "d")
    b.dimension(1, "n" * 1024, 3)
    x = b.dimension(1, "x", TOP + 1)
    b.attr(x, "a", "INT", 3)

    def dataset(name, *args, **more):
        return b.dataset(1, name, *args, **more)

    dataset("rank", "INT", (1,) * 33)
    dataset("length", "INT8_T", (TOP + 1,), "chunked", (1,))
    dataset("maximum", "INT8_T", (1,), "chunked", (1,), maxshape=(TOP + 1,))
    dataset("elements", "INT8_T", (1 << 31, 1 << 32), "chunked", (1, 1))
    dataset("bytes", "INT", (1 << 61,), "chunked", (1,))
    dataset("slab", "INT8_T", (1,), "contiguous", (TOP + 1,))
    dataset("chunk", "INT8_T", (1, 1), "chunked", ((1 << 32) - 1, (1 << 32) - 1))
    dataset("suffix", "INT8_T", (1, 1, 1), "chunked", (1, 1, 1), maxshape=(None, 1 << 31, 1 << 32))
    dataset("compact", ("string", 0, (1 << 16) + 1), (), "compact")
    dataset("filters", "INT", (1,), "chunked", (1,), filters=[("shuffle", [4])] * 33)
    dataset("users filter", "INT", (1,), "chunked", (1,), filters=[("f" * 128, [])])
    r = dataset("representation", "INT", (), "compact")
    b.objects[r]["rest"] = var(8) + var(65536) + b.objects[r]["rest"][2:]
    named = b.rep("r" * 128, table={8: (C.INT, 0, 4, 1)})
    dataset("name", "INT", (), "compact", rep=named)
    wide = description(2, 0, 32, precision=256, sign=255, exp=(200, 33), sig=(0, 100), bias=64)
    own = b.rep("own", table={8: (C.INT, 0, 17, 1), 9: (C.UINT, 0, 4, 1), 16: (255, 0, 32, 1, 0)}, scalars=wide)
    dataset("size", "INT", (), "compact", rep=own)
    dataset("described", "DOUBLE", (), "compact", rep=own)
    b.dataset(1, "known", "UNSIGNED", (), data=[9], rep=own)
    types = {
        "deep": nested(64, b"\7\0\1" + u64(1)), "sequences": nested(9, b"\x09\0"),
        "array": ("array", [1] * 33, "INT"), "string": ("string", 0, TOP + 1), "product": ("array", [TOP, 2], "INT"),
        "integer": ("scalar", description(1, 0, 17, precision=128)), "exponent": ("scalar", wide),
        "real": ("scalar", description(2, 0, 33, precision=264, sign=263, exp=(240, 10), sig=(0, 100))),
        "significand": ("scalar", description(2, 0, 32, precision=256, sign=255, exp=(200, 8), sig=(0, 114))),
        "member": ("struct", [("m" * 1024, "INT")])}
    for name, t in types.items():
        b.named(1, "type " + name, t)
    dataset("of a type", types["deep"], (), "compact")
    v = b.dataset(1, "shared", "vstring", (17,), "compact")
    b.compact(v, (u64(4) + u64(0)) * 17 + b"full")
    far = b.dataset(1, "far", "INT8_T", (1,), "chunked", (1,), maxshape=(None,))
    b.run(far, (0,), [b"x"])
    b.run(far, (TOP + 1,), [b"x"])
    rows_of(b, "packed", 129)
    rows_of(b, "placed", 97, True)
    sums = b.dataset(1, "sums", "INT8_T", (5,), "chunked", (1,))
    b.run(sums, (0,), [b"x"] * 5, edit=lambda record: record[:30] + u32(65537) + record[34:])
    external_rows(b, "external", 97, b.target("limits.bin", WORD * 24))
    targets = (b.target("size", WORD, edit=lambda record: record[:8] + u64(TOP + 1) + record[16:]),
               b.target("/".join(["y" * 255] * 16) + "yy", WORD), b.target("text", WORD, version=b"t" * 1024))
    for name in [n for n in b.beside if n != "limits.bin"]:
        del b.beside[name]
    for i, target in enumerate(targets):
        external_rows(b, "file %d" % i, 1, target)
    return done(b, {"/d": 7, "/known": 9, "/far": [120]})


def reps():
    """Datasets of several representations; two of them have one name."""
    b = Builder(machine="amd64")
    little = b.rep("internal")
    m68k = b.rep("native", table=table_of("m68k"), aligned=True, machine="m68k")
    i386 = b.rep("native", table=table_of("i386"), aligned=True, machine="i386")
    b.dataset(1, "big", "INT", (3,), data=[1, -2, 3])
    b.dataset(1, "little", "INT", (3,), data=[1, -2, 3], rep=little)
    d = b.dataset(1, "chunked", "DOUBLE", (4,), "chunked", (2,), rep=little, fill=1,
                  fill_value=0.5)
    b.run(d, (0,), [b.payload("DOUBLE", [1.5, -2.5], little)[0]])
    b.attr(d, "same everywhere", "DOUBLE", 1.5)
    pair = ("struct", [("c", "CHAR"), ("x", "DOUBLE"), ("ld", "LONG_DOUBLE")])
    values = [("a", 1.0, -2.5), ("b", 2.0, 0.0)]
    for name, rep in (("packed", 0), ("m68k", m68k), ("i386", i386)):
        b.dataset(1, name, pair, (2,), data=values, rep=rep)
    shown = [{"c": v[0], "x": v[1], "ld": v[2]} for v in values]
    return done(b, {"/big": [1, -2, 3], "/little": [1, -2, 3], "/chunked": [1.5, -2.5, 0.5, 0.5],
                    "/packed": shown, "/m68k": shown, "/i386": shown})


def reps_later():
    """Representations that only a later version understands: their datasets alone are hidden."""
    b = Builder()
    b.reps[0].flags = 0x10
    form = b.rep("quantum")
    b.reps[form].head = u8(9) + u8(0) + u16(form) + u8(7) + b"quantum"
    b.reps[form].records = [(2, b"whatever")]
    flag = b.rep("aligned")
    b.reps[flag].head = u8(1) + u8(1) + u16(flag) + u8(7) + b"aligned"
    rows = {8: (99, 0, 4, 4), 16: (C.BINARY64, 0, 8, 8), 9: (C.UINT, 7, 4, 4)}
    own = b.rep("own", table=rows)
    b.reps[own].number = 60000
    for name, rep in (("default", 0), ("form", form), ("flag", flag), ("format", own)):
        d = b.dataset(1, name, "INT", (2,), "compact", rep=rep)
        b.compact(d, bytes([0, 0, 0, 1, 0, 0, 0, 2]))
    # Laid out by sizes of two bytes, which only a later version knows.
    tight = ("struct", [("x", "INT"), ("y", "INT")], [0, 2], 4)
    b.dataset(1, "tight", tight, (2,), "compact", rep=flag)
    b.dataset(1, "order", "UNSIGNED", (), "compact", rep=own)
    b.dataset(1, "known", "DOUBLE", (), data=[1.5], rep=own)
    return done(b, {"/default": [1, 2], "/known": 1.5})


def readonly():
    """An unknown write-incompatible feature: to be read, not to be written."""
    b = Builder()
    b.slot_fields = {"write_incompatible": 1 << 40}
    b.dataset(1, "d", "INT", (), data=[1])
    return done(b, {"/d": 1})


def version_1_3():
    """Made by 1.3: a compatible feature, tags and records that 1.1 does not know."""
    b = Builder()
    b.slot_fields = {"major": 1, "minor": 3, "compatible": 1 << 9}
    b.extra_records = [(300, b"later")]
    d = b.dataset(1, "d", "INT", (2,), data=[1, 2])
    b.tree[b.key(d, 100, b"new")] = b.tree[b.key(0, 99, b"")] = b"whatever"
    return done(b, {"/d": [1, 2]})


def draft_5():
    """The last draft: 1.1 but for the number."""
    b = Builder()
    b.slot_fields = {"major": 0, "minor": 5}
    b.dataset(1, "d", "INT", (2,), data=[1, 2])
    return done(b, {"/d": [1, 2]})


def draft_5_changed():
    """A commit of draft 5, and the first one of 1.1."""
    b = Builder()
    b.slot_fields = {"major": 0, "minor": 5}
    b.dataset(1, "first", "INT", (2,), data=[1, 2])
    b.commit()
    b.slot_fields = {}
    b.dataset(1, "second", "INT", (1,), data=[3])
    return done(b, {"/first": [1, 2], "/second": [3]})


def mixed_versions():
    """A commit of 1.1, and one of 1.2."""
    b = Builder()
    b.dataset(1, "first", "INT", (2,), data=[1, 2])
    b.commit()
    b.slot_fields = {"major": 1, "minor": 2}
    b.dataset(1, "second", "INT", (1,), data=[3])
    return done(b, {"/first": [1, 2], "/second": [3]})


def two_commits():
    b = Builder()
    b.dataset(1, "first", "INT", (2,), data=[1, 2])
    b.alloc(bytes(256))
    hole = len(b.space) - 256
    b.commit()
    first = b.slots[0]
    log = i64(struct.unpack(">q", first[72:80])[0]) + first[64:72] + first[80:100] + first[156:164]
    b.tree[b.key(0, 2, u64(1))] = log
    b.tree[b.key(0, 1, u64(hole))] = u64(256) + u64(0)
    d = b.dataset(1, "second", "DOUBLE", (1,), "contiguous", data=[0.5])
    b.attr(d, "a", "INT", 7)
    return done(b, {"/first": [1, 2], "/second": [0.5]}, free_old=True)


def log_entry(b):
    """The commit just made is one that can still be opened."""
    raw = b.slots[(b.sequence + 1) % 2]
    b.tree[b.key(0, 2, u64(b.sequence))] = raw[72:80] + raw[64:72] + raw[80:100] + raw[156:164]


def commits():
    """Four commits, all of them kept; the sums of one dataset are absent."""
    b = Builder(hints={"drep_keep": "4"})
    freed = []
    d = b.dataset(1, "d", "INT", (2,), data=[1, 2])

    def commit():
        before = list(b.node_extents)
        b.commit(free_old=True)
        log_entry(b)
        # What the commit before freed stands in the tree now, with the number of that commit.
        for offset, length in freed:
            b.tree[b.key(0, 1, u64(offset))] = u64(length) + u64(b.sequence)
        freed[:] = before

    commit()
    e = b.dataset(1, "e", "DOUBLE", (600,), "contiguous", chunk=(600,))
    b.run(e, (0,), [b.payload("DOUBLE", [i / 4 for i in range(600)])[0]], sums=False)
    commit()
    b.unlink(1, "d")
    del b.objects[d]
    for key in [k for k in b.tree if k[1:9] == u64(d)]:
        del b.tree[key]
    b.dataset(1, "d", "INT", (2,), data=[3, 4])
    commit()
    b.attr(1, "n", "INT", 4)
    b.earlier = [1, 2, 3]
    return done(b, {"/d": [3, 4], "/e": [i / 4 for i in range(600)]}, free_old=True)


def second_commit():
    return two_commits()


def damaged_slot():
    b = two_commits()
    slot = bytearray(b.slots[1])
    slot[2000] ^= 1
    b.slots[1] = bytes(slot)
    b.expect = {"/first": [1, 2]}
    return b


def stream():
    """A file that was written to a pipe: its slot stands at the end."""
    b = Builder()
    b.at_end = True
    b.dataset(1, "first", "INT", (2,), data=[1, 2])
    b.dataset(1, "second", "DOUBLE", (3,), "contiguous", data=[0.5, 1.5, 2.5])
    return done(b, {"/first": [1, 2], "/second": [0.5, 1.5, 2.5]})


def damaged_stream():
    """Its slot A is damaged; the slot at the end counts all the same."""
    b = stream()
    slot = bytearray(b.slots[0])
    slot[2000] ^= 1
    b.slots[0] = bytes(slot)
    return b


def damaged_stream_moved():
    """A crash while the next commit brought the slot to the front: torn, and nothing else yet."""
    b = stream()
    b.slots[0] = b.slots[0][:40] + bytes(8) + b.end_slot[48:2048] + b.slots[0][2048:]
    return b


def stream_second_slot():
    """Slot A still refers to the end, and the next commit is in slot B: that one counts."""
    b = stream_later()
    first = bytearray(b.slots[0][:40] + u64(1) + bytes(4048))
    first[12:16] = bytes(4)
    b.slots[0] = drepwrite.resum(first)
    b.expect = {"/first": [1, 2], "/third": 3}
    return b


def stream_later():
    """A commit after the stream."""
    b = Builder()
    b.at_end = True
    b.dataset(1, "first", "INT", (2,), data=[1, 2])
    b.commit()
    b.dataset(1, "third", "INT", (), data=[3])
    b.tree[b.key(0, 2, u64(1))] = (b.end_slot[72:80] + b.end_slot[64:72] + b.end_slot[80:100] +
                                   b.end_slot[156:164])
    b.earlier = [1]
    return done(b, {"/first": [1, 2], "/third": 3}, free_old=True)


GOOD = [empty, scalar, part1, types, types_internal, scalars, compound, control_names, placed, vlen, shared, nuls, chunked, short, framed, blosclz,
        runs, external, hdf5_filters, hdf5_unknown, user_filter, contiguous, links, attrs, dims, named, tree, fill_exact, native_s390x, native_m68k,
        native_i386, native_ppc64el, far_pairs, native_unknown, declared_ibm, declared_vax,
        declared_cray, items, signs, code, code_native, reps, reps_later, extended, later, later_chunks,
        later_dims, later_value, limits, beyond, readonly, version_1_3, draft_5,
        draft_5_changed, mixed_versions, second_commit, commits, damaged_slot,
        stream, damaged_stream, damaged_stream_moved, stream_second_slot, stream_later]


def file_name(function):
    return function.__name__.replace("_", "-") + ".drep"
