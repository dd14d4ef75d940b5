/* test_counts.c - counts that no memory and no file can hold, and negative ones, in every call
 * that takes one: refused with the code that the header names, before any buffer is looked at
 * (the sanitizers watch). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <limits.h>

static const int64_t huge[] = {INT64_MAX,         INT64_MAX - 1,     INT64_MAX / 2 + 1,
                               INT64_MAX / 4 + 1, INT64_MAX / 8 + 1, ((int64_t)1 << 61) + 1};
static const int64_t negative[] = {-1, -2, INT64_MIN + 1, INT64_MIN};
enum { HUGE_COUNTS = sizeof huge / sizeof huge[0] };
enum { NEGATIVE_COUNTS = sizeof negative / sizeof negative[0] };

/* Any of these; never a crash, never success. */
static void refused(int err, const int *codes, const char *call, int64_t count)
{
    for (; *codes != 0; codes++)
        if (err == *codes)
            return;
    ck_abort_msg("%s with %lld: %d (%s)", call, (long long)count, err, drep_error());
}

#define large(call, count) refused(call, (const int[]){DREP_ERR_VALUE_TOO_LARGE, 0}, #call, count)
#define minus(call, count) refused(call, (const int[]){DREP_ERR_COUNT, 0}, #call, count)

/* Elements of one item that lie 2^61 bytes apart: few of them leave memory. */
static drep_type *far_apart(void)
{
    drep_type *t;

    ok(drep_type_resized(0, (int64_t)1 << 61, DREP_INT64_T, &t));
    return t;
}

START_TEST(test_convert)
{
    int64_t in[8] = {0}, out[8] = {0};
    drep_type *apart = far_apart(), *back;

    ok(drep_type_resized(0, -((int64_t)1 << 61), DREP_INT64_T, &back));
    for (int i = 0; i < HUGE_COUNTS; i++) {
        large(drep_convert(DREP_INT64_T, out, DREP_INT64_T, in, huge[i], NULL), huge[i]);
        large(drep_convert(DREP_INT64_T, out, DREP_DOUBLE, in, huge[i], NULL), huge[i]);
    }
    for (int i = 0; i < NEGATIVE_COUNTS; i++)
        minus(drep_convert(DREP_INT64_T, out, DREP_INT64_T, in, negative[i], NULL), negative[i]);
    large(drep_convert(apart, out, DREP_INT64_T, in, 8, NULL), 8);
    large(drep_convert(DREP_INT64_T, out, apart, in, 8, NULL), 8);
    large(drep_convert(DREP_INT64_T, out, back, in, 8, NULL), 8);
    ok(drep_convert(DREP_INT64_T, out, DREP_INT64_T, in, 8, NULL));
    drep_type_free(apart);
    drep_type_free(back);
}
END_TEST

/* Sequences that say that they are longer than memory. */
START_TEST(test_sequences)
{
    int64_t one = 1, two[2] = {0};
    drep_vlen v = {0, &one}, to = {0, NULL};
    drep_type *seq;
    drep_file *f;
    drep_dataset *ds;

    ok(drep_type_sequence(DREP_INT64_T, &seq));
    f = new_file(":memory:", "external32");
    ds = new_dataset(f, "d", seq, 0, NULL);
    for (int i = 0; i < HUGE_COUNTS; i++) {
        v.count = huge[i];
        large(drep_convert(seq, &to, seq, &v, 1, NULL), huge[i]);
        large(drep_write(ds, NULL, NULL, &v, NULL), huge[i]);
        large(drep_attr_write(f, "/", "a", seq, 0, NULL, &v), huge[i]);
    }
    for (int i = 0; i < NEGATIVE_COUNTS; i++) {
        v.count = negative[i];
        minus(drep_write(ds, NULL, NULL, &v, NULL), negative[i]);
        drep_vlen_free(seq, negative[i], two);
    }
    for (int i = 0; i < HUGE_COUNTS; i++)
        drep_vlen_free(seq, huge[i], two);
    drep_dataset_close(ds);
    drep_abandon(f);
    drep_type_free(seq);
}
END_TEST

START_TEST(test_pack)
{
    static const char *const reps[] = {"external32", "xor"};
    int64_t in[8] = {0}, out[8] = {0}, at = 0, size;
    drep_type *apart = far_apart();

    register_datareps();
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < HUGE_COUNTS; i++) {
            large(drep_pack(reps[r], in, huge[i], DREP_INT64_T, out, 64, &at), huge[i]);
            large(drep_unpack(reps[r], out, 64, &at, in, huge[i], DREP_INT64_T), huge[i]);
            large(drep_pack_size(reps[r], huge[i], DREP_INT64_T, &size), huge[i]);
            large(drep_pack_unit(reps[r], in, huge[i], DREP_INT64_T, out, 64, &at), huge[i]);
            large(drep_pack_unit_size(reps[r], huge[i], DREP_INT64_T, &size), huge[i]);
        }
        for (int i = 0; i < NEGATIVE_COUNTS; i++) {
            minus(drep_pack(reps[r], in, negative[i], DREP_INT64_T, out, 64, &at), negative[i]);
            minus(drep_unpack(reps[r], out, 64, &at, in, negative[i], DREP_INT64_T), negative[i]);
            minus(drep_pack_size(reps[r], negative[i], DREP_INT64_T, &size), negative[i]);
            minus(drep_pack_unit(reps[r], in, negative[i], DREP_INT64_T, out, 64, &at),
                  negative[i]);
            minus(drep_pack_unit_size(reps[r], negative[i], DREP_INT64_T, &size), negative[i]);
        }
        large(drep_pack(reps[r], in, 8, apart, out, 64, &at), 8);
        large(drep_unpack(reps[r], out, 64, &at, in, 8, apart), 8);
        ck_assert_int_eq(at, 0);
    }
    drep_type_free(apart);
}
END_TEST

START_TEST(test_pack_units)
{
    uint8_t unit[1000];
    int64_t in[8] = {0}, at = 0;
    drep_type *apart = far_apart();

    large(drep_pack_unit("external32", in, 8, apart, unit, sizeof unit, &at), 8);
    ok(drep_pack_unit("external32", in, 8, DREP_INT64_T, unit, sizeof unit, &at));
    at = 0;
    large(drep_unpack_unit(unit, sizeof unit, &at, in, 8, apart), 8);
    for (int i = 0; i < HUGE_COUNTS; i++)
        large(drep_unpack_unit(unit, sizeof unit, &at, in, huge[i], DREP_INT64_T), huge[i]);
    for (int i = 0; i < NEGATIVE_COUNTS; i++)
        minus(drep_unpack_unit(unit, sizeof unit, &at, in, negative[i], DREP_INT64_T), negative[i]);
    ck_assert_int_eq(at, 0);
    drep_type_free(apart);
}
END_TEST

/* A view whose tiles lie far apart, and one that begins far behind. */
static void try_views(drep_view *v, drep_type *apart)
{
    int64_t buf[8] = {0}, items = -1, bytes;

    for (int i = 0; i < HUGE_COUNTS; i++) {
        large(drep_read_at(v, 0, buf, huge[i], DREP_INT64_T, NULL, &items), huge[i]);
        large(drep_write_at(v, 0, buf, huge[i], DREP_INT64_T, NULL, &items), huge[i]);
        ck_assert_int_eq(items, 0);
        if (huge[i] > INT64_MAX / 4) {
            large(drep_read_at(v, huge[i], buf, 1, DREP_INT64_T, NULL, &items), huge[i]);
            large(drep_write_at(v, huge[i], buf, 1, DREP_INT64_T, NULL, &items), huge[i]);
            large(drep_view_byte_offset(v, huge[i], &bytes), huge[i]);
        }
    }
    for (int i = 0; i < NEGATIVE_COUNTS; i++) {
        minus(drep_read_at(v, 0, buf, negative[i], DREP_INT64_T, NULL, &items), negative[i]);
        minus(drep_write_at(v, 0, buf, negative[i], DREP_INT64_T, NULL, &items), negative[i]);
        minus(drep_read_at(v, negative[i], buf, 1, DREP_INT64_T, NULL, &items), negative[i]);
        minus(drep_write_at(v, negative[i], buf, 1, DREP_INT64_T, NULL, &items), negative[i]);
        fails(drep_view_byte_offset(v, negative[i], &bytes), DREP_ERR_ARG);
    }
    large(drep_read_at(v, 0, buf, 8, apart, NULL, &items), 8);
    large(drep_write_at(v, 0, buf, 8, apart, NULL, &items), 8);
}

START_TEST(test_views)
{
    int64_t buf[8] = {0}, items, etypes, n = 8, bytes;
    drep_type *apart = far_apart();
    drep_dataset *ds;
    drep_file *f;
    drep_view *v;

    ok(drep_view_raw(temp_path("raw"), DREP_RDWR, NULL, &v));
    ok(drep_view_set(v, 0, DREP_INT64_T, DREP_INT64_T, "external32", NULL));
    ok(drep_write_at(v, 0, buf, 8, DREP_INT64_T, NULL, &items));
    try_views(v, apart);
    ok(drep_view_set(v, 0, DREP_INT64_T, apart, "external32", NULL));
    large(drep_read_at(v, 0, buf, 8, DREP_INT64_T, NULL, &items), 8);
    large(drep_write_at(v, 0, buf, 8, DREP_INT64_T, NULL, &items), 8);
    large(drep_view_byte_offset(v, 4, &bytes), 4);
    ok(drep_view_byte_offset(v, 3, &bytes));
    ck_assert_int_eq(bytes, (int64_t)3 << 61);
    ok(drep_read_at(v, 0, buf, 3, DREP_INT64_T, NULL, &items));
    ck_assert_int_eq(items, 1);
    ok(drep_view_size(v, &etypes));
    ck_assert_int_eq(etypes, 1);
    ok(drep_view_set(v, INT64_MAX - 3, DREP_INT64_T, DREP_INT64_T, "external32", NULL));
    large(drep_read_at(v, 0, buf, 1, DREP_INT64_T, NULL, &items), 1);
    large(drep_write_at(v, 0, buf, 1, DREP_INT64_T, NULL, &items), 1);
    ok(drep_view_size(v, &etypes));
    ck_assert_int_eq(etypes, 0);
    ok(drep_view_close(v));

    f = new_file(":memory:", "external32");
    ds = new_dataset(f, "d", DREP_INT64_T, 1, &n);
    ok(drep_view_dataset(ds, &v));
    try_views(v, apart);
    ok(drep_view_close(v));
    drep_dataset_close(ds);
    drep_abandon(f);
    drep_type_free(apart);
}
END_TEST

START_TEST(test_datasets_and_attributes)
{
    int64_t buf[8] = {0}, n = 8;
    drep_type *apart = far_apart();
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *ds = new_dataset(f, "d", DREP_INT64_T, 1, &n);

    large(drep_write(ds, NULL, apart, buf, NULL), 8);
    large(drep_read(ds, NULL, apart, buf, NULL), 8);
    large(drep_attr_write(f, "/", "a", apart, 1, &n, buf), 8);
    ok(drep_attr_write(f, "/", "a", DREP_INT64_T, 1, &n, buf));
    large(drep_attr_read(f, "/", "a", apart, buf), 8);
    for (int i = 0; i < HUGE_COUNTS; i++) {
        static const int codes[] = {DREP_ERR_VALUE_TOO_LARGE, DREP_ERR_LIMIT, DREP_ERR_DIMS, 0};
        const int64_t dims[2] = {huge[i], huge[i]};

        refused(drep_attr_write(f, "/", "b", DREP_INT64_T, 1, dims, buf), codes, "attr", huge[i]);
        refused(drep_attr_write(f, "/", "b", DREP_INT64_T, 2, dims, buf), codes, "attr", huge[i]);
        refused(drep_dataset_create(
                    f, "e", &DREP_SPEC(.type = DREP_INT64_T, .rank = 2, .dims = dims), NULL),
                codes, "create", huge[i]);
        refused(drep_append(ds, 0, huge[i], NULL, buf, NULL), codes, "append", huge[i]);
        ok(drep_commit(f)); /* appending goes on */
    }
    for (int i = 0; i < NEGATIVE_COUNTS; i++) {
        static const int codes[] = {DREP_ERR_COUNT, DREP_ERR_DIMS, DREP_ERR_ARG, 0};

        refused(drep_attr_write(f, "/", "b", DREP_INT64_T, 1, &negative[i], buf), codes, "attr",
                negative[i]);
        refused(
            drep_dataset_create(
                f, "e", &DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &negative[i]), NULL),
            codes, "create", negative[i]);
        refused(drep_append(ds, 0, negative[i], NULL, buf, NULL), codes, "append", negative[i]);
        ok(drep_commit(f));
        refused(drep_dataset_resize(ds, &negative[i]), codes, "resize", negative[i]);
    }
    drep_dataset_close(ds);
    drep_abandon(f);
    drep_type_free(apart);
}
END_TEST

START_TEST(test_selections)
{
    static const int codes[] = {DREP_ERR_RANGE, DREP_ERR_ARG, DREP_ERR_NOMEM, 0};
    const int64_t zero[2] = {0, 0}, one[2] = {1, 1};
    drep_selection *a, *b, *sel;

    for (int i = 0; i < HUGE_COUNTS + NEGATIVE_COUNTS; i++) {
        int64_t n = i < HUGE_COUNTS ? huge[i] : negative[i - HUGE_COUNTS];
        const int64_t two[2] = {n, n};

        refused(drep_select_box(2, zero, two, NULL, NULL, &sel), codes, "box", n);
        refused(drep_select_box(2, two, two, NULL, NULL, &sel), codes, "box", n);
        refused(drep_select_box(2, two, two, two, two, &sel), codes, "box", n);
        refused(drep_select_points(2, n, zero, &sel), codes, "points", n);
        if (n < 0)
            refused(drep_select_box(2, two, one, NULL, NULL, &sel), codes, "box", n);
    }
    /* Two boxes, each of which can be counted, but not both. */
    ok(drep_select_box(1, zero, (int64_t[]){(int64_t)1 << 62}, NULL, NULL, &a));
    ok(drep_select_box(1, (int64_t[]){(int64_t)1 << 62}, (int64_t[]){((int64_t)1 << 62) - 2}, NULL,
                       NULL, &b));
    ok(drep_select_union(a, b, &sel));
    ck_assert_int_eq(drep_selection_count(sel), INT64_MAX - 1);
    drep_selection_free(sel);
    drep_selection_free(a);
    drep_selection_free(b);
}
END_TEST

/* A dataset of 2^62 bytes is one, also in a single dimension; of more it is not (R8.1). */
START_TEST(test_the_largest_dataset)
{
    const int64_t most = (int64_t)1 << 62, chunk[2] = {4096, 1};
    const struct {
        int rank;
        int64_t dims[2];
        int err;
    } all[] = {{1, {most}, 0},
               {2, {most, 1}, 0},
               {2, {2, most / 2}, 0},
               {1, {most + 1}, DREP_ERR_DIMS},
               {2, {2, most / 2 + 1}, DREP_ERR_LIMIT}};
    char name[16];
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create(":memory:", DREP_RDWR, "native", NULL, &f));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        drep_spec spec = DREP_SPEC(.type = DREP_UINT8_T, .rank = all[i].rank, .dims = all[i].dims,
                                   .layout = DREP_CHUNKED, .chunk = chunk);

        snprintf(name, sizeof name, "/%zu", i);
        ck_assert_msg(drep_dataset_create(f, name, &spec, &ds) == all[i].err, "%zu: %s", i,
                      drep_error());
        if (!all[i].err)
            drep_dataset_close(ds);
    }
    ok(drep_close(f));
}
END_TEST

START_TEST(test_constructors)
{
    static const int codes[] = {DREP_ERR_VALUE_TOO_LARGE,
                                DREP_ERR_NOMEM,
                                DREP_ERR_LIMIT,
                                DREP_ERR_COUNT,
                                DREP_ERR_ARG,
                                DREP_ERR_DIMS,
                                0};
    const drep_type *types[] = {DREP_INT64_T};
    const char *const names[] = {"a"};
    const int64_t one = 1;
    drep_type *t;

    for (int i = 0; i < HUGE_COUNTS + NEGATIVE_COUNTS; i++) {
        int64_t n = i < HUGE_COUNTS ? huge[i] : negative[i - HUGE_COUNTS];
        const int64_t two[2] = {n, n};

        refused(drep_type_contiguous(n, DREP_INT64_T, &t), codes, "contiguous", n);
        refused(drep_type_vector(n, n, n, DREP_INT64_T, &t), codes, "vector", n);
        refused(drep_type_hvector(n, 1, n, DREP_INT64_T, &t), codes, "hvector", n);
        refused(drep_type_indexed(n, &one, &one, DREP_INT64_T, &t), codes, "indexed", n);
        refused(drep_type_indexed(1, &n, &one, DREP_INT64_T, &t), codes, "indexed", n);
        refused(drep_type_hindexed(n, &one, &one, DREP_INT64_T, &t), codes, "hindexed", n);
        refused(drep_type_indexed_block(n, 1, &one, DREP_INT64_T, &t), codes, "block", n);
        refused(drep_type_indexed_block(1, n, &one, DREP_INT64_T, &t), codes, "block", n);
        refused(drep_type_struct(n, &one, &one, types, &t), codes, "struct", n);
        refused(drep_type_struct(1, &n, &one, types, &t), codes, "struct", n);
        refused(drep_type_compound(n, names, &one, types, 0, &t), codes, "compound", n);
        refused(drep_type_array(2, two, DREP_INT64_T, &t), codes, "array", n);
        if (n < 0 || n > (int64_t)1 << 62) { /* so many bytes are a type */
            refused(drep_type_string(n, DREP_PAD_NUL, &t), codes, "string", n);
            refused(drep_type_opaque(n, NULL, &t), codes, "opaque", n);
        }
        refused(drep_type_enum(DREP_INT, n, names, &one, &t), codes, "enum", n);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("counts");
    TCase *t = tcase_create("counts");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_convert);
    tcase_add_test(t, test_sequences);
    tcase_add_test(t, test_pack);
    tcase_add_test(t, test_pack_units);
    tcase_add_test(t, test_views);
    tcase_add_test(t, test_datasets_and_attributes);
    tcase_add_test(t, test_selections);
    tcase_add_test(t, test_the_largest_dataset);
    tcase_add_test(t, test_constructors);
    suite_add_tcase(s, t);
    return run_suite(s);
}
