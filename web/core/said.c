/* said.c - the command's messages, progress and limits (tools/host) as the page has them. */
/* SPDX-License-Identifier: MIT */
#include "web/core/said.h"
#include "base/error.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"

#include <datarep.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAID 512

static char said[SAID];
static int code; /* DREP_ERR_... */

void said_begin(void)
{
    *said = '\0';
    code = DREP_ERR_ARG;
}

const char *said_text(void)
{
    return said;
}

int said_fail(int err)
{
    if (!*said) {
        snprintf(said, sizeof said, "%s", drep_error());
        code = err;
    }
    return err;
}

int said_error(void)
{
    return fail(code, "%s", *said ? said : "there is no picture of it");
}

void tool_say(const char *file, const char *path, const char *format, ...)
{
    va_list list;
    size_t n;

    (void)file;
    if (*said)
        return;
    n = path ? (size_t)snprintf(said, sizeof said, "%.200s: ", path) : 0;
    va_start(list, format);
    vsnprintf(said + n, sizeof said - n, format, list);
    va_end(list);
}

int tool_fail(const char *file, const char *path, int err)
{
    (void)file, (void)path;
    said_fail(err);
    return tool_exit_code(err);
}

int tool_no_memory(void)
{
    fail_nomem();
    said_fail(DREP_ERR_NOMEM);
    return TOOL_IO;
}

int progress_add(uint64_t units)
{
    (void)units;
    return 0;
}

/* Texts stay in memory, which the instance bounds. */
void limit_output(uint64_t bytes)
{
    (void)bytes;
}

int limit_over(void)
{
    return 0;
}

int full_write(int fd, const void *buf, size_t size)
{
    (void)fd, (void)buf, (void)size;
    return -1;
}
