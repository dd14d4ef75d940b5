/* beneath.c - a file's path as seen from the directory of another. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/beneath.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int path_beneath(const char *from, const char *file, char out[PATH_MAX])
{
    char directory[PATH_MAX], real[PATH_MAX], named[PATH_MAX];
    const char *slash = strrchr(from, '/');
    size_t n = slash ? (size_t)(slash - from) + 1 : 0;

    if (n + 2 > sizeof named) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(named, from, n);
    memcpy(named + n, ".", 2);
    if (!realpath(named, directory) || !realpath(file, real))
        return -1;
    n = strlen(directory);
    n = n == 1 ? 0 : n; /* the root ends with its slash */
    if (strncmp(real, directory, n) != 0 || real[n] != '/')
        return 1;
    memcpy(out, real + n + 1, strlen(real + n + 1) + 1);
    return 0;
}
