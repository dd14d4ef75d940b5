# SPDX-License-Identifier: MIT
"""Slots: which state of the file counts (SPEC.md 2)."""

import struct

from .errors import ReadError, need
from .records import sum64

MAGIC = bytes.fromhex("894452500d0a1a0a")
SIZE = 4096
BLOCKS = 8192  # The first byte behind the slots.
END_BIT = 1
MAX_END = 1 << 62


class Reference:
    """A block's place, length and sum."""

    def __init__(self, data):
        self.offset, self.length, self.checksum = struct.unpack(">QIQ", data)
        self.none = not any(data)


class Slot:
    """The fields of a whole slot that begins at `offset`."""

    def __init__(self, data, offset):
        self.data, self.offset = data, offset
        (self.major, self.minor, self.header_size, self.sequence, self.uuid, self.incompatible,
         self.write_incompatible, self.compatible, self.end, self.time, root, pending, continuation,
         self.extent, self.extent_size, self.next_object,
         self.next_type) = struct.unpack_from(">8xHHIQ16sQQQQq20s20s20sQQQI", data)
        self.root, self.pending = Reference(root), Reference(pending)
        self.continuation = Reference(continuation)

    @property
    def at_end(self):
        return bool(self.incompatible & END_BIT)

    @property
    def header(self):
        return self.data[256:256 + self.header_size]


def whole(data, offset):
    """The slot, or None if it is not whole (R2.1).  Version and features come first of all."""
    if len(data) < SIZE or data[:8] != MAGIC:
        return None
    if sum64(data[:SIZE - 8]) != int.from_bytes(data[SIZE - 8:], "big"):
        return None
    slot = Slot(data, offset)
    version = "version %d.%d" % (slot.major, slot.minor)
    if slot.major == 0:
        version = "draft %d of the format" % slot.minor
    elif version == "version 1.0":
        version = "draft 1 of the format, which called itself 1.0"
    need((slot.major, slot.minor) == (0, 5) or slot.major == 1 and slot.minor >= 1, "R2.4", offset + 8,
         "the file is of %s; this reader reads every 1.x from 1.1 on, and draft 5" % version)
    unknown = slot.incompatible & ~END_BIT
    need(not unknown, "R2.8", offset + 40, "the file has unknown incompatible features: bits %s"
         % ", ".join(str(bit) for bit in range(64) if unknown >> bit & 1))
    return slot


def choose(source):
    """The slot that is the file's state, the valid ones, and notes about damage (R2.1 to R2.21)."""
    first, second = source.read(0, SIZE), source.read(SIZE, SIZE)
    a, b = whole(first, 0), whole(second, SIZE)
    for slot in (a, b):
        need(slot is None or not slot.at_end or slot.sequence == 1, "R2.21", 16 + SIZE * (slot is b),
             "a slot with bit `end` has another sequence than 1")
    if a and (a.sequence % 2 == 0 or a.sequence >= 1 << 62):
        a = None
    if b and (b.sequence % 2 or b.sequence == 0 or b.sequence >= 1 << 62):
        b = None
    later = any(one and one.sequence > 1 for one in (a, b))
    notes = ["slot %s is damaged: the state shown may be the commit before the last" % name
             for name, data, slot in (("A", first, a), ("B", second, b))
             if slot is None and (any(data) or later)]
    if a and b:
        need(a.uuid == b.uuid, "R2.6", SIZE + 24, "the two slots have different UUIDs")
    if b is None and (a is None or a.at_end):
        chosen = at_end(source, a, first, second)
        valid = [chosen]
    else:
        valid = [slot for slot in (a, b) if slot and not slot.at_end]
        chosen = max(valid, key=lambda slot: slot.sequence)
    check(chosen, source.size)
    return chosen, valid, notes


def at_end(source, a, first, second):
    """The slot in the last 4,096 bytes (R2.20)."""
    place = source.size - SIZE
    slot = whole(source.read(place, SIZE), place) if place >= BLOCKS else None
    if (slot and slot.at_end and slot.sequence == 1 and slot.end == place and not slot.root.none
            and (a is None or a.uuid == slot.uuid)):
        return slot
    need(a is None, "R2.20", max(place, 0), "the file is truncated: its slot at the end is missing")
    need(MAGIC in (first[:8], second[:8]), "R2.1", 0, "this is no Datarep file")
    raise ReadError("R2.5", 0, "the file has no valid slot")


def check(slot, size):
    at = slot.offset
    need(slot.header_size <= 3832, "R2.11", at + 12, "the header proper does not fit the slot")
    need(not any(slot.data[256 + slot.header_size:SIZE - 8]), "R2.12", at + 256 + slot.header_size,
         "bytes behind the header proper are not zero")
    need(BLOCKS <= slot.end <= MAX_END, "R2.13", at + 64, "the end of allocated space is %d"
         % slot.end)
    need(slot.end <= size, "R2.13", at + 64, "the file is truncated: it has %d of %d bytes"
         % (size, slot.end))
    need(not slot.root.none, "R2.15", at + 80, "the slot names no root")
    if slot.extent == 0:
        need(slot.extent_size == 0, "R2.16", at + 148, "a metadata extent without an offset")
    else:
        need(BLOCKS <= slot.extent and slot.extent + slot.extent_size <= slot.end, "R2.16",
             at + 140, "the metadata extent lies outside the allocated space")
