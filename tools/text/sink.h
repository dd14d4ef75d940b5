/* sink.h - buffered output to stdout, or into memory.
 *
 * The first write error is kept and everything after it is dropped, so that code which
 * prints need not check; sink_close() tells.  Nothing is written before the buffer is
 * full or closed: what fails early leaves stdout empty. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_SINK_H
#define TOOLS_TEXT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sink {
    int fd;           /* -1: into memory, the buffer grows */
    int err;          /* errno of the first failure */
    const char *name; /* of the file, for messages; NULL: standard output */
    char *buf;
    size_t len, cap;
    uint64_t flushed; /* bytes that left the buffer */
    uint64_t hidden;  /* bytes that only say a colour */
    bool color;
    bool summed;  /* keep a sum of what is flushed */
    uint64_t sum; /* sink_sum() */
};

/* 0, or -1 when there is no memory. */
int sink_init(struct sink *s, int fd);
void sink_release(struct sink *s);
/* Writes what is left and releases.  0, or an exit code after saying what went wrong;
 * a broken pipe is not worth a word. */
int sink_close(struct sink *s);

/* Goes on with the sum (FNV-1a, 64 bits) of bytes; the first is SINK_SUM. */
#define SINK_SUM UINT64_C(0xcbf29ce484222325)
uint64_t sink_sum(uint64_t sum, const char *bytes, size_t size);

/* Room for `size` bytes (at most 4,096) where the next ones go, and how many of them were
 * written there; NULL after an error. */
char *sink_make_room(struct sink *s, size_t size);
static inline char *sink_room(struct sink *s, size_t size)
{
    return size <= s->cap - s->len ? s->buf + s->len : sink_make_room(s, size);
}
static inline void sink_took(struct sink *s, size_t size)
{
    s->len += size;
}

void sink_put_more(struct sink *s, const char *bytes, size_t size);
static inline void sink_put(struct sink *s, const char *bytes, size_t size)
{
    if (size > s->cap - s->len) {
        sink_put_more(s, bytes, size);
        return;
    }
    memcpy(s->buf + s->len, bytes, size);
    s->len += size;
}
static inline void sink_char(struct sink *s, char c)
{
    sink_put(s, &c, 1);
}
void sink_text(struct sink *s, const char *text);
void sink_format(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A point in time, nanoseconds since 1970: "2026-11-21 20:22:01.000000000 UTC". */
void sink_time(struct sink *s, int64_t nanoseconds);
void sink_u64(struct sink *s, uint64_t value);
void sink_i64(struct sink *s, int64_t value);
/* Writes a number of at most 20 bytes at `text`, without NUL; gives its length. */
size_t sink_digits(char *text, int64_t value);
void sink_spaces(struct sink *s, int n);
/* A JSON string in double quotes.  Bytes that are not UTF-8 come out as \udc80 to
 * \udcff, control characters escaped. */
void sink_quoted(struct sink *s, const char *bytes, size_t size);
/* Begins a JSON document of the command: {"version": 1, KEY: NAME (tools/share/output.schema.json).
 */
void sink_document(struct sink *s, const char *key, const char *name);
/* A name as it is where it is plain to see, quoted otherwise. */
void sink_name(struct sink *s, const char *name);
/* Set the colour of what follows (color.h), if colours are on in this sink. */
void sink_color(struct sink *s, const char *color);
/* Columns and lines printed so far, in bytes: colours do not count. */
uint64_t sink_total(const struct sink *s);

#endif
