#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""weather - two files of a forecast, as archives have them: weather.py FILE FIRST-STEP STEPS

Packed, deflated and plain variables over an unlimited time, missing values, names of stations, a level, CF's attributes.
The values depend on the steps alone, so that the first and second half of a series can be joined.
"""
import sys

import netCDF4
import numpy as np


def make(path, first, steps):
    with netCDF4.Dataset(path, "w", format="NETCDF4") as f:
        f.Conventions = "CF-1.8"
        f.title = "A forecast of nothing"
        for name, n in (("time", None), ("lev", 2), ("lat", 6), ("lon", 8), ("bnds", 2), ("station", 3), ("len", 5)):
            f.createDimension(name, n)

        def variable(name, kind, dims, data, more=None, **attrs):
            v = f.createVariable(name, kind, dims, **(more or {}))
            v.set_auto_maskandscale(False)
            v.setncatts(attrs)
            v[:] = data
            return v

        time = np.arange(first, first + steps, dtype="f8")
        variable("time", "f8", ("time",), time * 6, units="hours since 2026-01-01 00:00:00", calendar="standard",
                 standard_name="time", axis="T", bounds="time_bnds")
        variable("time_bnds", "f8", ("time", "bnds"), np.stack([time * 6 - 6, time * 6], 1))
        variable("lev", "f8", ("lev",), [1000, 500], units="hPa", axis="Z", positive="down", standard_name="air_pressure")
        variable("lat", "f8", ("lat",), np.linspace(-75, 75, 6), units="degrees_north", standard_name="latitude", axis="Y")
        variable("lon", "f8", ("lon",), np.arange(8) * 45., units="degrees_east", standard_name="longitude", axis="X")
        t, z, y, x = np.meshgrid(time, np.arange(2), np.arange(6), np.arange(8), indexing="ij")
        temp = (250 + 10 * z + 5 * np.cos(y) + np.sin(x + t)).astype("f4")
        temp[(x + y + t) % 11 == 0] = -999
        variable("ta", "f4", ("time", "lev", "lat", "lon"), temp, {"zlib": True, "shuffle": True, "fill_value": -999.},
                 units="K", standard_name="air_temperature", long_name="temperature", missing_value=np.float32(-999))
        t, y, x = t[:, 0], y[:, 0], x[:, 0]
        variable("pr", "i2", ("time", "lat", "lon"), (t * 100 + y * 10 + x).astype("i2"),
                 {"fill_value": np.int16(-32768), "chunksizes": (1, 6, 8)}, units="kg m-2 s-1", scale_factor=0.5,
                 add_offset=10., standard_name="precipitation_flux")
        variable("ps", "f8", ("time", "lat", "lon"), 1e5 + t * 7 + y / 3 - x * x, units="Pa", standard_name="surface_air_pressure")
        variable("orog", "f4", ("lat", "lon"), (y[0] * 100 + x[0]).astype("f4"), units="m", standard_name="surface_altitude")
        variable("name", "S1", ("station", "len"), np.array([list("Bonn "), list("Oslo "), list("Quito")], "S1"), long_name="station")
        variable("count", "i4", ("time",), (time * 3).astype("i4"), long_name="observations", units="1")


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
