/* dim_entry.c - the dimensions of a group. */
/* SPDX-License-Identifier: MIT */
#include "name/dim_entry.h"

#include "name/object.h"
#include "tree/edit.h"
#include "tree/find.h"

#include <stdio.h>
#include <string.h>

static int dim_key(struct key *key, uint64_t group, const char *name, size_t len)
{
    key_make(key, group, FMT_TAG_DIM);
    if (key_add_bytes(key, name, len) != 0 || name_check((const uint8_t *)name, len) != 0)
        return fail(DREP_ERR_NAME, "\"%.*s\" is not a valid name", (int)len, name);
    return 0;
}

int dim_decode(const struct key *key, const uint8_t *p, size_t len, struct dim_rec *rec)
{
    struct in in;
    int err;

    in_init(&in, p, len);
    err = dim_get(&in, rec);
    name_beyond(key->len - DIM_NAME_AT, &rec->kind, &rec->beyond);
    return !err ? 0
                : fail(err, "dimension \"%.*s\": %s", (int)(key->len - DIM_NAME_AT),
                       (const char *)key->p + DIM_NAME_AT, in.why);
}

int dim_later(const struct key *key, const struct dim_rec *rec)
{
    char what[FMT_NAME_MAX + 20];

    snprintf(what, sizeof what, "dimension \"%.*s\"", name_shown(key->len - DIM_NAME_AT),
             (const char *)key->p + DIM_NAME_AT);
    return fail_later(what, rec->beyond, rec->number, rec->flags, FMT_PLAIN);
}

int dim_entry_find(drep_file *f, uint64_t group, const char *name, size_t len, struct dim_rec *rec)
{
    struct peek peek;
    struct key key;
    int err = dim_key(&key, group, name, len);

    if (!err ||
        key.len > DIM_NAME_AT + FMT_NAME_MAX) /* no name for us: is it there all the same? */
        err = tree_peek(f->st, &key, &peek);
    if (err)
        return err;
    err = dim_decode(&key, peek.p, peek.len, rec);
    if (!err && rec->kind == FMT_LATER)
        err = dim_later(&key, rec);
    rec->tail = (struct span){NULL, 0};
    tree_peeked(&peek);
    return err;
}

int dim_entry_put(drep_file *f, uint64_t group, const char *name, const struct dim_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    struct key key;
    struct out out;
    int err = dim_key(&key, group, name, strlen(name));

    paths_clear(f);
    buf_out(b, &out);
    dim_put(&out, rec);
    if (!err)
        err = buf_done(b, &out);
    if (!err)
        err = tree_add(f->st, &key, b->p, b->len);
    return err == DREP_ERR_EXISTS ? fail(err, "dimension \"%s\" exists already", name) : err;
}

int dim_entry_add(drep_file *f, uint64_t group, const char *name, struct dim_rec *rec)
{
    int err = head_take_index(f, group, 0, &rec->index);

    return err ? err : dim_entry_put(f, group, name, rec);
}

int dim_entry_drop(drep_file *f, uint64_t group, const char *name)
{
    struct key key;
    int err = dim_key(&key, group, name, strlen(name));

    paths_clear(f);
    return err ? err : tree_del(f->st, &key);
}

int dim_entry_free(drep_file *f, uint64_t group, const char *name)
{
    struct dim_rec rec;
    int err = dim_entry_find(f, group, name, strlen(name), &rec);

    if (!err)
        return fail(DREP_ERR_EXISTS, "dimension \"%s\" exists already", name);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

void dim_walk_begin(struct dim_walk *w, drep_file *f, uint64_t group)
{
    key_make(&w->key, group, FMT_TAG_DIM);
    tree_walk(&w->walk, f->st, &w->key, DIM_NAME_AT);
    w->value = (struct buf){0};
    w->rec = (struct dim_rec){0};
}

int dim_walk_next(struct dim_walk *w)
{
    int err = tree_next(&w->walk, &w->key, &w->value);

    if (err)
        return err;
    if (name_stored_check(w->key.p + DIM_NAME_AT, w->key.len - DIM_NAME_AT) != 0)
        return fail(DREP_ERR_FORMAT, "invalid name of a dimension, %zu bytes (R7.10)",
                    w->key.len - DIM_NAME_AT);
    return dim_decode(&w->key, w->value.p, w->value.len, &w->rec);
}

int dim_walk_end(struct dim_walk *w, int err)
{
    buf_release(&w->value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
