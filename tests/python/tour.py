# SPDX-License-Identifier: MIT
"""What README.md, TUTORIAL.md and the docstrings show, run by the installed package, Python and NumPy alone.

Usage: tour.py DIRECTORY      where README.md and TUTORIAL.md are
"""
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tempfile

import datarep

# Packages that a block may want beside these.
MORE = re.compile(r"^(?:import|from) (matplotlib|xarray|dask|pandas|h5py)|, (matplotlib|xarray|pandas)|\"/usr/", re.M)


def pages(folder):
    """(name, program, output) of the pages; output None: any."""
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
        for i, text in enumerate(re.findall(r"^```python\n(.*?)^```$", f.read(), re.M | re.S), 1):
            yield f"README {i}", text, None
    with open(os.path.join(folder, "TUTORIAL.md"), encoding="utf-8") as f:
        found = re.findall(r"^<!-- (python|output): (\w+) -->\n```\w+\n(.*?)^```$", f.read(), re.M | re.S)
    outputs = {name: text for kind, name, text in found if kind == "output"}
    for kind, name, text in found:
        if kind == "python":
            yield f"TUTORIAL {name}", text, outputs.get(name)


def docstrings():
    """(failed, tried) examples of all modules that can be imported without more packages."""
    failed = tried = 0
    for module in pkgutil.iter_modules(datarep.__path__):
        if module.name in ("_core", "__main__"):
            continue
        try:
            result = doctest.testmod(importlib.import_module(f"datarep.{module.name}"))
        except ImportError:
            continue
        failed, tried = failed + result.failed, tried + result.attempted
    result = doctest.testmod(datarep)
    return failed + result.failed, tried + result.attempted


def main():
    bad = ran = left = 0
    for name, program, output in pages(sys.argv[1]):
        if MORE.search(program):
            left += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True,
                                  check=False)
        ran += 1
        if done.returncode or output not in (None, done.stdout):
            bad += 1
            print(f"{name}: status {done.returncode}\n{done.stdout}{done.stderr}")
    failed, tried = docstrings()
    print(f"tour: {ran} programs of the pages, {left} left out that need more packages, {bad} failed; "
          f"{tried} examples of docstrings, {failed} failed")
    print("versions:", *(f"{k}-{v}" for k, v in datarep.versions().items()))
    sys.exit(bad + failed > 0 or ran == 0 or tried == 0)


main()
