/* log.c - the LOG entries of the tree: the commits before this one that can still be opened.  An
 * entry has what a slot has but for the lists: enough to read the commit, not to continue it. */
/* SPDX-License-Identifier: MIT */
#include "txn/log.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <datarep.h>

/* Drop entries beyond drep_keep; add one for the last commit. */
int log_update(struct store *st)
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
    while (!(err = tree_next(&w, &found, NULL))) {
        if (found.len != FMT_KEY_HEAD + 8 || key_u64(found.p + FMT_KEY_HEAD) + keep > next)
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

int log_oldest(struct store *st, uint64_t *oldest)
{
    struct tree_walk w;
    struct key key;
    int err;

    *oldest = UINT64_MAX;
    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    tree_walk(&w, st, &key, key.len);
    err = tree_next(&w, &key, NULL);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (key.len != FMT_KEY_HEAD + 8)
        return fail(DREP_ERR_FORMAT, "malformed LOG entry (R6.5)");
    *oldest = key_u64(key.p + FMT_KEY_HEAD);
    return 0;
}

int log_find(struct store *st, uint64_t sequence, struct log_rec *rec)
{
    struct buf value = {0};
    struct key key;
    struct in in;
    int err;

    key_make(&key, FMT_OBJECT_FILE, FMT_TAG_LOG);
    key_add_u64(&key, sequence);
    err = tree_get(st, &key, &value);
    in_init(&in, value.p, err ? 0 : value.len);
    if (!err && log_get(&in, rec))
        err = fail(DREP_ERR_FORMAT, "malformed LOG entry (R6.5)");
    buf_release(&value);
    return err;
}

int log_lacks(uint64_t sequence, uint64_t newest)
{
    return fail(DREP_ERR_NOT_FOUND, "commit %llu is not in the log of commit %llu, the newest",
                (unsigned long long)sequence, (unsigned long long)newest);
}

static int log_add(struct log_list *list, uint64_t sequence, int64_t time, uint64_t end)
{
    if (VEC_ROOM(list->commit, list->n, list->room, 1))
        return DREP_ERR_NOMEM;
    list->commit[list->n++] = (drep_commitinfo){.sequence = sequence, .time = time, .end = end};
    return 0;
}

/* List what the log of the open commit has, and that commit itself. */
int log_read(struct store *st, struct log_list *list)
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
    while (!(err = tree_next(&w, &key, &value))) {
        in_init(&in, value.p, value.len);
        if (key.len != FMT_KEY_HEAD + 8 || log_get(&in, &rec) || key_u64(key.p + FMT_KEY_HEAD) == 0)
            err = fail(DREP_ERR_FORMAT, "malformed LOG entry (R6.5)");
        else if (key_u64(key.p + FMT_KEY_HEAD) < st->slot.sequence)
            err = log_add(list, key_u64(key.p + FMT_KEY_HEAD), rec.time, rec.end);
        if (err)
            break;
    }
    buf_release(&value);
    if (err == DREP_ERR_NOT_FOUND)
        err = log_add(list, st->slot.sequence, st->slot.time, st->slot.end);
    return err;
}

void log_list_release(struct log_list *list)
{
    mem_free(list->commit);
    *list = (struct log_list){0};
}
