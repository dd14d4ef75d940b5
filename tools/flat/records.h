/* records.h - Fortran's sequential unformatted files: records between two lengths.
 *
 * A length has 4 or 8 bytes in either order.  With 4 bytes a record may be in several
 * pieces, as gfortran makes them: the length before a piece is negative if another
 * follows, the one behind it if another came before. */
#ifndef TOOLS_FLAT_RECORDS_H
#define TOOLS_FLAT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct records {
    const char *file; /* for messages */
    int fd;
    int64_t size;              /* of the file */
    int width;                 /* bytes of a length */
    bool big;                  /* in big-endian order */
    int64_t count, payload;    /* records; bytes in them, without lengths */
    int64_t shortest, longest; /* record */
    int64_t at, left;          /* reading: place in the file, what is left of the piece there */
    struct file_window *window;
};

/* "fortran" (whichever fits the whole file), or "4-little", "4-big", "8-little", "8-big";
 * false if `how` is none of these. */
bool records_form(const char *how, int *width, bool *big);
/* Reads all lengths once, and checks them.  The caller keeps the descriptor.  0, or an exit
 * code after saying what is wrong, and at which byte. */
int records_open(struct records *out, const char *file, int fd, const char *how);
void records_release(struct records *r);
/* The next bytes of the records one behind the other; there are payload of them. */
int records_read(struct records *r, void *buf, size_t size);

/* The length before or behind a record, as bytes; gives how many. */
size_t records_mark(int width, bool big, int64_t length, unsigned char *out);

#endif
