/* open.c - making, opening and closing a store. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

#include <string.h>
#include <sys/random.h>

/* ---- what others ask ---- */

const struct slot *store_slot(const struct store *st)
{
    return &st->slot;
}

const uint8_t *store_header(const struct store *st, size_t *size)
{
    *size = st->header.len;
    return st->header.p;
}

int store_damaged_slot(const struct store *st)
{
    return st->damaged;
}

int store_writable(const struct store *st)
{
    return st->writable;
}

int store_dirty(const struct store *st)
{
    return st->dirty;
}

const char *store_path(const struct store *st)
{
    return st->io->path;
}

void store_set_memory(struct store *st, size_t leaves, size_t undo, size_t freed)
{
    st->tree.leaves_max = leaves;
    st->undo_max = undo;
    st->freed_max = freed;
}

int store_new_objects(struct store *st, uint64_t n, uint64_t *first)
{
    if (n > UINT64_MAX - st->next_object)
        return fail(DREP_ERR_LIMIT, "the file has no number left for an object");
    st->dirty = 1;
    *first = st->next_object;
    st->next_object += n;
    return 0;
}

uint64_t store_objects_end(const struct store *st)
{
    return st->next_object;
}

void store_objects(struct store *st, uint64_t next)
{
    st->dirty = 1;
    if (next > st->next_object)
        st->next_object = next;
}

uint32_t store_new_type(struct store *st)
{
    st->dirty = 1;
    return st->next_type++;
}

uint64_t store_end(const struct store *st)
{
    return st->space.end > st->slot.end ? st->space.end : st->slot.end;
}

uint64_t store_next_sequence(const struct store *st)
{
    return st->slot.sequence + 1;
}

int store_must_not_write(const struct store *st)
{
    if (!st->writable)
        return fail(DREP_ERR_READ_ONLY, "opened read-only");
    return fail(DREP_ERR_FAILED, "the handle refuses writes: %s", st->failed);
}

/* ---- life ---- */

void store_set_opts(struct store *st, const struct store_opts *opts)
{
    st->opts.keep = opts->keep;
    st->opts.chunk_max = opts->chunk_max;
    st->opts.chunk_limit = opts->chunk_limit ? opts->chunk_limit : opts->chunk_max;
    st->opts.unit = opts->unit;
    if (st->opts.unit < FMT_SUM_BLOCK || st->opts.unit % FMT_ALIGN || st->opts.unit > 1 << 30)
        st->opts.unit = FMT_SUM_BLOCK;
}

void store_set_wait(struct store *st, store_wait_fn *fn, void *ctx)
{
    st->wait = fn;
    st->wait_ctx = ctx;
}

int store_new(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st = mem_zalloc(1, sizeof(*st));
    int err;

    if (!st)
        return DREP_ERR_NOMEM;
    st->io = io;
    st->opts = *opts;
    st->opts.uuid = NULL;
    st->undo_max = UNDO_MAX;
    st->freed_max = FREED_MAX;
    store_set_opts(st, opts);
    if (lock_init(&st->lock)) {
        err = fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    } else {
        st->budget.most = opts->cache_size;
        err = node_cache_init(&st->nodes, &st->budget);
        if (err)
            pthread_mutex_destroy(&st->lock);
    }
    if (err) {
        mem_free(st);
        return err;
    }
    err = tree_init(st);
    if (!err)
        err = chunk_cache_new(&st->budget, &st->cache);
    if (err) {
        st->borrowed = 1;
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

int store_create(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st;
    int err = store_new(io, opts, &st);

    if (err) {
        io->ops->close(io);
        return err;
    }
    st->writable = 1;
    st->created = 1;
    st->next_object = FMT_OBJECT_ROOT;
    st->slot.major = FMT_MAJOR;
    st->slot.minor = FMT_MINOR;
    st->slot.end = FMT_SPACE_START;
    st->space.end = FMT_SPACE_START;
    st->space.loaded = 1;
    if (opts->uuid)
        memcpy(st->slot.uuid, opts->uuid, 16);
    else if (getrandom(st->slot.uuid, 16, 0) != 16)
        err = fail(DREP_ERR_IO, "no random numbers for a UUID");
    if (!err)
        err = snapshot_lock_writer(st);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

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
    err = snapshot_open(st, write, opts->commit);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

/* What an abandoned transaction wrote behind everything is nobody's. */
static void cut_tail(struct store *st)
{
    uint64_t end = st->slot.end > st->older_end ? st->slot.end : st->older_end;
    struct fail_state why;
    uint64_t size;

    if (!st->writable || st->failed || st->damaged || st->slot.sequence == 0)
        return;
    fail_save(&why);
    if (st->io->ops->size(st->io, &size) == 0 && size > end)
        st->io->ops->truncate(st->io, end);
    fail_restore(&why);
}

/* All but the file. */
static void memory_release(struct store *st)
{
    runs_release(st);
    tree_release(st);
    node_cache_release(&st->nodes);
    works_free(st);
    chunk_cache_free(st->cache);
    op_release(&st->op);
    space_release(st);
    buf_release(&st->header);
    pthread_mutex_destroy(&st->lock);
}

void store_close(struct store *st)
{
    if (!st)
        return;
    cut_tail(st);
    memory_release(st);
    if (st->apart)
        st->apart->ops->close(st->apart);
    if (!st->borrowed)
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
    if (!busy)
        memory_release(st);
    if (st->apart)
        io_leave(st->apart);
    if (!st->borrowed)
        io_leave(st->io);
    if (!busy)
        mem_free(st);
}
