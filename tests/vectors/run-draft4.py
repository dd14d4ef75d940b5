#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# needs: deflate zstd lz4 lzf
"""run-draft4.py - what `datarep convert` makes of the files of draft 4.

tests/vectors/draft4 keeps that draft's vectors and what its reader in Python said of each.  Brought
to today's format they say the same: names, types, shapes, attributes, links and every value.  Every
other way into such a file is refused by name; damage is an error and makes no file.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "spec"))

import compare  # noqa: E402
import reader  # noqa: E402
from tap import Tap  # noqa: E402

FOLDER = os.path.join(HERE, "draft4")
DATAREP = os.environ["DATAREP"]
TMPDIR = os.environ["TMPDIR"]
tap = Tap()

# Not of the content, but of the commit that convert made.
OF_COMMIT = ("file", "format", "uuid", "sequence", "time", "writer")
# What only a later version could read is left out, and named: --partial.
PARTIAL = ("later", "reps-later", "readonly")
# Elements that convert could copy only if it could decode them: their functions are not here.
REFUSED = {"code-native": "its functions are not here"}


def run(*args):
    done = subprocess.run([DATAREP, *args], capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def place_of(root):
    """Number of an object -> the first path that leads to it: convert numbers objects anew."""
    paths, work = {0: "none"}, [("", root)]
    while work:
        path, node = work.pop()
        if "id" in node:
            paths.setdefault(node["id"], path)
        for kind in ("dimensions", "members"):
            if isinstance(node.get(kind), dict):
                work += [("%s/%s:%s" % (path, kind, name), m) for name, m in node[kind].items()]
    return paths


def content(doc):
    """A document without its commit, and with paths and names in the place of numbers."""
    doc = {k: v for k, v in doc.items() if k not in OF_COMMIT}
    paths = place_of(doc["root"])
    names = dict([(0, doc["datarep"])] + [(rep["number"], rep["datarep"]) for rep in doc["datareps"]])

    def along(address):
        """A dimension of a dataset, which draft 4's JSON names by its address."""
        if not isinstance(address, str):
            return address
        group, _, last = address.rpartition("/")
        before, _, name = last.partition("#")
        group = group.rstrip("/") + ("/" + before if before else "")
        return {"group": group or "/", "dimension": name}

    def bare(node):
        if isinstance(node, list):
            return [bare(v) for v in node]
        if not isinstance(node, dict):
            return node
        return {k: paths.get(v, v) if k in ("id", "target") and isinstance(v, int)
                else names[v] if k == "datarep" and isinstance(v, int)
                else [along(a) for a in v] if k == "dimensions" and isinstance(v, list) else bare(v)
                for k, v in node.items() if k != "bare"}  # how draft 4's streams began

    return bare(doc)


def beyond(new, old, path="$"):
    """What a document has that another, of which parts were left out, has not; or None."""
    if isinstance(new, dict) and isinstance(old, dict):
        for name in new:
            found = beyond(new[name], old[name], path + "." + name) if name in old else path + "." + name
            if found:
                return found
        return None
    if path == "$.datareps":
        names = [rep["datarep"] for rep in old]
        return next((rep["datarep"] for rep in new if rep["datarep"] not in names), None)
    return compare.difference(old, new, path)


def left_out(new, old):
    """How many members a document lacks."""
    if isinstance(new, dict) and isinstance(old, dict):
        return len(old) - len(new) + sum(left_out(new[k], old[k]) for k in new if k in old)
    return 0


def convert(path, to, *options):
    return run("convert", "-f", "--external", *options, path, to)


def good(name, commit=None):
    path, to = os.path.join(FOLDER, name + ".drep"), os.path.join(TMPDIR, name + ".drep")
    options = ["--commit=%d" % commit] if commit else []
    partial = name.startswith(PARTIAL)
    status, err = convert(path, to, *options, *["--partial"] if partial else [])
    if name in REFUSED:
        tap.result("%s: refused, as today's file is" % name,
                   None if status and REFUSED[name] in err and not os.path.exists(to)
                   else "status %d: %s" % (status, err))
        return
    lines = err.count("\n")
    told = lines > 0 and err.count(": left out: ") == lines
    if status != told or told and not partial and err.count("unknown tag") != lines:
        tap.result(name, "status %d: %s" % (status, err))
        return
    with open(os.path.join(FOLDER, "%s%s.json" % (name, "-%d" % commit if commit else "")), encoding="utf-8") as f:
        old = content(compare.parse(f.read()))
    new = content(compare.document(to))
    if commit:  # the header says what the newest commit uses
        old["extents"] = {k: v for k, v in old["extents"].items() if k in new["extents"]}
    if partial and err:
        found = beyond(new, old) or (left_out(new, old) > lines and "%d lines:\n%s" % (lines, err))
    else:
        found = compare.difference(old, new)
    tap.result("%s%s: the same content" % (name, ", commit %d" % commit if commit else ""), found)
    found = compare.compare(DATAREP, to)
    if found:
        tap.result("%s: the command says what the reader says" % name, found)


def refused():
    """Each other way into the file says which draft it is, and what to do."""
    path = os.path.join(FOLDER, "tree.drep")
    ways = [("dump", path), ("ls", path), ("check", path), ("log", path), ("stat", path), ("diff", path, path),
            ("check", "--repair=" + os.path.join(TMPDIR, "r.drep"), path),
            ("export", path, os.path.join(TMPDIR, "r.npy"))]
    said = "written in draft 4 of the format; `datarep convert` brings it to 1.1"
    wrong = []
    for way in ways:
        status, err = run(*way)
        if status == 0 or said not in err:
            wrong.append("%s: status %d: %s" % (" ".join(way), status, err))
    tap.result("every other way in is refused by name", wrong)


def damaged():
    """A byte or the end of the file lost: an error that names file and byte, and no new file; or, where
    the byte says nothing, the same content."""
    with open(os.path.join(FOLDER, "links.drep"), "rb") as f:
        good = f.read()
    path, to = os.path.join(TMPDIR, "damaged.drep"), os.path.join(TMPDIR, "made.drep")
    step = (len(good) - 8192) // 40
    cases = [(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:]) for at in
             [*range(0, 264, 24), 8190, *range(8192, len(good), step)]] + [good[:at] for at in (4000, 9000, len(good) - 64)]
    with open(os.path.join(FOLDER, "links.json"), encoding="utf-8") as f:
        want = content(compare.parse(f.read()))
    wrong, found = [], 0
    for data in cases:
        with open(path, "wb") as f:
            f.write(data)
        status, err = convert(path, to)
        if status == 0:
            if compare.difference(want, content(compare.document(to))):
                wrong.append("other content")
            os.remove(to)
        else:
            found += 1
            if os.path.exists(to) or not err.startswith("datarep: " + path) or not re.search(
                    r"byte \d|slot|truncated: \d|Datarep file", err):
                wrong.append(err)
    tap.result("damage is an error and makes no file", wrong or found < 20 and "only %d errors" % found)
    print("counted: %d damaged files of draft 4" % len(cases))


def main():
    names = sorted(n[:-5] for n in os.listdir(FOLDER) if n.endswith(".drep"))
    for name in names:
        good(name)
    for name in names:
        for n in sorted(os.listdir(FOLDER)):
            found = re.fullmatch(re.escape(name) + r"-(\d+)\.json", n)
            if found:
                good(name, int(found[1]))
    refused()
    damaged()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
