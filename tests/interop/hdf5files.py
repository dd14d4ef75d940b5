# SPDX-License-Identifier: MIT
"""hdf5files - makes the HDF5 files that run-hdf5.py sends through import and export.

Each function decorated with @case makes one file; what h5py has no call for goes through
its low-level interface, straight to the HDF5 library that it has loaded, or is made by
hdf5gen.c.  A feature is a row of the table that the test prints.
"""
import ctypes
import functools
import os

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5p, h5s, h5t, h5z

_fesetenv = ctypes.CDLL(None).fesetenv


def right_arithmetic():
    """A plugin of HDF5 may be linked so that the process that loads it takes small numbers for zero."""
    _fesetenv(ctypes.c_void_p(-1))

CASES = []


class Case:
    """One file: how it is made, and what import and export are to say of it."""

    def __init__(self, name, make, features, *, lost=(), kept=(), same=True, h5diff=True, order=True,
                 unread=False):
        self.name = name
        self.make = make  # None: hdf5gen has made it
        self.features = [x for x in features.split(",") if x]
        self.kept = kept  # words of what import must keep as annotations, and of what it
        self.lost = lost  # must lose: its exit status is then 1
        self.same = same  # whether the exported file must equal the original in all
        self.h5diff = h5diff  # False: it cannot see that files are equal
        self.diffable = None  # whether h5diff finds the file equal to its own copy
        self.unread = unread  # nobody here decodes it: import ends with status 1
        self.order = order  # False: HDF5 shows other values where only byte orders differ


def case(**how):
    def add(f):
        CASES.append(Case(f.__name__, f, **how))
        return f
    return add


@functools.lru_cache
def hdf5():
    """The HDF5 library in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "/libhdf5" in line and "_hl" not in line:
                return ctypes.CDLL(line.split()[-1])
    raise OSError("h5py has not loaded libhdf5")


def hdf5_call(name, hid):
    """A property of a datatype that h5py does not show."""
    f = getattr(hdf5(), name)
    f.argtypes, f.restype = [ctypes.c_int64], ctypes.c_size_t
    return f(hid)


def comment(obj):
    """h5py gives something even where there is none."""
    f = hdf5().H5Oget_comment
    f.argtypes, f.restype = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t], ctypes.c_ssize_t
    text = ctypes.create_string_buffer(max(f(obj.id, None, 0), 0) + 1)
    f(obj.id, text, len(text))
    return text.value


def raw(group, name, htype, data, shape=None):
    """A dataset of any HDF5 type from its very bytes."""
    data = np.frombuffer(bytes(data), "V%d" % htype.get_size())
    space = h5s.create_simple(shape or data.shape)
    dset = h5d.create(group.id, name.encode(), htype, space)
    dset.write(h5s.ALL, h5s.ALL, data.reshape(shape or data.shape), mtype=htype)
    return dset


def raw_attr(obj, name, htype, data):
    data = np.frombuffer(bytes(data), "V%d" % htype.get_size())
    attr = h5a.create(obj.id, name.encode(), htype, h5s.create_simple(data.shape))
    attr.write(data, mtype=htype)


def text_type(size, cset=h5t.CSET_ASCII, pad=h5t.STR_NULLTERM):
    t = h5t.C_S1.copy()
    t.set_size(size)
    t.set_cset(cset)
    t.set_strpad(pad)
    return t


RNG = np.random.default_rng(7)


@case(features="groups")
def empty(f):
    pass


@case(features="integers of any order and size,attributes of any type")
def integers(f):
    for order in "<>":
        for kind in "iu":
            for size in (1, 2, 4, 8):
                dt = np.dtype("%s%s%d" % (order, kind, size))
                lim = np.iinfo(dt)
                name = "%s%s%d" % ("le" if order == "<" else "be", kind, size)
                f[name] = np.array([lim.min, lim.max, 0, 1, 17], dt)
                f[name].attrs["limits"] = np.array([lim.min, lim.max], dt)


@case(features="reals of any order and size,attributes of any type")
def reals(f):
    values = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-7, 3.14159]
    for order in "<>":
        for size in (2, 4, 8):
            name = "%sf%d" % ("le" if order == "<" else "be", size)
            f[name] = np.array(values, "%sf%d" % (order, size))
            f.attrs[name] = np.array(values, "%sf%d" % (order, size))
    # NaNs with payloads, quiet and signalling, keep every bit.
    f["payload8"] = np.array([0x7FF8000000000001, 0xFFF0000000000123], "u8").view("f8")
    f["payload4"] = np.array([0x7FC00001, 0xFF800123], "u4").view("f4")


@case(features="long doubles,attributes of any type")
def long_doubles(f):
    third = np.longdouble(1) / 3
    big = np.array([third, -third, 2 ** np.longdouble(16000), 0, np.inf, -np.inf, 1.5],
                   np.longdouble)
    # The padding above 80 bits means nothing, but h5diff compares it inside compounds.
    big.view("u1").reshape(-1, 16)[:, 10:] = 0
    f["x87"] = big
    f.attrs["x87"] = big[:2]
    pair = np.zeros(1, [("n", "i2"), ("v", np.longdouble)])
    pair["n"] = 1
    pair.view("u1")[2:18] = big[:1].view("u1")
    f["pair"] = pair


@case(features="reals of any format")
def binary128(f):
    t = h5t.IEEE_F64LE.copy()
    t.set_size(16)
    t.set_precision(128)
    t.set_fields(127, 112, 15, 0, 112)
    t.set_ebias(16383)
    one_third = bytes.fromhex("55555555555555555555555555 55fd3f".replace(" ", ""))
    raw(f, "quad", t, one_third * 2 + bytes(16))
    raw_attr(f, "quad", t, one_third)


@case(features="reals of any format")
def bfloat16(f):
    for name, order in (("le", h5t.ORDER_LE), ("be", h5t.ORDER_BE)):
        t = h5t.IEEE_F32LE.copy()
        t.set_fields(15, 7, 8, 0, 7)
        t.set_precision(16)
        t.set_size(2)
        t.set_ebias(127)
        t.set_order(order)
        raw(f, name, t, bytes.fromhex("3fc0c04000007f80"))


@case(features="reals of any format")
def odd_reals(f):
    """Formats without a name: three bytes, and a significand with a gap below it."""
    t = h5t.IEEE_F32LE.copy()
    t.set_fields(23, 16, 7, 0, 16)
    t.set_precision(24)
    t.set_size(3)
    t.set_ebias(63)
    raw(f, "three", t, bytes.fromhex("00803f0000bf000000"))
    t = h5t.IEEE_F32BE.copy()
    t.set_fields(26, 20, 6, 7, 13)
    t.set_offset(7)
    t.set_precision(20)
    t.set_size(4)
    t.set_ebias(31)
    raw(f, "shifted", t, bytes.fromhex("01f8000003f0008000000000"))


@case(features="reals of any format")
def vax_reals(f):
    lib = hdf5()
    for name, size in (("H5T_VAX_F32_g", 4), ("H5T_VAX_F64_g", 8)):
        t = h5t.TypeFloatID(ctypes.c_int64.in_dll(lib, name).value).copy()
        raw(f, "vax%d" % size, t, bytes.fromhex("8040000000000000" if size == 4 else
                                                "104000000000000020c0000000000000"))


@case(features="integers of any precision and offset")
def odd_integers(f):
    t = h5t.STD_I32LE.copy()
    t.set_precision(12)
    t.set_offset(5)
    raw(f, "twelve", t, np.array([5 << 5, 0xFFF << 5, 0x7FF << 5], "<u4").tobytes())
    t = h5t.STD_U32BE.copy()
    t.set_precision(24)
    t.set_size(3)
    raw(f, "three", t, bytes.fromhex("000001ffffff123456"))
    t = h5t.STD_I64LE.copy()
    t.set_size(16)
    t.set_precision(128)
    raw(f, "sixteen", t, bytes(range(32)) + b"\xff" * 16)
    raw_attr(f, "sixteen", t, bytes(15) + b"\x80")
    t = h5t.STD_U64BE.copy()
    t.set_size(16)
    t.set_precision(128)
    raw(f, "unsigned", t, bytes(range(16)) + b"\xff" * 16)


@case(features="bitfields")
def bitfields(f):
    raw(f, "b8", h5t.STD_B8LE, b"\x00\x01\xfe\xff")
    raw(f, "b16be", h5t.STD_B16BE, b"\x01\x02\xff\xfe")
    raw(f, "b64", h5t.STD_B64LE, bytes(range(8)))
    raw_attr(f, "flags", h5t.STD_B8LE, b"\x05")


@case(features="enums")
def booleans(f):
    f["flags"] = np.array([True, False, True])
    f["one"] = True
    f.attrs["on"] = True
    f.attrs["many"] = np.array([[False, True], [True, True]])


@case(features="enums")
def enums(f):
    for order in "<>":
        dt = h5py.enum_dtype({"RED": 0, "GREEN": 300, "BLUE": -7}, basetype=order + "i2")
        f.create_dataset("le" if order == "<" else "be", data=np.array([0, 300, -7, 0], order + "i2"),
                         dtype=dt)
    dt = h5py.enum_dtype({"A": 2 ** 62, "B": 2 ** 63 - 1}, basetype="u8")
    f.create_dataset("wide", data=np.array([2 ** 62, 2 ** 63 - 1, 2 ** 64 - 1], "u8"), dtype=dt)
    f.attrs.create("colour", 300, dtype=h5py.enum_dtype({"GREEN": 300}, basetype="i4"))


@case(features="enums", h5diff=False, order=False)
def enums_without_names(f):
    """HDF5 itself, and so h5diff, loses such values where it turns the bytes."""
    for order in "<>":
        dt = h5py.enum_dtype({"RED": 0, "GREEN": 300}, basetype=order + "i2")
        f.create_dataset("le" if order == "<" else "be", data=np.array([0, 5, -7, 300], order + "i2"),
                         dtype=dt)


@case(features="fixed strings,character sets")
def fixed_strings(f):
    for name, pad in (("term", h5t.STR_NULLTERM), ("null", h5t.STR_NULLPAD),
                      ("space", h5t.STR_SPACEPAD)):
        for cset, label in ((h5t.CSET_ASCII, "ascii"), (h5t.CSET_UTF8, "utf8")):
            t = text_type(8, cset, pad)
            fill = b" " if name == "space" else b"\0"
            word = "größ".encode() if label == "utf8" else b"plain"
            data = word.ljust(8, fill) + b"b".ljust(8, fill) + b"".ljust(8, fill)
            raw(f, name + "_" + label, t, data)
            raw_attr(f, name + "_" + label, t, data)


@case(features="variable strings,character sets")
def variable_strings(f):
    words = ["", "a", "Ångström", "x" * 5000, "tab\tquote\"backslash\\"]
    f.create_dataset("utf8", data=words, dtype=h5py.string_dtype())
    f.create_dataset("ascii", data=[b"one", b"", b"three"], dtype=h5py.string_dtype("ascii"))
    f.create_dataset("grid", data=np.array([["a", "bb"], ["ccc", ""]], object), dtype=h5py.string_dtype(),
                     chunks=(1, 2), maxshape=(None, 2))
    f["single"] = "just one"
    f.attrs["title"] = "a title"
    f.attrs["list"] = ["p", "qq", ""]


@case(features="variable sequences")
def sequences(f):
    for name, base in (("i4", "<i4"), ("be", ">f8"), ("u1", "u1")):
        d = f.create_dataset(name, (4,), dtype=h5py.vlen_dtype(np.dtype(base)))
        d[0] = np.arange(3)
        d[2] = np.array([], base)
        d[3] = np.arange(100)
    d = f.create_dataset("chunked", (50,), dtype=h5py.vlen_dtype("i2"), chunks=(7,), compression=3)
    for i in range(50):
        d[i] = np.arange(i)
    f.attrs.create("ragged", np.array([np.arange(2), np.arange(5)], object), dtype=h5py.vlen_dtype("i4"))


@case(features="nested sequences")
def nested_sequences(f):
    """Sequences of sequences and of strings, made by the library itself."""
    inner = h5t.vlen_create(h5t.STD_I16LE)
    outer = h5t.vlen_create(inner)

    class Vlen(ctypes.Structure):
        _fields_ = [("n", ctypes.c_size_t), ("p", ctypes.c_void_p)]

    keep = []

    def vlen(array):
        keep.append(array)
        return Vlen(len(array), ctypes.addressof(array))

    one = (ctypes.c_int16 * 3)(1, 2, 3)
    two = (ctypes.c_int16 * 1)(-4)
    rows = (Vlen * 2)(vlen((Vlen * 2)(vlen(one), vlen(two))), Vlen(0, None))
    lib = hdf5()
    lib.H5Dwrite.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    dset = h5d.create(f.id, b"deep", outer, h5s.create_simple((2,)))
    assert lib.H5Dwrite(dset.id, outer.id, 0, 0, 0, rows) >= 0
    words = h5t.vlen_create(text_type(h5t.VARIABLE))
    texts = (ctypes.c_char_p * 2)(b"first", b"second")
    rows = (Vlen * 2)(vlen(texts), Vlen(0, None))
    dset = h5d.create(f.id, b"words", words, h5s.create_simple((2,)))
    assert lib.H5Dwrite(dset.id, words.id, 0, 0, 0, rows) >= 0


@case(features="compounds,nested compounds")
def compounds(f):
    packed = np.dtype([("when", ">i8"), ("value", "<f4"), ("flag", "u1")])
    f["packed"] = np.array([(1, 2.5, 3), (-4, np.nan, 255)], packed)
    f["aligned"] = np.zeros(3, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True))
    f["inside"] = np.array([((1, 2.0), [[1, 2, 3], [4, 5, 6]], b"text")],
                           [("pair", [("x", "i4"), ("y", "f8")]), ("grid", "<i2", (2, 3)), ("name", "S6")])
    mixed = np.dtype([("name", h5py.string_dtype()), ("n", "<i4"), ("list", h5py.vlen_dtype("f4"))])
    d = f.create_dataset("variable", (2,), mixed)
    d[0] = ("alpha", 1, np.arange(3, dtype="f4"))
    d[1] = ("", -1, np.arange(0, dtype="f4"))
    colour = h5py.enum_dtype({"RED": 0, "BLUE": 1}, basetype=">i4")
    d = f.create_dataset("coloured", (2,), np.dtype([("c", colour), ("b", "?")]))
    d[...] = np.array([(1, True), (0, False)], d.dtype)
    f.attrs["pair"] = np.array((1, 2.5), [("i", "<i2"), ("r", ">f8")])


@case(features="compounds")
def complex_numbers(f):
    for order in "<>":
        for size in (8, 16):
            f["%s%d" % ("le" if order == "<" else "be", size)] = \
                np.array([1 + 2j, -0.5j, complex(np.inf, np.nan)], "%sc%d" % (order, size))
    f.attrs["z"] = 3 - 4j


@case(features="arrays")
def arrays(f):
    t = h5t.array_create(h5t.STD_I16BE, (2, 3))
    raw(f, "grid", t, np.arange(12, dtype=">i2").tobytes())
    t = h5t.array_create(text_type(4), (2,))
    raw(f, "texts", t, b"ab\0\0cdefgh\0\0i\0\0\0")
    raw_attr(f, "grid", h5t.array_create(h5t.IEEE_F32LE, (2,)), np.arange(4, dtype="<f4").tobytes())


@case(features="opaque")
def opaques(f):
    for tag in ("", "a tag", "image/png"):
        t = h5t.create(h5t.OPAQUE, 5)
        t.set_tag(tag.encode())
        raw(f, "t%d" % len(tag), t, bytes(range(15)))
    raw_attr(f, "o", t, b"\0\1\2\3\4")


@case(features="object references")
def object_references(f):
    f["data"] = np.arange(5)
    # It comes later in the order of names.
    f["zz"] = np.arange(3.0)
    f["aa"] = np.array([f["zz"].ref], h5py.ref_dtype)
    f.create_dataset("some", (3,), h5py.ref_dtype)[1] = f["data"].ref
    f.attrs["ref"] = f["data"].ref
    d = f.create_dataset("inside", (2,), np.dtype([("n", "i4"), ("to", h5py.ref_dtype)]))
    d[0] = (1, f["data"].ref)
    d[1] = (2, f["zz"].ref)


@case(features="object references", h5diff=False)
def references_to_others(f):
    f.create_group("group/inner")
    f["kind"] = np.dtype("i1")
    f["refs"] = np.array([f["group/inner"].ref, f["kind"].ref, f["/"].ref], h5py.ref_dtype)


@case(features="region references")
def region_references(f):
    f["grid"] = np.arange(600).reshape(20, 30)
    g = f["grid"]
    refs = [g.regionref[2:5, 10:20], g.regionref[::2, 3], g.regionref[0:20:5, 0:30:7],
            g.regionref[...]]
    points = h5s.create_simple((20, 30))
    points.select_elements([(1, 2), (19, 29), (0, 0)])
    refs.append(h5py.h5r.create(f.id, b"grid", h5py.h5r.DATASET_REGION, points))
    f.create_dataset("refs", (5,), h5py.regionref_dtype)[...] = np.array(refs, h5py.regionref_dtype)
    f.create_dataset("none", (2,), h5py.regionref_dtype)
    f.attrs["region"] = g.regionref[1:3, 1:3]


@case(features="region references")
def region_of_blocks(f):
    """Two boxes that are not one."""
    f["line"] = np.arange(10)
    space = h5s.create_simple((10,))
    space.select_hyperslab((0,), (2,))
    space.select_hyperslab((5,), (2,), op=h5s.SELECT_OR)
    ref = h5py.h5r.create(f.id, b"line", h5py.h5r.DATASET_REGION, space)
    f.create_dataset("refs", (1,), h5py.regionref_dtype)[0] = ref


@case(features="groups,hard links,soft links,external links")
def links(f):
    f.create_group("a/b/c")
    f["a/data"] = np.arange(3)
    f["a/b/same"] = f["a/data"]
    f["again"] = f["a/b"]
    f["soft"] = h5py.SoftLink("/a/data")
    f["a/relative"] = h5py.SoftLink("b/c")
    f["dangling"] = h5py.SoftLink("/no/such/object")
    f["outside"] = h5py.ExternalLink("other.h5", "/x/y")


@case(features="circles of hard links", kept=["link"])
def cycle(f):
    f.create_group("g")
    f["g/loop"] = f["g"]
    f["g/data"] = np.arange(3)


@case(features="scalar and null spaces,never written")
def spaces(f):
    f["scalar"] = 2.5
    f["null"] = h5py.Empty("f4")
    f.attrs["null"] = h5py.Empty("i2")
    f.create_dataset("none", (0,), "i4")
    f.create_dataset("none2", (3, 0, 2), "f8")
    f.create_dataset("grows_from_none", (0, 4), "i4", maxshape=(None, 4))
    f.create_dataset("unwritten", (5,), "f8")
    f.create_dataset("rank8", data=np.arange(2 ** 8).reshape((2,) * 8))


@case(features="compact layout,contiguous layout,chunked layout,unlimited dimensions")
def layouts(f):
    compact = h5p.create(h5p.DATASET_CREATE)
    compact.set_layout(h5d.COMPACT)
    for name, n in (("compact", 10), ("compact_large", 1000)):
        d = h5d.create(f.id, name.encode(), h5t.STD_I32LE, h5s.create_simple((n,)), compact)
        d.write(h5s.ALL, h5s.ALL, np.arange(n, dtype="<i4"))
    f.create_dataset("contiguous", data=np.arange(30).reshape(5, 6))
    f.create_dataset("chunked", data=np.arange(70).reshape(7, 10), chunks=(3, 4))
    f.create_dataset("unlimited", data=np.arange(70.0).reshape(7, 10), chunks=(3, 4), maxshape=(None, None))
    f.create_dataset("limited", data=np.arange(7), chunks=(3,), maxshape=(100,))


@case(features="filter deflate,filter shuffle,filter fletcher32,filter scale-offset")
def filters(f):
    data = RNG.integers(0, 50, (100, 130)).astype("<i4")
    f.create_dataset("deflate", data=data, chunks=(30, 40), compression=9)
    f.create_dataset("shuffled", data=data, chunks=(30, 40), compression=1, shuffle=True)
    f.create_dataset("shuffle_only", data=data, chunks=(30, 40), shuffle=True)
    f.create_dataset("summed", data=data, chunks=(30, 40), fletcher32=True)
    f.create_dataset("scaled", data=data, chunks=(30, 40), scaleoffset=0)
    f.create_dataset("all", data=data, chunks=(100, 130), compression=6, shuffle=True, fletcher32=True)


@case(features="filters that are not here", same=False, unread=True)
def filter_of_others(f):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((100,))
    plist.set_filter(305, h5z.FLAG_OPTIONAL)  # LZO
    d = h5d.create(f.id, b"lzo", h5t.STD_I64LE, h5s.create_simple((1000,)), plist)
    for i in range(0, 1000, 100):
        d.write_direct_chunk((i,), b"compressed by lzo")
    f["kept"] = np.arange(4)


@case(features="damaged data", lost=["values"], same=False)
def damaged_chunk(f):
    """One chunk of three is not a zlib stream; the others are kept."""
    d = f.create_dataset("bad", data=np.arange(3000), chunks=(1000,), compression=1)
    d.id.write_direct_chunk((1000,), b"this is no stream")
    f["good"] = np.arange(3)


@case(features="fill values")
def fill_values(f):
    f.create_dataset("int", (10,), "<i4", fillvalue=-9999, chunks=(3,))[3:5] = 7
    f.create_dataset("real", (10,), ">f4", fillvalue=np.nan)
    f.create_dataset("half", (3,), "<f2", fillvalue=1.5)
    f.create_dataset("text", (3,), "S5", fillvalue=b"none")
    f.create_dataset("record", (3,), np.dtype([("a", "i4"), ("b", ">f8")]),
                     fillvalue=np.array((7, -1.5), [("a", "i4"), ("b", ">f8")]))
    f.create_dataset("enum", (2,), h5py.enum_dtype({"A": 1, "B": 2}, basetype=">i2"), fillvalue=2)
    f.create_dataset("bool", (2,), "?", fillvalue=True)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    d = h5d.create(f.id, b"never", h5t.STD_I32LE, h5s.create_simple((3,)), plist)
    d.write(h5s.ALL, h5s.ALL, np.arange(3, dtype="<i4"))


@case(features="never written,chunked layout", h5diff=False)
def sparse(f):
    """Two chunks of a billion: neither direction may walk over the others."""
    d = f.create_dataset("huge", (1 << 24, 1 << 24), "<f8", chunks=(256, 256), compression=1, fillvalue=1.5)
    d[0:3, 0:3] = 2.0
    d[-3:, -3:] = 3.0


@case(features="contiguous layout,chunked layout")
def blocks(f):
    """More than one block of transfer, in each layout."""
    data = RNG.integers(0, 1 << 30, (700, 1300), dtype="i8")
    f.create_dataset("contiguous", data=data.astype(">i8"))
    f.create_dataset("chunked", data=data, chunks=(64, 96))
    f.create_dataset("thin", data=data[:300], chunks=(300, 1))


@case(features="chunks beyond 16 MiB", kept=["chunk"])
def large_chunks(f):
    f.create_dataset("large", data=RNG.integers(0, 9, (1500, 2000), dtype="i8"), chunks=(1500, 2000),
                     compression=1, shuffle=True)


@case(features="attributes of any type")
def many_attributes(f):
    for i in range(100):
        f.attrs["a%03d" % (99 - i)] = i
    g = f.create_group("large")
    g.attrs.create("bytes", RNG.integers(0, 255, 50000, dtype="u1"))
    s = f.create_dataset("s", data=1)
    s.attrs["units"] = "m s-1"
    s.attrs["empty"] = ""


@case(features="creation order")
def creation_order(f):
    g = f.create_group("tracked", track_order=True)
    for name in ("zebra", "apple", "mango"):
        g[name] = len(name)
        g.attrs[name] = name
    h = f.create_group("plain")
    for name in ("zebra", "apple", "mango"):
        h[name] = len(name)


@case(features="groups")
def many_objects(f):
    for i in range(300):
        g = f.create_group("g%d" % i)
        g["d"] = i
        g.attrs["i"] = i


@case(features="named types and their sharing,attributes on named types")
def named_types(f):
    f["pair"] = np.dtype([("x", "u1"), ("y", "S3")])
    f["point"] = np.dtype([("x", "<f8"), ("y", ">f8")])
    f["colour"] = h5py.enum_dtype({"RED": 0, "BLUE": 1}, basetype="i1")
    f["point"].attrs["note"] = "a type with an attribute"
    f.create_dataset("points", (3,), f["point"])[...] = np.array([(1, 2), (3, 4), (5, 6)], f["point"].dtype)


@case(features="names that are no UTF-8 or too long")
def names(f):
    f["ünïcödé"] = 1
    f["with space"] = 2
    f["dots...and-more"] = 3
    f["x" * 1000] = 4
    f.attrs["with space"] = 5
    f.attrs["größe"] = 6


@case(features="names that are no UTF-8 or too long", kept=["name"])
def long_name(f):
    f["y" * 1200] = 1
    f["kept"] = 2


@case(features="times", h5diff=False)
def times(f):
    h5d.create(f.id, b"when", h5t.UNIX_D32LE, h5s.create_simple((2,)))
    f["kept"] = 2


@case(features="comments", kept=["comment"])
def comments(f):
    f["data"] = np.arange(3)
    h5g.GroupID.set_comment(f["/"].id, b"data", b"says something")


@case(features="virtual layout", kept=["layout"])
def virtual(f):
    f["source"] = np.arange(20)
    layout = h5py.VirtualLayout((2, 10), "i8")
    source = h5py.VirtualSource(".", "source", (20,))
    layout[0] = source[:10]
    layout[1] = source[10:]
    f.create_virtual_dataset("virtual", layout)


@case(features="dimension scales")
def scales(f):
    """HDF5's own dimension scales, and what containers cannot say of them."""
    f["temperature"] = np.arange(24.0).reshape(4, 6)
    f["pressure"] = np.arange(24.0).reshape(4, 6) + 1
    f["x"] = np.arange(4)
    f["y"] = np.arange(6)
    f["y2"] = np.arange(6) * 2
    f["nameless"] = np.arange(4)
    f["x"].make_scale("x")
    f["y"].make_scale("another name")
    f["y2"].make_scale("y2")
    hl = f["nameless"]
    hl.make_scale()
    f["temperature"].dims[0].attach_scale(f["x"])
    f["temperature"].dims[1].attach_scale(f["y"])
    f["pressure"].dims[1].attach_scale(f["y"])
    f["pressure"].dims[1].attach_scale(f["y2"])
    f["temperature"].dims[0].label = "first"
    f.create_dataset("longer", (9,))
    f["longer"].dims[0].attach_scale(f["x"])


def bare_scale(f, name, length, dimid, maxlen=None, chunk=1):
    """A dimension without a variable, as the netCDF library writes it."""
    plist = h5p.create(h5p.DATASET_CREATE)
    if maxlen:
        plist.set_chunk((chunk,))
    plist.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    if maxlen == 77:
        plist.set_deflate(3)
    space = h5s.create_simple((length,), (h5s.UNLIMITED if maxlen is True else maxlen or length,))
    h5d.create(f.id, name.encode(), h5t.IEEE_F32BE, space, plist)
    d = f[name]
    for key, text, size in (("CLASS", "DIMENSION_SCALE", 16),
                            ("NAME", "This is a netCDF dimension but not a netCDF variable.%10d" % length, 64)):
        a = h5a.create(d.id, key.encode(), text_type(size), h5s.create(h5s.SCALAR))
        a.write(np.array(text.encode(), "S%d" % size))
    d.attrs["_Netcdf4Dimid"] = np.int32(dimid)
    return d


@case(features="netCDF-4,dimension scales,unlimited dimensions")
def netcdf4(f):
    """What the netCDF library writes: dimensions with and without variables, one growing."""
    bare_scale(f, "nv", 2, 0)
    bare_scale(f, "time", 0, 1, True)
    bare_scale(f, "wide", 0, 3, True, 1024)
    bare_scale(f, "rare", 7, 4, 77, 5)
    bare_scale(f, "limited", 7, 5, 78, 5)
    f["lat"] = np.linspace(-90, 90, 5)
    f["lat"].make_scale("lat")
    f["lat"].attrs["_Netcdf4Dimid"] = np.int32(2)
    f["lat"].attrs["units"] = "degrees_north"
    t = f.create_dataset("temp", (3, 5), ">f4", chunks=(1, 5), maxshape=(None, 5), fillvalue=-999,
                         compression=4, shuffle=True)
    t[...] = np.arange(15).reshape(3, 5)
    b = f.create_dataset("bounds", data=np.zeros((5, 2)))
    t.dims[0].attach_scale(f["time"])
    t.dims[1].attach_scale(f["lat"])
    b.dims[0].attach_scale(f["lat"])
    b.dims[1].attach_scale(f["nv"])
    g = f.create_group("forecast")
    u = g.create_dataset("wind", data=np.ones(5, "i2"))
    u.dims[0].attach_scale(f["lat"])
    f.attrs["_NCProperties"] = np.array(b"version=2,netcdf=4.9.0,hdf5=1.10.8", "S34")


@case(features="in combination")
def combined(f):
    """Several of the above in one file."""
    inner = np.dtype([("id", ">u4"), ("tags", h5py.string_dtype()), ("ok", "?"),
                      ("where", "<f8", (3,)), ("z", "<c8"), ("to", h5py.ref_dtype)])
    f["target"] = np.arange(3)
    g = f.create_group("deep/er", track_order=True)
    d = g.create_dataset("records", (5,), inner, chunks=(2,), maxshape=(None,), compression=2)
    for i in range(5):
        d[i] = (i, "tag %d" % i, i % 2 == 0, [i, 2 * i, 3 * i], complex(i, -i), f["target"].ref)
    d.attrs["lists"] = np.arange(6).reshape(2, 3)
    f["deep/link"] = h5py.SoftLink("er/records")
    f["twice"] = f["deep/er"]


# ------------------------------------------------------------- files of chance

def some_dtype(rng, depth=0):
    """A random datatype that h5py can write."""
    order = rng.choice(["<", ">"])
    kinds = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "S", "?",
             "enum", "vlen", "text", "struct", "array"]
    kind = kinds[rng.integers(len(kinds) if depth < 2 else 15)]
    if kind == "S":
        return np.dtype("S%d" % rng.integers(1, 12))
    if kind == "?":
        return np.dtype("?")
    if kind == "enum":
        return h5py.enum_dtype({"A": 0, "B": 5, "C": 100}, basetype=order + "i2")
    if kind == "vlen":
        # h5py cannot write sequences in compounds of arrays of the other order.
        return h5py.vlen_dtype(np.dtype("<i4")) if depth == 0 else np.dtype(order + "f8")
    if kind == "text":
        return h5py.string_dtype("utf-8" if rng.integers(2) else "ascii") if depth < 2 else np.dtype("S4")
    if kind == "struct":
        n = int(rng.integers(1, 5))
        return np.dtype([("m%d" % i, some_dtype(rng, depth + 1)) for i in range(n)],
                        align=False) if depth < 2 else np.dtype("i4")
    if kind == "array":
        base = some_dtype(rng, 2)
        return np.dtype((base, (2, 3))) if depth > 0 else base
    return np.dtype(order + kind)


def some_value(rng, dtype):
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return np.array([some_value(rng, base) for _ in range(int(np.prod(shape)))], base).reshape(shape)
    enum = h5py.check_enum_dtype(dtype)
    if enum:
        return list(enum.values())[rng.integers(len(enum))]
    if h5py.check_string_dtype(dtype) and dtype.kind == "O":
        return "".join(chr(97 + c) for c in rng.integers(26, size=rng.integers(9)))
    if h5py.check_vlen_dtype(dtype) is not None:
        return np.arange(rng.integers(5), dtype=h5py.check_vlen_dtype(dtype))
    if dtype.names:
        return tuple(some_value(rng, dtype[n]) for n in dtype.names)
    if dtype.kind == "S":
        return bytes(rng.integers(97, 122, size=rng.integers(dtype.itemsize + 1), dtype="u1"))
    if dtype.kind == "?":
        return bool(rng.integers(2))
    if dtype.kind == "c":
        return complex(rng.integers(100), rng.integers(100))
    return rng.integers(100)


def some_array(rng, dtype, shape):
    n = int(np.prod(shape))
    out = np.empty(n, dtype)
    for i in range(n):
        out[i] = some_value(rng, dtype)
    return out.reshape(shape)


def some_dataset(rng, group, name):
    dtype = some_dtype(rng)
    shape = tuple(int(x) for x in rng.integers(1, 7, size=rng.integers(0, 4)))
    how = {}
    if shape and rng.integers(2):
        how["chunks"] = tuple(int(rng.integers(1, n + 1)) for n in shape)
        how["maxshape"] = tuple(None if rng.integers(3) == 0 else n for n in shape)
        how["fletcher32"] = bool(rng.integers(2)) and not dtype.hasobject
        how["shuffle"] = bool(rng.integers(2))
        if rng.integers(2):
            how["compression"] = int(rng.integers(1, 10))
    if dtype.kind in "iu" and not h5py.check_enum_dtype(dtype) and rng.integers(2):
        how["fillvalue"] = int(rng.integers(100))
    d = group.create_dataset(name, shape, dtype, **how)
    # Some are left unwritten.
    if rng.integers(5):
        d[...] = some_array(rng, dtype, shape) if shape else some_array(rng, dtype, (1,))[0]
    return d


def some_file(seed):
    def fill(f):
        rng = np.random.default_rng(seed)
        groups, datasets = [f["/"]], []
        for i in range(25):
            g = groups[rng.integers(len(groups))]
            what = rng.integers(10)
            name = "n%d" % i
            if what < 2:
                groups.append(g.create_group(name, track_order=bool(rng.integers(2))))
            elif what < 7:
                datasets.append(some_dataset(rng, g, name))
            elif what == 7 and datasets:
                g[name] = datasets[rng.integers(len(datasets))]
            elif what == 8:
                g[name] = h5py.SoftLink("/n%d" % rng.integers(25))
            else:
                owner = datasets[-1] if datasets else g
                dtype = some_dtype(rng, 1)
                owner.attrs.create(name, some_array(rng, dtype, (2,)), dtype=dtype)
    return fill


for _seed in range(16):
    CASES.append(Case("chance_%d" % _seed, some_file(_seed), "in combination"))


def make(path, c):
    with h5py.File(path + ".new", "w") as f:
        c.make(f)
    os.rename(path + ".new", path)
