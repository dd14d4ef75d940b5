#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-mutants - HDF5 files damaged where their structure is, imported under strace.

hdf5mutate changes fields of object headers, B-trees, heaps and chunk indexes and mends the
sums over them; into external links, sources of virtual datasets and raw files it puts names
of files that an import must not open.  Whatever the file says, the import ends in time, in
256 MiB, and opens nothing but the source, libraries and, with --external, regular files beside it.  What it
opens is seen from outside, by strace.  TAP on stdout, one case a group of mutants.

Usage: run-mutants.py [COUNT [SEED]]
# timeout: 900
"""
import concurrent.futures
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np

    import hdf5files
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
TOOLS = os.path.join(os.path.abspath(os.environ.get("BUILDDIR", "build")), "release/tests/interop")
SOURCES = ["compounds", "variable_strings", "nested_sequences", "object_references", "links", "netcdf4",
           "filters", "fill_values", "many_attributes", "named_types", "virtual", "chunk_indexes", "old_format",
           "sharing", "regions", "szip", "nbit", "dense_attributes", "user_links", "shared_messages",
           "skipped_filters", "deep_sequences", "all_enums", "compact_full", "external_files", "virtual_others"]
SECONDS = 300     # of the clock, on a machine with other work
TIME = "--limit=time=4"  # of the processor; the rest is the grace that the command has
MEMORY = 256 << 20
SECRET = b"what nobody may read"
# What may be opened besides: the loader's files and what the C library looks at.
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/etc/ld.so.", "/sys/devices/system/cpu",
          "/proc/self/", "/usr/share/locale", "/dev/null", "/dev/tty", "/dev/urandom")
OPENED = re.compile(r'(?:openat\(AT_FDCWD, |open\(|creat\()"((?:[^"\\]|\\.)*)".*= (-?\d+)')
DONE = re.compile(r"\b(execve|execveat|socket|connect|bind|ptrace)\(.*= (-?\d+)")


# ----------------------------------------------------------------------- sources

def placeholder(kind):
    """A name that hdf5mutate puts another one in place of."""
    return ("Hostile" + kind).ljust(150, "x")


def make_hostile(path, libver):
    """Every way in which an HDF5 file leads to another one."""
    with h5py.File(path, "w", libver=libver) as f:
        f["data"] = np.arange(64, dtype="u1")
        f["link"] = h5py.ExternalLink(placeholder("link"), "/data")
        f["soft"] = h5py.SoftLink("/link")
        for i in range(3):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_external(placeholder("raw%d" % i).encode(), 0, 64)
            h5py.h5d.create(f.id, b"raw%d" % i, h5py.h5t.STD_U8LE, h5py.h5s.create_simple((64,)), plist)
        if libver == "earliest":
            return
        for i, (name, dataset) in enumerate(((placeholder("vds"), "data"), (".", "/link"), (".", "/soft"),
                                             (".", "/raw0"), (".", "/v0"), (".", "/v4"))):
            layout = h5py.VirtualLayout((64,), "u1")
            layout[:] = h5py.VirtualSource(name, dataset, (64,))
            f.create_virtual_dataset("v%d" % i, layout, fillvalue=7)


def make_sources(folder):
    """Paths of the files to be damaged."""
    subprocess.run([os.path.join(TOOLS, "hdf5gen"), folder], stdout=subprocess.DEVNULL, check=True)
    makers = {c.name: c for c in hdf5files.CASES}
    paths = []
    for name in SOURCES:
        path = os.path.join(folder, name + ".h5")
        if name in makers:
            hdf5files.make(path, makers[name])
        paths.append(path)
    for libver in ("earliest", "latest"):
        path = os.path.join(folder, "hostile_%s.h5" % libver)
        make_hostile(path, libver)
        # As many as of all others together would be too many, a single one too few.
        paths += [path] * 4
    return paths


class Place:
    """A directory in which one import after the other runs, beside files that it may read and
    must not."""

    def __init__(self, folder):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.inside = os.path.join(self.folder, "in")
        self.out = os.path.join(self.folder, "out")
        secret = os.path.join(self.folder, "secret")
        for path in (self.inside, self.out, secret):
            os.mkdir(path)
        self.secret = os.path.join(secret, "secret.h5")
        with h5py.File(self.secret, "w") as f:
            f["data"] = np.frombuffer(SECRET.ljust(64), dtype="u1")
        raw = os.path.join(secret, "secret.raw")
        with open(raw, "wb") as f:
            f.write(SECRET.ljust(64))
        with h5py.File(os.path.join(self.inside, "beside.h5"), "w") as f:
            f["data"] = np.arange(64, dtype="u1")
        os.mkfifo(os.path.join(self.inside, "fifo"))
        os.symlink(self.secret, os.path.join(self.inside, "leak"))
        os.symlink("/", os.path.join(self.inside, "root"))
        self.beside = False  # whether files beside the source may be opened
        self.source = os.path.join(self.inside, "m.h5")
        self.target = os.path.join(self.out, "m.drep")
        self.names = [self.secret, raw, "../secret/secret.h5", "../secret/secret.raw", "leak", "fifo", "root/etc/passwd",
                      "/etc/passwd", "/dev/zero", "/proc/self/environ", "m.h5", "beside.h5", "absent.h5", "."]

    def allowed(self, path):
        """Whether a file that was opened may be."""
        path = os.path.normpath(os.path.join(self.folder, path))
        if os.path.dirname(path) == self.inside:
            return os.path.basename(path) in ("m.h5", "beside.h5", "beside.raw", "absent.h5")[:4 if self.beside else 1]
        return (path in (self.out, self.inside, self.target) or path.startswith(os.path.join(self.out, ".drep-")) or
                (path + "/").startswith(os.path.dirname(DATAREP) + "/") or (path + "/").startswith(SYSTEM) or
                path.startswith(SYSTEM))


# ------------------------------------------------------------------------ one import

def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_watched(place, *options):
    """Exit status (None: it hung), message, memory, and what was opened or done that must not be."""
    log = os.path.join(place.folder, "log")
    place.beside = "--external" in options
    with open(os.path.join(place.folder, "err"), "w+b") as err:
        p = subprocess.Popen(["strace", "-f", "-qq", "-s", "4096", "-o", log, "-e",
                              "trace=open,openat,creat,execve,execveat,socket,connect,bind,ptrace",
                              DATAREP, "import", "-f", TIME, *options, place.source, place.target],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, cwd=place.folder,
                             preexec_fn=limits)
        begin, status = time.monotonic(), None
        while True:
            pid, code, usage = os.wait4(p.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(code)
                break
            if time.monotonic() - begin > SECONDS:
                for child in reversed(children(p.pid)):
                    os.kill(child, 9)
                _, _, usage = os.wait4(p.pid, 0)
                break
            time.sleep(0.002)
        p.returncode = 0
        err.seek(0)
        message = err.read().decode("utf-8", "replace")
    bad, programs = [], 0
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = OPENED.search(line)
            if m and int(m.group(2)) >= 0 and not place.allowed(m.group(1)):
                bad.append("opened " + m.group(1))
            m = DONE.search(line)
            if m and int(m.group(2)) >= 0:
                programs += m.group(1) == "execve"
                if m.group(1) != "execve" or programs > 1:
                    bad.append(line.strip())
    return status, message, usage.ru_maxrss * 1024, bad


def children(pid):
    """A process and all below it."""
    found = [pid]
    for one in found:
        try:
            with open("/proc/%d/task/%d/children" % (one, one), encoding="ascii") as f:
                found += [int(n) for n in f.read().split()]
        except OSError:
            pass
    return found


def judge(place, seed, counts):
    """What is wrong with the import of a mutant, or None."""
    status, message, memory, bad = run_watched(place, *["--partial"] * (seed % 4 > 0), *["--external"] * (seed % 3 > 0))
    counts["peak"] = max(counts["peak"], memory)
    left = os.listdir(place.out)
    whole = status in (0, 1)
    if status is None:
        return "does not end"
    if bad:
        return "; ".join(bad[:5])
    if memory > MEMORY:
        return "takes %d MiB of memory" % (memory >> 20)
    if left != ["m.drep"] * whole or status not in (0, 1, 2, 3, 4):
        return "status %s leaves %s: %s" % (status, left, message[-300:])
    counts["whole" if whole else "limited" if "--limit" in message
           else "crashed" if "crashed" in message else "refused"] += 1
    if not whole:
        return None if "datarep: " in message else "says %s" % message[-300:]
    with open(place.target, "rb") as f:
        if SECRET in f.read():
            return "holds the secret"
    if seed % 8 == 0 and subprocess.run([DATAREP, "check", place.target], capture_output=True,
                                        check=False).returncode != 0:
        return "makes a container with findings"
    return None


def try_mutants(folder, path, seeds, counts):
    place = Place(folder)
    bad = []
    for seed in seeds:
        made = subprocess.run([os.path.join(TOOLS, "hdf5mutate"), str(seed), path, place.source, *place.names],
                              capture_output=True, check=True, text=True)
        why = judge(place, seed, counts)
        if why:
            bad.append("%s, seed %d: %s\n%s" % (os.path.basename(path), seed, why, made.stdout.rstrip()))
            keep = os.environ.get("MUTANTS_KEEP")
            if keep:
                shutil.copy(place.source, os.path.join(keep, "%d-%s" % (seed, os.path.basename(path))))
        for name in os.listdir(place.out):
            os.unlink(os.path.join(place.out, name))
    return bad


def check_watch(folder):
    """What is wrong with the watch itself: it must see a file that is opened by permission."""
    place = Place(folder)
    with h5py.File(place.source, "w", libver="latest") as f:
        layout = h5py.VirtualLayout((64,), "u1")
        layout[:] = h5py.VirtualSource(place.secret, "data", (64,))
        f.create_virtual_dataset("v", layout, fillvalue=7)
    for option, seen in (("--outside", True), ("--partial", False)):
        status, message, _, bad = run_watched(place, option)
        if not os.path.exists(place.target):
            return "%s: status %s, no container, %s, %s" % (option, status, bad, message)
        with open(place.target, "rb") as f:
            there = SECRET in f.read()
        if status != (not seen) or bool(bad) != seen or there != seen:
            return "%s: status %s, %s, %s" % (option, status, bad, message)
    return None


def check_beside(folder):
    """What is wrong with files beside the source: they are opened with --external alone, and named."""
    place = Place(folder)
    beside = [os.path.join(place.inside, name) for name in ("beside.h5", "beside.raw")]
    with open(beside[1], "wb") as f:
        f.write(bytes(range(64)))
    with h5py.File(place.source, "w", libver="latest") as f:
        layout = h5py.VirtualLayout((64,), "u1")
        layout[:] = h5py.VirtualSource("beside.h5", "data", (64,))
        f.create_virtual_dataset("v", layout, fillvalue=7)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_external(b"beside.raw", 0, 64)
        h5py.h5d.create(f.id, b"raw", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((64,)), plist)
    for options, wanted in ((), 4), (("--partial",), 1), (("--external",), 0):
        status, message, _, bad = run_watched(place, *options)
        if status != wanted or bad:
            return "%s: status %s, %s: %s" % (options, status, bad, message)
        for path in beside:
            said = "elements came from " + path if place.beside else path + " is another file; --external reads it"
            if said not in message:
                return "%s: does not say \"%s\": %s" % (options, said, message)
    for name in "v", "raw":
        out = subprocess.run([DATAREP, "export", "--root=/" + name, "--format=raw", place.target, "-"], capture_output=True,
                             check=False).stdout
        if out != bytes(range(64)):
            return "%s has other values: %s" % (name, out)
    return None


def main():
    count, seed = (int(a) for a in (sys.argv[1:] + ["240", "1"][len(sys.argv) - 1:])[:2])
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode != 0:
        print("1..0 # SKIP strace cannot trace here")
        return 0
    counts = dict.fromkeys(("whole", "refused", "crashed", "limited", "peak"), 0)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        sources = make_sources(folder)
        jobs = [pool.submit(try_mutants, folder, path, range(seed + i, seed + count, len(sources)), counts)
                for i, path in enumerate(sources)]
        print("1..%d" % (len(jobs) + 2))
        failed = False
        for n, (name, function) in enumerate((("the watch sees what is opened", check_watch),
                                              ("files beside the source", check_beside)), 1):
            why = function(folder)
            print("%sok %d - %s" % ("not " if why else "", n, name))
            failed |= bool(why)
            if why:
                print("# " + why.replace("\n", "\n# "))
        for n, (path, job) in enumerate(zip(sources, jobs), 3):
            bad = job.result()
            failed |= bool(bad)
            print("%sok %d - mutants of %s" % ("not " if bad else "", n, os.path.basename(path)), flush=True)
            for why in bad:
                print("# " + why.replace("\n", "\n# "), flush=True)
    print("# %d whole, %d refused, %d crashed, %d at a limit; peak %d MiB" %
          (counts["whole"], counts["refused"], counts["crashed"], counts["limited"], counts["peak"] >> 20))
    print("counted: %d mutated HDF5 files imported" % count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
