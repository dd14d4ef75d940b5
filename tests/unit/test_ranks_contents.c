/* test_ranks_contents.c - ranks that write elements of variable length alone, or small datasets.
 *
 * In each round a region is cut into boxes, which ranks write, once or twice; some are left out.
 * Every element is made from a number, so that the oracle is an array of numbers.
 *
 * needs: deflate zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { HEIGHT = 23, WIDTH = 31, ALL = HEIGHT * WIDTH, BOXES = 40, ROUNDS = 4 };

struct contents {
    const char *datarep;
    int kind, filter, layout;
    drep_type *type;
    bool fill, overlap;
    bool together; /* the ranks also read and write together */
    uint64_t seed;
};

struct cut {
    int64_t start[2], count[2];
};

static void cut_in(struct cut all, int n, struct rnd *r, struct cut *out)
{
    int d = all.count[1] > all.count[0];
    struct cut a = all, b = all;

    if (n == 1 || all.count[d] < 2) {
        for (int i = 0; i < n; i++)
            out[i] = i == 0 ? all : (struct cut){{0, 0}, {0, 0}};
        return;
    }
    a.count[d] = 1 + (int64_t)rnd_below(r, (uint64_t)all.count[d] - 1);
    b.start[d] += a.count[d];
    b.count[d] -= a.count[d];
    cut_in(a, n / 2, r, out);
    cut_in(b, n - n / 2, r, out + n / 2);
}

/* Write a box of values; note their numbers. */
static void put(struct teller *me, drep_dataset *ds, const struct cut *box, uint32_t first,
                bool writes, uint32_t *mine, uint32_t *want)
{
    const struct contents *c = me->ctx;
    int64_t n = box->count[0] * box->count[1], size = drep_type_extent(c->type), k = 0;
    uint8_t *values = calloc((size_t)n + 1, (size_t)size);

    for (int64_t y = box->start[0]; y < box->start[0] + box->count[0]; y++)
        for (int64_t x = box->start[1]; x < box->start[1] + box->count[1]; x++, k++) {
            uint32_t v = first + (uint32_t)(y * WIDTH + x) % 89;

            want[y * WIDTH + x] = v;
            if (!writes)
                continue;
            mine[y * WIDTH + x] = v;
            value_make(c->kind, v, values + k * size);
        }
    if (writes && n > 0) {
        went(me, drep_write_box(ds, box->start, box->count, c->type, values, NULL));
        drep_vlen_free(c->type, n, values);
    }
    free(values);
}

static void expect_by(struct teller *me, drep_dataset *ds, const uint32_t *want,
                      const drep_xfer *xfer, const char *when)
{
    const struct contents *c = me->ctx;
    int64_t size = drep_type_extent(c->type), i;
    uint8_t *got = calloc(ALL, (size_t)size);

    if (!went(me, drep_read(ds, NULL, c->type, got, xfer))) {
        free(got);
        return;
    }
    for (i = 0; i < ALL && value_is(c->kind, c->type, want[i], got + i * size); i++)
        ;
    if (i < ALL) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%s: element %lld is not %u", when, (long long)i,
                 want[i]);
    }
    drep_vlen_free(c->type, ALL, got);
    free(got);
}

static void expect(struct teller *me, drep_dataset *ds, const uint32_t *want, const char *when)
{
    expect_by(me, ds, want, NULL, when);
}

/* The first row of all, by one of them; before and after it all see what any rank has written. */
static void all_together(struct teller *me, drep_dataset *ds, uint32_t round, uint32_t *want)
{
    const struct contents *c = me->ctx;
    const int64_t start[2] = {1, 0}, count[2] = {me->rank == 0, WIDTH};
    const drep_xfer all = DREP_XFER(.collective = 1);
    int64_t size = drep_type_extent(c->type);
    uint8_t *values = calloc(WIDTH, (size_t)size);

    expect_by(me, ds, want, &all, "together");
    for (int x = 0; x < WIDTH; x++) {
        want[WIDTH + x] = 60 + round;
        value_make(c->kind, 60 + round, values + x * size);
    }
    went(me, drep_write_box(ds, start, count, c->type, values, &all));
    drep_vlen_free(c->type, WIDTH, values);
    free(values);
    expect_by(me, ds, want, &all, "after a write together");
}

static void tell_contents(struct teller *me, drep_file *f)
{
    const struct contents *c = me->ctx;
    const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {5, 8};
    drep_filter filter = {.id = c->filter};
    drep_spec spec = DREP_SPEC(.type = c->type, .rank = 2, .dims = dims, .layout = c->layout);
    _Alignas(16) uint8_t fill[VALUE_ROOM];
    uint32_t want[ALL], mine[ALL];
    drep_dataset *ds = NULL;
    struct rnd r;

    if (c->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (c->fill) {
        value_make(c->kind, 37, fill);
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = fill;
    }
    if (c->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    if (c->fill)
        drep_vlen_free(c->type, 1, fill);
    for (int i = 0; i < ALL; i++)
        want[i] = c->fill ? 37 : 0;
    rnd_init(&r, c->seed);
    for (uint32_t round = 0; round < ROUNDS && !me->err; round++) {
        struct cut box[BOXES], all = {{0, 0}, {HEIGHT, WIDTH}};

        memcpy(mine, want, sizeof mine);
        cut_in(all, BOXES, &r, box);
        for (int i = 0; i < BOXES; i++) {
            int rank = (int)rnd_below(&r, 8) % me->ranks, times = (int)rnd_below(&r, 3);

            for (int k = 0; k < times; k++)
                put(me, ds, &box[i], 100 * round + 50 * (uint32_t)k, rank == me->rank, mine, want);
        }
        if (c->layout == DREP_COMPACT) /* equal values of several ranks are none too many */
            put(me, ds, &box[0], 100 * round + 20, true, mine, want);
        expect(me, ds, mine, "before the commit");
        if (c->together && round % 2 == 0)
            all_together(me, ds, round, want);
        went(me, drep_commit(f));
        expect(me, ds, want, "after the commit");
    }
    if (c->overlap && me->ranks > 1) {
        const struct cut one = {{2, 3}, {1, 1}};

        put(me, ds, &one, 7, me->rank < 2, mine, want);
    }
    drep_dataset_close(ds);
}

static void whole(const char *path)
{
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    check_file(f);
    ok(drep_close(f));
}

static const struct contents chunked[] = {
    {.datarep = "native", .kind = V_VSTRING},
    {.datarep = "external32", .kind = V_VSTRING, .filter = DREP_FILTER_DEFLATE, .fill = true},
    {.datarep = "native:s390x", .kind = V_SEQUENCE},
    {.datarep = "external32", .kind = V_NESTED, .filter = DREP_FILTER_ZSTD},
    {.datarep = "small", .kind = V_DEEP, .fill = true},
    {.datarep = "xor", .kind = V_DEEP, .filter = DREP_FILTER_ZSTD},
};
static const struct contents compact[] = {
    {.datarep = "native", .kind = V_DOUBLE, .fill = true},
    {.datarep = "external32", .kind = V_INT32},
    {.datarep = "external32", .kind = V_FLAT, .together = true},
    {.datarep = "native", .kind = V_VSTRING, .fill = true, .together = true},
    {.datarep = "external32", .kind = V_NESTED},
    {.datarep = "xor", .kind = V_DEEP, .together = true},
};

static void tell_all(const struct contents *all, size_t n, int layout)
{
    static const int ranks[] = {1, 2, 3, 8};

    register_datareps();
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            struct contents c = all[k];
            struct story s = {.fn = tell_contents,
                              .ctx = &c,
                              .datarep = c.datarep,
                              .path = temp_path("ranks.drep")};

            c.layout = layout;
            c.type = value_type(c.kind);
            for (c.seed = 1; c.seed < 1 + (unsigned)sanitized_part(3); c.seed++) {
                story_run_well(&s, ranks[i]);
                whole(s.path);
            }
            drep_type_free(c.type);
        }
}

START_TEST(test_contents_of_single_ranks)
{
    tell_all(chunked, sizeof chunked / sizeof *chunked, DREP_CHUNKED);
}
END_TEST

START_TEST(test_small_datasets_of_single_ranks)
{
    tell_all(compact, sizeof compact / sizeof *compact, DREP_COMPACT);
}
END_TEST

START_TEST(test_one_element_of_two_ranks)
{
    struct contents c = {
        .datarep = "native", .kind = V_VSTRING, .layout = DREP_CHUNKED, .overlap = true};
    struct story s = {
        .fn = tell_contents, .ctx = &c, .datarep = "native", .path = temp_path("ranks.drep")};

    c.type = value_type(c.kind);
    story_run(&s, 3);
    for (int r = 0; r < 3; r++) {
        ck_assert_int_eq(s.teller[r].err, DREP_ERR_NOT_SAME);
        ck_assert_msg(strstr(s.teller[r].text, "ranks 0 and 1 write the same element") != NULL,
                      "%s", s.teller[r].text);
    }
    whole(s.path);
    drep_type_free(c.type);
}
END_TEST

/* An element in memory that is two of the dataset cannot be replaced in part. */
static void tell_pairs(struct teller *me, drep_file *f)
{
    const int64_t len = 16, start = 4 * me->rank, count = 4;
    char *texts[4] = {"a", "bc", "", "def"};
    char *got[16] = {0};
    drep_type *text = NULL, *pair = NULL;
    drep_dataset *ds = NULL;

    went(me, drep_type_vstring(&text));
    went(me, drep_type_contiguous(2, text, &pair));
    went(me, drep_dataset_create(f, "/x",
                                 &DREP_SPEC(.type = text, .rank = 1, .dims = &len,
                                            .layout = DREP_CHUNKED, .chunk = (const int64_t[]){6}),
                                 &ds));
    went(me, drep_write_box(ds, &start, &count, pair, texts, NULL));
    if (!me->err && drep_read(ds, NULL, pair, got, NULL) != DREP_ERR_NOT_COMMITTED)
        me->err = -1;
    if (went(me, drep_commit(f)))
        went(me, drep_read(ds, NULL, pair, got, NULL));
    for (int i = 0; !me->err && i < 12; i++)
        if (strcmp(got[i], texts[i % 4]) != 0)
            me->err = -2;
    drep_vlen_free(pair, 8, got);
    drep_dataset_close(ds);
    drep_type_free(pair);
    drep_type_free(text);
}

START_TEST(test_two_elements_in_one)
{
    struct story s = {.fn = tell_pairs, .datarep = "native", .path = temp_path("ranks.drep")};

    story_run_well(&s, 3);
    whole(s.path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranks_contents");
    TCase *tc = tcase_create("contents");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_contents_of_single_ranks);
    tcase_add_test(tc, test_small_datasets_of_single_ranks);
    tcase_add_test(tc, test_one_element_of_two_ranks);
    tcase_add_test(tc, test_two_elements_in_one);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
