# SPDX-License-Identifier: MIT
"""The types that a type checker infers for programs that use the package: make python-typing.

mypy checks each statement; test_typing.py runs them and compares the classes of the values.  An error that is to
be found has a comment to ignore it, which is an error itself where nothing is found."""
from typing import Any, Optional, Union, assert_type

import numpy as np
from numpy.typing import NDArray

import datarep as dr
from datarep.dataset import View
from datarep.tree import Tree


def elements(x: dr.Dataset) -> None:
    """x: floats, of shape (2, 3)."""
    # Boxes and lists are arrays; an index may give one element.
    assert_type(x[...], NDArray[Any])
    assert_type(x[0:1], NDArray[Any])
    assert_type(x[:, ::2], NDArray[Any])
    assert_type(x[..., :1], NDArray[Any])
    assert_type(x[[0, 1]], NDArray[Any])
    assert_type(x[np.array([0, 1], np.int64)], NDArray[Any])
    assert_type(x[x[...] > 2], NDArray[Any])
    assert_type(x[0, 0], Any)
    # What it is read as.
    assert_type(x.astype("f4"), View[np.float32])
    assert_type(x.astype("f4")[...], NDArray[np.float32])
    assert_type(x.astype("int16")[:1], NDArray[np.int16])
    assert_type(x.astype(float)[...], NDArray[np.float64])
    assert_type(x.astype(np.int32)[1:], NDArray[np.int32])
    assert_type(x.astype(np.dtype(np.uint16)).dtype, np.dtype[np.uint16])
    assert_type(x.as_float32()[...], NDArray[np.float32])
    assert_type(np.asarray(x), NDArray[Any])
    assert_type(x.as_stored(), NDArray[Any])
    # What is told of it.
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, np.dtype[Any])
    assert_type(x.ndim, int)
    assert_type(x.size, int)
    assert_type(x.chunks, Optional[tuple[int, ...]])
    assert_type(x.maxshape, Optional[tuple[Optional[int], ...]])
    assert_type(x.filters, str)
    assert_type(x.dims, tuple[Optional[str], ...])
    assert_type(x.file, dr.File)
    assert_type(x.parent, dr.Group)
    assert_type(x.attrs, dr.Attributes)
    # Transfers tell what they changed.
    assert_type(x.read_into(np.empty((2, 3))), dr.Report)
    assert_type(x.write(1.5, range="clamp"), dr.Report)
    assert_type(x.report.overflow, int)


def files(path: str) -> None:
    f = dr.open(path, "w")
    assert_type(f, dr.File)
    x = f.create("x", np.arange(6.0).reshape(2, 3))
    assert_type(x, dr.Dataset)
    elements(x)
    assert_type(f["x"], Any)
    assert_type(f.create_group("g"), dr.Group)
    assert_type(f.require_group("g"), dr.Group)
    assert_type(f.create_dataset("y", (3,), "f8"), dr.Dataset)
    assert_type(f.require_dataset("y", (3,), "f8"), dr.Dataset)
    assert_type(f.get("y", getlink=True), Union[dr.SoftLink, dr.ExternalLink, dr.HardLink, None])
    assert_type(f.dims.create("time", 3), dr.Dimension)
    assert_type([o.name for o in f.walk()], list[str])
    assert_type(f.tree(), Tree)
    assert_type(f.copy("x", "z"), dr.Report)
    f.commit()
    assert_type(f.log(), list[dr.Commit])
    assert_type(f.hints, dict[str, str])
    assert_type(f.check(), list[tuple[int, int, str]])
    with f as same:
        assert_type(same, dr.File)


def values() -> None:
    assert_type(dr.pack("external32", [1, 2], "i2"), bytes)
    assert_type(dr.unpack("external32", b"\0\1", "i2"), NDArray[np.int16])
    assert_type(dr.unpack("external32", b"\0\1\0\2", np.float32), NDArray[np.float32])
    assert_type(dr.datareps(), dict[str, str])
    assert_type(dr.string_dtype(), np.dtype[np.object_])
    assert_type(dr.enum_dtype({"off": 0}), np.dtype[np.integer[Any]])
    assert_type(dr.version(), str)


def mistakes(f: dr.File, x: dr.Dataset) -> None:
    """Never run: mypy finds each."""
    dr.open("a.drep", "rw")  # type: ignore[arg-type]
    f.create("n", [1], layout="odd")  # type: ignore[arg-type]
    f.create("n", [1], chunk=(3,))  # type: ignore[call-arg]
    x.write(1, range="cut")  # type: ignore[arg-type]
    x.append(1, threads="all")  # type: ignore[arg-type]
    x.read_into([1, 2])  # type: ignore[arg-type]
    x.shape = (3,)  # type: ignore[misc]
    f.log()[0].number.upper()  # type: ignore[attr-defined]
