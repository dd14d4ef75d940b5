# SPDX-License-Identifier: MIT
"""Files of a communicator: ranks.py under the MPI of mpi4py."""
import importlib.util
import os
import sys

import datarep
import pytest
from datarep import mpi

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FULL = os.environ.get("DATAREP_FULL")
sys.path.insert(0, os.path.join(ROOT, "tests", "mpi"))
import launch  # noqa: E402


def vendor():
    """Of the MPI that mpi4py was built for; it is not loaded here, where it would start."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no mpi4py: tools/install-deps python")
    done = launch.subprocess.run(
        [sys.executable, "-c", "import mpi4py; mpi4py.rc.initialize = False\n"
         "from mpi4py import MPI; print(MPI.get_vendor()[0])"],
        capture_output=True, text=True, env=launch.environment(), timeout=60)
    if done.returncode:
        pytest.skip("mpi4py cannot be imported: " + done.stderr.strip().splitlines()[-1])
    return mpi._FAMILIES.get(done.stdout.strip(), done.stdout.strip())


@pytest.fixture(scope="module")
def family():
    found = vendor()
    if found not in launch.installed():
        pytest.skip(f"mpi4py is for {found}, of which the launcher or our library is missing: make mpi")
    return found


def run(family, ranks, story, folder):
    package = os.path.dirname(os.path.dirname(datarep.__file__))
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks.py")
    return launch.run(family, ranks, [sys.executable, program, story, str(folder)],
                      env={"PYTHONPATH": package, "OMP_NUM_THREADS": "1"})


@pytest.mark.parametrize("story", ["together", "alone", "raises", "errors"])
@pytest.mark.parametrize("ranks", [2, 3, 4] if FULL else [3])
def test_ranks(family, ranks, story, tmp_path):
    done = run(family, ranks, story, tmp_path)
    assert not done.returncode and not done.stdout, done.stdout + done.stderr


def test_a_library_that_is_missing_is_an_ImportError(family, tmp_path, monkeypatch):
    program = tmp_path / "missing.py"
    program.write_text("import datarep as dr\nfrom datarep import mpi\nfrom mpi4py import MPI\n"
                       "mpi.libraries = lambda family: [f'libdatarep-mpi-{family}.so.none']\n"
                       "try:\n    dr.open('x.drep', 'w', comm=MPI.COMM_WORLD)\n"
                       "except ImportError as error:\n    print(error)\n")
    package = os.path.dirname(os.path.dirname(datarep.__file__))
    done = launch.run(family, 2, [sys.executable, str(program)], env={"PYTHONPATH": package})
    assert done.stdout.count(f"libdatarep-mpi-{family} cannot be loaded") == 2, done


def test_what_is_no_communicator_is_a_TypeError(family, tmp_path):
    with pytest.raises(TypeError, match="communicator of mpi4py"):
        datarep.open(tmp_path / "x.drep", "w", comm=4)
