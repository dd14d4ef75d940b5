#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""part1.py FILE - the reader of Part I of SPEC.md: prints `pi` and `tide` of part1.drep.

It is the skeleton of a reader, and trusts what a reader of strangers' files checks."""
import struct
import sys
import zlib

from xxhash import xxh3_64_intdigest as xxh3  # pip install xxhash

f = open(sys.argv[1], "rb").read()
OBJECT, DATA, LINK, CHUNK = 16, 24, 32, 64


def state():
    """the newer of the valid slots"""
    slots = [f[at:at + 4096] for at in (0, 4096)]
    good = [s for s in slots if s[:8] == b"\x89DRP\r\n\x1a\n"
            and xxh3(s[:4088]) == int.from_bytes(s[4088:], "big")]
    return max(good, key=lambda s: s[16:24])


def node(reference):
    """-> level, [(key, value)]; nothing is believed before its sum"""
    at, size, total = struct.unpack(">QIQ", reference)
    b = f[at:at + size]
    if xxh3(b[:32] + bytes(8) + b[40:]) != total:
        sys.exit("damaged node at byte %d" % at)
    entries, p, key = [], 40, b""
    while p < size:
        head, = struct.unpack(">I", b[p:p + 4])
        shared, suffix, length = head >> 24, head >> 13 & 2047, head >> 1 & 4095
        key, p = key[:shared] + b[p + 4:p + 4 + suffix], p + 4 + suffix + length
        value = b[p - length:p]
        if head & 1:                      # far: the value has a block of its own
            at, far = struct.unpack(">QI", value[:12])
            value = f[at + 40:at + far]
        entries.append((key, value))
    return b[5], entries


def key_of(ident, tag, tail=b""):
    return struct.pack(">BQB", 0, ident, tag) + tail


def find(key):
    """the last entry that is not behind the key"""
    reference = state()[80:100]
    while True:
        level, entries = node(reference)
        before = [e for e in entries if e[0] <= key] or entries[:1]
        if level == 0:
            return before[-1]
        reference = before[-1][1]


def var(r):
    """7 bits a byte, the lowest first"""
    n = shift = 0
    while True:
        byte = r.pop(0)
        n, shift = n | (byte & 127) << shift, shift + 7
        if byte < 128:
            return n


def dataset(ident):
    """its record: type, layout, lengths, chunks, filters"""
    r = bytearray(find(key_of(ident, OBJECT))[1])
    kind, flags = r.pop(0), r.pop(0)
    var(r), var(r), var(r)                # hard links, next attribute, changed
    datatype, rep, layout, rank = var(r), var(r), r.pop(0), r.pop(0)
    lengths = [var(r) for _ in range(rank)]
    for bit in (1, 2):                    # maxima, dimensions
        if flags & bit:
            [var(r) for _ in range(rank)]
    cells, filters = [var(r) for _ in range(rank)] if layout == 3 else [], []
    suffix = r.pop(0) if layout == 3 else 0
    for _ in range(r.pop(0)):
        number, flag, n = struct.unpack(">HBB", r[:4])
        filters.append((number, struct.unpack(">%dI" % r[4 + n], r[5 + n:5 + n + 4 * r[4 + n]])))
        del r[:5 + n + 4 * r[4 + n]]
    return datatype, layout, lengths, cells, filters


def chunk(ident, number):
    """the stored bytes of a chunk of a one-dimensional dataset"""
    key, r = find(key_of(ident, CHUNK, struct.pack(">Q", number)))
    row = number - struct.unpack(">Q", key[-8:])[0]
    if r[0] != 2 or row >= r[2]:
        sys.exit("no packed row for chunk %d" % number)
    skipped, at = struct.unpack(">IQ", r[4:16])
    rows = [struct.unpack(">IQ", r[p:p + 12]) for p in range(16, 16 + 12 * r[2], 12)]
    at += sum(size for size, _ in rows[:row])
    data = f[at:at + rows[row][0]]
    if xxh3(data) != rows[row][1]:
        sys.exit("damaged chunk at byte %d" % at)
    return data, skipped


def elements(data, skipped, filters):
    """undo the filters, then read the numbers"""
    for i, (number, parameters) in reversed(list(enumerate(filters))):
        if number == 16 and not skipped >> i & 1:
            data = zlib.decompress(data)
        if number == 1 and not skipped >> i & 1:
            n = len(data) // parameters[0]
            data = bytes(data[j * n + i] for i in range(n) for j in range(parameters[0]))
    return struct.unpack(">%di" % (len(data) // 4), data)


def member(name):
    """the object that a name in the root leads to"""
    key, record = find(key_of(1, LINK, name.encode()))
    return record[-1] if key == key_of(1, LINK, name.encode()) else sys.exit("no " + name)


pi, tide = member("pi"), member("tide")
print(struct.unpack(">d", find(key_of(pi, DATA))[1])[0])
lengths, cells, filters = dataset(tide)[2:]
for number in range(-(-lengths[0] // cells[0])):
    print(*elements(*chunk(tide, number), filters))
