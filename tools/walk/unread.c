/* unread.c - the marks of elements that an import could not read, or did not try. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/unread.h"
#include "schema/note.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES NOTE_HDF5 "remarks"
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

/* What is called for the lines of one object. */
struct line_fn {
    unread_fn *unread;
    void *ctx;
    int result; /* of that function: the walk ends when it is not 0 */
};

static int each_line(const char *path, char *const *line, int64_t n, struct line_fn *f)
{
    struct unread_mark *mark = malloc(sizeof *mark);
    int64_t i;

    if (!mark)
        return DREP_ERR_NOMEM;
    for (i = 0; !f->result && i < n; i++)
        if (line[i] && unread_parse(line[i], mark))
            f->result = f->unread(path, mark, f->ctx);
    free(mark);
    return 0;
}

/* 0 or an error of reading the marks; f->result apart from it. */
static int each_mark(drep_file *file, const char *path, struct line_fn *f)
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
        err = each_line(path, line, n, f);
        drep_vlen_free(type, n, line);
    }
    drep_type_free(type);
    free(line);
    return err;
}

int unread_each(drep_file *file, const char *path, unread_fn *fn, void *ctx)
{
    struct line_fn f = {.unread = fn, .ctx = ctx};
    int err = each_mark(file, path, &f);

    return f.result ? f.result : err;
}

/* A walk over datasets. */
struct below {
    drep_file *file;
    struct line_fn f;
};

/* Errors of reading marks do not end the walk. */
static int each_of(const drep_visited *object, void *ctx)
{
    struct below *b = ctx;

    if (object->kind == DREP_OBJ_DATASET)
        each_mark(b->file, object->path, &b->f);
    return b->f.result;
}

int unread_below(drep_file *file, const char *path, unread_fn *fn, void *ctx)
{
    struct below b = {file, {.unread = fn, .ctx = ctx}};
    int err = drep_visit(file, path, DREP_BY_CREATION, each_of, &b);

    return b.f.result ? b.f.result : err;
}

struct counted {
    drep_file *file;
    undecoded_fn *undecoded;
    void *ctx;
    int64_t filtered;
};

/* What cannot be opened or counted is a finding already. */
static int count_chunks(const drep_visited *object, void *ctx)
{
    struct counted *c = ctx;
    drep_dsinfo info = DREP_DSINFO;
    drep_dsusage usage = DREP_DSUSAGE;
    drep_dataset *ds;
    int result = 0;

    if (object->kind != DREP_OBJ_DATASET || drep_dataset_open(c->file, object->path, &ds))
        return 0;
    if (!drep_dataset_info(ds, &info) && info.nfilters > 0 && !drep_dataset_usage(ds, &usage)) {
        c->filtered += usage.chunks;
        if (c->undecoded && usage.undecoded > 0)
            result = c->undecoded(object->path, usage.undecoded, c->ctx);
    }
    drep_dataset_close(ds);
    return result;
}

int undecoded_below(drep_file *file, const char *path, undecoded_fn *fn, void *ctx)
{
    struct counted c = {.file = file, .undecoded = fn, .ctx = ctx};

    return drep_visit(file, path, DREP_BY_CREATION, count_chunks, &c);
}

int filtered_below(drep_file *file, const char *path, int64_t *chunks)
{
    struct counted c = {.file = file};
    int err = drep_visit(file, path, DREP_BY_CREATION, count_chunks, &c);

    *chunks = c.filtered;
    return err;
}
