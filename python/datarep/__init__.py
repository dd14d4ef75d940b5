# SPDX-License-Identifier: MIT
"""Datarep: N-dimensional data in files of any data representation.

>>> import datarep as dr, numpy as np
>>> with dr.open(":memory:", "w", datarep="external32") as f:
...     f.attrs["title"] = "sea surface"
...     f.dims["time"] = None
...     sst = f.create("sst", dtype="f4", shape=(0, 3), dims=["time", "lat"], filters="shuffle,zstd:3")
...     sst.append(np.arange(6.0).reshape(2, 3))
...     print(f["sst"][[1, 0, 0], ::-1])
[[5. 4. 3.]
 [2. 1. 0.]
 [2. 1. 0.]]

`open` opens and makes files; `File`, `Group` and `Dataset` are what they hold.  Every public name has an
example in its docstring, help(datarep.open), which assumes these two imports.

The format is version 1.1.  Every later version of the library will read its files, and those of
draft 5 (0.5), which differ in that number alone.
"""
from __future__ import annotations

from . import _core
from .attrs import Attributes, Empty
from .dataset import Dataset, Report, array
from .errors import (ChecksumError, ConversionWarning, Error, FormatError, NotSameError,
                     StaleError)
from .file import (Commit, Dimension, ExternalLink, File, Group, HardLink, NamedType, SoftLink,
                   open)
from .command import (check, convert, diff, export, import_, join, libraries as _libraries,
                      references)
from .raw import Raw, raw
from .reps import Datarep, datareps, pack, register, unpack
from .types import Reference, RegionReference, Type, enum_dtype, string_dtype, vlen_dtype

__all__ = ["Attributes", "ChecksumError", "Commit", "ConversionWarning", "Datarep", "Dataset",
           "Dimension", "Empty", "Error", "ExternalLink", "File", "FormatError", "Group", "HardLink",
           "NamedType", "NotSameError", "Raw", "Reference", "RegionReference", "Report", "SoftLink",
           "StaleError", "Type", "array",
           "check", "convert", "datareps", "diff", "enum_dtype", "export", "import_", "join", "open", "pack",
           "raw", "references", "register", "string_dtype", "unpack", "version", "versions", "vlen_dtype"]


def version() -> str:
    """The library's and the format's version.

    >>> dr.version().startswith("datarep ")
    True
    """
    return _core.version()


def versions() -> dict[str, str]:
    """The versions of this package, the format, Python and NumPy, and of the libraries that the package
    uses or has linked in, its command included: what a report of a bug should say.

    >>> import datarep as dr
    >>> dr.versions()["format"]
    '1.1'
    """
    import importlib.metadata
    import platform
    said = version().split()
    found = {"datarep": __version__, "format": said[3].rstrip(","), "python": platform.python_version()}
    try:
        found["numpy"] = importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError:
        pass
    return {**found, **_libraries(), **_core.libraries()}


__version__ = version().split()[1].rstrip(",")
