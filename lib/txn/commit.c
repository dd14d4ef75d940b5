/* commit.c - everything since the last commit becomes durable, or nothing does.
 *
 * prepare() brings the tree up to date in memory; write_all() writes blocks to space that no
 * commit refers to, and then the slot.  After the first sync all blocks are durable; after the
 * second one the slot is, and the commit cannot be lost.  Slots are written in turn: if the
 * machine stops while one is being written, the other one still has the last commit.  A new file
 * needs the second sync alone, as it gets its name after it. */
/* SPDX-License-Identifier: MIT */
#include "txn/commit.h"

#include "base/error.h"
#include "chunk/place.h"
#include "chunk/run.h"
#include "space/slots.h"
#include "tree/block.h"
#include "tree/spill.h"
#include "tree/touched.h"
#include "txn/changed.h"
#include "txn/free.h"
#include "txn/log.h"
#include "txn/nodes.h"
#include "txn/writeback.h"

#include <string.h>
#include <time.h>

#define GROW_UNIT 65536

/* ---- the slot ---- */

static int64_t now(const struct store *st)
{
    struct timespec t;

    if (st->opts.time != -1)
        return st->opts.time;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Make the file as long as its allocated space: nothing may have been written there.  The next
 * commits of a small file find some room then; closing cuts it off.  A file that was long enough
 * when the commit began has not become shorter. */
static int grow_file(struct store *st, uint64_t size_before)
{
    uint64_t size;
    int err;

    if (size_before >= st->space->end)
        return 0;
    err = st->io->ops->size(st->io, &size);

    if (!err && size < st->space->end)
        err = st->io->ops->truncate(st->io, round_up(st->space->end, GROW_UNIT));
    return err;
}

static int sync_file(struct store *st)
{
    int err;

    if (!st->opts.sync)
        return 0;
    err = st->io->ops->sync(st->io);
    if (err)
        st->failed = "a sync failed; what reached the disk is unknown";
    else
        st->txn->unsynced = false;
    return err;
}

/* Give a new file its name.  Later failures cannot take the name back. */
static int publish_file(struct store *st)
{
    int visible = 0, err;

    if (!st->txn->created || !st->io->ops->publish)
        return 0;
    err = st->io->ops->publish(st->io, st->opts.sync, &visible);
    if (err && visible)
        st->failed = "a sync failed; what reached the disk is unknown";
    return err;
}

/* A stream ends with its slot; it cannot go on after that. */
static int end_stream(struct store *st, const struct slot *slot)
{
    uint8_t bytes[FMT_SLOT_SIZE];
    int err;

    slot_put(bytes, slot);
    err = st->io->ops->write_at(st->io, bytes, sizeof(bytes), slot->end);
    if (!err)
        err = space_settle(st, slot->end + sizeof(bytes));
    if (!err)
        err = st->io->ops->sync(st->io);
    st->failed = err ? "the stream broke off" : "the stream has ended with its only commit";
    return err;
}

/* A file without its name is nobody's if the machine stops: one sync makes blocks and slot durable
 * before publish_file(). */
static int make_durable(struct store *st, const struct slot *slot, uint64_t size_before)
{
    bool nameless = st->txn->created && st->io->ops->publish;
    int err;

    if (st->space->onward)
        return end_stream(st, slot);
    err = grow_file(st, size_before);

    if (!err && !nameless)
        err = sync_file(st);
    if (!err)
        err = slots_write(st, slot);
    if (!err)
        err = sync_file(st);
    return err || st->txn->held ? err : publish_file(st);
}

/* ---- the whole ---- */

/* Free the blocks that only the last commit needs: they stay as they are until no reader can look
 * at it. */
static void free_old(struct store *st)
{
    const struct slot *s = &st->slot;

    if (st->txn->old_freed)
        return;
    st->txn->old_freed = true;
    if (s->pending.length)
        space_free(st, s->pending.offset, s->pending.length, ANYWAY);
    if (s->more.length)
        space_free(st, s->more.offset, s->more.length, ANYWAY);
}

/* Write the header proper into the slot, and its rest into a block. */
static int write_header(struct store *st, struct slot *slot, const uint8_t *header, size_t size,
                        size_t split)
{
    uint64_t at;
    int err;

    if (split > size || split > FMT_SLOT_HEADER_MAX || size > FMT_HEADER_MAX)
        return fail(DREP_ERR_LIMIT, "a header of %zu bytes does not fit", size);
    slot->header_size = (uint32_t)split;
    memset(slot->header, 0, sizeof(slot->header));
    if (split)
        memcpy(slot->header, header, split);
    slot->more = (struct ref){0, 0, 0};
    if (split == size)
        return 0;
    err = space_alloc(st, size - split + FMT_BLOCK_HEAD, FMT_ALIGN, ANYWAY, &at);
    if (err)
        return err;
    err = block_write(st, FMT_HEADER, 0, header + split, size - split, at, &slot->more);
    if (err)
        space_free(st, at, size - split + FMT_BLOCK_HEAD, ANYWAY);
    return err;
}

/* The order matters: payload first, as it changes records; then what they say of it; the log and
 * the header; space for nodes is reserved before FREE entries are written, because from then on
 * avail must not change. */
static int prepare(struct node_writer *w, struct slot *slot, const uint8_t *header, size_t size,
                   size_t split)
{
    struct store *st = w->st;
    int err = free_begin(st);

    if (!err)
        err = writeback_all(st, 0);
    if (!err)
        err = runs_flush(st, 0);
    if (!err)
        err = changed_publish(st);
    if (err)
        return err;
    place_end(st);
    free_old(st);
    err = log_update(st);
    if (err)
        return err;
    if (!st->tree->node && !st->tree->root.length)
        return fail(DREP_ERR_ARG, "a file without entries cannot be committed");
    err = write_header(st, slot, header, size, split);
    if (err)
        return err;
    space_trim(st);
    err = nodes_reserve(w);
    if (!err)
        err = free_publish(st);
    return err;
}

/* Write nodes, then the pending list, which names what the nodes left of the reserved extents, then
 * the slot.  If all nodes of a file's first commit stand without a gap, the slot names their range,
 * which a reader fetches in one go; it is dropped once the file ends before it. */
static int write_all(struct node_writer *w, struct slot *slot, uint64_t size_before)
{
    struct store *st = w->st;
    int err = nodes_write(w, &slot->root);

    if (!err && slot->sequence == 1 && !st->tree->spilled && w->last - w->first == w->bytes) {
        slot->meta_offset = w->first;
        slot->meta_length = w->bytes;
    }
    if (!err)
        err = nodes_write_pending(w, &slot->pending);
    slot->end = st->space->end;
    if (slot->meta_offset &&
        (slot->meta_offset > slot->end || slot->meta_length > slot->end - slot->meta_offset)) {
        slot->meta_offset = 0;
        slot->meta_length = 0;
    }
    if (err)
        return err;
    /* Everything is written, and nothing in memory changes until it is durable: readers may run. */
    if (st->guard)
        rwlock_share(st->guard);
    err = make_durable(st, slot, size_before);
    if (st->guard)
        rwlock_unshare(st->guard);
    return err;
}

/* What was written went to space that no commit refers to: forgetting where is enough.  The
 * transaction stays open and can be committed again. */
static void undo_commit(struct node_writer *w, const struct slot *slot, uint64_t end)
{
    struct store *st = w->st;
    struct fail_state why;

    fail_save(&why);
    nodes_undo(st);
    st->space->end = end;
    space_failed(st);
    for (int i = 0; i < w->n; i++) {
        if (w->whole[i].length)
            space_return(st, w->whole[i].offset, w->whole[i].length);
    }
    if (slot->more.length && slot->more.offset != st->slot.more.offset)
        space_free(st, slot->more.offset, slot->more.length, ANYWAY);
    fail_restore(&why);
}

bool store_unchanged(const struct store *st)
{
    return !st->dirty && st->slot.sequence && !st->txn->damaged;
}

static bool nothing_new(const struct store *st, const uint8_t *header, size_t size)
{
    return store_unchanged(st) && size == st->txn->header.len &&
           memcmp(header, st->txn->header.p, size) == 0;
}

/* The slot in force, and with it what readers see, changes only after make_durable() has
 * succeeded.  The header is copied before anything is written, so that nothing can fail once the
 * slot is durable. */
int store_commit(struct store *st, const uint8_t *header, size_t size, size_t split)
{
    struct node_writer w = {.st = st};
    struct slot slot = st->slot;
    struct buf copy = {0};
    uint64_t end, size_before = 0;
    int err = store_may_write(st);

    if (!err && st->private)
        err = fail(DREP_ERR_ARG, "a private store does not commit");
    if (!err && store_op_active(st))
        err = fail(DREP_ERR_ARG, "an operation is under way");
    if (!err && nothing_new(st, header, size))
        return 0;
    /* What is written into a file without a name would be lost. */
    if (!err && st->io->ops->named)
        err = st->io->ops->named(st->io, &size_before);
    if (!err)
        err = buf_set(&copy, header, size);
    if (err)
        return err;
    slot.more = (struct ref){0, 0, 0};
    slot.incompatible &= ~FMT_AT_END; /* prepare() brings the slot to the front */
    if (st->space->onward)
        slot.incompatible |= FMT_AT_END;
    slot.sequence++;
    slot_raise(&slot);
    slot.time = now(st);
    slot.next_object = st->next_object;
    slot.next_type = st->next_type;
    err = prepare(&w, &slot, header, size, split);
    end = st->space->end;
    if (!err)
        err = write_all(&w, &slot, size_before);
    buf_release(&w.out);
    if (err) {
        undo_commit(&w, &slot, end);
        buf_release(&copy);
        return err;
    }
    /* The pending list of this commit names these extents: the next transaction may use them. */
    for (int i = 0; i < w.n; i++) {
        if (w.place[i].length)
            extent_list_add(&st->space->left, w.place[i].offset, w.place[i].length);
    }
    st->txn->older_end = st->slot.end;
    st->slot = slot;
    st->txn->old_freed = false;
    st->txn->created = st->txn->created && st->txn->held;
    st->dirty = 0;
    st->txn->damaged = 0;
    space_committed(st);
    tree_clean(st);
    touched_clear(st);
    buf_release(&st->txn->header);
    st->txn->header = copy;
    return 0;
}

void store_hold(struct store *st)
{
    st->txn->held = true;
}

int store_publish(struct store *st)
{
    int err = store_may_write(st);

    if (!err)
        err = publish_file(st);
    if (err)
        return err;
    st->txn->created = false;
    st->txn->held = false;
    return 0;
}
