/* test_data_model.c - a million random calls on a container, against a plain model.
 *
 * After each there is the same tree, the same values; commits, abandoned handles and
 * failed writes leave what they must (D11, D22); a reader sees the commit it looks at,
 * whatever the writer does meanwhile; copies are what they were copied from, also in another
 * file, in other chunks and under another representation.  DREP_TEST_SEED repeats a run. */
/* SPDX-License-Identifier: MIT */
#include "data_model.h"

#include <fcntl.h>

#ifdef __SANITIZE_ADDRESS__
#define OPS 12000 /* under each of the representations */
#else
#define OPS 170000
#endif

struct run {
    struct rnd r;
    struct model now, committed;
    drep_file *f;
    drep_file *reader; /* or NULL */
    struct model seen; /* by the reader */
    const char *path, *copy_path, *datarep;
    long calls;
    drep_type *type[V_KINDS];
    int failed; /* of a write since the last commit */
    _Alignas(16) uint8_t buf[2 * ELEMENTS * VALUE_ROOM];
    struct choice choice;
};

static uint64_t below(struct run *t, uint64_t n)
{
    return rnd_below(&t->r, n);
}

static uint32_t value(struct run *t)
{
    return below(t, 4) == 0 ? 0 : (uint32_t)below(t, 2000);
}

static drep_dataset *open_dataset(struct run *t, int object)
{
    char path[400];
    drep_dataset *ds;

    object_path(&t->now, object, path);
    ok(drep_dataset_open(t->f, path, &ds));
    return ds;
}

/* ---- looking ---- */

static const char *bytes_text(const uint8_t *p, size_t n)
{
    static char text[2 * VALUE_ROOM + 1];

    for (size_t i = 0; i < n && i < VALUE_ROOM; i++)
        snprintf(text + 2 * i, 3, "%02x", p[i]);
    return text;
}

static void look_dataset(struct run *t, int object)
{
    struct m_object *o = &t->now.object[object];
    drep_dataset *ds = open_dataset(t, object);
    size_t extent = (size_t)drep_type_extent(t->type[o->type]);
    struct choice *c = &t->choice;
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.rank, o->rank);
    for (int d = 0; d < o->rank; d++) {
        drep_objinfo dim = {.size = sizeof(drep_objinfo), .id = 0};
        char path[400];

        ck_assert_int_eq(info.dims[d], o->dims[d]);
        ck_assert_int_eq(info.maxdims[d], o->max[d]);
        if (o->dim[d] != NONE) {
            object_path(&t->now, o->dim[d], path);
            ok(drep_stat(t->f, path, &dim));
        }
        ck_assert_uint_eq(info.dim_ids[d], dim.id);
    }
    choose(o, &t->r, c);
    memset(t->buf, 0xee, (size_t)c->n * extent);
    ok(drep_read(ds, c->sel, below(t, 2) ? t->type[o->type] : NULL, t->buf, NULL));
    for (int64_t i = 0; i < c->n; i++) {
        const uint8_t *p = t->buf + (size_t)i * extent;

        ck_assert_msg(value_is(o->type, t->type[o->type], o->value[c->at[i]], p),
                      "%s, seed %llu: element %d of object %d, kind %d, layout %d, fill %u, is not "
                      "value %u: %s",
                      t->datarep, (unsigned long long)t->r.seed, (int)c->at[i], object, o->type,
                      o->layout, o->fill, o->value[c->at[i]], bytes_text(p, extent));
    }
    drep_vlen_free(t->type[o->type], c->n, t->buf);
    drep_selection_free(c->sel);
    drep_dataset_close(ds);
}

static void look_attrs(struct run *t, int object)
{
    char path[400], name[3] = "a0";

    object_path(&t->now, object, path);
    for (int i = 0; i < ATTRS; i++) {
        const struct m_attr *a = &t->now.object[object].attr[i];
        drep_attrinfo info = DREP_ATTRINFO;

        name[1] = (char)('0' + i);
        if (!a->used) {
            fails(drep_attr_info(t->f, path, name, &info), DREP_ERR_NOT_FOUND);
            continue;
        }
        ok(drep_attr_info(t->f, path, name, &info));
        ck_assert_int_eq(info.count, a->n);
        drep_attrinfo_release(&info);
        ok(drep_attr_read(t->f, path, name, t->type[a->kind], t->buf));
        for (int k = 0; k < a->n; k++)
            ck_assert(value_is(a->kind, t->type[a->kind], a->value[k],
                               t->buf + k * drep_type_extent(t->type[a->kind])));
        drep_vlen_free(t->type[a->kind], a->n, t->buf);
    }
}

struct listing {
    struct run *t;
    int group, n;
};

static int look_link(const drep_linkinfo *link, void *ctx)
{
    struct listing *l = ctx;

    for (int i = 0; i < LINKS; i++) {
        const struct m_link *m = &l->t->now.link[i];

        if (!m->used || m->group != l->group || strcmp(m->name, link->name) != 0)
            continue;
        ck_assert_int_eq(link->link, m->kind);
        if (m->kind == DREP_LINK_HARD)
            ck_assert_int_eq(link->kind, l->t->now.object[m->target].kind);
        else
            ck_assert_str_eq(link->target, m->path);
        if (m->kind == DREP_LINK_EXTERNAL)
            ck_assert_str_eq(link->target_file, "other.drep");
        l->n++;
        return 0;
    }
    ck_abort_msg("%s: \"%s\" is listed and was never linked", l->t->datarep, link->name);
    return 1;
}

static int look_dimension(const drep_diminfo *dimension, void *ctx)
{
    struct listing *l = ctx;

    for (int i = 0; i < LINKS; i++) {
        const struct m_link *m = &l->t->now.link[i];
        drep_objinfo info = DREP_OBJINFO;

        if (!m->used || m->group != l->group || strcmp(m->name, dimension->name) != 0)
            continue;
        ck_assert(is_dimension(&l->t->now, i));
        ck_assert_int_eq(dimension->len, l->t->now.object[m->target].len);
        ok(drep_stat(l->t->f, dimension->path, &info));
        ck_assert_uint_eq(info.id, dimension->id);
        l->n++;
        return 0;
    }
    ck_abort_msg("%s: \"%s\" is listed and was never made", l->t->datarep, dimension->name);
    return 1;
}

static void look_object(struct run *t, int object)
{
    const struct m_object *o = &t->now.object[object];
    char path[400], *found;
    drep_objinfo info = DREP_OBJINFO;
    int members = 0;

    object_path(&t->now, object, path);
    ok(drep_stat(t->f, path, &info));
    ck_assert_int_eq(info.kind, o->kind);
    ck_assert_int_eq(info.links, o->links);
    look_attrs(t, object);
    if (o->kind == DREP_OBJ_DATASET)
        look_dataset(t, object);
    if (o->kind == DREP_OBJ_TYPE) {
        drep_type *type;

        ok(drep_type_open(t->f, path, &type));
        ck_assert(drep_type_equal(type, t->type[o->type]));
        drep_type_free(type);
    }
    if (o->kind == DREP_OBJ_DIMENSION) {
        ck_assert_int_eq(info.len, o->len);
        ck_assert_int_eq(info.unlimited, o->unlimited);
    }
    if (o->kind != DREP_OBJ_GROUP)
        return;
    for (int order = DREP_BY_NAME; order <= DREP_BY_CREATION; order++) {
        struct listing l = {t, object, 0};

        ok(drep_list(t->f, path, order, look_link, &l));
        ck_assert_int_eq(info.members, l.n);
        ok(drep_dimension_list(t->f, path, order, look_dimension, &l));
        members = l.n;
    }
    for (int i = 0; i < LINKS; i++)
        members -= t->now.link[i].used && t->now.link[i].group == object;
    ck_assert_int_eq(members, 0);
    ok(drep_object_path(t->f, info.id, &found));
    free(found);
}

static void look_all(struct run *t)
{
    for (int i = 0; i < OBJECTS; i++)
        if (t->now.object[i].used)
            look_object(t, i);
}

/* ---- changing ---- */

static void make_values(struct run *t, int kind, const uint32_t *v, int64_t n)
{
    int64_t extent = drep_type_extent(t->type[kind]);

    memset(t->buf, 0, (size_t)(n * extent));
    for (int64_t i = 0; i < n; i++)
        value_make(kind, v[i], t->buf + i * extent);
}

static void do_group(struct run *t)
{
    int object = free_object(&t->now);
    char path[400];

    if (object == NONE || model_link(&t->now, &t->r, DREP_LINK_HARD, object, path) == NONE)
        return;
    t->now.object[object] = (struct m_object){.used = true, .kind = DREP_OBJ_GROUP, .links = 1};
    ok(drep_group_create(t->f, path, 0));
}

static void do_named_type(struct run *t)
{
    int object = free_object(&t->now), kind = (int)below(t, V_KINDS);
    char path[400];

    if (object == NONE || model_link(&t->now, &t->r, DREP_LINK_HARD, object, path) == NONE)
        return;
    t->now.object[object] =
        (struct m_object){.used = true, .kind = DREP_OBJ_TYPE, .links = 1, .type = kind};
    ok(drep_type_commit(t->f, path, t->type[kind]));
}

static void do_dimension(struct run *t)
{
    int object = free_object(&t->now);
    struct m_object o = {.used = true, .kind = DREP_OBJ_DIMENSION, .links = 1};
    char path[400];

    if (object == NONE || free_link(&t->now) == NONE)
        return;
    t->now.object[object].kind = DREP_OBJ_DIMENSION; /* by which it has its path */
    if (model_link(&t->now, &t->r, DREP_LINK_HARD, object, path) == NONE)
        return;
    o.len = (int64_t)below(t, 14);
    o.unlimited = below(t, 2);
    t->now.object[object] = o;
    ok(drep_dimension_create(t->f, path, o.len, o.unlimited));
}

static int choose_filters(struct run *t, drep_filter *filter, int kind)
{
    static const int ids[] = {DREP_FILTER_SHUFFLE, DREP_FILTER_BITSHUFFLE, DREP_FILTER_DEFLATE,
                              DREP_FILTER_ZSTD,    DREP_FILTER_LZ4,        DREP_FILTER_DELTA};
    int n = 0;

    for (int i = 0; i < 3; i++) {
        int id = ids[below(t, kind <= V_INT32 && strcmp(t->datarep, "small") != 0 ? 6 : 5)];

        bool levels = id == DREP_FILTER_DEFLATE || id == DREP_FILTER_ZSTD || id == DREP_FILTER_LZ4;
        int level = (int)below(t, 3);

        if (below(t, 2) && drep_filter_available(id))
            filter[n++] = (drep_filter){.id = id, .level = levels ? level : 0};
    }
    return n;
}

/* A random shape, and what goes with it. */
static void choose_shape(struct run *t, struct m_object *o, drep_spec *spec, int64_t *chunk,
                         drep_filter *filter)
{
    bool grows = below(t, 2);
    int64_t room = ELEMENTS;

    o->rank = (int)below(t, 5);
    spec->layout = (int)below(t, 4);
    if (spec->layout == DREP_CONTIGUOUS && o->type >= V_FIXED_KINDS)
        spec->layout = DREP_LAYOUT_AUTO;
    for (int d = 0; d < o->rank; d++) {
        int64_t most = room < 12 ? room : 12;

        o->dims[d] = below(t, 25) == 0 ? 0 : 1 + (int64_t)below(t, (uint64_t)most);
        room /= o->dims[d] > 0 ? o->dims[d] : 1;
        o->max[d] = o->dims[d];
        if (grows && spec->layout != DREP_COMPACT && (d == 0 || spec->layout != DREP_CONTIGUOUS))
            o->max[d] = below(t, 2) ? DREP_UNLIMITED : o->dims[d] + (int64_t)below(t, 9);
        chunk[d] = 1 + (int64_t)below(t, 7);
    }
    spec->rank = o->rank;
    spec->dims = o->dims;
    spec->maxdims = o->max;
    if (spec->layout == DREP_CHUNKED || spec->layout == DREP_LAYOUT_AUTO) {
        spec->chunk = spec->layout == DREP_CHUNKED && below(t, 4) ? chunk : NULL;
        spec->nfilters = below(t, 2) ? choose_filters(t, filter, o->type) : 0;
        spec->filters = filter;
    }
}

/* Dimensions that hold it, or grow to; their paths. */
static void choose_dims(struct run *t, struct m_object *o, const char **names, char path[4][400])
{
    for (int d = 0; d < o->rank; d++) {
        int dim = below(t, 2) ? some_object(&t->now, &t->r, DREP_OBJ_DIMENSION) : NONE;
        struct m_object *to = dim == NONE ? NULL : &t->now.object[dim];

        o->dim[d] = NONE;
        names[d] = NULL;
        if (to == NULL || (to->len < o->dims[d] && !to->unlimited))
            continue;
        object_path(&t->now, dim, path[d]);
        names[d] = path[d];
        o->dim[d] = dim;
        to->len = to->len < o->dims[d] ? o->dims[d] : to->len;
    }
}

static void do_dataset(struct run *t)
{
    int object = free_object(&t->now);
    struct m_object o = {.used = true, .kind = DREP_OBJ_DATASET, .links = 1};
    drep_spec spec = DREP_SPEC(.fill = (int)below(t, 3));
    const char *names[4];
    char dim_path[4][400];
    int64_t chunk[4];
    drep_filter filter[3];
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    char path[400];

    if (object == NONE || model_link(&t->now, &t->r, DREP_LINK_HARD, object, path) == NONE)
        return;
    o.type = (int)below(t, V_KINDS);
    choose_shape(t, &o, &spec, chunk, filter);
    choose_dims(t, &o, names, dim_path);
    spec.dim_names = names;
    o.fill = spec.fill == DREP_FILL_VALUE ? value(t) : 0;
    make_values(t, o.type, &o.fill, 1);
    spec.type = t->type[o.type];
    spec.fill_value = spec.fill == DREP_FILL_VALUE ? t->buf : NULL;
    spec.filters = spec.nfilters > 0 ? spec.filters : NULL;
    if (spec.rank == 0) {
        spec.dims = spec.maxdims = spec.chunk = NULL;
        spec.dim_names = NULL;
    }
    ok(drep_dataset_create(t->f, path, &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    o.layout = info.layout;
    drep_vlen_free(t->type[o.type], 1, t->buf);
    drep_dataset_close(ds);
    for (int64_t i = 0; i < elements(&o); i++)
        o.value[i] = o.fill;
    t->now.object[object] = o;
}

static void do_write(struct run *t)
{
    int object = some_object(&t->now, &t->r, DREP_OBJ_DATASET);
    static uint32_t v[2 * ELEMENTS];
    struct choice *c = &t->choice;
    struct m_object *o;
    drep_dataset *ds;

    if (object == NONE)
        return;
    o = &t->now.object[object];
    ds = open_dataset(t, object);
    choose(o, &t->r, c);
    for (int64_t i = 0; i < c->n; i++)
        v[i] = value(t);
    make_values(t, o->type, v, c->n);
    ok(drep_write(ds, c->sel, below(t, 2) ? t->type[o->type] : NULL, t->buf, NULL));
    for (int64_t i = 0; i < c->n; i++)
        o->value[c->at[i]] = v[i];
    drep_vlen_free(t->type[o->type], c->n, t->buf);
    drep_selection_free(c->sel);
    drep_dataset_close(ds);
}

/* The last of the values does not fit: nothing of the write stays (D11, D12). */
static void do_failing_write(struct run *t)
{
    int object = some_object(&t->now, &t->r, DREP_OBJ_DATASET);
    static double v[ELEMENTS];
    struct m_object *o;
    drep_dataset *ds;
    int64_t n;

    if (object == NONE || (n = elements(&t->now.object[object])) == 0 || below(t, 4))
        return;
    o = &t->now.object[object];
    if (o->type != V_SHORT && o->type != V_INT && o->type != V_BYTES)
        return;
    for (int64_t i = 0; i < n; i++)
        v[i] = (double)i;
    v[n - 1] = 1e10;
    ds = open_dataset(t, object);
    fails(drep_write(ds, NULL, DREP_DOUBLE, v, NULL), DREP_ERR_CONVERSION);
    drep_dataset_close(ds);
    t->failed = DREP_ERR_CONVERSION;
    look_dataset(t, object);
}

static void do_resize(struct run *t)
{
    int object = some_object(&t->now, &t->r, DREP_OBJ_DATASET);
    int64_t dims[4] = {0}, room = ELEMENTS;
    struct m_object *o;
    drep_dataset *ds;

    if (object == NONE)
        return;
    o = &t->now.object[object];
    if (o->rank == 0 || o->layout == DREP_COMPACT)
        return;
    for (int d = 0; d < o->rank; d++) {
        uint64_t most = (uint64_t)(o->max[d] == DREP_UNLIMITED || o->max[d] > 14 ? 14 : o->max[d]);

        dims[d] = (int64_t)below(t, most + 1);
        if (d > 0 && o->layout == DREP_CONTIGUOUS)
            dims[d] = o->dims[d];
        room /= dims[d] > 0 ? dims[d] : 1;
    }
    if (room == 0)
        return;
    ds = open_dataset(t, object);
    for (int d = 0; d < o->rank; d++)
        if (o->dim[d] != NONE && !t->now.object[o->dim[d]].unlimited &&
            dims[d] > t->now.object[o->dim[d]].len) {
            fails(drep_dataset_resize(ds, dims), DREP_ERR_DIMS);
            drep_dataset_close(ds);
            return;
        }
    ok(drep_dataset_resize(ds, dims));
    drep_dataset_close(ds);
    for (int d = 0; d < o->rank; d++) {
        struct m_object *dim = o->dim[d] == NONE ? NULL : &t->now.object[o->dim[d]];

        if (dim != NULL && dim->len < dims[d])
            dim->len = dims[d];
    }
    model_reshape(o, dims);
}

static void do_attr(struct run *t)
{
    int object = some_object(&t->now, &t->r, (int)below(t, 4)), i = (int)below(t, ATTRS);
    char path[400], name[3] = {'a', (char)('0' + i), '\0'};
    struct m_attr *a;
    int64_t n;

    if (object == NONE)
        return;
    a = &t->now.object[object].attr[i];
    object_path(&t->now, object, path);
    if (a->used && below(t, 3) == 0) {
        ok(drep_attr_remove(t->f, path, name));
        a->used = false;
        return;
    }
    *a = (struct m_attr){.used = true, .kind = (int)below(t, V_KINDS), .n = (int)below(t, 4)};
    for (int k = 0; k < a->n; k++)
        a->value[k] = value(t);
    make_values(t, a->kind, a->value, a->n);
    n = a->n;
    ok(drep_attr_write(t->f, path, name, t->type[a->kind], 1, &n, t->buf));
    drep_vlen_free(t->type[a->kind], n, t->buf);
}

static void do_link(struct run *t)
{
    int kind = below(t, 2) ? DREP_LINK_HARD : DREP_LINK_SOFT, i;
    int target = some_object(&t->now, &t->r, 0);
    struct model before = t->now;
    char path[400], to[400];

    if (target == NONE || t->now.object[target].kind == DREP_OBJ_DIMENSION)
        return;
    object_path(&t->now, target, to);
    i = model_link(&t->now, &t->r, kind, target, path);
    if (i == NONE)
        return;
    if (kind == DREP_LINK_SOFT) {
        strcpy(t->now.link[i].path, to);
        ok(drep_link_soft(t->f, to, path));
    } else if (t->now.object[target].kind == DREP_OBJ_GROUP &&
               is_below(&before, t->now.link[i].group, target)) {
        fails(drep_link_hard(t->f, to, path), DREP_ERR_ARG); /* it would be its own ancestor */
        t->now = before;
    } else {
        ok(drep_link_hard(t->f, to, path));
        t->now.object[target].links++;
    }
}

static void do_external_link(struct run *t)
{
    char path[400];
    drep_objinfo info = DREP_OBJINFO;
    int i = model_link(&t->now, &t->r, DREP_LINK_EXTERNAL, 0, path);

    if (i == NONE)
        return;
    snprintf(t->now.link[i].path, sizeof t->now.link[i].path, "/x%d", (int)below(t, 9));
    ok(drep_link_external(t->f, "other.drep", t->now.link[i].path, path));
    fails(drep_stat(t->f, path, &info), DREP_ERR_UNSUPPORTED_OPERATION);
}

static bool is_used(const struct model *m, int dimension)
{
    for (int i = 0; i < OBJECTS; i++)
        for (int d = 0; d < m->object[i].rank; d++)
            if (m->object[i].used && m->object[i].dim[d] == dimension)
                return true;
    return false;
}

static void do_unlink(struct run *t)
{
    int link = some_link(&t->now, &t->r);
    char path[400];

    if (link == NONE || below(t, 3))
        return;
    link_path(&t->now, link, path);
    if (is_dimension(&t->now, link) && is_used(&t->now, t->now.link[link].target)) {
        fails(drep_dimension_remove(t->f, path), DREP_ERR_UNSUPPORTED_OPERATION);
        return;
    }
    if (is_dimension(&t->now, link))
        ok(drep_dimension_remove(t->f, path));
    else
        ok(drep_link_remove(t->f, path));
    model_unlink(&t->now, link);
}

static void do_move(struct run *t)
{
    int link = some_link(&t->now, &t->r), group = some_object(&t->now, &t->r, DREP_OBJ_GROUP);
    char from[400], to[400], name[8];
    const struct m_link *l;

    if (link == NONE)
        return;
    l = &t->now.link[link];
    link_path(&t->now, link, from);
    object_path(&t->now, group, to);
    snprintf(name, sizeof name, "m%d", t->now.names++ % 99999);
    strcat(to, strcmp(to, "/") == 0 ? "" : "/");
    strcat(to, name);
    if (is_dimension(&t->now, link)) {
        ok(drep_dimension_rename(t->f, from, name));
        strcpy(t->now.link[link].name, name);
        return;
    }
    if (l->kind == DREP_LINK_HARD && is_below(&t->now, group, l->target)) {
        fails(drep_link_move(t->f, from, to), DREP_ERR_ARG);
        return;
    }
    ok(drep_link_move(t->f, from, to));
    t->now.link[link].group = group;
    strcpy(t->now.link[link].name, name);
}

/* ---- copies ---- */

static void do_copy(struct run *t)
{
    int object = some_object(&t->now, &t->r, 0), place[OBJECTS], link;
    struct model before = t->now;
    char from[400], to[400];

    if (object == NONE)
        return;
    object_path(&t->now, object, from);
    link = model_link(&t->now, &t->r, DREP_LINK_HARD, object, to);
    if (link == NONE ||
        !model_copy(&before, object, &t->now, t->now.link[link].group, link, place)) {
        t->now = before;
        return;
    }
    ok(drep_copy(t->f, from, t->f, to, NULL));
}

/* Other chunks and filters for some of the datasets. */
struct planner {
    struct run *t;
    int64_t chunk[4];
    drep_filter filter[3];
};

static int plan(uint64_t id, drep_spec *spec, void *ctx)
{
    struct planner *p = ctx;
    uint64_t what = below(p->t, 4);

    (void)id;
    if (what == 0 || spec->rank < 0)
        return 0;
    for (int d = 0; d < spec->rank; d++)
        p->chunk[d] = 1 + (int64_t)below(p->t, 9);
    spec->layout = what == 1 ? DREP_LAYOUT_AUTO : DREP_CHUNKED;
    spec->chunk = what == 1 || below(p->t, 4) == 0 ? NULL : p->chunk;
    spec->nfilters = what == 3 ? choose_filters(p->t, p->filter, V_KINDS) : 0;
    spec->filters = p->filter;
    return 0;
}

static void look_at_copy(struct run *t, drep_file *copy, const struct model *of)
{
    struct model now = t->now;
    drep_file *f = t->f;

    t->now = *of;
    t->f = copy;
    look_all(t);
    if (below(t, 20) == 0)
        check_file(copy);
    t->f = f;
    t->now = now;
}

/* Copies into a stream, and opens what has left. */
static drep_file *copy_streamed(struct run *t, const char *from, const char *to,
                                const char *datarep, const drep_copying *how)
{
    int fd = open(t->copy_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    drep_file *f;

    ck_assert_int_ge(fd, 0);
    ok(drep_create_stream(fd, datarep, NULL, NULL, &f));
    ok(drep_copy(t->f, from, f, to, how));
    ok(drep_close(f));
    ck_assert_int_eq(close(fd), 0);
    ok(drep_open(t->copy_path, DREP_RDWR, NULL, &f));
    return f;
}

/* The whole file, or a part of it, under another representation. */
static void do_export(struct run *t)
{
    const char *datarep = datareps[below(t, DATAREPS)];
    int object = below(t, 2) ? 0 : some_object(&t->now, &t->r, 0), place[OBJECTS];
    struct planner p = {.t = t};
    drep_copying how = DREP_COPYING(.plan = below(t, 2) ? plan : NULL, .ctx = &p, .threads = 1);
    static struct model copy;
    const char *to;
    char from[400];
    drep_file *f;

    if (object == NONE || below(t, 10))
        return;
    object_path(&t->now, object, from);
    copy = t->now;
    if (object != 0) {
        model_init(&copy);
        copy.link[0] = (struct m_link){.used = true, .kind = DREP_LINK_HARD, .name = "c"};
        if (!model_copy(&t->now, object, &copy, 0, 0, place))
            return;
    }
    to = object == 0 ? "/" : t->now.object[object].kind == DREP_OBJ_DIMENSION ? "/#c" : "/c";
    if (below(t, 2)) {
        f = copy_streamed(t, from, to, datarep, &how);
    } else {
        f = new_file(t->copy_path, datarep);
        ok(drep_copy(t->f, from, f, to, &how));
    }
    for (int i = 0; i < OBJECTS; i++) /* others were chosen perhaps */
        copy.object[i].layout = 0;
    look_at_copy(t, f, &copy);
    drep_abandon(f);
}

/* ---- the file ---- */

static void reopen(struct run *t)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);

    ok(drep_open(t->path, DREP_RDWR, info, &t->f));
    drep_info_free(info);
    look_all(t);
}

static void do_commit(struct run *t)
{
    ok(drep_commit(t->f));
    t->committed = t->now;
    t->failed = 0;
}

static void do_close(struct run *t)
{
    if (t->failed != 0) /* D43: commits what succeeded, and says what did not */
        fails(drep_close(t->f), t->failed);
    else
        ok(drep_close(t->f));
    t->committed = t->now;
    t->failed = 0;
    reopen(t);
}

static void do_abandon(struct run *t)
{
    drep_abandon(t->f);
    t->now = t->committed;
    t->failed = 0;
    reopen(t);
}

static void do_look(struct run *t)
{
    int object = some_object(&t->now, &t->r, 0);

    look_object(t, object == NONE ? 0 : object);
}

/* A reader moves to the newest commit, or begins to read. */
static void do_refresh(struct run *t)
{
    if (t->reader == NULL)
        ok(drep_open(t->path, DREP_RDONLY, NULL, &t->reader));
    else if (below(t, 8) == 0) {
        ok(drep_close(t->reader));
        t->reader = NULL;
        return;
    } else
        ok(drep_refresh(t->reader));
    t->seen = t->committed;
}

/* What the reader sees is as it was. */
static void do_look_back(struct run *t)
{
    struct model now = t->now;
    drep_file *f = t->f;

    if (t->reader == NULL)
        return;
    t->f = t->reader;
    t->now = t->seen;
    do_look(t);
    t->f = f;
    t->now = now;
}

static void step(struct run *t)
{
    static void (*const often[])(struct run *) = {
        do_group,     do_dataset,       do_dataset,       do_write,     do_write,
        do_write,     do_write,         do_resize,        do_resize,    do_attr,
        do_attr,      do_link,          do_unlink,        do_move,      do_look,
        do_look,      do_look,          do_named_type,    do_copy,      do_export,
        do_dimension, do_external_link, do_failing_write, do_look_back, do_look_back};
    uint64_t n = below(t, 400);

    if (n == 0)
        do_close(t);
    else if (n == 1)
        do_abandon(t);
    else if (n < 10)
        do_commit(t);
    else if (n < 16)
        do_refresh(t);
    else
        often[below(t, sizeof often / sizeof *often)](t);
    t->calls++;
}

START_TEST(test_D11_D22_random_calls_against_a_model)
{
    static struct run t;
    const char *seed = getenv("DREP_TEST_SEED");
    long ops = share_of(OPS);
    char what[100];

    register_datareps();
    memset(&t, 0, sizeof t);
    t.datarep = datareps[_i];
    t.path = temp_path(t.datarep);
    t.copy_path = temp_path("copy");
    rnd_init(&t.r, seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)_i + 1);
    for (int i = 0; i < V_KINDS; i++)
        t.type[i] = value_type(i);
    model_init(&t.now);
    t.f = new_file(t.path, t.datarep);
    do_commit(&t);
    while (t.calls < ops) {
        mark_point();
        step(&t);
    }
    do_close(&t);
    if (t.reader != NULL)
        ok(drep_close(t.reader));
    check_file(t.f);
    ok(drep_close(t.f));
    for (int i = 0; i < V_KINDS; i++)
        drep_type_free(t.type[i]);
    snprintf(what, sizeof what, "random calls under %s that agree with the model", t.datarep);
    counted(t.calls, what);
    fflush(stdout);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data model");
    TCase *t = tcase_create("model");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_D11_D22_random_calls_against_a_model, 0, DATAREPS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
