/* link.c - the links of groups. */
/* SPDX-License-Identifier: MIT */
#include "name/link.h"

#include "name/object.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <stdio.h>
#include <string.h>

static int name_too_long(size_t len)
{
    return fail(DREP_ERR_NAME, "a name of %zu bytes is longer than %d", len, FMT_NAME_MAX);
}

/* The key of a link by its name, also one that is too long for us and may be there. */
static int link_key(struct key *key, uint64_t group, const char *name, size_t len)
{
    key_make(key, group, FMT_TAG_LINK);
    return key_add_bytes(key, name, len) == 0 ? 0 : name_too_long(len);
}

int link_decode(const char *name, size_t len, const void *p, size_t size, struct link_rec *link)
{
    struct in in;
    int err;

    in_init(&in, p, size);
    err = link_get(&in, link);
    name_beyond(len, &link->kind, &link->beyond);
    return !err ? 0 : fail(err, "link \"%.*s\": %s", (int)len, name, in.why);
}

int link_peek(drep_file *f, uint64_t group, const char *name, size_t len, struct link_rec *link,
              struct peek *peek)
{
    struct key key;
    int err = link_key(&key, group, name, len);

    if (!err)
        err = tree_peek(f->st, &key, peek);
    if (err && len > FMT_NAME_MAX) /* the address of a dimension can be longer */
        err = memchr(name, '#', len) ? DREP_ERR_NOT_FOUND : name_too_long(len);
    if (err)
        return err;
    err = link_decode(name, len, peek->p, peek->len, link);
    if (err)
        tree_peeked(peek);
    return err;
}

int link_later(const char *name, size_t len, const struct link_rec *link)
{
    char what[FMT_NAME_MAX + 20];

    snprintf(what, sizeof what, "link \"%.*s\"", name_shown(len), name);
    return fail_later(what, link->beyond, link->number, link->flags, FMT_EXTERNAL);
}

int link_find(drep_file *f, uint64_t group, const char *name, size_t len, struct link_rec *link,
              struct buf *bytes)
{
    struct peek peek;
    int err = link_peek(f, group, name, len, link, &peek);

    if (err)
        return err;
    err = buf_set(bytes, peek.p, peek.len);
    tree_peeked(&peek);
    return err ? err : link_decode(name, len, bytes->p, bytes->len, link);
}

int link_add(drep_file *f, uint64_t group, const char *name, struct link_rec *link)
{
    struct buf *b = &f->op.scratch[0];
    size_t len = strlen(name);
    struct key key;
    struct out out;
    int err = name_check((const uint8_t *)name, len);

    if (err)
        return fail(DREP_ERR_NAME, "\"%s\" is not a valid name", name);
    if (memchr(name, '#', len))
        paths_clear(f); /* a dimension may have had this address */
    if ((err = head_take_index(f, group, 1, &link->index)))
        return err;
    buf_out(b, &out);
    link_put(&out, link);
    err = buf_done(b, &out);
    if (!err)
        err = link_key(&key, group, name, len);
    if (!err)
        err = tree_add(f->st, &key, b->p, b->len);
    return err == DREP_ERR_EXISTS ? fail(err, "\"%s\" exists already", name) : err;
}

int link_drop(drep_file *f, uint64_t group, const char *name)
{
    struct head_edit e;
    struct key key;
    int err = link_key(&key, group, name, strlen(name));

    paths_clear(f);
    if (!err)
        err = tree_del(f->st, &key);
    if (!err)
        err = head_edit(f, group, &e);
    if (err)
        return err;
    e.h.members--;
    return head_edited(f, &e);
}

int link_free(drep_file *f, uint64_t group, const char *name)
{
    struct key key;
    int err = name_check((const uint8_t *)name, strlen(name));

    if (err)
        return fail(DREP_ERR_NAME, "\"%s\" is not a valid name", name);
    err = link_key(&key, group, name, strlen(name));
    if (!err)
        err = tree_get(f->st, &key, NULL);
    if (!err)
        return fail(DREP_ERR_EXISTS, "\"%s\" exists already", name);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* The object is stored after its link: a name that exists refuses it before anything else is made.
 */
int object_link(drep_file *f, uint64_t group, const char *name, struct object_rec *rec,
                uint64_t *id)
{
    struct link_rec link = {.kind = FMT_HARD, .object_kind = rec->kind};
    int err;

    rec->links = 1;
    err = store_new_objects(f->st, 1, &link.object);
    if (!err)
        err = link_add(f, group, name, &link);
    if (!err)
        err = object_store(f, link.object, rec);
    if (!err)
        *id = link.object;
    return err;
}

int object_link_to(drep_file *f, uint64_t group, const char *name, uint64_t id, uint8_t kind)
{
    struct link_rec link = {.kind = FMT_HARD, .object_kind = kind, .object = id};

    return link_add(f, group, name, &link);
}

/* ---- walks ---- */

void link_walk_begin(struct link_walk *w, drep_file *f, uint64_t group)
{
    key_make(&w->key, group, FMT_TAG_LINK);
    tree_walk(&w->walk, f->st, &w->key, LINK_NAME_AT);
    w->value = (struct buf){0};
}

int link_walk_next(struct link_walk *w)
{
    int err = tree_next(&w->walk, &w->key, &w->value);

    return err ? err
               : link_decode((const char *)w->key.p + LINK_NAME_AT, w->key.len - LINK_NAME_AT,
                             w->value.p, w->value.len, &w->link);
}

int link_walk_hard(struct link_walk *w)
{
    int err;

    do {
        err = link_walk_next(w);
    } while (!err && w->link.kind != FMT_HARD);
    return err;
}

int link_walk_end(struct link_walk *w, int err)
{
    buf_release(&w->value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}
