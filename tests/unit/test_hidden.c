/* test_hidden.c - what a killed process leaves, and who removes it. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include "base/hidden.h"
#include "tools/host/outfile.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MAKERS = 4, MAKES = 60 };

/* Hidden files in the directory of this process; the last one's name. */
static int hidden_files(char name[HIDDEN_NAME])
{
    struct dirent *e;
    DIR *dir;
    int n = 0;

    temp_path("x");
    dir = opendir(temp_dir);
    ck_assert_ptr_nonnull(dir);
    while ((e = readdir(dir)) != NULL) {
        if (!hidden_is(e->d_name))
            continue;
        n++;
        if (name)
            memcpy(name, e->d_name, HIDDEN_NAME);
    }
    closedir(dir);
    return n;
}

static void make_one(const char *path)
{
    ok(drep_close(new_file(path, "native")));
}

/* A process that begins a file and waits to be killed; by the library, or as the command does. */
static pid_t maker(const char *path, bool command, const char *lock)
{
    int ready[2];
    pid_t pid;
    char c;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        drep_info *info = hints("drep_sync=none", (char *)NULL);
        struct outfile out;
        drep_file *f;

        drep_info_set(info, "drep_lock", lock);
        if (command ? outfile_open(&out, path, false) != 0
                    : drep_create(path, DREP_RDWR, "native", info, &f) != 0)
            _exit(1);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(2);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return pid;
}

static void kill_it(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* What is left over stays while its owner lives, whatever that one's hints are, and is removed by
 * the next file that anybody makes there. */
START_TEST(test_left_over)
{
    const char *path = temp_path("unfinished"), *other = temp_path("other.drep");
    bool command = _i % 2;
    const char *lock = _i < 2 ? "true" : "false";
    struct outfile out;
    pid_t pid = maker(path, command, lock);

    ck_assert_int_eq(hidden_files(NULL), 1);
    make_one(other);
    ck_assert_int_eq(hidden_files(NULL), 1);
    kill_it(pid);
    ck_assert_int_eq(hidden_files(NULL), 1);
    if (_i == 3) {
        ck_assert_int_eq(outfile_open(&out, other, false), 0);
        ck_assert_int_eq(outfile_close(&out, true), 0);
    } else {
        make_one(other);
    }
    ck_assert_int_eq(hidden_files(NULL), 0);
    ck_assert(!temp_exists(path));
    unlink(other);
}
END_TEST

/* Only regular files with exactly such names. */
START_TEST(test_other_files_stay)
{
    static const char *const names[] = {".drep-0123456789abcde.tmp", ".drep-0123456789abcdeF.tmp",
                                        ".drep-0123456789abcdef.tmp2", "drep-0123456789abcdef.tmp"};
    char path[300], user[300], other[300]; /* temp_path() keeps four at once */

    snprintf(other, sizeof other, "%s", temp_path("other.drep"));
    snprintf(user, sizeof user, "%s", temp_path("user"));
    fclose(fopen(user, "w"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fclose(fopen(temp_path(names[i]), "w"));
    snprintf(path, sizeof path, "%s", temp_path(".drep-00000000000000aa.tmp"));
    ck_assert_int_eq(symlink(user, path), 0);
    ck_assert_int_eq(mkdir(temp_path(".drep-00000000000000bb.tmp"), 0700), 0);
    ck_assert_int_eq(mkfifo(temp_path(".drep-00000000000000cc.tmp"), 0600), 0);
    fclose(fopen(temp_path(".drep-00000000000000dd.tmp"), "w")); /* as one that was killed early */
    make_one(other);
    ck_assert_int_eq(hidden_files(NULL), 3);
    ck_assert(temp_exists(user) && !temp_exists(temp_path(".drep-00000000000000dd.tmp")));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(unlink(temp_path(names[i])), 0);
    unlink(path);
    rmdir(temp_path(".drep-00000000000000bb.tmp"));
    unlink(temp_path(".drep-00000000000000cc.tmp"));
    unlink(other);
    unlink(user);
}
END_TEST

/* A file whose lock another program has is in use, whoever made it. */
START_TEST(test_a_lock_protects)
{
    const char *path = temp_path(".drep-00000000000000ee.tmp"), *other = temp_path("other.drep");
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    l.l_start = (off_t)HIDDEN_LOCK;
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &l), 0);
    make_one(other);
    ck_assert_int_eq(hidden_files(NULL), 1);
    close(fd);
    make_one(other);
    ck_assert_int_eq(hidden_files(NULL), 0);
    unlink(other);
}
END_TEST

/* Each of these makes files while the others sweep. */
START_TEST(test_makers_meet_sweepers)
{
    pid_t pid[MAKERS];

    for (int p = 0; p < MAKERS; p++) {
        char path[300];

        snprintf(path, sizeof path, "%s/own%d", (temp_path("x"), temp_dir), p);
        pid[p] = fork();
        ck_assert_int_ge(pid[p], 0);
        for (int i = 0; pid[p] == 0 && i < MAKES; i++) {
            drep_file *f;

            if (drep_create(path, DREP_RDWR, "native", NULL, &f) || drep_close(f)) {
                fprintf(stderr, "%s: %s\n", path, drep_error());
                _exit(1);
            }
        }
        if (pid[p] == 0)
            _exit(0);
    }
    for (int p = 0; p < MAKERS; p++) {
        int status;

        ck_assert_int_eq(waitpid(pid[p], &status, 0), pid[p]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(hidden_files(NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hidden");
    TCase *tc = tcase_create("hidden");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_left_over, 0, 4);
    tcase_add_test(tc, test_other_files_stay);
    tcase_add_test(tc, test_a_lock_protects);
    tcase_add_test(tc, test_makers_meet_sweepers);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
