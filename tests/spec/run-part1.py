#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-part1.py [--update] - is what Part I of SPEC.md tells true of the file that it reads by hand?

Each line of its dumps is `place  bytes   words`: the place in hexadecimal, or none where the line goes on
behind the one before; bytes are pairs of digits, "texts" and `00 (n times)`; `...` leaves bytes out.  They must
be those of tests/vectors/part1.drep, and every byte that is not zero must be shown.  part1.py beside it, which has
the steps that the page names, prints what is in the vector.  --update writes into the page what the file has, where a line has as many bytes as before; a
record that has become longer is mended by hand first.  Prints TAP.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTOR = os.path.join(ROOT, "tests", "vectors", "part1.drep")
sys.path.insert(0, HERE)

import dumps  # noqa: E402
from tap import Tap  # noqa: E402

ITEM = r'(?:[0-9a-f]{2}(?![0-9a-f\w])|"[^"]*"|\(\d+ times\))'
LINE = re.compile(r"(?:([0-9a-f]{4})  |      )(%s(?: {1,2}%s)*)(?=   |$| [a-z])" % (ITEM, ITEM))
# Where the system has no xxhash module, the programs get this one.
XXHASH = "import sys\nsys.path[:0] = [%r]\nimport borrowed\nxxh3_64_intdigest = borrowed.xxh3\n" % HERE


def page():
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
        return f.read()


def bounds(text):
    return text.index("\n# Part I."), text.index("\n# Part II.")


def data_of(shown):
    out = b""
    for item in re.findall(ITEM, shown):
        if item[0] == '"':
            out += item[1:-1].encode()
        elif item[0] == "(":
            out += out[-1:] * (int(item.split()[0][1:]) - 1)
        else:
            out += bytes([int(item, 16)])
    return out


def as_shown(shown, raw):
    """The bytes as the line had its old ones: texts as texts, if they are; repeats as repeats."""
    if "times" in shown:
        return shown if len(set(raw)) == 1 and raw[:1] == data_of(shown)[:1] else raw.hex(" ")
    out, at = "", 0
    for space, item in re.findall(r"( *)(%s)" % ITEM, shown):
        n = len(item) - 2 if item[0] == '"' else 1
        part, at = raw[at:at + n], at + n
        out += space + ('"%s"' % part.decode() if item[0] == '"' and part.isascii() and part.decode().isprintable()
                        else part.hex(" "))
    return out


def lines(text):
    """(line, match, place, whether the place is the one behind the line before) of each line of a dump."""
    at, follows, inside = None, False, False
    for line in text.splitlines():
        inside ^= line.startswith("```")
        found = inside and LINE.match(line)
        if found and (found[1] or at is not None):
            place = at if at is not None and (follows or not found[1]) else int(found[1], 16)
            yield line, found, place
            at, follows = place + len(data_of(found[2])), True
        else:
            at = at if inside else None
            follows = False


def mended(line, found, place, raw):
    data = as_shown(found[2], raw[place:place + len(data_of(found[2]))])
    front = "%04x  " % place if found[1] else "      "
    rest = line[found.end():]
    wide = len(found[2]) + len(rest) - len(rest.lstrip())
    return (front + data.ljust(wide) + rest.lstrip()).rstrip()


def dumped(text, raw):
    seen, wrong, count = set(), [], 0
    for line, found, place in lines(text):
        count += 1
        should = mended(line, found, place, raw)
        if should != line.rstrip():
            wrong += ["is        %s" % line.strip(), "should be %s" % should.strip()]
        seen |= set(range(place, place + len(data_of(found[2]))))
    absent = [i for i, b in enumerate(raw) if b and i not in seen]
    if absent:
        fields = [f for f in dumps.dump(raw).splitlines() if re.match(" *%d  " % absent[0], f)]
        wrong.append("byte %04x and %d more are not shown: %s" % (absent[0], len(absent) - 1, "".join(fields).strip()))
    size = "{:,} bytes, most of them zero".format(len(raw))
    if size not in " ".join(text.split()):
        wrong.append("the file has %s" % size)
    return wrong or ([] if count > 60 else ["only %d lines of dumps found" % count])


def run():
    with tempfile.TemporaryDirectory() as work:
        try:
            import xxhash  # noqa: F401
        except ImportError:
            with open(os.path.join(work, "xxhash.py"), "w", encoding="utf-8") as f:
                f.write(XXHASH)
        done = subprocess.run([sys.executable, VECTOR[:-5] + ".py", VECTOR], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PYTHONPATH=work), check=False)
    return done.stdout.split() if done.returncode == 0 else [done.stderr]


def program(text):
    """The program prints the values, and has the steps that the page names."""
    with open(VECTOR[:-5] + ".json", encoding="utf-8") as f:
        members = json.load(f)["root"]["members"]
    shown = run()
    if shown != [str(v) for v in [members["pi"]["data"]] + members["tide"]["data"]]:
        yield "it printed %s" % " ".join(shown)[-500:]
    with open(VECTOR[:-5] + ".py", encoding="utf-8") as f:
        code = f.read()
    steps = re.findall(r"^(\w+)(?:\([\w, ]*\))?: ", text[text.index("## A reader"):], re.M)
    yield from ("it has no %s()" % s for s in steps if not re.search(r"^def %s\(" % s, code, re.M))
    if len(steps) < 6:
        yield "the page names only %s" % steps


def notices_damage(text):
    """Bytes and places that are changed in the page are named."""
    part = text[slice(*bounds(text))]
    with open(VECTOR, "rb") as f:
        raw = f.read()
    for old, new in (("40 0a 00", "40 0b 00"), ("\n0ff8  ", "\n0ff0  "), ('"amd64"', '"amd65"'), ("78 da 63", "78 da 64")):
        if old not in part or not dumped(part.replace(old, new, 1), raw):
            yield "`%s` for `%s` is not noticed" % (new, old)


def main(argv):
    text = page()
    begin, end = bounds(text)
    part = text[begin:end]
    with open(VECTOR, "rb") as f:
        raw = f.read()
    if argv == ["--update"]:
        new = {line: mended(line, found, place, raw) for line, found, place in lines(part)}
        out = [new.get(line, line) for line in part.splitlines()]
        for a, b in zip(part.splitlines(), out):
            if a != b:
                print("%s\n%s" % (a, b))
        with open(os.path.join(ROOT, "SPEC.md"), "w", encoding="utf-8") as f:
            f.write(text[:begin] + "\n".join(out) + "\n" + text[end:])
        return 0
    cases = (("the dumps of Part I", lambda: dumped(part, raw)), ("the program of Part I", lambda: program(part)),
             ("a mistake in a dump is named", lambda: notices_damage(text)))
    tap = Tap()
    for name, fn in cases:
        tap.run(name, lambda fn=fn: "\n".join(fn()))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
