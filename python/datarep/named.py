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
        """The file that it is in.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f["a/x"].file is f
        True
        """
        return self._file

    @property
    def parent(self) -> "Group":
        """The group that it is in.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f["a/x"].parent
        <group /a: 1 members>
        """
        return self._file[self.name.rsplit("/", 1)[0] or "/"]

    @property
    def attrs(self) -> Attributes:
        """Its attributes.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> dict(f["a/x"].attrs)
        {}
        """
        return Attributes(self._file._h, self.name)

    @property
    def id(self) -> int:
        """The number of the object in its file.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f["a"].id > 0
        True
        """
        return self._file._h.stat(self.name)[1]

    @property
    def ref(self) -> types.Reference:
        """A reference to it, as datasets and attributes hold them.

        >>> f = dr.open(":memory:", "w")
        >>> f["a/x"] = [1, 2, 3]
        >>> f[f["a/x"].ref].name
        '/a/x'
        """
        return types.Reference(self.id)
