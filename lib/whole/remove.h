/* remove.h - removing objects with all that only they hold. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_REMOVE_H
#define WHOLE_REMOVE_H

#include "file/file.h"

/* Take one hard link from an object; remove the object if it was the last. */
int object_unlink(drep_file *f, uint64_t id);
/* Remove an object that nothing leads to any more. */
int object_remove(drep_file *f, uint64_t id);

#endif
