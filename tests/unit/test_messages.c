/* test_messages.c - what calls that refuse say: once which file and object, and what is wrong. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <unistd.h>

/* The call fails with this message, whose file is left out, about this object. */
#define SAYS(call, code, text, object)                 \
    do {                                               \
        const char *said_;                             \
                                                       \
        fails(call, code);                             \
        said_ = strstr(drep_error(), ": ");            \
        ck_assert_ptr_nonnull(said_);                  \
        ck_assert_str_eq(said_ + 2, text);             \
        ck_assert_str_eq(drep_error_object(), object); \
    } while (0)

static drep_file *f;

static void setup(void)
{
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
}

static void teardown(void)
{
    drep_abandon(f);
}

START_TEST(test_a_missing_group)
{
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE);

    SAYS(drep_dataset_create(f, "/g/h/x", &spec, NULL), DREP_ERR_NOT_FOUND,
         "dataset \"/g/h/x\": no object \"g\"", "/g/h/x");
    SAYS(drep_group_create(f, "/g/h/x", 0), DREP_ERR_NOT_FOUND, "/g/h/x: no object \"g\"",
         "/g/h/x");
    ok(drep_group_create(f, "/g", 0));
    SAYS(drep_dataset_create(f, "/g/h/x", &spec, NULL), DREP_ERR_NOT_FOUND,
         "dataset \"/g/h/x\": no object \"h\"", "/g/h/x");
    ok(drep_link_soft(f, "/there", "/soft"));
    SAYS(drep_dataset_create(f, "/soft/x", &spec, NULL), DREP_ERR_NOT_FOUND,
         "dataset \"/soft/x\": no object \"there\"", "/soft/x");
    ok(drep_dataset_create(f, "/d", &spec, NULL));
    SAYS(drep_dataset_create(f, "/d/x", &spec, NULL), DREP_ERR_KIND,
         "dataset \"/d/x\": \"d\" is not a group", "/d/x");
}
END_TEST

START_TEST(test_a_text_read_as_a_number)
{
    static const char *const names[] = {"vstring", "string", "chars"};
    const int64_t three = 3;
    drep_type *string;
    int64_t integer;
    double real[3];

    ok(drep_type_string(3, DREP_PAD_NUL, &string));
    ok(drep_attr_write_string(f, "/", "vstring", "abc"));
    ok(drep_attr_write(f, "/", "string", string, 0, NULL, "abc"));
    ok(drep_attr_write(f, "/", "chars", DREP_CHAR, 1, &three, "abc"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        drep_item item = {.path = "/", .attr = names[i], .type = DREP_DOUBLE, .buf = real};
        char text[80];

        snprintf(text, sizeof text, "/: attribute \"%s\": it is text, not a number", names[i]);
        SAYS(drep_attr_read(f, "/", names[i], DREP_DOUBLE, real), DREP_ERR_TYPE, text, "/");
        SAYS(drep_readv(f, &item, 1, NULL), DREP_ERR_TYPE, text, "/");
        if (strcmp(names[i], "chars") == 0)
            continue; /* three of them are not one number */
        SAYS(drep_attr_read_int64(f, "/", names[i], &integer), DREP_ERR_TYPE, text, "/");
        SAYS(drep_attr_read_double(f, "/", names[i], real), DREP_ERR_TYPE, text, "/");
    }
    drep_type_free(string);
}
END_TEST

START_TEST(test_a_text_dataset_read_as_numbers)
{
    drep_dataset *ds;
    drep_type *text;
    double real = 0;

    ok(drep_type_vstring(&text));
    ok(drep_dataset_create(f, "/name", &DREP_SPEC(.type = text), &ds));
    SAYS(drep_read(ds, NULL, DREP_DOUBLE, &real, NULL), DREP_ERR_TYPE,
         "dataset \"/name\": no conversion from vstring to DOUBLE", "/name");
    SAYS(drep_write(ds, NULL, DREP_DOUBLE, &real, NULL), DREP_ERR_TYPE,
         "dataset \"/name\": no conversion from DOUBLE to vstring", "/name");
    drep_dataset_close(ds);
    drep_type_free(text);
}
END_TEST

START_TEST(test_writes_to_a_file_that_is_read)
{
    const char *path = temp_path("messages");
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &(int64_t){1});
    const double x = 0;
    drep_dataset *ds;
    drep_file *g;

    ok(drep_create(path, DREP_RDWR, NULL, NULL, &g));
    ok(drep_dataset_create(g, "/x", &spec, NULL));
    ok(drep_close(g));
    ok(drep_open(path, DREP_RDONLY, NULL, &g));
    ok(drep_dataset_open(g, "/x", &ds));
#define READ_ONLY(call, object) SAYS(call, DREP_ERR_READ_ONLY, "opened read-only", object)
    READ_ONLY(drep_attr_write(g, "/x", "a", DREP_DOUBLE, 0, NULL, &x), "/x");
    READ_ONLY(drep_attr_write_string(g, "/x", "a", "b"), "/x");
    READ_ONLY(drep_attr_write_int64(g, "/x", "a", 1), "/x");
    READ_ONLY(drep_attr_remove(g, "/x", "a"), "/x");
    READ_ONLY(drep_attr_rename(g, "/x", "a", "b"), "/x");
    READ_ONLY(drep_dataset_create(g, "/y", &spec, NULL), "/y");
    READ_ONLY(drep_group_create(g, "/y", 0), "/y");
    READ_ONLY(drep_type_commit(g, "/y", DREP_DOUBLE), "/y");
    READ_ONLY(drep_link_hard(g, "/x", "/y"), "/y");
    READ_ONLY(drep_link_soft(g, "/x", "/y"), "/y");
    READ_ONLY(drep_link_move(g, "/x", "/y"), "/x");
    READ_ONLY(drep_link_remove(g, "/x"), "/x");
    READ_ONLY(drep_dimension_create(g, "/#y", 1, 0), "/#y");
    READ_ONLY(drep_dimension_rename(g, "/#y", "z"), "/#y");
    READ_ONLY(drep_dimension_remove(g, "/#y"), "/#y");
    READ_ONLY(drep_dimension_set_unlimited(g, "/#y", 1), "/#y");
    READ_ONLY(drep_dimension_set_scales(g, "/#y", NULL, 0), "/#y");
    READ_ONLY(drep_write(ds, NULL, DREP_DOUBLE, &x, NULL), "/x");
    READ_ONLY(drep_append(ds, 0, 1, DREP_DOUBLE, &x, NULL), "/x");
    READ_ONLY(drep_dataset_resize(ds, &(int64_t){1}), "/x");
    drep_dataset_close(ds);
    ok(drep_close(g));
    unlink(path);
}
END_TEST

START_TEST(test_an_append_of_less_than_nothing)
{
    const int64_t none = 0, most = DREP_UNLIMITED;
    const double x = 0;
    drep_dataset *ds;

    ok(drep_dataset_create(
        f, "/x", &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &most), &ds));
    SAYS(drep_append(ds, 0, -1, DREP_DOUBLE, &x, NULL), DREP_ERR_COUNT,
         "dataset \"/x\": drep_append: n is -1, which is negative", "/x");
    drep_dataset_close(ds);
}
END_TEST

START_TEST(test_a_missing_directory)
{
    const char *path = temp_path("nodir/x.drep");
    char text[600];
    drep_file *g;

    fails(drep_create(path, DREP_RDWR, NULL, NULL, &g), DREP_ERR_NO_SUCH_FILE);
    snprintf(text, sizeof text, "%s: open of its directory: No such file or directory", path);
    ck_assert_str_eq(drep_error(), text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("messages");
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_a_missing_group);
    tcase_add_test(t, test_a_text_read_as_a_number);
    tcase_add_test(t, test_a_text_dataset_read_as_numbers);
    tcase_add_test(t, test_writes_to_a_file_that_is_read);
    tcase_add_test(t, test_an_append_of_less_than_nothing);
    tcase_add_test(t, test_a_missing_directory);
    suite_add_tcase(s, t);
    return run_suite(s);
}
