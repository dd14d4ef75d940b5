/* link.c - records of links and attributes.
 *
 * Both are named by their key in the tree; the record repeats no name. Text fields have a length
 * of their own and are checked as UTF-8 here, so that nothing above this file meets a malformed
 * one. */
#include "format/record.h"

/* A u16 length and that many bytes, which are text of at least one byte. */
static void text16_get(struct in *in, struct span *out)
{
    span_get(in, in_u16(in), out);
    if (!in->err && (out->len == 0 || text_check(out->p, out->len)))
        in_fail(in, FMT_ERR_FORMAT, "invalid text as the target of a link");
}

static void span16_put(struct out *out, const struct span *s)
{
    out_u16(out, (uint16_t)s->len);
    span_put(out, s);
}

int link_get(struct in *in, struct link_rec *out)
{
    struct link_rec t = {0};

    t.kind = in_u8(in);
    if (!in->err && (t.kind < FMT_HARD || t.kind > FMT_EXTERNAL))
        in_fail(in, FMT_ERR_FORMAT, "unknown kind of link");
    t.index = in_u64(in);
    if (t.kind == FMT_HARD) {
        t.object = in_u64(in);
        if (!in->err && t.object == FMT_OBJECT_FILE)
            in_fail(in, FMT_ERR_FORMAT, "a link to the file itself");
    }
    if (t.kind == FMT_EXTERNAL)
        text16_get(in, &t.file);
    if (t.kind == FMT_SOFT || t.kind == FMT_EXTERNAL)
        text16_get(in, &t.path);
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void link_put(struct out *out, const struct link_rec *r)
{
    out_u8(out, r->kind);
    out_u64(out, r->index);
    if (r->kind == FMT_HARD)
        out_u64(out, r->object);
    if (r->kind == FMT_EXTERNAL)
        span16_put(out, &r->file);
    if (r->kind == FMT_SOFT || r->kind == FMT_EXTERNAL)
        span16_put(out, &r->path);
    span_put(out, &r->tail);
}

int attr_get(struct in *in, struct attr_rec *out)
{
    struct attr_rec t = {0};

    t.index = in_u32(in);
    t.type = in_u32(in);
    if (!in->err && t.type == 0)
        in_fail(in, FMT_ERR_FORMAT, "no datatype has number 0");
    t.rank = in_u8(in);
    if (!in->err && t.rank > FMT_RANK_MAX && t.rank != FMT_RANK_NULL)
        in_fail(in, FMT_ERR_FORMAT, "impossible rank");
    for (int i = 0; !in->err && t.rank != FMT_RANK_NULL && i < t.rank; i++) {
        t.len[i] = in_u64(in);
        if (t.len[i] > FMT_SIZE_MAX)
            in_fail(in, FMT_ERR_LIMIT, "a length is beyond 2^62");
    }
    span_get(in, in_u32(in), &t.value);
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void attr_put(struct out *out, const struct attr_rec *r)
{
    out_u32(out, r->index);
    out_u32(out, r->type);
    out_u8(out, r->rank);
    for (int i = 0; r->rank != FMT_RANK_NULL && i < r->rank; i++)
        out_u64(out, r->len[i]);
    out_u32(out, (uint32_t)r->value.len);
    span_put(out, &r->value);
    span_put(out, &r->tail);
}
