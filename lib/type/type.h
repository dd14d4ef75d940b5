/* type.h - datatypes inside the library: the description and its compiled typemap.
 *
 * A type is compiled into a `prog`, a small tree of loops; data items are numbered
 * in typemap order.  Leaves are predefined types and scalars, and one-item leaves
 * of variable length (sequence, vstring, reference).  Enum and boolean appear as
 * their base, string and opaque as BYTEs (SPEC.md, "Data items").
 * The same tree, laid out with other sizes, describes elements in a file.
 *
 * A node's origin is where its first item lies, so a loop's child and a sequence's
 * first branch begin at their parent's origin. */
#ifndef TYPE_TYPE_H
#define TYPE_TYPE_H

#include <datarep.h>
#include <stdatomic.h>
#include <stdbool.h>

#define TYPE_DEPTH_MAX 64
#define NODE_DEPTH_MAX 80 /* nested nodes of one typemap; what a cursor has room for */
/* Types that a type is made of, shared ones counted each time: bounds the work of
 * whatever walks a description. */
#define TYPE_WEIGHT_MAX ((int64_t)1 << 24)
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
    /* leaf: its type (kind PREDEFINED, SCALAR, SEQUENCE, VSTRING, REFERENCE); others: that
     * of all their leaves, NULL if they differ */
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
    /* One leaf, stride = its size, no gap between elements: elements are one array. */
    bool dense;
};

struct drep_type {
    atomic_size_t refs; /* predefined: never counted */
    int kind;
    int code;
    int depth; /* nested types; predefined: 1 */
    bool portable, variable;
    bool marked;       /* lb and ub were set by resized, subarray or darray somewhere inside */
    bool blank;        /* neither items nor bounds that were set */
    bool natural;      /* struct: made without displacements */
    uint64_t codes[2]; /* bit c: code c is inside; bit c - 64 of the second */
    int64_t weight;
    int64_t size, lb, ub, true_lb, true_ub, items, align;
    struct prog prog; /* as this machine holds it */
    /* A sequence that type_get() made with `stored`: its elements as they lie in the
     * heap of that file.  items 0 in every other type. */
    struct prog content;
    _Atomic(drep_type *) called; /* what type_called() made, NULL before */

    /* The description. */
    int64_t nargs;
    int64_t *args;    /* what drep_type_arg() gives */
    int64_t nmembers; /* member types */
    const drep_type **member;
    int64_t *displ;    /* bytes, inside args; NULL when one member at 0 */
    int64_t *blocklen; /* inside args; NULL: all 1 */
    char **name;       /* members, or an enum's names; NULL */
    int64_t *value;    /* an enum's values, inside args */
    char *tag;         /* an opaque's */
    drep_scalar scalar;
};

/* Sizes and alignments of the predefined types under a representation, by code,
 * and of the one-item leaves.  size 0: that representation has no such type. */
struct type_sizes {
    uint8_t size[DREP_CODE_MAX + 1];
    uint8_t align[DREP_CODE_MAX + 1];
    uint8_t vlen_size, vlen_align;       /* sequence and vstring */
    uint8_t vstring_size, vstring_align; /* vstring; 0: as vlen */
    uint8_t object_size, region_size, ref_align;
};

enum prog_layout {
    PROG_PACKED, /* typemap order, no gaps: a dataset's default */
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

/* What comes next, as turns of one node: the largest on the way down that unrolls to at
 * most WINDOW_RUNS leaves, or, if it is a struct, WINDOW_FIELDS.  Turn t has its origin at
 * `at` + t * stride, or at + list[t]. */
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

/* 1 if items of both leaves are the same thing: one code, equal scalars, sequences
 * of equivalent bases, references to the same. */
int leaf_same(const drep_type *a, const drep_type *b);

/* Do a user's functions convert items of this leaf in a container?  Predefined types other
 * than BYTE and PACKED. */
bool leaf_called(const drep_type *leaf);
/* The datatype of those items of `type` alone, with its bounds and displacements; `type`
 * itself if it has no others, NULL if it has none of them.  *out is borrowed and lives as
 * long as `type`.  DREP_ERR_LIMIT (loops nested deeper than 60), DREP_ERR_NOMEM. */
int type_called(const drep_type *type, const drep_type **out);

/* What C member i of a compound or element of its block lies at, in bytes from the
 * element's start, under PACKED or STRUCT; for records that state offsets.
 * offsets: one per member.  Gives size and alignment of the whole. */
int type_layout(const drep_type *type, const struct type_sizes *sizes, enum prog_layout layout,
                int64_t *offsets, int64_t *size, int64_t *align);

/* A struct laid out as C would, of single members: "struct{INT, DOUBLE}". */
bool type_plain_struct(const drep_type *type);

/* This machine's sizes. */
const struct type_sizes *type_native_sizes(void);

/* `count` elements in memory: how many data items they have.  DREP_ERR_COUNT (negative),
 * DREP_ERR_VALUE_TOO_LARGE (more than 2^63 of them, or elements so far apart that no memory
 * holds them: then there is no buffer to look at). */
int type_elements(const drep_type *type, int64_t count, int64_t *items);

/* Calls fn once for each predefined code in the description (any depth, also in
 * sequences), in the order of the codes (the
 * bytes of strings and opaques are no datatype that somebody named); stops at and gives its first
 * non-zero result. */
int type_each_code(const drep_type *type, int (*fn)(int code, void *ctx), void *ctx);

/* Datatype record of SPEC.md <-> type.
 *
 * type_put(): layout PACKED or STRUCT writes what an element consists of (kinds 1 to
 * 11), PROG_MEMORY the type as it was made (all kinds, for named datatypes).  With
 * the file's `sizes` compounds are laid out; NULL: they are not (attributes, named
 * datatypes).  DREP_ERR_TYPE for elements without data items, DREP_ERR_LIMIT.
 *
 * type_get(): `type` is the record as this machine holds it: compounds lie as its C
 * compiler would put them.  `stored`, when not NULL, is the typemap of an element in
 * the file: as the record lays it out, packed where it does not, with `sizes` (release
 * with prog_release(); its leaves belong to *type, which must outlive it).  Then
 * kinds 32 and up are refused.  DREP_ERR_FORMAT when members overlap or lie outside,
 * and for whatever else no writer writes. */
struct out;
struct in;
int type_put(const drep_type *type, const struct type_sizes *sizes, enum prog_layout layout,
             struct out *out);
int type_get(struct in *in, const struct type_sizes *sizes, drep_type **type, struct prog *stored);

/* A scalar and its record. */
struct scalar_rec;
void scalar_to_rec(const drep_scalar *s, struct scalar_rec *out);
void scalar_from_rec(const struct scalar_rec *r, drep_scalar *out);

#endif
