#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""vectors-dist.py TAR - pack all vectors for people who have nothing else of this repository.

Good files with their JSON, all bad files, the dump of each, an index from rules to files and classes of
readers, the pages and a runner (dist/).  The same tree gives the same bytes.
"""
import glob
import gzip
import io
import os
import re
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTORS = os.path.join(ROOT, "tests", "vectors")
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
import classes  # noqa: E402
import dumps  # noqa: E402
import literals  # noqa: E402

BESIDE = ("SPEC.md", "PACK.md", "LICENSE", "LICENSES/CC-BY-4.0.txt", "tests/vectors/values.def", "tests/spec/dist/run.py",
          "tools/share/dump.schema.json", "tools/man/datarep-dump.1", "tools/man/datarep-types.7")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def collect(work):
    """{name in the package: bytes}"""
    numbers = literals.Numbers()
    version = "%d.%d" % (numbers["MAJOR"], numbers["MINOR"])
    found = {os.path.basename(p): read(os.path.join(ROOT, p)) for p in BESIDE}
    found["README"] = read(os.path.join(HERE, "dist", "README")).replace(b"@VERSION@", version.encode())
    for path in glob.glob(os.path.join(VECTORS, "*.drep")) + glob.glob(os.path.join(VECTORS, "*.json")) + glob.glob(
            os.path.join(VECTORS, "*.bin")):
        found["good/" + os.path.basename(path)] = read(path)
    badvectors.write(work, everything=True)
    for folder, _, names in os.walk(work):
        for name in names:
            path = os.path.join(folder, name)
            if name != "EXPECT":
                found["bad/" + os.path.relpath(path, work)] = read(path)
    for name in [n for n in found if n.endswith(".drep")]:
        found[name[:-5] + ".txt"] = dumps.dump(found[name]).encode("utf-8", "backslashreplace")
    found["INDEX"] = classes.index(found).encode()
    return version, found


def main(target):
    with tempfile.TemporaryDirectory() as work:
        version, found = collect(work)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(found):
            info = tarfile.TarInfo("datarep-vectors-%s/%s" % (version, name))
            info.size, info.mode = len(found[name]), 0o755 if name == "run.py" else 0o644
            tar.addfile(info, io.BytesIO(found[name]))
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with open(target, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0) as z:
        z.write(raw.getvalue())
    print("%s: %d files, %d good and %d bad ones" % (target, len(found), *(
        len([n for n in found if re.match(kind + r"/.*\.drep$", n)]) for kind in ("good", "bad"))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: vectors-dist.py TAR")
    main(sys.argv[1])
