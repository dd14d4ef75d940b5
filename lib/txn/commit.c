/* commit.c - everything since the last commit becomes durable, or nothing does.
 *
 * The order: free space and log into the tree, nodes and lists to space that no commit
 * uses, sync, the slot, sync.  Until the slot is written a failure leaves a transaction
 * that can be tried again; from there on the handle refuses writes. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>
#include <time.h>

#define PIECE ((size_t)1 << 20) /* nodes are gathered into writes of this size */
#define RESERVED 8
#define GROW_UNIT 65536

/* Where nodes go, and those on their way. */
struct writer {
    struct store *st;
    struct extent place[RESERVED]; /* what is left of the reserved extents */
    struct extent whole[RESERVED]; /* as they were */
    int n;
    uint64_t first, last; /* of the bytes used */
    uint64_t bytes;       /* and how many */
    struct buf out;
    uint64_t out_at;
};

/* ---- the log ---- */

/* The commit before this one can still be opened, and those that drep_keep asks for. */
static int update_log(struct store *st)
{
    const struct slot *s = &st->slot;
    uint64_t keep = st->opts.keep > 1 ? (uint64_t)st->opts.keep : 1;
    uint64_t next = store_next_sequence(st);
    struct log_rec rec = {s->time, s->end, s->root, s->next_object};
    uint8_t bytes[64];
    struct tree_walk w;
    struct key key, found;
    struct out out;
    int err = 0;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    tree_walk(&w, st, &key, key.len);
    while ((err = tree_next(&w, &found, NULL)) == 0) {
        if (found.len != 17 || key_u64(found.p + 9) + keep > next)
            break;
        err = tree_del_raw(st, found.p, found.len);
        if (err)
            return err;
    }
    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    if (s->sequence == 0 || keep < 2)
        return 0;
    key_add_u64(&key, s->sequence);
    out_init(&out, bytes, sizeof(bytes));
    log_put(&out, &rec);
    return tree_put_anyway(st, &key, bytes, out.at);
}

/* ---- nodes ---- */

static uint64_t dirty_bytes(const struct node *n)
{
    uint64_t sum = round_up(n->bytes, FMT_ALIGN);

    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            sum += dirty_bytes(c.node);
    }
    return sum;
}

/* The leaves that the FREE entries of this commit will change: one for each entry, or all of
 * them. */
static uint64_t free_leaves(const struct space *sp)
{
    uint64_t changes = sp->freed.n + sp->pending.n + sp->ntouched + RESERVED;
    uint64_t entries = changes + extents_count(&sp->avail) + (sp->later.n - sp->later.head);
    uint64_t all = 2 * LEAF_MAX + 32 * entries;

    return changes < all / LEAF_MAX ? changes * LEAF_MAX : all;
}

/* Space for nodes, set aside before the FREE entries are written; what it does not hold
 * goes to the end of the file. */
static int reserve(struct writer *w)
{
    struct store *st = w->st;
    const struct space *sp = &st->space;
    uint64_t want = st->tree.node ? dirty_bytes(st->tree.node) : 0;

    if (st->opts.pack) /* one extent, at the end */
        return 0;
    want += free_leaves(sp);
    while (w->n < RESERVED && want > 0) {
        struct extent e;
        int err = space_reserve(st, want, &e);

        if (err)
            return err;
        if (e.length == 0)
            break;
        w->place[w->n] = e;
        w->whole[w->n++] = e;
        want -= e.length < want ? e.length : want;
    }
    return 0;
}

static uint64_t place(struct writer *w, uint64_t size)
{
    struct space *sp = &w->st->space;
    uint64_t at;

    size = round_up(size, FMT_ALIGN);
    for (int i = 0; i < w->n; i++) {
        struct extent *e = &w->place[i];

        if (e->length < size)
            continue;
        at = e->offset;
        e->offset += size;
        e->length -= size;
        return at;
    }
    at = sp->end;
    sp->end += size;
    return at;
}

static int flush(struct writer *w)
{
    struct io *io = w->st->io;
    int err = 0;

    if (w->out.len)
        err = io->ops->write_at(io, w->out.p, w->out.len, w->out_at);
    w->out.len = 0;
    return err;
}

/* Room for a node among those on their way; they are written when it does not follow them. */
static int node_room(struct writer *w, uint32_t length, uint64_t *at, uint8_t **p)
{
    size_t size = (size_t)round_up(length, FMT_ALIGN);
    int err = 0;

    *at = place(w, length);
    if (w->out.len && (w->out_at + w->out.len != *at || w->out.len > PIECE - size))
        err = flush(w);
    if (!err)
        err = buf_reserve(&w->out, w->out.len + size);
    if (err)
        return err;
    if (w->out.len == 0)
        w->out_at = *at;
    *p = w->out.p + w->out.len;
    memset(*p + length, 0, size - length);
    w->out.len += size;
    w->first = w->bytes == 0 || *at < w->first ? *at : w->first;
    w->last = *at + size > w->last ? *at + size : w->last;
    w->bytes += size;
    return 0;
}

/* A leaf that waited apart, as it is: nothing in it says where it stands. */
static int bring(struct writer *w, struct child *c)
{
    struct ref from = {c->apart ? c->apart : c->ref.offset, c->ref.length, c->ref.checksum};
    struct block_head head;
    const char *why = "";
    uint64_t at;
    uint8_t *p;
    int err = node_room(w, from.length, &at, &p);

    if (!err)
        err = node_bytes(w->st, &from, p);
    if (!err && (block_get(&head, p, from.length, &why) || head.checksum != from.checksum))
        err = fail(DREP_ERR_IO, "a leaf that waited for the commit was lost: %s", why);
    if (err)
        return err;
    c->apart = from.offset;
    c->ref.offset = at;
    return 0;
}

/* Children before parents, because a parent holds the checksums of its children. */
static int write_nodes(struct writer *w, struct node *n)
{
    uint64_t at;
    uint8_t *p;
    int err = 0;

    for (uint32_t i = 0; n->level && !err && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node) {
            err = write_nodes(w, c.node);
            c.ref = c.node->ref;
        } else if (c.apart || c.ref.offset & APART) {
            err = bring(w, &c);
        } else {
            continue;
        }
        child_set(n, i, &c);
    }
    if (!err)
        err = node_room(w, (uint32_t)n->bytes, &at, &p);
    if (err)
        return err;
    n->ref = (struct ref){at, (uint32_t)n->bytes, 0};
    n->ref.checksum = node_encode(n, p, w->st->slot.uuid, store_next_sequence(w->st));
    return 0;
}

/* ---- the pending list ---- */

static void pending_entry(struct out *out, uint64_t offset, uint64_t length, uint64_t sequence)
{
    struct pending_rec r = {offset, length, sequence};

    if (length)
        pending_put(out, &r);
}

static uint64_t list_bytes(size_t entries)
{
    return round_up(FMT_BLOCK_HEAD + 24 * entries, FMT_ALIGN);
}

/* Where a list of so many entries goes.  One of them may be an extent that it uses up, and
 * need not be named then; but not where the list would be shorter for that, because what is
 * left would need a name again. */
static uint64_t place_list(struct writer *w, size_t entries)
{
    uint64_t size = list_bytes(entries), at;

    for (int i = 0; i < w->n; i++) {
        struct extent *e = &w->place[i];

        if (e->length < size || (e->length == size && list_bytes(entries - 1) != size))
            continue;
        at = e->offset;
        e->offset += size;
        e->length -= size;
        return at;
    }
    at = w->st->space.end;
    w->st->space.end += size;
    return at;
}

/* What was freed too late for the tree, and what is left of the reserved extents. */
static int write_pending(struct writer *w, struct ref *ref)
{
    struct store *st = w->st;
    const struct space *sp = &st->space;
    size_t entries = sp->late.n + sp->left.n;
    struct buf list = {0};
    struct out out;
    uint64_t at;
    int err;

    *ref = (struct ref){0, 0, 0};
    for (int i = 0; i < w->n; i++)
        entries += w->place[i].length > 0;
    if (entries == 0)
        return 0;
    at = place_list(w, entries);
    buf_out(&list, &out);
    for (size_t i = 0; i < sp->late.n; i++)
        pending_entry(&out, sp->late.e[i].offset, sp->late.e[i].length, store_next_sequence(st));
    for (size_t i = 0; i < sp->left.n; i++)
        pending_entry(&out, sp->left.e[i].offset, sp->left.e[i].length, 0);
    for (int i = 0; i < w->n; i++)
        pending_entry(&out, w->place[i].offset, w->place[i].length, 0);
    err = buf_done(&list, &out);
    if (!err)
        err = block_write(st, FMT_PENDING, (uint32_t)(list.len / 24), list.p, list.len, at, ref);
    buf_release(&list);
    return err;
}

/* ---- the slot ---- */

static int64_t now(const struct store *st)
{
    struct timespec t;

    if (st->opts.time != -1)
        return st->opts.time;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Bytes of the last block or payload may be missing where nothing was written.  The next
 * commits of a small file find some room then; closing cuts it off. */
static int grow_file(struct store *st)
{
    uint64_t size;
    int err = st->io->ops->size(st->io, &size);

    if (!err && size < st->space.end)
        err = st->io->ops->truncate(st->io, round_up(st->space.end, GROW_UNIT));
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
    return err;
}

static int write_slot(struct store *st, const struct slot *slot)
{
    uint8_t bytes[FMT_SLOT_SIZE];
    int err;

    slot_put(bytes, slot);
    err =
        st->io->ops->write_at(st->io, bytes, sizeof(bytes), slot->sequence % 2 ? 0 : FMT_SLOT_SIZE);
    if (err)
        st->failed = "the header slot could not be written; its contents are unknown";
    return err;
}

/* Gives a new file its name.  What fails later cannot take the name back. */
static int publish_file(struct store *st)
{
    int visible = 0, err;

    if (!st->created || !st->io->ops->publish)
        return 0;
    err = st->io->ops->publish(st->io, st->opts.sync, &visible);
    if (err && visible)
        st->failed = "a sync failed; what reached the disk is unknown";
    return err;
}

static int make_durable(struct store *st, const struct slot *slot)
{
    int err = grow_file(st);

    if (!err)
        err = sync_file(st);
    if (!err)
        err = write_slot(st, slot);
    if (!err)
        err = sync_file(st);
    return err || st->held ? err : publish_file(st);
}

/* ---- the whole ---- */

/* What the last commit needs and the next one does not. */
static void free_old(struct store *st)
{
    const struct slot *s = &st->slot;

    if (st->old_freed)
        return;
    st->old_freed = 1;
    if (s->pending.length)
        space_free(st, s->pending.offset, s->pending.length, ANYWAY);
    if (s->more.length)
        space_free(st, s->more.offset, s->more.length, ANYWAY);
}

/* The header proper into the slot, its rest into a block. */
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

static int prepare(struct writer *w, struct slot *slot, const uint8_t *header, size_t size,
                   size_t split)
{
    struct store *st = w->st;
    int err = chunks_settle(st, 0);

    if (!err)
        err = runs_flush(st, 0);
    if (err)
        return err;
    chunks_end(st);
    err = space_begin(st);
    if (err)
        return err;
    free_old(st);
    err = update_log(st);
    if (err)
        return err;
    if (!st->tree.node && !st->tree.root.length)
        return fail(DREP_ERR_ARG, "a file without entries cannot be committed");
    err = write_header(st, slot, header, size, split);
    if (err)
        return err;
    space_trim(st);
    err = reserve(w);
    if (!err)
        err = space_publish(st);
    return err;
}

static int write_all(struct writer *w, struct slot *slot)
{
    struct store *st = w->st;
    int err = 0;

    if (st->tree.node) {
        err = write_nodes(w, st->tree.node);
        if (!err)
            err = flush(w);
        slot->root = st->tree.node->ref;
    } else {
        slot->root = st->tree.root;
    }
    if (!err && slot->sequence == 1 && !st->tree.spilled && w->last - w->first == w->bytes) {
        slot->meta_offset = w->first;
        slot->meta_length = w->bytes;
    }
    if (!err)
        err = write_pending(w, &slot->pending);
    slot->end = st->space.end;
    if (slot->meta_offset &&
        (slot->meta_offset > slot->end || slot->meta_length > slot->end - slot->meta_offset)) {
        slot->meta_offset = 0;
        slot->meta_length = 0;
    }
    if (err)
        return err;
    /* All blocks are in the file, and what is in memory does not change until they are durable. */
    if (st->wait)
        st->wait(st->wait_ctx, 1);
    err = make_durable(st, slot);
    if (st->wait)
        st->wait(st->wait_ctx, 0);
    return err;
}

/* Leaves that wait apart still stand there alone. */
static void leave_apart(struct node *n)
{
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            leave_apart(c.node);
        if (!c.apart)
            continue;
        c.ref.offset = c.apart;
        c.apart = 0;
        child_set(n, i, &c);
    }
}

static void undo_commit(struct writer *w, const struct slot *slot, uint64_t end)
{
    struct store *st = w->st;
    struct fail_state why;

    fail_save(&why);
    if (st->tree.node)
        leave_apart(st->tree.node);
    st->space.end = end;
    space_failed(st);
    for (int i = 0; i < w->n; i++)
        space_return(st, w->whole[i].offset, w->whole[i].length);
    if (slot->more.length && slot->more.offset != st->slot.more.offset)
        space_free(st, slot->more.offset, slot->more.length, ANYWAY);
    fail_restore(&why);
}

/* Nothing was changed since the last commit, and it stands whole in its slot. */
static int nothing_new(const struct store *st, const uint8_t *header, size_t size)
{
    return !st->dirty && st->slot.sequence && !st->damaged && size == st->header.len &&
           memcmp(header, st->header.p, size) == 0;
}

int store_commit(struct store *st, const uint8_t *header, size_t size, size_t split)
{
    struct writer w = {.st = st};
    struct slot slot = st->slot;
    struct buf copy = {0};
    uint64_t end;
    int err = store_may_write(st);

    if (!err && st->op.active)
        err = fail(DREP_ERR_ARG, "an operation is under way");
    if (!err && nothing_new(st, header, size))
        return 0;
    /* Nobody would find what is written into a file without a name. */
    if (!err && st->io->ops->named)
        err = st->io->ops->named(st->io);
    if (!err)
        err = buf_set(&copy, header, size);
    if (err)
        return err;
    slot.more = (struct ref){0, 0, 0};
    slot.sequence++;
    slot.major = FMT_MAJOR;
    slot.time = now(st);
    slot.next_object = st->next_object;
    slot.next_type = st->next_type;
    err = prepare(&w, &slot, header, size, split);
    end = st->space.end;
    if (!err)
        err = write_all(&w, &slot);
    buf_release(&w.out);
    if (err) {
        undo_commit(&w, &slot, end);
        buf_release(&copy);
        return err;
    }
    for (int i = 0; i < w.n; i++) {
        if (w.place[i].length)
            list_add(&st->space.left, w.place[i].offset, w.place[i].length);
    }
    st->older_end = st->slot.end;
    st->slot = slot;
    st->old_freed = 0;
    st->created = st->created && st->held;
    st->dirty = 0;
    st->damaged = 0;
    space_committed(st);
    tree_clean(st);
    buf_release(&st->header);
    st->header = copy;
    return 0;
}

void store_hold(struct store *st)
{
    st->held = 1;
}

int store_publish(struct store *st)
{
    int err = store_may_write(st);

    if (!err)
        err = publish_file(st);
    if (err)
        return err;
    st->created = 0;
    st->held = 0;
    return 0;
}
