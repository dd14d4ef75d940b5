/* keep.h - what a container has no place for, kept in attributes of its objects. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_KEEP_H
#define TOOLS_H5_KEEP_H

#include "tools/h5/source.h"

int keep_defaults(struct job *j);
/* Lines about the object number i, those that its links need included. */
int keep_object(struct job *j, hid_t object, size_t i, struct notes *r);
int keep_mapping(struct job *j, const char *path, const struct h5_source *s, struct notes *r);
int keep_file(struct job *j, struct notes *r);

/* The circles that import has kept, as links with ids for targets; for free(), their
 * names too. */
int circles_read(struct job *j, const char *path, struct odd_link **links, size_t *n);

#endif
