/* filter.c - encoding and decoding the payload of a chunk through its list of filters.
 *
 * Rearranging filters (shuffle, bitshuffle, delta) keep the length and touch only the fixed part
 * of a payload; compressors and users' filters put the length of their input, 8 bytes big-endian,
 * before their output.  A compressor that does not shrink its input is skipped for that chunk.
 * SPEC.md, section 8. */
/* SPDX-License-Identifier: MIT */
#include "chunk/filter.h"
#include "base/buf.h"
#include "chunk/registry.h"

#include "base/error.h"
#include "base/isa.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "chunk/framing.h"
#include "chunk/shuffle.h"

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
#define FILTER_MEANS 0x0fu /* flags that a reader must know */

/* One filter applied to one chunk. */
struct filter_stage {
    struct codec *codec;
    const struct filter_rec *rec;
    const struct user_filter *user;
    const uint8_t *in;
    size_t in_size;
    size_t fixed; /* bytes of the fixed part */
    uint8_t *out;
    size_t out_size; /* room; then bytes written */
};

typedef int stage_fn(struct filter_stage *s);

/* ---- rearranging filters: output as long as the input ---- */

/* Bytes behind the whole elements follow unchanged. */
static void copy_rest(struct filter_stage *s, size_t whole)
{
    if (whole < s->in_size)
        memcpy(s->out + whole, s->in + whole, s->in_size - whole);
    s->out_size = s->in_size;
}

typedef void shuffle_fn(uint8_t *out, const uint8_t *in, size_t n, size_t s);

static int shuffle_run(struct filter_stage *s, int unit, shuffle_fn *fn)
{
    size_t size = s->rec->param[0], n;

    if (size == 0)
        return fail(DREP_ERR_FORMAT, "shuffle of elements of 0 bytes (R8.32)");
    n = s->fixed / size / (size_t)unit * (size_t)unit;
    if (n > 0)
        fn(s->out, s->in, n, size);
    copy_rest(s, n * size);
    return 0;
}

static int shuffle_encode(struct filter_stage *s)
{
    return shuffle_run(s, 1, shuffle_bytes);
}

static int shuffle_decode(struct filter_stage *s)
{
    return shuffle_run(s, 1, unshuffle_bytes);
}

static int bitshuffle_encode(struct filter_stage *s)
{
    return shuffle_run(s, 8, shuffle_bits);
}

static int bitshuffle_decode(struct filter_stage *s)
{
    return shuffle_run(s, 8, unshuffle_bits);
}

INLINE uint64_t number_get(const uint8_t *p, size_t w, int little)
{
    uint64_t v = 0;

    for (size_t i = 0; i < w; i++)
        v = v << 8 | p[little ? w - 1 - i : i];
    return v;
}

INLINE void number_put(uint8_t *p, size_t w, int little, uint64_t v)
{
    for (size_t i = 0; i < w; i++, v >>= 8)
        p[little ? i : w - 1 - i] = (uint8_t)v;
}

/* Always with a constant width and order: then a number is one load. */
INLINE void delta_by(const struct filter_stage *s, size_t n, size_t w, int little, int encode)
{
    uint64_t last = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t v = number_get(s->in + i * w, w, little);

        number_put(s->out + i * w, w, little, encode ? v - last : v + last);
        last = encode ? v : v + last;
    }
}

INLINE int delta_run(struct filter_stage *s, int encode)
{
    size_t w = s->rec->param[0], n;
    int little = s->rec->param[1] != 0;

    if (w != 1 && w != 2 && w != 4 && w != 8)
        return fail(DREP_ERR_FORMAT, "delta filter of width %zu (R8.32)", w);
    n = s->fixed / w;
    if (w == 1)
        delta_by(s, n, 1, 0, encode);
    else if (w == 2)
        little ? delta_by(s, n, 2, 1, encode) : delta_by(s, n, 2, 0, encode);
    else if (w == 4)
        little ? delta_by(s, n, 4, 1, encode) : delta_by(s, n, 4, 0, encode);
    else
        little ? delta_by(s, n, 8, 1, encode) : delta_by(s, n, 8, 0, encode);
    copy_rest(s, n * w);
    return 0;
}

static int delta_encode(struct filter_stage *s)
{
    return delta_run(s, 1);
}

static int delta_decode(struct filter_stage *s)
{
    return delta_run(s, 0);
}

/* ---- compressors: streams behind the prefix; out_size 0 when it does not fit ---- */

#ifdef HAVE_DEFLATE
static int deflate_encode(struct filter_stage *s)
{
    struct codec *k = s->codec;
    int level = s->rec->param[0] == 0 ? 6 : s->rec->param[0] > 12 ? 12 : (int)s->rec->param[0];

    if (k->compressor[0] && k->level != level) {
        libdeflate_free_compressor(k->compressor[0]);
        k->compressor[0] = NULL;
    }
    if (!k->compressor[0])
        k->compressor[0] = libdeflate_alloc_compressor(level);
    if (!k->compressor[0])
        return fail(DREP_ERR_NOMEM, "deflate: out of memory");
    k->level = level;
    s->out_size =
        libdeflate_zlib_compress(k->compressor[0], s->in, s->in_size, s->out, s->out_size);
    return 0;
}

static int deflate_decode(struct filter_stage *s)
{
    struct codec *k = s->codec;
    enum libdeflate_result r;
    size_t used = 0, got = 0;

    if (!k->decompressor[0])
        k->decompressor[0] = libdeflate_alloc_decompressor();
    if (!k->decompressor[0])
        return fail(DREP_ERR_NOMEM, "deflate: out of memory");
    r = libdeflate_zlib_decompress_ex(k->decompressor[0], s->in, s->in_size, s->out, s->out_size,
                                      &used, &got);
    if (r != LIBDEFLATE_SUCCESS || used != s->in_size || got != s->out_size)
        return fail(DREP_ERR_FORMAT, "deflate: damaged stream (R8.34)");
    return 0;
}
#endif

#ifdef HAVE_ZSTD
static int zstd_encode(struct filter_stage *s)
{
    struct codec *k = s->codec;
    int level = s->rec->param[0] == 0 ? 3 : (int)s->rec->param[0];
    size_t n;

    if (!k->compressor[1])
        k->compressor[1] = ZSTD_createCCtx();
    if (!k->compressor[1])
        return fail(DREP_ERR_NOMEM, "zstd: out of memory");
    n = ZSTD_compressCCtx(k->compressor[1], s->out, s->out_size, s->in, s->in_size, level);
    s->out_size = ZSTD_isError(n) ? 0 : n;
    return 0;
}

static int zstd_decode(struct filter_stage *s)
{
    struct codec *k = s->codec;
    size_t n;

    if (!k->decompressor[1])
        k->decompressor[1] = ZSTD_createDCtx();
    if (!k->decompressor[1])
        return fail(DREP_ERR_NOMEM, "zstd: out of memory");
    /* The library would take several frames for one stream, and skip those of others. */
    if (s->in_size < 4 || load_u32(s->in) != 0x28b52ffd ||
        ZSTD_findFrameCompressedSize(s->in, s->in_size) != s->in_size)
        return fail(DREP_ERR_FORMAT, "zstd: not exactly one frame (R8.34)");
    n = ZSTD_decompressDCtx(k->decompressor[1], s->out, s->out_size, s->in, s->in_size);
    if (ZSTD_isError(n) || n != s->out_size)
        return fail(DREP_ERR_FORMAT, "zstd: damaged stream (R8.34)");
    return 0;
}
#endif

#ifdef HAVE_LZ4
static int lz4_encode(struct filter_stage *s)
{
    int n, room = s->out_size > INT_MAX ? INT_MAX : (int)s->out_size;
    int level = (int)s->rec->param[0];

    if (s->in_size > LZ4_MAX_INPUT_SIZE) {
        s->out_size = 0;
        return 0;
    }
    if (level <= 1)
        n = LZ4_compress_default((const char *)s->in, (char *)s->out, (int)s->in_size, room);
    else
        n = LZ4_compress_HC((const char *)s->in, (char *)s->out, (int)s->in_size, room, level);
    s->out_size = n > 0 ? (size_t)n : 0;
    return 0;
}

static int lz4_decode(struct filter_stage *s)
{
    int n;

    if (s->in_size > INT_MAX || s->out_size > INT_MAX)
        return fail(DREP_ERR_FORMAT, "lz4: stream of %zu bytes (R8.34)", s->in_size);
    n = LZ4_decompress_safe((const char *)s->in, (char *)s->out, (int)s->in_size, (int)s->out_size);
    if (n < 0 || (size_t)n != s->out_size)
        return fail(DREP_ERR_FORMAT, "lz4: damaged stream (R8.34)");
    return 0;
}
#endif

/* ---- streams as filters of HDF5 frame them ---- */

static int framed_encode(struct filter_stage *s)
{
    int err = framing_encode(s->rec->id, s->rec->param, &(struct span){s->in, s->in_size}, s->out,
                             &s->out_size);

    return err ? fail_nomem() : 0;
}

static int framed_decode(struct filter_stage *s)
{
    const char *name = fmt_filter_name(s->rec->id);
    int err = framing_decode(s->rec->id, s->rec->param, &(struct span){s->in, s->in_size}, s->out,
                             s->out_size);

    return !err                   ? 0
           : err == FRAMING_NOMEM ? fail(DREP_ERR_NOMEM, "%s: out of memory", name)
           : err == FRAMING_ABSENT
               ? fail(DREP_ERR_UNSUPPORTED, "filter %s: its compressor is not built in", name)
               : fail(DREP_ERR_FORMAT, "%s: damaged stream (R8.42)", name);
}

void codec_release(struct codec *k)
{
    buf_release(&k->room[0]);
    buf_release(&k->room[1]);
    buf_release(&k->stored);
#ifdef HAVE_DEFLATE
    libdeflate_free_compressor(k->compressor[0]);
    libdeflate_free_decompressor(k->decompressor[0]);
#endif
#ifdef HAVE_ZSTD
    ZSTD_freeCCtx(k->compressor[1]);
    ZSTD_freeDCtx(k->decompressor[1]);
#endif
    *k = (struct codec){0};
}

/* ---- users' filters ---- */

static int user_failed(const struct filter_stage *s, int code)
{
    return fail(DREP_ERR_CONVERSION, "filter \"%s\" failed with %d", s->user->name, code);
}

/* Most bytes that a user's filter may make of so many, prefix included. */
static uint64_t user_most(uint64_t size)
{
    return size < FMT_SIZE_MAX ? 2 * size + FILTER_GROWS_MAX : size;
}

/* Others may wait for the chunk that the filter works on: nothing of the file can be read. */
static int user_call(const struct filter_stage *s, drep_filter_fn *fn, size_t *got)
{
    bool before = rwlock_no_reads(true);
    int code =
        fn(s->rec->param, s->rec->nparams, s->in, s->in_size, s->out, got, s->user->extra_state);

    rwlock_no_reads(before);
    return code;
}

static int user_encode(struct filter_stage *s)
{
    size_t room = s->out_size, got = room;
    int code;

    if (!s->user->encode)
        return fail(DREP_ERR_UNSUPPORTED, "filter \"%s\" can only be read", s->user->name);
    memset(s->out, 0, room); /* it may write less than it says: never what was there before */
    code = user_call(s, s->user->encode, &got);
    if (code)
        return user_failed(s, code);
    s->out_size = got; /* 0 or more than the room: it did not fit */
    return 0;
}

static int user_decode(struct filter_stage *s)
{
    size_t got = s->out_size;
    int code;

    memset(s->out, 0, s->out_size);
    code = user_call(s, s->user->decode, &got);
    if (code)
        return user_failed(s, code);
    if (got != s->out_size)
        return fail(DREP_ERR_FORMAT, "filter \"%s\": returned %zu bytes, not %zu", s->user->name,
                    got, s->out_size);
    return 0;
}

/* ---- which there are ---- */

struct filter_class {
    int id;
    int prefixed; /* its output begins with the length of its input */
    stage_fn *encode, *decode;
    uint32_t expands; /* a byte of a stream becomes at most so many; 0: any number */
};

static const struct filter_class classes[] = {
    {FMT_FILTER_SHUFFLE, 0, shuffle_encode, shuffle_decode, 0},
    {FMT_FILTER_BITSHUFFLE, 0, bitshuffle_encode, bitshuffle_decode, 0},
    {FMT_FILTER_DELTA, 0, delta_encode, delta_decode, 0},
#ifdef HAVE_DEFLATE
    {FMT_FILTER_DEFLATE, 1, deflate_encode, deflate_decode, 1032},
#endif
#ifdef HAVE_ZSTD
    {FMT_FILTER_ZSTD, 1, zstd_encode, zstd_decode, 1 << 17},
#endif
#ifdef HAVE_LZ4
    {FMT_FILTER_LZ4, 1, lz4_encode, lz4_decode, 256},
    {FMT_FILTER_HDF5_LZ4, 1, framed_encode, framed_decode, 256},
#endif
#ifdef HAVE_LZF
    {FMT_FILTER_LZF, 1, framed_encode, framed_decode, 0},
#endif
    {FMT_FILTER_HDF5_BITSHUFFLE, 1, framed_encode, framed_decode, 0},
#ifdef HAVE_BLOSC
    {FMT_FILTER_BLOSC, 1, framed_encode, framed_decode, 0},
#endif
};

static const struct filter_class users_class = {0, 1, user_encode, user_decode, 0};

static const struct filter_class *class_of(int id)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].id == id)
            return &classes[i];
    return NULL;
}

bool filter_available(int id)
{
    return class_of(id) != NULL;
}

static bool flags_later(const struct filter_rec *f)
{
    return f->flags & FILTER_MEANS & ~FMT_FILTER_BARE;
}

static int filter_missing(const struct filter_rec *f)
{
    const char *name = fmt_filter_name(f->id);

    if (name)
        return fail(DREP_ERR_UNSUPPORTED, "filter %s is not built in", name);
    if (f->id >= FMT_FILTER_USER)
        return fail(DREP_ERR_UNSUPPORTED, "filter \"%.*s\" is not registered", (int)f->name.len,
                    (const char *)f->name.p);
    return fail(DREP_ERR_UNSUPPORTED, "unknown filter %u, written by a newer version (R1.9)",
                f->id);
}

/* Does the filter's input have no fixed part any more?  Behind a prefix all bytes are alike. */
static bool prefixed(const struct filter_rec *f)
{
    const struct filter_class *c = class_of(f->id);

    return f->id >= FMT_FILTER_USER || (c && c->prefixed);
}

static int class_get(const struct filter_rec *f, const struct filter_class **c,
                     const struct user_filter **user)
{
    if (flags_later(f))
        return fail(DREP_ERR_UNSUPPORTED,
                    "filter %u with flags %u, written by a newer version (R1.9)", f->id, f->flags);
    *user = f->id >= FMT_FILTER_USER ? user_filter_find(&f->name) : NULL;
    *c = *user ? &users_class : class_of(f->id);
    return *c ? 0 : filter_missing(f);
}

int filters_later(const struct filter_rec *f, int n)
{
    for (int i = 0; i < n; i++) {
        bool named = f[i].id >= FMT_FILTER_USER || fmt_filter_name(f[i].id);

        if (!named || flags_later(&f[i]))
            return filters_known(&f[i], 1, 0);
    }
    return 0;
}

int filters_known(const struct filter_rec *f, int n, uint32_t skipped)
{
    const struct filter_class *c;
    const struct user_filter *user;
    int err = 0;

    for (int i = 0; !err && i < n; i++)
        err = skipped >> i & 1 ? 0 : class_get(&f[i], &c, &user);
    return err;
}

/* ---- writing ---- */

/* Fills room with what the filter makes of s->in; *skip: it does not shrink. */
static int encode_into(struct filter_stage *s, const struct filter_class *c, struct buf *room,
                       int *skip)
{
    int keep = s->user && s->user->flags & DREP_FILTER_KEEP;
    size_t most = c->prefixed ? s->in_size - PREFIX - 1 : s->in_size;
    int err;

    if (keep) /* a first guess */
        most = s->in_size + s->in_size / 16 + 64;
    /* A compressor gets one byte less than its input has, so that it must shrink. */
    for (int turn = 0;; turn++) {
        err = buf_reserve(room, most + PREFIX + 1);
        s->out = c->prefixed ? room->p + PREFIX : room->p;
        s->out_size = most;
        if (!err)
            err = c->encode(s);
        if (err || s->out_size <= most)
            break;
        if (!keep || turn > 0 || s->out_size > user_most(s->in_size) - PREFIX)
            break;
        most = s->out_size;
    }
    *skip = !err && !keep && c->prefixed && (s->out_size == 0 || s->out_size > most);
    if (!err && keep && (s->out_size == 0 || s->out_size > most))
        return fail(DREP_ERR_CONVERSION, "filter \"%s\" wants %zu bytes for %zu", s->user->name,
                    s->out_size, s->in_size);
    return err;
}

/* Encode `in` through one filter; *skip: it was not applied. */
static int encode_one(struct codec *k, const struct filter_rec *f, const struct span *in,
                      size_t fixed, struct buf *room, int *skip)
{
    struct filter_stage s = {.codec = k, .rec = f, .in = in->p, .in_size = in->len};
    const struct filter_class *c;
    bool bare = filter_is_bare(f);
    struct out prefix;
    int err = class_get(f, &c, &s.user);

    *skip = 0;
    if (err)
        return err;
    s.fixed = fixed < in->len ? fixed : in->len;
    /* A bare stream cannot say that it stands for less than the full payload. */
    if (bare && in->len != fixed) {
        *skip = 1;
        return 0;
    }
    if (c->prefixed && in->len <= PREFIX + 1 && !(s.user && s.user->flags & DREP_FILTER_KEEP)) {
        *skip = 1;
        return 0;
    }
    err = encode_into(&s, c, room, skip);
    if (err || *skip)
        return err;
    room->len = s.out_size + (c->prefixed ? PREFIX : 0);
    if (bare) {
        room->len = s.out_size;
        memmove(room->p, room->p + PREFIX, room->len);
    } else if (c->prefixed) {
        out_init(&prefix, room->p, PREFIX);
        out_u64(&prefix, in->len);
    }
    return 0;
}

int filters_encode(struct codec *k, const struct filter_rec *f, int n, const void *buf, size_t size,
                   size_t fixed, struct span *out, uint32_t *skipped)
{
    static const uint8_t nothing[1];
    struct span now = {size ? buf : nothing, size};
    uint32_t skip_mask = 0;
    int err = 0, packed = 0, next = 0;

    for (int i = 0; !err && i < n; i++) {
        int skip;

        err = encode_one(k, &f[i], &now, packed ? now.len : fixed, &k->room[next], &skip);
        if (!err && skip) {
            skip_mask |= 1u << i;
        } else if (!err) {
            now = (struct span){k->room[next].p, k->room[next].len};
            next = !next;
            packed |= prefixed(&f[i]);
        }
    }
    if (err)
        return err;
    /* Without any gain from a compressor the payload is stored as it is. */
    if (!packed) {
        skip_mask = n == 0 ? 0 : (uint32_t)((1ull << n) - 1);
        now = (struct span){buf, size};
    }
    *out = now;
    *skipped = skip_mask;
    return 0;
}

/* ---- reading ---- */

/* True if the output of a filter may be longer than its input: of an unknown one, too. */
static bool filter_may_grow(const struct filter_rec *f)
{
    const struct filter_class *c = class_of(f->id);

    return !c || c->prefixed;
}

uint64_t filters_stored_max(const struct filter_rec *f, int n, uint32_t skipped, uint64_t size)
{
    for (int i = 0; i < n; i++) {
        if (!(skipped >> i & 1) && filter_may_grow(&f[i]))
            size = user_most(size);
    }
    return size;
}

static int decode_one(struct codec *k, const struct filter_rec *f, const struct span *in,
                      size_t fixed, uint64_t max, struct buf *room)
{
    struct filter_stage s = {
        .codec = k, .rec = f, .in = in->p, .in_size = in->len, .out_size = in->len};
    const struct filter_class *c;
    int err = class_get(f, &c, &s.user);

    if (err)
        return err;
    s.fixed = fixed < in->len ? fixed : in->len;
    if (filter_is_bare(f)) {
        s.out_size = fixed;
        if (c->expands && s.out_size / c->expands > s.in_size)
            return fail(DREP_ERR_FORMAT, "%s: a stream of %zu bytes for %zu (R8.34)",
                        fmt_filter_name(f->id), s.in_size, s.out_size);
    } else if (c->prefixed) {
        const char *name = s.user ? s.user->name : fmt_filter_name(f->id);
        uint64_t len;

        if (in->len < PREFIX)
            return fail(DREP_ERR_FORMAT, "%s: shorter than its length field (R8.34)", name);
        len = load_u64(in->p);
        if (k->limit && max >= k->limit && len > max)
            return fail(DREP_ERR_LIMIT, "%s: claims %llu bytes; drep_limit_chunk is %llu", name,
                        (unsigned long long)len, (unsigned long long)k->limit);
        if (len > max)
            return fail(DREP_ERR_FORMAT,
                        "%s: claims %llu bytes, more than the %llu it may have (R8.35)", name,
                        (unsigned long long)len, (unsigned long long)max);
        s.in += PREFIX;
        s.in_size -= PREFIX;
        if (c->expands && len / c->expands > s.in_size)
            return fail(DREP_ERR_FORMAT, "%s: claims %llu bytes of a stream of %zu (R8.34)", name,
                        (unsigned long long)len, s.in_size);
        s.out_size = (size_t)len;
    }
    err = buf_room(room, s.out_size); /* no more than that: it may be kept */
    if (err)
        return err;
    s.out = room->p;
    err = c->decode(&s);
    if (!err)
        room->len = s.out_size;
    return err;
}

int filters_decode(struct codec *k, const struct filter_rec *f, int n, uint32_t skipped,
                   const void *buf, size_t size, size_t fixed, uint64_t max, struct buf *out)
{
    static const uint8_t nothing[1];
    struct span now = {size ? buf : nothing, size};
    int err = 0, first = 0, next = 0, any = 0;

    while (first < n && skipped >> first & 1)
        first++;
    for (int i = n - 1; !err && i >= first; i--) {
        struct buf *to = i == first ? out : &k->room[next];
        uint64_t most = max;
        int packed = 0;

        if (skipped >> i & 1)
            continue;
        for (int b = 0; b < i; b++) {
            packed |= prefixed(&f[b]) && !(skipped >> b & 1);
            if (f[b].id >= FMT_FILTER_USER && !(skipped >> b & 1))
                most = user_most(most);
        }
        /* However many users' filters a file lists. */
        if (k->limit && most > user_most(k->limit))
            most = user_most(k->limit);
        err = decode_one(k, &f[i], &now, packed ? now.len : fixed, most, to);
        if (!err)
            now = (struct span){to->p, to->len};
        next = !next;
        any = 1;
    }
    if (!err && !any)
        err = buf_set(out, buf, size);
    return err;
}
