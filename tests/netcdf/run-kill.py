#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 900
"""run-kill.py - a program that appends records through netCDF's interface and calls nc_sync() for each is killed at any
moment: each record that it had synced is there, with its values, and the file is whole.

Usage: run-kill.py [--full] [KILLS [SEED]]    12 kills, with --full 200; the process goes on in the same file up to 10 times
"""
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time

import door as lib
from door import DATAREP, Failed, run

CASES = lib.Cases("kill")


def killed(path, seconds):
    """The last record that a process said it had synced before it was killed."""
    process = subprocess.Popen(["./records", path], env=lib.environment(True), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = b""
    # The first record tells that it is under way: what is killed before it says anything tests less.
    if select.select([process.stdout], [], [], 20)[0]:
        said = os.read(process.stdout.fileno(), 65536)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    rest, err = process.communicate()
    if process.returncode != -signal.SIGKILL:
        raise Failed("records %s ended by itself, status %d: %s" % (path, process.returncode, err.decode()))
    whole = (said + rest).rpartition(b"\n")[0].split()
    return int(whole[-1]) if whole else 0


def story(seed, lives):
    """A file that several processes append to, each killed."""
    path = "kill%d.drep" % seed
    rng = random.Random(seed)
    synced = total = 0
    for life in range(lives):
        synced = max(synced, killed(path, rng.choice((0, 0.001, 0.003, 0.01, 0.03)) * rng.random()))
        if not lib.is_drep(path):
            return total, "%s is not a Datarep file" % path
        try:
            there = int(run(["./records", "-r", path, synced], preload=True))
        except Failed as e:
            return total, "seed %d, life %d: %s" % (seed, life, e)
        run([DATAREP, "check", path])
        total += 1
        synced = there
    os.unlink(path)
    return total, ""


def control():
    """A file that has lost its last record, and one with another value, are refused."""
    killed("control.drep", 0.02)
    n = int(run(["./records", "-r", "control.drep", 1], preload=True))
    for wanted, before in ((n + 1, None), (n, ["ncap2", "-h", "-A", "-s", "plain(0,1,1)=-1f;", "control.drep", "control.drep"])):
        if before and not shutil.which("ncap2"):
            continue
        if before:
            lib.door(*before)
        try:
            run(["./records", "-r", "control.drep", wanted], preload=True)
        except Failed:
            continue
        return "records -r accepts a file that is wrong"
    return ""


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    kills = numbers[0] if numbers else 200 if "--full" in sys.argv else 12
    seed = numbers[1] if len(numbers) > 1 else int(time.time())
    lib.built()
    if not shutil.which("gcc") or not os.path.exists("/usr/include/netcdf.h"):
        print("1..0 # SKIP no gcc, or no netcdf.h")
        return 0
    lib.folder()
    run(["gcc", "-O1", "-g", "-o", "records", os.path.join(lib.HERE, "clients", "records.c"), "-lnetcdf"])
    CASES.case("a missing or changed record is seen", control)
    done, problem = 0, ""
    while done < kills and not problem:
        try:
            lives, problem = story(seed, min(10, kills - done))
        except Failed as e:
            lives, problem = 0, "seed %d: %s" % (seed, e)
        done, seed = done + lives, seed + 1
    CASES.report("each record that was synced before a kill is there, with its values", problem)
    print("counted: %d kills of a process that syncs records through netCDF" % done)
    return CASES.end(True)


if __name__ == "__main__":
    sys.exit(main())
