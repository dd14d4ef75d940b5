/* reference.h - what conversions of single items must give, by arithmetic alone.
 *
 * Written from SPEC.md, 5.1 to 5.3, and the MPI standard's table of external32.  It knows
 * how to read a format and finds what to write by searching among all its numbers for the
 * nearest; it shares no table and no line with the library, and it is slow.
 *
 * `le` are the bytes of one scalar, least significant first, 16 at most. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "tests/unit/bytes.h"

#include <datarep.h>
#include <stdbool.h>

#ifdef __SIZEOF_INT128__
#define HAVE_REFERENCE 1

__extension__ typedef unsigned __int128 u128;
#define ONE ((u128)1)

/* ---- reals */

enum ref_kind { IEEE, E4M3, X87, M68K, HEX, CRAY, VAX, PAIR };
struct ref_format {
    int id; /* DREP_FORMAT_... */
    enum ref_kind kind;
    int bytes, exp_bits, sig_bits, bias;
};
enum { REF_FORMATS = 20 };
extern const struct ref_format ref_formats[REF_FORMATS];
#define REF_BINARY64 (&ref_formats[5])

enum ref_cls { NUMBER, INFINITE, NOT };
/* m * 2^e; of a NaN m is its fraction, left-aligned. */
struct ref_val {
    enum ref_cls cls;
    bool neg;
    u128 m;
    int e;
};

u128 ref_number(const uint8_t *le, int bytes);
void ref_bytes(uint8_t *le, int bytes, u128 n);
u128 ref_mask(int bits);
struct ref_val ref_value(bool neg, u128 m, int e);
/* Value i of the format's numbers that are not negative, in ascending order; how many
 * there are. */
struct ref_val ref_nth(const struct ref_format *f, u128 i);
u128 ref_count(const struct ref_format *f);
/* Of a pair: exact as long as the two are close. */
struct ref_val ref_read(const struct ref_format *f, const uint8_t *le);
/* Gives what was lost; TO_NUMBER: a NaN became one. */
enum { OVER = 1, INEXACT = 2, LOST = 4, TO_NUMBER = 8 };
int ref_write(const struct ref_format *f, struct ref_val x, bool clamp, uint8_t *le);
/* A scalar of the format: edges, any bits, or a common number, by i % 16. */
void ref_sample(const struct ref_format *f, struct rnd *r, int64_t i, uint8_t *le);
/* Puts bytes in order; pair: of two numbers, each by itself. */
void ref_reorder(uint8_t *out, const uint8_t *le, int bytes, int order, bool pair);

/* ---- items of predefined types */

enum ref_class { REF_BYTES, REF_INT, REF_UINT, REF_BOOL, REF_REAL };
struct ref_item {
    enum ref_class cls;
    int parts, size; /* size: of one part */
    int order;
    const struct ref_format *real;
    int low, bits; /* integers: the bits that are the value; bits 0: all */
};

/* How an item lies under "native", "external32", "internal" or one of the machines that
 * the reference knows; false: not that one. */
bool ref_item_of(struct ref_item *out, const char *datarep, int code);
const struct ref_format *ref_format_of(int id, int bytes);
/* Converts one item; integers that do not fit lose their upper bits (E5). */
void ref_convert(uint8_t *dst, const struct ref_item *to, const uint8_t *src,
                 const struct ref_item *from);
/* An item with a value that its representation writes: padding is zero. */
void ref_random(const struct ref_item *item, struct rnd *r, uint8_t *out);

#endif
#endif
