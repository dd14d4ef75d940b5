# SPDX-License-Identifier: MIT
"""launch - programs of several ranks under either MPI, also as root and with few processors."""
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILDDIR", os.path.join(ROOT, "build"))
PACKAGE = {"mpich": "mpich", "openmpi": "ompi-c"}
TIMEOUT = 120
count = 0
bad = False

# Open MPI refuses root and more ranks than processors, polls without a pause, and wants a system
# call that containers forbid.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm_rsh_agent": "false",
}


def report(problem, name):
    """A case in TAP: no problem is "", any other text says what is wrong."""
    global count, bad
    count += 1
    bad |= bool(problem)
    for line in problem.splitlines():
        print("# " + line)
    print("%sok %d - %s" % ("not " if problem else "", count, name), flush=True)


def end():
    """The end of the cases, and the program's status."""
    print("1..%d" % count)
    return bad


def test_program(mpi, name):
    return os.path.join(BUILD, "release", mpi, "tests/mpi", name)


def installed():
    """The MPIs whose launcher is here and whose library was built."""
    return [m for m in PACKAGE if shutil.which("mpiexec." + m) and
            os.path.exists(os.path.join(BUILD, "release", "libdatarep-mpi-%s.so" % m))]


def flags(mpi):
    """What a program of this MPI is compiled and linked with."""
    return subprocess.run(["pkg-config", "--cflags", "--libs", PACKAGE[mpi]], check=True,
                          capture_output=True, text=True).stdout.split()


def environment(more=None):
    env = dict(os.environ)
    env.update(ENVIRONMENT)
    env.update(more or {})
    # Sockets of Open MPI have short names.
    env["OMPI_MCA_orte_tmpdir_base"] = "/tmp"
    return env


def command(mpi, ranks, argv):
    return ["mpiexec." + mpi, "-n", str(ranks)] + argv


def run(mpi, ranks, argv, timeout=TIMEOUT, env=None):
    return subprocess.run(command(mpi, ranks, argv), capture_output=True, text=True,
                          timeout=timeout, env=environment(env), stdin=subprocess.DEVNULL)
