#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-rules.py [--table] - which vectors keep and break each rule of SPEC.md?

The rules are those of SPEC.md and, of pack units, of PACK.md.  Every rule that a file can break has a bad vector that names it, or a line in rules.txt that says what
else tests it; rules for readers and writers have good vectors that depend on them, or such a line.
Every rule that a vector, a message of the library or of the reader in Python names is one of the page.
Each error return of a decoder in the library names one.  Prints TAP; --table prints the table instead, --lint
what is wrong about the messages.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

import badvectors  # noqa: E402
from tap import Tap  # noqa: E402

RULE = r"R\d+\.\d+"
KINDS = {"": "all", "(check)": "check", "(write)": "write", "(read)": "read"}


def page():
    return text("SPEC.md") + "\n" + text("PACK.md")


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def rules():
    """(number, whom it binds) of each rule, in the order of the page."""
    found = re.findall(r"^\*\*(%s)\*\* ?(\((?:check|write|read)\))?" % RULE, page(), flags=re.M)
    return [(number, KINDS[mark]) for number, mark in found]


def broken():
    """Rule -> names of the bad vectors that break it."""
    out = {}
    for name, _, rule, _, _ in badvectors.BAD:
        for r in rule.split("|"):
            out.setdefault(r, []).append(name)
    return out


def explained():
    """Rule -> (good vectors, what else) of rules.txt."""
    out = {}
    for line in text("tests/spec/rules.txt").splitlines():
        if line and line[0] != "#":
            head, _, what = line.partition(":")
            number, *good = head.split()
            out[number] = (good, what.strip())
    return out


def numbered(known):
    """Each number once, ascending under each heading; references lead to rules."""
    wrong = []
    for part in re.split(r"^#.*$", page(), flags=re.M):
        there = [int(n) for n in re.findall(r"^\*\*R\d+\.(\d+)\*\*", part, flags=re.M)]
        wrong += ["rule %d stands before %d: numbers ascend under a heading" % (a, b)
                  for a, b in zip(there, there[1:]) if a > b]
    numbers = [n for n, _ in known]
    wrong += ["%s stands there twice" % n for n in set(numbers) if numbers.count(n) > 1]
    wrong += ["SPEC.md refers to %s, which is no rule" % r
              for r in sorted(set(re.findall(r"\b%s\b" % RULE, page())) - set(numbers))]
    return wrong


def named(known):
    """Sources and vectors name rules that exist."""
    numbers = {n for n, _ in known}
    files = [os.path.relpath(p, ROOT) for pattern in
             ("format/*.[ch]", "lib/*/*.[ch]", "tests/spec/reader/*.py")
             for p in glob.glob(os.path.join(ROOT, pattern))]
    return ["%s names %s, which is no rule" % (path, r) for path in sorted(files)
            for r in sorted(set(re.findall(r"\b%s\b" % RULE, text(path))) - numbers)] + [
        "a bad vector names %s, which is no rule" % r for r in sorted(set(broken()) - numbers)]


# Messages about bytes of a file that break no rule of the page.
NO_RULE = ("another file has taken its place",)
# What is no file: messages of ranks.
NO_FILE = ("lib/par/", "lib/team/", "lib/mpi/")


def calls(source, names):
    """(line, text) of each call of these functions."""
    for found in re.finditer(r"\b(?:%s)\s*\(" % names, source):
        at, depth = found.end(), 1
        while depth:
            literal = re.compile(r'"(?:[^"\\]|\\.)*"', re.S).match(source, at)
            if literal:
                at = literal.end()
                continue
            depth += (source[at] == "(") - (source[at] == ")")
            at += 1
        yield source.count("\n", 0, found.start()) + 1, source[found.start():at]


def unnamed(known):
    """Each error return of a decoder names a rule, or passes on a message that does."""
    wrong = []
    for path in sorted(glob.glob(os.path.join(ROOT, "format/*.[ch]")) + glob.glob(os.path.join(ROOT, "lib/*/*.c"))):
        name = os.path.relpath(path, ROOT)
        if name.startswith(NO_FILE):
            continue
        source = text(name)
        found = [(line, call) for line, call in calls(source, "in_fail|getter_fail|fail|fail_byte|fail_object")
                 if name.startswith("format/") or "ERR_FORMAT" in call]
        if name.startswith("format/") and name.endswith(".c"):
            found += [(source.count("\n", 0, m.start()) + 1, m.group()) for m in
                      re.finditer(r'(?:return|[?:]|\*why =) "[^"]{12,}"', source)]
        for line, call in found:
            words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call))
            if words and not re.search(RULE + "|%s", words) and words not in NO_RULE:
                wrong.append("%s:%d: no rule is named: %s" % (name, line, words))
    return wrong


def tested(known):
    """No rule is without a test and without a word."""
    bad, words = broken(), explained()
    wrong = ["%s: neither a bad vector nor a line of rules.txt" % n
             for n, kind in known if n not in bad and n not in words]
    wrong += ["rules.txt: %s is no rule" % n for n in words if n not in {k for k, _ in known}]
    for number, (good, what) in words.items():
        wrong += ["rules.txt: %s: no vector %s.drep" % (number, g) for g in good
                  if not os.path.exists(os.path.join(ROOT, "tests", "vectors", g + ".drep"))]
        wrong += ["rules.txt: %s: %s does not exist" % (number, path)
                  for path in re.findall(r"tests/[a-z0-9_/.-]+[a-z]", what)
                  if not os.path.exists(os.path.join(ROOT, path))]
        if not good and not what:
            wrong.append("rules.txt: %s: nothing is said" % number)
    return wrong


def table(known):
    bad, words = broken(), explained()
    print("| rule | binds | kept by | broken by | what else tests it |")
    print("|---|---|---|---|---|")
    for number, kind in known:
        good, what = words.get(number, ([], ""))
        print("| %s | %s | %s | %s | %s |" % (number, kind, " ".join(good) or "all",
                                              " ".join(bad.get(number, [])), what))


def main(argv):
    known = rules()
    if argv == ["--table"]:
        table(known)
        return 0
    if argv == ["--lint"]:
        wrong = named(known) + unnamed(known)
        print("\n".join(wrong))
        return bool(wrong)
    tap = Tap()
    for name, function in (("numbers of the rules", numbered), ("rules that others name", named),
                           ("errors of decoders name a rule", unnamed), ("a test for each rule", tested)):
        tap.run(name, function, known)
    print("counted: %d rules, %d bad vectors" % (len(known), len(badvectors.BAD)))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
