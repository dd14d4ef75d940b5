#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""makevectors.py DIRECTORY - write every vector of vectors.py and badvectors.py into DIRECTORY.

The good ones get their JSON beside them, with the bare file name as "file"; the kept bad ones go
to DIRECTORY/bad, with the file EXPECT that says how each must be refused.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import badvectors  # noqa: E402
import reader  # noqa: E402
import vectors  # noqa: E402


def lookup(root, path):
    """The dataset of a path in a document, following second hard links."""
    node = root
    for name in path.strip("/").split("/"):
        node = node["members"][name]
    return lookup(root, node["target"]) if node["kind"] == "link" else node


def same(a, b):
    """Equal as JSON; None in `b` (stated by hand) matches a value we did not state."""
    return b is None or json.dumps(a) == json.dumps(b) or (
        isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and
        all(same(x, y) for x, y in zip(a, b))) or (
        isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b) and
        all(same(a[k], b[k]) for k in a)) or (
        type(a) in (int, float) and type(b) in (int, float) and a == b)


def make(function, directory):
    """Write one good vector and its JSON; the data must be what the vector states."""
    b = function()
    name = vectors.file_name(function)
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(b.image())
    badvectors.write_beside(b, directory)
    text = reader.document(path)
    root = json.loads(text)["root"]
    for where, want in b.expect.items():
        got = lookup(root, where)["data"]
        assert same(got, want), "%s %s: %r is not %r" % (name, where, got, want)
    with open(path[:-5] + ".json", "w", encoding="utf-8") as f:
        f.write(text)
    for sequence in getattr(b, "earlier", ()):
        with open("%s-%d.json" % (path[:-5], sequence), "w", encoding="utf-8") as f:
            f.write(reader.document(path, sequence))


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for function in vectors.GOOD:
        make(function, directory)
    badvectors.write(os.path.join(directory, "bad"))
    here = os.path.dirname(os.path.abspath(__file__))
    if os.path.samefile(directory, os.path.join(here, "..", "vectors")):  # the dumps beside them
        subprocess.run([os.path.join(here, "run-dumps.py"), "--update"], check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: makevectors.py DIRECTORY")
    main(sys.argv[1])
