# SPDX-License-Identifier: MIT
"""References: zarr, xarray and fsspec read our files by them, and never other values than ours."""
import base64
import glob
import json
import os
import re
import subprocess
import warnings
import zlib

import datarep as dr
import numpy as np
import pytest

fsspec = pytest.importorskip("fsspec")
zarr = pytest.importorskip("zarr")
from datarep.command import find  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
pytestmark = pytest.mark.filterwarnings("ignore")


def refs(*arguments):
    done = subprocess.run([find(), "refs", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def left_out(said):
    """{path: reason}; attributes under "path@name"."""
    found = {}
    for line in said.splitlines():
        match = re.fullmatch(r"datarep: (?:[^:]*\.drep): (.*?): left out: (?:attribute (\S+): )?(.*)", line)
        if match:
            found[match[1] + ("@" + match[2] if match[2] else "")] = match[3]
    return found


def group_of(document):
    return zarr.open(fsspec.get_mapper("reference://", fo=document), mode="r")


class Store(dict):
    """The same store without fsspec, whose version 2022 fails where no chunk is stored."""

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if isinstance(value, str):
            return base64.b64decode(value[7:]) if value.startswith("base64:") else value.encode()
        with open(value[0], "rb") as file:
            file.seek(value[1])
            return file.read(value[2])


def datasets(group, skipped=()):
    """Paths and datasets of a file, but not those at and below these paths."""
    for name in group:
        path = f"{group.name.rstrip('/')}/{name}"
        if path in skipped:
            continue
        item = group[name]
        if isinstance(item, dr.Dataset):
            yield path, item
        elif isinstance(item, dr.Group):
            yield from datasets(item, skipped)


def same(ours, theirs):
    """Equal, bit for bit but for the kinds that NumPy shows in two ways."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype.kind == "O" and theirs.dtype.kind == "S":  # text: str here, bytes there
        pad = [str(x).encode() if isinstance(x, str) else bytes(x) for x in ours.ravel()]
        return [x.rstrip(b" \0") for x in pad] == [x.rstrip(b" \0") for x in theirs.ravel().tolist()]
    if ours.dtype.kind in "US" and theirs.dtype.kind in "US" and ours.dtype.kind != theirs.dtype.kind:
        return [x.encode() if isinstance(x, str) else x for x in ours.ravel().tolist()] == \
               [x.encode() if isinstance(x, str) else x for x in theirs.ravel().tolist()]
    if ours.dtype.kind == "b" and theirs.dtype.kind == "u" or ours.dtype.kind == "V" and theirs.dtype.kind == "u":
        theirs = theirs.astype("?") if ours.dtype.kind == "b" else theirs.view(ours.dtype)
    if ours.dtype.names:
        return ours.dtype.names == theirs.dtype.names and \
            all(same(ours[n], theirs[n]) for n in ours.dtype.names)
    if ours.dtype.kind in "fc":
        return np.array_equal(ours, theirs, equal_nan=True)
    return np.array_equal(ours, theirs)


def compare(path, *options):
    """What zarr reads is what we read; the others are left out by name.  (those read, left out)"""
    status, out, said = refs(*options, path)
    assert status in (0, 1), said
    missing, got = left_out(said), []
    assert status == bool(missing), said
    group = group_of(json.loads(out))
    with dr.open(path) as f:
        assert not any(name.strip("/") + "/.zarray" in json.loads(out)["refs"] for name in missing)
        for name, ds in datasets(f, missing):
            if ds.size > 1 << 28:
                continue
            array = group[name.strip("/")]
            if array.nchunks_initialized < array.nchunks and array.size:
                array = zarr.open(Store(json.loads(out)["refs"]), mode="r")[name.strip("/")]
            assert array.shape[:len(ds.shape)] == ds.shape
            assert same(ds[...], array[...]), (name, ds, array.info)
            if array.size > 1 and ds.ndim and array.shape[0] > 1:
                assert same(ds[1:], array[1:]), name
            got.append(name)
    return got, missing


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
FILTERS = [None, "deflate:4", "shuffle,deflate:1", "zstd:3", "shuffle,zstd:3", "shuffle", "delta,zstd:3",
           "delta,shuffle,deflate:2", "deflate:1,zstd:1"]


def sample(dtype, shape):
    count = int(np.prod(shape))
    if np.dtype(dtype).kind == "b":
        return (np.arange(count) % 3 == 0).reshape(shape)
    array = (np.arange(count) * 37 % 101).astype(dtype).reshape(shape)
    if array.dtype.kind in "fc":
        array.ravel()[::7] = np.nan
        array.ravel()[1::11] = np.inf
    return array


@pytest.mark.parametrize("datarep", ["native", "external32"])
def test_numbers_and_filters(tmp_path, datarep):
    """20 kinds of datasets: each dtype compact, contiguous, chunked with edges, with each filter."""
    path = tmp_path / "a.drep"
    with dr.open(path, "w", datarep=datarep) as f:
        for dtype in NUMBERS:
            f.create(f"compact/{dtype}", sample(dtype, 5), layout="compact")
            f.create(f"scalar/{dtype}", sample(dtype, ()))
            f.create(f"contiguous/{dtype}", sample(dtype, (40, 30)), layout="contiguous")
            for i, filters in enumerate(FILTERS):
                if filters and "delta" in filters and np.dtype(dtype).kind not in "iu":
                    continue
                f.create(f"chunked/{i}/{dtype}", sample(dtype, (40, 30)), chunks=(16, 7), filters=filters)
            f.create(f"empty/{dtype}", dtype=dtype, shape=(0, 3), maxshape=(None, 3))
            f.create(f"fill/{dtype}", dtype=dtype, shape=(50, 60), chunks=(10, 10), fill=sample(dtype, 4)[3])
            f[f"fill/{dtype}"][10:15, 3:33] = sample(dtype, (5, 30))
    got, missing = compare(path, "--inline=100")
    assert not missing and len(got) == sum(1 for _ in datasets(dr.open(path)))
    assert compare(path, "--inline=0")[0] == got
    assert compare(path, "--inline=100000")[0] == got


def test_other_kinds(tmp_path):
    """Text and bytes of fixed length, enumerations, structs without gaps, arrays, sums of HDF5."""
    path = tmp_path / "a.drep"
    point = np.dtype([("x", "<i4"), ("y", ">f8"), ("name", "S5"), ("in", [("a", "u2"), ("b", "c8", (2, 3))])])
    with dr.open(path, "w", datarep="external32") as f:
        f["text"] = np.array([b"north", b"", b"a\xc3\xa9", b"12345678"] * 300, "S8")
        f["enum"] = np.array([0, 1, 1] * 300, dr.enum_dtype({"off": 0, "on": 1}, "u1"))
        f["opaque"] = np.frombuffer(os.urandom(900), "V3")
        points = np.zeros(200, point)
        points["x"], points["y"], points["name"] = np.arange(200), np.arange(200) / 7, b"p"
        points["in"]["b"] = np.arange(6).reshape(2, 3) + 1j
        f.create("points", points, chunks=(64,), filters="zstd:1", placed=False)
        f.create("rows", points["in"]["b"], filters="shuffle,zstd:1", chunks=(50, 2, 3))
        f.create("vectors", dtype=np.dtype(("f4", (3,))), shape=(400,))
        f["vectors"][...] = np.arange(1200, dtype="f4").reshape(400, 3)
    got, missing = compare(path)
    assert not missing and len(got) == 6


def test_left_out(tmp_path):
    """What zarr cannot express is named with the reason, and nothing else is."""
    path = tmp_path / "a.drep"
    big = np.arange(4000, dtype="i4")
    with dr.open(path, "w") as f:
        f.create("ok", big)
        f.create("bitshuffle", big, filters="bitshuffle,zstd:1")
        f.create("lz4", big // 64, filters="lz4")
        f.create("small", big[:10], filters="lz4", chunks=(4,))  # is inline
        f.create("strings", ["a", "bc"])
        f.create("sequences", dtype=dr.vlen_dtype("i4"), shape=2)
        f.create("ibm", big.astype("f8"), datarep="external32")
        f.create("gaps", np.zeros(9, np.dtype([("a", "i1"), ("b", "f8")], align=True)))
        f["group/empty"] = dr.Empty("f4")
        f.create_group("group/.zarray")
        f["group/.zarray/x"] = big
        f[".zattrs"] = big
        f["a*b"] = big
        f["back\\slash"] = big
        f["soft"] = dr.SoftLink("/ok")
        f["other"] = dr.ExternalLink("b.drep", "/x")
        f["ok"].attrs["none"] = dr.Empty("f4")
    got, missing = compare(path)
    assert missing == {
        "/bitshuffle": "numcodecs does not read the filter bitshuffle",
        "/lz4": "numcodecs does not read the filter lz4",
        "/strings": "zarr version 2 has no text of variable length",
        "/sequences": "zarr version 2 has no sequences of variable length",
        "/gaps": "zarr has no structs with gaps",
        "/group/empty": "it has no elements, not even of a shape",
        "/group/.zarray": "the name is one of zarr's own",
        "/group/.zarray/x": "the name is one of zarr's own",
        "/.zattrs": "the name is one of zarr's own",
        "/a*b": "zarr or fsspec takes \\ and * in a name for something else",
        "/back\\slash": "zarr or fsspec takes \\ and * in a name for something else",
        "/other": "zarr has no links to other files",
        "/ok@none": "it has no elements",
        "/soft@none": "it has no elements",
    }
    with pytest.raises(dr.Error, match="bitshuffle.*left out"):
        dr.references(path, strict=True)
    out = tmp_path / "out.json"
    assert refs("--strict", "-o", out, path)[0] == 4 and not out.exists()
    with pytest.warns(dr.ConversionWarning, match="lz4"):
        found = dr.references(path)
    assert same(group_of(found)["soft"][...], big)
    assert json.loads(refs(path)[1]) == found


def test_representations(tmp_path):
    """Formats that NumPy does not have are left out."""
    path = tmp_path / "a.drep"
    with dr.open(path, "w", datarep=dr.Datarep("refs-ibm", base="external32", DOUBLE="ibm-hex64")) as f:
        f["hex"] = np.arange(900.0)
        f["plain"] = np.arange(900, dtype="f4")
        f["quad"] = np.zeros(900, np.longdouble)
    got, missing = compare(path)
    assert got == ["/plain"] and set(missing) == {"/hex", "/quad"}


def test_skipped_filters(tmp_path):
    """Chunks that a compressor did not shorten: most of them, or a few, which are inline then."""
    path = tmp_path / "a.drep"
    noise = np.frombuffer(np.random.default_rng(1).bytes(80000), "i4")
    with dr.open(path, "w") as f:
        for filters in ("deflate:1", "zstd:1", "shuffle,zstd:1", "delta,shuffle,deflate:1"):
            f.create(f"noise/{filters}", noise, chunks=(1000,), filters=filters)
            some = np.where(np.arange(20000) // 1000 % 5 == 2, noise, 7).astype("i4")
            f.create(f"some/{filters}", some, chunks=(1000,), filters=filters)
            most = np.where(np.arange(20000) // 1000 % 5 != 2, noise, 7).astype("i4")
            f.create(f"most/{filters}", most, chunks=(1000,), filters=filters)
    got, missing = compare(path)
    assert len(got) == 12 and not missing


def test_growing_and_overwritten(tmp_path):
    """Short last chunks, contiguous datasets in pieces, with holes, written backwards."""
    path = tmp_path / "a.drep"
    with dr.open(path, "w") as f:
        f.dims["time"] = None
        grows = f.create("grows", dtype="f8", shape=(0, 10), dims=["time", None], chunks=(64, 10), fill=-1)
        grows.append(np.arange(1010.0).reshape(101, 10))
        f.create("holes", dtype="i4", shape=(500, 100), layout="contiguous", fill=9)
        f["holes"][200:300] = np.arange(10000).reshape(100, 100)
        back = f.create("back", dtype="i8", shape=(64, 64), chunks=(8, 64))
        for i in reversed(range(8)):
            back[8 * i:8 * i + 8] = i
    with dr.open(path, "r+") as f:
        f.create("pieces", np.arange(300000).reshape(3000, 100), layout="contiguous")
    with dr.open(path, "r+") as f:
        f["pieces"][1000:1100] = -5
        f["grows"].append(np.ones((1, 10)))
    got, missing = compare(path)
    assert len(got) == 4 and not missing
    assert "/back: note: its chunks are not in the order" in refs(path)[2]


def test_names(tmp_path):
    """Quotes, other scripts, names that look like keys of zarr, and attributes of all kinds."""
    path = tmp_path / "a.drep"
    names = ['"', "'", "é ü", "日本", ".zfoo", "0.0", "0", "a{{b}}", "#x", "a:b", "%41", "\u0001", "x.y", "[1]", "?q"]
    with dr.open(path, "w") as f:
        f.attrs["ti\"tle"] = 'say "x" \\ {{y}} \n é'
        for i, name in enumerate(names):
            f.create_group(name)
            f[name].attrs["n"] = i
            f.create(f"{name}/{name}", np.arange(i, i + 300), attrs={"units": "K", "list": [1.5, 2], "nan": np.nan,
                     "one": [3], "big": 2**63, "inf": np.float32("-inf"), "f": np.float32(0.1), "b": True})
        f["0"].attrs.notes["drep.test"] = "hidden"
    got, missing = compare(path)
    assert len(got) == len(names) and not missing
    group = group_of(dr.references(path))
    assert group.attrs["ti\"tle"] == 'say "x" \\ {{y}} \n é'
    attrs = dict(group["日本/日本"].attrs)
    assert np.isnan(attrs.pop("nan")) and attrs.pop("_ARRAY_DIMENSIONS") == ["phony_dim_0"]
    assert attrs == {"units": "K", "list": [1.5, 2], "one": 3, "big": 2**63, "inf": -np.inf, "f": 0.1, "b": True}
    assert dict(group["0"].attrs) == {"n": 6}


def test_url(tmp_path, monkeypatch):
    """The URL is that of every reference, and never one with a secret."""
    monkeypatch.chdir(tmp_path)
    with dr.open("a.drep", "w") as f:
        f["x"] = np.arange(1000)
    assert dr.references("a.drep")["refs"]["x/0"][0] == str(tmp_path / "a.drep")
    assert dr.references("a.drep", url="a.drep")["refs"]["x/0"][0] == "a.drep"
    url = "s3://bucket/a.drep"
    assert dr.references("a.drep", url=url)["refs"]["x/0"][0] == url
    for bad in ("https://me:geheim@host/a", "https://host/a?X-Amz-Signature=geheim", "https://host/a#geheim",
                "simplecache::https://geheim@host/a", ""):
        status, out, said = refs("--url", bad, "a.drep")
        assert status == 2 and not out and "geheim" not in said
    with dr.open("a.drep") as f:
        assert dr.references(f) == dr.references("a.drep")
    with pytest.raises(TypeError, match="path"):
        dr.references(dr.open(":memory:", "w"))


def test_xarray(tmp_path):
    """Coordinates, packed numbers, missing values: as our engine gives them."""
    xr = pytest.importorskip("xarray")
    import datarep.xarray as backend
    path = tmp_path / "a.drep"
    with dr.open(path, "w", datarep="external32") as f:
        f.dims.create("time", 20, unlimited=True)
        f.dims["lat"] = 30
        f.create("time", np.arange(20.0), dims=["time"], attrs={"units": "days since 2000-01-01"})
        f.create("lat", np.linspace(-90, 90, 30), dims=["lat"], attrs={"units": "degrees_north"})
        packed = (np.arange(600) % 50).astype("i2").reshape(20, 30)
        f.create("sst", packed, dims=["time", "lat"], chunks=(7, 30), filters="shuffle,zstd:2",
                 attrs={"scale_factor": 0.01, "add_offset": 10.0, "_FillValue": np.int16(49), "units": "K"})
        f.create("zeros", np.zeros((20, 30), "f4"), dims=["time", "lat"])
        f.create("nan", np.where(packed == 3, np.nan, packed), dims=["time", "lat"], attrs={"_FillValue": np.nan})
    options = {"consolidated": False, "storage_options": {"fo": dr.references(path)}}
    with xr.open_dataset("reference://", engine="zarr", backend_kwargs=options) as theirs, \
            xr.open_dataset(path, engine=backend.Backend) as ours:
        xr.testing.assert_identical(theirs.load(), ours.load())


def test_imported(tmp_path):
    """Files of HDF5 and netCDF that were imported, and files of other machines and writers."""
    tried = total = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", "*.drep"))):
        try:
            with dr.open(path) as f:
                for _, ds in datasets(f):
                    ds[...]
        except Exception:  # made to be refused, or of a newer version
            continue
        if path.endswith("short.drep"):  # filtered chunks that other writers stored short: zarr refuses
            with pytest.raises(ValueError, match="reshape"):
                compare(path, "--inline=0")
            continue
        got, _ = compare(path, "--inline=0")
        tried += 1
        total += len(got)
    assert tried > 5 and total > 20


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as h:
        for i, more in enumerate([{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True, "fletcher32": True},
                                  {"fletcher32": True}, {"compression": "lzf"}, {"shuffle": True, "compression": "lzf"}]):
            h.create_dataset(f"d{i}", data=np.arange(5000, dtype=">i4").reshape(100, 50), chunks=(33, 20), **more)
        h["text"] = np.array([b"ab", b"c"] * 400, "S3")
        h["struct"] = np.zeros(500, [("a", "i1"), ("b", "<f8")])
        h.attrs["title"] = "x"
    dr.import_(tmp_path / "a.h5", tmp_path / "a.drep")
    got, missing = compare(tmp_path / "a.drep")
    assert set(missing) == {"/d4", "/d5"} and all("lzf" in why for why in missing.values())


def test_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    xr = pytest.importorskip("xarray")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as n:
        n.createDimension("time", None)
        n.createDimension("x", 50)
        time = n.createVariable("time", "f8", ("time",))
        time.units = "hours since 1990-01-01"
        v = n.createVariable("v", "i2", ("time", "x"), zlib=True, fill_value=-999, chunksizes=(16, 50))
        v.scale_factor, v.add_offset, v.valid_range = np.float32(0.5), 3.0, np.array([-5, 4000], "i2")
        time[:] = np.arange(100)
        v[:] = np.ma.masked_equal(np.arange(5000).reshape(100, 50) % 900, 77)
        n.createGroup("g").createVariable("w", "f4", ("x",))[:] = np.arange(50)
    dr.import_(tmp_path / "a.nc", tmp_path / "a.drep")
    got, missing = compare(tmp_path / "a.drep")
    assert not missing and len(got) == 3
    options = {"consolidated": False, "storage_options": {"fo": dr.references(tmp_path / "a.drep")}}
    with xr.open_dataset("reference://", engine="zarr", backend_kwargs=options) as theirs, \
            xr.open_dataset(tmp_path / "a.nc", engine="netcdf4") as ours:
        xr.testing.assert_equal(theirs.load(), ours.load())


def test_stored_at(tmp_path):
    with dr.open(tmp_path / "a.drep", "w") as f:
        x = f.create("x", dtype="u1", shape=(4, 600), chunks=(2, 300), filters="deflate:1")
        x[2:, :300] = 7
        with pytest.raises(dr.Error, match="changes"):
            x.stored_at((3, 0))
    with dr.open(tmp_path / "a.drep") as f:
        x = f["x"]
        place = x.stored_at((3, 5))
        with open(tmp_path / "a.drep", "rb") as file:
            file.seek(place.offset)
            assert zlib.decompress(file.read(place.size)) == bytes([7]) * 600
        assert place[2:] == (0, None) and x.stored_at((0, 0)) is None
        with pytest.raises(ValueError, match="1 indices for 2"):
            x.stored_at((0,))
        with pytest.raises(IndexError):
            x.stored_at((4, 0))
