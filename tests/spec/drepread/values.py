"""From bytes of elements to the JSON values of section 10.1."""

import math

import numpy as np

from . import codes as C
from . import types as T
from .errors import Cursor, DrepError
from .scalars import Dyadic, Scalar

SAFE = (1 << 53) - 1


def show_int(v):
    return v if -SAFE <= v <= SAFE else str(v)


def shortest32(v):
    """The number that the shortest decimal of a binary32 value reads back to in binary64."""
    return float(str(np.float32(v)))


def show_all(values, scalar):
    """JSON values of scalars of one kind."""
    if getattr(scalar, "format", None) == C.BINARY32:
        return [show(shortest32(v)) for v in values]
    return [show(v) for v in values]


def show(v):
    """One scalar."""
    if isinstance(v, bool):
        return v
    if isinstance(v, int):
        return show_int(v)
    if isinstance(v, float):
        if math.isnan(v):
            return "nan"
        if math.isinf(v):
            return "inf" if v > 0 else "-inf"
        return v
    if isinstance(v, Dyadic):
        return v.hex()
    return v


class Heap:
    """The variable parts of one payload; contents are apart or shared, and not too often."""

    def __init__(self, data):
        self.data = data
        self.used = set()
        self.named = 0

    def take(self, offset, size, what, base):
        """base: what the content consists of, None if it may not be shared."""
        if offset > len(self.data) or size > len(self.data) - offset:
            raise DrepError("FORMAT", "%s lies outside the heap (R5.32)" % what)
        self.named += size
        if self.named > 16 * len(self.data):
            raise DrepError("FORMAT", "contents add up to more than 16 times their heap (R5.34)")
        if size:
            self.used.add((offset, offset + size, base or "%s %d" % (what, self.named)))
        return self.data[offset:offset + size]

    def check(self):
        end = 0
        for a, b, _ in sorted(self.used):
            if a < end:
                raise DrepError("FORMAT", "two variable contents overlap in the heap (R5.33)")
            end = b


def text_of(raw, padding):
    if padding == 0:
        raw = raw.rstrip(b"\0")
    elif padding == 1:
        raw = raw.split(b"\0", 1)[0]
    elif padding == 2:
        raw = raw.rstrip(b" ")
    return raw.decode("utf-8", "surrogateescape")


def whole_text(raw, what):
    """A text of variable length: it has no NUL, and may have bytes that are not UTF-8."""
    if b"\0" in raw:
        raise DrepError("FORMAT", "%s has a NUL at its byte %d (R5.35)" % (what, raw.index(b"\0")))
    return text_of(raw, None)


class Elements:
    """Decodes elements of type `t`; `scalars` maps a code to its Scalar (of one part)."""

    def __init__(self, t, layout, scalars, paths):
        self.type = t
        self.layout = layout
        self.scalars = scalars
        self.paths = paths

    def size(self):
        return self.layout.size(self.type)

    def many(self, buf, starts, heap):
        """JSON values of the elements that begin at `starts`."""
        return self.decode(self.type, buf, starts, heap)

    def raw(self, t, buf, starts):
        """Undecorated scalars of an integer or boolean type."""
        return self.scalar(t).decode_many(buf, starts)

    def scalar(self, t):
        return self.scalars[t.code] if t.kind == T.PREDEFINED else t.scalar

    def decode(self, t, buf, starts, heap):
        k = t.kind
        if k == T.PREDEFINED and C.PREDEFINED[t.code][1] == "complex":
            scalar = self.scalars[t.code]
            re = scalar.decode_many(buf, starts)
            im = scalar.decode_many(buf, [s + scalar.size for s in starts])
            return [list(z) for z in zip(show_all(re, scalar), show_all(im, scalar))]
        if k == T.PREDEFINED and C.PREDEFINED[t.code][1] == "boolean":
            return [v != 0 for v in self.raw(t, buf, starts)]
        if k in (T.PREDEFINED, T.SCALAR):
            return show_all(self.raw(t, buf, starts), self.scalar(t))
        if k == T.BOOLEAN:
            return [v != 0 for v in self.raw(t.base, buf, starts)]
        if k == T.ENUM:
            names = {}
            for name, value in t.values:
                names.setdefault(value, name)
            return [names[v] if v in names else show_int(v)
                    for v in self.raw(t.base, buf, starts)]
        if k == T.STRING:
            return [text_of(buf[s:s + t.size], t.padding) for s in starts]
        if k == T.OPAQUE:
            return [buf[s:s + t.size].hex() for s in starts]
        if k == T.ARRAY:
            return self.arrays(t, buf, starts, heap)
        if k == T.COMPOUND:
            return self.compounds(t, buf, starts, heap)
        return [self.variable(t, buf, s, heap) for s in starts]

    def arrays(self, t, buf, starts, heap):
        n = T.product(t.dims)
        size = self.layout.size(t.base)
        flat = self.decode(t.base, buf, [s + i * size for s in starts for i in range(n)], heap)
        return [nest(flat[i * n:(i + 1) * n], t.dims) for i in range(len(starts))]

    def compounds(self, t, buf, starts, heap):
        columns, names = [], []
        for name, offset, m in self.layout.members(t):
            columns.append(self.decode(m, buf, [s + offset for s in starts], heap))
            names.append(name)
        rows = [[c[i] for c in columns] for i in range(len(starts))]
        if any(not n for n in names):
            return rows
        return [dict(zip(names, row)) for row in rows]

    def variable(self, t, buf, start, heap):
        cur = Cursor(buf[start:start + 24], None, "element")
        if t.kind == T.REFERENCE:
            target = cur.u64()
            if t.what == 0:
                return self.paths.get(target)
            count, offset = cur.u64(), cur.u64()
            raw = heap.take(offset, count, "text of a region", None) if count else b""
            text = whole_text(raw, "text of a region")
            if target == 0:
                return None
            return {"object": self.paths.get(target), "region": text}
        count, offset = cur.u64(), cur.u64()
        if count == 0:
            return "" if t.kind == T.VSTRING else []
        if t.kind == T.VSTRING:
            return whole_text(heap.take(offset, count, "string", "text"), "string")
        size = self.layout.size(t.base)
        if size == 0 and count > 1 << 20 or count > 1 << 62:
            raise DrepError("FORMAT", "sequence of %d elements (R5.32)" % count)
        heap.take(offset, count * size, "sequence",
                  None if t.base.has_heap() else self.layout.key(t.base))
        return self.decode(t.base, heap.data, [offset + i * size for i in range(count)], heap)


def nest(flat, dims):
    """A list nested as deep as there are dimensions; the value itself for none."""
    if not dims:
        return flat[0]
    if len(dims) == 1:
        return list(flat)
    step = T.product(dims[1:])
    return [nest(flat[i * step:(i + 1) * step], dims[1:]) for i in range(dims[0])]


def self_described(raw, base, t, count, paths, what):
    """`count` values of type `t` from a self-described value (5.6), as a flat list."""
    cur = Cursor(raw, base, what)
    codes = t.codes()
    n = cur.u8()
    if n != len(codes):
        cur.fail("%d rows for %d datatypes (R5.36)" % (n, len(codes)))
    scalars, sizes = {}, {}
    for code in codes:
        form, size = cur.u8(), cur.u8()
        part = size
        if C.PREDEFINED[code][1] == "complex":
            if size % 2:
                cur.fail("odd size of a complex (R5.36)")
            part = size // 2
        if form == C.CUSTOM:
            cur.fail("custom format in a self-described value (R5.36)")
        scalars[code] = Scalar(form, 0, part, None, cur)
        sizes[code] = size
    layout = T.Layout(sizes, True)
    size = layout.size(t)
    at = cur.pos
    if size * count > cur.left():
        cur.fail("value is shorter than its type asks for (R5.37)")
    fixed = raw[at:at + size * count]
    rest = raw[at + size * count:]
    if rest and not t.has_heap():
        raise DrepError("FORMAT", what + ": value is longer than its type asks for (R5.37)", base)
    heap = Heap(rest)
    out = Elements(t, layout, scalars, paths).many(fixed, [i * size for i in range(count)], heap)
    heap.check()
    return out
