# SPDX-License-Identifier: MIT
"""Every way in which a value comes into a file, for every type and for extreme values: what is stored
is what was given, or the nearest number of a shorter float, or the caller is told.

The oracle is arithmetic of Python: int, Fraction and bytes; neither NumPy nor the library."""
import ast
import fractions
import gc
import math
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import datarep as dr
import datarep.h5 as h5

INTS = {f"{s}{n}": (-(1 << 8 * n - 1) if s == "i" else 0, (1 << 8 * n - (s == "i")) - 1)
        for s in "iu" for n in (1, 2, 4, 8)}
FLOATS = {"f2": "e", "f4": "f", "f8": "d"}
TARGETS = [*INTS, *FLOATS, "?", "c8", "c16", "S3", "str"]


def extremes():
    """Values of Python: the limits of every type and what is just beyond, fractions, texts, nothing."""
    edges = {0, 1, -1, 2, 100}
    for low, high in INTS.values():
        edges |= {low, low - 1, high, high + 1}
    for bits in (11, 24, 53):
        edges |= {(1 << bits) + 1, -(1 << bits) - 1}
    edges |= {1 << 100, -(1 << 100)}
    reals = [0.5, -0.5, 1.5, 0.1, 65504.0, 65520.0, 3.4e38, 3.5e38, 1e300, -1e300, 5e-324, 1e-50, 2.0 ** 63,
             2.0 ** 64, -2.0 ** 63, 255.5, float("nan"), float("inf"), -float("inf"), -0.0]
    others = [True, False, 1j, 1 + 2j, "", "a", "abc", "abcd", "héé", "a\0b", b"", b"a", b"abc", b"abcd",
              None, {}, object(), fractions.Fraction(1, 3)]
    return [*sorted(edges), *reals, *others]


def nearest(value, stored, code):
    """Whether no float of the format is nearer to the value than the stored one."""
    exact = fractions.Fraction(value)
    error = abs(fractions.Fraction(stored) - exact)
    size = struct.calcsize(code)
    bits = int.from_bytes(struct.pack("<" + code, stored), "little")
    for other in (bits - 1, bits + 1, 1, (1 << 8 * size - 1) | 1):
        if 0 <= other < 1 << 8 * size:
            near = struct.unpack("<" + code, other.to_bytes(size, "little"))[0]
            if math.isfinite(near) and abs(fractions.Fraction(near) - exact) < error:
                return False
    return True


def right(value, stored, target):
    """Whether what was read may be what was given."""
    if target in ("str", "S3"):
        if not isinstance(value, (str, bytes)):
            return False
        raw = value if isinstance(value, bytes) else value.encode()
        got = stored if isinstance(stored, bytes) else stored.encode()
        return raw.rstrip(b"\0") == got if target == "S3" else raw == got
    if isinstance(value, (str, bytes)) or not isinstance(value, (int, float, complex)):
        return False
    if target == "?":
        return value in (0, 1) and bool(stored) == bool(value)
    if target in INTS:
        return not isinstance(value, complex) and value == value and int(stored) == value
    if target in FLOATS:
        return not isinstance(value, complex) and real_right(value, float(stored), FLOATS[target])
    code = "f" if target == "c8" else "d"
    given, got = complex(value) if isinstance(value, complex) else None, complex(stored)
    parts = [(given.real, got.real), (given.imag, got.imag)] if given is not None \
        else [(value, got.real), (0, got.imag)]
    return all(real_right(g, s, code) for g, s in parts)


def real_right(value, stored, code):
    if value != value:
        return stored != stored
    if isinstance(value, float) and math.isinf(value) or math.isinf(stored):
        return value == stored
    return nearest(value, stored, code)


def changed(value, stored, target):
    """Whether an integer became another number, which the caller must be told."""
    return isinstance(value, int) and target in FLOATS and fractions.Fraction(float(stored)) != value


# ------------------------------------------------------------------------------ the ways in

def dtype_of(target):
    return str if target == "str" else target


def scalar(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d[1] = v
    return d[1]


def whole(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d[...] = [v, v]
    return d[0]


def array(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d[...] = np.array([v, v])
    return d[1]


def objects(f, t, v):
    made = np.empty(2, object)
    made[:] = v
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d[...] = made
    return d[1]


def create(f, t, v):
    return f.create("d", [v], dtype=dtype_of(t))[0]


def append(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(0,), maxshape=(None,))
    d.append([v])
    return d[0]


def fill(f, t, v):
    if v is None or v is False:
        raise TypeError("no fill is asked for")
    return f.create("d", dtype=dtype_of(t), shape=(2,), fill=v)[0]


def attribute(f, t, v):
    f.attrs.create("a", [v], dtype=dtype_of(t))
    return f.attrs["a"][0]


def member(f, t, v):
    d = f.create("d", dtype=[("k", "i4"), ("m", dtype_of(t) if t != "str" else dr.types.string_dtype())],
                 shape=(2,))
    d[0] = (7, v)
    return d[0]["m"]


def member_alone(f, t, v):
    d = f.create("d", dtype=[("k", "i4"), ("m", dtype_of(t) if t != "str" else dr.types.string_dtype())],
                 shape=(2,))
    d["m"] = [v, v]
    return d[1]["m"]


def points(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(4,))
    d[[3, 1]] = [v, v]
    return d[3]


def sequence(f, t, v):
    base = dr.types.string_dtype() if t == "str" else t
    d = f.create("d", dtype=dr.types.vlen_dtype(base), shape=(1,))
    d[0] = [v]
    return d[0][0]


def subarray(f, t, v):
    if t == "str":
        raise TypeError("not of texts")
    d = f.create("d", dtype=(t, (2,)), shape=(1,))
    d[0] = [v, v]
    return d[0][1]


def masked(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d[...] = np.ma.array([v, v], mask=[False, False])
    return d[0]


def shim(f, t, v):
    g = h5.File("s", "w", driver="core", backing_store=False)
    d = g.create_dataset("d", (2,), dtype=h5.string_dtype() if t == "str" else t)
    d[0] = v
    return d[0]


def shim_data(f, t, v):
    g = h5.File("s", "w", driver="core", backing_store=False)
    return g.create_dataset("d", data=[v], dtype=h5.string_dtype() if t == "str" else t)[0]


def shim_attribute(f, t, v):
    g = h5.File("s", "w", driver="core", backing_store=False)
    g.attrs.create("a", [v], dtype=h5.string_dtype() if t == "str" else t)
    return g.attrs["a"][0]


def written(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(2,))
    d.write([v, v])
    return d[1]


def outer(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(3,))
    d.oindex[[2, 0]] = [v, v]
    return d[2]


def coordinates(f, t, v):
    d = f.create("d", dtype=dtype_of(t), shape=(3, 2))
    d.vindex[[2, 0], [1, 0]] = [v, v]
    return d[2, 1]


def wrapped(f, t, v):
    f["d"] = dr.array([v], stored=dtype_of(t))
    return f["d"][0]


def records(f, t, v):
    """A table of pandas, as dr's messages tell to give it."""
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"m": [v]}).to_records(index=False)
    d = f.create("d", dtype=[("m", dtype_of(t) if t != "str" else dr.types.string_dtype())], shape=(1,))
    d[...] = rows
    return d[0]["m"]


DOORS = [written, outer, coordinates, wrapped, records, scalar, whole, array, objects, create, append, fill, attribute, member, member_alone, points, sequence,
         subarray, masked, shim, shim_data, shim_attribute]


def forms(value):
    """The value itself, and as NumPy has it where that is the same value."""
    yield value
    if isinstance(value, bool):
        yield np.bool_(value)
    elif isinstance(value, int):
        for t, (low, high) in INTS.items():
            if low <= value <= high:
                yield np.dtype(t).type(value)
    elif isinstance(value, float):
        yield np.float64(value)
        yield np.longdouble(value)
        if value != value or math.isinf(value) or \
                abs(value) < 3e38 and struct.unpack("f", struct.pack("f", value))[0] == value:
            yield np.float32(value)
    elif isinstance(value, complex):
        yield np.complex64(value)
    elif isinstance(value, str):
        yield np.str_(value)


SHARE = 1 if os.environ.get("DATAREP_FULL") else 3  # every third cell, others for each door


@pytest.mark.parametrize("door", DOORS, ids=lambda d: d.__name__)
def test_a_value_is_stored_or_refused(door, record_property):
    cells, f, skip = 0, dr.open(":memory:", "w"), DOORS.index(door)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for target in TARGETS:
            for value in extremes():
                for form in forms(value):
                    skip += 1
                    if skip % SHARE:
                        continue
                    cells += 1
                    told.clear()
                    if "d" in f:
                        del f["d"]
                    try:
                        got = door(f, target, form)
                    except (TypeError, ValueError, OverflowError, NotImplementedError):
                        continue
                    where = f"{door.__name__}: {form!r} ({type(form).__name__}) as {target} reads {got!r}"
                    assert right(value, got, target), where
                    if changed(value, got, target):
                        assert any(issubclass(w.category, dr.ConversionWarning) for w in told), where
    record_property("cells of the table of values", cells)
    assert cells > 20_000 / len(DOORS)  # of all doors more than 20,000


def test_what_fits_is_stored():
    """The table above would pass if everything was refused."""
    for door in DOORS:
        for target, values in {"u1": [0, 255], "i8": [-1 << 63], "u8": [(1 << 64) - 1], "f4": [0.5, 7],
                               "?": [True], "c16": [1 + 2j, 3], "S3": [b"abc", "a"], "str": ["héé"]}.items():
            for value in values:
                if door is subarray and target == "str":
                    continue
                assert right(value, door(dr.open(":memory:", "w"), target, value), target), (door, target, value)


def test_lint_values_are_made_in_one_place():
    """No module but values.py turns a caller's value into an array of another dtype."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/datarep"
    # Functions that turn what was read, or indices, into something, texts into objects, or numbers into
    # wider ones (xarray.py: _exact).
    reads = {"__array__", "_decoded", "as_stored", "_parts", "parse", "outer", "export", "_mask", "as_bytes",
             "_selection", "_get", "__getitem__", "_counted", "_extremes", "_equal", "_is_there", "read",
             "_by_blocks", "_index", "_attach", "_back", "astype", "_key", "_list", "_array", "_points", "members", "_list_of", "_read",
             "_turned", "as_str", "as_data", "_exact",
             "_fine_units"}
    found = []
    for above, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".py") or name in ("values.py", "index.py"):
                continue
            tree = ast.parse(open(os.path.join(above, name), encoding="utf-8").read())
            for fn in ast.walk(tree):
                if not isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef)) or fn.name in reads:
                    continue
                for node in ast.walk(fn):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (
                            node.func.attr in ("astype", "asarray")
                            or node.func.attr == "array" and len(node.args) + len(node.keywords) > 1
                            and any(k.arg == "dtype" for k in node.keywords)):
                        found.append(f"{name}:{node.lineno}: {fn.name}: {node.func.attr}")
    assert not found, "\n".join(found)


# ------------------------------------------------------------------------------------ dates

@pytest.mark.parametrize("text", [None, "U9", dr.string_dtype()])
def test_dates_are_members_of_structs(tmp_path, text):
    """A member that is a date is one whether or not another member is a text."""
    more, word = ([("text", text)], ("h\xe9",)) if text else ([], ())
    dtype = np.dtype([("id", "i4"), ("when", "M8[s]"), ("days", "M8[D]", (2,)), ("in", [("took", "m8[ms]"), *more]), *more])
    when, days = np.datetime64("2024-01-02T03:04:05"), np.array(["2024-01-02", "NaT"], "M8[D]")
    rows = np.array([(i, when + i, days, (np.timedelta64(i, "ms"), *word), *word) for i in range(3)], dtype)
    with dr.open(tmp_path / "a", "w") as f:
        f["given"] = rows
        log = f.create("log", dtype=dtype, shape=(0,), maxshape=(None,))
        log.append(rows[:1])
        log.append([tuple(rows[1]), tuple(rows[1])])
        log[2] = rows[2]
        log["when"] = log["when"]
        with pytest.raises(ValueError, match="/log: member 'when': .* is .*05.500, which a count of s cannot hold"):
            log[0] = (0, np.datetime64("2024-01-02T03:04:05.500"), *tuple(rows[0])[2:])
        with pytest.raises(TypeError, match="/log: member 'when': elements of int64 cannot be stored as dates"):
            log[0] = (0, 5, *tuple(rows[0])[2:])
        filled = f.create("filled", dtype=dtype, shape=1, fill=tuple(rows[1]))
        assert filled[0]["when"] == rows[1]["when"]
    with dr.open(tmp_path / "a") as f:
        for ds in (f["given"], f["log"]):
            got, out = ds[...], np.empty(3, ds.dtype)
            ds.read_into(out)
            for back in (got, out, ds[[0, 1, 2]], ds.fields(list(dtype.names))[:], ds.astype(dtype)[:]):
                assert back.dtype["when"] == "M8[s]" and back.dtype["days"] == dtype["days"]
                assert back.dtype["in"]["took"] == "m8[ms]" and (back["in"]["took"] == rows["in"]["took"]).all()
                assert (back["when"] == rows["when"]).all() and (back["id"] == rows["id"]).all()
                assert (np.isnat(back["days"]) == [False, True]).all() and (back["days"][:, 0] == days[0]).all()
                assert not text or back["text"].tolist() == back["in"]["text"].tolist() == ["h\xe9"] * 3
            assert ds["when"].dtype == "M8[s]" and ds[1]["when"] == when + 1 and not dict(ds.attrs)


def test_dates_in_sequences_of_structs_are_refused():
    f = dr.open(":memory:", "w")
    with pytest.raises(TypeError, match="sequences of dates cannot be stored: store the numbers and their units"):
        f.create("x", dtype=[("at", dr.vlen_dtype("M8[s]"))], shape=2)


def test_dates_keep_their_type():
    f = dr.open(":memory:", "w")
    rows = np.array([(1, "2000-01-01T06:30"), (2, "NaT")], [("i", "i4"), ("t", "M8[ns]")])
    f["rows"] = rows
    assert f["rows"].dtype == rows.dtype and (f["rows"][...]["t"][:1] == rows["t"][:1]).all()
    assert np.isnat(f["rows"][1]["t"]) and not dict(f["rows"].attrs) and list(f["rows"].attrs.notes)
    assert f["rows"]["t"].dtype == f["rows"].fields("t").dtype == "M8[ns]"
    d = f.create("d", dtype="M8[s]", shape=(2,), fill=np.datetime64("2000-01-01"))
    assert d.dtype == "M8[s]" and d[0] == np.datetime64("2000-01-01")
    d[0] = np.datetime64("2001-01-01T00:00:00.000")
    with pytest.raises(ValueError, match="01.500, which a count of s cannot hold"):
        d[1] = np.datetime64("2001-01-01T00:00:01.500")
    with pytest.raises(TypeError, match="cannot be stored as an attribute"):
        f.attrs["when"] = np.datetime64("2001-01-01")


def test_a_date_that_overflows_is_refused():
    f = dr.open(":memory:", "w")
    d = f.create("d", dtype="M8[ns]", shape=(1,))
    with pytest.raises(ValueError, match="3000"):
        d[0] = np.datetime64("3000-01-01")


def test_masked_elements_need_a_fill():
    f = dr.open(":memory:", "w")
    with pytest.raises(ValueError, match="masked elements cannot be stored"):
        f["m"] = np.ma.array([1, 2], mask=[0, 1])
    d = f.create("d", dtype="i4", shape=(2,), fill=-9)
    d[...] = np.ma.array([1, 2], mask=[0, 1])
    assert d[...].tolist() == [1, -9]


@pytest.mark.parametrize("value, said", [
    ([1, "a"], "int and str in one list"), ([None, 1], r"element \(0,\) is None"), ({"a": 1}, "a dict"),
    ([[1, 2], [3]], "rows have different lengths"), ([1.5, (1 << 53) + 1], "no float equals"), (1 << 130, "128 bits")])
def test_what_has_no_place_is_named(value, said):
    f = dr.open(":memory:", "w")
    for put in (lambda: f.attrs.__setitem__("a", value), lambda: f.__setitem__("d", value)):
        with pytest.raises((TypeError, ValueError, OverflowError), match=said):
            put()
    assert not len(f) and not len(f.attrs)


def test_bytes_of_attributes_are_whole():
    f = dr.open(":memory:", "w")
    for value in (b"12\0" + b"34", b"12\0", b"\0", b"\xff\xfe"):
        f.attrs["k"] = value
        assert f.attrs["k"] == value
    f.attrs.create("k", np.bytes_(b"12\0" + b"34"))  # as HDF5 has it
    assert f.attrs["k"] == b"12\0" + b"34"
    f.attrs["k"] = b"text"
    assert f.attrs["k"] == "text"


def test_notes_are_not_attributes():
    f = dr.open(":memory:", "w")
    f.attrs["drep.hdf5:x"] = "kept"
    f.attrs["own"] = 1
    assert dict(f.attrs) == {"own": 1} and len(f.attrs) == 1
    assert dict(f.attrs.notes) == {"drep.hdf5:x": "kept"} and f.attrs["drep.hdf5:x"] == "kept"


# ------------------------------------------------------------------------- the life of files

def run(path, code):
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(dr.__file__)))
    return subprocess.run([sys.executable, "-c", "import datarep as dr, sys\n" + code], env=env, cwd=path,
                          capture_output=True, text=True, check=False)


def test_a_file_that_goes_out_of_scope_is_committed(tmp_path):
    path = str(tmp_path / "a.drep")
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f = dr.open(path, "w")
            f["x"] = 1
            del f
            f = dr.open(path, "a")  # the lock is free
            d = f["x"]
            del f
            d[...] = 2
            del d
        assert dr.open(path)["x"][()] == 2
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3000):
            dr.open(path)["x"]
        assert len(os.listdir("/proc/self/fd")) <= before
    finally:
        gc.enable()


@pytest.mark.parametrize("end, status, kept", [("", 0, True), ("sys.exit(3)", 3, True), ("1 / 0", 1, False),
                                               ("raise KeyboardInterrupt", -2, False)])
def test_a_program_that_ends(tmp_path, end, status, kept):
    with dr.open(str(tmp_path / "a.drep"), "w") as f:
        f["x"] = 1
    done = run(tmp_path, f"f = dr.open('a.drep', 'a')\nf['x'][...] = 2\n{end}")
    assert done.returncode == status, done.stderr
    assert dr.open(str(tmp_path / "a.drep"))["x"][()] == (2 if kept else 1)


def test_with_publishes_nothing_after_an_exception(tmp_path):
    path = str(tmp_path / "a.drep")
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            with dr.open(path, "w") as f:
                f["x"] = 1
                raise error
    assert not os.path.exists(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
def test_a_signal_ends_a_long_call(tmp_path, error):
    """In the middle: the rest of the array is as it was; what was being written is not in the file."""
    n = 16 << 20  # numbers that hardly pack take long
    given, out = np.random.default_rng(1).random(n), np.full(n, 7.0)

    def interrupt(number, frame):
        raise error

    with dr.open(tmp_path / "a.drep", "w") as f:
        f.create("x", given, chunks=(1 << 16,), filters=["deflate"])
    def when_it_reads():
        while out[0] == 7:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with dr.open(tmp_path / "a.drep", "a") as f:
            watcher = threading.Thread(target=when_it_reads)
            watcher.start()
            with pytest.raises(error):
                f["x"].read_into(out, threads=1)
                time.sleep(10)
            watcher.join()
            assert out[0] == given[0] and out[-1] == 7
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            with pytest.raises(error):
                f["x"][...] = out
                time.sleep(10)
            assert (f["x"][...] == given).all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_texts_in_every_array_and_list(tmp_path):
    """Arrays of objects that lie in any way, lists, and texts that are longer than the memory they share."""
    from datarep import _core
    words = np.array([f"w{i}" * (i % 40) + "é" * (i % 3) for i in range(3000)], dtype=object)
    words[7], words[8] = "x" * 300_000, ""
    grid = words.reshape(60, 50)
    given = {"whole": words, "steps": words[::7], "turned": grid.T, "part": grid[3:9, 5:40], "one": words[9],
             "list": words.tolist(), "nested": grid[:2, :3].tolist(), "none": np.empty((0, 3), object),
             "scalar": np.array("a", dtype=object), "kept": [np.str_("a"), "bc"]}
    with dr.open(tmp_path / "t.drep", "w") as f:
        for name, value in given.items():
            f[name] = value
            f.attrs[name] = value if name in ("one", "scalar", "kept") else words[:9].tolist()
        f["rows"] = np.array([("a", 1), ("bc" * 50_000, 2)], [("t", dr.string_dtype()), ("n", "i4")])
    with dr.open(tmp_path / "t.drep") as f:
        for name, value in given.items():
            got = np.asarray(f[name][...], dtype=object)
            assert got.tolist() == (value if isinstance(value, (str, list)) else value.tolist())
            assert got.shape == np.shape(np.array(value, dtype=object))
        assert f["rows"][...].tolist() == [("a", 1), ("bc" * 50_000, 2)]
        assert f.attrs["list"].tolist() == words[:9].tolist()
    words[5] = 5
    with dr.open(tmp_path / "u.drep", "w") as f:
        for bad in (words, words.tolist(), np.array(["a", None], object), ["a", "\ud800"]):
            with pytest.raises((TypeError, ValueError)):
                f["x"] = bad
            assert "x" not in f
    assert _core.types_of(words) == {str: words[0], int: 5}
    assert _core.types_of((None, np.empty(1, object))).keys() == {type(None), np.ndarray}
    for bad in (np.arange(3), "text", None, b"12345678", words[::2], np.zeros(2, [("o", "O")])):
        with pytest.raises((TypeError, ValueError, BufferError)):
            _core.types_of(bad)


def test_many_texts_for_a_dataset_of_texts(tmp_path):
    """The extension is the first to look at them: what is no str is still told apart, and nothing is written."""
    n = 3000
    words = np.array([f"w{i}é" * (i % 9) for i in range(n)], dtype=object)
    with dr.open(tmp_path / "t.drep", "w") as f:
        d = f.create("x", dtype=str, shape=(n,))
        e = f.create("e", dtype=str, shape=(2, n))
        b = f.create("b", dtype=str, shape=(n,))
        d[...] = words
        for at, bad, said in ((1500, None, r"x: element \(1500,\) is None"), (2999, 5, "x: .*int.* and str"),
                              (7, b"a", "x: .*bytes"), (0, ["a"], "x: "), (2, np.array("q"), "x: "),
                              (2000, "\ud800", "x: .*surrogates")):
            wrong = words.copy()
            wrong[at] = bad
            with pytest.raises((TypeError, ValueError), match=said):
                d[...] = wrong
            assert (d[...] == words).all()
        wrong = np.empty(n, object)
        with pytest.raises(TypeError, match=r"element \(0,\) is None"):
            d[...] = wrong
        e[...] = words  # broadcast
        e[:, ::-1] = words
        assert (e[0][::-1] == words).all() and (e[1] == e[0]).all()
        d[...] = np.array([w.encode() for w in words], object)  # all bytes
        b[...] = np.array([np.str_(w) for w in words], object)
        assert (d[...] == words).all() and (b[...] == words).all()
        with pytest.raises(ValueError, match="broadcast"):
            d[:2000] = words


def test_a_text_with_a_nul_is_whole(tmp_path):
    texts = ["a\0b", "\0", "", "\0" * 40, "x" * 300 + "\0", "\0é", "a\0\0"]
    with dr.open(tmp_path / "t.drep", "w") as f:
        f.attrs["one"] = texts[0]
        f.attrs["many"] = texts
        f.create("d", texts, dtype=str)
        f.create("long", texts * 3000, dtype=str, chunks=(1000,), filters=["zstd"])
        f.create("fill", shape=3, dtype=str, fill="f\0g", chunks=(2,))
        f.create("rows", [[t] * 2 for t in texts], dtype="vstring[2]")
        f.create("sequences", dtype="seq(vstring)", shape=2)[:] = [texts, []]
        f.create("structs", dtype="struct{n: INT32_T, s: vstring}", shape=len(texts))
        f["structs"][...] = np.array(list(enumerate(texts)), dtype=f["structs"].dtype)
        for n in (*range(1, 40), 127, 128, 129, 300):
            for at in {*range(min(n, 40)), n - 1, n - 9 if n > 8 else 0}:
                text = "x" * at + "\0" + "y" * (n - at - 1)
                f["d"][0] = text
                assert f["d"][0] == text
        f["d"][0] = texts[0]
    with dr.open(tmp_path / "t.drep") as f:
        assert f.attrs["one"] == texts[0] and f.attrs["many"].tolist() == texts
        assert f["d"][...].tolist() == f["d"][:].tolist() == texts
        assert f["long"][...].tolist() == texts * 3000  # also by the way of short texts
        assert f["fill"][...].tolist() == ["f\0g"] * 3 and f["fill"].fillvalue == "f\0g"
        assert f["rows"][...].tolist() == [[t] * 2 for t in texts]
        assert f["sequences"][0].tolist() == texts
        assert f["structs"]["s"].tolist() == texts
        assert f["d"].type == dr.Type.vstring()


def test_enums_are_as_wide_as_their_base(tmp_path):
    wide = [1, -1, 2**64 + 1, 2**64 - 1, -2**64 + 1, 2**127 - 1]
    odd = "scalar{custom,integer,little,2,signed=1,norm=0,pad=0/0,precision=12,offset=2,sign=0,exp=0/0," \
        "sig=0/0,base=2,bias=0}"
    with dr.open(tmp_path / "e.drep", "w") as f:
        f.create("s", wide, dtype="enum(INTEGER16){A=1,M=-1}")
        f.create("u", [2**128 - 1, 2**64 - 1, 1], dtype="enum(UINT128_T){A=1}")
        f.create("o", [1, -5, -2048], dtype=f"enum({odd}){{A=1,M=-1}}")
        f.create("like", f["s"][...], dtype=f["s"].dtype)
    with dr.open(tmp_path / "e.drep") as f:
        assert f["s"][...].tolist() == f["like"][...].tolist() == wide
        assert f["u"][...].tolist() == [2**128 - 1, 2**64 - 1, 1]
        assert f["o"][...].tolist() == [1, -5, -2048]
        assert f["s"].dtype.metadata["enum"] == {"A": 1, "M": -1}
        assert f["like"].type == f["s"].type
