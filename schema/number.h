/* number.h - numbers in text. */
#ifndef SCHEMA_NUMBER_H
#define SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* An integer of up to 128 bits. */
struct integer {
    uint64_t high, low; /* magnitude */
    bool negative;
};
/* "-12", "0x1f", "0o17"; false if the text is none, or beyond 128 bits. */
bool number_integer(const char *text, struct integer *out);
/* Whether it fits `size` bytes; then its bytes as this machine holds them. */
bool number_store(const struct integer *n, int64_t size, bool is_signed, void *out);
/* Its two's complement in 128 bits, low half. */
uint64_t number_low(const struct integer *n);
uint64_t number_high(const struct integer *n);

/* Decimal and hexadecimal numbers, nan, inf, .nan, .inf with sign. */
bool number_double(const char *text, double *out);
bool number_float(const char *text, float *out);
/* A binary128 in this machine's byte order. */
bool number_quad(const char *text, void *out);

/* How YAML's core schema reads plain text. */
bool number_is_integer(const char *text);
bool number_is_real(const char *text);

#endif
