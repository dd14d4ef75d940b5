/* link.c - records of links, dimensions of a group and attributes.
 *
 * All are named by their key in the tree; the record repeats no name. Text fields have a length
 * of their own and are checked as UTF-8 here, so that nothing above this file meets a malformed
 * one. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

#include <string.h>

/* A u16 length and that many bytes, which are text of at least one byte. */
static void text16_get(struct in *in, struct span *out)
{
    span_get(in, in_u16(in), out);
    if (!in->err && (out->len == 0 || text_check(out->p, out->len)))
        in_fail(in, FMT_ERR_FORMAT, "invalid text as the target of a link (R7.8)");
}

static void span16_put(struct out *out, const struct span *s)
{
    out_u16(out, (uint16_t)s->len);
    span_put(out, s);
}

/* Kind and flags, which begin every record of links and attributes: FMT_LATER where one of them
 * is not known here. */
static inline uint8_t kind_get(struct in *in, uint8_t first, uint8_t last, uint8_t *number,
                               uint8_t *flags)
{
    const uint8_t *p = in_left(in) >= 2 ? in_bytes(in, 2) : NULL;

    *number = p ? p[0] : in_u8(in);
    *flags = p ? p[1] : in_u8(in);
    return *number < first || *number > last || (*flags & FMT_FLAGS_MEAN) ? FMT_LATER : *number;
}

/* Numbers stay in registers until the end: to copy a struct whose bytes were just written one by
 * one makes the processor wait, and took half of the time of a listing. */
int link_get(struct in *in, struct link_rec *out)
{
    struct span file = {0}, path = {0}, tail;
    uint8_t number, flags, object_kind = 0;
    uint64_t index, object = 0;
    uint8_t kind = kind_get(in, FMT_HARD, FMT_EXTERNAL, &number, &flags);

    index = in_var(in);
    if (kind == FMT_HARD) {
        object_kind = in_u8(in);
        object = in_var(in);
        if (!in->err && object == FMT_OBJECT_FILE)
            in_fail(in, FMT_ERR_FORMAT, "a link to the file itself (R7.9)");
        if (!in->err && object >= FMT_OBJECT_END)
            in_fail(in, FMT_ERR_FORMAT, "an object id beyond 2^63 (R7.9)");
    }
    if (kind == FMT_EXTERNAL)
        text16_get(in, &file);
    if (kind == FMT_SOFT || kind == FMT_EXTERNAL)
        text16_get(in, &path);
    span_rest(in, &tail);
    if (in->err)
        return in->err;
    *out = (struct link_rec){.kind = kind,
                             .number = number,
                             .flags = flags,
                             .object_kind = object_kind,
                             .index = index,
                             .object = object,
                             .file = file,
                             .path = path,
                             .tail = tail};
    return FMT_OK;
}

void link_put(struct out *out, const struct link_rec *r)
{
    out_u8(out, r->kind == FMT_LATER ? r->number : r->kind);
    out_u8(out, r->flags);
    out_var(out, r->index);
    if (r->kind == FMT_HARD) {
        out_u8(out, r->object_kind);
        out_var(out, r->object);
    }
    if (r->kind == FMT_EXTERNAL)
        span16_put(out, &r->file);
    if (r->kind == FMT_SOFT || r->kind == FMT_EXTERNAL)
        span16_put(out, &r->path);
    span_put(out, &r->tail);
}

int dim_get(struct in *in, struct dim_rec *out)
{
    struct dim_rec t = {0};

    t.kind = kind_get(in, FMT_PLAIN, FMT_PLAIN, &t.number, &t.flags);
    t.index = in_var(in);
    if (t.kind != FMT_LATER) {
        t.object = in_var(in);
        if (!in->err && (t.object <= FMT_OBJECT_ROOT || t.object >= FMT_OBJECT_END))
            in_fail(in, FMT_ERR_FORMAT, "an object that cannot be a dimension (R7.14)");
    }
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void dim_put(struct out *out, const struct dim_rec *r)
{
    out_u8(out, r->kind == FMT_LATER ? r->number : FMT_PLAIN);
    out_u8(out, r->flags);
    out_var(out, r->index);
    if (r->kind != FMT_LATER)
        out_var(out, r->object);
    span_put(out, &r->tail);
}

/* Like link_get(), leaves numbers in registers; mostly few of the lengths are in use. */
int attr_get(struct in *in, struct attr_rec *out)
{
    struct span value = {0}, tail;
    uint64_t len[FMT_RANK_MAX];
    uint8_t number, flags, rank = 0;
    uint32_t index, type = 0;
    const char *beyond;
    size_t rest;
    uint8_t kind = kind_get(in, FMT_PLAIN, FMT_PLAIN, &number, &flags);

    index = in_var32(in);
    rest = in->at;
    if (kind == FMT_PLAIN) {
        type = in_var32(in);
        if (!in->err && type == 0)
            in_fail(in, FMT_ERR_FORMAT, "no datatype has number 0 (R5.5)");
        rank = in_u8(in);
        if (rank != FMT_RANK_NULL)
            IN_LIMIT(in, rank, FMT_RANK_MAX, "a rank of more than 32", "R7.13");
        for (int i = 0; !in->err && rank != FMT_RANK_NULL && i < rank; i++) {
            len[i] = in_var(in);
            IN_LIMIT(in, len[i], FMT_SIZE_MAX, "a length of more than 2^62", "R8.1");
        }
        span_get(in, in_var32(in), &value);
        if (!in->err && rank == FMT_RANK_NULL && value.len > 0)
            in_fail(in, FMT_ERR_FORMAT, "a value of the null dataspace (R7.13)");
    }
    if ((beyond = in_pass_over(in, rest))) {
        kind = FMT_LATER;
        type = rank = 0;
        value = (struct span){0};
    }
    span_rest(in, &tail);
    if (in->err)
        return in->err;
    out->kind = kind;
    out->beyond = beyond;
    out->number = number;
    out->flags = flags;
    out->index = index;
    out->type = type;
    out->rank = rank;
    if (rank > 0 && rank != FMT_RANK_NULL)
        memcpy(out->len, len, rank * sizeof(len[0]));
    out->value = value;
    out->tail = tail;
    return FMT_OK;
}

void attr_put(struct out *out, const struct attr_rec *r)
{
    out_u8(out, r->kind == FMT_LATER ? r->number : FMT_PLAIN);
    out_u8(out, r->flags);
    out_var(out, r->index);
    if (r->kind != FMT_LATER) {
        out_var(out, r->type);
        out_u8(out, r->rank);
        for (int i = 0; r->rank != FMT_RANK_NULL && i < r->rank; i++)
            out_var(out, r->len[i]);
        out_var(out, r->value.len);
        span_put(out, &r->value);
    }
    span_put(out, &r->tail);
}
