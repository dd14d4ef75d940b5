/* test_data_external.c - links that lead to other files: only where the opener allows it, only
 * to regular files in or below the directory, only so deep (D21). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static char top[300]; /* a directory of this test, with another, "sub", in it */

static const char *in_top(const char *name)
{
    static char path[4][600];
    static int next;

    snprintf(path[next = (next + 1) % 4], sizeof path[0], "%s/%s", top, name);
    return path[next];
}

static void clean(void)
{
    static const char *const names[] = {"main.drep", "next.drep", "sub/far.drep", "sub/back.drep",
                                        "link.drep", "fifo",      "linked",       "sub/link.drep",
                                        "new.drep",  "sub",       "other",        NULL};
    char name[30];

    for (int i = 0; names[i] != NULL; i++)
        remove(in_top(names[i]));
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "chain%d.drep", i);
        remove(in_top(name));
    }
    remove(top);
}

/* A file whose root has the attribute "n" and the dataset "d" of that value. */
static drep_file *file_of(const char *name, int64_t n)
{
    drep_file *f = new_file(in_top(name), "external32");
    drep_dataset *ds = new_dataset(f, "d", DREP_INT64_T, 0, NULL);

    ok(drep_write(ds, NULL, NULL, &n, NULL));
    drep_dataset_close(ds);
    ok(drep_attr_write_int64(f, "/", "n", n));
    return f;
}

static void setup(void)
{
    drep_file *f;

    snprintf(top, sizeof top, "%s", temp_path("external"));
    ok(mkdir(top, 0700));
    ok(mkdir(in_top("sub"), 0700));
    f = file_of("sub/far.drep", 3);
    ok(drep_group_create(f, "g/h", 1));
    ok(drep_type_commit(f, "g/type", DREP_DOUBLE));
    ok(drep_link_external(f, "back.drep", "/d", "g/back"));
    ok(drep_close(f));
    ok(drep_close(file_of("sub/back.drep", 4)));
    ok(drep_close(file_of("next.drep", 2)));
    f = file_of("main.drep", 1);
    ok(drep_link_external(f, "next.drep", "/", "next"));
    ok(drep_link_external(f, "sub/far.drep", "/g", "far"));
    ok(drep_link_external(f, "sub//./far.drep", "d", "odd"));
    ok(drep_link_soft(f, "/far/h", "soft"));
    ok(drep_link_external(f, "missing.drep", "/d", "missing"));
    ok(drep_link_external(f, "next.drep", "/missing", "nothing"));
    ok(drep_close(f));
}

static drep_file *open_following(const char *name, const char *hint)
{
    drep_info *info = hints(hint, (char *)NULL);
    drep_file *f;

    ok(drep_open(in_top(name), DREP_RDONLY, info, &f));
    drep_info_free(info);
    return f;
}

static int64_t value_of(drep_dataset *ds)
{
    int64_t v = -1;

    ok(drep_read(ds, NULL, NULL, &v, NULL));
    return v;
}

static int64_t value_at(drep_file *f, const char *path)
{
    drep_dataset *ds;
    int64_t v;

    ok(drep_dataset_open(f, path, &ds));
    v = value_of(ds);
    drep_dataset_close(ds);
    return v;
}

static int count(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    ++*(int *)ctx;
    return 0;
}

static int count_name(const char *name, void *ctx)
{
    (void)name;
    ++*(int *)ctx;
    return 0;
}

START_TEST(test_D21_not_unless_allowed)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_file *f;

    setup();
    f = open_following("main.drep", "drep_external=false");
    fails(drep_stat(f, "next", &info), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "drep_external"));
    fails(drep_stat(f, "soft", &info), DREP_ERR_UNSUPPORTED_OPERATION);
    ok(drep_close(f));
    clean();
}
END_TEST

START_TEST(test_D21_calls_that_read_go_on_in_the_other_file)
{
    drep_attrinfo attr = DREP_ATTRINFO;
    drep_objinfo info = DREP_OBJINFO;
    drep_dataset *ds;
    drep_type *type;
    drep_file *f;
    int64_t n = 0;
    int names = 0, far = 0;

    setup();
    f = open_following("main.drep", "drep_external=true");
    ck_assert_int_eq(value_at(f, "d"), 1);
    ck_assert_int_eq(value_at(f, "next/d"), 2);
    ck_assert_int_eq(value_at(f, "/far/back"), 4); /* by a link of the other */
    ck_assert_int_eq(value_at(f, "odd"), 3);
    ok(drep_stat(f, "soft", &info));
    ck_assert_int_eq(info.kind, DREP_OBJ_GROUP);
    ok(drep_attr_read(f, "next", "n", DREP_INT64_T, &n));
    ck_assert_int_eq(n, 2);
    ok(drep_attr_info(f, "next", "n", &attr));
    drep_attrinfo_release(&attr);
    ok(drep_attr_list(f, "next", DREP_BY_CREATION, count_name, &names));
    ck_assert_int_eq(names, 1);
    ok(drep_list(f, "far", DREP_BY_NAME, count, &far));
    ck_assert_int_eq(far, 3);
    ok(drep_type_open(f, "far/type", &type));
    ck_assert(drep_type_equal(type, DREP_DOUBLE));
    fails(drep_dataset_open(f, "missing", &ds), DREP_ERR_NO_SUCH_FILE);
    fails(drep_dataset_open(f, "nothing", &ds), DREP_ERR_NOT_FOUND);
    fails(drep_dataset_open(f, "far/none", &ds), DREP_ERR_NOT_FOUND);
    fails(drep_attr_write_int64(f, "next", "n", 5), DREP_ERR_READ_ONLY);
    ok(drep_close(f));
    clean();
}
END_TEST

START_TEST(test_D21_nothing_is_written_through_a_link)
{
    drep_info *info = hints("drep_external=true", (char *)NULL);
    drep_file *f;

    setup();
    ok(drep_open(in_top("main.drep"), DREP_RDWR, info, &f));
    drep_info_free(info);
    ck_assert_int_eq(value_at(f, "next/d"), 2);
    fails(drep_attr_write_int64(f, "next", "n", 5), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(drep_group_create(f, "next/g", 0), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(drep_link_hard(f, "next/d", "mine"), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(drep_link_remove(f, "next/d"), DREP_ERR_UNSUPPORTED_OPERATION);
    ok(drep_link_remove(f, "next")); /* the link itself is ours */
    ok(drep_commit(f));
    ok(drep_close(f));
    clean();
}
END_TEST

/* A link to this file name, and how following it ends. */
static void leads(const char *name, int want)
{
    drep_file *f = file_of("main.drep", 1);
    drep_dataset *ds;

    ok(drep_link_external(f, name, "/d", "x"));
    ok(drep_close(f));
    f = open_following("main.drep", "drep_external=true");
    if (want == 0)
        ck_assert_int_eq(value_at(f, "x"), 3);
    else
        fails(drep_dataset_open(f, "x", &ds), want);
    ok(drep_close(f));
}

START_TEST(test_D21_only_regular_files_in_or_below_the_directory)
{
    char outside[600];

    setup();
    snprintf(outside, sizeof outside, "../%s/sub/far.drep", strrchr(top, '/') + 1);
    ok(symlink("sub/far.drep", in_top("link.drep")));
    ok(symlink("sub", in_top("linked")));
    ok(mkfifo(in_top("fifo"), 0600));
    leads("sub/far.drep", 0);
    leads("./sub/./far.drep", 0);
    leads(in_top("sub/far.drep"), DREP_ERR_ACCESS); /* absolute */
    leads(outside, DREP_ERR_ACCESS);
    leads("sub/../sub/far.drep", DREP_ERR_ACCESS);
    leads("..", DREP_ERR_ACCESS);
    leads("link.drep", DREP_ERR_ACCESS);
    leads("linked/far.drep", DREP_ERR_NO_SUCH_FILE);
    leads("fifo", DREP_ERR_ACCESS);
    leads("sub", DREP_ERR_ACCESS);
    leads("sub/far.drep/", DREP_ERR_NO_SUCH_FILE);
    leads("sub/none.drep", DREP_ERR_NO_SUCH_FILE);
    clean();
}
END_TEST

START_TEST(test_D21_the_directory_is_that_of_the_file_itself)
{
    char here[600];
    drep_file *f;

    setup();
    /* By a symbolic link from elsewhere, and when the process goes elsewhere. */
    ok(symlink("../main.drep", in_top("sub/link.drep")));
    f = open_following("sub/link.drep", "drep_external=true");
    ck_assert_int_eq(value_at(f, "next/d"), 2);
    ok(drep_close(f));
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ok(chdir(top));
    {
        drep_info *info = hints("drep_external=true", (char *)NULL);

        ok(drep_open("main.drep", DREP_RDONLY, info, &f));
        drep_info_free(info);
    }
    ok(chdir("/"));
    ck_assert_int_eq(value_at(f, "next/d"), 2);
    ok(drep_close(f));
    ok(chdir(here));
    clean();
}
END_TEST

START_TEST(test_D21_eight_links_deep)
{
    drep_dataset *ds;
    drep_file *f;

    setup();
    for (int i = 0; i < 11; i++) {
        char name[30], next[30];

        snprintf(name, sizeof name, "chain%d.drep", i);
        snprintf(next, sizeof next, "chain%d.drep", i == 10 ? 0 : i + 1);
        f = file_of(name, i);
        ok(drep_link_external(f, next, "/", "next"));
        ok(drep_close(f));
    }
    f = open_following("chain0.drep", "drep_external=true");
    ck_assert_int_eq(value_at(f, "next/next/next/next/next/next/next/next/d"), 8);
    fails(drep_dataset_open(f, "next/next/next/next/next/next/next/next/next/d", &ds),
          DREP_ERR_LIMIT);
    ok(drep_close(f));
    /* In a circle, too. */
    f = file_of("main.drep", 1);
    ok(drep_link_external(f, "main.drep", "/x", "x"));
    ok(drep_close(f));
    f = open_following("main.drep", "drep_external=true");
    fails(drep_dataset_open(f, "x", &ds), DREP_ERR_LIMIT);
    ok(drep_close(f));
    clean();
}
END_TEST

START_TEST(test_D21_refresh_moves_the_other_files_too)
{
    drep_file *f, *w;
    drep_dataset *ds;
    int64_t n = 22;

    setup();
    f = open_following("main.drep", "drep_external=true");
    ok(drep_dataset_open(f, "next/d", &ds));
    ok(drep_open(in_top("next.drep"), DREP_RDWR, NULL, &w));
    for (int i = 0; i < 5; i++) {
        drep_dataset *theirs;

        ok(drep_dataset_open(w, "d", &theirs));
        ok(drep_write(theirs, NULL, NULL, &n, NULL));
        drep_dataset_close(theirs);
        ok(drep_commit(w));
        ck_assert_int_eq(value_of(ds), i == 0 ? 2 : n - 1);
        ok(drep_refresh(f));
        ck_assert_int_eq(value_of(ds), n);
        n++;
    }
    ok(drep_close(w));
    drep_dataset_close(ds);
    ok(drep_close(f));
    clean();
}
END_TEST

START_TEST(test_D21_each_allocation_fails_once)
{
    drep_file *f;
    int err = DREP_ERR_NOMEM;

    setup();
    for (int n = 0; err != 0; n++) {
        drep_dataset *ds = NULL;

        ck_assert_int_lt(n, 2000);
        f = open_following("main.drep", "drep_external=true");
        mem_fail_at(n);
        err = drep_dataset_open(f, "far/back", &ds);
        mem_fail_at(-1);
        ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%d: %s", err, drep_error());
        ck_assert(err == 0 || ds == NULL);
        drep_dataset_close(ds);
        ck_assert_int_eq(value_at(f, "far/back"), 4);
        ok(drep_close(f));
    }
    clean();
}
END_TEST

static void *read_often(void *ctx)
{
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(value_at(ctx, i % 2 ? "far/back" : "next/d"), i % 2 ? 4 : 2);
        if (i % 50 == 0)
            ok(drep_refresh(ctx));
    }
    return NULL;
}

START_TEST(test_D21_from_many_threads)
{
    pthread_t thread[4];
    drep_file *f;

    setup();
    f = open_following("main.drep", "drep_external=true");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_often, f), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ok(drep_close(f));
    clean();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data external");
    TCase *t = tcase_create("external");

    tcase_add_test(t, test_D21_not_unless_allowed);
    tcase_add_test(t, test_D21_calls_that_read_go_on_in_the_other_file);
    tcase_add_test(t, test_D21_nothing_is_written_through_a_link);
    tcase_add_test(t, test_D21_only_regular_files_in_or_below_the_directory);
    tcase_add_test(t, test_D21_the_directory_is_that_of_the_file_itself);
    tcase_add_test(t, test_D21_eight_links_deep);
    tcase_add_test(t, test_D21_refresh_moves_the_other_files_too);
    tcase_add_test(t, test_D21_each_allocation_fails_once);
    tcase_add_test(t, test_D21_from_many_threads);
    suite_add_tcase(s, t);
    return run_suite(s);
}
