#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""client.py - reads one dataset of bytes through the library, and says what came of it.

Usage: client.py LIBRARY URL PATH BYTES [HINT=VALUE...]

Prints "values SHA256", or "error CODE MESSAGE", then "peak KIB" of memory.  It runs as a process of its own, so that
the tests can bound its time and memory.  Standard library only.
"""
import ctypes
import hashlib
import re
import sys


def read(lib, url, path, size, hints):
    """The bytes, or None after an error."""
    info, file, dataset = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    buf = ctypes.create_string_buffer(size)
    err = lib.drep_info_new(ctypes.byref(info))
    for hint in hints:
        key, _, value = hint.partition("=")
        err = err or lib.drep_info_set(info, key.encode(), value.encode())
    err = err or lib.drep_open(url.encode(), 1, info, ctypes.byref(file))
    lib.drep_info_free(info)
    err = err or lib.drep_dataset_open(file, path.encode(), ctypes.byref(dataset))
    err = err or lib.drep_read(dataset, None, None, buf, None)
    if err:
        print("error", err, lib.drep_error().decode(errors="replace").replace("\n", " "))
    if dataset:
        lib.drep_dataset_close(dataset)
    if file:
        lib.drep_close(file)
    return None if err else buf.raw


def main():
    lib = ctypes.CDLL(sys.argv[1])
    lib.drep_error.restype = ctypes.c_char_p
    lib.drep_read.argtypes = [ctypes.c_void_p] * 5
    lib.drep_close.argtypes = lib.drep_dataset_close.argtypes = lib.drep_info_free.argtypes = [ctypes.c_void_p]
    lib.drep_info_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    lib.drep_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    lib.drep_dataset_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    values = read(lib, sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
    if values is not None:
        print("values", hashlib.sha256(values).hexdigest())
    with open("/proc/self/status", encoding="ascii") as f:  # ru_maxrss begins with the parent's
        print("peak", re.search(r"^VmHWM:\s*(\d+) kB", f.read(), re.M).group(1))


if __name__ == "__main__":
    main()
