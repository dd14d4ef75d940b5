#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-properties - properties of HDF5 that a container has no place for, there and back, or reported.

h5py makes the files and reads them again.  TAP on stdout.
"""
import json
import os
import subprocess
import sys

import cases
from cases import Absent, case, check, must, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

UNLIMITED = h5py.h5s.UNLIMITED


def findings(*args):
    """What a report in JSON lists."""
    status, out, err = run(*args, "--json")
    check(status in (0, 1), "%s: status %s: %s", args, status, err)
    return [(f["weight"], f["what"], f["path"], f["message"]) for f in json.loads(out)["findings"]]


@case
def maximum_shapes_of_attributes(at):
    shapes = {"plain": ((3,), (3,)), "open": ((3,), (UNLIMITED,)), "more": ((2, 3), (2, 7)),
              "both of them": ((2, 3), (UNLIMITED, 9)), "more 2": ((1, 1, 2), (4, UNLIMITED, 2))}
    with h5py.File(at + "/in.h5", "w") as f:
        for o in f, f.create_group("g"), f.create_dataset("g/d", data=[1, 2]):
            for name, (shape, most) in shapes.items():
                a = h5py.h5a.create(o.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple(shape, most))
                a.write(np.arange(np.prod(shape), dtype="i4").reshape(shape))
    must("import", at + "/in.h5", at + "/x.drep")
    must("export", at + "/x.drep", at + "/back.h5")
    with h5py.File(at + "/back.h5") as f:
        for o in f, f["g"], f["g/d"]:
            for name, (shape, most) in shapes.items():
                space = h5py.h5a.open(o.id, name.encode()).get_space()
                got = space.get_simple_extent_dims(), space.get_simple_extent_dims(True)
                check(got == (shape, most), "%s of %s: %s", name, o.name, got)
                check(o.attrs[name].ravel().tolist() == list(range(np.prod(shape))), "values of %s", name)


@case
def groups_without_an_order(at):
    """That export gives them one is in the report."""
    with h5py.File(at + "/in.h5", "w") as f:
        f.create_group("a", track_order=True)
        f.create_group("b")["d"] = 1
    said = [f for f in findings("import", "-f", at + "/in.h5", at + "/x.drep") if f[1] == "order"]
    check(len(said) == 1 and said[0][0] == "stored" and said[0][3].startswith("the links of 2 groups are in no order"), "%s", said)
    with h5py.File(at + "/in.h5", "w", track_order=True) as f:
        f.create_group("a", track_order=True)
    said = [f for f in findings("import", "-f", at + "/in.h5", at + "/x.drep") if f[1] == "order"]
    check(not said, "%s", said)


@case
def virtual_sources_that_are_absent(at):
    """Whether their number is one or thousands: they are named, and what is there is there."""
    n = 1500
    with h5py.File(at + "/part7.h5", "w") as f:
        f["d"] = np.arange(10.0) + 1
    with h5py.File(at + "/in.h5", "w", libver="latest") as f:
        layout = h5py.VirtualLayout((n, 10), "f8")
        for i in range(n):
            layout[i] = h5py.VirtualSource("part%d.h5" % i, "d", (10,))
        f.create_virtual_dataset("v", layout, fillvalue=-5)
    status, _, err = run("import", "--external", at + "/in.h5", at + "/x.drep")
    check(status == 4 and "part0.h5 is not there" in err, "status %s: %s", status, err)
    lost = [f for f in findings("import", "-f", "--external", "--partial", at + "/in.h5", at + "/x.drep") if f[0] == "lost"]
    check(len(lost) == n - 1 and not any("part7.h5" in f[3] for f in lost), "%d are lost", len(lost))
    status, _, err = run("export", "--root=/v", "--format=npy", at + "/x.drep", at + "/v.npy")
    values = np.load(at + "/v.npy")
    wanted = np.full((n, 10), -5.0)
    wanted[7] = np.arange(10) + 1
    check((values == wanted).all(), "values %s", values)


@case
def calls_for_an_absent_source(at):
    """However deep its directory: a look at each of the two places, and no more."""
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        raise Absent("strace cannot trace here")
    deep = at + "/a/b/c/d/e/f"
    os.makedirs(deep)
    counts = []
    for n in 100, 400:
        with h5py.File(deep + "/in.h5", "w", libver="latest") as f:
            layout = h5py.VirtualLayout((n, 10), "f8")
            for i in range(n):
                layout[i] = h5py.VirtualSource("part%d.h5" % i, "d", (10,))
            f.create_virtual_dataset("v", layout)
        p = subprocess.run(["strace", "-f", "-qq", "-e", "trace=%file", "-o", at + "/log", cases.DATAREP, "import",
                            deep + "/in.h5", at + "/x.drep"], capture_output=True, check=False)
        check(p.returncode == 4, "status %s: %s", p.returncode, p.stderr)
        with open(at + "/log", encoding="utf-8") as log:
            counts.append(len(log.readlines()))
    check(counts[1] - counts[0] <= 300 * 2 + 10, "%s calls for 100 and 400 sources", counts)


def result(*args):
    status, out, err = run(*args, "--json")
    check(status in (0, 1), "%s: status %s: %s", args, status, err)
    return json.loads(out)["result"]


@case
def results_of_reports(at):
    """Whatever is rounded, elements, attributes, fill values, numbers in sequences, is no exact result."""
    third = np.longdouble(1) / 3
    rows = np.empty(1, object)
    rows[0] = np.array([third, 1], "g")
    made = {
        "data": lambda f: f.create_dataset("d", data=np.array([third, 1])),
        "fill": lambda f: f.create_dataset("d", (3,), "g", fillvalue=third),
        "attribute": lambda f: f.attrs.create("a", np.array([third])),
        "member": lambda f: f.attrs.create("a", np.array((1, third), [("x", "i4"), ("y", "g")])),
        "sequence": lambda f: f.create_dataset("d", data=rows, dtype=h5py.vlen_dtype(np.dtype("g"))),
        "sequences": lambda f: f.attrs.create("a", rows, dtype=h5py.vlen_dtype(np.dtype("g"))),
        "nothing": lambda f: f.create_dataset("d", data=np.array([0.5, 1], "g"), fillvalue=0.25),
    }
    for name, make in made.items():
        with h5py.File(at + "/in.h5", "w", track_order=True) as f:
            make(f)
        wanted = "exact" if name == "nothing" else "lost"
        check(result("import", at + "/in.h5", at + "/x.drep") == "exact", "import of %s", name)
        got = result("export", at + "/x.drep", at + "/x.nc")  # netCDF has doubles
        check(got == wanted, "export of %s: %s", name, got)
        got = result("import", "--datarep=native:armhf", at + "/in.h5", at + "/y.drep")
        # Attributes are stored in the formats of this machine.
        check(got == ("exact" if "a" in dict(h5py.File(at + "/in.h5").attrs) else wanted), "import of %s: %s", name, got)


@case
def result_of_chunks_that_nobody_decoded(at):
    with h5py.File(at + "/in.h5", "w", track_order=True) as f:
        f.create_dataset("d", data=np.arange(100), chunks=(10,), compression="gzip")
    check(result("import", at + "/in.h5", at + "/x.drep") == "exact", "decoded")
    check(result("import", "--no-decode", at + "/in.h5", at + "/x.drep") == "untried", "not decoded")


if __name__ == "__main__":
    sys.exit(cases.main())
