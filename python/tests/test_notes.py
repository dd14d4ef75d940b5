# SPDX-License-Identifier: MIT
"""The way on: netCDF-4 files are imported, worked on in xarray, saved, exported, and read by netCDF."""
import subprocess

import pytest

import datarep as dr

xr = pytest.importorskip("xarray")
netCDF4 = pytest.importorskip("netCDF4")
np = pytest.importorskip("numpy")
exports = pytest.mark.skipif("netcdf" not in dr.versions(), reason="the command has no module for netCDF")
import datarep.xarray  # noqa: E402

BOOKS = {"_NCProperties", "_nc3_strict", "_Netcdf4Dimid", "_Netcdf4Coordinates"}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "o.nc"
    with netCDF4.Dataset(path, "w") as d:
        d.createDimension("t", None)
        d.createDimension("x", 3)
        d.createDimension("alone", 2)
        d.createVariable("t", "f8", ("t",))[:] = [1, 2]
        d.createVariable("v", "f4", ("t", "x"))[:] = np.arange(6).reshape(2, 3)
        d.createVariable("w", "f4", ("x", "t"))[:] = np.arange(6).reshape(3, 2)
        d.title = "notes"
    dr.import_(path, tmp_path / "o.drep")
    return path


def header(path):
    return subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, check=True).stdout


def test_books_are_notes(source, tmp_path):
    with dr.open(str(tmp_path / "o.drep")) as f:
        assert dict(f.attrs) == {"title": "notes"} and not dict(f["v"].attrs)
        assert {n.rsplit(":")[1] for n in f["v"].attrs.notes} <= BOOKS | {"remarks"} and len(f["v"].attrs.notes)
    shown = dr.command.run(["dump", "-H", tmp_path / "o.drep"]).stdout
    assert "_Netcdf4" not in shown and "title" in shown
    assert "_Netcdf4Coordinates" in dr.command.run(["dump", "-H", "-a", tmp_path / "o.drep"]).stdout


@exports
def test_the_file_comes_back(source, tmp_path):
    dr.export(tmp_path / "o.drep", tmp_path / "b.nc")
    said = header(source).split("{", 1)[1]
    assert header(tmp_path / "b.nc").split("{", 1)[1] == said
    dr.export(tmp_path / "o.drep", tmp_path / "c.nc", format="cdf5")
    with netCDF4.Dataset(tmp_path / "c.nc") as d:
        assert d.ncattrs() == ["title"] and d["v"].ncattrs() == []


@exports
@pytest.mark.parametrize("work", [
    lambda d: d.mean("t", keep_attrs=True), lambda d: d.expand_dims("m"), lambda d: d.transpose("x", "t"),
    lambda d: d.isel(x=0), lambda d: d.rename(t="x", x="t"), lambda d: d[["v"]]])
def test_what_xarray_makes_of_it_goes_on(source, tmp_path, work):
    with xr.open_dataset(tmp_path / "o.drep", engine="datarep") as ds:
        made = work(ds.load())
    made.datarep.save(tmp_path / "s.drep")
    dr.export(tmp_path / "s.drep", tmp_path / "s.nc")
    with xr.open_dataset(tmp_path / "s.nc", engine="netcdf4") as back:
        assert back.load().equals(made)
        for name in made.variables:
            assert back[name].dims == made[name].dims
    for engine in ("netcdf4", "h5netcdf"):
        # Of a dimension that is gone h5netcdf knows no length, whatever engine read the file.
        there = [d for d in made.encoding.get("unlimited_dims", ()) if d in made.dims]
        made.to_netcdf(tmp_path / "n.nc", engine=engine, unlimited_dims=there)


@exports
def test_a_book_that_no_longer_fits_is_left_out(source, tmp_path):
    """A dataset whose dimensions were made in another order keeps its values, not its numbers."""
    with dr.open(str(tmp_path / "o.drep"), "a") as f:
        old = dict(f["v"].attrs.notes)
        f.create("u", f["v"][...].T, dims=["x", "t"])
        for name, value in old.items():
            f["u"].attrs[name] = value
    dr.export(tmp_path / "o.drep", tmp_path / "b.nc")
    with netCDF4.Dataset(tmp_path / "b.nc") as d:
        assert d["u"].dimensions == ("x", "t") and d["u"][:].tolist() == d["v"][:].T.tolist()
