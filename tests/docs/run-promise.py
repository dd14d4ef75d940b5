#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""That files are read for ever is said where people begin, with the version that the library writes."""
import os
import re
import subprocess
import sys

source = os.environ["SRCDIR"]
command = os.environ["DATAREP"]
cases = failed = 0


def text_of(*path):
    with open(os.path.join(source, *path), encoding="utf-8") as file:
        return file.read()


def number(name):
    return int(re.search(r"#define FMT_%s (\d+)" % name, text_of("format", "numbers.h")).group(1))


def result(fine, words):
    global cases, failed
    cases += 1
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {cases} - {words}")


def check(where, text):
    said = (f"The format is version {written}. Every later version of the library will read its files, and those "
            f"of draft {draft} (0.{draft}), which differ in that number alone.")
    result(said in " ".join(re.sub(r"^ \* ?", "", text, flags=re.M).replace("``", "`").split()),
           f"{where} has the promise of version {written}")


version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
written, draft = f"{number('MAJOR')}.{number('MINOR')}", number("DRAFT")
result(f"format {written}," in version, f"the command writes version {written}")
result(text_of("SPEC.md").startswith(f"# The Datarep file format, version {written}\n"), "so says the title of SPEC.md")
for name in ("README.md", "TUTORIAL.md"):
    check(name, text_of(name))
check("datarep.h's first comment", text_of("lib", "datarep.h").split("*/")[0])
check("datarep --version", version)
check("help(datarep)", text_of("python", "datarep", "__init__.py").split('"""')[1])
check("the documentation of the package", text_of("python", "doc", "index.rst"))
check("datarep(5)", text_of("tools", "man", "datarep.5"))
print(f"1..{cases}")
sys.exit(failed != 0)
