#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-classic - classic netCDF files, in and out, as ncgen makes them and ncdump shows them.

TAP on stdout.
# timeout: 300
"""
import os
import random
import shutil
import subprocess
import sys

import cases
import packages
from cases import Absent, case, check, run

NCGEN = {"cdf1": "nc3", "cdf2": "nc6", "cdf5": "cdf5"}

CLASSIC = """netcdf x {
dimensions: time = UNLIMITED ; lat = 3 ; lon = 4 ; n = 5 ;
variables:
 double time(time) ; time:units = "days since 2000-01-01" ; time:calendar = "noleap" ;
 float lat(lat) ; lat:units = "degrees_north" ;
 short t(time, lat, lon) ; t:_FillValue = -999s ; t:scale_factor = 0.1 ; t:valid_range = -100s, 400s ; t:empty = "" ;
 char name(n) ; char lines(time, n) ; byte b(lat) ; int scalar ; double never(lat) ; float two(time) ;
 int same(lat, lat) ; char one ;
// global:
 :title = "a test \\nof two lines" ; :history = "é" ; :numbers = 1, 2, 3 ; :d = 1.5, 2.5 ; :bytes = 1b, -2b ; :f = 1.f ;
data:
 time = 0, 31.5 ; lat = -1.5, 0, 1.5 ; t = 1,2,3,4,5,6,7,8,9,10,11,12, _,2,3,4,5,6,7,8,9,10,11,399 ; name = "ab" ;
 lines = "first", "2nd" ; b = 1, -1, 127 ; scalar = 42 ; two = 1, _ ; same = 1,2,3,4,5,6,7,8,9 ; one = "x" ;
}
"""
EMPTY = "netcdf x { dimensions: r = UNLIMITED ; variables: int never(r) ; float f(r) ; }\n"
NOTHING = "netcdf x { }\n"
SHORT = """netcdf x {
dimensions: time = UNLIMITED ; n = 3 ;
variables: short t(time, n) ; byte b(n) ; double d(time) ; char last(time, n) ;
data: t = 1,2,3,4,5,6 ; b = 1,2,3 ; d = 1.5, 2.5 ; last = "abc", "def" ;
}
"""
ALONE = "netcdf x { dimensions: r = UNLIMITED ; n = 3 ; variables: short t(r, n) ; data: t = 1,2,3,4,5,6,7,8,9 ; }\n"
WIDE = """netcdf x {
dimensions: t = UNLIMITED ; n = 2 ;
variables: ubyte a(n) ; ushort b(n) ; uint c(n) ; int64 d(t, n) ; uint64 e(n) ; uint64 e:big = 18446744073709551615ull ;
data: a = 255, 0 ; b = 65535, 1 ; c = 4294967295, 2 ; d = -9223372036854775807, 3, 4, 5 ; e = 18446744073709551615, 6 ;
}
"""


def fine(*args):
    status, out, err = run(*args)
    check(status == 0, "%s: status %s: %s", " ".join(args), status, err)
    return out


def make(at, text, kind, name="in.nc"):
    path = os.path.join(at, name)
    subprocess.run(["ncgen", "-k", NCGEN.get(kind, kind), "-o", path, "-"], input=text.encode(), check=True)
    return path


def shown(path):
    return subprocess.run(["ncdump", "-n", "x", path], stdout=subprocess.PIPE, check=True).stdout


def kind_of(path):
    return subprocess.run(["ncdump", "-k", path], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def same_content(text):
    """Without what is not content: the order of dimensions, and where ncdump breaks text of type char."""
    front, rest = text.decode().replace('\\n",\n\t\t\t"', "\\n").split("variables:", 1)
    return sorted(front.splitlines()), rest


def trip(at, source, form, *options):
    target, back = os.path.join(at, "x.drep"), os.path.join(at, "back.nc")
    fine("import", *options, source, target)
    fine("check", "--deep", target)
    fine("export", "--format=" + form, target, back)
    before, after = shown(source), shown(back)
    check(before == after, "ncdump differs:\n%s\nis now\n%s", before.decode(), after.decode())
    return back


@case
def there_and_back(at):
    for kind, names in ("cdf1", "classic"), ("cdf2", "64-bit offset"), ("cdf5", "cdf5"):
        for text in (CLASSIC, EMPTY, NOTHING) + ((WIDE,) if kind == "cdf5" else ()):
            source = make(at, text, kind)
            for options in (), ("--datarep=internal",), ("--datarep=native",):
                back = trip(at, source, kind, *options)
                check(kind_of(back) == names, "%s is now %s", kind, kind_of(back))


@case
def the_first_format_that_fits(at):
    for text, names in (CLASSIC, "classic"), (WIDE, "cdf5"):
        source = make(at, text, "cdf5")
        fine("import", source, at + "/x.drep")
        fine("export", "--format=netcdf", at + "/x.drep", at + "/y.nc")
        check(kind_of(at + "/y.nc") == names, "%s, not %s", kind_of(at + "/y.nc"), names)
    status, _, err = run("export", "--format=cdf1", at + "/x.drep", at + "/z.nc")
    check(status not in (0, None) and "CDF-1 cannot hold it, CDF-5 can" in err, "status %s: %s", status, err)
    check(not os.path.exists(at + "/z.nc"), "a file that is not whole")


@case
def to_netcdf_4_and_back(at):
    """The same values in HDF5, for those who have libnetcdf 4."""
    source = make(at, CLASSIC, "cdf1")
    fine("import", source, at + "/x.drep")
    back = at + "/four.nc"
    fine("export", at + "/x.drep", back)
    check(same_content(shown(back)) == same_content(shown(source)), "ncdump differs: %s", shown(back).decode())
    check(kind_of(back).startswith("netCDF-4"), "%s", kind_of(back))
    fine("import", back, at + "/y.drep")
    fine("export", "--format=cdf1", at + "/y.drep", at + "/z.nc")
    check(same_content(shown(at + "/z.nc")) == same_content(shown(source)), "ncdump differs: %s", shown(at + "/z.nc").decode())


@case
def commands_open_it(at):
    source = make(at, CLASSIC, "cdf2")
    fine("import", source, at + "/x.drep")
    fine("diff", source, at + "/x.drep")
    with open(source, "rb") as f:
        data = f.read()
    status, _, err = run("import", "--format=netcdf", "-", at + "/y.drep", data=data)
    check(status == 0, "from a pipe: %s", err)
    fine("diff", at + "/x.drep", at + "/y.drep")


@case
def what_it_cannot_hold_is_said(at):
    with open(at + "/s.yaml", "w", encoding="utf-8") as f:
        f.write("""root:
  g: {}
  words: {dataset: vstring, data: [a, b]}
  pair: {dataset: "struct{a: INT, b: INT}", shape: [2]}
  wide: {dataset: LONG_DOUBLE, data: [1.5]}
  names: {dataset: "string(3)", data: [abc, de]}
  good: {dataset: INT, data: [1, 2, 3]}
""")
    fine("create", "-s", at + "/s.yaml", at + "/x.drep")
    status, _, err = run("export", "--format=netcdf", "--report=" + at + "/report", at + "/x.drep", at + "/y.nc")
    with open(at + "/report", encoding="utf-8") as f:
        report = f.read()
    check(status == 1, "status %s: %s", status, err)
    for name in "/g", "/words", "/pair", "/wide":
        check(any(name + ":" in line or name + " " in line for line in report.splitlines()), "%s is not in: %s", name, report)
    text = shown(at + "/y.nc").decode()
    check("good = 1, 2, 3" in text and '"abc"' in text and '"de"' in text and "words" not in text, "%s", text)


@case
def damaged_files(at):
    """No crash, no hang, and nothing half made."""
    r = random.Random(11)
    with open(make(at, CLASSIC, "cdf1"), "rb") as f:
        whole = f.read()
    for i in range(200):
        data = bytearray(whole)
        if i % 4 == 0:
            data = data[:r.randrange(4, len(data))]
        for _ in range(r.randrange(1, 6)):
            data[r.randrange(4, min(len(data), 800) if len(data) > 4 else 5) % len(data)] = r.choice((0, 1, 0x7f, 0x80, 0xff, r.randrange(256)))
        data[:4] = b"CDF" + bytes([r.choice((1, 2, 5))])
        with open(at + "/bad.nc", "wb") as f:
            f.write(data)
        status, _, err = run("import", "--limit", "memory=1G", "--limit", "output=100M", at + "/bad.nc", at + "/bad.drep", seconds=30)
        check(status in (0, 1, 2, 3, 4, 5) and "crashed" not in err, "number %d: status %s: %s", i, status, err)
        if status in (0, 1):
            check(run("check", at + "/bad.drep")[0] == 0, "number %d is not whole", i)
            os.unlink(at + "/bad.drep")
        else:
            check(not os.path.exists(at + "/bad.drep") and err, "number %d: status %s", i, status)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


@case
def cut_short_at_every_length(at):
    """What is behind the end is never a zero: the values are right, or the error names file and byte."""
    for kind in "cdf1", "cdf2", "cdf5":
        source = make(at, SHORT, kind)
        whole = read(source)
        fine("import", source, at + "/whole.drep")
        values = whole.index(b"\0\1\0\2\0\3")  # the first record
        right = 0
        for size in [*range(4, values - 20, 17), *range(values - 20, len(whole))]:
            write(at + "/cut.nc", whole[:size])
            status, _, err = run("import", at + "/cut.nc", at + "/cut.drep")
            if status == 0:
                right += 1
                fine("diff", at + "/whole.drep", at + "/cut.drep")
                os.unlink(at + "/cut.drep")
            else:
                check(status == 4 and "cut.nc: cut short: the file ends at byte %d, " % size in err, "%s, %d bytes: status %s: %s", kind, size, status, err)
                check(not os.path.exists(at + "/cut.drep"), "%d bytes: half a file", size)
        check(right == 1, "%s: read at %d lengths, but only 1 byte of padding may lack", kind, right)


@case
def records_of_a_stream(at):
    """Whoever writes a stream cannot go back to say how many records it has."""
    for text, record in (SHORT, 20), (ALONE, 6):
        for kind in "cdf1", "cdf2", "cdf5":
            source = make(at, text, kind)
            stream = bytearray(read(source))
            stream[4:12 if kind == "cdf5" else 8] = b"\xff" * (8 if kind == "cdf5" else 4)
            fine("import", source, at + "/x.drep")
            write(at + "/stream.nc", stream)
            fine("import", at + "/stream.nc", at + "/y.drep")
            fine("diff", at + "/x.drep", at + "/y.drep")
            fine("export", "--format=" + kind, at + "/y.drep", at + "/back.nc")
            check(shown(at + "/back.nc") == shown(source), "%s", shown(at + "/back.nc").decode())
            write(at + "/stream.nc", stream[:-5])
            status, _, err = run("import", at + "/stream.nc", at + "/y.drep")
            check(status == 1 and "%d bytes behind its last whole record" % (record - 5) in err, "%s: status %s: %s", kind, status, err)
            was, now = fine("dump", at + "/x.drep", "/t"), fine("dump", at + "/y.drep", "/t")
            check("4, 5, 6" in now and "1, 2, 3" in now if text == ALONE else "4, 5, 6" not in now, "%s is now %s", was, now)


@case
def names_padded_with_zeros(at):
    """Their bytes 0, which libnetcdf does not show, are reported."""
    whole = read(make(at, SHORT, "cdf1"))
    was, now = b"\0\0\0\4last", b"\0\0\0\4la\0\0"
    check(whole.count(was) == 1, "no name")
    write(at + "/nul.nc", whole.replace(was, now))
    status, _, err = run("import", at + "/nul.nc", at + "/x.drep")
    check(status == 1 and "/la: warning: the name ends at its first byte 0: 2 bytes" in err, "status %s: %s", status, err)
    check('"d", "e", "f"' in fine("dump", at + "/x.drep", "/la"), "no values")


@case
def files_of_others(at):
    """Those that SciPy's package carries to test its own reader."""
    files = []
    for path in packages.fetch("python3-scipy"):
        with open(path, "rb") as f:
            if f.read(4) in (b"CDF\1", b"CDF\2", b"CDF\5"):
                files.append(path)
    if not files:
        raise Absent("python3-scipy cannot be fetched")
    for path in files:
        back = trip(at, path, "netcdf")
        check(os.path.getsize(back) > 0, "%s", path)


def main():
    for tool in "ncgen", "ncdump":
        if not shutil.which(tool):
            print("1..0 # SKIP no %s" % tool)
            return 0
    return cases.main()


if __name__ == "__main__":
    sys.exit(main())
