/* side.h - one side of a conversion: a scalar of any description, to a number and back.
 *
 * The descriptions are read while running, bit by bit where need be.  This general form is the
 * reference of the fast passes and converts what they leave. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_SIDE_H
#define KERN_SIDE_H

#include "base/handles.h"
#include "kern/number.h"

/* One side of a conversion: the layout of one scalar (part of a complex), once its bytes are
 * little-endian. */
enum side_kind { SIDE_INT, SIDE_BOOL, SIDE_REAL, SIDE_PAIR };
struct side {
    enum side_kind kind;
    uint8_t size;               /* bytes of the scalar, padding included */
    bool is_signed, named;      /* named: `format` is one of reals[] */
    uint16_t precision, offset; /* the bits that are the value */
    uint8_t low_pad, high_pad;  /* 1: the others are ones */
    const struct real *format;
    struct real real; /* if not named */
};

/* DREP_ERR_TYPE, with the reason, for what is no number or cannot be held. */
int side_init(struct side *side, int format, int size, const drep_scalar *custom);
void side_unpack(struct num *n, const struct side *side, const uint8_t *p);
/* range: DREP_RANGE_...; gives LOST_ bits. */
int side_pack(const struct num *n, const struct side *side, uint8_t *p, int range);
/* True if every value of `src` fits `dst`, NaNs with their payload. */
bool side_holds(const struct side *dst, const struct side *src);
/* True if every value of `src` lies in the range of `dst`, though it may be rounded. */
bool side_reaches(const struct side *dst, const struct side *src);

/* Sample values of a real format, in the order of witnesses: 0, 1, -2.5, the largest finite
 * number, a quiet NaN.  Writes `size` bytes, little-endian.  DREP_ERR_TYPE if the format is no
 * number or does not fit. */
enum rep_sample { REP_ZERO, REP_ONE, REP_MINUS, REP_LARGEST, REP_NAN };
int rep_sample(int format, int size, enum rep_sample which, uint8_t *out);

#endif
