/* filter.c - the filters: what chunks pass through on their way to the file.
 *
 * Rearranging filters (shuffle, bitshuffle, delta) keep the length and touch only the
 * fixed part of a payload; compressors put the length of their input, 8 bytes
 * big-endian, before their stream.  A compressor that does not shrink its input is
 * skipped for that chunk.  SPEC.md, section 8. */
#include "store/store.h"

#include "base/error.h"
#include "base/mem.h"

#include <limits.h>
#include <string.h>

#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#include <lz4hc.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define PREFIX 8

/* A view of one stage's work. */
struct stage {
    const uint8_t *in;
    size_t in_size;
    size_t fixed; /* bytes of the fixed part */
    const uint32_t *param;
    uint8_t *out;
    size_t out_size; /* room; then bytes written */
};

typedef int stage_fn(struct stage *s);

static uint64_t load_be64(const uint8_t *p)
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v = v << 8 | p[i];
    return v;
}

static void store_be64(uint8_t *p, uint64_t v)
{
    for (int i = 7; i >= 0; i--, v >>= 8)
        p[i] = (uint8_t)v;
}

/* ---- rearranging filters: output as long as the input ---- */

/* Always inlined with a constant s for the common sizes. */
static inline __attribute__((always_inline)) void shuffle_by(const uint8_t *restrict in,
                                                             uint8_t *restrict out, size_t n,
                                                             size_t s)
{
    const size_t tile = 512;

    for (size_t at = 0; at < n; at += tile) {
        size_t end = n - at < tile ? n : at + tile;

        for (size_t b = 0; b < s; b++)
            for (size_t i = at; i < end; i++)
                out[b * n + i] = in[i * s + b];
    }
}

static inline __attribute__((always_inline)) void unshuffle_by(const uint8_t *restrict in,
                                                               uint8_t *restrict out, size_t n,
                                                               size_t s)
{
    const size_t tile = 512;

    for (size_t at = 0; at < n; at += tile) {
        size_t end = n - at < tile ? n : at + tile;

        for (size_t i = at; i < end; i++)
            for (size_t b = 0; b < s; b++)
                out[i * s + b] = in[b * n + i];
    }
}

static int shuffle_run(struct stage *st, int encode)
{
    size_t s = st->param[0], n = s ? st->fixed / s : 0, whole = n * s;

    if (s == 8)
        encode ? shuffle_by(st->in, st->out, n, 8) : unshuffle_by(st->in, st->out, n, 8);
    else if (s == 4)
        encode ? shuffle_by(st->in, st->out, n, 4) : unshuffle_by(st->in, st->out, n, 4);
    else if (s == 2)
        encode ? shuffle_by(st->in, st->out, n, 2) : unshuffle_by(st->in, st->out, n, 2);
    else
        encode ? shuffle_by(st->in, st->out, n, s) : unshuffle_by(st->in, st->out, n, s);
    memcpy(st->out + whole, st->in + whole, st->in_size - whole);
    st->out_size = st->in_size;
    return 0;
}

static int shuffle_encode(struct stage *st)
{
    return shuffle_run(st, 1);
}

static int shuffle_decode(struct stage *st)
{
    return shuffle_run(st, 0);
}

/* The 8x8 bit matrix of a word, transposed: bit k of byte j becomes bit j of byte k. */
static uint64_t transpose8(uint64_t x)
{
    uint64_t t;

    t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
    return x ^ t ^ (t << 28);
}

static int bitshuffle_run(struct stage *st, int encode)
{
    size_t s = st->param[0], groups = s ? st->fixed / s / 8 : 0, whole = groups * 8 * s;

    for (size_t m = 0; m < groups; m++)
        for (size_t b = 0; b < s; b++) {
            uint64_t x = 0;

            if (encode) {
                for (size_t j = 0; j < 8; j++)
                    x |= (uint64_t)st->in[(8 * m + j) * s + b] << (8 * j);
                x = transpose8(x);
                for (size_t k = 0; k < 8; k++)
                    st->out[(b * 8 + k) * groups + m] = (uint8_t)(x >> (8 * k));
            } else {
                for (size_t k = 0; k < 8; k++)
                    x |= (uint64_t)st->in[(b * 8 + k) * groups + m] << (8 * k);
                x = transpose8(x);
                for (size_t j = 0; j < 8; j++)
                    st->out[(8 * m + j) * s + b] = (uint8_t)(x >> (8 * j));
            }
        }
    memcpy(st->out + whole, st->in + whole, st->in_size - whole);
    st->out_size = st->in_size;
    return 0;
}

static int bitshuffle_encode(struct stage *st)
{
    return bitshuffle_run(st, 1);
}

static int bitshuffle_decode(struct stage *st)
{
    return bitshuffle_run(st, 0);
}

static uint64_t delta_load(const uint8_t *p, size_t w, int little)
{
    uint64_t v = 0;

    for (size_t i = 0; i < w; i++)
        v = v << 8 | p[little ? w - 1 - i : i];
    return v;
}

static void delta_store(uint8_t *p, size_t w, int little, uint64_t v)
{
    for (size_t i = 0; i < w; i++, v >>= 8)
        p[little ? i : w - 1 - i] = (uint8_t)v;
}

static int delta_run(struct stage *st, int encode)
{
    size_t w = st->param[0], n;
    int little = (int)st->param[1];
    uint64_t last = 0;

    if (w != 1 && w != 2 && w != 4 && w != 8)
        return fail(DREP_ERR_FORMAT, "delta filter of width %zu", w);
    n = st->fixed / w;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = delta_load(st->in + i * w, w, little);

        if (encode) {
            delta_store(st->out + i * w, w, little, v - last);
            last = v;
        } else {
            last += v;
            delta_store(st->out + i * w, w, little, last);
        }
    }
    memcpy(st->out + n * w, st->in + n * w, st->in_size - n * w);
    st->out_size = st->in_size;
    return 0;
}

static int delta_encode(struct stage *st)
{
    return delta_run(st, 1);
}

static int delta_decode(struct stage *st)
{
    return delta_run(st, 0);
}

/* ---- compressors: streams behind the prefix; out_size 0 when it does not fit ---- */

#ifdef HAVE_DEFLATE
static int deflate_encode(struct stage *st)
{
    int level = st->param[0] == 0 ? 6 : (int)st->param[0];
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level > 12 ? 12 : level);

    if (c == NULL)
        return fail(DREP_ERR_NOMEM, "deflate: out of memory");
    st->out_size = libdeflate_zlib_compress(c, st->in, st->in_size, st->out, st->out_size);
    libdeflate_free_compressor(c);
    return 0;
}

static int deflate_decode(struct stage *st)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result r;
    size_t used = 0, got = 0;

    if (d == NULL)
        return fail(DREP_ERR_NOMEM, "deflate: out of memory");
    r = libdeflate_zlib_decompress_ex(d, st->in, st->in_size, st->out, st->out_size, &used, &got);
    libdeflate_free_decompressor(d);
    if (r != LIBDEFLATE_SUCCESS || used != st->in_size || got != st->out_size)
        return fail(DREP_ERR_FORMAT, "deflate: damaged stream");
    return 0;
}
#endif

#ifdef HAVE_ZSTD
static int zstd_encode(struct stage *st)
{
    int level = st->param[0] == 0 ? 3 : (int)st->param[0];
    size_t n = ZSTD_compress(st->out, st->out_size, st->in, st->in_size, level);

    st->out_size = ZSTD_isError(n) ? 0 : n;
    return 0;
}

static int zstd_decode(struct stage *st)
{
    size_t n = ZSTD_decompress(st->out, st->out_size, st->in, st->in_size);

    if (ZSTD_isError(n) || n != st->out_size)
        return fail(DREP_ERR_FORMAT, "zstd: damaged stream");
    return 0;
}
#endif

#ifdef HAVE_LZ4
static int lz4_encode(struct stage *st)
{
    int n, room = st->out_size > INT_MAX ? INT_MAX : (int)st->out_size;

    if (st->in_size > LZ4_MAX_INPUT_SIZE) {
        st->out_size = 0;
        return 0;
    }
    if (st->param[0] <= 1)
        n = LZ4_compress_default((const char *)st->in, (char *)st->out, (int)st->in_size, room);
    else
        n = LZ4_compress_HC((const char *)st->in, (char *)st->out, (int)st->in_size, room,
                            (int)st->param[0]);
    st->out_size = n > 0 ? (size_t)n : 0;
    return 0;
}

static int lz4_decode(struct stage *st)
{
    int n;

    if (st->in_size > INT_MAX || st->out_size > INT_MAX)
        return fail(DREP_ERR_FORMAT, "lz4: stream of %zu bytes", st->in_size);
    n = LZ4_decompress_safe((const char *)st->in, (char *)st->out, (int)st->in_size,
                            (int)st->out_size);
    if (n < 0 || (size_t)n != st->out_size)
        return fail(DREP_ERR_FORMAT, "lz4: damaged stream");
    return 0;
}
#endif

struct filter_class {
    int id;
    int compresses;
    stage_fn *encode, *decode;
};

static const struct filter_class classes[] = {
    {FMT_FILTER_SHUFFLE, 0, shuffle_encode, shuffle_decode},
    {FMT_FILTER_BITSHUFFLE, 0, bitshuffle_encode, bitshuffle_decode},
    {FMT_FILTER_DELTA, 0, delta_encode, delta_decode},
#ifdef HAVE_DEFLATE
    {FMT_FILTER_DEFLATE, 1, deflate_encode, deflate_decode},
#endif
#ifdef HAVE_ZSTD
    {FMT_FILTER_ZSTD, 1, zstd_encode, zstd_decode},
#endif
#ifdef HAVE_LZ4
    {FMT_FILTER_LZ4, 1, lz4_encode, lz4_decode},
#endif
};

static const struct filter_class *class_of(int id)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].id == id)
            return &classes[i];
    return NULL;
}

int filter_available(int id)
{
    return class_of(id) != NULL;
}

static int filter_missing(const struct filter_rec *f)
{
    const char *name = fmt_filter_name(f->id);

    if (name != NULL)
        return fail(DREP_ERR_UNSUPPORTED, "filter %s is not built in", name);
    return fail(DREP_ERR_UNSUPPORTED, "unknown filter %u (%.*s)", f->id, (int)f->name.len,
                f->name.len ? (const char *)f->name.p : "");
}

/* One stage of encoding from `in` into `out`; *skip: it did not shrink. */
static int encode_one(const struct filter_rec *f, const struct buf *in, size_t fixed,
                      struct buf *out, int *skip)
{
    const struct filter_class *c = class_of(f->id);
    struct stage st = {in->p, in->len, fixed < in->len ? fixed : in->len, f->param, NULL, 0};
    int err;

    *skip = 0;
    if (c == NULL)
        return filter_missing(f);
    if (c->compresses && in->len <= PREFIX + 1) {
        *skip = 1;
        return 0;
    }
    if ((err = buf_reserve(out, in->len + 1)) != 0)
        return err;
    /* A compressor gets one byte less than its input has, so that it must shrink. */
    st.out = c->compresses ? out->p + PREFIX : out->p;
    st.out_size = c->compresses ? in->len - PREFIX - 1 : in->len;
    if ((err = c->encode(&st)) != 0)
        return err;
    if (c->compresses && st.out_size == 0) {
        *skip = 1;
        return 0;
    }
    if (c->compresses)
        store_be64(out->p, in->len);
    out->len = st.out_size + (c->compresses ? PREFIX : 0);
    return 0;
}

static void buf_swap(struct buf *a, struct buf *b)
{
    struct buf t = *a;

    *a = *b;
    *b = t;
}

/* The input of the first filter: there is memory even for no bytes, since filters
 * compute with its address. */
static int buf_start(struct buf *b, const void *p, size_t size)
{
    int err = buf_reserve(b, size + 1);

    return err ? err : buf_set(b, p, size);
}

int filters_encode(const struct filter_rec *f, int n, const void *buf, size_t size, size_t fixed,
                   struct buf *out, uint32_t *skipped)
{
    struct buf next = {0};
    uint32_t skip_mask = 0;
    int err = buf_start(out, buf, size), packed = 0;

    for (int i = 0; err == 0 && i < n; i++) {
        int skip;

        /* Behind a compressor there is no fixed part any more: all bytes are alike. */
        err = encode_one(&f[i], out, packed ? out->len : fixed, &next, &skip);
        if (err == 0 && skip) {
            skip_mask |= 1u << i;
        } else if (err == 0) {
            const struct filter_class *c = class_of(f[i].id);

            packed |= c->compresses;
            buf_swap(out, &next);
        }
    }
    /* Without any gain from a compressor the payload is stored as it is. */
    if (err == 0 && !packed) {
        skip_mask = n == 0 ? 0 : (uint32_t)((1ull << n) - 1);
        err = buf_set(out, buf, size);
    }
    buf_release(&next);
    if (err == 0)
        *skipped = skip_mask;
    return err;
}

static int decode_one(const struct filter_rec *f, const struct buf *in, size_t fixed, uint64_t max,
                      struct buf *out)
{
    const struct filter_class *c = class_of(f->id);
    struct stage st = {in->p, in->len, fixed < in->len ? fixed : in->len, f->param, NULL, in->len};
    int err;

    if (c == NULL)
        return filter_missing(f);
    if (c->compresses) {
        uint64_t len;

        if (in->len < PREFIX)
            return fail(DREP_ERR_FORMAT, "%s: shorter than its length field",
                        fmt_filter_name(f->id));
        len = load_be64(in->p);
        if (len > max)
            return fail(DREP_ERR_LIMIT, "%s: claims %llu bytes, more than the %llu it may have",
                        fmt_filter_name(f->id), (unsigned long long)len, (unsigned long long)max);
        st.in += PREFIX;
        st.in_size -= PREFIX;
        st.out_size = (size_t)len;
    }
    if ((err = buf_reserve(out, st.out_size + 1)) != 0)
        return err;
    st.out = out->p;
    if ((err = c->decode(&st)) != 0)
        return err;
    out->len = st.out_size;
    return 0;
}

int filters_decode(const struct filter_rec *f, int n, uint32_t skipped, const void *buf,
                   size_t size, size_t fixed, uint64_t max, struct buf *out)
{
    struct buf next = {0};
    int err = buf_start(out, buf, size);

    for (int i = n - 1; err == 0 && i >= 0; i--) {
        int compressed_before = 0;

        if (skipped >> i & 1)
            continue;
        for (int k = 0; k < i; k++) {
            const struct filter_class *c = class_of(f[k].id);

            compressed_before |= c != NULL && c->compresses && !(skipped >> k & 1);
        }
        err = decode_one(&f[i], out, compressed_before ? out->len : fixed, max, &next);
        if (err == 0)
            buf_swap(out, &next);
    }
    buf_release(&next);
    return err;
}
