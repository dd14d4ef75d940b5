/* text.c - the answer of a call: JSON that grows. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "web/core/binding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    char *text;
    size_t size, room;
    bool failed;
} answer;

EXPORT("web_text") const char *web_text(void)
{
    return answer.text;
}
EXPORT("web_size") size_t web_size(void)
{
    return answer.size;
}
EXPORT("web_error") const char *web_error(void)
{
    return drep_error();
}

void out_begin(void)
{
    answer.size = 0;
    answer.failed = false;
}

/* Have room for n more bytes and a NUL. */
static bool answer_room(size_t n)
{
    size_t room = answer.room ? answer.room : 4096;
    char *text;

    while (!answer.failed && room - answer.size <= n) {
        if (room > SIZE_MAX / 2)
            return !(answer.failed = true);
        room *= 2;
    }
    if (answer.failed || room == answer.room)
        return !answer.failed;
    text = realloc(answer.text, room);
    if (!text)
        return !(answer.failed = true);
    answer.text = text;
    answer.room = room;
    return true;
}

void out(const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !answer_room((size_t)n))
        return;
    va_start(args, format);
    vsnprintf(answer.text + answer.size, (size_t)n + 1, format, args);
    va_end(args);
    answer.size += (size_t)n;
}

static void out_byte(unsigned char c)
{
    if (!answer_room(1))
        return;
    answer.text[answer.size++] = (char)c;
}

void out_quoted(const char *text)
{
    out_byte('"');
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (c < 0x20 || c == '"' || c == '\\')
            out("\\u%04x", c);
        else
            out_byte(c);
    }
    out_byte('"');
}

void out_lengths(int rank, const int64_t *lengths)
{
    if (rank == DREP_NULL_SPACE) {
        out("null");
        return;
    }
    out("[");
    for (int d = 0; d < rank; d++)
        out("%s%lld", d ? "," : "", (long long)lengths[d]);
    out("]");
}

int out_end(void)
{
    return answer.failed ? fail_nomem() : 0;
}
