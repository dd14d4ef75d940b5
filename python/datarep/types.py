# SPDX-License-Identifier: MIT
"""Datatypes of the library and dtypes of NumPy.

A `Form` says how elements lie in memory: their dtype, the library's type for that memory, and, where
elements hold pointers, a plan by which these become objects (python/src/elements.c).

| datatype | dtype |
|---|---|
| C_BOOL, CXX_BOOL, LOGICAL..., boolean | bool |
| INT8_T ... UINT64_T, SHORT ... UNSIGNED_LONG_LONG, INTEGER1 ... INTEGER8, AINT, COUNT, OFFSET | int8 ... uint64 |
| INT128_T, UINT128_T, INTEGER16 | object: Python's int |
| BYTE, PACKED | uint8 |
| CHAR, CHARACTER | S1 |
| WCHAR | U1 |
| FLOAT16, REAL2; FLOAT, REAL, REAL4; DOUBLE, DOUBLE_PRECISION, REAL8 | float16; float32; float64 |
| LONG_DOUBLE | longdouble |
| FLOAT128, REAL16 | longdouble, converted with a report where that is not binary128 |
| BFLOAT16, FP8_E4M3, FP8_E5M2 | those of ml_dtypes if it can be imported, else uint16 and uint8, the bits: `Dataset.as_float32()` has the numbers, and floats that are written are numbers |
| complex types | complex64, complex128, clongdouble; COMPLEX4 as complex64 |
| string | S (fixed number of bytes), without the blanks that pad it |
| vstring | object: str |
| opaque | V |
| enum | the integer, with metadata {"enum": {name: value}}; over 128 bits Python's int |
| array | a subarray |
| compound | a struct with the offsets of C |
| INT64_T of dates and durations, also as members | datetime64 and timedelta64, as the note DATES of the dataset says |
| sequence | object: arrays, metadata {"vlen": dtype} |
| reference | object: `Reference` or `RegionReference` |
| bits (HDF5's bitfields) of 1, 2, 4 or 8 bytes | unsigned integers of their order, as in h5py |
| scalars of other shapes | the narrowest dtype that holds them, else with a report |
"""
from __future__ import annotations

import dataclasses
import functools
import math
import re
import reprlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Sequence

from . import _core
from ._core import Plan, Type
from .errors import near, shown

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Form", "Reference", "RegionReference", "Type", "form_of_type", "form_of_dtype", "string_dtype",
           "vlen_dtype", "enum_dtype", "type_of"]

PREDEFINED, SCALAR, STRING, OPAQUE, ENUM, BOOLEAN, ARRAY, COMPOUND, SEQUENCE, VSTRING, REFERENCE = \
    range(1, 12)
CONTIGUOUS, STRUCT, RESIZED, DUP = 32, 39, 42, 43
_PAD_SPACE = 2

CODES: dict[str, int] = _core.code_names()
# Texts for dtypes of which a type checker knows the elements.
F4Name = Literal["f4", "float32"]
F8Name = Literal["f8", "float64"]
I1Name = Literal["i1", "int8"]
I2Name = Literal["i2", "int16"]
I4Name = Literal["i4", "int32"]
I8Name = Literal["i8", "int64"]
U1Name = Literal["u1", "uint8"]
U2Name = Literal["u2", "uint16"]
U4Name = Literal["u4", "uint32"]
U8Name = Literal["u8", "uint64"]
BoolName = Literal["?", "bool"]


class Form(NamedTuple):
    """How elements lie in memory."""

    dtype: Any
    type: Type
    plan: Optional[Plan] = None


@dataclasses.dataclass(frozen=True)
class Reference:
    """A reference to an object of the same file, or to a region of a dataset.

    >>> f = dr.open(":memory:", "w")
    >>> f["x"] = [1, 2]
    >>> f.attrs["best"] = f["x"].ref
    >>> f[f.attrs["best"]]
    <dataset /x: shape (2,), dtype int64>
    """

    id: int
    region: Optional[str] = None

    def __bool__(self) -> bool:
        return self.id != 0


@dataclasses.dataclass(frozen=True)
class RegionReference(Reference):
    """A reference to elements of a dataset: region is their selection as text, "[0:10,5]".

    >>> f = dr.open(":memory:", "w")
    >>> f["x"] = np.arange(10)
    >>> f.attrs["best"] = dr.RegionReference(f["x"].id, "[2:5]")
    >>> f.attrs["best"].region
    '[2:5]'
    """


def split(value: Any) -> tuple[int, Optional[str]]:
    if value is None:
        return 0, None
    if isinstance(value, Reference):
        return value.id, value.region
    ref = getattr(value, "ref", None)
    if isinstance(ref, Reference):
        return ref.id, ref.region
    raise TypeError(f"a Reference is needed, not {type(value).__name__}")


@functools.lru_cache(maxsize=1)
def numpy() -> Any:
    """NumPy, imported when it is first needed; the extension is told of it."""
    import numpy as np
    presets = []
    for name, code in CODES.items():
        form = _predefined(np, name, code)
        if form and form.plan is None:
            own = form.type.code == code
            presets.append((code, form.dtype, None if own else form.type))
    _core.set_numpy(empty, presets)
    return np


LARGE = 1 << 20  # bytes of an array that is laid out with care
LINE = 64  # bytes of a line of the processor's cache


def empty(shape: Sequence[int], dtype: Any) -> Any:
    """An array to read into, as np.empty() makes it.

    A large one begins with a line of the processor's cache: 16 bytes further, where malloc() puts
    it, some processors copy out of the page cache at a third of the speed.
    """
    np = numpy()
    size = math.prod(shape) * dtype.itemsize
    try:
        room = None if size < LARGE or dtype.hasobject else np.empty(size + LINE, "u1")
    except (MemoryError, ValueError):
        room = None  # the error below names the shape
    if room is None:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, room, -room.__array_interface__["data"][0] % LINE)


def predefined(name: str) -> Type:
    return Type.predefined(CODES[name])


_PLAIN = {
    "BYTE": "u1", "PACKED": "u1", "CHAR": "S1", "CHARACTER": "S1", "WCHAR": "U1",
    "FLOAT16": "f2", "REAL2": "f2", "FLOAT": "f4", "REAL": "f4", "REAL4": "f4", "DOUBLE": "f8",
    "DOUBLE_PRECISION": "f8", "REAL8": "f8", "LONG_DOUBLE": "g", "C_BOOL": "?", "CXX_BOOL": "?",
}
_UNSIGNED = {"UNSIGNED_CHAR", "UNSIGNED_SHORT", "UNSIGNED", "UNSIGNED_LONG", "UNSIGNED_LONG_LONG"}


@functools.lru_cache(maxsize=None)
def _ml(name: str) -> Any:
    """A dtype of ml_dtypes, or None."""
    try:
        import ml_dtypes  # type: ignore[import]
        import numpy as np
        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError, TypeError):
        return None


def _small(np: Any, name: str, code: int) -> Optional[Form]:
    """Reals that NumPy itself does not have."""
    names = {"BFLOAT16": "bfloat16", "FP8_E4M3": "float8_e4m3fn", "FP8_E5M2": "float8_e5m2"}
    if name not in names:
        return None
    dtype = _ml(names[name])
    if dtype is None:
        dtype = np.dtype("u2" if name == "BFLOAT16" else "u1", metadata={"datarep": name})
    return Form(dtype, Type.predefined(code))


def _predefined(np: Any, name: str, code: int) -> Optional[Form]:
    own = Type.predefined(code)
    if name in _PLAIN:
        return Form(np.dtype(_PLAIN[name]), own)
    small = _small(np, name, code)
    if small:
        return small
    if name.startswith("LOGICAL"):
        return Form(np.dtype("?"), predefined("C_BOOL"))
    if name in ("INT128_T", "UINT128_T", "INTEGER16"):
        return _planned(np.dtype(object, metadata={"datarep": name}), own)
    if name in ("FLOAT128", "REAL16"):
        return Form(np.dtype("g"), predefined("LONG_DOUBLE"))
    if "COMPLEX" in name:
        if own.extent == 4:
            return Form(np.dtype("c8"), predefined("C_FLOAT_COMPLEX"))
        if own.extent > 16:
            return Form(np.dtype("G"), predefined("C_LONG_DOUBLE_COMPLEX"))
        return Form(np.dtype(f"c{own.extent}"), own)
    kind = "u" if name in _UNSIGNED or name.startswith("UINT") else "i"
    return Form(np.dtype(f"{kind}{own.extent}"), own)


_ORDERS = {0: ">", 1: "<"}


def _scalar(np: Any, t: Type) -> Form:
    cls, order, size, signed, precision = t.scalar
    if cls == 1:
        for bits in (8, 16, 32, 64):
            if precision <= bits:
                name = f"{'' if signed else 'U'}INT{bits}_T"
                return form_of_type(predefined(name))
        if precision <= 128:
            return form_of_type(predefined("INT128_T" if signed else "UINT128_T"))
    if cls == 2:
        return form_of_type(predefined("DOUBLE" if size <= 8 else "LONG_DOUBLE"))
    if cls == 3 and size in (1, 2, 4, 8) and order in _ORDERS:
        return Form(np.dtype(f"{_ORDERS[order]}u{size}"), t)
    return Form(np.dtype(f"V{t.extent}"), t)


def _planned(dtype: Any, t: Type) -> Form:
    return Form(dtype, t, Plan(t, dtype))


def _array(np: Any, t: Type, dims: tuple[int, ...], base: Form) -> Form:
    # Arrays of arrays are one: NumPy makes arrays of such a dtype in both ways.
    inner, more = base.dtype.subdtype or (base.dtype, ())
    dtype = np.dtype((inner, tuple(dims) + more))
    own = t if base.type == t.members[0][1] else Type.array(dims, base.type)
    if base.plan is None:
        return Form(dtype, own)
    return _planned(dtype, own)


def _struct(np: Any, t: Type, only: Optional[list[str]] = None) -> Form:
    members = t.members
    if t.kind != COMPOUND:
        members = [(f"f{i}", *m[1:]) for i, m in enumerate(members)]
    if only is not None:
        have = {m[0]: m for m in members}
        missing = [n for n in only if n not in have]
        if missing:
            raise KeyError(f"no member {missing[0]!r}; there are {', '.join(have)}")
        members = [have[n] for n in only]
    forms = [form_of_type(m[1]) for m in members]
    names = [m[0] for m in members]
    as_is = only is None and all(f.plan is None and f.type == m[1] for f, m in zip(forms, members))
    if as_is:
        return Form(_dtype(np, names, forms, [m[2] for m in members], t.extent), t)
    types = [f.type for f in forms]
    own = Type.compound(names, None, types)
    there = [m[2] for m in own.members]
    if not any(f.plan for f in forms):
        return Form(_dtype(np, names, forms, there, own.extent), own)
    return _planned(np.dtype([(n, f.dtype) for n, f in zip(names, forms)]), own)


def _dtype(np: Any, names: list[str], forms: list[Form], offsets: list[int], size: int) -> Any:
    return np.dtype({"names": names, "formats": [f.dtype for f in forms], "offsets": offsets,
                     "itemsize": size})


def _sequence(np: Any, t: Type) -> Form:
    base = form_of_type(t.members[0][1])
    own = t if base.type == t.members[0][1] else Type.sequence(base.type)
    return _planned(np.dtype(object, metadata={"vlen": base.dtype}), own)


def form_of_type(t: Type) -> Form:
    """How elements of a type of the library lie in an array."""
    if t.code:
        return _form_of_code(t.code)
    return _form_of_type(t)


@functools.lru_cache(maxsize=None)
def _form_of_code(code: int) -> Form:
    name = next(n for n, c in CODES.items() if c == code)
    form = _predefined(numpy(), name, code)
    assert form
    return form


def _form_of_type(t: Type) -> Form:
    np, kind = numpy(), t.kind
    if kind == SCALAR:
        return _scalar(np, t)
    if kind == STRING:
        dtype = np.dtype(f"S{t.extent}")
        return _planned(dtype, t) if t.pad == _PAD_SPACE else Form(dtype, t)
    if kind == OPAQUE:
        metadata = {"datarep": t.tag} if t.tag else None
        return Form(np.dtype(f"V{t.extent}", metadata=metadata) if metadata
                    else np.dtype(f"V{t.extent}"), t)
    if kind == ENUM:
        base = form_of_type(t.members[0][1])
        own = t if base.type == t.members[0][1] else Type.enum(base.type, t.names)
        if base.plan:
            return _planned(np.dtype(object, metadata={**base.dtype.metadata, "enum": t.names}), own)
        return Form(np.dtype(base.dtype, metadata={"enum": t.names}), own)
    if kind == BOOLEAN:
        return Form(np.dtype("?"), predefined("C_BOOL"))
    if kind == ARRAY:
        return _array(np, t, t.dims, form_of_type(t.members[0][1]))
    if kind in (COMPOUND, STRUCT):
        return _struct(np, t)
    if kind == SEQUENCE:
        return _sequence(np, t)
    if kind == VSTRING:
        return _planned(string_dtype(), t)
    if kind == REFERENCE:
        cls = RegionReference if t.what else Reference
        return _planned(np.dtype(object, metadata={"ref": cls}), t)
    if kind in (DUP, RESIZED):
        return form_of_type(t.members[0][1])
    raise TypeError(f"elements of type {t!r} have no dtype")


def packed(t: Type) -> Type:
    """The type with the members of its structs side by side, as NumPy lays them by default."""
    if t.kind == COMPOUND:
        members = t.members
        parts = [packed(m[1]) for m in members]
        offsets, size = [], 0
        for part in parts:
            offsets.append(size)
            size += part.extent
        return Type.compound([m[0] for m in members], offsets, parts, size)
    if t.kind == ARRAY:
        return Type.array(t.dims, packed(t.members[0][1]))
    if t.kind == SEQUENCE:
        return Type.sequence(packed(t.members[0][1]))
    return t


def has_members(t: Type) -> bool:
    """Whether the elements are structs, or arrays of them."""
    while t.kind in (ARRAY, SEQUENCE):
        t = t.members[0][1]
    return bool(t.kind == COMPOUND)


DATES = "drep.numpy:dates"  # the note that says which numbers are dates: "member=datetime64[ns]"


def dates_of(dtype: Any, path: str = "") -> list[tuple[str, Any]]:
    """The dates and durations in elements: (path of the member, dtype)."""
    if dtype.subdtype:
        return dates_of(dtype.subdtype[0], path)
    if dtype.kind in "mM":
        return [(path, dtype)]
    if has_dates(dtype) and dtype.names is None:
        raise TypeError("sequences of dates cannot be stored: store the numbers and their units")
    found = []
    for name in dtype.names or ():
        found += dates_of(dtype.fields[name][0], f"{path}/{name}" if path else name)
    return found


def with_dates(dtype: Any, dates: dict[str, Any], path: str = "") -> Any:
    """The dtype with dates in place of the numbers that are some."""
    np = numpy()
    if dtype.subdtype:
        return np.dtype((with_dates(dtype.subdtype[0], dates, path), dtype.subdtype[1]))
    if dtype.names is None:
        return dates.get(path, dtype) if dtype.str[1:] == "i8" else dtype
    below = f"{path}/" if path else ""
    return np.dtype({"names": list(dtype.names), "itemsize": dtype.itemsize,
                     "formats": [with_dates(dtype.fields[n][0], dates, below + n) for n in dtype.names],
                     "offsets": [dtype.fields[n][1] for n in dtype.names]})


def dated(form: Form, dates: dict[str, Any]) -> Form:
    """The form with dates in place of the numbers that are some."""
    if not dates:
        return form
    dtype = with_dates(form.dtype, dates)
    return Form(dtype, form.type, form.plan and Plan(form.type, dtype))


def has_dates(dtype: Any) -> bool:
    """Whether elements are dates or durations, or have them inside."""
    if dtype.subdtype:
        return has_dates(dtype.subdtype[0])
    if dtype.names is not None:
        return any(has_dates(dtype.fields[n][0]) for n in dtype.names)
    base = (dtype.metadata or {}).get("vlen")
    return dtype.kind in "mM" or hasattr(base, "kind") and has_dates(base)


def members_form(t: Type, names: list[str]) -> Form:
    """The form of a compound with these members only."""
    if t.kind not in (COMPOUND, STRUCT):
        raise TypeError(f"a dataset of {t!r} has no members")
    return _struct(numpy(), t, names)


# ------------------------------------------------------------ dtype -> type


def string_dtype() -> "np.dtype[np.object_]":
    """The dtype of text of any length: Python's str.

    >>> f = dr.open(":memory:", "w")
    >>> names = f.create("names", dtype=dr.string_dtype(), shape=2)
    >>> names[:] = ["a", "héé"]
    >>> names[1]
    'héé'
    """
    return numpy().dtype(object, metadata={"vlen": str})


def vlen_dtype(base: Any) -> "np.dtype[np.object_]":
    """The dtype of sequences of any length of `base`.

    >>> f = dr.open(":memory:", "w")
    >>> rows = f.create("rows", [[1], [2, 3]], dtype=dr.vlen_dtype("i4"))
    >>> rows[1]
    array([2, 3], dtype=int32)
    """
    return numpy().dtype(object, metadata={"vlen": type_of(base).dtype})


def enum_dtype(values: dict[str, int], base: Any = "i4") -> "np.dtype[np.integer[Any]]":
    """The dtype of an enumeration.

    >>> f = dr.open(":memory:", "w")
    >>> state = f.create("state", [0, 1], dtype=dr.enum_dtype({"off": 0, "on": 1}, "u1"))
    >>> state.dtype.metadata["enum"]
    {'off': 0, 'on': 1}
    """
    limits = numpy().iinfo(base)
    if not hasattr(values, "items"):
        raise TypeError(f"values: a dict of names and integers is needed, not {type(values).__name__}")
    for name, value in values.items():
        if not isinstance(name, str) or not hasattr(value, "__index__"):
            raise TypeError(f"values: names are str and values integers, not {name!r}: {value!r}")
        if not limits.min <= value <= limits.max:
            raise ValueError(f"{shown(name)}: {value} does not fit {limits.dtype}")
    return numpy().dtype(base, metadata={"enum": dict(values)})


_BY_DTYPE = {
    "?": "C_BOOL", "f2": "FLOAT16", "f4": "FLOAT", "f8": "DOUBLE", "c8": "C_FLOAT_COMPLEX",
    "c16": "C_DOUBLE_COMPLEX", "i1": "INT8_T", "i2": "INT16_T", "i4": "INT32_T", "i8": "INT64_T",
    "u1": "UINT8_T", "u2": "UINT16_T", "u4": "UINT32_T", "u8": "UINT64_T",
}
_BY_NAME = {"bfloat16": "BFLOAT16", "float8_e4m3fn": "FP8_E4M3", "float8_e5m2": "FP8_E5M2"}
SMALL_REALS = frozenset(_BY_NAME)  # dtypes of ml_dtypes


def is_bits(dtype: Any) -> bool:
    """Whether a dtype stands for the bits of a real that NumPy does not have: BFLOAT16 as uint16.

    Integers written there are bits, and floats are numbers, which the library rounds."""
    return dtype.kind == "u" and "datarep" in (dtype.metadata or {})


def native(dtype: Any) -> Any:
    """The dtype in this machine's byte order, metadata kept."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


@functools.lru_cache(maxsize=1024)
def _form_of_plain(dtype: Any) -> Form:
    kind, size = dtype.kind, dtype.itemsize
    if dtype.name in _BY_NAME:
        return Form(dtype, predefined(_BY_NAME[dtype.name]))
    if dtype.char == "g" or dtype.char == "G":
        return Form(dtype, predefined("LONG_DOUBLE" if dtype.char == "g"
                                      else "C_LONG_DOUBLE_COMPLEX"))
    if kind in "biufc":
        return Form(dtype, predefined(_BY_DTYPE["?" if kind == "b" else f"{kind}{size}"]))
    if kind in "mM":
        return Form(dtype, predefined("INT64_T"))
    if kind == "S":
        return Form(numpy().dtype(f"S{max(size, 1)}"), Type.string(max(size, 1)))
    if kind == "U":
        return form_of_type(Type.vstring())
    if kind == "V" and size:
        return Form(dtype, Type.opaque(size))
    raise TypeError(f"dtype {dtype} cannot be stored")


def form_of_dtype(dtype: Any) -> Form:
    """How arrays of a dtype are handed to the library."""
    np = numpy()
    dtype = native(np.dtype(dtype))
    meta = dtype.metadata or {}
    if dtype.subdtype:
        base = form_of_dtype(dtype.subdtype[0])
        t = Type.array(dtype.subdtype[1], base.type)
        return _array(np, t, dtype.subdtype[1], base)
    if dtype.names is not None:
        return _form_of_struct(np, dtype)
    if "enum" in meta:
        if dtype.kind == "O":
            return form_of_type(Type.enum(predefined(meta["datarep"]), meta["enum"]))
        base = _form_of_plain(np.dtype(dtype.str))
        return Form(dtype, Type.enum(base.type, meta["enum"]))
    if "datarep" in meta:
        if dtype.kind == "V":
            return Form(dtype, Type.opaque(dtype.itemsize, meta["datarep"]))
        return form_of_type(predefined(meta["datarep"]))
    if dtype.kind == "O":
        return _form_of_object(np, meta)
    return _form_of_plain(dtype)


def _form_of_object(np: Any, meta: Any) -> Form:
    if "ref" in meta:
        return form_of_type(Type.reference(int(meta["ref"] is RegionReference)))
    base = meta.get("vlen", str)
    if base in (str, bytes):
        return form_of_type(Type.vstring())
    return form_of_type(Type.sequence(form_of_dtype(base).type))


def _form_of_struct(np: Any, dtype: Any) -> Form:
    names = list(dtype.names)
    if not names:
        raise TypeError("a struct without members cannot be stored")
    forms = [form_of_dtype(dtype.fields[n][0]) for n in names]
    if any(f.plan for f in forms):
        return dated(_struct(np, Type.compound(names, None, [f.type for f in forms])), dict(dates_of(dtype)))
    offsets = [dtype.fields[n][1] for n in names]
    t = Type.compound(names, offsets, [f.type for f in forms], dtype.itemsize)
    return Form(dtype, t)


def type_of(what: Any) -> Form:
    """The form for what a caller calls a type: a dtype, a Type, or the library's text for one."""
    if isinstance(what, Type):
        return form_of_type(what)
    if what is str:
        return form_of_type(Type.vstring())
    if isinstance(what, str) and what in CODES:
        form = form_of_type(predefined(what))
        return form
    try:
        dtype = numpy().dtype(what)
    except (TypeError, ValueError, KeyError) as error:
        return form_of_type(_parsed(what, error))
    return form_of_dtype(dtype)


def _parsed(what: Any, error: Exception) -> Type:
    """The type whose text a caller gives, as NumPy has no dtype for it."""
    if not isinstance(what, str):
        shown = f"{reprlib.repr(what)}: {error}" if isinstance(what, (list, tuple, dict)) else \
            f"a value of class {type(what).__name__}"
        raise TypeError(f"dtype: there is none for {shown}") from None
    try:
        return Type.parse(what)
    except ValueError as said:
        raise TypeError(f"dtype: {what!r} is neither a dtype of NumPy, as \"f8\" is, nor a datatype, as "
                        f"\"INT32_T\" is{near(what, CODES)} ({said})") from None


def stored_type(what: Any, form: Form) -> Type:
    """The type that a dataset gets: the one that was named, else that of the memory."""
    if isinstance(what, Type):
        return what
    if isinstance(what, str) and what in CODES:
        return predefined(what)
    return form.type
