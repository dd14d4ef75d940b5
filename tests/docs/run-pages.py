#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-pages - pages for people who read the sources lead somewhere.

Every link of a page in Markdown to a file, or to a heading, has one; every source that a page names is there;
CONTRIBUTING.md stays short; tools/order has each file of each room.  TAP on stdout.
"""
import glob
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([a-z_0-9/.-]+/[a-z_0-9.-]+\.(?:h|c|py|def|txt|sh|in|md|mjs|js|pml))`")
PLACES = ("", "lib", "tools", "tests", "python", "web", "lib/*", "tools/*")
MOST = 15000  # bytes of CONTRIBUTING.md
cases = failed = 0


def result(name, wrong):
    global cases, failed
    cases += 1
    failed += bool(wrong)
    print("%sok %d - %s" % ("not " if wrong else "", cases, name))
    for line in wrong:
        print("# " + line)


def pages():
    found = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    names = found.stdout.split() or glob.glob("*.md", root_dir=ROOT) + glob.glob("*/*.md", root_dir=ROOT)
    return sorted(n for n in names if "/corpus/" not in n)


def text_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return re.sub(r"^(```|~~~).*?^\1$", "", f.read(), flags=re.M | re.S)


def anchors(page):
    """Headings as GitHub names them."""
    found = re.findall(r"^#+ +(.*?)\s*$", text_of(page), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"`|\[|\]\([^)]*\)", "", h)).lower().replace(" ", "-") for h in found}


def dead_links(page):
    for target in (a or b for a, b in LINK.findall(text_of(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, there)):
            yield f"{page}: no file {target}"
        elif anchor and there.endswith(".md") and anchor not in anchors(there):
            yield f"{page}: no heading {target}"


def dead_names(page):
    for name in sorted(set(NAMED.findall(text_of(page)))):
        if not name.startswith(("build/", "/")) and \
                not any(glob.glob(os.path.join(ROOT, place, name)) for place in PLACES):
            yield f"{page}: no file {name}"


def order():
    loader = importlib.machinery.SourceFileLoader("order", os.path.join(ROOT, "tools", "order"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("order", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module.check()


def main():
    for page in pages():
        result(f"links of {page}", list(dead_links(page)))
    for page in ("CONTRIBUTING.md", "lib/README.md", "tests/README.md", "PORTABILITY.md"):
        result(f"sources that {page} names", list(dead_names(page)))
    size = os.path.getsize(os.path.join(ROOT, "CONTRIBUTING.md"))
    result(f"CONTRIBUTING.md has at most {MOST} bytes", [f"it has {size}"] if size > MOST else [])
    result("tools/order has each file of each room, with what its comment says", order())
    print("1..%d" % cases)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
