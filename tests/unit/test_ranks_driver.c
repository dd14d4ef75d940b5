/* test_ranks_driver.c - ranks on a file system that has no locks, or shows late what others do.
 *
 * The functions of the C library below stand between the library and the system.  Ranks other than
 * 0 see what a client of a network file system may see: a name that is not there yet, and a file
 * that is as long as it was when it was opened, though longer by what the rank writes itself, until
 * it is opened again a few times.  Writes are counted. */
/* SPDX-License-Identifier: MIT */
#undef _FORTIFY_SOURCE
#include "base/clock.h"

#include "tests/unit/ranks_help.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { FDS = 4096, ROWS = 600, ROW = 40, CHUNK = 50, ROUNDS = 3 };

/* How the file system behaves. */
static struct {
    int no_lock;        /* locks fail with this; 0: they work */
    int no_name, names; /* opening fails with this, so many times */
    int looks;          /* openings that it takes to see how long the file is; 0: it is seen */
    uint64_t shown;     /* of a file that is opened; 0: what it has then */
} fs;
static atomic_int names_left, tries, short_reads, written;
static _Thread_local bool elsewhere; /* the thread of a rank other than 0 */

/* What is open on ranks other than 0. */
static struct {
    _Atomic uint64_t shown;
    atomic_int looks;
} seen[FDS];

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

int driver_open(const char *path, int flags, mode_t mode) __asm__("open64");
int driver_openat(int dir, const char *path, int flags, mode_t mode) __asm__("openat64");
int driver_close(int fd) __asm__("close");
int driver_fcntl(int fd, int cmd, void *arg) __asm__("fcntl64");
int driver_fstat(int fd, struct stat *s) __asm__("fstat64");
ssize_t driver_pread(int fd, void *buf, size_t n, off_t at) __asm__("pread64");
ssize_t driver_preadv(int fd, const struct iovec *to, int n, off_t at) __asm__("preadv64");
ssize_t driver_pwrite(int fd, const void *buf, size_t n, off_t at) __asm__("pwrite64");

static uint64_t size_of(int fd)
{
    REAL("fstat64", int, int, struct stat *);
    struct stat s;

    return call(fd, &s) ? 0 : (uint64_t)s.st_size;
}

static bool is_stale(int fd)
{
    return fd >= 0 && fd < FDS && seen[fd].looks > 0;
}

static uint64_t shown(int fd)
{
    uint64_t is = size_of(fd);

    return is_stale(fd) && seen[fd].shown < is ? (uint64_t)seen[fd].shown : is;
}

/* The library opens a descriptor's file again to look at it. */
int driver_open(const char *path, int flags, mode_t mode)
{
    REAL("open64", int, const char *, int, ...);
    int of;

    if (sscanf(path, "/proc/self/fd/%d", &of) == 1 && is_stale(of))
        seen[of].looks--;
    return call(path, flags, mode);
}

int driver_openat(int dir, const char *path, int flags, mode_t mode)
{
    REAL("openat64", int, int, const char *, int, ...);
    bool file = elsewhere && !(flags & (O_CREAT | O_DIRECTORY));
    int fd;

    tries += file;
    if (file && fs.no_name && names_left-- > 0) {
        errno = fs.no_name;
        return -1;
    }
    fd = call(dir, path, flags, mode);
    if (file && fd >= 0 && fd < FDS) {
        seen[fd].shown = fs.shown ? fs.shown : size_of(fd);
        seen[fd].looks = fs.looks;
    }
    return fd;
}

int driver_close(int fd)
{
    REAL("close", int, int);

    if (is_stale(fd))
        seen[fd].looks = 0;
    return call(fd);
}

int driver_fcntl(int fd, int cmd, void *arg)
{
    REAL("fcntl64", int, int, int, ...);

    if (fs.no_lock && (cmd == F_OFD_SETLK || cmd == F_OFD_GETLK)) {
        errno = fs.no_lock;
        return -1;
    }
    return call(fd, cmd, arg);
}

int driver_fstat(int fd, struct stat *s)
{
    REAL("fstat64", int, int, struct stat *);
    int result = call(fd, s);

    if (!result && is_stale(fd))
        s->st_size = (off_t)shown(fd);
    return result;
}

/* Bytes that a read of n at a place gets. */
static size_t readable(int fd, size_t n, off_t at)
{
    uint64_t end = shown(fd);

    if (!is_stale(fd) || (uint64_t)at + n <= end)
        return n;
    short_reads++;
    return (uint64_t)at < end ? (size_t)(end - (uint64_t)at) : 0;
}

ssize_t driver_pread(int fd, void *buf, size_t n, off_t at)
{
    REAL("pread64", ssize_t, int, void *, size_t, off_t);

    return call(fd, buf, readable(fd, n, at), at);
}

/* Of several buffers all or nothing: a call that gets less is made again. */
ssize_t driver_preadv(int fd, const struct iovec *to, int n, off_t at)
{
    REAL("preadv64", ssize_t, int, const struct iovec *, int, off_t);
    size_t all = 0;

    for (int i = 0; i < n; i++)
        all += to[i].iov_len;
    return readable(fd, all, at) < all ? 0 : call(fd, to, n, at);
}

ssize_t driver_pwrite(int fd, const void *buf, size_t n, off_t at)
{
    REAL("pwrite64", ssize_t, int, const void *, size_t, off_t);
    ssize_t done = call(fd, buf, n, at);

    written++;
    if (done > 0 && is_stale(fd) && (uint64_t)at + (uint64_t)done > seen[fd].shown)
        seen[fd].shown = (uint64_t)at + (uint64_t)done;
    return done;
}

/* ------------------------------------------------------------------ stories */

static void driver_body(struct team *t, void *ctx)
{
    elsewhere = t->rank > 0;
    rank_body(t, ctx);
}

static void run(struct story *s, int ranks)
{
    names_left = fs.names;
    tries = short_reads = written = 0;
    thread_team_init(&s->all, ranks, s->timeout);
    thread_team_run(&s->all, driver_body, s);
    thread_team_release(&s->all);
}

static void run_well(struct story *s, int ranks)
{
    run(s, ranks);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(s->teller[r].err == 0, "rank %d of %d: error %d: %s", r, ranks,
                      s->teller[r].err, s->teller[r].text);
    ck_assert(!s->all.deadlock);
}

static void run_failing(struct story *s, int ranks, int code, const char *text)
{
    run(s, ranks);
    for (int r = 0; r < ranks; r++) {
        ck_assert_msg(s->teller[r].err == code, "rank %d: error %d: %s", r, s->teller[r].err,
                      s->teller[r].text);
        ck_assert_msg(strstr(s->teller[r].text, text) != NULL, "rank %d: \"%s\" is not in \"%s\"",
                      r, text, s->teller[r].text);
    }
}

static int value_at(int round, int64_t i)
{
    return (int)((round + 1) * 100000 + i);
}

/* The rows of a rank. */
static void own_rows(const struct teller *me, int64_t *start, int64_t *count)
{
    start[0] = ROWS / CHUNK * me->rank / me->ranks * CHUNK;
    count[0] = ROWS / CHUNK * (me->rank + 1) / me->ranks * CHUNK - start[0];
    start[1] = 0;
    count[1] = ROW;
}

static void expect_round(struct teller *me, drep_dataset *ds, int round, const drep_xfer *how)
{
    static _Thread_local int v[ROWS * ROW];
    int64_t i = 0;

    memset(v, 0, sizeof v);
    if (!went(me, drep_read(ds, NULL, DREP_INT, v, how)))
        return;
    while (i < ROWS * ROW && v[i] == value_at(round, i))
        i++;
    if (i < ROWS * ROW) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "round %d: element %lld is %d, not %d", round,
                 (long long)i, v[i], value_at(round, i));
    }
}

static drep_xfer together(void)
{
    return DREP_XFER(.collective = 1);
}

/* Every rank reads after each commit what all have written. */
static void tell_rounds(struct teller *me, drep_file *f)
{
    const int64_t dims[] = {ROWS, ROW}, chunk[] = {CHUNK, ROW};
    const drep_xfer how = together();
    int64_t start[2], count[2];
    static _Thread_local int v[ROWS * ROW];
    drep_dataset *ds = NULL;

    if (!went(me, drep_dataset_create(f, "/d",
                                      &DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims,
                                                 .layout = DREP_CHUNKED, .chunk = chunk),
                                      &ds)))
        return;
    own_rows(me, start, count);
    for (int round = 0; round < ROUNDS && !me->err; round++) {
        for (int64_t i = 0; i < count[0] * ROW; i++)
            v[i] = value_at(round, start[0] * ROW + i);
        went(me, drep_write_box(ds, start, count, DREP_INT, v, &how));
        went(me, drep_attr_write_int64(f, "/", "round", round));
        went(me, drep_commit(f));
        expect_round(me, ds, round, NULL);
        expect_round(me, ds, round, &how);
    }
    drep_dataset_close(ds);
}

/* What the last round leaves, by one process. */
static void tell_once(struct teller *me, drep_file *f)
{
    const int64_t dims[] = {ROWS, ROW}, chunk[] = {CHUNK, ROW};
    static int v[ROWS * ROW];
    drep_dataset *ds = NULL;

    for (int i = 0; i < ROWS * ROW; i++)
        v[i] = value_at(ROUNDS - 1, i);
    if (!went(me, drep_dataset_create(f, "/d",
                                      &DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims,
                                                 .layout = DREP_CHUNKED, .chunk = chunk),
                                      &ds)))
        return;
    went(me, drep_write(ds, NULL, DREP_INT, v, NULL));
    drep_dataset_close(ds);
}

/* Each rank writes alone. */
static void tell_alone(struct teller *me, drep_file *f)
{
    int64_t start[2], count[2];
    static _Thread_local int v[ROWS * ROW];
    drep_dataset *ds = NULL;

    if (!went(me, drep_dataset_open(f, "/d", &ds)))
        return;
    own_rows(me, start, count);
    for (int round = 0; round < ROUNDS && !me->err; round++) {
        for (int64_t i = 0; i < count[0] * ROW; i++)
            v[i] = value_at(round, start[0] * ROW + i);
        went(me, drep_write_box(ds, start, count, DREP_INT, v, NULL));
        went(me, drep_commit(f));
        expect_round(me, ds, round, NULL);
    }
    drep_dataset_close(ds);
}

static void tell_reading(struct teller *me, drep_file *f)
{
    const drep_xfer how = together();
    drep_dataset *ds = NULL;

    if (!went(me, drep_dataset_open(f, "/d", &ds)))
        return;
    expect_round(me, ds, ROUNDS - 1, NULL);
    expect_round(me, ds, ROUNDS - 1, &how);
    drep_dataset_close(ds);
}

static void expect_hint(struct teller *me, drep_file *f, const char *key, const char *value)
{
    drep_info *info = NULL;

    if (!went(me, drep_get_info(f, &info)))
        return;
    if (strcmp(drep_info_get(info, key), value) != 0) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%s is %s, not %s", key, drep_info_get(info, key),
                 value);
    }
    drep_info_free(info);
}

static void tell_unlocked(struct teller *me, drep_file *f)
{
    expect_hint(me, f, "drep_lock", "false");
    tell_rounds(me, f);
}

static void tell_locked(struct teller *me, drep_file *f)
{
    expect_hint(me, f, "drep_lock", "true");
    tell_rounds(me, f);
}

static const char *by_one_process(void)
{
    const char *path = temp_path("one.drep");
    struct story s = {.fn = tell_rounds, .path = path, .datarep = "external32"};

    story_alone(&s);
    return path;
}

/* As for one process, no lock is no error, and drep_get_info() says so on every rank. */
START_TEST(test_no_locks)
{
    static const int codes[] = {ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL};
    const char *one = by_one_process(), *path = temp_path("many.drep");
    struct story s = {.fn = tell_locked, .path = path, .datarep = "external32"};

    run_well(&s, 3);
    same_file(one, path, "with locks", 3);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fs.no_lock = codes[i];
        s = (struct story){.fn = tell_unlocked, .path = path, .datarep = "external32"};
        run_well(&s, 3);
        same_file(one, path, "without locks", 3);
        s = (struct story){
            .fn = tell_reading, .path = path, .existing = true, .amode = DREP_RDONLY};
        run_well(&s, 3);
    }
    fs.no_lock = 0;
}
END_TEST

/* A second writer is refused, on all ranks, where there are locks. */
static void tell_nothing(struct teller *me, drep_file *f)
{
    (void)me;
    (void)f;
}

START_TEST(test_another_writer)
{
    const char *path = by_one_process();
    struct story s = {.fn = tell_nothing, .path = path, .existing = true};
    drep_file *f;

    ok(drep_open(path, DREP_RDWR, NULL, &f));
    run_failing(&s, 3, DREP_ERR_FILE_IN_USE, "rank 0: ");
    drep_abandon(f);
}
END_TEST

START_TEST(test_a_name_that_comes_late)
{
    static const int codes[] = {ENOENT, ESTALE};
    const char *one = by_one_process(), *path = temp_path("many.drep");
    int64_t began;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        int code = codes[i] == ESTALE ? DREP_ERR_STALE : DREP_ERR_NO_SUCH_FILE;
        struct story s = {.fn = tell_rounds, .path = path, .datarep = "external32"};

        fs.no_name = codes[i];
        fs.names = 8;
        run_well(&s, 3);
        same_file(one, path, "a late name", 3);
        ck_assert_int_ge(tries, 8 + 2);
        s = (struct story){.fn = tell_alone, .path = path, .existing = true};
        run_well(&s, 3);
        s = (struct story){
            .fn = tell_reading, .path = path, .existing = true, .amode = DREP_RDONLY};
        run_well(&s, 3);

        /* Within the timeout it is an error that says who, what and why. */
        fs.names = 1 << 30;
        for (int reads = 0; reads < 2; reads++) {
            s.amode = reads ? DREP_RDONLY : DREP_RDWR;
            s.timeout = 400000000;
            began = now_ns();
            run_failing(&s, 3, code, "rank 1: rank 0 has it open, but: ");
            run_failing(&s, 3, code, path);
            ck_assert_int_ge(now_ns() - began, s.timeout / 2);
            ck_assert_int_le(tries, 2 * 2 * 20); /* the pauses grow */
        }
    }
    fs.no_name = 0;
}
END_TEST

/* Other errors are not waited out. */
START_TEST(test_a_name_that_is_refused)
{
    struct story s = {.fn = tell_nothing, .path = by_one_process(), .existing = true};

    fs.no_name = EACCES;
    fs.names = 1 << 30;
    run_failing(&s, 3, DREP_ERR_ACCESS, "rank 1: rank 0 has it open, but: ");
    ck_assert_int_eq(tries, 2);
    fs.no_name = 0;
}
END_TEST

START_TEST(test_a_size_that_is_old)
{
    const char *one = by_one_process(), *path = temp_path("many.drep");

    for (int ranks = 2; ranks <= 4; ranks++) {
        struct story s = {.fn = tell_rounds, .path = path, .datarep = "external32"};

        fs.looks = 3;
        run_well(&s, ranks);
        ck_assert_int_gt(short_reads, 0);
        same_file(one, path, "an old size", ranks);
        s = (struct story){.fn = tell_alone, .path = path, .existing = true};
        run_well(&s, ranks);
        /* A file that seems to be empty, to end amidst the slots, and behind them. */
        for (int i = 0; i < 3; i++) {
            fs.shown = (const uint64_t[]){1, 1000, 5000}[i];
            s = (struct story){
                .fn = tell_reading, .path = path, .existing = true, .amode = DREP_RDONLY};
            run_well(&s, ranks);
            ck_assert_int_gt(short_reads, 0);
            s.amode = DREP_RDWR;
            run_well(&s, ranks);
            ck_assert_int_gt(short_reads, 0);
        }
        fs.shown = 0;
    }
    fs.looks = 0;
}
END_TEST

static void tell_opening(struct teller *me, drep_file *f)
{
    drep_dataset *ds = NULL;

    went(me, drep_dataset_open(f, "/d", &ds));
    drep_dataset_close(ds);
}

/* A file that stays too short is waited for once, and then an error. */
START_TEST(test_a_file_that_is_too_short)
{
    struct story s = {.fn = tell_opening,
                      .path = by_one_process(),
                      .existing = true,
                      .amode = DREP_RDONLY,
                      .timeout = 400000000};
    int64_t began = now_ns();

    fs.looks = 1 << 30;
    fs.shown = 5000;
    run(&s, 3);
    for (int r = 1; r < 3; r++) {
        ck_assert_int_eq(s.teller[r].err, DREP_ERR_TRUNCATE);
        ck_assert_ptr_nonnull(strstr(s.teller[r].text, "one.drep: "));
        ck_assert_ptr_nonnull(strstr(s.teller[r].text, "the file ends at byte "));
    }
    ck_assert_int_ge(now_ns() - began, s.timeout / 2);
    ck_assert_int_le(now_ns() - began, 10 * s.timeout);
    fs.looks = 0;
    fs.shown = 0;
}
END_TEST

/* The slot of a stream stands at its end. */
START_TEST(test_a_stream)
{
    const char *path = temp_path("stream.drep");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct teller me = {.ranks = 1};
    drep_file *f;

    ck_assert_int_ge(fd, 0);
    ok(drep_create_stream(fd, "native", NULL, NULL, &f));
    tell_once(&me, f);
    ok(me.err);
    ok(drep_close(f));
    close(fd);
    fs.looks = 2;
    for (int writes = 0; writes < 2; writes++) {
        struct story s = {.fn = tell_reading,
                          .path = path,
                          .existing = true,
                          .amode = writes ? DREP_RDWR : DREP_RDONLY};

        fs.shown = 5000;
        run_well(&s, 3);
    }
    fs.looks = 0;
    fs.shown = 0;
}
END_TEST

/* ---- slabs ---- */

enum { LINES = 512, WIDE = 512 }; /* each line is a slab of 4 KiB */

/* Each rank writes lines or columns of contiguous data. */
static void tell_slabs(struct teller *me, drep_file *f)
{
    const int64_t dims[] = {LINES, WIDE};
    const int cut = *(const int *)me->ctx;
    const drep_xfer how = together();
    int64_t start[2] = {0}, count[2] = {LINES, WIDE}, *v = NULL;
    drep_dataset *ds = NULL;

    start[cut] = dims[cut] * me->rank / me->ranks;
    count[cut] = dims[cut] * (me->rank + 1) / me->ranks - start[cut];
    v = malloc(sizeof *v * LINES * WIDE);
    if (!v || !went(me, drep_dataset_create(f, "/s",
                                            &DREP_SPEC(.type = DREP_INT64_T, .rank = 2,
                                                       .dims = dims, .layout = DREP_CONTIGUOUS),
                                            &ds))) {
        me->err = me->err ? me->err : DREP_ERR_NOMEM;
        free(v);
        return;
    }
    for (int64_t i = 0; i < count[0] * count[1]; i++)
        v[i] = (start[0] + i / count[1]) * WIDE + start[1] + i % count[1];
    went(me, drep_write_box(ds, start, count, DREP_INT64_T, v, &how));
    drep_dataset_close(ds);
    free(v);
}

/* Slabs that a rank writes one behind the other are no call of the system each: in place where they
 * stand so in memory, else from a copy. */
START_TEST(test_slabs_are_written_together)
{
    static int64_t v[LINES * WIDE];
    const char *path = temp_path("slabs");
    const int cut = _i % 2;
    struct story s = {
        .fn = tell_slabs, .ctx = &cut, .path = path, .datarep = _i / 2 ? "external32" : "native"};
    drep_dataset *ds;
    drep_file *f;

    for (int ranks = 1; ranks <= 3; ranks++) {
        unlink(path);
        run_well(&s, ranks);
        ck_assert_msg(written < 80, "%d ranks: %d writes of %d slabs", ranks, written, LINES);
        memset(v, 0, sizeof v);
        ok(drep_open(path, DREP_RDONLY, NULL, &f));
        ok(drep_dataset_open(f, "/s", &ds));
        ok(drep_read(ds, NULL, DREP_INT64_T, v, NULL));
        for (int64_t i = 0; i < LINES * WIDE; i++)
            ck_assert_int_eq(v[i], i);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_driver");
    TCase *tc = tcase_create("ranks_driver");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_no_locks);
    tcase_add_test(tc, test_another_writer);
    tcase_add_test(tc, test_a_name_that_comes_late);
    tcase_add_test(tc, test_a_name_that_is_refused);
    tcase_add_test(tc, test_a_size_that_is_old);
    tcase_add_test(tc, test_a_file_that_is_too_short);
    tcase_add_test(tc, test_a_stream);
    tcase_add_loop_test(tc, test_slabs_are_written_together, 0, 4);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
