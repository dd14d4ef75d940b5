/* memory.h - an array of Fortran as the library knows memory: an address and a datatype. */
/* SPDX-License-Identifier: MIT */
#ifndef DATAREP_FORTRAN_MEMORY_H
#define DATAREP_FORTRAN_MEMORY_H

#include "glue.h"

struct memory {
    drep_type *element; /* of one element */
    drep_type *type;    /* element, or one of all elements where there are gaps between them */
    int dense;          /* the elements are in order, with no gaps between them */
    int rank;
    int64_t len[CFI_MAX_RANK]; /* in Fortran's order */
    int64_t count;             /* elements */
};
/* Describes the array `a`, for messages about the object at `path`.  code: the predefined datatype
 * of its elements, DREP_CODE_CHARACTER with the length that `a` has; or `text` is their datatype.
 * DREP_ERR_TYPE: the datatype has another size than the elements; DREP_ERR_ARG: not allocated. */
int memory_of(const CFI_cdesc_t *a, int code, const char *text, const char *path,
              struct memory *out);
void memory_release(struct memory *m);

/* True if the array has the shape of `len`, in Fortran's order, leaving out dimensions of length 1.
 */
int memory_fits(const struct memory *m, int rank, const int64_t *len);

/* Integers of any kind from an array of rank 1; at most `max`, *n = -1 if there is no array. */
int memory_integers(const CFI_cdesc_t *a, const char *what, int max, int64_t *list, int *n);
/* "(4, 3)", in static room of the caller. */
#define MEMORY_SHAPE_TEXT 400
const char *memory_shape_text(char *text, int rank, const int64_t *len);

/* Sets the message, "PATH": and what is printed, and returns err. */
__attribute__((format(printf, 3, 4))) int refuse(int err, const char *path, const char *format,
                                                 ...);

#endif
