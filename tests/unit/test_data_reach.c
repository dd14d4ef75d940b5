/* test_data_reach.c - no file decides how far a call reaches into the caller's memory.
 *
 * Whoever allocates `count` elements of a type of its own choice is safe: behind them stands a page
 * that may be neither read nor written.  Random types are stored; every predefined one is tried. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"
#include "random_type.h"

#include <sys/mman.h>

enum { COUNT = 3, ROOM = 1 << 16, TYPES = 150 };

static char *guarded; /* ROOM bytes, then the page */
static int64_t tried, whole;

static void setup(void)
{
    guarded = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(guarded != MAP_FAILED);
    ck_assert_int_eq(mprotect(guarded + ROOM, ROOM, PROT_NONE), 0);
}

static void teardown(void)
{
    munmap(guarded, 2 * ROOM);
}

/* Memory of n elements of a type, all zeros, with the page behind it. */
static char *room_for(const drep_type *type, int64_t n)
{
    size_t size = (size_t)(n * drep_type_extent(type));

    ck_assert(size <= ROOM);
    memset(guarded, 0, ROOM);
    return guarded + ROOM - size;
}

/* A call's result must be one of these; other numbers of items are refused. */
static void judge(int err, const drep_type *stored, const drep_type *type, const char *call)
{
    bool may = err == 0 || err == DREP_ERR_TYPE || err == DREP_ERR_COUNT ||
               err == DREP_ERR_CONVERSION || err == DREP_ERR_UNSUPPORTED;

    ck_assert_msg(may, "%s: error %d: %s", call, err, drep_error());
    if (drep_type_items(stored) > 1)
        ck_assert_msg(err == DREP_ERR_TYPE, "%s: %lld items as one: %d %s", call,
                      (long long)drep_type_items(stored), err, drep_error());
    whole += err == 0 && drep_type_items(type) == drep_type_items(stored);
    tried++;
}

static void try_calls(drep_file *f, drep_dataset *ds, const drep_type *stored,
                      const drep_type *type)
{
    const int64_t none[DREP_MAX_RANK] = {0}, all = COUNT;
    drep_selection *points;
    drep_item item[2];
    char *buf = room_for(type, COUNT);

    judge(drep_read(ds, NULL, type, buf, NULL), stored, type, "drep_read");
    judge(drep_read_box(ds, none, &all, type, buf, NULL), stored, type, "drep_read_box");
    ok(drep_select_points(1, COUNT, (int64_t[COUNT]){2, 0, 1}, &points));
    judge(drep_read(ds, points, type, buf, NULL), stored, type, "points");
    drep_selection_free(points);
    item[0] = (drep_item){.path = "d", .type = type, .buf = buf};
    item[1] = (drep_item){.path = "d", .attr = "a", .type = type, .buf = buf};
    drep_readv(f, item, 2, NULL);
    for (int i = 0; i < 2; i++)
        judge(item[i].err, stored, type, "drep_readv");
    judge(drep_attr_read(f, "d", "a", type, buf), stored, type, "drep_attr_read");
    judge(drep_dataset_fill(ds, type, room_for(type, 1)), stored, type, "drep_dataset_fill");
    buf = room_for(type, COUNT);
    judge(drep_write(ds, NULL, type, buf, NULL), stored, type, "drep_write");
    judge(drep_write_box(ds, none, &all, type, buf, NULL), stored, type, "drep_write_box");
    judge(drep_append(ds, 0, COUNT, type, buf, NULL), stored, type, "drep_append");
    ok(drep_dataset_resize(ds, &all));
}

/* With the size of the buffer items go one by one, and no further. */
static void try_sizes(drep_dataset *ds, const drep_type *stored, const drep_type *type)
{
    int64_t n = COUNT * drep_type_items(stored);
    size_t size = (size_t)(n * drep_type_extent(type));
    char *buf;
    int err;

    if (n == 0 || size > ROOM)
        return;
    buf = room_for(type, n);
    err = drep_read(ds, NULL, type, buf, &DREP_XFER(.buf_size = size));
    ck_assert_msg(err == 0 || err == DREP_ERR_TYPE || err == DREP_ERR_CONVERSION, "%d: %s", err,
                  drep_error());
    fails(drep_read(ds, NULL, type, buf + 1, &DREP_XFER(.buf_size = size - 1)), DREP_ERR_BUFFER);
    fails(drep_write(ds, NULL, type, buf + 1, &DREP_XFER(.buf_size = size - 1)), DREP_ERR_BUFFER);
}

static bool one_type(const char *datarep, const drep_type *type)
{
    const int64_t dims = COUNT, most = DREP_UNLIMITED;
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &dims, .maxdims = &most);
    /* Some types have items below their beginning and behind their end. */
    int64_t around = drep_type_true_extent(type) + COUNT * drep_type_extent(type) + 64;
    char *own;
    drep_dataset *ds;
    drep_file *f;
    int err;

    if (around <= 0 || around > 1 << 24)
        return false;
    own = calloc(2, (size_t)around);
    spec.fill = DREP_FILL_VALUE;
    spec.fill_value = own + around;
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &f));
    err =
        drep_type_true_lb(type) < -around ? DREP_ERR_TYPE : drep_dataset_create(f, "d", &spec, &ds);
    if (!err)
        err = drep_attr_write(f, "d", "a", type, 1, &dims, own + around);
    if (!err) {
        ok(drep_write(ds, NULL, type, own + around, NULL));
        for (int code = 1; code <= DREP_CODE_MAX; code++) {
            try_calls(f, ds, type, drep_predefined(code));
            try_sizes(ds, type, drep_predefined(code));
        }
        drep_dataset_close(ds);
    }
    drep_abandon(f);
    free(own);
    return !err;
}

START_TEST(test_no_file_decides_how_far_memory_is_reached)
{
    static const char *const datarep[] = {"external32", "native", "native:i386"};
    int stored = 0;

    random_seed(7);
    for (int i = 0; i < TYPES; i++) {
        struct sample s;

        random_sample(&s, 1 + random_upto(3));
        if (drep_type_extent(s.type) >= 0)
            stored += one_type(datarep[i % 3], s.type);
        sample_release(&s);
    }
    ck_assert_int_gt(stored, TYPES / 2);
    ck_assert_int_gt((int)whole, TYPES * 20);
    counted(tried, "calls with memory of a predefined type before a guarded page");
}
END_TEST

/* Both types are named; a layout of several whole elements is no other number of items. */
START_TEST(test_the_message_and_layouts)
{
    const int64_t dims[2] = {4, 6}, sub[2] = {2, 3}, at[2] = {1, 1}, most = 4;
    drep_type *s, *block;
    drep_dataset *ds;
    drep_file *f;
    double whole_block[24], flat[12];
    int small[6];

    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    ok(drep_type_parse("struct{x: DOUBLE, y: DOUBLE, z: DOUBLE}", &s));
    ds = new_dataset(f, "s", s, 1, &most);
    fails(drep_read(ds, NULL, DREP_DOUBLE, flat, NULL), DREP_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "z: DOUBLE} as DOUBLE"));
    fails(drep_write(ds, NULL, DREP_DOUBLE, flat, NULL), DREP_ERR_TYPE);
    ok(drep_read(ds, NULL, DREP_DOUBLE, flat, &DREP_XFER(.buf_size = sizeof flat)));
    fails(drep_read(ds, NULL, DREP_DOUBLE, flat, &DREP_XFER(.buf_size = sizeof flat - 1)),
          DREP_ERR_BUFFER);
    drep_dataset_close(ds);

    ds = new_dataset(f, "n", DREP_INT, 2, sub);
    ok(drep_type_subarray(2, dims, sub, at, DREP_ORDER_C, DREP_INT, &block));
    ok(drep_read(ds, NULL, block, whole_block, NULL));
    ok(drep_read(ds, NULL, DREP_INT, small, NULL));
    drep_dataset_close(ds);
    drep_type_free(block);
    drep_type_free(s);
    drep_abandon(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data: reach");
    TCase *t = tcase_create("reach");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_no_file_decides_how_far_memory_is_reached);
    tcase_add_test(t, test_the_message_and_layouts);
    suite_add_tcase(s, t);
    return run_suite(s);
}
