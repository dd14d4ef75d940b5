/* walk.h - all objects of a file, depth first, in creation order.
 *
 * A group is followed by its dimensions, then by its members.
 * An object is given where the walk meets it first; another hard link to it comes as a
 * link to that path, as soft and external links do. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_WALK_H
#define TOOLS_WALK_WALK_H

#include "schema/paths.h"
#include <datarep.h>
#include <stdbool.h>

struct walk_item {
    const char *path;        /* from the root; of a dimension its address */
    const char *name;        /* its last part, "" for the root */
    int depth;               /* groups above, counted from where the walk began */
    int64_t index;           /* among the members, or the dimensions, that were given, from 0 */
    int link;                /* 0: the object itself; else enum drep_linkkind */
    const char *target;      /* of a link */
    const char *target_file; /* of an external one */
    drep_objinfo info;       /* of an object; attrs of a dimension: 0, or -1, not counted; of an
                                unknown link its number and flags */
};

struct walk {
    drep_file *file;
    const char *file_name; /* for messages */
    int depth;             /* how many levels of groups to enter, -1: all */
    /* Non-zero stops the walk.  members (may be NULL) comes between the dimensions and the members
     * of a group, leave (may be NULL) follows the members. */
    int (*enter)(struct walk *walk, const struct walk_item *item);
    int (*members)(struct walk *walk, const struct walk_item *item);
    int (*leave)(struct walk *walk, const struct walk_item *item);
    void *ctx;
    bool quiet; /* say nothing about objects that cannot be read */
    int status; /* the worst exit code; unreadable objects are reported and left out */
};

/* Walks from the object at `path`.  0, or what enter or leave gave. */
int walk_run(struct walk *walk, const char *path);

/* Bytes of all elements below `path`, in memory: how much there is to do. */
uint64_t walk_bytes(drep_file *file, const char *path);

/* The paths of all objects of a file.  0 or DREP_ERR_NOMEM. */
int walk_paths(struct paths *paths, drep_file *file);

#endif
