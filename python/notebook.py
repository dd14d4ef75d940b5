#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""notebook - makes a notebook of the section about Python of the tutorial.

Usage: python/notebook.py TUTORIAL.md OUT.ipynb
"""
import json
import re
import sys

MARKED = re.compile(r"^<!-- (python|output): \w+ -->\n```\w+\n(.*?)^```\n", re.M | re.S)


def cell(kind, text):
    made = {"cell_type": kind, "metadata": {}, "source": text.strip().splitlines(keepends=True)}
    if kind == "code":
        made.update(execution_count=None, outputs=[])
    return made


def cells(section):
    """Prose and examples, in turn; what an example prints is left to whoever runs it."""
    at = 0
    for found in MARKED.finditer(section):
        prose = section[at:found.start()].strip()
        if prose:
            yield cell("markdown", prose)
        if found.group(1) == "python":
            yield cell("code", found.group(2))
        at = found.end()
    if section[at:].strip():
        yield cell("markdown", section[at:])


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        section = re.search(r"^## Python\n.*?(?=^## )", f.read(), re.M | re.S).group(0)
    notebook = {"nbformat": 4, "nbformat_minor": 4, "cells": list(cells(section)), "metadata": {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}}
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(notebook, f, indent=1, ensure_ascii=False)
        f.write("\n")


if __name__ == "__main__":
    main()
