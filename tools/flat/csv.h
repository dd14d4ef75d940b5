/* csv.h - comma-separated values, as RFC 4180 has them.
 *
 * Records end with LF or CRLF.  A field in quotes may hold anything, a quote twice; one
 * without has no quotes inside.  The text is UTF-8, with or without a byte order mark. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_CSV_H
#define TOOLS_FLAT_CSV_H

#include "tools/text/sink.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_RECORD_MAX ((size_t)64 << 20) /* bytes of a record */

struct csv_field {
    char *text; /* ends with a NUL besides */
    size_t size;
    int line, column; /* where it begins, from 1; columns are bytes */
    bool quoted;
};

struct csv {
    const char *file; /* for messages */
    int fd;
    char delimiter;
    /* The record read last. */
    struct csv_field *field;
    size_t fields;
    /* The rest is the reader's. */
    size_t field_room, start_room, text_len, text_room;
    char *text;
    size_t *start; /* of each field in text */
    char *buf;
    size_t len, at;
    int line, column;
    bool end;
};

/* Begins at the front of the file; the descriptor stays the caller's.  0, or an exit code
 * after saying. */
int csv_open(struct csv *out, const char *file, int fd, char delimiter);
/* Reads the next record that is not an empty line.  0 with no fields: there is none. */
int csv_next(struct csv *csv);
/* Back to the front. */
int csv_rewind(struct csv *csv);
void csv_release(struct csv *csv);

/* "datarep: FILE: line L, column C: ..."; gives TOOL_CORRUPT. */
int csv_wrong(const struct csv *csv, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A field, in quotes where it needs them. */
void csv_put(struct sink *s, const char *text, size_t size, char delimiter);

#endif
