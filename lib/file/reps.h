/* reps.h - the representations of a file, which its datasets name by number.
 *
 * A header of 1 MiB may have 65,536 of them, so that what few have is allocated where it is used.
 * Opening a file reads all of them and resolves none.  A table in the header always wins and is
 * scoped to the file; what has no table is built in.  The functions of form 2 are looked up when a
 * dataset is opened: they must agree with the header's extents and turn its witnesses back into
 * their values, so that another representation of the same name cannot be mistaken for it.
 *
 * Entries are only ever added, and stay where they are for the life of the handle: datasets and
 * cached types point to them.  A failed operation takes back those that it added. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_REPS_H
#define FILE_REPS_H

#include "base/buf.h"
#include "conv/file_rep.h"
#include "format/header.h"

#include <stdatomic.h>

struct file_datarep {
    struct file_rep rep; /* as the header describes it: of form 2 without functions */
    uint16_t number;
    uint8_t form, flags;
    bool later; /* form or flags of a later version, or beyond the limits of this one: */
    const char *beyond;
    struct buf record; /* as it is written: then as it was read, else made when it is needed */
    char *machine;     /* that made it, "" if nobody says */
    /* By predefined type: in use by datasets; the same when the operation under way began; rows
     * that only a later version understands. */
    bool used[FMT_CODE_MAX + 1], used_before[FMT_CODE_MAX + 1];
    struct encoding_rec *later_row;   /* NULL: there are none */
    struct encoding_rec bytes_row[2]; /* of BYTE and PACKED as they were read; size 0: none */
    struct buf scalars;               /* SCALARS as it was read */
    struct buf *witness;              /* by predefined type; NULL: there are none */
    struct buf unknown;               /* nested records of tags that we do not know */
    struct buf tail[3];     /* what a later version put behind our EXTENTS, ENCODINGS, WITNESSES */
    struct datarep *scoped; /* owned; made from the table */
    _Atomic(struct file_rep *) resolved; /* form 2: with functions, once they were found */
    drep_encoding *rows;                 /* lent out by drep_header_types(), or NULL */
    int nrows;
    struct file_datarep *next; /* of those that reps_drop_new() has put away */
};

struct file_reps {
    struct file_datarep **list; /* ascending numbers, 0 first */
    size_t n, room;
    size_t before; /* n when the operation under way began */
    size_t stored; /* n of the commit that the handle has moved to last */
    struct file_datarep *forgotten;
};

/* Reads the records of a header into f's empty list. */
int reps_load(drep_file *f, const struct header_rec *h);
/* Encodes all of them into `to` and sets the header's spans, which point into it. */
int reps_put(drep_file *f, struct header_rec *h, struct buf *to);
void file_reps_release(drep_file *f);

/* The row of a code that only a later version understands, or NULL. */
static inline const struct encoding_rec *rep_later_row(const struct file_datarep *e, int code)
{
    return e->later_row && e->later_row[code].later ? &e->later_row[code] : NULL;
}

/* Finds or adds the representation of this name; one with an equal table has its number.
 * DREP_ERR_UNSUPPORTED_DATAREP, DREP_ERR_LIMIT. */
int rep_add(drep_file *f, const char *name, struct file_datarep **out);
/* Finds or adds one equal to that of another file, which need not be known by name here. */
int rep_add_like(drep_file *f, const struct file_datarep *like, struct file_datarep **out);
/* Look up a representation by its number, also one that only a later version understands; NULL:
 * there is none. */
struct file_datarep *rep_numbered(const drep_file *f, uint32_t number);
/* Look up the representation that a dataset's record names.  DREP_ERR_FORMAT;
 * DREP_ERR_UNSUPPORTED_DATAREP: only a later version understands it. */
int rep_get_number(const drep_file *f, uint32_t number, struct file_datarep **out);
/* *out: with its functions, or without where the file was opened for its header only.
 * DREP_ERR_UNSUPPORTED_DATAREP: they are not here, or are another representation's. */
int rep_resolved(drep_file *f, struct file_datarep *e, const struct file_rep **out);

/* A dataset begins to use this type: its codes enter the table of extents. */
int rep_use(drep_file *f, struct file_datarep *e, const drep_type *type);
/* DREP_ERR_FORMAT: the extents do not list a code of the type; DREP_ERR_UNSUPPORTED: only a later
 * version understands its row. */
int rep_lists(const struct file_datarep *e, const drep_type *type);
/* True for equal tables, or functions of one name with equal witnesses. */
bool rep_same(const struct file_datarep *a, const struct file_datarep *b);
/* Are stored items of this type the same bytes under both?  Tables are compared; of functions the
 * name and the witnesses. */
bool rep_same_items(const struct file_datarep *a, const struct file_datarep *b,
                    const drep_type *type);

/* Two processes compare these to find out whether a name means the same representation in both.
 * The digest of the representation, whatever it is used for. */
int rep_digest(const struct file_datarep *e, uint64_t *digest);
/* The digest of the witnesses of one type; 0: there are none.  Functions that fail show fewer
 * values, so only digests of equally many can tell: rep_witnesses_differ(). */
uint64_t rep_witnesses(const struct file_datarep *e, int code);
static inline bool rep_witnesses_differ(uint64_t a, uint64_t b)
{
    return a != b && a % 256 == b % 256;
}

/* Note the list when an operation begins; restore it when the operation fails. */
void reps_note(drep_file *f);
void reps_take_back(drep_file *f);

/* Put away those that were added since the last commit, which will be read again with the numbers
 * that they have there; datasets may still point to them. */
void reps_drop_new(drep_file *f);
/* The reloaded list must have all of f's entries, unchanged but for more types in use.  Then f has
 * room for its new ones, and reps_exchange() cannot fail. */
int reps_compare(drep_file *f, const drep_file *reloaded);
void reps_exchange(drep_file *f, drep_file *reloaded);

/* Set the staging size of all representations (hint cb_buffer_size). */
void reps_staging(drep_file *f, int64_t size);
/* The default representation of a file. */
#define file_default(f) ((f)->reps.list[0])

#endif
