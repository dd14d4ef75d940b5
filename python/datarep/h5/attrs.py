# SPDX-License-Identifier: MIT
"""Attributes as h5py has them."""
from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Iterator

import numpy as np

from .. import types as main_types, values
from ..attrs import NOTE, Attributes, Empty, read_array
from . import types
from ..errors import shown
from .base import HLObject, text
from .ids import AttrID


class AttributeManager(MutableMapping[str, Any]):
    """The attributes of an object.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> x.attrs["units"] = "m"
    >>> dict(x.attrs)
    {'units': 'm'}
    """

    def __init__(self, parent: Any) -> None:
        self._id = parent.id
        self._owner = parent

    @property
    def _attrs(self) -> Attributes:
        self._owner._open()
        return Attributes(self._owner._main._h, self._owner._path)

    def __getitem__(self, name: Any) -> Any:
        attrs, name = self._attrs, text(name)
        if name not in attrs or name.startswith(NOTE):
            raise KeyError(f"Can't open attribute (can't locate attribute: '{shown(name)}')")
        t, rank, dims = attrs._h.attr_info(attrs._path, name)[:3]
        form = main_types.form_of_type(main_types.packed(t) if main_types.has_members(t) else t)
        dtype = types.from_main(form.dtype)
        if rank < 0:
            return Empty(dtype)
        got = read_array(form, dims, lambda m, out: attrs._h.attr_read(attrs._path, name, m, out))
        base = dtype.subdtype[0] if dtype.subdtype else dtype
        if types.check_opaque_dtype(base):
            got = got.view(types._unmarked(base)).astype(base)
        if base.names is not None:
            got = types.as_bytes(got)
        return got[()] if rank == 0 and not dtype.subdtype else got

    def get_id(self, name: Any) -> Any:
        """Type and shape of an attribute, as far as its low-level object tells them.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.attrs.create("n", [1, 2])
        >>> f.attrs.get_id("n").shape
        (2,)
        """
        attrs, name = self._attrs, text(name)
        if name not in self:
            raise KeyError(f"Can't open attribute (can't locate attribute: '{shown(name)}')")
        t, rank, dims = attrs._h.attr_info(attrs._path, name)[:3]
        form = main_types.form_of_type(main_types.packed(t) if main_types.has_members(t) else t)
        dtype = types.from_main(form.dtype, self._owner._csets("attribute", name))
        return AttrID(name, dtype, None if rank < 0 else tuple(dims[:rank]))

    def __setitem__(self, name: Any, value: Any) -> None:
        self.create(name, value)

    def create(self, name: Any, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Write an attribute of a shape and dtype, in place of one with this name.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.attrs.create("n", 3, dtype="i2")
        >>> f.attrs["n"]
        3
        """
        name = text(name)
        self._owner._open()
        if not self._owner._main.writable:
            raise OSError("Unable to create attribute (no write intent on file)")
        self._owner._note_type(self._write(name, data, shape, dtype), "attribute", name)

    def _write(self, name: str, data: Any, shape: Any, dtype: Any) -> Any:
        """Write it; the dtype as which it is stored."""
        dtype = dtype.dtype if isinstance(dtype, HLObject) else dtype  # type: ignore[attr-defined]
        if dtype is not None:
            dtype = np.dtype(dtype)
        attrs = self._attrs
        if isinstance(data, Empty):
            dtype = data.dtype if dtype is None else dtype
            attrs.create(name, Empty(types.to_main(dtype)))
            return dtype
        given = attrs._given(name)
        if dtype is not None and types.check_vlen_dtype(dtype) not in (None, str, bytes):
            attrs.create(name, _ragged(data, dtype, shape, given), dtype=types.to_main(dtype))
            return dtype
        array = types.as_data(data, dtype if dtype is None or not dtype.subdtype else dtype.base, given)
        stored = array.dtype if dtype is None else dtype
        if stored.subdtype and array.shape[-len(stored.shape):] != stored.shape:
            raise ValueError(f"Array dtype shape {stored.shape} is incompatible with data shape "
                             f"{array.shape}")
        if shape is not None:
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            sub = stored.shape if stored.subdtype else ()
            if np.prod(shape + sub, dtype=int) != array.size:
                raise ValueError("Shape of new attribute conflicts with shape of data")
            array = array.reshape(shape + sub)
        main = types.to_main(stored)
        base = main.base
        if types.check_string_dtype(stored) and base.kind == "O":
            array = types.as_str(array)
        elif types.check_opaque_dtype(stored):
            array = np.frombuffer(array.tobytes(), f"V{base.itemsize}").reshape(array.shape)
        attrs.create(name, array, dtype=main)
        return stored

    def modify(self, name: Any, value: Any) -> None:
        """Change the value of an attribute, whose shape and dtype stay.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.attrs.create("n", 3, dtype="i2")
        >>> f.attrs.modify("n", 4)
        >>> f.attrs["n"].dtype
        dtype('int16')
        """
        if name not in self:
            self[name] = value
            return
        old = self[name]
        if isinstance(old, Empty):
            raise OSError("an attribute without elements has no value to change")
        if isinstance(old, str):
            self[name] = value
            return
        shape, dtype = np.shape(old), getattr(old, "dtype", np.dtype("O"))
        if np.shape(value) != shape and not (np.size(value) == 1 and np.size(old) == 1):
            raise TypeError(f"Shape of data is incompatible with existing attribute {shape}")
        if dtype.kind in "biufc":
            value = types.fit(value, dtype, self._attrs._given(text(name)))
        self.create(name, np.reshape(value, shape), dtype=dtype)

    def __delitem__(self, name: Any) -> None:
        if name not in self:
            raise KeyError(f"can't locate attribute: {name!r}")
        del self._attrs[text(name)]
        self._owner._note_type(np.dtype("i1"), "attribute", text(name))

    def __iter__(self) -> Iterator[str]:
        attrs = self._attrs
        order = 1 if self._owner._track else 0
        return (n for n in attrs._h.attr_names(attrs._path, order) if not n.startswith(NOTE))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return not text(name).startswith(NOTE) and text(name) in self._attrs

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        if not self._owner:
            return "<Attributes of closed HDF5 object>"
        return f"<Attributes of HDF5 object at {id(self)}>"


def _ragged(data: Any, dtype: Any, shape: Any, given: values.Given) -> Any:
    base = types.check_vlen_dtype(dtype)
    if isinstance(data, np.ndarray) and data.dtype.kind == "O":
        return data
    rows = [types.fit(row, base, given) for row in data] if shape != () and len(data) and \
        hasattr(data[0], "__len__") else None
    out = np.empty((len(rows),) if rows is not None else (), object)
    if rows is None:
        out[()] = types.fit(data, base, given)
        return out
    for i, row in enumerate(rows):
        out[i] = row
    return out
