# SPDX-License-Identifier: MIT
"""png.py - reads the pixels of a PNG with the standard library, for tests of plot.

    png.py CHECK FILE ARGUMENT...    one of the checks below; says what is wrong
"""

import struct
import sys
import zlib


def read(path):
    """(width, height, rows of (r, g, b))."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed, end = 8, b"", False
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0], "CRC"
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and color in (2, 6) and not interlace, "another kind of PNG"
        packed += body if kind == b"IDAT" else b""
        end = end or kind == b"IEND"
        at += 12 + n
    assert end and at == len(data), "cut off"
    step = 3 if color == 2 else 4
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * step)
    size = width * step
    for y in range(height):
        how, line = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for i in range(size):
            a = line[i - step] if i >= step else 0
            b, c = above[i], above[i - step] if i >= step else 0
            if how == 1:
                add = a
            elif how == 2:
                add = b
            elif how == 3:
                add = (a + b) // 2
            elif how == 4:
                p = a + b - c
                add = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            else:
                add = 0
            line[i] = (line[i] + add) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, size, step)])
        above = line
    return width, height, rows


def middle(rows, want):
    """The middle of all pixels of this colour, or None."""
    at = [(x, y) for y, row in enumerate(rows) for x, p in enumerate(row) if p == want]
    return at and (sum(x for x, _ in at) / len(at), sum(y for _, y in at) / len(at), len(at))


def check_size(path, width, height):
    w, h, _ = read(path)
    assert (w, h) == (int(width), int(height)), (w, h)


def check_quarters(path, *order):
    """Four levels of gray, each of the same size, in this order: left to right, top to bottom."""
    _, _, rows = read(path)
    levels = [0x10 + round((255 - 0x10) * k / 3) for k in range(4)]
    spots = []
    for level in (levels[int(k)] for k in order):
        # White is also the page: of that only the frame's quarter counts, which the others tell.
        spots.append(middle(rows, (level,) * 3) if level != 255 else None)
    known = [s for s in spots if s]
    assert len(known) == 3 and max(s[2] for s in known) < 1.2 * min(s[2] for s in known), spots
    x = sum(s[0] for s in known) / 3
    y = sum(s[1] for s in known) / 3
    for k, spot in enumerate(spots):
        if spot:
            assert (spot[0] > x - 40 if k % 2 else spot[0] < x + 40), (k, spots)
            assert (spot[1] > y - 40 if k // 2 else spot[1] < y + 40), (k, spots)


def curve(path, color=(0x00, 0x72, 0xb2)):
    """Of each column the highest and the lowest pixel of the curve."""
    width, height, rows = read(path)

    def near(p):
        return sum(abs(a - b) for a, b in zip(p, color)) < 120

    out = {}
    for x in range(width):
        at = [y for y in range(height) if near(rows[y][x])]
        if at:
            out[x] = (min(at), max(at))
    return out


def check_rising(path):
    c = curve(path)
    xs = sorted(c)
    assert len(xs) > 200, len(xs)
    assert c[xs[0]][0] > c[xs[-1]][0] + 100, (c[xs[0]], c[xs[-1]])
    for a, b in zip(xs, xs[20:]):
        assert c[b][0] <= c[a][0], (a, b, c[a], c[b])


def check_gap(path, first, last):
    """Nothing between these shares of the curve's width, something on both sides."""
    c = curve(path)
    left, right = min(c), max(c)
    a, b = (left + float(s) * (right - left) for s in (first, last))
    assert not [x for x in c if a + 4 < x < b - 4], "something in the gap"
    assert [x for x in c if x < a] and [x for x in c if x > b]


def check_spike(path):
    """One column stands far above all others."""
    tops = sorted(top for top, _ in curve(path).values())
    assert tops[0] < tops[10] - 200, tops[:12]


if __name__ == "__main__":
    globals()["check_" + sys.argv[1]](*sys.argv[2:])
