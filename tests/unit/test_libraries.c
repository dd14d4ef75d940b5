/* test_libraries.c - the libraries that this one says it uses. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include <datarep.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct seen {
    char names[16][40], versions[16][40];
    int n, stop_after;
};

static int collect(const char *name, const char *version, void *ctx)
{
    struct seen *seen = ctx;

    ck_assert_int_lt(seen->n, 16);
    snprintf(seen->names[seen->n], 40, "%s", name);
    snprintf(seen->versions[seen->n], 40, "%s", version);
    return ++seen->n == seen->stop_after;
}

static const char *version_of(const struct seen *seen, const char *name)
{
    for (int i = 0; i < seen->n; i++)
        if (strcmp(seen->names[i], name) == 0)
            return seen->versions[i];
    return NULL;
}

/* A filter that needs a library is there exactly if the library is listed. */
START_TEST(test_each_filter_s_library_is_listed)
{
    static const struct {
        const char *filter, *library;
    } needs[] = {{"zstd", "zstd"},
                 {"lz4", "lz4"},
                 {"deflate", "libdeflate"},
                 {"lzf", "lzf"},
                 {"blosc", "blosc"}};
    struct seen seen = {.n = 0};

    ck_assert_int_eq(drep_library_walk(collect, &seen), 0);
    ck_assert_ptr_nonnull(version_of(&seen, "xxhash"));
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        ck_assert_int_eq(drep_filter_available(drep_filter_from_name(needs[i].filter)),
                         version_of(&seen, needs[i].library) != NULL);
    for (int i = 0; i < seen.n; i++)
        ck_assert_msg((seen.versions[i][0] >= '0' && seen.versions[i][0] <= '9') ||
                          strcmp(seen.names[i], "lzf") == 0,
                      "%s: %s", seen.names[i], seen.versions[i]);
}
END_TEST

/* The library that is loaded is asked, as here by its name. */
START_TEST(test_versions_are_those_in_use)
{
    void *zstd = dlopen("libzstd.so.1", RTLD_NOW);
    const char *(*version)(void) = NULL;
    struct seen seen = {.n = 0};

    ck_assert_int_eq(drep_library_walk(collect, &seen), 0);
    if (zstd && version_of(&seen, "zstd")) {
        *(void **)&version = dlsym(zstd, "ZSTD_versionString");
        ck_assert_ptr_nonnull(version);
        ck_assert_str_eq(version_of(&seen, "zstd"), version());
    }
}
END_TEST

START_TEST(test_a_walk_stops)
{
    struct seen seen = {.stop_after = 1};

    ck_assert_int_eq(drep_library_walk(collect, &seen), DREP_ERR_STOPPED);
    ck_assert_int_eq(seen.n, 1);
    ck_assert_int_eq(drep_library_walk(NULL, NULL), DREP_ERR_ARG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libraries");
    TCase *tc = tcase_create("libraries");

    tcase_add_test(tc, test_each_filter_s_library_is_listed);
    tcase_add_test(tc, test_versions_are_those_in_use);
    tcase_add_test(tc, test_a_walk_stops);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
