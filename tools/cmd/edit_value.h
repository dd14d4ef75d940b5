/* edit_value.h - the value of an attribute, as a command line has it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_EDIT_VALUE_H
#define TOOLS_CMD_EDIT_VALUE_H

#include "base/handles.h"

/* An attribute that is to be written. */
struct edit_value {
    const char *path, *name; /* the object and the attribute */
    const char *type;        /* one line, as in schemas; NULL: not said */
    const char *text;        /* the value */
};

/* Writes it.  Without a type that is said: what is a number there becomes a number of the same
 * type, which must hold it, and a text there a text, padded as it is; anything else gets the type
 * that a schema gives such a value.  An exit code after saying what is wrong. */
int edit_value_write(drep_file *file, const char *file_name, const struct edit_value *value);

#endif
