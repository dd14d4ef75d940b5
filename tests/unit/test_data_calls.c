/* test_data_calls.c - how often a user's functions are called for elements of datasets, and
 * what becomes of bytes that they do not write (requirement U, D9). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <malloc.h>
#include <stdatomic.h>

/* ---- functions that count ---- */

enum { CALLS = 4096 };

static struct {
    struct {
        void *user;
        const drep_type *type;
        int64_t count, position;
    } call[CALLS];
    atomic_int n;
} spy;

static int note(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                bool reading)
{
    int n = atomic_fetch_add(&spy.n, 1);

    if (n < CALLS) {
        spy.call[n].user = user;
        spy.call[n].type = type;
        spy.call[n].count = count;
        spy.call[n].position = position;
    }
    return xor_run(user, type, count, file, position, reading);
}

static int count_read(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)state;
    return note(user, type, count, file, position, true);
}

static int count_write(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    (void)state;
    return note(user, type, count, file, position, false);
}

/* ---- functions that do less than they say ---- */

/* Only the first item of each call. */
static int lazy_read(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                     void *state)
{
    (void)count;
    (void)state;
    return xor_run(user, type, 1, file, position, true);
}

static int lazy_write(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    (void)count;
    (void)state;
    return xor_run(user, type, 1, file, position, false);
}

/* The bytes as they are. */
static int plain_read(void *user, const drep_type *type, int64_t count, void *file,
                      int64_t position, void *state)
{
    drep_cursor cursor;
    drep_run run;
    uint8_t *p = file;

    (void)state;
    if (drep_cursor_init(&cursor, type, position) != 0)
        return 1;
    for (; count > 0 && drep_cursor_next(&cursor, 1, &run); count--, p += drep_type_size(run.type))
        memcpy((char *)user + run.offset, p, (size_t)drep_type_size(run.type));
    return 0;
}

static void setup(void)
{
    static bool done;

    if (!done) {
        ok(drep_register_datarep("counting", count_read, count_write, native_extent, NULL));
        ok(drep_register_datarep("lazy writer", plain_read, lazy_write, native_extent, NULL));
        ok(drep_register_datarep("lazy reader", lazy_read, xor_write, native_extent, NULL));
#ifdef M_PERTURB
        mallopt(M_PERTURB, 0xc3); /* new memory is not zeros */
#endif
    }
    done = true;
    register_datareps();
}

/* ---- element types ---- */

/* One int; several items with a gap in memory; items between which others lie that no function
 * sees. */
enum { ONE, PAIR, MIXED, KINDS };
struct pair {
    int16_t a;
    int32_t b;
};
struct mixed {
    int32_t a;
    char text[3];
    int16_t b[2];
};

static drep_type *kind_type(int kind)
{
    static const int64_t pair_at[] = {offsetof(struct pair, a), offsetof(struct pair, b)};
    static const int64_t mixed_at[] = {offsetof(struct mixed, a), offsetof(struct mixed, text),
                                       offsetof(struct mixed, b)};
    const drep_type *pair[] = {DREP_INT16_T, DREP_INT32_T};
    drep_type *t, *text, *two;

    if (kind == ONE)
        return drep_type_ref(DREP_INT32_T);
    if (kind == PAIR) {
        ok(drep_type_compound(2, (const char *const[]){"a", "b"}, pair_at, pair,
                              sizeof(struct pair), &t));
        return t;
    }
    ok(drep_type_string(3, DREP_PAD_NUL, &text));
    ok(drep_type_array(1, (int64_t[]){2}, DREP_INT16_T, &two));
    ok(drep_type_compound(3, (const char *const[]){"a", "text", "b"}, mixed_at,
                          (const drep_type *const[]){DREP_INT32_T, text, two}, sizeof(struct mixed),
                          &t));
    drep_type_free(text);
    drep_type_free(two);
    return t;
}

/* Items of an element that functions see. */
static const int kind_items[KINDS] = {1, 2, 3};
static const size_t kind_size[KINDS] = {sizeof(int32_t), sizeof(struct pair), sizeof(struct mixed)};

static void kind_make(int kind, int value, void *p)
{
    const int32_t one = value;
    const struct pair pair = {.a = (int16_t)value, .b = value * 3};
    const struct mixed mixed = {.a = value,
                                .text = {(char)('a' + value % 26), (char)('a' + value % 7), 0},
                                .b = {(int16_t)-value, (int16_t)(value / 2)}};

    memset(p, 0, kind_size[kind]);
    if (kind == ONE)
        memcpy(p, &one, sizeof one);
    else if (kind == PAIR) {
        ((struct pair *)p)->a = pair.a;
        ((struct pair *)p)->b = pair.b;
    } else {
        ((struct mixed *)p)->a = mixed.a;
        memcpy(((struct mixed *)p)->text, mixed.text, sizeof mixed.text);
        memcpy(((struct mixed *)p)->b, mixed.b, sizeof mixed.b);
    }
}

/* ---- selections and where their elements lie ---- */

enum { ROWS = 50, COLUMNS = 60, COUNT = ROWS * COLUMNS };

static bool select_row(int i)
{
    return i % 3 == 0;
}

/* Which elements the selection has, by number: in row-major order, or the points'. */
static int choose(const char *what, drep_selection **sel, int *at)
{
    static int64_t coords[2 * COUNT];
    drep_selection *a, *b;
    int n = 0;

    *sel = NULL;
    if (strcmp(what, "rows") == 0) { /* [::2, :] */
        ok(drep_select_box(2, (int64_t[]){0, 0}, (int64_t[]){ROWS / 2, COLUMNS}, (int64_t[]){2, 1},
                           NULL, sel));
        for (int i = 0; i < COUNT; i++)
            if (i / COLUMNS % 2 == 0)
                at[n++] = i;
    } else if (strcmp(what, "stride") == 0) { /* [::3, ::5] */
        ok(drep_select_box(2, (int64_t[]){0, 0}, (int64_t[]){17, 12}, (int64_t[]){3, 5}, NULL,
                           sel));
        for (int i = 0; i < COUNT; i++)
            if (select_row(i / COLUMNS) && i % COLUMNS % 5 == 0)
                at[n++] = i;
    } else if (strcmp(what, "column") == 0) {
        ok(drep_select_box(2, (int64_t[]){0, 7}, (int64_t[]){ROWS, 1}, NULL, NULL, sel));
        for (int i = 0; i < ROWS; i++)
            at[n++] = i * COLUMNS + 7;
    } else if (strcmp(what, "blocks") == 0) {
        ok(drep_select_box(2, (int64_t[]){1, 2}, (int64_t[]){12, 8}, (int64_t[]){4, 7},
                           (int64_t[]){2, 3}, sel));
        for (int i = 0; i < COUNT; i++)
            if (i / COLUMNS >= 1 && (i / COLUMNS - 1) % 4 < 2 && i / COLUMNS < 49 &&
                i % COLUMNS >= 2 && (i % COLUMNS - 2) % 7 < 3 && i % COLUMNS < 58)
                at[n++] = i;
    } else if (strcmp(what, "points") == 0) {
        for (int i = 0; n < 700; i++, n++) {
            at[n] = i * 1999 % COUNT; /* no element twice */
            coords[2 * n] = at[n] / COLUMNS;
            coords[2 * n + 1] = at[n] % COLUMNS;
        }
        ok(drep_select_points(2, n, coords, sel));
    } else {
        ok(drep_select_box(2, (int64_t[]){0, 0}, (int64_t[]){17, 12}, (int64_t[]){3, 5}, NULL, &a));
        ok(drep_select_box(2, (int64_t[]){30, 30}, (int64_t[]){5, 9}, NULL, NULL, &b));
        ok(drep_select_union(a, b, sel));
        drep_selection_free(a);
        drep_selection_free(b);
        for (int i = 0; i < COUNT; i++)
            if ((select_row(i / COLUMNS) && i % COLUMNS % 5 == 0) ||
                (i / COLUMNS >= 30 && i / COLUMNS < 35 && i % COLUMNS >= 30 && i % COLUMNS < 39))
                at[n++] = i;
    }
    ck_assert_int_eq(drep_selection_count(*sel), n);
    return n;
}

/* ---- one call for each part ---- */

static const struct {
    const char *name;
    int layout, nfilters;
    int64_t chunk[2];
} layouts[] = {
    {"compact", DREP_COMPACT, 0, {0, 0}},         {"contiguous", DREP_CONTIGUOUS, 0, {0, 0}},
    {"chunked", DREP_CHUNKED, 0, {16, 25}},       {"one chunk", DREP_CHUNKED, 0, {64, 64}},
    {"filtered", DREP_CHUNKED, 1, {16, 25}},      {"filtered whole", DREP_CHUNKED, 1, {50, 60}},
    {"shuffled rows", DREP_CHUNKED, 1, {50, 20}},
};

static int part_of(size_t layout, int at)
{
    const int64_t *chunk = layouts[layout].chunk;

    return chunk[0] == 0 ? 0
                         : (int)(at / COLUMNS / chunk[0] * ((COLUMNS - 1) / chunk[1] + 1) +
                                 at % COLUMNS / chunk[1]);
}

/* As many calls as parts, each a transfer from position 0 with all items of its part. */
static void check_calls(size_t layout, int items, const int *at, int n)
{
    int count[64] = {0}, parts = 0, seen = spy.n;
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        count[part_of(layout, at[i])]++;
    for (int p = 0; p < 64; p++)
        parts += count[p] > 0;
    ck_assert_msg(seen == parts, "%s: %d calls for %d parts", layouts[layout].name, seen, parts);
    for (int p = 0, k = 0; p < 64; p++) {
        if (count[p] == 0)
            continue;
        ck_assert_int_eq(spy.call[k].position, 0);
        ck_assert_int_eq(spy.call[k].count, (int64_t)count[p] * items);
        ck_assert_int_eq(drep_type_items(spy.call[k].type) % items, 0);
        sum += spy.call[k++].count;
    }
    ck_assert_int_eq(sum, (int64_t)n * items);
}

static void one_selection(size_t layout, int kind, const char *what)
{
    static char all[COUNT * sizeof(struct mixed)], some[COUNT * sizeof(struct mixed)],
        back[COUNT * sizeof(struct mixed)];
    static int at[COUNT];
    const int64_t dims[] = {ROWS, COLUMNS};
    const drep_filter shuffle = {.id = DREP_FILTER_SHUFFLE};
    const drep_xfer one = DREP_XFER(.threads = 1);
    drep_type *type = kind_type(kind);
    drep_spec spec =
        DREP_SPEC(.type = type, .rank = 2, .dims = dims, .layout = layouts[layout].layout,
                  .chunk = layouts[layout].chunk[0] ? layouts[layout].chunk : NULL,
                  .filters = layouts[layout].nfilters ? &shuffle : NULL,
                  .nfilters = layouts[layout].nfilters);
    size_t size = kind_size[kind];
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *f;
    int n;

    f = new_file(":memory:", "counting");
    ok(drep_dataset_create(f, "d", &spec, &ds));
    n = choose(what, &sel, at);
    for (int i = 0; i < COUNT; i++)
        kind_make(kind, i, all + (size_t)i * size);
    ok(drep_write(ds, NULL, NULL, all, &one));
    ok(drep_commit(f));
    for (int i = 0; i < n; i++) {
        kind_make(kind, 9000 - i, some + (size_t)i * size);
        memcpy(all + (size_t)at[i] * size, some + (size_t)i * size, size);
    }
    atomic_store(&spy.n, 0);
    ok(drep_write(ds, sel, NULL, some, &one));
    check_calls(layout, kind_items[kind], at, n);
    memset(back, 0, sizeof back);
    atomic_store(&spy.n, 0);
    ok(drep_read(ds, sel, NULL, back, &one));
    check_calls(layout, kind_items[kind], at, n);
    ck_assert_msg(memcmp(back, some, (size_t)n * size) == 0, "%s, %s", layouts[layout].name, what);
    memset(back, 0, sizeof back);
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_msg(memcmp(back, all, COUNT * size) == 0, "%s, %s", layouts[layout].name, what);
    drep_dataset_close(ds);
    drep_selection_free(sel);
    ok(drep_close(f));
    drep_type_free(type);
}

START_TEST(test_U5_U6_U7_D9_one_call_for_each_part)
{
    static const char *const what[] = {"rows", "stride", "column", "blocks", "points", "union"};
    int tried = 0;

    setup();
    for (size_t layout = 0; layout < sizeof layouts / sizeof layouts[0]; layout++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
                if (layouts[layout].layout == DREP_COMPACT && kind != ONE)
                    continue; /* too large */
                one_selection(layout, kind, what[i]);
                tried++;
            }
    printf("counted: %d kinds of selections under functions that count their calls\n", tried);
}
END_TEST

/* Elements that were never written come from the fill value, in one call for each part too. */
START_TEST(test_D9_fill_in_one_call)
{
    const int64_t dims[] = {ROWS, COLUMNS}, chunk[] = {16, 25};
    const int32_t fill = 77;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .chunk = chunk,
                               .fill = DREP_FILL_VALUE, .fill_value = &fill);
    static int32_t back[COUNT];
    static int at[COUNT];
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *f;
    int n;

    setup();
    f = new_file(":memory:", "counting");
    ok(drep_dataset_create(f, "d", &spec, &ds));
    n = choose("stride", &sel, at);
    atomic_store(&spy.n, 0);
    ok(drep_read(ds, sel, NULL, back, &DREP_XFER(.threads = 1)));
    check_calls(2, 1, at, n);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(back[i], fill);
    drep_selection_free(sel);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* Another type in memory, and a tile of memory that no element of the file begins. */
START_TEST(test_D9_values_convert_in_one_call)
{
    const int64_t n = 5000, chunk = 1000, count = 2500, stride = 2, zero = 0;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = &chunk);
    static double in[2500], out[2500];
    drep_selection *sel;
    drep_dataset *ds;
    drep_type *five;
    drep_file *f;

    setup();
    f = new_file(":memory:", "counting");
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_select_box(1, &zero, &count, &stride, NULL, &sel));
    ok(drep_type_contiguous(5, DREP_DOUBLE, &five));
    for (int i = 0; i < count; i++)
        in[i] = i * 7 - 3;
    atomic_store(&spy.n, 0);
    ok(drep_write(ds, sel, five, in, NULL));
    ck_assert_int_eq(spy.n, 5);
    ok(drep_read(ds, sel, DREP_DOUBLE, out, NULL));
    ck_assert_int_eq(spy.n, 10);
    for (int i = 0; i < count; i++)
        ck_assert(in[i] == out[i]);
    in[1234] = 1e300; /* its number is in the message, though many runs went together */
    fails(drep_write(ds, sel, five, in, NULL), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "item 1234 "));
    drep_selection_free(sel);
    drep_type_free(five);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

/* Elements of several items, and memory of another type whose elements are the items: chunks take
 * short runs of it, which lie apart. */
START_TEST(test_D9_items_convert_in_rows)
{
    enum { HIGH = 40, WIDE = 30, ITEMS = 3, ALL = HIGH * WIDE * ITEMS };
    const int64_t dims[] = {HIGH, WIDE}, chunk[] = {10, 10}, items = ITEMS;
    static double in[ALL], out[ALL];
    static int32_t plain[ALL];
    drep_spec spec = DREP_SPEC(.rank = 2, .dims = dims, .chunk = chunk);
    drep_type *triple;
    drep_dataset *ds;
    drep_file *f;

    setup();
    f = new_file(":memory:", "counting");
    ok(drep_type_array(1, &items, DREP_INT32_T, &triple));
    spec.type = triple;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    for (int i = 0; i < ALL; i++)
        in[i] = i * 7 - 3;
    ok(drep_write(ds, NULL, DREP_DOUBLE, in, &DREP_XFER(.buf_size = sizeof in)));
    ok(drep_read(ds, NULL, DREP_INT32_T, plain, &DREP_XFER(.buf_size = sizeof plain)));
    ok(drep_read(ds, NULL, DREP_DOUBLE, out, &DREP_XFER(.buf_size = sizeof out)));
    for (int i = 0; i < ALL; i++) {
        ck_assert_int_eq(plain[i], i * 7 - 3);
        ck_assert(out[i] == in[i]);
    }
    drep_type_free(triple);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* More calls only where the staging buffer is full; they are one transfer where memory is in
 * one piece. */
START_TEST(test_U6_D9_full_staging)
{
    const int64_t n = 10000, count = 5000, stride = 2, zero = 0;
    drep_info *info = hints("drep_sync=none", "cb_buffer_size=4000", (char *)NULL);
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = &n);
    static int32_t in[5000], out[5000];
    drep_selection *sel;
    drep_dataset *ds;
    drep_file *f;

    setup();
    ok(drep_create(":memory:", DREP_RDWR, "counting", info, &f));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_select_box(1, &zero, &count, &stride, NULL, &sel));
    for (int i = 0; i < count; i++)
        in[i] = i * 7 - 3;
    for (int reading = 0; reading < 2; reading++) {
        atomic_store(&spy.n, 0);
        ok(reading ? drep_read(ds, sel, NULL, out, NULL) : drep_write(ds, sel, NULL, in, NULL));
        ck_assert_int_eq(spy.n, 5);
        for (int i = 0; i < 5; i++) {
            ck_assert_int_eq(spy.call[i].count, 1000);
            ck_assert_int_eq(spy.call[i].position, 1000 * i);
            ck_assert_ptr_eq(spy.call[i].user, reading ? out : in);
        }
    }
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    drep_selection_free(sel);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_info_free(info);
}
END_TEST

/* Threads share parts; they do not cut them. */
START_TEST(test_D9_threads_do_not_cut_parts)
{
    const int64_t n = 3 << 20, chunk = 1 << 18, stride = 2, count = n / 2, zero = 0;
    int32_t *in = malloc((size_t)n * sizeof *in), *out = calloc((size_t)n, sizeof *out);
    const drep_xfer four = DREP_XFER(.threads = 4);
    drep_selection *sel;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f;

    setup();
    ok(drep_select_box(1, &zero, &count, &stride, NULL, &sel));
    for (int64_t i = 0; i < n; i++)
        in[i] = (int32_t)(i * 5);
    for (int layout = DREP_CONTIGUOUS; layout <= DREP_CHUNKED; layout++) {
        drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .layout = layout,
                                   .chunk = layout == DREP_CHUNKED ? &chunk : NULL);

        f = new_file(":memory:", "counting");
        ok(drep_dataset_create(f, "d", &spec, &ds));
        ok(drep_dataset_info(ds, &info));
        for (int turn = 0; turn < 4; turn++) {
            const drep_selection *what = turn % 2 ? sel : NULL;

            atomic_store(&spy.n, 0);
            ok(turn < 2 ? drep_write(ds, what, NULL, in, &four)
                        : drep_read(ds, what, NULL, out, &four));
            ck_assert_int_eq(spy.n, (n - 1) / info.chunk[0] + 1);
        }
        ck_assert_int_eq(memcmp(in, out, (size_t)count * sizeof *in), 0);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    drep_selection_free(sel);
    free(in);
    free(out);
}
END_TEST

/* ---- what functions do not write ---- */

/* Reads the dataset as bytes: the first item of each call was written, all else is zeros, or
 * fill where nothing was written. */
static void check_zeros(drep_dataset *ds, int64_t n, bool fill, const char *what)
{
    int32_t *out = malloc((size_t)n * sizeof *out);
    int64_t written = 0;

    memset(out, 0xee, (size_t)n * sizeof *out);
    ok(drep_read(ds, NULL, NULL, out, NULL));
    for (int64_t i = 0; i < n; i++) {
        written += out[i] != 0;
        ck_assert_msg(out[i] == 0 || out[i] == (0x01020304 ^ 0x5a5a5a5a) ||
                          (fill && out[i] == 0x5a5a5a5a),
                      "%s: %08x in element %lld", what, (unsigned)out[i], (long long)i);
    }
    ck_assert_int_gt(written, 0);
    free(out);
}

START_TEST(test_write_function_that_writes_less)
{
    const int64_t dims[] = {ROWS, COLUMNS};
    const drep_filter shuffle = {.id = DREP_FILTER_SHUFFLE};
    static int32_t in[COUNT];
    static int at[COUNT];
    drep_selection *sel;
    drep_dataset *ds;
    drep_view *view;
    drep_file *f;
    int64_t items;

    setup();
    for (int i = 0; i < COUNT; i++)
        in[i] = 0x01020304;
    for (size_t layout = 0; layout < sizeof layouts / sizeof layouts[0]; layout++)
        for (int how = 0; how < 3; how++) {
            drep_spec spec =
                DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims,
                          .layout = layouts[layout].layout,
                          .chunk = layouts[layout].chunk[0] ? layouts[layout].chunk : NULL,
                          .filters = layouts[layout].nfilters ? &shuffle : NULL,
                          .nfilters = layouts[layout].nfilters, .fill = DREP_FILL_NONE);

            f = new_file(":memory:", "lazy writer");
            ok(drep_dataset_create(f, "d", &spec, &ds));
            choose("stride", &sel, at);
            if (how < 2) {
                ok(drep_write(ds, how ? sel : NULL, NULL, in, NULL));
            } else {
                ok(drep_view_dataset(ds, &view));
                ok(drep_write_at(view, 0, in, COUNT, DREP_INT32_T, NULL, &items));
                ok(drep_view_close(view));
            }
            check_zeros(ds, COUNT, how == 1, layouts[layout].name);
            drep_selection_free(sel);
            drep_dataset_close(ds);
            ok(drep_close(f));
        }
}
END_TEST

START_TEST(test_packing_function_that_writes_less)
{
    int32_t in[100], out[100];
    uint8_t unit[2000];
    int64_t at = 0, size;

    setup();
    for (int i = 0; i < 100; i++)
        in[i] = 0x01020304;
    memset(out, 0xee, sizeof out);
    ok(drep_pack("lazy writer", in, 100, DREP_INT32_T, out, sizeof out, &at));
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(out[i], i == 0 ? 0x01020304 ^ 0x5a5a5a5a : 0);
    memset(unit, 0xee, sizeof unit);
    at = 0;
    ok(drep_pack_unit("lazy writer", in, 100, DREP_INT32_T, unit, sizeof unit, &at));
    ok(drep_pack_unit_size("lazy writer", 100, DREP_INT32_T, &size));
    ck_assert_int_eq(at, size);
    for (int64_t i = size - 396; i < size; i++)
        ck_assert_int_eq(unit[i], 0);
}
END_TEST

/* Memory of another type is filled from staging: zeros where the function left it alone, and
 * nothing of the elements before. */
START_TEST(test_read_function_that_writes_less)
{
    const int64_t n = 40000;
    drep_info *info = hints("drep_sync=none", "cb_buffer_size=4000", (char *)NULL);
    int64_t *out = malloc((size_t)n * sizeof *out);
    int32_t *in = malloc((size_t)n * sizeof *in);
    drep_dataset *ds, *to;
    drep_file *f, *g;

    setup();
    for (int64_t i = 0; i < n; i++)
        in[i] = 0x01020304;
    ok(drep_create(":memory:", DREP_RDWR, "lazy reader", info, &f));
    ds = new_dataset(f, "d", DREP_INT32_T, 1, &n);
    ok(drep_write(ds, NULL, NULL, in, NULL));
    memset(out, 0xee, (size_t)n * sizeof *out);
    ok(drep_read(ds, NULL, DREP_INT64_T, out, NULL));
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(out[i] == 0 || (out[i] == 0x01020304 && i % 500 == 0), "%llx in element %lld",
                      (long long)out[i], (long long)i);
    ok(drep_commit(f));
    g = new_file(":memory:", "native");
    ok(drep_copy(f, "d", g, "d", NULL));
    ok(drep_dataset_open(g, "d", &to));
    memset(in, 0xee, (size_t)n * sizeof *in);
    ok(drep_read(to, NULL, NULL, in, NULL));
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(in[i] == 0 || (in[i] == 0x01020304 && i % 1000 == 0), "%x in element %lld",
                      (unsigned)in[i], (long long)i);
    drep_dataset_close(to);
    drep_dataset_close(ds);
    ok(drep_close(g));
    ok(drep_close(f));
    drep_info_free(info);
    free(in);
    free(out);
}
END_TEST

/* A filter that says of what it did not write that it did. */
static int lazy_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                       void *out, size_t *out_size, void *state)
{
    bool decoding = *(bool *)state;

    (void)params;
    (void)nparams;
    memcpy(out, in, in_size < 4 ? in_size : 4);
    if (!decoding)
        *out_size = in_size / 2;
    return 0;
}

static int honest_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *state)
{
    (void)params;
    (void)nparams;
    (void)state;
    memset(out, 0, *out_size);
    memcpy(out, in, in_size < *out_size ? in_size : *out_size);
    return 0;
}

START_TEST(test_filters_that_write_less)
{
    static bool decoding[] = {false, true};
    const int64_t n = 5000;
    int32_t in[5000], out[5000];

    setup();
    ok(drep_register_filter("lazy encoder", lazy_filter, honest_filter, &decoding[0],
                            DREP_FILTER_NO_SUM));
    ok(drep_register_filter("lazy decoder", lazy_filter, lazy_filter, &decoding[1],
                            DREP_FILTER_NO_SUM));
    for (int k = 0; k < 2; k++) {
        const drep_filter filter = {.id = DREP_FILTER_USER,
                                    .name = k ? "lazy decoder" : "lazy encoder"};
        drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = &n,
                                   .filters = &filter, .nfilters = 1);
        drep_info *info = hints("drep_sync=none", "drep_cache_size=0", (char *)NULL);
        drep_dataset *ds;
        drep_file *f;

        for (int i = 0; i < n; i++)
            in[i] = 0x01020304;
        decoding[1] = false;
        ok(drep_create(":memory:", DREP_RDWR, "native", info, &f));
        ok(drep_dataset_create(f, "d", &spec, &ds));
        ok(drep_write(ds, NULL, NULL, in, NULL));
        ok(drep_commit(f));
        decoding[1] = true;
        memset(out, 0xee, sizeof out);
        ok(drep_read(ds, NULL, NULL, out, NULL));
        for (int i = 0; i < n; i++)
            ck_assert_msg(out[i] == (i == 0 ? in[0] : 0), "%s: %x in element %d", filter.name,
                          (unsigned)out[i], i);
        drep_dataset_close(ds);
        ok(drep_close(f));
        drep_info_free(info);
    }
}
END_TEST

/* ---- elements with texts that no call has written ---- */

/* A chunk of which all is written that the dataset has: when this grows, the rest is its fill, each
 * element with a text of its own. */
START_TEST(test_fill_behind_a_whole_chunk)
{
    const int64_t len[] = {3}, max[] = {DREP_UNLIMITED}, chunk[] = {8}, more[] = {8};
    const char *const fill = "nothing";
    const char *in[8] = {"x", "yy", "zzz", "4", "5", "6", "7", "8"};
    drep_file *f = new_file(":memory:", "external32");
    drep_type *text = value_type(V_VSTRING);
    drep_spec spec =
        DREP_SPEC(.type = text, .rank = 1, .dims = len, .maxdims = max, .layout = DREP_CHUNKED,
                  .chunk = chunk, .fill = DREP_FILL_VALUE, .fill_value = &fill);
    drep_dataset *ds;
    char *out[8];

    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, text, in, NULL));
    ok(drep_dataset_resize(ds, more));
    ok(drep_read(ds, NULL, text, out, NULL));
    for (int i = 0; i < 8; i++)
        ck_assert_str_eq(out[i], i < 3 ? in[i] : fill);
    drep_vlen_free(text, 8, out);
    ok(drep_write(ds, NULL, text, in, NULL));
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data calls");
    TCase *t = tcase_create("calls");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_U5_U6_U7_D9_one_call_for_each_part);
    tcase_add_test(t, test_D9_fill_in_one_call);
    tcase_add_test(t, test_D9_values_convert_in_one_call);
    tcase_add_test(t, test_D9_items_convert_in_rows);
    tcase_add_test(t, test_U6_D9_full_staging);
    tcase_add_test(t, test_D9_threads_do_not_cut_parts);
    tcase_add_test(t, test_write_function_that_writes_less);
    tcase_add_test(t, test_packing_function_that_writes_less);
    tcase_add_test(t, test_read_function_that_writes_less);
    tcase_add_test(t, test_filters_that_write_less);
    tcase_add_test(t, test_fill_behind_a_whole_chunk);
    suite_add_tcase(s, t);
    return run_suite(s);
}
