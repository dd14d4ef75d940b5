#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-hdf5 - HDF5 files through import and export, against h5py, h5diff and h5dump.

For each file of hdf5files.py and hdf5gen.c and for data representations (external32,
internal, native and a declared one; all of them with --full, else one a file, in turn): import;
what `datarep dump --json` says must be what h5py reads; export; h5diff must find no
difference, h5dump must print the same but for byte orders, and with `import --exact` those
too, and h5py must read the same from both.  Last a table of features as comments.  TAP on
stdout.

Usage: run-hdf5.py [--full] [--table] [CASE...]
# timeout: 1800
"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np

    import hdf5files
    from hdf5compare import Differ, check
    from hdf5trip import DATAREP, REPS, declare, run, try_case
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

GENERATOR = os.path.abspath(os.path.join(os.environ.get("BUILDDIR", "build"),
                                         "release/tests/interop/hdf5gen"))


def check_interrupted(folder):
    """A signal in the middle leaves neither a new file nor a changed old one."""
    big = os.path.join(folder, "big.h5")
    drep = os.path.join(folder, "big.drep")
    with h5py.File(big, "w") as f:
        f["d"] = [[i] * 4096 for i in range(4096)]
    status, _, err = run(DATAREP, "import", "-f", big, drep)
    check(status == 0, "import: %s", err)
    for command, source in (("import", big), ("export", drep)):
        for there in (False, True):
            where = tempfile.mkdtemp(dir=folder)
            name = "out.drep" if command == "import" else "out.h5"
            target = os.path.join(where, name)
            if there:
                with open(target, "w", encoding="ascii") as f:
                    f.write("old")
            p = subprocess.Popen([DATAREP, command, "--force", source, target], stderr=subprocess.PIPE)
            while p.poll() is None and len(os.listdir(where)) == there:
                pass
            p.terminate()
            p.communicate()
            check(p.returncode == -signal.SIGTERM, "%s: exit status %d", command, p.returncode)
            check(os.listdir(where) == [name] * there, "%s leaves %s", command, os.listdir(where))
            check(not there or os.path.getsize(target) == 3, "%s changed an old file", command)


def make_holes(path, rng, like=None):
    """A dataset of which few chunks are stored, and its values."""
    shape, chunks = (1500, 1700), (64, 50)
    fill = float(rng.integers(2)) if like is None else like + float(rng.integers(2))
    values = np.full(shape, fill)
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", shape, "f8", chunks=chunks, fillvalue=fill)
        for _ in range(rng.integers(12)):
            at = [int(rng.integers(n)) for n in shape]
            box = tuple(slice(x, x + int(rng.integers(1, 70))) for x in at)
            d[box] = values[box] = float(rng.integers(4))
    return fill, values


def check_holes(folder):
    """diff of what is mostly not stored counts what NumPy counts."""
    a, b, drep = (os.path.join(folder, n) for n in ("holes_a.h5", "holes_b.h5", "holes.drep"))
    for seed in range(16):
        rng = np.random.default_rng(seed)
        fill, x = make_holes(a, rng)
        other, y = make_holes(b, rng, fill)
        check(run(DATAREP, "import", "-f", a, drep)[0] == 0, "import")
        status, out, err = run(DATAREP, "diff", "--json", drep, b)
        found = [v for v in json.loads(out)["differences"] if v["what"] == "values"]
        check(status == int(fill != other or bool(found)), "status %d: %s", status, err)
        check(bool(found) == bool((x != y).any()), "seed %d: values: %s", seed, found)
        for v in found:
            gaps = np.abs(x - y)
            first = np.unravel_index((x != y).argmax(), x.shape)
            most = np.unravel_index(gaps.argmax(), x.shape)
            check(v["count"] == (x != y).sum() and v["of"] == x.size, "seed %d: %s", seed, v)
            check(v["first"]["index"] == list(first) and v["first"]["b"] == y[first], "seed %d: first %s", seed, v)
            check(v["greatest"]["index"] == list(most), "seed %d: greatest %s", seed, v)
            check(v["greatest"]["absolute"] == gaps.max(), "seed %d: greatest %s", seed, v)


def generated(folder):
    """The files of hdf5gen.c."""
    status, out, err = run(GENERATOR, folder)
    if status != 0:
        raise OSError("hdf5gen: " + err)
    unequal = {"external_elsewhere", "sharing_nothing", "deeper_sequences", "lost_references"}
    for line in out.splitlines():
        name, features, kept, lost = line.split("\t")
        # h5diff does not see what is lossy by HDF5's own filter; h5dump shows the filter.
        yield hdf5files.Case(name, None, features, kept=[k for k in kept.split(",") if k],
                             lost=[k for k in lost.split(",") if k], same=name not in unequal)


def check_behind_the_end(folder):
    """Elements that a damaged file has no bytes for are counted, not looked for."""
    h5, drep = (os.path.join(folder, n) for n in ("end.h5", "end.drep"))
    with h5py.File(h5, "w") as f:
        f["d"] = np.arange(1, 12346.0)
    with open(h5, "rb") as f:
        data = f.read()
    for old, new in ((12345, 1 << 57), (8 * 12345, 1 << 60)):
        data = data.replace(struct.pack("<Q", old), struct.pack("<Q", new))
    with open(h5, "wb") as f:
        f.write(data)
    status, _, err = run(DATAREP, "import", "-f", "--partial", h5, drep, timeout=60)
    check(status == 1 and "%d elements could not be read" % ((1 << 57) - 12345) in err, "import: %s", err)
    status, out, err = run(DATAREP, "dump", "--jsonl", drep, "/d[12343:12347]")
    check(status == 0 and [float(x) for x in out.split()] == [12344, 12345, 0, 0], "dump: %s", out + err)


def check_lossy_filter(folder):
    """A filter that loses values is not applied to them again."""
    if not h5py.h5z.filter_avail(32013):
        raise OSError("HDF5 finds no ZFP filter (package hdf5-filter-plugin-zfp-serial)")
    h5, drep, back, report = (os.path.join(folder, n) for n in ("zfp.h5", "zfp.drep", "zfp2.h5", "zfp.txt"))
    rate = struct.unpack("<II", struct.pack("<d", 8.0))  # bits for each value
    values = np.random.default_rng(1).normal(size=(64, 64))
    with h5py.File(h5, "w") as f:
        f.create_dataset("d", data=values, chunks=(32, 32), compression=32013,
                         compression_opts=(1, 0, *rate, 0, 0))
    with h5py.File(h5, "r") as f:
        first = f["d"][()]
    check((first != values).any(), "ZFP loses nothing here")
    check(run(DATAREP, "import", "-f", h5, drep)[0] == 0, "import")
    status, _, err = run(DATAREP, "export", "-f", "--report=" + report, drep, back)
    check(status == 0, "export: %s", err)
    with h5py.File(back, "r") as f:
        check((f["d"][()].view("u8") == first.view("u8")).all(), "values change on export")
        check(f["d"].id.get_create_plist().get_filter(0)[0] != 32013, "the filter is there again")
    with open(report, encoding="utf-8") as f:
        text = f.read()
    check("filter 32013" in text and "is not applied again: it may change values" in text,
          "the report is silent: %s", text)


OTHERS = {"interrupted": check_interrupted, "holes": check_holes,
          "behind the end": check_behind_the_end, "lossy filter": check_lossy_filter}


def print_table(results):
    """Feature, files, and how they came over: exact, with what is reported, or not."""
    rows = {}
    for c, fine in results.items():
        for feature in c.features:
            row = rows.setdefault(feature, [0, 0, 0])
            row[2 if not fine else 1 if c.kept or c.lost else 0] += 1
    print("# %-42s %5s  %5s %8s %6s" % ("feature", "files", "exact", "reported", "failed"))
    for feature in sorted(rows):
        row = rows[feature]
        print("# %-42s %5d  %5d %8d %6d" % (feature, sum(row), *row))
    exact = sum(fine and not (c.kept or c.lost) for c, fine in results.items())
    print("# %-42s %5d  %5d %8d %6d" % ("all files", len(results), exact,
                                        sum(results.values()) - exact, list(results.values()).count(False)))


def tests_of(cases, full):
    for i, c in enumerate(cases):
        # In all, every representation with as many files as any other.
        reps = REPS if full else (REPS[(i + i // 4) % 4],)
        for rep in reps:
            yield "%s under %s" % (c.name, rep), c, rep, False
        yield "%s under %s, orders kept" % (c.name, reps[0]), c, reps[0], True


def main():
    full = "--full" in sys.argv
    only = [a for a in sys.argv[1:] if not a.startswith("--")]
    failed = 0
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        # Where HDF5 looks for raw files.
        os.chdir(folder)
        declare(folder)
        cases = hdf5files.CASES + list(generated(folder))
        tests = list(tests_of([c for c in cases if not only or c.name in only], full))
        tests += [(name, None, None, False) for name in OTHERS if not only or name in only]
        print("1..%d" % len(tests))
        for n, (name, c, rep, exact) in enumerate(tests, 1):
            fine = True
            try:
                if c is None:
                    OTHERS[name](folder)
                else:
                    try_case(c, rep, exact, folder)
                print("ok %d - %s" % (n, name), flush=True)
            except Exception as e:  # whatever goes wrong is this case's failure
                failed += 1
                fine = False
                why = str(e) if isinstance(e, Differ) else "%s: %s" % (type(e).__name__, e)
                print("not ok %d - %s" % (n, name))
                print("# " + why.replace("\n", "\n# "), flush=True)
            if c:
                results[c] = results.get(c, True) and fine
        print_table(results)
        os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
