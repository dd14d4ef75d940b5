#!/bin/sh
# run-kill.sh - a writer is killed again and again; its file must always be its last commit.
#
# After each kill -9 at a random moment the file opens, is whole, and holds exactly what the
# last commit wrote: the one reported as made, or the one that was being made.
# timeout: 300
# SPDX-License-Identifier: MIT
set -u
: "${BUILDDIR:=build}" "${TMPDIR:=/tmp}"
exec /usr/bin/python3 - "$BUILDDIR/release/tests/fault/writer" "$TMPDIR" <<'PY'
import os
import random
import signal
import subprocess
import sys
import time

writer, tmp = sys.argv[1:]
KILLS = 240
ROUNDS = 4
random.seed(20)
test = 0
failed = False


def say(ok, text):
    global test, failed
    test += 1
    failed |= not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", test, text), flush=True)


def kill_once(path, log):
    """Lets the writer run for a random time; gives the last commit begun and done."""
    with open(log, "w") as out:
        process = subprocess.Popen([writer, "write", path], stdout=out)
        time.sleep(random.choice([0.002, 0.01, 0.05, 0.1]) * (0.2 + 2 * random.random()))
        process.send_signal(signal.SIGKILL)
        status = process.wait()
    begun = done = 0
    text = open(log).read()
    for line in text.splitlines():
        word = line.split()
        if len(word) == 2 and word[0] == "begin" and line + "\n" in text:
            begun = int(word[1])
        elif len(word) == 2 and word[0] == "done":
            done = int(word[1])
    if status != -signal.SIGKILL:
        print("# the writer ended by itself: " + text[-300:])
    return status == -signal.SIGKILL, begun, done


for r in range(ROUNDS):
    path = os.path.join(tmp, "killed-%d.drep" % r)
    log = os.path.join(tmp, "log")
    last = made = bad = kills = 0
    for k in range(KILLS // ROUNDS):
        died, begun, done = kill_once(path, log)
        kills += died
        bad += not died
        if not os.path.exists(path):
            continue  # killed before its first commit: no file is right
        check = subprocess.run([writer, "check", path], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        words = check.stdout.split()
        now = int(words[-1]) if check.returncode == 0 and len(words) >= 2 else -1
        if check.returncode or now < max(last, done) or (begun and now > begun):
            bad += 1
            print("# kill %d: commits %d begun, %d done, before %d: status %d: %s" %
                  (k, begun, done, last, check.returncode, check.stdout.replace("\n", "; ")))
        last = max(last, now)
    left = [n for n in os.listdir(tmp) if n.endswith(".tmp")]
    for n in left:
        os.unlink(os.path.join(tmp, n))
    say(bad == 0, "%d kills, %d commits, %d bytes: always the last commit" %
        (kills, last, os.path.getsize(path)))
print("1..%d" % test)
sys.exit(failed)
PY
