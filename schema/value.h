/* value.h - values in a schema: the JSON form of SPEC.md, in YAML.
 *
 * Reals are first held as a type from which the library's conversion to the stored format
 * gives the value nearest to the text: numbers that will be stored in 32 and 64 bits as
 * such, pairs of doubles as such, vax-h and custom formats as a real of 32 bytes, all others as
 * FLOAT128 (schema/decimal.c). */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_VALUE_H
#define SCHEMA_VALUE_H

#include "schema/doc.h"
#include "schema/number.h"
#include <datarep.h>

struct encoder {
    struct complaints *c;
    drep_encoding plain[DREP_CODE_MAX + 1];   /* by code: the formats that say what it is */
    int stored[DREP_CODE_MAX + 1];            /* by code: the format it will be stored in, */
    int size[DREP_CODE_MAX + 1];              /* its size, */
    int bits[DREP_CODE_MAX + 1];              /* and its precision, as number_quad() takes it */
    struct wide_form wide[DREP_CODE_MAX + 1]; /* reals that no binary128 holds */
    /* The object at a path, 0 if there is none.  NULL: references are not looked up. */
    uint64_t (*object)(void *ctx, const char *path);
    /* True if the object exists; for checks before any is made. */
    bool (*exists)(void *ctx, const char *path);
    void *ctx;
};
/* For values in memory, of attributes and fill values: stored as the machine holds them. */
int encoder_init(struct encoder *e, struct complaints *c);
/* For values of datasets of a file in this representation. */
int encoder_store(struct encoder *e, const char *datarep);
/* Likewise, in representation `number` of that file, whether its name is known here or not. */
int encoder_store_in(struct encoder *e, const drep_file *file, int number);

/* A real, or a complex, in a format that has a predefined datatype on every machine. */
bool encoding_is_real(const drep_encoding *row);
bool encoding_is_complex(const drep_encoding *row);

/* Elements in memory. */
struct elements {
    drep_type *type; /* how they are held */
    int64_t count;
    void *buf;
};
void elements_release(struct elements *v);

/* Two doubles of this machine, whose sum is the value (new reference); a DREP_ERR_... code. */
int value_pair(drep_type **out);

/* The shape that nested lists have, where each innermost value is a scalar.  Gives the
 * rank, or -1 after complaining. */
int value_shape(struct complaints *c, const struct doc *node, int64_t *dims);
/* True if one element of the type is itself written as a list. */
bool value_is_list(const struct encoder *e, const drep_type *type);
/* rank dimensions of elements of `type`, as the type they are held as. */
bool elements_encode(const struct encoder *e, const drep_type *type, int rank, const int64_t *dims,
                     const struct doc *node, struct elements *out);
/* Like elements_encode(), in the type itself. */
bool elements_encode_exact(const struct encoder *e, const drep_type *type, int rank,
                           const int64_t *dims, const struct doc *node, struct elements *out);
/* Encode one element: the type that elements of `type` are held as (new reference), and its
 * value into one, zeroed. */
bool encoder_held(const struct encoder *e, const drep_type *type, drep_type **held);
bool encoder_put(const struct encoder *e, const drep_type *type, const drep_type *held,
                 const struct doc *node, void *at);

/* True if these are values of a dataset of that type, under some representation. */
bool value_fits(const struct encoder *e, const drep_type *type, int rank, const int64_t *dims,
                const struct doc *node);
/* Notes the library's last message about a conversion of these elements, at the value that
 * the report tells of; gives false. */
bool value_complain(struct complaints *c, const drep_type *type, int rank, const struct doc *node,
                    const drep_report *report, const char *what);

/* Infer the datatype (new reference) and shape of a plain value. Integers are INT64_T (UINT64_T
 * where they do not fit), reals DOUBLE, true and false bool(INT8_T), all else vstring. A list is
 * one of these throughout. */
bool value_guess(struct complaints *c, const struct doc *node, drep_type **type, int *rank,
                 int64_t *dims);

/* The representations of a file, malloc'ed; numbers ascend.  A DREP_ERR_... code. */
int file_datareps(const drep_file *file, drep_repinfo **list, int *n);
/* The one with this number; NULL: there is none. */
const drep_repinfo *datarep_numbered(const drep_repinfo *list, int n, int number);

#endif
