/* test_ranks_failures.c - what a failed call leaves on the ranks: nothing; and ranks that make
 * other calls than the rest: an error at once, then and in every later call. */
/* SPDX-License-Identifier: MIT */
#include "par/greeting.h"
#include "tests/unit/ranks_help.h"

#include <time.h>

/* ---- functions that fail on one rank ---- */

enum { COUNT = 4000, CHUNK = 100 };

static _Thread_local int this_rank;

/* Rank 1 converts nothing, neither elements nor the values that a header keeps. */
static int moody_write(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    return this_rank == 1 ? 7 : xor_write(user, type, count, file, position, state);
}

static int moody_read(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    return this_rank == 1 ? 7 : xor_read(user, type, count, file, position, state);
}

static drep_dataset *numbers(struct teller *me, drep_file *f, const char *path)
{
    const int64_t n = COUNT, chunk = CHUNK;
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, path,
                                 &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n,
                                            .layout = DREP_CHUNKED, .chunk = &chunk),
                                 &ds));
    return ds;
}

static void expect(struct teller *me, int got, int code, const char *text)
{
    if (me->err || (got == code && (got == 0 || strstr(drep_error(), text))))
        return;
    me->err = got ? got : -1;
    snprintf(me->text, sizeof me->text, "%d and not %d, \"%s\": %s", got, code, text,
             got ? drep_error() : "");
}

static void tell_moody(struct teller *me, drep_file *f)
{
    const int64_t some = 10, from = me->rank * some, whole = CHUNK, at = me->rank * whole;
    const drep_xfer together = DREP_XFER(.collective = 1);
    double v[CHUNK] = {0};
    drep_dataset *ds;

    this_rank = me->rank;
    for (int i = 0; i < CHUNK; i++)
        v[i] = i;
    for (int own = 0; own < 2; own++) {
        char path[20];

        snprintf(path, sizeof path, "/own%d.%d", own, me->rank);
        ds = numbers(me, f, own ? "/again" : "/numbers");
        expect(me, drep_write_box(ds, &from, &some, DREP_DOUBLE, v, &together), DREP_ERR_CONVERSION,
               "rank 1: dataset");
        if (own)
            went(me, drep_group_create(f, path, 0));
        went(me, drep_commit(f));
        expect(me, drep_write_box(ds, &at, &whole, DREP_DOUBLE, v, NULL),
               me->rank == 1 ? DREP_ERR_CONVERSION : 0, "gave 7");
        went(me, drep_commit(f));
        drep_dataset_close(ds);
    }
}

START_TEST(test_functions_that_fail_on_one_rank)
{
    struct story s = {.fn = tell_moody, .path = temp_path("moody.drep"), .datarep = "moody"};
    double v[CHUNK] = {0};
    drep_dataset *ds;
    drep_file *f;

    ok(drep_register_datarep("moody", moody_read, moody_write, native_extent, NULL));
    for (int ranks = 2; ranks <= 4; ranks++) {
        story_run_well(&s, ranks);
        this_rank = 0;
        ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
        for (int own = 0; own < 2; own++) {
            ok(drep_dataset_open(f, own ? "/again" : "/numbers", &ds));
            for (int r = 0; r < ranks; r++) {
                ok(drep_read_box(ds, (const int64_t[]){r * CHUNK}, (const int64_t[]){CHUNK},
                                 DREP_DOUBLE, v, NULL));
                ck_assert(v[7] == (r == 1 ? 0 : 7));
            }
            drep_dataset_close(ds);
        }
        ok(drep_close(f));
    }
}
END_TEST

/* ---- ranks in different calls ---- */

enum deed { COMMIT, CLOSE, WRITE, READ, ABANDON, DEEDS };

static const char *const deed_name[] = {"drep_commit", "drep_close", "drep_write_box",
                                        "drep_read_box", "drep_team_abandon"};

struct parting {
    enum deed others, one;
    int who;
    double longest[MAX_RANKS]; /* seconds of a later call */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int act(struct teller *me, drep_file *f, drep_dataset *ds, enum deed deed)
{
    const int64_t from = me->rank * 10, some = 10;
    const drep_xfer together = DREP_XFER(.collective = 1);
    double v[10] = {1};

    switch (deed) {
    case COMMIT:
        return drep_commit(f);
    case CLOSE:
        return drep_close(f);
    case WRITE:
        return drep_write_box(ds, &from, &some, DREP_DOUBLE, v, &together);
    case READ:
        return drep_read_box(ds, &from, &some, DREP_DOUBLE, v, &together);
    default:
        drep_team_abandon(f, "out of ideas");
        return 0;
    }
}

/* Nobody waits for a rank that has left, although the team would wait for ever. */
static void part_body(struct team *t, void *ctx)
{
    struct story *s = ctx;
    struct parting *p = (struct parting *)(uintptr_t)s->ctx;
    struct teller *me = &s->teller[t->rank];
    enum deed deed = t->rank == p->who ? p->one : p->others;
    drep_transport transport = *t->transport;
    drep_file *f = NULL;
    drep_dataset *ds;
    double begun;
    char text[100];

    *me = (struct teller){.rank = t->rank, .ranks = t->size, .path = s->path};
    if (!went(me, drep_team_create(&transport, t->ctx, s->path, DREP_RDWR, "native", NULL, &f)))
        return;
    ds = numbers(me, f, "/numbers");
    went(me, drep_commit(f));
    snprintf(text, sizeof text, "rank %d is in %s", p->who, deed_name[p->one]);
    if (deed == ABANDON)
        act(me, f, ds, deed);
    else
        expect(me, act(me, f, ds, deed), DREP_ERR_NOT_SAME, text);
    begun = seconds();
    if (deed != CLOSE && deed != ABANDON) {
        expect(me, drep_group_create(f, "/late", 0), DREP_ERR_NOT_SAME, text);
        expect(me, act(me, f, ds, WRITE), DREP_ERR_NOT_SAME, text);
        expect(me, drep_commit(f), DREP_ERR_NOT_SAME, text);
        expect(me, drep_close(f), DREP_ERR_NOT_SAME, text);
    }
    p->longest[t->rank] = seconds() - begun;
    drep_dataset_close(ds);
}

/* What rank 0 has heard of the others' libraries, each text behind the one before. */
static int libraries_differ(const char *const *text, int n)
{
    struct team_said said = {.at = NULL};
    uint64_t at[MAX_RANKS + 1] = {0};
    int err;

    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(buf_add(&said.all, text[i], strlen(text[i])), 0);
        at[i + 1] = said.all.len;
    }
    said.at = at;
    err = greeting_compare(&said, n);
    buf_release(&said.all);
    return err;
}

/* Ranks whose library, or a codec of it, has another version would write other bytes: both are
 * named before one opens the file. */
START_TEST(test_ranks_of_different_libraries)
{
    const char *same[] = {"datarep 1.0, zstd 1.5.4", "datarep 1.0, zstd 1.5.4"};
    const char *other[] = {"datarep 1.0, zstd 1.5.4", "datarep 1.0, zstd 1.5.4",
                           "datarep 1.0, zstd 1.4.9"};
    struct buf own = {0};

    ck_assert_int_eq(libraries_differ(same, 2), 0);
    ck_assert_int_eq(libraries_differ(same, 1), 0);
    ck_assert_int_eq(libraries_differ(other, 3), DREP_ERR_NOT_SAME);
    ck_assert_str_eq(drep_error(), "rank 2 runs datarep 1.0, zstd 1.4.9; rank 0 runs datarep 1.0, "
                                   "zstd 1.5.4");
    ck_assert_int_eq(greeting_library(&own), 0);
    ck_assert_int_eq(buf_add(&own, "", 1), 0);
    ck_assert_ptr_nonnull(strstr((char *)own.p, "datarep " DREP_VERSION ", format "));
    ck_assert_ptr_nonnull(strstr((char *)own.p, ", xxhash 0."));
    ck_assert_ptr_null(strstr((char *)own.p, "kernels"));
    buf_release(&own);
}
END_TEST

START_TEST(test_ranks_that_part)
{
    for (int ranks = 2; ranks <= 5; ranks += 3)
        for (int pair = 0; pair < DEEDS * DEEDS; pair++) {
            struct parting p = {.others = (enum deed)(pair / DEEDS),
                                .one = (enum deed)(pair % DEEDS),
                                .who = ranks - 1};
            struct story s = {.ctx = &p, .path = temp_path("part.drep")};

            if (p.others == p.one || p.others == ABANDON)
                continue;
            thread_team_init(&s.all, ranks, 0);
            thread_team_run(&s.all, part_body, &s);
            thread_team_release(&s.all);
            ck_assert_msg(!s.all.deadlock, "%s and %s", deed_name[p.others], deed_name[p.one]);
            for (int r = 0; r < ranks; r++) {
                ck_assert_msg(s.teller[r].err == 0, "%s and %s, rank %d: %s", deed_name[p.others],
                              deed_name[p.one], r, s.teller[r].text);
                ck_assert_msg(p.longest[r] < 5, "%g s", p.longest[r]);
            }
        }
}
END_TEST

/* A rank gives no dataset, or no file: all hear of it in that very call, and go on. */
static void tell_nothing_given(struct teller *me, drep_file *f)
{
    const int64_t from = me->rank * 10, some = 10;
    const drep_xfer together = DREP_XFER(.collective = 1);
    drep_dataset *ds = numbers(me, f, "/numbers"), *gone = numbers(me, f, "/gone");
    bool odd = me->rank == 1;
    double v[10] = {1};

    drep_dataset_close(gone);
    expect(me, drep_write_box(odd ? NULL : ds, &from, &some, DREP_DOUBLE, v, &together),
           DREP_ERR_ARG, "rank 1: drep_write_box: no dataset");
    expect(me, drep_read_box(odd ? NULL : ds, &from, &some, DREP_DOUBLE, v, &together),
           DREP_ERR_ARG, "rank 1: drep_read_box: no dataset");
    expect(me, drep_write_box(odd ? gone : ds, &from, &some, DREP_DOUBLE, v, &together),
           DREP_ERR_ARG, "rank 1: drep_write_box: the dataset is closed");
    expect(me, drep_commit(odd ? NULL : f), DREP_ERR_ARG, "rank 1: no file");
    went(me, drep_write_box(ds, &from, &some, DREP_DOUBLE, v, &together));
    went(me, drep_commit(f));
    drep_dataset_close(ds);
}

START_TEST(test_a_rank_that_gives_nothing)
{
    struct story s = {
        .fn = tell_nothing_given, .path = temp_path("nothing.drep"), .datarep = "native"};

    for (int ranks = 2; ranks <= 5; ranks++)
        story_run_well(&s, ranks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_failures");
    TCase *tc = tcase_create("ranks_failures");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_functions_that_fail_on_one_rank);
    tcase_add_test(tc, test_ranks_of_different_libraries);
    tcase_add_test(tc, test_ranks_that_part);
    tcase_add_test(tc, test_a_rank_that_gives_nothing);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
