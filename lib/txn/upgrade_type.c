/* upgrade_type.c - a datatype record of draft 4 as one of today.
 *
 * The record is copied node by node, by a decoder of draft 4's alone; only a scalar of class
 * integer or bits with more than 16 bytes becomes another node.  A node that would not be one today
 * over an opaque, an enum or a boolean, goes. */
/* SPDX-License-Identifier: MIT */
#include "txn/upgrade_type.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>

enum { OLD_DEPTH = 64 }; /* nodes in one another */

struct type_copy {
    struct in in;
    struct buf *out;
    int err;
};

/* Copy n bytes; NULL after an error. */
static const uint8_t *copy_bytes(struct type_copy *c, uint64_t n)
{
    const uint8_t *p = c->err || n > in_left(&c->in) ? NULL : in_bytes(&c->in, (size_t)n);

    if (!p && !c->err)
        c->err = fail(DREP_ERR_FORMAT, "draft 4: a datatype record is truncated (R1.6)");
    if (p)
        c->err = buf_add(c->out, p, (size_t)n);
    return c->err ? NULL : p;
}

static uint64_t copy_number(struct type_copy *c, int size)
{
    const uint8_t *p = copy_bytes(c, (uint64_t)size);
    uint64_t n = 0;

    for (int i = 0; p && i < size; i++)
        n = n << 8 | p[i];
    return n;
}

/* Copy n rows of `size` bytes. */
static void copy_rows(struct type_copy *c, uint64_t n, int size)
{
    if (n > in_left(&c->in))
        n = UINT64_MAX / 64; /* more than there can be */
    copy_bytes(c, n * (uint64_t)size);
}

/* The node of a scalar from `at` on in `out`; true: it has become an opaque. */
static bool copy_scalar(struct type_copy *c, size_t at)
{
    const uint8_t *s = copy_bytes(c, FMT_SCALAR_SIZE);
    struct out o;
    uint8_t node[12 + 128];
    char tag[128];
    int n;

    if (!s || s[0] == FMT_SCALAR_REAL || s[2] <= FMT_INT_SIZE_MAX)
        return false;
    n = snprintf(tag, sizeof tag, "hdf5:%s,%s,", s[0] == FMT_SCALAR_INT ? "integer" : "bits",
                 s[1] == FMT_ORDER_BIG   ? "big"
                 : s[1] == FMT_ORDER_VAX ? "vax"
                                         : "little");
    if (s[0] == FMT_SCALAR_INT)
        n += snprintf(tag + n, sizeof tag - (size_t)n, "signed=%d,", s[3] == 1);
    n += snprintf(tag + n, sizeof tag - (size_t)n, "precision=%d,offset=%d", load_u16(s + 8),
                  load_u16(s + 10));
    if (s[6] || s[7])
        n += snprintf(tag + n, sizeof tag - (size_t)n, ",pad=%d/%d", s[6], s[7]);
    out_init(&o, node, sizeof node);
    out_u8(&o, FMT_KIND_OPAQUE);
    out_u8(&o, 0);
    out_u64(&o, s[2]);
    out_u16(&o, (uint16_t)n);
    out_bytes(&o, tag, (size_t)n);
    c->out->len = at;
    c->err = buf_add(c->out, node, o.at);
    return true;
}

static bool copy_node(struct type_copy *c, int depth);

/* The base of an enum or a boolean, whose node begins at `at`: over an opaque it is that. */
static bool copy_base(struct type_copy *c, size_t at, int depth)
{
    size_t base = c->out->len;

    if (!copy_node(c, depth))
        return false;
    memmove(c->out->p + at, c->out->p + base, c->out->len - base);
    c->out->len -= base - at;
    return true;
}

static void copy_members(struct type_copy *c, int kind, int depth)
{
    uint64_t n = copy_number(c, kind == FMT_KIND_STRUCT ? 8 : 4);

    if (kind == FMT_KIND_COMPOUND)
        copy_number(c, 8);
    for (uint64_t i = 0; !c->err && i < n; i++) {
        if (kind == FMT_KIND_COMPOUND)
            copy_bytes(c, copy_number(c, 2));
        copy_bytes(c, kind == FMT_KIND_STRUCT ? 16 : 8);
        copy_node(c, depth);
    }
}

/* The fields of a node before its child; true if it has one. */
static bool copy_fields(struct type_copy *c, int kind)
{
    uint64_t n;

    switch (kind) {
    case FMT_KIND_ARRAY:
        copy_rows(c, copy_number(c, 1), 8);
        return true;
    case FMT_KIND_CONTIGUOUS:
        copy_number(c, 8);
        return true;
    case FMT_KIND_VECTOR:
    case FMT_KIND_HVECTOR:
        copy_bytes(c, 24);
        return true;
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
        copy_rows(c, copy_number(c, 8), 16);
        return true;
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        n = copy_number(c, 8);
        copy_number(c, 8);
        copy_rows(c, n, 8);
        return true;
    case FMT_KIND_SUBARRAY:
        n = copy_number(c, 1);
        copy_number(c, 1);
        copy_rows(c, n, 24);
        return true;
    case FMT_KIND_DARRAY:
        n = copy_number(c, 1);
        copy_bytes(c, 9);
        copy_rows(c, n, 21);
        return true;
    case FMT_KIND_RESIZED:
        copy_bytes(c, 16);
        return true;
    default:
        return kind == FMT_KIND_SEQUENCE || kind == FMT_KIND_DUP;
    }
}

/* True if the node is an opaque that was a scalar. */
static bool copy_node(struct type_copy *c, int depth)
{
    size_t at = c->out->len;
    int kind = (int)copy_number(c, 1);

    copy_number(c, 1);
    if (c->err || depth > OLD_DEPTH) {
        copy_bytes(c, in_left(&c->in));
        return false;
    }
    if (kind == FMT_KIND_SCALAR)
        return copy_scalar(c, at);
    if (kind == FMT_KIND_ENUM)
        for (uint64_t n = copy_number(c, 4); !c->err && n > 0; n--) {
            copy_bytes(c, copy_number(c, 2));
            copy_number(c, 8);
        }
    if (kind == FMT_KIND_ENUM || kind == FMT_KIND_BOOLEAN)
        return copy_base(c, at, depth + 1);
    if (kind == FMT_KIND_COMPOUND || kind == FMT_KIND_STRUCT)
        copy_members(c, kind, depth + 1);
    else if (copy_fields(c, kind))
        copy_node(c, depth + 1);
    else if (kind == FMT_KIND_PREDEFINED)
        copy_number(c, 2);
    else if (kind == FMT_KIND_STRING)
        copy_bytes(c, 9);
    else if (kind == FMT_KIND_REFERENCE)
        copy_number(c, 1);
    else if (kind == FMT_KIND_OPAQUE && copy_bytes(c, 8))
        copy_bytes(c, copy_number(c, 2));
    return false;
}

int upgrade_type(const struct span *old, struct buf *out)
{
    struct type_copy c = {.out = out};

    in_init(&c.in, old->p, old->len);
    copy_number(&c, 8); /* uses */
    copy_node(&c, 1);
    copy_bytes(&c, in_left(&c.in)); /* behind the last field, or of a kind that nobody knows */
    return c.err;
}
