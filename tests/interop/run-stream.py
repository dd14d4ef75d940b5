#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-stream - large files through import and export, and ends in the middle.

Memory stays within a bound, whatever the file's size: 2 GiB of numbers, contiguous and in
chunks, strings, chunks of 64 MiB.  What a file only says to have takes no space.  Killed at
any moment, out of space, or told to stop, neither direction leaves anything that looks
complete.  TAP on stdout.

Usage: run-stream.py [WORDS-OF-A-CASE]
# timeout: 600
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
    from h5py import h5d, h5p, h5s, h5t
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
MIB = 1 << 20
RNG = np.random.default_rng(3)


def fail(text, *args):
    raise AssertionError(text % args)


def peak(*command, expected=0):
    """Runs it and gives the largest memory that a process of it had, in MiB."""
    p = subprocess.Popen(command, stderr=subprocess.PIPE)
    err = p.stderr.read().decode()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != expected:
        fail("%s: status %d: %s", command[1], p.returncode, err)
    return usage.ru_maxrss / 1024


# ---------------------------------------------------------------------- memory

def two_gib(path):
    """Sparse on disk: space that is allocated and never written."""
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    with h5py.File(path, "w") as f:
        h5d.create(f.id, b"x", h5t.IEEE_F64LE, h5s.create_simple((256 * MIB,)), plist)


def two_gib_in_chunks(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("x", (2048, MIB), "u1", chunks=(16, MIB // 16), compression=1, shuffle=True)
        row = RNG.integers(0, 4, MIB, dtype="u1")
        for i in range(0, 2048, 16):
            d[i:i + 16] = np.tile(row, (16, 1)) + i % 7


def many_strings(path):
    """150 MiB in strings of very different length."""
    with h5py.File(path, "w") as f:
        d = f.create_dataset("s", (40000,), h5py.string_dtype())
        for i in range(0, 40000, 4000):
            d[i:i + 4000] = ["x" * (10 if k % 1000 else 3700 * 1000) for k in range(4000)]


def large_chunks(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("x", (4, 64, MIB), "u1", chunks=(1, 64, MIB), compression=1)
        for i in range(4):
            d[i] = i


# How much each may take: some blocks and the caches, or what one chunk of HDF5 needs.
MEMORY = [("2 GiB in one piece", two_gib, 128), ("2 GiB in chunks", two_gib_in_chunks, 128),
          ("strings of any length", many_strings, 320), ("chunks of 64 MiB", large_chunks, 384)]
# What is small in the file and large in memory meets the default limit, which the command names.
RAISED = {large_chunks: ("--limit", "memory=512M")}


def check_memory(folder, make, most):
    h5, drep, back = (os.path.join(folder, n) for n in ("in.h5", "x.drep", "out.h5"))
    make(h5)
    text = []
    raised = RAISED.get(make, ())
    if raised:
        done = subprocess.run([DATAREP, "import", "-f", h5, drep], capture_output=True, text=True, check=False)
        if done.returncode != 4 or os.path.exists(drep) or "--limit memory=SIZE raises it" not in done.stderr:
            fail("status %d: %s", done.returncode, done.stderr)
    for command in (("import", h5, drep), ("export", drep, back)):
        used = peak(DATAREP, *command, *raised)
        text.append("%s %.0f MiB" % (command[0], used))
        if used > most:
            fail("%s takes %.0f MiB of memory, more than %d", command[0], used, most)
    with h5py.File(h5, "r") as a, h5py.File(back, "r") as b:
        (name,) = a
        x, y = a[name], b[name]
        for i in {0, len(x) // 2, len(x) - 1}:
            if not np.array_equal(x[i], y[i]):
                fail("element %d differs", i)
    for path in (h5, drep, back):
        os.unlink(path)
    return ", ".join(text)


# ----------------------------------------------------------- what is not there

def mostly_unmapped(f):
    f["src"] = np.arange(2048.0).reshape(2, 1024)
    layout = h5py.VirtualLayout((1 << 15, 1 << 10), "f8")
    layout[700:702] = h5py.VirtualSource(".", "src", (2, 1024))
    f.create_virtual_dataset("x", layout, fillvalue=3)


def mostly_beyond_the_end(f):
    """A raw file that is shorter than it should be: HDF5 reads zeros, and import says so."""
    with open(os.path.join(os.path.dirname(f.filename), "short.raw"), "wb") as raw:
        raw.write(np.arange(1, 1001, dtype="<i8").tobytes())
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_external(b"short.raw", 0, 256 * MIB)
    h5d.create(f.id, b"x", h5t.STD_I64LE, h5s.create_simple((32 * MIB,)), plist)


def check_not_there(folder):
    """256 MiB of which some KiB are anywhere take no more space here."""
    said = []
    for make in (mostly_unmapped, mostly_beyond_the_end):
        h5, drep = os.path.join(folder, "in.h5"), os.path.join(folder, "x.drep")
        with h5py.File(h5, "w", libver="latest") as f:
            make(f)
        peak(DATAREP, "import", "-f", "--partial", h5, drep, expected=make is mostly_beyond_the_end)
        size = os.stat(drep).st_blocks * 512 / MIB
        if size > 32:
            fail("%s takes %.0f MiB", make.__name__, size)
        peak(DATAREP, "diff", drep, h5)
        said.append("%.0f MiB" % size)
    return ", ".join(said)


# ------------------------------------------------------------------------- ends

def sources(folder):
    h5, drep = os.path.join(folder, "in.h5"), os.path.join(folder, "in.drep")
    with h5py.File(h5, "w") as f:
        f.create_dataset("c", data=RNG.integers(0, 99, (2000, 4000)), chunks=(100, 400), compression=1)
        f["d"] = RNG.integers(0, 99, 6 * MIB)
    subprocess.run([DATAREP, "import", "-f", h5, drep], check=True)
    return {"import": h5, "export": drep}


def check_whole(command, path):
    """What has the target's name is complete."""
    tool = ["h5dump", "-H"] if command == "export" else [DATAREP, "check"]
    done = subprocess.run(tool + [path], capture_output=True, check=False)
    if done.returncode != 0:
        fail("%s left a file that is not whole: %s", command, done.stderr[-200:])


def check_killed(folder):
    """SIGKILL for the command, or for it and its child together."""
    ended = 0
    for command, source in sources(folder).items():
        for i in range(24):
            where = tempfile.mkdtemp(dir=folder)
            target = os.path.join(where, "out")
            p = subprocess.Popen([DATAREP, command, source, target], stderr=subprocess.DEVNULL,
                                 start_new_session=True)
            time.sleep(random.Random(i).random() * 0.5)
            try:
                os.killpg(p.pid, signal.SIGKILL) if i % 2 else p.kill()
            except ProcessLookupError:
                pass
            p.wait()
            ended += p.returncode < 0
            # The child notices that its parent is gone.
            deadline = time.time() + 10
            while i % 2 == 0 and time.time() < deadline and any(n != "out" for n in os.listdir(where)):
                time.sleep(0.02)
            left = os.listdir(where)
            if [n for n in left if n != "out" and not n.startswith(".drep-")]:
                fail("%s left %s", command, left)
            if i % 2 == 0 and [n for n in left if n != "out"]:
                fail("%s: the child outlives its parent: %s", command, left)
            if "out" in left:
                check_whole(command, target)
    if not ended:
        fail("no kill came in time")
    return "%d of 48 came in time" % ended


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5 * MIB, 5 * MIB))


def check_no_space(folder):
    for command, source in sources(folder).items():
        for there in (False, True):
            where = tempfile.mkdtemp(dir=folder)
            name = "out.h5" if command == "export" else "out.drep"
            target = os.path.join(where, name)
            if there:
                with open(target, "w", encoding="ascii") as f:
                    f.write("old")
            p = subprocess.run([DATAREP, command, source, target], capture_output=True, check=False,
                               preexec_fn=small_files)
            if p.returncode != 3 or not p.stderr:
                fail("%s: status %d: %s", command, p.returncode, p.stderr)
            if os.listdir(where) != [name] * there:
                fail("%s left %s", command, os.listdir(where))
            if there and os.path.getsize(target) != 3:
                fail("%s changed the old file", command)
    return ""


def main():
    cases = [(name, lambda folder, m=make, n=most: check_memory(folder, m, n)) for name, make, most in MEMORY]
    cases += [("what is not there", check_not_there)]
    cases += [("killed at any moment", check_killed), ("no space", check_no_space)]
    cases = [c for c in cases if len(sys.argv) < 2 or sys.argv[1] in c[0]]
    failed = 0
    print("1..%d" % len(cases))
    for n, (name, run) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                print("ok %d - %s" % (n, name + (": " + text if (text := run(folder)) else "")), flush=True)
            except Exception as e:  # whatever goes wrong is this case's failure
                failed += 1
                print("not ok %d - %s" % (n, name))
                print("# %s: %s" % (type(e).__name__, str(e).replace("\n", "\n# ")), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
