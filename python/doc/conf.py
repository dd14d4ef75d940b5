# SPDX-License-Identifier: MIT
"""Sphinx's settings of the pages about the package for Python: make python-doc."""
import os
import re
import sys

PACKAGE = os.environ.get("DATAREP_PACKAGE")
if PACKAGE:
    sys.path.insert(0, PACKAGE)

import datarep  # noqa: E402
import datarep.xarray  # noqa: E402,F401 - makes the accessor known

project = "Datarep for Python"
author = "The Datarep authors"
copyright = "The Datarep authors, MIT licence"  # noqa: A001
version = release = datarep.__version__
extensions = ["sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Datarep {release} for Python"
html_copy_source = False
html_show_sphinx = False
default_role = "code"  # `name` in docstrings is code
highlight_language = "python3"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signatures would be longer than what they tell
autodoc_default_options = {"members": True}
# What other packages document: their pages are not at hand when these are made.
nitpick_ignore_regex = [("py:.*", r"(?!datarep).*")]

# "name: text", as docstrings tell of arguments.
ARGUMENT = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): (?=\S)")


def escaped(line):
    """Docstrings are plain text: what reStructuredText would read as marks stands for itself."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") and p.endswith("`") and len(p) > 2
                   else re.sub(r"([*|\\]|_(?!\w))", r"\\\1", p) for p in parts)


def plain_text(app, what, name, obj, options, lines):
    """Arguments become a list, examples stay as they are."""
    made, example, item = [], False, False
    for line in lines:
        example = line.startswith(">>>") or example and bool(line.strip())
        if example:
            made.append(line)
            item = False
            continue
        if not line.strip():
            made.append(line)
            item = False
            continue
        found = ARGUMENT.match(line)
        if found and what in ("function", "method", "class", "exception", "module"):
            if not item and made and made[-1].strip():
                made.append("")
            item = True
            made.append(f"* **{escaped(found.group(1))}**: {escaped(line[found.end():])}")
        else:
            made.append(("  " if item else "") + escaped(line))
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", plain_text)
    return {"parallel_read_safe": True}
