# SPDX-License-Identifier: MIT
"""Representations, packing, raw files, file objects, maps, Arrow, DLPack, the command."""
import ctypes
import io
import os
import subprocess
import sys

import datarep as dr
import numpy as np
import pytest

from datarep import command


def test_declared_representation(tmp_path):
    mainframe = dr.Datarep("mainframe-test", base="external32", DOUBLE="ibm-hex64")
    assert dr.pack(mainframe, [1.0, -2.0]).hex() == "4110000000000000c120000000000000"
    with dr.open(":memory:", "w", datarep=mainframe) as f:
        f["x"] = np.array([1.0, -2.0, 1e70])
        assert f["x"][...].tolist() == [1, -2, 1e70]
        assert f["x"].as_stored().tobytes()[:8].hex() == "4110000000000000"
        with pytest.raises(dr.errors.ConversionError):
            f["x"][0] = 1e300
        assert f["x"][0] == 1
        assert f["x"].write(1e300, 0, range="clamp").overflow == 1


def copy_read(user, datatype, count, filebuf, position):
    items = np.frombuffer(user, "f8")[position:position + count]
    items[:] = np.frombuffer(filebuf, "u1").reshape(count, 9)[:, :8].copy().view("f8")[:, 0]


def copy_write(user, datatype, count, filebuf, position):
    out = np.frombuffer(filebuf, "u1").reshape(count, 9)
    items = np.frombuffer(user, "f8")[position:position + count]
    out[:, :8] = items.copy().view("u1").reshape(count, 8)


def test_functions(tmp_path):
    dr.register("nine", read=copy_read, write=copy_write, extents={"DOUBLE": 9})
    path = str(tmp_path / "nine.drep")
    with dr.open(path, "w", datarep="nine") as f:
        f["x"] = np.arange(1000.0)
    with dr.open(path) as f:
        assert (f["x"][...] == np.arange(1000.0)).all() and f["x"][17] == 17


def test_an_exception_in_a_function_is_the_cause():
    def fails(*arguments):
        raise ZeroDivisionError("here")

    dr.register("fails", read=fails, write=fails, extents={"DOUBLE": 8})
    f = dr.open(":memory:", "w", datarep="fails")
    with pytest.raises(ValueError) as e:
        f["x"] = np.arange(5.0)
    assert isinstance(e.value.__cause__, ZeroDivisionError) and e.value.code == 18
    f.abandon()


def test_a_function_cannot_close_its_file():
    held = []

    def closes(user, datatype, count, filebuf, position):
        with pytest.raises(ValueError):
            held[0].close()
        with pytest.raises(ValueError):
            held[0].commit()

    dr.register("closes", write=closes, extents={"DOUBLE": 8})
    with dr.open(":memory:", "w", datarep="closes") as f:
        held.append(f)
        f["x"] = np.arange(5.0)
        held.clear()


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "c8", "c16"])
@pytest.mark.parametrize("datarep", ["native", "external32", "internal", "native:s390x"])
def test_packing(datarep, dtype):
    a = np.array([0, 1, 100]).astype(dtype)
    packed = dr.pack(datarep, a)
    assert (dr.unpack(datarep, packed, dtype) == a).all()


def test_raw_files(tmp_path):
    path = str(tmp_path / "tape.dat")
    want = np.arange(100, dtype="i4")
    want.astype(">i4").tofile(path)
    with dr.raw(path, "INT32_T", datarep="native:s390x") as r:
        assert r.shape == (100,) and (r[10:20] == want[10:20]).all() and r[-1] == 99
        assert (r[[5, 3, 5]] == [5, 3, 5]).all() and (r[::-30] == want[::-30]).all()
        assert (r[want % 7 == 0] == want[want % 7 == 0]).all()
        with pytest.raises(IndexError):
            r[100]
    with dr.raw(path, "i4", "external32", shape=(10, 10), mode="r+") as r:
        assert (r[2:5, ::3] == want.reshape(10, 10)[2:5, ::3]).all()
        r[0, 1:3] = [-1, -2]
    assert np.fromfile(path, ">i4")[:4].tolist() == [0, -1, -2, 3]
    with pytest.raises(ValueError):
        r[0]


def test_file_objects(tmp_path):
    held = io.BytesIO()
    with dr.open(held, "w") as f:
        f["x"] = np.arange(10_000.0)
    with dr.open(held) as f:
        assert f["x"][-1] == 9999
    with dr.open(held, "r+") as f:
        f["y"] = 1
    with dr.open(held.getvalue()) as f:
        assert list(f) == ["x", "y"] and f["y"][()] == 1

    class Breaks(io.BytesIO):
        def readinto(self, out):
            raise RuntimeError("no network")

    with pytest.raises(OSError) as e:
        dr.open(Breaks(held.getvalue()))
    assert isinstance(e.value.__cause__, RuntimeError)


def test_fsspec():
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    with fs.open("/a.drep", "wb") as o:
        with dr.open(o, "w") as f:
            f["x"] = np.arange(1000)
    with fs.open("/a.drep", "rb") as o:
        with dr.open(o) as f:
            assert f["x"][999] == 999


def test_maps_outlive_their_file(tmp_path):
    path = str(tmp_path / "a.drep")
    with dr.open(path, "w") as f:
        f["x"] = np.arange(100_000.0)
        f.create("z", np.arange(10.0), filters="zstd")
    f = dr.open(path)
    m = f["x"].map()
    with pytest.raises(TypeError):
        f["z"].map()
    f.close()
    del f
    assert m[5] == 5 and not m.flags.writeable and m.sum() == np.arange(100_000.0).sum()
    with pytest.raises(ValueError):
        m[0] = 1


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p),
                   ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                   ("private_data", ctypes.c_void_p)]


class Array(ctypes.Structure):
    pass


Array._fields_ = [(n, ctypes.c_int64) for n in
                  ("length", "null_count", "offset", "n_buffers", "n_children")] + \
                 [("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                  ("private_data", ctypes.c_void_p)]


def pointer(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return kind.from_address(get(capsule, name))


def test_arrow_structs():
    rows = np.zeros(3, [("when", "i8"), ("value", "f4"), ("flag", "?")])
    rows["when"], rows["value"], rows["flag"] = [1, 2, 3], 0.5, [True, False, True]
    with dr.open(":memory:", "w") as f:
        f["rows"], f["text"] = rows, ["a", "", "héé"]
        schema, array = f["rows"].__arrow_c_array__()
        s, a = pointer(schema, b"arrow_schema", Schema), pointer(array, b"arrow_array", Array)
        assert (s.format, s.name, s.n_children, a.length) == (b"+s", b"rows", 3, 3)
        assert [s.children[i][0].format for i in range(3)] == [b"l", b"f", b"b"]
        when = (ctypes.c_int64 * 3).from_address(a.children[0][0].buffers[1])
        assert list(when) == [1, 2, 3]
        assert ctypes.c_uint8.from_address(a.children[2][0].buffers[1]).value == 0b101
        schema, array = f["text"].__arrow_c_array__()
        a = pointer(array, b"arrow_array", Array)
        assert list((ctypes.c_int64 * 4).from_address(a.buffers[1])) == [0, 1, 1, 6]
        assert ctypes.string_at(a.buffers[2], 6).decode() == "ahéé"
        del schema, array, a, s, when


def test_dlpack():
    with dr.open(":memory:", "w") as f:
        f["x"] = np.arange(5.0)
        assert np.from_dlpack(f["x"]).tolist() == [0, 1, 2, 3, 4]


def test_stored_boxes_and_chunks():
    with dr.open(":memory:", "w", datarep="external32") as f:
        ds = f.create("x", dtype="i4", shape=(10, 10), chunks=(4, 4), filters="deflate:1")
        ds[5, 5] = 7
        assert list(ds.stored()) == [(slice(4, 8), slice(4, 8))]
        data, skipped = ds.read_stored((4, 4))
        assert ds.read_stored((0, 0)) is None and skipped == 0
        other = f.create("y", dtype="i4", shape=(10, 10), chunks=(4, 4), filters="deflate:1")
        other.write_stored((4, 4), data)
        assert other[5, 5] == 7 and ds.usage()["chunks"] == 1
        assert ds.as_stored().dtype == ">i4"


def test_the_command(tmp_path):
    a, b = str(tmp_path / "a.drep"), str(tmp_path / "b.drep")
    with dr.open(a, "w") as f:
        f["x"] = np.arange(10)
    dr.convert(a, b, datarep="external32")
    assert dr.check(b) and not dr.diff(a, b)
    dr.export(a, str(tmp_path / "a.npy"), root="/x")
    assert np.load(str(tmp_path / "a.npy"))[3] == 3
    with pytest.raises(dr.Error):
        dr.import_(str(tmp_path / "none.h5"), b)
    for make, target, how in ((dr.convert, b, {}), (dr.export, str(tmp_path / "a.npy"), {"root": "/x"}),
                              (dr.import_, b, {})):
        source = str(tmp_path / "a.npy") if make is dr.import_ else a
        with open(target, "rb") as f:
            before = f.read()
        with pytest.raises(dr.Error, match="file exists; --force replaces it"):
            make(source, target, **how)
        with open(target, "rb") as f:
            assert f.read() == before
        make(source, target, force=True, **how)
    done = subprocess.run([sys.executable, "-m", "datarep", "ls", a], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(dr.__file__))})
    assert done.returncode == 0 and "x" in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_convert_of_a_slice(tmp_path):
    """xarray finds the coordinates that its own selection gives."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip("datarep.xarray")
    a, b = str(tmp_path / "a.drep"), str(tmp_path / "b.drep")
    whole = xr.Dataset(
        {"t2m": (("time", "lat", "lon"), np.arange(10 * 6 * 4, dtype="f4").reshape(10, 6, 4), {"units": "K"})},
        {"time": np.arange("2026-01-01", "2026-01-11", dtype="M8[D]").astype("M8[ns]"),
         "lat": ("lat", np.linspace(75, -75, 6), {"units": "degrees_north"}), "lon": np.arange(4) * 90.0})
    whole.datarep.save(a, encoding={"t2m": {"chunksizes": (4, 6, 4), "zlib": True}}, unlimited_dims=["time"])
    dr.convert(a, b, root="/t2m[time=2026-01-03:2026-01-08, lat=-50:50, lon=90:]")
    with xr.open_dataset(a, engine="datarep") as x, xr.open_dataset(b, engine="datarep") as y:
        part = x.sel(time=slice("2026-01-03", "2026-01-08"), lat=slice(50, -50), lon=slice(90, None))
        assert part.t2m.shape == (6, 4, 3)
        xr.testing.assert_identical(part, y)
        assert y.t2m.encoding["chunksizes"] == (4, 4, 3)


def test_trees():
    with dr.open(":memory:", "w") as f:
        f.attrs["title"] = "<b>"
        f.create("g/x", np.arange(6.0).reshape(2, 3), attrs={"units": "K"})
        f["g/link"] = dr.SoftLink("/g")
        text = str(f.tree())
        assert "x (2, 3) DOUBLE [K]" in text
        html = f._repr_html_()
        assert "&lt;b&gt;" in html and "<b>" not in html.split("title")[1]
    assert "closed" in f._repr_html_()


def test_trees_are_those_of_the_command(tmp_path):
    """Each line is one that `datarep ls --tree` prints, in another order."""
    path = str(tmp_path / "a.drep")
    with dr.open(path, "w", datarep="external32") as f:
        f.dims["time"] = None
        f["a"] = ["a", "b"]
        f["rows"] = np.zeros(2, [("a", "i4"), ("b", "f8", (2,)), ("c", "S3")])
        f.create("v", dtype=dr.vlen_dtype("i4"), shape=(2,))
        f.create("e", dtype=dr.enum_dtype({"A": 0, "B": 1}), shape=3)
        f.create("t", dtype="f4", dims=["time"], chunks=(8,), filters="shuffle,zstd:3", attrs={"units": "m"})
        f.create("n", dtype="BFLOAT16", shape=3, datarep="native")
        f["null"], f["scalar"], f["type"], f["g/x"] = dr.Empty("f4"), 1.5, np.dtype("i8"), [True]
        f["soft"], f["external"], f["hard"] = dr.SoftLink("/a"), dr.ExternalLink("o.drep", "/x"), f["a"]
    with dr.open(path) as f:
        ours = str(f.tree()).splitlines()
        html = f.tree()._repr_html_()
    assert "chunks 8, shuffle,zstd:3" in html and "stored as native" in html
    theirs = command.run(["ls", "--tree", path])

    def bare(lines):
        return sorted(line.strip("│├└─ ") for line in lines[1:])

    assert bare(ours) == bare(theirs.stdout.splitlines())


def test_elements_are_written_at_multiples_of_a_piece():
    """What begins elsewhere is kept in smaller folios, which are slower to read."""
    class Log(io.BytesIO):
        def __init__(self):
            super().__init__()
            self.at = []

        def write(self, data):
            self.at.append((self.tell(), len(data)))
            return super().write(data)

    log, piece, n = Log(), 256 << 10, 1 << 19
    with dr.open(log, "w") as f:
        f.create("x", dtype="f8", shape=(n,)).write(np.arange(float(n)), threads=1)
    pieces = [at for at, size in log.at if size == piece]
    assert len(pieces) >= n * 8 // piece - 1 and all(at % piece == 0 for at in pieces), log.at
    with dr.open(io.BytesIO(log.getvalue())) as f:
        assert (f["x"][...] == np.arange(float(n))).all()


def test_lists_of_indices_of_a_file_far_away():
    """Boxes that ascend are read by one call, the others as they come."""
    class Far:  # no file that Python knows, so each read may be a round trip
        def __init__(self, data):
            self.file = io.BytesIO(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

    stored, values, rng = io.BytesIO(), np.arange(700 * 40 * 30.).reshape(700, 40, 30), np.random.default_rng(2)
    with dr.open(stored, "w") as f:
        f.create("chunked", values, chunks=(1, 40, 30), filters="deflate:1")
        f.create("plain", values, chunks=(3, 20, 30))
        f.create("contiguous", values)
    rows = rng.choice(700, 600, replace=False)
    with dr.open(Far(stored.getvalue())) as f:
        for name in f:
            for key in (np.sort(rows), rows, np.sort(rows)[:, None], [5, 5, 7, 7, 300], [699, 0, 1],
                        (slice(None), [3, 17, 39]), (slice(10, 50), [39, 3, 3], slice(None)),
                        (np.sort(rows), slice(3, 30), slice(0, 20))):
                assert (f[name][key] == values[key]).all(), (name, key)
