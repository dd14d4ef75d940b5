/* text.h - texts: strings of a fixed size become char *, and the other way.
 *
 * The padding of a string says where its text ends; a text gets the padding of its string.  A text
 * that the other side cannot hold (longer than the string; a NUL inside, where a char * or a string
 * of DREP_PAD_NULTERM would end) is out of range: an error under DREP_RANGE_STRICT, else what fits
 * of it, in whole characters, and counted in the report.  A text whose last spaces or NULs become
 * padding is inexact.
 *
 * A vstring is also a sequence of CHAR, BYTE or UINT8_T, whose bytes may hold what ends a char *.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_TEXT_H
#define CONV_TEXT_H

#include "rep/convert.h"

/* True if both are strings or vstrings, and one of them is a string. */
static inline bool texts(const drep_type *a, const drep_type *b)
{
    return (a->kind == FMT_KIND_STRING && b->kind == FMT_KIND_STRING) ||
           (a->kind == FMT_KIND_STRING && b->kind == FMT_KIND_VSTRING) ||
           (a->kind == FMT_KIND_VSTRING && b->kind == FMT_KIND_STRING);
}

/* True if one is a vstring and the other a sequence of bytes or characters. */
bool text_and_bytes(const drep_type *a, const drep_type *b);

/* Bytes of the text in n of a string with this padding. */
size_t text_size(int pad, const void *bytes, size_t n);

/* DREP_ERR_COUNT for a sequence in memory that says it has elements, but not where. */
int sequence_check(const drep_vlen *v);
/* A vstring in memory: its n bytes.  DREP_ERR_COUNT: a drep_vlen that cannot be. */
int text_get(const drep_type *vstring, const void *at, const void **bytes, size_t *n);
/* Makes one of n bytes, of which there may be none, in new memory; `item` numbers it.
 * DREP_ERR_CONVERSION, DREP_ERR_NOMEM; nothing is written then. */
int text_put(const struct rep_opts *opts, int64_t item, const drep_type *vstring, void *at,
             const void *bytes, size_t n);
/* Writes a text as a string.  DREP_ERR_CONVERSION. */
int text_give(const struct rep_opts *opts, int64_t item, const void *text, size_t size,
              const drep_type *string, void *bytes);

#endif
