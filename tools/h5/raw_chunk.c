/* raw_chunk.c - chunks that go over as they are stored.
 *
 * That is possible where an element is the same bytes in both files, chunks have the same shape,
 * and each filter of HDF5 has one in the container that gives the same bytes. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/raw_chunk.h"
#include "chunk/hdf5.h"
#include "tools/h5/chunk.h"
#include "tools/h5/framed.h"
#include <stdlib.h>
#include <string.h>

#define VALUES 256 /* of a filter; the container's have fewer */

/* True if both filters do the same to elements of the dataset. */
static int same_filter(H5Z_filter_t id, size_t n, const unsigned *value, const drep_filter *f)
{
    drep_filter framed;

    if (f->id >= DREP_FILTER_HDF5)
        return f->id == DREP_FILTER_HDF5 + id && f->nparams == (int)n &&
               (n == 0 || memcmp(f->params, value, n * sizeof *value) == 0);
    switch (id) {
    case H5Z_FILTER_SHUFFLE:
        return f->id == DREP_FILTER_SHUFFLE && f->nparams == 1 && f->param[0] == value[0];
    case H5Z_FILTER_DEFLATE:
        return f->id == DREP_FILTER_DEFLATE;
    default:
        /* Streams tell how they are to be decoded, but for what bitshuffle has in front. */
        return framed_in(id, n, value, &framed) && f->id == framed.id &&
               (f->id != DREP_FILTER_HDF5_BITSHUFFLE ||
                memcmp(f->param, framed.param, 3 * sizeof *f->param) == 0);
    }
}

/* Pairs the filters of both lists, in their order. */
static int pair_filters(struct raw_chunks *r, hid_t dcpl, const drep_dsinfo *info, int plain)
{
    int i, next = 0;

    r->pipeline = info->nfilters > 0 && info->filters[0].id >= DREP_FILTER_HDF5;
    r->n = H5Pget_nfilters(dcpl);
    if (r->n < 0 || r->n > H5Z_MAX_NFILTERS)
        return 0;
    for (i = 0; i < r->n; i++) {
        unsigned flags, config, value[VALUES] = {0};
        size_t n = VALUES;
        H5Z_filter_t id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &n, value, 0, NULL, &config);

        /* Which bytes a sum is of is known where nothing comes behind it. */
        n = n < VALUES ? n : VALUES;
        if (id == H5Z_FILTER_FLETCHER32 && i == r->n - 1 && !r->pipeline)
            r->ours[i] = RAW_CHUNK_SUM;
        else if (next < info->nfilters && same_filter(id, n, value, &info->filters[next]))
            r->ours[i] = next++;
        else
            return 0;
        r->deflate[i] = id == H5Z_FILTER_DEFLATE && !r->pipeline;
    }
    return (next > 0 || plain) && next == info->nfilters;
}

static int dcpl_has_chunks(hid_t dcpl, const drep_dsinfo *info)
{
    hsize_t chunk[H5S_MAX_RANK];
    int d;

    if (info->layout != DREP_CHUNKED || info->rank <= 0 || H5Pget_layout(dcpl) != H5D_CHUNKED ||
        H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) != info->rank)
        return 0;
    for (d = 0; d < info->rank; d++)
        if (chunk[d] != (hsize_t)info->chunk[d])
            return 0;
    return 1;
}

int raw_chunks_match(struct raw_chunks *r, hid_t dcpl, const drep_dsinfo *info, drep_dataset *ds,
                     const struct map *m, int plain)
{
    size_t size = chunk_memory_of(m->dsize, info);
    int same = 0;

    memset(r, 0, sizeof *r);
    if (!dcpl_has_chunks(dcpl, info) || size == SIZE_MAX)
        return 0;
    r->size = size;
    r->most = size / 2 > SIZE_MAX / 8 ? SIZE_MAX : 2 * size + 4096;
    return size > 0 && m->kind == MAP_FLAT && !m->variable && pair_filters(r, dcpl, info, plain) &&
           drep_stored_as(ds, m->held, &same) == 0 && same;
}

void raw_chunks_release(struct raw_chunks *r)
{
    free(r->bytes);
    r->bytes = NULL;
    r->room = 0;
}

/* True if a chunk may be what its last filter gave: damage that costs nothing to see. */
static int begins_well(const struct raw_chunks *r, const uint8_t *p, size_t size, unsigned skipped)
{
    int i = r->n - 1;

    while (i >= 0 && (r->ours[i] == RAW_CHUNK_SUM || skipped >> i & 1))
        i--;
    /* The front of a zlib stream: its method, and a number that 31 divides. */
    return i < 0 || !p || !r->deflate[i] ||
           (size > 2 && (p[0] & 15) == 8 && (p[0] << 8 | p[1]) % 31 == 0 && !(p[1] & 0x20));
}

/* Takes the sum off the end of a chunk; false: it is wrong.  bytes NULL: it is not looked at. */
static int sum_off(const uint8_t *bytes, size_t *size)
{
    if (bytes)
        return fletcher32_check(bytes, size);
    if (*size < FLETCHER32_SIZE)
        return 0;
    *size -= FLETCHER32_SIZE;
    return 1;
}

int raw_chunk_in(const struct raw_chunks *r, const uint8_t *bytes, size_t *size, unsigned skipped,
                 uint32_t *out)
{
    int i;

    *out = 0;
    if (r->pipeline) {
        *out = r->n < 32 ? skipped & ((1u << r->n) - 1) : skipped;
        return *size > 0;
    }
    if (r->n < 32 && skipped >> r->n)
        return 0;
    for (i = 0; i < r->n; i++) {
        unsigned skips = skipped >> i & 1;

        if (r->ours[i] != RAW_CHUNK_SUM)
            *out |= skips << r->ours[i];
        else if (!skips && !sum_off(bytes, size))
            return 0;
    }
    return *size > 0 && begins_well(r, bytes, *size, skipped);
}

int raw_chunk_filtered(const struct raw_chunks *r, uint32_t skipped)
{
    int i;

    for (i = 0; i < r->n; i++)
        if (r->ours[i] != RAW_CHUNK_SUM && !(skipped >> r->ours[i] & 1))
            return 1;
    return 0;
}

int raw_chunk_out(struct raw_chunks *r, drep_dataset *ds, const int64_t *start, int bare,
                  size_t *size, unsigned *skipped)
{
    int64_t stored = 0;
    uint32_t mask = 0;
    int i, err = drep_read_stored(ds, start, r->bytes, (int64_t)r->room, &stored, &mask);

    if (err == DREP_ERR_BUFFER || (!err && !r->bytes && stored > 0)) {
        uint8_t *bytes = realloc(r->bytes, (size_t)stored + FLETCHER32_SIZE);

        if (!bytes)
            return DREP_ERR_NOMEM;
        r->bytes = bytes;
        r->room = (size_t)stored;
        err = drep_read_stored(ds, start, r->bytes, (int64_t)r->room, &stored, &mask);
    }
    *size = (size_t)stored;
    *skipped = 0;
    for (i = 0; !err && stored > 0 && i < r->n; i++) {
        if (r->ours[i] == RAW_CHUNK_SUM && bare)
            *skipped |= 1u << i;
        else if (r->ours[i] == RAW_CHUNK_SUM)
            *size += fletcher32_add(r->bytes, (size_t)stored);
        else
            *skipped |= (unsigned)(mask >> r->ours[i] & 1) << i;
    }
    return err;
}
