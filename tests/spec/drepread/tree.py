"""Slots, header proper, blocks and the tree (sections 2 to 4)."""

from collections import namedtuple
from copy import copy

from . import codes as C
from .borrowed import xxh3
from .errors import Cursor, DrepError
from .scalars import Description, Scalar

MAGIC = bytes.fromhex("89445250 0d0a1a0a")
BLOCK_MAGIC = b"DRPB"
SLOT = 4096
FIRST = 2 * SLOT
MAX_H = 3832
MAX_HEADER = 1 << 20
MAX_NODE = 16384
MAX_KEY = 1040
MAX_IN_LEAF = 2048
MAX_VALUE = 256 << 20
MAX_LEVEL = 15
AT_END = 1  # incompatible feature: the state is in a slot at the end of the file
NODE, VALUE, PENDING, CONTINUATION, SUMS = range(1, 6)

Ref = namedtuple("Ref", "offset length checksum")


def read_ref(cur):
    return Ref(cur.u64(), cur.u32(), cur.u64())


class Slot:
    """The fields of one slot; `state` is "empty", "valid" or "damaged"."""

    def __init__(self, image, index, base=None):
        self.index = index
        self.name = "AB"[index] if base is None else "at the end"
        self.base = index * SLOT if base is None else base
        raw = image[self.base:self.base + SLOT]
        self.raw = raw
        self.magic_ok = raw[:8] == MAGIC
        if len(raw) == SLOT and not any(raw):
            self.state, self.why = "empty", None
            return
        self.state = "damaged"
        if not self.magic_ok:
            self.why = "wrong magic (R4.2)"
        elif len(raw) < SLOT:
            self.why = "cut short"
        elif xxh3(raw[:4088]) != int.from_bytes(raw[4088:], "big"):
            self.why = "wrong sum"
        else:
            self.fields(Cursor(raw, self.base, "slot " + self.name))
            if self.sequence < 1 or self.sequence % 2 == index:
                self.why = "sequence number %d does not belong there" % self.sequence
            else:
                self.state, self.why = "valid", None

    def fields(self, cur):
        cur.bytes(8)
        self.major, self.minor = cur.u16(), cur.u16()
        self.ours = (self.major, self.minor) == (0, 2)
        self.h = cur.u32()
        self.sequence = cur.u64()
        self.uuid = cur.bytes(16)
        self.incompatible, self.write_incompatible, self.compatible = (
            cur.u64(), cur.u64(), cur.u64())
        self.end = cur.u64()
        self.time = cur.i64()
        self.root, self.pending, self.continuation = read_ref(cur), read_ref(cur), read_ref(cur)
        self.metadata = cur.u64(), cur.u64()
        self.next_object = cur.u64()
        self.next_type = cur.u32()


def end_slot(image, first):
    """The slot in the last 4,096 bytes if it says that it stands there, else None."""
    if len(image) < FIRST + SLOT:
        return None
    slot = Slot(image, 0, len(image) - SLOT)
    if (slot.state != "valid" or not slot.ours or slot.sequence != 1 or
            not slot.incompatible & AT_END or not slot.root.length or slot.end != slot.base or
            (first.state == "valid" and first.uuid != slot.uuid)):
        return None
    return slot


def read_slots(image):
    """Both slots; one at the end of the file takes the place of slot A (2.1)."""
    a, b = Slot(image, 0), Slot(image, 1)
    report = None
    if b.state != "valid" and (a.state != "valid" or a.ours and a.incompatible & AT_END):
        end = end_slot(image, a)
        if end:
            report = "slot A is damaged: %s" % a.why if a.state != "valid" else None
            a = end
        elif a.state == "valid":
            raise DrepError("TRUNCATE", "the slot at the end of the file is missing (R2.20)", len(image))
    return [a, b], report


def choose_slot(image):
    """The slot that is the file's state, and a report of a damaged one (or None)."""
    slots, lost = read_slots(image)
    valid = [s for s in slots if s.state == "valid"]
    if len(valid) == 2 and valid[0].uuid != valid[1].uuid:
        raise DrepError("FORMAT", "the two slots have different UUIDs (R2.6)", 24)
    if not valid:
        if not any(s.magic_ok for s in slots):
            raise DrepError("NOT_DREP", "no slot has the magic of a Datarep file", 0)
        if len(image) < FIRST:
            raise DrepError("TRUNCATE", "file ends within its slots (R2.13)", len(image))
        raise DrepError("CHECKSUM", "no valid slot (%s) (R2.5)" % ", ".join(
            "%s: %s" % (s.name, s.why or s.state) for s in slots), 0)
    best = max(valid, key=lambda s: s.sequence)
    bad = [s for s in slots if s.state == "damaged"]
    report = "slot %s is damaged: %s" % (bad[0].name, bad[0].why) if bad else lost
    if not best.ours:
        raise DrepError("VERSION", "version %d.%d, not 0.2 (R2.4)"
                        % (best.major, best.minor), best.base + 8)
    if best.incompatible & AT_END and best.sequence != 1:
        raise DrepError("FORMAT", "a state at the end that is not the first (R2.21)", best.base + 40)
    if best.incompatible & ~AT_END:
        bits = [str(i) for i in range(1, 64) if best.incompatible >> i & 1]
        raise DrepError("UNSUPPORTED", "unknown incompatible feature %s (R2.8)" % ", ".join(bits),
                        best.base + 40)
    if best.end > len(image):
        raise DrepError("TRUNCATE", "file has %d bytes, its slot says %d (R2.13)" % (len(image), best.end),
                        best.base + 64)
    if best.end < FIRST:
        raise DrepError("FORMAT", "end of allocated space lies within the slots (R2.13)", best.base + 64)
    at, length = best.metadata
    if length and not at or at and (at < FIRST or at > best.end or length > best.end - at):
        raise DrepError("FORMAT", "impossible metadata extent (R2.16)", best.base + 140)
    if best.h > MAX_H:
        raise DrepError("FORMAT", "header proper of %d bytes in the slot (R2.11)" % best.h, best.base + 12)
    if any(best.raw[256 + best.h:4088]):
        raise DrepError("FORMAT", "bytes behind the header proper (R2.12)", best.base + 256 + best.h)
    return best, report


def slot_of(image, sequence, newest):
    """The slot of an earlier commit if it still stands there, else None."""
    for slot in read_slots(image)[0]:
        if (slot.state == "valid" and slot.sequence == sequence and slot.root.length and
                slot.major == newest.major):
            return slot
    return None


def earlier_slot(blocks, newest, sequence):
    """What the log of the newest commit says of an earlier one, as if it were a slot."""
    wanted = bytes(8) + b"\2" + sequence.to_bytes(8, "big")
    for key, value, at in walk_tree(blocks, newest.root):
        if key == wanted:
            cur = Cursor(value, at, "LOG entry")
            slot = copy(newest)
            slot.sequence = sequence
            slot.time, slot.end = cur.i64(), cur.u64()
            slot.root, slot.next_object = read_ref(cur), cur.u64()
            slot.pending = slot.continuation = Ref(0, 0, 0)
            slot.metadata = 0, 0
            if slot.end > len(blocks.image):
                cur.fail("end of allocated space lies behind the file's (R6.5)")
            return slot
    raise DrepError("NOT_FOUND", "commit %d is not in the log" % sequence, None)


class Blocks:
    """Gives checked blocks and remembers which bytes of the file are in use, by whom."""

    def __init__(self, image, slot):
        self.image = image
        self.slot = slot
        self.claims = []

    def claim(self, offset, length, what):
        self.inside(offset, length, what)
        if length:
            self.claims.append((offset, offset + (length + 63) // 64 * 64, what))

    def inside(self, offset, length, what):
        end = self.slot.end
        if offset < FIRST or offset > end or length > end - offset:
            raise DrepError("FORMAT", "%s lies outside the allocated space (R2.14)" % what, offset)

    def get(self, ref, kind, level=0, limit=MAX_VALUE + 40):
        """(count, content, offset of the content) of the block that `ref` names."""
        self.claim(ref.offset, ref.length, "block")
        if ref.offset % 64:
            raise DrepError("FORMAT", "block does not begin at a multiple of 64 (R4.1)", ref.offset)
        if ref.length < 40 or ref.length > limit:
            raise DrepError("FORMAT", "block of %d bytes (%s)" % (
                ref.length, "R4.4" if ref.length <= limit else
                {NODE: "R4.9", CONTINUATION: "R3.2"}.get(kind, "R4.14")), ref.offset)
        raw = self.image[ref.offset:ref.offset + ref.length]
        cur = Cursor(raw, ref.offset, "block")
        if cur.bytes(4) != BLOCK_MAGIC:
            cur.fail("wrong magic (R4.2)")
        if xxh3(raw[:32] + bytes(8) + raw[40:]) != int.from_bytes(raw[32:40], "big"):
            raise DrepError("CHECKSUM", "checksum of the block does not match (R4.3)", ref.offset)
        if int.from_bytes(raw[32:40], "big") != ref.checksum:
            raise DrepError("CHECKSUM", "checksum is not that of the reference (R4.3)", ref.offset)
        got = cur.u8(), cur.u8()
        if got != (kind, level):
            cur.fail("kind %d and level %d where %d and %d belong (R4.5)" % (got + (kind, level)))
        cur.bytes(2)
        if cur.bytes(8) != self.slot.uuid[:8]:
            cur.fail("block belongs to another file (R4.6)")
        sequence = cur.u64()
        if not 1 <= sequence <= self.slot.sequence:
            cur.fail("written by commit %d, later than the slot's (R4.7)" % sequence)
        if cur.u32() != ref.length:
            cur.fail("length is not that of the reference (R4.4)")
        count = cur.u32()
        if count and kind in (VALUE, CONTINUATION):
            cur.fail("count %d of a block of kind %d (R4.8)" % (count, kind))
        return count, raw[40:], ref.offset + 40

    def check_overlap(self):
        """No byte belongs to two things."""
        before = (0, FIRST, "slots")
        for claim in sorted(self.claims):
            if claim[0] < before[1]:
                raise DrepError("FORMAT", "%s overlaps %s (R6.2)" % (claim[2], before[2]), claim[0])
            if claim[1] > before[1]:
                before = claim


def node_entries(blocks, ref, level):
    """[(key, far, value, offset)] of one node."""
    count, data, base = blocks.get(ref, NODE, level, MAX_NODE)
    cur = Cursor(data, base, "node")
    if count < 1:
        cur.fail("no entries (R4.9)")
    out = []
    key = b""
    for i in range(count):
        head = cur.u32()
        shared, suffix, value, far = head >> 24, head >> 13 & 0x7ff, head >> 1 & 0xfff, head & 1
        if shared > len(key) or i == 0 and shared:
            cur.fail("entry shares %d bytes with a key of %d (R4.10)" % (shared, len(key)))
        before, key = key, key[:shared] + cur.bytes(suffix)
        if len(key) > MAX_KEY:
            cur.fail("key of %d bytes (R4.11)" % len(key))
        if i and key <= before:
            cur.fail("keys are not ascending (R4.12)")
        at = cur.offset()
        if value > MAX_IN_LEAF:
            cur.fail("value of %d bytes in a node (R4.13)" % value)
        if level and (far or value != 20):
            cur.fail("entry of an interior node is not a reference (R4.15)")
        if far and value != 20:
            cur.fail("far value is not a reference (R4.14)")
        out.append((key, far, cur.bytes(value), at))
    if cur.left():
        cur.fail("entries do not fill the node (R4.9)")
    return out


def walk_tree(blocks, root):
    """All (key, value, offset) of the tree, in order."""
    if root.offset == 0:
        raise DrepError("FORMAT", "there is no root node (R2.15)", blocks.slot.base + 80)
    head = blocks.image[root.offset:root.offset + 6]
    level = head[5] if len(head) == 6 else 0
    if level > MAX_LEVEL:
        raise DrepError("FORMAT", "root at level %d (R4.17)" % level, root.offset)
    out = []

    def walk(ref, level, low, high):
        entries = node_entries(blocks, ref, level)
        for i, (key, far, value, at) in enumerate(entries):
            if (key < low and (not level or i)) or (high is not None and key >= high):
                raise DrepError("FORMAT", "key lies outside the separators above (R4.16)", at)
            if level:
                child = read_ref(Cursor(value, at, "reference"))
                upper = entries[i + 1][0] if i + 1 < len(entries) else high
                walk(child, level - 1, max(low, key), upper)
                continue
            if far:
                ref2 = read_ref(Cursor(value, at, "reference"))
                _, value, at = blocks.get(ref2, VALUE)
            out.append((key, value, at))

    walk(root, level, b"", None)
    return out


# ---------------------------------------------------------------- header proper

class Rep:
    """A representation (3.1).  `later`: only a newer reader understands it."""

    def __init__(self, cur):
        self.extents, self.table, self.descriptions, self.witnesses = {}, None, [], {}
        self.machine = ""
        self.rows_later = set()  # codes of rows that only a newer reader understands
        self.form, self.flags, self.number = cur.u8(), cur.u8(), cur.u8()
        n = cur.u8()
        if not 1 <= n <= 127:
            cur.fail("name of %d bytes (R3.7)" % n)
        self.name = cur.text(n)
        self.later = self.form not in (1, 2) or self.flags & 14 != 0
        if not self.later:
            self.read(cur)

    def read(self, cur):
        records = {}
        while cur.left():
            tag, length = cur.u16(), cur.u32()
            if tag in records:
                cur.fail("record %d occurs twice in a representation (R3.6)" % tag)
            records[tag] = cur.bytes(length)
        read_rows(self, records)
        if 8 in records:
            text = Cursor(records[8], None, "MACHINE")
            self.machine = text.text(text.left())
        standard = self.name in ("external32", "internal")
        if self.form != 1:
            return
        if standard == (3 in records):
            raise DrepError("FORMAT", "%s with ENCODINGS, or another table without (R3.9)" % self.name)
        if standard:
            self.table = {code: Scalars(code, Scalar(f, o, part_size(code, s)), s, 1)
                          for code, (f, o, s) in C.standard_table(self.name).items()}
        for code, size in self.extents.items():
            if code not in self.table:
                if code in C.PREDEFINED and code not in self.rows_later:
                    raise DrepError("FORMAT", "no encoding of %s (R3.14)" % C.PREDEFINED[code][0])
            elif self.table[code].size != size:
                raise DrepError("FORMAT", "EXTENTS and the table differ in %s (R3.14)"
                                % C.PREDEFINED[code][0])


class Header:
    """The header proper, decoded: representations by number, hints, writer."""

    def __init__(self):
        self.reps = {}
        self.hints = {}
        self.writer = ""


def read_header(blocks, slot):
    data = slot.raw[256:256 + slot.h]
    if slot.continuation.offset or slot.continuation.length:
        _, more, _ = blocks.get(slot.continuation, CONTINUATION, 0, MAX_HEADER + 40)
        data += more
    if len(data) > MAX_HEADER:
        raise DrepError("FORMAT", "header proper is longer than 1 MiB (R3.2)", slot.base + 12)
    cur = Cursor(data, None, "header proper")
    h = Header()
    seen = set()
    while cur.left():
        tag, length = cur.u16(), cur.u32()
        content = cur.bytes(length)
        if tag in seen and tag != 1:
            cur.fail("record %d occurs twice (R3.4)" % tag)
        if not seen and tag != 1:
            cur.fail("first record is not REP (R3.4)")
        seen.add(tag)
        if tag == 1:
            rep = Rep(Cursor(content, None, "REP"))
            if rep.number <= max(h.reps, default=-1) or (not h.reps and rep.number):
                cur.fail("numbers of representations do not ascend from 0 (R3.4)")
            h.reps[rep.number] = rep
        elif tag == 6:
            read_hints(h, Cursor(content, None, "HINTS"))
        elif tag == 7:
            text = Cursor(content, None, "WRITER")
            h.writer = text.text(text.left())
    if not h.reps:
        cur.fail("the header is empty (R3.4)")
    return h


class Scalars:
    """A row of the table: a predefined datatype's scalar, whole size, alignment."""

    def __init__(self, code, scalar, size, align):
        self.code, self.scalar, self.size, self.align = code, scalar, size, align


def part_size(code, size):
    """Bytes of one scalar of an item of `size` bytes: half of it for a complex."""
    if C.PREDEFINED[code][1] != "complex":
        return size
    if size % 2:
        raise DrepError("FORMAT", "odd size of a complex (R3.18)")
    return size // 2


def ascending(cur, code, before):
    if code <= before:
        cur.fail("codes are not ascending, or one occurs twice (R3.16)")
    return code


def check_class(code, form, desc, cur):
    """The format of a row suits the class of its datatype."""
    cls = C.PREDEFINED[code][1]
    if desc is not None and desc.format == C.CUSTOM:
        got = {1: "integer", 2: "real", 3: "bytes"}[desc.cls]
    else:
        got = C.FORMATS.get(desc.format if desc else form, (None, None))[1]
    suits = {"integer": ("integer",), "boolean": ("boolean", "integer"), "char": ("char",),
             "wchar": ("wchar",), "real": ("real",), "complex": ("real",), "bytes": ("bytes",)}
    if got not in suits[cls]:
        cur.fail("format %d does not suit %s (R3.19)" % (form, C.PREDEFINED[code][0]))


def read_rows(h, records):
    cur = Cursor(records.get(2, b""), None, "EXTENTS")
    last = -1
    while cur.left():
        last = ascending(cur, cur.u16(), last)
        h.extents[last] = cur.u16()

    cur = Cursor(records.get(4, b""), None, "SCALARS")
    while cur.left():
        h.descriptions.append(Description(cur))

    if 3 in records:
        h.table = {}
        cur = Cursor(records[3], None, "ENCODINGS")
        last = -1
        while cur.left():
            last = ascending(cur, cur.u16(), last)
            form, order, size, align, custom, zero = (cur.u8() for _ in range(6))
            if last not in C.PREDEFINED:
                continue
            desc = None
            if form == C.CUSTOM:
                if custom >= len(h.descriptions):
                    cur.fail("no description %d (R3.21)" % custom)
                desc = h.descriptions[custom]
            if not 1 <= size <= 32:
                cur.fail("item of %d bytes (R3.18)" % size)
            if align not in (1, 2, 4, 8, 16) or zero:
                cur.fail("alignment %d (R3.20)" % align)
            if form not in C.FORMATS or order > 2 or (desc is not None and desc.later):
                h.rows_later.add(last)
                continue
            check_class(last, form, desc, cur)
            part = part_size(last, size)
            if desc is not None and desc.size != part:
                cur.fail("size is not that of the description (R3.21)")
            if desc is not None:
                form = desc.format
            h.table[last] = Scalars(last, Scalar(form, order, part, desc, cur), size, align)

    cur = Cursor(records.get(5, b""), None, "WITNESSES")
    last = -1
    while cur.left():
        last = ascending(cur, cur.u16(), last)
        k, size = cur.u8(), cur.u8()
        most = {"bytes": 0, "boolean": 2, "real": 5, "complex": 5}
        if last in C.PREDEFINED and (k > most.get(C.PREDEFINED[last][1], 3) or
                                     size != h.extents.get(last, size)):
            cur.fail("%d witnesses of %d bytes (R3.23)" % (k, size))
        h.witnesses[last] = [cur.bytes(size) for _ in range(k)]


def read_hints(h, cur):
    before = None
    while cur.left():
        key = cur.text(cur.u16())
        if before is not None and key.encode() <= before:
            cur.fail("keys of the hints are not ascending (R3.26)")
        before = key.encode()
        h.hints[key] = cur.text(cur.u16())
        if not 1 <= len(before) <= 255 or not 1 <= len(h.hints[key].encode()) <= 4096:
            cur.fail("invalid hint (R3.26)")
