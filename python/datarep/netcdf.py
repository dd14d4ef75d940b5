# SPDX-License-Identifier: MIT
"""Datarep files through netCDF4: netCDF4.Dataset("a.drep"), xr.open_dataset("a.drep", engine="netcdf4").

`import datarep.netcdf` makes Datarep files a format of the netCDF library that netCDF4 has loaded; what
uses netCDF4 then reads them like netCDF-4 files, for as long as the process lives.  New files become
Datarep files when their names end in .drep, if this module was imported before netCDF4 was; else, and in
any case, when their name is a URL, which `url` makes.

>>> import os, tempfile, datarep.netcdf, netCDF4
>>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
>>> with netCDF4.Dataset(datarep.netcdf.url(path), "w") as d:
...     _ = d.createDimension("x", 3)
...     d.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
>>> with netCDF4.Dataset(path) as d:
...     print(d["v"][:].tolist())
[1.0, 2.0, 3.0]
>>> with dr.open(path) as f:
...     print(f["v"][:].tolist())
[1.0, 2.0, 3.0]

ImportError says what is missing: netCDF4, our library for netCDF, or a netCDF library that it knows.
"""
from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

__all__ = ["url", "writes"]

_NAME = "libdatarep-netcdf.so"


def _places() -> list[str]:
    """Where the library may be: in a wheel, beside the library that the package uses, and where
    `make install` puts it, from there or from the command."""
    here = os.path.dirname(os.path.abspath(__file__))
    core = os.path.dirname(os.path.realpath(os.path.join(here, "libdatarep.so.1")))
    command = os.path.dirname(os.path.realpath(os.path.join(here, "bin", "datarep")))
    try:
        # A distribution's package uses the library where the linker finds it.
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
            loaded = [os.path.dirname(line.split(maxsplit=5)[5]) for line in f if "/libdatarep.so." in line]
    except OSError:
        loaded = []
    folders = [os.path.join(here, "lib"), core, *loaded[:1], command,
               os.path.join(os.path.dirname(command), "lib")]
    return [os.path.join(folder, name) for folder in folders for name in (_NAME, os.path.join("datarep", _NAME))]


def _load() -> tuple[Any, bool]:
    """The library, loaded, and whether it was there before netCDF4."""
    path = next((p for p in _places() if os.path.exists(p)), None)
    if path is None:
        raise ImportError(f"{_NAME} is not installed (Debian: datarep-netcdf), or the package was built "
                          "without the headers of netCDF (libnetcdf-dev)", name=__name__)
    first = "netCDF4" not in sys.modules or _NAME in os.environ.get("LD_PRELOAD", "")
    try:
        # Its nc_create() is found before that of netCDF4's library, which is loaded later.
        return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL), first
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded: {error}", name=__name__, path=path) from None


def _enter() -> bool:
    """Registers the format with netCDF4's library; whether new files are known by their names."""
    library, first = _load()
    try:
        import netCDF4  # type: ignore[import]
    except ImportError as error:
        raise ImportError(f"datarep.netcdf needs netCDF4: {error}", name=__name__) from None
    if library.datarep_netcdf_init() != 0:
        raise ImportError("the format cannot be registered: the netCDF library of netCDF4 "
                          f"{netCDF4.__version__}, {netCDF4.__netcdf4libversion__}, has no table of functions that "
                          f"{_NAME} knows (netCDF-C 4.8.1 to 4.10), or its user-defined formats are all taken",
                          name=__name__)
    return first


def url(path: Any) -> str:
    """The URL by which netCDF makes a Datarep file, whatever the end of its name: netCDF4.Dataset(url, "w"),
    Dataset.to_netcdf(url, engine="netcdf4").  Later the path opens it; netCDF4 looks for a file with the name
    of the URL, so that "a" would make a new one.

    ValueError for a name with "#" or a control character, which a URL of netCDF cannot hold.

    >>> import datarep.netcdf
    >>> datarep.netcdf.url("/data/out.drep")
    'file:///data/out.drep#mode=netcdf-4,udf0'
    """
    path = os.path.abspath(os.fsdecode(path))
    if any(c == "#" or c < " " or c == "\x7f" for c in path):
        raise ValueError(f"a URL of netCDF cannot hold this path: {path!r}")
    return f"file://{path}#mode=netcdf-4,udf0"


writes: bool = _enter()
"""True if netCDF4.Dataset("out.drep", "w") makes a Datarep file; else a URL is needed."""
