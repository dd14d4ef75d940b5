#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-order - importing keeps the byte order of each dataset and the offsets of members, exporting gives them back.

An HDF5 file with datasets of both orders: their elements must lie in the Datarep file as they lie
in h5py's memory, `diff` must find no difference, and export must make the datatypes that there
were.  TAP on stdout.
"""
import os
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
PAIR = [("a", "i2"), ("x", "f4")]


def holes(order):
    """Structs with gaps, whose members lie in another order, one of them a struct with gaps and a part of an array."""
    inner = np.dtype({"names": ["p", "q"], "formats": [order + "i2", order + "f8"], "offsets": [9, 1], "itemsize": 13})
    outer = np.dtype({"names": ["n", "in", "c"], "formats": [order + "u4", (inner, (2,)), "S3"], "offsets": [33, 5, 1],
                      "itemsize": 41})
    data = np.zeros(3, outer)
    for i, name in enumerate(("n", "c")):
        data[name] = [i + 70001, i + 2, i + 7]
    data["in"]["p"], data["in"]["q"] = 771, 0.3
    return data


BIG = {
    "int": np.arange(1001, 1007, dtype=">i4").reshape(2, 3),
    "real": np.linspace(2, 3, 7, dtype=">f8"),
    "pair": np.array([(-3, 2.5), (515, -7.25)], dtype=[(n, ">" + t) for n, t in PAIR]),
    "part": np.array([(1, 772, b"abc")], dtype=[("k", "i1"), ("n", ">u8"), ("s", "S3")]),
    "enum": np.array([300, 2, 300], dtype=h5py.enum_dtype({"A": 2, "B": 300}, basetype=">i2")),
    "complex": np.array([1 + 2j, -0.5j], dtype=">c16"),
    "holes": holes(">"),
}
LITTLE = {
    "int": np.arange(2001, 2007, dtype="<i4"),
    "real": np.linspace(4, 5, 7, dtype="<f8"),
    "pair": np.array([(-5, 3.5), (516, -9.25)], dtype=[(n, "<" + t) for n, t in PAIR]),
    "mixed": np.array([(771, 1.75)], dtype=[("a", "<i2"), ("x", ">f4")]),
    "bytes": np.array([b"abc", b"d"]),
    "holes": holes("<"),
}
CHUNKED = np.arange(3000, 4000, dtype=">f4")
count = failed = 0


def check(name, good, text=""):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    for line in [] if good else str(text).splitlines():
        print("# " + line)


def run(*args):
    p = subprocess.run([DATAREP, *over(args)], capture_output=True, timeout=60, check=False)
    return p.returncode, (p.stdout + p.stderr).decode("utf-8", "replace")


def well(name, *args):
    status, text = run(*args)
    check(name, status == 0, text)
    return text


def make(path):
    with h5py.File(path, "w") as f:
        for group, all_of_it in (("big", BIG), ("little", LITTLE)):
            for name, data in all_of_it.items():
                f[group + "/" + name] = data
                f[group + "/" + name].attrs["of"] = np.array([258, 2], dtype=">i4")
        f.create_dataset("little/chunked holes", data=holes("<"), chunks=(2,), shuffle=True, fillvalue=holes("<")[0])
        f.create_dataset("big/chunked", data=CHUNKED, chunks=(300,), compression="gzip", shuffle=True, fillvalue=7)


def second(path):
    """The datasets that `ls -l` shows under the second representation."""
    lines = [line for line in run("ls", "-lr", path)[1].splitlines() if "datarep 1 external32" in line]
    return {line.split()[0] for line in lines}


def as_written(path, exact):
    """What of the source's datasets has another datatype or other elements in `path`."""
    wrong = []
    with h5py.File(path) as f:
        for group, all_of_it in (("big", BIG), ("little", LITTLE)):
            for name, data in all_of_it.items():
                if not exact and name == "mixed":
                    continue
                got = f[group][name]
                if got.dtype != data.dtype or got[...].tobytes() != data.tobytes():
                    wrong.append("%s/%s: %s" % (group, name, got.dtype))
                if exact and got.attrs["of"].dtype != np.dtype(">i4"):
                    wrong.append("%s/%s: of: %s" % (group, name, got.attrs["of"].dtype))
        got = f["big/chunked"]
        if got.dtype != CHUNKED.dtype or got[...].tobytes() != CHUNKED.tobytes() or got.fillvalue != 7:
            wrong.append("big/chunked")
    return wrong


def payloads(path):
    """The datasets whose elements are not in the file as they are here."""
    with open(path, "rb") as f:
        whole = f.read()
    kept = [("big", BIG, n) for n in BIG] + [("little", LITTLE, n) for n in LITTLE if n != "mixed"]
    return [g + "/" + n for g, a, n in kept if a[n].tobytes() not in whole]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make("a.h5")
    well("import", "import", "a.h5", "a.drep")
    check("the big-endian datasets are external32", second("a.drep") == {"/big/" + n for n in [*BIG, "chunked"]},
          second("a.drep"))
    check("elements lie as in the source", payloads("a.drep") == [], payloads("a.drep"))
    well("diff finds no difference", "diff", "a.h5", "a.drep")
    well("check finds nothing", "check", "--deep", "a.drep")
    well("export", "export", "a.drep", "b.h5")
    check("each dataset has its order", as_written("b.h5", False) == [], as_written("b.h5", False))
    well("import --exact", "import", "--exact", "a.h5", "c.drep")
    well("its export", "export", "c.drep", "c.h5")
    check("each number has its order", as_written("c.h5", True) == [], as_written("c.h5", True))
    for name in ("internal", "external32"):
        well("import --datarep=" + name, "import", "--datarep=" + name, "a.h5", name + ".drep")
        check("... holds for all", "datarep 1" not in run("ls", "-lr", name + ".drep")[1])
        well("... without a difference", "diff", "a.h5", name + ".drep")
print("1..%d" % count)
sys.exit(failed > 0)
