/* abi.h - elements as another machine, or a file, would hold them.
 *
 * Members of a compound lie where that machine's C compiler puts them, gaps are zeros;
 * under a representation that packs they lie one behind the other. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_ABI_H
#define TOOLS_TEXT_ABI_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <datarep.h>

struct abi_leaf;

struct abi {
    const struct printer *printer;
    const char *datarep;                  /* by which the library knows it */
    char stored[32];                      /* the same, of one that only the file knows */
    drep_encoding row[DREP_CODE_MAX + 1]; /* by code; size 0: it has no such type */
    drep_scalar *scalars;                 /* that rows refer to */
    int nscalars;
    /* How one element is put together. */
    struct abi_leaf *leaf;
    size_t len, cap;
    int64_t extent; /* bytes of an element there */
    int64_t stride; /* and as it was read */
};

/* Elements of the dataset's type, read as `readable` (printer_type() gave it).  datarep: "native",
 * "native:s390x", "external32", ...; "stored": as the file has them.  A DREP_ERR_... code:
 * DREP_ERR_TYPE for what has no fixed bytes, or none there. */
int abi_init(struct abi *abi, const struct printer *printer, const char *datarep,
             const drep_dsinfo *info, const drep_type *readable);
void abi_release(struct abi *abi);

/* Turns `count` elements into abi->extent bytes each at out. */
int abi_fill(const struct abi *abi, const void *elements, int64_t count, unsigned char *out);
/* The bytes of one element in hexadecimal: items apart, gaps as dots. */
void abi_put(const struct abi *abi, struct sink *s, const unsigned char *element);

#endif
