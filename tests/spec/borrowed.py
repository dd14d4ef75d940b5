# SPDX-License-Identifier: MIT
"""Libraries that the writer borrows, called through ctypes: XXH3, Zstandard, LZ4."""

import ctypes
import sys


def _load(name, why):
    try:
        return ctypes.CDLL(name)
    except OSError as e:
        sys.exit("%s is needed %s: %s" % (name, why, e))


_xxh = _load("libxxhash.so.0", "to make the sums of a Datarep file")
try:
    _xxh.XXH3_64bits.restype = ctypes.c_uint64
    _xxh.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
except AttributeError:
    sys.exit("libxxhash.so.0 is older than 0.8 and has no XXH3_64bits")

_zstd = None
_lz4 = None


def xxh3(data):
    data = bytes(data)
    return _xxh.XXH3_64bits(data, len(data))


def zstd():
    global _zstd
    if _zstd is None:
        _zstd = _load("libzstd.so.1", "for the filter zstd")
        size, buf = ctypes.c_size_t, ctypes.c_char_p
        _zstd.ZSTD_compress.restype = size
        _zstd.ZSTD_compress.argtypes = [buf, size, buf, size, ctypes.c_int]
        _zstd.ZSTD_compressBound.restype = size
        _zstd.ZSTD_compressBound.argtypes = [size]
    return _zstd


def lz4():
    global _lz4
    if _lz4 is None:
        _lz4 = _load("liblz4.so.1", "for the filter lz4")
        _lz4.LZ4_compress_default.argtypes = [ctypes.c_char_p, ctypes.c_char_p] + [ctypes.c_int] * 2
    return _lz4
