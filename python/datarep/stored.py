# SPDX-License-Identifier: MIT
"""What the file holds of a dataset: its bytes before filters, and where there are any."""
from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

from . import types
from .errors import shown

# Formats of scalars that NumPy has, by their number in <datarep.h>.
_KINDS = {2: "i", 3: "u", 4: "u", 16: "f", 20: "f", 21: "f"}
_SIZES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
_BYTES = (1, 5, 7)


class Place(NamedTuple):
    """Where stored bytes are: in the file, or in the other file of that number."""

    offset: int
    size: int  # bytes, after filters
    skipped: int  # bit i: filter i was not applied
    external: Optional[int]  # number of another file; None: in this one


def _encoding(ds: Any, code: int) -> tuple[int, int, int]:
    """(format, order, size) of a predefined type in the dataset's representation."""
    from . import _core
    info = ds._info()
    rows = ds._file._h.table(info["datarep_number"]) or _core.datarep_table(info["datarep"])
    for row in rows:
        if row[0] == code:
            return row[1], row[2], row[3]
    raise TypeError(f"{shown(ds.name)}: functions convert its elements; their bytes are not described")


def _real(ds: Any, code: int) -> tuple[Any, Any]:
    """The dtype of the stored bytes of a predefined type, and a Type to read them as, or None."""
    np = types.numpy()
    kind, order, size = _encoding(ds, code)
    sign = "<" if order == 1 else ">"
    form = types.form_of_type(types.Type.predefined(code))
    if form.dtype.kind == "c" and kind in (20, 21):
        return np.dtype(f"{sign}c{size}"), None
    named = _KINDS.get(kind)
    if named and size in _SIZES[named] and form.dtype.kind != "c":
        native = form.dtype.kind == named and form.dtype.itemsize == size and form.type.code == code
        return np.dtype(f"{sign}{named}{size}"), \
            None if native or kind == 4 else types.Type.scalar_of(kind, order, size)
    if kind in _BYTES:
        return form.dtype, None
    if form.dtype.kind == "c":
        raise TypeError(f"{shown(ds.name)}: NumPy has no dtype for its complex numbers")
    return np.dtype(f"V{size}"), types.Type.scalar_of(kind, order, size)


def as_stored(ds: Any) -> Any:
    """The elements as bytes of the file, before filters, under a dtype that says what they are if
    NumPy has one, else void."""
    np = types.numpy()
    t, shape = ds.type, ds._lengths()
    if t.kind in (types.STRING, types.OPAQUE):
        return ds[...]
    if not t.code:
        raise TypeError(f"{shown(ds.name)}: the bytes of {t!r} are not shown; see read_stored()")
    dtype, raw = _real(ds, t.code)
    if raw is None:
        return np.asarray(ds[...]).astype(dtype)
    out = types.empty(shape, dtype)
    plain = out.view(f"V{dtype.itemsize}") if dtype.kind != "V" else out
    if out.size:
        ds._read_box((0,) * len(shape), shape, None, raw, plain, (0, 0, 0))
    return out


def boxes(ds: Any) -> Iterator[tuple[slice, ...]]:
    """The boxes for which the file has elements, as keys."""
    np = types.numpy()
    shape, info = ds._lengths(), ds._info()
    layout = info["layout"]
    if layout == 1 or not shape:  # compact: all of it
        if ds.size:
            yield tuple(slice(0, n) for n in shape)
        return
    if not ds.size:
        return
    starts = np.frombuffer(ds._chunks(), np.int64)
    if layout == 3:
        for at in starts.reshape(-1, len(shape)).tolist():
            yield tuple(slice(a, min(a + c, n)) for a, c, n in zip(at, info["chunk"], shape))
        return
    # Contiguous: slabs of the row-major order, as rows of the first dimension.
    row, slab, end = ds.size // shape[0], info["chunk"][0], -1
    first = -1
    for at in starts.tolist():
        low, high = at // row, min(-(-min(at + slab, ds.size) // row), shape[0])
        if low <= end:
            end = max(end, high)
            continue
        if end > 0:
            yield (slice(first, end), *(slice(0, n) for n in shape[1:]))
        first, end = low, high
    if end > 0:
        yield (slice(first, end), *(slice(0, n) for n in shape[1:]))
