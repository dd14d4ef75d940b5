/* blosc_lib.h - the library of the filter Blosc, loaded when a chunk first needs it.
 *
 * It brings the libraries of C++ along, whose loading takes longer than all else that a process
 * does which reads one element, and few files use the filter.  Where it is linked in, that copy
 * counts. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_BLOSC_LIB_H
#define CHUNK_BLOSC_LIB_H

#include <stddef.h>

/* Functions of <blosc.h>, without their prefix. */
struct blosc_lib {
    int (*cbuffer_validate)(const void *cbuffer, size_t cbytes, size_t *nbytes);
    int (*decompress_ctx)(const void *src, void *dest, size_t destsize, int threads);
    int (*compress_ctx)(int level, int shuffle, size_t typesize, size_t nbytes, const void *src,
                        void *dest, size_t destsize, const char *compressor, size_t blocksize,
                        int threads);
    int (*compcode_to_compname)(int code, const char **name);
    int (*get_complib_info)(const char *name, char **library, char **version);
    const char *(*get_version_string)(void);
};

/* NULL: it is not here. */
const struct blosc_lib *blosc_lib(void);

#endif
