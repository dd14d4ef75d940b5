#!/usr/bin/python3
"""run-hdf5 - HDF5 files through import and export, against h5py and h5diff.

For each file of hdf5files.py and each of three data representations: import; what
`datarep dump --json` says must be what h5py reads; export; h5diff must find no
difference, and h5py must read the same values from both files.  TAP on stdout.
# timeout: 900
"""
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    from h5py import h5d, h5s, h5t

    import hdf5files
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

# Signalling NaNs are made on purpose.
np.seterr(invalid="ignore")

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
REPS = ("external32", "internal", "native")


class Differ(Exception):
    pass


def check(condition, text, *args):
    if not condition:
        raise Differ(text % args)


def run(*command):
    p = subprocess.run(command, capture_output=True, timeout=300, check=False)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


# ------------------------------------------------------- values of the two sides

def number(v):
    """A real of the JSON: a number, or a text such as "nan" or "0x1.8p+1"."""
    if not isinstance(v, str):
        return float(v)
    if v.lstrip("-").startswith("0x"):
        return hex_long_double(v)
    return float(v)


def hex_long_double(v):
    sign, digits, fraction, exponent = re.fullmatch(r"(-?)0x([01])\.?([0-9a-f]*)p([+-]\d+)", v).groups()
    n = int(digits + fraction, 16)
    m = np.longdouble(n >> 64) * 2 ** np.longdouble(64) + np.longdouble(n & (2 ** 64 - 1)) \
        if n >> 64 else np.longdouble(np.uint64(n))
    m = np.ldexp(m, int(exponent) - 4 * len(fraction))
    return -m if sign else m


def as_text(v):
    if isinstance(v, bytes):
        return v.decode("utf-8", "surrogateescape")
    return v


def same_value(f, got, want, dtype):
    """Whether a value of the JSON is the value `want` that h5py read with this dtype."""
    dtype = np.dtype(dtype)
    if dtype.subdtype:
        return same_list(f, got, np.asarray(want), dtype.subdtype[0])
    enum = h5py.check_enum_dtype(dtype)
    if enum is not None:
        names = {v: k for k, v in enum.items()}
        return got == names.get(int(want), int(want)) or got == str(int(want))
    if h5py.check_string_dtype(dtype):
        return got == as_text(want)
    base = h5py.check_vlen_dtype(dtype)
    if base is not None:
        return same_list(f, got, np.asarray(want if want is not None else [], base), base)
    ref = h5py.check_ref_dtype(dtype)
    if ref is h5py.Reference:
        return got == (f[want].name if want else None)
    if ref is h5py.RegionReference:
        return same_region(f, got, want)
    if dtype.names:
        return list(got) == list(dtype.names) and all(
            same_value(f, got[n], want[n], dtype[n]) for n in dtype.names)
    if dtype.kind in "iu":
        return int(got) == int(want) and isinstance(got, str) == (abs(int(want)) > 2 ** 53 - 1)
    if dtype.kind == "b":
        return got is bool(want)
    if dtype.kind == "c":
        half = np.dtype("f%d" % (dtype.itemsize // 2))
        return same_value(f, got["r"], want.real, half) and same_value(f, got["i"], want.imag, half)
    if dtype.kind == "f":
        v, w = number(got), np.longdouble(want)
        if np.isnan(w):
            return got == "nan" or got == "-nan"
        return dtype.newbyteorder("=").type(v) == dtype.newbyteorder("=").type(want) and \
            bool(np.signbit(v)) == bool(np.signbit(w))
    if dtype.kind == "S":
        return got == as_text(want)
    if dtype.kind == "V":
        return got == bytes(want).hex()
    raise Differ("no rule for %s" % dtype)


def same_list(f, got, want, dtype):
    if want.ndim == 0:
        return same_value(f, got, want[()], dtype)
    return isinstance(got, list) and len(got) == len(want) and all(
        same_list(f, g, np.asarray(w, object) if dtype.kind == "O" and want.ndim == 1
                  else np.asarray(w), dtype) if want.ndim > 1 else same_value(f, g, w, dtype)
        for g, w in zip(got, want))


def same_region(f, got, want):
    if not want:
        return got is None
    space = h5py.h5r.get_region(want, f.id)
    mask = np.zeros(space.shape, bool)
    text = got["region"]
    if "[" in text:
        for box in re.findall(r"\[([^]]*)\]", text):
            mask[tuple(slice(*(int(n) if n else None for n in p.split(":"))) if ":" in p else int(p)
                       for p in box.split(","))] = True
    else:
        for p in re.findall(r"\(([^)]*)\)", text):
            mask[tuple(map(int, p.split(",")))] = True
    return got["object"] == f[want].name and mask.sum() == space.get_select_npoints() and \
        bool(mask[selected(f, want)].all())


def selected(f, ref):
    """Index arrays of a region's points."""
    space = h5py.h5r.get_region(ref, f.id)
    if space.get_select_type() == h5s.SEL_POINTS:
        return tuple(space.get_select_elem_pointlist().T)
    mask = np.zeros(space.shape, bool)
    if space.get_select_type() == h5s.SEL_ALL:
        mask[...] = True
    else:
        for low, high in space.get_select_hyper_blocklist():
            mask[tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high))] = True
    return np.nonzero(mask)


# ------------------------------------------------------------- JSON against h5py

def readable(obj):
    """The dtype, or None where numpy has none for the type."""
    t = (obj.id if isinstance(obj, h5py.Dataset) else obj).get_type()
    try:
        dtype = t.dtype
    except Exception:  # h5py has a different one for each type that it does not know
        return None
    if isinstance(t, (h5t.TypeBitfieldID, h5t.TypeOpaqueID)) or odd(t):
        return None
    return dtype


def read_bytes(item, htype):
    """The elements of a dataset or attribute as bytes of this type."""
    out = np.empty(item.shape, "V%d" % htype.get_size())
    if isinstance(item, h5d.DatasetID):
        item.read(h5s.ALL, h5s.ALL, out, mtype=htype)
    else:
        item.read(out, mtype=htype)
    return out


def same_opaque(item, got):
    """Whether an opaque item is in the JSON as hex digits."""
    t = item.get_type()
    return not isinstance(t, h5t.TypeOpaqueID) or \
        got == [v.tobytes().hex() for v in read_bytes(item, t)]


def odd(t):
    """Whether numpy would show another value than HDF5 means."""
    if isinstance(t, (h5t.TypeIntegerID, h5t.TypeFloatID)):
        size = t.get_size()
        known = size in (1, 2, 4, 8) and t.get_precision() == 8 * size
        x87 = isinstance(t, h5t.TypeFloatID) and t.get_precision() == 80
        bf16 = isinstance(t, h5t.TypeFloatID) and size == 2 and t.get_fields()[2] != 5
        return not (known or x87) or bf16 or t.get_order() not in (h5t.ORDER_LE, h5t.ORDER_BE)
    if isinstance(t, h5t.TypeArrayID):
        return odd(t.get_super())
    if isinstance(t, h5t.TypeVlenID):
        return isinstance(t.get_super(), h5t.TypeVlenID) or isinstance(t.get_super(), h5t.TypeStringID)
    return False


def check_attrs(f, path, obj, doc, left_out):
    for name in obj.attrs:
        if name in left_out:
            continue
        attr = h5py.h5a.open(obj.id, name.encode())
        check(name in doc["attributes"], "%s: attribute %s is missing", path, name)
        got = doc["attributes"][name]
        dtype = readable(attr)
        if attr.get_space().get_simple_extent_type() == h5s.NULL:
            check(got["shape"] is None, "%s: attribute %s is not null", path, name)
            continue
        check(got["shape"] == list(attr.shape), "%s: attribute %s: shape", path, name)
        if dtype is None:
            check(same_opaque(attr, got["value"]), "%s: attribute %s: bytes", path, name)
            continue
        value = raw_attr(attr, dtype)
        if dtype.subdtype:
            dtype = dtype.subdtype[0]
        check(same_list(f, got["value"], value, dtype), "%s: attribute %s: %.200s is not %.200s", path,
              name, got["value"], value)


def raw_attr(attr, dtype):
    value = np.empty(attr.shape, dtype.subdtype[0] if dtype.subdtype else dtype)
    if dtype.subdtype:
        value = np.empty(attr.shape + dtype.subdtype[1], dtype.subdtype[0])
    plain_bytes = dtype.subdtype or (dtype.kind == "V" and not dtype.names)
    attr.read(value, mtype=attr.get_type() if plain_bytes else None)
    return repair(value, attr.get_type())


def repair(value, htype):
    """h5py gives the elements of a big-endian sequence as if they were little-endian."""
    if isinstance(htype, h5t.TypeVlenID):
        base = htype.get_super().dtype
        out = np.empty(value.shape, object)
        for i, v in np.ndenumerate(value):
            out[i] = v.view(base) if isinstance(v, np.ndarray) and v.size and base.kind in "iuf" else v
        return out
    if isinstance(htype, h5t.TypeCompoundID) and value.dtype.names:
        for i, name in enumerate(value.dtype.names):
            if value.dtype[name].kind == "O":
                value[name] = repair(value[name], htype.get_member_type(i))
    return value


SCALE = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"}


def check_dataset(f, path, d, doc):
    check(doc["kind"] == "dataset", "%s: not a dataset", path)
    check_attrs(f, path, d, doc, SCALE)
    space = d.id.get_space()
    if space.get_simple_extent_type() == h5s.NULL:
        check(doc["shape"] is None, "%s: not null", path)
        return
    check(doc["shape"] == list(d.shape), "%s: shape %s", path, doc["shape"])
    check(doc["maxshape"] == list(d.maxshape), "%s: maxshape %s", path, doc["maxshape"])
    if d.chunks and d.id.get_create_plist().get_layout() == h5d.CHUNKED and path != "/large":
        check(doc["chunk"] == list(d.chunks), "%s: chunk %s", path, doc["chunk"])
        names = [x["name"] for x in doc["filters"]]
        check((d.compression == "gzip") == ("deflate" in names), "%s: deflate", path)
        check(bool(d.shuffle) == ("shuffle" in names), "%s: shuffle", path)
    dtype = readable(d)
    if "data" not in doc:
        return
    if dtype is None:
        check(same_opaque(d.id, doc["data"]), "%s: bytes", path)
        return
    value = d[()]
    if dtype.kind == "O" and d.shape == ():
        value = np.array(value, object)
    value = repair(np.asarray(value), d.id.get_type())
    if dtype.subdtype:
        dtype = dtype.subdtype[0]
    check(same_list(f, doc["data"], value, dtype), "%s: %.300s is not %.300s", path, doc["data"], value)


def is_bare(obj):
    return isinstance(obj, h5py.Dataset) and \
        obj.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension but not") \
        if isinstance(obj.attrs.get("NAME", b""), bytes) else False


def check_group(f, path, group, doc, seen):
    check(doc["kind"] == "group", "%s: not a group", path)
    check_attrs(f, path, group, doc, ())
    extra = {n for n, m in doc["members"].items()
             if m["kind"] == "dimension" and n.endswith(".dim")}
    check(set(group) == set(doc["members"]) - extra, "%s: members %s", path, sorted(doc["members"]))
    for name in group:
        here = path.rstrip("/") + "/" + name
        member = doc["members"][name]
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            check(member == {"kind": "link", "link": "soft", "target": link.path}, "%s: %s", here, member)
        elif isinstance(link, h5py.ExternalLink):
            check(member == {"kind": "link", "link": "external", "file": link.filename,
                             "target": link.path}, "%s: %s", here, member)
        else:
            check_object(f, here, group[name], member, seen)


def check_object(f, path, obj, doc, seen):
    address = h5py.h5o.get_info(obj.id).addr
    if doc["kind"] == "link":
        check(doc["link"] == "hard" and f[doc["target"]] == obj, "%s: %s", path, doc)
    elif is_bare(obj):
        check(doc["kind"] == "dimension" and doc["unlimited"] == (obj.maxshape[0] is None),
              "%s: not a dimension", path)
    elif isinstance(obj, h5py.Group):
        seen.add(address)
        check_group(f, path, obj, doc, seen)
    elif isinstance(obj, h5py.Dataset):
        check_dataset(f, path, obj, doc)
    else:
        check(doc["kind"] == "type", "%s: not a type", path)
        check_attrs(f, path, obj, doc, ())


# ------------------------------------------------------------ HDF5 against HDF5

def plain(v):
    """Values in this machine's order, comparable bit for bit."""
    v = np.asarray(v)
    return v.astype(v.dtype.newbyteorder("="), copy=False)


def same_arrays(fa, a, fb, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "O":
        return all(same_objects(fa, x, fb, y) for x, y in zip(a.ravel(), b.ravel()))
    if a.dtype.names:
        return a.dtype.names == b.dtype.names and all(
            same_arrays(fa, a[n], fb, b[n]) for n in a.dtype.names)
    a, b = plain(a), plain(b)
    if a.dtype != b.dtype:
        return False
    if a.dtype.kind in "fc" and a.dtype.itemsize in (16, 32) and a.dtype.char in "gG":
        # The padding of an x87 number means nothing.
        return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b))))
    return a.tobytes() == b.tobytes()


def same_objects(fa, x, fb, y):
    if isinstance(x, h5py.RegionReference):
        if not x or not y:
            return bool(x) == bool(y)
        return fa[x].name == fb[y].name and all(
            np.array_equal(np.sort(i), np.sort(j)) for i, j in zip(selected(fa, x), selected(fb, y)))
    if isinstance(x, h5py.Reference):
        if not x or not y:
            return bool(x) == bool(y)
        return fa[x].name == fb[y].name
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return same_arrays(fa, [] if x is None else x, fb, [] if y is None else y)
    return x == y


def same_raw(a, b):
    """The stored bytes of a type that keeps its description whatever the representation."""
    ta, tb = a.get_type(), b.get_type()
    if isinstance(ta, h5t.TypeVlenID):
        return isinstance(tb, h5t.TypeVlenID)
    if ta.get_size() != tb.get_size():
        return False
    # Both in the type of the first: binary128 may have changed its order.
    va, vb = read_bytes(a, ta), read_bytes(b, ta)
    return va.tobytes() == vb.tobytes()


def same_data(fa, a, fb, b, path):
    ida, idb = (x.id if isinstance(x, h5py.Dataset) else x for x in (a, b))
    check(ida.get_space().get_simple_extent_type() == idb.get_space().get_simple_extent_type() and
          ida.shape == idb.shape, "%s: shape differs in the export", path)
    if ida.get_space().get_simple_extent_type() == h5s.NULL or 0 in ida.shape:
        return
    if readable(a) is None:
        check(same_raw(ida, idb), "%s: bytes differ in the export", path)
        return
    if isinstance(a, h5py.Dataset):
        if a.size > 1 << 24:
            a, b = np.array([a[:4, :4], a[-4:, -4:]]), np.array([b[:4, :4], b[-4:, -4:]])
        else:
            a, b = (repair(np.asarray(x[()]), x.id.get_type()) for x in (a, b))
    else:
        a, b = raw_attr(ida, readable(a)), raw_attr(idb, readable(b))
    check(same_arrays(fa, a, fb, b), "%s: values differ in the export: %.200s, %.200s", path, a, b)


def same_attrs(fa, a, fb, b, path):
    check(set(a.attrs) == set(b.attrs), "%s: attributes in the export: %s, %s", path, sorted(a.attrs),
          sorted(b.attrs))
    for name in a.attrs:
        same_data(fa, h5py.h5a.open(a.id, name.encode()), fb, h5py.h5a.open(b.id, name.encode()),
                  path + "@" + name)


def same_files(fa, a, fb, b, path, seen):
    same_attrs(fa, a, fb, b, path)
    if isinstance(a, h5py.Dataset):
        check(a.maxshape == b.maxshape, "%s: maxshape in the export", path)
        pa, pb = a.id.get_create_plist(), b.id.get_create_plist()
        if a.chunks and pa.get_layout() == h5d.CHUNKED and path != "/large":
            check(a.chunks == b.chunks and a.compression_opts == b.compression_opts or
                  a.compression is None or a.scaleoffset is not None, "%s: chunks in the export", path)
        if readable(a) is not None and a.dtype.kind in "iuf":
            check(a.fillvalue == b.fillvalue or math.isnan(a.fillvalue), "%s: fill in the export", path)
        same_data(fa, a, fb, b, path)
    if not isinstance(a, h5py.Group) or h5py.h5o.get_info(a.id).addr in seen:
        return
    seen.add(h5py.h5o.get_info(a.id).addr)
    check(set(a) == set(b), "%s: members in the export: %s", path, sorted(b))
    for name in a:
        x, y = a.get(name, getlink=True), b.get(name, getlink=True)
        check(type(x) is type(y), "%s/%s: link in the export", path, name)
        if isinstance(x, h5py.HardLink):
            same_files(fa, a[name], fb, b[name], path.rstrip("/") + "/" + name, seen)
        else:
            check(x.path == y.path, "%s/%s: link in the export", path, name)


# --------------------------------------------------------------------- the cases

def check_status(status, err, warn, what, kept=False):
    check(status == (1 if warn else 0), "%s: exit status %d: %s", what, status, err.strip())
    for text in warn:
        check(text in err, "%s does not name %s: %s", what, text, err.strip())
    check(bool(warn) or kept or not err, "%s says: %s", what, err.strip())
    check(not kept or "kept as annotations" in err, "%s does not count: %s", what, err.strip())


def check_report(c, text):
    """The report: what is kept and nothing else, and what is lost if anything."""
    report = json.loads(text)
    weights = {w: [f for f in report["findings"] if f["weight"] == w] for w in ("kept", "lost")}
    check({f["what"] for f in weights["kept"]} == set(c.kept), "report: kept %s", weights["kept"])
    check(bool(weights["lost"]) == bool(c.warn), "report: lost %s", weights["lost"])
    check(report["result"] == ("lost" if c.warn else "kept" if c.kept else "exact"), "report: %s",
          report["result"])


def h5diff(a, b, how):
    status, out, err = run("h5diff", a, b)
    if how != "types":
        check(status == 0, "h5diff: %s", (out + err)[-600:])
    # Only -v says what was not compared at all.
    if how == "plain":
        return
    status, out, err = run("h5diff", "-v", a, b)
    section = ""
    for line in out.splitlines():
        if re.match(r"[a-z]+ *: <", line):
            section = line
        check(not line.startswith("Not comparable") or "is an empty dataset" in line, "h5diff: %s", line)
        check(not re.match(r"[1-9]\d* differences", line) or section.startswith("datatype"),
              "h5diff: %s: %s", section, line)


def try_case(c, rep, folder):
    h5 = os.path.join(folder, c.name + ".h5")
    drep = os.path.join(folder, "%s-%s.drep" % (c.name, rep))
    back = os.path.join(folder, "%s-%s.h5" % (c.name, rep))
    if not os.path.exists(h5):
        hdf5files.make(h5, c)
    status, out, err = run(DATAREP, "import", "--datarep=" + rep, "--json", h5, drep)
    check_report(c, out)
    check_status(status, err, c.warn, "import", bool(c.kept))
    status, out, err = run(DATAREP, "check", drep)
    check(status == 0, "check: %s", out + err)
    large = os.path.getsize(h5) > 10 << 20 or c.name == "sparse"
    status, out, err = run(DATAREP, "dump", "--json", *(["-H"] if large else []), drep)
    check(status == 0, "dump: %s", err)
    doc = json.loads(out)
    check(doc["datarep"] == rep, "datarep %s", doc["datarep"])
    with h5py.File(h5, "r") as f:
        if c.same:
            check_group(f, "/", f, doc["root"], set())
    status, out, err = run(DATAREP, "export", drep, back)
    check_status(status, err, c.export_warn, "export")
    if not c.same:
        return
    if c.h5diff:
        h5diff(h5, back, c.h5diff)
    with h5py.File(h5, "r") as a, h5py.File(back, "r") as b:
        same_files(a, a, b, b, "/", set())


def check_interrupted(folder):
    """A signal in the middle leaves neither a new file nor a changed old one."""
    big = os.path.join(folder, "big.h5")
    drep = os.path.join(folder, "big.drep")
    with h5py.File(big, "w") as f:
        f["d"] = np.arange(12 << 20)
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


def main():
    only = sys.argv[1:]
    cases = [c for c in hdf5files.CASES if not only or c.name in only]
    tests = [("%s under %s" % (c.name, rep), c, rep) for c in cases for rep in REPS]
    if not only or "interrupted" in only:
        tests.append(("interrupted", None, None))
    print("1..%d" % len(tests))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for n, (name, c, rep) in enumerate(tests, 1):
            try:
                if c is None:
                    check_interrupted(folder)
                else:
                    try_case(c, rep, folder)
                print("ok %d - %s" % (n, name), flush=True)
            except Exception as e:  # whatever goes wrong is this case's failure
                failed += 1
                why = str(e) if isinstance(e, Differ) else "%s: %s" % (type(e).__name__, e)
                print("not ok %d - %s" % (n, name))
                print("# " + why.replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
