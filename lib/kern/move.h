/* move.h - items whose conversion only puts bytes in another order.
 *
 * A move is made once for a pair of encodings and then applied to rows of items: so many items at
 * equal steps, the rows at equal steps again or where a list says.  Gathering a tile for the
 * passes and scattering it afterwards are moves too. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_MOVE_H
#define KERN_MOVE_H

#include "base/isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Reorders the bytes of each unit of an item: mask[i] is where byte i of a unit comes
 * from, 0x80 for zero; where 16 is a multiple of the unit it covers 16 bytes. */
enum move_op { MOVE_COPY, MOVE_REVERSE, MOVE_WORDS, MOVE_MASK };
struct move {
    uint8_t op, unit, size; /* bytes of a unit; of an item */
    uint8_t isa;
    uint8_t mask[32];
};

/* unit: bytes; orders: FMT_ORDER_...; keep: bit i set if little-endian byte i is not
 * padding. */
void move_init(struct move *m, int unit, int units, int dst_order, int src_order, uint32_t keep);

/* Start of each row on one side: row r at r * stride, or at list[r]. */
struct pace {
    int64_t stride;
    const int64_t *list; /* NULL: regular */
};
INLINE int64_t pace_at(const struct pace *p, int64_t row)
{
    return p->list ? p->list[row] : row * p->stride;
}
/* `rows` rows of `per` items; the sides are apart, or the same with equal strides. */
struct kern_rows {
    uint8_t *dst;
    const uint8_t *src;
    int64_t dst_step, src_step; /* bytes between the items of a row */
    struct pace dst_pace, src_pace;
    int64_t per, rows;
    /* Numbers in the transfer: of the first item, and how they go on in a row and from
     * row to row. */
    int64_t base, step, row;
};
void move_rows(const struct move *m, const struct kern_rows *r);

#endif
