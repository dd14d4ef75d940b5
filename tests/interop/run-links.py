#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-links - groups keep the creation order of their links through import and export.

Files by chance: nested groups, hard and soft links, named datatypes, dimension scales with and without
values that datasets use before the scales' own turn, also from other groups.  libhdf5 lists the links of both files.  TAP on stdout, one case a seed.
"""
import os
import random
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
SEEDS = int(os.environ.get("LINKS_SEEDS", "30"))
BARE = "This is a netCDF dimension but not a netCDF variable.%10d"
LENGTHS = (3, 4)


class Maker:
    """One file; `bare` are scales without values, which no second link leads to."""

    def __init__(self, f, rng):
        self.rng, self.groups, self.objects, self.scales, self.tables = rng, [f], [f], [], []

    def scale(self, g, name):
        n = self.rng.choice(LENGTHS)
        bare = self.rng.random() < 0.5
        if bare:
            d = g.create_dataset(name, (n,), ">f4")
            d.make_scale(BARE % n)
        else:
            d = g.create_dataset(name, data=np.arange(n))
            self.objects.append(d)
        self.scales.append((d, bare))

    def table(self, g, name):
        kind = self.rng.choice(("i4", ">f8", "S3"))
        d = g.create_dataset(name, tuple(self.rng.choices(LENGTHS, k=2)), kind, chunks=self.rng.choice(((2, 2), None)))
        self.objects.append(d)
        self.tables.append(d)

    def member(self, g, name):
        kind = self.rng.choice(("group", "soft", "hard", "type", "scale", "scale", "table", "table"))
        if kind == "group":
            self.groups.append(g.create_group(name, track_order=self.rng.random() < 0.7))
            self.objects.append(self.groups[-1])
        elif kind == "soft":
            g[name] = h5py.SoftLink("/nowhere")
        elif kind == "hard":
            g[name] = self.rng.choice(self.objects)
        elif kind == "type":
            g[name] = np.dtype("i4")
        else:
            getattr(self, kind)(g, name)

    def make(self):
        for i in range(self.rng.randrange(3, 25)):
            self.member(self.rng.choice(self.groups), "%s%d" % (self.rng.choice("abxyzAB"), i))
        for d, bare in self.scales:
            if not bare:
                d.make_scale(d.name.split("/")[-1])
        for d in self.tables:
            for axis in range(2):
                fit = [s for s, _ in self.scales if s.shape[0] == d.shape[axis]]
                if fit and self.rng.random() < 0.6:
                    d.dims[axis].attach_scale(self.rng.choice(fit))


def orders(path):
    """The links of each group: by creation where that is tracked, else by name."""
    out = {}

    def order(name, o):
        if isinstance(o, h5py.Group):
            tracked = o.id.get_create_plist().get_link_creation_order() & 1
            names = []
            o.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER if tracked else h5py.h5.INDEX_NAME)
            out[name] = [n if isinstance(n, str) else n.decode() for n in names]

    with h5py.File(path, "r") as f:
        order("/", f)
        f.visititems(order)
    return out


def trip(seed, folder):
    """What is wrong, or None."""
    rng = random.Random(seed)
    source, drep, back = (os.path.join(folder, n) for n in ("in.h5", "x.drep", "back.h5"))
    with h5py.File(source, "w", track_order=True) as f:
        Maker(f, rng).make()
    for command in ("import", "-f", source, drep), ("export", "-f", drep, back), ("check", drep):
        p = subprocess.run([DATAREP, *command], capture_output=True, text=True, timeout=60, check=False)
        if p.returncode:
            return "%s: status %d: %s" % (command[0], p.returncode, p.stderr)
    a, b = orders(source), orders(back)
    for name, links in a.items():
        if b.get(name) != links:
            return "%s has %s, not %s" % (name, b.get(name), links)
    return None


def main():
    failed = 0
    print("1..%d" % SEEDS)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(SEEDS):
            why = trip(seed, folder)
            failed += bool(why)
            print("%sok %d - order of links, seed %d" % ("not " if why else "", seed + 1, seed), flush=True)
            if why:
                print("# " + why.replace("\n", "\n# "))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
