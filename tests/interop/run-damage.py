#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-damage - damaged HDF5 files, imported.

libhdf5 crashes and hangs on some of them.  Whatever it does, import ends in time and in the
memory that SECURITY.md allows: with a whole container, or with a message, a status of failure and
nothing left behind.  Bytes are
flipped, cleared and overwritten, and files cut, at places chosen by chance with a fixed
seed, DAMAGE_TIMES times for each source.  TAP on stdout, one case a source file.
# timeout: 600
"""
import os
import random
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault"))

import limits  # noqa: E402

try:
    import hdf5files
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.path.abspath(os.environ.get("DATAREP", "build/release/datarep"))
GENERATOR = os.path.abspath(os.path.join(os.environ.get("BUILDDIR", "build"),
                                         "release/tests/interop/hdf5gen"))
SOURCES = ["compounds", "variable_strings", "nested_sequences", "object_references", "links", "netcdf4",
           "filters", "fill_values", "many_attributes", "named_types", "virtual", "chunk_indexes", "old_format",
           "sharing", "regions", "szip", "nbit", "dense_attributes", "user_links", "shared_messages"]
TIMES = int(os.environ.get("DAMAGE_TIMES", "10"))  # for each source
SECONDS = 15  # that an import may take before it is asked to end
ENDS = 12     # and then has to


def damage(data, rng):
    data = bytearray(data)
    how = rng.randrange(5)
    at = rng.randrange(len(data))
    if how == 0:
        return data[:at]
    if how == 1:
        n = rng.choice([1, 4, 8, 64])
        data[at:at + n] = bytes(len(data[at:at + n]))
    elif how == 2:
        data[at:at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\xff\xff\xff\x7f"])[:len(data[at:at + 4])]
    else:
        # Most of a file's structure stands at its front.
        for _ in range(rng.choice([1, 1, 3])):
            at = rng.randrange(min(len(data), rng.choice([512, 4096, len(data)])))
            data[at] ^= 1 << rng.randrange(8)
    return data


def import_damaged(source, folder, counts, options):
    """What is wrong with the way that it ended, or None."""
    where = tempfile.mkdtemp(dir=folder)
    target = os.path.join(where, "out.drep")
    done = limits.run([DATAREP, "import", "-f", *options, source, target], timeout=SECONDS, grace=ENDS, text=True)
    err = done.stderr
    if done.hung:
        counts["hung"] += 1
        if done.returncode == -signal.SIGKILL:
            return "does not end"
        return "left %s" % os.listdir(where) if os.listdir(where) else None
    over = done.wrong(limits.memory_bar(source))
    if over:
        return "%s: %s" % (over, err[-300:])
    counts["MiB at most"] = max(counts["MiB at most"], done.memory // limits.MIB)
    left = os.listdir(where)
    if done.returncode in (0, 1):
        counts["whole"] += 1
        if left != ["out.drep"]:
            return "status %d with %s" % (done.returncode, left)
        check = subprocess.run([DATAREP, "check", target], capture_output=True, check=False)
        if check.returncode != 0:
            return "a container with findings: %s" % check.stdout[-300:]
        return None if done.returncode == 0 or err else "lost something without a word"
    counts["crashed" if "crashed" in err else "refused"] += 1
    if done.returncode not in (2, 3, 4):
        return "status %d: %s" % (done.returncode, err[-300:])
    if not err.startswith("datarep: "):
        return "says %s" % err[-300:]
    return "left %s" % left if left else None


def main():
    counts = dict.fromkeys(("whole", "refused", "crashed", "hung", "MiB at most"), 0)
    failed = 0
    print("1..%d" % len(SOURCES))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([GENERATOR, folder], stdout=subprocess.DEVNULL, check=True)
        makers = {c.name: c for c in hdf5files.CASES}
        for n, name in enumerate(SOURCES, 1):
            path = os.path.join(folder, name + ".h5")
            if name in makers:
                hdf5files.make(path, makers[name])
            with open(path, "rb") as f:
                data = f.read()
            bad = []
            for i in range(TIMES):
                rng = random.Random("%s %d" % (name, i))
                broken = os.path.join(folder, "broken.h5")
                with open(broken, "wb") as f:
                    f.write(damage(data, rng))
                why = import_damaged(broken, folder, counts, ["--partial"] if i % 4 else [])
                if why:
                    bad.append("%d: %s" % (i, why))
            failed += bool(bad)
            print("%sok %d - %d damaged forms of %s" % ("not " if bad else "", n, TIMES, name))
            for why in bad:
                print("# " + why.replace("\n", "\n# "))
            sys.stdout.flush()
    print("# " + ", ".join("%d %s" % (v, k) for k, v in counts.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
