# SPDX-License-Identifier: MIT
"""Journeys of netCDF and HDF5 files: import, xarray, work, save, export, and netCDF's and HDF5's libraries read
what has become of them.  Nothing changes on the way: values, dtypes, attributes, dimensions, encodings.

DATAREP_FULL=1: every file takes every way; else each a part of them."""
import os
import warnings

import pytest

import datarep as dr

np = pytest.importorskip("numpy")
xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
netCDF4 = pytest.importorskip("netCDF4")
import datarep.xarray  # noqa: E402

FULL = "DATAREP_FULL" in os.environ
EXAMPLES = os.path.join(os.path.dirname(xr.__file__), "tests", "data")
# Of encodings, what a file says about storing a variable.
STORED = ("dtype", "_FillValue", "missing_value", "scale_factor", "add_offset", "units", "calendar", "zlib",
          "complevel", "shuffle", "fletcher32", "chunksizes", "_Unsigned")

# A wheel has no module for netCDF: no classic files, and export does not ask libnetcdf.
HAS_NETCDF = "netcdf" in dr.versions()
EXPORT = {} if HAS_NETCDF else {"no_verify": True}

pytestmark = pytest.mark.filterwarnings("ignore")


# ------------------------------------------------------------------------------- the files


def numbers(path, model="NETCDF4"):
    """Packed numbers, fills, times of several calendars, flags, texts, attributes of all types."""
    four = model == "NETCDF4"
    with netCDF4.Dataset(path, "w", format=model) as d:
        d.createDimension("time", None)
        d.createDimension("y", 3)
        d.createDimension("x", 4)
        d.createDimension("bounds", 2)
        d.createDimension("chars", 5)
        options = {"zlib": True, "complevel": 5, "chunksizes": (1, 3, 4), "fletcher32": True} if four else {}
        v = d.createVariable("zz", "i2", ("time", "y", "x"), fill_value=-999, **options)
        v.setncatts({"scale_factor": 0.5, "add_offset": np.float32(20), "units": "degC", "valid_range":
                     np.array([-500, 500], "i2"), "count": np.int32(7), "long_name": "température"})
        v.set_auto_maskandscale(False)
        v[:] = np.arange(24).reshape(2, 3, 4) * 10
        v[1, 2, 3] = -999
        f = d.createVariable("a", "f4", ("time", "y", "x"), fill_value=np.float32(1e20))
        f[:] = np.linspace(0, 1, 24).reshape(2, 3, 4)
        f.cell_methods, f.missing_value = "time: mean", np.float32(1e20)
        t = d.createVariable("time", "f8", ("time",))
        t.units, t.calendar, t.bounds = "days since 2000-01-01", "noleap", "time_bounds"
        t[:] = [59.25, 60.5]
        d.createVariable("time_bounds", "f8", ("time", "bounds"))[:] = [[59, 59.5], [60, 61]]
        h = d.createVariable("when", "i4", ("time",), fill_value=-1)
        h.units, h.calendar = "hours since 1990-01-01 00:00:00", "standard"
        h[:] = [24, 36]
        y = d.createVariable("y", "f8", ("y",))
        y[:], y.units, y.axis = [10, 20, 30], "degrees_north", "Y"
        g = d.createVariable("flags", "i1", ("y",))
        g[:] = [0, 1, 2]
        g.setncatts({"flag_values": np.array([0, 1, 2], "i1"), "flag_meanings": "none some all"})
        c = d.createVariable("word", "S1", ("x", "chars"))
        c[:] = netCDF4.stringtochar(np.array([b"ab", b"", b"abcde", b"x"], "S5"))
        d.createVariable("scalar", "f8", ())[...] = 4.5
        if four:
            d.createVariable("name", str, ("y",))[:] = np.array(["a", "", "héé"], object)
            d.createVariable("big", "u8", ("y",), chunksizes=(2,))[:] = np.array([0, 2**63, 2**64 - 1], "u8")
            d.createVariable("bytes", "u1", ("y",), fill_value=255)[:] = [1, 2, 255]
            d.setncattr_string("texts", ["one", "zwei", ""])
            d.setncatts({"long": 2**40, "unsigned": np.uint16(5), "ubytes": np.array([1, 255], "u1")})
        d.setncatts({"title": "a journey", "empty": "", "version": np.int32(3), "real": np.float32(0.1),
                     "double": 0.1, "list": np.array([1, 2, 3], "i4"), "byte": np.int8(-1), "Conventions": "CF-1.8"})


def by_xarray(engine, **options):
    def make(path):
        time = np.array(["2001-01-01T06:30", "2001-01-02T12:00", "2001-01-03T00:00"], "M8[ns]")
        ds = xr.Dataset(
            {"temp": (("time", "x"), np.arange(6.0).reshape(3, 2), {"units": "K"}),
             "lag": ("time", np.array([1, 2, 3], "m8[h]").astype("m8[ns]")),
             "name": ("x", np.array(["ab", "c"], "U2")), "flag": ("x", [True, False]),
             "z": ("x", np.array([1.5, np.nan], "f4"))},
            {"time": time, "x": np.array([5, 7], "i4"), "label": ("time", list("abc"))}, {"history": "made"})
        ds["temp"].encoding.update(options)
        ds.to_netcdf(path, engine=engine, unlimited_dims=["time"])
    return make


def by_h5py(path):
    """Scales of HDF5, as programs make them that know no netCDF."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", track_order=True) as f:
        lat = f.create_dataset("lat", data=np.array([1.0, 2.0], "f4"))
        lon = f.create_dataset("lon", data=np.arange(3.0))
        lat.make_scale("lat")
        lon.make_scale("lon")
        data = f.create_dataset("data", data=np.arange(6, dtype="i2").reshape(2, 3), chunks=(1, 3), maxshape=(2, None),
                                compression="gzip", compression_opts=3, shuffle=True)
        data.dims[0].attach_scale(lat)
        data.dims[1].attach_scale(lon)
        data.attrs["units"], data.attrs["n"] = "m", np.int16(4)
        f.attrs["note"] = "text"


def example(name):
    def make(path):
        with open(os.path.join(EXAMPLES, name), "rb") as source, open(path, "wb") as target:
            target.write(source.read())
    return make


FILES = {
    "netcdf4": numbers,
    "classic": lambda path: numbers(path, "NETCDF3_CLASSIC"),
    "offset64": lambda path: numbers(path, "NETCDF3_64BIT_OFFSET"),
    "netcdf4_classic": lambda path: numbers(path, "NETCDF4_CLASSIC"),
    "by_netcdf4": by_xarray("netcdf4", zlib=True, complevel=2, chunksizes=(1, 2)),
    "by_h5netcdf": by_xarray("h5netcdf", zlib=True, shuffle=False),
    "by_scipy": by_xarray("scipy"),
    "by_h5py": by_h5py,
    "example_1": example("example_1.nc"),
    "bears": example("bears.nc"),
}
SOME = ("netcdf4", "classic", "by_netcdf4", "by_h5netcdf", "by_h5py", "bears")  # without DATAREP_FULL
WORKS = {
    "as it is": lambda ds: ds,
    "mean": lambda ds: ds.mean(sorted(ds.dims)[0], keep_attrs=True),
    "transpose": lambda ds: ds.transpose(*sorted(ds.dims, reverse=True)),
    "expand_dims": lambda ds: ds.expand_dims("member"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The paths of a file and of its import, each made once."""
    folder, known = tmp_path_factory.mktemp("journeys"), {}

    def get(name):
        if name not in known:
            known[name] = str(folder / f"{name}.nc"), str(folder / f"{name}.drep")
            if name in ("example_1", "bears") and not os.path.isdir(EXAMPLES):
                pytest.skip(f"xarray's examples are not in {EXAMPLES}")
            FILES[name](known[name][0])
            if is_classic(known[name][0]) and not HAS_NETCDF:
                known[name] = None
        if known[name] is None:
            pytest.skip("the command has no module for netCDF, and the file is classic")
        if not os.path.exists(known[name][1]):
            dr.import_(*known[name])
        return known[name]
    return get


# --------------------------------------------------------------------------- what is compared


def is_classic(path):
    with open(path, "rb") as f:
        return f.read(3) == b"CDF"


def read(path, engine, raw):
    """A dataset with all elements, as numbers of the file or decoded; closed again."""
    options = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
    with xr.open_dataset(path, engine=engine, decode_cf=not raw, **options) as ds:
        ds.load()
    for v in ds.variables.values():
        if v.dtype == bool:
            v.encoding.pop("dtype", None)  # with it, xarray saves truth values as numbers
    return ds


def attributes(v):
    """The attributes, with one spelling of units of time."""
    made = {k: plain(a) for k, a in v.attrs.items()}
    if " since " in str(v.attrs.get("units", "")):
        unit, _, start = v.attrs["units"].partition(" since ")
        made["units"] = unit, np.datetime64(pd.Timestamp(start))
    return made


def plain(value):
    """An attribute, so that equal ones are equal: its kind, dtype, shape and elements."""
    if isinstance(value, (str, bytes)):
        return type(value).__name__, value
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        return "texts", list(value)
    array = np.asarray(value)
    return array.dtype.newbyteorder("=").str, array.shape, str(array.tolist())  # NaN is NaN


def same(got, wanted, stored=True, order=True):
    """Nothing but byte orders differs between two datasets."""
    assert list(map(str, got.sizes)) and dict(got.sizes) == dict(wanted.sizes)
    assert set(got.variables) == set(wanted.variables)
    if order:
        assert list(got.variables) == list(wanted.variables)
    assert attributes(got) == attributes(wanted)
    for name, w in wanted.variables.items():
        g = got.variables[name]
        assert g.dims == w.dims, name
        assert g.dtype.newbyteorder("=") == w.dtype.newbyteorder("="), name
        np.testing.assert_array_equal(g.values, w.values, err_msg=name)
        assert attributes(g) == attributes(w), name
        if stored:
            assert storing(g) == storing(w), name


def storing(v):
    made = {}
    for key in STORED:
        value = v.encoding.get(key)
        if value is None or value is False or key == "complevel" and not v.encoding.get("zlib"):
            continue
        if key == "units":
            value = str(pd.Timestamp(value.partition(" since ")[2]))
        if key == "dtype" and value is not str:
            value = np.dtype(value).newbyteorder("=").str
        made[key] = value if isinstance(value, (str, type, bool)) else plain(value)
    if "zlib" not in made:
        made.pop("shuffle", None)  # netCDF tells of it for all that is chunked
    return made


# ------------------------------------------------------------------------------ the journeys


@pytest.mark.parametrize("name", FILES if FULL else SOME)
def test_an_import_is_the_file(made, name):
    source, ours = made(name)
    for raw in (True, False):
        same(read(ours, "datarep", raw), read(source, "netcdf4", raw), not is_classic(source), name != "by_h5netcdf")


@pytest.mark.parametrize("name", FILES if FULL else SOME)
def test_it_comes_back(made, name, tmp_path):
    """Export of the import, and of what xarray saves of it, which is what xarray saves of the file."""
    source, ours = made(name)
    read(ours, "datarep", False).datarep.save(tmp_path / "s.drep")
    read(source, "netcdf4", False).to_netcdf(tmp_path / "b.nc")
    for path, wanted in ((ours, source), (tmp_path / "s.drep", tmp_path / "b.nc")):
        dr.export(path, tmp_path / "out.nc", **EXPORT)
        for engine in ("netcdf4", "h5netcdf")[:1 if is_classic(wanted) or not FULL else 2]:
            # As numbers netCDF has truth values, of which h5netcdf sees HDF5's type.
            for raw in (False,) if engine == "h5netcdf" else (True, False) if FULL else (True,):
                same(read(tmp_path / "out.nc", engine, raw), read(wanted, engine, raw), not is_classic(source), False)
        os.remove(tmp_path / "out.nc")


def ways():
    """Pairs of a file and of work on it: all, or each file and each work at least once."""
    names, works = list(FILES), list(WORKS)
    return [(n, w) for i, n in enumerate(names) for j, w in enumerate(works)
            if w != "as it is" and (FULL or n in SOME and i % 3 == j - 1)]


@pytest.mark.parametrize("name,work", ways())
def test_work_in_xarray(made, name, work, tmp_path):
    """Import, work, save, export: what netCDF's and HDF5's libraries read is that work on the file itself."""
    source, ours = made(name)
    wanted = WORKS[work](read(source, "netcdf4", False))
    WORKS[work](read(ours, "datarep", False)).datarep.save(tmp_path / "s.drep")
    same(read(tmp_path / "s.drep", "datarep", False), wanted, stored=False)
    dr.export(tmp_path / "s.drep", tmp_path / "s.nc", **EXPORT)
    for engine in ("netcdf4", "h5netcdf"):
        same(read(tmp_path / "s.nc", engine, False), wanted, stored=False, order=False)
    h5py = pytest.importorskip("h5py")
    raw = read(tmp_path / "s.nc", "netcdf4", True)
    with h5py.File(tmp_path / "s.nc") as f:
        for variable in raw.variables:
            if raw[variable].dtype.kind in "iuf":
                np.testing.assert_array_equal(f[variable][()], raw[variable].values)


@pytest.mark.parametrize("name,engine", [(n, e) for i, n in enumerate(FILES) for j, e in enumerate(
    ("netcdf4", "h5netcdf", "scipy")) if FULL or n in SOME and i % 3 == j])
def test_to_netcdf(made, name, engine, tmp_path):
    """What an engine of netCDF writes of an import is what it writes of the file."""
    source, ours = made(name)
    files = []
    for path, by in ((source, "netcdf4"), (ours, "datarep")):
        files.append(tmp_path / f"{by}.nc")
        try:
            read(path, by, False).to_netcdf(files[-1], engine=engine)
        except Exception as error:  # classic files have neither all types nor lists of texts
            files[-1] = type(error)
    if isinstance(files[0], type):
        assert files[0] is files[1]
        return
    for raw in (True, False):
        same(read(files[1], engine, raw), read(files[0], engine, raw), order=False)


@pytest.mark.parametrize("name", list(FILES) if FULL else ["netcdf4"])
def test_to_zarr(made, name, tmp_path):
    pytest.importorskip("zarr")
    source, ours = made(name)
    for path, by in ((source, "netcdf4"), (ours, "datarep")):
        read(path, by, False).to_zarr(tmp_path / f"{by}.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got, wanted = (xr.open_zarr(tmp_path / f"{by}.zarr").load() for by in ("datarep", "netcdf4"))
    same(got, wanted, stored=False, order=False)
