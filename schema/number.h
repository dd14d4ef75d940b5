/* number.h - numbers in text. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_NUMBER_H
#define SCHEMA_NUMBER_H

#include "base/handles.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An integer of up to 128 bits. */
struct integer {
    uint64_t high, low; /* magnitude */
    bool negative;
};
/* "-12", "0x1f", "0o17"; false if the text is none, or beyond 128 bits. */
bool number_integer(const char *text, struct integer *out);
/* Store an integer in `size` bytes of this machine; false if it does not fit. */
bool number_store(const struct integer *n, int64_t size, bool is_signed, void *out);
/* Its two's complement in 128 bits, low half. */
uint64_t number_low(const struct integer *n);
uint64_t number_high(const struct integer *n);

/* Decimal and hexadecimal numbers, nan, inf, .nan, .inf with sign, rounded once to the
 * nearest; false if the text is none, or out of range. */
bool number_double(const char *text, double *out);
bool number_float(const char *text, float *out);
/* A binary128 in this machine's byte order, for what will be stored with `bits` bits of
 * significand: it is rounded such that the library, rounding it to the nearest with so many
 * bits, gives what one rounding of the text would have given.  NUMBER_HEX128: the 109 to 112
 * bits of ibm-hex128. */
#define NUMBER_HEX128 0
bool number_quad(const char *text, int bits, void *out);
/* Formats beyond binary128.  bits: their precision, at most 114; in base 16 minus the width of
 * their significand.  least: power of two of their least normal number.  The result is a real of
 * number_wide_scalar(): 32 bytes, a precision of 114 bits and 32 bits of exponent. */
struct wide_form {
    int bits; /* 0: the format needs no such number */
    int64_t least;
};
enum { NUMBER_WIDE_SIZE = 32 };
drep_scalar number_wide_scalar(void);
bool number_wide(const char *text, struct wide_form form, void *out);
/* The double nearest to it, and the one nearest to what is left. */
bool number_pair(const char *text, double out[2]);

/* The inverse: the shortest decimal that a reader with rounding to the nearest takes for a number,
 * and of those the nearest.  The number is the integer of `words` 32-bit words (least significant
 * first, not 0) times 2^exponent; every decimal between it - 2^below and it + 2^above reads back.
 * Gives the length of `digits`, which are 0.digits * 10^*ten; 0 if NUMBER_DIGITS do not suffice, or
 * for a number whose decimal exponent is so far out that none of the functions above reads it. */
enum { NUMBER_DIGITS = 60 };
int number_digits(const uint32_t *word, size_t words, int64_t exponent, int64_t above,
                  int64_t below, char digits[NUMBER_DIGITS], int64_t *ten);

/* How YAML's core schema reads plain text. */
bool number_is_integer(const char *text);
bool number_is_real(const char *text);
/* "-0x1.8" and what may follow. */
bool number_is_hex(const char *text);
/* nan and inf in their spellings: 1 NaN, 2 infinity, 3 minus infinity, 0 neither. */
int number_special(const char *text);

#endif
