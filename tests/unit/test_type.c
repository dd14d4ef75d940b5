/* test_type.c - constructors, extents, layouts of C structs, file extents (V2, V3,
 * V4, X3, E3, E4, C2, C8), queries, hostile arguments, and every allocation failing. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"
#include "tests/unit/random_type.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdbool.h>
#include <wchar.h>

#define TYPES(...) ((const drep_type *[]){__VA_ARGS__})
#define NAMES(...) ((const char *[]){__VA_ARGS__})
#define INTS(...) ((const int64_t[]){__VA_ARGS__})

/* The extent of a type in a file whose LONG has 4 bytes; frees the type. */
static int64_t view_extent(drep_type *t)
{
    struct prog p;
    int64_t extent;

    ck_assert_int_eq(prog_build(&p, t, view_sizes(), PROG_VIEW), 0);
    extent = p.extent;
    prog_release(&p);
    drep_type_free(t);
    return extent;
}

static drep_type *of(const char *text)
{
    drep_type *t = NULL;

    ck_assert_msg(drep_type_parse(text, &t) == 0, "%s", drep_error());
    return t;
}

START_TEST(test_predefined_are_as_the_compiler_has_them)
{
    for (int code = 1; code <= DREP_CODE_MAX; code++) {
        const drep_type *t = drep_predefined(code);

        ck_assert_ptr_nonnull(t);
        ck_assert_int_eq(drep_type_code(t), code);
        ck_assert_int_eq(drep_code_from_name(drep_code_name(code)), code);
        ck_assert_int_eq(drep_type_size(t), drep_type_extent(t));
        ck_assert_int_eq(drep_type_items(t), 1);
        ck_assert(t->prog.dense);
        ck_assert_ptr_eq(drep_type_ref(t), t);
        drep_type_free((drep_type *)t);
    }
    ck_assert_ptr_null(drep_predefined(0));
    ck_assert_ptr_null(drep_predefined(DREP_CODE_MAX + 1));
    ck_assert_ptr_null(drep_predefined(-1));
    ck_assert_ptr_null(drep_code_name(0));
    ck_assert_int_eq(drep_code_from_name("double"), 0);
    ck_assert_int_eq(drep_code_from_name("C_COMPLEX"), DREP_CODE_C_FLOAT_COMPLEX);
    ck_assert_int_eq(drep_type_size(DREP_LONG), sizeof(long));
    ck_assert_int_eq(drep_type_size(DREP_WCHAR), sizeof(wchar_t));
    ck_assert_int_eq(drep_type_size(DREP_LONG_DOUBLE), sizeof(long double));
    ck_assert_int_eq(drep_type_size(DREP_C_DOUBLE_COMPLEX), 2 * sizeof(double));
    ck_assert_int_eq(drep_type_size(DREP_AINT), sizeof(void *));
    ck_assert_int_eq(drep_type_size(DREP_FLOAT128), 16);
    ck_assert_int_eq(drep_type_size(DREP_FLOAT16), 2);
}
END_TEST

struct inner {
    char c;
    double d[3];
    short s;
};
struct outer {
    bool b;
    struct inner in[2];
    wchar_t w;
    long double ld;
    float f[2][3];
    int8_t last;
    char *text;
    drep_vlen list;
    drep_ref ref;
    char name[5];
};

/* A compound of struct inner; with `placed`, by offsetof. */
static drep_type *inner_type(bool placed)
{
    const int64_t displs[] = {offsetof(struct inner, c), offsetof(struct inner, d),
                              offsetof(struct inner, s)};
    drep_type *d, *t;

    ck_assert_int_eq(drep_type_array(1, INTS(3), DREP_DOUBLE, &d), 0);
    ck_assert_int_eq(drep_type_compound(3, NAMES("c", "d", "s"), placed ? displs : NULL,
                                        TYPES(DREP_CHAR, d, DREP_SHORT),
                                        placed ? sizeof(struct inner) : 0, &t),
                     0);
    drep_type_free(d);
    return t;
}

static drep_type *outer_type(bool placed)
{
    const int64_t displs[] = {offsetof(struct outer, b),    offsetof(struct outer, in),
                              offsetof(struct outer, w),    offsetof(struct outer, ld),
                              offsetof(struct outer, f),    offsetof(struct outer, last),
                              offsetof(struct outer, text), offsetof(struct outer, list),
                              offsetof(struct outer, ref),  offsetof(struct outer, name)};
    drep_type *in = inner_type(placed);
    drep_type *ins, *f, *text, *list, *ref, *name, *t;

    ck_assert_int_eq(drep_type_contiguous(2, in, &ins), 0);
    ck_assert_int_eq(drep_type_array(2, INTS(2, 3), DREP_FLOAT, &f), 0);
    ck_assert_int_eq(drep_type_vstring(&text), 0);
    ck_assert_int_eq(drep_type_sequence(in, &list), 0);
    ck_assert_int_eq(drep_type_reference(DREP_REF_REGION, &ref), 0);
    ck_assert_int_eq(drep_type_string(5, DREP_PAD_SPACE, &name), 0);
    ck_assert_int_eq(
        drep_type_compound(10,
                           NAMES("b", "in", "w", "ld", "f", "last", "text", "list", "ref", "name"),
                           placed ? displs : NULL,
                           TYPES(DREP_C_BOOL, ins, DREP_WCHAR, DREP_LONG_DOUBLE, f, DREP_INT8_T,
                                 text, list, ref, name),
                           placed ? sizeof(struct outer) : 0, &t),
        0);
    drep_type_free(in);
    drep_type_free(ins);
    drep_type_free(f);
    drep_type_free(text);
    drep_type_free(list);
    drep_type_free(ref);
    drep_type_free(name);
    return t;
}

START_TEST(test_natural_layout_is_the_compilers)
{
    drep_type *told = outer_type(true);
    drep_type *natural = outer_type(false);

    ck_assert(drep_type_equal(told, natural));
    ck_assert_int_eq(drep_type_extent(natural), sizeof(struct outer));
    ck_assert_int_eq(drep_type_align(natural), _Alignof(struct outer));
    ck_assert_int_eq(drep_type_member_offset(natural, 8), offsetof(struct outer, ref));
    ck_assert_str_eq(drep_type_member_name(natural, 1), "in");
    ck_assert(drep_type_variable(natural));
    ck_assert(!drep_type_portable(natural));
    ck_assert_int_eq(drep_type_items(natural), 1 + 2 * 5 + 1 + 1 + 6 + 1 + 1 + 1 + 1 + 5);
    drep_type_free(told);
    drep_type_free(natural);
}
END_TEST

/* STRUCT with this machine's sizes is this machine's layout, whatever the memory
 * displacements were; PACKED has no gaps (D1). */
START_TEST(test_D1_stored_layouts)
{
    drep_type *in, *t;
    int64_t offsets[3], size, align;
    struct prog p;

    in = of("struct{a@40: CHAR, b@8: DOUBLE, c@0: INT16_T}:64");
    ck_assert_int_eq(type_layout(in, type_native_sizes(), PROG_STRUCT, offsets, &size, &align), 0);
    ck_assert(offsets[0] == 0 && offsets[1] == align && offsets[2] == align + 8);
    ck_assert_int_eq(size, 2 * align + 8);
    ck_assert_int_eq(type_layout(in, type_native_sizes(), PROG_PACKED, offsets, &size, &align), 0);
    ck_assert(offsets[0] == 0 && offsets[1] == 1 && offsets[2] == 9 && size == 11 && align == 1);
    ck_assert_int_eq(drep_type_vector(3, 2, 5, in, &t), 0);
    ck_assert_int_eq(prog_build(&p, t, type_native_sizes(), PROG_STRUCT), 0);
    ck_assert_int_eq(type_layout(in, type_native_sizes(), PROG_STRUCT, offsets, &size, &align), 0);
    ck_assert_int_eq(p.extent, 6 * size);
    prog_release(&p);
    ck_assert_int_eq(prog_build(&p, t, view_sizes(), PROG_PACKED), 0);
    ck_assert_int_eq(p.extent, 6 * 11);
    prog_release(&p);
    drep_type_free(in);
    drep_type_free(t);
}
END_TEST

START_TEST(test_V3_C2_portable_types_scale)
{
    drep_type *t = of("vector(2,1,3,LONG)");

    ck_assert_int_eq(drep_type_portable(t), 1);
    ck_assert_int_eq(view_extent(t), 16);
    ck_assert_int_eq(view_extent(of("contiguous(3,LONG)")), 12);
    ck_assert_int_eq(view_extent(of("indexed([1,2],[4,0],LONG)")), 20);
    ck_assert_int_eq(view_extent(of("indexed_block(2,[4,0],LONG)")), 24);
    ck_assert_int_eq(view_extent(of("subarray([4,5],[2,2],[1,1],c,LONG)")), 80);
    ck_assert_int_eq(view_extent(of("contiguous(3,vector(2,1,3,LONG))")), 48);
    ck_assert_int_eq(view_extent(of("darray(2,1,[5],[block],[-1],[2],c,dup(LONG))")), 20);
}
END_TEST

START_TEST(test_V4_X3_byte_displacements_stay)
{
    drep_type *t = of("struct([1,1,1],[0,8,16],[CHAR,DOUBLE,INT])");

    ck_assert_int_eq(drep_type_portable(t), 0);
    ck_assert_int_eq(drep_type_extent(t), drep_type_align(DREP_DOUBLE) == 8 ? 24 : 20);
    ck_assert_int_eq(view_extent(t), 20);
    ck_assert_int_eq(view_extent(of("hvector(2,1,24,LONG)")), 28);
    ck_assert_int_eq(view_extent(of("hindexed([1,1],[16,0],LONG)")), 20);
    ck_assert_int_eq(view_extent(of("resized(-8,100,LONG)")), 100);
    ck_assert_int_eq(view_extent(of("vector(2,1,3,resized(0,24,LONG))")), 96);
    ck_assert_int_eq(view_extent(of("struct{a@0: LONG, b@8: LONG}")), 12);
}
END_TEST

/* E3, C8: the pair types' members, concatenated, byte aligned. */
START_TEST(test_E3_C8_pair_types)
{
    const struct {
        const drep_type *first, *second;
        int64_t size;
    } pair[] = {{DREP_FLOAT, DREP_INT, 8}, {DREP_DOUBLE, DREP_INT, 12},
                {DREP_LONG, DREP_INT, 8},  {DREP_INT, DREP_INT, 8},
                {DREP_SHORT, DREP_INT, 6}, {DREP_LONG_DOUBLE, DREP_INT, 20}};

    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
        struct prog p;
        drep_type *t;

        ck_assert_int_eq(drep_type_struct(2, NULL, NULL, TYPES(pair[i].first, pair[i].second), &t),
                         0);
        ck_assert_int_eq(prog_build(&p, t, view_sizes(), PROG_PACKED), 0);
        ck_assert_int_eq(p.extent, pair[i].size);
        prog_release(&p);
        drep_type_free(t);
    }
}
END_TEST

static int f90(int (*make)(int, int, drep_type **), int p, int r)
{
    drep_type *t = NULL;
    int err = make(p, r, &t);

    ck_assert(err == 0 || (err == DREP_ERR_ARG && !t));
    return err ? 0 : drep_type_code(t);
}

START_TEST(test_E4_fortran_kinds)
{
    const int u = DREP_UNDEFINED;
    static const struct {
        int range, code;
    } row[] = {{0, DREP_CODE_INTEGER1},
               {2, DREP_CODE_INTEGER1},
               {3, DREP_CODE_INTEGER2},
               {4, DREP_CODE_INTEGER2},
               {5, DREP_CODE_INTEGER4},
               {9, DREP_CODE_INTEGER4},
               {10, DREP_CODE_INTEGER8},
               {18, DREP_CODE_INTEGER8},
               {19, DREP_CODE_INTEGER16},
               {38, DREP_CODE_INTEGER16},
               {39, 0},
               {-1, 0}};
    drep_type *t;

    ck_assert_int_eq(f90(drep_type_f90_real, 6, 37), DREP_CODE_REAL4);
    ck_assert_int_eq(f90(drep_type_f90_real, 7, u), DREP_CODE_REAL8);
    ck_assert_int_eq(f90(drep_type_f90_real, u, 38), DREP_CODE_REAL8);
    ck_assert_int_eq(f90(drep_type_f90_real, 15, 307), DREP_CODE_REAL8);
    ck_assert_int_eq(f90(drep_type_f90_real, 16, u), DREP_CODE_REAL16);
    ck_assert_int_eq(f90(drep_type_f90_real, 3, 308), DREP_CODE_REAL16);
    ck_assert_int_eq(f90(drep_type_f90_real, 33, 4931), DREP_CODE_REAL16);
    ck_assert_int_eq(f90(drep_type_f90_real, 34, u), 0);
    ck_assert_int_eq(f90(drep_type_f90_real, u, 4932), 0);
    ck_assert_int_eq(f90(drep_type_f90_real, u, u), 0);
    ck_assert_int_eq(f90(drep_type_f90_complex, 15, 307), DREP_CODE_COMPLEX16);
    ck_assert_int_eq(f90(drep_type_f90_complex, 16, u), DREP_CODE_COMPLEX32);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        int err = drep_type_f90_integer(row[i].range, &t);

        ck_assert_int_eq(err ? 0 : drep_type_code(t), row[i].code);
    }
}
END_TEST

/* MPI 5.0, 5.1.7: the bounds that resized sets rule over those of unmarked members. */
START_TEST(test_bounds_that_were_set_rule)
{
    drep_type *r, *t;

    ck_assert_int_eq(drep_type_resized(-4, 16, DREP_INT, &r), 0);
    ck_assert_int_eq(drep_type_struct(2, NULL, INTS(0, 100), TYPES(DREP_INT, r), &t), 0);
    ck_assert_int_eq(drep_type_lb(t), 96);
    ck_assert_int_eq(drep_type_extent(t), 16);
    ck_assert_int_eq(drep_type_true_lb(t), 0);
    ck_assert_int_eq(drep_type_true_extent(t), 104);
    drep_type_free(t);
    /* Laid out by us, it counts with its extent like any member. */
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, TYPES(DREP_DOUBLE, r), &t), 0);
    ck_assert_int_eq(drep_type_lb(t), 0);
    ck_assert_int_eq(drep_type_extent(t), 24);
    ck_assert_int_eq(drep_type_member_offset(t, 1), 12);
    drep_type_free(t);
    drep_type_free(r);
}
END_TEST

/* MPI 5.0, 5.1.13: what the constructor was given comes back. */
START_TEST(test_arguments_come_back)
{
    static const int64_t expected[] = {6, 4, 2, 10, 11, 1, 2, -1, 3, 3, 2, 0};
    drep_type *t;

    ck_assert_int_eq(drep_type_darray(6, 4, 2, INTS(10, 11), (const int[]){1, 2}, INTS(-1, 3),
                                      (const int[]){3, 2}, DREP_ORDER_C, DREP_INT, &t),
                     0);
    ck_assert_int_eq(drep_type_kind(t), DREP_KIND_DARRAY);
    ck_assert_int_eq(drep_type_arg_count(t), 12);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(drep_type_arg(t, i), expected[i]);
    ck_assert_int_eq(drep_type_arg(t, 12), 0);
    ck_assert_ptr_eq(drep_type_member(t, 0), DREP_INT);
    ck_assert_ptr_null(drep_type_member(t, 1));
    ck_assert_ptr_null(drep_type_member_name(t, 0));
    drep_type_free(t);

    ck_assert_int_eq(drep_type_struct(2, INTS(3, 4), INTS(8, -16), TYPES(DREP_INT, DREP_CHAR), &t),
                     0);
    ck_assert_int_eq(drep_type_member_blocklen(t, 1), 4);
    ck_assert_int_eq(drep_type_member_offset(t, 1), -16);
    ck_assert_int_eq(drep_type_arg_count(t), 5);
    drep_type_free(t);

    ck_assert_int_eq(drep_type_enum(DREP_UINT64_T, 2, NAMES("NO", "ALL"), INTS(0, -1), &t), 0);
    ck_assert_int_eq(drep_type_enum_count(t), 2);
    ck_assert_str_eq(drep_type_enum_name(t, 1), "ALL");
    ck_assert_int_eq(drep_type_enum_value(t, 1), -1);
    ck_assert_ptr_null(drep_type_enum_name(t, 2));
    drep_type_free(t);
    ck_assert_int_eq(drep_type_array(2, INTS(3, 4), DREP_INT, &t), 0);
    ck_assert_int_eq(drep_type_array_rank(t), 2);
    ck_assert_int_eq(drep_type_array_dims(t)[1], 4);
    drep_type_free(t);
}
END_TEST

static int note_code(int code, void *ctx)
{
    strcat(ctx, drep_code_name(code));
    strcat(ctx, " ");
    return code == DREP_CODE_DOUBLE ? 77 : 0;
}

START_TEST(test_every_code_is_named_once)
{
    char names[200] = "";
    drep_type *t, *seq;

    ck_assert_int_eq(drep_type_parse("struct{a: INT, s: string(3), b: INT[4]}", &t), 0);
    ck_assert_int_eq(drep_type_sequence(t, &seq), 0);
    ck_assert_int_eq(type_each_code(seq, note_code, names), 0);
    ck_assert_str_eq(names, "INT ");
    drep_type_free(t);
    drep_type_free(seq);
    names[0] = 0;
    ck_assert_int_eq(drep_type_parse("struct{a: FLOAT, b: DOUBLE, c: INT}", &t), 0);
    ck_assert_int_eq(type_each_code(t, note_code, names), 77);
    ck_assert_str_eq(names, "INT FLOAT DOUBLE ");
    drep_type_free(t);
}
END_TEST

START_TEST(test_a_representation_may_lack_a_type)
{
    struct type_sizes sizes = *view_sizes();
    struct prog p;
    drep_type *t;

    sizes.size[DREP_CODE_LONG] = 0;
    ck_assert_int_eq(drep_type_contiguous(3, DREP_LONG, &t), 0);
    ck_assert_int_eq(prog_build(&p, t, &sizes, PROG_PACKED), DREP_ERR_TYPE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "LONG"));
    drep_type_free(t);
}
END_TEST

#define BIG ((int64_t)1 << 62)

START_TEST(test_hostile_arguments)
{
    drep_type *mark = (drep_type *)&mark;
    drep_type *t = mark;
    drep_scalar s = {.cls = DREP_SCALAR_REAL, .size = 4, .format = DREP_FORMAT_BINARY64};
    char long_name[1100];

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    ck_assert_int_eq(drep_type_contiguous(-1, DREP_INT, &t), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_type_contiguous(1, NULL, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_contiguous(1, DREP_INT, NULL), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_contiguous(BIG, DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_contiguous(INT64_MAX, DREP_BYTE, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_vector(2, -1, 1, DREP_INT, &t), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_type_vector(3, 1, INT64_MIN, DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_hvector(3, 1, INT64_MAX, DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_indexed(2, INTS(1, -2), INTS(0, 0), DREP_INT, &t), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_type_indexed(2, NULL, INTS(0, 0), DREP_INT, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_indexed(2, INTS(1, 1), NULL, DREP_INT, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_indexed(BIG, INTS(1), INTS(0), DREP_INT, &t), DREP_ERR_NOMEM);
    ck_assert_int_eq(drep_type_hindexed(2, INTS(1, 1), INTS(-BIG, BIG), DREP_INT, &t),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_indexed_block(1, 1, INTS(INT64_MIN), DREP_INT, &t),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_struct(-1, NULL, NULL, TYPES(DREP_INT), &t), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_type_struct(1, NULL, NULL, NULL, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, TYPES(DREP_INT, NULL), &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_subarray(0, INTS(1), INTS(1), INTS(0), 0, DREP_INT, &t),
                     DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_subarray(33, INTS(1), INTS(1), INTS(0), 0, DREP_INT, &t),
                     DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_subarray(1, INTS(4), INTS(3), INTS(2), 0, DREP_INT, &t),
                     DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_subarray(1, INTS(4), INTS(3), INTS(INT64_MAX), 0, DREP_INT, &t),
                     DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_subarray(1, INTS(4), INTS(3), INTS(0), 7, DREP_INT, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_subarray(2, INTS(BIG, 4), INTS(1, 1), INTS(0, 0), 0, DREP_INT, &t),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_darray(3, 0, 1, INTS(4), (const int[]){1}, INTS(-1),
                                      (const int[]){2}, 0, DREP_INT, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_darray(2, 2, 1, INTS(4), (const int[]){1}, INTS(-1),
                                      (const int[]){2}, 0, DREP_INT, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_darray(2, 0, 1, INTS(4), (const int[]){1}, INTS(1), (const int[]){2},
                                      0, DREP_INT, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_resized(INT64_MIN, 8, DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_resized(-BIG, INT64_MAX, DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_compound(2, NAMES("a", "a"), NULL, TYPES(DREP_INT, DREP_INT), 0, &t),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_type_compound(1, NAMES(""), NULL, TYPES(DREP_INT), 0, &t), DREP_ERR_NAME);
    ck_assert_int_eq(drep_type_compound(1, NAMES("\xff"), NULL, TYPES(DREP_INT), 0, &t),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_type_compound(1, NAMES(long_name), NULL, TYPES(DREP_INT), 0, &t),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_type_compound(1, NULL, NULL, TYPES(DREP_INT), 0, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_compound(1, NAMES("a"), INTS(-1), TYPES(DREP_INT), 0, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_compound(1, NAMES("a"), INTS(1), TYPES(DREP_INT), 4, &t),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_array(1, INTS(0), DREP_INT, &t), DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_array(33, INTS(1), DREP_INT, &t), DREP_ERR_DIMS);
    ck_assert_int_eq(drep_type_array(2, INTS(BIG, BIG), DREP_INT, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_string(0, 0, &t), DREP_ERR_COUNT);
    ck_assert_int_eq(drep_type_string(1, 3, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_opaque(INT64_MAX, NULL, &t), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_enum(DREP_DOUBLE, 1, NAMES("A"), INTS(0), &t), DREP_ERR_TYPE);
    ck_assert_int_eq(drep_type_enum(DREP_INT8_T, 1, NAMES("A"), INTS(128), &t),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_enum(DREP_UINT8_T, 1, NAMES("A"), INTS(-1), &t),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_boolean(DREP_FLOAT, &t), DREP_ERR_TYPE);
    ck_assert_int_eq(drep_type_reference(2, &t), DREP_ERR_ARG);
    ck_assert_int_eq(drep_type_scalar(&s, &t), DREP_ERR_ARG);
    s = (drep_scalar){.cls = DREP_SCALAR_REAL,
                      .size = 4,
                      .format = DREP_FORMAT_CUSTOM,
                      .precision = 32,
                      .sign_pos = 31,
                      .exp_pos = 20,
                      .exp_width = 11,
                      .mant_width = 21,
                      .exp_base_log2 = 1};
    ck_assert_int_eq(drep_type_scalar(&s, &t), DREP_ERR_ARG);
    ck_assert_ptr_eq(t, mark);
}
END_TEST

START_TEST(test_nesting_ends_at_64)
{
    drep_type *t = drep_type_ref(DREP_INT);
    drep_type *next;
    struct prog p;

    for (int depth = 2; depth <= 64; depth++) {
        ck_assert_int_eq(drep_type_dup(t, &next), 0);
        drep_type_free(t);
        t = next;
    }
    ck_assert_int_eq(drep_type_dup(t, &next), DREP_ERR_LIMIT);
    ck_assert_int_eq(prog_build(&p, t, view_sizes(), PROG_VIEW), 0);
    prog_release(&p);
    drep_type_free(t);

    /* A tree that doubles at each level is refused before it takes for ever. */
    t = drep_type_ref(DREP_INT);
    for (int depth = 2; depth <= 64; depth++) {
        int err = drep_type_struct(3, NULL, NULL, TYPES(t, DREP_CHAR, t), &next);

        if (err) {
            ck_assert_int_eq(err, DREP_ERR_LIMIT);
            ck_assert_int_gt(depth, 20);
            break;
        }
        drep_type_free(t);
        t = next;
    }
    drep_type_free(t);
}
END_TEST

START_TEST(test_every_allocation_failing)
{
    for (int i = 0; i < 150; i++) {
        uint64_t start = random_state;
        struct sample t;
        int64_t n = 0;
        char *text = NULL;
        drep_type *again = NULL;
        struct prog p;
        int err;

        random_state = start;
        random_sample(&t, 1 + i % 4);
        do {
            mem_fail_at(n++);
            err = drep_type_print(t.type, &text);
        } while (err == DREP_ERR_NOMEM);
        ck_assert_int_eq(err, 0);
        n = 0;
        do {
            mem_fail_at(n++);
            err = drep_type_parse(text, &again);
        } while (err == DREP_ERR_NOMEM);
        ck_assert_int_eq(err, 0);
        n = 0;
        do {
            mem_fail_at(n++);
            err = prog_build(&p, t.type, view_sizes(), i & 1 ? PROG_VIEW : PROG_STRUCT);
        } while (err == DREP_ERR_NOMEM);
        mem_fail_at(-1);
        ck_assert_int_eq(err, 0);
        ck_assert(drep_type_equal(t.type, again));
        prog_release(&p);
        drep_type_free(again);
        free(text);
        sample_release(&t);
    }
}
END_TEST

struct record {
    int id;
    char *text;
    drep_vlen lists;
    drep_ref where;
};

START_TEST(test_variable_parts_are_freed_and_zeroed)
{
    struct record r[2];
    drep_type *t;

    ck_assert_int_eq(
        drep_type_parse(
            "struct{id: INT, text: vstring, lists: seq(seq(vstring)), where: ref(region)}", &t),
        0);
    ck_assert_int_eq(drep_type_extent(t), sizeof(struct record));
    memset(r, 0, sizeof(r));
    for (int i = 0; i < 2; i++) {
        drep_vlen *inner = calloc(2, sizeof(*inner));

        r[i].id = 7;
        r[i].text = strdup("text");
        r[i].where = (drep_ref){5, strdup("[0:1]")};
        r[i].lists = (drep_vlen){2, inner};
        inner[1].count = 1;
        inner[1].data = calloc(1, sizeof(char *));
        *(char **)inner[1].data = strdup("deep");
    }
    drep_vlen_free(t, 2, r);
    ck_assert(r[1].id == 7 && !r[1].text && !r[1].lists.data && r[1].lists.count == 0);
    ck_assert(!r[0].where.region && r[0].where.object == 5);
    drep_vlen_free(t, 2, r); /* nothing left: nothing to do */
    drep_vlen_free(DREP_INT, 2, r);
    drep_type_free(t);
}
END_TEST

static void *share(void *ctx)
{
    const drep_type *base = ctx;

    for (int i = 0; i < 2000; i++) {
        drep_type *seq, *t;

        ck_assert_int_eq(drep_type_vector(3, 1, 2 + i % 3, base, &t), 0);
        ck_assert_int_eq(drep_type_sequence(t, &seq), 0);
        drep_type_free(t);
        ck_assert(!drep_type_equal(seq, base));
        drep_type_free(drep_type_ref(seq));
        drep_type_free(seq);
    }
    return NULL;
}

START_TEST(test_threads_share_types)
{
    drep_type *base = inner_type(false);
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, share, base), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(base->refs, 1);
    drep_type_free(base);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("type");
    TCase *tc = tcase_create("type");

    random_seed(7);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_predefined_are_as_the_compiler_has_them);
    tcase_add_test(tc, test_natural_layout_is_the_compilers);
    tcase_add_test(tc, test_D1_stored_layouts);
    tcase_add_test(tc, test_V3_C2_portable_types_scale);
    tcase_add_test(tc, test_V4_X3_byte_displacements_stay);
    tcase_add_test(tc, test_E3_C8_pair_types);
    tcase_add_test(tc, test_E4_fortran_kinds);
    tcase_add_test(tc, test_bounds_that_were_set_rule);
    tcase_add_test(tc, test_arguments_come_back);
    tcase_add_test(tc, test_every_code_is_named_once);
    tcase_add_test(tc, test_a_representation_may_lack_a_type);
    tcase_add_test(tc, test_hostile_arguments);
    tcase_add_test(tc, test_nesting_ends_at_64);
    tcase_add_test(tc, test_every_allocation_failing);
    tcase_add_test(tc, test_variable_parts_are_freed_and_zeroed);
    tcase_add_test(tc, test_threads_share_types);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
