# SPDX-License-Identifier: MIT
"""sources - files of netCDF-4 to try the library with, and source packages of Debian that have tests.

Nothing of them is in this repository: they are made by ncgen, or are downloaded by apt-get into build/others, as
tests/python/suites.py does it.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

from door import ROOT, Failed, run

sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
sys.path.insert(0, os.path.join(ROOT, "tests", "interop"))
import suites  # noqa: E402

NETCDF = "1:4.9.0"      # the library of Debian 12
NETCDF4_PYTHON = "1.6.2"
NETCDF_RC = "1:4.10"    # from here on .ncrc names formats


def source(package, version):
    """The folder of an unpacked source package whose version begins so; raises Failed with the reason."""
    plain = version.rpartition(":")[2]
    there = sorted(glob.glob(os.path.join(suites.OTHERS, "sources", "%s-%s*" % (package, plain))))
    there = [p for p in there if not p.endswith(".new")]
    if there:
        return there[-1]
    os.makedirs(suites.OTHERS, exist_ok=True)
    versions = re.findall(r"^Version: (.*)", suites.debian("apt-cache", "showsrc", package).stdout, re.M)
    found = next((v for v in reversed(versions) if v.startswith(version)), None)
    if found is None:
        raise Failed("%s %s is in no suite of Debian: %s" % (package, version, ", ".join(versions) or "none is"))
    target = os.path.join(suites.OTHERS, "sources", "%s-%s" % (package, found.rpartition(":")[2].rpartition("-")[0]))
    new = target + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    got = suites.debian("apt-get", "-qq", "source", "--download-only", "--tar-only", "%s=%s" % (package, found), cwd=new)
    files = glob.glob(os.path.join(new, "*.orig.tar.*"))
    if got.returncode or not files:
        raise Failed("the source of %s cannot be downloaded: %s" %
                     (package, (got.stderr.strip().splitlines() or ["no file"])[-1]))
    subprocess.run(["tar", "xf", files[0], "-C", new], check=True)
    os.unlink(files[0])
    inside = os.listdir(new)
    os.rename(os.path.join(new, inside[0]) if len(inside) == 1 else new, target)
    shutil.rmtree(new, ignore_errors=True)
    return target


def as_netcdf4(path, to):
    """A file of netCDF-4 with the same content, or None for what netCDF-C itself cannot read."""
    try:
        if path.endswith(".cdl"):
            run(["ncgen", "-4", "-o", to, path])
        else:
            kind = run(["ncdump", "-k", path]).strip()
            if kind == "netCDF-4":
                shutil.copy(path, to)
            else:
                run(["nccopy", "-k", "nc4", path, to])
        run(["ncdump", "-h", to])
    except (Failed, subprocess.TimeoutExpired):
        return None
    return to


def own():
    """(name, path) of the CDL files in this repository."""
    for pattern in ("tests/interop/*.cdl", "tests/netcdf/cdl/*.cdl"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            yield os.path.basename(path), path


def others():
    """(name, path) of CDL and files in netCDF's source package, and of Debian's packages of coastlines."""
    top = source("netcdf", NETCDF)
    for pattern in ("ncdump/*.cdl", "ncdump/cdl/*.cdl", "ncdump/*.nc", "nc_test4/*.nc", "nc_test4/*.cdl", "nc_test/*.nc",
                    "examples/CDL/*.cdl", "h5_test/*.nc", "ncgen/*.cdl", "ncgen3/*.cdl", "nctest/*.cdl"):
        for path in sorted(glob.glob(os.path.join(top, pattern))):
            yield "netcdf/" + os.path.relpath(path, top), path
    import packages
    for package in packages.PACKAGES:
        for path in packages.fetch(package):
            yield package + "/" + os.path.basename(path), path


if __name__ == "__main__":  # download what the tests use, before two of them do
    for wanted in (("netcdf", NETCDF), ("netcdf4-python", NETCDF4_PYTHON)):
        try:
            source(*wanted)
        except Failed as e:
            print("# %s" % e)
