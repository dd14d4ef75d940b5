/* merging.c - the state of a merge: entries in three states. */
/* SPDX-License-Identifier: MIT */
#include "par/merging.h"

#include "tree/find.h"

#include <string.h>

int look_up(struct store *st, const struct change *e, uint64_t id, struct buf *b,
            struct span *value)
{
    struct key key = {.len = e->key_len};
    int err;

    memcpy(key.p, e->key, e->key_len);
    key_set_object(&key, id);
    err = tree_get(st, &key, b);
    *value = (struct span){err ? NULL : b->p, err ? 0 : b->len};
    if (!err && !b->p) /* no bytes are a value, too */
        value->p = (const uint8_t *)"";
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int three_ways(struct merging *m, const struct change *e, uint64_t id, struct span *was,
               struct span *is)
{
    int err = 0;

    *was = (struct span){NULL, 0};
    if (m->last && id < m->first_new)
        err = look_up(m->last->st, e, id, &m->was, was);
    return err ? err : look_up(m->f->st, e, id, &m->is, is);
}

uint64_t own_id(const struct merging *m, const struct changes *c, uint64_t id)
{
    if (id < m->first_new)
        return id;
    for (size_t i = 0; i < c->nmade; i++)
        if (c->made[i].id == id)
            return c->made[i].own;
    return 0;
}

/* ---- records ---- */

static int cannot_read(const struct merging *m, const struct in *in)
{
    return fail(DREP_ERR_FAILED, "the changes of rank %d: %s", m->c->rank, in->why);
}

static struct in in_of(const struct span *bytes)
{
    struct in in;

    in_init(&in, bytes->p, bytes->len);
    return in;
}

int read_object(const struct merging *m, const struct span *bytes, struct object_rec *rec)
{
    struct in in = in_of(bytes);

    return object_get(&in, rec) ? cannot_read(m, &in) : 0;
}

int read_attr(const struct merging *m, const struct span *bytes, struct attr_rec *rec)
{
    struct in in = in_of(bytes);

    return attr_get(&in, rec) ? cannot_read(m, &in) : 0;
}

int read_link(const struct merging *m, const struct span *bytes, struct link_rec *rec)
{
    struct in in = in_of(bytes);

    return link_get(&in, rec) ? cannot_read(m, &in) : 0;
}

int read_dim(const struct merging *m, const struct span *bytes, struct dim_rec *rec)
{
    struct in in = in_of(bytes);

    return dim_get(&in, rec) ? cannot_read(m, &in) : 0;
}

/* ---- entries ---- */

/* Uses that went are no change of a dimension. */
bool has_changed(struct merging *m, const struct change *e)
{
    struct span was = {NULL, 0}, own = change_value(e);

    if (m->last && look_up(m->last->st, e, change_id(e), &m->was, &was))
        return true;
    return !same_span(&was, &own) && (change_tag(e) != FMT_TAG_USER || e->value);
}

bool is_there(const struct merging *m, uint64_t id)
{
    struct key key;

    key_make(&key, id, FMT_TAG_OBJECT);
    return tree_get(m->f->st, &key, NULL) == 0;
}

uint64_t merged_object(struct merging *m, uint64_t own, bool *kept)
{
    const struct new_object *o;

    if (own != m->at.own) {
        m->at = (struct new_object){.own = own, .id = own};
        if (own >= m->first_new) {
            o = changes_made(m->c, own);
            m->at.id = o ? o->id : 0;
            m->at.joined = o && o->joined;
        } else {
            m->at.joined =
                own != FMT_OBJECT_FILE && !changes_removed(m->c, own) && is_there(m, own);
        }
    }
    *kept = m->at.joined;
    return m->at.id;
}
