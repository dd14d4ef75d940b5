# SPDX-License-Identifier: MIT
"""What an ELF file needs and offers, read from its sections alone."""
import struct


class Elf:
    """needed: names of libraries; versions: those of their symbols that it names; exported: its own
    symbols; sections: names."""

    def __init__(self, data):
        assert data[:4] == b"\x7fELF"
        self.data = data
        self.wide = data[4] == 2
        self.order = "<" if data[5] == 1 else ">"
        form = "QQQIHHHHHH" if self.wide else "IIIIHHHHHH"
        _, _, start, *_, size, count, names = struct.unpack_from(self.order + form, data, 24)
        form = "IIQQQQIIQQ" if self.wide else "IIIIIIIIII"
        keys = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "align", "entry")
        self.heads = [dict(zip(keys, struct.unpack_from(self.order + form, data, start + i * size)))
                      for i in range(count)]
        self.sections = [self.text(names, head["name"]) for head in self.heads]
        self.needed, self.versions, self.exported, self.soname = [], set(), set(), None
        for head in self.heads:
            {6: self.dynamic, 11: self.symbols, 0x6ffffffe: self.needs}.get(head["type"], lambda _: None)(head)

    def text(self, section, at):
        start = self.heads[section]["offset"] + at
        return self.data[start:self.data.index(b"\0", start)].decode()

    def entries(self, head, form):
        form = self.order + form
        for at in range(head["offset"], head["offset"] + head["size"], struct.calcsize(form)):
            yield struct.unpack_from(form, self.data, at)

    def dynamic(self, head):
        for tag, value in self.entries(head, "qQ" if self.wide else "iI"):
            if tag == 1:
                self.needed.append(self.text(head["link"], value))
            elif tag == 14:
                self.soname = self.text(head["link"], value)

    def symbols(self, head):
        for entry in self.entries(head, "IBBHQQ" if self.wide else "IIIBBH"):
            name, info, section = (entry[0], entry[1], entry[3]) if self.wide else (entry[0], entry[3], entry[5])
            if section != 0 and info >> 4 != 0:
                self.exported.add(self.text(head["link"], name))

    def needs(self, head):
        at = head["offset"]
        for _ in range(head["info"]):
            _, count, _, first, following = struct.unpack_from(self.order + "HHIII", self.data, at)
            one = at + first
            for _ in range(count):
                _, _, _, name, after = struct.unpack_from(self.order + "IHHII", self.data, one)
                self.versions.add(self.text(head["link"], name))
                one += after
            at += following
