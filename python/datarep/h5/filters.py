# SPDX-License-Identifier: MIT
"""h5py's keywords for filters and chunks, as the package's."""
from __future__ import annotations

from typing import Any

import numpy as np

encode = ("gzip", "lzf", "shuffle", "fletcher32")
decode = encode
DEFLATE, SHUFFLE, FLETCHER32, LZF = 1, 2, 3, 32000  # HDF5's numbers


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
    return made  # chunks have checksums of the container: fletcher32 asks for nothing more


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
