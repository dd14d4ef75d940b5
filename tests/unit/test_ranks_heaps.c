/* test_ranks_heaps.c - reads of long texts by all ranks: what travels at once is bounded.
 *
 * Every rank wants all of a dataset whose elements are small and whose contents are large. */
/* SPDX-License-Identifier: MIT */
#include "par/rounds.h"
#include "par/ranks.h"

#include "tests/unit/ranks_help.h"

enum { COUNT = 12000, CHUNK = 100, LONGEST = 4000 };

struct texts {
    uint64_t given, got; /* by any rank */
    pthread_mutex_t lock;
};

static size_t length_at(int64_t i)
{
    return 1000 + (size_t)((uint64_t)i * 2654435761u % (LONGEST - 1000));
}

static void make(const char *path)
{
    const int64_t count = COUNT, chunk = CHUNK;
    char *all = malloc((size_t)COUNT * (LONGEST + 1)), **text = calloc(COUNT, sizeof *text);
    drep_type *type;
    drep_dataset *ds;
    drep_file *f;

    for (int64_t i = 0; i < COUNT; i++) {
        text[i] = all + i * (LONGEST + 1);
        memset(text[i], 'a' + (int)(i % 26), length_at(i));
        text[i][length_at(i)] = 0;
    }
    ok(drep_type_vstring(&type));
    ok(drep_create(path, DREP_RDWR, "native", NULL, &f));
    ok(drep_dataset_create(f, "/x",
                           &DREP_SPEC(.type = type, .rank = 1, .dims = &count,
                                      .layout = DREP_CHUNKED, .chunk = &chunk),
                           &ds));
    ok(drep_write(ds, NULL, type, text, NULL));
    drep_dataset_close(ds);
    drep_type_free(type);
    ok(drep_close(f));
    free(text);
    free(all);
}

static void tell(struct teller *me, drep_file *f)
{
    struct texts *t = (struct texts *)(uintptr_t)me->ctx;
    char **text = calloc(COUNT, sizeof *text);
    drep_type *type = NULL;
    drep_dataset *ds = NULL;

    went(me, drep_type_vstring(&type));
    went(me, drep_dataset_open(f, "/x", &ds));
    went(me, drep_read(ds, NULL, type, text, &DREP_XFER(.collective = 1)));
    for (int64_t i = 0; i < COUNT && !me->err; i++)
        if (strlen(text[i]) != length_at(i) || text[i][0] != 'a' + i % 26)
            me->err = -1;
    drep_vlen_free(type, COUNT, text);
    free(text);
    drep_dataset_close(ds);
    drep_type_free(type);
    pthread_mutex_lock(&t->lock);
    t->given = ranks_of(f)->counted.given > t->given ? ranks_of(f)->counted.given : t->given;
    t->got = ranks_of(f)->counted.got > t->got ? ranks_of(f)->counted.got : t->got;
    pthread_mutex_unlock(&t->lock);
}

START_TEST(test_rounds_count_heaps)
{
    const char *path = temp_path("texts.drep");

    make(path);
    for (int ranks = 2; ranks <= 4; ranks++) {
        struct texts t = {.lock = PTHREAD_MUTEX_INITIALIZER};
        struct story s = {.fn = tell, .ctx = &t, .path = path, .existing = true};

        story_run_well(&s, ranks);
        printf("counted: %d ranks, at most %llu bytes given and %llu got at once\n", ranks,
               (unsigned long long)t.given, (unsigned long long)t.got);
        ck_assert_uint_gt(t.given, READ_ROUND / 2);
        ck_assert_uint_lt(t.given, READ_ROUND + READ_ROUND / 4);
        ck_assert_uint_lt(t.got, READ_ROUND + READ_ROUND / 4);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_heaps");
    TCase *tc = tcase_create("ranks_heaps");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_rounds_count_heaps);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
