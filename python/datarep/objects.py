# SPDX-License-Identifier: MIT
"""Files behind Python objects: bytes, file objects, those of fsspec."""
from __future__ import annotations

import contextlib
import errno
import io
import threading
from typing import Any, Iterator, Optional

from . import _core


class Source:
    """A seekable file object as the library's driver uses it, from any thread."""

    def __init__(self, file: Any, close: bool) -> None:
        self._file = file
        self._close = close
        self._lock = threading.Lock()
        self._thread = 0  # the one that has the lock

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One thread at a time; the file object itself must not come back here."""
        if self._thread == threading.get_ident():
            raise RuntimeError("a file object uses the Datarep file that is in it")
        with self._lock:
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = 0

    @staticmethod
    def _counted(call: str, n: Any, most: int) -> int:
        """A number of bytes that a file object says it has moved."""
        if not 0 <= n <= most:
            raise OSError(errno.EIO, f"{call}() of {most} bytes returned {n}")
        return int(n)

    def read_at(self, offset: int, out: memoryview) -> int:
        with self._turn():
            self._file.seek(offset)
            done = 0
            readinto = getattr(self._file, "readinto", None)
            while done < len(out):
                if readinto is not None:
                    with out[done:] as rest:
                        n = self._counted("readinto", readinto(rest) or 0, len(rest))
                else:
                    got = self._file.read(len(out) - done)
                    n = self._counted("read", len(got), len(out) - done)
                    out[done:done + n] = got
                if not n:
                    break
                done += n
            return done

    def write_at(self, offset: int, data: memoryview) -> None:
        with self._turn():
            end = self._file.seek(0, io.SEEK_END)
            if end < offset:
                self._file.write(bytes(offset - end))
            self._file.seek(offset)
            done = 0
            while done < len(data):
                with data[done:] as rest:
                    n = self._file.write(rest)
                    n = len(rest) if n is None else self._counted("write", n, len(rest))
                if not n:
                    raise OSError(errno.EIO, "write() takes no bytes")
                done += n

    def size(self) -> int:
        with self._turn():
            return int(self._file.seek(0, io.SEEK_END))

    def truncate(self, size: int) -> None:
        with self._turn():
            end = self._file.seek(0, io.SEEK_END)
            if end < size:
                self._file.write(bytes(size - end))
            else:
                self._file.truncate(size)

    def flush(self) -> None:
        with self._turn():
            flush = getattr(self._file, "flush", None)
            if flush is not None:
                flush()

    def close(self) -> None:
        if self._close:
            self._file.close()


def open(source: Any, mode: str, datarep: Optional[str], hints: Optional[dict[str, Any]]) -> Any:
    """open() for bytes and file objects.  A file object stays open and belongs to the caller."""
    from .file import File
    if isinstance(source, (bytes, bytearray, memoryview)):
        if mode != "r":
            raise ValueError("bytes can only be read: use io.BytesIO to write")
        return File._made(_core.open_image(source, hints), mode, hints, source)
    name = str(getattr(source, "name", None) or getattr(source, "path", None)
               or f"({type(source).__name__})")
    if mode == "a":
        mode = "r+" if source.seek(0, io.SEEK_END) else "w"
    local = isinstance(source, (io.BytesIO, io.FileIO, io.BufferedReader, io.BufferedRandom))
    handle = _core.open_object(Source(source, False), name, mode != "r", mode in ("w", "x"),
                               datarep or "native", hints, 0 if local else 1_000_000)
    return File._made(handle, mode, hints, source)
