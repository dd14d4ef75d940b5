# SPDX-License-Identifier: MIT
"""Files as h5py has them."""
from __future__ import annotations

import operator
import os
import warnings
import weakref
from typing import Any, Callable, Optional

import datarep

from ..file import is_stream
from ..errors import FormatError, StaleError, UnsupportedError, shown
from . import hdf5, names
from .group import Group

LIBVER = ("earliest", "v108", "v110", "v112", "latest")
LATEST = "v110"
_DRIVERS: dict[Any, Callable[..., Any]] = {
    n: (lambda plist, **kw: None) for n in ("sec2", "stdio", "core", "fileobj", "split", "direct")}
_KEYWORDS = {"core": {"block_size", "backing_store"}}


def register_driver(name: str, set_fapl: Callable[..., Any]) -> None:
    """Give a driver a name; every driver reads and writes plain files here.

    >>> h5py.register_driver("mine", lambda plist: None)
    >>> "mine" in h5py.registered_drivers()
    True
    >>> h5py.unregister_driver("mine")
    """
    _DRIVERS[name] = set_fapl


def unregister_driver(name: str) -> None:
    """Take a driver's name back.

    >>> h5py.register_driver("mine", lambda plist: None)
    >>> h5py.unregister_driver("mine")
    >>> "mine" in h5py.registered_drivers()
    False
    """
    del _DRIVERS[name]


def registered_drivers() -> frozenset[Any]:
    """The names of drivers.

    >>> "sec2" in h5py.registered_drivers()
    True
    """
    return frozenset(_DRIVERS)


def _libver(given: Any) -> tuple[str, str]:
    low, high = given if isinstance(given, tuple) else (given, "latest")
    for name in (low, high):
        if name not in (None, *LIBVER):
            raise ValueError(f"libver {name!r} is none of {', '.join(LIBVER)}")
    turn = {"latest": LATEST, None: "earliest"}
    return turn.get(low, low), turn.get(high, high)


class _Shared(datarep.File):
    """A file of the package as each File has one: those of one file in one process have the handle of
    its writer, which the last one closes."""

    _done = False
    _key: "tuple[int, int] | None" = None
    _open: "dict[tuple[int, int], weakref.WeakSet[_Shared]]" = {}

    @classmethod
    def of(cls, made: datarep.File, path: Any = None) -> "_Shared":
        """The file for a handle that was opened, under a path where others may find it."""
        self = cls.__new__(cls)
        self._set(made._h, made.mode, made._hints, made._source)
        if path is not None and not made._h.shared:
            there = os.stat(path)
            self._key = there.st_dev, there.st_ino
            cls._open.setdefault(self._key, weakref.WeakSet()).add(self)
        return self

    @classmethod
    def _others(cls, key: Any) -> "list[_Shared]":
        return [f for f in cls._open.get(key, ()) if not f.closed]

    @classmethod
    def found(cls, path: str, mode: str) -> "_Shared | None":
        """A second file of the handle that this process has open of a path, or None."""
        try:
            there = os.stat(path)
        except OSError:
            return None
        others = cls._others((there.st_dev, there.st_ino))
        if not others or mode == "r" and not any(f.writable for f in others):
            return None  # a new reader has the newest commit
        if mode in ("w", "x", "w-"):
            raise OSError(f"Unable to create file: {shown(path)} is already open")
        if mode in ("r+", "a") and not others[0].writable:
            raise OSError(f"Unable to open file: {shown(path)} is already open for reading only")
        return cls.of(others[0], path)

    @property
    def closed(self) -> bool:
        return self._done or bool(self._h.closed)

    def close(self) -> None:
        """Commit, and close the handle if no other file uses it."""
        if self.closed:
            return
        self._done = True
        if any(f._h is self._h for f in self._others(self._key)):
            if self.writable:
                self._h.commit()
            return
        self._done = False
        try:
            super().close()
        except StaleError as error:
            if os.path.exists(self.filename):
                raise
            # As in HDF5, a file that was removed can be closed.
            self._h.abandon()
            warnings.warn(f"{shown(error)}: what was written to it since is lost", stacklevel=3)


USER_BLOCK = "drep.hdf5:userblock"  # the note of the import


def _user_block(size: Any) -> Optional[int]:
    """The size of a user block as HDF5 allows it."""
    if size is None:
        return None
    try:
        made = operator.index(size)
    except TypeError:
        raise ValueError("User block size must be an integer") from None
    if made and (made < 512 or made & (made - 1)):
        raise ValueError(f"userblock_size is 0 or a power of 2 from 512 on, not {made}")
    return made


class File(Group):
    """An open file, and its root group.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> with h5py.File(path, "w") as f:
    ...     f["x"] = [1, 2, 3]
    >>> with h5py.File(path, "r") as f:
    ...     print(f["x"][:])
    [1 2 3]
    """

    _has_create_plist = False

    def __init__(self, name: Any, mode: str = "r", driver: Any = None, libver: Any = None,
                 userblock_size: Any = None, swmr: bool = False, rdcc_nslots: Any = None,
                 rdcc_nbytes: Any = None, rdcc_w0: Any = None, track_order: Any = None,
                 fs_strategy: Any = None, fs_persist: bool = False, fs_threshold: int = 1,
                 fs_page_size: Any = None, page_buf_size: Any = None, min_meta_keep: int = 0,
                 min_raw_keep: int = 0, locking: Any = None, alignment_threshold: int = 1,
                 alignment_interval: int = 1, **kwds: Any) -> None:
        if mode not in ("r", "r+", "a", "w", "w-", "x"):
            raise ValueError("Invalid mode; must be one of r, r+, w, w-, x, a")
        if locking not in (None, True, False, "true", "false", "best-effort"):
            raise ValueError(f"Unsupported locking value: {locking!r}")
        block = _user_block(userblock_size)
        if block and (mode in ("w", "w-", "x") or mode == "a" and not os.path.exists(name)):
            raise NotImplementedError("a file of Datarep begins with its own header, and has no room for a user "
                                      "block; one of HDF5 that is imported and exported keeps its own")
        if fs_strategy is not None:
            if fs_strategy not in ("fsm", "page", "aggregate", "none"):
                raise ValueError("Invalid file space strategy type")
            if mode in ("r", "r+") or (mode == "a" and os.path.exists(name)):
                raise ValueError("Unable to set file space strategy of an existing file")
        if page_buf_size and mode in ("w", "w-", "x") and fs_strategy != "page":
            raise OSError("page buffers need fs_strategy=\"page\"")
        is_object = is_stream(name) and hasattr(name, "seek")
        self._driver_of(driver, is_object, kwds)
        self._libver_of = _libver(libver)
        if driver == "fileobj" and not is_object:
            raise ValueError("driver \"fileobj\" needs a file object")
        self._set(self._opened(name, mode, driver, is_object, bool(swmr), kwds))
        if block is not None and block != self.userblock_size:
            found = self.userblock_size
            self.close()
            raise ValueError(f"Requested userblock size ({block}) does not match that of existing file ({found})")
        self._main._libver = self._libver_of
        self._main._swmr = bool(swmr) and not self._main.writable
        self._main._driver = "fileobj" if is_object else driver or "sec2"
        self._main._named = repr(name) if is_object else os.fsdecode(name)
        if track_order and mode in ("w", "w-", "x"):
            self._set_track()

    @staticmethod
    def _driver_of(driver: Any, is_object: bool, kwds: dict[str, Any]) -> None:
        if driver is not None and driver != "mpio" and driver not in _DRIVERS:
            raise ValueError(f"Unknown driver type \"{driver}\"")
        if is_object and driver not in (None, "fileobj"):
            raise ValueError("a file object needs the driver \"fileobj\"")
        if driver is None or driver in ("sec2", "stdio"):
            if kwds:
                raise TypeError(f"unexpected keyword {next(iter(kwds))!r}")
        elif driver in ("split", "direct"):
            raise NotImplementedError(f"the driver \"{driver}\" belongs to the HDF5 library")
        elif driver not in ("core", "fileobj", "mpio"):
            _DRIVERS[driver](None, **kwds)

    @staticmethod
    def _opened(name: Any, mode: str, driver: Any, is_object: bool, swmr: bool,
                kwds: dict[str, Any]) -> Any:
        path = name if is_object else os.fsdecode(name)
        if driver == "core" and not kwds.get("backing_store", True) and mode in ("w", "w-", "x"):
            path = ":memory:"
        elif not is_object:
            names.check(path, mode)
            if hdf5.is_file(path) and mode in ("r", "r+", "a"):
                return _Shared.of(hdf5.opened(path, mode))
        # A reader of SWMR has a commit of its own, which refresh() moves.
        alone = is_object or path == ":memory:" or swmr and mode == "r"
        found = None if alone else _Shared.found(path, mode)
        if found is not None:
            return found
        try:
            comm = kwds.get("comm") if driver == "mpio" else None
            made = datarep.open(path, "x" if mode == "w-" else mode, comm=comm)  # type: ignore[arg-type]
            if made.writable and (is_object or mode in ("w", "w-", "x", "a")):
                made.commit()  # the file is there from the beginning
        except (FormatError, UnsupportedError) as error:
            raise OSError(f"Unable to open file: {shown(error)}") from error
        return _Shared.of(made, None if alone else path)

    def _set(self, main: Any) -> None:
        self._bind(main, "/")

    @classmethod
    def _of(cls, main: Any) -> "File":
        """The file behind an object of it."""
        made = cls.__new__(cls)
        made._bind(main, "/")
        return made

    @property
    def filename(self) -> str:
        """The path of the file.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> type(f.filename)
        <class 'str'>
        """
        self._open()
        return str(self._main._named)

    @property
    def mode(self) -> str:
        """"r" or "r+".

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.mode
        'r+'
        """
        self._open()
        return "r+" if self._main.writable else "r"

    @property
    def driver(self) -> Any:
        """The driver that was asked for.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.driver
        'fileobj'
        """
        return self._main._driver

    @property
    def libver(self) -> Any:
        """A pair that scripts expect; it chooses nothing.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.libver
        ('earliest', 'v110')
        """
        return self._main._libver

    @property
    def userblock_size(self) -> int:
        """Bytes of the user block in a file of HDF5 that was imported, also by opening it here; else 0.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.userblock_size
        0
        """
        self._open()
        try:
            return len(self._main.attrs[USER_BLOCK].tobytes())
        except KeyError:
            return 0

    @property
    def meta_block_size(self) -> int:
        """0: it chooses nothing.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.meta_block_size
        0
        """
        return 0

    @property
    def swmr_mode(self) -> bool:
        """Whether it was asked for: flush() is a commit, and refresh() shows it, in any case.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.swmr_mode
        False
        """
        return bool(getattr(self._main, "_swmr", False))

    @swmr_mode.setter
    def swmr_mode(self, value: bool) -> None:
        if not value:
            raise ValueError("It is not possible to forcibly switch SWMR mode off.")
        self._writes()
        self._main.commit()
        self._main._swmr = True

    def flush(self) -> None:
        """Commit what was written.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.flush()
        """
        self._open()
        if self._main.writable:
            self._main.commit()

    def close(self) -> None:
        """Commit and close; a second time does nothing.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> f.close()
        >>> bool(f)
        False
        """
        if self:
            self._main.close()

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        return f"<HDF5 file \"{shown(os.path.basename(self.filename))}\" (mode {self.mode})>"
