/* array.h - small arrays in memory: attributes, fill values, datasets of one element.
 *
 * Large datasets never are in memory as a whole: blocks.h, stream.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_ARRAY_H
#define TOOLS_TEXT_ARRAY_H

#include "tools/text/print.h"

/* Values in memory, as printer_type() has them, with their shape. */
struct array {
    int number,
        flags; /* of an attribute that a newer version wrote; set with DREP_ERR_UNSUPPORTED */
    drep_type *shown; /* the datatype they have in the file */
    drep_type *type;  /* the one they are read as */
    int rank;         /* or DREP_NULL_SPACE */
    int64_t dims[DREP_MAX_RANK];
    int64_t count;
    void *buf;
};
/* An attribute; a dataset's fill value (rank 0).  A DREP_ERR_... code. */
int array_attr(struct array *out, const struct printer *p, const char *path, const char *name);
/* A dataset without dimensions. */
int array_dataset(struct array *out, const struct printer *p, drep_dataset *dataset,
                  const drep_dsinfo *info);
int array_fill(struct array *out, const struct printer *p, drep_dataset *dataset,
               const drep_dsinfo *info);
void array_release(struct array *v);
/* All of them, as nesting_put() does; "null" for the null space. */
void array_put(const struct array *v, const struct printer *p, struct sink *s);

/* An attribute, or with name NULL a dataset's fill value; one element of a type that
 * printer_type() gave: as a string, malloc'ed.  A DREP_ERR_... code. */
int array_text(const struct printer *p, const char *path, const char *name, char **text);
int element_text(const struct printer *p, const drep_type *type, const void *element, char **text);

#endif
