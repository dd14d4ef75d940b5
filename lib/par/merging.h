/* merging.h - the state of a merge: what the steps of merge.c share.
 *
 * Rank 0 enters the changes of one rank after the other into its tree, lower ranks first.  Each
 * entry that a rank has changed is compared with the last commit and with the tree as it is by
 * then: where only the rank has changed it, its state counts; where others have changed it, too,
 * theirs must be the same, else it is a contradiction (contradiction.h). */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_MERGING_H
#define PAR_MERGING_H

#include "par/changes.h"
#include "name/object.h"

struct merging {
    drep_file *f;        /* rank 0's: merged so far */
    drep_file *last;     /* the last commit, or NULL before the first one */
    uint64_t first_new;  /* ids from here on are provisional */
    struct changes *all; /* by rank; the first are rank 0's own, which are in the tree */
    size_t n;
    struct changes *c;         /* those that are merged now */
    uint64_t given, given_end; /* ids of the objects that the rank alone has made */
    bool moved;                /* the rank has added links to groups that were there */
    struct new_object at;      /* that was looked up last (merged_object()) */
    struct idset united;       /* compact datasets: a struct uniting of each */
    struct buf was, is;        /* an entry in the last commit and in the tree (three_ways()) */
};

static inline bool is_given(const struct merging *m, uint64_t id)
{
    return id >= m->given && id < m->given_end;
}

/* The id that an object of the tree has in the changes of a rank up to now; 0: they have none. */
uint64_t own_id(const struct merging *m, const struct changes *c, uint64_t id);
/* True if the dimension of the rank's id is one of a group above in the tree. */
static inline bool dim_is_above(const struct merging *m, uint64_t own)
{
    const struct new_object *o = changes_made(m->c, own);

    return o && o->elsewhere;
}
/* Copy the value of an entry of an object `id`, whatever id its key has; p NULL: it is absent. */
int look_up(struct store *st, const struct change *e, uint64_t id, struct buf *b,
            struct span *value);
/* True if the tree has the object. */
bool is_there(const struct merging *m, uint64_t id);
/* Look an entry of an object up whose key has the rank's id: in the last commit and in the tree,
 * where the object is `id`.  The spans have p NULL where it is absent, and hold until the next
 * call. */
int three_ways(struct merging *m, const struct change *e, uint64_t id, struct span *was,
               struct span *is);
/* True if an entry of an object of the last commit is not what it was there. */
bool has_changed(struct merging *m, const struct change *e);
static inline bool same_span(const struct span *a, const struct span *b)
{
    return !a->p == !b->p && a->len == b->len && (a->len == 0 || memcmp(a->p, b->p, a->len) == 0);
}

/* Decode a record, of the tree or the rank's, which *rec points into. */
int read_object(const struct merging *m, const struct span *bytes, struct object_rec *rec);
int read_attr(const struct merging *m, const struct span *bytes, struct attr_rec *rec);
int read_link(const struct merging *m, const struct span *bytes, struct link_rec *rec);
int read_dim(const struct merging *m, const struct span *bytes, struct dim_rec *rec);

/* The object of the tree that the rank's id stands for, *kept: the rank has it, and it was there
 * or is one that others made, too. */
uint64_t merged_object(struct merging *m, uint64_t own, bool *kept);

/* ---- translate.c: records, from the rank's numbers to those of the tree ---- */

/* The final id of an object, or 0 if it has none. */
uint64_t translate_id(const struct merging *m, uint64_t own);
/* Translate the reference to a datatype and count a use of it. */
int translate_type(struct merging *m, uint32_t own, uint32_t *ref);
/* *same: the rank's datatype is one of the tree's. */
int same_type(struct merging *m, uint32_t own, uint32_t ref, bool *same);
/* Find the representation of the rank's number. */
int translate_rep(struct merging *m, uint32_t own, struct file_datarep **out);
/* Translate references to objects in a value of the rank's datatype; `b` is room that *value points
 * into then.  sizes: of the representation by which the datatype's record is laid out, that of a
 * dataset; NULL: it is not, that of an attribute. */
int translate_value(struct merging *m, uint32_t own_type, const struct type_sizes *sizes,
                    int64_t count, struct span *value, struct buf *b);
/* Read an attribute of the rank and translate its type and value; a use of the type is counted. */
int translate_attr(struct merging *m, const struct change *e, struct attr_rec *attr, struct buf *b);
/* Translate all ids and numbers of a record; uses are counted. */
int translate_object(struct merging *m, struct object_rec *rec, struct buf *b);
int translate_link(const struct merging *m, struct link_rec *link);

/* ---- the steps of one rank ---- */

/* translate.c: enter the rank's representations, and the types that it has stored with them. */
int merge_reps(struct merging *m);
/* merge_values.c: dimensions that the rank has made unlimited, before its own objects are entered
 * and lengths change; or fixed, after that, but for datasets that the rank itself has made. */
int merge_limits(struct merging *m, bool unlimited);
/* unify.c: find the new objects that earlier ranks have made at the same paths. */
int merge_unify(struct merging *m);
/* merge_objects.c: enter the objects that nobody else has made, with all their entries. */
int merge_objects(struct merging *m);
/* merge_names.c: links and dimensions of groups that were there. */
int merge_names(struct merging *m);
/* merge_values.c: attributes and shapes of objects that were there. */
int merge_values(struct merging *m);
/* True if an earlier rank has cut the same off a dataset of the tree. */
bool was_cut(const struct merging *m, uint64_t id, const struct shrunk_dataset *cut);
/* Change the shape of a dataset of the tree. */
int merge_resize(struct merging *m, uint64_t id, int rank, const uint64_t *len);
/* merge_elements.c: an entry of a compact dataset that was there. */
int merge_elements(struct merging *m, const struct change *e, uint64_t id);
/* Put the elements of all ranks into the tree. */
int merged_elements_store(struct merging *m);
void merged_elements_release(struct merging *m);

#endif
