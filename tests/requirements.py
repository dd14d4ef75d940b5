#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""requirements.py - prints which tests prove which rule, and fails for a rule without one.

Rules are the lines of requirements.txt.  A test names a rule
  - in the name of a Check test: test_U6_any_staging_same_bytes,
  - in a comment above or inside a Check test, or a function that it calls in its file,
  - in front of what a TAP program calls a case: "U6: any staging".
Parts of rules that need MPI or Fortran are printed apart; the rest of such a rule still
needs its test.  Standard library only.
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ID = r"[ENVXURHPCD][0-9]{1,2}"
CASE = re.compile(r"""["'](%s(?:, ?%s)*): ([^"'\n]*)""" % (ID, ID))


def load(path):
    """The rules in order, and the parts that are left to MPI: (rule, part, reason)."""
    rules, left = collections.OrderedDict(), []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        m = re.fullmatch(r"(- )?(%s) (.+)" % ID, line)
        if not m:
            sys.exit("%s:%d: neither a rule nor a part of one" % (path, number))
        if not m.group(1):
            if m.group(2) in rules:
                sys.exit("%s:%d: %s stands twice" % (path, number, m.group(2)))
            rules[m.group(2)] = m.group(3)
            continue
        part, colon, reason = m.group(3).partition(": ")
        if not colon or m.group(2) not in rules:
            sys.exit("%s:%d: a part needs a rule before it, and a reason" % (path, number))
        left.append((m.group(2), part, reason))
    return rules, left


def functions(text):
    """Each function with the comment above it: its name, what it is, its text.  Whatever
    begins at the start of a line and ends at a brace there."""
    begin = 0
    for m in re.finditer(r"^(?:}|END_TEST)[^\n]*\n", text, re.M):
        piece = text[begin:m.end()]
        begin = m.end()
        head = re.search(r"^START_TEST\((\w+)\)", piece, re.M)
        if head:
            yield head.group(1), True, piece
            continue
        # The last of what could be the head of a function is one.
        heads = re.findall(r"^\w[\w \*]*?\b(\w+)\([^;]*?\)\n\{", piece, re.M)
        if heads:
            yield heads[-1], False, piece


def check_tests(text):
    """The rules that each Check test of a file names, itself or through what it calls."""
    known = {}
    for name, test, piece in functions(text):
        comments = " ".join(re.findall(r"/\*.*?\*/", piece, re.S))
        code = re.sub(r"/\*.*?\*/", "", piece, flags=re.S)
        own = set(re.findall(r"\b%s\b" % ID, comments))
        if test:
            own |= {w for w in name.split("_") if re.fullmatch(ID, w)}
        known[name] = (test, own, set(re.findall(r"\b(\w+)\b", code)) - {name})
    for name, (test, _, _) in known.items():
        if not test or not re.search(r"tcase_add_\w*test\([^;]*\b%s\b" % name, text):
            continue
        rules, todo, seen = set(), [name], set()
        while todo:
            f = todo.pop()
            if f in seen:
                continue
            seen.add(f)
            rules |= known[f][1]
            todo += [c for c in known[f][2] if c in known and not known[c][0]]
        yield name, rules


def named_in(path):
    """(rule, test) for every test of a file that names one."""
    text = open(path, encoding="utf-8").read()
    # What a whole file is about is no claim of any of its tests.
    text = re.sub(r"\A/\*.*?\*/", "", text, flags=re.S)
    if path.endswith(".c") and "START_TEST" in text:
        for test, rules in check_tests(text):
            for rule in rules:
                yield rule, test
    else:
        for m in CASE.finditer(text):
            for rule in re.findall(ID, m.group(1)):
                yield rule, m.group(2).strip()


def gather(rules):
    found = {rule: [] for rule in rules}
    for folder, _, names in sorted(os.walk(HERE)):
        if folder == os.path.join(HERE, "runner"):
            continue  # it tests this program with texts that look like tests
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not re.search(r"\.(c|sh|bats|py)$", name) or path == os.path.abspath(__file__):
                continue
            for rule, test in named_in(path):
                where = "%s: %s" % (os.path.relpath(path, HERE), test)
                if rule in found and where not in found[rule]:
                    found[rule].append(where)
    return found


def main():
    rules, left = load(os.path.join(HERE, "requirements.txt"))
    found = gather(rules)
    missing = []
    for rule, text in rules.items():
        print("%-4s %s" % (rule, text))
        for where in found[rule]:
            print("       " + where)
        if not found[rule]:
            missing.append(rule)
    print("\nParts that need MPI or Fortran:")
    for rule, part, reason in left:
        print("  %-4s %s\n       %s" % (rule, part, reason))
    for rule in missing:
        print("\nno test names %s: %s" % (rule, rules[rule]), end="")
    print("\n%d rules, %d with tests, %d without; %d parts need MPI or Fortran"
          % (len(rules), len(rules) - len(missing), len(missing), len(left)))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
