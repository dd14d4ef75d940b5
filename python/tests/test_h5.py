# SPDX-License-Identifier: MIT
"""datarep.h5 where h5py's tests are not: how its files look to the package."""
import io
import os
import subprocess
import sys

import datarep as dr
import numpy as np
import pytest

import datarep.h5 as h5py


def test_members_of_arrays_are_written_through_views(tmp_path):
    with dr.open(tmp_path / "a.drep", "w") as f:
        ds = f.create("s", np.zeros(4, [("w", "f8", 3), ("n", "u1")]))
        ds.view("w")[...] = np.arange(12.0).reshape(4, 3)
        ds.view("n")[1:] = 7
        assert (ds[...]["w"] == np.arange(12.0).reshape(4, 3)).all()
        assert ds[...]["n"].tolist() == [0, 7, 7, 7]


def test_files_are_those_of_the_package(tmp_path):
    path = tmp_path / "b.drep"
    with h5py.File(path, "w") as f:
        ds = f.create_dataset("g/x", data=np.arange(6.0).reshape(2, 3), chunks=(1, 3),
                              compression="gzip", shuffle=True, fletcher32=True)
        ds.attrs["units"] = "m"
        f["names"] = ["a", "hé"]
        f["link"] = h5py.SoftLink("/g/x")
    with dr.open(path) as f:
        assert f["g/x"].filters == "shuffle,deflate:4"
        assert f["link"][1, 2] == 5 and f["g/x"].attrs["units"] == "m"
        assert f["names"][...].tolist() == ["a", "hé"]
    with h5py.File(path) as f:
        assert f["names"][1] == "hé".encode() and f["names"].asstr()[1] == "hé"
        with pytest.raises(TypeError):
            f["g/x"][0, [2, 1]]


def test_an_exception_keeps_what_was_written(tmp_path):
    path = tmp_path / "c.drep"
    with pytest.raises(RuntimeError):
        with h5py.File(path, "w") as f:
            f["x"] = 1
            raise RuntimeError
    with h5py.File(path) as f:
        assert f["x"][()] == 1


def test_readers_follow_a_writer(tmp_path):
    path = tmp_path / "e.drep"
    with h5py.File(path, "w", libver="latest") as f:
        ds = f.create_dataset("x", shape=(0,), maxshape=(None,), dtype="i4")
        f.swmr_mode = True
        with h5py.File(path, "r", swmr=True) as g:
            seen = g["x"]
            ds.resize((3,))
            ds[:] = [1, 2, 3]
            assert seen.shape == (0,)
            ds.flush()
            seen.refresh()
            assert seen[:].tolist() == [1, 2, 3]


def test_members_change_without_a_listing(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "l.drep", "w") as f:
        monkeypatch.setattr("datarep.h5.group.link_row", None)
        f["a"], f["g/x"] = 1, 2
        f.create_group("h")
        f["s"] = h5py.SoftLink("/a")
        f.move("s", "t")
        del f["a"]
        for fails in (lambda: f.create_group("g"), lambda: f.create_dataset("g", (2,)),
                      lambda: f.move("g", "h"), lambda: f.create_group("/"),
                      lambda: f.__setitem__("t", h5py.SoftLink("/a"))):
            with pytest.raises((ValueError, OSError), match="exists"):
                fails()
        with pytest.raises(KeyError):
            del f["a"]
        assert list(f) == ["g", "h", "t"]


def test_the_order_of_members_is_kept(tmp_path):
    path = tmp_path / "o.drep"
    with h5py.File(path, "w", track_order=True) as f:
        for name in "cab":
            f.create_group(name, track_order=name == "c")
        for name in "cab":
            f["c"].attrs[name] = f["a"].attrs[name] = 1
        f.create_dataset("d", (3,), track_order=True).attrs["z"] = 1
        f["d"].attrs["y"] = 2
    with h5py.File(path) as f:
        assert list(f) == ["c", "a", "b", "d"] and list(reversed(f)) == ["d", "b", "a", "c"]
        assert list(f["c"].attrs) == ["c", "a", "b"] and list(f["a"].attrs) == ["a", "b", "c"]
        assert list(f["d"].attrs) == ["z", "y"] and len(f.attrs) == 0
        assert "drep.hdf5:remarks" not in f.attrs and f.attrs.get("drep.hdf5:remarks") is None
    dr.export(path, tmp_path / "o.h5")
    real = pytest.importorskip("h5py")
    with real.File(tmp_path / "o.h5") as f:
        assert set(f) == set("cabd") and not len(f.attrs)


def test_there_is_one_empty():
    assert h5py.Empty is dr.Empty and dr.Empty("f4") == h5py.Empty("f4") != dr.Empty("f8")
    assert len({dr.Empty("f4"), dr.Empty("f4")}) == 1 and dr.Empty("f4").size is None
    with h5py.File(":memory:", "w") as f:
        f["e"] = dr.Empty("i2")
        f.attrs["e"] = h5py.Empty("S3")
        assert f["e"][()] == dr.Empty("i2") and f.attrs["e"] == dr.Empty("S3")


MASK = np.arange(80).reshape(8, 10) % 7 == 3
REGIONS = [
    (np.s_[2:5, ::3], "[2:5,0:10:3]"), (np.s_[-1, 4], "[7,4]"), (np.s_[...], "[0:8,0:10]"),
    (np.s_[:0], "{}"), (np.s_[[1, 4, 6], 2:4], "{[1:2,2:4],[4:5,2:4],[6:7,2:4]}"),
    (np.s_[[0, 2, 4], 1:], "[0:5:2,1:10]"), (MASK, None),
]


@pytest.mark.parametrize("number", range(len(REGIONS)))
def test_regions(tmp_path, number):
    key, text = REGIONS[number]
    path, a = tmp_path / "r.drep", np.arange(80.0).reshape(8, 10)
    want = a[key]
    if isinstance(key, tuple):  # as HDF5 has it, an index leaves a dimension of one
        want = a[tuple(slice(k, k + 1 or None) if isinstance(k, int) else k for k in key)]
    with h5py.File(path, "w") as f:
        f["x"] = a
        ref = f["x"].regionref[key]
        assert text in (None, ref.region)
        f.create_dataset("refs", (2,), dtype=h5py.regionref_dtype)[0] = ref
        f.attrs["ref"] = ref
    with h5py.File(path, "r+") as f:
        ref = f["refs"][0]
        assert type(ref) is h5py.RegionReference and ref == f.attrs["ref"] and not f["refs"][1]
        assert h5py.check_ref_dtype(f["refs"].dtype) is h5py.RegionReference
        x = f[ref]
        assert x.name == "/x" and x.regionref.shape(ref) == (8, 10)
        got = x[ref]
        assert got.size == want.size == np.prod(x.regionref.selection(ref))
        assert got.size == 0 or (got == want).all()
        x[ref] = -1.0
        changed = a.copy()
        changed[key] = -1
        assert (x[...] == changed).all()
        with pytest.raises(TypeError):
            f["refs"][ref]
        with pytest.raises(TypeError):
            f.regionref[0]
    with dr.open(path) as f:
        assert type(f["refs"][0]) is dr.RegionReference and f["refs"][0] == f.attrs["ref"]
    dr.export(path, tmp_path / "r.h5")
    real = pytest.importorskip("h5py")
    with real.File(tmp_path / "r.h5") as f:
        assert (np.ravel(f["x"][f["refs"][0]]) == -1).all()
        assert f["x"].regionref.selection(f["refs"][0]) == got.shape


def test_regions_that_are_no_box_are_read_as_points(tmp_path):
    with h5py.File(tmp_path / "u.drep", "w") as f:
        a = f["x"] = np.arange(80).reshape(8, 10)
        n = f["x"].ref.id
        assert f["x"][h5py.RegionReference(n, "{[0:2,0:2],[1:3,1:3]}")].tolist() == \
            [0, 1, 10, 11, 12, 21, 22]
        assert (f["x"][h5py.RegionReference(n, "{[0:2,0:4],[2,0:4]}")] == a[:3, :4]).all()
        assert f["x"][h5py.RegionReference(n, "{(7,9),(0,1)}")].tolist() == [79, 1]
        for wrong in ("[0:9,0:1]", "[0:2]"):
            with pytest.raises(ValueError):
                f["x"][h5py.RegionReference(n, wrong)]
        f["s"] = 5.0
        assert f["s"][f["s"].regionref[()]] == 5


def test_scales(tmp_path):
    path = tmp_path / "s.drep"
    with h5py.File(path, "w") as f:
        f["t"], f["x"], f["v"] = np.zeros((2, 3)), np.arange(3), np.arange(2.0)
        f["x"].make_scale("longitude")
        f["t"].dims[1].attach_scale(f["x"])
        f["t"].dims[0].attach_scale(f["v"])
        f["t"].dims[1].label = "east"
        with pytest.raises(RuntimeError):
            f["t"].make_scale()
        with pytest.raises(RuntimeError):
            f["x"].dims[0].attach_scale(f["t"])
        with pytest.raises(RuntimeError):
            f["t"].dims[0].detach_scale(f["x"])
    with h5py.File(path) as f:
        assert f["x"].is_scale and f["v"].is_scale and not f["t"].is_scale
        assert [d.keys() for d in f["t"].dims] == [[""], ["longitude"]]
        assert f["t"].dims[1]["longitude"] == f["x"] and f["t"].dims[1].label == "east"
    dr.export(path, tmp_path / "s.h5")
    real = pytest.importorskip("h5py")
    with real.File(tmp_path / "s.h5") as f:
        assert real.h5ds.is_scale(f["x"].id) and f["t"].dims[1]["longitude"] == f["x"]
        assert f["t"].dims[0][0] == f["v"] and f["t"].dims[1].label == "east"
    dr.import_(tmp_path / "s.h5", tmp_path / "i.drep")
    with h5py.File(tmp_path / "i.drep") as f:
        assert f["t"].dims[1][0] == f["x"] and f["t"].dims[0][0] == f["v"] and f["x"].is_scale


def test_coordinates_of_shared_dimensions_are_scales(tmp_path):
    with dr.open(tmp_path / "c.drep", "w") as f:
        f.create("lat", np.arange(3.0), dims=["lat"])
        f.create("t", np.zeros((3, 2)), dims=["lat", None])
    with h5py.File(tmp_path / "c.drep") as f:
        assert f["t"].dims[0].items() == [("lat", f["lat"])] and not len(f["t"].dims[1])
        assert f["lat"].is_scale and not f["t"].is_scale and not len(f["lat"].dims[0])


def test_what_belongs_to_hdf5_says_so(tmp_path):
    with h5py.File(tmp_path / "d.drep", "w") as f:
        for fails in (lambda: h5py.h5p.create, lambda: f.id.get_create_plist(),
                      lambda: f.create_dataset("x", (4,), scaleoffset=True, dtype="i4"),
                      lambda: f.create_dataset("x", (4,), external="raw.bin"),
                      lambda: h5py.VirtualLayout((4,)), lambda: f.create_group(None)):
            with pytest.raises(NotImplementedError):
                made = fails()
                made()
        assert list(f) == []


def test_chunks_as_they_are_stored(tmp_path):
    frames = np.arange(48).reshape(3, 4, 4)
    with h5py.File(tmp_path / "chunks.drep", "w") as f:
        a = f.create_dataset("a", data=frames, chunks=(1, 4, 4), compression="gzip")
        b = f.create_dataset("b", shape=(3, 4, 4), dtype=a.dtype, chunks=(1, 4, 4), compression="gzip")
        assert (a.id.get_num_chunks(), b.id.get_num_chunks()) == (3, 0)
        with pytest.raises(ValueError, match="nothing is stored"):
            b.id.read_direct_chunk((0, 0, 0))
        mask, data = a.id.read_direct_chunk((2, 0, 0))
        assert mask == 0 and len(data) < frames[2].nbytes
        b.id.write_direct_chunk((0, 0, 0), data, mask)
        b.id.write_direct_chunk((1, 0, 0), frames[1].tobytes(), filter_mask=0xFFFFFFFF)
        assert b.id.read_direct_chunk((1, 0, 0)) == (1, frames[1].tobytes())
        assert (b[0] == frames[2]).all() and (b[1] == frames[1]).all() and not b[2].any()
        for wrong in ((0, 1, 0), (3, 0, 0)):
            with pytest.raises(IndexError):
                b.id.write_direct_chunk(wrong, data)
        with pytest.raises(TypeError, match="not chunked"):
            f.create_dataset("c", data=frames).id.get_num_chunks()
        with pytest.raises(NotImplementedError):
            f.id.read_direct_chunk((0, 0, 0))


# ------------------------------------------------------------- objects, files, h5py's place


def test_handles_stay_with_their_objects(tmp_path):
    with h5py.File(tmp_path / "a.drep", "w") as f:
        d = f.create_dataset("x", data=[1, 2, 3])
        del f["x"]
        f["x"] = np.array([7.5, 8, 9])
        with pytest.raises(ValueError, match="was deleted"):
            d[0] = 100
        assert f["x"][...].tolist() == [7.5, 8, 9] and d.name is None
        e, g = f["x"], f.create_group("g")
        f.move("x", "g/y")
        e[0] = 1
        assert e.name == "/g/y" and g["y"][0] == 1


def test_a_file_opened_twice_is_one(tmp_path):
    path = tmp_path / "a.drep"
    f = h5py.File(path, "w")
    f["x"] = 1
    g = h5py.File(path, "r")
    f["x"][()] = 2
    assert g["x"][()] == 2
    with pytest.raises(OSError, match="already open"):
        h5py.File(path, "w")
    f.close()
    assert not f and g["x"][()] == 2
    g.close()
    r = h5py.File(path, "r")
    with pytest.raises(OSError, match="reading only"):
        h5py.File(path, "r+")
    r.close()
    h5py.File(path, "r+").close()


def test_files_of_hdf5_are_read(tmp_path):
    real = pytest.importorskip("h5py")
    for block in (0, 512):
        path = tmp_path / f"{block}.h5"
        with real.File(path, "w", userblock_size=block) as f:
            f.create_dataset("a/b", data=np.arange(6).reshape(2, 3), compression="gzip").attrs["u"] = "m"
        with h5py.File(path) as f:
            assert f["a/b"][...].tolist() == [[0, 1, 2], [3, 4, 5]] and f["a/b"].attrs["u"] == "m"
            assert f.userblock_size == block and "userblock" not in str(list(f.attrs))
        h5py.File(path, userblock_size=block).close()
        with pytest.raises(ValueError, match=f"1024.*does not match that of existing file .{block}"):
            h5py.File(path, userblock_size=1024)
        assert h5py.is_hdf5(path) and not h5py.is_hdf5(__file__)
        with pytest.raises(OSError, match="file of HDF5, which is only read"):
            h5py.File(path, "r+")
    (tmp_path / "bad.h5").write_bytes((tmp_path / "0.h5").read_bytes()[:300])
    with pytest.raises(OSError):
        h5py.File(tmp_path / "bad.h5")


def test_user_blocks_are_kept(tmp_path):
    """From HDF5 through a file of Datarep and back; a file of Datarep itself has no room for one."""
    real = pytest.importorskip("h5py")
    with real.File(tmp_path / "a.h5", "w", userblock_size=1024) as f:
        f["x"] = 1
    with open(tmp_path / "a.h5", "r+b") as f:
        f.write(b"the user's" + bytes(3) + b"own")
    dr.import_(tmp_path / "a.h5", tmp_path / "a.drep")
    with h5py.File(tmp_path / "a.drep", "r+") as f:
        assert f.userblock_size == 1024
        f["y"] = 2
    dr.export(tmp_path / "a.drep", tmp_path / "b.h5")
    with real.File(tmp_path / "b.h5") as f:
        assert f.userblock_size == 1024 and f["y"][()] == 2
    assert (tmp_path / "b.h5").read_bytes()[:1024] == (tmp_path / "a.h5").read_bytes()[:1024]
    for mode in ("w", "x", "w-", "a"):
        with pytest.raises(NotImplementedError, match="begins with its own header"):
            h5py.File(tmp_path / "new.drep", mode, userblock_size=512)
    for size, said in ((100, "power of 2"), (513, "power of 2"), ("x", "must be an integer")):
        with pytest.raises(ValueError, match=said):
            h5py.File(tmp_path / "new.drep", "w", userblock_size=size)
    assert not (tmp_path / "new.drep").exists()
    with h5py.File(tmp_path / "new.drep", "w", userblock_size=0) as f:
        assert f.userblock_size == 0
    h5py.File(tmp_path / "a.drep", "r", userblock_size=1024).close()


def test_in_the_place_of_h5py(tmp_path):
    code = """
import datarep.h5, sys
with datarep.h5.install():
    import h5py, h5py.h5t
    import h5py._hl.selections as sel, h5py._hl.compat
    from h5py.h5py_warnings import H5pyDeprecationWarning
    assert h5py is datarep.h5 and h5py.__name__ == "h5py"
    assert h5py.h5t.check_string_dtype(h5py.h5t.string_dtype()).encoding == "utf-8"
    try:
        h5py.File("a.h5", "w")
        raise SystemExit("made a.h5")
    except ValueError as error:
        assert "any_name" in str(error), error
    f = h5py.File("a.drep", "w")
    f.attrs["a"] = [1, 2]
    assert f.attrs.get_id("a").shape == (2,)
assert "h5py" not in sys.modules and datarep.h5.__name__ == "datarep.h5"
sys.modules["h5py"] = object()
try:
    datarep.h5.install()
    raise SystemExit("installed beside h5py")
except ImportError:
    pass
"""
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(dr.__file__)))
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr


def test_the_dataset_shows_what_others_committed(tmp_path):
    with dr.open(str(tmp_path / "a.drep"), "w") as f:
        f["x"] = 1
    r = h5py.File(tmp_path / "a.drep", "r", swmr=True)
    with dr.open(str(tmp_path / "a.drep"), "a") as f:
        f["x"][...] = 2
    r["x"].id.refresh()
    assert r["x"][()] == 2


def test_mode_a_of_a_file_object():
    target = io.BytesIO()
    with h5py.File(target, "a") as f:
        f["x"] = 1
    with h5py.File(target, "a") as f:
        assert f["x"][()] == 1


# ------------------------------------------- what other packages ask for, with h5py itself as the oracle


def make_texts(module, f):
    ascii_, utf8 = module.string_dtype("ascii"), module.string_dtype("utf-8")
    f["bytes"], f["text"] = b"abc", "hé"
    f["list"], f["fixed"] = [b"a", b"bc"], np.array([b"abc"])
    f.create_dataset("utf8", data=b"abc", dtype=module.string_dtype("utf-8", 3))
    f.create_dataset("rows", data=np.array([(b"a", "é", 1)], [("a", ascii_), ("u", utf8), ("n", "i4")]))
    f["named"] = np.dtype([("n", "i2"), ("a", ascii_)])
    f.attrs["bytes"], f.attrs["text"], f.attrs["list of texts"] = b"x", "y", np.array([b"a"], ascii_)
    f.attrs["gone"] = b"x"
    f.attrs["gone"] = "é"
    f["copy"] = f["list"][...]


def texts_of(module, f):
    """The character set, length and values of all texts of a file."""
    made = {}
    for name in f:
        dtype = f[name].dtype
        made[name] = [module.check_string_dtype(dtype[n]) for n in dtype.names] if dtype.names else \
            module.check_string_dtype(dtype)
        if name != "named":
            made[name + "="] = np.asarray(f[name][()]).tolist()
    for name in f.attrs:
        made["@" + name] = module.check_string_dtype(f.attrs.get_id(name).dtype), np.asarray(f.attrs[name]).tolist()
    return {k: [tuple(i) if i else i for i in v] if isinstance(v, list) and k[-1] != "=" else
            tuple(v) if isinstance(v, tuple) and k[0] != "@" else (tuple(v[0]), v[1]) if k[0] == "@" else v
            for k, v in made.items()}


def test_character_sets_are_those_of_h5py(tmp_path):
    real = pytest.importorskip("h5py")
    with real.File(tmp_path / "real.h5", "w") as f:
        make_texts(real, f)
        wanted = texts_of(real, f)
    assert wanted["bytes"] == ("ascii", None) and wanted["rows"][1] == ("utf-8", None)
    with h5py.File(tmp_path / "a.drep", "w") as f:
        make_texts(h5py, f)
        assert texts_of(h5py, f) == wanted
    with h5py.File(tmp_path / "real.h5") as f:
        assert texts_of(h5py, f) == wanted
    dr.export(tmp_path / "a.drep", tmp_path / "a.h5")
    with real.File(tmp_path / "a.h5") as f:
        assert texts_of(real, f) == wanted
    with dr.open(tmp_path / "a.drep") as f:
        assert f["bytes"][...] == "abc" and dict(f.attrs)["bytes"] == "x" and not dict(f["bytes"].attrs)


def test_bytes_that_are_no_text_are_kept(tmp_path):
    real = pytest.importorskip("h5py")
    ascii_ = h5py.string_dtype("ascii")
    with h5py.File(tmp_path / "a.drep", "w") as f:
        f["one"], f["some"] = b"\xe423", np.array([b"\xff\xfe", b"a", "é"], ascii_)
        f["again"] = f["some"][...]
        f["again"][1] = f["some"].asstr(errors="surrogateescape")[0]
        f["fixed"] = np.array([b"\xff"])
        f.attrs["a"] = b"\x80"
        assert f.attrs["a"] == "\udc80" and f["one"][()] == b"\xe423"
    dr.export(tmp_path / "a.drep", tmp_path / "a.h5")
    with real.File(tmp_path / "a.h5") as f:
        assert f["one"][()] == b"\xe423" and f["some"][...].tolist() == [b"\xff\xfe", b"a", "é".encode()]
        assert f["again"][...].tolist() == [b"\xff\xfe", b"\xff\xfe", "é".encode()]
        assert f["fixed"][0] == b"\xff" and f.attrs["a"] == "\udc80"


def test_attributes_of_a_file_for_reading(tmp_path):
    h5py.File(tmp_path / "a.drep", "w").close()
    with h5py.File(tmp_path / "a.drep") as f:
        for value in (1, b"a\0b"):
            with pytest.raises(OSError, match="no write intent"):
                f.attrs["x"] = value


def test_ids_of_types_and_spaces(tmp_path):
    real = pytest.importorskip("h5py")
    said = []
    for module, path in ((real, tmp_path / "a.h5"), (h5py, tmp_path / "a.drep")):
        with module.File(path, "w") as f:
            tid = module.h5t.C_S1.copy()
            tid.set_size(10)
            null = module.h5d.create(f.id, b"null", tid, module.h5s.create(module.h5s.NULL))
            assert module.Dataset(null)[()] == module.Empty("S10")
            module.h5d.create(f.id, b"bits", module.h5t.STD_B16LE, module.h5s.create_simple((2, 3)))
            module.h5a.create(f.id, b"a", module.h5t.NATIVE_INT32, module.h5s.create_simple((2,)))
            f.create_dataset("s", data="text", dtype=module.string_dtype("utf-8", 8))
            f.create_dataset("grows", (2,), "f4", maxshape=(None,))
            f["rows"] = np.zeros(3, [("x", "<f4", 2), ("e", module.enum_dtype({"A": 1}, "u1")), ("z", "c16")])
            rows = f["rows"].id.get_type()
            said.append([
                f["null"].shape, f["bits"].dtype, f["bits"].shape, f.attrs["a"].tolist(),
                module.h5a.open(f.id, b"a").get_type().get_class(), module.h5a.exists(f.id, b"b"),
                f["s"].id.get_type().get_cset(), f["s"].id.get_type().get_size(), f["s"].id.get_type().get_class(),
                f["grows"].id.get_space().get_simple_extent_dims(True), f["grows"].id.rank,
                [(rows.get_member_name(i), rows.get_member_offset(i), rows.get_member_type(i).get_class(),
                  rows.get_member_type(i).get_size()) for i in range(rows.get_nmembers())],
                rows.get_member_type(0).get_super() == module.h5t.IEEE_F32LE,
                rows.get_member_type(1).get_member_name(0), module.h5t.py_create(np.dtype("i8")).get_sign()])
    assert said[0] == said[1]
    assert h5py.filters.h5z.FILTER_DEFLATE == real.filters.h5z.FILTER_DEFLATE


def test_filters_that_only_hdf5_gets(tmp_path):
    real = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "f.drep", "w") as f:
        f.create_dataset("texts", data=["x", "yy"] * 50, compression="lzf", shuffle=False)
        f.create_dataset("sums", data=np.arange(100), compression="gzip", shuffle=True, fletcher32=True)
        f.create_dataset("lzf", data=np.arange(100), compression="lzf", fletcher32=True)
        f.create_dataset("none", data=np.arange(100), chunks=True)
    wanted = {"texts": ("lzf", False, False), "sums": ("gzip", True, True), "lzf": ("lzf", False, True),
              "none": (None, False, False)}
    dr.export(tmp_path / "f.drep", tmp_path / "f.h5")
    dr.import_(tmp_path / "f.h5", tmp_path / "g.drep")
    for module, name in ((h5py, "f.drep"), (real, "f.h5"), (h5py, "g.drep")):
        with module.File(tmp_path / name) as f:
            assert {n: (d.compression, d.shuffle, d.fletcher32) for n, d in f.items()} == wanted
            assert f["texts"][1] == b"yy" and f["sums"][99] == f["lzf"][99] == 99


def test_a_file_that_was_removed_can_be_closed(tmp_path):
    f = h5py.File(tmp_path / "a.drep", "w")
    f["x"] = 1
    os.remove(tmp_path / "a.drep")
    f["y"] = 2
    with pytest.warns(UserWarning, match="was removed .* is lost"):
        f.close()
    assert not f and not os.listdir(tmp_path)


def test_a_new_reader_sees_what_took_the_place(tmp_path):
    for name in "ab":
        with h5py.File(tmp_path / name, "w") as f:
            f["x"] = name
    first = h5py.File(tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "b").read_bytes())  # the same inode
    with h5py.File(tmp_path / "a") as f:
        assert f["x"][()] == b"b"
    first.close()


class Rows:
    """A sequence that is neither a list nor an array, as libraries make of datasets."""

    def __init__(self, rows):
        self._rows = rows

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, i):
        return self._rows[i]

    dtype = "a name"


def said(function, *args):
    """What an error says: its classes of Python, and the text."""
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001
        return [c for c in (KeyError, IndexError, TypeError, ValueError, OSError) if isinstance(error, c)], str(error)
    return None


def properties(h5, path):
    """How objects were made."""
    with h5.File(path("a"), "w", track_order=True) as f:
        f.create_group("plain")
        f.create_group("kept", track_order=True)
        f.create_dataset("x", (3, 4), chunks=(1, 2), compression="gzip", shuffle=True, fletcher32=True)
        f.create_dataset("y", (3, 4))
        both = h5.h5p.CRT_ORDER_TRACKED | h5.h5p.CRT_ORDER_INDEXED
        for name in "/", "plain", "kept":
            p = f[name].id.get_create_plist()
            yield p.get_attr_creation_order() & both == both, p.get_link_creation_order() & both == both
        p = f["x"].id.get_create_plist()
        yield p.get_chunk(), p.get_layout() == h5.h5d.CHUNKED, p.get_nfilters()
        p = f["y"].id.get_create_plist()
        yield said(p.get_chunk)[0], p.get_layout() != h5.h5d.CHUNKED, p.get_nfilters()
        yield [h5.h5z.get_filter_info(n) for n in (h5.h5z.FILTER_DEFLATE, h5.h5z.FILTER_SHUFFLE)]
        yield said(h5.h5z.get_filter_info, h5.h5z.FILTER_MAX)[0]


def names_in_use(h5, path):
    """Errors by which libraries know that an object is there."""
    with h5.File(path("a"), "w") as f:
        f["t"] = np.dtype("i4")
        for value in (np.dtype("i4"), 3, h5.SoftLink("x"), f["t"]):
            yield "name already exists" in said(f.__setitem__, "t", value)[1]  # h5py 3.7 and 3.13 differ in its class
        for make in (f.create_group, lambda name: f.create_dataset(name, (2,))):
            kinds, text = said(make, "t")
            yield kinds, "name already exists" in text


def indices(h5, path):
    """Errors that libraries read."""
    with h5.File(path("a"), "w") as f:
        x = f.create_dataset("x", (3, 2), maxshape=(None, 5), chunks=(2, 2))
        yield said(x.__setitem__, (), np.zeros((5, 2)))
        yield said(x.__getitem__, 3)
        yield said(x.__getitem__, -4)[0]
        x.id.extend((2, 4))
        yield x.shape
        x.id.set_extent((1, 5))
        yield x.shape


def named_types(h5, path):
    """Their classes, their layout, and which datasets have them."""
    made = {"number": "i4", "enum": h5.enum_dtype({"a": 1}), "rows": h5.vlen_dtype("f8"),
            "packed": [("a", "i1"), ("b", "i4")], "aligned": np.dtype([("a", "i1"), ("b", "i4")], align=True),
            "odd": {"names": ["a", "b"], "formats": ["i1", [("c", "i2"), ("d", "S1", (3,))]], "offsets": [2, 8],
                    "itemsize": 20}}
    with h5.File(path("a"), "w") as f:
        for name, dtype in made.items():
            f[name] = np.dtype(dtype)
            f.create_dataset("x_" + name, (2,), np.dtype(dtype))
            f.create_dataset("y_" + name, (2,), f[name])
    with h5.File(path("a")) as f:
        for name in made:
            t = f[name].id
            yield f[name].dtype, f[name].dtype == f["y_" + name].dtype == f["x_" + name].dtype
            yield t.get_class(), t.committed(), t.dtype == f[name].dtype
            yield [n for n in made if f["x_" + n].id.get_type() == t], [n for n in made if f[n].id == t]


def links_in_copies(h5, path):
    """Copies of what links lead to, and of the links."""
    with h5.File(path("other"), "w") as f:
        f["deep/x"] = np.arange(3)
        f["deep/y"] = h5.SoftLink("/deep/x")
    with h5.File(path("a"), "w") as f:
        f["g/own"] = np.arange(2)
        f["g/soft"] = h5.SoftLink("/g/own")
        f["g/outside"] = h5.ExternalLink(path("other"), "/deep")
        f["g/nowhere"] = h5.SoftLink("/nothing")
        f["g/below"] = h5.ExternalLink(path("other"), "/deep/x")
    for soft in False, True:
        for external in False, True:
            with h5.File(path("a"), "r") as f, h5.File(path("copy"), "w") as g:
                f.copy("g", g, expand_soft=soft, expand_external=external)
                yield [(n, g["g"].get(n, getlink=True, getclass=True).__name__) for n in sorted(g["g"])]
                yield g["g/soft"][:].tolist() if soft else None
                if external:
                    yield g["g/outside/x"][:].tolist(), g["g/below"][:].tolist()
                    yield g["g/below"].file.filename == path("copy")
                    yield g["g/outside"].get("y", getlink=True, getclass=True).__name__


def the_same_object(h5, path):
    """Objects of a file that is opened twice, also through a link."""
    with h5.File(path("other"), "w") as f:
        f["x"], f["y"] = 1, 2
    with h5.File(path("a"), "w") as f:
        f["link"] = h5.ExternalLink(path("other"), "/x")
        f["x"] = 1
    with h5.File(path("a"), "r") as f, h5.File(path("other"), "r") as g, h5.File(path("other"), "r") as h:
        yield g["x"] == h["x"], hash(g["x"]) == hash(h["x"]), g["x"] == h["y"], f["link"] == g["x"], f["x"] == g["x"]


def structs(h5, path):
    """From sequences of any class."""
    dtype = np.dtype([("a", "i4"), ("b", "f8")])
    with h5.File(path("a"), "w") as f:
        f.create_dataset("x", (2,), dtype)[:] = Rows([(1, 2.5), (3, 4.5)])
        yield f["x"][:].tolist()
        f.create_dataset("y", data=Rows([(1, 2.5), (3, 4.5)]), dtype=dtype)
        yield f["y"][:].tolist()


@pytest.mark.parametrize("work", [properties, names_in_use, indices, named_types, links_in_copies, the_same_object,
                                  structs])
def test_as_in_h5py(work, tmp_path):
    """What other libraries rely on is what h5py itself does."""
    real, results = pytest.importorskip("h5py"), []
    for h5, end in ((real, "h5"), (h5py, "drep")):
        results.append(list(work(h5, lambda name: str(tmp_path / f"{name}.{end}"))))
    assert results[1] == results[0]


@pytest.mark.parametrize("name", ["g", "t"])
def test_a_scale_is_a_dataset(name):
    with h5py.File(io.BytesIO(), "w") as f:
        f["x"], f["t"] = [1, 2], np.dtype("i4")
        f.create_group("g")
        with pytest.raises(TypeError, match=f'a scale is a dataset, not <HDF5 .* "/?{name}"'):
            f["x"].dims[0].attach_scale(f[name])
        assert not list(f[name].attrs) and not list(f["x"].attrs)
