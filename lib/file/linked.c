/* linked.c - the files behind external links. */
/* SPDX-License-Identifier: MIT */
#include "file/linked.h"

#include "base/error.h"
#include "base/mem.h"
#include "file/file.h"

#include <datarep.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 8

/* Open what a path names that is relative to this file: a file in or below its directory, *inner
 * then is a descriptor of that file's own directory, or beneath the folder of its URL; *url then is
 * the file's own URL, for mem_free(). */
static int linked_open(const drep_file *f, const char *name, struct io **out, int *inner,
                       char **url)
{
    if (f->linked.dir >= 0)
        return io_beside(f->linked.dir, name, f->path, out, inner);
    if (!f->linked.url)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "a file that is in no directory");
    return io_url_beneath(f->linked.url, name, f->hints.all, out, url);
}

/* Opens a file relative to the directory of this one, with the hints of this handle. */
static int linked_new(drep_file *f, const char *name, drep_file **out)
{
    char *own, *url = NULL;
    drep_file *g;
    struct io *io;
    int inner = -1, err;

    if (f->linked.depth == DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "more than %d external links in a chain", DEPTH_MAX);
    own = mem_strdup(name);
    err = own ? linked_open(f, name, &io, &inner, &url) : DREP_ERR_NOMEM;
    if (!err) {
        err = file_open_on(io, DREP_RDONLY | (f->amode & DREP_HEADER_ONLY), f->hints.all, 0, &g);
        if (err && inner >= 0)
            close(inner);
    }
    if (err) {
        mem_free(own);
        mem_free(url);
        return err;
    }
    g->linked.dir = inner;
    g->linked.url = url;
    g->linked.depth = f->linked.depth + 1;
    g->linked.name = own;
    hints_allow_targets(g, g->linked.dir);
    *out = g;
    return 0;
}

/* Looks a name up in the list; the caller holds the lock. */
static drep_file *linked_find(drep_file *f, const char *name)
{
    drep_file *g = f->linked.first;

    while (g && strcmp(g->linked.name, name) != 0)
        g = g->linked.next;
    return g;
}

/* Opens without the lock, because the functions of the file's representation may come here again;
 * the handle of a thread that came second is freed. */
int linked_get(drep_file *f, const char *name, drep_file **out)
{
    drep_file *mine = NULL, *g;
    int err;

    pthread_mutex_lock(&f->linked.lock);
    g = linked_find(f, name);
    pthread_mutex_unlock(&f->linked.lock);
    if (!g) {
        if ((err = linked_new(f, name, &mine)))
            return err;
        pthread_mutex_lock(&f->linked.lock);
        g = linked_find(f, name);
        if (!g) {
            g = mine;
            mine = NULL;
            g->linked.next = f->linked.first;
            f->linked.first = g;
        }
        pthread_mutex_unlock(&f->linked.lock);
        file_free(mine);
    }
    *out = g;
    return 0;
}

drep_file *linked_first(drep_file *f)
{
    drep_file *first;

    pthread_mutex_lock(&f->linked.lock);
    first = f->linked.first;
    pthread_mutex_unlock(&f->linked.lock);
    return first;
}
