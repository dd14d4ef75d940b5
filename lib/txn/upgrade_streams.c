/* upgrade_streams.c - filtered chunks of draft 4, whose streams began with a length.
 *
 * A filter of draft 4 that was not "bare" and no framing of HDF5's put the length of its input in
 * front of what it gave.  Today a stream stands alone, and a user's has its input's sum behind the
 * length, 0 where nobody knows it. */
/* SPDX-License-Identifier: MIT */
#include "txn/upgrade_streams.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/filter.h"
#include "space/space.h"

#include <string.h>

enum { OLD_FILTERS = 16, OLD_PARAMS = 8, OLD_BARE = 1, OLD_FRONT = 8, NEW_FRONT = 16 };
enum { OLD_PACKED = 2, OLD_PLACED, OLD_ROWS_FRONT = 8, OLD_PACKED_ROW = 12, OLD_PLACED_ROW = 20 };

struct old_filters {
    int n;
    size_t flags_at[OLD_FILTERS]; /* in the record */
    bool fronted[OLD_FILTERS];    /* its stream begins with a length */
    struct filter_rec rec[OLD_FILTERS];
};

struct old_row {
    uint64_t offset, sum;
    uint32_t size;
    bool anew; /* its bytes are in `bytes` of the upgrade, from `at` on */
    size_t at;
};

struct streams {
    struct store *st;
    struct codec codec;
    struct old_filters list;
    uint32_t skipped;
    struct old_row row[FMT_PACKED_MAX];
    struct buf one, inner, bytes;
};

/* ---- the list of a dataset ---- */

static void old_filter_get(struct in *in, struct old_filters *list)
{
    struct filter_rec *f = &list->rec[list->n];
    uint8_t flags;

    *f = (struct filter_rec){.id = in_u16(in)};
    list->flags_at[list->n] = in->at;
    flags = in_u8(in);
    span_get(in, in_u8(in), &f->name);
    f->nparams = in_u8(in);
    for (int i = 0; i < f->nparams && i < OLD_PARAMS; i++)
        f->param[i] = in_u32(in);
    list->fronted[list->n] =
        f->id >= FMT_FILTER_USER ||
        (f->id >= FMT_FILTER_DEFLATE && f->id <= FMT_FILTER_LZ4 && !(flags & OLD_BARE));
}

/* {u8 kind, u8 flags, var32 links, var32 attributes, var32 type, u8 representation, u8 layout,
 * u8 rank, lengths, maxima, dimensions, chunk lengths, u8 filters}; none if it is something else.
 */
static void old_filters_get(const uint8_t *object, size_t size, struct old_filters *list)
{
    uint8_t kind, flags, layout, rank, n;
    struct in in;

    in_init(&in, object, size);
    kind = in_u8(&in);
    flags = in_u8(&in);
    for (int i = 0; i < 3; i++)
        in_var32(&in);
    in_u8(&in);
    layout = in_u8(&in);
    rank = in_u8(&in);
    for (int i = 0; i < rank * (1 + (flags & 1) + (flags >> 1 & 1)); i++)
        in_var(&in);
    for (int i = 0; i < rank; i++)
        in_var32(&in);
    n = in_u8(&in);
    list->n = 0;
    if (in.err || kind != FMT_DATASET || flags & 0x0c || layout != FMT_CHUNKED ||
        rank > FMT_RANK_MAX || n > OLD_FILTERS)
        return;
    for (; !in.err && list->n < n; list->n++)
        old_filter_get(&in, list);
    if (in.err)
        list->n = 0;
}

void upgrade_filter_flags(uint8_t *object, size_t size)
{
    struct old_filters list;

    old_filters_get(object, size, &list);
    for (int i = 0; i < list.n; i++)
        object[list.flags_at[i]] &= (uint8_t)~OLD_BARE;
}

/* ---- one chunk ---- */

/* The last filter of the first i + 1 that was applied; -1: none. */
static int last_applied(const struct streams *s, int i)
{
    while (i >= 0 && s->skipped >> i & 1)
        i--;
    return i;
}

/* True if a filter before filter i was applied that put a length in front. */
static bool fronted_before(const struct streams *s, int i)
{
    bool any = false;

    while (i-- > 0)
        any |= s->list.fronted[i] && !(s->skipped >> i & 1);
    return any;
}

static int single_decode(struct streams *s, int i, const struct buf *in, uint64_t max,
                         struct buf *out)
{
    return filters_decode(&s->codec, &s->list.rec[i], 1, 0, in->p, in->len, in->len, max, out);
}

static int single_encode(struct streams *s, int i, const struct buf *in, struct buf *out)
{
    struct span made;
    uint32_t skipped;
    int err =
        filters_encode(&s->codec, &s->list.rec[i], 1, in->p, in->len, in->len, &made, &skipped);

    if (!err && skipped && s->list.rec[i].id >= FMT_FILTER_DEFLATE)
        err = fail(DREP_ERR_FORMAT, "draft 4: a stream that is not shorter than its input");
    return err ? err : buf_set(out, made.p, made.len);
}

static int single_rearrange(struct streams *s, int i, struct buf *b, bool back)
{
    int err = back ? single_decode(s, i, b, b->len, &s->inner)
                   : filter_rearrange(&s->list.rec[i], b->p, b->len, &s->inner);

    return err ? err : buf_set(b, s->inner.p, s->inner.len);
}

/* Make what filter i gave in draft 4 what it gives today. */
static int renew_stream(struct streams *s, int i, struct buf *b)
{
    bool deeper;
    uint64_t len = 0;
    int err;

    i = last_applied(s, i);
    deeper = i >= 0 && fronted_before(s, i);
    if (i < 0 || (!deeper && !s->list.fronted[i]))
        return 0;
    if (s->list.rec[i].id < FMT_FILTER_DEFLATE) {
        err = single_rearrange(s, i, b, true);
        if (!err)
            err = renew_stream(s, i - 1, b);
        return err ? err : single_rearrange(s, i, b, false);
    }
    if (b->len < OLD_FRONT)
        return fail(DREP_ERR_FORMAT, "draft 4: a stream of %zu bytes", b->len);
    len = load_u64(b->p);
    if (s->list.rec[i].id >= FMT_FILTER_USER) {
        if ((err = buf_reserve(b, b->len + OLD_FRONT)))
            return err;
        memmove(b->p + NEW_FRONT, b->p + OLD_FRONT, b->len - OLD_FRONT);
        store_u64(b->p + OLD_FRONT, 0);
        b->len += OLD_FRONT;
    } else {
        b->len -= OLD_FRONT;
        memmove(b->p, b->p + OLD_FRONT, b->len);
    }
    if (!deeper)
        return 0;
    if (len > s->st->opts.chunk_limit)
        return fail(DREP_ERR_LIMIT, "draft 4: a stream of %llu bytes", (unsigned long long)len);
    err = single_decode(s, i, b, len, &s->inner);
    if (!err)
        err = buf_set(b, s->inner.p, s->inner.len);
    if (!err)
        err = renew_stream(s, i - 1, b);
    return err ? err : single_encode(s, i, b, b);
}

/* True if a row's stream need only lose its first bytes. */
static bool only_front(const struct streams *s)
{
    int i = last_applied(s, s->list.n - 1);

    return s->list.fronted[i] && s->list.rec[i].id < FMT_FILTER_USER && !fronted_before(s, i);
}

static int upgrade_row(struct streams *s, struct old_row *r)
{
    struct io *io = s->st->io;
    int err;

    if (r->size == 0 || r->offset > s->st->slot.end || r->size > s->st->slot.end - r->offset)
        return 0;
    err = buf_reserve(&s->one, r->size);
    if (!err)
        err = io->ops->read_at(io, s->one.p, r->size, r->offset);
    s->one.len = r->size;
    if (err || sum_stored(s->one.p, s->one.len) != r->sum)
        return err;
    err = renew_stream(s, last_applied(s, s->list.n - 1), &s->one);
    if (err == DREP_ERR_FORMAT || err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_LIMIT)
        return 0;
    if (err)
        return err;
    r->sum = sum_stored(s->one.p, s->one.len);
    if (only_front(s)) {
        r->offset += OLD_FRONT;
        r->size -= OLD_FRONT;
        return 0;
    }
    r->anew = true;
    r->at = s->bytes.len;
    r->size = (uint32_t)s->one.len;
    err = buf_reserve(&s->bytes, s->bytes.len + s->one.len);
    if (!err)
        memcpy(s->bytes.p + s->bytes.len, s->one.p, s->one.len);
    s->bytes.len += s->one.len;
    return err;
}

/* ---- the record ---- */

static uint32_t rows_get(struct streams *s, struct in *in, uint8_t kind, uint8_t n)
{
    uint64_t at = kind == OLD_PACKED ? in_u64(in) : 0;

    for (int i = 0; i < n; i++) {
        struct old_row *r = &s->row[i];

        *r = (struct old_row){.offset = kind == OLD_PACKED ? at : in_u64(in)};
        r->size = in_u32(in);
        r->sum = in_u64(in);
        at += r->size;
    }
    return n;
}

/* A row that was written anew stands behind the end of the file; all of a record that has more
 * rows than one whose rows have places are brought together there. */
static int rows_place(struct streams *s, int n, bool together)
{
    uint64_t offset = 0;
    int err = 0;

    for (int i = 0; together && !err && i < n; i++) {
        struct old_row *r = &s->row[i];
        size_t at = s->bytes.len;

        if (r->anew || (err = buf_reserve(&s->bytes, at + r->size)))
            continue;
        if (r->size > 0)
            err = s->st->io->ops->read_at(s->st->io, s->bytes.p + at, r->size, r->offset);
        r->anew = true;
        r->at = at;
        s->bytes.len += r->size;
    }
    if (!err && s->bytes.len > 0)
        err = space_alloc(s->st, s->bytes.len, FMT_ALIGN, ANYWAY, &offset);
    if (!err && s->bytes.len > 0)
        err = s->st->io->ops->write_at(s->st->io, s->bytes.p, s->bytes.len, offset);
    for (int i = 0; i < n; i++)
        s->row[i].offset = s->row[i].anew ? offset + s->row[i].at : s->row[i].offset;
    return err;
}

static int upgrade_rows(struct streams *s, const struct span *value, struct in *in, struct buf *out)
{
    uint8_t kind = value->p[0], n = value->p[2];
    bool together = n > FMT_PLACED_MAX;
    struct out to;
    int err = 0;

    rows_get(s, in, kind, n);
    if (in->err)
        return 0;
    for (int i = 0; !err && i < n; i++)
        err = upgrade_row(s, &s->row[i]);
    if (!err)
        err = rows_place(s, n, together);
    if (err)
        return err;
    buf_out(out, &to);
    out_u8(&to, together ? FMT_CHUNK_PACKED : FMT_CHUNK_PLACED);
    out_u8(&to, value->p[1]);
    out_u8(&to, n);
    out_u8(&to, value->p[3]);
    out_u32(&to, s->skipped);
    if (together)
        out_u64(&to, s->row[0].offset);
    for (int i = 0; i < n; i++) {
        if (!together)
            out_u64(&to, s->row[i].offset);
        out_u32(&to, s->row[i].size);
        out_u64(&to, s->row[i].sum);
    }
    out_bytes(&to, in->p + in->at, in_left(in));
    return buf_done(out, &to);
}

int upgrade_streams(struct store *st, const struct span *object, const struct span *value,
                    struct buf *out)
{
    struct streams *s;
    struct in in;
    int err = 0, i;

    out->len = 0;
    if (value->len < OLD_ROWS_FRONT || value->p[0] < OLD_PACKED || value->p[0] > OLD_PLACED ||
        value->p[1] & FMT_FLAGS_MEAN || value->p[2] > FMT_PACKED_MAX)
        return 0;
    s = mem_zalloc(1, sizeof *s);
    if (!s)
        return fail_nomem();
    s->st = st;
    s->skipped = load_u32(value->p + 4);
    old_filters_get(object->p, object->len, &s->list);
    in_init(&in, value->p, value->len);
    in_bytes(&in, OLD_ROWS_FRONT);
    i = last_applied(s, s->list.n - 1);
    if (i >= 0 && (s->list.fronted[i] || fronted_before(s, i)))
        err = upgrade_rows(s, value, &in, out);
    codec_release(&s->codec);
    buf_release(&s->one);
    buf_release(&s->inner);
    buf_release(&s->bytes);
    mem_free(s);
    return err;
}
