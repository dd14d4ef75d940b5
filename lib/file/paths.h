/* paths.h - where paths led: a cache of two.
 *
 * Most calls name the object of the call before, or a neighbour in the same group.  Uses trylock:
 * on contention the cache is skipped.  A writer is alone and takes no lock. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_PATHS_H
#define FILE_PATHS_H

#include "base/handles.h"

#include <pthread.h>
#include <stdbool.h>

struct known_path {
    uint64_t id; /* 0: none */
    char path[200];
};
struct path_cache {
    pthread_mutex_t lock;
    struct known_path last;  /* the object that was asked for last */
    struct known_path group; /* the group that it lies in */
};

/* The object at the path, else in *group the one that its first `parent` bytes lead to; 0: not
 * known. */
uint64_t paths_find(drep_file *f, const char *path, size_t parent, uint64_t *group);
/* A path leads there now; of a group, its first `len` bytes do. */
void paths_note(drep_file *f, const char *path, uint64_t id);
void paths_note_group(drep_file *f, const char *path, size_t len, uint64_t id);
/* Can the cache keep a path of this length? */
bool paths_fit(size_t len);
/* Links changed, or a commit was left; nobody else may be looking. */
void paths_clear(drep_file *f);

#endif
