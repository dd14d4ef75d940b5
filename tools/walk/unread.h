/* unread.h - the marks of elements that an import could not read, or did not try.
 *
 * They are lines of the attribute "drep.hdf5:remarks" of a dataset (datarep-import(1)), "unread
 * COUNT BOX REASON": COUNT is "?" if it is not known, BOX a slice, or "-" for any place.
 * Chunks that nobody decoded have a mark of the format's own (DREP_STORED_UNDECODED). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_UNREAD_H
#define TOOLS_WALK_UNREAD_H

#include <datarep.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unread_mark {
    int64_t elements; /* -1: not known */
    char box[1400];   /* "" for any place */
    const char *why;  /* in the line */
};

/* False if the line is another note. */
bool unread_parse(const char *line, struct unread_mark *out);
/* A sentence about the mark. */
void unread_text(const struct unread_mark *m, char *text, size_t size);

/* Non-zero stops, and is the result. */
typedef int unread_fn(const char *path, const struct unread_mark *mark, void *ctx);
/* Calls fn for each mark of the object at `path`.  An attribute of another type has none. */
int unread_each(drep_file *file, const char *path, unread_fn *fn, void *ctx);
/* The same for the datasets at and below `path`; one whose marks cannot be read is skipped. */
int unread_below(drep_file *file, const char *path, unread_fn *fn, void *ctx);

/* Chunks of a dataset that their writer did not decode; non-zero stops. */
typedef int undecoded_fn(const char *path, int64_t chunks, void *ctx);
/* Calls fn for each dataset at and below `path` that has such chunks. */
int undecoded_below(drep_file *file, const char *path, undecoded_fn *fn, void *ctx);
/* The stored chunks that have filters, of all datasets at and below `path`. */
int filtered_below(drep_file *file, const char *path, int64_t *chunks);

#endif
