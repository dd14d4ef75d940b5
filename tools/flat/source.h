/* source.h - arrays and tables in files of other kinds, to be read into datasets.
 *
 * A source is one array: its datatype, its shape, and boxes of elements on demand.  What is
 * wrong with a file is said by whoever finds it, with the byte, or the line and column;
 * functions give an exit code. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_SOURCE_H
#define TOOLS_FLAT_SOURCE_H

#include <datarep.h>
#include <stdbool.h>

struct source {
    const char *file;  /* for messages */
    drep_type *type;   /* of an element as read() gives it */
    drep_type *stored; /* that a new dataset gets */
    int rank;
    int64_t dims[DREP_MAX_RANK];
    bool column_major; /* read() gives the elements of a box in that order */
    char *note;        /* kept as attribute `note_name` of a new dataset; NULL: nothing */
    const char *note_name;
    const char *order_name; /* attribute of a new dataset that says that the source has columns */
    /* Reads a box; buf is zeroed.  Together the boxes cover the array, each element once, and
     * they come in the order of the elements unless column_major. */
    int (*read)(struct source *s, const int64_t *start, const int64_t *count, void *buf);
    /* NULL, or says what stands in the file besides the array; true if something does. */
    bool (*rest)(struct source *s);
    void (*release)(struct source *s);
    void *own;
};
void source_release(struct source *s);

#endif
