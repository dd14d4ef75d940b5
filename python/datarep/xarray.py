# SPDX-License-Identifier: MIT
"""Files as datasets of xarray: xr.open_dataset("a.drep", engine="datarep"), ds.datarep.save("a.drep").

xarray decodes and encodes by the conventions of CF; this module hands it numbers and attributes as
the file holds them.  `import datarep.xarray` makes the engine and the accessor known; where the
package is installed, xarray itself finds the engine when it opens a file.

>>> import datarep.xarray, os, tempfile, xarray as xr
>>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
>>> xr.Dataset({"t": ("time", [1.5, 2.5])}).datarep.save(path)
>>> with xr.open_dataset(path, engine="datarep") as ds:
...     print(float(ds["t"].mean()))
2.0
"""
# Most functions of xarray that engines use have no type hints.
# mypy: disable-error-code="no-untyped-call, attr-defined"
from __future__ import annotations

import functools
import json
import os
import re
import warnings
from typing import Any, Hashable, Iterable, Iterator, Mapping, Optional
from urllib.parse import urlsplit

import numpy as np
import pandas as pd  # type: ignore[import]
import xarray as xr
from xarray import conventions
from xarray.backends import common, plugins
from xarray.backends.file_manager import CachingFileManager, DummyFileManager
from xarray.backends.locks import SerializableLock, _get_scheduler
from xarray.backends.store import StoreBackendEntrypoint
from xarray.coding import strings
from xarray.core import indexing
from xarray.core.utils import try_read_magic_number_from_file_or_path

from . import index, notes, scales, types, values
from .attrs import Empty
from .dataset import LAYOUTS, UNLIMITED, Dataset
from .errors import make, shown
from .file import DATASET, GROUP, File, Mode, _reopen, is_stream, is_url, open

__all__ = ["Accessor", "ArrayAccessor", "Backend", "Store", "open_groups", "save_groups", "save_mfdataset"]

MAGIC = b"\x89DRP\r\n\x1a\n"
ENCODINGS = {"dtype", "_FillValue", "chunks", "chunksizes", "filters", "datarep_filters", "datarep", "zlib",
             "complevel", "shuffle", "fletcher32", "compression"}
COMPRESSIONS = {"zlib": "deflate:{}", "gzip": "deflate:{}", "zstd": "zstd:{}", "lzf": "lzf"}  # netCDF4's, h5netcdf's
DROPPED = {"source", "original_shape", "preferred_chunks"}
PACKING = {"scale_factor", "add_offset"}
# Of an encoding: what says how numbers are stored, and what may have come from another file.
NUMERIC = {"dtype", "_FillValue", "missing_value", "units", "calendar"} | PACKING


def _numbers(ds: Dataset) -> types.Form:
    """The form in which xarray gets elements: dates and durations as the numbers that are stored."""
    form = ds._form()
    return types.form_of_dtype("i8") if form.dtype.kind in "mM" else form


def _indices(key: Any, length: int) -> Any:
    """The indices that a slice, an index or a list of them selects of a dimension."""
    if isinstance(key, slice):
        return np.arange(*key.indices(length))
    made = np.atleast_1d(key)
    made = np.where(made < 0, made + length, made)
    if ((made < 0) | (made >= length)).any():
        raise IndexError(f"index {key} is out of bounds for a dimension of {length}")
    return made


class _Array(common.BackendArray):
    """The elements of a dataset, read when they are asked for.

    A dimension that has grown may be longer than the dataset; what is behind its end is fill."""

    def __init__(self, store: "Store", ds: Dataset, shape: tuple[int, ...]) -> None:
        form = _numbers(ds)
        self._store, self._path = store, ds.name
        self.shape = shape
        text = form.dtype.kind == "O" and (form.dtype.metadata or {}).get("vlen") is str
        self.dtype = strings.create_vlen_dtype(str) if text else form.dtype

    @property
    def _ds(self) -> Dataset:
        """The dataset: xarray may have closed the file, and opens it again, meanwhile."""
        return self._store._file._dataset(self._path)

    def __getitem__(self, key: Any) -> Any:
        points = isinstance(key, indexing.VectorizedIndexer)
        if self._ds.shape != self.shape:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.OUTER, self._filled)
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.VECTORIZED, functools.partial(self._at, points))

    def _filled(self, key: Any) -> Any:
        """What the dataset has of a box or of indices for each dimension, and fill for the rest."""
        ds = self._ds
        wanted = [_indices(k, n) for n, k in zip(self.shape, key)]
        inside = [np.flatnonzero(w < n) for w, n in zip(wanted, ds.shape)]
        fill = ds.fillvalue
        out = np.empty([len(w) for w in wanted], self.dtype)
        if out.dtype.kind == "O":
            for i in range(out.size):
                out.reshape(-1)[i] = fill
        else:
            out[...] = fill.view("i8") if ds.dtype.kind in "mM" else fill
        if all(len(i) for i in inside):
            there = tuple(w[i] for w, i in zip(wanted, inside))
            out[np.ix_(*inside)] = ds._read(index.outer(there, ds.shape), _numbers(ds))
        return out.reshape([n for n, k in zip(out.shape, key) if isinstance(k, slice) or np.ndim(k)])

    def _at(self, points: bool, key: Any) -> Any:
        ds = self._ds
        sel = ds.vindex._selection(key) if points else index.outer(key, self.shape)
        got = ds._read(sel, _numbers(ds))
        sequence = self.dtype.kind == "O" and all(isinstance(k, (int, np.integer)) for k in key)
        if sequence or not isinstance(got, np.ndarray):
            one = np.empty(1, self.dtype)
            one[0] = got
            return one.reshape(())
        return got


def _of_scale(file: File, path: Optional[str], n: int, most: int) -> tuple[Optional[str], int]:
    """The name and length that a scale gives to a dimension of length n."""
    if path is None or file._h.exists(path) != DATASET:
        return None, n
    scale = file._dataset(path)
    length = scale.shape[0] if scale.shape else -1
    grown = length > n and most == UNLIMITED == scale._info()["maxdims"][0]
    return (path.rsplit("/", 1)[1], length) if length == n or grown else (None, n)


class _Lazy(indexing.LazilyIndexedArray):
    """One whose shape is computed once: xarray asks for it some ten times as it decodes."""

    __slots__ = ("_shape",)

    def __init__(self, array: Any, key: Any = None) -> None:
        super().__init__(array, key)
        self._shape = array.shape if key is None else super().shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape


def _attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as xarray has them: several texts are a list of str, and a list of one value is that value, as in
    netCDF, which makes no difference."""
    made: dict[str, Any] = {}
    for key, value in attrs.items():
        if isinstance(value, np.ndarray):
            if value.shape == (1,):
                value = value[0]
            elif value.dtype.kind == "O":
                value = value.tolist()
        made[key] = value
    return made


_DEFLATE = re.compile(r"(shuffle,)?deflate(?::(\d+))?")


def _filter_encoding(ds: Dataset, filters: str) -> dict[str, Any]:
    """Filters as netCDF's users name them, else as ours."""
    fletcher32 = notes.has_filter(notes.remarks(ds._file._h, ds.name), notes.FLETCHER32)
    hdf5 = {name.rstrip("?"): params for name, _, params in ds._info()["filters"] if name.startswith("hdf5:")}
    if hdf5 and hdf5.keys() <= {"hdf5:1", "hdf5:2", "hdf5:3"}:  # deflate, shuffle, fletcher32: netCDF's own, in any order
        level = hdf5.get("hdf5:1")
        filters = ",".join((["shuffle"] if "hdf5:2" in hdf5 else []) + ([f"deflate:{level[0]}"] if level else []))
        fletcher32 = "hdf5:3" in hdf5
    elif hdf5:
        return {}  # of others only the bytes are known
    found = _DEFLATE.fullmatch(filters)
    if filters and not found:
        return {"datarep_filters": filters, "fletcher32": fletcher32}
    if not found:
        return {"fletcher32": True} if fletcher32 else {}
    return {"zlib": True, "complevel": int(found.group(2) or 6), "shuffle": bool(found.group(1)),
            "fletcher32": fletcher32}


def _fills(ds: Dataset, array: _Array, attrs: dict[str, Any]) -> None:
    """What stands for missing elements, in the dtype of the elements."""
    for key in ("_FillValue", "missing_value"):
        if key not in attrs:
            continue
        if array.dtype.kind == "S":
            attrs[key] = np.bytes_(attrs[key])
        elif array.dtype.kind in "iuf" and not isinstance(attrs[key], (str, bytes)):
            try:
                attrs[key] = values.exact(attrs[key], types.form_of_dtype(array.dtype))[()]
            except (ValueError, OverflowError):
                pass  # no element has it
    own = ds.dtype
    # xarray takes the number of NaT as NaT among nanoseconds only, where a fill would cost digits.
    if own.kind in "mM" and np.datetime_data(own)[0] != "ns":
        attrs.setdefault("_FillValue", np.iinfo("i8").min)


class _Target:
    """Where xarray and dask write a variable, or the region of it that a save is of."""

    def __init__(self, ds: Dataset, packed: bool) -> None:
        self._ds = ds
        self._packed = packed
        self.shape, self.dtype = ds.shape, _numbers(ds).dtype

    def __setitem__(self, key: Any, value: Any) -> None:
        ds, form = self._ds, _numbers(self._ds)
        # Packing is to the nearest integer; the library refuses those that do not fit.
        if self._packed and form.dtype.kind in "iu" and value.dtype.kind == "f":
            value = np.rint(value)
        value, form = values.fitted(value, form, ds._given(None))
        ds._write(ds._key(key), value, form)


def _decoded(v: xr.Variable) -> xr.Variable:
    """Bytes that are to be stored as texts."""
    def turn(data: Any) -> Any:
        return strings.decode_bytes_array(data, "utf-8")

    dtype = strings.create_vlen_dtype(str)
    data = turn(np.asarray(v.data)) if v.chunks is None else v.data.map_blocks(turn, dtype=dtype)
    return xr.Variable(v.dims, data.astype(dtype), v.attrs, v.encoding)


WAIT = "drep_lock_wait"
PATIENCE = 600  # seconds that a process waits for others to write their part


class _RemoteTarget:
    """Where other processes write parts of a variable: each opens the file, waiting for its turn,
    writes, and commits.  Parts of one chunk are written one after the other."""

    def __init__(self, target: _Target, hints: Any) -> None:
        self._path, self._name = os.path.abspath(target._ds._file.filename), target._ds.name
        self._packed = target._packed
        self._hints = {WAIT: PATIENCE, **dict(hints or {})}
        self.shape, self.dtype = target.shape, target.dtype

    def __setitem__(self, key: Any, value: Any) -> None:
        with open(self._path, "r+", hints=self._hints) as file:
            _Target(file[self._name], self._packed)[key] = value


class _Writer(common.ArrayWriter):
    """Writes arrays of dask, in other processes if `remote`."""

    __slots__ = ("_remote", "_hints")

    def __init__(self, remote: bool, hints: Any) -> None:
        super().__init__(lock=SerializableLock())
        self._remote, self._hints = remote, hints

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        if self._remote and hasattr(source, "dask"):
            target = _RemoteTarget(target, self._hints)
        super().add(source, target, region)


def _packed(encoding: Mapping[str, Any]) -> bool:
    return not PACKING.isdisjoint(encoding)


def _number_dtype(encoding: Mapping[str, Any]) -> Any:
    """The dtype of numbers that an encoding asks for, or None."""
    dtype = encoding.get("dtype")
    if dtype is None or dtype is str or "_Unsigned" in encoding:
        return None
    dtype = np.dtype(dtype)
    return dtype if dtype.kind in "iuf" else None


def _fits(v: xr.Variable) -> bool:
    """Whether an encoding that came from another file holds the values of a variable exactly, apart from
    the rounding of packed ones."""
    dtype, encoding = _number_dtype(v.encoding), v.encoding
    if dtype is None or v.dtype.kind not in "iufM" or not v.size:
        return True
    if v.dtype.kind == "M":
        return dtype.kind == "f" or _counted(v) is not None
    if v.dtype == dtype and not _packed(encoding):
        return True
    with np.errstate(all="ignore"):
        low, high, whole, missing = _extremes(v, dtype, encoding)
    if missing and dtype.kind in "iu" and encoding.get("_FillValue", encoding.get("missing_value")) is None:
        return False
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return bool(whole and low >= limits.min and high <= limits.max)
    return bool(whole)


def _extremes(v: xr.Variable, dtype: Any, encoding: Mapping[str, Any]) -> tuple[Any, Any, bool, bool]:
    """Of the numbers that would be stored: the least, the greatest, whether the dtype holds all of them,
    and whether some are missing.  Arrays of dask are computed for it."""
    data, packed = v.data, _packed(encoding)
    if packed:
        data = ((data.astype("f8") - encoding.get("add_offset", 0)) / encoding.get("scale_factor", 1)).round()
    missing = data != data
    there = data.astype(dtype).astype(data.dtype) == data if dtype.kind == "f" else data.round() == data
    zero = data.dtype.type(0)
    kept = (xr.Variable(v.dims, data).where(~xr.Variable(v.dims, missing), zero)).data
    found = kept.min(), kept.max(), (there | missing).all() | packed, missing.any()
    if v.chunks is not None:
        import dask
        found = dask.compute(*found)
    return found


_STEPS = {"days": 86400 * 10**9, "hours": 3600 * 10**9, "minutes": 60 * 10**9, "seconds": 10**9,
          "milliseconds": 10**6, "microseconds": 10**3, "nanoseconds": 1}


def _fine_units(v: xr.Variable) -> dict[str, Any]:
    """The encoding of dates with fractions of seconds, which xarray would count in floats."""
    data = np.asarray(v.data).astype("M8[ns]")
    nat = np.isnat(data)
    numbers = data.view("i8")[~nat]
    if not (numbers % _STEPS["seconds"]).any():
        return {}
    # Other integers with a fill value are floats to xarray.
    units = "nanoseconds" if nat.any() else next(
        u for u in ("milliseconds", "microseconds", "nanoseconds") if not (numbers % _STEPS[u]).any())
    return {"units": f"{units} since 1970-01-01", "calendar": "proleptic_gregorian", "dtype": np.dtype("i8")}


def _counted(v: xr.Variable) -> Optional[Any]:
    """Dates as whole numbers of the units of their encoding: int64, NaT the least; None if there are
    none such, or if xarray must count them by a calendar."""
    found = re.fullmatch(r"\s*(\w+?)s?\s+since\s+(.+)", str(v.encoding.get("units", "")))
    calendar = v.encoding.get("calendar", "proleptic_gregorian")
    step = _STEPS.get(found.group(1).lower() + "s") if found else None
    if step is None or calendar not in ("proleptic_gregorian", "standard", "gregorian"):
        return None
    try:
        first = pd.Timestamp(found.group(2))  # type: ignore[union-attr]
        first = first.tz_convert(None) if first.tzinfo else first
    except (ValueError, OverflowError):
        return None
    data = np.asarray(v.data).astype("M8[ns]")
    numbers, nat = data.view("i8"), np.isnat(data)
    since = numbers - first.value
    if ((since > 0) != (numbers > first.value))[~nat].any():
        return None  # more nanoseconds than 64 bits count
    count, rest = np.divmod(since, step)
    if rest[~nat].any():
        return None
    return np.where(nat, np.iinfo("i8").min, count)


class Store(common.WritableCFDataStore):
    """A group of a file as xarray's stores are.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
    >>> ds.datarep.save(path)
    >>> from datarep import open
    >>> with open(path) as f:
    ...     print(sorted(Store(f).get_variables()))
    ['t', 'time']
    """

    def __init__(self, file: Any, group: Optional[str] = None, append_dim: Optional[Hashable] = None,
                 region: Optional[Mapping[Any, slice]] = None) -> None:
        """file: a File, or a manager that opens it and may close it in between."""
        self._manager = DummyFileManager(file) if isinstance(file, File) else file
        file = self._file
        self._path = (file.require_group(group) if file.writable and group else file[group or "/"]).name
        self._append = append_dim
        self._region = dict(region or {})
        self._asked: Any = frozenset()

    @property
    def _file(self) -> File:
        return self._manager.acquire()

    @property
    def _group(self) -> Any:
        return self._file[self._path]

    @property
    def _partial(self) -> bool:
        """Whether a save only adds to what is there."""
        return self._append is not None or bool(self._region)

    # ---------------------------------------------------------------- reading

    def _find(self, name: Hashable) -> Optional[Dataset]:
        """The dataset that a variable of this name is, or None; ExistsError if something else has the name."""
        group, file = self._group, self._file
        path = group._path(common._encode_variable_name(name))
        kind = file._h.exists(path)
        if kind in (0, DATASET):
            return file._dataset(path) if kind else None
        there = "group" if kind == GROUP else "datatype"
        raise make(27, f"{shown(file.filename)}: {shown(path)}: a {there} is there; the variable "
                       f"{shown(json.dumps(str(name), ensure_ascii=False))} cannot be stored beside it", file.filename, path)

    def _datasets(self) -> Iterator[tuple[str, Dataset]]:
        file = self._file
        for name, path in self._paths():
            ds = file._dataset(path)
            if ds.shape is None or ds.dtype.subdtype is not None:
                warnings.warn(f"{shown(ds.name)} is left out: xarray has no variables "
                              f"{'of null space' if ds.shape is None else 'with arrays as elements'}",
                              stacklevel=2)
            elif not scales.is_bare(ds.attrs):
                yield name, ds

    def _paths(self) -> Iterator[tuple[str, str]]:
        """The names and paths of the datasets in the group, in the order in which they were made."""
        handle, group = self._file._h, self._group
        for name in (row[0] for row in handle.list(group.name, 1)):
            path = group._path(name)
            if handle.exists(path) == DATASET:
                yield name, path

    def _dims(self, ds: Dataset, attrs: Optional[Mapping[str, Any]] = None) -> list[tuple[Optional[str], int]]:
        """Of each dimension of a dataset the name, None if it has none, and the length: it is the dimension's,
        which is longer than the dataset if others have grown along it."""
        info, file = ds._info(), ds._file
        made: list[tuple[Optional[str], int]] = []
        named: Any = None
        for i, (number, n, most) in enumerate(zip(info["dim_ids"], info["dims"], info["maxdims"])):
            if number:
                address = file._address(number)
                # Only unlimited ones may be longer.
                length = file._h.stat(address)[5] if most == UNLIMITED else n
                made.append((address.rsplit("#", 1)[1], length))
                continue
            if named is None:
                named = scales.naming(file._h, ds.name, ds.ndim, ds.attrs if attrs is None else attrs)
            made.append(_of_scale(file, named[i], n, most))
        return made

    def _names(self, ds: Dataset) -> tuple[Optional[str], ...]:
        return tuple(name for name, _ in self._dims(ds))

    def _variable(self, name: str, ds: Dataset) -> xr.Variable:
        info, attrs = ds._info(), dict(ds.attrs)
        known = self._dims(ds, attrs)
        dims = tuple(dim or f"{name}_{i}" for i, (dim, _) in enumerate(known))
        array = _Array(self, ds, tuple(n for _, n in known))
        attrs = _attrs(scales.visible(attrs, own=dims == (name,)))
        _fills(ds, array, attrs)
        encoding: dict[str, Any] = {"source": self._file.filename, "original_shape": array.shape,
                                    "datarep": info["datarep"]}
        encoding["dtype"] = str if strings.check_vlen_dtype(array.dtype) is str else array.dtype
        if info["layout"] == LAYOUTS["chunked"]:
            encoding["chunksizes"] = info["chunk"]
            encoding["preferred_chunks"] = dict(zip(dims, info["chunk"]))
            encoding.update(_filter_encoding(ds, ds.filters))
        return xr.Variable(dims, _Lazy(array), attrs, encoding, fastpath=True)

    def get_variables(self) -> dict[str, xr.Variable]:
        return {name: self._variable(name, ds) for name, ds in self._datasets()}

    def get_attrs(self) -> dict[str, Any]:
        return _attrs(scales.visible(dict(self._group.attrs)))

    def get_dimensions(self) -> dict[str, int]:
        return {name: self._group.dims[name].size for name in self._group.dims}

    def get_encoding(self) -> dict[str, Any]:
        dims = self._group.dims
        unlimited = {name for name in dims if dims[name].unlimited}
        return {"unlimited_dims": unlimited | {name for name, ds in self._scales() if ds._info()["maxdims"][0] == UNLIMITED}}

    def _scales(self) -> Iterator[tuple[str, Dataset]]:
        """The datasets of the group that name dimensions by HDF5's attributes."""
        file = self._file
        for name, path in self._paths():
            if scales.CLASS in file._h.attr_names(path, 1):
                ds = file._dataset(path)
                if ds.shape and scales.is_scale(ds.attrs):
                    yield name, ds

    # ---------------------------------------------------------------- writing

    def encode(self, variables: Any, attributes: Any) -> Any:
        """Numbers as the conventions have them, with every digit: the library converts them."""
        dtypes, ready = {}, {}
        for name, v in variables.items():
            ready[name], dtypes[name] = self._exact(str(name), v)
        encoded, attributes = super().encode(ready, attributes)
        for name, dtype in dtypes.items():
            if dtype is None:
                continue
            encoded[name].encoding["dtype"] = dtype
            if dtype.kind in "iu" and "_FillValue" not in {**variables[name].attrs, **ready[name].encoding}:
                encoded[name].attrs.pop("_FillValue", None)  # what xarray adds to floats
        return encoded, attributes

    def _exact(self, name: str, v: xr.Variable) -> tuple[xr.Variable, Any]:
        """A variable that xarray encodes without a cast to fewer digits, and the dtype it is to get."""
        encoding = dict(v.encoding)
        own = name in self._asked or name in self._group
        if not own and not _fits(v):
            warnings.warn(f"variable {name!r}: its encoding, which came with it, does not hold its values "
                          f"and is left out", stacklevel=2)
            encoding = {k: e for k, e in encoding.items() if k not in NUMERIC}
        made = v.copy(deep=False)
        if encoding.get("dtype") is str and v.dtype.kind == "S":
            made = _decoded(made)
        if v.dtype.kind == "M" and "units" not in encoding:
            encoding.update(_fine_units(v))
        made.encoding = encoding
        dtype = _number_dtype(encoding)
        if dtype is None:
            return made, None
        if made.dtype.kind == "M" and dtype.kind in "iu":
            counted = _counted(made)
            if counted is not None:
                self._missing(name, made, counted, encoding)
                attrs = {**made.attrs, "units": encoding.pop("units"),
                         "calendar": encoding.pop("calendar", "proleptic_gregorian")}
                made = xr.Variable(made.dims, counted, attrs, encoding)
            elif "units" in encoding:
                raise ValueError(f"variable {name!r}: not all its times are whole numbers of "
                                 f"{encoding['units']!r}: give finer units in its encoding")
        elif _packed(encoding) and made.dtype.kind in "iuf" and made.dtype.char != "g":
            made = made.astype("f8")
        made.encoding = {k: e for k, e in encoding.items() if k != "dtype"}
        return made, dtype

    def _missing(self, name: str, v: xr.Variable, counted: Any, encoding: dict[str, Any]) -> None:
        """NaT needs a fill value, but for nanoseconds, of which xarray takes the least for it."""
        least = np.iinfo("i8").min
        units = str(encoding["units"])
        if "_FillValue" in encoding or units.startswith("nanosecond") or not (counted == least).any():
            return
        if name in self._group:
            raise ValueError(f"variable {name!r}: NaT has no place, as the variable has no _FillValue")
        encoding["_FillValue"] = least

    def encode_variable(self, variable: xr.Variable) -> xr.Variable:
        for coder in (strings.EncodedStringCoder(allows_unicode=True), strings.CharacterArrayCoder()):
            variable = coder.encode(variable)
        return variable

    def set_attribute(self, key: str, value: Any) -> None:
        self._group.attrs[key] = value

    def set_dimension(self, name: str, length: int, is_unlimited: bool = False) -> None:
        """Make a dimension, unless a group above has it with this length."""
        try:
            above = self._group.dims[name]
        except KeyError:
            above = None
        if above is not None and above.size == (length or 0) and above.unlimited == is_unlimited:
            return
        self._group.dims.create(name, length or 0, is_unlimited)

    def _lengths(self) -> dict[str, int]:
        """The lengths of the dimensions that variables may have: scales name some, too."""
        return {**{name: ds.shape[0] for name, ds in self._scales()}, **self.get_dimensions()}

    def set_dimensions(self, variables: Any, unlimited_dims: Any = None) -> None:
        """The lengths of a part say nothing of dimensions that are there."""
        partial = set(self._region) | ({self._append} if self._append is not None else set())
        if partial:
            there = self._lengths()
            if self._append is not None and self._append not in there:
                raise ValueError(f"there is no dimension {self._append!r} to append along; there are "
                                 f"{', '.join(there) or 'none'}")
            for dim, n in {d: n for v in variables.values() for d, n in zip(v.dims, v.shape)}.items():
                if dim not in there and dim in partial:
                    raise ValueError(f"there is no dimension {dim!r} to write a part of")
                if dim in there and dim not in partial and there[dim] != n:
                    raise ValueError(f"dimension {dim!r} has length {there[dim]}, not {n}")
            self._make_dimensions([v for name, v in variables.items() if name not in self._group], there)
            return
        super().set_dimensions(variables, unlimited_dims=unlimited_dims)

    def _make_dimensions(self, new: list[xr.Variable], there: dict[str, int]) -> None:
        """Make the dimensions that new variables of a part lack, of scales, too."""
        own, growing = self.get_dimensions(), self.get_encoding()["unlimited_dims"]
        for dim, n in {d: n for v in new for d, n in zip(v.dims, v.shape)}.items():
            if dim not in own:
                self.set_dimension(str(dim), there.get(str(dim), n), dim in growing)

    def store(self, variables: Any, attributes: Any, check_encoding_set: Any = frozenset(),
              writer: Any = None, unlimited_dims: Any = None) -> None:
        """Variables that are there keep their encoding."""
        self._asked = set(map(str, check_encoding_set))
        for name in variables:
            self._find(name)
        old = {n: self._variable(n, ds) for n, ds in self._datasets() if n in variables}
        if old:
            given = sorted(set(old) & self._asked)
            if given and self._partial:
                raise ValueError(f"variable {given[0]!r} exists: it has an encoding")
            decoded = conventions.decode_cf_variables(old, {})[0]
            variables = dict(variables)
            for name in set(old) - set(given):
                variables[name] = variables[name].copy(deep=False)
                variables[name].encoding = dict(decoded[name].encoding)
        if self._partial:
            attributes = {}
            self._check_absent(variables)
        super().store(variables, attributes, check_encoding_set, writer, unlimited_dims)

    def _check_absent(self, variables: Any) -> None:
        """A variable of the file that an append leaves out reads as its fill there, if it has one."""
        if self._append is None:
            return
        for name, ds in self._datasets():
            if name not in variables and self._append in self._names(ds) and ds._info()["fill"] != 1:
                raise ValueError(f"variable {name!r} of the file has dimension {self._append!r} and no fill "
                                 "value: append to it, too")

    def _check_same(self, ds: Dataset, v: xr.Variable) -> None:
        """What a part says of a variable is what the file says."""
        for key in ("units", "calendar", *PACKING, "_FillValue", "missing_value"):
            if key in v.attrs and key in ds.attrs and not _equal(v.attrs[key], ds.attrs[key]):
                raise ValueError(f"variable {ds.name!r} has {key} {ds.attrs[key]!r} in the file, "
                                 f"{v.attrs[key]!r} in what is added")

    def _is_there(self, ds: Dataset, v: xr.Variable) -> bool:
        """Whether a variable has none of the dimensions of the part; then its values are the file's."""
        if {self._append, *self._region} & set(v.dims):
            return False
        data, form = np.asarray(v.data), _numbers(ds)
        if _packed(v.attrs) and form.dtype.kind in "iu":
            data = np.rint(data)
        if v.dims != self._names(ds) or data.shape != ds.shape or \
                not _equal(data, ds._read(index.parse(Ellipsis, ds.shape), form)):
            raise ValueError(f"variable {ds.name!r} has other values in the file, and no dimension of the "
                             "part that is written: leave it out with drop_vars()")
        return True

    def set_variables(self, variables: Any, check_encoding_set: Any, writer: Any,
                      unlimited_dims: Any = None) -> None:
        before = None if self._append is None else self._lengths()[str(self._append)]
        for key, v in variables.items():
            name = common._encode_variable_name(key)
            there = self._find(key)
            if there is not None:
                ds = there
                if self._partial:
                    self._check_same(ds, v)
                    if self._is_there(ds, v):
                        continue
                else:
                    ds.attrs.update(v.attrs)
            else:
                ds = self._create(name, v, key in check_encoding_set)
            region = self._part(ds, v, before)
            if 0 not in v.shape:
                packed = _packed(v.encoding) or _packed(v.attrs)
                writer.add(v.data, _Target(ds, packed), region)

    def _part(self, ds: Dataset, v: xr.Variable, before: Optional[int]) -> tuple[slice, ...]:
        """The part of a dataset that a variable is written to; the dataset grows if it must."""
        names = self._names(ds)
        if names != v.dims:
            raise ValueError(f"{shown(ds.name)} has dimensions {shown(names)}, the variable {shown(v.dims)}")
        region, shape, there = [], list(ds.shape), self._lengths()
        for i, (dim, n) in enumerate(zip(v.dims, v.shape)):
            length = there.get(str(dim), shape[i]) if dim in self._region else shape[i]
            part = slice(*self._region.get(dim, slice(None)).indices(length)[:2])
            if dim == self._append:
                assert before is not None
                part = slice(before, before + n)
            elif not self._partial:
                part = slice(0, max(shape[i], n))
            if part.stop - part.start != n:
                raise ValueError(f"{shown(ds.name)}: the variable has length {n} along {dim!r}, the region "
                                 f"{part.start}:{part.stop} of {length}")
            shape[i] = max(shape[i], part.stop)
            region.append(part)
        if tuple(shape) != ds.shape:
            grown = next(d for d, n, m in zip(v.dims, shape, ds.shape) if n != m)
            if ds._info()["maxdims"][v.dims.index(grown)] != UNLIMITED:
                raise ValueError(f"dimension {grown!r} cannot grow: save the file with "
                                 f"unlimited_dims=[{grown!r}] first")
            ds.resize(shape)
        return tuple(region)

    def _shape(self, name: str, v: xr.Variable, fill: Any) -> tuple[int, ...]:
        """The shape of a new variable: of a part, that of its dimensions, which have fill elsewhere."""
        there = self._lengths()
        shape = [there[str(d)] if d in self._region else n for d, n in zip(v.dims, v.shape)]
        if self._append is not None and self._append in v.dims:
            grown = there[str(self._append)]
            shape[v.dims.index(self._append)] = grown
            if not grown:
                return tuple(shape)
        if tuple(shape) != v.shape or self._append in v.dims:
            if fill is None:
                raise ValueError(f"variable {name!r} is not in the file, and has no _FillValue for what is "
                                 "not written of it")
        return tuple(shape)

    def _create(self, name: str, v: xr.Variable, check: bool) -> Dataset:
        encoding, attrs = dict(v.encoding), dict(v.attrs)
        unknown = sorted(str(k) for k in encoding if k not in ENCODINGS | DROPPED)
        if check and unknown:
            raise ValueError(f"unexpected encoding parameters {unknown} of {name!r}: valid are "
                             f"{sorted(ENCODINGS)}")
        dtype: Any = str if strings.is_unicode_dtype(v.dtype) else _number_dtype(encoding)
        if dtype is None or dtype != str and v.dtype.kind not in "iufb":
            dtype = v.dtype
        if dtype != str and v.dtype.kind == "O":
            raise ValueError(f"variable {name!r}: objects of these types cannot be stored")
        for key in ("_FillValue", "missing_value"):
            if key in attrs and dtype != str and np.dtype(dtype).kind in "iuf":
                attrs[key] = values.exact(attrs[key], types.form_of_dtype(dtype),
                                          values.Given(f"variable {name!r}: {key}", file=self._file.filename,
                                                       wider="give the variable the dtype {}"))[()]
        fill = attrs.get("_FillValue")
        if dtype is str and fill is not None:
            raise NotImplementedError(f"variable {name!r}: text of any length has no _FillValue; remove "
                                      "it from the encoding, or set {'dtype': 'S1'}")
        chunks, filters = _storage(encoding, v, check)
        datarep = encoding.get("datarep")
        ds = self._group.create(name, dtype=dtype, shape=self._shape(name, v, fill), dims=list(v.dims),
                                chunks=chunks, filters=filters, fill=fill,
                                datarep=datarep if datarep != self._file.datarep else None)
        if encoding.get("fletcher32") and ds.chunks is not None:
            self._note_fletcher32(ds)
        ds.attrs.update(attrs)
        return ds

    def _note_fletcher32(self, ds: Dataset) -> None:
        """Chunks have checksums of the container; a file of netCDF that is made of it gets its own."""
        found = _DEFLATE.fullmatch(ds.filters)
        if ds.filters and not found:
            return  # netCDF has none of these filters
        lines = notes.filter_lines(ds.dtype.itemsize, bool(found and found.group(1)),
                                   int(found.group(2) or 6) if found else None, fletcher32=True)
        notes.set_remarks(self._file._h, ds.name, lines)

    def close(self) -> None:
        self._manager.close()

    def abandon(self) -> None:
        """Nothing of what was written stays.

        >>> from datarep import open
        >>> store = Store(open(":memory:", "w"))
        >>> store.set_attribute("title", "lost")
        >>> store.abandon()
        """
        self._file.abandon()


def _blocks(v: xr.Variable) -> Optional[tuple[int, ...]]:
    """The chunks of an array of dask, which has several: of one shape, but for the last along each dimension."""
    if v.chunks is None or all(len(lengths) == 1 for lengths in v.chunks) or 0 in v.shape:
        return None
    for lengths in v.chunks:
        if len(set(lengths[:-1])) > 1 or lengths[-1] > lengths[0]:
            return None
    return tuple(lengths[0] for lengths in v.chunks)


def _storage(encoding: Mapping[str, Any], v: xr.Variable, check: bool) -> tuple[Any, Any]:
    """Chunks and filters of a variable; those that came with it from a file only if they fit."""
    if not v.dims:
        return None, None
    chunks = encoding.get("chunks", encoding.get("chunksizes"))
    if chunks is not None and not isinstance(chunks, bool):
        chunks = tuple(chunks)
        if not check and len(chunks) != v.ndim:
            chunks = None
    if chunks is None:
        chunks = _blocks(v)
    filters = encoding.get("datarep_filters", encoding.get("filters"))
    if not isinstance(filters, (str, type(None))):
        filters = None  # those of zarr
    wanted = "zlib" if encoding.get("zlib") else encoding.get("compression")
    if filters is None and wanted is not None:
        found = COMPRESSIONS.get(wanted)
        if found is None and check:
            raise ValueError(f"compression {wanted!r} is none of {', '.join(COMPRESSIONS)}: "
                             "filters takes all that Datarep has")
        if found is not None:
            front = "shuffle," if encoding.get("shuffle", True) else ""
            filters = front + found.format(encoding.get("complevel", 4))
    return chunks, filters


class _Opener:
    """Opens a file for xarray, which closes and opens files as it needs descriptors: the same commit
    each time, or StaleError."""

    def __init__(self, commit: int, hints: Any) -> None:
        self._commit, self._hints = commit, hints
        self._pinned: Optional[tuple[int, bytes]] = None

    def __call__(self, path: str, mode: Any) -> File:
        if self._pinned is not None:
            return _reopen(path, *self._pinned, self._hints)
        made = open(path, mode, commit=self._commit, hints=self._hints)
        head = made.header
        self._pinned = head["sequence"], head["uuid"]
        return made


def _equal(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    same = a == b
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        same = same | (np.isnan(a) & np.isnan(b))
    return bool(np.all(same))


def _regions(store: Store, dataset: xr.Dataset, region: Any) -> Any:
    """The region with its slices: "auto" is where the coordinates of the file are those given."""
    if region == "auto":
        region = {d: "auto" for d in dataset.dims if d in dataset.coords and store._find(d) is not None}
        if not region:
            raise ValueError("region 'auto' needs coordinates, in the file and here")
    if not isinstance(region, dict):
        raise TypeError(f"region is a dict or 'auto', not {type(region).__name__}")
    made = {}
    for dim, part in region.items():
        made[dim] = part
        if part != "auto":
            continue
        there = store._find(dim)
        if dim not in dataset.coords or there is None:
            raise ValueError(f"region 'auto' of {dim!r} needs its coordinates, in the file and here")
        old = {str(dim): store._variable(str(dim), there)}
        labels = pd.Index(conventions.decode_cf_variables(old, {})[0][str(dim)].values)
        at = labels.get_indexer(dataset[dim].to_index())
        if (at < 0).any() or not len(at) or (np.diff(at) != 1).any():
            raise ValueError(f"the coordinates {dim!r} are not consecutive ones of the file")
        made[dim] = slice(int(at[0]), int(at[-1]) + 1)
    for dim, part in made.items():
        if dim not in dataset.dims:
            raise ValueError(f"region: the dataset has no dimension {dim!r}, but {list(dataset.dims)}")
        if not isinstance(part, slice):
            raise TypeError(f"region: that of {dim!r} is a slice or 'auto', not {part!r}")
        if part.step not in (1, None):
            raise ValueError(f"region: the step of {dim!r} is 1, not {part.step}")
    outside = [name for name, v in dataset.variables.items() if not set(made) & set(v.dims)]
    if outside:
        raise ValueError(f"region: {outside[0]!r} has none of the dimensions {list(made)}: leave it out with "
                         f"drop_vars({outside!r})")
    return made


def storage_hints(path: Any, options: Mapping[str, Any]) -> dict[str, str]:
    """The hints that say what storage_options of fsspec say; ValueError for one that none says.

    >>> storage_hints("s3://bucket/a.drep", {"anon": True, "client_kwargs": {"region_name": "eu-west-1"}})
    {'drep_s3_anonymous': 'true', 'drep_s3_region': 'eu-west-1'}
    """
    if not is_url(path):
        raise ValueError("storage_options are for URLs")
    s3 = {"key": "drep_s3_key", "secret": "drep_s3_secret", "token": "drep_s3_session", "profile": "drep_s3_profile",
          "endpoint_url": "drep_s3_endpoint", "region_name": "drep_s3_region", "anon": "drep_s3_anonymous"}
    known = s3 if path[:5].lower() == "s3://" else {}
    hints = {}
    for name, value in options.items():
        if name in ("client_kwargs", "config_kwargs") and known:
            hints.update(storage_hints(path, value))
        elif name in known:
            hints[known[name]] = str(value).lower() if isinstance(value, bool) else str(value)
        elif name == "headers" and not known:
            for header, text in value.items():
                if header.lower() != "authorization" or text[:7].lower() != "bearer ":
                    raise ValueError(f"storage_options: the header {header!r} is not sent")
                hints["drep_http_token"] = text[7:].strip()
        else:
            raise ValueError(f"storage_options: {name!r} says nothing here; hints of datarep-hints(7) may")
    return hints


def _group_paths(source: Any, group: Optional[str], commit: int, hints: Any,
                 storage_options: Any = None) -> tuple[dict[str, str], int]:
    """{name of a group below another: its path}, the other is "/", and the number of the commit.  A group
    to which several links lead is there once."""
    path = source if is_url(source) else common._normalize_path(source)
    if storage_options:
        hints = {**storage_hints(path, storage_options), **dict(hints or {})}
    with open(path, commit=commit, hints=hints) as file:
        top = file[group or "/"].name
        below = [path for path, kind, _ in file._h.visit(top, 1) if kind == GROUP]
        paths = [top] + [path for path in below if path != top]
        return {"/" + path[len(top):].strip("/"): path for path in paths}, file.header["sequence"]


def _tree_class() -> Any:
    """xarray's class of trees."""
    found = getattr(xr, "DataTree", None)
    if found is None:
        raise ImportError(f"xarray {xr.__version__} has no DataTree: datarep.xarray.open_groups() gives a dict")
    return found


def open_groups(path: Any, *, group: Optional[str] = None, commit: int = 0,
                **options: Any) -> dict[str, xr.Dataset]:
    """The groups of a file as datasets: {"/": ..., "/a": ..., "/a/b": ...}, all of one commit.

    group: the topmost one; commit: an earlier one; options: those of xr.open_dataset.  Where xarray has
    DataTree, its from_dict() makes a tree of them, and so does xr.open_datatree(path, engine="datarep").

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> save_groups({"/": xr.Dataset({"a": 1}), "/b": xr.Dataset({"c": 2})}, path)
    >>> [(name, list(ds)) for name, ds in open_groups(path).items()]
    [('/', ['a']), ('/b', ['c'])]
    """
    paths, commit = _group_paths(path, group, commit, options.get("hints"), options.get("storage_options"))
    return {name: xr.open_dataset(path, engine="datarep", group=own, commit=commit, **options)
            for name, own in paths.items()}


def save_groups(groups: Any, path: Any, mode: Mode = "w", *, encoding: Optional[Mapping[str, Any]] = None,
                datarep: Any = None, hints: Any = None) -> None:
    """Write {path of a group: dataset}, or a DataTree, to a file: all of it, or nothing.

    A dimension that a group above has with the same length is not made again; a coordinate that a
    DataTree inherits is stored once, above.  encoding: {path of a group: {variable: {...}}}.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> save_groups({"/b": xr.Dataset({"c": 2})}, path, encoding={"/b": {"c": {"dtype": "i2"}}})
    """
    if hasattr(groups, "subtree"):
        groups = {node.path: node.to_dataset(inherit=False) for node in groups.subtree}
    made = {"/" + str(name).strip("/"): ds for name, ds in groups.items()}
    if len(made) < len(groups):
        raise ValueError("two datasets are for one group")
    encoding = {"/" + str(name).strip("/"): e for name, e in (encoding or {}).items()}
    unknown = sorted(set(encoding) - set(made))
    if unknown:
        raise ValueError(f"encoding of {unknown[0]!r}: there is no such group")
    for ds in made.values():
        _check(ds, mode, None, None)
    if not is_stream(path):
        path = os.path.expanduser(os.fspath(path))
    if any([_by_processes(ds, path) for ds in made.values()]):
        raise NotImplementedError("groups are written by one process: compute with threads, as in "
                                  "dask.config.set(scheduler='threads')")
    file = open(path, mode, datarep=datarep, hints=hints)
    try:
        for name, ds in sorted(made.items(), key=lambda item: item[0].count("/") if item[0] != "/" else 0):
            _dump(ds, Store(file, name if name != "/" else None), _Writer(False, hints), encoding.get(name), None)
        file.close()
    except BaseException:
        file.abandon()
        raise


def _dump(dataset: xr.Dataset, store: "Store", writer: _Writer, encoding: Any, unlimited_dims: Any,
          compute: bool = True) -> Any:
    """Write a dataset to a group; a Delayed of its arrays of dask unless `compute`."""
    if unlimited_dims is None:
        unlimited_dims = dataset.encoding.get("unlimited_dims")
        if unlimited_dims is not None:
            unlimited_dims = [d for d in unlimited_dims if d in dataset.dims]
    elif isinstance(unlimited_dims, str):
        unlimited_dims = [unlimited_dims]
    for name in (*dataset.variables, *dataset.dims):
        if "/" in str(name):
            raise ValueError(f"variable or dimension {name!r}: Forward slashes '/' are not allowed in variable and "
                             "dimension names, as they separate groups")
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    for name, asked in (encoding or {}).items():
        variables[name].encoding = asked
    store.store(variables, attributes, set(encoding or {}), writer, unlimited_dims)
    return writer.sync(compute=compute)


class Backend(common.BackendEntrypoint):
    """The engine "datarep" of xr.open_dataset.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
    >>> ds.datarep.save(path)
    >>> with xr.open_dataset(path, engine="datarep") as back:
    ...     print(back["t"].values)
    [1.5 2.5]
    """

    description = "Open files of Datarep (.drep)"
    open_dataset_parameters = (
        "filename_or_obj", "mask_and_scale", "decode_times", "concat_characters", "decode_coords",
        "drop_variables", "use_cftime", "decode_timedelta", "group", "commit", "hints", "storage_options",
        "external")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether a file begins as one of Datarep, or the path of a URL ends in .drep.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
        >>> ds.datarep.save(path)
        >>> Backend().guess_can_open(path), Backend().guess_can_open("a.nc")
        (True, False)
        """
        if is_url(filename_or_obj):
            return bool(urlsplit(filename_or_obj).path.lower().endswith(".drep"))
        magic = try_read_magic_number_from_file_or_path(filename_or_obj, len(MAGIC))
        return magic == MAGIC

    def open_groups_as_dict(self, filename_or_obj: Any, *, group: Optional[str] = None, commit: int = 0,
                            **options: Any) -> dict[str, xr.Dataset]:
        """The groups of a file: {path: dataset}, "/" for the file or for `group`.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> save_groups({"/b": xr.Dataset({"c": 2})}, path)
        >>> list(Backend().open_groups_as_dict(path))
        ['/', '/b']
        """
        paths, commit = _group_paths(filename_or_obj, group, commit, options.get("hints"),
                                     options.get("storage_options"))
        return {name: self.open_dataset(filename_or_obj, group=path, commit=commit, **options)
                for name, path in paths.items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> Any:
        """The groups of a file as a DataTree, which newer versions of xarray have.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> save_groups({"/b": xr.Dataset({"c": 2})}, path)
        >>> tree = Backend().open_datatree(path) if hasattr(xr, "DataTree") else open_groups(path)
        >>> int(tree["/b"]["c"])
        2
        """
        return _tree_class().from_dict(self.open_groups_as_dict(filename_or_obj, **options))

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None,  # type: ignore
                     group: Optional[str] = None, commit: int = 0, hints: Any = None,
                     storage_options: Any = None, external: bool = False, **decoding: Any) -> xr.Dataset:
        """group: of the file; commit: an earlier one; hints: those of datarep-hints(7).
        storage_options: for a URL, as fsspec has them: anon, key, secret, token, profile, endpoint_url,
        client_kwargs={"endpoint_url": ..., "region_name": ...}; of http: headers={"Authorization": "Bearer ..."}.
        external: whether files that this one names may be opened, as those of a virtual join.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
        >>> ds.datarep.save(path)
        >>> with xr.open_dataset(path, engine="datarep", commit=1) as back:
        ...     print(dict(back.sizes))
        {'time': 2}
        """
        path = filename_or_obj if is_url(filename_or_obj) else common._normalize_path(filename_or_obj)
        if storage_options:
            hints = {**storage_hints(path, storage_options), **dict(hints or {})}
        if external:
            hints = {**(hints or {}), "drep_external": "true"}
        manager = CachingFileManager(_Opener(commit, hints), path, mode="r") if isinstance(path, str) \
            else DummyFileManager(open(path, commit=commit, hints=hints))
        try:
            store = Store(manager, group)
            return StoreBackendEntrypoint().open_dataset(store, drop_variables=drop_variables,
                                                         **decoding)
        except BaseException:
            manager.close()
            raise


def _finish(writes: Any, store: Store) -> None:
    store.close()


def _check(dataset: xr.Dataset, mode: str, append_dim: Any, region: Any) -> None:
    if mode not in ("w", "x", "a", "r+"):
        raise ValueError(f"mode {mode!r} is none of w, x, a, r+")
    if (append_dim is not None or region is not None) and mode not in ("a", "r+"):
        raise ValueError("append_dim and region need mode 'a' or 'r+'")
    for owner in (dataset, *dataset.variables.values()):
        for kind, names in (("variable", getattr(owner, "variables", ())), ("attr", owner.attrs)):
            for name in names:
                if not isinstance(name, str) and (name is not None or kind == "attr"):
                    raise TypeError(f"Invalid name for {kind}: {name!r} must be either a string or None")
                if name == "":
                    raise ValueError(f"Invalid name for {kind} '': string must be length 1 or greater")
        for name, value in owner.attrs.items():
            try:
                if not isinstance(value, Empty):
                    values.natural(value)
            except TypeError as error:
                raise TypeError(f"Invalid value for attr {name!r}: {error}") from None
    if region is not None:
        if append_dim is not None and append_dim in region:
            raise ValueError(f"{append_dim!r} is both append_dim and a dimension of region")


def _by_processes(dataset: xr.Dataset, path: Any) -> bool:
    """Whether dask writes variables of a dataset in processes of its own."""
    if all(v.chunks is None for v in dataset.variables.values()) \
            or _get_scheduler() not in ("multiprocessing", "distributed"):
        return False
    if not isinstance(path, str) or path == ":memory:":
        raise NotImplementedError("processes of dask write a file that has a path: compute with threads, as in "
                                  "dask.config.set(scheduler='threads')")
    return True


class Accessor:
    """Dataset.datarep: how a dataset of xarray is saved.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
    >>> ds.datarep.save(path)
    >>> os.path.exists(path)
    True
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def save(self, path: Any, mode: Optional[Mode] = None, *, group: Optional[str] = None,
             encoding: Optional[Mapping[Any, Any]] = None, append_dim: Optional[Hashable] = None,
             region: Any = None,
             unlimited_dims: Optional[Iterable[Hashable]] = None, compute: bool = True,
             datarep: Any = None, hints: Any = None) -> Any:
        """Write it to a file, all at once: readers see it with the commit at the end, and after an
        error nothing has changed.

        mode: "w" makes a file, "x" only where there is none, "a" adds to one, "r+" to one that
        exists; without it "w", or "r+" with append_dim or region.
        encoding: {variable: {...}} with dtype, _FillValue, chunks, filters, datarep and those of CF, or
        netCDF's chunksizes, zlib, compression ("zlib", "gzip", "zstd" or "lzf"), complevel, shuffle.  Without
        chunks an array of dask is stored in its own, if there are several of one shape; else the library
        chooses: none, unless filters or an unlimited dimension need them.
        append_dim: an unlimited dimension at whose end variables are added.
        region: {dimension: slice} of variables that are there; "auto", or {dimension: "auto"}: where the
        file has the coordinates of the dataset.
        Both only add: units, packing and other coordinates are those of the file, or an error names
        the variable; one that is not in the file, or not in the dataset, needs a fill value.
        Numbers are stored exactly, but for packing and shorter floats, or refused; an encoding that
        came with a variable from another file and does not hold its values is left out, with a warning.
        compute: False gives a Delayed of dask, which writes and commits.
        A save with append_dim or region waits, up to 600 seconds (hint drep_lock_wait), while another handle
        writes: threads, processes of joblib or dask, and jobs of an array may save parts of one file, each in
        its turn.  A part is there as a whole, or not at all; of parts that overlap, the later save's counts.
        Arrays of dask are written chunk by chunk, by threads.  Where dask computes in processes, as the
        workers of a cluster do, the file is made and committed first; then each process opens it, waiting
        for its turn (hint drep_lock_wait, here 600 seconds), writes a chunk and commits: readers see the
        parts as they come, and after an error those that were written stay.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
        >>> ds.datarep.save(path, unlimited_dims="time", encoding={"t": {"dtype": "f4", "zlib": True}})
        >>> ds.assign_coords(time=[2, 3]).datarep.save(path, append_dim="time")
        >>> with xr.open_dataset(path) as back:
        ...     print(back["t"].values, back["time"].values)
        [1.5 2.5 1.5 2.5] [0 1 2 3]
        """
        dataset = self._dataset
        if mode is None:
            mode = "w" if append_dim is None and region is None else "r+"
        _check(dataset, mode, append_dim, region)
        if not is_stream(path):
            path = os.path.expanduser(os.fspath(path))
        remote = _by_processes(dataset, path)
        # Parts are saved by many: each waits for its turn.
        waits = remote or region is not None or append_dim is not None
        file = open(path, mode, datarep=datarep, hints={WAIT: PATIENCE, **dict(hints or {})} if waits else hints)
        try:
            if region is not None:
                region = _regions(Store(file, group), dataset, region)
            store = Store(file, group, append_dim, region)
            writer = _Writer(remote, hints)
            writes = _dump(dataset, store, writer, encoding, unlimited_dims, compute and not remote)
            if compute or remote:
                store.close()
        except BaseException:
            file.abandon()
            raise
        if remote and compute:
            writes.compute()
        if compute:
            return None
        if remote:
            return writes
        import dask
        return dask.delayed(_finish)(writes, store)


class ArrayAccessor:
    """DataArray.datarep: how an array of xarray is saved.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
    >>> ds["t"].datarep.save(path)
    >>> with xr.open_dataarray(path) as back:
    ...     print(back.name)
    t
    """

    def __init__(self, array: xr.DataArray) -> None:
        self._array = array

    def save(self, path: Any, mode: Optional[Mode] = None, **options: Any) -> Any:
        """Write it as the variable of its name, as Dataset.datarep.save() does.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
        >>> ds["t"].mean("time").rename("mean").datarep.save(path)
        >>> with xr.open_dataset(path) as back:
        ...     print(float(back["mean"]))
        2.0
        """
        array, name = self._array, self._array.name
        if name is None or name in array.coords or name in array.dims:
            raise ValueError("the array needs a name that none of its coordinates has: array.rename(name)")
        return array.to_dataset().datarep.save(path, mode, **options)


def save_mfdataset(datasets: Iterable[xr.Dataset], paths: Iterable[Any], mode: Optional[Mode] = None,
                   **options: Any) -> Any:
    """Write several datasets to a file each; with compute=False, a Delayed of all.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> ds = xr.Dataset({"t": ("time", [1.5, 2.5])}, {"time": [0, 1]})
    >>> save_mfdataset([ds, ds + 1], [path, path + "2"])
    >>> with xr.open_dataset(path + "2", engine="datarep") as back:
    ...     print(back["t"].values)
    [2.5 3.5]
    """
    datasets, paths = list(datasets), list(paths)
    if len(datasets) != len(paths):
        raise ValueError(f"{len(datasets)} datasets for {len(paths)} paths: give lists of the same length")
    for one in datasets:
        if not isinstance(one, xr.Dataset):
            raise TypeError(f"save_mfdataset only supports writing Dataset objects, not {type(one).__name__}")
    if mode in (None, "w", "x") and len(set(map(str, paths))) < len(paths):
        raise ValueError("cannot use mode 'w' for several datasets in one file: the last would replace the others")
    made = [d.datarep.save(p, mode, **options) for d, p in zip(datasets, paths)]
    if options.get("compute", True):
        return None
    import dask
    return dask.delayed(made)


# xarray has beside each class the module that it needs, since 2023.
_beside = any(isinstance(known, tuple) for known in common.BACKEND_ENTRYPOINTS.values())
common.BACKEND_ENTRYPOINTS["datarep"] = (None, Backend) if _beside else Backend  # type: ignore
plugins.list_engines.cache_clear()
if not hasattr(xr.Dataset, "datarep"):
    xr.register_dataset_accessor("datarep")(Accessor)
if not hasattr(xr.DataArray, "datarep"):
    xr.register_dataarray_accessor("datarep")(ArrayAccessor)
