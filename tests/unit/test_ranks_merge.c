/* test_ranks_merge.c - ranks that change different things of one file.
 *
 * The oracle is the file of one process that makes the changes of rank 0, then those of rank 1, and
 * so on: `datarep diff` finds no difference, members and attributes were created in the same order,
 * and a deep check finds nothing. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

#include <stdlib.h>

/* Changes that one rank makes; `of` ranks. */
typedef void act_fn(struct teller *me, drep_file *f, int rank, int of);

/* What all make first and commit; then each makes its own and all commit; then all look. */
struct play {
    act_fn *before, *act, *after;
    int of, seed;
};

static void tell_play(struct teller *me, drep_file *f)
{
    const struct play *p = me->ctx;

    if (p->before) {
        p->before(me, f, me->rank, p->of);
        went(me, drep_commit(f));
    }
    for (int r = 0; r < p->of; r++)
        if (me->ranks == 1 || me->rank == r)
            p->act(me, f, r, p->of);
    went(me, drep_commit(f));
    if (p->after)
        p->after(me, f, me->rank, p->of);
}

/* ---- the oracle ---- */

struct text {
    char *p;
    size_t len, room;
    drep_file *f;
    const char *path;
};

static void say(struct text *t, const char *format, ...)
{
    va_list args;

    if (t->room - t->len < 2000)
        t->p = realloc(t->p, t->room = 2 * t->room + 4000);
    va_start(args, format);
    t->len += (size_t)vsnprintf(t->p + t->len, t->room - t->len, format, args);
    va_end(args);
}

static int say_attr(const char *name, void *ctx)
{
    say(ctx, " @%s", name);
    return 0;
}

static int say_dimension(const drep_diminfo *d, void *ctx)
{
    struct text *t = ctx;
    char *scale = NULL;
    uint64_t id;
    int n, err = drep_dimension_scales(t->f, d->path, &id, 1, &n);

    if (!err && n > 0)
        err = drep_object_path(t->f, id, &scale);
    say(t, " #%s(%lld%s, %d scales %s)", d->name, (long long)d->len, d->unlimited ? "..." : "", n,
        scale ? scale : "");
    free(scale);
    return err;
}

static int say_link(const drep_linkinfo *link, void *ctx)
{
    struct text *t = ctx, inner = *t;
    drep_objinfo info = DREP_OBJINFO;
    char path[300];
    int err;

    snprintf(path, sizeof path, "%s/%s", strcmp(t->path, "/") ? t->path : "", link->name);
    if (link->link != DREP_LINK_HARD) {
        say(t, "%s -> %s\n", path, link->target);
        return 0;
    }
    if ((err = drep_stat(t->f, path, &info)))
        return err;
    say(&inner, "%s: kind %d, %u links", path, info.kind, (unsigned)info.links);
    inner.path = path;
    err = drep_attr_list(t->f, path, DREP_BY_CREATION, say_attr, &inner);
    if (!err && info.kind == DREP_OBJ_GROUP)
        err = drep_dimension_list(t->f, path, DREP_BY_CREATION, say_dimension, &inner);
    say(&inner, "\n");
    if (!err && info.kind == DREP_OBJ_GROUP)
        err = drep_list(t->f, path, DREP_BY_CREATION, say_link, &inner);
    inner.path = t->path;
    *t = inner;
    return err;
}

/* Names in the order of creation, and the counts that objects keep. */
static char *order_of(const char *path)
{
    struct text t = {.path = "/"};
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    t.f = f;
    say(&t, "/");
    ok(drep_attr_list(f, "/", DREP_BY_CREATION, say_attr, &t));
    ok(drep_dimension_list(f, "/", DREP_BY_CREATION, say_dimension, &t));
    say(&t, "\n");
    ok(drep_list(f, "/", DREP_BY_CREATION, say_link, &t));
    ok(drep_close(f));
    return t.p;
}

static void same_content(const char *a, const char *b, const char *what, int ranks)
{
    const char *datarep = getenv("DATAREP");
    char command[1000], *x = order_of(a), *y = order_of(b);
    drep_file *f;
    int64_t n = 0;

    ck_assert_msg(strcmp(x, y) == 0, "%s by %d ranks:\n%s\nnot:\n%s", what, ranks, y, x);
    free(x);
    free(y);
    ok(drep_open(b, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, &n));
    ok(drep_close(f));
    snprintf(command, sizeof command, "LD_PRELOAD= %s diff --storage %s %s",
             datarep ? datarep : "datarep", a, b);
    ck_assert_msg(system(command) == 0, "%s by %d ranks: contents differ", what, ranks);
}

static void play(const char *what, const struct play *play, int ranks)
{
    struct play p = *play;
    struct story alone = {
        .fn = tell_play, .ctx = &p, .path = temp_path("alone.drep"), .datarep = "native"};
    struct story s = alone;

    p.of = ranks;
    s.path = temp_path("ranks.drep");
    story_alone(&alone);
    story_run_well(&s, ranks);
    same_content(alone.path, s.path, what, ranks);
}

/* ---- changes ---- */

static char *name_of(char *path, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(path, 100, format, args);
    va_end(args);
    return path;
}

static drep_dataset *make_dataset(struct teller *me, drep_file *f, const char *path, int64_t n,
                                  const drep_type *type, int layout)
{
    const int64_t dims[1] = {n}, max[1] = {DREP_UNLIMITED}, chunk[1] = {8};
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = dims, .layout = layout);
    drep_dataset *ds = NULL;

    if (layout == DREP_CHUNKED) {
        spec.chunk = chunk;
        spec.maxdims = max;
    }
    went(me, drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static void before_groups(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    (void)rank;
    went(me, drep_group_create(f, "/shared", 0));
    went(me, drep_group_create(f, "/deep/er", 1));
    went(me, drep_attr_write_int64(f, "/shared", "old", 1));
    for (int r = 0; r < of; r++) {
        drep_dataset_close(
            make_dataset(me, f, name_of(path, "/shared/old%d", r), 20, DREP_DOUBLE, DREP_CHUNKED));
        went(me, drep_attr_write_int64(f, path, "was", r));
        went(me, drep_group_create(f, name_of(path, "/deep/g%d/h", r), 1));
    }
}

static drep_type *pair_type(struct teller *me, int rank)
{
    const char *names[2] = {"x", rank % 2 ? "odd" : "even"};
    const drep_type *types[2] = {DREP_INT32_T, rank % 3 ? DREP_DOUBLE : DREP_FLOAT};
    drep_type *type = NULL;

    went(me, drep_type_compound(2, names, NULL, types, 0, &type));
    return type;
}

/* Objects of all kinds in a group that is there and in groups of one's own. */
static void act_own_objects(struct teller *me, drep_file *f, int rank, int of)
{
    drep_type *pair = pair_type(me, rank);
    char path[100], other[100];
    int32_t bytes[4] = {rank, 2, 3, 4};

    (void)of;
    went(me, drep_group_create(f, name_of(path, "/own%d/a/b", rank), 1));
    went(me, drep_type_commit(f, name_of(path, "/own%d/pair", rank), pair));
    for (int i = 0; i < 12; i++) {
        const drep_type *type = i % 4 == 0 ? pair : i % 4 == 1 ? DREP_INT16_T : DREP_DOUBLE;

        name_of(path, i % 3 ? "/shared/r%d-%d" : "/own%d/a/b/d%d", rank, i);
        drep_dataset_close(
            make_dataset(me, f, path, 10 + i, type, i % 2 ? DREP_CHUNKED : DREP_COMPACT));
        went(me, drep_attr_write_int64(f, path, "rank", rank));
        went(me, drep_attr_write_string(f, path, "z text", i % 2 ? "odd" : path));
        went(me, drep_attr_write(f, path, "pair", pair, 0, NULL, bytes));
    }
    went(me, drep_link_hard(f, name_of(path, "/shared/old%d", rank),
                            name_of(other, "/own%d/old", rank)));
    went(me, drep_link_hard(f, "/deep/er", name_of(other, "/own%d/er", rank)));
    went(me, drep_link_soft(f, "/nowhere", name_of(other, "/shared/soft%d", rank)));
    went(me, drep_attr_write_int64(f, "/shared", name_of(other, "by%d", rank), 7));
    went(me, drep_attr_write_int64(f, "/", name_of(other, "b%d", 9 - rank), 7));
    went(me, drep_attr_write_int64(f, "/", name_of(other, "a%d", 9 - rank), 7));
    drep_type_free(pair);
}

/* Made by all, and filled by each. */
static void act_joined(struct teller *me, drep_file *f, int rank, int of)
{
    drep_type *pair = pair_type(me, 0), *mine = pair_type(me, rank);
    char path[100];

    (void)of;
    /* So that all ids and numbers of the common objects are different ones. */
    for (int i = 0; i < rank; i++) {
        drep_dataset_close(
            make_dataset(me, f, name_of(path, "/shared/x%d.%d", rank, i), 5, mine, DREP_COMPACT));
    }
    if (rank == 0 || me->ranks > 1) {
        went(me, drep_group_create(f, "/all/of/us", 1));
        drep_dataset_close(make_dataset(me, f, "/all/d", 10, pair, DREP_CHUNKED));
        drep_dataset_close(make_dataset(me, f, "/all/of/us/e", 10, DREP_DOUBLE, DREP_CONTIGUOUS));
        went(me, drep_type_commit(f, "/all/pair", pair));
        went(me, drep_attr_write_int64(f, "/all/d", "common", 1));
        went(me, drep_dimension_create(f, "/all#t", 4, 1));
    }
    went(me, drep_attr_write_int64(f, "/all/d", name_of(path, "by%d", rank), rank));
    drep_dataset_close(
        make_dataset(me, f, name_of(path, "/all/of/us/d%d", rank), 10, pair, DREP_CHUNKED));
    went(me, drep_link_hard(f, "/all/d", name_of(path, "/all/of/link%d", rank)));
    drep_type_free(pair);
    drep_type_free(mine);
}

/* Datasets that all make, in representations which the file has not yet, into which each writes an
 * element alone; beside metadata of one's own. */
static void act_joined_elements(struct teller *me, drep_file *f, int rank, int of)
{
    static const char *const reps[] = {"internal", "external32", "native:s390x", "small"};
    const struct {
        int32_t x;
        double y;
    } value[2] = {{rank + 1, rank + 0.5}, {7, 0.25}};
    const int64_t dims[1] = {of + 3}, at[1] = {rank}, one[1] = {1};
    const char *names[2] = {"x", "y"};
    const drep_type *types[2] = {DREP_INT32_T, DREP_DOUBLE};
    drep_type *pair = NULL;
    char path[100];

    went(me, drep_type_compound(2, names, NULL, types, 0, &pair));
    went(me, drep_group_create(f, name_of(path, "/own%d", rank), 0));
    for (int i = 0; i < 8; i++) {
        drep_spec spec = DREP_SPEC(.type = pair, .rank = 1, .dims = dims, .datarep = reps[i / 2],
                                   .layout = i % 2 ? DREP_CHUNKED : DREP_CONTIGUOUS,
                                   .fill = i > 4 ? DREP_FILL_VALUE : 0);
        drep_dataset *ds = NULL;

        spec.fill_value = i > 4 ? &value[1] : NULL;
        name_of(path, "/shared/joined%d", i);
        if (me->ranks > 1 || rank == 0)
            went(me, drep_dataset_create(f, path, &spec, &ds));
        else
            went(me, drep_dataset_open(f, path, &ds));
        went(me, drep_write_box(ds, at, one, pair, &value[0], NULL));
        drep_dataset_close(ds);
    }
    drep_type_free(pair);
}

/* Each changes what is its own by agreement: moves, removes, replaces, resizes. */
static void act_changes(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100], to[100];
    int64_t dims[1] = {rank % 2 ? 5 : 50};
    drep_dataset *ds = NULL;

    (void)of;
    name_of(path, "/shared/old%d", rank);
    switch (rank % 4) {
    case 0:
        went(me, drep_link_move(f, path, name_of(to, "/deep/er/moved%d", rank)));
        went(me, drep_attr_write_double(f, to, "was", 2.5));
        break;
    case 1:
        went(me, drep_link_remove(f, path));
        drep_dataset_close(make_dataset(me, f, path, 3, DREP_INT, DREP_COMPACT));
        break;
    case 2:
        went(me, drep_link_move(f, name_of(to, "/deep/g%d", rank), name_of(path, "/g%d", rank)));
        went(me, drep_link_remove(f, name_of(path, "/g%d/h", rank)));
        name_of(path, "/shared/old%d", rank);
        went(me, drep_attr_remove(f, path, "was"));
        break;
    default:
        went(me, drep_link_remove(f, name_of(to, "/deep/g%d", rank)));
        break;
    }
    if (rank % 4 != 1) {
        went(me, drep_dataset_open(f, rank % 4 ? path : to, &ds));
        went(me, drep_dataset_resize(ds, dims));
        drep_dataset_close(ds);
    }
}

/* Dimensions of groups that are there, and of one's own. */
static void act_dimensions(struct teller *me, drep_file *f, int rank, int of)
{
    const char *names[2];
    char path[100], own[100], shared[100];
    int64_t dims[2] = {6, 5}, max[2] = {DREP_UNLIMITED, 5};
    uint64_t scales[1];
    drep_objinfo info = DREP_OBJINFO;
    drep_spec spec =
        DREP_SPEC(.type = DREP_FLOAT, .rank = 2, .dims = dims, .maxdims = max, .dim_names = names);

    (void)of;
    names[0] = name_of(own, "t%d", rank);
    names[1] = name_of(shared, "old");
    went(me, drep_dataset_create(f, name_of(path, "/shared/d%d", rank), &spec, NULL));
    went(me, drep_group_create(f, name_of(path, "/own%d", rank), 0));
    went(me, drep_dataset_create(f, name_of(path, "/own%d/d", rank), &spec, NULL));
    went(me, drep_attr_write_int64(f, name_of(path, "/own%d#t%d", rank, rank), "a", rank));
    went(me, drep_stat(f, name_of(path, "/shared/d%d", rank), &info));
    scales[0] = info.id;
    went(me, drep_dimension_set_scales(f, name_of(path, "/shared#t%d", rank), scales, 1));
}

static drep_dataset *named(struct teller *me, drep_file *f, const char *path, int64_t len,
                           const char *dim)
{
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(
                 f, path, &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &len, .dim_names = &dim),
                 &ds));
    return ds;
}

/* Likewise, but it may grow. */
static drep_dataset *growing(struct teller *me, drep_file *f, const char *path, int64_t len,
                             const char *dim)
{
    const int64_t max = DREP_UNLIMITED, chunk = 4;
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, path,
                                 &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &len,
                                            .maxdims = &max, .chunk = &chunk, .dim_names = &dim),
                                 &ds));
    return ds;
}

static void before_dimensions(struct teller *me, drep_file *f, int rank, int of)
{
    before_groups(me, f, rank, of);
    went(me, drep_dimension_create(f, "/#old", 5, 0));
    went(me, drep_dimension_create(f, "/#more", 9, 1));
    drep_dataset_close(growing(me, f, "/m", 5, "more"));
}

/* Give the dimension of a dataset an attribute. */
static void note_dimension(struct teller *me, drep_file *f, drep_dataset *ds, const char *name)
{
    drep_dsinfo info = DREP_DSINFO;
    char *address = NULL;

    went(me, drep_dataset_info(ds, &info));
    if (went(me, drep_object_path(f, info.dim_ids[0], &address)))
        went(me, drep_attr_write_int64(f, address, name, 1));
    free(address);
}

/* Datasets along a dimension that is unlimited, and along one that is not. */
static void before_limits(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t dims[2] = {4, 10}, most[2] = {DREP_UNLIMITED, 10}, chunk[2] = {2, 4};
    const char *const grows[2] = {"grows", "wide"}, *const fixed_dim[2] = {"fixed", "wide"};
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims, .maxdims = most,
                               .layout = DREP_CHUNKED, .chunk = chunk, .dim_names = grows);

    before_groups(me, f, rank, of);
    went(me, drep_dataset_create(f, "/g", &spec, NULL));
    spec.maxdims = NULL;
    spec.dim_names = fixed_dim;
    went(me, drep_dataset_create(f, "/f", &spec, NULL));
}

static void resized(struct teller *me, drep_file *f, const char *path, int64_t rows)
{
    drep_dataset *ds = NULL;

    if (went(me, drep_dataset_open(f, path, &ds)))
        went(me, drep_dataset_resize(ds, (const int64_t[]){rows, 10}));
    drep_dataset_close(ds);
}

/* The first rank fixes a dimension after its dataset grew along it, the last makes the other one
 * unlimited before. */
static void act_limits(struct teller *me, drep_file *f, int rank, int of)
{
    if (rank == 0) {
        resized(me, f, "/g", 7);
        went(me, drep_dimension_set_unlimited(f, "/#grows", 0));
    }
    if (rank == of - 1) {
        went(me, drep_dimension_set_unlimited(f, "/#fixed", 1));
        resized(me, f, "/f", 9);
        drep_dataset_close(named(me, f, "/shared/new", 4, "fixed"));
    }
}

/* A rank fixes a dimension; datasets that it makes after that may grow, those of ranks before it
 * may not. */
static void act_fixed(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    (void)of;
    drep_dataset_close(growing(me, f, name_of(path, "/shared/before%d", rank), 4, "grows"));
    if (rank == 1)
        went(me, drep_dimension_set_unlimited(f, "/#grows", 0));
    drep_dataset_close(growing(me, f, name_of(path, "/shared/after%d", rank), 4, "grows"));
}

/* All fix it, or make it longer before that, and then each makes its own. */
static void act_fixed_by_all(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    (void)of;
    if (me->ranks > 1 || rank == 0) {
        went(me, drep_dimension_set_unlimited(f, "/#grows", 0));
        went(me, drep_dimension_set_unlimited(f, "/#fixed", 1));
        resized(me, f, "/f", 9);
        went(me, drep_dimension_set_unlimited(f, "/#fixed", 0));
    }
    drep_dataset_close(growing(me, f, name_of(path, "/shared/g%d", rank), 4, "grows"));
    drep_dataset_close(growing(me, f, name_of(path, "/shared/f%d", rank), 9, "fixed"));
}

/* A rank makes a fixed dimension longer. */
static void act_longer(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    if (rank == of - 1) {
        went(me, drep_dimension_set_unlimited(f, "/#fixed", 1));
        resized(me, f, "/f", 9);
        went(me, drep_dimension_set_unlimited(f, "/#fixed", 0));
    }
    went(me, drep_group_create(f, name_of(path, "/own%d", rank), 0));
}

/* The last rank creates dimensions which datasets of earlier ranks have made in the same group; and
 * datasets alone make one, each with another length. */
static void act_late_dimensions(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    if (rank == (me->ranks > 1 ? of - 1 : 0)) {
        went(me, drep_dimension_create(f, "/shared#late", 20, 0));
        went(me, drep_attr_write_int64(f, "/shared#late", "units", 3));
        went(me, drep_dimension_create(f, "/shared#open", 2, 1));
    }
    if (me->ranks == 1 && rank == 0)
        went(me, drep_dimension_create(f, "/shared#any", 4 + of, of > 2));
    drep_dataset_close(named(me, f, name_of(path, "/shared/late%d", rank), 4 + rank, "late"));
    drep_dataset_close(named(me, f, name_of(path, "/shared/open%d", rank), 9 - rank, "open"));
    name_of(path, "/shared/any%d", rank);
    drep_dataset_close(rank == 2 ? growing(me, f, path, 4, "any")
                                 : named(me, f, path, rank == 1 ? 4 + of : 3, "any"));
}

/* Dimensions that all make; the last rank gives one scales, all the other. */
static void act_scales(struct teller *me, drep_file *f, int rank, int of)
{
    drep_objinfo info = DREP_OBJINFO;
    char path[100];

    if (me->ranks > 1 || rank == 0) {
        went(me, drep_dimension_create(f, "/shared#one", 4, 0));
        went(me, drep_dimension_create(f, "/shared#all", 4, 0));
        drep_dataset_close(named(me, f, "/shared/all", 4, "all"));
        went(me, drep_stat(f, "/shared/all", &info));
        went(me, drep_dimension_set_scales(f, "/shared#all", &info.id, 1));
    }
    if (rank == of - 1) {
        drep_dataset_close(named(me, f, name_of(path, "/shared/scale%d", rank), 4, "one"));
        went(me, drep_stat(f, path, &info));
        went(me, drep_dimension_set_scales(f, "/shared#one", &info.id, 1));
    }
}

/* Dimensions of rank 0, which datasets of the others use by their names; those are in groups of
 * each rank's own, in one that was there, and in one that all make. */
static void act_used_dimensions(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t dims[1] = {4}, max[1] = {DREP_UNLIMITED}, longer[1] = {9 + rank};
    const char *names[1] = {"t"};
    drep_dataset *ds = NULL;
    char path[100], note[20];

    (void)of;
    snprintf(note, sizeof note, "by%d", rank);
    if (rank == 0) {
        went(me, drep_dimension_create(f, "/#t", 4, 1));
        went(me, drep_attr_write_int64(f, "/#t", "units", 3));
        drep_dataset_close(named(me, f, "/shared/first", 6, "u"));
    }
    went(me, drep_dataset_create(f, name_of(path, "/shared/t%d", rank),
                                 &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims,
                                            .maxdims = max, .dim_names = names),
                                 &ds));
    went(me, drep_dataset_resize(ds, longer));
    note_dimension(me, f, ds, note);
    drep_dataset_close(ds);
    drep_dataset_close(named(me, f, name_of(path, "/shared/u%d", rank), 5 + rank % 2, "u"));
    went(me, drep_group_create(f, name_of(path, "/own%d/in", rank), 1));
    drep_dataset_close(named(me, f, name_of(path, "/own%d/in/t", rank), 4, "t"));
    drep_dataset_close(named(me, f, name_of(path, "/own%d/u", rank), 3, "u"));
    drep_dataset_close(named(me, f, name_of(path, "/own%d/v", rank), 3 + rank, "v"));
    if (rank == 0 || me->ranks > 1) {
        went(me, drep_group_create(f, "/all", 0));
        drep_dataset_close(named(me, f, "/all/d", 4, "t"));
    }
}

static void act_references(struct teller *me, drep_file *f, int rank, int of)
{
    drep_objinfo info = DREP_OBJINFO, old = DREP_OBJINFO;
    drep_type *type = NULL;
    drep_ref refs[2] = {{0}};
    char path[100];

    (void)of;
    went(me, drep_type_reference(DREP_REF_OBJECT, &type));
    drep_dataset_close(
        make_dataset(me, f, name_of(path, "/shared/new%d", rank), 4, DREP_INT, DREP_COMPACT));
    went(me, drep_stat(f, path, &info));
    went(me, drep_stat(f, "/deep/er", &old));
    refs[0].object = info.id;
    refs[1].object = old.id;
    went(me, drep_attr_write(f, path, "itself", type, 1, (const int64_t[]){2}, refs));
    went(me, drep_attr_write(f, "/shared", name_of(path, "ref%d", rank), type, 1,
                             (const int64_t[]){2}, refs));
    drep_type_free(type);
}

static void before_attributes(struct teller *me, drep_file *f, int rank, int of)
{
    char name[100];

    before_groups(me, f, rank, of);
    for (int r = 0; r < of; r++)
        for (int i = 0; i < 4; i++)
            went(me, drep_attr_write_int64(f, "/shared", name_of(name, "a%d.%d", r, i), i));
    for (int i = 0; i < 4; i++)
        went(me, drep_attr_write_int64(f, "/deep", name_of(name, "all%d", i), i));
}

/* They keep their places, also where ranks take the same names and do the same; what is made anew
 * under an old name comes last. */
static void act_renames(struct teller *me, drep_file *f, int rank, int of)
{
    char name[100], other[100];

    (void)of;
    name_of(name, "a%d.0", rank);
    name_of(other, "a%d.1", rank);
    went(me, drep_attr_rename(f, "/shared", name, "passing"));
    went(me, drep_attr_rename(f, "/shared", other, name));
    went(me, drep_attr_rename(f, "/shared", "passing", other));
    name_of(name, "a%d.2", rank);
    went(me, drep_attr_rename(f, "/shared", name, name_of(other, "z%d", rank)));
    if (rank % 2)
        went(me, drep_attr_write_string(f, "/shared", other, "and another value"));
    if (rank == 0) {
        went(me, drep_attr_write_int64(f, "/shared", name, 5));
        went(me, drep_attr_remove(f, "/shared", name_of(other, "a%d.3", rank)));
        went(me, drep_attr_write_int64(f, "/shared", other, 7));
    }
    if (me->ranks > 1 || rank == 0) {
        went(me, drep_attr_rename(f, "/deep", "all1", "everybody's"));
        went(me, drep_attr_remove(f, "/deep", "all2"));
    }
    if (rank == 0)
        went(me, drep_attr_rename(f, "/deep", "all3", "mine"));
}

static void act_representations(struct teller *me, drep_file *f, int rank, int of)
{
    static const char *const names[] = {"external32", "native:ppc64", "native", "internal"};
    const int64_t dims[1] = {10};
    drep_spec spec = DREP_SPEC(.type = rank % 3 ? DREP_FLOAT : DREP_INT, .rank = 1, .dims = dims,
                               .datarep = names[rank % 4]);
    char path[100];

    (void)of;
    went(me, drep_dataset_create(f, name_of(path, "/shared/rep%d", rank), &spec, NULL));
    spec.datarep = "native:s390x";
    if (rank == 3)
        spec.type = DREP_DOUBLE;
    went(me, drep_dataset_create(f, name_of(path, "/shared/big%d", rank), &spec, NULL));
}

/* Made and removed again: nothing of it stays. */
static void act_nothing(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];

    (void)of;
    if (rank == 1) {
        went(me, drep_group_create(f, name_of(path, "/passing%d/x", rank), 1));
        went(me, drep_link_remove(f, name_of(path, "/passing%d", rank)));
        went(me, drep_attr_write_int64(f, "/", "passing", 1));
        went(me, drep_attr_remove(f, "/", "passing"));
    }
}

static const struct {
    const char *name;
    act_fn *before, *act;
} plays[] = {
    {"elements of new datasets in other representations", before_groups, act_joined_elements},
    {"objects of one's own", before_groups, act_own_objects},
    {"objects of all", before_groups, act_joined},
    {"changes", before_groups, act_changes},
    {"renamed attributes", before_attributes, act_renames},
    {"dimensions", before_dimensions, act_dimensions},
    {"dimensions of others", before_groups, act_used_dimensions},
    {"dimensions of later ranks", before_groups, act_late_dimensions},
    {"scales of dimensions", before_groups, act_scales},
    {"unlimited dimensions", before_limits, act_limits},
    {"a fixed dimension", before_limits, act_fixed},
    {"dimensions that all fix", before_limits, act_fixed_by_all},
    {"a longer dimension", before_limits, act_longer},
    {"references", before_groups, act_references},
    {"representations", before_groups, act_representations},
    {"nothing", before_groups, act_nothing},
};

START_TEST(test_ranks_change_different_things)
{
    static const int ranks[] = {1, 2, 3, 4, 8};
    struct play p = {.before = plays[_i].before, .act = plays[_i].act};

    register_datareps();
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++)
        play(plays[_i].name, &p, ranks[k]);
}
END_TEST

/* Nothing was committed before. */
static void act_first(struct teller *me, drep_file *f, int rank, int of)
{
    if (rank == 0 || me->ranks > 1)
        went(me, drep_group_create(f, "/shared", 0));
    for (int i = 0; i < 20; i++) {
        char path[100];

        drep_dataset_close(make_dataset(me, f, name_of(path, "/shared/%d-%d", rank, i), 5,
                                        DREP_DOUBLE, DREP_CHUNKED));
        went(me, drep_attr_write_int64(f, path, "a", of));
        went(me, drep_attr_write_string(f, path, "b", "text"));
    }
}

START_TEST(test_the_first_commit)
{
    struct play p = {.act = act_first};

    for (int ranks = 1; ranks <= 8; ranks++)
        play("the first commit", &p, ranks);
}
END_TEST

/* ---- contradictions ---- */

static void clash_kinds(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_group_create(f, "/deep/x", 0));
    if (rank == 2)
        drep_dataset_close(make_dataset(me, f, "/deep/x", 5, DREP_INT, DREP_COMPACT));
}

static void clash_shapes(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank > 0)
        drep_dataset_close(
            make_dataset(me, f, "/deep/x", rank < 3 ? 5 : 6, DREP_INT, DREP_COMPACT));
}

static void clash_types(struct teller *me, drep_file *f, int rank, int of)
{
    drep_type *type = pair_type(me, rank);

    (void)of;
    went(me, drep_group_create(f, "/new", 0));
    drep_dataset_close(make_dataset(me, f, "/new/x", 5, type, DREP_COMPACT));
    drep_type_free(type);
}

static void clash_filters(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t dims[1] = {100};
    const drep_filter filter = {.id = rank == 3 ? DREP_FILTER_DELTA : DREP_FILTER_SHUFFLE};

    (void)of;
    went(me,
         drep_dataset_create(f, "/x",
                             &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims,
                                        .layout = DREP_CHUNKED, .filters = &filter, .nfilters = 1),
                             NULL));
}

static void clash_removed(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_link_remove(f, "/shared/old1"));
    if (rank == 3)
        went(me, drep_attr_write_int64(f, "/shared/old1", "a", 1));
}

static void clash_removed_later(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 3)
        went(me, drep_link_remove(f, "/deep"));
    if (rank == 2)
        went(me, drep_group_create(f, "/deep/er/new", 0));
}

static void clash_moves(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_link_move(f, "/shared/old1", "/a"));
    if (rank == 1)
        went(me, drep_link_move(f, "/shared/old1", "/b"));
}

static void clash_move_and_change(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_link_move(f, "/shared/old1", "/b"));
    if (rank == 2)
        went(me, drep_attr_write_int64(f, "/shared/old1", "a", 1));
}

static void clash_move_and_removal(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_link_move(f, "/shared/old1", "/b"));
    if (rank == 3)
        went(me, drep_link_remove(f, "/shared/old1"));
}

static void clash_moved_and_replaced(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_link_move(f, "/shared/old1", "/a"));
    if (rank == 2) {
        went(me, drep_link_move(f, "/shared/old1", "/b"));
        went(me, drep_link_soft(f, "/b", "/shared/old1"));
    }
}

static void clash_circle(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_link_move(f, "/deep/g0", "/deep/g1/h/g0"));
    if (rank == 2)
        went(me, drep_link_move(f, "/deep/g1", "/deep/g0/h/g1"));
}

static void clash_attrs(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank > 0)
        went(me, drep_attr_write_int64(f, "/shared/old0", "new", rank == 2 ? 5 : 4));
}

static void clash_removed_attr(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 2)
        went(me, drep_attr_remove(f, "/shared/old0", "was"));
    if (rank == 1)
        went(me, drep_attr_write_int64(f, "/shared/old0", "was", 77));
}

static void clash_renamed_attr(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank % 2)
        went(me, drep_attr_rename(f, "/shared/old0", "was", rank == 1 ? "one" : "other"));
}

static void clash_renamed_and_removed(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_attr_rename(f, "/shared/old0", "was", "is"));
    if (rank == 2)
        went(me, drep_attr_remove(f, "/shared/old0", "was"));
}

static void clash_removed_and_renamed(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_attr_remove(f, "/shared/old0", "was"));
    if (rank == 3)
        went(me, drep_attr_rename(f, "/shared/old0", "was", "is"));
}

static void clash_renamed_and_set(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_attr_rename(f, "/shared/old0", "was", "is"));
    if (rank == 2)
        went(me, drep_attr_write_int64(f, "/shared/old0", "was", 77));
}

static void clash_sizes(struct teller *me, drep_file *f, int rank, int of)
{
    int64_t dims[1] = {rank == 1 ? 30 : 10};
    drep_dataset *ds = NULL;

    (void)of;
    if (rank == 1 || rank == 3) {
        went(me, drep_dataset_open(f, "/shared/old0", &ds));
        went(me, drep_dataset_resize(ds, dims));
        drep_dataset_close(ds);
    }
}

static void clash_elements(struct teller *me, drep_file *f, int rank, int of)
{
    drep_dataset *ds = NULL;
    double x[1] = {rank};

    (void)of;
    if (rank == 1)
        went(me, drep_link_remove(f, "/shared/old0"));
    if (rank == 0) {
        went(me, drep_dataset_open(f, "/shared/old0", &ds));
        went(me,
             drep_write_box(ds, (const int64_t[]){3}, (const int64_t[]){1}, DREP_DOUBLE, x, NULL));
        drep_dataset_close(ds);
    }
}

/* One of the values is that of an element which nobody has written. */
static void clash_small(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t at[1] = {2}, one[1] = {1};
    drep_dataset *ds;
    int x = rank == 1 ? 0 : 5;

    (void)of;
    ds = make_dataset(me, f, "/small", 4, DREP_INT, DREP_COMPACT);
    if (rank == 1 || rank == 2)
        went(me, drep_write_box(ds, at, one, DREP_INT, &x, NULL));
    drep_dataset_close(ds);
}

static void clash_texts(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t dims[2] = {3, 4}, at[2] = {1, 0}, count[2] = {1, 4};
    char *texts[4] = {"a", "b", rank == 3 ? "other" : "c", "d"};
    drep_type *text = NULL;
    drep_dataset *ds = NULL;

    (void)of;
    went(me, drep_type_vstring(&text));
    went(me,
         drep_dataset_create(f, "/texts", &DREP_SPEC(.type = text, .rank = 2, .dims = dims), &ds));
    if (rank > 0)
        went(me, drep_write_box(ds, at, count, text, texts, NULL));
    drep_dataset_close(ds);
    drep_type_free(text);
}

static void clash_used_dimension(struct teller *me, drep_file *f, int rank, int of)
{
    const char *names[1] = {"old"};
    const int64_t dims[1] = {5};

    (void)of;
    if (rank == 0)
        went(me, drep_dimension_remove(f, "/#old"));
    if (rank == 1)
        went(me,
             drep_dataset_create(
                 f, "/d", &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims, .dim_names = names),
                 NULL));
}

/* A dimension that a dataset of a later rank finds, too short for it. */
static void clash_short_dimension(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_dimension_create(f, "/#new", 4, 0));
    if (rank == 2)
        drep_dataset_close(named(me, f, "/deep/er/d", 6, "new"));
}

/* Likewise, where the dimension is of a later rank. */
static void clash_short_late(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        drep_dataset_close(named(me, f, "/deep/d", 6, "new"));
    if (rank == 3)
        went(me, drep_dimension_create(f, "/deep#new", 4, 0));
}

/* Rank 1 creates a dimension after one of its datasets has made another, which is found above. */
static void clash_created_later(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank != 1)
        drep_dataset_close(named(me, f, rank ? "/six" : "/four", rank ? 6 : 4, "new"));
    if (rank == 1) {
        drep_dataset_close(named(me, f, "/deep/d", 4, "new"));
        went(me, drep_dimension_create(f, "/#new", 4, 0));
    }
}

static void clash_limits(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank > 1)
        went(me, drep_dimension_create(f, "/#new", 4, rank == 3));
}

static void clash_scales(struct teller *me, drep_file *f, int rank, int of)
{
    drep_objinfo info = DREP_OBJINFO;
    char path[100];

    (void)of;
    went(me, drep_dimension_create(f, "/#new", 4, 0));
    went(me, drep_stat(f, name_of(path, "/shared/old%d", rank), &info));
    if (rank % 2)
        went(me, drep_dimension_set_scales(f, "/#new", &info.id, 1));
}

static void clash_fixed_and_longer(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 1)
        went(me, drep_dimension_set_unlimited(f, "/#more", 0));
    if (rank == 3)
        drep_dataset_close(growing(me, f, "/shared/longer", 11, "more"));
}

/* The dimension is long enough, but the dataset is fixed with the length that it has. */
static void clash_fixed_and_resized(struct teller *me, drep_file *f, int rank, int of)
{
    drep_dataset *ds = NULL;

    (void)of;
    if (rank == 0)
        went(me, drep_dimension_set_unlimited(f, "/#more", 0));
    if (rank == 2 && went(me, drep_dataset_open(f, "/m", &ds)))
        went(me, drep_dataset_resize(ds, (const int64_t[]){7}));
    drep_dataset_close(ds);
}

/* The dataset of rank 0 cannot find the dimension of a later rank. */
static void clash_late_dimension(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 2)
        went(me, drep_dimension_create(f, "/#new", 6, 0));
    drep_dataset_close(named(me, f, "/deep/d", 6, "new"));
}

/* A dimension that has another name since is no longer that of another rank. */
static void clash_renamed_dimension(struct teller *me, drep_file *f, int rank, int of)
{
    (void)of;
    if (rank == 0)
        went(me, drep_dimension_create(f, "/#new", 6, 0));
    drep_dataset_close(named(me, f, "/deep/d", 6, "new"));
    if (rank == 3)
        went(me, drep_dimension_rename(f, "/deep#new", "other"));
}

static const struct {
    act_fn *act;
    const char *text;
} clashes[] = {
    {clash_kinds, "/deep/x: rank 0 has made a group, rank 2 a dataset"},
    {clash_shapes, "/deep/x: ranks 1 and 3 have made it with different shapes"},
    {clash_types, "/new/x: ranks 0 and 1 have made it with different types"},
    {clash_filters, "/x: ranks 0 and 3 have made it with different filters"},
    {clash_removed, "/shared/old1: rank 1 has removed it, rank 3 has changed it"},
    {clash_removed_later, "/deep/er: rank 2 has changed it, rank 3 has removed it"},
    {clash_moves, "/shared/old1: rank 0 has moved it, rank 1 has moved it elsewhere"},
    {clash_move_and_change, "/shared/old1: rank 1 has moved it, rank 2 has changed it"},
    {clash_move_and_removal, "/shared/old1: rank 0 has moved it, rank 3 has removed it"},
    {clash_moved_and_replaced, "/shared/old1: rank 1 has moved it, rank 2 has moved it elsewhere"},
    {clash_circle, "/deep/g0/h/g1: by moves of ranks 1 and 2 the group would be its own ancestor"},
    {clash_attrs, "/shared/old0: attribute \"new\": ranks 1 and 2 have given it different values"},
    {clash_removed_attr,
     "/shared/old0: attribute \"was\": rank 2 has removed it, rank 1 has set it"},
    {clash_renamed_attr,
     "/shared/old0: attribute \"was\": ranks 1 and 3 have renamed or removed it"},
    {clash_renamed_and_removed,
     "/shared/old0: attribute \"was\": ranks 0 and 2 have renamed or removed it"},
    {clash_removed_and_renamed,
     "/shared/old0: attribute \"was\": ranks 1 and 3 have renamed or removed it"},
    {clash_renamed_and_set,
     "/shared/old0: attribute \"was\": rank 1 has removed it, rank 2 has set it"},
    {clash_sizes, "/shared/old0: ranks 1 and 3 have given it different shapes"},
    {clash_elements, "/shared/old0: rank 1 has removed it, rank 0 has written elements of it"},
    {clash_small, "/small: ranks 1 and 2 have given element (2) different values"},
    {clash_texts, "/texts: ranks 1 and 3 have given element (1,2) different values"},
    {clash_used_dimension, "/#old: rank 0 has removed it, rank 1 has changed it"},
    {clash_short_dimension, "/#new: ranks 0 and 2 have made it with different lengths"},
    {clash_short_late, "/deep#new: ranks 1 and 3 have made it with different lengths"},
    {clash_created_later, "/#new: ranks 0 and 2 have made it with different lengths"},
    {clash_limits, "/#new: ranks 2 and 3 have made it with different limits"},
    {clash_scales, "/#new: rank 1 has given it scales, rank 3 has given it others"},
    {clash_fixed_and_longer, "/#more: ranks 1 and 3 have given it different lengths"},
    {clash_fixed_and_resized, "/m: ranks 0 and 2 have given it different shapes"},
    {clash_late_dimension, "/deep/d: ranks 0 and 2 have made it with different dimensions"},
    {clash_renamed_dimension, "/deep/d: ranks 0 and 3 have made it with different dimensions"},
};

/* All ranks get the same error, and nothing is committed: the next process finds the first commit
 * alone. */
static void tell_clash(struct teller *me, drep_file *f)
{
    const struct play *p = me->ctx;

    before_dimensions(me, f, me->rank, p->of);
    went(me, drep_commit(f));
    p->act(me, f, me->rank, p->of);
    went(me, drep_commit(f));
    drep_close(f);
}

static void tell_first_part(struct teller *me, drep_file *f)
{
    const struct play *p = me->ctx;

    before_dimensions(me, f, me->rank, p->of);
    went(me, drep_commit(f));
}

static void clash_body(struct team *t, void *ctx)
{
    struct story *s = ctx;
    struct teller *me = &s->teller[t->rank];
    drep_transport transport = *t->transport;
    drep_info *info = fixed();
    drep_file *f = NULL;

    *me = (struct teller){.rank = t->rank, .ranks = t->size, .ctx = s->ctx, .path = s->path};
    if (went(me, drep_team_create(&transport, t->ctx, s->path, DREP_RDWR, s->datarep, info, &f)))
        s->fn(me, f);
    drep_info_free(info);
}

START_TEST(test_contradictions)
{
    struct play p = {.act = clashes[_i].act, .of = 4};
    struct story alone = {
        .fn = tell_first_part, .ctx = &p, .path = temp_path("alone.drep"), .datarep = "native"};
    struct story s = alone;

    s.fn = tell_clash;
    s.path = temp_path("ranks.drep");
    story_alone(&alone);
    thread_team_init(&s.all, 4, 0);
    thread_team_run(&s.all, clash_body, &s);
    thread_team_release(&s.all);
    ck_assert(!s.all.deadlock);
    for (int r = 0; r < 4; r++)
        ck_assert_msg(s.teller[r].err == DREP_ERR_NOT_SAME &&
                          strstr(s.teller[r].text, clashes[_i].text),
                      "rank %d: error %d: %s, not: %s", r, s.teller[r].err, s.teller[r].text,
                      clashes[_i].text);
    same_content(alone.path, s.path, clashes[_i].text, 4);
}
END_TEST

/* ---- elements ---- */

/* Note what is not as expected. */
static void wrong(struct teller *me, const char *format, ...)
{
    va_list args;

    if (me->err)
        return;
    me->err = DREP_ERR_FAILED;
    va_start(args, format);
    vsnprintf(me->text, sizeof me->text, format, args);
    va_end(args);
}

static double element(int rank, int64_t i)
{
    return rank * 100 + (double)i;
}

/* Each rank writes to a dataset of its own, without the others, and to one that all have. */
static void act_elements(struct teller *me, drep_file *f, int rank, int of)
{
    char path[100];
    double x[40];
    int64_t start[1] = {0}, count[1] = {40}, dims[1] = {40 + 8 * of};
    drep_type *pair = pair_type(me, rank);
    drep_dataset *ds;

    for (int i = 0; i <= rank; i++)
        drep_dataset_close(
            make_dataset(me, f, name_of(path, "/own%d.%d", rank, i), 2, pair, DREP_COMPACT));
    for (int i = 0; i < 40; i++)
        x[i] = element(rank, i);
    for (int layout = DREP_COMPACT; layout <= DREP_CHUNKED; layout++) {
        name_of(path, "/shared/own%d.%d", rank, layout);
        ds = make_dataset(me, f, path, 40, DREP_DOUBLE, layout);
        went(me, drep_write_box(ds, start, count, DREP_DOUBLE, x, NULL));
        start[0] = 5;
        count[0] = 3;
        went(me, drep_write_box(ds, start, count, DREP_DOUBLE, x, NULL));
        start[0] = 0;
        count[0] = 40;
        drep_dataset_close(ds);
    }
    /* What all have grown, and each to another length. */
    went(me, drep_dataset_open(f, "/shared/old0", &ds));
    start[0] = 20 + 5 * rank;
    count[0] = 5;
    if (me->ranks > 1 || rank == of - 1 || rank == 0)
        went(me, drep_dataset_resize(ds, me->ranks > 1 && rank < of - 1
                                             ? (const int64_t[]){20 + 5 * rank + 5}
                                             : dims));
    went(me, drep_write_box(ds, start, count, DREP_DOUBLE, x, NULL));
    drep_dataset_close(ds);
    /* A table, to which all add columns that are longer than they were. */
    went(me, drep_dataset_open(f, "/table", &ds));
    if (me->ranks > 1 || rank == 0)
        went(me, drep_dataset_resize(
                     ds, (const int64_t[]){6, me->ranks > 1 ? 10 * (rank + 1) : 10 * of}));
    went(me, drep_write_box(ds, (const int64_t[]){2, 10 * rank}, (const int64_t[]){4, 10},
                            DREP_DOUBLE, x, NULL));
    drep_dataset_close(ds);
    drep_type_free(pair);
}

static void before_elements(struct teller *me, drep_file *f, int rank, int of)
{
    const int64_t dims[2] = {4, 10}, max[2] = {DREP_UNLIMITED, DREP_UNLIMITED}, chunk[2] = {2, 4};

    before_groups(me, f, rank, of);
    went(me, drep_dataset_create(f, "/table",
                                 &DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                                            .maxdims = max, .layout = DREP_CHUNKED, .chunk = chunk),
                                 NULL));
}

START_TEST(test_elements_of_new_datasets)
{
    struct play p = {.before = before_elements, .act = act_elements};

    for (int ranks = 1; ranks <= 8; ranks++)
        play("elements", &p, ranks);
}
END_TEST

/* Handles that were open before the commit lead to the same datasets after it, and ids are those
 * of the file. */
static void tell_handles(struct teller *me, drep_file *f)
{
    enum { OWN = 5 };
    drep_dataset *ds[OWN], *all, *other;
    drep_objinfo info = DREP_OBJINFO;
    char path[100];
    double x[20], y[20];
    int64_t start[1], count[1] = {2};

    for (int i = 0; i < 20; i++)
        x[i] = element(me->rank, i);
    for (int i = 0; i < me->rank; i++)
        went(me, drep_group_create(f, name_of(path, "/g%d.%d", me->rank, i), 0));
    all = make_dataset(me, f, "/all", 20 * me->ranks, DREP_DOUBLE, DREP_CONTIGUOUS);
    for (int i = 0; i < OWN; i++)
        ds[i] = make_dataset(me, f, name_of(path, "/d%d.%d", me->rank, i), 20, DREP_DOUBLE,
                             i % 2 ? DREP_CHUNKED : DREP_CONTIGUOUS);
    went(me, drep_write(ds[0], NULL, DREP_DOUBLE, x, NULL));
    went(me, drep_write_box(all, (const int64_t[]){20 * me->rank}, (const int64_t[]){20},
                            DREP_DOUBLE, x, &DREP_XFER(.collective = 1)));
    for (int round = 0; round < 3; round++) {
        went(me, drep_commit(f));
        for (int i = 0; i < OWN; i++) {
            went(me, drep_read(ds[i], NULL, DREP_DOUBLE, y, NULL));
            if (!me->err && i < round + 1 && memcmp(x, y, sizeof x) != 0)
                wrong(me, "round %d: other elements", round);
        }
        went(me, drep_write(ds[round + 1], NULL, DREP_DOUBLE, x, NULL));
        went(me, drep_attr_write_int64(f, name_of(path, "/d%d.%d", me->rank, round), "a", round));
        went(me, drep_dataset_open(f, path, &other));
        if (!me->err && other != ds[round])
            wrong(me, "round %d: another handle", round);
        drep_dataset_close(other);
    }
    went(me, drep_commit(f));
    for (int r = 0; r < me->ranks; r++) {
        start[0] = 20 * r + 7;
        went(me, drep_read_box(all, start, count, DREP_DOUBLE, y, NULL));
        if (!me->err && (y[0] != element(r, 7) || y[1] != element(r, 8)))
            wrong(me, "elements of rank %d: %g", r, y[0]);
        for (int i = 0; i < 4; i++) {
            went(me, drep_stat(f, name_of(path, "/d%d.%d", r, i), &info));
            went(me, drep_dataset_open(f, path, &other));
            went(me, drep_read(other, NULL, DREP_DOUBLE, y, NULL));
            if (!me->err && (y[0] != element(r, 0) || info.attrs != (i < 3)))
                wrong(me, "%s: %g, %d attributes", path, y[0], (int)info.attrs);
            drep_dataset_close(other);
        }
    }
    for (int i = 0; i < OWN; i++)
        drep_dataset_close(ds[i]);
    drep_dataset_close(all);
}

START_TEST(test_handles_stay)
{
    for (int ranks = 2; ranks <= 8; ranks += ranks < 4 ? 1 : 4) {
        struct story s = {
            .fn = tell_handles, .path = temp_path("ranks.drep"), .datarep = "external32"};
        drep_file *f;

        story_run_well(&s, ranks);
        ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
        ok(drep_check(f, 1, say_finding, NULL, NULL));
        ok(drep_close(f));
    }
}
END_TEST

/* After a contradiction the handle is as before: the ranks change what was wrong, and commit. */
static void tell_again(struct teller *me, drep_file *f)
{
    const int64_t start[1] = {10 * me->rank}, count[1] = {10};
    drep_dataset *ds, *old = NULL;
    double x[10] = {me->rank, 1, 2};
    char path[100];

    before_groups(me, f, me->rank, me->ranks);
    went(me, drep_commit(f));
    ds = make_dataset(me, f, name_of(path, "/shared/new%d", me->rank), 10, DREP_DOUBLE,
                      DREP_CHUNKED);
    went(me, drep_write(ds, NULL, DREP_DOUBLE, x, NULL));
    went(me, drep_dataset_open(f, "/shared/old0", &old));
    went(me, drep_dataset_resize(old, (const int64_t[]){20 + 10 * me->rank}));
    went(me, drep_attr_write_int64(f, "/shared", "clash", me->rank));
    if (!me->err && drep_commit(f) != DREP_ERR_NOT_SAME)
        wrong(me, "no contradiction");
    went(me, drep_attr_write_int64(f, "/shared", "clash", 5));
    went(me,
         drep_write_box(old, (const int64_t[]){10 + 10 * me->rank}, count, DREP_DOUBLE, x, NULL));
    if (me->rank == 1) /* what only this rank knows goes again */
        went(me, drep_link_remove(f, path));
    went(me, drep_commit(f));
    went(me, drep_write_box(old, start, count, DREP_DOUBLE, x, &DREP_XFER(.collective = 1)));
    drep_dataset_close(old);
    drep_dataset_close(ds);
}

START_TEST(test_a_second_try)
{
    struct story s = {.fn = tell_again, .path = temp_path("ranks.drep"), .datarep = "native"};
    int kind;
    drep_file *f;

    story_run_well(&s, 4);
    ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, NULL));
    ok(drep_exists(f, "/shared/new1", &kind));
    ck_assert_int_eq(kind, 0);
    ok(drep_exists(f, "/shared/new3", &kind));
    ck_assert_int_eq(kind, DREP_OBJ_DATASET);
    ok(drep_close(f));
}
END_TEST

/* ---- references ---- */

/* Elements refer to objects of the last commit, not to those whose ids are not known yet. */
static void tell_references(struct teller *me, drep_file *f)
{
    drep_ref refs[4] = {{0}};
    drep_vlen list = {2, refs};
    drep_objinfo info = DREP_OBJINFO;
    drep_type *type = NULL, *lists = NULL;
    drep_dataset *ds, *all;
    char path[100];
    int err;

    went(me, drep_type_reference(DREP_REF_OBJECT, &type));
    went(me, drep_type_sequence(type, &lists));
    went(me, drep_group_create(f, "/old", 0));
    all = make_dataset(me, f, "/all", 4 * me->ranks, type, DREP_CHUNKED);
    went(me, drep_commit(f));
    went(me, drep_group_create(f, name_of(path, "/new%d", me->rank), 0));
    went(me, drep_stat(f, path, &info));
    refs[1].object = info.id;
    ds = make_dataset(me, f, name_of(path, "/refs%d", me->rank), 4, type, DREP_CHUNKED);
    for (int layout = DREP_COMPACT; layout <= DREP_CHUNKED; layout++) {
        drep_dataset *one =
            make_dataset(me, f, name_of(path, "/refs%d.%d", me->rank, layout), 4, type, layout);

        err = me->err ? 0 : drep_write(one, NULL, type, refs, NULL);
        if (err != (me->rank ? DREP_ERR_NOT_COMMITTED : 0))
            wrong(me, "%s: error %d: %s", path, err, drep_error());
        drep_dataset_close(one);
    }
    err = me->err ? 0
                  : drep_write_box(all, (const int64_t[]){4 * me->rank}, (const int64_t[]){4}, type,
                                   refs, &DREP_XFER(.collective = 1));
    if (err != DREP_ERR_NOT_COMMITTED || !strstr(drep_error(), "rank 1"))
        wrong(me, "all: error %d: %s", err, drep_error());
    drep_dataset_close(ds);
    ds = make_dataset(me, f, name_of(path, "/lists%d", me->rank), 1, lists, DREP_COMPACT);
    err = me->err ? 0 : drep_write(ds, NULL, lists, &list, NULL);
    if (err != (me->rank ? DREP_ERR_NOT_COMMITTED : 0))
        wrong(me, "%s: error %d: %s", path, err, drep_error());
    drep_dataset_close(ds);
    went(me, drep_stat(f, "/old", &info));
    refs[1].object = info.id;
    went(me, drep_write_box(all, (const int64_t[]){4 * me->rank}, (const int64_t[]){4}, type, refs,
                            &DREP_XFER(.collective = 1)));
    drep_dataset_close(all);
    drep_type_free(lists);
    drep_type_free(type);
}

START_TEST(test_references_to_new_objects)
{
    struct story s = {.fn = tell_references, .path = temp_path("ranks.drep"), .datarep = "native"};
    drep_file *f;

    story_run_well(&s, 3);
    ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, NULL));
    ok(drep_close(f));
}
END_TEST

/* ---- a random model ---- */

enum { SHARED = 3, COMMON = 6, OWN_MAX = 60, ROUNDS = 4 };

/* One rank's objects, by their paths, which nobody else changes. */
struct actor {
    int rank, made;
    struct rnd rnd;
    struct own {
        char path[200];
        int kind; /* 0: a group, else a layout */
    } own[OWN_MAX];
    int n;
};

static bool is_below(const char *path, const char *group)
{
    size_t n = strlen(group);

    return strncmp(path, group, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static struct own *some_own(struct actor *a)
{
    return a->n ? &a->own[rnd_below(&a->rnd, (uint64_t)a->n)] : NULL;
}

/* A new name in a shared group or a group of one's own. */
static void new_path(struct actor *a, char path[200])
{
    const struct own *in = some_own(a);

    if (in && in->kind == 0 && strlen(in->path) < 100)
        snprintf(path, 200, "%.150s/r%d_%d", in->path, a->rank, a->made++);
    else
        snprintf(path, 200, "/g%d/r%d_%d", (int)rnd_below(&a->rnd, SHARED), a->rank, a->made++);
}

static void random_create(struct teller *me, drep_file *f, struct actor *a)
{
    drep_type *pair = pair_type(me, (int)rnd_below(&a->rnd, 6));
    struct own *own = &a->own[a->n];

    if (a->n < OWN_MAX) {
        new_path(a, own->path);
        own->kind = (int)rnd_below(&a->rnd, 4);
        if (own->kind == 0)
            went(me, drep_group_create(f, own->path, 0));
        else
            drep_dataset_close(make_dataset(me, f, own->path, 1 + (int64_t)rnd_below(&a->rnd, 40),
                                            rnd_below(&a->rnd, 3) ? DREP_DOUBLE : pair, own->kind));
        a->n++;
    }
    drep_type_free(pair);
}

/* What several make has its spec by its name. */
static void random_common(struct teller *me, drep_file *f, struct actor *a)
{
    int k = (int)rnd_below(&a->rnd, COMMON), kind = 0;
    drep_type *pair = pair_type(me, k);
    char path[100];

    name_of(path, "/g%d/common%d", k % SHARED, k);
    went(me, drep_exists(f, path, &kind));
    if (kind == 0 && k % 2)
        went(me, drep_group_create(f, path, 0));
    else if (kind == 0)
        drep_dataset_close(make_dataset(me, f, path, 10, pair, DREP_CHUNKED));
    if (rnd_below(&a->rnd, 2))
        went(me, drep_attr_write_int64(f, path, "common", k));
    if (k % 2 && rnd_below(&a->rnd, 2)) {
        name_of(path, "/g%d/common%d/r%d_%d", k % SHARED, k, a->rank, a->made++);
        drep_dataset_close(make_dataset(me, f, path, 5, pair, DREP_COMPACT));
    }
    drep_type_free(pair);
}

static void random_attribute(struct teller *me, drep_file *f, struct actor *a)
{
    const struct own *own = some_own(a);
    char path[100], name[100];
    int64_t n = 0;
    int k = (int)rnd_below(&a->rnd, 4);

    name_of(name, "a%d", k);
    if (!own || rnd_below(&a->rnd, 4) == 0) {
        went(me, drep_attr_write_int64(f, name_of(path, "/g%d", k % SHARED), name, k));
        return;
    }
    if (drep_attr_read_int64(f, own->path, name, &n) == 0 && rnd_below(&a->rnd, 3) == 0)
        went(me, drep_attr_remove(f, own->path, name));
    else if (n > 0 && rnd_below(&a->rnd, 3) == 0 &&
             drep_attr_read_int64(f, own->path, name_of(path, "%s too", name), &n))
        went(me, drep_attr_rename(f, own->path, name, path));
    else if (k == 3)
        went(me, drep_attr_write_string(f, own->path, name, own->path));
    else
        went(me, drep_attr_write_int64(f, own->path, name, (int64_t)rnd_below(&a->rnd, 99)));
}

static void random_removal(struct teller *me, drep_file *f, struct actor *a)
{
    const struct own *own = some_own(a);
    char path[200];
    int n = 0;

    if (!own)
        return;
    memcpy(path, own->path, sizeof path);
    went(me, drep_link_remove(f, path));
    for (int i = 0; i < a->n; i++)
        if (!is_below(a->own[i].path, path))
            a->own[n++] = a->own[i];
    a->n = n;
}

static void random_move(struct teller *me, drep_file *f, struct actor *a)
{
    const struct own *own = some_own(a);
    char from[200], to[200], path[400];

    if (!own)
        return;
    memcpy(from, own->path, sizeof from);
    new_path(a, to);
    if (is_below(to, from))
        return;
    went(me, drep_link_move(f, from, to));
    for (int i = 0; i < a->n; i++)
        if (is_below(a->own[i].path, from)) {
            snprintf(path, sizeof path, "%s%s", to, a->own[i].path + strlen(from));
            snprintf(a->own[i].path, sizeof a->own[i].path, "%.199s", path);
        }
}

static void random_link(struct teller *me, drep_file *f, struct actor *a)
{
    const struct own *own = some_own(a);
    char path[200];

    if (!own || own->kind == 0)
        return;
    new_path(a, path);
    went(me, drep_link_hard(f, own->path, path));
}

static void random_elements(struct teller *me, drep_file *f, struct actor *a)
{
    const struct own *own = some_own(a);
    drep_dataset *ds = NULL;
    drep_dsinfo info = DREP_DSINFO;
    double x[200];
    int64_t dims[1];

    if (!own || own->kind == 0)
        return;
    for (int i = 0; i < 200; i++)
        x[i] = (double)rnd_below(&a->rnd, 1000);
    went(me, drep_dataset_open(f, own->path, &ds));
    went(me, drep_dataset_info(ds, &info));
    if (!me->err && drep_type_equal(info.type, DREP_DOUBLE) && rnd_below(&a->rnd, 2))
        went(me, drep_write(ds, NULL, DREP_DOUBLE, x, NULL));
    dims[0] = 1 + (int64_t)rnd_below(&a->rnd, 60);
    if (!me->err && own->kind == DREP_CHUNKED)
        went(me, drep_dataset_resize(ds, dims));
    drep_dataset_close(ds);
}

/* All let one dataset grow. */
static void random_growth(struct teller *me, drep_file *f, struct actor *a)
{
    int64_t dims[1] = {10 + (int64_t)rnd_below(&a->rnd, 100)};
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds = NULL;

    went(me, drep_dataset_open(f, "/all", &ds));
    went(me, drep_dataset_info(ds, &info));
    if (!me->err && dims[0] > info.dims[0])
        went(me, drep_dataset_resize(ds, dims));
    drep_dataset_close(ds);
}

typedef void random_fn(struct teller *me, drep_file *f, struct actor *a);

static void tell_random(struct teller *me, drep_file *f)
{
    static random_fn *const doings[] = {random_create,   random_create,    random_create,
                                        random_common,   random_attribute, random_attribute,
                                        random_removal,  random_move,      random_link,
                                        random_elements, random_elements,  random_growth};
    const struct play *p = me->ctx;
    struct actor *actor = calloc((size_t)p->of, sizeof *actor);
    char path[100];

    for (int g = 0; g < SHARED; g++)
        went(me, drep_group_create(f, name_of(path, "/g%d", g), 0));
    drep_dataset_close(make_dataset(me, f, "/all", 10, DREP_INT, DREP_CHUNKED));
    for (int r = 0; r < p->of; r++) {
        actor[r].rank = r;
        rnd_init(&actor[r].rnd, (uint64_t)(p->seed * 100 + r));
    }
    went(me, drep_commit(f));
    for (int round = 0; round < ROUNDS; round++) {
        for (int r = 0; r < p->of; r++)
            for (int i = me->ranks > 1 && r != me->rank ? 30 : 0; i < 30 && !me->err; i++)
                doings[rnd_below(&actor[r].rnd, sizeof doings / sizeof *doings)](me, f, &actor[r]);
        went(me, drep_commit(f));
    }
    free(actor);
}

START_TEST(test_random_changes)
{
    for (int seed = 0; seed < 40; seed++) {
        struct play p = {.of = 1 + seed % 5, .seed = seed};
        struct story alone = {
            .fn = tell_random, .ctx = &p, .path = temp_path("alone.drep"), .datarep = "native"};
        struct story s = alone;
        char what[100];

        s.path = temp_path("ranks.drep");
        story_alone(&alone);
        story_run_well(&s, p.of);
        same_content(alone.path, s.path, name_of(what, "seed %d", seed), p.of);
    }
}
END_TEST

/* ---- a random model of dimensions ---- */

/* A dimension as one rank has it, or as it must be after the commit. */
struct known_dim {
    bool there, created, unlimited;
    int64_t len;
};
enum { NAMES = 3 };

/* The dimensions of each rank before the commit and after it. */
struct dims_story {
    int seed;
    struct known_dim before[MAX_RANKS][NAMES], after[MAX_RANKS][NAMES];
    int err[MAX_RANKS], made[MAX_RANKS];
};

static int know_dimension(const drep_diminfo *d, void *ctx)
{
    struct known_dim *k = &((struct known_dim *)ctx)[d->name[0] - 'a'];

    k->there = true;
    k->len = d->len;
    k->unlimited = d->unlimited;
    return 0;
}

/* A rank creates some dimensions, makes datasets along others, and lets these grow; what the
 * library refuses there is not made. */
static void random_dimensions(struct teller *me, drep_file *f, struct dims_story *s)
{
    struct known_dim *mine = s->before[me->rank];
    char path[100], name[2] = "";
    struct rnd r;

    rnd_init(&r, (uint64_t)(s->seed * 50 + me->rank));
    for (int i = 0; i < 6 && !me->err; i++) {
        int k = (int)rnd_below(&r, NAMES);
        const int64_t len = 3 + (int64_t)rnd_below(&r, 4), longer = len + (int64_t)rnd_below(&r, 4);
        const int64_t max = rnd_below(&r, 4) ? len : DREP_UNLIMITED, chunk = 2;
        const char *dim = name;
        drep_dataset *ds = NULL;

        name[0] = (char)('a' + k);
        if (rnd_below(&r, 5) == 0) {
            name_of(path, "/g#%s", name);
            if (drep_dimension_create(f, path, 6, k == 0) == 0)
                mine[k].created = true;
            continue;
        }
        name_of(path, "/g/r%d-%d", me->rank, s->made[me->rank]);
        if (drep_dataset_create(f, path,
                                &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &len,
                                           .maxdims = &max, .layout = DREP_CHUNKED, .chunk = &chunk,
                                           .dim_names = &dim),
                                &ds) != 0)
            continue;
        s->made[me->rank]++;
        if (max == DREP_UNLIMITED && longer > len)
            (void)drep_dataset_resize(ds, &longer);
        drep_dataset_close(ds);
    }
    went(me, drep_dimension_list(f, "/g", DREP_BY_NAME, know_dimension, mine));
}

static void tell_random_dimensions(struct teller *me, drep_file *f)
{
    struct dims_story *s = (struct dims_story *)(uintptr_t)me->ctx;

    went(me, drep_group_create(f, "/g", 0));
    went(me, drep_commit(f));
    random_dimensions(me, f, s);
    s->err[me->rank] = drep_commit(f);
    if (!s->err[me->rank])
        went(me, drep_dimension_list(f, "/g", DREP_BY_NAME, know_dimension, s->after[me->rank]));
}

/* Merge the dimensions of one name.  Those that ranks created must be alike and hold all datasets;
 * if none did, the dimension is what the datasets need.  False: they contradict each other. */
static bool merge_dims(const struct dims_story *s, int ranks, int k, struct known_dim *want)
{
    const struct known_dim *created = NULL;

    for (int r = 0; r < ranks; r++)
        if (s->before[r][k].created)
            created = &s->before[r][k];
    *want = (struct known_dim){.there = false};
    for (int r = 0; r < ranks; r++) {
        const struct known_dim *d = &s->before[r][k];

        want->there |= d->there;
        want->unlimited |= d->there && d->unlimited;
        want->len = d->there && d->len > want->len ? d->len : want->len;
        if (created && !created->unlimited && d->there && d->len > created->len)
            return false;
    }
    if (created)
        want->unlimited = created->unlimited;
    return true;
}

static void hold_dims(const struct dims_story *s, int ranks, const char *path)
{
    struct known_dim want[NAMES];
    bool good = true;
    int kind, n = 0;
    drep_file *f;
    char name[100];

    for (int k = 0; k < NAMES; k++)
        good &= merge_dims(s, ranks, k, &want[k]);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, NULL));
    for (int r = 0; r < ranks; r++) {
        ck_assert_msg(s->err[r] == (good ? 0 : DREP_ERR_NOT_SAME), "seed %d: rank %d: error %d",
                      s->seed, r, s->err[r]);
        for (int k = 0; good && k < NAMES; k++) {
            const struct known_dim *is = &s->after[r][k];

            ck_assert_msg(is->there == want[k].there && is->len == want[k].len &&
                              is->unlimited == want[k].unlimited,
                          "seed %d: rank %d: dimension %c: %lld%s", s->seed, r, 'a' + k,
                          (long long)is->len, is->unlimited ? ", unlimited" : "");
        }
        for (int i = 0; i < s->made[r]; i++, n += kind == DREP_OBJ_DATASET)
            ok(drep_exists(f, name_of(name, "/g/r%d-%d", r, i), &kind));
        ck_assert_int_eq(n, good ? s->made[r] : 0);
        n = 0;
    }
    ok(drep_close(f));
}

START_TEST(test_random_dimensions)
{
    static struct dims_story s;

    for (int seed = 0; seed < 300; seed++) {
        struct story story = {.fn = tell_random_dimensions,
                              .ctx = &s,
                              .path = temp_path("dims.drep"),
                              .datarep = "native"};
        int ranks = 2 + seed % 4;

        s = (struct dims_story){.seed = seed};
        story.abandons = true; /* what contradicts itself must not come again */
        story_run_well(&story, ranks);
        hold_dims(&s, ranks, story.path);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_merge");
    TCase *tc = tcase_create("ranks_merge");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_ranks_change_different_things, 0, sizeof plays / sizeof *plays);
    tcase_add_test(tc, test_the_first_commit);
    tcase_add_loop_test(tc, test_contradictions, 0, sizeof clashes / sizeof *clashes);
    tcase_add_test(tc, test_elements_of_new_datasets);
    tcase_add_test(tc, test_handles_stay);
    tcase_add_test(tc, test_a_second_try);
    tcase_add_test(tc, test_references_to_new_objects);
    tcase_add_test(tc, test_random_changes);
    tcase_add_test(tc, test_random_dimensions);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
