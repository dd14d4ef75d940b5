/* encoding.h - how the container stores numbers, and what of it HDF5 can say. */
#ifndef TOOLS_H5_ENCODING_H
#define TOOLS_H5_ENCODING_H

#include "tools/h5/library.h"
#include <datarep.h>
#include <stdint.h>

struct job;

struct encodings {
    drep_encoding stored[256]; /* by code, as the container's datarep stores it */
    drep_encoding plain[256];  /* by code, little-endian: of named datatypes */
    uint8_t standard[256];     /* the formats of external32 */
    int declared;              /* the representation is none of the built-in ones */
    int from_x86;              /* export: the container was made on an x86 machine */
};
/* Fills j->encodings from the header of j->d. */
int encodings_load(struct job *j);
/* The encoding in the container, or, for a named datatype, the one it is exported with. */
drep_encoding encoding_of(const struct job *j, int code, int named);

/* A real format that HDF5 can describe, by its number or by its fields; NULL if there is none. */
const drep_format_info *real_of_format(int format);
const drep_format_info *real_of_fields(const drep_scalar *s);
H5T_order_t order_native(void);
H5T_order_t order_to_hdf5(int order);

#endif
