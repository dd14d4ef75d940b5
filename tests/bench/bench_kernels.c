/* bench_kernels.c - conversion in memory, beside memcpy and hand-written loops.
 *
 * Everything goes through drep_pack() and drep_unpack() in one thread; the foreign
 * formats are declared representations.  The argument is MiB of a side, 256 if none. */
#include "bench.h"

#include <datarep.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,f16c,movbe")
#pragma GCC optimize("O3")
#endif

struct work {
    uint8_t *user, *file;
    const drep_type *type;
    const char *datarep;
    int64_t count, user_size, file_size; /* elements; bytes of each in memory and packed */
};

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

/* ------------------------------------------------------ hand-written loops */

#define ROW(type, side) ((type *)(void *)w->side)

static void loop_long_32(void *ctx)
{
    struct work *w = ctx;
    uint32_t *restrict to = ROW(uint32_t, file);
    const uint64_t *restrict from = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = __builtin_bswap32((uint32_t)from[i]);
}

static void loop_32_long(void *ctx)
{
    struct work *w = ctx;
    int64_t *restrict to = ROW(int64_t, user);
    const uint32_t *restrict from = ROW(uint32_t, file);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = (int32_t)__builtin_bswap32(from[i]);
}

static void loop_double_float(void *ctx)
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

static void loop_float_double(void *ctx)
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

struct record {
    char c;
    double d;
    int i;
    long l;
    float f;
    short s;
};
enum { RECORD_PACKED = 1 + 8 + 4 + 4 + 4 + 2 };

static void loop_records(void *ctx)
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

static void loop_spaced(void *ctx)
{
    struct work *w = ctx;
    uint64_t *restrict to = ROW(uint64_t, file);
    const uint64_t *restrict from = ROW(uint64_t, user);

    for (int64_t i = 0; i < w->count; i++)
        to[i] = __builtin_bswap64(from[2 * i]);
}

#if LDBL_MANT_DIG == 64
static void loop_x87_quad(void *ctx)
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
#endif

/* ------------------------------------------------------------------- rows */

static int missed;

static void row(struct work *w, const char *title, const char *limit, bench_fn *limit_fn,
                bench_fn *fn, double bar)
{
    const struct bench_entry entry[] = {{limit, NULL, limit_fn, 0}, {"datarep", NULL, fn, bar}};

    missed +=
        bench_row(title, (double)(w->count * (w->user_size + w->file_size)) / 2, 7, entry, 2, w);
}

static void both(struct work *w, const char *name, double bar)
{
    char title[64];

    snprintf(title, sizeof title, "double to %s", name);
    row(w, title, "memcpy", copy, pack, bar);
    snprintf(title, sizeof title, "%s to double", name);
    row(w, title, "memcpy", copy_back, unpack, bar);
}

static const struct {
    const char *name;
    uint8_t format, order, size;
    double bar;
} foreign[] = {{"ibm-hex64", DREP_FORMAT_IBM_HEX64, DREP_BIG, 8, 0.15},
               {"ibm-hex32", DREP_FORMAT_IBM_HEX32, DREP_BIG, 4, 0.15},
               {"vax-d", DREP_FORMAT_VAX_D, DREP_VAX, 8, 0.15},
               {"vax-g", DREP_FORMAT_VAX_G, DREP_VAX, 8, 0.15},
               {"vax-f", DREP_FORMAT_VAX_F, DREP_VAX, 4, 0.15},
               {"cray64", DREP_FORMAT_CRAY64, DREP_BIG, 8, 0.15},
               {"m68k", DREP_FORMAT_M68K, DREP_BIG, 12, 0.15},
               {"double-double", DREP_FORMAT_DOUBLE_DOUBLE, DREP_BIG, 16, 0.15}};

static void declare(const char *name, int code, int format, int order, int size)
{
    drep_encoding e = {(uint16_t)code, (uint8_t)format, (uint8_t)order, (uint8_t)size, 1, 0, 0};

    bench_must(drep_declare_datarep(name, "external32", &e, 1, NULL, 0) == 0, name);
}

static void floats(struct work *w, int64_t bytes)
{
    w->user_size = 8;
    w->file_size = 4;
    w->count = bytes / 8;
    w->type = DREP_DOUBLE;
    w->datarep = "float";
    declare("float", DREP_CODE_DOUBLE, DREP_FORMAT_BINARY32, DREP_BIG, 4);
    row(w, "double to binary32, big-endian", "loop", loop_double_float, pack, 0.8);
    row(w, "binary32, big-endian, to double", "loop", loop_float_double, unpack, 0.8);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        declare(foreign[i].name, DREP_CODE_DOUBLE, foreign[i].format, foreign[i].order,
                foreign[i].size);
        w->datarep = foreign[i].name;
        w->file_size = foreign[i].size;
        w->count = bytes / (w->file_size > 8 ? w->file_size : 8);
        both(w, foreign[i].name, foreign[i].bar);
    }
}

static void records(struct work *w, int64_t bytes)
{
    const drep_type *members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT,
                                  DREP_LONG, DREP_FLOAT,  DREP_SHORT};
    drep_type *record, *spaced;

    bench_must(drep_type_struct(6, NULL, NULL, members, &record) == 0, "type");
    w->datarep = "external32";
    w->type = record;
    w->user_size = sizeof(struct record);
    w->file_size = RECORD_PACKED;
    w->count = bytes / w->user_size;
    row(w, "structs to external32", "loop", loop_records, pack, 0.85);
    bench_must(drep_type_resized(0, 16, DREP_DOUBLE, &spaced) == 0, "type");
    w->type = spaced;
    w->user_size = w->file_size = 8;
    w->count = bytes / 16;
    row(w, "every second double to external32", "loop", loop_spaced, pack, 0.9);
    drep_type_free(record);
    drep_type_free(spaced);
}

int main(int argc, char **argv)
{
    int64_t bytes = (argc > 1 ? atoll(argv[1]) : 256) << 20;
    struct work w = {.user = aligned_alloc(4096, (size_t)bytes),
                     .file = aligned_alloc(4096, (size_t)bytes),
                     .datarep = "external32"};

    bench_must(bytes > 0 && w.user && w.file, "memory");
    printf("%s\n", drep_version());
    bench_random(w.user, (size_t)bytes, 1);
    bench_random(w.file, (size_t)bytes, 2);
    w.type = DREP_INT64_T;
    w.user_size = w.file_size = 8;
    w.count = bytes / 8;
    row(&w, "64 bits to big-endian", "memcpy", copy, pack, 0.9);
    w.type = DREP_INT16_T;
    w.user_size = w.file_size = 2;
    w.count = bytes / 2;
    row(&w, "16 bits to big-endian", "memcpy", copy, pack, 0.9);
    if (sizeof(long) == 8) {
        w.type = DREP_LONG;
        w.user_size = 8;
        w.file_size = 4;
        w.count = bytes / 8;
        row(&w, "long to 32 bits, big-endian", "loop", loop_long_32, pack, 0.8);
        row(&w, "32 bits, big-endian, to long", "loop", loop_32_long, unpack, 0.8);
    }
    bench_doubles((double *)(void *)w.user, (size_t)bytes / 8, 3);
    floats(&w, bytes);
#if LDBL_MANT_DIG == 64
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(long double); i++)
        ((long double *)(void *)w.user)[i] = (long double)i * 1.2345L + 0.1L;
    w = (struct work){w.user, w.file, DREP_LONG_DOUBLE, "external32", bytes / 16, 16, 16};
    row(&w, "x87 to binary128, big-endian", "loop", loop_x87_quad, pack, 0.7);
#endif
    bench_random(w.user, (size_t)bytes, 5);
    records(&w, bytes);
    printf("%d bars missed\n", missed);
    free(w.user);
    free(w.file);
    return 0;
}
