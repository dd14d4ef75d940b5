# SPDX-License-Identifier: MIT
"""suite_plugin - for pytest: gives the tests of others names that end in .drep, and writes what became of each.

DOOR_RESULTS is the file for the results, DOOR_SUFFIX the suffix (".nc": the tests as they are).
"""
import json
import os
import re

SUFFIX = os.environ.get("DOOR_SUFFIX", ".drep")
OUT = {"passed": [], "failed": {}, "skipped": [], "files": 0, "ours": 0}


def seen(path):
    """Counts the files that tests have made, and those with our magic."""
    if os.path.isfile(path):
        with open(path, "rb") as f:
            OUT["files"] += 1
            OUT["ours"] += f.read(8) == b"\x89DRP\r\n\x1a\n"


def patch_xarray():
    import contextlib

    from xarray.backends.netCDF4_ import NetCDF4BackendEntrypoint as entry
    from xarray.tests import test_backends as tests
    make, guess = tests.create_tmp_file, entry.guess_can_open

    @contextlib.contextmanager
    def named(suffix=".nc", allow_cleanup_failure=False):
        with make(SUFFIX if suffix == ".nc" else suffix, allow_cleanup_failure) as path:
            yield path
            seen(path)

    def guessed(self, name):
        return str(name).endswith(SUFFIX) if isinstance(name, (str, os.PathLike)) else guess(self, name)

    tests.create_tmp_file = named
    if SUFFIX != ".nc":
        entry.guess_can_open = guessed


def pytest_collection_modifyitems(session, config, items):
    if any("xarray" in str(item.path) for item in items):
        patch_xarray()


def name(nodeid):
    short = re.sub(r"^.*?tests?/", "", nodeid)
    return "".join(c if " " <= c <= "~" else "\\u%04x" % ord(c) for c in short)


def pytest_runtest_logreport(report):
    if report.skipped:
        OUT["skipped"].append(name(report.nodeid))
    elif report.failed:
        OUT["failed"].setdefault(name(report.nodeid), why(report.longreprtext))
    elif report.when == "call":
        OUT["passed"].append(name(report.nodeid))


def pytest_collectreport(report):
    if report.failed:
        OUT["failed"][name(report.nodeid)] = why(report.longreprtext)


def why(text):
    lines = [s for s in (text or "").splitlines() if s.startswith("E  ")]
    return lines[0][1:].strip() if lines else (text or "").strip().splitlines()[-1:][0] if text else ""


def pytest_sessionfinish(session):
    with open(os.environ["DOOR_RESULTS"], "w", encoding="utf-8") as f:
        json.dump(OUT, f)
