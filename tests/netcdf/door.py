# SPDX-License-Identifier: MIT
"""door - what the tests of the library for netCDF programs share: running a program with it, cases, lists.

The library is build/release/libdatarep-netcdf.so; DATAREP_NETCDF names another.  A program runs with it by LD_PRELOAD,
and without for the oracle.  known/NAME.txt lists the cases that fail, each with the reason; a listed case is
reported as skipped with that reason, and one that passes is an error, so that the lists stay true.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILDDIR") or os.path.join(ROOT, "build"))
DATAREP = os.path.abspath(os.environ.get("DATAREP") or os.path.join(BUILD, "release", "datarep"))
LIBRARY = os.path.abspath(os.environ.get("DATAREP_NETCDF") or os.path.join(BUILD, "release", "libdatarep-netcdf.so"))
ASAN_LIBRARY = os.path.abspath(os.environ.get("DATAREP_NETCDF_ASAN") or os.path.join(BUILD, "asan", "libdatarep-netcdf.so"))
MAGIC = b"\x89DRP\r\n\x1a\n"
PYTHON = "/usr/bin/python3"


class Failed(Exception):
    """A program failed; what it said."""


class NoOracle(Exception):
    """What the case is compared with cannot be made; why."""


class Cases:
    """TAP, with a list of the cases that are known to fail."""

    def __init__(self, name):
        self.count = self.bad = 0
        self.seen = set()
        self.path = os.path.join(HERE, "known", name + ".txt")
        self.known = known(self.path)

    def report(self, name, problem="", skip=""):
        """One case: `problem` is what is wrong with it, "" if nothing is."""
        self.count += 1
        self.seen.add(name)
        reason = self.known.get(name)
        if skip:
            print("ok %d - %s # SKIP %s" % (self.count, name, skip), flush=True)
            return
        if reason and problem:
            print("ok %d - %s # SKIP known: %s" % (self.count, name, reason), flush=True)
            return
        if reason:
            problem = "passes, but %s lists it" % os.path.relpath(self.path, ROOT)
        print("%sok %d - %s" % ("not " if problem else "", self.count, name), flush=True)
        for line in problem.splitlines()[:40]:
            print("# " + line)
        self.bad += bool(problem)

    def case(self, name, test, *arguments):
        """A case is a function that returns what is wrong, or raises Failed."""
        try:
            problem = test(*arguments) or ""
        except NoOracle as e:
            self.report(name, skip=str(e))
            return
        except Failed as e:
            problem = str(e)
        except subprocess.TimeoutExpired as e:
            problem = "stopped after %d s: %s" % (e.timeout, " ".join(map(str, e.cmd)))
        self.report(name, problem)

    def end(self, whole):
        """The plan; if everything was tried, a listed case that does not exist is an error."""
        for name in sorted(set(self.known) - self.seen if whole else ()):
            self.report(name + " is listed", "no such case")
        print("1..%d" % self.count, flush=True)
        return 1 if self.bad else 0


def known(path):
    """{case: reason} of a list: lines "CASE: REASON"."""
    found = {}
    if not os.path.exists(path):
        return found
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                name, _, reason = line.rpartition(": ")
                if not name or not reason or name in found:
                    raise SystemExit("%s: no reason, or twice: %s" % (path, line))
                found[name] = reason
    return found


def built(library=None):
    """Ends the program with a skip if the library is not there."""
    library = library or LIBRARY
    if not os.path.exists(library):
        print("1..0 # SKIP %s is not built: netCDF's headers are missing" % os.path.relpath(library, ROOT))
        sys.exit(0)


def environment(preload, **more):
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", HOME=os.getcwd(), **more)
    env.pop("LD_PRELOAD", None)
    if preload:
        env["LD_PRELOAD"] = preload if isinstance(preload, str) else LIBRARY
    return env


def run(command, preload=False, status=0, cwd=None, timeout=120, **more):
    """Runs a program; its standard output.  Another status than `status` raises Failed (None: any is right)."""
    command = [str(c) for c in command]
    done = subprocess.run(command, cwd=cwd, env=environment(preload, **more), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=timeout, check=False)
    out, err = (b.decode("utf-8", "replace") for b in (done.stdout, done.stderr))
    if status is not None and done.returncode != status:
        debug = preload and "DATAREP_DEBUG" not in more and done.returncode > 0 and \
            subprocess.run(command, cwd=cwd, env=environment(preload, DATAREP_DEBUG="1", **more), stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=timeout, check=False).stderr.decode("utf-8", "replace")
        raise Failed("%s%s: status %d\n%s" % ("LD_PRELOAD " if preload else "", " ".join(command), done.returncode,
                                              "\n".join((out + (debug or err)).splitlines()[-20:])))
    return out


def door(*command, **how):
    """Runs a program with the library."""
    return run(command, preload=True, **how)


def is_drep(path):
    """Whether a file is Datarep's: a program that fell back to HDF5 has tested nothing."""
    with open(path, "rb") as f:
        return f.read(8) == MAGIC


def dump(path, *options, preload=None):
    """ncdump of a file, of any kind, under the name x.  Classic and netCDF-4 files are read without the library."""
    drep = is_drep(path)
    return run(["ncdump", "-n", "x", *options, path], preload=drep if preload is None else preload)


def strip(text):
    """Without what says when and by which command a file was written."""
    return "\n".join(line for line in text.splitlines()
                     if not re.match(r"\s*:(history|NCO|CDO|CDI|nco_openmp_thread_number|history_of_appended_files) = |"
                                     r"\s*\"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}: ", line))


def difference(expected, got):
    """The first lines in which two texts differ, or ""."""
    if expected == got:
        return ""
    import difflib
    lines = list(difflib.unified_diff(expected.splitlines(), got.splitlines(), "expected", "got", n=0, lineterm=""))
    return "\n".join(lines[:20]) or "they differ in white space"


def unordered(text):
    """ncdump's text with what each section has in order of its names: attributes, variables, their data."""
    out, section, data = [], [], False

    def end():
        if data:
            out.extend(sorted(block.strip("\n") for block in "\n".join(section).split("\n\n") if block.strip("\n")))
        else:
            out.extend(sorted(re.sub(r"\n\t\t\t", " ", "\n".join(section)).splitlines()))
        section.clear()

    for line in text.splitlines():
        if re.match(r"\s*(types:|dimensions:|variables:|data:|group: |\}|// (global|group) attributes:)", line):
            end()
            out.append(line)
            data = line.strip() == "data:"
        else:
            section.append(line)
    end()
    return "\n".join(out)


def same(expected, got, ordered=True):
    """What differs in ncdump's eyes between a netCDF file and one of ours (which must be ours), or ""."""
    if not is_drep(got):
        return "%s is not a Datarep file" % os.path.basename(got)
    texts = [strip(dump(expected)), strip(dump(got))]
    if ordered:
        return difference(*texts)
    return difference(*map(unordered, texts)) if texts[0] != texts[1] else ""


def folder():
    """A directory of its own, which is removed at the end of the process."""
    made = tempfile.TemporaryDirectory(prefix="door-")
    keep.append(made)
    os.chdir(made.name)
    return made.name


keep = []


def remove(*patterns):
    for pattern in patterns:
        for path in glob.glob(pattern):
            os.unlink(path)
