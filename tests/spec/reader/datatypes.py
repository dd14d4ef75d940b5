# SPDX-License-Identifier: MIT
"""Datatype records (SPEC.md 5.4)."""

from . import scalars
from .codes import PREDEFINED
from .errors import Newer, limit, need
from .records import Record

(CODE, SCALAR, STRING, OPAQUE, ENUM, BOOLEAN, ARRAY, COMPOUND, SEQUENCE, VSTRING,
 REFERENCE) = range(1, 12)
(CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK, STRUCT, SUBARRAY,
 DARRAY, RESIZED, DUP) = range(32, 44)
LIMIT = 1 << 62
FIRST_NUMBER = 65536  # From here on a type's number names a TYPE entry.


class Type:
    """A node of a datatype record; which fields it has depends on its kind."""

    def __init__(self, kind, offset):
        self.kind, self.offset, self.children, self.raw = kind, offset, [], b""

    @property
    def base(self):
        return self.children[0]

    def nodes(self):
        """This node and all below it."""
        work = [self]
        while work:
            node = work.pop()
            yield node
            work.extend(node.children)

    def codes(self):
        """The predefined datatypes that occur, ascending."""
        return sorted({node.code for node in self.nodes() if node.kind == CODE})

    @property
    def refers(self):
        return any(node.kind == REFERENCE for node in self.nodes())

    @property
    def variable(self):
        """Whether elements have parts in the heap."""
        return any(node.kind in (SEQUENCE, VSTRING) or node.kind == REFERENCE and node.what == 1
                   for node in self.nodes())


def predefined(code, offset):
    need(code != 0, "R5.5", offset, "datatype 0 is none")
    if code not in PREDEFINED:
        raise Newer("datatype code %d" % code)
    node = Type(CODE, offset)
    node.code, node.raw = code, b"\1\0" + code.to_bytes(2, "big")
    return node


def parse(data, offset):
    """The type of a datatype record; bytes behind it belong to later versions."""
    return _node(Record(data, offset, "a datatype record"), 1, 0)


def _node(r, depth, nested):
    at, start = r.here, r.position
    limit(depth, 64, "R5.10", "a datatype record is more than 64 nodes deep")
    node = Type(r.u8(), at)
    flags = r.u8()
    if node.kind not in _FIELDS:
        raise Newer("datatype kind %d" % node.kind)
    need(flags == 0 or (flags == 1 and node.kind == COMPOUND), "R5.9", at + 1,
         "kind %d has flags %d" % (node.kind, flags))
    node.laid_out = flags == 1
    nested += node.kind in (SEQUENCE, VSTRING)
    limit(nested, 8, "R5.10", "sequences are more than 8 deep")
    _FIELDS[node.kind](node, r, lambda: node.children.append(_node(r, depth + 1, nested)))
    node.raw = r.data[start:r.position]
    return node


def _fit(r, count, size):
    need(count * size <= r.left, "R5.11", r.here, "a count of %d does not fit the record" % count)
    return count


def _bounded(r, value, least=0):
    need(value >= least, "R5.7", r.here, "a size of %d" % value)
    limit(value, LIMIT, "R5.11", "a size of %d" % value)
    return value


def _rank(r):
    rank = r.u8()
    need(rank >= 1, "R5.14", r.here - 1, "a rank of 0")
    limit(rank, 32, "R5.14", "a rank of %d" % rank)
    return rank


def _name(r, least):
    count = r.u16()
    need(least <= count, "R5.15", r.here - 2, "a name of no bytes")
    limit(count, 1023, "R5.15", "a name of %d bytes" % count)
    return r.text(count, "a name")


def _choice(r, most, what):
    value = r.u8()
    need(value <= most, "R5.12", r.here - 1, "%s is %d" % (what, value))
    return value


def _code(node, r, child):
    node.code = r.u16()
    need(node.code != 0, "R5.5", r.here - 2, "datatype 0 is none")
    if node.code not in PREDEFINED:
        raise Newer("datatype code %d" % node.code)


def _scalar(node, r, child):
    node.scalar = scalars.description(r.bytes(32), r.here - 32)


def _string(node, r, child):
    node.padding = _choice(r, 2, "the padding of a string")
    node.size = _bounded(r, r.u64(), 1)


def _opaque(node, r, child):
    node.size = _bounded(r, r.u64(), 1)
    node.tag = r.text(r.u16(), "a tag")


def _enum(node, r, child):
    count = _fit(r, r.u32(), 11)
    node.values = [(_name(r, 1), r.i64()) for _ in range(count)]
    need(len(dict(node.values)) == count, "R5.15", node.offset, "a name of an enum occurs twice")
    child()
    _integer(node, r, "integer")
    base = node.base
    signed = PREDEFINED[base.code].signed if base.kind == CODE else base.scalar.is_signed
    node.values = [(name, value if signed else value % 2 ** 64) for name, value in node.values]
    node.names = {value: name for name, value in reversed(node.values)}


def _integer(node, r, *classes):
    base = node.base
    if base.kind == CODE:
        good = PREDEFINED[base.code].kind in classes
    else:
        good = base.kind == SCALAR and base.scalar.kind == 1
    need(good, "R5.13", base.offset, "the base of an enum or boolean is no integer type")


def _boolean(node, r, child):
    child()
    _integer(node, r, "integer", "bool")


def _array(node, r, child):
    node.dims = [_bounded(r, r.u64(), 1) for _ in range(_rank(r))]
    total = 1
    for length in node.dims:
        total *= length
        limit(total, LIMIT, "R5.11", "an array of more than 2^62 elements")
    child()


def _compound(node, r, child):
    count = _fit(r, r.u32(), 12)
    need(count >= 1, "R5.7", node.offset, "a compound without members")
    node.size = _bounded(r, r.u64())
    node.names, node.offsets = [], []
    for _ in range(count):
        node.names.append(_name(r, 0))
        node.offsets.append(_bounded(r, r.u64()))
        child()
    named = [name for name in node.names if name]
    need(not named or len(set(node.names)) == count and len(named) == count, "R5.15", node.offset,
         "some members of a compound have names and others none, or two have the same")


def _sequence(node, r, child):
    child()


def _reference(node, r, child):
    node.what = _choice(r, 1, "what a reference leads to")


def _lengths(node, *numbers):
    need(all(n >= 0 for n in numbers), "R5.38", node.offset, "a negative count or block length")


def _numbers(*counted, lengths=0):
    """Fields of a typemap: so many i64, of which the first are counts or lengths, then its base."""
    def parse_fields(node, r, child):
        node.numbers = [r.i64() for _ in range(*counted)]
        _lengths(node, *node.numbers[:lengths])
        child()
    return parse_fields


def _indexed(node, r, child):
    pairs = [(r.i64(), r.i64()) for _ in range(_fit(r, r.u64(), 16))]
    node.lengths, node.places = [a for a, _ in pairs], [b for _, b in pairs]
    _lengths(node, *node.lengths)
    child()


def _indexed_block(node, r, child):
    count = r.u64()
    node.length = r.i64()
    node.places = [r.i64() for _ in range(_fit(r, count, 8))]
    _lengths(node, node.length)
    child()


def _struct(node, r, child):
    node.lengths, node.places = [], []
    for _ in range(_fit(r, r.u64(), 18)):
        node.lengths.append(r.i64())
        node.places.append(r.i64())
        _lengths(node, node.lengths[-1])
        child()


def _subarray(node, r, child):
    rank = _rank(r)
    node.order = _choice(r, 1, "an order")
    rows = [(r.i64(), r.i64(), r.i64()) for _ in range(rank)]
    node.sizes, node.subsizes, node.starts = map(list, zip(*rows))
    need(all(0 <= b <= a and 0 <= c <= a - b for a, b, c in rows), "R5.38", node.offset,
         "a subarray outside its sizes")
    child()


def _darray(node, r, child):
    rank = _rank(r)
    node.order = _choice(r, 1, "an order")
    node.processes, node.process = r.u32(), r.u32()
    rows = [(r.i64(), _choice(r, 2, "a distribution"), r.i64(), r.u32()) for _ in range(rank)]
    node.sizes, node.distributions, node.arguments, node.grid = map(list, zip(*rows))
    child()


_FIELDS = {
    CODE: _code, SCALAR: _scalar, STRING: _string, OPAQUE: _opaque, ENUM: _enum, BOOLEAN: _boolean,
    ARRAY: _array, COMPOUND: _compound, SEQUENCE: _sequence, VSTRING: lambda node, r, child: None,
    REFERENCE: _reference, CONTIGUOUS: _numbers(1, lengths=1),
    VECTOR: _numbers(3, lengths=2), HVECTOR: _numbers(3, lengths=2),
    INDEXED: _indexed, HINDEXED: _indexed, INDEXED_BLOCK: _indexed_block,
    HINDEXED_BLOCK: _indexed_block, STRUCT: _struct, SUBARRAY: _subarray, DARRAY: _darray,
    RESIZED: _numbers(2), DUP: _sequence,
}


def check_use(root, stored, offset):
    """What the types of datasets (`stored`) and of attributes may hold (R5.16, R5.17)."""
    for node in root.nodes():
        need(node.kind < CONTIGUOUS, "R5.16", offset, "a dataset or attribute of type kind %d"
             % node.kind)
    check_layout(root, stored)


def check_layout(root, stored):
    for node in root.nodes():
        if node.kind == COMPOUND:
            need(node.laid_out == stored, "R5.17", node.offset, "a compound is%s laid out"
                 % ("" if node.laid_out else " not"))
            need(stored or not (node.size or any(node.offsets)), "R5.17", node.offset,
                 "a compound that is not laid out has a size or offsets")
