# SPDX-License-Identifier: MIT
"""Datarep files through netCDF4 after `import datarep.netcdf`; each case in a process of its own."""
import os
import re
import subprocess
import sys

import datarep as dr
import numpy as np
import pytest

pytest.importorskip("netCDF4")
PACKAGE = os.path.dirname(dr.__file__)
MAGIC = b"\x89DRP\r\n\x1a\n"


def python(code, *arguments, **environment):
    """(status, what it printed) of a program."""
    env = {**os.environ, "PYTHONPATH": os.path.dirname(PACKAGE), **environment}
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          env=env, check=False)
    return done.returncode, done.stdout + done.stderr


def says(code, *arguments, **environment):
    status, text = python(code, *arguments, **environment)
    assert status == 0, text
    return text.strip()


if python("import datarep.netcdf")[0]:
    said = python("import datarep.netcdf")[1]
    if "is not installed" not in said:
        raise RuntimeError(said)
    pytest.skip("built without libdatarep-netcdf.so", allow_module_level=True)


@pytest.fixture(name="path")
def path_(tmp_path):
    made = tmp_path / "a.drep"
    with dr.open(str(made), "w", datarep="external32") as f:
        f.attrs["title"] = "a field"
        f.dims["time"], f.dims["x"] = None, 3
        f.create("time", np.arange(2.0), dims=["time"], attrs={"units": "days since 2000-01-01"})
        f.create("sst", np.arange(6.0).reshape(2, 3), dtype="f4", dims=["time", "x"], attrs={"units": "K"},
                 filters="shuffle,deflate:1")
    return made


@pytest.mark.parametrize("order", ["datarep.netcdf, netCDF4", "netCDF4, datarep.netcdf"])
def test_reads(path, order):
    text = says(f"""import sys, {order}
with netCDF4.Dataset(sys.argv[1]) as d:
    v = d["sst"]
    print(d.title, v.dimensions, v.units, v[1, ::2].tolist(), d.dimensions["time"].isunlimited())""", path)
    assert text == "a field ('time', 'x') K [3.0, 5.0] True"


@pytest.mark.parametrize("order, by_name", [("datarep.netcdf, netCDF4", True), ("netCDF4, datarep.netcdf", False)])
def test_writes(tmp_path, order, by_name):
    text = says(f"""import sys, {order}
for name in "named.drep", datarep.netcdf.url("url.drep"), datarep.netcdf.url("odd ?%&name.data"):
    with netCDF4.Dataset(name, "w") as d:
        d.createDimension("x", None)
        d.createVariable("v", "i2", ("x",), zlib=True)[:] = [1, 2, 3]
    with netCDF4.Dataset(name.removeprefix("file://").partition("#")[0], "a") as d:
        d["v"][3:5] = [4, 5]
        d.note = "appended"
print(datarep.netcdf.writes)""".replace('"named', f'"{tmp_path}/named').replace('url("', f'url("{tmp_path}/'))
    assert text == str(by_name)
    for name in ["url.drep", "odd ?%&name.data"] + ["named.drep"] * by_name:
        with dr.open(str(tmp_path / name)) as f:
            assert f["v"][...].tolist() == [1, 2, 3, 4, 5] and f.attrs["note"] == "appended"
    assert ((tmp_path / "named.drep").read_bytes()[:8] == MAGIC) == by_name


def test_xarray(path, tmp_path):
    pytest.importorskip("xarray")
    text = says("""import sys, datarep.netcdf, datarep.xarray, xarray as xr
with xr.open_dataset(sys.argv[1], engine="netcdf4") as a, xr.open_dataset(sys.argv[1], engine="datarep") as b:
    print(a.identical(b), str(a.time.values[1])[:10])
    a.to_netcdf(sys.argv[2], engine="netcdf4", unlimited_dims="time")
    a.to_netcdf(datarep.netcdf.url(sys.argv[3]), engine="netcdf4")
    for name in sys.argv[2:]:
        with xr.open_dataset(name, engine="datarep") as c:
            print(a.identical(c))""", path, tmp_path / "b.drep", tmp_path / "c.drep")
    assert text.split() == ["True", "2000-01-02", "True", "True"]


def test_other_files_stay_what_they_are(tmp_path):
    text = says("""import sys, netCDF4
with netCDF4.Dataset("x.drep", "w") as d:
    d.title = "netCDF-4"
import datarep.netcdf
print(open("x.drep", "rb").read(4), netCDF4.Dataset("x.drep").title)
with netCDF4.Dataset("y.nc", "w") as d:
    d.title = "another"
print(open("y.nc", "rb").read(4), netCDF4.Dataset("y.nc").title)""".replace('"x.', f'"{tmp_path}/x.')
                .replace('"y.', f'"{tmp_path}/y.'))
    assert text.splitlines() == ["b'\\x89HDF' netCDF-4", "b'\\x89HDF' another"]


def test_a_damaged_file_is_an_error(path):
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(raw)
    status, text = python("import sys, datarep.netcdf, netCDF4; netCDF4.Dataset(sys.argv[1])['sst'][...]", path)
    assert status == 1 and "Error" in text.splitlines()[-1]


# The module as it would be with another library, or where something is not there.
CHANGED = """import importlib.util, sys, datarep
spec = importlib.util.find_spec("datarep.netcdf")
module = importlib.util.module_from_spec(spec)
code = spec.loader.get_source("datarep.netcdf")
%s
exec(compile(code, spec.origin, "exec"), vars(module))"""


@pytest.mark.parametrize("change, why", [
    ("code = code.replace('libdatarep-netcdf.so', 'libnone.so')", r"libnone.so is not installed \(Debian: "),
    ("sys.modules['netCDF4'] = None", "datarep.netcdf needs netCDF4: "),
    ("code = code.replace('def _places() -> list[str]:', 'def _places():\\n    return [%r]\\ndef _other():' % sys.argv[1])",
     "cannot be loaded: .*(short|ELF|header)"),
    ("code = code.replace('library.datarep_netcdf_init()', '-128')",
     r"netCDF library of netCDF4 1\..* has no table of functions that libdatarep-netcdf.so knows"),
])
def test_what_is_missing_is_said(change, why, tmp_path):
    (tmp_path / "text.so").write_text("no library")
    status, text = python(CHANGED % change, tmp_path / "text.so")
    last = text.strip().splitlines()[-1]
    assert status == 1 and last.startswith("ImportError: ")
    assert re.search(why, last), last


@pytest.mark.parametrize("name", ["a#b", "a\nb", "a\x7fb"])
def test_names_that_no_url_holds(name):
    status, text = python("import sys, datarep.netcdf; datarep.netcdf.url(sys.argv[1])", name)
    assert status == 1 and "ValueError: a URL of netCDF cannot hold this path" in text
