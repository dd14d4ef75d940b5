# SPDX-License-Identifier: MIT
"""What groups, datasets and named datatypes have in common."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import types
from .attrs import Attributes

if TYPE_CHECKING:
    from .file import File, Group


class Named:
    """An object that has a name in a file."""

    __slots__ = ()

    _file: "File"
    name: str

    @property
    def file(self) -> "File":
        """The file that it is in."""
        return self._file

    @property
    def parent(self) -> "Group":
        """The group that it is in."""
        return self._file[self.name.rsplit("/", 1)[0] or "/"]

    @property
    def attrs(self) -> Attributes:
        """Its attributes."""
        return Attributes(self._file._h, self.name)

    @property
    def id(self) -> int:
        """The number of the object in its file."""
        return self._file._h.stat(self.name)[1]

    @property
    def ref(self) -> types.Reference:
        """A reference to it, as datasets and attributes hold them."""
        return types.Reference(self.id)
