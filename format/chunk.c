/* chunk.c - the record that says where chunks are stored, and by which sums they are
 * verified. */
#include "format/record.h"

#define FILTERED 1u
#define FAR 2u

uint64_t chunk_sums(uint32_t run, uint64_t size)
{
    uint64_t each = size / FMT_SUM_BLOCK + (size % FMT_SUM_BLOCK != 0);

    if (run && each > FMT_SIZE_MAX / run)
        return FMT_SIZE_MAX;
    return run * each;
}

static void sums_get(struct in *in, struct chunk_rec *t)
{
    uint64_t n = t->filtered ? 1 : chunk_sums(t->run, t->size);

    if (t->far != (n > FMT_SUMS_INLINE)) {
        in_fail(in, FMT_ERR_FORMAT, "unexpected position of sums (R8.25)");
        return;
    }
    if (t->far) {
        ref_get(in, &t->sums);
        if (!in->err && t->sums.length != FMT_BLOCK_HEAD + 8 * n)
            in_fail(in, FMT_ERR_FORMAT, "unexpected length of a block of sums (R8.26)");
        return;
    }
    t->nsums = (uint32_t)n;
    for (uint32_t i = 0; i < t->nsums; i++)
        t->sum[i] = in_u64(in);
}

/* Decode the place and the sums of a run of chunks. Sums stand in the record while they are few,
 * else in a block of their own. */
int chunk_get(struct in *in, struct chunk_rec *out)
{
    struct chunk_rec t = {0};
    uint8_t flags, zero;

    flags = in_u8(in);
    zero = in_u8(in);
    if (!in->err && (zero || flags >= (FILTERED | FAR)))
        in_fail(in, FMT_ERR_FORMAT, "impossible flags of a chunk (R1.8)");
    t.filtered = (flags & FILTERED) != 0;
    t.far = (flags & FAR) != 0;
    t.skipped = in_u32(in);
    t.run = in_u32(in);
    if (!in->err && (t.run == 0 || (t.filtered && t.run != 1)))
        in_fail(in, FMT_ERR_FORMAT, "impossible run of chunks (R8.15)");
    t.offset = in_u64(in);
    if (!in->err && (t.offset < FMT_SPACE_START || t.offset > FMT_SIZE_MAX))
        in_fail(in, FMT_ERR_FORMAT, "chunk outside the file (R2.14)");
    if (!in->err && t.offset % FMT_ALIGN)
        in_fail(in, FMT_ERR_FORMAT, "offset of a chunk is no multiple of 64 (R6.1)");
    t.size = in_u64(in);
    if (!in->err && t.size == 0 && t.run != 1) /* the bytes of the file back what is done with it */
        in_fail(in, FMT_ERR_FORMAT, "a run of chunks without bytes (R8.15)");
    if (!in->err && t.size > FMT_SIZE_MAX / t.run)
        in_fail(in, FMT_ERR_FORMAT, "impossible size of a chunk (R2.14)");
    if (!in->err)
        sums_get(in, &t);
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void chunk_put(struct out *out, const struct chunk_rec *r)
{
    out_u8(out, (uint8_t)((r->filtered ? FILTERED : 0) | (r->far ? FAR : 0)));
    out_u8(out, 0);
    out_u32(out, r->skipped);
    out_u32(out, r->run);
    out_u64(out, r->offset);
    out_u64(out, r->size);
    if (r->far)
        ref_put(out, &r->sums);
    for (uint32_t i = 0; !r->far && i < r->nsums && i < FMT_SUMS_INLINE; i++)
        out_u64(out, r->sum[i]);
    span_put(out, &r->tail);
}
