/* mapping_note.h - mappings of a virtual dataset as notes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_MAPPING_NOTE_H
#define TOOLS_H5_MAPPING_NOTE_H

#include "tools/h5/mapping.h"
#include "tools/h5/note.h"

#define MAPPING_TEXT 2048 /* bytes of a selection in a note */

/* One mapping as its notes have it. */
struct noted_mapping {
    char from[MAPPING_TEXT], to[MAPPING_TEXT]; /* selections */
    const char *file, *dataset;
};
/* Adds the three lines of mapping i. */
int mapping_note(struct job *j, const struct mapping *m, size_t i, struct notes *r);
/* Reads the three lines of mapping i, from line `at` on; false if they are others. */
int mapping_noted(const struct notes *r, size_t at, size_t i, struct noted_mapping *m);
/* Makes the selection that a note names; false if HDF5 has none like it in this dataspace. */
int select_noted(const char *text, hid_t space);

#endif
