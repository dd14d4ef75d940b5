# SPDX-License-Identifier: MIT
"""packages - files of Debian packages, fetched once into build/packages."""
import fcntl
import glob
import os
import shutil
import subprocess

BUILD = os.path.abspath(os.environ.get("BUILDDIR", "build"))
PACKAGES = {"gmt-gshhg-low": 9, "gmt-dcw": 1}  # netCDF files in each


def unpack(package, folder):
    """Whether the package is in the folder now; a part of it never is."""
    making = folder + ".part"
    shutil.rmtree(making, ignore_errors=True)
    os.makedirs(making)
    for command in (["apt-get", "-q", "download", package], ["sh", "-c", "dpkg-deb -x *.deb ."]):
        try:
            done = subprocess.run(command, cwd=making, capture_output=True, timeout=180, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode != 0:
            return False
    os.rename(making, folder)
    return True


def fetch(package):
    """The netCDF files of a package; none if it cannot be had.  Tests that run side by side wait
    for each other."""
    folder = os.path.join(BUILD, "packages", package)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder) and not unpack(package, folder):
            return []
    return sorted(glob.glob(os.path.join(folder, "**", "*.nc"), recursive=True))
