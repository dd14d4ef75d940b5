/* sink.c - buffered output with a sticky error, and the escaping of text. */
#include "sink.h"
#include "tool.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SINK_SIZE ((size_t)1 << 16)

int sink_init(struct sink *s, int fd)
{
    char *buf = malloc(SINK_SIZE);

    if (!buf)
        return -1;
    *s = (struct sink){.fd = fd, .buf = buf, .cap = SINK_SIZE};
    return 0;
}

void sink_release(struct sink *s)
{
    free(s->buf);
    s->buf = NULL;
    s->len = s->cap = 0;
}

static void sink_flush(struct sink *s)
{
    size_t done = 0;
    ssize_t n;

    while (!s->err && done < s->len) {
        n = write(s->fd, s->buf + done, s->len - done);
        if (n < 0 && errno != EINTR)
            s->err = errno;
        if (n > 0)
            done += (size_t)n;
    }
    s->flushed += s->len;
    s->len = 0;
}

int sink_close(struct sink *s)
{
    sink_flush(s);
    sink_release(s);
    if (!s->err)
        return 0;
    if (s->err != EPIPE)
        tool_say(NULL, NULL, "standard output: %s", strerror(s->err));
    return TOOL_IO;
}

/* Makes room in a sink that lies in memory; -1 when there is none. */
static int sink_grow(struct sink *s, size_t size)
{
    size_t cap = s->cap;
    char *buf;

    while (size > cap - s->len) {
        if (cap > SIZE_MAX / 2)
            return -1;
        cap *= 2;
    }
    buf = realloc(s->buf, cap);
    if (!buf)
        return -1;
    s->buf = buf;
    s->cap = cap;
    return 0;
}

void sink_put(struct sink *s, const char *bytes, size_t size)
{
    size_t n;

    if (s->err)
        return;
    if (s->fd < 0 && size > s->cap - s->len && sink_grow(s, size)) {
        s->err = ENOMEM;
        return;
    }
    while (size > 0) {
        if (s->len == s->cap)
            sink_flush(s);
        n = size < s->cap - s->len ? size : s->cap - s->len;
        memcpy(s->buf + s->len, bytes, n);
        s->len += n;
        bytes += n;
        size -= n;
    }
}

void sink_text(struct sink *s, const char *text)
{
    sink_put(s, text, strlen(text));
}

void sink_char(struct sink *s, char c)
{
    sink_put(s, &c, 1);
}

void sink_format(struct sink *s, const char *format, ...)
{
    char text[512];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        sink_put(s, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void sink_u64(struct sink *s, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    sink_put(s, text + at, sizeof text - at);
}

void sink_i64(struct sink *s, int64_t value)
{
    if (value < 0)
        sink_char(s, '-');
    sink_u64(s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void sink_spaces(struct sink *s, int n)
{
    while (n-- > 0)
        sink_char(s, ' ');
}

/* Bytes of the UTF-8 character at p, 0 if there is none; its code point in *code. */
static size_t utf8_length(const unsigned char *p, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t i, n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    uint32_t c;

    if (n == 0 || n > size)
        return 0;
    c = *p & (0x7fu >> n);
    for (i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return n;
}

static void put_control(struct sink *s, unsigned char c)
{
    static const char *const names[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"};

    if (c < sizeof names / sizeof *names && names[c])
        sink_text(s, names[c]);
    else
        sink_format(s, "\\u%04x", c);
}

/* One character that is not plain ASCII; gives the bytes it took. */
static size_t put_special(struct sink *s, const unsigned char *p, size_t size)
{
    uint32_t code;
    size_t n;

    if (*p == '"' || *p == '\\') {
        sink_char(s, '\\');
        sink_char(s, (char)*p);
        return 1;
    }
    if (*p < 0x20 || *p == 0x7f) {
        put_control(s, *p);
        return 1;
    }
    n = utf8_length(p, size, &code);
    if (n == 0) {
        sink_format(s, "\\udc%02x", *p);
        return 1;
    }
    /* Terminals take the C1 controls for commands. */
    if (code < 0xa0)
        sink_format(s, "\\u%04x", (unsigned)code);
    else
        sink_put(s, (const char *)p, n);
    return n;
}

static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void sink_quoted(struct sink *s, const char *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t at = 0, run;

    sink_char(s, '"');
    while (at < size) {
        for (run = at; run < size && plain(p[run]); run++)
            ;
        sink_put(s, bytes + at, run - at);
        at = run;
        if (at < size)
            at += put_special(s, p + at, size - at);
    }
    sink_char(s, '"');
}

void sink_name(struct sink *s, const char *name)
{
    size_t at = 0, n, size = strlen(name);
    bool quote = size == 0;
    uint32_t code;

    while (at < size && !quote) {
        unsigned char c = (unsigned char)name[at];

        n = c < 0x80 ? 1 : utf8_length((const unsigned char *)name + at, size - at, &code);
        quote = n == 0 || (n == 1 && (!plain(c) || c == ' ')) || (n == 2 && code < 0xa0);
        at += n;
    }
    if (quote)
        sink_quoted(s, name, size);
    else
        sink_put(s, name, size);
}

uint64_t sink_total(const struct sink *s)
{
    return s->flushed + s->len;
}
