#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 600
"""The tests of the package for Python, python/tests, as TAP.

Usage: run-pytest.py [--full] [--package=DIR] [PYTEST'S ARGUMENTS]
--full: all random cases, slow tests; --package: the directory of the package, build/python
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "build", "python")


class Tap:
    """What pytest reports, as TAP."""

    def __init__(self):
        self.n = self.failed = self.skipped = 0
        self.counted = {}
        # What pytest itself prints, and what the tests do, is no TAP.
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(self, text):
        print(text, file=self.out, flush=True)

    def line(self, ok, name, more=""):
        self.n += 1
        self.failed += not ok
        self.skipped += more.startswith(" # SKIP")
        self.say(f"{'ok' if ok else 'not ok'} {self.n} - {name.replace('#', ' ')}{more}")

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            if hasattr(report, "wasxfail"):
                reason = report.wasxfail or "expected to fail"
            self.line(True, report.nodeid, " # SKIP " + reason.replace("Skipped: ", "", 1))
        elif report.failed:
            self.line(False, f"{report.nodeid} ({report.when})")
            for text in (report.longreprtext or "").splitlines():
                self.say("# " + text)
        elif report.when == "call":
            self.line(True, report.nodeid)
            for what, n in report.user_properties:
                self.counted[what] = self.counted.get(what, 0) + n

    def pytest_collectreport(self, report):
        if report.failed:
            self.line(False, f"{report.nodeid} (collection)")
            for text in (report.longreprtext or "").splitlines():
                self.say("# " + text)
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.line(True, report.nodeid, " # SKIP " + reason.replace("Skipped: ", "", 1))


def main():
    package, arguments = PACKAGE, []
    for argument in sys.argv[1:]:
        if argument.startswith("--package="):
            package = os.path.abspath(argument[10:])
        else:
            arguments.append(argument)
    try:
        import numpy  # noqa: F401
        import pytest
    except ImportError as error:
        print(f"1..0 # SKIP {error}: tools/install-deps python")
        return 0
    if not os.path.exists(os.path.join(package, "datarep", "_core.abi3.so")):
        print("1..0 # SKIP the package is not built: Python's headers are missing, or make python-package")
        return 0
    if "--full" in arguments:
        arguments.remove("--full")
        os.environ["DATAREP_FULL"] = "1"
    sys.path.insert(0, package)
    os.environ["PYTHONPATH"] = package
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.dont_write_bytecode = True
    tap = Tap()
    where = [a for a in arguments if not a.startswith("-")] or [os.path.join(ROOT, "python", "tests")]
    options = [a for a in arguments if a.startswith("-")]
    status = pytest.main(["-p", "no:cacheprovider", "--rootdir", ROOT,
                          "-W", "error::ResourceWarning", *options, *where], plugins=[tap])
    tap.say(f"1..{tap.n}")
    for what, n in tap.counted.items():
        tap.say(f"counted: {n} {what}")
    tap.say(f"# {tap.n - tap.failed - tap.skipped} pass, {tap.failed} fail, {tap.skipped} are skipped")
    return 0 if status in (0, 1) else 1


if __name__ == "__main__":
    sys.exit(main())
