#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-raw - bare elements, Fortran's and IBM's records through import and export.

The files come from others: Python's struct, a C compiler (structs with its padding), gfortran
(all lengths and orders of its records, pieces too), and tables of IBM and VAX numbers.  What
`datarep dump --json` says must be what they wrote; what export writes, they must read.  TAP.
"""
import errno
import json
import os
import platform
import random
import struct
import subprocess
import sys
import tempfile

from cases import over

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
SEED = int(os.environ.get("DREP_TEST_SEED", "1"))


class Differ(Exception):
    pass


def check(condition, text, *args):
    if not condition:
        raise Differ(text % args if args else text)


def run(*command):
    p = subprocess.run([DATAREP, *over(command)], capture_output=True, timeout=120, check=False)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")


def fine(*command):
    status, out, err = run(*command)
    check(status == 0 and not err, "datarep %s: status %d: %s", " ".join(command), status, err)
    return out


def write(path, image):
    with open(path, "wb") as f:
        f.write(image if isinstance(image, bytes) else image.encode())


def read(path):
    with open(path, "rb") as f:
        return f.read()


def data(drep, path="/x"):
    return json.loads(fine("dump", "--json", drep, path))["object"]["data"]


def places(tmp, *names):
    return (os.path.join(tmp, n) for n in names)


# ---------------------------------------------------------------- bare elements

TYPES = {"INT8_T": "b", "UINT8_T": "B", "INT16_T": "h", "UINT16_T": "H", "INT32_T": "i",
         "UINT32_T": "I", "INT64_T": "q", "UINT64_T": "Q", "FLOAT": "f", "DOUBLE": "d"}


def random_value(r, letter):
    if letter in "fd":
        return r.choice([0.5, -1.25, 3.0, 1e10, r.randrange(-1000, 1000) / 8])
    bits = 8 * struct.calcsize(letter)
    low = 0 if letter.isupper() else -2**(bits - 1)
    return r.randrange(low, low + 2**bits)


def bare(tmp):
    r = random.Random(SEED)
    source, drep, back = places(tmp, "x.raw", "x.drep", "y.raw")
    for rep, order in (("external32", ">"), ("internal", "<"), ("native:s390x", ">"), ("native:i386", "<")):
        for name, letter in TYPES.items():
            n, offset = r.randrange(1, 50), r.choice([0, 3, 16])
            values = [random_value(r, letter) for _ in range(n)]
            image = struct.pack("%s%d%s" % (order, n, letter), *values)
            write(source, b"\xaa" * offset + image)
            fine("import", "--type=" + name, "--datarep=" + rep, "--offset=%d" % offset, source, drep)
            got = [float(v) if letter in "fd" else int(v) for v in data(drep)]
            check(got == values, "%s %s: %s, not %s", rep, name, got, values)
            fine("export", "--datarep=" + rep, drep, back)
            check(read(back) == image, "%s %s: exported otherwise", rep, name)
            # The container's own representation is another matter.
            fine("import", "--type=" + name, "--datarep=" + rep, "--to=native:ppc64",
                 "--offset=%d" % offset, source, drep)
            fine("export", "--format=raw", drep, back)
            check(read(back) == struct.pack(">%d%s" % (n, letter), *values), "as they are: %s", name)


def shapes(tmp):
    source, drep, back = places(tmp, "x.raw", "x.drep", "y.raw")
    values = list(range(24))
    write(source, struct.pack(">24i", *values))
    options = ("--type=INT32_T", "--datarep=external32")
    rows = [[[12 * i + 4 * j + k for k in range(4)] for j in range(3)] for i in range(2)]
    columns = [[[i + 2 * j + 6 * k for k in range(4)] for j in range(3)] for i in range(2)]
    for shape in ("2,3,4", "*,3,4", "2,*,4", "2,3,*"):
        fine("import", "--shape=" + shape, *options, source, drep)
        check(data(drep) == rows, "%s: %s", shape, data(drep))
        fine("import", "--order=F", "--shape=" + shape, *options, source, drep)
        check(data(drep) == columns, "%s, columns first: %s", shape, data(drep))
        fine("export", "--order=F", "--datarep=external32", drep, back)
        check(read(back) == read(source), "exported by columns")
        fine("export", "--order=F", "--datarep=external32", "--root=/x[1,:,::2]", drep, back)
        want = [columns[1][j][k] for k in (0, 2) for j in range(3)]
        check(read(back) == struct.pack(">6i", *want), "a slice by columns")
    status, _, err = run("import", "--shape=5", *options, source, drep)
    check(status == 1 and "76 bytes after the last element" in err, "%d %s", status, err)
    for shape, pattern in (("25", "there are 24"), ("2,x", "--shape is lengths"), ("*,*", "--shape is lengths"),
                           ("3,", "--shape is lengths"), ("-1", "--shape is lengths"),
                           ("99999999999,99999999999", "elements of 4 bytes were asked for")):
        status, _, err = run("import", "--shape=" + shape, *options, source, drep)
        check(status in (2, 4) and pattern in err, "%s: %d %s", shape, status, err)
    write(source, b"12345")
    status, _, err = run("import", *options, source, drep)
    check(status == 4 and "not a whole number" in err and "byte 4" in err, "%d %s", status, err)


def large(tmp):
    """Several blocks, both ways round."""
    source, drep, back = places(tmp, "x.raw", "x.drep", "y.raw")
    rows, columns = 1500, 2300
    image = struct.pack("<%di" % (rows * columns), *range(rows * columns))
    write(source, image)
    for order in "CF":
        fine("import", "--order=" + order, "--shape=%d,%d" % (rows, columns), "--type=INT32_T",
             "--datarep=internal", source, drep)
        fine("export", "--order=" + order, "--datarep=internal", drep, back)
        check(read(back) == image, "order %s", order)
        fine("export", "--order=" + "FC"[order == "F"], "--datarep=internal", drep, back)
        turned = [0] * (rows * columns)
        for i in range(rows):
            if order == "C":
                turned[i::rows] = range(i * columns, (i + 1) * columns)
            else:
                turned[i * columns:(i + 1) * columns] = range(i, rows * columns, rows)
        check(read(back) == struct.pack("<%di" % (rows * columns), *turned), "turned from %s", order)


C_SOURCE = r"""
#include <stdio.h>
#include <string.h>
struct inner { char c; double d; };
struct record { short s; struct inner in[2]; float f; char name[5]; long long q; };
int main(void)
{
    for (int i = 0; i < 3; i++) {
        struct record r;
        memset(&r, 0, sizeof r);
        r.s = (short)(i - 1);
        r.in[0].c = 'a'; r.in[0].d = i + 0.5; r.in[1].c = 'z'; r.in[1].d = -i;
        r.f = i * 0.25f; strcpy(r.name, "nm"); r.q = 1000000000000ll * i;
        fwrite(&r, sizeof r, 1, stdout);
    }
    return 0;
}
"""
RECORD = "struct{s: SHORT, in: struct{c: CHAR, d: DOUBLE}[2], f: FLOAT, name: string(5), q: LONG_LONG}"


def output(program):
    """What a program prints, of an i386 one by qemu where the kernel runs none."""
    try:
        run_it = subprocess.run([program], capture_output=True, check=True)
    except OSError as e:
        if e.errno != errno.ENOEXEC:
            raise
        run_it = subprocess.run(["qemu-i386-static", program], capture_output=True, check=True)
    return run_it.stdout


def structs(tmp):
    """A compiler's structs: its padding under native, none under external32."""
    source, program, image, drep, back = places(tmp, "s.c", "s", "x.raw", "x.drep", "y.raw")
    write(source, C_SOURCE)
    compilers = [("native", ["gcc"])]
    if subprocess.run(["sh", "-c", "command -v i686-linux-gnu-gcc"], capture_output=True, check=False).returncode == 0:
        compilers.append(("native:i386", ["i686-linux-gnu-gcc", "-static"]))
    want = [{"s": i - 1, "in": [{"c": "a", "d": i + 0.5}, {"c": "z", "d": -i}], "f": i / 4, "name": "nm",
             "q": 1000000000000 * i} for i in range(3)]
    for rep, compiler in compilers:
        subprocess.run(compiler + ["-o", program, source], check=True)
        write(image, output(program))
        fine("import", "--type=" + RECORD, "--datarep=" + rep, image, drep)
        check(data(drep) == want, "%s: %s", rep, data(drep))
        fine("export", "--datarep=" + rep, drep, back)
        check(read(back) == read(image), "%s: exported otherwise", rep)
    packed = b"".join(struct.pack(">hcdcdf5sq", i - 1, b"a", i + 0.5, b"z", -i, i / 4, b"nm", 1000000000000 * i)
                      for i in range(3))
    write(image, packed)
    fine("import", "--type=" + RECORD, "--datarep=external32", image, drep)
    check(data(drep) == want, "packed: %s", data(drep))
    fine("export", "--datarep=external32", drep, back)
    check(read(back) == packed, "packed: exported otherwise")


LEGACY = """
datareps:
  ibm: {order: big, types: {FLOAT: ibm-hex32, DOUBLE: ibm-hex64, INT: {size: 4}, CHAR: ebcdic}}
  vax: {order: little, types: {FLOAT: vax-f, DOUBLE: vax-d, REAL8: vax-g}}
  cray: {order: big, types: {FLOAT: cray64, DOUBLE: cray64, INT: {size: 8}}}
  pdp: {order: little, types: {INT: {size: 4, order: vax}}}
"""
# Numbers as the manuals of these machines print them, and text in EBCDIC.
NUMBERS = [
    ("ibm", "FLOAT", "42640000 c276a000 41100000 00000000 40800000", [100, -118.625, 1, 0, 0.5]),
    ("ibm", "DOUBLE", "4110000000000000 c276a00000000000 401999999999999a", [1, -118.625, 0.1]),
    ("ibm", "INT", "00000001 ffffffff", [1, -1]),
    ("ibm", "CHAR", "c8858193a3884b", list("Health.")),
    ("vax", "FLOAT", "80400000 a0c10000 49410fdb 00000000", [1, -5, None, 0]),
    ("vax", "DOUBLE", "8040000000000000 20c2000000000000", [1, -10]),
    ("vax", "REAL8", "1040000000000000 44c0000000000000", [1, -10]),
    ("cray", "DOUBLE", "4001800000000000 c003a00000000000", [1, -5]),
    ("cray", "INT", "fffffffffffffffe", [-2]),
    ("pdp", "INT", "01000200", [65538]),
]


def legacy(tmp):
    schema, source, drep, back = places(tmp, "l.yaml", "x.raw", "x.drep", "y.raw")
    write(schema, LEGACY)
    for rep, kind, digits, want in NUMBERS:
        image = bytes.fromhex(digits)
        write(source, image)
        fine("import", "-s", schema, "--type=" + kind, "--datarep=" + rep, source, drep)
        got = data(drep)
        check(all(w is None or g == w for g, w in zip(got, want)) and len(got) == len(want),
              "%s %s: %s, not %s", rep, kind, got, want)
        # Kept as they are, and out again from the table in the file's header.
        fine("import", "-s", schema, "--type=" + kind, "--datarep=" + rep, "--to=" + rep, source, drep)
        fine("export", drep, back)
        check(read(back) == image, "%s %s: exported otherwise: %s", rep, kind, read(back).hex())


# ---------------------------------------------------------------- Fortran's records

FORTRAN = """
program w
  implicit none
  integer :: i, j
  open(10, file='f.dat', form='unformatted', access='sequential', convert='%s')
  do i = 1, 5
    write(10) (dble(10 * i + j), j = 1, 6)
  end do
  close(10)
  open(10, file='m.dat', form='unformatted', access='sequential', convert='%s')
  do i = 1, 3
    write(10) int(i, 2), real(i) / 2, 'abc'
  end do
  write(10)
  close(10)
end program
"""
READER = """
program r
  implicit none
  integer :: i, j
  double precision :: a(6)
  open(10, file='back.dat', form='unformatted', access='sequential', convert='%s', status='old')
  do i = 1, 5
    read(10) a
    if (any(a /= [(dble(10 * i + j), j = 1, 6)])) stop 1
  end do
  read(10, end=1) a
  stop 2
1 continue
end program
"""


def fortran(tmp, source, *options):
    program = os.path.join(tmp, "program")
    write(program + ".f90", source)
    subprocess.run(["gfortran", "-std=gnu", "-o", program, program + ".f90", *options], check=True,
                   capture_output=True)
    return subprocess.run([program], cwd=tmp, check=False).returncode


def records(tmp):
    want = [[float(10 * i + j) for j in range(1, 7)] for i in range(1, 6)]
    mixed = [{"i": i, "x": i / 2, "t": "abc"} for i in range(1, 4)]
    f, m, drep, back = places(tmp, "f.dat", "m.dat", "x.drep", "back.dat")
    for order, rep, name in (("little_endian", "internal", "little"), ("big_endian", "external32", "big")):
        for width, options in ((4, []), (8, ["-frecord-marker=8"]), (4, ["-fmax-subrecord-length=20"])):
            check(fortran(tmp, FORTRAN % (order, order), *options) == 0, "the writer failed")
            form = "%d-%s" % (width, name)
            for how in ("fortran", form):
                fine("import", "--type=DOUBLE", "--shape=*,6", "--datarep=" + rep, "--records=" + how,
                     "-i", "/x", f, drep)
                check(data(drep) == want, "%s %s: %s", form, how, data(drep))
            fine("export", "--datarep=" + rep, "--records=" + form, drep, back)
            if "-fmax-subrecord-length=20" not in options:
                check(read(back) == read(f), "%s: exported otherwise", form)
            check(fortran(tmp, READER % order, *options) == 0, "gfortran reads otherwise: %s", form)
            fine("import", "--type=struct{i: SHORT, x: FLOAT, t: string(3)}", "--datarep=" + rep,
                 "--records=fortran", "-i", "/x", m, drep)
            check(data(drep) == mixed, "%s: %s", form, data(drep))


def broken_records(tmp):
    """Cut anywhere, and with any length changed."""
    f, drep = places(tmp, "f.dat", "x.drep")
    image = b"".join(struct.pack("<i%dsi" % n, n, bytes(n), n) for n in (8, 16, 0, 8))
    good = {0, 16, 40, 48}
    options = ("import", "--type=DOUBLE", "--datarep=internal")
    for cut in range(len(image)):
        write(f, image[:cut])
        status, _, err = run(*options, "--records=4-little", f, drep)
        check((status == 0) == (cut in good), "cut at %d: %d %s", cut, status, err)
        check(status == 0 or "byte" in err, "cut at %d: %s", cut, err)
    lengths = [0, 12, 16, 36, 40, 44, 48, 60]
    for at in lengths:
        for bit in range(32):
            bad = bytearray(image)
            bad[at + bit // 8] ^= 1 << bit % 8
            write(f, bytes(bad))
            if os.path.exists(drep):
                os.unlink(drep)
            status, _, err = run(*options, "--records=4-little", f, drep)
            check(status == 4 and "byte" in err, "bit %d of byte %d: %d %s", bit, at, status, err)
            check(not os.path.exists(drep), "a file was made")
    write(f, image)
    status, _, err = run(*options, "--records=8-big", f, drep)
    check(status == 4, "another form: %d %s", status, err)
    status, _, err = run("import", "--type=DOUBLE[3]", "--datarep=internal", "--records=fortran", f, drep)
    check(status == 4 and "whole number" in err, "%d %s", status, err)
    write(f, b"neither here nor there")
    status, _, err = run(*options, "--records=fortran", f, drep)
    check(status == 4 and "not Fortran records" in err, "%d %s", status, err)
    for more, pattern in ((("--offset=4",), "records are read from the first"),
                          (("--records=5-big",), "--records is")):
        status, _, err = run(*options, "--records=4-little", *more, f, drep)
        check(status == 2 and pattern in err, "%s: %d %s", more, status, err)


# A Fortran program's array A(I,J,K): the first index varies fastest in the file.
SHAPE = (5, 3, 4)


def element(i, j, k):
    return 100.0 * i + 10 * j + k


def column_records(tmp):
    """Arrays of columns in records of any lengths; back in one for each index of the last dimension."""
    r = random.Random(SEED)
    ni, nj, nk = SHAPE
    f, g, drep, back, part = places(tmp, "f.dat", "g.dat", "x.drep", "back.dat", "part.dat")
    want = [[[element(i, j, k) for k in range(nk)] for j in range(nj)] for i in range(ni)]
    values = [element(i, j, k) for k in range(nk) for j in range(nj) for i in range(ni)]
    image = struct.pack(">%dd" % len(values), *values)
    framed = lambda b: struct.pack(">q", len(b)) + b + struct.pack(">q", len(b))
    planes = b"".join(framed(image[n:n + 8 * ni * nj]) for n in range(0, len(image), 8 * ni * nj))
    for cuts in ([], list(range(8 * ni, len(image), 8 * ni)), sorted(r.sample(range(1, len(image)), 9)), [7, 7, 7]):
        ends = [0] + cuts + [len(image)]
        write(f, b"".join(framed(image[a:b]) for a, b in zip(ends, ends[1:])))
        for shape in ("5,3,4", "5,3,*"):
            fine("import", "--type=DOUBLE", "--order=F", "--shape=" + shape, "--datarep=external32",
                 "--records=8-big", "-i", "/x", f, drep)
            check(data(drep) == want, "%s %s: %s", cuts, shape, data(drep))
    options = ("--order=F", "--datarep=external32", "--records=8-big")
    fine("export", *options, drep, back)
    check(read(back) == planes, "exported otherwise: %s", read(back).hex())
    check(fine("export", *options, "--format=raw", drep, "-") == planes, "to a pipe otherwise")
    fine("import", "--type=DOUBLE", "--shape=5,3,4", *options, "-i", "/x", back, g)
    fine("diff", drep, g)
    fine("export", *options, "--root=/x[1:4,2,::2]", drep, part)
    few = b"".join(framed(struct.pack(">3d", *(element(i, 2, k) for i in range(1, 4)))) for k in (0, 2))
    check(read(part) == few, "a part otherwise: %s", read(part).hex())


def large_columns(tmp):
    """Several boxes of several chunks, many records to each mark and many marks."""
    rows, columns = 1500, 2000
    f, drep, back = places(tmp, "f.dat", "x.drep", "back.dat")
    column = lambda j: struct.pack("<i%ddi" % rows, 8 * rows, *(float(i * columns + j) for i in range(rows)), 8 * rows)
    image = b"".join(map(column, range(columns)))
    write(f, image)
    options = ("--order=F", "--records=fortran", "--datarep=internal")
    fine("import", "--type=DOUBLE", "--shape=*,%d" % columns, *options, "-i", "/x", f, drep)
    check(data(drep, "/x[7,3:6]") == [7.0 * columns + j for j in (3, 4, 5)], "%s", data(drep, "/x[7,3:6]"))
    check(data(drep, "/x[1499,1999]") == 1499.0 * columns + 1999, "%s", data(drep, "/x[1499,1999]"))
    fine("export", *options, drep, back)
    check(read(back) == image, "exported otherwise")


# ------------------------------------------------------------------- IBM's records
# As "z/OS DFSMS Using Data Sets" has them: descriptors of 4 bytes, lengths of 2 in big-endian order that
# include their descriptor; segment code 0: whole, 1: first, 2: last, 3: between.

def rdw(contents, code=0):
    return struct.pack(">HBB", len(contents) + 4, code, 0) + contents


def bdw(block, large=False):
    return (struct.pack(">I", len(block) + 4 | 1 << 31) if large else struct.pack(">HH", len(block) + 4, 0)) + block


def spanned(contents, sizes):
    """The segments of a record, cut at random."""
    parts = []
    while contents or not parts:
        n = sizes()
        parts.append(contents[:n])
        contents = contents[n:]
    last = len(parts) - 1
    return [rdw(p, 0 if last == 0 else 1 if i == 0 else 2 if i == last else 3) for i, p in enumerate(parts)]


def blocked(pieces, r, large=False):
    out = b""
    while pieces:
        n = r.randrange(1, 6)
        out += bdw(b"".join(pieces[:n]), large)
        pieces = pieces[n:]
    return out


def unblocked(image, form):
    """The records of a file of V, VB or VBS, by the rules again; None: it breaks them."""
    got, at, record = [], 0, None
    try:
        while at < len(image):
            end = len(image)
            if form != "V":
                n, zero = struct.unpack_from(">HH", image, at)
                if n & 1 << 15:
                    n, zero = struct.unpack_from(">I", image, at)[0] & 2**31 - 1, 0
                end = at + n
                assert zero == 0 and 8 <= n and end <= len(image)
                at += 4
            while at < end:
                n, code, zero = struct.unpack_from(">HBB", image[:end], at)
                assert 4 <= n <= end - at and code < (1 if form == "VB" else 4) and zero == 0
                assert (record is not None) == bool(code & 2)
                record = (record or b"") + image[at + 4:at + n]
                if not code & 1:
                    got.append(record)
                    record = None
                at += n
        return got if record is None else None
    except (AssertionError, struct.error):
        return None


def ibm_blocks(image):
    """The lengths of the blocks."""
    at, sizes = 0, []
    while at < len(image):
        sizes.append(struct.unpack_from(">H", image, at)[0])
        at += sizes[-1]
    return sizes


def ibm(tmp):
    r = random.Random(SEED)
    f, drep, back, again = places(tmp, "f.dat", "x.drep", "back.dat", "y.drep")
    for turn in range(20):
        lengths = [r.randrange(0, 40) for _ in range(r.randrange(1, 60))]
        lists = [[r.randrange(-2**31, 2**31) for _ in range(n)] for n in lengths]
        contents = [struct.pack(">%di" % len(v), *v) for v in lists]
        want = [v for values in lists for v in values]
        segments = [s for c in contents for s in spanned(c, lambda: r.randrange(1, 90))]
        for form, image in (("V", b"".join(map(rdw, contents))), ("V", b"".join(segments)),
                            ("VB", blocked([rdw(c) for c in contents], r)),
                            ("VBS", blocked([rdw(c) for c in contents], r, large=True)),
                            ("VBS", blocked(segments, r))):
            write(f, image)
            fine("import", "--type=INT", "--datarep=external32", "--records=" + form, "-i", "/x", f, drep)
            check(data(drep) == want, "%s, turn %d: %s", form, turn, data(drep))
    # A record for each row, or each element of one dimension; large ones in segments.
    for shape, kind in (((7,), "INT"), ((5, 6), "INT"), ((3, 20000), "INT"), ((30, 4000), "INT")):
        count = 1
        for n in shape:
            count *= n
        image = struct.pack(">%di" % count, *range(count))
        write(f, image)
        text = ",".join(map(str, shape))
        fine("import", "--format=raw", "--type=" + kind, "--datarep=external32", "--shape=" + text, "-i", "/x", f, drep)
        size = len(image) // shape[0]
        rows = [image[i:i + size] for i in range(0, len(image), size)]
        for form in ("V", "VB", "VBS"):
            status, _, err = run("export", "--datarep=external32", "--records=" + form, drep, back)
            if form != "VBS" and size > 32752:
                check(status == 2 and "--records=VBS" in err, "%s %s: %d %s", shape, form, status, err)
                continue
            check(status == 0 and not err, "%s %s: %s", shape, form, err)
            check(unblocked(read(back), form) == rows, "%s %s: other records", shape, form)
            check(form == "V" or max(ibm_blocks(read(back))) <= 32760, "%s %s: a longer block", shape, form)
            fine("import", "--type=INT", "--datarep=external32", "--shape=" + text, "--records=" + form, "-i", "/x",
                 back, again)
            fine("diff", drep, again)


def broken_ibm(tmp):
    """Cut anywhere, and every bit of every descriptor changed: an error with its byte, or the same records."""
    f, drep = places(tmp, "f.dat", "x.drep")
    contents = [struct.pack(">%di" % n, *range(n)) for n in (2, 0, 5, 1)]
    pieces = [rdw(contents[0]), rdw(contents[1]), rdw(contents[2][:7], 1), rdw(contents[2][7:9], 3),
              rdw(contents[2][9:], 2), rdw(contents[3])]
    whole = [rdw(c) for c in contents]
    forms = {"V": b"".join(pieces), "VB": bdw(whole[0] + whole[1]) + bdw(whole[2] + whole[3]),
             "VBS": bdw(b"".join(pieces[:3])) + bdw(b"".join(pieces[3:]))}
    descriptors = {"V": [0, 12, 16, 27, 33, 48], "VB": [0, 4, 16, 20, 24, 48], "VBS": [0, 4, 16, 20, 31, 35, 41, 56]}
    taken = 0
    ends = {"V": {0, 12, 16, 48, 56}, "VB": {0, 20, 56}, "VBS": {0, 64}}
    options = ("import", "--type=INT", "--datarep=external32", "-i", "/x")
    for form, image in forms.items():
        for cut in range(len(image) + 1):
            write(f, image[:cut])
            status, _, err = run(*options, "--records=" + form, f, drep)
            check((status == 0) == (cut in ends[form]), "%s cut at %d: %d %s", form, cut, status, err)
            check(status == 0 or status == 4 and "byte" in err and f in err, "%s cut at %d: %s", form, cut, err)
        for at in descriptors[form]:
            for bit in range(32):
                bad = bytearray(image)
                bad[at + bit // 8] ^= 1 << bit % 8
                write(f, bytes(bad))
                if os.path.exists(drep):
                    os.unlink(drep)
                status, _, err = run(*options, "--records=" + form, f, drep)
                got = unblocked(bytes(bad), form)
                if got is not None and all(len(c) % 4 == 0 for c in got):
                    taken += 1
                    check(status == 0 and data(drep) == [v for c in got for v in struct.unpack(">%di" % (len(c) // 4), c)],
                          "%s, bit %d of byte %d: %d %s", form, bit, at, status, err)
                    continue
                check(status == 4 and "byte" in err and f in err, "%s, bit %d of byte %d: %d %s", form, bit, at, status, err)
                check(not os.path.exists(drep), "a file was made")
    check(taken < 8, "%d changes of bits leave a file of records", taken)
    for image, form, pattern in ((rdw(b"12345678") + rdw(b"1234567"), "V", "record 2, of 7 bytes, is not a whole"),
                                 (forms["VBS"], "VB", "--records=VBS joins them (byte 22)"),
                                 (bdw(b""), "VB", "a block of 4 bytes holds no record (byte 0)"),
                                 (rdw(b"1234", 7), "V", "segment code 7 is not 0, 1, 2 or 3 (byte 2)"),
                                 (rdw(b"1234", 2), "V", "continues no record (byte 2)"),
                                 (rdw(b"1234", 1) + rdw(b"1234"), "V", "before the last segment of another (byte 10)")):
        write(f, image)
        status, _, err = run(*options, "--records=" + form, f, drep)
        check(status == 4 and pattern in err, "%s: %d %s", pattern, status, err)


# ------------------------------------------------------- packed and zoned decimals

def packed(value, digits, r):
    """By IBM's Principles of Operation: digits, then a sign; any of its codes is as good."""
    sign = r.choice("bd") if value < 0 else r.choice("acef")
    return bytes.fromhex(str(abs(value)).zfill(digits // 2 * 2 + 1) + sign)


def zoned(value, digits, r, ascii_too=True):
    text = str(abs(value)).zfill(digits)
    if ascii_too and r.random() < 0.5:
        last = int(text[-1])
        ends = (chr(0x70 + last), "}JKLMNOPQR"[last]) if value < 0 else (text[-1], "{ABCDEFGHI"[last])
        return (text[:-1] + r.choice(ends)).encode()
    zone = r.choice("BD") if value < 0 else r.choice("ACEF")
    return bytes.fromhex("".join("f" + c for c in text[:-1]) + zone + text[-1])


def decimals(tmp):
    r = random.Random(11)
    f, drep = places(tmp, "d.dat", "d.drep")
    for kind, make in (("packed", packed), ("zoned", zoned)):
        for digits in range(1, 39):
            most = 10 ** digits - 1
            values = [0, most, -most, 1, -1] + [r.randint(-most, most) for _ in range(20)]
            write(f, b"".join(make(v, digits, r) for v in values))
            text = "%s(%d%s)" % (kind, digits, ",%d" % r.randint(0, digits) if digits % 2 else "")
            fine("import", "--type=" + text, "--datarep=external32", "-i", "/x", f, drep)
            doc = json.loads(fine("dump", "--json", drep))["root"]["members"]["x"]
            check([int(v) for v in doc["data"]] == values, "%s: %s, not %s", text, doc["data"], values)
            check(doc["type"] == ("INT64_T" if digits < 19 else "INT128_T"), "%s: %s", text, doc["type"])
            check(doc["attributes"]["decimal"]["value"] == text, "%s: %s", text, doc["attributes"])
            os.unlink(drep)


def decimals_in_records(tmp):
    """Members and arrays of a record; the others are converted as ever."""
    r = random.Random(12)
    f, drep = places(tmp, "r.dat", "r.drep")
    rows = [(r.randint(-9999999, 9999999), [r.randint(-99, 99) for _ in range(3)], r.randint(-2 ** 31, 2 ** 31 - 1))
            for _ in range(40)]
    images = [packed(a, 7, r) + b"".join(zoned(x, 2, r, False) for x in b) + struct.pack(">i", c) for a, b, c in rows]
    text = "struct{a: packed(7,2), b: zoned(2)[3], c: INT}"
    for form, image in ((None, b"".join(images)), ("V", b"".join(rdw(x) for x in images))):
        write(f, image)
        fine("import", "--type=" + text, "--datarep=external32", *(["--records=" + form] if form else []), "-i", "/x", f, drep)
        doc = json.loads(fine("dump", "--json", drep))["root"]["members"]["x"]
        check([(e["a"], e["b"], e["c"]) for e in doc["data"]] == rows, "%s: %s", form, doc["data"][:3])
        os.unlink(drep)


def broken_decimals(tmp):
    """Every byte that is no digit or sign is named; none of them is a number."""
    f, drep = places(tmp, "b.dat", "b.drep")
    for text, good, bad in (("packed(3)", b"\x12\x3c", b"\x1a\x3c"), ("packed(3)", b"\x12\x3c", b"\x12\x34"),
                            ("packed(4)", b"\x01\x23\x4c", b"\x11\x23\x4c"), ("zoned(2)", b"\xf1\xc2", b"\xc1\xc2"),
                            ("zoned(2)", b"\xf1\xc2", b"\xf1\x22"), ("zoned(2)", b"12", b" 2")):
        write(f, good * 5 + bad + good)
        status, _, err = run("import", "--type=" + text, "--datarep=external32", "--shape=*" if text[0] == "z" else
                             "--shape=7", f, drep)
        check(status == 4 and "element [5]: byte" in err and text in err, "%s: %d %s", text, status, err)
        check(not os.path.exists(drep), "a file was made")
    for text in ("packed(0)", "packed(39)", "zoned(5,6)", "zoned(5", "packed(x)"):
        status, _, err = run("import", "--type=" + text, f, drep)
        check(status == 2 and "decimals are" in err, "%s: %d %s", text, status, err)


# -------------------------------------------------- records that are not read

def simh(rows):
    return b"".join(struct.pack("<I", len(x)) + x + bytes(len(x) % 2) + struct.pack("<I", len(x)) for x in rows) \
        + struct.pack("<II", 0, 0) + b"\xff" * 4


def awstape(rows):
    image, before = b"", 0
    for x in rows + [b""]:
        image += struct.pack("<HHBB", len(x), before, 0xa0 if x else 0x40, 0) + x
        before = len(x)
    return image


def cos(rows):
    """By the manual of COS: a block control word in each 512 words, a control word behind each record."""
    words = [(8 << 60, x) for x in rows] + [(14 << 60, b""), (15 << 60, b"")]
    flat = []
    for control, x in words:
        x += bytes(-len(x) % 8)
        flat += [x[i:i + 8] for i in range(0, len(x), 8)] + [(control,)]
    blocks = [flat[i:i + 511] for i in range(0, len(flat), 511)]
    image = b""
    for number, block in enumerate(blocks):
        block += [bytes(8)] * (511 - len(block))
        marks = [i for i, w in enumerate(block) if isinstance(w, tuple)] + [511]
        out = [struct.pack(">Q", number << 9 | marks[0])]
        for i, w in enumerate(block):
            if isinstance(w, tuple):
                following = min((m for m in marks if m > i), default=511)
                w = struct.pack(">Q", w[0] | (following - i - 1))
            out.append(w)
        image += b"".join(out)
    return image


def vms(rows):
    return b"".join(struct.pack("<H", len(x)) + x + bytes(len(x) % 2) for x in rows)


def not_read(tmp):
    """What other machines wrote is refused by the name of its blocking, whatever was asked for."""
    r = random.Random(7)
    rows = [r.randbytes(r.choice((8, 80, 800, 4096, 9000))) for _ in range(30)]
    for name, make in (("SIMH", simh), ("AWSTAPE", awstape), ("COS", cos), ("OpenVMS", vms)):
        f, drep = places(tmp, name + ".dat", name + ".drep")
        write(f, make(rows))
        for form in ("fortran", "4-little", "8-big", "VB"):
            status, _, err = run("import", "--type=BYTE", "--datarep=external32", "--records=" + form, f, drep)
            check(status == 4 and name in err and "not read" in err, "%s %s: %d %s", name, form, status, err)
        check(not os.path.exists(drep), "%s: a file was made", name)


def usage(tmp):
    source, drep = places(tmp, "x.raw", "x.drep")
    write(source, bytes(8))
    for options, pattern in (((), "which elements"), (("--type=DUBLE",), "--type=DUBLE"),
                             (("--type=DOUBLE", "--datarep=nonsense"), "nonsense"),
                             (("--type=DOUBLE", "--offset=x"), "--offset is"),
                             (("--type=seq(INT)",), ""), (("--type=vstring",), ""),
                             (("--type=DOUBLE", "--order=Z"), "--order is C or F"),
                             (("--format=what",), "--format is")):
        status, out, err = run("import", *options, source, drep)
        check(status in (2, 4) and not out and pattern in err, "%s: %d %s", options, status, err)
        check(not os.path.exists(drep), "%s: a file was made", options)
    write(os.path.join(tmp, "x.what"), bytes(8))
    status, _, err = run("import", os.path.join(tmp, "x.what"), drep)
    check(status == 2 and "nothing tells what this is" in err, "%d %s", status, err)
    write(os.path.join(tmp, "x.fits"), b"SIMPLE  =                    T")
    status, _, err = run("import", os.path.join(tmp, "x.fits"), drep)
    check(status == 4 and "FITS" in err, "%d %s", status, err)


def into(tmp):
    """Type and shape are those of the dataset where nobody says them."""
    schema, source, drep = places(tmp, "s.yaml", "x.raw", "s.drep")
    write(schema, "dims: {t: unlimited, x: 3}\nroot: {a: {dataset: FLOAT, dims: [t, x], chunk: [2, 3]}}\n")
    write(source, struct.pack(">6f", *range(6)))
    fine("import", "-s", schema, "-i", "/a", "--datarep=external32", source, drep)
    fine("import", "-a", "-i", "/a", "--datarep=external32", source, drep)
    check(data(drep, "/a") == [[0, 1, 2], [3, 4, 5]] * 2, "%s", data(drep, "/a"))
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        p = subprocess.run([DATAREP, "import", "-u", "-i", "/a", "--format=raw", "--datarep=external32", "-",
                            drep], stdin=cat.stdout, check=False)
    check(p.returncode == 0 and data(drep, "/a") == [[0, 1, 2], [3, 4, 5]], "through a pipe")
    check(fine("export", "--format=raw", "--root=/a", "--datarep=external32", drep, "-") == read(source),
          "to standard output")


def rounded(tmp):
    """What this machine's long double does not hold is said."""
    schema, drep, back, again = places(tmp, "s.yaml", "x.drep", "y.raw", "z.drep")
    write(schema, 'root: {x: {dataset: LONG_DOUBLE, data: [1, "0x1.0000000000000000000000000001p+0", 3]}}')
    fine("create", "--datarep=external32", "-s", schema, drep)
    bits = fine("dump", "--raw", "--as=external32", drep, "/x")
    status, _, err = run("export", "--format=raw", drep, back)
    here = platform.machine() in ("x86_64", "i686")
    check((status, "1 values are rounded" in err) == ((1, True) if here else (0, False)), "export: %d %s", status, err)
    write(back, bits)
    status, _, err = run("import", "--type=LONG_DOUBLE", "--datarep=external32", "--to=external32", "-i", "/x",
                         "--format=raw", back, again)
    # The file has it as it has FLOAT128: nothing passes through the machine's own.
    check((status, err) == (0, ""), "import: %d %s", status, err)
    check(data(again, "/x") == data(drep, "/x"), "%s", data(again, "/x"))
    pair = fine("dump", "--raw", "--as=native:ppc64", drep, "/x")
    write(back, pair)
    status, _, err = run("import", "-u", "--type=LONG_DOUBLE", "--datarep=native:ppc64", "-i", "/x",
                         "--format=raw", back, again)
    check((status, "1 values are rounded" in err) == ((1, True) if here else (0, False)), "pairs: %d %s", status, err)


def main():
    cases = [("bare elements of all orders", bare), ("shapes, and columns first", shapes),
             ("several blocks", large), ("structs of a compiler", structs),
             ("numbers of IBM, VAX and Cray", legacy), ("gfortran's records", records),
             ("broken records", broken_records),
             ("arrays of columns in records", column_records), ("large arrays of columns", large_columns),
             ("IBM's records", ibm), ("IBM's records, broken", broken_ibm), ("other blockings", not_read),
             ("decimals", decimals), ("decimals in records", decimals_in_records), ("broken decimals", broken_decimals),
             ("wrong usage", usage), ("into what is there", into),
             ("digits that this machine has not", rounded)]
    print("1..%d" % len(cases), flush=True)
    for i, (name, case) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                case(tmp)
                print("ok %d - %s" % (i, name), flush=True)
            except FileNotFoundError as e:
                if e.filename in ("gfortran", "gcc"):
                    print("ok %d - %s # SKIP no %s" % (i, name, e.filename), flush=True)
                    continue
                print("not ok %d - %s\n# %s" % (i, name, e), flush=True)
            except (Differ, subprocess.SubprocessError) as e:
                print("not ok %d - %s\n# %s" % (i, name, str(e).replace("\n", "\n# ")), flush=True)


if __name__ == "__main__":
    main()
