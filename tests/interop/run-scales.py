#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-scales - what is a dimension in an HDF5 file, and in which order they are.

h5py makes the files; its is_scale() and ncdump say what the dimensions are, before and after export.
TAP on stdout.
"""
import itertools
import shutil
import subprocess
import sys

import cases
from cases import Absent, case, check, must, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

try:
    import netCDF4
except ImportError:
    netCDF4 = None

BARE = "This is a netCDF dimension but not a netCDF variable.%10d"


def shown(path):
    return subprocess.run(["ncdump", "-n", "x", path], stdout=subprocess.PIPE, check=True).stdout.decode()


def dimensions(path):
    """The lines of ncdump's first section."""
    return shown(path).split("dimensions:\n", 1)[1].split("variables:", 1)[0].splitlines()


def trip(at, source, *options):
    own = [o for o in options if o == "--plain"]
    options = [o for o in options if o not in own]
    must("import", "-f", *own, source, at + "/x.drep")
    must("check", "--deep", at + "/x.drep")
    must("export", "-f", *options, at + "/x.drep", at + "/back.nc")
    return at + "/back.nc"


def described(a):
    """The datatype of an attribute, and its bytes."""
    t = a.get_type()
    return t.get_class(), t.get_size(), t.get_cset(), t.get_strpad(), t.is_variable_str()


def asked(x, size, value):
    """H5DSis_scale(), but for texts of which some versions of it free memory twice."""
    return size is not None and value == b"DIMENSION_SCALE" and h5py.h5ds.is_scale(x.id)


def mark(x, cset, pad, size, value):
    """A CLASS of this datatype; size None: variable, as h5py makes it."""
    del x.attrs["CLASS"]
    if not size:
        x.attrs.create("CLASS", value.decode(), dtype=h5py.string_dtype("utf-8" if cset else "ascii"))
        return
    t = h5py.h5t.C_S1.copy()
    t.set_size(size)
    t.set_cset(cset)
    t.set_strpad(pad)
    h5py.h5a.create(x.id, b"CLASS", t, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(value, "S%d" % size), mtype=t)


@case
def texts_of_class(at):
    """Whatever H5DSis_scale() takes; other versions of HDF5 take other lengths."""
    taken = 0
    for cset, pad, size in itertools.product((0, 1), (0, 1, 2), (16, 20, None)):
        if pad and not size:
            continue
        for value in b"DIMENSION_SCALE", b"ANOTHER_THING":
            with h5py.File(at + "/in.h5", "w") as f:
                f["x"] = np.arange(3.0)
                f["v"] = np.ones(3)
                f["x"].make_scale("x")
                f["v"].dims[0].attach_scale(f["x"])
                mark(f["x"], cset, pad, size, value)
                is_scale = asked(f["x"], size, value)
                before = described(h5py.h5a.open(f["x"].id, b"CLASS"))
            back = trip(at, at + "/in.h5", "--format=hdf5")
            found = "#x: dimension 3" in must("dump", "-H", at + "/x.drep")
            check(found or not is_scale, "%s: is no dimension", before)
            check(not found or value == b"DIMENSION_SCALE" and pad == 0, "%s: is a dimension", before)
            taken += found
            with h5py.File(back) as f:
                check(asked(f["x"], size, value) == is_scale, "%s: it is a scale no more", before)
                check(described(h5py.h5a.open(f["x"].id, b"CLASS")) == before, "%s is now another", before)
                check(not is_scale or f["v"].dims[0][0] == f["x"], "%s: it is no scale of v", before)
    check(taken == 6, "%d of them are scales", taken)


@case
def dimensions_without_a_variable(at):
    """libnetcdf goes by the name of the scale, whatever its datatype."""
    for dtype in ">f4", "<f4", ">f8", "<f8", ">i4", "<i4", "<u1", "<i8":
        for most in (3,), (None,):
            with h5py.File(at + "/in.h5", "w") as f:
                x = f.create_dataset("x", (3,), dtype, maxshape=most, chunks=(3,) if most == (None,) else None)
                x.make_scale(BARE % 3)
                f["v"] = np.ones(3, "i4")
                f["v"].dims[0].attach_scale(x)
            back = trip(at, at + "/in.h5", "--format=hdf5")
            text = must("dump", "-H", at + "/x.drep")
            check("/#x: dimension 3" in text and "/x: dataset" not in text, "%s: %s", dtype, text)
            check(shown(back) == shown(at + "/in.h5"), "%s: %s", dtype, shown(back))
            with h5py.File(back) as f:
                check(f["x"].dtype == dtype and f["x"].maxshape == most, "is now %s %s", f["x"].dtype, f["x"].maxshape)
    # One that has values is not left out.
    with h5py.File(at + "/in.h5", "w") as f:
        f["x"] = np.arange(3, dtype="<f8")
        f["x"].make_scale(BARE % 3)
    back = trip(at, at + "/in.h5", "--format=hdf5")
    with h5py.File(back) as f:
        check(f["x"][()].tolist() == [0, 1, 2], "values are lost")


@case
def order_of_dimensions(at):
    """netCDF-4 numbers them: ncdump lists those of the exports, HDF5 or classic, as those of the source."""
    kinds = {"a": None, "b": None, "c": "coordinate", "d": "coordinate", "e": None}
    for n, numbers in enumerate(itertools.islice(itertools.permutations(range(5)), 0, None, 7)):
        with h5py.File(at + "/in.nc", "w", track_order=n % 3 > 0) as f:
            g = f.create_group("g", track_order=True) if n % 5 == 4 else f
            names = list(kinds) if n % 2 else list(reversed(kinds))
            if n % 4 > 1:  # a variable before the scales that it uses
                v = g.create_dataset("v", data=np.arange(12, dtype="i4").reshape(3, 4))
            for name in names:
                size = 3 + "abcde".index(name)
                x = g.create_dataset(name, (size,), "<f8" if kinds[name] else ">f4")
                if kinds[name]:
                    x[...] = np.arange(size)
                x.make_scale(name if kinds[name] else BARE % size)
                x.attrs.create("_Netcdf4Dimid", numbers["abcde".index(name)], dtype="i4")
            if n % 4 <= 1:
                v = g.create_dataset("v", data=np.arange(12, dtype="i4").reshape(3, 4))
            w = g.create_dataset("w", data=np.arange(30, dtype="i4").reshape(6, 5))
            v.dims[0].attach_scale(g["a"])
            v.dims[1].attach_scale(g["b"])
            w.dims[0].attach_scale(g["d"])
            w.dims[1].attach_scale(g["c"])
        wanted = dimensions(at + "/in.nc")
        check(dimensions(trip(at, at + "/in.nc", "--format=hdf5")) == wanted, "%s %d: %s", numbers, n, dimensions(at + "/back.nc"))
        if n % 5 == 4:  # a classic file has one group
            listed = [line[3] for line in must("dump", "-H", at + "/x.drep").splitlines() if line.startswith("/g#")]
            check(listed == sorted(kinds, key=lambda name: numbers["abcde".index(name)]), "%s: %s", numbers, listed)
            continue
        check(dimensions(trip(at, at + "/in.nc", "--format=cdf1")) == wanted, "%s %d: %s", numbers, n, dimensions(at + "/back.nc"))


SHORTER = """
dims: {x: 9, y: 4, t: {length: 3, unlimited: true}}
root:
  never: {dataset: DOUBLE, shape: [2], dims: [x]}
  zeros: {dataset: INT, shape: [6], dims: [x], layout: chunked, chunk: [2], data: [0, 0, 0, 0, 0, 0]}
  some: {dataset: SHORT, shape: [3, 2], dims: [y, x], layout: chunked, chunk: [2, 2], filters: [{deflate: 1}],
         data: [[0, 0], [0, 0], [0, 5]]}
  own: {dataset: DOUBLE, shape: [2], dims: [y], fill: 7, data: [0, 7]}
  text: {dataset: vstring, shape: [2], dims: [y], fill: none yet, data: [a, b]}
"""


@case
def datasets_shorter_than_their_dimensions(at):
    """Their own elements, written or not, and fill behind them; how long netCDF shows a dimension."""
    with open(at + "/s.yaml", "w", encoding="utf-8") as f:
        f.write(SHORTER)
    must("create", "-f", "-s", at + "/s.yaml", at + "/x.drep")
    status, _, err = run("export", "-f", at + "/x.drep", at + "/x.nc")
    check(status == 1, "status %s: %s", status, err)
    check("/t: warning" in err.replace("#", "") and "its length 3; netCDF shows 0" in err, "%s", err)
    check("/text: warning" in err and "fill value of variable length" in err, "%s", err)
    data = shown(at + "/x.nc").split("data:\n", 1)[1].replace("\n ", "")
    for line in ("never = 0, 0, _, _, _, _, _, _, _ ;", "zeros = 0, 0, 0, 0, 0, 0, _, _, _ ;",
                 "some = 0, 0, _, _, _, _, _, _, _, 0, 0, _, _, _, _, _, _, _, 0, 5, _, _, _, _, _, _, _, "
                 "_, _, _, _, _, _, _, _, _ ;", "own = 0, 7, 7, 7 ;", 'text = "a", "b", NIL, NIL ;'):
        check(line in " ".join(data.split()), "%s is not in %s", line, data)


@case
def fills_of_variable_length(at):
    """libhdf5 cannot read one beside elements that are there: export writes them."""
    with h5py.File(at + "/in.h5", "w") as f:
        t = f.create_dataset("t", (8,), h5py.string_dtype(), chunks=(2,), fillvalue="none yet")
        t[2:4] = ["a", "b"]
    must("import", at + "/in.h5", at + "/x.drep")
    must("export", "-f", at + "/x.drep", at + "/x.h5")
    with h5py.File(at + "/x.h5", "r") as f:
        check(f["t"][:].tolist() == [b"none yet"] * 2 + [b"a", b"b"] + [b"none yet"] * 4, "%s", f["t"][:])


def uses(path):
    """The members of each REFERENCE_LIST of a file, with their HDF5 types, and its rows."""
    with h5py.File(path) as f:
        made = {}
        for name, x in f.items():
            if "REFERENCE_LIST" in x.attrs:
                t = x.attrs.get_id("REFERENCE_LIST").get_type()
                made[name] = (t.get_size(), [(t.get_member_name(i), t.get_member_offset(i), t.get_member_type(i).dtype)
                                             for i in range(t.get_nmembers())],
                              [(f[ref].name, int(n)) for ref, n in x.attrs["REFERENCE_LIST"]])
    return made


@case
def lists_of_uses(at):
    """HDF5 1.14 makes the number of the dimension unsigned: that list, too, is no attribute of the user's."""
    for kind in "i4", "u4":
        with h5py.File(at + "/in.nc", "w") as f:
            f.create_dataset("t", data=np.arange(2.0)).make_scale("t")
            f.create_dataset("x", (3,), ">f4").make_scale(BARE % 3)
            f["v"] = np.arange(6, dtype="i4").reshape(2, 3)
            for i, name in enumerate("tx"):
                f["v"].dims[i].attach_scale(f[name])
                rows = f[name].attrs["REFERENCE_LIST"]
                dtype = np.dtype([("dataset", h5py.ref_dtype), ("dimension", kind)])
                t = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
                t.insert(b"dataset", 0, h5py.h5t.STD_REF_OBJ)
                t.insert(b"dimension", 8, h5py.h5t.py_create(np.dtype(kind)))
                del f[name].attrs["REFERENCE_LIST"]
                a = h5py.h5a.create(f[name].id, b"REFERENCE_LIST", t, h5py.h5s.create_simple((1,)))
                a.write(np.array([tuple(r) for r in rows], dtype))
        wanted = uses(at + "/in.nc")
        check([w[1][1][2] for w in wanted.values()] == [kind] * 2, "the test writes %s", wanted)
        back = trip(at, at + "/in.nc", "--format=hdf5")
        said = must("dump", "-H", at + "/x.drep")
        check("REFERENCE_LIST" not in said and "/v: dataset INT32_T [t: 2, x: 3]" in said, "%s: %s", kind, said)
        check(uses(back) == wanted, "%s: %s", kind, uses(back))
        check(shown(back) == shown(at + "/in.nc"), "%s: %s", kind, shown(back))


@case
def plain(at):
    """import --plain keeps the file as HDF5's library shows it: every dataset, every attribute."""
    with h5py.File(at + "/in.nc", "w", track_order=True) as f:
        f.create_dataset("t", data=np.arange(2.0), maxshape=(None,)).make_scale("t")
        f.create_dataset("x", (3,), ">f4").make_scale(BARE % 3)
        for i, name in enumerate("tx"):
            f[name].attrs.create("_Netcdf4Dimid", i, dtype="i4")
        for name in "v", "_nc4_non_coord_x":
            f[name] = np.arange(6, dtype="i4").reshape(2, 3)
            f[name].dims[0].attach_scale(f["t"])
            f[name].dims[1].attach_scale(f["x"])
        f.attrs["_NCProperties"] = np.bytes_(b"version=2")
    back = trip(at, at + "/in.nc", "--plain", "--format=hdf5")
    said = must("dump", "-H", at + "/x.drep")
    check("/#" not in said and "drep.hdf5:_" not in said, "%s", said)
    with h5py.File(at + "/in.nc") as a, h5py.File(back) as b:
        check(list(a) == list(b) and sorted(a.attrs) == sorted(b.attrs), "%s, %s", list(b), list(b.attrs))
        for name in a:
            check(sorted(a[name].attrs) == sorted(b[name].attrs), "%s: %s", name, list(b[name].attrs))
            check(a[name].dtype == b[name].dtype and (a[name][()] == b[name][()]).all(), "%s differs", name)
            check([d.keys() for d in a[name].dims] == [d.keys() for d in b[name].dims], "%s: other scales", name)
    check(uses(back) == uses(at + "/in.nc"), "%s", uses(back))
    check(shown(back) == shown(at + "/in.nc"), "%s", shown(back))
    # For netCDF nothing is lost either, and references get no datatype with a name, which libnetcdf cannot read.
    must("export", "-f", at + "/x.drep", at + "/seen.nc")
    check(shown(at + "/seen.nc") == shown(at + "/in.nc"), "%s", shown(at + "/seen.nc"))
    with h5py.File(at + "/seen.nc") as f:
        check(not [n for n, x in f.items() if isinstance(x, h5py.Datatype)], "%s", list(f))


def taken(path, name):
    """True if libnetcdf itself makes such a variable, and such an attribute."""
    try:
        with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
            f.createVariable(name, "i4", ())
            f.setncattr(name, 1)
    except (RuntimeError, AttributeError):
        return False
    return True


@case
def names_that_netcdf_has_not(at):
    """Variables and attributes of such names are left out, and reported; the others are there."""
    if netCDF4 is None:
        raise Absent("no netCDF4 module")
    names = [n for c in map(chr, range(1, 128)) if c != "/" for n in (c + "x", "x" + c)] + ["\u00e9", "\u03b1", "x" * 256]
    names = sorted({n for n in names if n not in (".", "..")})
    with h5py.File(at + "/in.h5", "w") as f:
        for name in names:
            f[name] = 1
            f.attrs[name] = 1
    must("import", "-f", at + "/in.h5", at + "/x.drep")
    status, _, err = run("export", "-f", "--format=cdf5", at + "/x.drep", at + "/x.nc")
    check(status == 1 and "netCDF has no such name" in err, "status %s: %s", status, err)
    wanted = {n for n in names if taken(at + "/probe.nc", n)}
    with netCDF4.Dataset(at + "/x.nc") as f:
        for got in set(f.variables), set(f.ncattrs()):
            check(got == wanted, "%r, and not %r", sorted(got - wanted), sorted(wanted - got))


@case
def links_that_libnetcdf_would_follow(at):
    """It follows all of them, to nowhere or in a circle: they are left out of .nc, and reported."""
    def fill(f):
        f["g/h/d"] = np.arange(3)
        f["k"] = f["g/h"]  # a group under two names
        f["soft"] = h5py.SoftLink("/g/h/d")
        f["nowhere"] = h5py.SoftLink("/none")
        f["file"] = h5py.ExternalLink("none.h5", "/x")
        f["g/h/up"] = h5py.SoftLink("/g")
        f["g/circle"] = f["g"]
        f["m/n"] = h5py.SoftLink("/p")
        f.create_group("p")["n"] = h5py.SoftLink("/m")
    with h5py.File(at + "/in.h5", "w") as f:
        fill(f)
    must("import", "-f", at + "/in.h5", at + "/x.drep")
    status, _, err = run("export", "-f", "-v", at + "/x.drep", at + "/x.nc")
    check(status == 1, "status %s: %s", status, err)
    for path in "/nowhere", "/file", "/k/up", "/g/circle", "/p/n":
        check(path + ": warning: not carried: netCDF has no links" in err, "%s is not said: %s", path, err)
    text = shown(at + "/x.nc")
    for line in "group: g {", "group: h {", "group: k {", "int64 d(", "int64 soft(", "group: m {", "group: p {":
        check(line in text, "%s is not in %s", line, text)


def main():
    if not shutil.which("ncdump"):
        print("1..0 # SKIP no ncdump")
        return 0
    return cases.main()


if __name__ == "__main__":
    sys.exit(main())
