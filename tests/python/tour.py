# SPDX-License-Identifier: MIT
"""What README.md and TUTORIAL.md show, run by the installed package, Python and NumPy alone.

The docstrings' examples are run by python/tests/test_documentation.py, which needs pytest.

Usage: tour.py DIRECTORY      where README.md and TUTORIAL.md are
"""
import os
import re
import subprocess
import sys
import tempfile

import datarep

# Packages that a block may want beside these.
MORE = re.compile(r"^(?:import|from) (matplotlib|xarray|dask|pandas|h5py)|, (matplotlib|xarray|pandas)|\"/usr/|coads\.nc", re.M)


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
    print(f"tour: {ran} programs of the pages, {left} left out that need more packages, {bad} failed")
    print("versions:", *(f"{k}-{v}" for k, v in datarep.versions().items()))
    sys.exit(bad > 0 or ran == 0)


main()
