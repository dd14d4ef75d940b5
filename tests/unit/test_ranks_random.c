/* test_ranks_random.c - random datasets that many ranks write together, against one process.
 *
 * Shapes of 0 to 4 dimensions, with lengths of zero and dimensions that grow; all layouts, types
 * and representations, those with a user's functions among them; a box of the dataset, cut at
 * random between the ranks.  The oracle is the file of one process that writes the box at once:
 * byte for byte, also in windows that hold one chunk.  After each write the ranks read boxes
 * together, which may overlap, and hold them against a model.
 *
 * needs: deflate lz4 zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { RANK_MAX = 4, ROUNDS = 4 };

struct box {
    int64_t start[RANK_MAX], count[RANK_MAX];
};

struct plan {
    uint64_t seed;
    const char *datarep;
    const drep_type *type, *memory; /* of the file and of the caller */
    int rank, layout, filter;
    int64_t dims[RANK_MAX], max[RANK_MAX], chunk[RANK_MAX];
    bool fill;
    int64_t grown[ROUNDS]; /* the first dimension's length in each round */
    struct box box[ROUNDS];
    bool commit[ROUNDS];
    char value[24]; /* of a hint that bounds what travels or waits */
};

static int64_t count_of(const struct plan *p, const struct box *b)
{
    int64_t n = 1;

    for (int d = 0; d < p->rank; d++)
        n *= b->count[d];
    return n;
}

static void plan_make(struct plan *p, uint64_t seed)
{
    static const int filters[] = {0, DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD, DREP_FILTER_LZ4};
    const drep_type *types[] = {DREP_DOUBLE, DREP_FLOAT, DREP_INT, DREP_INT16_T, DREP_INT64_T};
    struct rnd r;

    rnd_init(&r, seed);
    *p = (struct plan){.seed = seed, .datarep = datareps[rnd_below(&r, DATAREPS)]};
    p->type = types[rnd_below(&r, 5)];
    p->memory = rnd_below(&r, 2) ? p->type : types[rnd_below(&r, 5)];
    p->layout = 1 + (int)rnd_below(&r, 3);
    p->rank = rnd_below(&r, 12) == 0 ? 0 : 1 + (int)rnd_below(&r, RANK_MAX);
    if (p->rank == 0 && p->layout == DREP_CHUNKED)
        p->layout = DREP_CONTIGUOUS;
    if (p->layout == DREP_CHUNKED)
        p->filter = filters[rnd_below(&r, 4)];
    p->fill = rnd_below(&r, 3) == 0;
    for (int d = 0; d < p->rank; d++) {
        static const uint64_t most[] = {6000, 120, 30, 14};
        uint64_t len = p->layout == DREP_COMPACT ? most[p->rank - 1] / 3 : most[p->rank - 1];

        p->max[d] = p->dims[d] = rnd_below(&r, 25) == 0 ? 0 : 1 + (int64_t)rnd_below(&r, len);
        p->chunk[d] = 1 + (int64_t)rnd_below(&r, 1 + (uint64_t)p->dims[d]);
    }
    if (p->layout == DREP_CHUNKED && rnd_below(&r, 3) == 0)
        p->max[0] = DREP_UNLIMITED;
    for (int k = 0; k < ROUNDS; k++) {
        struct box *b = &p->box[k];

        p->grown[k] = k > 0 ? p->grown[k - 1] : p->dims[0];
        if (p->max[0] == DREP_UNLIMITED && rnd_below(&r, 2))
            p->grown[k] += (int64_t)rnd_below(&r, 20);
        p->commit[k] = rnd_below(&r, 2);
        for (int d = 0; d < p->rank; d++) {
            int64_t len = d == 0 ? p->grown[k] : p->dims[d];

            b->start[d] = 0;
            b->count[d] = len;
            if (len > 0 && rnd_below(&r, 3) == 0) {
                b->start[d] = (int64_t)rnd_below(&r, (uint64_t)len);
                b->count[d] = 1 + (int64_t)rnd_below(&r, (uint64_t)(len - b->start[d]));
            }
        }
    }
}

/* Cut a box into n, some of them empty. */
static void cut(const struct plan *p, struct box all, int n, struct rnd *r, struct box *out)
{
    struct box a = all, b = all;
    int d = p->rank > 0 ? (int)rnd_below(r, (uint64_t)p->rank) : 0;
    int64_t at;

    if (n == 1) {
        *out = all;
        return;
    }
    if (p->rank == 0) { /* one rank has it */
        for (int i = 0; i < n; i++)
            out[i] = all;
        return;
    }
    at = (int64_t)rnd_below(r, (uint64_t)all.count[d] + 1);
    a.count[d] = at;
    b.start[d] += at;
    b.count[d] -= at;
    cut(p, a, n / 2, r, out);
    cut(p, b, n - n / 2, r, out + n / 2);
}

static void put(const drep_type *type, void *at, int64_t i, int v)
{
    if (type == DREP_DOUBLE)
        ((double *)at)[i] = v;
    else if (type == DREP_FLOAT)
        ((float *)at)[i] = (float)v;
    else if (type == DREP_INT)
        ((int *)at)[i] = v;
    else if (type == DREP_INT16_T)
        ((int16_t *)at)[i] = (int16_t)v;
    else
        ((int64_t *)at)[i] = v;
}

static int get(const drep_type *type, const void *at, int64_t i)
{
    return type == DREP_DOUBLE    ? (int)((const double *)at)[i]
           : type == DREP_FLOAT   ? (int)((const float *)at)[i]
           : type == DREP_INT     ? ((const int *)at)[i]
           : type == DREP_INT16_T ? ((const int16_t *)at)[i]
                                  : (int)((const int64_t *)at)[i];
}

/* Calls fn with the number of each element of a box, and its place in the dataset. */
static void each(const struct plan *p, const struct box *b,
                 void (*fn)(void *ctx, int64_t i, const int64_t *coord), void *ctx)
{
    int64_t n = count_of(p, b), coord[RANK_MAX] = {0};

    for (int d = 0; d < p->rank; d++)
        coord[d] = b->start[d];
    for (int64_t i = 0; i < n; i++) {
        fn(ctx, i, coord);
        for (int d = p->rank - 1; d >= 0 && ++coord[d] == b->start[d] + b->count[d]; d--)
            coord[d] = b->start[d];
    }
}

/* What is written in a round, and the model: a number of each element. */
struct filling {
    struct teller *me;
    const struct plan *p;
    int round;
    void *v;
    int *model;
};

/* Small integers, which every type and representation holds. */
static int number(const struct filling *f, const int64_t *coord)
{
    int64_t place = f->round;

    for (int d = 0; d < f->p->rank; d++)
        place = place * 31 + coord[d];
    return (int)(place % 3000);
}

/* The first dimension grows, so places stay. */
static int64_t place_of(const struct filling *f, const int64_t *coord)
{
    int64_t at = 0;

    for (int d = 0; d < f->p->rank; d++)
        at = at * f->p->dims[d] + coord[d];
    return at;
}

static void put_number(void *ctx, int64_t i, const int64_t *coord)
{
    const struct filling *f = ctx;

    put(f->p->memory, f->v, i, number(f, coord));
}

static void note_number(void *ctx, int64_t i, const int64_t *coord)
{
    const struct filling *f = ctx;

    (void)i;
    f->model[place_of(f, coord)] = number(f, coord);
}

static void hold_number(void *ctx, int64_t i, const int64_t *coord)
{
    struct filling *f = ctx;
    int got = get(f->p->memory, f->v, i), want = f->model[place_of(f, coord)];

    if (got == want || f->me->err)
        return;
    f->me->err = -1;
    snprintf(f->me->text, sizeof f->me->text, "round %d: element %lld is %d, not %d", f->round,
             (long long)place_of(f, coord), got, want);
}

/* Each rank reads a box of its own, some of them nothing. */
static void hold(struct filling *f, drep_dataset *ds)
{
    const struct plan *p = f->p;
    struct box b = {{0}, {0}};
    struct rnd r;

    rnd_init(&r, p->seed * 13 + (uint64_t)f->round * 100 + (uint64_t)f->me->rank);
    for (int d = 0; d < p->rank; d++) {
        int64_t len = d == 0 ? p->grown[f->round] : p->dims[d];

        b.start[d] = len > 0 ? (int64_t)rnd_below(&r, (uint64_t)len) : 0;
        b.count[d] = (int64_t)rnd_below(&r, (uint64_t)(len - b.start[d]) + 1);
    }
    f->v = calloc((size_t)count_of(p, &b) + 1, 8);
    went(f->me, drep_read_box(ds, p->rank > 0 ? b.start : NULL, p->rank > 0 ? b.count : NULL,
                              p->memory, f->v, &DREP_XFER(.collective = f->me->ranks > 1)));
    if (!f->me->err)
        each(p, &b, hold_number, f);
    free(f->v);
}

static void tell(struct teller *me, drep_file *f)
{
    static const int64_t fill_value[2] = {0};
    const struct plan *p = me->ctx;
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = p->filter}};
    drep_spec spec =
        DREP_SPEC(.type = p->type, .rank = p->rank, .dims = p->rank > 0 ? p->dims : NULL,
                  .maxdims = p->rank > 0 ? p->max : NULL, .layout = p->layout);
    drep_dataset *ds = NULL;
    struct filling now = {.me = me, .p = p};
    int64_t room = 1;

    for (int d = 0; d < p->rank; d++)
        room *= d == 0 ? p->grown[ROUNDS - 1] : p->dims[d];
    if (p->layout == DREP_CHUNKED)
        spec.chunk = p->chunk;
    if (p->filter) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    if (p->fill) {
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = fill_value;
    }
    if (!went(me, drep_dataset_create(f, "/data", &spec, &ds)))
        return;
    now.model = calloc((size_t)room + 1, sizeof *now.model);
    for (int k = 0; k < ROUNDS && !me->err; k++) {
        struct box part[MAX_RANKS], mine = p->box[k];
        struct rnd r;

        if (p->rank > 0 && p->max[0] == DREP_UNLIMITED) {
            int64_t dims[RANK_MAX];

            memcpy(dims, p->dims, sizeof dims);
            dims[0] = p->grown[k];
            went(me, drep_dataset_resize(ds, dims));
        }
        rnd_init(&r, p->seed * 7 + (uint64_t)k);
        if (me->ranks > 1) {
            cut(p, p->box[k], me->ranks, &r, part);
            mine = part[me->rank];
        }
        now.round = k;
        now.v = calloc((size_t)count_of(p, &mine) + 1, 8);
        each(p, &mine, put_number, &now);
        each(p, &p->box[k], note_number, &now);
        if (p->rank == 0) { /* rank 0 has the element */
            drep_selection *none = NULL;

            if (me->rank > 0)
                went(me, drep_select_points(0, 0, NULL, &none));
            went(me,
                 drep_write(ds, none, p->memory, now.v, &DREP_XFER(.collective = me->ranks > 1)));
            drep_selection_free(none);
        } else {
            went(me, drep_write_box(ds, mine.start, mine.count, p->memory, now.v,
                                    &DREP_XFER(.collective = me->ranks > 1)));
        }
        free(now.v);
        hold(&now, ds);
        if (p->commit[k])
            went(me, drep_commit(f));
        hold(&now, ds);
    }
    drep_dataset_close(ds);
    free(now.model);
}

START_TEST(test_random_writes_together)
{
    static const char *const hints[] = {NULL, "cb_buffer_size", "drep_mpi_window"};
    static const int bound[] = {1, 64, 501, 1000, 4097, 20000, 300000};
    const char *text = getenv("STORIES");
    int stories = text ? atoi(text) : 400;

    register_datareps();
    for (int i = 0; i < stories; i++) {
        struct plan p;
        struct story alone = {.fn = tell, .path = temp_path("alone.drep"), .ctx = &p},
                     together = {.fn = tell, .path = temp_path("ranks.drep"), .ctx = &p};
        int ranks = 2 + i % 7;
        char what[160];

        plan_make(&p, (uint64_t)i);
        alone.datarep = together.datarep = p.datarep;
        snprintf(p.value, sizeof p.value, "%d", bound[i / 3 % 7]);
        alone.hint = together.hint = hints[i % 3];
        alone.value = together.value = p.value;
        snprintf(what, sizeof what, "story %d (%s, rank %d, layout %d, filter %d, %s=%s)", i,
                 p.datarep, p.rank, p.layout, p.filter, together.hint ? together.hint : "no hint",
                 p.value);
        story_alone(&alone);
        story_run(&together, ranks);
        for (int r = 0; r < ranks; r++)
            ck_assert_msg(together.teller[r].err == 0, "%s: rank %d of %d: %s", what, r, ranks,
                          together.teller[r].text);
        same_file(alone.path, together.path, what, ranks);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_random");
    TCase *tc = tcase_create("ranks_random");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_random_writes_together);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
