/* in.c - the slow paths of the bounded cursor: errors, kept apart so that the reads stay small. */
/* SPDX-License-Identifier: MIT */
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

void in_beyond(struct in *in, const char *why)
{
    if (in->err)
        return;
    in_fail(in, FMT_ERR_UNSUPPORTED, why);
    in->beyond = true;
}

const char *in_pass_over(struct in *in, size_t at)
{
    if (!in->beyond)
        return NULL;
    in->beyond = false;
    in->err = FMT_OK;
    in->at = at;
    return in->why;
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
    size_t left = in_left(in), n = 0;
    const uint8_t *p = in->p + in->at;
    uint64_t v = 0;

    while (n < left && n < 9 && p[n] & 0x80) {
        v |= (uint64_t)(p[n] & 0x7f) << 7 * n;
        n++;
    }
    if (n == left) {
        in->at += n;
        in_short(in);
        return 0;
    }
    in->last = in->at;
    in->at += n + 1;
    if ((n == 0 || p[n] > 0) && (n < 9 || p[n] == 1))
        return v | (uint64_t)p[n] << 7 * n;
    in_fail(in, FMT_ERR_FORMAT, "a number is not in its shortest form (R1.10)");
    return 0;
}
