# SPDX-License-Identifier: MIT
"""Messages name the argument, what was given and what would do: their exact words."""
import datetime
import decimal
import errno
import fractions
import pathlib

import numpy as np
import pytest

import datarep as dr

FILTERS = "shuffle, bitshuffle, delta, deflate, zstd, lz4, hdf5-lz4, lzf, hdf5-bitshuffle, blosc are built in"


class Frame:
    """As pandas' tables are recognized."""

    def to_records(self):
        raise AssertionError


@pytest.fixture(scope="module")
def f():
    with dr.open(":memory:", "w") as f:
        f.dims["time"] = None
        f.dims["lat"] = 3
        f["x"] = [1, 2, 3]
        f["y"] = [0.5]
        f["s"] = ["a"]
        f["b"] = np.array([b"abc"])
        f["t"] = np.array(["2020-01-01"], "M8[D]")
        f["p"] = np.array([3], "m8[s]")
        f.create("v", dtype=dr.vlen_dtype("i4"), shape=(2,))
        f.create("r", dtype=[("a", "i4"), ("b", "f8")], shape=(2,))
        f.create_group("g")
        yield f


def new(**arguments):
    return lambda f: f.create("n", **arguments)


def put(name, value, key=0):
    return lambda f: f[name].__setitem__(key, value)


def hint(**hints):
    return lambda f: dr.open(":memory:", "w", hints=hints)


# What no type of a file holds, and what to give instead: refused at every door in the same words.
VALUES = [
    ({"a": 1}, "a dict cannot be stored: give json.dumps(value), or make a group and store its values one by one"),
    ({3, 1}, "a set cannot be stored: give sorted(value), a list"),
    (decimal.Decimal("1.5"), "a Decimal cannot be stored: give float(value), or str(value) to keep every digit"),
    (fractions.Fraction(1, 3), "a Fraction cannot be stored: give float(value), or str(value) to keep every digit"),
    (datetime.time(3), "a time cannot be stored: give value.isoformat()"),
    (pathlib.PurePath("/a"), f"a {type(pathlib.PurePath('/a')).__name__} cannot be stored: give str(value)"),
    (iter([1]), "a list_iterator cannot be stored: give list(value)"),
    (object(), "an object cannot be stored: numbers, texts, bytes, dates, and lists and arrays of them can be "
               "stored"),
    (Frame(), "a DataFrame cannot be stored as it is: give frame.to_records(), which is an array of structs "
              "(index=False leaves the index out)"),
    ([1, None], "element (1,) is None, which cannot be stored: give what stands for a missing value, such as nan"),
    ([decimal.Decimal(1)], "element (0,) is a Decimal, which cannot be stored: give float(value), or str(value) "
                           "to keep every digit"),
    ([1, "a"], "int and str in one list have no common type: elements are all numbers, all texts, all bytes or "
               "all dates"),
]

DOORS = {
    "f[name]": (lambda f, v: f.__setitem__("n", v), "/n: "),
    "create": (lambda f, v: f.create("g/n", v), "/g/n: "),
    "dtype": (lambda f, v: f.create("n", v, dtype="f8"), "/n: "),
    "fill": (lambda f, v: f.create("n", dtype="f8", shape=2, fill=v), "/n: fill: "),
    "floats": (lambda f, v: f["y"].__setitem__(..., v), "/y: "),
    "texts": (lambda f, v: f["s"].__setitem__(..., v), "/s: "),
    "write": (lambda f, v: f["x"].write(v), "/x: "),
    "append": (lambda f, v: f["x"].append(v), "/x: "),
    "attribute": (lambda f, v: f.attrs.__setitem__("a", v), "attribute 'a': "),
    "pack": (lambda f, v: dr.pack("external32", v), "value: "),
}


@pytest.mark.parametrize("door", DOORS)
def test_values_that_cannot_be_stored(f, door):
    call, prefix = DOORS[door]
    for value, text in VALUES:
        with pytest.raises(TypeError) as caught:
            call(f, value)
        assert str(caught.value) == prefix + text
    assert "n" not in f and "n" not in f["g"] and "a" not in f.attrs


REFUSED = [
    # names of dimensions, and how many there are of what
    (new(dtype="f8", dims=["time", "lon"]), KeyError,
     ":memory:: /n: dims: /: no dimension 'lon'; there are time, lat; to make it, give shape= or say dims['lon'] = "
     "length first"),
    (new(dtype="f8", dims=["/#lon"]), KeyError,
     ":memory:: /n: dims: /#lon: no dimension \"lon\"; to make it, give shape= or say dims['/#lon'] = length first"),
    (lambda f: f["g"].dims["lon"], KeyError, ":memory:: /g: no dimension 'lon'; there are time, lat"),
    (new(dtype="f8", dims="lat"), TypeError, "/n: dims: a list of names is needed, not 'lat'"),
    (new(dtype="f8", dims=[None]), ValueError, "/n: dims: a dimension without a name needs shape="),
    (new(dtype="f8", shape=(2, 3), dims=["time"]), ValueError, "/n: dims: 1 for 2 dimensions, shape (2, 3)"),
    (new(dtype="f8", shape=(2, 3), chunks=(2,)), ValueError, "/n: chunks: 1 for 2 dimensions, shape (2, 3)"),
    (new(dtype="f8", shape=(2, 3), maxshape=(2,)), ValueError, "/n: maxshape: 1 for 2 dimensions, shape (2, 3)"),
    (new(dtype="f8", shape=(2, 3), chunks="auto"), TypeError, "/n: chunks: integers are needed, not 'auto'"),
    (new(dtype="f8", shape="abc"), TypeError, "/n: shape: integers are needed, not 'abc'"),
    (new(dtype="f8", shape=(1.5,)), TypeError, "/n: shape: integers are needed, not (1.5,)"),
    (lambda f: f.dims.__setitem__("z", "3"), TypeError,
     "/#z: a length is needed, or None for an unlimited dimension, not '3'"),
    # filters and words
    (new(dtype="f8", shape=3, filters="gzip:4"), NotImplementedError,
     f':memory:: dataset "/n": filter "gzip" is not registered; it is called deflate here; {FILTERS}'),
    (new(dtype="f8", shape=3, filters="zst"), NotImplementedError,
     f':memory:: dataset "/n": filter "zst" is not registered; {FILTERS}'),
    (new(dtype="f8", shape=3, filters="lzf:4"), ValueError,
     ':memory:: dataset "/n": filter lzf: level 4; it has none'),
    (new(dtype="f8", shape=3, filters="zstd:high"), ValueError,
     "filters: 'zstd:high': a level is a number, as in \"zstd:3\""),
    (new(dtype="f8", shape=3, filters=[3]), TypeError, "filters: a filter is a name or (name, level), not 3"),
    (new(dtype="f8", shape=3, layout="odd"), ValueError,
     "layout: 'odd' is none of auto, compact, contiguous, chunked"),
    (lambda f: f["x"].write(3, range="odd"), ValueError, "range: 'odd' is none of default, wrap, clamp, strict, round"),
    (lambda f: f["x"].write(3, threads="all"), TypeError,
     "threads: a number is needed, 0 for the file's, not 'all'"),
    (new(), TypeError, "/n: data or dtype= is needed"),
    (lambda f: f.__setitem__("x", [4]), ValueError,
     ':memory:: dataset "/x": "x" exists already: assign to its [...] to write its elements, or delete it first'),
    # dtypes
    (new(dtype="INT23_T", shape=3), TypeError,
     "dtype: 'INT23_T' is neither a dtype of NumPy, as \"f8\" is, nor a datatype, as \"INT32_T\" is; did you mean "
     'INT32_T? (datatype: column 1: expected a datatype)'),
    (new(dtype=3.5, shape=3), TypeError, "dtype: there is none for a value of class float"),
    (lambda f: f["x"].astype("flt"), TypeError,
     "dtype: 'flt' is neither a dtype of NumPy, as \"f8\" is, nor a datatype, as \"INT32_T\" is (datatype: "
     "column 1: expected a datatype)"),
    (lambda f: dr.enum_dtype(3), TypeError, "values: a dict of names and integers is needed, not int"),
    (lambda f: dr.enum_dtype({"a": "b"}), TypeError, "values: names are str and values integers, not 'a': 'b'"),
    # elements of another kind
    (put("x", "3"), TypeError, "/x: texts cannot be stored as elements of int64: give int() or float() of each"),
    (put("x", b"3"), TypeError, "/x: bytes cannot be stored as elements of int64: give numpy.frombuffer(value, dtype)"),
    (put("x", datetime.date(2020, 1, 1)), TypeError,
     "/x: dates cannot be stored as elements of int64: give the numbers that the units of the dataset mean"),
    (put("s", 3), TypeError, "/s: elements of int64 cannot be stored as texts: give str() of each"),
    (put("s", datetime.date(2020, 1, 1)), TypeError, "/s: dates cannot be stored as texts: give str() of each"),
    (put("b", 3), TypeError,
     "/b: elements of int64 cannot be stored as bytes: give numpy.bytes_ values, or str() of each"),
    (put("t", 3), TypeError,
     "/t: elements of int64 cannot be stored as dates: give numpy.datetime64(number, unit)"),
    (put("t", "2020"), TypeError, "/t: texts cannot be stored as dates: give numpy.datetime64(text)"),
    (put("p", 3), TypeError,
     "/p: elements of int64 cannot be stored as durations: give numpy.timedelta64(number, unit)"),
    (put("x", 1.5), ValueError,
     ":memory:: /x: the value is 1.5, which no int64 equals: round it first, or say how with range="),
    (put("v", None), TypeError, "/v: the value is None, which is no sequence: give an empty list"),
    (put("r", 3), TypeError, "/r: a struct is a tuple of 2 values (a, b), not an int"),
    (put("r", (1, 2.0, 3)), TypeError, "/r: a struct is a tuple of 2 values (a, b), not a tuple of 3"),
    (put("r", np.zeros(1, [("c", "i4")]), slice(1)), TypeError,
     "/r: structs of c cannot be stored as structs of a, b: give an array with these members, or view() some of "
     "them"),
    (lambda f: f.__setitem__("n", [[1], [1, 2]]), ValueError,
     "/n: its rows have different lengths: say dtype=datarep.vlen_dtype(...) to store each as a sequence"),
    (lambda f: f.attrs.__setitem__("a", datetime.date(2020, 1, 1)), TypeError,
     "attribute 'a': a date cannot be stored as an attribute: give its text, str(value), or a number and another "
     "attribute with its units"),
    (lambda f: f.attrs.__setitem__(3, 1), TypeError, "the name of an attribute is a str, not int"),
    (lambda f: f.attrs[3], TypeError, "the name of an attribute is a str, not int"),
    (lambda f: f.attrs.__setitem__("a", datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)), ValueError,
     "attribute 'a': a time with a time zone cannot be stored: give it in UTC without one, "
     "value.astimezone(datetime.timezone.utc).replace(tzinfo=None)"),
    # open
    (hint(drep_snyc="none"), ValueError, "hint drep_snyc: there is none of this name; datarep-hints(7) lists all"),
    (hint(drep_sync="off"), ValueError, 'hint drep_sync: "off" is not among: commit none'),
    (hint(cb_nodes="many"), ValueError, 'hint cb_nodes: "many" is not an integer, at least 1'),
    (lambda f: f.set_hints(drep_threads="all"), ValueError,
     'hint drep_threads: "all" is not an integer, at least 0'),
    (lambda f: dr.open(":memory:", "w", hints="drep_sync"), TypeError, "hints: a dict is needed, not str"),
    (lambda f: dr.open("x", "rw"), ValueError, "mode: 'rw' is none of r, r+, a, w, x"),
    (lambda f: dr.open("x", commit="last"), TypeError, "commit: a number of File.log() is needed, not 'last'"),
    (lambda f: dr.open(3), TypeError,
     'path: a path, ":memory:", bytes of a file or a file object is needed, not int'),
    (lambda f: dr.open("x", "w", datarep=3), TypeError, "datarep: a name or a Datarep is needed, not int"),
    # indices
    (lambda f: f["x"][3], IndexError, ":memory:: /x: index 3 is out of bounds for axis 0 with size 3"),
    (lambda f: f["x"][2**70], IndexError, f":memory:: /x: index {2**70} is out of bounds for axis 0 with size 3"),
    (lambda f: f["x"].__setitem__(-4, 0), IndexError, ":memory:: /x: index -4 is out of bounds for axis 0 with size 3"),
    (lambda f: f["x"].oindex[[5]], IndexError, ":memory:: /x: index 5 is out of bounds for axis 0 with size 3"),
    (lambda f: f["x"].astype("f4")[0, 0], IndexError,
     ":memory:: /x: too many indices for array: array is 1-dimensional, but 2 were indexed"),
    (lambda f: f["x"]["time=3"], TypeError,
     ":memory:: /x: elements of INT64_T have no members: indices are numbers and slices; xarray's .sel() selects by "
     "coordinate"),
    (lambda f: f["x"].__setitem__("time=3", 1), TypeError,
     ":memory:: /x: elements of INT64_T have no members: indices are numbers and slices; xarray's .sel() selects by "
     "coordinate"),
    # representations
    (lambda f: dr.Datarep("messages", DUBLE="binary32"), ValueError,
     "DUBLE is no predefined datatype, as INT32_T and DOUBLE are; did you mean DOUBLE?"),
    (lambda f: dr.Datarep("messages", DOUBLE="binary3"), ValueError,
     "'binary3' is no format of scalars, as \"binary32\", \"ibm-hex64\" and \"int\" are"),
    (lambda f: dr.Datarep("messages", DOUBLE=("binary32", "odd")), ValueError,
     "order 'odd' is none of big, little, vax"),
    (lambda f: dr.register("messages", 3), TypeError,
     "read and write: a function is needed, or None, not int"),
    (lambda f: dr.register("messages", extents={"DUBLE": 8}), ValueError,
     "extents: 'DUBLE' is no predefined datatype; did you mean DOUBLE?"),
    (lambda f: dr.unpack("external32", "abc", "f8"), TypeError, "data: bytes or another buffer is needed, not a str"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_messages(f, number):
    call, kind, text = REFUSED[number]
    with pytest.raises(kind) as caught:
        call(f)
    assert str(caught.value) == text
    assert "n" not in f and "z" not in f.dims and f["x"][...].tolist() == [1, 2, 3]


# Numbers that do not fit: the type of the dataset, the call, and what is said of them.
BIG = 2**40
SAY = 'make the dataset {}, or say how with range="clamp" or "wrap"'
UNFIT = [
    ("i4", lambda d: d.__setitem__(slice(2), [1, BIG]),
     f"element (1,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.__setitem__(0, BIG), f"the value is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.__setitem__([3, 1], [1, BIG]),
     f"element (1,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.write([1, BIG, 2, 3], range="round"),
     f"element (1,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.append([1, BIG]), f"element (1,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.oindex.__setitem__([0], 2**70),
     f"the value is {2**70}, which INT32_T does not hold: {SAY.format('UINT128_T')}"),
    ("i4", lambda d: d.__setitem__(0, np.nan), f"the value is nan, which INT32_T does not hold: {SAY.format('float64')}"),
    ("i4", lambda d: d.__setitem__(0, 1e20), f"the value is 1e+20, which INT32_T does not hold: {SAY.format('float64')}"),
    ("i4", lambda d: d.__setitem__(0, 1.5), "the value is 1.5, which no int32 equals: round it first, or say how with range="),
    ("u8", lambda d: d.__setitem__(0, -1), f"the value is -1, which UINT64_T does not hold: {SAY.format('int64')}"),
    ("f4", lambda d: d.__setitem__(..., [0, 0, 1e300, 0]),
     f"element (2,) is 1e+300, which FLOAT does not hold: {SAY.format('float64')}"),
    ("f2", lambda d: d.__setitem__(0, 70000), f"the value is 70000, which FLOAT16 does not hold: {SAY.format('int64')}"),
    ("c8", lambda d: d.__setitem__(slice(2), [1, 1e300j]),
     f"element (1,) is 1e+300j, which C_FLOAT_COMPLEX does not hold: {SAY.format('complex128')}"),
    ("BFLOAT16", lambda d: d.as_float32().__setitem__(0, 1e39),
     f"the value is 1e+39, which BFLOAT16 does not hold: {SAY.format('float64')}"),
    ("INT128_T", lambda d: d.__setitem__(0, 2**127),
     f"the value is {2**127}, which INT128_T does not hold: {SAY.format('UINT128_T')}"),
    ([("a", "i2"), ("b", "f8")], lambda d: d.__setitem__(slice(2), [(1, 2), (BIG, 3)]),
     f"member 'a': element (1,) is {BIG}, which INT16_T does not hold: {SAY.format('int64')}"),
    ("i4", lambda d: d.attrs.create("a", [BIG], dtype="i4"),
     f"attribute 'a': element (0,) is {BIG}, which INT32_T does not hold: make the attribute int64"),
]


@pytest.mark.parametrize("number", range(len(UNFIT)))
def test_numbers_that_do_not_fit(number):
    dtype, call, text = UNFIT[number]
    with dr.open(":memory:", "w") as f:
        d = f.create("g/d", dtype=dtype, shape=(4,), maxshape=(None,), chunks=(2,))
        before = d[...].tolist()
        with pytest.raises(dr.errors.ConversionError) as caught:
            call(d)
        assert str(caught.value) == f":memory:: /g/d: {text}"
        assert (caught.value.file, caught.value.object, caught.value.code) == (":memory:", "/g/d", 18)
        assert d[...].tolist() == before


@pytest.mark.parametrize("make, text", [
    (lambda f: f.create("g/d", [1, BIG], dtype="i4"),
     f"element (1,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
    (lambda f: f.create("g/d", dtype="i2", shape=3, fill=BIG),
     f"fill: the value is {BIG}, which INT16_T does not hold: make the dataset int64"),
    (lambda f: f.__setitem__("g/d", dr.array([BIG], stored="i4")),
     f"element (0,) is {BIG}, which INT32_T does not hold: {SAY.format('int64')}"),
])
def test_new_datasets_of_numbers_that_do_not_fit(make, text):
    with dr.open(":memory:", "w") as f:
        with pytest.raises(dr.errors.ConversionError) as caught:
            make(f)
        assert str(caught.value) == f":memory:: /g/d: {text}" and caught.value.object == "/g/d"


def test_numbers_that_do_not_fit_by_h5(tmp_path):
    h5 = pytest.importorskip("datarep.h5")
    path = str(tmp_path / "a.drep")
    with h5.File(path, "w") as f:
        d = f.create_dataset("d", shape=(2,), dtype="i4")
        for call, name in [
                (lambda: d.__setitem__(slice(None), np.array([1, BIG])), "/d: element (1,)"),
                (lambda: f.create_dataset("g/e", data=np.array([BIG]), dtype="i4"), "/g/e: element (0,)"),
                (lambda: d.attrs.create("a", np.array([BIG]), dtype="i4"), "/d: attribute 'a': element (0,)")]:
            with pytest.raises(dr.errors.ConversionError) as caught:
                call()
            assert str(caught.value).startswith(f"{path}: {name} is {BIG}, which INT32_T does not hold: ")
            assert caught.value.file == path


def test_errors_name_the_file(tmp_path):
    path = str(tmp_path / "a.drep")
    with pytest.raises(dr.Error) as caught:
        dr.open(path)
    assert caught.value.file == caught.value.filename == path and caught.value.object is None
    with dr.open(path, "w") as f:
        f["x"] = [1]
    with dr.open(path) as f:
        with pytest.raises(KeyError) as caught:
            f["y"]
        assert (caught.value.file, caught.value.object) == (path, "/y")
        with pytest.raises(PermissionError) as caught:
            f["x"][0] = 2
        assert str(caught.value) == f"[Errno 30] opened read-only: open it with mode \"a\": '{path}'"
        assert caught.value.file == path
    with pytest.raises(dr.Error) as caught:
        dr.Datarep("messages-none", base="nothing")
    assert caught.value.file is None


def test_masked_elements_and_the_attribute():
    with dr.open(":memory:", "w") as f:
        x = f.create("x", dtype="f4", shape=(2,), maxshape=(None,))
        masked = np.ma.masked_array([1.0, 2.0], [True, False])
        with pytest.raises(ValueError) as caught:
            x[:] = masked
        assert str(caught.value) == ("/x: masked elements cannot be stored without a fill value: create the dataset "
                                     "with fill=, or give value.filled(...)")
        for value in (np.float32(-1e34), np.array([-1e34], "f4")):  # as netCDF's files have it
            x.attrs["_FillValue"] = value
            with pytest.raises(ValueError) as caught:
                x.append(masked)
            assert str(caught.value) == ("/x: masked elements cannot be stored without a fill value: the dataset has "
                                         "none, but its attribute _FillValue is -1e+34: give value.filled(-1e+34)")
            f.commit()


@pytest.mark.parametrize("call, address", [
    (lambda f: f.dims["lon"], "/#lon"),
    (lambda f: f["g"].dims["lon"], "/g#lon"),
    (new(dtype="f8", dims=["lon"]), "/#lon"),
    (new(dtype="f8", dims=["/#lon"]), "/#lon"),
])
def test_a_missing_dimension_is_the_error_s_object(f, call, address):
    with pytest.raises(dr.Error) as caught:
        call(f)
    error = caught.value
    assert (error.file, error.object, error.byte, error.code) == (":memory:", address, None, 26)


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "x"])
def test_a_directory_is_no_file(tmp_path, mode):
    with pytest.raises(dr.Error) as caught:
        dr.open(tmp_path, mode)
    error = caught.value
    if mode == "x" and isinstance(error, FileExistsError):
        return
    assert isinstance(error, IsADirectoryError) and (error.errno, error.filename) == (errno.EISDIR, str(tmp_path))
    assert str(error).startswith(f"[Errno {errno.EISDIR}] ") and "Is a directory" in str(error)


@pytest.mark.parametrize("start, advice", [
    (b"\x89HDF\r\n\x1a\n", ": datarep.import_() reads HDF5 and netCDF"),
    (b"CDF\1", ": datarep.import_() reads HDF5 and netCDF"),
    (b"CDF\5", ": datarep.import_() reads HDF5 and netCDF"),
    (b"CDFX", ""),
])
def test_files_that_import_reads(tmp_path, start, advice):
    path = tmp_path / "a.nc"
    path.write_bytes(start.ljust(9000, b"\0"))
    with pytest.raises(dr.errors.FormatError) as caught:
        dr.open(path)
    assert str(caught.value) == f"{path}: not a Datarep file{advice}"


def test_shapes_that_do_not_fit_name_the_dataset(f):
    with pytest.raises(ValueError) as caught:
        f["x"][:] = [1, 2]
    assert str(caught.value) == ":memory:: /x: could not broadcast input array from shape (2,) into shape (3,)"


def test_hints_of_others_are_theirs():
    with dr.open(":memory:", "w", hints={"romio_cb_write": "enable", "drep_sync": "none"}) as f:
        assert f.hints["drep_sync"] == "none" and "romio_cb_write" not in f.hints


@pytest.mark.parametrize("make", [
    lambda f: f.create("a/b/c", dtype="f8", shape=3, filters="nope"),
    lambda f: f.create("a/b/c", [1.0], attrs={"x": {}}),
    lambda f: f.create("a/b/c", [1.5], dtype="i4"),
    lambda f: f.create_group("a/b/c", attrs={"x": {}}),
    lambda f: f.create("g/b", [1.0], attrs={"x": {}}),
    lambda f: f.create_group("g/b", attrs={"x": {}}),
])
def test_what_fails_leaves_no_groups(make):
    with dr.open(":memory:", "w") as f:
        f["g/x"] = 1
        with pytest.raises((TypeError, ValueError, NotImplementedError)):
            make(f)
        assert list(f) == ["g"] and list(f["g"]) == ["x"]
        f.create("a/b/c", [1.0])
        assert f["a/b/c"][0] == 1.0


def test_a_copy_tells_what_it_leaves_out():
    """Entries of tags that only a newer version knows stay behind, and a warning names each tag."""
    vector = pathlib.Path(__file__).parents[2] / "tests" / "vectors" / "extended.drep"
    with dr.open(vector) as f, dr.open(":memory:", "w") as g:
        with pytest.warns(dr.ConversionWarning, match="unknown tag 97.*unknown space 255"):
            f.copy("d", g)
        assert g["d"][...].tolist() == [1, 2]
