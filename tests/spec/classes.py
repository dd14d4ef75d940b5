# SPDX-License-Identifier: MIT
"""Which class of readers (SPEC.md, Conformance) a rule or a vector is for, and the index of the vectors."""

import importlib.util
import json
import os
import re

import badvectors

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = ("R3.8", "R3.10", "R3.21", "R3.22", "R3.23", "R3.24", "R3.25", "R5.20", "R5.21", "R5.22", "R5.23", "R5.24",
        "R5.25", "R5.26", "R6.5", "R6.6")
FILTERING = ("R8.30", "R8.31", "R8.32", "R8.34", "R8.35", "R8.36", "R8.37", "R8.38", "R8.50", "R8.51",
             "R8.53", "R8.54", "R8.56", "R8.58")
# Formats that a core reader need not know: those from 24 on, and descriptions.
BEYOND = range(24, 256)


def rules_module():
    spec = importlib.util.spec_from_file_location("run_rules", os.path.join(HERE, "run-rules.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_rule(number, mark=""):
    section = int(number[1:].split(".")[0])
    if mark == "check":
        return "checker"
    if number in FULL or section == 12:
        return "full"
    if number in FILTERING:
        return "filtering"
    return "header" if section in (2, 3) else "checker" if section == 6 else "core"


def datasets(node):
    if node.get("kind") == "dataset":
        yield node
    for member in node.get("members", {}).values():
        yield from datasets(member)


def formats_of(raw):
    """The numbers of formats in the ENCODINGS of a header proper."""
    found, at, header = set(), 0, raw[256:256 + int.from_bytes(raw[12:16], "big")]
    while at + 6 <= len(header):
        tag, size = int.from_bytes(header[at:at + 2], "big"), int.from_bytes(header[at + 2:at + 6], "big")
        if tag == 1:  # its nested records come next
            at += 6 + 4 + header[at + 9]
            continue
        if tag == 3:
            found |= {header[i] for i in range(at + 8, at + 6 + size, 8)}
        at += 6 + size
    return found


def of_vector(document, raw):
    """The least class that reads all of a good file."""
    text = json.dumps(document)
    if document["form"] == "code" or '"form": "code"' in text or "scalar{" in text or \
            any(f in BEYOND for f in formats_of(raw)):
        return "full"
    return "filtering" if any(d.get("filters") for d in datasets(document["root"])) else "core"


def unread(value):
    """Is a part of a document what a reader cannot show?"""
    if isinstance(value, list):
        return any(map(unread, value))
    if not isinstance(value, dict):
        return False
    if value.get("kind") == "unknown" or value.get("link") == "unknown" or None in value.get("attributes", {}).values():
        return True
    if value.get("kind") == "dataset" and ("data" not in value or value["data"] is None and value["shape"] is not None):
        return True
    return any(unread(v) for k, v in value.items() if k not in ("data", "value", "fill"))


def index(found):
    """The text of INDEX: a line for each rule and each file of a package {name: bytes}."""
    rules = rules_module()
    known, words, broken = rules.rules(), rules.explained(), rules.broken()
    lines = []
    for number, mark in known:
        keep = ["good/%s.drep" % g for g in words.get(number, ([], ""))[0]]
        lines.append("rule %s %s %s keep %s break %s" % (
            number, mark, of_rule(number, mark), ",".join(keep) or "all",
            ",".join("bad/%s.drep" % b for b in broken.get(number, [])) or "-"))
    for name in sorted(n for n in found if re.match(r"good/.*\.drep$", n)):
        document = json.loads(found[name[:-5] + ".json"])
        flags = ["partial"] * unread(document["root"]) + ["other"] * (name == "good/external.drep")
        lines.append("file %s %s %s" % (name, of_vector(document, found[name]), ",".join(flags) or "-"))
    for name, category, rule, where, _ in badvectors.BAD:
        cls = "checker" if where else max((of_rule(r) for r in rule.split("|")),
                                          key=("header", "core", "filtering", "full", "checker").index)
        # What is no Datarep file at all is refused as such, by no rule.
        lines.append(("file bad/%s.drep %s - %s" % (name, cls, "" if category == "NOT_DREP" else rule)).rstrip())
    return "\n".join(lines) + "\n"
