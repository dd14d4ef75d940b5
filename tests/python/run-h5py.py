#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""h5py's own tests against datarep.h5, as TAP.

Usage: run-h5py.py [--list] [PYTEST'S ARGUMENTS]
--list: print a line of h5py-tests.txt for each test that does not pass

The tests of the installed h5py are copied into the build directory, as the package h5py.tests of a
package h5py that is datarep.h5.  A test that uses a low-level module, which is a stub, is counted
apart.  tests/python/h5py-tests.txt has a line for each test that does not pass: its name and the
reason.  A test that is not listed and fails, or is listed and passes, is an error.
"""
import importlib
import os
import re
import shutil
import sys
import types
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(ROOT, "build", "python")
COPY = os.path.join(ROOT, "build", "h5py-tests")
EXPECTED = os.path.join(ROOT, "tests", "python", "h5py-tests.txt")
SOURCES = ("/usr/lib/python3/dist-packages/h5py/_debian_h5py_serial/tests",
           "/usr/lib/python3/dist-packages/h5py/tests")
# How many tests pass at least, so that the list does not grow unseen: a number, or a part of those
# that use no low-level name.
LEAST = 400
PART = 0.95


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made
    above, _, last = name.rpartition(".")
    setattr(sys.modules[above], last, made)
    return made


def alias():
    """Let `import h5py` find datarep.h5, with the private modules that its tests import."""
    shim = importlib.import_module("datarep.h5")
    base, dataset, files = (importlib.import_module("datarep.h5." + n)
                            for n in ("base", "dataset", "files"))
    sys.modules["h5py"] = shim
    shim.__path__.append(os.path.join(COPY, "h5py"))
    for name in shim.low.NAMES:
        sys.modules["h5py." + name] = getattr(shim, name)
    sys.modules["h5py.version"] = shim.version
    module("h5py.h5py_warnings", H5pyDeprecationWarning=dataset.H5pyDeprecationWarning)
    module("h5py._errors", silence_errors=lambda: None,
           unsilence_errors=lambda: shim.low.refuse("_errors"))
    module("h5py._hl", __path__=[])
    base.Empty = shim.Empty  # h5py has it there
    sys.modules["h5py._hl.base"] = sys.modules["h5py._hl"].base = base
    sys.modules["h5py._hl.dataset"] = sys.modules["h5py._hl"].dataset = dataset
    module("h5py._hl.files", direct_vfd=False, _drivers=files._DRIVERS)
    module("h5py._hl.compat", filename_encode=os.fsencode, filename_decode=os.fsdecode)
    for name in ("selections", "selections2", "vds"):
        sys.modules["h5py._hl." + name] = made = shim.low.Module("h5py._hl." + name)
        setattr(sys.modules["h5py._hl"], name, made)
    return shim.low


def copied():
    """The directory of the copy, made anew, or None without h5py's tests."""
    source = next((s for s in SOURCES if os.path.isdir(s)), None)
    if source is None:
        return None
    shutil.rmtree(COPY, ignore_errors=True)
    target = os.path.join(COPY, "h5py", "tests")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    with open(os.path.join(COPY, "h5py", "__init__.py"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(COPY, "pytest.ini"), "w", encoding="utf-8") as f:
        f.write("[pytest]\nmarkers = mpi\n    mpi_skip\n    filterwarnings\n")
    return target


def expected():
    """{test: reason}"""
    made = {}
    if not os.path.exists(EXPECTED):
        return made
    with open(EXPECTED, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.rstrip("\n").partition(": ")
                if not reason or name in made:
                    raise SystemExit(f"{EXPECTED}: {line!r} has no reason, or is there twice")
                made[name] = reason
    return made


class Result:
    """What became of each test."""

    def __init__(self, low):
        self.low = low
        self.start = 0
        self.passed, self.failed, self.skipped, self.reaches = set(), {}, {}, {}
        self.errors = {}

    @staticmethod
    def name(nodeid):
        name = re.sub(r"^.*?tests/", "", nodeid)
        return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04x}" for c in name)

    def pytest_runtest_logstart(self, nodeid, location):
        self.start = len(self.low.used)

    def pytest_runtest_logreport(self, report):
        name = self.name(report.nodeid)
        if report.skipped:
            where = report.longrepr
            self.skipped[name] = where[2] if isinstance(where, tuple) else str(where)
        elif report.failed:
            # A class that closes its file afterwards is not what a test is about.
            self.failed.setdefault(name, (report.longreprtext or "").strip().splitlines())
            if len(self.low.used) > self.start:
                self.reaches[name] = self.low.used[self.start]
        elif report.when == "call":
            self.passed.add(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.errors[self.name(report.nodeid)] = (report.longreprtext or "").splitlines()


def cause(lines):
    """The line of a traceback that says what was wrong."""
    return next((x[1:].strip() for x in reversed(lines) if x.startswith("E  ")), lines[-1] if lines
                else "")


def main():
    arguments = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    try:
        import numpy  # noqa: F401
        import pytest
    except ImportError as error:
        print(f"1..0 # SKIP {error}: tools/install-deps python")
        return 0
    if not os.path.exists(os.path.join(PACKAGE, "datarep", "_core.abi3.so")):
        print("1..0 # SKIP the package is not built: Python's headers are missing, or make "
              "python-package")
        return 0
    target = copied()
    if target is None:
        print("1..0 # SKIP h5py's tests are not installed: tools/install-deps interop")
        return 0
    sys.path.insert(0, PACKAGE)
    os.environ["PYTHONPATH"] = PACKAGE
    sys.dont_write_bytecode = True
    low = alias()
    result = Result(low)
    listing = "--list" in arguments
    arguments = [a for a in arguments if a != "--list"]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    pytest.main(["-p", "no:cacheprovider", "--rootdir", COPY, "-c", os.path.join(COPY, "pytest.ini"),
                 "-q", "-W", "ignore", *arguments, target], plugins=[result])
    failed = {n: v for n, v in result.failed.items() if n not in result.reaches}
    passed = result.passed - set(result.failed)
    if listing:
        for name in sorted([*result.failed, *result.errors]):
            lines = result.failed.get(name) or result.errors.get(name)
            print(f"{name}: {result.reaches.get(name) or cause(lines)}", file=out)
        print(f"# {len(passed)} pass, {len(result.reaches)} reach, {len(failed)} fail, "
              f"{len(result.skipped)} skip, {len(result.errors)} errors", file=out)
        return 0
    return report(out, result, passed, failed)


def report(out, result, passed, failed):
    """The TAP lines: one for the numbers, one for each surprise."""
    known, lines = expected(), []
    for name in sorted(set(failed) - set(known)):
        lines.append((False, f"{name} fails, and is not listed", failed[name]))
    if os.geteuid():
        known = {n: r for n, r in known.items() if not (r.startswith("the superuser") and n in passed)}
    for name in sorted(set(known) & passed):
        lines.append((False, f"{name} passes, but is listed", []))
    for name in sorted(set(result.reaches) - set(known)):
        lines.append((False, f"{name} uses {result.reaches[name]}, and is not listed", []))
    ran = passed | set(result.failed) | set(result.skipped) | set(result.errors)
    for name in sorted(set(known) - ran):
        lines.append((False, f"{name} is listed, but there is no such test", []))
    for name in sorted(set(result.errors) - set(known)):
        lines.append((False, f"{name} cannot be loaded", result.errors[name]))
    goal = min(LEAST, int(PART * (len(passed) + len(failed))))
    said = (f"h5py's tests: {len(passed)} pass, {len(result.reaches)} use low-level names, "
            f"{len(failed)} are expected not to pass, {len(result.skipped)} are skipped; "
            f"{goal} must pass")
    lines.append((len(passed) >= goal, said, []))
    for n, (ok, text, more) in enumerate(lines, 1):
        print(f"{'ok' if ok else 'not ok'} {n} - {text.replace('#', ' ')}", file=out)
        for line in more[-30:]:
            print("# " + line, file=out)
    print(f"1..{len(lines)}", file=out, flush=True)
    return 0 if all(ok for ok, _, _ in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
