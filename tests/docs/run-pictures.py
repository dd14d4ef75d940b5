#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-pictures - TUTORIAL.md shows the pictures that its commands make.

The commands are run again; sizes must be equal, and nearly all pixels alike: fonts differ from system to
system.  UPDATE=1 writes the pictures anew: look at them.  TAP on stdout.  run-pictures.py --same A B compares
two pictures.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))

import png  # noqa: E402

PICTURES = os.path.join(ROOT, "tests", "docs", "pictures")
DATAREP = os.path.abspath(os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep")))
ALIKE = 0.97  # of all pixels
NEAR = 40  # levels of a colour


def blocks():
    """The file and the commands that make the pictures."""
    with open(os.path.join(ROOT, "TUTORIAL.md"), encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r"<!-- test: (file (\S+)|sh) -->\n```\w+\n(.*?)```", text, re.S)
    for (kind, name, body), (_, _, commands) in zip(found, found[1:]):
        if "plot sea.drep" in commands:
            return name, body, commands
    raise ValueError("TUTORIAL.md makes no pictures")


def different(a, b):
    """What differs too much, or None."""
    (wide, high, rows), (other_wide, other_high, other) = png.read(a), png.read(b)
    if (wide, high) != (other_wide, other_high):
        return "%dx%d pixels, %dx%d are made now" % (wide, high, other_wide, other_high)
    same = sum(max(abs(x - y) for x, y in zip(p, q)) <= NEAR
               for one, two in zip(rows, other) for p, q in zip(one, two))
    share = same / (wide * high)
    return None if share >= ALIKE else "%.1f %% of the pixels are alike" % (100 * share)


def main():
    if sys.argv[1:2] == ["--same"]:
        return different(sys.argv[2], sys.argv[3])
    if not os.path.exists(os.path.join(os.path.dirname(DATAREP), "datarep-plot.so")):
        print("1..0 # SKIP built without Cairo")
        return 0
    if not os.path.exists("/usr/share/gmt-gshhg/binned_GSHHS_l.nc"):
        print("1..0 # SKIP gmt-gshhg-low is not installed")
        return 0
    name, body, commands = blocks()
    failed = 0
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, name), "w", encoding="utf-8") as f:
            f.write(body)
        path = os.path.dirname(DATAREP) + ":" + os.environ["PATH"]
        subprocess.run(["sh", "-ec", commands], cwd=d, env=dict(os.environ, PATH=path), check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        names = sorted(n for n in os.listdir(d) if n.endswith(".png"))
        print("1..%d" % len(names))
        for n, picture in enumerate(names, 1):
            if os.environ.get("UPDATE"):
                shutil.copy(os.path.join(d, picture), PICTURES)
            wrong = different(os.path.join(PICTURES, picture), os.path.join(d, picture))
            failed += bool(wrong)
            print("%sok %d - %s%s" % ("not " if wrong else "", n, picture, "\n# " + wrong if wrong else ""))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
