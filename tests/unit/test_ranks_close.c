/* test_ranks_close.c - the close of a file that ranks share, after a write that failed on some.
 *
 * It has one outcome: what succeeded on each rank is committed, and all get the first error; with
 * the hint drep_close=abandon of the rank that failed nothing is. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { EACH = 50, MOST = 5 };

struct plan {
    int who;      /* the ranks whose bit is set fail */
    bool commits; /* between the failure and the close */
    bool together;
};

/* Each rank writes its elements, and some a value that does not fit. */
static void tell_failure(struct teller *me, drep_file *f)
{
    const struct plan *p = me->ctx;
    const int64_t dims = EACH * MOST, chunk = 8, n = EACH, start = EACH * me->rank;
    const bool fails = p->who >> me->rank & 1;
    drep_spec spec = DREP_SPEC(.type = DREP_INT16_T, .rank = 1, .dims = &dims,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_STRICT);
    drep_dataset *ds = NULL;
    int32_t v[EACH];
    int err;

    for (int i = 0; i < EACH; i++)
        v[i] = (int32_t)start + i;
    if (!went(me, drep_dataset_create(f, "/d", &spec, &ds)) || !went(me, drep_commit(f)))
        return;
    went(me, drep_write_box(ds, &start, &n, DREP_INT32_T, v, &xfer));
    if (fails)
        v[EACH - 1] = 1 << 20;
    xfer.collective = p->together;
    err = fails || p->together ? drep_write_box(ds, &start, &n, DREP_INT32_T, v, &xfer) : 0;
    if (err != (fails || (p->together && p->who) ? DREP_ERR_CONVERSION : 0))
        me->err = -1;
    if (p->commits)
        went(me, drep_commit(f));
    drep_dataset_close(ds);
}

static void look(const char *path, int ranks, bool committed)
{
    int32_t seen[EACH * MOST];
    drep_dataset *ds;
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/d", &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    for (int i = 0; i < EACH * MOST; i++)
        ck_assert_int_eq(seen[i], committed && i < EACH * ranks ? i : 0);
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_close(f));
}

static void run(struct plan *p, int ranks, const char *hint)
{
    const char *path = temp_path("close.drep");
    struct story s = {.fn = tell_failure, .path = path, .ctx = p, .datarep = "external32"};
    bool kept = p->commits || !hint || !p->who;
    int want = p->who && !p->commits ? DREP_ERR_CONVERSION : 0;
    char first[20];

    s.hint = hint ? "drep_close" : NULL;
    s.value = hint;
    snprintf(first, sizeof first, "rank %d: ", __builtin_ffs(p->who) - 1);
    story_run(&s, ranks);
    ck_assert(!s.all.deadlock);
    for (int r = 0; r < ranks; r++) {
        const char *text = s.teller[r].text;

        ck_assert_msg(s.teller[r].err == want, "rank %d of %d: %d: %s", r, ranks, s.teller[r].err,
                      text);
        ck_assert_msg(!want || strstr(text, first), "%s", text);
        ck_assert_msg(!want || strstr(text, kept ? "what succeeded was committed" : "was kept"),
                      "%s", text);
        ck_assert_str_eq(text, s.teller[0].text);
    }
    look(path, ranks, kept);
    unlink(path);
}

START_TEST(test_D43_close_has_one_outcome)
{
    for (int ranks = 2; ranks <= MOST; ranks += 3)
        for (int who = 0; who < 1 << ranks; who += who < 3 ? 1 : 7)
            for (int commits = 0; commits < 2; commits++) {
                struct plan p = {.who = who, .commits = commits};

                run(&p, ranks, commits ? "abandon" : NULL);
                if (who == 2)
                    run(&p, ranks, commits ? NULL : "abandon");
            }
}
END_TEST

/* A write of all that failed for one. */
START_TEST(test_D43_close_after_a_failed_collective_write)
{
    for (int ranks = 2; ranks <= MOST; ranks += 3)
        for (int who = 1; who < 1 << ranks; who *= 4) {
            struct plan p = {.who = who, .together = true};

            run(&p, ranks, NULL);
            run(&p, ranks, "abandon");
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_close");
    TCase *tc = tcase_create("ranks_close");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_D43_close_has_one_outcome);
    tcase_add_test(tc, test_D43_close_after_a_failed_collective_write);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
