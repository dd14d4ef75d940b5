#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What becomes of files of this draft is said where people begin, with the number of the draft that
the library writes."""
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


def check(where, text, draft):
    global cases, failed
    said = (f"The format is draft {draft}, the candidate for version 1.1: every later version of the "
            f"library will read files of this draft. `datarep convert` brings files of draft {draft - 1} "
            f"to it.")
    fine = said in " ".join(re.sub(r"^ \* ?", "", text, flags=re.M).split())
    cases += 1
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {cases} - {where} says what becomes of files of draft {draft}")


version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
draft = int(re.search(r"#define FMT_MINOR (\d+)", text_of("format", "numbers.h")).group(1))
fine = f"format 0.{draft}," in version
cases += 1
failed += not fine
print(f"{'ok' if fine else 'not ok'} {cases} - the command writes draft {draft}")

check("README.md", text_of("README.md"), draft)
check("TUTORIAL.md", text_of("TUTORIAL.md"), draft)
check("datarep.h's first comment", text_of("lib", "datarep.h").split("*/")[0], draft)
check("datarep --version", version, draft)
check("help(datarep)", text_of("python", "datarep", "__init__.py").split('"""')[1], draft)
print(f"1..{cases}")
sys.exit(failed != 0)
