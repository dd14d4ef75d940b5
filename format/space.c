/* space.c - records of free, pending and logged extents. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

/* An extent of space that can exist: whole lines, behind the slots. */
static void extent_check(struct in *in, uint64_t offset, uint64_t length)
{
    if (!in->err && (length == 0 || length % FMT_ALIGN || offset % FMT_ALIGN))
        in_fail(in, FMT_ERR_FORMAT, "an extent that is not whole lines of 64 bytes (R6.3)");
    if (!in->err && (offset < FMT_SPACE_START || offset > FMT_SIZE_MAX || length > FMT_SIZE_MAX))
        in_fail(in, FMT_ERR_FORMAT, "impossible extent (R2.14)");
}

int free_get(struct in *in, uint64_t offset, struct free_rec *out)
{
    struct free_rec t;

    t.length = in_u64(in);
    extent_check(in, offset, t.length);
    t.sequence = in_u64(in);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void free_put(struct out *out, const struct free_rec *r)
{
    out_u64(out, r->length);
    out_u64(out, r->sequence);
}

int pending_get(struct in *in, struct pending_rec *out)
{
    struct pending_rec t;

    t.offset = in_u64(in);
    t.length = in_u64(in);
    extent_check(in, t.offset, t.length);
    t.sequence = in_u64(in);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void pending_put(struct out *out, const struct pending_rec *r)
{
    out_u64(out, r->offset);
    out_u64(out, r->length);
    out_u64(out, r->sequence);
}

int log_get(struct in *in, struct log_rec *out)
{
    struct log_rec t = {0};

    t.time = in_i64(in);
    t.end = in_u64(in);
    if (!in->err && (t.end < FMT_SPACE_START || t.end > FMT_SIZE_MAX))
        in_fail(in, FMT_ERR_FORMAT, "impossible end of space (R6.5)");
    ref_get(in, &t.root);
    if (!in->err &&
        (!t.root.length || t.root.offset > t.end || t.root.length > t.end - t.root.offset))
        in_fail(in, FMT_ERR_FORMAT, "root outside the space of its commit (R6.5)");
    t.next_object = in_u64(in);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void log_put(struct out *out, const struct log_rec *r)
{
    out_i64(out, r->time);
    out_u64(out, r->end);
    ref_put(out, &r->root);
    out_u64(out, r->next_object);
}
