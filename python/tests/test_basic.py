# SPDX-License-Identifier: MIT
"""Files, groups, datasets, attributes, dimensions: the page that everybody starts with."""
import pickle

import datarep as dr
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.drep")


def test_the_first_page(path):
    rows = np.random.default_rng(1).random((24, 180))
    with dr.open(path, "w", datarep="external32") as f:
        f.attrs["title"] = "sea surface"
        f.dims["time"] = None
        f.dims["lat"] = 180
        t = f.create("time", dtype="f8", dims=["time"], attrs={"units": "days since 1990-01-01"})
        sst = f.create("sst", dtype="f4", dims=["time", "lat"], chunks=(1, 180),
                       filters="shuffle,zstd:3", fill=np.nan)
        sst.append(rows)
        t.append(np.arange(24.0))
        f["names"] = ["a", "bc", "héé"]
        f["rows"] = np.zeros(3, [("when", "i8"), ("value", "f8")])
        f["w"] = dr.array([1, 70000], stored="i2", range="clamp")
        assert f["w"].report.overflow == 1
    with dr.open(path) as f:
        assert f.attrs["title"] == "sea surface" and f.datarep == "external32"
        sst, want = f["sst"], rows.astype("f4")
        assert sst.dims == ("time", "lat") and sst.maxshape == (None, 180)
        assert sst.chunks == (1, 180) and sst.filters == "shuffle,zstd:3" and np.isnan(sst.fillvalue)
        assert f.dims["time"].unlimited and f.dims["time"].size == 24
        assert np.array_equal(sst[...], want)
        assert np.array_equal(sst[[7, 3, 3], ::-1], want[[7, 3, 3], ::-1])
        assert np.array_equal(sst.oindex[[1, 2], [5, 9]], want[np.ix_([1, 2], [5, 9])])
        assert np.array_equal(sst.vindex[[1, 2], [5, 9]], want[[1, 2], [5, 9]])
        assert list(f["names"]) == ["a", "bc", "héé"] and isinstance(f["names"][2], str)
        assert f["w"][...].tolist() == [1, 32767]
        assert f["rows"].view(["value"])[...].dtype.names == ("value",)
        assert f["rows"]["value"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [
    3, -1, 2**63 - 1, 1.5, True, "text", "", "héé", 2**63, 2**100, 1 + 2j,
    np.float32(2.5), np.int16(-3), np.uint64(2**64 - 1), np.float16(0.5), np.bool_(False),
    np.longdouble("1.1"), np.complex64(1 + 2j)])
def test_single_attributes_keep_value_and_kind(value):
    with dr.open(":memory:", "w") as f:
        f.attrs["a"] = value
        got = f.attrs["a"]
        assert got == value
        if isinstance(value, int) and abs(value) >= 2**63:
            return  # a uint64, or an object
        assert type(got) is type(value) or isinstance(value, (np.bool_, complex))


@pytest.mark.parametrize("value", [
    np.arange(3), np.zeros((2, 3), "f4"), np.array(["a", "é"], object), np.array([b"ab", b"c"]),
    np.zeros((0,), "i2"), np.array([True, False]), np.zeros(2, [("a", "i4"), ("b", "f8", (2,))])])
def test_attributes_of_arrays(value):
    with dr.open(":memory:", "w") as f:
        f.attrs["a"] = value
        got = f.attrs["a"]
        assert got.dtype == value.dtype and got.shape == value.shape and (got == value).all()


def test_attributes_are_a_dict():
    with dr.open(":memory:", "w") as f:
        f.attrs.update({"b": 1, "a": [1, 2]})
        assert list(f.attrs) == ["b", "a"] and "b" in f.attrs and len(f.attrs) == 2
        del f.attrs["b"]
        assert dict(f.attrs.items())["a"].tolist() == [1, 2]
        with pytest.raises(KeyError):
            f.attrs["b"]
        f.attrs["nul"] = "a\0b"
        assert f.attrs["nul"] == "a\0b"
        f.attrs["none"] = dr.Empty("f4")
        assert f.attrs["none"] == dr.Empty("f4")


def test_groups_are_dicts():
    with dr.open(":memory:", "w") as f:
        f["g/h/x"] = np.arange(5)
        assert list(f) == ["g"] and "g/h/x" in f and "g/y" not in f and len(f["g"]) == 1
        assert f["g"]["h"]["x"][2] == 2 and f["/g/h"].parent == f["g"]
        assert f.require_group("g") == f["g"] and f.get("no") is None
        f["soft"] = dr.SoftLink("/g/h/x")
        f["hard"] = f["g/h/x"]
        assert f["soft"][1] == 1 and f.get("soft", getlink=True) == dr.SoftLink("/g/h/x")
        assert f["hard"].id == f["g/h/x"].id
        seen = []
        f.visititems(lambda name, o: seen.append((name, type(o).__name__)))
        assert seen == [("g", "Group"), ("g/h", "Group"), ("g/h/x", "Dataset")]
        f.move("hard", "moved")
        f.copy("moved", "copied")
        assert f["copied"][...].tolist() == [0, 1, 2, 3, 4]
        del f["g"]
        with pytest.raises(KeyError):
            f["g/h/x"]


def test_with_commits_or_abandons(path):
    with pytest.raises(ZeroDivisionError):
        with dr.open(path, "w") as f:
            f["x"] = 1
            1 / 0
    with pytest.raises(FileNotFoundError) as e:
        dr.open(path)
    assert e.value.filename == path and isinstance(e.value, dr.Error)
    with dr.open(path, "w") as f:
        f["x"] = 1
    with pytest.raises(ZeroDivisionError):
        with dr.open(path, "a") as f:
            f["y"] = 2
            1 / 0
    with dr.open(path) as f:
        assert list(f) == ["x"] and f["x"][()] == 1 and f["x"][()].shape == ()


def test_commits_and_readers(path):
    with dr.open(path, "w") as f:
        f.create("x", dtype="i4", shape=(0,), maxshape=(None,)).append([1, 2])
        f.commit()
        r = dr.open(path)
        f["x"].append(np.array([3]))
        f.commit()
        assert r["x"].shape == (2,)
        old = r["x"]
        kept = pickle.loads(pickle.dumps(old))
        assert r.refresh() is True and r.refresh() is False
        assert old[...].tolist() == [1, 2, 3] and kept[...].tolist() == [1, 2]
        assert [c.number for c in f.log()] == [1, 2]
        with dr.open(path, commit=1) as first:
            assert first["x"].shape == (2,)
        kept.file.close()
        r.close()
        with pytest.raises(TypeError):
            pickle.dumps(f)


def test_dates(path):
    when = np.array(["2020-01-01T12:00:00", "NaT", "1969-12-31T23:59:59"], "M8[s]")
    step = np.array([1, -5], "m8[ns]")
    with dr.open(path, "w") as f:
        f["when"], f["step"] = when, step
        f.create("ints", np.array([5], "i8"), fill=-2**63)
    with dr.open(path) as f:
        assert f["when"].dtype == when.dtype and f["when"].attrs["calendar"] == "proleptic_gregorian"
        assert np.array_equal(f["when"][...].view("i8"), when.view("i8"))
        assert f["step"].dtype == step.dtype and (f["step"][...] == step).all()
        assert f["ints"].dtype == "i8"


def test_errors(path):
    with dr.open(path, "w") as f:
        f["x"] = np.arange(3)
        with pytest.raises(ValueError):
            f["x"] = 1
        with pytest.raises(KeyError) as e:
            f["nope"]
        assert e.value.code == 26
    f = dr.open(path)
    x = f["x"]
    with pytest.raises(OSError):
        x[0] = 1
    for key in (3, -4, None, (0, 0), "a", [5], 2.0, True):
        with pytest.raises((IndexError, TypeError)):
            x[key]
    f.close()
    for call in (lambda: x[0], lambda: x.shape, lambda: f["x"], lambda: f.attrs["a"], lambda: list(f)):
        with pytest.raises(ValueError, match="closed"):
            call()
    with pytest.raises(ValueError):
        dr.open(__file__)
    assert repr(f) == "<closed file>"


def test_many_texts_short_and_long():
    rng = np.random.default_rng(2)
    for longest in (31, 32, 33, 300):
        a = np.array(["é" * int(n) + "x" for n in rng.integers(0, longest // 2, 40_000)], object)
        a[-1] = "x" * longest
        with dr.open(":memory:", "w") as f:
            f.create("a", a.reshape(-1, 4), filters="zstd:1")
            assert (f["a"][...] == a.reshape(-1, 4)).all()
            assert (f["a"][::-3, 1:3] == a.reshape(-1, 4)[::-3, 1:3]).all()
            assert f["a"][-1, -1] == "x" * longest


def test_every_predefined_type_round_trips():
    from datarep import types
    rng = np.random.default_rng(5)
    with dr.open(":memory:", "w") as f:
        for name in types.CODES:
            form = types.type_of(name)
            if form.dtype.kind == "O":
                a = np.array([0, 1, 2**127 - 1], object)
            elif form.dtype.kind == "U":
                a = np.array(["a", "é", "\U0001F600"])
            elif form.dtype.kind in "?b":
                a = np.array([True, False, True])
            elif form.dtype.kind in "fc":
                a = np.array([0, -1.5, 3]).astype(form.dtype)
            else:
                raw = rng.integers(0, 127, 3 * form.dtype.itemsize).astype("u1")
                a = np.frombuffer(raw.tobytes(), form.dtype)
            ds = f.create(name, a, dtype=name)
            assert repr(ds.type) == name and ds.dtype == form.dtype, name
            got = ds[...]
            assert got.dtype == a.dtype and (got == a).all(), name
            if form.dtype.char not in "OgG":  # whose padding means nothing
                assert got.tobytes() == a.tobytes(), name
            f.attrs[name] = a[0]


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", ">i2", "<u8", ">c16", "?", "S5", "V7", "<c8"])
def test_bits_are_kept(dtype):
    dtype = np.dtype(dtype)
    raw = np.random.default_rng(3).integers(0, 255, 64 * dtype.itemsize).astype("u1")
    if dtype.kind == "b":
        raw &= 1
    a = np.frombuffer(raw.tobytes(), dtype)
    for datarep in ("native", "external32", "internal", "native:s390x"):
        with dr.open(":memory:", "w", datarep=datarep) as f:
            f["a"] = a
            native = a.astype(dtype.newbyteorder("="))
            assert f["a"][...].tobytes() == native.tobytes() and f["a"].dtype == native.dtype


def test_enums_booleans_references_sequences():
    with dr.open(":memory:", "w") as f:
        f.create("e", [0, 5], dtype=dr.enum_dtype({"a": 0, "b": 5}, "i2"))
        assert f["e"].dtype.metadata["enum"] == {"a": 0, "b": 5} and f["e"][1] == 5
        f["r"] = np.array([f["e"].ref, dr.Reference(0)], object)
        assert f[f["r"][0]] == f["e"] and not f["r"][1]
        f.attrs["r"] = f["e"].ref
        assert f[f.attrs["r"]].name == "/e"
        v = f.create("v", shape=(2,), dtype=dr.vlen_dtype("f4"))
        v[0] = [1, 2, 3]
        assert v[0].tolist() == [1, 2, 3] and v[1].tolist() == []
        nested = f.create("n", dtype=[("a", "i4"), ("v", dr.vlen_dtype("i8")), ("t", dr.string_dtype())],
                          shape=(3,), chunks=(2,))
        nested[1] = (7, np.arange(4), "text")
        assert nested[1]["v"].tolist() == [0, 1, 2, 3] and nested["t"][1] == "text"
        assert nested[0]["a"] == 0 and nested[0]["t"] == ""
        f.create("text", dtype="S4", shape=(2,))[:] = ["a", "bcd"]
        assert f["text"].asstr()[...].tolist() == ["a", "bcd"]
        with pytest.raises(ValueError):
            f["text"][0] = "ééé"


def test_fill_values():
    with dr.open(":memory:", "w") as f:
        for name, dtype, fill in (("t", str, "nö"), ("f", "f4", np.nan), ("l", "FLOAT128", 1.5),
                                  ("s", [("a", "i2"), ("b", "f8")], (3, 0.5)), ("S", "S3", b"ab"),
                                  ("v", dr.vlen_dtype("i4"), [1, 2])):
            ds = f.create(name, dtype=dtype, shape=(3,), fill=fill)
            got = ds[1]
            if name == "s":
                assert got.tolist() == fill
            elif name == "f":
                assert np.isnan(got) and np.isnan(ds.fillvalue)
            elif name == "v":
                assert got.tolist() == [1, 2]
            else:
                assert got == fill or got.tolist() == fill, name


def test_deleted_objects_and_closed_handles(path):
    f = dr.File(path, "w")
    x = f.create_dataset("x", (3,), "i4", compression="gzip", shuffle=True)
    g = f.create_group("g")
    assert x.filters.startswith("shuffle,deflate") and f.require_dataset("x", (3,), "i4").shape == (3,)
    with pytest.raises(TypeError):
        f.require_dataset("x", (4,), "i4")
    del f["x"], f["g"]
    for call in (lambda: x[0], lambda: x.attrs["a"], lambda: x.resize((4,)), lambda: g.attrs["a"],
                 lambda: list(g)):
        with pytest.raises((KeyError, ValueError)):
            call()
    f.close()
    f.close()
    r = dr.File(path)
    assert list(r) == []
    w = dr.File(path, "a")
    with pytest.raises(OSError) as e:
        dr.File(path, "a")
    assert e.value.filename == path and e.value.errno
    w["x"] = 1
    w.close()
    r.refresh()
    assert r["x"][()] == 1
    r.close()


def test_errors_name_object_and_byte(path):
    with dr.open(path, "w") as f:
        f.create("g/x", np.arange(100_000.0), chunks=(50_000,))
    with open(path, "r+b") as f:
        data = f.read()
        at = data.find(np.float64(70_000).tobytes())
        f.seek(at)
        f.write(b"\xff" * 8)
    with dr.open(path) as f:
        with pytest.raises(dr.ChecksumError) as e:
            f["g/x"][...]
        assert e.value.object == "/g/x" and e.value.byte and e.value.code == 13
        assert f["g/x"][5] == 5
        assert {code for code, _, _ in f.check()} == {13}
    assert not dr.check(path)


def test_wrong_values(path):
    with dr.open(":memory:", "w") as f:
        f["x"] = np.zeros((2, 3))
        x = f["x"]
        for value in (np.zeros(2), "text", np.zeros((3, 3)), object(), [[1, 2], [3]]):
            with pytest.raises((ValueError, TypeError)):
                x[...] = value
        with pytest.raises(ValueError):
            x.append(np.zeros((1, 4)))
        f.commit()  # an append after a failed one
        with pytest.raises((ValueError, IndexError)):
            x.append(np.zeros((1, 3)))
        with pytest.raises(TypeError):
            del x[0]
        f["i"] = np.zeros(3, "i1")
        with pytest.raises(ValueError):
            f["i"][...] = np.array([1, 300, 2])
        with pytest.raises(ValueError):
            f["i"].write(np.array([1, 300, 2]), range="strict")
        assert f["i"].write(np.array([1, 300, 2]), range="clamp").overflow == 1
        assert f["i"][...].tolist() == [1, 127, 2]
        with pytest.raises(ValueError):
            f["i"].write([1.5, 2.5, -0.6])
        assert f["i"].write([1.5, 2.5, -0.6], range="round").inexact == 3
        assert f["i"][...].tolist() == [2, 2, -1]
        with pytest.raises(ValueError):
            f["i"].write([127.5], 0, range="round")
        f["r"] = [1.25, 3.5]
        whole = np.zeros(2, "i8")
        with pytest.raises(ValueError):
            f["r"].read_into(whole)
        f["r"].read_into(whole, range="round")
        assert whole.tolist() == [1, 4]
        with pytest.raises(ValueError):
            f.create("bad/../..", [1], filters="nope")
        assert "y" not in f
        with pytest.raises(TypeError):
            f["y"] = [object()]
        for name in ("", "a\0b", 5):
            with pytest.raises((ValueError, TypeError, KeyError)):
                f[name]
        null = f.create("null", dr.Empty("f4"))
        assert null.shape is None and null.size == 0
        with pytest.raises(TypeError):
            null[...]


def test_an_error_that_was_caught_keeps_what_succeeded(path):
    with dr.open(path, "w") as f:
        f["x"] = np.zeros(3, "i1")
        with pytest.raises(ValueError):
            f["x"][...] = np.array([1, 300, 2])
        f["x"][0] = 5
    with dr.open(path) as f:
        assert f["x"][...].tolist() == [5, 0, 0]
    dr.open(path, "w").close()
    with dr.open(path) as f:
        assert len(f) == 0


def test_scalars_and_empty_arrays():
    with dr.open(":memory:", "w") as f:
        f["s"] = 5
        assert f["s"].shape == () and isinstance(f["s"][()], np.int64)
        assert isinstance(f["s"][...], np.ndarray) and f["s"][...].shape == ()
        f["s"][()] = 6
        f["s"][...] = 7
        assert f["s"][()] == 7
        f["e"] = np.zeros((0, 3))
        assert f["e"][...].shape == (0, 3) and f["e"][:, 1].shape == (0,)
        f["e"][...] = 1
        assert np.asarray(f["s"]) == 7 and len(f["e"]) == 0 and list(f["e"]) == []
        with pytest.raises(TypeError):
            len(f["s"])


def test_dimensions():
    with dr.open(":memory:", "w") as f:
        f.dims["time"], f.dims["x"] = None, 3
        f.create_group("g").dims["time"] = 2
        f.dims["x"].attrs["units"] = "m"
        assert list(f.dims) == ["time", "x"] and f.dims["x"].attrs["units"] == "m"
        assert f["g"].dims["x"].address == "/#x" and len(f["g"].dims["time"]) == 2
        a = f.create("a", np.zeros((2, 3)), dims=["time", "x"])
        x = f.create("x", np.arange(3.0), dims=["x"])
        assert a.dims == ("time", "x") and f.dims["time"].size == 2 and a.maxshape == (None, 3)
        assert f.dims["x"].coordinate == x and f.dims["time"].coordinate is None
        new = f.create("new", np.zeros((4, 5)), dims=["p", None])
        assert new.dims == ("p", None) and f.dims["p"].size == 4
        with pytest.raises(ValueError):
            f.create("bad", np.zeros(4), dims=["x"])
        with pytest.raises(NotImplementedError):
            del f.dims["x"]
        f.dims["x"].rename("lon")
        assert a.dims == ("time", "lon")
        a.append(np.ones((1, 3)))
        assert f.dims["time"].size == 3
        with pytest.raises(KeyError):
            f.dims["none"]
        f._h.dimension_set_scales("/#p", [x.id, a.id])
        assert f._h.dimension_scales("/#p") == [x.id, a.id]


def test_where_large_arrays_begin():
    """At a line of the cache, which system calls fill fastest; otherwise as any other array."""
    with dr.open(":memory:", "w") as f:
        n, rows = np.arange(3e5), np.zeros(30000, "i4,(10,)f4")
        f["n"], f["rows"] = n, rows
        f["few"] = n[:9]
        mask = n % 3 != 1
        for got, want in ((f["n"][...], n), (f["n"][5:], n[5:]), (f["n"][1::2], n[1::2]),
                          (f["n"][mask], n[mask]), (f["rows"][...], rows), (f["few"][...], n[:9])):
            assert got.flags.writeable and got.flags.c_contiguous and (got == want).all()
            assert (pickle.loads(pickle.dumps(got)) == want).all()
        assert f["n"][...].__array_interface__["data"][0] % 64 == 0
        assert f["rows"][...].__array_interface__["data"][0] % 64 == 0
        assert f["few"][...].base is None
        assert (f["n"][::-1] == n[::-1]).all()


def test_sync_is_the_hint(tmp_path):
    for options, hint in (({}, "commit"), ({"sync": True}, "commit"), ({"sync": False}, "none"),
                          ({"sync": False, "hints": {"drep_keep": 3}}, "none"),
                          ({"hints": {"drep_sync": "none"}}, "none")):
        with dr.open(tmp_path / "s.drep", "w", **options) as f:
            f["x"] = [1, 2]
            assert f.hints["drep_sync"] == hint
        for mode in ("r+", "r"):
            with dr.File(tmp_path / "s.drep", mode, **options) as f:
                assert f.hints["drep_sync"] == hint and f["x"][...].tolist() == [1, 2]
