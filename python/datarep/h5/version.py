# SPDX-License-Identifier: MIT
"""The version of h5py whose names these are, and of the HDF5 library that would have its features."""
from __future__ import annotations

version = "3.7.0"
version_tuple = (3, 7, 0)
api_version = "1.8"
hdf5_version = "1.10.8"
hdf5_version_tuple = (1, 10, 8)
hdf5_built_version_tuple = hdf5_version_tuple
info = "h5py's high-level names over Datarep files: no HDF5 library is loaded"
