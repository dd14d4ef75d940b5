/* error.c - the calling thread's last message.
 *
 * The message is a fixed array of each thread: failing must not itself fail for
 * want of memory. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/escape.h"
#include "format/byteorder.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct fail_state message;

/* What a message is about is set with it and stays while names are put in front; each new message
 * begins without. */

/* Set the text, and that it is about no byte; the object is left to the caller, who may be using
 * the old one. */
static void say(const char *fmt, va_list args)
{
    char next[FAIL_ROOM]; /* arguments may point into the old message */

    if (vsnprintf(next, sizeof(next), fmt, args) < 0)
        next[0] = 0;
    text_escape(message.text, sizeof(message.text), next, strlen(next));
    message.byte = 0;
}

int fail(int err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(fmt, args);
    va_end(args);
    message.object[0] = 0;
    return err;
}

/* Position 0 is the first byte of a file, so that "none" is told by another number: the byte is
 * kept plus 1, and a state of zeros is about nothing. */
int fail_byte(int err, uint64_t offset, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(fmt, args);
    va_end(args);
    message.object[0] = 0;
    if (offset < INT64_MAX)
        message.byte = (int64_t)offset + 1;
    return err;
}

int fail_object(int err, const char *path, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(fmt, args);
    va_end(args);
    return fail_about(err, path);
}

int fail_prefix(int err, const char *fmt, ...)
{
    char next[FAIL_ROOM], raw[FAIL_ROOM];
    va_list args;
    size_t len;
    int n;

    if (!err)
        return 0;
    va_start(args, fmt);
    n = vsnprintf(raw, sizeof(raw), fmt, args);
    va_end(args);
    if (n < 0)
        return err;
    text_escape(next, sizeof(next), raw, strlen(raw));
    len = strlen(next);
    /* A name that the message begins with is not repeated. */
    if (strncmp(message.text, next, len) == 0 && strncmp(message.text + len, ": ", 2) == 0)
        return err;
    if (sizeof(next) - len > 2) {
        /* A message too long is cut at its end: the outer names matter most. */
        memcpy(next + len, ": ", 2);
        len += 2;
        n = (int)strnlen(message.text, sizeof(next) - 1 - len);
        memcpy(next + len, message.text, (size_t)n);
        next[len + (size_t)n] = 0;
    }
    memcpy(message.text, next, strlen(next) + 1);
    return err;
}

void fail_unname(const char *name)
{
    char shown[FAIL_ROOM];
    size_t len;

    text_escape(shown, sizeof(shown), name, strlen(name));
    len = strlen(shown);
    if (strncmp(message.text, shown, len) != 0 || strncmp(message.text + len, ": ", 2) != 0)
        return;
    len = (size_t)snprintf(shown, sizeof(shown), "%s", message.text + len + 2);
    memcpy(message.text, shown, len + 1);
}

/* The outermost caller is the last to say so: it opened the object by this path, while what failed
 * inside may have another one, in a file that a link or a virtual dataset leads to. */
int fail_about(int err, const char *path)
{
    size_t len = path ? strlen(path) : 0;

    if (!err)
        return 0;
    if (len >= sizeof(message.object))
        len = 0; /* a part of a path is another path */
    memmove(message.object, len ? path : "", len + 1);
    message.object[len] = 0;
    return err;
}

int fail_named(int err, const char *path)
{
    fail_unname(path);
    fail_prefix(err, "dataset \"%s\"", path);
    return fail_about(err, path);
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

const struct fail_state *fail_last(void)
{
    return &message;
}

/* Text, NUL, path, NUL, byte.  With little room a path keeps a third, or is left out. */
size_t fail_pack(const struct fail_state *s, void *out, size_t room)
{
    char *p = out;
    size_t path = strlen(s->object), text = strlen(s->text), rest;

    assert(room > 32);
    if (path > room / 3 && text + path + 10 > room)
        path = 0;
    rest = room - path - 10;
    if (text > rest)
        text = rest;
    memcpy(p, s->text, text);
    p[text] = 0;
    memcpy(p + text + 1, s->object, path);
    p[text + 1 + path] = 0;
    store_u64((uint8_t *)p + text + path + 2, (uint64_t)s->byte);
    return text + path + 10;
}

/* The bytes come from another process: each part is taken only if it is whole, and what is cut or
 * foreign leaves a message that is about nothing. */
int fail_unpack(int err, const void *from, size_t n)
{
    const char *p = from;
    size_t text = strnlen(p, n), path;

    fail(err, "%.*s", (int)text, p);
    if (text == n)
        return err;
    p += text + 1;
    n -= text + 1;
    path = strnlen(p, n);
    if (n < path + 9 || path >= sizeof(message.object))
        return err;
    memcpy(message.object, p, path + 1);
    message.byte = (int64_t)load_u64((const uint8_t *)p + path + 1);
    return err;
}
