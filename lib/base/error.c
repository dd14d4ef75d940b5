/* error.c - the calling thread's last message, and the texts of the codes.
 *
 * The message is a fixed array of each thread: failing must not itself fail for
 * want of memory. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define X(name, number, text) \
    _Static_assert(DREP_ERR_##name == (number), "datarep.h and errors.def differ");
#include "format/errors.def"
#undef X

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

int fail_in(int err, const char *fmt, ...)
{
    struct fail_state next;
    va_list args;
    size_t len;
    int n;

    if (err == 0)
        return 0;
    va_start(args, fmt);
    n = vsnprintf(next.text, sizeof(next.text), fmt, args);
    va_end(args);
    if (n < 0)
        return err;
    len = strlen(next.text);
    if (sizeof(next.text) - len > 2) {
        /* What does not fit is cut at the end: the outer names matter most. */
        memcpy(next.text + len, ": ", 2);
        len += 2;
        n = (int)strnlen(message.text, sizeof(next.text) - 1 - len);
        memcpy(next.text + len, message.text, (size_t)n);
        next.text[len + (size_t)n] = 0;
    }
    message = next;
    return err;
}

void fail_save(struct fail_state *s)
{
    *s = message;
}

void fail_restore(const struct fail_state *s)
{
    message = *s;
}

const char *drep_error(void)
{
    return message.text;
}

const char *drep_strerror(int err)
{
    switch (err) {
    case DREP_OK:
        return "success";
#define X(name, number, text) \
    case (number):            \
        return text;
#include "format/errors.def"
#undef X
    }
    return "unknown error";
}
