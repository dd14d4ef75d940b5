/* unread.c - the marks of elements that an import could not read. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/unread.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES "hdf5:remarks"
/* Lines that are looked at. */
#define LINES_MAX (1 << 20)

bool unread_parse(const char *line, struct unread_mark *out)
{
    const char *box;
    char *end;
    size_t len;

    if (strncmp(line, "unread ", 7) != 0)
        return false;
    out->elements = strtoll(line + 7, &end, 10);
    if (line[7] == '?') {
        out->elements = -1;
        end = (char *)(uintptr_t)line + 8;
    } else if (end == line + 7 || out->elements < 0) {
        return false;
    }
    if (*end != ' ')
        return false;
    box = end + 1;
    len = strcspn(box, " ");
    if (len == 0 || len >= sizeof out->box)
        return false;
    memcpy(out->box, box, len);
    out->box[len == 1 && *box == '-' ? 0 : len] = 0;
    out->why = box[len] ? box + len + 1 : "";
    return true;
}

void unread_text(const struct unread_mark *m, char *text, size_t size)
{
    char count[40] = "some";

    if (m->elements >= 0)
        snprintf(count, sizeof count, "%lld", (long long)m->elements);
    snprintf(text, size, "%s elements%s%s were not read by import: %s", count,
             *m->box ? " of " : "", m->box, m->why);
}

static int each_line(const char *path, char *const *line, int64_t n, unread_fn *fn, void *ctx)
{
    struct unread_mark *mark = malloc(sizeof *mark);
    int64_t i;
    int err = mark ? 0 : DREP_ERR_NOMEM;

    for (i = 0; !err && i < n; i++)
        if (line[i] && unread_parse(line[i], mark))
            err = fn(path, mark, ctx);
    free(mark);
    return err;
}

int unread_each(drep_file *file, const char *path, unread_fn *fn, void *ctx)
{
    drep_attrinfo info = DREP_ATTRINFO;
    drep_type *type = NULL;
    char **line = NULL;
    int64_t n = 0;
    int err = drep_attr_info(file, path, NOTES, &info);

    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    if (info.rank == 1 && drep_type_kind(info.type) == DREP_KIND_VSTRING && info.count < LINES_MAX)
        n = info.count;
    drep_attrinfo_release(&info);
    if (n == 0)
        return 0;
    line = calloc((size_t)n, sizeof *line);
    err = line ? drep_type_vstring(&type) : DREP_ERR_NOMEM;
    if (!err)
        err = drep_attr_read(file, path, NOTES, type, line);
    if (!err) {
        err = each_line(path, line, n, fn, ctx);
        drep_vlen_free(type, n, line);
    }
    drep_type_free(type);
    free(line);
    return err;
}

/* A walk over datasets, and what is called for their marks. */
struct below {
    drep_file *file;
    unread_fn *fn;
    void *ctx;
    int result; /* of fn: the walk ends when it is not 0 */
};

/* Keeps the result apart from errors of reading marks, which do not end the walk. */
static int call_below(const char *path, const struct unread_mark *mark, void *ctx)
{
    struct below *b = ctx;

    b->result = b->fn(path, mark, b->ctx);
    return b->result;
}

static int each_of(const drep_visited *object, void *ctx)
{
    struct below *b = ctx;

    if (object->kind == DREP_OBJ_DATASET)
        unread_each(b->file, object->path, call_below, b);
    return b->result;
}

int unread_below(drep_file *file, const char *path, unread_fn *fn, void *ctx)
{
    struct below b = {file, fn, ctx, 0};
    int err = drep_visit(file, path, DREP_BY_CREATION, each_of, &b);

    return b.result ? b.result : err;
}
