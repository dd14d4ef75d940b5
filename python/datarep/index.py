# SPDX-License-Identifier: MIT
"""NumPy's rules of indexing, in the terms of boxes and points.

`parse` says what a key selects.  `read` and `write` move it: integers and slices as a box; arrays of
indices and masks as the box around them where it is dense, else as a box for each index or as points.
"""
from __future__ import annotations

import operator
from typing import Any, Callable, NamedTuple, Optional

from . import types

__all__ = ["Selection", "parse"]


class Axis(NamedTuple):
    """One dimension of a slice: length elements from start on, step apart, backwards if flip."""

    start: int
    length: int
    step: int
    flip: bool


class Selection(NamedTuple):
    """What a key selects of an array of `shape`.

    parts: for each dimension an int, an Axis or an array of indices.  arrays: the dimensions that
    have arrays (or, beside arrays, integers), broadcast to `common`.  out: the result's shape.
    front: the common dimensions come first in the result, else at `place`.
    """

    shape: tuple[int, ...]
    parts: list[Any]
    arrays: list[int]
    common: tuple[int, ...]
    place: int
    out: tuple[int, ...]
    scalar: bool
    fields: Optional[Any]


def _axis(key: slice, length: int) -> Axis:
    start, stop, step = key.indices(length)
    count = len(range(start, stop, step))
    if step < 0:
        start, step = start + (count - 1) * step, -step
        return Axis(start if count else 0, count, step if count > 1 else 1, count > 1)
    return Axis(start if count else 0, count, step if count > 1 else 1, False)


def _split_fields(key: Any) -> tuple[tuple[Any, ...], Optional[Any]]:
    """Names of members are taken out of a key."""
    if isinstance(key, str):
        return (), key
    if isinstance(key, list) and key and all(isinstance(k, str) for k in key):
        return (), key
    if not isinstance(key, tuple):
        return (key,), None
    names = [k for k in key if isinstance(k, str)]
    if not names:
        return key, None
    return (tuple(k for k in key if not isinstance(k, str)),
            names[0] if len(names) == 1 else names)


def _expand(key: tuple[Any, ...], rank: int) -> list[Any]:
    """One item for each dimension; masks cover several and become arrays."""
    np = types.numpy()
    items: list[Any] = []
    used, dots = 0, None
    for k in key:
        if k is None:
            raise IndexError("numpy.newaxis is not possible here: use it with the array that is read")
        if k is Ellipsis:
            if dots is not None:
                raise IndexError("an index can only have a single ellipsis ('...')")
            dots = len(items)
            continue
        if isinstance(k, slice):
            items.append(k)
            used += 1
            continue
        if isinstance(k, (bool, np.bool_)):
            raise IndexError("True and False are no indices of a dataset")
        if not isinstance(k, (list, tuple, np.ndarray)) or getattr(k, "ndim", 1) == 0:
            try:
                items.append(operator.index(k))
                used += 1
                continue
            except TypeError:
                pass
        array = np.asarray(k)
        if array.size == 0 and array.dtype.kind == "f" and not isinstance(k, np.ndarray):
            array = array.astype(np.int64)
        if array.dtype.kind == "b":
            if array.ndim == 0:
                raise IndexError("True and False are no indices of a dataset")
            items.extend(("mask", array, i) for i in range(array.ndim))
            used += array.ndim
        elif array.dtype.kind in "iu":
            items.append(array)
            used += 1
        else:
            raise IndexError("only integers, slices (`:`), ellipsis (`...`) and integer or boolean "
                             "arrays are valid indices")
    if used > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {used} "
                         "were indexed")
    at = len(items) if dots is None else dots
    items[at:at] = [slice(None)] * (rank - used)
    return items


def _wrap(array: Any, axis: int, length: int) -> Any:
    """Indices as int64, none negative or outside."""
    np = types.numpy()
    index = array.astype(np.int64)
    if index.size and (array.dtype.kind == "u" and int(array.max()) >= length
                       or int(index.min()) < -length or int(index.max()) >= length):
        bad = array[(array >= length) | (array < -length)].flat[0]
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {length}")
    return np.where(index < 0, index + length, index) if index.size else index


def _parts(items: list[Any], shape: tuple[int, ...]) -> tuple[list[Any], list[int]]:
    parts: list[Any] = []
    arrays = []
    found: Any = ()
    for axis, item in enumerate(items):
        length = shape[axis]
        if isinstance(item, slice):
            parts.append(_axis(item, length))
        elif isinstance(item, int):
            if not -length <= item < length:
                raise IndexError(f"index {item} is out of bounds for axis {axis} with size {length}")
            parts.append(item + length if item < 0 else item)
        elif isinstance(item, tuple):
            _, mask, i = item
            if mask.shape[i] != length:
                raise IndexError(f"boolean index did not match indexed array along dimension {axis};"
                                 f" dimension is {length} but corresponding boolean dimension is "
                                 f"{mask.shape[i]}")
            if i == 0:
                found = mask.nonzero()
            parts.append(found[i])
            arrays.append(axis)
        else:
            parts.append(_wrap(item, axis, length))
            arrays.append(axis)
    return parts, arrays


def parse(key: Any, shape: tuple[int, ...]) -> Selection:
    """What a key selects, by NumPy's rules."""
    np = types.numpy()
    keys, fields = _split_fields(key)
    items = _expand(keys, len(shape))
    parts, arrays = _parts(items, shape)
    inner = tuple(p.length for p in parts if isinstance(p, Axis))
    if not arrays:
        scalar = not inner and not any(k is Ellipsis for k in keys)
        return Selection(shape, parts, [], (), 0, inner, scalar, fields)
    if len(arrays) == 1 and len(inner) == len(parts) - 1:
        axis = arrays[0]
        common = parts[axis].shape
        return Selection(shape, parts, arrays, common, axis, inner[:axis] + common + inner[axis:],
                         False, fields)
    arrays = [i for i, p in enumerate(parts) if not isinstance(p, Axis)]
    try:
        common = np.broadcast_shapes(*(np.shape(parts[i]) for i in arrays))
    except ValueError:
        shapes = " ".join(str(np.shape(parts[i])) for i in arrays)
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together with "
                         f"shapes {shapes}") from None
    adjacent = _adjacent(keys, arrays)
    place = sum(isinstance(p, Axis) for p in parts[:arrays[0]]) if adjacent else 0
    out = inner[:place] + common + inner[place:]
    return Selection(shape, parts, arrays, common, place, out, False, fields)


def _adjacent(keys: tuple[Any, ...], arrays: list[int]) -> bool:
    """Whether the arrays stand side by side in the key, with no slice or ellipsis between them."""
    kinds = [isinstance(k, slice) or k is Ellipsis for k in keys]
    first = kinds.index(False)
    last = len(kinds) - 1 - kinds[::-1].index(False)
    return not any(kinds[first:last])


def outer(key: Any, shape: tuple[int, ...]) -> Selection:
    """What a key selects if each array acts on its own dimension (zarr's oindex)."""
    np = types.numpy()
    keys, fields = _split_fields(key)
    items = _expand(keys, len(shape))
    lists = []
    for axis, item in enumerate(items):
        if isinstance(item, tuple):
            if item[1].ndim != 1:
                raise IndexError("a mask in oindex has one dimension")
            items[axis] = np.asarray(_parts(items, shape)[0][axis])
        if not isinstance(items[axis], (slice, int)):
            if items[axis].ndim != 1:
                raise IndexError("an array in oindex has one dimension")
            lists.append(axis)
    parts, _ = _parts(items, shape)
    out = tuple(p.length if isinstance(p, Axis) else len(p) for p in parts if not isinstance(p, int))
    if not lists:
        return Selection(shape, parts, [], (), 0, out, False, fields)
    for number, axis in enumerate(lists):
        parts[axis] = parts[axis].reshape([-1 if i == number else 1 for i in range(len(lists))])
    common = tuple(parts[axis].size for axis in lists)
    arrays = [i for i, p in enumerate(parts) if not isinstance(p, Axis)]
    return Selection(shape, parts, arrays, common, -1, out, False, fields)


def _order(sel: Selection) -> list[int]:
    """The result's axes as they stand in an array of common, then inner dimensions."""
    n = len(sel.common)
    inner = list(range(n, n + sum(isinstance(p, Axis) for p in sel.parts)))
    if sel.place >= 0:
        return inner[:sel.place] + list(range(n)) + inner[sel.place:]
    lists, axes, order = iter(range(n)), iter(inner), []
    for p in sel.parts:
        if isinstance(p, Axis):
            order.append(next(axes))
        elif not isinstance(p, int):
            order.append(next(lists))
    return order


def _flips(sel: Selection, lead: int) -> Optional[tuple[Any, ...]]:
    """The key that turns the slices with negative steps, behind `lead` dimensions."""
    axes = [p for p in sel.parts if isinstance(p, Axis)]
    if not any(p.flip for p in axes):
        return None
    return (slice(None),) * lead + tuple(slice(None, None, -1 if p.flip else 1) for p in axes)


class Box(NamedTuple):
    start: list[int]
    lengths: list[int]
    step: list[int]


def _box(sel: Selection) -> Box:
    """The box around everything that is selected."""
    start, count, step = [], [], []
    for p in sel.parts:
        if isinstance(p, Axis):
            start.append(p.start)
            count.append(p.length)
            step.append(p.step)
        else:
            low, high = (p, p) if isinstance(p, int) else (int(p.min()), int(p.max()))
            start.append(low)
            count.append(high - low + 1)
            step.append(1)
    return Box(start, count, step)


def product(numbers: Any) -> int:
    n = 1
    for v in numbers:
        n *= int(v)
    return n


# The box around n elements is read as a whole if it is small, or has at most DENSE * n of them, or
# at most SPAN bytes for each: that is as long as one point takes.  But no more than MOST bytes.
DENSE, SMALL, SPAN, MOST = 4, 4096, 2048, 1 << 26
BLOCK = 1 << 21  # bytes that are read at once for a list that ascends
# With at least so many elements for each index there is a box for each, else points.
BOXES = 16


def read(sel: Selection, form: types.Form, box: Callable[..., None], boxes: Callable[..., None],
         points: Callable[..., None], once: bool = False) -> Any:
    """The selected elements as an array.

    box(start, count, step, memory), boxes(starts, count, memory) and points(coordinates, memory)
    read into contiguous memory of the form.  once: exactly one of them is called, and once.
    """
    np = types.numpy()
    dtype = form.dtype
    if not product(sel.out):
        out, none = np.empty(sel.out, dtype), [0] * len(sel.shape)
        if once:
            box(none, none, [1] * len(none), out)
        return out
    if not sel.arrays:
        around = _box(sel)
        out = types.empty(around.lengths, dtype)
        box(around.start, around.lengths, around.step, out)
        sub = out.shape[len(around.lengths):]
        out = out.reshape(tuple(p.length for p in sel.parts if isinstance(p, Axis)) + sub)
        flips = _flips(sel, 0)
        out = out if flips is None else out[flips]
        return out[()] if sel.scalar else out
    around = _box(sel)
    total, n = product(around.lengths), product(sel.out)
    if total <= max(DENSE * n, SMALL) or total * dtype.itemsize <= min(SPAN * n, MOST):
        if total * dtype.itemsize > 2 * BLOCK and len(sel.shape) == 1 and dtype.kind in "biufc" \
                and not once:
            got = _by_blocks(sel.parts[0], dtype, box)
            if got is not None:
                return got
        out = types.empty(around.lengths, dtype)
        box(around.start, around.lengths, around.step, out)
        return _pick(sel, around, out)
    rows, inner = _rows(sel), [p.length for p in sel.parts if isinstance(p, Axis)]
    if product(inner) >= BOXES and not once and all(p.step == 1 for p in sel.parts if isinstance(p, Axis)):
        out = _by_boxes(sel, rows, inner, dtype, boxes)
    else:
        coordinates = _points(sel, rows, inner)
        out = np.empty(len(coordinates), dtype)
        points(coordinates, out)
        out = out.reshape(sel.common + tuple(inner) + out.shape[1:])
    flips = _flips(sel, len(sel.common))
    out = out if flips is None else out[flips]
    order = _order(sel)
    return out.transpose(order + list(range(len(order), out.ndim)))


def _pick(sel: Selection, around: Box, out: Any) -> Any:
    """The selected elements of the box around them, as NumPy picks them."""
    key: list[Any] = []
    for i, p in enumerate(sel.parts):
        if isinstance(p, Axis):
            key.append(slice(None, None, -1 if p.flip else 1))
        else:
            key.append(p - around.start[i])
    # The common dimensions lead, wherever NumPy itself would put them.
    lead = sel.arrays + [i for i, p in enumerate(sel.parts) if isinstance(p, Axis)]
    tail = list(range(len(sel.parts), out.ndim))
    picked = out.transpose(lead + tail)[tuple(key[i] for i in lead)]
    order = _order(sel)
    return picked.transpose(order + list(range(len(order), picked.ndim)))


def _by_blocks(index: Any, dtype: Any, box: Callable[..., None]) -> Any:
    """The elements of a list that ascends, a block at a time, which stays in the caches; None of
    another list."""
    np = types.numpy()
    if index.ndim != 1 or not (index[1:] >= index[:-1]).all():
        return None
    length, low, end = BLOCK // dtype.itemsize, int(index[0]), int(index[-1]) + 1
    out, block = np.empty(len(index), dtype), np.empty(length, dtype)
    starts = range(low, end, length)
    lasts = np.searchsorted(index, np.array(starts) + length).tolist()
    first = 0
    for start, last in zip(starts, lasts):
        if last > first:
            n = min(length, end - start)
            box([start], [n], [1], block[:n])
            out[first:last] = block[index[first:last] - start]
        first = last
    return out


def _rows(sel: Selection) -> Any:
    """For each index of the common dimensions the first element of its box: int64[n, rank]."""
    np = types.numpy()
    rows = np.empty((product(sel.common), len(sel.shape)), np.int64)
    for i, p in enumerate(sel.parts):
        if isinstance(p, Axis):
            rows[:, i] = p.start
        else:
            rows[:, i] = np.broadcast_to(p, sel.common).reshape(-1)
    return rows


def _points(sel: Selection, rows: Any, inner: list[int]) -> Any:
    """The coordinates of all elements, those of one index together."""
    np = types.numpy()
    if not inner:
        return rows
    axes = [i for i, p in enumerate(sel.parts) if isinstance(p, Axis)]
    grid = np.zeros((product(inner), len(sel.parts)), np.int64)
    steps = np.indices(inner).reshape(len(inner), -1)
    for i, axis in enumerate(axes):
        grid[:, axis] = steps[i] * sel.parts[axis].step
    return (rows[:, None, :] + grid[None, :, :]).reshape(-1, len(sel.parts))


def _by_boxes(sel: Selection, rows: Any, inner: list[int], dtype: Any, boxes: Any) -> Any:
    """A box for each index, in the order in which they lie in the file."""
    np = types.numpy()
    count = [p.length if isinstance(p, Axis) else 1 for p in sel.parts]
    order = np.lexsort(rows.T[::-1])
    ordered = bool((order[1:] > order[:-1]).all())
    out = types.empty([len(rows)] + inner, dtype)
    if ordered:
        boxes(np.ascontiguousarray(rows), count, out)
    else:
        temporary = np.empty_like(out)
        boxes(np.ascontiguousarray(rows[order]), count, temporary)
        out[order] = temporary
    return out.reshape(sel.common + out.shape[1:])


def arrange(sel: Selection, value: Any) -> Any:
    """A value, broadcast to the result's shape, in the order in which it is written."""
    np = types.numpy()
    if sel.arrays:
        order = _order(sel)
        back = [order.index(i) for i in range(len(order))]
        value = value.transpose(back + list(range(len(back), value.ndim)))
        flips = _flips(sel, len(sel.common))
    else:
        flips = _flips(sel, 0)
    value = value if flips is None else value[flips]
    return np.ascontiguousarray(value).reshape(value.shape)


def coordinates(sel: Selection) -> tuple[Any, Optional[Any]]:
    """The points that are written, each once, and which of the values are taken (None: all).

    Where indices repeat, the last value counts, as in NumPy."""
    np = types.numpy()
    inner = [p.length for p in sel.parts if isinstance(p, Axis)]
    rows = _rows(sel)
    at = np.zeros(len(rows), np.int64)
    for i in sel.arrays:
        at = at * sel.shape[i] + rows[:, i]
    _, last = np.unique(at[::-1], return_index=True)
    if len(last) == len(rows):
        return np.ascontiguousarray(_points(sel, rows, inner)), None
    last = len(rows) - 1 - last
    return np.ascontiguousarray(_points(sel, rows[last], inner)), last
