# SPDX-License-Identifier: MIT
"""Saves of xarray: no value changes on the way, and appends and regions only add."""
import resource
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")
import datarep as dr  # noqa: E402
import datarep.h5 as h5  # noqa: E402
import datarep.xarray  # noqa: E402


def opened(path, **options):
    with xr.open_dataset(path, engine="datarep", **options) as ds:
        return ds.load()


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.drep")


def days():
    return xr.Dataset({"v": ("time", [1.0, 2.0])}, {"time": pd.date_range("2000-01-01", periods=2)})


def refused(path, add, match, **options):
    """The save fails, and the file is as it was."""
    before = opened(path)
    with pytest.raises((ValueError, TypeError), match=match):
        add.datarep.save(path, **options)
    assert opened(path).identical(before)


def test_times_that_units_cannot_hold(path):
    days().datarep.save(path, unlimited_dims="time")
    later = xr.Dataset({"v": ("time", [3.0])}, {"time": pd.to_datetime(["2000-01-03T06:30"])})
    refused(path, later, "whole numbers of 'days since", append_dim="time")
    refused(path, later, "whole numbers of 'days since", region={"time": slice(1, 2)})
    whole = xr.Dataset({"v": ("time", [3.0])}, {"time": pd.to_datetime(["2000-01-03"])})
    whole.datarep.save(path, append_dim="time")
    assert opened(path).equals(xr.concat([days(), whole], "time"))


def test_nanoseconds_are_kept(path):
    for end in ("2262-04-11T23:47:16.854775807", "2000-01-01T00:00:00.000001", "2000-01-01T00:00:00.125"):
        times = np.array([end, "1677-09-22", "NaT"], "M8[ns]")
        xr.Dataset(coords={"t": ("t", times)}).datarep.save(path)
        got = opened(path).t.values
        assert (got[:2] == times[:2]).all() and np.isnat(got[2])


@pytest.mark.parametrize("first, more", [
    (np.array([1, 2], "i1"), [300, -1000]), ([1, 2], [1.5, 2.0]), ([1, 2], [np.nan, 1.0]),
    (np.array([1, 2], "u1"), [-1, 0]), (np.array([1, 2], "f4"), [1e300, 0]), (np.array([1], "i4"), [1 << 40])])
def test_numbers_that_the_file_cannot_hold(path, first, more):
    xr.Dataset({"v": ("t", first)}).datarep.save(path, unlimited_dims="t")
    refused(path, xr.Dataset({"v": ("t", more)}), "", append_dim="t")


def test_packing_refuses_what_it_cannot_hold(path):
    encoding = {"v": {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -9999}}
    with pytest.raises(ValueError):
        xr.Dataset({"v": ("t", [1e6, 2.0])}).datarep.save(path, encoding=encoding)
    xr.Dataset({"v": ("t", [1.04, np.nan])}).datarep.save(path, encoding=encoding)
    got = opened(path).v
    assert got.values[0] == pytest.approx(1.0) and np.isnan(got.values[1]) and got.encoding["_FillValue"] == -9999


@pytest.mark.parametrize("chunks", [None, {}])
def test_two_packings_joined(tmp_path, chunks):
    for i, low in enumerate((0, 1000)):
        xr.Dataset({"v": ("t", np.linspace(low, low + 10, 3))}).datarep.save(
            tmp_path / f"e{i}.drep",
            encoding={"v": {"dtype": "i2", "scale_factor": 10 / 65000, "add_offset": low + 5}})
    parts = [xr.open_dataset(tmp_path / f"e{i}.drep", engine="datarep", chunks=chunks) for i in (0, 1)]
    joined = xr.concat(parts, "t", combine_attrs="override")
    joined.v.encoding = dict(parts[0].v.encoding)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        joined.datarep.save(tmp_path / "m.drep")
    assert any("does not hold its values" in str(w.message) for w in told)
    assert opened(tmp_path / "m.drep").v.values.tolist() == joined.v.values.tolist()


def test_other_coordinates_are_those_of_the_file(path):
    def part(x, units="K"):
        return xr.Dataset({"v": (("t", "x"), np.ones((1, 3)), {"units": units})}, {"x": x})
    part([0, 1, 2]).datarep.save(path, unlimited_dims="t")
    refused(path, part([7, 8, 9]), "'/x' has other values", append_dim="t")
    refused(path, part([0, 1, 2], "degC"), "units 'K' in the file, 'degC'", append_dim="t")
    part([0, 1, 2]).datarep.save(path, append_dim="t")
    assert opened(path).v.shape == (2, 3)


def test_a_variable_that_is_left_out_or_new_needs_a_fill(path):
    both = xr.Dataset({"a": ("t", [1, 2]), "b": ("t", [1.0, 2.0])})
    both.datarep.save(path, unlimited_dims="t")
    refused(path, both[["b"]], "'a' of the file has dimension 't' and no fill", append_dim="t")
    refused(path, both.assign(c=("t", [1, 2])), "'c' is not in the file, and has no _FillValue", append_dim="t")
    both[["a"]].datarep.save(path, append_dim="t")  # b is float: its fill is NaN
    got = opened(path)
    assert got.a.values.tolist() == [1, 2, 1, 2] and np.isnan(got.b.values[2:]).all()
    both.assign(c=("t", [7.0, 8.0])).datarep.save(path, append_dim="t")
    got = opened(path).c.values
    assert np.isnan(got[:4]).all() and got[4:].tolist() == [7, 8]


def test_a_new_variable_of_a_region_has_the_dimension_s_length(path):
    xr.Dataset({"v": ("x", np.zeros(5))}).datarep.save(path)
    xr.Dataset({"n": ("x", [1.0, 2.0])}).datarep.save(path, region={"x": slice(1, 3)})
    got = opened(path)
    assert got.n.values[1:3].tolist() == [1, 2] and np.isnan(got.n.values[[0, 3, 4]]).all()
    refused(path, xr.Dataset({"k": ("x", [1, 2])}), "has no _FillValue", region={"x": slice(1, 3)})


def test_region_by_coordinates(path):
    xr.Dataset({"v": ("x", np.zeros(5))}, {"x": [10, 20, 30, 40, 50]}).datarep.save(path)
    xr.Dataset({"v": ("x", [1.0, 2.0])}, {"x": [20, 30]}).datarep.save(path, region="auto")
    assert opened(path).v.values.tolist() == [0, 1, 2, 0, 0]
    refused(path, xr.Dataset({"v": ("x", [1.0, 2.0])}, {"x": [20, 40]}), "not consecutive", region={"x": "auto"})
    refused(path, xr.Dataset({"v": ("x", [1.0])}, {"x": [25]}), "not consecutive", region="auto")


def test_the_way_on(tmp_path, path):
    """What xarray knows of netCDF's encodings and of texts goes to other formats."""
    xr.Dataset({"v": (("t", "x"), np.zeros((40, 60)))}, attrs={"names": ["a", "bc"]}).datarep.save(
        path, encoding={"v": {"chunks": (20, 30), "filters": "shuffle,deflate:3"}})
    ds = opened(path)
    assert ds.attrs["names"] == ["a", "bc"]
    for engine in ("netcdf4", "h5netcdf"):
        pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
        ds.to_netcdf(tmp_path / "a.nc", engine=engine)
        there = xr.open_dataset(tmp_path / "a.nc", engine=engine)
        assert there.v.encoding["zlib"] and there.v.encoding["chunksizes"] == (20, 30)
        assert there.v.encoding["complevel"] == 3 and there.v.encoding["shuffle"]
        there.close()
    pytest.importorskip("zarr")
    ds.to_zarr(tmp_path / "a.zarr")
    assert xr.open_zarr(tmp_path / "a.zarr").v.equals(ds.v)


def test_sequences_along_a_dimension_that_grew(path):
    with dr.open(path, "w") as f:
        f.dims["t"] = None
        f.create("v", dtype=h5.vlen_dtype("i4"), dims=["t"])
        f.create("w", dtype="f8", dims=["t"]).append([1, 2, 3.0])
    assert [len(v) for v in opened(path).v.values] == [0, 0, 0]


def test_groups_share_the_dimensions_above(path):
    xr.Dataset(coords={"x": [1, 2]}).datarep.save(path)
    xr.Dataset({"m": ("x", [1, 2])}).datarep.save(path, mode="a", group="g")
    assert list(dr.open(path)["g"].dims) == []
    assert opened(path, group="g").m.dims == ("x",)


def test_more_files_than_descriptors(tmp_path):
    paths = [tmp_path / f"{i}.drep" for i in range(200)]
    for i, p in enumerate(paths):
        with dr.open(str(p), "w") as f:
            f.dims["x"] = 1
            f.create("a", dtype="f8", dims=["x"])[...] = i
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (170, limits[1]))
    try:
        with xr.open_mfdataset(paths, engine="datarep", combine="nested", concat_dim="x") as ds:
            assert float(ds.a.sum()) == sum(range(200))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_file_that_changed_meanwhile_is_the_same_commit_or_an_error(tmp_path):
    path = str(tmp_path / "a.drep")
    xr.Dataset({"v": ("x", [1.0])}).datarep.save(path)
    with xr.set_options(file_cache_maxsize=1):
        ds = xr.open_dataset(path, engine="datarep")
        xr.Dataset({"v": ("x", [2.0])}).datarep.save(path)
        xr.Dataset({"w": ("x", [0.0])}).datarep.save(tmp_path / "b.drep")
        with xr.open_dataset(tmp_path / "b.drep", engine="datarep") as other:  # closes the first
            other.load()
        with pytest.raises(dr.StaleError):
            ds.load()


def test_arrays_and_lists_of_files(tmp_path):
    xr.DataArray([1, 2], dims="x", name="v").datarep.save(tmp_path / "a.drep")
    assert opened(tmp_path / "a.drep").v.values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="needs a name"):
        xr.DataArray([1], dims="x").datarep.save(tmp_path / "b.drep")
    parts = [xr.Dataset({"v": ("x", [i])}) for i in range(2)]
    datarep.xarray.save_mfdataset(parts, [tmp_path / "0.drep", tmp_path / "1.drep"])
    assert opened(tmp_path / "1.drep").v.values.tolist() == [1]


@pytest.mark.parametrize("how", [{"mode": "a"}, {"mode": "r+"}, {"region": "auto"}, {"region": {"season": slice(0, 2)}},
                                 {"append_dim": "season"}])
@pytest.mark.parametrize("kind", ["group", "datatype"])
def test_what_is_no_dataset_stays(tmp_path, how, kind):
    """A variable of the name of a group or a datatype is refused in words, and nothing has changed."""
    path = str(tmp_path / "g.drep")
    with dr.open(path, "w") as f:
        if kind == "group":
            f.create_group("season")
        else:
            f["season"] = np.dtype("i4")
        f["x"] = 1
    before = open(path, "rb").read()
    with pytest.raises(dr.errors.ExistsError) as caught:
        xr.Dataset({"v": ("season", [1.0, 2.0])}, {"season": [1, 2]}).datarep.save(path, **how)
    assert str(caught.value) == (f'{path}: /season: a {kind} is there; the variable "season" cannot be stored beside it')
    assert (caught.value.file, caught.value.object) == (path, "/season")
    assert open(path, "rb").read() == before


@pytest.mark.parametrize("blocks, encoding, want", [
    ({"t": 2, "y": 3}, {}, (2, 3)),  # the last along each may be shorter
    ({"t": 2, "y": 3}, {"chunks": (5, 7)}, (5, 7)),
    ({"t": (2, 3), "y": 7}, {}, None),  # the last is longer
    ({"t": (1, 2, 2), "y": 7}, {}, None),
    ({"t": 5, "y": 7}, {}, None),  # one block
    (None, {}, None),
])
def test_chunks_of_dask(tmp_path, blocks, encoding, want):
    """Blocks of one shape are the chunks of the variable, unless its encoding has some."""
    pytest.importorskip("dask")
    ds = xr.Dataset({"v": (("t", "y"), np.arange(35.0).reshape(5, 7))})
    made = ds.chunk(blocks) if blocks else ds
    made.datarep.save(tmp_path / "a.drep", encoding={"v": encoding} if encoding else None)
    with dr.open(tmp_path / "a.drep") as f:
        assert f["v"].chunks == want and f["v"][:].tolist() == ds.v.values.tolist()
