#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""table.py - how near the work that users meet most is to its limit, and to the best peer.

Usage: tests/bench/table.py TIMES

TIMES is what the benchmarks append to the file that BENCH_TIMES names: a line of row, entry and median seconds each.
`make bench` prints this table at its end.  A row's limit is a hand-written loop or the raw calls that the work takes at
least, by as many threads (tests/bench/limit.c and each program); 1.00 is as fast.  A row misses where it reaches less than
its bar of the limit, or of a peer that has a bar.  Several runs may append to one file: medians of them count.
"""
import collections
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
    ("dump -H of 10,000 datasets", "dump -H, 10,000 datasets", "datarep dump -H", None, 0, {"h5dump -H": 30}),
    ("dump -H, with 5 attributes", "dump -H, 10,000 datasets with 5 attributes", "datarep dump -H", "cat", 0.1, {}),
    ("import of deflated fields", "fields, shuffled and deflated", "datarep import", None, 0, {"h5repack": 0}),
    ("export of deflated fields, --no-verify", "fields, shuffled and deflated", "datarep export --no-verify", None, 0, {"h5repack": 0.5}),
)


def medians(path):
    """{row: {entry: seconds}}.  Of a row that is there both ways (packed, unpacked), a limit comes before each of ours, so
    one that belongs to `pack` is the one that stands before it."""
    found, order = collections.defaultdict(list), collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row, entry, seconds = line.rstrip("\n").split("\t")
            before = order[row]
            if before and entry in [e for e, _ in before[-1]]:
                before.append([])
            elif not before:
                before.append([])
            before[-1].append((entry, float(seconds)))
    for row, blocks in order.items():
        for block in blocks:
            found[row].append(dict(block))
    return found


def times_of(blocks, names):
    """Medians of these entries, over the blocks of the row that have the first of them."""
    ours = [b for b in blocks if names[0] in b]
    return {n: statistics.median(b[n] for b in ours if n in b) for n in names if any(n in b for b in ours)}


def line_of(found, what, row, ours, limit, least, peers):
    """The text of a row; True if it misses, None if it was not measured."""
    t = times_of(found.get(row, []), [ours] + ([limit] if limit else []) + sorted(peers))
    if ours not in t:
        return "%-42s not measured" % what, None
    missed, text = [], "%-42s %10.6f s" % (what, t[ours])
    if limit in t:
        share = t[limit] / t[ours]
        missed += ["limit"] * (share < least)
        text += "  %5.2f  %-26s" % (share, limit)
    else:
        text += "  %5s  %-26s" % ("-", "-")
    known = [p for p in peers if p in t]
    best = min(known, key=t.get, default=None)
    if best:
        text += " %6.2f  %-14s" % (t[best] / t[ours], best)
    missed += [p for p in known if t[p] / t[ours] < peers[p]]
    bars = ["%.2f" % least] * (least > 0) + ["%s %.2f" % (p, b) for p, b in sorted(peers.items()) if b > 0]
    text = "%-120s bars: %s" % (text, ", ".join(bars) or "none")
    return text + (": MISSED (%s)" % ", ".join(missed) if missed else ""), bool(missed)


def main(argv):
    if len(argv) != 1:
        sys.exit(__doc__)
    found = medians(argv[0])
    print("%-42s %12s  %5s  %-26s %6s  %s" % ("work", "ours", "share", "of its limit", "ratio", "to the best peer"))
    results = []
    for row in ROWS:
        text, missed = line_of(found, *row)
        results.append((row[0], missed))
        print(text)
    measured = [r for r in results if r[1] is not None]
    behind = [what for what, missed in measured if missed]
    print("%d of %d rows measured; %d miss%s" % (len(measured), len(results), len(behind), ": " + "; ".join(behind) if behind else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
