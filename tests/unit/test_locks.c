/* test_locks.c - file systems without locks, and waiting for the writer's lock.
 *
 * Processes append to one file in turn, as scripts do that know nothing of each other.
 * `LOCK_ROWS=1000 build/release/tests/unit/test_locks` takes so many rows of each process and
 * prints how long that takes. */
/* SPDX-License-Identifier: MIT */
#undef _FORTIFY_SOURCE
#include "data_help.h"

#include "base/clock.h"
#include "format/numbers.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { ROWS = 150, PROCESSES_MOST = 4 };

/* ---- locks that fail ---- */

static int lock_errno; /* locks fail with this; 0: they work */

int locks_fcntl(int fd, int cmd, void *arg) __asm__("fcntl64");

int locks_fcntl(int fd, int cmd, void *arg)
{
    int (*call)(int, int, ...) = NULL;

    *(void **)&call = dlsym(RTLD_NEXT, "fcntl64");
    if (!call)
        abort();
    if (lock_errno && (cmd == F_OFD_SETLK || cmd == F_OFD_GETLK)) {
        errno = lock_errno;
        return -1;
    }
    return call(fd, cmd, arg);
}

static void one_row(drep_file *f, int64_t value)
{
    drep_dataset *ds;

    ok(drep_dataset_open(f, "/d", &ds));
    ok(drep_append(ds, 0, 1, DREP_INT64_T, &value, NULL));
    drep_dataset_close(ds);
}

static void no_rows(const char *path)
{
    const int64_t len = 0, max = -1, chunk = 64;
    drep_spec spec = DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &len, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_file *f = new_file(path, "native");

    ok(drep_dataset_create(f, "/d", &spec, NULL));
    ok(drep_close(f));
}

static int64_t rows_of(const char *path, int64_t *values, int64_t most)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/d", &ds));
    ok(drep_dataset_info(ds, &info));
    if (values && info.dims[0] <= most)
        ok(drep_read(ds, NULL, DREP_INT64_T, values, NULL));
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_close(f));
    return info.dims[0];
}

static void has_no_locks(drep_file *f)
{
    drep_info *info;

    ok(drep_get_info(f, &info));
    ck_assert_msg(strcmp(drep_info_get(info, "drep_lock"), "false") == 0, "errno %d", lock_errno);
    drep_info_free(info);
}

/* Whatever number a file system has for it, 524 (ENOTSUPP of the kernel) among them: reading,
 * writing, replacing and refreshing work, and the handle says that nothing is locked. */
START_TEST(test_any_other_error_means_no_locks)
{
    const char *path = temp_path("none.drep");
    drep_file *f, *reader;

    for (int n = 1; n <= 540; n++) {
        if (n == EAGAIN || n == EACCES || n == EINTR || (n > 133 && n < 512))
            continue;
        lock_errno = n;
        no_rows(path); /* over the last one */
        ok(drep_open(path, DREP_RDONLY, NULL, &reader));
        has_no_locks(reader);
        ok(drep_open(path, DREP_RDWR, NULL, &f));
        has_no_locks(f);
        one_row(f, n);
        ok(drep_close(f));
        ok(drep_refresh(reader));
        ok(drep_close(reader));
        ck_assert_int_eq(rows_of(path, NULL, 0), 1);
    }
    lock_errno = 0;
    unlink(path);
}
END_TEST

START_TEST(test_contention_names_the_hints)
{
    const char *path = temp_path("busy.drep");
    drep_file *f;

    no_rows(path);
    for (int i = 0; i < 2; i++) {
        lock_errno = i ? EACCES : EAGAIN;
        fails(drep_open(path, DREP_RDWR, NULL, &f), DREP_ERR_FILE_IN_USE);
        ck_assert_msg(strstr(drep_error(), "drep_lock=false") && strstr(drep_error(), path) &&
                          strstr(drep_error(), "drep_lock_wait=SECONDS"),
                      "%s", drep_error());
        fails(drep_create(path, DREP_RDWR, "native", NULL, &f), DREP_ERR_FILE_IN_USE);
    }
    lock_errno = 0;
    unlink(path);
}
END_TEST

/* ---- waiting ---- */

static drep_file *writer(const char *path, const char *wait)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    drep_file *f;

    if (wait)
        ok(drep_info_set(info, "drep_lock_wait", wait));
    ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
    return f;
}

static int tried(const char *path, const char *wait, int64_t *ns)
{
    drep_info *info = hints((char *)NULL);
    drep_file *f = NULL;
    int64_t from = now_ns();
    int err;

    if (wait)
        ok(drep_info_set(info, "drep_lock_wait", wait));
    err = drep_open(path, DREP_RDWR, info, &f);
    *ns = now_ns() - from;
    drep_info_free(info);
    drep_abandon(f);
    return err;
}

/* Nobody waits by default, and nobody longer than was asked for. */
START_TEST(test_the_wait_is_bounded)
{
    static const char *const none[] = {NULL, "0", "-1", "x", "1.", ".5", "1e3", "5 "};
    const char *path = temp_path("bound.drep");
    drep_file *f;
    int64_t ns;

    no_rows(path);
    f = writer(path, NULL);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_int_eq(tried(path, none[i], &ns), DREP_ERR_FILE_IN_USE);
        ck_assert_ptr_nonnull(strstr(drep_error(), "drep_lock=false"));
    }
    ck_assert_int_eq(tried(path, "0.15", &ns), DREP_ERR_FILE_IN_USE);
    ck_assert_int_ge(ns, 150000000);
    ck_assert_msg(strstr(drep_error(), "0.15 s"), "%s", drep_error());
    ok(drep_close(f));
    ck_assert_int_eq(tried(path, "99999999999999999999", &ns), 0);
    unlink(path);
}
END_TEST

/* Fork; the child runs once the parent lets it.  Check's asserts abort a child by exit(1). */
static pid_t child_waits(int go[2])
{
    pid_t pid = fork();
    char c;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &c, 1) < 0)
            _exit(2);
    }
    return pid;
}

static void ended_well(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process ended with %x", status);
}

/* Open, append and close again and again; without Check, as failures belong to the parent. */
static int append_rows(const char *path, int process, int rows)
{
    drep_info *info = hints("drep_sync=none", "drep_lock_wait=60", (char *)NULL);

    for (int i = 0; i < rows; i++) {
        int64_t value = (int64_t)process << 32 | i;
        drep_dataset *ds = NULL;
        drep_file *f;
        int err = drep_open(path, DREP_RDWR, info, &f);

        if (!err)
            err = drep_dataset_open(f, "/d", &ds);
        if (!err)
            err = drep_append(ds, 0, 1, DREP_INT64_T, &value, NULL);
        drep_dataset_close(ds);
        if (!err)
            err = drep_close(f);
        if (err) {
            fprintf(stderr, "process %d, row %d: error %d: %s\n", process, i, err, drep_error());
            return 1;
        }
    }
    drep_info_free(info);
    return 0;
}

/* No row is lost, and each process has its own in order. */
START_TEST(test_processes_take_turns)
{
    int processes = 2 + 2 * _i, rows = getenv("LOCK_ROWS") ? atoi(getenv("LOCK_ROWS")) : ROWS;
    const char *path = temp_path("turns.drep");
    int64_t all = (int64_t)processes * rows, *value = calloc((size_t)all, sizeof *value), from;
    int done[PROCESSES_MOST] = {0};
    pid_t pid[PROCESSES_MOST];
    int go[2];

    no_rows(path);
    ck_assert_int_eq(pipe(go), 0);
    for (int p = 0; p < processes; p++) {
        pid[p] = child_waits(go);
        if (pid[p] == 0)
            _exit(append_rows(path, p, rows));
    }
    from = now_ns();
    close(go[0]);
    close(go[1]);
    for (int p = 0; p < processes; p++) {
        ended_well(pid[p]);
        if (getenv("LOCK_ROWS"))
            printf("# %d processes, %d rows each: process %d ended within %.2f s\n", processes,
                   rows, p, (double)(now_ns() - from) / 1e9);
    }
    ck_assert_int_eq(rows_of(path, value, all), all);
    for (int64_t i = 0; i < all; i++) {
        int p = (int)(value[i] >> 32);

        ck_assert_int_lt(p, processes);
        ck_assert_int_eq((int)(value[i] & 0xffffffff), done[p]);
        done[p]++;
    }
    free(value);
    unlink(path);
}
END_TEST

/* Wait until somebody has the n-th number. */
static void wait_for_waiter(const char *path, int n)
{
    struct flock l = {.l_type = F_WRLCK,
                      .l_whence = SEEK_SET,
                      .l_start = (off_t)(FMT_LOCK_WRITER - ((uint64_t)1 << 32)) + n,
                      .l_len = 1};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct flock now;

    for (int i = 0; i < 20000; i++) {
        now = l;
        ck_assert_int_eq(fcntl(fd, F_OFD_GETLK, &now), 0);
        if (now.l_type != F_UNLCK)
            break;
        usleep(500);
    }
    ck_assert_int_ne(now.l_type, F_UNLCK);
    close(fd);
}

/* Waiters come in as they arrived, however often each has looked. */
START_TEST(test_the_order_of_arrival)
{
    const char *path = temp_path("order.drep");
    int64_t value[PROCESSES_MOST];
    pid_t pid[PROCESSES_MOST];
    drep_file *f;

    no_rows(path);
    f = writer(path, NULL);
    for (int p = 0; p < PROCESSES_MOST; p++) {
        pid[p] = fork();
        ck_assert_int_ge(pid[p], 0);
        if (pid[p] == 0)
            _exit(append_rows(path, p, 1));
        wait_for_waiter(path, p);
    }
    ok(drep_close(f));
    for (int p = 0; p < PROCESSES_MOST; p++)
        ended_well(pid[p]);
    ck_assert_int_eq(rows_of(path, value, PROCESSES_MOST), PROCESSES_MOST);
    for (int p = 0; p < PROCESSES_MOST; p++)
        ck_assert_int_eq(value[p] >> 32, p);
    unlink(path);
}
END_TEST

/* A waiter that is killed is in nobody's way; readers come and go meanwhile. */
START_TEST(test_a_waiter_dies)
{
    const char *path = temp_path("dies.drep");
    drep_file *f;
    int go[2];
    pid_t first, second;

    no_rows(path);
    f = writer(path, NULL);
    ck_assert_int_eq(pipe(go), 0);
    first = child_waits(go);
    if (first == 0)
        _exit(append_rows(path, 0, 1));
    close(go[0]);
    close(go[1]);
    wait_for_waiter(path, 0);
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    ck_assert_int_eq(pipe(go), 0);
    second = child_waits(go);
    if (second == 0)
        _exit(append_rows(path, 1, 3));
    close(go[0]);
    close(go[1]);
    wait_for_waiter(path, 0);
    ck_assert_int_eq(rows_of(path, NULL, 0), 0);
    one_row(f, -1);
    ok(drep_close(f));
    ended_well(second);
    ck_assert_int_eq(rows_of(path, NULL, 0), 4);
    unlink(path);
}
END_TEST

/* A writer that is killed leaves its last commit, and those that wait come in as they came. */
START_TEST(test_the_holder_dies)
{
    const char *path = temp_path("holder.drep");
    int64_t value[3] = {0};
    pid_t holder, pid[2];
    int ready[2];
    char c;

    no_rows(path);
    ck_assert_int_eq(pipe(ready), 0);
    holder = fork();
    ck_assert_int_ge(holder, 0);
    if (holder == 0) {
        drep_file *f = writer(path, NULL);

        one_row(f, -1);
        if (drep_commit(f))
            _exit(1);
        one_row(f, -2); /* which is not committed */
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    for (int p = 0; p < 2; p++) {
        pid[p] = fork();
        ck_assert_int_ge(pid[p], 0);
        if (pid[p] == 0)
            _exit(append_rows(path, p, 1));
        wait_for_waiter(path, p);
    }
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    ended_well(pid[0]);
    ended_well(pid[1]);
    close(ready[0]);
    close(ready[1]);
    ck_assert_int_eq(rows_of(path, value, 3), 3);
    ck_assert(value[0] == -1 && value[1] >> 32 == 0 && value[2] >> 32 == 1);
    unlink(path);
}
END_TEST

/* Of processes that append, some are killed at any moment, waiting or writing: the others take all
 * their turns, and of each killed one there are the first rows, in order. */
START_TEST(test_killed_in_the_middle)
{
    enum { ALL = 6, KILLED = 3, EACH = 200 };
    const char *path = temp_path("killed.drep");
    int64_t *value = calloc(ALL * EACH, sizeof *value), n;
    int done[ALL] = {0};
    pid_t pid[ALL];

    no_rows(path);
    for (int p = 0; p < ALL; p++) {
        pid[p] = fork();
        ck_assert_int_ge(pid[p], 0);
        if (pid[p] == 0)
            _exit(append_rows(path, p, p < KILLED ? 1 << 30 : EACH));
    }
    for (int p = 0; p < KILLED; p++) {
        usleep(7000 + 5300 * (unsigned)p);
        kill(pid[p], SIGKILL);
        waitpid(pid[p], NULL, 0);
    }
    for (int p = KILLED; p < ALL; p++)
        ended_well(pid[p]);
    n = rows_of(path, NULL, 0);
    ck_assert_int_le(n, ALL * EACH);
    ck_assert_int_eq(rows_of(path, value, n), n);
    for (int64_t i = 0; i < n; i++) {
        int p = (int)(value[i] >> 32);

        ck_assert(p >= 0 && p < ALL);
        ck_assert_int_eq((int)(value[i] & 0xffffffff), done[p]);
        done[p]++;
    }
    for (int p = KILLED; p < ALL; p++)
        ck_assert_int_eq(done[p], EACH);
    free(value);
    unlink(path);
}
END_TEST

/* Who waits for a file that is replaced meanwhile gets the new one. */
START_TEST(test_the_file_is_replaced)
{
    const char *path = temp_path("new.drep");
    int64_t new = 0;
    drep_file *f;
    int go[2];
    pid_t pid;

    no_rows(path);
    f = new_file(path, "external32");
    ck_assert_int_eq(pipe(go), 0);
    pid = child_waits(go);
    if (pid == 0)
        _exit(append_rows(path, 7, 2));
    close(go[0]);
    close(go[1]);
    wait_for_waiter(path, 0);
    ok(drep_dataset_create(f, "/d",
                           &DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = (int64_t[]){0},
                                      .maxdims = (int64_t[]){-1}, .layout = DREP_CHUNKED,
                                      .chunk = (int64_t[]){8}),
                           NULL));
    ok(drep_attr_write_int64(f, "/", "new", 1));
    ok(drep_close(f));
    ended_well(pid);
    ck_assert_int_eq(rows_of(path, NULL, 0), 2);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_attr_read(f, "/", "new", DREP_INT64_T, &new));
    ok(drep_close(f));
    unlink(path);
}
END_TEST

/* One that replaces the file waits for its writer too, whose last commit is not lost. */
START_TEST(test_replacing_waits)
{
    const char *path = temp_path("over.drep");
    drep_info *info = hints("drep_lock_wait=60", "drep_sync=none", (char *)NULL);
    drep_info *short_wait = hints("drep_lock_wait=0.15", (char *)NULL);
    drep_file *f, *new;
    int64_t from;
    int go[2];
    pid_t pid;

    no_rows(path);
    f = writer(path, NULL);
    from = now_ns();
    fails(drep_create(path, DREP_RDWR, "native", short_wait, &new), DREP_ERR_FILE_IN_USE);
    ck_assert_int_ge(now_ns() - from, 150000000);
    ck_assert_msg(strstr(drep_error(), "0.15 s"), "%s", drep_error());
    ok(drep_close(f));
    drep_info_free(short_wait);
    ck_assert_int_eq(pipe(go), 0);
    pid = child_waits(go);
    if (pid == 0) {
        if (drep_open(path, DREP_RDWR, info, &f))
            _exit(1);
        usleep(100000);
        _exit(drep_attr_write_int64(f, "/", "late", 1) || drep_close(f));
    }
    close(go[0]);
    close(go[1]);
    while (tried(path, NULL, &(int64_t){0}) == 0) /* until it has the lock */
        usleep(1000);
    ok(drep_create(path, DREP_RDWR, "native", info, &new));
    ok(drep_close(new));
    ended_well(pid);
    drep_info_free(info);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("locks");
    TCase *tc = tcase_create("locks");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_any_other_error_means_no_locks);
    tcase_add_test(tc, test_contention_names_the_hints);
    tcase_add_test(tc, test_the_wait_is_bounded);
    tcase_add_loop_test(tc, test_processes_take_turns, 0, 2);
    tcase_add_test(tc, test_the_order_of_arrival);
    tcase_add_test(tc, test_a_waiter_dies);
    tcase_add_test(tc, test_the_holder_dies);
    tcase_add_test(tc, test_killed_in_the_middle);
    tcase_add_test(tc, test_the_file_is_replaced);
    tcase_add_test(tc, test_replacing_waits);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
