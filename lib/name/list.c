/* list.c - the call that lists the members of a group.
 *
 * The callback may use the file, so the lock is not held while it runs.  To take and give it back
 * costs more than to find a link: links are copied in batches.  Where the callback may change the
 * group a batch is one link. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "base/rwlock.h"
#include "base/sized.h"
#include "base/vec.h"
#include "name/external.h"
#include "name/link.h"
#include "name/path.h"
#include "tree/walk.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, BATCH_BYTES = 8192 /* of texts, from which on a batch ends */ };

/* A copied link.  Texts are offsets in the batch's, each ended by a NUL; spans of the record point
 * nowhere any more. */
struct batch_link {
    struct link_rec rec;
    size_t name, path, file; /* 0: none, of path and file */
};
struct batch {
    int n, most;
    struct batch_link link[BATCH];
    struct buf text;
};

/* The links that a listing has yet to give: by name a walk, by creation all names at once, sorted
 * by the indices in their records. Names stand one behind the other in `names`, each ended by a
 * NUL. */
struct listed_link {
    uint64_t index;
    size_t name; /* its place in names */
};
struct link_listing {
    drep_file *f;
    uint64_t group;
    int order;
    struct tree_walk walk;
    struct listed_link *p;
    size_t n, room, at;
    struct buf names;
    bool sorted; /* the links at p, so far */
    struct batch batch;
};

/* Of a listing that failed half-way too. */
static void listing_free(struct link_listing *l)
{
    mem_free(l->p);
    buf_release(&l->names);
    buf_release(&l->batch.text);
    mem_free(l);
}

/* ---- batches ---- */

/* Copy the texts of the link whose record stands in the batch already: it is decoded there, since
 * to copy what was just written makes the processor wait.  TREE_ENOUGH when the batch is full. */
static inline int batch_add(struct batch *b, const void *name, size_t len)
{
    struct batch_link *to = &b->link[b->n];
    const struct link_rec *link = &to->rec;
    int err;

    to->path = to->file = 0;
    err = buf_add_text(&b->text, name, len, &to->name);
    if (!err && (link->kind == FMT_SOFT || link->kind == FMT_EXTERNAL))
        err = buf_add_text(&b->text, link->path.p, link->path.len, &to->path);
    if (!err && link->kind == FMT_EXTERNAL)
        err = buf_add_text(&b->text, link->file.p, link->file.len, &to->file);
    if (err)
        return fail_nomem();
    return ++b->n == b->most || b->text.len >= BATCH_BYTES ? TREE_ENOUGH : 0;
}

static const char *batch_text(const struct batch *b, size_t at)
{
    return at ? (const char *)b->text.p + at : NULL;
}

static drep_linkinfo batch_info(const struct batch *b, const struct batch_link *link)
{
    const struct link_rec *rec = &link->rec;
    drep_linkinfo info = {.name = (const char *)b->text.p + link->name,
                          .link = rec->kind,
                          .target = batch_text(b, link->path),
                          .target_file = batch_text(b, link->file),
                          .index = rec->index};

    if (rec->kind == FMT_LATER) {
        info.link = DREP_LINK_UNKNOWN;
        info.number = rec->beyond ? -1 : rec->number;
        info.flags = rec->flags;
    } else if (rec->kind == FMT_HARD) {
        info.id = rec->object;
        info.kind = rec->object_kind;
        if (info.kind < DREP_OBJ_GROUP || info.kind > DREP_OBJ_DIMENSION) {
            info.kind = DREP_OBJ_UNKNOWN;
            info.number = rec->object_kind;
        }
    }
    return info;
}

/* Give the callback the links of a batch; *theirs is what it gave. */
static int batch_give(drep_file *f, const struct batch *b, drep_list_fn *fn, void *ctx, int *theirs)
{
    rwlock_read_done(&f->lock);
    walk_begin(f);
    for (int i = 0; i < b->n && *theirs == 0; i++) {
        drep_linkinfo info = batch_info(b, &b->link[i]);

        *theirs = fn(&info, ctx);
    }
    walk_end();
    return read_begin(f);
}

/* ---- links ---- */

static inline int entry_link(const struct key *key, const uint8_t *value, size_t len,
                             struct link_rec *link)
{
    const uint8_t *name = key->p + LINK_NAME_AT;
    size_t name_len = key->len - LINK_NAME_AT;

    if (name_stored_check(name, name_len) != 0)
        return fail(DREP_ERR_FORMAT, "invalid link name of %zu bytes (R7.10)", name_len);
    return link_decode((const char *)name, name_len, value, len, link);
}

/* An entry of the walk for the batch. */
static int add_entry(void *ctx, const struct key *key, const uint8_t *value, size_t len)
{
    struct link_listing *l = ctx;
    struct batch *b = &l->batch;
    int err = entry_link(key, value, len, &b->link[b->n].rec);

    return err ? err : batch_add(b, key->p + LINK_NAME_AT, key->len - LINK_NAME_AT);
}

/* An entry of the walk for the list of all names. */
static int add_name(void *ctx, const struct key *key, const uint8_t *value, size_t len)
{
    struct link_listing *l = ctx;
    struct link_rec link;
    size_t at;
    int err = entry_link(key, value, len, &link);

    if (err)
        return err;
    if (VEC_ROOM(l->p, l->n, l->room, 1) != 0 ||
        buf_add_text(&l->names, key->p + LINK_NAME_AT, key->len - LINK_NAME_AT, &at) != 0)
        return fail_nomem();
    l->p[l->n] = (struct listed_link){link.index, at};
    l->sorted &= l->n == 0 || l->p[l->n - 1].index < link.index;
    l->n++;
    return 0;
}

static int links_by_index(const void *a, const void *b)
{
    uint64_t x = ((const struct listed_link *)a)->index, y = ((const struct listed_link *)b)->index;

    return (x > y) - (x < y);
}

/* Collect the names of all links in the order of their creation. */
static int names_load(struct link_listing *l)
{
    int err;

    l->sorted = true;
    while (!(err = tree_each(&l->walk, add_name, l)))
        ;
    if (err == DREP_ERR_NOT_FOUND && !l->sorted)
        qsort(l->p, l->n, sizeof *l->p, links_by_index);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int listing_begin(struct link_listing *l, drep_file *f, uint64_t group, int order)
{
    struct key key;

    l->f = f;
    l->group = group;
    l->order = order;
    l->batch.most = store_writable(f->st) ? 1 : BATCH;
    key_make(&key, group, FMT_TAG_LINK);
    tree_walk(&l->walk, f->st, &key, LINK_NAME_AT);
    return order == DREP_BY_NAME ? 0 : names_load(l);
}

/* Add the next link by creation, if it is still there. */
static int add_created(struct link_listing *l)
{
    const struct listed_link *next = &l->p[l->at++];
    const char *name = (const char *)l->names.p + next->name;
    struct batch *b = &l->batch;
    struct link_rec *link = &b->link[b->n].rec;
    struct peek peek;
    int err = link_peek(l->f, l->group, name, strlen(name), link, &peek);

    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (link->index == next->index)
        err = batch_add(b, name, strlen(name));
    tree_peeked(&peek);
    return err;
}

/* Fill the batch; DREP_ERR_NOT_FOUND: there are no more links. The callback may have changed the
 * tree since the last batch: by name the walk goes on behind the last key, by creation those that
 * are gone are left out. */
static int listing_next(struct link_listing *l)
{
    int err = 0;

    l->batch.n = 0;
    l->batch.text.len = 0;
    if (l->walk.st != l->f->st) { /* the callback returned in a child process */
        struct key key = l->walk.at;

        tree_walk(&l->walk, l->f->st, &key, LINK_NAME_AT);
        l->walk.after = 1;
    }
    if (l->order == DREP_BY_NAME)
        return tree_each(&l->walk, add_entry, l);
    while (!err && l->at < l->n)
        err = add_created(l);
    if (err == TREE_ENOUGH)
        err = 0;
    return !err && l->batch.n == 0 ? DREP_ERR_NOT_FOUND : err;
}

static int list_links(struct link_listing *l, drep_list_fn *fn, void *ctx, int *theirs)
{
    int err = 0;

    while (!err && *theirs == 0) {
        err = listing_next(l);
        if (!err)
            err = batch_give(l->f, &l->batch, fn, ctx, theirs);
    }
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

static int list_group(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx,
                      int *theirs)
{
    struct stored_object o = {0};
    struct link_listing *l = NULL;
    int err = path_find(file, group, &o);

    if (!err && o.rec.kind != FMT_GROUP)
        err = fail_object(DREP_ERR_KIND, group, "%s: not a group", group);
    object_release(&o);
    if (err)
        return err;
    l = mem_zalloc(1, sizeof *l);
    if (!l)
        return fail_nomem();
    err = listing_begin(l, file, o.id, order);
    if (!err)
        err = list_links(l, fn, ctx, theirs);
    listing_free(l);
    return err;
}

int drep_list(drep_file *file, const char *group, int order, drep_list_fn *fn, void *ctx)
{
    struct external_target to;
    int err = order_valid("drep_list", order), theirs = 0;

    if (!err)
        err = external_target(file, group, &to);
    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_list(to.file, to.path, order, fn, ctx));
    if ((err = read_begin(file)))
        return err;
    err = !fn ? fail(DREP_ERR_ARG, "drep_list: no callback")
              : list_group(file, group, order, fn, ctx, &theirs);
    if (theirs != 0 && !err) {
        rwlock_read_done(&file->lock);
        return theirs;
    }
    return read_end(file, err);
}
