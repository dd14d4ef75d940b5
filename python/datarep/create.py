# SPDX-License-Identifier: MIT
"""What a new dataset is to be, from the arguments of Group.create()."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

from . import _core, types, values
from .attrs import Empty, to_memory
from .dataset import CALENDAR, LAYOUTS, UNIT_NAMES
from .errors import NotFoundError, shown

if TYPE_CHECKING:
    from .file import Group

Filters = Union[None, str, Sequence[Union[str, tuple[Any, ...]]]]


class Spec(NamedTuple):
    form: types.Form  # of the data in memory
    stored: types.Type
    shape: Optional[tuple[int, ...]]
    maxshape: Optional[tuple[Optional[int], ...]]
    dims: Optional[list[Optional[str]]]
    chunks: Optional[tuple[int, ...]]
    filters: list[tuple[str, int, tuple[int, ...]]]
    layout: int
    fill_kind: int
    fill: Any  # the memory of the value
    data: Any
    attrs: dict[str, Any]


def parse_filters(filters: Filters) -> list[tuple[str, int, tuple[int, ...]]]:
    """"shuffle,zstd:3" or a list -> [(name, level, parameters)]."""
    if not filters:
        return []
    rows: list[Any] = list(filters.split(",") if isinstance(filters, str) else filters)
    made: list[tuple[str, int, tuple[int, ...]]] = []
    for row in rows:
        if isinstance(row, str):
            name, _, number = row.strip().partition(":")
            try:
                made.append((name, int(number) if number else -1, ()))
            except ValueError:
                raise ValueError(f"filters: {row!r}: a level is a number, as in \"zstd:3\"") from None
        elif not isinstance(row, (tuple, list)):
            raise TypeError(f"filters: a filter is a name or (name, level), not {row!r}")
        else:
            parts: list[Any] = [*row, *[-1, ()][len(row) - 1:]]
            name, level, params = parts
            made.append((name, -1 if level is None else int(level), tuple(params)))
    return made


def _lengths(value: Any, given: values.Given, name: str, none: bool = False) -> tuple[Any, ...]:
    """The lengths that an argument gives: a number or several; none: None is one, too."""
    made = (value,) if value is None or hasattr(value, "__index__") or isinstance(value, str) else value
    try:
        return tuple(n if n is None and none else operator.index(n) for n in made)
    except TypeError:
        raise TypeError(given.said(f"{name}: integers are needed, not {value!r}")) from None


def _agree(given: values.Given, name: str, what: Any, shape: tuple[int, ...]) -> None:
    """An argument has as many items as the dataset dimensions."""
    if what is not None and len(what) != len(shape):
        raise ValueError(given.said(f"{name}: {len(what)} for {len(shape)} dimensions, shape {shape}"))


def _shape_of_dims(group: "Group", dims: Sequence[Optional[str]], given: values.Given) -> tuple[int, ...]:
    """The dimensions' lengths; 0 of an unlimited one, which the dataset has nothing of yet, so that
    the first row appended to it is its first row."""
    h = group._file._h
    lengths = []
    for name in dims:
        if name is None:
            raise ValueError(given.said("dims: a dimension without a name needs shape="))
        try:
            row = h.stat(name if "#" in name else group.dims[name].address)
        except NotFoundError as error:
            said = str(error).removeprefix(f"{shown(given.file)}: ")
            error.args = (given.refused(f"dims: {said}; to make it, give shape= or say dims[{name!r}] = length first"),)
            raise
        lengths.append(0 if row[6] else row[5])
    return tuple(lengths)


def _limits(group: "Group", path: str, shape: tuple[int, ...], dims: Any) -> Any:
    """maxshape of a dataset with unlimited dimensions."""
    limits: list[Optional[int]] = list(shape)
    h = group._file._h
    for i, name in enumerate(dims):
        if name is None:
            continue
        try:
            address = name if "#" in name else h.dimension_find(path, name)
            if h.stat(address)[6]:
                limits[i] = None
        except KeyError:
            pass
    return tuple(limits) if None in limits else None


def _date_attrs(dtype: Any) -> dict[str, Any]:
    """What says that numbers are dates: units and calendar of CF, and for members a note."""
    np = types.numpy()
    dates = types.dates_of(dtype)
    for path, one in dates:
        unit, step = np.datetime_data(one)
        if unit not in UNIT_NAMES or step != 1:
            where = f" of member {path!r}" if path else ""
            raise TypeError(f"dtype {one}{where} cannot be stored: convert it to whole units first")
    if not dates:
        return {}
    attrs: dict[str, Any] = {}
    if dtype.kind in "mM":
        attrs["units"] = UNIT_NAMES[np.datetime_data(dtype)[0]]
    if dtype.kind == "M":
        attrs["units"] += " since 1970-01-01"
        attrs["calendar"] = CALENDAR
    attrs[types.DATES] = [f"{path}={one.name}" for path, one in dates]
    return attrs


def spec_of(group: "Group", path: str, data: Any, dtype: Any, shape: Any, dims: Any, chunks: Any,
            maxshape: Any, filters: Filters, fill: Any, layout: Any) -> Spec:
    """All of it, checked as far as the library does not check it."""
    null = isinstance(data, Empty)
    given = values.Given(path, fill, file=group._file.filename, object=path)
    if null:
        dtype = data.dtype if dtype is None else dtype
        data = None
    elif data is not None:
        data = values.natural(data, given) if dtype is None else data
    if dtype is None:
        if data is None:
            raise TypeError(given.said("data or dtype= is needed"))
        dtype = data.dtype
    form = types.type_of(dtype)
    if data is not None:
        data = values.fitted(data, form, given)[0]
    sub = len(form.dtype.subdtype[1]) if form.dtype.subdtype else 0
    if isinstance(dims, str) or dims is not None and not hasattr(dims, "__iter__"):
        raise TypeError(given.said(f"dims: a list of names is needed, not {dims!r}"))
    names = None if dims is None else [None if d is None else str(d) for d in dims]
    if shape is None:
        if data is not None:
            shape = data.shape[:data.ndim - sub]
        elif dims is not None:
            shape = _shape_of_dims(group, names or (), given)
        elif not null:
            shape = ()
    shape = None if null else _lengths(shape, given, "shape")
    stored = types.stored_type(dtype, form)
    return _rest(group, path, form, stored, shape, data, names, chunks, maxshape, filters, fill, layout)


def _rest(group: "Group", path: str, form: types.Form, stored: types.Type, shape: Any, data: Any,
          names: Any, chunks: Any, maxshape: Any, filters: Filters, fill: Any, layout: Any) -> Spec:
    np, given = types.numpy(), values.Given(path)
    attrs = _date_attrs(form.dtype)
    if form.dtype.kind in "mM" and fill is None:
        fill = np.datetime64("NaT") if form.dtype.kind == "M" else np.timedelta64("NaT")
    kind, value = 0, None
    if fill is not None and fill is not False:
        kind = 1
        one = values.exact(fill, form, values.Given(f"{path}: fill", file=group._file.filename, object=path,
                                                    wider="make the dataset {}"))
        value = to_memory(form, np.array(one), f"{path}: fill")
        if form.plan is None and stored != form.type:
            value = _core.convert(stored, form.type, value)
    elif fill is False:
        kind = 2
    if names is not None and maxshape is None and shape:
        maxshape = _limits(group, path, shape, names)
    if maxshape is not None:
        maxshape = _lengths(maxshape, given, "maxshape", True)
    made = parse_filters(filters)
    number = LAYOUTS[layout]
    if chunks is True:
        number, chunks = LAYOUTS["chunked"], None
    elif chunks is False:
        chunks = None
    if chunks is not None:
        chunks = _lengths(chunks, given, "chunks")
    for name, what in (("dims", names), ("maxshape", maxshape), ("chunks", chunks)):
        _agree(given, name, what if shape else None, shape)
    names = names if shape else None
    return Spec(form, stored, shape, maxshape if shape else None, names, chunks if shape else None, made,
                number, kind, value, data, attrs)
