/* test_ranks_overlap.c - elements that several ranks write, with the hint drep_overlap=last.
 *
 * In each round every rank writes boxes of its own, some of them whole chunks, and then all write
 * together, one box each.  Whatever they have in common, the file has what the ranks would have
 * left in it one after another.  Every element is made from a number, so that the oracle is an
 * array of numbers.
 *
 * needs: deflate lz4 zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { HEIGHT = 23, WIDTH = 31, ALL = HEIGHT * WIDTH, ROUNDS = 4, CHUNK_Y = 5, CHUNK_X = 8 };

struct common {
    const char *datarep;
    int layout, kind, filter;
    uint64_t seed;
    drep_type *type;
    int64_t size; /* of a value */
};

struct box {
    int64_t start[2], count[2];
};

/* Half of the boxes are made of whole chunks. */
static struct box any_box(struct rnd *r)
{
    bool chunks = rnd_below(r, 2);
    int64_t unit[2] = {chunks ? CHUNK_Y : 1, chunks ? CHUNK_X : 1}, len[2] = {HEIGHT, WIDTH};
    struct box b;

    for (int d = 0; d < 2; d++) {
        uint64_t n = (uint64_t)((len[d] - 1) / unit[d] + 1), from = rnd_below(r, n);

        b.start[d] = (int64_t)from * unit[d];
        b.count[d] = (1 + (int64_t)rnd_below(r, n - from)) * unit[d];
        if (b.count[d] > len[d] - b.start[d])
            b.count[d] = len[d] - b.start[d];
    }
    return b;
}

static void note(const struct box *b, uint32_t first, uint32_t *to)
{
    for (int64_t y = b->start[0]; y < b->start[0] + b->count[0]; y++)
        for (int64_t x = b->start[1]; x < b->start[1] + b->count[1]; x++)
            to[y * WIDTH + x] = first + (uint32_t)(y * WIDTH + x) % 7;
}

static void put(struct teller *me, drep_dataset *ds, const struct box *b, uint32_t first,
                bool together)
{
    const struct common *c = me->ctx;
    int64_t n = b->count[0] * b->count[1], k = 0;
    uint8_t *values = calloc((size_t)n + 1, (size_t)c->size);

    for (int64_t y = b->start[0]; y < b->start[0] + b->count[0]; y++)
        for (int64_t x = b->start[1]; x < b->start[1] + b->count[1]; x++, k++)
            value_make(c->kind, first + (uint32_t)(y * WIDTH + x) % 7, values + k * c->size);
    went(me, drep_write_box(ds, b->start, b->count, c->type, values,
                            &DREP_XFER(.collective = together)));
    drep_vlen_free(c->type, n, values);
    free(values);
}

static void expect(struct teller *me, drep_dataset *ds, const uint32_t *want, bool together,
                   const char *when)
{
    const struct common *c = me->ctx;
    uint8_t *got = calloc(ALL, (size_t)c->size);
    int64_t i;

    if (me->err ||
        !went(me, drep_read(ds, NULL, c->type, got, &DREP_XFER(.collective = together)))) {
        free(got);
        return;
    }
    for (i = 0; i < ALL && value_is(c->kind, c->type, want[i], got + i * c->size); i++)
        ;
    if (i < ALL) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%s: element %lld is not %u", when, (long long)i,
                 want[i]);
    }
    drep_vlen_free(c->type, ALL, got);
    free(got);
}

/* Every rank's boxes of its own, which all ranks know. */
static void alone(struct teller *me, drep_dataset *ds, struct rnd *r, uint32_t first,
                  uint32_t *mine, uint32_t *want)
{
    for (int rank = 0; rank < me->ranks; rank++)
        for (uint64_t k = rnd_below(r, 4); k > 0; k--) {
            struct box b = any_box(r);
            uint32_t at = first + 40 * (uint32_t)rank + 10 * (uint32_t)k;

            note(&b, at, want);
            if (rank != me->rank)
                continue;
            note(&b, at, mine);
            put(me, ds, &b, at, false);
        }
}

static void together(struct teller *me, drep_dataset *ds, struct rnd *r, uint32_t first,
                     uint32_t *want)
{
    struct box mine = {{0}, {0}};

    for (int rank = 0; rank < me->ranks; rank++) {
        struct box b = any_box(r);
        uint32_t at = first + 40 * (uint32_t)rank;

        note(&b, at, want);
        if (rank == me->rank)
            mine = b;
    }
    put(me, ds, &mine, first + 40 * (uint32_t)me->rank, true);
}

static drep_dataset *make(struct teller *me, drep_file *f)
{
    static const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {CHUNK_Y, CHUNK_X};
    const struct common *c = me->ctx;
    drep_filter filter = {.id = c->filter};
    drep_spec spec = DREP_SPEC(.type = c->type, .rank = 2, .dims = dims, .layout = c->layout);
    drep_dataset *ds = NULL;

    if (c->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (c->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    return ds;
}

static void tell(struct teller *me, drep_file *f)
{
    const struct common *c = me->ctx;
    drep_dataset *ds = make(me, f);
    struct box everything = {{0, 0}, {HEIGHT, WIDTH}}, mine_of_all = everything;
    uint32_t want[ALL], mine[ALL];
    struct rnd r;

    rnd_init(&r, c->seed);
    note(&everything, 3, want);
    if (me->rank > 0)
        mine_of_all.count[0] = 0;
    put(me, ds, &mine_of_all, 3, true);
    went(me, drep_commit(f));
    for (uint32_t round = 1; round <= ROUNDS && !me->err; round++) {
        memcpy(mine, want, sizeof mine);
        alone(me, ds, &r, 1000 * round, mine, want);
        expect(me, ds, mine, false, "what a rank has written");
        if (rnd_below(&r, 2)) {
            together(me, ds, &r, 1000 * round + 500, want);
            expect(me, ds, want, true, "what all have written");
        }
        went(me, drep_commit(f));
        expect(me, ds, want, round % 2, "after the commit");
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

START_TEST(test_the_highest_rank_counts)
{
    static const struct common all[] = {
        {.datarep = "native", .layout = DREP_CHUNKED, .kind = 0},
        {.datarep = "external32", .layout = DREP_CHUNKED, .kind = 0, .filter = DREP_FILTER_ZSTD},
        {.datarep = "native", .layout = DREP_CHUNKED, .kind = V_VSTRING},
        {.datarep = "native:s390x",
         .layout = DREP_CHUNKED,
         .kind = V_DEEP,
         .filter = DREP_FILTER_DEFLATE},
        {.datarep = "xor", .layout = DREP_CHUNKED, .kind = 0, .filter = DREP_FILTER_LZ4},
        {.datarep = "native", .layout = DREP_CONTIGUOUS, .kind = 0},
        {.datarep = "small", .layout = DREP_CONTIGUOUS, .kind = 0},
        {.datarep = "native", .layout = DREP_COMPACT, .kind = 0},
        {.datarep = "external32", .layout = DREP_COMPACT, .kind = V_VSTRING},
    };
    static const int ranks[] = {2, 3, 5, 8};
    const char *text = getenv("STORIES");
    uint64_t stories = text ? (uint64_t)atoi(text) : (uint64_t)sanitized_part(12);

    register_datareps();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        struct common c = all[k];
        struct story s = {.fn = tell,
                          .ctx = &c,
                          .datarep = c.datarep,
                          .path = temp_path("ranks.drep"),
                          .hint = "drep_overlap",
                          .value = "last"};

        c.type = value_type(c.kind);
        c.size = drep_type_extent(c.type);
        for (c.seed = 0; c.seed < stories; c.seed++) {
            int n = ranks[c.seed % 4];

            story_run(&s, n);
            ck_assert(!s.all.deadlock);
            for (int r = 0; r < n; r++)
                ck_assert_msg(s.teller[r].err == 0, "case %zu, story %d: rank %d of %d: %s", k,
                              (int)c.seed, r, n, s.teller[r].text);
            whole(s.path);
        }
        drep_type_free(c.type);
    }
}
END_TEST

/* ---- without it ---- */

static void tell_all(struct teller *me, drep_file *f)
{
    const struct box b = {{0, 0}, {6, 9}};
    drep_dataset *ds = make(me, f);

    put(me, ds, &b, (uint32_t)me->rank, false);
    went(me, drep_commit(f));
    drep_dataset_close(ds);
}

static void tell_all_together(struct teller *me, drep_file *f)
{
    const struct box b = {{0, 0}, {6, 9}};
    drep_dataset *ds = make(me, f);

    put(me, ds, &b, (uint32_t)me->rank, true);
    drep_dataset_close(ds);
}

START_TEST(test_an_overlap_is_an_error)
{
    static const struct common all[] = {
        {.layout = DREP_CHUNKED, .kind = 0},
        {.layout = DREP_CHUNKED, .kind = 0, .filter = DREP_FILTER_ZSTD},
        {.layout = DREP_CHUNKED, .kind = V_VSTRING},
        {.layout = DREP_CONTIGUOUS, .kind = 0},
        {.layout = DREP_COMPACT, .kind = 0},
    };
    static const char *const values[] = {"error", "first", NULL};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int v = 0; v < 6; v++) {
            struct common c = all[k];
            struct story s = {.fn = v < 3 ? tell_all : tell_all_together,
                              .ctx = &c,
                              .datarep = "native",
                              .path = temp_path("ranks.drep"),
                              .hint = values[v % 3] ? "drep_overlap" : NULL,
                              .value = values[v % 3]};

            c.type = value_type(c.kind);
            c.size = drep_type_extent(c.type);
            story_run(&s, 3);
            ck_assert(!s.all.deadlock);
            for (int r = 0; r < 3; r++) {
                ck_assert_msg(s.teller[r].err == DREP_ERR_NOT_SAME, "case %zu: %d: %s", k,
                              s.teller[r].err, s.teller[r].text);
                ck_assert_msg(strstr(s.teller[r].text, "ranks 0 and 1") != NULL, "%s",
                              s.teller[r].text);
            }
            drep_type_free(c.type);
        }
}
END_TEST

/* Rank 1 writes all rows but two, rank 0 the last three: they have one in common, which is far into
 * the run of rank 1. */
static void tell_far(struct teller *me, drep_file *f)
{
    static const struct box boxes[] = {{{HEIGHT - 3, 0}, {3, WIDTH}},
                                       {{0, 0}, {HEIGHT - 2, WIDTH}}};
    drep_dataset *ds = make(me, f);

    put(me, ds, &boxes[me->rank], (uint32_t)me->rank, true);
    drep_dataset_close(ds);
}

START_TEST(test_an_overlap_far_into_a_run)
{
    struct common c = {.layout = DREP_CONTIGUOUS, .kind = 0};
    struct story s = {
        .fn = tell_far, .ctx = &c, .datarep = "native", .path = temp_path("ranks.drep")};
    char number[64];

    snprintf(number, sizeof number, "same element, number %d", (HEIGHT - 3) * WIDTH);
    c.type = value_type(c.kind);
    c.size = drep_type_extent(c.type);
    story_run(&s, 2);
    ck_assert(!s.all.deadlock);
    for (int r = 0; r < 2; r++) {
        ck_assert_msg(s.teller[r].err == DREP_ERR_NOT_SAME, "%d: %s", s.teller[r].err,
                      s.teller[r].text);
        ck_assert_msg(strstr(s.teller[r].text, number) != NULL, "%s", s.teller[r].text);
    }
    drep_type_free(c.type);
}
END_TEST

/* ---- the hint ---- */

static void in_force(struct teller *me, drep_file *f, const char *want)
{
    drep_info *info = NULL;
    const char *got;

    if (!went(me, drep_get_info(f, &info)))
        return;
    got = drep_info_get(info, "drep_overlap");
    if (!got || strcmp(got, want) != 0) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%s is in force, not %s", got ? got : "nothing", want);
    }
    drep_info_free(info);
}

static void tell_hint(struct teller *me, drep_file *f)
{
    drep_info *info = NULL;

    in_force(me, f, me->ctx);
    went(me, drep_info_new(&info));
    went(me, drep_info_set(info, "drep_overlap", "error"));
    went(me, drep_set_info(f, info)); /* it stays as it was */
    in_force(me, f, me->ctx);
    drep_info_free(info);
}

START_TEST(test_the_hint_in_force)
{
    struct story s = {.fn = tell_hint,
                      .ctx = "last",
                      .datarep = "native",
                      .path = temp_path("ranks.drep"),
                      .hint = "drep_overlap",
                      .value = "last"};
    drep_info *info;
    drep_file *f;

    story_run_well(&s, 3);
    s.ctx = "error"; /* it does not stand in the file */
    s.existing = true;
    s.hint = NULL;
    story_run_well(&s, 3);
    ok(drep_info_new(&info)); /* one process needs none */
    ok(drep_info_set(info, "drep_overlap", "last"));
    ok(drep_open(s.path, DREP_RDWR, info, &f));
    drep_info_free(info);
    ok(drep_get_info(f, &info));
    ck_assert_str_eq(drep_info_get(info, "drep_overlap"), "error");
    drep_info_free(info);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_overlap");
    TCase *tc = tcase_create("ranks_overlap");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_the_highest_rank_counts);
    tcase_add_test(tc, test_an_overlap_is_an_error);
    tcase_add_test(tc, test_an_overlap_far_into_a_run);
    tcase_add_test(tc, test_the_hint_in_force);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
