/* cases.h - values that two programs pack: pack.c with MPI, ours.c with this library. */
/* SPDX-License-Identifier: MIT */
#ifndef CASES_H
#define CASES_H

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* C8: the pair types, and a struct with gaps. */
#define PAIRS(X)          \
    X(FLOAT_INT, float)   \
    X(DOUBLE_INT, double) \
    X(LONG_INT, long)     \
    X(2INT, int)          \
    X(SHORT_INT, short)
#define PAIR(NAME, type) \
    struct {             \
        type a;          \
        int b;           \
    } pair_##NAME[3];

struct mixed {
    char c;
    double d;
    int i;
};

struct values {
    PAIRS(PAIR)
    struct mixed mixed[2];
    signed char schar[4];
    unsigned char uchar[4];
    char chr[4];
    short shrt[6];
    unsigned short ushrt[6];
    int intg[6];
    unsigned uns[6];
    long lng[6];
    unsigned long ulng[6];
    long long llng[6];
    unsigned long long ullng[6];
    int8_t i8[4];
    int16_t i16[4];
    int32_t i32[4];
    int64_t i64[4];
    uint8_t u8[4];
    uint16_t u16[4];
    uint32_t u32[4];
    uint64_t u64[4];
    float flt[12];
    double dbl[12];
    long double ldbl[16];
    float _Complex fcomplex[3];
    double _Complex dcomplex[3];
    double grid[24];
    int many[16];
};

/* Name in both libraries without prefix, and the values. */
#define CASES(X)                 \
    X(BYTE, uchar)               \
    X(CHAR, chr)                 \
    X(SIGNED_CHAR, schar)        \
    X(UNSIGNED_CHAR, uchar)      \
    X(SHORT, shrt)               \
    X(UNSIGNED_SHORT, ushrt)     \
    X(INT, intg)                 \
    X(UNSIGNED, uns)             \
    X(LONG, lng)                 \
    X(UNSIGNED_LONG, ulng)       \
    X(LONG_LONG, llng)           \
    X(UNSIGNED_LONG_LONG, ullng) \
    X(INT8_T, i8)                \
    X(INT16_T, i16)              \
    X(INT32_T, i32)              \
    X(INT64_T, i64)              \
    X(UINT8_T, u8)               \
    X(UINT16_T, u16)             \
    X(UINT32_T, u32)             \
    X(UINT64_T, u64)             \
    X(FLOAT, flt)                \
    X(DOUBLE, dbl)               \
    X(LONG_DOUBLE, ldbl)         \
    X(C_FLOAT_COMPLEX, fcomplex) \
    X(C_DOUBLE_COMPLEX, dcomplex)

static void fill(void *p, size_t size, unsigned seed)
{
    unsigned char *b = p;

    while (size-- > 0) {
        seed = seed * 1103515245u + 12345u;
        *b++ = (unsigned char)(seed >> 16);
    }
}

/* Integers of any bits; reals of every kind, one NaN without a payload. */
static void values_init(struct values *v)
{
    static const double reals[12] = {0.0,     -0.0,    1.0,       -2.5, 0.1,      3.14159265358979,
                                     DBL_MAX, DBL_MIN, 0x1p-1074, NAN,  INFINITY, -INFINITY};
    static const long double longs[6] = {1 / 3.0L,    0x1p-16400L, 0x1p-16445L,
                                         0x1p+16383L, LDBL_MAX,    -0x1.8p-16383L};

    fill(v, sizeof *v, 7);
    v->intg[0] = INT_MAX;
    v->intg[1] = INT_MIN;
    v->lng[0] = 1;
    v->lng[1] = -2;
    v->lng[2] = 0x1122334455667788;
    v->lng[3] = -2147483648;
    v->ulng[0] = 0xffffffff;
    for (int i = 0; i < 12; i++) {
        v->dbl[i] = v->ldbl[i] = reals[i];
        v->flt[i] = i == 6 ? FLT_MAX : i == 7 ? FLT_MIN : i == 8 ? 0x1p-149f : (float)reals[i];
    }
    for (int i = 0; i < 4; i++)
        v->ldbl[12 + i] = longs[i];
    v->ldbl[6] = longs[4];
    v->ldbl[8] = longs[5];
    for (int i = 0; i < 3; i++) {
        v->fcomplex[i] = (float)(i + 0.5) - 2.25f * I;
        v->dcomplex[i] = 1e300 * i - 0.1 * I;
    }
#define FILL(NAME, type)                     \
    for (int i = 0; i < 3; i++) {            \
        v->pair_##NAME[i].a = (type)(3 - i); \
        v->pair_##NAME[i].b = i - 1;         \
    }
    PAIRS(FILL)
#undef FILL
    v->mixed[0] = (struct mixed){'A', 1.5, 7};
    v->mixed[1] = (struct mixed){'z', -1e-300, INT_MIN};
    for (int i = 0; i < 24; i++)
        v->grid[i] = i * 1.1;
}

static void print_case(const char *name, const void *bytes, size_t size)
{
    printf("%s ", name);
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
    printf("\n");
}

#endif
