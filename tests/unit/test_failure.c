/* test_failure.c - failures do not spread, and nothing half-made is published (D43).
 *
 * What a failed call leaves (nothing), what drep_commit() and drep_close() make of it (test_close.c
 * has every kind), which failures count, and what a call from inside a callback gets.
 *
 * needs: deflate lz4 */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"
#include "file/file.h"
#include "data_help.h"
#include "faultio.h"

#include <stdatomic.h>

#define N 1000

static int32_t good[N], bad[N], seen[N];

static void numbers(void)
{
    register_datareps();
    for (int i = 0; i < N; i++)
        good[i] = bad[i] = i;
    bad[N - 1] = 1 << 20; /* no INT16_T */
}

static drep_dataset *small_numbers(drep_file *f, const char *path)
{
    const int64_t dims = N, max = DREP_UNLIMITED, chunk = 100;
    drep_spec spec = DREP_SPEC(.type = DREP_INT16_T, .rank = 1, .dims = &dims, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static const drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT);

static int put(drep_dataset *ds, const int32_t *values)
{
    return drep_write(ds, NULL, DREP_INT32_T, values, &strict);
}

static void holds(drep_file *f, const char *path, const int32_t *want)
{
    drep_dataset *ds;

    ok(drep_dataset_open(f, path, &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    drep_dataset_close(ds);
    for (int i = 0; i < N; i++)
        if (seen[i] != (want != NULL ? want[i] : 0))
            ck_abort_msg("%s[%d] is %d", path, i, seen[i]);
}

static drep_file *reopened(const char *path)
{
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    return f;
}

/* ---- a failed call leaves nothing ---- */

static int stop_77(int64_t bytes, void *ctx)
{
    (void)bytes;
    (void)ctx;
    return 77;
}

static int count_links(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    ++*(int *)ctx;
    return 0;
}

START_TEST(test_D43_a_failed_call_leaves_nothing)
{
    const char *path = temp_path("nothing");
    const drep_copying stopping = DREP_COPYING(.progress = stop_77);
    const int32_t too_much = 1 << 29;
    const int64_t one = 1;
    drep_spec fill =
        DREP_SPEC(.type = DREP_INT32_T, /* of 24 bits in this file */
                  .rank = 1, .dims = &one, .fill = DREP_FILL_VALUE, .fill_value = &too_much);
    drep_file *f = new_file(path, "small");
    drep_dataset *ds = small_numbers(f, "/a");
    drep_dsinfo info = DREP_DSINFO;
    int links = 0;

    ok(put(ds, good));
    fails(put(ds, bad), DREP_ERR_CONVERSION);
    fails(drep_append(ds, 0, N, DREP_INT32_T, bad, &strict), DREP_ERR_CONVERSION);
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], N);
    fails(drep_copy(f, "/a", f, "/b", &stopping), 77);
    fails(drep_dataset_create(f, "/c", &fill, NULL), DREP_ERR_CONVERSION);
    ok(drep_list(f, "/", DREP_BY_NAME, count_links, &links));
    ck_assert_int_eq(links, 1);
    holds(f, "/a", good);
    drep_dataset_close(ds);
    ok(drep_commit(f));
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- commit and close ---- */

/* A new file: i 0, or one that holds "/old" already. */
static drep_file *begin_with(const char *path, int i)
{
    drep_file *f = new_file(path, "external32");
    drep_dataset *ds;

    if (i == 0)
        return f;
    ds = small_numbers(f, "/old");
    ok(put(ds, good));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    return f;
}

START_TEST(test_D43_commit_commits_what_succeeded)
{
    const char *path = temp_path("succeeded");
    drep_file *f = begin_with(path, _i);
    drep_dataset *ds = small_numbers(f, "/a"), *other;

    fails(put(ds, bad), DREP_ERR_CONVERSION);
    other = small_numbers(f, "/b");
    ok(put(other, good));
    ok(drep_commit(f));
    ok(drep_attr_write_int64(f, "/b", "n", N)); /* the failure is over */
    drep_dataset_close(ds);
    drep_dataset_close(other);
    ok(drep_close(f));
    f = reopened(path);
    holds(f, "/a", NULL);
    holds(f, "/b", good);
    ok(drep_attr_read(f, "/b", "n", DREP_INT32_T, seen));
    ck_assert_int_eq(seen[0], N);
    ok(drep_close(f));
    unlink(path);
}
END_TEST

START_TEST(test_D43_close_commits_and_gives_the_first_error)
{
    const char *path = temp_path("first");
    const drep_copying stopping = DREP_COPYING(.progress = stop_77);
    drep_file *f = begin_with(path, _i);
    drep_dataset *ds = small_numbers(f, "/a"), *other = small_numbers(f, "/b");
    drep_objinfo info = DREP_OBJINFO;

    ok(put(other, good));
    fails(put(ds, bad), DREP_ERR_CONVERSION);
    fails(drep_copy(f, "/b", f, "/c", &stopping), 77);
    ok(put(other, good));
    fails(put(other, bad), DREP_ERR_CONVERSION);
    fails(drep_stat(f, "/none", &info), DREP_ERR_NOT_FOUND);
    drep_dataset_close(ds);
    drep_dataset_close(other);
    fails(drep_close(f), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"/a\""));
    f = reopened(path);
    if (_i == 1)
        holds(f, "/old", good);
    holds(f, "/a", NULL);
    holds(f, "/b", good);
    fails(drep_stat(f, "/c", &info), DREP_ERR_NOT_FOUND);
    check_file(f);
    ok(drep_close(f));
    unlink(path);
}
END_TEST

/* A function that the caller gave may stop a call with any number: that is no refusal. */
static int stop_as_argument(uint64_t id, drep_spec *spec, void *ctx)
{
    (void)id;
    (void)spec;
    (void)ctx;
    return DREP_ERR_ARG;
}

START_TEST(test_D43_a_stopped_copy_counts)
{
    const char *path = temp_path("stopped");
    const drep_copying stopping = DREP_COPYING(.plan = stop_as_argument);
    drep_file *f = begin_with(path, 1);

    fails(drep_copy(f, "/old", f, "/new", &stopping), DREP_ERR_ARG);
    fails(drep_close(f), DREP_ERR_ARG);
    unlink(path);
}
END_TEST

START_TEST(test_D43_refused_arguments_do_not_count)
{
    const char *path = temp_path("refused");
    const int64_t one[] = {1}, far[] = {N}, wrong[] = {-5};
    drep_file *f = begin_with(path, _i);
    drep_dataset *ds = small_numbers(f, "/a");
    drep_spec none = DREP_SPEC(.type = NULL),
              level = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = one);
    drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 99};
    drep_selection *beyond;

    level.layout = DREP_CHUNKED;
    level.filters = &filter;
    level.nfilters = 1;
    ok(drep_select_box(1, far, one, NULL, NULL, &beyond));
    ok(put(ds, good));
    fails(drep_write(ds, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_write(ds, beyond, NULL, good, NULL), DREP_ERR_RANGE);
    fails(drep_append(ds, 3, 1, NULL, good, NULL), DREP_ERR_DIMS);
    ok(drep_dataset_resize(ds, far));
    fails(drep_append(ds, 0, -1, NULL, good, NULL), DREP_ERR_COUNT);
    ok(drep_dataset_resize(ds, far));
    fails(drep_dataset_resize(ds, wrong), DREP_ERR_DIMS);
    fails(drep_dataset_create(f, "/x", &none, NULL), DREP_ERR_ARG);
    fails(drep_dataset_create(f, "/x", &level, NULL), DREP_ERR_ARG);
    fails(drep_group_create(f, "/a", 0), DREP_ERR_EXISTS);
    fails(drep_group_create(f, "/.", 0), DREP_ERR_NAME);
    fails(drep_link_remove(f, "/none"), DREP_ERR_NOT_FOUND);
    fails(drep_attr_write(f, "/a", "n", DREP_INT, 99, one, good), DREP_ERR_DIMS);
    fails(drep_attr_write(f, "/none", "n", DREP_INT, 0, NULL, good), DREP_ERR_NOT_FOUND);
    fails(drep_copy(f, "/a", f, "/a", NULL), DREP_ERR_EXISTS);
    drep_selection_free(beyond);
    drep_dataset_close(ds);
    ok(drep_close(f));
    f = reopened(path);
    holds(f, "/a", good);
    ok(drep_close(f));
    unlink(path);
}
END_TEST

/* ---- a handle that refuses ---- */

static struct fault_file disk;

static drep_file *on_disk(void)
{
    drep_file *f;

    fault_init(&disk);
    ok(file_create_on(fault_io(&disk), "external32", NULL, &f));
    return f;
}

static void refuses(drep_file *f, drep_dataset *ds)
{
    const int64_t dims = N + 1;

    fails(put(ds, good), DREP_ERR_FAILED);
    fails(drep_append(ds, 0, 1, DREP_INT32_T, good, NULL), DREP_ERR_FAILED);
    fails(drep_dataset_resize(ds, &dims), DREP_ERR_FAILED);
    fails(drep_group_create(f, "/g", 0), DREP_ERR_FAILED);
    fails(drep_attr_write_int64(f, "/", "n", 1), DREP_ERR_FAILED);
    fails(drep_link_remove(f, "/a"), DREP_ERR_FAILED);
    fails(drep_copy(f, "/a", f, "/b", NULL), DREP_ERR_FAILED);
    fails(drep_commit(f), DREP_ERR_FAILED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "sync failed"));
}

START_TEST(test_D43_after_a_failed_sync_every_call_says_so)
{
    drep_file *f = on_disk();
    drep_dataset *ds = small_numbers(f, "/a");

    ok(put(ds, good));
    ok(drep_commit(f));
    ok(put(ds, seen));
    disk.fail_syncs = 1;
    fails(drep_commit(f), DREP_ERR_IO);
    disk.fail_syncs = 0;
    refuses(f, ds);
    drep_dataset_close(ds);
    fails(drep_close(f), DREP_ERR_IO); /* the first error, not what came of it */
    ok(file_open_on(fault_io(&disk), DREP_RDONLY, NULL, 0, &f));
    holds(f, "/a", good);
    ok(drep_close(f));
    fault_release(&disk);
}
END_TEST

START_TEST(test_D43_a_new_file_without_its_name_is_tried_again)
{
    const char *path = temp_path("name");
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create(path, DREP_RDWR | DREP_EXCL, "external32", NULL, &f));
    ds = small_numbers(f, "/a");
    ok(put(ds, good));
    fclose(fopen(path, "w"));
    fails(drep_commit(f), DREP_ERR_FILE_EXISTS);
    ok(drep_attr_write_int64(f, "/a", "n", 1));
    fails(drep_commit(f), DREP_ERR_FILE_EXISTS);
    unlink(path);
    ok(drep_commit(f));
    drep_dataset_close(ds);
    ok(drep_close(f));
    f = reopened(path);
    holds(f, "/a", good);
    check_file(f);
    ok(drep_close(f));
    unlink(path);
}
END_TEST

/* ---- failing I/O in the middle, held against a model ---- */

enum { SETS = 3, LEN = 3000, CHUNK = 512, SEQUENCES = 60, STEPS = 30 };

struct world {
    drep_file *f;
    drep_dataset *ds[SETS];
    int32_t now[SETS][LEN], committed[SETS][LEN];
    int note, committed_note;
    int first; /* error since the last commit */
};

static const drep_filter packed = {.id = DREP_FILTER_LZ4};

static void world_open(struct world *w, bool create)
{
    const int64_t dims = LEN, chunk = CHUNK;
    /* Small caches, so that reads and writes reach the file. */
    drep_info *info = hints("drep_cache_size=4096", "drep_threads=1", (char *)NULL);

    if (create)
        ok(file_create_on(fault_io(&disk), "external32", info, &w->f));
    else
        ok(file_open_on(fault_io(&disk), DREP_RDWR, info, 0, &w->f));
    drep_info_free(info);
    for (int k = 0; k < SETS; k++) {
        drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims,
                                   .layout = k == 1 ? DREP_CONTIGUOUS : DREP_CHUNKED,
                                   .chunk = k == 1 ? NULL : &chunk,
                                   .filters = k == 2 ? &packed : NULL, .nfilters = k == 2);
        char path[20];

        snprintf(path, sizeof path, "/d%d", k);
        if (create)
            ok(drep_dataset_create(w->f, path, &spec, &w->ds[k]));
        else
            ok(drep_dataset_open(w->f, path, &w->ds[k]));
    }
    if (create)
        ok(drep_attr_write_int64(w->f, "/", "note", 0));
}

static void world_close(struct world *w)
{
    for (int k = 0; k < SETS; k++)
        drep_dataset_close(w->ds[k]);
    drep_abandon(w->f);
}

static void world_look(const struct world *w, const char *when)
{
    static int32_t got[LEN];
    int32_t note;

    for (int k = 0; k < SETS; k++) {
        ok(drep_read(w->ds[k], NULL, NULL, got, NULL));
        for (int i = 0; i < LEN; i++)
            if (got[i] != w->now[k][i])
                ck_abort_msg("%s: /d%d[%d] is %d, not %d", when, k, i, got[i], w->now[k][i]);
    }
    ok(drep_attr_read(w->f, "/", "note", DREP_INT32_T, &note));
    ck_assert_int_eq(note, w->note);
}

/* One call that may fail in its middle; what it does to the model if it does not. */
static int world_step(struct world *w, struct rnd *r)
{
    static int32_t values[LEN];
    int k = (int)rnd_below(r, SETS), err, note = (int)rnd_below(r, 1000);
    int64_t start = (int64_t)rnd_below(r, LEN), count = 1 + (int64_t)rnd_below(r, LEN);
    drep_selection *sel;

    if (rnd_below(r, 8) == 0) {
        if ((err = drep_attr_write_int64(w->f, "/", "note", note)) == 0)
            w->note = note;
        return err;
    }
    count = count < LEN - start ? count : LEN - start;
    for (int64_t i = 0; i < count; i++)
        values[i] = (int32_t)rnd_below(r, 1 << 20);
    ok(drep_select_box(1, &start, &count, NULL, NULL, &sel));
    err = drep_write(w->ds[k], sel, NULL, values, NULL);
    drep_selection_free(sel);
    if (err == 0)
        memcpy(w->now[k] + start, values, (size_t)count * sizeof *values);
    return err;
}

/* Back to the last commit; closing gives the first error since then. */
static void world_back(struct world *w)
{
    for (int k = 0; k < SETS; k++)
        drep_dataset_close(w->ds[k]);
    fails(drep_close(w->f), w->first);
    world_open(w, false);
    memcpy(w->now, w->committed, sizeof w->now);
    w->note = w->committed_note;
    w->first = 0;
    world_look(w, "after the handle refused");
}

static bool world_commit(struct world *w)
{
    int err = drep_commit(w->f);

    if (err != 0) {
        ck_assert_msg(err == DREP_ERR_FAILED || err == DREP_ERR_NO_SPACE, "%s", drep_error());
        return false;
    }
    memcpy(w->committed, w->now, sizeof w->now);
    w->committed_note = w->note;
    w->first = 0;
    return true;
}

START_TEST(test_D43_failing_io_then_commit_holds_the_model)
{
    struct rnd r;
    static struct world w;
    int failures = 0;

    rnd_init(&r, (uint64_t)_i + 1);
    memset(&w, 0, sizeof w);
    fault_init(&disk);
    disk.fail_code = DREP_ERR_NO_SPACE;
    world_open(&w, true);
    ck_assert(world_commit(&w));
    for (int i = 0; i < STEPS; i++) {
        int err;

        disk.fail_at = (int64_t)rnd_below(&r, 24);
        err = world_step(&w, &r);
        disk.fail_at = -1;
        ck_assert_msg(err == 0 || err == DREP_ERR_NO_SPACE || err == DREP_ERR_FAILED, "%d: %s", err,
                      drep_error());
        failures += err != 0;
        w.first = w.first != 0 ? w.first : err == DREP_ERR_FAILED ? 0 : err;
        if (err != DREP_ERR_FAILED && drep_attr_write_int64(w.f, "/", "note", w.note) == 0)
            world_look(&w, "after a step");
        else
            world_back(&w);
        if (rnd_below(&r, 4) == 0 && !world_commit(&w))
            world_back(&w);
    }
    if (!world_commit(&w))
        world_back(&w);
    world_close(&w);
    world_open(&w, false);
    world_look(&w, "after the last commit");
    check_file(w.f);
    world_close(&w);
    fault_release(&disk);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* ---- calls from inside callbacks ---- */

/* What the functions that are called back call with, and what came of it. */
static struct {
    drep_file *f;
    drep_dataset *ds;
    atomic_int calls, wrong;
    bool on, reading;
} inside;
static _Thread_local bool deep; /* a call from inside calls back as well */

static void must_refuse(int err, const char *call)
{
    if (err == DREP_ERR_ARG && strstr(drep_error(), "inside a call") != NULL)
        return;
    if (err == DREP_ERR_READ_ONLY) /* a handle that cannot write says so first */
        return;
    fprintf(stderr, "%s gave %d: %s\n", call, err, drep_error());
    inside.wrong++;
}
#define refused(call) must_refuse(call, #call)

/* Inside a call that only reads, what reads goes on (1: and gave something). */
static int must_read(int err, const char *call)
{
    if (!inside.reading) {
        must_refuse(err, call);
    } else if (err != 0 && strstr(drep_error(), "inside a call") != NULL) {
        fprintf(stderr, "%s gave %d: %s\n", call, err, drep_error());
        inside.wrong++;
    }
    return err == 0;
}
#define reads(call) must_read(call, #call)

static int nothing_listed(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    (void)ctx;
    return 0;
}

static int nothing_named(const char *name, void *ctx)
{
    (void)name;
    (void)ctx;
    return 0;
}

static int nothing_logged(const drep_commitinfo *commit, void *ctx)
{
    (void)commit;
    (void)ctx;
    return 0;
}

static int nothing_started(const int64_t *start, void *ctx)
{
    (void)start;
    (void)ctx;
    return 0;
}

static int nothing_leaked(uint64_t offset, uint64_t length, void *ctx)
{
    (void)offset;
    (void)length;
    (void)ctx;
    return 0;
}

/* Every call that takes the file, its lock, or what it has. */
static void call_everything(void)
{
    const int64_t dims = N;
    const void *data;
    drep_file *f = inside.f, *g;
    drep_dataset *ds = inside.ds, *other;
    drep_spec spec = DREP_SPEC(.type = DREP_INT);
    drep_objinfo object = DREP_OBJINFO;
    drep_objusage used = DREP_OBJUSAGE;
    drep_usage usage = DREP_USAGE;
    drep_dsinfo info = DREP_DSINFO;
    drep_attrinfo attr = DREP_ATTRINFO;
    drep_type *type;
    drep_info *some;
    int32_t all[2 * N];
    char *path, *one = (char *)all;
    size_t size;

    if (!inside.on || deep)
        return;
    deep = true;
    inside.calls++;
    refused(drep_commit(f));
    refused(drep_close(f));
    drep_abandon(f);
    refused(drep_refresh(f));
    refused(drep_log(f, nothing_logged, NULL));
    refused(drep_seal(f, NULL));
    reads(drep_check(f, 1, NULL, NULL, NULL));
    reads(drep_leaks(f, nothing_leaked, NULL));
    reads(drep_usage_get(f, &usage));
    reads(drep_object_usage(f, "/a", &used));
    reads(drep_stat(f, "/a", &object));
    if (reads(drep_object_path(f, 1, &path)))
        free(path);
    reads(drep_list(f, "/", DREP_BY_NAME, nothing_listed, NULL));
    reads(drep_attr_list(f, "/", DREP_BY_NAME, nothing_named, NULL));
    if (reads(drep_attr_info(f, "/", "n", &attr)))
        drep_attrinfo_release(&attr);
    reads(drep_attr_read(f, "/", "n", DREP_INT, one));
    refused(drep_attr_write_int64(f, "/", "n", 1));
    refused(drep_attr_remove(f, "/", "n"));
    refused(drep_group_create(f, "/g", 0));
    refused(drep_dimension_create(f, "/x", 1, 0));
    refused(drep_type_commit(f, "/t", DREP_INT));
    if (reads(drep_type_open(f, "/t", &type)))
        drep_type_free(type);
    refused(drep_link_hard(f, "/a", "/h"));
    refused(drep_link_soft(f, "/a", "/s"));
    refused(drep_link_external(f, "a", "/a", "/e"));
    refused(drep_link_remove(f, "/a"));
    refused(drep_link_move(f, "/a", "/b"));
    refused(drep_copy(f, "/a", f, "/b", NULL));
    refused(drep_dataset_create(f, "/b", &spec, NULL));
    if (reads(drep_dataset_open(f, "/a", &other)))
        drep_dataset_close(other);
    reads(drep_dataset_info(ds, &info));
    reads(drep_dataset_fill(ds, NULL, one));
    refused(drep_dataset_resize(ds, &dims));
    reads(drep_dataset_chunks(ds, nothing_started, NULL));
    reads(drep_dataset_map(ds, 0, &data, &size));
    refused(drep_append(ds, 0, 0, NULL, NULL, NULL));
    reads(drep_read(ds, NULL, NULL, one, NULL));
    refused(drep_write(ds, NULL, NULL, one, NULL));
    if (reads(drep_create_like(":memory:", DREP_RDWR, f, NULL, &g)))
        drep_abandon(g);
    if (drep_info_new(&some) == 0)
        refused(drep_set_info(f, some));
    drep_info_free(some);
    deep = false;
}

static int curious_write(void *user, const drep_type *type, int64_t count, void *file,
                         int64_t position, void *state)
{
    call_everything();
    return xor_write(user, type, count, file, position, state);
}

static int curious_read(void *user, const drep_type *type, int64_t count, void *file,
                        int64_t position, void *state)
{
    call_everything();
    return xor_read(user, type, count, file, position, state);
}

static int curious_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                          void *out, size_t *out_size, void *state)
{
    (void)params;
    (void)nparams;
    (void)state;
    call_everything();
    if (*out_size < in_size) {
        *out_size = in_size;
        return 0;
    }
    memcpy(out, in, in_size);
    *out_size = in_size;
    return 0;
}

static int curious_plan(uint64_t id, drep_spec *spec, void *ctx)
{
    (void)id;
    (void)spec;
    (void)ctx;
    call_everything();
    return 0;
}

static int curious_lost(uint64_t id, const drep_report *report, void *ctx)
{
    (void)id;
    (void)report;
    (void)ctx;
    call_everything();
    return 0;
}

static int curious_progress(int64_t bytes, void *ctx)
{
    (void)bytes;
    (void)ctx;
    call_everything();
    return 0;
}

static void register_curious(void)
{
    static bool done;

    if (!done) {
        ok(drep_register_datarep("curious", curious_read, curious_write, native_extent, NULL));
        ok(drep_register_filter("curious", curious_filter, curious_filter, NULL, DREP_FILTER_KEEP));
    }
    done = true;
}

static void inside_begin(drep_file *f, drep_dataset *ds, bool reading)
{
    inside.reading = reading;
    inside.f = f;
    inside.ds = ds;
    inside.calls = inside.wrong = 0;
    inside.on = true;
}

static void inside_end(void)
{
    inside.on = false;
    ck_assert_int_gt(inside.calls, 0);
    ck_assert_int_eq(inside.wrong, 0);
}

/* 0: conversions, 1: a filter; 2 and 3: by several threads. */
START_TEST(test_D43_calls_inside_conversions_are_refused)
{
    const char *path = temp_path("inside");
    const int64_t dims = N, max = DREP_UNLIMITED, chunk = 100;
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "curious"};
    const drep_xfer xfer = DREP_XFER(.threads = _i / 2 == 0 ? 1 : 4);
    drep_info *info =
        hints("drep_sync=none", _i / 2 == 0 ? "drep_threads=1" : "drep_threads=4", (char *)NULL);
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk,
                               .filters = _i % 2 ? &filter : NULL, .nfilters = _i % 2);
    drep_dataset *ds;
    drep_file *f;

    register_curious();
    ok(drep_create(path, DREP_RDWR, _i % 2 ? "native" : "curious", info, &f));
    drep_info_free(info);
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    inside_begin(f, ds, false);
    ok(drep_write(ds, NULL, NULL, good, &xfer));
    ok(drep_append(ds, 0, N, NULL, good, &xfer));
    ok(drep_commit(f));
    inside_end();
    drep_dataset_close(ds);
    ok(drep_close(f)); /* nothing that was refused counts */
    f = reopened(path);
    ok(drep_dataset_open(f, "/a", &ds));
    inside_begin(f, ds, _i % 2 == 0);
    {
        static int32_t all[2 * N];

        ok(drep_read(ds, NULL, NULL, all, &xfer));
        ck_assert_mem_eq(all, good, sizeof good);
        ck_assert_mem_eq(all + N, good, sizeof good);
    }
    inside_end();
    drep_dataset_close(ds);
    ok(drep_close(f));
    unlink(path);
}
END_TEST

START_TEST(test_D43_calls_inside_a_copy_are_refused)
{
    const drep_copying how = DREP_COPYING(.range = DREP_RANGE_CLAMP, .plan = curious_plan,
                                          .lost = curious_lost, .progress = curious_progress);
    drep_file *from = new_file(":memory:", "external32"), *to = new_file(":memory:", "small");
    const int64_t dims = N;
    drep_dataset *ds = new_dataset(from, "/a", DREP_INT32_T, 1, &dims);

    good[5] = 1 << 29; /* is lost in 24 bits */
    ok(drep_write(ds, NULL, NULL, good, NULL));
    inside_begin(from, ds, true);
    ok(drep_copy(from, "/a", to, "/a", &how));
    inside_end();
    drep_dataset_close(ds);
    ok(drep_close(from));
    from = new_file(":memory:", "external32");
    ok(drep_dataset_open(to, "/a", &ds));
    inside_begin(to, ds, true);
    ok(drep_copy(to, "/a", from, "/b", &how));
    inside_end();
    inside_begin(to, ds, false);
    ok(drep_copy(to, "/a", to, "/b", &how));
    inside_end();
    drep_dataset_close(ds);
    ok(drep_close(from));
    ok(drep_close(to));
    numbers();
}
END_TEST

/* ---- from inside what runs without the lock ---- */

static int use_everything(drep_file *f)
{
    int32_t n = 0;

    inside.calls++;
    ok(drep_attr_write_int64(f, "/", "n", 5));
    ok(drep_attr_read(f, "/", "n", DREP_INT32_T, &n));
    ok(drep_commit(f));
    fails(drep_close(f), DREP_ERR_ARG);
    drep_abandon(f);
    return n == 5 ? 0 : 1;
}

static int use_listed(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    return use_everything(ctx);
}

static int use_named(const char *name, void *ctx)
{
    (void)name;
    return use_everything(ctx);
}

static int use_logged(const drep_commitinfo *commit, void *ctx)
{
    (void)commit;
    return use_everything(ctx);
}

static int use_started(const int64_t *start, void *ctx)
{
    (void)start;
    return use_everything(ctx);
}

START_TEST(test_D43_walks_may_use_the_file_but_not_close_it)
{
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *ds = small_numbers(f, "/a");

    ok(put(ds, good));
    ok(drep_attr_write_int64(f, "/", "m", 1));
    ok(drep_commit(f));
    inside.calls = 0;
    ok(drep_list(f, "/", DREP_BY_NAME, use_listed, f));
    ok(drep_list(f, "/", DREP_BY_CREATION, use_listed, f));
    ok(drep_attr_list(f, "/", DREP_BY_NAME, use_named, f));
    ok(drep_log(f, use_logged, f));
    ok(drep_dataset_chunks(ds, use_started, f));
    ck_assert_int_ge(inside.calls, 5);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("failure");
    TCase *t = tcase_create("failure");

    tcase_add_unchecked_fixture(t, numbers, NULL);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_D43_a_failed_call_leaves_nothing);
    tcase_add_loop_test(t, test_D43_commit_commits_what_succeeded, 0, 2);
    tcase_add_loop_test(t, test_D43_close_commits_and_gives_the_first_error, 0, 2);
    tcase_add_test(t, test_D43_a_stopped_copy_counts);
    tcase_add_loop_test(t, test_D43_refused_arguments_do_not_count, 0, 2);
    tcase_add_test(t, test_D43_after_a_failed_sync_every_call_says_so);
    tcase_add_test(t, test_D43_a_new_file_without_its_name_is_tried_again);
    tcase_add_loop_test(t, test_D43_failing_io_then_commit_holds_the_model, 0, SEQUENCES);
    tcase_add_loop_test(t, test_D43_calls_inside_conversions_are_refused, 0, 4);
    tcase_add_test(t, test_D43_calls_inside_a_copy_are_refused);
    tcase_add_test(t, test_D43_walks_may_use_the_file_but_not_close_it);
    suite_add_tcase(s, t);
    return run_suite(s);
}
