# SPDX-License-Identifier: MIT
"""Values on their way into a file: the one place that makes arrays of what a caller gives.

Nothing here changes a value. A value becomes the array that is natural for it (of ints INT64, or
UINT64 or 128 bits where they need that; of floats DOUBLE; arrays stay as they are), and the library
converts that array to the dataset's type, strictly: it refuses what does not fit, and reports what is
rounded. What cannot be an element (None, masked elements, lists of numbers and texts) is an error
that names the element. Every other module hands its values to `natural()` or `fitted()`.
"""
from __future__ import annotations

import collections.abc
import datetime
import math
import numbers
import os
import re
import warnings
from typing import Any, Optional

from . import _core, types
from .errors import ConversionError, ConversionWarning, make, shown

__all__ = ["Given", "exact", "fitted", "natural", "row"]

_EXACT = 1 << 53  # integers up to here are exact in a double
_CLAMP = 2  # DREP_RANGE_CLAMP
MANY = 1024  # objects


_OF_A_RANK = re.compile(r": rank \d+: ")
WIDER = 'make the dataset {}, or say how with range="clamp" or "wrap"'


class Given:
    """What a message calls the value, what stands for masked elements, an array or None, and whether
    the caller has said how numbers may change; the file and the object that it is for, and what to do
    about a number or about masked elements that cannot be stored."""

    __slots__ = ("name", "fill", "lossy", "file", "object", "wider", "masked")

    def __init__(self, name: str = "", fill: Any = None, lossy: bool = False, *, file: str = "", object: str = "",
                 wider: str = WIDER, masked: str = "") -> None:
        self.name, self.fill, self.lossy = name, fill, lossy
        self.file, self.object, self.wider = file, object, wider
        self.masked = masked or "create the dataset with fill=, or give value.filled(...)"

    def said(self, text: str) -> str:
        return f"{self.name}: {text}" if self.name else text

    def part(self, name: str) -> "Given":
        """The same for a part of the value."""
        return Given(self.said(name), self.fill, self.lossy, file=self.file, object=self.object, wider=self.wider,
                     masked=self.masked)

    def refused(self, text: str) -> str:
        """The message for a number that the target does not hold: it names the file and the object, too."""
        path = self.object if not self.name.startswith(self.object) else ""
        return ": ".join([shown(part) for part in (self.file, path) if part] + [self.said(text)])

    def error(self, text: str) -> ConversionError:
        """The exception of refused()."""
        made = make(18, self.refused(text), self.file, self.object)
        assert isinstance(made, ConversionError)
        return made


NOBODY = Given()


class Unlike(Exception):
    """The extension met what is no str: natural() tells what it is, or takes it."""


# ------------------------------------------------------------------ arrays of what is given


def natural(value: Any, given: Given = NOBODY) -> Any:
    """The array of a value: no element differs from what was given."""
    np = types.numpy()
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(np, value, given)
    if not isinstance(value, np.ndarray):
        value = _made(np, value, given)
    if value.dtype.kind == "O" and not value.dtype.metadata:
        return _objects(np, value, given)
    if value.dtype.kind == "U":
        return _texts(np, value)
    return value if value.dtype.isnative or value.dtype.names is not None \
        else value.astype(types.native(value.dtype))


def _unmasked(np: Any, value: Any, given: Given) -> Any:
    """The elements of a masked array, with the declared fill for those that are masked."""
    if not np.ma.is_masked(value):
        return value.data
    if given.fill is None:
        raise ValueError(given.said(f"masked elements cannot be stored without a fill value: {given.masked}"))
    mask, made = np.ma.getmaskarray(value), np.array(value.data)
    if mask.dtype.names is not None:
        raise ValueError(given.said("structs with masked members cannot be stored: give value.filled(...)"))
    fill = fitted(given.fill, types.form_of_dtype(made.dtype), given)[0]
    made[mask] = fill[()]
    return made


def _made(np: Any, value: Any, given: Given) -> Any:
    """An array of a value that is none."""
    if hasattr(value, "to_records"):
        raise TypeError(given.said("a DataFrame cannot be stored as it is: give frame.to_records(), which "
                                   "is an array of structs (index=False leaves the index out)"))
    if isinstance(value, types.Reference) or isinstance(getattr(value, "ref", None), types.Reference):
        return _box(np, value)
    if hasattr(value, "__array__") or isinstance(value, (bytes, bool, float, complex)):
        return np.asarray(value)
    if isinstance(value, str):
        return _box(np, value)
    if isinstance(value, (list, tuple)):
        return _listed(np, value, given)
    if isinstance(value, (int, datetime.date, datetime.timedelta)) or value is None:
        return _box(np, value)
    if isinstance(value, (bytearray, memoryview)) or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if isinstance(value, range):
        return _listed(np, list(value), given)
    try:
        return np.asarray(memoryview(value))  # array.array and others
    except TypeError:
        raise TypeError(given.said(f"{_shown(value)} cannot be stored: {_instead(value)}")) from None


# What to give instead of values that no type of a file holds: the first class that fits.
_INSTEAD: tuple[tuple[Any, str], ...] = (
    ((dict, collections.abc.Mapping), "give json.dumps(value), or make a group and store its values one by one"),
    (collections.abc.Set, "give sorted(value), a list"),
    (numbers.Number, "give float(value), or str(value) to keep every digit"),
    (datetime.time, "give value.isoformat()"),
    (os.PathLike, "give str(value)"),
    (collections.abc.Iterator, "give list(value)"),
    (type(None), "give what stands for a missing value, such as nan"),
)


def _instead(value: Any) -> str:
    for classes, advice in _INSTEAD:
        if isinstance(value, classes):
            return advice
    return "numbers, texts, bytes, dates, and lists and arrays of them can be stored"


def _box(np: Any, value: Any) -> Any:
    made = np.empty((), object)
    made[()] = value
    return made


def _listed(np: Any, value: Any, given: Given) -> Any:
    """An array of a list, in which all elements are of one kind."""
    if str in _core.types_of(value):  # NumPy would make each text as long as the longest
        leaves = np.empty(len(value), object)
        leaves[:] = value
        return _objects(np, leaves, given)
    try:
        made = np.asarray(value)
    except (ValueError, OverflowError) as error:
        if all(_long(v) for v in value):
            raise ValueError(given.said("its rows have different lengths: say dtype=datarep.vlen_dtype(...) "
                                        "to store each as a sequence")) from None
        raise ValueError(given.said(str(error))) from None
    if made.dtype.kind in "biu" or not made.size:
        return made
    if made.dtype.kind in "mMV":
        return made
    leaves = np.empty(made.shape, object)
    leaves[...] = value
    return _objects(np, leaves, given)


def _texts(np: Any, value: Any) -> Any:
    return value.astype(types.string_dtype())


def _kind(value: Any) -> str:
    """The kind of one element, as _objects() tells them apart."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, numbers.Number) or type(value).__name__ == "bool_":
        if isinstance(value, (numbers.Integral, bool)) or type(value).__name__ == "bool_":
            return "int"
        # Decimal and Fraction are numbers that no type of a file holds.
        if isinstance(value, numbers.Real):
            return "float" if isinstance(value, float) or hasattr(value, "dtype") else "other"
        return "complex" if isinstance(value, complex) or hasattr(value, "dtype") else "other"
    if isinstance(value, types.Reference):
        return "reference"
    if isinstance(value, (datetime.date, datetime.timedelta)) or _is_date(value):
        return "date"
    if hasattr(value, "__array__") or isinstance(value, (list, tuple)):
        return "sequence"
    return "other"


def _is_date(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M")


def _objects(np: Any, value: Any, given: Given) -> Any:
    """The array of an array of objects, which are all of one kind."""
    kinds: dict[str, Any] = {}
    for cls, example in _core.types_of(np.ascontiguousarray(value)).items():
        kinds.setdefault(_kind(example), cls)
    if set(kinds) <= {"text"}:
        return value.view(types.string_dtype())
    flat = value.reshape(-1).tolist() if value.shape else [value[()]]
    if "other" in kinds:
        at = next(i for i, v in enumerate(flat) if type(v) is kinds["other"])
        raise TypeError(given.said(f"{_element(np, value, at)} is {_shown(flat[at])}, which cannot be "
                                   f"stored: {_instead(flat[at])}"))
    if set(kinds) == {"bytes"}:
        return np.array(flat, dtype="S").reshape(value.shape)
    if set(kinds) <= {"int", "float", "complex"}:
        return _numbers(np, value, flat, kinds, given)
    if set(kinds) == {"reference"}:
        return value.astype(np.dtype(object, metadata={"ref": type(flat[0])}))
    if set(kinds) == {"date"}:
        return _dates(np, value, flat, given)
    if set(kinds) == {"sequence"}:
        return _sequences(np, value, flat, given)
    said = " and ".join(sorted(c.__name__ for c in kinds.values()))
    raise TypeError(given.said(f"{said} in one list have no common type: elements are all numbers, all "
                               "texts, all bytes or all dates"))


def _shown(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def _element(np: Any, value: Any, at: int) -> str:
    if not value.shape:
        return "the value"
    return f"element {tuple(int(i) for i in np.unravel_index(at, value.shape))}"


def _numbers(np: Any, value: Any, flat: list[Any], kinds: dict[str, Any], given: Given) -> Any:
    """Numbers in the dtype that holds every one of them."""
    if set(kinds) == {"int"}:
        return _integers(np, value, flat, given)
    wide = any(getattr(getattr(v, "dtype", None), "char", "") in ("g", "G") for v in flat)
    if "complex" in kinds:
        dtype = np.dtype("G" if wide else "c16")
    else:
        dtype = np.dtype("g" if wide else "f8")
    made = np.array(flat, dtype=dtype).reshape(value.shape)
    if "int" in kinds:
        for i, v in enumerate(flat):
            if _kind(v) == "int" and abs(int(v)) > _EXACT and int(made.real.reshape(-1)[i]) != int(v):
                raise ValueError(given.said(f"{_element(np, value, i)} is {v}, which no float equals: it "
                                            "is in a list with floats"))
    return made


def _integers(np: Any, value: Any, flat: list[Any], given: Given) -> Any:
    low, high = int(min(flat)), int(max(flat))
    if all(isinstance(v, (bool, np.bool_)) for v in flat):
        return np.array(flat, dtype=bool).reshape(value.shape)
    for dtype in ("i8", "u8"):
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return np.array([int(v) for v in flat], dtype=dtype).reshape(value.shape)
    name = "INT128_T" if low < 0 else "UINT128_T"
    if low < -(1 << 127) or high >= 1 << (127 if low < 0 else 128):
        raise OverflowError(given.said(f"{low if low < 0 else high} has more than 128 bits"))
    made = np.empty(value.shape, np.dtype(object, metadata={"datarep": name}))
    made.reshape(-1)[:] = [int(v) for v in flat]
    return made


def _dates(np: Any, value: Any, flat: list[Any], given: Given) -> Any:
    """Dates and times as microseconds, dates alone as days, durations as microseconds."""
    if any(getattr(v, "tzinfo", None) is not None for v in flat):
        raise ValueError(given.said("a time with a time zone cannot be stored: give it in UTC without one, "
                                    "value.astimezone(datetime.timezone.utc).replace(tzinfo=None)"))
    if all(isinstance(v, datetime.timedelta) for v in flat):
        return np.array(flat, dtype="m8[us]").reshape(value.shape)
    if all(type(v) is datetime.date for v in flat):
        return np.array(flat, dtype="M8[D]").reshape(value.shape)
    if not all(isinstance(v, datetime.date) and not hasattr(v, "nanosecond") for v in flat):
        made = np.array([np.datetime64(v) if not _is_date(v) else v for v in flat])
        if made.dtype.kind not in "mM":
            raise TypeError(given.said("times and durations in one list have no common type"))
        return made.reshape(value.shape)
    return np.array(flat, dtype="M8[us]").reshape(value.shape)


def _sequences(np: Any, value: Any, flat: list[Any], given: Given) -> Any:
    """Sequences of the dtype that the longest of them need."""
    rows = [natural(v, given) for v in flat]
    dtype = np.result_type(*[r.dtype for r in rows if r.size] or [np.dtype("f8")])
    if dtype.kind == "f" and any(r.dtype.kind in "iu" and r.dtype.itemsize == 8 for r in rows if r.size):
        if {r.dtype.kind for r in rows if r.size} <= {"i", "u"}:
            raise ValueError(given.said("sequences of int64 and of uint64 have no common type"))
    made = np.empty(value.shape, types.vlen_dtype(dtype))
    fit = types.form_of_dtype(dtype)
    for i, row in enumerate(rows):
        made.reshape(-1)[i] = _converted(row, fit, given) if row.dtype != dtype else row
    return made


# --------------------------------------------------------------------- for a dataset's form


def fitted(value: Any, own: types.Form, given: Given = NOBODY) -> tuple[Any, types.Form]:
    """An array of the value, and the form in which the library gets it, to store it as elements whose
    own form is `own`."""
    np = types.numpy()
    if _nested(own):
        return _inner(np, value, own, given), own
    if own.dtype.kind == "O":
        return _pointers(np, value, own, given)
    made = natural(value, given)
    return _plain(np, made, own, given)


def exact(value: Any, form: types.Form, given: Given = NOBODY) -> Any:
    """An array of the form's own dtype, for memory that takes no other."""
    np = types.numpy()
    made, source = fitted(value, form, given)
    if source is form or source.type == form.type:
        return made
    if form.plan is not None:
        return _exact(np, made, form.dtype, given)
    return _converted(made, form, given)


def row(value: Any, dtype: Any) -> Any:
    """A sequence's elements as the extension stores them: contiguous, of one dimension."""
    np = types.numpy()
    if not isinstance(value, np.ndarray) or value.dtype != dtype:
        value = _part(np, value, dtype, NOBODY)
    return np.array(value, order="C", ndmin=1)


def member(value: Any, form: types.Form, name: str, given: Given = NOBODY) -> Any:
    """Structs with one member, of that member's values."""
    np = types.numpy()
    part = _part(np, value, form.dtype[name], given.part(f"member {name!r}"))
    made = np.empty(part.shape[:part.ndim - len(form.dtype[name].shape)], form.dtype)
    made[name] = part
    return made


def _nested(own: types.Form) -> bool:
    return bool(own.dtype.subdtype or own.dtype.names is not None)


def _is_number(dtype: Any) -> bool:
    return dtype.kind in "biufc" or dtype.name in types.SMALL_REALS or \
        bool(dtype.kind == "O" and "datarep" in (dtype.metadata or {}))


def _plain(np: Any, made: Any, own: types.Form, given: Given) -> tuple[Any, types.Form]:
    """Elements that are one item each."""
    kind = own.dtype.kind
    if not made.size:
        return np.empty(made.shape, own.dtype), own
    if made.dtype == own.dtype and made.dtype.kind != "O":
        return made, own
    if kind in "mM":
        return _times(np, made, own.dtype, given), own
    bits = types.is_bits(own.dtype)
    if bits and made.dtype.kind in "iu":
        return _exact(np, made, own.dtype, given), own  # the bits of a number
    if _is_number(own.dtype) and _is_number(made.dtype):
        if kind == "b":
            return _truths(np, made, given), own
        if kind == "c" and made.dtype.kind in "biuf":
            made = _complex(np, made, given)
        if made.dtype.kind == "f" and kind in "iuO" and not bits and not given.lossy:
            _whole(np, made, own, given)
        return made, types.form_of_dtype(made.dtype)
    if kind == "S":
        return _bytes(np, made, own.dtype, given), own
    if kind == "V" and made.dtype.kind == "S" and made.dtype.itemsize == own.dtype.itemsize:
        return made.view(f"V{own.dtype.itemsize}").reshape(made.shape), own
    if kind == "U" and made.dtype.kind == "O":
        return _exact(np, made, own.dtype, given), own
    if made.dtype.kind == kind == "V":
        return made, types.form_of_dtype(made.dtype)
    raise _unfit(made.dtype, own.dtype, given)


def _unfit(given_as: Any, wanted: Any, given: Given) -> TypeError:
    """The error for elements of another kind than the dataset's, with what to give instead."""
    advice = {
        ("M", "n"): "give the numbers that the units of the dataset mean",
        ("m", "n"): "give the numbers that the units of the dataset mean",
        ("t", "n"): "give int() or float() of each",
        ("S", "n"): "give numpy.frombuffer(value, dtype)",
        ("n", "M"): "give numpy.datetime64(number, unit)",
        ("t", "M"): "give numpy.datetime64(text)",
        ("n", "m"): "give numpy.timedelta64(number, unit)",
        ("n", "t"): "give str() of each",
        ("M", "t"): "give str() of each",
        ("m", "t"): "give str() of each",
        ("n", "S"): "give numpy.bytes_ values, or str() of each",
    }.get((_sort(given_as), _sort(wanted)))
    return TypeError(given.said(f"{_words(given_as)} cannot be stored as {_words(wanted)}"
                                f"{': ' + advice if advice else ''}"))


def _sort(dtype: Any) -> str:
    """n: numbers, t: texts; else the dtype's kind."""
    if dtype.kind == "O" and not {"ref", "datarep"} & set(dtype.metadata or {}):
        return "t" if (dtype.metadata or {}).get("vlen", str) in (str, bytes) else "O"
    return "t" if dtype.kind == "U" else "n" if _is_number(dtype) else dtype.kind


def _words(dtype: Any) -> str:
    """What elements of a dtype are called."""
    meta = dtype.metadata or {}
    if dtype.kind == "O":
        base = meta.get("vlen", str)
        if "ref" in meta:
            return "references"
        if "datarep" in meta:
            return "integers of 128 bits"
        return "texts" if base in (str, bytes) else f"sequences of {base}"
    names = {"S": "bytes", "U": "texts", "M": "dates", "m": "durations", "b": "truth values"}
    if dtype.names is not None:
        return f"structs of {', '.join(dtype.names)}"
    return names.get(dtype.kind, f"elements of {dtype}")


def _complex(np: Any, made: Any, given: Given) -> Any:
    """Reals as complex numbers that equal them."""
    wide = made.dtype.char == "g" or made.dtype.kind in "iu" and made.dtype.itemsize == 8
    return made.astype("G" if wide else "c16")


def _whole(np: Any, made: Any, own: types.Form, given: Given) -> None:
    """Floats that are to be integers are integers."""
    wrong = np.rint(made) != made
    if np.any(wrong):
        at = int(np.flatnonzero(np.ravel(wrong))[0])
        if np.isnan(np.ravel(made)[at]):
            raise given.error(_too_large(np, made, at, own, given))
        target = own.dtype if own.dtype.kind in "iu" else "integer"
        raise given.error(f"{_element(np, made, at)} is {np.ravel(made)[at]}, which no {target} "
                          "equals: round it first, or say how with range=")


def _too_large(np: Any, made: Any, at: int, own: types.Form, given: Given) -> str:
    """What is said of a number that its type does not hold."""
    dtype = (made.dtype.metadata or {}).get("datarep", made.dtype)
    return f"{_element(np, made, at)} is {np.ravel(made)[at]}, which {own.type} does not hold: {given.wider.format(dtype)}"


def _first_unfit(np: Any, made: Any, source: types.Form, own: types.Form) -> Optional[int]:
    """The first number that a type does not hold; None: each fits, or they are no numbers of one item."""
    if not (_is_number(made.dtype) and _is_number(own.dtype)):
        return None
    if source.plan is None and own.plan is None:
        out = np.empty(made.shape, own.dtype)
        lost = _core.convert_all(own.type, out, source.type, np.ascontiguousarray(made), made.size, _CLAMP) or ()
        found = [n for n in (*lost[4:5], *lost[6:7]) if n >= 0]
        return min(found) if found else None
    low, high = _limits(np, own.dtype)
    return next((at for at, v in enumerate(made.reshape(-1).tolist()) if not low <= v <= high), None)


def _limits(np: Any, dtype: Any) -> tuple[float, float]:
    """The least and the greatest number of a dtype of integers, also of 128 bits."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    if dtype.kind != "O":
        return -math.inf, math.inf
    return (0, (1 << 128) - 1) if dtype.metadata["datarep"][0] == "U" else (-(1 << 127), (1 << 127) - 1)


def explain(error: ConversionError, made: Any, source: types.Form, own: types.Form, given: Given) -> None:
    """Let the library's error about a number that does not fit name the element, and what would do.

    made: what was to be stored, as `source` says.  An error about something else keeps its words, and so
    does one of a rank: all ranks have it, whatever they were to store."""
    np = types.numpy()
    at = _first_unfit(np, made, source, own) if not _OF_A_RANK.search(str(error)) else None
    if at is not None:
        error.args = (given.refused(_too_large(np, made, at, own, given)),)
    error.file = error.file or given.file or None
    error.object = error.object or given.object or None


def _truths(np: Any, made: Any, given: Given) -> Any:
    """0 and 1 as truth values: other numbers are none."""
    out = made.astype(bool)
    wrong = out.astype("u1") != made
    if np.any(wrong):
        at = int(np.flatnonzero(np.ravel(wrong))[0])
        raise ValueError(given.said(f"{_element(np, made, at)} is {np.ravel(made)[at]}, which is no truth "
                                    "value: 0 and 1 are"))
    return out


def _bytes(np: Any, made: Any, dtype: Any, given: Given) -> Any:
    """Bytes of the elements' length, none of them cut."""
    if made.dtype.kind == "O":
        flat = made.reshape(-1).tolist() if made.shape else [made[()]]
        for i, v in enumerate(flat):
            if not isinstance(v, (str, bytes)):
                raise TypeError(given.said(f"{_element(np, made, i)} is {_shown(v)}, not a text or bytes"))
        rows = [v.encode("utf-8", "surrogateescape") if isinstance(v, str) else v for v in flat]
        made = np.array(rows, dtype="S").reshape(made.shape)
    if made.dtype.kind != "S":
        raise _unfit(made.dtype, dtype, given)
    long = np.char.str_len(made) > dtype.itemsize
    if np.any(long):
        at = int(np.flatnonzero(np.ravel(long))[0])
        raise ValueError(given.said(f"{_element(np, made, at)} has {len(np.ravel(made)[at])} bytes, elements "
                                    f"hold {dtype.itemsize}"))
    return made.astype(dtype)


def _times(np: Any, made: Any, dtype: Any, given: Given) -> Any:
    """Dates and durations in the units of the dataset, exactly."""
    if made.dtype.kind != dtype.kind:
        raise _unfit(made.dtype, dtype, given)
    if np.datetime_data(made.dtype)[0] == "generic":
        return made.astype(dtype)  # NaT alone has no units
    out = made.astype(dtype)
    wrong = ~((out.astype(made.dtype) == made) | (np.isnat(out) & np.isnat(made)))
    if np.any(wrong):
        at = int(np.flatnonzero(np.ravel(wrong))[0])
        one = np.ravel(made)[at]
        raise ValueError(given.said(f"{_element(np, made, at)} is {one}, which {_unit(np, dtype)} cannot "
                                    f"hold: make the dataset with {made.dtype}, or give it in its units"))
    return out


def _unit(np: Any, dtype: Any) -> str:
    code, step = np.datetime_data(dtype)
    return f"a count of {step if step != 1 else ''}{code}"


def _exact(np: Any, made: Any, dtype: Any, given: Given) -> Any:
    """The same values in another dtype of NumPy, or an error."""
    out = made.astype(dtype)
    wrong = out != made
    if np.any(wrong):
        at = int(np.flatnonzero(np.ravel(wrong))[0])
        raise ValueError(given.said(f"{_element(np, made, at)} is {np.ravel(made)[at]}, which {dtype} "
                                    "cannot hold"))
    return out


def _converted(made: Any, form: types.Form, given: Given) -> Any:
    """An array of a form's dtype, which the library makes of numbers, strictly."""
    np = types.numpy()
    made, source = _plain(np, made, form, given)
    if source is form:
        return np.ascontiguousarray(made).reshape(made.shape)
    if source.plan is not None or form.plan is not None:
        return _exact(np, made, form.dtype, given)
    out = np.empty(made.shape, form.dtype)
    if made.size:
        try:
            _core.convert_all(form.type, out, source.type, np.ascontiguousarray(made), made.size)
        except ConversionError as error:
            explain(error, made, source, form, given)
            raise
    if made.dtype.kind in "iu" and out.dtype.kind in "fc" and not given.lossy:
        wrong = np.count_nonzero(out.real.astype("g") != made.astype("g"))
        if wrong:
            warnings.warn(given.said(f"{wrong} integers rounded, as they became {form.dtype}"),
                          ConversionWarning, stacklevel=5)
    return out


# ------------------------------------------------------- elements that hold several items


def _inner(np: Any, value: Any, own: types.Form, given: Given) -> Any:
    """An array of arrays or of structs, each part of it converted to its own dtype."""
    if own.dtype.subdtype:
        base, dims = own.dtype.subdtype
        made = _part(np, value, base, given)
        if made.shape[made.ndim - len(dims):] != dims:
            try:
                made = np.broadcast_to(made, dims)
            except ValueError:
                raise ValueError(given.said(f"elements are arrays of shape {dims}, the value has shape "
                                            f"{made.shape}")) from None
        return made
    return _structs(np, value, own.dtype, given)


def _part(np: Any, value: Any, dtype: Any, given: Given) -> Any:
    """An array of a dtype, which is a part of an element's."""
    if dtype.subdtype or dtype.names is not None:
        return _inner(np, value, types.Form(dtype, types.form_of_dtype(dtype).type), given)
    form = types.form_of_dtype(dtype)
    if dtype.kind == "O":
        return _pointers(np, value, form, given)[0]
    return _converted(natural(value, given), form, given)


def _structs(np: Any, value: Any, dtype: Any, given: Given) -> Any:
    """Structs: of an array by the names of members, of tuples by position."""
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(np, value, given)
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names is not None:
        return _renamed(np, np.asarray(value), dtype, given)
    if hasattr(value, "to_records"):
        natural(value, given)  # says what to give
    shape, rows = _tuples(np, value, dtype.names, given)
    made = np.empty(shape, dtype)
    for i, name in enumerate(dtype.names):
        column = [row[i] for row in rows]
        part = _part(np, _column(np, column, dtype[name]), dtype[name], given.part(f"member {name!r}"))
        made[name] = part.reshape(shape + part.shape[1:])
    return made


def _column(np: Any, column: list[Any], dtype: Any) -> Any:
    """The values of one member: sequences and references are objects each."""
    if dtype.kind != "O" and dtype.names is None:
        return column
    if dtype.names is not None and not all(isinstance(v, np.void) for v in column):
        return column
    if dtype.names is not None:
        return np.array(column, dtype=column[0].dtype)
    made = np.empty(len(column), object)
    for i, v in enumerate(column):
        made[i] = v
    return made


def _renamed(np: Any, value: Any, dtype: Any, given: Given) -> Any:
    if value.dtype == dtype and not dtype.hasobject:
        return value
    if sorted(value.dtype.names) != sorted(dtype.names):
        raise TypeError(given.said(f"structs of {', '.join(value.dtype.names)} cannot be stored as structs "
                                   f"of {', '.join(dtype.names)}: give an array with these members, or view() "
                                   "some of them"))
    made = np.empty(value.shape, dtype)
    for name in dtype.names:
        made[name] = _part(np, value[name], dtype[name], given.part(f"member {name!r}"))
    return made


def _is_rows(value: Any) -> bool:
    """Whether an object that is neither a list nor an array has elements as they have: one that reads them
    when they are asked for."""
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "__array__") and \
        not isinstance(value, (tuple, str, bytes, bytearray, memoryview, collections.abc.Mapping))


def _tuples(np: Any, value: Any, members: tuple[str, ...], given: Given) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and their tuples one after the other."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        rows = value.reshape(-1).tolist()
        shape = value.shape
    elif isinstance(value, list) or _is_rows(value):
        inner = [_tuples(np, v, members, given) for v in value]
        if len({s for s, _ in inner}) > 1:
            raise ValueError(given.said("lists of structs have different lengths"))
        shape = (len(value),) + (inner[0][0] if inner else ())
        return shape, [row for _, part in inner for row in part]
    else:
        rows, shape = [value], ()
    for row in rows:
        if isinstance(row, np.void) and row.dtype.names is not None:
            row = row.tolist()
        if not isinstance(row, (tuple, np.void)) or len(row) != len(members):
            many = f" of {len(row)}" if isinstance(row, tuple) else ""
            raise TypeError(given.said(f"a struct is a tuple of {len(members)} values "
                                       f"({', '.join(members)}), not {_shown(row)}{many}"))
    return shape, rows


def _pointers(np: Any, value: Any, own: types.Form, given: Given) -> tuple[Any, types.Form]:
    """Texts, sequences, references and integers of 128 bits: objects, each of its kind."""
    meta = own.dtype.metadata or {}
    if "datarep" in meta:
        made = natural(value, given)
        if not _is_number(made.dtype):
            raise _unfit(made.dtype, own.dtype, given)
        return made, types.form_of_dtype(made.dtype)
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(np, value, given)
    base = meta.get("vlen", str)
    if "ref" in meta:
        return _references(np, value), own
    if base in (str, bytes):
        return _strings(np, value, own, given)
    return _ragged(np, value, own, np.dtype(base), given), own


def _references(np: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (list, tuple)):
        made = np.empty(len(value), object)
        for i, v in enumerate(value):
            made[i] = v
        return made
    return _box(np, value)


def _strings(np: Any, value: Any, own: types.Form, given: Given) -> tuple[Any, types.Form]:
    made = natural(value, given)
    if not made.size:
        return np.empty(made.shape, own.dtype), own
    if made.dtype.kind == "S":
        made = _objects_of(np, made)
    elif made.dtype.kind != "O" or "datarep" in (made.dtype.metadata or {}):
        raise _unfit(made.dtype, own.dtype, given)
    return made, own  # the extension refuses elements that are no texts


def are_for_extension(value: Any, own: types.Form) -> bool:
    """Whether a value may be objects for a dataset of texts that the extension looks at as it copies them: that
    many take the way to memory once."""
    return own.dtype.kind == "O" and (own.dtype.metadata or {}).get("vlen") is str and \
        type(value) is types.numpy().ndarray and value.dtype.kind == "O" and not value.dtype.metadata and \
        value.size >= MANY


def _objects_of(np: Any, made: Any) -> Any:
    out = np.empty(made.shape, object)
    out[...] = made.tolist()
    return out


def _ragged(np: Any, value: Any, own: types.Form, base: Any, given: Given) -> Any:
    """Sequences: an array of objects or a list of lists is many, a list of values is one."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        rows, shape = (value.reshape(-1).tolist() if value.shape else [value[()]]), value.shape
    elif isinstance(value, (list, tuple)) and len(value) and _long(value[0]):
        rows, shape = list(value), (len(value),)
    elif isinstance(value, np.ndarray) and value.ndim > 1:
        rows, shape = list(value), value.shape[:1]
    else:
        rows, shape = [value], ()
    made = np.empty(shape, object)
    for i, row in enumerate(rows):
        if row is None:
            raise TypeError(given.said(f"{_element(np, made, i)} is None, which is no sequence: give an "
                                       "empty list"))
        made.reshape(-1)[i] = _part(np, row, base, given)
    return made


def _long(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
