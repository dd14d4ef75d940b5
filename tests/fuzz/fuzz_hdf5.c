/* fuzz_hdf5.c - what an import reads of an HDF5 file by itself: object headers, and chunks
 * under the filters that it decodes.
 *
 * Byte 0 chooses.  A header: byte 1 is the size of an address, bytes 2 and 3 say where the
 * header is in the rest, which is the file.  A chunk: bytes 1 to 4 are filters, byte 5 those
 * that were skipped, byte 6 the size of an element, byte 7 their number; the rest is the chunk.
 * libhdf5 itself is not called with the bytes: tests/interop/run-mutants.py does that. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"
#include "tools/h5/chunk.h"
#include "tools/h5/header.h"
#include <sys/mman.h>
#include <unistd.h>

static void try_header(const uint8_t *data, size_t size)
{
    int fd = memfd_create("header", MFD_CLOEXEC);
    uint64_t fill = 0, type = 0, at = (uint64_t)data[2] | (uint64_t)data[3] << 8;
    int version;

    if (fd < 0 || write(fd, data + 4, size - 4) != (ssize_t)(size - 4))
        abort();
    version = header_sizes(fd, at, 1u + data[1] % 8, &fill, &type);
    PROMISE(version >= 0 && version <= 2);
    /* A fill value stands in the file. */
    PROMISE(fill == UINT64_MAX || fill <= size);
    close(fd);
}

static hid_t make_filters(const uint8_t *data)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t one = 1;
    int i;

    H5Pset_chunk(dcpl, 1, &one);
    for (i = 0; i < 4; i++) {
        unsigned width = 1u + data[6] % 16;

        if (data[i + 1] % 4 == 1)
            H5Pset_filter(dcpl, H5Z_FILTER_SHUFFLE, 0, 1, &width);
        else if (data[i + 1] % 4 == 2)
            H5Pset_deflate(dcpl, 6);
        else if (data[i + 1] % 4 == 3)
            H5Pset_fletcher32(dcpl);
    }
    return dcpl;
}

static void try_chunk(const uint8_t *data, size_t size)
{
    size_t element = 1u + data[6] % 16, whole = element * (1u + data[7]);
    hid_t dcpl = make_filters(data);
    struct decoding *g = decoding_new(dcpl, element, whole, 1, data[6] & 16);
    uint8_t *out = malloc(whole);
    int how;

    if (g && out) {
        memset(out, 0xa5, whole);
        how = decode_chunk(g, 0, data + 8, size - 8, data[5], out);
        PROMISE(how == DECODE_UNKNOWN || how == DECODE_WHOLE || how == DECODE_SHORT);
    }
    decoding_free(g);
    free(out);
    H5Pclose(dcpl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8)
        return 0;
    if (data[0] & 1)
        try_chunk(data, size);
    else
        try_header(data, size);
    return 0;
}
