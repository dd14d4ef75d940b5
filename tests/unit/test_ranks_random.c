/* test_ranks_random.c - random datasets that many ranks write together, against one process.
 *
 * Shapes of 0 to 4 dimensions, with lengths of zero and dimensions that grow; all layouts, types
 * and representations, those with a user's functions among them; a box of the dataset, cut at
 * random between the ranks.  The oracle is the file of one process that writes the box at once:
 * byte for byte. */
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

/* A box's elements: small integers, which every type and representation holds. */
static void *elements(const struct plan *p, int round, const struct box *b)
{
    int64_t n = count_of(p, b), at[RANK_MAX] = {0};
    void *v = calloc((size_t)n + 1, 8);

    for (int64_t i = 0; i < n; i++) {
        int64_t place = round;

        for (int d = 0; d < p->rank; d++)
            place = place * 31 + b->start[d] + at[d];
        put(p->memory, v, i, (int)(place % 3000));
        for (int d = p->rank - 1; d >= 0 && ++at[d] == b->count[d]; d--)
            at[d] = 0;
    }
    return v;
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
    for (int k = 0; k < ROUNDS && !me->err; k++) {
        struct box part[MAX_RANKS], mine = p->box[k];
        struct rnd r;
        void *v;

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
        v = elements(p, k, &mine);
        if (p->rank == 0) { /* rank 0 has the element */
            drep_selection *none = NULL;

            if (me->rank > 0)
                went(me, drep_select_points(0, 0, NULL, &none));
            went(me, drep_write(ds, none, p->memory, v, &DREP_XFER(.collective = me->ranks > 1)));
            drep_selection_free(none);
        } else {
            went(me, drep_write_box(ds, mine.start, mine.count, p->memory, v,
                                    &DREP_XFER(.collective = me->ranks > 1)));
        }
        if (p->commit[k])
            went(me, drep_commit(f));
        free(v);
    }
    drep_dataset_close(ds);
}

START_TEST(test_random_writes_together)
{
    const char *text = getenv("STORIES");
    int stories = text ? atoi(text) : 400;

    register_datareps();
    for (int i = 0; i < stories; i++) {
        struct plan p;
        struct story alone = {.fn = tell, .path = temp_path("alone.drep"), .ctx = &p},
                     together = {.fn = tell, .path = temp_path("ranks.drep"), .ctx = &p};
        int ranks = 2 + i % 7;
        char what[80];

        plan_make(&p, (uint64_t)i);
        alone.datarep = together.datarep = p.datarep;
        snprintf(what, sizeof what, "story %d (%s, rank %d, layout %d, filter %d)", i, p.datarep,
                 p.rank, p.layout, p.filter);
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
