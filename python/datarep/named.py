# SPDX-License-Identifier: MIT
"""What groups, datasets and named datatypes have in common."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from . import types
from .attrs import Attributes

if TYPE_CHECKING:
    from .file import File, Group
    from .viewer import Viewer


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

    def view(self, *, browser: bool = True, port: Optional[int] = None) -> "Viewer":
        """Show it in the browser, as `datarep view` does: the last commit of its file.

        Starts the command's server on 127.0.0.1 and returns at once.  The server ends by close() of what is
        returned, or with the program.  browser=False opens none: open `url` of the result in one, and enter
        its `code`.  port: any that is free.  FileNotFoundError if the command is not installed.

        >>> viewer = f["a"].view(browser=False)  # doctest: +SKIP
        >>> viewer.url, viewer.code              # doctest: +SKIP
        ('http://127.0.0.1:36881/', '7n5p4k8wq2mhz3tcdbxr')
        >>> viewer.close()                       # doctest: +SKIP
        """
        from . import viewer
        return viewer.view(self._file, self.name, browser, port)
