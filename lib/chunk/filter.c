/* filter.c - encoding and decoding the payload of a chunk through its list of filters.
 *
 * Rearranging filters (shuffle, bitshuffle, delta) keep the length and touch only the fixed part
 * of a payload.  A compressor's stream ends as its coding says or with its bytes, and does not tell
 * in front how much it gives: the decoder gets as much room as the input can have had.  A
 * compressor that does not shrink its input is skipped for that chunk.  SPEC.md, section 8. */
/* SPDX-License-Identifier: MIT */
#include "chunk/filter.h"
#include "base/buf.h"
#include "chunk/registry.h"

#include "base/error.h"
#include "base/isa.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "chunk/blosc_lib.h"
#include "chunk/framing.h"
#include "chunk/hdf5.h"
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
#include <zstd_errors.h>
#endif

#define PREFIX 16 /* in front of what a user's filter gives: its input's length and sum */

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
    bool full;       /* decoding: the room is too small */
    bool kept;       /* decoding: `out` is the chunk's payload, which may stay in memory */
    uint64_t says; /* decoding: bytes by the lengths of its sequences, UNSAID: nobody added them */
};
#define UNSAID UINT64_MAX

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

/* ---- compressors; encoding gives out_size 0 when it does not fit ---- */

static int stream_damaged(const struct filter_stage *s)
{
    return fail(DREP_ERR_FORMAT, "%s: damaged stream (R8.34)", fmt_filter_name(s->rec->id));
}

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
    if (r == LIBDEFLATE_INSUFFICIENT_SPACE) {
        s->full = true;
        return 0;
    }
    s->out_size = got;
    return r != LIBDEFLATE_SUCCESS || used != s->in_size ? stream_damaged(s) : 0;
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
    s->full = ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall;
    if (ZSTD_isError(n))
        return s->full ? 0 : stream_damaged(s);
    s->out_size = n;
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
    int n, room = s->out_size > INT_MAX ? INT_MAX : (int)s->out_size;

    if (s->in_size > INT_MAX)
        return fail(DREP_ERR_FORMAT, "lz4: stream of %zu bytes (R8.34)", s->in_size);
    n = LZ4_decompress_safe((const char *)s->in, (char *)s->out, (int)s->in_size, room);
    if (n < 0) {
        s->full =
            framing_length(FMT_FILTER_LZ4, NULL, &(struct span){s->in, s->in_size}) > s->out_size;
        return s->full ? 0 : stream_damaged(s);
    }
    if (s->says != UNSAID && s->says != (size_t)n) /* a match at distance 0 */
        return stream_damaged(s);
    s->out_size = (size_t)n;
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
    const struct span in = {s->in, s->in_size};
    uint64_t says = framing_length(s->rec->id, s->rec->param, &in);
    int err;

    s->full = says > s->out_size;
    if (s->full)
        return 0;
    if (s->rec->id == FMT_FILTER_LZF && says == 0 && in.len > 0)
        return stream_damaged(s);
    s->out_size = (size_t)says;
    err = framing_decode(s->rec->id, s->rec->param, &in, s->out, s->out_size);
    return !err                   ? 0
           : err == FRAMING_NOMEM ? fail_nomem()
           : err == FRAMING_ABSENT
               ? fail(DREP_ERR_UNSUPPORTED, "filter %s: its compressor is not built in",
                      fmt_filter_name(s->rec->id))
               : stream_damaged(s);
}

/* ---- HDF5's checksum ---- */

/* It lengthens always. */
static int fletcher_encode(struct filter_stage *s)
{
    memcpy(s->out, s->in, s->in_size);
    s->out_size = s->in_size + fletcher32_add(s->out, s->in_size);
    return 0;
}

static int fletcher_decode(struct filter_stage *s)
{
    size_t size = s->in_size;

    if (!fletcher32_check(s->in, &size))
        return fail(DREP_ERR_CHECKSUM, "fletcher32: the sum of HDF5 is wrong (R8.58)");
    s->full = size > s->out_size;
    if (s->full)
        return 0;
    memcpy(s->out, s->in, size);
    s->out_size = size;
    return 0;
}

void codec_release(struct codec *k)
{
    buf_release(&k->room[0]);
    buf_release(&k->room[1]);
    buf_release(&k->stored);
    buf_release(&k->proof);
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

static bool user_sums(const struct user_filter *user)
{
    return !(user->flags & DREP_FILTER_NO_SUM);
}

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
    uint32_t param[FMT_PARAMS_MAX] = {0};
    bool before;
    int code;

    for (int i = 0; i < s->rec->nparams; i++)
        param[i] = filter_param(s->rec, i);
    before = rwlock_no_reads(true);
    code = fn(param, s->rec->nparams, s->in, s->in_size, s->out, got, s->user->extra_state);

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

/* out_size: what the stream says that it gives; in front of it stands the sum of that, or 0. */
static int user_decode(struct filter_stage *s)
{
    uint64_t sum = load_u64(s->in - sizeof sum);
    size_t got = s->out_size;
    int code;

    memset(s->out, 0, s->out_size);
    code = user_call(s, s->user->decode, &got);
    if (code)
        return user_failed(s, code);
    if (got != s->out_size)
        return fail(DREP_ERR_FORMAT, "filter \"%s\": returned %zu bytes, not %zu (R8.38)",
                    s->user->name, got, s->out_size);
    if (sum && sum_stored(s->out, got) != sum)
        return fail(DREP_ERR_CHECKSUM,
                    "filter \"%s\": it gives other bytes than those that were stored (R8.51)",
                    s->user->name);
    return 0;
}

/* Decode what the filter made of `in`, and compare: a filter that is lossy by mistake must fail
 * while its input still exists. */
static int user_prove(const struct filter_stage *s, const struct span *made)
{
    struct buf *proof = &s->codec->proof;
    struct filter_stage back = *s;
    int err = buf_reserve(proof, s->in_size + 1);

    back.in = made->p + PREFIX;
    back.in_size = made->len - PREFIX;
    back.out = proof->p;
    back.out_size = s->in_size;
    if (!err)
        err = user_decode(&back);
    return err == DREP_ERR_CHECKSUM || err == DREP_ERR_FORMAT
               ? fail(
                     DREP_ERR_CONVERSION,
                     "filter \"%s\" does not give back what it was given: one that loses something "
                     "is registered with DREP_FILTER_NO_SUM",
                     s->user->name)
               : err;
}

/* ---- which there are ---- */

struct filter_class {
    int id;
    bool changes; /* the length: its input has no fixed part for those behind it */
    stage_fn *encode, *decode;
    uint32_t expands; /* a byte of a stream becomes at most so many; 0: any number */
    size_t adds;      /* bytes that it puts behind any input */
};

static const struct filter_class classes[] = {
    {FMT_FILTER_SHUFFLE, false, shuffle_encode, shuffle_decode, 0, 0},
    {FMT_FILTER_BITSHUFFLE, false, bitshuffle_encode, bitshuffle_decode, 0, 0},
    {FMT_FILTER_DELTA, false, delta_encode, delta_decode, 0, 0},
#ifdef HAVE_DEFLATE
    {FMT_FILTER_DEFLATE, true, deflate_encode, deflate_decode, 1032, 0},
#endif
#ifdef HAVE_ZSTD
    {FMT_FILTER_ZSTD, true, zstd_encode, zstd_decode, 1 << 17, 0},
#endif
#ifdef HAVE_LZ4
    {FMT_FILTER_LZ4, true, lz4_encode, lz4_decode, 256, 0},
    {FMT_FILTER_HDF5_LZ4, true, framed_encode, framed_decode, 256, 0},
#endif
#ifdef HAVE_LZF
    {FMT_FILTER_LZF, true, framed_encode, framed_decode, 88, 0},
#endif
    {FMT_FILTER_HDF5_BITSHUFFLE, true, framed_encode, framed_decode, 1 << 17, 0},
#ifdef HAVE_BLOSC
    {FMT_FILTER_BLOSC, true, framed_encode, framed_decode, 1 << 17, 0},
#endif
};

static const struct filter_class users_class = {0, true, user_encode, user_decode, 0, 0};
static const struct filter_class fletcher_class = {
    0, true, fletcher_encode, fletcher_decode, 1, FLETCHER32_SIZE};

static const struct filter_class *class_of(int id)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].id == id)
            return id != FMT_FILTER_BLOSC || blosc_lib() ? &classes[i] : NULL;
    return NULL;
}

bool filter_available(int id)
{
    return class_of(id) != NULL;
}

static int filter_missing(const struct filter_rec *f)
{
    const char *name = fmt_filter_name(f->id);

    if (filter_is_hdf5(f))
        return fail(DREP_ERR_UNSUPPORTED, "HDF5 filter %u%s%.*s%s is not here", f->id,
                    f->name.len ? " '" : "", (int)f->name.len, (const char *)f->name.p,
                    f->name.len ? "'" : "");
    if (name)
        return fail(DREP_ERR_UNSUPPORTED, "filter %s is not built in", name);
    if (f->id >= FMT_FILTER_USER)
        return fail(DREP_ERR_UNSUPPORTED, "filter \"%.*s\" is not registered", (int)f->name.len,
                    (const char *)f->name.p);
    return fail(DREP_ERR_UNSUPPORTED, "unknown filter %u, written by a newer version (R1.9)",
                f->id);
}

/* A filter of a list as it is applied: the record that its functions get, and these. */
struct filter_use {
    const struct filter_rec *rec;
    const struct filter_class *c; /* NULL: it is not here */
    const struct user_filter *user;
    struct filter_rec ours; /* what does the same as HDF5's */
};

/* Find HDF5's filter: one of ours does the same, or it is the checksum. */
static void find_hdf5(const struct filter_rec *f, struct filter_use *use)
{
    uint32_t value[FMT_PARAMS_MAX], param[HDF5_MEANING];
    int id;

    for (int i = 0; i < f->nparams; i++)
        value[i] = filter_param(f, i);
    if (f->id == HDF5_FLETCHER32) {
        use->c = &fletcher_class;
    } else if (hdf5_meaning(f->id, f->nparams, value, &id, param)) {
        use->ours = (struct filter_rec){.id = (uint16_t)id, .nparams = HDF5_MEANING};
        memcpy(use->ours.param, param, sizeof param);
        use->rec = &use->ours;
        use->c = class_of(id);
    }
}

static void filter_find(const struct filter_rec *f, struct filter_use *use)
{
    *use = (struct filter_use){.rec = f};
    if (filter_flags_later(f))
        return;
    if (filter_is_hdf5(f))
        find_hdf5(f, use);
    else if (filter_is_users(f))
        use->user = user_filter_find(&f->name);
    else
        use->c = class_of(f->id);
    if (use->user)
        use->c = &users_class;
}

static int filter_get_use(const struct filter_rec *f, struct filter_use *use)
{
    if (filter_flags_later(f))
        return fail(DREP_ERR_UNSUPPORTED,
                    "filter %u with flags %u, written by a newer version (R1.9)", f->id, f->flags);
    filter_find(f, use);
    return use->c ? 0 : filter_missing(f);
}

/* True if the bytes that a filter gives have no fixed part: those of an unknown one, too. */
static bool changes_length(const struct filter_rec *f)
{
    const struct filter_class *c = class_of(f->id);

    if (filter_is_hdf5(f))
        return f->id != HDF5_SHUFFLE;
    return filter_is_users(f) || !c || c->changes;
}

/* True if a filter may lengthen what it is given: HDF5 applies its compressors also then. */
static bool may_lengthen(const struct filter_rec *f)
{
    return filter_is_users(f) || (filter_is_hdf5(f) && changes_length(f));
}

uint32_t filter_shuffles(const struct filter_rec *f)
{
    bool shuffle = f->id == (filter_is_hdf5(f) ? HDF5_SHUFFLE : FMT_FILTER_SHUFFLE);

    return shuffle && !filter_flags_later(f) ? f->param[0] : 0;
}

int filters_later(const struct filter_rec *f, int n)
{
    for (int i = 0; i < n; i++) {
        bool named = filter_is_hdf5(&f[i]) || filter_is_users(&f[i]) || fmt_filter_name(f[i].id);

        if (!named || filter_flags_later(&f[i]))
            return filters_known(&f[i], 1, 0);
    }
    return 0;
}

int filters_known(const struct filter_rec *f, int n, uint32_t skipped)
{
    struct filter_use use;
    int err = 0;

    for (int i = 0; !err && i < n; i++)
        err = skipped >> i & 1 ? 0 : filter_get_use(&f[i], &use);
    return err;
}

/* ---- writing ---- */

/* Bytes that the format puts in front of what a filter gives. */
static size_t front_of(const struct filter_stage *s)
{
    return s->user ? PREFIX : 0;
}

/* Fills room with what the filter makes of s->in; *skip: it does not shrink. */
static int encode_into(struct filter_stage *s, const struct filter_class *c, struct buf *room,
                       int *skip)
{
    int keep = s->user && s->user->flags & DREP_FILTER_KEEP;
    size_t front = front_of(s), most = s->in_size + c->adds;
    int err;

    if (keep) /* a first guess */
        most = s->in_size + s->in_size / 16 + 64;
    else if (c->changes && !c->adds) /* one byte less than its input has, so that it must shrink */
        most = s->in_size - front - 1;
    for (int turn = 0;; turn++) {
        err = buf_reserve(room, most + front + 1);
        s->out = room->p + front;
        s->out_size = most;
        if (!err)
            err = c->encode(s);
        if (err || s->out_size <= most)
            break;
        if (!keep || turn > 0 || s->out_size > user_most(s->in_size) - front)
            break;
        most = s->out_size;
    }
    *skip = !err && !keep && c->changes && (s->out_size == 0 || s->out_size > most);
    if (!err && keep && (s->out_size == 0 || s->out_size > most))
        return fail(DREP_ERR_CONVERSION, "filter \"%s\" wants %zu bytes for %zu", s->user->name,
                    s->out_size, s->in_size);
    return err;
}

/* Encode `in` through one filter; *skip: it was not applied. */
static int encode_one(struct codec *k, const struct filter_rec *f, const struct span *in,
                      size_t fixed, struct buf *room, int *skip)
{
    struct filter_stage s = {.codec = k, .in = in->p, .in_size = in->len};
    struct filter_use use;
    int err = filter_get_use(f, &use);

    *skip = 0;
    if (err)
        return err;
    s.rec = use.rec;
    s.user = use.user;
    s.fixed = fixed < in->len ? fixed : in->len;
    if (use.c->changes && in->len <= front_of(&s) + 1 &&
        !(s.user && s.user->flags & DREP_FILTER_KEEP)) {
        *skip = 1;
        return 0;
    }
    err = encode_into(&s, use.c, room, skip);
    if (err || *skip)
        return err;
    room->len = front_of(&s) + s.out_size;
    if (!s.user)
        return 0;
    store_u64(room->p, in->len);
    store_u64(room->p + 8, user_sums(s.user) ? sum_stored(in->p, in->len) : 0);
    return user_sums(s.user) ? user_prove(&s, &(struct span){room->p, room->len}) : 0;
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
            packed |= changes_length(&f[i]);
        }
    }
    if (err)
        return err;
    /* Without any gain from a compressor the payload is stored as it is. */
    if (!packed) {
        skip_mask = filters_all(n);
        now = (struct span){buf, size};
    }
    *out = now;
    *skipped = skip_mask;
    return 0;
}

/* ---- reading ---- */

uint64_t filters_stored_max(const struct filter_rec *f, int n, uint32_t skipped, uint64_t size)
{
    for (int i = 0; i < n; i++) {
        if (!(skipped >> i & 1) && changes_length(&f[i]))
            size = user_most(size);
    }
    return size;
}

/* Report a stream that decodes to more than `max` bytes. */
static int too_much(const struct filter_stage *s, uint64_t max)
{
    const char *name = s->user                  ? s->user->name
                       : filter_is_hdf5(s->rec) ? "fletcher32" /* others became one of ours */
                                                : fmt_filter_name(s->rec->id);
    uint64_t limit = s->codec->limit;

    if (limit && max >= limit)
        return fail(DREP_ERR_LIMIT, "%s: gives more than %llu bytes; drep_limit_chunk is %llu",
                    name, (unsigned long long)max, (unsigned long long)limit);
    if (filter_is_hdf5(s->rec))
        return fail(DREP_ERR_FORMAT, "fletcher32: stands behind more than %llu bytes (R8.58)",
                    (unsigned long long)max);
    return fail(DREP_ERR_FORMAT, "%s: gives more than the %llu bytes that it may have had (R8.35)",
                name, (unsigned long long)max);
}

/* Take the prefix of what a user's filter gave: it says how many bytes the decoder is to give. */
static int prefix_get(struct filter_stage *s, uint64_t max, uint64_t *room)
{
    if (s->in_size < PREFIX)
        return fail(DREP_ERR_FORMAT, "%s: shorter than its front (R8.38)", s->user->name);
    *room = load_u64(s->in);
    s->in += PREFIX;
    s->in_size -= PREFIX;
    return *room > max ? too_much(s, max) : 0;
}

#define GUESS 4 /* a heap is taken to be so many times as long as its stream, then so much more */

/* Bytes of room that a compressor's stream gets first.  Where `sure` they are all that it can give,
 * as its input was the payload of elements of fixed size; else what it says, or a guess.  To add up
 * LZ4's sequences takes three quarters of the time of decoding them, so it is left out where the
 * room is not kept and may be too large. */
static uint64_t first_room(struct filter_stage *s, size_t fixed, uint64_t most, bool sure)
{
    uint64_t says = 0;

    if (sure)
        return most;
    if (s->kept || s->rec->id != FMT_FILTER_LZ4)
        s->says = says =
            framing_length(s->rec->id, s->rec->param, &(struct span){s->in, s->in_size});
    if (says == 0)
        says = fixed + (uint64_t)s->in_size * GUESS;
    return says < most ? says : most;
}

/* Decode into `room`, which never has more than `max` bytes, nor more than a stream of this length
 * can become. */
static int decode_into(struct filter_stage *s, const struct filter_class *c, size_t fixed,
                       uint64_t max, bool sure, struct buf *room)
{
    uint64_t most = max, now = s->in_size;
    int err = 0;

    if (c->expands && s->in_size < max / c->expands)
        most = (uint64_t)s->in_size * c->expands;
    if (s->user)
        err = prefix_get(s, max, &now);
    else if (c->changes)
        now = first_room(s, fixed, most, sure);
    while (!err) {
        err = buf_room(room, now); /* no more than that: it may be kept */
        s->out = room->p;
        s->out_size = (size_t)now;
        s->full = false;
        if (!err)
            err = c->decode(s);
        if (err || !s->full)
            break;
        err = now < max && now < most ? 0 : most < max ? stream_damaged(s) : too_much(s, max);
        now = now < most / GUESS ? now * GUESS : most;
    }
    if (!err)
        room->len = s->out_size;
    return err;
}

static int decode_one(struct codec *k, const struct filter_rec *f, const struct span *in,
                      size_t fixed, uint64_t max, bool sure, bool kept, struct buf *room)
{
    struct filter_stage s = {
        .codec = k, .in = in->p, .in_size = in->len, .says = UNSAID, .kept = kept};
    struct filter_use use;
    int err = filter_get_use(f, &use);

    if (err)
        return err;
    s.rec = use.rec;
    s.user = use.user;
    s.fixed = fixed < in->len ? fixed : in->len;
    if (k->strict && !s.user && !framing_sound(s.rec->id, s.rec->param, in))
        return stream_damaged(&s);
    return decode_into(&s, use.c, fixed, max, sure, room);
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
            packed |= changes_length(&f[b]) && !(skipped >> b & 1);
            if (may_lengthen(&f[b]) && !(skipped >> b & 1))
                most = user_most(most);
        }
        /* However many filters that lengthen a file lists. */
        if (k->limit && most > user_most(k->limit))
            most = user_most(k->limit);
        err = decode_one(k, &f[i], &now, packed ? now.len : fixed, most, max <= fixed, i == first,
                         to);
        if (!err)
            now = (struct span){to->p, to->len};
        next = !next;
        any = 1;
    }
    if (!err && !any)
        err = buf_set(out, buf, size);
    return err;
}
