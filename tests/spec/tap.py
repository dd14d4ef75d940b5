# SPDX-License-Identifier: MIT
"""tap.py - the results of a program's cases, printed as TAP."""

import types

SHOWN = 4000  # characters of what is wrong


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, name, wrong=None):
        """`wrong` says what failed, as text or in lines; nothing, if it is false."""
        if isinstance(wrong, (list, types.GeneratorType)):
            wrong = "\n".join(map(str, wrong))
        self.count += 1
        if wrong:
            self.failed += 1
        print("%sok %d - %s" % ("not " if wrong else "", self.count, name))
        for line in str(wrong or "")[:SHOWN].splitlines():
            print("# " + line)

    def skip(self, name, reason):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, reason))

    def run(self, name, function, *args):
        """A case is a function that gives what is wrong, as result() takes it."""
        try:
            self.result(name, function(*args))
        except Exception as e:  # a broken test is a failed test
            self.result(name, "%s: %s" % (type(e).__name__, e))

    def end(self):
        """Print the plan; give the status of the program."""
        print("1..%d" % self.count)
        return 1 if self.failed else 0
