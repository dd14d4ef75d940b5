# SPDX-License-Identifier: MIT
"""Attributes of groups, datasets and dimensions."""
from __future__ import annotations

import math
from collections.abc import MutableMapping
from typing import Any, Iterator

from . import _core, types, values
from .errors import shown

__all__ = ["Attributes", "Empty"]


class Empty:
    """A value without elements: an attribute or dataset of null space.

    >>> f = dr.open(":memory:", "w")
    >>> f.attrs["nothing"] = dr.Empty("f4")
    >>> f.attrs["nothing"]
    Empty(dtype=dtype('float32'))
    """

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
    raw = _core.Elements(form.type, math.prod(shape))
    read(form.type, raw)
    raw.load(form.plan, out)
    return out


def to_memory(form: types.Form, value: Any, name: str, strict: bool = False) -> Any:
    """A contiguous array, as the library takes it: elements that hold pointers are in Elements.

    name: what messages call it; strict: Unlike for texts that are no str."""
    if form.plan is None:
        return value
    raw = _core.Elements(form.type, value.nbytes // form.dtype.itemsize)
    try:
        if not raw.store(form.plan, value, values.row, types.split, strict):
            raise values.Unlike
    except (TypeError, ValueError) as error:
        kind = ValueError if isinstance(error, UnicodeError) else type(error)  # which takes other arguments
        raise kind(f"{name}: {error}") from None
    return raw


NOTE = "drep."  # how the names of notes begin
BYTES = "bytes"  # the tag of opaque elements that are Python's bytes


class Attributes(MutableMapping[str, Any]):
    """The attributes of one object: a dict of them.

    Text is str, single numbers are Python's or NumPy's scalars, everything else is an array.  Text of a
    fixed number of bytes is str, or bytes where it is not UTF-8 or has a NUL inside.

    Attributes whose names begin with "drep." are notes: what a converter keeps about an object.  They
    are not listed, counted or copied by dict(); `notes` is a dict of them, and a name gets each.

    >>> f = dr.open(":memory:", "w")
    >>> f.attrs["title"] = "sea surface"
    >>> f.attrs["range"] = [0.5, 2.5]
    >>> f.attrs["title"], f.attrs["range"].tolist(), len(f.attrs)
    ('sea surface', [0.5, 2.5], 2)
    """

    __slots__ = ("_h", "_path", "_order", "_notes")

    def __init__(self, handle: Any, path: str, notes: bool = False) -> None:
        self._h = handle
        self._path = path
        self._order = 1
        self._notes = notes

    @property
    def notes(self) -> "Attributes":
        """The notes of converters.

        >>> f = dr.open(":memory:", "w")
        >>> f.attrs["drep.example"] = 1
        >>> list(f.attrs), list(f.attrs.notes)
        ([], ['drep.example'])
        """
        return Attributes(self._h, self._path, True)

    def _names(self) -> list[str]:
        names: list[str] = self._h.attr_names(self._path, self._order)
        if not self._notes and NOTE not in "/".join(names):
            return names  # most objects have no notes
        return [n for n in names if n.startswith(NOTE) == self._notes]

    def __getitem__(self, name: str) -> Any:
        if type(name) is not str and not isinstance(name, str):
            raise TypeError(f"the name of an attribute is a str, not {type(name).__name__}")
        value = self._h.attr_get(self._path, name)
        if type(value) is not tuple:
            return value
        return self._array(name, *value)

    def _array(self, name: str, t: Any, rank: int, dims: tuple[int, ...]) -> Any:
        form = types.form_of_type(types.packed(t) if types.has_members(t) else t)
        if rank < 0:
            return Empty(form.dtype)
        value = read_array(form, dims, lambda m, out: self._h.attr_read(self._path, name, m, out))
        if form.dtype.char == "S" and form.dtype.itemsize == 1 and t.code and rank == 1:
            return value.tobytes().decode("utf-8", "surrogateescape").rstrip("\0")
        if rank == 0 and t.kind == types.OPAQUE and t.tag == BYTES:
            return value.tobytes()
        return value[()] if rank == 0 else value

    def get_type(self, name: str) -> types.Type:
        """The library's type of an attribute.

        >>> f = dr.open(":memory:", "w")
        >>> f.attrs["n"] = 3
        >>> f.attrs.get_type("n")
        INT64_T
        """
        return self._h.attr_info(self._path, name)[0]

    def _given(self, name: str) -> values.Given:
        """What messages call the value of an attribute."""
        return values.Given(f"attribute {name!r}", file=self._h.name, object=self._path, wider="make the attribute {}")

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of an attribute is a str, not {type(name).__name__}")
        if type(value) is bytes and b"\0" in value:
            np = types.numpy()
            dtype = np.dtype(f"V{len(value)}", metadata={"datarep": BYTES})
            self.create(name, np.frombuffer(value, dtype)[0], dtype)
            return
        if self._h.attr_set(self._path, name, value):
            return
        self.create(name, value)

    def create(self, name: str, value: Any, dtype: Any = None, shape: Any = None) -> None:
        """Write an attribute as elements of a dtype, or of a Type of the library.

        >>> f = dr.open(":memory:", "w")
        >>> f.attrs.create("valid_range", [-2, 40], dtype="i2")
        >>> f.attrs["valid_range"]
        array([-2, 40], dtype=int16)
        """
        np = types.numpy()
        given = self._given(name)
        if isinstance(value, Empty):
            form = types.type_of(dtype if dtype is not None else value.dtype)
            self._h.attr_write(self._path, name, form.type, None, b"")
            return
        if dtype is None:
            array = values.natural(value, given)
            form = types.form_of_dtype(array.dtype)
        else:
            form = types.type_of(dtype)
            array = values.exact(value, form, given)
        if types.has_dates(form.dtype):
            raise TypeError(given.said("a date cannot be stored as an attribute: give its text, str(value), or "
                                       "a number and another attribute with its units"))
        if shape is not None:
            array = np.broadcast_to(array, shape)
        array = np.array(array, order="C", ndmin=array.ndim)
        dims = array.shape
        if form.dtype.subdtype:
            dims = dims[:array.ndim - len(form.dtype.subdtype[1])]
        self._h.attr_write(self._path, name, form.type, dims, to_memory(form, array, given.name))

    def __delitem__(self, name: str) -> None:
        self._h.attr_remove(self._path, name)

    def rename(self, name: str, new_name: str) -> None:
        """Give an attribute another name; its value and its place in the order stay.

        KeyError: there is none of this name; ValueError: there is one of the new name, or that is not valid.

        >>> f = dr.open(":memory:", "w")
        >>> f.attrs["unit"], f.attrs["title"] = "K", "sea surface"
        >>> f.attrs.rename("unit", "units")
        >>> dict(f.attrs)
        {'units': 'K', 'title': 'sea surface'}
        """
        self._h.attr_rename(self._path, name, new_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._h.attr_names(self._path, self._order)

    def __repr__(self) -> str:
        return f"<attributes of {shown(self._path)}: {shown(', '.join(self) or 'none')}>"
