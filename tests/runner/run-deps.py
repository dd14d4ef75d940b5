#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-deps.py - tools/install-deps waits while another apt or dpkg works.

The locks are those of a dpkg of the test's own: apt-get is real, and finds in a copy of the
machine's status that all is installed; dpkg-query, in an empty one, that nothing is."""

import fcntl
import os
import subprocess
import sys
import tempfile

ROOT = os.environ.get("SRCDIR", os.getcwd())
DEPS = os.path.join(ROOT, "tools", "install-deps")
cases = bad = 0


def check(name, ok, why):
    global cases, bad
    cases += 1
    bad += not ok
    print("%sok %d - %s" % ("" if ok else "not ", cases, name))
    if not ok:
        print("# %r" % (why,))


def hold(path):
    f = open(path, "w")
    fcntl.lockf(f, fcntl.LOCK_EX)
    return f


def install(env, lock=None):
    """Runs install-deps; lets go of the lock as soon as it says that it waits."""
    child = subprocess.Popen([DEPS, "build"], env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    for line in child.stderr:
        said.append(line)
        if lock and "waiting" in line:
            lock.close()
            lock = None
    return child.wait(), "".join(said)


def main():
    if os.getuid() != 0:
        print("1..0 # SKIP only root may install")
        return 0
    if not os.path.exists("/var/lib/dpkg/status"):
        print("1..0 # SKIP not Debian")
        return 0
    missing = subprocess.run([DEPS, "--check", "build"], stdout=subprocess.PIPE, text=True)
    if missing.returncode:
        print("1..0 # SKIP not installed: " + " ".join(missing.stdout.split()))
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        for folder in ("dpkg", "empty/updates", "lists/partial"):
            os.makedirs(os.path.join(tmp, folder))
        open(os.path.join(tmp, "empty/status"), "w").close()
        status = os.path.join(tmp, "dpkg/status")
        with open("/var/lib/dpkg/status", "rb") as f, open(status, "wb") as g:
            g.write(f.read())
        config = os.path.join(tmp, "apt.conf")
        with open(config, "w") as f:
            f.write('Dir::State::status "%s";\n' % status)
        env = dict(os.environ, APT_CONFIG=config, DPKG_ADMINDIR=os.path.join(tmp, "empty"))
        got = install(env)
        check("nothing to wait for", got[0] == 0 and "waiting" not in got[1], got)
        got = install(env, hold(os.path.join(tmp, "dpkg/lock-frontend")))
        check("it waits for dpkg's lock", got[0] == 0 and "lock-frontend" in got[1], got)
        lock = hold(os.path.join(tmp, "dpkg/lock-frontend"))
        got = install(dict(env, DEPS_WAIT="15"))
        check("but not for ever", got[0] != 0 and got[1].count("waiting up to") == 1 and
              "It is held by process %d" % os.getpid() in got[1], got)
        lock.close()
        # No candidate: the lists must come first, and their lock is another one.
        with open(config, "a") as f:
            f.write('Dir::State::lists "%s/lists";\nDir::Etc::sourcelist "/dev/null";\n' % tmp)
            f.write('Dir::Etc::sourceparts "/dev/null";\n')
        with open(status, "rb") as f:
            kept = [p for p in f.read().split(b"\n\n") if not p.startswith(b"Package: libcairo2-dev\n")]
        with open(status, "wb") as f:
            f.write(b"\n\n".join(kept))
        got = install(env, hold(os.path.join(tmp, "lists/lock")))
        check("it waits for the lock of the lists", "waiting" in got[1] and "lists/lock" in got[1] and
              "Could not get lock" not in got[1].split("waiting")[1].split("\n", 1)[1], got)
    print("1..%d" % cases)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
