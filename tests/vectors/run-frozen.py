#!/usr/bin/python3
# needs: deflate zstd lz4 lzf
# SPDX-License-Identifier: MIT
"""run-frozen.py [--update] - files of 0.5 and of 1.1, which are kept for ever.

tests/vectors/draft5 has the vectors and the files of 17 machines as draft 5 wrote them, with version 0.5 in their
header slots.  Each has a twin of 1.1 beside that folder: the same bytes but for the number and the sum of a slot.
SHA256SUMS has the digests of both sets, in the form of sha256sum(1), for a maintainer to sign.

Both readers say the same of a file and its twin; a commit makes 0.5 into 1.1, reading changes nothing; other versions
are refused by name.  --update makes the machines' twins and SHA256SUMS anew.  Prints TAP.
"""
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "spec"))

import borrowed  # noqa: E402
import compare  # noqa: E402
import reader  # noqa: E402
from tap import Tap  # noqa: E402

DRAFT = os.path.join(HERE, "draft5")
SUMS = os.path.join(HERE, "SHA256SUMS")
DATAREP = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
MAGIC, SLOT = b"\x89DRP\r\n\x1a\n", 4096
DRAFT_5, FIRST = (0, 5), (1, 1)
# Files whose slots are of two versions each.
OF_MORE = ("mixed-versions.drep",)
tap = Tap()


# ------------------------------------------------------------------- slots


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def places(data):
    """Where the slots of a file are: at its front, and at its end if it was written as a stream."""
    return [at for at in dict.fromkeys((0, SLOT, len(data) - SLOT)) if data[at:at + 8] == MAGIC]


def slots(data):
    """Those that are whole."""
    return [at for at in places(data)
            if borrowed.xxh3(data[at:at + SLOT - 8]) == int.from_bytes(data[at + SLOT - 8:at + SLOT], "big")]


def versions(data):
    return [(data[at + 9], data[at + 11]) for at in slots(data)]


def renumbered(data, old, new):
    """A file with another version in the slots that have the old one, and their sums."""
    out = bytearray(data)
    for at, version in zip(slots(data), versions(data)):
        if version == old:
            out[at + 8:at + 12] = bytes((0, new[0], 0, new[1]))
            out[at + SLOT - 8:at + SLOT] = borrowed.xxh3(bytes(out[at:at + SLOT - 8])).to_bytes(8, "big")
    return bytes(out)


def undamaged(data):
    """A file without version and sum of slots that are not whole: what these were is not known."""
    out = bytearray(data)
    for at in set(places(data)) - set(slots(data)):
        out[at + 8:at + 12], out[at + SLOT - 8:at + SLOT] = bytes(4), bytes(8)
    return bytes(out)


# -------------------------------------------------------------------- files


def names(folder, endings=(".drep", ".bin")):
    """The files of the set, relative to a folder: vectors and machines."""
    return sorted(os.path.join(part, n) if part else n for part in ("", "machines")
                  for n in os.listdir(os.path.join(folder, part)) if n.endswith(endings))


def digests():
    """The text of SHA256SUMS."""
    return "".join("%s  %s\n" % (hashlib.sha256(read(os.path.join(HERE, name))).hexdigest(), name)
                   for name in names(HERE) + [os.path.join("draft5", n) for n in names(DRAFT)])


def update():
    for name in names(DRAFT, ".drep"):
        if os.path.dirname(name):
            write(os.path.join(HERE, name), renumbered(read(os.path.join(DRAFT, name)), DRAFT_5, FIRST))
    with open(SUMS, "w", encoding="utf-8") as f:
        f.write(digests())


def run(*args):
    done = subprocess.run([DATAREP, *args], capture_output=True, timeout=60, check=False)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


# -------------------------------------------------------------------- cases


def listed():
    """Every file has its digest, and no other file has one."""
    with open(SUMS, encoding="utf-8") as f:
        have, want = f.read(), digests()
    return sorted(set(have.splitlines()) ^ set(want.splitlines())) or (have != want and "another order")


def twin(name):
    """A file of draft 5 and its twin: the bytes, and what both readers say."""
    path, other = os.path.join(DRAFT, name), os.path.join(HERE, name)
    data = read(path)
    if name.endswith(".bin"):
        return None if data == read(other) else "it differs"
    if name in OF_MORE:
        if DRAFT_5 not in versions(data):
            return "no slot of 0.5: %s" % versions(data)
    elif set(versions(data)) != {DRAFT_5}:
        return "its slots are of %s" % versions(data)
    if undamaged(renumbered(data, DRAFT_5, FIRST)) != undamaged(read(other)):
        return "more differs than the number"
    ours, theirs = compare.document(path), compare.document(other)
    if name not in OF_MORE and (ours["format"], theirs["format"]) != ("0.5", "1.1"):
        return "formats %s and %s" % (ours["format"], theirs["format"])
    return (compare.difference(dict(ours, file="", format=""), dict(theirs, file="", format=""))
            or compare.compare(DATAREP, path))


def bare(name, path):
    """Exit status and words of a check, without the name of the file."""
    status, out = run("check", "--deep", "--external", path)
    return status, out.replace(path, name)


def checked(name):
    """A check says the same of both."""
    ours, theirs = (bare(name, os.path.join(folder, name)) for folder in (DRAFT, HERE))
    return None if ours == theirs else "%s, and of its twin %s" % (ours, theirs)


def refused(work, version, words):
    """Both readers refuse a version, by the same rule and in these words."""
    path = write(os.path.join(work, "other.drep"), renumbered(read(os.path.join(HERE, "scalar.drep")), FIRST, version))
    for way in (("dump",), ("ls",), ("check",), ("log",), ("edit",)):
        status, out = run(*way, path, *("set", "/@a=1") if way == ("edit",) else ())
        if status == 0 or words not in out or "(R2.4)" not in out:
            return "%s: status %d: %s" % (way[0], status, out)
    status, out = run("convert", path, path + ".new")
    if status == 0 or words not in out or os.path.exists(path + ".new"):
        return "convert: status %d: %s" % (status, out)
    try:
        reader.document(path)
    except reader.ReadError as e:
        return None if e.rule == "R2.4" and words.split("; ")[0].replace("written in ", "") in str(e) else str(e)
    return "the reader in Python reads it"


def later(work, version):
    """A version from 1.1 on that adds nothing is read as 1.1 is."""
    path = write(os.path.join(work, "later.drep"), renumbered(read(os.path.join(HERE, "tree.drep")), FIRST, version))
    ours, theirs = compare.document(path), compare.document(os.path.join(HERE, "tree.drep"))
    if ours["format"] != "%d.%d" % version:
        return ours["format"]
    return (compare.difference(dict(ours, file="", format=""), dict(theirs, file="", format=""))
            or compare.compare(DATAREP, path))


def changed(work):
    """The first commit to a file of 0.5 is of 1.1; the one before it stays as it was."""
    path = shutil.copy(os.path.join(DRAFT, "tree.drep"), os.path.join(work, "changed.drep"))
    for want in ([DRAFT_5, FIRST], [FIRST, FIRST]):
        status, out = run("edit", path, "set", "/@a=%d" % len(want))
        if status != 0 or versions(read(path)) != want:
            return "status %d: %s%s, not %s" % (status, out, versions(read(path)), want)
        found = compare.compare(DATAREP, path)
        if found:
            return found
    return None


def stream_changed(work):
    """A slot that moves from the end of a stream to its place keeps 0.5 (R2.22)."""
    path = shutil.copy(os.path.join(DRAFT, "stream.drep"), os.path.join(work, "stream.drep"))
    status, out = run("edit", path, "set", "/@a=1")
    if status != 0 or versions(read(path)) != [DRAFT_5, FIRST]:
        return "status %d: %s%s" % (status, out, versions(read(path)))
    return compare.compare(DATAREP, path)


def untouched(work):
    """Reading a file of 0.5 leaves its bytes."""
    path = shutil.copy(os.path.join(DRAFT, "tree.drep"), os.path.join(work, "read.drep"))
    before = read(path)
    for way in (("dump", path), ("ls", path), ("check", "--deep", path), ("log", path), ("stat", path)):
        status, out = run(*way)
        if status != 0 or read(path) != before:
            return "%s: status %d: %s" % (way[0], status, out)
    return None


def converted(work):
    """A new file begins with 1.1, also one made from a file of 0.5."""
    path = os.path.join(work, "new.drep")
    status, out = run("convert", os.path.join(DRAFT, "tree.drep"), path)
    if status != 0 or versions(read(path)) != [FIRST]:
        return "status %d: %s%s" % (status, out, versions(read(path)))
    return None


def stated():
    """CHANGELOG.md has the digest of SPEC.md, from its first byte to the line of 18."""
    page = read(os.path.join(ROOT, "SPEC.md"))
    below = b"\n## 18. Errata\n"
    digest = hashlib.sha256(page[:page.index(below) + len(below)]).hexdigest()
    changes = read(os.path.join(ROOT, "CHANGELOG.md")).decode()
    return None if "`%s`" % digest in changes else "CHANGELOG.md does not have " + digest


def main():
    if "--update" in sys.argv:
        update()
        return 0
    work = os.environ["TMPDIR"]
    tap.run("SHA256SUMS has the digest of every file", listed)
    tap.run("CHANGELOG.md has the digest of SPEC.md", stated)
    tap.result("17 machines are in both sets", None if all(
        sum(n.startswith("machines") for n in names(folder)) == 17 for folder in (DRAFT, HERE)) else names(DRAFT))
    for name in names(DRAFT):
        tap.run("%s: as its twin of 1.1" % name, twin, name)
    for name in names(DRAFT, ".drep"):
        tap.run("%s: a check says what it says of its twin" % name, checked, name)
    for version, words in (((0, 0), "draft 0 of the format"), ((0, 1), "draft 1 of the format"),
                           ((0, 4), "draft 4 of the format"), ((0, 6), "draft 6 of the format"),
                           ((1, 0), "draft 1 of the format, which called itself 1.0"), ((2, 0), "version 2.0"),
                           ((2, 1), "version 2.1")):
        tap.run("%d.%d is refused by name" % version, refused, work, version, words)
    for version in ((1, 2), (1, 255)):
        tap.run("%d.%d is read" % version, later, work, version)
    for name, case in (("a commit makes 0.5 into 1.1", changed), ("so does one to a stream", stream_changed),
                       ("reading leaves the bytes of 0.5", untouched), ("a new file begins with 1.1", converted)):
        tap.run(name, case, work)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
