/* npy.h - NumPy's array files: their header, and how its dtypes and our datatypes go
 * together.
 *
 * Elements pass through up to three types: FILE, the bytes as they lie in the file; NUMBERS,
 * the same items as this machine holds them, into which the library converts; STORED, what a
 * dataset has.  The last two differ only in complex numbers (pairs among NUMBERS, in the same
 * bytes) and in texts (code points among NUMBERS, a vstring when STORED). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_NPY_H
#define TOOLS_FLAT_NPY_H

#include "base/handles.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_FRONT 12                     /* bytes that tell how long the header is */
#define NPY_HEADER_MAX ((size_t)1 << 20) /* bytes of the header that are read */
#define NPY_DEPTH_MAX 32                 /* dtypes within dtypes */

struct npy_field;

struct npy_dtype {
    char kind;     /* b i u f c S U V M m as NumPy has it; '{': fields */
    char order;    /* '<', '>' or '|' */
    int64_t size;  /* bytes of one, without the block */
    char unit[32]; /* of M and m: "[ns]", may be "" */
    int rank;      /* a block of such, 0: one */
    int64_t dims[DREP_MAX_RANK];
    struct npy_field *field;
    size_t nfields;
};

struct npy_field {
    char *name;  /* UTF-8 */
    char *title; /* NULL: none */
    bool pad;    /* bytes without a meaning */
    int64_t offset;
    struct npy_dtype type;
};

struct npy {
    struct npy_dtype dtype;
    bool fortran; /* elements in column-major order */
    int rank;
    int64_t dims[DREP_MAX_RANK];
    int64_t count; /* elements */
    int64_t data;  /* byte of the file at which they begin */
    int64_t size;  /* bytes they take */
};

/* Attributes of a dataset that was imported: its dtype, where ours would be another, and "fortran"
 * for elements in column-major order. */
#define NPY_DESCR "npy_descr"
#define NPY_ORDER "npy_order"

/* How long the header is, with all before it, from the first NPY_FRONT bytes; 0 after saying
 * why (a constant string) the file is none, or is beyond what is read. */
size_t npy_header_size(const unsigned char *front, const char **why);
/* The reason that npy_read() gives for a dtype that is well-formed and cannot be read. */
#define NPY_OBJECTS "it holds Python objects, which only Python can read"
/* Takes a whole header apart.  0, or the byte of the file where it is wrong, and why (in a
 * buffer of 256). */
size_t npy_read(struct npy *out, const unsigned char *bytes, size_t size, char *why);
/* A header for these, malloc'ed; NULL when there is no memory. */
char *npy_write(const struct npy *npy, size_t *size);
void npy_release(struct npy *npy);

/* A dtype as text, as it stands in a header; malloc'ed. */
char *npy_descr(const struct npy_dtype *dtype);
/* And back; false if it is wrong. */
bool npy_descr_read(struct npy_dtype *out, const char *text);
void npy_dtype_release(struct npy_dtype *dtype);
/* Bytes of an element, block and all. */
int64_t npy_item_size(const struct npy_dtype *dtype);

struct npy_types {
    drep_type *file, *numbers, *stored;
    bool text; /* `numbers` and `stored` lie differently in memory */
};
/* A DREP_ERR_... code. */
int npy_types(const struct npy_dtype *dtype, struct npy_types *out);
void npy_types_release(struct npy_types *types);

/* The dtype for elements of a dataset; text: code points of the longest vstring, 0 where
 * not known yet.  *what is what has none, *exact false where values are rounded. */
bool npy_dtype_of(const drep_type *type, int64_t text, struct npy_dtype *out, const char **what,
                  bool *exact);

/* Texts from code points, and the other way round: `count` elements.  A DREP_ERR_... code;
 * on DREP_ERR_CONVERSION *at is the element with a code point that is none, or a text longer
 * than its room. */
int npy_texts_in(const struct npy_types *types, int64_t count, const void *numbers, void *stored,
                 int64_t *at);
int npy_texts_out(const struct npy_types *types, int64_t count, const void *stored, void *numbers,
                  int64_t *at);
/* Code points in the longest text of so many elements. */
int64_t npy_texts_longest(const drep_type *type, int64_t count, const void *elements);

#endif
