# SPDX-License-Identifier: MIT
"""Attributes of groups, datasets and dimensions."""
from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Iterator

from . import _core, types

__all__ = ["Attributes", "Empty"]


class Empty:
    """A value without elements: an attribute or dataset of null space."""

    shape = None
    size = None

    def __init__(self, dtype: Any) -> None:
        self.dtype = types.numpy().dtype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empty) and bool(self.dtype == other.dtype)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"Empty(dtype={self.dtype!r})"


def read_array(form: types.Form, shape: tuple[int, ...], read: Any) -> Any:
    """An array of a form that read(Type, memory) fills."""
    np = types.numpy()
    out = np.empty(shape, form.dtype)
    if form.plan is None:
        read(form.type, out)
        return out
    count = 1
    for n in shape:
        count *= n
    raw = np.zeros(max(count * form.plan[1], 1), "u1")
    read(form.type, raw)
    _core.vlen_load(form.plan, form.type, raw, out, count)
    return out


def to_memory(form: types.Form, value: Any) -> tuple[Any, Any]:
    """A contiguous array, as the library takes it, and what keeps its pointers valid."""
    np = types.numpy()
    if form.plan is None:
        return value, None
    count = value.size
    if form.dtype.subdtype:
        for n in form.dtype.subdtype[1]:
            count //= max(n, 1)
    raw = np.zeros(max(count * form.plan[1], 1), "u1")
    base = form.dtype.subdtype[0] if form.dtype.subdtype else form.dtype
    own = np.array(value, dtype=base, order="C")
    keep: list[Any] = [_contiguous]
    _core.vlen_store(form.plan, own, raw, count, keep)
    return raw, (own, keep)


def _contiguous(value: Any, dtype: Any) -> Any:
    return types.numpy().array(value, dtype=dtype, order="C", ndmin=1)


def as_array(value: Any, dtype: Any = None) -> Any:
    """An array of a value: text becomes objects, other arrays stay as they are."""
    np = types.numpy()
    if dtype is not None:
        return np.asarray(value, dtype=dtype)
    array = np.asarray(value)
    if array.dtype.kind == "U":
        return array.astype(types.string_dtype())
    if array.dtype.kind == "O" and not array.dtype.metadata and array.size:
        first = array.flat[0]
        if isinstance(first, types.Reference):
            return array.astype(np.dtype(object, metadata={"ref": type(first)}))
        if isinstance(first, int) and not isinstance(first, bool):
            low = min(array.flat)
            name = "INT128_T" if low < 0 else "UINT128_T"
            return array.astype(np.dtype(object, metadata={"datarep": name}))
        if hasattr(first, "dtype") and not isinstance(first, (str, bytes)):
            return array.astype(types.vlen_dtype(first.dtype))
    return array


class Attributes(MutableMapping[str, Any]):
    """The attributes of one object: a dict of them.

    Text is str, single numbers are Python's or NumPy's scalars, everything else is an array.
    """

    __slots__ = ("_h", "_path", "_order")

    def __init__(self, handle: Any, path: str) -> None:
        self._h = handle
        self._path = path
        self._order = 1

    def __getitem__(self, name: str) -> Any:
        value = self._h.attr_get(self._path, name)
        if type(value) is not tuple:
            return value
        return self._array(name, *value)

    def _array(self, name: str, t: Any, rank: int, dims: tuple[int, ...]) -> Any:
        form = types.form_of_type(types.packed(t) if types.has_members(t) else t)
        if rank < 0:
            return Empty(form.dtype)
        if form.dtype.char == "S" and form.dtype.itemsize == 1 and t.code and rank == 1:
            text = read_array(form, dims, lambda m, out: self._h.attr_read(self._path, name, m, out))
            return text.tobytes().decode("utf-8", "surrogateescape").rstrip("\0")
        value = read_array(form, dims, lambda m, out: self._h.attr_read(self._path, name, m, out))
        return value[()] if rank == 0 else value

    def get_type(self, name: str) -> types.Type:
        """The library's type of an attribute."""
        return self._h.attr_info(self._path, name)[0]

    def __setitem__(self, name: str, value: Any) -> None:
        if self._h.attr_set(self._path, name, value):
            return
        self.create(name, value)

    def create(self, name: str, value: Any, dtype: Any = None, shape: Any = None) -> None:
        """Write an attribute as elements of a dtype, or of a Type of the library."""
        np = types.numpy()
        if isinstance(value, Empty):
            form = types.type_of(dtype if dtype is not None else value.dtype)
            self._h.attr_write(self._path, name, form.type, None, b"")
            return
        if dtype is None:
            array = as_array(value)
            form = types.form_of_dtype(array.dtype)
        else:
            form = types.type_of(dtype)
            base = form.dtype.subdtype[0] if form.dtype.subdtype else form.dtype
            array = np.asarray(value, dtype=base)
        if shape is not None:
            array = np.broadcast_to(array, shape)
        array = np.array(array, dtype=form.dtype.base, order="C", ndmin=array.ndim)
        dims = array.shape
        if form.dtype.subdtype:
            dims = dims[:array.ndim - len(form.dtype.subdtype[1])]
        memory, keep = to_memory(form, array)
        self._h.attr_write(self._path, name, form.type, dims, memory)
        del keep

    def __delitem__(self, name: str) -> None:
        self._h.attr_remove(self._path, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._h.attr_names(self._path, self._order))

    def __len__(self) -> int:
        return len(self._h.attr_names(self._path, self._order))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._h.attr_names(self._path, self._order)

    def __repr__(self) -> str:
        return f"<attributes of {self._path}: {', '.join(self) or 'none'}>"
