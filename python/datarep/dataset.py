# SPDX-License-Identifier: MIT
"""Datasets."""
from __future__ import annotations

import re
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Generic, Iterator, Literal, NamedTuple, Optional, Sequence, TypeVar,
                    Union, overload)

from . import _core, index, types, values
from .attrs import to_memory
from .errors import ConversionError, ConversionWarning, shown
from .named import Named

if TYPE_CHECKING:
    from types import EllipsisType

    import numpy
    from numpy.typing import NDArray

    from .file import File
    from .viewer import Viewer
    from .stored import Place
    from .types import BoolName, F4Name, F8Name, I1Name, I2Name, I4Name, I8Name, U1Name, U2Name, U4Name, U8Name

    # Keys that give an array for every dataset; others may give one element.
    Boxes = Union[EllipsisType, slice, tuple[Union[EllipsisType, slice], ...], list[int], list[bool], list[str],
                  NDArray[numpy.integer[Any]], NDArray[numpy.bool_]]

Element = TypeVar("Element", bound="numpy.generic")
Range = Literal["default", "wrap", "clamp", "strict", "round"]

__all__ = ["Dataset", "Report", "array"]



class _Choices(dict[Optional[str], int]):
    """Numbers of the words that an argument may be."""

    def __init__(self, name: str, words: dict[Optional[str], int]) -> None:
        super().__init__(words)
        self._name = name

    def __missing__(self, key: Any) -> int:
        raise ValueError(f"{self._name}: {key!r} is none of {', '.join(k for k in self if k)}")


RANGES = _Choices("range", {None: 0, "default": 0, "wrap": 1, "clamp": 2, "strict": 3, "round": 4})
LAYOUTS = _Choices("layout", {None: 0, "auto": 0, "compact": 1, "contiguous": 2, "chunked": 3})
LAYOUT_NAMES = {v: k for k, v in LAYOUTS.items() if k and v}
UNLIMITED = -1


class Report(NamedTuple):
    """What a transfer changed, in numbers (a complex is two); first_...: their index or -1.

    >>> f = dr.open(":memory:", "w")
    >>> x = f.create("x", dtype="i2", shape=2)
    >>> report = x.write([70000, 5], range="clamp")
    >>> report.overflow, report.first_overflow, str(report)
    (1, 0, '2 numbers: 1 out of range')
    """

    items: int = 0
    overflow: int = 0
    inexact: int = 0
    nan_lost: int = 0
    first_overflow: int = -1
    first_inexact: int = -1
    first_nan_lost: int = -1

    def __bool__(self) -> bool:
        return bool(self.overflow or self.inexact or self.nan_lost)

    def __str__(self) -> str:
        said = [f"{n} {what}" for n, what in ((self.overflow, "out of range"),
                                              (self.inexact, "rounded"),
                                              (self.nan_lost, "NaNs changed")) if n]
        return f"{self.items} numbers: {', '.join(said) or 'all kept'}"


class Options(NamedTuple):
    """Of transfers: threads (0: the file's), range (enum drep_range_mode), members."""

    threads: int = 0
    range: int = 0
    members: int = 0


def options_of(threads: Any, range: Optional[Range]) -> Options:
    """Options from a caller's arguments."""
    if not hasattr(threads, "__index__"):
        raise TypeError(f"threads: a number is needed, 0 for the file's, not {threads!r}")
    return Options(threads, RANGES[range])


PLAIN = Options()
SHORT = 32  # bytes of a text that is read without an allocation
PIECE = 16384  # elements with pointers that are read at once


class array:
    """A value with the type and the way in which it is to be stored.

    >>> import datarep as dr, numpy as np
    >>> with dr.open(":memory:", "w") as f:
    ...     f["w"] = dr.array([1, 70000], stored="i2", range="clamp")
    ...     print(f["w"][...], f["w"].report.overflow)
    [    1 32767] 1
    """

    def __init__(self, value: Any, stored: Any = None, range: Optional[Range] = None,
                 threads: int = 0, **create: Any) -> None:
        self.value = value
        self.stored = stored
        self.options = options_of(threads, range)
        self.create = create
        self.report = Report()


def warn(report: tuple[int, ...], name: str, write: bool, rounded: bool) -> Report:
    """A warning for values that a transfer changed in ways that nobody asked for."""
    made = Report(*report)
    if made.overflow or made.nan_lost or (made.inexact and rounded):
        verb = "written" if write else "read"
        warnings.warn(f"{shown(name)}: of {made}, as they were {verb}", ConversionWarning, stacklevel=4)
    return made


class _Outer:
    """ds.oindex: each array acts on its own dimension."""

    __slots__ = ("_ds",)

    def __init__(self, ds: "Dataset") -> None:
        self._ds = ds

    def __getitem__(self, key: Any) -> Any:
        return self._ds._read(self._ds._key(key, index.outer))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ds._write(self._ds._key(key, index.outer), value)


class _Points:
    """ds.vindex: arrays of coordinates, or a mask, select points."""

    __slots__ = ("_ds",)

    def __init__(self, ds: "Dataset") -> None:
        self._ds = ds

    def _selection(self, key: Any) -> index.Selection:
        np = types.numpy()
        keys = key if isinstance(key, tuple) else (key,)
        made = tuple(np.asarray(k) if not isinstance(k, (slice, str)) and k is not Ellipsis else k
                     for k in keys)
        if not any(isinstance(k, np.ndarray) for k in made):
            raise IndexError("vindex needs arrays of coordinates or a mask")
        sel = self._ds._key(made)
        # zarr's rule: the dimensions of the points come first.
        if not sel.arrays:
            return sel
        n, inner = sel.place, [p.length for p in sel.parts if isinstance(p, index.Axis)]
        return sel._replace(place=0, out=sel.common + tuple(inner)) if n else sel

    def __getitem__(self, key: Any) -> Any:
        return self._ds._read(self._selection(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ds._write(self._selection(key), value)


class _Together:
    """with ds.collective: transfers are made by all ranks together."""

    __slots__ = ("_ds", "_before")

    def __init__(self, ds: "Dataset") -> None:
        self._ds = ds
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(self._ds._collective)
        self._ds._collective = True

    def __exit__(self, *error: Any) -> None:
        self._ds._collective = self._before.pop()


class View(Generic[Element]):
    """A dataset read as another dtype, with some of its members, or as text."""

    __slots__ = ("dataset", "_form", "_single", "_text", "_shown")

    def __init__(self, ds: "Dataset", form: types.Form, single: Optional[str] = None,
                 text: Optional[tuple[str, str]] = None, shown: Any = None) -> None:
        self.dataset = ds
        self._form = form
        self._single = single
        self._text = text
        self._shown = shown  # a dtype to which NumPy converts, not the library

    @property
    def dtype(self) -> "numpy.dtype[Element]":
        if self._shown is not None:
            return self._shown
        return self._form.dtype[self._single] if self._single else self._form.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.dataset.shape

    def __len__(self) -> int:
        return len(self.dataset)

    @overload
    def __getitem__(self, key: "Boxes") -> "NDArray[Element]": ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        sel = self.dataset._key(key)
        if sel.fields is not None:
            return View[Any](self.dataset, self._form)[sel.fields]
        got = self.dataset._read(sel, self._form)
        if self._text:
            return _decoded(got, *self._text)
        if self._shown is not None:
            return types.numpy().asarray(got).astype(self._shown)[()]
        return got[self._single] if self._single else got

    def __setitem__(self, key: Any, value: Any) -> None:
        sel = self.dataset._key(key)
        form, given = self._form, self.dataset._given(value)
        if self._single:
            self.dataset._write(sel, values.member(value, form, self._single, given), form)
            return
        if self._shown is not None:
            value = values.exact(value, types.form_of_dtype(self._shown), given)
        value, form = values.fitted(value, form, given)
        self.dataset._write(sel, value, form)

    def __array__(self, dtype: Any = None) -> "NDArray[Element]":
        got = types.numpy().asarray(self[...])
        return got if dtype is None else got.astype(dtype)


def _decoded(got: Any, encoding: str, errors: str) -> Any:
    np = types.numpy()
    if isinstance(got, bytes):
        return got.decode(encoding, errors)
    out = np.empty(got.shape, object)
    out.reshape(-1)[:] = [b.decode(encoding, errors) for b in got.reshape(-1).tolist()]
    return out


class Dataset(Named, _core.Dataset):
    """An array in a file.  Its elements are read and written by indexing, with NumPy's rules.

    >>> f = dr.open(":memory:", "w")
    >>> f["x"] = np.arange(12.0).reshape(3, 4)
    >>> f["x"][1, ::2]
    array([4., 6.])
    >>> f["x"][0] = 0
    >>> f["x"].shape, f["x"].dtype, f["x"][:].sum()
    ((3, 4), dtype('float64'), 60.0)
    """

    __slots__ = ("_file", "name", "_info_cache", "__weakref__")

    # ---------------------------------------------------------------- elements

    def _resolve(self, t: types.Type, fill: int) -> tuple[Any, ...]:
        """The extension asks for the dtype of a type."""
        form = types.form_of_type(self._laid_out(t) if types.has_members(t) else t)
        if t.code == types.CODES["INT64_T"] or form.dtype.names is not None or form.dtype.subdtype:
            dates = self._dates()
            time = self._time(t) if dates is None and fill == 1 and t.code else None
            form = types.dated(form, {"": time} if time else dates or {})
        return form.dtype, None if form.type == t and form.plan is None else form.type, form.plan, True

    def _laid_out(self, t: types.Type) -> types.Type:
        """Structs lie as in the file: at their own offsets, or as in C, or packed."""
        placed = self._placed()
        if placed is not None:
            return placed
        return t if self._stored_as(t) else types.packed(t)

    def _dates(self) -> Optional[dict[str, Any]]:
        """The dates that a note tells of: {path of the member: dtype}; None without a note."""
        try:
            rows = self.attrs[types.DATES]
        except KeyError:
            return None
        np = types.numpy()
        dates = {}
        for row in rows:
            path, _, name = str(row).rpartition("=")
            if _DATE.fullmatch(name):
                dates[path] = np.dtype(name)
        return dates

    def _form_with(self, names: list[str]) -> types.Form:
        """The form with these members only."""
        return types.dated(types.members_form(self._info()["type"], names), self._dates() or {})

    def _time(self, t: types.Type) -> Any:
        """datetime64 or timedelta64 of files without that note: units as we write them and NaT."""
        np = types.numpy()
        if t.code != types.CODES["INT64_T"]:
            return None
        value = np.empty((), "i8")
        self._fill(t, value)
        if value[()] != np.iinfo("i8").min:
            return None
        units = self.attrs.get("units")
        found = _UNITS.fullmatch(units) if isinstance(units, str) else None
        if not found or found.group(1) not in _UNIT_CODES:
            return None
        code = _UNIT_CODES[found.group(1)]
        if not found.group(2):
            return np.dtype(f"m8[{code}]")
        return np.dtype(f"M8[{code}]") if self.attrs.get("calendar") == CALENDAR else None

    def _form(self) -> types.Form:
        dtype = self.dtype
        t = self._memory
        return types.Form(dtype, t if t is not None else self._info()["type"], self._plan)

    def _lengths(self) -> tuple[int, ...]:
        shape = self.shape
        if shape is None:
            raise TypeError(f"{shown(self.name)}: a dataset of null space has no elements")
        return shape

    def _key(self, key: Any, rules: Callable[[Any, tuple[int, ...]], index.Selection] = index.parse) -> index.Selection:
        """What a key selects."""
        try:
            return rules(key, self._lengths())
        except IndexError as error:
            raise IndexError(f"{shown(self._file.filename)}: {shown(self.name)}: {error}") from None

    def _get(self, key: Any) -> Any:
        """Every key that the extension leaves."""
        try:
            np = types.numpy()
        except ImportError:
            from . import plain
            return plain.read(self, key)
        shape = self._lengths()
        if type(key) is np.ndarray and key.dtype == bool and key.shape == shape and shape \
                and index.DENSE * np.count_nonzero(key) >= key.size:
            return np.asarray(self[...])[key]
        sel = self._key(key)
        if sel.fields is not None:
            return self._members(sel)
        return self._read(sel)

    def _members(self, sel: index.Selection) -> Any:
        fields = sel.fields
        names = [fields] if isinstance(fields, str) else list(fields)  # type: ignore[arg-type]
        got = self._read(sel, self._form_of(names))
        return got[fields] if isinstance(fields, str) else got

    def _form_of(self, names: list[str]) -> types.Form:
        """The form of members that a key names."""
        if self.dtype.names is None:
            raise TypeError(f"{shown(self._file.filename)}: {shown(self.name)}: elements of {self.type!r} have no "
                            "members: indices are numbers and slices; xarray's .sel() selects by coordinate")
        return self._form_with(names)

    def _read(self, sel: index.Selection, form: Optional[types.Form] = None,
              options: Options = PLAIN) -> Any:
        own = form is None
        form = form or self._form()
        reports: list[Any] = []

        def load(fn: Any, args: tuple[Any, ...], out: Any, count: int) -> None:
            assert form
            if form.plan is None:
                reports.append(fn(*args, form.type, out, options))
                return
            raw = _core.Elements(form.type, count)
            reports.append(fn(*args, form.type, raw, options))
            raw.load(form.plan, out)

        def box(start: Any, count: Any, step: Any, out: Any) -> None:
            assert form
            steps = None if all(s == 1 for s in step) else step
            total = index.product(count)
            if form.plan is None or total <= PIECE or not count or self._collective:
                load(self._read_box, (start, count, steps), out, total)
                return
            # Pointers and what they point to stay in the processor's caches.
            rows = max(PIECE * count[0] // total, 1)
            short = form.plan.texts
            for i in range(0, count[0], rows):
                n = min(rows, count[0] - i)
                where = ([start[0] + i * step[0], *start[1:]], [n, *count[1:]], steps)
                short = short and self._short_texts(where, out[i:i + n])
                if not short:
                    load(self._read_box, where, out[i:i + n], n * (total // count[0]))

        def boxes(rows: Any, count: Any, out: Any) -> None:
            load(self._read_boxes, (rows, count), out, len(rows) * index.product(count))

        def points(rows: Any, out: Any) -> None:
            load(self._read_points, (rows, rows.shape[1]), out, len(rows))

        got = index.read(sel, form, box, boxes, points, self._collective)
        for report in reports:
            if report:
                self._lost(report, 0, own)
        return got

    def _short_texts(self, where: Any, out: Any) -> bool:
        """Read texts of a few bytes without an allocation for each; False if one is longer."""
        np = types.numpy()
        raw = np.empty(out.size * SHORT, "u1")
        start, count, step = where
        report = self._read_box(start, count, step, types.Type.string(SHORT, 1), raw,
                                Options(0, RANGES["wrap"]))
        if report:
            return False
        _core.texts_load(raw, SHORT, out)
        return True

    def _lost(self, report: tuple[int, ...], write: int, rounded: bool = True) -> None:
        """A transfer changed values: the extension tells."""
        made = warn(report, self.name, bool(write), rounded and not write)
        self._file._reports[self.name] = made

    def _set(self, key: Any, value: Any) -> None:
        """Every assignment that the extension leaves."""
        try:
            types.numpy()
        except ImportError:
            from . import plain
            plain.write(self, key, value)
            return
        sel = self._key(key)
        if sel.fields is not None:
            fields = sel.fields
            names = [fields] if isinstance(fields, str) else list(fields)
            form, given = self._form_of(names), self._given(value)
            if isinstance(fields, str):
                made = values.member(value, form, fields, given)
            else:
                made, form = values.fitted(value, form, given)
            self._write(sel._replace(fields=None), made, form)
        else:
            self._write(sel, value)

    def _given(self, value: Any, options: Options = PLAIN) -> values.Given:
        """What messages call a value, the declared fill for masked elements, and what may change."""
        fill, instead = None, ""
        if type(value).__name__ == "MaskedArray":
            fill, instead = (self.fillvalue, "") if self._info()["fill"] == 1 else (None, self._instead())
        lossy = options.range not in (0, RANGES["strict"])
        return values.Given(self.name, fill, lossy, file=self._file.filename, object=self.name, masked=instead)

    def _instead(self) -> str:
        """What to give instead of masked elements, where an attribute says what stands for missing ones."""
        for name in ("_FillValue", "missing_value"):
            if name in self.attrs:
                value = self.attrs[name]
                said = shown(value.reshape(-1)[0] if getattr(value, "size", 0) == 1 else value)
                return f"the dataset has none, but its attribute {name} is {said}: give value.filled({said})"
        return ""

    def _value(self, value: Any, options: Options = PLAIN) -> tuple[Any, types.Form]:
        """The value as an array, and the form in which the library converts it."""
        return values.fitted(value, self._form(), self._given(value, options))

    def _write(self, sel: index.Selection, value: Any, form: Optional[types.Form] = None,
               options: Options = PLAIN) -> None:
        if form is not None:
            return self._put(sel, value, form, options)
        own = self._form()
        if values.are_for_extension(value, own):
            try:
                return self._put(sel, value, own, options, True)
            except values.Unlike:
                pass
        self._put(sel, *self._value(value, options), options)

    def _put(self, sel: index.Selection, value: Any, form: types.Form, options: Options,
             strict: bool = False) -> None:
        """Write an array in its form; strict: Unlike, before anything is written, for texts that are no str."""
        np, given = types.numpy(), value
        sub = form.dtype.subdtype[1] if form.dtype.subdtype else ()
        try:
            value = np.broadcast_to(_without_ones(value, len(sel.out) + len(sub)), sel.out + sub)
        except ValueError:
            raise ValueError(f"{shown(self._file.filename)}: {shown(self.name)}: could not broadcast input array from "
                             f"shape {np.shape(value)} into shape {sel.out + sub}") from None
        if not index.product(sel.out):
            if self._collective:
                none = [0] * len(sel.shape)
                self._write_box(none, none, None, form.type, to_memory(form, np.empty((0,) + sub, form.dtype), self.name),
                                options)
            return
        value = index.arrange(sel, value)
        try:
            report = self._moved(sel, value, form, options, strict)
        except ConversionError as error:
            values.explain(error, given, form, self._form(), self._given(None))
            raise
        self._written(report, form, options)

    def _moved(self, sel: index.Selection, value: Any, form: types.Form, options: Options, strict: bool) -> Any:
        """The report of writing an array that lies as the selection does."""
        np = types.numpy()
        if sel.arrays:
            rows, take = index.coordinates(sel)
            if take is not None:
                flat = value.reshape((index.product(sel.common),) + value.shape[len(sel.common):])
                value = np.ascontiguousarray(flat[take])
            return self._write_points(rows, rows.shape[1], form.type, to_memory(form, value, self.name, strict), options)
        around = index._box(sel)
        step = None if all(s == 1 for s in around.step) else around.step
        return self._write_box(around.start, around.lengths, step, form.type,
                               to_memory(form, value, self.name, strict), options)

    def _written(self, report: Any, form: types.Form, options: Options) -> None:
        """Losses are kept as the report, and warned of unless the caller chose how to lose."""
        if report and options.range:
            self._file._reports[self.name] = Report(*report)
        elif report:
            own = self.dtype
            rounded = form.dtype.kind in "iuO" or own.kind in "iu" and not types.is_bits(own)
            self._file._reports[self.name] = warn(report, self.name, True, rounded)

    @property
    def report(self) -> Report:
        """What the last transfer that changed values changed.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", dtype="u1", shape=1)
        >>> _ = x.write([300], range="wrap")
        >>> x[0], x.report.overflow
        (44, 1)
        """
        return self._file._reports.get(self.name, Report())

    @property
    def oindex(self) -> _Outer:
        """Indexing in which each array acts on its own dimension.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].oindex[[2, 0], [1, 3]]
        array([[ 9, 11],
               [ 1,  3]])
        """
        return _Outer(self)

    @property
    def collective(self) -> _Together:
        """`with ds.collective:` all processes of the file's communicator read or write this dataset
        together, each its own part, which may be empty.  Then the file is the one that a single
        process would have written, and chunks that several of them share are encoded once.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> with f["x"].collective:
        ...     f["x"][0] = 7
        >>> f["x"][0, 0]
        7
        """
        return _Together(self)

    @property
    def vindex(self) -> _Points:
        """Indexing by points: arrays of coordinates or a mask.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].vindex[[2, 0], [1, 3]]
        array([9, 3])
        """
        return _Points(self)

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, key: Boxes) -> NDArray[Any]: ...
        @overload
        def __getitem__(self, key: Any) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...

    def __array__(self, dtype: Any = None) -> "NDArray[Any]":
        got = types.numpy().asarray(self[...])
        return got if dtype is None else got.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]

    def read_into(self, out: "NDArray[Any]", key: Any = Ellipsis, threads: int = 0,
                  range: Optional[Range] = None, collective: bool = False) -> Report:
        """Read the selected elements into an array, which is converted to its dtype.

        out: a C-contiguous array of the shape of the result; collective: as `with ds.collective`.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> out = np.empty((2, 4), "f4")
        >>> _ = f["x"].read_into(out, np.s_[1:])
        >>> out[0]
        array([4., 5., 6., 7.], dtype=float32)
        """
        if collective:
            with self.collective:
                return self.read_into(out, key, threads, range)
        if not threads and range is None:
            quick = self._read_same(out, key)
            if quick is not False:
                if quick:
                    self._lost(quick, 0, False)
                return Report(*quick) if quick else Report(out.size)
        np = types.numpy()
        if not isinstance(out, np.ndarray):
            raise TypeError(f"elements are read into an array, not {type(out).__name__}")
        sel = self._key(key)
        form = self._form()
        if out.dtype != form.dtype and not _other_units(out.dtype, form.dtype):
            form = types.form_of_dtype(out.dtype)
        if out.shape != sel.out:
            raise ValueError(f"the array has shape {out.shape}, the selection {sel.out}")
        if not out.flags.writeable:
            raise ValueError("the array is read-only")
        options = options_of(threads, range)
        around = index._box(sel) if not sel.arrays and index.product(sel.out) else None
        if around is None or form.plan or index._flips(sel, 0) or not out.flags.c_contiguous \
                or not out.dtype.isnative or out.dtype.kind in "mM" and out.dtype != form.dtype:
            before = self._file._reports.pop(self.name, None)
            out[...] = self._read(sel, form, options)
            made = self._file._reports.get(self.name)
            if made is None and before is not None:
                self._file._reports[self.name] = before
            return made or Report(index.product(sel.out))
        step = None if all(s == 1 for s in around.step) else around.step
        report = self._read_box(around.start, around.lengths, step, form.type, out, options)
        if report:
            self._lost(report, 0, False)
        return Report(*report) if report else Report(index.product(sel.out))

    def write(self, value: Any, key: Any = Ellipsis, threads: int = 0,
              range: Optional[Range] = None, collective: bool = False) -> Report:
        """Assign with options.  collective: as `with ds.collective`.  range says what becomes of values
        that the dataset cannot hold: "strict", an error, is the default; "round" rounds reals to the
        nearest integer; "clamp" takes the nearest value and cuts fractions off, "wrap" does so too
        but keeps the lower bits of integers.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", dtype="i2", shape=(2, 3))
        >>> x.write([1.4, 70000, 3], np.s_[0], range="clamp").overflow
        1
        >>> x[0]
        array([    1, 32767,     3], dtype=int16)
        """
        if collective:
            with self.collective:
                return self.write(value, key, threads, range)
        self._file._reports.pop(self.name, None)
        self._write(self._key(key), value, None, options_of(threads, range))
        return self.report

    def append(self, value: Any, axis: int = 0, threads: int = 0,
               range: Optional[Range] = None) -> None:
        """Add elements at the end of a dimension, which grows: a block of the dataset's shape, or
        without this dimension, for one step.

        A block of another shape is refused, and changes nothing.  After an append that failed for
        another reason, such as elements that cannot be stored, the dataset takes no other before
        `File.commit` or `resize`, also to the shape that it has: a loop that goes on would shift it
        against the datasets beside it.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", dtype="f8", shape=(0, 2), maxshape=(None, 2))
        >>> x.append([[1, 2], [3, 4]])
        >>> x.append([5, 6])
        >>> x.shape, x[-1].tolist()
        ((3, 2), [5.0, 6.0])
        """
        options, axis = options_of(threads, range), self._growing(axis)
        try:
            value, form = self._value(value, options)
        except BaseException:
            self._append_failed()
            raise
        value = self._rows(value, axis, form)
        n = value.shape[axis]
        if not n:
            return
        try:
            report = self._append(axis, n, form.type, to_memory(form, value, self.name), options)
        except ConversionError as error:
            values.explain(error, value, form, self._form(), self._given(None))
            raise
        self._written(report, form, options)

    def _growing(self, axis: int) -> int:
        """The dimension along which an append is, if there is one."""
        if not 0 <= axis < len(self._lengths()):
            raise ValueError(f"{shown(self.name)}: there is no dimension {axis} to append along, the shape is {self.shape}")
        return axis

    def _rows(self, value: Any, axis: int, form: types.Form) -> Any:
        """The block to append, as an array with that dimension."""
        np, shape = types.numpy(), list(self._lengths())
        sub = list(form.dtype.subdtype[1]) if form.dtype.subdtype else []
        rest = shape[:axis] + shape[axis + 1:] + sub
        if list(value.shape) == rest:
            value = np.expand_dims(value, axis)
        if value.ndim != len(rest) + 1 or value.shape[:axis] + value.shape[axis + 1:] != tuple(rest):
            raise ValueError(f"{shown(self.name)}: a block of shape {value.shape} cannot be appended along dimension "
                             f"{axis} of {tuple(shape)}")
        return np.ascontiguousarray(value)

    def resize(self, shape: Union[int, Sequence[int]], axis: Optional[int] = None) -> None:
        """Change the lengths, within maxshape.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", [1, 2, 3], maxshape=(None,))
        >>> x.resize(4)
        >>> x[:]
        array([1, 2, 3, 0])
        """
        if axis is not None:
            lengths = list(self._lengths())
            lengths[axis] = int(shape)  # type: ignore[arg-type]
            shape = lengths
        if isinstance(shape, int):
            shape = (shape,)
        self._resize(tuple(shape))

    # --------------------------------------------------------------- other views

    @overload
    def astype(self, dtype: "F4Name") -> "View[numpy.float32]": ...
    @overload
    def astype(self, dtype: "Union[F8Name, type[float]]") -> "View[numpy.float64]": ...
    @overload
    def astype(self, dtype: "I1Name") -> "View[numpy.int8]": ...
    @overload
    def astype(self, dtype: "I2Name") -> "View[numpy.int16]": ...
    @overload
    def astype(self, dtype: "I4Name") -> "View[numpy.int32]": ...
    @overload
    def astype(self, dtype: "I8Name") -> "View[numpy.int64]": ...
    @overload
    def astype(self, dtype: "U1Name") -> "View[numpy.uint8]": ...
    @overload
    def astype(self, dtype: "U2Name") -> "View[numpy.uint16]": ...
    @overload
    def astype(self, dtype: "U4Name") -> "View[numpy.uint32]": ...
    @overload
    def astype(self, dtype: "U8Name") -> "View[numpy.uint64]": ...
    @overload
    def astype(self, dtype: "BoolName") -> "View[numpy.bool_]": ...
    @overload
    def astype(self, dtype: "Union[type[Element], numpy.dtype[Element]]") -> View[Element]: ...
    @overload
    def astype(self, dtype: Any) -> View[Any]: ...

    def astype(self, dtype: Any) -> View[Any]:
        """The dataset read as another dtype, converted by the library; dates of other units by NumPy.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].astype("f4")[0]
        array([0., 1., 2., 3.], dtype=float32)
        """
        form, own = types.type_of(dtype), self.dtype
        if _other_units(form.dtype, own):
            return View(self, self._form(), shown=form.dtype)
        return View(self, form)

    def fields(self, members: Union[str, Sequence[str]]) -> View[Any]:
        """Some members of a dataset of structs: only these are read.

        >>> f = dr.open(":memory:", "w")
        >>> f["rows"] = np.array([(1, 0.5), (2, 1.5)], [("id", "i4"), ("value", "f8")])
        >>> f["rows"].fields("value")[:]
        array([0.5, 1.5])
        >>> f["rows"].fields(["id"])[:].dtype.names
        ('id',)
        """
        single = members if isinstance(members, str) else None
        names = [members] if isinstance(members, str) else list(members)
        return View(self, self._form_with(names), single)

    @overload
    def view(self, members: Union[str, Sequence[str]]) -> View[Any]: ...
    @overload
    def view(self, *, browser: bool = True, port: Optional[int] = None) -> "Viewer": ...

    def view(self, members: Optional[Union[str, Sequence[str]]] = None, *,  # type: ignore[override]
             browser: bool = True, port: Optional[int] = None) -> Union[View[Any], "Viewer"]:
        """Show it in the browser, as Group.view() does; with names of members, the same as fields().

        >>> viewer = f["x"].view()  # doctest: +SKIP
        """
        return super().view(browser=browser, port=port) if members is None else self.fields(members)

    def as_float32(self) -> "View[numpy.float32]":
        """Numbers that NumPy does not have (bfloat16, fp8) as float32.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", dtype="BFLOAT16", shape=2, fill=None)
        >>> x.as_float32()[:] = [1.5, -2]
        >>> x.as_float32()[:]
        array([ 1.5, -2. ], dtype=float32)
        """
        return View(self, types.form_of_type(types.predefined("FLOAT")))

    def asstr(self, encoding: str = "utf-8", errors: str = "strict") -> "View[numpy.object_]":
        """Text of a fixed number of bytes as str.

        >>> f = dr.open(":memory:", "w")
        >>> f["codes"] = np.array([b"BRE", b"HAM"])
        >>> f["codes"].asstr()[:].tolist()
        ['BRE', 'HAM']
        """
        form = self._form()
        if form.dtype.kind != "S":
            return View(self, form)
        return View(self, form, None, (encoding, errors))

    def map(self, verify: bool = True) -> "NDArray[Any]":
        """A read-only array in the mapped file, without a copy.

        TypeError says why there is none: chunks, filters, another representation.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> with dr.open(path, "w") as f:
        ...     f["x"] = np.arange(100000.0)
        >>> with dr.open(path) as f:
        ...     m = f["x"].map()
        ...     print(m[5], m.flags.writeable)
        ...     del m
        5.0 False
        """
        np = types.numpy()
        form = self._form()
        if form.plan is not None or self._memory is not None:
            raise TypeError(f"{shown(self.name)}: elements of {shown(form.dtype)} are converted as they are read")
        try:
            data = self._map(verify)
        except NotImplementedError as error:
            raise TypeError(str(error)) from error
        base = form.dtype.subdtype[0] if form.dtype.subdtype else form.dtype
        sub = form.dtype.subdtype[1] if form.dtype.subdtype else ()
        return np.frombuffer(data, base).reshape(self._lengths() + sub)

    def as_stored(self) -> "NDArray[Any]":
        """The bytes of the elements as the file holds them, before filters, and their dtype if NumPy
        has one for them: an array of them, else of void.

        >>> f = dr.open(":memory:", "w", datarep="external32")
        >>> f["x"] = np.arange(3, dtype="i4")
        >>> f["x"].as_stored().dtype
        dtype('>i4')
        """
        from . import stored
        return stored.as_stored(self)

    def stored(self) -> Iterator[tuple[slice, ...]]:
        """The boxes for which something is stored, as keys: what is outside of them reads as fill.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", dtype="f8", shape=(10,), chunks=(4,))
        >>> x[5] = 1
        >>> list(x.stored())
        [(slice(4, 8, None),)]
        """
        from . import stored
        return stored.boxes(self)

    def stored_at(self, start: Sequence[int]) -> "Optional[Place]":
        """Where the bytes of an element are in the file, for programs that read it without this library: of
        a chunk all of them, of a contiguous dataset those that follow each other from there on.

        (offset, size, skipped, external); None: nothing is stored there, the element is fill.  It holds until the
        next commit; what is not committed is an error.  `datarep.references` makes them of a whole file.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
        >>> with dr.open(path, "w") as f:
        ...     _ = f.create("x", np.arange(8, dtype="u1"), layout="contiguous")
        >>> with dr.open(path) as f:
        ...     place = f["x"].stored_at((2,))
        >>> with open(path, "rb") as file:
        ...     _ = file.seek(place.offset)
        ...     print(file.read(place.size))
        b'\\x02\\x03\\x04\\x05\\x06\\x07'
        """
        from . import stored
        found = self._stored_at(start)
        return None if found is None else stored.Place(*found)

    # --------------------------------------------------------------- properties

    @property
    def id(self) -> int:
        """The number of the object in its file.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].id == f["x"].ref.id
        True
        """
        return self._info()["id"]

    @property
    def type(self) -> types.Type:
        """The library's type of its elements.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].type
        INT64_T
        """
        return self._info()["type"]

    @property
    def datarep(self) -> str:
        """The data representation of its elements.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].datarep
        'native'
        """
        return self._info()["datarep"]

    @property
    def layout(self) -> str:
        """"compact", "contiguous" or "chunked".

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].layout
        'compact'
        """
        return LAYOUT_NAMES.get(self._info()["layout"], "auto")

    @property
    def maxshape(self) -> Optional[tuple[Optional[int], ...]]:
        """The lengths to which it may grow; None: without a limit.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].maxshape
        (3, 4)
        """
        info = self._info()
        if info["rank"] < 0:
            return None
        return tuple(None if n == UNLIMITED else n for n in info["maxdims"])

    @property
    def chunks(self) -> Optional[tuple[int, ...]]:
        """The lengths of a chunk, or None.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 3
        >>> x = f.create("x", dtype="f4", dims=["lat"], chunks=(2,), filters="shuffle,zstd:3", fill=np.nan)
        >>> x.chunks
        (2,)
        """
        info = self._info()
        return info["chunk"] if info["layout"] == LAYOUTS["chunked"] else None

    @property
    def changed(self) -> int:
        """The number of the commit that last changed its elements, shape, type or fill; of changes since the last
        commit, that of the next one.  Attributes do not count.

        >>> f = dr.open(":memory:", "w")
        >>> x = f.create("x", [1, 2, 3])
        >>> f.commit()
        >>> x.attrs["units"] = "m"
        >>> f.commit()
        >>> x.changed
        1
        >>> x[0] = 7
        >>> x.changed
        3
        """
        changed: int = self._info()["changed"]
        return changed

    @property
    def filters(self) -> str:
        """Its filters as create() takes them: "shuffle,zstd:3"; a pipeline of HDF5 by numbers, "hdf5:3,hdf5:1?",
        which create() does not take.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 3
        >>> x = f.create("x", dtype="f4", dims=["lat"], chunks=(2,), filters="shuffle,zstd:3", fill=np.nan)
        >>> x.filters
        'shuffle,zstd:3'
        """
        said = []
        for name, level, _ in self._info()["filters"]:
            said.append(f"{name}:{level}" if level > 0 else name)
        return ",".join(said)

    @property
    def fillvalue(self) -> Any:
        """The value of elements that were not written.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 3
        >>> x = f.create("x", dtype="f4", dims=["lat"], chunks=(2,), filters="shuffle,zstd:3", fill=np.nan)
        >>> x.fillvalue
        nan
        """
        from .attrs import read_array
        return read_array(self._form(), (), lambda t, out: self._fill(t, out))[()]

    @property
    def dims(self) -> tuple[Optional[str], ...]:
        """The names of its dimensions, None for one without a name.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 3
        >>> x = f.create("x", dtype="f4", dims=["lat"], chunks=(2,), filters="shuffle,zstd:3", fill=np.nan)
        >>> x.dims
        ('lat',)
        """
        return tuple(a.rsplit("#", 1)[1] if a else None for a in self.dim_addresses)

    @property
    def dim_addresses(self) -> tuple[Optional[str], ...]:
        """The addresses ("/g#time") of its dimensions.

        >>> f = dr.open(":memory:", "w")
        >>> f.dims["lat"] = 3
        >>> x = f.create("x", dtype="f4", dims=["lat"], chunks=(2,), filters="shuffle,zstd:3", fill=np.nan)
        >>> x.dim_addresses
        ('/#lat',)
        """
        return tuple(self._file._address(i) if i else None for i in self._info()["dim_ids"])

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].nbytes
        96
        """
        return int(self.size) * int(self.dtype.itemsize)

    def usage(self) -> dict[str, int]:
        """What is stored of it: bytes and chunks.

        >>> f = dr.open(":memory:", "w")
        >>> f["x"] = np.arange(12).reshape(3, 4)
        >>> f["x"].usage()["bytes"] >= 96
        True
        """
        return dict(zip(("bytes", "chunks"), self._usage()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self._file is other._file and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self._file), self.name))

    def __bool__(self) -> bool:
        return not self._file.closed

    def __reduce__(self) -> Any:
        return _reopen, (self._file, self.name)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Optional[bool] = None) -> Any:
        if stream is not None or dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"{shown(self.name)}: elements are read into the memory of the processor")
        if copy is False:
            raise BufferError(f"{shown(self.name)}: elements are copied as they are read")
        return types.numpy().ascontiguousarray(self[...]).__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        from . import arrow
        return arrow.export(self[...], self.name.rsplit("/", 1)[-1])

    def __repr__(self) -> str:
        if self._file.closed:
            return "<dataset of a closed file>"
        shape = self.shape
        return f"<dataset {shown(self.name)}: shape {shape}, dtype {shown(self.dtype)}>"

    def _repr_html_(self) -> str:
        from . import tree
        return tree.html(self)


def _without_ones(value: Any, ndim: int) -> Any:
    """NumPy ignores leading dimensions of 1 that are too many in an assignment."""
    while value.ndim > ndim and value.shape[0] == 1:
        value = value[0]
    return value


def _other_units(a: Any, b: Any) -> bool:
    """Dates or periods whose numbers mean something else."""
    return a.kind in "mM" and b.kind in "mM" and bool(types.native(a) != b)


def _reopen(file: "File", name: str) -> Dataset:
    return file[name]


CALENDAR = "proleptic_gregorian"
_UNIT_CODES = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s",
               "minutes": "m", "hours": "h", "days": "D", "weeks": "W", "months": "M",
               "years": "Y", "picoseconds": "ps", "femtoseconds": "fs", "attoseconds": "as"}
UNIT_NAMES = {v: k for k, v in _UNIT_CODES.items()}
_DATE = re.compile(r"(datetime|timedelta)64\[(ns|us|ms|s|m|h|D|W|M|Y|ps|fs|as)\]")
_UNITS = re.compile(r"(\w+)( since 1970-01-01)?")
