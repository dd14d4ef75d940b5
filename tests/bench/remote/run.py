#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - times reading by URL over a connection with delay, beside its peers, each row with its bar.

Usage: run.py [--delay MILLISECONDS] [--small] [ROW...]

nginx serves files of 1 GiB (random numbers; --small: 64 MiB) from a folder in /tmp, which is removed at the end;
delay.py adds the delay (20) and counts round trips and bytes.  Each work is a process of its own, timed without its
imports; ours and the peer's take turns, REPEAT times, and the best of each counts.  Rows: rounds first sequential random mean.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "build", "python"), os.path.join(ROOT, "tests", "remote")]
REPEAT = 3
PICKED = 1000  # chunks of 64 KiB, at random
DASK = {"time": 16}  # chunks of xarray: 16 MiB


# ---- works: each is run in a process of its own, and returns what is compared ----

def work_list(url):
    """Open, list all objects, read a slice of 25 chunks."""
    import datarep as dr
    begin = time.monotonic()
    with dr.open(url) as f:
        names = []
        f.visit(names.append)
        values = f["a"][14 * 15 + 3:14 * 15 + 67, 14 * 20 + 3:14 * 20 + 67]
    return time.monotonic() - begin, (len(names), float(values.sum()))


def work_first(url):
    import datarep as dr
    begin = time.monotonic()
    with dr.open(url) as f:
        value = float(f["a"][1001, 2001])
    return time.monotonic() - begin, value


def work_first_h5py(url):
    import fsspec
    import h5py
    begin = time.monotonic()
    with fsspec.open(url).open() as stream, h5py.File(stream) as f:
        value = float(f["a"][7, 5, 3])
    return time.monotonic() - begin, value


def work_first_same(url):
    import datarep as dr
    begin = time.monotonic()
    with dr.open(url) as f:
        value = float(f["a"][7, 5, 3])
    return time.monotonic() - begin, value


def work_sequential(url):
    """All of it, a gigabyte into one array, which has been used before: curl needs no new pages either."""
    import datarep as dr
    import numpy as np
    with dr.open(url) as f:
        values = np.full(f["a"].shape, 0.5)
    begin = time.monotonic()
    with dr.open(url) as f:
        f["a"].read_into(values)
    return time.monotonic() - begin, float(values[-1, -1, -1])


def work_curl(url):
    begin = time.monotonic()
    subprocess.run(["curl", "-sSf", "-o", "/dev/null", url], check=True)
    return time.monotonic() - begin, None


def picked(rows):
    import numpy as np
    return np.sort(np.random.default_rng(5).choice(rows, min(PICKED, rows), replace=False))


def work_random(url):
    """Chunks at random, by one call."""
    import datarep as dr
    begin = time.monotonic()
    with dr.open(url) as f:
        ds = f["a"]
        values = ds[picked(ds.shape[0])]
    return time.monotonic() - begin, int(values.sum())


def work_random_alone(url):
    """The same, one after the other: a tenth of them, times ten."""
    import datarep as dr
    begin = time.monotonic()
    with dr.open(url) as f:
        ds = f["a"]
        for row in picked(ds.shape[0])[::10]:
            ds[int(row)]
    return 10 * (time.monotonic() - begin), None


def mean(open_it):
    import dask
    with dask.config.set(scheduler="threads", num_workers=2):
        begin = time.monotonic()
        with open_it() as ds:
            value = float(ds["a"].mean().compute())
        return time.monotonic() - begin, round(value, 9)


def work_mean(url):
    import xarray as xr
    from datarep.xarray import Backend
    return mean(lambda: xr.open_dataset(url, engine=Backend, chunks=DASK))


def work_mean_zarr(url):
    import xarray as xr
    import fsspec
    return mean(lambda: xr.open_zarr(fsspec.get_mapper(url), consolidated=True, chunks=DASK))


# ---- files ----

def make_objects(path, pack):
    import datarep as dr
    import numpy as np
    with dr.open(path, "w", datarep="external32", hints={"drep_pack": "true" if pack else "false"}) as f:
        if not pack:
            f.commit()
        for g in range(100):
            group = f.create_group("group%03d" % g)
            for i in range(99):
                group.create("measured%02d" % i, np.float64(g * 99 + i))
        f.create("a", np.random.default_rng(1).random((1400, 1400)), chunks=(14, 14), filters="deflate:1")


def make_many(path):
    import datarep as dr
    import numpy as np
    with dr.open(path, "w", datarep="external32") as f:
        ds = f.create("a", shape=(4000, 4000), dtype="f4", chunks=(4, 4), filters="deflate:1")
        for row in range(0, 4000, 400):
            ds[row:row + 400] = np.random.default_rng(row).random((400, 4000), dtype="f4")


def make_large(folder, steps):
    """The same numbers for all."""
    import datarep as dr
    import h5py
    import numpy as np
    import zarr
    shape, chunks = (steps, 512, 256), (1, 512, 256)
    rng = np.random.default_rng(3)
    store = zarr.open_group(os.path.join(folder, "large.zarr"), "w")
    z = store.create_dataset("a", shape=shape, chunks=chunks, dtype="f8", compressor=None)
    z.attrs["_ARRAY_DIMENSIONS"] = ["time", "y", "x"]
    with dr.open(os.path.join(folder, "large.drep"), "w") as f, h5py.File(os.path.join(folder, "large.h5"), "w") as h:
        d = f.create("a", shape=shape, dtype="f8", chunks=chunks, dims=["time", "y", "x"])
        e = h.create_dataset("a", shape, "f8", chunks=chunks)
        for i in range(0, steps, 16):
            d[i:i + 16] = e[i:i + 16] = z[i:i + 16] = rng.random((16, 512, 256))
    zarr.consolidate_metadata(store.store)


def make_picked(path, rows):
    import datarep as dr
    import numpy as np
    rng = np.random.default_rng(4)
    with dr.open(path, "w") as f:
        ds = f.create("a", shape=(rows, 65536), dtype="u1", chunks=(1, 65536))
        for i in range(0, rows, 256):
            ds[i:i + 256] = rng.integers(0, 256, (256, 65536), dtype="u1")


# ---- measuring ----

class Proxy:
    def __init__(self, port, delay):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "delay.py"), str(port), str(delay)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = "http://127.0.0.1:%s/" % self.process.stdout.readline().strip()

    def counts(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return dict(zip(("requests", "rounds", "connections", "bytes"), map(int, self.process.stdout.readline().split())))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


class Bench:
    def __init__(self, proxy):
        self.proxy, self.missed = proxy, 0

    def run(self, works):
        """The best of each work: {name: (seconds, value, counts)}"""
        best = {}
        for _ in range(REPEAT):
            for name, file in works:
                self.proxy.counts()
                out = subprocess.run([sys.executable, os.path.abspath(__file__), "--work", name, self.proxy.url + file],
                                     capture_output=True, text=True, check=False, timeout=600)
                if out.returncode:
                    sys.exit("%s: %s" % (name, out.stderr[-2000:]))
                seconds, _, value = out.stdout.strip().partition(" ")
                got = float(seconds), value, self.proxy.counts()
                best[name, file] = min(best.get((name, file), got), got, key=lambda g: g[0])
        return [best[w] for w in works]

    def row(self, text, ours, unit, bar, peer=None, ratio=None):
        """ours (or the ratio, where there is a peer) must be at most bar"""
        met = (ours if ratio is None else ratio) <= bar
        self.missed += not met
        print("%-52s %9.3f %-6s %-26s %8s  bar %6.3f  %s" %
              (text, ours, unit, peer or "", "" if ratio is None else "%.3f" % ratio, bar, "met" if met else "MISSED"))
        sys.stdout.flush()


def rounds(b, folder, _):
    for pack, trips, seconds in ((True, 4, 0.15), (False, 6, 0.25)):
        name = "objects%d.drep" % pack
        make_objects(os.path.join(folder, name), pack)
        (took, _, c), = b.run([("list", name)])
        how = "packed" if pack else "as written"
        b.row("list 10,000 objects, slice of 25 chunks, %s" % how, c["rounds"], "trips", trips)
        b.row("the same, %d KiB" % (c["bytes"] >> 10), took, "s", seconds)


def first(b, folder, steps):
    make_many(os.path.join(folder, "many.drep"))
    (took, _, c), = b.run([("first", "many.drep")])
    b.row("first value of 10^6 chunks (%.3f s, %d KiB)" % (took, c["bytes"] >> 10), c["rounds"], "trips", 6)
    ours, peer = b.run([("first_same", "large.drep"), ("first_h5py", "large.h5")])
    assert ours[1] == peer[1]
    b.row("first value of the large file", ours[0], "s", 1, "h5py over fsspec %.3f s" % peer[0], ours[0] / peer[0])


def sequential(b, folder, steps):
    ours, peer = b.run([("sequential", "large.drep"), ("curl", "large.drep")])
    assert ours[2]["bytes"] >= steps << 20, "it did not read all"
    b.row("all of %d MiB, sums verified" % steps, ours[0], "s", 1.2, "curl %.3f s" % peer[0], ours[0] / peer[0])


def random(b, folder, steps):
    rows = steps * 16
    make_picked(os.path.join(folder, "picked.drep"), rows)
    ours, alone = b.run([("random", "picked.drep"), ("random_alone", "picked.drep")])
    b.row("%d chunks of 64 KiB at random" % PICKED, ours[0], "s", 0.1, "one by one %.3f s" % alone[0], ours[0] / alone[0])
    b.row("bytes moved for them, of what they have", ours[2]["bytes"] / (65536 * min(PICKED, rows)), "times", 1.3)


def means(b, folder, steps):
    ours, peer = b.run([("mean", "large.drep"), ("mean_zarr", "large.zarr")])
    assert ours[1] == peer[1], (ours[1], peer[1])
    b.row("xarray mean of %d MiB, dask, 2 threads" % steps, ours[0], "s", 0.5, "zarr over fsspec %.3f s" % peer[0], ours[0] / peer[0])


ROWS = {"rounds": rounds, "first": first, "sequential": sequential, "random": random, "mean": means}


def main():
    if sys.argv[1:2] == ["--work"]:
        seconds, value = globals()["work_" + sys.argv[2]](sys.argv[3])
        print(seconds, value)
        return 0
    import servers
    args = argparse.ArgumentParser()
    args.add_argument("--delay", type=float, default=20)
    args.add_argument("--small", action="store_true")
    args.add_argument("rows", nargs="*", choices=[[], *ROWS])
    args = args.parse_args()
    steps = 64 if args.small else 1024
    folder = tempfile.mkdtemp(prefix="bench-remote-", dir="/tmp")
    nginx = proxy = None
    try:
        root = os.path.join(folder, "root")
        os.makedirs(root)
        nginx = servers.Nginx(folder, root, servers.certificate(folder), gzip="off")
        proxy = Proxy(nginx.port, args.delay)
        rows = args.rows or list(ROWS)
        if set(rows) - {"rounds", "random"}:
            make_large(root, steps)
        bench = Bench(proxy)
        print("delay of a round trip: %g ms; files of %d MiB" % (args.delay, steps))
        for name in rows:
            ROWS[name](bench, root, steps)
        print("%d bars missed" % bench.missed)
    finally:
        if proxy:
            proxy.stop()
        if nginx:
            nginx.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return bench.missed != 0


if __name__ == "__main__":
    sys.exit(main())
