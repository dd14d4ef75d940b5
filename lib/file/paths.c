/* paths.c - where paths led: a cache of two. */
/* SPDX-License-Identifier: MIT */
#include "file/paths.h"

#include "file/file.h"

#include <pthread.h>
#include <string.h>

/* A path that is too long is not kept. */
static void known_set(struct known_path *known, const char *path, size_t len, uint64_t id)
{
    if (len >= sizeof known->path)
        return;
    memcpy(known->path, path, len);
    known->path[len] = '\0';
    known->id = id;
}

static bool known_is(const struct known_path *known, const char *path, size_t len)
{
    return known->id != 0 && strncmp(known->path, path, len) == 0 && known->path[len] == '\0';
}

/* Uses trylock: on contention the cache is skipped. A writer is alone. */
static bool known_take(drep_file *f)
{
    return f->op.writing || pthread_mutex_trylock(&f->paths.lock) == 0;
}

static void known_give(drep_file *f)
{
    if (!f->op.writing)
        pthread_mutex_unlock(&f->paths.lock);
}

void paths_note(drep_file *f, const char *path, uint64_t id)
{
    if (!known_take(f))
        return;
    known_set(&f->paths.last, path, strlen(path), id);
    known_give(f);
}

void paths_note_group(drep_file *f, const char *path, size_t len, uint64_t id)
{
    if (!known_take(f))
        return;
    known_set(&f->paths.group, path, len, id);
    known_give(f);
}

bool paths_fit(size_t len)
{
    return len < sizeof((struct known_path *)NULL)->path;
}

void paths_clear(drep_file *f)
{
    f->paths.last.id = f->paths.group.id = 0;
}

uint64_t paths_find(drep_file *f, const char *path, size_t parent, uint64_t *group)
{
    uint64_t id = 0;

    *group = 0;
    if (!known_take(f))
        return 0;
    if (known_is(&f->paths.last, path, strlen(path)))
        id = f->paths.last.id;
    else if (parent > 0 && known_is(&f->paths.group, path, parent))
        *group = f->paths.group.id;
    known_give(f);
    return id;
}
