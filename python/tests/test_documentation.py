# SPDX-License-Identifier: MIT
"""The examples of TUTORIAL.md and of the docstrings do what they say."""
import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys

import datarep
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^<!-- (python|output): (\w+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def blocks():
    with open(os.path.join(ROOT, "TUTORIAL.md"), encoding="utf-8") as f:
        found = BLOCK.findall(f.read())
    outputs = {name: text for kind, name, text in found if kind == "output"}
    return [(name, text, outputs.get(name)) for kind, name, text in found if kind == "python"]


@pytest.mark.parametrize("name, text, output", blocks(), ids=[b[0] for b in blocks()])
def test_the_tutorial(name, text, output, tmp_path):
    if "matplotlib" in text:
        pytest.importorskip("matplotlib")
    for path in re.findall(r'"(/usr/[^"]*)"', text):
        if not os.path.exists(path):
            pytest.skip(f"{path} is not installed")
    program = tmp_path / "example.py"
    program.write_text(text, encoding="utf-8")
    package = os.path.dirname(os.path.dirname(datarep.__file__))
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": package, "MPLBACKEND": "agg"}, timeout=300)
    assert done.returncode == 0, done.stderr
    if output is not None:
        assert done.stdout == output
    if name == "coast":
        assert len(text.strip().splitlines()) <= 16 and (tmp_path / "coast.png").stat().st_size > 20_000


def test_the_notebook(tmp_path):
    made = tmp_path / "tutorial.ipynb"
    subprocess.run([sys.executable, os.path.join(ROOT, "python", "notebook.py"),
                    os.path.join(ROOT, "TUTORIAL.md"), str(made)], check=True)
    notebook = json.loads(made.read_text(encoding="utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert notebook["nbformat"] == 4 and cells == [text.strip() for _, text, _ in blocks()]


def test_docstrings():
    seen = 0
    for module in pkgutil.iter_modules(datarep.__path__):
        if module.name in ("_core", "__main__"):
            continue
        try:
            found = importlib.import_module(f"datarep.{module.name}")
        except ImportError:  # one for a package that is not installed
            continue
        failed, tried = doctest.testmod(found)
        assert not failed, module.name
        seen += tried
    failed, tried = doctest.testmod(datarep)
    assert not failed and seen + tried > 3


def test_everything_public_is_documented():
    for name in datarep.__all__:
        assert getattr(datarep, name).__doc__, name
        for member, value in vars(getattr(datarep, name)).items() if isinstance(
                getattr(datarep, name), type) else ():
            if not member.startswith("_") and callable(value) and name not in ("Type", "Commit"):
                assert value.__doc__, f"{name}.{member}"
