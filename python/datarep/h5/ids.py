# SPDX-License-Identifier: MIT
"""The part of h5py's low-level modules that needs no HDF5 library: ids of datatypes, dataspaces and
attributes, and the datasets and attributes that are made and opened with them."""
from __future__ import annotations

from typing import Any, Iterator, Optional

import numpy as np

from ..attrs import Empty
from ..types import Reference, RegionReference
from . import types
from .low import Id, refuse

# HDF5's numbers.
CLASSES = {"NO_CLASS": -1, "INTEGER": 0, "FLOAT": 1, "TIME": 2, "STRING": 3, "BITFIELD": 4, "OPAQUE": 5,
           "COMPOUND": 6, "REFERENCE": 7, "ENUM": 8, "VLEN": 9, "ARRAY": 10}
ASCII, UTF8 = 0, 1
NULLTERM, NULLPAD, SPACEPAD = 0, 1, 2
ORDERS = {"LE": 0, "BE": 1, "NONE": 4}
VARIABLE = -1  # the size of a text of any length
SCALAR, SIMPLE, NULL = 0, 1, 2
TRACKED, INDEXED = 1, 2
LAYOUTS = {"COMPACT": 0, "CONTIGUOUS": 1, "CHUNKED": 2}
UNLIMITED = (1 << 64) - 1


def _spelled(dtype: Any) -> Any:
    """All that is in a dtype, so that types can be compared."""
    if dtype.subdtype:
        return dtype.subdtype[1], _spelled(dtype.subdtype[0])
    if dtype.names is not None:
        return dtype.itemsize, tuple((n, dtype.fields[n][1], _spelled(dtype.fields[n][0])) for n in dtype.names)
    base = types.check_vlen_dtype(dtype)
    enum = types.check_enum_dtype(dtype)
    return (dtype.str, _spelled(np.dtype(base)) if base not in (None, str, bytes) else base,
            types.check_ref_dtype(dtype), tuple(enum.items()) if enum else None, types.check_string_dtype(dtype))


class TypeID:
    """A datatype."""

    _class = "NO_CLASS"

    def __init__(self, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)

    @property
    def dtype(self) -> Any:
        return self._dtype

    def py_dtype(self) -> Any:
        return self._dtype

    def get_class(self) -> int:
        return CLASSES[self._class]

    def get_size(self) -> int:
        return int(self._dtype.itemsize)

    def copy(self) -> "TypeID":
        return type(self)(self._dtype)

    def committed(self) -> bool:
        return False

    def equal(self, other: Any) -> bool:
        return bool(self == other)

    def __eq__(self, other: object) -> bool:
        other = other._type if isinstance(other, NamedTypeID) else other
        return isinstance(other, TypeID) and type(other) is type(self) and _spelled(self.dtype) == _spelled(other.dtype)

    def __hash__(self) -> int:
        return hash(_spelled(self.dtype))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.dtype}>"


class _Atomic(TypeID):
    def get_order(self) -> int:
        return ORDERS["BE" if self._dtype.str[0] == ">" else "LE"]

    def get_precision(self) -> int:
        return 8 * self.get_size()


class TypeIntegerID(_Atomic):
    _class = "INTEGER"

    def get_sign(self) -> int:
        return int(self._dtype.kind == "i")


class TypeBitfieldID(_Atomic):
    _class = "BITFIELD"


class TypeFloatID(_Atomic):
    _class = "FLOAT"


class TypeStringID(TypeID):
    """A text; `size` may be VARIABLE."""

    _class = "STRING"

    def is_variable_str(self) -> bool:
        return bool(self._dtype.kind == "O")

    def get_size(self) -> int:
        return 16 if self.is_variable_str() else super().get_size()

    def set_size(self, size: int) -> None:
        self._set(self.get_cset(), size)

    def get_cset(self) -> int:
        info = types.check_string_dtype(self._dtype)
        return ASCII if info is None or info.encoding == "ascii" else UTF8

    def set_cset(self, cset: int) -> None:
        self._set(cset, VARIABLE if self.is_variable_str() else self._dtype.itemsize)

    def _set(self, cset: int, size: int) -> None:
        self._dtype = types.string_dtype("ascii" if cset == ASCII else "utf-8", None if size == VARIABLE else size)

    def get_strpad(self) -> int:
        return NULLTERM if self.is_variable_str() else NULLPAD

    def set_strpad(self, pad: int) -> None:
        if pad != self.get_strpad():
            refuse("h5t.TypeStringID.set_strpad")


class TypeOpaqueID(TypeID):
    _class = "OPAQUE"

    def get_tag(self) -> bytes:
        return b"NUMPY:" + self._dtype.str.encode() if types.check_opaque_dtype(self._dtype) else b""


class TypeReferenceID(TypeID):
    _class = "REFERENCE"

    def get_size(self) -> int:
        return 8 if types.check_ref_dtype(self._dtype) is Reference else 12


class TypeEnumID(TypeID):
    _class = "ENUM"

    def _names(self) -> dict[str, int]:
        return types.check_enum_dtype(self._dtype) or {"FALSE": 0, "TRUE": 1}

    def get_nmembers(self) -> int:
        return len(self._names())

    def get_member_name(self, index: int) -> bytes:
        return list(self._names())[index].encode()

    def get_member_value(self, index: int) -> int:
        return int(list(self._names().values())[index])

    def get_super(self) -> TypeID:
        return of_dtype(self._dtype.str if self._dtype.kind in "iu" else "i1")


class TypeVlenID(TypeID):
    _class = "VLEN"

    def get_size(self) -> int:
        return 16

    def get_super(self) -> TypeID:
        return of_dtype(types.check_vlen_dtype(self._dtype))


class TypeArrayID(TypeID):
    _class = "ARRAY"

    def get_array_dims(self) -> tuple[int, ...]:
        return tuple(self._dtype.shape)

    def get_super(self) -> TypeID:
        return of_dtype(self._dtype.base)


class TypeCompoundID(TypeID):
    """A struct, to which members can be added; complex numbers are one of two members."""

    _class = "COMPOUND"

    def __init__(self, dtype: Any = None, size: int = 0) -> None:
        self._rows: list[tuple[str, int, TypeID]] = []
        self._size = size
        self._whole = None
        if dtype is None:
            return
        dtype = np.dtype(dtype)
        if dtype.names is None:
            self._whole = dtype
            half = dtype.itemsize // 2
            parts = [("r", 0, of_dtype(f"f{half}")), ("i", half, of_dtype(f"f{half}"))]
        else:
            parts = [(n, dtype.fields[n][1], of_dtype(dtype.fields[n][0])) for n in dtype.names]
        self._rows, self._size = parts, dtype.itemsize

    @property
    def dtype(self) -> Any:
        if self._whole is not None:
            return self._whole
        return np.dtype({"names": [r[0] for r in self._rows], "formats": [r[2].dtype for r in self._rows],
                         "offsets": [r[1] for r in self._rows], "itemsize": self._size})

    def py_dtype(self) -> Any:
        return self.dtype

    def get_size(self) -> int:
        return self._size

    def copy(self) -> "TypeID":
        return TypeCompoundID(self.dtype)

    def insert(self, name: Any, offset: int, tid: TypeID) -> None:
        self._rows.append((name.decode() if isinstance(name, bytes) else name, offset, tid))

    def get_nmembers(self) -> int:
        return len(self._rows)

    def get_member_name(self, index: int) -> bytes:
        return self._rows[index][0].encode()

    def get_member_offset(self, index: int) -> int:
        return self._rows[index][1]

    def get_member_type(self, index: int) -> TypeID:
        return self._rows[index][2]

    def get_member_index(self, name: Any) -> int:
        return [r[0].encode() for r in self._rows].index(name if isinstance(name, bytes) else name.encode())


def of_dtype(dtype: Any, logical: bool = True, aligned: bool = False) -> TypeID:
    """The datatype of a dtype of h5py's."""
    dtype = np.dtype(dtype)
    if dtype.subdtype:
        return TypeArrayID(dtype)
    if dtype.names is not None:
        # NumPy counts 8 bytes for a pointer, HDF5 its own size for what is behind it.
        if not any(dtype.fields[n][0].hasobject for n in dtype.names):
            return TypeCompoundID(dtype)
        made = TypeCompoundID()
        for name in dtype.names:
            part = of_dtype(dtype.fields[name][0])
            made.insert(name, made._size, part)
            made._size += part.get_size()
        return made
    if types.check_opaque_dtype(dtype):
        return TypeOpaqueID(dtype)
    if types.check_string_dtype(dtype):
        return TypeStringID(dtype)
    if types.check_vlen_dtype(dtype) is not None:
        return TypeVlenID(dtype)
    if types.check_ref_dtype(dtype) is not None:
        return TypeReferenceID(dtype)
    if types.check_enum_dtype(dtype) is not None or dtype.kind == "b":
        return TypeEnumID(dtype)
    made_of: Any = {"i": TypeIntegerID, "u": TypeIntegerID, "f": TypeFloatID, "V": TypeOpaqueID,
                    "c": TypeCompoundID}.get(dtype.kind)
    if made_of is None:
        raise TypeError(f"No conversion path for dtype: {dtype!r}")
    return made_of(dtype)  # type: ignore[no-any-return]


class NamedTypeID(Id):
    """A datatype that has a name in the file: equal to one without that has the same elements."""

    @property
    def _type(self) -> TypeID:
        return of_dtype(self._owner.dtype)

    @property
    def dtype(self) -> Any:
        return self._type.dtype

    def committed(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return bool(self._type == other)

    def __hash__(self) -> int:
        return hash(self._type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(TypeID, name) and not hasattr(self._type, name):
            return super().__getattr__(name)
        return getattr(self._type, name)


class PropID:
    """The properties with which a group or a dataset was made: they can be read."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def get_attr_creation_order(self) -> int:
        return TRACKED | INDEXED if self._owner._track else 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"h5p.{type(self).__name__}.{name}")


class PropGCID(PropID):
    def get_link_creation_order(self) -> int:
        return self.get_attr_creation_order()


class PropDCID(PropID):
    def get_chunk(self) -> Any:
        if self._owner.chunks is None:
            raise ValueError("Unable to get chunk dimensions (not a chunked storage layout)")
        return self._owner.chunks

    def get_layout(self) -> int:
        return LAYOUTS[self._owner._ds.layout.upper()]

    def get_nfilters(self) -> int:
        return len(self._owner._ds._info()["filters"]) + bool(self._owner.fletcher32)


def of_object(owner: Any) -> PropID:
    """The properties of a group or a dataset."""
    return PropDCID(owner) if owner._kind == "dataset" else PropGCID(owner)


def _create_type(number: int, size: int) -> TypeID:
    if number == CLASSES["COMPOUND"]:
        return TypeCompoundID(size=size)
    if number == CLASSES["OPAQUE"]:
        return TypeOpaqueID(f"V{size}")
    if number == CLASSES["STRING"]:
        return TypeStringID(types.string_dtype("ascii", None if size == VARIABLE else size))
    raise ValueError(f"no new datatypes are made of class {number}")


def _constants() -> Iterator[tuple[str, TypeID]]:
    """Datatypes with names."""
    for order, mark in (("LE", "<"), ("BE", ">")):
        for size in (1, 2, 4, 8):
            yield f"STD_I{8 * size}{order}", TypeIntegerID(f"{mark}i{size}")
            yield f"STD_U{8 * size}{order}", TypeIntegerID(f"{mark}u{size}")
            yield f"STD_B{8 * size}{order}", TypeBitfieldID(f"{mark}u{size}")
        for size in (2, 4, 8):
            yield f"IEEE_F{8 * size}{order}", TypeFloatID(f"{mark}f{size}")
    for size in (8, 16, 32, 64):
        yield f"NATIVE_INT{size}", TypeIntegerID(f"i{size // 8}")
        yield f"NATIVE_UINT{size}", TypeIntegerID(f"u{size // 8}")
    for name, code in (("SCHAR", "b"), ("SHORT", "h"), ("INT", "i"), ("LONG", "l"), ("LLONG", "q")):
        yield f"NATIVE_{name}", TypeIntegerID(code)
        yield f"NATIVE_U{name.replace('SCHAR', 'CHAR')}", TypeIntegerID(code.upper())
    for name, code in (("FLOAT", "f"), ("DOUBLE", "d"), ("LDOUBLE", "g")):
        yield f"NATIVE_{name}", TypeFloatID(code)
    yield "C_S1", TypeStringID(types.string_dtype("ascii", 1))
    yield "STD_REF_OBJ", TypeReferenceID(types.ref_dtype)
    yield "STD_REF_DSETREG", TypeReferenceID(types.regionref_dtype)


class SpaceID:
    """The shape of a dataset or an attribute."""

    def __init__(self, kind: int, shape: tuple[int, ...] = (), maxshape: Any = None) -> None:
        self._kind, self._shape = kind, tuple(shape)
        self._most = self._shape if maxshape is None else tuple(maxshape)

    def get_simple_extent_type(self) -> int:
        return self._kind

    def get_simple_extent_ndims(self) -> int:
        return len(self._shape)

    def get_simple_extent_npoints(self) -> int:
        return 0 if self._kind == NULL else int(np.prod(self._shape, dtype=object))

    def get_simple_extent_dims(self, maxdims: bool = False) -> tuple[int, ...]:
        return tuple(UNLIMITED if n is None else n for n in self._most) if maxdims else self._shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def rank(self) -> int:
        return len(self._shape)

    def copy(self) -> "SpaceID":
        return SpaceID(self._kind, self._shape, self._most)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"h5s.SpaceID.{name}")


def of_shape(shape: Any, maxshape: Any = None) -> SpaceID:
    if shape is None:
        return SpaceID(NULL)
    return SpaceID(SIMPLE if shape else SCALAR, shape, maxshape)


def _create_simple(dims: Any, maxdims: Any = None) -> SpaceID:
    most = None if maxdims is None else [None if n in (UNLIMITED, -1) else n for n in maxdims]
    return SpaceID(SIMPLE, dims, most)


class AttrID:
    """An attribute."""

    def __init__(self, name: str, dtype: Any, shape: Optional[tuple[int, ...]]) -> None:
        self.name, self.dtype, self.shape = name.encode(), dtype, shape

    def get_name(self) -> bytes:
        return self.name

    def get_type(self) -> TypeID:
        return of_dtype(self.dtype)

    def get_space(self) -> SpaceID:
        return of_shape(self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"h5a.AttrID.{name}")


def _attrs_of(loc: Any) -> Any:
    if not isinstance(loc, Id):
        raise TypeError(f"{loc!r} is not the id of an object")
    return loc._owner.attrs


def _open_attribute(loc: Any, name: Any) -> AttrID:
    made: AttrID = _attrs_of(loc).get_id(name)
    return made


def _create_attribute(loc: Any, name: Any, tid: TypeID, space: SpaceID) -> AttrID:
    attrs = _attrs_of(loc)
    if space.get_simple_extent_type() == NULL:
        attrs.create(name, Empty(tid.dtype), dtype=tid.dtype)
    else:
        text = types.check_string_dtype(tid.dtype)
        zero: Any = np.full(space.shape, b"", object) if text and text.length is None \
            else np.zeros(space.shape, tid.dtype)
        attrs.create(name, zero, dtype=tid.dtype)
    return _open_attribute(loc, name)


def _remove_attribute(loc: Any, name: Any) -> None:
    del _attrs_of(loc)[name]


def _create_dataset(loc: Any, name: Any, tid: TypeID, space: SpaceID, dcpl: Any = None, lcpl: Any = None,
                    dapl: Any = None) -> Any:
    if dcpl is not None or lcpl is not None or dapl is not None:
        refuse("h5d.create with property lists")
    group = loc._owner
    if space.get_simple_extent_type() == NULL:
        return group.create_dataset(name, data=Empty(tid.dtype), dtype=tid.dtype).id
    most = space._most if space._most != space._shape else None
    return group.create_dataset(name, space.shape, tid.dtype, maxshape=most).id


def _open_dataset(loc: Any, name: Any) -> Any:
    found = loc._owner[name]
    if found._kind != "dataset":
        raise KeyError(f"{name!r} is not a dataset")
    return found.id


H5T: dict[str, Any] = {
    **CLASSES, **dict(_constants()), **{f"ORDER_{n}": v for n, v in ORDERS.items()},
    "CSET_ASCII": ASCII, "CSET_UTF8": UTF8, "STR_NULLTERM": NULLTERM, "STR_NULLPAD": NULLPAD,
    "STR_SPACEPAD": SPACEPAD, "VARIABLE": VARIABLE, "py_create": of_dtype, "create": _create_type,
    **{c.__name__: c for c in (TypeID, TypeIntegerID, TypeBitfieldID, TypeFloatID, TypeStringID, TypeOpaqueID,
                               TypeReferenceID, TypeEnumID, TypeVlenID, TypeArrayID, TypeCompoundID)}}
H5S: dict[str, Any] = {"SCALAR": SCALAR, "SIMPLE": SIMPLE, "NULL": NULL, "UNLIMITED": UNLIMITED, "SpaceID": SpaceID,
                       "create": SpaceID, "create_simple": _create_simple}
H5A: dict[str, Any] = {"AttrID": AttrID, "open": _open_attribute, "create": _create_attribute,
                       "delete": _remove_attribute, "exists": lambda loc, name: name in _attrs_of(loc),
                       "get_num_attrs": lambda loc: len(_attrs_of(loc))}
H5D: dict[str, Any] = {"create": _create_dataset, "open": _open_dataset, "DatasetID": Id, **LAYOUTS}
H5P: dict[str, Any] = {"CRT_ORDER_TRACKED": TRACKED, "CRT_ORDER_INDEXED": INDEXED, "PropGCID": PropGCID,
                       "PropDCID": PropDCID}
H5R: dict[str, Any] = {"Reference": Reference, "RegionReference": RegionReference}
