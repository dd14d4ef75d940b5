/* test_ranks_failures.c - what a failed call leaves on the ranks: nothing; and ranks that make
 * other calls than the rest: an error at once, then and in every later call. */
/* SPDX-License-Identifier: MIT */
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

int main(void)
{
    Suite *suite = suite_create("ranks_failures");
    TCase *tc = tcase_create("ranks_failures");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_functions_that_fail_on_one_rank);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
