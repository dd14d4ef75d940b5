/* test_data_commits.c - readers that move with a writer, earlier commits, the log.
 *
 * All of a file follows from the number of its commit, so that whoever reads it can tell
 * which one it is and whether it is whole (D16). */
/* SPDX-License-Identifier: MIT */
#include "file/file.h"
#include "data_help.h"

#include <pthread.h>
#include <stdatomic.h>

#define SIDE 40
#define WIDE 3000
#define NAMES 6

static const char *path;

/* ---- commit number n ---- */

static int64_t wide_len(int64_t n)
{
    return WIDE + n % 7 * 100;
}

static int64_t wide_value(int64_t n, int64_t i)
{
    return n * 1000003 + i;
}

/* Which commit wrote row r last; 0: none. */
static int64_t row_writer(int64_t n, int64_t r)
{
    int64_t w = n - (n - r % SIDE) % SIDE;

    return n < r ? 0 : w;
}

static const char *text_of(int64_t n)
{
    static char text[400];

    snprintf(text, sizeof text, "commit %lld%*s", (long long)n, (int)(n * 37 % 300), "");
    return text;
}

static bool has_name(int64_t n, int64_t k)
{
    int64_t changes = n / NAMES + (k > 0 && n % NAMES >= k);

    return changes % 2 == 1;
}

static void make(drep_file *f)
{
    const int64_t len = WIDE, unlimited = DREP_UNLIMITED, side[2] = {SIDE, SIDE},
                  chunk[2] = {8, 16};
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    drep_type *text;
    drep_spec wide = DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &len, .maxdims = &unlimited,
                               .layout = DREP_CONTIGUOUS);
    drep_spec rows =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 2, .dims = side, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = &filter, .nfilters = 1);
    drep_spec one = DREP_SPEC(.type = NULL, .rank = 0);

    ok(drep_type_vstring(&text));
    one.type = text;
    ok(drep_group_create(f, "names", 0));
    ok(drep_dataset_create(f, "wide", &wide, NULL));
    ok(drep_dataset_create(f, "rows", &rows, NULL));
    ok(drep_dataset_create(f, "text", &one, NULL));
    drep_type_free(text);
}

static void change(drep_file *f, int64_t n)
{
    static int64_t v[WIDE + 1000];
    const int64_t len = wide_len(n), start[2] = {n % SIDE, 0}, count[2] = {1, SIDE};
    const char *text = text_of(n);
    drep_selection *row;
    drep_dataset *ds;
    char name[32];

    ok(drep_dataset_open(f, "wide", &ds));
    ok(drep_dataset_resize(ds, &len));
    for (int64_t i = 0; i < len; i++)
        v[i] = wide_value(n, i);
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "rows", &ds));
    ok(drep_select_box(2, start, count, NULL, NULL, &row));
    for (int64_t i = 0; i < SIDE; i++)
        v[i] = n;
    ok(drep_write(ds, row, NULL, v, NULL));
    drep_selection_free(row);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "text", &ds));
    ok(drep_write(ds, NULL, NULL, &text, NULL));
    drep_dataset_close(ds);
    snprintf(name, sizeof name, "names/%d", (int)(n % NAMES));
    if (has_name(n, n % NAMES))
        ok(drep_group_create(f, name, 0));
    else
        ok(drep_link_remove(f, name));
    ok(drep_attr_write_int64(f, "/", "n", n));
}

static int64_t number_of(drep_file *f)
{
    int64_t n = -1;

    ok(drep_attr_read(f, "/", "n", DREP_INT64_T, &n));
    return n;
}

static void wide_is(drep_dataset *ds, int64_t n)
{
    static _Thread_local int64_t v[WIDE + 1000];
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], wide_len(n));
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int64_t i = 0; i < wide_len(n); i++)
        if (v[i] != wide_value(n, i)) /* a million assertions are slow */
            ck_abort_msg("commit %lld: element %lld", (long long)n, (long long)i);
}

static void rows_are(drep_dataset *ds, int64_t n)
{
    static _Thread_local int64_t v[SIDE * SIDE];

    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int64_t i = 0; i < SIDE * SIDE; i++)
        if (v[i] != row_writer(n, i / SIDE))
            ck_abort_msg("commit %lld: item %lld", (long long)n, (long long)i);
}

static void text_is(drep_dataset *ds, int64_t n)
{
    char *text = NULL;

    ok(drep_read(ds, NULL, NULL, &text, NULL));
    ck_assert_str_eq(text, text_of(n));
    free(text);
}

/* Three open datasets. */
struct three {
    drep_dataset *wide, *rows, *text;
};

static struct three three_open(drep_file *f)
{
    struct three t;

    ok(drep_dataset_open(f, "wide", &t.wide));
    ok(drep_dataset_open(f, "rows", &t.rows));
    ok(drep_dataset_open(f, "text", &t.text));
    return t;
}

static void three_are(const struct three *t, int64_t n)
{
    wide_is(t->wide, n);
    rows_are(t->rows, n);
    text_is(t->text, n);
}

static void three_close(const struct three *t)
{
    drep_dataset_close(t->wide);
    drep_dataset_close(t->rows);
    drep_dataset_close(t->text);
}

/* Everything in the file is as commit n left it. */
static void whole(drep_file *f, int64_t n)
{
    struct three t = three_open(f);
    drep_header h = DREP_HEADER;

    ck_assert_int_eq(number_of(f), n);
    ok(drep_header_get(f, &h));
    ck_assert_uint_eq(h.sequence, (uint64_t)n);
    three_are(&t, n);
    three_close(&t);
    for (int k = 0; k < NAMES; k++) {
        drep_objinfo info = DREP_OBJINFO;
        char name[32];

        snprintf(name, sizeof name, "names/%d", k);
        ck_assert_int_eq(drep_stat(f, name, &info) == 0, has_name(n, k));
    }
}

/* A writer that keeps so many commits and has made n of them. */
static drep_file *writer(const char *name, const char *keep, int64_t n)
{
    drep_info *info = hints("drep_sync=none", keep, (char *)NULL);
    drep_file *f;

    path = temp_path(name);
    ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    make(f);
    for (int64_t i = 1; i <= n; i++) {
        change(f, i);
        ok(drep_commit(f));
    }
    return f;
}

static drep_file *reader_of(const char *hint)
{
    drep_info *info = hint != NULL ? hints(hint, (char *)NULL) : NULL;
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, info, &f));
    drep_info_free(info);
    return f;
}

/* ---- moving on ---- */

START_TEST(test_D16_refresh_takes_open_datasets_along)
{
    drep_file *w = writer("refresh", "drep_keep=2", 3), *r = reader_of(NULL), *other;
    struct three t = three_open(r);
    drep_header before = DREP_HEADER, after = DREP_HEADER;

    ok(drep_header_get(r, &before));
    for (int64_t n = 4; n < 60; n++) {
        change(w, n);
        three_are(&t, n - 1);
        ok(drep_refresh(r)); /* nothing is new */
        three_are(&t, n - 1);
        ok(drep_commit(w));
        three_are(&t, n - 1);
        whole(r, n - 1);
        if (n % 5 == 0) { /* one who comes late */
            other = reader_of(NULL);
            whole(other, n);
            ok(drep_close(other));
        }
        ok(drep_refresh(r));
        three_are(&t, n);
        whole(r, n);
    }
    ok(drep_header_get(r, &after));
    ck_assert_str_eq(before.writer, after.writer);
    ck_assert_uint_eq(after.sequence, 59);
    ok(drep_refresh(w)); /* a writer is there */
    three_close(&t);
    ok(drep_close(r));
    ok(drep_close(w));
}
END_TEST

static void simple(drep_file *w, const char *name, int64_t value)
{
    const int64_t one = 1;
    drep_dataset *ds = new_dataset(w, name, DREP_INT64_T, 1, &one);

    ok(drep_write(ds, NULL, NULL, &value, NULL));
    drep_dataset_close(ds);
}

static int64_t simple_value(drep_dataset *ds)
{
    int64_t v = -1;

    ok(drep_read(ds, NULL, NULL, &v, NULL));
    return v;
}

START_TEST(test_D16_refresh_and_what_was_removed)
{
    drep_file *w, *r;
    drep_dataset *gone, *moved, *ds;
    drep_view *view;
    int64_t v = 0, items = 0;

    path = temp_path("removed");
    w = new_file(path, "external32");
    simple(w, "gone", 1);
    simple(w, "moved", 2);
    ok(drep_commit(w));
    r = reader_of(NULL);
    ok(drep_dataset_open(r, "gone", &gone));
    ok(drep_dataset_open(r, "moved", &moved));
    ok(drep_view_dataset(moved, &view));
    ok(drep_link_remove(w, "gone"));
    ok(drep_link_move(w, "moved", "there"));
    simple(w, "gone", 3); /* another object of that name */
    ok(drep_dataset_open(w, "there", &ds));
    v = 4;
    ok(drep_write(ds, NULL, NULL, &v, NULL));
    drep_dataset_close(ds);
    ok(drep_commit(w));
    ck_assert_int_eq(simple_value(gone), 1);
    ck_assert_int_eq(simple_value(moved), 2);
    ok(drep_refresh(r));
    fails(drep_read(gone, NULL, NULL, &v, NULL), DREP_ERR_NOT_FOUND);
    ck_assert_int_eq(simple_value(moved), 4);
    ok(drep_read_at(view, 0, &v, 1, DREP_INT64_T, NULL, &items));
    ck_assert_int_eq(v, 4);
    fails(drep_dataset_open(r, "moved", &ds), DREP_ERR_NOT_FOUND);
    ok(drep_dataset_open(r, "gone", &ds));
    ck_assert_int_eq(simple_value(ds), 3);
    fails(drep_read(gone, NULL, NULL, &v, NULL), DREP_ERR_NOT_FOUND);
    drep_dataset_close(ds);
    ok(drep_view_close(view));
    drep_dataset_close(gone);
    drep_dataset_close(moved);
    ok(drep_close(r));
    ok(drep_close(w));
}
END_TEST

START_TEST(test_D16_refresh_fails_as_a_whole)
{
    /* Every allocation fails once: the handle is where it was, then it goes on. */
    drep_file *w = writer("whole", "drep_keep=2", 2), *r;
    int err = DREP_ERR_NOMEM;

    for (int n = 0; err != 0; n++) {
        struct three t;

        ck_assert_int_lt(n, 3000);
        r = reader_of(NULL);
        t = three_open(r);
        change(w, 3 + n);
        ok(drep_commit(w));
        mem_fail_at(n);
        err = drep_refresh(r);
        mem_fail_at(-1);
        ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%d: %s", err, drep_error());
        three_are(&t, err == 0 ? 3 + n : 2 + n);
        whole(r, err == 0 ? 3 + n : 2 + n);
        ok(drep_refresh(r));
        three_are(&t, 3 + n);
        three_close(&t);
        ok(drep_close(r));
    }
    ok(drep_close(w));
}
END_TEST

/* Chunks put where nothing has to be allocated or changed but the chunks themselves: the file
 * must know that it was written to. */
START_TEST(test_D22_a_new_chunk_alone_is_a_change)
{
    const int64_t dims = 8192, chunk = 1024, count = 1024;
    drep_spec spec = DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &dims, .layout = _i,
                               .chunk = _i == DREP_CHUNKED ? &chunk : NULL);
    int64_t v[1024];
    drep_file *f;

    path = temp_path("chunk");
    f = new_file(path, "external32");
    ok(drep_dataset_create(f, "d", &spec, NULL));
    ok(drep_close(f));
    for (int64_t k = 0; k < 8; k++) {
        const int64_t start = k * 1024;
        drep_selection *sel;
        drep_dataset *ds;

        ok(drep_open(path, DREP_RDWR, NULL, &f));
        ok(drep_dataset_open(f, "d", &ds));
        ok(drep_select_box(1, &start, &count, NULL, NULL, &sel));
        for (int i = 0; i < 1024; i++)
            v[i] = k * 1000 + i;
        ok(drep_write(ds, sel, NULL, v, NULL));
        drep_dataset_close(ds);
        ok(drep_close(f));
        f = reader_of(NULL);
        memset(v, 0, sizeof v);
        ok(drep_dataset_open(f, "d", &ds));
        ok(drep_read(ds, sel, NULL, v, NULL));
        ck_assert_int_eq(v[0], k * 1000);
        ck_assert_int_eq(v[1023], k * 1000 + 1023);
        drep_selection_free(sel);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
}
END_TEST

/* ---- earlier commits ---- */

struct logged {
    drep_commitinfo c[64];
    int n;
};

static int log_one(const drep_commitinfo *commit, void *ctx)
{
    struct logged *l = ctx;

    ck_assert_int_lt(l->n, 64);
    l->c[l->n++] = *commit;
    return 0;
}

static int stop_at_once(const drep_commitinfo *commit, void *ctx)
{
    (void)commit;
    return *(int *)ctx;
}

static const char *const keeps[] = {"drep_keep=0", "drep_keep=1", "drep_keep=2", "drep_keep=3",
                                    "drep_keep=9"};

START_TEST(test_D16_log_and_earlier_commits)
{
    static const int keep[] = {2, 1, 2, 3, 9}; /* 0 cannot be in force: the default */
    drep_file *w = writer("log", keeps[_i], 0), *early = NULL, *f, *r;
    int theirs = 77;

    for (int64_t n = 1; n <= 40; n++) {
        struct logged mine = {.n = 0}, others = {.n = 0};
        int most = n < keep[_i] ? (int)n : keep[_i];

        change(w, n);
        ok(drep_commit(w));
        if (n == 8)
            early = reader_of(NULL);
        ok(drep_log(w, log_one, &mine));
        ck_assert_int_eq(mine.n, most);
        r = reader_of(NULL);
        ok(drep_log(early != NULL ? early : r, log_one, &others)); /* of now, whoever asks */
        ck_assert_int_eq(others.n, most);
        ck_assert_int_eq(memcmp(mine.c, others.c, sizeof mine.c[0] * (size_t)most), 0);
        ck_assert_int_eq(drep_log(r, stop_at_once, &theirs), 77);
        ok(drep_close(r));
        change(w, n + 1); /* under way: it must not touch what the log names */
        for (int i = 0; i < most; i++) {
            ck_assert_uint_eq(mine.c[i].sequence, (uint64_t)(n - most + 1 + i));
            ok(drep_open_commit(path, DREP_RDONLY, mine.c[i].sequence, NULL, &f));
            whole(f, (int64_t)mine.c[i].sequence);
            ok(drep_check(f, 1, say_finding, NULL, NULL));
            ok(drep_refresh(f));
            whole(f, n);
            ok(drep_close(f));
        }
        if (n > most + 1)
            fails(drep_open_commit(path, DREP_RDONLY, (uint64_t)(n - most - 1), NULL, &f),
                  DREP_ERR_NOT_FOUND);
        fails(drep_open_commit(path, DREP_RDONLY, (uint64_t)n + 1, NULL, &f), DREP_ERR_NOT_FOUND);
        ok(drep_open_commit(path, DREP_RDONLY, 0, NULL, &f));
        whole(f, n);
        ok(drep_close(f));
        if (early != NULL)
            whole(early, 8);
        n++;
        ok(drep_commit(w));
    }
    ok(drep_close(early));
    ok(drep_close(w));
}
END_TEST

START_TEST(test_D16_an_open_earlier_commit_is_kept)
{
    drep_file *w = writer("kept", "drep_keep=4", 12), *f;

    ok(drep_open_commit(path, DREP_RDONLY, 10, NULL, &f));
    for (int64_t n = 13; n < 40; n++) {
        change(w, n);
        ok(drep_commit(w));
        whole(f, 10);
    }
    fails(drep_link_remove(f, "wide"), DREP_ERR_READ_ONLY);
    ok(drep_close(f));
    ok(drep_close(w));
}
END_TEST

/* A reader without a lock: right, or DREP_ERR_STALE, and never anything else. */
/* Bytes of the file after commits from..to, each of which changes a few groups. */
static int64_t come_and_go(drep_file *f, int from, int to)
{
    drep_usage usage = DREP_USAGE;

    for (int i = from; i < to; i++) {
        char name[20];

        snprintf(name, sizeof name, "g%d", i % 50);
        if (i / 50 % 2 == 0)
            ok(drep_group_create(f, name, 0));
        else
            ok(drep_link_remove(f, name));
        ok(drep_attr_write_int64(f, "/", "n", i));
        ok(drep_commit(f));
    }
    ok(drep_usage_get(f, &usage));
    return usage.file;
}

START_TEST(test_D16_space_that_a_reader_gave_up)
{
    /* Thousands of extents that it held are there for the next commits, and the file does
     * not grow while they last, though it holds newer ones. */
    drep_info *info;
    drep_file *w, *r;
    int64_t held;

    ok(drep_info_new(&info));
    ok(drep_info_set(info, "drep_sync", "none"));
    ok(drep_create(path, DREP_RDWR, "external32", info, &w));
    ok(drep_commit(w));
    ok(drep_open(path, DREP_RDONLY, NULL, &r));
    held = come_and_go(w, 0, 2000);
    ok(drep_refresh(r));
    ck_assert_int_le(come_and_go(w, 2000, 3500), held);
    ok(drep_refresh(r));
    ck_assert_int_le(come_and_go(w, 3500, 5000), held + 65536);
    ok(drep_close(r));
    come_and_go(w, 5000, 5010);
    ok(drep_close(w));
    ok(drep_open(path, DREP_RDWR, info, &w));
    ck_assert_int_le(come_and_go(w, 5010, 5011), held / 4);
    ok(drep_close(w));
    drep_info_free(info);
}
END_TEST

START_TEST(test_D16_stale_without_locks)
{
    drep_file *w = writer("stale", "drep_keep=2", 2), *r = reader_of("drep_lock=false");
    int64_t at = 2, stale = 0;
    drep_info *info;

    ok(drep_get_info(r, &info));
    ck_assert_str_eq(drep_info_get(info, "drep_lock"), "false");
    drep_info_free(info);
    for (int64_t n = 3; n < 200; n++) {
        drep_dataset *ds;
        int64_t number = -1;
        int err;

        change(w, n);
        ok(drep_commit(w));
        err = drep_attr_read(r, "/", "n", DREP_INT64_T, &number);
        ck_assert(err == 0 ? number == at : err == DREP_ERR_STALE);
        if (err == 0)
            err = drep_dataset_open(r, "wide", &ds);
        if (err == 0) {
            static int64_t v[WIDE + 1000];

            err = drep_read(ds, NULL, NULL, v, NULL);
            for (int64_t i = 0; err == 0 && i < wide_len(at); i++)
                if (v[i] != wide_value(at, i))
                    ck_abort_msg("commit %lld: element %lld", (long long)at, (long long)i);
            drep_dataset_close(ds);
        }
        ck_assert_msg(err == 0 || err == DREP_ERR_STALE, "%d: %s", err, drep_error());
        if (err == 0)
            continue;
        stale++;
        ok(drep_refresh(r));
        at = n;
        whole(r, n);
    }
    ck_assert_int_gt(stale, 20);
    ok(drep_close(r));
    ok(drep_close(w));
}
END_TEST

/* ---- threads ---- */

static atomic_bool done;

/* Refreshes while others read through the same handle. */
static void *follow(void *ctx)
{
    drep_file *r = ctx;

    while (!done)
        ok(drep_refresh(r));
    return NULL;
}

/* What one call gives is of one commit. */
static void *read_on(void *ctx)
{
    drep_dataset *ds = ctx;
    static _Thread_local int64_t v[WIDE + 1000];

    while (!done) {
        const int64_t start = 0, count = WIDE;
        drep_selection *sel;
        int64_t n;

        ok(drep_select_box(1, &start, &count, NULL, NULL, &sel));
        ok(drep_read(ds, sel, NULL, v, NULL));
        drep_selection_free(sel);
        n = v[0] / 1000003;
        for (int64_t i = 0; i < count; i++)
            if (v[i] != wide_value(n, i))
                ck_abort_msg("commit %lld: element %lld", (long long)n, (long long)i);
    }
    return NULL;
}

START_TEST(test_D16_refreshing_under_other_threads)
{
    drep_file *w = writer("threads", "drep_keep=2", 2), *r = reader_of(NULL);
    drep_dataset *ds;
    pthread_t thread[3];

    ok(drep_dataset_open(r, "wide", &ds));
    done = false;
    ck_assert_int_eq(pthread_create(&thread[0], NULL, follow, r), 0);
    for (int i = 1; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_on, ds), 0);
    for (int64_t n = 3; n < 200; n++) {
        change(w, n);
        ok(drep_commit(w));
    }
    done = true;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    ok(drep_refresh(r));
    wide_is(ds, 199);
    drep_dataset_close(ds);
    ok(drep_close(r));
    ok(drep_close(w));
}
END_TEST

/* ---- commits of nothing ---- */

static uint64_t sequence_of(drep_file *f)
{
    drep_header h = DREP_HEADER;

    ok(drep_header_get(f, &h));
    return h.sequence;
}

/* A file in one representation with a dataset in each is opened, read and closed; nothing is
 * committed that nobody changed. */
START_TEST(test_D32_a_handle_that_changes_nothing_commits_nothing)
{
    drep_file *f;

    register_datareps();
    path = temp_path("nothing");
    f = new_file(path, datareps[_i]);
    for (int i = 0; i < DATAREPS; i++) {
        char name[] = {'d', (char)('0' + i), '\0'};

        ok(drep_dataset_create(f, name, &DREP_SPEC(.type = DREP_INT, .datarep = datareps[i]),
                               NULL));
        ok(drep_attr_write_int64(f, name, "n", i));
    }
    ok(drep_close(f));
    for (int n = 0; n < 3; n++) {
        ok(drep_open(path, DREP_RDWR, NULL, &f));
        for (int i = 0; i < DATAREPS; i++) {
            char name[] = {'d', (char)('0' + i), '\0'};
            drep_dataset *ds;
            int value;

            ok(drep_dataset_open(f, name, &ds));
            ok(drep_read(ds, NULL, DREP_INT, &value, NULL));
            drep_dataset_close(ds);
        }
        if (n == 1) /* what another version would write into the header is no change either */
            ok(drep_info_set(f->hints.stored, "striping_factor", "7"));
        if (n > 0)
            ok(drep_commit(f));
        ck_assert_uint_eq(sequence_of(f), 1);
        ok(drep_close(f));
    }
    f = reader_of(NULL);
    ck_assert_uint_eq(sequence_of(f), 1);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDWR, NULL, &f)); /* a hint that is set is one */
    {
        drep_info *info = hints("striping_factor=7", (char *)NULL);

        ok(drep_set_info(f, info));
        drep_info_free(info);
    }
    ok(drep_close(f));
    f = reader_of(NULL);
    ck_assert_uint_eq(sequence_of(f), 2);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data commits");
    TCase *t = tcase_create("commits");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_D16_refresh_takes_open_datasets_along);
    tcase_add_test(t, test_D16_refresh_and_what_was_removed);
    tcase_add_test(t, test_D16_refresh_fails_as_a_whole);
    tcase_add_loop_test(t, test_D22_a_new_chunk_alone_is_a_change, DREP_CONTIGUOUS,
                        DREP_CHUNKED + 1);
    tcase_add_loop_test(t, test_D16_log_and_earlier_commits, 0, 5);
    tcase_add_test(t, test_D16_an_open_earlier_commit_is_kept);
    tcase_add_test(t, test_D16_space_that_a_reader_gave_up);
    tcase_add_test(t, test_D16_stale_without_locks);
    tcase_add_test(t, test_D16_refreshing_under_other_threads);
    tcase_add_loop_test(t, test_D32_a_handle_that_changes_nothing_commits_nothing, 0, DATAREPS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
