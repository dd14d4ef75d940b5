# SPDX-License-Identifier: MIT
"""ds.dims: labels and scales of dimensions.

Scales are attached to one dimension of one dataset by attributes, as HDF5 keeps them (scales.py).  Where
a dataset has no such list, the scales are the coordinates of its shared dimensions, which `datarep import`
makes of the scales of HDF5.
"""
from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..attrs import Empty
from ..errors import NotFoundError, shown
from ..scales import BACK, CLASS, LIST, NAME, SCALE, attached
from ..scales import is_scale as _is_scale
from ..types import Reference, Type
from . import types
from .base import text

LABELS = "DIMENSION_LABELS"
NULTERM = 1  # DREP_PAD_NULTERM


def is_scale(ds: Any) -> bool:
    """Whether a dataset is a scale, or the coordinates of a shared dimension."""
    if _is_scale(ds.attrs):
        return True
    address = _address(ds, 0) if ds.ndim == 1 else None
    return bool(address) and _coordinate(ds._main._h, address) == ds._path


def _write(ds: Any, name: str, value: bytes) -> None:
    """Write a text with a NUL at its end, without which HDF5 does not take it."""
    ds.attrs._attrs.create(name, value, dtype=Type.string(len(value) + 1, NULTERM))


def make_scale(ds: Any, name: Any = "") -> None:
    if LIST in ds.attrs:
        raise RuntimeError("a dataset whose dimensions have scales cannot be one")
    _write(ds, CLASS, SCALE.encode())
    name = name if isinstance(name, bytes) else name.encode()
    if name:
        _write(ds, NAME, name)
    elif NAME in ds.attrs:
        del ds.attrs[NAME]


def scale_name(ds: Any) -> str:
    if NAME not in ds.attrs:
        return "" if CLASS in ds.attrs else str(ds._path.rsplit("/", 1)[-1])  # of coordinates
    got = ds.attrs[NAME]
    if isinstance(got, Empty):
        return ""  # import's word for a scale without a name
    return got.decode("utf-8", "surrogateescape") if isinstance(got, bytes) else str(got)


def _address(ds: Any, number: int) -> Any:
    """The address of a shared dimension."""
    addresses = ds._ds.dim_addresses if ds.ndim else ()
    return addresses[number] if addresses else None


def _coordinate(handle: Any, address: str) -> Any:
    """The path of the dataset with the coordinates of a shared dimension, or None."""
    try:
        return handle.dimension_coordinate(address)
    except NotFoundError:
        return None


def _attach(ds: Any, rows: list[list[Reference]]) -> None:
    if not any(rows):
        del ds.attrs[LIST]
        return
    out = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        out[i] = np.array(row, object)
    ds.attrs.create(LIST, out, dtype=types.vlen_dtype(types.ref_dtype))


def _back(scale: Any, change: Any) -> None:
    """Change the list of the datasets that a scale belongs to."""
    dtype = np.dtype([("dataset", types.ref_dtype), ("dimension", "i4")])
    rows = change([(r, int(n)) for r, n in scale.attrs[BACK]] if BACK in scale.attrs else [])
    if rows:
        scale.attrs.create(BACK, np.array(rows, dtype), dtype=dtype)
    elif BACK in scale.attrs:
        del scale.attrs[BACK]


class DimensionProxy:
    """One dimension of a dataset."""

    def __init__(self, ds: Any, number: int) -> None:
        self._ds, self._number = ds, number

    def _labels(self) -> list[str]:
        if LABELS not in self._ds.attrs:
            return [""] * self._ds.ndim
        return [str(s) for s in self._ds.attrs[LABELS]]

    @property
    def label(self) -> str:
        own = self._labels()[self._number]
        return own or self._ds._ds.dims[self._number] or ""

    @label.setter
    def label(self, value: str) -> None:
        labels = self._labels()
        labels[self._number] = value
        self._ds.attrs[LABELS] = labels

    def _scales(self) -> list[Any]:
        from .group import _made
        ds, h = self._ds, self._ds._main._h
        rows = attached(ds.attrs)
        if rows is not None:
            paths = [h.path(r.id) for r in rows[self._number]]
        else:
            address = _address(ds, self._number)
            first = _coordinate(h, address) if address else None
            paths = [first] if first else []
            paths += [h.path(i) for i in h.dimension_scales(address)] if address else []
        return [_made(ds._main, p) for p in paths if p != ds._path]

    def __len__(self) -> int:
        return len(self._scales())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def items(self) -> list[Any]:
        return [(scale_name(s), s) for s in self._scales()]

    def keys(self) -> list[str]:
        return [scale_name(s) for s in self._scales()]

    def values(self) -> list[Any]:
        return self._scales()

    def __getitem__(self, item: Any) -> Any:
        scales = self._scales()
        if isinstance(item, int):
            if not scales:
                raise RuntimeError("the dimension has no scales")
            return scales[item]
        for scale in scales:
            if scale_name(scale) == text(item):
                return scale
        raise KeyError(item)

    def attach_scale(self, dset: Any) -> None:
        """Give the dimension a scale, which the dataset becomes if it is none."""
        ds, number = self._ds, self._number
        if getattr(dset, "_kind", "") != "dataset":
            raise TypeError(f"a scale is a dataset, not {dset!r}")
        if dset == ds or LIST in dset.attrs:
            raise RuntimeError("a dataset whose dimensions have scales cannot be one")
        if not is_scale(dset):
            make_scale(dset)
        if dset in self._scales():
            return
        rows = attached(ds.attrs) or [[] for _ in range(ds.ndim)]
        rows[number].append(dset.ref)
        _attach(ds, rows)
        _back(dset, lambda old: [*old, (ds.ref, number)])

    def detach_scale(self, dset: Any) -> None:
        """Take a scale from the dimension."""
        ds, number, rows = self._ds, self._number, attached(self._ds.attrs)
        if rows is None or dset.ref not in rows[number]:
            raise RuntimeError(f"{dset!r} is no scale that was attached to the dimension")
        rows[number].remove(dset.ref)
        _attach(ds, rows)
        _back(dset, lambda old: [row for row in old if row != (ds.ref, number)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimensionProxy) and self._ds == other._ds and \
            self._number == other._number

    def __hash__(self) -> int:
        return hash((self._ds, self._number))

    def __repr__(self) -> str:
        if not self._ds:
            return "<Dimension of closed HDF5 dataset>"
        return f"<\"{shown(self.label)}\" dimension {self._number} of HDF5 dataset at {id(self._ds)}>"


class DimensionManager:
    """The dimensions of a dataset."""

    def __init__(self, parent: Any) -> None:
        self._ds = parent

    def __getitem__(self, index: int) -> DimensionProxy:
        if index > len(self) - 1 or index < 0:
            raise IndexError("Index out of range")
        return DimensionProxy(self._ds, index)

    def __len__(self) -> int:
        return int(self._ds.ndim)

    def __iter__(self) -> Iterator[DimensionProxy]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return "<Dimensions of HDF5 object>" if self._ds else "<Dimensions of closed HDF5 dataset>"


def _of(id_: Any, number: int) -> DimensionProxy:
    return DimensionManager(id_._owner)[number]


def _set_label(id_: Any, number: int, label: Any) -> None:
    _of(id_, number).label = text(label)


def _iterate(id_: Any, number: int, function: Any, start: int = 0) -> Any:
    """Call function(id of a scale) until it returns something."""
    for scale in _of(id_, number).values()[start:]:
        got = function(scale.id)
        if got is not None:
            return got
    return None


# h5py.h5ds: scripts use it where ds.make_scale() is too new for them.
H5DS = {
    "set_scale": lambda id_, name=b"": make_scale(id_._owner, name),
    "is_scale": lambda id_: is_scale(id_._owner),
    "get_scale_name": lambda id_: scale_name(id_._owner).encode(),
    "attach_scale": lambda id_, scale, number: _of(id_, number).attach_scale(scale._owner),
    "detach_scale": lambda id_, scale, number: _of(id_, number).detach_scale(scale._owner),
    "is_attached": lambda id_, scale, number: scale._owner in _of(id_, number).values(),
    "get_num_scales": lambda id_, number: len(_of(id_, number)),
    "get_label": lambda id_, number: _of(id_, number).label.encode(),
    "set_label": _set_label,
    "iterate": _iterate,
}
