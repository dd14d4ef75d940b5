/* note.h - the attributes of ours that keep what a container has no place for.
 *
 * The attribute KEEP_NOTES holds lines about one object (datarep(1), "HDF5"). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NOTE_H
#define TOOLS_H5_NOTE_H

#include "tools/h5/library.h"
#include "schema/note.h"
#include <stddef.h>
#include <stdint.h>

struct job;

/* The attributes of ours that hold what a container has no place for. */
#define KEEP_NOTES NOTE_HDF5 "remarks"
#define KEEP_NAMED NOTE_HDF5 "named"
#define KEEP_CIRCLES NOTE_HDF5 "circles"
#define KEEP_USER_BLOCK NOTE_HDF5 "userblock"
/* Whether an attribute of a container is a note that HDF5 files do not have: bookkeeping. */
int is_annotation(const char *name);

/* Lines about one object, as its attribute REMARKS holds them (datarep(1), "HDF5"). */
struct notes {
    char **line;
    size_t n, room;
};

/* How the note of an attribute's maximum shape begins: lengths, "*" for no limit, and its name. */
#define ATTRIBUTE_MOST "attribute-max"

int notes_add(struct job *j, struct notes *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void notes_release(struct notes *r);
/* Writes the attribute of the object at `path`, none for no lines. */
int notes_write(struct job *j, const struct notes *r, const char *path);
/* Reads it; without one there are no lines. */
int notes_read(struct job *j, const char *path, struct notes *r);
/* Text after `begin` and a space in the first line that begins so; NULL if none does. */
const char *notes_find(const struct notes *r, const char *begin);
/* The lines of a datatype: those that begin with `kind` and, if given, end with the name
 * of an attribute, without either; sorted for note_of(). */
int notes_of_type(struct job *j, const struct notes *r, const char *kind, const char *name,
                  struct notes *out);
/* Look up the value in sorted lines "PLACE WORD=VALUE"; NULL if there is none. */
const char *note_of(const struct notes *r, const char *place, const char *word);
/* The name in HDF5 of a link or attribute that import renamed, from the note that begins with
 * `kind`; NULL: its own.  malloc'ed. */
char *notes_old_name(const struct notes *r, const char *kind, const char *name);
/* Bytes as hex digits and back; malloc'ed. */
char *hex_from(const void *bytes, size_t size);
uint8_t *hex_to(const char *text, size_t digits, size_t *size);

#endif
