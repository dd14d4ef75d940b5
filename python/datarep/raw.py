# SPDX-License-Identifier: MIT
"""Headerless files as arrays."""
from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Literal, Optional, overload

from . import _core, index, types, values
from .dataset import PLAIN, warn
from .errors import shown

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from .dataset import Boxes

__all__ = ["Raw", "raw"]


class Raw:
    """The elements of a headerless file: an array of one dimension, or of a shape.

    They are read when they are indexed, and converted from their representation.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
    >>> np.arange(6, dtype=">i4").tofile(path)
    >>> with dr.Raw(path, "i4", datarep="external32", shape=(2, 3)) as r:
    ...     print(r[1])
    [3 4 5]
    """

    def __init__(self, path: Any, dtype: Any, datarep: str = "native", offset: int = 0,
                 shape: Optional[tuple[int, ...]] = None, mode: Literal["r", "r+"] = "r") -> None:
        if mode not in ("r", "r+"):
            raise ValueError("mode is r or r+")
        self._form = types.type_of(dtype)
        if self._form.plan is not None:
            raise TypeError("a headerless file has no elements of variable length")
        own = dtype in types.CODES if isinstance(dtype, str) else False
        stored = types.predefined(dtype) if own else self._form.type
        name = getattr(datarep, "name", datarep)
        self.filename = os.fsdecode(path)
        self.datarep = name
        self._view = _core.view_raw(self.filename, mode == "r+", offset, stored, name)
        self._lock = threading.Lock()
        self._shape = None if shape is None else tuple(shape)

    @property
    def dtype(self) -> "numpy.dtype[Any]":
        """The dtype of the elements that are read.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
        >>> np.arange(6, dtype=">i4").tofile(path)
        >>> r = dr.raw(path, "i4", datarep="external32")
        >>> r.dtype
        dtype('int32')
        """
        return self._form.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
        >>> np.arange(6, dtype=">i4").tofile(path)
        >>> r = dr.raw(path, "i4", datarep="external32")
        >>> r.shape
        (6,)
        """
        if self._shape is not None:
            return self._shape
        with self._lock:
            return (self._view.size(),)

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
        >>> np.arange(6, dtype=">i4").tofile(path)
        >>> r = dr.raw(path, "i4", datarep="external32")
        >>> r.ndim
        1
        """
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _runs(self, start: list[int], count: list[int], step: list[int]) -> Any:
        """(first element, elements) of the runs of a box, in order."""
        np = types.numpy()
        shape = self.shape
        last = len(shape)
        # Trailing dimensions that are whole make longer runs.
        while last > 1 and count[last - 1] == shape[last - 1] and step[last - 1] == 1:
            last -= 1
        run = index.product(count[last:])
        if step[last - 1] == 1:
            run *= count[last - 1]
            last -= 1
        flat = np.zeros((), np.int64)
        for d in range(last):
            flat = flat[..., None] + (start[d] + np.arange(count[d]) * step[d]) \
                * index.product(shape[d + 1:])
        rest = sum(start[d] * index.product(shape[d + 1:]) for d in range(last, len(shape)))
        return (flat.reshape(-1) + rest).tolist(), run

    def _load(self, start: Any, count: Any, step: Any, out: Any) -> None:
        runs, length = self._runs(list(start), list(count), list(step))
        plain = out.reshape(-1)
        with self._lock:
            for i, first in enumerate(runs):
                part = plain[i * length:(i + 1) * length]
                items, report = self._view.read(first, part, length, self._form.type, PLAIN)
                if items < length * self._form.type.items:
                    raise EOFError(f"{shown(self.filename)}: the file ends before element {first + length}")
                if report:
                    warn(report, self.filename, False, True)

    @overload
    def __getitem__(self, key: "Boxes") -> "NDArray[Any]": ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        np = types.numpy()
        sel = index.parse(key, self.shape)
        if sel.fields is not None:
            return self[tuple(k for k in key if not isinstance(k, (str, list)))
                        if isinstance(key, tuple) else ...][sel.fields]

        def boxes(rows: Any, count: Any, out: Any) -> None:
            for i, row in enumerate(rows.tolist()):
                self._load(row, count, [1] * len(row), out[i])

        def points(rows: Any, out: Any) -> None:
            for i, row in enumerate(rows.tolist()):
                self._load(row, [1] * len(row), [1] * len(row), out[i:i + 1])

        return index.read(sel, self._form, self._load, boxes, points)

    def __setitem__(self, key: Any, value: Any) -> None:
        np = types.numpy()
        sel = index.parse(key, self.shape)
        if sel.arrays or sel.fields is not None:
            raise IndexError("a headerless file is written by integers and slices")
        value = np.broadcast_to(values.exact(value, self._form), sel.out)
        around = index._box(sel)
        runs, length = self._runs(around.start, around.lengths, around.step)
        plain = index.arrange(sel, value).reshape(-1)
        with self._lock:
            for i, first in enumerate(runs):
                part = plain[i * length:(i + 1) * length]
                _, report = self._view.write(first, part, length, self._form.type, PLAIN)
                if report:
                    warn(report, self.filename, True, False)

    def __array__(self, dtype: Any = None) -> "NDArray[Any]":
        got = types.numpy().asarray(self[...])
        return got if dtype is None else got.astype(dtype)

    def close(self) -> None:
        """Close the file.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
        >>> np.arange(6, dtype=">i4").tofile(path)
        >>> r = dr.raw(path, "i4", datarep="external32")
        >>> r.close()
        """
        with self._lock:
            self._view.close()

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<raw {shown(self.filename)}: dtype {shown(self.dtype)}, {self.datarep}>"


def raw(path: Any, dtype: Any, datarep: str = "native", offset: int = 0,
        shape: Optional[tuple[int, ...]] = None, mode: Literal["r", "r+"] = "r") -> Raw:
    """A headerless file as an array: raw("tape.dat", "INT32_T", datarep="native:s390x")[10:20].

    offset: bytes before the first element.  shape: of the array; None: all elements of the file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.dat")
    >>> np.arange(6, dtype=">i4").tofile(path)
    >>> r = dr.raw(path, "i4", datarep="external32")
    >>> r[2:4]
    array([2, 3], dtype=int32)
    """
    return Raw(path, dtype, datarep, offset, shape, mode)
