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
    must("import", "-n", "--external", source, copied)
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
    status, _, err = cases.run("import", "--external", "--virtual", "-v", d + "/a.h5", d + "/a.drep")
    said = dict(re.findall(r": /(\w+): copied: (.*)", err))
    check(status == 0 and said == {
        "text": "its elements have variable length", "scaled": "its filters or chunks are not those of a container",
        "references": "its elements are converted"}, "%s: %s", status, err)


def master(path, shape, dtype, parts, fill=-5):
    """A virtual dataset: parts are (file, dataset, its shape, index in the virtual one, index in the source)."""
    with h5py.File(path, "w", libver="v110") as f:
        layout = h5py.VirtualLayout(shape, dtype)
        for name, dataset, own, to, part in parts:
            layout[to] = h5py.VirtualSource(name, dataset, own, dtype)[part]
        f.create_virtual_dataset("v", layout, fillvalue=fill)


def pinned_master(source, most=0, copied=None):
    """Imports it; its values are right, at most `most` bytes are in the container, for which it says `copied`."""
    drep = source[:-3] + ".drep"
    for partial in ((), ("--partial",)):
        status, _, err = run("import", "--external", "--virtual", "-v", *partial, source, drep)
        if status == 0:
            break
    said = re.findall(r": /v: .*?cop(?:ied: |ied)(.*)", err)
    check(status in (0, 1), "%s: %s", status, err)
    check(bool(said) == (copied is not None), "said: %s", err)
    if copied:
        check(copied in err, "no %r in: %s", copied, err)
    whole = drep + ".copied"
    run("import", "-n", "--external", "--partial", source, whole)
    a, b = (must("dump", "--jsonl", "--external", x, "/v") for x in (drep, whole))
    check(a == b, "the values are not those of a container that has copied them")
    if not partial:
        must("check", "--external", "--deep", drep)
    own = stored(drep)
    check((own > 0) == bool(copied) and own <= most, "the container has %s bytes of elements", own)
    return drep


def stored(drep):
    """Bytes of elements that are in the container itself."""
    return sum(f["stored"] for f in json.loads(must("stat", "--json", drep))["filters"])


def flipped(drep, path, at):
    """A byte of a source changes: reading and checking notice, and name the file."""
    image = bytearray(open(path, "rb").read())
    image[at] ^= 8
    with open(path, "r+b") as f:
        f.write(image)
    name = os.path.basename(path)
    refused([name, "changed"], "dump", "--external", drep, "/v")
    refused([name, "changed"], "check", "--external", drep)
    image[at] ^= 8
    with open(path, "r+b") as f:
        f.write(image)
    must("dump", "--external", drep, "/v")


@case
def chunks_of_sources(d):
    """chunks of a virtual dataset's sources stay there, where both grids fall together"""
    os.mkdir(d + "/below")
    names = ["a.h5", "below/b.h5", "c.h5"]
    for k, name in enumerate(names):
        with h5py.File(d + "/" + name, "w", userblock_size=512 * (k == 1)) as f:
            f.create_dataset("x", data=field((10, 50, 60), "<f4", k), chunks=(5, 25, 40), compression=1, shuffle=True)
            chunks = [f["x"].id.get_chunk_info(i) for i in range(f["x"].id.get_num_chunks())]
            last = chunks[-1].byte_offset + chunks[-1].size // 2
    whole = [(name, "x", (10, 50, 60), np.s_[10 * k:10 * k + 10], np.s_[:]) for k, name in enumerate(names)]
    sizes = []
    for name in names:
        with h5py.File(d + "/" + name) as f:
            sizes.append(f["x"].id.get_storage_size())
    master(d + "/m.h5", (30, 50, 60), "<f4", whole)
    drep = pinned_master(d + "/m.h5")
    flipped(drep, d + "/c.h5", last)
    # A gap of fill, and rows behind the last source.
    master(d + "/gap.h5", (45, 50, 60), "<f4", [whole[0], ("c.h5", "x", (10, 50, 60), np.s_[25:35], np.s_[:])])
    pinned_master(d + "/gap.h5")
    # The second source does not begin on the grid.
    master(d + "/off.h5", (30, 50, 60), "<f4", [whole[0], ("c.h5", "x", (10, 50, 60), np.s_[12:22], np.s_[:])])
    pinned_master(d + "/off.h5", 2 * sizes[2], "no container can refer to them")
    # An absent source.
    master(d + "/absent.h5", (30, 50, 60), "<f4", [whole[0], ("gone.h5", "x", (10, 50, 60), np.s_[20:30], np.s_[:])])
    refused(["gone.h5 is not there"], "import", "--external", "--virtual", d + "/absent.h5", d + "/absent.drep")
    pinned_master(d + "/absent.h5")
    # Export brings the virtual dataset back, or its values.
    must("export", "--external", d + "/m.drep", d + "/back.h5")
    must("export", "--external", "--no-verify", d + "/m.drep", d + "/values.h5")
    with h5py.File(d + "/m.h5") as f, h5py.File(d + "/back.h5") as g, h5py.File(d + "/values.h5") as h:
        check(g["v"].is_virtual and not h["v"].is_virtual, "back: %s %s", g["v"].is_virtual, h["v"].is_virtual)
        check(np.array_equal(f["v"][()], g["v"][()]) and np.array_equal(f["v"][()], h["v"][()]), "other values")
    # A source that is not below the container's directory.
    os.mkdir(d + "/in")
    shutil.copy(d + "/a.h5", d + "/in/a.h5")
    master(d + "/in/m.h5", (20, 50, 60), "<f4", [whole[0], ("../c.h5", "x", (10, 50, 60), np.s_[10:20], np.s_[:])])
    out = cases.run("import", "--external", "--virtual", "--outside", "-v", d + "/in/m.h5", d + "/in/m.drep")
    check(out[0] == 0 and "no container can refer to them" in out[2], "%s", out)
    check(0 < stored(d + "/in/m.drep") < sizes[0] + sizes[2] // 2, "the source that is below is copied")


@case
def stretches_of_sources(d):
    """contiguous sources stay where they are: rows, maps and columns side by side"""
    n = 5000
    for k in range(4):
        with h5py.File(d + "/s%d.h5" % k, "w") as f:
            f["row"] = field((n,), "<i4", k)
            f["map"] = field((40, n), "<i4", k)
            at = f["map"].id.get_offset() + 4 * n * 39
    bytes_of = 4 * n
    master(d + "/rows.h5", (6, n), "<i4", [("s%d.h5" % k, "row", (n,), k + (k > 1), np.s_[:]) for k in range(4)])
    pinned_master(d + "/rows.h5")
    master(d + "/maps.h5", (4, 40, n), "<i4", [("s%d.h5" % k, "map", (40, n), k, np.s_[:]) for k in range(4)])
    drep = pinned_master(d + "/maps.h5")
    flipped(drep, d + "/s3.h5", at)
    master(d + "/long.h5", (150, n), "<i4", [("s0.h5", "map", (40, n), np.s_[:40], np.s_[:]),
                                             ("s1.h5", "map", (40, n), np.s_[50:80], np.s_[10:])])
    pinned_master(d + "/long.h5")
    master(d + "/side.h5", (40, 2 * n), "<i4", [("s%d.h5" % k, "map", (40, n), np.s_[:, n * k:n * k + n], np.s_[:])
                                                for k in range(2)])
    pinned_master(d + "/side.h5")
    # Parts of rows are stretches, too; of another type none is.
    master(d + "/parts.h5", (40, n), "<i4", [("s0.h5", "map", (40, n), np.s_[:, :n // 2], np.s_[:, n // 2:])])
    pinned_master(d + "/parts.h5")
    master(d + "/type.h5", (40, n), "<i8", [("s0.h5", "map", (40, n), np.s_[:], np.s_[:])])
    pinned_master(d + "/type.h5", 80 * bytes_of, "no container can refer to them")
    # Mappings that overlap are copied, and chunks name each byte at most 16 times.
    master(d + "/over.h5", (60, n), "<i4", [("s0.h5", "map", (40, n), np.s_[:40], np.s_[:]),
                                            ("s1.h5", "map", (40, n), np.s_[20:60], np.s_[:])])
    pinned_master(d + "/over.h5", 80 * bytes_of, "side by side")
    master(d + "/often.h5", (100, 40, n), "<i4", [("s0.h5", "map", (40, n), k, np.s_[:]) for k in range(100)])
    drep = d + "/often.drep"
    out = cases.run("import", "--external", "--virtual", "-v", d + "/often.h5", drep)
    check(out[0] == 0 and "no container can refer to them" in out[2], "%s", out)
    must("check", "--external", drep)
    size = os.path.getsize(d + "/s0.h5") + os.path.getsize(d + "/often.h5")
    here = 4000 * bytes_of - stored(drep)
    check(11 * size < here <= 16 * size, "%d bytes of %d", here, size)


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
    must("import", "--external", "--virtual", source, d + "/a.drep")
    same_as_copied(source, d + "/a.drep", os.path.getsize(source) // 3)
    refused(["a.h5", "below its own directory"], "import", "--external", "--virtual", source, d + "/other/a.drep")
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
