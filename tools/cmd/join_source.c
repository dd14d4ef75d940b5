/* join_source.c - a source of `datarep join`, of any kind, as a container that names its chunks. */
/* SPDX-License-Identifier: MIT */
#include "base/url.h"
#include "base/vec.h"
#include "tools/cmd/hdf5.h"
#include "tools/cmd/join.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/walk/beneath.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------- paths */

static int add_target(struct join_source *s, const struct join_target *t, const char *folder,
                      const char *path)
{
    struct join_target made = *t;

    if (asprintf(&made.path, "%s%s", folder, path) < 0 || VEC_ROOM(s->target, s->n, s->room, 1))
        return tool_no_memory();
    s->target[s->n++] = made;
    return 0;
}

/* The path that rows name, as seen from the new file. */
static int find_path(const struct join_job *j, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *slash = strrchr(j->target, '/');
    int where = path_beneath(j->target, name, path);

    if (where == 0)
        return 0;
    if (where < 0) {
        tool_say(name, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - j->target) : 1,
             slash ? j->target : ".");
    tool_say(name, NULL,
             "a virtual file refers to files in or below its own directory, %s; without --virtual "
             "elements are copied",
             slash == j->target ? "/" : folder);
    return TOOL_USAGE;
}

struct target_list {
    struct join_source *s;
    const char *folder; /* of the source, with its slash */
    int status;
};

static int list_target(const drep_external *e, void *ctx)
{
    struct target_list *l = ctx;
    struct join_target t = {.number = e->number, .size = e->size, .time = e->time};

    l->status = add_target(l->s, &t, l->folder, e->path);
    return l->status;
}

/* The files that the source's own chunks may be in. */
static int list_targets(struct join_source *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    /* A container that was just made stands in the directory of the new file. */
    struct target_list l = {.s = s, .folder = s->foreign ? "" : folder};
    int err;

    if (!folder)
        return tool_no_memory();
    err = drep_external_list(s->file, list_target, &l);
    free(folder);
    if (l.status || err)
        return l.status ? l.status : tool_fail(s->name, NULL, err);
    /* Whoever imported it is not to be relied upon. */
    for (size_t i = 1; s->foreign && i < s->n; i++)
        if (strcmp(s->target[i].path, path) != 0) {
            tool_say(s->name, NULL, "elements are in another file, %s", s->target[i].path);
            return TOOL_CORRUPT;
        }
    return 0;
}

/* --------------------------------------------------------------------- sources */

int join_source_open(const struct join_job *j, const char *name, struct join_source *s)
{
    struct join_target own = {.number = 0, .time = 0};
    char path[PATH_MAX];
    int status;

    *s = (struct join_source){.name = name};
    if (!j->virtual)
        return hdf5_open(name, DREP_RDONLY, j->plugins, &s->file, &s->foreign);
    if (url_is(name)) {
        tool_say(name, NULL,
                 "a virtual file refers to files in or below its own directory, not to URLs; "
                 "without --virtual elements are copied");
        return TOOL_USAGE;
    }
    status = find_path(j, name, path);
    if (!status)
        status = hdf5_open_beside(name, j->target, j->plugins, &s->file, &s->foreign);
    if (!status)
        status = add_target(s, &own, "", path);
    return status ? status : list_targets(s, path);
}

void join_source_close(struct join_source *s)
{
    if (s->file)
        drep_abandon(s->file);
    for (size_t i = 0; i < s->n; i++)
        free(s->target[i].path);
    free(s->target);
    *s = (struct join_source){.name = NULL};
}

/* The new file pins what is there now, which must be what the source has named. */
static int check_unchanged(const struct join_job *j, const struct join_source *s,
                           const struct join_target *t)
{
    const char *slash = strrchr(j->target, '/');
    char path[PATH_MAX];
    struct stat st;

    if ((size_t)snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - j->target) + 1 : 0,
                         j->target, t->path) >= sizeof path)
        return tool_no_memory();
    if (stat(path, &st) != 0) {
        tool_say(path, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    if (st.st_size == t->size && (t->time == 0 || st.st_mtime == t->time))
        return 0;
    tool_say(path, NULL, "it has changed since %s named it", s->name);
    return TOOL_CORRUPT;
}

int join_source_number(struct join_job *j, struct join_source *s, uint32_t number, uint32_t *out)
{
    struct join_target *t = s->target;
    int err, status = 0;

    while (t < s->target + s->n && t->number != number)
        t++;
    if (t == s->target + s->n) {
        tool_say(s->name, NULL, "chunks are in file %u, which it does not name", number);
        return TOOL_CORRUPT;
    }
    if (t->made == 0) {
        if (number != 0)
            status = check_unchanged(j, s, t);
        if (!status && (err = drep_external_add(j->file, t->path, &t->made)))
            status = tool_fail(s->name, NULL, err);
    }
    *out = t->made;
    return status;
}
