#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-virtual - containers whose chunks stay in an HDF5 or netCDF-4 file.

h5py and netCDF4-python make the files and say what is in them; the command must give the same values
through `import --virtual`, and notice every change of the source.  TAP on stdout.
"""
import json
import os
import re
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


def refused(words, *args):
    status, out, err = run(*args)
    check(status not in (None, 0, -11, -6), "%s: status %d", " ".join(args), status)
    for word in words:
        check(word in out + err, "%s: no %r in: %s%s", " ".join(args), word, out, err)


def values(drep, path):
    return json.loads(must("dump", "--json", "--external", drep, path).splitlines()[0])


def same_as_copied(source, drep, most):
    """All values are those of a container that has copied them; gives the size of the virtual one."""
    copied = drep + ".copied"
    must("import", "-n", source, copied)
    must("diff", "--external", drep, copied)
    must("check", "--external", "--deep", drep)
    size = os.path.getsize(drep)
    check(size < most, "the container has %d bytes, the source %d", size, os.path.getsize(source))
    return size


def field(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    return np.round(np.cumsum(rng.normal(size=shape), axis=-1) * 50).astype(dtype)


def sample(path, userblock=0):
    """All ways in which HDF5 stores numbers."""
    with h5py.File(path, "w", userblock_size=userblock) as f:
        if userblock:
            f.userblock_size
        a = field((60, 50, 40), "<f4")
        f.create_dataset("deflate", data=a, chunks=(7, 20, 40), compression=1, shuffle=True)
        f.create_dataset("checked", data=a, chunks=(7, 20, 40), compression=1, fletcher32=True)
        f.create_dataset("lzf", data=a, chunks=(7, 20, 40), compression="lzf")
        f.create_dataset("plain", data=a, chunks=(10, 25, 40))
        f.create_dataset("contiguous", data=a)
        f.create_dataset("big", data=field((60, 50, 40), ">f8"))
        f.create_dataset("big chunks", data=field((60, 50, 40), ">i2"), chunks=(7, 20, 40), compression=1)
        f.create_dataset("long rows", data=field((3, 70000), "<i4"))
        f.create_dataset("growing", data=field((40, 30), "<i8"), maxshape=(None, 30), chunks=(8, 30), compression=1)
        rows = np.zeros(5000, [("when", "<i8"), ("value", "<f8"), ("flag", "u1")])
        rows["when"] = np.arange(5000)
        rows["value"] = field((5000,), "<f8")
        f.create_dataset("rows", data=rows, chunks=(512,), compression=1)
        f.create_dataset("small", data=np.arange(6))
        f.create_dataset("texts", data=["a", "bb", "ccc"], dtype=h5py.string_dtype())
        sparse = f.create_dataset("sparse", (100, 100), "<i4", chunks=(10, 100), compression=1, fillvalue=-1)
        sparse[30:50] = field((20, 100), "<i4")
        f.create_dataset("scaled", data=a, chunks=(7, 20, 40), scaleoffset=2)


@case
def everything(d):
    """every way of storing numbers reads as it is"""
    source, drep = d + "/a.h5", d + "/a.drep"
    sample(source)
    out = must("import", "--virtual", source, drep)
    size = same_as_copied(source, drep, os.path.getsize(source) // 3)
    print("# container of %d bytes for a source of %d %s" % (size, os.path.getsize(source), out))
    usage = json.loads(must("stat", "--json", drep))
    check(usage, "stat prints nothing")


@case
def reasons(d):
    """what is copied is said, and why"""
    n = 30000
    with h5py.File(d + "/a.h5", "w", libver="v110") as f:
        f.create_dataset("text", data=["a", "bb"], dtype=h5py.string_dtype())
        f.create_dataset("scaled", data=field((n,), "<i8") * 7919, chunks=(1000,), scaleoffset=0)
        layout = h5py.VirtualLayout((n,), "i8")
        layout[:] = h5py.VirtualSource(f["scaled"])
        f.create_virtual_dataset("virtual", layout)
        f.create_dataset("references", data=np.array([f["scaled"].ref] * n, dtype=h5py.ref_dtype))
        f.create_dataset("big", data=np.arange(n), dtype=">i8")
        f.create_dataset("little", data=np.arange(n), dtype="<i8")
        f.create_dataset("few", data=[1, 2])
    status, _, err = cases.run("import", "--virtual", "-v", d + "/a.h5", d + "/a.drep")
    said = dict(re.findall(r": /(\w+): copied: (.*)", err))
    check(status == 0 and said == {
        "text": "its elements have variable length", "scaled": "its filters or chunks are not those of a container",
        "virtual": "it is a virtual dataset itself", "references": "its elements are converted"}, "%s: %s", status, err)


@case
def user_block(d):
    """a user block in front of the source"""
    source, drep = d + "/a.h5", d + "/a.drep"
    sample(source, 1024)
    must("import", "--virtual", source, drep)
    same_as_copied(source, drep, os.path.getsize(source) // 3)


@case
def netcdf(d):
    """a netCDF-4 file with coordinates"""
    if not netCDF4:
        raise Absent("python3-netcdf4 is not installed")
    source, drep = d + "/a.nc", d + "/a.drep"
    with netCDF4.Dataset(source, "w") as f:
        for name, n in (("time", None), ("lat", 90), ("lon", 180)):
            f.createDimension(name, n)
        v = f.createVariable("sst", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True, complevel=1,
                             chunksizes=(1, 90, 180), fill_value=-999)
        v.set_auto_maskandscale(False)
        v[:] = field((40, 90, 180), "i2")
        f.createVariable("lat", "f8", ("lat",))[:] = np.linspace(-89, 89, 90)
    must("import", "--virtual", source, drep)
    same_as_copied(source, drep, 40000)
    with netCDF4.Dataset(source) as f:
        f["sst"].set_auto_maskandscale(False)
        want = f["sst"][17, 3:5, ::60].tolist()
    got = [json.loads(line) for line in must("dump", "--jsonl", "--external", drep, "/sst[17,3:5,::60]").splitlines()]
    check(got in (want, [want]), "%r is not %r", got, want)


@case
def below(d):
    """the source is below the container's directory, or the import is refused"""
    os.makedirs(d + "/data/2026")
    os.makedirs(d + "/other")
    source = d + "/data/2026/a.h5"
    sample(source)
    must("import", "--virtual", source, d + "/a.drep")
    same_as_copied(source, d + "/a.drep", os.path.getsize(source) // 3)
    refused(["a.h5", "below its own directory"], "import", "--virtual", source, d + "/other/a.drep")
    check(not os.path.exists(d + "/other/a.drep"), "a refused import made a file")
    # Both together may be moved.
    shutil.move(d + "/data", d + "/other/data")
    shutil.move(d + "/a.drep", d + "/other/a.drep")
    must("check", "--external", "--deep", d + "/other/a.drep")


@case
def changes(d):
    """a source that has changed, or is not there, is an error that names it"""
    source, drep = d + "/a.h5", d + "/a.drep"
    sample(source)
    must("import", "--virtual", source, drep)
    image = open(source, "rb").read()
    read = ("dump", "--external", drep, "/deflate")
    refused(["a.h5"], "dump", drep, "/deflate")  # --external is missing
    with h5py.File(source) as f:
        info = f["deflate"].id.get_chunk_info(3)
    for at in (info.byte_offset, info.byte_offset + info.size // 2, info.byte_offset + info.size - 1):
        with open(source, "r+b") as f:
            f.seek(at)
            f.write(bytes([image[at] ^ 16]))
        # A part of the file's head has a digest as well.
        refused(["a.h5", "have changed"], *read)
        refused(["a.h5", "have changed"], "check", "--external", drep)
        with open(source, "wb") as f:
            f.write(image)
        must(*read)
    for change in (image[:-1], image + b"x", b"\0" + image[1:], b""):
        with open(source, "wb") as f:
            f.write(change)
        refused(["a.h5"], *read)
    os.unlink(source)
    refused(["a.h5"], *read)
    os.symlink("/etc/passwd", source)
    refused(["a.h5", "symbolic link"], *read)
    os.unlink(source)
    os.mkfifo(source)
    refused(["a.h5"], *read)
    os.unlink(source)
    with open(source, "wb") as f:
        f.write(image)
    os.utime(source, (1, 1))  # a time is a hint
    must(*read)


@case
def carried(d):
    """copies carry the data, unless they are to stay; export gives an equal HDF5 file"""
    source, drep = d + "/a.h5", d + "/a.drep"
    sample(source)
    must("import", "--virtual", source, drep)
    must("convert", "--external", drep, d + "/whole.drep")
    must("convert", "--virtual", drep, d + "/thin.drep")
    must("export", "--external", drep, d + "/back.h5")
    check(os.path.getsize(d + "/thin.drep") < os.path.getsize(d + "/whole.drep") // 3, "it has the data")
    must("diff", "--external", d + "/thin.drep", d + "/whole.drep")
    h5diff = shutil.which("h5diff")
    if h5diff:
        p = subprocess.run([h5diff, source, d + "/back.h5"], capture_output=True, timeout=60, check=False)
        check(p.returncode == 0, "h5diff: %s", (p.stdout + p.stderr).decode())
    with h5py.File(source) as a, h5py.File(d + "/back.h5") as b:
        for name in a:
            check(a[name].chunks == b[name].chunks, "%s: chunks %r, not %r", name, b[name].chunks, a[name].chunks)
            check(np.array_equal(a[name][()], b[name][()]), "%s differs", name)
    os.mkdir(d + "/other")
    os.symlink(drep, d + "/other/link.drep")
    status, _, err = run("convert", "--virtual", d + "/other/link.drep", d + "/other/thin.drep")
    check(status != 0 and "one directory" in err, "the source is not beside the copy: %d %s", status, err)
    must("convert", "--virtual", d + "/other/link.drep", d + "/again.drep")
    must("diff", "--external", d + "/again.drep", d + "/whole.drep")
    os.unlink(source)
    must("check", "--deep", d + "/whole.drep")


if __name__ == "__main__":
    sys.exit(cases.main())
