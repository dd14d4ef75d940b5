# SPDX-License-Identifier: MIT
"""What can be wrong with a file, and what a newer version may know better (SPEC.md 1.1, 1.3)."""


class ReadError(Exception):
    """A rule of SPEC.md is broken: `rule` is its number, `offset` the byte of the file or None."""

    def __init__(self, rule, offset, message):
        place = "" if offset is None else " at byte %d" % offset
        super().__init__("%s%s (%s)" % (message, place, rule))
        self.rule, self.offset, self.message = rule, offset, message


class Newer(Exception):
    """An unknown number: what uses it was written by a newer version, which is no fault (R1.9)."""


class Beyond(Newer):
    """A value beyond a limit of section 9: no fault either (R1.11).  `rules`: of all that were met."""

    rules = set()

    def __init__(self, what, rule):
        super().__init__("%s, beyond the limits of this version (%s)" % (what, rule))
        self.rule = rule
        self.rules.add(rule)


def limit(value, most, rule, what):
    if value > most:
        raise Beyond(what, rule)


def need(condition, rule, offset, message):
    if not condition:
        raise ReadError(rule, offset, message)
