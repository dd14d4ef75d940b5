# SPDX-License-Identifier: MIT
"""What only a check of the whole file finds: space, counts, uses (SPEC.md 6 and the rules marked
(check))."""

from . import tree
from .errors import ReadError, need
from .file import ROOT, log_record
from .objects import DATASET, DIMENSION, NAMED
from .records import Record
from .slots import BLOCKS

LINE = 64


def check(file):
    """Every violation that is found, as a list of ReadErrors."""
    found = []
    for step in (elements, external_bytes, rows, accounts, type_uses, hard_links, reached, dimension_uses):
        try:
            step(file)
        except ReadError as e:
            found.append(e)
    return found


def elements(file):
    """All elements can be given, or are a newer version's."""
    for number in file.datasets:
        file.datasets[number].verify()
        file.datasets[number].values()


def external_bytes(file):
    """R8.48: rows in other files have bounded bytes in all."""
    rows = [row for dataset in file.datasets.values() for record in dataset.records
            if hasattr(record, "target") for row in record.rows]
    need(sum(row.size for row in rows) <= 16 * sum(target.size for target in file.targets.values()), "R8.48", None,
         "chunks have more bytes of other files than is possible")


def rows(file):
    """R8.39: rows of a record do not overlap."""
    for dataset in file.datasets.values():
        for record in dataset.records:
            taken = sorted((offset, offset + size) for offset, size in record.extents if size)
            need(all(one[1] <= two[0] for one, two in zip(taken, taken[1:])), "R8.39", record.offset,
                 "rows of a chunk record overlap")


def lines(begin, end):
    return begin // LINE * LINE, -(-end // LINE) * LINE


def merged(spans):
    """Spans in ascending order, those that touch or overlap as one."""
    result = []
    for begin, end in spans:
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def apart(spans, rule, what):
    spans.sort()
    for one, two in zip(spans, spans[1:]):
        need(one[1] <= two[0], rule, two[0], "%s share space" % what)


def accounts(file):
    """R6.2: no line has two owners; also R6.3 to R6.5."""
    for entries in file.tree.objects.values():  # A value in a block of its own is read here.
        for some in entries.values():
            for entry in some:
                entry.value
    for dataset in file.datasets.values():
        for record in dataset.records:
            if not record.newer and record.kind == 1:
                record.all_sums()
    blocks = dict(file.space.blocks)
    spans = []
    for dataset in file.datasets.values():
        for record in dataset.records:
            spans += merged(sorted(lines(offset, offset + size)
                                   for offset, size in record.extents if size))
    for entry in file.tree.of(0, tree.LOG):
        logged(file, entry)
    for entry in file.tree.of(0, tree.FREE):
        r = Record(entry.value, entry.offset, "a FREE entry")
        spans.append(free(int.from_bytes(entry.tail, "big"), r.u64(), file, r.offset))
    if file.sequence == file.slot.sequence:
        blocks.update(file.header_space.blocks)
        reference = file.slot.pending
        if not reference.none:
            block = file.space.block(reference, tree.PENDING, 0, 1 << 28)
            blocks[block.offset] = reference.length
            need(len(block.content) == 24 * block.count, "R6.4", block.offset,
                 "a pending list is not filled by its entries")
            r = Record(block.content, block.offset + tree.HEAD, "the pending list")
            for _ in range(block.count):
                at = r.here
                spans.append(free(r.u64(), r.u64(), file, at))
                r.u64()
    spans += [lines(at, at + length) for at, length in blocks.items()]
    apart(spans, "R6.2", "two owners")


def logged(file, entry):
    """R6.5, R6.6: of the newest commit the roots are there; a slot of that commit says the same."""
    _, end, root, next_object = log_record(entry, file.slot)
    sequence = int.from_bytes(entry.tail, "big")
    if file.sequence != max(slot.sequence for slot in file.slots):
        return
    tree.Space(file.source, end, file.slot.uuid, sequence).block(root, tree.NODE, None, 16384)
    for slot in file.slots:
        if slot.sequence == sequence:
            same = slot.data[72:80] + slot.data[64:72] + slot.data[80:100] + slot.data[156:164]
            need(same == entry.value[:len(same)], "R6.6", entry.offset,
                 "the LOG and a slot differ about commit %d" % sequence)


def free(begin, length, file, offset):
    need(length >= 1 and begin % LINE == length % LINE == 0, "R6.3", offset,
         "a free extent that is not whole lines")
    need(BLOCKS <= begin and begin + length <= file.space.end, "R2.14", offset,
         "a free extent lies outside the allocated space")
    return begin, begin + length


def type_uses(file):
    """R5.6."""
    uses = {}
    for number, found in file.objects.items():
        if not found.newer and found.kind in (DATASET, NAMED):
            uses[found.type_number] = uses.get(found.type_number, 0) + 1
        for item in file.attributes[number]:
            if not item.newer:
                uses[item.type_number] = uses.get(item.type_number, 0) + 1
    unsure = any(found.newer for found in file.objects.values()) or any(
        item.newer for items in file.attributes.values() for item in items)
    for entry in file.tree.of(0, tree.TYPE):
        said = int.from_bytes(entry.value[:8], "big")
        counted = uses.get(65536 + int.from_bytes(entry.tail, "big"), 0)
        need(said == counted or unsure and said > counted, "R5.6", entry.offset,
             "a datatype says %d uses and has %d" % (said, counted))


def hard_links(file):
    """R7.3."""
    counted = {ROOT: 1}
    unsure = any(found.newer for found in file.objects.values())
    for group in file.members:
        for item in file.members[group] + file.dimensions[group]:
            unsure = unsure or item.newer
            if item.target is not None:
                counted[item.target] = counted.get(item.target, 0) + 1
    for number, found in file.objects.items():
        have = counted.get(number, 0)
        need(found.hard_links == have or unsure and found.hard_links > have, "R7.3", found.offset,
             "object %d says %d hard links and has %d" % (number, found.hard_links, have))


def reached(file):
    """R7.7 and R7.17."""
    named = [item.target for items in file.dimensions.values() for item in items]
    unsure = any(found.newer for found in file.objects.values()) or any(
        item.newer for group in file.members
        for item in file.members[group] + file.dimensions[group])
    for number, found in file.objects.items():
        if found.kind == DIMENSION:
            need(named.count(number) == 1 or unsure, "R7.17", found.offset,
                 "dimension %d has %d names" % (number, named.count(number)))
        else:
            need(number in file.paths or unsure, "R7.7", found.offset,
                 "object %d is not reached from the root" % number)


def dimension_uses(file):
    """R7.16."""
    uses, unsure = set(), False
    for number, found in file.objects.items():
        if found.newer or found.kind == DATASET and found.partly:
            unsure = True
        elif found.kind == DATASET:
            uses |= {(one, number, place) for place, one in enumerate(found.dimensions or [])
                     if one}
    said = set()
    for number in file.tree.objects:
        for entry in file.tree.of(number, tree.USER):
            said.add((number, int.from_bytes(entry.tail[:8], "big"), entry.tail[8]))
    for number, user, place in sorted(uses ^ said):
        need(unsure, "R7.16", None, "dimension %d and dataset %d do not agree on its dimension %d"
             % (number, user, place))
