#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-golden.py - the files that the machines of the world wrote, read here.

Usage: tests/hetero/run-golden.py            prints TAP
       tests/hetero/run-golden.py --page     puts the table of its findings into PORTABILITY.md

tests/vectors/machines has one file of every machine, all of the same content, under the
representation of its writer.  For each: the reader in Python and the command say the same, and
it is what exact arithmetic makes of the content on that machine.  For each two: `datarep
diff` names the values that one of the writers could not hold, and no others.
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import expect  # noqa: E402
import formats as F  # noqa: E402
from formats import C  # noqa: E402
from machines import MACHINES  # noqa: E402

sys.path.insert(0, os.path.join(HERE, "..", "spec"))
import compare  # noqa: E402
from reader import scalars  # noqa: E402
from reader import text as json_text  # noqa: E402
from tap import Tap  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(ROOT, "tests", "vectors", "machines")
DATAREP = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
REFERENCE = "s390x"  # it holds all of the content as it is
tap = Tap()


# -------------------------------------------------------------------- values


def shown(x, form):
    """A Num as section 10.1 of SPEC.md has it in JSON."""
    if x.kind == "nan":
        return "nan"
    if x.kind == "inf":
        return "-inf" if x.neg else "inf"
    value = scalars.dyadic(x.m if x.kind == "finite" else 0, x.e, x.neg)
    return json_text.real(value, form == C.BINARY32)


def number(text):
    """And the way back, of reals that no binary64 holds too."""
    if isinstance(text, (int, float)):
        neg = str(text).startswith("-")
        num, den = abs(text).as_integer_ratio()
        return F.finite(neg, num, 1 - den.bit_length())
    if text in ("nan", "inf", "-inf"):
        return F.Num(text.lstrip("-"), text[0] == "-", frac=1 << 127)
    sign, whole, digits, e = re.fullmatch(r"(-?)0x(1)(?:\.([0-9a-f]+))?p([+-]\d+)", text).groups()
    digits = digits or ""
    return F.finite(bool(sign), int(whole + digits, 16), int(e) - 4 * len(digits))


def kept(value, code, side):
    """A value of the content as a machine holds it, from and to JSON."""
    enc, size, _ = side.row[code]
    if C.PREDEFINED[code][1] == "complex":
        return [kept(part, C.CODE_OF["LONG_DOUBLE"], side) for part in value]
    if enc.form not in F.REALS:
        low = -(1 << 8 * size - 1) if enc.form == C.INT else 0
        high = (1 << 8 * size) - 1 + low
        return json_text.integer(min(max(int(value), low), high))
    raw, _ = enc.encode(number(value), F.CLAMP)
    return shown(enc.decode(raw), enc.form)


OF_MACHINES = ("LONG", "UNSIGNED_LONG", "AINT", "LONG_DOUBLE", "C_LONG_DOUBLE_COMPLEX",
               "CXX_LONG_DOUBLE_COMPLEX")


def adapted(value, kind, side):
    """The reference's JSON of a value of type `kind`, as another machine has it."""
    if value is None or kind is None:
        return value
    if kind in OF_MACHINES:
        code = C.CODE_OF[kind]
        if isinstance(value, list) and not (kind.endswith("COMPLEX") and len(value) == 2
                                            and not isinstance(value[0], list)):
            return [adapted(v, kind, side) for v in value]
        return kept(value, code, side)
    if kind.startswith("struct{"):
        if isinstance(value, list):
            return [adapted(v, kind, side) for v in value]
        return {name: adapted(v, {"e": "LONG_DOUBLE", "l": "LONG"}.get(name), side)
                for name, v in value.items()}
    return value


# How it lies in the file is each machine's own: sizes decide of layouts and parameters.
STORAGE = ("layout", "chunk", "filters")


def adapt(node, side):
    """A whole object of the reference's document, without its storage."""
    out = dict(node)
    if "attributes" in node:
        out["attributes"] = {name: dict(a, value=adapted(a["value"], a["type"], side))
                             for name, a in node["attributes"].items()}
    if node["kind"] == "dataset":
        for name in STORAGE:
            del out[name]
        out["data"] = adapted(node["data"], node["type"], side)
        out["fill"] = adapted(node["fill"], node["type"], side)
    if node["kind"] == "group":
        out["members"] = {name: adapt(m, side) for name, m in node["members"].items()}
    return out


def bare(node):
    """An object without its storage."""
    out = {name: v for name, v in node.items() if name not in STORAGE or node["kind"] != "dataset"}
    if node["kind"] == "group":
        out["members"] = {name: bare(m) for name, m in node["members"].items()}
    return out


def content(doc, values):
    """The reference's numbers are those that everything was made from."""
    for name, node in doc["root"]["members"]["types"]["members"].items():
        code = C.CODE_OF[name]
        cls = C.PREDEFINED[code][1]
        side = expect.side_of(os.path.join(FOLDER, REFERENCE + ".drep"))
        enc, size, _ = side.row[code]
        if cls == "integer":
            want = [kept(v, code, side) for v in values[0]]
        elif cls in ("real", "complex"):
            nums = [F.decode_real(C.BINARY128, v) for v in values[1]]
            flat = [shown(enc.decode(enc.encode(x, F.CLAMP)[0]), enc.form) for x in nums]
            want = flat if cls == "real" else [list(p) for p in zip(flat, flat[::-1])]
        else:
            continue
        found = compare.difference(want, node["data"])
        if found:
            return "%s: %s" % (name, found)
    return None


# --------------------------------------------------------------------- pairs


def leaves(node, path, out):
    """Every value of every dataset: what `datarep diff` calls it, and its JSON."""
    if node["kind"] == "group":
        for name, m in node["members"].items():
            leaves(m, path + "/" + name, out)
    if node["kind"] == "dataset" and node["data"] is not None:
        for index in itertools.product(*map(range, node["shape"])):
            value = node["data"]
            for i in index:
                value = value[i]
            where = "%s[%s]" % (path, ",".join(map(str, index)))
            if isinstance(value, dict):
                for name, v in value.items():
                    out["%s.%s" % (where, name)] = v
            else:
                out[where] = value
    for name, a in node.get("attributes", {}).items():
        out["%s@%s" % (path or "/", name)] = a["value"]
    if node.get("fill") is not None:
        out[path + " fill"] = node["fill"]
    return out


def named(text):
    """The values that `datarep diff` names."""
    out = set()
    for line in text.splitlines():
        fill = re.match(r"(.*?): fill ", line)
        attribute = re.match(r"(.*?): attribute (\S+): ", line)
        if fill:
            out.add(fill.group(1) + " fill")
        elif attribute:
            out.add("%s@%s" % attribute.groups())
        elif not re.match(r".*?: \d+ of \d+ values differ", line):  # that sums up those before
            out.add(line.split(": ", 1)[0])
    return out


def diff(a, b):
    done = subprocess.run([DATAREP, "diff", "-n", "1000", os.path.join(FOLDER, a + ".drep"),
                           os.path.join(FOLDER, b + ".drep")], capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def differing(a, b, found):
    return {where for where in found[a] if json.dumps(found[a][where]) != json.dumps(found[b][where])}


def check_pair(a, b, found):
    want = differing(a, b, found)
    status, out, err = diff(a, b)
    got = named(out)
    if status != (1 if want else 0) or err:
        return "status %d: %s%s" % (status, err, out[:300])
    if got != want:
        return "named without a reason: %s; not named: %s" % (sorted(got - want)[:5],
                                                             sorted(want - got)[:5])
    return None


# ---------------------------------------------------------------------- page

PAGE = os.path.join(ROOT, "PORTABILITY.md")
BEGIN, END = "<!-- machines: table -->\n", "<!-- machines: end -->\n"


def table(names, found):
    """The table of PORTABILITY.md: number of values that differ between any two files."""
    what = {m.name: m.what for m in MACHINES}
    lines = ["```text", "%-70s" % "" + "".join("%4d" % (i + 1) for i in range(len(names)))]
    for i, a in enumerate(names):
        cells = "".join("%4s" % (len(differing(a, b, found)) or "=") for b in names[:i])
        lines.append(("%2d %-12s %-54s %s" % (i + 1, a, what[a], cells)).rstrip())
    closing = ("Of {:,} values, the number that `datarep diff` reports as different between two of these files\n"
               "(`=`: none): those that a long double or long of one machine cannot hold, including the fill values\n"
               "of whole datasets.\n").format(len(found[REFERENCE]))
    return "\n".join(lines + ["```", "", closing])


def page():
    with open(PAGE, encoding="utf-8") as f:
        before, rest = f.read().split(BEGIN)
    old, after = rest.split(END)
    return before, old, after


def into_page(text):
    before, _, after = page()
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + text + END + after)


def main():
    held = {n[:-5] for n in os.listdir(FOLDER) if n.endswith(".drep")}
    names = [m.name for m in MACHINES if m.name in held]
    tap.result("every file is of a machine that is known", sorted(held - set(names)))
    with tempfile.NamedTemporaryFile() as scratch:
        values = expect.write_values(scratch.name, "few")
    docs, tables = {}, {m.name: m.table for m in MACHINES}
    for name in names:
        path = os.path.join(FOLDER, name + ".drep")
        tap.result("%s: the command says what the reader in Python says" % name,
                   compare.compare(DATAREP, path))
        docs[name] = compare.document(path)
    tap.result("the content is what it was made from", content(docs[REFERENCE], values))
    for name in names:
        side = expect.side_of(os.path.join(FOLDER, name + ".drep"))
        tap.result("%s: the content as that machine holds it" % name,
                   compare.difference(adapt(docs[REFERENCE]["root"], side), bare(docs[name]["root"])))
        tap.result("%s: written there" % name,
                   None if docs[name]["machine"] == tables[name] and docs[name]["datarep"] == "native"
                   else docs[name]["machine"])
    found = {name: leaves(docs[name]["root"], "", {}) for name in names}
    for a, b in itertools.combinations(names, 2):
        tap.result("%s and %s: diff names what one of them cannot hold" % (a, b),
                   check_pair(a, b, found))
    text = table(names, found)
    if "--page" in sys.argv:
        into_page(text)
    tap.result("PORTABILITY.md has the table of this", text if page()[1] != text else None)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
