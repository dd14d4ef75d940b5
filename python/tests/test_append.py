# SPDX-License-Identifier: MIT
"""Datasets along a dimension that grows: their own lengths, and appends that fail."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import datarep as dr


@pytest.fixture()
def file(tmp_path: Any) -> Any:
    with dr.open(tmp_path / "a.drep", "w") as f:
        f.dims["t"] = None
        yield f


def test_a_new_dataset_has_nothing_of_a_grown_dimension(file: Any) -> None:
    file.dims["y"] = 2
    a = file.create("a", dtype="f8", dims=["t"])
    a.append([1, 2, 3.])
    b = file.create("b", dtype="f8", dims=["t"], fill=-1)
    c = file.create("c", dtype="i2", dims=["t", "y"])
    assert b.shape == (0,) and c.shape == (0, 2) and file.dims["t"].size == 3
    b.append([10, 20.])
    c.append([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert a[...].tolist() == [1, 2, 3] and b[...].tolist() == [10, 20]
    assert c[3].tolist() == [7, 8] and file.dims["t"].size == 4
    d = file.create("d", np.arange(3), dims=["t"])  # what is given counts
    assert d.shape == (3,)
    assert file.create("e", dtype="i4", dims=["t"], shape=(2,)).shape == (2,)


def test_the_library_agrees(file: Any, tmp_path: Any) -> None:
    """A dataset that has nothing of its dimension is as sound as another, and stays so."""
    file.create("a", dtype="f8", dims=["t"]).append([1, 2, 3.])
    file.create("b", dtype="f8", dims=["t"])
    file.commit()
    assert not file.check()
    with dr.open(tmp_path / "a.drep") as again:
        assert again["b"].shape == (0,) and again["b"].maxshape == (None,)


def test_xarray_pads(file: Any, tmp_path: Any) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("datarep.xarray")
    file.create("a", dtype="f8", dims=["t"]).append([1, 2, 3.])
    file.create("b", dtype="i4", dims=["t"], fill=-7).append([10])
    file.create("c", dtype="i4", dims=["t"])
    file.commit()
    with xr.open_dataset(tmp_path / "a.drep", engine="datarep", mask_and_scale=False) as ds:
        assert dict(ds.sizes) == {"t": 3}
        assert ds["b"].values.tolist() == [10, -7, -7] and ds["c"].values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("form", ["cdf1", "cdf2", "cdf5"])
def test_classic_netcdf_pads(file: Any, tmp_path: Any, form: str) -> None:
    """A foreign reader sees the declared fill where a dataset is shorter than its dimension."""
    netcdf = pytest.importorskip("netCDF4")
    if "netcdf" not in dr.versions():
        pytest.skip("the command has no module for netCDF")
    file.create("a", dtype="f8", dims=["t"]).append([1, 2, 3.])
    file.create("b", dtype="i4", dims=["t"], fill=-7).append([10])
    file.create("c", dtype="i2", dims=["t"])
    file.commit()
    dr.export(tmp_path / "a.drep", tmp_path / "a.nc", format=form)
    with netcdf.Dataset(tmp_path / "a.nc") as n:
        n.set_auto_mask(False)
        assert n["a"][:].tolist() == [1, 2, 3] and n["b"][:].tolist() == [10, -7, -7]
        assert n["c"][:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("wrong", [[2**40], ["a"], [1.5], object()])
def test_a_loop_that_goes_on_shifts_nothing(file: Any, wrong: Any) -> None:
    for name in "abc":
        file.create(name, dtype="i4", dims=["t"])
    refused = 0
    for step in range(20):
        for name in "abc":
            try:
                file[name].append(wrong if name == "b" and step == 7 else [step])
            except dr.Error as error:
                refused += "an append has failed" in str(error)
                assert "/b" in str(error)
            except (TypeError, ValueError, OverflowError):
                assert name == "b" and step == 7
    assert refused == 12
    assert file["b"][...].tolist() == list(range(7)) and file["c"][...].tolist() == list(range(20))
    file["b"].resize(7)  # to the shape that it has: here it goes on
    file["b"].append([7])
    assert file["b"][...].tolist() == list(range(8))


def test_a_wrong_shape_is_refused_alone(file: Any) -> None:
    """A block of another shape, a dimension that is not there, an option: nothing was appended, the next is taken."""
    file.dims["y"] = 2
    a = file.create("a", dtype="i4", dims=["t", "y"])
    for step in range(3):
        for block in ([1, 2, 3], [[1], [2]], 5, [[[1, 2]]]):
            with pytest.raises(ValueError, match="^/a: a block of shape .* cannot be appended along dimension 0 of "):
                a.append(block)
        for axis in (2, -1):
            with pytest.raises(ValueError, match="^/a: there is no dimension"):
                a.append([1, 2], axis=axis)
        with pytest.raises(ValueError, match="^range: 'clip'"):
            a.append([1, 2], range="clip")  # type: ignore[arg-type]
        a.append([step, 0])
    assert a[:, 0].tolist() == [0, 1, 2]


def test_a_commit_lets_it_go_on(file: Any) -> None:
    a = file.create("a", dtype="i4", dims=["t"])
    with pytest.raises(Exception):
        a.append([2**40])
    with pytest.raises(dr.Error, match=r"before commit\(\), or resize\(\) to"):
        a.append([1])
    file.commit()
    a.append([1])
    assert a[...].tolist() == [1]


def test_close_keeps_what_succeeded(tmp_path: Any) -> None:
    f = dr.open(tmp_path / "b.drep", "w")
    a = f.create("a", np.arange(4, dtype="i2"))
    with pytest.raises(Exception):
        a[...] = [1, 2, 3, 1 << 20]
    f.close()  # what was raised is not raised again
    with dr.open(tmp_path / "b.drep") as f:
        assert f["a"][...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("why", [ValueError, KeyboardInterrupt, SystemExit])
def test_with_publishes_nothing_after_an_exception(tmp_path: Any, why: Any) -> None:
    with dr.open(tmp_path / "c.drep", "w") as f:
        f.create("a", np.arange(4))
    with pytest.raises(why):
        with dr.open(tmp_path / "c.drep", "r+") as f:
            f["a"][...] = 9
            f.create("b", np.arange(2))
            raise why()
    with dr.open(tmp_path / "c.drep") as f:
        assert f["a"][...].tolist() == [0, 1, 2, 3] and "b" not in f
