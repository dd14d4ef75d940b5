/* chunk.c - the stored bytes of a chunk become its elements.
 *
 * Only for filters that are known here, in any order: shuffle, deflate, fletcher32 and those of
 * framed.c.  Whatever is not as expected is left to HDF5, which then says what is wrong.  A stream
 * must end with its bytes, as the container demands. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/chunk.h"
#include "chunk/framing.h"
#include "chunk/hdf5.h"
#include "tools/h5/framed.h"
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The state of one thread, made when it is needed. */
struct decoder {
#if HAVE_DEFLATE
    struct libdeflate_decompressor *inflate;
#endif
    uint8_t *spare[2]; /* each of `room` bytes */
};

/* One filter of HDF5, and for those of framed.c ours. */
struct unfilter {
    H5Z_filter_t id;
    unsigned width; /* shuffle: bytes of an element */
    int unknown;
    drep_filter framed;
};

struct decoding {
    struct unfilter filter[H5Z_MAX_NFILTERS];
    int n;
    size_t size; /* bytes of a chunk */
    size_t room; /* of what any filter was given */
    int threads;
    struct decoder *decoder;
};

size_t chunk_memory(size_t element, int rank, const hsize_t *chunk)
{
    size_t size = element;
    int d;

    for (d = 0; d < rank; d++)
        if (__builtin_mul_overflow(size, chunk[d], &size))
            return SIZE_MAX;
    return size;
}

size_t chunk_memory_of(size_t element, const drep_dsinfo *info)
{
    hsize_t chunk[DREP_MAX_RANK] = {0};
    int d;

    for (d = 0; d < info->rank; d++)
        chunk[d] = (hsize_t)info->chunk[d];
    return chunk_memory(element, info->rank, chunk);
}

void decoding_free(struct decoding *g)
{
    int i;

    for (i = 0; g && i < g->threads; i++) {
#if HAVE_DEFLATE
        if (g->decoder[i].inflate)
            libdeflate_free_decompressor(g->decoder[i].inflate);
#endif
        free(g->decoder[i].spare[0]);
        free(g->decoder[i].spare[1]);
    }
    if (g)
        free(g->decoder);
    free(g);
}

/* True for filters that change the length by what the bytes are. */
static int compresses(const struct unfilter *f)
{
    return f->id != H5Z_FILTER_SHUFFLE && f->id != H5Z_FILTER_FLETCHER32;
}

/* Which element of cd_values shuffle keeps its width in is HDF5's own. */
static int read_filter(hid_t dcpl, int i, size_t element, struct unfilter *f)
{
    unsigned flags, value[8] = {(unsigned)element}, config;
    size_t values = 8;

    f->id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &values, value, 0, NULL, &config);
    f->width = value[0];
    if (f->id == H5Z_FILTER_SHUFFLE)
        return f->width > 0;
    return f->id == H5Z_FILTER_FLETCHER32 || (HAVE_DEFLATE && f->id == H5Z_FILTER_DEFLATE) ||
           framed_in(f->id, values < 8 ? values : 8, value, &f->framed);
}

/* Where several compress, the inner ones may have made a little more of their input. */
static int read_filters(hid_t dcpl, size_t element, struct decoding *g, int partly)
{
    int i, n = H5Pget_nfilters(dcpl), several = 0;

    if (n < 0 || n > H5Z_MAX_NFILTERS)
        return 0;
    for (i = 0; i < n; i++) {
        g->filter[i].unknown = !read_filter(dcpl, i, element, &g->filter[i]);
        if (g->filter[i].unknown && !partly)
            return 0;
        several += compresses(&g->filter[i]);
    }
    g->n = n;
    g->room = g->size + FLETCHER32_SIZE * H5Z_MAX_NFILTERS;
    if (several > 1)
        g->room = 2 * g->size + 4096;
    return 1;
}

struct decoding *decoding_new(hid_t dcpl, size_t element, size_t size, int threads, int partly)
{
    struct decoding *g = size <= SIZE_MAX / 4 ? calloc(1, sizeof *g) : NULL;

    if (!g)
        return NULL;
    g->size = size;
    g->decoder = calloc((size_t)threads, sizeof *g->decoder);
    g->threads = g->decoder ? threads : 0;
    if (g->decoder && read_filters(dcpl, element, g, partly))
        return g;
    decoding_free(g);
    return NULL;
}

/* The spare that does not hold `in`; NULL without memory. */
static uint8_t *spare_of(const struct decoding *g, struct decoder *d, const uint8_t *in)
{
    int k = in && in == d->spare[0];

    if (!d->spare[k])
        d->spare[k] = malloc(g->room);
    return d->spare[k];
}

/* One loop, made fast by constant widths. */
static inline __attribute__((always_inline)) void unshuffle_by(const uint8_t *in, uint8_t *out,
                                                               size_t n, size_t width)
{
    size_t i, b;

    for (i = 0; i < n; i++)
        for (b = 0; b < width; b++)
            out[i * width + b] = in[b * n + i];
}

static void unshuffle(const uint8_t *in, uint8_t *out, size_t size, size_t width)
{
    size_t n = size / width, done = n * width;

    switch (width) {
    case 2:
        unshuffle_by(in, out, n, 2);
        break;
    case 4:
        unshuffle_by(in, out, n, 4);
        break;
    case 8:
        unshuffle_by(in, out, n, 8);
        break;
    default:
        unshuffle_by(in, out, n, width);
    }
    if (done < size)
        memcpy(out + done, in + done, size - done);
}

/* What is known of the bytes that filter i was given. */
struct filter_input {
    size_t size; /* if `exact`, else at most */
    int exact;   /* no compressor before it was applied */
    int first;   /* nor any other filter: they are the elements */
};

static struct filter_input given_to(const struct decoding *g, int i, unsigned skipped)
{
    struct filter_input e = {g->size, 1, 1};

    while (i-- > 0) {
        if (skipped >> i & 1)
            continue;
        e.first = 0;
        e.exact &= !compresses(&g->filter[i]);
        e.size += g->filter[i].id == H5Z_FILTER_FLETCHER32 ? FLETCHER32_SIZE : 0;
    }
    if (!e.exact)
        e.size = g->room;
    return e;
}

#if HAVE_DEFLATE
static int inflate(struct decoder *d, const uint8_t *in, size_t size, uint8_t *out, size_t *got)
{
    size_t used = 0;

    if (!d->inflate)
        d->inflate = libdeflate_alloc_decompressor();
    return d->inflate &&
           libdeflate_zlib_decompress_ex(d->inflate, in, size, out, *got, &used, got) ==
               LIBDEFLATE_SUCCESS &&
           used == size;
}
#else
static int inflate(struct decoder *d, const uint8_t *in, size_t size, uint8_t *out, size_t *got)
{
    (void)d, (void)in, (void)size, (void)out, (void)got;
    return 0;
}
#endif

/* Undoes a compressor; *size: of its stream, then of what it gave. */
static int unpack(struct decoder *d, const struct unfilter *f, const uint8_t *in, size_t *size,
                  const struct filter_input *e, uint8_t *out)
{
    struct span stream = {in, *size};
    size_t got = e->size;
    int ok = f->id == H5Z_FILTER_DEFLATE
                 ? inflate(d, in, *size, out, &got)
                 : framing_sound(f->framed.id, f->framed.param, &stream) &&
                       framing_decode_most(f->framed.id, f->framed.param, &stream, out, &got) == 0;

    *size = got;
    return !ok ? DECODE_UNKNOWN : e->exact && got < e->size ? DECODE_SHORT : DECODE_WHOLE;
}

static int check_sum(const uint8_t *in, size_t *size)
{
    if (*size < FLETCHER32_SIZE)
        return DECODE_SHORT;
    return fletcher32_check(in, size) ? DECODE_WHOLE : DECODE_UNKNOWN;
}

/* Undoes filter i, which is not fletcher32: *in and *size become what it was given, in `out` if
 * that is the elements. */
static int undo(struct decoding *g, struct decoder *d, int i, const struct filter_input *e,
                const uint8_t **in, size_t *size, uint8_t *out)
{
    const struct unfilter *f = &g->filter[i];
    uint8_t *to;
    int how = DECODE_WHOLE;

    if (f->id == H5Z_FILTER_SHUFFLE && (e->exact ? *size != e->size : *size > e->size))
        return *size < e->size ? DECODE_SHORT : DECODE_UNKNOWN;
    if (f->id == H5Z_FILTER_SHUFFLE && e->first && !out)
        return DECODE_WHOLE; /* the same bytes in another order */
    to = e->first && out ? out : spare_of(g, d, *in);
    if (!to)
        return DECODE_UNKNOWN;
    if (f->id == H5Z_FILTER_SHUFFLE)
        unshuffle(*in, to, *size, f->width);
    else
        how = unpack(d, f, *in, size, e, to);
    *in = to;
    return how;
}

int decode_chunk(struct decoding *g, int thread, const uint8_t *raw, size_t size, unsigned skipped,
                 uint8_t *out)
{
    struct decoder *d = &g->decoder[thread];
    const uint8_t *in = raw;
    int i, how = DECODE_WHOLE;

    for (i = g->n - 1; how == DECODE_WHOLE && i >= 0; i--) {
        struct filter_input e = given_to(g, i, skipped);

        if (skipped >> i & 1)
            continue;
        if (g->filter[i].unknown)
            return DECODE_UNKNOWN;
        how = g->filter[i].id == H5Z_FILTER_FLETCHER32 ? check_sum(in, &size)
                                                       : undo(g, d, i, &e, &in, &size, out);
    }
    if (how != DECODE_WHOLE || size > g->size)
        return how == DECODE_SHORT ? DECODE_SHORT : DECODE_UNKNOWN;
    if (size < g->size)
        return DECODE_SHORT;
    if (out && in != out)
        memcpy(out, in, size);
    return DECODE_WHOLE;
}
