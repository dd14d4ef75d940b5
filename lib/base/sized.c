/* sized.c - structs of callers that begin with their size, so that they can grow. */
/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include "base/error.h"

#include <stddef.h>
#include <string.h>

static const struct {
    size_t size;  /* in this version */
    size_t first; /* in the first version */
    const char *type, *macro;
} known[] = {
#define SIZED(type, macro, last) \
    {sizeof(type), offsetof(type, last) + sizeof(((type *)0)->last), #type, macro},
#include "base/sized.def"
#undef SIZED
};

static size_t size_of(const void *p)
{
    size_t size;

    memcpy(&size, p, sizeof size);
    return size;
}

int sized_check(enum sized kind, const void *p, const char *call)
{
    if (!p)
        return fail(DREP_ERR_ARG, "%s: null argument", call);
    if (size_of(p) < known[kind].first)
        return fail(DREP_ERR_ARG, "%s: a %s of %zu bytes: initialise it with %s", call,
                    known[kind].type, size_of(p), known[kind].macro);
    return 0;
}

int sized_get(enum sized kind, const void *from, void *own, const char *call)
{
    size_t size = known[kind].size, have;
    int err = sized_check(kind, from, call);

    if (err)
        return err;
    have = size_of(from);
    for (size_t i = size; i < have; i++)
        if (((const char *)from)[i] != 0)
            return fail(DREP_ERR_UNSUPPORTED,
                        "%s: byte %zu of the %s is set: it was made for a newer library", call, i,
                        known[kind].type);
    memset(own, 0, size);
    memcpy(own, from, have < size ? have : size);
    return 0;
}

void sized_put(enum sized kind, const void *own, void *to)
{
    size_t size = known[kind].size, room = size_of(to);

    memcpy(to, own, room < size ? room : size);
    if (room > size)
        memset((char *)to + size, 0, room - size);
    memcpy(to, &room, sizeof room);
}

int xfer_begin(struct xfer *x, const drep_xfer *from, const char *call)
{
    int err;

    x->use = NULL;
    x->to = NULL;
    if (!from)
        return 0;
    if ((err = sized_get(SIZED_drep_xfer, from, &x->own, call)))
        return err;
    if (x->own.report && (err = sized_check(SIZED_drep_report, x->own.report, call)))
        return err;
    x->use = &x->own;
    x->to = x->own.report;
    if (!x->to)
        return 0;
    x->report = (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
    x->own.report = &x->report;
    return 0;
}

int xfer_end(struct xfer *x, int err)
{
    if (x->to)
        sized_put(SIZED_drep_report, &x->report, x->to);
    return err;
}
