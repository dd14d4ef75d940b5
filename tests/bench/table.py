#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""table.py - how near the work that users meet most is to its limit, and to the best peer.

Usage: tests/bench/table.py TIMES [SECOND]

TIMES is what the benchmarks append to the file that BENCH_TIMES names: a line of row, entry and median seconds each.
`make bench` prints this table at its end.  A row's limit is a hand-written loop or the raw calls that the work takes at
least, by as many threads (tests/bench/limit.c and each program); 1.00 is as fast.  A row misses where it reaches less than
its bar of the limit, or of a peer that has a bar.  Several runs may append to one file: the median of their ratios
counts, the least and the greatest stand behind it.  SECOND is of the same work with other figures (make bench-second):
what holds there has at least 0.9 of the ratio.
"""
import collections
import re
import statistics
import sys

# What; row of the benchmarks; our entry; its limit, and the least share of that; peers and the least of each (0: none).
ROWS = (
    ("append, commit each, in memory", "10^4 appends, a commit each", "datarep", None, 0, {"LMDB": 0.7}),
    ("append, commit each, on a disk", "10^3 appends, a commit each, on a disk", "datarep", None, 0, {"LMDB": 1}),
    ("append, a commit each 1,000", "10^5 appends, a commit each 1,000", "datarep", None, 0, {"HDF5, flushed": 3, "LMDB": 0.4}),
    ("chunked, read whole, one thread", "unfiltered: read all, limits, one thread", "datarep", "pread, XXH3, 1 thread", 0.9, {"HDF5": 0}),
    ("chunked, read whole, default", "unfiltered: read all, limits, default", "datarep", "pread, XXH3, 2 threads", 0.9, {"HDF5": 1.3}),
    ("contiguous, written, one thread", "512 MiB double, contiguous, native, write", "datarep", "limit: XXH3 + pwrite", 0.95, {"HDF5": 0.95}),
    ("contiguous, read, one thread", "512 MiB double, contiguous, native, read", "datarep", "limit: pread + XXH3", 0.95, {"HDF5": 0.95}),
    ("contiguous, written, default", "native, default threads: write", "datarep", "XXH3 + pwrite, 2 threads", 0.9, {"HDF5": 1}),
    ("contiguous, read, default", "native, default threads: read", "datarep", "pread + XXH3, 2 threads", 0.9, {"HDF5": 1}),
    ("look up 10,000 of 10^5", "look up 10,000 of 10^5, read a scalar", "datarep", None, 0, {"LMDB": 1, "SQLite": 1}),
    ("list 10^5 names", "list 10^5 by name", "datarep", None, 0, {"LMDB": 0.8, "SQLite": 1}),
    ("create 10^5 objects, 2 attributes", "create 10^5 objects with 2 attributes", "datarep", None, 0, {"LMDB": 0.7, "SQLite": 1}),
    ("double -> float", "double to float, checked", "datarep", "loop", 0.95, {}),
    ("int64 -> int32", "int64 to int32, checked", "datarep", "loop", 0.95, {}),
    ("int32 -> double", "int32 to double", "datarep", "loop", 0.95, {}),
    ("float -> double", "float to double", "datarep", "loop", 0.95, {}),
    ("x87 -> binary128", "x87 to binary128, big-endian", "datarep", "loop", 0.85, {}),
    ("binary128 -> x87", "binary128, big-endian, to x87", "datarep", "loop", 0.7, {}),
    ("half -> float", "binary16 to float", "datarep", "loop", 0.8, {}),
    ("half, big-endian -> float", "binary16, big-endian to float", "datarep", "loop", 0.8, {}),
    ("float -> bfloat16, big-endian", "float to bfloat16, big-endian", "datarep", "loop", 0.8, {}),
    ("IBM -> double", "ibm-hex64 to double", "datarep", "memcpy", 0.15, {}),
    ("VAX -> double", "vax-g to double", "datarep", "memcpy", 0.15, {}),
    ("random blocks of 8 doubles, native", "blocks of 8 doubles, anywhere, native", "pack", "loop", 0.7, {}),
    ("random blocks of 8 doubles, external32", "blocks of 8 doubles, anywhere, external32", "pack", "loop", 0.7, {}),
    ("structs read, one thread", "4,194,304 structs of 40 bytes read, one thread", "datarep", "pread, XXH3", 0.95, {"HDF5": 0.95}),
    ("structs written, one thread", "4,194,304 structs of 40 bytes written, one thread", "datarep", "XXH3, pwrite", 0.95, {}),
    ("structs written big-endian, one thread", "4,194,304 structs of 40 bytes written big-endian, one thread", "datarep",
     "swap, XXH3, pwrite", 0.9, {}),
    ("one member of structs, one thread", "one member of 4,194,304 structs of 40 bytes, one thread", "datarep", "pread, XXH3, loop", 0.9, {"HDF5": 0}),
    ("a string of 10^6, one thread", "1,000 single strings of 10^6, one thread", "datarep", None, 0, {"SQLite": 1}),
    ("all of 10^6 strings, one thread", "all of 10^6 strings, one thread", "datarep", "pread, XXH3, strdup", 0.4, {"SQLite": 1}),
    ("one element, contiguous", "20,000 single elements, open dataset, verified, one thread", "datarep", "pread", 0.75, {"HDF5": 0}),
    ("one element, chunked", "20,000 single elements, chunks of 256x256, one thread", "datarep", "pread", 0.75, {"HDF5": 0}),
    ("blocks of 64x64, contiguous", "1,000 random blocks of 64x64, not filtered, one thread", "datarep", "pread", 0.85, {"HDF5": 0}),
    ("deflate, blocks from memory, one thread", "shuffle + deflate 1: 1000 blocks, all in the cache, 1 thread", "datarep", "decode once, 1 thread", 0.9, {}),
    ("deflate, blocks from memory, default", "shuffle + deflate 1: 1000 blocks, all in the cache, default", "datarep", "decode once, 2 threads", 0.9, {}),
    ("deflate, two threads, one handle", "shuffle + deflate 1: chunks, 2 threads, one handle", "datarep", "decode once, 2 threads", 0.9,
     {}),
    ("big-endian deflated floats, one thread", "CF: float, big-endian, shuffle, deflate, as double, one thread", "datarep",
     "read, sum, inflate, unshuffle, swap, 1", 0.9, {"HDF5": 0}),
    ("big-endian deflated floats, default", "CF: float, big-endian, shuffle, deflate, as double, default", "datarep",
     "read, sum, inflate, unshuffle, swap, 2", 0.9, {"HDF5": 0}),
    ("dump -H of 10,000 datasets", "dump -H, 10,000 datasets, beside its text", "datarep dump -H", "cat", 0.2, {}),
    ("dump -H, against h5dump", "dump -H, 10,000 datasets", "datarep dump -H", None, 0, {"h5dump -H": 30}),
    ("dump -H, with 5 attributes", "dump -H, 10,000 datasets with 5 attributes", "datarep dump -H", "cat", 0.1, {}),
    ("import of deflated fields", "fields, shuffled and deflated", "datarep import", None, 0, {"h5repack": 0}),
    ("export of deflated fields, --no-verify", "fields, shuffled and deflated", "datarep export --no-verify", None, 0, {"h5repack": 0.5}),
)


def times_in(path):
    """{row: [{entry: seconds} of each run]}.  Of a row that is there both ways (packed, unpacked), a limit comes before each
    of ours, so one that belongs to `pack` is the one that stands before it."""
    found = collections.defaultdict(lambda: [{}])
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row, entry, seconds = line.rstrip("\n").split("\t")
            blocks = found[re.sub(r"^\d+ MiB", "512 MiB", row)]
            if entry in blocks[-1]:
                blocks.append({})
            blocks[-1][entry] = float(seconds)
    return found


class Ratio:
    """Of another's time to ours, over the runs."""

    def __init__(self, blocks, other, ours):
        some = sorted(b[other] / b[ours] for b in blocks if ours in b and other in b)
        self.median = statistics.median(some) if some else None
        self.spread = "(%.2f-%.2f)" % (some[0], some[-1]) if len(some) > 1 else ""

    def __str__(self):
        return "%5.2f %-12s" % (self.median, self.spread) if self.median else "%5s %-12s" % ("-", "")


def ratios_of(found, row):
    """(seconds, ratio of the limit or None, {peer: ratio}) of a row of the table; None if it was not measured."""
    _, title, ours, limit, _, peers = row
    blocks = [b for b in found.get(title, []) if ours in b]
    if not blocks:
        return None
    share = Ratio(blocks, limit, ours) if limit else None
    known = {p: Ratio(blocks, p, ours) for p in sorted(peers)}
    return (statistics.median(b[ours] for b in blocks), share if share and share.median else None,
            {p: r for p, r in known.items() if r.median})


def line_of(found, row):
    """The text of a row; True if it misses, None if it was not measured."""
    what, _, _, limit, least, peers = row
    measured = ratios_of(found, row)
    if not measured:
        return "%-42s not measured" % what, None
    seconds, share, known = measured
    missed = ["limit"] * bool(share and share.median < least)
    text = "%-42s %10.6f s  %s  %-26s" % (what, seconds, share or "%5s %-12s" % ("-", ""), limit if share else "-")
    if known:
        best = min(known, key=lambda p: known[p].median)
        text += " %s %-14s" % (known[best], best)
    missed += [p for p, r in known.items() if r.median < peers[p]]
    bars = ["%.2f" % least] * (least > 0) + ["%s %.2f" % (p, b) for p, b in sorted(peers.items()) if b > 0]
    text = "%-134s bars: %s" % (text, ", ".join(bars) or "none")
    return text + (": MISSED (%s)" % ", ".join(missed) if missed else ""), bool(missed)


HOLDS = 0.9


def compare(first, second):
    """Each row's ratio with its own figures and with others."""
    print("\n%-42s %-26s %-20s %-20s %s" % ("work", "to", "its own figures", "others", "of it"))
    behind, n = [], 0
    for row in ROWS:
        a, b = ratios_of(first, row), ratios_of(second, row)
        if not a or not b:
            continue
        pairs = [(row[3], a[1], b[1])] if a[1] and b[1] else [(p, a[2][p], b[2][p]) for p in a[2] if p in b[2] and row[5][p] > 0]
        for other, x, y in pairs:
            holds = y.median >= HOLDS * x.median
            n += 1
            behind += [] if holds else ["%s (%s)" % (row[0], other)]
            print("%-42s %-26s %-20s %-20s %5.2f%s" % (row[0], other, x, y, y.median / x.median, "" if holds else "  LESS"))
    print("%d ratios with other figures; %d less than %.1f of the first%s"
          % (n, len(behind), HOLDS, ": " + "; ".join(behind) if behind else ""))


def main(argv):
    if len(argv) not in (1, 2):
        sys.exit(__doc__)
    found = times_in(argv[0])
    print("%-42s %12s  %-18s  %-26s %-18s %s" % ("work", "ours", "share", "of its limit", "ratio", "to the best peer"))
    results = []
    for row in ROWS:
        text, missed = line_of(found, row)
        results.append((row[0], missed))
        print(text)
    measured = [r for r in results if r[1] is not None]
    behind = [what for what, missed in measured if missed]
    print("%d of %d rows measured; %d miss%s" % (len(measured), len(results), len(behind), ": " + "; ".join(behind) if behind else ""))
    if len(argv) == 2:
        compare(found, times_in(argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
