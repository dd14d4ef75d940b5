# SPDX-License-Identifier: MIT
"""Groups, links and named datatypes as h5py has them."""
from __future__ import annotations

import math
import os
from collections.abc import ItemsView, KeysView, MutableMapping, ValuesView
from typing import Any, Iterator, Optional

import numpy as np

from .. import types as main_types
from ..attrs import Empty
from ..errors import Error, ExistsError, NotFoundError, shown
from ..file import DATASET, EXTERNAL, GROUP, SOFT, link_row
from ..values import Given
from . import dataset as dataset_module
from . import filters, types
from .base import HLObject, text
from .dataset import Dataset


class HardLink:
    """A link to an object itself.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> isinstance(f.get("a", getlink=True), h5py.HardLink)
    True
    """


class SoftLink:
    """A link to a path.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> f["s"] = h5py.SoftLink("/a/x")
    >>> f["s"] == x
    True
    """

    def __init__(self, path: Any) -> None:
        self._path = str(path)

    @property
    def path(self) -> str:
        """The path that it leads to.

        >>> h5py.SoftLink("/a/x").path
        '/a/x'
        """
        return self._path

    def __repr__(self) -> str:
        return f"<SoftLink to \"{shown(self.path)}\">"


class ExternalLink:
    """A link to an object of another file.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> f["e"] = h5py.ExternalLink("other.drep", "/x")
    >>> f.get("e", getlink=True).filename
    'other.drep'
    """

    def __init__(self, filename: Any, path: Any) -> None:
        self._filename = os.fsdecode(filename)
        self._path = text(path)

    @property
    def path(self) -> str:
        """The path in the other file.

        >>> h5py.ExternalLink("other.drep", "/x").path
        '/x'
        """
        return self._path

    @property
    def filename(self) -> str:
        """The other file.

        >>> h5py.ExternalLink("other.drep", "/x").filename
        'other.drep'
        """
        return self._filename

    def __repr__(self) -> str:
        return f"<ExternalLink to \"{shown(self.path)}\" in file \"{shown(self.filename)}\">"


class Datatype(HLObject):
    """A datatype with a name in the file.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> f["t"] = np.dtype("i4")
    >>> isinstance(f["t"], h5py.Datatype)
    True
    """

    _kind = "datatype"

    def __init__(self, bind: Any) -> None:
        self._from_id(bind)

    @property
    def id(self) -> Any:
        """Its low-level object, which can be compared with those of other datatypes.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f["t"] = np.dtype("i4")
        >>> f["t"].id == h5py.h5t.py_create("i4")
        True
        """
        from .ids import NamedTypeID
        return NamedTypeID(self, self._kind)

    @property
    def dtype(self) -> Any:
        """The dtype of its elements.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f["t"] = np.dtype("i4")
        >>> f["t"].dtype
        dtype('int32')
        """
        t = self._main._h.type_open(self._path)
        dtype = main_types.form_of_type(main_types.packed(t)).dtype
        dtype = types.from_main(dtype, self._csets("type") if types.has_texts(dtype) else None)
        if dtype.names is None and not dtype.subdtype:
            return dtype
        rows = [line.split(" ") for line in self._remarks if line.startswith("type ")]
        return types.laid_out(dtype, {f"{row[1]} {row[2].partition('=')[0]}": int(row[2].partition("=")[2])
                                      for row in rows if row[2:] and row[2].startswith(("offset=", "size="))})

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        return f"<HDF5 named type \"{shown(self._path.rsplit('/', 1)[-1])}\" (dtype {self.dtype.str})>"


class _Keys(KeysView[str]):
    _mapping: Any

    def __repr__(self) -> str:
        return f"<KeysViewHDF5 {list(self)}>" if self._mapping else "<KeysViewHDF5 of a closed file>"

    def __reversed__(self) -> Iterator[str]:
        yield from reversed(self._mapping)


class _Values(ValuesView[Any]):
    _mapping: Any

    def __contains__(self, value: object) -> bool:
        return any(self._mapping.get(k) == value for k in self._mapping)

    def __iter__(self) -> Iterator[Any]:
        for key in self._mapping:
            yield self._mapping.get(key)

    def __reversed__(self) -> Iterator[Any]:
        for key in reversed(self._mapping):
            yield self._mapping.get(key)

    def __repr__(self) -> str:
        return f"<ValuesViewHDF5 of {self._mapping!r}>"


class _Items(ItemsView[str, Any]):
    _mapping: Any

    def __contains__(self, item: Any) -> bool:
        key, value = item
        return key in self._mapping and self._mapping.get(key) == value

    def __iter__(self) -> Iterator[Any]:
        for key in self._mapping:
            yield key, self._mapping.get(key)

    def __reversed__(self) -> Iterator[Any]:
        for key in reversed(self._mapping):
            yield key, self._mapping.get(key)

    def __repr__(self) -> str:
        return f"<ItemsViewHDF5 of {self._mapping!r}>"


def _made(main: Any, path: str) -> Any:
    """The object at a path."""
    kind = main._h.exists(path)
    if not kind:
        main._h.stat(path)  # the error tells what is missing
    cls: Any = Dataset if kind == DATASET else Group if kind == GROUP else Datatype
    made = cls.__new__(cls)
    return made._bind(main, path)


class Group(MutableMapping[str, Any], HLObject):
    """A group: a dict of its members.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> list(f), list(f["a"]), "a/x" in f
    (['a'], ['x'], True)
    """

    _kind = "group"
    _has_create_plist = True

    def __init__(self, bind: Any) -> None:
        self._from_id(bind)

    __hash__ = HLObject.__hash__
    __eq__ = HLObject.__eq__

    @property
    def _g(self) -> Any:
        from ..file import Group as Main
        self._open()
        return Main(self._main, self._path)

    def _where(self, name: Any) -> str:
        return self._g._path(text(name)) if text(name) else self._path

    def _writes(self) -> None:
        self._open()
        if not self._main.writable:
            raise ValueError("Unable to create or change: no write intent on file")

    # -------------------------------------------------------------- members

    def __getitem__(self, name: Any) -> Any:
        self._open()
        if isinstance(name, main_types.Reference):
            if not name:
                raise ValueError("Invalid HDF5 object reference")
            return _made(self._main, self._main._h.path(name.id))
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"Accessing a group is done with bytes or str, not {type(name)}")
        path = self._where(name)
        try:
            return _made(self._main, path)
        except NotImplementedError:
            return self._outside(path)
        except NotFoundError as error:
            raise KeyError(f"Unable to open object (object '{shown(text(name))}' doesn't exist)") from error

    def _outside(self, path: str) -> Any:
        """An object behind a link to another file, which is opened in the way of this one."""
        from .files import File
        parts = path.strip("/").split("/")
        for i in range(1, len(parts) + 1):
            row = self._row("/" + "/".join(parts[:i]))
            if row is not None and row[1] == EXTERNAL:
                here = os.path.dirname(os.path.abspath(self._main.filename))
                try:
                    other = File(os.path.join(here, row[5]), "r+" if self._main.writable else "r")
                except OSError as error:
                    raise KeyError(f"unable to open external file {row[5]!r}: {shown(error)}") from error
                return other["/".join([row[4], *parts[i:]])]
        raise KeyError(path)

    def _row(self, path: str) -> Any:
        """The link at a path, as the library lists it, or None."""
        try:
            return link_row(self._main._h, path)
        except Error:
            return None

    def get(self, name: Any, default: Any = None, getclass: bool = False,  # type: ignore[override]
            getlink: bool = False) -> Any:
        """A member, its class, or the link to it, or the default.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.get("nope", 3)
        3
        """
        if not getclass and not getlink:
            try:
                return self[name]
            except KeyError:
                return default
        if getlink:
            row = self._row(self._where(name))
            if row is None:
                return default
            if row[1] == SOFT:
                return SoftLink if getclass else SoftLink(row[4])
            if row[1] == EXTERNAL:
                return ExternalLink if getclass else ExternalLink(row[5], row[4])
            return HardLink if getclass else HardLink()
        try:
            found = self[name]
        except KeyError:
            return default
        return Group if isinstance(found, Group) else type(found)

    def __setitem__(self, name: Any, obj: Any) -> None:
        self._writes()
        try:
            self._enter(self._where(name), obj)
        except ExistsError as error:
            if isinstance(obj, np.dtype):
                raise TypeError("Unable to commit datatype (name already exists)") from error
            raise OSError("Unable to create link (name already exists)") from error

    def _enter(self, path: str, obj: Any) -> None:
        """Give an object, a link, a datatype or a new dataset a path."""
        h = self._main._h
        self._parents(path)
        if isinstance(obj, HLObject):
            if obj._main is not self._main:
                raise OSError("Unable to create link (objects are in different files)")
            h.link_hard(obj._path, path)
        elif isinstance(obj, SoftLink):
            h.link_soft(obj.path, path)
        elif isinstance(obj, ExternalLink):
            h.link_external(obj.filename, obj.path, path)
        elif isinstance(obj, np.dtype):
            h.type_commit(path, main_types.form_of_dtype(types.to_main(obj)).type)
            _made(self._main, path)._note_type(obj, "type")
        else:
            self._make_dataset(path, None, None, obj, {})

    def _parents(self, path: str) -> None:
        above = path.rsplit("/", 1)[0]
        if above and not self._main._h.exists(above):
            self._main._h.group_create(above, True)

    def __delitem__(self, name: Any) -> None:
        self._open()
        if not self._main.writable:
            raise KeyError(f"Couldn't delete link (the file is read-only): {shown(text(name))}")
        self._main._h.link_remove(self._where(name))  # NotFoundError is a KeyError

    def __contains__(self, name: Any) -> bool:
        if not self or not name:
            return False
        if isinstance(name, main_types.Reference):
            return bool(name)
        path = self._where(name)
        if path == "/":
            return True
        try:
            return bool(self._main._h.exists(path)) or self._row(path) is not None
        except Error:
            return self._row(path) is not None

    def __iter__(self) -> Iterator[str]:
        self._open()
        for row in self._main._h.list(self._path, 1 if self._track else 0):
            yield row[0]

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(iter(self)))

    def __len__(self) -> int:
        self._open()
        return self._main._h.stat(self._path)[4]

    def keys(self) -> Any:
        """The names of its members.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> list(f.keys())
        ['a']
        """
        return _Keys(self)

    def values(self) -> Any:
        """Its members.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> len(f.values())
        1
        """
        return _Values(self)

    def items(self) -> Any:
        """Names and members.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> [name for name, member in f.items()]
        ['a']
        """
        return _Items(self)

    # --------------------------------------------------------------- making

    def create_group(self, name: Any, track_order: Optional[bool] = None) -> "Group":
        """Make a group, and those above it.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.create_group("a/b").name
        '/a/b'
        """
        self._writes()
        if name is None:
            raise NotImplementedError("objects without a name cannot be made here")
        path = self._where(name)
        try:
            if path == "/":
                raise ExistsError("/")
            self._main._h.group_create(path, True)
        except ExistsError as error:
            raise ValueError(f"Unable to create group (name already exists): {shown(path)}") from error
        made: Group = _made(self._main, path)
        if track_order:
            made._set_track()
        return made

    def require_group(self, name: Any) -> "Group":
        """The group, made if it is not there.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.require_group("a") == f.require_group("a")
        True
        """
        if name not in self:
            return self.create_group(name)
        found = self[name]
        if not isinstance(found, Group):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        return found

    def create_dataset(self, name: Any, shape: Any = None, dtype: Any = None, data: Any = None,
                       **kwds: Any) -> Dataset:
        """Make a dataset with h5py's keywords.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("x", (100,), "f4", chunks=(10,), compression="gzip", shuffle=True)
        >>> x.compression, x.shuffle
        ('gzip', True)
        """
        self._writes()
        for refused in ("external", "scaleoffset", "virtual"):
            if kwds.get(refused) not in (None, False):
                self._refuse(refused, kwds[refused], dtype)
        if kwds.get("track_times") not in (None, False, True):
            raise TypeError("track_times must be either True or False")
        if name is None:
            raise NotImplementedError("objects without a name cannot be made here")
        path = self._where(name)
        try:
            made = self._make_dataset(path, shape, dtype, data, kwds)
        except ExistsError as error:
            raise ValueError(f"Unable to create dataset (name already exists): {shown(path)}") from error
        if kwds.get("track_order"):
            made._set_track()
        return made

    def _make_dataset(self, path: str, shape: Any, dtype: Any, data: Any, kwds: dict[str, Any]) -> Dataset:
        if isinstance(dtype, Datatype):
            dtype = dtype.dtype
        if isinstance(data, Empty) or (data is None and shape is None):
            return self._null(path, data, dtype, kwds)
        return self._dataset(path, shape, dtype, data, kwds)

    @staticmethod
    def _refuse(keyword: str, value: Any, dtype: Any) -> None:
        if keyword == "scaleoffset":
            kind = np.dtype("f4" if dtype is None else dtype).kind
            if kind not in "iuf":
                raise TypeError("scale/offset filter only supports integer and floating-point types")
            if kind == "f" and (value is True or value < 0):
                raise ValueError("integer must be given for scaleoffset of floating-point data")
        raise NotImplementedError(f"{keyword} belongs to the HDF5 library: datarep.h5 cannot store it")

    def _null(self, path: str, data: Any, dtype: Any, kwds: dict[str, Any]) -> Dataset:
        """A dataset without elements."""
        if dtype is None and data is None:
            raise TypeError("One of data, shape or dtype must be specified")
        if any(kwds.get(k) not in (None, False) for k in ("chunks", "maxshape", "compression")):
            raise TypeError("Empty datasets cannot be chunked, resized or compressed")
        made = Empty(types.to_main(data.dtype if dtype is None else dtype))
        self._main._path(path)
        self._main.create(path, made)
        out: Dataset = _made(self._main, path)
        out._note_type(data.dtype if dtype is None else np.dtype(dtype), "type")
        return out

    def _named(self, path: str) -> Given:
        """What messages call the data of a new dataset."""
        return Given(path, file=self._main.filename, object=path, wider="say dtype={}")

    def _dataset(self, path: str, shape: Any, dtype: Any, data: Any, kwds: dict[str, Any]) -> Dataset:
        if dtype is not None:
            dtype = np.dtype(dtype)
        if data is not None and not isinstance(data, (Dataset, dataset_module._View)):
            data = types.as_data(data, dtype, self._named(path))
        elif data is not None:
            data = types.as_data(data[()], _dtype_of(data) if dtype is None else dtype, self._named(path))
        if dtype is None:
            dtype = np.dtype("=f4") if data is None else data.dtype
        sub = len(dtype.subdtype[1]) if dtype.subdtype else 0
        given = np.shape(data)
        own = given[:len(given) - sub] if data is not None else None
        if shape is None:
            shape = own
        else:
            shape = (int(shape),) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
            if data is not None and own != shape:
                if math.prod(shape) != math.prod(own or ()):
                    raise ValueError("Shape tuple is incompatible with data")
                data = np.reshape(data, shape + given[len(given) - sub:])
        made = self._create(path, shape, dtype, kwds)
        if data is not None and np.size(data):
            try:
                made[...] = data
            except BaseException:
                self._main._h.link_remove(path)
                raise
        return made

    def _create(self, path: str, shape: Any, dtype: Any, kwds: dict[str, Any]) -> Dataset:
        maxshape, chunks = kwds.get("maxshape"), kwds.get("chunks")
        if maxshape is True:
            maxshape = (None,) * len(shape)
        elif maxshape is not None and not isinstance(maxshape, tuple):
            maxshape = (maxshape,) if np.ndim(maxshape) == 0 else tuple(maxshape)
        made = filters.rows(kwds.get("compression"), kwds.get("compression_opts"),
                            kwds.get("shuffle"), _legacy())
        if not shape and (chunks not in (None, False) or made or maxshape):
            raise TypeError("Scalar datasets don't support chunk/filter options")
        if chunks is False and (made or maxshape):
            raise ValueError("Chunked format required for given storage options")
        chunks = filters.check_chunks(chunks, shape, maxshape)
        if chunks is None and shape and (made or maxshape or kwds.get("fletcher32")):
            chunks = True
        fill = kwds.get("fillvalue")
        if fill is not None and types.check_string_dtype(dtype) and dtype.kind == "O":
            fill = str(types.as_str(fill))
        elif fill is not None and dtype.names is not None and not isinstance(fill, (np.void, tuple)) \
                and not (isinstance(fill, np.ndarray) and fill.dtype.names):
            raise ValueError("a fill value of structs is a struct")
        noted = filters.noted(made, dtype, bool(kwds.get("fletcher32")))
        self._main.create(path, dtype=types.to_main(dtype), shape=shape, chunks=chunks,
                          maxshape=maxshape, filters=made, fill=fill,
                          layout="chunked" if chunks not in (None, False) and shape else None)
        out: Dataset = _made(self._main, path)
        if noted:
            out._set_remarks(noted)
        if types.has_texts(dtype):
            out._note_type(dtype, "type")
        return out

    def require_dataset(self, name: Any, shape: Any, dtype: Any, exact: bool = False,
                        **kwds: Any) -> Dataset:
        """The dataset, made if it is not there.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.require_dataset("x", (3,), "f8") == f.require_dataset("x", (3,), "f8")
        True
        """
        if name not in self:
            return self.create_dataset(name, shape, dtype, **kwds)
        found = self[name]
        if not isinstance(found, Dataset):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if shape != found.shape:
            if kwds.get("maxshape") != found.maxshape or kwds.get("maxshape") is None:
                raise TypeError(f"Shapes do not match (existing {found.shape} vs new {shape})")
        if exact and dtype != found.dtype:
            raise TypeError(f"Datatypes do not exactly match (existing {shown(found.dtype)} vs new {dtype})")
        if not np.can_cast(np.dtype(dtype), found.dtype):
            raise TypeError(f"Datatypes cannot be safely cast (existing {shown(found.dtype)} vs new {dtype})")
        return found

    def create_dataset_like(self, name: Any, other: Dataset, **kwupdate: Any) -> Dataset:
        """A dataset with the properties of another.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.create_dataset_like("y", x).chunks
        (2, 4)
        """
        for key in ("shape", "dtype", "chunks", "compression", "compression_opts", "shuffle",
                    "fletcher32", "fillvalue"):
            kwupdate.setdefault(key, getattr(other, key))
        if other.shape != other.maxshape:
            kwupdate.setdefault("maxshape", other.maxshape)
        return self.create_dataset(name, **kwupdate)

    def create_virtual_dataset(self, name: Any, layout: Any, fillvalue: Any = None) -> Dataset:
        """NotImplementedError: virtual datasets belong to the HDF5 library.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> try:
        ...     f.create_virtual_dataset("v", None)
        ... except NotImplementedError:
        ...     print("not here")
        not here
        """
        raise NotImplementedError("virtual datasets belong to the HDF5 library: datarep.h5 cannot "
                                  "store them")

    build_virtual_dataset = create_virtual_dataset

    # ------------------------------------------------------------- changing

    def copy(self, source: Any, dest: Any, name: Any = None, shallow: bool = False,
             expand_soft: bool = False, expand_external: bool = False, expand_refs: bool = False,
             without_attrs: bool = False) -> None:
        """Copy an object, with all below it, here or into another group.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.copy("a", "b")
        >>> f["b/x"].shape
        (3, 4)
        """
        if expand_refs:
            raise NotImplementedError("copy() keeps references as they are")
        found = source if isinstance(source, HLObject) else self[source]
        if isinstance(dest, Group):
            to = dest
            if name is None:
                name = found._path.rsplit("/", 1)[-1] if isinstance(source, HLObject) \
                    else text(source).rstrip("/").rsplit("/", 1)[-1]
        else:
            to, name = self, dest
        to._writes()
        path = to._where(name or ".")
        if path != to._path:
            to._parents(path)
        from ..file import Group as Main
        Main(found._main, found._path).copy(Main(found._main, found._path)
                                            if isinstance(found, Group) else
                                            found._main._object(found._path),
                                            Main(to._main, "/"), path)
        made = to[path]
        if isinstance(found, Group) and (expand_soft or expand_external):
            _expand(found, made, (SOFT,) * bool(expand_soft) + (EXTERNAL,) * bool(expand_external), {})
        if shallow and isinstance(made, Group):
            for member in made.values():
                if isinstance(member, Group):
                    for key in list(member):
                        del member[key]
        if without_attrs:
            objects: list[Any] = [made]
            if isinstance(made, Group):
                made.visititems(lambda _, o: objects.append(o))
            for one in objects:
                for key in list(one.attrs):
                    del one.attrs[key]

    def move(self, source: Any, dest: Any) -> None:
        """Give a member another path.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.move("a/x", "y")
        >>> list(f)
        ['a', 'y']
        """
        self._writes()
        if source == dest:
            return
        path = self._where(dest)
        self._parents(path)
        self._main._h.link_move(self._where(source), path)

    def visit(self, func: Any) -> Any:
        """Call func(name) for every object below, until it returns something.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.visit(print)
        a
        a/x
        """
        return self.visititems(lambda name, _: func(name))

    def visititems(self, func: Any) -> Any:
        """Call func(name, object) for every object below, until it returns something.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f.visititems(lambda name, o: name if name.endswith("x") else None)
        'a/x'
        """
        self._open()
        skip = len(self._path.rstrip("/")) + 1
        for path, kind, _ in self._main._h.visit(self._path, 1 if self._track else 0):
            if path == self._path or kind not in (GROUP, DATASET, 3):
                continue
            got = func(path[skip:], _made(self._main, path))
            if got is not None:
                return got
        return None

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 group>"
        return f"<HDF5 group \"{shown(self._path)}\" ({len(self)} members)>"


def _expand(source: Group, made: Group, kinds: tuple[int, ...], done: dict[Any, Any]) -> None:
    """Put copies of what links of some kinds lead to into the places of these links in `made`, the copy of a group.
    An object to which two of them lead is copied once.  done: {object: its copy}."""
    if source in done:
        return
    done[source] = made
    for name in source:
        row, found = source._row(source._where(name)), source.get(name)
        if row is None or found is None or row[1] in (SOFT, EXTERNAL) and row[1] not in kinds:
            continue
        if row[1] in kinds:
            del made[name]
            if found in done:
                made[name] = done[found]
                continue
            found.file.copy(found, made, name)
        if isinstance(found, Group):
            _expand(found, made[name], kinds, done)
        else:
            done.setdefault(found, made[name])


def _dtype_of(data: Any) -> Any:
    return data.dtype if isinstance(data, Dataset) else None


def _legacy() -> tuple[int, ...]:
    return dataset_module._LEGACY_GZIP_COMPRESSION_VALS
