# SPDX-License-Identifier: MIT
"""The remarks of converters about one object, which `datarep import` writes and `datarep export` reads
(datarep-import(1)): what HDF5 and netCDF say of it and a container has no place for."""
from __future__ import annotations

from typing import Any

from .attrs import Attributes

# The attribute, which export does not take for one of HDF5; it holds one line for each remark.
REMARKS = "drep.hdf5:remarks"

DEFLATE, SHUFFLE, FLETCHER32, LZF = 1, 2, 3, 32000  # HDF5's numbers of filters


def remarks(handle: Any, path: str) -> list[str]:
    attrs = Attributes(handle, path)
    return list(attrs[REMARKS]) if REMARKS in attrs else []


def set_remarks(handle: Any, path: str, lines: list[str]) -> None:
    """The order of lines is kept: filters have one."""
    attrs = Attributes(handle, path)
    if lines:
        attrs[REMARKS] = lines
    elif REMARKS in attrs:
        del attrs[REMARKS]


def has_filter(lines: list[str], number: int) -> bool:
    """Whether the elements had a filter in HDF5, or are to have it there."""
    return any(line.startswith(f"filter {number} ") for line in lines)


def filter_lines(size: int, shuffle: bool = False, deflate: Any = None, lzf: bool = False,
                 fletcher32: bool = False) -> list[str]:
    """The filters that HDF5 gets, where those of the container are others.  size: of an element; deflate: its
    level."""
    made = [f"filter {SHUFFLE} 1 {size} shuffle"] if shuffle else []
    if deflate is not None:
        made.append(f"filter {DEFLATE} 1 {deflate} deflate")
    if lzf:
        made.append(f"filter {LZF} 1 - lzf")
    return made + [f"filter {FLETCHER32} 0 - fletcher32"] * fletcher32
