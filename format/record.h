/* record.h - the records that are values of the tree.
 *
 * A decoder leaves its destination untouched on failure and points into the bytes it
 * was given for names, texts and values (they must outlive the struct).  `tail` is
 * what follows the last field: kept by writers. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_RECORD_H
#define FORMAT_RECORD_H

#include "format/block.h"
#include "format/filter.h"

#include <stdbool.h>

static inline void span_rest(struct in *in, struct span *out)
{
    span_get(in, in_left(in), out);
}
void span_put(struct out *out, const struct span *s);

struct free_rec {
    uint64_t length, sequence;
};
struct pending_rec {
    uint64_t offset, length, sequence;
};
struct log_rec {
    int64_t time;
    uint64_t end;
    struct ref root;
    uint64_t next_object;
};
/* offset: of the extent, which its key has. */
int free_get(struct in *in, uint64_t offset, struct free_rec *out);
void free_put(struct out *out, const struct free_rec *r);
int pending_get(struct in *in, struct pending_rec *out);
void pending_put(struct out *out, const struct pending_rec *r);
int log_get(struct in *in, struct log_rec *out);
void log_put(struct out *out, const struct log_rec *r);

struct object_rec {
    uint8_t kind;          /* FMT_LATER: only the head and the tail have values */
    uint8_t number, flags; /* as stored: the kind's number if unknown; unknown flags are kept */
    const char *beyond;    /* what is beyond the limits of this version, or NULL; if so, only the
                              head and the tail have values, whatever the kind */
    uint32_t links, next_attr;
    /* group */
    uint64_t next_link, members;
    /* dataset; named datatype: type */
    uint64_t changed; /* the commit that last changed elements, shape, type or fill */
    uint32_t type;
    uint32_t datarep; /* its number in the header */
    uint8_t layout, rank;
    int has_max, has_dims;
    uint64_t slab;
    uint8_t suffix; /* chunked: last dimensions of the grid, over which rows of a record count */
    uint8_t nfilters;
    uint8_t fill;
    struct span fill_value; /* self-described */
    /* dimension: len[0] */
    int unlimited;
    struct span scales; /* u64 each: HDF5's further scales, ids of datasets */
    struct span tail;
    /* Only the first `rank` have a value; a decoder leaves the others alone. */
    uint64_t len[FMT_RANK_MAX], max[FMT_RANK_MAX], dim[FMT_RANK_MAX]; /* max = len if !has_max */
    uint32_t chunk[FMT_RANK_MAX];
    struct filter_rec filter[FMT_FILTERS_MAX];
};
int object_get(struct in *in, struct object_rec *out);
/* False for an object with a value beyond a limit, and for a dataset whose layout or fill is of a
 * later version: that has the fields up to that one, for an unknown layout those of its shape, and
 * the rest as tail. */
bool object_known(const struct object_rec *r);
void object_put(struct out *out, const struct object_rec *r);
/* The front of the record alone: what most calls need of it, and what changes most. */
struct object_head {
    uint8_t kind; /* FMT_LATER: by its number or its flags */
    uint8_t number, flags;
    uint32_t links, next_attr;
    uint64_t next_link, members; /* group */
    uint64_t changed;            /* dataset */
};
int object_head_get(struct in *in, struct object_head *out);
/* Encode the numbers of the head; returns how many bytes hold them, from FMT_HEAD_AT on. */
#define FMT_HEAD_AT 2
#define FMT_HEAD_MAX (4 * VAR_MAX)
size_t object_head_put(uint8_t bytes[FMT_HEAD_MAX], const struct object_head *h);

/* Links and attributes of a later version (FMT_LATER) have their index, and the rest as tail; so
 * do those with a value beyond a limit, which `beyond` names. */
struct link_rec {
    uint8_t kind;
    uint8_t number, flags; /* as for objects */
    uint8_t object_kind;   /* hard: what it leads to */
    const char *beyond;    /* set by name_beyond() */
    uint64_t index, object;
    struct span file, path;
    struct span tail;
};
int link_get(struct in *in, struct link_rec *out);
void link_put(struct out *out, const struct link_rec *r);

/* The entry of a dimension in its group. */
struct dim_rec {
    uint8_t kind; /* FMT_PLAIN, FMT_LATER: by its number or its flags */
    uint8_t number, flags;
    const char *beyond; /* set by name_beyond() */
    uint64_t index, object;
    struct span tail;
};
int dim_get(struct in *in, struct dim_rec *out);
void dim_put(struct out *out, const struct dim_rec *r);

struct attr_rec {
    uint8_t kind; /* FMT_PLAIN, FMT_LATER */
    uint8_t number, flags;
    const char *beyond; /* also set by name_beyond() */
    uint32_t index, type;
    uint8_t rank;
    uint64_t len[FMT_RANK_MAX];
    struct span value; /* self-described */
    struct span tail;
};
int attr_get(struct in *in, struct attr_rec *out);
void attr_put(struct out *out, const struct attr_rec *r);

/* Head of a self-described value: rows for ascending codes of its type. */
struct self_rec {
    uint8_t n;
    struct {
        uint8_t format, size;
    } row[FMT_CODE_MAX + 1];
};
int self_get(struct in *in, struct self_rec *out);
void self_put(struct out *out, const struct self_rec *r);

/* The place of one or several chunks in the file: a plain run (not filtered), or a run of filtered
 * chunks with a row each.  A decoded run of filtered chunks has its rows in bytes; chunk_row()
 * gives one of them as a record of its own: `run` 1, no rows. */
struct chunk_rec {
    uint8_t kind; /* enum fmt_chunk */
    bool filtered;
    uint32_t skipped, run;
    uint32_t file;                 /* external: number of the file that has the bytes; else 0 */
    uint64_t offset, size;         /* plain, or one filtered chunk: of each */
    uint32_t far;                  /* blocks that the sums stand in, 0: they stand here */
    struct span refs;              /* far references */
    uint64_t sum[FMT_SUMS_INLINE]; /* filtered: sum[0] */
    uint32_t nsums;                /* inline ones */
    struct span rows;              /* of a run of filtered chunks */
    uint8_t kept, unused;          /* flags, and a byte, without a meaning yet */
    struct span tail;
};
/* Number of sums of a plain run, run * ceil(size / 4096), or FMT_SIZE_MAX if it overflows; number
 * of blocks that they need (0: they stand in the record); number of sums in block i. */
uint64_t chunk_sums(uint32_t run, uint64_t size);
uint64_t chunk_sum_blocks(uint64_t sums);
uint32_t chunk_sums_in(uint64_t sums, uint64_t i);
/* Reference to block i of the sums. */
void chunk_ref(const struct chunk_rec *r, uint32_t i, struct ref *out);
/* FMT_ERR_UNSUPPORTED: its kind, or a flag, is of a later version. */
int chunk_get(struct in *in, struct chunk_rec *out);
void chunk_put(struct out *out, const struct chunk_rec *r);
/* Decode row i of a run of filtered chunks.  *at is the offset of the next packed row: rows of a
 * packed run must be decoded in order, from row 0 with *at 0. */
void chunk_row(const struct chunk_rec *r, uint32_t i, uint64_t *at, struct chunk_rec *out);
/* Put a row that a packed, placed or external record will have. */
void chunk_row_put(struct out *out, uint8_t kind, uint64_t offset, uint32_t size, uint64_t sum);
/* List the lines of 64 bytes that hold the payload of a record: ascending extents that do not
 * overlap, at most one a row; none for an external record.  FMT_ERR_FORMAT: rows overlap. */
struct chunk_lines {
    uint32_t n;
    struct {
        uint64_t offset, length;
    } at[FMT_PLACED_MAX];
};
int chunk_lines(const struct chunk_rec *r, struct chunk_lines *out);

/* Scalar description, 32 bytes. */
struct scalar_rec {
    uint8_t cls, order, size, is_signed, format, norm, low_pad, high_pad;
    uint16_t precision, offset, sign_pos, exp_pos, exp_width, mant_pos, mant_width;
    uint8_t exp_base_log2;
    int64_t exp_bias;
};
/* Also checks that fields lie inside and do not overlap. */
int scalar_get(struct in *in, struct scalar_rec *out);
void scalar_put(struct out *out, const struct scalar_rec *r);

/* A node of a datatype record without its children, which follow in the bytes (for ENUM after
 * the values, for COMPOUND and STRUCT each after its member). */
struct type_node {
    uint8_t kind, flags;
    uint16_t code;
    struct scalar_rec scalar;
    uint8_t pad, what, rank, order;
    uint64_t size, count;
    struct span tag;
    uint64_t dim[FMT_RANK_MAX];
    int64_t arg[3]; /* contiguous: count; vector: count, blocklen, stride; resized: lb, extent;
                       (h)indexed_block: blocklen; darray: processes, process */
};
struct type_member { /* compound: name, offset; enum: name, value; struct, (h)indexed: two numbers
                      */
    struct span name;
    uint64_t offset;
    int64_t value;
    int64_t blocklen, displ;
    int64_t sub[4]; /* subarray: size, subsize, start; darray: size, distribution, argument, grid */
};
int type_node_get(struct in *in, struct type_node *out);
void type_node_put(struct out *out, const struct type_node *n);
/* The part that stands before each child (compound, struct) or in a list (enum, indexed,
 * blocks, subarray, darray), by the node's kind. */
int type_member_get(struct in *in, uint8_t kind, struct type_member *out);
void type_member_put(struct out *out, uint8_t kind, const struct type_member *m);

/* Check a name of an object or attribute (length, UTF-8, no "/", no NUL, not "." or ".."), or one
 * that stands in a file, which may be too long; check a text: well-formed UTF-8 without NUL.
 * FMT_ERR_NAME. */
int name_check(const uint8_t *p, size_t len);
int name_stored_check(const uint8_t *p, size_t len);
int text_check(const uint8_t *p, size_t len);

/* An entry whose name is too long is one of a later version. */
static inline void name_beyond(size_t len, uint8_t *kind, const char **beyond)
{
    if (len <= FMT_NAME_MAX)
        return;
    *kind = FMT_LATER;
    *beyond = FMT_BEYOND("a name of more than 1,023 bytes", "R7.10");
}

#endif
