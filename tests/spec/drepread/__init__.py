"""An independent reader of Datarep files, written from SPEC.md alone.

It favours plainness and strictness over speed: every *must* of the page is
checked, every sum is verified, the whole tree is walked on opening.
"""

import sys

from .errors import DrepError
from .reader import File, register_conversion

__all__ = ["DrepError", "File", "register_conversion"]

# Groups may be nested deeper than Python likes to call.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20000))
