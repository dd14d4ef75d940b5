/* faults_memory.h - public calls that touch no file: every allocation of theirs fails once. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_FAULTS_MEMORY_H
#define TESTS_FAULT_FAULTS_MEMORY_H

#include "base/mem.h"
#include "inject.h"

#include <datarep.h>

/* A case says what is wrong with a result by this code, which no call gives. */
#define WRONG 1000

/* ---- datatypes ---- */

static int t_contiguous(drep_type **t)
{
    return CALL(drep_type_contiguous, 3, DREP_INT, t);
}

static int t_vector(drep_type **t)
{
    return CALL(drep_type_vector, 3, 2, 4, DREP_INT, t);
}

static int t_hvector(drep_type **t)
{
    return CALL(drep_type_hvector, 3, 2, 40, DREP_INT, t);
}

static const int64_t some[] = {1, 2, 3}, others[] = {0, 4, 9}, far[] = {0, 40, 90};

static int t_indexed(drep_type **t)
{
    return CALL(drep_type_indexed, 3, some, others, DREP_INT, t);
}

static int t_hindexed(drep_type **t)
{
    return CALL(drep_type_hindexed, 3, some, far, DREP_INT, t);
}

static int t_indexed_block(drep_type **t)
{
    return CALL(drep_type_indexed_block, 3, 2, others, DREP_INT, t);
}

static int t_hindexed_block(drep_type **t)
{
    return CALL(drep_type_hindexed_block, 3, 2, far, DREP_INT, t);
}

static int t_struct(drep_type **t)
{
    const drep_type *of[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};

    return CALL(drep_type_struct, 3, some, NULL, of, t);
}

static int t_subarray(drep_type **t)
{
    static const int64_t sizes[] = {5, 6, 7};

    return CALL(drep_type_subarray, 3, sizes, some, some, DREP_ORDER_C, DREP_INT, t);
}

static int t_darray(drep_type **t)
{
    static const int64_t sizes[] = {8, 9}, args[] = {2, DREP_DISTRIBUTE_DFLT_DARG};
    static const int kinds[] = {DREP_DISTRIBUTE_CYCLIC, DREP_DISTRIBUTE_BLOCK}, grid[] = {2, 2};

    return CALL(drep_type_darray, 4, 1, 2, sizes, kinds, args, grid, DREP_ORDER_C, DREP_INT, t);
}

static int t_resized(drep_type **t)
{
    return CALL(drep_type_resized, -4, 16, DREP_INT, t);
}

static int t_dup(drep_type **t)
{
    return CALL(drep_type_dup, DREP_DOUBLE, t);
}

static int t_f90_real(drep_type **t)
{
    return CALL(drep_type_f90_real, 6, 30, t);
}

static int t_f90_complex(drep_type **t)
{
    return CALL(drep_type_f90_complex, 6, 30, t);
}

static int t_f90_integer(drep_type **t)
{
    return CALL(drep_type_f90_integer, 9, t);
}

static int t_compound(drep_type **t)
{
    static const char *const names[] = {"a", "b", "c"};
    const drep_type *of[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};

    return CALL(drep_type_compound, 3, names, NULL, of, 0, t);
}

static int t_array(drep_type **t)
{
    return CALL(drep_type_array, 3, some, DREP_INT, t);
}

static int t_string(drep_type **t)
{
    return CALL(drep_type_string, 10, DREP_PAD_NUL, t);
}

static int t_vstring(drep_type **t)
{
    return CALL(drep_type_vstring, t);
}

static int t_text(drep_type **t)
{
    return CALL(drep_type_text, t);
}

static int t_sequence(drep_type **t)
{
    return CALL(drep_type_sequence, DREP_INT, t);
}

static int t_opaque(drep_type **t)
{
    return CALL(drep_type_opaque, 10, "tag", t);
}

static int t_enum(drep_type **t)
{
    static const char *const names[] = {"a", "b", "c"};

    return CALL(drep_type_enum, DREP_INT, 3, names, some, t);
}

static int t_boolean(drep_type **t)
{
    return CALL(drep_type_boolean, DREP_INT, t);
}

static int t_reference(drep_type **t)
{
    return CALL(drep_type_reference, DREP_REF_REGION, t);
}

static const drep_scalar int24 = {.cls = DREP_SCALAR_INT,
                                  .order = DREP_LITTLE,
                                  .size = 3,
                                  .is_signed = 1,
                                  .format = DREP_FORMAT_CUSTOM,
                                  .precision = 24};

static int t_scalar(drep_type **t)
{
    return CALL(drep_type_scalar, &int24, t);
}

static int t_parse(drep_type **t)
{
    return CALL(drep_type_parse, "struct{when: INT64_T, names: seq(vstring), x: DOUBLE[3,4]}", t);
}

static int t_with_texts(drep_type **t)
{
    drep_type *base;
    int err = t_parse(&base);

    if (err)
        return err;
    err = CALL(drep_type_with_texts, base, t);
    drep_type_free(base);
    return err;
}

typedef int make_type_fn(drep_type **t);
static make_type_fn *const makers[] = {
    t_contiguous,     t_vector,      t_hvector,     t_indexed,   t_hindexed, t_indexed_block,
    t_hindexed_block, t_struct,      t_subarray,    t_darray,    t_resized,  t_dup,
    t_f90_real,       t_f90_complex, t_f90_integer, t_compound,  t_array,    t_string,
    t_vstring,        t_text,        t_sequence,    t_opaque,    t_enum,     t_boolean,
    t_reference,      t_scalar,      t_parse,       t_with_texts};
#define MAKERS (sizeof makers / sizeof *makers)

/* All that can be asked of a type; nothing of it allocates. */
static int ask_type(const drep_type *t)
{
    drep_cursor cursor;
    drep_run run;
    int err = CALL(drep_cursor_init, &cursor, t, 0);

    CALL(drep_type_size, t);
    CALL(drep_type_lb, t);
    CALL(drep_type_true_extent, t);
    CALL(drep_type_true_lb, t);
    CALL(drep_type_portable, t);
    CALL(drep_type_variable, t);
    CALL(drep_type_counted, t);
    CALL(drep_type_kind, t);
    CALL(drep_type_code, t);
    CALL(drep_type_align, t);
    for (int64_t i = 0; i < CALL(drep_type_members, t); i++) {
        CALL(drep_type_member, t, i);
        CALL(drep_type_member_name, t, i);
        CALL(drep_type_member_offset, t, i);
        CALL(drep_type_member_blocklen, t, i);
    }
    CALL(drep_type_array_rank, t);
    CALL(drep_type_array_dims, t);
    for (int64_t i = 0; i < CALL(drep_type_enum_count, t); i++) {
        CALL(drep_type_enum_name, t, i);
        CALL(drep_type_enum_value, t, i);
    }
    CALL(drep_type_string_pad, t);
    CALL(drep_type_opaque_tag, t);
    CALL(drep_type_reference_what, t);
    CALL(drep_type_scalar_desc, t);
    for (int64_t i = 0; i < CALL(drep_type_arg_count, t); i++)
        CALL(drep_type_arg, t, i);
    if (!CALL(drep_type_equal, t, t) || !CALL(drep_type_equivalent, t, t))
        return WRONG;
    if (!drep_type_variable(t) && !err && !CALL(drep_cursor_next, &cursor, 5, &run))
        return WRONG;
    return CALL(drep_type_items, t) > 0 && CALL(drep_type_extent, t) > 0 ? 0 : WRONG;
}

static size_t maker; /* of the case that runs */

static int m_type(void)
{
    drep_type *t = NULL, *again;
    int err = makers[maker](&t);

    if (err)
        return t ? WRONG : err;
    mem_fail_at(0); /* what follows needs no memory */
    err = ask_type(t);
    again = CALL(drep_type_ref, t);
    CALL(drep_type_free, again);
    CALL(drep_type_free, t);
    mem_fail_at(-1);
    return err;
}

/* ---- texts, sizes, conversion ---- */

static drep_type *deep; /* a sequence of compounds with strings */

static int m_print(void)
{
    char *text = NULL;
    int err = CALL(drep_type_print, deep, &text);

    if (err)
        return text ? WRONG : err;
    err = strcmp(text, "seq(struct{when: INT64_T, who: vstring})") == 0 ? 0 : WRONG;
    free(text);
    return err;
}

static int m_extents(void)
{
    static const char *const names[] = {"native", "external32", "internal", "native:m68k"};
    int64_t extent;
    int err = 0;

    for (int i = 0; !err && i < 4; i++)
        err = CALL(drep_type_file_extent, DREP_LONG, names[i], &extent);
    return err;
}

struct who {
    int64_t when;
    char *who;
};

static int m_convert(void)
{
    char name[] = "somebody";
    struct who from[2] = {{5, name}, {6, name}};
    drep_vlen src = {2, from}, dst = {0, NULL};
    int err = CALL(drep_convert, deep, &dst, deep, &src, 1, NULL);
    const struct who *to = dst.data;

    if (!err)
        err = dst.count == 2 && to[1].when == 6 && strcmp(to[1].who, name) == 0 ? 0 : WRONG;
    CALL(drep_vlen_free, deep, 1, &dst);
    return err;
}

static int m_convert_many(void)
{
    static int32_t from[3000];
    static double to[3000];
    int err = CALL(drep_convert, DREP_DOUBLE, to, DREP_INT32_T, from, 3000, NULL);

    return err;
}

static int m_pack(void)
{
    static const char *const names[] = {"external32", "native:s390x", "native:i386"};
    static long from[300], back[300];
    static char bytes[8000];
    int err = 0;

    for (int i = 0; !err && i < 3; i++) {
        int64_t at = 0, from_at = 0, size = 0;

        err = CALL(drep_pack_size, names[i], 300, DREP_LONG, &size);
        if (!err)
            err = CALL(drep_pack, names[i], from, 300, DREP_LONG, bytes, sizeof bytes, &at);
        if (!err)
            err = CALL(drep_unpack, names[i], bytes, at, &from_at, back, 300, DREP_LONG);
        if (!err && (at != size || from_at != size))
            err = WRONG;
    }
    return err;
}

/* Above the size from which threads share the work. */
static int m_pack_xfer(void)
{
    static double from[300000], back[300000];
    static char bytes[2400000];
    drep_report report = DREP_REPORT;
    const drep_xfer xfer = DREP_XFER(.threads = 2, .report = &report, .buf_size = sizeof from);
    int64_t at = 0, from_at = 0;
    int err = CALL(drep_pack_xfer, "external32", from, 300000, DREP_DOUBLE, bytes, sizeof bytes,
                   &at, &xfer);

    if (!err)
        err = CALL(drep_unpack_xfer, "external32", bytes, at, &from_at, back, 300000, DREP_DOUBLE,
                   &xfer);
    return err ? err : at == sizeof bytes && from_at == at && report.items == 300000 ? 0 : WRONG;
}

static int m_unit(void)
{
    static double from[300], back[300];
    static char bytes[8000];
    int64_t at = 0, from_at = 0, size = 0;
    drep_unitinfo info = DREP_UNITINFO;
    int err = CALL(drep_pack_unit_size, "native:m68k", 300, DREP_DOUBLE, &size);

    if (!err)
        err = CALL(drep_pack_unit, "native:m68k", from, 300, DREP_DOUBLE, bytes, sizeof bytes, &at);
    if (!err)
        err = CALL(drep_pack_unit_info, bytes, at, 0, &info);
    if (!err)
        err = CALL(drep_unpack_unit, bytes, at, &from_at, back, 300, DREP_DOUBLE);
    return err;
}

/* ---- representations ---- */

static int no_conversion(void *user, const drep_type *type, int64_t count, void *file,
                         int64_t position, void *state)
{
    (void)user;
    (void)type;
    (void)count;
    (void)file;
    (void)position;
    (void)state;
    return 1;
}

static int extent_1(const drep_type *type, int64_t *extent, void *state)
{
    (void)type;
    (void)state;
    *extent = 1;
    return 0;
}

/* A name registered is there for good, one that failed is not. */
static int named(char name[32], const char *what)
{
    static int n;
    drep_datarep rep = DREP_DATAREP;

    snprintf(name, 32, "%s%d", what, n++);
    return CALL(drep_datarep_get, name, &rep) == DREP_ERR_UNSUPPORTED_DATAREP ? 0 : WRONG;
}

static int registered(const char *name, int err)
{
    drep_datarep rep = DREP_DATAREP;

    if (err == DREP_ERR_NOMEM)
        return drep_datarep_get(name, &rep) == DREP_ERR_UNSUPPORTED_DATAREP ? err : WRONG;
    return err ? err : drep_datarep_get(name, &rep) ? WRONG : 0;
}

static int m_register(void)
{
    char name[32];
    int err = named(name, "r");

    return err ? err
               : registered(name, CALL(drep_register_datarep, name, no_conversion, no_conversion,
                                       extent_1, NULL));
}

static int m_register_flags(void)
{
    char name[32];
    int err = named(name, "f");

    return err ? err
               : registered(name, CALL(drep_register_datarep_flags, name, no_conversion,
                                       no_conversion, extent_1, NULL, DREP_REP_SERIAL));
}

static int no_filter(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                     size_t *out_size, void *state)
{
    (void)params;
    (void)nparams;
    (void)in;
    (void)in_size;
    (void)out;
    (void)out_size;
    (void)state;
    return 1;
}

/* What failed can be registered again. */
static int m_register_filter(void)
{
    static int n;
    char name[32];
    int err, again;

    snprintf(name, sizeof name, "filter%d", n++);
    err = CALL(drep_register_filter, name, no_filter, no_filter, NULL, 0);
    mem_fail_at(-1);
    again = drep_register_filter(name, no_filter, no_filter, NULL, 0);
    return err == DREP_ERR_NOMEM && again ? WRONG : !err && again != DREP_ERR_EXISTS ? WRONG : err;
}

static int m_declare(void)
{
    const drep_encoding row = {DREP_CODE_INT, DREP_FORMAT_CUSTOM, DREP_LITTLE, 3, 1, 0, 0};
    char name[32];
    int err = named(name, "d");

    return err ? err
               : registered(name,
                            CALL(drep_declare_datarep, name, "external32", &row, 1, &int24, 1));
}

static int count_names(const char *name, const char *form, void *ctx)
{
    (void)name;
    (void)form;
    ++*(int *)ctx;
    return 0;
}

static int m_tables(void)
{
    drep_encoding rows[100];
    drep_scalar scalars[4];
    int n = 0, names = 0, libraries = 0;
    int err = CALL(drep_datarep_table, "native:s390x", rows, 100, &n);

    if (!err)
        err = CALL(drep_datarep_scalars, "native:s390x", scalars, 4, &n);
    if (!err)
        err = CALL(drep_datarep_walk, count_names, &names);
    if (!err)
        err = CALL(drep_library_walk, count_names, &libraries);
    return err ? err : names > 10 && libraries > 0 ? 0 : WRONG;
}

static int m_plugin_path(void)
{
    int err = CALL(drep_plugin_path, "/nowhere/at/all");
    int end = drep_plugin_path(NULL);

    return err ? err : end;
}

/* ---- hints and selections ---- */

static int m_info(void)
{
    drep_info *info = NULL;
    int err = CALL(drep_info_new, &info);

    for (int i = 0; !err && i < 10; i++) {
        char key[8] = "key0";

        key[3] = (char)('0' + i);
        err = CALL(drep_info_set, info, key, "a value");
    }
    if (!err)
        err = drep_info_set(info, "key5", "another");
    if (!err)
        err = CALL(drep_info_delete, info, "key7");
    if (!err && (CALL(drep_info_count, info) != 9 ||
                 strcmp(CALL(drep_info_get, info, "key5"), "another") != 0 ||
                 strcmp(CALL(drep_info_key, info, 8), "key9") != 0))
        err = WRONG;
    if (!err)
        err = CALL(drep_info_check, "drep_sync", "none");
    CALL(drep_info_free, info);
    return err;
}

static int m_select(void)
{
    static const int64_t coords[] = {1, 2, 3, 4};
    drep_selection *box = NULL, *points = NULL, *both = NULL, *text = NULL;
    int err = CALL(drep_select_box, 3, others, some, NULL, NULL, &box);

    if (!err)
        err = CALL(drep_select_parse, "[0,::2]", 3, some, &text);
    if (!err)
        err = CALL(drep_selection_box, text, NULL, NULL, NULL, NULL, NULL, NULL);
    drep_selection_free(text);

    if (!err)
        err = CALL(drep_select_points, 2, 2, coords, &points);
    if (!err)
        err = CALL(drep_select_union, box, box, &both);
    if (!err && (CALL(drep_selection_count, box) != 6 || drep_selection_count(points) != 2 ||
                 drep_selection_count(both) != 6))
        err = WRONG;
    CALL(drep_selection_free, box);
    drep_selection_free(points);
    drep_selection_free(both);
    return err;
}

/* What needs neither memory nor a file: run with the first allocation failing. */
static int m_pure(void)
{
    int err;

    mem_fail_at(0);
    err = CALL(drep_strerror, 5) && CALL(drep_version) && CALL(drep_error) &&
                  CALL(drep_error_object) && CALL(drep_error_byte) < INT64_MAX
              ? 0
              : WRONG;
    for (int c = 1; c <= DREP_CODE_MAX; c++) {
        if (!CALL(drep_predefined, c) || CALL(drep_code_from_name, CALL(drep_code_name, c)) != c ||
            ask_type(drep_predefined(c)))
            err = WRONG;
    }
    if (CALL(drep_format_from_name, CALL(drep_format_name, DREP_FORMAT_VAX_F)) != DREP_FORMAT_VAX_F)
        err = WRONG;
    if (!CALL(drep_format_describe, DREP_FORMAT_VAX_F))
        err = WRONG;
    if (CALL(drep_filter_from_name, CALL(drep_filter_name, DREP_FILTER_ZSTD)) != DREP_FILTER_ZSTD ||
        !CALL(drep_filter_available, DREP_FILTER_SHUFFLE))
        err = WRONG;
    mem_fail_at(-1);
    return err;
}

static const struct memory_case {
    const char *name;
    int (*run)(void);
} memory_cases[] = {{"print a type", m_print},
                    {"extents in a file", m_extents},
                    {"convert", m_convert},
                    {"convert many", m_convert_many},
                    {"pack", m_pack},
                    {"pack with threads", m_pack_xfer},
                    {"pack units", m_unit},
                    {"register", m_register},
                    {"register with flags", m_register_flags},
                    {"register a filter", m_register_filter},
                    {"declare", m_declare},
                    {"tables", m_tables},
                    {"plugin path", m_plugin_path},
                    {"hints", m_info},
                    {"selections", m_select},
                    {"what needs no memory", m_pure}};
#define MEMORY_CASES (sizeof memory_cases / sizeof *memory_cases)

/* The n-th allocation fails, n = 0, 1, ... until none does; gives n, or -1. */
static int64_t memory_fails(int (*run)(void), const char *name)
{
    for (int64_t n = 0; n < 100000; n++) {
        int err;

        mem_fail_at(n);
        err = run();
        mem_fail_at(-1);
        if (err == 0)
            return n;
        if (err != DREP_ERR_NOMEM || !*drep_error()) {
            printf("# %s, allocation %lld: error %d: %s\n", name, (long long)n, err, drep_error());
            return -1;
        }
    }
    return -1;
}

#endif
