#!/usr/bin/python3
"""drepjson.py FILE [-H] [@N] - the JSON of SPEC.md, 10.1, from the independent reader.

-H leaves out the data of datasets, @N shows commit N.  The exit status is 1 for a file that is refused.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from drepread import DrepError, File  # noqa: E402
from drepread.tojson import document  # noqa: E402


def text(path, header_only=False, commit=None):
    f = File(path, commit)
    if f.damage:
        print("%s: %s; this may be the commit before the last" % (path, f.damage), file=sys.stderr)
    return json.dumps(document(f, header_only), indent=1) + "\n"


def main(argv):
    paths = [a for a in argv if a != "-H" and a[:1] != "@"]
    commit = [int(a[1:]) for a in argv if a[:1] == "@"] or [None]
    if len(paths) != 1:
        sys.exit("usage: drepjson.py FILE [-H] [@N]")
    try:
        sys.stdout.write(text(paths[0], "-H" in argv, commit[0]))
    except (DrepError, OSError) as e:
        sys.exit("drepjson: %s" % e)


if __name__ == "__main__":
    main(sys.argv[1:])
