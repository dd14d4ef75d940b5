#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-poke.py - does the description of the format for GNU poke hold for every vector?

tools/share/datarep.pk was written from SPEC.md alone.  It walks every good vector and shows the objects,
names and shapes that the vector's JSON has; it notices flipped bits, and every bad vector that breaks a
rule that it names.  Prints TAP.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PICKLE = os.path.join(ROOT, "tools", "share", "datarep.pk")
VECTORS = os.path.join(ROOT, "tests", "vectors")
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
import borrowed  # noqa: E402
import reader  # noqa: E402

# Bad vectors that break a named rule in a way that this description does not look at.
UNSEEN = {
    # It has no table of the predefined datatypes and of the sizes that formats have,
    "attribute-format-size", "attribute-format-class", "format-size", "scalar-size", "extents-wrong", "row-missing",
    "size-mismatch",
    # does not hold records against each other,
    "packed-of-slabs", "external-contiguous", "external-without-entry",
    # does not open other files,
    "external-row-sum",
    # and does not work out the sizes of types.
    "sequences-too-deep", "string-huge", "too-many-elements",
}


def poke(script, directory):
    """What poke prints when it has loaded the description and then this."""
    path = os.path.join(directory, "script.pk")
    with open(PICKLE, encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
        out.write(f.read() + script)
    done = subprocess.run(["poke", "-q", "-L", path], capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, HOME=directory))
    if done.returncode or done.stderr:
        raise RuntimeError("poke: status %d: %s%s" % (done.returncode, done.stderr, done.stdout[-300:]))
    return done.stdout


def walked(paths, directory):
    """{path: (lines, what is broken or None)} of files."""
    script = ""
    for path in paths:
        script += """
printf "file %s\\n";
try
  {
    var f = open ("%s");
    drep_show (f);
    close (f);
    printf "\\nwhole\\n";
  }
catch (Exception e)
  {
    printf "\\nbroken %%s %%s\\n", e.name, e.msg;
  }
""" % (path, path)
    out, lines = {}, None
    for line in poke(script, directory).splitlines():
        if line.startswith("file /"):
            lines = []
            out[line[5:]] = [lines, "nothing was printed of it"]
            here = out[line[5:]]
        elif line == "whole":
            here[1] = None
        elif line.startswith("broken "):
            here[1] = line[7:]
        elif line:
            lines.append(line)
    return out


def sums(directory):
    """The sums of the description are those of libxxhash, at every length that XXH3 treats in its own way."""
    data = bytes((i * i * 7 + i // 3) & 255 for i in range(9000))
    path = os.path.join(directory, "data")
    with open(path, "wb") as f:
        f.write(data)
    lengths = list(range(0, 260)) + [511, 512, 513, 1023, 1024, 1025, 1087, 1088, 1089, 4088, 4096, 8999]
    script = 'var f = open ("%s");\n' % path
    for n in lengths:
        script += 'printf "%%u64x\\n", drep_sum (f, 0#B, %dUL);\n' % n
        if 40 <= n:
            script += 'printf "%%u64x\\n", drep_sum (f, 0#B, %dUL, 1);\n' % n
    want = []
    for n in lengths:
        want.append("%016x" % borrowed.xxh3(data[:n]))
        if 40 <= n:
            want.append("%016x" % borrowed.xxh3(data[:32] + bytes(8) + data[40:n]))
    got = poke(script, directory).split()
    wrong = [i for i, (a, b) in enumerate(zip(got, want)) if a != b]
    return "sums %r of %d differ" % (wrong[:5], len(want)) if wrong or len(got) != len(want) else None


def stated(doc):
    """The lines that a document lets one expect: objects with their shapes, names, attributes; and the
    beginnings of those of datasets that cannot be read, of which it says no more."""
    lines, ids, unread = set(), {}, set()

    def hexed(name):
        return name.encode("utf-8", "surrogateescape").hex()

    def attributes(obj, number):
        for name, value in obj.get("attributes", {}).items():
            if value is None or value.get("kind") != "unknown":
                lines.add("object %d attribute %s" % (number, hexed(name)))

    def walk(obj, path):
        number = obj["id"]
        ids[path] = number
        attributes(obj, number)
        if obj["kind"] == "dataset" and "shape" in obj:
            shape = " null" if obj["shape"] is None else "".join(" %d" % n for n in obj["shape"])
            layout = ["null", "compact", "contiguous", "chunked"].index(obj["layout"])
            lines.add("object %d dataset layout %d shape%s" % (number, layout, shape))
        elif obj["kind"] == "dataset":
            unread.update(("object %d dataset " % number, "object %d attribute " % number))
        elif obj["kind"] == "type":
            lines.add("object %d type" % number)
        elif obj["kind"] == "dimension":
            lines.add("object %d dimension %d" % (number, obj["length"]))
        for name, dim in obj.get("dimensions", {}).items() if obj["kind"] == "group" else ():
            if "id" in dim:  # Else the entry is of a kind that nobody knows.
                lines.add("object %d dim %s to %d" % (number, hexed(name), dim["id"]))
                walk(dim, "%s#%s" % (path, name))
        members = obj.get("members", {})
        if obj["kind"] == "group":
            lines.add("object %d group %d links" % (number, len(members)))
        for name, member in members.items():
            if member["kind"] == "link":
                kind = ["hard", "soft", "external", "unknown"].index(member["link"]) + 1
                to = ids.get(member.get("target"), 0) if kind == 1 else 0
                if kind < 4:
                    lines.add("object %d link %s kind %d to %d" % (number, hexed(name), kind, to))
            else:
                lines.add("object %d link %s kind 1 to %d" % (number, hexed(name), member["id"]))
                walk(member, path.rstrip("/") + "/" + name)

    walk(doc["root"], "/")
    return lines, tuple(unread)


def good_vectors(directory):
    """Each is whole, and has what its JSON says and no other object, link or attribute."""
    paths = sorted(glob.glob(os.path.join(VECTORS, "*.drep")))
    out = walked(paths, directory)
    wrong = []
    for path in paths:
        lines, broken = out.get(path, ([], "it stands in no output"))
        with open(path[:-5] + ".json", encoding="utf-8") as f:
            doc = json.load(f)
        if broken:
            wrong.append("%s: %s" % (path, broken))
            continue
        got = {line for line in lines
               if re.match(r"object \d+ (group|dataset|type|dimension|link|dim|attribute)\b", line)}
        want, unread = stated(doc)
        names = {n.encode().hex() for n in [doc["datarep"]]}
        reps = [line.split()[2] for line in lines if line.startswith("rep 0 ")]
        if names != set(reps):
            wrong.append("%s: representation %r" % (path, reps))
        for line in sorted(want - got)[:3]:
            wrong.append("%s: not shown: %s" % (path, line))
        for line in sorted(x for x in got - want if not x.startswith(unread))[:3]:
            wrong.append("%s: shown, but not in its JSON: %s" % (path, line))
    print("# %d vectors" % len(paths))
    return "\n".join(wrong) if paths else "no vectors"


def flips(directory):
    """A flipped bit in the slot, in a node, in payload."""
    paths = []
    for name in ("scalar", "contiguous", "tree"):
        path = os.path.join(VECTORS, name + ".drep")
        with reader.File(path) as file, open(path, "rb") as f:
            image, root = bytearray(f.read()), file.slot.root
        used = list(range(0, 4096, 211)) + list(range(root.offset, root.offset + root.length, 37))
        for n, at in enumerate(used):
            image[at] ^= 1 << n % 8
            path = os.path.join(directory, "%s-%d.drep" % (name, at))
            with open(path, "wb") as f:
                f.write(image)
            paths.append(path)
            image[at] ^= 1 << n % 8
    wrong = [path for path, (_, broken) in walked(paths, directory).items() if not broken]
    print("# %d flipped bits" % len(paths))
    return "\n".join("%s is whole" % p for p in wrong)


def bad_vectors(directory):
    """Those that break a rule the description names are noticed."""
    with open(PICKLE, encoding="utf-8") as f:
        named = set(re.findall(r"R\d+\.\d+", f.read()))
    badvectors.write(os.path.join(directory, "bad"), everything=True)
    rules = {}
    for name, _, rule, _, _ in badvectors.BAD:
        if set(rule.split("|")) & named and name not in UNSEEN:
            rules[os.path.join(directory, "bad", name + ".drep")] = rule
    out = walked(sorted(rules), directory)
    wrong = []
    for path, rule in sorted(rules.items()):
        broken = out[path][1]
        if not broken:
            wrong.append("%s, which breaks %s, is whole" % (os.path.basename(path), rule))
        elif os.environ.get("VERBOSE"):
            print("# %s %s: %s" % (os.path.basename(path), rule, broken))
    print("# %d bad vectors of rules that are named, of %d" % (len(rules), len(badvectors.BAD)))
    return "\n".join(wrong)


def main():
    tests = (("its sums are those of libxxhash", sums),
             ("it walks every vector and shows what the vector's JSON says", good_vectors),
             ("it notices flipped bits", flips),
             ("it notices the bad vectors of the rules it names", bad_vectors))
    if not shutil.which("poke"):
        print("1..0 # SKIP poke is not installed")
        return 0
    bad = 0
    print("1..%d" % len(tests))
    for n, (name, fn) in enumerate(tests, 1):
        try:
            with tempfile.TemporaryDirectory() as directory:
                wrong = fn(directory)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            wrong = str(e)
        print("%sok %d - %s" % ("not " if wrong else "", n, name))
        for line in str(wrong or "").splitlines():
            print("# " + line)
        bad += bool(wrong)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
