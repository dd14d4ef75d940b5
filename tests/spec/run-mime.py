#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-mime.py - do file(1) and the desktops' database know Datarep files and pack units?

file(1) reads tools/share/datarep.magic, update-mime-database compiles tools/share/datarep.xml, and
gio asks the result.  What they say of a vector is held against the vector's JSON.  Prints TAP.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARE = os.path.join(ROOT, "tools", "share")
MAGIC = os.path.join(SHARE, "datarep.magic")
VECTORS = os.path.join(ROOT, "tests", "vectors")
FILE, UNIT = "application/vnd.datarep", "application/vnd.datarep.unit"
# The pack unit that PACK.md shows, up to the name of its representation.
UNIT_HEAD = bytes.fromhex("894452550d0a1a0a 0005 0000 0000002a 0000000000000001 0000000000000008"
                          "63df53725e097d8e 0001 00000024 01 00 0000 0a") + b"external32"


def ask(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)
    if done.returncode or done.stderr:
        raise RuntimeError("%s: %s" % (" ".join(command), done.stderr or done.stdout))
    return done.stdout.strip()


def said(path, *options):
    """What file(1) says with our magic alone."""
    return ask("file", "-b", *options, "-m", MAGIC, path)


def good():
    return sorted(glob.glob(os.path.join(VECTORS, "*.drep")))


def vector(name):
    with open(os.path.join(VECTORS, name + ".drep"), "rb") as f:
        return bytearray(f.read())


def write(directory, name, data):
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def changed(directory, name, at, data):
    """The path of a copy of a vector with other bytes at this place."""
    image = vector(name)
    image[at:at + len(data)] = data
    return write(directory, "%s-%d-%s" % (name, at, data[:4].hex()), image)


def compiles(directory):
    """file(1) finds nothing odd in the magic."""
    shutil.copy(MAGIC, directory)
    done = subprocess.run(["file", "-C", "-m", "datarep.magic"], cwd=directory, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.stderr or (None if done.returncode == 0 else "status %d" % done.returncode)


def vectors_described(_):
    """Version, representation and commit of each vector as its JSON has them."""
    for path in good():
        with open(path[:-5] + ".json", encoding="utf-8") as f:
            doc = json.load(f)
        with open(path, "rb") as f:  # the slots may differ: the first one that is whole is described
            slots = f.read(8192)
        at = 8 if slots.startswith(b"\x89DRP") else 4104
        major, minor = slots[at + 1], slots[at + 3]
        start = "Datarep file, %s" % ("draft %d" % minor if major == 0 else "version %d.%d" % (major, minor))
        text = said(path)
        if "state at the end" not in text:  # the slot with the header proper is elsewhere
            start += ", " + doc["datarep"]
        if not text.startswith(start + ", "):
            return "%s: %r does not begin %r" % (path, text, start)
        commits = [int(w) for w in text.rsplit("commit", 1)[1].split() if w.isdigit()]
        if max(commits) != doc["sequence"] and os.path.basename(path) != "damaged-slot.drep":
            return "%s: %r, but sequence %d" % (path, text, doc["sequence"])
        if said(path, "--mime-type") != FILE or said(path, "--extension") != "drep":
            return "%s: %s" % (path, said(path, "--mime-type"))
    return None if good() else "no vectors"


def texts(directory):
    """Other versions, a damaged first slot, a pack unit."""
    cases = (
        (changed(directory, "scalar", 8, b"\0\1\0\0"), "Datarep file, draft 1, external32, commit 1"),
        (os.path.join(VECTORS, "draft-5.drep"), "Datarep file, draft 5, external32, commit 1"),
        (changed(directory, "scalar", 8, b"\0\2\0\7"), "Datarep file, version 2.7, external32, commit 1"),
        (changed(directory, "scalar", 40, bytes(7) + b"\1"),
         "Datarep file, version 1.1, external32, state at the end, commit 1"),
        (changed(directory, "second-commit", 0, bytes(8)),
         "Datarep file, first slot damaged, version 1.1, external32, commit 2"),
        (os.path.join(VECTORS, "second-commit.drep"), "Datarep file, version 1.1, external32, commits 1 and 2"),
        (write(directory, "unit", UNIT_HEAD),
         "Datarep pack unit, version 5, external32, 1 data items in 8 bytes"),
    )
    wrong = ["%r, not %r" % (said(path), want) for path, want in cases if said(path) != want]
    return "\n".join(wrong) or None


def others(directory):
    """What is not ours is not called so: no bytes, text, PNG, HDF5, our magic as FTP's text mode leaves it."""
    mangled = bytes(vector("scalar")).replace(b"\r\n", b"\n")
    for n, data in enumerate((b"", b"DRP\n", b"\x89PNG\r\n\x1a\n" + bytes(9000),
                              b"\x89HDF\r\n\x1a\n" + bytes(9000), mangled, bytes(9000))):
        text = said(write(directory, "other%d" % n, data))
        if "Datarep" in text:
            return "%r is %r" % (data[:8], text)
    return None


def database(directory):
    """gio finds files by their name and by their bytes, pack units by their bytes."""
    mime = os.path.join(directory, "share", "mime")
    os.makedirs(os.path.join(mime, "packages"))
    shutil.copy(os.path.join(SHARE, "datarep.xml"), os.path.join(mime, "packages"))
    env = dict(os.environ, XDG_DATA_HOME=os.path.join(directory, "share"), HOME=directory,
               GIO_USE_VFS="local")
    ask("update-mime-database", mime, env=env)
    image = bytes(vector("scalar"))
    for path, want in ((write(directory, "by-name.drep", b"\1\2\3"), FILE),
                       (write(directory, "by-bytes", image), FILE),
                       (write(directory, "by-name.drepu", b"\1\2\3"), UNIT),
                       (write(directory, "unit", UNIT_HEAD), UNIT)):
        text = ask("gio", "info", "-a", "standard::content-type", path, env=env)
        if "standard::content-type: " + want not in text.splitlines()[-1].strip():
            return "%s, not %s" % (text, want)
    return None


def main():
    tests = (("file -C accepts the magic", compiles, ("file",)),
             ("file -m says version, representation and commit of every vector", vectors_described, ("file",)),
             ("file -m on other versions, damage, a pack unit", texts, ("file",)),
             ("file -m does not take other files for ours", others, ("file",)),
             ("gio knows files and pack units", database, ("update-mime-database", "gio")))
    tap = Tap()
    for name, function, needs in tests:
        absent = [p for p in needs if not shutil.which(p)]
        if absent:
            tap.skip(name, "%s is not installed" % absent[0])
            continue
        with tempfile.TemporaryDirectory() as directory:
            tap.run(name, function, directory)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
