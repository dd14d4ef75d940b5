/* installed.c - where this command and its data are installed.
 *
 * Both are found from the running command, so that a tree that was moved stays whole. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/installed.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* From the directory of the command; the Makefile knows better. */
#ifndef DATAREP_DATA_DIR
#define DATAREP_DATA_DIR "../share/datarep"
#endif

bool installed_command(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const char *started = (const char *)getauxval(AT_EXECFN); /* 0: the kernel does not say */
    char *slash;

    if (n > 0)
        path[n] = '\0';
    else if (!started || !realpath(started, path))
        return false;
    slash = strrchr(path, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

bool installed_schemas(char *path, size_t size)
{
    char own[PATH_MAX], joined[2 * PATH_MAX], full[PATH_MAX];
    int n;

    if (!installed_command(own))
        return false;
    snprintf(joined, sizeof joined, "%s%s/schemas", own, DATAREP_DATA_DIR);
    if (!realpath(joined, full))
        return false;
    n = snprintf(path, size, "%s/", full);
    return n > 0 && (size_t)n < size;
}

bool installed_page(char *path, size_t size)
{
    static const char *const places[] = {DATAREP_DATA_DIR "/view", "../web/www"};
    char own[PATH_MAX], joined[2 * PATH_MAX], full[PATH_MAX];

    if (!installed_command(own))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(joined, sizeof joined, "%s%s/index.html", own, places[i]);

        if (n < 0 || (size_t)n >= sizeof joined || !realpath(joined, full))
            continue;
        *strrchr(full, '/') = '\0';
        n = snprintf(path, size, "%s", full);
        return n > 0 && (size_t)n < size;
    }
    return false;
}
