# SPDX-License-Identifier: MIT
"""golden.py - files written as every known machine holds the C types, against the bytes that its
compiler made (tests/vectors/golden.def).

    golden.py machines              one name a line
    golden.py schema NAME           values as exactly as that machine holds them
    golden.py bytes NAME FILE       the file's data is the compiler's, byte for byte
    golden.py as NAME FILE          `dump --as`, raw and in text, shows these bytes of any file
    golden.py values NAME JSON      `dump --json` shows these values
    golden.py common                a schema that every representation can hold
    golden.py same JSON JSON        both dumps show the same data
"""

import json
import os
import re
import struct
import subprocess
import sys
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../spec"))

from reader import File  # noqa: E402
from reader.tree import DATA  # noqa: E402

# 0, -0, 1, -2.5, 0.1, pi, max, min, smallest, as the format has them; infinities follow.
REALS = {
    "binary32": "0x1.99999ap-4 0x1.921fb6p+1 0x1.fffffep+127 0x1p-126 0x1p-149",
    "binary64": "0x1.999999999999ap-4 0x1.921fb54442d18p+1 0x1.fffffffffffffp+1023 0x1p-1022 "
                "0x1p-1074",
    "binary128": "0x1.999999999999999999999999999ap-4 0x1.921fb54442d18469898cc51701b8p+1 "
                 "0x1.ffffffffffffffffffffffffffffp+16383 0x1p-16382 0x1p-16494",
    "x87": "0x1.999999999999999ap-4 0x1.921fb54442d1846ap+1 0x1.fffffffffffffffep+16383 "
           "0x1p-16382 0x1p-16445",
    "m68k": "0x1.999999999999999ap-4 0x1.921fb54442d1846ap+1 0x1.fffffffffffffffep+16383 "
            "0x1p-16383 0x1p-16446",
    # gcc's pi is one unit below the nearest.
    "double-double": "0x1.999999999999999999999999998p-4 0x1.921fb54442d18469898cc517018p+1 "
                     "0x1.fffffffffffff7ffffffffffff8p+1023 0x1p-969 0x1p-1074",
}


def reals(form):
    return ["0.0", "-0.0", "1.0", "-2.5"] + REALS[form].split() + [".inf", "-.inf"]


def images():
    out = {}
    with open(os.path.join(HERE, "../vectors/golden.def")) as f:
        for machine, array, digits in re.findall(r'^IMAGE\((\w+), (\w+), "([0-9a-f]*)"\)', f.read(),
                                                 re.M):
            out.setdefault(machine.replace("_", "-"), {})[array] = bytes.fromhex(digits)
    return out


def long_double(machine, image):
    """The format, told by the bytes of 12 values: their size, and where 1 has its bits."""
    size = len(image) // 12
    one = bytes(image[2 * size:3 * size])
    if size == 8:
        return "binary64"
    if one.strip(b"\0") in (b"\x3f\xf0", b"\xf0\x3f"):
        return "double-double"
    if size == 12 and one[:2] == b"\x3f\xff":
        return "m68k"
    return "x87" if b"\x80\xff\x3f" in one else "binary128"


def integers(size, last):
    top = 1 << (8 * size - 1)
    return ["0", "1", "-1", str(top - 1), str(-top), str(last)]


def arrays(machine):
    """Name: type, values as texts, of what that compiler has."""
    im = images()[machine]
    ld = long_double(machine, im["ldouble"])
    size = 8 if len(im["long"]) >= 48 else 4
    tenth = REALS[ld].split()[0]
    out = {
        "float": ("FLOAT", reals("binary32")),
        "double": ("DOUBLE", reals("binary64")),
        "ldouble": ("LONG_DOUBLE", reals(ld)),
        "short": ("SHORT", integers(2, 0x0102)),
        "int": ("INT", integers(4, 0x01020304)),
        "long": ("LONG", integers(size, 0x01020304)),
        "llong": ("LONG_LONG", integers(8, 0x0102030405060708)),
        "ulong": ("UNSIGNED_LONG", ["0", "1", str((1 << 8 * size) - 1)]),
        "wchar": ("WCHAR", ["A", "\u20ac"]),
        "bool": ("C_BOOL", ["false", "true", "true"]),
        "i128": ("INTEGER16", ["1", "-1", str(0x0102030405060708090A0B0C0D0E0F10)]),
        "f16": ("FLOAT16", ["0.0", "1.0", "-2.5", "0x1.998p-4", "65504.0"]),
        "f128": ("FLOAT128", ["0.0", "1.0", "-2.5", "0x1.999999999999ap-4",
                              "0x1.921fb54442d18469898cc51701b8p+1"]),
        "dcomplex": ("C_DOUBLE_COMPLEX", ["[1.0, 2.0]", "[-0.5, -0.25]"]),
        "struct": ("{struct: {c: CHAR, s: SHORT, i: INT, l: LONG, q: LONG_LONG, f: FLOAT, "
                   "d: DOUBLE, e: LONG_DOUBLE, b: C_BOOL}}",
                   ["{c: a, s: -2, i: 3, l: -4, q: 5, f: 0.5, d: -0.25, e: \"%s\", b: true}" % tenth,
                    "{c: z, s: 258, i: 16909060, l: 7, q: -8, f: 1e10, d: 1e100, e: -2.5, b: false}"]),
    }
    return {name: v for name, v in out.items() if name in im}


def quoted(text):
    return text if text[0] in "[{" else '"%s"' % text if "0x" in text else text


def schema(machine):
    print("root:")
    for name, (kind, values) in arrays(machine).items():
        print("  %s: {dataset: %s, shape: [%d], data: [%s]}" %
              (name, kind, len(values), ", ".join(map(quoted, values))))


def stored(path):
    """The stored bytes of the datasets in the root group, by name."""
    out = {}
    with File(path) as file:
        for link in file.members[1]:
            compact = file.tree.of(link.target, DATA)
            records = file.datasets[link.target].records
            out[link.name] = compact[0].value if compact else b"".join(
                record.payload(i)[0] for record in records for i in range(record.run))
    return out


def check_bytes(machine, path):
    for name, got in stored(path).items():
        want = images()[machine][name]
        if name in ("float", "double", "ldouble"):  # but for the NaN, whose payload is free
            want = want[:len(want) // 12 * 11]
        if got != want[:len(got)] or want[len(got):].strip(b"\0"):
            sys.exit("%s under %s: %s, not %s" % (name, machine, got.hex(), want.hex()))


def dump(*args):
    return subprocess.run([os.environ["DATAREP"], "dump", *args], check=True,
                          stdout=subprocess.PIPE).stdout


def check_as(machine, path):
    """The raw bytes are the compiler's; in text they are the same, two dots a byte of a gap."""
    shown = {}
    for line in dump("--as=native:" + machine, path).decode().splitlines():
        if line.startswith("/"):
            name = line[1:line.index(":")]
        elif line.startswith("    "):
            shown[name] = shown.get(name, "") + line.strip().split("  ")[0]
    for name in arrays(machine):
        got, want = dump("--raw", "--as=native:" + machine, path, name), images()[machine][name]
        if name in ("float", "double", "ldouble"):
            want = want[:len(want) // 12 * 11]
        if not got or got[:len(want)] != want[:len(got)] or want[len(got):].strip(b"\0"):
            sys.exit("%s as %s: %s, not %s" % (name, machine, got.hex(), want.hex()))
        if bytes.fromhex(shown[name].replace(" ", "").replace(".", "0")) != got:
            sys.exit("%s as %s: %s in text, not %s" % (name, machine, shown[name], got.hex()))


def number(text, single=False):
    """What a JSON value or a schema's text stands for, exactly; single: read as binary32."""
    if isinstance(text, bool) or text in ("false", "true"):
        return text in (True, "true")
    if isinstance(text, (int, float)):
        if single:
            text = struct.unpack("f", struct.pack("f", text))[0]
        return (Fraction(text), str(text)[0] == "-")
    if text.lstrip("-.") in ("inf", "nan"):
        return text.replace(".", "")
    m = re.fullmatch(r"(-?)0x1(?:\.([0-9a-f]*))?p([+-]?\d+)", text)
    if m:
        digits = m[2] or ""
        return (Fraction(int(m[1] + "1" + digits, 16)) * Fraction(2) **
                (int(m[3]) - 4 * len(digits)), bool(m[1]))
    if re.fullmatch(r"-?\d+", text):
        return (Fraction(text), text[0] == "-")
    if re.fullmatch(r"-?[0-9.]+(e[+-]?\d+)?", text):
        return number(float(text), single)
    return text


def values_of(path):
    with open(path) as f:
        root = json.load(f)["root"]["members"]
    return {name: member["data"] for name, member in root.items()}


def check_values(machine, path):
    got = values_of(path)
    for name, (_, values) in arrays(machine).items():
        if name == "dcomplex":
            values = [v.strip("[]").split(", ") for v in values]
        elif name == "struct":
            values = [[p.split(": ")[1].strip('"') for p in v.strip("{}").split(", ")]
                      for v in values]
            got[name] = [list(v.values()) for v in got[name]]
        for a, b in zip(got[name], values, strict=True):
            a, b = ([a], [b]) if not isinstance(a, list) else (a, b)
            if [number(x, name == "float") for x in a] != [number(x, name == "float") for x in b]:
                sys.exit("%s under %s: %s is not %s" % (name, machine, a, b))


def common():
    print("""root:
  float: {dataset: FLOAT, data: [%s, .nan]}
  double: {dataset: DOUBLE, data: [%s, .nan]}
  ldouble: {dataset: LONG_DOUBLE, data: [%s, .nan]}
  short: {dataset: SHORT, data: [0, -1, 32767, -32768]}
  int: {dataset: INT, data: [0, -1, 2147483647, -2147483648]}
  long: {dataset: LONG, data: [0, -1, 2147483647, -2147483648]}
  ulong: {dataset: UNSIGNED_LONG, data: [0, 4294967295]}
  llong: {dataset: LONG_LONG, data: [0, -1, 9223372036854775807, -9223372036854775808]}
  wchar: {dataset: WCHAR, data: [A, "\\u20ac"]}
  bool: {dataset: C_BOOL, data: [false, true]}
  i128: {dataset: INTEGER16, data: [1, -1, 1339673755198158349044581307228491536]}
  zcomplex: {dataset: C_LONG_DOUBLE_COMPLEX, shape: [2], data: [[1, 2], [-0.5, "0x1.999999999999ap-4"]]}
  struct:
    dataset: {struct: {c: CHAR, d: DOUBLE, l: LONG, e: LONG_DOUBLE, b: C_BOOL, i: INT}}
    shape: [2]
    data:
      - {c: a, d: 0.1, l: -4, e: "0x1.999999999999ap-4", b: true, i: 3}
      - {c: z, d: 1e100, l: 2147483647, e: -2.5, b: false, i: -1}
""" % tuple(", ".join(map(quoted, reals(form))) for form in ("binary32", "binary64", "binary64")))


def main(argv):
    if argv[0] == "machines":
        print("\n".join(images()))
    elif argv[0] == "schema":
        schema(argv[1])
    elif argv[0] == "bytes":
        check_bytes(argv[1], argv[2])
    elif argv[0] == "as":
        check_as(argv[1], argv[2])
    elif argv[0] == "values":
        check_values(argv[1], argv[2])
    elif argv[0] == "common":
        common()
    elif values_of(argv[1]) != values_of(argv[2]):
        sys.exit("%s\nis not\n%s" % (values_of(argv[2]), values_of(argv[1])))


if __name__ == "__main__":
    main(sys.argv[1:])
