/* statusline.c - the last line of the terminal. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/statusline.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

void statusline_show(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* One write, and what was there before is wiped behind it. */
    dprintf(STDERR_FILENO, "\r%s\033[K", text);
    shown = true;
}

void statusline_hide(void)
{
    if (!shown)
        return;
    fputs("\r\033[K", stderr);
    shown = false;
}
