/* test_info.c - hints.  H1-H3, H5, C4. */
/* SPDX-License-Identifier: MIT */
#include "base/info.h"
#include "base/mem.h"
#include "tests/unit/bytes.h"

START_TEST(test_H5_keys_and_values)
{
    char longest[DREP_MAX_INFO_KEY + 2];
    drep_info *info;

    ck_assert_int_eq(drep_info_new(&info), 0);
    memset(longest, 'k', sizeof longest);
    longest[DREP_MAX_INFO_KEY + 1] = 0;
    ck_assert_int_eq(drep_info_set(info, longest, "v"), DREP_ERR_INFO_KEY);
    longest[DREP_MAX_INFO_KEY] = 0;
    ck_assert_int_eq(drep_info_set(info, longest, "v"), 0);
    ck_assert_int_eq(drep_info_set(info, "", "v"), DREP_ERR_INFO_KEY);
    ck_assert_int_eq(drep_info_set(info, "key", ""), DREP_ERR_INFO_VALUE);
    ck_assert_int_eq(drep_info_set(info, "key", NULL), DREP_ERR_INFO_VALUE);
    ck_assert_int_eq(drep_info_set(info, "key", "one"), 0);
    ck_assert_int_eq(drep_info_set(info, "Key", "two"), 0); /* case counts */
    ck_assert_int_eq(drep_info_set(info, "key", "three"), 0);
    ck_assert_int_eq(drep_info_count(info), 3);
    ck_assert_str_eq(drep_info_get(info, "key"), "three");
    ck_assert_str_eq(drep_info_get(info, "Key"), "two");
    ck_assert_ptr_null(drep_info_get(info, "kez"));
    ck_assert_str_eq(drep_info_key(info, 0), "Key");
    ck_assert_str_eq(drep_info_key(info, 1), "key");
    ck_assert_ptr_null(drep_info_key(info, 3));
    ck_assert_int_eq(drep_info_delete(info, "Key"), 0);
    ck_assert_int_eq(drep_info_delete(info, "Key"), DREP_ERR_INFO_KEY);
    ck_assert_int_eq(drep_info_count(info), 2);
    drep_info_free(info);
    drep_info_free(NULL);
}
END_TEST

static void refused(int err, const char *key, const char *value, const char *message)
{
    ck_assert_int_eq(drep_info_check(key, value), err);
    ck_assert_str_eq(drep_error(), message);
}

START_TEST(test_check_of_one_hint)
{
    ck_assert_int_eq(drep_info_check("drep_sync", "none"), 0);
    ck_assert_int_eq(drep_info_check("drep_machine", "any text"), 0);
    refused(DREP_ERR_INFO_KEY, "drep_snyc", "none",
            "hint drep_snyc: there is none of this name; datarep-hints(7) lists all");
    refused(DREP_ERR_INFO_VALUE, "drep_sync", "off",
            "hint drep_sync: \"off\" is not among: commit none");
    refused(DREP_ERR_INFO_VALUE, "drep_sync", "", "hint drep_sync: \"\" is not among: commit none");
    refused(DREP_ERR_INFO_VALUE, "access_style", "fast",
            "hint access_style: \"fast\" is not among: read_once write_once read_mostly "
            "write_mostly sequential reverse_sequential random");
    refused(DREP_ERR_INFO_VALUE, "drep_pack", "1", "hint drep_pack: \"1\" is not true or false");
    refused(DREP_ERR_INFO_VALUE, "drep_keep", "0",
            "hint drep_keep: \"0\" is not an integer, at least 1");
    refused(DREP_ERR_INFO_VALUE, "drep_threads", "many",
            "hint drep_threads: \"many\" is not an integer, at least 0");
    refused(DREP_ERR_INFO_VALUE, "drep_time", "now", "hint drep_time: \"now\" is not an integer");
    refused(DREP_ERR_INFO_VALUE, "drep_lock_wait", "-1",
            "hint drep_lock_wait: \"-1\" is not seconds, at least 0");
    refused(DREP_ERR_INFO_VALUE, "chunked", "3,0",
            "hint chunked: \"3,0\" is not integers, at least 1, with commas between them");
    refused(DREP_ERR_INFO_VALUE, "file_perm", "rw",
            "hint file_perm: \"rw\" is not permissions in octal digits");
    refused(DREP_ERR_INFO_VALUE, "drep_uuid", "12",
            "hint drep_uuid: \"12\" is not 32 hexadecimal digits");
}
END_TEST

START_TEST(test_H5_values_by_kind)
{
    ck_assert(info_valid("collective_buffering", "true"));
    ck_assert(!info_valid("collective_buffering", "True"));
    ck_assert(!info_valid("collective_buffering", "1"));
    ck_assert(info_valid("cb_nodes", "+12"));
    ck_assert(!info_valid("cb_nodes", "-3"));
    ck_assert(info_valid("drep_time", "-3"));
    ck_assert(!info_valid("cb_nodes", "+ 12"));
    ck_assert(!info_valid("cb_nodes", "12 "));
    ck_assert(!info_valid("cb_nodes", "0x10"));
    ck_assert(!info_valid("cb_nodes", "99999999999999999999"));
    ck_assert(info_valid("chunked", "3, 4 ,5"));
    ck_assert(!info_valid("chunked", "3,,5"));
    ck_assert(!info_valid("chunked", "3,4,"));
    ck_assert(info_valid("access_style", "read_once, sequential"));
    ck_assert(!info_valid("access_style", "read once"));
    ck_assert(info_valid("drep_sync", "commit"));
    ck_assert(!info_valid("drep_sync", "a,b"));
    ck_assert(info_valid("file_perm", "0640"));
    ck_assert(!info_valid("file_perm", "0689"));
    ck_assert(!info_valid("no such hint", "1"));
    ck_assert(info_known("striping_unit") && !info_known("Striping_unit"));
}
END_TEST

/* C4, H2: the supported ones with the values in force; what is bad or unknown leaves no
 * trace. */
START_TEST(test_C4_merging)
{
    drep_info *all, *mine;
    int64_t numbers[4] = {0};

    ck_assert_int_eq(info_defaults(&all), 0);
    ck_assert_int_eq(drep_info_new(&mine), 0);
    drep_info_set(mine, "cb_nodes", "4");
    drep_info_set(mine, "cb_block_size", "many");
    drep_info_set(mine, "nobody_knows", "this");
    drep_info_set(mine, "chunked", "10, 20 ,30");
    drep_info_set(mine, "access_style", "read_once,random");
    drep_info_set(mine, "drep_lock", "false");
    ck_assert_int_eq(info_merge(all, mine), 0);
    ck_assert_int_eq(info_int(all, "cb_nodes"), 4);
    ck_assert_int_eq(info_int(all, "cb_block_size"), 1048576);
    ck_assert_ptr_null(drep_info_get(all, "nobody_knows"));
    ck_assert_int_eq(info_ints(all, "chunked", numbers, 2), 3);
    ck_assert(numbers[0] == 10 && numbers[1] == 20 && numbers[2] == 0);
    ck_assert_ptr_nonnull(strstr(info_str(all, "access_style"), "random"));
    ck_assert(!info_bool(all, "drep_lock"));
    ck_assert_int_eq(info_int(NULL, "drep_chunk_max"), 16777216);
    ck_assert_int_eq(info_int(NULL, "file_perm"), 0666);
    ck_assert(info_bool(NULL, "drep_lock"));
    ck_assert_int_eq(info_ints(NULL, "chunked", numbers, 4), 0);
    ck_assert_str_eq(info_str(mine, "cb_block_size"), "1048576");
    drep_info_free(all);
    drep_info_free(mine);
}
END_TEST

/* Searches rely on the order of format/hints.def. */
START_TEST(test_keys_ascend)
{
    static const char *const keys[] = {
#define X(key, kind, value) key,
#include "format/hints.def"
#undef X
    };
    drep_info *all;
    int n = (int)(sizeof keys / sizeof keys[0]);

    ck_assert_int_eq(info_defaults(&all), 0);
    ck_assert_int_eq(drep_info_count(all), n);
    for (int i = 0; i < n; i++) {
        ck_assert(i == 0 || strcmp(keys[i - 1], keys[i]) < 0);
        ck_assert(info_known(keys[i]));
        ck_assert_str_eq(drep_info_key(all, i), keys[i]);
    }
    drep_info_free(all);
}
END_TEST

START_TEST(test_every_allocation_may_fail)
{
    drep_info *info = NULL;
    int64_t n = 0;
    int err;

    do {
        mem_fail_at(n++);
        err = info_defaults(&info);
    } while (err == DREP_ERR_NOMEM);
    mem_fail_at(-1);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(n, 3); /* the list and its pairs: keys and defaults stand in a table */
    n = 0;
    do {
        mem_fail_at(n++);
        err = drep_info_set(info, "a key of mine", "a value");
        ck_assert_int_eq(drep_info_get(info, "a key of mine") != NULL, err == 0);
    } while (err == DREP_ERR_NOMEM);
    mem_fail_at(-1);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(n, 4);
    mem_fail_at(0);
    ck_assert_int_eq(drep_info_set(info, "cb_nodes", "9"), DREP_ERR_NOMEM);
    ck_assert_str_eq(drep_info_get(info, "cb_nodes"), "1");
    mem_fail_at(-1);
    drep_info_free(info);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("info");
    TCase *tc = tcase_create("info");

    tcase_add_test(tc, test_H5_keys_and_values);
    tcase_add_test(tc, test_H5_values_by_kind);
    tcase_add_test(tc, test_check_of_one_hint);
    tcase_add_test(tc, test_C4_merging);
    tcase_add_test(tc, test_keys_ascend);
    tcase_add_test(tc, test_every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
