/* snapshot.c - which commit a handle looks at: the slots, the locks of readers, the log.
 *
 * A reader holds a lock that stands for all commits while it reads the slots and locks the one that
 * it chooses, so no writer begins to reuse its space meanwhile. */
/* SPDX-License-Identifier: MIT */
#include "txn/snapshot.h"

#include "base/error.h"
#include "chunk/cache.h"
#include "space/slots.h"
#include "space/space.h"
#include "tree/block.h"
#include "tree/tree.h"
#include "txn/log.h"
#include "txn/queue.h"
#include "txn/txn.h"

#include <string.h>
#include <time.h>

#define TRIES 8   /* to read a slot without locks */
#define SETTLE 50 /* to read a slot that is being written */
#define SETTLE_NS 1000000

const uint8_t *store_header(const struct store *st, size_t *size)
{
    *size = st->txn->header.len;
    return st->txn->header.p;
}

int store_damaged_slot(const struct store *st)
{
    return st->txn->damaged;
}

/* ---- locks ---- */

/* What the attempt to take a lock means: *taken 1 if it is held.  A system without such locks is no
 * error. */
static int lock_result(int err, int *taken)
{
    if (err == DREP_ERR_UNSUPPORTED_OPERATION)
        return 0;
    *taken = !err;
    return err;
}

static bool takes_locks(const struct store *st)
{
    return st->opts.lock && st->io->ops->lock;
}

int snapshot_lock_writer(struct store *st)
{
    st->locked = 0;
    return takes_locks(st) ? lock_result(queue_lock_writer(st), &st->locked) : 0;
}

/* Lock a commit: no writer reuses space that it refers to.  Sequence 0 is before all commits. */
static int lock_commit(struct store *st, uint64_t sequence, int *taken)
{
    *taken = 0;
    if (!takes_locks(st) || sequence >= FMT_SIZE_MAX) /* no writer can come after it */
        return 0;
    return lock_result(st->io->ops->lock(st->io, FMT_LOCK_READERS + sequence, 1, 1), taken);
}

static void unlock_commit(struct store *st, uint64_t sequence)
{
    struct fail_state why;

    fail_save(&why);
    st->io->ops->lock(st->io, FMT_LOCK_READERS + sequence, 1, 0);
    fail_restore(&why);
}

static int writer_at_work(struct store *st)
{
    int held = 0;

    if (!st->io->ops->probe || st->io->ops->probe(st->io, FMT_LOCK_WRITER, 1, &held))
        return 0;
    return held;
}

/* Read the slots, waiting while a writer is at work: a slot that is being written looks damaged. */
static int slots_settle(struct store *st, struct slots *s)
{
    const struct timespec wait = {0, SETTLE_NS};
    int err = st->slot.sequence ? slots_read(st->io, s) : slots_read_first(st, s);

    for (int i = 0; !err && !st->writable && slots_damaged(s) && i < SETTLE; i++) {
        int busy = writer_at_work(st) || (!st->opts.lock && i < TRIES);

        if (busy)
            nanosleep(&wait, NULL);
        err = slots_read(st->io, s);
        if (!busy)
            break;
    }
    return err;
}

/* ---- the header proper ---- */

int snapshot_set_header(struct store *st, const struct slot *slot, const struct buf *rest)
{
    struct buf *header = &st->txn->header;
    int err = buf_reserve(header, slot->header_size + rest->len + 1);

    if (err)
        return err;
    memcpy(header->p, slot->header, slot->header_size);
    if (rest->len)
        memcpy(header->p + slot->header_size, rest->p, rest->len);
    header->len = slot->header_size + rest->len;
    return 0;
}

int snapshot_load_header(struct store *st)
{
    const struct slot *s = &st->slot;
    struct buf rest = {0};
    int err = 0;

    if (s->more.length)
        err = block_load(st, &s->more, FMT_HEADER, &rest, NULL);
    if (!err && rest.len > FMT_HEADER_MAX - s->header_size)
        err = fail(DREP_ERR_UNSUPPORTED, FMT_BEYOND("a header of more than 1 MiB", "R3.2"));
    if (!err)
        err = snapshot_set_header(st, s, &rest);
    buf_release(&rest);
    return err;
}

/* ---- choosing ---- */

/* Look at a commit: everything that follows from its slot.  What was read of another commit is
 * forgotten. */
void snapshot_look_at(struct store *st, const struct slot *slot)
{
    st->slot = *slot;
    tree_look_at(st->tree, &slot->root);
    st->space->end = round_up(slot->end, FMT_ALIGN); /* other writers may have ended anywhere */
    st->next_object = slot->next_object;
    st->next_type = slot->next_type;
    chunk_cache_clear(st->cache);
}

int snapshot_choose(struct store *st, uint64_t sequence, int write, struct slot *out)
{
    struct slots s = {0};
    int which = 0;
    int err = slots_settle(st, &s);

    if (!err)
        err = slots_choose(&s, sequence, &which, &st->txn->damaged);
    if (!err && s.slot[which].end > s.file_size) /* it may have grown since */
        err = st->io->ops->size(st->io, &s.file_size);
    if (!err)
        err = slot_check(&s.slot[which], s.file_size, write);
    if (err)
        return err;
    st->txn->older_end = s.state[1 - which] == SLOT_VALID ? s.slot[1 - which].end : 0;
    st->txn->older = (struct ref){0, 0, 0};
    if (s.state[1 - which] == SLOT_VALID &&
        s.slot[1 - which].sequence + 1 == s.slot[which].sequence)
        st->txn->older = s.slot[1 - which].root;
    *out = s.slot[which];
    return 0;
}

/* Choose and lock the newest commit.  A lock on commit 0 keeps all of them meanwhile, so the slots
 * need not be read again once the lock is there. */
static int choose_newest(struct store *st, struct slot *slot)
{
    int all, err = lock_commit(st, 0, &all);

    if (!err)
        err = snapshot_choose(st, 0, 0, slot);
    if (!err && all)
        err = lock_commit(st, slot->sequence, &st->locked);
    if (all)
        unlock_commit(st, 0);
    return err;
}

/* Look at an earlier commit, by its slot or by the log of the newest one.  Our lock on it keeps the
 * blocks of every later commit, too; those of an older one may be overwritten, so that nothing of
 * it is read if the number is above the newest. */
static int choose_earlier(struct store *st, uint64_t sequence)
{
    struct slot newest;
    struct log_rec rec;
    int err = lock_commit(st, sequence, &st->locked);

    if (!err)
        err = snapshot_choose(st, sequence, 0, &newest);
    if (err)
        return err;
    if (sequence > newest.sequence)
        return log_lacks(sequence, newest.sequence);
    snapshot_look_at(st, &newest);
    err = snapshot_load_header(st);
    if (err || newest.sequence == sequence)
        return err;
    err = log_find(st, sequence, &rec);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? log_lacks(sequence, newest.sequence) : err;
    newest.sequence = sequence;
    newest.time = rec.time;
    newest.end = rec.end;
    newest.root = rec.root;
    newest.next_object = rec.next_object;
    newest.pending = (struct ref){0, 0, 0};
    newest.more = (struct ref){0, 0, 0};
    newest.meta_offset = newest.meta_length = 0;
    snapshot_look_at(st, &newest);
    return 0;
}

/* Nobody knows whether the slot that a writer finds was synced.  If it was not, a crash leaves the
 * commit before it: what that one's log keeps must stay whole, too, until the first sync (R6.12).
 */
static void look_at_older(struct store *st)
{
    struct fail_state why;
    uint64_t oldest;

    st->txn->unsynced = true;
    st->txn->older_log = st->slot.sequence == 1 ? UINT64_MAX : 0;
    if (!st->txn->older.length)
        return;
    fail_save(&why);
    tree_look_at(st->tree, &st->txn->older);
    if (log_oldest(st, &oldest) == 0)
        st->txn->older_log = oldest;
    tree_look_at(st->tree, &st->slot.root);
    fail_restore(&why);
}

int snapshot_open(struct store *st, int write, uint64_t sequence)
{
    struct slot slot;
    uint64_t size;
    int err;

    if (sequence)
        return choose_earlier(st, sequence);
    if (write) {
        st->writable = true;
        err = snapshot_lock_writer(st);
        if (!err && st->io->ops->named) /* if the file was replaced, its lock was free */
            err = st->io->ops->named(st->io, &size);
        if (!err)
            err = snapshot_choose(st, 0, 1, &slot);
    } else {
        err = choose_newest(st, &slot);
    }
    if (err)
        return err;
    snapshot_look_at(st, &slot);
    if (write)
        look_at_older(st);
    return snapshot_load_header(st);
}

int snapshot_open_at(struct store *st, const struct slot *slot)
{
    int err = lock_commit(st, slot->sequence, &st->locked);

    if (err)
        return err;
    snapshot_look_at(st, slot);
    return snapshot_load_header(st);
}

/* Check that the commit with this number, under our own lock, is the one that was open: it is in
 * a slot or in the log, or was locked all the time by the description that we share with the
 * parent. */
static int still_there(struct store *st, const struct slot *old)
{
    struct slot newest;
    struct log_rec rec;
    int held = 0, err = snapshot_choose(st, old->sequence, 0, &newest);

    if (!err && memcmp(newest.uuid, old->uuid, sizeof(old->uuid)) != 0)
        err = DREP_ERR_STALE;
    if (err || newest.sequence == old->sequence)
        return err;
    snapshot_look_at(st, &newest);
    err = log_find(st, old->sequence, &rec);
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    if (st->locked && st->io->ops->probe)
        st->io->ops->probe(st->io, FMT_LOCK_READERS + old->sequence, 1, &held);
    return held ? 0 : DREP_ERR_STALE;
}

int snapshot_reopen(struct store *st, const struct slot *old, int damaged)
{
    int err = lock_commit(st, old->sequence, &st->locked);

    if (!err)
        err = still_there(st, old);
    if (err)
        return err;
    snapshot_look_at(st, old);
    st->txn->damaged = damaged;
    return snapshot_load_header(st);
}

/* ---- moving on ---- */

/* Swap what the store looks at with another snapshot, so that going back costs nothing. */
static void exchange(struct store *st, struct snapshot *other)
{
    struct snapshot mine = {st->slot, st->txn->header, st->txn->damaged, st->locked};

    snapshot_look_at(st, &other->slot);
    st->txn->header = other->header;
    st->txn->damaged = other->damaged;
    st->locked = other->locked;
    *other = mine;
}

int store_refresh(struct store *st, struct snapshot *old, int *moved)
{
    struct snapshot next = {.damaged = 0};
    int damaged = st->txn->damaged;
    int err;

    *moved = 0;
    if (st->writable)
        return 0; /* only this handle makes commits */
    err = snapshot_choose(st, 0, 0, &next.slot);
    next.damaged = st->txn->damaged;
    st->txn->damaged = damaged;
    if (err)
        return err;
    if (memcmp(next.slot.uuid, st->slot.uuid, sizeof(st->slot.uuid)) != 0)
        return fail(DREP_ERR_FORMAT, "another file has taken its place");
    if (next.slot.sequence <= st->slot.sequence) {
        st->txn->damaged = next.damaged; /* the slot of our commit may be gone */
        return 0;
    }
    err = lock_commit(st, next.slot.sequence, &next.locked);
    if (err)
        return err;
    exchange(st, &next);
    err = snapshot_load_header(st);
    *old = next;
    if (err) {
        store_refresh_end(st, old, 0);
        return err;
    }
    *moved = 1;
    return 0;
}

void store_refresh_end(struct store *st, struct snapshot *old, int keep)
{
    if (!keep)
        exchange(st, old);
    if (old->locked)
        unlock_commit(st, old->slot.sequence);
    buf_release(&old->header);
}
