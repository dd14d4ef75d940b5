/* test_data_placed.c - datasets whose structs keep the offsets of their type: values come back
 * under every representation, gaps are zeros, copies keep them, and what has no room is refused. */
/* SPDX-License-Identifier: MIT */
#include "elem/dataset.h"
#include "tree/find.h"
#include "data_help.h"

/* Members out of order, with gaps of 1, 2 and 5 bytes and at the end. */
struct element {
    float f;
    int8_t c;
    int32_t i[2];
    int16_t s;
};
static const char *const names[] = {"s", "i", "c", "f"};
static const int64_t offsets[] = {21, 8, 1, 2};
enum { EXTENT = 30, COUNT = 50 };

static drep_type *placed_type(void)
{
    drep_type *pair, *t;
    const int64_t two = 2;

    ok(drep_type_array(1, &two, DREP_INT32_T, &pair));
    ok(drep_type_compound(4, names, offsets,
                          (const drep_type *const[]){DREP_INT16_T, pair, DREP_INT8_T, DREP_FLOAT},
                          EXTENT, &t));
    drep_type_free(pair);
    return t;
}

/* Memory where even the gaps are not zero. */
static void make(uint8_t *mem, int seed)
{
    memset(mem, 0xee, COUNT * EXTENT);
    for (int k = 0; k < COUNT; k++, mem += EXTENT) {
        const float f = (float)(k + seed) / 4;
        const int32_t i[2] = {k * 1000 + seed, -k};
        const int16_t s = (int16_t)(300 + k);
        const int8_t c = (int8_t)(k - seed);

        memcpy(mem + 21, &s, sizeof s);
        memcpy(mem + 8, i, sizeof i);
        memcpy(mem + 1, &c, sizeof c);
        memcpy(mem + 2, &f, sizeof f);
    }
}

static bool in_gap(int at)
{
    return !(at >= 1 && at < 6) && !(at >= 8 && at < 16) && !(at >= 21 && at < 23);
}

static void same(const uint8_t *a, const uint8_t *b, int n)
{
    for (int i = 0; i < n * EXTENT; i++)
        if (!in_gap(i % EXTENT))
            ck_assert_msg(a[i] == b[i], "byte %d of element %d", i % EXTENT, i / EXTENT);
}

static drep_dataset *place(drep_file *f, const drep_type *type, int layout, bool filtered)
{
    const int64_t n = COUNT, chunk = 16;
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &n, .layout = layout, .placed = 1);
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    if (layout == DREP_CHUNKED)
        spec.chunk = &chunk;
    if (filtered) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.element_size, EXTENT);
    return ds;
}

/* Writes all, then every third element, then some again; each must come back. */
static void round_trip(drep_file *f, const drep_type *type, drep_dataset *ds)
{
    static uint8_t all[COUNT * EXTENT], other[COUNT * EXTENT], back[COUNT * EXTENT];
    const int64_t start = 1, count = 16, stride = 3;
    drep_selection *some;

    make(all, 1);
    make(other, 77);
    ok(drep_write(ds, NULL, type, all, NULL));
    ok(drep_read(ds, NULL, type, back, NULL));
    same(all, back, COUNT);
    ok(drep_select_box(1, &start, &count, &stride, NULL, &some));
    ok(drep_write(ds, some, type, other, NULL));
    for (int k = 0; k < count; k++)
        memcpy(all + (start + k * stride) * EXTENT, other + k * EXTENT, EXTENT);
    ok(drep_commit(f));
    memset(back, 0x77, sizeof back);
    ok(drep_read(ds, NULL, type, back, NULL));
    same(all, back, COUNT);
    drep_selection_free(some);
    check_file(f);
}

START_TEST(test_values_come_back)
{
    static const char *const reps[] = {"external32", "internal", "native", "native:s390x", "xor"};
    static const int layouts[] = {DREP_COMPACT, DREP_CONTIGUOUS, DREP_CHUNKED, DREP_CHUNKED};
    drep_type *type = placed_type();

    register_datareps();
    for (size_t r = 0; r < sizeof reps / sizeof *reps; r++)
        for (int l = 0; l < 4; l++) {
            drep_file *f = new_file(":memory:", reps[r]);
            drep_dataset *ds = place(f, type, layouts[l], l == 3);

            round_trip(f, type, ds);
            drep_dataset_close(ds);
            ok(drep_close(f));
        }
    drep_type_free(type);
}
END_TEST

/* The stored bytes: big-endian at the offsets, zeros between. */
START_TEST(test_gaps_are_zeros)
{
    static uint8_t all[COUNT * EXTENT];
    drep_file *f = new_file(":memory:", "external32");
    drep_type *type = placed_type();
    drep_dataset *ds = place(f, type, DREP_COMPACT, false);
    struct buf bytes = {0};
    drep_objinfo info = DREP_OBJINFO;
    struct key key;

    make(all, 1);
    ok(drep_write(ds, NULL, type, all, NULL));
    ok(drep_stat(f, "d", &info));
    key_make(&key, info.id, FMT_TAG_DATA);
    ok(tree_get(f->st, &key, &bytes));
    ck_assert_uint_eq(bytes.len, sizeof all);
    for (int k = 0; k < COUNT; k++) {
        const uint8_t *p = bytes.p + k * EXTENT;

        ck_assert_int_eq(p[21] << 8 | p[22], 300 + k);
        ck_assert_uint_eq((uint32_t)(p[8] << 24 | p[9] << 16 | p[10] << 8 | p[11]),
                          (uint32_t)(k * 1000 + 1));
        for (int i = 0; i < EXTENT; i++)
            ck_assert_msg(!in_gap(i) || p[i] == 0, "byte %d of element %d is %02x", i, k, p[i]);
    }
    buf_release(&bytes);
    drep_dataset_close(ds);
    drep_type_free(type);
    ok(drep_close(f));
}
END_TEST

/* A view shows the items packed in the order of the type, also where that is another one than
 * that of the bytes and there are no gaps that would tell. */
START_TEST(test_view_of_members_out_of_order)
{
    const int64_t n = 2, down[] = {4, 0};
    const int32_t mem[] = {2, 1, 4, 3};
    int32_t seen[4];
    drep_file *f = new_file(":memory:", "external32");
    drep_type *type;
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &n, .placed = 1);
    drep_dataset *ds;
    drep_view *v;

    ok(drep_type_compound(2, names, down, (const drep_type *const[]){DREP_INT32_T, DREP_INT32_T}, 8,
                          &type));
    spec.type = type;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, (const int32_t[]){1, 2, 3, 4}, NULL)); /* members in order */
    ok(drep_write(ds, NULL, type, mem, NULL));
    ok(drep_view_dataset(ds, &v));
    ok(drep_view_set(v, 0, DREP_INT32_T, DREP_INT32_T, NULL, NULL));
    ok(drep_read_at(v, 0, seen, 4, DREP_INT32_T, NULL, NULL));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(seen[i], i + 1);
    drep_view_close(v);
    drep_dataset_close(ds);
    drep_type_free(type);
    ok(drep_close(f));
}
END_TEST

/* What memory holds apart may not have room in the file, and may overlap in memory. */
START_TEST(test_members_without_room)
{
    const int64_t n = 1, after[] = {0, 2}, twice[] = {0, 2};
    const drep_encoding wide = {.code = DREP_CODE_SHORT,
                                .format = DREP_FORMAT_INT,
                                .order = DREP_BIG,
                                .size = 4,
                                .align = 1};
    drep_file *f;
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &n, .placed = 1);
    drep_type *type;

    ok(drep_declare_datarep("wide", "external32", &wide, 1, NULL, 0));
    f = new_file(":memory:", "wide");
    ok(drep_type_compound(2, names, twice, (const drep_type *const[]){DREP_INT32_T, DREP_INT32_T},
                          8, &type));
    spec.type = type;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_TYPE);
    drep_type_free(type);
    ok(drep_type_compound(2, names, after, (const drep_type *const[]){DREP_SHORT, DREP_SHORT}, 4,
                          &type)); /* a short takes 4 bytes there */
    spec.type = type;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_TYPE);
    drep_type_free(type);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* Where the members lie in the file: each field of element 0 alone is not zero. */
static void check_offsets(drep_file *f, const char *path)
{
    struct buf bytes = {0};
    drep_objinfo info = DREP_OBJINFO;
    struct key key;

    ok(drep_stat(f, path, &info));
    key_make(&key, info.id, FMT_TAG_DATA);
    ok(tree_get(f->st, &key, &bytes));
    ck_assert_uint_eq(bytes.len, COUNT * EXTENT);
    for (size_t i = 0; i < bytes.len; i++)
        ck_assert_msg(!in_gap((int)(i % EXTENT)) || bytes.p[i] == 0, "byte %zu", i);
    buf_release(&bytes);
}

/* A copy keeps the offsets, whatever its representation and layout. */
START_TEST(test_copies_stay_placed)
{
    static const char *const reps[] = {"external32", "internal", "native", "native:s390x", "xor"};
    static uint8_t all[COUNT * EXTENT], back[COUNT * EXTENT];
    enum { REPS = sizeof reps / sizeof *reps };
    drep_type *type = placed_type();

    register_datareps();
    make(all, 1);
    for (int r = 0; r < REPS * (REPS + 1); r++) {
        drep_file *f = new_file(":memory:", reps[r % REPS]), *g;
        int layout = r % 2 ? DREP_COMPACT : DREP_CHUNKED;
        drep_dataset *ds = place(f, type, layout, layout == DREP_CHUNKED);
        drep_dsinfo info = DREP_DSINFO;

        ok(drep_write(ds, NULL, type, all, NULL));
        drep_dataset_close(ds);
        ok(drep_commit(f));
        g = r / REPS == REPS ? f : new_file(":memory:", reps[r / REPS]);
        ok(drep_copy(f, "d", g, "copy", NULL));
        ok(drep_dataset_open(g, "copy", &ds));
        ok(drep_dataset_info(ds, &info));
        ck_assert_int_eq(info.element_size, EXTENT);
        memset(back, 0x77, sizeof back);
        ok(drep_read(ds, NULL, type, back, NULL));
        same(all, back, COUNT);
        if (layout == DREP_COMPACT && r / REPS < REPS - 1)
            check_offsets(g, "copy");
        drep_dataset_close(ds);
        check_file(g);
        if (g != f)
            ok(drep_close(g));
        ok(drep_close(f));
    }
    drep_type_free(type);
}
END_TEST

/* Where the other representation has larger items that would overlap, the copy is packed. */
START_TEST(test_copies_without_room_are_packed)
{
    const int64_t n = 2, offsets_of[] = {0, 2};
    const drep_encoding wide = {.code = DREP_CODE_SHORT,
                                .format = DREP_FORMAT_INT,
                                .order = DREP_BIG,
                                .size = 4,
                                .align = 1};
    const short in[] = {1, -2, 3, -4};
    drep_file *f = new_file(":memory:", "external32"), *g;
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &n, .placed = 1);
    short out[4] = {0};
    drep_type *type;
    char *text;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_declare_datarep("wider", "external32", &wide, 1, NULL, 0));
    g = new_file(":memory:", "wider");
    ok(drep_type_compound(2, names, offsets_of, (const drep_type *const[]){DREP_SHORT, DREP_SHORT},
                          5, &type));
    spec.type = type;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, in, NULL));
    drep_dataset_close(ds);
    ok(drep_copy(f, "d", g, "d", NULL));
    ok(drep_copy(f, "d", f, "e", NULL));
    ok(drep_dataset_open(g, "d", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.element_size, 8);
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert_mem_eq(in, out, sizeof in);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "e", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.element_size, 5);
    drep_dataset_close(ds);
    drep_type_free(type);
    ok(drep_dataset_open(g, "d", &ds));
    ok(drep_dataset_placed(ds, &type));
    ck_assert_ptr_null(type);
    drep_dataset_close(ds);
    ok(drep_dataset_open(f, "e", &ds));
    ok(drep_dataset_placed(ds, &type));
    drep_dataset_close(ds);
    ok(drep_type_print(type, &text));
    ck_assert_str_eq(text, "struct{s: SHORT, i: SHORT}:5");
    free(text);
    drep_type_free(type);
    check_file(g);
    ok(drep_close(g));
    ok(drep_close(f));
}
END_TEST

/* A fill value of two numbers for an element of megabytes of gaps, or of more than the opener
 * allows: both are refused before memory is made for them. */
START_TEST(test_fill_of_gaps_is_refused)
{
    const int64_t n = 2, far[] = {0, (int64_t)15 << 20}, room[] = {0, (int64_t)1 << 19};
    const drep_type *const types[] = {DREP_SHORT, DREP_SHORT};
    int16_t *value = calloc(1, (size_t)16 << 20);
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &n, .placed = 1);
    drep_file *f = new_file(":memory:", "external32");
    drep_type *type;
    drep_info *info;

    ck_assert_ptr_nonnull(value);
    value[0] = 7;
    ok(drep_type_compound(2, names, far, types, 0, &type));
    spec.type = type;
    ok(drep_dataset_create(f, "none", &spec, NULL));
    spec.fill = DREP_FILL_VALUE;
    spec.fill_value = value;
    fails(drep_dataset_create(f, "gaps", &spec, NULL), DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(
        strstr(drep_error(), "7 bytes for an element of 15728642, most of it gaps"));
    drep_type_free(type);
    ok(drep_type_compound(2, names, room, types, 0, &type));
    spec.type = type;
    ok(drep_dataset_create(f, "some", &spec, NULL));
    check_file(f);
    ok(drep_close(f));

    ok(drep_info_new(&info));
    ok(drep_info_set(info, "drep_limit_chunk", "65536"));
    ok(drep_create(":memory:", 0, "external32", info, &f));
    drep_info_free(info);
    fails(drep_dataset_create(f, "some", &spec, NULL), DREP_ERR_LIMIT);
    ck_assert_ptr_nonnull(
        strstr(drep_error(), "element of 524290 bytes; drep_limit_chunk is 65536"));
    ok(drep_close(f));
    drep_type_free(type);
    free(value);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data placed");
    TCase *t = tcase_create("placed");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_values_come_back);
    tcase_add_test(t, test_gaps_are_zeros);
    tcase_add_test(t, test_view_of_members_out_of_order);
    tcase_add_test(t, test_members_without_room);
    tcase_add_test(t, test_copies_stay_placed);
    tcase_add_test(t, test_copies_without_room_are_packed);
    tcase_add_test(t, test_fill_of_gaps_is_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
