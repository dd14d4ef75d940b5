#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-sources - which files an import reads, and what it says of values that are not there.

Virtual datasets, raw files and links that lead to other files: present, absent, too short,
outside the directory of the source, no files at all.  Then damaged files that make libhdf5
read beyond its memory: short fill values, chunks and blocks.  TAP on stdout.
# timeout: 300
"""
import os
import re
import struct
import subprocess
import sys
import zlib

import cases
from cases import Differ, case, check, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

GENERATOR = os.path.join(os.path.abspath(os.environ.get("BUILDDIR", "build")), "release/tests/interop/hdf5gen")
N = 20


def numbers(path, n=N, first=0):
    with h5py.File(path, "w") as f:
        f["data"] = np.arange(first, first + n)


def virtual(path, sources, links=(), fill=-1):
    """A dataset /v with a row of N numbers from each source."""
    with h5py.File(path, "w", libver="latest") as f:
        layout = h5py.VirtualLayout((len(sources), N), "i8")
        for i, (name, dataset) in enumerate(sources):
            layout[i] = h5py.VirtualSource(name, dataset, (N,))
        f.create_virtual_dataset("v", layout, fillvalue=fill)
        for name, target in links:
            f[name] = h5py.ExternalLink(*target)


def raw(path, name, offset=0, size=N):
    """A dataset /raw of bytes in a raw file, and /v that shows it."""
    with h5py.File(path, "w", libver="latest") as f:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_external(name.encode(), offset, size)
        h5py.h5d.create(f.id, b"raw", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((size,)), plist)
        layout = h5py.VirtualLayout((size,), "u1")
        layout[:] = h5py.VirtualSource(".", "raw", (size,))
        f.create_virtual_dataset("v", layout, fillvalue=7)


def imported(source, *options, **env):
    """Status, messages and the values of /v (or what `name` says) after an import."""
    target = source + ".drep"
    name = env.pop("name", "/v")
    if os.path.exists(target):
        os.unlink(target)
    status, _, err = run("import", "--partial", "--external", *options, source, target, **env)
    values = []
    if status in (0, 1):
        code, out, why = run("dump", target, name)
        if code == 0:
            lines = out[out.index("data ="):].splitlines()[1:]
            values = [int(n) for line in lines for n in re.findall(r"-?\d+", line.split("#")[0])]
        else:
            err += why
    return status, err, values


def lost(err):
    """(elements, reason) of each message about values that could not be read."""
    return [(int(n), why) for n, why in re.findall(r"(\d+) elements could not be read and hold [a-z ]+: (.*)", err)]


def expect(source, status, values, reasons, *options, **env):
    """reasons: (elements, a word of the reason)."""
    code, err, got = imported(source, *options, **env)
    check(code == status, "status %s, not %d: %s", code, status, err)
    check(values is None or got == values, "values %s, not %s", got, values)
    found = lost(err)
    check(len(found) == len(reasons) and all(n == m and word in why for (n, why), (m, word) in zip(found, reasons)),
          "says %s, not %s", found, reasons)


ROW = list(range(N))
GONE = [-1] * N


# ------------------------------------------------------------- virtual datasets

@case
def all_sources_are_there(at):
    virtual("%s/in.h5" % at, [("a.h5", "data"), ("below/b.h5", "data")])
    expect("%s/in.h5" % at, 0, ROW + [n + 100 for n in ROW], [])


@case
def absent_files_and_datasets_are_named(at):
    virtual("%s/in.h5" % at, [("gone.h5", "data"), ("a.h5", "data"), ("a.h5", "other")])
    expect("%s/in.h5" % at, 1, GONE + ROW + GONE, [(N, "gone.h5 is not there"), (N, '"other" of a.h5')])
    status, out, _ = run("dump", "-a", "%s/in.h5.drep" % at, "/v")
    check(status == 0 and "virtual-file 0 gone.h5" in out, "the mapping is not kept: %s", out)


@case
def one_absent_file_is_said_once(at):
    virtual("%s/in.h5" % at, [("gone.h5", "data"), ("gone.h5", "data"), ("a.h5", "data")])
    expect("%s/in.h5" % at, 1, None, [(2 * N, "gone.h5 is not there")])


@case
def holes_of_the_mapping_are_no_loss(at):
    with h5py.File("%s/in.h5" % at, "w", libver="latest") as f:
        layout = h5py.VirtualLayout((2, N), "i8")
        layout[1] = h5py.VirtualSource("a.h5", "data", (N,))
        f.create_virtual_dataset("v", layout, fillvalue=-1)
    expect("%s/in.h5" % at, 0, GONE + ROW, [])


def mapped(rng, plist, dims):
    """Adds one mapping of a random kind to a virtual dataset."""
    file, dataset, there = [(b"p.h5", b"floats", (30, 20)), (b"p.h5", b"shorts", (12, 12)), (b".", b"own", (9, 9)),
                            (b"gone.h5", b"x", (9, 9)), (b"p.h5", b"inner", (12, 12))][rng.integers(5)]
    shape = [int(rng.integers(1, n + 1)) for n in there]
    source, target = h5py.h5s.create_simple(there), h5py.h5s.create_simple(dims)
    start = [int(rng.integers(0, n - k + 1)) for n, k in zip(there, shape)]
    kind = rng.integers(4)
    if kind == 0:
        shape = list(there)
    elif kind == 1 and min(shape) > 2:
        shape = [2, shape[1]]
        source.select_hyperslab(tuple(start), (2, shape[1]), (2, 1) if start[0] + 2 < there[0] else (1, 1))
    else:
        source.select_hyperslab(tuple(start), tuple(shape))
    place = [int(rng.integers(0, n - k + 1)) for n, k in zip(dims, shape)]
    target.select_hyperslab(tuple(place), tuple(shape))
    plist.set_virtual(target, file, dataset, source)


@case
def random_sparse_mappings_read_as_by_hdf5(at):
    """Whole, partial, strided, overlapping, of other types, absent, virtual themselves."""
    rng = np.random.default_rng(5)
    with h5py.File("%s/p.h5" % at, "w", libver="latest") as f:
        f["floats"] = rng.standard_normal((30, 20))
        f.create_dataset("shorts", data=rng.integers(-9, 9, (12, 12), dtype="i2"), chunks=(5, 5), compression=1)
        layout = h5py.VirtualLayout((12, 12), "i2")
        layout[3:] = h5py.VirtualSource(f["shorts"])[3:]
        f.create_virtual_dataset("inner", layout, fillvalue=4)
    for _ in range(40):
        dims = (int(rng.integers(200, 400)), int(rng.integers(60, 90)))
        with h5py.File("%s/in.h5" % at, "w", libver="latest") as f:
            f["own"] = rng.integers(0, 99, (9, 9))
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_fill_value(np.array(rng.choice([0., -1.])))
            for _ in range(rng.integers(1, 9)):
                mapped(rng, plist, dims)
            h5py.h5d.create(f.id, b"v", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(dims), plist)
        status, err, _ = imported("%s/in.h5" % at)
        check(status in (0, 1), "status %s: %s", status, err)
        held = subprocess.run([cases.DATAREP, "dump", "--raw", "%s/in.h5.drep" % at, "/v"], capture_output=True,
                              check=True).stdout
        with h5py.File("%s/in.h5" % at) as f:
            differ = np.frombuffer(held, "<f8").reshape(dims) != f["v"][...]
        check(not differ.any(), "%d values differ", differ.sum())


@case
def a_source_behind_an_absent_link(at):
    virtual("%s/in.h5" % at, [(".", "/x"), ("a.h5", "data")], [("x", ("gone.h5", "/data"))])
    expect("%s/in.h5" % at, 1, GONE + ROW, [(N, "gone.h5 is not there")])


@case
def a_source_that_is_virtual_itself(at):
    virtual("%s/inner.h5" % at, [("a.h5", "data"), ("gone.h5", "data")])
    with h5py.File("%s/in.h5" % at, "w", libver="latest") as f:
        layout = h5py.VirtualLayout((2, N), "i8")
        layout[:] = h5py.VirtualSource("inner.h5", "v", (2, N))
        f.create_virtual_dataset("v", layout, fillvalue=-2)
    expect("%s/in.h5" % at, 1, ROW + GONE, [(N, "gone.h5 is not there")])


@case
def a_source_that_is_too_small(at):
    numbers("%s/small.h5" % at, 10, 900)
    virtual("%s/in.h5" % at, [("a.h5", "data"), ("small.h5", "data")])
    status, err, values = imported("%s/in.h5" % at)
    check(status == 1 and values == ROW + list(range(900, 910)) + GONE[:10], "%s %s", values, err)
    check(sum(n for n, _ in lost(err)) == 10, "%s", err)


@case
def elements_beyond_a_source(at):
    """HDF5 takes other elements where a row of the source is shorter than it should be."""
    with h5py.File("%s/p.h5" % at, "w") as f:
        f["a"] = np.arange(12).reshape(4, 3)
        f["b"] = np.full(50, 77)
    for top in (0, 90):
        with h5py.File("%s/in.h5" % at, "w", libver="latest") as f:
            layout = h5py.VirtualLayout((top + 6, 6), "i8")
            layout[top:, 1:] = h5py.VirtualSource("p.h5", "a", (7, 6))[:6, :5]
            f.create_virtual_dataset("v", layout, fillvalue=-1)
        truth = np.full((top + 6, 6), -1)
        truth[top:top + 4, 1:4] = np.arange(12).reshape(4, 3)
        expect("%s/in.h5" % at, 1, truth.ravel().tolist(), [(18, "smaller than it should be")])


def exported(source, target, *options):
    """Whether /v of an import and export of a file is virtual again; its values are those of the import."""
    drep = source + ".drep"
    if not os.path.exists(drep):
        cases.must("import", "--external", source, drep)
    truth = cases.must("dump", "--raw", drep, "/v")
    cases.must("export", *options, drep, target)
    check(os.path.exists(target), "no file")
    again = target + ".drep"
    cases.must("import", "--external", target, again)
    check(cases.must("dump", "--raw", again, "/v") == truth, "the values differ")
    os.unlink(again)
    with h5py.File(target) as f:
        return f["v"].is_virtual


@case
def a_mapping_is_restored(at):
    """Where its sources are beside the new file and hold the elements; else values are written."""
    os.makedirs("%s/elsewhere" % at)
    source = "%s/in.h5" % at
    virtual(source, [("a.h5", "data"), ("below/b.h5", "data")])
    check(exported(source, "%s/out.h5" % at), "the mapping is lost")
    check(not exported(source, "%s/out2.h5" % at, "--no-verify"), "a mapping that nobody has compared")
    with h5py.File(source) as f, h5py.File("%s/out.h5" % at) as g:
        was, now = ([(m.file_name, m.dset_name, m.vspace.get_regular_hyperslab()) for m in x["v"].virtual_sources()]
                    for x in (f, g))
        check(was == now, "%s, not %s", now, was)
    check(not exported(source, "%s/elsewhere/out.h5" % at), "its sources are elsewhere")
    with h5py.File("%s/a.h5" % at, "r+") as f:
        f["data"][3] = -77
    check(not exported(source, "%s/out.h5" % at), "a source has changed")
    numbers("%s/a.h5" % at)
    check(exported(source, "%s/out.h5" % at), "the source is right again")
    os.rename("%s/a.h5" % at, "%s/real.h5" % at)
    os.symlink("real.h5", "%s/a.h5" % at)
    check(not exported(source, "%s/out.h5" % at), "a symbolic link was followed")
    os.unlink("%s/a.h5" % at)
    os.mkfifo("%s/a.h5" % at)
    check(not exported(source, "%s/out.h5" % at), "a pipe was opened")


@case
def sources_of_fill(at):
    """Chunks of fill are not stored, and compared with their sources all the same."""
    for k, truth in enumerate(([-1, 5], [-1, -1])):
        for i, value in enumerate(truth):
            with h5py.File("%s/s%d.h5" % (at, i), "w") as f:
                f["data"] = np.full(N, value)
        source = "%s/in%d.h5" % (at, k)
        with h5py.File(source, "w", libver="latest") as f:
            layout = h5py.VirtualLayout((4, 100000), "i8")
            for i in range(2):
                layout[2 * i, 50000:50000 + N] = h5py.VirtualSource("s%d.h5" % i, "data", (N,))
            f.create_virtual_dataset("v", layout, fillvalue=-1)
        check(exported(source, "%s/out.h5" % at), "the mapping is lost")
        with h5py.File("%s/s0.h5" % at, "r+") as f:
            f["data"][N - 1] = 7
        check(not exported(source, "%s/out.h5" % at), "a source of fill has changed")


@case
def many_shapes_are_restored(at):
    """Boxes of sources with more and fewer dimensions, side by side, with gaps of fill."""
    rng = np.random.default_rng(7)
    for k in range(12):
        source, rows, fill = "%s/in%d.h5" % (at, k), int(rng.integers(3, 9)), int(rng.integers(-9, 0))
        with h5py.File(source, "w", libver="latest") as f:
            layout = h5py.VirtualLayout((rows, 700, 1, 3), "i4")
            for i in range(0, rows, int(rng.integers(1, 3))):
                n, first = int(rng.integers(1, 600)), int(rng.integers(0, 100))
                shape = [(n, 3), (1, n, 3), (1, n + 4, 1, 3)][i % 3]
                with h5py.File("%s/s%d-%d.h5" % (at, k, i), "w") as g:
                    g["data"] = rng.integers(0, 1000, shape).astype("i4")
                box = h5py.VirtualSource("s%d-%d.h5" % (k, i), "data", shape)
                layout[i, first:first + n, 0, :] = box[:, 4:] if i % 3 == 2 else box
            f.create_virtual_dataset("v", layout, fillvalue=fill)
        with h5py.File(source) as f:
            truth = f["v"][()]
        check(exported(source, "%s/out%d.h5" % (at, k)), "the mapping is lost")
        exported(source, "%s/copy%d.h5" % (at, k), "--no-verify")
        for name in ("out", "copy"):
            with h5py.File("%s/%s%d.h5" % (at, name, k)) as f:
                check(np.array_equal(f["v"][()], truth), "%s: the values differ", name)
        last = sorted(p for p in os.listdir(at) if p.startswith("s%d-" % k))[-1]
        with h5py.File("%s/%s" % (at, last), "r+") as f:
            f["data"][(-1,) * f["data"].ndim] += 1
        check(not exported(source, "%s/out%d.h5" % (at, k)), "a source has changed")


@case
def mappings_that_are_not_restored(at):
    """The file itself, patterns, sources that are virtual or behind links to other files."""
    virtual("%s/inner.h5" % at, [("a.h5", "data")])
    with h5py.File("%s/link.h5" % at, "w") as f:
        f["data"] = h5py.ExternalLink("a.h5", "data")
    for i, sources in enumerate(([(".", "/x")], [("inner.h5", "v")], [("link.h5", "data")], [("%s/a.h5" % at, "data")])):
        source = "%s/in%d.h5" % (at, i)
        virtual(source, sources, [("x", ("a.h5", "/data"))] if i == 0 else ())
        check(not exported(source, "%s/out%d.h5" % (at, i)), "%s is restored", sources)


@case
def a_source_that_is_itself(at):
    virtual("%s/in.h5" % at, [(".", "v")])
    status, err, _ = imported("%s/in.h5" % at)
    check(status == 1 and "nested" in err, "%s", err)


@case
def a_pattern_without_files(at):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple((0, N), (h5py.h5s.UNLIMITED, N))
    space.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (1, 1), (1, N))
    plist.set_virtual(space, b"part-%b.h5", b"data", h5py.h5s.create_simple((N,)))
    with h5py.File("%s/in.h5" % at, "w", libver="latest") as f:
        h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I64LE, h5py.h5s.create_simple((0, N), (h5py.h5s.UNLIMITED, N)), plist)
    status, err, _ = imported("%s/in.h5" % at)
    check(status == 1 and "part-0.h5 is not there" in err, "status %s: %s", status, err)
    numbers("%s/part-0.h5" % at)
    expect("%s/in.h5" % at, 0, ROW, [])


# ------------------------------------------------------------ files outside, no files

@case
def a_source_outside_needs_permission(at):
    outside = "%s/../outside.h5" % at
    numbers(outside, N, 500)
    virtual("%s/in.h5" % at, [("a.h5", "data"), (os.path.abspath(outside), "data")])
    expect("%s/in.h5" % at, 1, ROW + GONE, [(N, "--outside reads it")])
    expect("%s/in.h5" % at, 0, ROW + [n + 500 for n in ROW], [], "--outside")


@case
def a_link_outside_behind_a_virtual_source(at):
    outside = "%s/../outside.h5" % at
    numbers(outside, N, 500)
    for name in (os.path.abspath(outside), "../outside.h5"):
        virtual("%s/in.h5" % at, [(".", "/x")], [("x", (name, "/data"))])
        expect("%s/in.h5" % at, 1, GONE, [(N, "--outside reads it")])
    expect("%s/in.h5" % at, 0, [n + 500 for n in ROW], [], "--outside")


@case
def a_symbolic_link_that_leads_out(at):
    numbers("%s/../outside.h5" % at, N, 500)
    os.symlink("../outside.h5", "%s/inside.h5" % at)
    virtual("%s/in.h5" % at, [("inside.h5", "data")])
    expect("%s/in.h5" % at, 1, GONE, [(N, "--outside reads it")])


@case
def a_file_from_a_pipe_has_no_neighbours(at):
    """It is kept in TMPDIR, whose other files are not beside it."""
    virtual("%s/in.h5" % at, [("a.h5", "data")])
    with open("%s/in.h5" % at, "rb") as f:
        status, _, err = run("import", "--partial", "--format=hdf5", "-", "%s/out.drep" % at, data=f.read(), TMPDIR=at)
    check(status == 1 and [n for n, _ in lost(err)] == [N], "status %s: %s", status, err)


@case
def fifos_and_devices_do_not_hang(at):
    os.mkfifo("%s/fifo" % at)
    for name in ("fifo", "/dev/zero"):
        for make in (lambda: virtual("%s/in.h5" % at, [(name, "data")]),
                     lambda: virtual("%s/in.h5" % at, [(".", "/x")], [("x", (name, "/data"))])):
            make()
            expect("%s/in.h5" % at, 1, GONE, [(N, "is no regular file")])
        raw("%s/in.h5" % at, name)
        status, err, values = imported("%s/in.h5" % at, "-v")
        check(status == 1 and err.count("is no regular file") == 2 and values == [7] * N, "%s %s", name, err)


@case
def raw_files(at):
    with open("%s/r.raw" % at, "wb") as f:
        f.write(bytes(ROW))
    raw("%s/in.h5" % at, "r.raw")
    expect("%s/in.h5" % at, 0, ROW, [])
    raw("%s/in.h5" % at, "gone.raw")
    status, err, _ = imported("%s/in.h5" % at)
    check(status == 1 and "gone.raw is not there" in err, "%s", err)
    raw("%s/in.h5" % at, "r.raw", 5)
    expect("%s/in.h5" % at, 1, ROW[5:] + [0] * 5, [(5, "ends too early"), (5, "ends too early")])


@case
def a_raw_file_outside_behind_a_virtual_source(at):
    raw("%s/in.h5" % at, "/etc/passwd")
    status, err, values = imported("%s/in.h5" % at, "-v")
    check(status == 1 and values == [7] * N and err.count("/etc/passwd lies outside") == 2, "%s %s", values, err)


@case
def root_in_another_file(at):
    with h5py.File("%s/other.h5" % at, "w") as f:
        f["g/data"] = 1
    virtual("%s/in.h5" % at, [("a.h5", "data")], [("x", ("other.h5", "/g"))])
    for options, said in ((), "other.h5 is another file; --external reads it"), (("--external",), "lies in another file; import that one"):
        status, _, err = run("import", *options, "--root=/x", "%s/in.h5" % at, "%s/out.drep" % at)
        check(status in (3, 4) and said in err, "status %s: %s", status, err)


# ------------------------------------------------------------------- damaged files

def lookup3(data):
    """Bob Jenkins' hash, as the sums over HDF5's blocks."""
    mask = 0xffffffff

    def rot(x, k):
        return (x << k | x >> (32 - k)) & mask

    a = b = c = 0xdeadbeef + len(data) & mask
    while len(data) > 12:
        a, b, c = ((x + y) & mask for x, y in zip((a, b, c), struct.unpack_from("<III", data)))
        a = (a - c & mask) ^ rot(c, 4)
        c = c + b & mask
        b = (b - a & mask) ^ rot(a, 6)
        a = a + c & mask
        c = (c - b & mask) ^ rot(b, 8)
        b = b + a & mask
        a = (a - c & mask) ^ rot(c, 16)
        c = c + b & mask
        b = (b - a & mask) ^ rot(a, 19)
        a = a + c & mask
        c = (c - b & mask) ^ rot(b, 4)
        b = b + a & mask
        data = data[12:]
    if not data:
        return c
    a, b, c = ((x + y) & mask for x, y in zip((a, b, c), struct.unpack("<III", data.ljust(12, b"\0"))))
    c = (c ^ b) - rot(b, 14) & mask
    a = (a ^ c) - rot(c, 11) & mask
    b = (b ^ a) - rot(a, 25) & mask
    c = (c ^ b) - rot(b, 16) & mask
    a = (a ^ c) - rot(c, 4) & mask
    b = (b ^ a) - rot(a, 14) & mask
    return (c ^ b) - rot(b, 24) & mask


def mend(data, at):
    """The sum of the object header that holds the byte."""
    begin = data.rfind(b"OHDR", 0, at)
    if begin < 0:
        return
    flags = data[begin + 5]
    size_at = begin + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    end = size_at + width + int.from_bytes(data[size_at:size_at + width], "little")
    struct.pack_into("<I", data, end, lookup3(bytes(data[begin:end])))


def patch(path, find, put, shift=0, last=False):
    """Overwrites what stands `shift` bytes behind the pattern."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = (data.rfind if last else data.find)(find) + shift
    check(at >= shift, "no such bytes in %s", path)
    data[at:at + len(put)] = put
    mend(data, at)
    with open(path, "wb") as f:
        f.write(data)


def refuses_values(path, word, *options):
    """Nothing of memory comes through: what is not in the file is the fill value or absent."""
    status, err, _ = imported(path, *options, name="/x", MALLOC_PERTURB_="85")
    check(status == 1 and word in err, "status %s: %s", status, err)
    with open(path + ".drep", "rb") as f:
        data = f.read()
    # What MALLOC_PERTURB_ leaves in memory, new and freed.
    check(b"\xaa" * 16 not in data and b"\x55" * 16 not in data, "holds memory")


@case
def a_fill_value_shorter_than_its_type(at):
    for libver in ("earliest", "latest"):
        path = "%s/in.h5" % at
        with h5py.File(path, "w", libver=libver) as f:
            f.create_dataset("x", (10,), "S2000", chunks=(5,), fillvalue=b"Q" * 2000)
        patch(path, struct.pack("<I", 2000) + b"QQQQ", struct.pack("<I", 8))
        refuses_values(path, "its fill value has 8 bytes and its elements 2000")
        # The same behind a virtual dataset.
        with h5py.File("%s/v.h5" % at, "w", libver="latest") as f:
            layout = h5py.VirtualLayout((10,), "S2000")
            layout[:] = h5py.VirtualSource("in.h5", "x", (10,))
            f.create_virtual_dataset("x", layout)
        refuses_values("%s/v.h5" % at, "its fill value has 8 bytes")


@case
def a_shared_fill_value_shorter_than_its_type(at):
    """It stands in a heap of shared messages, under a sum over each block."""
    subprocess.run([GENERATOR, at], stdout=subprocess.DEVNULL, check=True)
    with open("%s/shared_fills.h5" % at, "rb") as f:
        data = bytearray(f.read())
    blocks = [m.start() for m in re.finditer(b"FHDB", data)]
    changed = 0
    for begin, end in zip(blocks, blocks[1:] + [len(data)]):
        fills = [m.start() for m in re.finditer(re.escape(struct.pack("<I", 600)) + rb".(.)\1{20}", data[begin:end])]
        for fill in fills:
            struct.pack_into("<I", data, begin + fill, 8)
        # The sum stands behind the front of the block and counts as zeros; blocks double.
        for size in (1024, 2048, 4096) if fills else ():
            block = data[begin:begin + size]
            block[18:22] = bytes(4)
            again = bytearray(block)
            for fill in fills:
                if fill + 4 <= size:
                    struct.pack_into("<I", again, fill, 600)
            if lookup3(bytes(again)) == struct.unpack_from("<I", data, begin + 18)[0]:
                struct.pack_into("<I", data, begin + 18, lookup3(bytes(block)))
                changed += len(fills)
    check(changed >= 30, "only %d fill values changed", changed)
    path = "%s/in.h5" % at
    with open(path, "wb") as f:
        f.write(data)
    status, err, _ = imported(path, "-v", MALLOC_PERTURB_="85")
    check(status == 1 and err.count("its fill value has 8 bytes and its elements 600") == changed, "%d: %s", changed, err)


@case
def chunks_shorter_than_they_should_be(at):
    path = "%s/in.h5" % at
    short = zlib.compress(b"Q" * 10)
    types = ["<i4", ">f8", np.dtype([("a", "S3"), ("b", "<f4")]), h5py.string_dtype()]
    for dtype in types:
        with h5py.File(path, "w") as f:
            x = f.create_dataset("x", (2000,), dtype, chunks=(1000,), compression="gzip")
            x.id.write_direct_chunk((0,), short)
            x[1500] = x[1999]
        refuses_values(path, "1000 elements could not be read")
        if dtype == types[-1]:
            continue
        # It goes over as it is, without being decoded: who reads it is told.
        status, err, _ = imported(path, "--no-decode", name="/x[1000:]")
        check(status == 0 and err == "", "as it is: status %s: %s", status, err)
        for command in (("dump", path + ".drep", "/x[:1]"), ("check", "--deep", path + ".drep")):
            status, out, err = run(*command)
            check(status in (1, 4) and "/x" in out + err and "(R8.58)" in out + err, "%s: status %s: %s%s",
                  command[0], status, out, err)
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", (2000,), "<i4", chunks=(1000,))
        x.id.write_direct_chunk((0,), b"Q" * 10)
    refuses_values(path, "1000 elements could not be read")


def short_of(path, shape, dtype, chunks, stored, mask=0, **filters):
    """A dataset /x whose first chunk holds these bytes, and whose others are whole."""
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", shape, dtype, chunks=chunks, **filters)
        x[...] = np.ones(shape, dtype)
        x.id.write_direct_chunk((0,), stored, mask)


def low_bits(path, n, stored=None, **filters):
    """Numbers of 12 bits behind the filter nbit."""
    with h5py.File(path, "w") as f:
        dtype = h5py.h5t.STD_I32LE.copy()
        dtype.set_precision(12)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((n,))
        plist.set_filter(h5py.h5z.FILTER_NBIT)
        if filters:
            plist.set_deflate(6)
        x = h5py.h5d.create(f.id, b"x", dtype, h5py.h5s.create_simple((2 * n,)), plist)
        x.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(2 * n, dtype="<i4") % 2000)
        if stored:
            x.write_direct_chunk((0,), stored)


SHORT = b"Q" * 10


@case
def short_chunks_behind_filters_of_hdf5(at):
    """HDF5's own filters decode those, and what nbit and scaleoffset read is measured first."""
    path = "%s/in.h5" % at
    twice = zlib.compress(zlib.compress(SHORT))
    szip = struct.pack("<I", 10) + SHORT
    bits = struct.pack("<IB", 30, 8) + bytes(16) + SHORT
    kinds = [("nbit", lambda: low_bits(path, 1000, SHORT)),
             ("nbit, deflate", lambda: low_bits(path, 1000, zlib.compress(SHORT), deflate=True)),
             ("scaleoffset", lambda: short_of(path, (2000,), "<i4", (1000,), bits, scaleoffset=0)),
             ("scaleoffset, deflate", lambda: short_of(path, (2000,), "<i4", (1000,), zlib.compress(bits), scaleoffset=0,
                                                       compression="gzip"))]
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        kinds.append(("szip", lambda: short_of(path, (2000,), "<i4", (1000,), szip, compression="szip")))

    def deflated_twice(stored):
        with h5py.File(path, "w") as f:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((1000,))
            for _ in range(2):
                plist.set_filter(h5py.h5z.FILTER_DEFLATE, 0, (6,))
            x = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((2000,)), plist)
            x.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones(2000, "<i4"))
            if stored:
                x.write_direct_chunk((0,), stored)

    kinds.append(("deflate, deflate", lambda: deflated_twice(twice)))
    for name, make in kinds:
        make()
        try:
            refuses_values(path, "1000 elements could not be read")
        except Differ as e:
            raise Differ("%s: %s" % (name, e)) from e
    # Whole ones are read.
    deflated_twice(None)
    expect(path, 0, [1] * 2000, [], name="/x")
    for filters in ({}, {"deflate": True}):
        low_bits(path, 1000, **filters)
        expect(path, 0, [n % 2000 for n in range(2000)], [], name="/x")
    options = [{"scaleoffset": 0}, {"scaleoffset": 0, "compression": "gzip"}, {"scaleoffset": 0, "shuffle": True}]
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        options += [{"compression": "szip"}, {"compression": "szip", "shuffle": True, "fletcher32": True}]
    for option in options:
        with h5py.File(path, "w") as f:
            f.create_dataset("x", (2000,), "<i4", chunks=(1000,), **option)[...] = np.arange(2000)
        expect(path, 0, list(range(2000)), [], name="/x")


@case
def short_chunks_behind_a_virtual_dataset(at):
    """Reading it would read them, so nothing of it is read."""
    source = "%s/in.h5" % at
    for filters in ({"compression": "gzip"}, {"scaleoffset": 0}, {}):
        stored = {"compression": zlib.compress(SHORT)}.get(*list(filters)[:1] or [""], SHORT)
        short_of(source, (2000,), "<i4", (1000,), stored, **filters)
        with h5py.File("%s/v.h5" % at, "w", libver="latest") as f:
            layout = h5py.VirtualLayout((2000,), "<i4")
            for k in range(10):
                layout[200 * k:200 * k + 200] = h5py.VirtualSource("in.h5", "x", (2000,))[200 * k:200 * k + 200]
            f.create_virtual_dataset("x", layout)
        refuses_values("%s/v.h5" % at, "a chunk of a source holds less than chunks do")


@case
def a_compact_dataset_shorter_than_its_shape(at):
    for libver in ("earliest", "latest"):
        path = "%s/in.h5" % at
        with h5py.File(path, "w", libver=libver) as f:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_layout(h5py.h5d.COMPACT)
            x = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I64LE, h5py.h5s.create_simple((9,)), plist)
            x.write(h5py.h5s.ALL, h5py.h5s.ALL, np.full(9, 0x5252525252525252))
        nine = struct.pack("<Q", 9)
        with open(path, "rb") as f:
            twice = nine + nine in f.read()
        patch(path, nine * (1 + twice), struct.pack("<Q", 4000) * (1 + twice))
        refuses_values(path, "72 bytes are stored of 32000")


@case
def an_attribute_shorter_than_its_shape(at):
    path = "%s/in.h5" % at
    with h5py.File(path, "w", libver="earliest") as f:
        f["x"] = 1
        f.attrs["a"] = np.full(7, 0x5252525252525252)
    seven = struct.pack("<Q", 7)
    patch(path, seven + seven, struct.pack("<QQ", 4000, 4000))
    refuses_values(path, "data size exceeds")


@case
def a_damaged_root_group(at):
    path = "%s/in.h5" % at
    with h5py.File(path, "w", libver="latest") as f:
        f["x"] = 1
        root = h5py.h5o.get_info(f.id).addr
    with open(path, "r+b") as f:
        f.seek(root)
        f.write(b"NONE")
    status, _, err = run("import", path, path + ".drep")
    check(status == 4 and err.startswith("datarep: "), "status %s: %s", status, err)
    check(not os.path.exists(path + ".drep"), "leaves a file")


# ----------------------------------------------------------------------- the cage

@case
def the_cage_is_said(_):
    _, out, _ = run("--version")
    check("confined by file list" in out, "%s", out)


@case
def plugins_from_directories_that_anybody_writes(at):
    """A filter plugin is code: HDF5 loads every shared object of the directory."""
    folder = "%s/plugins" % at
    os.mkdir(folder)
    with open("%s/p.c" % at, "w", encoding="ascii") as f:
        f.write('#include <stdio.h>\n__attribute__((constructor)) static void run(void) { fputs("LOADED\\n", stderr); }\n')
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", folder + "/libp.so", "%s/p.c" % at], check=False).returncode:
        raise Differ("no compiler")
    with h5py.File("%s/in.h5" % at, "w") as f:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((5,))
        plist.set_filter(305, h5py.h5z.FLAG_OPTIONAL)
        x = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((10,)), plist)
        x.write_direct_chunk((0,), b"compressed by lzo")
    for mode, loads in ((0o755, True), (0o777, False)):
        os.chmod(folder, mode)
        _, err, _ = imported("%s/in.h5" % at, name="/x", HDF5_PLUGIN_PATH=folder)
        check(("LOADED" in err) == loads, "mode %o: %s", mode, err)


PLUGIN = r"""
#include <hdf5.h>
#include <H5PLextern.h>
#include <stdlib.h>
#include <string.h>
/* A chunk that begins with S becomes 10 bytes, another 5000 that were used and never written. */
static size_t filter(unsigned flags, size_t n, const unsigned v[], size_t size, size_t *room, void **buffer)
{
    int is_short = **(char **)buffer == 'S';
    void *used = malloc(5000);
    (void)flags, (void)n, (void)v, (void)size;
    memset(used, 0x51, 5000);
    __asm__ volatile("" : : "r"(used) : "memory");
    free(used);
    free(*buffer);
    *room = is_short ? 10 : 5000;
    *buffer = malloc(*room);
    if (is_short)
        memset(*buffer, 1, 10);
    return *room;
}
static const H5Z_class2_t class = {H5Z_CLASS_T_VERS, 300, 1, 1, "test", NULL, NULL, filter};
H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
const void *H5PLget_plugin_info(void) { return &class; }
"""


@case
def plugins_that_give_less_than_they_should(at):
    """Too few bytes are noticed; memory that a plugin has not written is zeros."""
    folder = "%s/plugins" % at
    os.mkdir(folder, 0o755)
    with open("%s/p.c" % at, "w", encoding="ascii") as f:
        f.write(PLUGIN)
    flags = subprocess.run(["pkg-config", "--cflags", "hdf5"], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["cc", *flags, "-shared", "-fPIC", "-o", folder + "/libp.so", "%s/p.c" % at], check=True)
    for first, status, values in ((b"S", 1, [0] * 5000), (b"D", 0, [0] * 5000)):
        path = "%s/in.h5" % at
        with h5py.File(path, "w") as f:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((5000,))
            plist.set_filter(300, h5py.h5z.FLAG_OPTIONAL)
            x = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((5000,)), plist)
            x.write_direct_chunk((0,), first * 100)
        code, err, got = imported(path, name="/x", HDF5_PLUGIN_PATH=folder)
        check(code == status, "%s: status %s: %s", first, code, err)
        check(status == 0 or "a chunk holds less than chunks do" in err, "%s", err)
        # The sanitizers' allocator fills memory in its own way.
        check(got == values or "asan" in cases.DATAREP, "%s: %s...", first, got[:20])


def prepare(folder):
    at = os.path.join(folder, "in")
    os.makedirs(os.path.join(at, "below"))
    numbers("%s/a.h5" % at)
    numbers("%s/below/b.h5" % at, N, 100)
    return at


if __name__ == "__main__":
    sys.exit(cases.main(prepare))
