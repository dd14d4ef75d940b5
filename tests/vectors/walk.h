/* walk.h - reads all of a file through the public interface, into one digest.
 *
 * Two files with the same objects, attributes and elements give the same digest; any
 * difference in what a user would see changes it.  For tests that ask whether a damaged
 * file still shows what the whole one did. */
#ifndef VECTORS_WALK_H
#define VECTORS_WALK_H

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    drep_file *file;
    uint64_t digest;
    int err;
    char message[1024];
    char path[8192];
    int data;    /* read elements too */
    int objects; /* met; bounded, so that a damaged file cannot keep us */
    uint64_t seen[4096];
    int nseen;
};

static void walk_mix(struct walk *w, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->digest = (w->digest ^ ((const unsigned char *)p)[i]) * 0x100000001b3u;
}

static void walk_text(struct walk *w, const char *s)
{
    walk_mix(w, s == NULL ? "" : s, (s == NULL ? 0 : strlen(s)) + 1);
}

static int walk_fail(struct walk *w, int err)
{
    if (err != 0 && w->err == 0) {
        w->err = err;
        snprintf(w->message, sizeof w->message, "%s", drep_error());
    }
    return err;
}

static void walk_value(struct walk *w, const drep_type *type, const char *p);

/* Items of an element; pointers are followed, padding is not looked at. */
static void walk_items(struct walk *w, const drep_type *type, const char *p)
{
    int64_t left = drep_type_items(type);
    drep_cursor c;
    drep_run run;

    if (drep_cursor_init(&c, type, 0) != 0)
        return;
    for (; left > 0; left -= run.count) {
        drep_cursor_next(&c, left, &run);
        for (int64_t i = 0; i < run.count; i++)
            walk_value(w, run.type, p + run.offset + i * run.stride);
    }
}

static void walk_value(struct walk *w, const drep_type *type, const char *p)
{
    drep_vlen v;
    drep_ref r;
    char *s;

    switch (drep_type_kind(type)) {
    case DREP_KIND_VSTRING:
        memcpy(&s, p, sizeof s);
        walk_text(w, s);
        break;
    case DREP_KIND_SEQUENCE:
        memcpy(&v, p, sizeof v);
        walk_mix(w, &v.count, sizeof v.count);
        for (int64_t i = 0; i < v.count; i++)
            walk_items(w, drep_type_member(type, 0),
                       (const char *)v.data + i * drep_type_extent(drep_type_member(type, 0)));
        break;
    case DREP_KIND_REFERENCE:
        memcpy(&r, p, sizeof r);
        walk_mix(w, &r.object, sizeof r.object);
        if (drep_type_reference_what(type) == DREP_REF_REGION)
            walk_text(w, r.region);
        break;
    default: /* the padding of a long double is not part of its value */
        walk_mix(w, p,
                 drep_type_code(type) == DREP_CODE_LONG_DOUBLE ? 8 : (size_t)drep_type_size(type));
        break;
    }
}

static void walk_elements(struct walk *w, const drep_type *type, int64_t n, const char *p)
{
    for (int64_t i = 0; i < n; i++)
        walk_items(w, type, p + i * drep_type_extent(type));
}

static void walk_type(struct walk *w, const drep_type *type)
{
    char *text = NULL;

    if (walk_fail(w, drep_type_print(type, &text)) == 0)
        walk_text(w, text);
    free(text);
}

static int walk_attr(const char *name, void *ctx)
{
    struct walk *w = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    char *buf;

    if (walk_fail(w, drep_attr_info(w->file, w->path, name, &info)) != 0)
        return w->err;
    walk_text(w, name);
    walk_type(w, info.type);
    walk_mix(w, &info.rank, sizeof info.rank);
    walk_mix(w, info.dims, sizeof info.dims);
    if (info.count >= 0 && info.count < (1 << 20)) {
        size_t size = (size_t)info.count * (size_t)drep_type_extent(info.type);

        buf = calloc(1, size + 1);
        drep_item item = {.path = w->path, .attr = name, .type = info.type, .buf = buf};

        if (walk_fail(w, drep_readv(w->file, &item, 1, &DREP_XFER(.range = DREP_RANGE_WRAP))) ==
            0) {
            walk_elements(w, info.type, info.count, buf);
            drep_vlen_free(info.type, info.count, buf);
        }
        free(buf);
    }
    drep_attrinfo_release(&info);
    return w->err;
}

static void walk_dataset(struct walk *w)
{
    drep_dsinfo is = DREP_DSINFO, *info = &is;
    drep_dataset *ds = NULL;
    drep_dsusage usage = DREP_DSUSAGE;
    char *buf;

    if (walk_fail(w, drep_dataset_open(w->file, w->path, &ds)) == 0 &&
        walk_fail(w, drep_dataset_info(ds, info)) == 0 &&
        walk_fail(w, drep_dataset_usage(ds, &usage)) == 0) {
        walk_type(w, info->type);
        walk_mix(w, &info->rank, sizeof info->rank);
        walk_mix(w, info->dims, sizeof info->dims);
        walk_mix(w, info->maxdims, sizeof info->maxdims);
        walk_mix(w, &info->layout, sizeof info->layout);
        if (w->data && info->count < (1 << 22)) {
            buf = calloc(1, (size_t)info->count * (size_t)drep_type_extent(info->type) + 1);
            if (walk_fail(w, drep_read(ds, NULL, info->type, buf,
                                       &DREP_XFER(.range = DREP_RANGE_WRAP))) == 0) {
                walk_elements(w, info->type, info->count, buf);
                drep_vlen_free(info->type, info->count, buf);
            }
            free(buf);
        }
    }
    drep_dataset_close(ds);
}

static int walk_object(struct walk *w, int kind);

static int walk_link(const drep_linkinfo *link, void *ctx)
{
    struct walk *w = ctx;
    size_t len = strlen(w->path), n = strlen(link->name);

    walk_text(w, link->name);
    walk_mix(w, &link->link, sizeof link->link);
    walk_text(w, link->target);
    walk_text(w, link->target_file);
    walk_mix(w, &link->id, sizeof link->id);
    if (link->link != DREP_LINK_HARD || len + n + 2 > sizeof w->path)
        return 0;
    for (int i = 0; i < w->nseen; i++)
        if (w->seen[i] == link->id)
            return 0;
    if (w->nseen == (int)(sizeof w->seen / sizeof *w->seen))
        return 0;
    w->seen[w->nseen++] = link->id;
    memcpy(w->path + len, link->name, n + 1);
    if (link->kind == DREP_OBJ_GROUP) {
        w->path[len + n] = '/';
        w->path[len + n + 1] = '\0';
    }
    walk_object(w, link->kind);
    w->path[len] = '\0';
    return w->err;
}

static int walk_object(struct walk *w, int kind)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_type *type;

    if (++w->objects > 100000 || w->err != 0)
        return w->err;
    if (walk_fail(w, drep_stat(w->file, w->path, &info)) != 0)
        return w->err;
    walk_mix(w, &info, sizeof info);
    if (walk_fail(w, drep_attr_list(w->file, w->path, DREP_BY_CREATION, walk_attr, w)) != 0)
        return w->err;
    if (kind == DREP_OBJ_DATASET)
        walk_dataset(w);
    if (kind == DREP_OBJ_TYPE && walk_fail(w, drep_type_open(w->file, w->path, &type)) == 0) {
        walk_type(w, type);
        drep_type_free(type);
    }
    if (kind == DREP_OBJ_GROUP)
        walk_fail(w, drep_list(w->file, w->path, DREP_BY_CREATION, walk_link, w));
    return w->err;
}

/* Reads everything; data: elements too.  Gives 0 or the first error, its message in
 * w->message. */
static int walk_file(struct walk *w, drep_file *file, int data)
{
    memset(w, 0, sizeof *w);
    w->file = file;
    w->data = data;
    w->digest = 0xcbf29ce484222325u;
    strcpy(w->path, "/");
    w->seen[w->nseen++] = 1;
    walk_object(w, DREP_OBJ_GROUP);
    return w->err;
}

#endif
