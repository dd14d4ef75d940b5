# SPDX-License-Identifier: MIT
"""Packs a tree that `make wheel` has laid out: nothing is compiled here."""
import configparser
import os
import re

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))


class Binary(Distribution):
    """A package with an extension, though none is built here."""

    def has_ext_modules(self):
        return True


class OneForAll(bdist_wheel):
    """The extension uses the limited API: one wheel serves all later versions."""

    def get_tag(self):
        return "cp311", "abi3", super().get_tag()[2]


def version():
    with open(os.path.join(HERE, "VERSION"), encoding="utf-8") as f:
        return f.read().strip()


def entry_points():
    parser = configparser.ConfigParser()
    parser.optionxform = str
    parser.read(os.path.join(HERE, "entry_points.txt"))
    return {s: [f"{k} = {v}" for k, v in parser[s].items()] for s in parser.sections()}


def files():
    """Everything below the package."""
    top = os.path.join(HERE, "datarep")
    return [os.path.relpath(os.path.join(folder, name), top)
            for folder, _, names in os.walk(top) for name in names]


if not os.path.exists(os.path.join(HERE, "datarep", "_core.abi3.so")):
    raise SystemExit("run `make wheel` at the top of the sources: it builds what is packed here")
assert re.match(r"\d+\.\d+", version())
setup(version=version(), packages=["datarep"], package_data={"datarep": files()},
      entry_points=entry_points(), distclass=Binary, cmdclass={"bdist_wheel": OneForAll},
      zip_safe=False)
