/* test_data_fork.c - handles in a child process: one that writes stays the parent's, one that
 * reads goes on with a lock of its own, and nothing that the child does touches the parent's
 * file or locks. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LEN = 20000 };

static drep_info *no_sync(void)
{
    return hints("drep_sync=none", (char *)NULL);
}

/* In the child: the line of the first thing that is not so. */
#define WANT(condition)                                                               \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "line %d: " #condition ": %s\n", __LINE__, drep_error()); \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

static pid_t child_begin(int (*fn)(void *), void *ctx)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(60);
        _exit(fn(ctx));
    }
    return pid;
}

static void child_end(pid_t pid)
{
    int status = -1;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static void in_child(int (*fn)(void *), void *ctx)
{
    child_end(child_begin(fn, ctx));
}

static int write_all(drep_dataset *ds, double value)
{
    static _Thread_local double v[LEN];

    for (int i = 0; i < LEN; i++)
        v[i] = value;
    return drep_write(ds, NULL, DREP_DOUBLE, v, NULL);
}

/* All elements are `value`; or, if it is negative, all are alike. */
static int holds(drep_dataset *ds, double value)
{
    static _Thread_local double v[LEN];

    if (drep_read(ds, NULL, DREP_DOUBLE, v, NULL) != 0)
        return 0;
    for (int i = 0; i < LEN; i++)
        if (v[i] != (value < 0 ? v[0] : value))
            return 0;
    return 1;
}

static drep_file *make(const char *path, drep_dataset **ds)
{
    const int64_t len = LEN;
    drep_file *f = new_file(path, "native");

    *ds = new_dataset(f, "a", DREP_DOUBLE, 1, &len);
    ok(write_all(*ds, 1));
    ok(drep_attr_write_string(f, "/", "text", "some"));
    return f;
}

static void make_committed(const char *path)
{
    drep_dataset *ds;
    drep_file *f = make(path, &ds);

    drep_dataset_close(ds);
    ok(drep_close(f));
}

struct both {
    drep_file *f;
    drep_dataset *ds;
    const char *path;
};

/* ---- a handle that writes ---- */

static int never(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    (void)ctx;
    return 99;
}

static int try_writer(void *ctx)
{
    enum { USED = DREP_ERR_FILE_IN_USE };
    const struct both *b = ctx;
    const int64_t len = 3;
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &len);
    drep_header h = DREP_HEADER;
    drep_objinfo o = DREP_OBJINFO;
    drep_dsinfo d = DREP_DSINFO;
    drep_info *info;
    drep_view *view;
    int64_t n;
    double v[LEN];

    WANT(drep_commit(b->f) == USED && strstr(drep_error(), "process") != NULL);
    WANT(write_all(b->ds, 2) == USED);
    WANT(drep_read(b->ds, NULL, DREP_DOUBLE, v, NULL) == USED);
    WANT(drep_group_create(b->f, "g", 0) == USED);
    WANT(drep_dataset_create(b->f, "d", &spec, NULL) == USED);
    WANT(drep_stat(b->f, "/", &o) == USED);
    WANT(drep_list(b->f, "/", DREP_BY_NAME, never, NULL) == USED);
    WANT(drep_header_get(b->f, &h) == USED);
    WANT(drep_get_info(b->f, &info) == USED);
    WANT(drep_refresh(b->f) == USED);
    WANT(drep_seal(b->f, &n) == USED);
    WANT(drep_check(b->f, 1, NULL, NULL, &n) == USED);
    WANT(drep_dataset_info(b->ds, &d) == USED);
    WANT(drep_view_dataset(b->ds, &view) == USED);
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == USED);
    return 0;
}

static int close_at_once(void *ctx)
{
    const struct both *b = ctx;

    drep_dataset_close(b->ds);
    drep_abandon(b->f);
    return 0;
}

/* The parent's lock is there still. */
static int is_locked(void *ctx)
{
    drep_file *g;

    WANT(drep_open(ctx, DREP_RDWR, NULL, &g) == DREP_ERR_FILE_IN_USE);
    return 0;
}

static double value_at(const char *path)
{
    drep_file *f;
    drep_dataset *ds;
    double v[LEN];

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "a", &ds));
    ok(drep_read(ds, NULL, DREP_DOUBLE, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    return v[0];
}

START_TEST(test_a_writer_stays_with_its_process)
{
    struct both b = {.path = temp_path("writer")};

    b.f = make(b.path, &b.ds);
    /* Before the first commit the temporary file is the parent's. */
    in_child(try_writer, &b);
    in_child(close_at_once, &b);
    ck_assert(!temp_exists(b.path));
    for (int i = 2; i < 6; i++) {
        ok(write_all(b.ds, i));
        in_child(i % 2 ? try_writer : close_at_once, &b);
        ok(drep_commit(b.f));
        in_child(is_locked, (void *)b.path);
        ck_assert(value_at(b.path) == i);
    }
    check_file(b.f);
    drep_dataset_close(b.ds);
    ok(drep_close(b.f));
    ck_assert(value_at(b.path) == 5);
}
END_TEST

static int sleep_on(void *ctx)
{
    char c;

    WANT(read(*(int *)ctx, &c, 1) == 0);
    return 0;
}

/* A child that holds the descriptors for long, as one that does something else does. */
START_TEST(test_closing_frees_the_lock)
{
    struct both b = {.path = temp_path("freed")};
    int ends[2];
    drep_file *f;
    pid_t pid;

    b.f = make(b.path, &b.ds);
    ok(drep_commit(b.f));
    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[1]);
        alarm(60);
        _exit(sleep_on(&ends[0]));
    }
    drep_dataset_close(b.ds);
    ok(drep_close(b.f));
    ok(drep_open(b.path, DREP_RDWR, NULL, &f));
    ok(drep_close(f));
    close(ends[1]);
    child_end(pid);
    close(ends[0]);
}
END_TEST

static int use_memory(void *ctx)
{
    const struct both *b = ctx;

    WANT(drep_commit(b->f) == DREP_ERR_FILE_IN_USE);
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == DREP_ERR_FILE_IN_USE);
    return 0;
}

static int use_image(void *ctx)
{
    const struct both *b = ctx;

    WANT(holds(b->ds, 1));
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == 0);
    return 0;
}

/* Memory that grows is like a file; an image is the child's own copy. */
START_TEST(test_memory)
{
    struct both b = {.ds = NULL};
    const char *path = temp_path("image");
    struct stat s;
    void *image;
    int fd;

    b.f = make(":memory:", &b.ds);
    in_child(use_memory, &b);
    ok(drep_commit(b.f));
    ck_assert(holds(b.ds, 1));
    drep_dataset_close(b.ds);
    ok(drep_close(b.f));

    make_committed(path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert(fd >= 0 && fstat(fd, &s) == 0);
    image = malloc((size_t)s.st_size);
    ck_assert(read(fd, image, (size_t)s.st_size) == s.st_size);
    close(fd);
    ok(drep_open_image(image, (size_t)s.st_size, NULL, &b.f));
    ok(drep_dataset_open(b.f, "a", &b.ds));
    in_child(use_image, &b);
    ck_assert(holds(b.ds, 1));
    drep_dataset_close(b.ds);
    ok(drep_close(b.f));
    free(image);
}
END_TEST

/* ---- a handle that reads ---- */

static int read_some(void *ctx)
{
    const struct both *b = ctx;
    drep_dataset *again;
    drep_file *f;
    char *text;

    WANT(holds(b->ds, 1));
    WANT(drep_dataset_open(b->f, "a", &again) == 0 && again == b->ds);
    drep_dataset_close(again);
    WANT(drep_attr_read(b->f, "/", "text", NULL, &text) == 0 && strcmp(text, "some") == 0);
    free(text);
    WANT(drep_open(b->path, DREP_RDONLY, NULL, &f) == 0);
    WANT(drep_close(f) == 0);
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == 0);
    return 0;
}

static int read_in_grandchild(void *ctx)
{
    const struct both *b = ctx;
    pid_t pid;
    int status = -1;

    WANT(holds(b->ds, 1));
    pid = fork();
    WANT(pid >= 0);
    if (pid == 0)
        _exit(read_some(ctx));
    WANT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    WANT(holds(b->ds, 1));
    return read_some(ctx);
}

/* Commits until all space that may be used again was. */
static void write_over(const char *path)
{
    drep_info *info = no_sync();
    drep_dataset *ds;
    drep_file *f;

    ok(drep_open(path, DREP_RDWR, info, &f));
    ok(drep_dataset_open(f, "a", &ds));
    for (int i = 0; i < 12; i++) {
        ok(write_all(ds, 100 + i));
        ok(drep_commit(f));
    }
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_info_free(info);
}

static void open_both(struct both *b)
{
    ok(drep_open(b->path, DREP_RDONLY, NULL, &b->f));
    ok(drep_dataset_open(b->f, "a", &b->ds));
}

static void close_both(struct both *b)
{
    drep_dataset_close(b->ds);
    ok(drep_close(b->f));
}

START_TEST(test_a_reader_goes_on_in_the_child)
{
    struct both b = {.path = temp_path("reader")};
    char c;
    int ends[2], locked[2];
    pid_t pid;

    make_committed(b.path);
    open_both(&b);
    in_child(read_some, &b);
    in_child(read_in_grandchild, &b);
    ck_assert(holds(b.ds, 1));
    /* The writer goes far ahead; the parent's lock, then the child's, keep the commit. */
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pipe(locked), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[1]);
        alarm(60);
        if (!holds(b.ds, 1) || write(locked[1], "l", 1) != 1)
            _exit(3);
        _exit(read(ends[0], &c, 1) != 1 || read_some(&b) != 0);
    }
    close(locked[1]);
    ck_assert_int_eq(read(locked[0], &c, 1), 1); /* the child has a lock of its own */
    close(locked[0]);
    write_over(b.path);
    ck_assert(holds(b.ds, 1));
    in_child(read_some, &b); /* not in the log any more, but locked all the time */
    close_both(&b);
    write_over(b.path);
    ck_assert_int_eq(write(ends[1], "g", 1), 1);
    child_end(pid);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

static int find_it_gone(void *ctx)
{
    const struct both *b = ctx;
    double v[LEN];

    WANT(drep_read(b->ds, NULL, DREP_DOUBLE, v, NULL) == DREP_ERR_STALE);
    WANT(drep_refresh(b->f) == DREP_ERR_STALE);
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == 0);
    return 0;
}

/* A child that comes too late: the parent gave its lock up, and the writer went on. */
START_TEST(test_a_commit_that_is_gone)
{
    struct both b = {.path = temp_path("late")};
    char c;
    int ends[2];
    pid_t pid;

    make_committed(b.path);
    open_both(&b);
    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(60);
        _exit(read(ends[0], &c, 1) != 1 || find_it_gone(&b) != 0);
    }
    close_both(&b);
    write_over(b.path);
    ck_assert_int_eq(write(ends[1], "g", 1), 1);
    child_end(pid);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

static int chdir_and_read(void *ctx)
{
    WANT(chdir("/") == 0);
    return read_some(ctx);
}

/* What became of the path does not matter, where the system can open a file by its descriptor. */
START_TEST(test_paths_that_lead_elsewhere)
{
    struct both b = {.path = temp_path("elsewhere")};

    make_committed(b.path);
    open_both(&b);
    in_child(chdir_and_read, &b);
    if (access("/proc/self/fd", X_OK) == 0) {
        ck_assert_int_eq(unlink(b.path), 0);
        make_committed(b.path);
        in_child(read_some, &b);
    }
    close_both(&b);
}
END_TEST

/* ---- parents with threads ---- */

static atomic_int stop, bad;

static void *read_on(void *ctx)
{
    while (!stop)
        bad += !holds(((struct both *)ctx)->ds, -1);
    return NULL;
}

static void *write_on(void *ctx)
{
    const struct both *b = ctx;

    for (int i = 0; !stop; i++)
        bad += write_all(b->ds, i) != 0 || (i % 3 == 0 && drep_commit(b->f) != 0);
    return NULL;
}

static int many_reads(void *ctx)
{
    const struct both *b = ctx;

    for (int i = 0; i < 20; i++)
        WANT(holds(b->ds, 1));
    drep_dataset_close(b->ds);
    WANT(drep_close(b->f) == 0);
    return 0;
}

/* Whatever the other threads were at. */
static int refused(void *ctx)
{
    const struct both *b = ctx;

    WANT(drep_commit(b->f) == DREP_ERR_FILE_IN_USE);
    WANT(write_all(b->ds, 3) == DREP_ERR_FILE_IN_USE);
    WANT(drep_close(b->f) == DREP_ERR_FILE_IN_USE);
    return 0;
}

/* Workers of several children read the same handles, as Python's multiprocessing has it. */
START_TEST(test_parents_with_threads)
{
    enum { FORKS = 12, TOGETHER = 3 };
    struct both r = {.path = temp_path("threads-r")}, w = {.path = temp_path("threads-w")};
    pthread_t thread[4];
    pid_t pid[TOGETHER];

    make_committed(r.path);
    open_both(&r);
    w.f = make(w.path, &w.ds);
    ok(drep_commit(w.f));
    stop = bad = 0;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(
            pthread_create(&thread[i], NULL, i < 3 ? read_on : write_on, i < 2 ? &r : &w), 0);
    for (int i = 0; i < FORKS; i++) {
        for (int k = 0; k < TOGETHER; k++)
            pid[k] = child_begin((i + k) % 2 ? many_reads : refused, (i + k) % 2 ? &r : &w);
        for (int k = 0; k < TOGETHER; k++)
            child_end(pid[k]);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(bad, 0);
    check_file(w.f);
    close_both(&r);
    close_both(&w);
}
END_TEST

static int from_callback(const drep_linkinfo *link, void *ctx)
{
    const struct both *b = ctx;

    (void)link;
    in_child(b->ds != NULL ? many_reads : close_at_once, ctx);
    return 0;
}

/* A callback may fork; the child is told of no half call. */
START_TEST(test_forks_in_callbacks)
{
    struct both b = {.path = temp_path("callback")};

    make_committed(b.path);
    open_both(&b);
    ok(drep_list(b.f, "/", DREP_BY_NAME, from_callback, &b));
    ck_assert(holds(b.ds, 1));
    close_both(&b);
}
END_TEST

/* ---- exec ---- */

/* No descriptor of ours survives: 3 to 99 are closed, but for those that were open before. */
START_TEST(test_nothing_passes_through_exec)
{
    struct both b = {.path = temp_path("exec")};
    const char *old = temp_path("exec-old");
    drep_file *over, *raw_file;
    drep_view *raw;
    drep_info *info = hints("drep_external=true", "drep_pack=true", "drep_sync=none", (char *)NULL);

    make_committed(old);
    make_committed(b.path);
    ok(drep_open(b.path, DREP_RDWR, info, &b.f));
    ok(drep_create(old, DREP_RDWR, "native", info, &over));
    ok(drep_open(b.path, DREP_RDONLY, info, &raw_file));
    ok(drep_view_raw(temp_path("exec-raw"), DREP_RDWR, NULL, &raw));
    for (int fd = 3; fd < 100; fd++) {
        int flags = fcntl(fd, F_GETFD);
        char name[40], target[300];
        ssize_t n;

        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        n = flags < 0 ? -1 : readlink(name, target, sizeof target - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        if (strncmp(target, temp_dir, strlen(temp_dir)) == 0)
            ck_assert_msg(flags & FD_CLOEXEC, "%s", target);
    }
    ok(drep_view_close(raw));
    ok(drep_close(raw_file));
    drep_abandon(over);
    ok(drep_close(b.f));
    drep_info_free(info);
}
END_TEST

/* The locks of a sanitizer's allocator stay locked in the child of a process with threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WITH_THREADS = 0 };
#else
enum { WITH_THREADS = 1 };
#endif

int main(void)
{
    Suite *s = suite_create("data fork");
    TCase *t = tcase_create("fork");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_a_writer_stays_with_its_process);
    tcase_add_test(t, test_closing_frees_the_lock);
    tcase_add_test(t, test_memory);
    tcase_add_test(t, test_a_reader_goes_on_in_the_child);
    tcase_add_test(t, test_a_commit_that_is_gone);
    tcase_add_test(t, test_paths_that_lead_elsewhere);
    tcase_add_loop_test(t, test_parents_with_threads, 0, WITH_THREADS);
    tcase_add_test(t, test_forks_in_callbacks);
    tcase_add_test(t, test_nothing_passes_through_exec);
    suite_add_tcase(s, t);
    return run_suite(s);
}
