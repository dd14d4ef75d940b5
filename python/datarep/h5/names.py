# SPDX-License-Identifier: MIT
"""The module in h5py's place: import h5py then gives datarep.h5."""
from __future__ import annotations

import os
import sys
import types
from typing import Any

from ..errors import shown

FOREIGN = (".h5", ".hdf5", ".he5", ".nc", ".nc4")

_before: dict[str, Any] = {}
_state = {"installed": False, "any_name": True}


def check(path: str, mode: str) -> None:
    """In h5py's place no Datarep file is made under a name that other programs take for HDF5's."""
    if _state["any_name"] or mode in ("r", "r+") or mode == "a" and os.path.exists(path):
        return
    if path.lower().endswith(FOREIGN):
        raise ValueError(f"{shown(path)}: the file would be one of Datarep under a name of HDF5 or netCDF: choose "
                         "another name, or call datarep.h5.install(any_name=True)")


class Installed:
    """What install() gives: as a context manager it takes the module out again."""

    def __enter__(self) -> Any:
        return sys.modules["h5py"]

    def __exit__(self, *error: Any) -> None:
        uninstall()


def _module(name: str, **content: Any) -> Any:
    made = types.ModuleType(name)
    made.__dict__.update(content)
    return made


def install(any_name: bool = False) -> Installed:
    """Put datarep.h5, with its submodules, into h5py's place: what is imported from now on gets it.

    any_name: whether new files may have names that end in .h5, .hdf5 or .nc.
    ImportError if h5py itself is imported already: its modules would be mixed with these.

    >>> import sys
    >>> kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "h5py"}
    >>> with h5py.install():
    ...     import h5py as who
    >>> who is h5py
    True
    >>> sys.modules.update(kept)
    """
    import datarep.h5 as module
    there = sys.modules.get("h5py")
    if there is not None and there is not module:
        raise ImportError("h5py is imported already: call datarep.h5.install() before anything that "
                          "imports it")
    parts = {"h5py": module}
    for name in (*module.low.NAMES, "version", "filters", "defs"):
        part = getattr(module, name, None)
        if part is not None:
            parts[f"h5py.{name}"] = part
    for name in ("attrs", "base", "dataset", "dims", "files", "filters", "group"):
        parts[f"h5py._hl.{name}"] = sys.modules[f"datarep.h5.{name}"]
    for name in ("selections", "selections2", "vds"):
        parts[f"h5py._hl.{name}"] = module.low.Module(f"h5py._hl.{name}")
    parts["h5py._hl.compat"] = _module("h5py._hl.compat", filename_encode=os.fsencode, filename_decode=os.fsdecode)
    parts["h5py.h5py_warnings"] = _module("h5py.h5py_warnings",
                                          H5pyDeprecationWarning=module.dataset.H5pyDeprecationWarning)
    parts["h5py._hl"] = module._hl = _module("h5py._hl", __path__=[], **{  # type: ignore[attr-defined]
        n.rpartition(".")[2]: part for n, part in parts.items() if n.startswith("h5py._hl.")})
    if not _state["installed"]:
        _before.clear()
        _before.update({name: sys.modules.get(name) for name in parts})
    sys.modules.update(parts)
    module.__name__ = "h5py"  # libraries that also know other modules of this kind ask for it
    _state.update(installed=True, any_name=any_name)
    return Installed()


def uninstall() -> None:
    """Take the module out of h5py's place.  Modules that have imported it keep it.

    >>> h5py.uninstall()       # nothing is installed: nothing happens
    """
    if not _state["installed"]:
        return
    for name, module in _before.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    sys.modules["datarep.h5"].__name__ = "datarep.h5"
    _state.update(installed=False, any_name=True)
