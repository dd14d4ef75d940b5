#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py [OPTIONS] COMMAND... - does a reader of Datarep files read them as SPEC.md says?

COMMAND is called with a file as its last argument.  Of a good file it prints the JSON that stands beside the
file (README) and ends with status 0; "partial" files have parts that cannot be read, and any status will do.
A bad file it refuses: another status than 0, and a word on standard error.

  --class CLASS    the reader's class: header, core, filtering or full (the default); files of others are left out
  --check COMMAND  for bad files that only a check of the whole file notices; without it they are left out
  --rules          a bad file is refused by the number of the rule that it breaks
  --every N        try each N-th file alone
  --list           print what is left out
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = ("header", "core", "filtering", "full", "checker")

def index():  # (file, class, flags, rules)
    with open(os.path.join(HERE, "INDEX"), encoding="utf-8") as f:
        for line in f:
            kind, *words = line.split()
            if kind == "file":
                yield words[0], words[1], words[2].split(","), words[3].split("|") if len(words) > 3 else []


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return type(a) in (int, float) and type(b) in (int, float) and repr(float(a)) == repr(float(b))
    return type(a) is type(b) and a == b


def call(command, path):
    try:
        done = subprocess.run(command + [path], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        return None, "", str(e)
    return done.returncode, done.stdout.decode("utf-8", "surrogatepass"), done.stderr.decode("utf-8", "replace")


def good(command, path, flags):
    status, out, err = call(command, path)
    if status != 0 and "partial" not in flags or status is None or status < 0:
        return "status %s: %s" % (status, err[-300:])
    with open(path[:-5] + ".json", encoding="utf-8") as f:
        wanted = json.load(f)
    try:
        shown = dict(json.loads(out), file=wanted["file"])
    except ValueError as e:
        return "no JSON: %s" % e
    return None if same(wanted, shown) else "differs in: " + ", ".join(
        k for k in wanted if k not in shown or not same(wanted[k], shown[k]))


def bad(command, path, rules):
    status, out, err = call(command, path)
    if status is None or status <= 0:
        return "it was read" if status == 0 else "status %s: %s" % (status, err[-300:])
    said = (out + err).strip()
    named = any("(%s)" % r in said for r in rules or [])
    return None if said and (named or not rules) else "not refused by %s: %s" % (" or ".join(rules), said[-300:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="cls", choices=CLASSES[:4], default="full")
    parser.add_argument("--check", type=shlex.split)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    o = parser.parse_args()
    tried = failed = left = 0
    for path, cls, flags, rules in list(index())[::o.every]:
        command = o.check if cls == "checker" else o.command
        if not command or cls != "checker" and CLASSES.index(cls) > CLASSES.index(o.cls):
            left += 1
            if o.list:
                print("left out: %s (%s)" % (path, cls))
            continue
        where = os.path.join(HERE, path)
        wrong = bad(command, where, rules if o.rules else []) if path[:4] == "bad/" else good(command, where, flags)
        tried, failed = tried + 1, failed + bool(wrong)
        if wrong:
            print("%s: %s" % (path, wrong.strip()))
    print("%d files tried, %d failed, %d left out" % (tried, failed, left))
    return 2 if not tried else failed > 0


if __name__ == "__main__":
    sys.exit(main())
