#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""limits.py - each predefined Fortran type of the MPI standard, with the ends of its range.

A row of ROWS is a datatype of the standard: how Fortran and C declare it, and its values, each as Fortran
and C write it down (their own huge(), FLT_MAX and so on) and as an exact number, made from the widths of the
format alone.  fortran_program() and c_program() make programs that write a file of all values, or
read one that another wrote and print "DATATYPE NUMBER ok" for each value whose bits are those of their own
constant.  python_write() and python_read() do the same by the package for Python, against the exact numbers.
"""
import re
import warnings
from fractions import Fraction

# What a real is: fraction bits with the leading one, greatest exponent, C's type and its macros.
REALS = {2: (11, 15, "float", None), 4: (24, 127, "float", "FLT_%s"), 8: (53, 1023, "double", "DBL_%s"),
         10: (64, 16383, "long double", "LDBL_%s"), 16: (113, 16383, "_Float128", "__FLT128_%s__")}
NAN = "nan"
MINUS_ZERO = "-0"
INF, MINUS_INF = "inf", "-inf"


class Value:
    def __init__(self, label, fortran, c, exact):
        self.label, self.fortran, self.c, self.exact = label, fortran, c, exact


class Row:
    """fortran: declaration; code: of C's memory (DREP_CODE_...); parts: numbers in an element;
    what: "integer", "real", "logical", "character", "byte"."""

    def __init__(self, datatype, fortran, c, code, what, values, parts=1):
        self.datatype, self.fortran, self.c, self.code = datatype, fortran, c, code
        self.what, self.values, self.parts = what, values, parts


def integers(bits, kind):
    top = 2 ** (bits - 1) - 1
    c = "INT%d_MAX" % bits if bits < 128 else "(__int128)(~(unsigned __int128)0 >> 1)"
    values = [Value(str(n), "%d_%d" % (n, kind), str(n), n) for n in (0, 1, -1)]
    return values + [Value("huge", "huge(1_%d)" % kind, c, top), Value("-huge-1", "-huge(1_%d)-1_%d" % (kind, kind),
                                                                       "-%s - 1" % c, -top - 1)]


def reals(kind):
    """The values of a real; REAL2 has those of binary16, in a real(4)."""
    p, top, c, macro = REALS[kind]
    f = 4 if kind == 2 else kind
    huge = (2 - Fraction(2) ** (1 - p)) * Fraction(2) ** top
    tiny, eps, least = Fraction(2) ** (1 - top), Fraction(2) ** (1 - p), Fraction(2) ** (2 - top - p)
    if macro:
        texts = [("huge(1.0_%d)" % f, macro % "MAX"), ("tiny(1.0_%d)" % f, macro % "MIN"),
                 ("epsilon(1.0_%d)" % f, macro % "EPSILON"),
                 ("nearest(0.0_%d, 1.0_%d)" % (f, f), macro % ("DENORM_MIN" if kind == 16 else "TRUE_MIN"))]
    else:
        texts = [("65504.0_4", "65504.0F"), ("2.0_4**(-14)", "0x1p-14F"), ("2.0_4**(-10)", "0x1p-10F"),
                 ("2.0_4**(-24)", "0x1p-24F")]
    (fh, ch), (ft, ct), (fe, ce), (fl, cl) = texts
    return [Value("1.5", "1.5_%d" % f, "(%s)1.5" % c, Fraction(3, 2)),
            Value("-0", "-0.0_%d" % f, "-(%s)0.0" % c, MINUS_ZERO),
            Value("huge", fh, ch, huge), Value("-huge", "-" + fh, "-" + ch, -huge), Value("tiny", ft, ct, tiny),
            Value("least", fl, cl, least), Value("epsilon", fe, ce, eps),
            Value("1+epsilon", "1.0_%d+%s" % (f, fe), "1 + " + ce, 1 + eps),
            Value("inf", "ieee_value(1.0_%d, ieee_positive_inf)" % f, "(%s)INFINITY" % c, INF),
            Value("-inf", "ieee_value(1.0_%d, ieee_negative_inf)" % f, "-(%s)INFINITY" % c, MINUS_INF),
            Value("nan", "ieee_value(1.0_%d, ieee_quiet_nan)" % f, "(%s)NAN" % c, NAN)]


def complexes(kind):
    """Pairs of a value and the one as far from the end."""
    v = reals(kind)
    return [Value("(%s, %s)" % (a.label, b.label), "cmplx(%s, %s, %d)" % (a.fortran, b.fortran, 4 if kind == 2 else kind),
                  "%s, %s" % (a.c, b.c), (a.exact, b.exact)) for a, b in zip(v, reversed(v))]


def logicals(kind):
    return [Value(".true.", ".true._%d" % kind, "true", True), Value(".false.", ".false._%d" % kind, "false", False)]


CHARACTERS = [Value("achar(%d)" % n, "achar(%d)" % n, "(char)%d" % n, bytes([n])) for n in (0, 32, 65, 122, 127)] + [
    Value("char(%d)" % n, "char(%d)" % n, "(char)%d" % n, bytes([n])) for n in (128, 255)]
# Fortran has bytes in integer(1).
BYTES = [Value(str(n), str(n) + "_1" if n < 128 else "int(%d, 1)" % (n - 256), str(n), n) for n in (0, 1, 127, 128, 255)]
FLOATS = {2: "FLOAT", 4: "FLOAT", 8: "DOUBLE", 10: "LONG_DOUBLE", 16: "FLOAT128"}
PAIRS = {2: "C_FLOAT_COMPLEX", 4: "C_FLOAT_COMPLEX", 8: "C_DOUBLE_COMPLEX", 10: "C_LONG_DOUBLE_COMPLEX", 16: "COMPLEX32"}


def integer_row(name, kind, c, code):
    return Row(name, "integer(%d)" % kind, c, code, "integer", integers(8 * kind, kind))


def real_row(name, kind, declaration=None):
    return Row(name, declaration or "real(%d)" % (4 if kind == 2 else kind), REALS[kind][2], FLOATS[kind], "real", reals(kind))


def complex_row(name, kind, declaration=None):
    return Row(name, declaration or "complex(%d)" % (4 if kind == 2 else kind), REALS[kind][2], PAIRS[kind], "real",
               complexes(kind), 2)


def logical_row(name, kind, declaration=None):
    return Row(name, declaration or "logical(%d)" % kind, "bool", "C_BOOL", "logical", logicals(kind))


# Table E1 of the standard's external32, as far as it is Fortran's, then what gfortran has beside it.
ROWS = [
    integer_row("INTEGER", 4, "int", "INT"),
    integer_row("INTEGER1", 1, "int8_t", "INT8_T"), integer_row("INTEGER2", 2, "int16_t", "INT16_T"),
    integer_row("INTEGER4", 4, "int32_t", "INT32_T"), integer_row("INTEGER8", 8, "int64_t", "INT64_T"),
    integer_row("INTEGER16", 16, "__int128", "INT128_T"),
    integer_row("AINT", 8, "int64_t", "AINT"), integer_row("COUNT", 8, "int64_t", "COUNT"),
    integer_row("OFFSET", 8, "int64_t", "OFFSET"),
    real_row("REAL", 4, "real"), real_row("DOUBLE_PRECISION", 8, "double precision"),
    real_row("REAL2", 2), real_row("REAL4", 4), real_row("REAL8", 8), real_row("REAL16", 16),
    complex_row("COMPLEX", 4, "complex"), complex_row("DOUBLE_COMPLEX", 8),
    complex_row("COMPLEX4", 2), complex_row("COMPLEX8", 4), complex_row("COMPLEX16", 8), complex_row("COMPLEX32", 16),
    logical_row("LOGICAL", 4, "logical"),
] + [logical_row("LOGICAL%d" % k, k) for k in (1, 2, 4, 8, 16)] + [
    Row("CHARACTER", "character(1)", "char", "CHAR", "character", CHARACTERS),
    Row("BYTE", "integer(1)", "unsigned char", "BYTE", "byte", BYTES),
    Row("PACKED", "integer(1)", "unsigned char", "PACKED", "byte", BYTES),
    real_row("LONG_DOUBLE", 10), complex_row("C_LONG_DOUBLE_COMPLEX", 10),
]
# An element's index in all directions: shape in Fortran's order, and the number at (i, j, k), from 1 on.
SHAPE = (4, 6, 3)


def number(i, j, k):
    return 10000 * i + 100 * j + k


# ---- Fortran

FORTRAN_HEAD = """program limits
  use datarep
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: iso_c_binding, only: c_sizeof
  implicit none
  type(drep_file) :: f
  type(drep_dataset) :: d
  character(300) :: how, path, representation
  integer :: cube(%d, %d, %d), i, j, k

  call get_command_argument(1, how)
  call get_command_argument(2, path)
  call get_command_argument(3, representation)
  if (how == "write") call f%%create(path, datarep=representation)
  if (how == "read") call f%%open(path)
""" % SHAPE
FORTRAN_TAIL = """  do k = 1, %d; do j = 1, %d; do i = 1, %d
    cube(i, j, k) = 10000*i + 100*j + k
  end do; end do; end do
  if (how == "write") call f%%write("/cube", cube)
  if (how == "read") then
    call d%%open(f, "/cube")
    if (any(d%%shape() /= shape(cube))) error stop "the cube has another shape"
    cube = 0
    call d%%read(cube)
    do k = 1, %d; do j = 1, %d; do i = 1, %d
      call say("cube", i + 10*j + 100*k, cube(i, j, k) == 10000*i + 100*j + k)
    end do; end do; end do
    call d%%read(i, start=[2, 5, 3])
    call say("cube", 0, i == 20503)
  end if
  call f%%close()
contains
  subroutine say(name, i, good)
    character(*), intent(in) :: name
    integer, intent(in) :: i
    logical, intent(in) :: good

    print "(a, 1x, i0, 1x, a)", name, i, merge("ok", "no", good)
  end subroutine
""" % (SHAPE[::-1] * 2)


def same(row, a, b):
    """Fortran's expression for: a and b are the same value, also of a NaN or a signed zero."""
    if row.what == "logical":
        return "logical(%s .eqv. %s)" % (a, b)
    if row.what != "real":
        return "%s == %s" % (a, b)
    kind = re.search(r"\d+$", row.fortran.rstrip(")"))
    f = "same_%s" % (kind.group(0) if kind else 8 if row.fortran.startswith("double") else 4)
    if row.parts == 1:
        return "%s(%s, %s)" % (f, a, b)
    return "%s(real(%s), real(%s)) .and. %s(aimag(%s), aimag(%s))" % (f, a, b, f, a, b)


SAME = """  logical function same_%d(a, b)
    real(%d), intent(in) :: a, b

    same_%d = (a == b .and. (ieee_is_negative(a) .eqv. ieee_is_negative(b))) .or. (ieee_is_nan(a) .and. ieee_is_nan(b))
  end function
"""


def fortran_program():
    text = [FORTRAN_HEAD]
    for row in ROWS:
        n, name = len(row.values), row.datatype
        typed = 'drep_datatype("%s", c_sizeof(a(1))), ' % name if row.what == "byte" else ""
        text += ["block", "%s :: a(%d), b(%d), s" % (row.fortran, n, n)]
        text += ["a(%d) = %s" % (i + 1, v.fortran) for i, v in enumerate(row.values)]
        text += ['if (how == "write") then', 'call d%%create(f, "/%s", "%s", shape=[%d])' % (name, name, n),
                 "call d%%write(%sa)" % typed, 'call f%%attr_write("/%s", "all", %sa)' % (name, typed), "else",
                 'call d%%open(f, "/%s")' % name, "call d%%read(%sb)" % typed,
                 "do i = 1, %d" % n, 'call say("%s", i, %s)' % (name, same(row, "a(i)", "b(i)")), "end do",
                 'call f%%attr_read("/%s", "all", %sb)' % (name, typed),
                 "do i = 1, %d" % n, "call d%%read(%ss, start=[i])" % typed,
                 'if (.not. (%s)) call say("%s", i, .false.)' % (same(row, "s", "b(i)"), name), "end do",
                 "end if", "end block"]
    return "\n".join(text) + "\n" + FORTRAN_TAIL + "".join(SAME % (k, k, k) for k in (4, 8, 10, 16)) + "end program\n"


# ---- C

C_HEAD = """#include <datarep.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of a datatype: `n` elements of `parts` numbers of `size` bytes, of which `used` count. */
struct row {
    const char *name;
    int code, real, parts, n;
    size_t size, used;
    const void *want;
};

static void must(int err)
{
    if (err) {
        fprintf(stderr, "%s\\n", drep_error());
        exit(1);
    }
}

static int is_nan(const void *p, size_t used)
{
    float f;
    double d;
    long double l;
    _Float128 q;

    switch (used) {
    case 4: return memcpy(&f, p, 4), f != f;
    case 8: return memcpy(&d, p, 8), d != d;
    case 10: return memcpy(&l, p, 10), l != l;
    default: return memcpy(&q, p, 16), q != q;
    }
}
"""
C_TAIL = """
static void write_row(drep_file *f, const struct row *r)
{
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = (int64_t[]){r->n});
    char path[80];
    drep_type *type;
    drep_dataset *d;

    snprintf(path, sizeof path, "/%s", r->name);
    must(drep_type_parse(r->name, &type));
    spec.type = type;
    must(drep_dataset_create(f, path, &spec, &d));
    must(drep_write(d, NULL, drep_predefined(r->code), r->want, NULL));
    must(drep_attr_write(f, path, "all", drep_predefined(r->code), 1, spec.dims, r->want));
    drep_dataset_close(d);
    drep_type_free(type);
}

static void read_row(drep_file *f, const struct row *r)
{
    size_t element = r->size * (size_t)r->parts;
    char path[80], *got = calloc((size_t)r->n, element), *attr = calloc((size_t)r->n, element);
    drep_attrinfo info = DREP_ATTRINFO;
    drep_dataset *d;
    int texts;

    snprintf(path, sizeof path, "/%s", r->name);
    must(drep_dataset_open(f, path, &d));
    must(drep_read(d, NULL, drep_predefined(r->code), got, NULL));
    /* Fortran's attributes of characters are texts of their length. */
    must(drep_attr_info(f, path, "all", &info));
    texts = drep_type_kind(info.type) == DREP_KIND_STRING;
    must(drep_attr_read(f, path, "all", texts ? info.type : drep_predefined(r->code), attr));
    drep_attrinfo_release(&info);
    for (int i = 0; i < r->n; i++) {
        int good = memcmp(got + (size_t)i * element, attr + (size_t)i * element, element) == 0;

        for (int k = 0; k < r->parts; k++) {
            size_t at = (size_t)i * element + (size_t)k * r->size;
            const char *want = (const char *)r->want + at;

            good = good && (memcmp(got + at, want, r->used) == 0 ||
                            (r->real && is_nan(got + at, r->used) && is_nan(want, r->used)));
        }
        printf("%s %d %s\\n", r->name, i + 1, good ? "ok" : "no");
    }
    drep_dataset_close(d);
    free(got);
    free(attr);
}

/* Row-major: Fortran's first index is the last. */
static void cube(drep_file *f, int writes)
{
    static int a[NZ][NY][NX];
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 3, .dims = (int64_t[]){NZ, NY, NX});
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *d;

    for (int k = 0; writes && k < NZ; k++)
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
                a[k][j][i] = 10000 * (i + 1) + 100 * (j + 1) + k + 1;
    if (writes)
        must(drep_dataset_create(f, "/cube", &spec, &d));
    else
        must(drep_dataset_open(f, "/cube", &d));
    must(writes ? drep_write(d, NULL, DREP_INT, a, NULL) : drep_read(d, NULL, DREP_INT, a, NULL));
    must(drep_dataset_info(d, &info));
    printf("cube 0 %s\\n", info.dims[0] == NZ && info.dims[1] == NY && info.dims[2] == NX ? "ok" : "no");
    for (int k = 0; k < NZ; k++)
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
                printf("cube %d %s\\n", i + 1 + 10 * (j + 1) + 100 * (k + 1),
                       a[k][j][i] == 10000 * (i + 1) + 100 * (j + 1) + k + 1 ? "ok" : "no");
    drep_dataset_close(d);
}

int main(int argc, char **argv)
{
    int writes = argc > 3 && strcmp(argv[1], "write") == 0;
    drep_file *f;

    if (writes)
        must(drep_create(argv[2], DREP_RDWR, argv[3], NULL, &f));
    else
        must(drep_open(argv[2], DREP_RDONLY, NULL, &f));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        (writes ? write_row : read_row)(f, &rows[i]);
    cube(f, writes);
    must(drep_close(f));
    return 0;
}
"""


def c_program():
    text = [C_HEAD, "enum { NX = %d, NY = %d, NZ = %d };" % SHAPE]
    table = []
    for row in ROWS:
        used = "10" if row.c == "long double" else "sizeof(%s)" % row.c
        text.append("static const %s v_%s[] = {%s};" % (row.c, row.datatype, ", ".join(v.c for v in row.values)))
        table.append('    {"%s", DREP_CODE_%s, %d, %d, %d, sizeof(%s), %s, v_%s},' % (
            row.datatype, row.code, row.what == "real", row.parts, len(row.values), row.c, used, row.datatype))
    return "\n".join(text + ["static const struct row rows[] = {"] + table + ["};", C_TAIL])


# ---- Python

def exact(numpy, x):
    """A number of NumPy, of any type, as the exact values above."""
    if isinstance(x, (bool, numpy.bool_)):
        return bool(x)
    if isinstance(x, (int, numpy.integer)):
        return int(x)
    if isinstance(x, bytes):
        return x or b"\0"  # S1 has no NUL at its end
    if isinstance(x, numpy.complexfloating):
        return exact(numpy, x.real), exact(numpy, x.imag)
    if numpy.isnan(x):
        return NAN
    if numpy.isinf(x):
        return INF if x > 0 else MINUS_INF
    if x == 0 and numpy.signbit(x):
        return MINUS_ZERO
    return Fraction(*x.as_integer_ratio())


def real_of(numpy, dtype, value):
    """A number of a dtype, or None if it has none that is exact."""
    if value in (NAN, INF, MINUS_INF, MINUS_ZERO):
        return dtype.type(float(value))
    e = max(-value.denominator.bit_length() + 1, -16445)
    top = value / Fraction(2) ** e
    while top.denominator == 1 and top.numerator % 2 == 0 and top:
        top, e = top / 2, e + 1
    m = abs(top.numerator) if top.denominator == 1 else 0
    with numpy.errstate(over="ignore", under="ignore"):
        x = numpy.ldexp(numpy.longdouble(m >> 32) * 2 ** 32 + numpy.longdouble(m & 0xffffffff), e)
        x = dtype.type(-x if value < 0 else x)
    return x if exact(numpy, x) == value else None


def python_value(numpy, row, dtype, value):
    if row.what != "real":
        return value.exact
    if row.parts == 1:
        return real_of(numpy, dtype, value.exact)
    part = numpy.dtype({"c8": "f4", "c16": "f8", "c32": "g"}[dtype.str[1:]])
    parts = [real_of(numpy, part, v) for v in value.exact]
    if None in parts:
        return None
    z = numpy.zeros((), dtype)
    z.real, z.imag = parts
    return z[()]


def python_write(datarep, numpy, path, representation):
    """Gives the values (datatype, number) that Python has no exact number for, and did not write."""
    absent = set()
    with datarep.open(path, "w", datarep=representation) as f:
        for row in ROWS:
            kind = datarep.Type.parse(row.datatype)
            d = f.create(row.datatype, dtype=kind, shape=len(row.values))
            stand_in = []
            for i, v in enumerate(row.values):
                x = python_value(numpy, row, d.dtype, v)
                if x is None:
                    absent.add((row.datatype, i + 1))
                stand_in.append(d.dtype.type(0) if x is None else x)
            values = numpy.array(stand_in, d.dtype)
            d[...] = values
            d.attrs.create("all", values, dtype=kind)
        x, y, z = SHAPE
        f["cube"] = numpy.array([[[number(i + 1, j + 1, k + 1) for i in range(x)] for j in range(y)] for k in range(z)], "i4")
    return absent


def python_one(datarep, numpy, dataset, i, want, holds):
    """"ok"; "refused" if Python's number does not hold the value, and the package says so; else what is wrong."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            got = exact(numpy, dataset[i])
        except datarep.Error as e:
            return "no: %s" % e if holds else "refused"
    if holds:
        return "ok" if got == want else "no: %r" % (got,)
    return "refused" if any(w.category is datarep.ConversionWarning for w in warned) else "no: silently %r" % (got,)


def python_read(datarep, numpy, path):
    """{(datatype, number): what python_one() says}"""
    said = {}
    with datarep.open(path) as f:
        for row in ROWS:
            d = f[row.datatype]
            for i, v in enumerate(row.values):
                holds = python_value(numpy, row, d.dtype, v) is not None
                said[row.datatype, i + 1] = python_one(datarep, numpy, d, i, v.exact, holds)
        cube = f["cube"][...]
        x, y, z = SHAPE
        good = cube.shape == (z, y, x)
        for k in range(z):
            for j in range(y):
                for i in range(x):
                    at = i + 1 + 10 * (j + 1) + 100 * (k + 1)
                    said["cube", at] = "ok" if good and cube[k, j, i] == number(i + 1, j + 1, k + 1) else "no"
    return said
