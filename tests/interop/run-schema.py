#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-schema - every HDF5 and netCDF-4 file of this suite, and those of Debian packages, imported
and printed as a schema.

The schema must make a file that prints the same schema, with values and without; the import
must be as its schema says, and so must what was made.  PyYAML must read the schema as well.
TAP on stdout.
"""
import glob
import os
import subprocess
import sys
import tempfile

from cases import over

try:
    import yaml

    import hdf5files
    from packages import PACKAGES, fetch
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

DATAREP = os.environ.get("DATAREP", "build/release/datarep")
HERE = os.path.dirname(os.path.abspath(__file__))
REPS = ("external32", "internal", "native", "native:s390x")


class Differ(Exception):
    pass


def run(*command, fine=(0,)):
    p = subprocess.run([DATAREP, *over(command)], capture_output=True, timeout=120, check=False)
    if p.returncode not in fine:
        raise Differ("datarep %s: status %d: %s" % (" ".join(command), p.returncode,
                                                     (p.stdout + p.stderr).decode("utf-8", "replace")))
    return p.stdout


def write(path, image):
    with open(path, "wb") as f:
        f.write(image)


def trip(drep, tmp, options):
    """drep -> schema -> file -> schema."""
    schema, made = os.path.join(tmp, "a.yaml"), os.path.join(tmp, "made.drep")
    first = run("dump", *options, "--yaml", drep)
    write(schema, first)
    yaml.load(first, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    run("create", "--force", "-s", schema, made)
    again = run("dump", *options, "--yaml", made)
    if again != first:
        write(os.path.join(tmp, "b.yaml"), again)
        lines = subprocess.run(["diff", schema, os.path.join(tmp, "b.yaml")], capture_output=True, check=False)
        raise Differ("another schema: %s" % lines.stdout.decode("utf-8", "replace")[:1500])
    run("validate", "-s", schema, drep)
    run("validate", "-s", schema, made)


def make_hdf5(case, tmp):
    path = os.path.join(tmp, "x.h5")
    hdf5files.make(path, case)
    return path


def make_netcdf(cdl, tmp):
    path = os.path.join(tmp, "x.nc")
    subprocess.run(["ncgen", "-4", "-o", path, cdl], check=True, capture_output=True)
    return path


def main():
    files = [(c.name, lambda tmp, c=c: make_hdf5(c, tmp)) for c in hdf5files.CASES]
    files += [(os.path.basename(p), lambda tmp, p=p: make_netcdf(p, tmp))
              for p in sorted(glob.glob(os.path.join(HERE, "*.cdl")))]
    files += [(os.path.basename(p), lambda tmp, p=p: p) for name in PACKAGES for p in fetch(name)]
    print("1..%d" % len(files), flush=True)
    for i, (name, make) in enumerate(files, 1):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                drep = os.path.join(tmp, "x.drep")
                # What HDF5 alone has is lost on import, and said.
                source = make(tmp)
                run("import", "--partial", "--datarep=" + REPS[i % len(REPS)], source, drep, fine=(0, 1))
                trip(drep, tmp, ["-H"])
                # A schema is no place for a million values, nor for chunks that nobody can decode.
                if os.path.getsize(source) < 1 << 20 and name not in ("sparse", "filter_of_others"):
                    trip(drep, tmp, [])
                print("ok %d - %s" % (i, name), flush=True)
            except (Differ, subprocess.SubprocessError, yaml.YAMLError, OSError) as e:
                print("not ok %d - %s\n# %s" % (i, name, str(e).replace("\n", "\n# ")), flush=True)


if __name__ == "__main__":
    main()
