#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""python - times the package for Python against h5py, its engine of xarray against that of netCDF4,
and prints zarr, np.load and the limits of the machine beside them.

Usage: tests/bench/python.py [--rows=WORD,...] [--rounds=N] [--cpu]     after `make python-package`
       tests/bench/python.py --versus=DIR ...      DIR: the package of another build, its build/python
Rows: small, create, lists, walk, strings, pool, xarray, filtered, native, large

All sides of a row run in turn in one process, on the same data in files of the same directory
(TMPDIR); a time is the least of the rounds.  A bar is missed if a ratio is above it.
--cpu: times are those of the processor, of all threads, for a machine that is busy.
--versus: this package alone and the other one, in turn, 7 times each; the ratio of the medians of each
row, and which row takes more than 1 / 0.95 of the other's time.

A file system that lets one thread at a time write to a file, as all of Linux' own do, has "pwrite" as the
limit of writes in native order, however many threads there are.

Limits: "pread" reads the same bytes into the same memory, from its first whole page on, to which the
system copies fastest, in pieces of 256 KiB, and stops there; "pread, XXH3" also sums each 4 KiB, as
every verified read must; "pwrite" writes the bytes to a new file and sums nothing.  Writes make new
files, on a disk that is not busy with what was written before.  xarray's mean has "no read", whose
chunks are in memory, and "pread", which verifies nothing.
"""
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = next((a[10:] for a in sys.argv if a.startswith("--package=")), os.path.join(ROOT, "build", "python"))
sys.path.insert(0, PACKAGE)

import h5py  # noqa: E402
import numpy as np  # noqa: E402

import datarep as dr  # noqa: E402

try:
    import zarr
except ImportError:
    zarr = None

MIB = 1 << 20
clock = time.process_time if "--cpu" in sys.argv else time.perf_counter


def native(folder):
    """The functions of tests/bench/python/native.c, or None where there is no compiler."""
    made = os.path.join(folder, "native.so")
    build = os.path.join(ROOT, "build", "release")
    try:
        subprocess.run([os.environ.get("CC", "cc"), "-O3", "-march=native", "-shared", "-fPIC", "-pthread",
                        "-I" + os.path.join(ROOT, "lib"), "-o", made,
                        os.path.join(ROOT, "tests", "bench", "python", "native.c"),
                        "-L" + build, "-Wl,-rpath," + build, "-ldatarep"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no limits, and no calls without Python: {error}")
        return None
    lib = ctypes.CDLL(made)
    lib.call_seconds.restype = ctypes.c_double
    lib.call_seconds.argtypes = [ctypes.c_char_p, ctypes.c_long]
    lib.limit_read.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                               ctypes.c_int]
    return lib


def best(sides, rounds, times=1, before=None):
    """{side: seconds of one call}, the sides in turn; a short call is tried a few times in its turn.
    before(side) is not timed."""
    least = {name: float("inf") for name in sides}
    for _ in range(rounds):
        for name, fn in sides.items():
            began, tries = clock(), 0
            if before:
                before(name)
            while not tries or (tries < 5 and not before and clock() - began < 0.05):
                start = clock()
                for _ in range(times):
                    fn()
                least[name] = min(least[name], (clock() - start) / times)
                tries += 1
    return least


def unit(seconds):
    for scale, name in ((1e-6, "us"), (1e-3, "ms")):
        if seconds < scale * 1000:
            return f"{seconds / scale:8.2f} {name}"
    return f"{seconds:8.2f} s "


class Bench:
    def __init__(self, folder, rounds, words, alone=False):
        self.folder, self.rounds, self.words, self.alone = folder, rounds, words, alone
        self.missed = self.bars = 0
        self.rng = np.random.default_rng(1)
        self.native = native(folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def wanted(self, *words):
        return not self.words or any(w in self.words for w in words)

    def say(self, name, figure, bar, t):
        self.bars += bar is not None
        missed = bar is not None and figure > bar
        self.missed += missed
        said = "  ".join(f"{side} {unit(s)}" for side, s in t.items())
        print(f"{name:44} {figure:7.3f}  {'bar ' + str(bar) if bar is not None else '':9} "
              f"{'MISSED' if missed else 'met' if bar is not None else '':7} {said}", flush=True)

    def row(self, name, bar, sides, rounds=None, times=1, before=None, to=None, read=False):
        """to: the side that is 1, h5py or netCDF4 if it is not said; read: another row reads the files."""
        if self.alone:
            for side in sides if read else ():
                sides[side]()
            sides = {"datarep": sides["datarep"]}
        t = best(sides, rounds or self.rounds, times, before)
        if self.alone:
            print(f"{name}\t{t['datarep']!r}", flush=True)
            return
        to = to or ("netCDF4" if "netCDF4" in t else "h5py")
        self.say(name if to in ("netCDF4", "h5py") else f"{name} (to {to})", t["datarep"] / t[to], bar, t)

    # ------------------------------------------------------------------ rows

    def small(self):
        a = np.arange(16.0)
        with dr.open(self.path("s.drep"), "w") as f:
            f["x"] = a
        with h5py.File(self.path("s.h5"), "w") as f:
            f["x"] = a

        def ours():
            f = dr.open(self.path("s.drep"))
            got = f["x"][...]
            f.close()
            return got

        def theirs():
            f = h5py.File(self.path("s.h5"), "r")
            got = f["x"][...]
            f.close()
            return got

        def raw():
            return np.load(self.path("s.npy"), mmap_mode="r")[...]

        np.save(self.path("s.npy"), a)
        self.row("open, open dataset, read 16, close", 0.3,
                 {"datarep": ours, "h5py": theirs, "np.load": raw}, 20, 50)
        f, h = dr.open(self.path("s.drep")), h5py.File(self.path("s.h5"), "r")
        x, y, more = f["x"], h["x"], {}
        m = np.load(self.path("s.npy"), mmap_mode="r")
        if zarr:
            z = zarr.open(self.path("s.zarr"), mode="w", shape=16, dtype="f8", chunks=16)
            z[:] = a
            more["zarr"] = lambda: z[key]
        for name, key in (("one element", 5), ("a slice", slice(2, 9)), ("all of 16", Ellipsis)):
            self.row(f"small read of an open dataset: {name}", 0.5,
                     {"datarep": lambda: x[key], "h5py": lambda: y[key],
                      "np.load": lambda: np.array(m[key]), **more}, 20, 2000)
        if self.native and not self.alone:
            least = {"datarep": float("inf"), "the C library": float("inf")}
            for _ in range(20):
                least["datarep"] = min(least["datarep"],
                                       best({"": lambda: x[...]}, 1, 2000)[""])
                least["the C library"] = min(least["the C library"], self.native.call_seconds(
                    self.path("s.drep").encode(), 2000))
            assert least["the C library"] > 0
            self.say("us of a call, more than the C library's",
                     (least["datarep"] - least["the C library"]) * 1e6, 2.0, least)
        f.close()
        h.close()

    def create(self):
        """A new file with one small dataset and an attribute."""
        a = np.arange(16.0)

        def ours(sync):
            with dr.open(self.path("c.drep"), "w", hints=None if sync else {"drep_sync": "none"}) as f:
                f["x"] = a
                f["x"].attrs["units"] = "K"

        def theirs():
            with h5py.File(self.path("c.h5"), "w") as f:
                f["x"] = a
                f["x"].attrs["units"] = "K"

        def limit(sync):
            """What a file costs that is whole and, if sync, on the disk once it has its name; h5py's is neither."""
            with open(self.path("c.tmp"), "wb", buffering=0) as f:
                f.write(bytes(8512))
                if sync:
                    os.fdatasync(f.fileno())
                os.rename(self.path("c.tmp"), self.path("c.raw"))
            if sync:
                folder = os.open(self.folder, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)

        for name, bar, sync in (("durable", 1.0, True), ("sync=False", 0.5, False)):
            self.row(f"small create, {name}", bar,
                     {"datarep": lambda: ours(sync), "h5py": theirs, "limit": lambda: limit(sync)}, 10, 20)

    def limits(self, path, out, threads):
        """The sides that read a file of out's bytes and do no more than that, or sum them too."""
        skip = -out.ctypes.data % 4096

        def read(sums):
            assert not self.native.limit_read(path.encode(), out.ctypes.data + skip,
                                              out.nbytes - 4096, threads, sums)

        if not self.native:
            return {}
        return {"pread": lambda: read(0), "pread, XXH3": lambda: read(1)}

    def fresh(self, side):
        """The side's file is new, and the disk has written the others."""
        name = {"datarep": "l.drep", "h5py": "l.h5", "zarr": "l.zarr", "pwrite": "l.raw"}[side]
        if os.path.isdir(self.path(name)):
            shutil.rmtree(self.path(name))
        elif os.path.exists(self.path(name)):
            os.unlink(self.path(name))
        os.sync()

    def write_plain(self, a):
        with open(self.path("l.raw"), "wb", buffering=0) as f:
            m, at = memoryview(a).cast("B"), 0
            while at < len(m):
                at += f.write(m[at:at + 256 * 1024])

    def native_rows(self):
        """32 MB in native order, as large() writes 512 MiB."""
        a = self.rng.random(4_000_000)

        def ours(threads):
            with dr.open(self.path("l.drep"), "w", hints={"drep_sync": "none"}) as f:
                f.create("x", dtype="f8", shape=a.shape).write(a, threads=threads)

        def theirs():
            with h5py.File(self.path("l.h5"), "w") as f:
                f.create_dataset("x", a.shape, "f8")[...] = a

        for name, threads, bar in (("1 thread", 1, 1.1), ("threads", 0, 0.8)):
            self.row(f"32 MB, native: write, {name}", bar,
                     {"datarep": lambda: ours(threads), "h5py": theirs, "pwrite": lambda: self.write_plain(a)},
                     10, before=self.fresh)

    def large(self):
        n = 512 * MIB // 8
        a = self.rng.random(n)
        out = np.empty(n)
        cpus = len(os.sched_getaffinity(0))

        def zarr_of(dtype):
            z = zarr.open(self.path("l.zarr"), mode="w", shape=n, dtype=dtype, chunks=MIB, compressor=None)
            z[:] = a

        for order, datarep, reads, writes in (
                ("native", "native", (1.0, 0.7), (1.1, 0.8)),
                ("big-endian", "external32", (0.5, 0.5), (None, None))):
            dtype = "<f8" if datarep == "native" else ">f8"

            def write_ours(threads=0):
                with dr.open(self.path("l.drep"), "w", datarep=datarep,
                             hints={"drep_sync": "none"}) as f:
                    f.create("x", dtype="f8", shape=(n,)).write(a, threads=threads)

            def write_theirs():
                with h5py.File(self.path("l.h5"), "w") as f:
                    f.create_dataset("x", (n,), dtype)[...] = a

            more = {"pwrite": lambda: self.write_plain(a)}
            if zarr:
                more["zarr"] = lambda: zarr_of(dtype)
            self.row(f"512 MiB, {order}: write, 1 thread", writes[0],
                     {"datarep": lambda: write_ours(1), "h5py": write_theirs, **more}, before=self.fresh,
                     read=True)
            self.row(f"512 MiB, {order}: write, threads", writes[1],
                     {"datarep": write_ours, "h5py": write_theirs, **more}, before=self.fresh)
            f, h = dr.open(self.path("l.drep")), h5py.File(self.path("l.h5"), "r")
            x, y = f["x"], h["x"]
            sides = {"h5py": lambda: y.read_direct(out)}
            if datarep == "native":
                np.save(self.path("l.npy"), a)
                sides["np.load"] = lambda: np.copyto(out, np.load(self.path("l.npy"), mmap_mode="r"))
            if zarr:
                z = zarr.open(self.path("l.zarr"), mode="r")
                sides["zarr"] = lambda: z[:]
            self.row(f"512 MiB, {order}: read, 1 thread", reads[0],
                     {"datarep": lambda: x.read_into(out, threads=1), **sides,
                      **self.limits(self.path("l.raw"), out, 1)})
            self.row(f"512 MiB, {order}: read, threads", reads[1],
                     {"datarep": lambda: x.read_into(out), **sides,
                      **self.limits(self.path("l.raw"), out, cpus)})
            x.read_into(out)
            assert (out == a).all()
            f.close()
            h.close()

    def filtered(self):
        n = 128 * MIB // 4
        a = np.cumsum(self.rng.integers(-100, 100, n)).astype("i4")
        out = np.empty(n, "i4")
        with dr.open(self.path("d.drep"), "w") as f:
            f.create("x", a, chunks=(MIB // 4,), filters="shuffle,deflate:1")
        with h5py.File(self.path("d.h5"), "w") as f:
            f.create_dataset("x", data=a, chunks=(MIB // 4,), compression=1, shuffle=True)
        f, h = dr.open(self.path("d.drep")), h5py.File(self.path("d.h5"), "r")
        x, y = f["x"], h["x"]
        sides = {"h5py": lambda: y.read_direct(out)}
        if zarr:
            z = zarr.open(self.path("d.zarr"), mode="w", shape=n, dtype="i4", chunks=MIB // 4,
                          compressor=zarr.Zlib(1))
            z[:] = a
            sides["zarr"] = lambda: z[:]
        for threads, bar in ((1, 0.6), (2, 0.35)):
            self.row(f"128 MiB, shuffle, deflate 1: read, {threads} threads", bar,
                     {"datarep": lambda: x.read_into(out, threads=threads), **sides}, 3)
            assert (out == a).all()
        f.close()
        h.close()
        self.compressed(a, out)

    def compressed(self, a, out):
        """Zstandard against zarr's Blosc with it, LZF against h5py's, in chunks of 1 MiB."""
        with dr.open(self.path("e.drep"), "w") as f:
            f.create("z", a, chunks=(MIB // 4,), filters="shuffle,zstd:3")
            f.create("l", a, chunks=(MIB // 4,), filters="shuffle,lzf")
        with h5py.File(self.path("e.h5"), "w") as f:
            f.create_dataset("l", data=a, chunks=(MIB // 4,), compression="lzf", shuffle=True)
        f, h = dr.open(self.path("e.drep")), h5py.File(self.path("e.h5"), "r")
        y = h["l"]
        if zarr:
            z = zarr.open(self.path("e.zarr"), mode="w", shape=a.size, dtype="i4", chunks=MIB // 4,
                          compressor=zarr.Blosc("zstd", 3, zarr.Blosc.SHUFFLE))
            z[:] = a
            self.row("128 MiB, shuffle, zstd 3: read", 1.0,
                     {"datarep": lambda: f["z"].read_into(out), "zarr": lambda: z[:]}, 5, to="zarr")
            assert (out == a).all()
        for name, threads in (("1 thread", 1), ("threads", 0)):
            self.row(f"128 MiB, shuffle, lzf: read, {name}", 1.0,
                     {"datarep": lambda: f["l"].read_into(out, threads=threads),
                      "h5py": lambda: y.read_direct(out)}, 5)
            assert (out == a).all()
        f.close()
        h.close()

    def lists(self):
        a = self.rng.random(1_000_000)
        i = np.sort(self.rng.choice(a.size, 10_000, replace=False))
        # h5py takes the square of a mask's length: minutes for 10^6.
        b = a[:30_000]
        mask = self.rng.random(b.size) < 0.5
        with dr.open(self.path("i.drep"), "w") as f:
            f["x"], f["b"] = a, b
        with h5py.File(self.path("i.h5"), "w") as f:
            f["x"], f["b"] = a, b
        f, h = dr.open(self.path("i.drep")), h5py.File(self.path("i.h5"), "r")
        x, y = f["x"], h["x"]
        sides, more, ours, theirs = {}, {}, f["b"], h["b"]
        if zarr:
            z = zarr.open(self.path("i.zarr"), mode="w", shape=a.size, dtype="f8", chunks=100_000)
            z[:] = a
            sides["zarr"] = lambda: z.oindex[i]
        np.save(self.path("i.npy"), a)
        sides["np.load"] = lambda: np.load(self.path("i.npy"), mmap_mode="r")[i]
        more["np.load"] = lambda: np.load(self.path("i.npy"), mmap_mode="r")[:b.size][mask]
        assert (x[i] == a[i]).all() and (ours[mask] == b[mask]).all()
        self.row("10,000 listed indices of 10^6", 0.001,
                 {"datarep": lambda: x[i], "h5py": lambda: y[i], **sides}, 2)
        self.row("a mask of half of 30,000", 0.3,
                 {"datarep": lambda: ours[mask], "h5py": lambda: theirs[mask], **more}, 2)
        f.close()
        h.close()

    def strings(self):
        n = 1_000_000
        lengths = self.rng.integers(3, 31, n)
        text = "abcdefghijklmnopqrstuvwxyz0123456789"
        a = np.array([text[k % 6:k % 6 + k] for k in lengths.tolist()], dtype=object)

        def write_ours():
            with dr.open(self.path("t.drep"), "w", hints={"drep_sync": "none"}) as f:
                f.create("x", dtype=str, shape=(n,))[...] = a

        def write_theirs():
            with h5py.File(self.path("t.h5"), "w") as f:
                f.create_dataset("x", (n,), h5py.string_dtype())[...] = a

        def write_zarr():
            z = zarr.open(self.path("t.zarr"), mode="w", shape=n, dtype=str)
            z[:] = a

        sides = {"datarep": write_ours, "h5py": write_theirs}
        if zarr:
            sides["zarr"] = write_zarr
            self.row("10^6 strings of 3 to 30 bytes: write", 0.5, sides, 5, to="zarr")
        self.row("10^6 strings of 3 to 30 bytes: write", 0.3, sides, 3, read=True)
        f, h = dr.open(self.path("t.drep")), h5py.File(self.path("t.h5"), "r")
        x, y = f["x"], h["x"]
        assert (x[...] == a).all()
        self.row("10^6 strings of 3 to 30 bytes: read", 0.4,
                 {"datarep": lambda: x[...], "h5py": lambda: y[...],
                  "h5py as str": lambda: y.asstr()[...]}, 3)
        f.close()
        h.close()

    def pool(self):
        """Four processes, each with the file open, read random samples of 12 KiB: 32 by one index, or
        each by its own."""
        import multiprocessing
        a = self.rng.random((10_000, 3, 32, 32)).astype("f4")
        with dr.open(self.path("p.drep"), "w") as f:
            f.create("x", a, chunks=(1, 3, 32, 32), filters="shuffle,deflate:1")
        with h5py.File(self.path("p.h5"), "w") as f:
            f.create_dataset("x", data=a, chunks=(1, 3, 32, 32), compression=1, shuffle=True)
        # h5py takes increasing indices only.
        batches = [np.sort(self.rng.choice(10_000, 32, replace=False)).tolist() for _ in range(400)]
        right = {read_batch: [float(a[rows].sum(dtype="f8")) for rows in batches],
                 read_samples: [float(sum(a[i].sum(dtype="f8") for i in rows)) for rows in batches]}
        # Ours is opened once and handed to the workers, which a handle of h5py cannot be.
        with dr.open(self.path("p.drep")) as f:
            for method in ("fork", "spawn"):
                context = multiprocessing.get_context(method)
                with context.Pool(4, keep_ours, (f["x"],)) as ours, \
                        context.Pool(4, keep_theirs, (self.path("p.h5"),)) as theirs:
                    for name, read, bar in (("by 32", read_batch, 0.333),
                                            ("singly", read_samples, None)):
                        def run(pool):
                            assert pool.map(read, batches, 1) == right[read]

                        self.row(f"pool of 4, {method}: random samples, {name}", bar,
                                 {"datarep": lambda: run(ours), "h5py": lambda: run(theirs)})

    def walk(self):
        n = 10_000
        with dr.open(self.path("w.drep"), "w") as f, h5py.File(self.path("w.h5"), "w") as h:
            for o in (f, h):
                for i in range(n):
                    d = o.create_dataset(f"g{i // 100}/d{i}", (4,), "f8")
                    d.attrs["units"] = "K"
                    d.attrs["scale"] = 0.5

        def ours():
            seen = []
            with dr.open(self.path("w.drep")) as f:
                for d in f.walk():
                    if isinstance(d, dr.Dataset):
                        seen.append((d.name, d.shape, d.dtype, dict(d.attrs)))
            return len(seen)

        def theirs():
            seen = []

            def see(name, d):
                if isinstance(d, h5py.Dataset):
                    seen.append((name, d.shape, d.dtype, dict(d.attrs)))

            with h5py.File(self.path("w.h5"), "r") as h:
                h.visititems(see)
            return len(seen)

        assert ours() == theirs() == n
        self.row("walk 10,000 datasets, 2 attributes each", 0.1,
                 {"datarep": ours, "h5py": theirs}, 3)

    def xarray(self):
        """xarray's engines: opening without reading, and a mean in dask's chunks."""
        try:
            import dask
            import xarray as xr
            from xarray.backends import common
            from xarray.core import indexing
            import datarep.xarray  # noqa: F401
        except ImportError as error:
            print(f"xarray: not timed: {error}")
            return

        class Chunks(common.BackendArray):
            """An array of which read(first, n) gives n rows."""

            def __init__(self, shape, read):
                self.shape, self.dtype, self.read = shape, np.dtype("f4"), read

            def __getitem__(self, key):
                return indexing.explicit_indexing_adapter(
                    key, self.shape, indexing.IndexingSupport.OUTER,
                    lambda k: self.read(k[0].start, k[0].stop - k[0].start))

        many = xr.Dataset({f"v{i}": (("time", "x"), self.rng.random((4, 5)), {"units": "K"})
                           for i in range(100)})
        many.datarep.save(self.path("m.drep"))
        many.to_netcdf(self.path("m.nc"), engine="netcdf4")

        def opened(name, engine):
            xr.open_dataset(self.path(name), engine=engine).close()

        more = {}
        if zarr:
            many.to_zarr(self.path("m.zarr"), mode="w")
            more["zarr"] = lambda: opened("m.zarr", "zarr")
        self.row("xarray: open 100 variables", 0.3,
                 {"datarep": lambda: opened("m.drep", "datarep"),
                  "netCDF4": lambda: opened("m.nc", "netcdf4"), **more}, 10)
        shape, chunk = (256, 1024, 1024), (8, 1024, 1024)
        big = xr.Dataset({"v": (("time", "y", "x"), self.rng.random(shape, dtype="f4"))})
        big.datarep.save(self.path("b.drep"), encoding={"v": {"chunks": chunk}},
                         hints={"drep_sync": "none"})
        big.to_netcdf(self.path("b.nc"), engine="netcdf4", encoding={"v": {"chunksizes": chunk}})

        def mean(name, engine):
            with xr.open_dataset(self.path(name), engine=engine, chunks={"time": 8}) as ds, \
                    dask.config.set(scheduler="threads", num_workers=2):
                return ds["v"].mean("time").values

        def mean_of(read):
            ds = xr.Dataset({"v": xr.Variable(("time", "y", "x"),
                                               indexing.LazilyIndexedArray(Chunks(shape, read)))})
            with dask.config.set(scheduler="threads", num_workers=2):
                return ds.chunk({"time": 8})["v"].mean("time").values

        big["v"].values.tofile(self.path("b.raw"))
        first = big["v"].values[:8].copy()
        fd = os.open(self.path("b.raw"), os.O_RDONLY)

        def plain(at, n):
            made = np.empty((n, *shape[1:]), "f4")
            assert os.preadv(fd, [memoryview(made).cast("B")], at * made[0].nbytes) == made.nbytes
            return made

        exact = big["v"].mean("time").values
        assert np.allclose(mean("b.drep", "datarep"), exact, rtol=1e-4)
        assert np.allclose(mean_of(plain), exact, rtol=1e-4)
        more = {"no read": lambda: mean_of(lambda at, n: first), "pread": lambda: mean_of(plain)}
        if zarr:
            big.to_zarr(self.path("b.zarr"), mode="w",
                        encoding={"v": {"chunks": chunk, "compressor": None}})
            more["zarr"] = lambda: mean("b.zarr", "zarr")
        del big
        self.row("xarray: mean over time of 1 GiB, 2 threads", 0.5,
                 {"datarep": lambda: mean("b.drep", "datarep"),
                  "netCDF4": lambda: mean("b.nc", "netcdf4"), **more}, 3)
        os.close(fd)


KEPT = {}  # of a worker


def keep_ours(x):
    KEPT["x"] = x


def keep_theirs(path):
    KEPT["file"] = h5py.File(path, "r")
    KEPT["x"] = KEPT["file"]["x"]


def read_batch(rows):
    return float(KEPT["x"][rows].sum(dtype="f8"))


def read_samples(rows):
    return float(sum(KEPT["x"][i].sum(dtype="f8") for i in rows))


def versus(other, options):
    """This package and another one, in turn: the ratio of the medians of each row."""
    times, slower = {}, 0
    for _ in range(7):
        for package in (PACKAGE, other):
            done = subprocess.run([sys.executable, __file__, "--alone", f"--package={package}", *options],
                                  capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                name, _, seconds = line.partition("\t")
                if seconds:
                    times.setdefault(name, {}).setdefault(package, []).append(float(seconds))
    for name, t in times.items():
        if len(t) < 2:
            continue  # the other has no such row
        now, before = (statistics.median(t[p]) for p in (PACKAGE, other))
        slower += now > before / 0.95
        print(f"{name:60} {now / before:7.3f}  {'SLOWER' if now > before / 0.95 else '':7}{unit(now)} {unit(before)}")
    print(f"slower rows: {slower} of {len(times)}")
    return 1 if slower else 0


def main():
    sys.stdout.reconfigure(line_buffering=True)
    words, rounds, other, alone = [], 5, None, False
    for argument in sys.argv[1:]:
        if argument.startswith("--rows="):
            words = argument[7:].split(",")
        elif argument.startswith("--rounds="):
            rounds = int(argument[9:])
        elif argument.startswith("--versus="):
            other = argument[9:]
        elif argument == "--alone":
            alone = True
        elif argument != "--cpu" and not argument.startswith("--package="):
            print(__doc__)
            return 2
    if other:
        return versus(other, [a for a in sys.argv[1:] if not a.startswith("--versus=")])
    folder = tempfile.mkdtemp(prefix="datarep-bench-", dir=os.environ.get("TMPDIR"))
    try:
        bench = Bench(folder, rounds, words, alone)
        print(f"{'':44} ratio to h5py {h5py.__version__}, or to netCDF4 as the engine of xarray")
        for name in ("small", "create", "lists", "walk", "strings", "pool", "xarray", "filtered", "native", "large"):
            if bench.wanted(name):
                getattr(bench, {"native": "native_rows"}.get(name, name))()
        print(f"bars missed: {bench.missed} of {bench.bars}")
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
