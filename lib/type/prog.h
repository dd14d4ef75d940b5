/* prog.h - typemaps: where the data items of an element lie.
 *
 * A type is compiled into a `prog`, a small tree of loops; data items are numbered
 * in typemap order.  Leaves are predefined types and scalars, and one-item leaves
 * of variable length (sequence, vstring, reference).  Enum and boolean appear as
 * their base, string and opaque as BYTEs (SPEC.md, "Data items"); a string that becomes a
 * vstring, or a vstring that becomes a string, is one item (type/match.h).
 * The same tree, laid out with other sizes, describes elements in a file.
 *
 * A node's origin is where its first item lies, so a loop's child and a sequence's
 * first branch begin at their parent's origin. */
/* SPDX-License-Identifier: MIT */
#ifndef TYPE_PROG_H
#define TYPE_PROG_H

#include "base/handles.h"
#include "format/numbers.h"

#include <stdatomic.h>
#include <stdbool.h>

#define NODE_DEPTH_MAX 80 /* nested nodes of one typemap; what a cursor has room for */
#define TYPE_SIZE_MAX ((int64_t)1 << 62)

/* A loop turns over one child at a regular distance, a list over one child at distances
 * of its own; the branches of a sequence differ. */
enum node_op { NODE_LEAF, NODE_LOOP, NODE_LIST, NODE_SEQ };

/* Shared between typemaps; immutable but for its count. */
struct node {
    atomic_size_t refs; /* 0: static, never counted */
    enum node_op op;
    int depth;      /* nested nodes; leaf: 1 */
    int runs;       /* leaves when every loop is unrolled; INT_MAX: that many or more */
    int64_t items;  /* data items in the whole node */
    int64_t count;  /* leaf: items; loop, list: turns; seq: branches */
    int64_t stride; /* leaf: bytes between items, of one item its size; loop: between turns */
    /* leaf: its type (kind PREDEFINED, SCALAR, SEQUENCE, VSTRING, REFERENCE, STRING that is a
     * text); others: that of all their leaves, NULL if they differ */
    const drep_type *leaf;
    struct node **child; /* loop, list: 1; seq: count, in typemap order */
    int64_t *offset;     /* list, seq: bytes of each turn or branch from the node's origin */
    int64_t *first;      /* seq: items before each branch; count + 1 numbers */
};

/* Different children: what a walk over a whole typemap has to look at. */
static inline int64_t node_children(const struct node *node)
{
    return node->op == NODE_LEAF ? 0 : node->op == NODE_SEQ ? node->count : 1;
}

/* A compiled typemap.  Immutable once made. */
struct prog {
    struct node *root; /* NULL when there are no items */
    int64_t origin;    /* bytes from the element's start to the root's origin */
    int64_t items;     /* in one element */
    int64_t extent;    /* bytes from one element to the next */
    int64_t size;      /* bytes of data in one element */
    int depth;         /* nested nodes */
    /* One leaf without gaps: elements are one array. */
    bool dense;
};

/* True if an element has bytes that none of its items takes. */
static inline bool prog_gaps(const struct prog *p)
{
    return p->extent != p->size;
}

/* Sizes and alignments of the predefined types under a representation, by code,
 * and of the one-item leaves.  size 0: that representation has no such type. */
struct type_sizes {
    uint8_t size[FMT_CODE_MAX + 1];
    uint8_t align[FMT_CODE_MAX + 1];
    uint8_t vlen_size, vlen_align;       /* sequence and vstring */
    uint8_t vstring_size, vstring_align; /* vstring; 0: as vlen */
    uint8_t object_size, region_size, ref_align;
};

enum prog_layout {
    PROG_PACKED, /* typemap order, no gaps: a dataset's default */
    PROG_PLACED, /* members at the offsets, elements at the extent that the type has in memory */
    PROG_STRUCT, /* as that machine's C compiler lays a struct out (natural members) */
    PROG_VIEW,   /* MPI 5.0, 14.7: displacements of portable types scale, others stay (V3, V4) */
    PROG_MEMORY  /* as VIEW, with structs rounded up to their alignment */
};

/* The typemap of `type` with other sizes.  PACKED and STRUCT drop memory
 * displacements, lower bounds and holes.  DREP_ERR_TYPE naming a predefined type
 * that has no size, DREP_ERR_VALUE_TOO_LARGE.  Its leaves are borrowed from `type`,
 * which must outlive it. */
int prog_build(struct prog *out, const drep_type *type, const struct type_sizes *sizes,
               enum prog_layout layout);
void prog_release(struct prog *prog);

/* drep_cursor over any prog, which must outlive it; cursor_next() is
 * drep_cursor_next() without the way through the public symbol. */
int cursor_init(drep_cursor *cursor, const struct prog *prog, int64_t position);
int cursor_next(drep_cursor *cursor, int64_t max, drep_run *run);

/* The runs of the first `items` items, in typemap order, if they are at most `max`: how
 * many; else -1. */
int prog_flat(const struct prog *p, int64_t items, drep_run *runs, int max);

/* The next items as turns of one node: the largest on the way down that unrolls to at most
 * WINDOW_RUNS leaves or, if it is a struct, WINDOW_FIELDS. Turn t has its origin at `at` + t *
 * stride, or at + list[t]. */
enum { WINDOW_RUNS = 64, WINDOW_FIELDS = 256 };
struct window {
    const struct node *node;
    int64_t items;       /* in a turn: the node's, or those of a leaf that goes on for ever */
    int64_t step;        /* leaf: bytes between its items */
    int64_t at;          /* bytes from the start of element 0 */
    int64_t turns;       /* at least 1 */
    int64_t stride;      /* without a list: bytes between turns */
    const int64_t *list; /* NULL, or where each turn begins */
    int64_t inside;      /* items of the first turn that lie behind the cursor */
};
/* The window that the cursor stands in; the cursor goes behind it.  The type must have
 * items. */
void cursor_window(drep_cursor *cursor, struct window *out);

#endif
