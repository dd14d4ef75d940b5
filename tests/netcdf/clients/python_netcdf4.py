# SPDX-License-Identifier: MIT
"""All that netCDF4 for Python writes and reads: python_netcdf4.py FILE.  It prints what it reads."""
import sys

import netCDF4
import numpy as np

path = sys.argv[1]


def show(what, *values):
    print(what, *(repr(v.tolist() if hasattr(v, "tolist") else v) for v in values))


def attempt(what, call):
    try:
        show(what, call())
    except Exception as e:  # noqa: BLE001
        print(what, type(e).__name__, str(e).replace(path, "FILE"))


with netCDF4.Dataset(path, "w", format="NETCDF4") as f:
    for name, n in (("time", None), ("lat", 3), ("lon", 4), ("other", None)):
        f.createDimension(name, n)
    for k, kind in enumerate(("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")):
        v = f.createVariable("v_" + kind, kind, ("lat", "lon"))
        v.setncattr("like", np.dtype(kind).type(k))
        v.setncattr("list", np.arange(3).astype(kind))
        v[:] = np.arange(12).reshape(3, 4) * (k + 1)
    a = f.createVariable("packed", "i2", ("time", "lat"), zlib=True, complevel=7, chunksizes=(2, 3), fill_value=-5)
    a.scale_factor, a.add_offset = 0.5, 100.
    a[0:3] = np.ma.masked_equal([[100, 101, 102], [103, 104, 105], [106, 107, 108]], 104)
    text = f.createVariable("text", str, ("lat",))
    text[:] = np.array(["ä", "", "a longer text"], object)
    text.setncattr_string("strings", ["one", "two"])
    chars = f.createVariable("chars", "S1", ("lat", "lon"))
    chars[:] = netCDF4.stringtochar(np.array(["abcd", "ef", "ghi"], "S4"))
    scalar = f.createVariable("scalar", "f8")
    scalar[...] = 4.5
    two = f.createVariable("two", "f4", ("time", "other"))
    two[1, 4] = 7
    f.createVariable("unwritten", "i4", ("time", "lat"))
    big = f.createVariable("big", ">i4", ("lat",), endian="big")
    big[:] = [1, -2, 3]
    g = f.createGroup("deep/er")
    g.createDimension("lat", 2)
    g.createVariable("x", "f8", ("lat", "lon"))[:] = np.arange(8).reshape(2, 4) / 8
    g.note = "inner"
    pair = np.dtype([("re", "f4"), ("n", "i4", (2,))])
    compound = f.createCompoundType(pair, "pair")
    c = f.createVariable("compound", compound, ("lat",))
    c[:] = np.array([(1.5, [1, 2]), (2.5, [3, 4]), (3.5, [5, 6])], pair)
    ragged = f.createVLType(np.int16, "ragged")
    r = f.createVariable("vlen", ragged, ("lat",))
    for k in range(3):
        r[k] = np.arange(k + 1, dtype="i2")
    cloud = f.createEnumType(np.uint8, "cloud", {"clear": 0, "cumulus": 3, "missing": 255})
    e = f.createVariable("enum", cloud, ("time",), fill_value=255)
    e[0:2] = [3, 0]
    f.setncatts({"title": "all", "long": 2 ** 40, "list": np.array([1.5, 2.5], "f4")})
    f.sync()

with netCDF4.Dataset(path, "a") as f:
    f["packed"][3] = [1, 2, 3]
    f["packed"].units = "m"
    f.renameVariable("v_i1", "renamed")
    f.renameDimension("other", "another")
    f.renameAttribute("long", "longer")
    f.delncattr("list")
    f.createVariable("late", "f4", ("time",))[0:6] = np.arange(6)
    f["deep"].renameGroup("er", "est")
    f["two"][0, 0:2] = [1, 2]

f = netCDF4.Dataset(path)
show("model", f.data_model, list(f.dimensions), list(f.variables), list(f.groups), list(f.cmptypes), list(f.vltypes), list(f.enumtypes))
for name, v in f.variables.items():
    show(name, str(v.dtype) if name not in ("compound",) else v.dtype.names, v.dimensions, v.shape, v.ncattrs(),
         {k: x for k, x in v.filters().items() if k in ("zlib", "shuffle", "complevel", "fletcher32")})
    show(name, [v.getncattr(n) for n in v.ncattrs()])
    if name == "two":  # netCDF-4 itself reads garbage where a row was never written
        show(name, v[:2])
    elif name not in ("vlen", "compound"):
        show(name, v[:])
        if v.ndim == 2:
            show(name, v[::2, 1], v[:, [0, 2]], v[-1], v[1:1])
show("chunks", f["packed"].chunking(), f["v_f8"].chunking(), f["scalar"].chunking())
show("vlen", [x.tolist() for x in f["vlen"][:]])
show("compound", [(float(x["re"]), x["n"].tolist()) for x in f["compound"][:]])
show("group", f["deep/est"].note, f["deep/est/x"][:], f["deep/est"].path)
f["packed"].set_auto_maskandscale(False)
show("stored", f["packed"][:], f["packed"].getncattr("_FillValue"))
attempt("beyond", lambda: f["v_f8"][5:9])
attempt("no such attribute", lambda: f.getncattr("none"))
attempt("no such variable", lambda: f["none"])
f.close()
attempt("write to a file open for reading", lambda: netCDF4.Dataset(path).createDimension("n", 4))
attempt("no clobber", lambda: netCDF4.Dataset(path, "w", clobber=False))
attempt("no such file", lambda: netCDF4.Dataset("none-" + path.rpartition(".")[2]).close())
