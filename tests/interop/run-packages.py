#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-packages - netCDF-4 files as the world has them, through import and export.

All nine files of Debian's package gmt-gshhg-low and the one of gmt-dcw (25 MB), under
external32, internal, native and a declared representation (--full; else one a file, in
turn): the container holds what h5py
reads, h5diff finds no difference in the export, h5dump -p prints the same but for byte
orders, ncdump -h the same.  The packages are fetched once into build/packages; without
them the cases are skipped.  TAP on stdout.
# timeout: 900
"""
import os
import sys
import tempfile

try:
    import hdf5files
    from hdf5compare import check
    from hdf5trip import REPS, declare, run, try_case
    from packages import PACKAGES, fetch
except ImportError as e:
    print("1..0 # SKIP %s" % e)
    sys.exit(0)

def same_header(a, b):
    """Dimensions, variables and attributes as the netCDF library sees them."""
    try:
        (status, x, _), (_, y, _) = (run("ncdump", "-h", "-n", "x", path) for path in (a, b))
    except FileNotFoundError:
        return
    check(status == 0 and x == y, "ncdump -h prints something else")


def main():
    cases, failed = [], 0
    for package, count in PACKAGES.items():
        files = fetch(package)
        if len(files) != count:
            print("# %s: %d files" % (package, len(files)))
            cases.append((package, None, "any"))
        for i, f in enumerate(files):
            reps = [REPS[(i + i // 4) % 4]]
            cases += [(os.path.basename(f), f, rep) for rep in (REPS if "--full" in sys.argv else reps)]
    print("1..%d" % len(cases))
    with tempfile.TemporaryDirectory() as folder:
        declare(folder)
        for n, (name, path, rep) in enumerate(cases, 1):
            if not path:
                print("ok %d - %s under %s # SKIP the package cannot be fetched" % (n, name, rep))
                continue
            local = os.path.join(folder, name + ".h5")
            if not os.path.exists(local):
                os.symlink(path, local)
            c = hdf5files.Case(name, None, "netCDF-4")
            try:
                try_case(c, rep, False, folder, same_header)
                print("ok %d - %s under %s" % (n, name, rep), flush=True)
            except Exception as e:  # whatever goes wrong is this case's failure
                failed += 1
                print("not ok %d - %s under %s" % (n, name, rep))
                print("# %s: %s" % (type(e).__name__, str(e).replace("\n", "\n# ")), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
