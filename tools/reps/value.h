/* value.h - values and datatypes to try a representation with. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REPS_VALUE_H
#define TOOLS_REPS_VALUE_H

#include "tools/reps/subject.h"

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *r);
int random_below(struct random *r, int n);

enum values { VALUES_SMALL, VALUES_EDGE, VALUES_RANDOM };
/* Number of small or edge values of a datatype; and puts one of them as this machine
 * holds it.  Every representation of a datatype holds the small values. */
int value_count(const struct subject *s, int code, enum values kind);
void sample_put(const struct subject *s, int code, enum values kind, int i, struct random *r,
                void *item);
/* True if both are the same value; all NaNs are equal. */
bool value_same(const struct subject *s, int code, const void *a, const void *b);
/* As text, for a message. */
const char *value_text(const struct subject *s, int code, const void *item, char text[80]);

/* Gives a datatype references to spare, so that a function which gives one away is found
 * by the check that looks for it and by no other. */
void type_spare(drep_type *type);
/* A datatype made of what the subject holds, at random: gaps, blocks, members in any
 * order. */
drep_type *type_random(const struct subject *s, struct random *r, int depth);
/* Bytes from the start of a buffer to the end of `tiles` elements. */
int64_t type_span(const drep_type *type, int64_t tiles);
/* Fills the bytes with a pattern and every item of the tiles with a value. */
void type_fill(const struct subject *s, const drep_type *type, int64_t tiles, enum values kind,
               struct random *r, uint8_t gap, void *buf);
/* Offsets of the items in the packed bytes of the tiles, for i = 0..items*tiles. */
void type_offsets(const struct subject *s, const drep_type *type, int64_t tiles, int64_t *offset);

#endif
