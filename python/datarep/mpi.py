# SPDX-License-Identifier: MIT
"""Files that the processes of a communicator open together."""
from __future__ import annotations

from typing import Any, Optional


def open(path: Any, mode: str, datarep: Optional[str], hints: Any, comm: Any) -> Any:
    """open(comm=...): a communicator of one process is none; more need libdatarep-mpi."""
    from . import file
    size = getattr(comm, "Get_size", None)
    if size is None:
        raise TypeError(f"comm is a communicator of mpi4py, not {type(comm).__name__}")
    if size() == 1 or mode == "r":
        return file.open(path, mode, datarep=datarep, hints=hints)
    raise NotImplementedError("this build has no libdatarep-mpi: several processes can read a file, "
                              "and one of them can write")
