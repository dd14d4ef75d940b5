/* free.c - the FREE entries of the tree and the pending list: free space as commits record it.
 *
 * Writing a FREE entry changes the tree, which frees and dirties nodes: so from the moment
 * entries are written, what is freed goes to `late` (a commit refers to it) or `left` (none
 * does), and both to the pending list. */
/* SPDX-License-Identifier: MIT */
#include "txn/free.h"

#include "base/buf.h"
#include "base/error.h"
#include "space/slots.h"
#include "tree/block.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"
#include "txn/log.h"
#include "txn/txn.h"

/* ---- from the commit in force ---- */

static int extent_inside(const struct store *st, uint64_t offset, uint64_t length)
{
    if (offset < FMT_SPACE_START || offset > st->slot.end || length > st->slot.end - offset)
        return fail_byte(DREP_ERR_FORMAT, offset,
                         "free extent at byte %llu lies outside the file (R2.14)",
                         (unsigned long long)offset);
    return 0;
}

/* Entries of available and of recently freed extents alike go to `later`; space_reuse() sorts
 * them out. */
static int load_free(struct store *st)
{
    struct space *sp = st->space;
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_FREE);
    tree_walk(&w, st, &key, key.len);
    while (!(err = tree_next(&w, &key, &value))) {
        struct free_rec r;
        bool whole = key.len == FMT_KEY_HEAD + 8;
        uint64_t offset = whole ? key_u64(key.p + FMT_KEY_HEAD) : 0;
        struct in in;

        in_init(&in, value.p, value.len);
        if (!whole || free_get(&in, offset, &r)) {
            err = fail(DREP_ERR_FORMAT, "FREE entry: %s", in.err ? in.why : "its key (R4.19)");
            break;
        }
        err = extent_inside(st, offset, r.length);
        if (!err)
            err = later_add(&sp->later, offset, r.length, r.sequence);
        if (err)
            break;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int load_pending(struct store *st)
{
    struct buf list = {0};
    uint32_t count = 0;
    struct in in;
    int err;

    if (!st->slot.pending.length)
        return 0;
    err = block_load(st, &st->slot.pending, FMT_PENDING, &list, &count);
    in_init(&in, list.p, err ? 0 : list.len);
    for (uint32_t i = 0; !err && i < count; i++) {
        struct pending_rec r;

        if (pending_get(&in, &r)) {
            err =
                fail_byte(DREP_ERR_FORMAT, st->slot.pending.offset, "pending list at byte %llu: %s",
                          (unsigned long long)st->slot.pending.offset, in.why);
            break;
        }
        err = extent_inside(st, r.offset, r.length);
        if (!err)
            err = later_add(&st->space->pending, r.offset, r.length, r.sequence);
    }
    buf_release(&list);
    return err;
}

/* ---- what nobody looks at any more ---- */

/* Check whether a reader holds a commit of first ..  last; 0 stands for all of them. */
static int readers_in(struct store *st, uint64_t first, uint64_t last, int *held)
{
    return st->io->ops->probe(st->io, FMT_LOCK_READERS + first, last - first + 1, held);
}

/* Lower *limit to the oldest commit that a reader has locked: what commits up to it freed is
 * invisible to that reader.  Without locks the limit stays. */
static int readers_limit(struct store *st, uint64_t *limit)
{
    uint64_t low = 0, high = *limit ? *limit - 1 : 0; /* only readers of high or older matter */
    int held = 0;
    int err;

    if (!st->opts.lock || !st->io->ops->probe || high == 0)
        return 0;
    err = readers_in(st, low, high, &held);
    if (err == DREP_ERR_UNSUPPORTED_OPERATION)
        return 0;
    if (err || !held)
        return err;
    while (low < high) { /* search for the oldest one */
        uint64_t mid = low + (high - low) / 2;

        err = readers_in(st, low, mid, &held);
        if (err)
            return err;
        if (held)
            high = mid;
        else
            low = mid + 1;
    }
    *limit = low; /* what commit `low` freed, its readers do not see */
    return 0;
}

/* True if a crash may leave the commit before the one in force. */
static bool may_go_back(const struct store *st)
{
    return st->opts.sync && st->txn->unsynced;
}

/* Compute the last commit whose freed space the open transaction may use: the commits in both
 * slots, those in the log, and those that readers hold must stay whole; and if the file may go back
 * by a commit, what stands in the slots and the log then. */
static int reuse_limit(struct store *st, uint64_t *limit)
{
    bool back = may_go_back(st);
    uint64_t next = store_next_sequence(st);
    uint64_t keep = (st->opts.keep > 2 ? (uint64_t)st->opts.keep : 2) + back;
    uint64_t oldest;
    int err = log_oldest(st, &oldest);

    if (err)
        return err;
    *limit = next > keep ? next - keep : 0;
    if (*limit > oldest)
        *limit = oldest;
    if (back && *limit > st->txn->older_log)
        *limit = st->txn->older_log;
    return readers_limit(st, limit);
}

/* Make what was opened durable before anything is written, where it must not go back: the state of
 * a stream moves to slot A, and nobody knows what a damaged older slot keeps. */
static int secure_opened(struct store *st)
{
    int err;

    if (!(st->slot.incompatible & FMT_AT_END) && (!may_go_back(st) || st->txn->older_log > 0))
        return 0;
    err = slots_secure(st);
    if (!err)
        st->txn->unsynced = false;
    return err;
}

static int make_ready(struct store *st)
{
    struct space *sp = st->space;
    uint64_t limit = 0;
    int err = 0;

    if (!sp->loaded) {
        err = secure_opened(st);
        if (err)
            return err;
        sp->later.n = sp->later.head = 0;
        sp->pending.n = 0;
        err = load_free(st);
        if (!err)
            err = load_pending(st);
        if (err)
            return err;
        later_sort(&sp->later);
        sp->loaded = true;
    }
    err = reuse_limit(st, &limit);
    return err ? err : space_reuse(st, limit);
}

int free_begin(struct store *st)
{
    int err = st->space->ready ? 0 : make_ready(st);

    st->space->ready = !err;
    return fail_in(err, "free space");
}

/* ---- for the commit under way ---- */

static void free_entry_key(struct key *key, uint64_t offset)
{
    key_make(key, FMT_OBJECT_FILE, FMT_TAG_FREE);
    key_add_u64(key, offset);
}

static int put_free(struct store *st, uint64_t offset, uint64_t length, uint64_t sequence)
{
    struct free_rec r = {length, sequence};
    uint8_t bytes[16];
    struct key key;
    struct out out;

    free_entry_key(&key, offset);
    out_init(&out, bytes, sizeof(bytes));
    free_put(&out, &r);
    return tree_put_anyway(st, &key, bytes, out.at);
}

/* Drop the FREE entry at an offset where no extent of avail begins, unless it is of an extent
 * that is not available yet. */
static int drop_free(struct store *st, uint64_t offset)
{
    struct buf value = {0};
    struct free_rec r;
    struct key key;
    struct in in;
    int err;

    free_entry_key(&key, offset);
    err = tree_get(st, &key, &value); /* first, so that nothing is copied for nothing */
    in_init(&in, value.p, err ? 0 : value.len);
    if (!err && (free_get(&in, offset, &r) || r.sequence <= st->space->limit))
        err = tree_del_raw(st, key.p, key.len);
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Bring the FREE entries of avail up to date.  `touched` has each offset whose entry may not be:
 * where an extent begins now, or began at the last commit. */
static int update_touched(struct store *st)
{
    struct space *sp = st->space;
    int err = 0;

    space_touched_sort(sp);
    for (size_t i = 0; !err && i < sp->ntouched; i++) {
        uint64_t offset = sp->touched[i];
        struct extent e;

        if ((extents_find(&sp->avail, offset, &e) || extents_find(&sp->kept, offset, &e)) &&
            e.offset == offset)
            err = put_free(st, offset, e.length, 0);
        else
            err = drop_free(st, offset);
    }
    return err;
}

/* Write FREE entries of what the open transaction freed; later commits may use it. */
static int publish_freed(struct store *st)
{
    struct space *sp = st->space;
    uint64_t next = store_next_sequence(st);
    struct extent_list freed = sp->freed;
    size_t i;
    int err = 0;

    sp->freed = (struct extent_list){0}; /* writing entries may free nodes */
    extent_list_sort(&freed);
    for (i = 0; !err && i < freed.n; i++) {
        err = put_free(st, freed.e[i].offset, freed.e[i].length, next);
        if (!err) /* without memory only the next handle will see that it is free */
            later_add(&sp->later, freed.e[i].offset, freed.e[i].length, next);
    }
    for (i = err ? i - 1 : i; i < freed.n; i++)
        extent_list_add(&sp->freed, freed.e[i].offset, freed.e[i].length);
    extent_list_release(&freed);
    return err;
}

/* Write FREE entries of the pending list. */
static int publish_pending(struct store *st)
{
    struct later_list *p = &st->space->pending;
    int err = 0;

    while (!err && p->n) {
        struct later l = p->e[p->n - 1];

        err = put_free(st, l.offset, l.length, l.sequence);
        if (!err)
            later_add(&st->space->later, l.offset, l.length, l.sequence);
        p->n -= !err;
    }
    return err;
}

/* Older ones first: `later` is sorted by sequence number. */
static int publish(struct store *st)
{
    int err = publish_pending(st);

    return err ? err : publish_freed(st);
}

int free_publish(struct store *st)
{
    int err;

    st->space->committing = true; /* the changes below free nodes */
    err = update_touched(st);
    return err ? err : publish(st);
}

void free_relieve(struct store *st)
{
    struct fail_state why;

    if (st->failed)
        return;
    fail_save(&why);
    publish(st); /* what remains is tried again */
    fail_restore(&why);
}
