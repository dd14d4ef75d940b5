/* merge_names.c - links and dimensions of groups that were there.
 *
 * A name that was removed and one that was added may lead to one object: a move.  So names are
 * dropped first, then added, and objects lose their links at last. */
/* SPDX-License-Identifier: MIT */
#include "par/contradiction.h"
#include "base/mem.h"
#include "base/vec.h"
#include "name/dim_entry.h"
#include "name/link.h"
#include "whole/remove.h"

#include <stdlib.h>
#include <string.h>

/* A name to add, or an object that one name less leads to. */
struct added_name {
    const struct change *e;
    uint64_t group;
    struct link_rec link; /* of a dimension, its index and object */
};
struct dropped_name {
    uint8_t tag;
    uint64_t object;
};

struct naming {
    struct merging *m;
    struct added_name *added;
    size_t nadded, added_room;
    struct dropped_name *dropped;
    size_t ndropped, dropped_room;
};

/* ---- entries ---- */

/* Read a link; the entry of a dimension becomes a hard link to it.  *link points into the bytes. */
static int read_as_link(const struct merging *m, uint8_t tag, const struct span *value,
                        struct link_rec *link)
{
    struct dim_rec dim;
    int err = tag == FMT_TAG_LINK ? read_link(m, value, link) : read_dim(m, value, &dim);

    if (!err && tag != FMT_TAG_LINK)
        *link = (struct link_rec){.kind = dim.kind == FMT_LATER ? FMT_LATER : FMT_HARD,
                                  .number = dim.number,
                                  .flags = dim.flags,
                                  .object_kind = FMT_DIMENSION,
                                  .index = dim.index,
                                  .object = dim.object,
                                  .tail = dim.tail};
    return err;
}

/* True if both links lead to the same object, or if both are absent (NULL). */
static bool alike(const struct link_rec *a, const struct link_rec *b)
{
    if (!a || !b)
        return !a && !b;
    return a->kind == b->kind && (a->kind != FMT_HARD || a->object == b->object) &&
           (a->kind == FMT_HARD ||
            (same_span(&a->file, &b->file) && same_span(&a->path, &b->path))) &&
           (a->kind != FMT_LATER || (a->number == b->number && same_span(&a->tail, &b->tail)));
}

/* The name at the end of a key. */
static const char *name_of(const struct change *e, char name[FMT_NAME_MAX + 1])
{
    size_t n = e->key_len - FMT_KEY_HEAD < FMT_NAME_MAX ? e->key_len - FMT_KEY_HEAD : FMT_NAME_MAX;

    memcpy(name, e->key + FMT_KEY_HEAD, n);
    name[n] = '\0';
    return name;
}

/* ---- dropping ---- */

static int drop(struct naming *x, const struct change *e, uint64_t group,
                const struct link_rec *was)
{
    char name[FMT_NAME_MAX + 1];
    uint8_t tag = change_tag(e);
    int err = tag == FMT_TAG_LINK ? link_drop(x->m->f, group, name_of(e, name))
                                  : dim_entry_drop(x->m->f, group, name_of(e, name));

    if (err || was->kind != FMT_HARD)
        return err;
    if (VEC_ROOM(x->dropped, x->ndropped, x->dropped_room, 1))
        return fail_nomem();
    x->dropped[x->ndropped++] = (struct dropped_name){tag, was->object};
    return 0;
}

static int add_later(struct naming *x, const struct change *e, uint64_t group,
                     const struct link_rec *link)
{
    if (VEC_ROOM(x->added, x->nadded, x->added_room, 1))
        return fail_nomem();
    x->added[x->nadded++] = (struct added_name){e, group, *link};
    return 0;
}

/* The rank has added a name of an object, or dropped one.  No other may have moved it. */
static int check_moves(struct merging *m, const struct link_rec *link)
{
    if (!link || link->kind != FMT_HARD || link->object >= m->first_new)
        return 0;
    for (const struct changes *c = m->all; c < m->c; c++)
        if (idset_find(&c->moved, link->object))
            return contradict_deeds(m, link->object, c->rank, "moved it", m->c->rank,
                                    "moved it elsewhere");
    return 0;
}

/* Compare one name in three ways; drop it where it led, if the rank has changed that. */
static int change_name(struct naming *x, const struct change *e, uint64_t group)
{
    struct merging *m = x->m;
    struct span was_bytes, is_bytes, own_bytes = change_value(e);
    struct link_rec was_rec, is_rec, own_rec, *was, *is, *own;
    uint8_t tag = change_tag(e);
    int err = three_ways(m, e, group, &was_bytes, &is_bytes);

    was = was_bytes.p ? &was_rec : NULL;
    is = is_bytes.p ? &is_rec : NULL;
    own = own_bytes.p ? &own_rec : NULL;
    if (!err && was)
        err = read_as_link(m, tag, &was_bytes, was);
    if (!err && is)
        err = read_as_link(m, tag, &is_bytes, is);
    if (!err && own)
        err = read_as_link(m, tag, &own_bytes, own);
    if (!err && own && own->kind == FMT_HARD && dim_is_above(m, own->object))
        return 0;
    if (!err && own)
        err = translate_link(m, own);
    if (err || alike(was, own) || alike(is, own))
        return err;
    if (!alike(was, is))
        return contradict_name(m, e, group, is, own);
    err = check_moves(m, was);
    if (!err)
        err = check_moves(m, own);
    if (!err && was)
        err = drop(x, e, group, was);
    return err || !own ? err : add_later(x, e, group, own);
}

/* ---- adding ---- */

/* By group, and as the rank made them. */
static int names_by_index(const void *a, const void *b)
{
    const struct added_name *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->link.index > y->link.index) - (x->link.index < y->link.index);
}

static int add_link(struct merging *m, struct added_name *a)
{
    bool kept = a->link.kind == FMT_HARD && !is_given(m, a->link.object);
    char name[FMT_NAME_MAX + 1];
    struct head_edit e;
    int err = link_add(m->f, a->group, name_of(a->e, name), &a->link);

    if (!err && kept)
        err = head_edit(m->f, a->link.object, &e);
    if (err || !kept)
        return err;
    m->moved |= a->link.object_kind == FMT_GROUP;
    e.h.links++;
    return head_edited(m->f, &e);
}

static int add_dimension(struct merging *m, const struct added_name *a)
{
    struct dim_rec dim = {
        .kind = FMT_PLAIN, .flags = a->link.flags, .object = a->link.object, .tail = a->link.tail};
    char name[FMT_NAME_MAX + 1];

    return dim_entry_add(m->f, a->group, name_of(a->e, name), &dim);
}

/* Moves of several ranks may put groups into each other. */
static int no_circle(struct merging *m, const struct added_name *a)
{
    struct link_rec link = a->link;
    bool circle = false;
    int err = 0;

    if (link.kind == FMT_HARD && link.object_kind == FMT_GROUP)
        err = group_reaches(m->f, link.object, a->group, &circle);
    return err || !circle ? err : contradict_circle(m, a->e, a->group);
}

/* ---- all of a rank ---- */

static int change_names(struct naming *x)
{
    struct merging *m = x->m;
    int err = 0;

    for (size_t i = 0; !err && i < m->c->n; i++) {
        const struct change *e = &m->c->entry[i];
        uint8_t tag = change_tag(e);
        uint64_t group;
        bool kept;

        if ((tag != FMT_TAG_LINK && tag != FMT_TAG_DIM))
            continue;
        group = merged_object(m, change_id(e), &kept);
        if (kept)
            err = change_name(x, e, group);
    }
    return err;
}

/* Objects that were moved have another link by now. */
static int drop_links(struct naming *x)
{
    struct merging *m = x->m;
    int err = 0;

    for (size_t i = 0; !err && i < x->ndropped; i++) {
        uint64_t id = x->dropped[i].object;

        if (x->dropped[i].tag == FMT_TAG_LINK)
            err = object_unlink(m->f, id);
        else if (changes_removed(m->c, id))
            err = object_remove(m->f, id);
    }
    return err;
}

int merge_names(struct merging *m)
{
    struct naming x = {.m = m};
    int err = change_names(&x);

    if (x.nadded > 1)
        qsort(x.added, x.nadded, sizeof *x.added, names_by_index);
    for (size_t i = 0; !err && i < x.nadded; i++)
        err = change_tag(x.added[i].e) == FMT_TAG_LINK ? add_link(m, &x.added[i])
                                                       : add_dimension(m, &x.added[i]);
    for (size_t i = 0; !err && m->moved && i < x.nadded; i++)
        err = no_circle(m, &x.added[i]);
    if (!err)
        err = drop_links(&x);
    paths_clear(m->f);
    mem_free(x.added);
    mem_free(x.dropped);
    return err;
}
