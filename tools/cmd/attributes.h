/* attributes.h - attributes of a group, copied without the group's members. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_ATTRIBUTES_H
#define TOOLS_CMD_ATTRIBUTES_H

#include <datarep.h>
#include <stdbool.h>

/* True if elements of this type refer to objects of their file. */
bool attributes_refer(const drep_type *type);
/* Copy the attributes of the root group of `from` to that of `to`, in the order of their creation,
 * without import's notes (schema/note.h).  One that refers to objects is left out and told to
 * how->unknown, one that a newer version wrote to how->left_out, or, if that is NULL, it fails the
 * copy.  A DREP_ERR_... code. */
int attributes_copy(drep_file *from, drep_file *to, const drep_copying *how);

#endif
