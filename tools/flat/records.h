/* records.h - files of records: Fortran's sequential unformatted ones, and IBM's.
 *
 * Fortran has a length of 4 or 8 bytes, in either order, before and after each record.  With 4
 * bytes a record may be in several pieces, as gfortran makes them: the length before a piece is
 * negative if another follows, the one behind it if another came before.
 *
 * IBM's variable-length records have a descriptor of 4 bytes before each piece (RDW, SDW) and, in
 * VB and VBS, before each block (BDW).  Lengths are big-endian and include their descriptor; of a
 * block, the first bit tells a length of 31 bits from one of 15.  The third byte of a piece's is
 * its segment code: 0 a whole record, 1 its first piece, 2 its last, 3 one between. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RECORDS_H
#define TOOLS_FLAT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_form {
    const char *name;
    int width;    /* bytes of a length, or of a descriptor; 0: whichever fits the whole file */
    bool big;     /* in big-endian order */
    bool ibm;     /* descriptors; else lengths on both sides */
    bool blocked; /* with descriptors of blocks */
    bool spanned; /* in pieces, where a record does not fit a block */
};
#define RECORD_FORMS "fortran, 4-little, 4-big, 8-little, 8-big, V, VB or VBS"
/* "fortran" (width 0), "4-little", "VBS", ...; NULL if `how` is none of these. */
const struct record_form *records_form(const char *how);

/* A place between two pieces. */
struct record_place {
    int64_t at;    /* byte of the file */
    int64_t block; /* where the block ends */
    bool inside;   /* of a record */
};

struct records {
    const char *file; /* for messages */
    int fd;
    int64_t size; /* of the file */
    const struct record_form *form;
    int64_t count, payload; /* records; bytes in them, without lengths */
    bool checked;           /* all lengths were */
    /* The piece that is being read: its bytes, and of the payload before it. */
    struct record_place behind;
    int64_t at, length, before;
    struct record_mark *marks; /* places to begin at, in their order */
    size_t nmarks, room;
    struct file_window *window;
};

/* Reads all lengths once, and checks them; IBM's records must be whole elements of `item` bytes.
 * The caller keeps the descriptor.  0, or an exit code after saying what is wrong, and at which
 * byte. */
int records_open(struct records *out, const char *file, int fd, const char *how, int64_t item);
void records_release(struct records *r);
/* Bytes of the records one behind the other, `position` bytes after the first; there are payload
 * of them.  Fast if the position ascends from call to call. */
int records_read(struct records *r, int64_t position, void *buf, size_t size);
/* The byte of the file where this byte of the payload is; -1 if it is not to be read. */
int64_t records_byte(struct records *r, int64_t position);

/* A length of so many bytes; gives the width. */
size_t records_mark(int width, bool big, int64_t length, unsigned char *out);

#endif
