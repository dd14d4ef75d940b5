# SPDX-License-Identifier: MIT
"""A reader of Datarep files, written from SPEC.md alone.

One module for each section of the page: slots (2), header (3), tree (4), codes, datatypes, scalars
and elements (5), space (6), objects (7), datasets and filters (8), text and dump (10), units (12).
Every refusal names the rule that the file breaks.
"""

from .datasets import PLAIN
from .dump import lines
from .errors import Newer, ReadError
from .file import File

__all__ = ["PLAIN", "File", "Newer", "ReadError", "document"]


def document(path, commit=None, external=True):
    """The JSON text of a file; external: other files that it names may be opened."""
    with File(path, commit, external) as file:
        return "".join(lines(file))
