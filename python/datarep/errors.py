# SPDX-License-Identifier: MIT
"""Exceptions and warnings.

Every error of the library is an `Error`, and also of the class that Python has for its kind:
`KeyError` for an object that is not there, `OSError` with errno and filename for a file, `TypeError`,
`ValueError`, `IndexError`.  What Python can judge alone is of the latter three, and no `Error`.
"""
from __future__ import annotations

import difflib
import errno as _errno
import os
from typing import Any, Iterable, Optional

from . import _core

__all__ = ["Error", "StaleError", "ConversionWarning", "FormatError", "ChecksumError",
           "NotSameError"]


def shown(value: Any) -> str:
    """Text from a file as people may see it: what acts on other text, or is not shown, in escapes."""
    return _core.escape(str(value))


def near(word: str, words: Iterable[str]) -> str:
    """The known word that was probably meant, for the end of a message."""
    found = difflib.get_close_matches(str(word), list(words), 1)
    return f"; did you mean {shown(found[0])}?" if found else ""


class Error(Exception):
    """An error of the library.

    code: the number of DREP_ERR_..., reason: its short text; file: the name of the file, object: the path
    of the object, byte: the position in the file that the error is about, each None if it is about none.

    >>> f = dr.open(":memory:", "w")
    >>> try:
    ...     f["x"]
    ... except dr.Error as error:
    ...     print(type(error).__name__, isinstance(error, KeyError), error)
    ...     print(error.file, error.object, error.byte)
    NotFoundError True :memory:: /x: no object "x"
    :memory: /x None
    """

    code: int = 0
    file: Optional[str] = None
    object: Optional[str] = None
    byte: Optional[int] = None

    def __str__(self) -> str:
        return shown(self.args[-1]) if self.args else ""

    @property
    def reason(self) -> str:
        """The short text of the code.

        >>> try:
        ...     dr.open("/no/such/file")
        ... except dr.Error as error:
        ...     print(error.reason)
        no such file
        """
        return _core.strerror(self.code)


class StaleError(Error):
    """The file, or the commit that a handle has open, is no longer there.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with dr.open(path, "w") as f:
    ...     f["x"] = 1
    >>> import pickle
    >>> with dr.open(path) as f:
    ...     pickled = pickle.dumps(f)
    >>> with dr.open(path, "w") as f:
    ...     f["x"] = 2
    >>> try:
    ...     pickle.loads(pickled)
    ... except dr.StaleError:
    ...     print("another file is here now")
    another file is here now
    """


class FormatError(Error, ValueError):
    """The file is not a Datarep file, or is damaged, or too new.

    >>> try:
    ...     dr.open(b"not a Datarep file")
    ... except dr.FormatError as error:
    ...     print(isinstance(error, ValueError))
    True
    """


class ChecksumError(FormatError):
    """Bytes of the file are not those that were written.

    >>> import io
    >>> memory = io.BytesIO()
    >>> with dr.open(memory, "w") as f:
    ...     f["x"] = np.arange(1000.0)
    >>> data = bytearray(memory.getvalue())
    >>> data[data.index(np.arange(1000.0).tobytes()[4096:4160])] ^= 1
    >>> with dr.open(data) as f:
    ...     try:
    ...         f["x"][:]
    ...     except dr.ChecksumError as error:
    ...         print(error.object)
    /x
    """


class NotFoundError(Error, KeyError):
    """There is no such object, attribute or dimension."""

    __str__ = Error.__str__


class ArgumentError(Error, ValueError):
    """An argument or a call that the library refuses."""


class ExistsError(ArgumentError):
    """There is such an object already."""


class DatatypeError(Error, TypeError):
    """Datatypes that do not fit, or an object of another kind."""


class RangeError(Error, IndexError):
    """Elements outside of a dataset."""


class ConversionError(Error, ValueError):
    """A value that cannot be converted, or a conversion function that failed."""


class UnsupportedError(Error, NotImplementedError):
    """A filter, representation or operation that is not available."""


class FileError(Error, OSError):
    """The system refuses a file."""

    def __str__(self) -> str:
        return OSError.__str__(self)


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class FileExists(FileError, FileExistsError):
    """There is such a file already."""


class AccessError(FileError, PermissionError):
    """The system does not allow it."""


class DirectoryError(FileError, IsADirectoryError):
    """There is a directory of this name."""


class BusyError(FileError, BlockingIOError):
    """Another handle writes to the file; the hint `drep_lock_wait` waits for it."""


class TimedOutError(FileError, TimeoutError):
    """A file object, or another process of the communicator, gave no answer in time."""


class NotSameError(Error):
    """Processes of a communicator contradict each other: they changed one thing in different ways, wrote
    one element, gave different arguments, or are in different calls.  All of them get it, and nothing
    was committed.

    >>> issubclass(dr.NotSameError, dr.Error)
    True
    """


class ConversionWarning(UserWarning):
    """Values changed as they were converted: see `Report`.

    >>> import warnings
    >>> f = dr.open(":memory:", "w")
    >>> x = f.create("x", dtype="f4", shape=1)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     x[0] = np.int64(16777217)
    >>> caught[0].category.__name__
    'ConversionWarning'
    """


# code: class, errno of files
_CLASSES: dict[int, tuple[type, int]] = {
    3: (FileError, _errno.EIO), 4: (FileError, _errno.ENOSPC),
    5: (MissingFileError, _errno.ENOENT), 6: (FileExists, _errno.EEXIST),
    7: (AccessError, _errno.EACCES), 8: (AccessError, _errno.EROFS),
    9: (BusyError, _errno.EBUSY),
    11: (FormatError, 0), 12: (FormatError, 0), 13: (ChecksumError, 0), 14: (FormatError, 0),
    15: (UnsupportedError, 0), 16: (UnsupportedError, 0), 17: (ExistsError, 0),
    18: (ConversionError, 0), 19: (UnsupportedError, 0),
    20: (NotSameError, 0), 22: (DatatypeError, 0), 25: (RangeError, 0), 26: (NotFoundError, 0), 27: (ExistsError, 0),
    28: (DatatypeError, 0), 31: (StaleError, 0), 32: (Error, 0), 33: (Error, 0),
    37: (FormatError, 0), 39: (TimedOutError, _errno.ETIMEDOUT), 40: (Error, 0), 41: (Error, 0),
}

_NUMBERS = {os.strerror(n): n for n in sorted(_errno.errorcode, reverse=True)}


# What messages of the library name by its C interface, or leave to the caller.
_WORDS = {"drep_commit()": "commit()", "drep_dataset_resize()": "resize()"}
_READ_ONLY = 8


def _worded(code: int, message: str) -> str:
    """A message of the library for programs in Python."""
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    if code == _READ_ONLY and message.endswith("opened read-only"):
        message += ': open it with mode "a"'
    return message


def _number(message: str, default: int) -> int:
    """The errno whose text ends the message."""
    return _NUMBERS.get(message.rsplit(": ", 1)[-1], default)


_ACCESS, _NOT_DREP = 7, 37
_IRREGULAR = "not a regular file"
_NO_FILE = (_IRREGULAR, os.strerror(_errno.EISDIR))  # what the library says of directories
_FOREIGN = (b"\x89HDF\r\n\x1a\n", b"CDF\1", b"CDF\2", b"CDF\5")


def _is_foreign(filename: Optional[str]) -> bool:
    """Whether a file begins as those of HDF5 and netCDF do."""
    if not filename or not os.path.isfile(filename):
        return False
    try:
        with open(filename, "rb") as f:
            return f.read(8).startswith(_FOREIGN)
    except OSError:
        return False


def make(code: int, message: str, filename: Optional[str], path: str = "", byte: int = -1,
         number: int = 0) -> Exception:
    """The exception for what the library tells of a failure; the extension calls this.

    number: the errno of a file object's exception, 0 if there is none."""
    cls, usual = _CLASSES.get(code, (ArgumentError, 0))
    message = _worded(code, message)
    made: Any
    if code == _NOT_DREP and _is_foreign(filename):
        message += ": datarep.import_() reads HDF5 and netCDF"
    if code == _ACCESS and message.endswith(_NO_FILE) and filename and os.path.isdir(filename):
        cls, number = DirectoryError, _errno.EISDIR
        message = message.removesuffix(_IRREGULAR) + (os.strerror(number) if message.endswith(_IRREGULAR) else "")
    if usual:
        prefix = f"{shown(filename)}: "
        told = message[len(prefix):] if filename and message.startswith(prefix) else message
        made = cls(number or _number(message, usual), told, filename)
    else:
        made = cls(message)
    made.code = code
    made.file = filename or None
    made.object = path or None
    made.byte = byte if byte >= 0 else None
    return made


_core.set_error(make)
