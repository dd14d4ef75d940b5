# SPDX-License-Identifier: MIT
"""Arrow's C data interface: datasets of one dimension as arrays of Arrow, without a package for it."""
from __future__ import annotations

from typing import Any

from . import _core, types

_FORMATS = {"i1": "c", "u1": "C", "i2": "s", "u2": "S", "i4": "i", "u4": "I", "i8": "l", "u8": "L",
            "f2": "e", "f4": "f", "f8": "g"}
_UNITS = {"s": "s", "ms": "m", "us": "u", "ns": "n"}


def _layout(name: str, array: Any) -> tuple[Any, Any]:
    """((format, name, children), (length, buffers, children)) of an array."""
    np = types.numpy()
    dtype, n = array.dtype, len(array)
    if array.ndim > 1:
        flat = np.ascontiguousarray(array).reshape((-1,) + array.shape[2:])
        schema, made = _layout("item", flat)
        return (f"+w:{array.shape[1]}", name, [schema]), (n, [None], [made])
    if dtype.names:
        parts = [_layout(field, array[field]) for field in dtype.names]
        return ("+s", name, [p[0] for p in parts]), (n, [None], [p[1] for p in parts])
    code = f"{dtype.kind}{dtype.itemsize}"
    if code in _FORMATS:
        return (_FORMATS[code], name, []), (n, [None, np.ascontiguousarray(array)], [])
    if dtype.kind == "b":
        return ("b", name, []), (n, [None, np.packbits(array, bitorder="little")], [])
    if dtype.kind in "Mm":
        return _time(name, array)
    if dtype.kind in "SV":
        return (f"w:{dtype.itemsize}", name, []), \
            (n, [None, np.ascontiguousarray(array).view("u1")], [])
    if dtype.kind == "O":
        return _text(name, array)
    raise TypeError(f"dtype {dtype} has no format in Arrow")


def _time(name: str, array: Any) -> tuple[Any, Any]:
    np = types.numpy()
    unit, step = np.datetime_data(array.dtype)
    if unit not in _UNITS or step != 1:
        raise TypeError(f"dtype {array.dtype} has no format in Arrow")
    kind = "ts" if array.dtype.kind == "M" else "tD"
    valid = ~np.isnat(array)
    bits = None if valid.all() else np.packbits(valid, bitorder="little")
    return (f"{kind}{_UNITS[unit]}{':' if kind == 'ts' else ''}", name, []), \
        (len(array), [bits, np.ascontiguousarray(array).view("i8")], [])


def _text(name: str, array: Any) -> tuple[Any, Any]:
    np = types.numpy()
    if not all(isinstance(s, str) for s in array):
        raise TypeError("objects other than str have no format in Arrow")
    data = [s.encode() for s in array]
    offsets = np.zeros(len(data) + 1, np.int64)
    np.cumsum([len(b) for b in data], out=offsets[1:])
    return ("U", name, []), (len(data), [None, offsets, b"".join(data)], [])


def export(array: Any, name: str = "") -> tuple[Any, Any]:
    """The capsules of __arrow_c_array__()."""
    np = types.numpy()
    array = np.asarray(array)
    if array.ndim == 0:
        array = array.reshape(1)
    schema, made = _layout(name, array)
    return _core.arrow_export(schema, made)
