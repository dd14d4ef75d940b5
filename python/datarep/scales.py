# SPDX-License-Identifier: MIT
"""Dimension scales as HDF5 keeps them, in attributes: CLASS and NAME of the scale, DIMENSION_LIST of the
dataset.  Files have them that datarep.h5 made, or `datarep import` where a dimension has several scales;
other dimensions are the container's own.

netCDF names a dimension after the last dataset that is attached to it, and so do h5netcdf and this package."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from .errors import NotFoundError
from .types import Reference

CLASS, NAME, BACK, LIST = "CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"
SCALE = "DIMENSION_SCALE"
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
# What libnetcdf hides of a file, scale or not.
HIDDEN = {"_Netcdf4Coordinates", "_Netcdf4Dimid", "_NCProperties", "_nc3_strict"}
RESERVED = HIDDEN | {CLASS, NAME, BACK, LIST}


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace").rstrip("\0") if isinstance(value, bytes) else value


def is_scale(attrs: Mapping[str, Any]) -> bool:
    """Whether these are the attributes of a scale."""
    return CLASS in attrs and bool(_text(attrs[CLASS]) == SCALE)


def is_bare(attrs: Mapping[str, Any]) -> bool:
    """Whether a dataset stands for a length alone, and its elements for nothing."""
    return NAME in attrs and str(_text(attrs[NAME])).startswith(NO_VARIABLE)


def attached(attrs: Mapping[str, Any]) -> Optional[list[list[Reference]]]:
    """For each dimension references to its scales, in the order in which they came; None without a list."""
    value = attrs[LIST] if LIST in attrs else None
    if getattr(value, "dtype", None) != object:
        return None
    rows = [list(row) if row is not None else [] for row in value]
    if not all(isinstance(r, Reference) for row in rows for r in row):
        return None
    return [[r for r in row if r] for row in rows]


def naming(handle: Any, path: str, rank: int, attrs: Mapping[str, Any]) -> list[Optional[str]]:
    """For each dimension of a dataset the path of the scale that names it, or None."""
    if is_scale(attrs):
        return [path if rank == 1 else None] * rank
    rows = attached(attrs)
    if rows is None or len(rows) != rank:
        return [None] * rank
    return [next((p for p in (_path(handle, r) for r in reversed(row)) if p), None) for row in rows]


def _path(handle: Any, reference: Reference) -> Optional[str]:
    try:
        return str(handle.path(reference.id))
    except NotFoundError:
        return None


def visible(attrs: dict[str, Any], own: bool = False) -> dict[str, Any]:
    """The attributes without those that HDF5 and netCDF have for themselves.  own: the dataset has the coordinates
    of a dimension of the container, of which import keeps what HDF5's scale says otherwise."""
    if RESERVED.isdisjoint(attrs):
        return attrs
    hidden = set(HIDDEN)
    if own or is_scale(attrs):
        hidden |= {CLASS, NAME, BACK}
    if attached(attrs) is not None:
        hidden.add(LIST)
    return {k: v for k, v in attrs.items() if k not in hidden}
