# SPDX-License-Identifier: MIT
"""python3 -m datarep: the command."""
import os
import sys

from .command import find

os.execv(find(), ["datarep", *sys.argv[1:]])
