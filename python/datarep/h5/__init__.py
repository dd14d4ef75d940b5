# SPDX-License-Identifier: MIT
"""h5py's high-level names over Datarep files, for scripts that were written for h5py.

>>> import datarep.h5 as h5py, numpy as np, os, tempfile
>>> path = os.path.join(tempfile.mkdtemp(), "run.drep")
>>> with h5py.File(path, "w") as f:
...     ds = f.create_dataset("a/b", data=np.arange(6).reshape(2, 3), compression="gzip")
...     ds.attrs["units"] = "m"
>>> with h5py.File(path) as f:
...     print(f["a/b"][1, ::2], f["a/b"].attrs["units"])
[3 5] m

The files are Datarep's: `datarep import` and `export` turn files of HDF5 into them and back.  What belongs
to the HDF5 library raises NotImplementedError: h5py's low-level modules, virtual and external storage,
scale-offset, new user blocks (those of imported files are kept), objects without names.

Files of HDF5 are read, too (mode "r"): they are imported into memory, up to 1 GiB.  `install()` puts the
module into h5py's place, for libraries that import h5py themselves.  Handles stay with their objects, and
files that are opened twice in one process share what was written, as in h5py.
"""
from __future__ import annotations

from typing import Any

from ..attrs import Empty
from ..types import Reference, RegionReference
from . import dims, filters, ids, low, version
from .attrs import AttributeManager
from .base import HLObject, is_hdf5
from .dataset import Dataset, MultiBlockSlice
from .files import File, register_driver, registered_drivers, unregister_driver
from .names import install, uninstall
from .group import Datatype, ExternalLink, Group, HardLink, SoftLink
from .types import (check_dtype, check_enum_dtype, check_opaque_dtype,
                    check_ref_dtype, check_string_dtype, check_vlen_dtype, enum_dtype, opaque_dtype,
                    ref_dtype, regionref_dtype, special_dtype, string_dtype,
                    string_info, vlen_dtype)

__all__ = ["AttributeManager", "Dataset", "Datatype", "Empty", "ExternalLink", "File", "Group",
           "HLObject", "HardLink", "MultiBlockSlice", "Reference", "RegionReference", "SoftLink",
           "UNLIMITED", "VirtualLayout", "VirtualSource", "check_dtype", "check_enum_dtype",
           "check_opaque_dtype", "check_ref_dtype", "check_string_dtype", "check_vlen_dtype",
           "enum_dtype", "filters", "install", "is_hdf5", "opaque_dtype", "ref_dtype", "register_driver",
           "registered_drivers", "regionref_dtype", "special_dtype", "string_dtype",
           "uninstall", "unregister_driver", "version", "vlen_dtype"]

__version__ = version.version
UNLIMITED = -1

globals().update({name: low.Module(name) for name in low.NAMES})


class VirtualLayout:
    """Virtual datasets belong to the HDF5 library.

    >>> try:
    ...     h5py.VirtualLayout((3,), "f8")
    ... except NotImplementedError:
    ...     print("not here")
    not here
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        raise NotImplementedError("virtual datasets belong to the HDF5 library: datarep.h5 cannot "
                                  "store them")


class VirtualSource(VirtualLayout):
    """As VirtualLayout.

    >>> issubclass(h5py.VirtualSource, h5py.VirtualLayout)
    True
    """


class Config:
    """h5py's settings that scripts ask for."""

    mpi = ros3 = direct_vfd = swmr = default_file_mode = track_order = False
    vds_min_hdf5_version, swmr_min_hdf5_version = (1, 9, 233), (1, 9, 178)
    complex_names, bool_names = ("r", "i"), (b"FALSE", b"TRUE")


def get_config() -> Config:
    """What can be done: nothing of this belongs to the package."""
    return Config()


def _filter_avail(code: int) -> bool:
    return code in (filters.DEFLATE, filters.SHUFFLE, filters.FLETCHER32, filters.LZF)


def _get_filter_info(code: int) -> int:
    """Of what a filter is capable: each one here encodes (1) and decodes (2)."""
    if not _filter_avail(code):
        raise RuntimeError(f"Unable to get filter info (filter {code} is not available)")
    return 3


globals()["h5"].get_config = get_config
filters.h5z = globals()["h5z"]  # type: ignore[attr-defined]  # hdmf looks for it there
globals()["h5t"].__dict__.update(
    ids.H5T, **{name: globals()[name] for name in __all__ if name.endswith("_dtype")},
    string_info=string_info)
globals()["h5s"].__dict__.update(ids.H5S)
globals()["h5a"].__dict__.update(ids.H5A)
globals()["h5d"].__dict__.update(ids.H5D)
globals()["h5p"].__dict__.update(ids.H5P)
globals()["h5r"].__dict__.update(ids.H5R)
globals()["h5ds"].__dict__.update(dims.H5DS)
globals()["h5z"].__dict__.update(
    filter_avail=_filter_avail, get_filter_info=_get_filter_info, FILTER_CONFIG_ENCODE_ENABLED=1,
    FILTER_CONFIG_DECODE_ENABLED=2, FILTER_MAX=65535, FILTER_DEFLATE=filters.DEFLATE, FILTER_SHUFFLE=filters.SHUFFLE,
    FILTER_FLETCHER32=filters.FLETCHER32, FILTER_LZF=filters.LZF, FILTER_SZIP=4)
