# SPDX-License-Identifier: MIT
"""From what record.c noted to the events that commit.pml waits for.

Extents of the model are found in the run itself: two bytes of the file belong to one extent if the
same writes touched them and the same commits refer to them.  What a commit refers to is asked of the
second reader (tests/spec/reader), which gets the file as it stood when the slot was written."""

import os
import re
import struct
import sys
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "spec"))
from reader import tree  # noqa: E402
from reader.file import File  # noqa: E402

READS, WRITES, SYNCS, SYNC_FAILS, TRUNCATES, LOCKS, PROBES, DIES, TELLS = range(9)
SLOTS_END = 8192
RANKS_BYTE = 2**62 - 2
READER_BYTE = 2**62
FAR = 2**62
Note = namedtuple("Note", "what actor file at size result data")
EVENT = {name: int(number) for name, number in re.findall(
    r"^#define (\w+) (\d+)", open(os.path.join(HERE, "events.h"), encoding="ascii").read(), re.M)}
NAME = {number: name for name, number in EVENT.items()}
WRITERS, RANKS, READERS = 2, 2, 2  # As record.c numbers them.
FIRST_READER = WRITERS + RANKS - 1


class Unexpected(Exception):
    """The run does something that the model has no event for."""


def notes_of(folder):
    """What happened to the file, in order, with the bytes of writes."""
    data = open(os.path.join(folder, "events"), "rb").read()
    (count,) = struct.unpack_from("=Q", data)
    size = struct.calcsize("=7Q")
    blob = 8 + count * size
    inode = os.stat(os.path.join(folder, "x.drep")).st_ino
    for i in range(count):
        note = Note(*struct.unpack_from("=7Q", data, 8 + i * size))
        if note.file == inode:
            at = blob + note.data
            yield note._replace(data=data[at:at + note.size] if note.what == WRITES else b"")


def references(path, sequence):
    """The parts of the file that its newest commit refers to: [(begin, end)]."""
    with File(path) as file:
        if file.sequence != sequence:
            raise Unexpected("the file is commit %d when the slot of %d is written" % (file.sequence, sequence))
        for objects in file.tree.objects.values():  # A value in a block of its own is read here.
            for some in objects.values():
                for entry in some:
                    entry.value
        blocks = dict(file.space.blocks)
        blocks.update(file.header_space.blocks)
        if not file.slot.pending.none:
            block = file.space.block(file.slot.pending, tree.PENDING, 0, 1 << 28)
            blocks[block.offset] = file.slot.pending.length
        spans = [(at, at + length) for at, length in blocks.items()]
        for dataset in file.datasets.values():
            for record in dataset.records:
                if not record.newer and record.kind == 1:
                    record.all_sums()
                spans += [(at, at + size) for at, size in record.extents if size]
        spans += [(at, at + length) for at, length in file.space.blocks.items()]
    return spans


def slot_of(note):
    """0 or 1: the slot that a write begins, or None."""
    return note.at // 4096 if note.what == WRITES and note.at in (0, 4096) else None


class Run:
    """A recorded run as a list of events (kind, by, a, b)."""

    def __init__(self, folder):
        self.folder, self.notes = folder, list(notes_of(folder))
        self.start = open(os.path.join(folder, "start.drep"), "rb").read()
        self.commits = {}  # By the note of its slot's write: the spans that it refers to.
        self.stream = bool(self.start[47] & 1)  # Incompatible bit 0 of slot A.
        self._replay()
        self._cut()
        self.events = []
        self._translate()

    # ---- the file at each commit ----

    def _replay(self):
        image, work = bytearray(self.start), os.path.join(self.folder, "state.drep")
        self._save(work, image)
        self.first = references(work, 1)
        for i, note in enumerate(self.notes):
            if note.what == WRITES:
                end = note.at + len(note.data)
                image.extend(bytes(max(0, end - len(image))))
                image[note.at:end] = note.data
                slot = slot_of(note)
                if slot is not None and len(note.data) == 4096:
                    sequence = int.from_bytes(note.data[16:24], "big")
                    if sequence > 1:
                        self._save(work, image)
                        self.commits[i] = references(work, sequence)
            elif note.what == TRUNCATES:
                image.extend(bytes(max(0, note.size - len(image))))
                del image[note.size:]

    @staticmethod
    def _save(path, image):
        with open(path, "wb") as out:
            out.write(image)

    # ---- extents ----

    def _changes(self):
        """(number, begin, end) of what writes and truncates payload."""
        size = len(self.start)
        for i, note in enumerate(self.notes):
            if note.what == WRITES:
                size = max(size, note.at + len(note.data))
                if slot_of(note) is None and note.data:
                    yield i, note.at, note.at + len(note.data)
            elif note.what == TRUNCATES:
                if note.size < size:
                    yield i, note.size, FAR
                size = note.size

    def _cut(self):
        marks = {}  # Where a part begins or ends: who begins, who ends.

        def mark(who, begin, end):
            marks.setdefault(begin, (set(), set()))[0].add(who)
            marks.setdefault(end, (set(), set()))[1].add(who)

        for i, begin, end in self._changes():
            mark(("change", i), begin, end)
        for i, spans in [(-1, self.first)] + list(self.commits.items()):
            for begin, end in spans:
                mark(("commit", i), begin, end)
        now, number = set(), {}
        self.parts = []  # (begin, end, extent), in order.
        last = None
        for at in sorted(marks):
            if now and last < at:
                self.parts.append((last, at, number.setdefault(frozenset(now), len(number))))
            begins, ends = marks[at]
            now = (now - ends) | begins
            last = at
        self.extents = len(number)

    def _in(self, begin, end):
        """The extents that a span touches."""
        return sorted({e for low, high, e in self.parts if low < end and begin < high})

    def _held(self, spans):
        found = set()
        for begin, end in spans:
            found.update(self._in(begin, end))
        return found

    # ---- events ----

    def _add(self, name, by=0, a=0, b=0):
        self.events.append((EVENT[name], by, a, b))

    def _translate(self):
        held = self._held(self.first)
        for e in sorted(held):
            self._add("HAS", 0, e)
        if self.stream:
            self._add("END_SLOT")
        drops = self._drops(held)
        writer, locks, brought, size = set(), {}, not self.stream, len(self.start)
        front, looked = self.stream, set()  # Slot A says "look at the end"; who has read that now.
        for i, note in enumerate(self.notes):
            by = note.actor
            for e in drops.get(i, ()):
                self._add("DROP", by, e)
            if note.what == WRITES:
                size = max(size, note.at + len(note.data))
                slot = slot_of(note)
                if slot is not None:
                    self._add("SLOT_BEGUN", by, slot)
                    if len(note.data) == 4096:
                        self._add("SLOT", by, slot, int.from_bytes(note.data[16:24], "big"))
                        front = False
                for e in self._in(note.at, note.at + len(note.data)) if slot is None else ():
                    self._add("WRITE", by, e)
            elif note.what in (SYNCS, SYNC_FAILS):
                self._add("SYNC" if note.what == SYNCS else "SYNC_FAILED", by)
            elif note.what == TRUNCATES:
                if note.size < size:
                    if not brought:
                        brought = True
                        self._add("CUT_TAIL", by)
                    else:
                        for e in self._in(note.size, FAR):
                            self._add("CUT", by, e)
                size = note.size
            elif note.what == READS:
                if by in looked:
                    self._add("TAIL", by)
                else:
                    self._read(note)
                slots = note.at == 0 and note.size >= SLOTS_END
                looked = looked | {by} if slots and front and by >= FIRST_READER else looked - {by}
            elif note.what == LOCKS:
                self._lock(note, writer, locks)
            elif note.what == PROBES:
                if note.at >= READER_BYTE:
                    self._add("PROBE", by, note.at - READER_BYTE + note.size - 1, int(note.result > 0))
            elif note.what == DIES:
                self._add("KILL", by)
                writer.discard(by)
                locks.pop(by, None)
            elif note.what == TELLS:
                self._add("STALE", by)

    def _drops(self, held):
        """Where commits lose extents: before the sync that comes before the slot."""
        result, synced, writes = {}, {}, {}  # The last two by who did it.
        for i, note in enumerate(self.notes):
            if i in self.commits:
                now = self._held(self.commits[i])
                written = writes.get(note.actor, set()) | writes.get(FIRST_READER - 1, set())
                if now - held - written:
                    raise Unexpected("commit %d refers to bytes that nobody wrote" %
                                     int.from_bytes(note.data[16:24], "big"))
                result[synced.get(note.actor, i)] = sorted((held | written) - now)
                held = now
                writes = {}
            elif note.what == WRITES and slot_of(note) is None:
                writes.setdefault(note.actor, set()).update(self._in(note.at, note.at + len(note.data)))
            elif note.what == SYNCS:
                synced[note.actor] = i
            elif note.what == LOCKS and note.at == RANKS_BYTE and note.size == 2 and note.result:
                writes = {}  # A writer begins anew.
        return result

    def _read(self, note):
        by = note.actor
        if note.at == 0 and note.size >= SLOTS_END:
            if by < WRITERS or by >= FIRST_READER:
                self._add("SLOTS", by)
        elif by >= FIRST_READER and note.at >= SLOTS_END:
            for e in self._in(note.at, note.at + note.size):
                self._add("READ", by, e)

    def _lock(self, note, writer, locks):
        by, mine = note.actor, locks.setdefault(note.actor, set())
        if note.at == RANKS_BYTE and note.size == 2:  # With the writer's byte.
            self._add("LOCK_WRITER" if note.result else "BUSY", by)
            if note.result:
                writer.add(by)
        elif note.at == RANKS_BYTE:
            if by not in writer and note.size == 1 and note.result:  # Rank 0 shares what it has.
                self._add("JOIN", by)
                mine.add(RANKS_BYTE)
            elif note.size == 0 and RANKS_BYTE in mine:
                self._add("LEAVE", by)
                mine.discard(RANKS_BYTE)
        elif note.at >= READER_BYTE:
            s = note.at - READER_BYTE
            if note.size == 1 and note.result:
                self._add("LOCK", by, s)
                mine.add(s)
            elif note.size == 0 and s in mine:
                self._add("UNLOCK", by, s)
                mine.discard(s)
        elif note.at == 0 and note.size == 0:  # All of them.
            if by in writer:
                self._add("UNLOCK_WRITER", by)
                writer.discard(by)
            if RANKS_BYTE in mine:
                self._add("LEAVE", by)
                mine.discard(RANKS_BYTE)
            for s in sorted(mine):
                self._add("UNLOCK", by, s)
            mine.clear()

    def bytes(self):
        return b"".join(bytes(event) for event in self.events)


def text(events):
    return "\n".join("%4d %-13s %d %3d %3d" % ((i, NAME[e[0]]) + tuple(e[1:])) for i, e in enumerate(events))


if __name__ == "__main__":
    run = Run(sys.argv[1])
    print(text(run.events))
    print("%d extents, %d commits" % (run.extents, 1 + len(run.commits)))
    with open(os.path.join(sys.argv[1], "trace"), "wb") as out:
        out.write(run.bytes())
