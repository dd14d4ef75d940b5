/* test_plugin.c - plugins through the interface: where they are looked for, by how many
 * threads, and what is refused.  The command's side of it is in tests/reps. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A plugin of the build, copied under the name that its representation has. */
static const char *place(const char *built, const char *name)
{
    static char path[700];
    char from[600], own[400], bytes[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    int in, out;

    ck_assert(n > 0);
    own[n] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(from, sizeof from, "%s/../%s.so", own, built);
    snprintf(path, sizeof path, "%s", temp_path(name));
    in = open(from, O_RDONLY);
    out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    ck_assert_msg(in >= 0 && out >= 0, "%s to %s", from, path);
    while ((n = read(in, bytes, sizeof bytes)) > 0)
        ck_assert_int_eq(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
    return path;
}

/* The first of all: nothing is known yet. */
START_TEST(test_a_hint_leads_to_it)
{
    const int64_t dims[] = {3};
    const int in[] = {1, 2, 3};
    const char *path = temp_path("m.drep");
    char dirs[500], plugin[700];
    drep_info *info;
    drep_file *f, *header;
    drep_dataset *ds;
    drep_datarep rep = DREP_DATAREP;
    int out[3];
    drep_view *v;
    int64_t n;

    snprintf(plugin, sizeof plugin, "%s", place("examples/plugin_mirror", "mirror.so"));
    fails(drep_datarep_get("mirror", &rep), DREP_ERR_UNSUPPORTED_DATAREP);
    fails(drep_create(path, 0, "mirror", NULL, &f), DREP_ERR_UNSUPPORTED_DATAREP);
    ok(drep_view_raw(temp_path("raw"), DREP_RDWR, NULL, &v));
    fails(drep_view_set(v, 0, DREP_INT, DREP_INT, "mirror", NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    /* What is not there, or not absolute, is passed over. */
    snprintf(dirs, sizeof dirs, "/nowhere::relative:%s:/", temp_dir);
    info = hints("drep_sync=none", (char *)NULL);
    ok(drep_info_set(info, "drep_plugin_path", dirs));
    ok(drep_view_set(v, 0, DREP_INT, DREP_INT, "mirror", info));
    ok(drep_write_at(v, 0, in, 3, DREP_INT, NULL, &n));
    ok(drep_view_close(v));
    ok(drep_create(path, 0, "mirror", info, &f));
    ds = new_dataset(f, "/x", DREP_INT, 1, dims);
    ok(drep_write(ds, NULL, NULL, in, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, info, &f));
    ok(drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &header));
    ok(drep_close(header));
    ok(drep_dataset_open(f, "/x", &ds));
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert_mem_eq(out, in, sizeof in);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_info_free(info);
    /* Once loaded it is registered, and stays. */
    ok(drep_datarep_get("mirror", &rep));
    fails(drep_register_datarep("mirror", NULL, NULL, native_extent, NULL), DREP_ERR_DUP_DATAREP);
    ok(drep_plugin_load(plugin));
    /* A copy is another object, which finds the name taken. */
    fails(drep_plugin_load(place("examples/plugin_mirror", "copy.so")), DREP_ERR_UNSUPPORTED);
}
END_TEST

/* Filters are found by the same rule: at creation, at opening. */
START_TEST(test_a_filter_too)
{
    const drep_filter xor = {.id = DREP_FILTER_USER, .name = "xor", .nparams = 1, .param = {0x5a}};
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = (int64_t[]){3}, .filters = &xor,
                               .nfilters = 1);
    const int in[] = {1, 2, 3};
    const char *path = temp_path("x.drep");
    drep_dataset *ds;
    drep_info *info;
    drep_file *f;
    int out[3];

    place("examples/plugin_xor", "xor.so");
    ok(drep_create(":memory:", 0, "native", NULL, &f));
    fails(drep_dataset_create(f, "/x", &spec, &ds), DREP_ERR_UNSUPPORTED);
    drep_abandon(f);
    info = hints("drep_sync=none", (char *)NULL);
    ok(drep_info_set(info, "drep_plugin_path", temp_dir));
    if (fork() == 0) { /* another process, so that this one meets the name in the file first */
        ok(drep_create(path, 0, "native", info, &f));
        ok(drep_dataset_create(f, "/x", &spec, &ds));
        ok(drep_write(ds, NULL, NULL, in, NULL));
        drep_dataset_close(ds);
        _exit(drep_close(f));
    }
    ck_assert_int_gt(wait(NULL), 0);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/x", &ds));
    fails(drep_read(ds, NULL, NULL, out, NULL), DREP_ERR_UNSUPPORTED);
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, info, &f));
    ok(drep_dataset_open(f, "/x", &ds));
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert_mem_eq(out, in, sizeof in);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_info_free(info);
}
END_TEST

static void *resolve(void *arg)
{
    drep_datarep rep = DREP_DATAREP;

    return (void *)(intptr_t)drep_datarep_get(arg, &rep);
}

START_TEST(test_threads_find_it_at_once)
{
    pthread_t thread[8];
    void *result;

    place("reps/plugin_gaps", "gaps.so");
    ok(drep_plugin_path(temp_dir));
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, resolve, "gaps"), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], &result);
        ck_assert_int_eq((intptr_t)result, 0);
    }
    ok(drep_plugin_path(NULL));
    place("reps/plugin_unsigned", "unsigned.so");
    ck_assert_int_eq((intptr_t)resolve("unsigned"), DREP_ERR_UNSUPPORTED_DATAREP);
}
END_TEST

START_TEST(test_what_is_refused)
{
    const char *path;
    drep_datarep rep = DREP_DATAREP;

    fails(drep_plugin_path("relative"), DREP_ERR_ARG);
    fails(drep_plugin_path("/absolute:relative"), DREP_ERR_ARG);
    ok(drep_plugin_path("/a:/b::/c"));
    ok(drep_plugin_path(""));
    fails(drep_plugin_load(NULL), DREP_ERR_ARG);
    fails(drep_plugin_load("/no/such/file.so"), DREP_ERR_NO_SUCH_FILE);
    fails(drep_plugin_load("no-such-file.so"), DREP_ERR_NO_SUCH_FILE);
    ck_assert_int_ne(drep_plugin_load("/"), 0);
    path = place("reps/plugin_overlong", "overlong.so");
    ck_assert_int_eq(chmod(path, 0757), 0);
    fails(drep_plugin_load(path), DREP_ERR_ACCESS);
    ck_assert_ptr_nonnull(strstr(drep_error(), "overlong.so"));
    ok(drep_plugin_path(temp_dir));
    fails(drep_datarep_get("overlong", &rep), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "everybody"));
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert_int_eq(chmod(temp_dir, 0777), 0);
    fails(drep_datarep_get("overlong", &rep), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(chmod(temp_dir, 0700), 0);
    ok(drep_datarep_get("overlong", &rep));
    /* One that failed to start stays failed. */
    path = place("reps/plugin_init_fails", "init_fails.so");
    fails(drep_plugin_load(path), DREP_ERR_UNSUPPORTED);
    fails(drep_plugin_load(path), DREP_ERR_UNSUPPORTED);
    fails(drep_plugin_load(place("reps/plugin_no_init", "no_init.so")), DREP_ERR_UNSUPPORTED);
    ok(drep_plugin_path(NULL));
}
END_TEST

START_TEST(test_every_allocation_failing)
{
    drep_datarep rep = DREP_DATAREP;
    int64_t n = 0;
    int err;

    place("reps/plugin_by_position", "by_position.so");
    ok(drep_plugin_path(temp_dir));
    do {
        mem_fail_at(n++);
        err = drep_datarep_get("by_position", &rep);
    } while (err != 0 && n < 100);
    mem_fail_at(-1);
    ck_assert_int_gt(n, 1);
    ck_assert_int_lt(n, 100);
    ok(drep_plugin_path(NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugin");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_a_hint_leads_to_it);
    tcase_add_test(tc, test_a_filter_too);
    tcase_add_test(tc, test_threads_find_it_at_once);
    tcase_add_test(tc, test_what_is_refused);
    tcase_add_test(tc, test_every_allocation_failing);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
