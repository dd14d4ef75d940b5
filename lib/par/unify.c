/* unify.c - new objects of a rank that an earlier rank has made at the same path.
 *
 * Groups are compared from those of the last commit downwards.  A new object that has the name of
 * one that an earlier rank has made is the same object, if it is of the same kind and spec; what is
 * in it is merged then, as in objects of the last commit.  So is a dimension that one of the rank's
 * datasets has made and would have found in a group above. */
/* SPDX-License-Identifier: MIT */
#include "par/contradiction.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/vec.h"
#include "name/dim_entry.h"
#include "name/dimension.h"
#include "name/link.h"

#include <string.h>

/* Groups that both have and that are still to be compared, by their ids on the rank. */
struct unifying {
    struct merging *m;
    uint64_t *group;
    size_t n, room;
    struct idset taken; /* no two new objects of one rank are the same */
};

static int unifying_add_group(struct unifying *u, uint64_t own)
{
    if (VEC_ROOM(u->group, u->n, u->room, 1))
        return fail_nomem();
    u->group[u->n++] = own;
    return 0;
}

/* ---- records ---- */

static bool same_filters(const struct object_rec *a, const struct object_rec *b)
{
    bool same = a->nfilters == b->nfilters;

    for (int i = 0; same && i < a->nfilters; i++)
        same = filter_same(&a->filter[i], &b->filter[i]);
    return same;
}

/* Lists of lengths are in use up to the rank. */
static bool same_list(const struct object_rec *a, const uint64_t *x, const uint64_t *y)
{
    return memcmp(x, y, (a->rank == FMT_RANK_NULL ? 0 : a->rank) * sizeof *x) == 0;
}

/* True if an earlier rank has cut something off the dataset. */
static bool was_shrunk(const struct merging *m, uint64_t id)
{
    bool cut = false;

    for (const struct changes *c = m->all; !cut && c < m->c; c++)
        cut = changes_shrunk(c, own_id(m, c, id)) != NULL;
    return cut;
}

/* A dataset that ranks have made with different lengths has the greatest ones, unless a rank has
 * made it smaller.  If lengths are equal, what the rank has cut off is cut off here, too. */
static int unify_shape(struct merging *m, const struct new_object *o, const struct object_rec *own,
                       const struct object_rec *is, const char **what)
{
    const struct shrunk_dataset *cut = changes_shrunk(m->c, o->own);
    uint64_t len[FMT_RANK_MAX];
    int err;

    if (same_list(own, own->len, is->len)) {
        err = cut && !was_cut(m, o->id, cut) ? merge_resize(m, o->id, own->rank, cut->len) : 0;
        return err || !cut ? err : merge_resize(m, o->id, own->rank, own->len);
    }
    if (cut || was_shrunk(m, o->id)) {
        *what = "shapes";
        return 0;
    }
    for (int d = 0; d < own->rank; d++)
        len[d] = own->len[d] > is->len[d] ? own->len[d] : is->len[d];
    return merge_resize(m, o->id, own->rank, len);
}

/* Compare a rank's new dataset with the one of that name that is in rank 0's tree.  *what: a
 * constant text, the first thing in which they differ, or NULL; their lengths may differ
 * (unify_shape()). */
static int dataset_differs(struct merging *m, const struct object_rec *own,
                           const struct object_rec *is, const char **what)
{
    size_t n = own->rank == FMT_RANK_NULL ? 0 : own->rank;
    struct file_datarep *rep;
    bool same;
    int err = same_type(m, own->type, is->type, &same);

    *what = NULL;
    if (!err)
        err = translate_rep(m, own->datarep, &rep);
    if (err)
        return err;
    if (!same)
        *what = "types";
    else if (own->rank != is->rank || !same_list(own, own->max, is->max))
        *what = "shapes";
    else if (rep->number != is->datarep)
        *what = "representations";
    else if (own->layout != is->layout ||
             (own->layout == FMT_CONTIGUOUS && own->slab != is->slab) ||
             (own->layout == FMT_CHUNKED &&
              (own->suffix != is->suffix ||
               memcmp(own->chunk, is->chunk, n * sizeof *own->chunk) != 0)))
        *what = "layouts";
    else if (!same_filters(own, is))
        *what = "filters";
    else if (own->fill != is->fill || !same_span(&own->fill_value, &is->fill_value))
        *what = "fill values";
    for (size_t d = 0; !*what && d < n; d++)
        if (own->has_dims != is->has_dims ||
            (own->has_dims && translate_id(m, own->dim[d]) != is->dim[d]))
            *what = "dimensions";
    return 0;
}

/* True if all earlier ranks that have a dimension made it by datasets along it. */
static bool was_implied(const struct merging *m, uint64_t id)
{
    bool implied = true;

    for (const struct changes *c = m->all; implied && c < m->c; c++)
        for (size_t i = 0; implied && i < c->nmade; i++) /* there may be several of one rank */
            implied = c->made[i].id != id || changes_implied(c, c->made[i].own);
    return implied;
}

/* True if the dimension has room for so many elements. */
static bool has_room(const struct object_rec *dim, uint64_t len)
{
    return dim->unlimited || len <= dim->len[0];
}

/* In what the limits of a dimension contradict each other that several ranks have made: a constant
 * text, or NULL.  implied, earlier: only datasets of the rank, or of earlier ones, have made it. */
static const char *dimension_differs(const struct new_object *o, const struct object_rec *own,
                                     bool implied, const struct object_rec *is, bool earlier)
{
    bool fits = has_room(own, is->len[0]), holds = has_room(is, own->len[0]);

    if (implied && earlier && !o->elsewhere)
        return NULL;
    if (implied || earlier)
        return (implied ? holds : fits) ? NULL : "lengths";
    return own->unlimited != is->unlimited ? "limits" : fits && holds ? NULL : "lengths";
}

/* A dimension that several ranks have made holds the greatest length.  If a rank has created it,
 * it is as that rank has it, and has to hold the datasets of others; one that datasets alone have
 * made is unlimited if one of them needs it so. */
static int unify_dimension(struct merging *m, const struct new_object *o,
                           const struct object_rec *own, struct stored_object *is,
                           const char **what)
{
    bool implied = changes_implied(m->c, o->own) != NULL, earlier = was_implied(m, o->id);
    bool unlimited = is->rec.unlimited;
    uint64_t len = is->rec.len[0] > own->len[0] ? is->rec.len[0] : own->len[0];

    *what = dimension_differs(o, own, implied, &is->rec, earlier);
    if (earlier && !o->elsewhere)
        unlimited = own->unlimited || (implied && unlimited);
    if (*what || (len == is->rec.len[0] && unlimited == is->rec.unlimited))
        return 0;
    is->rec.len[0] = len;
    is->rec.unlimited = unlimited;
    return object_store(m->f, is->id, &is->rec);
}

/* Hold a new object against that of the tree. */
static int compare_new_object(struct merging *m, const struct new_object *o)
{
    struct stored_object is = {0};
    struct object_rec own = {.kind = 0};
    const char *what = NULL;
    bool same = true;
    struct span bytes = change_value(o->record);
    int err = object_load(m->f, o->id, &is);

    if (!err)
        err = read_object(m, &bytes, &own);
    if (!err && own.kind == FMT_DATASET) {
        err = dataset_differs(m, &own, &is.rec, &what);
        if (!err && !what)
            err = unify_shape(m, o, &own, &is.rec, &what);
    } else if (!err && own.kind == FMT_DIMENSION)
        err = unify_dimension(m, o, &own, &is, &what);
    else if (!err && own.kind == FMT_TYPE)
        err = same_type(m, own.type, is.rec.type, &same);
    object_release(&is);
    if (!err && !same)
        what = "types";
    return err || !what ? err : contradict_made(m, o->id, what);
}

/* ---- names ---- */

/* The kind of a new object. */
static uint8_t kind_of(const struct new_object *o)
{
    return o->record->size > 0 ? o->record->value[0] : 0;
}

/* Look at a name that the rank has added to a group which others have, too.  What cannot be the
 * same object is left to merge_names(), which finds the contradiction. */
static int unify_name(struct unifying *u, const struct change *e, uint64_t group)
{
    struct merging *m = u->m;
    struct span was, is, value = change_value(e);
    uint64_t own = hard_target(change_tag(e), &value), id;
    struct object_head head;
    struct new_object *o;
    bool first;
    int err;

    if (own < m->first_new || !(o = changes_made(m->c, own)) || o->id)
        return 0;
    if ((err = three_ways(m, e, group, &was, &is)))
        return err;
    id = hard_target(change_tag(e), &is);
    if (was.p || id < m->first_new)
        return 0;
    if ((err = head_load(m->f, id, &head)))
        return err;
    if (head.number != kind_of(o))
        return 0;
    if ((err = idset_mark(&u->taken, id, &first)) || !first)
        return err;
    o->id = id;
    o->joined = true;
    return head.kind == FMT_GROUP ? unifying_add_group(u, own) : 0;
}

static int unify_group(struct unifying *u, uint64_t own)
{
    struct merging *m = u->m;
    uint64_t group = translate_id(m, own);
    struct key key;
    int err = 0;

    key_make(&key, own, FMT_TAG_LINK);
    for (size_t i = changes_from(m->c, key.p, key.len);
         !err && i < m->c->n && key_object(m->c->entry[i].key) == own; i++) {
        const struct change *e = &m->c->entry[i];

        if (change_tag(e) == FMT_TAG_LINK || change_tag(e) == FMT_TAG_DIM)
            err = unify_name(u, e, group);
    }
    return err;
}

/* Groups of the last commit whose members the rank has changed. */
static int unify_begin(struct unifying *u)
{
    const struct changes *c = u->m->c;
    uint64_t last = 0;
    int err = 0;

    for (size_t i = 0; !err && i < c->n && key_object(c->entry[i].key) < u->m->first_new; i++) {
        uint8_t tag = change_tag(&c->entry[i]);
        uint64_t own = key_object(c->entry[i].key);

        if ((tag != FMT_TAG_LINK && tag != FMT_TAG_DIM) || own == last || own == FMT_OBJECT_FILE)
            continue;
        last = own;
        err = unifying_add_group(u, own);
    }
    return err;
}

/* A dataset of the rank has made a dimension, as its name led to none.  If earlier ranks have made
 * one above, this is the one. */
static int unify_implied(struct merging *m, struct stored_object *dim, const struct own_implied *at)
{
    struct new_object *o = changes_made(m->c, at->own);
    int err;

    if (!o || o->id || !changes_implied(m->c, at->own))
        return 0;
    err = dimension_find(m->f, at->path, at->name, dim);
    if (!err && dim->id >= m->first_new) {
        o->id = dim->id;
        o->joined = o->elsewhere = true;
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int merge_unify(struct merging *m)
{
    struct stored_object dim = {0};
    struct unifying u = {.m = m};
    int err = unify_begin(&u);

    for (size_t i = 0; !err && i < u.n; i++)
        err = unify_group(&u, u.group[i]);
    for (size_t i = 0; !err && i < m->c->nimplied; i++)
        err = unify_implied(m, &dim, &m->c->implied[i]);
    object_release(&dim);
    for (size_t i = 0; !err && i < m->c->nmade; i++)
        if (m->c->made[i].joined)
            err = compare_new_object(m, &m->c->made[i]);
    mem_free(u.group);
    idset_release(&u.taken);
    return err;
}
