/* type_note.h - the datatype of ours that an exported file states.
 *
 * Several datatypes of ours are one of HDF5's: LONG and INT64_T, C_BOOL and bool(INT8_T).  Where
 * import would make another than the container has, export writes the text of its own as an
 * attribute beside the data: drep.type, or drep.type:NAME for that of the attribute NAME. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_TYPE_NOTE_H
#define TOOLS_H5_TYPE_NOTE_H

#include "tools/h5/job.h"
#include "tools/h5/library.h"
#include "tools/h5/verify.h"
#include <datarep.h>

/* True if an attribute of this name is such a text. */
int is_type_note(const char *name);
/* Export: state `type`, which HDF5 has as `made`, if import would make another of it.  attribute:
 * its name in HDF5; NULL: the data of the object, or a named datatype. */
int type_note_write(struct job *j, hid_t object, const char *attribute, hid_t made,
                    const drep_type *type);
/* Read it back. */
int type_note_check(struct job *j, const struct verified *at, hid_t object, const char *attribute,
                    hid_t made, const drep_type *type);
/* Import: the datatype that is stated, if HDF5's is what export makes of it; *type is NULL without
 * one. */
int type_note_read(struct job *j, hid_t object, const char *attribute, hid_t made,
                   drep_type **type);

#endif
