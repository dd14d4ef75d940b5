/* test_data_replace.c - files that are replaced, removed or moved while somebody has them open:
 * a commit that succeeds is at the path, and nobody replaces what a writer holds. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static drep_info *no_sync(void)
{
    return hints("drep_sync=none", (char *)NULL);
}

static int make(const char *path, drep_file **f)
{
    drep_info *info = no_sync();
    int err = drep_create(path, DREP_RDWR, "native", info, f);

    drep_info_free(info);
    return err;
}

static void make_committed(const char *path, int value)
{
    drep_file *f;

    ok(make(path, &f));
    ok(drep_attr_write_int64(f, "/", "value", value));
    ok(drep_close(f));
}

static int64_t value_of(drep_file *f)
{
    int64_t v = -1;

    ok(drep_attr_read(f, "/", "value", DREP_INT64_T, &v));
    return v;
}

static int64_t value_at(const char *path)
{
    drep_file *f;
    int64_t v;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    v = value_of(f);
    ok(drep_close(f));
    return v;
}

/* ---- another process that holds a file ---- */

struct holder {
    pid_t pid;
    int go, ready; /* pipes: one byte each way */
};

static void hold_file(const char *path, int create, int go, int ready)
{
    drep_file *f = NULL;
    char c;
    int err = create ? make(path, &f) : drep_open(path, DREP_RDWR, NULL, &f);

    if (err == 0)
        err = drep_attr_write_int64(f, "/", "value", 7);
    if (err == 0)
        err = drep_commit(f);
    if (err != 0 || write(ready, "r", 1) != 1 || read(go, &c, 1) != 1)
        _exit(1);
    err = drep_attr_write_int64(f, "/", "value", 8);
    if (err == 0)
        err = drep_close(f);
    _exit(err != 0 || write(ready, "r", 1) != 1);
}

static struct holder holder_begin(const char *path, int create)
{
    int to[2], from[2];
    struct holder h;
    char c;

    ck_assert(pipe(to) == 0 && pipe(from) == 0);
    h.pid = fork();
    ck_assert_int_ge(h.pid, 0);
    if (h.pid == 0)
        hold_file(path, create, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    h.go = to[1];
    h.ready = from[0];
    ck_assert_int_eq(read(h.ready, &c, 1), 1);
    return h;
}

static void holder_end(struct holder *h)
{
    int status = -1;
    char c;

    ck_assert_int_eq(write(h->go, "g", 1), 1);
    ck_assert_int_eq(read(h->ready, &c, 1), 1);
    ck_assert_int_eq(waitpid(h->pid, &status, 0), h->pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(h->go);
    close(h->ready);
}

START_TEST(test_nobody_replaces_what_a_writer_holds)
{
    const char *path = temp_path("held"), *from = temp_path("from");
    struct holder h;
    drep_file *f, *like;

    make_committed(path, 1);
    make_committed(from, 2);
    h = holder_begin(path, 0);
    fails(make(path, &f), DREP_ERR_FILE_IN_USE);
    ck_assert_ptr_nonnull(strstr(drep_error(), path));
    ok(drep_open(from, DREP_RDONLY, NULL, &like));
    fails(drep_create_like(path, DREP_RDWR, like, NULL, &f), DREP_ERR_FILE_IN_USE);
    ok(drep_close(like));
    fails(drep_repair(from, path, 0, NULL, NULL, NULL, NULL), DREP_ERR_FILE_IN_USE);
    holder_end(&h);
    ck_assert_int_eq(value_at(path), 8);
    make_committed(path, 3);
    ck_assert_int_eq(value_at(path), 3);

    /* The same between handles of one process, and while the new one is made. */
    ok(make(path, &f));
    fails(make(path, &like), DREP_ERR_FILE_IN_USE);
    fails(drep_open(path, DREP_RDWR, NULL, &like), DREP_ERR_FILE_IN_USE);
    drep_abandon(f);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    fails(make(path, &like), DREP_ERR_FILE_IN_USE);
    ok(drep_close(f));
}
END_TEST

/* Nothing was there when the file was begun, and a writer is when it is to appear. */
START_TEST(test_a_writer_that_came_first)
{
    const char *path = temp_path("first");
    struct holder h;
    drep_file *f;

    ok(make(path, &f));
    ok(drep_attr_write_int64(f, "/", "value", 5));
    h = holder_begin(path, 1);
    fails(drep_commit(f), DREP_ERR_FILE_IN_USE);
    ok(drep_attr_write_int64(f, "/", "more", 1));
    fails(drep_commit(f), DREP_ERR_FILE_IN_USE);
    holder_end(&h);
    ck_assert_int_eq(value_at(path), 8);
    check_file(f);
    ck_assert_int_eq(value_at(path), 5);
    ok(drep_close(f));

    ok(make(path, &f));
    ck_assert_int_eq(unlink(path), 0);
    make_committed(path, 6);
    ok(drep_attr_write_int64(f, "/", "value", 5));
    ok(drep_close(f));
    ck_assert_int_eq(value_at(path), 5);
}
END_TEST

START_TEST(test_a_writer_whose_file_lost_its_name)
{
    const char *path = temp_path("mine"), *aside = temp_path("aside"), *new = temp_path("new");
    drep_file *f, *reader;

    make_committed(path, 1);
    ok(drep_open(path, DREP_RDONLY, NULL, &reader));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    /* Moved: the commit goes with the file. */
    ck_assert_int_eq(rename(path, aside), 0);
    ok(drep_attr_write_int64(f, "/", "value", 2));
    ok(drep_commit(f));
    ck_assert_int_eq(value_at(aside), 2);
    /* Another one in its place, until it is moved back. */
    make_committed(path, 10);
    ok(drep_attr_write_int64(f, "/", "value", 3));
    fails(drep_commit(f), DREP_ERR_STALE);
    ck_assert_ptr_nonnull(strstr(drep_error(), path));
    ck_assert_int_eq(value_at(path), 10);
    ck_assert_int_eq(rename(aside, path), 0);
    ok(drep_commit(f));
    ck_assert_int_eq(value_at(path), 3);
    /* Moved, and a symbolic link left behind. */
    ck_assert_int_eq(rename(path, aside), 0);
    ck_assert_int_eq(symlink(aside, path), 0);
    ok(drep_attr_write_int64(f, "/", "value", 4));
    ok(drep_commit(f));
    ck_assert_int_eq(value_at(path), 4);
    /* Replaced by another program; the reader goes on. */
    make_committed(new, 11);
    ck_assert_int_eq(rename(new, aside), 0);
    ck_assert_int_eq(rename(aside, path), 0);
    ok(drep_attr_write_int64(f, "/", "value", 5));
    fails(drep_commit(f), DREP_ERR_STALE);
    ck_assert_int_eq(value_of(reader), 1);
    /* Removed. */
    ck_assert_int_eq(unlink(path), 0);
    fails(drep_commit(f), DREP_ERR_STALE);
    fails(drep_close(f), DREP_ERR_STALE);
    ck_assert_int_eq(value_of(reader), 1);
    ok(drep_close(reader));
}
END_TEST

static mode_t mode_of(const char *path)
{
    struct stat s;

    ck_assert_int_eq(lstat(path, &s), 0);
    return s.st_mode & 07777;
}

/* Permissions and owner are those of the file before; symbolic links are followed; other hard
 * links stay with the old file. */
START_TEST(test_what_stays_of_a_replaced_file)
{
    const char *path = temp_path("kept"), *link = temp_path("link"), *hard = temp_path("hard");
    struct stat s;
    drep_file *f;

    umask(022);
    make_committed(path, 1);
    ck_assert_int_eq(mode_of(path), 0644);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(symlink(path, link), 0);
    ck_assert_int_eq(linkat(AT_FDCWD, path, AT_FDCWD, hard, 0), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(path, 1234, 1235), 0);
    make_committed(link, 2);
    ck_assert_int_eq(mode_of(path), 0600);
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert(geteuid() != 0 || (s.st_uid == 1234 && s.st_gid == 1235));
    ck_assert(lstat(link, &s) == 0 && S_ISLNK(s.st_mode));
    ck_assert_int_eq(value_at(path), 2);
    ck_assert_int_eq(value_at(hard), 1);
    /* What changes before the first commit counts. */
    ok(make(path, &f));
    ck_assert_int_eq(chmod(path, 0620), 0);
    ok(drep_close(f));
    ck_assert_int_eq(mode_of(path), 0620);
    ck_assert_int_eq(unlink(hard), 0);
    ck_assert_int_eq(unlink(link), 0);
}
END_TEST

/* The process and the directory may go elsewhere between creation and commit. */
START_TEST(test_names_stay_with_their_directory)
{
    char before[300], after[300], inside[400];
    drep_file *f;
    int home = open(".", O_RDONLY | O_DIRECTORY);

    snprintf(before, sizeof before, "%s", temp_path("before"));
    snprintf(after, sizeof after, "%s", temp_path("after"));
    ck_assert_int_eq(mkdir(before, 0700), 0);
    ck_assert_int_eq(chdir(before), 0);
    ok(make("a.drep", &f));
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rename(before, after), 0);
    ok(drep_attr_write_int64(f, "/", "value", 1));
    ok(drep_commit(f));
    snprintf(inside, sizeof inside, "%s/a.drep", after);
    ck_assert_int_eq(value_at(inside), 1);
    ok(drep_attr_write_int64(f, "/", "value", 2));
    ok(drep_close(f));
    ck_assert_int_eq(value_at(inside), 2);
    ck_assert_int_eq(fchdir(home), 0);
    ck_assert_int_eq(unlink(inside), 0);
    ck_assert_int_eq(rmdir(after), 0);
    close(home);
}
END_TEST

/* ---- many that create and write at one path ---- */

enum { PROCESSES = 4, TURNS = 40, TRIES = 20000 };

static int same_uuid(const char *path, drep_file *f)
{
    drep_header mine = DREP_HEADER, there = DREP_HEADER;
    drep_file *g;
    int same;

    if (drep_open(path, DREP_RDONLY, NULL, &g) != 0)
        return 0;
    same = drep_header_get(f, &mine) == 0 && drep_header_get(g, &there) == 0 &&
           memcmp(mine.uuid, there.uuid, sizeof mine.uuid) == 0 && mine.sequence == there.sequence;
    drep_close(g);
    return same;
}

/* 0 if every commit that gave 0 stood at the path as long as this process held its file. */
static int contend(const char *path, int number)
{
    drep_info *info = no_sync();
    int done = 0;

    for (int i = 0; i < TRIES && done < TURNS; i++) {
        drep_file *f;
        int err = (i + number) % 2 ? make(path, &f) : drep_open(path, DREP_RDWR, info, &f);

        if (err == DREP_ERR_FILE_IN_USE || err == DREP_ERR_NO_SUCH_FILE) {
            usleep(1000);
            continue;
        }
        if (err != 0)
            return 2;
        for (int k = 0; k < 3; k++) {
            if (drep_attr_write_int64(f, "/", "value", k) != 0)
                return 3;
            err = drep_commit(f);
            if (err == DREP_ERR_FILE_IN_USE)
                break;
            if (err != 0)
                return 4;
            if (!same_uuid(path, f))
                return 5;
            done++;
        }
        drep_abandon(f);
    }
    drep_info_free(info);
    return done < TURNS ? 6 : 0;
}

START_TEST(test_commits_are_at_the_path)
{
    const char *path = temp_path("contended");
    pid_t pid[PROCESSES];
    int bad = 0;

    for (int i = 0; i < PROCESSES; i++) {
        pid[i] = fork();
        ck_assert_int_ge(pid[i], 0);
        if (pid[i] == 0) {
            int code = contend(path, i);

            if (code != 0)
                fprintf(stderr, "process %d: %d: %s\n", i, code, drep_error());
            _exit(code);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;

        ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data replace");
    TCase *t = tcase_create("replace");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_nobody_replaces_what_a_writer_holds);
    tcase_add_test(t, test_a_writer_that_came_first);
    tcase_add_test(t, test_a_writer_whose_file_lost_its_name);
    tcase_add_test(t, test_what_stays_of_a_replaced_file);
    tcase_add_test(t, test_names_stay_with_their_directory);
    tcase_add_test(t, test_commits_are_at_the_path);
    suite_add_tcase(s, t);
    return run_suite(s);
}
