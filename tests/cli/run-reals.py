#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-reals.py - reals of every format as text: exported as CSV and imported again they have the same bits.

The text is also compared with exact arithmetic: it is within half a gap of the value, and none with a
digit less is.  What bits mean is said by the reader of tests/spec, which shares no code with the library.

    tests/cli/run-reals.py [VALUES [SEED]]
"""
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../spec")]
import codes as C  # noqa: E402
import drepwrite  # noqa: E402
from reader import scalars  # noqa: E402

DATAREP = os.path.abspath(os.environ.get("DATAREP", HERE + "/../../build/release/datarep"))
# Bits of the significand, log2 of the base, power of two of the least number's last bit.
PRECISION = {C.X87: (64, 1, -16445), C.M68K: (64, 1, -16446), C.IBM32: (24, 4, -280), C.IBM64: (56, 4, -312),
             C.IBM128: (112, 4, -368), C.VAX_F: (24, 1, -151), C.VAX_D: (56, 1, -183), C.VAX_G: (53, 1, -1076),
             C.VAX_H: (113, 1, -16496), C.CRAY64: (48, 1, -16432), C.BINARY32: (24, 1, -149),
             C.BINARY64: (53, 1, -1074), C.BINARY128: (113, 1, -16494)}


def hexadecimal(value):
    power = value.denominator.bit_length() - 1
    return '"%s0x%xp%d"' % ("-" if value < 0 else "", abs(value.numerator), -power)


def stored(path, size):
    """The bytes of each element, as the file has them."""
    raw = run("dump", "--raw", "--as=stored", path, "/d")
    return [raw[i:i + size] for i in range(0, len(raw), size)]


def run(*command):
    p = subprocess.run([DATAREP, *command], capture_output=True, timeout=100, check=False)
    if p.returncode:
        raise AssertionError("datarep %s: status %d: %s" % (" ".join(command), p.returncode, p.stderr.decode()))
    return p.stdout


def fraction(value):
    if isinstance(value, scalars.Dyadic):
        return value.fraction
    return None if isinstance(value, str) or value != value or abs(value) == float("inf") else Fraction(value)


def exact(form, raw, order):
    try:
        return fraction(scalars.plain(form, raw, order))
    except (ValueError, OverflowError):
        return None


def make(form, size, order, rng):
    """The bytes of a number that is not 0, as its format writes it, and its value."""
    while True:
        if form == C.DOUBLE_DOUBLE:
            high = rng.uniform(-2, 2) * 2.0 ** rng.choice((0, rng.randint(-900, 900)))
            low = rng.choice((0.0, high * rng.uniform(-1, 1) * 2.0 ** -rng.randint(53, 70)))
            value = Fraction(high) + Fraction(low)
        else:
            value = exact(form, rng.randbytes(size), order)
        if not value:
            continue
        if rng.random() < 0.5:  # of a size that people have
            while abs(value) > 2 ** 40:
                value /= 16
            while abs(value) < Fraction(1, 2 ** 40):
                value *= 16
        try:
            raw = drepwrite.encode(value, form, order, size)
        except (AssertionError, ValueError, OverflowError):
            continue
        if exact(form, raw, order) == value:
            return raw, value


def number(text):
    """The value of the text, its digits, and the power of ten of the last one; None: it is no decimal."""
    if "x" in text:
        head, power = text.replace("0x", "").split("p")
        whole, _, part = head.partition(".")
        return int(whole + part, 16) * Fraction(2) ** (int(power) - 4 * len(part)), None, None
    head, _, power = text.lstrip("-").partition("e")
    whole, _, part = head.partition(".")
    digits = (whole + part).lstrip("0")
    last = int(power or 0) - len(part)
    last += len(digits) - len(digits.rstrip("0"))
    return Fraction(text), digits.rstrip("0"), last


def log2(value):
    top = value.numerator.bit_length() - value.denominator.bit_length()
    return top if Fraction(2) ** top <= value else top - 1


def wrong(form, text, value):
    """How a text is not the shortest for a value, or None."""
    got, digits, last = number(text)
    if digits is None:
        return None if got == value else "is %s" % float(got)
    if form not in PRECISION:
        return None
    bits, base, least = PRECISION[form]
    size = abs(value)
    into = log2(size) % base
    unit = Fraction(2) ** max(log2(size) - into + base - bits, least)
    first = size == Fraction(2) ** log2(size) and into == 0 and unit > Fraction(2) ** least
    low, high = size - unit / (2 << (base if first else 0)), size + unit / 2
    ties = form in (C.BINARY32, C.BINARY64)  # which std::to_chars() knows to be rounded to even
    if not (low <= abs(got) <= high if ties else low < abs(got) < high):
        return "is another number"
    ten = Fraction(10) ** (last + 1)
    for shorter in (size // ten, size // ten + 1):
        if len(digits) > 1 and low < shorter * ten < high:
            return "is not the shortest: %s" % (shorter * ten)
    return None


def round_trip(folder, form, count, rng):
    name, _, sizes = C.FORMATS[form]
    order = 2 if name.startswith("vax") else 0
    size = min(sizes)
    made = [make(form, size, order, rng) for _ in range(count)]
    schema, filled, table = (os.path.join(folder, x) for x in ("s.yaml", "f.yaml", "x.csv"))
    first, second = (os.path.join(folder, x) for x in ("a.drep", "b.drep"))
    for path, data in ((schema, ""), (filled, ", data: [%s]" % ", ".join(hexadecimal(v) for _, v in made))):
        with open(path, "w", encoding="ascii") as f:
            f.write("datarep: r\ndatareps: {r: {order: %s, types: {LONG_DOUBLE: {format: %s, size: %d}}}}\n"
                    "root: {d: {dataset: LONG_DOUBLE, shape: [%d]%s}}\n"
                    % ("vax" if order == 2 else "big", name, size, count, data))
    run("create", "-s", filled, first)
    run("export", "--root=/d", first, table)
    run("create", "-s", schema, second)
    run("import", "-u", "-i", "/d", table, second)
    with open(table, encoding="ascii") as f:
        texts = f.read().split("\n")[1:-1]
    was, now = (stored(path, size) for path in (first, second))
    assert len(texts) == len(was) == len(now) == count, "elements were lost"
    assert was == [r for r, _ in made], "the schema's values are not what it says"
    for i, (bits, value) in enumerate(made):
        again = now[i]
        assert exact(form, again, order) == value, "%s, printed as %s, became %s" % (bits.hex(), texts[i], again.hex())
        assert again == bits, "%s, printed as %s, has become %s" % (bits.hex(), texts[i], again.hex())
        why = wrong(form, texts[i], value)
        assert not why, "%s, printed as %s, %s" % (bits.hex(), texts[i], why)


def said_of_each():
    """A complex number that is not shown says so itself, not what failed before it."""
    form = (C.DOUBLE_DOUBLE, 0, 32, 8)
    b = drepwrite.Builder("pairs", table={C.CODE_OF["C_DOUBLE_COMPLEX"]: form, C.CODE_OF["INT"]: (C.INT, 0, 4, 4)})
    d = b.dataset(1, "a", "INT", (2,), "chunked", (2,), [("nobody", (1,))])
    b.packed(d, (0,), [bytes(24)])
    b.dataset(1, "c", "C_DOUBLE_COMPLEX", (1,), data=[(1 + Fraction(1, 1 << 300), -1)])
    b.commit()
    with tempfile.NamedTemporaryFile(suffix=".drep") as f:
        f.write(b.image())
        f.flush()
        done = subprocess.run([DATAREP, "dump", "--json", f.name], capture_output=True, text=True)
    said = done.stderr.splitlines()
    assert len(said) == 2 and "nobody" in said[0], said
    assert said[1].endswith("/c: a complex number has more digits, or another power, than binary128 holds"), said


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    forms = [form for form, (_, cls, _) in C.FORMATS.items() if cls == "real"]
    bad = 0
    for n, form in enumerate(forms, 1):
        why = ""
        with tempfile.TemporaryDirectory() as folder:
            try:
                round_trip(folder, form, count, random.Random("%d %d" % (seed, form)))
            except AssertionError as e:
                why = str(e)
        bad += bool(why)
        print("%sok %d - %s: %d numbers as text and back" % ("not " if why else "", n, C.FORMATS[form][0], count))
        if why:
            print("# seed %d: %s" % (seed, why))
    why = ""
    try:
        said_of_each()
    except AssertionError as e:
        why = str(e)
    bad += bool(why)
    print("%sok %d - a number that is not shown says why" % ("not " if why else "", len(forms) + 1))
    if why:
        print("# %s" % why)
    print("counted: %d numbers as text" % (count * len(forms)))
    print("1..%d" % (len(forms) + 1))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
