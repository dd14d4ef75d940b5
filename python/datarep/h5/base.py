# SPDX-License-Identifier: MIT
"""What files, groups, datasets and datatypes have in common."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Optional

from .. import notes
from ..errors import FormatError, shown
from .low import Id

if TYPE_CHECKING:
    from .attrs import AttributeManager


TRACKED = "track_order"  # the remark that says how members are listed


def text(name: Any) -> str:
    """A name, which may be bytes."""
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape")
    if not isinstance(name, str):
        raise TypeError(f"A name should be string or bytes, not {type(name)}")
    return name


def is_hdf5(fname: Any) -> bool:
    """Whether the file is one that File() opens.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.drep")
    >>> h5py.File(path, "w").close()
    >>> h5py.is_hdf5(path)
    True
    """
    import datarep
    from . import hdf5
    try:
        if hdf5.is_file(os.fsdecode(fname)):
            return True
        with datarep.open(os.fsdecode(fname)):
            return True
    except (FormatError, OSError, NotImplementedError):
        return False


def is_empty_dataspace(obj: Any) -> bool:
    """Whether an object, by its id, is of null space."""
    return getattr(obj._owner, "shape", ()) is None


class HLObject:
    """An object of a file: the file of the package, and the number of the object in it, with which it
    stays when it is moved, or when another one gets its path.

    >>> import io
    >>> f = h5py.File(io.BytesIO(), "w")
    >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
    >>> isinstance(f, h5py.HLObject) and isinstance(x, h5py.HLObject)
    True
    """

    _kind = ""
    _has_create_plist = False
    _main: Any
    _known: str  # the path where it was seen last

    def _bind(self, main: Any, path: str) -> Any:
        self._main, self._known = main, path
        self._number = main._h.stat(path)[1]
        return self

    @property
    def _path(self) -> str:
        if self._main.closed:
            return self._known
        h = self._main._h
        try:
            if h.stat(self._known)[1] == self._number:
                return self._known
        except (KeyError, TypeError):
            pass
        try:
            self._known = h.path(self._number)
        except KeyError:
            raise ValueError(f"{shown(self._known)} was deleted: this object is no longer in the file") from None
        return self._known

    def _from_id(self, given: Any) -> None:
        if not isinstance(given, Id) or given._kind != self._kind:
            raise ValueError(f"{given!r} is not the id of a {self._kind}")
        self._bind(given._owner._main, given._owner._path)

    def _open(self) -> None:
        if not self:
            raise ValueError("Invalid location identifier (the file is closed)")

    @property
    def id(self) -> Any:
        """Its low-level object, of which little is there.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f["a/x"].id == x.id
        True
        """
        return Id(self, self._kind)

    @property
    def name(self) -> Any:
        """Its path.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.name
        '/a/x'
        """
        try:
            return self._path if self else None
        except ValueError:
            return None

    @property
    def file(self) -> Any:
        """The file that it is in.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.file == f
        True
        """
        from .files import File
        self._open()
        return File._of(self._main)

    @property
    def parent(self) -> Any:
        """The group that it is in.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.parent.name
        '/a'
        """
        if not self:
            raise ValueError("the file is closed")
        return self.file[self._path.rsplit("/", 1)[0] or "/"]

    @property
    def attrs(self) -> "AttributeManager":
        """Its attributes.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x.attrs["units"] = "m"
        >>> len(x.attrs)
        1
        """
        from .attrs import AttributeManager
        return AttributeManager(self)

    @property
    def ref(self) -> Any:
        """A reference to it.

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> f[x.ref].name
        '/a/x'
        """
        from .. import types
        self._open()
        return types.Reference(self._number)

    @property
    def regionref(self) -> Any:
        """Makes references to elements: x.regionref[0:1].

        >>> import io
        >>> f = h5py.File(io.BytesIO(), "w")
        >>> x = f.create_dataset("a/x", data=np.arange(12).reshape(3, 4), chunks=(2, 4), compression="gzip")
        >>> x[x.regionref[0:1]].shape
        (1, 4)
        """
        from .regions import RegionProxy
        return RegionProxy(self)

    @property
    def _remarks(self) -> list[str]:
        """What converters have noted about the object."""
        return notes.remarks(self._main._h, self._path)

    def _set_remarks(self, lines: list[str]) -> None:
        notes.set_remarks(self._main._h, self._path, lines)

    @property
    def _track(self) -> bool:
        """Whether members and attributes are listed in the order in which they were made."""
        return TRACKED in self._remarks

    def _set_track(self) -> None:
        self._set_remarks([*self._remarks, TRACKED])

    def _csets(self, kind: str, name: Optional[str] = None) -> Callable[[str], str]:
        """The character set of texts by their place in a datatype: "ascii" or "utf8".  kind: "type", or
        "attribute" and its name."""
        known = {}
        for line in self._remarks:
            parts = line.split(" ", 3)
            if parts[0] == kind and parts[3:] == ([] if name is None else [name]) and parts[2].startswith("cset="):
                known[parts[1]] = parts[2][5:]
        usual = self._usual_cset
        return lambda place: known.get(place, usual)

    @property
    def _usual_cset(self) -> str:
        """The character set of the texts of a file that has no note about them."""
        if not hasattr(self._main, "_cset"):
            root = HLObject()._bind(self._main, "/")
            self._main._cset = "ascii" if "default cset=ascii" in root._remarks else "utf8"
        return str(self._main._cset)

    def _note_type(self, dtype: Any, kind: str, name: Optional[str] = None) -> None:
        """Note what the file has no place for of a datatype that was written, in place of what was noted before:
        character sets, and where the members of a struct lie that has a name; datasets keep that themselves."""
        from . import types
        usual, end = self._usual_cset, "" if name is None else f" {name}"
        made = [f"{kind} {place} cset={cset}{end}" for place, cset in types.csets(dtype) if cset != usual]
        if self._kind == "datatype" and kind == "type":
            made += [f"{kind} {place} {word}" for place, word in types.layout(dtype)]
        before = self._remarks
        kept = [r for r in before if not (r.startswith(f"{kind} ") and r.split(" ", 3)[3:] == ([name] if name else []))]
        if kept + made != before:
            self._set_remarks(kept + made)

    def __bool__(self) -> bool:
        return not self._main.closed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HLObject):
            return NotImplemented  # NumPy compares a dataset by its elements
        return self._file_key == other._file_key and bool(self._number == other._number)

    def __hash__(self) -> int:
        return hash((self._file_key, self._number))

    @property
    def _file_key(self) -> Any:
        """What is the same for two objects of one file, however often it was opened."""
        return getattr(self._main, "_key", None) or id(self._main)

    def __getnewargs__(self) -> Any:
        raise TypeError("h5py objects cannot be pickled")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("h5py objects cannot be pickled")
