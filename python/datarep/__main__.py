# SPDX-License-Identifier: MIT
"""python3 -m datarep: the command."""
import os
import sys

from .command import find


def main() -> None:
    """Become the command that comes with the package."""
    os.execv(find(), ["datarep", *sys.argv[1:]])


if __name__ == "__main__":
    main()
