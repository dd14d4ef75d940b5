/* sized.c - structs of callers that begin with their size, so that they can grow. */
/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include "base/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
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

static const struct {
    enum sized kind;
    const char *type, *member;
    size_t offset, size;
    int64_t low, high;
} valued[] = {
#define VALUES(type, member, low, high) \
    {SIZED_##type, #type, #member, offsetof(type, member), sizeof(((type *)0)->member), low, high},
#include "base/values.def"
#undef VALUES
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
    return sized_valid(kind, own, call);
}

int value_valid(const char *call, const char *what, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high)
        return 0;
    return fail(DREP_ERR_ARG,
                high == INT_MAX ? "%s: %s %lld; at least %lld"
                                : "%s: %s %lld; %lld to %lld are known",
                call, what, (long long)value, (long long)low, (long long)high);
}

int order_valid(const char *call, int order)
{
    return value_valid(call, "order", order, DREP_BY_NAME, DREP_BY_CREATION);
}

/* Members are int or int64_t. */
int sized_valid(enum sized kind, const void *own, const char *call)
{
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        const char *at = (const char *)own + valued[i].offset;
        char what[64];
        int64_t value;
        int narrow;

        if (valued[i].kind != kind)
            continue;
        memcpy(&narrow, at, sizeof narrow);
        value = narrow;
        if (valued[i].size == sizeof value)
            memcpy(&value, at, sizeof value);
        if (value >= valued[i].low && value <= valued[i].high)
            continue;
        snprintf(what, sizeof what, "%s.%s", valued[i].type, valued[i].member);
        return value_valid(call, what, value, valued[i].low, valued[i].high);
    }
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
    x->own.size = 0;
    if (!from)
        return 0;
    err = sized_get(SIZED_drep_xfer, from, &x->own, call);
    if (x->own.size)
        x->use = &x->own;
    if (!err && x->own.report)
        err = sized_check(SIZED_drep_report, x->own.report, call);
    if (err)
        return err;
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
