# SPDX-License-Identifier: MIT
"""The examples of TUTORIAL.md and of the docstrings do what they say."""
import ast
import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
import types

import datarep
import numpy as np
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


# Modules whose public objects have examples, and the names that these use beside their own.
MODULES = ["datarep", "datarep.h5", "datarep.netcdf", "datarep.xarray"]
NAMES = {"dr": datarep, "np": np}


def members(name, cls):
    """The public members of a class that its own package defines, but for fields of tuples and constants.

    Those by which a class of xarray's interface is filled in are documented there."""
    foreign = [c for c in cls.__mro__ if c.__module__.startswith("xarray")]
    for base in cls.__mro__:
        if base.__module__.split(".")[0] != "datarep":
            continue
        for member, value in vars(base).items():
            got = getattr(cls, member, None)
            documented = inspect.isroutine(got) or isinstance(value, (property, types.GetSetDescriptorType))
            if member[0] != "_" and documented and not (member in base.__dict__.get("_fields", ())
                                                        or any(hasattr(c, member) for c in foreign)
                                                        and base.__name__ == "Store"):
                yield f"{name}.{member}", inspect.getdoc(value if isinstance(value, property) else got) or ""


def documented(name):
    """(name, docstring) of a module's public objects."""
    module = importlib.import_module(name)
    yield name, module.__doc__
    for key in module.__all__:
        value = getattr(module, key)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        yield f"{name}.{key}", inspect.getdoc(value) or ""
        if inspect.isclass(value):
            yield from members(f"{name}.{key}", value)


def run(test):
    """What a failed example printed; files that an example leaves open are closed."""
    said = []
    # The examples show numbers as NumPy 1 and NumPy 2 alike print them.
    old = {"legacy": "1.25"} if int(np.__version__.split(".")[0]) > 1 else {}
    with np.printoptions(**old):
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append,
                                                                               clear_globs=False)
    for value in list(test.globs.values()):
        if isinstance(value, datarep.File) and not value.closed:
            value.abandon()
    test.globs.clear()
    return "".join(said)


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module):
    """Everything public has an example, and all examples do what they say."""
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        pytest.skip(f"{module}: {error}")
    found = dict(documented(module))
    assert not [name for name, text in found.items() if ">>>" not in text]
    globs = {**NAMES, **({"h5py": imported} if module == "datarep.h5" else {}),
             **({"xr": imported.xr, **{n: getattr(imported, n) for n in imported.__all__}}
                if module == "datarep.xarray" else {})}
    parser, failed = doctest.DocTestParser(), []
    for name, text in found.items():
        failed.append(run(parser.get_doctest(text, dict(globs), name, None, 0)))
    assert not "".join(failed)


PAGES = os.path.join(ROOT, "python", "doc")
# The two columns of a row of a table of the page "coming", each with its code.
CELL = r"\.\. code-block:: python\n\n((?:          .*\n|\n)+)"
ROW = re.compile(rf"^   \* - {CELL}     - {CELL}", re.M)


def text_of(page):
    with open(os.path.join(PAGES, page), encoding="utf-8") as f:
        return f.read()


@pytest.mark.parametrize("page", ["index.rst", "tour.rst", "guide.rst", "coming.rst"])
def test_examples_of_pages(page, tmp_path, monkeypatch):
    """The examples of a page of the HTML documentation do what they say."""
    text = text_of(page)
    if "import xarray" in text or "import datarep.xarray" in text:
        pytest.importorskip("xarray")
    monkeypatch.chdir(tmp_path)
    assert not run(doctest.DocTestParser().get_doctest(text, {}, page, page, 0))


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def result(code, names):
    """Run a cell; what its last line gives if it is an expression."""
    tree = ast.parse(textwrap.dedent(code))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.parametrize("library", ["h5py", "netCDF4", "zarr"])
def test_tables_for_those_who_come(library, tmp_path, monkeypatch):
    """Both columns of a table give the same, row by row."""
    table = text_of("coming.rst").split(f"   * - {library}\n     - datarep\n")[1].split("\nWhat differs")[0]
    rows, theirs, ours = ROW.findall(table), {}, {}
    assert len(rows) == table.count("   * - ") >= 7
    monkeypatch.chdir(tmp_path)
    try:
        found = importlib.import_module(library)
    except ImportError:
        found = None
    if found is None or library == "zarr" and not found.__version__.startswith("2."):
        print(f"{library} is not installed, or not of the page's version: only our column is run")
        rows = [("", our) for _, our in rows]
    compared = 0
    for their, our in rows:
        expected, got = result(their, theirs) if their else None, result(our, ours)
        if expected is not None and not their.strip().endswith("close()"):
            assert plain(got) == plain(expected), our
            compared += 1
    assert compared >= 5 or not theirs


def test_the_table_of_exceptions():
    """The reference names every class of errors, with the classes that it is of."""
    rows = re.findall(r"^(\w+)  +(?:``)?(\w+)(?:``)?  +\S", text_of("api.rst").split("\nclass  ")[1].split("\nxarray\n")[0], re.M)
    errors = datarep.errors
    found = {name: cls for name, cls in vars(errors).items()
             if inspect.isclass(cls) and issubclass(cls, datarep.Error)}
    assert dict(rows).keys() == found.keys() and len(rows) == len(found)
    for name, parent in rows:
        assert found[name].__bases__[-1].__name__ == parent, name
