# SPDX-License-Identifier: MIT
"""python3 -m reader FILE [--commit N]: prints the JSON of a file."""

import argparse
import sys

from . import ReadError, document


def main():
    parser = argparse.ArgumentParser(prog="reader", description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--commit", type=int, metavar="N")
    arguments = parser.parse_args()
    try:
        sys.stdout.write(document(arguments.file, arguments.commit))
    except (ReadError, OSError) as e:
        sys.exit("reader: %s: %s" % (arguments.file, e))


if __name__ == "__main__":
    main()
