/* test_url.c - names that are URLs, and what is shown of them. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/url.h"

#include "tests/unit/bytes.h"

#include <string.h>

static const char *shown(const char *url)
{
    static char out[256];

    return url_shown(url, out, sizeof out);
}

START_TEST(test_which_names_are_urls)
{
    ck_assert(url_is("http://host/a"));
    ck_assert(url_is("HTTPS://host/a"));
    ck_assert(url_is("s3://bucket/key"));
    ck_assert(!url_is("https:/host/a"));
    ck_assert(!url_is("./https://host/a"));
    ck_assert(!url_is("ftp://host/a"));
    ck_assert(!url_is("file:///a"));
    ck_assert(!url_is(""));
}
END_TEST

START_TEST(test_secrets_are_not_shown)
{
    ck_assert_str_eq(shown("https://host/a.drep"), "https://host/a.drep");
    ck_assert_str_eq(shown("https://host:8443/a.drep"), "https://host:8443/a.drep");
    ck_assert_str_eq(shown("https://me:secret@host/a"), "https://host/a");
    ck_assert_str_eq(shown("https://me:se@cret@host:80/a"), "https://host:80/a");
    ck_assert_str_eq(shown("https://host/a?X-Amz-Signature=1"), "https://host/a");
    ck_assert_str_eq(shown("https://host?token=1"), "https://host");
    ck_assert_str_eq(shown("https://me:secret@[::1]:80/a#part"), "https://[::1]:80/a");
    ck_assert_str_eq(shown("https://host/a@b"), "https://host/a@b");
    /* The user part of none of these is certain. */
    ck_assert_str_eq(shown("https://me:sec/ret@host/a"), "https://(a URL without a valid host)");
    ck_assert_str_eq(shown("s3://key:secret/x@bucket/a"), "s3://(a URL without a valid host)");
    ck_assert_str_eq(shown("a file?b"), "a file?b");
}
END_TEST

START_TEST(test_shown_is_cut)
{
    char out[8];

    ck_assert_str_eq(url_shown("https://host/", out, sizeof out), "https:/");
}
END_TEST

static void beneath(const char *url, const char *path, const char *expected)
{
    char *out = url_beneath(url, path);

    if (expected)
        ck_assert_str_eq(out, expected);
    else
        ck_assert_ptr_null(out);
    mem_free(out);
}

START_TEST(test_paths_stay_beneath)
{
    beneath("https://host/a/b.drep?sig=1", "c.drep", "https://host/a/c.drep");
    beneath("https://me:pw@host/a/b.drep", "d/c.drep", "https://me:pw@host/a/d/c.drep");
    beneath("https://host/b.drep", "c?d#e%2f..:@", "https://host/c%3Fd%23e%252f..%3A%40");
    beneath("https://host", "c", "https://host/c");
    beneath("s3://bucket/a/b.drep", "c d", "s3://bucket/a/c d");
    beneath("https://host/a/b", "../c", NULL);
    beneath("https://host/a/b", "c/../../d", NULL);
    beneath("https://host/a/b", "./c", NULL);
    beneath("https://host/a/b", "/c", NULL);
    beneath("https://host/a/b", "//other/c", NULL);
    beneath("https://host/a/b", "c/", NULL);
    beneath("https://host/a/b", "", NULL);
    beneath("a/b", "c", NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("url");
    TCase *tc = tcase_create("url");

    tcase_add_test(tc, test_which_names_are_urls);
    tcase_add_test(tc, test_secrets_are_not_shown);
    tcase_add_test(tc, test_shown_is_cut);
    tcase_add_test(tc, test_paths_stay_beneath);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
