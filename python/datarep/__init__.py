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

`open` opens and makes files; `File`, `Group` and `Dataset` are what they hold.

The format is draft 4.  The next draft will convert files of this one (`datarep convert`) and not
read them; from draft 5 on no file will be refused for its age.
"""
from __future__ import annotations

from . import _core
from .attrs import Attributes, Empty
from .dataset import Dataset, Report, array
from .errors import (ChecksumError, ConversionWarning, Error, FormatError, NotSameError,
                     StaleError)
from .file import (Commit, Dimension, ExternalLink, File, Group, HardLink, NamedType, SoftLink,
                   open)
from .command import check, convert, diff, export, import_
from .raw import Raw, raw
from .reps import Datarep, datareps, pack, register, unpack
from .types import Reference, RegionReference, Type, enum_dtype, string_dtype, vlen_dtype

__all__ = ["Attributes", "ChecksumError", "Commit", "ConversionWarning", "Datarep", "Dataset",
           "Dimension", "Empty", "Error", "ExternalLink", "File", "FormatError", "Group", "HardLink",
           "NamedType", "NotSameError", "Raw", "Reference", "RegionReference", "Report", "SoftLink",
           "StaleError", "Type", "array",
           "check", "convert", "datareps", "diff", "enum_dtype", "export", "import_", "open", "pack",
           "raw", "register", "string_dtype", "unpack", "version", "vlen_dtype"]


def version() -> str:
    """The library's and the format's version."""
    return _core.version()


__version__ = version().split()[1] if len(version().split()) > 1 else version()
