/* test_refs.c - references to objects inside elements (conv/refs.h).
 *
 * The greatest id of elements in memory, which the test has put there. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"

#include "conv/refs.h"

enum { COUNT = 12 };

static drep_type *reference(int what)
{
    drep_type *type = NULL;

    ok(drep_type_reference(what, &type));
    return type;
}

START_TEST(test_each_element_counts)
{
    drep_type *type = reference(_i ? DREP_REF_REGION : DREP_REF_OBJECT);
    drep_ref refs[COUNT] = {{0}};

    ck_assert(type_refers(type));
    ck_assert_uint_eq(refs_greatest(type, COUNT, refs), 0);
    for (int i = 0; i < COUNT; i++) {
        refs[i].object = 5;
        refs[(i + 3) % COUNT].object = UINT64_MAX - 1;
        ck_assert_uint_eq(refs_greatest(type, COUNT, refs), UINT64_MAX - 1);
        refs[(i + 3) % COUNT].object = 5;
    }
    refs[COUNT - 1].object = 9; /* not counted */
    ck_assert_uint_eq(refs_greatest(type, COUNT - 1, refs), 5);
    ck_assert_uint_eq(refs_greatest(type, 0, refs), 0);
    drep_type_free(type);
}
END_TEST

struct record {
    int32_t number;
    drep_ref ref[2];
    drep_vlen list;
    drep_vlen plain;
};

static drep_type *record_type(void)
{
    static const char *const names[] = {"number", "ref", "list", "plain"};
    static const int64_t two = 2;
    const int64_t at[] = {0, offsetof(struct record, ref), offsetof(struct record, list),
                          offsetof(struct record, plain)};
    drep_type *ref = reference(DREP_REF_OBJECT), *pair, *inner, *list, *plain, *out, *record;

    ok(drep_type_array(1, &two, ref, &pair));
    ok(drep_type_sequence(pair, &inner));
    ok(drep_type_sequence(inner, &list));
    ok(drep_type_sequence(DREP_INT64_T, &plain));
    const drep_type *members[] = {DREP_INT32_T, pair, list, plain};
    ok(drep_type_compound(4, names, at, members, sizeof(struct record), &out));
    record = out;
    drep_type_free(ref);
    drep_type_free(pair);
    drep_type_free(inner);
    drep_type_free(list);
    drep_type_free(plain);
    return record;
}

/* In members, in arrays, in sequences of sequences; numbers that are no references do not count. */
START_TEST(test_references_anywhere)
{
    drep_type *type = record_type();
    drep_ref deep[3][4] = {{{0}}};
    drep_vlen inner[3];
    int64_t numbers[2] = {99, INT64_MAX};
    struct record r[2];

    memset(r, 0, sizeof r);
    for (int i = 0; i < 3; i++)
        inner[i] = (drep_vlen){2, deep[i]};
    r[0].number = r[1].number = INT32_MAX;
    r[0].plain = (drep_vlen){2, numbers};
    ck_assert(type_refers(type));
    ck_assert_uint_eq(refs_greatest(type, 2, r), 0);
    r[1].ref[1].object = 3;
    ck_assert_uint_eq(refs_greatest(type, 2, r), 3);
    r[1].list = (drep_vlen){3, inner};
    ck_assert_uint_eq(refs_greatest(type, 2, r), 3);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            deep[i][k].object = 4;
            ck_assert_uint_eq(refs_greatest(type, 2, r), 4);
            deep[i][k].object = 0;
        }
    inner[2].count = 1; /* an array of two; what is behind it is not there */
    deep[2][2].object = 4;
    ck_assert_uint_eq(refs_greatest(type, 2, r), 3);
    inner[2] = (drep_vlen){1, NULL};
    r[0].list = (drep_vlen){0, inner};
    ck_assert_uint_eq(refs_greatest(type, 2, r), 3);
    ck_assert_uint_eq(refs_greatest(type, 1, r), 0);
    drep_type_free(type);
}
END_TEST

START_TEST(test_types_without_references)
{
    drep_type *list;
    uint64_t numbers[2] = {7, 8};
    drep_vlen v = {2, numbers};

    ok(drep_type_sequence(DREP_UINT64_T, &list));
    ck_assert(!type_refers(list) && !type_refers(DREP_UINT64_T));
    ck_assert_uint_eq(refs_greatest(list, 1, &v), 0);
    ck_assert_uint_eq(refs_greatest(DREP_UINT64_T, 2, numbers), 0);
    drep_type_free(list);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("refs");
    TCase *t = tcase_create("refs");

    tcase_add_loop_test(t, test_each_element_counts, 0, 2);
    tcase_add_test(t, test_references_anywhere);
    tcase_add_test(t, test_types_without_references);
    suite_add_tcase(s, t);
    return run_suite(s);
}
