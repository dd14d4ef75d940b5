#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-csv - tables in CSV through import and export, against Python's csv module.

Random tables, written by csv.writer in its dialects, must be read as the values they were
written from, whatever tells their types: the fields, --type, a schema, a dataset that is
there.  What export writes, csv.reader must read as those values.  What is wrong with a table
is said with its line and column, and leaves nothing.  TAP on stdout.
"""
import csv
import io
import json
import os
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


def run(*command, **more):
    p = subprocess.run([DATAREP, *over(command)], capture_output=True, timeout=120, check=False, **more)
    return p.returncode, p.stdout.decode(), p.stderr.decode("utf-8", "replace")


def fine(*command):
    status, out, err = run(*command)
    check(status == 0, "datarep %s: status %d: %s", " ".join(command), status, err)
    return out


def write(path, text):
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())


def data(drep, path):
    return json.loads(fine("dump", "--json", drep, path))["object"]["data"]


# ---------------------------------------------------------------- random tables

def random_text(r):
    return "".join(r.choice("ab ,;\t\"'\n\r\u00e9\u4e2d\U0001f600x.-0") for _ in range(r.randrange(1, 9))) + "x"


# What a column is told to be by its fields, a type to hold it exactly, and how values are made.
COLUMNS = {
    "int": ("INT64_T", "INT32_T", lambda r: r.randrange(-2**31, 2**31)),
    "big": ("INT64_T", "INTEGER16", lambda r: r.randrange(-2**63, 2**63)),
    "unsigned": ("UINT64_T", "UINT64_T", lambda r: r.randrange(2**63, 2**64)),
    "real": ("DOUBLE", "DOUBLE", lambda r: r.choice([r.gauss(0, 1), 1e300, -0.0, 5e-324, 0.1])),
    "single": ("DOUBLE", "FLOAT", lambda r: r.randrange(-2**20, 2**20) / 64),
    "bool": ("bool(INT8_T)", "C_BOOL", lambda r: r.random() < 0.5),
    "text": ("vstring", "vstring", random_text),
    "fixed": ("vstring", "string(44)", random_text),
}


def random_table(r, n):
    kinds = [r.choice(sorted(COLUMNS)) for _ in range(r.randrange(1, 7))]
    names = ["%s %d%s" % (k, i, r.choice(["", ",", '"', "\u00e9", "\n"])) for i, k in enumerate(kinds)]
    return kinds, names, [[COLUMNS[k][2](r) for k in kinds] for _ in range(n)]


def field(v):
    return str(v).lower() if isinstance(v, bool) else repr(v) if isinstance(v, float) else v


def write_table(r, path, names, rows):
    delimiter = r.choice(",;\t|")
    # With line feeds alone csv.writer leaves carriage returns bare, which csv.reader then refuses.
    end = r.choice(["\n", "\r\n"])
    how = [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC] + ([csv.QUOTE_MINIMAL] if end == "\r\n" else [])
    with open(path, "w", newline="", encoding=r.choice(["utf-8", "utf-8-sig"])) as f:
        w = csv.writer(f, delimiter=delimiter, lineterminator=end, quoting=r.choice(how))
        if names:
            w.writerow(names)
        w.writerows([field(v) for v in row] for row in rows)
    return delimiter


def same(kind, want, got):
    if kind in ("int", "big", "unsigned"):
        return int(got) == want
    if kind == "single":  # as few digits as a binary32 needs
        return struct.pack("f", float(got)) == struct.pack("f", want)
    if kind == "real":
        return float(got) == want and str(float(got)) == str(float(want))
    return got == want and isinstance(got, type(want))


def compare(kinds, names, rows, got):
    check(len(got) == len(rows), "%d rows, not %d", len(got), len(rows))
    for want, have in zip(rows, got):
        check(list(have) == names, "columns %s, not %s", list(have), names)
        for kind, name, a in zip(kinds, names, want):
            check(same(kind, a, have[name]), "%s: %r, not %r", name, have[name], a)


def quoted_name(name):
    return '"%s"' % name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\x0a")


def compound(kinds, names, which):
    return "struct{%s}" % ", ".join("%s: %s" % (quoted_name(n), COLUMNS[k][which])
                                    for k, n in zip(kinds, names))


def random_case(tmp, r):
    kinds, names, rows = random_table(r, r.randrange(1, 40))
    source, drep, back = (os.path.join(tmp, n) for n in ("t.csv", "t.drep", "u.csv"))
    delimiter = write_table(r, source, names, rows)
    status, _, err = run("import", "--delimiter=" + delimiter, source, drep)
    check(status == 0 and "%d records" % len(rows) in err, "%d %s", status, err)
    got = json.loads(fine("dump", "--json", drep, "/t"))["object"]
    check(got["type"] == compound(kinds, names, 0), "inferred %s, not %s", got["type"],
          compound(kinds, names, 0))
    compare(kinds, names, rows, got["data"])
    # With types that are told, and other orders of columns.
    shuffled = list(zip(kinds, names))
    r.shuffle(shuffled)
    fine("import", "--delimiter=" + delimiter, "--type=" + compound(*zip(*shuffled), 1), source, drep)
    got = data(drep, "/t")
    compare(kinds, names, rows, [{n: row[n] for n in names} for row in got])
    # A dataset for each column, and back.
    fine("import", "--columns", "-i", "/g", "--delimiter=" + delimiter, source, drep)
    for i, (kind, name) in enumerate(zip(kinds, names)):
        column = data(drep, "/g/" + name)
        check(all(same(kind, row[i], v) for row, v in zip(rows, column)), "column %s: %s", name, column)
    check_export(kinds, names, rows, drep, back, r, "--root=/g")
    fine("import", "--delimiter=" + delimiter, source, drep)
    check_export(kinds, names, rows, drep, back, r, "--root=/t")


def check_export(kinds, names, rows, drep, back, r, root):
    delimiter = r.choice(",;|")
    fine("export", root, "--delimiter=" + delimiter, drep, back)
    with open(back, newline="", encoding="utf-8") as f:
        got = list(csv.reader(f, delimiter=delimiter, strict=True))
    check(got[0] == names, "header %s, not %s", got[0], names)
    check(len(got) == len(rows) + 1, "%d lines, not %d", len(got), len(rows) + 1)
    for want, have in zip(rows, got[1:]):
        for kind, a, b in zip(kinds, want, have):
            b = {"true": True, "false": False}.get(b, b) if kind == "bool" else b
            check(same(kind, a, b), "exported %r, not %r", b, a)


def random_cases(tmp, first, n):
    for seed in range(first, first + n):
        try:
            random_case(tmp, random.Random(SEED * 100000 + seed))
        except Differ as e:
            raise Differ("DREP_TEST_SEED=%d, case %d: %s" % (SEED, seed, e)) from e


# -------------------------------------------------------------------- inference

def inference(tmp):
    for text, want in (
            ("a\n1\n2\n", "struct{a: INT64_T}"),
            ("a\n1\n2.5\n", "struct{a: DOUBLE}"),
            ("a\n1\n\"\"\n", "struct{a: vstring}"),
            ("a,b\n1,\n,2\n", "struct{a: DOUBLE, b: DOUBLE}"),
            ("a\n007\n8\n", "struct{a: vstring}"),
            ("a\n0\n-0\n", "struct{a: INT64_T}"),
            ("a\n18446744073709551615\n", "struct{a: UINT64_T}"),
            ("a\n18446744073709551615\n-1\n", "struct{a: vstring}"),
            ("a\n-1\n18446744073709551615\n", "struct{a: vstring}"),
            ("a\n99999999999999999999\n", "struct{a: vstring}"),
            ("a\ntrue\nFALSE\n", "struct{a: bool(INT8_T)}"),
            ("a\ntrue\n1\n", "struct{a: vstring}"),
            ("a,b\ntrue,1\n,2\n", "struct{a: vstring, b: INT64_T}"),
            ("a\nnan\n-inf\n", "struct{a: DOUBLE}"),
            ("a\n 1 \n2\t\n", "struct{a: INT64_T}"),
            ("a\n1 2\n", "struct{a: vstring}"),
            ("a\n0x10\n", "struct{a: vstring}"),
            ("a\n1e5\n", "struct{a: DOUBLE}"),
            # Integers that no double is.
            ("a\n9007199254740993\n0.5\n", "struct{a: vstring}"),
            ("a,b\n-9007199254740993,1\n,2\n", "struct{a: vstring, b: INT64_T}"),
            ("a,b\n9007199254740994,1\n,2\n", "struct{a: DOUBLE, b: INT64_T}"),
            ("a\n18446744073709551615\n0.5\n", "struct{a: vstring}"),
            ("a\n%s\n" % ("9" * 44), "struct{a: vstring}"),
            ("a\n\"1\"\n\"2\"\n", "struct{a: INT64_T}"),
            ("a,\n1,2\n", "struct{a: INT64_T, column2: INT64_T}"),
            ("a b,c\n1,2\n", "struct{\"a b\": INT64_T, c: INT64_T}")):
        source, drep = os.path.join(tmp, "i.csv"), os.path.join(tmp, "i.drep")
        write(source, text)
        fine("import", source, drep)
        got = json.loads(fine("dump", "--json", drep, "/i"))["object"]["type"]
        check(got == want, "%r: %s, not %s", text, got, want)


def matrix(tmp):
    source, drep = os.path.join(tmp, "m.csv"), os.path.join(tmp, "m.drep")
    write(source, "1,2,3\n4,5,6\n")
    fine("import", "--no-header", source, drep)
    got = json.loads(fine("dump", "--json", drep, "/m"))["object"]
    check(got["type"] == "INT64_T" and got["data"] == [[1, 2, 3], [4, 5, 6]], "%s", got)
    check(fine("export", "--format=csv", drep, "-") == "1,2,3\n4,5,6\n", "exported otherwise")
    check(fine("export", "--format=csv", "--root=/m[:,1]", drep, "-") == "m\n2\n5\n", "a column")
    check(fine("export", "--format=csv", "--no-header", "--root=/m[1,::2]", drep, "-") == "4\n6\n", "a row")
    write(source, "1,2\n3,4.5\n")
    fine("import", "-u", "-i", "/n", "--no-header", source, drep)
    check(data(drep, "/n") == [[1, 2], [3, 4.5]], "%s", data(drep, "/n"))
    status, _, err = run("import", "-u", "-i", "/m", "--no-header", source, drep)
    check(status != 0 and "2 fields, where 3" in err, "%d %s", status, err)
    write(source, "1,x\n2,y\n")
    fine("import", "--no-header", source, drep)
    check(data(drep, "/m") == [{"column1": 1, "column2": "x"}, {"column1": 2, "column2": "y"}], "mixed")


def missing(tmp):
    source, drep = os.path.join(tmp, "m.csv"), os.path.join(tmp, "m.drep")
    write(source, "a,b,c\n1,NA,NA\nNA,x,2\n")
    fine("import", "--missing=NA", source, drep)
    check(data(drep, "/m") == [{"a": 1, "b": "", "c": "nan"}, {"a": "nan", "b": "x", "c": 2}], "%s",
          data(drep, "/m"))
    status, _, err = run("import", "--missing=NA", "--type=struct{a: INT, b: vstring}", source, drep)
    check(status == 4 and "line 3, column 1: missing value" in err, "%d %s", status, err)


# ------------------------------------------------------------------------ targets

SCHEMA = """
datarep: external32
dims: {time: unlimited}
types:
  sample: {struct: {when: INT64_T, where: {struct: {x: FLOAT, y: FLOAT}}, m: "SHORT[2]",
                    z: C_FLOAT_COMPLEX, kind: {enum: {LOW: 0, HIGH: 1}}, code: CHAR}}
root:
  log: {dataset: sample, dims: [time], chunk: [3]}
  cols: {a: {dataset: INT, shape: [0], maxshape: [unlimited]}, b: {dataset: FLOAT, shape: [0], maxshape: [unlimited]}}
  grid: {dataset: FLOAT, shape: [2, 3]}
"""
HEADER = "when,where.x,where.y,m[0],m[1],z.real,z.imag,kind,code"
ROWS = ["1,0.5,1.5,1,2,3.0,4.0,LOW,a", "2,2.5,-3.5,5,6,0.0,-1.0,HIGH,\u00e9"]


def into_schema(tmp):
    schema, source, drep, back = (os.path.join(tmp, n) for n in ("s.yaml", "s.csv", "s.drep", "t.csv"))
    write(schema, SCHEMA)
    write(source, HEADER + "\n" + "\n".join(ROWS) + "\n")
    fine("import", "-s", schema, "-i", "/log", source, drep)
    fine("import", "-a", "-i", "/log", source, drep)
    got = data(drep, "/log")
    check(len(got) == 4 and got[1] == got[3] and got[1] == {
        "when": 2, "where": {"x": 2.5, "y": -3.5}, "m": [5, 6], "z": [0, -1], "kind": "HIGH",
        "code": "\u00e9"}, "%s", got)
    fine("export", "--root=/log[2:]", drep, back)
    check(open(back, encoding="utf-8").read() == HEADER + "\n" + "\n".join(ROWS) + "\n", "%s",
          open(back, encoding="utf-8").read())
    # Without -a the elements are those of the table alone.
    fine("import", "-u", "-i", "/log", source, drep)
    check(len(data(drep, "/log")) == 2, "not replaced")
    write(source, "b,a\n0.5,1\n1.5,2\n")
    fine("import", "-u", "-i", "/cols", source, drep)
    fine("import", "-a", "-i", "/cols", source, drep)
    check(data(drep, "/cols/a") == [1, 2, 1, 2] and data(drep, "/cols/b") == [0.5, 1.5] * 2, "columns")
    write(source, "1,2,3\n4,5,6\n")
    fine("import", "-u", "-i", "/grid", "--no-header", source, drep)
    check(data(drep, "/grid") == [[1, 2, 3], [4, 5, 6]], "grid")
    write(source, "1,2,3\n4,5,6\n7,8,9\n")
    status, _, err = run("import", "-u", "-i", "/grid", "--no-header", source, drep)
    check(status == 2 and "do not fit the shape [2, 3]" in err, "%d %s", status, err)
    status, _, err = run("import", "-a", "-i", "/grid", "--no-header", source, drep)
    check(status == 2 and "which is full" in err, "%d %s", status, err)
    write(source, "b,a,c\n0.5,1,2\n")
    status, _, err = run("import", "-u", "-i", "/cols", source, drep)
    check(status == 1 and 'column "c" is left out' in err, "%d %s", status, err)


def rounded_once(tmp):
    """Decimals go straight to what the file holds them as."""
    schema, source, drep = (os.path.join(tmp, n) for n in ("r.yaml", "r.csv", "r.drep"))
    write(schema, "datarep: m\ndatareps: {m: {order: big, types: {DOUBLE: ibm-hex64}}}\n"
                  "root: {x: {dataset: DOUBLE, shape: [2]}, w: {dataset: FLOAT128, shape: [1]}}\n")
    write(source, "x\n0.1\n1e80\n")
    status, _, err = run("import", "-s", schema, "-i", "/x", source, drep)
    check(status == 4 and "does not fit" in err and not os.path.exists(drep), "%d %s", status, err)
    write(source, "w\n0.1\n")
    fine("import", "-s", schema, "-i", "/w", source, drep)
    check(data(drep, "/w") == ["0x1.999999999999999999999999999ap-4"], "%s", data(drep, "/w"))


# ------------------------------------------------------------------- what is wrong

def wrong(tmp):
    source, drep = os.path.join(tmp, "w.csv"), os.path.join(tmp, "w.drep")
    cases = [
        ("a,b\n1,2\n3\n", (), "line 3, column 1: 1 fields, not 2"),
        ("a,b\n1,2\n3,4,5\n", (), "line 3, column 1: 3 fields, not 2"),
        ("a\n\"x\n", (), "line 2, column 1: the quote that opens here is never closed"),
        ("a,b\n1,x\"y\n", (), "line 2, column 4: a quote inside"),
        ("a\n\"x\"y\n", (), "line 2, column 4: unexpected text after"),
        ("a,a\n1,2\n", (), "line 1, column 3: column \"a\" stands here twice"),
        ("a\nx\n", ("--type=struct{a: INT}",), "line 2, column 1: expected an integer"),
        ("a,b\n1,\"\n\n 300\"\n", ("--type=struct{a: INT, b: INT8_T}",), "line 2, column 3: expected an integer"),
        ("b,a\n1, 300\n", ("--type=struct{a: INT8_T}",), "line 2, column 4: 300 does not fit"),
        ("a\n1\n", ("--type=struct{b: INT}",), "there is no column \"b\""),
        ("a\nyes\n", ("--type=struct{a: C_BOOL}",), "line 2, column 1: expected true or false"),
        ("a\nabc\n", ("--type=struct{a: string(2)}",), "line 2, column 1: a text of 3 bytes"),
        ("a\nRED\n", ("--type=struct{a: enum(INT){BLUE=1}}",), "line 2, column 1: \"RED\" is not a name"),
        (b"a\n\xff\n", (), "line 2, column 1: this text is not UTF-8"),
        (b"\xe9\n1\n", (), "line 1, column 1: the name of a column is not UTF-8"),
        ("a,b\r1,2\r3,4\r", (), "line 1, column 4: a carriage return without a line feed"),
        ("a\n\"x\"\r\"y\"\n", (), "line 2, column 4: a carriage return without a line feed"),
        ("a\n1\n".encode("utf-16"), (), "line 1, column 1: this is UTF-16"),
        (",".join("c%d" % i for i in range(100001)), (), "a table has at most 100000 columns"),
        ("", (), "the table is empty"),
        ("a\n1\n", ("--type=seq(INT)",), "a sequence of variable length cannot be in a table"),
        ("a\n1\n", ("--type=struct{",), "--type="),
        ("a\n1\n", ("--delimiter=xy",), "--delimiter is one character"),
    ]
    for text, options, pattern in cases:
        write(source, text)
        status, out, err = run("import", *options, source, drep)
        check(status in (2, 4) and not out and pattern in err, "%r %s: %d %s", text, options, status, err)
        check(not os.path.exists(drep), "%r: a file was made", text)
    write(source, "a\n1\n")
    for options, pattern in ((("-u",), "No such file"), (("-u", "-n"), "either"),
                             (("-s", os.path.join(tmp, "nope")), "No such file")):
        status, _, err = run("import", *options, source, drep)
        check(status in (2, 3) and pattern in err, "%s: %d %s", options, status, err)


def accepted(tmp):
    """What is unusual, but no error."""
    source, drep = os.path.join(tmp, "a.csv"), os.path.join(tmp, "a.drep")
    for text, want in ((b"a,b\r\n1,2", [{"a": 1, "b": 2}]), ("a\n\n1\n\n\n2\n", [{"a": 1}, {"a": 2}]),
                       ("a\n\"\"\"\"\n", [{"a": '"'}]), ("a\n\"x\r\ny\"\n", [{"a": "x\r\ny"}]),
                       ("a,b\n,\n", [{"a": "", "b": ""}]), ("a\n\"x\ry\"\n", [{"a": "x\ry"}]),
                       ("a\n", [])):
        write(source, text)
        fine("import", source, drep)
        check(data(drep, "/a") == want, "%r: %s", text, data(drep, "/a"))


def long_table(tmp):
    """Several blocks, through a pipe, and out again in several pieces."""
    n = 300000
    text = "i,x,t\n" + "".join("%d,%s,t%d\n" % (i, repr(i / 7), i) for i in range(n))
    source, drep, back = (os.path.join(tmp, f) for f in ("l.csv", "l.drep", "m.csv"))
    write(source, text)
    with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
        status, _, err = run("import", "--format=csv", "-i", "/t", "-", drep, stdin=cat.stdout)
    check(status == 0, "%d %s", status, err)
    fine("export", drep, back)
    check(open(back).read() == text, "the table is not the same")
    fine("import", "--columns", source, drep)
    fine("export", "--root=/l", drep, back)
    check(open(back).read() == text, "the columns are not the same")


def disk_full(tmp):
    source, drep = os.path.join(tmp, "d.csv"), os.path.join(tmp, "d.drep")
    write(source, "a\n" + "1\n" * 1000)
    fine("import", source, drep)
    status, out, err = run("export", "--format=csv", drep, "/dev/full")
    check(status == 3 and "/dev/full: No space" in err, "%d %s", status, err)
    with open(os.path.join(tmp, "there.csv"), "w") as f:
        f.write("old")
    status, _, err = run("export", "-n", drep, os.path.join(tmp, "there.csv"))
    check(status == 3 and open(os.path.join(tmp, "there.csv")).read() == "old", "%d %s", status, err)
    p = subprocess.run("%s export --format=csv %s - | head -1" % (DATAREP, drep), shell=True,
                       capture_output=True, check=False)
    check(p.stdout == b"a\n" and not p.stderr, "%s", p)
    status, _, err = run("export", "--root=/d[0]", drep, os.path.join(tmp, "nowhere", "x.csv"))
    check(status == 3 and "No such file" in err, "%d %s", status, err)


def main():
    cases = [("random tables %d to %d" % (i, i + 24), lambda tmp, i=i: random_cases(tmp, i, 25))
             for i in range(0, 100, 25)]
    cases += [("types told by the fields", inference), ("two dimensions", matrix),
              ("missing values", missing), ("into what a schema makes", into_schema),
              ("decimals are rounded once", rounded_once), ("what is wrong is said with its place", wrong),
              ("what is unusual is accepted", accepted), ("long tables", long_table),
              ("full disks and pipes that close", disk_full)]
    print("1..%d" % len(cases), flush=True)
    for i, (name, case) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                case(tmp)
                print("ok %d - %s" % (i, name), flush=True)
            except (Differ, subprocess.TimeoutExpired) as e:
                print("not ok %d - %s\n# %s" % (i, name, str(e).replace("\n", "\n# ")), flush=True)


if __name__ == "__main__":
    main()
