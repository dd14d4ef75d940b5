#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""python/portable/snappy.c against libsnappy: each reads what the other writes, and both refuse the same
damaged streams."""
import ctypes
import os
import random
import subprocess
import sys

SOURCE = os.path.join(os.environ["SRCDIR"], "python", "portable", "snappy.c")
TRIES = 3000


def load(path):
    library = ctypes.CDLL(path)
    library.snappy_max_compressed_length.restype = ctypes.c_size_t
    library.snappy_max_compressed_length.argtypes = [ctypes.c_size_t]
    for name in ("snappy_compress", "snappy_uncompress"):
        getattr(library, name).argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                           ctypes.POINTER(ctypes.c_size_t)]
    return library


def call(function, given, room):
    """(status, bytes); nothing may be written beyond `room`."""
    out = ctypes.create_string_buffer(b"\xa5" * (room + 16), room + 16)
    size = ctypes.c_size_t(room)
    status = function(given, len(given), out, ctypes.byref(size))
    assert out.raw[room:] == b"\xa5" * 16, "written beyond the end"
    return status, out.raw[:size.value] if status == 0 else b""


def samples(rng):
    yield from (b"", b"a", b"abc", b"a" * 100_000, bytes(range(256)) * 300, rng.randbytes(200_000))
    for _ in range(200):
        words = [rng.randbytes(rng.randrange(1, 90)) for _ in range(rng.randrange(1, 12))]
        yield b"".join(rng.choice(words) for _ in range(rng.randrange(1, 400)))


def main():
    try:
        theirs = load("libsnappy.so.1")
    except OSError as error:
        print(f"1..0 # SKIP {error}: tools/install-deps build")
        return
    made = os.path.join(os.environ["TMPDIR"], "snappy.so")
    subprocess.run(["gcc", "-std=c11", "-O2", "-fPIC", "-shared", "-o", made, SOURCE], check=True)
    ours = load(made)
    rng = random.Random(1)
    streams, ratios, bad = [], [], 0
    for data in samples(rng):
        room = ours.snappy_max_compressed_length(len(data))
        assert room == theirs.snappy_max_compressed_length(len(data))
        for writer, reader in ((ours, theirs), (theirs, ours), (ours, ours)):
            status, stream = call(writer.snappy_compress, data, room)
            assert status == 0
            bad += call(reader.snappy_uncompress, stream, len(data)) != (0, data)
            bad += call(reader.snappy_uncompress, stream, len(data) + 100) != (0, data)
            if data:
                bad += call(reader.snappy_uncompress, stream, len(data) - 1)[0] != 2
            streams.append((stream, len(data)))
        ratios.append(len(streams[-1][0]) / max(1, len(streams[-2][0])))
    print(f"{'not ' if bad else ''}ok 1 - each reads what the other writes: {len(streams)} streams")
    print(f"# longer than libsnappy's by {sum(ratios) / len(ratios) - 1:.1%} on average")
    differ = refused = 0
    short = [s for s in streams if len(s[0]) < 20_000]
    for _ in range(TRIES):
        stream, size = rng.choice(short)
        stream = bytearray(stream)
        for _ in range(rng.randrange(1, 4)):
            if stream and rng.random() < 0.7:
                stream[rng.randrange(min(len(stream), 400))] = rng.randrange(256)
            else:
                del stream[rng.randrange(len(stream) + 1):]
        ours_says = call(ours.snappy_uncompress, bytes(stream), size)
        differ += ours_says != call(theirs.snappy_uncompress, bytes(stream), size)
        refused += ours_says[0] != 0
    right = differ == 0 and refused > TRIES // 4
    print(f"{'' if right else 'not '}ok 2 - both refuse the same of {TRIES} damaged streams"
          f": {refused} refused, {differ} differ")
    print("1..2")
    sys.exit(bad > 0 or not right)


main()
