/* rep.h - data representations inside the library.
 *
 * A representation has two forms: a table of encodings, which one engine converts
 * from and to, and functions.  Built-in, machine and declared ones have both (their
 * functions call the engine); registered ones have functions only.  Every transfer
 * of a function-form goes through the dispatcher; nothing asks for a name. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_REP_H
#define REP_REP_H

#include "type/type.h"
#include <pthread.h>

struct rep_table; /* encodings.h */

struct datarep {
    char name[FMT_DATAREP_MAX + 1];
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
/* True for an alignment that a datatype can have in a struct. */
bool rep_align_fits(int align);
int rep_table_check(const struct rep_table *table);
/* Asks the extent function for the size of one predefined datatype: 1 to 255 bytes (U4).
 * DREP_ERR_VALUE_TOO_LARGE, DREP_ERR_CONVERSION (the function failed). */
int rep_ask_size(const struct datarep *rep, int code, struct type_sizes *sizes);
/* The sizes in a container of what no function sees (SPEC.md, 5.6); no predefined datatype has any.
 */
void rep_sizes_none(struct type_sizes *sizes);
/* For type_put() and prog_build(): the sizes of what is in `type`; functions are asked.  Errors of
 * rep_ask_size(). */
int rep_sizes_of(const struct datarep *rep, const drep_type *type, struct type_sizes *sizes);
void rep_table_sizes(const struct rep_table *table, struct type_sizes *sizes);

#endif
