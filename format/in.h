/* in.h - the bounded cursor that every decoder reads with.
 *
 * The first error sticks: later reads give zeros and move nothing, so a decoder
 * reads like its table in SPEC.md, with one check at the end.  `at` of the error
 * counts from the start of the buffer; the caller adds where that lies.  The reads
 * are inline because the tree decodes whole nodes with them. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_IN_H
#define FORMAT_IN_H

#include "format/byteorder.h"
#include "format/numbers.h"

struct in {
    const uint8_t *p;
    size_t size;
    size_t at;
    size_t last;     /* where the last field read begins */
    bool beyond;     /* the error is a value beyond a limit */
    int err;         /* enum fmt_err of the first error */
    size_t err_at;   /* byte of it */
    const char *why; /* constant text of it */
};

static inline void in_init(struct in *in, const void *p, size_t size)
{
    /* A pointer even for no bytes, so that NULL from in_bytes() always is an error. */
    *in = (struct in){.p = p ? p : (const void *)"", .size = p ? size : 0};
}
/* Record an error at the last field read, unless one is recorded; returns the first. */
int in_fail(struct in *in, int err, const char *why);
/* The gate of all limits: refuse v > max. */
#define IN_LIMIT(in, v, max, what, rule) in_limit(in, (v) > (max), FMT_BEYOND(what, rule))
/* Record FMT_ERR_UNSUPPORTED with that text, unless an error is recorded. */
void in_beyond(struct in *in, const char *why);
static inline void in_limit(struct in *in, bool beyond, const char *why)
{
    if (beyond)
        in_beyond(in, why);
}
/* If the error is a value beyond a limit, clear it and go on at byte `at`: the rest is kept as it
 * is.  Returns the error's text, or NULL. */
const char *in_pass_over(struct in *in, size_t at);
/* Slow path of in_bytes(): a read beyond the end. */
const uint8_t *in_short(struct in *in);

static inline size_t in_left(const struct in *in)
{
    return in->err ? 0 : in->size - in->at;
}

/* The next n bytes in place; NULL (and FMT_ERR_FORMAT) if fewer are left. */
static inline const uint8_t *in_bytes(struct in *in, size_t n)
{
    if (in->err || n > in->size - in->at)
        return in_short(in);
    in->last = in->at;
    in->at += n;
    return in->p + in->last;
}

static inline uint8_t in_u8(struct in *in)
{
    const uint8_t *p = in_bytes(in, 1);

    return p ? *p : 0;
}

static inline uint16_t in_u16(struct in *in)
{
    const uint8_t *p = in_bytes(in, 2);

    return p ? load_u16(p) : 0;
}

static inline uint32_t in_u32(struct in *in)
{
    const uint8_t *p = in_bytes(in, 4);

    return p ? load_u32(p) : 0;
}

static inline uint64_t in_u64(struct in *in)
{
    const uint8_t *p = in_bytes(in, 8);

    return p ? load_u64(p) : 0;
}

static inline int64_t in_i64(struct in *in)
{
    return (int64_t)in_u64(in);
}

/* Slow path of in_var(): more than three bytes, or none, or not the shortest form. */
uint64_t in_var_long(struct in *in);
/* A number in groups of 7 bits, the lowest first, in as few bytes as hold it. */
static inline uint64_t in_var(struct in *in)
{
    size_t left = in_left(in), n;
    const uint8_t *p = in->p + in->at;
    uint32_t v;

    if (left > 0 && p[0] < 0x80) {
        v = p[0], n = 1;
    } else if (left > 1 && p[1] < 0x80 && p[1] > 0) {
        v = (p[0] & 0x7fu) | (uint32_t)p[1] << 7, n = 2;
    } else if (left > 2 && p[1] >= 0x80 && p[2] < 0x80 && p[2] > 0) {
        v = (p[0] & 0x7fu) | (p[1] & 0x7fu) << 7 | (uint32_t)p[2] << 14, n = 3;
    } else {
        return in_var_long(in);
    }
    in->last = in->at;
    in->at += n;
    return v;
}
/* Like in_var(), but refuses numbers of more than 32 bits. */
static inline uint32_t in_var32(struct in *in)
{
    uint64_t v = in_var(in);

    if (v <= UINT32_MAX)
        return (uint32_t)v;
    in_fail(in, FMT_ERR_FORMAT, "a number is beyond 2^32 - 1 (R1.10)");
    return 0;
}

/* Bytes of a record that are kept where they are. */
struct span {
    const uint8_t *p;
    size_t len;
};

static inline void span_get(struct in *in, size_t len, struct span *out)
{
    out->p = in_bytes(in, len);
    out->len = out->p ? len : 0;
}

#endif
