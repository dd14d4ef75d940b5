/* buf.c - a growing array of bytes that one owner uses for many values. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/regions.h"

#include <datarep.h>
#include <string.h>

int buf_grow(struct buf *b, uint64_t size)
{
    uint64_t want = b->size > 0 ? b->size : size < 64 ? 64 : size; /* what grows grows by more */
    uint8_t *p;

    while (want < size)
        want = want > PTRDIFF_MAX / 2 ? size : want * 2;
    p = b->region ? mem_alloc(want) : mem_resize(b->p, want, 1);
    if (!p)
        return DREP_ERR_NOMEM;
    if (b->region) {
        memcpy(p, b->p, b->size);
        region_give(b->region, b->p);
        b->region = NULL;
    }
    b->p = p;
    b->size = (size_t)want;
    return 0;
}

int buf_room(struct buf *b, uint64_t size)
{
    b->len = 0;
    if (size <= b->size && b->p)
        return 0;
    buf_release(b);
    b->p = mem_array(size ? size : 1, 1);
    if (!b->p)
        return DREP_ERR_NOMEM;
    b->size = (size_t)(size ? size : 1);
    return 0;
}

void buf_take(struct buf *b, struct regions *m, uint64_t size)
{
    uint64_t all = (size + REGION_UNIT - 1) / REGION_UNIT * REGION_UNIT;
    void *p;

    if (all < REGION_LARGE || all > PTRDIFF_MAX)
        return;
    p = region_take(m, (size_t)all, &b->region);
    if (!p)
        return;
    b->p = p;
    b->size = (size_t)all;
}

int buf_set(struct buf *b, const void *p, size_t len)
{
    int err = buf_reserve(b, len);

    if (err)
        return err;
    if (len)
        memcpy(b->p, p, len);
    b->len = len;
    return 0;
}

void buf_release(struct buf *b)
{
    if (b->region)
        region_give(b->region, b->p);
    else
        mem_free(b->p);
    *b = (struct buf){0};
}

static int out_grow(struct out *out, size_t need)
{
    struct buf b = {.p = out->p, .len = out->at, .size = out->size};
    int err = buf_reserve(&b, need);

    if (err)
        return err;
    out->p = b.p;
    out->size = b.size;
    return 0;
}

void buf_out(struct buf *b, struct out *out)
{
    out_init(out, b->p, b->size);
    out->grow = out_grow;
}

int buf_done(struct buf *b, const struct out *out)
{
    b->p = out->p;
    b->size = out->size;
    if (out->err)
        return out->err == DREP_ERR_NOMEM
                   ? out->err
                   : fail(out->err, "cannot encode: %s", drep_strerror(out->err));
    b->len = out->at;
    return 0;
}
