/* unfinished.c - removes files that are not whole yet.
 *
 * A new container of the library grows under a name that the library does not tell; the links in
 * /proc/self/fd do.  Where there is no /proc such a file stays, as it does after SIGKILL.  All that
 * unfinished_remove() calls is safe in a signal handler. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/unfinished.h"
#include "base/hidden.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DESCRIPTORS 256 /* more than one command has open */

static char target[PATH_MAX];
static volatile sig_atomic_t making; /* target is set */

void unfinished_set(const char *path)
{
    making = 0;
    if (!path)
        return;
    snprintf(target, sizeof target, "%s", path);
    making = 1;
}

const char *unfinished_path(void)
{
    return making ? target : NULL;
}

/* True if the library gives a new file such a name. */
static bool is_new_file(const char *path)
{
    const char *slash = strrchr(path, '/');

    return hidden_is(slash ? slash + 1 : path);
}

/* snprintf() may not be called here. */
static void put_link(char *link, int fd)
{
    char digits[4], *at = digits + sizeof digits - 1;

    *at = '\0';
    do
        *--at = (char)('0' + fd % 10);
    while ((fd /= 10) > 0);
    strcpy(link, "/proc/self/fd/");
    strcat(link, at);
}

/* A file that is only read is the user's, whatever its name is. */
static bool is_written(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
}

void unfinished_remove(void)
{
    char link[24], path[PATH_MAX];
    int saved = errno;

    if (making)
        unlink(target);
    for (int fd = 3; fd < DESCRIPTORS; fd++) {
        ssize_t n;

        put_link(link, fd);
        n = readlink(link, path, sizeof path - 1);
        if (n <= 0)
            continue;
        path[n] = '\0';
        if (is_new_file(path) && is_written(fd))
            unlink(path);
    }
    errno = saved;
}
