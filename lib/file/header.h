/* header.h - the header proper: which representation a file has, and whether it can be spoken here.
 *
 * Resolution at open: a table in the header always wins and is scoped to the file; then what is
 * built in; then what is registered.  Functions found under a name must agree with the header's
 * extents and turn its witnesses back into their values, so that another representation of the same
 * name cannot be mistaken for it.
 *
 * Records and fields that this version does not know are kept and written again. */
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
    int form;       /* enum fmt_form */
    unsigned flags; /* bit 0: elements are laid out as C structs are */
    char *writer, *machine;
    struct old_text *old;
    bool used[DREP_CODE_MAX + 1]; /* predefined types in use by datasets */
    struct buf witness[DREP_CODE_MAX + 1];
    struct buf unknown;     /* records of tags that we do not know */
    struct buf later[4];    /* what a later version put behind our DATAREP, EXTENTS, ENCODINGS,
                               WITNESSES */
    struct datarep *scoped; /* owned; made from the header's table */

    pthread_mutex_t rows_lock;
    drep_encoding rows[DREP_CODE_MAX + 1]; /* lent out by drep_header_types() */
    int nrows;
};

/* Decodes the store's header and resolves its representation; the opener's hints. */
int header_load(drep_file *f, const drep_info *info);
/* Starts the header of a new file: with a representation by its name, or with that of `like` and
 * its stored hints. */
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
/* A dataset begins to use this type: its codes enter the table of extents. */
int header_use(drep_file *f, const drep_type *type);

#endif
