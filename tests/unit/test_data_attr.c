/* test_data_attr.c - attributes: every type under every representation, replaced,
 * listed, converted, and their limits (D5). */
/* SPDX-License-Identifier: MIT */
#include "file/file.h"

#include "data_help.h"

static drep_file *f;

static void setup(void)
{
    register_datareps();
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
}

static void teardown(void)
{
    drep_abandon(f);
}

/* What an attribute says does not depend on the file's representation. */
START_TEST(test_D5_every_type_under_every_datarep)
{
    const char *path = temp_path("attr");
    _Alignas(16) uint8_t buf[3 * VALUE_ROOM];
    drep_file *g = new_file(path, datareps[_i]);
    int64_t findings = 0;
    char name[24];

    for (int pass = 0; pass < 2; pass++) {
        for (int kind = 0; kind < V_KINDS; kind++) {
            drep_type *type = value_type(kind);
            int64_t extent = drep_type_extent(type), three = 3;
            drep_attrinfo info = DREP_ATTRINFO;

            snprintf(name, sizeof name, "a%d", kind);
            memset(buf, 0, sizeof buf);
            if (pass == 0) {
                for (uint32_t i = 0; i < 3; i++)
                    value_make(kind, 50 * i, buf + i * extent);
                ok(drep_attr_write(g, "/", name, type, 1, &three, buf));
                drep_vlen_free(type, 3, buf);
            }
            ok(drep_attr_info(g, "/", name, &info));
            ck_assert(drep_type_equivalent(info.type, type));
            ck_assert_int_eq(info.count, 3);
            ck_assert_int_eq(info.rank, 1);
            ok(drep_attr_read(g, "/", name, pass == 0 ? type : NULL, buf));
            for (uint32_t i = 0; i < 3; i++)
                ck_assert(value_is(kind, type, 50 * i, buf + i * extent));
            drep_vlen_free(type, 3, buf);
            drep_attrinfo_release(&info);
            drep_type_free(type);
        }
        ok(drep_close(g));
        ok(drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &g)); /* no function is needed */
        ok(drep_check(g, 0, say_finding, NULL, &findings));
        ck_assert_int_eq(findings, 0);
        fails(drep_check(g, 1, say_finding, NULL, &findings), DREP_ERR_UNSUPPORTED_OPERATION);
    }
    ok(drep_close(g));
}
END_TEST

START_TEST(test_ranks_and_null_space)
{
    int64_t dims[33], v[24] = {1, 2, 3};
    drep_attrinfo info = DREP_ATTRINFO;

    for (int i = 0; i < 33; i++)
        dims[i] = 1;
    ok(drep_attr_write(f, "/", "r32", DREP_INT64_T, 32, dims, v));
    fails(drep_attr_write(f, "/", "r33", DREP_INT64_T, 33, dims, v), DREP_ERR_DIMS);
    fails(drep_attr_write(f, "/", "r-2", DREP_INT64_T, -2, dims, v), DREP_ERR_DIMS);
    ok(drep_attr_write(f, "/", "null", DREP_INT64_T, DREP_NULL_SPACE, NULL, NULL));
    ok(drep_attr_info(f, "/", "null", &info));
    ck_assert_int_eq(info.rank, DREP_NULL_SPACE);
    ck_assert_int_eq(info.count, 0);
    drep_attrinfo_release(&info);
    ok(drep_attr_read(f, "/", "null", NULL, NULL));
    dims[0] = 0;
    ok(drep_attr_write(f, "/", "empty", DREP_INT64_T, 2, dims, NULL));
    ok(drep_attr_read(f, "/", "empty", DREP_INT64_T, NULL));
    dims[0] = 2;
    dims[1] = 12;
    ok(drep_attr_write(f, "/", "two", DREP_INT64_T, 2, dims, v));
    ok(drep_attr_info(f, "/", "two", &info));
    ck_assert_int_eq(info.dims[1], 12);
    drep_attrinfo_release(&info);
    dims[1] = -1;
    fails(drep_attr_write(f, "/", "two", DREP_INT64_T, 2, dims, v), DREP_ERR_DIMS);
    dims[0] = dims[1] = (int64_t)1 << 40;
    fails(drep_attr_write(f, "/", "two", DREP_INT64_T, 2, dims, v), DREP_ERR_DIMS);
    dims[1] = 1;
    fails(drep_attr_write(f, "/", "two", DREP_INT64_T, 2, dims, v), DREP_ERR_LIMIT);
    check_file(f);
}
END_TEST

START_TEST(test_conversion_of_values)
{
    const int64_t three = 3;
    double d[3] = {1, -2, 1e10}, back[3];
    int32_t n[3];
    int16_t s[6];
    drep_type *pair;

    ok(drep_attr_write(f, "/", "d", DREP_DOUBLE, 1, &three, d));
    fails(drep_attr_read(f, "/", "d", DREP_INT32_T, n), DREP_ERR_CONVERSION);
    d[2] = 7;
    ok(drep_attr_write(f, "/", "d", DREP_DOUBLE, 1, &three, d));
    ok(drep_attr_read(f, "/", "d", DREP_INT32_T, n));
    ck_assert_int_eq(n[1], -2);
    ok(drep_attr_read(f, "/", "d", DREP_INT16_T, s));
    ck_assert_int_eq(s[2], 7);
    ok(drep_type_contiguous(2, DREP_DOUBLE, &pair));
    fails(drep_attr_read(f, "/", "d", pair, back), DREP_ERR_COUNT);
    drep_type_free(pair);
    fails(drep_attr_read(f, "/", "d", DREP_BYTE, back), DREP_ERR_TYPE);
    fails(drep_attr_read(f, "/", "none", DREP_INT, back), DREP_ERR_NOT_FOUND);
}
END_TEST

static int add_name(const char *name, void *ctx)
{
    drep_attrinfo info = DREP_ATTRINFO;

    strcat(ctx, name);
    ok(drep_attr_info(f, "/", name, &info)); /* the file may be used meanwhile */
    drep_attrinfo_release(&info);
    return strcmp(name, "stop") == 0 ? 55 : 0;
}

static int list_name(const char *name, void *ctx)
{
    strcat(ctx, name);
    strcat(ctx, " ");
    return 0;
}

/* Attributes stand apart from their objects: an operation that is taken back removes those of the
 * objects that it made, and no other; removing an object takes its own along. */
START_TEST(test_attributes_of_others_stay)
{
    static const char *const paths[] = {"/a", "/b", "/c"};
    drep_objinfo info = DREP_OBJINFO;
    double v = 0;

    for (int i = 0; i < 3; i++) {
        ok(drep_group_create(f, paths[i], 0));
        ok(drep_attr_write_double(f, paths[i], "v", i));
    }
    fails(drep_group_create(f, "/b", 0), DREP_ERR_EXISTS); /* after it has got a number */
    fails(drep_copy(f, "/a", f, "/b", NULL), DREP_ERR_EXISTS);
    ok(drep_link_remove(f, "/b"));
    ok(drep_copy(f, "/c", f, "/d", NULL));
    ok(drep_attr_read(f, "/a", "v", DREP_DOUBLE, &v));
    ck_assert(v == 0);
    ok(drep_attr_read(f, "/c", "v", DREP_DOUBLE, &v));
    ck_assert(v == 2);
    ok(drep_attr_read(f, "/d", "v", DREP_DOUBLE, &v));
    ck_assert(v == 2);
    ok(drep_stat(f, "/d", &info));
    ck_assert_int_eq(info.attrs, 1);
    ok(drep_group_create(f, "/b", 0));
    fails(drep_attr_read(f, "/b", "v", DREP_DOUBLE, &v), DREP_ERR_NOT_FOUND);
}
END_TEST

START_TEST(test_replacing_and_listing)
{
    char names[100] = "";
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_attr_write_string(f, "/", "z", "text"));
    ok(drep_attr_write_int64(f, "/", "m", 1));
    ok(drep_attr_write_double(f, "/", "a", 2));
    ok(drep_attr_write_int64(f, "/", "z", 3)); /* keeps its place */
    ok(drep_attr_list(f, "/", DREP_BY_NAME, add_name, names));
    ck_assert_str_eq(names, "amz");
    names[0] = '\0';
    ok(drep_attr_list(f, "/", DREP_BY_CREATION, add_name, names));
    ck_assert_str_eq(names, "zma");
    ok(drep_attr_remove(f, "/", "m"));
    fails(drep_attr_remove(f, "/", "m"), DREP_ERR_NOT_FOUND);
    ok(drep_attr_write_int64(f, "/", "m", 1));
    names[0] = '\0';
    ok(drep_attr_list(f, "/", DREP_BY_CREATION, add_name, names));
    ck_assert_str_eq(names, "zam");
    ok(drep_attr_write_int64(f, "/", "stop", 1));
    names[0] = '\0';
    fails(drep_attr_list(f, "/", DREP_BY_NAME, add_name, names), 55);
    ck_assert_str_eq(names, "amstop");
    ok(drep_stat(f, "/", &info));
    ck_assert_int_eq(info.attrs, 4);
    check_file(f);
}
END_TEST

/* The value, its type and its place in the order stay; what fails changes nothing. */
START_TEST(test_renaming)
{
    const int64_t n = 100000;
    static int32_t v[100000], back[100000];
    drep_usage before = DREP_USAGE, after = DREP_USAGE;
    drep_objinfo info = DREP_OBJINFO;
    char names[100] = "", name[1100], *text;

    for (int i = 0; i < n; i++)
        v[i] = i * 7;
    ok(drep_group_create(f, "g", 0));
    ok(drep_attr_write_string(f, "g", "x", "a text"));
    ok(drep_attr_write(f, "g", "big", DREP_INT32_T, 1, &n, v)); /* in a block of its own */
    ok(drep_attr_write_int64(f, "g", "n", 1));
    ok(drep_usage_get(f, &before));
    ok(drep_attr_rename(f, "g", "x", "z/\xc3\xa9"));
    ok(drep_attr_rename(f, "/g", "big", "a"));
    ok(drep_attr_rename(f, "/g", "n", "n")); /* its own name */
    fails(drep_attr_rename(f, "g", "x", "y"), DREP_ERR_NOT_FOUND);
    fails(drep_attr_rename(f, "g", "x", "x"), DREP_ERR_NOT_FOUND);
    fails(drep_attr_rename(f, "h", "x", "y"), DREP_ERR_NOT_FOUND);
    fails(drep_attr_rename(f, "g", "a", "n"), DREP_ERR_EXISTS);
    ck_assert_str_eq(drep_error(),
                     ":memory:: g: attribute \"a\": the object has an attribute \"n\" already");
    memset(name, 'a', sizeof name);
    name[1024] = '\0';
    fails(drep_attr_rename(f, "g", "a", name), DREP_ERR_NAME);
    fails(drep_attr_rename(f, "g", "a", ""), DREP_ERR_NAME);
    fails(drep_attr_rename(f, "g", "a", "\xff"), DREP_ERR_NAME);
    fails(drep_attr_rename(f, "g", "a", NULL), DREP_ERR_ARG);
    name[1023] = '\0';
    ok(drep_attr_rename(f, "g", "n", name));
    ok(drep_attr_rename(f, "g", name, "n"));
    ok(drep_attr_list(f, "g", DREP_BY_CREATION, list_name, names));
    ck_assert_str_eq(names, "z/\xc3\xa9 a n ");
    ok(drep_attr_read_string(f, "g", "z/\xc3\xa9", &text));
    ck_assert_str_eq(text, "a text");
    free(text);
    ok(drep_attr_read(f, "g", "a", DREP_INT32_T, back));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    ok(drep_stat(f, "g", &info));
    ck_assert_int_eq(info.attrs, 3);
    ok(drep_usage_get(f, &after));
    ck_assert_int_eq(before.objects, after.objects);
    ok(drep_commit(f));
    ok(drep_attr_rename(f, "g", "a", "b"));
    ok(drep_attr_write_int64(f, "g", "a", 5)); /* at the end of the order */
    ok(drep_attr_remove(f, "g", "b"));
    names[0] = '\0';
    ok(drep_attr_list(f, "g", DREP_BY_CREATION, list_name, names));
    ck_assert_str_eq(names, "z/\xc3\xa9 n a ");
    check_file(f);
}
END_TEST

/* A value of a type of its own, replaced again and again, leaves nothing behind. */
START_TEST(test_replacing_ten_thousand_times)
{
    drep_usage before = DREP_USAGE, after = DREP_USAGE;
    char text[100];

    ok(drep_group_create(f, "g", 0));
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "%d", i);
        ok(drep_attr_write_string(f, "g", "a", text));
        if (i == 100)
            ok(drep_usage_get(f, &before));
    }
    ok(drep_usage_get(f, &after));
    ck_assert_int_eq(before.objects, after.objects);
    check_file(f);
}
END_TEST

START_TEST(test_names_and_objects)
{
    char name[1100];

    memset(name, 'a', sizeof name);
    name[1024] = '\0';
    fails(drep_attr_write_int64(f, "/", name, 1), DREP_ERR_NAME);
    name[1023] = '\0';
    ok(drep_attr_write_int64(f, "/", name, 1));
    fails(drep_attr_write_int64(f, "/", "", 1), DREP_ERR_NAME);
    fails(drep_attr_write_int64(f, "/", "\xff", 1), DREP_ERR_NAME);
    fails(drep_attr_write_int64(f, "/nothing", "a", 1), DREP_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(drep_error(), "nothing"));
    ok(drep_attr_write_int64(f, "/", "with/slash", 1));
    ok(drep_type_commit(f, "t", DREP_INT));
    ok(drep_dimension_create(f, "#dim", 5, 0));
    ok(drep_attr_write_int64(f, "t", "a", 1));
    ok(drep_attr_write_int64(f, "/#dim", "a", 1));
    ok(drep_link_remove(f, "t"));
    ok(drep_dimension_remove(f, "/#dim"));
    check_file(f);
}
END_TEST

/* Larger than a node: it stands in a block of its own. */
START_TEST(test_large_values)
{
    const int64_t n = 100000;
    static int32_t v[100000], back[100000];

    for (int i = 0; i < n; i++)
        v[i] = i * 3;
    ok(drep_attr_write(f, "/", "big", DREP_INT32_T, 1, &n, v));
    ok(drep_attr_read(f, "/", "big", DREP_INT32_T, back));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    ok(drep_attr_write_int64(f, "/", "big", 1));
    check_file(f);
}
END_TEST

START_TEST(test_references)
{
    drep_type *object, *region;
    drep_objinfo info = DREP_OBJINFO;
    drep_ref ref = {0, NULL}, back;
    char *path;

    ok(drep_group_create(f, "g/h", 1));
    ok(drep_stat(f, "g/h", &info));
    ok(drep_type_reference(DREP_REF_OBJECT, &object));
    ok(drep_type_reference(DREP_REF_REGION, &region));
    ref.object = info.id;
    ok(drep_attr_write(f, "/", "o", object, 0, NULL, &ref));
    ok(drep_attr_read(f, "/", "o", object, &back));
    ck_assert_uint_eq(back.object, info.id);
    ok(drep_object_path(f, back.object, &path));
    ck_assert_str_eq(path, "/g/h");
    free(path);
    ref.region = "[0:2:1, 3:4:1]";
    ok(drep_attr_write(f, "/", "r", region, 0, NULL, &ref));
    ok(drep_attr_read(f, "/", "r", region, &back));
    ck_assert_str_eq(back.region, ref.region);
    drep_vlen_free(region, 1, &back);
    ref = (drep_ref){0, NULL};
    ok(drep_attr_write(f, "/", "r", region, 0, NULL, &ref));
    ok(drep_attr_read(f, "/", "r", region, &back));
    ck_assert_ptr_null(back.region);
    fails(drep_attr_read(f, "/", "r", object, &back), DREP_ERR_TYPE);
    fails(drep_object_path(f, 9999, &path), DREP_ERR_NOT_FOUND);
    drep_type_free(object);
    drep_type_free(region);
}
END_TEST

/* Values of one type need not have the rows of the first one, which the type keeps: another machine
 * may have written them. */
START_TEST(test_rows_of_other_machines)
{
    const uint8_t four[] = {1, DREP_FORMAT_INT, 4, 0xff, 0xff, 0xff, 0xfe};
    const uint8_t eight[] = {1, DREP_FORMAT_INT, 8, 0, 0, 0, 0, 0, 0, 1, 2};
    const struct span value[] = {{four, sizeof four}, {eight, sizeof eight}};
    const int want[] = {-2, 258};
    struct ftype kept = {.kept = true};

    ok(drep_type_contiguous(1, DREP_INT, &kept.type));
    for (int i = 0; i < 6; i++) {
        const struct span *v = &value[(i + i / 2) % 2];
        struct span cut = {v->p, v->len - 1};
        int got = 0;

        ok(value_check(v, &kept, 1));
        ok(value_unpack(&f->values, v, &kept, 1, kept.type, &got));
        ck_assert_int_eq(got, want[v - value]);
        fails(value_check(&cut, &kept, 1), DREP_ERR_FORMAT);
        fails(value_check(v, &kept, 2), DREP_ERR_FORMAT);
    }
    value_self_free(atomic_load(&kept.self));
    drep_type_free(kept.type);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data attr");
    TCase *t = tcase_create("attr");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_D5_every_type_under_every_datarep, 0, DATAREPS);
    tcase_add_test(t, test_ranks_and_null_space);
    tcase_add_test(t, test_conversion_of_values);
    tcase_add_test(t, test_attributes_of_others_stay);
    tcase_add_test(t, test_replacing_and_listing);
    tcase_add_test(t, test_renaming);
    tcase_add_test(t, test_renaming);
    tcase_add_test(t, test_replacing_ten_thousand_times);
    tcase_add_test(t, test_names_and_objects);
    tcase_add_test(t, test_large_values);
    tcase_add_test(t, test_rows_of_other_machines);
    tcase_add_test(t, test_references);
    suite_add_tcase(s, t);
    return run_suite(s);
}
