# SPDX-License-Identifier: MIT
"""Stand-ins for h5py's low-level modules: there is no HDF5 library below, so that every use fails."""
from __future__ import annotations

import types
from typing import Any, NoReturn

NAMES = ("h5", "h5a", "h5ac", "h5d", "h5ds", "h5f", "h5fd", "h5g", "h5i", "h5l", "h5o", "h5p", "h5pl",
         "h5r", "h5s", "h5t", "h5z", "_objects")

used: list[str] = []  # what was asked for, so that a test program can tell


def refuse(name: str) -> NoReturn:
    """The error of everything that belongs to the HDF5 library."""
    used.append(name)
    raise NotImplementedError(f"{name} belongs to the HDF5 library: datarep.h5 has h5py's high-level "
                              "names only")


class Name:
    """A name in a low-level module."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"{self._name}.{name}")

    def __call__(self, *args: Any, **more: Any) -> Any:
        refuse(self._name)

    def __eq__(self, other: object) -> bool:
        refuse(self._name)

    __hash__ = object.__hash__

    def __instancecheck__(self, instance: Any) -> bool:
        refuse(self._name)

    def __index__(self) -> int:
        refuse(self._name)

    def __repr__(self) -> str:
        return f"<{self._name} of the HDF5 library>"


class Module(types.ModuleType):
    """A low-level module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(f"{self.__name__}.{name}")


class Id:
    """What obj.id is: it tells whether the object can be used, and moves whole chunks as stored."""

    def __init__(self, owner: Any, kind: str) -> None:
        self._owner, self._kind = owner, kind

    @property
    def valid(self) -> bool:
        return bool(self._owner)

    @property
    def id(self) -> int:
        return int(self._owner._number) if self._owner else 0

    def refresh(self) -> None:
        """Show what was committed since a file was opened for reading."""
        main = self._owner._main
        if not main.writable:
            main.refresh()

    def flush(self) -> None:
        """Commit what was written."""
        main = self._owner._main
        if main.writable:
            main.commit()

    def read_direct_chunk(self, offsets: Any, *args: Any, **more: Any) -> tuple[int, bytes]:
        """(mask of the filters that were not applied, bytes as the file holds them) of a chunk."""
        got = self._chunked("read_direct_chunk").read_stored(tuple(offsets))
        if got is None:
            raise ValueError("nothing is stored of this chunk")
        return got[1], got[0]

    def write_direct_chunk(self, offsets: Any, data: Any, filter_mask: int = 0, *args: Any,
                           **more: Any) -> None:
        """Make bytes, to which the filters were applied by the caller, a chunk."""
        main = self._chunked("write_direct_chunk")
        known = (1 << len(main._info()["filters"])) - 1
        main.write_stored(tuple(offsets), data, filter_mask & known)

    def get_num_chunks(self) -> int:
        """How many chunks are stored."""
        main = self._chunked("get_num_chunks")
        return len(main._chunks()) // (8 * len(main.shape))

    def extend(self, shape: Any) -> None:
        """Make the dataset at least as long as a shape in every dimension."""
        owner = self._of_dataset("extend")
        owner.resize(tuple(max(int(n), now) for n, now in zip(shape, owner.shape, strict=True)))

    def set_extent(self, shape: Any) -> None:
        """Give the dataset a shape."""
        self._of_dataset("set_extent").resize(tuple(shape))

    def get_type(self) -> Any:
        """The datatype of a dataset."""
        from .ids import of_dtype
        return of_dtype(self._of_dataset("get_type").dtype)

    def get_create_plist(self) -> Any:
        """What a group or a dataset was made with."""
        from .ids import of_object
        if not self._owner._has_create_plist:
            refuse("id.get_create_plist")
        return of_object(self._owner)

    def get_space(self) -> Any:
        """The shape of a dataset, now and at most."""
        from .ids import of_shape
        owner = self._of_dataset("get_space")
        return of_shape(owner.shape, owner.maxshape)

    @property
    def dtype(self) -> Any:
        return self._of_dataset("dtype").dtype

    @property
    def shape(self) -> Any:
        return self._of_dataset("shape").shape

    @property
    def rank(self) -> int:
        return len(self._of_dataset("rank").shape or ())

    def _of_dataset(self, name: str) -> Any:
        if self._kind != "dataset":
            refuse(f"id.{name}")
        return self._owner

    def _chunked(self, name: str) -> Any:
        owner = self._of_dataset(name)
        if owner.chunks is None:
            raise TypeError("the dataset is not chunked")
        return owner._ds

    def __bool__(self) -> bool:
        return bool(self._owner)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Id) and bool(self._owner == other._owner)

    def __hash__(self) -> int:
        return hash(self._owner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"id.{name}")
