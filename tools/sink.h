/* sink.h - buffered output to stdout, or into memory.
 *
 * The first write error is kept and everything after it is dropped, so that code which
 * prints need not check; sink_close() tells.  Nothing is written before the buffer is
 * full or closed: what fails early leaves stdout empty. */
#ifndef TOOLS_SINK_H
#define TOOLS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink {
    int fd;  /* -1: into memory, the buffer grows */
    int err; /* errno of the first failure */
    char *buf;
    size_t len, cap;
    uint64_t flushed; /* bytes that left the buffer */
};

/* 0, or -1 when there is no memory. */
int sink_init(struct sink *s, int fd);
void sink_release(struct sink *s);
/* Writes what is left and releases.  0, or an exit code after saying what went wrong;
 * a broken pipe is not worth a word. */
int sink_close(struct sink *s);

void sink_put(struct sink *s, const char *bytes, size_t size);
void sink_text(struct sink *s, const char *text);
void sink_char(struct sink *s, char c);
void sink_format(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sink_u64(struct sink *s, uint64_t value);
void sink_i64(struct sink *s, int64_t value);
void sink_spaces(struct sink *s, int n);
/* A JSON string in double quotes.  Bytes that are not UTF-8 come out as \udc80 to
 * \udcff, control characters escaped. */
void sink_quoted(struct sink *s, const char *bytes, size_t size);
/* A name as it is where it is plain to see, quoted otherwise. */
void sink_name(struct sink *s, const char *name);
/* Bytes printed so far. */
uint64_t sink_total(const struct sink *s);

#endif
