# SPDX-License-Identifier: MIT
"""Files as trees, in text and in HTML."""
from __future__ import annotations

import html as _html
from typing import Any, Iterator

from .errors import shown as _shown

_LIMIT = 1000  # objects that are shown

_STYLE = ("<style>.drep ul{list-style:none;margin:0;padding-left:1.2em}.drep table{margin:0 0 .5em}"
          ".drep td,.drep th{text-align:left}.drep .s{color:#777}</style>")


def _text(value: str) -> str:
    return _html.escape(_shown(value))


def size(n: int) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return f"{n} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024  # type: ignore[assignment]
    return ""


def _dims(ds: Any) -> str:
    shape = ds.shape
    if shape is None:
        return "(null)"
    names, most = ds.dims, ds.maxshape
    parts = []
    for i, n in enumerate(shape):
        said = f"{names[i]}={n}" if names[i] else str(n)
        parts.append(said + ("*" if most[i] is None else ""))
    return f"({', '.join(parts)})"


def describe(ds: Any) -> str:
    """One line, as `datarep ls --tree` has it: shape, type, units."""
    said = [_dims(ds), repr(ds.type)]
    units = ds.attrs.get("units")
    if isinstance(units, str):
        said.append(f"[{units}]")
    return " ".join(said)


def _storage(ds: Any) -> str:
    """How the elements are stored: chunks, filters, and a representation that is not the file's."""
    said = []
    if ds.chunks:
        said.append("chunks " + "x".join(map(str, ds.chunks)))
    if ds.filters:
        said.append(ds.filters)
    if ds.datarep != ds.file.datarep:
        said.append(f"stored as {ds.datarep}")
    return "".join(f"{part}, " for part in said)


def _members(group: Any, seen: dict[int, str]) -> Iterator[tuple[str, str, Any]]:
    """(name, what is said of it, the group below or the dataset, or None); seen: the objects that were
    shown, with their paths."""
    for name, link, kind, number, target, other in group._file._h.list(group.name, group._file.order):
        path = group._path(name)
        first = path if link in (2, 3) else seen.setdefault(number, path)
        if link == 2:
            yield name, f"soft link -> {target}", None
        elif link == 3:
            yield name, f"external link -> {other}:{target}", None
        elif first != path:
            yield name, f"hard link -> {first}", None
        elif kind == 1:
            yield name, "", group[name]
        elif kind == 2:
            yield name, describe(group[name]), group[name]
        elif kind == 3:
            yield name, f"type {group[name].type!r}", None
        else:
            yield name, "(unknown)", None


def _is_group(below: Any) -> bool:
    return hasattr(below, "tree")


class Tree:
    """A group and all below it, as text and in notebooks."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def _lines(self) -> Iterator[str]:
        group = self._group
        yield group.name if group.name != "/" else group.file.filename
        yield from self._level(group, "", {group.id: group.name})

    def _level(self, group: Any, indent: str, seen: dict[int, str]) -> Iterator[str]:
        rows = list(_members(group, seen))
        for i, (name, said, below) in enumerate(rows):
            last = i == len(rows) - 1
            yield f"{indent}{'└── ' if last else '├── '}{name}{'/' if _is_group(below) else ''}" \
                + (f" {said}" if said else "")
            if _is_group(below):
                yield from self._level(below, indent + ("    " if last else "│   "), seen)

    def __str__(self) -> str:
        lines: list[str] = []
        for line in self._lines():
            if len(lines) > _LIMIT:
                lines.append("...")
                break
            lines.append(line)
        return "\n".join(map(_shown, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self._group)


def _attributes(o: Any) -> str:
    rows = []
    for name in o.attrs:
        try:
            value = repr(o.attrs[name])
        except Exception as error:  # a datatype that this machine does not have
            value = f"({error})"
        rows.append(f"<tr><th>{_text(name)}</th><td>{_text(value[:200])}</td></tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _dataset(ds: Any) -> str:
    stored = ds.usage()
    said = f"{_text(describe(ds))} <span class='s'>{_text(_storage(ds))}{size(ds.nbytes)}, " \
           f"{size(stored['bytes'])} stored</span>"
    return said + _attributes(ds)


def _group(group: Any, seen: dict[int, str], budget: list[int]) -> str:
    items = []
    for name, said, below in _members(group, seen):
        budget[0] -= 1
        if budget[0] < 0:
            items.append("<li>...</li>")
            break
        shown = _text(name)
        if _is_group(below):
            items.append(f"<li><details open><summary>{shown}/</summary>"
                         f"{_group(below, seen, budget)}</details></li>")
        elif below is not None:
            items.append(f"<li><details><summary>{shown} <span class='s'>{_text(said)}</span>"
                         f"</summary>{_dataset(below)}</details></li>")
        else:
            items.append(f"<li>{shown} {_text(said)}</li>")
    return _attributes(group) + f"<ul>{''.join(items)}</ul>"


def html(o: Any) -> str:
    """A group or dataset for notebooks."""
    if o.file.closed:
        return _text(repr(o))
    head = f"<b>{_text(o.file.filename)}</b> {_text(o.name)}"
    body = _group(o, {o.id: o.name}, [_LIMIT]) if hasattr(o, "tree") else _dataset(o)
    return f"{_STYLE}<div class='drep'>{head}{body}</div>"
