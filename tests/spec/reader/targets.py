# SPDX-License-Identifier: MIT
"""Other files that chunks are in (SPEC.md 8.5)."""

import os
import stat

from .errors import Beyond, Newer, ReadError, limit, need
from .records import Record, decode_text, sum64

PATH, URI = 1, 2
HEAD = 65536
LIMIT = 1 << 62


class Target:
    """A FILES entry; the file is opened when a chunk needs it."""

    def __init__(self, entry, file):
        self.file, self.data = file, None
        self.number = int.from_bytes(entry.tail, "big")
        r = Record(entry.value, entry.offset, "entry %d of files" % self.number)
        self.offset = r.offset
        need(self.number >= 1, "R8.43", r.offset, "a file has the number 0")
        self.kind, self.flags = r.u8(), r.u8()
        name = r.bytes(r.u16())
        self.size, self.head = r.u64(), r.u64()
        self.time = r.i64()
        tag = r.bytes(r.u16())
        self.newer = self.kind not in (PATH, URI) or bool(self.flags & 15)
        try:
            limit(self.size, LIMIT, "R8.43", "a file of more than 2^62 bytes")
            limit(len(name), 4096, "R8.45", "the name of a file has %d bytes" % len(name))
            limit(len(tag), 1023, "R8.43", "a file has %d bytes that tell its version" % len(tag))
        except Beyond:
            self.newer = True
        if self.newer:
            return
        need(1 <= len(name), "R8.45", r.offset, "the name of a file has no bytes")
        try:
            self.name = decode_text(name, r.offset, "the name of a file")
        except ReadError as e:
            raise ReadError("R8.45", r.offset, str(e)) from None
        try:
            decode_text(tag, r.offset, "what tells a file's version")
        except ReadError as e:
            raise ReadError("R8.43", r.offset, str(e)) from None
        if self.kind == PATH:
            need(all(part not in ("", ".", "..") for part in self.name.split("/")), "R8.45", r.offset,
                 "the path %r of a file does not lead down" % self.name)

    def read(self, offset, size, sure=True):
        """Bytes of a row; not sure: it has no sum, so the file's time must be right (R8.52)."""
        if self.newer:
            raise Newer("a file of kind %d" % self.kind)
        need(offset + size <= self.size, "R8.47", self.offset, "a chunk lies outside %r" % self.name)
        if self.data is None:
            self.data = self._open()
        need(sure or self.time and self.time == self.changed, "R8.52", self.offset,
             "%r has another time, and a chunk in it no sum" % self.name)
        return self.data[offset:offset + size]

    def _open(self):
        if not self.file.external or self.kind == URI:
            raise ReadError("R8.46", self.offset, "%r may not be opened" % self.name)
        path = os.path.dirname(self.file.path)
        for part in self.name.split("/"):
            path = os.path.join(path, part)
            mode = os.lstat(path).st_mode if os.path.lexists(path) else 0
            if stat.S_ISLNK(mode):
                raise ReadError("R8.46", self.offset, "%r leads through a link" % self.name)
        if not stat.S_ISREG(mode):
            raise ReadError("R8.46", self.offset, "%r is not a regular file" % self.name)
        self.changed = int(os.stat(path).st_mtime)
        with open(path, "rb") as f:
            data = f.read()
        need(len(data) == self.size, "R8.46", self.offset, "%r has %d bytes" % (self.name, len(data)))
        need((sum64(data[:HEAD]) or 1) == self.head, "R8.46", self.offset, "%r has changed" % self.name)
        return data
