/* encoding.h - how the container stores numbers, and what of it HDF5 can say. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ENCODING_H
#define TOOLS_H5_ENCODING_H

#include "tools/h5/library.h"
#include <datarep.h>
#include <stdint.h>

struct job;

struct encodings {
    drep_encoding stored[256]; /* by code, as the representation in use stores it */
    drep_encoding plain[256];  /* by code, little-endian: of named datatypes */
    uint8_t standard[256];     /* the formats of external32 */
    int declared;              /* the representation in use is none of the built-in ones */
    int from_x86;              /* export: the container was made on an x86 machine */
    int number;                /* of the representation in use, -1: the file may not have it yet */
    char standing[DREP_MAX_DATAREP_STRING]; /* the default one, that of attributes */
};
/* Fills j->encodings from the header of j->d, with the default representation. */
int encodings_load(struct job *j);
/* Puts a representation of the container in use, by its name and its number or -1; NULL and 0:
 * the default one. */
int encodings_use(struct job *j, const char *datarep, int number);
/* The encoding in the container, or, for a named datatype, the one it is exported with. */
drep_encoding encoding_of(const struct job *j, int code, int named);

/* A real format that HDF5 can describe, by its number or by its fields; NULL if there is none. */
const drep_format_info *real_of_format(int format);
const drep_format_info *real_of_fields(const drep_scalar *s);
H5T_order_t order_native(void);
H5T_order_t order_to_hdf5(int order);

#endif
