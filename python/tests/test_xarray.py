# SPDX-License-Identifier: MIT
"""Datasets of xarray in files, and dask's arrays in them."""
import io
import os
import pickle
import shutil
import subprocess
import sys

import datarep as dr
import numpy as np
import pytest

xr = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")
import datarep.xarray  # noqa: E402, F401

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.drep")


def field(n=6):
    values = np.arange(n * 4 * 5, dtype="f4").reshape(n, 4, 5)
    return xr.Dataset({"t": (("time", "y", "x"), values, {"units": "K"}),
                       "names": ("y", ["a", "bc", "", "héé"])},
                      {"time": pd.date_range("2000-01-01", periods=n), "x": np.arange(5) * 10},
                      {"title": "a field"})


def test_round_trip_and_guess(path):
    field().datarep.save(path)
    with xr.open_dataset(path) as ds:  # by what the file begins with
        xr.testing.assert_identical(ds.load(), field())
    with open(path, "rb") as f, xr.open_dataset(f) as ds:
        xr.testing.assert_identical(ds.load(), field())
    backend = datarep.xarray.Backend()
    assert backend.guess_can_open(path) and not backend.guess_can_open(__file__)


def test_elements_are_read_when_they_are_asked_for(path, monkeypatch):
    field().datarep.save(path)
    read = []
    own = dr.Dataset._read
    monkeypatch.setattr(dr.Dataset, "_read",
                        lambda ds, sel, *more: read.append((ds.name, sel.out)) or own(ds, sel, *more))
    with xr.open_dataset(path, engine="datarep") as ds:
        assert "/t" not in [name for name, _ in read]
        part = ds["t"][1:3, ::2]
        assert not part.variable._in_memory and "/t" not in [name for name, _ in read]
        part.load()
        assert [out for name, out in read if name == "/t"] == [(2, 2, 5)]


@pytest.mark.parametrize("key", [
    dict(time=2), dict(time=slice(None, None, -2)), dict(x=[4, 0, 0], y=[1, 3]), dict(time=-1, x=[2]),
    dict(x=xr.DataArray([1, 2], dims="p"), y=xr.DataArray([0, 3], dims="p")),
    dict(time=xr.DataArray([[5, 0]], dims=("p", "q")), x=xr.DataArray([[1, 1]], dims=("p", "q"))),
    dict(time=slice(3, 3)), dict(x=np.array([], dtype=int))])
def test_indexing(path, key):
    field().datarep.save(path)
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.isel(key).load(), field().isel(key))


@pytest.mark.parametrize("unit", ["s", "D", "ms", "ns"])
def test_dates_of_the_core_are_decoded_by_xarray(path, unit):
    dates = np.array(["2001-02-03", "NaT"], f"M8[{unit}]")
    with dr.open(path, "w") as f:
        f.dims["time"] = 2
        f.create("time", dates, dims=["time"])
    with xr.open_dataset(path, engine="datarep", decode_cf=False) as ds:
        assert ds["time"].dtype == "i8" and ds["time"].attrs["units"].endswith("since 1970-01-01")
    with xr.open_dataset(path, engine="datarep") as ds:
        assert (ds["time"].values[0] == dates[0]) and np.isnat(ds["time"].values[1])


def test_encodings_are_kept_and_honoured(path, tmp_path):
    encoding = {"t": {"chunks": (1, 4, 5), "filters": "shuffle,zstd:3", "_FillValue": -1.0,
                      "datarep": "external32"}}
    field().datarep.save(path, encoding=encoding, unlimited_dims=["time"])
    other = str(tmp_path / "b.drep")
    with xr.open_dataset(path, engine="datarep") as ds:
        assert ds.encoding["unlimited_dims"] == {"time"}
        ds.datarep.save(other)
    for name in (path, other):
        with dr.open(name) as f:
            t = f["t"]
            assert (t.chunks, t.filters, t.fillvalue, t.datarep, t.maxshape) == (
                (1, 4, 5), "shuffle,zstd:3", -1.0, "external32", (None, 4, 5))


def test_append(path):
    whole = field(6)
    whole.isel(time=slice(0, 2)).datarep.save(path, unlimited_dims="time")
    rest = whole.isel(time=slice(2, None)).drop_vars("names")
    rest.isel(time=slice(0, 1)).datarep.save(path, append_dim="time")
    rest.isel(time=slice(1, None)).chunk(time=2).datarep.save(path, "a", append_dim="time")
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), whole)
    with pytest.raises(ValueError, match="cannot grow"):
        whole.drop_vars("names").isel(x=[0]).datarep.save(path, append_dim="x")


def test_a_dimension_that_is_not_there(path):
    field(2).datarep.save(path, unlimited_dims="time")
    with pytest.raises(ValueError, match="no dimension 'z' to append along"):
        field(2).datarep.save(path, append_dim="z")
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), field(2))


def test_a_region(path):
    whole = field(6)
    whole.assign(t=whole["t"] * 0).datarep.save(path)
    part = whole[["t"]].isel(time=slice(2, 4)).drop_vars(["x", "time"])
    part.datarep.save(path, region={"time": slice(2, 4)})
    with xr.open_dataset(path, engine="datarep") as ds:
        assert (ds["t"][2:4].values == whole["t"][2:4].values).all()
        assert not ds["t"][:2].values.any() and not ds["t"][4:].values.any()
    with pytest.raises(ValueError, match="length 2"):
        part.datarep.save(path, region={"time": slice(0, 3)})


def test_groups(path):
    field(3).datarep.save(path, group="a/b")
    field(5).datarep.save(path, "a", group="c")
    for group, n in (("a/b", 3), ("c", 5)):
        with xr.open_dataset(path, engine="datarep", group=group) as ds:
            xr.testing.assert_identical(ds.load(), field(n))


def test_an_error_leaves_the_file_as_it_was(path):
    field(3).datarep.save(path)
    wrong = field(3).assign(bad=("z", np.array([object()], dtype=object)))
    with pytest.raises((ValueError, TypeError)):
        wrong.datarep.save(path, "w")
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), field(3))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_reads(path, scheduler):
    field().datarep.save(path, encoding={"t": {"chunks": (1, 4, 5)}})
    with xr.open_dataset(path, engine="datarep", chunks={}) as ds:
        assert ds["t"].chunks == ((1,) * 6, (4,), (5,))
        with dask.config.set(scheduler=scheduler, num_workers=2):
            xr.testing.assert_allclose(ds["t"].mean("time").compute(), field()["t"].mean("time"))


def test_dask_writes_with_threads(path):
    big = xr.Dataset({"v": (("i", "j"), np.random.default_rng(1).random((200, 30)))}).chunk(i=7)
    with dask.config.set(scheduler="threads", num_workers=4):
        big.datarep.save(path, encoding={"v": {"chunks": (10, 30), "filters": "shuffle,zstd:1"}})
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), big.compute())
    with dask.config.set(scheduler="processes"):
        with pytest.raises(NotImplementedError, match="threads"):
            big.datarep.save(io.BytesIO())


WORKERS = """
import os, sys
import datarep as dr, datarep.xarray, numpy as np, xarray as xr
from dask.distributed import Client, LocalCluster

def row(ds, i):
    return os.getpid(), ds[i].tolist()

def region(k, path):
    part = xr.Dataset({"v": (("i", "j"), np.full((2, 3), k + 1.0))})
    part.datarep.save(path, region={"i": slice(2 * k, 2 * k + 2)}, hints={"drep_lock_wait": 60})
    return os.getpid()

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        with dr.open(sys.argv[1]) as f:
            ds = f["t"]
            with dr.open(sys.argv[1], "a") as g:  # workers read the commit of the handle
                g["t"][...] = 0
            got = client.gather(client.map(lambda i, ds: row(ds, i), range(6), ds=ds))
            assert [r for _, r in got] == ds[...].tolist() != np.zeros(ds.shape).tolist()
            assert os.getpid() not in {pid for pid, _ in got}
        with xr.open_dataset(sys.argv[1], engine="datarep", chunks={"time": 2}) as x:
            assert (x["t"].mean("time").compute() == 0).all()
            later = (x["t"] + x["x"]).persist()
            assert int(later.sum()) == 6 * 4 * 100
            x.datarep.save(sys.argv[1] + ".2")  # each worker writes chunks
            # Not of what was persisted: for that dask 2024.12 fails, whoever stores it.
            delayed = (x["t"] + x["x"]).to_dataset(name="t").datarep.save(sys.argv[1] + ".3", compute=False)
            delayed.compute()
        made = xr.Dataset({"v": (("i", "j"), np.zeros((8, 3)))}, {"i": np.arange(8)})
        made.datarep.save(sys.argv[1] + ".4", encoding={"v": {"chunks": (8, 3)}})
        # Regions of one chunk, by tasks that save themselves.
        for pid in client.gather(client.map(region, range(4), path=sys.argv[1] + ".4")):
            assert pid != os.getpid()
"""


def test_distributed_workers(path, tmp_path):
    """Handles and lazy variables go to the workers of a cluster, which are processes of their own, and
    each worker writes chunks or a region when it is its turn."""
    pytest.importorskip("distributed")
    field().datarep.save(path, encoding={"t": {"chunks": (1, 4, 5)}})
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    package = os.path.dirname(os.path.dirname(dr.__file__))
    done = subprocess.run([sys.executable, str(script), path], text=True, capture_output=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": package, "DASK_TEMPORARY_DIRECTORY": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    zero = field()
    zero["t"][...] = 0
    with xr.open_dataset(path + ".2", engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), zero)
    with xr.open_dataset(path + ".3", engine="datarep") as ds:
        assert (ds["t"] == field()["x"]).all()
    with dr.open(path + ".4") as f:
        assert f["v"][:, 0].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
        assert f.log()[-1].number >= 5 and dr.check(path + ".4").sound


def test_compute_later(path):
    later = field().chunk(time=1).datarep.save(path, compute=False)
    later.compute(scheduler="threads")
    with xr.open_dataset(path, engine="datarep") as ds:
        xr.testing.assert_identical(ds.load(), field())


def test_pickles(path):
    field().datarep.save(path)
    with xr.open_dataset(path, engine="datarep") as ds:
        with pickle.loads(pickle.dumps(ds)) as other:
            xr.testing.assert_identical(other.load(), field())


def test_pandas_and_structs(path):
    table = pd.DataFrame({"when": [1, 2, 3], "value": [0.5, np.nan, 2.5]})
    with dr.open(path, "w") as f:
        f["rows"] = table.to_records(index=False)
    with dr.open(path) as f:
        pd.testing.assert_frame_equal(pd.DataFrame(f["rows"][...]), table)


def test_xarray_finds_the_engine_of_an_installed_package(path, tmp_path):
    entries = os.path.join(ROOT, "python", "entry_points.txt")
    info = tmp_path / "datarep-0.dist-info"
    info.mkdir()
    shutil.copy(entries, info)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: datarep\nVersion: 0\n")
    field().datarep.save(path)
    code = "import sys, xarray as xr; ds = xr.open_dataset(sys.argv[1]); print(ds.title); ds.datarep.save"
    package = os.path.dirname(os.path.dirname(dr.__file__))
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": f"{tmp_path}:{package}"})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a field\n"


@pytest.mark.parametrize("key", [np.s_[::-2], np.s_[[4, 0, 4]], np.s_[3], np.s_[:, [3, 1], ::2],
                                 np.s_[[0, 5], 1, [4, 4, 0]], np.s_[2:2], np.s_[-1, -4, -5]])
def test_keys_give_what_arrays_give(path, key):
    field().datarep.save(path, encoding={"t": {"chunks": (2, 3, 2), "filters": "shuffle,deflate:1"}})
    with xr.open_dataset(path) as ds:
        xr.testing.assert_identical(ds.t[key].compute(), field().t[key])


def test_a_dataset_shorter_than_its_dimension(path):
    with dr.open(path, "w") as f:
        f.dims["n"] = None
        short = f.create("short", dtype="f4", dims=["n"], fill=-1)
        f.create("long", dtype="i4", dims=["n"]).append(np.arange(5))
        short.append(np.arange(2))
    with xr.open_dataset(path) as ds:
        assert ds.sizes["n"] == 5
        np.testing.assert_array_equal(ds.short.values, [0, 1, -1, -1, -1])
        np.testing.assert_array_equal(ds.short[[4, 1, 0]].values, [-1, 1, 0])
        np.testing.assert_array_equal(ds.short[xr.DataArray([3, 1], dims="p")].values, [-1, 1])
        assert ds.short[3].values == -1 and ds.short[1].values == 1


def test_append_along_what_the_file_does_not_have(path):
    field().datarep.save(path)
    with pytest.raises(ValueError, match="no dimension 'z'"):
        xr.Dataset({"u": ("z", [1])}).datarep.save(path, mode="a", append_dim="z")
    with xr.open_dataset(path) as ds:
        xr.testing.assert_identical(ds.load(), field())


def test_what_xarray_cannot_hold_is_left_out_with_a_word(path):
    with dr.open(path, "w") as f:
        f["x"] = [1, 2]
        f["none"] = dr.Empty("f4")
        f.create("pairs", dtype=np.dtype(("i2", 2)), shape=3)
    with pytest.warns(UserWarning, match="left out") as said, xr.open_dataset(path) as ds:
        assert list(ds.variables) == ["x"]
    assert sorted(str(w.message).split()[0] for w in said) == ["/none", "/pairs"]


def test_variables_keep_their_order(path):
    ds = xr.Dataset({n: ((), i) for i, n in enumerate("azb")}).assign_coords(c=4)
    ds.datarep.save(path)
    with xr.open_dataset(path, engine="datarep") as back:
        assert list(back.variables) == ["a", "z", "b", "c"]


def test_bytes_are_saved_as_texts(path):
    for chunks in (None, {"x": 1}):
        ds = xr.Dataset({"s": ("x", [b"foo", "é".encode()])})
        (ds if chunks is None else ds.chunk(chunks)).datarep.save(path, encoding={"s": {"dtype": str}})
        with xr.open_dataset(path, engine="datarep") as back:
            # xarray 2025 makes it "<U3", of what netCDF4 reads, too.
            assert np.dtype(back["s"].encoding["dtype"]).kind == "U" and back["s"].values.tolist() == ["foo", "é"]
    with pytest.raises(UnicodeDecodeError):
        xr.Dataset({"s": ("x", [b"\xff"])}).datarep.save(path, encoding={"s": {"dtype": str}})


def test_fletcher32_is_kept_for_netcdf(path, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    wanted = {"zlib": True, "complevel": 9, "shuffle": True, "fletcher32": True, "chunksizes": (5,)}
    xr.Dataset({"x": ("x", np.arange(10.0)), "y": ("x", np.arange(10.0))}).datarep.save(
        path, encoding={"x": wanted, "y": {"chunksizes": (5,), "fletcher32": True}})
    dr.export(path, tmp_path / "a.nc", no_verify="netcdf" not in dr.versions())
    with netcdf.Dataset(tmp_path / "a.nc") as d:
        filters = d["x"].filters()
        assert filters["zlib"] and filters["shuffle"] and filters["fletcher32"] and filters["complevel"] == 9
        assert d["y"].filters()["fletcher32"] and not d["y"].filters()["zlib"]
    dr.import_(tmp_path / "a.nc", tmp_path / "b.drep")
    for name in (path, tmp_path / "b.drep"):
        with xr.open_dataset(name, engine="datarep") as ds:
            assert {k: ds["x"].encoding[k] for k in wanted} == wanted and ds["y"].encoding["fletcher32"]
            ds.to_netcdf(tmp_path / "c.nc", engine="netcdf4")


@pytest.mark.parametrize("asked", [True, False])
def test_compression_by_name(path, asked):
    """netCDF4's and h5netcdf's word for a filter; with the encoding of another file it is taken if we have it."""
    for encoding, filters in (
            ({"compression": "zlib"}, "shuffle,deflate:4"),
            ({"compression": "gzip", "complevel": 7}, "shuffle,deflate:7"),
            ({"compression": "zstd", "shuffle": False}, "zstd:4"), ({"compression": "lzf"}, "shuffle,lzf"),
            ({"compression": None}, ""), ({"compression": "szip"}, None),
            ({"compression": "zstd", "filters": "lz4:1"}, "lz4:1"),
            ({"compression": "zstd", "zlib": True}, "shuffle,deflate:4")):
        ds = xr.Dataset({"v": ("x", np.arange(100.0))})
        if not asked:
            ds["v"].encoding.update(encoding)
        if filters is None and asked:
            with pytest.raises(ValueError, match="compression 'szip' is none of zlib, gzip, zstd, lzf"):
                ds.datarep.save(path, encoding={"v": encoding})
            continue
        ds.datarep.save(path, encoding={"v": encoding} if asked else None)
        with dr.open(path) as f:
            assert str(f["v"].filters or "") == (filters or ""), encoding


def test_names_with_slashes_are_refused(path):
    """They would lead into a group, where the variable is not found again."""
    for ds in (xr.Dataset({"PASS/FAIL": ("x", [1])}), xr.Dataset({"v": ("a/b", [1])}),
               xr.Dataset(coords={"a/b": [1]})):
        with pytest.raises(ValueError, match="slashes '/' are not allowed"):
            ds.datarep.save(path)
        with pytest.raises(ValueError, match="slashes '/' are not allowed"):
            datarep.xarray.save_groups({"/": ds}, path)
        assert not os.path.exists(path)


def test_several_datasets_need_several_files(tmp_path):
    ds = xr.Dataset({"a": 1})
    for datasets, paths, error, text in (
            ([ds, ds], ["same", "same"], ValueError, "cannot use mode"), ([ds, ds], ["one"], ValueError, "same length"),
            ([ds["a"]], ["one"], TypeError, "supports writing Dataset")):
        with pytest.raises(error, match=text):
            datarep.xarray.save_mfdataset(datasets, [tmp_path / p for p in paths])


def test_a_path_may_have_methods_of_files(path):
    class Path(str):
        read = None

        def __fspath__(self):
            return str(self)

    xr.Dataset({"a": 1}).datarep.save(Path(path))
    assert os.path.exists(path)


def test_attributes_are_checked_before_a_file_is_made(path):
    for attrs, error, text in (({123: 1}, TypeError, "Invalid name for attr: 123"), ({"": 1}, ValueError, "attr ''"),
                               ({"a": {"b": 1}}, TypeError, "Invalid value for attr 'a': a dict cannot be stored"),
                               ({"a": None}, TypeError, "Invalid value for attr 'a'")):
        with pytest.raises(error, match=text):
            xr.Dataset({"v": 1}, attrs=attrs).datarep.save(path)
        assert not os.path.exists(path)


# ------------------------------------------------------------------------------------ groups

def tree():
    top = field()
    return {"/": top, "/a": xr.Dataset({"v": ("x", np.arange(5.0))}, attrs={"k": 1}),
            "/a/b": xr.Dataset({"w": (("time", "z"), np.ones((6, 2), "i2"))}), "/empty": xr.Dataset()}


def test_groups_are_a_dict_of_datasets(path):
    datarep.xarray.save_groups(tree(), path, encoding={"a/b": {"w": {"filters": "zstd:1", "chunks": (2, 2)}}})
    got = datarep.xarray.open_groups(path)
    assert list(got) == ["/", "/a", "/a/b", "/empty"]
    for name, ds in tree().items():
        xr.testing.assert_identical(got[name].load(), ds)
        got[name].close()
    with dr.open(path) as f:
        assert sorted(f.dims) == ["time", "x", "y"] and list(f["a"].dims) == [] and f["a/b/w"].filters == "zstd:1"
    below = datarep.xarray.open_groups(path, group="a", chunks={})
    assert list(below) == ["/", "/b"] and below["/b"]["w"].chunks == ((2, 2, 2), (2,))
    for ds in below.values():
        ds.close()
    with open(path, "rb") as f:
        assert list(datarep.xarray.open_groups(f)) == list(got)


def test_groups_are_of_one_commit_and_saved_all_or_none(path):
    datarep.xarray.save_groups(tree(), path)
    got = datarep.xarray.open_groups(path)
    with dr.open(path, "a") as f:
        f["a/v"][...] = -1
    assert (got["/a"]["v"] == np.arange(5.0)).all()
    for ds in got.values():
        ds.close()
    before = open(path, "rb").read()
    bad = {**tree(), "/bad": xr.Dataset({"o": ("q", np.array([{}, object()], object))})}
    with pytest.raises((TypeError, ValueError)):
        datarep.xarray.save_groups(bad, path)
    assert open(path, "rb").read() == before
    with pytest.raises(ValueError, match="no such group"):
        datarep.xarray.save_groups(tree(), path, encoding={"/c": {}})
    with pytest.raises(ValueError, match="one group"):
        datarep.xarray.save_groups({"a": xr.Dataset(), "/a/": xr.Dataset()}, path)


class Node:
    """A stand-in for xarray.DataTree where xarray has none: what we use of it."""

    def __init__(self, groups):
        self.groups = groups

    from_dict = classmethod(lambda cls, groups: cls(groups))

    @property
    def subtree(self):
        for path, ds in self.groups.items():
            node = Node({})
            node.path, node.to_dataset = path, lambda inherit, ds=ds: ds
            yield node


def test_trees(path, monkeypatch):
    if not hasattr(xr, "DataTree"):
        with pytest.raises(ImportError, match="open_groups"):
            datarep.xarray.Backend().open_datatree(path)
        monkeypatch.setattr(xr, "DataTree", Node, raising=False)
    made = xr.DataTree.from_dict(tree())
    datarep.xarray.save_groups(made, path)
    got = datarep.xarray.Backend().open_datatree(path)
    found = got.groups if isinstance(got, Node) else {n.path: n.to_dataset(inherit=False) for n in got.subtree}
    for name, ds in tree().items():
        xr.testing.assert_identical(found[name].load(), ds)


def test_virtual_join(tmp_path):
    """A join by rows that name chunks of the sources is what xarray concatenates."""
    pytest.importorskip("netCDF4")
    parts, paths = [], []
    for i, length in enumerate((3, 2, 4)):
        values = np.arange(length * 600.0).reshape(length, 600) + 1e4 * i
        parts.append(xr.Dataset({"t": (("time", "x"), values, {"units": "K"}), "area": ("x", np.ones(600))},
                                {"time": np.arange(10 * i, 10 * i + length), "x": np.arange(600)}))
        paths.append(tmp_path / f"{i}.nc")
        parts[i].to_netcdf(paths[i], engine="netcdf4", unlimited_dims=["time"],
                           encoding={name: {"_FillValue": None} for name in ("t", "area")})
    paths[1] = tmp_path / "1.drep"
    dr.import_(tmp_path / "1.nc", paths[1])
    whole = xr.concat(parts, "time", data_vars="minimal", coords="minimal", compat="equals")
    joined = tmp_path / "all.drep"
    assert "3 files joined along time, which is 9 long" in dr.join(paths, joined, virtual=True)
    with xr.open_dataset(joined, engine="datarep", external=True) as ds:
        xr.testing.assert_identical(ds.load(), whole)
    assert set(datarep.xarray.open_groups(joined, external=True)) == {"/"}
    with xr.open_dataset(joined, engine="datarep") as ds:
        assert ds["time"].values.tolist() == whole["time"].values.tolist()
        with pytest.raises(dr.Error, match="drep_external.*external=True"):
            ds["t"].load()
    with pytest.raises(dr.Error, match="both source and target"):
        dr.join(paths, paths[0], virtual=True, force=True)
    with pytest.raises(TypeError, match="paths"):
        dr.join(str(paths[0]), joined)
    os.unlink(paths[2])
    with xr.open_dataset(joined, engine="datarep", external=True) as ds:
        assert ds["t"][:5].load().equals(whole["t"][:5])
        with pytest.raises((dr.Error, OSError), match="2.nc"):
            ds["t"].load()
