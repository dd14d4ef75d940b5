#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-drivers - HDF5 files that are several files, and files that somebody writes.

h5py makes them by libhdf5's drivers family and split, and by SWMR.  TAP on stdout.
"""
import json
import os
import re
import shutil
import sys

import cases
from cases import case, check, must, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

VALUES = np.arange(6000, dtype="<i4") ** 2 % 7777


def fill(f):
    f["plain"] = VALUES
    f["plain"].attrs["text"] = ["a", "b"] * 300
    f.create_dataset("chunks", data=VALUES, chunks=(1000,), compression="gzip", shuffle=True, fillvalue=3)


def same(target):
    for name in "plain", "chunks":
        got = json.loads(must("dump", "--json", target, name))["object"]["data"]
        check(got == VALUES.tolist(), "/%s has other values", name)
    check(run("check", "--deep", target)[1].endswith(": ok\n"), "check --deep")


@case
def families_are_read(at):
    """Also where structures lie across the ends of members, and under names with zeros in front."""
    for libver in "earliest", "latest":
        for name, size in (("a%d.h5", 1024), ("b%05d.h5", 4096), ("c-%d.h5", 1 << 20)):
            source, target = "%s/%s-%s" % (at, libver, name), "%s/x.drep" % at
            with h5py.File(source, "w", driver="family", memb_size=size, libver=libver) as f:
                fill(f)
            must("import", source, target)
            same(target)
            status, _, err = run("import", source % 0, target)
            if size < 1 << 20:
                check(status == 4 and "one file of an HDF5 family; import " in err, "member 0: status %s: %s", status, err)
                status, _, err = run("import", source % 3, target)
                check(status == 4 and "one file of an HDF5 family; import " in err, "member 3: status %s: %s", status, err)


@case
def families_that_lack_members(at):
    source, target = "%s/a%%d.h5" % at, "%s/x.drep" % at
    with h5py.File(source, "w", driver="family", memb_size=4096) as f:
        fill(f)
    os.truncate(source % 2, 100)
    status, _, err = run("import", source, target)
    check(status == 4 and re.search("/plain: warning: 999 elements could not be read", err), "status %s: %s", status, err)
    os.unlink(source % 2)
    status, _, err = run("import", source, target)
    check(status == 4 and "truncated" in err, "status %s: %s", status, err)
    os.unlink(source % 0)
    status, _, err = run("import", source, target)
    check(status == 3 and "No such file" in err, "status %s: %s", status, err)


@case
def parts_of_split_files_are_named(at):
    source, target = "%s/a" % at, "%s/x.drep" % at
    with h5py.File(source, "w", driver="split") as f:
        fill(f)
    for part in "-m.h5", "-r.h5":
        status, _, err = run("import", source + part, target)
        check(status == 4 and "one of the files that HDF5's driver multi, or split, writes" in err, "status %s: %s", status, err)


@case
def files_open_for_writing(at):
    """SWMR: what was flushed is read, and that is said; otherwise HDF5 says what is the matter."""
    source, target = "%s/a.h5" % at, "%s/x.drep" % at
    with h5py.File(source, "w", libver="latest") as f:
        d = f.create_dataset("d", (0,), "<i4", maxshape=(None,), chunks=(100,), compression="gzip")
        f.swmr_mode = True
        for n in 250, 1000:
            d.resize((n,))
            d[:] = VALUES[:n]
            d.flush()
            status, _, err = run("import", source, target)
            check(status == 0 and "it is open for writing (SWMR)" in err, "status %s: %s", status, err)
            check(json.loads(must("dump", "--json", target, "d"))["object"]["data"] == VALUES[:n].tolist(), "other values")
        shutil.copy(source, "%s/died.h5" % at)
    status, _, err = run("import", "%s/died.h5" % at, target)
    check(status == 0 and "or was not closed" in err, "status %s: %s", status, err)
    status, _, err = run("import", source, target)
    check(status == 0 and "SWMR" not in err, "closed: status %s: %s", status, err)
    with h5py.File(source, "w", libver="latest") as f:
        f["d"] = VALUES
        f.flush()
        shutil.copy(source, "%s/died.h5" % at)
    status, _, err = run("import", "%s/died.h5" % at, target)
    check(status == 4 and "already open for write" in err, "status %s: %s", status, err)


if __name__ == "__main__":
    sys.exit(cases.main())
