/* external.c - the files behind external links.
 *
 * Where the path of a call that reads crosses an external link, and the opener allowed it (hint
 * drep_external), the call goes on in the other file.  That is opened for reading, once, and
 * belongs to the handle; its own links lead on, but only so deep. */
#include "file/data.h"

#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 8

void others_close(drep_file *f)
{
    while (f->others != NULL) {
        drep_file *g = f->others;

        f->others = g->next_other;
        file_free(g);
    }
    if (f->dir >= 0)
        close(f->dir);
    mem_free(f->link_name);
}

/* The path for messages: that of this file, its last name replaced. */
static char *path_beside(const drep_file *f, const char *name)
{
    const char *slash = strrchr(f->path, '/');
    size_t dir = slash == NULL ? 0 : (size_t)(slash - f->path) + 1, len = strlen(name);
    char *path = mem_alloc(dir + len + 1);

    if (path == NULL)
        return NULL;
    memcpy(path, f->path, dir);
    memcpy(path + dir, name, len + 1);
    return path;
}

static int other_new(drep_file *f, const char *name, drep_file **out)
{
    char *path, *own;
    drep_file *g;
    struct io *io;
    int inner, err;

    if (f->dir < 0)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "a file that is in no directory");
    if (f->depth == DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "more than %d external links in a chain", DEPTH_MAX);
    path = path_beside(f, name);
    own = mem_strdup(name);
    err = path == NULL || own == NULL ? DREP_ERR_NOMEM : io_beside(f->dir, name, path, &io, &inner);
    mem_free(path);
    if (err == 0) {
        err = file_open_on(io, DREP_RDONLY | (f->amode & DREP_HEADER_ONLY), f->info, 0, &g);
        if (err != 0)
            close(inner);
    }
    if (err != 0) {
        mem_free(own);
        return err;
    }
    g->dir = inner;
    g->depth = f->depth + 1;
    g->link_name = own;
    *out = g;
    return 0;
}

/* Under the lock. */
static drep_file *other_find(drep_file *f, const char *name)
{
    drep_file *g = f->others;

    while (g != NULL && strcmp(g->link_name, name) != 0)
        g = g->next_other;
    return g;
}

/* The file of this name, from the list or opened: without the lock, because the functions of its
 * representation may come here again. */
static int other_get(drep_file *f, const char *name, drep_file **out)
{
    drep_file *mine = NULL, *g;
    int err;

    pthread_mutex_lock(&f->others_lock);
    g = other_find(f, name);
    pthread_mutex_unlock(&f->others_lock);
    if (g == NULL) {
        if ((err = other_new(f, name, &mine)) != 0)
            return err;
        pthread_mutex_lock(&f->others_lock);
        g = other_find(f, name);
        if (g == NULL) {
            g = mine;
            mine = NULL;
            g->next_other = f->others;
            f->others = g;
        }
        pthread_mutex_unlock(&f->others_lock);
        file_free(mine);
    }
    *out = g;
    return 0;
}

/* Handles are only ever put in front, so the rest of the list needs no lock: a refresh may wait
 * for readers, which may need it. */
int others_refresh(drep_file *f)
{
    drep_file *g;
    int err = 0;

    pthread_mutex_lock(&f->others_lock);
    g = f->others;
    pthread_mutex_unlock(&f->others_lock);
    for (; err == 0 && g != NULL; g = g->next_other)
        err = drep_refresh(g);
    return err;
}

int path_elsewhere(drep_file *f, const char *path, struct elsewhere *to)
{
    struct crossing x;
    int err;

    to->file = NULL;
    if ((err = file_check(f)) != 0)
        return err;
    if (path == NULL || !f->follow)
        return 0;
    if ((err = read_begin(f)) != 0)
        return err;
    if ((err = read_end(f, path_cross(f, path, &x))) != 0)
        return err;
    if (x.file == NULL)
        return 0;
    walk_begin(f); /* opening may call functions of the user's */
    err = other_get(f, x.file, &to->file);
    walk_end();
    mem_free(x.file);
    to->path = x.path;
    if (err != 0) {
        to->file = NULL;
        mem_free(x.path);
    }
    return fail_in(err, "%s: %s", f->path, path);
}

int elsewhere_done(struct elsewhere *to, int err)
{
    mem_free(to->path);
    return err;
}
