# SPDX-License-Identifier: MIT
"""The JSON of a file (datarep-dump(1)), piece by piece: groups may be nested without bound."""

import os

from . import text
from .codes import PREDEFINED
from .file import ROOT
from .objects import CHUNKED, COMPACT, CONTIGUOUS, DATASET, DIMENSION, GROUP, UNLIMITED

NOTE = "written by a newer version"
BEYOND = "beyond the limits of this version"


def unknown(item):
    return {"number": -1 if item.beyond else item.kind, "flags": item.flags, "note": BEYOND if item.beyond else NOTE}


def extents(rep):
    return {PREDEFINED[code].name: size for code, size in rep.extents.items()}


def head(file):
    slot, header = file.slot, file.header
    first = header.representations[0]
    others = [{"number": rep.number, "datarep": rep.name, "form": rep.form_name,
               "machine": rep.machine, "extents": extents(rep)}
              for number, rep in header.representations.items() if number]
    return {"file": os.path.basename(file.path), "format": "%d.%d" % (slot.major, slot.minor),
            "datarep": first.name, "form": first.form_name, "uuid": slot.uuid.hex(),
            "sequence": file.sequence, "time": str(file.time), "writer": header.writer,
            "machine": first.machine, "extents": extents(first), "datareps": others,
            "hints": header.hints}


def lines(file):
    """The pieces of the text; each member of the root stands on a line of its own."""
    yield text.dumps(head(file))[:-1] + ',\n"root":'
    yield opening(file, ROOT) + '"members":{\n'
    printed = {ROOT}
    work = [(iter(file.members.get(ROOT, [])), False)]
    while work:
        links, comma = work[-1]
        link = next(links, None)
        if link is None:
            work.pop()
            yield "}}" if work else "\n}}}\n"
            continue
        if comma:
            yield ",\n" if len(work) == 1 else ","
        work[-1] = (links, True)
        yield text.dumps(link.name) + ":"
        if link.target is None or link.target in printed:
            yield text.dumps(shown_link(file, link))
            continue
        printed.add(link.target)
        if link.target in file.members:
            yield opening(file, link.target) + '"members":{'
            work.append((iter(file.members[link.target]), False))
        else:
            yield text.dumps(shown_object(file, link.target))


def opening(file, number):
    """A group as far as its members."""
    if file.objects[number].newer:
        return text.dumps(shown_object(file, number))[:-1] + ","
    dimensions = {item.name: shown_dimension(file, item) for item in file.dimensions[number]}
    return text.dumps({"kind": "group", "id": number, "attributes": attributes(file, number),
                       "dimensions": dimensions})[:-1] + ","


def shown_dimension(file, item):
    if item.newer:
        return {"kind": "unknown", **unknown(item)}
    return shown_object(file, item.target)


def shown_link(file, link):
    if link.newer:
        return {"kind": "link", "link": "unknown", **unknown(link)}
    if link.target is not None:
        return {"kind": "link", "link": "hard", "target": file.path_of(link.target)}
    if link.kind == 2:
        return {"kind": "link", "link": "soft", "target": link.path}
    return {"kind": "link", "link": "external", "file": link.file, "target": link.path}


def attributes(file, number):
    return {item.name: shown_attribute(item) for item in file.attributes[number]}


def shown_attribute(item):
    if item.newer and not item.beyond:
        return {"kind": "unknown", **unknown(item)}
    if item.newer or not item.type or item.shape is not None and item.value is None:
        return None  # It is of a newer version's type or format, or beyond a limit.
    value = None
    if item.value and item.shape is not None:
        from .elements import nested
        value = nested(item.value.values(), item.shape)
    return {"type": text.datatype(item.type) if item.type else None, "shape": item.shape,
            "value": value}


def shown_object(file, number):
    found = file.objects[number]
    if found.newer:
        return {"kind": "unknown", "id": number, **unknown(found), "attributes": attributes(file, number)}
    if found.kind == DATASET:
        return shown_dataset(file, found)
    if found.kind == DIMENSION:
        return {"kind": "dimension", "id": number, "length": found.length,
                "unlimited": bool(found.flags & 1),
                "scales": [file.path_of(n) for n in found.scales if file.path_of(n)],
                "attributes": attributes(file, number)}
    assert found.kind != GROUP
    return {"kind": "type", "id": number,
            "type": text.datatype(found.type) if found.type else None,
            "attributes": attributes(file, number)}


def shown_dataset(file, found):
    if found.partly:
        return {"kind": "dataset", "id": found.id}
    null = found.shape is None
    fill = {0: None, 2: "none"}.get(found.fill_kind)
    if found.fill:
        fill = found.fill.values()[0]
    along = [file.named_dimensions.get(n) for n in found.dimensions or [0] * len(found.shape or [])]
    layout = {COMPACT: "compact", CONTIGUOUS: "contiguous", CHUNKED: "chunked"}
    return {"kind": "dataset", "id": found.id, "type": text.datatype(found.type),
            "datarep": found.rep.number, "shape": found.shape,
            "maxshape": None if null else [None if n == UNLIMITED else n for n in found.maximum],
            "layout": layout.get(found.layout, "null"),
            "chunk": found.chunk if found.layout in (CONTIGUOUS, CHUNKED) else None,
            "filters": [f.shown() for f in found.filters], "fill": fill,
            "dimensions": None if null else along, "attributes": attributes(file, found.id),
            "data": file.datasets[found.id].values()}
