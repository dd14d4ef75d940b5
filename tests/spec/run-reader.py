#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-reader.py - does a reader that was written from SPEC.md alone read what the page says?

Every good vector must give its JSON byte for byte, every bad one must be refused by the rule that
EXPECT names, and the rows of values.def must mean what they say.  Prints TAP.
"""

import contextlib
import glob
import io
import os
import re
import struct
import sys
import tempfile
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTORS = os.path.join(ROOT, "tests", "vectors")
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
import borrowed  # noqa: E402
import codes as C  # noqa: E402
import compare  # noqa: E402
import drepwrite  # noqa: E402
import reader  # noqa: E402
import vectors  # noqa: E402
from reader import filters, header, scalars, text, units  # noqa: E402
from tap import Tap  # noqa: E402


def good(path, commit, expected):
    with open(expected, encoding="utf-8") as f:
        wanted = f.read()
    shown = reader.document(path, commit)
    if shown == wanted:
        return None
    at = next((i for i, (a, b) in enumerate(zip(shown, wanted)) if a != b),
              min(len(shown), len(wanted)))
    return "at character %d: %r, not %r" % (at, shown[at - 40:at + 40], wanted[at - 40:at + 40])


def checked(path):
    with reader.File(path, external=True) as file:
        found = file.check()
    return None if not found else "\n".join(map(str, found))


def bad(path, rules, check):
    try:
        reader.document(path)
    except (reader.ReadError, reader.errors.Beyond) as e:
        return None if e.rule in rules else "refused by %s: %s" % (e.rule, e)
    if not check:
        return "it was read"
    with reader.File(path, external=True) as file:
        found = [error.rule for error in file.check()] + ["R2.3"] * bool(file.notes)
    return None if set(found) & set(rules) else "a check found %s" % found


def expectations(folder):
    with open(os.path.join(folder, "EXPECT"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, rules, *check = line.split()
                yield os.path.join(folder, name), rules.split("|"), bool(check)


def value_rows():
    """The rows of values.def, by format: (bytes, value)."""
    numbers = {form.name: number for number, form in scalars.FORMATS.items()}
    rows = {}
    with open(os.path.join(VECTORS, "values.def"), encoding="utf-8") as f:
        for name, data, value in re.findall(r'^X\("([^"]+)", "(\w+)", "([^"]+)"', f.read(), re.M):
            rows.setdefault((name, numbers[name]), []).append((bytes.fromhex(data), value))
    return rows


def hexadecimal(value):
    """A real as values.def writes it: the mantissa in hexadecimal, also of small numbers."""
    if isinstance(value, scalars.Dyadic) and value.mantissa:
        bits = abs(value.mantissa).bit_length() - 1
        digits = -(-bits // 4)
        fraction = (abs(value.mantissa) - (1 << bits)) << (4 * digits - bits)
        tail = ("." + ("%0*x" % (digits, fraction)).rstrip("0")) if digits else ""
        return "%s0x1%sp%+d" % ("-" if value.mantissa < 0 else "", tail, value.exponent + bits)
    shown = text.real(value)
    return {"0.0": "0x0p+0", "-0.0": "-0x0p+0"}.get(str(shown), shown)


def values(form, rows):
    wrong = []
    for data, value in rows:
        for order in (scalars.BIG, scalars.LITTLE):
            stored = data
            if order == scalars.LITTLE:
                stored = data[:8][::-1] + data[8:][::-1] if form == 25 else data[::-1]
            read = hexadecimal(scalars.real(form, stored, order))
            if read != value:
                wrong.append("%s (order %d) gave %s, not %s" % (data.hex(), order, read, value))
    return "\n".join(wrong) or None


def cut():
    """A slot cut anywhere is refused by a rule, never by an exception of Python's."""
    with open(os.path.join(VECTORS, "scalar.drep"), "rb") as f:
        data = f.read()
    for length in list(range(0, 300, 7)) + list(range(8150, len(data), 7)):
        with tempfile.NamedTemporaryFile(suffix=".drep") as other:
            other.write(data[:length])
            other.flush()
            try:
                reader.document(other.name)
            except reader.ReadError:
                continue
            return "%d bytes of the file were read" % length
    return None


def changed():
    """Whatever a byte of a vector becomes, the reader says so by a rule or reads a file."""
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.drep"))):
        with open(path, "rb") as f:
            data = bytearray(f.read())
        if len(data) > 20000:
            continue
        for at in range(8192, len(data), max(1, (len(data) - 8192) // 6)):
            data[at] ^= 0x41
            with tempfile.NamedTemporaryFile(suffix=".drep") as other:
                other.write(data)
                other.flush()
                try:
                    reader.document(other.name)
                except reader.ReadError:
                    pass
                except Exception as e:
                    return "%s, byte %d: %s: %s" % (path, at, type(e).__name__, e)
            data[at] ^= 0x41
    return None


def pack_unit():
    """The worked unit of PACK.md: one DOUBLE 1.5."""
    with open(os.path.join(ROOT, "PACK.md"), encoding="utf-8") as f:
        page = f.read()
    block = page[page.index("    8944 5255"):]
    lines = block[:block.index("3ff8 0000") + 19].splitlines()
    data = bytes.fromhex("".join(re.match(r"\s+((?:[0-9a-f]+ )*[0-9a-f]+)(?:  |$)", line).group(1)
                                 for line in lines).replace(" ", ""))
    unit = units.Unit(data)
    if unit.size != len(data) or unit.items != 1 or unit.rep.machine != "amd64":
        return "the fields of the unit are wrong"
    value = text.scalar(unit.rep.encoding(16).value(unit.data))
    return None if value == 1.5 else "the unit holds %r" % value


def described(name):
    """The document of a vector."""
    return compare.parse(reader.document(os.path.join(VECTORS, name + ".drep")))


def data_of(name, *members):
    found = described(name)["root"]["members"]
    return [found[member]["data"] for member in members]


def no_such_commit():
    try:
        reader.document(os.path.join(VECTORS, "commits.drep"), 7)
    except reader.ReadError:
        return None
    return "a commit that was never made is shown"


def reports_damage():
    for name, wanted in (("damaged-slot", True), ("damaged-stream", True), ("second-commit", False)):
        with reader.File(os.path.join(VECTORS, name + ".drep")) as file:
            if bool(file.notes) != wanted:
                return "%s: %s" % (name, file.notes or "no damage is reported")
    return None


def with_functions():
    """Form 2 under its author's functions."""
    def decode(code, raw):
        if code == C.CODE_OF["INT"]:
            n = int.from_bytes(raw, "little")
            return n >> 1 ^ -(n & 1)
        return struct.unpack("<d", bytes(255 - c for c in raw))[0]

    header.FUNCTIONS["zigzag"] = decode
    try:
        return compare.difference([[5, -5, 0], [1.5, -0.0]], data_of("code", "i", "d"))
    finally:
        header.FUNCTIONS.clear()


def with_filter():
    """A user's filter, once its author's function is there."""
    filters.FUNCTIONS["mirror"] = lambda parameters, data, length: drepwrite.mirror(parameters, data)
    try:
        got = data_of("user-filter", "alone", "between", "skipped")
    finally:
        filters.FUNCTIONS.clear()
    return compare.difference([[7 * i * i - 300 for i in range(12)]] * 3, got)


def image_of(name):
    """The bytes of a vector, its slot."""
    path = os.path.join(VECTORS, name + ".drep")
    with reader.File(path, external=True) as file, open(path, "rb") as f:
        return bytearray(f.read()), file.slot


def refused(image):
    """The rule by which a file with these bytes is refused, or None."""
    with tempfile.NamedTemporaryFile(suffix=".drep") as f:
        f.write(image)
        f.flush()
        try:
            reader.document(f.name)
        except reader.ReadError as e:
            return e.rule
    return None


def every_flip():
    """Every flipped bit in what a file uses is noticed."""
    image, slot = image_of("scalar")
    root = slot.root
    for at in list(range(0, 4096, 13)) + list(range(root.offset, root.offset + root.length)):
        image[at] ^= 1 << at % 8
        if not refused(image):
            return "bit %d of byte %d" % (at % 8, at)
        image[at] ^= 1 << at % 8
    return None


def every_change():
    """A changed byte of a node whose sums were set right again is refused by a rule, or read."""
    for name in ("scalars", "compound", "named", "dims", "code", "second-commit"):
        image, slot = image_of(name)
        at, length = slot.root.offset, slot.root.length
        if image[at + 5]:
            return name + " has no leaf for a root"
        for i in range(40, length, 3):
            for value in (0, image[at + i] ^ 0x81, 255):
                changed_image = bytearray(image)
                changed_image[at + i] = value
                node = changed_image[at:at + length]
                total = drepwrite.u64(borrowed.xxh3(node[:32] + bytes(8) + node[40:]))
                changed_image[at + 32:at + 40] = total
                changed_image[slot.offset + 92:slot.offset + 100] = total
                refused(drepwrite.resum(changed_image, slot.offset // 4096))
    return None


def fraction(value):
    return value.fraction if isinstance(value, scalars.Dyadic) else Fraction(value)


def scalars_round():
    """What the writer encodes exactly, the reader decodes to the same number."""
    numbers = [Fraction(1), Fraction(-5, 2), Fraction(3, 8), Fraction(100), Fraction(-1, 16)]
    for form, (name, cls, sizes) in C.FORMATS.items():
        if cls != "real":
            continue
        for size in sizes:
            for order in (0, 1, 2) if size == 1 or size % 2 == 0 else (0, 1):
                for number in numbers:
                    if form in (C.FP8_E4M3, C.FP8_E5M2) and number == 100:
                        continue
                    raw = drepwrite.encode(number, form, order, size)
                    if fraction(scalars.plain(form, raw, order)) != number:
                        return "%s, order %d: %s" % (name, order, number)
    return None


def scalars_known():
    """Bytes whose values are known from elsewhere."""
    known = [
        (C.X87, 0, 10, "3ffb cccccccccccccccd", "0x1.999999999999999ap-4"),
        (C.X87, 0, 10, "0000 0000000000000001", "0x1p-16445"),
        (C.X87, 0, 10, "7fff 8000000000000000", "inf"),
        (C.X87, 0, 10, "ffff 8000000000000000", "-inf"),
        (C.X87, 0, 10, "ffff 0000000000000000", "nan"),
        (C.X87, 0, 10, "7fff c000000000000000", "nan"),
        (C.X87, 0, 12, "ffff 3fff 8000000000000000", 1.0),
        (C.X87, 1, 12, "0000000000000080 ff3f ffff", 1.0),
        (C.X87, 0, 10, "0000 8000000000000000", "0x1p-16382"),
        (C.X87, 0, 10, "4000 4000000000000000", "nan"),
        (C.M68K, 0, 12, "3fff ffff 8000000000000000", 1.0),
        (C.M68K, 0, 12, "0000 0000 8000000000000000", "0x1p-16383"),
        (C.M68K, 0, 12, "0000 0000 0000000000000001", "0x1p-16446"),
        (C.M68K, 0, 12, "7fff 0000 0000000000000000", "inf"),
        (C.IBM32, 0, 4, "c276a000", -118.625),
        (C.IBM64, 0, 8, "4110000000000000", 1.0),
        (C.IBM32, 0, 4, "00000001", 16.0 ** -70),
        (C.VAX_F, 2, 4, "8040 0000", 1.0),
        (C.VAX_F, 2, 4, "4941 d00f", 3.141590118408203),
        (C.VAX_F, 2, 4, "0080 0000", "nan"),
        (C.VAX_F, 2, 4, "0000 ffff", 0.0),
        (C.VAX_D, 2, 8, "8040 0000 0000 0000", 1.0),
        (C.VAX_G, 2, 8, "1040 0000 0000 0000", 1.0),
        (C.VAX_H, 2, 16, "0140" + "0000" * 7, 1.0),
        (C.CRAY64, 0, 8, "4001800000000000", 1.0),
        (C.CRAY64, 0, 8, "e000800000000000", "-inf"),
        (C.DOUBLE_DOUBLE, 0, 16, "3ff0000000000000 bc70000000000000",
         "0x1.fffffffffffffep-1"),
        (C.DOUBLE_DOUBLE, 0, 16, "8000000000000000 0000000000000000", -0.0),
        (C.FP8_E4M3, 0, 1, "7e", 448.0), (C.FP8_E4M3, 0, 1, "ff", "nan"),
        (C.FP8_E4M3, 0, 1, "01", 2.0 ** -9), (C.FP8_E5M2, 0, 1, "7c", "inf"),
        (C.FP8_E5M2, 0, 1, "7b", 57344.0), (C.BFLOAT16, 0, 2, "7f7f", float.fromhex("0x1.fep127")),
        (C.BINARY16, 1, 2, "0100", 2.0 ** -24), (C.BINARY16, 0, 2, "7bff", 65504.0),
        (C.INT, 2, 4, "0201 0403", 0x01020304), (C.INT, 0, 3, "fffffe", -2),
        (C.EBCDIC, 0, 1, "c1", "A"), (C.BOOL, 1, 2, "0001", True),
    ]
    for form, order, size, raw, want in known:
        data = bytes.fromhex(raw)
        got = text.scalar(scalars.plain(form, data, order))
        if len(data) != size or repr(got) != repr(want):
            return "%s %s: %r, not %r" % (C.FORMATS[form][0], raw, got, want)
    return None


def machines():
    """The images that a compiler laid out for a machine read as the values of their source."""
    want = {"s390x": ("0x1." + "f" * 28 + "p+16383", "0x1p-16382", "0x1p-16494"),
            "m68k": ("0x1.fffffffffffffffep+16383", "0x1p-16383", "0x1p-16446"),
            "i386": ("0x1.fffffffffffffffep+16383", "0x1p-16382", "0x1p-16445")}
    for abi, extremes in want.items():
        got = data_of("native-" + abi, "long double")[0]
        wrong = compare.difference([0.0, -0.0, 1.0, -2.5, vectors.TENTH[abi]], got[:5])
        wrong = wrong or compare.difference([*extremes, "inf", "-inf", "nan"], got[6:])
        if wrong:
            return abi + ": " + wrong
    return None


def filters_back():
    """Filters against the writer's, on lengths that leave something over."""
    data = bytes(i * i * 7 + i // 3 & 255 for i in range(200))
    for n in (0, 1, 7, 8, 63, 64, 65, 200):
        part = data[:n]
        for s in (1, 2, 3, 4, 8, 16):
            if filters.unshuffle(drepwrite.shuffle(part, s), s) != part:
                return "shuffle(%d) of %d bytes" % (s, n)
            if filters.unbitshuffle(drepwrite.bitshuffle(part, s), s) != part:
                return "bitshuffle(%d) of %d bytes" % (s, n)
        for w in (1, 2, 4, 8):
            for order in (0, 1):
                if filters.undelta(drepwrite.delta(part, w, order), w, order) != part:
                    return "delta(%d,%d) of %d bytes" % (w, order, n)
    return None


def main():
    tap = Tap()
    for expected in sorted(glob.glob(os.path.join(VECTORS, "*.json"))):
        name, commit = os.path.basename(expected)[:-5], None
        if not os.path.exists(os.path.join(VECTORS, name + ".drep")):
            name, number = name.rsplit("-", 1)
            commit = int(number)
        path = os.path.join(VECTORS, name + ".drep")
        tap.run("%s%s gives its JSON" % (name, "" if commit is None else ", commit %d" % commit),
                good, path, commit, expected)
        if commit is None:
            tap.run("%s stands every check" % name, checked, path)
    with tempfile.TemporaryDirectory() as work:
        with contextlib.redirect_stderr(io.StringIO()):
            badvectors.write(work, everything=True)
        for folder in (os.path.join(VECTORS, "bad"), work):
            for path, rules, check in expectations(folder):
                tap.run("%s is refused by %s" % (os.path.basename(path), " or ".join(rules)), bad,
                        path, rules, check)
    for (name, form), rows in value_rows().items():
        tap.run("%d values of %s" % (len(rows), name), values, form, rows)
    for name, function in (
            ("a commit that is not there", no_such_commit),
            ("a damaged slot is reported", reports_damage),
            ("form 2 with its author's functions", with_functions),
            ("a filter with its author's function", with_filter),
            ("a file that is cut is refused", cut), ("every flipped bit is noticed", every_flip),
            ("a file that is changed is refused by a rule or read", changed),
            ("a changed node under right sums is refused by a rule or read", every_change),
            ("scalars of every format and order", scalars_round),
            ("scalars of known bytes", scalars_known), ("images of foreign machines", machines),
            ("filters", filters_back), ("the worked pack unit", pack_unit)):
        tap.run(name, function)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
