"""The one exception of the reader, and the bounded cursor every record is read with."""


class DrepError(Exception):
    """What is wrong (`category`, a name like "FORMAT"), where, and in which object."""

    def __init__(self, category, message, offset=None, path=None, file=None):
        super().__init__(message)
        self.category = category
        self.message = message
        self.offset = offset
        self.path = path
        self.file = file

    def inside(self, path):
        """Name the object, unless an inner place named it already."""
        if self.path is None:
            self.path = path
        return self

    def __str__(self):
        text = ""
        if self.file is not None:
            text += self.file + ": "
        if self.path is not None:
            text += 'object "%s": ' % self.path
        text += self.category + ": " + self.message
        if self.offset is not None:
            text += " at byte %d" % self.offset
        return text


class Cursor:
    """Reads big-endian fields from `data`; `base` is the file offset of its first byte."""

    def __init__(self, data, base=None, what="record", category="FORMAT"):
        self.data = data
        self.pos = 0
        self.base = base
        self.what = what
        self.category = category

    def offset(self):
        return None if self.base is None else self.base + self.pos

    def fail(self, message):
        raise DrepError(self.category, "%s: %s" % (self.what, message), self.offset())

    def left(self):
        return len(self.data) - self.pos

    def bytes(self, n):
        if n > self.left():
            self.fail("ends too early (R1.6)")
        out = bytes(self.data[self.pos:self.pos + n])
        self.pos += n
        return out

    def uint(self, n):
        return int.from_bytes(self.bytes(n), "big")

    def u8(self):
        return self.uint(1)

    def u16(self):
        return self.uint(2)

    def u32(self):
        return self.uint(4)

    def u64(self):
        return self.uint(8)

    def var(self, bits=64):
        """Groups of 7 bits, the lowest first, in the shortest form."""
        out = shift = 0
        while True:
            byte = self.u8()
            out |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        if shift > 7 and byte == 0 or out >> bits:
            self.fail("number of %d bytes (R1.10)" % (shift // 7))
        return out

    def i64(self):
        return int.from_bytes(self.bytes(8), "big", signed=True)

    def text(self, n):
        raw = self.bytes(n)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            return self.fail("text is not UTF-8 (R1.3)")
        return self.fail("text has a NUL (R1.3)") if "\0" in text else text
