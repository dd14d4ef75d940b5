# SPDX-License-Identifier: MIT
"""Files that the processes of a communicator open together: open(path, mode, comm=...)."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Optional

from . import _core

# How mpi4py calls the MPI that it was built for, and our library for it.
_FAMILIES = {"Open MPI": "openmpi", "MPICH": "mpich", "MPICH2": "mpich", "MPICH1": "mpich",
             "MVAPICH": "mpich", "MVAPICH2": "mpich", "Intel MPI": "mpich"}


def libraries(family: str) -> list[str]:
    """Where our library for an MPI may be: beside the package, beside the library it uses, or where
    the system looks."""
    name = f"libdatarep-mpi-{family}.so.1"
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.dirname(os.path.realpath(os.path.join(here, "libdatarep.so.1")))
    found = [os.path.join(folder, name) for folder in (here, beside)]
    return [path for path in found if os.path.exists(path)] + [name]


def _call(MPI: Any, comm: Any, *args: Any) -> Any:
    """The handle of a file, by the library that fits mpi4py."""
    vendor = MPI.get_vendor()[0]
    family = _FAMILIES.get(vendor)
    if family is None:
        raise ImportError(f"comm: mpi4py uses {vendor}; there is a library of ours for Open MPI and "
                          "for the family of MPICH")
    path = libraries(family)[0]
    try:
        return _core.open_mpi(path, comm, *args)
    except ImportError:
        pass
    try:
        # The library of a wheel names no MPI: it takes that of mpi4py, once its symbols are global.
        ctypes.CDLL(MPI.__file__, mode=os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_GLOBAL)
        return _core.open_mpi(path, comm, *args)
    except (ImportError, OSError) as error:
        raise ImportError(f"comm: mpi4py uses {vendor}, and its libdatarep-mpi-{family} cannot be "
                          f"loaded: {error}") from None


def open(path: Any, mode: Any, datarep: Any, hints: Any, comm: Any) -> Any:
    """The file of open(path, mode, comm=comm)."""
    from . import file
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(f"comm needs mpi4py: {error}") from None
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is a communicator of mpi4py, not {type(comm).__name__}")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is COMM_NULL")
    if comm.Get_size() == 1 and not comm.Is_inter():
        return file.open(path, mode, datarep=datarep, hints=hints)
    if isinstance(path, (bytes, bytearray, memoryview)) or file.is_stream(path):
        raise TypeError("several processes share a file, which has a path")
    path = os.fsdecode(path)
    if path == ":memory:":
        raise ValueError("several processes share a file, not memory")
    if mode == "a" and not comm.Is_inter():
        mode = "r+" if comm.bcast(os.path.exists(path)) else "w"
    representation: Optional[str] = getattr(datarep, "name", datarep)
    handle = _call(MPI, comm, path, mode, representation, hints)
    return file.File._made(handle, mode, hints)
