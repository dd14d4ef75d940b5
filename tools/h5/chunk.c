/* chunk.c - the stored bytes of a chunk become its elements.
 *
 * Only for the filters that most files have: shuffle, deflate and fletcher32, in any
 * order.  Whatever is not as expected is left to HDF5, which then says what is wrong. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/chunk.h"
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The state of one thread. */
struct decoder {
#if HAVE_DEFLATE
    struct libdeflate_decompressor *inflate;
#endif
    uint8_t *spare; /* as large as a chunk, and a little */
};

struct decoding {
    H5Z_filter_t filter[H5Z_MAX_NFILTERS];
    int n;
    size_t element, size; /* bytes of an element, of a chunk */
    int threads;
    struct decoder *decoder;
};

static int is_known(H5Z_filter_t id)
{
    return id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32 ||
           (HAVE_DEFLATE && id == H5Z_FILTER_DEFLATE);
}

void decoding_free(struct decoding *g)
{
    int i;

    for (i = 0; g && i < g->threads; i++) {
#if HAVE_DEFLATE
        if (g->decoder[i].inflate)
            libdeflate_free_decompressor(g->decoder[i].inflate);
#endif
        free(g->decoder[i].spare);
    }
    if (g)
        free(g->decoder);
    free(g);
}

/* Which element of cd_values shuffle keeps its width in is HDF5's own; so is that it is
 * the datatype's size. */
static int read_filters(hid_t dcpl, struct decoding *g)
{
    int i, n = H5Pget_nfilters(dcpl);
    unsigned flags, value[1], config;

    if (n < 0 || n > H5Z_MAX_NFILTERS)
        return 0;
    for (i = 0; i < n; i++) {
        size_t values = 1;

        value[0] = (unsigned)g->element;
        g->filter[i] = H5Pget_filter2(dcpl, (unsigned)i, &flags, &values, value, 0, NULL, &config);
        if (!is_known(g->filter[i]) ||
            (g->filter[i] == H5Z_FILTER_SHUFFLE && value[0] != g->element))
            return 0;
    }
    g->n = n;
    return 1;
}

struct decoding *decoding_new(hid_t dcpl, size_t element, size_t size, int threads)
{
    struct decoding *g = calloc(1, sizeof *g);
    int i, ok;

    if (!g)
        return NULL;
    g->element = element;
    g->size = size;
    g->decoder = calloc((size_t)threads, sizeof *g->decoder);
    g->threads = g->decoder ? threads : 0;
    ok = g->decoder && read_filters(dcpl, g);
    for (i = 0; ok && i < g->threads; i++) {
        g->decoder[i].spare = malloc(size + FLETCHER32_SIZE * H5Z_MAX_NFILTERS);
        ok = g->decoder[i].spare != NULL;
#if HAVE_DEFLATE
        g->decoder[i].inflate = libdeflate_alloc_decompressor();
        ok &= g->decoder[i].inflate != NULL;
#endif
    }
    if (ok)
        return g;
    decoding_free(g);
    return NULL;
}

/* Fletcher's sum of 16-bit words, the most significant byte first, an odd byte padded. */
static uint32_t fletcher32(const uint8_t *p, size_t size)
{
    uint32_t a = 0, b = 0;
    size_t words = size / 2;

    while (words) {
        size_t some = words > 360 ? 360 : words;

        words -= some;
        for (; some; some--, p += 2) {
            a += (uint32_t)(p[0] << 8 | p[1]);
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    if (size % 2) {
        a += (uint32_t)(p[0] << 8);
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

int fletcher32_check(const uint8_t *p, size_t *size)
{
    uint32_t stored;

    if (*size < FLETCHER32_SIZE)
        return 0;
    *size -= FLETCHER32_SIZE;
    p += *size;
    stored = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return stored == fletcher32(p - *size, *size);
}

size_t fletcher32_add(uint8_t *p, size_t size)
{
    uint32_t sum = fletcher32(p, size);
    int i;

    for (i = 0; i < FLETCHER32_SIZE; i++)
        p[size + (size_t)i] = (uint8_t)(sum >> 8 * i);
    return FLETCHER32_SIZE;
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

/* Bytes behind the chunk that filters before number i have added. */
static size_t sums_before(const struct decoding *g, int i, unsigned skipped)
{
    size_t n = 0;

    while (i-- > 0)
        n += g->filter[i] == H5Z_FILTER_FLETCHER32 && !(skipped >> i & 1) ? FLETCHER32_SIZE : 0;
    return n;
}

/* True if a filter before number i has changed the size in a way that is not known. */
static int deflated_before(const struct decoding *g, int i, unsigned skipped)
{
    while (i-- > 0)
        if (g->filter[i] == H5Z_FILTER_DEFLATE && !(skipped >> i & 1))
            return 1;
    return 0;
}

#if HAVE_DEFLATE
static int inflate(struct decoder *d, const uint8_t *in, size_t size, uint8_t *out, size_t expect)
{
    size_t got = 0;

    if (libdeflate_zlib_decompress(d->inflate, in, size, out, expect, &got) != LIBDEFLATE_SUCCESS)
        return DECODE_UNKNOWN;
    return got == expect ? DECODE_WHOLE : DECODE_SHORT;
}
#else
static int inflate(struct decoder *d, const uint8_t *in, size_t size, uint8_t *out, size_t expect)
{
    (void)d, (void)in, (void)size, (void)out, (void)expect;
    return DECODE_UNKNOWN;
}
#endif

int decode_chunk(struct decoding *g, int thread, const uint8_t *raw, size_t size, unsigned skipped,
                 uint8_t *out)
{
    struct decoder *d = &g->decoder[thread];
    const uint8_t *in = raw;
    uint8_t *to = out;
    int i, how = DECODE_WHOLE;

    for (i = g->n - 1; how == DECODE_WHOLE && i >= 0; i--) {
        size_t expect = g->size + sums_before(g, i, skipped);
        int deflated = deflated_before(g, i, skipped);

        if (skipped >> i & 1)
            continue;
        if (g->filter[i] == H5Z_FILTER_FLETCHER32) {
            how = size < FLETCHER32_SIZE        ? DECODE_SHORT
                  : fletcher32_check(in, &size) ? DECODE_WHOLE
                                                : DECODE_UNKNOWN;
            continue;
        }
        to = in == out ? d->spare : out;
        /* The spare takes sums too; the caller's buffer does not. */
        if (expect > g->size)
            to = d->spare;
        if (to == in)
            return DECODE_UNKNOWN;
        if (g->filter[i] == H5Z_FILTER_SHUFFLE) {
            if (deflated ? size > g->size : size != expect)
                return !deflated && size < expect ? DECODE_SHORT : DECODE_UNKNOWN;
            unshuffle(in, to, size, g->element);
        } else if (deflated) {
            return DECODE_UNKNOWN;
        } else {
            how = inflate(d, in, size, to, expect);
            size = expect;
        }
        in = to;
    }
    if (how != DECODE_WHOLE || size > g->size)
        return how == DECODE_SHORT ? DECODE_SHORT : DECODE_UNKNOWN;
    if (size < g->size)
        return DECODE_SHORT;
    if (in != out)
        memcpy(out, in, size);
    return DECODE_WHOLE;
}
