/* num.h - one number of any type, as it lies in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_NUM_H
#define TOOLS_TEXT_NUM_H

#include "tools/text/printer.h"

/* 128 bits in two's complement. */
struct wide {
    uint64_t high, low;
    bool is_signed;
};

/* An integer of the machine's own; one of a predefined type or a scalar. */
struct wide num_machine_int(const void *at, int64_t size, bool is_signed);
struct wide num_int(const struct printer *p, const drep_type *type, const void *at);

/* True if elements of this type are numbers: integers, reals, booleans, enums, characters,
 * complex ones; and whether doubles hold all of them to the last digit but few. */
bool num_is(const struct printer *p, const drep_type *type);
bool num_fits(const struct printer *p, const drep_type *type);
/* DREP_FORMAT_... of a predefined type in memory; 0: of a type without a code. */
int num_code_format(const struct printer *p, const drep_type *type);
/* DREP_FORMAT_... of a real, as it is read; 0 of every other number. */
int num_format(const struct printer *p, const drep_type *type);
/* The description of a real that is read as it is stored, for real_load(); NULL for others. */
const drep_scalar *num_own(const drep_type *type);
/* The value of what is no real: an integer, a character's code, 0 or 1, an enum's value. */
struct wide num_integer(const struct printer *p, const drep_type *type, const void *at);

/* A number as the sum of two doubles: exact up to 106 bits. */
struct double_pair {
    double value, rest; /* value: the nearest double */
};
struct double_pair num_of_int(struct wide w);
/* From a real in one of the formats that are read (DREP_FORMAT_...). */
struct double_pair num_of_real(int format, const void *at);
/* True if a real is this integer, to the last bit. */
bool num_same_int(struct wide w, int format, const void *at);
/* From any type that num_is() accepts; for a complex number its magnitude. */
struct double_pair num_value(const struct printer *p, const drep_type *type, const void *at);
/* a - b, rounded once and a little. */
double num_difference(struct double_pair a, struct double_pair b);

#endif
