"""Datatype records (5.4), their one-line form (10.2) and how elements lie in bytes (5.6)."""

import re

from . import codes as C
from .errors import DrepError
from .scalars import Description, Scalar

(PREDEFINED, SCALAR, STRING, OPAQUE, ENUM, BOOLEAN, ARRAY, COMPOUND, SEQUENCE, VSTRING,
 REFERENCE) = range(1, 12)
CONTIGUOUS = 32
DUP = 43

MAX_NODES = 64
MAX_SEQUENCES = 8
MAX_NAME = 1023


class Unknown(Exception):
    """A kind or a code of a later version: only what uses it is unreadable."""


class Type:
    """One node of a datatype record; which fields there are depends on `kind`."""

    def __init__(self, kind, flags=0):
        self.kind = kind
        self.flags = flags
        self.base = None

    def children(self):
        if self.kind in (COMPOUND, 39):
            return [m[-1] for m in self.members]
        return [] if self.base is None else [self.base]

    def walk(self):
        yield self
        for child in self.children():
            yield from child.walk()

    def has_heap(self):
        return any(t.kind in (SEQUENCE, VSTRING) or t.kind == REFERENCE and t.what == 1
                   for t in self.walk())

    def codes(self):
        """Predefined datatypes that occur, ascending."""
        return sorted({t.code for t in self.walk() if t.kind == PREDEFINED})


def predefined(code):
    t = Type(PREDEFINED)
    t.code = code
    if code not in C.PREDEFINED:
        raise Unknown("predefined datatype %d" % code)
    return t


def read_type(cur, depth=1, sequences=0):
    """One node and everything below it."""
    if depth > MAX_NODES:
        cur.fail("datatype is nested deeper than %d nodes (R5.10)" % MAX_NODES)
    t = Type(cur.u8(), cur.u8())
    k = t.kind
    if t.flags & ~(k == COMPOUND) and (0 < k <= REFERENCE or CONTIGUOUS <= k <= DUP):
        cur.fail("flags of a node (R5.9)")

    def child(more=0):
        return read_type(cur, depth + 1, sequences + more)

    def many(count, size):
        if count * size > cur.left():
            cur.fail("count is larger than the record (R5.11)")
        return range(count)

    if k == PREDEFINED:
        t.code = cur.u16()
        if t.code not in C.PREDEFINED:
            raise Unknown("predefined datatype %d" % t.code)
    elif k == SCALAR:
        t.desc = Description(cur)
        if t.desc.later:
            raise Unknown("scalar of format %d, order %d" % (t.desc.format, t.desc.order))
        t.scalar = Scalar(t.desc.format, t.desc.order, t.desc.size, t.desc, cur)
    elif k == STRING:
        t.padding = cur.u8()
        t.size = size_of(cur)
        if t.padding > 2:
            cur.fail("unknown padding %d (R5.12)" % t.padding)
    elif k == OPAQUE:
        t.size = size_of(cur)
        t.tag = cur.text(cur.u16())
    elif k == ENUM:
        t.values = []
        for _ in many(cur.u32(), 10):
            n = cur.u16()
            if n > MAX_NAME:
                cur.fail("name is longer than %d bytes (R5.15)" % MAX_NAME)
            t.values.append((cur.text(n), cur.i64()))
        t.base = child()
        if not is_integer(t.base):
            cur.fail("base of an enum is not an integer (R5.13)")
    elif k == BOOLEAN:
        t.base = child()
        if not (is_integer(t.base) or
                t.base.kind == PREDEFINED and C.PREDEFINED[t.base.code][1] == "boolean"):
            cur.fail("base of a boolean is neither integer nor boolean (R5.13)")
    elif k == ARRAY:
        rank = cur.u8()
        if not 1 <= rank <= 32:
            cur.fail("array of rank %d (R5.14)" % rank)
        t.dims = [cur.u64() for _ in range(rank)]
        if not all(t.dims):
            cur.fail("array of no elements (R5.7)")
        t.base = child()
    elif k == COMPOUND:
        read_compound(cur, t, many, child)
    elif k in (SEQUENCE, VSTRING):
        if sequences + 1 > MAX_SEQUENCES:
            cur.fail("sequences are nested deeper than %d (R5.10)" % MAX_SEQUENCES)
        if k == SEQUENCE:
            t.base = child(1)
    elif k == REFERENCE:
        t.what = cur.u8()
        if t.what > 1:
            cur.fail("unknown reference %d (R5.12)" % t.what)
    elif CONTIGUOUS <= k <= DUP:
        read_derived(cur, t, many, child)
    else:
        raise Unknown("datatype kind %d" % k)
    return t


def size_of(cur):
    size = cur.u64()
    if not size:
        cur.fail("string or opaque of no bytes (R5.7)")
    return size


def read_compound(cur, t, many, child):
    count = cur.u32()
    if not count:
        cur.fail("compound without members (R5.7)")
    t.size = cur.u64()
    t.members = []
    names = set()
    for _ in many(count, 12):
        n = cur.u16()
        if n > MAX_NAME:
            cur.fail("name is longer than %d bytes (R5.15)" % MAX_NAME)
        name = cur.text(n)
        offset = cur.u64()
        if name and name in names:
            cur.fail('two members are named "%s" (R5.15)' % name)
        names.add(name)
        t.members.append((name, offset, child()))
    if "" in names and len(names) > 1:
        cur.fail("some members of a compound have names and some have none (R5.15)")
    if not t.flags & 1 and (t.size or any(m[1] for m in t.members)):
        cur.fail("compound that is not laid out has sizes (R5.17)")


def read_derived(cur, t, many, child):
    k = t.kind
    if k == 32:
        t.count = cur.i64()
    elif k in (33, 34):
        t.count, t.blocklen, t.stride = cur.i64(), cur.i64(), cur.i64()
    elif k in (35, 36):
        t.blocks = [(cur.i64(), cur.i64()) for _ in many(cur.u64(), 16)]
    elif k in (37, 38):
        count = cur.u64()
        t.blocklen = cur.i64()
        t.displacements = [cur.i64() for _ in many(count, 8)]
    elif k == 39:
        t.members = [(cur.i64(), cur.i64(), child()) for _ in many(cur.u64(), 18)]
        return
    elif k == 40:
        rank = cur.u8()
        t.order = cur.u8()
        t.dims = [(cur.i64(), cur.i64(), cur.i64()) for _ in range(rank)]
    elif k == 41:
        rank = cur.u8()
        t.order = cur.u8()
        t.processes, t.process = cur.u32(), cur.u32()
        t.dims = [(cur.i64(), cur.u8(), cur.i64(), cur.u32()) for _ in range(rank)]
    elif k == 42:
        t.lower, t.extent = cur.i64(), cur.i64()
    t.base = child()


def is_integer(t):
    if t.kind == PREDEFINED:
        return C.PREDEFINED[t.code][1] == "integer"
    return t.kind == SCALAR and t.desc.cls == 1


# ---------------------------------------------------------------- one-line form

def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def identifier(name):
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else quoted(name)


ORDERS = ("big", "little", "vax")


def scalar_text(d):
    if d.format != C.CUSTOM:
        return "scalar{%s,%s,%d}" % (C.FORMATS[d.format][0], ORDERS[d.order], d.size)
    cls = ("integer", "real", "bits")[d.cls - 1]
    return ("scalar{custom,%s,%s,%d,signed=%d,norm=%d,pad=%d/%d,precision=%d,offset=%d,sign=%d,"
            "exp=%d/%d,sig=%d/%d,base=%d,bias=%d}" % (
                cls, ORDERS[d.order], d.size, d.signed, d.normalisation, d.low_pad, d.high_pad,
                d.precision, d.offset, d.sign_pos, d.exp_pos, d.exp_width, d.sig_pos,
                d.sig_width, 16 if d.base_log2 == 4 else 2, d.bias))  # integers have none: 2


def text(t):
    k = t.kind
    if k == PREDEFINED:
        return C.PREDEFINED[t.code][0]
    if k == SCALAR:
        return scalar_text(t.desc)
    if k == STRING:
        return "string(%d%s)" % (t.size, ("", ",nulterm", ",space")[t.padding])
    if k == OPAQUE:
        return "opaque(%d,%s)" % (t.size, quoted(t.tag)) if t.tag else "opaque(%d)" % t.size
    if k == ENUM:
        pairs = ",".join("%s=%d" % (identifier(n), v) for n, v in t.values)
        return "enum(%s){%s}" % (text(t.base), pairs)
    if k == BOOLEAN:
        return "bool(%s)" % text(t.base)
    if k == ARRAY:
        return "%s[%s]" % (text(t.base), ",".join(map(str, t.dims)))
    if k == COMPOUND:
        return "struct{%s}" % ", ".join(
            (identifier(n) + ": " if n else "") + text(m) for n, _, m in t.members)
    if k == SEQUENCE:
        return "seq(%s)" % text(t.base)
    if k == VSTRING:
        return "vstring"
    if k == REFERENCE:
        return ("ref(object)", "ref(region)")[t.what]
    return derived_text(t)


def numbers(values):
    return "[%s]" % ",".join(map(str, values))


def columns(rows, n):
    """The columns of `rows` (of `n` fields each), each as a list in brackets."""
    return [numbers(row[i] for row in rows) for i in range(n)]


def derived_text(t):
    k = t.kind
    base = text(t.base) if t.base else ""
    if k == 32:
        return "contiguous(%d,%s)" % (t.count, base)
    if k in (33, 34):
        return "%s(%d,%d,%d,%s)" % (("vector", "hvector")[k - 33], t.count, t.blocklen, t.stride,
                                    base)
    if k in (35, 36):
        return "%s(%s,%s,%s)" % (("indexed", "hindexed")[k - 35], *columns(t.blocks, 2), base)
    if k in (37, 38):
        return "%s(%d,%s,%s)" % (("indexed_block", "hindexed_block")[k - 37], t.blocklen,
                                 numbers(t.displacements), base)
    if k == 39:
        types = "[%s]" % ",".join(text(m) for _, _, m in t.members)
        return "struct(%s,%s,%s)" % (*columns(t.members, 2), types)
    if k == 40:
        return "subarray(%s,%s,%s,%s,%s)" % (*columns(t.dims, 3), order_text(t.order), base)
    if k == 41:
        return "darray(%d,%d,%s,%s,%s,%s,%s,%s)" % (
            t.processes, t.process, *columns(t.dims, 4), order_text(t.order), base)
    if k == 42:
        return "resized(%d,%d,%s)" % (t.lower, t.extent, base)
    return "dup(%s)" % base


def order_text(order):
    return ("c", "fortran")[order] if order < 2 else str(order)


# ---------------------------------------------------------------- sizes

def product(numbers):
    out = 1
    for n in numbers:
        out *= n
        if out > 1 << 62:
            raise DrepError("FORMAT", "more than 2^62 elements (R8.1)")
    return out


class Layout:
    """Where the parts of an element lie: `sizes` maps a code to bytes; packed for attributes."""

    def __init__(self, sizes, packed):
        self.sizes = sizes
        self.packed = packed

    def size(self, t):
        k = t.kind
        if k == PREDEFINED:
            if t.code not in self.sizes:
                raise DrepError("FORMAT", "datatype %s is not among EXTENTS (R3.15)"
                                % C.PREDEFINED[t.code][0])
            return self.sizes[t.code]
        if k == SCALAR:
            return t.desc.size
        if k in (STRING, OPAQUE):
            return t.size
        if k in (ENUM, BOOLEAN):
            return self.size(t.base)
        if k == ARRAY:
            return product(t.dims + [self.size(t.base)])
        if k == COMPOUND:
            if self.packed:
                return sum(self.size(m[2]) for m in t.members)
            return t.size
        if k in (SEQUENCE, VSTRING):
            return 16
        if k == REFERENCE:
            return 24 if t.what else 8
        raise DrepError("FORMAT", "datatype kind %d describes memory, not elements (R5.16)" % k)

    def key(self, t):
        """Equal for types that are stored alike."""
        return repr([(n.kind, vars(n).get("code"), vars(n).get("dims"), self.size(n),
                      vars(n).get("what"), [m[:2] for m in getattr(n, "members", [])],
                      sorted(vars(n.desc).items()) if n.kind == SCALAR else None) for n in t.walk()])

    def members(self, t):
        """(name, offset, type) of a compound's members."""
        if not self.packed:
            return t.members
        out, at = [], 0
        for name, _, m in t.members:
            out.append((name, at, m))
            at += self.size(m)
        return out


def check_laid_out(t, layout):
    """Every compound of a dataset's type is laid out, its members inside and apart, in any order."""
    for node in t.walk():
        if node.kind >= CONTIGUOUS:
            raise DrepError("FORMAT", "type of a dataset has kind %d (R5.16)" % node.kind)
        if node.kind != COMPOUND:
            layout.size(node)
            continue
        if not node.flags & 1:
            raise DrepError("FORMAT", "compound of a dataset is not laid out (R5.17)")
        end = 0
        for offset, size, name in sorted((o, layout.size(m), n) for n, o, m in node.members):
            if offset < end:
                raise DrepError("FORMAT", 'member "%s" overlaps another (R5.18)' % name)
            end = offset + size
        if end > node.size:
            raise DrepError("FORMAT", "members lie outside their compound (R5.18)")


def check_not_laid_out(t, named):
    for node in t.walk():
        if node.kind == COMPOUND and node.flags & 1:
            raise DrepError("FORMAT", "compound that is not stored is laid out (R5.17)")
        if node.kind >= CONTIGUOUS and not named:
            raise DrepError("FORMAT", "type of an attribute has kind %d (R5.16)" % node.kind)
