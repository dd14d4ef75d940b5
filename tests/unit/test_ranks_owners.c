/* test_ranks_owners.c - who brings chunks together that ranks have written in part.
 *
 * Alone: each chunk is written by its own rank, but for a row, and a column of it by the next one.
 * The owner loads what the file has of the rest.  The oracle is what one process writes; the work
 * must be spread as the hints say.
 *
 * Together: selections that leave something of each chunk, or slab, as it is.  The file must be
 * that of one process, byte for byte; rank 0 may get no more than what is at the borders of its
 * part.
 *
 * needs: zstd */
/* SPDX-License-Identifier: MIT */
#include "par/ranks.h"

#include "tests/unit/ranks_help.h"

enum { SIDE = 32, CHUNKS = 12, ROW = 5, FIRST = 3, ROUNDS = 3 };

struct parts {
    int filter;
    bool text;
    uint64_t written[MAX_RANKS];
};

/* What an element is: v of the round, mixed so that filters cannot make much of it. */
static uint32_t value_at(int round, int64_t y, int64_t x)
{
    uint32_t v = (uint32_t)(round * 7919 + y * 104729 + x) * 2654435761u;

    return v ^ v >> 15;
}

static void put(struct teller *me, drep_dataset *ds, int round, const int64_t *start,
                const int64_t *count)
{
    const struct parts *p = me->ctx;
    int64_t n = count[0] * count[1];
    char(*text)[12] = calloc((size_t)n, sizeof *text), **texts = calloc((size_t)n, sizeof *texts);
    uint32_t *v = calloc((size_t)n, sizeof *v);

    for (int64_t i = 0; i < n; i++) {
        v[i] = value_at(round, start[0] + i / count[1], start[1] + i % count[1]);
        snprintf(text[i], sizeof text[i], "%u", v[i]);
        texts[i] = text[i];
    }
    went(me, drep_write_box(ds, start, count, NULL, p->text ? (const void *)texts : v, NULL));
    free(v);
    free(texts);
    free(text);
}

/* Rank r has chunks r, r + ranks, ...: in the first round all but a row of each, then a part of a
 * row.  The last rows of each are the next rank's. */
static void write_parts(struct teller *me, drep_dataset *ds, int round)
{
    for (int64_t c = 0; c < CHUNKS && !me->err; c++) {
        int64_t mine[2] = {c * SIDE, 0}, size[2] = {ROW, SIDE};
        int64_t rest[2] = {c * SIDE + ROW + 1, 0}, rest_size[2] = {SIDE - ROW - 1 - FIRST, SIDE};
        int64_t last[2] = {(c + 1) * SIDE - FIRST, 0}, last_size[2] = {FIRST, SIDE};
        bool own = me->ranks == 1 || c % me->ranks == me->rank;

        if (round > 0) {
            mine[1] = round;
            size[1] = SIDE / 2;
        }
        if (own)
            put(me, ds, round, mine, size);
        if (own && round == 0)
            put(me, ds, round, rest, rest_size);
        if (me->ranks == 1 || (c + 1) % me->ranks == me->rank)
            put(me, ds, round, last, last_size);
    }
}

static void tell(struct teller *me, drep_file *f)
{
    struct parts *p = (struct parts *)(uintptr_t)me->ctx;
    const int64_t dims[2] = {CHUNKS * SIDE, SIDE}, chunk[2] = {SIDE, SIDE};
    const uint32_t fill = 17;
    drep_filter filter = {.id = p->filter};
    drep_spec spec = DREP_SPEC(.type = DREP_UINT32_T, .rank = 2, .dims = dims,
                               .layout = DREP_CHUNKED, .chunk = chunk);
    drep_type *text = NULL;
    drep_dataset *ds = NULL;

    went(me, drep_type_vstring(&text));
    if (p->text) {
        spec.type = text;
    } else {
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = &fill;
    }
    if (p->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    for (int round = 0; round < ROUNDS && !me->err; round++) {
        if (round == 2 && me->ranks > 1) { /* the records are rank 0's alone */
            const int64_t none[2] = {0, 0};

            went(me, drep_write_box(ds, none, none, NULL, "", &DREP_XFER(.collective = 1)));
            write_parts(me, ds, 7);
            went(me, drep_write_box(ds, none, none, NULL, "", &DREP_XFER(.collective = 1)));
        } else if (round == 2) {
            write_parts(me, ds, 7);
        }
        write_parts(me, ds, round);
        went(me, drep_commit(f));
    }
    if (me->ranks > 1)
        p->written[me->rank] = ranks_of(f)->counted.written;
    drep_dataset_close(ds);
    drep_type_free(text);
}

START_TEST(test_parts_are_dealt)
{
    static const int ranks[] = {2, 3, 4};
    struct parts p = {0};
    struct story one = {.fn = tell, .ctx = &p, .datarep = "native", .path = temp_path("one.drep")},
                 many = one;

    many.path = temp_path("many.drep");
    for (int kind = 0; kind < 4; kind++) {
        p.filter = kind % 2 ? DREP_FILTER_ZSTD : 0;
        p.text = kind / 2;
        story_alone(&one);
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            uint64_t all = 0, n = (uint64_t)ranks[k];
            drep_file *f;

            story_run_well(&many, ranks[k]);
            same_elements(one.path, many.path);
            ok(drep_open(many.path, DREP_RDONLY, NULL, &f));
            check_file(f);
            ok(drep_close(f));
            for (int r = 0; r < ranks[k]; r++)
                all += p.written[r];
            printf("counted: %d ranks, filter %d, text %d: %llu bytes, rank 0 %llu\n", ranks[k],
                   p.filter, p.text, (unsigned long long)all, (unsigned long long)p.written[0]);
            for (int r = 0; r < ranks[k]; r++)
                ck_assert_msg(p.written[r] > all / n * 8 / 10 && p.written[r] < all / n * 12 / 10,
                              "rank %d of %d wrote %llu bytes of %llu", r, ranks[k],
                              (unsigned long long)p.written[r], (unsigned long long)all);
        }
    }
}
END_TEST

/* ---- together ---- */

enum { HEIGHT = 300, WIDTH = 300, WIDE = 2048, CALLS = 5, LARGE = 2100, SPOTS_EACH = 3000 };

enum pattern {
    ROWS,    /* of an inner box, each rank some */
    COLUMNS, /* likewise */
    STRIDES, /* every second element of a row */
    SPOTS,   /* points in no order */
    TWICE,   /* likewise, some of them twice */
    MEMBER,  /* one member of each element */
    MIXED,   /* rows of a slab and a half */
    PATTERNS
};

struct pieces_of {
    enum pattern pattern;
    int layout;
    int64_t height, width, chunk[2];
    const char *datarep;
    bool fill, alone;
    uint64_t received, written[MAX_RANKS]; /* rank 0's, in one window */
};

struct pair {
    uint32_t a, b;
};

/* The part of a box that a rank has, by rows or by columns. */
static void box_part(const struct teller *me, enum pattern pattern, int call, int64_t *start,
                     int64_t *count, int64_t *stride)
{
    const struct pieces_of *p = me->ctx;
    int cut = pattern == COLUMNS;
    int64_t n;

    start[0] = 3 + call;
    count[0] = p->height - 7 - 2 * call;
    start[1] = 5;
    count[1] = p->width - 11 - call;
    stride[0] = stride[1] = 1;
    if (pattern == MIXED) {
        start[1] = 0;
        count[1] = p->width * 3 / 4;
    }
    if (pattern == STRIDES) {
        stride[1] = 2;
        count[1] /= 2;
    }
    if (me->ranks == 1)
        return;
    n = count[cut];
    start[cut] += n * me->rank / me->ranks * stride[cut];
    count[cut] = n * (me->rank + 1) / me->ranks - n * me->rank / me->ranks;
}

/* Boxes of several ranks that have a stride make a union. */
static void choose_box(struct teller *me, int call, int64_t *start, int64_t *count, int64_t *stride,
                       drep_selection **sel)
{
    const struct pieces_of *p = me->ctx;
    struct teller half = {.rank = 0, .ranks = 2, .ctx = p};
    drep_selection *part[2] = {NULL};

    for (int i = 0; p->pattern == STRIDES && me->ranks == 1 && i < 2; i++) {
        half.rank = i;
        box_part(&half, p->pattern, call, start, count, stride);
        went(me, drep_select_box(2, start, count, stride, NULL, &part[i]));
    }
    box_part(me, p->pattern, call, start, count, stride);
    if (part[0])
        went(me, drep_select_union(part[0], part[1], sel));
    else
        went(me, drep_select_box(2, start, count, stride, NULL, sel));
    drep_selection_free(part[0]);
    drep_selection_free(part[1]);
}

static void choose_spots(struct teller *me, int call, drep_selection **sel, int64_t *n)
{
    const struct pieces_of *p = me->ctx;
    int from = me->ranks == 1 ? 0 : me->rank, to = me->ranks == 1 ? 4 : me->rank + 1;
    int64_t(*at)[2] = calloc(4 * SPOTS_EACH, sizeof *at);
    struct rnd r;

    *n = 0;
    for (int k = from; k < to && k < 4; k++) { /* of 4 ranks, or fewer that have more */
        rnd_init(&r, (uint64_t)(call * 10 + k));
        for (int i = 0; i < SPOTS_EACH; i++, ++*n) {
            int64_t flat = (int64_t)rnd_below(&r, (uint64_t)p->width * (uint64_t)p->height / 4);

            if (p->pattern == SPOTS) /* a step that has no factor in common with their number */
                flat = (call * 1117 + i * 7919) % (p->width * p->height / 4);
            at[*n][0] = flat / p->width * 4 + k;
            at[*n][1] = flat % p->width;
        }
    }
    went(me, drep_select_points(2, *n, &at[0][0], sel));
    free(at);
}

static void write_call(struct teller *me, drep_dataset *ds, int call)
{
    const struct pieces_of *p = me->ctx;
    int64_t start[2], count[2], stride[2], n;
    drep_type *one = uint32_pair_type(1);
    drep_selection *sel = NULL;
    uint32_t *v;

    if (p->pattern == SPOTS || p->pattern == TWICE) {
        choose_spots(me, call, &sel, &n);
    } else {
        choose_box(me, call, start, count, stride, &sel);
        n = count[0] * count[1];
    }
    v = calloc((size_t)n + 1, sizeof *v);
    for (int64_t i = 0; i < n; i++) /* the same for all ranks, as a point may be named twice */
        v[i] = p->pattern == SPOTS || p->pattern == TWICE
                   ? (uint32_t)(call * 7919 + i % SPOTS_EACH)
                   : value_at(call, start[0] + i / count[1], start[1] + i % count[1] * stride[1]);
    went(me, drep_write(ds, sel, p->pattern == MEMBER ? one : NULL, v,
                        &DREP_XFER(.collective = me->ranks > 1 && !p->alone)));
    free(v);
    drep_selection_free(sel);
    drep_type_free(one);
}

static void tell_together(struct teller *me, drep_file *f)
{
    struct pieces_of *p = (struct pieces_of *)(uintptr_t)me->ctx;
    const int64_t dims[2] = {p->height, p->width};
    const struct pair fill = {17, 18};
    drep_type *pairs = uint32_pair_type(2);
    drep_spec spec = DREP_SPEC(.type = p->pattern == MEMBER ? pairs : DREP_UINT32_T, .rank = 2,
                               .dims = dims, .layout = p->layout);
    drep_dataset *ds = NULL;

    if (p->layout == DREP_CHUNKED)
        spec.chunk = p->chunk;
    if (p->fill) {
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = &fill;
    }
    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    for (int call = 0; call < CALLS && !me->err; call++) {
        write_call(me, ds, call);
        if (call == 1 || call == 3)
            went(me, drep_commit(f));
    }
    if (me->ranks > 1) {
        p->written[me->rank] = ranks_of(f)->counted.written;
        if (me->rank == 0)
            p->received = ranks_of(f)->counted.received;
    }
    drep_dataset_close(ds);
    drep_type_free(pairs);
}

/* The kinds of datasets. */
static const struct pieces_of kinds[] = {
    {.layout = DREP_CONTIGUOUS, .datarep = "native"},
    {.layout = DREP_CONTIGUOUS, .datarep = "external32", .fill = true},
    {.layout = DREP_CONTIGUOUS, .datarep = "xor"},
    {.layout = DREP_CHUNKED, .chunk = {20, 90}, .datarep = "external32"},
    {.layout = DREP_CHUNKED, .chunk = {75, 150}, .datarep = "native", .fill = true},
    {.layout = DREP_CHUNKED, .chunk = {300, 500}, .datarep = "native"},
};

static const struct {
    const char *name, *value;
} hint_of[] = {{NULL, NULL},      {"cb_buffer_size", "5000"}, {"drep_checksum", "deferred"},
               {"cb_nodes", "2"}, {"drep_verify", "off"},     {"striping_unit", "16384"}};

enum { HINTS = sizeof hint_of / sizeof *hint_of };

START_TEST(test_parts_together)
{
    struct pieces_of p;
    struct story one = {.fn = tell_together, .ctx = &p, .path = temp_path("one.drep")}, many = one;
    char what[100];

    register_datareps();
    many.path = temp_path("many.drep");
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (int hinted = 0; hinted < 2; hinted++) {
                size_t h = hinted ? 1 + (kind + (size_t)pattern) % (HINTS - 1) : 0;
                int ranks = 2 + (int)(kind + h) % 3;

                p = kinds[kind];
                p.pattern = (enum pattern)pattern;
                p.height = HEIGHT;
                p.width = pattern == MIXED ? WIDE : WIDTH;
                if (pattern == SPOTS || pattern == TWICE)
                    ranks = 4;
                one.datarep = many.datarep = p.datarep;
                one.hint = many.hint = hint_of[h].name;
                one.value = many.value = hint_of[h].value;
                snprintf(what, sizeof what, "kind %zu, pattern %d, %s", kind, pattern,
                         one.hint ? one.hint : "no hint");
                story_alone(&one);
                story_run(&many, ranks);
                for (int r = 0; r < ranks; r++)
                    ck_assert_msg(many.teller[r].err == 0, "%s: rank %d of %d: %s", what, r, ranks,
                                  many.teller[r].text);
                same_file(one.path, many.path, what, ranks);
            }
}
END_TEST

/* By rows nothing travels but what is in a chunk or slab that two ranks share; and all write. */
START_TEST(test_rank_0_is_no_funnel)
{
    struct pieces_of p;
    struct story many = {.fn = tell_together, .ctx = &p, .path = temp_path("many.drep")};

    register_datareps();
    for (size_t kind = 0; kind < 5; kind++)
        for (int ranks = kind == 2 ? 5 : 2; /* its slabs have 1 MiB */ ranks <= 4; ranks++) {
            uint64_t all = 0, n = (uint64_t)ranks, most;

            p = kinds[kind];
            p.pattern = ROWS;
            p.height = HEIGHT;
            p.width = WIDTH;
            many.datarep = p.datarep;
            story_run_well(&many, ranks);
            for (int r = 0; r < ranks; r++)
                all += p.written[r];
            /* A row of chunks, or a slab, and heads of pieces. */
            most = p.layout == DREP_CHUNKED ? (uint64_t)(p.chunk[0] * p.width) * 4 : 4096;
            most += most / 4;
            printf("counted: kind %zu, %d ranks: rank 0 got %llu bytes at once and wrote %llu of "
                   "%llu\n",
                   kind, ranks, (unsigned long long)p.received, (unsigned long long)p.written[0],
                   (unsigned long long)all);
            ck_assert_uint_le(p.received, most);
            ck_assert_uint_lt(p.written[0], all / n * 3 / 2);
        }
}
END_TEST

/* Slabs that stand nowhere yet are written while they are summed; those that do only when rank 0
 * has given them a place, and where a rank writes is the same as in one process's file. */
enum { HALVES = 2, HALF = 96, LINE = 512 }; /* rows of a slab each */
struct halves {
    uint64_t written[MAX_RANKS], foreseen[MAX_RANKS];
};

static void tell_halves(struct teller *me, drep_file *f)
{
    struct halves *h = (struct halves *)(uintptr_t)me->ctx;
    const int64_t dims[2] = {HALVES * HALF, LINE};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CONTIGUOUS);
    int64_t count[2] = {HALF / me->ranks, LINE};
    double *v = calloc((size_t)(HALF * LINE), sizeof *v);
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, "/x", &spec, &ds));
    for (int call = 0; call <= HALVES && !me->err; call++) { /* the first half again at the end */
        int64_t start[2] = {call % HALVES * HALF + me->rank * count[0], 0};

        for (int64_t i = 0; i < count[0] * LINE; i++)
            v[i] = value_at(call, start[0] + i / LINE, i % LINE);
        went(me, drep_write_box(ds, start, count, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    }
    if (me->ranks > 1) {
        h->written[me->rank] = ranks_of(f)->counted.written;
        h->foreseen[me->rank] = ranks_of(f)->counted.foreseen;
    }
    drep_dataset_close(ds);
    free(v);
}

START_TEST(test_slabs_are_written_while_they_are_summed)
{
    static const char *const reps[] = {"native", "external32"};

    for (size_t k = 0; k < 2; k++)
        for (int ranks = 2; ranks <= 4; ranks++) {
            struct halves h;
            struct story one = {.fn = tell_halves,
                                .ctx = &h,
                                .path = temp_path("one.drep"),
                                .datarep = reps[k]},
                         many = one;
            uint64_t half = (uint64_t)HALF * LINE * 8, written = 0, foreseen = 0;

            many.path = temp_path("many.drep");
            story_alone(&one);
            story_run_well(&many, ranks);
            same_file(one.path, many.path, reps[k], ranks);
            for (int r = 0; r < ranks; r++) {
                written += h.written[r];
                foreseen += h.foreseen[r];
            }
            ck_assert_uint_eq(written, (HALVES + 1) * half);
            ck_assert_uint_eq(foreseen, HALVES * half);
        }
}
END_TEST

/* What ranks write alone, to slabs and to chunks that are too large to be written anew. */
START_TEST(test_large_parts_alone)
{
    struct pieces_of p;
    struct story one = {.fn = tell_together, .ctx = &p, .path = temp_path("one.drep")}, many = one;

    many.path = temp_path("many.drep");
    for (int layout = DREP_CONTIGUOUS; layout <= DREP_CHUNKED; layout++) {
        drep_file *f;

        p = (struct pieces_of){.pattern = ROWS,
                               .layout = layout,
                               .height = 2 * LARGE,
                               .width = LARGE,
                               .chunk = {LARGE, LARGE},
                               .alone = true};
        one.datarep = many.datarep = "external32";
        story_alone(&one);
        story_run_well(&many, 2);
        same_elements(one.path, many.path);
        ok(drep_open(many.path, DREP_RDONLY, NULL, &f));
        check_file(f);
        ok(drep_close(f));
        printf("counted: layout %d: rank 0 got %llu bytes at once and wrote %llu, rank 1 %llu\n",
               layout, (unsigned long long)p.received, (unsigned long long)p.written[0],
               (unsigned long long)p.written[1]);
        ck_assert_uint_le(p.received, LARGE * 4 * (CALLS + 2));
        ck_assert_uint_gt(p.written[1], p.written[0] / 10 * 9);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranks_owners");
    TCase *tc = tcase_create("owners");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_parts_are_dealt);
    tcase_add_test(tc, test_parts_together);
    tcase_add_test(tc, test_rank_0_is_no_funnel);
    tcase_add_test(tc, test_slabs_are_written_while_they_are_summed);
    tcase_add_test(tc, test_large_parts_alone);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
