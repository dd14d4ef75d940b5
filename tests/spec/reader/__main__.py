# SPDX-License-Identifier: MIT
"""python3 -m reader FILE [--commit N]: prints the JSON of a file."""

import argparse
import sys

from . import Newer, ReadError, document


def main():
    parser = argparse.ArgumentParser(prog="reader", description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--commit", type=int, metavar="N")
    parser.add_argument("--external", action="store_true", help="open other files that FILE names (R8.46)")
    arguments = parser.parse_args()
    try:
        sys.stdout.write(document(arguments.file, arguments.commit, arguments.external))
    except (Newer, ReadError, OSError) as e:  # Newer: the header itself.
        sys.exit("reader: %s: %s" % (arguments.file, e))


if __name__ == "__main__":
    main()
