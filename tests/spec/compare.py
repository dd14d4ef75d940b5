#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""compare.py DATAREP FILE... - does `DATAREP dump --json` say what the independent reader says?

Strict: types, order of members, strings, lengths; integers exactly; reals by the bits of the
parsed binary64, -0.0 included.  1 and 1.0 are the same number.  Prints the first difference of
each file.  Exit status: 0 alike, 1 different, 2 could not run.
"""

import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import reader  # noqa: E402


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def same_number(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    try:
        a, b = float(a), float(b)
    except OverflowError:
        return False
    return struct.pack(">d", a) == struct.pack(">d", b)


def short(v):
    text = json.dumps(v)
    return text if len(text) <= 100 else text[:97] + "..."


def difference(a, b, path="$"):
    """The first difference between two JSON values as a text, or None."""
    if is_number(a) and is_number(b):
        return None if same_number(a, b) else "%s: %r and %r" % (path, a, b)
    if type(a) is not type(b):
        return "%s: %s and %s" % (path, short(a), short(b))
    if isinstance(a, dict):
        for x, y in zip(a, b):
            if x != y:
                return "%s: member %s and %s" % (path, json.dumps(x), json.dumps(y))
            found = difference(a[x], b[y], path + "." + x)
            if found:
                return found
        if len(a) != len(b):
            extra = list(a)[len(b):] or list(b)[len(a):]
            return "%s: %d and %d members (%s)" % (path, len(a), len(b), short(extra[0]))
        return None
    if isinstance(a, list):
        for i, (x, y) in enumerate(zip(a, b)):
            found = difference(x, y, "%s[%d]" % (path, i))
            if found:
                return found
        if len(a) != len(b):
            return "%s: %d and %d elements" % (path, len(a), len(b))
        return None
    return None if a == b else "%s: %s and %s" % (path, short(a), short(b))


def unique(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a member occurs twice")
    return out


def parse(text):
    return json.loads(text, object_pairs_hook=unique)


def document(path, commit=None):
    """What the independent reader says, with the path as it was given."""
    return dict(parse(reader.document(path, commit)), file=path)


def drop_data(node):
    """Takes the elements of datasets out of an object and all below it."""
    node.pop("data", None)
    for member in node.get("members", {}).values():
        drop_data(member)


def dump(datarep, path, header_only=False, timeout=120):
    """(exit status, standard output, standard error) of the command."""
    args = [datarep, "dump", "--json", "--external"] + (["-H"] if header_only else []) + [path]
    done = subprocess.run(args, capture_output=True, timeout=timeout)
    return (done.returncode, done.stdout.decode("utf-8", "surrogatepass"),
            done.stderr.decode("utf-8", "replace"))


def compare(datarep, path):
    """None if both say the same of a good file, else what differs."""
    try:
        ours = document(path)
    except reader.ReadError as e:
        return "the independent reader refuses it: %s" % e
    # Elements that only functions could convert: the command shows the header alone.
    header_only = ours["form"] == "code"
    if header_only:
        drop_data(ours["root"])
    status, out, err = dump(datarep, path, header_only)
    # Chunks under filters that only their author has are told, and shown as null.
    alien = [line for line in err.splitlines()
             if any(why in line for why in ('" is not registered', "written by a newer version",
                                            "beyond the limits of this version"))
             or "HDF5 filter " in line and line.endswith(" is not here")]
    if status != 0 and (not alien or len(alien) != len(err.splitlines())):
        return "%s ends with status %d: %s" % (datarep, status, err.strip())
    try:
        theirs = parse(out)
    except ValueError as e:
        return "%s does not print JSON: %s" % (datarep, e)
    return difference(ours, theirs)


def main(argv):
    if len(argv) < 2:
        sys.exit("usage: compare.py DATAREP FILE...")
    bad = 0
    for path in argv[1:]:
        try:
            found = compare(argv[0], path)
        except (OSError, subprocess.TimeoutExpired) as e:
            print("compare: %s" % e, file=sys.stderr)
            return 2
        if found:
            bad = 1
            print("%s: %s" % (path, found))
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
