/* members.h - the members of a group and the attributes of an object, as lists in memory.
 *
 * The library hands them out one by one to a callback, with text that lives as long as the call;
 * whoever sorts, counts or goes into groups copies them first. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_MEMBERS_H
#define SCHEMA_MEMBERS_H

#include <datarep.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A link of a group and its target. */
struct member {
    char *name, *target, *target_file; /* the last two of links that are not hard */
    int link;                          /* enum drep_linkkind */
    int kind;                          /* of a hard link's object, as drep_linkinfo has it */
    uint64_t id;
    int number, flags; /* of what a newer version wrote */
    uint64_t index;    /* of creation */
};
/* A copy of what a link says, but of its name; target and target_file are malloc'ed. */
struct member member_of(const drep_linkinfo *link);

struct members {
    struct member *list;
    size_t len, room;
};
/* order: DREP_BY_...  A DREP_ERR_... code; what was found is there in any case. */
int members_list(struct members *out, drep_file *file, const char *path, int order);
/* The dimensions of a group: name, target (the address) and id. */
int dimensions_list(struct members *out, drep_file *file, const char *path, int order);
void members_release(struct members *m);

/* DREP_ERR_UNSUPPORTED with its message if a newer version wrote the member at `path` or its
 * object, else 0. */
int member_later(drep_file *file, const char *path, const struct member *m);

/* The names of the attributes of an object, in creation order, with notes (schema/note.h) or
 * without.  A DREP_ERR_... code; what was found is there in any case. */
int attrs_list(drep_file *file, const char *path, bool notes, char ***names, int64_t *n);
void attrs_free(char **names, int64_t n);

#endif
