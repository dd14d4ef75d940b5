/* tables.c - the tables of encodings that are built in: this machine's, external32,
 * internal, and those of the machines in machines.def.
 *
 * A table follows from three things: sizes and alignments, a byte order, and the
 * format of long double.  All are made once, at first use, and never change. */
/* SPDX-License-Identifier: MIT */
#include "rep/tables.h"

#include "base/error.h"
#include "format/numbers.h"

#include <float.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The columns of types.def, and the format of a real held so; LDOUBLE's is the table's. */
#define ABI_LIST(X)                 \
    X(U8, 0)                        \
    X(I8, 0)                        \
    X(CHAR, 0)                      \
    X(BOOL, 0)                      \
    X(SHORT, 0)                     \
    X(INT, 0)                       \
    X(LONG, 0)                      \
    X(LLONG, 0)                     \
    X(WCHAR, 0)                     \
    X(PTR, 0)                       \
    X(I16, 0)                       \
    X(I32, 0)                       \
    X(I64, 0)                       \
    X(I128, 0)                      \
    X(FLOAT, DREP_FORMAT_BINARY32)  \
    X(DOUBLE, DREP_FORMAT_BINARY64) \
    X(LDOUBLE, 0)                   \
    X(F16, DREP_FORMAT_BINARY16)    \
    X(BF16, DREP_FORMAT_BFLOAT16)   \
    X(F128, DREP_FORMAT_BINARY128)  \
    X(E4M3, DREP_FORMAT_FP8_E4M3)   \
    X(E5M2, DREP_FORMAT_FP8_E5M2)

enum abi_type {
#define X(name, format) ABI_##name,
    ABI_LIST(X)
#undef X
        ABI_COUNT
};

static const uint8_t abi_format[ABI_COUNT] = {
#define X(name, format) [ABI_##name] = format,
    ABI_LIST(X)
#undef X
};

static const struct code_row {
    uint8_t cls, abi, external32, internal;
} codes[DREP_CODE_MAX + 1] = {
#define X(name, code, cls, ext, internal, abi) [code] = {FMT_##cls, ABI_##abi, ext, internal},
#include "format/types.def"
#undef X
};

struct cell {
    uint8_t size, align;
};

/* The formats whose class needs no size to be named. */
static uint8_t class_format(int cls)
{
    switch (cls) {
    case FMT_CHAR:
        return DREP_FORMAT_CHAR;
    case FMT_WCHAR:
        return DREP_FORMAT_UNICODE;
    case FMT_INT:
        return DREP_FORMAT_INT;
    case FMT_UINT:
        return DREP_FORMAT_UINT;
    case FMT_BOOL:
        return DREP_FORMAT_BOOL;
    default:
        return DREP_FORMAT_BYTES;
    }
}

static void table_fill(struct rep_table *t, const struct cell *by_code, int order, int long_double,
                       bool structs)
{
    int c;

    memset(t, 0, sizeof *t);
    t->structs = structs;
    for (c = 1; c <= DREP_CODE_MAX; c++) {
        int abi = codes[c].abi, cls = codes[c].cls;
        uint8_t real = abi == ABI_LDOUBLE ? (uint8_t)long_double : abi_format[abi];

        t->row[c] = (drep_encoding){
            .code = (uint16_t)c,
            .format = cls == FMT_REAL || cls == FMT_COMPLEX ? real : class_format(cls),
            .order = (uint8_t)order,
            .size = by_code[c].size,
            .align = by_code[c].align};
    }
}

/* ---------------------------------------------------------- this machine */

/* Size cannot tell x87 from binary128, so the digits of the significand do. */
#if LDBL_MANT_DIG == 53
#define NATIVE_LONG_DOUBLE DREP_FORMAT_BINARY64
#elif LDBL_MANT_DIG == 113
#define NATIVE_LONG_DOUBLE DREP_FORMAT_BINARY128
#elif LDBL_MANT_DIG == 106
#define NATIVE_LONG_DOUBLE DREP_FORMAT_DOUBLE_DOUBLE
#elif LDBL_MANT_DIG == 64 && defined(__m68k__)
#define NATIVE_LONG_DOUBLE DREP_FORMAT_M68K
#elif LDBL_MANT_DIG == 64
#define NATIVE_LONG_DOUBLE DREP_FORMAT_X87
#else
#error "the format of this machine's long double is not known"
#endif

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER DREP_BIG
#else
#define NATIVE_ORDER DREP_LITTLE
#endif

/* Tables alone do not tell arm64 from riscv64: the compiler does. */
static const char native_claim[] =
#if defined(_WIN64)
    "win64";
#elif defined(_WIN32)
    "win32";
#elif defined(__x86_64__) && defined(__ILP32__)
    "x32";
#elif defined(__x86_64__)
    "amd64";
#elif defined(__i386__)
    "i386";
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
    "arm64";
#elif defined(__arm__) && defined(__ARM_PCS_VFP) && !defined(__ARMEB__)
    "armhf";
#elif defined(__arm__) && !defined(__ARMEB__)
    "armel";
#elif defined(__riscv) && __riscv_xlen == 64
    "riscv64";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    "ppc64";
#elif defined(__powerpc64__) && LDBL_MANT_DIG == 113
    "ppc64el-ieee";
#elif defined(__powerpc64__)
    "ppc64el-ibm";
#elif defined(__powerpc__)
    "powerpc";
#elif defined(__s390x__)
    "s390x";
#elif defined(__mips64)
    "mips64";
#elif defined(__mips__) && defined(__MIPSEL__)
    "mipsel";
#elif defined(__mips__)
    "mips";
#elif defined(__sparc__) && defined(__arch64__)
    "sparc64";
#elif defined(__hppa__)
    "hppa";
#elif defined(__alpha__)
    "alpha";
#elif defined(__sh__)
    "sh4";
#elif defined(__m68k__)
    "m68k";
#else
    "";
#endif

static void native_fill(struct rep_table *t)
{
    const struct type_sizes *sizes = type_native_sizes();
    struct cell cells[DREP_CODE_MAX + 1] = {{0, 0}};
    int c;

    for (c = 1; c <= DREP_CODE_MAX; c++)
        cells[c] = (struct cell){sizes->size[c], sizes->align[c]};
    table_fill(t, cells, NATIVE_ORDER, NATIVE_LONG_DOUBLE, true);
}

/* --------------------------------------------------------- the other ones */

#define BIG DREP_BIG
#define LITTLE DREP_LITTLE

/* A line of machines.def; macros split its pairs. */
static const struct machine {
    const char *name;
    uint8_t order, long_double;
    struct cell cell[ABI_COUNT];
} machines[] = {
#define X(id, name, order, s, sa, i, ia, l, la, ll, lla, f, fa, d, da, ld, lda, w, wa, p, pa, q, \
          qa, x, xa, format, char_sign, wchar_sign)                                              \
    {name,                                                                                       \
     order,                                                                                      \
     DREP_FORMAT_##format,                                                                       \
     {[ABI_U8] = {1, 1},      [ABI_I8] = {1, 1},         [ABI_CHAR] = {1, 1},                    \
      [ABI_BOOL] = {1, 1},    [ABI_SHORT] = {s, sa},     [ABI_INT] = {i, ia},                    \
      [ABI_LONG] = {l, la},   [ABI_LLONG] = {ll, lla},   [ABI_WCHAR] = {w, wa},                  \
      [ABI_PTR] = {p, pa},    [ABI_I16] = {2, sa},       [ABI_I32] = {4, ia},                    \
      [ABI_I64] = {8, lla},   [ABI_I128] = {q, qa},      [ABI_FLOAT] = {f, fa},                  \
      [ABI_DOUBLE] = {d, da}, [ABI_LDOUBLE] = {ld, lda}, [ABI_F16] = {2, sa},                    \
      [ABI_BF16] = {2, sa},   [ABI_F128] = {x, xa},      [ABI_E4M3] = {1, 1},                    \
      [ABI_E5M2] = {1, 1}}},
#include "rep/machines.def"
#undef X
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static void machine_fill(struct rep_table *t, const struct machine *m)
{
    struct cell cells[DREP_CODE_MAX + 1] = {{0, 0}};
    int c;

    for (c = 1; c <= DREP_CODE_MAX; c++) {
        cells[c] = m->cell[codes[c].abi];
        if (codes[c].cls == FMT_COMPLEX)
            cells[c].size = (uint8_t)(2 * cells[c].size);
    }
    table_fill(t, cells, m->order, m->long_double, true);
}

static void packed_fill(struct rep_table *t, bool external32)
{
    struct cell cells[DREP_CODE_MAX + 1] = {{0, 0}};
    int c;

    for (c = 1; c <= DREP_CODE_MAX; c++)
        cells[c] = (struct cell){external32 ? codes[c].external32 : codes[c].internal, 1};
    table_fill(t, cells, external32 ? DREP_BIG : DREP_LITTLE, DREP_FORMAT_BINARY128, false);
}

/* ------------------------------------------------------------------ access */

enum { NATIVE, EXTERNAL32, INTERNAL, FIRST_MACHINE, TABLES = FIRST_MACHINE + MACHINES };

static struct rep_table tables[TABLES];
static const char *native_name = "";

static void fill_all(void)
{
    int i;

    native_fill(&tables[NATIVE]);
    packed_fill(&tables[EXTERNAL32], true);
    packed_fill(&tables[INTERNAL], false);
    for (i = 0; i < MACHINES; i++) {
        machine_fill(&tables[FIRST_MACHINE + i], &machines[i]);
        if (strcmp(machines[i].name, native_claim) == 0 &&
            memcmp(tables[FIRST_MACHINE + i].row, tables[NATIVE].row, sizeof tables->row) == 0)
            native_name = machines[i].name;
    }
}

static void fill_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_all);
}

const struct rep_table *table_builtin(int i, char name[DREP_MAX_DATAREP_STRING])
{
    static const char *const first[FIRST_MACHINE] = {"native", "external32", "internal"};

    if (i >= TABLES)
        return NULL;
    fill_once();
    if (i < FIRST_MACHINE)
        strcpy(name, first[i]);
    else
        snprintf(name, DREP_MAX_DATAREP_STRING, "native:%s", machines[i - FIRST_MACHINE].name);
    return &tables[i];
}

const struct rep_table *rep_native(void)
{
    fill_once();
    return &tables[NATIVE];
}

const char *rep_native_name(void)
{
    fill_once();
    return native_name;
}

bool rep_align_fits(int align)
{
    return align > 0 && align <= 16 && (align & (align - 1)) == 0;
}

void rep_table_sizes(const struct rep_table *table, struct type_sizes *sizes)
{
    int c;

    /* Files hold these alike under every table (SPEC.md, 5.6). */
    *sizes = (struct type_sizes){
        .vlen_size = 16, .vlen_align = 8, .object_size = 8, .region_size = 24, .ref_align = 8};
    for (c = 1; c <= DREP_CODE_MAX; c++) {
        sizes->size[c] = table->row[c].size;
        /* Alignment is a hint: an invalid one is ignored. */
        sizes->align[c] = rep_align_fits(table->row[c].align) ? table->row[c].align : 1;
    }
    /* Bytes are bytes, also where a table does not mention them. */
    sizes->size[DREP_CODE_BYTE] = sizes->align[DREP_CODE_BYTE] = 1;
    sizes->size[DREP_CODE_PACKED] = sizes->align[DREP_CODE_PACKED] = 1;
}

/* ------------------------------------------------------------------ checks */

int table_parts(int code)
{
    return codes[code].cls == FMT_COMPLEX ? 2 : 1;
}

int table_class(int code)
{
    return codes[code].cls == FMT_COMPLEX ? FMT_REAL : codes[code].cls;
}

/* True if a scalar of this description holds values of this class. */
static bool custom_suits(const drep_scalar *s, int cls)
{
    if (cls == FMT_REAL)
        return s->cls == DREP_SCALAR_REAL;
    return s->cls == DREP_SCALAR_INT && (cls == FMT_INT || cls == FMT_UINT || cls == FMT_BOOL ||
                                         (cls == FMT_WCHAR && !s->is_signed));
}

/* True if a format of this class holds values of a datatype's class. Integers and booleans may
 * be held as integers of either sign. */
static bool format_suits(int format, int cls)
{
    if (format == FMT_INT || format == FMT_UINT)
        return cls == FMT_INT || cls == FMT_UINT || cls == FMT_BOOL;
    return format == cls;
}

/* Why a row cannot be; NULL if it can. */
static const char *row_wrong(const struct rep_table *t, int code)
{
    const drep_encoding *e = &t->row[code];
    int parts = table_parts(code), cls = table_class(code);

    if (e->code != code)
        return "it is listed for another datatype (R3.16)";
    if (cls == FMT_BYTES && e->size != 1)
        return "a byte has size 1 (R3.18)";
    if (e->size > 32)
        return "it is longer than 32 bytes (R3.18)";
    if (e->order > DREP_VAX || (e->order == DREP_VAX && e->size % (2 * parts) && e->size != parts))
        return "its byte order is unknown or does not suit its size (R3.17)";
    if (e->size % parts)
        return "a complex has two parts of one size (R3.18)";
    if (e->format != DREP_FORMAT_CUSTOM) {
        if (!fmt_format_fits(e->format, e->size / parts))
            return "its format does not have this size (R3.18)";
        return format_suits(fmt_format_class(e->format), cls)
                   ? NULL
                   : "its format is of another class (R3.19)";
    }
    if (e->custom >= t->ncustom)
        return "its scalar is not described (R3.21)";
    if (t->custom[e->custom].size != e->size / parts)
        return "its scalar has another size (R3.21)";
    return custom_suits(&t->custom[e->custom], cls) ? NULL
                                                    : "its scalar is of another class (R3.21)";
}

int rep_table_check(const struct rep_table *table)
{
    const char *wrong;
    drep_type *scalar;
    int i, err;

    for (i = 0; i < table->ncustom; i++) {
        err = drep_type_scalar(&table->custom[i], &scalar);
        if (err)
            return fail_in(err == DREP_ERR_NOMEM ? err : DREP_ERR_FORMAT, "scalar %d", i);
        drep_type_free(scalar);
    }
    for (i = 1; i <= DREP_CODE_MAX; i++) {
        if (table->row[i].size == 0)
            continue;
        wrong = row_wrong(table, i);
        if (wrong)
            return fail(DREP_ERR_FORMAT, "the encoding of %s: %s", drep_code_name(i), wrong);
    }
    return 0;
}
