# SPDX-License-Identifier: MIT
"""Files of HDF5, which are imported as they are opened for reading."""
from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import datarep

from ..errors import ConversionWarning, Error, shown

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LIMIT = 1 << 30  # bytes of a file that is imported into memory


def is_file(path: str) -> bool:
    """Whether a path is a file of HDF5, behind a user block or not."""
    try:
        with open(path, "rb") as f:
            size, at = os.fstat(f.fileno()).st_size, 0
            while at < size:
                f.seek(at)
                if f.read(8) == SIGNATURE:
                    return True
                at = at * 2 or 512
    except OSError:
        pass
    return False


def opened(path: str, mode: str) -> Any:
    """The file for reading: its import, in memory."""
    if mode != "r":
        raise OSError(f"Unable to open file: {shown(path)} is a file of HDF5, which is only read here: "
                      "datarep.import_() makes a Datarep file of it")
    size = os.path.getsize(path)
    if size > LIMIT:
        raise OSError(f"Unable to open file: {shown(path)} is a file of HDF5 of {size} bytes, and at most {LIMIT} "
                      "are imported into memory: datarep.import_() makes a Datarep file of it")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "imported.drep")
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                datarep.import_(path, target, plain=True)
        except (Error, FileNotFoundError) as error:
            raise OSError(f"Unable to open file: {shown(error)}") from error
        for row in told:
            warnings.warn(f"{shown(path)}: {shown(row.message)}", ConversionWarning, stacklevel=6)
        with open(target, "rb") as f:
            return datarep.open(f.read())
