/* bench_kernels.c - conversion in memory, beside memcpy and hand-written loops.
 *
 * Everything goes through drep_pack(), drep_unpack() and drep_convert() in one thread; the
 * foreign formats are declared representations.  The argument is MiB of a side, 256 if
 * none. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define F16C __attribute__((target("avx2,f16c")))
#endif

struct work {
    uint8_t *user, *file;
    const drep_type *type;
    const drep_type *stored; /* drep_convert(): what is at file */
    const char *datarep;
    int64_t count, user_size, file_size; /* elements; bytes of each in memory and packed */
};

static int missed;

static void pack(void *ctx)
{
    struct work *w = ctx;
    int64_t position = 0;

    bench_must(drep_pack(w->datarep, w->user, w->count, w->type, w->file, w->count * w->file_size,
                         &position) == 0,
               "pack");
}

static void unpack(void *ctx)
{
    struct work *w = ctx;
    int64_t position = 0;

    bench_must(drep_unpack(w->datarep, w->file, w->count * w->file_size, &position, w->user,
                           w->count, w->type) == 0,
               "unpack");
}

static void pack_in_place(void *ctx)
{
    struct work *w = ctx;
    int64_t position = 0;

    bench_must(drep_pack(w->datarep, w->user, w->count, w->type, w->user, w->count * w->file_size,
                         &position) == 0,
               "pack");
}

static void convert(void *ctx)
{
    struct work *w = ctx;
    const drep_xfer xfer = DREP_XFER(.threads = 1);

    bench_must(drep_convert(w->type, w->user, w->stored, w->file, w->count, &xfer) == 0, "convert");
}

static void copy(void *ctx)
{
    struct work *w = ctx;

    memcpy(w->file, w->user, (size_t)(w->count * (w->user_size + w->file_size) / 2));
}

static void copy_back(void *ctx)
{
    struct work *w = ctx;

    memcpy(w->user, w->file, (size_t)(w->count * (w->user_size + w->file_size) / 2));
}

static void row(struct work *w, const char *title, const char *limit, bench_fn *limit_fn,
                bench_fn *fn, double bar)
{
    const struct bench_entry entry[] = {{limit, NULL, limit_fn, 0}, {"datarep", NULL, fn, bar}};

    missed +=
        bench_row(title, (double)(w->count * (w->user_size + w->file_size)) / 2, 7, entry, 2, w);
}

/* count elements of a type that is user_size bytes here and file_size under datarep. */
static void set(struct work *w, const drep_type *type, const char *datarep, int64_t bytes,
                int64_t user_size, int64_t file_size)
{
    w->type = type;
    w->datarep = datarep;
    w->user_size = user_size;
    w->file_size = file_size;
    w->count = bytes / (user_size > file_size ? user_size : file_size);
}

static void declare(const char *name, int code, int format, int order, int size)
{
    drep_encoding e = {(uint16_t)code, (uint8_t)format, (uint8_t)order, (uint8_t)size, 1, 0, 0};

    bench_must(drep_declare_datarep(name, "external32", &e, 1, NULL, 0) == 0, name);
}

#define ROW(type, side) ((type *)(void *)w->side)

/* ------------------------------------------------------------- same size */

BEST static void loop_place_16(void *ctx)
{
    struct work *w = ctx;
    uint16_t *p = ROW(uint16_t, user);

    for (int64_t i = 0; i < w->count; i++)
        p[i] = __builtin_bswap16(p[i]);
}

BEST static void loop_place_32(void *ctx)
{
    struct work *w = ctx;
    uint32_t *p = ROW(uint32_t, user);

    for (int64_t i = 0; i < w->count; i++)
        p[i] = __builtin_bswap32(p[i]);
}

BEST static void loop_place_64(void *ctx)
{
    struct work *w = ctx;
    uint64_t *p = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++)
        p[i] = __builtin_bswap64(p[i]);
}

BEST static void loop_place_128(void *ctx)
{
    struct work *w = ctx;
    uint64_t *p = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++) {
        uint64_t first = __builtin_bswap64(p[2 * i]);

        p[2 * i] = __builtin_bswap64(p[2 * i + 1]);
        p[2 * i + 1] = first;
    }
}

static void swaps(struct work *w, int64_t bytes)
{
    static const struct {
        int code, size;
        bench_fn *in_place;
    } all[] = {{DREP_CODE_INT16_T, 2, loop_place_16},
               {DREP_CODE_INT32_T, 4, loop_place_32},
               {DREP_CODE_INT64_T, 8, loop_place_64},
               {DREP_CODE_INTEGER16, 16, loop_place_128}};
    char title[64];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        set(w, drep_predefined(all[i].code), "external32", bytes, all[i].size, all[i].size);
        snprintf(title, sizeof title, "%d bits to big-endian", 8 * all[i].size);
        row(w, title, "memcpy", copy, pack, 0.9);
        snprintf(title, sizeof title, "%d bits to big-endian, in place", 8 * all[i].size);
        row(w, title, "loop", all[i].in_place, pack_in_place, 0.9);
    }
}

/* ------------------------------------------------------- integers, floats */

BEST static void loop_long_32(void *ctx)
{
    struct work *w = ctx;
    uint32_t *restrict to = ROW(uint32_t, file);
    const uint64_t *restrict from = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = __builtin_bswap32((uint32_t)from[i]);
}

BEST static void loop_32_long(void *ctx)
{
    struct work *w = ctx;
    int64_t *restrict to = ROW(int64_t, user);
    const uint32_t *restrict from = ROW(uint32_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (int32_t)__builtin_bswap32(from[i]);
}

BEST static void loop_int64_double(void *ctx)
{
    struct work *w = ctx;
    double *restrict to = ROW(double, user);
    const uint64_t *restrict from = ROW(uint64_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (double)(int64_t)__builtin_bswap64(from[i]);
}

BEST static void loop_double_float(void *ctx)
{
    struct work *w = ctx;
    uint32_t *restrict to = ROW(uint32_t, file);
    const double *restrict from = ROW(double, user);

    for (int64_t i = 0; i < w->count; i++) {
        float f = (float)from[i];
        uint32_t bits;

        memcpy(&bits, &f, 4);
        to[i] = __builtin_bswap32(bits);
    }
}

BEST static void loop_float_double(void *ctx)
{
    struct work *w = ctx;
    double *restrict to = ROW(double, user);
    const uint32_t *restrict from = ROW(uint32_t, file);

    for (int64_t i = 0; i < w->count; i++) {
        uint32_t bits = __builtin_bswap32(from[i]);
        float f;

        memcpy(&f, &bits, 4);
        to[i] = (double)f;
    }
}

BEST static void loop_double_float_native(void *ctx)
{
    struct work *w = ctx;
    float *restrict to = ROW(float, user);
    const double *restrict from = ROW(double, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (float)from[i];
}

BEST static void loop_int32_double(void *ctx)
{
    struct work *w = ctx;
    double *restrict to = ROW(double, user);
    const int32_t *restrict from = ROW(int32_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (double)from[i];
}

BEST static void loop_float_double_native(void *ctx)
{
    struct work *w = ctx;
    double *restrict to = ROW(double, user);
    const float *restrict from = ROW(float, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (double)from[i];
}

BEST static void loop_int64_int32(void *ctx)
{
    struct work *w = ctx;
    int32_t *restrict to = ROW(int32_t, user);
    const int64_t *restrict from = ROW(int64_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (int32_t)from[i];
}

static void numbers(struct work *w, int64_t bytes)
{
    const drep_scalar big = {.cls = DREP_SCALAR_INT,
                             .order = DREP_BIG,
                             .size = 8,
                             .is_signed = 1,
                             .format = DREP_FORMAT_CUSTOM,
                             .precision = 64};
    drep_type *stored;

    if (sizeof(long) == 8) {
        set(w, DREP_LONG, "external32", bytes, 8, 4);
        row(w, "int64 to int32, big-endian", "loop", loop_long_32, pack, 0.8);
        row(w, "int32, big-endian, to int64", "loop", loop_32_long, unpack, 0.8);
    }
    bench_must(drep_type_scalar(&big, &stored) == 0, "type");
    set(w, DREP_DOUBLE, NULL, bytes, 8, 8);
    w->stored = stored;
    row(w, "int64, big-endian, to double", "loop", loop_int64_double, convert, 0.8);
    drep_type_free(stored);
    bench_doubles(ROW(double, user), (size_t)bytes / 8, 3);
    set(w, DREP_FLOAT, NULL, bytes, 4, 8);
    w->stored = DREP_DOUBLE;
    bench_doubles(ROW(double, file), (size_t)bytes / 8, 3);
    for (int64_t i = 0; i < w->count; i++) /* in the range of floats */
        ROW(double, file)[i] = (double)(float)i * 1.0625;
    row(w, "double to float, checked", "loop", loop_double_float_native, convert, 1.0);
    set(w, DREP_INT32_T, NULL, bytes, 4, 8);
    w->stored = DREP_INT64_T;
    for (int64_t i = 0; i < w->count; i++)
        ROW(int64_t, file)[i] = i - 12345;
    row(w, "int64 to int32, checked", "loop", loop_int64_int32, convert, 1.0);
    set(w, DREP_DOUBLE, NULL, bytes, 8, 4);
    w->stored = DREP_INT32_T;
    row(w, "int32 to double", "loop", loop_int32_double, convert, 0.95);
    w->stored = DREP_FLOAT;
    for (int64_t i = 0; i < w->count; i++)
        ROW(float, file)[i] = (float)i;
    row(w, "float to double", "loop", loop_float_double_native, convert, 0.95);
    declare("float", DREP_CODE_DOUBLE, DREP_FORMAT_BINARY32, DREP_BIG, 4);
    set(w, DREP_DOUBLE, "float", bytes, 8, 4);
    row(w, "double to float, big-endian", "loop", loop_double_float, pack, 0.8);
    row(w, "float, big-endian, to double", "loop", loop_float_double, unpack, 0.8);
}

/* ---------------------------------------------------------- long doubles */

#if LDBL_MANT_DIG == 64
BEST static void loop_x87_quad(void *ctx)
{
    struct work *w = ctx;
    uint64_t *restrict to = ROW(uint64_t, file);
    const uint64_t *restrict from = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++) {
        uint64_t m = from[2 * i], top = from[2 * i + 1];

        to[2 * i] = __builtin_bswap64(top << 48 | m << 1 >> 16);
        to[2 * i + 1] = __builtin_bswap64(m << 49);
    }
}

/* Rounds to nearest, as everybody must. */
BEST static void loop_quad_x87(void *ctx)
{
    struct work *w = ctx;
    uint64_t *restrict to = ROW(uint64_t, user);
    const uint64_t *restrict from = ROW(uint64_t, file);
    const uint64_t half = (uint64_t)1 << 48;

    for (int64_t i = 0; i < w->count; i++) {
        uint64_t high = __builtin_bswap64(from[2 * i]), low = __builtin_bswap64(from[2 * i + 1]);
        uint64_t m = (uint64_t)1 << 63 | high << 15 | low >> 49;
        uint64_t part = low & (2 * half - 1);
        uint64_t up = (part + (m & 1)) > half;

        m += up;
        to[2 * i] = m | (uint64_t)1 << 63;
        to[2 * i + 1] = (high >> 48) + (m < up);
    }
}

static void long_doubles(struct work *w, int64_t bytes)
{
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(long double); i++)
        ROW(long double, user)[i] = (long double)i * 1.2345L + 0.1L;
    set(w, DREP_LONG_DOUBLE, "external32", bytes, 16, 16);
    row(w, "x87 to binary128, big-endian", "loop", loop_x87_quad, pack, 0.7);
    row(w, "binary128, big-endian, to x87", "loop", loop_quad_x87, unpack, 0.7);
}
#else
static void long_doubles(struct work *w, int64_t bytes)
{
    (void)w, (void)bytes;
    printf("x87 and binary128: this machine's long double is no x87 number\n");
}
#endif

/* ---------------------------------------------------------- half as long */

#ifdef F16C
static inline F16C __m128i swap16(__m128i v)
{
    return _mm_or_si128(_mm_slli_epi16(v, 8), _mm_srli_epi16(v, 8));
}

static inline F16C void half_to_float(struct work *w, int swap)
{
    for (int64_t i = 0; i + 8 <= w->count; i += 8) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(w->file + 2 * i));

        _mm256_storeu_ps(ROW(float, user) + i, _mm256_cvtph_ps(swap ? swap16(v) : v));
    }
}

static inline F16C void float_to_half(struct work *w, int swap)
{
    for (int64_t i = 0; i + 8 <= w->count; i += 8) {
        __m128i v = _mm256_cvtps_ph(_mm256_loadu_ps(ROW(float, user) + i), 0);

        _mm_storeu_si128((__m128i *)(void *)(w->file + 2 * i), swap ? swap16(v) : v);
    }
}

F16C static void loop_half_float(void *w)
{
    half_to_float(w, 0);
}

F16C static void loop_half_float_big(void *w)
{
    half_to_float(w, 1);
}

F16C static void loop_float_half(void *w)
{
    float_to_half(w, 0);
}

F16C static void loop_float_half_big(void *w)
{
    float_to_half(w, 1);
}
#endif

BEST static void loop_bf16_float(void *ctx)
{
    struct work *w = ctx;
    uint32_t *restrict to = ROW(uint32_t, user);
    const uint16_t *restrict from = ROW(uint16_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (uint32_t)from[i] << 16;
}

BEST static void loop_bf16_float_big(void *ctx)
{
    struct work *w = ctx;
    uint32_t *restrict to = ROW(uint32_t, user);
    const uint16_t *restrict from = ROW(uint16_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (uint32_t)__builtin_bswap16(from[i]) << 16;
}

BEST static void loop_float_bf16(void *ctx)
{
    struct work *w = ctx;
    uint16_t *restrict to = ROW(uint16_t, file);
    const uint32_t *restrict from = ROW(uint32_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (uint16_t)((from[i] + 0x7fff + (from[i] >> 16 & 1)) >> 16);
}

BEST static void loop_float_bf16_big(void *ctx)
{
    struct work *w = ctx;
    uint16_t *restrict to = ROW(uint16_t, file);
    const uint32_t *restrict from = ROW(uint32_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = __builtin_bswap16((uint16_t)((from[i] + 0x7fff + (from[i] >> 16 & 1)) >> 16));
}

static void halves(struct work *w, int64_t bytes)
{
    static const struct {
        const char *name, *rep;
        uint8_t format, order;
        bench_fn *to, *from;
    } all[] = {
#ifdef F16C
        {"binary16", "half-le", DREP_FORMAT_BINARY16, DREP_LITTLE, loop_float_half,
         loop_half_float},
        {"binary16, big-endian", "half-be", DREP_FORMAT_BINARY16, DREP_BIG, loop_float_half_big,
         loop_half_float_big},
#endif
        {"bfloat16", "brain-le", DREP_FORMAT_BFLOAT16, DREP_LITTLE, loop_float_bf16,
         loop_bf16_float},
        {"bfloat16, big-endian", "brain-be", DREP_FORMAT_BFLOAT16, DREP_BIG, loop_float_bf16_big,
         loop_bf16_float_big}};
    char title[64];

#ifndef F16C
    printf("binary16: no F16C here to compare with\n");
#endif
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (int64_t k = 0; k < bytes / 4; k++)
            ROW(float, user)[k] = (float)(k % 60013 - 30000) * 1.0625f;
        declare(all[i].rep, DREP_CODE_FLOAT, all[i].format, all[i].order, 2);
        set(w, DREP_FLOAT, all[i].rep, bytes, 4, 2);
        snprintf(title, sizeof title, "float to %s", all[i].name);
        row(w, title, "loop", all[i].to, pack, 0.6);
        snprintf(title, sizeof title, "%s to float", all[i].name);
        row(w, title, "loop", all[i].from, unpack, 0.6);
    }
}

/* ------------------------------------------------------- foreign formats */

static const struct {
    const char *name;
    uint8_t format, order, size;
} foreign[] = {{"ibm-hex64", DREP_FORMAT_IBM_HEX64, DREP_BIG, 8},
               {"ibm-hex32", DREP_FORMAT_IBM_HEX32, DREP_BIG, 4},
               {"vax-d", DREP_FORMAT_VAX_D, DREP_VAX, 8},
               {"vax-g", DREP_FORMAT_VAX_G, DREP_VAX, 8},
               {"vax-f", DREP_FORMAT_VAX_F, DREP_VAX, 4},
               {"cray64", DREP_FORMAT_CRAY64, DREP_BIG, 8},
               {"m68k", DREP_FORMAT_M68K, DREP_BIG, 12},
               {"double-double", DREP_FORMAT_DOUBLE_DOUBLE, DREP_BIG, 16}};

static void foreigners(struct work *w, int64_t bytes)
{
    char title[64];

    bench_doubles(ROW(double, user), (size_t)bytes / 8, 3);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        declare(foreign[i].name, DREP_CODE_DOUBLE, foreign[i].format, foreign[i].order,
                foreign[i].size);
        set(w, DREP_DOUBLE, foreign[i].name, bytes, 8, foreign[i].size);
        snprintf(title, sizeof title, "double to %s", foreign[i].name);
        row(w, title, "memcpy", copy, pack, 0.15);
        snprintf(title, sizeof title, "%s to double", foreign[i].name);
        row(w, title, "memcpy", copy_back, unpack, 0.15);
    }
}

/* ---------------------------------------------------------------- structs */

struct record {
    char c;
    double d;
    int i;
    long l;
    float f;
    short s;
};
enum { RECORD_PACKED = 1 + 8 + 4 + 4 + 4 + 2 };

BEST static void loop_records(void *ctx)
{
    struct work *w = ctx;
    const struct record *r = ROW(struct record, user);
    uint8_t *to = w->file;
    uint64_t d;
    uint32_t i, l, f;
    uint16_t s;

    for (int64_t k = 0; k < w->count; k++, r++, to += RECORD_PACKED) {
        memcpy(&d, &r->d, 8);
        memcpy(&f, &r->f, 4);
        d = __builtin_bswap64(d);
        i = __builtin_bswap32((uint32_t)r->i);
        l = __builtin_bswap32((uint32_t)r->l);
        f = __builtin_bswap32(f);
        s = __builtin_bswap16((uint16_t)r->s);
        to[0] = (uint8_t)r->c;
        memcpy(to + 1, &d, 8);
        memcpy(to + 9, &i, 4);
        memcpy(to + 13, &l, 4);
        memcpy(to + 17, &f, 4);
        memcpy(to + 21, &s, 2);
    }
}

BEST static void loop_spaced(void *ctx)
{
    struct work *w = ctx;
    uint64_t *restrict to = ROW(uint64_t, file);
    const uint64_t *restrict from = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = __builtin_bswap64(from[2 * i]);
}

static void records(struct work *w, int64_t bytes)
{
    const drep_type *members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT,
                                  DREP_LONG, DREP_FLOAT,  DREP_SHORT};
    drep_type *record, *spaced;

    bench_random(w->user, (size_t)bytes, 5);
    bench_must(drep_type_struct(6, NULL, NULL, members, &record) == 0, "type");
    set(w, record, "external32", bytes, sizeof(struct record), RECORD_PACKED);
    row(w, "structs of six fields to external32", "loop", loop_records, pack, 0.85);
    bench_must(drep_type_resized(0, 16, DREP_DOUBLE, &spaced) == 0, "type");
    set(w, spaced, "external32", bytes / 2, 8, 8);
    row(w, "every second double to external32", "loop", loop_spaced, pack, 0.9);
    drep_type_free(record);
    drep_type_free(spaced);
}

int main(int argc, char **argv)
{
    int64_t bytes = (argc > 1 ? atoll(argv[1]) : FIGURE(256, 75)) << 20;
    struct work w = {.user = aligned_alloc(4096, (size_t)bytes),
                     .file = aligned_alloc(4096, (size_t)bytes)};

    bench_must(bytes > 0 && w.user && w.file, "memory");
    printf("%s\n", drep_version());
    bench_random(w.user, (size_t)bytes, 1);
    bench_random(w.file, (size_t)bytes, 2);
    swaps(&w, bytes);
    numbers(&w, bytes);
    long_doubles(&w, bytes);
    halves(&w, bytes);
    foreigners(&w, bytes);
    records(&w, bytes);
    printf("%d bars missed\n", missed);
    free(w.user);
    free(w.file);
    return 0;
}
