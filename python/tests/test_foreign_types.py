# SPDX-License-Identifier: MIT
"""Datatypes through HDF5 and back: the value, the type as the foreign library gives it, the onward
journey."""
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings

import datarep as dr
import datarep.h5 as look_alike
import numpy as np
import pytest
from datarep.types import CODES, Type

h5py = pytest.importorskip("h5py")
from h5py import h5a, h5d, h5s, h5t  # noqa: E402


def datarep(*arguments, status=0):
    p = subprocess.run([sys.executable, "-m", "datarep", *map(str, arguments)], capture_output=True,
                       text=True, check=False)
    assert p.returncode == status, p.stderr
    return p.stdout


# ------------------------------------------------------------------ ours -> HDF5 -> ours

COMPOSITES = """
bool(INT8_T); bool(UINT8_T); bool(INT32_T); bool(C_BOOL); enum(INT8_T){A=0,B=1}; enum(LONG){A=0,B=1};
opaque(4,"x"); opaque(4); string(5); string(5,space); string(5,nulterm); vstring; seq(INT32_T); seq(C_BOOL);
INT8_T[3]; LONG[2][3]; struct{a: C_FLOAT_COMPLEX, b: C_BOOL}; seq(C_DOUBLE_COMPLEX); C_DOUBLE_COMPLEX[2];
ref(object); ref(region); struct{r: DOUBLE, i: DOUBLE}; struct{r: FLOAT, i: DOUBLE}; struct{re: DOUBLE, im: DOUBLE};
struct{a: INT8_T, b: DOUBLE, c: struct{d: CXX_BOOL, e: seq(LOGICAL)}}; struct{r: INT32_T, i: INT32_T}
"""


@pytest.mark.parametrize("rep", ["internal", "external32", "native"])
def test_every_type_comes_back(tmp_path, rep):
    a, h, b = tmp_path / "a.drep", tmp_path / "a.h5", tmp_path / "b.drep"
    types = [Type.predefined(c) for c in CODES.values()] + \
        [Type.parse(t.strip()) for t in COMPOSITES.split(";")]
    kinds = {}
    with dr.open(str(a), "w", datarep=rep) as f:
        for i, t in enumerate(types):
            d = f.create(f"t{i}", dtype=t, shape=(3,))
            kinds[f"t{i}"] = str(t)
            if d.dtype.kind in "iufb" and not d.dtype.metadata:
                d[:] = np.array([0, 1, 1], d.dtype)
            elif d.dtype.kind == "c":
                d[:] = np.array([0, 1 - 2j, 3j], d.dtype)
    datarep("export", a, h)
    datarep("import", f"--datarep={rep}", h, b)
    assert datarep("diff", a, b) == ""
    with dr.open(str(b)) as f:
        assert {n: str(f[n].type) for n in kinds} == kinds


def test_types_of_attributes_come_back(tmp_path):
    a, h, b = tmp_path / "a.drep", tmp_path / "a.h5", tmp_path / "b.drep"
    with dr.open(str(a), "w") as f:
        f.attrs["flag"] = True
        f.attrs["z"] = 1 - 2j
        f.attrs["zs"] = np.array([1j, 2], "c8")
        f.attrs["s"] = np.array((1j, True), [("a", "c16"), ("b", "?")])
    datarep("export", a, h)
    datarep("import", h, b)
    assert datarep("diff", a, b) == ""
    with h5py.File(h) as f:
        assert f.attrs["flag"].dtype == "?" and f.attrs["z"] == 1 - 2j and f.attrs["zs"].dtype == "c8"
        assert f.attrs["s"].dtype == np.dtype([("a", "c16"), ("b", "?")])
    with dr.open(str(b)) as f:
        assert [n for n in f.attrs if n.startswith("drep.")] == []


def test_a_stated_type_that_does_not_fit_is_not_believed(tmp_path):
    h, b = tmp_path / "a.h5", tmp_path / "b.drep"
    with h5py.File(h, "w") as f:
        for i, text in enumerate(["vstring", "struct{", "DOUBLE", "INT16_T[2]", "seq(INT32_T)", "ref(object)",
                                  "opaque(4)", "x" * 70000, "LONG_LONG", "enum(INT32_T){A=0}"]):
            f[f"t{i}"] = np.arange(3, dtype="i4")
            if len(text) < 60000:
                f[f"t{i}"].attrs["drep.type"] = np.bytes_(text)
        f["i"] = np.arange(3, dtype="i4")
        f["i"].attrs["drep.type"] = np.bytes_("INT")
    datarep("import", h, b)
    with dr.open(str(b)) as f:
        for i in range(10):
            assert str(f[f"t{i}"].type) == "INT32_T" and f[f"t{i}"][...].tolist() == [0, 1, 2]
        assert str(f["i"].type) == "INT" and f["i"][...].tolist() == [0, 1, 2]


# ------------------------------------------------------------------ HDF5 -> ours -> HDF5

def string(size, pad, cset):
    t = h5t.C_S1.copy()
    t.set_size(size)
    t.set_strpad(pad)
    t.set_cset(cset)
    return t


def compound(size, *members):
    t = h5t.create(h5t.COMPOUND, size)
    for name, at, m in members:
        t.insert(name, at, m)
    return t


def raw(t, *values):
    """Values as they lie in the file, for types without contents elsewhere."""
    return b"".join(v.ljust(t.get_size(), b"\0") for v in values)


def numbers(code, *values):
    return [np.array(v, code).tobytes() for v in values]


F8, F4, F4BE, I4 = h5t.IEEE_F64LE, h5t.IEEE_F32LE, h5t.IEEE_F32BE, h5t.STD_I32LE
PADS = [h5t.STR_NULLTERM, h5t.STR_NULLPAD, h5t.STR_SPACEPAD]
# name: type, elements as bytes, what ours is called
CASES = {f"{c}": (h5t.py_create(np.dtype(c)), numbers(c, 1 - 2j, 3j), name)
         for c, name in [("<c8", "C_FLOAT_COMPLEX"), (">c8", "C_FLOAT_COMPLEX"), ("<c16", "C_DOUBLE_COMPLEX"),
                         (">c16", "C_DOUBLE_COMPLEX")] +
         ([("G", "C_LONG_DOUBLE_COMPLEX")] if np.finfo("g").nmant == 63 else [])}
CASES.update({
    "bool": (h5t.py_create(np.dtype("?")), [b"\0", b"\1"], "bool(INT8_T)"),
    "other names": (compound(16, (b"re", 0, F8), (b"im", 8, F8)), numbers("2<f8", 1, 2), None),
    "other types": (compound(12, (b"r", 0, F8), (b"i", 8, F4)), [bytes(range(12))], None),
    "other orders": (compound(8, (b"r", 0, F4), (b"i", 4, F4BE)), [bytes(8)], None),
    "integers": (compound(8, (b"r", 0, I4), (b"i", 4, I4)), numbers("2<i4", 1, 2), None),
    "gap": (compound(24, (b"r", 0, F8), (b"i", 16, F8)), [bytes(24)], None),
    "reversed": (compound(16, (b"i", 0, F8), (b"r", 8, F8)), numbers("2<f8", 1, 2), None),
    "three": (compound(24, (b"r", 0, F8), (b"i", 8, F8), (b"j", 16, F8)), [bytes(24)], None),
    "array of complex": (h5t.array_create(h5t.py_create(np.dtype("<c8")), (2,)), numbers("2<c8", 1j), "C_FLOAT_COMPLEX[2]"),
    "struct of complex": (h5t.py_create(np.dtype([("a", "i1"), ("z", ">c8")])), [bytes(9)], None),
    **{f"B{8 * n}{o}": (getattr(h5t, f"STD_B{8 * n}{o}"), [bytes(range(1, n + 1)), b"\1"], None)
       for n in (1, 2, 4, 8) for o in ("LE", "BE") if n + (o == "BE") != 2},  # h5py does not read B8BE
    **{f"string {p} {c}": (string(5, p, c), [b"ab" + fill * 3, b"c d" + fill * 2],
                           "string(5%s)" % ["", "", ",space"][i] if i != 0 else "string(5,nulterm)")
       for i, (p, fill) in enumerate(zip(PADS, [b"\0", b"\0", b" "])) for c in (h5t.CSET_ASCII, h5t.CSET_UTF8)},
    "struct of text": (compound(9, (b"n", 0, I4), (b"s", 4, string(5, h5t.STR_SPACEPAD, h5t.CSET_ASCII))),
                       [b"\1\0\0\0ab   "], None),
})


# Their numbers are little-endian in the new file.
OTHER_ORDERS = {">c8", ">c16", "struct of complex"}


def plain(dtype):
    """A dtype in this machine's order: import keeps those of numbers if it is asked to."""
    return np.dtype(dtype).newbyteorder("=")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """An HDF5 file with every case as dataset, attribute and fill value; ours; the HDF5 made of it."""
    folder = tmp_path_factory.mktemp("foreign")
    h, a, back = folder / "a.h5", folder / "a.drep", folder / "back.h5"
    with h5py.File(h, "w", libver=("v108", "v108")) as f:
        for name, (t, values, _) in CASES.items():
            data = raw(t, *values)
            there = np.frombuffer(data, f"V{t.get_size()}").copy()
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_attr_creation_order(h5py.h5p.CRT_ORDER_TRACKED)
            d = h5d.create(f.id, name.encode(), t, h5s.create_simple((len(values),)), plist)
            d.write(h5s.ALL, h5s.ALL, there, mtype=t)
            attr = h5a.create(d, b"a", t, h5s.create_simple((len(values),)))
            attr.write(there, mtype=t)
    datarep("import", h, a)
    datarep("export", a, back)
    return h, a, back


@pytest.mark.parametrize("name", ["other names", "other types", "other orders", "integers", "gap", "reversed", "three"])
def test_what_is_no_complex_stays_a_struct(foreign, name):
    with dr.open(str(foreign[1])) as g:
        assert str(g[name].type).startswith("struct{") and "COMPLEX" not in str(g[name].type)
        assert g[name].dtype.names


# h5py reads a gap and two orders as a complex, and would write neither.
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("gap", "other orders")])
def test_type_of_hdf5(foreign, name):
    h, a, back = foreign
    t, _, ours = CASES[name]
    with h5py.File(h) as f, dr.open(str(a)) as g, look_alike.File(str(a), "r") as s, h5py.File(back) as k:
        want, got, shim, onward = f[name], g[name], s[name], k[name]
        # The type, as h5py gives it.
        assert plain(shim.dtype) == plain(want.dtype) and plain(got.dtype) == plain(want.dtype)
        assert ours is None or str(got.type) == ours
        # The value, as h5py gives it.
        for one in (got[...], shim[...], onward[...]):
            assert one.tolist() == want[...].tolist()
        assert np.asarray(shim.attrs["a"]).tolist() == np.asarray(want.attrs["a"]).tolist()
        # The onward journey.
        assert onward.id.get_type() == t or name in OTHER_ORDERS
        assert plain(onward.dtype) == plain(want.dtype)
        assert list(onward.attrs) == ["a"]


def test_nothing_differs_after_the_journey(foreign):
    _, a, back = foreign
    assert datarep("diff", a, back) == ""


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_version_of_the_file(tmp_path, libver):
    h, a, back = (tmp_path / n for n in ("a.h5", "a.drep", "b.h5"))
    with h5py.File(h, "w", libver=libver) as f:
        for i in range(100):
            f.create_dataset(f"d{i}", data=np.arange(10.), chunks=(5,)).attrs["a"] = i
        f.create_dataset("long", data=np.arange(10000.), chunks=(10,), maxshape=(None,))
    datarep("import", h, a)
    datarep("export", a, back)
    assert datarep("diff", h, back) == ""
    assert (h.read_bytes()[8] == 3) == (back.read_bytes()[8] == 3) == (libver == "latest")
    assert back.stat().st_size < 1.1 * h.stat().st_size


def test_pytables(tmp_path):
    tables = pytest.importorskip("tables")
    h, a, back = (str(tmp_path / n) for n in ("a.h5", "a.drep", "b.h5"))
    with tables.open_file(h, "w") as f:
        f.create_array("/", "flags", np.array([True, False]))
        f.create_array("/", "z", np.array([1j, 2]))
        f.create_table("/", "rows", np.array([(True, 1j, b"ab")], [("f", "?"), ("z", "c16"), ("s", "S4")]))
    datarep("import", h, a)
    datarep("export", a, back)
    with tables.open_file(h) as f, tables.open_file(back) as g:
        for name in ("flags", "z", "rows"):
            x, y = f.get_node("/" + name)[:], g.get_node("/" + name)[:]
            assert x.dtype == y.dtype and x.tolist() == y.tolist()
    with h5py.File(h) as f, dr.open(a) as g:
        assert f["flags"].dtype == g["flags"].dtype == "u1" and g["flags"][...].tolist() == [1, 0]
        assert f["z"].dtype == g["z"].dtype == "c16" and g["z"][...].tolist() == [1j, 2]


def test_blanks_are_padding_at_every_door(tmp_path):
    h, a = tmp_path / "a.h5", str(tmp_path / "a.drep")
    t = string(5, h5t.STR_SPACEPAD, h5t.CSET_ASCII)
    with h5py.File(h, "w") as f:
        d = h5d.create(f.id, b"s", t, h5s.create_simple((2,)))
        d.write(h5s.ALL, h5s.ALL, np.array([b"ab   ", b"     "], "S5"), mtype=t)
    datarep("import", h, a)
    assert '"ab", ""' in datarep("dump", a)
    with dr.open(a, "r+") as f:
        assert f["s"][...].tolist() == [b"ab", b""] and f["s"][0] == b"ab"
        f["s"][1] = b"c d"
    with look_alike.File(a, "r") as f:
        assert f["s"][...].tolist() == [b"ab", b"c d"]
    datarep("export", a, tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as f:
        assert f["s"][...].tolist() == [b"ab", b"c d"] and f["s"].id.get_type() == t
        out = np.zeros(2, "V5")
        f["s"].id.read(h5s.ALL, h5s.ALL, out, mtype=t)
        assert out.tobytes() == b"ab   c d  "  # as Fortran writes it


@pytest.mark.parametrize("name, rounded", [("BFLOAT16", 0.10009765625), ("FP8_E4M3", 0.1015625), ("FP8_E5M2", 0.09375)])
def test_floats_are_numbers_where_integers_are_bits(name, rounded):
    """Without ml_dtypes: the nearest bfloat16 and FP8 of 0.1 are by hand, with 8, 4 and 3 digits."""
    f = dr.open(":memory:", "w")
    d = f.create("d", dtype=name, shape=(4,))
    if d.dtype.kind != "u":
        pytest.skip("ml_dtypes has the type")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rounding is what shorter floats do
        d[...] = [1.0, -0.5, 0.1, float("nan")]
    got = d.as_float32()[...]
    assert got[:3].tolist() == [1.0, -0.5, rounded] and np.isnan(got[3])
    bits = d[...]
    d[...] = bits
    assert d[...].tolist() == bits.tolist()


SMALL = """
import warnings
import numpy as np, ml_dtypes, datarep as dr, datarep.h5 as look_alike
warnings.simplefilter("error")
for name, own, stored in (("BFLOAT16", "bfloat16", "u2"), ("FP8_E4M3", "float8_e4m3fn", "u1"), ("FP8_E5M2", "float8_e5m2", "u1")):
    dtype = np.dtype(getattr(ml_dtypes, own))
    bits = np.arange(5, dtype=stored) * 3 + 40
    given = bits.view(dtype)
    with dr.open("a.drep", "w") as f:
        f["x"] = given                                             # by its dtype
        f.create("y", dtype=dtype, shape=(5,))[...] = given        # said as a dtype
        f.create("z", dtype=name, shape=(5,))[1:3] = given[1:3]    # said as a datatype
        f.create("n", dtype=dtype, shape=(3,))[...] = [1.0, -0.5, 0.1]
        f.create("s", dtype=[("a", dtype), ("b", "i4")], shape=(2,))
        f.attrs["a"] = given
    with dr.open("a.drep") as f:
        for d in (f["x"], f["y"], f["z"]):
            assert d.dtype is dtype or d.dtype == dtype, d.dtype
            assert str(d.type) == name, d.type
        assert f["x"][...].dtype == dtype and f["x"][...].view(stored).tolist() == bits.tolist()
        assert f["y"][...].view(stored).tolist() == bits.tolist() and f.attrs["a"].view(stored).tolist() == bits.tolist()
        assert f["z"][...].view(stored).tolist() == [0, *bits[1:3].tolist(), 0, 0]
        assert f["x"].as_float32()[...].dtype == "f4" and f["s"].dtype["a"] == dtype
        assert f["n"].as_float32()[:2].tolist() == [1.0, -0.5]
    with look_alike.File("a.drep") as f:
        assert f["x"].dtype == dtype and f["x"][1:].view(stored).tolist() == bits[1:].tolist()
print("ok")
"""


def test_dtypes_of_ml_dtypes(tmp_path):
    """Where ml_dtypes is absent, with a module that registers dtypes of its names with NumPy in its way."""
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        compiler = shutil.which("cc")
        headers = [sysconfig.get_paths()["include"], np.get_include()]
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0" or not compiler or not all(
                os.path.exists(os.path.join(h, n)) for h, n in zip(headers, ("Python.h", "numpy/arrayobject.h"))):
            pytest.skip("ml_dtypes is absent, and its stand-in needs a compiler and the headers of Python and NumPy 1")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ml_dtypes.c")
        subprocess.run([compiler, "-w", "-shared", "-fPIC", *(f"-I{h}" for h in headers), "-o",
                        tmp_path / "ml_dtypes.so", source], check=True)
    done = subprocess.run([sys.executable, "-c", SMALL], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr
