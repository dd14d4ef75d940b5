"""The JSON of section 10.1."""

from . import codes as C
from . import types as T
from .errors import DrepError
from .reader import (COMPACT, CONTIGUOUS, CHUNKED, DATASET, DIMENSION, GROUP, HARD, NAMED, SOFT,
                     UNLIMITED)
from .values import nest, self_described

LAYOUTS = ("null", "compact", "contiguous", "chunked")


def form(rep):
    return "unknown" if rep.form > 2 or rep.form < 1 else ("table", "code")[rep.form - 1]


def extents(rep):
    return {C.PREDEFINED[c][0] if c in C.PREDEFINED else str(c): n
            for c, n in rep.extents.items()}


def document(f, header_only=False):
    h, s = f.header, f.slot
    out = {
        "file": f.path,
        "format": "%d.%d" % (s.major, s.minor),
        "datarep": h.reps[0].name,
        "form": form(h.reps[0]),
        "uuid": s.uuid.hex(),
        "sequence": s.sequence,
        "time": str(s.time),
        "writer": h.writer,
        "machine": h.reps[0].machine,
        "extents": extents(h.reps[0]),
        "datareps": [{"number": r.number, "datarep": r.name, "form": form(r),
                      "machine": r.machine, "extents": extents(r)}
                     for r in h.reps.values() if r.number],
        "hints": dict(h.hints),
    }
    try:
        out["root"] = Writer(f, header_only).object(f.objects[1])
    except DrepError as e:
        e.file = f.path
        raise
    return out


def later(kind_and_flags, kind="unknown"):
    return {"kind": kind, "number": kind_and_flags[0], "flags": kind_and_flags[1],
            "note": "written by a newer version"}


class Writer:
    def __init__(self, f, header_only):
        self.f = f
        self.header_only = header_only
        self.seen = set()

    def object(self, obj):
        self.seen.add(obj.id)
        if obj.kind is None:
            return {**{"kind": "unknown", "id": obj.id}, **later((obj.number, obj.flags)),
                    "attributes": self.attributes(obj)}
        try:
            return {GROUP: self.group, DATASET: self.dataset, NAMED: self.named,
                    DIMENSION: self.dimension}[obj.kind](obj)
        except DrepError as e:
            raise e.inside(self.f.paths[obj.id])

    def attributes(self, obj):
        out = {}
        for name, t, shape, value, at in obj.attrs:
            if isinstance(value, tuple):
                out[name] = later(value)
                continue
            if t is None:
                out[name] = {"type": None, "shape": shape, "value": None}
                continue
            got = None
            if shape is not None:
                flat = self_described(value, at, t, T.product(shape), self.f.paths,
                                      'attribute "%s"' % name)
                got = nest(flat, shape)
            out[name] = {"type": T.text(t), "shape": shape, "value": got}
        return out

    def group(self, obj):
        out = {"kind": "group", "id": obj.id, "attributes": self.attributes(obj),
               "dimensions": {name: later(d) if isinstance(d, tuple) else
                              self.object(self.f.objects[d]) for name, d in obj.dim_list},
               "members": {}}
        for name, kind, target in obj.members:
            if kind == HARD and target not in self.seen:
                out["members"][name] = self.object(self.f.objects[target])
            elif kind == HARD:
                out["members"][name] = {"kind": "link", "link": "hard",
                                        "target": self.f.paths[target]}
            elif kind is None:
                out["members"][name] = {**{"kind": "link", "link": "unknown"}, **later(target, "link")}
            elif kind == SOFT:
                out["members"][name] = {"kind": "link", "link": "soft", "target": target}
            else:
                out["members"][name] = {"kind": "link", "link": "external", "file": target[0],
                                        "target": target[1]}
        return out

    def dataset(self, obj):
        if obj.later:  # written by a newer version: nobody can open it here
            return {"kind": "dataset", "id": obj.id}
        out = {"kind": "dataset", "id": obj.id,
               "type": None if obj.type is None else T.text(obj.type),
               "datarep": obj.rep.number, "shape": obj.shape, "maxshape": None, "layout": LAYOUTS[obj.layout],
               "chunk": obj.chunk if obj.layout in (CONTIGUOUS, CHUNKED) else None,
               "filters": [{"name": f.name, "parameters": f.parameters,
                            **({"bare": True} if f.flags & 1 else {})} for f in obj.filters],
               "fill": None, "dimensions": None}
        if obj.maximum is not None:
            out["maxshape"] = [None if m == UNLIMITED else m for m in obj.maximum]
            out["dimensions"] = [self.f.paths.get(d) if d else None
                                 for d in obj.dimensions or [0] * len(obj.shape)]
        if obj.fill == 2:
            out["fill"] = "none"
        elif obj.fill == 1 and obj.type is not None:
            out["fill"] = self.f.fill_of(obj)
        out["attributes"] = self.attributes(obj)
        if not self.header_only:
            try:
                out["data"] = self.f.data(obj)
            except DrepError as e:  # a filter that is not known here
                if e.category != "UNSUPPORTED":
                    raise
                out["data"] = None
        return out

    def named(self, obj):
        return {"kind": "type", "id": obj.id,
                "type": None if obj.type is None else T.text(obj.type),
                "attributes": self.attributes(obj)}

    def dimension(self, obj):
        return {"kind": "dimension", "id": obj.id, "length": obj.length,
                "unlimited": bool(obj.flags & 1),
                "scales": [self.f.paths[d] for d in obj.scales if d in self.f.paths],
                "attributes": self.attributes(obj)}
