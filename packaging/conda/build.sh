#!/bin/bash
# build.sh - builds and installs into $PREFIX, as conda-build calls it: the library, the command, the package for Python.
#
# Each library is asked for by name, so that a missing one fails.  conda-forge's HDF5 has no file for pkg-config, and
# conda's flags have the directories.
# SPDX-FileCopyrightText: 2026 The Datarep authors
# SPDX-License-Identifier: MIT
set -euo pipefail
unset BUILD # conda's compilers set it to a triplet, the Makefile takes it for a directory

include=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')
make -j"$CPU_COUNT" install PREFIX="$PREFIX" XXHASH="$PREFIX/include/xxhash.h" \
    PYTHON="$PYTHON" PY_INCLUDE="$include" pydir="$SP_DIR" FC= \
    HAVE_ZSTD=1 HAVE_LZ4=1 HAVE_DEFLATE=1 HAVE_LZF= HAVE_BLOSC=1 HAVE_YAML=1 HAVE_ZIP=1 HAVE_HDF5=1 HDF5_CFLAGS= \
    HDF5_LIBS=-lhdf5 HAVE_NETCDF=1 HAVE_CAIRO=1 HAVE_CURL=1 HAVE_MICROHTTPD=1 HAVE_MPICH= HAVE_OPENMPI=

rm "$PREFIX/lib/libdatarep.a" # conda-forge has shared libraries alone
cp "$PREFIX/share/doc/datarep/xxhash.notice" "$SRC_DIR/"
