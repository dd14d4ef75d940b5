# SPDX-License-Identifier: MIT
"""biom over datarep.h5: Debian's package of biom has none of its tests, but the two programs that it is tried
with, and examples of its files.  tests/python/suites.py runs this in datarep.h5's place for h5py."""
import os
import shutil
import subprocess
import sys

import pytest

biom = pytest.importorskip("biom")
import datarep as dr  # noqa: E402
import h5py  # noqa: E402

ASSETS = os.path.join(os.path.dirname(biom.__file__), "assets")
SYSTEM = os.path.dirname(os.path.dirname(biom.__file__))
EXAMPLES = os.path.normpath(os.path.join(SYSTEM, "../../../share/doc/python3-biom-format/examples"))
NAMES = ("min_sparse_otu_table_hdf5.biom", "rich_sparse_otu_table_hdf5.biom")
COMMAND = f"""#!{sys.executable}
from biom.cli import cli
cli(prog_name="biom")
"""


def example(name):
    return os.path.join(EXAMPLES, name)


def run(*command, cwd, **env):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("axis", ["sample", "observation"])
@pytest.mark.parametrize("name", NAMES)
def test_its_program_for_the_interface(name, axis, tmp_path):
    run(sys.executable, os.path.join(ASSETS, "exercise_api.py"), example(name), axis, cwd=tmp_path)


def test_its_program_for_the_command(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "biom").write_text(COMMAND)
    (tmp_path / "biom").chmod(0o755)
    # It tells HDF5 from JSON by the first bytes of a file.
    with open(os.path.join(ASSETS, "exercise_cli.sh"), encoding="utf-8") as f:
        (tmp_path / "cli.sh").write_text("".join(x for x in f if "validate-table -i test_hdf5.biom" not in x))
    said = run("bash", "cli.sh", cwd=tmp_path,
               PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert "all commands executed without failure" in said
    made = [n for n in os.listdir(tmp_path) if dr_file(tmp_path / n)]
    assert {"test_add_metadata.biom", "test_hdf5.biom", "test_norm.biom", "test_subset.biom"} <= set(made)


def dr_file(path):
    try:
        dr.open(path).close()
        return True
    except Exception:  # noqa: BLE001
        return False


@pytest.mark.parametrize("name", NAMES)
def test_a_table_on_its_way(name, tmp_path):
    """The example, written by biom as a file of Datarep, exported, and read by biom with h5py itself."""
    table = biom.load_table(example(name))
    with h5py.File(tmp_path / "t.drep", "w") as f:
        table.to_hdf5(f, "a test")
    assert biom.load_table(str(tmp_path / "t.drep")) == table
    dr.export(tmp_path / "t.drep", tmp_path / "t.h5")
    code = ("import sys, biom, h5py; assert not hasattr(h5py, 'install'); a, b = map(biom.load_table, sys.argv[1:]); "
            "assert a == b and a.metadata(a.ids()[0]) == b.metadata(b.ids()[0])")
    run(sys.executable, "-c", code, str(tmp_path / "t.h5"), example(name), cwd=tmp_path, PYTHONPATH=SYSTEM)
