/* rep.h - data representations inside the library.
 *
 * A representation has two forms: a table of encodings, which one engine converts
 * from and to, and functions.  Built-in, machine and declared ones have both (their
 * functions call the engine); registered ones have functions only.  Every transfer
 * of a function-form goes through the dispatcher; nothing asks for a name. */
#ifndef REP_REP_H
#define REP_REP_H

#include "kern/kernel.h"
#include "kern/piece.h"
#include "type/type.h"
#include <datarep.h>
#include <pthread.h>

/* A row per predefined code; row[c].size 0: no such type. */
struct rep_table {
    drep_encoding row[DREP_CODE_MAX + 1];
    drep_scalar *custom;
    int ncustom;
    bool structs; /* compounds lie as that machine's C structs (native and native:ABI) */
};

struct datarep {
    char name[DREP_MAX_DATAREP_STRING];
    drep_conversion_fn *read, *write;
    drep_extent_fn *extent;
    void *extra_state;
    unsigned flags;
    const struct rep_table *table; /* NULL: functions only */
    bool builtin;                  /* SPEC.md defines it; its table is not in the header */
    pthread_mutex_t serial;        /* held around its functions under DREP_REP_SERIAL */
};

/* Registry.  NULL if unknown.  Entries live as long as the process. */
const struct datarep *rep_find(const char *name);
/* Like rep_find(), but also searches plugins: first in `dirs` (absolute paths between colons,
 * may be NULL), then where the process and its environment say. *out NULL if there is none;
 * DREP_ERR_UNSUPPORTED_DATAREP if the plugin may not be loaded (base/plugin.h). */
int rep_resolve(const char *name, const char *dirs, const struct datarep **out);
/* The running machine's table. */
const struct rep_table *rep_native(void);
/* The running machine's name among the tables ("amd64"), or "" if it is none of them. */
const char *rep_native_name(void);
/* A file's own representation from its header's table; release frees it. */
int rep_scoped(const char *name, const struct rep_table *table, struct datarep **out);
void rep_scoped_free(struct datarep *rep);
/* DREP_ERR_FORMAT with the reason: sizes beyond 32 bytes, fields that overlap or
 * leave the scalar, a format that is not its size, a class that is not its type's. */
int rep_table_check(const struct rep_table *table);
/* For type_put() and prog_build(); of a function form by calling its extent function.
 * rep_sizes() asks it for every predefined type and takes a failure for "no such type";
 * rep_sizes_of() only for those in `type`, where a failure is an error (U4). */
int rep_sizes(const struct datarep *rep, struct type_sizes *sizes);
int rep_sizes_of(const struct datarep *rep, const drep_type *type, struct type_sizes *sizes);
void rep_table_sizes(const struct rep_table *table, struct type_sizes *sizes);

/* ---- the engine: items from one typemap and table to another ---- */

struct rep_side {
    const struct prog *prog;
    const struct rep_table *table;
    int64_t position; /* data item of the tiled typemap to begin with */
};

/* Converts one-item leaves of variable length; the engine only finds them.
 * dst, src: addresses of the two items; type: the leaf on the memory side. */
struct rep_var {
    int (*move)(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                const void *src);
    void *ctx;
};

struct rep_opts {
    int range;                 /* DREP_RANGE_WRAP, CLAMP or STRICT; for equal types */
    int value_range;           /* for items whose types differ */
    drep_report *report;       /* NULL, or counts are added; first_* as base + item */
    int64_t base;              /* number of this call's first item in the transfer */
    const struct rep_var *var; /* NULL: DREP_ERR_TYPE at such a leaf */
};

/* Converts `items` data items.  Leaf by leaf through kernels picked once by pair of
 * encodings; runs of equal leaves go in one call.  DREP_ERR_TYPE where a pair has no
 * conversion, DREP_ERR_CONVERSION under STRICT, naming the item; items before it
 * have been written, *done says how many (done may be NULL). */
int rep_convert(void *dst, const struct rep_side *dst_side, const void *src,
                const struct rep_side *src_side, int64_t items, const struct rep_opts *opts,
                int64_t *done);

/* DREP_ERR_TYPE if no conversion exists between the two.  same_type: both sides are
 * the same predefined type (representation conversion), which allows what no value
 * conversion does (BYTES, CHAR). */
int kernel_pick(struct kernel *k, const struct rep_table *dst_table, const drep_type *dst_leaf,
                const struct rep_table *src_table, const drep_type *src_leaf,
                const struct rep_opts *opts);
/* ---- the dispatcher: function forms, over packed items ---- */

/* Moves `items` data items between userbuf, from `position` on, and the packed bytes
 * at filebuf, in calls of at most `staging` bytes of whole items (at least one item a
 * call); userbuf and type are passed through unchanged.  sizes: what the extent function
 * said of the types in `type`; NULL: it is asked.  A registered write function is given
 * zeros to write over, so bytes that it leaves out are zeros.  Null functions take native
 * form.  DREP_ERR_CONVERSION naming the function's code; *done: items of the calls
 * that succeeded (may be NULL).  *used: bytes of filebuf they took. */
int rep_read_items(const struct datarep *rep, const struct type_sizes *sizes, void *userbuf,
                   const drep_type *type, int64_t position, int64_t items, const void *filebuf,
                   int64_t staging, int64_t *done, int64_t *used);
int rep_write_items(const struct datarep *rep, const struct type_sizes *sizes, const void *userbuf,
                    const drep_type *type, int64_t position, int64_t items, void *filebuf,
                    int64_t staging, int64_t *done, int64_t *used);

#endif
