# SPDX-License-Identifier: MIT
"""Files that export makes for netCDF-4: what libnetcdf, ncdump and xarray show of them."""
import json
import shutil
import subprocess
import sys

import datarep as dr
import datarep.h5 as look_alike
import numpy as np
import pytest
from datarep.types import Type

pytest.importorskip("netCDF4")
if "netcdf" not in dr.versions():
    pytest.skip("the command has no module for netCDF", allow_module_level=True)

# libnetcdf in a process of its own, beside h5py and as it may crash.
SHOW = """
import json, sys, warnings, netCDF4, numpy as np
warnings.simplefilter("ignore")
d = netCDF4.Dataset(sys.argv[1])
def plain(v):
    if np.ma.isMaskedArray(v): v = v.filled(-1) if v.dtype.names is None else v.data
    v = np.asarray(v)
    return json.loads(json.dumps(v.tolist(), default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x)))
def name_of(v):
    return "str" if v.dtype is str else "+".join(v.dtype.names) if v.dtype.names else str(v.dtype)
print(json.dumps({
    "types": sorted([*d.cmptypes, *d.enumtypes, *d.vltypes]),
    "variables": {k: [name_of(v), plain(v[...])] for k, v in d.variables.items()},
    "attributes": {k: plain(d.getncattr(k)) for k in d.ncattrs() if not k.startswith("drep.")}}))
"""


def command(*arguments):
    p = subprocess.run([sys.executable, "-m", "datarep", *map(str, arguments)], capture_output=True,
                       text=True, check=False)
    return p.returncode, p.stdout + p.stderr


class Result:
    def __init__(self, folder, make, name="a.nc", *options):
        self.ours, self.nc, back = folder / "a.drep", folder / name, folder / "b.drep"
        with dr.open(str(self.ours), "w") as f:
            make(f)
        self.status, self.text = command("export", *options, self.ours, self.nc)
        if self.status > 1:
            return
        p = subprocess.run([sys.executable, "-c", SHOW, str(self.nc)], capture_output=True, text=True,
                           check=False)
        assert p.returncode == 0, p.stderr
        shown = json.loads(p.stdout)
        self.types, self.variables, self.attributes = (shown[k] for k in ("types", "variables", "attributes"))
        assert command("import", self.nc, back)[0] == 0
        self.difference = command("diff", self.ours, back)[1]


def put(value):
    return lambda f: f.__setitem__("v", value)


def empty(text):
    return lambda f: f.create("v", dtype=Type.parse(text), shape=(2,))


def nested():
    return np.array([(1, (2., 1j))], [("a", "i4"), ("b", [("c", "f8"), ("z", "c16")])])


# name: value or type of ours, netCDF's type, values
SEEN = {
    "bool": (np.array([True, False]), "int8", [1, 0]),
    "complex": (np.array([1j]), "r+i", [[0, 1]]),
    "complex_float": (np.array([1j], "c8"), "r+i", [[0, 1]]),
    "struct": (np.array([(1, 2.)], [("a", "i4"), ("b", "f8")]), "a+b", [[1, 2]]),
    "nested": (nested(), "a+b", [[1, [2, [0, 1]]]]),
    "enum": (np.array([0, 1], look_alike.enum_dtype({"A": 0, "B": 1}, "u1")), "uint8", [0, 1]),
    "fixed": (np.array([b"ab", b"c"], "S4"), "str", ["ab", "c"]),
    "texts": (np.array(["ab", "c"], object), "str", ["ab", "c"]),
    "long_double": (np.array([1.5], "g"), "float64", [1.5]),
    "half": (np.array([1.5], "f2"), "float32", [1.5]),
    "list": ("seq(INT32_T)", "int32", [[], []]),
    "logical": ("LOGICAL", "int32", [0, 0]),
    "long": ("LONG", "int64", [0, 0]),
}
TYPES = ["complex128", "complex64", "compound_1", "compound_2", "compound_3", "enum_1", "vlen_1"]


def test_libnetcdf_sees(tmp_path):
    def make(f):
        for name, (value, _, _) in SEEN.items():
            if isinstance(value, str):
                f.create(name, dtype=Type.parse(value), shape=(2,))
            else:
                f[name] = value

    r = Result(tmp_path, make)
    assert (r.status, r.text, r.types) == (0, "", TYPES)
    assert r.variables == {name: [dtype, values] for name, (_, dtype, values) in SEEN.items()}
    # All of it comes back: types that only netCDF needs do not.
    assert r.difference == ""
    if shutil.which("ncdump"):
        shown = subprocess.run(["ncdump", str(r.nc)], capture_output=True, text=True, check=True).stdout
        assert 'fixed = "ab", "c"' in shown and "byte bool(" in shown and "complex128 complex(" in shown


def test_what_libnetcdf_does_not_see_is_said(tmp_path):
    def make(f):
        f.create("array", dtype=Type.parse("INT32_T[3]"), shape=(2,))
        f.create("reference", dtype=Type.parse("ref(object)"), shape=(2,))
        f.create("wide", [2**100, 1], dtype="INT128_T")
        f["third"] = np.array([1 / np.longdouble(3)])
        f.attrs.update(g=np.longdouble(1) / 3, m=np.eye(2))

    r = Result(tmp_path, make)
    assert r.status == 1
    for said in ["/array: warning: not seen by netCDF: INT32_T[3]",
                 "/reference: warning: not seen by netCDF: ref(object)",
                 "/wide: warning: not seen by netCDF: its type has no such numbers",
                 'attribute "m" of 2 dimensions has one']:
        assert said in r.text, r.text
    if np.finfo("g").nmant > 52:
        assert "/third: warning: 0 values overflowed, 1 were rounded" in r.text
        assert 'attribute "g": 1 were rounded' in r.text
    # HDF5 takes it as it is.
    assert command("export", r.ours, tmp_path / "a.h5") == (0, "")


def test_attributes(tmp_path):
    r = Result(tmp_path, lambda f: f.attrs.update({"flag": True, "z": 1j, "s": "text", "l": ["a", "b"],
                                                   "S": np.array([b"x", b"yz"]), "n": np.arange(3)}))
    assert (r.status, r.text, r.difference) == (0, "", "")
    assert r.attributes == {"flag": 1, "z": [0, 1], "s": "text", "l": ["a", "b"], "S": ["x", "yz"], "n": [0, 1, 2]}


def shorter(f):
    f.dims["x"] = 4
    for name, data in (("d", [1., 2.]), ("i", [1, 2])):
        f.create(name, dtype="f8" if name == "d" else "i2", shape=(2,), dims=["x"])
        f[name][:] = data
    f.create("own", dtype="i4", shape=(3,), dims=["x"], fill=7)
    f["own"][:] = [1, 2, 3]


def test_a_shorter_dataset_is_padded_by_fill(tmp_path):
    r = Result(tmp_path, shorter)
    assert r.status == 0
    assert r.variables == {"d": ["float64", [1, 2, -1, -1]], "i": ["int16", [1, 2, -1, -1]],
                           "own": ["int32", [1, 2, 3, 7]]}


def test_scales_of_the_look_alike(tmp_path):
    """References are in no datatype that gets a name: libnetcdf opens no file with one."""
    h5py = pytest.importorskip("h5py")
    with look_alike.File(tmp_path / "a.drep", "w") as f:
        f["x"], f["y"], f["v"], f["s"] = np.arange(3.), np.arange(2), np.ones((3, 2)), np.ones(3)
        f["x"].make_scale("longitude")
        f["y"].make_scale()
        for d, name in enumerate("xy"):
            f["v"].dims[d].attach_scale(f[name])
        f["s"].dims[0].attach_scale(f["x"])
        f["v"].attrs["of"] = f["x"].ref
        f["v"].attrs["pair"] = np.array((f["x"].ref, 1), [("r", look_alike.ref_dtype), ("n", "i4")])
    status, said = command("export", tmp_path / "a.drep", tmp_path / "a.nc")
    assert status == 1 and said.count("not seen") == 2 and '"of"' in said and '"pair"' in said, said
    program = """import sys, netCDF4
d = netCDF4.Dataset(sys.argv[1])
print({k: (v.dimensions, v.ncattrs(), v[...].sum()) for k, v in d.variables.items()}, *d.cmptypes, *d.vltypes)"""
    assert subprocess.run([sys.executable, "-c", program, tmp_path / "a.nc"], capture_output=True, text=True,
                          check=True).stdout.strip() == \
        str({"x": (("x",), [], 3.0), "y": (("y",), [], 1), "v": (("x", "y"), [], 6.0), "s": (("x",), [], 3.0)})
    with h5py.File(tmp_path / "a.nc") as f:
        assert f["v"].dims[0]["longitude"] == f["x"] == f["s"].dims[0][0] and f["v"].dims[1][0] == f["y"]
        assert f[f["v"].attrs["pair"]["r"]] == f["x"]


LOST = ["INT32_T[3]", "DOUBLE", "vstring", "ref(object)", "seq(INT32_T[3])", "struct{a: ref(object), b: INT32_T}",
        "struct{a: INT128_T}"]
KEPT = ["struct{a: INT32_T, b: struct{c: DOUBLE}}", "struct{a: INT32_T[3]}", "seq(INT32_T)", "enum(INT32_T){A=1}"]


def test_named_datatypes(tmp_path):
    """Those that libnetcdf reads stay, with names for the types in them; others are said to be lost, as a file
    with one of them could not be opened."""
    def make(f):
        for i, text in enumerate(KEPT + LOST):
            f[f"T{i}"] = Type.parse(text)
        f["v"] = [1, 2]

    r = Result(tmp_path, make)
    assert r.status == 1 and r.variables == {"v": ["int64", [1, 2]]}
    assert [t for t in r.types if t[0] == "T"] == [f"T{i}" for i in range(len(KEPT))]
    assert f"/T{len(KEPT)}: warning: not carried: netCDF has no named datatypes of this kind" in r.text
    assert f"losses with the same cause: {len(LOST) - 1} more" in r.text


def test_what_libnetcdf_does_not_open_is_said(tmp_path):
    with look_alike.File(tmp_path / "a.drep", "w") as f:
        f["x"] = np.ones((2, 2))
        f["x"].make_scale()
    status, said = command("export", tmp_path / "a.drep", tmp_path / "a.nc")
    assert status > 1 and "libnetcdf does not open the HDF5 file" in said and "--format=hdf5" in said
    assert not (tmp_path / "a.nc").exists()


def test_a_format_can_be_named(tmp_path):
    make = put(np.array([True]))
    assert Result(tmp_path, make, "x.h5", "--format=netcdf4").variables["v"] == ["int8", [1]]
    h5py = pytest.importorskip("h5py")
    assert command("export", "--format=hdf5", tmp_path / "a.drep", tmp_path / "y.nc") == (0, "")
    with h5py.File(tmp_path / "y.nc") as f:
        assert f["v"].dtype == "?"


def test_xarray_reads_it(tmp_path):
    xr = pytest.importorskip("xarray")
    r = Result(tmp_path, lambda f: (shorter(f), f.attrs.update(matrix=np.eye(2), flag=True)))
    program = "import sys, xarray; print(xarray.open_dataset(sys.argv[1]).load().sizes['x'])"
    assert xr and subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(r.nc)], capture_output=True,
                                 text=True, check=True).stdout.strip() == "4"
