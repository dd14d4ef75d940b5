/* test_type_record.c - datatype records: what they say, and what they refuse (D1). */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"
#include "tests/unit/random_type.h"

#include "base/mem.h"
#include "format/record.h"

#define RECORD_MAX 65536

static uint8_t record[RECORD_MAX];

static drep_type *of(const char *text)
{
    drep_type *t = NULL;

    ck_assert_msg(drep_type_parse(text, &t) == 0, "%s: %s", text, drep_error());
    return t;
}

static int put(const drep_type *t, const struct type_sizes *sizes, enum prog_layout layout,
               size_t *size)
{
    struct out out;
    int err;

    out_init(&out, record, sizeof(record));
    err = type_put(t, sizes, layout, &out);
    *size = out.at;
    return err;
}

static int get(const void *bytes, size_t size, drep_type **t, struct prog *stored)
{
    struct in in;

    in_init(&in, bytes, size);
    return type_get(&in, view_sizes(), t, stored);
}

/* The record of a type is these bytes. */
static void check_bytes(const char *text, const struct type_sizes *sizes, enum prog_layout layout,
                        const char *hex)
{
    drep_type *t = of(text);
    size_t size, expected_size;
    uint8_t *expected = hex_bytes(hex, &expected_size);

    ck_assert_int_eq(put(t, sizes, layout, &size), 0);
    ck_assert_uint_eq(size, expected_size);
    ck_assert_msg(memcmp(record, expected, size) == 0, "%s", text);
    free(expected);
    drep_type_free(t);
}

START_TEST(test_records_are_as_the_page_says)
{
    check_bytes("DOUBLE", NULL, PROG_PACKED, "01 00 0010");
    check_bytes("struct{a: INT8_T, b: DOUBLE}", view_sizes(), PROG_PACKED,
                "08 01 00000002 0000000000000009"
                "0001 61 0000000000000000 01 00 0013"
                "0001 62 0000000000000001 01 00 0010");
    check_bytes("struct{a: INT8_T, b: DOUBLE}", view_sizes(), PROG_STRUCT,
                "08 01 00000002 000000000000000c"
                "0001 61 0000000000000000 01 00 0013"
                "0001 62 0000000000000004 01 00 0010");
    check_bytes("struct{a@8: INT8_T}", NULL, PROG_PACKED,
                "08 00 00000001 0000000000000000 0001 61 0000000000000000 01 00 0013");
    /* Memory layout is not stored: what a constructor picks is. */
    check_bytes("struct([2,0,1],[64,0,8],[LONG,INT,resized(0,32,CHAR)])", view_sizes(), PROG_PACKED,
                "08 01 00000002 0000000000000009"
                "0000 0000000000000000 07 00 01 0000000000000002 01 00 000a"
                "0000 0000000000000008 01 00 0003");
    check_bytes("vector(3,2,7,DOUBLE)", view_sizes(), PROG_PACKED,
                "07 00 01 0000000000000006 01 00 0010");
    check_bytes("dup(contiguous(1,DOUBLE))", view_sizes(), PROG_PACKED, "01 00 0010");
    /* A named datatype is as it was made. */
    check_bytes("vector(3,2,7,DOUBLE)", NULL, PROG_MEMORY,
                "21 00 0000000000000003 0000000000000002 0000000000000007 01 00 0010");
    check_bytes("enum(INT8_T){A=-1}", view_sizes(), PROG_PACKED,
                "05 00 00000001 0001 41 ffffffffffffffff 01 00 0013");
    check_bytes("seq(string(3,space))", view_sizes(), PROG_PACKED,
                "09 00 03 00 02 0000000000000003");
    check_bytes("opaque(4,\"x\")", view_sizes(), PROG_PACKED, "04 00 0000000000000004 0001 78");
    check_bytes("ref(region)", view_sizes(), PROG_PACKED, "0b 00 01");
}
END_TEST

/* The same items at the same places. */
static void check_same_map(const struct prog *a, const struct prog *b)
{
    drep_cursor ca, cb;
    drep_run ra, rb;

    ck_assert_int_eq(a->items, b->items);
    ck_assert_int_eq(a->extent, b->extent);
    ck_assert_int_eq(a->size, b->size);
    ck_assert_int_eq(cursor_init(&ca, a, 0), 0);
    ck_assert_int_eq(cursor_init(&cb, b, 0), 0);
    for (int64_t i = 0; i < a->items; i++) {
        cursor_next(&ca, 1, &ra);
        cursor_next(&cb, 1, &rb);
        ck_assert(leaf_same(ra.type, rb.type));
        ck_assert_int_eq(ra.offset, rb.offset);
    }
}

START_TEST(test_D1_random_types_come_back)
{
    static uint8_t first[RECORD_MAX];

    for (int i = 0; i < 2000; i++) {
        enum prog_layout layout = i & 1 ? PROG_STRUCT : PROG_PACKED;
        struct prog direct, stored;
        struct sample s;
        drep_type *t = NULL;
        size_t size, again;
        int err;

        random_sample(&s, 1 + i % 5);
        err = put(s.type, view_sizes(), layout, &size);
        if (err) {
            ck_assert_int_eq(err, DREP_ERR_TYPE); /* nothing inside to store */
            sample_release(&s);
            continue;
        }
        memcpy(first, record, size);
        ck_assert_msg(get(first, size, &t, &stored) == 0, "%s", drep_error());
        ck_assert_int_eq(prog_build(&direct, s.type, view_sizes(), layout), 0);
        check_same_map(&direct, &stored);
        ck_assert_int_eq(drep_type_items(t), drep_type_items(s.type));
        ck_assert_int_eq(put(t, view_sizes(), layout, &again), 0);
        ck_assert(again == size && memcmp(first, record, size) == 0);
        prog_release(&direct);
        prog_release(&stored);
        drep_type_free(t);
        sample_release(&s);
    }
}
END_TEST

START_TEST(test_named_types_come_back_as_made)
{
    static uint8_t first[RECORD_MAX];

    for (int i = 0; i < 1000; i++) {
        struct sample s;
        drep_type *t = NULL;
        size_t size, again;
        int err;

        random_sample(&s, 1 + i % 5);
        err = put(s.type, NULL, PROG_MEMORY, &size);
        ck_assert(err == 0 || err == DREP_ERR_TYPE);
        if (err == 0) {
            memcpy(first, record, size);
            ck_assert_msg(get(first, size, &t, NULL) == 0, "%s", drep_error());
            ck_assert_int_eq(put(t, NULL, PROG_MEMORY, &again), 0);
            ck_assert(again == size && memcmp(first, record, size) == 0);
            drep_type_free(t);
        }
        sample_release(&s);
    }
}
END_TEST

START_TEST(test_what_a_record_lays_out_is_obeyed)
{
    size_t size;
    uint8_t *bytes =
        hex_bytes("08 01 00000002 0000000000000020"
                  "0001 61 0000000000000003 01 00 0013"
                  "0001 62 0000000000000010 09 00"
                  "08 01 00000001 000000000000000a 0001 63 0000000000000006 01 00 0008",
                  &size);
    struct prog p;
    drep_type *t = NULL;
    drep_cursor cursor;
    drep_run run;

    ck_assert_int_eq(get(bytes, size, &t, &p), 0);
    ck_assert_int_eq(p.extent, 32);
    ck_assert_int_eq(cursor_init(&cursor, &p, 3), 0);
    ck_assert_int_eq(cursor_next(&cursor, 1, &run), 1);
    ck_assert_int_eq(run.offset, 48);
    ck_assert_int_eq(run.type->kind, DREP_KIND_SEQUENCE);
    ck_assert_int_eq(run.type->content.extent, 10);
    ck_assert_int_eq(run.type->content.origin, 6);
    prog_release(&p);
    drep_type_free(t);
    free(bytes);
}
END_TEST

static int get_hex(const char *hex, bool stored)
{
    size_t size;
    uint8_t *bytes = hex_bytes(hex, &size);
    drep_type *t = NULL;
    struct prog p;
    int err = get(bytes, size, &t, stored ? &p : NULL);

    ck_assert(!err == !!t);
    if (!err && stored)
        prog_release(&p);
    drep_type_free(t);
    free(bytes);
    return err;
}

START_TEST(test_hostile_records)
{
    static const struct {
        const char *hex;
        int err;
    } row[] = {
        /* members overlap, lie outside, overlap in another order, or lie there */
        {"08 01 00000002 0000000000000010 0001 61 0000000000000000 01 00 0010"
         "0001 62 0000000000000007 01 00 0008",
         DREP_ERR_FORMAT},
        {"08 01 00000001 0000000000000010 0001 61 0000000000000009 01 00 0010", DREP_ERR_FORMAT},
        {"08 01 00000002 0000000000000010 0001 61 0000000000000008 01 00 0010"
         "0001 62 0000000000000005 01 00 0008",
         DREP_ERR_FORMAT},
        {"08 01 00000002 0000000000000010 0001 61 0000000000000008 01 00 0010"
         "0001 62 0000000000000000 01 00 0008",
         0},
        {"08 01 00000001 0000000000000010 0001 61 fffffffffffffff8 01 00 0010",
         DREP_ERR_UNSUPPORTED},
        {"08 01 00000001 4000000000000000 0001 61 4000000000000000 01 00 0010",
         DREP_ERR_UNSUPPORTED},
        /* no members, the same name twice, one without a name */
        {"08 00 00000000 0000000000000000", DREP_ERR_FORMAT},
        {"08 00 00000002 0000000000000000 0001 61 0000000000000000 01 00 0010"
         "0001 61 0000000000000000 01 00 0008",
         DREP_ERR_FORMAT},
        {"08 00 00000002 0000000000000000 0001 61 0000000000000000 01 00 0010"
         "0000 0000000000000000 01 00 0008",
         DREP_ERR_FORMAT},
        /* more members than bytes, an unknown kind and code, an unknown flag */
        {"08 00 ffffffff 0000000000000000", DREP_ERR_FORMAT},
        {"0c 00", DREP_ERR_UNSUPPORTED},
        {"01 00 0045", DREP_ERR_UNSUPPORTED},
        {"01 01 0010", DREP_ERR_FORMAT},
        /* sizes that overflow, are zero, too large */
        {"07 00 02 0000000100000000 0000000100000000 01 00 0010", DREP_ERR_UNSUPPORTED},
        {"07 00 01 0000000000000000 01 00 0010", DREP_ERR_FORMAT},
        {"03 00 00 0000000000000000", DREP_ERR_FORMAT},
        {"04 00 7fffffffffffffff 0000", DREP_ERR_UNSUPPORTED},
        /* an enum of reals, of a value that its base need not have (R5.13), a boolean of reals */
        {"05 00 00000000 01 00 0010", DREP_ERR_FORMAT},
        {"05 00 00000001 0001 41 00000000000000ff 01 00 0013", 0},
        {"06 00 01 00 0010", DREP_ERR_FORMAT},
        /* a typemap in an element */
        {"20 00 0000000000000003 01 00 0010", DREP_ERR_FORMAT},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        ck_assert_msg(get_hex(row[i].hex, true) == row[i].err, "row %zu: %s", i, drep_error());
    ck_assert_int_eq(get_hex("20 00 0000000000000003 01 00 0010", false), 0);
    ck_assert_int_eq(get_hex("20 00 ffffffffffffffff 01 00 0010", false), DREP_ERR_FORMAT);
    ck_assert_int_eq(get_hex("29 00 01 00 00000002 00000000 0000000000000004 01 "
                             "ffffffffffffffff 80000002 01 00 0010",
                             false),
                     DREP_ERR_FORMAT);
}
END_TEST

START_TEST(test_nesting_of_records)
{
    uint8_t bytes[300];
    drep_type *t;
    size_t size;

    for (int depth = 63; depth <= 64; depth++) { /* arrays around a DOUBLE */
        for (int i = 0; i < depth; i++)
            memcpy(bytes + 2 * i, "\x2b\x00", 2);
        memcpy(bytes + 2 * depth, "\x01\x00\x00\x10", 4);
        t = NULL;
        ck_assert_int_eq(get(bytes, 2 * (size_t)depth + 4, &t, NULL),
                         depth == 63 ? 0 : DREP_ERR_UNSUPPORTED);
        drep_type_free(t);
    }
    t = of("seq(seq(seq(seq(seq(seq(seq(seq(INT))))))))");
    ck_assert_int_eq(put(t, view_sizes(), PROG_PACKED, &size), 0);
    drep_type_free(t);
    ck_assert_int_eq(get(record, size, &t, NULL), 0);
    drep_type_free(t);
    t = of("seq(seq(seq(seq(seq(seq(seq(seq(vstring))))))))");
    ck_assert_int_eq(put(t, view_sizes(), PROG_PACKED, &size), DREP_ERR_LIMIT);
    drep_type_free(t);
}
END_TEST

static void try_get(const uint8_t *bytes, size_t size, bool stored)
{
    drep_type *t = NULL;
    struct prog p;

    if (get(bytes, size, &t, stored ? &p : NULL))
        return;
    if (stored)
        prog_release(&p);
    drep_type_free(t);
}

/* Every cut and every changed byte gives a type or an error. */
START_TEST(test_damaged_records)
{
    for (int i = 0; i < 150; i++) {
        bool stored = i & 1;
        struct sample s;
        uint8_t *bytes;
        size_t size;

        random_sample(&s, 1 + i % 4);
        if (put(s.type, stored ? view_sizes() : NULL, stored ? PROG_STRUCT : PROG_MEMORY, &size)) {
            sample_release(&s);
            continue;
        }
        size = size < 600 ? size : 600;
        for (size_t k = 0; k < size; k++) {
            bytes = malloc(size); /* of its own, so that reading beyond it is seen */
            memcpy(bytes, record, size);
            bytes[k] = (uint8_t)(bytes[k] ^ 1 << random_upto(7));
            try_get(bytes, size, stored);
            bytes[k] = (uint8_t)random_next();
            try_get(bytes, size, stored);
            free(bytes);
            bytes = malloc(k + 1);
            memcpy(bytes, record, k);
            try_get(bytes, k, stored);
            free(bytes);
        }
        sample_release(&s);
    }
}
END_TEST

START_TEST(test_every_allocation_failing)
{
    for (int i = 0; i < 200; i++) {
        struct sample s;
        drep_type *t = NULL;
        struct prog p;
        size_t size;
        int64_t n = 0;
        int err;

        random_sample(&s, 1 + i % 4);
        do {
            mem_fail_at(n++);
            err = put(s.type, view_sizes(), PROG_STRUCT, &size);
        } while (err == DREP_ERR_NOMEM);
        n = 0;
        while (err == 0) {
            mem_fail_at(n++);
            err = get(record, size, &t, &p);
            ck_assert(err == 0 || err == DREP_ERR_NOMEM);
            if (err == 0) {
                prog_release(&p);
                drep_type_free(t);
                break;
            }
            err = 0;
        }
        mem_fail_at(-1);
        sample_release(&s);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("type_record");
    TCase *tc = tcase_create("all");

    random_seed(13);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_records_are_as_the_page_says);
    tcase_add_test(tc, test_D1_random_types_come_back);
    tcase_add_test(tc, test_named_types_come_back_as_made);
    tcase_add_test(tc, test_what_a_record_lays_out_is_obeyed);
    tcase_add_test(tc, test_hostile_records);
    tcase_add_test(tc, test_nesting_of_records);
    tcase_add_test(tc, test_damaged_records);
    tcase_add_test(tc, test_every_allocation_failing);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
