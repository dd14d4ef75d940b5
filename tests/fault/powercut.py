#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""powercut.py WRITER DIRECTORY SECONDS SEED - the power fails while a file is written.

On a file system in a loop device, which is shut down by ioctl in the middle of the writer's work:
what was not synced is lost, as if the machine had been switched off.  After the journal is
replayed the file must be the last commit that was reported as made, or the one in flight.  Needs
root; prints what was tried, or why nothing was, with status 77.
"""
import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys
import time

SHUTDOWN = 0x8004587d  # EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are the same
FLAGS = {"with the log flushed": 1, "with nothing flushed": 2}
SYSTEMS = [("ext4", 96, [], "data=ordered"), ("ext4", 96, [], "data=writeback"),
           ("ext4", 96, ["-O", "^has_journal"], None), ("xfs", 320, ["-q"], "noatime")]


class NotHere(Exception):
    pass


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise NotHere("%s: %s" % (command[0], done.stdout.strip()))


class Disk:
    def __init__(self, directory, system, size, options, mount_options):
        self.image = os.path.join(directory, "disk.img")
        self.place = os.path.join(directory, "disk")
        self.system, self.mount_options = system, mount_options
        os.makedirs(self.place, exist_ok=True)
        with open(self.image, "wb") as f:
            f.truncate(size << 20)
        run("mkfs." + system, *options, *(["-q", "-F"] if system == "ext4" else ["-f"]), self.image)
        self.mount()

    def mount(self):
        options = "loop" + ("," + self.mount_options if self.mount_options else "")
        run("mount", "-t", self.system, "-o", options, self.image, self.place)

    def cut(self, flags):
        fd = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", flags))
        except OSError as e:
            raise NotHere("shutdown ioctl on %s: %s" % (self.system, e)) from None
        finally:
            os.close(fd)

    def unmount(self):
        for _ in range(50):
            if subprocess.run(["umount", self.place], stderr=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.1)
        raise NotHere("umount %s fails" % self.place)

    def gone(self):
        subprocess.run(["umount", "-l", self.place], stderr=subprocess.DEVNULL)
        if os.path.exists(self.image):
            os.unlink(self.image)


def write_until_cut(writer, path, log, disk, rng):
    """(last commit begun, last done, how the power failed)"""
    with open(log, "w") as out:
        process = subprocess.Popen([writer, "write", path], stdout=out, stderr=out)
        time.sleep(rng.choice([0.01, 0.05, 0.2, 0.6]) * (0.2 + rng.random()))
        how = rng.choice(list(FLAGS))
        disk.cut(FLAGS[how])
        time.sleep(0.02)
        process.kill()
        process.wait()
    begun = done = 0
    text = open(log).read()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "begin" and line + "\n" in text:
            begun = int(words[1])
        elif len(words) == 2 and words[0] == "done" and line + "\n" in text:
            done = int(words[1])
    return begun, done, how


def soak(writer, directory, seconds, rng, system, size, options, mount_options):
    """(cuts, commits); raises AssertionError with what is wrong."""
    disk = Disk(directory, system, size, options, mount_options)
    path, log = os.path.join(disk.place, "cut.drep"), os.path.join(directory, "cut.log")
    cuts = last = 0
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun, done, how = write_until_cut(writer, path, log, disk, rng)
            disk.unmount()
            if options:  # without a journal the file system itself has to be mended
                subprocess.run(["fsck.ext4", "-y", disk.image], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
            disk.mount()
            cuts += 1
            if not os.path.exists(path):
                assert not begun and not last, "%s: the file is gone" % how
                continue
            check = subprocess.run([writer, "check", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
            words = check.stdout.split()
            now = int(words[-1]) if check.returncode == 0 and len(words) >= 2 else -1
            assert check.returncode == 0 and now >= max(last, done) and (not begun or
                                                                         now <= begun), (
                "%s: commits %d begun, %d done, before %d: %s" % (how, begun, done, last,
                                                                  check.stdout.strip()))
            last = now
            if last > 3000:
                os.unlink(path)
                last = 0
    finally:
        disk.gone()
    return cuts, last


def main(writer, directory, seconds, seed):
    rng = random.Random(seed)
    if os.geteuid():
        print("power cuts need root, for a loop mount")
        return 77
    bad = tried = 0
    for system, size, options, mount_options in SYSTEMS:
        name = system + (" " + mount_options if mount_options else " without a journal")
        try:
            if not shutil.which("mkfs." + system):
                raise NotHere("mkfs.%s is not installed" % system)
            cuts, commits = soak(writer, directory, max(2, seconds // len(SYSTEMS)), rng, system,
                                 size, options, mount_options)
            tried += 1
            print("%s: %d power cuts, %d commits at the end" % (name, cuts, commits), flush=True)
        except NotHere as e:
            print("%s: not tried: %s" % (name, e), flush=True)
        except AssertionError as e:
            bad = 1
            print("wrong: %s: %s" % (name, e), flush=True)
    return bad if tried or bad else 77


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: powercut.py WRITER DIRECTORY SECONDS SEED")
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
