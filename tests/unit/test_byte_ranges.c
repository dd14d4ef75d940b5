/* test_byte_ranges.c - sets of bytes of a stored element (conv/byte_ranges.h) against bit maps. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"

#include "conv/byte_ranges.h"
#include "format/byteorder.h"
#include "type/prog.h"

enum { SIZE = 64, SETS = 60 };

/* The set of the bits of `map`. */
static struct byte_ranges set_of(uint64_t map)
{
    struct byte_ranges s = {.range = mem_alloc((uint64_t)SIZE * BYTE_RANGE)};

    ck_assert_ptr_nonnull(s.range);
    for (int at = 0, n; at < SIZE; at += n) {
        for (n = 0; at + n < SIZE && map >> (at + n) & 1; n++)
            ;
        if (n > 0) {
            store_u64(s.range + s.n * BYTE_RANGE, (uint64_t)at);
            store_u64(s.range + s.n++ * BYTE_RANGE + 8, (uint64_t)n);
        }
        n += n == 0;
    }
    return s;
}

/* The bits of a set, whose ranges must be in order and apart. */
static uint64_t map_of(const struct byte_ranges *s)
{
    uint64_t map = 0, last = 0;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t at = load_u64(s->range + i * BYTE_RANGE);
        uint64_t n = load_u64(s->range + i * BYTE_RANGE + 8);

        ck_assert_uint_gt(n, 0);
        ck_assert(i == 0 || at > last);
        ck_assert_uint_le(at + n, SIZE);
        last = at + n;
        for (uint64_t k = at; k < last; k++)
            map |= (uint64_t)1 << k;
    }
    return map;
}

/* Sets of few and of many ranges, never empty: that would be all members. */
static uint64_t random_map(struct rnd *r)
{
    uint64_t map = rnd_u64(r);

    for (uint64_t k = rnd_below(r, 6); k > 0; k--)
        map &= rnd_below(r, 2) ? rnd_u64(r) : map << 1 | 1;
    return map ? map : 1;
}

START_TEST(test_sets_are_those_of_bit_maps)
{
    struct byte_ranges set[SETS];
    uint64_t map[SETS];
    struct rnd r;

    rnd_init(&r, 3);
    for (int i = 0; i < SETS; i++) {
        map[i] = i > 0 && i % 7 == 0 ? map[i - 1] : random_map(&r);
        set[i] = set_of(map[i]);
        ck_assert_uint_eq(map_of(&set[i]), map[i]);
        ck_assert(byte_ranges_valid(&set[i], SIZE));
    }
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < SETS; k++) {
            struct byte_ranges sum = {.n = 0};

            ok(byte_ranges_unite(&set[i], &set[k], &sum));
            ck_assert_uint_eq(map_of(&sum), map[i] | map[k]);
            ck_assert_int_eq(byte_ranges_meet(&set[i], &set[k]), (map[i] & map[k]) != 0);
            ck_assert_int_eq(byte_ranges_same(&set[i], &set[k]), map[i] == map[k]);
            byte_ranges_release(&sum);
        }
    for (int i = 0; i < SETS; i++)
        byte_ranges_release(&set[i]);
}
END_TEST

START_TEST(test_copying)
{
    uint8_t from[SIZE], to[SIZE];
    struct rnd r;

    rnd_init(&r, 4);
    for (int i = 0; i < SETS; i++) {
        uint64_t map = random_map(&r);
        struct byte_ranges set = set_of(map);

        memset(from, 1, SIZE);
        memset(to, 0, SIZE);
        byte_ranges_copy(&set, to, from, SIZE);
        for (int k = 0; k < SIZE; k++)
            ck_assert_int_eq(to[k], map >> k & 1);
        byte_ranges_release(&set);
    }
}
END_TEST

/* No ranges stand for all members. */
START_TEST(test_all_members)
{
    struct byte_ranges all = {.n = 0}, set = set_of(2), sum = {.n = 9};
    uint8_t from[SIZE], to[SIZE] = {0};

    ck_assert(byte_ranges_meet(&all, &set) && byte_ranges_meet(&set, &all));
    ck_assert(byte_ranges_meet(NULL, &set) && byte_ranges_meet(&all, &all));
    ck_assert(byte_ranges_same(&all, NULL) && !byte_ranges_same(&set, NULL));
    ok(byte_ranges_unite(&set, &all, &sum));
    ck_assert(byte_ranges_same(&sum, NULL));
    ok(byte_ranges_unite(&all, &set, &sum));
    ck_assert(byte_ranges_same(&sum, NULL));
    memset(from, 7, SIZE);
    byte_ranges_copy(&all, to, from, SIZE / 2);
    byte_ranges_copy(NULL, to + SIZE / 2, from, SIZE / 2);
    ck_assert_int_eq(memcmp(from, to, SIZE), 0);
    byte_ranges_release(&set);
}
END_TEST

/* A message may hold anything. */
START_TEST(test_what_is_no_set)
{
    static const struct {
        uint64_t v[4];
        size_t n;
        bool valid;
    } some[] = {
        {{0, 64}, 1, true},          {{63, 1}, 1, true},           {{0, 65}, 1, false},
        {{64, 1}, 1, false},         {{65, UINT64_MAX}, 1, false}, {{5, 0}, 1, false},
        {{1, UINT64_MAX}, 1, false}, {{UINT64_MAX, 1}, 1, false},  {{0, 4, 5, 4}, 2, true},
        {{0, 4, 4, 4}, 2, false}, /* they touch */
        {{0, 4, 3, 4}, 2, false},    {{5, 4, 0, 4}, 2, false},     {{0, 60, 61, 4}, 2, false},
    };
    uint8_t range[2 * BYTE_RANGE];
    struct byte_ranges set = {.range = range};

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        for (int k = 0; k < 4; k++)
            store_u64(range + 8 * k, some[i].v[k]);
        set.n = some[i].n;
        ck_assert_msg(byte_ranges_valid(&set, SIZE) == some[i].valid, "%zu", i);
    }
}
END_TEST

/* ---- of a layout ---- */

/* The bytes of a type as this machine has it, by what the test knows of its members. */
static void check_layout(const drep_type *type, uint64_t want)
{
    struct byte_ranges set = {.n = 0};
    struct prog prog;

    ok(prog_build(&prog, type, type_native_sizes(), PROG_MEMORY));
    ok(byte_ranges_of(&prog, type_native_sizes(), &set));
    ck_assert_uint_eq(map_of(&set), want);
    byte_ranges_release(&set);
    prog_release(&prog);
}

START_TEST(test_bytes_of_members)
{
    static const int64_t one[] = {1, 1, 1, 1}, at[] = {40, 0, 4, 12};
    const drep_type *members[] = {DREP_INT8_T, DREP_INT32_T, DREP_INT16_T, DREP_INT32_T};
    drep_type *type, *spaced, *four, *text;

    ok(drep_type_struct(4, one, at, members, &type)); /* out of order; two of them are neighbours */
    check_layout(type, 0xf03full | 1ull << 40);
    ok(drep_type_resized(0, 8, DREP_INT16_T, &spaced));
    ok(drep_type_contiguous(4, spaced, &four));
    check_layout(four, 3ull | 3ull << 8 | 3ull << 16 | 3ull << 24);
    ok(drep_type_string(5, DREP_PAD_NUL, &text));
    check_layout(text, 31);
    drep_type_free(type);
    drep_type_free(spaced);
    drep_type_free(four);
    drep_type_free(text);
}
END_TEST

START_TEST(test_no_memory)
{
    struct byte_ranges a = set_of(0x5555), b = set_of(0xaa0000), sum = {.n = 0};
    int64_t n = 0;
    int err;

    do {
        mem_fail_at(n++);
        err = byte_ranges_unite(&a, &b, &sum);
        mem_fail_at(-1);
        ck_assert(err == 0 || (err == DREP_ERR_NOMEM && !sum.range));
    } while (err);
    ck_assert_int_gt(n, 1);
    ck_assert_uint_eq(map_of(&sum), 0xaa5555);
    byte_ranges_release(&sum);
    byte_ranges_release(&a);
    byte_ranges_release(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("byte_ranges");
    TCase *t = tcase_create("byte_ranges");

    tcase_add_test(t, test_sets_are_those_of_bit_maps);
    tcase_add_test(t, test_copying);
    tcase_add_test(t, test_all_members);
    tcase_add_test(t, test_what_is_no_set);
    tcase_add_test(t, test_bytes_of_members);
    tcase_add_test(t, test_no_memory);
    suite_add_tcase(s, t);
    return run_suite(s);
}
