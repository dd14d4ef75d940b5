#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-pipelines - chunks of HDF5 keep their filters where the container's own do not do the same.

h5py makes the files, with a filter that a plugin has (plugin_xor.c) and that neither the command nor the h5py of
this program finds; it reads filters, masks and stored bytes of both files.  TAP on stdout.
"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import zlib

import cases
from cases import Absent, case, check, must, run

try:
    import h5py
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

XOR, NAME = 32026, "xor of a test"
PLUGIN = os.path.join(os.path.abspath(os.environ.get("BUILDDIR", "build")), "release/tests/interop/plugin_xor.so")
SHUFFLE, DEFLATE, FLETCHER32, LZF = 2, 1, 3, 32000
OPTIONAL = 1
BARE_EDGES = 2  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
VALUES = (np.arange(50 * 20) ** 2 % 1000).astype("<i4").reshape(50, 20)


def hdf5(name, *types):
    """A function of the libhdf5 that h5py has loaded."""
    with open("/proc/self/maps", encoding="ascii") as f:
        path = next(line.split()[-1] for line in f if "libhdf5" in line and "_hl" not in line)
    call = getattr(ctypes.CDLL(path), name)
    call.argtypes = types
    return call


def has_bare_edges(d):
    options, p = ctypes.c_uint(), d.id.get_create_plist()
    call = hdf5("H5Pget_chunk_opts", ctypes.c_int64, ctypes.POINTER(ctypes.c_uint))
    check(call(p.id, ctypes.byref(options)) >= 0, "no options of chunks")
    return options.value == BARE_EDGES


def make(f, name, filters, values=VALUES, chunk=(8, 8), grows=False, bare=False):
    """A dataset with filters [(number, flags, parameters)], in this order."""
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk(chunk)
    if bare:
        check(hdf5("H5Pset_chunk_opts", ctypes.c_int64, ctypes.c_uint)(p.id, BARE_EDGES) >= 0, "no such chunks")
    for row in filters:
        p.set_filter(*row)
    space = h5py.h5s.create_simple(values.shape, (h5py.h5s.UNLIMITED,) * values.ndim if grows else values.shape)
    d = h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(values.dtype), space, p))
    d[...] = values
    return d


def strange(path, at, maker="make_strange"):
    """A file with a filter that only the plugin has: another process makes it."""
    folder = os.path.join(at, "plugins")
    if not os.path.exists(PLUGIN):
        raise Absent("no plugin for libhdf5 was built")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(PLUGIN, os.path.join(folder, "libxor.so"))  # libhdf5 looks for such names
    program = "import runpy, sys; m = runpy.run_path(sys.argv[1], run_name='m'); m[sys.argv[3]](sys.argv[2])"
    subprocess.run([sys.executable, "-c", program, os.path.abspath(__file__), path, maker], check=True,
                   cwd=os.path.dirname(os.path.abspath(__file__)), env=dict(os.environ, HDF5_PLUGIN_PATH=folder))
    return folder


def make_strange(path):
    with h5py.File(path, "w") as f:
        d = make(f, "d", [(SHUFFLE, OPTIONAL, (4,)), (XOR, 0, (7, 8, 9)), (FLETCHER32, 0, ())], grows=True)
        d.attrs["units"] = "m"
        some = VALUES.copy()
        some[8:16, :] = 0x000000ee  # the filter does not take chunks that begin so
        make(f, "masks", [(XOR, OPTIONAL, ())], some)
        make(f, "plain", [(SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (6,))])


def make_bare(path):
    with h5py.File(path, "w", libver="latest") as f:
        make(f, "d", [(SHUFFLE, OPTIONAL, (4,)), (XOR, 0, (7, 8, 9)), (FLETCHER32, 0, ())], grows=True, bare=True)


def make_many(path):
    with h5py.File(path, "w") as f:
        make(f, "d", [(XOR, 0, tuple(range(300)))])


def pipelines(path):
    """Filters, and stored bytes with masks, of all chunked datasets."""
    found = {}

    def visit(name, d):
        if isinstance(d, h5py.Dataset) and d.chunks:
            p = d.id.get_create_plist()
            found[name] = [p.get_filter(i) for i in range(p.get_nfilters())]
            for i in range(d.id.get_num_chunks()):
                at = d.id.get_chunk_info(i).chunk_offset
                found[name, at] = d.id.read_direct_chunk(at)

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


def unnamed(found):
    """Without the names of filters: export gives those that are not HDF5's own names of its own."""
    return {k: [row[:3] for row in v] if isinstance(v, list) else v for k, v in found.items()}


def differences(a, b):
    return ["%s: %.200r, %.200r" % (k, a.get(k), b.get(k)) for k in sorted({*a, *b}, key=str) if a.get(k) != b.get(k)]


def shown(path):
    """What h5dump says of all filters."""
    tool = shutil.which("h5dump")
    if not tool:
        return ""
    text = subprocess.run([tool, "-p", "-H", path], capture_output=True, check=True, text=True).stdout
    return text.split("\n", 1)[1]


def same_files(source, back):
    check(not differences(pipelines(source), pipelines(back)), "%s", "\n".join(differences(pipelines(source), pipelines(back))))
    check(shown(source) == shown(back), "h5dump shows %s instead of %s", shown(back), shown(source))


def loaded(target, name):
    return np.array(json.loads(must("dump", "--json", target, name))["object"]["data"])


@case
def what_nobody_decodes_goes_there_and_back(at):
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    strange(source, at)
    status, _, err = run("import", source, target)
    check(status == 1 and re.search(r"/d: warning: 21 chunks go over as they are, and cannot be decoded: filter 32026", err),
          "import: status %s: %s", status, err)
    check("/masks: warning" in err or "same cause: 1 more" in err, "import says nothing of /masks: %s", err)
    status, out, err = run("dump", target, "d")
    check(status != 0 and "HDF5 filter 32026 '%s' is not here" % NAME in err, "dump: status %s: %s", status, err)
    check("[50/unlimited, 20/unlimited]" in out and "hdf5:32026 \"%s\" 7 8 9" % NAME in out.replace("'", '"') or
          "hdf5:32026" in out, "no shape or filters: %s", out)
    check('units: CHAR' in out or '"m"' in out, "no attribute: %s", out)
    for command in (("export", target, back), ("export", "--verify", target, back)):
        status, _, err = run(*command)
        check(status == 0, "%s: status %s: %s", command, status, err)
        same_files(source, back)
    other = "%s/other.drep" % at
    must("convert", target, other)
    must("export", other, back)
    same_files(source, back)


@case
def convert_keeps_what_it_cannot_decode(at):
    source, target, other, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/other.drep" % at, "%s/back.h5" % at
    strange(source, at)
    run("import", source, target)
    for change in ("--filters=zstd:3", "--chunk=16,16", "--filters=/d=none"):
        status, _, err = run("convert", change, target, other)
        check(status == 4 and re.search("/d: .*HDF5 filter 32026 '%s' is not here" % NAME, err) and "--no-decode keeps" in err
              and not os.path.exists(other), "convert %s: status %s: %s", change, status, err)
        status, _, err = run("convert", "--no-decode", change, target, other)
        check(status == 1 and "/d: kept as it is stored: HDF5 filter 32026 '%s' is not here" % NAME in err
              and "/plain" not in err and "--no-decode" not in err, "convert --no-decode %s: status %s: %s", change, status, err)
        must("export", other, back)
        a, b = pipelines(source), pipelines(back)
        check(all(a[k] == b.get(k) for k in a if "d" in k), "other chunks of d")
        check(("masks: kept" in err) == (change != "--filters=/d=none"), "masks: %s", err)
        os.unlink(other)
    must("convert", "--no-decode", target, other)
    must("export", other, back)
    same_files(source, back)
    status, _, err = run("convert", "--no-decode", "--datarep=native:m68k", "--filters=lz4", target, other)
    check(status == 1 and err.count("kept as it is stored") == 2, "another representation: status %s: %s", status, err)
    check((loaded(other, "plain") == VALUES).all(), "plain has other values")
    counts = {row["path"]: row["chunks"] for row in json.loads(run("check", "--json", other)[1])["undecoded"]}
    check(counts["/d"] == 21, "counts %s", counts)
    must("export", other, back)
    a, b = pipelines(source), pipelines(back)
    check(all(a[k] == b.get(k) for k in a if "plain" not in k), "other chunks in another representation")


@case
def diff_compares_parameters(at):
    files = []
    for last in (2, 3):
        source, target = "%s/%d.h5" % (at, last), "%s/%d.drep" % (at, last)
        with h5py.File(source, "w") as f:
            for name, parameters in (("d", (1, last)), ("e", (1, 7))):
                p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                p.set_chunk((4,))
                p.set_filter(XOR, OPTIONAL, parameters)
                d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4,)), p)
                d.write_direct_chunk((0,), b"nobody knows")
        check(run("import", source, target)[0] == 1, "import")
        files.append(target)
    status, out, err = run("diff", "--header", "--storage", *files)
    check(status == 1 and out.count("storage") == 1 and re.search(r"^/d: storage .*hdf5:32026\? 1 2 -> .*hdf5:32026\? 1 3$", out, re.M),
          "status %s: %s%s", status, out, err)


@case
def chunks_at_the_edge_that_hdf5_does_not_filter(at):
    """They are the container's as they are, and HDF5's again."""
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    shuffle, deflate, sums = (SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (4,)), (FLETCHER32, 0, ())
    lists = {"shuffle": [shuffle], "deflate": [shuffle, deflate], "sums": [shuffle, deflate, sums], "netcdf": [sums, shuffle, deflate],
             "lzf": [shuffle, (LZF, OPTIONAL, ())], "nbit": [(5, OPTIONAL, ())]}
    for old in (False, True):
        with h5py.File(source, "w", libver="earliest" if old else "latest"):
            pass
        with h5py.File(source, "r+", libver="latest") as f:
            for name, filters in lists.items():
                make(f, name, filters, bare=True)
                make(f, name + "2", filters, grows=True, bare=True)
            large = np.arange(20000, dtype="<i4").reshape(200, 100)
            make(f, "large", [shuffle, deflate], large, (96, 56), bare=True)
            make(f, "usual", [shuffle, deflate])
        for options in (), ("--no-decode",), ("--virtual",):
            must("import", *options, source, target)
            for name in lists if "--no-decode" not in options else set(lists) - {"nbit"}:
                check((np.array(json.loads(must("dump", "--external", "--json", target, name))["object"]["data"]) == VALUES).all(),
                      "%s: %s has other values", options, name)
            out = run("check", "--external", "--deep", target)[1]
            check(out.endswith(": ok\n") or "--no-decode" in options and "HDF5 filter 5" in out, "check --deep: %s", out)
            must("export", "--external", target, back)
            same = subprocess.run(["h5diff", source, back], capture_output=True, text=True, check=False)
            check(same.returncode == 0, "h5diff: %s", same.stdout)
            a, b = unnamed(pipelines(source)), unnamed(pipelines(back))
            wrong = [k for k in a if a[k] != b.get(k) and "nbit" not in str(k)]
            check(not wrong, "%s: other chunks or filters: %s", options, wrong)
            with h5py.File(back, "r+") as f:
                check(not has_bare_edges(f["usual"]) and all(has_bare_edges(f[name]) for name in (*lists, "large")), "the property")
                for name in lists:
                    d = f[name + "2"]
                    d.resize((60, 30))
                    check((d[:50, :20] == VALUES).all() and not d[50:].any(), "%s is not longer", name)


@case
def chunks_at_the_edge_that_can_be_read_although_the_filter_is_not_here(at):
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    strange(source, at, "make_bare")
    status, _, err = run("import", source, target)
    check(status == 1 and "12 chunks go over as they are, and cannot be decoded" in err, "import: status %s: %s", status, err)
    check((loaded(target, "d[48:]") == VALUES[48:]).all() and (loaded(target, "d[:, 16:]") == VALUES[:, 16:]).all(), "other values")
    check(run("dump", target, "d[0:8, 0:8]")[0] != 0, "other chunks, too")
    must("export", target, back)
    same_files(source, back)


@case
def filters_with_many_parameters(at):
    """A container's have at most 255, and libhdf5 tells at most 256: they are refused by name."""
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    folder = strange(source, at, "make_many")
    for env in ({}, {"HDF5_PLUGIN_PATH": folder}):
        status, _, err = run("import", source, target, **env)
        check(status == 4 and not os.path.exists(target) and re.search(
            r"in\.h5: /d: .*filter 32026 \(%s\) has 300 parameters, more than the 255" % NAME, err), "status %s: %s", status, err)
    wide = np.zeros(40, np.dtype([("m%d" % i, "<i2") for i in range(80)]))
    with h5py.File(source, "w") as f:
        d = make(f, "d", [(5, OPTIONAL, ())], wide, (16,))
        many = len(d.id.get_create_plist().get_filter(0)[2])
    status, _, err = run("import", source, target)
    check(status == 4 and "/d: warning: filter 5 (nbit) has" in err and "than libhdf5 tells" in err, "%d: status %s: %s", many, status, err)


@case
def check_counts_what_nobody_decoded(at):
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    strange(source, at)
    run("import", source, target)
    undecoded = json.loads(run("check", "--json", target)[1])["undecoded"]
    counts = {row["path"]: row["chunks"] for row in undecoded}
    check(counts.get("/d") == 21 and 0 < counts.get("/masks", 0) < 21 and "/plain" not in counts, "counts %s", counts)
    status, out, err = run("check", target)
    check(status == 0 and "21 chunks were not decoded" in out, "check: status %s: %s%s", status, out, err)
    status, out, err = run("check", "--deep", target)
    check(status == 0 and "21 chunks cannot be decoded: HDF5 filter 32026" in out and not out.endswith(": ok\n"), "deep: status %s: %s%s", status, out, err)


@case
def chunks_that_skip_the_filter_can_be_read(at):
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    strange(source, at)
    run("import", source, target)
    out = must("dump", "--json", target, "masks[8:16, 0:8]")
    check(out.count("238") >= 64, "%s", out)
    check(run("dump", target, "masks[0:8, 0:8]")[0] != 0, "other chunks, too")


@case
def a_plugin_makes_elements_readable(at):
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    folder = strange(source, at)
    status, _, err = run("import", source, target, HDF5_PLUGIN_PATH=folder)
    check(status == 0, "import: status %s: %s", status, err)
    check((loaded(target, "d") == VALUES).all(), "other values")
    status, _, err = run("import", "--no-decode", source, target, HDF5_PLUGIN_PATH=folder)
    check(status == 0, "import --no-decode: status %s: %s", status, err)
    must("export", target, back)
    same_files(source, back)


@case
def orders_that_only_hdf5_has(at):
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    pair = np.zeros(40, np.dtype([("a", "<f4"), ("b", "<f4")]))
    pair["a"] = np.arange(40)
    shuffle, deflate, sums, lzf = (SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (4,)), (FLETCHER32, 0, ()), (LZF, OPTIONAL, ())
    with h5py.File(source, "w") as f:
        make(f, "netcdf", [sums, shuffle, deflate])
        make(f, "h5py", [deflate, shuffle, lzf])
        make(f, "twice", [deflate, deflate, sums])
        make(f, "sums", [sums])
        make(f, "pair", [(SHUFFLE, OPTIONAL, (8,)), deflate], pair, (16,))
        make(f, "rows", [shuffle, sums, lzf], VALUES.astype(">u2"), (50, 3), grows=True)
    must("import", source, target)
    check(must("dump", "-H", target).count("hdf5:") >= 12, "they are translated")
    with h5py.File(source) as f:
        for name in f:
            if name != "pair":
                check((loaded(target, name) == f[name][()]).all(), "%s has other values", name)
    check("undecoded" not in must("check", "--json", target).replace('"undecoded": []', ""), "some are not decoded")
    check(run("check", "--deep", target)[1].endswith(": ok\n"), "check --deep")
    must("export", target, back)
    same_files(source, back)


@case
def elements_are_written_by_hdf5s_rules(at):
    """Where all filters are here: libhdf5 reads what the library made, sums and chunks at the end included."""
    schema, target, back = "%s/s.yaml" % at, "%s/x.drep" % at, "%s/back.h5" % at
    values = [n * n % 1000 for n in range(100)]
    lists = {"netcdf": "{hdf5:3: []}, {hdf5:2?: [4]}, {hdf5:1?: [4]}", "odd": "{hdf5:1: [9]}, {hdf5:2: [3]}, {hdf5:3: []}",
             "sums": "{hdf5:3: []}", "sums2": "{hdf5:2: [4]}, {hdf5:3: []}, {hdf5:3: []}"}
    with open(schema, "w", encoding="ascii") as f:
        f.write("datarep: internal\nroot:\n")
        for name, filters in lists.items():
            f.write("  %s: {dataset: INT32_T, shape: [100], chunk: [7], filters: [%s], data: %s}\n" % (name, filters, values))
    must("create", "-s", schema, target)
    check(run("check", "--deep", target)[1].endswith(": ok\n"), "check --deep")
    must("export", target, back)
    with h5py.File(back) as f:
        for name in lists:
            check(f[name][()].tolist() == values, "%s has other values", name)
        check([row[0] for row in pipelines(back)["odd"]] == [DEFLATE, SHUFFLE, FLETCHER32], "other filters")
    check(must("dump", "--yaml", target).count("hdf5:") == 10, "--yaml")


@case
def damaged_chunks_are_found(at):
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    with h5py.File(source, "w") as f:
        d = make(f, "d", [(FLETCHER32, 0, ()), (SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (4,))])
        mask, data = d.id.read_direct_chunk((8, 8))
        raw = zlib.decompress(data)
        d.id.write_direct_chunk((8, 8), zlib.compress(raw[:-1] + bytes([raw[-1] ^ 1])), mask)
    status, _, err = run("import", source, target)
    check(status == 4 and "first in the chunk at (8,8)" in err, "import: status %s: %s", status, err)
    must("import", "--no-decode", source, target)
    check(json.loads(must("check", "--json", target))["undecoded"] == [{"path": "/d", "chunks": 21}], "not marked")
    status, _, err = run("dump", target, "d")
    check(status != 0 and "fletcher32" in err, "dump: status %s: %s", status, err)
    must("dump", target, "d[0:8]")
    check(run("check", "--deep", target)[0] == 1, "check --deep finds nothing")
    must("export", target, back)
    same_files(source, back)


@case
def short_chunks_are_not_read_as_fill(at):
    """Undecoded, too: HDF5 would fill such chunks up with anything."""
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    with h5py.File(source, "w") as f:
        d = make(f, "d", [(SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (4,))])
        d.id.write_direct_chunk((48, 16), zlib.compress(bytes(4 * 8)))
    must("import", "--no-decode", source, target)
    status, out, err = run("dump", target, "d[48:, 16:]")
    check(status != 0 and "R8.58" in err, "dump: status %s: %s%s", status, out, err)
    check(run("check", "--deep", target)[0] == 1, "check --deep finds nothing")


@case
def large_chunks(at):
    """Beyond what a reader takes unasked: nobody can cut them into smaller ones."""
    source, target, back = "%s/in.h5" % at, "%s/x.drep" % at, "%s/back.h5" % at
    with h5py.File(source, "w") as f:
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((5000000,))
        p.set_filter(XOR, OPTIONAL, (1,))
        d = h5py.h5d.create(f.id, b"d", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((5000000,)), p)
        d.write_direct_chunk((0,), b"nobody knows")
    status, _, err = run("import", source, target)
    check(status == 4 and "--limit=chunk=20000000" in err, "import: status %s: %s", status, err)
    status, _, err = run("import", "--limit=chunk=20000000", source, target)
    check(status == 1, "import: status %s: %s", status, err)
    must("check", target)
    must("export", target, back)
    same_files(source, back)


@case
def chunks_stay_in_the_source(at):
    source, target = "%s/in.h5" % at, "%s/x.drep" % at
    strange(source, at)
    with h5py.File(source, "r+") as f:
        make(f, "netcdf", [(FLETCHER32, 0, ()), (SHUFFLE, OPTIONAL, (4,)), (DEFLATE, OPTIONAL, (4,))],
             np.arange(20000, dtype="<i4").reshape(200, 100), (100, 50))
    status, _, err = run("import", "--virtual", source, target)
    check(status == 1 and "copied" not in err, "import: status %s: %s", status, err)
    out = must("dump", "--external", "--json", target, "netcdf")
    check(json.loads(out)["object"]["data"] == np.arange(20000).reshape(200, 100).tolist(), "other values")
    check("HDF5 filter 32026" in run("dump", "--external", target, "d")[2], "d can be read")
    check(json.loads(must("check", "--external", "--json", target))["undecoded"], "none is counted")


if __name__ == "__main__":
    sys.exit(cases.main())
