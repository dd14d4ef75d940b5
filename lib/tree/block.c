/* block.c - reading and writing the checksummed blocks that references lead to.
 *
 * A read fails closed: the reference is checked before memory is allocated for it, the checksum
 * before any field is used, and the owner's uuid and the sequence number before the content is
 * believed.  A reader whose snapshot was overwritten gets DREP_ERR_STALE instead of a checksum
 * error. */
/* SPDX-License-Identifier: MIT */
#include "tree/block.h"

#include "base/error.h"
#include "space/fetch.h"
#include "space/slots.h"
#include "space/space.h"
#include "tree/tree.h"

#include <string.h>

static const char *kind_name(int kind)
{
    switch (kind) {
    case FMT_NODE:
        return "node";
    case FMT_VALUE:
        return "value block";
    case FMT_PENDING:
        return "pending list";
    case FMT_HEADER:
        return "header continuation";
    default:
        return "block of sums";
    }
}

int block_refuse(int err, int kind, const struct ref *ref, const char *why)
{
    return fail_byte(err, ref->offset, "%s at byte %llu: %s", kind_name(kind),
                     (unsigned long long)ref->offset, why);
}

/* Check a reference before memory is allocated for its block. */
int block_ref_check(const struct store *st, const struct ref *ref, int kind)
{
    uint64_t end = store_end(st);
    uint32_t most = kind == FMT_NODE ? FMT_NODE_MAX : FMT_VALUE_MAX + FMT_BLOCK_HEAD;

    if (ref->offset & APART)
        return 0; /* written by this process */
    if (ref->offset < FMT_SPACE_START || ref->offset > end || ref->length > end - ref->offset)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "outside the file (R2.14)");
    if (ref->length < FMT_BLOCK_HEAD)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "impossible length (R4.4)");
    if (ref->length > most)
        return block_refuse(DREP_ERR_FORMAT, kind, ref,
                            kind == FMT_NODE ? "longer than a node can be (R4.9)"
                                             : "longer than a value can be (R4.14)");
    return 0;
}

/* Check the bytes of a block against what is known of them; level -1: any. */
int block_check(struct store *st, const struct ref *ref, int kind, int level, const uint8_t *block,
                struct block_head *head)
{
    const char *why = "";
    int err = block_get(head, block, ref->length, &why);

    if (err)
        return store_stale(st, block_refuse(err, kind, ref, why));
    if (head->checksum != ref->checksum)
        return store_stale(st, block_refuse(DREP_ERR_CHECKSUM, kind, ref,
                                            "its checksum differs from its reference's (R4.3)"));
    if (head->kind != kind)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "unexpected kind of block (R4.5)");
    if (level >= 0 && head->level != level)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "wrong level (R4.5)");
    if (memcmp(head->uuid, st->slot.uuid, sizeof(head->uuid)) != 0)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "it belongs to another file (R4.6)");
    if (head->sequence == 0)
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "it was written by no commit (R4.7)");
    if (head->sequence > st->slot.sequence + (st->writable ? 1 : 0))
        return block_refuse(DREP_ERR_FORMAT, kind, ref, "it was written by a later commit (R4.7)");
    return 0;
}

/* Blocks of a stream are kept beside: it cannot be read. */
static struct io *block_io(const struct store *st)
{
    return st->tree->kept ? st->tree->kept : st->io;
}

static int block_keep_apart(struct store *st, const uint8_t *block, size_t size, uint64_t offset)
{
    int err = st->tree->kept ? 0 : st->io->ops->apart(st->io, &st->tree->kept);

    return err ? err : st->tree->kept->ops->write_at(st->tree->kept, block, size, offset);
}

/* Take a block from what was fetched, if that is what the reference says. */
static bool block_fetched(struct store *st, const struct ref *ref, uint8_t *block)
{
    struct block_head head;
    const char *why = "";

    do {
        if (fetch_take(st, FETCH_META, block, ref->length, ref->offset) ||
            (fetch_lends(st) && fetch_take(st, FETCH_PAYLOAD, block, ref->length, ref->offset)))
            return block_get(&head, block, ref->length, &why) == 0 &&
                   head.checksum == ref->checksum;
    } while (fetch_extent(st, ref->offset));
    return false;
}

int block_read(struct store *st, struct io *io, const struct ref *ref, uint8_t *block)
{
    if (io == st->io && fetch_on(st) && block_fetched(st, ref, block))
        return 0;
    return io->ops->read_at(io, block, ref->length, ref->offset & ~APART);
}

int block_load(struct store *st, const struct ref *ref, int kind, struct buf *out, uint32_t *count)
{
    struct block_head head;
    int err = block_ref_check(st, ref, kind);

    if (!err)
        err = buf_reserve(out, ref->length);
    if (!err)
        err = block_read(st, block_io(st), ref, out->p);
    if (!err)
        err = block_check(st, ref, kind, 0, out->p, &head);
    if (err)
        return err;
    out->len = ref->length - FMT_BLOCK_HEAD;
    memmove(out->p, out->p + FMT_BLOCK_HEAD, out->len);
    if (count)
        *count = head.count;
    return 0;
}

void block_compose(const struct store *st, int kind, uint32_t count, const void *content,
                   size_t size, uint8_t *block, struct ref *out)
{
    struct block_head head = {.kind = (uint8_t)kind,
                              .sequence = store_next_sequence(st),
                              .length = (uint32_t)(size + FMT_BLOCK_HEAD),
                              .count = count};

    memcpy(head.uuid, st->slot.uuid, sizeof(head.uuid));
    if (size)
        memcpy(block + FMT_BLOCK_HEAD, content, size);
    out->length = head.length;
    out->checksum = block_seal(block, &head);
}

int block_write(struct store *st, int kind, uint32_t count, const void *content, size_t size,
                uint64_t offset, struct ref *out)
{
    struct buf block = {0};
    struct ref ref = {.offset = offset};
    int err;

    if (size > FMT_VALUE_MAX)
        return fail(DREP_ERR_LIMIT, "a value of %zu bytes is larger than %u", size, FMT_VALUE_MAX);
    err = buf_reserve(&block, size + FMT_BLOCK_HEAD);
    if (err)
        return err;
    block_compose(st, kind, count, content, size, block.p, &ref);
    err = st->io->ops->write_at(st->io, block.p, ref.length, offset);
    if (!err && st->space->onward)
        err = block_keep_apart(st, block.p, ref.length, offset);
    buf_release(&block);
    if (!err)
        *out = ref;
    return err;
}
