/* note.h - notes: attributes of converters, not of the user.
 *
 * An attribute whose name begins with NOTE_PREFIX is a note: what a converter keeps about an object
 * and wants back.  Listings leave notes out unless they are asked for; a converter writes its own
 * and no others. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_NOTE_H
#define SCHEMA_NOTE_H

#include <stdbool.h>
#include <string.h>

#define NOTE_PREFIX "drep."
/* Notes of import from HDF5 and netCDF: bookkeeping of theirs follows by its own name. */
#define NOTE_HDF5 NOTE_PREFIX "hdf5:"

static inline bool is_note(const char *name)
{
    return strncmp(name, NOTE_PREFIX, sizeof NOTE_PREFIX - 1) == 0;
}

#endif
