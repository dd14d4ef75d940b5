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
        in_fail(in, FMT_ERR_FORMAT, "truncated record");
    }
    return NULL;
}
