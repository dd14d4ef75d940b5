/* unknown.h - entries and header records of unknown tags, which no copy takes.
 *
 * They may be false of a new object, so a copy leaves them out and reports each tag once. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_UNKNOWN_H
#define WHOLE_UNKNOWN_H

#include "file/file.h"

struct unknown {
    struct unknown_entries {
        uint64_t entries, id; /* their number; the object of the first */
    } tag[256], space[256];   /* by tag in our spaces of keys; by space in all others */
};

/* Count an entry whose tag is unknown. */
static inline void unknown_add(struct unknown *u, const uint8_t *key)
{
    struct unknown_entries *e =
        key_space(key) <= FMT_SPACE_ATTRS ? &u->tag[key_tag(key)] : &u->space[key_space(key)];

    if (e->entries++ == 0)
        e->id = key_object(key);
}
/* Count the unknown entries of the file itself, or of all objects. */
int unknown_of_file(struct unknown *u, drep_file *f);
int unknown_of_all(struct unknown *u, drep_file *f);

/* Called once for each tag, with an object that has it (0: the file).  A non-zero result ends the
 * walk. */
typedef int unknown_fn(uint64_t id, const char *message, void *ctx);
/* header: include records of the header proper. */
int unknown_tell(const struct unknown *u, const drep_file *f, bool header, unknown_fn *fn,
                 void *ctx);

#endif
