# SPDX-License-Identifier: MIT
"""Pack units (PACK.md)."""

from .errors import need
from .header import MAX_HEADER, REP, Representation, records
from .records import sum64

MAGIC = bytes.fromhex("894452550d0a1a0a")


class Unit:
    """One unit at the beginning of `data`; `size` says where the next one may begin."""

    def __init__(self, data):
        need(len(data) >= 48 and data[:8] == MAGIC, "R12.1", 0, "this is no pack unit")
        version = int.from_bytes(data[8:10], "big")
        need(version == 5, "R12.1", 8, "a pack unit of version %d" % version)
        length = int.from_bytes(data[12:16], "big")
        self.items = int.from_bytes(data[16:24], "big")
        count = int.from_bytes(data[24:32], "big")
        need(length <= MAX_HEADER and count <= 1 << 62, "R12.1", 12,
             "a pack unit with a header or data that are too long")
        begin = 48 + length
        self.size = begin + count
        need(self.size <= len(data), "R12.1", len(data), "the pack unit is cut")
        need(sum64(data[:begin - 8]) == int.from_bytes(data[begin - 8:begin], "big"), "R12.1",
             begin - 8, "the sum of the header is wrong")
        self.data = data[begin:self.size]
        need(sum64(self.data) == int.from_bytes(data[32:40], "big"), "R12.1", 32,
             "the sum of the data is wrong")
        found = list(records(data[40:40 + length], 40, "R3.1"))
        need([tag for tag, _ in found] == [REP], "R12.2", 40, "a pack unit has one REP")
        self.rep = Representation(found[0][1])
        need(self.rep.number == 0 and self.rep.flags == 0, "R12.2", 40,
             "the representation of a pack unit has a number or flags")
