# SPDX-License-Identifier: MIT
"""claims.py - small files that claim to be large.

Each function gives the bytes of one file, well formed as far as SPEC.md goes, that asks its
reader for far more memory, time or output than the file has bytes.
"""

import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../spec"))

from drepwrite import Builder, apply_filter, u16, u32, u64, u8  # noqa: E402

CLAIMS = {}


def claim(function):
    CLAIMS[function.__name__.replace("_", "-")] = function
    return function


def zeros(mib):
    """A zlib stream of so many MiB of zeros, which is never made."""
    part = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = part.compress(bytes(1 << 20)) + part.flush(zlib.Z_FULL_FLUSH)
    tail = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    adler = (mib << 20) % 65521 << 16 | 1
    return b"\x78\xda" + block * mib + tail + struct.pack(">I", adler)


def twice(mib):
    """What the filters deflate, deflate make of so many MiB of zeros."""
    return apply_filter("deflate", [9], zeros(mib), 0)


DEFLATE2 = (("deflate", [9]), ("deflate", [9]))


def deflated(b, name, mib, chunks=1, maxshape=None, t="UINT8_T"):
    """A dataset of chunks of so many MiB of zeros each."""
    size = (mib << 20) // b.shape.size(t)
    d = b.dataset(1, name, t, (chunks * size,), "chunked", (size,), DEFLATE2, maxshape=maxshape)
    raw = twice(mib)
    for i in range(chunks):
        b.packed(d, (i,), [raw])
    return d


def done(b):
    b.commit()
    return b.image()


@claim
def one_chunk():
    """A chunk of 1 GiB, as the hint in the header says."""
    b = Builder(hints={"drep_chunk_max": str(1 << 30)})
    deflated(b, "d", 1024)
    return done(b)


@claim
def one_chunk_of_doubles():
    b = Builder(hints={"drep_chunk_max": str(1 << 30)})
    deflated(b, "d", 512, t="DOUBLE")
    return done(b)


@claim
def long_heap():
    """A string of 1 GiB in a filtered chunk."""
    b = Builder(hints={"drep_chunk_max": str(1 << 30)})
    d = b.dataset(1, "d", "vstring", (1,), "chunked", (1,), DEFLATE2)
    mib = 1024
    # The fixed part names all of the heap: 16 bytes, then zeros.
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = stream.compress(u64((mib << 20) - 16) + u64(0) + bytes((1 << 20) - 16))
    head += stream.flush(zlib.Z_FULL_FLUSH)
    rest = zeros(mib)[2:]
    part = len(zeros(1)) - 2 - 4 - len(zlib.compressobj(9, zlib.DEFLATED, -15).flush())
    body = b"\x78\xda" + head + rest[part:-4]
    a = zlib.adler32(u64((mib << 20) - 16) + u64(0))
    low, high = a & 0xffff, a >> 16
    high = (high + low * ((mib << 20) - 16)) % 65521
    body += struct.pack(">I", high << 16 | low)
    b.packed(d, (0,), [apply_filter("deflate", [9], body, 0)])
    return done(b)


@claim
def many_chunks():
    """4,000 chunks of 16 MiB: 62 GiB."""
    b = Builder()
    deflated(b, "d", 16, chunks=4000)
    return done(b)


@claim
def many_filters():
    """Sixteen compressors in a row, each of which becomes as much as it may."""
    b = Builder(hints={"drep_chunk_max": str(1 << 30)})
    filters = tuple(("deflate", [9]) for _ in range(16))
    d = b.dataset(1, "d", "UINT8_T", (1 << 28,), "chunked", (1 << 28,), filters)
    raw = zeros(256)
    for _ in range(15):
        raw = apply_filter("deflate", [9], raw, 0)
    b.packed(d, (0,), [raw])
    return done(b)


@claim
def fill():
    """2^40 elements, none of which is stored."""
    b = Builder()
    b.dataset(1, "chunked", "DOUBLE", (1 << 40,), "chunked", (1024,), fill=1, fill_value=1.5)
    b.dataset(1, "contiguous", "INT", (1 << 31,), "contiguous", (1 << 18,))
    return done(b)


@claim
def fill_of_chunks_of_one():
    b = Builder()
    b.dataset(1, "d", "INT", (1 << 31, 1 << 29), "chunked", (1, 1), maxshape=(None, None))
    return done(b)


@claim
def many_ranks():
    b = Builder()
    b.dataset(1, "d", "INT8_T", (3,) * 32, "chunked", (1,) * 32)
    return done(b)


@claim
def long_element():
    """One element of 2^40 bytes."""
    b = Builder()
    b.dataset(1, "string", ("string", 0, 1 << 40), (1,), "chunked", (1,))
    b.dataset(1, "array", ("array", [1 << 20, 1 << 18], "INT"), (2,), "chunked", (1,))
    b.dataset(1, "opaque", ("opaque", 1 << 33, "x"), (2,), "contiguous", (1,))
    return done(b)


@claim
def long_element_in_memory():
    """An element of 2^28 bytes: more than a file of this size should cost."""
    b = Builder()
    b.dataset(1, "array", ("array", [1 << 26], "INT"), (4,), "chunked", (1,))
    return done(b)


@claim
def wide_struct():
    """A struct whose record says that it takes 2^40 bytes."""
    b = Builder()
    record = b"\x08\1" + u32(1) + u64(1 << 40) + u16(1) + b"a" + u64(0) + b"\1\0\0\x08"
    b.shape.size = lambda t: 8
    b.reps[0].used.add(8)
    b.dataset(1, "d", ("raw", record), (3,), "chunked", (1,))
    return done(b)


@claim
def fill_of_gaps():
    """Fill values of one byte in elements of 16,000,000."""
    b = Builder()
    gaps = ("struct", [("a", "INT8_T")], [15999999], 16000000)
    for i in range(20):
        b.dataset(1, "d" * (i + 1), gaps, (3,), "chunked", (1,), fill=1, fill_value=(7,))
    return done(b)


@claim
def empty_elements():
    """2^40 elements of no bytes each."""
    b = Builder()
    nothing = ("struct", [])
    b.dataset(1, "d", nothing, (1 << 40,), "chunked", (1 << 20,))
    b.dataset(1, "s", ("string", 0, 0), (1 << 40,), "compact")
    b.attr(1, "a", nothing, [], (1 << 40,))
    b.attr(1, "b", ("string", 0, 0), [], (1 << 40,))
    return done(b)


@claim
def empty_contents():
    """A sequence of 2^40 elements of no bytes each."""
    b = Builder()
    d = b.dataset(1, "d", ("seq", ("struct", [])), (1,), "compact")
    b.compact(d, u64(1 << 40) + u64(0))
    return done(b)


@claim
def attribute_counts():
    b = Builder()
    b.attr(1, "a", "INT", [], (1 << 31, 1 << 30))
    b.attr(1, "b", ("array", [1 << 40], "INT"), [], (1,))
    b.attr(1, "c", ("string", 0, 1 << 40), b"", (0,))
    return done(b)


@claim
def deep_groups():
    b = Builder()
    g = 1
    for _ in range(20000):
        g = b.group(g, "g")
    return done(b)


@claim
def soft_links_that_double():
    """Link 0 is link 1 twice, and so on: 2^60 steps."""
    b = Builder()
    g = b.group(1, "g")
    for i in range(60):
        b.soft(g, "l%d" % i, "/g/l%d/l%d" % (i + 1, i + 1))
    b.soft(g, "l60", "/g")
    b.soft(g, "circle", "/g/circle")
    b.soft(g, "a", "b")
    b.soft(g, "b", "a")
    return done(b)


@claim
def hard_links_that_double():
    """Each group holds the next one under many names: 8^40 paths."""
    b = Builder()
    g = 1
    for _ in range(40):
        inner = b.group(g, "0")
        for i in range(1, 8):
            b.link(g, str(i), inner)
        g = inner
    return done(b)


@claim
def group_in_itself():
    b = Builder()
    g = b.group(1, "g")
    for i in range(50):
        b.link(g, "up%d" % i, g)
        b.link(g, "root%d" % i, 1)
    return done(b)


def long_rows(name, mib, t="UINT8_T", filters=()):
    """Chunks of `mib` MiB in another file, of which rows claim nearly 4 GiB."""
    b = Builder()
    size = (mib << 20) // b.shape.size(t) if t != "vstring" else 1
    d = b.dataset(1, "d", t, (3 * size,), "chunked", (size,), filters)
    rows = [(0, bytes(8))] * 3
    target = b.target(name, bytes(65536), edit=lambda r: r[:-24] + u64((1 << 32) - 1) + r[-16:])
    b.pointed(d, (0,), target, rows,
              edit=lambda r: r.replace(u64(0) + u32(8), u64(0) + u32((1 << 32) - 1)))
    return done(b)


@claim
def external_rows():
    return long_rows("absent.bin", 1)


@claim
def external_rows_filtered():
    return long_rows("absent.bin", 1, filters=(("deflate", [6]),))


@claim
def external_texts():
    """The target is there, a file with a hole."""
    return long_rows("hole.bin", 1, "vstring")


@claim
def links_outside():
    b = Builder()
    for i in range(50):
        b.external(1, "x%d" % i, "links-outside.drep", "/x%d" % (i + 1))
    b.external(1, "x50", "links-outside.drep", "/x0")
    return done(b)


@claim
def many_boxes():
    """A region of 20,000 boxes, each of nearly all elements."""
    b = Builder()
    t = b.dataset(1, "t", "INT8_T", (1 << 20, 1 << 20), "chunked", (1024, 1024))
    boxes = ",".join("[%d:%d,%d:%d]" % (i, (1 << 20) - i, i, (1 << 20) - i) for i in range(20000))
    b.dataset(1, "r", "region", (1,), data=[(t, "{%s}" % boxes)])
    return done(b)


@claim
def nested_sequences():
    b = Builder()
    t = "INT8_T"
    for _ in range(8):
        t = ("seq", t)
    d = b.dataset(1, "d", t, (1,), "compact")
    b.compact(d, u64(1 << 50) + u64(0))
    b.named(1, "arrays", ("raw", (b"\7\0\1" + u64(2)) * 60 + b"\1\0\0\x08"))
    return done(b)


@claim
def wide_named_type():
    """A typemap that spans 2^60 bytes."""
    b = Builder()
    b.named(1, "t", ("raw", u8(33) + u8(0) + u64(1 << 30) + u64(1 << 20) + u64(1 << 25) +
                     b"\1\0\0\x08"))
    b.named(1, "u", ("raw", u8(42) + u8(0) + u64(0) + u64(1 << 61) + b"\1\0\0\x08"))
    return done(b)


@claim
def hungry_hints():
    b = Builder(hints={"cb_buffer_size": str(1 << 62), "drep_chunk_max": str(1 << 30),
                       "drep_keep": str(1 << 30), "striping_unit": str(1 << 30),
                       "chunked": "268435456", "chunked_item": "1", "chunked_size": "268435456"})
    deflated(b, "d", 256, maxshape=(None,))
    return done(b)


@claim
def many_representations():
    """65,536 representations, as many as a file may have, in a header of less than 1 MiB."""
    b = Builder()
    b.dataset(1, "d", "INT", (1,), data=[1])
    b.spoil["header"] = lambda records: records[:1] + [
        (1, b"\2\0" + struct.pack(">H", k) + b"\1x") for k in range(1, 1 << 16)] + records[1:]
    return done(b)


@claim
def long_dimension():
    b = Builder()
    x = b.dimension(1, "x", 1 << 62, unlimited=True)
    b.dataset(1, "d", "INT", (3,), dims=(x,), maxshape=(None,), data=[1, 2, 3])
    return done(b)


# What a terminal, or who reads lines, would take for more than text.
ESCAPE = "\x1b]0;title\x07\n\r\x7f\x9b31m\u202e\u2066"


@claim
def escapes():
    """Control characters in every name and text that there is."""
    b = Builder(hints={"note": "v"})
    g = b.group(1, "g" + ESCAPE)
    b.dataset(g, "d" + ESCAPE, "INT", (3,), data=[1, 2, 3])
    b.attr(1, "a" + ESCAPE, "vstring", "text" + ESCAPE)
    b.soft(1, "soft" + ESCAPE, "/to" + ESCAPE)
    b.external(1, "x" + ESCAPE, "file" + ESCAPE, "/p" + ESCAPE)
    x = b.dimension(1, "dim" + ESCAPE, 3)
    b.dataset(1, "dims", "INT", (3,), dims=(x,), data=[1, 2, 3])
    b.dataset(1, "t" + ESCAPE, "vstring", (2,), data=["t" + ESCAPE, "u"])
    b.dataset(1, "op", ("opaque", 4, "tag" + ESCAPE), (2,), "contiguous", (1,))
    b.named(1, "type" + ESCAPE, ("struct", [("m" + ESCAPE, "INT"), ("n", "DOUBLE")]))
    b.dataset(1, "enum", ("enum", "INT", [("e" + ESCAPE, 1), ("f", 2)]), (2,), data=[1, 2])
    deflated(b, "chunk" + ESCAPE, 24)
    return done(b)


# ---------------------------------------------------------------- foreign files

FOREIGN = {}


def foreign(suffix):
    def register(function):
        FOREIGN[function.__name__.replace("_", "-") + "." + suffix] = function
        return function
    return register


def npy(descr, shape, data=b"", version=1, length=None):
    text = ("{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


@foreign("npy")
def npy_shape():
    return npy("'<f8'", "(1099511627776, 1024)", bytes(64))


@foreign("npy")
def npy_element():
    return npy("'|S1099511627776'", "(3,)", bytes(64))


@foreign("npy")
def npy_header():
    return npy("'<f8'", "(3,)", bytes(24), version=2, length=0xffffff00)


def zipped(name, head, mib):
    """A .zip with one member: `head` and so many MiB of zeros.  Its CRC is wrong, which shows
    only at its end."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = stream.compress(head) + stream.flush(zlib.Z_FULL_FLUSH) + zeros(mib)[2:-4]
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, 1, len(raw), len(head) + (mib << 20),
                         len(name), 0)
    local = b"PK\3\4" + fields + name + raw
    central = b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0)
    return local + central + name + b"PK\5\6" + struct.pack(
        "<HHHHIIH", 0, 0, 1, 1, len(central) + len(name), len(local), 0)


@foreign("npz")
def npz_bomb():
    """2 GiB of zeros in 2 MB."""
    return zipped(b"a.npy", npy("'<f8'", "(%d,)" % (1 << 28)), 2048)


@foreign("npz")
def npz_header_bomb():
    """The header of a member claims 1 GiB, and has it."""
    return zipped(b"a.npy", b"\x93NUMPY\2\0" + struct.pack("<I", 1 << 30), 1024)


@foreign("csv")
def csv_line():
    """One line of 30 MB with 15 million cells."""
    return b"1," * 1500000 + b"1\n"


@foreign("csv")
def csv_quote():
    """A cell that never ends."""
    return b'a,b\n"' + b"x" * 2000000


def make(directory):
    """Writes all of them; gives their names."""
    for name, function in list(CLAIMS.items()) + list(FOREIGN.items()):
        path = os.path.join(directory, name + ("" if "." in name else ".drep"))
        with open(path, "wb") as f:
            f.write(function())
        yield path
    with open(os.path.join(directory, "hole.bin"), "wb") as f:
        f.truncate((1 << 32) - 1)


if __name__ == "__main__":
    for p in make(sys.argv[1]):
        print(p, os.path.getsize(p))
