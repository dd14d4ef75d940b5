# SPDX-License-Identifier: MIT
"""Random selections, compared with what NumPy selects of the same array."""
import copy
import os

import datarep as dr
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FULL = "DATAREP_FULL" in os.environ
SHAPES = [(), (7,), (1,), (0,), (5, 6), (4, 0, 3), (3, 4, 5), (2, 3, 2, 4), (40, 50)]
STORED = [{}, {"layout": "contiguous"}, {"chunks": "some", "filters": "shuffle,deflate:1"}]


def chunks(shape, said):
    made = dict(said)
    if made.get("chunks") == "some":
        made["chunks"] = tuple(max(1, (n + 2) // 3) for n in shape) if shape else None
        if not shape:
            return {}
    return made


def arrays():
    """[(dataset, array)] of all shapes and ways to store them."""
    f = dr.open(":memory:", "w", datarep="external32")
    made = []
    for shape in SHAPES:
        for i, said in enumerate(STORED):
            a = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
            name = f"{'x'.join(map(str, shape))}-{i}"
            made.append((f.create(name, a, **chunks(shape, said)), a))
    return f, made


FILE, ARRAYS = arrays()


@st.composite
def one_index(draw, n):
    kind = draw(st.sampled_from("issslm"))
    if kind == "i" and n:
        i = draw(st.integers(-n, n - 1))
        return draw(st.sampled_from([i, np.int64(i), np.array(i)]))
    if kind == "l" and n:
        made = draw(st.lists(st.integers(-n, n - 1), max_size=6))
        return draw(st.sampled_from([made, np.array(made, dtype=np.intp)]))
    if kind == "m":
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    bound = st.one_of(st.none(), st.integers(-n - 2, n + 2))
    step = draw(st.one_of(st.none(), st.integers(-3, 3).filter(bool)))
    return slice(draw(bound), draw(bound), step)


@st.composite
def keys(draw, shape):
    if draw(st.integers(0, 9)) == 0 and shape:
        return np.array(draw(st.lists(st.booleans(), min_size=int(np.prod(shape)),
                                      max_size=int(np.prod(shape)))), bool).reshape(shape)
    used = draw(st.integers(0, len(shape)))
    made = [draw(one_index(n)) for n in shape[:used]]
    if draw(st.booleans()):
        at = draw(st.integers(0, used))
        rest = shape[len(shape) - (used - at):] if used > at else ()
        made = made[:at] + [Ellipsis] + [draw(one_index(n)) for n in rest]
    if len(made) == 1 and not isinstance(made[0], list) and draw(st.booleans()):
        return made[0]
    return tuple(made)


def both(ds, a, key):
    """What NumPy and the dataset make of a key: values, or the class of the error."""
    try:
        want = a[key]
    except (IndexError, ValueError) as error:
        with pytest.raises((IndexError, ValueError)):
            ds[key]
        return type(error)
    got = ds[key]
    assert np.shape(got) == np.shape(want) and type(got) is type(want), (key, got, want)
    assert np.array_equal(got, want), (key, got, want)
    return None


@settings(max_examples=100_000 if FULL else 1500, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_reads_what_numpy_reads(data):
    ds, a = ARRAYS[data.draw(st.integers(0, len(ARRAYS) - 1))]
    both(ds, a, data.draw(keys(a.shape)))


@settings(max_examples=20_000 if FULL else 500, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_writes_what_numpy_writes(data):
    ds, a = ARRAYS[data.draw(st.integers(0, len(ARRAYS) - 1))]
    key = data.draw(keys(a.shape))
    a = a.copy()
    try:
        shape = np.shape(a[key])
    except (IndexError, ValueError):
        return
    value = np.arange(1000, 1000 + int(np.prod(shape)), dtype="i4").reshape(shape)
    if data.draw(st.booleans()) and shape:
        value = value[..., :1] if value.shape[-1] else value
    try:
        a[key] = value
        ds[key] = value
        assert np.array_equal(ds[...], a), key
    finally:
        ds[...] = np.arange(a.size, dtype="i4").reshape(a.shape)


@settings(max_examples=20_000 if FULL else 300, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_oindex_is_one_axis_after_another(data):
    ds, a = ARRAYS[data.draw(st.integers(0, len(ARRAYS) - 1))]
    key = [data.draw(one_index(n)) for n in a.shape]
    want = a
    for axis in reversed(range(a.ndim)):
        k = key[axis]
        k = int(k) if isinstance(k, np.ndarray) and k.ndim == 0 else k
        k = np.array(k, dtype=np.intp) if isinstance(k, list) else k
        want = want[(slice(None),) * axis + (k,)]
    got = ds.oindex[tuple(key)]
    assert np.shape(got) == want.shape and np.array_equal(got, want), key


def test_large_lists_by_boxes_and_points():
    a = np.arange(1_000_000, dtype="f8")
    rng = np.random.default_rng(3)
    with dr.open(":memory:", "w") as f:
        for name, said in (("c", {"layout": "contiguous"}), ("k", {"chunks": (10_000,)}),
                           ("z", {"chunks": (10_000,), "filters": "shuffle,zstd:1"})):
            f.create(name, a, **said)
            i = rng.integers(0, a.size, 10_000)
            assert np.array_equal(f[name][i], a[i])
            i.sort()
            assert np.array_equal(f[name][i], a[i]) and np.array_equal(f[name][i[5000:]], a[i[5000:]])
            assert np.array_equal(f[name][i.reshape(100, 100)], a[i.reshape(100, 100)])
            mask = rng.random(a.size) < 0.5
            assert np.array_equal(f[name][mask], a[mask])
            f.create(name + "2", a.reshape(1000, 1000), **(
                {"chunks": (100, 100), "filters": "zstd:1"} if name == "z" else {}))
            i = np.array([999, 0, 7, 7, 500])
            assert np.array_equal(f[name + "2"][i, 10:500], a.reshape(1000, 1000)[i, 10:500])
            assert np.array_equal(f[name + "2"][i, ::-7], a.reshape(1000, 1000)[i, ::-7])
            f[name][i] = -1.0
            assert (f[name][i] == -1).all() and f[name][8] == 8


def test_fields_are_read_alone():
    rows = np.zeros(10, [("when", "i8"), ("value", "f8"), ("pair", "f4", (2,))])
    rows["when"], rows["value"], rows["pair"] = range(10), 0.5, 3
    with dr.open(":memory:", "w") as f:
        f["rows"] = rows
        ds = f["rows"]
        assert (ds["when"] == rows["when"]).all() and (ds[2:4, "value"] == 0.5).all()
        assert ds["pair"].shape == (10, 2)
        assert ds[["value", "when"]].dtype.names == ("value", "when")
        assert ds.view("when")[3:5].tolist() == [3, 4]
        ds["value"] = np.arange(10.0)
        ds[0:2, "when"] = 7
        assert ds[1]["when"] == 7 and ds[1]["value"] == 1 and ds[1]["pair"].tolist() == [3, 3]
        with pytest.raises(KeyError):
            ds["nope"]


# ---------------------------------------------------------------------- zarr's oindex and vindex

@pytest.fixture(scope="module")
def of_zarr():
    """[(dataset, array of zarr, values)] of three shapes."""
    zarr = pytest.importorskip("zarr")
    made = []
    for shape, grid in (((9,), (4,)), ((5, 6), (2, 4)), ((3, 4, 5), (2, 2, 2))):
        a = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
        ds = FILE.create("zarr" + "x".join(map(str, shape)), a, chunks=grid, filters="shuffle,deflate:1")
        made.append((ds, zarr.array(a, chunks=grid), a))
    return made


@st.composite
def outer_index(draw, n, repeats):
    """What zarr takes for one dimension in oindex; lists without repeats, for writes."""
    kind = draw(st.sampled_from("islm"))
    if kind == "i":
        return draw(st.integers(-n - 1, n))
    if kind == "l":
        made = draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=6,
                             unique_by=None if repeats else lambda i: i % n))
        return draw(st.sampled_from([made, np.array(made)]))
    if kind == "m":
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    bound = st.one_of(st.none(), st.integers(-n - 2, n + 2))
    return slice(draw(bound), draw(bound), draw(st.one_of(st.none(), st.integers(1, 3))))


@st.composite
def outer_keys(draw, shape, repeats=True):
    made = [draw(outer_index(n, repeats)) for n in shape]
    # zarr looks for the ellipsis with ==, which arrays answer with arrays.
    if draw(st.booleans()) and not any(isinstance(k, (list, np.ndarray)) for k in made[:1]):
        made[1:] = [Ellipsis]
    return tuple(made)


@st.composite
def point_keys(draw, a):
    """Arrays of coordinates that are broadcast together, or a mask."""
    if draw(st.integers(0, 3)) == 0:
        return np.array(draw(st.lists(st.booleans(), min_size=a.size,
                                      max_size=a.size))).reshape(a.shape)
    shape = draw(st.sampled_from([(1,), (4,), (2, 3), (0,)]))
    made = []
    for n in a.shape:
        # Of one point by numbers alone zarr makes an array of one element, we a scalar as NumPy.
        own = shape[1:] if made and draw(st.integers(0, 3)) == 0 else shape
        count = int(np.prod(own))
        made.append(np.array(draw(st.lists(st.integers(-n - (draw(st.integers(0, 20)) == 0), n - 1),
                                           min_size=count, max_size=count)), dtype="i8").reshape(own))
    return tuple(made)


def as_zarr(ours, theirs, key):
    """The same values and shape, or an error from both."""
    try:
        want = theirs[copy.deepcopy(key)]  # zarr changes negative coordinates in their array
    except IndexError as error:
        with pytest.raises((IndexError, ValueError)):
            ours[key]
        return error
    got = ours[key]
    assert np.shape(got) == np.shape(want) and np.array_equal(got, want), (key, got, want)
    return None


@settings(max_examples=5_000 if FULL else 300, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_oindex_is_zarrs(of_zarr, data):
    ds, z, a = of_zarr[data.draw(st.integers(0, len(of_zarr) - 1))]
    as_zarr(ds.oindex, z.oindex, data.draw(outer_keys(a.shape)))


@settings(max_examples=5_000 if FULL else 300, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_vindex_is_zarrs(of_zarr, data):
    ds, z, a = of_zarr[data.draw(st.integers(0, len(of_zarr) - 1))]
    as_zarr(ds.vindex, z.vindex, data.draw(point_keys(a)))


@settings(max_examples=2_000 if FULL else 200, deadline=None, database=None,
          derandomize=not FULL, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_writes_by_oindex_and_vindex_are_zarrs(of_zarr, data):
    ds, z, a = of_zarr[data.draw(st.integers(0, len(of_zarr) - 1))]
    outer = data.draw(st.booleans())
    key = data.draw(outer_keys(a.shape, False) if outer else point_keys(a))
    try:
        shape = np.shape((z.oindex if outer else z.vindex)[copy.deepcopy(key)])
    except IndexError:
        return
    value = np.int32(-5)
    if not outer and isinstance(key, tuple):  # of points that are there twice any may be the last
        there = np.unique(np.ravel_multi_index(
            np.broadcast_arrays(*(k % n for k, n in zip(key, a.shape))), a.shape))
        if there.size != int(np.prod(shape)):
            shape = ()
    if shape:
        value = np.arange(1000, 1000 + int(np.prod(shape)), dtype="i4").reshape(shape)
    try:
        if outer:
            ds.oindex[key] = z.oindex[copy.deepcopy(key)] = value
        else:
            ds.vindex[key] = z.vindex[copy.deepcopy(key)] = value
        assert np.array_equal(ds[...], z[...]), key
    finally:
        ds[...] = a
        z[...] = a
