#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-stored - chunks go over as they are stored, to the container and back.

h5py makes the files and reads the stored bytes of both; only the filters that stay are concerned.
TAP on stdout.
"""
import ctypes
import json
import os
import random
import re
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


def elements(target, path, dtype, shape, at, statuses=(0,)):
    """What the command decodes, as NumPy has it."""
    status, _, err = run("export", "--root=" + path, "--no-verify", target, "%s/one.npy" % at)
    check(status in statuses, "export %s: %s", path, err)
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


def pipeline(f, name, values, chunks, *filters):
    """A dataset with these filters, in this order."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunks)
    for one in filters:
        if one == "deflate":
            plist.set_deflate(4)
        elif one == "lzf":
            plist.set_filter(LZF, h5py.h5z.FLAG_OPTIONAL, ())
        else:
            getattr(plist, "set_" + one)()
    space = h5py.h5s.create_simple(values.shape)
    h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(values.dtype), space, plist))[...] = values


def filters_of(d):
    plist = d.id.get_create_plist()
    return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]


ODD = ["deflate shuffle lzf", "lzf shuffle deflate", "lzf deflate", "deflate lzf", "deflate fletcher32 lzf", "deflate deflate",
       "fletcher32 shuffle deflate", "shuffle fletcher32 deflate", "fletcher32 deflate", "fletcher32 lzf"]
ODD_STAYS = ["deflate shuffle", "shuffle lzf fletcher32", "deflate fletcher32"]


@case
def filters_in_odd_orders(at):
    """h5py reads them: the first ones cannot stay in a container's list, netCDF-4's own order with sums is one of them."""
    need(LZF)
    rng = np.random.default_rng(8)
    values = np.zeros((200, 200), "<i4")
    values[:10] = rng.integers(0, 9, (10, 200))
    other = np.arange(40000, dtype="<f8").reshape(200, 200) // 7

    def make(f):
        for names in ODD + ODD_STAYS:
            pipeline(f, names, values, (64, 64), *names.split())
            pipeline(f, names + " 2", other, (30, 30), *names.split())

    before, after, target = there_and_back(at, make)
    check(run("check", "--deep", target)[0] == 0, "not all chunks are decoded")
    with h5py.File("%s/in.h5" % at) as f, h5py.File("%s/back.h5" % at) as g:
        for name in f:
            check(filters_of(f[name]) == filters_of(g[name]), "%s: filters are now %s", name, filters_of(g[name]))
            got = elements(target, "/" + name, f[name].dtype, f[name].shape, at)
            check(np.array_equal(got, f[name][()]), "%s: other values", name)
    for key in before:
        check(not key[0].removesuffix(" 2") in ODD_STAYS or before[key] == after[key], "%s is other bytes", key)


def flipped(path, seed):
    """Flips a bit of about every second chunk; where each of them is."""
    rng = random.Random(seed)
    where = {}
    with h5py.File(path) as f:
        for name in f:
            for i in range(f[name].id.get_num_chunks()):
                info = f[name].id.get_chunk_info(i)
                if rng.random() < 0.5:
                    where[name, info.chunk_offset] = info.byte_offset
                    with open(path, "r+b") as raw:
                        at = info.byte_offset + rng.randrange(info.size)
                        raw.seek(at)
                        byte = raw.read(1)[0] ^ 1 << rng.randrange(8)
                        raw.seek(at)
                        raw.write(bytes([byte]))
    return where


@case
def damaged_chunks_of_every_filter(at):
    """None goes over: each is marked, or has the values that libhdf5 reads."""
    need(LZF, LZ4, BITSHUFFLE, BLOSC)
    values = np.cumsum(np.random.default_rng(5).integers(-3, 4, (60, 70)), axis=1).astype("<i4")
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    marked = damaged = 0
    for seed in range(3):
        with h5py.File(source, "w") as f:
            for name, number, options in framed():
                f.create_dataset(name, data=values, chunks=(17, 33), compression=number, compression_opts=options or None)
            for names in ["deflate", "shuffle deflate", "shuffle lzf", *ODD, *ODD_STAYS]:
                pipeline(f, names, values, (17, 33), *names.split())
        where = flipped(source, seed)
        damaged += len(where)
        status, _, err = run("import", source, target)
        check(status == 4 and not os.path.exists(target), "status %s: %s", status, err)
        for name in {name for name, _ in where}:
            line = next((one for one in err.splitlines() if "in.h5: /%s: " % name in one), None)
            found = re.search(r"first in the chunk at \(([0-9,]+)\), byte ([0-9]+)\)", line or "")
            check(not line or found and where.get((name, tuple(map(int, found[1].split(","))))) == int(found[2]),
                  "%s says: %s", name, line)
        status, _, err = run("import", "--partial", source, target)
        check(status == 1, "status %s: %s", status, err)
        status, out, err = run("check", "--deep", "--json", target)
        check(status == 0, "carried over: %s%s", out, err)
        unread = {}
        for mark in json.loads(out)["unread"]:
            box = tuple(slice(*map(int, side.split(":"))) for side in mark["box"][1:-1].split(","))
            unread.setdefault(mark["path"], np.zeros(values.shape, bool))[box] = True
        with h5py.File(source) as f:
            for name in f:
                got = elements(target, "/" + name, values.dtype, values.shape, at, (0, 1))
                gone = unread.get("/" + name, np.zeros(values.shape, bool))
                for i in range(f[name].id.get_num_chunks()):
                    start = f[name].id.get_chunk_info(i).chunk_offset
                    box = tuple(slice(a, a + n) for a, n in zip(start, f[name].chunks))
                    check((name, start) in where or not gone[box].any(), "%s%s was not damaged", name, start)
                    if gone[box].all():  # on some of which plugins crash
                        marked += 1
                        continue
                    check(np.array_equal(got[box], f[name][box]), "%s%s: %s", name, start, got[box])
        os.unlink(target)
    check(marked > damaged // 2, "only %d of %d are marked", marked, damaged)


@case
def chunks_that_are_not_decoded(at):
    """With --no-decode: the container says so until somebody decodes them."""
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    values = np.arange(1000, dtype="<i4") % 10
    with h5py.File(source, "w") as f:
        f.create_dataset("d", data=values, chunks=(100,), compression="gzip", shuffle=True)
        f.create_dataset("plain", data=values, chunks=(100,))
        f.create_dataset("text", data=["a"] * 50, dtype=h5py.string_dtype(), chunks=(10,), compression="gzip")
    for options in (), ("--virtual",):
        check(run("import", "-f", "--no-decode", *options, source, target)[0] == 0, "import")
        status, out, err = run("check", *("--external" for _ in options), target)
        check(status == 0 and out.splitlines()[0].endswith(": note: /d: 10 chunks were not decoded at import; --deep decodes them")
              and ": note: 15 filtered chunks not decoded; --deep decodes them" in out
              and "undecoded" not in out and len(out.splitlines()) == 3, "status %s: %s%s", status, out, err)
        run("import", "-f", *options, source, target)
        check("at import" not in run("check", *("--external" for _ in options), target)[1], "a note without --no-decode")
    check(run("import", "-f", "--no-decode", source, target)[0] == 0, "import")
    check(json.loads(run("check", "--json", target)[1])["undecoded"] == [{"path": "/d", "chunks": 10}], "JSON")
    check(run("check", "--deep", target) == (0, target + ": ok\n", ""), "says %s", run("check", "--deep", target))
    with h5py.File(source, "r+") as f:
        f["d"].id.write_direct_chunk((300,), b"x\x9c" + b"no stream" * 3)
    check(run("import", "-f", source, target)[0] == 4, "the damage is not seen")
    check(run("import", "-f", "--no-decode", source, target)[0] == 0, "import")
    status, out, _ = run("check", "--deep", target)
    check(status == 1 and "damaged stream" in out, "status %s: %s", status, out)


@case
def chunks_that_leave_out_their_end(at):
    """The container's chunks may be shorter than HDF5's: these are decoded and filled up, others carried."""
    source, target, back = (at + name for name in ("/x.h5", "/x.drep", "/back.h5"))
    short = os.path.join(os.environ["SRCDIR"], "tests", "vectors", "short.drep")
    status, out, err = run("export", short, source)
    check(status == 0, "export: status %d: %s%s", status, out, err)
    with open(short[:-4] + "json", encoding="utf-8") as f:
        want = json.load(f)["root"]["members"]
    chunks = 0
    with h5py.File(source) as f:
        for name, d in f.items():
            chunks += d.id.get_num_chunks()
            if d.id.get_create_plist().get_filter(0)[0] in (1, 2):
                try:
                    check(d[()].tolist() == want[name]["data"], "%s has other values", name)
                except OSError:  # a filter that this libhdf5 has not
                    check(name != "deflate", "deflate cannot be read")
    check(chunks == 3 * len(want), "%d chunks", chunks)
    check(run("import", source, target)[0] == 0 and run("diff", short, target)[0] == 0, "imported values differ")
    check(run("export", "--verify", short, back)[0] == 0, "--verify")


@case
def other_filters_are_applied(at):
    def make(f):
        f.create_dataset("d", data=np.arange(1000) % 10, chunks=(100,), compression="gzip")
    _, _, target = there_and_back(at, make, "--filters=zstd")
    check("zstd" in run("dump", "-H", target)[1], "not zstd")


if __name__ == "__main__":
    sys.exit(cases.main())
