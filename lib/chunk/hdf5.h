/* hdf5.h - the filters of HDF5's pipelines: which of ours does the same, and its checksum.
 *
 * Numbers and parameters are those of the HDF5 file format (IV.A.2.l, "Data Storage - Filter
 * Pipeline"), of The HDF Group's register of filters, and of the filters' documentation. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_HDF5_H
#define CHUNK_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hdf5_filter {
    HDF5_DEFLATE = 1,
    HDF5_SHUFFLE = 2,
    HDF5_FLETCHER32 = 3,
    HDF5_LZF = 32000,
    HDF5_BLOSC = 32001,
    HDF5_LZ4 = 32004,
    HDF5_BITSHUFFLE = 32008,
    HDF5_ZSTD = 32015
};
#define HDF5_MEANING 4 /* the most parameters of a filter of ours that such a one means */

/* The filter of the format that does the same as HDF5's filter `id` with `n` parameters; false: no
 * filter does, or the parameters are impossible. */
bool hdf5_meaning(int id, size_t n, const uint32_t *value, int *ours, uint32_t param[HDF5_MEANING]);

/* The sum of HDF5's filter fletcher32, behind a chunk of *size bytes: true if it is right; *size is
 * without it then.  libhdf5 before 1.6.3 wrote it with swapped bytes. */
#define FLETCHER32_SIZE 4
bool fletcher32_check(const uint8_t *p, size_t *size);
/* Put it behind `size` bytes, which have room for it; its length. */
size_t fletcher32_add(uint8_t *p, size_t size);

#endif
