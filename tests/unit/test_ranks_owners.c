/* test_ranks_owners.c - who brings chunks together that ranks have written alone, in part.
 *
 * Each chunk is written by its own rank, but for a row, and a column of it by the next one.  The
 * owner loads what the file has of the rest.  The oracle is what one process writes; the work must
 * be spread as the hints say.
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

static void same_content(const char *a, const char *b)
{
    char command[1200];

    snprintf(command, sizeof command, "LD_PRELOAD= \"%s\" diff \"%s\" \"%s\"", getenv("DATAREP"), a,
             b);
    ck_assert_msg(system(command) == 0, "%s", command);
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
            same_content(one.path, many.path);
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

int main(void)
{
    Suite *s = suite_create("ranks_owners");
    TCase *tc = tcase_create("owners");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_parts_are_dealt);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
