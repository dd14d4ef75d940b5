#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-join - files joined along a dimension: by rows that name chunks of the sources, and by copies.

netCDF4-python, h5py and the command make sources; what comes out must be what they hold, one behind the other, and a
source that is missing, cut, changed or led out of the directory is an error that names it.  TAP on stdout.
"""
import os
import shutil
import subprocess
import sys

import cases
from cases import case, check, must, run

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

LAT, LON = 18, 36
SPEC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "spec")


def field(first, n, dtype="<f4"):
    at = np.arange(first, first + n)[:, None, None] * 1000
    return (at + np.arange(LAT)[:, None] * LON + np.arange(LON)).astype(dtype)


def nc(path, first, n, kind="NETCDF4", units="hours since 2000-01-01", mask=1, **storage):
    """A file of n steps; the values say where they belong."""
    if kind == "NETCDF4" and not storage:
        storage = {"zlib": True, "complevel": 1, "chunksizes": (1, LAT, LON)}
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.title = os.path.basename(path)
        f.createDimension("time", None)
        f.createDimension("lat", LAT)
        f.createDimension("lon", LON)
        time = f.createVariable("time", "f8", ("time",))
        time.units = units
        time[:] = np.arange(first, first + n)
        f.createVariable("lat", "f4", ("lat",))[:] = np.arange(LAT)
        f.createVariable("lon", "f4", ("lon",))[:] = np.arange(LON)
        f.createVariable("mask", "i2", ("lat", "lon"))[:] = np.full((LAT, LON), mask)
        t2m = f.createVariable("t2m", "f4", ("time", "lat", "lon"), **storage)
        t2m.missing_value = np.float32(-1)  # a list of one number,
        t2m[:] = field(first, n)


def h5(path, first, n, chunks=(1, LAT, LON), **storage):
    """The same by h5py: dimension scales, no netCDF."""
    with h5py.File(path, "w", track_order=True) as f:
        f.create_dataset("time", data=np.arange(first, first + n, dtype="f8"), maxshape=(None,))
        f["time"].attrs["units"] = "hours since 2000-01-01"
        f["lat"] = np.arange(LAT, dtype="f4")
        f["lon"] = np.arange(LON, dtype="f4")
        for name in ("time", "lat", "lon"):
            f[name].make_scale(name)
        f["mask"] = np.full((LAT, LON), 1, "i2")
        fill = netCDF4.default_fillvals["f4"]
        f.create_dataset("t2m", data=field(first, n), chunks=chunks, fillvalue=fill, **storage)
        f["t2m"].attrs["missing_value"] = np.float32(-1)  # and here a scalar
        for name, scales in (("mask", ("lat", "lon")), ("t2m", ("time", "lat", "lon"))):
            for d, scale in enumerate(scales):
                f[name].dims[d].attach_scale(f[scale])


def values(path, name):
    must("export", "--external", "--root=" + name, path, path + ".npy")
    return np.load(path + ".npy")


def refused(words, *args):
    status, out, err = run(*args)
    check(status not in (None, 0, -11, -6), "%s: status %s", " ".join(args), status)
    for word in words:
        check(word in out + err, "%s: no %r in: %s%s", " ".join(args), word, out, err)


def joined(sources, target, *options):
    """Joins by rows and by copies, which must be equal, and as the second reader reads them; gives what is said."""
    status, out, err = run("join", "--virtual", *options, *sources, target)
    check(status == 0, "status %s: %s%s", status, out, err)
    must("join", *[o for o in options if o != "--copy"], *sources, target + ".copied")
    must("diff", "--external", target + ".copied", target)
    must("check", "--deep", "--external", target)
    p = subprocess.run([sys.executable, os.path.join(SPEC, "compare.py"), cases.DATAREP, target], check=False,
                       capture_output=True, text=True)
    check(p.returncode == 0, "the second reader: %s%s", p.stdout, p.stderr)
    return err


def check_field(path, n):
    check(np.array_equal(values(path, "/t2m"), field(0, n)), "t2m: %r", values(path, "/t2m")[:, 0, :3])
    check(np.array_equal(values(path, "/time"), np.arange(n)), "time: %r", values(path, "/time"))


@case
def mixed(d):
    """netCDF-4, Datarep and HDF5 become one file without their elements"""
    nc(d + "/a.nc", 0, 3)
    nc(d + "/b.nc", 3, 2)
    must("import", d + "/b.nc", d + "/b.drep")
    h5(d + "/c.h5", 5, 4, compression="gzip", shuffle=True)
    said = joined([d + "/a.nc", d + "/b.drep", d + "/c.h5"], d + "/out.drep")
    check("along time" in said and "9 chunks" in said and "72 bytes copied" in said, "it says: %s", said)
    check_field(d + "/out.drep", 9)
    check("7 blocks not verified" in must("check", "--external", d + "/out.drep"), "Datarep's rows have sums")
    must("check", "--seal", "--external", d + "/out.drep")
    check("not verified" not in must("check", "--external", d + "/out.drep"), "sealed")
    refused(["a.nc", "drep_external", "--external"], "dump", d + "/out.drep", "/t2m")


@case
def classic(d):
    """records of classic netCDF are rows; what is not interleaved is one too"""
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        nc(d + "/a.nc", 0, 3, kind)
        nc(d + "/b.nc", 3, 4, kind)
        said = joined([d + "/a.nc", d + "/b.nc"], d + "/out.drep")
        check("7 chunks" in said, "%s: %s", kind, said)
        check_field(d + "/out.drep", 7)


@case
def unfiltered(d):
    """chunks without filters are cut into steps, of whatever length the files are"""
    nc(d + "/a.nc", 0, 3, chunksizes=(2, LAT, LON))
    h5(d + "/b.h5", 3, 2, chunks=None)
    nc(d + "/c.nc", 5, 5, chunksizes=(3, LAT, LON))
    must("import", d + "/c.nc", d + "/c.drep")
    must("convert", "--chunk=contiguous", d + "/c.drep", d + "/e.drep")
    said = joined([d + "/a.nc", d + "/b.h5", d + "/e.drep"], d + "/out.drep")
    check("10 chunks" in said, "it says: %s", said)
    check_field(d + "/out.drep", 10)
    os.mkdir(d + "/sub")
    for name in ("a.nc", "b.h5", "e.drep"):
        shutil.copy2(d + "/" + name, d + "/sub/" + name)
    joined([d + "/sub/a.nc", d + "/sub/b.h5"], d + "/sub/part.drep")
    # A source that names other files gives their rows, one file deep.
    said = joined([d + "/sub/part.drep", d + "/sub/e.drep"], d + "/again.drep", "--external")
    os.unlink(d + "/sub/part.drep")
    check_field(d + "/again.drep", 10)


@case
def misfits(d):
    """a chunk that cannot stay is named; --copy copies it"""
    storage = {"zlib": True, "chunksizes": (4, LAT, LON)}
    nc(d + "/a.nc", 0, 8, **storage)
    nc(d + "/b.nc", 8, 6, **storage)
    nc(d + "/c.nc", 14, 4, **storage)
    sources = [d + "/a.nc", d + "/b.nc", d + "/c.nc"]
    refused(["c.nc: /t2m", "chunk at (0,0,0)", "index 14", "--copy"], "join", "--virtual", *sources, d + "/out.drep")
    check(not os.path.exists(d + "/out.drep"), "it is there")
    said = joined(sources, d + "/out.drep", "--copy")
    check("4 chunks" in said, "it says: %s", said)
    check_field(d + "/out.drep", 18)
    joined(sources[:2], d + "/out.drep")
    check_field(d + "/out.drep", 14)
    nc(d + "/k.nc", 8, 2, "NETCDF3_CLASSIC")
    refused(["k.nc: /t2m", "another representation"], "join", "--virtual", sources[0], d + "/k.nc", d + "/k.drep")
    joined([sources[0], d + "/k.nc"], d + "/k.drep", "--copy")
    check_field(d + "/k.drep", 10)


@case
def unequal(d):
    """what has not the dimension is equal in all files, or an error names it"""
    nc(d + "/a.nc", 0, 2)
    nc(d + "/mask.nc", 2, 2, mask=2)
    nc(d + "/units.nc", 2, 2, units="days since 2000-01-01")
    nc(d + "/more.nc", 2, 2)
    with netCDF4.Dataset(d + "/more.nc", "a") as f:
        f.createVariable("extra", "f4", ("time",))
    for name, words in (("mask", ["mask.nc: /mask", "[0,0]", "a.nc"]), ("units", ["units.nc: /time", "units", "a.nc"]),
                        ("more", ["more.nc: /extra", "a.nc"])):
        for options in ((), ("--virtual",)):
            refused(words, "join", *options, d + "/a.nc", d + "/" + name + ".nc", d + "/out.drep")
    refused(["a.nc: /extra", "more.nc"], "join", d + "/more.nc", d + "/a.nc", d + "/out.drep")
    refused(["level", "#time", "#lat"], "join", "--dim=level", d + "/a.nc", d + "/a.nc", d + "/out.drep")
    refused(["source and target"], "join", d + "/a.nc", d + "/more.nc", d + "/a.nc")
    check(os.listdir(d).count("out.drep") == 0 and not [n for n in os.listdir(d) if n.startswith(".drep")], "left over")


@case
def changed(d):
    """a source that is missing, cut, changed or not below the file is an error that names it"""
    nc(d + "/a.nc", 0, 2)
    nc(d + "/b.nc", 2, 2)
    must("join", "--virtual", d + "/a.nc", d + "/b.nc", d + "/out.drep")
    with open(d + "/b.nc", "rb") as f:
        whole = f.read()
    status = os.stat(d + "/b.nc")

    def put(data):
        with open(d + "/b.nc", "wb") as f:
            f.write(data)
        os.utime(d + "/b.nc", ns=(status.st_atime_ns, status.st_mtime_ns))

    for data in (whole[:-1], whole[:600] + b"!" + whole[601:]):
        put(data)
        refused(["b.nc", "/t2m", "chunk (2,0,0)", "at byte "], "dump", "--external", d + "/out.drep", "/t2m")
    put(whole)
    must("dump", "--external", d + "/out.drep", "/t2m")
    os.utime(d + "/b.nc", (1, 1))  # rows without a sum go by the time
    refused(["b.nc", "time"], "dump", "--external", d + "/out.drep", "/t2m")
    os.unlink(d + "/b.nc")
    refused(["b.nc", "/t2m", "chunk (2,0,0)", "at byte "], "dump", "--external", d + "/out.drep", "/t2m")
    os.mkdir(d + "/in")
    shutil.copy2(d + "/a.nc", d + "/b.nc")
    os.symlink(d + "/b.nc", d + "/in/b.nc")
    for path in ("/b.nc", "/in/b.nc", "/in/../b.nc"):
        refused(["b.nc", "own directory"], "join", "--virtual", d + path, d + path, d + "/in/out.drep")
    refused(["none.nc"], "join", "--virtual", d + "/a.nc", d + "/none.nc", d + "/out2.drep")
    put(whole[:len(whole) // 2])
    refused(["b.nc"], "join", "--virtual", d + "/a.nc", d + "/b.nc", d + "/out2.drep")
    refused(["http://host/a.nc", "URL"], "join", "--virtual", "http://host/a.nc", d + "/a.nc", d + "/out2.drep")


if __name__ == "__main__":
    sys.exit(cases.main())
