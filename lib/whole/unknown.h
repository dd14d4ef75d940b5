/* unknown.h - entries and header records of unknown tags, which no copy takes.
 *
 * They may say something that is false of an object which is made new, so a copy leaves them out
 * and tells each tag once. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_UNKNOWN_H
#define WHOLE_UNKNOWN_H

#include "file/file.h"

struct unknown {
    struct unknown_entries {
        uint64_t entries, id; /* how many; the object that has the first */
    } tag[256], space[256];   /* of the spaces that have tags of ours; of the others */
};

/* Count an entry whose tag is unknown. */
static inline void unknown_add(struct unknown *u, const uint8_t *key)
{
    struct unknown_entries *e =
        key_space(key) <= FMT_SPACE_ATTRS ? &u->tag[key_tag(key)] : &u->space[key_space(key)];

    if (e->entries++ == 0)
        e->id = key_object(key);
}
/* Count those that belong to the file itself, or all. */
int unknown_of_file(struct unknown *u, drep_file *f);
int unknown_of_all(struct unknown *u, drep_file *f);

/* Told once for each tag, with the number of an object and a text; not 0: an end. */
typedef int unknown_fn(uint64_t id, const char *message, void *ctx);
/* header: records of the header proper too. */
int unknown_tell(const struct unknown *u, const drep_file *f, bool header, unknown_fn *fn,
                 void *ctx);

#endif
