#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-stored - chunks go over as they are stored, to the container and back.

h5py makes the files and reads the stored bytes of both; only the filters that stay are concerned.
TAP on stdout.
"""
import ctypes
import sys
import zlib

import cases
from cases import Absent, case, check, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)


def stored(path):
    """The stored bytes and masks of all chunks: by dataset and place."""
    found = {}

    def visit(name, d):
        if isinstance(d, h5py.Dataset) and d.chunks:
            for i in range(d.id.get_num_chunks()):
                at = d.id.get_chunk_info(i).chunk_offset
                found[name, at] = d.id.read_direct_chunk(at)

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


def odd_level(data, width):
    """What zlib makes, but no other library: its stored level inside shuffled bytes."""
    shuffled = np.frombuffer(data, "u1").reshape(-1, width).T.tobytes()
    return zlib.compress(shuffled, 0)


def there_and_back(at, make, *options):
    """The chunks of a file, of its container and of what is exported."""
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    with h5py.File(source, "w") as f:
        make(f)
    for command in (("import", *options, source, target), ("check", target), ("export", target, back),
                    ("export", "--verify", target, back)):
        status, _, err = run(*command)
        check(status == 0, "%s: status %s: %s", command[0], status, err)
    with h5py.File(source) as a, h5py.File(back) as b:
        for name in a:
            check(np.array_equal(a[name][()], b[name][()]), "%s has other values", name)
    return stored(source), stored(back), target


def stays(at, make):
    before, after, _ = there_and_back(at, make)
    check(before, "no chunks")
    check(before == after, "%d of %d chunks are other bytes", sum(before[k] != after.get(k) for k in before), len(before))


@case
def shuffle_and_deflate(at):
    def make(f):
        for dtype in ("<i2", ">i4", "<f4", ">f8", "<u8", "i1"):
            d = f.create_dataset(dtype, (50, 70), dtype, chunks=(16, 32), compression="gzip", shuffle=True)
            d[...] = np.arange(3500).reshape(50, 70) % 100
    stays(at, make)


@case
def streams_that_no_library_makes_again(at):
    def make(f):
        values = np.arange(1000, dtype="<i4")
        d = f.create_dataset("d", (1000,), "<i4", chunks=(1000,), compression="gzip", shuffle=True)
        d.id.write_direct_chunk((0,), odd_level(values.tobytes(), 4))
    stays(at, make)


@case
def sums_of_fletcher32(at):
    def make(f):
        for n in (7, 100):
            f.create_dataset("d%d" % n, data=np.arange(100, dtype="i1"), chunks=(n,), compression="gzip", fletcher32=True)
    stays(at, make)


@case
def a_wrong_sum_is_found(at):
    source = "%s/in.h5" % at
    with h5py.File(source, "w") as f:
        d = f.create_dataset("d", data=np.arange(100, dtype="<i4"), chunks=(50,), compression="gzip", fletcher32=True)
        _, data = d.id.read_direct_chunk((0,))
        d.id.write_direct_chunk((0,), data[:-1] + bytes([data[-1] ^ 1]))
    status, _, err = run("import", "--partial", source, "%s/x.drep" % at)
    check(status == 1 and "50 elements could not be read" in err, "status %s: %s", status, err)


@case
def compounds_with_gaps(at):
    def make(f):
        dtype = np.dtype({"names": ["a", "b", "c"], "formats": ["i1", "<f8", ("<i2", (3,))], "offsets": [0, 8, 20],
                          "itemsize": 32})
        values = np.zeros(500, dtype)
        values["a"], values["b"] = np.arange(500) % 100, np.arange(500)
        f.create_dataset("d", data=values, chunks=(64,), compression="gzip", shuffle=True)
    stays(at, make)


@case
def chunks_that_skip_filters(at):
    rng = np.random.default_rng(7)

    def make(f):
        d = f.create_dataset("d", (4000,), "u1", chunks=(1000,), compression="gzip", shuffle=True)
        d[1000:] = np.arange(3000) % 7
        d.id.write_direct_chunk((0,), rng.bytes(1000), 3)
    stays(at, make)


@case
def few_chunks_of_many(at):
    def make(f):
        d = f.create_dataset("d", (10**6, 10**6), "<f4", chunks=(1000, 1000), compression="gzip")
        d[5:7, 9] = 1
        d[999000:, 999990:] = 2

    source = "%s/in.h5" % at
    with h5py.File(source, "w") as f:
        make(f)
    for command in (("import", source, "%s/x.drep" % at), ("export", "%s/x.drep" % at, "%s/back.h5" % at)):
        status, _, err = run(*command)
        check(status == 0, "%s: status %s: %s", command[0], status, err)
    check(stored(source) == stored("%s/back.h5" % at) and len(stored(source)) == 2, "other chunks")


LZF, BLOSC, LZ4, BITSHUFFLE, ZSTD = 32000, 32001, 32004, 32008, 32015
DTYPES = "<i2", ">i4", "<f4", ">f8", "u1"


def framed():
    """Name and options of each way in which filters of HDF5 frame their streams."""
    ways = [("lzf", LZF, ()), ("lz4", LZ4, ()), ("lz4 in blocks", LZ4, (512,))]
    ways += [("bitshuffle %d of %d" % (how, block), BITSHUFFLE, (block, how)) for how in (0, 2) for block in (0, 16)]
    ways += [("blosc %d shuffle %d" % (code, shuffle), BLOSC, (0, 0, 0, 0, 5, shuffle, code))
             for code in (0, 1, 2, 4, 5) for shuffle in (0, 1, 2)]
    return ways


def need(*filters):
    for number in filters:
        if not h5py.h5z.filter_avail(number):
            raise Absent("libhdf5 has no plugin for filter %d" % number)


def elements(target, path, dtype, shape, at):
    """What the command decodes, as NumPy has it."""
    status, _, err = run("export", "--root=" + path, "--no-verify", target, "%s/one.npy" % at)
    check(status == 0, "export %s: %s", path, err)
    values = np.load("%s/one.npy" % at)
    check(values.shape == shape and values.dtype.kind == np.dtype(dtype).kind, "%s: %s", path, values.dtype)
    return values


@case
def streams_of_registered_filters(at):
    """They stay, and decode to what the filters' own plugins decode them to."""
    need(LZF, LZ4, BITSHUFFLE, BLOSC)
    values = np.cumsum(np.random.default_rng(5).integers(-3, 4, (60, 70)), axis=1)

    def make(f):
        for dtype in DTYPES:
            for name, number, options in framed():
                f.create_dataset("%s %s" % (name, dtype), data=values.astype(dtype), chunks=(17, 33), compression=number,
                                 compression_opts=options or None)

    before, after, target = there_and_back(at, make)
    check(before and before == after, "%d of %d chunks are other bytes", sum(before[k] != after.get(k) for k in before),
          len(before))
    check(run("check", "--deep", target)[0] == 0, "not all chunks are decoded")
    with h5py.File("%s/in.h5" % at) as f, h5py.File("%s/back.h5" % at) as g:
        for name in f:
            check(f[name]._filters == g[name]._filters, "%s: filters %s, not %s", name, g[name]._filters, f[name]._filters)
            got = elements(target, "/" + name, f[name].dtype, f[name].shape, at)
            check(np.array_equal(got, f[name][()]), "%s: other values", name)


@case
def streams_that_we_make(at):
    """What the command encodes is what the filters' own plugins decode."""
    need(LZF, LZ4, BITSHUFFLE, BLOSC)
    values = np.cumsum(np.random.default_rng(6).integers(-3, 4, (61, 71)), axis=1)
    for dtype in DTYPES:
        np.save("%s/in.npy" % at, values.astype(dtype))
        for name, number in ("lzf", LZF), ("hdf5-lz4", LZ4), ("hdf5-bitshuffle", BITSHUFFLE), ("blosc", BLOSC):
            for command in (("import", "--into=/d", "%s/in.npy" % at, "%s/x.drep" % at),
                            ("convert", "--chunk=17,35", "--filters=" + name, "%s/x.drep" % at, "%s/y.drep" % at),
                            ("export", "%s/y.drep" % at, "%s/back.h5" % at)):
                status, _, err = run(*command)
                check(status == 0, "%s: status %s: %s", command, status, err)
            with h5py.File("%s/back.h5" % at) as f:
                check(name in f["d"]._filters or str(number) in f["d"]._filters, "%s: filters %s", name, f["d"]._filters)
                check(np.array_equal(f["d"][()], values.astype(dtype)), "%s of %s: other values", name, dtype)
                masks = [f["d"].id.get_chunk_info(i).filter_mask for i in range(f["d"].id.get_num_chunks())]
                check(name == "lzf" or dtype == "u1" or not any(masks), "%s of %s is not applied", name, dtype)


@case
def frames_of_zstd(at):
    """No plugin for them is packaged: the frames are made here."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    values = np.arange(500, dtype="<i4") // 3

    def make(f):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((100,))
        plist.set_filter(ZSTD, h5py.h5z.FLAG_OPTIONAL, (7,))
        d = h5py.h5d.create(f.id, b"d", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((500,)), plist)
        for i in range(0, 500, 100):
            out = ctypes.create_string_buffer(1000)
            n = zstd.ZSTD_compress(out, 1000, values[i:i + 100].tobytes(), 400, 7)
            d.write_direct_chunk((i,), out.raw[:n])

    with h5py.File("%s/in.h5" % at, "w") as f:
        make(f)
    for command in (("import", "%s/in.h5" % at, "%s/x.drep" % at), ("export", "%s/x.drep" % at, "%s/back.h5" % at),
                    ("import", "--filters=none", "%s/in.h5" % at, "%s/y.drep" % at)):
        status, _, err = run(*command)
        check(status == 0, "%s: status %s: %s", command[0], status, err)
    check(stored("%s/in.h5" % at) == stored("%s/back.h5" % at), "other chunks")
    for target in "x", "y":
        got = elements("%s/%s.drep" % (at, target), "/d", "<i4", (500,), at)
        check(np.array_equal(got, values), "%s: other values", target)


@case
def other_filters_are_applied(at):
    def make(f):
        f.create_dataset("d", data=np.arange(1000) % 10, chunks=(100,), compression="gzip")
    _, _, target = there_and_back(at, make, "--filters=zstd")
    check("zstd" in run("dump", "-H", target)[1], "not zstd")


if __name__ == "__main__":
    sys.exit(cases.main())
