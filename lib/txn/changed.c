/* changed.c - the number of the commit that last changed a dataset's elements, in its record. */
/* SPDX-License-Identifier: MIT */
#include "txn/changed.h"

#include "base/buf.h"
#include "base/mem.h"
#include "format/record.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/touched.h"

#include <stdlib.h>
#include <string.h>

/* Put a record again whose number has another length, or that stands in a block of its own. */
static int changed_put(struct store *st, const struct key *key, const struct object_head *h,
                       size_t head, const uint8_t *record, size_t len)
{
    uint8_t bytes[FMT_HEAD_MAX];
    size_t n = object_head_put(bytes, h);
    struct buf b = {0};
    int err = buf_add(&b, record, FMT_HEAD_AT);

    if (!err)
        err = buf_add(&b, bytes, n);
    if (!err)
        err = buf_add(&b, record + head, len - head);
    if (!err)
        err = tree_put(st, key, b.p, b.len);
    buf_release(&b);
    return err;
}

/* Malformed records, and datasets of a later version, are left alone. */
static int changed_note(struct store *st, uint64_t object)
{
    uint8_t bytes[FMT_HEAD_MAX];
    struct object_head h;
    struct buf far = {0};
    uint8_t *value;
    struct key key;
    struct in in;
    size_t len;
    int err;

    key_make(&key, object, FMT_TAG_OBJECT);
    err = tree_edit(st, &key, &value, &len);
    if (err == DREP_ERR_NOT_FOUND) {
        err = tree_get(st, &key, &far);
        value = far.p;
        len = far.len;
    }
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err; /* the object is gone */
    in_init(&in, value, len);
    if (object_head_get(&in, &h) == 0 && h.kind == FMT_DATASET &&
        h.changed != store_next_sequence(st)) {
        h.changed = store_next_sequence(st);
        if (!far.p && FMT_HEAD_AT + object_head_put(bytes, &h) == in.at)
            memcpy(value + FMT_HEAD_AT, bytes, in.at - FMT_HEAD_AT);
        else
            err = changed_put(st, &key, &h, in.at, value, len);
    }
    buf_release(&far);
    return err;
}

static int by_id(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int changed_publish(struct store *st)
{
    uint64_t *list;
    size_t n;
    int err = touched_list(st, &list, &n);

    if (n > 1)
        qsort(list, n, sizeof(*list), by_id);
    for (size_t i = 0; !err && i < n; i++)
        err = changed_note(st, list[i]);
    mem_free(list);
    return err;
}
