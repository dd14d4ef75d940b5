/* data_model.h - a plain in-memory model of a container: what test_data_model.c holds
 * the library against.  Values are kept by their numbers (data_help.h). */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DATA_MODEL_H
#define TESTS_DATA_MODEL_H

#include "data_help.h"

#define ELEMENTS 600 /* of one dataset */
#define OBJECTS 30
#define LINKS 48
#define ATTRS 3
#define NONE (-1)

struct m_attr {
    bool used;
    int kind, n;
    uint32_t value[4];
};

struct m_object {
    bool used;
    int kind; /* DREP_OBJ_... */
    int links;
    int type; /* V_..., of a dataset or a named type */
    int rank, layout;
    int64_t dims[4], max[4];
    int dim[4];     /* dimension objects, or NONE */
    int64_t len;    /* of a dimension */
    bool unlimited; /* likewise */
    uint32_t fill;
    uint32_t value[ELEMENTS];
    struct m_attr attr[ATTRS]; /* "a0", "a1", "a2" */
};

struct m_link {
    bool used;
    int group, kind; /* of it: DREP_LINK_... */
    int target;      /* hard: object */
    char name[8];
    char path[200]; /* soft, external */
};

/* Object 0 is the root. */
struct model {
    struct m_object object[OBJECTS];
    struct m_link link[LINKS];
    int names; /* given so far */
};

static inline void model_init(struct model *m)
{
    memset(m, 0, sizeof *m);
    m->object[0] = (struct m_object){.used = true, .kind = DREP_OBJ_GROUP, .links = 1};
}

static inline int free_object(const struct model *m)
{
    for (int i = 1; i < OBJECTS; i++)
        if (!m->object[i].used)
            return i;
    return NONE;
}

static inline int free_link(const struct model *m)
{
    for (int i = 0; i < LINKS; i++)
        if (!m->link[i].used)
            return i;
    return NONE;
}

/* A random object of a kind (0: any but the root), or NONE. */
static inline int some_object(const struct model *m, struct rnd *r, int kind)
{
    int found = NONE, n = 0;

    for (int i = 0; i < OBJECTS; i++)
        if (m->object[i].used && (kind == 0 ? i != 0 : m->object[i].kind == kind) &&
            rnd_below(r, (uint64_t)++n) == 0)
            found = i;
    return found;
}

static inline int some_link(const struct model *m, struct rnd *r)
{
    int found = NONE, n = 0;

    for (int i = 0; i < LINKS; i++)
        if (m->link[i].used && rnd_below(r, (uint64_t)++n) == 0)
            found = i;
    return found;
}

static inline void object_path(const struct model *m, int object, char *path);

/* Dimensions are links here, whose paths are addresses. */
static inline bool is_dimension(const struct model *m, int link)
{
    return m->link[link].kind == DREP_LINK_HARD &&
           m->object[m->link[link].target].kind == DREP_OBJ_DIMENSION;
}

/* "/g1/x2", "/g1/#x3" */
static inline void link_path(const struct model *m, int link, char *path)
{
    object_path(m, m->link[link].group, path);
    if (strcmp(path, "/") != 0)
        strcat(path, "/");
    if (is_dimension(m, link))
        strcat(path, "#");
    strcat(path, m->link[link].name);
}

/* By its first hard link. */
static inline void object_path(const struct model *m, int object, char *path)
{
    strcpy(path, "/");
    if (object == 0)
        return;
    for (int i = 0; i < LINKS; i++)
        if (m->link[i].used && m->link[i].kind == DREP_LINK_HARD && m->link[i].target == object) {
            link_path(m, i, path);
            return;
        }
    ck_abort_msg("object %d has no link", object);
}

/* Is `needle` the group `top` or below it? */
static inline bool is_below(const struct model *m, int needle, int top)
{
    if (needle == top)
        return true;
    for (int i = 0; i < LINKS; i++)
        if (m->link[i].used && m->link[i].kind == DREP_LINK_HARD && m->link[i].group == top &&
            m->object[m->link[i].target].kind == DREP_OBJ_GROUP &&
            is_below(m, needle, m->link[i].target))
            return true;
    return false;
}

static inline void model_unlink(struct model *m, int link)
{
    int object = m->link[link].target;

    m->link[link].used = false;
    if (m->link[link].kind != DREP_LINK_HARD || --m->object[object].links > 0)
        return;
    for (int i = 0; i < LINKS; i++)
        if (m->link[i].used && m->link[i].group == object)
            model_unlink(m, i);
    for (int i = 0; i < OBJECTS; i++) /* whoever used a dimension has none now */
        for (int d = 0; d < m->object[i].rank; d++)
            if (m->object[i].used && m->object[i].dim[d] == object)
                m->object[i].dim[d] = NONE;
    m->object[object].used = false;
    m->object[object].kind = 0;
}

/* A new link in a random group; its path. */
static inline int model_link(struct model *m, struct rnd *r, int kind, int target, char *path)
{
    int i = free_link(m), group = some_object(m, r, DREP_OBJ_GROUP);

    if (i == NONE)
        return NONE;
    m->link[i] = (struct m_link){.group = group, .kind = kind, .target = target};
    snprintf(m->link[i].name, sizeof m->link[i].name, "%c%d", "gxyz"[m->names % 4],
             m -> names % 99999);
    m->names++;
    link_path(m, i, path);
    m->link[i].used = true; /* not before: it may be a circle */
    return i;
}

/* A copy of an object, with all below it, as a new link of a group; the models may be one.
 * place[i]: where object i comes, NONE: it is not in the copy.  False: there is no room, or a
 * dimension stays behind in another model. */
static inline bool model_copy(const struct model *of, int object, struct model *to, int group,
                              int link, int *place)
{
    struct model now = *to;
    bool more = true;
    int free = 1;

    for (int i = 0; i < OBJECTS; i++)
        place[i] = NONE;
    place[object] = 0;
    while (more) {
        more = false;
        for (int i = 0; i < LINKS; i++)
            if (of->link[i].used && of->link[i].kind == DREP_LINK_HARD &&
                place[of->link[i].group] != NONE && place[of->link[i].target] == NONE) {
                place[of->link[i].target] = 0;
                more = true;
            }
    }
    for (int i = 0; i < OBJECTS; i++) {
        if (place[i] == NONE)
            continue;
        while (free < OBJECTS && now.object[free].used)
            free++;
        if (free == OBJECTS)
            return false;
        now.object[free] = of->object[i];
        now.object[free].links = i == object;
        place[i] = free;
    }
    for (int i = 0; i < OBJECTS; i++)
        for (int d = 0; place[i] != NONE && d < of->object[i].rank; d++) {
            int dim = of->object[i].dim[d];

            if (dim != NONE && place[dim] != NONE)
                now.object[place[i]].dim[d] = place[dim];
            else if (dim != NONE && of != to)
                return false;
        }
    for (int i = 0; i < LINKS; i++) {
        int at;

        if (!of->link[i].used || place[of->link[i].group] == NONE)
            continue;
        at = free_link(&now);
        if (at == NONE || at == link)
            return false;
        now.link[at] = of->link[i];
        now.link[at].group = place[of->link[i].group];
        if (now.link[at].kind == DREP_LINK_HARD) {
            now.link[at].target = place[of->link[i].target];
            now.object[now.link[at].target].links++;
        }
    }
    now.link[link].group = group;
    now.link[link].target = place[object];
    *to = now;
    return true;
}

static inline int64_t elements(const struct m_object *o)
{
    int64_t n = 1;

    for (int d = 0; d < o->rank; d++)
        n *= o->dims[d];
    return n;
}

/* The values of a changed shape: those in both, fill elsewhere. */
static inline void model_reshape(struct m_object *o, const int64_t *dims)
{
    static uint32_t value[ELEMENTS];
    struct m_object now = *o;
    int64_t n;

    memcpy(now.dims, dims, sizeof now.dims);
    n = elements(&now);
    for (int64_t i = 0; i < n; i++) {
        int64_t left = i, at = 0, unit = 1;
        bool in = true;

        for (int d = o->rank - 1; d >= 0; d--) {
            int64_t k = left % dims[d];

            left /= dims[d];
            in &= k < o->dims[d];
            at += k * unit;
            unit *= o->dims[d];
        }
        value[i] = in ? o->value[at] : o->fill;
    }
    memcpy(o->dims, dims, sizeof o->dims);
    memcpy(o->value, value, (size_t)n * sizeof *value);
}

/* ---- selections: the library's, and the elements' numbers one by one ---- */

struct choice {
    drep_selection *sel; /* NULL: all */
    int64_t n;
    int64_t at[2 * ELEMENTS];
};

static inline void choose_points(const struct m_object *o, struct rnd *r, struct choice *c)
{
    int64_t coords[40 * 4];

    c->n = elements(o) == 0 ? 0 : (int64_t)rnd_below(r, 40);
    for (int64_t i = 0; i < c->n; i++) {
        c->at[i] = 0;
        for (int d = 0; d < o->rank; d++) {
            coords[i * o->rank + d] = (int64_t)rnd_below(r, (uint64_t)o->dims[d]);
            c->at[i] = c->at[i] * o->dims[d] + coords[i * o->rank + d];
        }
    }
    ok(drep_select_points(o->rank, c->n, coords, &c->sel));
}

static inline void choose_box(const struct m_object *o, struct rnd *r, struct choice *c)
{
    int64_t start[4], count[4], stride[4], block[4], index[4][ELEMENTS], n[4], k[4] = {0};
    bool plain = rnd_below(r, 2);

    c->n = 1;
    for (int d = 0; d < o->rank; d++) {
        int64_t len = o->dims[d];

        start[d] = len == 0 ? 0 : (int64_t)rnd_below(r, (uint64_t)len);
        block[d] = plain || len == 0 ? 1 : 1 + (int64_t)rnd_below(r, 3);
        if (block[d] > len - start[d])
            block[d] = len - start[d] > 0 ? len - start[d] : 1;
        stride[d] = plain ? 1 : block[d] + (int64_t)rnd_below(r, 4);
        count[d] = len == 0 ? 0 : 1 + (len - start[d] - block[d]) / stride[d];
        if (rnd_below(r, 3) && count[d] > 0)
            count[d] = 1 + (int64_t)rnd_below(r, (uint64_t)count[d]);
        n[d] = 0;
        for (int64_t i = 0; i < count[d]; i++)
            for (int64_t b = 0; b < block[d]; b++)
                index[d][n[d]++] = start[d] + i * stride[d] + b;
        c->n *= n[d];
    }
    for (int64_t i = 0; i < c->n; i++) {
        c->at[i] = 0;
        for (int d = 0; d < o->rank; d++)
            c->at[i] = c->at[i] * o->dims[d] + index[d][k[d]];
        for (int d = o->rank - 1; d >= 0 && ++k[d] == n[d]; d--)
            k[d] = 0;
    }
    ok(drep_select_box(o->rank, start, count, plain ? NULL : stride, plain ? NULL : block,
                       &c->sel));
}

static inline void choose(const struct m_object *o, struct rnd *r, struct choice *c)
{
    c->sel = NULL;
    if (o->rank > 0 && rnd_below(r, 4) == 0) {
        choose_points(o, r, c);
    } else if (rnd_below(r, 4) != 0) {
        choose_box(o, r, c);
    } else {
        c->n = elements(o);
        for (int64_t i = 0; i < c->n; i++)
            c->at[i] = i;
    }
}

#endif
