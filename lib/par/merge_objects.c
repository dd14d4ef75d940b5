/* merge_objects.c - the objects that one rank alone has made.
 *
 * They get the next ids, in the order in which the rank has made them, and their entries are those
 * of the rank with other numbers: counts and indices are right as they are, since nobody else has
 * changed these objects. */
/* SPDX-License-Identifier: MIT */
#include "par/merging.h"
#include "name/attr.h"
#include "name/dimension.h"
#include "name/link.h"
#include "tree/edit.h"

#include <string.h>

/* Give ids first: entries refer to later objects, too. */
static int give_ids(struct merging *m)
{
    int err = 0;

    m->given = store_objects_end(m->f->st);
    for (size_t i = 0; !err && i < m->c->nmade; i++)
        if (!m->c->made[i].joined)
            err = store_new_objects(m->f->st, 1, &m->c->made[i].id);
    m->given_end = store_objects_end(m->f->st);
    return err;
}

/* ---- entries ---- */

static int enter_object(struct merging *m, const struct change *e, uint64_t id)
{
    struct object_rec rec;
    struct buf b = {0};
    struct span bytes = change_value(e);
    int err = read_object(m, &bytes, &rec);

    if (!err)
        err = translate_object(m, &rec, &b);
    if (!err)
        err = object_store(m->f, id, &rec);
    if (!err && rec.kind == FMT_DATASET)
        err = dimension_uses_add(m->f, id, &rec);
    buf_release(&b);
    return err;
}

/* Replace the object of a key. */
static void key_of(struct key *key, const struct change *e, uint64_t id)
{
    memcpy(key->p, e->key, e->key_len);
    key->len = e->key_len;
    key_set_object(key, id);
}

static int put_change(struct merging *m, const struct change *e, uint64_t id, struct out *out)
{
    struct buf *b = &m->f->op.scratch[0];
    struct key key;
    int err = buf_done(b, out);

    key_of(&key, e, id);
    return err ? err : tree_put(m->f->st, &key, b->p, b->len);
}

/* An object that was there has one link more. */
static int count_link(struct merging *m, const struct link_rec *link)
{
    bool kept;
    uint64_t own = link->object, id = merged_object(m, own, &kept);
    struct head_edit e;
    int err;

    if (link->kind != FMT_HARD || !kept)
        return 0;
    err = head_edit(m->f, id, &e);
    if (err)
        return err;
    m->moved |= link->object_kind == FMT_GROUP;
    e.h.links++;
    return head_edited(m->f, &e);
}

static int enter_link(struct merging *m, const struct change *e, uint64_t id)
{
    struct link_rec link;
    struct span bytes = change_value(e);
    struct out out;
    int err = read_link(m, &bytes, &link);

    if (!err)
        err = count_link(m, &link);
    if (!err)
        err = translate_link(m, &link);
    if (err)
        return err;
    buf_out(&m->f->op.scratch[0], &out);
    link_put(&out, &link);
    return put_change(m, e, id, &out);
}

static int enter_dimension(struct merging *m, const struct change *e, uint64_t id)
{
    struct dim_rec dim;
    struct span bytes = change_value(e);
    struct out out;
    int err = read_dim(m, &bytes, &dim);

    if (err || dim_is_above(m, dim.object))
        return err;
    dim.object = translate_id(m, dim.object);
    buf_out(&m->f->op.scratch[0], &out);
    dim_put(&out, &dim);
    return put_change(m, e, id, &out);
}

static int enter_attr(struct merging *m, const struct change *e, uint64_t id)
{
    struct buf b = {0};
    struct attr_rec attr;
    struct out out;
    int err = translate_attr(m, e, &attr, &b);

    if (!err) {
        buf_out(&m->f->op.scratch[0], &out);
        attr_put(&out, &attr);
        err = put_change(m, e, id, &out);
    }
    buf_release(&b);
    return err;
}

/* Entries of uses follow from the records of datasets. */
static int enter(struct merging *m, const struct change *e, uint64_t id)
{
    struct key key;

    switch (change_tag(e)) {
    case FMT_TAG_OBJECT:
        return enter_object(m, e, id);
    case FMT_TAG_LINK:
        return enter_link(m, e, id);
    case FMT_TAG_DIM:
        return enter_dimension(m, e, id);
    case FMT_TAG_ATTR:
        return enter_attr(m, e, id);
    case FMT_TAG_DATA:
        key_of(&key, e, id);
        return tree_put(m->f->st, &key, e->value, e->size);
    default:
        return 0;
    }
}

int merge_objects(struct merging *m)
{
    const struct new_object *o = NULL;
    int err = give_ids(m);

    for (size_t i = 0; !err && i < m->c->n; i++) {
        const struct change *e = &m->c->entry[i];

        if (!e->value || change_id(e) < m->first_new)
            continue;
        if (!o || o->own != change_id(e))
            o = changes_made(m->c, change_id(e));
        if (o && !o->joined)
            err = enter(m, e, o->id);
    }
    return err;
}
