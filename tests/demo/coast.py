# SPDX-License-Identifier: MIT
"""coast - makes a small netCDF-4 file like those of gmt-gshhg-low: coast.py FILE"""
import sys

import h5py
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t


def text(dset, name, value, size):
    t = h5t.C_S1.copy()
    t.set_size(size)
    a = h5a.create(dset, name.encode(), t, h5s.create(h5s.SCALAR))
    a.write(np.array(value.encode(), "S%d" % size))


def dimension(f, name, length):
    """A dimension without a variable, as the netCDF library writes it."""
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    dset = h5d.create(f.id, name.encode(), h5t.IEEE_F32BE, h5s.create_simple((length,)), plist)
    text(dset, "CLASS", "DIMENSION_SCALE", 16)
    text(dset, "NAME", "This is a netCDF dimension but not a netCDF variable.%10d" % length, 64)
    return f[name]


def main():
    rng = np.random.default_rng(1)
    points = np.cumsum(rng.integers(-90, 91, 20000)).astype("<i2")
    with h5py.File(sys.argv[1], "w", track_order=True) as f:
        f.attrs["title"] = np.array(b"A coast that nobody has seen", "S28")
        one = dimension(f, "Dimension_of_scalar", 1)
        many = dimension(f, "Dimension_of_point_arrays", len(points))
        n = f.create_dataset("N_points_in_file", data=np.array([len(points)], "<i4"))
        n.dims[0].attach_scale(one)
        for which in ("longitude", "latitude"):
            d = f.create_dataset("Relative_%s_from_SW_corner_of_bin" % which, data=points, chunks=(10000,),
                                 compression=9, shuffle=True)
            d.attrs["units"] = np.array(b"1/65535 of 10 degrees", "S21")
            d.dims[0].attach_scale(many)


main()
