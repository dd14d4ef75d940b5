/* test_ranks_room.c - space that rank 0 takes by itself, between two collective calls: where no
 * rank writes alone, the file is that of one process. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { TEXTS = 6000, ROWS = 300000, LONG = 400 << 10 };

static drep_dataset *texts(struct teller *me, drep_file *f, const char *path, drep_type *type)
{
    const int64_t n = TEXTS, max = DREP_UNLIMITED, chunk = TEXTS + 500;
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, path,
                                 &DREP_SPEC(.type = type, .rank = 1, .dims = &n, .maxdims = &max,
                                            .layout = DREP_CHUNKED, .chunk = &chunk),
                                 &ds));
    return ds;
}

/* The cache of rank 0 has what all have written, a part of a chunk; a local call writes it back. */
static void tell_cached(struct teller *me, drep_file *f)
{
    const int64_t n = TEXTS, some = n - 200, from = 100 + some * me->rank / me->ranks;
    const int64_t count = 100 + some * (me->rank + 1) / me->ranks - from, shorter = n - 1000;
    static _Thread_local char room[TEXTS][32], *text[TEXTS];
    drep_type *type;
    drep_dataset *ds;

    went(me, drep_type_vstring(&type));
    for (int k = 0; k < 4; k++) {
        char path[10];

        snprintf(path, sizeof path, "/d%d", k);
        for (int i = 0; i < n; i++) {
            snprintf(room[i], sizeof room[i], "the text %d of %d", i, k);
            text[i] = room[i];
        }
        ds = texts(me, f, path, type);
        for (int times = 0; times < 1 + k % 2; times++)
            went(me, drep_write_box(ds, &from, &count, type, text + from,
                                    &DREP_XFER(.collective = me->ranks > 1)));
        went(me, drep_dataset_resize(ds, k < 2 ? &n : &shorter));
        went(me, drep_dataset_resize(ds, &n));
        drep_dataset_close(ds);
        if (k == 2)
            went(me, drep_commit(f));
    }
    drep_type_free(type);
}

static void long_attr(struct teller *me, drep_file *f, const char *name, int64_t size)
{
    static char bytes[LONG];

    went(me, drep_attr_write(f, "/", name, DREP_BYTE, 1, &size, bytes));
}

/* Long attributes: up to 64 KiB, and an eighth of the file. */
static void tell_attributes(struct teller *me, drep_file *f)
{
    const int64_t n = ROWS, from = n * me->rank / me->ranks;
    const int64_t count = n * (me->rank + 1) / me->ranks - from;
    static double v[ROWS];
    drep_dataset *ds;

    long_attr(me, f, "first", 30 << 10);
    long_attr(me, f, "second", 30 << 10);
    went(me, drep_dataset_create(
                 f, "/d",
                 &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n, .layout = DREP_CONTIGUOUS),
                 &ds));
    went(me, drep_write_box(ds, &from, &count, DREP_DOUBLE, v + from,
                            &DREP_XFER(.collective = me->ranks > 1)));
    drep_dataset_close(ds);
    long_attr(me, f, "third", 200 << 10);
    went(me, drep_commit(f));
    long_attr(me, f, "fourth", 250 << 10);
}

/* A dataset that all write together, or one process alone. */
static drep_dataset *rows(struct teller *me, drep_file *f, const char *path)
{
    const int64_t n = ROWS, from = n * me->rank / me->ranks;
    const int64_t count = n * (me->rank + 1) / me->ranks - from;
    static double v[ROWS];
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(
                 f, path,
                 &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n, .layout = DREP_CONTIGUOUS),
                 &ds));
    went(me, drep_write_box(ds, &from, &count, DREP_DOUBLE, v + from,
                            &DREP_XFER(.collective = me->ranks > 1)));
    return ds;
}

/* Then most of the file is free. */
static void tell_freed(struct teller *me, drep_file *f)
{
    drep_dataset_close(rows(me, f, "/old"));
    drep_dataset_close(rows(me, f, "/kept"));
    went(me, drep_commit(f));
    went(me, drep_link_remove(f, "/old"));
    for (int i = 0; i < 4; i++) {
        went(me, drep_attr_write_int64(f, "/", "i", i));
        went(me, drep_commit(f));
    }
}

static void tell_in_holes(struct teller *me, drep_file *f)
{
    long_attr(me, f, "first", 30 << 10);
    long_attr(me, f, "second", 30 << 10);
    drep_dataset_close(rows(me, f, "/new"));
    long_attr(me, f, "third", 100 << 10);
    went(me, drep_commit(f));
    long_attr(me, f, "fourth", 100 << 10);
}

static void tell_holes(struct teller *me, drep_file *f)
{
    tell_freed(me, f);
    tell_in_holes(me, f);
}

static story_fn *const tales[] = {tell_cached, tell_attributes, tell_holes};

START_TEST(test_the_bytes_of_one_process)
{
    struct story alone = {
        .fn = tales[_i], .path = temp_path("alone.drep"), .datarep = "external32"};
    struct story s = alone;

    s.path = temp_path("ranks.drep");
    story_alone(&alone);
    for (int ranks = 2; ranks <= 5; ranks++) {
        story_run_well(&s, ranks);
        same_file(alone.path, s.path, "room", ranks);
    }
}
END_TEST

static void tell_nothing(struct teller *me, drep_file *f)
{
    (void)me;
    (void)f;
}

/* Ranks open a file that has free space. */
START_TEST(test_the_bytes_of_one_process_in_holes)
{
    struct story freed = {.fn = tell_freed, .datarep = "external32"};
    struct story alone = {.fn = tell_in_holes, .path = temp_path("alone.drep"), .existing = true};
    struct story s = alone;

    freed.path = alone.path;
    story_alone(&freed);
    s.path = freed.path = temp_path("ranks.drep");
    for (int ranks = 2; ranks <= 5; ranks++) {
        story_alone(&freed);
        s.fn = tell_nothing;
        story_run_well(&s, ranks);
        if (ranks == 2) {
            same_file(alone.path, s.path, "nothing", ranks);
            story_alone(&alone);
        }
        s.fn = tell_in_holes;
        story_run_well(&s, ranks);
        same_file(alone.path, s.path, "holes", ranks);
    }
}
END_TEST

/* More than that: the same content. */
static void tell_more(struct teller *me, drep_file *f)
{
    char name[20];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "long%d", i);
        long_attr(me, f, name, LONG - i);
    }
    went(me, drep_commit(f));
    for (int i = 0; i < 3; i++) {
        drep_attrinfo info = DREP_ATTRINFO;

        snprintf(name, sizeof name, "long%d", i);
        went(me, drep_attr_info(f, "/", name, &info));
        if (!me->err && info.dims[0] != LONG - i)
            went(me, DREP_ERR_FAILED);
        drep_attrinfo_release(&info);
    }
}

START_TEST(test_more_than_that)
{
    struct story s = {.fn = tell_more, .path = temp_path("more.drep"), .datarep = "native"};
    drep_file *f;

    for (int ranks = 2; ranks <= 5; ranks++) {
        story_run_well(&s, ranks);
        ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
        check_file(f);
        ok(drep_close(f));
    }
}
END_TEST

/* A compact dataset that ranks write alone, or one process at once. */
static void tell_small(struct teller *me, drep_file *f)
{
    const int64_t n = 3000, from = n * me->rank / me->ranks;
    const int64_t count = n * (me->rank + 1) / me->ranks - from;
    static _Thread_local char room[TEXTS][32], *text[TEXTS];
    drep_type *type;
    drep_dataset *ds;

    went(me, drep_type_vstring(&type));
    for (int i = 0; i < n; i++) {
        snprintf(room[i], sizeof room[i], "text %d", i);
        text[i] = room[i];
    }
    went(me, drep_dataset_create(
                 f, "/d", &DREP_SPEC(.type = type, .rank = 1, .dims = &n, .layout = DREP_COMPACT),
                 &ds));
    went(me, drep_write_box(ds, &from, &count, type, text + from, NULL));
    drep_dataset_close(ds);
    drep_type_free(type);
}

/* Only what rank 0 had, and what all have, was stored of it: not that of each rank. */
START_TEST(test_ranks_alone_store_once)
{
    struct story alone = {
        .fn = tell_small, .path = temp_path("alone.drep"), .datarep = "external32"};
    struct story s = alone;
    size_t one, size;

    s.path = temp_path("ranks.drep");
    story_alone(&alone);
    free(read_whole_file(alone.path, &one));
    for (int ranks = 2; ranks <= 8; ranks += 3) {
        story_run_well(&s, ranks);
        free(read_whole_file(s.path, &size));
        ck_assert_msg(size < 2 * one, "%d ranks: %zu bytes, one process: %zu", ranks, size, one);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_room");
    TCase *tc = tcase_create("ranks_room");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_the_bytes_of_one_process, 0, sizeof tales / sizeof *tales);
    tcase_add_test(tc, test_the_bytes_of_one_process_in_holes);
    tcase_add_test(tc, test_more_than_that);
    tcase_add_test(tc, test_ranks_alone_store_once);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
