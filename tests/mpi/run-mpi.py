#!/usr/bin/python3
# timeout: 900
# SPDX-License-Identifier: MIT
"""run-mpi.py - the test programs of the library for MPI, under each MPI, by 1 to 4 ranks.

Usage: tests/mpi/run-mpi.py [--full] [PROGRAM...]    without --full by 1 and 3 ranks, some by 2 alone
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import launch
from launch import report

ROOT = launch.ROOT
# Programs that few ranks say enough of: datatypes are the same on every one, timeouts take seconds.
SHORT = {"types": [1], "api": [1, 2], "timeout": [3], "mpiio": [1, 3], "model": [2, 3], "misuse": [3],
         "stories": [3]}
HELPERS = {"hashes", "writer"}
# Further runs of a program: ranks, arguments, environment.
MORE = {
    "file": [(3, ["drep_mpi_io=mpiio"], {}),
             (3, ["cb_nodes=1"], {}),
             (3, ["cb_nodes=2", "cb_block_size=4096"], {}),
             (3, ["collective_buffering=false", "access_style=write_once,random"], {}),
             (3, ["striping_unit=8192", "striping_factor=4", "cb_buffer_size=4096"], {})],
    "mpiio": [(2, [str(level)], {}) for level in (1, 2, 3)] + [(2, ["0", "nodes"], {})],
}
# The same with --full alone: 300 random stories of each kind, by up to 6 ranks.
FULL = {
    "model": [(6, ["300", "1000"], {}, 600)],
    "stories": [(6, ["300", "1000"], {}, 600)],
}


def program(mpi, name, ranks, argv=(), env=None, timeout=launch.TIMEOUT):
    """Runs one; its cases become ours."""
    where = "%s, %s: " % (" ".join([mpi, *argv]), "%d ranks" % ranks if ranks > 1 else "1 rank")
    try:
        done = launch.run(mpi, ranks, [launch.test_program(mpi, name), *argv], timeout, env)
    except subprocess.TimeoutExpired as e:
        report("stopped after %d s\n%s" % (e.timeout, (e.stdout or b"").decode()), where + name)
        return
    cases = planned = 0
    notes = []
    for line in done.stdout.splitlines():
        m = re.match(r"(not )?ok \d+ - (.*)", line)
        plan = re.match(r"1\.\.(\d+)$", line)
        if m:
            cases += 1
            report("\n".join(notes) or "failed" if m.group(1) else "", where + m.group(2))
            notes = []
        elif plan:
            planned = int(plan.group(1))
        elif line.startswith("counted:"):
            print(line)
        else:
            notes.append(line)
    if done.returncode or not cases or cases != planned:
        report("status %d, %d of %d cases\n%s" %
               (done.returncode, cases, planned, "\n".join(notes + done.stderr.splitlines()[-20:])), where + name)


def wrong_mpi(mpi, other):
    """A program of one MPI that was linked with the library for the other is told so."""
    build = os.path.join(launch.BUILD, "release")
    tmp = os.environ.get("TMPDIR", "/tmp")
    source = os.path.join(tmp, "wrong.c")
    with open(source, "w") as f:
        f.write('#include <datarep-mpi.h>\n#include <stdio.h>\n'
                'int main(int argc, char **argv)\n{\n    drep_type *t;\n    MPI_Init(&argc, &argv);\n'
                '    printf("%d %s\\n", drep_mpi_type(MPI_INT, &t), drep_error());\n'
                '    return MPI_Finalize();\n}\n')
    binary = os.path.join(tmp, "wrong-" + mpi)
    command = ["gcc", "-D_GNU_SOURCE", "-include", "stdlib.h", "-o", binary, source,
               "-I" + os.path.join(ROOT, "lib"), "-I" + os.path.join(ROOT, "lib", "mpi")]
    command += launch.flags(mpi) + [os.path.join(build, "libdatarep-mpi-%s.so" % other),
                                    os.path.join(build, "libdatarep.so"), "-Wl,-rpath," + build]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        report(made.stderr or "failed", "%s: the library for %s is linked" % (mpi, other))
        return
    done = launch.run(mpi, 1, [binary])
    told = "this is libdatarep-mpi-%s, but the program runs" % other in done.stdout
    report("" if told else done.stdout + done.stderr or "no message",
           "%s: the library for %s is told from its own" % (mpi, other))


def header_table():
    """Every function of the public headers is in the table of datarep-mpi.h, or named below it."""
    text = open(os.path.join(ROOT, "lib/mpi/datarep-mpi.h")).read()
    head = text[:text.index("#ifndef")]
    known = re.findall(r"\bdrep_[a-z0-9_]+\*?", head)
    missing = []
    for header in ("lib/datarep.h", "lib/datarep-team.h", "lib/mpi/datarep-mpi.h"):
        source = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, header)).read(), flags=re.S)
        for name in re.findall(r"DREP_API [^;(]*?\b(drep_\w+)\(", source):
            if not any(name == k or k.endswith("*") and name.startswith(k[:-1]) for k in known):
                missing.append(name)
    report(" ".join(missing), "the table of datarep-mpi.h names every public function")


def main():
    full = "--full" in sys.argv[1:]
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    there = launch.installed()
    if not there:
        print("1..0 # SKIP no MPI is installed that the library was built for (make deps-mpi)")
        return 0
    header_table()
    for mpi in there:
        for source in sorted(os.listdir(os.path.join(ROOT, "tests/mpi"))):
            name = source[:-2]
            if not source.endswith(".c") or name in HELPERS or wanted and name not in wanted:
                continue
            for ranks in [1, 2, 3, 4] if full else SHORT.get(name, [1, 3]):
                program(mpi, name, ranks)
            for more in MORE.get(name, []) + (FULL.get(name, []) if full else []):
                program(mpi, name, *more)
    if len(there) == 2 and not wanted:
        wrong_mpi(*there)
        wrong_mpi(*reversed(there))
    return launch.end()


if __name__ == "__main__":
    sys.exit(main())
