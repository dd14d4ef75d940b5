/* test_close.c - drep_close() commits what succeeded and gives the first failure (D43).
 *
 * Every kind of failing write, with every way to end: what is in the file then, and what the call
 * says.  And loops that go on after a failed append. */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"
#include "file/file.h"
#include "data_help.h"
#include "faultio.h"

enum { N = 1000, PLAIN = 100000 };

static int32_t old_values[N], new_values[N], wrong[N], plain[PLAIN];
static struct fault_file disk;
static bool armed; /* functions and filters fail */

/* ---- functions that fail when told to ---- */

static int brittle_write(void *user, const drep_type *type, int64_t count, void *file,
                         int64_t position, void *state)
{
    return armed ? drep_error_set(DREP_ERR_CONVERSION, "made to fail")
                 : xor_write(user, type, count, file, position, state);
}

static int brittle_filter(const uint32_t *params, int nparams, const void *in, size_t in_size,
                          void *out, size_t *out_size, void *state)
{
    (void)params;
    (void)nparams;
    (void)state;
    if (armed)
        return DREP_ERR_CONVERSION;
    if (*out_size >= in_size)
        memcpy(out, in, in_size);
    *out_size = in_size;
    return 0;
}

static void begin_all(void)
{
    register_datareps();
    ok(drep_register_datarep("brittle", xor_read, brittle_write, native_extent, NULL));
    ok(drep_register_filter("brittle", brittle_filter, brittle_filter, NULL, DREP_FILTER_KEEP));
    for (int i = 0; i < N; i++) {
        old_values[i] = i;
        new_values[i] = wrong[i] = i + 7;
    }
    wrong[N - 1] = 1 << 30; /* fits neither INT16_T nor the 24 bits of "small" */
    for (int i = 0; i < PLAIN; i++)
        plain[i] = i;
}

/* ---- the file ---- */

static drep_file *open_disk(const char *close_hint)
{
    /* So small a cache that writes reach filters and the file within their call. */
    drep_info *info = hints("drep_cache_size=4096", "drep_threads=1", (char *)NULL);
    drep_file *f;

    if (close_hint)
        ok(drep_info_set(info, "drep_close", close_hint));
    if (disk.size == 0)
        ok(file_create_on(fault_io(&disk), "small", info, &f));
    else
        ok(file_open_on(fault_io(&disk), DREP_RDWR, info, 0, &f));
    drep_info_free(info);
    return f;
}

static const char *const names[] = {"/good", "/value", "/function", "/filter", "/plain"};
enum { NAMES = 5 };

static void make(drep_file *f, const char *name, int i)
{
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "brittle"};
    const int64_t dims = i == 4 ? PLAIN : N, max = DREP_UNLIMITED, chunk = 100;
    drep_spec spec =
        DREP_SPEC(.type = i < 2 ? DREP_INT16_T : DREP_INT32_T, .rank = 1, .dims = &dims,
                  .maxdims = &max, .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_dataset *ds;

    if (i == 2)
        spec.datarep = "brittle";
    if (i == 4)
        spec.datarep = "native";
    spec.filters = i == 3 ? &filter : NULL;
    spec.nfilters = i == 3;
    ok(drep_dataset_create(f, name, &spec, &ds));
    ok(drep_write(ds, NULL, DREP_INT32_T, i == 4 ? plain : old_values, NULL));
    drep_dataset_close(ds);
}

static int put(drep_file *f, const char *name, const int32_t *values)
{
    drep_dataset *ds;
    int err;

    ok(drep_dataset_open(f, name, &ds));
    err = drep_write(ds, NULL, DREP_INT32_T, values, NULL);
    drep_dataset_close(ds);
    return err;
}

/* ---- every kind of write that fails ---- */

static int fail_value(drep_file *f)
{
    return put(f, "/value", wrong);
}

static int fail_append(drep_file *f)
{
    drep_dataset *ds;
    int err;

    ok(drep_dataset_open(f, "/value", &ds));
    ok(drep_append(ds, 0, 3, DREP_INT32_T, old_values, NULL)); /* these wait in memory */
    err = drep_append(ds, 0, 1, DREP_INT32_T, &wrong[N - 1], NULL);
    drep_dataset_close(ds);
    return err;
}

static int fail_memory(drep_file *f)
{
    int64_t many = N;
    int err;

    mem_fail_at(0);
    err = drep_attr_write(f, "/value", "n", DREP_INT32_T, 1, &many, old_values);
    mem_fail_at(-1);
    return err;
}

static int fail_armed(drep_file *f, const char *name)
{
    int err;

    armed = true;
    err = put(f, name, new_values);
    armed = false;
    return err;
}

static int fail_function(drep_file *f)
{
    return fail_armed(f, "/function");
}

static int fail_filter(drep_file *f)
{
    return fail_armed(f, "/filter");
}

static int stop_77(int64_t bytes, void *ctx)
{
    (void)bytes;
    (void)ctx;
    return 77;
}

static int fail_copy(drep_file *f)
{
    return drep_copy(f, "/plain", f, "/copy", &DREP_COPYING(.progress = stop_77));
}

static int fail_disk(drep_file *f, int code)
{
    static int32_t other[PLAIN];
    int err;

    disk.fail_code = code;
    disk.fail_at = 20; /* in the middle of the call */
    err = put(f, "/plain", other);
    disk.fail_at = -1;
    return err;
}

static int fail_io(drep_file *f)
{
    return fail_disk(f, DREP_ERR_IO);
}

static int fail_space(drep_file *f)
{
    return fail_disk(f, DREP_ERR_NO_SPACE);
}

static const struct plight {
    int (*fn)(drep_file *f);
    int err;
    const char *says;
} plights[] = {
    {fail_value, DREP_ERR_CONVERSION, "\"/value\""},
    {fail_append, DREP_ERR_CONVERSION, "\"/value\""},
    {fail_memory, DREP_ERR_NOMEM, ""},
    {fail_function, DREP_ERR_CONVERSION, "\"/function\""},
    {fail_filter, DREP_ERR_CONVERSION, "\"/filter\""},
    {fail_copy, 77, "\"/plain\""},
    {fail_io, DREP_ERR_IO, "\"/plain\""},
    {fail_space, DREP_ERR_NO_SPACE, "\"/plain\""},
};
enum { PLIGHTS = 8 };

/* ---- what is in the file then ---- */

static void holds(drep_file *f, const char *name, const int32_t *want, int64_t n, int64_t more)
{
    static int32_t seen[PLAIN + N];
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    ok(drep_dataset_open(f, name, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], n + more);
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    ck_assert_int_eq(memcmp(seen, want, (size_t)n * 4), 0);
    ck_assert_int_eq(memcmp(seen + n, old_values, (size_t)more * 4), 0);
    drep_dataset_close(ds);
}

/* committed: the calls that succeeded are in the file; those that failed left nothing. */
static void look(bool committed, int64_t appended)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_attrinfo attr = DREP_ATTRINFO;
    drep_file *f = open_disk(NULL);

    holds(f, "/good", committed ? new_values : old_values, N, 0);
    holds(f, "/value", old_values, N, committed ? appended : 0);
    holds(f, "/function", old_values, N, 0);
    holds(f, "/filter", old_values, N, 0);
    holds(f, "/plain", plain, PLAIN, 0);
    fails(drep_attr_info(f, "/value", "n", &attr), DREP_ERR_NOT_FOUND);
    fails(drep_stat(f, "/copy", &info), DREP_ERR_NOT_FOUND);
    ck_assert_int_eq(drep_stat(f, "/later", &info), committed ? 0 : DREP_ERR_NOT_FOUND);
    check_file(f);
    drep_abandon(f);
}

/* The file, and in it a success, plight k, and another success. */
static drep_file *with_plight(int k, const char *close_hint)
{
    drep_file *f;

    fault_release(&disk);
    fault_init(&disk);
    f = open_disk(close_hint);
    for (int i = 0; i < NAMES; i++)
        make(f, names[i], i);
    ok(drep_commit(f));
    ok(put(f, "/good", new_values));
    fails(plights[k].fn(f), plights[k].err);
    ck_assert_ptr_nonnull(strstr(drep_error(), plights[k].says));
    ok(drep_group_create(f, "/later", 0));
    return f;
}

static int64_t appended_by(int k)
{
    return plights[k].fn == fail_append ? 3 : 0;
}

START_TEST(test_D43_close_commits_and_gives_the_first_error)
{
    drep_file *f = with_plight(_i, _i % 2 ? "commit" : NULL);

    for (int k = 0; k < PLIGHTS; k++) /* later ones are not the first */
        if (!appended_by(k))
            fails(plights[k].fn(f), plights[k].err);
    fails(drep_close(f), plights[_i].err);
    ck_assert_ptr_nonnull(strstr(drep_error(), plights[_i].says));
    ck_assert_ptr_nonnull(strstr(drep_error(), "; what succeeded was committed"));
    look(true, appended_by(_i));
}
END_TEST

START_TEST(test_D43_the_hint_abandons)
{
    drep_file *f = with_plight(_i, "abandon");

    fails(drep_close(f), plights[_i].err);
    ck_assert_ptr_nonnull(strstr(drep_error(), plights[_i].says));
    ck_assert_ptr_nonnull(strstr(drep_error(), "; nothing since the last commit was kept"));
    look(false, 0);
}
END_TEST

/* A message that fills its room leaves none for what became of the rest. */
START_TEST(test_D43_a_name_of_any_length)
{
    static char name[FMT_NAME_MAX + 2];

    for (size_t n = 900; n <= FMT_NAME_MAX; n++) {
        drep_file *f;

        fault_release(&disk);
        fault_init(&disk);
        f = open_disk("abandon");
        name[0] = '/';
        memset(name + 1, 'x', n);
        make(f, name, 1);
        fails(put(f, name, wrong), DREP_ERR_CONVERSION);
        fails(drep_close(f), DREP_ERR_CONVERSION);
        ck_assert_uint_lt(strlen(drep_error()), FAIL_ROOM);
    }
}
END_TEST

/* A commit ends the failures before it, with the hint and without. */
START_TEST(test_D43_a_commit_between)
{
    drep_file *f = with_plight(_i / 2, _i % 2 ? "abandon" : NULL);

    ok(drep_commit(f));
    ok(drep_close(f));
    look(true, appended_by(_i / 2));
}
END_TEST

START_TEST(test_D43_abandon_keeps_nothing)
{
    drep_abandon(with_plight(_i, NULL));
    look(false, 0);
}
END_TEST

/* The hint may be set later, and nothing abandons where nothing failed. */
START_TEST(test_D43_the_hint_on_an_open_file)
{
    drep_info *info = hints("drep_close=abandon", (char *)NULL), *all;
    drep_file *f = with_plight(0, NULL);

    ok(drep_commit(f));
    ok(drep_set_info(f, info));
    drep_info_free(info);
    ok(drep_get_info(f, &all));
    ck_assert_str_eq(drep_info_get(all, "drep_close"), "abandon");
    drep_info_free(all);
    ok(put(f, "/good", old_values));
    ok(drep_close(f));
    f = open_disk("sometimes"); /* no value of the hint: ignored */
    holds(f, "/good", old_values, N, 0);
    fails(fail_value(f), DREP_ERR_CONVERSION);
    ok(put(f, "/good", new_values));
    fails(drep_close(f), DREP_ERR_CONVERSION);
    look(true, 0);
}
END_TEST

/* ---- what cannot be committed ---- */

/* The commit of drep_close() fails: its error counts, for what failed before is not all that is
 * missing. */
START_TEST(test_D43_a_close_that_cannot_commit)
{
    drep_file *f = with_plight(0, NULL);

    disk.fail_code = DREP_ERR_NO_SPACE;
    disk.fail_at = 0;
    fails(drep_close(f), DREP_ERR_NO_SPACE);
    disk.fail_at = -1;
    look(false, 0);
}
END_TEST

/* A failed commit that close makes good is no failure. */
START_TEST(test_D43_close_makes_a_failed_commit_good)
{
    drep_file *f = with_plight(0, NULL);

    ok(drep_commit(f));
    ok(put(f, "/good", old_values));
    disk.fail_code = DREP_ERR_NO_SPACE;
    disk.fail_at = 0;
    fails(drep_commit(f), DREP_ERR_NO_SPACE);
    disk.fail_at = -1;
    ok(drep_close(f));
    f = open_disk(NULL);
    holds(f, "/good", old_values, N, 0);
    drep_abandon(f);
}
END_TEST

/* A sync that failed: nothing can be committed, and its error stands before an earlier one. */
START_TEST(test_D43_a_failed_sync_abandons)
{
    drep_file *f = with_plight(0, NULL);

    disk.fail_code = DREP_ERR_IO;
    disk.fail_syncs = 1;
    fails(drep_commit(f), DREP_ERR_IO);
    disk.fail_syncs = 0;
    fails(put(f, "/good", old_values), DREP_ERR_FAILED);
    fails(drep_close(f), DREP_ERR_IO);
    ck_assert_ptr_nonnull(strstr(drep_error(), "nothing since the last commit was kept"));
    look(false, 0);
}
END_TEST

/* ---- loops of appends ---- */

enum { VARIABLES = 4, STEPS = 200 };

static void make_variables(drep_file *f, drep_dataset **ds)
{
    const char *const time = "time";
    const int64_t none = 0, max = DREP_UNLIMITED, chunk = 16;
    drep_spec spec = DREP_SPEC(.type = DREP_INT16_T, .rank = 1, .dims = &none, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk, .dim_names = &time);

    for (int v = 0; v < VARIABLES; v++) {
        char name[] = {'/', (char)('a' + v), '\0'};

        ok(drep_dataset_create(f, name, &spec, &ds[v]));
    }
}

/* A step appends its number to each variable, but once it gives one of them (how 0) a value that
 * does not fit, (1) no buffer, (2) a dimension that it has not, (3) options without a size. */
static int append_step(drep_dataset *ds, int how, int step, bool bad)
{
    const int32_t value = bad && how == 0 ? 1 << 20 : step;
    const drep_xfer fine = DREP_XFER(.range = DREP_RANGE_STRICT), none = {.size = 0};

    return drep_append(ds, bad && how == 2, 1, DREP_INT32_T, bad && how == 1 ? NULL : &value,
                       bad && how == 3 ? &none : &fine);
}

static void is_prefix(drep_dataset *ds, int64_t n)
{
    drep_dsinfo info = DREP_DSINFO;
    int32_t seen[STEPS];

    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], n);
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(seen[i], i);
}

/* The loop goes on, and lets its dataset handles go as scripts do: no variable is shifted. */
START_TEST(test_D43_no_append_after_a_failed_one)
{
    const int how = _i, bad = 90, which = 2;
    drep_dataset *ds[VARIABLES];
    drep_file *f = new_file(temp_path("loop"), "external32");

    make_variables(f, ds);
    for (int step = 0; step < STEPS; step++) {
        for (int v = 0; v < VARIABLES; v++) {
            int err = append_step(ds[v], how, step, step == bad && v == which);
            char name[] = {'/', (char)('a' + v), '\0'};

            if (v == which && step >= bad)
                ck_assert_int_eq(step > bad, err == DREP_ERR_FAILED);
            ck_assert_int_eq(err != 0, v == which && step >= bad);
            if (err == DREP_ERR_FAILED) {
                ck_assert_ptr_nonnull(strstr(drep_error(), "dataset \"/c\""));
                ck_assert_ptr_nonnull(strstr(drep_error(), "drep_commit()"));
            }
            drep_dataset_close(ds[v]);
            ok(drep_dataset_open(f, name, &ds[v]));
        }
    }
    for (int v = 0; v < VARIABLES; v++)
        is_prefix(ds[v], v == which ? bad : STEPS);
    ok(drep_commit(f)); /* who commits knows; appending goes on */
    ok(append_step(ds[which], how, bad, false));
    is_prefix(ds[which], bad + 1);
    for (int v = 0; v < VARIABLES; v++)
        drep_dataset_close(ds[v]);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* A resize, also to the same shape, says where appending goes on; one of another dataset, or one
 * that is refused, does not. */
START_TEST(test_D43_a_resize_lets_appends_go_on)
{
    const int64_t none = 0, shorter = -1;
    drep_dataset *ds[VARIABLES];
    drep_file *f = new_file(temp_path("resize"), "external32");

    make_variables(f, ds);
    for (int v = 0; v < VARIABLES; v++)
        fails(append_step(ds[v], 0, 0, true), DREP_ERR_CONVERSION);
    ok(drep_dataset_resize(ds[0], &none));
    fails(drep_dataset_resize(ds[1], &shorter), DREP_ERR_DIMS);
    ok(append_step(ds[0], 0, 0, false));
    for (int v = 1; v < VARIABLES; v++)
        fails(append_step(ds[v], 0, 0, false), DREP_ERR_FAILED);
    ok(drep_link_remove(f, "/d")); /* its handle stays */
    ok(drep_dataset_resize(ds[2], &none));
    ok(append_step(ds[2], 0, 0, false));
    for (int v = 0; v < VARIABLES; v++)
        drep_dataset_close(ds[v]);
    fails(drep_close(f), DREP_ERR_CONVERSION);
    ok(drep_open(temp_path("resize"), DREP_RDONLY, NULL, &f));
    check_file(f);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("close");
    TCase *t = tcase_create("close");

    fault_init(&disk);
    tcase_add_unchecked_fixture(t, begin_all, NULL);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_D43_close_commits_and_gives_the_first_error, 0, PLIGHTS);
    tcase_add_loop_test(t, test_D43_the_hint_abandons, 0, PLIGHTS);
    tcase_add_loop_test(t, test_D43_a_commit_between, 0, 2 * PLIGHTS);
    tcase_add_loop_test(t, test_D43_abandon_keeps_nothing, 0, PLIGHTS);
    tcase_add_test(t, test_D43_a_name_of_any_length);
    tcase_add_test(t, test_D43_the_hint_on_an_open_file);
    tcase_add_test(t, test_D43_a_close_that_cannot_commit);
    tcase_add_test(t, test_D43_close_makes_a_failed_commit_good);
    tcase_add_test(t, test_D43_a_failed_sync_abandons);
    tcase_add_loop_test(t, test_D43_no_append_after_a_failed_one, 0, 4);
    tcase_add_test(t, test_D43_a_resize_lets_appends_go_on);
    suite_add_tcase(s, t);
    return run_suite(s);
}
