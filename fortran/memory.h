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
    /* Texts of another length, or padded otherwise, than those that are stored go through a copy,
     * which the transfer works on: `size` bytes each, padded as `pad` says.  NULL: they do not. */
    char *texts;
    int64_t size;
    int pad;
};
/* Describes the array `a`, for messages about the object at `path`.  code: the predefined datatype
 * of its elements, DREP_CODE_CHARACTER with the length that `a` has; or `text` is their datatype,
 * and code the bytes that the program believes them to have.
 * DREP_ERR_TYPE: elements of that datatype have another size, or are something else in Fortran;
 * DREP_ERR_ARG: not allocated. */
int memory_of(const CFI_cdesc_t *a, int code, const char *text, const char *path,
              struct memory *out);
/* memory_of() for elements of the datatype `stored`.  Where these are single characters, as netCDF
 * has texts, those of the array are, too, and its texts lie along a first dimension of their
 * length.  Where they are texts of a fixed length, DREP_ERR_CONVERSION if the array is to get
 * (`reads`) longer ones than it holds. */
int memory_for(const CFI_cdesc_t *a, int code, const char *text, const drep_type *stored, int reads,
               const char *path, struct memory *out);
void memory_release(struct memory *m);
/* The buffer of a transfer from or to the array. */
void *memory_buffer(const struct memory *m, const CFI_cdesc_t *a);
/* Before a write: copies texts into the buffer.  DREP_ERR_CONVERSION: one is too long. */
int memory_put(const struct memory *m, const CFI_cdesc_t *a, const char *path);
/* After a read: copies texts out of it. */
void memory_get(const struct memory *m, const CFI_cdesc_t *a);
/* Calls fn for each element, in Fortran's order. */
void memory_each(const CFI_cdesc_t *a, void (*fn)(char *element, void *ctx), void *ctx);

/* What Fortran calls a value of a datatype: CFI_type_Integer, ..., CFI_type_struct; 0: nothing. */
int memory_class(const drep_type *type);

/* True if the array has the shape of `len`, in Fortran's order, leaving out dimensions of length 1.
 */
int memory_fits(const struct memory *m, int rank, const int64_t *len);

/* DREP_ERR_TYPE if an array that may have any type has characters.  A compiler passes the length of
 * such an array as one more hidden argument, which an argument of type(*) does not have (gfortran
 * 12): the lengths of the characters behind it are those of their neighbours, and none of them, nor
 * errmsg, may be used.  Asked first in each procedure that has both. */
DREP_API int drep_fortran_texts(const CFI_cdesc_t *values, const CFI_cdesc_t *start,
                                const CFI_cdesc_t *count, const CFI_cdesc_t *stride,
                                const CFI_cdesc_t *maxshape, const CFI_cdesc_t *chunk);

/* Integers of any kind from an array of rank 1, or a scalar, for the object at `path`; at most
 * `max`, *n = -1 if there is no array. */
int memory_integers(const CFI_cdesc_t *a, const char *path, const char *what, int max,
                    int64_t *list, int *n);
/* "(4, 3)", in static room of the caller. */
#define MEMORY_SHAPE_TEXT 400
const char *memory_shape_text(char *text, int rank, const int64_t *len);

/* The open file of a box, or NULL with a message (DREP_ERR_ARG) about the object at `path`. */
drep_file *file_for(const struct fortran_file *box, const char *path);
/* Sets the message, "PATH": and what is printed, and returns err. */
__attribute__((format(printf, 3, 4))) int refuse(int err, const char *path, const char *format,
                                                 ...);
/* Every function of the module ends with this and gives err: the message, one of ours or of the
 * library's, begins with the file's name and has the object's path (NULL: it is about none). */
int about(int err, const struct fortran_file *file, const char *path);
int about_file(int err, const char *name);

#endif
