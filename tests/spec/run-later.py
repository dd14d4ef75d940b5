#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# needs: deflate
"""run-later.py - files with what the next version may add, read by this build.

make_later writes the file, then gives it a tag, a filter and a layout that have no meaning yet, and
version 1.7.  The command and the reader in Python say the same of it; what is unknown is told as that,
and nothing as damage; a change keeps it.  Vector `beyond` has a value beyond each limit of section 9: check, dump
and the reader name each of them.  Prints TAP.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import compare  # noqa: E402
import drepwrite  # noqa: E402
import literals  # noqa: E402
import reader  # noqa: E402
from tap import Tap  # noqa: E402

DATAREP = os.environ["DATAREP"]
MAKE = os.path.join(os.environ["BUILDDIR"], "release", "tests", "spec", "make_later")
PATH = os.path.join(os.environ["TMPDIR"], "later.drep")
tap = Tap()


def run(*args):
    done = subprocess.run(args, capture_output=True, timeout=60, text=True)
    return done.returncode, done.stdout + done.stderr or "no word, status %d" % done.returncode


def lacks(text, *parts):
    missing = [part for part in parts if part not in text]
    return missing and "%s in %s" % (missing, text)


def beyond():
    """What names each limit: check, dump, and the reader in Python."""
    path = os.path.join(HERE, "..", "vectors", "beyond.drep")
    # A header that is too long has no file around it (bad vector header-too-long-in-all).
    limits = literals.limit_rules(literals.text("SPEC.md")) - literals.NO_GATES - {"R3.2"}
    # Not of dump: a link or a dimension is told by its line alone; no element of the dataset is in that chunk.
    for name, without in (("check", set()), ("dump", {"R8.13"})):
        status, out = run(DATAREP, name, *(["--deep"] if name == "check" else []), "--external", path)
        named = {rule for line in out.splitlines() if "beyond the limits of this version" in line
                 for rule in limits if "(%s)" % rule in line}
        tap.result("%s names each limit" % name, None if named == limits - without and
                   status == (0 if name == "check" else 4) else "status %d, not %s" % (status, limits - without ^ named))
    errors = reader.errors.Beyond
    errors.rules.clear()
    with reader.File(path, external=True) as file:
        tap.result("nothing of it is damage", [str(e) for e in file.check()])
    tap.result("the reader in Python names each limit", errors.rules ^ limits)


def many():
    """300 representations, written from the page and by the library: both readers say the same of both files."""
    path = os.path.join(os.environ["TMPDIR"], "many.drep")
    b = drepwrite.Builder()
    for k in range(1, 300):
        rep = b.rep("table %d" % k, table={8: (2, k & 1, 4, 4), 9: (3, 0, k % 16 + 1, 1),
                                           10: (2, 0, k // 16 % 16 + 1, 1 << k // 256)})
        b.dataset(1, str(k), "INT", (2,), data=[k, -k], rep=rep)
    b.commit()
    with open(path, "wb") as f:
        f.write(b.image())
    tap.result("many representations: both readers say the same", compare.compare(DATAREP, path))
    status, out = run(DATAREP, "convert", "-f", path, path + ".new")
    tap.result("the library writes as many", status and out or compare.compare(DATAREP, path + ".new"))
    found = compare.document(path + ".new")
    tap.result("each dataset has its own", None if len(found["datareps"]) == 299 and all(
        found["root"]["members"][str(k)]["data"] == [k, -k] for k in range(1, 300)) else len(found["datareps"]))


def main():
    status, out = run(MAKE, PATH)
    tap.result("the file is made", status and out)
    tap.result("both readers say the same", compare.compare(DATAREP, PATH))
    doc = compare.document(PATH)
    members = doc["root"]["members"]
    tap.result("what is known is there", None if doc["format"] == "1.7" and members["known"]["data"] == [0] * 1000
               and members["filtered"]["shape"] == [1000] and members["filtered"]["data"] is None
               and members["arranged"]["kind"] == "dataset" and "data" not in members["arranged"] else doc)
    status, out = run(DATAREP, "dump", "-H", PATH)
    tap.result("dump shows the version and who wrote it", lacks(out, "format: Datarep 1.7", "datarep "))
    status, out = run(DATAREP, "check", "--deep", PATH)
    tap.result("nothing is damage", status and out)
    tap.result("what is unknown is listed", lacks(out, "unknown tag 100", "unknown tag 200", "newer version"))
    status, out = run(DATAREP, "convert", "-f", PATH, PATH + ".new")
    tap.result("convert names what only a newer version can copy", lacks(out, "newer version", "--partial")
               or status == 0 or os.path.exists(PATH + ".new"))
    status, out = run(DATAREP, "convert", "-f", "--partial", PATH, PATH + ".new")
    tap.result("a partial convert lists what it leaves", lacks(out, "/arranged", "left out: 1 entry of unknown tag 100", "left out: 1 entry of unknown tag 200",
                                                               "left out: the header record of unknown tag 300") or status != 1 and out)
    status, out = run(DATAREP, "check", "--deep", PATH + ".new")
    tap.result("nothing of them is in the new file", out if status or "unknown tag" in out else None)
    status, out = run(DATAREP, "dump", "-H", PATH + ".new")
    tap.result("the new file has this library's version", lacks(out, "format: Datarep 1.1"))
    beyond()
    many()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
