/* op.c - all or nothing for one operation.
 *
 * Entries are noted as they were before each change, bytes of the open transaction before
 * they are overwritten in place; taking back walks the notes from the last to the first.
 * Where an operation changes very much, notes move to free space of the file.  Objects that the
 * operation makes need no notes: all their entries go. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* A note: key, value, then its head, because notes are read from their end. */
struct note {
    uint32_t key_len;
    uint32_t value_len; /* with ITEM_FAR */
    int there;
};

/* Likewise: bytes, then their place. */
struct image {
    uint64_t offset, size;
};

static int is_new(const struct store *st, const uint8_t *key)
{
    uint64_t object = key_object(key);

    return object >= st->op.next_object && object < st->next_object;
}

/* The notes to the file; where that cannot be, they stay in memory. */
static void notes_away(struct store *st)
{
    struct op *op = &st->op;
    size_t size = op->undo.len;
    struct fail_state why;
    uint64_t offset;
    int err;

    fail_save(&why);
    err = space_alloc(st, size, FMT_ALIGN, ANYWAY, &offset);
    if (!err) {
        err = st->io->ops->write_at(st->io, op->undo.p, size, offset);
        if (!err)
            err = list_push(&op->away, offset, size);
        if (err)
            space_free(st, offset, size, ANYWAY);
    }
    fail_restore(&why);
    if (err)
        op->undo_max *= 2;
    else
        op->undo.len = 0;
}

/* The last notes from the file. */
static int notes_back(struct store *st)
{
    struct op *op = &st->op;
    struct extent e = op->away.e[op->away.n - 1];
    int err = buf_reserve(&op->undo, (size_t)e.length);

    if (!err)
        err = st->io->ops->read_at(st->io, op->undo.p, (size_t)e.length, e.offset);
    if (err)
        return err;
    op->undo.len = (size_t)e.length;
    op->away.n--;
    space_free(st, e.offset, e.length, ANYWAY);
    return 0;
}

int op_note(struct store *st, const uint8_t *key, size_t len, const uint8_t *value,
            size_t value_len)
{
    struct buf *undo = &st->op.undo;
    struct note note = {(uint32_t)len, (uint32_t)value_len, value != NULL};
    size_t size = value ? value_len & ~(size_t)ITEM_FAR : 0;
    int err;

    if (!st->op.active || is_new(st, key))
        return 0;
    if (undo->len > st->op.undo_max)
        notes_away(st);
    err = buf_reserve(undo, undo->len + len + size + sizeof(note));
    if (err)
        return err;
    copy_short(undo->p + undo->len, key, len);
    if (size)
        copy_short(undo->p + undo->len + len, value, size);
    memcpy(undo->p + undo->len + len + size, &note, sizeof(note));
    undo->len += len + size + sizeof(note);
    return 0;
}

int op_image(struct store *st, uint64_t offset, const void *old, size_t size)
{
    struct buf *b = &st->op.image;
    struct image image = {offset, size};
    int err;

    if (!st->op.active)
        return 0;
    err = buf_reserve(b, b->len + size + sizeof(image));
    if (err)
        return err;
    memcpy(b->p + b->len, old, size);
    memcpy(b->p + b->len + size, &image, sizeof(image));
    b->len += size + sizeof(image);
    return 0;
}

void op_unused(struct store *st, uint64_t offset, uint64_t size)
{
    list_add(&st->op.unused, offset, size); /* if that fails, the bytes are slack */
}

int store_op_begin(struct store *st)
{
    struct op *op = &st->op;
    int err = store_may_write(st);

    if (err)
        return err;
    if (op->active)
        return fail(DREP_ERR_ARG, "an operation is under way");
    op->active = 1;
    op->next_object = st->next_object;
    op->next_type = st->next_type;
    op->dirty = st->dirty;
    op->undo_max = st->undo_max;
    cache_op_begin(st->cache);
    return 0;
}

static int undo_entries(struct store *st)
{
    struct buf *undo = &st->op.undo;
    int err = 0;

    while (!err && (undo->len || st->op.away.n)) {
        struct note note;
        size_t size;
        const uint8_t *key;

        if (!undo->len && (err = notes_back(st)) != 0)
            break;
        memcpy(&note, undo->p + undo->len - sizeof(note), sizeof(note));
        size = note.there ? note.value_len & ~ITEM_FAR : 0;
        undo->len -= sizeof(note) + size + note.key_len;
        key = undo->p + undo->len;
        if (note.there)
            err = tree_put_raw(st, key, note.key_len, key + note.key_len, note.value_len);
        else
            err = tree_del_raw(st, key, note.key_len);
        if (err == DREP_ERR_NOT_FOUND)
            err = 0; /* noted, but the change failed */
    }
    return err;
}

/* All entries of the objects that the operation made. */
static int undo_objects(struct store *st)
{
    struct tree_walk w;
    struct key key;
    int err = 0;

    if (st->next_object == st->op.next_object)
        return 0;
    key_make(&key, st->op.next_object, 0);
    tree_walk(&w, st, &key, 0);
    while (!err && (err = tree_next(&w, &key, NULL)) == 0) {
        if (!is_new(st, key.p))
            break;
        err = tree_del_raw(st, key.p, key.len);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int undo_images(struct store *st)
{
    struct buf *b = &st->op.image;
    int err = 0;

    while (!err && b->len) {
        struct image image;

        memcpy(&image, b->p + b->len - sizeof(image), sizeof(image));
        b->len -= sizeof(image) + (size_t)image.size;
        err = st->io->ops->write_at(st->io, b->p + b->len, (size_t)image.size, image.offset);
    }
    return err;
}

static int take_back(struct store *st)
{
    struct op *op = &st->op;
    struct extent e;
    int err;

    runs_op_undo(st);
    cache_op_undo(st->cache);
    err = undo_entries(st);
    if (!err)
        err = undo_objects(st);
    if (!err)
        err = undo_images(st);
    op->active = 0;
    while (extents_last(&op->alloc, &e)) {
        extents_take(&op->alloc, e.offset, e.length);
        space_free(st, e.offset, e.length, ANYWAY);
    }
    for (size_t i = 0; i < op->unused.n; i++)
        space_free(st, op->unused.e[i].offset, op->unused.e[i].length, ANYWAY);
    chunk_cache_clear(st->cache);
    st->next_object = op->next_object;
    st->next_type = op->next_type;
    st->dirty = op->dirty;
    if (err)
        st->failed = "a failed operation could not be undone";
    return err;
}

int store_op_end(struct store *st, int keep)
{
    struct op *op = &st->op;
    int err = 0;

    if (!op->active)
        return fail(DREP_ERR_ARG, "no operation is under way");
    if (keep) {
        op->active = 0;
        runs_op_end(st);
        cache_op_end(st->cache);
        for (size_t i = 0; i < op->freed.n; i++)
            space_free(st, op->freed.e[i].offset, op->freed.e[i].length, ANYWAY);
    } else {
        err = take_back(st);
    }
    for (size_t i = 0; i < op->away.n; i++)
        space_free(st, op->away.e[i].offset, op->away.e[i].length, ANYWAY);
    op->away.n = 0;
    op->freed.n = 0;
    op->unused.n = 0;
    op->undo.len = 0;
    op->image.len = 0;
    if (op->alloc.n)
        extents_release(&op->alloc);
    if (op->undo.size > (1 << 20))
        buf_release(&op->undo);
    if (op->image.size > (1 << 20))
        buf_release(&op->image);
    if (st->space.freed.n >= st->freed_max)
        space_relieve(st);
    return err;
}

void op_release(struct op *op)
{
    buf_release(&op->undo);
    buf_release(&op->image);
    extents_release(&op->alloc);
    mem_free(op->freed.e);
    mem_free(op->unused.e);
    mem_free(op->away.e);
    *op = (struct op){0};
}
