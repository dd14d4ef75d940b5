#!/usr/bin/python3
"""run-raw - bare elements and Fortran's records through import and export.

The files come from others: Python's struct, a C compiler (structs with its padding), gfortran
(all lengths and orders of its records, pieces too), and tables of IBM and VAX numbers.  What
`datarep dump --json` says must be what they wrote; what export writes, they must read.  TAP.
"""
import json
import os
import platform
import random
import struct
import subprocess
import sys
import tempfile

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
SEED = int(os.environ.get("DREP_TEST_SEED", "1"))


class Differ(Exception):
    pass


def check(condition, text, *args):
    if not condition:
        raise Differ(text % args if args else text)


def run(*command):
    p = subprocess.run((DATAREP,) + command, capture_output=True, timeout=120, check=False)
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
        write(image, subprocess.run([program], capture_output=True, check=True).stdout)
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
    for more, pattern in ((("--order=F",), "the other way round"), (("--offset=4",), "in their order"),
                          (("--records=5-big",), "--records is")):
        status, _, err = run(*options, "--records=4-little", *more, f, drep)
        check(status == 2 and pattern in err, "%s: %d %s", more, status, err)


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
             ("broken records", broken_records), ("wrong usage", usage), ("into what is there", into),
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
