#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-numpy - .npy and .npz files through import and export, against NumPy.

Random dtypes (every kind, both orders, nested, blocks, padding, titles), shapes, orders of
elements and versions of the format.  What `datarep dump --json` says of the import must be
what NumPy reads; what export makes must be equal when NumPy reads it.  Broken files must be
refused with nothing made.  TAP on stdout.
"""
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile

from cases import over

try:
    import numpy as np
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
MODULE = os.path.join(os.path.dirname(DATAREP), "datarep-zip.so")
SEED = int(os.environ.get("DREP_TEST_SEED", "1"))
np.seterr(all="ignore")
warnings.simplefilter("ignore")  # that older NumPys cannot read a version


class Differ(Exception):
    pass


def check(condition, text, *args):
    if not condition:
        raise Differ(text % args)


def run(*command, **more):
    p = subprocess.run([DATAREP, *over(command)], capture_output=True, timeout=300, check=False, **more)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")


def fine(*command):
    status, out, err = run(*command)
    check(status == 0 and not err, "datarep %s: status %d: %s", " ".join(command), status, err)
    return out


# ---------------------------------------------------------------- random arrays

def random_leaf(r):
    kind = r.choice("?bBhHiIqQefdgFDGSUVMm")
    order = r.choice("<>")
    if kind == "S":
        return "S%d" % r.choice([1, 2, 7, 33])
    if kind == "U":
        return "%sU%d" % (order, r.choice([1, 3, 12]))
    if kind == "V":
        return "V%d" % r.choice([1, 5, 16])
    if kind in "Mm":
        return "%s%s8[%s]" % (order, kind, r.choice(["ns", "s", "D", "25us", "Y"]))
    if kind in "gG":
        return "<" + kind  # NumPy has no other order of these on this machine
    return order + kind


def random_dtype(r, depth=0):
    if depth > 2 or r.random() < (0.5 if depth == 0 else 0.75):
        return np.dtype(random_leaf(r))
    fields = []
    for i in range(r.randrange(1, 5)):
        name = r.choice(["a", "bb", "été", "with space", "'q\"\\", "x.y", "\u4e2d"]) + str(i)
        if r.random() < 0.1:
            name = ("title %d" % i, name)
        field = (name, random_dtype(r, depth + 1))
        if r.random() < 0.3:
            field += (tuple(r.randrange(1, 4) for _ in range(r.randrange(1, 3))),)
        fields.append(field)
    return np.dtype(fields, align=r.random() < 0.3)


def random_texts(r, a):
    letters = "abc \u00e9\u4e2d\U0001f600'\",\n"
    for i in range(a.size):
        n = r.randrange(0, a.dtype.itemsize // 4 + 1)
        a.flat[i] = "".join(r.choice(letters) for _ in range(n))


def fill(r, a):
    """Random values into an array, in place: random bytes where any bytes are a value."""
    if a.dtype.names:
        for name in a.dtype.names:
            fill(r, a[name])
        return
    kind = a.dtype.kind
    if kind == "U":
        random_texts(r, a)
    elif kind == "S":
        for i in range(a.size):
            a.flat[i] = bytes(r.choice(b"ab\x00\xffz\xc3\xa9") for _ in range(a.dtype.itemsize))
    elif kind == "b":
        a[...] = np.array([r.random() < 0.5 for _ in range(a.size)]).reshape(a.shape)
    elif a.dtype.char in "gG":
        v = np.array([r.choice([0, -0.0, 1 / 3, 1e300, float("inf"), float("nan"), r.gauss(0, 1)])
                      for _ in range(2 * a.size)]).astype("g") / np.longdouble(3)
        v = v[:a.size] + (1j * v[a.size:] if a.dtype.char == "G" else 0)
        a[...] = v.reshape(a.shape)
    else:
        raw = np.frombuffer(r.randbytes(a.size * a.dtype.itemsize), dtype=a.dtype)
        # Signalling NaNs do not come through every assignment as they are.
        if kind in "fc":
            raw = np.where(raw == raw, raw, np.nan).astype(a.dtype)
        a[...] = raw.reshape(a.shape)


def random_array(r):
    dtype = random_dtype(r)
    shape = tuple(r.choice([0, 1, 2, 3, 5]) if r.random() < 0.2 else r.randrange(1, 5)
                  for _ in range(r.randrange(0, 4)))
    a = np.zeros(shape, dtype, order=r.choice("CF"))
    fill(r, a)
    return a


# ---------------------------------------------------------------- values compared

def real(v, char):
    """A number of the JSON, as this NumPy type."""
    m = isinstance(v, str) and re.fullmatch(r"(-?)0x1(?:\.([0-9a-f]*))?p([+-]\d+)", v)
    if m:
        digits = m[2] or ""
        n = int("1" + digits, 16)
        value = np.longdouble(0)
        for shift in range(0, 130, 32):  # in pieces, so that none is rounded
            piece = np.longdouble((n >> shift) & 0xffffffff)
            value += np.ldexp(piece, shift + int(m[3]) - 4 * len(digits))
        return -value if m[1] else value
    if char == "g":  # a binary64 has it, or it is in hexadecimal
        return np.longdouble(float(v))
    return np.dtype(char).type(float(v))


def same_real(want, got):
    return (want != want and got != got) or (want == got and np.signbit(want) == np.signbit(got))


def compare(want, got, where):
    """One NumPy scalar, or array of a field's block, and what the JSON has."""
    if isinstance(want, np.ndarray) and want.shape:
        check(isinstance(got, list) and len(got) == len(want), "%s: %r is not %r", where, got, want)
        for i, (a, b) in enumerate(zip(want, got)):
            compare(a, b, "%s[%d]" % (where, i))
        return
    dtype = want.dtype
    if dtype.names:
        check(list(got) == list(dtype.names), "%s: members %s", where, list(got))
        for name in dtype.names:
            compare(want[name], got[name], "%s.%s" % (where, name))
        return
    kind, ok = dtype.kind, False
    if kind == "b":
        ok = got is bool(want)
    elif kind in "iu":
        ok = int(got) == int(want)
    elif kind in "Mm":
        ok = int(got) == int(want.astype("i8"))
    elif kind == "f":
        ok = same_real(want, real(got, dtype.char))
    elif kind == "c":
        part = dtype.type(0).real.dtype.char
        ok = same_real(want.real, real(got[0], part)) and same_real(want.imag, real(got[1], part))
    elif kind == "S":
        ok = got == want.item().decode("utf-8", "surrogateescape")
    elif kind == "U":
        ok = got == str(want)
    elif kind == "V":
        ok = got == want.tobytes().hex()
    check(ok, "%s: %r is not %r", where, got, want)


def parts(dtype):
    """The leaves of a dtype, without what export need not keep: orders, room behind texts."""
    if dtype.names:
        return [(n, parts(dtype.fields[n][0])) for n in dtype.names]
    if dtype.subdtype:
        return [parts(dtype.subdtype[0]), dtype.subdtype[1]]
    return "U" if dtype.kind == "U" else dtype.newbyteorder("=").str


def equal(a, b):
    """Equal shapes, leaves and values; bytes of numbers and all."""
    if a.shape != b.shape or parts(a.dtype) != parts(b.dtype):
        return False
    if a.dtype.names:
        return all(equal(a[n], b[n]) for n in a.dtype.names)
    if a.dtype.char in "gG":  # with bytes that mean nothing
        x, y = a.ravel(), b.ravel()
        return all(same_real(p.real, q.real) and same_real(p.imag, q.imag) for p, q in zip(x, y))
    if a.dtype.kind == "U":
        return a.tolist() == b.tolist()
    if a.dtype.kind in "fc":
        a = np.where(a == a, a, np.nan)
        b = np.where(b == b, b, np.nan)
    return a.astype(a.dtype.newbyteorder("=")).tobytes() == b.astype(b.dtype.newbyteorder("=")).tobytes()


# ---------------------------------------------------------------------- the cases

def save(path, a, version):
    if re.search("[^\0-\xff]", repr(a.dtype)):
        version = (3, 0)  # the others are Latin-1
    with open(path, "wb") as f:
        np.lib.format.write_array(f, a, version=version, allow_pickle=False)


def in_columns(path):
    """Whether the file has its elements in Fortran's order."""
    with open(path, "rb") as f:
        return b"'fortran_order': True" in f.read(65536)


def random_case(tmp, seed):
    r = random.Random(seed)
    a = random_array(r)
    version = r.choice([None, (2, 0), (3, 0)])
    source, drep, back = (os.path.join(tmp, n) for n in ("x.npy", "x.drep", "y.npy"))
    save(source, a, version)
    rep = r.choice(["internal", "external32", "native"])
    fine("import", "--datarep=" + rep, source, drep)
    got = json.loads(fine("dump", "--json", drep))["root"]["members"]["x"]
    check(got["shape"] == list(a.shape), "shape %s, not %s", got["shape"], a.shape)
    if a.size:
        compare(a, got["data"], "x")
    fine("export", drep, back)
    b = np.load(back)
    check(equal(a, b), "exported %r %r is not %r %r", b.dtype, b, a.dtype, a)
    if a.size and "U" not in str(a.dtype.descr):  # texts come in rows
        check(in_columns(back) == in_columns(source), "exported in another order")
    # What it wrote itself, it reads back to the same file.
    fine("import", back, drep)
    again = os.path.join(tmp, "z.npy")
    fine("export", drep, again)
    with open(back, "rb") as f, open(again, "rb") as g:
        check(f.read() == g.read(), "a second export differs")


def random_cases(tmp, first, n):
    for seed in range(first, first + n):
        try:
            random_case(tmp, SEED * 100000 + seed)
        except Differ as e:
            raise Differ("DREP_TEST_SEED=%d, case %d: %s" % (SEED, seed, e)) from e


def large(tmp, order):
    """More than one block, and chunks that columns are gathered into."""
    a = np.asarray(np.arange(3 * 700 * 1100, dtype=">i4").reshape(3, 700, 1100), order=order)
    source, drep, back = (os.path.join(tmp, n) for n in ("l.npy", "l.drep", "m.npy"))
    np.save(source, a)
    fine("import", "--filters=shuffle,zstd:1", source, drep)
    fine("export", drep, back)
    check(np.array_equal(np.load(back), a) and in_columns(back) == (order == "F"), "values or their order differ")
    fine("export", "--root=/l[1,10:600:7,::-1]".replace("::-1", "5:1000:3"), drep, back)
    check(np.array_equal(np.load(back), a[1, 10:600:7, 5:1000:3]), "a slice differs")
    fine("export", "--root=/l[0:3:2,690:700,3:1100:5]", drep, back)
    check(np.array_equal(np.load(back), a[::2, 690:, 3::5]), "a slice of all dimensions differs")


def into(tmp):
    """Into what is there: other types, dimensions that grow, elements behind others."""
    schema, drep = os.path.join(tmp, "i.yaml"), os.path.join(tmp, "i.drep")
    with open(schema, "w") as f:
        f.write("dims: {t: unlimited}\nroot: {g: {x: {dataset: FLOAT16, dims: [t], chunk: [3]}}}\n")
    np.save(os.path.join(tmp, "i.npy"), np.arange(5))
    source = os.path.join(tmp, "i.npy")
    fine("import", "-s", schema, "-i", "/g/x", source, drep)
    fine("import", "-a", "-i", "/g/x", source, drep)
    got = json.loads(fine("dump", "--json", drep, "/g/x"))["object"]["data"]
    check(got == [0, 1, 2, 3, 4] * 2, "%s", got)
    fine("import", "-u", "-i", "/new/group/y", source, drep)
    got = json.loads(fine("dump", "--json", drep, "/new/group/y"))["object"]["data"]
    check(got == [0, 1, 2, 3, 4], "%s", got)
    np.save(source, np.array([1e5]))
    status, out, err = run("import", "-a", "-i", "/g/x", source, drep)
    check(status == 4 and "does not fit" in err, "%d %s", status, err)
    got = json.loads(fine("dump", "--json", drep, "/g/x"))["object"]["data"]
    check(len(got) == 10, "a refused import has left something")


def archives(tmp):
    r = random.Random(SEED)
    arrays = {n: random_array(r) for n in ("a", "group/b", "group/c", "été", "empty")}
    arrays["empty"] = np.zeros((0, 3))
    for save_archive in (np.savez, np.savez_compressed):
        source, drep, back = (os.path.join(tmp, n) for n in ("x.npz", "x.drep", "y.npz"))
        save_archive(source, **arrays)
        fine("import", source, drep)
        fine("export", drep, back)
        with np.load(back) as z:
            check(sorted(z) == sorted(arrays), "members %s", sorted(z))
            for name, a in arrays.items():
                check(equal(a, z[name]), "%s: %r is not %r", name, z[name], a)
        check(zipfile.ZipFile(back).testzip() is None, "zipfile finds it damaged")
        fine("export", "--root=/group", drep, back)
        with np.load(back) as z:
            check(sorted(z) == ["b", "c"], "members of a group %s", sorted(z))
    # One member that only Python can read leaves the others.
    np.savez(source, first=np.arange(3), objects=np.array([{}, None], dtype=object), last=np.arange(4))
    status, _, err = run("import", source, drep)
    check(status == 1 and "objects.npy: warning: the array is left out" in err, "status %d: %s", status, err)
    fine("export", drep, back)
    with np.load(back) as z:
        check(sorted(z) == ["first", "last"], "members beside objects %s", sorted(z))


def damaged_archive(tmp):
    source, drep = os.path.join(tmp, "d.npz"), os.path.join(tmp, "d.drep")
    np.savez_compressed(source, a=np.arange(1000), b=np.arange(10))
    whole = open(source, "rb").read()
    for cut in list(range(0, len(whole), 37)) + [len(whole) - 1]:
        broken(tmp, whole[:cut], "d.npz", "cut at %d" % cut)
    r = random.Random(SEED)
    for _ in range(60):
        at = r.randrange(len(whole))
        bad = bytearray(whole)
        bad[at] ^= 1 << r.randrange(8)
        broken(tmp, bytes(bad), "d.npz", "byte %d" % at, may_be_fine=True)
    with zipfile.ZipFile(source, "w") as z:
        z.writestr("readme.txt", "hello")
        z.writestr("a.npy", npy(np.arange(3)))
    status, _, err = run("import", source, drep)
    check(status == 1 and "readme.txt" in err, "%d %s", status, err)


def npy(a):
    f = io.BytesIO()
    np.save(f, a)
    return f.getvalue()


def broken(tmp, image, name, what, may_be_fine=False):
    source, drep = os.path.join(tmp, name), os.path.join(tmp, "broken.drep")
    with open(source, "wb") as f:
        f.write(image)
    if os.path.exists(drep):
        os.unlink(drep)
    status, out, err = run("import", "--format=" + name[-3:], source, drep)
    check(not out, "%s: something on stdout", what)
    if may_be_fine and status in (0, 1):
        return
    check(status in (3, 4) and err.startswith("datarep: "), "%s: status %d %s", what, status, err)
    check(not os.path.exists(drep), "%s: a file was made", what)
    check(not [n for n in os.listdir(tmp) if n.startswith(".broken")], "%s: something is left", what)


def damaged(tmp):
    whole = npy(np.zeros(5, [("a", "<i4"), ("b", "U3", (2,))]))
    for cut in list(range(0, 130)) + [len(whole) - 1]:
        broken(tmp, whole[:cut], "t.npy", "cut at %d" % cut)
    r = random.Random(SEED)
    for _ in range(150):
        bad = bytearray(whole)
        at = r.randrange(128)
        bad[at] = r.choice(b"'[](),:{}0989<>|\n\x00\xff")
        broken(tmp, bytes(bad), "t.npy", "byte %d is %d" % (at, bad[at]), may_be_fine=True)


def header(text, version=1):
    body = text.encode("latin1") + b"\n"
    front = b"\x93NUMPY" + bytes([version, 0])
    return front + len(body).to_bytes(2 if version == 1 else 4, "little") + body


def refused(tmp):
    for text, pattern in (
            ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "Python objects"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "2.62"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "2.62"),
            ("{'descr': '<f8', 'fortran_order': False}", "missing"),
            ("{'descr': '<f8', 'fortran_order': 1, 'shape': ()}", "True or False"),
            ("{'descr': '<f3', 'fortran_order': False, 'shape': ()}", "unknown dtype"),
            ("{'descr': 'f8', 'fortran_order': False, 'shape': ()}", "order of bytes"),
            ("{'descr': [], 'fortran_order': False, 'shape': ()}", "without fields"),
            ("{'descr': " + "[('a', " * 40 + "'<i4'" + ")]" * 40 +
             ", 'fortran_order': False, 'shape': ()}", "too deep"),
            ("{'descr': '<i4', 'fortran_order': False, 'shape': (" + "1," * 33 + ")}", "32 dim"),
            ("{'descr': [('a', '<i4', (1000000, 1000000))], 'fortran_order': False, 'shape': ()}",
             "too many"),
            ("{'descr': [('a', '<i4'), ('a', '<i4')], 'fortran_order': False, 'shape': ()}", "twice"),
            ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}", "ends before"),
            ("{'descr': '<i4', 'fortran_order': False, 'shape': ()} + 1", "after the header")):
        source = os.path.join(tmp, "r.npy")
        with open(source, "wb") as f:
            f.write(header(text))
        status, _, err = run("import", source, os.path.join(tmp, "r.drep"))
        check(status in (2, 4) and re.search(pattern, err), "%s: %d %s", text[:60], status, err)
    for version in (0, 4):
        with open(source, "wb") as f:
            f.write(header("{}", version))
        status, _, err = run("import", source, os.path.join(tmp, "r.drep"))
        check(status == 4 and "version" in err, "version %d: %d %s", version, status, err)


def not_unicode(tmp):
    a = np.zeros(3, "<U2")
    image = bytearray(npy(a))
    image[-4:] = (0xd800).to_bytes(4, "little")
    broken(tmp, bytes(image), "u.npy", "a surrogate")
    _, _, err = run("import", os.path.join(tmp, "u.npy"), os.path.join(tmp, "u.drep"))
    check("element 2" in err, "%s", err)


def rest_is_said(tmp):
    source, drep = os.path.join(tmp, "rest.npy"), os.path.join(tmp, "rest.drep")
    with open(source, "wb") as f:
        f.write(npy(np.arange(4)) + b"more")
    status, _, err = run("import", source, drep)
    check(status == 1 and "4 bytes" in err, "%d %s", status, err)


def from_a_pipe(tmp):
    source, drep = os.path.join(tmp, "p.npy"), os.path.join(tmp, "p.drep")
    a = np.arange(6000000, dtype="i4")
    np.save(source, a)
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        status, _, err = run("import", "--format=npy", "-", drep, stdin=cat.stdout)
    check(status == 0, "%d %s", status, err)
    out = fine("export", "--format=npy", drep, "-")
    check(np.array_equal(np.load(io.BytesIO(out)), a), "values differ")


def no_dtype(tmp):
    schema, drep, back = (os.path.join(tmp, n) for n in ("n.yaml", "n.drep", "n.npz"))
    with open(schema, "w") as f:
        f.write("root: {a: {dataset: seq(INT), data: [1, 2]}, b: {dataset: INT, data: [1]},\n"
                "  c: {dataset: FLOAT128, data: [0.1]}}\n")
    fine("create", "-s", schema, drep)
    status, _, err = run("export", "--root=/a", drep, os.path.join(tmp, "n.npy"))
    check(status == 4 and "sequence" in err, "%d %s", status, err)
    status, _, err = run("export", drep, back)
    check(status == 1 and "sequence" in err and "rounded" in err, "%d %s", status, err)
    check(sorted(np.load(back)) == ["b", "c"], "the rest is there")
    status, _, err = run("export", drep, os.path.join(tmp, "n.npy"))
    check(status == 2 and "3 datasets" in err, "%d %s", status, err)


def every_type(tmp):
    """All datatypes of the schema that has them all."""
    here = os.path.dirname(os.path.abspath(__file__))
    drep, back = os.path.join(tmp, "all.drep"), os.path.join(tmp, "all.npz")
    fine("create", "-s", os.path.join(here, "../cli/all.yaml"), drep)
    status, _, err = run("export", drep, back)
    check(status == 1, "%d %s", status, err)
    with np.load(back) as z:
        check(z["INT64_T"].tolist() == [-2**63, 2**63 - 1], "%s", z["INT64_T"])
        check(z["FLOAT16"].tolist() == [float(np.float16(v)) for v in (0.1, 65504, 6e-8)], "%s", z["FLOAT16"])
        check(z["colour values"].tolist() == [0, -2, 1], "%s", z["colour values"])
        check(z["flags"].tolist() == [True, False, True], "%s", z["flags"])
        check(z["strings"].tolist() == ["a", "", "größer"], "%s", z["strings"])
        check(z["blob"].tolist() == [b"\xff\xff", b"\0\0"], "%s", z["blob"])
        check(z["little"].tolist() == [-8388608, 8388607], "%s", z["little"])
        check(z["CHAR"].tolist() == [b"x", b"\n", b"\xff"], "%s", z["CHAR"])
        check(z["WCHAR"].tolist() == [97, 0x20ac], "%s", z["WCHAR"])
        check(z["BFLOAT16"].dtype == "f4", "%s", z["BFLOAT16"].dtype)
        t = z["tracks"]
        check(t["name"].tolist() == [b"first", b"second"] and t["where"]["y"].tolist() == [1, 3] and
              t["marks"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "%s", t)
    for name in ("UINT128_T", "INT128_T", "ragged", "nested", "see", "null"):
        check(name in err, "%s is not named: %s", name, err)


def stopped(tmp):
    """A signal in the middle leaves nothing."""
    source, drep = os.path.join(tmp, "s.npy"), os.path.join(tmp, "s.drep")
    with open(source, "wb") as f:
        f.write(header("{'descr': '<f8', 'fortran_order': False, 'shape': (400000000,)}"))
        f.truncate(f.tell() + 400000000 * 8)
    for number in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen([DATAREP, "import", "-f", "--filters=shuffle,deflate:9", source, drep],
                              stderr=subprocess.PIPE) as p:
            time.sleep(0.5)
            p.send_signal(number)
            err = p.stderr.read()
            p.wait()
        check(p.returncode == -number and not err, "%d %s", p.returncode, err)
        check(not os.path.exists(drep), "a file was made")
        if number == signal.SIGINT:
            check(not [n for n in os.listdir(tmp) if "s.drep" in n], "something is left")


def memory(tmp):
    """Constant, whatever the size of the file."""
    source, drep, back = (os.path.join(tmp, n) for n in ("big.npy", "big.drep", "big2.npy"))
    with open(source, "wb") as f:
        f.write(header("{'descr': '<f4', 'fortran_order': True, 'shape': (12000, 8000)}"))
        f.truncate(f.tell() + 12000 * 8000 * 4)
    for command in (("import", "--filters=zstd:1", source, drep), ("export", drep, back)):
        pid = os.spawnv(os.P_NOWAIT, DATAREP, [DATAREP, *over(command)])
        _, status, usage = os.wait4(pid, 0)
        check(status == 0, "status %d", status)
        check(usage.ru_maxrss < 320 * 1024, "%s took %d KiB", command[0], usage.ru_maxrss)


def main():
    cases = [("random arrays %d to %d" % (i, i + 24), lambda tmp, i=i: random_cases(tmp, i, 25))
             for i in range(0, 200, 25)]
    cases += [("several blocks, rows first", lambda tmp: large(tmp, "C")),
              ("several blocks, columns first", lambda tmp: large(tmp, "F")),
              ("into datasets that are there", into), ("broken headers", damaged),
              ("headers that are refused", refused), ("texts that are no Unicode", not_unicode),
              ("what follows an array is said", rest_is_said),
              ("through pipes", from_a_pipe), ("a signal in the middle leaves nothing", stopped),
              ("memory stays the same", memory)]
    archive_cases = [("archives", archives), ("broken archives", damaged_archive),
                     ("what has no dtype is said", no_dtype), ("every datatype", every_type)]
    cases += archive_cases
    print("1..%d" % len(cases), flush=True)
    for i, (name, case) in enumerate(cases, 1):
        if (name, case) in archive_cases and not os.path.exists(MODULE):
            print("ok %d - %s # SKIP built without libzip" % (i, name))
            continue
        with tempfile.TemporaryDirectory() as tmp:
            try:
                case(tmp)
                print("ok %d - %s" % (i, name), flush=True)
            except (Differ, subprocess.TimeoutExpired) as e:
                print("not ok %d - %s\n# %s" % (i, name, str(e).replace("\n", "\n# ")), flush=True)


if __name__ == "__main__":
    main()
