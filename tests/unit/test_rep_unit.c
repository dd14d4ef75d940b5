/* test_rep_unit.c - pack units that say what they are, as PACK.md has them (P1, P3, P4). */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "format/block.h"
#include "rep/rep.h"
#include "tests/unit/bytes.h"

enum { FIXED = 40 };

static void must(int err)
{
    ck_assert_msg(err == 0, "error %d: %s", err, drep_error());
}

struct particle {
    char c;
    double d;
    int i;
    long double e;
    long l;
};

/* A third, which a double-double compiler would not divide in a constant. */
#define THIRD 0.333333333333333333333333333333333333L
static const struct particle particles[2] = {{'a', 0.1, -2, THIRD, -70000},
                                             {'z', 1e300, 1 << 30, -2.5L, 1}};

/* In memory, where it has no more bits than a double. */
static const volatile double third = (double)THIRD;

static drep_type *particle_type(void)
{
    const drep_type *types[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT, DREP_LONG_DOUBLE, DREP_LONG};
    drep_type *t;

    must(drep_type_struct(5, NULL, NULL, types, &t));
    return t;
}

/* Packs the particles; the caller frees. */
static uint8_t *packed(const char *datarep, int64_t *size)
{
    drep_type *t = particle_type();
    int64_t position = 3;
    uint8_t *unit;

    must(drep_pack_unit_size(datarep, 2, t, size));
    unit = malloc((size_t)*size + 3);
    must(drep_pack_unit(datarep, particles, 2, t, unit, *size + 3, &position));
    ck_assert_int_eq(position, *size + 3);
    memmove(unit, unit + 3, (size_t)*size);
    drep_type_free(t);
    return unit;
}

static int unpack(const uint8_t *unit, int64_t size, struct particle out[2])
{
    drep_type *t = particle_type();
    int64_t position = 0;
    int err;

    memset(out, 0, 2 * sizeof *out);
    err = drep_unpack_unit(unit, size, &position, out, 2, t);
    ck_assert_int_eq(position, err ? 0 : size);
    drep_type_free(t);
    return err;
}

static void put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 8; i-- > 0; v >>= 8)
        p[i] = (uint8_t)v;
}

static size_t records(const uint8_t *unit)
{
    return (size_t)unit[12] << 24 | (size_t)unit[13] << 16 | (size_t)unit[14] << 8 | unit[15];
}

static void sum_again(uint8_t *unit)
{
    size_t n = FIXED + records(unit);

    put_u64(unit + n, sum_of(unit, n));
}

/* Gives the unit's representation another name, as long as its own. */
static void rename_unit(uint8_t *unit, const char *name)
{
    ck_assert_uint_eq(unit[FIXED + 10], strlen(name));
    memcpy(unit + FIXED + 11, name, strlen(name));
    sum_again(unit);
}

static void same(const struct particle *got, long double e)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(got[i].c, particles[i].c);
        ck_assert(got[i].d == particles[i].d);
        ck_assert_int_eq(got[i].i, particles[i].i);
        ck_assert_int_eq(got[i].l, particles[i].l);
    }
    ck_assert(got[0].e == e);
    ck_assert(got[1].e == -2.5L);
}

/* The vector of SPEC.md. */
START_TEST(test_bytes_of_a_unit)
{
    static const char text[] =
        "894452550d0a1a0a000500000000002a0000000000000001000000000000000863df53725e097d8e"
        "000100000024"
        "010000000a65787465726e616c3332"
        "00020000000400100008"
        "000800000005616d643634"
        "cd2f82a79ded4b6e"
        "3ff8000000000000";
    const double in = 1.5;
    size_t size;
    uint8_t *want = hex_bytes(text, &size), got[256];
    drep_unitinfo info = DREP_UNITINFO;
    int64_t position = 0;
    double out = 0;

    must(drep_pack_unit("external32", &in, 1, DREP_DOUBLE, got, sizeof got, &position));
    if (strcmp(rep_native_name(), "amd64") == 0) {
        ck_assert_int_eq(position, (int64_t)size);
        for (size_t i = 0; i < size; i++)
            ck_assert_msg(got[i] == want[i], "byte %zu is %02x", i, got[i]);
    }
    position = 0;
    must(drep_pack_unit_info(want, (int64_t)size, 0, &info));
    ck_assert_str_eq(info.datarep, "external32");
    ck_assert_str_eq(info.machine, "amd64");
    ck_assert_int_eq(info.items, 1);
    ck_assert_int_eq(info.data_size, 8);
    ck_assert_int_eq(info.unit_size, (int64_t)size);
    must(drep_unpack_unit(want, (int64_t)size, &position, &out, 1, DREP_DOUBLE));
    ck_assert(out == 1.5);
    free(want);
}
END_TEST

/* What another machine calls native is its own table here. */
START_TEST(test_native_of_another_machine)
{
    static const char *const from[] = {"native:s390x", "native:i386", "native:m68k",
                                       "native:ppc64el-ibm", "native:armhf"};
    /* What 1/3 becomes there: all hold at least a binary64. */
    struct particle out[2];
    int64_t size;

    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        uint8_t *unit = packed(from[i], &size);
        char name[64];

        memset(name, 'x', sizeof name);
        name[strlen(from[i])] = 0; /* nobody knows it: the table alone says what it is */
        rename_unit(unit, name);
        must(unpack(unit, size, out));
        ck_assert((double)out[0].e == third);
        same(out, out[0].e);
        free(unit);
    }
}
END_TEST

static int fn_extent(const drep_type *type, int64_t *extent, void *state)
{
    *extent = drep_type_size(type) + *(int *)state;
    return 0;
}

static int fn_move(uint8_t *user, const drep_type *type, int64_t count, uint8_t *file,
                   int64_t position, int longer, bool reading)
{
    drep_cursor cursor;
    drep_run run;

    drep_cursor_init(&cursor, type, position);
    for (; count > 0 && drep_cursor_next(&cursor, count, &run); count -= run.count)
        for (int64_t i = 0; i < run.count; i++) {
            int64_t n = drep_type_size(run.type);
            uint8_t *at = user + run.offset + i * run.stride;

            if (!reading)
                memset(file, 0, (size_t)(n + longer));
            memcpy(reading ? at : file, reading ? file : at, (size_t)n);
            file += n + longer;
        }
    return 0;
}

static int fn_read(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return fn_move(u, t, n, f, p, *(int *)x, true);
}

static int fn_write(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return fn_move(u, t, n, f, p, *(int *)x, false);
}

START_TEST(test_every_form)
{
    static const drep_encoding rows[] = {
        {DREP_CODE_DOUBLE, DREP_FORMAT_VAX_G, DREP_VAX, 8, 1, 0, 0},
        {DREP_CODE_LONG, DREP_FORMAT_CUSTOM, DREP_BIG, 3, 1, 0, 0}};
    static const drep_scalar scalar = {.cls = DREP_SCALAR_INT,
                                       .order = DREP_BIG,
                                       .size = 3,
                                       .is_signed = 1,
                                       .format = DREP_FORMAT_CUSTOM,
                                       .precision = 20,
                                       .offset = 4};
    static const char *const names[] = {"native", "internal",  "external32", "half",
                                        "longer", "null-read", "null-write", "null-both"};
    static int longer = 2, none = 0;
    struct particle out[2];
    int64_t size;

    must(drep_declare_datarep("half", "external32", rows, 2, &scalar, 1));
    must(drep_register_datarep("longer", fn_read, fn_write, fn_extent, &longer));
    must(drep_register_datarep("null-read", NULL, fn_write, fn_extent, &none));
    must(drep_register_datarep("null-write", fn_read, NULL, fn_extent, &none));
    must(drep_register_datarep("null-both", NULL, NULL, fn_extent, &none));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint8_t *unit = packed(names[i], &size);

        if (strcmp(names[i], "half") == 0) /* a table travels with the data */
            rename_unit(unit, "HALF");
        must(unpack(unit, size, out));
        same(out, out[0].e);
        ck_assert((double)out[0].e == third);
        free(unit);
    }
}
END_TEST

START_TEST(test_functions_must_be_there_and_the_same)
{
    static int longer = 1;
    struct particle out[2];
    int64_t size;
    uint8_t *unit;

    must(drep_register_datarep("one-more", fn_read, fn_write, fn_extent, &longer));
    unit = packed("one-more", &size);
    longer = 3;
    ck_assert_int_eq(unpack(unit, size, out), DREP_ERR_UNSUPPORTED_DATAREP);
    longer = 1;
    rename_unit(unit, "two-more");
    ck_assert_int_eq(unpack(unit, size, out), DREP_ERR_UNSUPPORTED_DATAREP);
    rename_unit(unit, "internal"); /* not a table there, but here */
    ck_assert_int_ne(unpack(unit, size, out), 0);
    free(unit);
}
END_TEST

/* P3, P4: all of a unit, and nothing else. */
START_TEST(test_exactly_its_items)
{
    const int in[3] = {1, -2, 3};
    uint8_t units[1024];
    int64_t position = 0, end, first;
    drep_type *t;
    int out[4];

    must(drep_pack_unit("native", in, 3, DREP_INT, units, sizeof units, &position));
    first = position;
    must(drep_pack_unit("external32", in, 1, DREP_INT, units, sizeof units, &position));
    must(drep_pack_unit("external32", in, 0, DREP_INT, units, sizeof units, &position));
    end = position;
    position = 0;
    ck_assert_int_eq(drep_unpack_unit(units, end, &position, out, 2, DREP_INT), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_unpack_unit(units, end, &position, out, 4, DREP_INT), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_unpack_unit(units, end, &position, out, 3, DREP_FLOAT), DREP_ERR_TYPE);
    ck_assert_int_eq(position, 0);
    must(drep_type_contiguous(3, DREP_INT, &t));
    must(drep_unpack_unit(units, end, &position, out, 1, t));
    ck_assert_int_eq(position, first);
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    must(drep_unpack_unit(units, end, &position, out, 1, DREP_INT));
    must(drep_unpack_unit(units, end, &position, NULL, 0, DREP_INT));
    ck_assert_int_eq(position, end);
    ck_assert_int_eq(drep_unpack_unit(units, end, &position, out, 1, DREP_INT), DREP_ERR_NOT_DREP);
    drep_type_free(t);
    must(drep_type_vstring(&t));
    ck_assert_int_eq(drep_pack_unit("native", in, 1, t, units, sizeof units, &position),
                     DREP_ERR_TYPE);
    drep_type_free(t);
    position = 0;
    ck_assert_int_eq(drep_pack_unit("native", in, 3, DREP_INT, units, first - 1, &position),
                     DREP_ERR_BUFFER);
    ck_assert_int_eq(drep_pack_unit("nobody", in, 3, DREP_INT, units, sizeof units, &position),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(drep_pack_unit("native", in, -1, DREP_INT, units, sizeof units, &position),
                     DREP_ERR_COUNT);
}
END_TEST

/* Every cut and every flipped bit is an error; and no bytes, with sums that fit, do harm. */
START_TEST(test_hostile_units)
{
    int64_t size, i;
    uint8_t *unit = packed("native:m68k", &size), *copy;
    struct particle out[2];
    drep_unitinfo info = DREP_UNITINFO;
    struct rnd r;
    int err;

    for (i = 0; i < size; i++) {
        copy = malloc((size_t)i + 1); /* exactly, for a checker of bounds */
        memcpy(copy, unit, (size_t)i);
        err = unpack(copy, i, out);
        ck_assert(err == DREP_ERR_TRUNCATE || (err == DREP_ERR_NOT_DREP && i < 8));
        free(copy);
    }
    for (i = 0; i < 8 * size; i++) {
        unit[i / 8] ^= (uint8_t)(1 << i % 8);
        err = unpack(unit, size, out);
        /* The two bytes that readers ignore are under the sum, too. */
        ck_assert_msg(err != 0, "bit %lld", (long long)i);
        unit[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    rnd_init(&r, 1);
    for (i = 0; i < 20000; i++) {
        int64_t n = size;

        copy = malloc((size_t)n);
        memcpy(copy, unit, (size_t)n);
        for (int k = 0; k < 3; k++)
            copy[8 + rnd_below(&r, (uint64_t)n - 8)] = (uint8_t)rnd_upto(&r, 255);
        if (FIXED + records(copy) + 8 <= (size_t)n) {
            uint64_t head = FIXED + records(copy) + 8;

            put_u64(copy + 32, sum_of(copy + head, (size_t)n - (size_t)head));
            sum_again(copy);
        }
        unpack(copy, n, out);
        drep_pack_unit_info(copy, n, 0, &info);
        free(copy);
    }
    free(unit);
}
END_TEST

START_TEST(test_every_allocation_failing)
{
    drep_type *t = particle_type();
    struct particle out[2];
    int64_t size, position = 0, n = 0;
    uint8_t *unit = packed("half", &size);
    int err;

    do {
        mem_fail_at(n++);
        err = drep_unpack_unit(unit, size, &position, out, 2, t);
    } while (err == DREP_ERR_NOMEM);
    must(err);
    ck_assert_int_gt(n, 3);
    n = position = 0;
    do {
        mem_fail_at(n++);
        err = drep_pack_unit("half", particles, 2, t, unit, size, &position);
    } while (err == DREP_ERR_NOMEM);
    mem_fail_at(-1);
    must(err);
    ck_assert_int_gt(n, 1);
    free(unit);
    drep_type_free(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rep_unit");
    TCase *tc = tcase_create("rep_unit");

    tcase_add_test(tc, test_bytes_of_a_unit);
    tcase_add_test(tc, test_native_of_another_machine);
    tcase_add_test(tc, test_every_form);
    tcase_add_test(tc, test_functions_must_be_there_and_the_same);
    tcase_add_test(tc, test_exactly_its_items);
    tcase_add_test(tc, test_hostile_units);
    tcase_add_test(tc, test_every_allocation_failing);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
