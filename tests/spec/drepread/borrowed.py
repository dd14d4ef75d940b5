"""Libraries of other houses, called through ctypes: XXH3, Zstandard, LZ4."""

import ctypes
import sys
import zlib

from .errors import DrepError


def _load(name, why):
    try:
        return ctypes.CDLL(name)
    except OSError as e:
        sys.exit("%s is needed %s: %s" % (name, why, e))


_xxh = _load("libxxhash.so.0", "to verify the sums of a Datarep file")
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
        _zstd.ZSTD_decompress.restype = size
        _zstd.ZSTD_decompress.argtypes = [buf, size, buf, size]
        _zstd.ZSTD_compress.restype = size
        _zstd.ZSTD_compress.argtypes = [buf, size, buf, size, ctypes.c_int]
        _zstd.ZSTD_compressBound.restype = size
        _zstd.ZSTD_compressBound.argtypes = [size]
        _zstd.ZSTD_isError.argtypes = [size]
        _zstd.ZSTD_findFrameCompressedSize.restype = size
        _zstd.ZSTD_findFrameCompressedSize.argtypes = [buf, size]
    return _zstd


def lz4():
    global _lz4
    if _lz4 is None:
        _lz4 = _load("liblz4.so.1", "for the filter lz4")
        _lz4.LZ4_decompress_safe.argtypes = [ctypes.c_char_p, ctypes.c_char_p] + [ctypes.c_int] * 2
        _lz4.LZ4_compress_default.argtypes = [ctypes.c_char_p, ctypes.c_char_p] + [ctypes.c_int] * 2
    return _lz4


def zstd_decode(data, size):
    lib = zstd()
    if lib.ZSTD_findFrameCompressedSize(data, len(data)) != len(data):
        raise DrepError("FORMAT", "zstd: not exactly one frame (R8.34)")
    out = ctypes.create_string_buffer(max(size, 1))
    n = lib.ZSTD_decompress(out, size, data, len(data))
    if lib.ZSTD_isError(n) or n != size:
        raise DrepError("FORMAT", "zstd: frame does not give the stated length (R8.34)")
    return out.raw[:size]


def lz4_decode(data, size):
    out = ctypes.create_string_buffer(max(size, 1))
    n = lz4().LZ4_decompress_safe(data, out, len(data), size)
    if n != size:
        raise DrepError("FORMAT", "lz4: block does not give the stated length (R8.34)")
    return out.raw[:size]


def deflate_decode(data, size):
    d = zlib.decompressobj()
    try:
        out = d.decompress(data, size + 1)
    except zlib.error as e:
        raise DrepError("FORMAT", "deflate: %s (R8.34)" % e) from None
    if len(out) != size or not d.eof or d.unused_data:
        raise DrepError("FORMAT", "deflate: stream does not give the stated length (R8.34)")
    return out
