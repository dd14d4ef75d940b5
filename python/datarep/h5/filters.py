# SPDX-License-Identifier: MIT
"""h5py's keywords for filters and chunks, as the package's."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import notes
from ..notes import DEFLATE, FLETCHER32, LZF, SHUFFLE

__all__ = ["DEFLATE", "FLETCHER32", "LZF", "SHUFFLE", "check_chunks", "decode", "encode", "noted", "rows"]
encode = ("gzip", "lzf", "shuffle", "fletcher32")
decode = encode


def _numbered(compression: int, opts: Any, legacy: tuple[int, ...]) -> tuple[Any, Any]:
    """A compression given as a number: a level, or a filter of HDF5."""
    if compression in legacy:
        if opts is not None:
            raise TypeError("Conflict in compression_opts")
        return "gzip", compression
    if compression < 0:
        raise ValueError(f"Invalid filter {compression}")
    if compression == DEFLATE:
        if opts is None:
            raise IndexError("deflate needs its level as compression_opts=(level,)")
        return "gzip", opts[0] if isinstance(opts, tuple) else opts
    if compression == LZF:
        return "lzf", None
    raise ValueError(f"Unknown compression filter number: {compression}")


def rows(compression: Any, opts: Any, shuffle: Any, legacy: tuple[int, ...]) -> list[Any]:
    """The filters of a dataset."""
    made: list[Any] = ["shuffle"] if shuffle else []
    if compression is True:
        compression = "gzip"
    if compression not in (None, False):
        if isinstance(compression, (int, np.integer)):
            compression, opts = _numbered(int(compression), opts, legacy)
        if compression == "gzip":
            opts = 4 if opts is None else opts
            if opts not in range(10):
                raise ValueError("GZIP setting must be an integer from 0-9, not %r" % opts)
            made.append(("deflate", int(opts)))
        elif compression == "lzf":
            if opts is not None:
                raise ValueError("LZF compression filter accepts no options")
            made.append("lzf")
        else:
            raise ValueError(f"Compression filter \"{compression}\" is unavailable")
    return made  # chunks have checksums of the container: fletcher32 is noted for an export


def noted(made: list[Any], dtype: Any, fletcher32: bool) -> list[str]:
    """Put a filter for elements of any length into the place of lzf, which takes none of these, as an import
    does.  The remarks from which an export makes the filters that were asked for."""
    lzf = dtype.hasobject and "lzf" in made
    if lzf:
        made[made.index("lzf")] = ("zstd", 3)
    if not lzf and not fletcher32:
        return []
    level = next((row[1] for row in made if isinstance(row, tuple) and row[0] == "deflate"), None)
    return notes.filter_lines(dtype.itemsize, "shuffle" in made, level, lzf or "lzf" in made, fletcher32)


def check_chunks(chunks: Any, shape: Any, maxshape: Any) -> Any:
    """Lengths of chunks as create() takes them, refused where h5py refuses them."""
    if isinstance(chunks, (int, np.integer)) and not isinstance(chunks, (bool, np.bool_)):
        chunks = (int(chunks),)
    if isinstance(chunks, tuple) and len(chunks) == len(shape):
        limits = maxshape or shape
        for chunk, now, limit in zip(chunks, shape, limits):
            if limit is not None and chunk > max(now, limit):
                raise ValueError("Chunk shape must not be greater than data shape in any dimension. "
                                 f"{chunks} is not compatible with {shape}")
    elif isinstance(chunks, tuple):
        raise ValueError("Chunk shape must have the rank of the dataset")
    return chunks
