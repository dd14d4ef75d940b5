/* type.h - datatypes inside the library: the description and its compiled typemap.
 *
 * A type keeps how it was made, for records, printing and comparison, and next to it the typemap
 * that transfers walk (prog.h).  Both are immutable once the type is made. */
/* SPDX-License-Identifier: MIT */
#ifndef TYPE_TYPE_H
#define TYPE_TYPE_H

#include "type/prog.h"

#define TYPE_DEPTH_MAX 64
/* Types that a type is made of, shared ones counted each time: bounds the work of
 * whatever walks a description. */
#define TYPE_WEIGHT_MAX ((int64_t)1 << 24)

enum { TEXT_FIXED = 1, TEXT_VARIABLE = 2 };

struct drep_type {
    atomic_size_t refs; /* predefined: never counted */
    int kind;
    int code;
    int depth; /* nested types; predefined: 1 */
    bool portable, variable;
    bool marked;       /* lb and ub were set by resized, subarray or darray somewhere inside */
    bool blank;        /* neither items nor bounds that were set */
    bool natural;      /* struct: made without displacements */
    bool named;        /* is or holds a compound, also in sequences */
    bool text;         /* a string that is one item: type_match() makes it */
    unsigned texts;    /* which of TEXT_FIXED and TEXT_VARIABLE it is or holds, also in sequences */
    uint64_t codes[2]; /* bit c: code c is inside; bit c - 64 of the second */
    int64_t weight;
    int64_t size, lb, ub, true_lb, true_ub, items, align;
    struct prog prog; /* as this machine holds it */
    /* A sequence that type_get() made with `stored`: its elements as they lie in the
     * heap of that file.  items 0 in every other type. */
    struct prog content;
    /* A compound or struct that type_get() made with `stored`, or type_match(): the bytes before
     * each member in the file, and those of all.  NULL in every other type. */
    int64_t *placed;
    _Atomic(drep_type *) called; /* what type_called() made, NULL before */

    /* The description. */
    int64_t nargs;
    int64_t *args;    /* what drep_type_arg() gives */
    int64_t nmembers; /* member types */
    const drep_type **member;
    int64_t *displ;      /* bytes, inside args; NULL when one member at 0 */
    int64_t *blocklen;   /* inside args; NULL: all 1 */
    char **name;         /* members, or an enum's names; NULL */
    int64_t *value;      /* an enum's values, inside args */
    char *tag;           /* an opaque's */
    drep_scalar *scalar; /* of a scalar; NULL in every other type */
};

/* True if items of both leaves are the same thing: one code, equal scalars, sequences
 * of equivalent bases, references to the same. */
bool leaf_same(const drep_type *a, const drep_type *b);
/* True if, besides, elements of both sequences lie alike in the file. */
bool leaf_stored_same(const drep_type *a, const drep_type *b);

/* True if a vstring is a drep_vlen in memory, not a char *. */
static inline bool type_counted(const drep_type *type)
{
    return type->kind == FMT_KIND_VSTRING && type->nargs > 0;
}

/* True if user functions convert items of this leaf in a container: predefined types other than
 * BYTE and PACKED. */
bool leaf_called(const drep_type *leaf);
/* The datatype of those items of `type` alone, with its bounds and displacements; `type`
 * itself if it has no others, NULL if it has none of them.  *out is borrowed and lives as
 * long as `type`.  DREP_ERR_LIMIT (loops nested deeper than 60), DREP_ERR_NOMEM. */
int type_called(const drep_type *type, const drep_type **out);

/* Offsets of the members of a compound or struct, in bytes from the element's start, under
 * PACKED, PLACED (DREP_ERR_TYPE where they have no room) or STRUCT; for records that state offsets.
 * offsets: one per member. Also size and alignment of the whole. */
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
/* Gives err, with a message of two types in words: fmt has a %s for each. */
int type_fail_two(int err, const char *fmt, const drep_type *a, const drep_type *b);
/* DREP_ERR_TYPE: an element of `mem` has neither as many data items as one of `file` nor as several
 * whole ones, so that a file would decide how far memory is reached.  With the size of the buffer,
 * which type_fits() holds against it, items may go one by one; size 0: nobody knows it. */
int type_whole(const drep_type *file, const drep_type *mem, size_t size);
/* DREP_ERR_BUFFER: `count` elements, which type_elements() has seen, reach beyond `size` bytes.
 * size 0: nobody knows how many there are. */
int type_fits(const drep_type *type, int64_t count, size_t size);

/* Call fn once for each predefined code in the description (any depth, also in sequences), in
 * the order of the codes; the bytes of strings and opaques do not count as a datatype. Stops at,
 * and returns, its first non-zero result. */
int type_each_code(const drep_type *type, int (*fn)(int code, void *ctx), void *ctx);
/* True if a representation matters for its elements: predefined types occur. */
bool type_has_codes(const drep_type *type);

/* Datatype record of SPEC.md <-> type.
 *
 * type_put(): layout PACKED, PLACED or STRUCT writes what an element consists of (kinds 1 to
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
/* The type of elements whose members lie in memory where they do in the file, and take as much
 * there as this machine needs: they may overlap. */
int type_get_placed(struct in *in, const struct type_sizes *sizes, drep_type **type);

/* A scalar and its record. */
struct scalar_rec;
void scalar_to_rec(const drep_scalar *s, struct scalar_rec *out);
void scalar_from_rec(const struct scalar_rec *r, drep_scalar *out);
/* Read a description of SCALARS.  One that only a later version understands becomes a byte: each
 * row that names it is a later version's too. */
void scalar_from_table(const uint8_t *description, drep_scalar *out);

#endif
