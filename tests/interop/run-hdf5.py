#!/usr/bin/python3
"""run-hdf5 - HDF5 files through import and export, against h5py, h5diff and h5dump.

For each file of hdf5files.py and hdf5gen.c and for data representations (external32,
internal, native and a declared one; all of them with --full, else two a file): import;
what `datarep dump --json` says must be what h5py reads; export; h5diff must find no
difference, h5dump must print the same but for byte orders, and with `import --exact` those
too, and h5py must read the same from both.  Last a table of features as comments.  TAP on
stdout.

Usage: run-hdf5.py [--full] [--table] [CASE...]
# timeout: 1800
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

try:
    import h5py

    import hdf5files
    from hdf5compare import Container, Differ, Pair, check
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
GENERATOR = os.path.abspath(os.path.join(os.environ.get("BUILDDIR", "build"),
                                         "release/tests/interop/hdf5gen"))
REPS = ("external32", "internal", "native", "mixed")
# Sizes, orders and formats of several machines in one table.
MIXED = """\
datarep: mixed
datareps:
  mixed:
    base: internal
    order: big
    types: {INT32_T: {order: little}, DOUBLE: {order: little}, UINT16_T: {order: little},
            LONG_DOUBLE: {format: x87, size: 16, order: little}}
root: {}
"""
LARGE = 8 << 20  # bytes of a file of which not everything is printed


def run(*command, timeout=300):
    p = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    return p.returncode, p.stdout.decode("utf-8", "surrogateescape"), \
        p.stderr.decode("utf-8", "surrogateescape")


# --------------------------------------------------------------------- the cases

def check_status(status, err, bad, what, speaks=False):
    check(status == (1 if bad else 0), "%s: exit status %d: %s", what, status, err.strip())
    check(bool(bad) or speaks or not err, "%s says: %s", what, err.strip())
    check(not speaks or "kept as annotations" in err, "%s does not count: %s", what, err.strip())


def check_report(c, text):
    """The report: what must be kept or lost, and nothing else."""
    report = json.loads(text)
    words = {w: {f["what"] for f in report["findings"] if f["weight"] == w} for w in ("kept", "lost")}
    check(words["kept"] == set(c.kept), "report: kept %s", words["kept"])
    check(words["lost"] == set(c.lost), "report: lost %s", words["lost"])
    check(report["result"] == ("lost" if c.lost else "kept" if c.kept else "exact"), "report: %s",
          report["result"])
    return report


def dumped(path, exact):
    """What h5dump prints, without addresses, names of files and, if not exact, byte orders."""
    large = os.path.getsize(path) > LARGE or "sparse" in path
    status, out, _ = run("h5dump", "-p", *(["-H"] if large else []), path)
    out = re.sub(r"^HDF5 .*\n", "", out, flags=re.M)
    out = re.sub(r"(DATASET|GROUP|DATATYPE) \d+ \"", r'\1 "', out)
    out = re.sub(r"^ *(OFFSET|USERBLOCK_SIZE) .*\n", "", out, flags=re.M)
    out = re.sub(r"SIZE \d+ \(.*\)", "SIZE", out)
    if not exact:
        out = re.sub(r"_([IUFBD]\d+)(BE|LE)\b", r"_\1", out)
        out = re.sub(r"(big|little)-endian", "", out)
        out = re.sub(r"BYTE_ORDER [ML]SB", "", out)
    return status, out


def check_dump(c, a, b, exact):
    (status, x), (_, y) = dumped(a, exact), dumped(b, exact)
    # What it cannot print itself it need not print of the other.
    if status != 0 or "layout" in c.kept or c.name == "scale_offset_lossy":
        return
    if not exact and not c.order:
        return
    if x != y:
        for p, q in zip(x.splitlines(), y.splitlines()):
            check(p == q, "h5dump: %.200s, not %.200s", q.strip(), p.strip())
    check(x == y, "h5dump prints %d characters, not %d", len(y), len(x))


def check_diff(c, a, b):
    """h5diff, where it finds a file equal to its own copy."""
    if not c.h5diff:
        return
    copy = a + ".copy"
    if not os.path.exists(copy):
        with open(a, "rb") as f, open(copy, "wb") as g:
            g.write(f.read())
    if c.diffable is None:
        c.diffable = run("h5diff", a, copy)[0] == 0
    if c.diffable:
        status, out, err = run("h5diff", a, b)
        check(status == 0, "h5diff: %s", (out + err)[-600:])


def import_file(c, rep, how, folder, h5, drep):
    table = ["--schema=" + os.path.join(folder, "mixed.yaml")] if rep == "mixed" else []
    status, out, err = run(DATAREP, "import", "--datarep=" + rep, "--json", *table, *how, h5, drep)
    check(status in (0, 1), "import: exit status %d: %s", status, err)
    report = check_report(c, out)
    check_status(status, err, c.lost, "import", bool(c.kept))
    status, out, err = run(DATAREP, "check", drep)
    check(status == 0, "check: %s", out + err)
    return report


def check_container(c, rep, h5, drep):
    large = os.path.getsize(h5) > LARGE or c.name == "sparse"
    status, out, err = run(DATAREP, "dump", "--json", *(["-H"] if large else []), drep)
    check(status == 0, "dump: %s", err)
    doc = json.loads(out)
    check(doc["datarep"] == rep, "datarep %s", doc["datarep"])
    with h5py.File(h5, "r") as f:
        if c.same:
            Container(f, doc["root"]).check_all()


def try_case(c, rep, exact, folder):
    h5 = os.path.join(folder, c.name + ".h5")
    name = "%s-%s%s" % (c.name, rep, "-exact" if exact else "")
    drep, back = (os.path.join(folder, name + end) for end in (".drep", ".h5"))
    if c.make and not os.path.exists(h5):
        hdf5files.make(h5, c)
    import_file(c, rep, ["--exact"] if exact else [], folder, h5, drep)
    if not exact:
        check_container(c, rep, h5, drep)
    status, out, err = run(DATAREP, "export", drep, back)
    check_status(status, err, (), "export")
    if c.same:
        check_diff(c, h5, back)
        check_dump(c, h5, back, exact)
        with h5py.File(h5, "r") as a, h5py.File(back, "r") as b:
            Pair(a, b, c.order or exact).check_all()
    os.unlink(drep)
    os.unlink(back)


def check_interrupted(folder):
    """A signal in the middle leaves neither a new file nor a changed old one."""
    big = os.path.join(folder, "big.h5")
    drep = os.path.join(folder, "big.drep")
    with h5py.File(big, "w") as f:
        f["d"] = [[i] * 4096 for i in range(4096)]
    status, _, err = run(DATAREP, "import", big, drep)
    check(status == 0, "import: %s", err)
    for command, source in (("import", big), ("export", drep)):
        for there in (False, True):
            where = tempfile.mkdtemp(dir=folder)
            target = os.path.join(where, "out")
            if there:
                with open(target, "w", encoding="ascii") as f:
                    f.write("old")
            p = subprocess.Popen([DATAREP, command, source, target], stderr=subprocess.PIPE)
            while p.poll() is None and len(os.listdir(where)) == there:
                pass
            p.terminate()
            p.communicate()
            check(p.returncode == -signal.SIGTERM, "%s: exit status %d", command, p.returncode)
            check(os.listdir(where) == ["out"] * there, "%s leaves %s", command, os.listdir(where))
            check(not there or os.path.getsize(target) == 3, "%s changed an old file", command)


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
        reps = REPS if full else (REPS[i % 4], REPS[(i + 1 + i // 4 % 3) % 4])
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
        with open(os.path.join(folder, "mixed.yaml"), "w", encoding="ascii") as f:
            f.write(MIXED)
        cases = hdf5files.CASES + list(generated(folder))
        tests = list(tests_of([c for c in cases if not only or c.name in only], full))
        if not only or "interrupted" in only:
            tests.append(("interrupted", None, None, False))
        print("1..%d" % len(tests))
        for n, (name, c, rep, exact) in enumerate(tests, 1):
            fine = True
            try:
                if c is None:
                    check_interrupted(folder)
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
