# SPDX-License-Identifier: MIT
"""hdf5writers - files as the writers make them that users have: PyTables, pandas, h5netcdf, xarray, netCDF4, and
MATLAB, whose layout is made by hand.  A writer that is not installed makes none.
"""
import importlib.util
import warnings

import h5py
import numpy as np

warnings.filterwarnings("ignore")
WRITERS = []


def writer(group, *needs):
    """Registers a function that writes a file; several, if it gives names with functions."""
    def add(f):
        if all(importlib.util.find_spec(n) for n in needs):
            WRITERS.append((group, f.__name__.replace("_", " "), f))
        return f
    return add


def all_writers():
    return WRITERS


def add(group, name, f):
    WRITERS.append((group, name, f))


def noise(*shape):
    return np.round(np.cumsum(np.random.default_rng(3).normal(size=shape), axis=-1), 2)


# ---------------------------------------------------------------- PyTables

def tables_file(path):
    import tables
    return tables.open_file(path, "w", title="made by PyTables")


COMPRESSORS = ("zlib", "lzo", "bzip2", "blosc", "blosc:blosclz", "blosc:lz4", "blosc:lz4hc", "blosc:zlib", "blosc:zstd",
               "blosc:snappy")


def tables_array(library, shuffle, fletcher):
    def write(path):
        import tables
        with tables_file(path) as f:
            for dtype in ("i1", "u2", "i4", "i8", "f4", "f8", "c16"):
                f.create_carray("/", dtype, obj=noise(60, 70).astype(dtype), chunkshape=(20, 35),
                                filters=tables.Filters(5, library, shuffle, fletcher32=fletcher))
    return write


@writer("PyTables", "tables")
def tables_all(path):
    import tables

    class Row(tables.IsDescription):
        name = tables.StringCol(16)
        count = tables.Int64Col(pos=1)
        place = tables.Float32Col(shape=(2, 3))
        flag = tables.BoolCol()
        when = tables.Time64Col()
        kind = tables.EnumCol(["a", "b"], "a", base="uint8")

        class inner(tables.IsDescription):
            x = tables.ComplexCol(16)
            y = tables.UInt16Col(dflt=7)

    with tables_file(path) as f:
        group = f.create_group("/", "detector", "Detector")
        t = f.create_table(group, "readout", Row, "Readout", tables.Filters(1, "zlib"), expectedrows=1000)
        row = t.row
        for i in range(100):
            row["name"], row["count"], row["place"] = b"n%d" % i, i, np.full((2, 3), i)
            row["flag"], row["when"], row["inner/x"] = i % 2, i * 0.5, complex(i, -i)
            row.append()
        t.flush()
        t.cols.count.create_index()
        f.create_array(group, "plain", noise(5, 6), "an array")
        v = f.create_vlarray(group, "ragged", tables.Int32Atom())
        for i in range(6):
            v.append(np.arange(i))
        o = f.create_vlarray(group, "objects", tables.ObjectAtom())
        o.append({"a": 1})
        u = f.create_vlarray(group, "words", tables.VLUnicodeAtom())
        u.append("caf\u00e9")
        e = f.create_earray(group, "growing", tables.Float64Atom(), (0, 4))
        e.append(noise(10, 4))
        f.create_soft_link("/", "soft", "/detector/plain")
        f.create_hard_link("/", "hard", group.plain)
        f.create_external_link("/", "out", "other.h5:/x")
        f.root._v_attrs.numpy = np.arange(3)
        f.root._v_attrs.pickled = {"key": [1, 2]}


# ---------------------------------------------------------------- pandas

def frame():
    import pandas as pd
    n = 50
    return pd.DataFrame({"i": np.arange(n), "f": noise(n), "b": np.arange(n) % 3 == 0, "s": ["row %d" % i for i in range(n)],
                         "t": pd.date_range("2001-01-01", periods=n, freq="h")},
                        index=pd.date_range("2010-01-01", periods=n))


@writer("pandas", "pandas", "tables")
def pandas_fixed(path):
    frame().to_hdf(path, "frame", mode="w", format="fixed")


@writer("pandas", "pandas", "tables")
def pandas_table(path):
    frame().to_hdf(path, "frame", mode="w", format="table", data_columns=True)


@writer("pandas", "pandas", "tables")
def pandas_blosc(path):
    frame().to_hdf(path, "frame", mode="w", format="table", complib="blosc:zstd", complevel=5)


@writer("pandas", "pandas", "tables")
def pandas_categories(path):
    import pandas as pd
    frame().assign(c=pd.Categorical(["a", "b"] * 25)).to_hdf(path, "frame", mode="w", format="table")


@writer("pandas", "pandas", "tables")
def pandas_series_and_levels(path):
    import pandas as pd
    with pd.HDFStore(path, "w") as store:
        store["series"] = pd.Series(noise(20), name="x")
        store["levels"] = pd.DataFrame({"v": noise(6)}, index=pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]]))
        store["empty"] = pd.Series([], dtype="f8")


# ---------------------------------------------------------------- netCDF-4

def xarray_sample():
    import pandas as pd
    import xarray as xr
    return xr.Dataset({"t": (("time", "y", "x"), noise(8, 9, 10).astype("f4"), {"units": "K", "valid_range": [0.0, 400.0]}),
                       "n": (("y", "x"), np.arange(90, dtype="i2").reshape(9, 10)), "name": ((), "a name"),
                       "flags": (("x",), np.arange(10) % 2 == 0)},
                      coords={"time": pd.date_range("2000-01-01", periods=8), "y": np.linspace(-40, 40, 9), "x": np.arange(10.0),
                              "area": (("y", "x"), noise(9, 10))}, attrs={"title": "xarray", "version": 3})


for engine in ("netcdf4", "h5netcdf"):
    for how, encoding in (("plain", {}), ("packed", {"t": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -999}}),
                          ("deflated", {"t": {"zlib": True, "shuffle": True, "complevel": 4, "chunksizes": (2, 9, 10)}}),
                          ("summed", {"t": {"fletcher32": True}})):
        def write_xarray(path, engine=engine, encoding=encoding):
            xarray_sample().to_netcdf(path, engine=engine, format="NETCDF4", encoding=encoding)
        if all(importlib.util.find_spec(n) for n in ("xarray", {"netcdf4": "netCDF4"}.get(engine, engine))):
            add("xarray", "%s %s" % (engine, how), write_xarray)


def netcdf_types(f):
    c = f.createCompoundType(np.dtype([("a", "i4"), ("b", "f8", (2,))]), "pair")
    v = f.createVLType("i2", "ragged")
    e = f.createEnumType("u1", "cloud", {"clear": 0, "rain": 1, "snow": 7})
    f.createDimension("n", 4)
    x = f.createVariable("c", c, ("n",))
    x[:] = np.array([(i, (i, -i)) for i in range(4)], c.dtype_view if hasattr(c, "dtype_view") else c.dtype)
    y = f.createVariable("v", v, ("n",))
    for i in range(4):
        y[i] = np.arange(i, dtype="i2")
    f.createVariable("e", e, ("n",), fill_value=7)[:] = [0, 1, 7, 0]
    f.createVariable("s", str, ("n",))[:] = np.array(["a", "", "caf\u00e9", "x" * 300], object)


def netcdf_groups(f):
    for name in ("a", "a/b", "c"):
        g = f.createGroup(name)
        g.createDimension("d" + name[-1], 3)
        g.createVariable("v", "f8", ("d" + name[-1],))[:] = noise(3)
        g.setncattr("path", name)
    f.createDimension("time", None)
    f["a/b"].createVariable("t", "i4", ("time", "db"))[0:2] = 5


def netcdf_unlimited(f):
    for name in ("x", "y", "z"):
        f.createDimension(name, None)
    f.createVariable("xyz", "i4", ("x", "y", "z"))[0:2, 0:3, 0:4] = np.arange(24).reshape(2, 3, 4)
    f.createVariable("xy", "f4", ("x", "y"), zlib=True)[0:2, 0:3] = noise(2, 3)
    f.createVariable("x", "f8", ("x",))[0:2] = [1, 2]


def netcdf_orders(f):
    f.createDimension("n", 100)
    for endian in ("big", "little"):
        for t in ("i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8"):
            f.createVariable("%s %s" % (t, endian), t, ("n",), endian=endian)[:] = np.arange(100)


def netcdf_scalars(f):
    f.createVariable("scalar", "f8")[...] = 3.5
    f.createVariable("text", "S1", ())[...] = b"x"
    f.createDimension("len", 12)
    f.createVariable("letters", "S1", ("len",))[:] = np.frombuffer(b"hello world ", "S1")
    for name, value in (("i", np.int8(3)), ("u", np.uint64(2 ** 63)), ("f", np.float32(0.1)), ("many", np.arange(5)),
                        ("text", "plain"), ("texts", ["a", "b"]), ("empty", "")):
        f.setncattr(name, value)


def netcdf_without_values(f):
    f.createDimension("n", 10)
    f.createVariable("never", "f4", ("n",))
    f.createVariable("unfilled", "i4", ("n",), fill_value=False)
    f.createVariable("half", "i4", ("n",), chunksizes=(5,))[0:5] = 1


for make_netcdf in (netcdf_types, netcdf_groups, netcdf_unlimited, netcdf_orders, netcdf_scalars, netcdf_without_values):
    for model in ("NETCDF4", "NETCDF4_CLASSIC"):
        if model == "NETCDF4_CLASSIC" and make_netcdf in (netcdf_types, netcdf_groups, netcdf_orders, netcdf_unlimited,
                                                          netcdf_scalars):
            continue

        def write_netcdf(path, make_netcdf=make_netcdf, model=model):
            import netCDF4
            with netCDF4.Dataset(path, "w", format=model) as f:
                make_netcdf(f)
        if importlib.util.find_spec("netCDF4"):
            add("netCDF4", make_netcdf.__name__[7:] + (" classic" if "CLASSIC" in model else ""), write_netcdf)


@writer("h5netcdf", "h5netcdf")
def h5netcdf_plain(path):
    import h5netcdf
    with h5netcdf.File(path, "w") as f:
        f.dimensions = {"x": 5, "t": None}
        v = f.create_variable("v", ("x",), float)
        v[:] = noise(5)
        v.attrs["units"] = "m"
        g = f.create_group("g")
        g.create_variable("w", ("t", "x"), "i4", chunks=(1, 5), compression="gzip")


# ---------------------------------------------------------------- MATLAB 7.3

def matlab(path, fill):
    """A user block of 512 bytes with the header, and the attributes MATLAB_class and so on."""
    with h5py.File(path, "w", userblock_size=512, libver="earliest") as f:
        fill(f)
    with open(path, "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\x00\x02IM")


def matlab_array(g, name, data, cls, **attrs):
    d = g.create_dataset(name, data=data, **({"chunks": True, "compression": 3} if np.size(data) > 100 else {}))
    d.attrs["MATLAB_class"] = np.bytes_(cls)
    for k, v in attrs.items():
        d.attrs[k] = v
    return d


def matlab_numbers(f):
    for t in ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        kind = {"double": "f8", "single": "f4"}.get(t) or t.replace("uint", "u").replace("int", "i")
        kind = kind if kind in ("f8", "f4") else kind[0] + str(int(kind[1:]) // 8)
        matlab_array(f, t, noise(20, 30).astype(kind), t)
    matlab_array(f, "complex", noise(4, 5).astype([("real", "f8"), ("imag", "f8")]), "double")
    matlab_array(f, "empty", np.array([0, 3], "u8"), "double", MATLAB_empty=np.uint8(1))
    matlab_array(f, "logical", np.array([[1, 0, 1]], "u1"), "logical", MATLAB_int_decode=np.int32(1))


def matlab_texts(f):
    matlab_array(f, "text", np.array([[ord(c)] for c in "hello"], "u2"), "char", MATLAB_int_decode=np.int32(2))
    matlab_array(f, "letters", np.array([[0xe9], [0x4e2d]], "u2"), "char", MATLAB_int_decode=np.int32(2))


def matlab_cells(f):
    refs = f.create_group("#refs#")
    a = matlab_array(refs, "a", noise(3, 4), "double")
    b = matlab_array(refs, "b", np.array([[ord(c)] for c in "cell"], "u2"), "char", MATLAB_int_decode=np.int32(2))
    c = matlab_array(refs, "c", np.array([[a.ref], [b.ref]], h5py.ref_dtype), "cell")
    matlab_array(f, "cell", np.array([[a.ref, b.ref, c.ref]], h5py.ref_dtype), "cell")


def matlab_structs(f):
    g = f.create_group("s")
    g.attrs["MATLAB_class"] = np.bytes_("struct")
    g.attrs.create("MATLAB_fields", np.array([np.frombuffer(b"name", "S1"), np.frombuffer(b"value", "S1")], object),
                   dtype=h5py.vlen_dtype(np.dtype("S1")))
    matlab_array(g, "value", noise(2, 2), "double")
    matlab_array(g, "name", np.array([[110], [49]], "u2"), "char", MATLAB_int_decode=np.int32(2))
    refs = f.create_group("#refs#")
    x = matlab_array(refs, "x", noise(1, 1), "double")
    many = f.create_group("many")
    many.attrs["MATLAB_class"] = np.bytes_("struct")
    many.create_dataset("v", data=np.array([[x.ref], [x.ref]], h5py.ref_dtype))


def matlab_sparse(f):
    g = f.create_group("sparse")
    g.attrs["MATLAB_class"] = np.bytes_("double")
    g.attrs["MATLAB_sparse"] = np.uint64(10)
    g["data"], g["ir"], g["jc"] = noise(4), np.array([0, 3, 3, 9], "u8"), np.array([0, 1, 2, 4], "u8")


for make_matlab in (matlab_numbers, matlab_texts, matlab_cells, matlab_structs, matlab_sparse):
    def write_matlab(path, make_matlab=make_matlab):
        matlab(path, make_matlab)
    add("MATLAB's layout", make_matlab.__name__[7:], write_matlab)


# ---------------------------------------------------------------- random ones of h5py

for seed in range(12):
    def write_random(path, seed=seed):
        rng = np.random.default_rng(1000 + seed)
        with h5py.File(path, "w", track_order=bool(seed % 2), libver=("earliest", "latest")[seed // 2 % 2]) as f:
            groups = [f]
            for i in range(int(rng.integers(3, 9))):
                parent = groups[int(rng.integers(len(groups)))]
                if rng.random() < 0.4:
                    groups.append(parent.create_group("g%d" % i))
                    groups[-1].attrs["n"] = i
                    continue
                shape = tuple(int(n) for n in rng.integers(1, 12, int(rng.integers(0, 4))))
                kind = rng.choice(["<i4", ">f8", "u1", "<f4", ">i2", "S5", "c16"])
                data = np.round(rng.normal(size=shape) * 50).astype(kind)
                how = {"chunks": True, "compression": 2, "shuffle": True} if shape and rng.random() < 0.5 else {}
                if how and rng.random() < 0.5:
                    how["maxshape"] = (None,) * len(shape)
                parent.create_dataset("d%d" % i, data=data, **how).attrs["text"] = "number %d" % i
    add("h5py at random", "seed %d" % seed, write_random)

if importlib.util.find_spec("tables"):
    for compressor in COMPRESSORS:
        add("PyTables", compressor, tables_array(compressor, compressor not in ("lzo", "bzip2"), False))
    add("PyTables", "zlib and sums", tables_array("zlib", True, True))
