/* test_team_abandon.c - a rank that fails alone tells the others.
 *
 * Ranks run in threads, where Check may not assert. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

/* What the others do when one has failed. */
enum place { AT_COMMIT, AT_CLOSE, AT_WRITE, ALL_FAIL };

struct fall {
    const char *path;
    enum place place;
    int who;
    int err[MAX_RANKS];
    char text[MAX_RANKS][1024];
};

static void fall_body(struct team *t, void *ctx)
{
    const int64_t dims[1] = {64}, n[1] = {8}, start[1] = {8 * t->rank};
    struct fall *fall = ctx;
    drep_transport transport = *t->transport;
    drep_dataset *ds = NULL;
    double x[8] = {1};
    drep_file *f = NULL;
    int err;

    err = drep_team_create(&transport, t->ctx, fall->path, DREP_RDWR, "native", NULL, &f);
    if (!err)
        err = drep_dataset_create(f, "/d", &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims),
                                  &ds);
    if (!err)
        err = drep_commit(f);
    if (!err)
        err = drep_attr_write_double(f, "/d", "late", 1);
    if (err) {
        fall->err[t->rank] = -1;
        drep_abandon(f);
        return;
    }
    if (fall->place == ALL_FAIL || t->rank == fall->who) {
        drep_team_abandon(f, "ValueError: negative depth");
        return;
    }
    if (fall->place == AT_COMMIT)
        err = drep_commit(f);
    else if (fall->place == AT_WRITE)
        err = drep_write_box(ds, start, n, DREP_DOUBLE, x, &DREP_XFER(.collective = 1));
    else
        err = drep_close(f);
    fall->err[t->rank] = err;
    snprintf(fall->text[t->rank], sizeof fall->text[0], "%s", drep_error());
    if (fall->place != AT_CLOSE)
        drep_abandon(f);
}

/* The file is its last commit. */
static void expect_last_commit(const char *path)
{
    drep_file *f;
    double x;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ck_assert_int_eq(drep_attr_read_double(f, "/d", "late", &x), DREP_ERR_NOT_FOUND);
    ok(drep_close(f));
}

START_TEST(test_the_others_learn_why)
{
    for (enum place place = AT_COMMIT; place <= ALL_FAIL; place++)
        for (int ranks = 2; ranks <= 7; ranks++)
            for (int who = 0; who < ranks; who += 2) {
                struct fall fall = {.path = temp_path("fall.drep"), .place = place, .who = who};
                struct thread_team all;
                char says[64];

                snprintf(says, sizeof says, "; rank %d: ValueError: negative depth", who);
                thread_team_init(&all, ranks, 0);
                thread_team_run(&all, fall_body, &fall);
                thread_team_release(&all);
                ck_assert_msg(!all.deadlock, "%d ranks wait for rank %d", ranks, who);
                for (int r = 0; r < ranks; r++) {
                    bool told = place != ALL_FAIL && r != who;

                    ck_assert_int_eq(fall.err[r], told ? DREP_ERR_NOT_SAME : 0);
                    if (told)
                        ck_assert_msg(strstr(fall.text[r], says), "%s", fall.text[r]);
                }
                expect_last_commit(fall.path);
            }
}
END_TEST

START_TEST(test_one_process_only_abandons)
{
    const char *path = temp_path("one.drep");
    drep_file *f;
    int kind;

    ok(drep_create(path, DREP_RDWR, "native", NULL, &f));
    ok(drep_group_create(f, "/kept", 0));
    ok(drep_commit(f));
    ok(drep_group_create(f, "/lost", 0));
    drep_team_abandon(f, NULL);
    drep_team_abandon(NULL, NULL);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_exists(f, "/lost", &kind));
    ck_assert_int_eq(kind, 0);
    ok(drep_exists(f, "/kept", &kind));
    ck_assert_int_ne(kind, 0);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team_abandon");
    TCase *tc = tcase_create("team_abandon");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_the_others_learn_why);
    tcase_add_test(tc, test_one_process_only_abandons);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
