# SPDX-License-Identifier: MIT
"""Datasets as h5py has them."""
from __future__ import annotations

import re
import warnings
from typing import Any, Iterator, Optional

import numpy as np

from .. import notes, types as main_types, values
from ..attrs import Empty
from ..dataset import Dataset as Main
from . import regions, types
from ..errors import shown
from .base import HLObject

_LEGACY_GZIP_COMPRESSION_VALS = tuple(range(10))


class H5pyDeprecationWarning(DeprecationWarning):
    """Of what h5py deprecates."""


class MultiBlockSlice:
    """Blocks at equal distances as one index: start, stride, count, block.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> x[:, h5py.MultiBlockSlice(start=0, stride=2, count=2, block=1)]
    array([[ 0,  2],
           [ 4,  6],
           [ 8, 10]])
    """

    def __init__(self, start: int = 0, stride: int = 1, count: Optional[int] = None,
                 block: int = 1) -> None:
        if start < 0:
            raise ValueError("start cannot be negative")
        if stride < 1 or (count is not None and count < 1) or block < 1:
            raise ValueError("stride, count and block are 1 or more")
        if block > stride:
            raise ValueError("blocks overlap: block is larger than stride")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """(start, stride, count, block) for a dimension of this length.

        >>> h5py.MultiBlockSlice(start=0, stride=3, count=2, block=1).indices(12)
        (0, 3, 2, 1)
        """
        count = self.count
        if count is None:
            count = (length - self.start - self.block) // self.stride + 1
            if count < 1:
                raise ValueError("no block fits into the dimension")
        end = self.start + (count - 1) * self.stride + self.block
        if end > length:
            raise ValueError(f"the last block ends at {end}, the dimension at {length}")
        return self.start, self.stride, count, self.block

    def _list(self, length: int) -> Any:
        start, stride, count, block = self.indices(length)
        return (start + stride * np.arange(count)[:, None] + np.arange(block)).reshape(-1)

    def __repr__(self) -> str:
        return (f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={self.count}, "
                f"block={self.block})")


def _list_of(part: Any, length: int) -> Any:
    """A list, mask or blocks along one dimension, in the order that h5py asks for."""
    if isinstance(part, MultiBlockSlice):
        return part._list(length)
    array = np.asarray(part)
    if array.dtype.kind == "b":
        if array.shape != (length,):
            raise TypeError("a mask has the shape of the dataset or the length of its dimension")
        return np.flatnonzero(array)
    if not array.size:
        return np.zeros(0, "i8")
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"Indexing elements must be integers in one dimension, not {part!r}")
    array = np.where(array < 0, array.astype("i8") + length, array)
    if array.min() < 0 or array.max() >= length:
        raise IndexError(f"Fancy indexing out of range for (0-{length - 1})")
    if (np.diff(array.astype("i8")) <= 0).any():
        raise TypeError("Indexing elements must be in increasing order")
    return array


def _spread(key: tuple[Any, ...], rank: int) -> list[Any]:
    """The key with the ellipsis as slices."""
    places = [i for i, k in enumerate(key) if k is Ellipsis]
    if len(places) > 1:
        raise ValueError("Only one ellipsis may be used.")
    left = list(key)
    at = places[0] if places else len(left)
    if places:
        del left[at]
    if len(left) > rank:
        raise TypeError(f"{len(left)} indexing arguments for {rank} dimensions")
    left[at:at] = [slice(None)] * (rank - len(left))
    return left


def parse(args: Any, shape: tuple[int, ...]) -> tuple[Any, Any, bool]:
    """A key of h5py -> (key of the package, names of members, whether its lists act alone)."""
    given = args if isinstance(args, tuple) else (args,)
    names = [k.decode() if isinstance(k, bytes) else k for k in given if isinstance(k, (str, bytes))]
    key = tuple(k for k in given if not isinstance(k, (str, bytes)))
    if len(key) == 1 and isinstance(key[0], np.ndarray) and key[0].dtype.kind == "b" \
            and key[0].shape == shape and len(shape) > 1:
        return key[0], names, False
    if len(key) == 1 and isinstance(key[0], np.ndarray) and key[0].dtype.kind == "b" \
            and key[0].ndim > 1:
        raise TypeError("Boolean indexing array has incompatible shape")
    if not shape and any(k is not Ellipsis for k in key):
        raise ValueError("Illegal slicing argument for scalar dataspace")
    parts, lists = _spread(key, len(shape)), 0
    for i, part in enumerate(parts):
        if isinstance(part, slice):
            if part.step is not None and part.step <= 0:
                raise ValueError("Step must be >= 1 (got %d)" % part.step)
        elif isinstance(part, MultiBlockSlice) or (hasattr(part, "__len__") and np.ndim(part)) \
                or np.ndim(part) > 0:
            lists += not isinstance(part, MultiBlockSlice)
            parts[i] = _list_of(part, shape[i])
        elif isinstance(part, (bool, np.bool_)) or not hasattr(part, "__index__"):
            raise TypeError(f"{part!r} is no index")
        else:
            parts[i] = int(part)
            if not -shape[i] <= parts[i] < shape[i]:
                raise IndexError(f"Index ({parts[i]}) out of range for (0-{shape[i] - 1})" if shape[i] else
                                 f"Index ({parts[i]}) out of range for empty dimension")
    if lists > 1:
        raise TypeError("Only one indexing vector or array is currently allowed for fancy indexing")
    if not shape and any(k is Ellipsis for k in key):
        return Ellipsis, names, False
    return tuple(parts), names, any(isinstance(p, np.ndarray) for p in parts)


class _View:
    """ds.astype(), ds.asstr(), ds.fields(): the dataset read in another way."""

    def __init__(self, ds: "Dataset", turn: Any, dtype: Any = None, names: Any = None) -> None:
        self._ds, self._turn, self._dtype, self._names = ds, turn, dtype, names

    def __getitem__(self, args: Any) -> Any:
        if self._names is not None:
            args = (args if isinstance(args, tuple) else (args,)) + tuple(self._names)
        return self._turn(self._ds[args])

    def __len__(self) -> int:
        return len(self._ds)

    def __array__(self, dtype: Any = None) -> Any:
        got = np.asarray(self[()])
        return got if dtype is None else got.astype(dtype)

    def __enter__(self) -> "_View":
        if self._dtype is None:
            raise TypeError("only astype() is a context manager")
        warnings.warn("astype() as a context manager is deprecated: read by ds.astype(dtype)[...]",
                      H5pyDeprecationWarning, stacklevel=2)
        self._ds._as = self._dtype
        return self

    def __exit__(self, *args: Any) -> None:
        self._ds._as = None


class _Reader:
    """ds._fast_reader, which h5py's tests ask."""

    def __init__(self, ds: "Dataset") -> None:
        self._ds = ds

    def read(self, args: Any) -> Any:
        return self._ds[args]


class ChunkIterator:
    """The chunks of a dataset, or of a selection, as keys."""

    def __init__(self, dset: "Dataset", source_sel: Any = None) -> None:
        if dset.chunks is None:
            raise TypeError("Chunked dataset required")
        shape = dset.shape
        given = source_sel if source_sel is not None else (slice(None),) * len(shape)
        parts = given if isinstance(given, tuple) else (given,)
        if len(parts) != len(shape) or not all(isinstance(p, slice) for p in parts):
            raise ValueError("a selection is one slice for each dimension")
        self._rows: list[list[slice]] = []
        for part, length, chunk in zip(parts, shape, dset.chunks):
            start, stop, _ = part.indices(length)
            edges = [start, *range((start // chunk + 1) * chunk, stop, chunk), stop]
            self._rows.append([slice(a, b, 1) for a, b in zip(edges, edges[1:]) if b > a])
        import itertools
        self._it: Iterator[Any] = itertools.product(*self._rows)

    def __iter__(self) -> "ChunkIterator":
        return self

    def __next__(self) -> Any:
        return next(self._it)


class Dataset(HLObject):
    """An array in a file.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> x[1, ::2], x[()].sum()
    (array([4, 6]), 66)
    """

    _kind = "dataset"
    _has_create_plist = True
    _as: Any = None
    _known_dtype: Any = None

    def __init__(self, bind: Any, *, readonly: bool = False) -> None:
        self._from_id(bind)

    @property
    def _ds(self) -> Main:
        self._open()
        return self._main._dataset(self._path)

    # ------------------------------------------------------------ properties

    @property
    def shape(self) -> Any:
        """The lengths of its dimensions.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.shape
        (3, 4)
        """
        return self._ds.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.resize(shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.ndim
        2
        """
        return len(self.shape or ())

    @property
    def size(self) -> Any:
        """The number of elements.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.size
        12
        """
        shape = self.shape
        return None if shape is None else int(np.prod(shape, dtype=np.intp))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.nbytes
        96
        """
        return int((self.size or 0) * self.dtype.itemsize)

    @property
    def dtype(self) -> Any:
        """The dtype of its elements.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.dtype
        dtype('int64')
        """
        main = self._ds.dtype
        if self._known_dtype is not None:  # with an object its type stays
            return self._known_dtype
        dtype = types.from_main(main, self._csets("type") if types.has_texts(main) else None)
        marks = {n: v for n, v in (dtype.metadata or {}).items() if n != "datarep"}
        self._known_dtype = types._meta(dtype, **marks) if marks and dtype.kind != "V" else dtype
        return self._known_dtype

    @property
    def chunks(self) -> Any:
        """The lengths of a chunk, or None.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.chunks
        (2, 4)
        """
        return self._ds.chunks

    @property
    def maxshape(self) -> Any:
        """The lengths to which it may grow.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.maxshape
        (3, 4)
        """
        return self._ds.maxshape

    @property
    def fillvalue(self) -> Any:
        """The value of elements that were not written.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.fillvalue
        0
        """
        got = self._ds.fillvalue
        if isinstance(got, str):
            got = got.encode()
        return np.zeros((), self.dtype)[()] if got is None else got

    @property
    def _filters(self) -> dict[str, Any]:
        return {row[0]: row for row in self._ds._info()["filters"]}

    @property
    def compression(self) -> Any:
        """"gzip", "lzf", another filter's name, or None.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.compression
        'gzip'
        """
        for name in self._filters:
            if name in ("deflate", "zlib"):
                return "gzip"
            if name == "zstd" and notes.has_filter(self._remarks, notes.LZF):
                return "lzf"
            if name in ("lzf", "szip"):
                return name
        return None

    @property
    def compression_opts(self) -> Any:
        """The level of the compression.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.compression_opts
        4
        """
        row = self._filters.get("deflate")
        return row[1] if row else None

    @property
    def shuffle(self) -> bool:
        """Whether bytes are shuffled before compression.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.shuffle
        False
        """
        return "shuffle" in self._filters

    @property
    def fletcher32(self) -> bool:
        """Whether it was asked for: chunks have the container's checksums in any case.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.fletcher32
        False
        """
        return notes.has_filter(self._remarks, notes.FLETCHER32)

    @property
    def scaleoffset(self) -> Any:
        """None: there is no such filter.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.scaleoffset
        """
        return None

    @property
    def external(self) -> Any:
        """None: elements are in the file.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.external
        """
        return None

    @property
    def is_virtual(self) -> bool:
        """False: there are no virtual datasets.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.is_virtual
        False
        """
        return False

    @property
    def is_scale(self) -> bool:
        """Whether it is a scale of dimensions.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.is_scale
        False
        """
        from .dims import is_scale
        return is_scale(self)

    @property
    def dims(self) -> Any:
        """Its dimensions, with labels and scales.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> len(x.dims)
        2
        """
        from .dims import DimensionManager
        return DimensionManager(self)

    def make_scale(self, name: str = "") -> None:
        """Make the dataset a scale that dimensions of others can have.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.make_scale("height")
        >>> x.is_scale
        True
        """
        from .dims import make_scale
        make_scale(self, name)

    @property
    def _fast_reader(self) -> _Reader:
        return _Reader(self)

    # -------------------------------------------------------------- elements

    def __getitem__(self, args: Any, new_dtype: Any = None) -> Any:
        ds = self._ds
        shape = ds.shape
        if isinstance(args, tuple) and len(args) == 1:
            args = args[0] if isinstance(args[0], main_types.Reference) else args
        if isinstance(args, main_types.Reference):
            return self._region(args).read(new_dtype)
        if shape is None:
            if args is Ellipsis or args == () or args == (Ellipsis,):
                return Empty(self.dtype)
            raise ValueError("Empty datasets cannot be sliced")
        key, names, alone = parse(args, shape)
        if names:
            self._members(ds, names)  # after the key: a wrong one is told first
        got = self._read(ds, key, names, alone)
        turn = self._as if new_dtype is None else new_dtype
        return got if turn is None else got.astype(turn)

    def _region(self, ref: Any) -> Any:
        """The elements that a reference is of."""
        if not isinstance(ref, main_types.RegionReference):
            raise TypeError("a dataset is indexed by references to regions, not to objects")
        if ref.id != self._number:
            raise TypeError("Region reference must point to this dataset")
        return regions.Region(self, ref.region)

    def _members(self, ds: Main, names: list[str]) -> None:
        have = ds.dtype.names
        if have is None:
            raise ValueError("Field names only allowed for compound types")
        for name in names:
            if name not in have:
                raise ValueError(f"Field {shown(name)} does not appear in this type.")

    def _read(self, ds: Main, key: Any, names: list[str], alone: bool) -> Any:
        source: Any = ds.view(names) if names else ds
        if alone and names:
            got = ds.oindex[key]
            got = got[names[0]] if len(names) == 1 else got[names]
        elif alone:
            got = ds.oindex[key]
        else:
            got = source[key]
            if names and len(names) == 1:
                got = got[names[0]]
        if isinstance(key, type(Ellipsis)) and not ds.shape:
            got = np.asarray(got) if not isinstance(got, np.ndarray) else got
        return self._turned(got)

    def _read_points(self, at: tuple[Any, ...]) -> Any:
        """The elements at arrays of coordinates."""
        return self._turned(self._ds.vindex[at])

    def _turned(self, got: Any) -> Any:
        """What was read, as h5py gives it."""
        wanted = self.dtype
        if types.check_opaque_dtype(wanted):
            got = np.asarray(got).view(types._unmarked(wanted)).astype(wanted)
            return got if got.ndim else got[()]
        got = types.as_bytes(got)
        if isinstance(got, np.ndarray) and got.dtype == wanted and wanted.hasobject:
            return got.view(wanted)  # with its character sets
        return got

    def __setitem__(self, args: Any, val: Any) -> None:
        ds = self._ds
        shape = ds.shape
        if shape is None:
            raise TypeError("Empty datasets cannot be written")
        if isinstance(args, main_types.Reference):
            self._region(args).write(val)
            return
        key, names, alone = parse(args, shape)
        dtype = self.dtype
        if names:
            self._members(ds, names)
            if len(names) > 1:
                got = self[args[0] if isinstance(args, tuple) and len(args) == 1 else key]
                for name in names:
                    got[name] = types.fit(val[name], dtype[name], ds._given(None).part(f"member {name!r}"))
                names, val = [], got
        if names:
            if getattr(getattr(val, "dtype", None), "names", None) and names[0] in val.dtype.names:
                val = val[names[0]]
            part = types.fit(types.as_data(val), dtype[names[0]].base, ds._given(None).part(f"member {names[0]!r}"))
            where = key if not alone else None
            if where is None:
                whole = ds.oindex[key]
                whole[names[0]] = part
                ds.oindex[key] = whole
            else:
                ds.view(names[0])[where] = self._fit(part, ds.view(names[0]), where)
            return
        val = self._value(val, dtype, key)
        if dtype.subdtype and val.shape[-len(dtype.shape):] != dtype.shape:
            raise TypeError(f"Can't broadcast {np.shape(val)} into elements of shape {dtype.shape}")
        try:
            if alone:
                ds.oindex[key] = val
            else:
                ds[key] = val
        except ValueError as error:
            if "could not broadcast" not in str(error):
                raise
            shapes = re.findall(r"\([\d, ]*\)", str(error))
            said = " -> ".join(shapes[-2:]) or shown(error)
            raise TypeError(f"Can't broadcast {said}") from error

    @staticmethod
    def _fit(part: Any, view: Any, key: Any) -> Any:
        if part.ndim:
            return part
        shape = np.empty(view.shape, "V0")[key].shape
        return np.broadcast_to(part, shape)

    def _value(self, val: Any, dtype: Any, key: Any) -> Any:
        """The value, as the package takes it."""
        base = types.check_vlen_dtype(dtype)
        if isinstance(val, Empty):
            raise TypeError("a value without elements cannot be written")
        if isinstance(val, (Dataset, _View)):
            val = val[()]
        if base in (str, bytes):
            return types.as_str(val)
        if base is not None:
            return self._sequences(val, np.dtype(base), key)
        if types.check_opaque_dtype(dtype):
            array = types.as_data(val, dtype)
            return np.frombuffer(array.tobytes(), f"V{dtype.itemsize}").reshape(array.shape)
        if dtype.names is not None and not isinstance(val, (np.ndarray, np.void)):
            return self._rows(val, dtype)
        if dtype.subdtype:
            return types.fit(val, dtype.base, self._ds._given(None))
        return val

    def _rows(self, val: Any, dtype: Any) -> Any:
        """Structs from tuples; one number fills a struct of one member."""
        if len(dtype.names) == 1 and not isinstance(val, (tuple, list)):
            return values.member(val, main_types.form_of_dtype(types.to_main(dtype)), dtype.names[0])
        return val

    def _sequences(self, val: Any, base: Any, key: Any) -> Any:
        """Arrays of any length: one for each selected element."""
        if base.kind == "O" and types.check_vlen_dtype(base) not in (str, bytes):
            return val
        out_shape = np.empty(self.shape, "V0")[key].shape
        if isinstance(val, np.ndarray) and val.dtype.kind == "O" and val.shape == out_shape:
            return val
        n = int(np.prod(out_shape, dtype=int))
        out = np.empty(out_shape, object)
        flat = out.reshape(-1)
        if isinstance(val, np.ndarray) and val.ndim > 1 and val.shape[:-1] == out_shape:
            val = val.reshape(n, -1)
        rows: Any = [val] if n == 1 and not _nested(val, out_shape) else list(val)
        if n != len(rows):
            if len(rows) and np.ndim(rows[0]):
                raise ValueError(f"{len(rows)} arrays for {n} elements")
            rows = [val] * n
        for i, row in enumerate(rows):
            flat[i] = values.natural(row) if base.kind == "O" else types.fit(row, base, self._ds._given(None))
            if flat[i].ndim != 1:
                raise ValueError("an element is an array of one dimension")
        return out

    def astype(self, dtype: Any) -> Any:
        """The dataset read as another dtype.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.astype("f4")[0]
        array([0., 1., 2., 3.], dtype=float32)
        """
        dtype = np.dtype(dtype)
        return _View(self, lambda got: got.astype(dtype) if hasattr(got, "astype")
                     else np.asarray(got).astype(dtype)[()], dtype)

    def asstr(self, encoding: Any = None, errors: str = "strict") -> Any:
        """Text read as str instead of bytes.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.create_dataset("names", data=["a", "b"]).asstr()[0]
        'a'
        """
        info = types.check_string_dtype(self.dtype)
        if info is None:
            raise TypeError("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        how = encoding or info.encoding
        if how == "ascii" and encoding is None:
            how = "utf-8"

        def turn(got: Any) -> Any:
            if isinstance(got, bytes):
                return got.decode(how, errors)
            out = np.empty(got.shape, object)
            out.reshape(-1)[:] = [b.decode(how, errors) for b in got.reshape(-1).tolist()]
            return out

        return _View(self, turn)

    def fields(self, names: Any, *, _prior_dtype: Any = None) -> Any:
        """Some members of structs.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> rows = f.create_dataset("rows", data=np.zeros(2, [("a", "i4"), ("b", "f8")]))
        >>> rows.fields("b")[:]
        array([0., 0.])
        """
        return _View(self, lambda got: got, None, [names] if isinstance(names, str) else names)

    def read_direct(self, dest: Any, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Read into an array.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> out = np.empty((3, 4), "i8")
        >>> x.read_direct(out)
        >>> out[2, 3]
        11
        """
        self._direct(dest)
        got = self[() if source_sel is None else source_sel]
        self._into(dest, dest_sel, got)

    def _direct(self, array: Any) -> None:
        if self.shape is None:
            raise TypeError("Empty datasets have no numpy representation")
        if not array.flags.c_contiguous:
            raise TypeError("the array must be C-contiguous")

    @staticmethod
    def _into(dest: Any, sel: Any, got: Any) -> None:
        sel = () if sel is None else sel
        there = dest[sel]
        if np.shape(there) != np.shape(got) and np.size(there) != np.size(got):
            raise TypeError(f"selections of shape {np.shape(got)} and {np.shape(there)} differ")
        dest[sel] = np.reshape(got, np.shape(there))

    def write_direct(self, source: Any, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Write from an array.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.write_direct(np.ones((3, 4), "i8"))
        >>> x[()].sum()
        12
        """
        self._direct(source)
        value = source[() if source_sel is None else source_sel]
        key = () if dest_sel is None else dest_sel
        shape = np.empty(self.shape, "V0")[key].shape
        if np.size(value) != np.prod(shape, dtype=int):
            raise TypeError(f"selections of shape {np.shape(value)} and {shape} differ")
        self[key] = np.reshape(value, shape)

    def __array__(self, dtype: Any = None, copy: bool = True) -> Any:
        if self.shape is None or not self.size:
            return np.empty(self.shape or (0,), self.dtype if dtype is None else dtype)
        got = np.asarray(self[()])
        return got if dtype is None else got.astype(dtype)

    def iter_chunks(self, sel: Any = None) -> ChunkIterator:
        """The chunks of the dataset, or of a selection, as keys.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> [x[s].shape for s in x.iter_chunks()]
        [(2, 4), (1, 4)]
        """
        return ChunkIterator(self, sel)

    # ----------------------------------------------------------------- shape

    def resize(self, size: Any, axis: Optional[int] = None) -> None:
        """Change the lengths, within maxshape.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> y = f.create_dataset("y", (3,), maxshape=(None,))
        >>> y.resize((5,))
        >>> y.shape
        (5,)
        """
        ds = self._ds
        if ds.chunks is None:
            raise TypeError("Only chunked datasets can be resized")
        if axis is not None:
            if not 0 <= axis < self.ndim:
                raise ValueError(f"Invalid axis (0 to {self.ndim - 1} allowed)")
            lengths = list(self.shape)
            try:
                lengths[axis] = int(size)
            except TypeError:
                raise TypeError("Argument must be a single int if axis is specified") from None
            size = lengths
        ds.resize(tuple(int(n) for n in ((size,) if isinstance(size, int) else size)))

    def len(self) -> int:
        """The length of the first dimension.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.len()
        3
        """
        shape = self.shape
        if not shape:
            raise TypeError("Attempt to take len() of scalar dataset")
        return int(shape[0])

    def __len__(self) -> int:
        return self.len()

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("Can't iterate over a scalar dataset")
        for i in range(self.shape[0]):
            yield self[i]

    def refresh(self) -> None:
        """Show what writers have flushed: the file moves to its newest commit.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.refresh()
        """
        self._open()
        if not self._main.writable:
            self._main.refresh()

    def flush(self) -> None:
        """Commit the file.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.flush()
        """
        if self._main.writable:
            self._main.commit()

    def virtual_sources(self) -> Any:
        """RuntimeError: there are no virtual datasets.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> try:
        ...     x.virtual_sources()
        ... except RuntimeError as error:
        ...     print(error)
        not a virtual dataset
        """
        raise RuntimeError("not a virtual dataset")

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 dataset>"
        return (f"<HDF5 dataset \"{shown(self._path.rsplit('/', 1)[-1])}\": shape {self.shape}, "
                f"type \"{self.dtype.str}\">")


def _nested(val: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value for one element is a list with the array for it."""
    return bool(shape) and len(val) == 1 and np.ndim(val[0]) == 1
