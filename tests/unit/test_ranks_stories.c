/* test_ranks_stories.c - random histories of ranks, against one process.
 *
 * Datasets of every type, layout, representation and filter, written together in boxes that overlap
 * earlier ones, rewritten, made larger and smaller; in half of the stories also writes that a
 * representation's functions refuse on one rank, of which one process leaves traces in free space,
 * elements written alone, and metadata of each rank's own.  One process makes the calls of all
 * ranks: its file has the same bytes where all did the same, and else the same content.
 *
 * RANK_STORIES=N says how many, RANK_STORY=N where they begin. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { SETS = 5, REFUSED = 77777, TYPES = 8 };

static drep_type *types[TYPES];

struct plan {
    uint64_t seed;
    int of;   /* ranks */
    bool own; /* not all do the same */
};

/* A dataset as all ranks know it. */
struct set {
    drep_dataset *ds;
    int type, rank, layout;
    bool grows, refuses;
    int64_t dims[3], stripe; /* stripe: rows that one rank may write alone */
};

/* ---- representations and types ---- */

/* Turns bits around, and refuses one value. */
static int picky_write(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    drep_cursor cursor;
    drep_run run;
    int64_t left = count;

    if (drep_cursor_init(&cursor, type, position))
        return 1;
    while (left > 0 && drep_cursor_next(&cursor, left, &run)) {
        for (int64_t i = 0; i < run.count && drep_type_size(run.type) == 4; i++) {
            int32_t v;

            memcpy(&v, (char *)user + run.offset + i * run.stride, sizeof v);
            if (v == REFUSED)
                return 1;
        }
        left -= run.count;
    }
    return xor_write(user, type, count, file, position, state);
}

static const char *const reps[] = {NULL,           "external32", "internal", "native",
                                   "native:s390x", "small",      "xor",      "picky"};
enum { REPS = 8, PICKY = 7 };

struct pair {
    int32_t a;
    double b;
};

static void make_types(void)
{
    static const char *const pair[] = {"a", "b"}, *const colors[] = {"none", "red", "blue"};
    static const int64_t numbers[] = {0, 1, 2}, two = 2;
    const drep_type *pairs[] = {DREP_INT32_T, DREP_DOUBLE};

    if (types[0])
        return;
    register_datareps();
    ok(drep_register_datarep("picky", xor_read, picky_write, native_extent, NULL));
    types[0] = drep_type_ref(DREP_INT32_T);
    types[1] = drep_type_ref(DREP_DOUBLE);
    ok(drep_type_compound(2, pair, NULL, pairs, 0, &types[2]));
    ok(drep_type_vstring(&types[3]));
    ok(drep_type_sequence(DREP_INT16_T, &types[4]));
    ok(drep_type_enum(DREP_INT32_T, 3, colors, numbers, &types[5]));
    ok(drep_type_array(1, &two, DREP_INT16_T, &types[6]));
    ok(drep_type_string(6, DREP_PAD_NUL, &types[7]));
}

/* Element number i of a type; contents of variable length in `room`, 32 bytes each. */
static void put(int type, char *at, char *room, int v)
{
    switch (type) {
    case 0:
        memcpy(at, &(int32_t){v}, 4);
        return;
    case 1:
        memcpy(at, &(double){v}, 8);
        return;
    case 2:
        memcpy(at, &(struct pair){v, v == REFUSED ? 0 : v}, sizeof(struct pair));
        return;
    case 3:
        snprintf(room, 32, "%d%.*s", v, v % 20, "____________________");
        memcpy(at, &room, sizeof room);
        return;
    case 4:
        for (int i = 0; i < v % 9; i++)
            memcpy(room + 2 * i, &(int16_t){(int16_t)(v % 1000 + i)}, 2);
        memcpy(at, &(drep_vlen){v % 9, room}, sizeof(drep_vlen));
        return;
    case 5:
        memcpy(at, &(int32_t){v % 3}, 4);
        return;
    case 6:
        memcpy(at, &(int16_t[]){(int16_t)(v % 3000), (int16_t)(v % 7)}, 4);
        return;
    default:
        snprintf(at, 6, "%d", v % 1000);
        return;
    }
}

/* ---- steps ---- */

static void create(struct teller *me, drep_file *f, struct rnd *r, struct set *s, int number)
{
    static const int filters[] = {0, 0, DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD, DREP_FILTER_LZ4};
    drep_filter chain[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = 0}};
    int64_t max[3], chunk[3];
    int rep = (int)rnd_below(r, REPS), filter = filters[rnd_below(r, 5)];
    drep_spec spec = DREP_SPEC(.datarep = reps[rep]);
    char path[20];

    *s = (struct set){.type = (int)rnd_below(r, TYPES),
                      .rank = 1 + (int)rnd_below(r, 3),
                      .layout = 1 + (int)rnd_below(r, 3),
                      .stripe = 1 + (int64_t)rnd_below(r, 60)};
    if (s->layout == DREP_CONTIGUOUS && drep_type_variable(types[s->type]))
        s->layout = DREP_CHUNKED;
    for (int d = 0; d < s->rank; d++) {
        static const uint64_t most[] = {2500, 60, 14};

        max[d] = s->dims[d] = 1 + (int64_t)rnd_below(r, most[s->rank - 1]);
        chunk[d] = 1 + (int64_t)rnd_below(r, (uint64_t)s->dims[d] / (rnd_below(r, 2) ? 8 : 1) + 1);
    }
    s->grows = s->layout == DREP_CHUNKED && rnd_below(r, 2);
    if (s->grows)
        max[0] = DREP_UNLIMITED;
    s->refuses = rep == PICKY && (s->type == 0 || s->type == 2);
    spec.type = types[s->type];
    spec.rank = s->rank;
    spec.dims = s->dims;
    spec.maxdims = max;
    spec.layout = s->layout;
    spec.chunk = s->layout == DREP_CHUNKED ? chunk : NULL;
    if (s->layout == DREP_CHUNKED && filter) {
        chain[1].id = filter;
        spec.filters = chain;
        spec.nfilters = 2;
    }
    snprintf(path, sizeof path, "/d%d", number);
    went(me, drep_dataset_create(f, path, &spec, &s->ds));
}

/* Write a box with numbers of its own; `odd`: one of them is refused. */
static int write_box(struct set *s, const int64_t *start, const int64_t *count, int salt,
                     bool together, bool odd)
{
    int64_t n = 1, coord[3];
    size_t extent = (size_t)drep_type_extent(types[s->type]);
    char *v, *room;
    int err;

    for (int d = 0; d < s->rank; d++)
        n *= count[d];
    v = calloc((size_t)n + 1, extent);
    room = malloc(32 * ((size_t)n + 1));
    memcpy(coord, start, sizeof coord);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = salt;

        for (int d = 0; d < s->rank; d++)
            at = at * 31 + coord[d];
        put(s->type, v + (size_t)i * extent, room + 32 * i,
            odd && i == n - 1 ? REFUSED : 1 + (int)(at % 5000));
        for (int d = s->rank - 1; d >= 0 && ++coord[d] == start[d] + count[d]; d--)
            coord[d] = start[d];
    }
    err =
        drep_write_box(s->ds, start, count, types[s->type], v, &DREP_XFER(.collective = together));
    free(v);
    free(room);
    return err;
}

static void random_box(struct rnd *r, const struct set *s, int64_t *start, int64_t *count)
{
    memset(start, 0, 3 * sizeof *start);
    memset(count, 0, 3 * sizeof *count);
    for (int d = 0; d < s->rank; d++) {
        count[d] = s->dims[d];
        if (s->dims[d] > 0 && rnd_below(r, 3)) {
            start[d] = (int64_t)rnd_below(r, (uint64_t)s->dims[d]);
            count[d] = 1 + (int64_t)rnd_below(r, (uint64_t)(s->dims[d] - start[d]));
        }
    }
}

/* The part of a rank: some have nothing. */
static void cut(int64_t *start, int64_t *count, int d, int rank, int of)
{
    int64_t from = count[d] * rank / of, to = count[d] * (rank + 1) / of;

    start[d] += from;
    count[d] = to - from;
}

static void write_together(struct teller *me, struct rnd *r, struct set *s, bool odd)
{
    int64_t start[3], count[3];
    int d = (int)rnd_below(r, (uint64_t)s->rank), salt = (int)rnd_below(r, 1000), err;
    bool any = true;

    random_box(r, s, start, count);
    for (int k = 0; k < s->rank; k++)
        any &= count[k] > 0;
    odd = odd && s->refuses && any;
    if (me->ranks > 1) {
        cut(start, count, d, me->rank, me->ranks);
        err = write_box(s, start, count, salt, true, odd && me->rank == me->ranks - 1);
    } else {
        err = write_box(s, start, count, salt, false, odd);
    }
    if (!odd)
        went(me, err);
    else if (err != DREP_ERR_CONVERSION)
        went(me, err ? err : -1);
}

/* Rows of stripes belong to ranks in turn; each writes what a box has of some of its stripes. */
static void write_alone(struct teller *me, struct rnd *r, struct set *s, int of)
{
    int salt = (int)rnd_below(r, 1000);
    int64_t box_start[3], box_count[3], end;

    random_box(r, s, box_start, box_count);
    end = box_start[0] + box_count[0];
    for (int64_t at = box_start[0], to; at < end; at = to) {
        int64_t start[3], count[3], stripe = at / s->stripe;
        bool writes = rnd_below(r, 3) > 0;

        to = (stripe + 1) * s->stripe < end ? (stripe + 1) * s->stripe : end;
        memcpy(start, box_start, sizeof start);
        memcpy(count, box_count, sizeof count);
        start[0] = at;
        count[0] = to - at;
        if (writes && (me->ranks == 1 || me->rank == stripe % of))
            went(me, write_box(s, start, count, salt, false, false));
    }
}

static void resize(struct teller *me, struct rnd *r, struct set *s)
{
    uint64_t how = rnd_below(r, 4);
    int64_t len = s->dims[0];

    if (how == 0)
        len = (int64_t)rnd_below(r, (uint64_t)len + 1);
    else if (how > 1)
        len += (int64_t)rnd_below(r, s->rank == 1 ? 300 : 10);
    if (!s->grows)
        return;
    s->dims[0] = len;
    went(me, drep_dataset_resize(s->ds, s->dims));
}

/* What each rank makes for itself. */
static void own_metadata(struct teller *me, drep_file *f, struct rnd *r, int of, int step)
{
    uint64_t kind = rnd_below(r, 3), type = rnd_below(r, TYPES), rep = rnd_below(r, REPS);
    const int64_t n = 5;
    char path[40];

    for (int rank = 0; rank < of; rank++) {
        bool makes = rnd_below(r, 3) > 0;

        snprintf(path, sizeof path, "/own%d.%d", step, rank);
        if (!makes || (me->ranks > 1 && me->rank != rank))
            continue;
        if (kind == 0)
            went(me, drep_group_create(f, path, 0));
        else if (kind == 1)
            went(me, drep_attr_write_int64(f, "/", path + 1, rank));
        else
            went(me, drep_dataset_create(f, path,
                                         &DREP_SPEC(.type = types[type], .rank = 1, .dims = &n,
                                                    .datarep = reps[(rep + (uint64_t)rank) % REPS],
                                                    .layout = DREP_COMPACT),
                                         NULL));
    }
}

static void tell(struct teller *me, drep_file *f)
{
    const struct plan *p = me->ctx;
    struct set set[SETS] = {{.ds = NULL}};
    int steps, n = 0;
    char name[20];
    struct rnd r;

    rnd_init(&r, p->seed * 77 + 5);
    steps = 6 + (int)rnd_below(&r, 20);
    for (int step = 0; step < steps && !me->err; step++) {
        uint64_t what = rnd_below(&r, 14), which = rnd_below(&r, SETS);
        struct set *s = n ? &set[which % (uint64_t)n] : NULL;

        if (!s || (what < 3 && n < SETS))
            create(me, f, &r, &set[n], n), n++;
        else if (what < 7)
            write_together(me, &r, s, what == 3 && p->own);
        else if (what < 9)
            resize(me, &r, s);
        else if (what < 11 && p->own)
            write_alone(me, &r, s, p->of);
        else if (what == 11 && p->own)
            own_metadata(me, f, &r, p->of, step);
        else if (what == 12)
            went(me, drep_attr_write_int64(f, "/", name, step + snprintf(name, 20, "a%d", step)));
        else if (what == 13)
            went(me, drep_commit(f));
    }
    went(me, drep_commit(f)); /* closing would tell of writes that failed */
    for (int i = 0; i < n; i++)
        drep_dataset_close(set[i].ds);
}

/* ---- contents ---- */

static bool same_element(const drep_type *type, const char *a, const char *b)
{
    if (type == types[3]) {
        const char *x, *y;

        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return strcmp(x ? x : "", y ? y : "") == 0;
    }
    if (type == types[4]) {
        drep_vlen x, y;

        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x.count == y.count &&
               (x.count == 0 || memcmp(x.data, y.data, (size_t)x.count * 2) == 0);
    }
    if (type == types[2])
        return memcmp(a, b, 4) == 0 && memcmp(a + 8, b + 8, 8) == 0;
    return memcmp(a, b, (size_t)drep_type_extent(type)) == 0;
}

static void same_dataset(drep_file *a, drep_file *b, const char *path, const char *what)
{
    drep_dsinfo x = DREP_DSINFO, y = DREP_DSINFO;
    const drep_type *type = NULL;
    drep_dataset *da, *db;
    size_t extent;
    char *va, *vb;

    ok(drep_dataset_open(a, path, &da));
    ok(drep_dataset_open(b, path, &db));
    ok(drep_dataset_info(da, &x));
    ok(drep_dataset_info(db, &y));
    ck_assert_msg(x.count == y.count && memcmp(x.dims, y.dims, (size_t)x.rank * 8) == 0 &&
                      x.layout == y.layout && strcmp(x.datarep, y.datarep) == 0 &&
                      x.nfilters == y.nfilters,
                  "%s: %s is another dataset", what, path);
    for (int i = 0; i < TYPES; i++)
        if (drep_type_equal(types[i], x.type))
            type = types[i];
    ck_assert_msg(type && drep_type_equal(type, y.type), "%s: %s has another type", what, path);
    extent = (size_t)drep_type_extent(type);
    va = calloc((size_t)x.count + 1, extent);
    vb = calloc((size_t)x.count + 1, extent);
    ok(drep_read(da, NULL, type, va, NULL));
    ok(drep_read(db, NULL, type, vb, NULL));
    for (int64_t i = 0; i < x.count; i++)
        ck_assert_msg(same_element(type, va + (size_t)i * extent, vb + (size_t)i * extent),
                      "%s: %s: element %lld differs", what, path, (long long)i);
    drep_vlen_free(type, x.count, va);
    drep_vlen_free(type, x.count, vb);
    free(va);
    free(vb);
    drep_dataset_close(da);
    drep_dataset_close(db);
}

struct comparing {
    drep_file *a, *b;
    const char *what;
    int objects, attrs;
};

static int same_object(const drep_visited *o, void *ctx)
{
    struct comparing *c = ctx;
    drep_objinfo x = DREP_OBJINFO, y = DREP_OBJINFO;

    c->objects++;
    ok(drep_stat(c->a, o->path, &x));
    ck_assert_msg(drep_stat(c->b, o->path, &y) == 0 && x.kind == y.kind && x.attrs == y.attrs &&
                      x.members == y.members && x.links == y.links,
                  "%s: %s is another object", c->what, o->path);
    if (o->kind == DREP_OBJ_DATASET)
        same_dataset(c->a, c->b, o->path, c->what);
    return 0;
}

static int same_attr(const char *name, void *ctx)
{
    struct comparing *c = ctx;
    int64_t x, y = -1;

    ok(drep_attr_read_int64(c->a, "/", name, &x));
    ck_assert_msg(drep_attr_read_int64(c->b, "/", name, &y) == 0 && x == y,
                  "%s: attribute %s is %lld", c->what, name, (long long)y);
    return 0;
}

static void same_content(const char *a, const char *b, const char *what)
{
    struct comparing c = {.what = what};
    int64_t findings = 0;

    ok(drep_open(a, DREP_RDONLY, NULL, &c.a));
    ok(drep_open(b, DREP_RDONLY, NULL, &c.b));
    ok(drep_visit(c.a, "/", DREP_BY_NAME, same_object, &c));
    ok(drep_attr_list(c.a, "/", DREP_BY_NAME, same_attr, &c));
    ok(drep_check(c.b, 1, say_finding, NULL, &findings));
    ck_assert_msg(findings == 0, "%s: %lld findings", what, (long long)findings);
    ok(drep_close(c.a));
    ok(drep_close(c.b));
}

START_TEST(test_random_stories)
{
    const char *count = getenv("RANK_STORIES"), *first = getenv("RANK_STORY");
    int from = first ? atoi(first) : 0, stories = count ? atoi(count) : 120;

    make_types();
    for (int i = from; i < from + stories; i++) {
        struct plan p = {.seed = (uint64_t)i, .of = 2 + i / 2 % 7, .own = i % 2};
        struct story alone = {.fn = tell, .ctx = &p, .path = temp_path("alone.drep")};
        struct story together = {.fn = tell, .ctx = &p, .path = temp_path("ranks.drep")};
        char what[60];

        alone.datarep = together.datarep = datareps[i / 3 % DATAREPS];
        snprintf(what, sizeof what, "story %d (%s)", i, alone.datarep);
        story_alone(&alone);
        story_run(&together, p.of);
        for (int r = 0; r < p.of; r++)
            ck_assert_msg(together.teller[r].err == 0, "%s: rank %d of %d: %s", what, r, p.of,
                          together.teller[r].text);
        if (p.own)
            same_content(alone.path, together.path, what);
        else
            same_file(alone.path, together.path, what, p.of);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_stories");
    TCase *tc = tcase_create("ranks_stories");

    tcase_set_timeout(tc, 3600);
    tcase_add_test(tc, test_random_stories);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
