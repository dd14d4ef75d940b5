/* value.h - values in a schema: the JSON form of SPEC.md, in YAML.
 *
 * Reals are first held as a type in which nothing is lost: numbers of 32 and 64 bits as
 * such, narrower ones as DOUBLE, wider ones as FLOAT128 (decimal digits are taken as a
 * binary64, "0x1.8p+1" exactly).  The library then converts. */
#ifndef SCHEMA_VALUE_H
#define SCHEMA_VALUE_H

#include "schema/doc.h"

struct encoder {
    struct complaints *c;
    drep_encoding plain[DREP_CODE_MAX + 1]; /* by code: the formats that say what it is */
    /* The object at a path, 0 if there is none.  NULL: references are not looked up. */
    uint64_t (*object)(void *ctx, const char *path);
    /* Whether there is such an object, for checks before any is made. */
    bool (*exists)(void *ctx, const char *path);
    void *ctx;
};
int encoder_init(struct encoder *e, struct complaints *c);

/* Elements in memory. */
struct elements {
    drep_type *type; /* how they are held */
    int64_t count;
    void *buf;
};
void elements_release(struct elements *v);

/* The shape that nested lists have, where each innermost value is a scalar.  Gives the
 * rank, or -1 after complaining. */
int value_shape(struct complaints *c, const struct doc *node, int64_t *dims);
/* Whether one element of the type is itself written as a list. */
bool value_is_list(const struct encoder *e, const drep_type *type);
/* rank dimensions of elements of `type`, as the type they are held as. */
bool value_encode(const struct encoder *e, const drep_type *type, int rank, const int64_t *dims,
                  const struct doc *node, struct elements *out);
/* The same, in the type itself. */
bool value_encode_exact(const struct encoder *e, const drep_type *type, int rank,
                        const int64_t *dims, const struct doc *node, struct elements *out);

/* What a plain value is: its datatype (new reference) and shape.  Integers are INT64_T
 * (UINT64_T where they do not fit), reals DOUBLE, true and false bool(INT8_T), all else
 * vstring.  Lists are one of these throughout. */
bool value_guess(struct complaints *c, const struct doc *node, drep_type **type, int *rank,
                 int64_t *dims);

#endif
