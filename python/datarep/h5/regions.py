# SPDX-License-Identifier: MIT
"""References to elements: what h5py selects as the text of a region (SPEC.md, R10.3), and back."""
from __future__ import annotations

import itertools
import re
from typing import Any, Optional

import numpy as np

from ..attrs import Empty
from ..types import RegionReference

_BOX = re.compile(r"\[([0-9:,]*)\]")
_POINT = re.compile(r"\(([0-9]+(?:,[0-9]+)*)\)")


def _ranges(indices: Any) -> list[str]:
    """Ranges that hold indices, which increase: one if they are equally far apart."""
    if len(indices) == 0:
        return []
    steps = np.diff(indices)
    if len(steps) == 0 or (steps == steps[0]).all():
        step = int(steps[0]) if len(steps) else 1
        return [f"{indices[0]}:{indices[-1] + 1}" + (f":{step}" if step > 1 else "")]
    ends = np.flatnonzero(steps != 1)
    return [f"{part[0]}:{part[-1] + 1}" for part in np.split(indices, ends + 1)]


def print_region(args: Any, shape: tuple[int, ...]) -> str:
    """The text of what a key of h5py selects."""
    from .dataset import parse
    key, names, _ = parse(args, shape)
    if names:
        raise ValueError("a region has no names of members")
    if not shape:
        return "[]"
    if isinstance(key, np.ndarray):
        return "{" + ",".join("(" + ",".join(map(str, p)) + ")"
                              for p in np.argwhere(key).tolist()) + "}"
    parts = []
    for part, length in zip(key, shape):
        if isinstance(part, slice):
            part = range(*part.indices(length))
            parts.append([] if not part else
                         [f"{part[0]}:{part[-1] + 1}" + (f":{part.step}" if part.step > 1 else "")])
        elif isinstance(part, int):
            at = part + length if part < 0 else part
            if not 0 <= at < length:
                raise IndexError(f"Index ({part}) out of range for (0-{length - 1})")
            parts.append([f"{at}"])
        else:
            parts.append(_ranges(part))
    boxes = ["[" + ",".join(box) + "]" for box in itertools.product(*parts)]
    return boxes[0] if len(boxes) == 1 else "{" + ",".join(boxes) + "}"


def _box(text: str, shape: tuple[int, ...]) -> list[Any]:
    """The indices of a box, for each dimension."""
    parts = text.split(",") if text else []
    if len(parts) != len(shape):
        raise ValueError(f"the region [{text}] has {len(parts)} dimensions, the dataset {len(shape)}")
    made = []
    for part, length in zip(parts, shape):
        numbers = [int(n) for n in part.split(":") if n]
        if part == ":":
            numbers = [0, length]
        elif len(numbers) == 1:
            numbers = [numbers[0], numbers[0] + 1]
        if len(numbers) > 2 and not numbers[2] or max(numbers[:2]) > length:
            raise ValueError(f"the region [{text}] is not in a dataset of shape {shape}")
        made.append(np.arange(*numbers))
    return made


class Region:
    """The elements of a dataset that a text selects.

    outer: indices for each dimension, or points: an array of coordinates, where they are no box."""

    def __init__(self, ds: Any, text: Optional[str]) -> None:
        self._ds, shape = ds, ds.shape or ()
        self.outer: Optional[list[Any]] = None
        self.points = np.zeros((0, len(shape)), "i8")
        text = text or "{}"
        boxes = [_box(b, shape) for b in _BOX.findall(text)]
        if "[" not in text:
            found = [[int(n) for n in p.split(",")] for p in _POINT.findall(text)]
            if found:
                self.points = np.array(found, "i8").reshape(len(found), -1)
        elif len(boxes) == 1:
            self.outer = boxes[0]
        else:
            self._union(boxes)

    def _union(self, boxes: list[list[Any]]) -> None:
        """Boxes that are one together, or the points of them all."""
        axes = [np.unique(np.concatenate(along)) for along in zip(*boxes)]
        mask = np.zeros([len(a) for a in axes], bool)
        for box in boxes:
            mask[np.ix_(*(np.searchsorted(a, b) for a, b in zip(axes, box)))] = True
        if mask.all():
            self.outer = axes
        else:
            self.points = np.stack([a[i] for a, i in zip(axes, mask.nonzero())], axis=1)

    @property
    def shape(self) -> Optional[tuple[int, ...]]:
        """The shape of what is selected; None: nothing, of a dataset without dimensions."""
        if self.outer is not None:
            return tuple(len(a) for a in self.outer)
        if len(self.points):
            return (len(self.points),)
        rank = len(self._ds.shape or ())
        return (0,) * rank if rank else None

    def read(self, dtype: Any = None) -> Any:
        """The elements; of a union of boxes that is no box, and of points, in one dimension."""
        ds = self._ds
        if self.shape is None:
            return Empty(ds.dtype)
        dtype = ds.dtype if dtype is None else np.dtype(dtype)
        if 0 in self.shape:
            return np.zeros(self.shape, dtype)
        if self.outer is None:
            got = ds._read_points(tuple(self.points.T))
        else:
            got = ds[tuple(_slice(a) for a in self.outer)]
        return got if got.dtype == dtype else got.astype(dtype)

    def write(self, value: Any) -> None:
        if self.shape is None or 0 in self.shape:
            return
        if self.outer is None:
            self._ds._ds.vindex[tuple(self.points.T)] = value
        else:
            self._ds._ds.oindex[tuple(_slice(a) for a in self.outer)] = value


def _slice(indices: Any) -> Any:
    """A slice, where the indices are one."""
    steps = np.diff(indices)
    if len(steps) and not (steps == steps[0]).all():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1, int(steps[0]) if len(steps) else 1)


class RegionProxy:
    """obj.regionref: makes references to elements, and tells of them."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, args: Any) -> RegionReference:
        shape = getattr(self._owner, "shape", None)
        if shape is None:
            raise TypeError("only datasets with elements have regions")
        return RegionReference(self._owner._number, print_region(args, shape))

    def _dataset(self, ref: RegionReference) -> Any:
        from .group import _made
        main = self._owner._main
        return _made(main, main._h.path(ref.id))

    def shape(self, ref: RegionReference) -> Any:
        """The shape of the dataset that the reference points into."""
        return self._dataset(ref).shape

    def selection(self, ref: RegionReference) -> Any:
        """The shape of the elements that the reference selects."""
        return Region(self._dataset(ref), ref.region).shape
