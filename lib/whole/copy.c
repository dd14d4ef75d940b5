/* copy.c - objects with all that belongs to them, within a file or from one to another.
 *
 * First the objects are gathered that hard links lead to; in ascending order they get new
 * ids, so that an id is found again by its place, and then their entries are copied one
 * after the other, with the ids in them changed.  A whole file goes into an empty one with
 * the ids it has; then nothing is gathered and nothing grows with the number of objects.
 *
 * A partial copy always gathers: each object is looked at then, before anything is written, so that
 * one that a newer version wrote is left out whole, with the links to it. */
/* SPDX-License-Identifier: MIT */
#include "whole/copy.h"

#include "base/advance.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/sized.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/filter.h"
#include "conv/refs.h"
#include "elem/create.h"
#include "elem/describe.h"
#include "elem/fill.h"
#include "file/team.h"
#include "io/io.h"
#include "name/attr.h"
#include "name/dim_entry.h"
#include "name/dimension.h"
#include "name/find.h"
#include "name/link.h"
#include "name/path.h"
#include "space/slots.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/walk.h"
#include "txn/writeback.h"
#include "whole/copy_payload.h"
#include "whole/unknown.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum type_form { OF_ATTR, OF_DATASET, OF_NAMED };

/* A datatype of the source as the target names it; uses that are not counted there yet. */
struct type_at {
    uint32_t to;
    uint64_t uses;
};

/* A representation of the source as the target has it. */
struct rep_at {
    const struct file_datarep *from;
    struct file_datarep *to;
    const struct file_rep *rep; /* that of `to`, with functions if they are here */
};

/* Representations of a dataset and of its copy. */
struct rep_pair {
    const struct file_datarep *from, *to;
};

/* A dimension that was not gathered, and its length there. */
struct dim_copied {
    uint64_t from, to, len;
};

struct dataset_copy { /* a dataset whose record is written */
    drep_dataset *source;
    const struct file_rep *rep; /* of the copy */
    bool same, refers, reshaped, emptied;
};

/* In copy.looked. */
enum { COPIED = 1, LEFT_OUT };

struct copy {
    drep_file *from, *to;
    const drep_copying *how;
    bool whole;    /* everything, into an empty file, under the same ids */
    bool same_ids; /* likewise, but only what is gathered */
    /* The objects, ascending; how many of the links lead to each; the id of the first. */
    uint64_t *id;
    uint32_t *links;
    size_t n, room;
    uint64_t base;
    struct idset looked;    /* partial: objects by id, with COPIED or LEFT_OUT */
    struct idset dropped;   /* partial: groups, with the number of their links that are left out */
    struct unknown unknown; /* what is left out */
    uint8_t kind;           /* of the object that is copied */
    struct idset types;     /* reference and form of each, with its number in type[], from 1 */
    struct type_at *type;   /* in the order of their first use */
    size_t ntypes, type_room;
    struct rep_at *rep; /* kept ones, in the order of their first use */
    size_t nreps, rep_room;
    struct rep_pair *pair; /* in the order of their first use */
    size_t npairs, pair_room;
    struct dim_copied *dim;
    size_t ndims, dim_room;
    copy_dimension_fn *dim_path; /* NULL, or where the caller copied dimensions to */
    void *dim_ctx;
    const char *path; /* of the copy */
    uint64_t group;   /* that it comes into */
    drep_report report;
    struct buf value, out;
    struct advance *advance;
    atomic_bool stopped; /* a function of the caller's ended it */
};

/* Keeps what a function of the caller's said. */
static int keep_answer(struct copy *c, int theirs)
{
    if (theirs != 0)
        c->stopped = true;
    return theirs;
}

/* ---- ids ---- */

/* The place of an object among the gathered, by which it gets its new id; c->n if it is not there.
 */
static size_t place_of(const struct copy *c, uint64_t id)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (c->id[mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->n && c->id[low] == id ? low : c->n;
}

static uint64_t new_id_of(const struct copy *c, size_t at)
{
    return c->same_ids ? c->id[at] : c->base + at;
}

/* A reference to an object that stays behind in another file becomes none. */
static uint64_t map_reference(void *ctx, uint64_t id)
{
    const struct copy *c = ctx;
    size_t at = place_of(c, id);

    if (at < c->n)
        return new_id_of(c, at);
    return c->from == c->to ? id : 0;
}

/* ---- things that a newer version wrote ---- */

static bool is_later(int err)
{
    return err == DREP_ERR_UNSUPPORTED || err == DREP_ERR_UNSUPPORTED_DATAREP;
}

static bool is_partial(const struct copy *c)
{
    return c->how->left_out != NULL;
}

/* Tells that something of this object is left out, for the error that was reported last. */
static int leave_out(struct copy *c, uint64_t id)
{
    struct fail_state why;

    fail_save(&why);
    return keep_answer(c, c->how->left_out(id, why.text, c->how->ctx));
}

/* Gives err back, but 0 for something of a newer version that a partial copy leaves out, told. */
static int leave_later(struct copy *c, uint64_t id, int err)
{
    return err == DREP_ERR_UNSUPPORTED && is_partial(c) ? leave_out(c, id) : err;
}

static int leave_link(struct copy *c, uint64_t group, const char *name, size_t len, uint64_t id)
{
    fail(DREP_ERR_UNSUPPORTED, "link \"%.*s\" leads to object %llu, which is left out", (int)len,
         name, (unsigned long long)id);
    return leave_out(c, group);
}

/* Counts a link that the copy of the group lacks. */
static int drop_link(struct copy *c, uint64_t group)
{
    uintptr_t *n = idset_add(&c->dropped, group);

    if (!n)
        return fail_nomem();
    ++*n;
    return 0;
}

static int ignore_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    (void)coord, (void)rec, (void)ctx;
    return 0;
}

/* True if a copy of the dataset has the representation of its source for certain. */
static bool keeps_rep(const struct copy *c, const drep_dataset *ds, const char *name)
{
    return name ? strcmp(name, DREP_DATAREP_STORED) == 0
                : c->from == c->to || rep_same(file_default(c->to), ds->entry);
}

/* ---- plans ---- */

static bool is_emptied(const struct copy *c, uint64_t dim)
{
    return dim != 0 && dim == c->how->emptied;
}

/* Leave the elements of a dataset out that has the emptied dimension. */
static bool empty_dataset(const struct copy *c, struct object_rec *rec)
{
    bool emptied = false;

    for (int d = 0; rec->has_dims && rec->rank != FMT_RANK_NULL && d < rec->rank; d++)
        if (is_emptied(c, rec->dim[d])) {
            emptied = true;
            rec->has_max = true;
            rec->max[d] = FMT_UNLIMITED;
            rec->len[d] = 0;
        }
    return emptied;
}

/* The copy's length of a dimension of the dataset. */
static uint64_t copied_len(const struct copy *c, const struct object_rec *rec, int d)
{
    return c->how->selection ? (uint64_t)c->how->selection->dim[d].n : rec->len[d];
}

/* A maximum that is the length stays that. */
static uint64_t copied_max(const struct copy *c, const struct object_rec *rec, int d)
{
    return rec->max[d] == rec->len[d] ? copied_len(c, rec, d) : rec->max[d];
}

static bool is_cut(const struct copy *c, const struct object_rec *rec, int d)
{
    return copied_len(c, rec, d) != rec->len[d];
}

/* Give the record of the copy the lengths of the selection. */
static bool cut_dataset(const struct copy *c, const struct object_rec *was, struct object_rec *rec)
{
    for (int d = 0; c->how->selection && d < c->how->selection->rank; d++) {
        rec->len[d] = copied_len(c, was, d);
        rec->max[d] = copied_max(c, was, d);
    }
    return c->how->selection;
}

/* Refuse a selection that is no box of single elements of a dataset with this record. */
static int selection_fits(const drep_selection *sel, const struct object_rec *rec)
{
    int rank = rec->rank == FMT_RANK_NULL ? 0 : rec->rank;
    bool box = selection_is_box(sel);

    if (rec->kind != FMT_DATASET)
        return fail(DREP_ERR_KIND, "a selection of what is not a dataset");
    if (sel->rank != rank)
        return fail(DREP_ERR_DIMS, "selection of rank %d in a dataset of rank %d", sel->rank, rank);
    for (int d = 0; box && d < rank; d++) {
        const struct span_dim *s = &sel->dim[d];

        box = s->block == 1;
        if (s->n > 0 && (uint64_t)span_at(s, s->n - 1) >= rec->len[d])
            return fail(DREP_ERR_RANGE, "dimension %d: index %lld is outside its length %llu", d,
                        (long long)span_at(s, s->n - 1), (unsigned long long)rec->len[d]);
    }
    return box ? 0
               : fail(DREP_ERR_UNSUPPORTED_OPERATION,
                      "only a box of single elements can be copied");
}

static int check_selection(const struct copy *c, uint64_t id)
{
    struct stored_object o = {0};
    int err;

    if (c->from == c->to || c->how->emptied)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "a selection needs another file, and no dimension to be emptied");
    err = object_load(c->from, id, &o);
    if (!err)
        err = selection_fits(c->how->selection, &o.rec);
    object_release(&o);
    return err;
}

static void spec_of(const drep_dataset *ds, drep_spec *spec, int64_t *dims, int64_t *max,
                    int64_t *chunk, drep_filter *filter)
{
    const struct object_rec *rec = &ds->rec;

    *spec = DREP_SPEC(.type = ds->ft->type);
    spec->rank = rec->rank == FMT_RANK_NULL ? DREP_NULL_SPACE : rec->rank;
    for (int d = 0; d < spec->rank; d++) {
        dims[d] = (int64_t)rec->len[d];
        max[d] = rec->max[d] == FMT_UNLIMITED ? DREP_UNLIMITED : (int64_t)rec->max[d];
        chunk[d] = rec->layout == FMT_CHUNKED ? rec->chunk[d] : 0;
    }
    spec->dims = dims;
    spec->maxdims = max;
    spec->layout = rec->layout;
    spec->chunk = rec->layout == FMT_CHUNKED ? chunk : NULL;
    dataset_filters(ds, filter);
    spec->filters = filter;
    spec->nfilters = rec->nfilters;
    spec->fill = rec->fill;
}

static bool spec_changed(const drep_spec *a, const drep_spec *b)
{
    if (a->layout != b->layout || (!a->chunk) != (!b->chunk) || a->nfilters != b->nfilters ||
        a->filters != b->filters)
        return true;
    return a->chunk != b->chunk;
}

/* The planned copy of a dataset, which the caller may change. */
struct copy_plan {
    drep_spec was, spec;
    int64_t dims[DREP_MAX_RANK], max[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    drep_filter filter[DREP_MAX_FILTERS];
};

/* A chunk that cannot be filled is cut, too. */
static void cut_plan(const struct copy *c, const struct object_rec *rec, int d, struct copy_plan *p)
{
    uint64_t max = copied_max(c, rec, d);

    p->dims[d] = (int64_t)copied_len(c, rec, d);
    p->max[d] = max == FMT_UNLIMITED ? DREP_UNLIMITED : (int64_t)max;
    if (p->chunk[d] > 1 && (uint64_t)p->chunk[d] > max)
        p->chunk[d] = max > 0 ? (int64_t)max : 1;
}

static int ask_plan(struct copy *c, const drep_dataset *ds, struct copy_plan *p)
{
    spec_of(ds, &p->spec, p->dims, p->max, p->chunk, p->filter);
    for (int d = 0; d < p->spec.rank; d++) {
        if (is_emptied(c, ds->rec.has_dims ? ds->rec.dim[d] : 0))
            p->max[d] = DREP_UNLIMITED;
        if (c->how->selection)
            cut_plan(c, &ds->rec, d, p);
    }
    p->was = p->spec;
    return c->how->plan ? keep_answer(c, c->how->plan(ds->id, &p->spec, c->how->ctx)) : 0;
}

/* ---- gathering ---- */

/* Filters that only a newer version knows hinder a copy whose elements do not stay encoded. */
static int look_at_filters(struct copy *c, const drep_dataset *ds)
{
    const char *name = c->how->datarep;
    struct copy_plan plan;
    int err = filters_later(ds->rec.filter, ds->rec.nfilters), asked;

    if (!err)
        return 0;
    if ((asked = ask_plan(c, ds, &plan)))
        return asked;
    if (plan.spec.datarep)
        name = plan.spec.datarep;
    if (!spec_changed(&plan.spec, &plan.was) && keeps_rep(c, ds, name) &&
        !type_refers(ds->ft->type))
        return 0;
    return filters_later(ds->rec.filter, ds->rec.nfilters);
}

/* Can the object be copied?  DREP_ERR_UNSUPPORTED, DREP_ERR_UNSUPPORTED_DATAREP: only a newer
 * version knows all of it. */
static int look_at(struct copy *c, uint64_t id)
{
    struct stored_object o = {0};
    drep_dataset *ds = NULL;
    struct ftype *ft;
    char name[40];
    int err = object_load(c->from, id, &o);

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    if (!err && o.rec.kind == FMT_TYPE)
        err = fail_in(ftype_get(c->from, o.rec.type, NULL, &ft), "%s", name);
    if (!err && o.rec.kind == FMT_DATASET) {
        err = dataset_get(c->from, id, name, &ds);
        if (!err)
            err = fail_in(chunk_each(&ds->chunks, ignore_record, NULL), "%s", name);
        if (!err)
            err = fail_in(look_at_filters(c, ds), "%s", name);
        dataset_put(ds);
    }
    object_release(&o);
    return err;
}

/* Looks at the object of a link, once: *copies says whether it and the link are copied. */
static int look_through(struct copy *c, uint64_t group, const struct link_walk *w, bool *copies)
{
    const char *name = (const char *)w->key.p + LINK_NAME_AT;
    uint64_t id = w->link.object;
    uintptr_t *state;
    int err;

    state = idset_add(&c->looked, id);
    if (!state)
        return fail_nomem();
    if (*state == LEFT_OUT) {
        *copies = false;
        return leave_link(c, group, name, w->key.len - LINK_NAME_AT, id);
    }
    *copies = true;
    if (*state == COPIED)
        return 0;
    *state = COPIED;
    err = look_at(c, id);
    if (!is_later(err) || c->stopped)
        return err;
    *state = LEFT_OUT;
    *copies = false;
    return leave_out(c, id);
}

/* Tells which links of a group are left out; *copies: this one is not. */
static int look_at_link(struct copy *c, uint64_t group, const struct link_walk *w, bool *copies)
{
    int err = 0;

    *copies = true;
    if (!is_partial(c))
        return 0;
    if (w->link.kind == FMT_LATER) {
        *copies = false;
        link_later((const char *)w->key.p + LINK_NAME_AT, w->key.len - LINK_NAME_AT, &w->link);
        err = leave_out(c, group);
    } else if (w->link.kind == FMT_HARD) {
        err = look_through(c, group, w, copies);
    }
    return !err && !*copies ? drop_link(c, group) : err;
}

static int gather_add(struct copy *c, uint64_t id)
{
    if (VEC_ROOM(c->id, c->n, c->room, 1) != 0)
        return fail_nomem();
    c->id[c->n++] = id;
    return 0;
}

/* The dimensions of a group. */
static int gather_dimensions(struct copy *c, uint64_t group)
{
    struct dim_walk w;
    int err;

    dim_walk_begin(&w, c->from, group);
    while (!(err = dim_walk_next(&w))) {
        if (w.rec.kind == FMT_LATER)
            err = leave_later(c, group, dim_later(&w.key, &w.rec));
        else if (!is_partial(c) || !(err = look_at(c, w.rec.object)))
            err = gather_add(c, w.rec.object);
        else
            err = leave_later(c, w.rec.object, err);
        if (err)
            break;
    }
    return dim_walk_end(&w, err);
}

/* The members of one group; groups among them join the work. */
static int gather_group(struct copy *c, uint64_t group, struct worklist *work,
                        struct idset *visited)
{
    struct link_walk w;
    int err;

    link_walk_begin(&w, c->from, group);
    while (!(err = is_partial(c) ? link_walk_next(&w) : link_walk_hard(&w))) {
        struct object_head head;
        bool first = false, copies;

        err = look_at_link(c, group, &w, &copies);
        if (!err && (!copies || w.link.kind != FMT_HARD))
            continue;
        if (!err)
            err = gather_add(c, w.link.object);
        if (!err)
            err = head_load(c->from, w.link.object, &head);
        if (!err && head.kind == FMT_GROUP)
            err = idset_mark(visited, w.link.object, &first);
        if (!err && first)
            err = worklist_add(work, w.link.object);
        if (err)
            break;
    }
    err = link_walk_end(&w, err);
    return !err ? gather_dimensions(c, group) : err;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Keeps each object once, with the number of links to it, and reserves new ids for all of them. */
static int reserve_ids(struct copy *c)
{
    size_t n = 0;

    qsort(c->id, c->n, sizeof *c->id, by_id);
    c->links = mem_zalloc(c->n, sizeof *c->links);
    if (!c->links)
        return fail_nomem();
    for (size_t i = 0; i < c->n; i++) {
        if (i > 0 && c->id[i] != c->id[n])
            n++;
        c->id[n] = c->id[i];
        c->links[n]++;
    }
    c->n = n + 1;
    if (!c->same_ids)
        return store_new_objects(c->to->st, c->n, &c->base);
    store_objects(c->to->st, store_objects_end(c->from->st));
    return 0;
}

/* Gathers the objects that hard links lead to: groups from a worklist, so that depth does not
 * matter. */
static int gather_objects(struct copy *c, uint64_t id)
{
    struct object_head head = {.kind = 0};
    struct worklist work = {0};
    struct idset visited = {0};
    bool first;
    int err = gather_add(c, id);

    if (!err && is_partial(c))
        err = look_at(c, id);
    if (!err && is_partial(c) && idset_mark(&c->looked, id, &first))
        err = fail_nomem();
    if (!err)
        err = head_load(c->from, id, &head);
    if (!err)
        c->kind = head.kind;
    if (!err && head.kind == FMT_GROUP) {
        err = idset_mark(&visited, id, &first);
        if (!err)
            err = worklist_add(&work, id);
    }
    while (!err && work.n > 0)
        err = gather_group(c, work.id[--work.n], &work, &visited);
    mem_free(work.id);
    idset_release(&visited);
    return !err ? reserve_ids(c) : err;
}

/* ---- representations ---- */

static int rep_note(struct copy *c, const struct file_datarep *from, struct rep_at *at)
{
    /* Missing functions are an error only when elements must be converted. */
    int err = rep_resolved(c->to, at->to, &at->rep) == DREP_ERR_NOMEM ? fail_nomem() : 0;

    if (!err && VEC_ROOM(c->rep, c->nreps, c->rep_room, 1) != 0)
        err = fail_nomem();
    at->from = from;
    if (!err)
        c->rep[c->nreps++] = *at;
    return err;
}

/* The representation of a copy that keeps it: the same, or an equal one of the other file. */
static int kept_rep(struct copy *c, const drep_dataset *ds, struct rep_at *out)
{
    struct rep_at at = {.rep = &ds->entry->rep};
    int err = 0;

    for (size_t i = 0; i < c->nreps; i++)
        if (c->rep[i].from == ds->entry) {
            *out = c->rep[i];
            return 0;
        }
    if (c->from == c->to)
        at.to = ds->entry;
    else
        err = rep_add_like(c->to, ds->entry, &at.to);
    if (!err) {
        at.rep = &at.to->rep;
        err = rep_note(c, ds->entry, &at);
    }
    if (!err)
        *out = at;
    return err;
}

/* Choose the representation of a copy by its name.  NULL is the default of another file; within
 * one file the copy keeps that of the dataset. */
static int target_rep(struct copy *c, const drep_dataset *ds, const char *name, struct rep_at *out)
{
    struct rep_at at = {.from = ds->entry};
    int err;

    if (!name)
        name = c->how->datarep;
    if (keeps_rep(c, ds, name))
        return kept_rep(c, ds, out);
    err = name ? rep_add(c->to, name, &at.to) : rep_get_number(c->to, 0, &at.to);
    if (!err)
        err = rep_resolved(c->to, at.to, &at.rep);
    if (!err)
        *out = at;
    return err;
}

/* ---- datatypes ---- */

/* Number a pair of representations, from 1. */
static int pair_number(struct copy *c, const struct rep_at *rep, size_t *number)
{
    size_t i = 0;

    while (i < c->npairs && (c->pair[i].from != rep->from || c->pair[i].to != rep->to))
        i++;
    if (i == c->npairs) {
        if (VEC_ROOM(c->pair, c->npairs, c->pair_room, 1) != 0)
            return DREP_ERR_NOMEM;
        c->pair[c->npairs++] = (struct rep_pair){rep->from, rep->to};
    }
    *number = i + 1;
    return 0;
}

/* Finds or stores the datatype in the target; its use is counted now or by types_end(), which adds
 * the uses of a whole file at once.  rep: of a dataset. */
static int map_type(struct copy *c, uint32_t ref, enum type_form form, const struct rep_at *rep,
                    uint32_t *to)
{
    uintptr_t *number;
    struct ftype *ft;
    size_t pair = 0;
    int err = 0;

    if (rep && (err = pair_number(c, rep, &pair)))
        return err;
    if (VEC_ROOM(c->type, c->ntypes, c->type_room, 1) != 0)
        return DREP_ERR_NOMEM;
    number = idset_add(&c->types, (uint64_t)pair << 34 | (uint64_t)ref << 2 | (unsigned)form);
    if (!number)
        return DREP_ERR_NOMEM;
    if (*number > 0) {
        c->type[*number - 1].uses++;
        *to = c->type[*number - 1].to;
        return 0;
    }
    if (form == OF_DATASET)
        err = ftype_use_like(c->to, rep->rep, c->from, ref, &rep->from->rep, to);
    else if (!(err = ftype_get(c->from, ref, NULL, &ft)))
        err = form == OF_NAMED ? ftype_use_memory(c->to, ft->type, to)
                               : ftype_use(c->to, ft->type, NULL, to);
    if (err)
        return err;
    c->type[c->ntypes] = (struct type_at){*to, 0};
    *number = ++c->ntypes;
    return 0;
}

static int types_end(struct copy *c)
{
    int err = 0;

    for (size_t i = 0; !err && i < c->ntypes; i++)
        if (c->type[i].uses > 0)
            err = ftype_use_more(c->to, c->type[i].to, c->type[i].uses);
    return err;
}

/* *same: stored elements of this type are the same bytes under both representations, so that they
 * need not be converted. */
static int same_elements(struct copy *c, uint32_t from, uint32_t to, const drep_dataset *ds,
                         const struct rep_at *rep, bool *same)
{
    *same = (c->from == c->to && rep->to == ds->entry) ||
            rep_same_items(ds->entry, rep->to, ds->ft->type);
    if (!*same || from < FMT_TYPE_FIRST)
        return 0;
    return ftype_same(c->from, from, c->to, to, same);
}

/* ---- dimensions ---- */

static int dim_note(struct copy *c, uint64_t from, uint64_t to, uint64_t len)
{
    if (VEC_ROOM(c->dim, c->ndims, c->dim_room, 1) != 0)
        return DREP_ERR_NOMEM;
    c->dim[c->ndims++] = (struct dim_copied){from, to, len};
    return 0;
}

/* Look for a dimension of this name and length from the new path upwards; one that is unlimited
 * grows.  DREP_ERR_NOT_FOUND: none is near enough, and the group of the copy has none of the name.
 * DREP_ERR_DIMS: that group has one of another length. */
static int dim_alike(struct copy *c, uint64_t len, const char *name, uint64_t *to)
{
    struct stored_object there = {0};
    int err = dimension_find(c->to, c->path, name, &there);

    if (!err && (there.rec.len[0] == len || there.rec.unlimited)) {
        err = dimension_grow(c->to, &there, len);
        *to = there.id;
    } else if (!err && dim_entry_free(c->to, c->group, name) == 0) {
        err = DREP_ERR_NOT_FOUND;
    } else if (!err) {
        err = fail(DREP_ERR_DIMS, "dimension \"%s\" is %llu long there, and not %llu", name,
                   (unsigned long long)there.rec.len[0], (unsigned long long)len);
    }
    object_release(&there);
    return err;
}

/* The length of a dimension that is not cut. */
#define OWN_LEN UINT64_MAX

/* For a dimension that stays behind in another file: one like it that is found from the new path
 * upwards, else a copy. */
static int dim_in_target(struct copy *c, uint64_t id, uint64_t len, uint64_t *to)
{
    struct stored_object dim = {0}, made = {0};
    const char *name = NULL;
    char *path = NULL;
    size_t group_len;
    bool only;
    int err = object_load(c->from, id, &dim);

    if (len != OWN_LEN)
        dim.rec.len[0] = len;
    if (!err && dim.rec.kind != FMT_DIMENSION)
        err = fail(DREP_ERR_FORMAT, "an object that is not a dimension (R7.16)");
    if (!err)
        err = object_path(c->from, id, &path);
    if (!err && !path_dimension(path, &group_len, &name, &only))
        err =
            fail_object(DREP_ERR_FORMAT, path, "%s: not the address of a dimension (R7.19)", path);
    if (!err)
        err = dim_alike(c, dim.rec.len[0], name, to);
    if (err == DREP_ERR_NOT_FOUND && name) {
        err = dimension_make(c->to, c->group, name, dim.rec.len[0], dim.rec.unlimited, &made);
        *to = made.id;
    }
    object_release(&dim);
    object_release(&made);
    mem_free(path);
    return !err ? dim_note(c, id, *to, len) : err;
}

/* A dimension that the caller copied before, by a call of its own. */
static int dim_before(struct copy *c, uint64_t id, uint64_t *to)
{
    const char *path = c->dim_path ? c->dim_path(id, c->dim_ctx) : NULL;
    int err = path ? path_id(c->to, path, to) : DREP_ERR_NOT_FOUND;

    return !err ? dim_note(c, id, *to, OWN_LEN) : err;
}

/* len: of a dimension that is cut, or OWN_LEN. */
static int map_dim(struct copy *c, uint64_t id, uint64_t len, uint64_t *to)
{
    int err;

    size_t at = place_of(c, id);

    if (c->whole || (at == c->n && c->from == c->to)) {
        *to = id;
        return 0;
    }
    if (at < c->n) {
        *to = new_id_of(c, at);
        return 0;
    }
    if (c->same_ids)
        return fail(DREP_ERR_UNSUPPORTED, "its dimension, object %llu, is left out",
                    (unsigned long long)id);
    for (size_t i = 0; i < c->ndims; i++)
        if (c->dim[i].from == id && c->dim[i].len == len) {
            *to = c->dim[i].to;
            return 0;
        }
    err = dim_before(c, id, to);
    return err == DREP_ERR_NOT_FOUND ? dim_in_target(c, id, len, to) : err;
}

static int map_dims(struct copy *c, const struct object_rec *was, uint64_t id, uint64_t new_id,
                    struct object_rec *rec)
{
    int err = 0;

    for (int d = 0; !err && rec->has_dims && rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        uint64_t dim = 0;

        if (rec->dim[d] != 0)
            err = leave_later(
                c, id, map_dim(c, rec->dim[d], is_cut(c, was, d) ? rec->len[d] : OWN_LEN, &dim));
        rec->dim[d] = dim;
    }
    return !err ? dimension_uses_add(c->to, new_id, rec) : err;
}

/* ---- datasets ---- */

/* DREP_ERR_UNSUPPORTED: a filter was applied to this chunk that is not here. */
static int look_at_chunk(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    const drep_dataset *ds = ctx;

    (void)coord;
    return rec->filtered ? filters_known(ds->rec.filter, ds->rec.nfilters, rec->skipped) : 0;
}

static int chunks_known(drep_dataset *ds)
{
    int err = filters_known(ds->rec.filter, ds->rec.nfilters, 0);

    return err == DREP_ERR_UNSUPPORTED ? chunk_each(&ds->chunks, look_at_chunk, ds) : err;
}

/* The representation of the copy.  Where chunks would have to be decoded that nobody here can, the
 * caller may have the dataset kept as it is stored: then the plan is that, too. */
static int choose_rep(struct copy *c, drep_dataset *ds, struct copy_plan *p, struct rep_at *rep)
{
    struct fail_state why;
    int err = target_rep(c, ds, p->spec.datarep, rep);

    if (err || !c->how->kept)
        return err;
    if (!spec_changed(&p->spec, &p->was) && rep_same_items(ds->entry, rep->to, ds->ft->type))
        return 0;
    err = chunks_known(ds);
    if (err != DREP_ERR_UNSUPPORTED)
        return err;
    fail_save(&why);
    err = keep_answer(c, c->how->kept(ds->id, why.text, c->how->ctx));
    if (err)
        return err;
    p->spec = p->was;
    return target_rep(c, ds, DREP_DATAREP_STORED, rep);
}

/* Leaves a filter of numbers out where they have other sizes than it knows. */
static bool drop_delta(drep_spec *spec, drep_filter *filter)
{
    int n = 0;

    for (int i = 0; i < spec->nfilters; i++)
        if (filter[i].id != DREP_FILTER_DELTA)
            filter[n++] = filter[i];
    if (n == spec->nfilters)
        return false;
    spec->nfilters = n;
    return true;
}

/* How the dataset is kept in the target: as it is, unless the caller wants it otherwise, or its
 * layout does not fit there. */
static int plan_dataset(struct copy *c, const drep_dataset *ds, struct copy_plan *p,
                        const struct rep_at *rep, struct ftype *target, struct object_rec *rec,
                        bool reshaped)
{
    drep_spec *spec = &p->spec, *was = &p->was;
    struct object_rec plan;
    int err;

    if (rec->layout == FMT_LAYOUT_NULL)
        return 0;
    if (!reshaped && !spec_changed(spec, was) &&
        (ds->esize == target->stored.extent || rec->nfilters == 0) &&
        (rec->layout != FMT_COMPACT || shape_check(rec, target) == 0))
        return 0;
    if (rec->layout == FMT_COMPACT && spec->layout == DREP_COMPACT && shape_check(rec, target) != 0)
        spec->layout = DREP_LAYOUT_AUTO; /* it has outgrown that */
    spec->rank = was->rank;
    spec->dims = was->dims;
    spec->maxdims = was->maxdims;
    memset(&plan, 0, sizeof plan);
    err = dataset_plan(c->to, rep->rep, spec, target, &plan);
    if (err == DREP_ERR_TYPE && spec->filters == was->filters && drop_delta(spec, p->filter)) {
        memset(&plan, 0, sizeof plan);
        err = dataset_plan(c->to, rep->rep, spec, target, &plan);
    }
    if (err)
        return err;
    rec->layout = plan.layout;
    rec->slab = plan.slab;
    memcpy(rec->chunk, plan.chunk, sizeof rec->chunk);
    rec->suffix = plan.suffix;
    rec->nfilters = plan.nfilters;
    memcpy(rec->filter, plan.filter, sizeof rec->filter);
    return 0;
}

/* No report has indices: they would be of items of many datasets. */
static int add_report(struct copy *c, uint64_t id, const struct losses *r)
{
    drep_report lost = DREP_REPORT;
    struct losses counts = *r;

    counts.first_overflow = counts.first_inexact = counts.first_nan_lost = -1;
    losses_report(&counts, &c->report);
    if (!c->how->lost || (r->overflow == 0 && r->inexact == 0 && r->nan_lost == 0))
        return 0;
    losses_report(&counts, &lost);
    return keep_answer(c, c->how->lost(id, &lost, c->how->ctx));
}

static int copy_bytes_done(int64_t bytes, void *ctx)
{
    struct copy *c = ctx;

    int stop = advance_add(c->advance, bytes);

    return keep_answer(c, stop || !c->how->progress ? stop : c->how->progress(bytes, c->how->ctx));
}

static bool is_serial(const struct file_rep *rep)
{
    return rep->datarep && rep->datarep->flags & DREP_REP_SERIAL;
}

static int copy_elements(struct copy *c, const struct dataset_copy *m, uint64_t new_id)
{
    struct payload_copy payload = {.from = m->source,
                                   .cut = c->how->selection,
                                   .same_elements = m->same,
                                   .range = c->how->range,
                                   .threads = c->how->threads,
                                   .external = c->how->external,
                                   .map = m->refers ? map_reference : NULL,
                                   .map_ctx = c,
                                   .progress = copy_bytes_done,
                                   .ctx = c};
    char name[40];
    int err;

    if (payload.range == DREP_RANGE_DEFAULT)
        payload.range = DREP_RANGE_STRICT;
    if (payload.threads <= 0)
        payload.threads = (int)c->to->hints.threads;
    if (payload.threads <= 0)
        payload.threads = pool_cpus();
    if (is_serial(m->source->rep) || is_serial(m->rep))
        payload.threads = 1;
    snprintf(name, sizeof name, "object %llu", (unsigned long long)new_id);
    err = dataset_get(c->to, new_id, name, &payload.to);
    if (!err)
        err = copy_payload(&payload);
    if (!err)
        err = add_report(c, m->source->id, &payload.report);
    dataset_put(payload.to);
    copy_payload_release(&payload);
    return err;
}

/* ---- entries ---- */

/* Changes references in a value of this type, which stands in c->out. */
static int map_value(struct copy *c, struct span *value, const drep_type *type, int64_t count)
{
    int err;

    if (c->whole || !type_refers(type))
        return 0;
    err = buf_set(&c->out, value->p, value->len);
    if (!err)
        err = value_refs(&c->out, type, count, map_reference, c);
    *value = (struct span){c->out.p, c->out.len};
    return err;
}

/* Changes the fill value to what the other representation makes of it. */
static int settle_fill(struct copy *c, uint64_t id, const struct file_rep *rep,
                       struct ftype *target, struct object_rec *rec)
{
    int range = c->how->range == DREP_RANGE_DEFAULT ? DREP_RANGE_STRICT : c->how->range;
    struct losses lost = NO_LOSSES;
    int err = 0;

    if (rec->fill_value.p != c->out.p)
        err = buf_set(&c->out, rec->fill_value.p, rec->fill_value.len);
    if (!err)
        err = fill_fits(c->to, target, c->out.len);
    if (!err)
        err = value_settle(rep, c->out.p, c->out.len, target, range, &lost);
    rec->fill_value = (struct span){c->out.p, c->out.len};
    return err ? fail_in(err, "fill value") : add_report(c, id, &lost);
}

static int copy_dataset_record(struct copy *c, uint64_t id, uint64_t new_id, struct object_rec *rec,
                               struct dataset_copy *m)
{
    struct ftype *target = NULL;
    struct rep_at rep = {.rep = NULL};
    uint32_t type = 0;
    struct copy_plan plan;
    char name[40];
    int err;

    snprintf(name, sizeof name, "object %llu", (unsigned long long)id);
    err = dataset_get(c->from, id, name, &m->source);
    if (!err)
        err = ask_plan(c, m->source, &plan);
    if (!err)
        err = choose_rep(c, m->source, &plan, &rep);
    if (!err)
        err = rep_use(c->to, rep.to, m->source->ft->type);
    if (!err)
        err = map_type(c, rec->type, OF_DATASET, &rep, &type);
    if (!err)
        err = ftype_get(c->to, type, rep.rep, &target);
    if (!err)
        err = same_elements(c, rec->type, type, m->source, &rep, &m->same);
    if (!err) {
        m->emptied = empty_dataset(c, rec);
        m->reshaped = cut_dataset(c, &m->source->rec, rec) || m->emptied;
        err = plan_dataset(c, m->source, &plan, &rep, target, rec, m->reshaped);
    }
    if (!err)
        err = map_dims(c, &m->source->rec, id, new_id, rec);
    if (!err && rec->fill == FMT_FILL_VALUE)
        err = map_value(c, &rec->fill_value, m->source->ft->type, 1);
    if (!err && rec->fill == FMT_FILL_VALUE && !m->same)
        err = settle_fill(c, id, rep.rep, target, rec);
    if (!err)
        m->refers = !c->whole && type_refers(m->source->ft->type);
    rec->type = type;
    rec->changed = store_next_sequence(c->to->st);
    if (!err)
        rec->datarep = rep.to->number;
    m->rep = rep.rep;
    return err;
}

/* Scales that stay behind in another file are left out. */
static int map_scales(struct copy *c, struct span *scales)
{
    int err = buf_room(&c->out, scales->len);

    for (size_t i = 0; !err && i < scales->len; i += 8) {
        uint64_t id = map_reference(c, load_u64(scales->p + i));

        if (id == 0)
            continue;
        store_u64(c->out.p + c->out.len, id);
        c->out.len += 8;
    }
    *scales = (struct span){c->out.p, c->out.len};
    return err;
}

static int copy_object_record(struct copy *c, uint64_t id, uint64_t new_id, uint32_t links,
                              struct dataset_copy *m)
{
    const uintptr_t *dropped;
    struct object_rec rec;
    uint32_t type = 0;
    struct in in;
    int err;

    in_init(&in, c->value.p, c->value.len);
    if ((err = object_get(&in, &rec)))
        return fail(err, "%s at byte %zu of its record", in.why, in.err_at);
    if ((err = object_later(id, &rec)))
        return err;
    if (!c->whole)
        rec.links = links;
    if (rec.kind == FMT_GROUP && (dropped = idset_find(&c->dropped, id)))
        rec.members -= *dropped < rec.members ? *dropped : rec.members;
    if (rec.kind == FMT_TYPE) {
        err = map_type(c, rec.type, OF_NAMED, NULL, &type);
        rec.type = type;
    } else if (rec.kind == FMT_DATASET) {
        err = copy_dataset_record(c, id, new_id, &rec, m);
    } else if (rec.kind == FMT_DIMENSION && !c->whole && rec.scales.len > 0) {
        err = map_scales(c, &rec.scales);
    }
    if (rec.kind == FMT_DIMENSION && is_emptied(c, id)) {
        rec.unlimited = true;
        rec.len[0] = 0;
    }
    return !err ? object_store(c->to, new_id, &rec) : err;
}

static int copy_link(struct copy *c, struct key *key)
{
    const char *name = (const char *)key->p + LINK_NAME_AT;
    size_t len = key->len - LINK_NAME_AT;
    struct link_rec link;
    struct out out;
    int err = link_decode(name, len, c->value.p, c->value.len, &link);

    if (err)
        return err;
    /* The gathering has reported what is left out here. */
    if (link.kind == FMT_LATER)
        return is_partial(c) ? 0 : link_later(name, len, &link);
    if (link.kind == FMT_HARD && is_partial(c) && place_of(c, link.object) == c->n)
        return 0;
    if (link.kind == FMT_HARD && !c->whole)
        link.object = map_reference(c, link.object);
    buf_out(&c->out, &out);
    link_put(&out, &link);
    err = buf_done(&c->out, &out);
    return !err ? tree_put(c->to->st, key, c->out.p, c->out.len) : err;
}

static int copy_dim_entry(struct copy *c, struct key *key)
{
    struct dim_rec rec;
    struct out out;
    int err = dim_decode(key, c->value.p, c->value.len, &rec);

    if (err)
        return err;
    if (rec.kind == FMT_LATER)
        return is_partial(c) ? 0 : dim_later(key, &rec);
    if (is_partial(c) && place_of(c, rec.object) == c->n)
        return 0;
    if (!c->whole)
        rec.object = map_reference(c, rec.object);
    buf_out(&c->out, &out);
    dim_put(&out, &rec);
    err = buf_done(&c->out, &out);
    return !err ? tree_put(c->to->st, key, c->out.p, c->out.len) : err;
}

static int copy_attr(struct copy *c, uint64_t id, struct key *key)
{
    struct buf rec_out = {0};
    struct attr_rec rec;
    struct ftype *ft;
    int64_t count;
    struct out out;
    struct in in;
    int err;

    in_init(&in, c->value.p, c->value.len);
    if ((err = attr_get(&in, &rec)))
        return fail(err, "attribute \"%.*s\": %s", (int)(key->len - FMT_KEY_HEAD),
                    (const char *)key->p + FMT_KEY_HEAD, in.why);
    name_beyond(key->len - FMT_KEY_HEAD, &rec.kind, &rec.beyond);
    err = rec.kind == FMT_LATER ? attr_later(&rec) : ftype_get(c->from, rec.type, NULL, &ft);
    if (!err)
        err = attr_count(&rec, &count);
    if (!err && rec.rank != FMT_RANK_NULL && count > 0)
        err = value_check(&rec.value, ft, count);
    if (err)
        return leave_later(c, id,
                           fail_in(err, "attribute \"%.*s\"", name_shown(key->len - FMT_KEY_HEAD),
                                   (const char *)key->p + FMT_KEY_HEAD));
    err = map_type(c, rec.type, OF_ATTR, NULL, &rec.type);
    if (!err && rec.rank != FMT_RANK_NULL && count > 0)
        err = map_value(c, &rec.value, ft->type, count);
    buf_out(&rec_out, &out);
    if (!err) {
        attr_put(&out, &rec);
        err = buf_done(&rec_out, &out);
    }
    if (!err)
        err = tree_put(c->to->st, key, rec_out.p, rec_out.len);
    buf_release(&rec_out);
    return !err ? 0
                : fail_in(err, "attribute \"%.*s\"", (int)(key->len - FMT_KEY_HEAD),
                          (const char *)key->p + FMT_KEY_HEAD);
}

/* Copies an entry beside the record and the elements. One of an unknown tag is not copied: it may
 * be false of the copy. */
static int copy_entry(struct copy *c, struct key *key, uint64_t id, uint64_t new_id)
{
    key_set_object(key, new_id);
    switch (key_known(key->p)) {
    case FMT_TAG_LINK:
        return copy_link(c, key);
    case FMT_TAG_DIM:
        return copy_dim_entry(c, key);
    case FMT_TAG_ATTR:
        return copy_attr(c, id, key);
    default:
        key_set_object(key, id);
        unknown_add(&c->unknown, key->p);
        return 0;
    }
}

static int copy_space(struct copy *c, uint8_t space, uint64_t id, uint64_t new_id)
{
    struct tree_walk w;
    struct key key;
    int err;

    key_make_in(&key, space, id, 0);
    tree_walk(&w, c->from->st, &key, FMT_KEY_TAG_AT);
    while (!(err = tree_next(&w, &key, &c->value)))
        if ((err = copy_entry(c, &key, id, new_id)))
            break;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Copies the attributes; what stands in later spaces is only counted. */
static int copy_apart(struct copy *c, uint64_t id, uint64_t new_id)
{
    uint8_t space;
    int err = copy_space(c, FMT_SPACE_ATTRS, id, new_id);

    for (unsigned from = FMT_SPACE_ATTRS + 1;
         !err && !(err = tree_space(c->from->st, from, &space)); from = space + 1u)
        err = copy_space(c, space, id, new_id);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Copies all entries of the structure but the record, in the order that is best for reading. */
static int copy_entries(struct copy *c, uint64_t id, uint64_t new_id, struct dataset_copy *m)
{
    bool elements = m->source;
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, id, 0);
    tree_walk(&w, c->from->st, &key, FMT_KEY_TAG_AT);
    while (!(err = tree_next(&w, &key, &c->value))) {
        uint8_t tag = key_tag(key.p);

        if (elements && tag >= FMT_TAG_CHUNK) {
            elements = false;
            err = m->emptied ? 0 : copy_elements(c, m, new_id);
            key_make(&key, id, FMT_TAG_CHUNK + 1);
            tree_walk(&w, c->from->st, &key, FMT_KEY_TAG_AT);
        } else if (tag != FMT_TAG_OBJECT && tag != FMT_TAG_DATA && tag != FMT_TAG_CHUNK &&
                   tag != FMT_TAG_USER) {
            err = copy_entry(c, &key, id, new_id);
        }
        if (err)
            return err;
    }
    if (err == DREP_ERR_NOT_FOUND)
        err = elements && !m->emptied ? copy_elements(c, m, new_id) : 0;
    return err;
}

static int copy_object(struct copy *c, uint64_t id, uint64_t new_id, uint32_t links)
{
    struct dataset_copy m = {.source = NULL};
    struct key key;
    int err;

    key_make(&key, id, FMT_TAG_OBJECT);
    err = tree_get(c->from->st, &key, &c->value);
    if (err == DREP_ERR_NOT_FOUND && c->whole)
        return 0;
    if (err == DREP_ERR_NOT_FOUND)
        err = fail(DREP_ERR_FORMAT, "not in the file (R4.21)");
    if (!err)
        err = copy_object_record(c, id, new_id, links, &m);
    if (!err)
        err = copy_apart(c, id, new_id);
    if (!err)
        err = copy_entries(c, id, new_id, &m);
    dataset_put(m.source);
    return fail_in(err, "object %llu", (unsigned long long)id);
}

/* ---- everything ---- */

static int copy_objects(struct copy *c, uint64_t id, const char *name)
{
    int err = gather_objects(c, id);

    for (size_t i = 0; !err && i < c->n; i++)
        err = copy_object(c, c->id[i], new_id_of(c, i), c->links[i]);
    if (c->same_ids)
        return err;
    if (!err && c->kind == FMT_DIMENSION) {
        struct dim_rec rec = {.kind = FMT_PLAIN, .object = map_reference(c, id)};

        return dim_entry_add(c->to, c->group, name, &rec);
    }
    return !err ? object_link_to(c->to, c->group, name, map_reference(c, id), c->kind) : err;
}

/* A whole file goes into an empty one with the ids that it has: nothing is gathered and nothing
 * grows with the number of objects. */
static int copy_whole(struct copy *c)
{
    uint64_t id = 0;
    int err;

    store_objects(c->to->st, store_objects_end(c->from->st));
    while (!(err = object_next(c->from, id, &id)) && id != 0)
        if ((err = copy_object(c, id, id, 0)))
            break;
    return err;
}

static int is_empty(drep_file *f, bool *yes)
{
    struct object_head head;
    int err = head_load(f, FMT_OBJECT_ROOT, &head);

    *yes = !err && head.members == 0 && head.next_attr == 0 &&
           store_objects_end(f->st) == FMT_OBJECT_ROOT + 1;
    return err;
}

/* The group and name of the copy: a dimension's are those of an address. */
static int copy_target(struct copy *c, uint64_t id, const char *new_path, const char **name)
{
    struct object_head head;
    bool dimension;
    int err = head_load(c->from, id, &head);

    dimension = !err && head.kind == FMT_DIMENSION;
    if (!err)
        err = dimension ? path_dimension_parent(c->to, new_path, &c->group, name)
                        : path_parent(c->to, new_path, 0, &c->group, name);
    if (err)
        return err;
    return dimension ? dim_entry_free(c->to, c->group, *name) : link_free(c->to, c->group, *name);
}

static int copy_path(struct copy *c, const char *path, const char *new_path)
{
    const char *name;
    uint64_t id;
    bool yes;
    int err = path_id(c->from, path, &id);

    if (!err && c->how->selection)
        err = check_selection(c, id);
    if (!err && strcmp(new_path, "/") == 0 && id == FMT_OBJECT_ROOT && c->from != c->to) {
        err = is_empty(c->to, &yes);
        if (!err && !yes)
            err = fail(DREP_ERR_EXISTS, "a whole file can only be copied into an empty one");
        c->whole = !is_partial(c);
        c->same_ids = is_partial(c);
        if (!err)
            err = c->whole ? copy_whole(c) : copy_objects(c, id, "/");
    } else if (!err) {
        err = copy_target(c, id, new_path, &name);
        c->path = new_path;
        if (!err)
            err = copy_objects(c, id, name);
    }
    if (!err)
        err = types_end(c);
    return err;
}

/* Takes two files always in the same order, so that no two copies wait for each other. */
static int copy_begin(drep_file *from, drep_file *to)
{
    int err;

    if (from == to) {
        err = write_begin(to);
        return !err && (err = writeback_all(to->st, 0)) ? write_end(to, err) : err;
    }
    err = from < to ? read_begin_stored(from) : write_begin(to);
    if (err)
        return err;
    err = from < to ? write_begin(to) : read_begin_stored(from);
    if (err && from < to)
        read_end(from, err);
    else if (err)
        write_end(to, err);
    return err;
}

/* A feature that makes files read-only may have records that a copy makes false.  refuse: without a
 * function to tell it to. */
static int check_features(struct copy *c, bool refuse)
{
    int err = slot_known(&c->from->st->slot);

    if (!err || !(refuse || is_partial(c)))
        return 0;
    return leave_later(c, FMT_OBJECT_ROOT, err);
}

static bool directory_stat(const char *path, struct stat *s)
{
    int dir = -1;
    bool found = io_directory(path, &dir) == 0 && fstat(dir, s) == 0;

    if (dir >= 0)
        close(dir);
    return found;
}

bool copy_one_directory(const drep_file *a, const drep_file *b)
{
    struct stat s, t;

    return directory_stat(a->path, &s) && directory_stat(b->path, &t) && s.st_dev == t.st_dev &&
           s.st_ino == t.st_ino;
}

static int tell_left(struct copy *c)
{
    bool all = c->whole || c->same_ids;
    int err = all ? unknown_of_file(&c->unknown, c->from) : 0;

    return err ? err
               : keep_answer(c,
                             unknown_tell(&c->unknown, c->from, all, c->how->unknown, c->how->ctx));
}

static int copy_all(struct copy *c, const char *path, const char *new_path, bool refuse)
{
    int err;

    c->report.first_overflow = c->report.first_inexact = c->report.first_nan_lost = -1;
    if ((err = copy_begin(c->from, c->to)))
        return err;
    c->advance = advance_begin(0);
    err = check_features(c, refuse);
    if (!err && c->how->external && !copy_one_directory(c->from, c->to))
        err = fail(DREP_ERR_UNSUPPORTED_OPERATION,
                   "chunks can stay in other files only if both containers are in one directory");
    if (!err)
        err = copy_path(c, path, new_path);
    if (!err && c->how->unknown)
        err = tell_left(c);
    advance_end(c->advance);
    err = fail_in(err, "copying \"%s\"", path);
    if (c->from != c->to)
        err = read_end(c->from, err);
    err = c->stopped ? write_finish(c->to, err, true) : write_end(c->to, err);
    if (c->how->report)
        sized_put(SIZED_drep_report, &c->report, c->how->report);
    mem_free(c->id);
    mem_free(c->links);
    idset_release(&c->looked);
    idset_release(&c->dropped);
    idset_release(&c->types);
    mem_free(c->type);
    mem_free(c->rep);
    mem_free(c->pair);
    mem_free(c->dim);
    buf_release(&c->value);
    buf_release(&c->out);
    return err;
}

static const drep_copying plain = {.datarep = NULL};
static const drep_copying stored = {.datarep = DREP_DATAREP_STORED};

int drep_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
              const drep_copying *how)
{
    struct copy c = {.from = from, .to = to, .how = &plain};
    drep_copying own;
    int err = 0;

    if (!from || !to || !path || !new_path)
        return fail(DREP_ERR_ARG, "drep_copy: null argument");
    if (how) {
        err = sized_get(SIZED_drep_copying, how, &own, "drep_copy");
        if (!err && own.selection)
            err = selection_alive(own.selection, "drep_copy");
        if (!err && own.report)
            err = sized_check(SIZED_drep_report, own.report, "drep_copy");
        c.how = &own;
    }
    if (!err && !(err = file_check(from)) && !(err = file_check(to)) &&
        !(err = shared_refuses(from, "drep_copy")))
        err = shared_refuses(to, "drep_copy");
    return err ? err : copy_all(&c, path, new_path, true);
}

int object_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
                copy_dimension_fn *dim_path, void *ctx)
{
    drep_copying how = stored;
    struct copy c = {.from = from, .to = to, .how = &how, .dim_path = dim_path, .dim_ctx = ctx};

    how.external = copy_one_directory(from, to);
    return copy_all(&c, path, new_path, false);
}
