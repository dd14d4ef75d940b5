# SPDX-License-Identifier: MIT
"""Files, groups and dimensions."""
from __future__ import annotations

import atexit
import contextlib
import io
import operator
import os
import re
import sys
import time
import warnings
import weakref
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, Literal, NamedTuple, Optional, Sequence, Union, overload

from . import _core, types, values
from .attrs import Attributes
from .create import Filters, spec_of
from .dataset import Dataset, Range, Report, array
from .errors import ConversionWarning, ExistsError, NotFoundError, make, shown
from .named import Named

__all__ = ["Commit", "Dimension", "Dimensions", "ExternalLink", "File", "Group", "HardLink",
           "SoftLink", "open"]

if TYPE_CHECKING:
    import numpy

    from .tree import Tree

Mode = Literal["r", "r+", "a", "w", "x", "w-"]
Layout = Literal["auto", "compact", "contiguous", "chunked"]
GROUP, DATASET, TYPE, DIMENSION = 1, 2, 3, 4
HARD, SOFT, EXTERNAL = 1, 2, 3
BY_NAME, BY_CREATION = 0, 1


class SoftLink(NamedTuple):
    """A link to a path; f["x"] = SoftLink("/y") makes one.

    >>> f = dr.open(":memory:", "w")
    >>> f["x"] = [1, 2]
    >>> f["also"] = dr.SoftLink("/x")
    >>> f["also"][:], f.get("also", getlink=True)
    (array([1, 2]), SoftLink(path='/x'))
    """

    path: str


class ExternalLink(NamedTuple):
    """A link to an object of another file; it is followed with the hint drep_external=true.

    >>> f = dr.open(":memory:", "w")
    >>> f["other"] = dr.ExternalLink("other.drep", "/x")
    >>> f.get("other", getlink=True).filename
    'other.drep'
    """

    filename: str
    path: str


class HardLink(NamedTuple):
    """A link to an object itself.

    >>> f = dr.open(":memory:", "w")
    >>> f["x"] = [1, 2]
    >>> f["same"] = f["x"]
    >>> f.get("same", getlink=True), f["same"].id == f["x"].id
    (HardLink(), True)
    """


def link_row(handle: Any, path: str) -> Any:
    """The link at a path, as the library lists it, or None."""
    above, _, last = path.rpartition("/")
    found = handle.link(above or "/", last)
    return found[0] if found else None


class NamedType(Named):
    """A datatype with a name in the file.

    >>> f = dr.open(":memory:", "w")
    >>> f["time_type"] = np.dtype("i8")
    >>> f["time_type"]
    <datatype /time_type: INT64_T>
    """

    def __init__(self, file: "File", name: str) -> None:
        self._file, self.name = file, name

    @property
    def type(self) -> types.Type:
        """The library's type.

        >>> f = dr.open(":memory:", "w")
        >>> f["t"] = np.dtype("i8")
        >>> f["t"].type
        INT64_T
        """
        return self._file._h.type_open(self.name)

    @property
    def dtype(self) -> "numpy.dtype[Any]":
        """The dtype of its elements.

        >>> f = dr.open(":memory:", "w")
        >>> f["t"] = np.dtype("i8")
        >>> f["t"].dtype
        dtype('int64')
        """
        return types.form_of_type(self.type).dtype

    def __repr__(self) -> str:
        return f"<datatype {shown(self.name)}: {shown(repr(self.type))}>"


class Commit(NamedTuple):
    """A commit that can be opened: open(path, commit=number).

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.open(path, "w") as f:
    ...     f["x"] = 1
    ...     f.commit()
    ...     f["x"][...] = 2
    >>> with dr.open(path) as f:
    ...     numbers = [c.number for c in f.log()]
    >>> with dr.open(path, commit=numbers[0]) as f:
    ...     print(f["x"][()])
    1
    """

    number: int
    time: float
    end: int

    def __str__(self) -> str:
        return f"{self.number} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.time))}"


class Dimension:
    """A dimension that datasets share: a length, a name, attributes.

    >>> f = dr.open(":memory:", "w")
    >>> f.dims["time"] = None
    >>> f.dims["lat"] = 180
    >>> f.dims["lat"], f.dims["time"].unlimited
    (<dimension /#lat: 180>, True)
    """

    def __init__(self, file: "File", address: str) -> None:
        self._file = file
        self.address = address

    @property
    def name(self) -> str:
        """Its name.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> f.dims["lat"].name
        'lat'
        """
        return self.address.rsplit("#", 1)[1]

    @property
    def size(self) -> int:
        """Its length.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> f.dims["lat"].size
        180
        """
        return self._file._h.stat(self.address)[5]

    @property
    def unlimited(self) -> bool:
        """Whether it may grow.  Setting it changes the maxima of all datasets along it.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> f.dims["lat"].unlimited
        False
        >>> sst = f.create("sst", np.zeros(180), dims=["lat"])
        >>> f.dims["lat"].unlimited = True
        >>> sst.resize(181)
        >>> f.dims["lat"]
        <dimension /#lat: 181, unlimited>
        """
        return bool(self._file._h.stat(self.address)[6])

    @unlimited.setter
    def unlimited(self, unlimited: bool) -> None:
        self._file._h.dimension_set_unlimited(self.address, unlimited)

    @property
    def attrs(self) -> Attributes:
        """Its attributes.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> f.dims["lat"].attrs["long_name"] = "latitude"
        >>> dict(f.dims["lat"].attrs)
        {'long_name': 'latitude'}
        """
        return Attributes(self._file._h, self.address)

    @property
    def coordinate(self) -> Optional[Dataset]:
        """The dataset with the coordinates, or None.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> _ = f.create("lat", np.linspace(-89.5, 89.5, 180), dims=["lat"])
        >>> f.dims["lat"].coordinate
        <dataset /lat: shape (180,), dtype float64>
        """
        try:
            path = self._file._h.dimension_coordinate(self.address)
        except KeyError:
            return None
        return self._file[path]

    def rename(self, name: str) -> None:
        """Give it another name in its group; datasets keep it.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 180
        >>> f.dims["lat"].rename("latitude")
        >>> list(f.dims)
        ['time', 'latitude']
        """
        self._file._h.dimension_rename(self.address, name)
        self._file._addresses.clear()
        self.address = self.address.rsplit("#", 1)[0] + "#" + name

    def __len__(self) -> int:
        return self.size

    def __index__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dimension) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __repr__(self) -> str:
        return f"<dimension {shown(self.address)}: {self.size}{', unlimited' if self.unlimited else ''}>"


class Dimensions(MutableMapping[str, Any]):
    """The dimensions of a group; those of the groups above are found, too.

    g.dims["time"] = None makes an unlimited one, an int one of that length."""

    def __init__(self, group: "Group") -> None:
        self._group = group

    def _own(self) -> dict[str, str]:
        h = self._group._file._h
        return {row[0]: row[1] for row in h.dimension_list(self._group.name, BY_CREATION)}

    def __getitem__(self, name: str) -> Dimension:
        file = self._group._file
        below = self._group.name.rstrip("/") + "/x"
        try:
            return Dimension(file, file._h.dimension_find(below, name))
        except NotFoundError as error:
            # The library was asked for the dimension of an object `below`, which need not be there.
            error.args = (f"{shown(file.filename)}: {shown(self._group.name)}: no dimension {name!r}; there are "
                          f"{shown(', '.join(self._seen()) or 'none')}",)
            error.object = f"{self._group.name}#{name}"
            raise

    def _seen(self) -> list[str]:
        """The names of all that are found: the group's own and those of the groups above."""
        h, path = self._group._file._h, self._group.name
        names: dict[str, None] = {}
        while True:
            names.update({row[0]: None for row in h.dimension_list(path, BY_CREATION)})
            if path == "/":
                return list(names)
            path = path.rpartition("/")[0] or "/"

    def __setitem__(self, name: str, length: Optional[int]) -> None:
        self.create(name, 0 if length is None else length, length is None)

    def create(self, name: str, length: int = 0, unlimited: bool = False) -> Dimension:
        """Make a dimension with a length that may grow."""
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {type(name).__name__}")
        address = f"{self._group.name}#{name}"
        if not hasattr(length, "__index__"):
            raise TypeError(f"{shown(address)}: a length is needed, or None for an unlimited dimension, not {length!r}")
        self._group._file._h.dimension_create(address, operator.index(length), unlimited)
        return Dimension(self._group._file, address)

    def __delitem__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {type(name).__name__}")
        self._group._file._h.dimension_remove(f"{self._group.name}#{name}")
        self._group._file._addresses.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._own())

    def __len__(self) -> int:
        return len(self._own())

    def __repr__(self) -> str:
        return f"<dimensions of {shown(self._group.name)}: {shown(', '.join(self) or 'none')}>"


class Group(Named, MutableMapping[str, Any]):
    """A group: a dict of its members, which are groups, datasets and named datatypes.

    >>> f = dr.open(":memory:", "w")
    >>> g = f.create_group("run/1")
    >>> g["x"] = [1, 2, 3]
    >>> list(f), list(g), f["run/1/x"][0], "run/2" in f
    (['run'], ['x'], 1, False)
    """

    def __init__(self, file: "File", name: str) -> None:
        self._file = file
        self.name = name

    # ------------------------------------------------------------------ paths

    def _path(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"a name is a str, not {type(name).__name__}")
        if not name:
            raise ValueError("a name is not empty")
        if name.startswith("/"):
            joined = name
        else:
            joined = f"{self.name}/{name}" if self.name != "/" else f"/{name}"
        if "//" in joined or "/." in joined or joined.endswith("/"):
            parts: list[str] = []
            for part in joined.split("/"):
                if part == "..":
                    del parts[-1:]
                elif part not in ("", "."):
                    parts.append(part)
            return "/" + "/".join(parts)
        return joined

    def _object(self, path: str) -> Any:
        kind = self._file._h.exists(path)
        if kind == DATASET:
            return self._file._dataset(path)
        if kind == GROUP:
            return self._file if path == "/" else Group(self._file, path)
        if kind == TYPE:
            return NamedType(self._file, path)
        self._file._h.stat(path)  # the message names the missing part
        raise make(26, f"{shown(self._file.filename)}: {shown(path)}: an object of an unknown kind",
                   self._file.filename, path)

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, types.Reference):
            return self._object(self._file._h.path(name.id))
        return self._object(self._path(name))

    @overload  # type: ignore[override]
    def get(self, name: str, default: None = None, *,
            getlink: Literal[True]) -> Union[SoftLink, ExternalLink, HardLink, None]: ...
    @overload
    def get(self, name: str, default: Any = None, getlink: bool = False) -> Any: ...

    def get(self, name: str, default: Any = None, getlink: bool = False) -> Any:
        """The member, or the default; getlink: the link that leads to it.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f.get("nope") is None, f.get("a/x")[0]
        (True, 1)
        """
        if getlink:
            return self._link(name, default)
        try:
            return self[name]
        except KeyError:
            return default

    def _link(self, name: str, default: Any = None) -> Any:
        row = link_row(self._file._h, self._path(name))
        if row is None:
            return default
        if row[1] == SOFT:
            return SoftLink(row[4])
        return ExternalLink(row[5], row[4]) if row[1] == EXTERNAL else HardLink()

    def __setitem__(self, name: str, value: Any) -> None:
        path, h = self._path(name), self._file._h
        if isinstance(value, SoftLink):
            h.link_soft(value.path, path)
        elif isinstance(value, ExternalLink):
            h.link_external(value.filename, value.path, path)
        elif isinstance(value, (Group, Dataset, NamedType)) and value._file is self._file:
            h.link_hard(value.name, path)
        elif isinstance(value, (Group, NamedType)):
            raise ValueError(f"{value!r} is in another file: copy() copies it")
        elif isinstance(value, types.Type):
            h.type_commit(path, value)
        elif isinstance(value, array):
            self._store(name, value)
        elif isinstance(value, types.numpy().dtype):
            h.type_commit(path, types.form_of_dtype(value).type)
        else:
            self.create(name, value)

    def _store(self, name: str, value: array) -> None:
        path = self._path(name)
        data = values.natural(value.value, values.Given(path, file=self._file.filename, object=path))
        made = self.create(name, dtype=value.stored if value.stored is not None else data.dtype,
                           shape=data.shape, **value.create)
        value.report = made.write(data, threads=value.options.threads, range=_range(value.options))

    def __delitem__(self, name: str) -> None:
        self._file._h.link_remove(self._path(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._file._h.exists(self._path(name)) != 0

    def __iter__(self) -> Iterator[str]:
        rows = self._file._h.list(self.name, self._file.order)
        return iter([row[0] for row in rows])

    def __len__(self) -> int:
        return self._file._h.stat(self.name)[4]

    def __bool__(self) -> bool:
        return not self._file.closed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._file is other._file and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self._file), self.name))

    # ------------------------------------------------------------------ making

    def create(self, name: str, data: Any = None, *, dtype: Any = None, shape: Any = None,
               dims: Optional[Sequence[Optional[str]]] = None, chunks: Any = None,
               maxshape: Any = None, filters: Filters = None, fill: Any = None,
               attrs: Optional[Mapping[str, Any]] = None, datarep: Optional[str] = None,
               layout: Optional[Layout] = None, placed: Optional[bool] = None,
               parents: bool = True) -> Dataset:
        """Make a dataset.

        data: its elements; or dtype and shape of elements that are written later.
        dims: names of dimensions, one for each of the dataset's, which give the shape if nothing
        else does; an unlimited one lets the dataset grow.
        chunks: lengths, True for a usual choice, None for none unless it is needed.
        maxshape: how far it may grow, None for no limit.
        filters: "shuffle,zstd:3" or a list of names and (name, level).
        fill: the value of elements that nobody wrote.
        datarep: the representation of its elements, if not the file's.
        layout: "contiguous", "chunked" or "compact".
        placed: whether members of structs keep the offsets of the dtype; None: if they can.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["time"] = None
        >>> f.dims["lat"] = 3
        >>> sst = f.create("sst", dtype="f4", dims=["time", "lat"], chunks=(1, 3), filters="shuffle,zstd:3",
        ...                fill=np.nan, attrs={"units": "degC"})
        >>> sst.append([[18.5, 19.0, 19.5]])
        >>> sst.shape, sst.maxshape, sst.filters
        ((1, 3), (None, 3), 'shuffle,zstd:3')
        """
        path = self._path(name)
        spec = spec_of(self, path, data, dtype, shape, dims, chunks, maxshape, filters, fill, layout)

        def make(placed: bool) -> None:
            try:
                _core.dataset_create(self._file._h, path, spec.stored, spec.shape, spec.maxshape,
                                     spec.dims, spec.chunks, spec.filters, spec.layout,
                                     spec.fill_kind, spec.fill, datarep, placed)
            except ExistsError as error:
                error.args = (f"{error}: assign to its [...] to write its elements, or delete it first",)
                raise

        with self._or_nothing(path, parents) as made_here:
            if placed is None and spec.form.dtype.names is not None and spec.form.plan is None:
                try:
                    make(True)
                except TypeError:
                    make(False)  # the representation has no room for members at these offsets
            else:
                make(bool(placed))
            made_here.append(path)
            made = self._file._dataset(path)
            for key, value in {**spec.attrs, **(attrs or {})}.items():
                made.attrs[key] = value
            if spec.data is not None:
                made[...] = spec.data
        return made

    @contextlib.contextmanager
    def _or_nothing(self, path: str, parents: bool = True) -> Iterator[list[str]]:
        """Make the groups above a path.  What fails leaves nothing: neither what the block made at the
        path, which it adds to the list, nor these groups."""
        h, above, first = self._file._h, path.rpartition("/")[0], ""
        made: list[str] = []
        if parents and above and not h.exists(above):
            first = above
            while first.rpartition("/")[0] and not h.exists(first.rpartition("/")[0]):
                first = first.rpartition("/")[0]
            h.group_create(above, True)
        try:
            yield made
        except BaseException:
            if first or made:
                h.link_remove(first or path)
            raise

    def create_group(self, name: str, attrs: Optional[Mapping[str, Any]] = None) -> "Group":
        """Make a group, and those above it.

        >>> f = dr.open(":memory:", "w")
        >>> f.create_group("a/b", attrs={"note": "made with its parent"})
        <group /a/b: 0 members>
        """
        path = self._path(name)
        with self._or_nothing(path) as made_here:
            self._file._h.group_create(path, False)
            made_here.append(path)
            made = Group(self._file, path)
            made.attrs.update(attrs or {})
        return made

    def require_group(self, name: str) -> "Group":
        """The group, made if it is not there.

        >>> f = dr.open(":memory:", "w")
        >>> f.require_group("a") == f.require_group("a")
        True
        """
        found = self.get(name)
        if found is None:
            return self.create_group(name)
        if not isinstance(found, Group):
            raise TypeError(f"{shown(found.name)} is not a group")
        return found

    def create_dataset(self, name: str, shape: Any = None, dtype: Any = None, data: Any = None,
                       chunks: Any = None, maxshape: Any = None, compression: Any = None,
                       compression_opts: Any = None, shuffle: bool = False, fillvalue: Any = None,
                       **more: Any) -> Dataset:
        """create() under h5py's name, with its arguments.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create_dataset("x", (100, 10), "f4", chunks=(10, 10), compression="gzip", shuffle=True)
        >>> x.filters
        'shuffle,deflate:6'
        """
        filters: Any = more.pop("filters", None)
        if filters is None and (compression is not None or shuffle):
            filters = ["shuffle"] if shuffle else []
            if compression is not None:
                level = compression_opts
                if isinstance(compression, int):
                    compression, level = "deflate", compression
                name_of = {"gzip": "deflate"}.get(compression, compression)
                filters.append((name_of, -1 if level is None else level))
        return self.create(name, data, dtype=dtype, shape=shape, chunks=chunks, maxshape=maxshape,
                           filters=filters, fill=fillvalue, **more)

    def require_dataset(self, name: str, shape: Any, dtype: Any, exact: bool = False,
                        **more: Any) -> Dataset:
        """The dataset, made if it is not there; TypeError if it has another shape or dtype.

        >>> f = dr.open(":memory:", "w")
        >>> f.require_dataset("x", (3,), "f8") == f.require_dataset("x", (3,), "f8")
        True
        """
        found = self.get(name)
        if found is None:
            return self.create_dataset(name, shape, dtype, **more)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        np = types.numpy()
        if not isinstance(found, Dataset):
            raise TypeError(f"{shown(found.name)} is not a dataset")
        if found.shape != shape:
            raise TypeError(f"{shown(found.name)} has shape {found.shape}, not {shape}")
        wanted = types.type_of(dtype).dtype
        if found.dtype != wanted and (exact or not np.can_cast(wanted, found.dtype)):
            raise TypeError(f"{shown(found.name)} has dtype {shown(found.dtype)}, not {wanted}")
        return found

    def copy(self, source: Any, dest: Union[str, "Group"], name: Optional[str] = None,
             datarep: Optional[str] = None, range: Optional[Range] = None) -> Report:
        """Copy an object, with all below it, here or into a group, also of another file.

        Entries of tags that only a newer version knows stay behind, which a ConversionWarning says.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> _ = f.copy("a", "b")
        >>> f["b/x"][:]
        array([1, 2, 3])
        """
        from .dataset import RANGES
        if isinstance(source, (Group, Dataset, NamedType)):
            file, path = source._file, source.name
        else:
            file, path = self._file, self._path(source)
        if isinstance(dest, Group):
            to, target = dest._file, dest._path(name or path.rsplit("/", 1)[-1])
            if path == "/" and name is None:
                target = dest.name
        else:
            to, target = self._file, self._path(dest)
        got, left = file._h.copy(path, to._h, target, datarep, RANGES[range])
        if left:  # of a newer version: it may be false of the copy
            warnings.warn(f"{shown(path)}: left out: {'; '.join(left)}", ConversionWarning, stacklevel=2)
        return Report(*got) if got else Report()

    def move(self, source: str, dest: str) -> None:
        """Give a member another path.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f.move("a/x", "y")
        >>> list(f)
        ['a', 'y']
        """
        self._file._h.link_move(self._path(source), self._path(dest))

    # ----------------------------------------------------------------- walking

    def visit(self, fn: Callable[[str], Any]) -> Any:
        """Call fn(path) for every object below, until it returns something.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f.visit(print)
        a
        a/x
        """
        return self.visititems(lambda name, _: fn(name))

    def visititems(self, fn: "Callable[[str, Member], Any]") -> Any:
        """Call fn(path, object) for every object below, until it returns something.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f.visititems(lambda path, o: o if path.endswith("x") else None)
        <dataset /a/x: shape (3,), dtype int64>
        """
        skip = len(self.name.rstrip("/")) + 1
        for path, kind, _ in self._file._h.visit(self.name, self._file.order):
            if path == self.name or kind == DIMENSION:
                continue
            got = fn(path[skip:], self._object(path))
            if got is not None:
                return got
        return None

    def walk(self) -> "Iterator[Member]":
        """Every group, dataset and named datatype below, groups before what they hold.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> [o.name for o in f.walk()]
        ['/a', '/a/x']
        """
        for path, kind, _ in self._file._h.visit(self.name, self._file.order):
            if kind == DATASET:
                yield self._file._dataset(path)
            elif kind in (GROUP, TYPE) and path != self.name:
                yield self._object(path)

    def tree(self) -> "Tree":
        """The group and all below it as text, as `datarep ls --tree` shows them: print(f.tree()).

        Of a dataset the shape, with the names of dimensions and a star where it may grow, the datatype, and units.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> print(f["a"].tree())
        /a
        └── x (3) INT64_T
        """
        from . import tree
        return tree.Tree(self)

    @property
    def dims(self) -> Dimensions:
        """Its dimensions.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 180
        >>> {name: d.size for name, d in f.dims.items()}
        {'lat': 180}
        """
        return Dimensions(self)

    def __reduce__(self) -> Any:
        return _group, (self._file, self.name)

    def __repr__(self) -> str:
        if self._file.closed:
            return "<group of a closed file>"
        return f"<group {shown(self.name)}: {len(self)} members>"

    def _repr_html_(self) -> str:
        from . import tree
        return tree.html(self)


Member = Union[Group, Dataset, NamedType]  # of a group


def _range(options: Any) -> Optional[Range]:
    from .dataset import RANGES
    return next(k for k, v in RANGES.items() if v == options.range)  # type: ignore[misc]


def _together(error: Any) -> bool:
    """Whether all ranks have the error, or the one that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if getattr(error, "together", False):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _group(file: "File", name: str) -> Any:
    return file[name]


_writers: "weakref.WeakSet[File]" = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Files that nobody closed: committed as the program ends, abandoned if an exception ends it."""
    failed = getattr(sys, "last_type", None) is not None and not hasattr(sys, "ps1")
    for file in list(_writers):
        try:
            if failed or file._h.shared or file._process != os.getpid():
                file.abandon()
            else:
                file.close()
        except Exception:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]


class File(Group):
    """An open file, and its root group: File(...) is open(...).

    As a context manager it commits and closes at the end, and abandons after an exception, which it
    tells the other processes of a communicator.

    A file that nobody closes is committed and closed when the last reference to it and its objects is
    gone, and at the end of the program; where an exception ends the program it is abandoned.  One that
    several processes share is abandoned, as they commit together.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.File(path, "w") as f:
    ...     f["x"] = np.arange(3)
    >>> with dr.File(path) as f:
    ...     print(f["x"][:])
    [0 1 2]
    """

    _process: int  # that opened it to write
    _url: Optional[str]

    def __init__(self, path: Any, mode: Mode = "r", **options: Any) -> None:
        made = open(path, mode, **options)
        self._set(made._h, made.mode, made._hints, made._source)
        self._url = made._url

    @property
    def _file(self) -> "File":  # type: ignore[override]
        """Itself, without a reference: a file that nobody uses ends at once."""
        return self

    @classmethod
    def _made(cls, handle: Any, mode: str, hints: Optional[dict[str, Any]] = None,
              source: Any = None) -> "File":
        """The file of a handle."""
        self = cls.__new__(cls)
        self._set(handle, mode, hints, source)
        return self

    def _set(self, handle: Any, mode: str, hints: Optional[dict[str, Any]], source: Any) -> None:
        self.name = "/"
        self._h = handle
        self.mode = mode
        self.order = BY_NAME
        self._hints = hints
        self._source = source
        self._url = None
        self._reports: dict[str, Report] = {}
        self._addresses: dict[int, str] = {}
        if handle.writes:
            self._process = os.getpid()
            _writers.add(self)

    def _dataset(self, path: str) -> Dataset:
        made = Dataset(self._h, path)
        made._file = self
        made.name = path
        return made

    def _address(self, number: int) -> str:
        found = self._addresses.get(number)
        if found is None:
            found = self._addresses[number] = self._h.path(number)
        return found

    @property
    def filename(self) -> str:
        """The path of the file.

        >>> f = dr.open(":memory:", "w")
        >>> f.filename
        ':memory:'
        """
        return self._h.name

    @property
    def closed(self) -> bool:
        """Whether it was closed.

        >>> f = dr.open(":memory:", "w")
        >>> f.close()
        >>> f.closed
        True
        """
        return self._h.closed

    @property
    def writable(self) -> bool:
        """Whether this handle writes.

        >>> f = dr.open(":memory:", "w")
        >>> f.writable
        True
        """
        return self._h.writes

    def close(self) -> None:
        """Commit and close.  If the commit fails, changes since the last one are lost.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> f = dr.open(path, "w")
        >>> f["x"] = 1
        >>> f.close()
        >>> f.closed
        True
        """
        if self._h.writes and not self._h.closed:
            try:
                # Writes that failed raised, and changed nothing: what succeeded is kept.
                self._h.commit()
            except BaseException:
                self._h.abandon()
                raise
        self._h.close()

    def abandon(self) -> None:
        """Close without committing.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> f = dr.open(path, "w")
        >>> f["x"] = 1
        >>> f.abandon()
        >>> os.path.exists(path)
        False
        """
        self._h.abandon()

    def commit(self) -> None:
        """Make all changes since the last commit durable, at once.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> f = dr.open(path, "w")
        >>> f["x"] = 1
        >>> f.commit()
        >>> dr.open(path)["x"][()]
        1
        >>> f.close()
        """
        self._h.commit()

    flush = commit

    def seal(self) -> int:
        """Compute the checksums that the hint drep_checksum=deferred left out, and give their number.

        Those of chunks in other files need the hint drep_external.  The next commit stores them.

        >>> f = dr.open(":memory:", "w", hints={"drep_checksum": "deferred"})
        >>> f["x"] = np.zeros(1000)
        >>> f.commit()
        >>> f.usage()["absent"]
        2
        >>> f.seal()
        2
        >>> f.commit()
        >>> f.usage()["absent"]
        0
        """
        return self._h.seal()

    def refresh(self) -> bool:
        """Move a reader, with its datasets, to the newest commit; whether there is a newer one.

        A program that follows a writer asks again and again::

            while running:
                if f.refresh():
                    show(f["x"][-1])
                time.sleep(1)

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> writer = dr.open(path, "w")
        >>> writer["x"] = 1
        >>> writer.commit()
        >>> reader = dr.open(path)
        >>> writer["x"][...] = 2
        >>> writer.commit()
        >>> reader["x"][()]
        1
        >>> reader.refresh(), reader.refresh()
        (True, False)
        >>> reader["x"][()]
        2
        """
        before = self.sequence
        self._addresses.clear()
        self._h.refresh()
        return self.sequence != before

    def log(self) -> list[Commit]:
        """The commits that can be opened, the oldest first: the last two, unless the writer keeps more by
        hints={"drep_keep": 10}.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> with dr.open(path, "w", hints={"drep_keep": 10}) as f:
        ...     for n in range(4):
        ...         f[f"x{n}"] = n
        ...         f.commit()
        >>> with dr.open(path) as f:
        ...     print([c.number for c in f.log()])
        [1, 2, 3, 4]
        """
        return [Commit(n, t / 1e9, end) for n, t, end in self._h.log()]

    @property
    def header(self) -> dict[str, Any]:
        """What the header says.

        >>> f = dr.open(":memory:", "w")
        >>> f.header["datarep"], len(f.header["uuid"])
        ('native', 16)
        """
        return self._h.header()

    @property
    def sequence(self) -> int:
        """The number of the open commit.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> with dr.open(path, "w") as f:
        ...     f["x"] = 1
        >>> with dr.open(path) as f:
        ...     print(f.sequence)
        1
        """
        return self._h.header()["sequence"]

    @property
    def datarep(self) -> str:
        """The data representation of datasets that ask for no other.

        >>> dr.open(":memory:", "w", datarep="external32").datarep
        'external32'
        """
        return self._h.header()["datarep"]

    @property
    def datareps(self) -> list[str]:
        """The names of all representations in the file.

        >>> f = dr.open(":memory:", "w", datarep="external32")
        >>> x = f.create("x", [1, 2], datarep="native:s390x")
        >>> f.datareps
        ['external32', 'native:s390x']
        """
        return [row[1] for row in self._h.datareps()]

    @property
    def hints(self) -> dict[str, str]:
        """The hints in effect (datarep-hints(7)).

        >>> dr.open(":memory:", "w", hints={"drep_keep": 10}).hints["drep_keep"]
        '10'
        """
        return self._h.hints()

    def set_hints(self, **hints: Any) -> None:
        """Set hints that act on an open file.

        >>> f = dr.open(":memory:", "w")
        >>> f.set_hints(drep_threads=2)
        >>> f.hints["drep_threads"]
        '2'
        """
        self._h.set_hints(hints)

    def usage(self) -> dict[str, int]:
        """Bytes of the parts of the file.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.zeros(1000)
        >>> f.commit()
        >>> f.usage()["data"] >= 8000
        True
        """
        return self._h.usage()

    def check(self, deep: bool = True) -> list[tuple[int, int, str]]:
        """Verify the open commit: findings as (code, byte, message).

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.zeros(1000)
        >>> f.check()
        []
        """
        return self._h.check(deep)

    def __enter__(self) -> "File":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        elif self._h.shared and not _together(value):
            self._h.fail(f"{kind.__name__}: {value}")
        else:
            self.abandon()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> Any:
        if self.writable:
            raise TypeError("a file that is open for writing cannot be pickled: open it for reading")
        if self._source is not None:
            raise TypeError("a file that was opened from an object cannot be pickled")
        head = self._h.header()
        return _reopen, (self._url or os.path.abspath(self._h.name), head["sequence"], head["uuid"], self._hints)

    def __repr__(self) -> str:
        if self.closed:
            return "<closed file>"
        return f"<file {shown(self.filename)}: mode {self.mode}, {len(self)} members>"


def _reopen(path: str, commit: int, uuid: bytes, hints: Any) -> File:
    """Of pickles: the same commit of the same file, or StaleError."""
    try:
        made = open(path, commit=commit, hints=hints)
    except (NotFoundError, FileNotFoundError) as error:
        path = url_shown(path) if is_url(path) else path
        raise make(31, f"{shown(path)}: commit {commit} is no longer kept", path) from error
    if made._h.header()["uuid"] != uuid:
        made.abandon()
        path = url_shown(path) if is_url(path) else path
        raise make(31, f"{shown(path)}: another file is here now", path)
    return made


def is_url(path: Any) -> bool:
    """Whether the library opens it as a URL."""
    return isinstance(path, str) and path[:8].lower().startswith(("http://", "https://", "s3://"))


def url_shown(url: str) -> str:
    """A URL without its user part, query and fragment, as the library's messages have it.

    >>> url_shown("https://me:secret@host/a.drep?signature=1")
    'https://host/a.drep'
    """
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/\\?#]", rest)[0]
    path = re.split("[?#]", rest[len(host):])[0]
    host = host.rpartition("@")[2]
    if not re.fullmatch(r"(\[.*\]|[^:]*)(:[0-9]*)?", host):
        return f"{scheme}://(a URL without a valid host)"
    return f"{scheme}://{host}{path}"


def is_stream(path: Any) -> bool:
    """Whether it is a file object: paths, as those of py.path, may have methods of files, too."""
    return hasattr(path, "read") and (isinstance(path, io.IOBase) or not isinstance(path, os.PathLike))


def open(path: Any, mode: Mode = "r", *, datarep: Any = None, commit: int = 0,
         hints: Optional[Mapping[str, Any]] = None, like: Optional[File] = None,
         header_only: bool = False, comm: Any = None, sync: bool = True, external: bool = False) -> File:
    """Open a file, or make one.

    path: a path, ":memory:", bytes of a file, a file object, also of fsspec, or a URL (http://, https://,
    s3://) to be read or, with "w" and "x", to be written in one pass (datarep-remote(7)).
    mode: "r" reads the last commit; "r+" and "a" write, "a" also makes a file; "w" makes one, which
    appears with its first commit; "x" only where there is none.
    datarep: of a new file: "native", "external32", "internal", "native:s390x", a `Datarep`.
    commit: the number of an earlier one (File.log).
    hints: those of datarep-hints(7); a name that begins with drep_ and is none of them, and a value that
    is not valid, are refused, names of others are ignored.
    sync: whether a commit is durable when it returns.  False does not wait for the disk, for files
    that can be made again: after a power failure commits, or the file, may be lost (the hint
    drep_sync=none).
    external: whether files that this one names, in or below its directory, may be opened: for virtual files
    (`join`) and external links (the hint drep_external).
    comm: a communicator of mpi4py, whose processes all open the file, with equal arguments, and
    commit and close it together.  Each makes the same groups, datasets and attributes, or rank 0
    alone makes them; elements are written by one of them each, or by all together
    (`Dataset.collective`).  An exception of one of them in a `with` block is an `Error` on the others
    in their next common call.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.open(path, "w", datarep="external32") as f:    # make a file; it commits at the end
    ...     f["x"] = np.arange(6.0).reshape(2, 3)
    ...     f["x"].attrs["units"] = "m"
    >>> with dr.open(path) as f:                               # read it
    ...     print(f["x"][1, ::2], f["x"].attrs["units"])
    [3. 5.] m
    >>> with dr.open(path, "a") as f:                          # add to it
    ...     f["y"] = "text"
    """
    if mode not in ("r", "r+", "a", "w", "x", "w-"):
        raise ValueError(f"mode: {mode!r} is none of r, r+, a, w, x")
    if mode == "w-":
        mode = "x"
    if not hasattr(commit, "__index__"):
        raise TypeError(f"commit: a number of File.log() is needed, not {commit!r}")
    if commit < 0:
        raise ValueError(f"commit {commit}: the first is 1")
    if hints is not None and not isinstance(hints, Mapping):
        raise TypeError(f"hints: a dict is needed, not {type(hints).__name__}")
    given = dict(hints) if hints else None
    if not sync:
        given = {**(given or {}), "drep_sync": "none"}
    if external:
        given = {**(given or {}), "drep_external": "true"}
    if comm is not None:
        if commit or like is not None or header_only:
            raise ValueError("comm goes with none of commit, like and header_only")
        from . import mpi
        return mpi.open(path, mode, datarep, given, comm)
    datarep = getattr(datarep, "name", datarep)
    if not isinstance(datarep, (str, type(None))):
        raise TypeError(f"datarep: a name or a Datarep is needed, not {type(datarep).__name__}")
    if isinstance(path, (bytes, bytearray, memoryview)) or is_stream(path):
        from . import objects
        return objects.open(path, mode, datarep, given)
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError("path: a path, \":memory:\", bytes of a file or a file object is needed, not "
                        f"{type(path).__name__}")
    path = os.fsdecode(path)
    name = url_shown(path) if is_url(path) else path
    if mode in ("w", "x") or (mode == "a" and path != ":memory:" and not is_url(path) and not os.path.exists(path)):
        handle = _core.create(path, mode == "x", datarep, given, like._h if like else None, name)
        mode = mode if mode != "a" else "r+"
    else:
        handle = _core.open(path, mode != "r", given, commit, header_only, name)
    made = File._made(handle, mode, given)
    made._url = path if is_url(path) else None
    return made
