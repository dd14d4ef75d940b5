# SPDX-License-Identifier: MIT
"""xarray with the engine netcdf4: what it writes comes back identical, and what it prints is the same: python_xarray.py FILE"""
import sys

import numpy as np
import pandas as pd
import xarray as xr

path = sys.argv[1]
rng = np.random.default_rng(1)
ds = xr.Dataset(
    {"t": (("time", "lat", "lon"), rng.random((6, 3, 4)).astype("f4"), {"units": "K"}),
     "n": (("time", "lat"), np.arange(18).reshape(6, 3)),
     "name": (("lat",), ["süd", "mitte", "nord"]),
     "flag": (("lat",), [True, False, True]),
     "gap": (("time",), [1, np.nan, 3, np.nan, 5, 6])},
    {"time": pd.date_range("2026-01-01", periods=6, freq="6h"), "lat": [-10., 0, 10], "lon": np.arange(4),
     "level": 500}, {"title": "xarray", "version": 3, "list": [1.5, 2.5]})
ds["dt"] = ("time", pd.to_timedelta(np.arange(6), "h"))
ds.to_netcdf(path, engine="netcdf4", unlimited_dims=["time"],
             encoding={"t": {"zlib": True, "complevel": 4, "chunksizes": (2, 3, 4)}, "n": {"dtype": "i2", "_FillValue": -1},
                       "gap": {"dtype": "i4", "scale_factor": 0.5, "_FillValue": -99}})
back = xr.open_dataset(path, engine="netcdf4")
print(back.load().identical(ds.assign(gap=ds.gap)), sorted(back.encoding["unlimited_dims"]))
print({k: back["t"].encoding[k] for k in ("zlib", "complevel", "chunksizes", "dtype")})
back.close()
ds.isel(time=0, drop=True)[["t", "name"]].to_netcdf(path, mode="a", group="first", engine="netcdf4")
with xr.open_dataset(path, engine="netcdf4", group="first") as g:
    print(g.identical(ds.isel(time=0, drop=True)[["t", "name"]]))
ds[["n"]].assign(n=ds.n * 2).to_netcdf(path, mode="a", engine="netcdf4")
with xr.open_dataset(path, engine="netcdf4", chunks={"time": 2}) as lazy:
    print(lazy.n.sum().compute().item(), lazy.t.isel(time=slice(None, None, -2), lon=[3, 0]).mean().compute().item())
    print(lazy.sel(time="2026-01-02").t.values.tolist())
    print(lazy)
with xr.open_mfdataset([path], engine="netcdf4") as several:
    print(several.t.dims)
