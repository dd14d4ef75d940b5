#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-tables.py - do the tables of the sources and the pages that list them say the same?

The lines of format/*.def are held against SPEC.md's tables, those of the reader and the writer in
Python, the manual pages and the public header: a line that is added in one place only is named here,
with the places that lack it.  Every literal of SPEC.md's tables is read, and is what the sources have
(literals.py); a table, a row or a number that nothing reads is an error.  Prints TAP.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import codes  # noqa: E402
import literals  # noqa: E402
from tap import Tap  # noqa: E402
from reader import filters as reader_filters  # noqa: E402
from reader import scalars as reader_scalars  # noqa: E402
from literals import text, x_rows as rows  # noqa: E402
from reader.codes import PREDEFINED  # noqa: E402


def spec_row(number, name):
    return re.search(r"^\| %s \| `?%s`? \|" % (number, re.escape(name)), text("SPEC.md"), flags=re.M)


def types():
    for name, code, cls, external32, internal, _ in rows("format/types.def"):
        known = codes.PREDEFINED.get(int(code))
        if not known or (known[0], known[3], known[4]) != (name, int(external32), int(internal)):
            yield "tests/spec/codes.py: %s is %s" % (name, known)
        known = PREDEFINED.get(int(code))
        if not known or (known.name, known.external, known.internal) != (
                name, int(external32), int(internal)):
            yield "tests/spec/reader/codes.py: %s is %s" % (name, known)
        if not re.search(r"DREP_CODE_%s = %s\b" % (name, code), text("lib/datarep.h")):
            yield "lib/datarep.h: no DREP_CODE_%s = %s" % (name, code)


def formats():
    for row in rows("format/formats.def", "XR"):
        name, number = row[2], row[1]
        if not spec_row(number, name):
            yield "SPEC.md: no row `| %s | %s |`" % (number, name)
        if codes.FORMATS.get(int(number), ("",))[0] != name:
            yield "tests/spec/codes.py: %s is %s" % (number, codes.FORMATS.get(int(number)))
        known = reader_scalars.FORMATS.get(int(number))
        if (known.name if known else "custom") != name:
            yield "tests/spec/reader/scalars.py: %s is %s" % (number, known)
        if not re.search(r"\b%s\b" % re.escape(name), text("tools/man/datarep-schema.5")):
            yield "tools/man/datarep-schema.5: no %s" % name


def filters():
    command = os.environ.get("DATAREP", os.path.join(ROOT, "build/release/datarep"))
    version = subprocess.run([command, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    config = text(os.path.join(os.path.dirname(command), "config.mk"))
    every = all("HAVE_%s := 1" % lib in config for lib in ("ZSTD", "LZ4", "DEFLATE", "LZF", "BLOSC"))
    for _, number, name, _, _ in rows("format/filters.def"):
        if not spec_row(number, name):
            yield "SPEC.md: no row `| %s | %s |`" % (number, name)
        known = reader_filters.NAMES.get(int(number))
        if known != name:
            yield "tests/spec/reader/filters.py: %s is %s" % (number, known)
        if not re.search(r"\b%s\b" % name, text("tools/man/datarep.5")):
            yield "tools/man/datarep.5: no %s" % name
        if every and not re.search(r"^.*filters.* %s\b" % name, version, flags=re.M):
            yield "lib/chunk/filter.c: %s is in no class of filters, says %s --version" % (name, command)


def hints():
    """MPI's reserved hints are its standard's; only our own need a word."""
    for key, _, _ in rows("format/hints.def"):
        if key.startswith("drep_") and not re.search(r"\b%s=" % key, text("lib/datarep.h")):
            yield "lib/datarep.h: nothing says what hint %s does" % key


def errors():
    for name, number, _ in rows("format/errors.def"):
        if not re.search(r"\bDREP_ERR_%s = %s\b" % (name, number), text("lib/datarep.h")):
            yield "lib/datarep.h: no DREP_ERR_%s = %s" % (name, number)


def pages():
    return text("SPEC.md") + "\n" + text("PACK.md")


def planted():
    """Literals changed in the page one at a time: each must be noticed."""
    page = pages()
    for old, new in (("minor version, ", "minor version, 1"), ("| 4088 |", "| 4080 |"), (" 16 DOUBLE 8", " 61 DOUBLE 8"),
                     ("1,040 / 2,048", "1,048 / 2,048"), ("layouts 4 to 255", "layouts 5 to 255"),
                     ("`44 52 50 42`", "`44 52 50 44`"), ("| 2^62 |", "| 2^63 |"), ("bias 1023", "bias 1022"),
                     ("| 4088 |", "| 9 | 9 | a row more |\n| 4088 |")):
        if page.count(old) < 1:
            yield "SPEC.md: no `%s` to plant a mistake in" % old
        elif not list(literals.wrong(page.replace(old, new, 1))):
            yield "`%s` for `%s` is not noticed" % (new, old)


def planted_limits():
    page = text("SPEC.md")
    for old, new in (("| compact dataset | 65,536 bytes | R8.10 |\n", ""), ("| R5.34 |", "| R5.35 |")):
        if page.count(old) != 1:
            yield "SPEC.md: no `%s` to plant a mistake in" % old
        elif not list(literals.limits_wrong(page.replace(old, new))):
            yield "`%s` for `%s` is not noticed" % (new, old)


def known(name):
    """A table of format/ that this program understands."""
    if not rows("format/%s.def" % name, "XR"):
        yield "format/%s.def: no line is understood" % name


def main():
    tables = (("types", types), ("formats", formats), ("filters", filters), ("hints", hints),
              ("errors", errors))
    cases = [(name, lambda name=name, fn=fn: list(known(name)) + list(fn())) for name, fn in tables] + [
        ("literals in the tables of the pages", lambda: literals.wrong(pages())),
        ("planted mistakes in them", planted),
        ("limits of the code are those of section 9", lambda: literals.limits_wrong(text("SPEC.md"))),
        ("planted mistakes in these", planted_limits)]
    tap = Tap()
    for name, function in cases:
        tap.run(name, function)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
