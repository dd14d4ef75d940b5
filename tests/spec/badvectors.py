# SPDX-License-Identifier: MIT
"""badvectors.py - files that break exactly one *must* each, and how each must be refused.

EXPECT holds lines `NAME CATEGORY RULE [check]`: a name from errors.def (or two, where the page
leaves the choice, as for limits); the rule of SPEC.md that the file breaks, which both readers name (A|B: either);
`check` marks what only a check of the whole file has to find.
"""

import os
import struct

import borrowed
import codes as C
import drepwrite
from drepwrite import Builder, i64, resum, u8, u16, u32, u64, var
from vectors import description

BAD = []


def bad(category, rule, where=""):
    """Registers a function that gives a Builder (not yet committed) or an image."""
    assert rule.startswith("R"), rule

    def register(function):
        BAD.append((function.__name__.replace("_", "-"), category, rule, where, function))
        return function
    return register


def sample(**more):
    b = Builder(**more)
    d = b.dataset(1, "d", "INT", (), data=[7])
    b.attr(d, "a", "INT", 1)
    return b


def image(b):
    b.commit()
    return b.image()


def patched(offset, raw, b=None):
    """A sample with some bytes of slot A replaced and its sum set right."""
    data = bytearray(image(b or sample()))
    data[offset:offset + len(raw)] = raw
    return resum(data)


# ---- slots

@bad("NOT_DREP", "R2.1")
def bad_magic():
    return patched(0, b"\x88")


@bad("CHECKSUM", "R2.5")
def slot_sum():
    data = bytearray(image(sample()))
    data[3000] ^= 1
    return bytes(data)


@bad("CHECKSUM|FORMAT", "R2.5|R2.2")
def slot_parity():
    return patched(16, u64(2))


@bad("CHECKSUM|FORMAT", "R2.5|R2.2")
def slot_sequence_beyond():
    return patched(16, u64((1 << 62) + 1))


def beside_a_good_one(offset, raw):
    """The second of two commits with some bytes of its slot replaced and its sum set right."""
    b = sample()
    b.commit()
    data = bytearray(image(b))
    data[4096 + offset:4096 + offset + len(raw)] = raw
    return resum(data, 1)


@bad("CHECKSUM", "R2.3|R2.2", "check")
def slot_parity_beside_a_good_one():
    return beside_a_good_one(16, u64(3))


@bad("CHECKSUM", "R2.3", "check")
def slot_damaged_beside_a_good_one():
    data = bytearray(beside_a_good_one(0, b""))
    data[4096 + 2000] ^= 1
    return bytes(data)


@bad("CHECKSUM", "R2.3", "check")
def slot_lost_beside_a_good_one():
    data = beside_a_good_one(0, b"")
    return bytes(4096) + data[4096:]


@bad("CHECKSUM|FORMAT", "R2.6")
def two_uuids():
    b = sample()
    b.commit()
    data = bytearray(image(b))
    data[4096 + 24] ^= 1
    return resum(data, 1)


@bad("VERSION", "R2.4")
def newer_major():
    return patched(8, u16(2))


@bad("VERSION", "R2.4")
def draft_1():
    return patched(8, u16(1) + u16(0))


@bad("VERSION", "R2.4")
def draft_4():
    return patched(8, u16(0) + u16(4))


@bad("VERSION", "R2.4")
def newer_draft():
    return patched(8, u16(0) + u16(6))


@bad("VERSION", "R2.4")
def draft_1_in_the_other_slot():
    b = sample()
    b.commit()
    data = bytearray(image(b))
    data[8:12] = u16(1) + u16(0)
    return resum(data)


@bad("UNSUPPORTED", "R2.8")
def unknown_incompatible_of_1_3():
    return patched(8, u16(1) + u16(3) + patched(0, b"")[12:40] + u64(2))


@bad("UNSUPPORTED", "R2.8")
def unknown_incompatible():
    return patched(40, u64(1 << 17))


@bad("TRUNCATE", "R2.13")
def truncated():
    return image(sample())[:-64]


@bad("TRUNCATE", "R2.13")
def truncated_in_slots():
    return image(sample())[:5000]


@bad("FORMAT", "R2.13")
def end_in_slots():
    return patched(64, u64(4096))


@bad("FORMAT", "R2.15")
def no_root():
    return patched(80, bytes(20))


@bad("FORMAT|LIMIT", "R2.11")
def header_too_long():
    return patched(12, u32(3833))


# ---- the slot at the end

def streamed():
    b = sample()
    b.at_end = True
    return bytearray(image(b))


def resum_end(data):
    data[-8:] = u64(drepwrite.borrowed.xxh3(bytes(data[-4096:-8])))
    return bytes(data)


@bad("TRUNCATE", "R2.20")
def stream_cut():
    return bytes(streamed()[:-64])


@bad("TRUNCATE", "R2.20")
def stream_cut_in_payload():
    return bytes(streamed()[:8192 + 64])


@bad("TRUNCATE", "R2.20")
def stream_only_begun():
    return bytes(streamed()[:8192])


@bad("TRUNCATE", "R2.20")
def stream_appended_to():
    return bytes(streamed()) + bytes(64)


@bad("TRUNCATE", "R2.20")
def stream_end_sum():
    data = streamed()
    data[-1000] ^= 1
    return bytes(data)


@bad("TRUNCATE", "R2.20")
def stream_end_of_another():
    data = streamed()
    data[-4096 + 24] ^= 1
    return resum_end(data)


@bad("TRUNCATE", "R2.20")
def stream_end_elsewhere():
    """The end of allocated space is not where the slot stands."""
    data = streamed()
    data[-4096 + 64:-4096 + 72] = u64(len(data))
    return resum_end(data)


@bad("TRUNCATE", "R2.20")
def stream_end_without_bit():
    data = streamed()
    data[-4096 + 40:-4096 + 48] = u64(0)
    return resum_end(data)


@bad("TRUNCATE", "R2.20")
def stream_end_sequence():
    data = streamed()
    data[-4096 + 16:-4096 + 24] = u64(3)
    return resum_end(data)


@bad("TRUNCATE", "R2.20")
def stream_end_no_root():
    data = streamed()
    data[-4096 + 80:-4096 + 100] = bytes(20)
    return resum_end(data)


@bad("FORMAT", "R2.12")
def stream_end_trailing():
    data = streamed()
    data[-4096 + 4000] = 1
    return resum_end(data)


@bad("FORMAT", "R2.14")
def stream_end_root_outside():
    data = streamed()
    data[-4096 + 80:-4096 + 88] = u64(1 << 40)
    return resum_end(data)


@bad("FORMAT", "R2.16")
def stream_end_metadata_outside():
    data = streamed()
    data[-4096 + 140:-4096 + 156] = u64(1 << 40) + u64(64)
    return resum_end(data)


@bad("UNSUPPORTED", "R2.8")
def stream_end_unknown_incompatible():
    data = streamed()
    data[-4096 + 40:-4096 + 48] = u64(1 | 1 << 17)
    return resum_end(data)


@bad("UNSUPPORTED", "R2.8")
def unknown_incompatible_in_older_slot():
    b = sample()
    b.commit()
    data = bytearray(image(b))
    data[40:48] = u64(1 << 17)
    return resum(data)


@bad("FORMAT", "R2.21")
def at_end_later():
    """The feature in the third commit."""
    b = sample()
    b.commit()
    b.commit()
    data = bytearray(image(b))
    data[40:48] = u64(1)
    return resum(data)


@bad("FORMAT", "R2.21")
def at_end_later_in_older_slot():
    """The feature in the third commit, which the fourth followed."""
    b = sample()
    for _ in range(3):
        b.commit()
    data = bytearray(image(b))
    data[40:48] = u64(1)
    return resum(data)


@bad("FORMAT", "R2.21")
def at_end_in_slot_b():
    b = sample()
    b.commit()
    data = bytearray(image(b))
    data[4096 + 40:4096 + 48] = u64(1)
    return resum(data, 1)


@bad("FORMAT", "R2.21")
def at_end_later_beside_end():
    """The slot at the end is whole; slot A says another sequence."""
    data = streamed()
    data[16:24] = u64(3)
    return resum(data)


@bad("FORMAT", "R2.21")
def at_end_with_parity_of_slot_b():
    data = streamed()
    data[16:24] = u64(2)
    return resum(data)


# ---- header proper

def header(change):
    return sample(spoil={"header": change})


def rep(change):
    """Like header(), for the one representation: its fields, then what is nested in it."""
    return sample(spoil={"rep": change})


@bad("FORMAT", "R3.4")
def rep_not_0():
    return rep(lambda r: [(1, b"\1\0\0\1\x0aexternal32")] + r[1:])


@bad("FORMAT", "R3.4")
def rep_twice():
    return header(lambda r: r[:1] * 2 + r[1:])


@bad("FORMAT", "R3.4")
def rep_order():
    b = sample()
    for name in ("internal", "native"):
        b.rep(name, table=None if name == "internal" else {8: (2, 1, 4, 4)})
    b.spoil["header"] = lambda r: [r[0], r[2], r[1]] + r[3:]
    return b


@bad("FORMAT", "R3.6")
def rep_tag_twice():
    return rep(lambda r: r + [r[-1]])


@bad("FORMAT", "R1.6|R3.6")
def rep_cut():
    """A nested record leads beyond its representation."""
    return header(lambda r: [(1, r[0][1][:-1])] + r[1:])


@bad("FORMAT", "R3.15|R8.4")
def rep_missing():
    """A dataset names a representation that is not in the header."""
    b = sample()
    o = b.objects[2]
    o["rest"] = o["rest"][:1] + u8(1) + o["rest"][2:]
    return b


@bad("FORMAT", "R3.4")
def header_not_datarep_first():
    return header(lambda r: r[1:] + r[:1])


@bad("FORMAT", "R3.4")
def header_tag_twice():
    return header(lambda r: r + [r[-1]])


@bad("FORMAT", "R1.6|R3.1")
def header_record_cut():
    """The last record's length leads beyond the header proper."""
    data = bytearray(image(sample()))
    h = struct.unpack(">I", data[12:16])[0]
    data[12:16] = u32(h - 1)
    data[256 + h - 1] = 0
    return resum(data)


@bad("FORMAT", "R3.9")
def external32_with_encodings():
    return rep(lambda r: r[:2] + [(3, u16(8) + bytes([2, 0, 4, 4, 0, 0]))] + r[2:])


@bad("FORMAT", "R3.9")
def encodings_missing():
    return rep(lambda r: [(1, b"\1\0\0\0\x03own")] + r[1:])


def own(rows=None, used=((8, 4),), extra=(), name=b"own"):
    """A declared representation with the ENCODINGS rows given."""
    rows = rows or [(8, 2, 0, 4, 4, 0)]
    table = b"".join(u16(c) + u8(f) + u8(o) + u8(s) + u8(a) + u8(k) + u8(0)
                     for c, f, o, s, a, k in rows)

    def change(records):
        return ([(1, b"\1\0\0\0" + u8(len(name)) + name),
                 (2, b"".join(u16(c) + u16(n) for c, n in used)), (3, table)] + list(extra) +
                records[2:])
    return rep(change)


@bad("FORMAT", "R3.16")
def duplicate_code():
    return own([(8, 2, 0, 4, 4, 0), (8, 2, 1, 4, 4, 0)])


@bad("FORMAT", "R3.16")
def encodings_order():
    return own([(9, 3, 0, 4, 4, 0), (8, 2, 0, 4, 4, 0)])


@bad("FORMAT", "R3.14")
def size_mismatch():
    return own(used=((8, 8),))


@bad("FORMAT", "R3.18")
def format_size():
    return own([(8, 2, 0, 4, 4, 0), (16, C.BINARY64, 0, 4, 4, 0)])


@bad("FORMAT", "R3.18")
def encoding_of_nothing():
    return own([(8, 2, 0, 0, 4, 0)])


@bad("FORMAT", "R3.18")
def bytes_of_two():
    return own([(1, C.BYTES, 0, 2, 1, 0), (8, 2, 0, 4, 4, 0)])


@bad("FORMAT", "R3.18")
def complex_of_odd_size():
    return own([(8, 2, 0, 4, 4, 0), (27, C.BINARY32, 0, 9, 4, 0)])


@bad("FORMAT", "R3.19")
def format_class():
    return own([(8, C.BINARY32, 0, 4, 4, 0)])


@bad("FORMAT", "R3.20")
def row_last_byte():
    return rep(lambda r: [(1, b"\1\0\0\0\x03own"), r[1],
                          (3, u16(8) + bytes([2, 0, 4, 4, 0, 1]) + u16(16) + bytes([21, 0, 8, 8, 0, 0]))] + r[2:])


@bad("FORMAT", "R3.20")
def row_align():
    return own([(8, 2, 0, 4, 3, 0)])


@bad("FORMAT", "R3.20")
def row_align_of_none():
    return own([(8, 2, 0, 4, 0, 0)])


@bad("FORMAT", "R3.21")
def custom_missing():
    return own([(8, 255, 0, 4, 4, 1)], extra=[(4, description(1, 0, 4, precision=32))])


@bad("FORMAT", "R3.14")
def row_missing():
    return own([(16, C.BINARY64, 0, 8, 8, 0)])


@bad("FORMAT", "R3.16")
def extents_order():
    b = sample()
    b.dataset(1, "e", "DOUBLE", (), data=[1.0])
    b.spoil["rep"] = lambda r: [r[0], (2, r[1][1][4:] + r[1][1][:4])] + r[2:]
    return b


@bad("FORMAT", "R3.16")
def extents_order_behind_an_unknown_code():
    b = sample()
    b.dataset(1, "e", "DOUBLE", (), data=[1.0])
    b.spoil["rep"] = lambda r: [r[0], (2, u16(8) + u16(4) + u16(0x8000) + u16(1) + u16(16) + u16(8))] + r[2:]
    return b


@bad("FORMAT", "R3.16")
def encodings_order_of_unknown_codes():
    return own([(8, 2, 0, 4, 4, 0), (0x8001, 2, 0, 4, 4, 0), (0x8000, 2, 0, 4, 4, 0)])


@bad("FORMAT", "R3.16")
def witnesses_order_of_unknown_codes():
    return rep(lambda r: r + [(5, u16(8) + u8(1) + u8(4) + bytes(4) + (u16(99) + u8(3) + u8(2) + bytes(6)) * 2)])


@bad("FORMAT", "R1.6|R3.6")
def witnesses_cut_behind_an_unknown_code():
    return rep(lambda r: r + [(5, u16(99) + u8(3) + u8(2) + bytes(5))])


@bad("FORMAT", "R3.15")
def extents_unlisted():
    return rep(lambda r: [r[0]] + r[2:])


def lacking(t):
    """A dataset of a representation that has DOUBLE alone."""
    b = Builder()
    b.dataset(1, "k", "DOUBLE", (1,), data=[1.0])
    b.spoil["rep"] = lambda r: [(1, b"\1\0\0\0\x03own"), (2, u16(16) + u16(8)),
                                (3, u16(16) + bytes([C.BINARY64, 0, 8, 8, 0, 0]))] + r[2:]
    b.dataset(1, "e", t, (1,), "compact")
    return b


@bad("FORMAT", "R3.15")
def nothing_of_a_code():
    return lacking("INT")


@bad("FORMAT", "R3.15")
def nothing_of_a_member():
    return lacking(("struct", [("a", "DOUBLE"), ("b", ("array", [2], "INT"))]))


@bad("FORMAT", "R3.15")
def nothing_of_an_enum():
    return lacking(("enum", "INT", [("A", 1)]))


@bad("FORMAT", "R8.4|R3.15", "check")
def no_representation_under_an_unknown_layout():
    b = sample()
    d = b.dataset(1, "e", "INT", (2,))
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u8(0) + u8(0) + u8(1) + u8(2), u8(9) + u8(9) + u8(1) + u8(2))
    return b


@bad("FORMAT", "R3.14")
def extents_wrong():
    return rep(lambda r: [r[0], (2, u16(8) + u16(8))] + r[2:])


@bad("FORMAT", "R3.7")
def empty_name():
    return own(name=b"")


@bad("FORMAT", "R3.26")
def hints_order():
    return header(lambda r: r + [(6, u16(1) + b"b" + u16(1) + b"1" + u16(1) + b"a" + u16(1) + b"1")])


def hint(key, value):
    return header(lambda r: r + [(6, u16(len(key)) + key + u16(len(value)) + value)])


@bad("FORMAT", "R3.26")
def hint_key_empty():
    return hint(b"", b"1")


@bad("FORMAT", "R3.26")
def hint_value_empty():
    return hint(b"a", b"")


@bad("FORMAT", "R3.26|R1.3")
def hint_value_nul():
    return hint(b"a", b"1\0")


@bad("FORMAT", "R3.26|R1.3")
def hint_key_not_utf8():
    return hint(b"\xff", b"1")


@bad("FORMAT", "R3.26")
def hint_key_long():
    return hint(b"a" * 256, b"1")


# ---- blocks and nodes

def node(change):
    return sample(spoil={"node": change})


def setter(offset, raw):
    def change(block):
        block[offset:offset + len(raw)] = raw
    return change


@bad("CHECKSUM", "R4.3")
def block_sum():
    data = bytearray(image(sample()))
    data[8192 + 60] ^= 1
    return bytes(data)


@bad("CHECKSUM", "R4.3")
def reference_sum():
    return patched(92, b"\0" * 8)


@bad("FORMAT", "R4.2")
def block_magic():
    return node(setter(0, b"DRPX"))


@bad("FORMAT", "R4.5")
def block_kind():
    def change(block):
        block[4:5] = b"\2"
        block[28:32] = u32(0)
    return node(change)


@bad("FORMAT", "R4.6")
def block_uuid():
    return node(setter(8, b"\0"))


@bad("FORMAT", "R4.7")
def block_sequence():
    return node(setter(16, u64(2)))


@bad("FORMAT", "R4.4")
def block_length():
    return node(setter(24, u32(999)))


@bad("FORMAT", "R2.14")
def block_outside():
    return patched(80, u64(1 << 40))


@bad("FORMAT", "R2.14")
def block_in_slots():
    return patched(80, u64(4096))


@bad("FORMAT", "R4.1")
def block_unaligned():
    data = bytearray(image(sample()))
    length = struct.unpack(">I", data[88:92])[0]
    data += bytes(64)
    data[8192 + 32:8192 + 32 + length] = data[8192:8192 + length]
    data[80:88] = u64(8192 + 32)
    data[64:72] = u64(len(data))
    return resum(data)


@bad("FORMAT", "R4.9")
def node_empty():
    b = sample()
    b.spoil["entries"] = lambda e: []
    return b


@bad("FORMAT", "R4.9")
def node_count():
    def change(block):
        block[28:32] = u32(struct.unpack(">I", block[28:32])[0] - 1)
    return node(change)


@bad("FORMAT", "R4.12")
def node_order():
    def change(entries):
        entries[-2:] = entries[:-3:-1]
        return entries
    return sample(spoil={"entries": change})


@bad("FORMAT", "R4.12")
def node_same_key():
    return sample(spoil={"entries": lambda e: e + [e[-1]]})


@bad("FORMAT", "R4.10")
def node_first_shares():
    def change(content):
        head = struct.unpack(">I", content[:4])[0]
        return u32(head + (1 << 24)) + content[4:]
    return sample(spoil={"content": change})


@bad("FORMAT", "R4.9")
def node_trailing():
    return sample(spoil={"content": lambda c: c + b"\0"})


@bad("FORMAT|LIMIT", "R4.9")
def node_too_long():
    b = sample(node_max=1 << 30)
    for i in range(17):
        b.tree[b.key(0, 200, u8(i))] = bytes(1000)
    return b


@bad("FORMAT|LIMIT", "R4.11")
def key_too_long():
    b = sample()
    b.tree[b.key(0, 200, b"k" * 1032)] = b""
    return b


@bad("FORMAT|LIMIT", "R4.13")
def leaf_value_too_long():
    b = sample()
    b.tree[b.key(0, 200)] = bytes(2049)
    return b


@bad("FORMAT", "R4.14")
def far_value_length():
    b = sample()
    key = b.key(0, 200)
    b.tree[key] = b"x"
    b.spoil["entries"] = lambda e: [(k, 1, bytes(21)) if k == key else (k, f, v)
                                    for k, f, v in e]
    return b


@bad("FORMAT", "R4.5")
def far_value_kind():
    b = sample()
    b.dataset(1, "far", "INT", (600,), data=list(range(600)))
    b.spoil["value-tree"] = setter(4, b"\4")
    return b


def two_levels(node_max=250, **spoil):
    b = Builder(node_max=node_max, spoil=spoil)
    for i in range(6):
        b.dataset(1, "d%d" % i, "INT", (), data=[i])
    return b


@bad("FORMAT", "R4.16")
def separator():
    """A key of the second child lies below the separator that leads to it."""
    def change(entries):
        key, far, ref = entries[1]
        return [entries[0], (key + b"\xff\xff" * 8, far, ref)] + entries[2:]
    return two_levels(280, interior=change)


@bad("FORMAT", "R4.16", "check")
def separator_above():
    """The last key of the first child is not below the second separator."""
    def change(entries):
        key, far, ref = entries[1]
        return [entries[0], (b"\0" * 9 + b"\3", far, ref)] + entries[2:]
    return two_levels(interior=change)


@bad("FORMAT", "R4.5")
def child_level():
    def change(block):
        block[5] = 1
    b = two_levels()
    b.spoil["node"] = change
    return b


@bad("FORMAT|LIMIT", "R4.17")
def root_level():
    b = Builder()
    b.spoil["node"] = setter(5, u8(16))
    return b


@bad("FORMAT", "R4.15")
def interior_value():
    return two_levels(interior=lambda e: [(k, f, v + b"\0") for k, f, v in e])


# ---- datatypes

def typed(record, **more):
    """A dataset with a datatype record given in bytes."""
    b = sample(**more)
    b.shape.size = lambda t: 8
    b.dataset(1, "t", ("raw", record), (), "compact")
    return b


def scalar_type(**fields):
    return b"\2\0" + description(**fields)


@bad("FORMAT", "R5.5")
def type_missing():
    b = sample()
    d = b.dataset(1, "t", ("raw", b"\x0a\0"), (), "compact")
    b.objects[d]["rest"] = var(65536 + 9) + b.objects[d]["rest"][3:]
    return b


@bad("FORMAT", "R1.6")
def type_cut():
    return typed(b"\3\0\0\0\0")


@bad("FORMAT", "R5.15")
def member_twice():
    one = u16(1) + b"a" + u64(0) + b"\1\0\0\x08"
    two = u16(1) + b"a" + u64(4) + b"\1\0\0\x08"
    return typed(b"\x08\1" + u32(2) + u64(8) + one + two)


@bad("FORMAT", "R5.18")
def member_outside():
    return typed(b"\x08\1" + u32(1) + u64(4) + u16(1) + b"a" + u64(2) + b"\1\0\0\x08")


@bad("FORMAT", "R5.18")
def member_overlap():
    one = u16(1) + b"a" + u64(0) + b"\1\0\0\x08"
    two = u16(1) + b"b" + u64(2) + b"\1\0\0\x08"
    return typed(b"\x08\1" + u32(2) + u64(8) + one + two)


@bad("FORMAT", "R5.18")
def member_overlap_backwards():
    one = u16(1) + b"a" + u64(4) + b"\1\0\0\x08"
    two = u16(1) + b"b" + u64(1) + b"\1\0\0\x08"
    return typed(b"\x08\1" + u32(2) + u64(8) + one + two)


@bad("FORMAT", "R5.18")
def member_inside_array():
    """b lies in the gap of a's elements: its bytes are a's all the same."""
    inner = b"\x08\1" + u32(1) + u64(8) + u16(1) + b"i" + u64(0) + b"\1\0\0\x08"
    one = u16(1) + b"a" + u64(0) + b"\7\0\1" + u64(2) + inner
    two = u16(1) + b"b" + u64(4) + b"\1\0\0\x08"
    return typed(b"\x08\1" + u32(2) + u64(16) + one + two)


@bad("FORMAT", "R5.18")
def member_far_outside():
    return typed(b"\x08\1" + u32(1) + u64(8) + u16(1) + b"a" + u64((1 << 62) - 8) + b"\1\0\0\x08")


@bad("FORMAT", "R5.17")
def not_laid_out():
    return typed(b"\x08\0" + u32(1) + u64(0) + u16(1) + b"a" + u64(0) + b"\1\0\0\x08")


@bad("FORMAT", "R5.17")
def attribute_laid_out():
    b = sample()
    t = ("struct", [("a", "INT")])
    b.attr(1, "s", t, (1,), laid_out=True)
    return b


@bad("FORMAT", "R5.16")
def derived_in_dataset():
    return typed(u8(32) + u8(0) + i64(2) + b"\1\0\0\x08")


@bad("FORMAT", "R5.13")
def enum_of_real():
    return typed(b"\5\0" + u32(0) + b"\1\0\0\x10")


@bad("FORMAT", "R5.14")
def array_of_no_rank():
    return typed(b"\7\0\0\1\0\0\x08")


@bad("FORMAT", "R5.23")
def scalar_outside():
    return typed(scalar_type(cls=2, order=0, size=4, precision=32, sign=31, exp=(24, 9),
                             sig=(0, 24), bias=64))


@bad("FORMAT", "R5.23")
def scalar_overlap():
    return typed(scalar_type(cls=2, order=0, size=4, precision=32, sign=31, exp=(20, 8),
                             sig=(0, 23), bias=64))


# ---- objects, links, attributes

@bad("FORMAT", "R7.2|R4.21")
def root_missing():
    b = sample()
    b.spoil["entries"] = lambda e: [x for x in e if x[0] != b.key(1, 16)]
    return b


@bad("FORMAT", "R7.2")
def root_is_dataset():
    b = Builder()
    b.objects[1].update(kind=4, rest=var(3) + u16(0))
    return b


@bad("FORMAT", "R7.2")
def root_of_later_kind():
    b = Builder()
    b.objects[1].update(kind=9, rest=b"whatever")
    return b


@bad("FORMAT", "R7.9")
def link_to_nothing():
    b = sample()
    b.add_link(1, "x", 1, u8(2) + var(77))
    return b


@bad("FORMAT", "R4.19", "check")
def attribute_in_the_structure():
    b = sample()
    key = b.key(2, 48, b"a")
    b.tree[u8(0) + key[1:]] = b.tree.pop(key)
    return b


@bad("FORMAT", "R4.19", "check")
def link_among_attributes():
    b = sample()
    b.soft(1, "s", "x")
    key = b.key(1, 32, b"s")
    b.tree[u8(1) + key[1:]] = b.tree.pop(key)
    b.objects[1]["links"] = 1
    return b


@bad("FORMAT", "R7.9")
def link_to_an_id_of_63_bits():
    b = sample()
    b.add_link(1, "x", 1, u8(2) + var(2 | 1 << 63))
    return b


@bad("FORMAT", "R7.20", "check")
def changed_by_no_commit():
    b = sample()
    b.objects[2]["changed"] = 0
    return b


@bad("FORMAT", "R7.20", "check")
def changed_by_a_later_commit():
    b = sample()
    b.objects[2]["changed"] = 2
    return b


@bad("FORMAT", "R4.21|R2.18", "check")
def attribute_of_nothing():
    b = sample()
    b.tree[b.key(7, 48, b"a")] = b.tree[b.key(2, 48, b"a")]
    return b


@bad("FORMAT", "R7.5", "check")
def link_index_twice():
    b = sample()
    b.soft(1, "s", "x")
    b.tree[b.key(1, 32, b"s")] = u8(2) + u8(0) + var(0) + u16(1) + b"x"
    return b


@bad("FORMAT", "R7.5", "check")
def link_index_not_given():
    b = sample()
    b.soft(1, "s", "x")
    b.tree[b.key(1, 32, b"s")] = u8(2) + u8(0) + var(9) + u16(1) + b"x"
    return b


@bad("FORMAT", "R7.9", "check")
def link_kind_not_the_objects():
    b = sample()
    b.tree[b.key(1, 32, b"d")] = u8(1) + u8(0) + var(0) + u8(1) + var(2)
    return b


@bad("FORMAT", "R1.10")
def number_with_a_zero_byte():
    b = sample()
    b.tree[b.key(1, 32, b"d")] = u8(1) + u8(0) + b"\x80\0" + u8(2) + var(2)
    return b


@bad("FORMAT", "R1.10")
def number_of_eleven_bytes():
    b = sample()
    b.tree[b.key(1, 32, b"d")] = u8(1) + u8(0) + b"\x80" * 10 + b"\1" + u8(2) + var(2)
    return b


@bad("FORMAT", "R1.10")
def number_beyond_64_bits():
    b = sample()
    b.tree[b.key(1, 32, b"d")] = u8(1) + u8(0) + b"\xff" * 9 + b"\2" + u8(2) + var(2)
    return b


@bad("FORMAT", "R1.10")
def number_beyond_32_bits():
    b = sample()
    b.tree[b.key(2, 48, b"a")] = (b"\1\0" + var(1 << 32) + var(8) + u8(0) + var(7) + b"\1\2\4" +
                                  bytes(4))
    return b


@bad("FORMAT", "R7.7", "check")
def group_cycle():
    b = Builder()
    g = b.group(1, "g")
    b.link(g, "up", g)
    return b


@bad("FORMAT", "R7.10")
def link_name_slash():
    b = sample()
    b.soft(1, "a/b", "x")
    return b


@bad("FORMAT", "R7.10")
def link_name_dots():
    b = sample()
    b.soft(1, "..", "x")
    return b


@bad("FORMAT", "R7.10|R1.3")
def name_not_utf8():
    b = sample()
    b.tree[b.key(1, 32, b"\xff")] = u8(2) + u8(0) + var(1) + u16(1) + b"x"
    b.objects[1].update(next_link=2, links=2)
    return b


@bad("FORMAT", "R1.6")
def link_record_cut():
    b = sample()
    b.soft(1, "s", "x")
    b.tree[b.key(1, 32, b"s")] = u8(2) + u8(0) + var(1) + u16(9) + b"x"
    return b


@bad("FORMAT", "R7.3", "check")
def hard_link_count():
    b = sample()
    b.objects[2]["hard"] = 5
    return b


@bad("FORMAT", "R5.6", "check")
def type_uses():
    b = sample()
    b.attr(2, "s", "vstring", "x")
    b.type_uses[0] = 3
    return b


def with_value(shape, raw, t="INT"):
    b = sample()
    b.attr(2, "b", t, None, shape=shape, raw=raw)
    return b


@bad("FORMAT", "R5.37", "check")
def attribute_of_no_elements_with_items():
    return with_value((0,), b"\1\2\4" + bytes(4))


@bad("FORMAT", "R5.36|R1.6", "check")
def attribute_of_no_elements_without_rows():
    return with_value((0,), b"")


@bad("FORMAT", "R7.13", "check")
def attribute_of_null_with_value():
    return with_value(None, b"\1\2\4" + bytes(4))


@bad("FORMAT", "R7.13", "check")
def attribute_of_null_with_rows():
    return with_value(None, b"\1\2\4")


@bad("FORMAT", "R5.37")
def attribute_value_short():
    b = sample()
    key = b.key(2, 48, b"a")
    b.tree[key] = b"\1\0" + var(0) + var(8) + u8(0) + var(6) + b"\1\2\4" + bytes(3)
    return b


@bad("FORMAT", "R5.36|R3.18")
def attribute_format_size():
    b = sample()
    b.tree[b.key(2, 48, b"a")] = b"\1\0" + var(0) + var(16) + u8(0) + var(7) + b"\1\x15\4" + bytes(4)
    return b


@bad("FORMAT", "R5.36|R3.19")
def attribute_format_class():
    b = sample()
    b.tree[b.key(2, 48, b"a")] = b"\1\0" + var(0) + var(8) + u8(0) + var(7) + b"\1\x14\4" + bytes(4)
    return b


@bad("FORMAT", "R7.16", "check")
def dimension_without_user():
    b = sample()
    x = b.dimension(1, "x", 1)
    d = b.dataset(1, "e", "INT", (1,), dims=(x,), data=[1])
    del b.tree[b.key(x, 80, u64(d) + u8(0))]
    return b


def with_dimension():
    b = sample()
    return b, b.dimension(1, "x", 1)


@bad("FORMAT", "R7.17", "check")
def dimension_without_entry():
    b = sample()
    b.dimension(None, None, 1)
    return b


@bad("FORMAT", "R7.17", "check")
def dimension_with_two_entries():
    b, x = with_dimension()
    b.objects[x]["hard"] = 2
    b.tree[b.key(1, 34, b"y")] = u8(1) + u8(0) + var(b.objects[1]["next_link"]) + var(x)
    b.objects[1]["next_link"] += 1
    return b


@bad("FORMAT", "R7.14", "check")
def dimension_entry_of_dataset():
    b, x = with_dimension()
    d = b.dataset(1, "e", "INT", (1,), data=[1])
    b.tree[b.key(1, 34, b"y")] = u8(1) + u8(0) + var(b.objects[1]["next_link"]) + var(d)
    b.objects[1]["next_link"] += 1
    return b


@bad("FORMAT", "R7.9", "check")
def dimension_linked():
    b, x = with_dimension()
    b.link(1, "y", x)
    return b


@bad("FORMAT", "R7.14", "check")
def dimension_missing():
    b, x = with_dimension()
    b.tree[b.key(1, 34, b"y")] = u8(1) + u8(0) + var(b.objects[1]["next_link"]) + var(x + 7)
    b.objects[1]["next_link"] += 1
    b.next_object += 20
    return b


@bad("FORMAT", "R7.5", "check")
def dimension_index_of_link():
    b, x = with_dimension()
    b.tree[b.key(1, 34, b"x")] = u8(1) + u8(0) + var(0) + var(x)
    return b


@bad("FORMAT", "R7.5", "check")
def dimension_index_not_given():
    b, x = with_dimension()
    b.tree[b.key(1, 34, b"x")] = u8(1) + u8(0) + var(99) + var(x)
    return b


@bad("FORMAT", "R4.19", "check")
def dimension_of_dataset():
    b, x = with_dimension()
    b.tree[b.key(2, 34, b"y")] = u8(1) + u8(0) + var(9) + var(x)
    return b


@bad("FORMAT", "R7.14", "check")
def dimension_is_root():
    b, x = with_dimension()
    b.tree[b.key(1, 34, b"x")] = u8(1) + u8(0) + var(1) + var(1)
    return b


@bad("FORMAT", "R7.10", "check")
def dimension_name():
    b, x = with_dimension()
    b.tree[b.key(1, 34, b"x/y")] = b.tree.pop(b.key(1, 34, b"x"))
    return b


@bad("FORMAT", "R7.15", "check")
def dimension_scale_group():
    b = sample()
    b.dimension(1, "x", 1, scales=(1,))
    return b


@bad("FORMAT", "R1.6", "check")
def dimension_scales_cut():
    b, x = with_dimension()
    b.objects[x]["rest"] = var(1) + u16(3) + u64(2)
    return b


# ---- datasets

def grid(shape=(4,), chunk=(2,), filters=(), t="INT", **more):
    b = Builder(**more)
    return b, b.dataset(1, "c", t, shape, "chunked", chunk, filters)


def ints(b, *values):
    return b.payload("INT", values)[0]


@bad("FORMAT", "R8.3")
def null_with_layout():
    b = sample()
    b.dataset(1, "n", "INT", None, "compact")
    return b


@bad("FORMAT", "R8.5")
def chunk_length_zero():
    return grid(chunk=(0,))[0]


@bad("FORMAT", "R8.2")
def length_beyond_maximum():
    b = sample()
    b.dataset(1, "m", "INT", (4,), "chunked", (2,), maxshape=(3,))
    return b


@bad("FORMAT", "R8.11")
def contiguous_grows_inside():
    b = sample()
    b.dataset(1, "m", "INT", (1, 4), "contiguous", (4,), maxshape=(None, None))
    return b


@bad("FORMAT|LIMIT", "R8.31")
def too_many_parameters():
    return grid(filters=[("deflate", [1] * 9)])[0]


@bad("FORMAT", "R8.15")
def run_zero():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:2] + u32(0) + r[6:])
    return b


@bad("FORMAT", "R8.15")
def run_of_nothing():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:2] + u32(2) + r[6:14] + u64(0))
    return b


@bad("FORMAT", "R8.20")
def overlap_run():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2), ints(b, 3, 4)])
    b.run(d, (1,), [ints(b, 5, 6)])
    return b


def rows(n, kind="packed", first=(0,), shape=(400,), edit=None, maxshape=None, chunk=(2,)):
    """A run of n filtered chunks of the same two numbers."""
    b = Builder()
    d = b.dataset(1, "c", "INT", shape, "chunked", chunk, [("shuffle", [4])], maxshape=maxshape)
    getattr(b, kind)(d, first, [ints(b, 1, 2)] * n, edit=edit)
    return b


TARGET = b"another file: " + bytes(range(256)) * 300


def pointed(n=1, shape=(400,), edit=None, entry=None, number=1, at=14, size=8):
    """A run of n chunks in another file."""
    b = Builder()
    d = b.dataset(1, "c", "INT", shape, "chunked", (2,), [("shuffle", [4])])
    b.target("external-target.bin", TARGET, edit=entry)
    b.pointed(d, (0,), number, [(at, (TARGET + bytes(size))[at:at + size])] * n, edit=edit)
    return b


@bad("FORMAT", "R8.44")
def external_rows_none():
    return pointed(edit=lambda r: r[:2] + b"\0" + r[3:])


@bad("FORMAT", "R8.44")
def external_file_0():
    return pointed(number=0)


@bad("FORMAT", "R8.44")
def external_without_entry():
    return pointed(number=2)


@bad("FORMAT", "R8.22")
def external_contiguous():
    b = Builder()
    d = b.dataset(1, "c", "INT", (4,), "contiguous", (4,))
    b.pointed(d, (0,), b.target("external-target.bin", TARGET), [(14, TARGET[14:30])])
    return b


@bad("CHECKSUM", "R8.29")
def external_row_sum():
    return pointed(edit=lambda r: r[:-8] + u64(12345))


@bad("FORMAT", "R8.47")
def external_outside():
    """A row that ends behind the end of its file."""
    return pointed(at=len(TARGET) - 4)


@bad("FORMAT", "R8.47")
def external_far_outside():
    return pointed(edit=lambda r: r[:12] + u64((1 << 64) - 8) + r[20:])


@bad("FORMAT", "R8.36")
def external_long_row():
    """A row with more bytes than its filters can make of the chunk."""
    return pointed(size=12)


@bad("FORMAT", "R8.36")
def packed_long_row():
    b, d = grid(filters=[("deflate", [6])])
    b.packed(d, (0,), [b"\0" * (2 * 8 + 65536 + 1)])
    return b


@bad("CHECKSUM", "R8.46")
def external_shorter():
    return pointed(entry=lambda r: r[:-26] + u64(len(TARGET) + 1) + r[-18:])


@bad("CHECKSUM", "R8.46")
def external_other_head():
    return pointed(entry=lambda r: r[:-18] + u64(12345) + r[-10:])


@bad("FORMAT", "R8.43", "check")
def external_number_0():
    b = pointed()
    b.tree[b.key(0, 4, u32(0))] = b.tree[b.key(0, 4, u32(1))]
    return b


@bad("FORMAT", "R8.45", "check")
def external_upwards():
    b = pointed()
    b.target("../external-target.bin", TARGET)
    del b.beside["../external-target.bin"]
    return b


@bad("FORMAT", "R8.45", "check")
def external_absolute():
    b = pointed()
    b.target("/etc/passwd", b"")
    del b.beside["/etc/passwd"]
    return b


@bad("FORMAT", "R8.45", "check")
def external_uri_of_nothing():
    b = pointed()
    b.target("", b"", kind=2)
    del b.beside[""]
    return b


@bad("FORMAT", "R8.43|R1.3", "check")
def external_version_no_text():
    b = pointed()
    b.target("external-target.bin", TARGET, version=b"\xff")
    return b


@bad("CHECKSUM", "R8.52")
def external_sum_absent():
    """Nobody can say whether the file changed since: its time is unknown."""
    return pointed(edit=lambda r: r[:-8] + u64(0))


@bad("FORMAT", "R8.48", "check")
def external_too_often():
    """Many chunks that all have the same bytes of a small file."""
    b = Builder()
    d = b.dataset(1, "c", "INT", (80,), "chunked", (2,), [("shuffle", [4])])
    b.pointed(d, (0,), b.target("external-small.bin", bytes(12)), [(4, bytes(8))] * 40)
    return b


@bad("FORMAT", "R8.16")
def packed_rows_none():
    return rows(1, edit=lambda r: r[:2] + b"\0" + r[3:])


@bad("FORMAT", "R8.17")
def placed_rows_none():
    return rows(1, "placed", edit=lambda r: r[:2] + b"\0" + r[3:])


@bad("FORMAT", "R8.22")
def packed_offset_odd():
    return rows(2, edit=lambda r: r[:8] + u64(int.from_bytes(r[8:16], "big") + 8) + r[16:])


@bad("FORMAT", "R2.14")
def packed_outside_file():
    return rows(2, edit=lambda r: r[:8] + u64(1 << 50) + r[16:])


@bad("FORMAT", "R2.14")
def packed_in_slots():
    return rows(2, edit=lambda r: r[:8] + u64(64) + r[16:])


@bad("FORMAT", "R2.14")
def placed_outside_file():
    return rows(2, "placed", edit=lambda r: r[:28] + u64(1 << 50) + r[36:])


@bad("FORMAT", "R8.39", "check")
def placed_rows_overlap():
    """Two chunks that stand in the same bytes."""
    return rows(2, "placed", edit=lambda r: r[:28] + r[8:16] + r[36:])


@bad("CHECKSUM", "R8.29")
def packed_row_sum():
    return rows(2, edit=lambda r: r[:-8] + u64(12345))


@bad("CHECKSUM", "R8.29|R8.28")
def placed_row_sum_absent():
    return rows(2, "placed", edit=lambda r: r[:-8] + u64(0))


@bad("FORMAT", "R1.6")
def packed_record_cut():
    return rows(2, edit=lambda r: r[:-1])


@bad("FORMAT", "R8.19")
def packed_beyond_grid():
    """Rows cannot count on from a chunk that the grid does not have."""
    return rows(2, first=(0, 3), shape=(2, 6), chunk=(1, 2), maxshape=(None, 6))


@bad("FORMAT", "R8.19")
def packed_beyond_grid_alone():
    return rows(1, first=(0, 3), shape=(2, 6), chunk=(1, 2), maxshape=(None, 6))


@bad("FORMAT", "R8.19")
def packed_in_empty_grid():
    """A step of the grid has no chunks at all."""
    return rows(1, first=(0, 0), shape=(2, 0), chunk=(1, 2))


def suffix(k, shape=(2, 4), chunk=(1, 2), maxshape=None):
    b = Builder()
    b.dataset(1, "c", "INT", shape, "chunked", chunk, maxshape=maxshape, suffix=k)
    return b


@bad("FORMAT", "R8.18")
def suffix_none():
    return suffix(0)


@bad("FORMAT", "R8.18")
def suffix_too_long():
    return suffix(3)


@bad("FORMAT", "R8.18")
def suffix_of_a_point():
    return suffix(1, (), ())


@bad("FORMAT", "R8.18")
def suffix_unbounded_inside():
    return suffix(2, maxshape=(2, None))


@bad("FORMAT", "R8.20")
def packed_overlaps_next():
    """The run goes on in the next row of the grid, where another one has its chunk."""
    b = rows(4, first=(0, 1), shape=(2, 6), chunk=(1, 2))
    b.packed(2, (1, 0), [ints(b, 3, 4)])
    return b


@bad("FORMAT", "R8.22")
def packed_of_slabs():
    b = Builder()
    d = b.dataset(1, "c", "INT", (4,), "contiguous", (2,))
    b.packed(d, (0,), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R6.2|R8.39", "check")
def records_share_line():
    b = rows(1)
    at = int.from_bytes(b.tree[b.key(2, 64, u64(0))][8:16], "big")
    b.placed(2, (1,), [ints(b, 1, 2)], where=[at])
    return b


@bad("FORMAT", "R8.26")
def sums_block_not_full():
    """The first of two blocks is one sum short, the second has one more."""
    b, d = grid((8200,), (1,), t="UINT8_T")
    b.run(d, (0,), [b"x"] * 8200)
    one = borrowed.xxh3(b"x")
    refs = b.put_block(5, u64(one) * 8186, "sums", 0, 8186)
    refs += b.put_block(5, u64(one) * 14, "sums", 0, 14)
    key = b.key(d, 64, u64(0))
    b.tree[key] = b.tree[key][:22] + refs
    return b


@bad("FORMAT", "R4.19")
def chunk_key_length():
    b, d = grid()
    b.run(d, (0, 0), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R2.14")
def chunk_outside_file():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:6] + u64(1 << 50) + r[14:])
    return b


@bad("FORMAT", "R2.14")
def chunk_in_slots():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:6] + u64(0) + r[14:])
    return b


@bad("CHECKSUM", "R8.29")
def chunk_sum():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:-8] + u64(12345))
    return b


@bad("CHECKSUM", "R8.29")
def chunk_bytes():
    b, d = grid(filters=[("deflate", [1])])
    b.filtered(d, (0,), [1, 2])
    data = bytearray(image(b))
    at = struct.unpack(">Q", b.tree[b.key(d, 64, u64(0))][8:16])[0]
    data[at + 12] ^= 1
    return bytes(data)


@bad("FORMAT", "R8.26")
def sums_count():
    b, d = grid((6,), (1,))
    b.spoil["sums"] = setter(28, u32(5))
    b.run(d, (0,), [ints(b, i) for i in range(6)])
    return b


@bad("FORMAT", "R4.5")
def sums_kind():
    b, d = grid((6,), (1,))
    def change(block):
        block[4:5] = b"\2"
        block[28:32] = u32(0)
    b.spoil["sums"] = change
    b.run(d, (0,), [ints(b, i) for i in range(6)])
    return b


@bad("FORMAT", "R1.6")
def chunk_record_cut():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)], edit=lambda r: r[:-1])
    return b


@bad("FORMAT", "R8.9")
def payload_too_long():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2, 3)])
    return b


@bad("FORMAT", "R8.9")
def payload_part_of_element():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)[:6]])
    return b


@bad("FORMAT", "R8.9")
def variable_part_of_fixed():
    """The first of two fixed parts, without filters: no whole one is missing that a fill could be."""
    b, d = grid(t="vstring")
    b.run(d, (0,), [u64(0) + u64(0)])
    return b


@bad("FORMAT", "R8.9")
def variable_part_of_fixed_filtered():
    b, d = grid(t="vstring", filters=[("deflate", [6])])
    b.run(d, (0,), [drepwrite.zlib.compress(bytes(8))])
    return b


@bad("FORMAT", "R8.9")
def stream_of_half_an_element():
    b, d = grid(filters=[("deflate", [6])])
    b.packed(d, (0,), [drepwrite.zlib.compress(bytes(7))])
    return b


def too_long(name, *parameters):
    """A stream of three numbers in a chunk of two."""
    b, d = grid(filters=[(name, list(parameters))])
    b.packed(d, (0,), [drepwrite.apply_filter(name, parameters, ints(b, 1, 1, 1), 12)])
    return b


@bad("FORMAT", "R8.35")
def deflate_too_long():
    return too_long("deflate", 6)


@bad("FORMAT", "R8.35")
def zstd_too_long():
    return too_long("zstd", 3)


@bad("FORMAT", "R8.35")
def lz4_too_long():
    return too_long("lz4", 1)


@bad("FORMAT", "R8.35")
def lzf_too_long():
    return too_long("lzf")


@bad("FORMAT", "R8.35")
def hdf5_lz4_too_long():
    return too_long("hdf5-lz4", 0)


@bad("FORMAT", "R8.35")
def bitshuffle_too_long():
    return too_long("hdf5-bitshuffle", 4, 8, 2, 0)


@bad("FORMAT", "R8.35")
def blosc_too_long():
    return too_long("blosc", 4, 9, 1, 3)


@bad("FORMAT", "R8.35")
def zstd_without_length_too_long():
    b, d = grid(filters=[("zstd", [3])])
    b.packed(d, (0,), [bytes.fromhex("28b52ffd 0058 610000") + bytes(12)])
    return b


@bad("FORMAT", "R8.53")
def hdf5_filter_beside_another():
    return grid(filters=[("shuffle", [4]), (drepwrite.Hdf5(1), [6])])[0]


@bad("FORMAT", "R8.54")
def hdf5_filter_of_texts():
    return grid(t="vstring", filters=[(drepwrite.Hdf5(1), [6])])[0]


@bad("FORMAT", "R8.54")
def hdf5_filter_of_references():
    return grid(t="ref", filters=[(drepwrite.Hdf5(1), [6])])[0]


@bad("FORMAT", "R1.3")
def hdf5_filter_with_a_name_of_bytes():
    b, d = grid(filters=[(drepwrite.Hdf5(32026, "xyz"), [6])])
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(b"xyz", b"x\xffz")
    return b


@bad("FORMAT", "R8.58")
def hdf5_filters_give_too_little():
    b, d = grid(filters=[(drepwrite.Hdf5(1), [6])])
    b.packed(d, (0,), [drepwrite.zlib.compress(ints(b, 1))])
    return b


@bad("FORMAT", "R8.35")
def hdf5_filters_give_too_much():
    b, d = grid(filters=[(drepwrite.Hdf5(1), [6])])
    b.packed(d, (0,), [drepwrite.zlib.compress(ints(b, 1, 2, 3))])
    return b


@bad("CHECKSUM", "R8.58")
def hdf5_sum():
    b, d = grid(filters=[(drepwrite.Hdf5(3), [])])
    b.packed(d, (0,), [ints(b, 1, 2) + b"abcd"])
    return b


@bad("FORMAT", "R8.58")
def hdf5_sum_of_too_much():
    b, d = grid(filters=[(drepwrite.Hdf5(3), [])])
    data = ints(b, *range(1, 9))
    b.packed(d, (0,), [data + drepwrite.fletcher32(data)])
    return b


@bad("FORMAT", "R8.50")
def shuffle_behind_a_users_filter():
    return grid(filters=[("own", [1]), ("shuffle", [4])])[0]


@bad("FORMAT", "R8.50", "check")
def delta_behind_a_users_filter():
    return grid(filters=[("own", [1]), ("zstd", [3]), ("delta", [4, 0])])[0]


@bad("FORMAT", "R8.32")
def bitshuffle_block():
    return grid(filters=[("hdf5-bitshuffle", [4, 12, 2, 0])])[0]


@bad("FORMAT", "R8.32")
def bitshuffle_way():
    return grid(filters=[("hdf5-bitshuffle", [4, 8, 1, 0])])[0]


def damaged_stream(name, parameters, change):
    """A stream of two numbers that is changed."""
    b, d = grid(filters=[(name, parameters)])
    stream = drepwrite.apply_filter(name, parameters, ints(b, 1, 2), 8)
    b.packed(d, (0,), [change(stream)])
    return b


@bad("FORMAT", "R8.34")
def deflate_cut():
    return damaged_stream("deflate", [6], lambda s: s[:-1])


@bad("FORMAT", "R8.34")
def blosc_trailing():
    return damaged_stream("blosc", [4, 9, 1, 3], lambda s: s + b"\0")


@bad("FORMAT", "R8.34")
def lzf_trailing():
    return damaged_stream("lzf", [], lambda s: s + b"\0")


@bad("FORMAT", "R8.34")
def lzf_short():
    return damaged_stream("lzf", [], lambda s: s[:-1])


@bad("FORMAT", "R8.34")
def lzf_before_its_front():
    return damaged_stream("lzf", [], lambda s: b"\xc0\x05")


@bad("FORMAT", "R8.34")
def hdf5_lz4_length():
    return damaged_stream("hdf5-lz4", [0], lambda s: u64(7) + s[8:])


@bad("FORMAT", "R8.34")
def hdf5_lz4_no_block():
    return damaged_stream("hdf5-lz4", [0], lambda s: s[:8] + u32(0) + s[12:])


@bad("FORMAT", "R8.34")
def hdf5_lz4_block_beyond():
    return damaged_stream("hdf5-lz4", [0], lambda s: s[:12] + u32(9) + s[16:])


@bad("FORMAT", "R8.34")
def bitshuffle_trailing():
    return damaged_stream("hdf5-bitshuffle", [1, 8, 2, 0], lambda s: s + b"\0")


@bad("FORMAT", "R8.34")
def bitshuffle_block_of_none():
    return damaged_stream("hdf5-bitshuffle", [1, 8, 2, 0], lambda s: s[:8] + u32(0) + s[12:])


@bad("FORMAT", "R8.9")
def bitshuffle_short():
    return damaged_stream("hdf5-bitshuffle", [1, 8, 0, 0], lambda s: s[:-1])


@bad("FORMAT", "R8.34")
def blosc_length():
    return damaged_stream("blosc", [4, 0, 0, 0], lambda s: s[:4] + bytes([7]) + s[5:])


@bad("FORMAT", "R8.34")
def blosc_cut():
    return damaged_stream("blosc", [4, 9, 1, 3], lambda s: s[:-1])


@bad("FORMAT", "R8.34")
def zstd_garbage():
    b, d = grid(filters=[("zstd", [3])])
    b.packed(d, (0,), [b"not a frame"])
    return b


@bad("FORMAT", "R8.34")
def lz4_garbage():
    b, d = grid(filters=[("lz4", [1])])
    b.packed(d, (0,), [b"\xf0"])
    return b


def strings(fixed, heap):
    b = sample()
    d = b.dataset(1, "v", "vstring", (len(fixed),), "compact")
    b.compact(d, b"".join(u64(n) + u64(at) for n, at in fixed) + heap)
    return b


@bad("FORMAT", "R5.33")
def vlen_overlap():
    return strings([(3, 0), (2, 2)], b"abcdef")


@bad("FORMAT", "R5.32")
def vlen_outside():
    return strings([(3, 0), (4, 3)], b"abcdef")


@bad("FORMAT", "R5.32")
def vlen_wraps():
    return strings([(1, (1 << 64) - 1)], b"abcdef")


@bad("FORMAT", "R8.9")
def vlen_short():
    b = sample()
    d = b.dataset(1, "v", "vstring", (3,), "compact")
    b.compact(d, bytes(32))
    return b


@bad("FORMAT", "R5.33")
def shared_in_part():
    """A text may be shared as a whole only."""
    return strings([(3, 0), (2, 0)], b"abcdef")


def shared_by(t, payload, n=1):
    b = sample()
    d = b.dataset(1, "v", t, (n,), "compact")
    b.compact(d, payload)
    return b


@bad("FORMAT", "R5.33")
def shared_by_two_bases():
    t = ("struct", [("text", "vstring"), ("bytes", ("seq", "CHAR"))])
    return shared_by(t, u64(2) + u64(0) + u64(2) + u64(0) + b"ab")


@bad("FORMAT", "R5.33")
def shared_with_variable_parts():
    inner = u64(1) + u64(16)
    return shared_by(("seq", "vstring"), (u64(1) + u64(0)) * 2 + inner + b"a", 2)


@bad("FORMAT", "R5.33")
def regions_overlap():
    b = sample()
    d = b.dataset(1, "v", "region", (2,), "compact")
    b.compact(d, u64(2) + u64(3) + u64(0) + u64(2) + u64(1) + u64(1) + b"[:]")
    return b


@bad("FORMAT", "R5.35")
def text_nul_in_region():
    b = sample()
    d = b.dataset(1, "v", "region", (1,), "compact")
    b.compact(d, u64(2) + u64(3) + u64(0) + b"[\0]")
    return b


@bad("FORMAT", "R5.32")
def sequence_count_huge():
    b = sample()
    d = b.dataset(1, "v", ("seq", "INT"), (1,), "compact")
    b.compact(d, u64(1 << 62) + u64(0) + bytes(8))
    return b


# ---- space

@bad("FORMAT", "R6.2", "check")
def free_overlaps_node():
    b = sample()
    b.tree[b.key(0, 1, u64(8192))] = u64(64) + u64(0)
    return b


@bad("FORMAT", "R6.4", "check")
def pending_count():
    b = sample()
    b.commit()
    b.spoil["pending"] = setter(28, u32(7))
    b.commit(free_old=True)
    return b.image()


@bad("FORMAT", "R2.14", "check")
def pending_outside():
    b = sample()
    b.commit()
    b.spoil["pending"] = setter(40, u64(1 << 40))
    b.commit(free_old=True)
    return b.image()


@bad("FORMAT", "R1.6", "check")
def log_cut():
    """A LOG entry without its last field."""
    b = sample()
    b.tree[b.key(0, 2, u64(0))] = u64(0) + u64(8256) + u64(8192) + u32(64) + u64(1)
    return b


@bad("FORMAT", "R6.5", "check")
def log_of_itself():
    """A commit that logs itself: only earlier ones can be there."""
    b = sample()
    b.tree[b.key(0, 2, u64(1))] = u64(0) + u64(8192) + bytes(20) + u64(2)
    return b


@bad("FORMAT", "R6.5", "check")
def log_of_nothing():
    """A commit with sequence 0."""
    b = sample()
    b.commit()
    log = b.slots[0]
    b.tree[b.key(0, 2, u64(0))] = log[72:80] + log[64:72] + log[80:100] + log[156:164]
    return b


def logged(change):
    """A second commit, whose LOG names the first by a changed record."""
    b = sample()
    b.commit()
    log = b.slots[0]
    b.tree[b.key(0, 2, u64(1))] = change(bytearray(
        log[72:80] + log[64:72] + log[80:100] + log[156:164]))
    return b


@bad("FORMAT", "R6.5", "check")
def log_root_behind_end():
    """The root ends where the second commit's does, and behind the end of its own."""
    def change(record):
        record[8:16] = u64(struct.unpack(">Q", record[16:24])[0] + 64)
        return bytes(record)
    return logged(change)


@bad("FORMAT", "R2.14", "check")
def log_root_in_slots():
    return logged(lambda record: bytes(record[:16]) + u64(4096) + bytes(record[24:]))


@bad("CHECKSUM|FORMAT", "R4.3", "check")
def log_root_sum():
    def change(record):
        record[28] ^= 1
        return bytes(record)
    return logged(change)


@bad("FORMAT", "R6.6", "check")
def log_beside_its_slot():
    """The older slot has another time."""
    return logged(lambda record: u64(7) + bytes(record[8:]))


@bad("FORMAT", "R6.2|R8.39", "check")
def payload_twice():
    b, d = grid()
    e = b.dataset(1, "e", "INT", (4,), "chunked", (2,))
    b.run(d, (0,), [ints(b, 1, 2)])
    b.tree[b.key(e, 64, u64(0))] = b.tree[b.key(d, 64, u64(0))]
    return b


# ---- fields that no other vector breaks

@bad("FORMAT", "R2.12")
def slot_trailing():
    return patched(4000, b"\1")


@bad("FORMAT", "R2.16")
def metadata_outside():
    return patched(140, u64(1 << 40) + u64(64))


@bad("FORMAT", "R2.16")
def metadata_nowhere():
    return patched(140, u64(0) + u64(64))


@bad("FORMAT", "R2.18", "check")
def object_not_given():
    return patched(156, u64(2))


@bad("FORMAT", "R2.18|R4.21", "check")
def object_of_unknown_tag_not_given():
    b = sample()
    b.tree[b.key(9, 99)] = b"whatever"
    return b


@bad("FORMAT", "R2.18|R4.21", "check")
def object_of_unknown_space_not_given():
    b = sample()
    b.tree[u8(200) + u64(9) + u8(16)] = b"whatever"
    return b


@bad("FORMAT", "R4.21", "check")
def object_of_unknown_space_not_there():
    b = sample()
    b.new(3, 1, "later")
    b.tree[u8(2) + u64(3) + u8(99)] = b"whatever"
    del b.objects[3]
    return b


@bad("FORMAT", "R2.18", "check")
def type_not_given():
    b = sample()
    b.attr(2, "s", "vstring", "x")
    return patched(164, u32(0), b)


@bad("UNSUPPORTED", "R3.2")
def header_too_long_in_all():
    return header(lambda r: r + [(500, bytes(1 << 20))])


@bad("FORMAT", "R3.22|R1.6")
def scalars_cut():
    return own([(8, 255, 0, 4, 4, 0)], extra=[(4, description(1, 0, 4, precision=32)[:-1])])


@bad("FORMAT", "R3.22|R5.20")
def scalars_class():
    return own([(8, 255, 0, 4, 4, 0)], extra=[(4, description(9, 0, 4, precision=32))])


def witnessed(values):
    b = Builder("zigzag", form=2, machine="amd64")
    b.reps[0].witnesses = {8: values}
    b.dataset(1, "i", "INT", (1,), data=[bytes(4)])
    return b


@bad("FORMAT", "R3.23")
def witnesses_too_many():
    return witnessed([bytes(4)] * 4)


@bad("FORMAT", "R3.23")
def witnesses_of_an_unlisted_code():
    b = sample()
    b.reps[0].witnesses = {16: [bytes(8)]}
    return b


@bad("FORMAT", "R3.23")
def witnesses_size():
    return witnessed([bytes(3)] * 3)


@bad("FORMAT", "R4.8")
def value_count():
    b = sample()
    b.dataset(1, "far", "INT", (600,), data=list(range(600)))
    b.spoil["value-tree"] = setter(28, u32(1))
    return b


@bad("FORMAT", "R4.18")
def key_short():
    b = sample()
    b.tree[bytes(9)] = b""
    return b


@bad("FORMAT", "R4.21", "check")
def entries_of_nobody():
    b = sample()
    b.tree[b.key(3, 48, b"a")] = b.tree[b.key(2, 48, b"a")]
    b.new(3, 1, "later")
    del b.objects[3]
    return b


@bad("FORMAT", "R5.7")
def string_of_nothing():
    return typed(b"\3\0\0" + u64(0))


@bad("FORMAT", "R5.7")
def array_of_nothing():
    return typed(b"\7\0\1" + u64(0) + b"\1\0\0\x08")


@bad("FORMAT", "R5.7")
def array_of_nothing_unknown():
    """What the element is does not matter."""
    return typed(b"\7\0\1" + u64(0) + b"\x63\0")


@bad("FORMAT", "R5.7")
def compound_of_nothing():
    return typed(b"\x08\1" + u32(0) + u64(8))


@bad("FORMAT", "R5.9")
def type_flags():
    return typed(b"\1\1\0\x08")


@bad("FORMAT", "R5.11")
def enum_count_huge():
    return typed(b"\5\0" + u32(1 << 30) + b"\1\0\0\x08")


@bad("FORMAT", "R5.12")
def string_padding():
    return typed(b"\3\0\3" + u64(8))


@bad("FORMAT", "R5.12")
def reference_to_what():
    return typed(b"\x0b\0\2")


@bad("FORMAT", "R5.13")
def boolean_of_real():
    return typed(b"\6\0\1\0\0\x10")


@bad("FORMAT", "R5.15")
def member_partly_named():
    one = u16(1) + b"a" + u64(0) + b"\1\0\0\x08"
    two = u16(0) + u64(4) + b"\1\0\0\x08"
    return typed(b"\x08\1" + u32(2) + u64(8) + one + two)


@bad("FORMAT", "R5.15")
def enum_name_twice():
    return typed(b"\5\0" + u32(2) + (u16(1) + b"a" + u64(0)) * 2 + b"\1\0\0\x08")


def typemap(record):
    """A named datatype with a record given in bytes."""
    b = sample()
    b.named(1, "t", ("raw", record))
    return b


@bad("FORMAT", "R5.38")
def negative_count():
    return typemap(b"\x20\0" + u64(2 ** 64 - 1) + b"\1\0\0\x08")


@bad("FORMAT", "R5.38")
def negative_blocklen():
    return typemap(b"\x23\0" + u64(1) + u64(2 ** 64 - 1) + u64(0) + b"\1\0\0\x08")


@bad("FORMAT", "R5.38")
def subarray_outside():
    return typemap(b"\x28\0\1\0" + u64(4) + u64(3) + u64(2) + b"\1\0\0\x08")


@bad("FORMAT", "R5.20")
def scalar_class():
    return typed(scalar_type(cls=4, order=0, size=4, precision=32))


@bad("FORMAT", "R5.20")
def scalar_padding():
    return typed(scalar_type(cls=1, order=0, size=4, precision=32, pads=(3, 0)))


@bad("FORMAT", "R5.21|R3.18")
def scalar_size():
    return typed(scalar_type(cls=2, order=0, size=4, fmt=C.BINARY64))


@bad("FORMAT", "R5.22")
def scalar_without_bits():
    return typed(scalar_type(cls=1, order=0, size=4, precision=0))


@bad("FORMAT", "R5.22")
def scalar_bits_outside():
    return typed(scalar_type(cls=3, order=0, size=2, precision=12, offset=5))


@bad("FORMAT", "R5.24|R5.20")
def scalar_base():
    return typed(scalar_type(cls=2, order=0, size=4, precision=32, sign=31, exp=(23, 8),
                             sig=(0, 23), base=2, bias=127))


@bad("FORMAT", "R5.24")
def scalar_implied_16():
    return typed(scalar_type(cls=2, order=0, size=4, precision=32, sign=31, exp=(24, 7),
                             sig=(0, 24), base=4, bias=64))


@bad("FORMAT", "R6.3", "check")
def free_nothing():
    b = sample()
    b.tree[b.key(0, 1, u64(8192))] = u64(0) + u64(0)
    return b


@bad("FORMAT", "R6.3", "check")
def free_part_of_line():
    b = sample()
    b.tree[b.key(0, 1, u64(8192))] = u64(96) + u64(0)
    return b


@bad("FORMAT", "R6.3", "check")
def free_inside_line():
    b = sample()
    b.tree[b.key(0, 1, u64(8200))] = u64(64) + u64(0)
    return b


@bad("FORMAT", "R6.3", "check")
def pending_part_of_line():
    b = sample()
    b.commit()
    b.spoil["pending"] = setter(48, u64(63))
    b.commit(free_old=True)
    return b.image()


@bad("FORMAT", "R2.14", "check")
def free_outside():
    b = sample()
    b.tree[b.key(0, 1, u64(1 << 20))] = u64(64) + u64(0)
    return b


@bad("FORMAT", "R4.19", "check")
def object_key_with_tail():
    b = sample()
    b.tree[b.key(2, 16, b"x")] = b"whatever"
    return b


@bad("FORMAT", "R4.19", "check")
def data_key_with_tail():
    b = sample()
    b.tree[b.key(2, 24, b"x")] = bytes(4)
    return b


@bad("FORMAT", "R4.19", "check")
def free_of_object():
    b = sample()
    b.tree[b.key(2, 1, u64(8192))] = u64(64) + u64(0)
    return b


@bad("FORMAT", "R4.19", "check")
def attribute_of_file():
    b = sample()
    b.tree[b.key(0, 48, b"a")] = b.tree[b.key(2, 48, b"a")]
    return b


@bad("FORMAT", "R4.19", "check")
def free_key():
    b = sample()
    b.tree[b.key(0, 1, u32(9))] = u64(64) + u64(0)
    return b


@bad("FORMAT", "R7.4", "check")
def links_counted():
    b = sample()
    b.objects[1]["links"] += 1
    return b


def two_attributes(index):
    b = sample()
    b.attr(2, "b", "INT", 2)
    b.tree[b.key(2, 48, b"b")] = b"\1\0" + var(index) + b.tree[b.key(2, 48, b"b")][3:]
    return b


@bad("FORMAT", "R7.6", "check")
def attribute_index_twice():
    return two_attributes(0)


@bad("FORMAT", "R7.6", "check")
def attribute_index_not_given():
    return two_attributes(7)


@bad("FORMAT", "R7.8")
def link_to_no_path():
    b = sample()
    b.soft(1, "s", "")
    return b


@bad("FORMAT", "R7.7", "check")
def object_without_link():
    b = sample()
    b.unlink(1, "d")
    b.objects[2]["hard"] = 0
    return b


@bad("FORMAT", "R8.3")
def elements_without_layout():
    b = sample()
    b.dataset(1, "l", "INT", (4,), "null")
    return b


@bad("FORMAT", "R8.10", "check")
def data_of_chunked():
    b, d = grid()
    b.compact(d, ints(b, 1))
    return b


@bad("FORMAT", "R6.1")
def payload_unaligned():
    b, d = grid()
    b.run(d, (0,), [ints(b, 1, 2)])
    key = b.key(d, 64, u64(0))
    at = b.tree[key].index(u64(8192))
    b.tree[key] = b.tree[key][:at] + u64(8200) + b.tree[key][at + 8:]
    return b


@bad("FORMAT", "R8.25|R1.6")
def sums_reference_cut():
    b, d = grid((6,), (1,))
    b.run(d, (0,), [ints(b, i) for i in range(6)], edit=lambda r: r[:-1])
    return b


@bad("FORMAT", "R8.26|R4.4|R4.1")
def sums_in_wrong_place():
    """Six sums, where references stand from five on."""
    b, d = grid((6,), (1,))
    b.run(d, (0,), [ints(b, i) for i in range(6)], edit=lambda r: r[:22] + u64(1) * 6)
    return b


@bad("FORMAT", "R8.32")
def shuffle_of_nothing():
    b, d = grid(filters=[("shuffle", [0])])
    b.packed(d, (0,), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R8.32")
def delta_width():
    b, d = grid(filters=[("delta", [3, 0])])
    b.packed(d, (0,), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R8.32")
def delta_order():
    b, d = grid(filters=[("delta", [4, 2])])
    b.packed(d, (0,), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R8.32", "check")
def delta_width_before_an_unknown_filter():
    b, d = grid(filters=[("delta", [3, 0]), ("own", [1])])
    b.packed(d, (0,), [ints(b, 1, 2)])
    return b


@bad("FORMAT", "R8.34")
def deflate_trailing():
    b, d = grid(filters=[("deflate", [6])])
    b.packed(d, (0,), [drepwrite.zlib.compress(ints(b, 1, 2)) + b"\0"])
    return b


@bad("FORMAT", "R8.34")
def zstd_two_frames():
    b, d = grid(filters=[("zstd", [3])])
    raw = b"".join(drepwrite.zstd(ints(b, i), 3) for i in (1, 2))
    b.packed(d, (0,), [raw])
    return b


@bad("FORMAT", "R8.34")
def zstd_skippable_frame():
    b, d = grid(filters=[("zstd", [3])])
    raw = bytes.fromhex("502a4d18 04000000 00000000") + drepwrite.zstd(ints(b, 1, 2), 3)
    b.packed(d, (0,), [raw])
    return b


@bad("FORMAT", "R8.34")
def lz4_trailing():
    b, d = grid(filters=[("lz4", [1])])
    b.packed(d, (0,), [drepwrite.lz4(ints(b, 1, 2)) + b"\0"])
    return b


def stream_of_bytes(name, parameters, stream):
    b = sample()
    d = b.dataset(1, "c", "UINT8_T", (16,), "chunked", (16,), [(name, parameters)])
    b.packed(d, (0,), [stream])
    return b


# 16 bytes: A, ten from 0 bytes before, five more.
DISTANCE_0 = b"\x16A\0\0\x50abcde"


@bad("FORMAT", "R8.34", "check")
def lz4_distance_0():
    return stream_of_bytes("lz4", [1], DISTANCE_0)


@bad("FORMAT", "R8.34", "check")
def hdf5_lz4_distance_0():
    return stream_of_bytes("hdf5-lz4", [0], u64(16) + u32(16) + u32(len(DISTANCE_0)) + DISTANCE_0)


@bad("FORMAT", "R8.34", "check")
def bitshuffle_distance_0():
    return stream_of_bytes("hdf5-bitshuffle", [1, 16, 2, 0],
                           u64(16) + u32(16) + u32(len(DISTANCE_0)) + DISTANCE_0)


def blosc_chunk(flags, length, block, rest):
    return bytes((2, 1, flags, 1)) + struct.pack("<3I", length, block, 16 + len(rest)) + rest


@bad("FORMAT", "R8.34", "check")
def blosc_distance_0():
    rest = struct.pack("<2I", 20, len(DISTANCE_0)) + DISTANCE_0
    return stream_of_bytes("blosc", [1, 9, 0, 1], blosc_chunk(1 << 5 | 16, 16, 16, rest))


@bad("FORMAT", "R8.34")
def lz4_distance_0_and_heap():
    b = sample()
    d = b.dataset(1, "v", "vstring", (1,), "chunked", (1,), [("lz4", [1])])
    b.packed(d, (0,), [b"\x8c" + u64(5) + b"\0\0\x50abcde"])  # 8 bytes, 16 from nowhere, a heap of 5
    return b


@bad("FORMAT", "R8.34")
def blosc_of_nothing():
    return stream_of_bytes("blosc", [1, 9, 0, 1], blosc_chunk(1 << 5 | 16, 0, 16, bytes(12)))


@bad("FORMAT", "R8.34")
def blosc_copy_of_nothing():
    return stream_of_bytes("blosc", [1, 9, 0, 1], blosc_chunk(2, 0, 16, bytes(16)))


@bad("FORMAT", "R8.34")
def blosc_block_beyond():
    return stream_of_bytes("blosc", [1, 9, 0, 1], blosc_chunk(2, 16, 17, bytes(16)))


@bad("FORMAT", "R8.37")
def filter_without_name():
    b, d = grid(filters=[("own", [1])])
    rest = b.objects[d]["rest"]
    b.objects[d]["rest"] = rest.replace(u16(32768) + b"\0\x03own", u16(32768) + b"\0\0")
    return b


@bad("FORMAT", "R8.37")
def filter_with_name():
    b, d = grid(filters=[("own", [1])])
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u16(32768), u16(16))
    return b


@bad("FORMAT", "R8.37", "check")
def unknown_filter_with_name():
    b, d = grid(filters=[("own", [1])])
    b.objects[d]["rest"] = b.objects[d]["rest"].replace(u16(32768), u16(40))
    return b


# The ones that stand in the repository as files; the others are made when they are tested.
KEPT = {"bad_magic", "newer_major", "draft_4", "unknown_incompatible", "truncated", "duplicate_code",
        "size_mismatch", "node_order", "separator", "child_level", "overlap_run", "vlen_overlap",
        "vlen_outside", "chunk_sum", "placed_rows_overlap", "external_outside",
        "packed_overlaps_next", "text_nul_in_region", "lz4_distance_0",
        "stream_cut", "stream_end_of_another", "at_end_later"}


def write_beside(b, directory):
    """The files that a vector's chunks are in."""
    for name, content in getattr(b, "beside", {}).items():
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        with open(os.path.join(directory, name), "wb") as f:
            f.write(content)


def write(directory, everything=False):
    """The kept ones, or all, and EXPECT."""
    os.makedirs(directory, exist_ok=True)
    lines = ["# NAME CATEGORY RULE [check]: how each file must be refused.  A|B: either name will do.",
             "# check: found by a check of the whole file; printing it need not notice."]
    for name, category, rule, where, function in BAD:
        if not everything and function.__name__ not in KEPT:
            continue
        made = function()
        write_beside(made, directory)
        if not isinstance(made, bytes):
            made = image(made)
        with open(os.path.join(directory, name + ".drep"), "wb") as f:
            f.write(made)
        lines.append(" ".join((name + ".drep", category, rule, where)).strip())
    with open(os.path.join(directory, "EXPECT"), "w") as f:
        f.write("\n".join(lines) + "\n")
