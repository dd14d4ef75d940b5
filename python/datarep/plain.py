# SPDX-License-Identifier: MIT
"""Without NumPy: memoryviews of numbers, read by integers and slices with steps of 1 or more."""
from __future__ import annotations

from typing import Any

from . import types
from .errors import shown

_FORMATS = {
    "INT8_T": "b", "SIGNED_CHAR": "b", "INTEGER1": "b", "UINT8_T": "B", "UNSIGNED_CHAR": "B",
    "BYTE": "B", "PACKED": "B", "CHAR": "B", "CHARACTER": "B", "INT16_T": "h", "SHORT": "h",
    "INTEGER2": "h", "UINT16_T": "H", "UNSIGNED_SHORT": "H", "INT32_T": "i", "INT": "i",
    "INTEGER": "i", "INTEGER4": "i", "UINT32_T": "I", "UNSIGNED": "I", "INT64_T": "q", "LONG": "l",
    "LONG_LONG": "q", "INTEGER8": "q", "AINT": "q", "COUNT": "q", "OFFSET": "q", "UINT64_T": "Q",
    "UNSIGNED_LONG": "L", "UNSIGNED_LONG_LONG": "Q", "FLOAT": "f", "REAL": "f", "REAL4": "f",
    "DOUBLE": "d", "DOUBLE_PRECISION": "d", "REAL8": "d", "C_BOOL": "?", "CXX_BOOL": "?",
}


def read(ds: Any, key: Any) -> Any:
    """The selected elements: a memoryview of numbers or, by integers alone, one number."""
    t, shape = ds.type, ds.shape
    letter = {types.CODES[n]: c for n, c in _FORMATS.items()}.get(t.code)
    if letter is None or shape is None:
        raise TypeError(f"{shown(ds.name)}: elements of type {t!r} need NumPy")
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at:at + 1] = [slice(None)] * (len(shape) - len(keys) + 1)
    if len(keys) > len(shape):
        raise IndexError(f"too many indices for {len(shape)} dimensions")
    keys += [slice(None)] * (len(shape) - len(keys))
    start, count, step, shown = [], [], [], []
    for k, n in zip(keys, shape):
        if isinstance(k, slice):
            first, stop, by = k.indices(n)
            if by < 1:
                raise IndexError("negative steps need NumPy")
            length = len(range(first, stop, by))
            shown.append(length)
        else:
            first, length, by = range(n)[k], 1, 1
        start.append(first if length else 0)
        count.append(length)
        step.append(by if length > 1 else 1)
    size = 1
    for n in count:
        size *= n
    raw = bytearray(size * t.extent)
    if size:
        ds._read_box(start, count, None if all(s == 1 for s in step) else step, t, raw, (0, 0, 0))
    view = memoryview(raw).cast(letter)
    if Ellipsis not in (key if isinstance(key, tuple) else (key,)) and not shown:
        return view[0]
    if not shown:
        return memoryview(raw).cast(letter, ())
    return memoryview(raw).cast("B").cast(letter, shown) if size else view


def write(ds: Any, key: Any, value: Any) -> None:
    """Assign a buffer of the same numbers to all of a dataset."""
    if key is not Ellipsis and key != slice(None) and key != ():
        raise TypeError("parts of a dataset are written with NumPy")
    t, shape = ds.type, ds.shape
    letter = {types.CODES[n]: c for n, c in _FORMATS.items()}.get(t.code)
    view = memoryview(value)
    if view.format.lstrip("@=<") != letter or view.nbytes != ds.size * t.extent:
        raise TypeError(f"{shown(ds.name)}: a buffer of {ds.size} elements of format {letter!r} is needed")
    ds._write_box([0] * len(shape), list(shape), None, t, view, (0, 0, 0))
