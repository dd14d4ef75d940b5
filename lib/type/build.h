/* build.h - making typemaps, inside this room.
 *
 * A shape is one typemap under construction: nodes, bounds and sums.  Three verbs
 * make every constructor: repeat, shift, and join.  All of them check that no
 * number leaves +-2^62, and all fold what lies regularly, so that a typemap stays
 * as small as its description. */
/* SPDX-License-Identifier: MIT */
#ifndef TYPE_BUILD_H
#define TYPE_BUILD_H

#include "type/type.h"

/* A zeroed shape is blank: no items, no bounds. */
struct shape {
    struct node *node; /* one reference; NULL: no items */
    int64_t at;        /* bytes from the element's start to the node's origin */
    int64_t items, size;
    int64_t lb, ub, true_lb, true_ub;
    int64_t align;
    bool marked, blank; /* as in struct drep_type */
};

/* Sum and product; *over is set, and stays, when one leaves +-2^62. */
int64_t size_add(int64_t a, int64_t b, bool *over);
int64_t size_mul(int64_t a, int64_t b, bool *over);
/* a rounded up to a multiple of align. */
int64_t size_align(int64_t a, int64_t align, bool *over);
int size_fail(void); /* DREP_ERR_VALUE_TOO_LARGE with its message */

/* `count` items of a leaf of `size` bytes, back to back. */
int shape_leaf(struct shape *out, const drep_type *leaf, int64_t size, int64_t align,
               int64_t count);
/* `count` times, `stride` bytes apart. */
int shape_repeat(struct shape *s, int64_t count, int64_t stride);
int shape_shift(struct shape *s, int64_t bytes);
/* Set the bounds, as resized does. */
void shape_mark(struct shape *s, int64_t lb, int64_t ub);
void shape_copy(struct shape *out, const struct shape *s);
void shape_release(struct shape *s);
static inline int64_t shape_extent(const struct shape *s)
{
    return s->ub - s->lb;
}

/* Are these members of a compound of `size` bytes, at `offsets`, inside it and apart?
 * DREP_ERR_FORMAT naming the member; blocklens may be NULL. */
int shape_apart(const struct shape *members, int64_t n, const int64_t *blocklens,
                const int64_t *offsets, int64_t size);

/* Members of a stored compound of `size` bytes at their offsets, in any order. */
int shape_place(struct shape *out, const struct shape *members, int64_t n, const int64_t *offsets,
                int64_t size);

/* Shapes one after the other in typemap order. */
struct shape_piece {
    struct node *node;
    int64_t at;
};
struct join {
    struct shape_piece *piece; /* a reference each */
    int64_t n;
    size_t room;
    struct shape all;   /* sums and bounds; no node */
    struct shape marks; /* bounds of the marked ones alone */
};
void join_init(struct join *j);
int join_add(struct join *j, const struct shape *s, int64_t shift);
/* Folds the pieces into one shape; the join is released whatever comes. */
int join_finish(struct join *j, struct shape *out);
void join_release(struct join *j);

/* Nodes. */
struct node *prog_node_ref(struct node *node);
void node_free(struct node *node);
/* True if they are the same program over the same leaves. */
bool node_equal(const struct node *a, const struct node *b);

/* The shape of `type` from those of its members: one level. */
int shape_compose(struct shape *out, const drep_type *type, const struct shape *members,
                  const struct type_sizes *sizes, enum prog_layout layout);
/* Lay members of these shapes out one after the other. packed: alignments do not count; those of
 * blank members never do. blocklens NULL: all 1; offsets: of their lower bounds, one each. */
int shape_layout(const struct shape *members, int64_t n, const int64_t *blocklens, bool packed,
                 int64_t *offsets, int64_t *size, int64_t *align);
/* A type as it lies in memory, as a shape. */
void shape_of(struct shape *out, const drep_type *type);
/* The prog of a shape, whose node it takes over.  size of one item of a leaf is
 * its stride. */
int prog_from(struct prog *out, struct shape *s);
/* The shape of `type` with other sizes, all levels. */
int shape_build(struct shape *out, const drep_type *type, const struct type_sizes *sizes,
                enum prog_layout layout);

/* A type of this kind with room for its description, to be filled and finished. */
drep_type *type_new(int kind, int64_t nargs, int64_t nmembers);
/* Set member i and take a reference. */
void type_set_member(drep_type *t, int64_t i, const drep_type *member);
/* Copies names behind one another into one block. */
int type_set_names(drep_type *t, int64_t n, const char *const *names);
/* Derive everything else and store the type in *out; frees t on failure. */
int type_finish(drep_type *t, drep_type **out);
/* Null pointers, negative counts: DREP_ERR_ARG, DREP_ERR_COUNT. */
int type_check_base(const drep_type *base, drep_type **out);
int type_check_members(int64_t count, const drep_type *const *types, drep_type **out);
/* Like drep_type_enum(), of values that the base need not hold: then no element has their names. */
int type_enum(const drep_type *base, int64_t count, const char *const *names, const int64_t *values,
              drep_type **out);
/* Set t->displ as the C compiler would place the members. */
int type_place_members(drep_type *t);
/* A copy of a string type that is one data item. */
int type_text(const drep_type *string, drep_type **out);
/* The size a compound's members ask for at their displacements. */
int type_natural_size(const drep_type *t, int64_t *size);

/* The words of the one-line form, by number; NULL if there is none. */
const char *text_kind(int kind);

#endif
