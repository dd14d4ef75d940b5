/* block.c - references to blocks and the header that every block begins with.
 *
 * A block is read only through a reference that states its length and sum, so a stale or torn
 * block is recognised before any of its fields is believed. */
/* SPDX-License-Identifier: MIT */
#include "format/block.h"

static const uint8_t block_magic[4] = {0x44, 0x52, 0x50, 0x42};

void ref_get(struct in *in, struct ref *r)
{
    size_t start = in->at;
    struct ref t;

    t.offset = in_u64(in);
    t.length = in_u32(in);
    t.checksum = in_u64(in);
    if (in->err)
        return;
    in->last = start;
    if (t.length == 0 ? t.offset || t.checksum : t.length < FMT_BLOCK_HEAD)
        in_fail(in, FMT_ERR_FORMAT, "impossible reference (R4.4)");
    else if (t.length && (t.offset < FMT_SPACE_START || t.offset > FMT_SIZE_MAX))
        in_fail(in, FMT_ERR_FORMAT, "reference outside the file (R2.14)");
    else if (t.offset % FMT_ALIGN)
        in_fail(in, FMT_ERR_FORMAT, "reference to no multiple of 64 (R4.1)");
    else
        *r = t;
}

void ref_put(struct out *out, const struct ref *r)
{
    out_u64(out, r->offset);
    out_u32(out, r->length);
    out_u64(out, r->checksum);
}

/* Check level, count and length against the kind. Returns what is wrong, or NULL. */
static const char *block_doubt(const struct block_head *h)
{
    uint64_t content = h->length - FMT_BLOCK_HEAD;

    if (h->kind != FMT_NODE && h->level != 0)
        return "impossible level of a block (R4.5)";
    if (h->level > FMT_LEVEL_MAX)
        return "impossible level of a node (R4.17)";
    switch (h->kind) {
    case FMT_NODE:
        if (h->length > FMT_NODE_MAX || h->count < 1 || h->count > content / 4)
            return "impossible size of a node (R4.9)";
        return NULL;
    case FMT_VALUE:
        if (h->count)
            return "a value block with a count (R4.8)";
        return content > FMT_VALUE_MAX ? "impossible size of a value block (R4.14)" : NULL;
    case FMT_PENDING:
        return content != (uint64_t)h->count * 24 ? "impossible size of a pending list (R6.4)"
                                                  : NULL;
    case FMT_HEADER:
        if (h->count)
            return "a header block with a count (R4.8)";
        return NULL;
    case FMT_SUMS:
        return content != (uint64_t)h->count * 8 ? "impossible size of a block of sums (R8.26)"
                                                 : NULL;
    }
    return "unknown kind of block (R4.5)";
}

static int block_fault(int err, const char *text, const char **why)
{
    *why = text;
    return err;
}

/* The checksum comes first: nothing else of a block is believed before it fits. */
int block_get(struct block_head *out, const uint8_t *block, size_t size, const char **why)
{
    struct block_head t;
    const uint8_t *magic;
    const char *doubt;
    struct in in;
    uint16_t zeros;

    in_init(&in, block, size);
    if (size < FMT_BLOCK_HEAD)
        return block_fault(FMT_ERR_FORMAT, "a block is shorter than its header (R4.4)", why);
    magic = in_bytes(&in, sizeof(block_magic));
    t.kind = in_u8(&in);
    t.level = in_u8(&in);
    zeros = in_u16(&in);
    memcpy(t.uuid, in_bytes(&in, 8), 8);
    t.sequence = in_u64(&in);
    t.length = in_u32(&in);
    t.count = in_u32(&in);
    t.checksum = in_u64(&in);
    if (sum_with_hole(block, size, BLOCK_CHECKSUM_AT) != t.checksum)
        return block_fault(FMT_ERR_CHECKSUM, "checksum mismatch (R4.3)", why);
    if (memcmp(magic, block_magic, sizeof(block_magic)) != 0)
        return block_fault(FMT_ERR_FORMAT, "no block begins here (R4.2)", why);
    if (zeros)
        return block_fault(FMT_ERR_FORMAT, "reserved bytes are not zero (R4.2)", why);
    if (t.length != size)
        return block_fault(FMT_ERR_FORMAT,
                           "the length of a block differs from its reference (R4.4)", why);
    if (t.kind == FMT_HEADER && size - FMT_BLOCK_HEAD > FMT_HEADER_MAX)
        return block_fault(FMT_ERR_UNSUPPORTED, FMT_BEYOND("a header of more than 1 MiB", "R3.2"),
                           why);
    doubt = block_doubt(&t);
    if (doubt)
        return block_fault(FMT_ERR_FORMAT, doubt, why);
    *out = t;
    return FMT_OK;
}

uint64_t block_seal(uint8_t *block, const struct block_head *head)
{
    struct out out;
    uint64_t sum;

    out_init(&out, block, FMT_BLOCK_HEAD);
    out_bytes(&out, block_magic, sizeof(block_magic));
    out_u8(&out, head->kind);
    out_u8(&out, head->level);
    out_zeros(&out, 2);
    out_bytes(&out, head->uuid, sizeof(head->uuid));
    out_u64(&out, head->sequence);
    out_u32(&out, head->length);
    out_u32(&out, head->count);
    out_u64(&out, 0);
    sum = sum_of(block, head->length);
    out_patch_u64(&out, BLOCK_CHECKSUM_AT, sum);
    return sum;
}
