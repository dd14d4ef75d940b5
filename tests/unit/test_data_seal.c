/* test_data_seal.c - payload without checksums, and how it gets them (D13). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#define LEN 5000
#define SIDE 70

static const char *path;

static drep_file *open_with(const char *checksum)
{
    drep_info *info = hints(checksum, "drep_sync=none", (char *)NULL);
    drep_file *f;

    ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
    return f;
}

static void put(drep_file *f, const char *name, int64_t from, int64_t n, int32_t seed)
{
    static int32_t v[LEN];
    drep_selection *sel;
    drep_dataset *ds;

    for (int64_t i = 0; i < n; i++)
        v[i] = seed + (int32_t)(from + i);
    ok(drep_dataset_open(f, name, &ds));
    ok(drep_select_box(1, &from, &n, NULL, NULL, &sel));
    ok(drep_write(ds, sel, NULL, v, NULL));
    drep_selection_free(sel);
    drep_dataset_close(ds);
}

static int64_t absent(drep_file *f)
{
    drep_usage usage = DREP_USAGE;

    ok(drep_usage_get(f, &usage));
    return usage.absent;
}

static const char *const unsealed_names[] = {"/rows", "/tiles", "/packed"};

static int count_unsealed(const char *name, int64_t blocks, void *ctx)
{
    int64_t *n = ctx;
    int i = 0;

    while (i < 3 && strcmp(name, unsealed_names[i]) != 0)
        i++;
    ck_assert_int_lt(i, 3);
    ck_assert_int_gt(blocks, 0);
    ck_assert_int_eq(n[i], 0); /* each once */
    n[i] = blocks;
    return 0;
}

/* Which datasets have such blocks; together they are all that there are. */
static void unsealed_are(drep_file *f, int64_t rows, int64_t tiles, int64_t packed)
{
    int64_t n[3] = {0};

    ok(drep_unsealed(f, count_unsealed, n));
    ck_assert_int_eq(n[0] + n[1] + n[2], absent(f));
    ck_assert_int_eq(n[0] > 0, rows > 0);
    ck_assert_int_eq(n[1] > 0, tiles > 0);
    ck_assert_int_eq(n[2] > 0, packed > 0);
}

/* One of each layout; only unfiltered chunks have sums to leave out. */
static void make(drep_file *f)
{
    const int64_t len = LEN, max = DREP_UNLIMITED, chunk = 777, one = 3;
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &len, .layout = DREP_CONTIGUOUS);

    ok(drep_dataset_create(f, "rows", &spec, NULL));
    spec.layout = DREP_CHUNKED;
    spec.maxdims = &max;
    spec.chunk = &chunk;
    ok(drep_dataset_create(f, "tiles", &spec, NULL));
    spec.filters = &filter;
    spec.nfilters = 1;
    ok(drep_dataset_create(f, "packed", &spec, NULL));
    spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &one, .layout = DREP_COMPACT);
    ok(drep_dataset_create(f, "small", &spec, NULL));
}

static void is(drep_file *f, const char *name, int32_t seed)
{
    static int32_t v[LEN];
    drep_dataset *ds;

    ok(drep_dataset_open(f, name, &ds));
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < LEN; i++)
        if (v[i] != seed + i)
            ck_abort_msg("%s: element %d is %d", name, i, v[i]);
    drep_dataset_close(ds);
}

static void all_are(drep_file *f, int32_t seed)
{
    is(f, "rows", seed);
    is(f, "tiles", seed);
    is(f, "packed", seed);
}

/* Written at once, and in parts, in one transaction and in several. */
static void write_all(drep_file *f, int32_t seed)
{
    static const char *const names[] = {"rows", "tiles", "packed"};

    for (int k = 0; k < 3; k++) {
        put(f, names[k], 0, LEN, 0);
        put(f, names[k], 100, 1700, seed);
        ok(drep_commit(f));
        put(f, names[k], 0, 3000, seed);
        put(f, names[k], 2900, LEN - 2900, seed);
    }
    ok(drep_commit(f));
}

static void fresh(const char *checksum)
{
    drep_info *info = hints(checksum, "drep_sync=none", (char *)NULL);
    drep_file *f;

    path = temp_path("sums");
    ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    make(f);
    write_all(f, 7);
    all_are(f, 7);
    ok(drep_close(f));
}

/* Changes a byte where a value stands: in the last dataset that has these bytes. */
static void flip(int32_t value)
{
    static uint8_t bytes[1 << 20];
    const uint8_t want[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    FILE *p = fopen(path, "r+b");
    size_t n = fread(bytes, 1, sizeof bytes, p), flips = 0;

    for (size_t i = 8192; i + 4 <= n; i += 4) {
        if (memcmp(bytes + i, want, 4) != 0)
            continue;
        fseek(p, (long)i + 3, SEEK_SET);
        fputc(bytes[i + 3] ^ 1, p);
        flips++;
    }
    fclose(p);
    ck_assert_uint_gt(flips, 1);
}

static int read_error(const char *name)
{
    static int32_t v[LEN];
    drep_dataset *ds;
    drep_file *f;
    int err;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, name, &ds));
    err = drep_read(ds, NULL, NULL, v, NULL);
    drep_dataset_close(ds);
    ok(drep_close(f));
    return err;
}

START_TEST(test_D13_sums_are_there_by_default)
{
    drep_file *f;
    int64_t n = -1;

    fresh("drep_checksum=on");
    f = open_with("drep_checksum=on");
    ck_assert_int_eq(absent(f), 0);
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, 0);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D13_deferred_sums_are_absent_until_sealed)
{
    drep_header before = DREP_HEADER, after = DREP_HEADER;
    int64_t missing, n = -1;
    drep_file *f, *r;

    fresh("drep_checksum=deferred");
    f = open_with("drep_checksum=on");
    missing = absent(f);
    ck_assert_int_gt(missing, 8);
    unsealed_are(f, 1, 1, 0);
    fails(drep_unsealed(f, NULL, NULL), DREP_ERR_ARG);
    all_are(f, 7);
    ok(drep_check(f, 1, say_finding, NULL, NULL));
    /* What is written now has its sums; nothing else gets them by the way. */
    put(f, "rows", 1000, 10, 7);
    ok(drep_commit(f));
    ck_assert_int_lt(absent(f), missing);
    ck_assert_int_gt(absent(f), 4);
    missing = absent(f);
    ok(drep_open(path, DREP_RDONLY, NULL, &r));
    fails(drep_seal(r, NULL), DREP_ERR_READ_ONLY);
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, missing);
    ok(drep_unsealed(r, count_unsealed, (int64_t[3]){0}));
    ok(drep_header_get(f, &before));
    ok(drep_commit(f));
    ok(drep_header_get(f, &after));
    ck_assert_uint_eq(after.sequence, before.sequence + 1);
    ck_assert_int_eq(absent(f), 0);
    ck_assert_int_eq(absent(r), missing); /* a snapshot is what it was */
    all_are(f, 7);
    all_are(r, 7);
    ok(drep_close(r));
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, 0);
    ok(drep_commit(f)); /* of nothing: no commit */
    ok(drep_header_get(f, &before));
    ck_assert_uint_eq(after.sequence, before.sequence);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D13_damage_is_seen_when_sealed)
{
    drep_file *f;

    fresh("drep_checksum=deferred");
    if (_i) {
        f = open_with("drep_checksum=on");
        ok(drep_seal(f, NULL));
        ok(drep_close(f));
    }
    flip(7 + 2222);
    ck_assert_int_eq(read_error("rows"), _i ? DREP_ERR_CHECKSUM : 0);
    ck_assert_int_eq(read_error("tiles"), _i ? DREP_ERR_CHECKSUM : 0);
}
END_TEST

START_TEST(test_D13_sealing_an_open_transaction)
{
    drep_info *info = hints("drep_checksum=deferred", "drep_sync=none", (char *)NULL);
    drep_file *f;
    int64_t n = 0;

    path = temp_path("open");
    ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    make(f);
    put(f, "rows", 0, LEN, 3);
    put(f, "tiles", 0, LEN, 3);
    put(f, "packed", 0, LEN, 3);
    ok(drep_seal(f, &n));
    ck_assert_int_gt(n, 8);
    put(f, "rows", 50, 20, 3); /* without again */
    ok(drep_commit(f));
    ck_assert_int_eq(absent(f), 1);
    all_are(f, 3);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D13_sealing_with_failing_allocations)
{
    int err = DREP_ERR_NOMEM;
    int64_t done = 0;

    fresh("drep_checksum=deferred");
    for (int n = 0; err != 0; n++) {
        drep_file *f = open_with("drep_checksum=on");

        mem_fail_at(n);
        err = drep_seal(f, NULL);
        mem_fail_at(-1);
        ck_assert_msg(err == 0 || err == DREP_ERR_NOMEM, "%d: %s", err, drep_error());
        all_are(f, 7);
        if (err == 0 || n % 7 == 0) { /* what was done stays done */
            int64_t left;

            ok(drep_commit(f));
            left = absent(f);
            ck_assert_int_ge(done == 0 ? INT64_MAX : done, left);
            done = left;
            ok(drep_check(f, 1, say_finding, NULL, NULL));
        }
        drep_abandon(f);
    }
    ck_assert_int_eq(done, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data seal");
    TCase *t = tcase_create("seal");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_D13_sums_are_there_by_default);
    tcase_add_test(t, test_D13_deferred_sums_are_absent_until_sealed);
    tcase_add_loop_test(t, test_D13_damage_is_seen_when_sealed, 0, 2);
    tcase_add_test(t, test_D13_sealing_an_open_transaction);
    tcase_add_test(t, test_D13_sealing_with_failing_allocations);
    suite_add_tcase(s, t);
    return run_suite(s);
}
