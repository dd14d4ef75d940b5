# SPDX-License-Identifier: MIT
"""Data representations: declared by a table, made of functions; packing without a file."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

from . import _core, types, values
from .dataset import Element, Range, options_of, warn
from .errors import near

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .types import BoolName, F4Name, F8Name, I1Name, I2Name, I4Name, I8Name, U1Name, U2Name, U4Name, U8Name

__all__ = ["Datarep", "datareps", "pack", "register", "unpack"]

ORDERS = {"big": 0, "little": 1, "vax": 2}


class Datarep:
    """A representation that a table declares: formats of datatypes, for all of this process.

    >>> import datarep as dr
    >>> mainframe = dr.Datarep("mainframe-doc", base="external32", DOUBLE="ibm-hex64")
    >>> dr.pack(mainframe, 1.0).hex()
    '4110000000000000'

    A format is a name ("binary32", "ibm-hex64", "int"), or (name, order, size): an order is "big",
    "little" or "vax", the default that of the base.
    """

    def __init__(self, name: str, base: str = "external32", **formats: Any) -> None:
        table = {row[0]: row for row in _core.datarep_table(base)}
        rows = []
        for type_name, said in formats.items():
            if type_name not in types.CODES:
                raise ValueError(f"{type_name} is no predefined datatype, as INT32_T and DOUBLE are"
                                 f"{near(type_name, types.CODES)}")
            rows.append(_row(types.CODES[type_name], said, table))
        _core.declare_datarep(name, base, rows)
        self.name = name

    @property
    def table(self) -> list[tuple[int, int, int, int, int]]:
        """(code, format, order, size, alignment) of every datatype.

        >>> code, form, order, size, align = dr.Datarep("table-doc", base="external32").table[0]
        >>> size
        1
        """
        return _core.datarep_table(self.name)

    def __repr__(self) -> str:
        return f"<data representation {self.name}>"


def _row(code: int, said: Any, table: Mapping[int, Any]) -> tuple[int, int, int, int, int]:
    parts = (said,) if isinstance(said, str) else tuple(said)
    found = _core.format(parts[0])
    if found is None:
        raise ValueError(f"{parts[0]!r} is no format of scalars, as \"binary32\", \"ibm-hex64\" and \"int\" are")
    number, size, vax = found
    base = table[code]
    if len(parts) > 1 and parts[1] not in ORDERS:
        raise ValueError(f"order {parts[1]!r} is none of {', '.join(ORDERS)}")
    order = ORDERS[parts[1]] if len(parts) > 1 and parts[1] else (2 if vax else base[2])
    complex_ = 2 if "COMPLEX" in next(n for n, c in types.CODES.items() if c == code) else 1
    return code, number, order, int(parts[2]) if len(parts) > 2 else (size or base[3]) * complex_, 1


def register(name: str, read: Optional[Callable[..., Any]] = None,
             write: Optional[Callable[..., Any]] = None,
             extents: Union[Mapping[str, int], Callable[[str], Optional[int]], None] = None) -> None:
    """Register a representation made of functions, for the life of the process.

    read(userbuf, datatype, count, filebuf, position) fills memory from the file, write() the file
    from memory: memoryviews, a Type, the number of data items, the first of them.  extents: bytes of
    a datatype in the file by its name; others take those of external32.  None: that direction takes
    data in native form.  A function must not keep the memoryviews.

    >>> def to_memory(userbuf, datatype, count, filebuf, position):
    ...     userbuf[:] = bytes(b ^ 0xFF for b in filebuf)
    >>> def to_file(userbuf, datatype, count, filebuf, position):
    ...     filebuf[:] = bytes(b ^ 0xFF for b in userbuf)
    >>> dr.register("inverted-doc", read=to_memory, write=to_file, extents={"UINT8_T": 1})
    >>> dr.pack("inverted-doc", np.array([1, 2], "u1")).hex()
    'fefd'
    """
    for fn in (read, write):
        if fn is not None and not callable(fn):
            raise TypeError(f"read and write: a function is needed, or None, not {type(fn).__name__}")
    if isinstance(extents, Mapping):
        unknown = [n for n in extents if n not in types.CODES]
        if unknown:
            raise ValueError(f"extents: {unknown[0]!r} is no predefined datatype{near(unknown[0], types.CODES)}")
        extents = {n: operator.index(size) for n, size in extents.items()}
    elif extents is not None and not callable(extents):
        raise TypeError(f"extents: a dict or a function is needed, not {type(extents).__name__}")
    names = {code: n for n, code in types.CODES.items()}

    def extent(t: types.Type) -> Optional[int]:
        type_name = names.get(t.code, "")
        if callable(extents):
            return extents(type_name)
        if extents and type_name in extents:
            return extents[type_name]
        return t.file_extent("external32")

    _core.register_datarep(name, read, write, extent)


def datareps() -> dict[str, str]:
    """The representations that this process knows, and their form: "table" or "code".

    >>> dr.datareps()["external32"]
    'table'
    """
    return dict(_core.datareps())


def pack(datarep: Any, value: Any, dtype: Any = None, range: Optional[Range] = None,
         threads: int = 0) -> bytes:
    """The elements as a representation stores them, without padding or header.

    >>> dr.pack("external32", [1, 2], "i2").hex()
    '00010002'
    """
    np = types.numpy()
    name = getattr(datarep, "name", datarep)
    if dtype is None:
        value = values.natural(value, values.Given("value"))
    form = types.type_of(dtype if dtype is not None else value.dtype)
    if form.plan is not None:
        raise TypeError("elements of variable length cannot be packed")
    array = np.ascontiguousarray(values.exact(value, form, values.Given("value", wider="say dtype={}")))
    count = array.nbytes // form.dtype.itemsize if form.dtype.itemsize else 0
    data, report = _core.pack(name, array, count, form.type, options_of(threads, range))
    if report and not range:
        warn(report, name, True, False)
    return data


@overload
def unpack(datarep: Any, data: Any, dtype: "F4Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.float32]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "F8Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.float64]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "I1Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.int8]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "I2Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.int16]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "I4Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.int32]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "I8Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.int64]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "U1Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.uint8]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "U2Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.uint16]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "U4Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.uint32]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "U8Name", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.uint64]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "BoolName", shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[np.bool_]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: "Union[type[Element], np.dtype[Element]]", shape: Any = None,
           offset: int = 0, range: Optional[Range] = None, threads: int = 0) -> "NDArray[Element]": ...
@overload
def unpack(datarep: Any, data: Any, dtype: Any, shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> "NDArray[Any]": ...


def unpack(datarep: Any, data: Any, dtype: Any, shape: Any = None, offset: int = 0,
           range: Optional[Range] = None, threads: int = 0) -> Any:
    """The elements that pack() has packed: an array of a shape, or of all that there are.

    >>> dr.unpack("external32", bytes.fromhex("00010002"), "i2")
    array([1, 2], dtype=int16)
    """
    np = types.numpy()
    name = getattr(datarep, "name", datarep)
    form = types.type_of(dtype)
    if form.plan is not None:
        raise TypeError("elements of variable length cannot be packed")
    if isinstance(data, str):
        raise TypeError("data: bytes or another buffer is needed, not a str")
    if shape is None:
        one = _core.pack_size(name, 1, form.type)
        shape = ((memoryview(data).nbytes - offset) // one if one else 0,)
    out = np.empty(shape, form.dtype)
    count = out.nbytes // form.dtype.itemsize if form.dtype.itemsize else 0
    _, report = _core.unpack(name, data, offset, out, count, form.type,
                             options_of(threads, range))
    if report and not range:
        warn(report, name, False, True)
    return out


