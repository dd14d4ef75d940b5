#!/usr/bin/python3
"""run-second.py - does a reader that was written from SPEC.md alone read what the page says?

Every good vector must give its JSON byte for byte, every bad one must be refused by the rule that
EXPECT names, and the rows of values.def must mean what they say.  Prints TAP.
"""

import contextlib
import glob
import io
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTORS = os.path.join(ROOT, "tests", "vectors")
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
import second  # noqa: E402
from second import scalars, text, units  # noqa: E402


# Bad vectors that break two rules of the page, and the one that this reader meets first.
BOTH = {
    "rep-cut.drep": "R3.6",  # the records of a REP fill it exactly
    "header-record-cut.drep": "R3.1",  # so do those of the header
    "rep-missing.drep": "R8.4",  # a dataset's representation is one of the header
    "attribute-of-nothing.drep": "R2.18",  # the object's id is not given yet either
    "name-not-utf8.drep": "R1.3",  # a name is text, and text is UTF-8
    "packed-outside-file.drep": "R8.22",  # R8.22 says of chunk records what R2.14 says of all
    "packed-in-slots.drep": "R8.22",
    "placed-outside-file.drep": "R8.22",
    "pending-outside.drep": "R6.4",  # as R6.3 and R6.4 do of extents
    "free-outside.drep": "R6.3",
    "filter-with-name.drep": "R8.31",  # n is 0 below id 32768
}


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def run(self, name, function, *args):
        """A test is a function that returns what is wrong, or None."""
        try:
            wrong = function(*args)
        except Exception as e:  # A broken test is a failed test.
            wrong = "%s: %s" % (type(e).__name__, e)
        self.count += 1
        self.failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", self.count, name))
        for line in str(wrong or "").splitlines():
            print("# " + line)


def good(path, commit, expected):
    with open(expected, encoding="utf-8") as f:
        wanted = f.read()
    shown = second.document(path, commit)
    if shown == wanted:
        return None
    at = next((i for i, (a, b) in enumerate(zip(shown, wanted)) if a != b),
              min(len(shown), len(wanted)))
    return "at character %d: %r, not %r" % (at, shown[at - 40:at + 40], wanted[at - 40:at + 40])


def checked(path):
    with second.File(path) as file:
        found = file.check()
    return None if not found else "\n".join(map(str, found))


def bad(path, rules, check):
    try:
        second.document(path)
    except second.ReadError as e:
        return None if e.rule in rules else "refused by %s: %s" % (e.rule, e)
    if not check:
        return "it was read"
    with second.File(path) as file:
        found = [error.rule for error in file.check()]
    return None if set(found) & set(rules) else "a check found %s" % found


def expectations(folder):
    with open(os.path.join(folder, "EXPECT"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, rules, *check = line.split()
                also = [BOTH[name]] if name in BOTH else []
                yield os.path.join(folder, name), rules.split("|") + also, bool(check)


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
                second.document(other.name)
            except second.ReadError:
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
                    second.document(other.name)
                except second.ReadError:
                    pass
                except Exception as e:
                    return "%s, byte %d: %s: %s" % (path, at, type(e).__name__, e)
            data[at] ^= 0x41
    return None


def pack_unit():
    """The worked unit of section 12: one DOUBLE 1.5."""
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
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
    tap.run("a file that is cut is refused", cut)
    tap.run("a file that is changed is refused by a rule or read", changed)
    tap.run("the worked pack unit", pack_unit)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
