# SPDX-License-Identifier: MIT
"""hdf5trip - one HDF5 file through import and export, and what has to be the same after.

Used by run-hdf5.py for files that tests make, by run-packages.py for files of others.
"""
import json
import os
import re
import subprocess

import h5py

import hdf5files
from hdf5compare import Container, Pair, check

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
REPS = ("external32", "internal", "native", "mixed")
# Orders and formats of several machines in one table.
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


def declare(folder):
    """Writes the schema that declares `mixed`."""
    with open(os.path.join(folder, "mixed.yaml"), "w", encoding="ascii") as f:
        f.write(MIXED)


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
    check(report["result"] == ("lost" if c.lost else "unread" if c.unread else "kept" if c.kept else "exact"),
          "report: %s", report["result"])
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
    command = [DATAREP, "import", "-f", "--external", "--datarep=" + rep, "--json", *table, *how]
    if "values" in c.lost:
        status, _, err = run(*command, h5, drep)
        check(status == 4 and "--partial" in err, "import without --partial: exit status %d: %s", status, err)
        check(not os.path.exists(drep), "it is there without --partial")
        command.append("--partial")
    status, out, err = run(*command, h5, drep)
    check(status in (0, 1), "import: exit status %d: %s", status, err)
    report = check_report(c, out)
    check_status(status, err, c.lost or c.unread, "import", bool(c.kept))
    status, out, err = run(DATAREP, "check", drep)
    check(status == 0, "check: %s", out + err)
    check(("were not read by import" in out) == ("values" in c.lost), "check: %s", out)
    return report


def check_difference(drep, h5):
    """Our own comparison of the container with the HDF5 file."""
    status, out, err = run(DATAREP, "diff", "--external", drep, h5)
    check(status == 0, "diff: %s", (out + err)[-400:])


def check_container(c, rep, h5, drep):
    large = os.path.getsize(h5) > LARGE or c.name == "sparse"
    status, out, err = run(DATAREP, "dump", "--json", *(["-H"] if large else []), drep)
    check(status == 0 or c.unread and "HDF5 filter" in err, "dump: %s", err)
    doc = json.loads(out)
    check(doc["datarep"] == rep, "datarep %s", doc["datarep"])
    with h5py.File(h5, "r") as f:
        if c.same:
            Container(f, doc["root"]).check_all()


def try_case(c, rep, exact, folder, more=None):
    """more: what else has to hold of the file and its export."""
    h5 = os.path.join(folder, c.name + ".h5")
    name = "%s-%s%s" % (c.name, rep, "-exact" if exact else "")
    drep, back = (os.path.join(folder, name + end) for end in (".drep", ".h5"))
    if c.make and not os.path.exists(h5):
        hdf5files.make(h5, c)
    import_file(c, rep, ["--exact"] if exact else [], folder, h5, drep)
    if not exact:
        check_container(c, rep, h5, drep)
    if not exact and not c.unread:
        check_difference(drep, h5)
    status, out, err = run(DATAREP, "export", "-f", drep, back)
    unread = "values" in c.lost
    check_status(status, err, unread, "export")
    check(("were not read by import" in err) == unread, "export: %s", err)
    if c.same:
        check_diff(c, h5, back)
        check_dump(c, h5, back, exact)
        with h5py.File(h5, "r") as a, h5py.File(back, "r") as b:
            Pair(a, b, c.order or exact).check_all()
    if more:
        more(h5, back)
    os.unlink(drep)
    os.unlink(back)
