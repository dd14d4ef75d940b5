/* snapshot.c - which commit a handle looks at: the slots, the locks of readers, the log.
 *
 * A reader holds a lock on the number of its commit, and a writer uses no space again that
 * this commit or a later one refers to.  So whoever holds a lock on any commit may look at
 * all later ones too: they can be chosen in peace. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>
#include <time.h>

#define TRIES 8   /* to lock a commit before a writer makes two more */
#define SETTLE 50 /* to read a slot that is being written */
#define SETTLE_NS 1000000

static const uint8_t magic[8] = {0x89, 0x44, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a};

/* ---- slots ---- */

struct slots {
    enum slot_state state[2];
    struct slot slot[2];
    const char *why[2];
    uint64_t file_size;
};

/* Both slots as they stand in the file; what is behind the file's end counts as zeros. */
static int slots_read(struct io *io, struct slots *s)
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
    s->file_size = size;
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

static int newest_of(const struct slots *s)
{
    int newest = -1;

    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID &&
            (newest < 0 || s->slot[i].sequence > s->slot[newest].sequence))
            newest = i;
    }
    return newest;
}

/* The slot in force, or the one of this commit if it is there; and which one is damaged. */
static int slots_choose(const struct slots *s, uint64_t sequence, int *which, int *damaged)
{
    int newest = newest_of(s), other = 1 - newest;

    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && s->slot[i].major != FMT_MAJOR)
            return fail(DREP_ERR_VERSION, "format version %u.%u; version %u can be read",
                        s->slot[i].major, s->slot[i].minor, FMT_MAJOR);
    }
    if (newest < 0)
        return refuse_slots(s);
    *damaged = 0;
    /* Only the very first commit stands beside an empty slot. */
    if (s->state[other] != SLOT_VALID &&
        (s->state[other] != SLOT_EMPTY || s->slot[newest].sequence > 1))
        *damaged = 1 + other;
    *which = s->state[other] == SLOT_VALID && s->slot[other].sequence == sequence ? other : newest;
    /* Its sum is right, so it is the state of the file, and the file is malformed. */
    if (s->why[*which])
        return fail(DREP_ERR_FORMAT, "header slot %c: %s", 'A' + *which, s->why[*which]);
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
    if (write && slot->sequence >= FMT_SIZE_MAX - 1)
        return fail(DREP_ERR_LIMIT, "no sequence numbers left");
    if (slot->end > file_size)
        return fail(DREP_ERR_TRUNCATE, "truncated: %llu bytes of %llu are there",
                    (unsigned long long)file_size, (unsigned long long)slot->end);
    return 0;
}

static int holds(const struct slots *s, uint64_t sequence)
{
    for (int i = 0; i < 2; i++) {
        if (s->state[i] == SLOT_VALID && s->slot[i].sequence == sequence)
            return 1;
    }
    return 0;
}

/* ---- locks ---- */

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

int snapshot_lock_writer(struct store *st)
{
    return take_lock(st, FMT_LOCK_WRITER, 2, &st->locked);
}

/* No writer will touch what this commit refers to.  Sequence 0 is before all of them. */
static int lock_commit(struct store *st, uint64_t sequence, int *taken)
{
    *taken = 0;
    if (sequence >= FMT_SIZE_MAX) /* no writer can come after it */
        return 0;
    return take_lock(st, FMT_LOCK_READERS + sequence, 1, taken);
}

static void unlock_commit(struct store *st, uint64_t sequence)
{
    struct fail_state why;

    fail_save(&why);
    st->io->ops->lock(st->io, FMT_LOCK_READERS + sequence, 0);
    fail_restore(&why);
}

static int writer_at_work(struct store *st)
{
    int held = 0;

    if (!st->io->ops->probe || st->io->ops->probe(st->io, FMT_LOCK_WRITER, 1, &held))
        return 0;
    return held;
}

static int any_damage(const struct slots *s)
{
    return (s->state[0] != SLOT_VALID && s->state[0] != SLOT_EMPTY) ||
           (s->state[1] != SLOT_VALID && s->state[1] != SLOT_EMPTY);
}

/* A slot may be half written when a reader looks at it: then it is not damaged. */
static int slots_settle(struct store *st, struct slots *s)
{
    const struct timespec wait = {0, SETTLE_NS};
    int err = slots_read(st->io, s);

    for (int i = 0; !err && !st->writable && any_damage(s) && i < SETTLE; i++) {
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

/* ---- choosing ---- */

/* Everything that follows from the slot; what was read of another commit is forgotten. */
static void look_at(struct store *st, const struct slot *slot)
{
    st->slot = *slot;
    st->tree.root = slot->root;
    tree_new_root(st);
    st->tree.change++;
    st->space.end = round_up(slot->end, FMT_ALIGN); /* others may have ended anywhere */
    st->next_object = slot->next_object;
    st->next_type = slot->next_type;
    chunk_cache_clear(st->cache);
}

/* The slots once, and the snapshot that they give. */
static int choose(struct store *st, uint64_t sequence, int write, struct slot *out)
{
    struct slots s = {0};
    int which = 0;
    int err = slots_settle(st, &s);

    if (!err)
        err = slots_choose(&s, sequence, &which, &st->damaged);
    if (!err && s.slot[which].end > s.file_size) /* it may have grown since */
        err = st->io->ops->size(st->io, &s.file_size);
    if (!err)
        err = slot_check(&s.slot[which], s.file_size, write);
    if (err)
        return err;
    st->older_end = s.state[1 - which] == SLOT_VALID ? s.slot[1 - which].end : 0;
    *out = s.slot[which];
    return 0;
}

/* The newest commit, locked: it was still in a slot when the lock was held.  Where a writer
 * is faster, a lock on commit 0 keeps all of them until one is chosen. */
static int choose_newest(struct store *st, struct slot *slot)
{
    struct slots s = {0};
    int err, all;

    for (int i = 0; i < TRIES; i++) {
        err = choose(st, 0, 0, slot);
        if (!err)
            err = lock_commit(st, slot->sequence, &st->locked);
        if (err || !st->locked)
            return err;
        err = slots_read(st->io, &s);
        if (!err && holds(&s, slot->sequence))
            return 0;
        unlock_commit(st, slot->sequence);
        st->locked = 0;
        if (err)
            return err;
    }
    err = lock_commit(st, 0, &all);
    if (err)
        return err;
    err = choose(st, 0, 0, slot);
    if (!err)
        err = lock_commit(st, slot->sequence, &st->locked);
    unlock_commit(st, 0);
    return err;
}

/* An earlier commit: by its slot, or by the log of the newest one. */
static int choose_earlier(struct store *st, uint64_t sequence)
{
    struct slot newest;
    struct log_rec rec;
    struct buf value = {0};
    struct key key;
    struct in in;
    int err = lock_commit(st, sequence, &st->locked);

    if (!err)
        err = choose(st, sequence, 0, &newest);
    if (err)
        return err;
    look_at(st, &newest);
    err = load_header(st);
    if (err || newest.sequence == sequence)
        return err;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    key_add_u64(&key, sequence);
    err = sequence < newest.sequence ? tree_get(st, &key, &value) : DREP_ERR_NOT_FOUND;
    in_init(&in, value.p, err ? 0 : value.len);
    if (!err && log_get(&in, &rec))
        err = fail(DREP_ERR_FORMAT, "malformed LOG entry");
    buf_release(&value);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(err, "commit %llu is not in the log of commit %llu, the newest",
                    (unsigned long long)sequence, (unsigned long long)newest.sequence);
    if (err)
        return err;
    newest.sequence = sequence;
    newest.time = rec.time;
    newest.end = rec.end;
    newest.root = rec.root;
    newest.next_object = rec.next_object;
    newest.pending = (struct ref){0, 0, 0};
    newest.more = (struct ref){0, 0, 0};
    newest.meta_offset = newest.meta_length = 0;
    look_at(st, &newest);
    return 0;
}

/* The greatest key with the first `prefix` bytes of this one that is not greater: its number, of
 * 4 or 8 bytes from `at` on; NOT_FOUND. */
static int greatest(struct store *st, const struct key *key, size_t prefix, size_t at, size_t size,
                    uint64_t *number)
{
    struct key found;
    int err = tree_floor(st, key, prefix, &found, NULL);

    if (!err && found.len < at + size)
        err = DREP_ERR_NOT_FOUND;
    if (!err)
        *number = size == 4 ? key_u32(found.p + at) : key_u64(found.p + at);
    return err;
}

int numbers_in_use(struct store *st, uint64_t *object, uint64_t *type)
{
    struct key key;
    int err;

    *object = FMT_OBJECT_FILE;
    *type = 0;
    key_make(&key, UINT64_MAX, UINT8_MAX);
    err = greatest(st, &key, 0, 0, 8, object);
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_TYPE);
    key_add_u32(&key, UINT32_MAX);
    err = greatest(st, &key, 9, 9, 4, type);
    *type += !err;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int store_numbers(struct store *st)
{
    uint64_t object, type;
    int err = numbers_in_use(st, &object, &type);

    if (!err && object >= st->next_object)
        return fail(DREP_ERR_FORMAT,
                    "cannot be written to: object %llu exists, and the next one would be %llu",
                    (unsigned long long)object, (unsigned long long)st->next_object);
    if (!err && type > st->next_type)
        return fail(DREP_ERR_FORMAT,
                    "cannot be written to: datatype %llu exists, and the next one would be %lu",
                    (unsigned long long)type - 1, (unsigned long)st->next_type);
    return err;
}

int snapshot_open(struct store *st, int write, uint64_t sequence)
{
    struct slot slot;
    int err;

    if (sequence)
        return choose_earlier(st, sequence);
    if (write) {
        st->writable = 1;
        err = snapshot_lock_writer(st);
        if (!err && st->io->ops->named) /* whoever replaced it had the lock until then */
            err = st->io->ops->named(st->io);
        if (!err)
            err = choose(st, 0, 1, &slot);
    } else {
        err = choose_newest(st, &slot);
    }
    if (err)
        return err;
    look_at(st, &slot);
    return load_header(st);
}

/* The commit with this number, under our own lock, is the one that was open: it is in a slot or in
 * the log, or was locked all the time by the description that we share with the parent. */
static int still_there(struct store *st, const struct slot *old)
{
    struct slot newest;
    struct buf value = {0};
    struct key key;
    int held = 0, err = choose(st, old->sequence, 0, &newest);

    if (!err && memcmp(newest.uuid, old->uuid, sizeof(old->uuid)) != 0)
        err = DREP_ERR_STALE;
    if (err || newest.sequence == old->sequence)
        return err;
    look_at(st, &newest);
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    key_add_u64(&key, old->sequence);
    err = tree_get(st, &key, &value);
    buf_release(&value);
    if (err != DREP_ERR_NOT_FOUND)
        return err;
    if (st->locked && st->io->ops->probe)
        st->io->ops->probe(st->io, FMT_LOCK_READERS + old->sequence, 1, &held);
    return held ? 0 : DREP_ERR_STALE;
}

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
    err = lock_commit(st, old->slot.sequence, &st->locked);
    if (!err)
        err = still_there(st, &old->slot);
    if (!err) {
        look_at(st, &old->slot);
        st->damaged = old->damaged;
        err = load_header(st);
    }
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

/* For reading another commit of the same bytes; locks are the caller's business. */
static int open_beside(struct store *st, const struct slot *slot, struct store **out)
{
    int err = store_new(st->io, &st->opts, out);

    if (err)
        return err;
    (*out)->borrowed = 1;
    look_at(*out, slot);
    return 0;
}

int store_last_commit(struct store *st, struct store **out)
{
    struct store *last;
    int err = open_beside(st, &st->slot, &last);

    if (err)
        return err;
    last->damaged = st->damaged;
    err = load_header(last);
    if (err) {
        store_close(last);
        return err;
    }
    *out = last;
    return 0;
}

/* ---- moving on ---- */

static void exchange(struct store *st, struct snapshot *other)
{
    struct snapshot mine = {st->slot, st->header, st->damaged, st->locked};

    look_at(st, &other->slot);
    st->header = other->header;
    st->damaged = other->damaged;
    st->locked = other->locked;
    *other = mine;
}

int store_refresh(struct store *st, struct snapshot *old, int *moved)
{
    struct snapshot next = {.damaged = 0};
    int damaged = st->damaged;
    int err;

    *moved = 0;
    if (st->writable)
        return 0; /* nobody else makes commits */
    err = choose(st, 0, 0, &next.slot);
    next.damaged = st->damaged;
    st->damaged = damaged;
    if (err)
        return err;
    if (memcmp(next.slot.uuid, st->slot.uuid, sizeof(st->slot.uuid)) != 0)
        return fail(DREP_ERR_FORMAT, "another file has taken its place");
    if (next.slot.sequence <= st->slot.sequence) {
        st->damaged = next.damaged; /* the slot of what we look at may be gone */
        return 0;
    }
    err = lock_commit(st, next.slot.sequence, &next.locked);
    if (err)
        return err;
    exchange(st, &next);
    err = load_header(st);
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

int store_locked(const struct store *st)
{
    return st->locked;
}

/* The writer has passed an unlocked snapshot in which something is wrong. */
static int passed(struct store *st, int err)
{
    struct fail_state why;
    struct slots s = {0};
    int stale;

    fail_save(&why);
    stale = slots_read(st->io, &s) == 0 && !holds(&s, st->slot.sequence) &&
            (s.state[0] == SLOT_VALID || s.state[1] == SLOT_VALID);
    fail_restore(&why);
    return stale ? fail_in(DREP_ERR_STALE, "the snapshot was overwritten by the writer") : err;
}

int store_stale(struct store *st, int err)
{
    if (st->writable || st->locked ||
        (err != DREP_ERR_CHECKSUM && err != DREP_ERR_FORMAT && err != DREP_ERR_TRUNCATE))
        return err;
    return passed(st, err);
}

/* ---- the log ---- */

static int log_add(struct log_list *list, uint64_t sequence, int64_t time, uint64_t end)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        drep_commitinfo *more = mem_resize(list->commit, room, sizeof(*more));

        if (!more)
            return DREP_ERR_NOMEM;
        list->commit = more;
        list->room = room;
    }
    list->commit[list->n++] = (drep_commitinfo){.sequence = sequence, .time = time, .end = end};
    return 0;
}

/* What the tree of the open commit lists, and that commit itself. */
static int log_of(struct store *st, struct log_list *list)
{
    struct buf value = {0};
    struct log_rec rec;
    struct tree_walk w;
    struct key key;
    struct in in;
    int err;

    if (st->slot.sequence == 0)
        return 0;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    tree_walk(&w, st, &key, key.len);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        in_init(&in, value.p, value.len);
        if (key.len != 17 || log_get(&in, &rec))
            err = fail(DREP_ERR_FORMAT, "malformed LOG entry");
        else if (key_u64(key.p + 9) < st->slot.sequence)
            err = log_add(list, key_u64(key.p + 9), rec.time, rec.end);
        if (err)
            break;
    }
    buf_release(&value);
    if (err == DREP_ERR_NOT_FOUND)
        err = log_add(list, st->slot.sequence, st->slot.time, st->slot.end);
    return err;
}

int store_log(struct store *st, struct log_list *list)
{
    struct store *newest;
    struct slot slot;
    int damaged = st->damaged;
    int err;

    if (st->writable)
        return log_of(st, list);
    err = choose(st, 0, 0, &slot);
    st->damaged = damaged;
    if (err)
        return err;
    if (slot.sequence <= st->slot.sequence)
        return log_of(st, list);
    /* Our own lock keeps the newer commit's nodes too. */
    err = open_beside(st, &slot, &newest);
    if (err)
        return err;
    err = log_of(newest, list);
    store_close(newest);
    return err;
}

void log_list_release(struct log_list *list)
{
    mem_free(list->commit);
    *list = (struct log_list){0};
}
