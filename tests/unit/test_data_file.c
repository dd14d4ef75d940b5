/* test_data_file.c - when a container becomes visible, who may write it, what a snapshot
 * sees, what a failed write does (D11, D16, D22, D43). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <sys/stat.h>

static void put(drep_file *f, const char *path, int32_t v)
{
    drep_dataset *ds;

    if (drep_dataset_open(f, path, &ds) != 0)
        ds = new_dataset(f, path, DREP_INT32_T, 0, NULL);
    ok(drep_write(ds, NULL, DREP_INT32_T, &v, NULL));
    drep_dataset_close(ds);
}

static int32_t got(drep_file *f, const char *path)
{
    drep_dataset *ds;
    int32_t v;

    ok(drep_dataset_open(f, path, &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, &v, NULL));
    drep_dataset_close(ds);
    return v;
}

static drep_file *open_file(const char *path, int amode)
{
    drep_file *f;

    ok(drep_open(path, amode, NULL, &f));
    return f;
}

static int failing_write(drep_file *f)
{
    drep_dataset *ds;
    double big = 1e300;
    int err;

    ok(drep_dataset_open(f, "d", &ds));
    err = drep_write(ds, NULL, DREP_DOUBLE, &big, NULL);
    drep_dataset_close(ds);
    return err;
}

static int files_in_dir(void)
{
    DIR *dir = opendir(temp_dir);
    struct dirent *e;
    int n = 0;

    while ((e = readdir(dir)) != NULL)
        n += e->d_name[0] != '.' || (e->d_name[1] != '\0' && e->d_name[1] != '.');
    closedir(dir);
    return n;
}

START_TEST(test_D22_file_appears_with_the_first_commit)
{
    const char *path = temp_path("first");
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "external32", NULL, &f));
    put(f, "d", 1);
    ck_assert(!temp_exists(path));
    ok(drep_commit(f));
    ck_assert(temp_exists(path));
    ok(drep_close(f));
    ok(drep_create(temp_path("never"), DREP_RDWR, "external32", NULL, &f));
    put(f, "d", 1);
    drep_abandon(f);
    ck_assert(!temp_exists(temp_path("never")));
    unlink(path);
    ck_assert_int_eq(files_in_dir(), 0); /* no temporary name stays */
    ok(drep_create(path, DREP_RDWR, "external32", NULL, &f));
    ok(drep_close(f)); /* an empty one */
    f = open_file(path, DREP_RDONLY);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D22_existing_file_is_untouched)
{
    const char *path = temp_path("old");
    drep_file *f = new_file(path, "external32");

    put(f, "d", 1);
    ok(drep_close(f));
    f = new_file(path, "internal");
    put(f, "d", 2);
    drep_abandon(f);
    f = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(f, "d"), 1);
    ok(drep_close(f));
    fails(drep_create(path, DREP_RDWR | DREP_EXCL, "external32", NULL, &f), DREP_ERR_FILE_EXISTS);
    fails(drep_create(path, DREP_RDWR, "nobody's", NULL, &f), DREP_ERR_UNSUPPORTED_DATAREP);
    fails(drep_create(path, DREP_HEADER_ONLY, "native", NULL, &f), DREP_ERR_AMODE);
    f = new_file(path, "internal");
    put(f, "d", 3);
    ok(drep_close(f));
    f = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(f, "d"), 3);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D43_failed_write_then_close_commits_the_rest)
{
    const char *path = temp_path("d43");
    drep_file *f = new_file(path, "external32");

    put(f, "d", 1);
    ok(drep_commit(f));
    put(f, "d", 2);
    fails(failing_write(f), DREP_ERR_CONVERSION);
    ck_assert_int_eq(got(f, "d"), 2);
    fails(drep_close(f), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"d\""));
    ck_assert_ptr_nonnull(strstr(drep_error(), "what succeeded was committed"));
    f = open_file(path, DREP_RDWR);
    ck_assert_int_eq(got(f, "d"), 2);
    put(f, "d", 3);
    fails(failing_write(f), DREP_ERR_CONVERSION);
    ok(drep_commit(f)); /* the caller knows, and keeps the rest */
    put(f, "d", 4);
    ok(drep_close(f));
    f = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(f, "d"), 4);
    ok(drep_close(f));
}
END_TEST

/* A wrong argument of a call that is no write of data loses nothing. */
START_TEST(test_D43_mistakes_are_no_failures)
{
    const char *path = temp_path("mistake");
    drep_file *f = new_file(path, "external32");

    put(f, "d", 1);
    fails(drep_group_create(f, "a/b/c", 0), DREP_ERR_NOT_FOUND);
    fails(drep_group_create(f, "d", 0), DREP_ERR_EXISTS);
    fails(drep_link_remove(f, "nothing"), DREP_ERR_NOT_FOUND);
    fails(drep_dataset_create(f, "e", &DREP_SPEC(.type = DREP_INT, .rank = 33), NULL),
          DREP_ERR_DIMS);
    ok(drep_close(f));
    f = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(f, "d"), 1);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D16_one_writer)
{
    const char *path = temp_path("writer");
    drep_file *f = new_file(path, "external32"), *g;

    put(f, "d", 1);
    ok(drep_commit(f));
    fails(drep_open(path, DREP_RDWR, NULL, &g), DREP_ERR_FILE_IN_USE);
    g = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(g, "d"), 1);
    ok(drep_close(g));
    ok(drep_close(f));
    f = open_file(path, DREP_RDWR);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D16_snapshots)
{
    const char *path = temp_path("snap");
    drep_file *f = new_file(path, "external32"), *reader[8];

    for (int i = 0; i < 8; i++) {
        put(f, "d", i);
        ok(drep_commit(f));
        reader[i] = open_file(path, DREP_RDONLY);
    }
    for (int i = 0; i < 8; i++) { /* each sees what it opened, in any order */
        ck_assert_int_eq(got(reader[i], "d"), i);
        ck_assert_int_eq(got(reader[7 - i], "d"), 7 - i);
    }
    put(f, "d", 100);
    ck_assert_int_eq(got(reader[7], "d"), 7);
    ok(drep_close(f));
    for (int i = 0; i < 8; i++)
        ok(drep_close(reader[i]));
    f = open_file(path, DREP_RDONLY);
    ck_assert_int_eq(got(f, "d"), 100);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D16_damaged_slot_is_reported)
{
    const char *path = temp_path("slot");
    drep_file *f = new_file(path, "external32");
    drep_header h = DREP_HEADER;
    FILE *p;

    put(f, "d", 1);
    ok(drep_commit(f)); /* slot A */
    put(f, "d", 2);
    ok(drep_close(f)); /* slot B */
    f = open_file(path, DREP_RDONLY);
    ok(drep_header_get(f, &h));
    ck_assert_int_eq(h.damaged_slot, 0);
    ck_assert_uint_eq(h.sequence, 2);
    ok(drep_close(f));
    p = fopen(path, "r+b");
    fseek(p, 4096 + 300, SEEK_SET);
    fputc(0xff, p);
    fclose(p);
    f = open_file(path, DREP_RDONLY);
    ok(drep_header_get(f, &h));
    ck_assert_int_eq(h.damaged_slot, 2);
    ck_assert_uint_eq(h.sequence, 1);
    ck_assert_int_eq(got(f, "d"), 1);
    ok(drep_close(f));
}
END_TEST

/* D13: one byte of payload wrong: the message names the dataset and the byte. */
START_TEST(test_D13_damaged_payload)
{
    const int64_t n = 4096, start = 3000, some = 10, zero = 0;
    const char *path = temp_path("damaged");
    static int32_t v[4096];
    drep_file *f = new_file(path, "external32");
    drep_selection *far, *near;
    drep_dataset *ds;
    drep_info *info;
    int64_t findings = 0;
    FILE *p;
    int c;

    for (int i = 0; i < n; i++)
        v[i] = 0x01020304;
    ds = new_dataset(f, "payload", DREP_INT32_T, 1, &n);
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    p = fopen(path, "r+b");
    for (long at = 8192;; at++) { /* element 3000 of the payload */
        uint8_t four[4];

        fseek(p, at, SEEK_SET);
        ck_assert_uint_eq(fread(four, 1, 4, p), 4);
        if (memcmp(four, "\1\2\3\4", 4) == 0) {
            fseek(p, at + 4 * 3000, SEEK_SET);
            c = fgetc(p);
            fseek(p, at + 4 * 3000, SEEK_SET);
            fputc(c ^ 0x10, p);
            break;
        }
    }
    fclose(p);
    f = open_file(path, DREP_RDONLY);
    ok(drep_dataset_open(f, "payload", &ds));
    fails(drep_read(ds, NULL, NULL, v, NULL), DREP_ERR_CHECKSUM);
    ck_assert_msg(strstr(drep_error(), "\"payload\"") && strstr(drep_error(), "byte"), "%s",
                  drep_error());
    ok(drep_select_box(1, &start, &some, NULL, NULL, &far));
    ok(drep_select_box(1, &zero, &some, NULL, NULL, &near));
    fails(drep_read(ds, far, NULL, v, NULL), DREP_ERR_CHECKSUM);
    ok(drep_read(ds, near, NULL, v, NULL)); /* exactly the blocks that are touched */
    drep_dataset_close(ds);
    ok(drep_check(f, 0, NULL, NULL, &findings));
    ck_assert_int_eq(findings, 1);
    ok(drep_close(f));
    info = hints("drep_verify=off", (char *)NULL);
    ok(drep_open(path, DREP_RDONLY, info, &f));
    ok(drep_dataset_open(f, "payload", &ds));
    ok(drep_read(ds, far, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_info_free(info);
    drep_selection_free(far);
    drep_selection_free(near);
}
END_TEST

START_TEST(test_read_only_handles)
{
    const char *path = temp_path("ro");
    drep_file *f = new_file(path, "external32");
    drep_dataset *ds;
    int32_t v = 9;

    put(f, "d", 1);
    ok(drep_close(f));
    f = open_file(path, DREP_RDONLY);
    fails(drep_group_create(f, "g", 0), DREP_ERR_READ_ONLY);
    fails(drep_attr_write_int64(f, "/", "a", 1), DREP_ERR_READ_ONLY);
    fails(drep_commit(f), DREP_ERR_READ_ONLY);
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_write(ds, NULL, NULL, &v, NULL), DREP_ERR_READ_ONLY);
    drep_dataset_close(ds);
    ok(drep_close(f));
    fails(drep_open(path, DREP_RDONLY | DREP_RDWR, NULL, &f), DREP_ERR_AMODE);
    fails(drep_open(temp_path("none"), DREP_RDONLY, NULL, &f), DREP_ERR_NO_SUCH_FILE);
    fails(drep_open(temp_path("none"), DREP_RDWR, NULL, &f), DREP_ERR_NO_SUCH_FILE);
    fails(drep_create("/no/such/dir/x.drep", DREP_RDWR, "native", NULL, &f), DREP_ERR_NO_SUCH_FILE);
}
END_TEST

START_TEST(test_directory_that_cannot_be_written)
{
    char dir[300], path[400];
    drep_file *f;
    int err;

    snprintf(dir, sizeof dir, "%s", temp_path("locked"));
    snprintf(path, sizeof path, "%s/x.drep", dir);
    ck_assert_int_eq(mkdir(dir, 0500), 0);
    if (geteuid() != 0) {
        fails(drep_create(path, DREP_RDWR, "native", NULL, &f), DREP_ERR_ACCESS);
    } else { /* whom no permission stops: at least nothing is left behind */
        err = drep_create(path, DREP_RDWR, "native", NULL, &f);
        if (err == 0)
            drep_abandon(f);
    }
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(test_not_a_container)
{
    const char *path = temp_path("text");
    FILE *p = fopen(path, "wb");
    drep_file *f;

    fails(drep_open(path, DREP_RDONLY, NULL, &f), DREP_ERR_NOT_DREP);
    for (int i = 0; i < 10000; i++)
        fputc("some text "[i % 10], p);
    fclose(p);
    fails(drep_open(path, DREP_RDONLY, NULL, &f), DREP_ERR_NOT_DREP);
    fails(drep_open(temp_path("."), DREP_RDONLY, NULL, &f), DREP_ERR_ACCESS);
}
END_TEST

/* Image and memory: the same container. */
START_TEST(test_images)
{
    const char *path = temp_path("image");
    static uint8_t image[1 << 20];
    drep_file *f = new_file(path, "native");
    size_t n;
    FILE *p;

    put(f, "d", 77);
    ok(drep_close(f));
    p = fopen(path, "rb");
    n = fread(image, 1, sizeof image, p);
    fclose(p);
    ok(drep_open_image(image, n, NULL, &f));
    ck_assert_int_eq(got(f, "d"), 77);
    fails(drep_group_create(f, "g", 0), DREP_ERR_READ_ONLY);
    check_file(f);
    ok(drep_close(f));
    for (size_t cut = 0; cut < n; cut += 257) { /* no cut crashes */
        int err = drep_open_image(image, cut, NULL, &f);

        if (err == 0)
            ok(drep_close(f));
    }
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    put(f, "d", 5);
    ok(drep_commit(f));
    ck_assert_int_eq(got(f, "d"), 5);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_null_arguments)
{
    drep_file *f;

    fails(drep_create(NULL, 0, "native", NULL, &f), DREP_ERR_ARG);
    fails(drep_open(NULL, DREP_RDONLY, NULL, &f), DREP_ERR_ARG);
    fails(drep_open("x", DREP_RDONLY, NULL, NULL), DREP_ERR_ARG);
    fails(drep_commit(NULL), DREP_ERR_ARG);
    fails(drep_group_create(NULL, "g", 0), DREP_ERR_ARG);
    fails(drep_stat(NULL, "g", NULL), DREP_ERR_ARG);
    ok(drep_close(NULL));
    drep_abandon(NULL);
    drep_dataset_close(NULL);
    ok(drep_create(":memory:", DREP_RDWR, "native", NULL, &f));
    fails(drep_stat(f, NULL, &DREP_OBJINFO), DREP_ERR_ARG);
    fails(drep_stat(f, "/", NULL), DREP_ERR_ARG);
    fails(drep_group_create(f, NULL, 1), DREP_ERR_ARG);
    fails(drep_dimension_create(f, NULL, 1, 0), DREP_ERR_ARG);
    fails(drep_type_commit(f, "t", NULL), DREP_ERR_ARG);
    fails(drep_dataset_create(f, "d", NULL, NULL), DREP_ERR_ARG);
    fails(drep_dataset_open(f, "d", NULL), DREP_ERR_ARG);
    fails(drep_link_soft(f, NULL, "l"), DREP_ERR_ARG);
    fails(drep_list(f, "/", DREP_BY_NAME, NULL, NULL), DREP_ERR_ARG);
    fails(drep_attr_write(f, "/", NULL, DREP_INT, 0, NULL, &f), DREP_ERR_ARG);
    fails(drep_attr_read(f, "/", NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_read(NULL, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    drep_abandon(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data file");
    TCase *t = tcase_create("file");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_D22_file_appears_with_the_first_commit);
    tcase_add_test(t, test_D22_existing_file_is_untouched);
    tcase_add_test(t, test_D43_failed_write_then_close_commits_the_rest);
    tcase_add_test(t, test_D43_mistakes_are_no_failures);
    tcase_add_test(t, test_D16_one_writer);
    tcase_add_test(t, test_D16_snapshots);
    tcase_add_test(t, test_D16_damaged_slot_is_reported);
    tcase_add_test(t, test_D13_damaged_payload);
    tcase_add_test(t, test_read_only_handles);
    tcase_add_test(t, test_directory_that_cannot_be_written);
    tcase_add_test(t, test_not_a_container);
    tcase_add_test(t, test_images);
    tcase_add_test(t, test_null_arguments);
    suite_add_tcase(s, t);
    return run_suite(s);
}
