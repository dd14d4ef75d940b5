# SPDX-License-Identifier: MIT
"""h5py's dtypes with metadata, and what the container stores for them."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from .. import types as main_types
from .. import values
from ..types import Reference, RegionReference

TAG = "NUMPY:"


class string_info(NamedTuple):
    encoding: str
    length: Optional[int]


def _meta(dtype: Any, **metadata: Any) -> Any:
    return np.dtype(dtype, metadata=metadata)  # type: ignore[call-overload]


def string_dtype(encoding: str = "utf-8", length: Optional[int] = None) -> Any:
    """The dtype of strings, of a length or of any.

    >>> h5py.check_string_dtype(h5py.string_dtype("utf-8", 5))
    string_info(encoding='utf-8', length=5)
    """
    encoding = {"ascii": "ascii", "utf-8": "utf-8", "utf8": "utf-8"}.get(encoding.lower(), "")
    if not encoding:
        raise ValueError("an encoding is \"utf-8\" or \"ascii\"")
    if isinstance(length, int):
        return _meta(f"|S{length}", h5py_encoding=encoding)
    if length is not None:
        raise TypeError(f"a length is an int or None, not {length!r}")
    return _meta("O", vlen=str if encoding == "utf-8" else bytes)


def vlen_dtype(basetype: Any) -> Any:
    """The dtype of arrays of any length.

    >>> h5py.check_vlen_dtype(h5py.vlen_dtype(np.int32))
    <class 'numpy.int32'>
    """
    return _meta("O", vlen=basetype)


def enum_dtype(values_dict: dict[str, int], basetype: Any = np.uint8) -> Any:
    """The dtype of integers with names.

    >>> h5py.check_enum_dtype(h5py.enum_dtype({"off": 0, "on": 1}))
    {'off': 0, 'on': 1}
    """
    dtype = np.dtype(basetype)
    if dtype.kind not in "ui":
        raise TypeError("only integers have names")
    return _meta(dtype, enum=values_dict)


def opaque_dtype(np_dtype: Any) -> Any:
    """The dtype of elements that are stored as they lie in memory.

    >>> h5py.check_opaque_dtype(h5py.opaque_dtype("M8[s]"))
    True
    """
    dtype = np.dtype(np_dtype)
    if dtype.kind == "O" or dtype.fields is not None or dtype.subdtype is not None:
        raise TypeError("neither objects nor structs nor subarrays can be opaque")
    return _meta(dtype, h5py_opaque=True)


ref_dtype = _meta("O", ref=Reference)
regionref_dtype = _meta("O", ref=RegionReference)


def special_dtype(**kwds: Any) -> Any:
    """The dtype for one keyword: vlen, enum or ref.

    >>> h5py.check_dtype(vlen=h5py.special_dtype(vlen=str))
    <class 'str'>
    """
    if len(kwds) != 1:
        raise TypeError("exactly one keyword may be given")
    name, value = kwds.popitem()
    if name == "vlen":
        return string_dtype() if value is str else vlen_dtype(value)
    if name == "enum":
        try:
            dtype, values = value
        except TypeError:
            raise TypeError("an enum is (base type, {name: value})") from None
        return enum_dtype(values, dtype)
    if name == "ref":
        if value not in (Reference, RegionReference):
            raise ValueError("ref is Reference or RegionReference")
        return _meta("O", ref=value)
    raise TypeError(f"unknown special type {name!r}")


def _get(dtype: Any, name: str) -> Any:
    return (getattr(dtype, "metadata", None) or {}).get(name)


def check_vlen_dtype(dt: Any) -> Any:
    """The base of a dtype of sequences, or None.

    >>> h5py.check_vlen_dtype(np.dtype("f8")) is None
    True
    """
    return _get(dt, "vlen")


def check_enum_dtype(dt: Any) -> Any:
    """The names of a dtype of an enumeration, or None.

    >>> h5py.check_enum_dtype(h5py.enum_dtype({"off": 0, "on": 1}))
    {'off': 0, 'on': 1}
    """
    return _get(dt, "enum")


def check_opaque_dtype(dt: Any) -> bool:
    """Whether a dtype is one of opaque_dtype().

    >>> h5py.check_opaque_dtype(np.dtype("f8"))
    False
    """
    return bool(_get(dt, "h5py_opaque"))


def check_ref_dtype(dt: Any) -> Any:
    """The class of a dtype of references, or None.

    >>> h5py.check_ref_dtype(h5py.ref_dtype)
    <class 'datarep.types.Reference'>
    """
    return _get(dt, "ref")


def check_string_dtype(dt: Any) -> Optional[string_info]:
    """Encoding and length of a dtype of strings, or None.

    >>> h5py.check_string_dtype(h5py.string_dtype()).encoding
    'utf-8'
    """
    kind = _get(dt, "vlen")
    if kind in (str, bytes):
        return string_info("utf-8" if kind is str else "ascii", None)
    if dt.kind == "S":
        return string_info(_get(dt, "h5py_encoding") or "ascii", dt.itemsize)
    return None


def check_dtype(**kwds: Any) -> Any:
    """What special_dtype() was given, or None.

    >>> h5py.check_dtype(enum=h5py.enum_dtype({"off": 0}))
    {'off': 0}
    """
    if len(kwds) != 1:
        raise TypeError("exactly one keyword may be given")
    name, dtype = kwds.popitem()
    if name not in ("vlen", "enum", "ref"):
        return None
    return _get(dtype, name)


def to_main(dtype: Any) -> Any:
    """The dtype by which the package stores what h5py's dtype means."""
    dtype = np.dtype(dtype)
    if dtype.subdtype:
        return np.dtype((to_main(dtype.subdtype[0]), dtype.subdtype[1]))
    if dtype.names is not None:
        fields = [dtype.fields[n] for n in dtype.names]
        if any(f[0].kind == "O" for f in fields):
            return np.dtype([(n, to_main(f[0])) for n, f in zip(dtype.names, fields)])
        return np.dtype({"names": list(dtype.names), "formats": [to_main(f[0]) for f in fields],
                         "offsets": [f[1] for f in fields], "itemsize": dtype.itemsize})
    if check_opaque_dtype(dtype):
        return _meta(f"V{dtype.itemsize}", datarep=TAG + dtype.str)
    if dtype.kind in "UMm":
        raise TypeError(f"No conversion path for dtype: {dtype!r}")
    if dtype.kind == "O":
        base = check_vlen_dtype(dtype)
        if base is None and not check_ref_dtype(dtype):
            raise TypeError(f"Object dtype {dtype!r} has no native HDF5 equivalent")
        if base in (str, bytes):
            return string_dtype()
        return vlen_dtype(to_main(base)) if base is not None else dtype
    return dtype


def csets(dtype: Any, place: str = "") -> list[tuple[str, str]]:
    """The character sets of the texts in a dtype: (place, "ascii" or "utf8"), as converters note them."""
    if dtype.subdtype:
        return csets(dtype.subdtype[0], place + ".0")
    if dtype.names is not None:
        return [row for i, n in enumerate(dtype.names) for row in csets(dtype.fields[n][0], f"{place}.{i}")]
    info, base = check_string_dtype(dtype), check_vlen_dtype(dtype)
    if info:
        return [(place or ".", "ascii" if info.encoding == "ascii" else "utf8")]
    return [] if base is None else csets(np.dtype(base), place + ".0")


def layout(dtype: Any, place: str = "") -> list[tuple[str, str]]:
    """Where members of structs do not lie side by side: (place, "offset=N" or "size=N"), as converters note it."""
    if dtype.subdtype:
        return layout(dtype.subdtype[0], place + ".0")
    if dtype.names is None or dtype.hasobject:  # NumPy counts pointers
        return []
    rows, end = [], 0
    for i, name in enumerate(dtype.names):
        part, offset = dtype.fields[name][:2]
        if offset != end:
            rows.append((f"{place}.{i}", f"offset={offset}"))
        rows += layout(part, f"{place}.{i}")
        end = offset + part.itemsize
    return rows + ([(place or ".", f"size={dtype.itemsize}")] if end != dtype.itemsize else [])


def laid_out(dtype: Any, noted: dict[str, int], place: str = "") -> Any:
    """The dtype with its members where the rows of layout() say; noted: {"PLACE WORD": N}."""
    if dtype.subdtype:
        return np.dtype((laid_out(dtype.subdtype[0], noted, place + ".0"), dtype.subdtype[1]))
    if dtype.names is None or dtype.hasobject:
        return dtype
    parts, offsets, end = [], [], 0
    for i, name in enumerate(dtype.names):
        parts.append(laid_out(dtype.fields[name][0], noted, f"{place}.{i}"))
        offsets.append(noted.get(f"{place}.{i} offset", end))
        end = offsets[-1] + parts[-1].itemsize
    return np.dtype({"names": list(dtype.names), "formats": parts, "offsets": offsets,
                     "itemsize": noted.get(f"{place or '.'} size", end)})


def from_main(dtype: Any, cset: Any = None, place: str = "") -> Any:
    """h5py's dtype of what the package reads.  cset: a function of a place, the character set of texts."""
    tag = _get(dtype, "datarep")
    if dtype.subdtype:
        return np.dtype((from_main(dtype.subdtype[0], cset, place + ".0"), dtype.subdtype[1]))
    if dtype.names is not None:
        fields = [dtype.fields[n] for n in dtype.names]
        return np.dtype({"names": list(dtype.names),
                         "formats": [from_main(f[0], cset, f"{place}.{i}") for i, f in enumerate(fields)],
                         "offsets": [f[1] for f in fields], "itemsize": dtype.itemsize})
    if dtype.kind == "V" and isinstance(tag, str) and tag.startswith(TAG):
        return opaque_dtype(tag[len(TAG):])
    info, base = check_string_dtype(dtype), check_vlen_dtype(dtype)
    if cset is not None and info:
        return string_dtype(cset(place or "."), info.length)
    if cset is not None and base is not None and has_texts(np.dtype(base)):
        return vlen_dtype(from_main(np.dtype(base), cset, place + ".0"))
    return dtype


def has_texts(dtype: Any) -> bool:
    """Whether a dtype has texts, of which converters note the character set."""
    return bool(csets(dtype))


def texts(dtype: Any) -> bool:
    """Whether elements hold str, which h5py gives as bytes."""
    if dtype.subdtype:
        return texts(dtype.subdtype[0])
    if dtype.names is not None:
        return any(texts(dtype.fields[n][0]) for n in dtype.names)
    if dtype.kind != "O":
        return False
    base = check_vlen_dtype(dtype)
    return base is str or (base is not None and base is not bytes and texts(np.dtype(base)))


def _bytes(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return as_bytes(value) if isinstance(value, np.ndarray) else value


def as_bytes(got: Any) -> Any:
    """What was read, with bytes for str."""
    if isinstance(got, str):
        return _bytes(got)
    if not isinstance(got, (np.ndarray, np.void)) or not texts(got.dtype):
        return got
    if got.dtype.names is not None:
        for name in got.dtype.names:
            if texts(got.dtype[name]):
                part = got[name]
                got[name] = as_bytes(part) if got.shape or isinstance(part, np.ndarray) \
                    else _bytes(part)
        return got
    flat = got.reshape(-1)
    for i, value in enumerate(flat.tolist()):
        flat[i] = _bytes(value)
    return got


def as_str(value: Any) -> Any:
    """What is to be written, with str for bytes; bytes that are no text stay, as texts of a file may hold them."""
    array = np.array(value, dtype=object)
    flat = array.reshape(-1)
    raw = False
    for i, one in enumerate(flat.tolist()):
        if isinstance(one, str):
            # Surrogates of bytes, as they were read.
            one = one.encode("utf-8", "surrogateescape") if not one.isascii() else one
        if isinstance(one, bytes):
            try:
                flat[i] = one.decode("utf-8")
            except UnicodeDecodeError:
                flat[i], raw = one, True
        elif not isinstance(one, str):
            raise TypeError(f"Can't implicitly convert non-string objects to strings: {one!r}")
        if b"\0" in one if isinstance(one, bytes) else "\0" in one:
            raise ValueError("VLEN strings do not support embedded NULLs")
    return array.view(main_types.string_dtype()) if raw else array if array.shape else array[()]


def guess(data: Any) -> Any:
    """The dtype that h5py stores data with, or None for that of the array."""
    if isinstance(data, Reference):
        return regionref_dtype if isinstance(data, RegionReference) else ref_dtype
    if type(data) is bytes:
        return string_dtype("ascii")
    if type(data) is str:
        return string_dtype()
    return None


def as_data(data: Any, dtype: Any = None, given: values.Given = values.NOBODY) -> Any:
    """Data as an array whose dtype says how it is stored; given: what messages call it."""
    if dtype is None:
        dtype = guess(data)
    if isinstance(data, np.ndarray) and dtype is None and data.dtype.kind != "O":
        return np.asarray(data, order="C")
    if dtype is not None and check_vlen_dtype(dtype) not in (None, str, bytes):
        return data
    if dtype is not None and np.dtype(dtype).kind != "O":
        dtype = np.dtype(dtype)
        if check_opaque_dtype(dtype):
            return values.exact(data, main_types.form_of_dtype(_unmarked(dtype))).astype(_unmarked(dtype))
        return fit(data, _unmarked(dtype), given)
    array = np.asarray(data, order="C")
    if dtype is None and array.dtype.kind in "OSU" and not array.dtype.metadata \
            and not (isinstance(data, np.ndarray) and array.dtype.kind in "SU") \
            and not isinstance(data, np.bytes_):
        kinds = {type(v) for v in array.reshape(-1).tolist()}
        if kinds and kinds <= {str, np.str_}:
            dtype = string_dtype()
        elif kinds and kinds <= {bytes, np.bytes_}:
            dtype = string_dtype("ascii")
        elif kinds == {Reference}:
            dtype = ref_dtype
    if dtype is not None and np.dtype(dtype).kind == "O" and array.dtype != np.dtype(dtype):
        array = array.astype(object)
    if dtype is not None and np.dtype(dtype).kind == "O":
        array = array.astype(dtype)
    return array


def fit(value: Any, dtype: Any, given: values.Given = values.NOBODY) -> Any:
    """The value as an array of a dtype, unchanged or refused."""
    return values.exact(value, main_types.form_of_dtype(to_main(dtype)), given)


def _unmarked(dtype: Any) -> Any:
    return np.dtype(dtype.str) if dtype.kind in "SiufbcMm" and dtype.names is None else dtype
