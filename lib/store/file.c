/* file.c - making, opening and closing a store: slots, locks, the header proper. */
#include "store/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>
#include <sys/random.h>

#define TRIES 16 /* a writer may commit while a reader chooses */

static const uint8_t magic[8] = {0x89, 0x44, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a};

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

uint64_t store_new_object(struct store *st)
{
    st->dirty = 1;
    return st->next_object++;
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

int store_may_write(struct store *st)
{
    if (!st->writable)
        return fail(DREP_ERR_READ_ONLY, "opened read-only");
    if (st->failed)
        return fail(DREP_ERR_FAILED, "the handle refuses writes after an earlier failure");
    return 0;
}

/* ---- slots ---- */

struct slots {
    enum slot_state state[2];
    struct slot slot[2];
    const char *why[2];
};

/* Both slots as they stand in the file; what is behind the file's end counts as zeros. */
static int slots_read(struct io *io, struct slots *s, uint64_t *file_size)
{
    uint8_t bytes[2 * FMT_SLOT_SIZE] = {0};
    uint64_t size;
    int err = io->ops->size(io, &size);

    if (!err)
        err = io->ops->read_at(io, bytes, size < sizeof(bytes) ? (size_t)size : sizeof(bytes), 0);
    if (err)
        return err;
    for (int i = 0; i < 2; i++)
        s->state[i] = slot_get(&s->slot[i], bytes + i * FMT_SLOT_SIZE, i, &s->why[i]);
    if (s->state[0] == SLOT_VALID && s->state[1] == SLOT_VALID && s->slot[0].major == FMT_MAJOR &&
        s->slot[1].major == FMT_MAJOR && memcmp(s->slot[0].uuid, s->slot[1].uuid, 16) != 0) {
        s->state[0] = s->state[1] = SLOT_DAMAGED;
        s->why[0] = s->why[1] = "the two slots belong to different files";
    }
    if (size < sizeof(bytes) && memcmp(bytes, magic, sizeof(magic)) == 0)
        return fail(DREP_ERR_TRUNCATE, "truncated: the file ends at byte %llu",
                    (unsigned long long)size);
    *file_size = size;
    return 0;
}

static int refuse_slots(const struct slots *s)
{
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_DAMAGED)
            return fail(DREP_ERR_CHECKSUM, "no valid header slot; slot %c: %s", 'A' + i, s->why[i]);
    }
    return fail(DREP_ERR_NOT_DREP, "not a Datarep file");
}

/* The slot in force, and whether the other one is damaged. */
static int slots_choose(const struct slots *s, int *which, int *damaged)
{
    int newest = -1;

    for (int i = 0; i < 2; i++) {
        if (s->state[i] != SLOT_VALID)
            continue;
        if (s->slot[i].major != FMT_MAJOR)
            return fail(DREP_ERR_VERSION, "format version %u.%u; version %u can be read",
                        s->slot[i].major, s->slot[i].minor, FMT_MAJOR);
        if (newest < 0 || s->slot[i].sequence > s->slot[newest].sequence)
            newest = i;
    }
    if (newest < 0)
        return refuse_slots(s);
    *damaged = 0;
    /* Only the very first commit stands beside an empty slot. */
    if (s->state[1 - newest] != SLOT_VALID &&
        (s->state[1 - newest] != SLOT_EMPTY || s->slot[newest].sequence > 1))
        *damaged = 2 - newest;
    /* Its sum is right, so it is the state of the file, and the file is malformed. */
    if (s->why[newest])
        return fail(DREP_ERR_FORMAT, "header slot %c: %s", 'A' + newest, s->why[newest]);
    *which = newest;
    return 0;
}

static int slot_check(const struct slot *slot, uint64_t file_size, int write)
{
    int bit = 0;

    if (slot->incompatible) {
        while (!(slot->incompatible >> bit & 1))
            bit++;
        return fail(DREP_ERR_UNSUPPORTED, "incompatible feature %d is unknown", bit);
    }
    if (slot->write_incompatible && write) {
        while (!(slot->write_incompatible >> bit & 1))
            bit++;
        return fail(DREP_ERR_UNSUPPORTED, "feature %d is unknown; the file can only be read", bit);
    }
    if (write && slot->sequence >= FMT_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "no sequence numbers left");
    if (slot->end > file_size)
        return fail(DREP_ERR_TRUNCATE, "truncated: %llu bytes of %llu are there",
                    (unsigned long long)file_size, (unsigned long long)slot->end);
    return 0;
}

/* ---- readers and the writer ---- */

static int holds(const struct slots *s, uint64_t sequence)
{
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && s->slot[i].sequence == sequence)
            return 1;
    }
    return 0;
}

/* 1 in *taken if the lock is held; a system without such locks is no error. */
static int take_lock(struct store *st, uint64_t byte, int how, int *taken)
{
    int err;

    *taken = 0;
    if (!st->opts.lock || !st->io->ops->lock)
        return 0;
    err = st->io->ops->lock(st->io, byte, how);
    if (err == DREP_ERR_UNSUPPORTED_OPERATION)
        return 0;
    *taken = !err;
    return err;
}

/* Chooses a snapshot; a reader tells writers by a lock that it looks at it, and makes sure
 * that it was still there when the lock was taken. */
static int choose(struct store *st, int write)
{
    struct slots s = {0};
    uint64_t size = 0;
    int which = 0, locked, err;

    err = write ? take_lock(st, FMT_LOCK_WRITER, 2, &locked) : 0;
    for (int i = 0; !err && i < TRIES; i++) {
        uint64_t byte;

        err = slots_read(st->io, &s, &size);
        if (!err)
            err = slots_choose(&s, &which, &st->damaged);
        if (!err)
            err = slot_check(&s.slot[which], size, write);
        if (err)
            return err;
        st->slot = s.slot[which];
        st->older_end = s.state[1 - which] == SLOT_VALID ? s.slot[1 - which].end : 0;
        if (write)
            return 0;
        byte = FMT_LOCK_READERS + st->slot.sequence % FMT_LOCK_READERS_MOD;
        err = take_lock(st, byte, 1, &st->registered);
        if (err || !st->registered)
            return err;
        err = slots_read(st->io, &s, &size);
        if (err || holds(&s, st->slot.sequence))
            return err;
        st->io->ops->lock(st->io, byte, 0);
        st->registered = 0;
    }
    return err ? err
               : fail(DREP_ERR_STALE, "the writer commits faster than the file can be opened");
}

int store_stale(struct store *st, int err)
{
    struct fail_state why;
    struct slots s = {0};
    uint64_t size = 0;
    int stale;

    if (st->writable || st->registered || err != DREP_ERR_CHECKSUM)
        return err;
    fail_save(&why);
    stale = slots_read(st->io, &s, &size) == 0 && !holds(&s, st->slot.sequence) &&
            (s.state[0] == SLOT_VALID || s.state[1] == SLOT_VALID);
    fail_restore(&why);
    return stale ? fail_in(DREP_ERR_STALE, "the snapshot was overwritten by the writer") : err;
}

/* ---- the header proper ---- */

static int load_header(struct store *st)
{
    const struct slot *s = &st->slot;
    struct buf rest = {0};
    int err = 0;

    if (s->more.length)
        err = block_load(st, &s->more, FMT_HEADER, &rest, NULL);
    if (!err && rest.len > FMT_HEADER_MAX - s->header_size)
        err = fail(DREP_ERR_LIMIT, "a header of more than %u bytes", FMT_HEADER_MAX);
    if (!err)
        err = buf_reserve(&st->header, s->header_size + rest.len + 1);
    if (!err) {
        memcpy(st->header.p, s->header, s->header_size);
        if (rest.len)
            memcpy(st->header.p + s->header_size, rest.p, rest.len);
        st->header.len = s->header_size + rest.len;
    }
    buf_release(&rest);
    return err;
}

/* ---- life ---- */

void store_set_opts(struct store *st, const struct store_opts *opts)
{
    st->opts.keep = opts->keep;
    st->opts.chunk_max = opts->chunk_max;
    st->opts.unit = opts->unit;
    if (st->opts.unit < FMT_SUM_BLOCK || st->opts.unit % FMT_ALIGN || st->opts.unit > 1 << 30)
        st->opts.unit = FMT_SUM_BLOCK;
}

static int store_new(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st = mem_zalloc(1, sizeof(*st));
    int err;

    if (!st) {
        io->ops->close(io);
        return DREP_ERR_NOMEM;
    }
    st->io = io;
    st->opts = *opts;
    st->opts.uuid = NULL;
    store_set_opts(st, opts);
    if (pthread_mutex_init(&st->lock, NULL)) {
        err = fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    } else {
        err = node_cache_init(&st->nodes);
        if (err)
            pthread_mutex_destroy(&st->lock);
    }
    if (err) {
        mem_free(st);
        io->ops->close(io);
        return err;
    }
    err = tree_init(st);
    if (!err)
        err = chunk_cache_new(opts->cache_size, &st->cache);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

int store_create(struct io *io, const struct store_opts *opts, struct store **out)
{
    struct store *st;
    int locked;
    int err = store_new(io, opts, &st);

    if (err)
        return err;
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
        err = take_lock(st, FMT_LOCK_WRITER, 2, &locked);
    if (err) {
        store_close(st);
        return err;
    }
    *out = st;
    return 0;
}

int store_open(struct io *io, int write, const struct store_opts *opts, struct store **out)
{
    struct store *st;
    int err = store_new(io, opts, &st);

    if (err)
        return err;
    err = choose(st, write);
    if (!err) {
        st->tree.root = st->slot.root;
        st->space.end = st->slot.end;
        st->next_object = st->slot.next_object;
        st->next_type = st->slot.next_type;
        err = load_header(st);
    }
    if (err) {
        store_close(st);
        return err;
    }
    st->writable = write;
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

void store_close(struct store *st)
{
    if (!st)
        return;
    cut_tail(st);
    runs_release(st);
    tree_release(st);
    node_cache_release(&st->nodes);
    chunk_cache_free(st->cache);
    op_release(&st->op);
    space_release(st);
    buf_release(&st->header);
    pthread_mutex_destroy(&st->lock);
    st->io->ops->close(st->io);
    mem_free(st);
}
