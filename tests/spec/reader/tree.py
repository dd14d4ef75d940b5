# SPDX-License-Identifier: MIT
"""Blocks and the tree (SPEC.md 4)."""

from collections import namedtuple

from .errors import need
from .records import decode_text, sum64
from .slots import BLOCKS, Reference

NODE, VALUE, PENDING, CONTINUATION, SUMS = range(1, 6)
FREE, LOG, TYPE, FILES = 1, 2, 3, 4
OBJECT, DATA, LINK, DIM, ATTR, CHUNK, USER = 16, 24, 32, 34, 48, 64, 80
STRUCTURE, ATTRIBUTES = 0, 1  # The spaces of keys that have a meaning here.
HEAD = 40
MAX_NODE, MAX_KEY, MAX_VALUE, MAX_FAR, MAX_LEVEL = 16384, 1040, 2048, 256 << 20, 15

Block = namedtuple("Block", "offset level count content")


class Space:
    """The file's bytes behind the slots, as one commit sees them."""

    def __init__(self, source, end, uuid, sequence):
        self.source, self.end, self.uuid, self.sequence = source, end, uuid, sequence
        self.blocks = {}  # Every block that was read, by its place: its length.

    def read(self, offset, length, what):
        need(BLOCKS <= offset and offset + length <= self.end, "R2.14", offset,
             "%s of %d bytes lies outside the allocated space" % (what, length))
        return self.source.read(offset, length)

    def block(self, reference, kind, level, limit):
        """The block that a reference leads to; `level` None takes any."""
        at = reference.offset
        need(reference.length >= HEAD, "R4.4", at, "a block of %d bytes" % reference.length)
        need(reference.length <= limit + HEAD, "R1.5", at, "a block of %d bytes is too long"
             % reference.length)
        data = self.read(at, reference.length, "a block")
        need(at % 64 == 0, "R4.1", at, "a block does not begin at a multiple of 64")
        need(data[:4] == b"DRPB" and data[6:8] == b"\0\0", "R4.2", at, "this is no block")
        stored = int.from_bytes(data[32:40], "big")
        computed = sum64(data[:32] + bytes(8) + data[40:])
        need(stored == computed == reference.checksum, "R4.3", at, "a block's sum is wrong")
        need(int.from_bytes(data[24:28], "big") == reference.length, "R4.4", at + 24,
             "a block has another length than its reference says")
        need(data[4] == kind and (data[5] == level or level is None), "R4.5", at + 4,
             "a block of kind %d, level %d stands where kind %d was looked for"
             % (data[4], data[5], kind))
        need(kind == NODE or data[5] == 0, "R4.5", at + 5, "a level in a block that is no node")
        need(data[8:16] == self.uuid[:8], "R4.6", at + 8, "a block of another file")
        need(1 <= int.from_bytes(data[16:24], "big") <= self.sequence, "R4.7", at + 16,
             "a block of a later commit")
        count = int.from_bytes(data[28:32], "big")
        need(kind not in (VALUE, CONTINUATION) or count == 0, "R4.8", at + 28, "a count of %d"
             % count)
        self.blocks[at] = reference.length
        return Block(at, data[5], count, data[HEAD:])


class Entry:
    """A key's tail with its value, which may stand in a block of its own."""

    def __init__(self, space, object_id, tag, tail, value, offset, far):
        self.space, self.id, self.tag, self.tail = space, object_id, tag, tail
        self._value, self._offset, self._far = value, offset, far

    @property
    def value(self):
        if self._far:
            block = self.space.block(Reference(self._value), VALUE, 0, MAX_FAR)
            self._value, self._offset, self._far = block.content, block.offset + HEAD, False
        return self._value

    @property
    def offset(self):
        """Where the value stands in the file."""
        self.value
        return self._offset


def entries(space, root):
    """All entries of the tree in order: (key, value, offset of the value, far)."""
    # Each piece of work is a node still to be read, between the separators of its ancestors.
    work = [(root, None, b"", None)]
    while work:
        reference, level, low, high = work.pop()
        need(reference.length <= MAX_NODE, "R4.9", reference.offset, "a node of %d bytes"
             % reference.length)
        node = space.block(reference, NODE, level, MAX_NODE)
        need(node.level <= MAX_LEVEL, "R4.17", node.offset + 5, "a node at level %d" % node.level)
        found = list(node_entries(node))
        for number, (key, _, at, _) in enumerate(found):
            first_inner = node.level > 0 and number == 0
            need((key >= low or first_inner) and (high is None or key < high), "R4.16", at,
                 "a key lies outside the separators above it")
        if node.level == 0:
            yield from found
            continue
        keys = [max(low, key) for key, _, _, _ in found] + [high]
        for number in reversed(range(len(found))):
            work.append((Reference(found[number][1]), node.level - 1, keys[number],
                         keys[number + 1]))


def node_entries(node):
    data, position, before = node.content, 0, None
    need(node.count >= 1, "R4.9", node.offset + 28, "a node without entries")
    for _ in range(node.count):
        at = node.offset + HEAD + position
        need(position + 4 <= len(data), "R4.9", at, "a node ends within its entries")
        head = int.from_bytes(data[position:position + 4], "big")
        shared, suffix, length = head >> 24, head >> 13 & 0x7ff, head >> 1 & 0xfff
        far = bool(head & 1)
        need(shared <= len(before or b""), "R4.10", at, "an entry shares more bytes than there are")
        position += 4
        need(position + suffix + length <= len(data), "R4.9", at,
             "a node ends within its entries")
        key = (before or b"")[:shared] + data[position:position + suffix]
        position += suffix
        value = data[position:position + length]
        position += length
        need(len(key) <= MAX_KEY, "R4.11", at, "a key of %d bytes" % len(key))
        need(before is None or before < key, "R4.12", at, "keys do not ascend")
        before = key
        if node.level:
            need(not far and length == 20, "R4.15", at, "an interior entry is no reference")
        elif far:
            need(length == 20, "R4.14", at, "a reference of %d bytes" % length)
        else:
            need(length <= MAX_VALUE, "R4.13", at, "a value of %d bytes in a leaf" % length)
        yield key, value, node.offset + HEAD + position - length, far
    need(position == len(data), "R4.9", node.offset + HEAD + position,
         "a node has bytes behind its entries")


TAIL_SIZE = {FREE: 8, LOG: 8, TYPE: 4, FILES: 4, OBJECT: 0, DATA: 0, USER: 9}
FILE_TAGS = (FREE, LOG, TYPE, FILES)
KNOWN_TAGS = (FREE, LOG, TYPE, FILES, OBJECT, DATA, LINK, DIM, ATTR, CHUNK, USER)


class Tree:
    """The entries of one commit, by object and tag."""

    def __init__(self, space, root, next_object, next_type):
        self.space, self.next_object, self.next_type = space, next_object, next_type
        self.objects = {}  # id: {tag: [Entry, ...]}
        for key, value, offset, far in entries(space, root):
            self._add(key, value, offset, far)
        for number, tags in self.objects.items():
            need(number == 0 or OBJECT in tags, "R4.21", None, "object %d has entries and no OBJECT"
                 % number)

    def _add(self, key, value, offset, far):
        need(len(key) >= 10, "R4.18", offset, "a key of %d bytes" % len(key))
        part, number, tag, tail = key[0], int.from_bytes(key[1:9], "big"), key[9], key[10:]
        if part > ATTRIBUTES:
            tag = None  # Only a later version or an application knows what it means (R4.20).
        if tag in KNOWN_TAGS:
            need((part == ATTRIBUTES) == (tag == ATTR), "R4.19", offset,
                 "an entry with tag %d stands in space %d" % (tag, part))
            need((number == 0) == (tag in FILE_TAGS), "R4.19", offset,
                 "object %d has an entry with tag %d" % (number, tag))
            need(len(tail) == TAIL_SIZE.get(tag, len(tail)), "R4.19", offset,
                 "tag %d has a tail of %d bytes" % (tag, len(tail)))
        need(number < self.next_object, "R2.18", offset, "object id %d is not given yet" % number)
        if tag == TYPE:
            need(int.from_bytes(tail, "big") < self.next_type, "R2.18", offset,
                 "a datatype number is not given yet")
        entry = Entry(self.space, number, tag, tail, value, offset, far)
        self.objects.setdefault(number, {}).setdefault(tag, []).append(entry)

    def of(self, number, tag):
        return self.objects.get(number, {}).get(tag, [])


def name_of(entry):
    """The name in the tail of a LINK, DIM or ATTR (R7.10)."""
    at = entry._offset
    need(len(entry.tail) >= 1, "R7.10", at, "a name of no bytes")
    name = decode_text(entry.tail, at, "a name")
    if entry.tag != ATTR:
        need("/" not in name and name not in (".", ".."), "R7.10", at, "the name %r" % name)
    return name


