/* error.c - the calling thread's last message.
 *
 * The message is a fixed array of each thread: failing must not itself fail for
 * want of memory. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct fail_state message;

int fail(int err, const char *fmt, ...)
{
    struct fail_state next; /* arguments may point into the old message */
    va_list args;

    va_start(args, fmt);
    if (vsnprintf(next.text, sizeof(next.text), fmt, args) < 0)
        next.text[0] = 0;
    va_end(args);
    message = next;
    return err;
}

int fail_prefix(int err, const char *fmt, ...)
{
    struct fail_state next;
    va_list args;
    size_t len;
    int n;

    if (!err)
        return 0;
    va_start(args, fmt);
    n = vsnprintf(next.text, sizeof(next.text), fmt, args);
    va_end(args);
    if (n < 0)
        return err;
    len = strlen(next.text);
    /* A name that the message begins with is not repeated. */
    if (strncmp(message.text, next.text, len) == 0 && strncmp(message.text + len, ": ", 2) == 0)
        return err;
    if (sizeof(next.text) - len > 2) {
        /* A message too long is cut at its end: the outer names matter most. */
        memcpy(next.text + len, ": ", 2);
        len += 2;
        n = (int)strnlen(message.text, sizeof(next.text) - 1 - len);
        memcpy(next.text + len, message.text, (size_t)n);
        next.text[len + (size_t)n] = 0;
    }
    message = next;
    return err;
}

int fail_nomem(void)
{
    return fail(DREP_ERR_NOMEM, "out of memory");
}

void fail_save(struct fail_state *s)
{
    *s = message;
}

void fail_restore(const struct fail_state *s)
{
    message = *s;
}

const char *fail_text(void)
{
    return message.text;
}
