#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""soak.py WRITER DIRECTORY SECONDS SEED - one process writes, four look on, and they are killed.

The writer commits for ever and is killed at random moments; after each kill the file must be the
last commit or the one that was being made.  The readers verify every commit they open, move to
newer ones, hold old ones; they are killed too, and their locks must die with them.  Prints what
was done; status 1 when something was wrong.
"""
import os
import random
import signal
import subprocess
import sys
import time

READERS = 4


class Soak:
    def __init__(self, writer, directory, seconds, seed):
        self.writer, self.end, self.seconds = writer, time.monotonic() + seconds, seconds
        self.path = os.path.join(directory, "soak.drep")
        if os.path.exists(self.path):
            sys.exit("%s is there already; what an earlier run left would be counted" % self.path)
        self.log = os.path.join(directory, "soak.log")
        self.random = random.Random(seed)
        self.readers = []
        self.started = self.kills = self.reader_kills = self.last = 0
        self.done = {}
        self.bad = []

    def start_reader(self):
        left = max(1, int(self.end - time.monotonic()))
        self.started += 1
        self.readers.append(subprocess.Popen(
            [self.writer, "read", self.path, str(left), str(self.random.randrange(1 << 30))],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def reader_ended(self, reader, killed=False):
        text = reader.communicate()[0]
        if killed:
            return
        if reader.returncode:
            self.bad.append("a reader ended with %d: %s" % (reader.returncode, text.strip()))
            return
        for part in text.strip().split(", "):
            what, n = part.split()
            self.done[what] = self.done.get(what, 0) + int(n)

    def watch_readers(self):
        for reader in list(self.readers):
            if reader.poll() is not None:
                self.readers.remove(reader)
                self.reader_ended(reader)
        if self.random.random() < 0.05 and len(self.readers) == READERS:
            reader = self.readers.pop(self.random.randrange(READERS))
            reader.kill()
            self.reader_ended(reader, killed=True)
            self.reader_kills += 1
        while len(self.readers) < READERS and self.end - time.monotonic() > 2:
            self.start_reader()

    def kill_writer(self):
        """Lets it run for a while; (last commit begun, last done)."""
        with open(self.log, "w") as out:
            process = subprocess.Popen([self.writer, "write", self.path], stdout=out)
        time.sleep(self.random.choice([0.01, 0.1, 0.5, 1]) * (0.2 + self.random.random()))
        process.send_signal(signal.SIGKILL)
        status = process.wait()
        begun = done = 0
        with open(self.log) as f:
            text = f.read()
        for line in text.splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == "begin" and line + "\n" in text:
                begun = int(words[1])
            elif len(words) == 2 and words[0] == "done":
                done = int(words[1])
        if status != -signal.SIGKILL:
            self.bad.append("the writer ended by itself: " + text[-300:])
        self.kills += 1
        return begun, done

    def check(self, begun, done):
        check = subprocess.run([self.writer, "check", self.path], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        words = check.stdout.split()
        now = int(words[-1]) if check.returncode == 0 and len(words) >= 2 else -1
        if check.returncode or now < max(self.last, done) or (begun and now > begun):
            self.bad.append("commits %d begun, %d done, before %d: status %d: %s" %
                            (begun, done, self.last, check.returncode, check.stdout))
        self.last = max(self.last, now)

    def space_comes_back(self):
        """When nobody looks any more, what they held is used again: the file becomes short."""
        for _ in range(3):
            self.kill_writer()
        subprocess.run([self.writer, "trim", self.path], check=True, stdout=subprocess.DEVNULL)
        return os.path.getsize(self.path)

    def run(self):
        while time.monotonic() < self.end and not self.bad:
            self.watch_readers()
            begun, done = self.kill_writer()
            if os.path.exists(self.path):
                self.check(begun, done)
        for reader in self.readers:
            self.reader_ended(reader)
        size = self.space_comes_back() if not self.bad else 0
        if size > 3 << 20:
            self.bad.append("%d bytes are left of a file that needs 400,000" % size)
        print("%d s: %d commits, %d kills of the writer, %d of readers; %d readers: %s; %d bytes at "
              "the end" % (self.seconds, self.last, self.kills, self.reader_kills, self.started,
                           ", ".join("%s %d" % i for i in self.done.items()), size))
        for text in self.bad:
            print("wrong: " + text)
        return 1 if self.bad or not self.last or not self.done.get("looked") else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: soak.py WRITER DIRECTORY SECONDS SEED")
    sys.exit(Soak(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])).run())
