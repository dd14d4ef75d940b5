/* field.h - one member of each element: ".value", ".position.x" behind a selection.
 *
 * Elements are read by name as a compound that has this member alone; as that has the member's
 * layout, what was read is shown as the member itself. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_FIELD_H
#define TOOLS_WALK_FIELD_H

#include <datarep.h>

/* The type that values of the member are shown as: its own or, where the path goes on inside an
 * array or a sequence, one of compounds that have no other members.  A name may contain dots: the
 * longest one that fits is taken.  DREP_ERR_NOT_FOUND, DREP_ERR_NOMEM. */
int field_type(const drep_type *type, const char *path, drep_type **out);
/* The type to read it as: the compounds of `type` around `shown`. */
int field_around(const drep_type *type, const char *path, const drep_type *shown, drep_type **out);

#endif
