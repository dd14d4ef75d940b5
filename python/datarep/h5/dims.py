# SPDX-License-Identifier: MIT
"""ds.dims: labels of dimensions.  Scales of HDF5 are what the package has shared dimensions for."""
from __future__ import annotations

from typing import Any, Iterator

LABELS = "DIMENSION_LABELS"


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

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def items(self) -> list[Any]:
        return []

    keys = values = items

    def __getitem__(self, item: Any) -> Any:
        raise KeyError(item) if isinstance(item, str) else IndexError(item)

    def attach_scale(self, dset: Any) -> None:
        raise NotImplementedError("dimension scales of HDF5: use the dims of datarep.File")

    detach_scale = attach_scale

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimensionProxy) and self._ds == other._ds and \
            self._number == other._number

    def __hash__(self) -> int:
        return hash((self._ds, self._number))

    def __repr__(self) -> str:
        if not self._ds:
            return "<Dimension of closed HDF5 dataset>"
        return f"<\"{self.label}\" dimension {self._number} of HDF5 dataset at {id(self._ds)}>"


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
