/* say.c - why something failed, kept where another thread can take it. */
/* SPDX-License-Identifier: MIT */
#include "remote/say.h"
#include <datarep.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int why_set(struct why *why, int err, const char *fmt, ...)
{
    va_list args;

    if (why->err)
        return why->err;
    why->err = err;
    va_start(args, fmt);
    vsnprintf(why->text, sizeof why->text, fmt, args);
    va_end(args);
    return err;
}

int why_raise(const struct why *why)
{
    return drep_error_set(why->err, why->text);
}

int say_error(int err, const char *fmt, ...)
{
    char text[640];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return drep_error_set(err, text);
}

void wipe_text(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}
