/* journal.c - which entries changed since the last commit.
 *
 * Keys are noted as they come, one behind the other, and sorted for a digest.  So a note costs a
 * copy of its key; and an operation that is taken back leaves notes of entries that are as before,
 * which do no harm: readers look at the entries. */
/* SPDX-License-Identifier: MIT */
#include "tree/journal.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/block.h"
#include "tree/find.h"
#include "tree/key.h"

#include <stdlib.h>

#define HEAD 2 /* bytes of a length */

/* True for entries that say what a store holds, not where it stands in the file. */
static bool is_content(const uint8_t *key)
{
    uint8_t tag = key_known(key);

    return tag != FMT_TAG_CHUNK && tag != FMT_TAG_FREE && tag != FMT_TAG_LOG;
}

void journal_note(struct journal *j, const uint8_t *key, size_t len)
{
    const uint8_t *last = j->keys.p + j->last;
    uint8_t head[HEAD];
    size_t at = j->keys.len;

    if (j->paused || !is_content(key))
        return;
    if (j->n > 0 && load_u16(last) == len && memcmp(last + HEAD, key, len) == 0)
        return;
    store_u16(head, (uint16_t)len);
    if (buf_add(&j->keys, head, HEAD) || buf_add(&j->keys, key, len)) {
        j->keys.len = at;
        j->lost = true;
        return;
    }
    j->last = at;
    j->n++;
}

void journal_clear(struct journal *j)
{
    j->keys.len = 0;
    j->last = j->n = 0;
    j->lost = false;
}

int journal_begin(struct store *st)
{
    st->journal = mem_zalloc(1, sizeof(*st->journal));
    return st->journal ? 0 : DREP_ERR_NOMEM;
}

void journal_end(struct store *st)
{
    if (!st->journal)
        return;
    buf_release(&st->journal->keys);
    mem_free(st->journal);
    st->journal = NULL;
}

/* The order of the tree. */
static int by_key(const void *a, const void *b)
{
    const uint8_t *const *pa = a, *const *pb = b;
    const uint8_t *x = *pa, *y = *pb;
    size_t nx = load_u16(x), ny = load_u16(y);
    int order = memcmp(x + HEAD, y + HEAD, nx < ny ? nx : ny);

    return order ? order : (nx > ny) - (nx < ny);
}

/* Sort the notes and keep each key once: entries that change often, as those of a group do, have
 * been noted as often. */
static int sort(struct journal *j)
{
    const uint8_t **list = mem_array(j->n + 1, sizeof(*list));
    struct buf sorted = {0};
    size_t at = 0, n = 0;
    int err = list ? buf_reserve(&sorted, j->keys.len) : DREP_ERR_NOMEM;

    for (size_t i = 0; !err && i < j->n; i++) {
        list[i] = j->keys.p + at;
        at += HEAD + load_u16(list[i]);
    }
    if (!err && j->n > 1)
        qsort(list, j->n, sizeof(*list), by_key);
    for (size_t i = 0; !err && i < j->n; i++) {
        if (i > 0 && by_key(&list[i - 1], &list[i]) == 0)
            continue;
        j->last = sorted.len;
        err = buf_add(&sorted, list[i], HEAD + load_u16(list[i]));
        n++;
    }
    mem_free(list);
    if (err) {
        buf_release(&sorted);
        return err;
    }
    buf_release(&j->keys);
    j->keys = sorted;
    j->n = n;
    return 0;
}

int journal_each(struct store *st, journal_fn *fn, void *ctx)
{
    const struct buf *keys = &st->journal->keys;
    struct buf value = {0};
    struct key key;
    int err = 0;

    for (size_t at = 0; !err && at < keys->len; at += HEAD + key.len) {
        key.len = load_u16(keys->p + at);
        memcpy(key.p, keys->p + at + HEAD, key.len);
        err = tree_get(st, &key, &value);
        if (!err)
            err = fn(ctx, &key, &value);
        else if (err == DREP_ERR_NOT_FOUND)
            err = fn(ctx, &key, NULL);
    }
    buf_release(&value);
    return err;
}

struct digest {
    struct buf b;
    uint64_t sum;
};

/* The number of an entry depends on all before it. */
static int add_entry(void *ctx, const struct key *key, const struct buf *value)
{
    struct digest *d = ctx;
    uint8_t head[24];
    int err;

    store_u64(head, d->sum);
    store_u64(head + 8, key->len);
    store_u64(head + 16, value ? value->len : UINT64_MAX);
    d->b.len = 0;
    err = buf_add(&d->b, head, sizeof(head));
    if (!err)
        err = buf_add(&d->b, key->p, key->len);
    if (!err && value)
        err = buf_add(&d->b, value->p, value->len);
    if (!err)
        d->sum = sum_stored(d->b.p, d->b.len);
    return err;
}

int journal_digest(struct store *st, uint64_t *digest, uint64_t *n)
{
    struct journal *j = st->journal;
    struct digest d = {.sum = 0};
    int err = j->lost ? fail_nomem() : sort(j);

    if (!err)
        err = journal_each(st, add_entry, &d);
    buf_release(&d.b);
    if (err)
        return err;
    *digest = d.sum;
    *n = j->n;
    return 0;
}
