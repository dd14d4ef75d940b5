/* open.c - making, opening and closing a store. */
/* SPDX-License-Identifier: MIT */
#include "txn/open.h"

#include "base/error.h"
#include "base/mem.h"
#include "chunk/cache.h"
#include "chunk/run.h"
#include "chunk/target.h"
#include "chunk/work_state.h"
#include "space/fetch.h"
#include "space/slots.h"
#include "space/space.h"
#include "tree/journal.h"
#include "tree/touched.h"
#include "tree/tree.h"
#include "tree/undo.h"
#include "txn/snapshot.h"
#include "txn/txn.h"

#include <string.h>
#include <sys/random.h>

void store_set_opts(struct store *st, const struct store_opts *opts)
{
    st->opts.keep = opts->keep;
    st->opts.chunk_max = opts->chunk_max;
    st->opts.chunk_limit = opts->chunk_limit ? opts->chunk_limit : opts->chunk_max;
    st->opts.unit = opts->unit;
    if (st->opts.unit < FMT_SUM_BLOCK || st->opts.unit % FMT_ALIGN || st->opts.unit > 1 << 30)
        st->opts.unit = FMT_SUM_BLOCK;
}

void store_set_memory(struct store *st, size_t leaves, size_t undo, size_t freed)
{
    st->tree->leaves_max = leaves;
    st->undo->limit = undo;
    st->space->freed_max = freed;
}

/* A store and its parts in one piece of memory. */
struct store_parts {
    struct store store;
    struct space space;
    struct fetch fetch;
    struct tree tree;
    struct undo undo;
    struct touched touched;
    struct runs runs;
    struct targets targets;
    struct works works;
    struct txn txn;
};

static struct store *parts_new(void)
{
    struct store_parts *p = mem_zalloc(1, sizeof(*p));
    struct store *st = (struct store *)p;

    if (!p)
        return NULL;
    st->space = &p->space;
    st->fetch = &p->fetch;
    st->tree = &p->tree;
    st->undo = &p->undo;
    st->touched = &p->touched;
    st->runs = &p->runs;
    st->targets = &p->targets;
    st->works = &p->works;
    st->txn = &p->txn;
    st->space->freed_max = FREED_MAX;
    st->undo->limit = UNDO_MAX;
    return st;
}

int store_new(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st = parts_new();
    int err;

    if (!st)
        return DREP_ERR_NOMEM;
    st->io = io;
    st->opts = *opts;
    st->opts.uuid = NULL;
    st->opts.slot = NULL;
    store_set_opts(st, opts);
    err = fetch_init(st, opts->fetch_size);
    if (!err)
        err = tree_init(st->tree, opts->cache_size);
    if (!err)
        err = runs_init(st->runs);
    if (!err)
        err = targets_init(st->targets);
    if (!err)
        err = works_init(st->works);
    if (!err)
        err = chunk_cache_new(&st->tree->budget, &st->cache);
    if (err) {
        st->txn->borrowed = true;
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

/* Nodes change until the commit, so they are kept apart until then. */
static int begin_stream(struct store *st)
{
    st->opts.pack = 1;
    st->space->onward = true;
    st->space->settled = FMT_SPACE_START;
    return slots_begin_stream(st);
}

/* The file has neither slots nor a name yet; both come with the first commit. */
int store_create(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st;
    int err = store_new(io, opts, &st);

    if (err) {
        io->ops->close(io);
        return err;
    }
    st->writable = true;
    st->txn->created = true;
    st->next_object = FMT_OBJECT_ROOT;
    st->slot.major = FMT_MAJOR;
    st->slot.minor = FMT_MINOR;
    st->slot.end = FMT_SPACE_START;
    st->space->end = FMT_SPACE_START;
    st->space->loaded = st->space->ready = true;
    if (opts->uuid)
        memcpy(st->slot.uuid, opts->uuid, 16);
    else if (getrandom(st->slot.uuid, 16, 0) != 16)
        err = fail(DREP_ERR_IO, "no random numbers for a UUID");
    if (!err)
        err = snapshot_lock_writer(st);
    if (!err && io->ops->settle)
        err = begin_stream(st);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

void store_begin_empty(struct store *st, const struct slot *slot, uint64_t end)
{
    const struct ref none = {0, 0, 0};

    st->slot = *slot;
    st->slot.root = st->slot.pending = st->slot.more = none;
    st->slot.meta_offset = st->slot.meta_length = 0;
    st->slot.incompatible = 0;
    st->slot.end = end;
    st->writable = true;
    st->next_object = slot->next_object;
    st->next_type = slot->next_type;
    st->space->end = end;
    st->space->loaded = st->space->ready = true;
}

/* A handle that opens a file never packs: only the first commit can write all nodes into one
 * extent. */
int store_open(struct io *io, int write, const struct store_opts *opts, struct store **out)
{
    struct store_opts mine = *opts;
    struct store *st;
    int err;

    mine.pack = 0;
    err = store_new(io, &mine, &st);
    if (err) {
        io->ops->close(io);
        return err;
    }
    err = opts->slot ? snapshot_open_at(st, opts->slot) : snapshot_open(st, write, opts->commit);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

/* ---- closing ---- */

/* Cut off what an abandoned transaction wrote behind both commits.  Not after a failure, nor with
 * a damaged slot: then it is unknown what the file refers to; nor if a slot stands at the end. */
static void cut_tail(struct store *st)
{
    uint64_t end = st->slot.end > st->txn->older_end ? st->slot.end : st->txn->older_end;
    struct fail_state why;
    uint64_t size;

    if (!st->writable || st->private || st->failed || st->txn->damaged || st->slot.sequence == 0 ||
        st->slot.incompatible & FMT_AT_END)
        return;
    fail_save(&why);
    if (st->io->ops->size(st->io, &size) == 0 && size > end)
        st->io->ops->truncate(st->io, end);
    fail_restore(&why);
}

/* Release all but the file. */
static void store_memory_release(struct store *st)
{
    runs_release(st->runs);
    targets_release(st->targets);
    works_release(st->works);
    chunk_cache_free(st->cache);
    tree_release(st->tree);
    undo_release(st->undo);
    touched_release(st->touched);
    fetch_release(st->fetch);
    space_release(st->space);
    journal_end(st);
    buf_release(&st->txn->header);
}

void store_close(struct store *st)
{
    struct io *apart, *kept;

    if (!st)
        return;
    apart = st->tree->apart;
    kept = st->tree->kept;
    cut_tail(st);
    store_memory_release(st);
    if (apart)
        apart->ops->close(apart);
    if (kept)
        kept->ops->close(kept);
    if (!st->txn->borrowed)
        st->io->ops->close(st->io);
    mem_free(st);
}

static void io_leave(struct io *io)
{
    if (io->ops->leave)
        io->ops->leave(io);
    else
        io->ops->close(io);
}

void store_leave(struct store *st, int busy)
{
    struct io *apart = st->tree->apart, *kept = st->tree->kept;

    if (!busy)
        store_memory_release(st);
    if (apart)
        io_leave(apart);
    if (kept)
        io_leave(kept);
    if (!st->txn->borrowed)
        io_leave(st->io);
    if (!busy)
        mem_free(st);
}

/* ---- beside another store ---- */

/* The lock is taken by a description of our own before anything is read: the parent may close
 * its file at any time. */
int store_child(struct store *old, int busy, struct store **out)
{
    struct store *st;
    struct io *io;
    int err = old->io->ops->reopen ? old->io->ops->reopen(old->io, &io) : DREP_ERR_STALE;

    if (err)
        return err;
    err = store_new(io, &old->opts, &st);
    if (err) {
        io->ops->close(io);
        return err;
    }
    err = snapshot_reopen(st, &old->slot, old->txn->damaged);
    if (err) {
        store_close(st);
        return err == DREP_ERR_NOMEM || err == DREP_ERR_IO
                   ? err
                   : fail(DREP_ERR_STALE,
                          "commit %llu, which was open when the process was forked, "
                          "is no longer kept",
                          (unsigned long long)old->slot.sequence);
    }
    store_leave(old, busy);
    *out = st;
    return 0;
}

/* Open another commit of the same bytes for reading; locks are the caller's business. */
static int open_beside(struct store *st, const struct slot *slot, struct store **out)
{
    int err = store_new(st->io, &st->opts, out);

    if (err)
        return err;
    (*out)->txn->borrowed = true;
    snapshot_look_at(*out, slot);
    return 0;
}

int store_last_commit(struct store *st, struct store **out)
{
    struct store *last;
    int err = open_beside(st, &st->slot, &last);

    if (err)
        return err;
    last->txn->damaged = st->txn->damaged;
    err = snapshot_load_header(last);
    if (err) {
        store_close(last);
        return err;
    }
    *out = last;
    return 0;
}

int store_log(struct store *st, struct log_list *list)
{
    struct store *newest;
    struct slot slot;
    int damaged = st->txn->damaged;
    int err;

    if (st->writable)
        return log_read(st, list);
    err = snapshot_choose(st, 0, 0, &slot);
    st->txn->damaged = damaged;
    if (err)
        return err;
    if (slot.sequence <= st->slot.sequence)
        return log_read(st, list);
    /* Our lock keeps the newer commit's nodes too. */
    err = open_beside(st, &slot, &newest);
    if (err)
        return err;
    err = log_read(newest, list);
    store_close(newest);
    return err;
}
