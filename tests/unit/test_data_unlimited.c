/* test_data_unlimited.c - dimensions that become unlimited, or fixed, and the datasets along them.
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

enum { U = DREP_UNLIMITED, TIME = 3, LAT = 2, LON = 4 };

static drep_file *f;
static const char *path;

static void setup(void)
{
    path = temp_path("unlimited.drep");
    f = new_file(path, "external32");
}

static void teardown(void)
{
    ok(drep_close(f));
}

static void reopen(void)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);

    ok(drep_close(f));
    ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
}

/* A dataset of INT along dimensions, each element its number. */
static drep_dataset *along(const char *name, drep_spec spec, const char *const *names)
{
    int32_t v[TIME * LAT * LON];
    drep_dataset *ds;

    spec.type = DREP_INT32_T;
    spec.dim_names = names;
    ok(drep_dataset_create(f, name, &spec, &ds));
    for (int i = 0; i < TIME * LAT * LON; i++)
        v[i] = i;
    ok(drep_write(ds, NULL, DREP_INT32_T, v, NULL));
    return ds;
}

static int64_t maximum(drep_dataset *ds, int d)
{
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_info(ds, &info));
    return info.maxdims[d];
}

static int is_unlimited(const char *dimension)
{
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_stat(f, dimension, &info));
    return info.unlimited;
}

/* The elements that along() has written, and fill behind them. */
static void has_numbers(drep_dataset *ds, int rank, const int64_t *len, const int64_t *was)
{
    int64_t n = 1, at[3];
    int32_t *v;

    for (int d = 0; d < rank; d++)
        n *= len[d];
    v = malloc((size_t)n * sizeof *v);
    ok(drep_read(ds, NULL, DREP_INT32_T, v, NULL));
    for (int64_t i = 0; i < n; i++) {
        int64_t left = i, number = 0;
        bool inside = true;

        for (int d = rank - 1; d >= 0; d--) {
            at[d] = left % len[d];
            left /= len[d];
            inside &= at[d] < was[d];
        }
        for (int d = 0; d < rank; d++)
            number = number * was[d] + at[d];
        ck_assert_int_eq(v[i], inside ? number : 0);
    }
    free(v);
}

/* ---- layouts that can change ---- */

static const int64_t box[] = {TIME, LAT, LON}, cells[] = {2, 1, 3};
static const char *const names[] = {"time", "lat", "lon"};
static const drep_filter deflate = {.id = DREP_FILTER_DEFLATE};

static const struct {
    int layout, filtered;
    const int64_t *chunk;
    int axis; /* the dimension that becomes unlimited */
} able[] = {
    {DREP_CONTIGUOUS, 0, NULL, 0}, {DREP_CHUNKED, 0, cells, 0}, {DREP_CHUNKED, 0, cells, 1},
    {DREP_CHUNKED, 0, cells, 2},   {DREP_CHUNKED, 1, cells, 0}, {DREP_COMPACT, 0, NULL, 0},
    {DREP_COMPACT, 0, NULL, 1},    {DREP_COMPACT, 0, NULL, 2},
};

START_TEST(test_datasets_grow)
{
    const drep_spec spec =
        DREP_SPEC(.rank = 3, .dims = box, .layout = able[_i].layout, .chunk = able[_i].chunk,
                  .nfilters = able[_i].filtered, .filters = able[_i].filtered ? &deflate : NULL);
    int axis = able[_i].axis;
    int32_t row[TIME * LAT * LON] = {0};
    int64_t more[] = {TIME, LAT, LON};
    char address[10];
    drep_dataset *ds = along("a", spec, names);

    snprintf(address, sizeof address, "#%s", names[axis]);
    if (_i % 2)
        reopen(); /* also from the file, not only from memory */
    else
        ok(drep_commit(f));
    if (_i % 2) {
        drep_dataset_close(ds);
        ok(drep_dataset_open(f, "a", &ds));
    }
    more[axis]++;
    fails(drep_dataset_resize(ds, more), DREP_ERR_DIMS);
    ok(drep_dimension_set_unlimited(f, address, 1));
    ck_assert_int_eq(is_unlimited(address), 1);
    ck_assert_int_eq(maximum(ds, axis), U);
    has_numbers(ds, 3, box, box);
    ok(drep_append(ds, axis, 1, DREP_INT32_T, row, NULL));
    has_numbers(ds, 3, more, box);
    more[axis] += 4;
    ok(drep_dataset_resize(ds, more));
    has_numbers(ds, 3, more, box);
    drep_dataset_close(ds);
    check_file(f);
    reopen();
    ok(drep_dataset_open(f, "a", &ds));
    ck_assert_int_eq(maximum(ds, axis), U);
    has_numbers(ds, 3, more, box);
    ok(drep_dimension_set_unlimited(f, address, 0));
    ck_assert_int_eq(is_unlimited(address), 0);
    ck_assert_int_eq(maximum(ds, axis), more[axis]);
    has_numbers(ds, 3, more, box);
    more[axis]++;
    fails(drep_dataset_resize(ds, more), DREP_ERR_DIMS);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

/* A chunk of compact texts has their heap, too. */
START_TEST(test_compact_texts_grow)
{
    const int64_t two = 2, three = 3;
    const char *const name = "name", *const in[] = {"a", "a longer text"};
    char *out[3];
    drep_type *text;
    drep_dataset *ds;

    ok(drep_type_vstring(&text));
    ok(drep_dataset_create(f, "a",
                           &DREP_SPEC(.type = text, .rank = 1, .dims = &two, .dim_names = &name,
                                      .layout = DREP_COMPACT),
                           &ds));
    ok(drep_write(ds, NULL, text, in, NULL));
    ok(drep_dimension_set_unlimited(f, "#name", 1));
    ok(drep_dataset_resize(ds, &three));
    ok(drep_read(ds, NULL, text, out, NULL));
    ck_assert_str_eq(out[0], in[0]);
    ck_assert_str_eq(out[1], in[1]);
    ck_assert_str_eq(out[2], "");
    drep_vlen_free(text, 3, out);
    drep_type_free(text);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

/* ---- several datasets ---- */

START_TEST(test_datasets_of_several_groups)
{
    const int64_t grown[] = {TIME + 2, LAT, LON}, square[] = {TIME, TIME};
    const char *const twice[] = {"time", "time"};
    const drep_spec chunked = DREP_SPEC(.rank = 3, .dims = box, .chunk = cells);
    drep_objinfo dim = DREP_OBJINFO;
    drep_dataset *a, *b, *c, *other;

    ok(drep_dimension_create(f, "#time", TIME, 0));
    ok(drep_group_create(f, "g/h", 1));
    a = along("time", DREP_SPEC(.rank = 1, .dims = box), names);
    b = along("g/b", chunked, names);
    c = along("g/h/c", DREP_SPEC(.rank = 2, .dims = square, .chunk = cells), twice);
    ok(drep_group_create(f, "k", 0));
    ok(drep_dimension_create(f, "k#time", TIME, 0));
    other = along("k/other", chunked, names);
    drep_dataset_close(a); /* it changes without a handle, too */
    ok(drep_dimension_set_unlimited(f, "#time", 1));
    ok(drep_dataset_open(f, "time", &a));
    ck_assert_int_eq(maximum(a, 0), U);
    ck_assert_int_eq(maximum(b, 0), U);
    ck_assert_int_eq(maximum(b, 1), LAT);
    ck_assert_int_eq(maximum(c, 0), U);
    ck_assert_int_eq(maximum(c, 1), U);
    ck_assert_int_eq(maximum(other, 0), TIME);
    ok(drep_dataset_resize(b, grown));
    ok(drep_stat(f, "#time", &dim));
    ck_assert_int_eq(dim.len, TIME + 2);
    has_numbers(b, 3, grown, box);
    has_numbers(a, 1, box, box);
    has_numbers(c, 2, square, square);
    /* A later dataset that is fixed, and follows a second call. */
    drep_dataset_close(other);
    other = along("late", chunked, names);
    ck_assert_int_eq(maximum(other, 0), TIME);
    ok(drep_dimension_set_unlimited(f, "#time", 1));
    ck_assert_int_eq(maximum(other, 0), U);
    ok(drep_dimension_set_unlimited(f, "#time", 0));
    ck_assert_int_eq(maximum(b, 0), TIME + 2);
    ck_assert_int_eq(maximum(other, 0), TIME);
    ck_assert_int_eq(is_unlimited("#time"), 0);
    drep_dataset_close(a);
    drep_dataset_close(b);
    drep_dataset_close(c);
    drep_dataset_close(other);
    check_file(f);
}
END_TEST

/* ---- refusals ---- */

/* A dataset that cannot change keeps all others from it, and the file stays the same. */
static void refused(const char *address, const drep_spec *spec, const char *text)
{
    drep_dataset *small = along("a", DREP_SPEC(.rank = 3, .dims = box), names);
    drep_dataset *ds = along("z", *spec, names);
    int axis = strcmp(address, "#lat") == 0 ? 1 : 2;
    size_t before_size, after_size;
    uint8_t *before, *after;

    ok(drep_commit(f));
    before = read_whole_file(path, &before_size);
    fails(drep_dimension_set_unlimited(f, address, 1), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_msg(strstr(drep_error(), "dataset \"/z\": ") && strstr(drep_error(), text), "%s",
                  drep_error());
    ck_assert_int_eq(is_unlimited(address), 0);
    ck_assert_int_eq(maximum(small, axis), box[axis]);
    ck_assert_int_eq(maximum(ds, axis), box[axis]);
    has_numbers(small, 3, box, box);
    has_numbers(ds, 3, box, box);
    ok(drep_commit(f));
    after = read_whole_file(path, &after_size);
    ck_assert_uint_eq(before_size, after_size);
    ck_assert_int_eq(memcmp(before, after, before_size), 0);
    free(before);
    free(after);
    drep_dataset_close(small);
    drep_dataset_close(ds);
}

START_TEST(test_contiguous_datasets_refuse)
{
    refused("#lat", &DREP_SPEC(.rank = 3, .dims = box, .layout = DREP_CONTIGUOUS), "--chunk=");
    ok(drep_dimension_set_unlimited(f, "#time", 1));
    check_file(f);
}
END_TEST

START_TEST(test_filtered_chunks_refuse)
{
    refused("#lon",
            &DREP_SPEC(.rank = 3, .dims = box, .chunk = cells, .nfilters = 1, .filters = &deflate),
            "--filters=none");
    check_file(f);
}
END_TEST

/* When all filtered chunks were removed, the order of rows may change. */
START_TEST(test_filtered_datasets_without_chunks)
{
    const drep_spec spec =
        DREP_SPEC(.rank = 3, .dims = box, .chunk = cells, .nfilters = 1, .filters = &deflate);
    const int64_t none[] = {0, LAT, LON}, more[] = {TIME, LAT, 3 * LON};
    drep_dataset *ds = along("a", spec, names);
    int32_t v[3 * TIME * LAT * LON];

    ok(drep_dimension_set_unlimited(f, "#time", 1));
    if (_i)
        ok(drep_commit(f));
    ok(drep_dataset_resize(ds, none));
    ok(drep_dimension_set_unlimited(f, "#lon", 1));
    ok(drep_dataset_resize(ds, more));
    for (int i = 0; i < 3 * TIME * LAT * LON; i++)
        v[i] = i;
    ok(drep_write(ds, NULL, DREP_INT32_T, v, NULL));
    has_numbers(ds, 3, more, more);
    drep_dataset_close(ds);
    check_file(f);
    reopen();
    ok(drep_dataset_open(f, "a", &ds));
    has_numbers(ds, 3, more, more);
    drep_dataset_close(ds);
}
END_TEST

START_TEST(test_not_a_dimension)
{
    drep_dataset_close(along("time", DREP_SPEC(.rank = 1, .dims = box), names));
    fails(drep_dimension_set_unlimited(f, "#none", 1), DREP_ERR_NOT_FOUND);
    fails(drep_dimension_set_unlimited(f, "/time", 1), DREP_ERR_NAME);
    fails(drep_dimension_set_unlimited(f, NULL, 1), DREP_ERR_ARG);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data unlimited");
    TCase *t = tcase_create("unlimited");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_datasets_grow, 0, sizeof able / sizeof *able);
    tcase_add_test(t, test_compact_texts_grow);
    tcase_add_test(t, test_datasets_of_several_groups);
    tcase_add_test(t, test_contiguous_datasets_refuse);
    tcase_add_test(t, test_filtered_chunks_refuse);
    tcase_add_loop_test(t, test_filtered_datasets_without_chunks, 0, 2);
    tcase_add_test(t, test_not_a_dimension);
    suite_add_tcase(s, t);
    return run_suite(s);
}
