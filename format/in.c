/* in.c - the slow paths of the bounded cursor: errors, kept apart so that the reads stay small. */
#include "format/in.h"

int in_fail(struct in *in, int err, const char *why)
{
    if (!in->err) {
        in->err = err;
        in->err_at = in->last;
        in->why = why;
    }
    return in->err;
}

const uint8_t *in_short(struct in *in)
{
    if (!in->err) {
        in->last = in->at;
        in_fail(in, FMT_ERR_FORMAT, "truncated record (R1.6)");
    }
    return NULL;
}

uint64_t in_var_long(struct in *in)
{
    size_t start = in->at;
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t *p = in_bytes(in, 1);

        if (!p)
            return 0;
        v |= (uint64_t)(*p & 0x7f) << shift;
        if (*p & 0x80)
            continue;
        in->last = start;
        if ((shift && *p == 0) || (shift == 63 && *p > 1))
            break;
        return v;
    }
    in->last = start;
    in_fail(in, FMT_ERR_FORMAT, "a number is not in its shortest form (R1.10)");
    return 0;
}

uint32_t in_var32(struct in *in)
{
    uint64_t v = in_var(in);

    if (v > UINT32_MAX) {
        in_fail(in, FMT_ERR_FORMAT, "a number is beyond 2^32 - 1 (R1.10)");
        return 0;
    }
    return (uint32_t)v;
}
