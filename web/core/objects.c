/* objects.c - groups, datasets, types, attributes, as JSON. */
/* SPDX-License-Identifier: MIT */
#include "web/core/binding.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_type(const drep_type *type, const drep_encoding *rows, int n)
{
    struct stored s;
    drep_type *memory = NULL;

    stored_fill(&s, rows, n);
    memory_type(type, &s, &memory);
    drep_type_free(memory);
}

/* The rows of a dataset's representation. */
static void put_stored_type(const drep_type *type, int number)
{
    const drep_encoding *rows = NULL;
    int n = 0;

    if (drep_header_types(web_file, number, &rows, &n))
        n = 0;
    put_type(type, rows, n);
}

struct attrs {
    const char *path;
    bool any;
};

static int put_attr(const char *name, void *ctx)
{
    drep_encoding rows[DREP_CODE_MAX + 1];
    drep_attrinfo info = DREP_ATTRINFO;
    struct attrs *a = ctx;
    int n = 0;

    out("%s{\"name\":", a->any ? "," : "");
    a->any = true;
    out_quoted(name);
    if (drep_attr_info(web_file, a->path, name, &info) ||
        drep_attr_encodings(web_file, a->path, name, rows, DREP_CODE_MAX + 1, &n)) {
        out(",\"error\":");
        out_quoted(drep_error());
    } else {
        out(",\"dims\":");
        out_lengths(info.rank, info.dims);
        out(",\"t\":");
        put_type(info.type, rows, n);
    }
    out("}");
    drep_attrinfo_release(&info);
    return 0;
}

static void put_filters(const drep_dsinfo *info)
{
    out(",\"filters\":[");
    for (int i = 0; i < info->nfilters; i++) {
        const char *name = info->filters[i].name;

        out("%s{\"id\":%d,\"name\":", i ? "," : "", info->filters[i].id);
        if (!name)
            name = drep_filter_name(info->filters[i].id);
        out_quoted(name ? name : "");
        out("}");
    }
    out("]");
}

/* The dimensions of a dataset: their addresses, and the datasets with their coordinates. */
static void put_dimensions(const drep_dsinfo *info)
{
    out(",\"dimensions\":[");
    for (int d = 0; d < info->rank; d++) {
        char *address = NULL, *coordinate = NULL;

        out(d ? "," : "");
        if (info->dim_ids[d] && !drep_object_path(web_file, info->dim_ids[d], &address)) {
            out("{\"address\":");
            out_quoted(address);
            if (!drep_dimension_coordinate(web_file, address, &coordinate)) {
                out(",\"coordinate\":");
                out_quoted(coordinate);
            }
            out("}");
        } else {
            out("null");
        }
        free(coordinate);
        free(address);
    }
    out("]");
}

static void put_dataset(const char *path)
{
    static const char *const layouts[] = {"null", "compact", "contiguous", "chunked"};
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *dataset;

    if (drep_dataset_open(web_file, path, &dataset)) {
        out(",\"error\":");
        out_quoted(drep_error());
        return;
    }
    drep_dataset_info(dataset, &info);
    out(",\"dims\":");
    out_lengths(info.rank, info.dims);
    out(",\"maxdims\":");
    out_lengths(info.rank, info.maxdims);
    out(",\"layout\":\"%s\"",
        info.layout >= 0 && info.layout < 4 ? layouts[info.layout] : "unknown");
    out(",\"chunk\":");
    out_lengths(info.layout == DREP_CHUNKED ? info.rank : DREP_NULL_SPACE, info.chunk);
    out(",\"datarep\":");
    out_quoted(info.datarep ? info.datarep : "");
    put_filters(&info);
    put_dimensions(&info);
    out(",\"t\":");
    put_stored_type(info.type, info.datarep_number);
    drep_dataset_close(dataset);
}

/* The object at a path, without the braces. */
static void put_object(const char *path)
{
    drep_objinfo info = DREP_OBJINFO;
    struct attrs attrs = {path, false};
    drep_type *type = NULL;

    if (drep_stat(web_file, path, &info)) {
        out("\"kind\":0,\"error\":");
        out_quoted(drep_error());
        return;
    }
    out("\"kind\":%d,\"id\":\"%llu\",\"members\":%lld,\"len\":%lld,\"attrs\":[", info.kind,
        (unsigned long long)info.id, (long long)info.members, (long long)info.len);
    if (info.attrs)
        drep_attr_list(web_file, path, DREP_BY_CREATION, put_attr, &attrs);
    out("]");
    if (info.kind == DREP_OBJ_DATASET)
        put_dataset(path);
    if (info.kind == DREP_OBJ_TYPE && !drep_type_open(web_file, path, &type)) {
        out(",\"t\":");
        put_type(type, NULL, 0);
        drep_type_free(type);
    }
}

/* {"kind", "id", "members", "attrs": [{"name", "dims", "t"}]}, and of a dataset "dims", "maxdims",
 * "layout", "chunk", "datarep", "filters", "dimensions", "t"; or "error". */
EXPORT("web_object") int web_object(const char *path)
{
    drep_objinfo info = DREP_OBJINFO;
    int err = drep_stat(web_file, path, &info);

    if (err)
        return err;
    out_begin();
    out("{");
    put_object(path);
    out("}");
    return out_end();
}

#define STOP 1

struct listing {
    const char *path;
    int64_t skip, limit;
    bool objects, any, more;
};

static int put_link(const drep_linkinfo *link, void *ctx)
{
    struct listing *l = ctx;
    char *path;

    if (l->skip > 0)
        return l->skip--, 0;
    if (l->limit-- == 0)
        return l->more = true, STOP;
    out("%s{\"name\":", l->any ? "," : "");
    l->any = true;
    out_quoted(link->name);
    out(",\"link\":%d,\"kind\":%d", link->link, link->kind);
    if (link->target) {
        out(",\"target\":");
        out_quoted(link->target);
    }
    if (link->target_file) {
        out(",\"file\":");
        out_quoted(link->target_file);
    }
    if (l->objects && (link->link == DREP_LINK_HARD || link->link == DREP_LINK_SOFT)) {
        if (asprintf(&path, "%s/%s", strcmp(l->path, "/") ? l->path : "", link->name) < 0)
            return DREP_ERR_NOMEM;
        out(",\"object\":{");
        put_object(path);
        out("}");
        free(path);
    }
    out("}");
    return 0;
}

/* At most `limit` members of a group after the first `skip`, in the order of creation; objects:
 * each with what web_object() answers.  {"links": [{"name", "link", "kind", "target", "file",
 * "object"}], "more": there are further ones}. */
EXPORT("web_links") int web_links(const char *path, double skip, double limit, int objects)
{
    struct listing l = {path, (int64_t)skip, (int64_t)limit, objects, false, false};
    int err;

    out_begin();
    out("{\"links\":[");
    err = drep_list(web_file, path, DREP_BY_CREATION, put_link, &l);
    out("],\"more\":%s}", l.more ? "true" : "false");
    return l.more || !err ? out_end() : err;
}

struct visit {
    bool any;
    int64_t left;
};

static int put_path(const drep_visited *object, void *ctx)
{
    struct visit *v = ctx;

    if (object->kind == DREP_OBJ_DIMENSION)
        return 0;
    if (v->left-- == 0)
        return STOP;
    out(v->any ? "," : "");
    v->any = true;
    out_quoted(object->path);
    return 0;
}

/* The paths of the objects at and beneath one, at most `limit`. */
EXPORT("web_paths") int web_paths(const char *path, double limit)
{
    struct visit v = {false, (int64_t)limit};
    int err;

    out_begin();
    out("[");
    err = drep_visit(web_file, path, DREP_BY_CREATION, put_path, &v);
    out("]");
    return v.left < 0 || !err ? out_end() : err;
}

/* The path of an object, as a text in quotes; id in decimal digits. */
EXPORT("web_path") int web_path(const char *id)
{
    char *path = NULL;
    int err = drep_object_path(web_file, strtoull(id, NULL, 10), &path);

    if (err)
        return err;
    out_begin();
    out_quoted(path);
    free(path);
    return out_end();
}
