/* test_full.c - a disk that is full for a while.
 *
 * The functions of the C library below stand between the library and the system: a disk of 4 KiB
 * pages, of which a program can write into those that it has, and into as many new ones as are
 * free.  A write that needs more is short, or fails with ENOSPC, as on a real one.  Every call that
 * succeeded counts: the next commit has it as soon as there is room.
 *
 * FULL_ROUNDS=N says how often ranks do it.
 *
 * needs: lz4 */
/* SPDX-License-Identifier: MIT */
#undef _FORTIFY_SOURCE
#include "tests/unit/ranks_help.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PAGE = 4096, PAGES = 4096, FILES = 8, ROUNDS = 500, TEAM_ROUNDS = 40 };

static struct {
    pthread_mutex_t lock;
    bool on;
    int64_t free;  /* pages */
    int64_t until; /* writes that work before those that need a page fail; -1: `free` counts */
    int64_t writes;
    int refused;
    struct {
        dev_t dev;
        ino_t ino;
        bool has[PAGES];
    } file[FILES];
    int files;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .until = -1};

static void disk_of(int64_t pages)
{
    disk.on = true;
    disk.free = pages;
    disk.until = -1;
    disk.writes = disk.files = disk.refused = 0;
}

static void disk_grows(void)
{
    pthread_mutex_lock(&disk.lock);
    disk.free = PAGES;
    disk.until = -1;
    pthread_mutex_unlock(&disk.lock);
}

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);

    if (!p)
        abort();
    return p;
}

#define REAL(name, type, ...)         \
    type (*call)(__VA_ARGS__) = NULL; \
    *(void **)&call = real(name)

ssize_t full_pwrite(int fd, const void *buf, size_t n, off_t at) __asm__("pwrite64");
int full_ftruncate(int fd, off_t size) __asm__("ftruncate64");
int full_fallocate(int fd, int mode, off_t at, off_t size) __asm__("fallocate64");

/* The pages of a file; NULL: it has no name, so it is on another disk. */
static bool *pages_of(int fd)
{
    struct stat s;
    int i = 0;

    if (!disk.on || fstat(fd, &s) || s.st_nlink == 0)
        return NULL;
    while (i < disk.files && (disk.file[i].dev != s.st_dev || disk.file[i].ino != s.st_ino))
        i++;
    if (i == FILES)
        abort();
    if (i == disk.files) {
        memset(&disk.file[i], 0, sizeof disk.file[i]);
        disk.file[i].dev = s.st_dev;
        disk.file[i].ino = s.st_ino;
        disk.files++;
    }
    return disk.file[i].has;
}

/* Bytes of a write that there is room for. */
static size_t room_for(bool *has, size_t n, size_t at)
{
    size_t end = at + n;
    bool none = disk.until >= 0 && disk.writes++ >= disk.until;

    if (end > (size_t)PAGE * PAGES)
        abort();
    for (size_t p = at / PAGE; p * PAGE < end; p++) {
        if (!has[p] && (none || (disk.until < 0 && disk.free == 0))) {
            disk.refused++;
            return p * PAGE > at ? p * PAGE - at : 0;
        }
        disk.free -= !has[p];
        has[p] = true;
    }
    return n;
}

ssize_t full_pwrite(int fd, const void *buf, size_t n, off_t at)
{
    REAL("pwrite64", ssize_t, int, const void *, size_t, off_t);
    bool *has;

    pthread_mutex_lock(&disk.lock);
    has = pages_of(fd);
    if (has)
        n = room_for(has, n, (size_t)at);
    pthread_mutex_unlock(&disk.lock);
    if (n == 0) {
        errno = ENOSPC;
        return -1;
    }
    return call(fd, buf, n, at);
}

int full_ftruncate(int fd, off_t size)
{
    REAL("ftruncate64", int, int, off_t);
    bool *has;

    pthread_mutex_lock(&disk.lock);
    has = pages_of(fd);
    for (size_t p = (size_t)(size + PAGE - 1) / PAGE; has && p < PAGES; p++) {
        disk.free += has[p];
        has[p] = false;
    }
    pthread_mutex_unlock(&disk.lock);
    return call(fd, size);
}

int full_fallocate(int fd, int mode, off_t at, off_t size)
{
    (void)fd;
    (void)mode;
    (void)at;
    (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

/* ---- one process ---- */

enum { SETS = 5, LEN = 24000 };

struct model {
    int64_t len; /* -1: it is not there */
    int32_t v[LEN];
};

static const drep_filter packed = {.id = DREP_FILTER_LZ4};

static void set_path(char path[16], int k)
{
    snprintf(path, 16, "/d%d", k);
}

static int make_set(drep_file *f, struct rnd *r, int k, struct model *m)
{
    int64_t len = 1 + (int64_t)rnd_below(r, LEN / 2), max = -1, chunk = 1 + len / 3;
    bool chunked = k % 3 != 0;
    char path[16];
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .maxdims = &max,
                               .layout = chunked ? DREP_CHUNKED : DREP_CONTIGUOUS,
                               .chunk = chunked ? &chunk : NULL,
                               .filters = k % 3 == 2 ? &packed : NULL, .nfilters = k % 3 == 2);
    int err;

    set_path(path, k);
    err = drep_dataset_create(f, path, &spec, NULL);
    if (!err) {
        m->len = len;
        memset(m->v, 0, sizeof m->v);
    }
    return err;
}

static void random_values(struct rnd *r, int32_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = (int32_t)rnd_below(r, 1 << 24);
}

/* One call, as the model has it if it succeeds. */
static int change(drep_file *f, drep_dataset **ds, struct rnd *r, struct model *m)
{
    static int32_t v[LEN];
    int k = (int)rnd_below(r, SETS), err;
    char path[16];

    m += k;
    if (m->len < 0)
        return make_set(f, r, k, m);
    set_path(path, k);
    if (!ds[k] && (err = drep_dataset_open(f, path, &ds[k])))
        return err;
    if (rnd_below(r, 3) == 0) {
        int64_t n = 1 + (int64_t)rnd_below(r, rnd_below(r, 2) ? 30 : 3000);

        n = n < LEN - m->len ? n : LEN - m->len;
        random_values(r, v, n);
        err = drep_append(ds[k], 0, n, DREP_INT32_T, v, NULL);
        if (!err)
            memcpy(m->v + m->len, v, (size_t)n * sizeof *v);
        m->len += err ? 0 : n;
    } else {
        int64_t at = (int64_t)rnd_below(r, (uint64_t)m->len);
        int64_t n = 1 + (int64_t)rnd_below(r, (uint64_t)(m->len - at));

        random_values(r, v, n);
        err = drep_write_box(ds[k], &at, &n, DREP_INT32_T, v, NULL);
        if (!err)
            memcpy(m->v + at, v, (size_t)n * sizeof *v);
    }
    return err;
}

static void holds(const char *path, const struct model *m, const char *what, int round)
{
    static int32_t v[LEN];
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    for (int k = 0; k < SETS; k++) {
        drep_dsinfo info = DREP_DSINFO;
        drep_dataset *ds;
        char name[16];

        set_path(name, k);
        if (m[k].len < 0) {
            fails(drep_dataset_open(f, name, &ds), DREP_ERR_NOT_FOUND);
            continue;
        }
        ok(drep_dataset_open(f, name, &ds));
        ok(drep_dataset_info(ds, &info));
        ck_assert_msg(info.dims[0] == m[k].len, "round %d, %s: %s has %lld elements, not %lld",
                      round, what, name, (long long)info.dims[0], (long long)m[k].len);
        ok(drep_read(ds, NULL, DREP_INT32_T, v, NULL));
        ck_assert_msg(memcmp(v, m[k].v, (size_t)m[k].len * sizeof *v) == 0,
                      "round %d, %s: %s holds other values", round, what, name);
        drep_dataset_close(ds);
    }
    check_file(f);
    ok(drep_close(f));
}

/* Commit; where the disk is full, so again once it is not.  True: it was. */
static bool commit(drep_file *f, int round)
{
    int err = drep_commit(f);

    if (!err)
        return false;
    ck_assert_msg(err == DREP_ERR_NO_SPACE, "round %d: error %d: %s", round, err, drep_error());
    disk_grows();
    ok(drep_commit(f));
    return true;
}

/* Some calls and commits; each commit that finds the disk full is made again with room. */
static void tell_round(const char *path, struct rnd *r, struct model *m, int round, bool create)
{
    drep_info *info = hints("drep_sync=none", "drep_cache_size=65536", (char *)NULL);
    drep_dataset *ds[SETS] = {NULL};
    drep_file *f;
    int steps = 4 + (int)rnd_below(r, 24), err;

    if (create)
        ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    else
        ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
    for (int i = 0; i < steps; i++) {
        err = change(f, ds, r, m);
        if (err == DREP_ERR_FAILED && strstr(drep_error(), "an append has failed"))
            continue; /* the dataset takes no other before the commit */
        ck_assert_msg(err == 0 || err == DREP_ERR_NO_SPACE, "round %d, step %d: error %d: %s",
                      round, i, err, drep_error());
        if (err && rnd_below(r, 2)) /* what waits in memory keeps reads and other calls out */
            disk_grows();
        if (rnd_below(r, 5) == 0)
            commit(f, round);
    }
    commit(f, round);
    for (int k = 0; k < SETS; k++)
        drep_dataset_close(ds[k]);
    ok(drep_close(f));
    holds(path, m, create ? "new" : "again", round);
}

static void forget(struct model *m)
{
    for (int k = 0; k < SETS; k++)
        m[k].len = -1;
}

/* No call, no commit and no handle is lost with a full disk, in files that are new and in files
 * that are changed. */
START_TEST(test_what_succeeded_is_committed)
{
    static struct model m[SETS];
    const char *path = temp_path("full.drep");
    int refused = 0;
    struct rnd r;

    rnd_init(&r, 4711);
    for (int round = 0; round < ROUNDS; round++) {
        bool create = round % 4 == 0;

        if (create) {
            unlink(path);
            forget(m);
        }
        disk_of(create ? 2 + (int64_t)rnd_below(&r, 60) : (int64_t)rnd_below(&r, 40));
        tell_round(path, &r, m, round, create);
        refused += disk.refused > 0;
    }
    disk.on = false;
    unlink(path);
    ck_assert_int_gt(refused, ROUNDS / 2);
}
END_TEST

/* The n-th write and all later ones have no room, n = 0, 1, ..., until nothing fails. */
START_TEST(test_each_write_without_room)
{
    static struct model m[SETS];
    const char *path = temp_path("nth.drep");
    int n = 0, refused;

    do {
        struct rnd r;

        rnd_init(&r, (uint64_t)_i + 1);
        unlink(path);
        forget(m);
        disk_of(0);
        disk.until = 2 + n++; /* making the file may fail */
        tell_round(path, &r, m, n, true);
        refused = disk.refused;
    } while (refused > 0);
    disk.on = false;
    unlink(path);
    ck_assert_int_gt(n, 3);
}
END_TEST

/* ---- ranks ---- */

enum { ROWS = 48, ROW = 700, BOXES = 12 };

struct told {
    uint64_t seed;
    int round;
    int32_t rows[ROWS][ROW]; /* row n is changed by rank n % ranks alone */
};

/* All ranks decide alike whether to commit; each has its own values. */
static void tell_full(struct teller *me, drep_file *f)
{
    struct told *t = (struct told *)(uintptr_t)me->ctx;
    const int64_t dims[2] = {ROWS, ROW}, chunk[2] = {5, 300};
    struct rnd all, own;
    drep_dataset *ds;
    static _Thread_local int32_t v[ROW];
    int err;

    rnd_init(&all, t->seed);
    rnd_init(&own, t->seed + 1000003 * (uint64_t)(me->rank + 1));
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims,
                  .layout = t->seed % 2 ? DREP_CHUNKED : DREP_CONTIGUOUS,
                  .chunk = t->seed % 2 ? chunk : NULL, .filters = t->seed % 4 == 1 ? &packed : NULL,
                  .nfilters = t->seed % 4 == 1);
    if (!went(me, drep_dataset_create(f, "/d", &spec, &ds)))
        return;
    for (int i = 0; i < BOXES && !me->err; i++) {
        bool together = rnd_below(&all, 2), commits = rnd_below(&all, 3) == 0 || i == BOXES - 1;
        int row = (int)rnd_below(&own, ROWS / (uint64_t)me->ranks) * me->ranks + me->rank;
        int64_t start[2] = {row, (int64_t)rnd_below(&own, ROW)}, count[2] = {1, 0};

        count[1] = 1 + (int64_t)rnd_below(&own, (uint64_t)(ROW - start[1]));
        random_values(&own, v, count[1]);
        err = drep_write_box(ds, start, count, DREP_INT32_T, v, &DREP_XFER(.collective = together));
        if (!err)
            memcpy(t->rows[row] + start[1], v, (size_t)count[1] * sizeof *v);
        else if (err != DREP_ERR_NO_SPACE)
            went(me, err);
        if (!commits || me->err || !(err = drep_commit(f)))
            continue;
        if (err != DREP_ERR_NO_SPACE)
            went(me, err);
        disk_grows();
        went(me, drep_commit(f));
    }
    drep_dataset_close(ds);
}

START_TEST(test_ranks)
{
    static struct told t;
    static int32_t v[ROWS][ROW];
    const char *path = temp_path("ranks.drep"), *given = getenv("FULL_ROUNDS");
    int refused = 0, rounds = given ? atoi(given) : TEAM_ROUNDS;
    struct rnd r;

    rnd_init(&r, 815);
    for (t.round = 0; t.round < rounds; t.round++) {
        struct story s = {.fn = tell_full,
                          .ctx = &t,
                          .path = path,
                          .datarep = "external32",
                          .hint = "drep_sync",
                          .value = "none"};
        drep_dataset *ds;
        drep_file *f;

        unlink(path);
        memset(t.rows, 0, sizeof t.rows);
        t.seed = (uint64_t)t.round;
        disk_of(2 + (int64_t)rnd_below(&r, 50));
        story_run(&s, 1 + t.round % 4);
        for (int k = 0; k <= t.round % 4; k++)
            ck_assert_msg(s.teller[k].err == 0, "round %d, rank %d: error %d: %s", t.round, k,
                          s.teller[k].err, s.teller[k].text);
        refused += disk.refused > 0;
        disk.on = false;
        ok(drep_open(path, DREP_RDONLY, NULL, &f));
        ok(drep_dataset_open(f, "/d", &ds));
        ok(drep_read(ds, NULL, DREP_INT32_T, v, NULL));
        ck_assert_msg(memcmp(v, t.rows, sizeof v) == 0, "round %d: other values", t.round);
        drep_dataset_close(ds);
        check_file(f);
        ok(drep_close(f));
    }
    unlink(path);
    ck_assert_int_gt(refused, rounds / 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("full");
    TCase *tc = tcase_create("full");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_what_succeeded_is_committed);
    tcase_add_loop_test(tc, test_each_write_without_room, 0, 3);
    tcase_add_test(tc, test_ranks);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
