/* header.h - the header proper as a handle keeps it: representations (reps.h), hints, writer.
 *
 * Records and fields that this version does not know are kept and written again. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_HEADER_H
#define FILE_HEADER_H

#include "base/buf.h"
#include "chunk/chunks.h"
#include "conv/file_rep.h"
#include "space/store.h"

#include <pthread.h>

/* A text that drep_header_get() lent out before drep_refresh() replaced it. */
struct old_text {
    struct old_text *next;
    char *text;
};

struct header {
    char *writer;
    struct old_text *old;
    struct buf unknown;        /* records of tags that we do not know */
    pthread_mutex_t rows_lock; /* of what drep_header_types() lends out */
};

/* Decodes the store's header; the opener's hints. */
int header_load(drep_file *f, const drep_info *info);
/* Starts the header of a new file: with a representation by its name as the default, or with that
 * of `like` and its stored hints. */
int header_start(drep_file *f, const char *datarep);
int header_start_like(drep_file *f, const drep_file *like, const drep_info *info);
void header_release(drep_file *f);

/* The header of the commit that the store moved to, in a handle of its own beside f;
 * header_exchange() then swaps what may differ, which cannot fail. */
int header_reload(drep_file *f, drep_file **out);
void header_exchange(drep_file *f, drep_file *reloaded);
void header_reload_free(drep_file *reloaded);

/* Encodes the header; split: bytes of it that stand in the slot. */
int header_build(drep_file *f, struct buf *out, size_t *split);

#endif
