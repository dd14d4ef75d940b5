/* object.c - the records of objects. */
/* SPDX-License-Identifier: MIT */
#include "name/object.h"

#include "base/vec.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"

#include <stdio.h>
#include <string.h>

static void object_key(struct key *key, uint64_t id)
{
    key_make(key, id, FMT_TAG_OBJECT);
}

void object_release(struct stored_object *o)
{
    buf_release(&o->bytes);
}

/* Gives the bytes of a record where they stand in the tree, until tree_peeked(). */
static int record_peek(drep_file *f, uint64_t id, struct peek *peek)
{
    struct key key;
    int err;

    object_key(&key, id);
    err = id >= FMT_OBJECT_END ? DREP_ERR_NOT_FOUND : tree_peek(f->st, &key, peek);
    if (err == DREP_ERR_NOT_FOUND)
        return fail(DREP_ERR_FORMAT, "object %llu is not in the file (%s)", (unsigned long long)id,
                    id == FMT_OBJECT_ROOT ? "R7.2" : "R7.9");
    return err;
}

int fail_later(const char *what, const char *beyond, uint8_t number, uint8_t flags, uint8_t kinds)
{
    if (beyond)
        return fail(DREP_ERR_UNSUPPORTED, "%s: %s", what, beyond);
    if (number < 1 || number > kinds)
        return fail(DREP_ERR_UNSUPPORTED, "%s: kind %d, written by a newer version", what, number);
    return fail(DREP_ERR_UNSUPPORTED, "%s: flags 0x%02x, written by a newer version", what, flags);
}

int object_later_in(const char *what, const struct object_rec *rec)
{
    if (rec->kind == FMT_LATER || rec->beyond)
        return fail_later(what, rec->beyond, rec->number, rec->flags, FMT_DIMENSION);
    if (object_known(rec))
        return 0;
    if (rec->layout > FMT_CHUNKED)
        return fail(DREP_ERR_UNSUPPORTED, "%s: layout %d, written by a newer version (R1.9)", what,
                    rec->layout);
    return fail(DREP_ERR_UNSUPPORTED, "%s: fill %d, written by a newer version (R1.9)", what,
                rec->fill);
}

int object_later(uint64_t id, const struct object_rec *rec)
{
    char what[40];

    if (rec->kind != FMT_LATER && object_known(rec))
        return 0;
    snprintf(what, sizeof what, "object %llu", (unsigned long long)id);
    return object_later_in(what, rec);
}

/* Turns what the decoder says into a message; the root must be a group. */
static int record_check(uint64_t id, uint8_t kind, uint8_t number, const struct in *in, int err)
{
    if (err)
        return fail(err, "object %llu: %s at byte %zu of its record", (unsigned long long)id,
                    in->why, in->err_at);
    if (id == FMT_OBJECT_ROOT && (kind == FMT_LATER ? number : kind) != FMT_GROUP)
        return fail(DREP_ERR_FORMAT, "object 1, the root, is not a group (R7.2)");
    return 0;
}

int object_load(drep_file *f, uint64_t id, struct stored_object *o)
{
    struct peek peek;
    struct in in;
    int err = record_peek(f, id, &peek);

    if (err)
        return err;
    err = buf_set(&o->bytes, peek.p, peek.len);
    tree_peeked(&peek);
    if (err)
        return err;
    in_init(&in, o->bytes.p, o->bytes.len);
    err = object_get(&in, &o->rec);
    err = record_check(id, o->rec.kind, o->rec.number, &in, err);
    if (!err)
        err = object_later(id, &o->rec);
    if (!err)
        o->id = id;
    return err;
}

int head_load(drep_file *f, uint64_t id, struct object_head *h)
{
    struct peek peek;
    struct in in;
    int err = record_peek(f, id, &peek);

    if (err)
        return err;
    in_init(&in, peek.p, peek.len);
    err = object_head_get(&in, h);
    err = record_check(id, h->kind, h->number, &in, err);
    tree_peeked(&peek);
    return err;
}

/* Slow path: the record was spilled to a value block, or a number takes another byte. */
static int record_edited(drep_file *f, const struct head_edit *e)
{
    struct stored_object o = {0};
    int err = object_load(f, e->id, &o);

    /* object_load() has decoded the record all the same. */
    if (err == DREP_ERR_UNSUPPORTED) /* the head of a later version's object is as ours */
        err = 0;
    o.rec.links = e->h.links;
    o.rec.next_attr = e->h.next_attr;
    o.rec.next_link = e->h.next_link;
    o.rec.members = e->h.members;
    o.rec.changed = e->h.changed;
    if (!err)
        err = object_store(f, e->id, &o.rec);
    object_release(&o);
    return err;
}

/* Most changes of an object are to its head: links, counts, indices. The tree lends the bytes of
 * the record, so that they are changed in place. */
int head_edit(drep_file *f, uint64_t id, struct head_edit *e)
{
    uint8_t head[FMT_HEAD_MAX];
    struct key key;
    struct in in;
    size_t len;
    int err;

    e->id = id;
    e->value = NULL;
    object_key(&key, id);
    err = tree_edit(f->st, &key, &e->value, &len);
    if (err == DREP_ERR_NOT_FOUND)
        return head_load(f, id, &e->h);
    if (err)
        return err;
    in_init(&in, e->value, len);
    err = object_head_get(&in, &e->h);
    if (!err)
        e->bytes = object_head_put(head, &e->h);
    return record_check(id, e->h.kind, e->h.number, &in, err);
}

int head_edited(drep_file *f, const struct head_edit *e)
{
    uint8_t head[FMT_HEAD_MAX];
    size_t n = object_head_put(head, &e->h);

    if (!e->value || n != e->bytes)
        return record_edited(f, e);
    memcpy(e->value + FMT_HEAD_AT, head, n);
    return 0;
}

int head_take_index(drep_file *f, uint64_t group, int links, uint64_t *index)
{
    struct head_edit e;
    int err = head_edit(f, group, &e);

    if (err)
        return err;
    if (e.h.kind != FMT_GROUP)
        return fail(DREP_ERR_KIND, "only groups have links and dimensions");
    if (e.h.next_link == UINT64_MAX)
        return fail(DREP_ERR_LIMIT, "a group can be given no more links and dimensions");
    *index = e.h.next_link++;
    e.h.members += (uint64_t)links;
    return head_edited(f, &e);
}

int object_store(drep_file *f, uint64_t id, const struct object_rec *rec)
{
    struct buf *b = &f->op.scratch[0];
    struct key key;
    struct out out;
    int err;

    buf_out(b, &out);
    object_put(&out, rec);
    err = buf_done(b, &out);
    object_key(&key, id);
    return err ? err : tree_put(f->st, &key, b->p, b->len);
}

int object_next(drep_file *f, uint64_t after, uint64_t *id)
{
    struct tree_walk w;
    struct key key;
    int err;

    *id = 0;
    if (after >= FMT_OBJECT_END - 1)
        return 0;
    key_make(&key, after + 1, 0);
    tree_walk(&w, f->st, &key, 0);
    err = tree_next(&w, &key, NULL);
    if (!err && key_space(key.p) == FMT_SPACE_STRUCTURE)
        *id = key_object(key.p);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int worklist_add(struct worklist *w, uint64_t id)
{
    if (VEC_ROOM(w->id, w->n, w->room, 1) != 0)
        return fail_nomem();
    w->id[w->n++] = id;
    return 0;
}
