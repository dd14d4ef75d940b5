/* target.c - the record of a file that external chunks take their payload from. */
/* SPDX-License-Identifier: MIT */
#include "format/target.h"

#include <string.h>

int target_path_check(const uint8_t *p, size_t len)
{
    if (len == 0)
        return FMT_ERR_NAME;
    for (;;) {
        const uint8_t *slash = memchr(p, '/', len);
        size_t n = slash ? (size_t)(slash - p) : len;
        int err = name_check(p, n);

        if (err || !slash)
            return err;
        p += n + 1;
        len -= n + 1;
    }
}

int target_get(struct in *in, struct target_rec *out)
{
    struct target_rec t = {0};
    uint16_t n;

    t.number = t.kind = in_u8(in);
    t.flags = in_u8(in);
    n = in_u16(in);
    t.name.p = in_bytes(in, n);
    t.name.len = n;
    t.size = in_u64(in);
    t.head = in_u64(in);
    t.time = in_i64(in);
    span_get(in, in_u16(in), &t.tag);
    span_rest(in, &t.tail);
    IN_LIMIT(in, t.size, FMT_SIZE_MAX, "another file of more than 2^62 bytes", "R8.43");
    IN_LIMIT(in, n, FMT_PATH_MAX, "a path or URI of more than 4,096 bytes", "R8.45");
    IN_LIMIT(in, t.tag.len, FMT_NAME_MAX, "a file's text of more than 1,023 bytes", "R8.43");
    t.beyond = in_pass_over(in, in->at);
    if (t.kind < FMT_TARGET_PATH || t.kind > FMT_TARGET_URI || t.flags & FMT_FLAGS_MEAN || t.beyond)
        t.kind = FMT_LATER;
    if (!in->err && t.kind == FMT_TARGET_PATH && target_path_check(t.name.p, n))
        in_fail(in, FMT_ERR_FORMAT, "a path that does not lead down (R8.45)");
    if (!in->err && t.kind == FMT_TARGET_URI && (n == 0 || text_check(t.name.p, n)))
        in_fail(in, FMT_ERR_FORMAT, "invalid URI of another file (R8.45)");
    if (!in->err && text_check(t.tag.p, t.tag.len))
        in_fail(in, FMT_ERR_FORMAT, "invalid text that tells versions of another file (R8.43)");
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void target_put(struct out *out, const struct target_rec *r)
{
    out_u8(out, r->number);
    out_u8(out, r->flags);
    out_u16(out, (uint16_t)r->name.len);
    span_put(out, &r->name);
    out_u64(out, r->size);
    out_u64(out, r->head);
    out_u64(out, (uint64_t)r->time);
    out_u16(out, (uint16_t)r->tag.len);
    span_put(out, &r->tag);
    span_put(out, &r->tail);
}
