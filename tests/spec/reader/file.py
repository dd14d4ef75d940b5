# SPDX-License-Identifier: MIT
"""A file: one commit of it, read and verified (SPEC.md 1.5)."""

import os

from . import datatypes, slots, tree
from .datasets import Dataset
from .errors import Newer, ReadError, need
from .header import Header
from .objects import (DATASET, DIMENSION, GROUP, Attribute, DimensionName, Link, Object)
from .records import Record
from .targets import Target

ROOT = 1


class Source:
    """The bytes of a file."""

    def __init__(self, path):
        self._file = open(path, "rb")
        self.size = os.fstat(self._file.fileno()).st_size

    def read(self, offset, length):
        self._file.seek(offset)
        return self._file.read(length)

    def close(self):
        self._file.close()


class File:
    """The newest commit of a file, or an earlier one by its sequence."""

    def __init__(self, path, commit=None, external=False):
        self.path, self.source, self.external = path, Source(path), external
        try:
            self._open(commit)
        except BaseException:
            self.source.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.source.close()

    def _open(self, commit):
        self.slot, self.slots, self.notes = slots.choose(self.source)
        if commit is not None and commit != self.slot.sequence:
            for slot in self.slots:
                if slot.sequence == commit:
                    slots.check(slot, self.source.size)
                    self.slot = slot
        slot = self.slot
        self.sequence, self.time = slot.sequence, slot.time
        self.header_space = tree.Space(self.source, slot.end, slot.uuid, slot.sequence)
        parts = [(slot.header, slot.offset + 256)]
        if not slot.continuation.none:
            block = self.header_space.block(slot.continuation, tree.CONTINUATION, 0, tree.MAX_FAR)
            parts.append((block.content, block.offset + tree.HEAD))
        self.header = Header(parts)
        self._read_tree(slot.root, slot.end, slot.sequence, slot.next_object)
        if commit is not None and commit != slot.sequence:
            self._earlier(commit)
        self.targets = {int.from_bytes(entry.tail, "big"): Target(entry, self)
                        for entry in self.tree.of(0, tree.FILES)}
        self._objects()

    def _read_tree(self, root, end, sequence, next_object):
        slot = self.slot
        self.space = tree.Space(self.source, end, slot.uuid, sequence)
        self.tree = tree.Tree(self.space, root, next_object, slot.next_type)

    def _earlier(self, commit):
        """R6.5, R6.6."""
        for entry in self.tree.of(0, tree.LOG):
            if int.from_bytes(entry.tail, "big") == commit:
                time, end, root, next_object = log_record(entry, self.slot)
                self.sequence, self.time = commit, time
                self._read_tree(root, end, commit, next_object)
                return
        raise ReadError("R6.6", None, "the file does not hold commit %d" % commit)

    def _objects(self):
        self._types, self.paths = {}, {}
        self.objects = {}
        for number in sorted(self.tree.objects):
            if number:
                entry = self.tree.of(number, tree.OBJECT)[0]
                self.objects[number] = Object(number, entry, self)
        need(ROOT in self.objects, "R7.2", None, "the file has no root")
        root = self.objects[ROOT]
        need(root.kind == GROUP, "R7.2", root.offset, "the root is no group")
        self.members, self.dimensions = {}, {}  # Of each group, in creation order.
        for number, found in self.objects.items():
            self._check_kind(found)
            if found.kind == GROUP and not found.newer:
                self.members[number], self.dimensions[number] = self._members(found)
        self._walk()
        self.attributes = {number: self._attributes(found)
                           for number, found in self.objects.items()}
        self.datasets = {}
        for number, found in self.objects.items():
            if found.kind == DATASET and not found.newer and not found.partly:
                try:
                    self.datasets[number] = Dataset(found, self)
                except Newer:
                    found.partly = True

    def _check_kind(self, found):
        """Entries belong to an object of their kind (R4.19)."""
        if found.newer:
            return
        for tag, kind in ((tree.DATA, DATASET), (tree.CHUNK, DATASET), (tree.LINK, GROUP),
                          (tree.DIM, GROUP), (tree.USER, DIMENSION)):
            need(found.kind == kind or not self.tree.of(found.id, tag), "R4.19", found.offset,
                 "object %d has an entry with tag %d" % (found.id, tag))
        if found.kind == DIMENSION:
            for number in found.scales:
                other = self.objects.get(number)
                need(other is None or other.kind == DATASET, "R7.15", found.offset,
                     "the scale %d of dimension %d is no dataset" % (number, found.id))
        if found.kind == DATASET and not found.partly:
            for number in found.dimensions or []:
                other = self.objects.get(number)
                need(number == 0 or other and (other.newer or other.kind == DIMENSION), "R7.16",
                     found.offset, "dataset %d lies along object %d, which is no dimension"
                     % (found.id, number))

    def _members(self, group):
        """The links and the dimensions of a group, in creation order."""
        links = [Link(entry, tree.name_of(entry)) for entry in self.tree.of(group.id, tree.LINK)]
        dimensions = [DimensionName(entry, tree.name_of(entry))
                      for entry in self.tree.of(group.id, tree.DIM)]
        need(group.links == len(links), "R7.4", group.offset, "group %d says %d links and has %d"
             % (group.id, group.links, len(links)))
        self._indices(links + dimensions, group.next_index, "R7.5")
        for item in links + dimensions:
            if item.target is not None:
                self._check_target(item)
        return (sorted(links, key=lambda item: item.index),
                sorted(dimensions, key=lambda item: item.index))

    def _check_target(self, link):
        dimension = isinstance(link, DimensionName)
        target = self.objects.get(link.target)
        rule = "R7.14" if dimension else "R7.9"
        need(target, rule, link.offset, "%r leads to no object" % link.name)
        if dimension and target.newer:
            return
        need(target.kind == link.object_kind, rule, link.offset,
             "%r leads to an object of kind %d" % (link.name, target.kind))
        need(dimension or target.kind != DIMENSION, rule, link.offset,
             "the link %r leads to a dimension" % link.name)

    @staticmethod
    def _indices(items, next_index, rule):
        seen = set()
        for item in items:
            need(item.index < next_index and item.index not in seen, rule, item.offset,
                 "%r has creation index %d" % (item.name, item.index))
            seen.add(item.index)

    def _attributes(self, found):
        items = [Attribute(entry, tree.name_of(entry), self)
                 for entry in self.tree.of(found.id, tree.ATTR)]
        self._indices(items, found.next_attribute, "R7.6")
        return sorted(items, key=lambda item: item.index)

    def _walk(self):
        """Depth first from the root: where each object is met first, and no cycles (R7.7)."""
        self.paths = {ROOT: "/"}
        self.named_dimensions = {}  # What JSON says of each: its group, its name.
        above = {ROOT}
        work = [(ROOT, "", iter(self.members.get(ROOT, [])))]
        self._addresses(ROOT, "", None)
        while work:
            number, path, links = work[-1]
            link = next(links, None)
            if link is None:
                above.discard(number)
                work.pop()
                continue
            if link.target is None:
                continue
            need(link.target not in above, "R7.7", link.offset,
                 "the link %r makes a group its own ancestor" % link.name)
            if link.target in self.paths:
                continue
            here = self.paths[link.target] = "%s/%s" % (path, link.name)
            if link.target in self.members:
                self._addresses(link.target, here, number)
                above.add(link.target)
                work.append((link.target, here, iter(self.members[link.target])))

    def _addresses(self, group, path, parent):
        """The addresses of a group's dimensions, as datarep(5) has them."""
        names = {link.name for link in self.members.get(group, [])}
        beside = {link.name for link in self.members.get(parent, [])}
        last = path.rsplit("/", 1)[-1]
        for item in self.dimensions.get(group, []):
            name = "#" + item.name
            middle = "" if path else "/"
            if path and ("#" in last or last + name in beside):
                middle = "/"
            if middle and name in names:
                middle = "//"
            if item.target is not None:
                self.paths.setdefault(item.target, path + middle + name)
                self.named_dimensions.setdefault(item.target, {"group": path or "/",
                                                               "dimension": item.name})

    def path_of(self, number):
        """The path where a walk meets an object first, a dimension's address, or None."""
        return self.paths.get(number)

    def check(self):
        """All that a check of the whole file finds, a list of ReadErrors."""
        from . import space
        return space.check(self)

    def type(self, number, offset):
        """A predefined datatype, or the one of a TYPE entry (R5.5)."""
        if number < datatypes.FIRST_NUMBER:
            return datatypes.predefined(number, offset)
        number -= datatypes.FIRST_NUMBER
        if number not in self._types:
            tail = number.to_bytes(4, "big")
            for entry in self.tree.of(0, tree.TYPE):
                if entry.tail == tail:
                    r = Record(entry.value, entry.offset, "datatype %d" % number)
                    r.u64()
                    self._types[number] = datatypes.parse(r.bytes(r.left), r.offset + 8)
                    break
            else:
                raise ReadError("R5.5", offset, "the file has no datatype %d" % number)
        return self._types[number]


def log_record(entry, slot):
    """Time, end, root and next object id of an earlier commit (R6.5)."""
    r = Record(entry.value, entry.offset, "a LOG entry")
    time, end = r.i64(), r.u64()
    root, next_object = slots.Reference(r.bytes(20)), r.u64()
    sequence = int.from_bytes(entry.tail, "big")
    need(1 <= sequence < slot.sequence, "R6.5", r.offset, "the LOG names commit %d" % sequence)
    need(slots.BLOCKS <= root.offset, "R2.14", r.offset, "the root of commit %d lies in the slots"
         % sequence)
    need(root.offset + root.length <= end, "R6.5", r.offset,
         "the root of commit %d lies beyond its end" % sequence)
    return time, min(end, slot.end), root, next_object
