#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-unread - HDF5 files of which some elements cannot be read: damaged chunks, absent filters and files.

Without --partial no file is made.  With it the file has a mark for each lost box, which must be exactly
the elements that were damaged; the others are those of the original.  check and export repeat
the marks, convert and repair keep them, and one cause is one line.  TAP on stdout.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from cases import over

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
NOTHING = b"this is no stream of deflate"
CASES = []


def case(fn):
    CASES.append(fn)
    return fn


def check(ok, message, *args):
    if not ok:
        raise AssertionError(message % args)


def run(*args, **env):
    p = subprocess.run([DATAREP, *over(args)], capture_output=True, timeout=60, check=False, env=dict(os.environ, **env))
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def marks(path):
    """(path, elements, box, message) of each mark that check repeats."""
    status, out, err = run("check", "--json", path)
    check(status == 0, "check: status %d: %s%s", status, out, err)
    return [(m["path"], m["elements"], m["box"], m["message"]) for m in json.loads(out)["unread"]]


def values(path, name, shape, dtype):
    """The integers of a dataset of the container."""
    status, out, err = run("dump", "--jsonl", path, name)
    check(status == 0, "dump: %s", err)
    return np.array([int(x) for x in re.findall(r"-?\d+", out)], dtype).reshape(shape)


def boxes(text):
    return tuple(slice(*map(int, part.split(":"))) for part in text[1:-1].split(","))


def damaged(path, shape, chunks, bad, dtype="<i4", **filters):
    """A dataset /d of numbers from 1 on, some chunks of which are no streams."""
    data = np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", data=data, chunks=chunks, **filters)
        for at in bad:
            d.id.write_direct_chunk(at, NOTHING)
    return data


def imported(at, *options, **env):
    """Refused without --partial, leaving nothing; then made with it.  What both say."""
    status, _, refusal = run("import", "--external", *options, at + "/x.h5", at + "/x.drep", **env)
    check(status == 4 and not os.path.exists(at + "/x.drep"), "without --partial: status %d: %s", status, refusal)
    check(sorted(os.listdir(at)) == ["x.h5"], "it leaves %s", os.listdir(at))
    check("--partial imports the rest" in refusal and "hold the fill value" not in refusal, "says %s", refusal)
    status, _, err = run("import", "--partial", "--external", *options, at + "/x.h5", at + "/x.drep", **env)
    check(status == 1, "with --partial: status %d: %s", status, err)
    return refusal, err


def gone_of(shape, chunks, bad):
    gone = np.zeros(shape, bool)
    for start in bad:
        gone[tuple(slice(a, a + n) for a, n in zip(start, chunks))] = True
    return gone


def check_marks(at, data, gone, count=None):
    """The marks are the damaged elements, and no other."""
    found = marks(at + "/x.drep")
    marked = np.zeros(data.shape, int)
    for path, elements, box, _ in found:
        check(path == "/d" and elements == marked[boxes(box)].size, "mark %s", (path, elements, box))
        marked[boxes(box)] += 1
    check((marked == gone).all(), "marked %s", found)
    check(count is None or len(found) == count, "%d marks, not %d: %s", len(found), count, found)
    got = values(at + "/x.drep", "/d", data.shape, data.dtype)
    check((got == np.where(gone, 0, data)).all(), "values %s", got)


@case
def chunks_that_are_damaged(at):
    """By chance: the marks are exact, and chunks that make a box are one mark."""
    rng = random.Random(1)
    for shape, chunks in ((100,), (10,)), ((40, 60), (7, 9)), ((12, 10, 8), (5, 5, 3)):
        grid = [range(0, n, c) for n, c in zip(shape, chunks)]
        for many in 1, 3, 9:
            bad = {tuple(rng.choice(list(r)) for r in grid) for _ in range(many)}
            data = damaged(at + "/x.h5", shape, chunks, bad, compression="gzip")
            imported(at)
            check_marks(at, data, gone_of(shape, chunks, bad))
            os.unlink(at + "/x.drep")
    # Two rows of chunks.
    bad = [(r, c) for r in (7, 14) for c in range(0, 60, 9)]
    data = damaged(at + "/x.h5", (40, 60), (7, 9), bad, compression="gzip")
    imported(at)
    check_marks(at, data, gone_of((40, 60), (7, 9), bad), 1)


@case
def sums_of_fletcher32(at):
    """Sums that nobody decodes for."""
    bad = [(20,), (40,), (50,)]
    data = damaged(at + "/x.h5", (100,), (10,), [], fletcher32=True)
    with h5py.File(at + "/x.h5", "r+") as f:
        for start in bad:
            f["d"].id.write_direct_chunk(start, b"Q" * 44)
    imported(at)
    check_marks(at, data, gone_of((100,), (10,), bad), 2)


@case
def more_boxes_than_are_listed(at):
    """A thousand, and one around the rest."""
    n = 2200
    bad = [(i, 0) for i in range(0, n, 2)]
    damaged(at + "/x.h5", (n, 2), (1, 2), bad, compression="gzip")
    imported(at)
    found = marks(at + "/x.drep")
    check(len(found) == 1001 and found[0][2] == "[0:1,0:2]" and found[999][2] == "[1998:1999,0:2]", "%d: %s", len(found),
          found[999:])
    check(found[1000][1:3] == (200, "[2000:2199,0:2]"), "the rest: %s", found[1000])
    check(sum(m[1] for m in found) == 2 * len(bad), "elements")


@case
def a_file_that_is_cut(at):
    data = damaged(at + "/x.h5", (1000, 10), None, [])
    with h5py.File(at + "/x.h5", "r") as f:
        offset = f["d"].id.get_offset()
    # The superblock says where the file ends: it is asked to end there.
    with open(at + "/x.h5", "r+b") as f:
        head = bytearray(f.read(96))
        end = offset + 4 * 10 * 600
        head[40:48] = end.to_bytes(8, "little")
        f.seek(0)
        f.write(head)
        f.truncate(end)
    imported(at)
    gone = np.zeros(data.shape, bool)
    gone[600:] = True
    check_marks(at, data, gone, 1)


@case
def an_index_of_chunks_that_is_damaged(at):
    """For HDF5 such a dataset has no storage, as one that was never written."""
    for libver, unlimited, sign in (("earliest", 0, b"TREE\x01"), ("latest", 0, b"FAHD"), ("latest", 1, b"EAHD"),
                                    ("latest", 2, b"BTHD")):
        with h5py.File(at + "/x.h5", "w", libver=libver) as f:
            f.create_dataset("d", (60, 60), "<i4", chunks=(10, 10), maxshape=(None,) * unlimited + (60,) * (2 - unlimited),
                             data=np.arange(1, 3601).reshape(60, 60))
        with open(at + "/x.h5", "r+b") as f:
            data = f.read()
            check(sign in data, "%s is not there", sign)
            f.seek(0)
            f.write(data.replace(sign, b"XXXX" + sign[4:]))
        imported(at)
        check([m[:3] for m in marks(at + "/x.drep")] == [("/d", 3600, "[0:60,0:60]")], "%s: %s", sign, marks(at + "/x.drep"))
        os.unlink(at + "/x.drep")


@case
def a_number_of_no_bits(at):
    """Its bytes are kept, and it is said that nothing will make a number of them again."""
    with h5py.File(at + "/x.h5", "w", libver="earliest") as f:
        f["d"] = np.arange(10, dtype="<i8")
    with open(at + "/x.h5", "r+b") as f:
        data = f.read()
        number = bytes.fromhex("100800000800000000004000")
        check(number in data, "the datatype is not there")
        f.seek(0)
        f.write(data.replace(number, number[:-2] + bytes(2)))
    status, _, err = run("import", at + "/x.h5", at + "/x.drep")
    check(status == 1 and "/d: warning: damaged: a number of 0 bits in 8 bytes" in err, "status %d: %s", status, err)


@case
def marks_stay(at):
    """In copies, and what was lost is lost in the export: it says so."""
    bad = [(10, 0), (20, 10)]
    data = damaged(at + "/x.h5", (30, 20), (10, 10), bad, compression="gzip")
    imported(at)
    before = marks(at + "/x.drep")
    for command in (("convert", "--datarep=external32", at + "/x.drep", at + "/y.drep"), ("check", "--repair=" + at + "/z.drep", at + "/x.drep")):
        status, out, err = run(*command)
        check(status == 0, "%s: %s", command[0], out + err)
        check(marks(command[-1] if command[0] == "convert" else at + "/z.drep") == before, "after %s", command[0])
    status, out, err = run("check", at + "/x.drep")
    check(status == 0 and out.count(": note: /d: 100 elements of [") == 2 and out.endswith(": ok, 4 chunks not decoded, elements missing as noted\n"), "check: %s", out + err)
    status, out, err = run("export", "--json", at + "/x.drep", at + "/back.h5")
    lost = [f for f in json.loads(out)["findings"] if f["weight"] == "lost"]
    check(status == 1 and len(lost) == 2 and all(f["path"] == "/d" and f["what"] == "values" for f in lost), "export: %s", out)
    check("100 elements of [10:20,0:10] were not read by import" in err and "the same cause: 1 more" in err, "export: %s", err)
    with h5py.File(at + "/back.h5") as f:
        check((f["d"][()] == np.where(gone_of(data.shape, (10, 10), bad), 0, data)).all(), "values of the export")
    # Other formats likewise.
    for target in ("a.npy", "a.npz", "a.raw", "a.csv", "classic.nc"):
        options = ["--format=netcdf"] if target == "classic.nc" else ["--root=/d"] if target != "a.npz" else []
        status, _, err = run("export", *options, at + "/x.drep", "%s/%s" % (at, target))
        check(status == 1 and "100 elements of [10:20,0:10] were not read by import" in err, "%s: status %d: %s", target, status, err)
    status, _, err = run("diff", at + "/x.drep", at + "/x.h5")
    check(status == 0, "diff: %s", err)


def bare_filter(path, number, name, datasets=1, dtype="<i4"):
    """Datasets whose one filter libhdf5 does not have."""
    with h5py.File(path, "w") as f:
        for i in range(datasets):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((5,))
            plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2))
            d = h5py.h5d.create(f.id, b"%s%d" % (name, i), h5py.h5t.py_create(np.dtype(dtype)),
                                h5py.h5s.create_simple((10 + i,)), plist)
            for start in range(0, 10 + i, 5):
                d.write_direct_chunk((start,), NOTHING)


def undecoded(path):
    return {row["path"]: row["chunks"] for row in json.loads(run("check", "--json", path)[1])["undecoded"]}


@case
def where_a_filter_can_be_had(at):
    """By its name, and the package if there is one."""
    for number, name, where in ((32013, "ZFP", "Debian's package hdf5-filter-plugin-zfp-serial"),
                                (307, "bzip2", "Debian's package hdf5-filter-plugin"),
                                (32026, "Blosc2", "no package of Debian has it"),
                                (32017, "SZ", "no package of Debian has it"),
                                (32999, "not registered", "no package of Debian has it")):
        bare_filter(at + "/x.h5", number, b"d")
        status, _, err = run("import", at + "/x.h5", at + "/x.drep", HDF5_PLUGIN_PATH=at)
        words = "/d0: warning: 2 chunks go over as they are, and cannot be decoded: filter %d (%s) is not available to HDF5: " % (
            number, name)
        check(status == 1 and words in err and where in err, "%d: status %s: %s", number, status, err)
        check(not marks(at + "/x.drep") and undecoded(at + "/x.drep") == {"/d0": 2}, "%s", undecoded(at + "/x.drep"))


@case
def one_line_for_one_cause(at):
    """40 datasets, of different lengths, with one reason; the report names each of them."""
    bare_filter(at + "/x.h5", 32026, b"d", 40)
    _, _, err = run("import", at + "/x.h5", at + "/x.drep")
    check(err.count("Blosc2") == 1 and "losses with the same cause: 39 more\n" in err, "says %s", err)
    check(len(err.splitlines()) == 2, "%d lines", len(err.splitlines()))
    for option in "-v", "--report=" + at + "/report":
        status, _, err = run("import", option, at + "/x.h5", at + "/x.drep")
        if option != "-v":
            with open(at + "/report", encoding="utf-8") as f:
                err = f.read()
        check(status == 1 and len(re.findall(r"unread values /d|warning: \d+ chunks go over", err)) == 40, "%s: %s", option, err)
    check(len(undecoded(at + "/x.drep")) == 40, "marks")


@case
def sources_that_are_absent(at):
    with h5py.File(at + "/x.h5", "w", libver="latest") as f:
        layout = h5py.VirtualLayout((2, 20), "i4")
        layout[0] = h5py.VirtualSource("gone.h5", "data", (20,))
        f.create_virtual_dataset("d", layout, fillvalue=-1)
    imported(at)
    found = marks(at + "/x.drep")
    check([m[:3] for m in found] == [("/d", 20, None)] and "gone.h5 is not there" in found[0][3], "%s", found)
    status, _, err = run("export", at + "/x.drep", at + "/back.h5")
    check(status == 1 and "20 elements were not read by import: " in err, "export: %s", err)


@case
def hostile_marks(at):
    """Lines that import does not write are no marks, and do no harm."""
    lines = ["unread", "unread ", "unread 1", "unread x [0:1] why", "unread -5 [0:1] why", "unread 7 " + "9" * 5000 + " why",
             "unread ?x - why", "unreadable 1 - why", "unread 99999999999999999999999 - many", "unread ? -", "unread 3 [0:1] \x1b[31m"]
    schema = at + "/s.yaml"
    with open(schema, "w", encoding="utf-8") as f:
        json.dump({"datarep": "internal", "root": {"members": {"d": {"dataset": "INT", "shape": [2], "attrs": {
            "drep.hdf5:remarks": {"type": "vstring", "shape": [len(lines)], "value": lines}}}}}}, f)
    status, out, err = run("create", "-s", schema, at + "/x.drep")
    check(status == 0, "create: %s", out + err)
    found = marks(at + "/x.drep")
    check([m[1] for m in found] == [2 ** 63 - 1, None, 3], "%s", found)
    status, out, _ = run("check", at + "/x.drep")
    check(status == 0 and "\x1b" not in out, "check: %s", out)


def main():
    failed = 0
    print("1..%d" % len(CASES))
    for n, fn in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                fn(folder)
                print("ok %d - %s" % (n, fn.__name__.replace("_", " ")), flush=True)
            except Exception as e:  # whatever goes wrong is this case's failure
                failed += 1
                print("not ok %d - %s" % (n, fn.__name__.replace("_", " ")))
                print("# %s: %s" % (type(e).__name__, str(e)[-1500:].replace("\n", "\n# ")), flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
