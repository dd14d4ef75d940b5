/* kern_soft.c - passes by number.h: between any two scalars, and fast ones between the
 * pairs of formats that files are full of. */
#include "rep/number.h"
#include "rep/rep.h"

INLINE void tally_add(struct tally *t, int lost)
{
    t->overflow += (lost & LOST_RANGE) != 0;
    t->inexact += (lost & LOST_BITS) != 0;
    t->nan_lost += (lost & LOST_NAN) != 0;
    t->refused += (lost & (LOST_RANGE | LOST_NUMBER)) != 0;
}

void pass_general(PASS_ARGS)
{
    const struct side *to = &k->plan.dst, *from = &k->plan.src;
    /* Only integers lose their upper bits, and only to integers. */
    bool cut = to->kind == SIDE_INT && (from->kind == SIDE_REAL || from->kind == SIDE_PAIR);
    int range = cut || k->plan.clamp ? DREP_RANGE_CLAMP : DREP_RANGE_WRAP;
    struct num number;

    for (; n > 0; n--, dst += to->size, src += from->size) {
        side_unpack(&number, from, src);
        tally_add(t, side_pack(&number, to, dst, range));
    }
}

/* to_size: bytes from one scalar to the next, padding included. */
INLINE void soft(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                 int64_t n, struct tally *t, const struct real *to, const struct real *from,
                 int to_size)
{
    const int from_size = k->plan.src.size;
    const bool clamp = k->plan.clamp;
    struct fields s;
    struct num number;
    struct tally sum = {0, 0, 0, 0};
    int64_t i;

    for (i = 0; i < n; i++, src += from_size, dst += to_size) {
        real_load(&s, from, src);
        real_decode(&number, from, &s);
        tally_add(&sum, real_encode(&s, to, &number, clamp));
        real_store(&s, to, dst, to_size);
    }
    t->overflow += sum.overflow;
    t->inexact += sum.inexact;
    t->nan_lost += sum.nan_lost;
    t->refused += sum.refused;
}

/* (to, from) */
#define SOFT(X)            \
    X(BINARY64, IBM_HEX64) \
    X(BINARY64, IBM_HEX32) \
    X(BINARY64, VAX_D)     \
    X(BINARY64, VAX_G)     \
    X(BINARY64, VAX_F)     \
    X(BINARY64, CRAY64)    \
    X(BINARY64, M68K)      \
    X(BINARY64, X87)       \
    X(BINARY64, BINARY128) \
    X(BINARY64, BINARY32)  \
    X(BINARY64, BFLOAT16)  \
    X(BINARY64, FP8_E4M3)  \
    X(BINARY64, FP8_E5M2)  \
    X(IBM_HEX64, BINARY64) \
    X(IBM_HEX32, BINARY64) \
    X(VAX_D, BINARY64)     \
    X(VAX_G, BINARY64)     \
    X(VAX_F, BINARY64)     \
    X(CRAY64, BINARY64)    \
    X(M68K, BINARY64)      \
    X(BINARY128, BINARY64) \
    X(BINARY32, BINARY64)  \
    X(BFLOAT16, BINARY64)  \
    X(FP8_E4M3, BINARY64)  \
    X(FP8_E5M2, BINARY64)  \
    X(BINARY32, IBM_HEX32) \
    X(IBM_HEX32, BINARY32) \
    X(BINARY32, VAX_F)     \
    X(VAX_F, BINARY32)     \
    X(BINARY32, FP8_E4M3)  \
    X(FP8_E4M3, BINARY32)  \
    X(BINARY32, FP8_E5M2)  \
    X(FP8_E5M2, BINARY32)  \
    X(BINARY128, X87)      \
    X(BINARY128, M68K)     \
    X(M68K, BINARY128)

#define X(to, from)                                                                   \
    static void soft_##to##_##from(PASS_ARGS)                                         \
    {                                                                                 \
        soft(k, dst, src, n, t, &reals[DREP_FORMAT_##to], &reals[DREP_FORMAT_##from], \
             reals[DREP_FORMAT_##to].size);                                           \
    }
SOFT(X)
#undef X

/* x87 is the one that comes in three sizes. */
INLINE void soft_x87(PASS_ARGS, const struct real *from)
{
    const struct real *to = &reals[DREP_FORMAT_X87];

    if (k->plan.dst.size == 16)
        soft(k, dst, src, n, t, to, from, 16);
    else if (k->plan.dst.size == 12)
        soft(k, dst, src, n, t, to, from, 12);
    else
        soft(k, dst, src, n, t, to, from, 10);
}

static void soft_x87_binary64(PASS_ARGS)
{
    soft_x87(k, dst, src, n, t, &reals[DREP_FORMAT_BINARY64]);
}

static void soft_x87_binary128(PASS_ARGS)
{
    soft_x87(k, dst, src, n, t, &reals[DREP_FORMAT_BINARY128]);
}

pass_fn *pass_soft(int dst, int src, enum isa isa)
{
    (void)isa;
    if (dst == DREP_FORMAT_X87 && src == DREP_FORMAT_BINARY64)
        return soft_x87_binary64;
    if (dst == DREP_FORMAT_X87 && src == DREP_FORMAT_BINARY128)
        return soft_x87_binary128;
#define X(to, from)                                           \
    if (dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return soft_##to##_##from;
    SOFT(X)
#undef X
    return NULL;
}
