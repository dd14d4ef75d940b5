/* message.c - messages on stderr in one form: FILE: PATH: what. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/message.h"
#include "tools/host/exit.h"
#include "tools/host/label.h"
#include "tools/host/statusline.h"
#include "tools/host/utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names in files may hold what would tell a terminal to do something. */
static void tool_put(const char *format, va_list args)
{
    char *text, *shown = NULL;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    if (text)
        shown = utf8_shown(text);
    fputs(shown ? shown : "out of memory", stderr);
    free(shown);
    free(text);
}

void tool_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tool_put(format, args);
    va_end(args);
}

void tool_say(const char *file, const char *path, const char *format, ...)
{
    va_list args;

    statusline_hide();
    fputs("datarep: ", stderr);
    if (file)
        tool_print("%s: ", label_of(file));
    if (path)
        tool_print("%s: ", path);
    va_start(args, format);
    tool_put(format, args);
    va_end(args);
    fputc('\n', stderr);
}

int tool_usage(const char *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "datarep %s: ", command);
    va_start(args, format);
    tool_put(format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'datarep %s --help'.\n", command);
    return TOOL_USAGE;
}

int tool_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return TOOL_FINE;
    if (errno != EPIPE)
        tool_say(NULL, NULL, "standard output: %s", strerror(errno));
    return TOOL_IO;
}
