#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-abnf.py - do the grammars of the text forms describe what is printed?

A grammar is the ABNF behind `abnf: NAME` in SPEC.md and datarep-types(7); a recogniser of our own reads it (RFC 5234, with
strings that are case-sensitive).  It takes every datatype and region in the JSON of the vectors, every
sentence of a list, and none of the damaged ones; the command takes what the grammar of a datatype
takes, and nothing else but for blanks.  Prints TAP.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VECTORS = os.path.join(ROOT, "tests", "vectors")
DATAREP = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
CORE = {"DQUOTE": ("range", 0x22, 0x22)}
TOKEN = re.compile(r'\s*(?:("[^"]*")|%x([0-9A-F]+)(?:-([0-9A-F]+))?|(\d*\*\d*|\d+(?=[("%a-z]))|([A-Za-z][A-Za-z0-9-]*)|([][()/]))')

GOOD = {"type": [
    "DOUBLE", "INT[3][4]", "struct{when: INT64_T, value: DOUBLE}", "struct{INT, DOUBLE[2,3]}",
    "string(10,nulterm)", "opaque(16)", 'opaque(16,"a \\" and \\\\")', "enum(INT8_T){}",
    'enum(INT8_T){RED=0,"dark blue"=-1}', "seq(seq(vstring))", "ref(region)", "bool(INT8_T)[2]",
    "scalar{vax-f,vax,4}", "scalar{custom,real,big,4,signed=0,norm=0,pad=0/0,precision=24,offset=8,"
    "sign=31,exp=24/7,sig=8/16,base=2,bias=-63}", "vector(2,1,-3,dup(INT))",
    "struct([1],[0],[INT])", "darray(4,1,[8],[block],[-1],[4],c,INT)", 'struct{"a b": INT}',
    'struct{"a\\x01\\xc2\\x85": INT}', 'opaque(2,"\\x0a")', "indexed([],[],INT)",
    "subarray([4,4],[2,2],[0,1],fortran,REAL8)", "resized(0,16,INT)", "double", "f8[2]", "struct{x: uint8, int: int64_t}",
], "region": ["[0:4:2]", "[:]", "[:,3]", "[]", "{}", "{(1,2),(3,4)}", "{[0:2],[5:7,:]}"]}
BAD = {"type": [
    "", "dubble", "INT[]", "INT[3", "struct{}", "struct{a:INT}", "struct{a: INT,b: INT}", "string()",
    "string(10,NULTERM)", "opaque(16,tag)", "enum(INT8_T){RED}", "enum(INT8_T){RED=x}", "seq()",
    "ref(any)", "scalar{vax-f,vax}", "scalar{vax-f,VAX,4}", "vector(1,2,INT)", "dup(INT", "INT ",
    'struct{"a: INT}', 'struct{"\\x1": INT}', 'struct{"\\q": INT}', 'struct{"\\xg0": INT}',
    "struct{1a: INT}", "darray(4,1,[8],[blocks],[-1],[4],c,INT)",
], "region": ["", "[0:4", "[0::2]", "(1,2)", "{1,2}", "[0:4][1]", "{[0:2](1)}", "[-1]"]}


def grammars():
    with open(os.path.join(ROOT, "SPEC.md"), encoding="utf-8") as f:
        found = re.findall(r"<!-- abnf: (\w+) -->\n\n((?:    .*\n)+)", f.read())
    with open(os.path.join(ROOT, "tools", "man", "datarep-types.7"), encoding="utf-8") as f:
        found += re.findall(r"^\.\\\" abnf: (\w+)\n\.Bd .*\n((?:[^.].*\n)+)\.Ed", f.read().replace("\\e", "\\"), re.M)
    out = {}
    for name, body in found:
        rules, last = {}, None
        for line in body.splitlines():
            found = re.match(r" *([a-z]\w*)\s+= (.*)", line)
            if found:
                last = found[1]
                rules[last] = found[2]
            else:
                rules[last] += " " + line.strip()
        out[name] = dict(CORE, **{k: parse(v) for k, v in rules.items()})
    return out


def parse(text):
    """The expression of one rule: ("or", [...]), ("and", [...]), ("rep", low, high, e), ..."""
    tokens, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if not found:
            raise ValueError("not ABNF: " + text[at:])
        tokens.append(found.groups())
        at = found.end()

    def either():
        out = [both()]
        while tokens and tokens[0][5] == "/":
            tokens.pop(0)
            out.append(both())
        return ("or", out)

    def both():
        out = []
        while tokens and tokens[0][5] not in ("/", ")", "]"):
            out.append(one())
        return ("and", out)

    def one():
        string, low, high, rep, name, mark = tokens.pop(0)
        if string:
            return ("text", string[1:-1])
        if low:
            return ("range", int(low, 16), int(high or low, 16))
        if rep:
            a, star, b = rep.partition("*")
            return ("rep", int(a or 0), int(b) if b else (1 << 30 if star else int(a)), one())
        if name:
            return ("rule", name)
        inner = either()
        tokens.pop(0)
        return inner if mark == "(" else ("rep", 0, 1, inner)

    out = either()
    if tokens:
        raise ValueError("not ABNF: %r" % (tokens[0],))
    return out


def ends(rules, e, text, at, memo):
    """Every place where `e` can end that begins at `at`."""
    key = (id(e), at)
    if key in memo:
        return memo[key]
    memo[key] = frozenset()
    kind, out = e[0], set()
    if kind == "text":
        out = {at + len(e[1])} if text.startswith(e[1], at) else set()
    elif kind == "range":
        out = {at + 1} if at < len(text) and e[1] <= ord(text[at]) <= e[2] else set()
    elif kind == "rule":
        out = ends(rules, rules[e[1]], text, at, memo)
    elif kind == "or":
        out = set().union(*(ends(rules, x, text, at, memo) for x in e[1]))
    elif kind == "and":
        out = {at}
        for x in e[1]:
            out = set().union(*(ends(rules, x, text, a, memo) for a in out))
    else:
        now, n = {at}, 0
        out = {at} if e[1] == 0 else set()
        while now and n < e[2]:
            now = set().union(*(ends(rules, e[3], text, a, memo) for a in now)) - out
            n += 1
            out |= now if n >= e[1] else set()
    memo[key] = frozenset(out)
    return memo[key]


def takes(rules, name, text):
    return len(text) in ends(rules, rules[name], text, 0, {})


def printed(value, key):
    """Every string under `key` in a JSON document."""
    if isinstance(value, dict):
        for k, v in value.items():
            if k == key and isinstance(v, str):
                yield v
            yield from printed(v, key)
    elif isinstance(value, list):
        for v in value:
            yield from printed(v, key)


def wrong_of(name, rules):
    found = set()
    for path in glob.glob(os.path.join(VECTORS, "*.json")):
        with open(path, encoding="utf-8") as f:
            found |= set(printed(json.load(f), name))
    print("counted: %d texts of kind %s in the vectors" % (len(found), name))
    yield from ("not taken: " + t for t in sorted(found | set(GOOD[name]))
                if not takes(rules, name, t))
    yield from ("taken: " + t for t in BAD[name] if takes(rules, name, t))


def accepted(text):
    """Does the command make a datatype of it?"""
    schema = "root:\n  t: {type: %s}\n" % json.dumps(text)
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([DATAREP, "create", "-s", "-", os.path.join(directory, "t.drep")], input=schema,
                              capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0


def unlike_command(rules):
    """Texts of which the command and the grammar think otherwise.  It knows which names are datatypes and
    which numbers are possible, so of a damaged text only its acceptance says something."""
    for text in GOOD["type"]:
        if not accepted(text):
            yield "the command refuses: " + text
    for text in BAD["type"]:
        bare = text.replace(" ", "")
        if accepted(text) and bare not in {t.replace(" ", "") for t in GOOD["type"] + ["struct{a: INT}", "INT",
                                                                                   "struct{a: INT, b: INT}"]}:
            yield "the command takes: " + text
    tried = 0
    for text in GOOD["type"]:
        for at in range(tried % 5, len(text), 5):
            cut, twice = text[:at] + text[at + 1:], text[:at] + text[at] + text[at:]
            for changed in (cut, twice):
                tried += 1
                if " " not in text and not takes(rules, "type", changed) and accepted(changed):
                    yield "the command alone takes: " + changed
    print("counted: %d changed texts of datatypes" % tried)


def main():
    tap, found = Tap(), grammars()
    for name in sorted(GOOD):
        tap.run("the grammar of a " + name, lambda n=name: wrong_of(n, found[n]))
    tap.run("the command and the grammar of a type agree", lambda: unlike_command(found["type"]))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
