/* chunk.c - the record that says where chunks are stored, and by which sums they are
 * verified. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

#define HARD 0x0fu    /* flags that a reader must know */
#define PACKED_ROW 12 /* bytes */
#define PLACED_ROW 20
#define SUMS_A_BLOCK ((FMT_SUMS_MAX - FMT_BLOCK_HEAD) / 8)

uint64_t chunk_sums(uint32_t run, uint64_t size)
{
    uint64_t each = size / FMT_SUM_BLOCK + (size % FMT_SUM_BLOCK != 0);

    if (run && each > FMT_SIZE_MAX / run)
        return FMT_SIZE_MAX;
    return run * each;
}

uint64_t chunk_sum_blocks(uint64_t sums)
{
    return sums <= FMT_SUMS_INLINE ? 0 : sums / SUMS_A_BLOCK + (sums % SUMS_A_BLOCK != 0);
}

uint32_t chunk_sums_in(uint64_t sums, uint64_t i)
{
    uint64_t left = sums - i * SUMS_A_BLOCK;

    return (uint32_t)(left < SUMS_A_BLOCK ? left : SUMS_A_BLOCK);
}

void chunk_ref(const struct chunk_rec *r, uint32_t i, struct ref *out)
{
    struct in in;

    in_init(&in, r->refs.p + (size_t)i * FMT_REF_SIZE, FMT_REF_SIZE);
    ref_get(&in, out);
}

/* The blocks are full but for the last, so the length of each is known. */
static void refs_get(struct in *in, uint64_t sums, struct chunk_rec *t)
{
    uint64_t n = chunk_sum_blocks(sums);
    struct in first = *in;
    struct ref ref;

    /* Longer blocks would be fewer. */
    ref_get(&first, &ref);
    if (!first.err)
        IN_LIMIT(in, ref.length, FMT_SUMS_MAX, "a block of sums of more than 64 KiB", "R8.26");
    if (!in->err && n > in_left(in) / FMT_REF_SIZE) {
        in_fail(in, FMT_ERR_FORMAT, "references to blocks of sums are missing (R8.25)");
        return;
    }
    t->far = (uint32_t)n;
    t->refs = (struct span){in->p + in->at, (size_t)n * FMT_REF_SIZE};
    for (uint64_t i = 0; i < n && !in->err; i++) {
        ref_get(in, &ref);
        if (!in->err && ref.length != FMT_BLOCK_HEAD + 8 * chunk_sums_in(sums, i))
            in_fail(in, FMT_ERR_FORMAT, "unexpected length of a block of sums (R8.26)");
    }
}

static void plain_get(struct in *in, struct chunk_rec *t)
{
    uint64_t sums;

    t->run = in_u32(in);
    if (!in->err && t->run == 0)
        in_fail(in, FMT_ERR_FORMAT, "impossible run of chunks (R8.15)");
    t->offset = in_u64(in);
    if (!in->err && (t->offset < FMT_SPACE_START || t->offset > FMT_SIZE_MAX))
        in_fail(in, FMT_ERR_FORMAT, "chunk outside the file (R2.14)");
    if (!in->err && t->offset % FMT_ALIGN)
        in_fail(in, FMT_ERR_FORMAT, "offset of a chunk is no multiple of 64 (R6.1)");
    t->size = in_u64(in);
    if (!in->err && t->size == 0 && t->run != 1) /* work on a chunk needs bytes in the file */
        in_fail(in, FMT_ERR_FORMAT, "a run of chunks without bytes (R8.15)");
    if (!in->err && t->size > FMT_SIZE_MAX / t->run)
        in_fail(in, FMT_ERR_FORMAT, "impossible size of a chunk (R2.14)");
    if (in->err)
        return;
    sums = chunk_sums(t->run, t->size);
    if (sums > FMT_SUMS_INLINE) {
        refs_get(in, sums, t);
        return;
    }
    t->nsums = (uint32_t)sums;
    for (uint32_t i = 0; i < t->nsums; i++)
        t->sum[i] = in_u64(in);
}

/* Bytes that can exist in a file. */
static bool possible(uint64_t offset, uint64_t size)
{
    return offset >= FMT_SPACE_START && offset <= FMT_SIZE_MAX && size <= FMT_SIZE_MAX - offset;
}

static void packed_get(struct in *in, struct chunk_rec *t)
{
    uint64_t bytes = 0;

    t->offset = in_u64(in);
    if (!in->err && t->offset % FMT_ALIGN)
        in_fail(in, FMT_ERR_FORMAT, "offset of a packed run is no multiple of 64 (R8.22)");
    t->rows = (struct span){in->p + in->at, (size_t)t->run * PACKED_ROW};
    for (uint32_t i = 0; i < t->run && !in->err; i++) {
        bytes += in_u32(in);
        in_u64(in);
    }
    if (!in->err && !possible(t->offset, bytes))
        in_fail(in, FMT_ERR_FORMAT, "chunk outside the file (R2.14)");
}

/* Rows with places of their own, in this file or in another. */
static void placed_get(struct in *in, struct chunk_rec *t)
{
    bool external = t->kind == FMT_CHUNK_EXTERNAL;

    if (external)
        t->file = in_u32(in);
    if (!in->err && external && t->file == 0)
        in_fail(in, FMT_ERR_FORMAT, "an external record names no file (R8.44)");
    t->rows = (struct span){in->p + in->at, (size_t)t->run * PLACED_ROW};
    for (uint32_t i = 0; i < t->run && !in->err; i++) {
        uint64_t offset = in_u64(in);
        uint32_t size = in_u32(in);

        if (!in->err && external && offset > FMT_SIZE_MAX - size)
            in_fail(in, FMT_ERR_FORMAT, "chunk outside its file (R8.47)");
        if (!in->err && !external && !possible(offset, size))
            in_fail(in, FMT_ERR_FORMAT, "chunk outside the file (R2.14)");
        if (i == 0)
            t->offset = offset;
        in_u64(in);
    }
}

static void filtered_get(struct in *in, struct chunk_rec *t)
{
    bool packed = t->kind == FMT_CHUNK_PACKED;
    bool external = t->kind == FMT_CHUNK_EXTERNAL;

    t->filtered = true;
    t->run = in_u8(in);
    if (!in->err && t->run == 0)
        in_fail(in, FMT_ERR_FORMAT,
                packed     ? "a packed record without rows (R8.16)"
                : external ? "an external record without rows (R8.44)"
                           : "a placed record without rows (R8.17)");
    if (packed)
        IN_LIMIT(in, t->run, FMT_PACKED_MAX, "more than 128 packed rows", "R8.16");
    else if (external)
        IN_LIMIT(in, t->run, FMT_PLACED_MAX, "more than 96 external rows", "R8.44");
    else
        IN_LIMIT(in, t->run, FMT_PLACED_MAX, "more than 96 placed rows", "R8.17");
    t->unused = in_u8(in);
    t->skipped = in_u32(in);
    if (packed)
        packed_get(in, t);
    else
        placed_get(in, t);
}

/* Decode the place and the sums of a run of chunks. */
int chunk_get(struct in *in, struct chunk_rec *out)
{
    struct chunk_rec t = {0};
    uint8_t flags;

    t.kind = in_u8(in);
    if (!in->err && (t.kind < FMT_CHUNK_PLAIN || t.kind > FMT_CHUNK_EXTERNAL))
        in_fail(in, FMT_ERR_UNSUPPORTED, "a kind that a newer version wrote (R8.14)");
    flags = in_u8(in);
    if (!in->err && flags & HARD)
        in_fail(in, FMT_ERR_UNSUPPORTED, "a flag that a newer version wrote (R1.8)");
    t.kept = flags & (uint8_t)~HARD;
    if (!in->err && t.kind == FMT_CHUNK_PLAIN)
        plain_get(in, &t);
    else if (!in->err)
        filtered_get(in, &t);
    span_rest(in, &t.tail);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void chunk_put(struct out *out, const struct chunk_rec *r)
{
    out_u8(out, r->kind);
    out_u8(out, r->kept);
    if (r->kind == FMT_CHUNK_PLAIN) {
        out_u32(out, r->run);
        out_u64(out, r->offset);
        out_u64(out, r->size);
        span_put(out, &r->refs);
        for (uint32_t i = 0; !r->far && i < r->nsums && i < FMT_SUMS_INLINE; i++)
            out_u64(out, r->sum[i]);
    } else {
        out_u8(out, (uint8_t)r->run);
        out_u8(out, r->unused);
        out_u32(out, r->skipped);
        if (r->kind == FMT_CHUNK_PACKED)
            out_u64(out, r->offset);
        else if (r->kind == FMT_CHUNK_EXTERNAL)
            out_u32(out, r->file);
        span_put(out, &r->rows);
    }
    span_put(out, &r->tail);
}

void chunk_row(const struct chunk_rec *r, uint32_t i, uint64_t *at, struct chunk_rec *out)
{
    bool packed = r->kind == FMT_CHUNK_PACKED;
    struct in in;

    in_init(&in, r->rows.p, r->rows.len);
    in.at = (size_t)i * (packed ? PACKED_ROW : PLACED_ROW);
    if (packed && i == 0)
        *at = r->offset;
    else if (!packed)
        *at = in_u64(&in);
    *out = (struct chunk_rec){.kind = r->kind,
                              .filtered = true,
                              .skipped = r->skipped,
                              .run = 1,
                              .file = r->file,
                              .kept = r->kept & FMT_CHUNK_UNDECODED,
                              .offset = *at,
                              .size = in_u32(&in),
                              .nsums = 1};
    out->sum[0] = in_u64(&in);
    if (packed)
        *at += out->size;
}

void chunk_row_put(struct out *out, uint8_t kind, uint64_t offset, uint32_t size, uint64_t sum)
{
    if (kind != FMT_CHUNK_PACKED)
        out_u64(out, offset);
    out_u32(out, size);
    out_u64(out, sum);
}

/* ---- the space of a record ---- */

static uint64_t line(uint64_t v, bool up)
{
    return (up ? v + FMT_ALIGN - 1 : v) / FMT_ALIGN * FMT_ALIGN;
}

/* Insert the bytes of a row; those so far are sorted. */
static void insert(struct chunk_lines *l, uint64_t offset, uint64_t length)
{
    uint32_t at = l->n++;

    for (; at > 0 && l->at[at - 1].offset > offset; at--)
        l->at[at] = l->at[at - 1];
    l->at[at].offset = offset;
    l->at[at].length = length;
}

int chunk_lines(const struct chunk_rec *r, struct chunk_lines *out)
{
    uint64_t at = 0, end = 0;
    uint32_t n = 0;

    out->n = 0;
    if (r->kind == FMT_CHUNK_EXTERNAL)
        return FMT_OK;
    if (r->kind == FMT_CHUNK_PLACED && r->rows.len) {
        for (uint32_t i = 0; i < r->run; i++) {
            struct chunk_rec row;

            chunk_row(r, i, &at, &row);
            if (row.size)
                insert(out, row.offset, row.size);
        }
    } else if (r->rows.len) {
        struct chunk_rec row;

        for (uint32_t i = 0; i < r->run; i++)
            chunk_row(r, i, &at, &row);
        if (at > r->offset)
            insert(out, r->offset, at - r->offset);
    } else if (r->size || !r->filtered) {
        insert(out, r->offset, r->size ? r->size * r->run : 1);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        uint64_t low = line(out->at[i].offset, false);
        uint64_t high = line(out->at[i].offset + out->at[i].length, true);

        if (i > 0 && out->at[i].offset < end)
            return FMT_ERR_FORMAT;
        end = out->at[i].offset + out->at[i].length;
        if (n > 0 && low <= out->at[n - 1].offset + out->at[n - 1].length) {
            out->at[n - 1].length = high - out->at[n - 1].offset;
        } else {
            out->at[n].offset = low;
            out->at[n++].length = high - low;
        }
    }
    out->n = n;
    return FMT_OK;
}
