# SPDX-License-Identifier: MIT
"""Dimension scales that datarep.h5 attaches: xarray's engine names dimensions after them as libnetcdf does in the
file that h5py writes by the same program."""
import datarep as dr
import datarep.h5 as look_alike
import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
pytest.importorskip("netCDF4")
xr = pytest.importorskip("xarray")
import datarep.xarray  # noqa: E402

BARE = "This is a netCDF dimension but not a netCDF variable.%10d"


def program(h, path):
    with h.File(path, "w", track_order=True) as f:
        f["x"], f["x2"], f["y"] = np.arange(3.), np.arange(3.) * 2, np.arange(2)
        f["x"].make_scale("longitude")
        f["x2"].make_scale()
        f["y"].make_scale("y")
        f["v"] = np.arange(6.).reshape(3, 2)
        for d, scale in ((0, "x"), (0, "x2"), (1, "y")):  # the last one names it
            f["v"].dims[d].attach_scale(f[scale])
        f["bare"] = np.zeros(4, "f4")
        f["bare"].make_scale(BARE % 4)
        f["b"] = np.arange(8).reshape(4, 2)
        f["b"].attrs["units"] = "K"
        f["b"].dims[0].attach_scale(f["bare"])
        f["b"].dims[1].attach_scale(f["y"])
        f.create_dataset("time", (2,), "f8", maxshape=(None,), chunks=(8,))[:] = [5, 6]
        f["time"].make_scale("time")
        for name in ("t", "late"):  # libnetcdf gives fill for what a variable lacks of an unlimited dimension
            f.create_dataset(name, (2 if name == "t" else 1,), "f8", maxshape=(None,), chunks=(8,), fillvalue=-1)
            f[name][:] = 7
            f[name].dims[0].attach_scale(f["time"])
        f["g/v"] = np.ones(3)
        f["g/v"].dims[0].attach_scale(f["x"])
        f["g/twice"] = np.eye(3)
        for d in (0, 1):
            f["g/twice"].dims[d].attach_scale(f["x"])
        f.attrs["title"] = "scales"


def shown(path, engine, group):
    with xr.open_dataset(path, engine=engine, group=group, decode_cf=False) as ds:
        return dict(ds.sizes), dict(ds.attrs), sorted(ds.encoding.get("unlimited_dims", ())), {
            name: (v.dims, v.dtype.str, {k: str(a) for k, a in v.attrs.items()}, v.values.tolist())
            for name, v in ds.variables.items()}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scales")
    program(h5py, folder / "a.h5")
    program(look_alike, folder / "a.drep")
    dr.import_(folder / "a.h5", folder / "imported.drep")  # which keeps the two scales of v as attributes
    return folder


@pytest.mark.parametrize("group", [None, "g"])
@pytest.mark.parametrize("name", ["a.drep", "imported.drep"])
def test_engine_names_dimensions_as_libnetcdf(files, name, group):
    wanted = shown(files / "a.h5", "netcdf4", group)
    assert wanted[0] == ({"x": 3} if group else {"x": 3, "x2": 3, "y": 2, "bare": 4, "time": 2})
    assert shown(files / name, "datarep", group) == wanted


def test_journey(files, tmp_path):
    """From the look-alike to xarray, to a file, to netCDF, and back by its libraries."""
    with xr.open_dataset(files / "a.drep", engine="datarep") as ds:
        ds.load()
    with xr.open_dataset(files / "a.h5", engine="netcdf4") as wanted:
        wanted.load()
    ds.datarep.save(tmp_path / "s.drep")
    ds.to_netcdf(tmp_path / "n.nc", engine="netcdf4")
    more = {} if "netcdf" in dr.versions() else {"no_verify": True}  # a wheel has no module for netCDF
    dr.export(tmp_path / "s.drep", tmp_path / "s.nc", **more)
    assert dr.export(files / "a.drep", tmp_path / "a.nc", **more).strip() == ""  # the scale without a variable is no loss
    for path in ("n.nc", "s.nc", "a.nc"):
        with xr.open_dataset(tmp_path / path, engine="netcdf4") as got:
            xr.testing.assert_identical(got.load(), wanted)
    with h5py.File(tmp_path / "a.nc") as f:
        assert [s.name for s in f["v"].dims[0].values()] == ["/x", "/x2"] and list(f["b"].dims[0]) == [BARE % 4]


def test_parts_are_written_along_scales(files, tmp_path):
    path = tmp_path / "a.drep"
    path.write_bytes((files / "a.drep").read_bytes())
    more = xr.Dataset({"t": ("time", [8.0]), "new": (("time", "y"), [[1, 2]], {"_FillValue": 0})}, {"time": [7.0]})
    more.datarep.save(path, append_dim="time")
    xr.Dataset({"v": (("x2", "y"), [[-1.0, -2.0]])}).datarep.save(path, region={"x2": slice(1, 2)})
    with xr.open_dataset(path, engine="datarep", mask_and_scale=False) as ds:
        assert ds["time"].values.tolist() == [5, 6, 7] and ds["t"].values.tolist() == [7, 7, 8]
        assert ds["v"].values.tolist() == [[0, 1], [-1, -2], [4, 5]]
        assert ds["new"].values.tolist() == [[0, 0], [0, 0], [1, 2]]
    with pytest.raises(ValueError, match="has dimensions .*x2.*, the variable .*x"):
        xr.Dataset({"v": (("x", "y"), np.ones((3, 2)))}).datarep.save(path, "a")


def test_what_is_no_scale(tmp_path):
    """References to datasets that are gone or of other lengths name nothing; attributes of these names are kept."""
    with look_alike.File(tmp_path / "a.drep", "w") as f:
        f["x"], f["short"], f["v"] = np.arange(3), np.arange(2), np.ones((3, 3))
        f["v"].dims[0].attach_scale(f["x"])
        f["v"].dims[1].attach_scale(f["short"])
        del f["x"]
        f["w"] = [1]
        f["w"].attrs.update(CLASS="IMAGE", NAME="of an image", DIMENSION_LIST=[1, 2])
        f["w"].attrs["_Netcdf4Dimid"] = f.attrs["_NCProperties"] = 1  # as h5netcdf writes them
    with xr.open_dataset(tmp_path / "a.drep", engine="datarep") as ds:
        assert ds["v"].dims == ("v_0", "v_1") and ds["v"].attrs == {}
        assert ds["w"].attrs["NAME"] == "of an image" and len(ds["w"].attrs) == 3 and not ds.attrs


@pytest.mark.parametrize("name", [None, "", "x", "other"])
def test_names_of_imported_scales(tmp_path, name):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"], f["v"] = np.arange(3), np.ones(3)
        f["x"].make_scale(name or "")
        if name is None:
            del f["x"].attrs["NAME"]
        f["v"].dims[0].attach_scale(f["x"])
        wanted = list(f["v"].dims[0])
    dr.import_(tmp_path / "a.h5", tmp_path / "a.drep")
    with look_alike.File(tmp_path / "a.drep") as f:
        assert list(f["v"].dims[0]) == wanted
    with xr.open_dataset(tmp_path / "a.drep", engine="datarep") as ds:
        assert ds["x"].attrs == {} and ds["v"].dims == ("x",)
