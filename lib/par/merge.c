/* merge.c - the changes of all ranks become one: rank 0's part.
 *
 * What comes of it is the file that one process makes with the changes of rank 0, then those of
 * rank 1, and so on; but where two ranks change the same thing in different ways, that is an error,
 * not a matter of order. */
/* SPDX-License-Identifier: MIT */
#include "par/merge.h"

#include "par/contradiction.h"
#include "tree/journal.h"
#include "whole/close.h"

#include <string.h>

/* ---- objects that one rank has removed or moved, and another has changed ---- */

/* A link, or the entry of a dimension, of the last commit that the rank has not kept: the object
 * that it leads to; 0: it leads to none. */
static int deleted_target(struct merging *m, const struct change *e, uint64_t *object)
{
    struct span was;
    struct link_rec link;
    struct dim_rec dim;
    struct in in;
    int err = look_up(m->last->st, e, key_object(e->key), &m->was, &was);

    *object = 0;
    if (err || !was.p)
        return err;
    in_init(&in, was.p, was.len);
    if (change_tag(e) == FMT_TAG_DIM)
        *object = dim_get(&in, &dim) == 0 && dim.kind == FMT_PLAIN ? dim.object : 0;
    else
        *object = link_get(&in, &link) == 0 && link.kind == FMT_HARD ? link.object : 0;
    in_init(&in, e->value, e->size);
    if (e->value && change_tag(e) == FMT_TAG_LINK && link_get(&in, &link) == 0 &&
        link.kind == FMT_HARD && link.object == *object)
        *object = 0;
    return 0;
}

/* List what the rank has moved, or has removed one link of. */
static int find_moved(struct merging *m, struct changes *c)
{
    uint64_t object;
    bool first;
    int err = 0;

    for (size_t i = 0; !err && m->last && i < c->n; i++) {
        const struct change *e = &c->entry[i];
        uint64_t group = key_object(e->key);

        if ((change_tag(e) != FMT_TAG_LINK && change_tag(e) != FMT_TAG_DIM) ||
            group == FMT_OBJECT_FILE || group >= m->first_new)
            continue;
        err = deleted_target(m, e, &object);
        if (!err && object && !changes_removed(c, object))
            err = idset_mark(&c->moved, object, &first);
    }
    return err;
}

/* True if `c` has changed an entry of the object in this space that `but` has not changed; but
 * NULL: any. */
static bool touches_in(struct merging *m, const struct changes *c, uint8_t space, uint64_t id,
                       const struct changes *but)
{
    struct key key;

    key_make_in(&key, space, id, 0);
    for (size_t i = changes_from(c, key.p, key.len);
         i < c->n && memcmp(c->entry[i].key, key.p, FMT_KEY_TAG_AT) == 0; i++) {
        const struct change *e = &c->entry[i], *other;

        if (!has_changed(m, e))
            continue;
        other = but ? changes_find(but, e->key, e->key_len) : NULL;
        if (!other || !has_changed(m, other))
            return true;
    }
    return false;
}

static bool touches(struct merging *m, const struct changes *c, uint64_t id,
                    const struct changes *but)
{
    return touches_in(m, c, FMT_SPACE_STRUCTURE, id, but) ||
           touches_in(m, c, FMT_SPACE_ATTRS, id, but);
}

static const char removed[] = "removed it", moved[] = "moved it", changed[] = "changed it";

/* The rank has removed an object. */
static int check_removal(struct merging *m, uint64_t id)
{
    for (const struct changes *c = m->all; c < m->c; c++) {
        if (changes_removed(c, id))
            continue;
        if (idset_find(&c->moved, id))
            return contradict_deeds(m, id, c->rank, moved, m->c->rank, removed);
        if (touches(m, c, id, NULL))
            return contradict_deeds(m, id, c->rank, changed, m->c->rank, removed);
    }
    return 0;
}

/* The rank has changed an object, or moved it. */
static int check_change(struct merging *m, uint64_t id)
{
    bool own = idset_find(&m->c->moved, id) != NULL;

    for (const struct changes *c = m->all; c < m->c; c++) {
        bool theirs = idset_find(&c->moved, id) != NULL;

        if (changes_removed(c, id))
            return contradict_deeds(m, id, c->rank, removed, m->c->rank, own ? moved : changed);
        if (theirs && touches(m, m->c, id, c))
            return contradict_deeds(m, id, c->rank, moved, m->c->rank, changed);
        if (own && touches(m, c, id, m->c))
            return contradict_deeds(m, id, c->rank, changed, m->c->rank, moved);
    }
    return 0;
}

/* Look once at each object of the last commit that the rank has changed. */
static int check_objects(struct merging *m)
{
    uint64_t last = 0;
    int err = find_moved(m, m->c);

    for (size_t i = 0; !err && i < m->c->n; i++) {
        const struct change *e = &m->c->entry[i];
        uint64_t id = change_id(e);

        if (id == FMT_OBJECT_FILE || id >= m->first_new || id == last || !has_changed(m, e))
            continue;
        last = id;
        err = changes_removed(m->c, id) ? check_removal(m, id) : check_change(m, id);
    }
    for (size_t i = 0; !err && i < m->c->moved.size; i++)
        if (m->c->moved.slot[i].id)
            err = check_change(m, m->c->moved.slot[i].id);
    return err;
}

/* ---- the whole ---- */

static int merge_rank(struct merging *m)
{
    int err;

    if (m->c->hints != m->all->hints)
        return fail(DREP_ERR_NOT_SAME, "ranks 0 and %d have different hints", m->c->rank);
    m->moved = false;
    m->at = (struct new_object){.own = 0};
    err = check_objects(m);
    if (!err)
        err = merge_reps(m);
    if (!err)
        err = merge_limits(m, true);
    if (!err)
        err = merge_unify(m);
    if (!err)
        err = merge_objects(m);
    if (!err)
        err = merge_names(m);
    m->at = (struct new_object){.own = 0};
    if (!err)
        err = merge_values(m);
    return err ? err : merge_limits(m, false);
}

static int merge_begin(struct merging *m, drep_file *f, struct changes *all, size_t n)
{
    *m = (struct merging){.f = f, .first_new = ranks_first_new(f), .all = all, .n = n};
    for (size_t i = 0; i < all->nmade; i++)
        all->made[i].id = all->made[i].own;
    return store_slot(f->st)->sequence ? file_last_commit(f, &m->last) : 0;
}

static void end(struct merging *m)
{
    if (m->last)
        file_end(m->last);
    merged_elements_release(m);
    buf_release(&m->was);
    buf_release(&m->is);
}

/* The other ranks learn of the merged entries by the commit: nothing is noted. */
int merge_changes(drep_file *f, struct changes *all, size_t n)
{
    struct merging m;
    int err = merge_begin(&m, f, all, n);

    if (!err)
        err = find_moved(&m, all);
    f->st->journal->paused = true;
    for (m.c = all + 1; !err && m.c < all + n; m.c++)
        err = merge_rank(&m);
    if (!err)
        err = merged_elements_store(&m);
    f->st->journal->paused = false;
    end(&m);
    return err;
}

/* ---- elements ---- */

/* Lengths of a dataset of the last commit that has become smaller. */
static int became_smaller(struct merging *m, uint64_t id, bool *smaller)
{
    struct stored_object was = {0}, is = {0};
    int err = object_load(m->last, id, &was);

    *smaller = false;
    if (!err)
        err = object_load(m->f, id, &is);
    for (int d = 0; !err && was.rec.rank != FMT_RANK_NULL && d < was.rec.rank; d++)
        *smaller |= is.rec.len[d] < was.rec.len[d];
    object_release(&was);
    object_release(&is);
    return err;
}

int merge_written(drep_file *f, struct changes *all, size_t n, const struct changes *of, int rank,
                  uint64_t own, uint64_t *id)
{
    static const char wrote[] = "written elements of it";
    struct merging m;
    struct changes none = {.rank = rank};
    const struct new_object *o;
    bool smaller = false;
    struct key key;
    int err = 0;

    *id = own;
    if (own >= ranks_first_new(f)) {
        o = of ? changes_made(of, own) : NULL;
        *id = of == all ? own : o ? o->id : 0;
        return *id ? 0 : fail(DREP_ERR_FAILED, "rank %d has not sent a dataset", rank);
    }
    if ((err = merge_begin(&m, f, all, n)))
        return err;
    m.c = &none;
    key_make(&key, own, FMT_TAG_OBJECT);
    for (size_t i = 0; !err && i < n; i++) {
        const struct changes *c = &all[i];
        const struct change *e = c == of ? NULL : changes_find(c, key.p, key.len);
        bool alike = shrunk_alike(changes_shrunk(c, own), of ? changes_shrunk(of, own) : NULL);

        if (e && !e->value)
            err = contradict_deeds(&m, own, c->rank, removed, rank, wrote);
        else if (e && !alike && !(err = became_smaller(&m, own, &smaller)) && smaller)
            err = contradict_deeds(&m, own, c->rank, "made it smaller", rank, wrote);
    }
    end(&m);
    return err;
}
