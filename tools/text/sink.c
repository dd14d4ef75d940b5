/* sink.c - buffered output with a sticky error, and the escaping of text. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/sink.h"
#include "format/utf8.h"
#include "tools/host/exit.h"
#include "tools/host/fullio.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SINK_SIZE ((size_t)1 << 16)

int sink_init(struct sink *s, int fd)
{
    char *buf = malloc(SINK_SIZE);

    if (!buf)
        return -1;
    *s = (struct sink){.fd = fd, .buf = buf, .cap = SINK_SIZE, .sum = SINK_SUM};
    return 0;
}

void sink_release(struct sink *s)
{
    free(s->buf);
    s->buf = NULL;
    s->len = s->cap = 0;
}

uint64_t sink_sum(uint64_t sum, const char *bytes, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void write_all(struct sink *s, const char *bytes, size_t size)
{
    limit_output(size);
    if (s->summed)
        s->sum = sink_sum(s->sum, bytes, size);
    if (!s->err && limit_over())
        s->err = ECANCELED;
    if (!s->err && full_write(s->fd, bytes, size) != 0)
        s->err = errno;
    s->flushed += size;
}

static void sink_flush(struct sink *s)
{
    write_all(s, s->buf, s->len);
    s->len = 0;
}

int sink_close(struct sink *s)
{
    sink_flush(s);
    sink_release(s);
    if (!s->err)
        return 0;
    /* limit_over() has reported the stop. */
    if (s->err != EPIPE && s->err != ECANCELED)
        tool_say(s->name ? s->name : "standard output", NULL, "%s", strerror(s->err));
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

char *sink_make_room(struct sink *s, size_t size)
{
    if (s->fd >= 0)
        sink_flush(s);
    else if (sink_grow(s, size))
        s->err = ENOMEM;
    return s->err ? NULL : s->buf + s->len;
}

void sink_put_more(struct sink *s, const char *bytes, size_t size)
{
    if (!sink_make_room(s, size))
        return;
    /* Only what goes to a file can still be too long. */
    if (size > s->cap - s->len)
        write_all(s, bytes, size);
    else
        sink_put(s, bytes, size);
}

void sink_text(struct sink *s, const char *text)
{
    sink_put(s, text, strlen(text));
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

/* The decimal digits of 0 to 99. */
static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

static char *put_digits(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        memcpy(end -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(end -= 2, pairs + 2 * value, 2);
    else
        *--end = (char)('0' + value);
    return end;
}

size_t sink_digits(char *text, int64_t value)
{
    char digits[20], *end = digits + sizeof digits, *at;
    size_t n;

    at = put_digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    n = (size_t)(end - at);
    if (value < 0)
        *text++ = '-';
    memcpy(text, at, n);
    return n + (value < 0);
}

void sink_time(struct sink *s, int64_t nanoseconds)
{
    int64_t rest = nanoseconds % 1000000000, seconds = nanoseconds / 1000000000;
    char text[64];
    struct tm tm;
    time_t t;

    if (rest < 0) {
        rest += 1000000000;
        seconds--;
    }
    t = (time_t)seconds;
    if (t == seconds && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        sink_format(s, "%s.%09d UTC", text, (int)rest);
    else
        sink_format(s, "%" PRId64 " ns", nanoseconds);
}

void sink_u64(struct sink *s, uint64_t value)
{
    char text[20], *end = text + sizeof text, *at = put_digits(end, value);

    sink_put(s, at, (size_t)(end - at));
}

void sink_i64(struct sink *s, int64_t value)
{
    char text[24];

    sink_put(s, text, sink_digits(text, value));
}

void sink_spaces(struct sink *s, int n)
{
    while (n-- > 0)
        sink_char(s, ' ');
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
static size_t put_escaped(struct sink *s, const unsigned char *p, size_t size)
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
    n = utf8_next(p, size, &code);
    if (n == 0) {
        sink_format(s, "\\udc%02x", *p);
        return 1;
    }
    if (utf8_control(code))
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
            at += put_escaped(s, p + at, size - at);
    }
    sink_char(s, '"');
}

void sink_document(struct sink *s, const char *key, const char *name)
{
    sink_format(s, "{\"version\": 1, \"%s\": ", key);
    sink_quoted(s, name, strlen(name));
}

void sink_name(struct sink *s, const char *name)
{
    size_t at = 0, n, size = strlen(name);
    bool quote = size == 0;
    uint32_t code;

    while (at < size && !quote) {
        unsigned char c = (unsigned char)name[at];

        n = utf8_next(name + at, size - at, &code);
        quote = n == 0 || (n == 1 && (!plain(c) || c == ' ')) || utf8_control(code);
        at += n;
    }
    if (quote)
        sink_quoted(s, name, size);
    else
        sink_put(s, name, size);
}

void sink_color(struct sink *s, const char *color)
{
    uint64_t before = s->flushed + s->len;

    if (!s->color)
        return;
    sink_text(s, color);
    s->hidden += s->flushed + s->len - before;
}

uint64_t sink_total(const struct sink *s)
{
    return s->flushed + s->len - s->hidden;
}
