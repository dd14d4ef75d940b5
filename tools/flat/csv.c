/* csv.c - comma-separated values. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/csv.h"
#include "base/vec.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/sink.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER 65536

int csv_wrong(const struct csv *csv, int line, int column, const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    tool_say(csv->file, NULL, "line %d, column %d: %s", line, column, message);
    return TOOL_CORRUPT;
}

static int fill(struct csv *csv)
{
    ssize_t n;

    do
        n = read(csv->fd, csv->buf, BUFFER);
    while (n < 0 && errno == EINTR);
    csv->at = 0;
    csv->len = n > 0 ? (size_t)n : 0;
    csv->end = n == 0;
    if (n >= 0)
        return 0;
    tool_say(csv->file, NULL, "%s", strerror(errno));
    return TOOL_IO;
}

int csv_rewind(struct csv *csv)
{
    int status;

    if (lseek(csv->fd, 0, SEEK_SET) != 0) {
        tool_say(csv->file, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    csv->line = csv->column = 1;
    status = fill(csv);
    if (status || csv->len < 2)
        return status;
    if (memcmp(csv->buf, "\377\376", 2) == 0 || memcmp(csv->buf, "\376\377", 2) == 0)
        return csv_wrong(csv, 1, 1,
                         "this is UTF-16; `iconv -f UTF-16 -t UTF-8` makes a table of it");
    if (csv->len >= 3 && memcmp(csv->buf, "\357\273\277", 3) == 0)
        csv->at = 3;
    return 0;
}

int csv_open(struct csv *out, const char *file, int fd, char delimiter)
{
    struct csv csv = {.file = file, .fd = fd, .delimiter = delimiter, .buf = malloc(BUFFER)};
    int status = csv.buf ? csv_rewind(&csv) : tool_no_memory();

    if (status)
        csv_release(&csv);
    else
        *out = csv;
    return status;
}

void csv_release(struct csv *csv)
{
    free(csv->buf);
    free(csv->text);
    free(csv->start);
    free(csv->field);
    *csv = (struct csv){0};
}

/* The next byte without taking it, -1 at the end, -2 after a failure that was said. */
static int csv_peek(struct csv *csv)
{
    if (csv->at == csv->len && !csv->end && fill(csv))
        return -2;
    return csv->at < csv->len ? (unsigned char)csv->buf[csv->at] : -1;
}

static void csv_advance(struct csv *csv)
{
    if (csv->buf[csv->at++] == '\n') {
        csv->line++;
        csv->column = 1;
    } else {
        csv->column++;
    }
}

static int csv_keep_char(struct csv *csv, char c)
{
    if (csv->text_len == CSV_RECORD_MAX)
        return csv_wrong(csv, csv->line, csv->column, "a record has at most 64 MiB");
    if (VEC_ROOM(csv->text, csv->text_len, csv->text_room, 1))
        return tool_no_memory();
    csv->text[csv->text_len++] = c;
    return 0;
}

static int begin_field(struct csv *csv, bool quoted)
{
    if (VEC_ROOM(csv->field, csv->fields, csv->field_room, 1) ||
        VEC_ROOM(csv->start, csv->fields, csv->start_room, 1))
        return tool_no_memory();
    csv->start[csv->fields] = csv->text_len;
    csv->field[csv->fields++] =
        (struct csv_field){.line = csv->line, .column = csv->column, .quoted = quoted};
    return 0;
}

/* A carriage return stands before a line feed, or in quotes: other ends of lines, which old
 * Macintoshes wrote, would make one record of a whole file. */
static int take_return(struct csv *csv)
{
    int line = csv->line, column = csv->column, c;

    csv_advance(csv);
    c = csv_peek(csv);
    if (c == -2)
        return TOOL_IO;
    if (c == '\n' || c == -1)
        return 0;
    return csv_wrong(csv, line, column,
                     "a carriage return without a line feed; if lines end so, `tr '\\r' '\\n'` "
                     "makes a table of it");
}

static int quoted_field(struct csv *csv)
{
    int line = csv->line, column = csv->column, c, status = 0;

    csv_advance(csv);
    while (!status) {
        c = csv_peek(csv);
        if (c == -2)
            return TOOL_IO;
        if (c == -1)
            return csv_wrong(csv, line, column, "the quote that opens here is never closed");
        csv_advance(csv);
        if (c == '"' && csv_peek(csv) != '"')
            break;
        if (c == '"')
            csv_advance(csv);
        status = csv_keep_char(csv, (char)c);
    }
    c = csv_peek(csv);
    if (!status && c == '\r')
        return take_return(csv);
    if (!status && c >= 0 && c != csv->delimiter && c != '\n')
        return csv_wrong(csv, csv->line, csv->column, "unexpected text after a quoted field");
    return status;
}

static int plain_field(struct csv *csv)
{
    int c, status = 0;

    for (c = csv_peek(csv); !status && c >= 0 && c != csv->delimiter && c != '\n';
         c = csv_peek(csv)) {
        if (c == '"')
            return csv_wrong(csv, csv->line, csv->column,
                             "a quote inside a field that does not begin with one");
        if (c == '\r')
            return take_return(csv);
        csv_advance(csv);
        status = csv_keep_char(csv, (char)c);
    }
    return c == -2 ? TOOL_IO : status;
}

/* Texts have their places when the record is whole. */
static void csv_set_fields(struct csv *csv)
{
    size_t i, end;

    for (i = 0; i < csv->fields; i++) {
        end = i + 1 < csv->fields ? csv->start[i + 1] : csv->text_len;
        csv->field[i].text = csv->text + csv->start[i];
        csv->field[i].size = end - csv->start[i] - 1;
    }
}

static int record(struct csv *csv)
{
    bool quoted;
    int c, status;

    csv->fields = csv->text_len = 0;
    do {
        quoted = csv_peek(csv) == '"';
        status = begin_field(csv, quoted);
        if (!status)
            status = quoted ? quoted_field(csv) : plain_field(csv);
        if (!status)
            status = csv_keep_char(csv, '\0');
        if (status)
            return status;
        c = csv_peek(csv);
        if (c >= 0)
            csv_advance(csv);
    } while (c == csv->delimiter);
    csv_set_fields(csv);
    return c == -2 ? TOOL_IO : 0;
}

int csv_next(struct csv *csv)
{
    int status;

    do {
        csv->fields = 0;
        if (csv_peek(csv) == -1)
            return 0;
        status = record(csv);
    } while (!status && csv->fields == 1 && csv->field[0].size == 0 && !csv->field[0].quoted);
    return status;
}

void csv_put(struct sink *s, const char *text, size_t size, char delimiter)
{
    bool quotes = size == 0;
    size_t i;

    for (i = 0; i < size && !quotes; i++)
        quotes = text[i] == '"' || text[i] == '\n' || text[i] == '\r' || text[i] == delimiter;
    if (!quotes) {
        sink_put(s, text, size);
        return;
    }
    sink_char(s, '"');
    for (i = 0; i < size; i++) {
        if (text[i] == '"')
            sink_char(s, '"');
        sink_char(s, text[i]);
    }
    sink_char(s, '"');
}
