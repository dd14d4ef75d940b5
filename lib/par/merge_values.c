/* merge_values.c - attributes and shapes of objects that were there. */
/* SPDX-License-Identifier: MIT */
#include "par/contradiction.h"
#include "base/mem.h"
#include "base/vec.h"
#include "name/attr.h"
#include "name/dimension.h"
#include "tree/edit.h"
#include "tree/walk.h"
#include "whole/resize.h"
#include "whole/unlimited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An attribute of a rank, with its index there, or in the last commit if it is gone.  One that
 * was `there` in the last commit, under whatever name, keeps its index. */
struct setting {
    const struct change *e;
    uint64_t id;
    uint32_t index;
    bool there;
};
struct settings {
    struct setting *p;
    size_t n, room;
};
/* Attributes to set are listed first: their order is that of creation.  Those that an earlier rank
 * has taken away as well may have other names by now. */
struct attr_changes {
    struct settings set, gone;
};

/* ---- attributes ---- */

/* True if the rank's attribute and the tree's have one value. */
static int same_attr(struct merging *m, const struct span *own, const struct span *is, bool *same)
{
    struct attr_rec a, b;
    struct buf room = {0};
    int64_t count;
    size_t n;
    int err = read_attr(m, is, &b);

    if (!err)
        err = read_attr(m, own, &a);
    if (err)
        return err;
    n = a.rank == FMT_RANK_NULL ? 0 : a.rank;
    err = same_type(m, a.type, b.type, same);
    if (!err && *same)
        err = attr_count(&a, &count);
    if (!err && *same)
        err = translate_value(m, a.type, NULL, count, &a.value, &room);
    *same = !err && *same && a.rank == b.rank && memcmp(a.len, b.len, n * sizeof *a.len) == 0 &&
            same_span(&a.value, &b.value);
    buf_release(&room);
    return err;
}

static int list_setting(const struct merging *m, struct settings *l, const struct change *e,
                        uint64_t id, const struct span *bytes)
{
    struct object_head head = {.next_attr = 0};
    struct attr_rec attr;
    int err = read_attr(m, bytes, &attr);

    if (!err && m->last && id < m->first_new)
        err = head_load(m->last, id, &head);
    if (err)
        return err;
    if (VEC_ROOM(l->p, l->n, l->room, 1))
        return fail_nomem();
    l->p[l->n++] = (struct setting){e, id, attr.index, attr.index < head.next_attr};
    return 0;
}

static void attr_key(struct key *key, const struct change *e, uint64_t id)
{
    key_make_attr(key, id);
    key_add_bytes(key, e->key + FMT_KEY_HEAD, e->key_len - FMT_KEY_HEAD);
}

static int remove_attr(struct merging *m, const struct change *e, uint64_t id,
                       const struct span *is)
{
    struct attr_rec attr;
    struct key key;
    int err = read_attr(m, is, &attr);

    if (err)
        return err;
    attr_key(&key, e, id);
    err = tree_del(m->f->st, &key);
    return err ? err : ftype_unuse(m->f, attr.type);
}

static int change_attr(struct merging *m, struct attr_changes *l, const struct change *e,
                       uint64_t id)
{
    struct span was, is, own = change_value(e);
    bool same = false;
    int err = three_ways(m, e, id, &was, &is);

    if (err || same_span(&was, &own))
        return err;
    if (own.p && is.p)
        err = same_attr(m, &own, &is, &same);
    if (err || same)
        return err;
    if (!own.p && !is.p)
        return list_setting(m, &l->gone, e, id, &was);
    if (!same_span(&was, &is))
        return contradict_attr(m, e, id, &is);
    return own.p ? list_setting(m, &l->set, e, id, &own) : remove_attr(m, e, id, &is);
}

/* An attribute that the rank has made anew goes to the end of the order, even where one of its name
 * was there before. */
static int set_attr(struct merging *m, const struct setting *s)
{
    struct buf b = {0}, is = {0};
    struct attr_rec attr;
    struct span value;
    struct key key;
    int err = translate_attr(m, s->e, &attr, &b);

    attr_key(&key, s->e, s->id);
    if (!err && s->there) {
        err = attr_place(m->f, &key, &attr);
    } else if (!err) {
        err = look_up(m->f->st, s->e, s->id, &is, &value);
        if (!err && value.p)
            err = remove_attr(m, s->e, s->id, &value);
        if (!err)
            err = attr_store(m->f, s->id, &key, &attr);
    }
    buf_release(&is);
    buf_release(&b);
    return err;
}

static int settings_by_index(const void *a, const void *b)
{
    const struct setting *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* ---- attributes with another name ---- */

static const struct setting *find_gone(const struct settings *gone, uint64_t id, uint32_t index)
{
    const struct setting at = {.id = id, .index = index};

    return bsearch(&at, gone->p, gone->n, sizeof at, settings_by_index);
}

/* Compares the attribute that an earlier rank made of one that is gone with what the rank has under
 * this name. */
struct renamed_attrs {
    struct merging *m;
    const struct settings *gone;
    uint64_t id;
};
static int check_renamed(void *ctx, const struct key *key, const uint8_t *value, size_t size)
{
    struct renamed_attrs *r = ctx;
    const struct span is = {value, size};
    const struct setting *gone;
    const struct change *own;
    struct attr_rec a, b;
    int err = read_attr(r->m, &is, &a);

    if (err || !(gone = find_gone(r->gone, r->id, a.index)))
        return err;
    own = changes_find(r->m->c, key->p, key->len);
    if (own && own->value && !(err = read_attr(r->m, &(struct span){own->value, own->size}, &b)) &&
        a.index == b.index)
        return 0;
    return err ? err : contradict_renamed(r->m, gone->e, r->id);
}

/* Ranks have taken the same attributes away: each of them was removed by all, or renamed alike. */
static int check_renames(struct merging *m, struct attr_changes *l)
{
    const struct setting *gone;
    struct tree_walk w;
    struct key key;
    int err = 0;

    qsort(l->gone.p, l->gone.n, sizeof *l->gone.p, settings_by_index);
    for (size_t i = 0; !err && i < l->set.n; i++)
        if ((gone = find_gone(&l->gone, l->set.p[i].id, l->set.p[i].index)))
            err = contradict_renamed(m, gone->e, gone->id);
    for (size_t i = 0; !err && i < l->gone.n; i++) {
        struct renamed_attrs r = {m, &l->gone, l->gone.p[i].id};

        if (i > 0 && l->gone.p[i - 1].id == r.id)
            continue;
        key_make_attr(&key, r.id);
        tree_walk(&w, m->f->st, &key, FMT_KEY_HEAD);
        while (!(err = tree_each(&w, check_renamed, &r)))
            ;
        err = err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    return err;
}

/* ---- shapes ---- */

static bool same_lengths(const struct object_rec *a, const uint64_t *len)
{
    return memcmp(a->len, len, a->rank * sizeof *len) == 0;
}

static bool not_less(const struct object_rec *a, const struct object_rec *b)
{
    bool grown = true;

    for (int d = 0; d < a->rank; d++)
        grown &= a->len[d] >= b->len[d];
    return grown;
}

int merge_resize(struct merging *m, uint64_t id, int rank, const uint64_t *len)
{
    struct stored_object o = {0};
    int64_t dims[DREP_MAX_RANK];
    drep_dataset *ds;
    char name[40];
    int err;

    for (int d = 0; d < rank; d++)
        dims[d] = (int64_t)len[d];
    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if ((err = dataset_get(m->f, id, name, &ds)))
        return err;
    err = shape_change(ds, dims, &o);
    if (!err) {
        shape_exchange(ds, &o);
        ds->trimmed = true;
    }
    object_release(&o);
    dataset_put(ds);
    return err;
}

/* The tree has lost it at the right moment, and what all have written together since must stay. */
bool was_cut(const struct merging *m, uint64_t id, const struct shrunk_dataset *cut)
{
    for (const struct changes *c = m->all; c < m->c; c++)
        if (shrunk_alike(changes_shrunk(c, own_id(m, c, id)), cut))
            return true;
    return false;
}

/* The shape of a dataset of the last commit.  What the rank has cut off is cut off here, too, even
 * if the dataset grew again. */
static int change_shape(struct merging *m, const struct change *e, uint64_t id,
                        const struct object_rec *was, const struct object_rec *is,
                        const struct object_rec *own)
{
    const struct shrunk_dataset *cut = changes_shrunk(m->c, id);
    bool cuts = cut && !was_cut(m, id, cut);
    uint64_t len[FMT_RANK_MAX];
    int err;

    if (own->rank == FMT_RANK_NULL || (same_lengths(own, was->len) && !cut))
        return 0;
    memcpy(len, own->len, sizeof len);
    if (!same_lengths(is, was->len) && !same_lengths(is, own->len)) {
        if (cuts || !not_less(own, was) || !not_less(is, was))
            return contradict_both(m, e, id, "given it different shapes");
        for (int d = 0; d < own->rank; d++)
            len[d] = own->len[d] > is->len[d] ? own->len[d] : is->len[d];
    }
    for (int d = 0; d < own->rank; d++)
        if (len[d] > is->max[d]) /* an earlier rank has fixed the dimension */
            return contradict_both(m, e, id, "given it different shapes");
    err = cuts ? merge_resize(m, id, own->rank, cut->len) : 0;
    return err ? err : merge_resize(m, id, own->rank, len);
}

/* ---- dimensions ---- */

static int change_scales(struct merging *m, const struct change *e, struct stored_object *is,
                         const struct object_rec *was, const struct object_rec *own)
{
    struct object_rec rec = *own;
    struct buf b = {0};
    int err = 0;

    if (same_span(&was->scales, &own->scales))
        return 0;
    err = translate_object(m, &rec, &b);
    if (!err && !same_span(&is->rec.scales, &rec.scales)) {
        if (!same_span(&is->rec.scales, &was->scales))
            err = contradict_both(m, e, is->id, "given it different scales");
        is->rec.scales = rec.scales;
        if (!err)
            err = object_store(m->f, is->id, &is->rec);
    }
    buf_release(&b);
    return err;
}

/* The earlier rank that has given scales to a dimension which it has made. */
static int scales_rank(const struct merging *m, uint64_t id)
{
    struct object_rec rec = {.kind = 0};
    const struct new_object *o;
    struct span bytes;

    for (const struct changes *c = m->all; c < m->c; c++) {
        if (!(o = changes_made(c, own_id(m, c, id))))
            continue;
        bytes = change_value(o->record);
        if (read_object(m, &bytes, &rec) == 0 && rec.scales.len > 0)
            return c->rank;
    }
    return 0;
}

/* Scales of a dimension that several ranks have made: one of them, or all alike, may have set
 * them. */
static int join_scales(struct merging *m, const struct change *e, uint64_t id)
{
    struct span own_bytes = change_value(e);
    struct stored_object is = {0};
    struct object_rec own;
    struct buf b = {0};
    int err = read_object(m, &own_bytes, &own);

    if (err || own.kind != FMT_DIMENSION || own.scales.len == 0)
        return err;
    err = object_load(m->f, id, &is);
    if (!err)
        err = translate_object(m, &own, &b);
    if (!err && !same_span(&is.rec.scales, &own.scales)) {
        if (is.rec.scales.len > 0)
            err = contradict_deeds(m, id, scales_rank(m, id), "given it scales", m->c->rank,
                                   "given it others");
        is.rec.scales = own.scales;
        if (!err)
            err = object_store(m->f, id, &is.rec);
    }
    object_release(&is);
    buf_release(&b);
    return err;
}

/* Dimensions grow with their datasets, but not those that an earlier rank has fixed. */
static int change_length(struct merging *m, const struct change *e, struct stored_object *is,
                         const struct object_rec *own)
{
    return !is->rec.unlimited && own->len[0] > is->rec.len[0]
               ? contradict_both(m, e, is->id, "given it different lengths")
               : dimension_grow(m->f, is, own->len[0]);
}

/* Read an object of the last commit, as it was there and as the rank has it.  False: it is new, no
 * longer there, or neither a dataset nor a dimension.  Objects that several have made are alike;
 * the head follows from links and attributes. */
static bool read_both(struct merging *m, const struct change *e, uint64_t id,
                      struct object_rec *was, struct object_rec *own, int *err)
{
    struct span was_bytes, is_bytes, own_bytes = change_value(e);

    *err = three_ways(m, e, id, &was_bytes, &is_bytes);
    if (*err || !was_bytes.p || !is_bytes.p)
        return false;
    *err = read_object(m, &was_bytes, was);
    if (!*err)
        *err = read_object(m, &own_bytes, own);
    return !*err && (own->kind == FMT_DATASET || own->kind == FMT_DIMENSION);
}

static int change_object(struct merging *m, const struct change *e, uint64_t id)
{
    struct object_rec was, own;
    struct stored_object is = {0};
    int err;

    if (id >= m->first_new)
        return join_scales(m, e, id);
    if (!read_both(m, e, id, &was, &own, &err) || (err = object_load(m->f, id, &is)))
        return err;
    if (own.kind == FMT_DATASET)
        err = change_shape(m, e, id, &was, &is.rec, &own);
    else if (!(err = change_length(m, e, &is, &own)))
        err = change_scales(m, e, &is, &was, &own);
    object_release(&is);
    return err;
}

/* ---- unlimited dimensions ---- */

/* Datasets that the rank itself has made along it are as the rank has them. */
static int merge_limit(struct merging *m, uint64_t dim, bool unlimited)
{
    struct idset made = {.n = 0};
    struct limited l = {0};
    bool first;
    int err = 0;

    for (size_t i = 0; !err && i < m->c->nmade; i++)
        if (m->c->made[i].id)
            err = idset_mark(&made, m->c->made[i].id, &first);
    if (!err)
        err = dimension_limit(m->f, dim, unlimited, &made, &l);
    if (!err)
        limited_exchange(&l);
    limited_release(&l);
    idset_release(&made);
    return err;
}

/* The limit of a dataset or dimension: its length, and how long it may be. */
struct limit {
    uint64_t len, max;
};

/* True if the rank has changed a limit as `unlimited` says, and the tree's is not so.  One that
 * exceeds the fixed limit of the last commit was unlimited in between. */
static bool limit_changes(struct limit was, struct limit own, struct limit is, bool unlimited)
{
    bool now = own.max == FMT_UNLIMITED, passing = own.len > was.max;

    if (own.max == was.max)
        return false;
    return unlimited ? (now || (passing && own.len > is.len)) && is.max != FMT_UNLIMITED
                     : !now && is.max != is.len;
}

static struct limit limit_of(const struct object_rec *rec, int d)
{
    uint64_t fixed = rec->unlimited ? FMT_UNLIMITED : rec->len[0];

    return (struct limit){rec->len[d], rec->kind == FMT_DIMENSION ? fixed : rec->max[d]};
}

/* A dimension that the rank has made unlimited, or fixed, or a maximum that changed with one. */
static int change_limit(struct merging *m, const struct change *e, uint64_t id, bool unlimited)
{
    struct object_rec was, own;
    struct stored_object is = {0};
    int err, n;

    if (!read_both(m, e, id, &was, &own, &err) || (err = object_load(m->f, id, &is)))
        return err;
    n = own.kind == FMT_DIMENSION ? 1 : own.has_dims && own.rank != FMT_RANK_NULL ? own.rank : 0;
    for (int d = 0; !err && d < n; d++)
        if (limit_changes(limit_of(&was, d), limit_of(&own, d), limit_of(&is.rec, d), unlimited))
            err = merge_limit(m, own.kind == FMT_DIMENSION ? id : own.dim[d], unlimited);
    object_release(&is);
    return err;
}

/* The call is made once more in the tree, where datasets of earlier ranks lie along the dimension,
 * too. */
int merge_limits(struct merging *m, bool unlimited)
{
    int err = 0;

    for (size_t i = 0; !err && i < m->c->n; i++) {
        const struct change *e = &m->c->entry[i];
        uint64_t id;
        bool kept;

        if (change_tag(e) != FMT_TAG_OBJECT || !e->value)
            continue;
        id = merged_object(m, change_id(e), &kept);
        if (kept)
            err = change_limit(m, e, id, unlimited);
    }
    m->at = (struct new_object){.own = 0};
    return err;
}

/* ---- all of a rank ---- */

static int change(struct merging *m, struct attr_changes *l, const struct change *e, uint64_t id)
{
    switch (change_tag(e)) {
    case FMT_TAG_ATTR:
        return change_attr(m, l, e, id);
    case FMT_TAG_OBJECT:
        return e->value ? change_object(m, e, id) : 0;
    case FMT_TAG_DATA:
        return merge_elements(m, e, id);
    default:
        return 0;
    }
}

int merge_values(struct merging *m)
{
    struct attr_changes l = {.set = {.n = 0}};
    int err = 0;

    for (size_t i = 0; !err && i < m->c->n; i++) {
        const struct change *e = &m->c->entry[i];
        uint64_t id;
        bool kept;

        id = merged_object(m, change_id(e), &kept);
        if (kept)
            err = change(m, &l, e, id);
    }
    if (!err && l.gone.n > 0)
        err = check_renames(m, &l);
    if (l.set.n > 1)
        qsort(l.set.p, l.set.n, sizeof *l.set.p, settings_by_index);
    for (size_t i = 0; !err && i < l.set.n; i++)
        err = set_attr(m, &l.set.p[i]);
    mem_free(l.set.p);
    mem_free(l.gone.p);
    return err;
}
