/* refs.c - the references of a whole file. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/refs.h"
#include "base/mem.h"
#include "base/url.h"
#include "base/vec.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/refs/array.h"
#include "tools/walk/walk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ other files */

/* Where readers find a file that the container names: a path is in the target's folder. */
static int other_path(const char *target, const char *name, bool uri, char **path)
{
    const char *slash = strrchr(target, '/');
    char *beneath = !uri && url_is(target) ? url_beneath(target, name) : NULL;

    if (beneath)
        *path = strdup(beneath);
    else if (asprintf(path, "%.*s%s", uri || !slash ? 0 : (int)(slash - target) + 1, target, name) <
             0)
        *path = NULL;
    mem_free(beneath);
    return *path ? 0 : DREP_ERR_NOMEM;
}

static int other_add(const drep_external *external, void *ctx)
{
    struct refs_writer *w = ctx;
    bool uri = strstr(external->path, "://") != NULL;
    char *path = NULL;

    if (VEC_ROOM(w->other, w->nother, w->other_room, 1))
        return DREP_ERR_NOMEM;
    if ((!uri || !refs_has_secret(external->path)) &&
        other_path(w->refs->target, external->path, uri, &path))
        return DREP_ERR_NOMEM;
    w->other[w->nother++] = (struct other_file){external->number, path};
    return 0;
}

/* ------------------------------------------------------------------- walk */

#define REFS_DEPTH 514 /* groups: tools/walk goes no deeper */

struct refs_walk {
    struct refs_writer w;
    struct phony phony[REFS_DEPTH]; /* of the group at each depth */
};

/* NULL, or why readers of zarr or fsspec take a name in the path for something else. */
static const char *path_why(const char *path)
{
    static const char *const taken[] = {".zarray", ".zgroup", ".zattrs", ".zmetadata", ".", ".."};

    if (strncmp(path, "/reference:", 11) == 0)
        return "fsspec takes the name for a protocol";
    if (strpbrk(path, "\\*"))
        return "zarr or fsspec takes \\ and * in a name for something else";
    while (*path) {
        size_t size = strcspn(++path, "/");

        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (strlen(taken[i]) == size && memcmp(taken[i], path, size) == 0)
                return "the name is one of zarr's own";
        path += size;
    }
    return NULL;
}

static int group_write(struct refs_walk *r, const char *path, int depth)
{
    struct sink text;
    int err;

    r->phony[depth].n = 0;
    if (sink_init(&text, -1))
        return DREP_ERR_NOMEM;
    sink_text(&text, "{\"zarr_format\": 2}");
    writer_document(&r->w, path, ".zgroup", &text);
    sink_release(&text);
    err = attributes_put(&r->w, path, NULL, NULL);
    return err;
}

static int object_write(struct refs_walk *r, const struct walk_item *item)
{
    const char *why = path_why(item->path);
    int depth = item->depth > 0 ? item->depth - 1 : 0, kind = item->info.kind;

    if (item->link == DREP_LINK_UNKNOWN || (!item->link && kind == DREP_OBJ_UNKNOWN))
        why = "a newer version wrote it";
    else if (item->link == DREP_LINK_EXTERNAL)
        why = "zarr has no links to other files";
    else if (item->link && !why) {
        if (drep_exists(r->w.file, item->path, &kind)) /* also in a circle */
            kind = 0;
        why = kind == DREP_OBJ_DATASET ? NULL
              : kind                   ? "zarr has no links to groups or types"
                                       : "it is a link that leads nowhere";
    }
    if (!item->link && (kind == DREP_OBJ_TYPE || kind == DREP_OBJ_DIMENSION))
        return 0;
    if (why) {
        writer_left_out(&r->w, item->path, why);
        return 0;
    }
    return kind == DREP_OBJ_GROUP ? group_write(r, item->path, item->depth)
                                  : array_write(&r->w, item->path, &r->phony[depth]);
}

/* A failure is reported, and the walk goes on with the next object. */
static int refs_enter(struct walk *walk, const struct walk_item *item)
{
    struct refs_walk *r = walk->ctx;
    int err;

    if (item->depth >= REFS_DEPTH)
        return 0;
    err = object_write(r, item);
    if (err && !r->w.sink->err)
        walk->status = tool_worse(walk->status, tool_fail(walk->file_name, item->path, err));
    return r->w.sink->err;
}

int refs_write(struct refs_job *refs, drep_file *file, struct sink *sink)
{
    struct refs_walk *r = calloc(1, sizeof *r);
    struct walk walk = {
        .file = file, .file_name = refs->file_name, .depth = -1, .enter = refs_enter, .ctx = r};
    int err, status = TOOL_FINE;

    if (!r)
        return tool_no_memory();
    r->w = (struct refs_writer){.refs = refs, .file = file, .sink = sink};
    err = printer_init(&r->w.printer, file, true);
    if (!err)
        err = drep_external_list(file, other_add, &r->w);
    if (err) {
        status = tool_fail(refs->file_name, NULL, err);
    } else {
        sink_text(sink, "{\"version\": 1, \"refs\": {");
        walk_run(&walk, "/");
        sink_text(sink, "\n}}\n");
        status = tool_worse(walk.status, refs->left_out ? TOOL_DIFFERS : TOOL_FINE);
    }
    printer_release(&r->w.printer);
    for (size_t i = 0; i < r->w.nother; i++)
        free(r->w.other[i].target);
    free(r->w.other);
    free(r->w.key);
    for (int d = 0; d < REFS_DEPTH; d++)
        free(r->phony[d].len);
    free(r);
    return status;
}
