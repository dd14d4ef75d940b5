/* undo.c - how to take the operation under way back.
 *
 * Notes are a stack of bytes, each with its head at the end, so that replaying reads them
 * backwards.  A large stack moves to free space of the file: nothing refers to that space, and it
 * is free again when the operation ends. */
/* SPDX-License-Identifier: MIT */
#include "tree/undo.h"

#include "base/error.h"
#include "tree/journal.h"
#include "tree/node.h"

#include <string.h>

/* A note of an entry: key, value, then its head, because notes are read from their end. */
struct note {
    uint32_t key_len;
    uint32_t value_len; /* with ITEM_FAR */
    int there;
};

/* A note of payload: bytes, then their place. */
struct payload_note {
    uint64_t offset, size;
};

void undo_begin(struct store *st)
{
    struct undo *u = st->undo;

    u->next_object = st->next_object;
    u->next_type = st->next_type;
    u->dirty = st->dirty;
    u->most = u->limit;
}

void undo_end(struct store *st)
{
    struct undo *u = st->undo;

    for (size_t i = 0; i < u->away.n; i++)
        space_free(st, u->away.e[i].offset, u->away.e[i].length, ANYWAY);
    u->away.n = 0;
    u->entries.len = 0;
    u->image.len = 0;
    if (u->entries.size > (1 << 20))
        buf_release(&u->entries);
    if (u->image.size > (1 << 20))
        buf_release(&u->image);
}

void undo_release(struct undo *u)
{
    buf_release(&u->entries);
    buf_release(&u->image);
    extent_list_release(&u->away);
    *u = (struct undo){0};
}

bool undo_is_new(const struct store *st, const uint8_t *key)
{
    uint64_t object = key_object(key);

    return object >= st->undo->next_object && object < st->next_object;
}

bool undo_untouched(const struct store *st)
{
    return st->undo->entries.len == 0 && st->next_object == st->undo->next_object;
}

/* ---- noting ---- */

/* Move the notes to the file; where that fails, they stay in memory. */
static void notes_away(struct store *st)
{
    struct undo *u = st->undo;
    size_t size = u->entries.len;
    struct fail_state why;
    uint64_t offset;
    int err;

    fail_save(&why);
    err = space_alloc(st, size, FMT_ALIGN, ANYWAY, &offset);
    if (!err) {
        err = st->io->ops->write_at(st->io, u->entries.p, size, offset);
        if (!err)
            err = extent_list_push(&u->away, offset, size);
        if (err)
            space_free(st, offset, size, ANYWAY);
    }
    fail_restore(&why);
    if (err)
        u->most *= 2;
    else
        u->entries.len = 0;
}

int undo_note(struct store *st, const uint8_t *key, size_t len, const uint8_t *value,
              size_t value_len)
{
    struct buf *b = &st->undo->entries;
    struct note note = {(uint32_t)len, (uint32_t)value_len, value != NULL};
    size_t size = value ? value_len & ~(size_t)ITEM_FAR : 0;
    int err;

    if (st->journal)
        journal_note(st->journal, key, len);
    if (!store_op_active(st) || undo_is_new(st, key))
        return 0;
    if (b->len > st->undo->most)
        notes_away(st);
    err = buf_reserve(b, b->len + len + size + sizeof(note));
    if (err)
        return err;
    copy_short(b->p + b->len, key, len);
    if (size)
        copy_short(b->p + b->len + len, value, size);
    memcpy(b->p + b->len + len + size, &note, sizeof(note));
    b->len += len + size + sizeof(note);
    return 0;
}

int undo_image(struct store *st, uint64_t offset, const void *old, size_t size)
{
    struct buf *b = &st->undo->image;
    struct payload_note image = {offset, size};
    int err;

    if (!store_op_active(st))
        return 0;
    err = buf_reserve(b, b->len + size + sizeof(image));
    if (err)
        return err;
    memcpy(b->p + b->len, old, size);
    memcpy(b->p + b->len + size, &image, sizeof(image));
    b->len += size + sizeof(image);
    return 0;
}

/* ---- replaying, from the last note to the first ---- */

/* Read the last notes back from the file. */
static int notes_back(struct store *st)
{
    struct undo *u = st->undo;
    struct extent e = u->away.e[u->away.n - 1];
    int err = buf_reserve(&u->entries, (size_t)e.length);

    if (!err)
        err = st->io->ops->read_at(st->io, u->entries.p, (size_t)e.length, e.offset);
    if (err)
        return err;
    u->entries.len = (size_t)e.length;
    u->away.n--;
    space_free(st, e.offset, e.length, ANYWAY);
    return 0;
}

int undo_last(struct store *st, struct undo_entry *e)
{
    struct buf *b = &st->undo->entries;
    struct note note;
    size_t size;
    int err = 0;

    if (!b->len && !st->undo->away.n)
        return DREP_ERR_NOT_FOUND;
    if (!b->len)
        err = notes_back(st);
    if (err)
        return err;
    memcpy(&note, b->p + b->len - sizeof(note), sizeof(note));
    size = note.there ? note.value_len & ~ITEM_FAR : 0;
    b->len -= sizeof(note) + size + note.key_len;
    *e = (struct undo_entry){.key = b->p + b->len,
                             .value = b->p + b->len + note.key_len,
                             .key_len = note.key_len,
                             .value_len = note.value_len,
                             .there = note.there};
    return 0;
}

int undo_images(struct store *st)
{
    struct buf *b = &st->undo->image;
    int err = 0;

    while (!err && b->len) {
        struct payload_note image;

        memcpy(&image, b->p + b->len - sizeof(image), sizeof(image));
        b->len -= sizeof(image) + (size_t)image.size;
        err = st->io->ops->write_at(st->io, b->p + b->len, (size_t)image.size, image.offset);
    }
    return err;
}
