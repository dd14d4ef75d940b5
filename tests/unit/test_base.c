/* test_base.c - the last message, the texts of the codes, checked allocation, arrays that grow
 * and sets of ids. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#undef fail /* a macro of Check's */
#include "base/error.h"
#include "base/idset.h"
#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>

START_TEST(test_messages_grow_in_front)
{
    ck_assert_int_eq(fail(DREP_ERR_CHECKSUM, "checksum mismatch at byte %d", 81920),
                     DREP_ERR_CHECKSUM);
    ck_assert_int_eq(fail_in(DREP_ERR_CHECKSUM, "chunk (%d,%d)", 3, 0), DREP_ERR_CHECKSUM);
    ck_assert_int_eq(fail_in(0, "not this"), 0);
    fail_in(DREP_ERR_CHECKSUM, "a.drep");
    ck_assert_str_eq(drep_error(), "a.drep: chunk (3,0): checksum mismatch at byte 81920");
    fail_in(DREP_ERR_CHECKSUM, "a.drep"); /* it begins with that already */
    ck_assert_str_eq(drep_error(), "a.drep: chunk (3,0): checksum mismatch at byte 81920");
    fail(DREP_ERR_ARG, "again: %s", drep_error()); /* its own message as an argument */
    ck_assert_str_eq(drep_error(), "again: a.drep: chunk (3,0): checksum mismatch at byte 81920");
}
END_TEST

START_TEST(test_long_messages_are_cut_at_the_end)
{
    char text[3000];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0;
    for (size_t len = 1; len < sizeof(text); len += 7) {
        text[sizeof(text) - 1 - len] = 0;
        fail(DREP_ERR_ARG, "%s", text + sizeof(text) - len);
        fail_in(DREP_ERR_ARG, "%s", text + sizeof(text) - len);
        ck_assert_uint_lt(strlen(drep_error()), (size_t)FAIL_ROOM);
        ck_assert_int_eq(drep_error()[0], len > 1 ? 'x' : ':');
        text[sizeof(text) - 1 - len] = 'x';
    }
}
END_TEST

static void *other_thread(void *ctx)
{
    ck_assert_str_eq(drep_error(), "");
    ck_assert_str_eq(drep_error_object(), "");
    ck_assert_int_eq(drep_error_byte(), -1);
    fail(DREP_ERR_IO, "there");
    fail_save(ctx);
    return NULL;
}

START_TEST(test_callers_set_the_message)
{
    char text[2000];

    ck_assert_int_eq(drep_error_set(DREP_ERR_IO, "100 %s"), DREP_ERR_IO);
    ck_assert_str_eq(drep_error(), "100 %s");
    ck_assert_int_eq(drep_error_set(0, "nothing"), 0);
    ck_assert_str_eq(drep_error(), "100 %s");
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0;
    drep_error_set(DREP_ERR_IO, text);
    ck_assert_uint_eq(strlen(drep_error()), (size_t)FAIL_ROOM - 1);
    drep_error_set(DREP_ERR_IO, NULL);
    ck_assert_str_eq(drep_error(), "");
}
END_TEST

START_TEST(test_object_and_byte_are_data)
{
    char path[3000];
    struct fail_state s;

    fail(DREP_ERR_IO, "nothing of the file");
    ck_assert_str_eq(drep_error_object(), "");
    ck_assert_int_eq(drep_error_byte(), -1);
    ck_assert_int_eq(fail_byte(DREP_ERR_CHECKSUM, 0, "damaged at byte %d", 0), DREP_ERR_CHECKSUM);
    ck_assert_int_eq(drep_error_byte(), 0);
    ck_assert_int_eq(fail_dataset(0, "/not this"), 0);
    ck_assert_int_eq(fail_about(0, "/not this"), 0);
    ck_assert_str_eq(drep_error_object(), "");
    fail_byte(DREP_ERR_CHECKSUM, INT64_MAX - 1, "damaged");
    ck_assert_int_eq(fail_dataset(DREP_ERR_CHECKSUM, "/inner"), DREP_ERR_CHECKSUM);
    ck_assert_int_eq(fail_dataset(DREP_ERR_CHECKSUM, "/g/x \"y\""), DREP_ERR_CHECKSUM);
    fail_in(DREP_ERR_CHECKSUM, "a.drep");
    ck_assert_str_eq(drep_error(), "a.drep: dataset \"/g/x \"y\"\": dataset \"/inner\": damaged");
    ck_assert_str_eq(drep_error_object(), "/g/x \"y\"");
    ck_assert_int_eq(drep_error_byte(), INT64_MAX - 1);
    fail_save(&s);
    fail_object(DREP_ERR_NOT_FOUND, "/n", "%s: not there", "/n");
    ck_assert_str_eq(drep_error_object(), "/n");
    ck_assert_int_eq(drep_error_byte(), -1);
    fail_restore(&s);
    ck_assert_str_eq(drep_error_object(), "/g/x \"y\"");
    ck_assert_int_eq(drep_error_byte(), INT64_MAX - 1);
    fail_object(DREP_ERR_NOT_FOUND, drep_error_object(), "%s: gone", drep_error_object());
    ck_assert_str_eq(drep_error(), "/g/x \"y\": gone");
    ck_assert_str_eq(drep_error_object(), "/g/x \"y\"");
    fail(DREP_ERR_NOT_FOUND, "/g/x: /g/x: gone");
    fail_dataset(DREP_ERR_NOT_FOUND, "/g/x"); /* which names it in place of its path */
    ck_assert_str_eq(drep_error(), "dataset \"/g/x\": /g/x: gone");
    fail(DREP_ERR_NOT_FOUND, "/g/xy: gone");
    fail_dataset(DREP_ERR_NOT_FOUND, "/g/x");
    ck_assert_str_eq(drep_error(), "dataset \"/g/x\": /g/xy: gone");
    fail_byte(DREP_ERR_LIMIT, UINT64_MAX, "no byte of any file");
    ck_assert_int_eq(drep_error_byte(), -1);
    memset(path, 'x', sizeof path);
    path[FAIL_ROOM - 1] = 0;
    fail_about(DREP_ERR_IO, path);
    ck_assert_str_eq(drep_error_object(), path);
    path[FAIL_ROOM - 1] = 'x';
    path[FAIL_ROOM] = 0;
    fail_about(DREP_ERR_IO, path); /* a part of it would be another path */
    ck_assert_str_eq(drep_error_object(), "");
    fail_about(DREP_ERR_IO, "/x");
    fail_about(DREP_ERR_IO, NULL);
    ck_assert_str_eq(drep_error_object(), "");
    fail_dataset(DREP_ERR_IO, "/x");
    drep_error_set(DREP_ERR_IO, "a driver's");
    ck_assert_str_eq(drep_error_object(), "");
}
END_TEST

START_TEST(test_messages_travel_with_what_they_are_about)
{
    char packed[FAIL_PACKED], path[FAIL_ROOM];
    size_t n;

    fail_byte(DREP_ERR_CHECKSUM, 81920, "damaged");
    fail_dataset(DREP_ERR_CHECKSUM, "/x");
    n = fail_pack(fail_last(), packed, sizeof packed);
    ck_assert_str_eq(packed, "dataset \"/x\": damaged");
    fail(DREP_ERR_ARG, "another");
    ck_assert_int_eq(fail_unpack(DREP_ERR_CHECKSUM, packed, n), DREP_ERR_CHECKSUM);
    ck_assert_str_eq(drep_error(), "dataset \"/x\": damaged");
    ck_assert_str_eq(drep_error_object(), "/x");
    ck_assert_int_eq(drep_error_byte(), 81920);
    for (size_t cut = 0; cut < n; cut++) { /* whatever comes */
        fail_unpack(DREP_ERR_CHECKSUM, packed, cut);
        ck_assert_str_eq(drep_error_object(), "");
        ck_assert_int_eq(drep_error_byte(), -1);
    }
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    fail_object(DREP_ERR_NOT_FOUND, path, "%s", path);
    n = fail_pack(fail_last(), packed, sizeof packed); /* all of both has room */
    ck_assert_uint_eq(n, FAIL_PACKED);
    fail_unpack(DREP_ERR_NOT_FOUND, packed, n);
    ck_assert_str_eq(drep_error(), path);
    ck_assert_str_eq(drep_error_object(), path);
    for (size_t room = 33; room < sizeof packed; room += 5) {
        fail_object(DREP_ERR_NOT_FOUND, "/path", "%s", path);
        n = fail_pack(fail_last(), packed, room);
        ck_assert_uint_le(n, room);
        fail_unpack(DREP_ERR_NOT_FOUND, packed, n);
        ck_assert_str_eq(drep_error_object(), "/path");
        ck_assert_int_eq(strncmp(drep_error(), path, strlen(drep_error())), 0);
        fail_object(DREP_ERR_NOT_FOUND, path, "%s", path);
        n = fail_pack(fail_last(), packed, room);
        ck_assert_uint_le(n, room);
        fail_unpack(DREP_ERR_NOT_FOUND, packed, n);
        ck_assert(!*drep_error_object() || !strcmp(drep_error_object(), path));
    }
}
END_TEST

START_TEST(test_each_thread_has_its_message)
{
    struct fail_state s;
    pthread_t thread;

    fail(DREP_ERR_ARG, "here");
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &s), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(drep_error(), "here");
    fail_restore(&s);
    ck_assert_str_eq(drep_error(), "there");
}
END_TEST

START_TEST(test_every_code_has_a_text)
{
    for (int err = 0; err <= DREP_ERR_UNKNOWN; err++)
        ck_assert_str_ne(drep_strerror(err), "unknown error");
    ck_assert_str_eq(drep_strerror(0), "success");
    ck_assert_str_eq(drep_strerror(DREP_ERR_NOT_FOUND), "no such object");
    ck_assert_str_eq(drep_strerror(-1), "unknown error");
    ck_assert_str_eq(drep_strerror(DREP_ERR_UNKNOWN + 1), "unknown error");
}
END_TEST

START_TEST(test_allocations)
{
    char *p, *q;

    p = mem_alloc(0);
    q = mem_alloc(0);
    ck_assert(p && q && p != q);
    mem_free(p);
    mem_free(q);
    ck_assert_ptr_null(mem_array(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(mem_zalloc(SIZE_MAX, 1));
    p = mem_zalloc(3, 5);
    for (int i = 0; i < 15; i++)
        ck_assert_int_eq(p[i], 0);
    ck_assert_ptr_null(mem_resize(p, SIZE_MAX / 4, 8));
    p[14] = 7; /* still there */
    p = mem_resize(p, 300, 1);
    ck_assert_int_eq(p[14], 7);
    mem_free(p);
    p = mem_aligned(4096, 10);
    ck_assert_uint_eq((uintptr_t)p % 4096, 0);
    mem_free(p);
    p = mem_strndup("abcdef", 3);
    ck_assert_str_eq(p, "abc");
    q = mem_strndup(p, 100);
    ck_assert_str_eq(q, "abc");
    mem_free(p);
    mem_free(q);
    mem_free(NULL);
}
END_TEST

START_TEST(test_the_nth_allocation_fails)
{
    void *p[4];

    mem_fail_at(2);
    for (int i = 0; i < 4; i++)
        p[i] = mem_alloc(8);
    ck_assert(p[0] && p[1] && !p[2] && p[3]);
    ck_assert_int_eq(mem_failed(), 1);
    ck_assert_ptr_nonnull(strstr(drep_error(), "out of memory"));
    mem_fail_at(0);
    ck_assert_int_eq(mem_failed(), 0);
    ck_assert_ptr_null(mem_strdup("x"));
    mem_fail_at(0);
    mem_fail_at(-1);
    for (int i = 0; i < 4; i++)
        mem_free(p[i]);
    p[0] = mem_alloc(1);
    ck_assert_ptr_nonnull(p[0]);
    mem_free(p[0]);
    ck_assert_int_eq(mem_failed(), 0);
}
END_TEST

/* Sizes that end in small ones when they are cut to a size_t. */
START_TEST(test_sizes_beyond_memory)
{
    static const uint64_t sizes[] = {
        (uint64_t)PTRDIFF_MAX + 1,
        UINT64_MAX,
#if SIZE_MAX < UINT64_MAX
        (uint64_t)SIZE_MAX + 1,
        (uint64_t)SIZE_MAX + 17
#endif
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ck_assert_ptr_null(mem_alloc(sizes[i]));
        ck_assert_ptr_nonnull(strstr(drep_error(), "out of memory"));
        ck_assert_ptr_null(mem_aligned(64, sizes[i]));
        ck_assert_ptr_null(mem_array(sizes[i], 1));
        ck_assert_ptr_null(mem_zalloc(1, sizes[i]));
        ck_assert_ptr_null(mem_resize(NULL, sizes[i] / 2 + 1, 2));
    }
}
END_TEST

START_TEST(test_arrays_grow)
{
    struct {
        uint32_t *v;
        size_t n, room;
    } a = {0};

    for (uint32_t i = 0; i < 10000; i++) {
        ck_assert_int_eq(VEC_ROOM(a.v, a.n, a.room, 1 + i % 3), 0);
        ck_assert_uint_ge(a.room - a.n, 1 + i % 3);
        a.v[a.n++] = i;
    }
    ck_assert_uint_lt(a.room, 20002);
    for (uint32_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(a.v[i], i);
    ck_assert_int_eq(VEC_ROOM(a.v, a.n, a.room, 100000), 0);
    ck_assert_uint_eq(a.room, 110000);
    mem_free(a.v);
}
END_TEST

START_TEST(test_an_array_that_cannot_grow_stays)
{
    uint64_t *v = NULL, *before;
    size_t room = 0;

    ck_assert_int_eq(VEC_ROOM(v, 0, room, 3), 0);
    before = v;
    ck_assert_int_eq(VEC_ROOM(v, 3, room, SIZE_MAX), DREP_ERR_NOMEM);
    ck_assert_int_eq(VEC_ROOM(v, 3, room, SIZE_MAX / 8), DREP_ERR_NOMEM);
    mem_fail_at(0);
    ck_assert_int_eq(VEC_ROOM(v, 3, room, 1000), DREP_ERR_NOMEM);
    mem_fail_at(-1);
    ck_assert_ptr_nonnull(strstr(drep_error(), "out of memory"));
    ck_assert(v == before && room == 8);
    mem_free(v);
}
END_TEST

/* Against the ids themselves: each is added twice, and those between are not there. */
START_TEST(test_sets_of_ids)
{
    struct idset set = {0};
    uintptr_t *value;
    struct rnd r;
    bool first;

    ck_assert_ptr_null(idset_find(&set, 1));
    for (int pass = 0; pass < 2; pass++) {
        rnd_init(&r, 15);
        for (uintptr_t i = 1; i <= 5000; i++) {
            value = idset_add(&set, rnd_u64(&r) | 1);
            ck_assert_ptr_nonnull(value);
            ck_assert_uint_eq(*value, pass ? i : 0);
            *value = i;
        }
    }
    ck_assert_uint_eq(set.n, 5000);
    rnd_init(&r, 15);
    for (uintptr_t i = 1; i <= 5000; i++) {
        uint64_t id = rnd_u64(&r) | 1;

        ck_assert_uint_eq(*idset_find(&set, id), i);
        ck_assert_ptr_null(idset_find(&set, id ^ 1));
    }
    ck_assert_int_eq(idset_mark(&set, 2, &first), 0);
    ck_assert(first);
    ck_assert_int_eq(idset_mark(&set, 2, &first), 0);
    ck_assert(!first);
    idset_release(&set);
    mem_fail_at(0);
    ck_assert_int_eq(idset_mark(&set, 2, &first), DREP_ERR_NOMEM);
    mem_fail_at(-1);
    ck_assert_uint_eq(set.n, 0);
    idset_release(&set);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_messages_grow_in_front);
    tcase_add_test(tc, test_long_messages_are_cut_at_the_end);
    tcase_add_test(tc, test_callers_set_the_message);
    tcase_add_test(tc, test_object_and_byte_are_data);
    tcase_add_test(tc, test_messages_travel_with_what_they_are_about);
    tcase_add_test(tc, test_each_thread_has_its_message);
    tcase_add_test(tc, test_every_code_has_a_text);
    tcase_add_test(tc, test_allocations);
    tcase_add_test(tc, test_the_nth_allocation_fails);
    tcase_add_test(tc, test_sizes_beyond_memory);
    tcase_add_test(tc, test_arrays_grow);
    tcase_add_test(tc, test_an_array_that_cannot_grow_stays);
    tcase_add_test(tc, test_sets_of_ids);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
