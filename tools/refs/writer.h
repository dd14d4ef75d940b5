/* writer.h - the state while a document is written, and its entries. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_WRITER_H
#define TOOLS_REFS_WRITER_H

#include "tools/refs/codec.h"
#include "tools/refs/element.h"
#include "tools/refs/refs.h"
#include "tools/text/printer.h"
#include <datarep.h>

/* A file with chunks other than the one that is open. */
struct other_file {
    uint32_t number;
    char *target; /* NULL: not to be written down */
};

struct refs_writer {
    struct refs_job *refs;
    drep_file *file;
    struct sink *sink;
    struct printer printer;
    bool any;  /* an entry was written */
    char *key; /* the last one */
    size_t key_room;
    struct other_file *other;
    size_t nother, other_room;
};

/* An object or, with a name, its attribute is left out: counts it and says why. */
void writer_left_out(struct refs_writer *w, const char *path, const char *why);
/* Says what a reader of the dataset should know. */
void writer_note(const struct refs_writer *w, const char *path, const char *note);
#define NOTE_ORDER                                                                               \
    "its chunks are not in the order of the grid; fsspec before 2024.2 may mix them up, unless " \
    "max_gap and max_block are large; `datarep convert` puts them in order"
/* Begins an entry: the key is that of the object at `path` and `name` in it. */
void writer_key(struct refs_writer *w, const char *path, const char *name);
/* A whole entry: the JSON text that the sink has in memory. */
void writer_document(struct refs_writer *w, const char *path, const char *name,
                     const struct sink *text);
/* What the rest of an entry is: a place, or bytes. */
void writer_place(struct refs_writer *w, const char *target, int64_t offset, int64_t size);
void writer_bytes(struct refs_writer *w, const void *bytes, size_t size);

/* The attributes of an object, with `dimensions` (a JSON list; NULL: none) as _ARRAY_DIMENSIONS and
 * without the one that is `hidden` (NULL: none).  A DREP_ERR_... code. */
int attributes_put(struct refs_writer *w, const char *path, const char *dimensions,
                   const char *hidden);

/* A dataset while its entries are written. */
struct array_writer {
    struct refs_writer *w;
    const char *path;
    drep_dataset *dataset;
    const drep_dsinfo *info;
    struct refs_element element;
    struct codecs codecs;
    int rank; /* and shape with those of an element that is an array */
    int64_t dims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    int64_t items;   /* in an element */
    int64_t payload; /* bytes of a chunk before filters */
    uint8_t *fill;   /* an element, in the file's order */
    bool whole;      /* no element reads as fill for want of a chunk */
    char why[REFS_WHY];
};

/* Writes the chunks of a dataset whose elements have a dtype, and decides about chunk, codecs and
 * whole.  A DREP_ERR_... code, or 0 and a->why says why it is left out. */
int chunked_put(struct array_writer *a);
int contiguous_put(struct array_writer *a);
int inline_put(struct array_writer *a);
/* Reads `count` elements from `start` on as the file has them, in a block of `room` elements of
 * each dimension (NULL: count), of which the others are fill; malloc'ed. */
int elements_block(struct array_writer *a, const int64_t *start, const int64_t *count,
                   const int64_t *room, uint8_t **out);
/* Chunks that are not stored are written all the same while they have no more bytes than this:
 * fsspec 2022 fails where none is there, and xarray takes a fill value for a missing one. */
#define INLINE_FILL (INT64_C(1) << 20)
/* Chunks that cannot be said otherwise are written inline, all of a dataset together up to this. */
#define INLINE_MOST (INT64_C(64) << 20)
/* Where the bytes are that `at` names; NULL: the file may not be written down. */
const char *stored_target(const struct array_writer *a, const drep_stored *at);
/* "3.0.1" for the chunk that begins at `start`. */
void refs_chunk_key(const struct array_writer *a, const int64_t *start, char *text, size_t room);
#define REFS_KEY (DREP_MAX_RANK * 21)

#endif
