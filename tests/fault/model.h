/* model.h - random changes of a container, made in memory too, and one number that says what
 * a container holds.
 *
 * The number is a sum over everything that can be asked: names in both orders, kinds, links,
 * shapes, every value, every attribute.  The model computes it from plain arrays, look() from
 * the file, so millions of files can be held against it.  A value is an integer; datasets of
 * strings hold its text. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_MODEL_H
#define TESTS_FAULT_MODEL_H

#include <datarep.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- randomness and sums ---- */

struct rng {
    uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->s += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 29;
}

static inline uint64_t mix_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = mix(h, (unsigned char)*s);
    return mix(h, 256);
}

static inline uint64_t mix_values(uint64_t h, const int32_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        h = mix(h, (uint32_t)v[i]);
    return h;
}

/* ---- the model ---- */

#define NODES 48
#define LINKS 12
#define ATTRS 6
#define VALUES 12288  /* of one dataset */
#define ATTR_MAX 1500 /* of one attribute: beyond what stands in a leaf */
#define TEXT_MAX 64

enum layout { COMPACT, ROWS, BLOCK, TILES, PACKED, STRINGS, STRIPES, LINE, LAYOUTS };

struct m_attr {
    char name[8];
    int32_t n, v[ATTR_MAX];
};

struct m_link {
    char name[8], target[16]; /* soft: the target */
    int node;                 /* hard: the node, else -1 */
};

struct m_node {
    int links; /* hard ones to it; 0: not there */
    bool group;
    int nattrs, nlinks;
    struct m_attr attr[ATTRS];
    struct m_link link[LINKS];
    /* A dataset. */
    int layout, rank;
    int64_t dims[2];
    int32_t fill, *v;
};

struct model {
    struct m_node node[NODES]; /* 0: the root */
    int names;                 /* given so far */
};

static inline void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    m->node[0].links = 1;
    m->node[0].group = true;
}

static inline void model_release(struct model *m)
{
    for (int i = 0; i < NODES; i++)
        free(m->node[i].v);
    memset(m, 0, sizeof *m);
}

static inline void model_copy(struct model *to, const struct model *from)
{
    model_release(to);
    *to = *from;
    for (int i = 0; i < NODES; i++) {
        if (from->node[i].v) {
            to->node[i].v = malloc(VALUES * sizeof(int32_t));
            memcpy(to->node[i].v, from->node[i].v, VALUES * sizeof(int32_t));
        }
    }
}

static inline int64_t count_of(const struct m_node *d)
{
    int64_t n = 1;

    for (int k = 0; k < d->rank; k++)
        n *= d->dims[k];
    return n;
}

/* What a dataset of strings holds for a value; 0 is the empty string. */
static inline void text_of(int32_t v, char text[TEXT_MAX])
{
    int n = (int)((uint32_t)v % (TEXT_MAX - 14));

    *text = '\0';
    if (v)
        snprintf(text, TEXT_MAX, "%d%.*s", v, n,
                 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
}

/* ---- its number ---- */

static inline uint64_t sum_of_attr(uint64_t h, const char *name, const int32_t *v, int64_t n)
{
    return mix_values(mix(mix_text(h, name), (uint64_t)n), v, n);
}

static inline uint64_t sum_of_link(uint64_t h, const char *name, const char *target)
{
    return mix_text(mix_text(h, name), target ? target : "");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t model_node_sum(const struct model *m, int at)
{
    const struct m_node *n = &m->node[at];
    uint64_t h = mix(mix(7, n->group), (uint64_t)n->links);
    const char *names[LINKS];

    for (int i = 0; i < n->nattrs; i++)
        h = sum_of_attr(h, n->attr[i].name, n->attr[i].v, n->attr[i].n);
    for (int i = 0; i < n->nlinks; i++) {
        const struct m_link *l = &n->link[i];

        names[i] = l->name;
        h = sum_of_link(h, l->name, l->node < 0 ? l->target : NULL);
        if (l->node >= 0)
            h = mix(h, model_node_sum(m, l->node));
    }
    qsort(names, (size_t)n->nlinks, sizeof *names, by_text);
    for (int i = 0; i < n->nlinks; i++)
        h = mix_text(h, names[i]);
    if (!n->group) {
        for (int k = 0; k < n->rank; k++)
            h = mix(h, (uint64_t)n->dims[k]);
        h = mix_values(h, n->v, count_of(n));
    }
    return h;
}

static inline uint64_t model_sum(const struct model *m)
{
    return model_node_sum(m, 0);
}

/* ---- the number of a file ---- */

/* A call failed: what failed stands in drep_error(). */
struct look {
    drep_file *file;
    int err;
};

static uint64_t look_node(struct look *l, const char *path, int depth);

struct look_attrs {
    struct look *l;
    const char *path;
    uint64_t h;
};

static int look_string(struct look_attrs *a, const char *name)
{
    char *text = NULL;
    int err = drep_attr_read(a->l->file, a->path, name, NULL, &text);

    if (!err)
        a->h = mix_text(mix_text(a->h, name), text);
    free(text);
    return err;
}

static int look_attr(const char *name, void *ctx)
{
    struct look_attrs *a = ctx;
    int32_t v[ATTR_MAX];
    drep_attrinfo info = DREP_ATTRINFO;
    int err = drep_attr_info(a->l->file, a->path, name, &info);

    if (err)
        return err;
    if (drep_type_kind(info.type) == DREP_KIND_VSTRING)
        err = look_string(a, name);
    else if (info.rank > 1 || info.count > ATTR_MAX)
        err = DREP_ERR_DIMS;
    else if ((err = drep_attr_read(a->l->file, a->path, name, DREP_INT32_T, v)) == 0)
        a->h = sum_of_attr(a->h, name, v, info.count);
    drep_attrinfo_release(&info);
    return err;
}

struct look_links {
    struct look *l;
    const char *path;
    uint64_t h;
    int depth;
};

static int look_link(const drep_linkinfo *link, void *ctx)
{
    struct look_links *g = ctx;
    char path[200];

    g->h = sum_of_link(g->h, link->name, link->target);
    if (link->link != DREP_LINK_HARD)
        return 0;
    snprintf(path, sizeof path, "%s/%s", g->path, link->name);
    g->h = mix(g->h, look_node(g->l, path, g->depth + 1));
    return g->l->err;
}

static int look_name(const drep_linkinfo *link, void *ctx)
{
    uint64_t *h = ctx;

    *h = mix_text(*h, link->name);
    return 0;
}

static uint64_t look_strings(struct look *l, drep_dataset *ds, const drep_type *type, uint64_t h,
                             int64_t n)
{
    char **text = calloc((size_t)n + 1, sizeof *text), want[TEXT_MAX];

    l->err = drep_read(ds, NULL, type, text, NULL);
    for (int64_t i = 0; !l->err && i < n; i++) {
        int32_t v = (int32_t)strtol(text[i], NULL, 10);

        text_of(v, want);
        h = mix(h, strcmp(text[i], want) == 0 ? (uint32_t)v : UINT64_MAX);
    }
    drep_vlen_free(type, n, text);
    free(text);
    return h;
}

static uint64_t look_dataset(struct look *l, const char *path, uint64_t h)
{
    static _Thread_local int32_t v[VALUES];
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    l->err = drep_dataset_open(l->file, path, &ds);
    if (l->err)
        return h;
    l->err = drep_dataset_info(ds, &info);
    for (int k = 0; !l->err && k < info.rank; k++)
        h = mix(h, (uint64_t)info.dims[k]);
    if (!l->err && info.count > VALUES)
        l->err = DREP_ERR_DIMS;
    if (!l->err && drep_type_kind(info.type) == DREP_KIND_VSTRING) {
        h = look_strings(l, ds, info.type, h, info.count);
    } else if (!l->err) {
        l->err = drep_read(ds, NULL, DREP_INT32_T, v, NULL);
        h = l->err ? h : mix_values(h, v, info.count);
    }
    drep_dataset_close(ds);
    return h;
}

static uint64_t look_node(struct look *l, const char *path, int depth)
{
    const char *name = *path ? path : "/";
    struct look_attrs a = {l, name, 0};
    struct look_links g = {l, path, 0, depth};
    drep_objinfo info = DREP_OBJINFO;

    l->err = drep_stat(l->file, name, &info);
    if (l->err)
        return 0;
    /* The root has one hard link more than entries name. */
    a.h = mix(mix(7, info.kind == DREP_OBJ_GROUP), info.links);
    l->err = drep_attr_list(l->file, name, DREP_BY_CREATION, look_attr, &a);
    if (l->err || info.kind == DREP_OBJ_DATASET)
        return l->err ? 0 : look_dataset(l, name, a.h);
    g.h = a.h;
    if (info.kind != DREP_OBJ_GROUP)
        return mix(mix(a.h, (uint64_t)info.kind), (uint64_t)info.len);
    l->err =
        depth < 12 ? drep_list(l->file, name, DREP_BY_CREATION, look_link, &g) : DREP_ERR_LIMIT;
    if (!l->err)
        l->err = drep_list(l->file, name, DREP_BY_NAME, look_name, &g.h);
    return g.h;
}

/* 0, or the error of the call that failed. */
static inline int look(drep_file *f, uint64_t *sum)
{
    struct look l = {f, 0};

    *sum = look_node(&l, "", 0);
    return l.err;
}

/* ---- paths ---- */

static void join(char path[200], const char *above, const char *name)
{
    if (snprintf(path, 200, "%s/%s", above, name) >= 200)
        abort();
}

/* The path of a node by any of its links; "" is the root. */
static bool path_of(const struct model *m, int node, char path[200])
{
    char above[200];

    path[0] = '\0';
    if (node == 0)
        return true;
    for (int g = 0; g < NODES; g++) {
        for (int i = 0; m->node[g].links && i < m->node[g].nlinks; i++) {
            if (m->node[g].link[i].node != node || !path_of(m, g, above))
                continue;
            join(path, above, m->node[g].link[i].name);
            return true;
        }
    }
    return false;
}

static int depth_of(const struct model *m, int node)
{
    char path[200];
    int n = 0;

    path_of(m, node, path);
    for (const char *p = path; *p; p++)
        n += *p == '/';
    return n;
}

/* A random node: a group with room for a link, a dataset, or any of both. */
enum { ANY, GROUP, DATASET };
static int some_node(const struct model *m, struct rng *r, int what)
{
    int found = -1, n = 0;

    for (int i = 0; i < NODES; i++) {
        const struct m_node *d = &m->node[i];

        if (!d->links || (what == GROUP && (!d->group || d->nlinks == LINKS)) ||
            (what == DATASET && d->group))
            continue;
        if (below(r, (uint64_t)++n) == 0)
            found = i;
    }
    return found;
}

static int free_node(const struct model *m)
{
    for (int i = 0; i < NODES; i++) {
        if (!m->node[i].links)
            return i;
    }
    return -1;
}

/* ---- changes: each is made on both sides, and gives the library's error ---- */

struct both {
    drep_file *file;
    struct model *model;
    struct rng *rng;
};

static void new_link(struct both *b, int group, int node, const char *target, char path[200])
{
    struct m_node *g = &b->model->node[group];
    struct m_link *l = &g->link[g->nlinks++];
    char above[200];

    memset(l, 0, sizeof *l);
    snprintf(l->name, sizeof l->name, "%c%d", "dgabz"[b->model->names % 5],
             b -> model -> names % 100000);
    b->model->names++;
    l->node = node;
    if (target)
        snprintf(l->target, sizeof l->target, "%s", target);
    path_of(b->model, group, above);
    join(path, above, l->name);
}

static int do_group(struct both *b)
{
    int group = some_node(b->model, b->rng, GROUP), node = free_node(b->model);
    char path[200];

    if (group < 0 || node < 0 || depth_of(b->model, group) > 3)
        return 0;
    new_link(b, group, node, NULL, path);
    b->model->node[node] = (struct m_node){.links = 1, .group = true};
    return drep_group_create(b->file, path, 0);
}

static int random_filters(struct both *b, drep_filter *filter)
{
    static const int packers[] = {DREP_FILTER_LZ4, DREP_FILTER_ZSTD, DREP_FILTER_DEFLATE};
    int packer = packers[below(b->rng, 3)], n = 0;

    filter[n++] = (drep_filter){.id = DREP_FILTER_SHUFFLE};
    if (drep_filter_available(packer))
        filter[n++] = (drep_filter){.id = packer, .level = 1};
    return n;
}

/* The shapes that there are: what is small, what grows, what comes in runs, in filters. */
static int do_dataset(struct both *b)
{
    static const int64_t chunks[LAYOUTS][2] = {[TILES] = {16, 24},
                                               [PACKED] = {20, 32},
                                               [STRINGS] = {24},
                                               [STRIPES] = {2, 1024},
                                               [LINE] = {2500}};
    static const int64_t unlimited[2] = {DREP_UNLIMITED, DREP_UNLIMITED};
    int group = some_node(b->model, b->rng, GROUP), node = free_node(b->model), err = 0;
    drep_filter filter[2];
    drep_type *string = NULL;
    struct m_node *d;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T);
    char path[200];

    if (group < 0 || node < 0)
        return 0;
    new_link(b, group, node, NULL, path);
    d = &b->model->node[node];
    *d = (struct m_node){.links = 1, .layout = (int)below(b->rng, LAYOUTS)};
    d->rank = d->layout == COMPACT || d->layout == ROWS || d->layout == STRINGS || d->layout == LINE
                  ? 1
                  : 2;
    for (int k = 0; k < d->rank; k++)
        d->dims[k] = 1 + (int64_t)below(b->rng, d->rank == 1 ? 300 : 60);
    if (d->layout == ROWS)
        d->dims[0] = (int64_t)below(b->rng, 6000);
    if (d->layout == STRIPES)
        d->dims[1] = 1 + (int64_t)below(b->rng, 3000), d->dims[0] = 1 + (int64_t)below(b->rng, 4);
    d->fill = d->layout != STRINGS && below(b->rng, 3) == 0 ? (int32_t)below(b->rng, 1000) : 0;
    d->v = malloc(VALUES * sizeof *d->v);
    for (int64_t i = 0; i < VALUES; i++)
        d->v[i] = d->fill;
    spec.rank = d->rank;
    spec.dims = d->dims;
    spec.layout = d->layout == COMPACT                      ? DREP_COMPACT
                  : d->layout == ROWS || d->layout == BLOCK ? DREP_CONTIGUOUS
                                                            : DREP_CHUNKED;
    if (d->layout != COMPACT && d->layout != BLOCK)
        spec.maxdims = unlimited;
    if (spec.layout == DREP_CHUNKED)
        spec.chunk = chunks[d->layout];
    if (d->layout == PACKED)
        spec.nfilters = random_filters(b, filter);
    if (spec.nfilters > 0)
        spec.filters = filter;
    if (d->layout == STRINGS) {
        err = drep_type_vstring(&string);
        spec.type = string;
    }
    spec.fill = d->fill ? DREP_FILL_VALUE : DREP_FILL_DEFAULT;
    spec.fill_value = d->fill ? &d->fill : NULL;
    if (!err)
        err = drep_dataset_create(b->file, path, &spec, NULL);
    drep_type_free(string);
    return err;
}

static int write_values(drep_dataset *ds, const struct m_node *d, const drep_selection *sel,
                        const int32_t *v, int64_t n)
{
    static _Thread_local char text[VALUES][TEXT_MAX];
    static _Thread_local char *p[VALUES];

    if (d->layout != STRINGS)
        return drep_write(ds, sel, DREP_INT32_T, v, NULL);
    for (int64_t i = 0; i < n; i++) {
        text_of(v[i], text[i]);
        p[i] = text[i];
    }
    return drep_write(ds, sel, NULL, p, NULL);
}

static int do_write(struct both *b)
{
    static _Thread_local int32_t v[VALUES];
    int node = some_node(b->model, b->rng, DATASET), err;
    int64_t start[2] = {0}, count[2] = {1, 1}, stride[2] = {1, 1}, n = 0;
    drep_selection *sel;
    drep_dataset *ds;
    struct m_node *d;
    char path[200];

    if (node < 0 || count_of(&b->model->node[node]) == 0)
        return 0;
    d = &b->model->node[node];
    for (int k = 0; k < d->rank; k++) {
        stride[k] = below(b->rng, 4) ? 1 : 1 + (int64_t)below(b->rng, 3);
        start[k] = below(b->rng, 3) ? (int64_t)below(b->rng, (uint64_t)d->dims[k]) : 0;
        count[k] = 1 + (d->dims[k] - start[k] - 1) / stride[k];
        if (below(b->rng, 3))
            count[k] = 1 + (int64_t)below(b->rng, (uint64_t)count[k]);
    }
    for (int64_t i = 0; i < count[0]; i++) {
        for (int64_t k = 0; k < count[1]; k++, n++) {
            int64_t at = start[0] + i * stride[0];

            v[n] = below(b->rng, 9) ? (int32_t)below(b->rng, 100000) : 0;
            d->v[d->rank == 1 ? at : at * d->dims[1] + start[1] + k * stride[1]] = v[n];
        }
    }
    path_of(b->model, node, path);
    err = drep_dataset_open(b->file, path, &ds);
    if (err)
        return err;
    err = drep_select_box(d->rank, start, count, stride, NULL, &sel);
    if (!err) {
        err = write_values(ds, d, sel, v, n);
        drep_selection_free(sel);
    }
    drep_dataset_close(ds);
    return err;
}

/* The last value does not fit: nothing of the write stays, but much of it was written. */
static int do_failing_write(struct both *b)
{
    static _Thread_local double v[VALUES];
    int node = some_node(b->model, b->rng, DATASET), err;
    drep_dataset *ds;
    char path[200];
    int64_t n;

    if (node < 0 || b->model->node[node].layout == STRINGS)
        return 0;
    n = count_of(&b->model->node[node]);
    if (n == 0)
        return 0;
    for (int64_t i = 0; i < n; i++)
        v[i] = (double)i;
    v[n - 1] = 1e12;
    path_of(b->model, node, path);
    err = drep_dataset_open(b->file, path, &ds);
    if (err)
        return err;
    err = drep_write(ds, NULL, DREP_DOUBLE, v, NULL);
    drep_dataset_close(ds);
    return err == DREP_ERR_CONVERSION ? 0 : err ? err : DREP_ERR_FORMAT;
}

/* A dataset that stands in one line, if there is one: its last chunk grows across commits. */
static int some_line(struct both *b)
{
    int node = -1;

    for (int tries = 0; tries < 8; tries++) {
        node = some_node(b->model, b->rng, DATASET);
        if (node < 0 || b->model->node[node].layout == LINE || b->model->node[node].layout == ROWS)
            break;
    }
    return node;
}

/* Rows one at a time: they wait in memory until something else needs the dataset, or a commit. */
static int do_append(struct both *b)
{
    int node = some_line(b), err;
    struct m_node *d;
    drep_dataset *ds;
    char path[200];
    int64_t width, rows;

    if (node < 0)
        return 0;
    d = &b->model->node[node];
    width = d->rank == 2 ? d->dims[1] : 1;
    if (d->layout == COMPACT || d->layout == BLOCK || d->layout == STRINGS || width == 0)
        return 0;
    rows = 1 + (int64_t)below(b->rng, d->rank == 2 ? 4 : 60);
    path_of(b->model, node, path);
    err = drep_dataset_open(b->file, path, &ds);
    if (err)
        return err;
    for (; !err && rows > 0 && (d->dims[0] + 1) * width <= VALUES; rows--) {
        int32_t *v = d->v + d->dims[0] * width;

        for (int64_t i = 0; i < width; i++)
            v[i] = (int32_t)below(b->rng, 100000);
        d->dims[0]++;
        err = drep_append(ds, 0, 1, DREP_INT32_T, v, NULL);
    }
    drep_dataset_close(ds);
    return err;
}

static int do_resize(struct both *b)
{
    static _Thread_local int32_t old[VALUES];
    int node = some_node(b->model, b->rng, DATASET), err;
    int64_t dims[2] = {1, 1}, was[2];
    struct m_node *d;
    drep_dataset *ds;
    char path[200];

    if (node < 0)
        return 0;
    d = &b->model->node[node];
    if (d->layout == COMPACT || d->layout == BLOCK)
        return 0;
    was[0] = d->dims[0];
    was[1] = d->rank == 2 ? d->dims[1] : 1;
    dims[0] = (int64_t)below(b->rng, d->layout == ROWS      ? 8000
                                     : d->layout == STRIPES ? 4
                                     : d->rank == 1         ? 400
                                                            : 90);
    if (d->rank == 2)
        dims[1] = (int64_t)below(b->rng, d->layout == STRIPES ? 3000 : 90);
    path_of(b->model, node, path);
    err = drep_dataset_open(b->file, path, &ds);
    if (err)
        return err;
    err = drep_dataset_resize(ds, dims);
    drep_dataset_close(ds);
    memcpy(old, d->v, sizeof old);
    for (int64_t i = 0; i < VALUES; i++) {
        int64_t y = dims[1] ? i / dims[1] : 0, x = dims[1] ? i % dims[1] : 0;

        d->v[i] = y < dims[0] && y < was[0] && x < was[1] ? old[y * was[1] + x] : d->fill;
    }
    d->dims[0] = dims[0];
    d->dims[1] = dims[1];
    return err;
}

static int do_attr(struct both *b)
{
    static const int32_t sizes[] = {0, 3, 100, 300, 480, 480, ATTR_MAX}; /* 480: just in a leaf */
    int node = some_node(b->model, b->rng, ANY), i;
    struct m_node *d = &b->model->node[node];
    struct m_attr *a;
    char path[200], name[8];
    int64_t n;

    snprintf(name, sizeof name, "a%d", (int)below(b->rng, ATTRS));
    path_of(b->model, node, path);
    for (i = 0; i < d->nattrs && strcmp(d->attr[i].name, name) != 0; i++)
        ;
    a = &d->attr[i];
    if (i < d->nattrs && below(b->rng, 3) == 0) {
        memmove(a, a + 1, (size_t)(--d->nattrs - i) * sizeof *a);
        return drep_attr_remove(b->file, node ? path : "/", name);
    }
    d->nattrs += i == d->nattrs;
    memcpy(a->name, name, sizeof a->name);
    a->n = sizes[below(b->rng, sizeof sizes / sizeof *sizes)];
    n = a->n;
    for (int64_t k = 0; k < n; k++)
        a->v[k] = (int32_t)below(b->rng, 1 << 30);
    return drep_attr_write(b->file, node ? path : "/", name, DREP_INT32_T, 1, &n, a->v);
}

static int do_link(struct both *b)
{
    int group = some_node(b->model, b->rng, GROUP), node = some_node(b->model, b->rng, DATASET);
    char path[200], target[200];

    if (group < 0 || node < 0)
        return 0;
    if (below(b->rng, 2)) {
        new_link(b, group, -1, "/some/where", path);
        return drep_link_soft(b->file, "/some/where", path);
    }
    path_of(b->model, node, target);
    new_link(b, group, node, NULL, path);
    b->model->node[node].links++;
    return drep_link_hard(b->file, target, path);
}

static void drop_link(struct model *m, int group, int i)
{
    struct m_node *g = &m->node[group];
    int node = g->link[i].node;

    memmove(&g->link[i], &g->link[i + 1], (size_t)(--g->nlinks - i) * sizeof *g->link);
    if (node < 0 || --m->node[node].links > 0)
        return;
    while (m->node[node].nlinks)
        drop_link(m, node, 0);
    free(m->node[node].v);
    m->node[node] = (struct m_node){0};
}

/* A random link: its group, or -1. */
static int some_link(struct both *b, int *i, char path[200])
{
    int group = some_node(b->model, b->rng, ANY);
    const struct m_node *g = &b->model->node[group];
    char above[200];

    if (!g->group || g->nlinks == 0)
        return -1;
    *i = (int)below(b->rng, (uint64_t)g->nlinks);
    path_of(b->model, group, above);
    join(path, above, g->link[*i].name);
    return group;
}

static int do_seal(struct both *b)
{
    return below(b->rng, 3) ? 0 : drep_seal(b->file, NULL);
}

static int do_remove(struct both *b)
{
    char path[200];
    int i, group = some_link(b, &i, path);

    if (group < 0)
        return 0;
    drop_link(b->model, group, i);
    return drep_link_remove(b->file, path);
}

static int do_move(struct both *b)
{
    char from[200], to[200];
    int i, group = some_link(b, &i, from), where = some_node(b->model, b->rng, GROUP);
    struct m_node *g = &b->model->node[group < 0 ? 0 : group];
    struct m_link l;

    if (group < 0 || where < 0)
        return 0;
    l = g->link[i];
    if (l.node >= 0 && b->model->node[l.node].group) /* it might go below itself */
        return 0;
    memmove(&g->link[i], &g->link[i + 1], (size_t)(--g->nlinks - i) * sizeof *g->link);
    new_link(b, where, l.node, l.node < 0 ? l.target : NULL, to);
    return drep_link_move(b->file, from, to);
}

/* One random change on both sides. */
static inline int change(struct both *b)
{
    static int (*const often[])(struct both *) = {
        do_group,  do_dataset, do_dataset, do_dataset,      do_write,  do_write,
        do_write,  do_write,   do_write,   do_resize,       do_append, do_append,
        do_append, do_append,  do_attr,    do_attr,         do_attr,   do_link,
        do_seal,   do_remove,  do_move,    do_failing_write};

    return often[below(b->rng, sizeof often / sizeof *often)](b);
}

#endif
