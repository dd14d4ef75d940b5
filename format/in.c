/* in.c - the bounded cursor that every decoder reads with. */
#include "format/in.h"

void in_init(struct in *in, const void *p, size_t size)
{
    /* A pointer even for no bytes, so that NULL from in_bytes() always is an error. */
    *in = (struct in){.p = p ? p : (const void *)"", .size = p ? size : 0};
}

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
        in_fail(in, FMT_ERR_FORMAT, "record ends too early");
    }
    return NULL;
}
