/* trust.c - shared objects that nobody else could have written. */
/* SPDX-License-Identifier: MIT */
#include "base/trust.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A sticky directory may be writable: only its owner and that of what is in it may rename that. */
static int trusted(const struct stat *st, uid_t owner, bool sticky, const char *what)
{
    if ((st->st_mode & S_IWOTH) && !(sticky && (st->st_mode & S_ISVTX)))
        return fail(DREP_ERR_ACCESS, "%s is writable by everybody", what);
    if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != owner)
        return fail(DREP_ERR_ACCESS, "%s belongs to user %lu, neither to root nor to you", what,
                    (unsigned long)st->st_uid);
    return 0;
}

/* Checks the directories above one: whoever may rename one of them may put another in its place. */
static int trusted_above(int dir, uid_t owner)
{
    struct stat below, st;
    int at = dir, up, err = 0;

    if (fstat(at, &st) != 0)
        return fail(DREP_ERR_IO, "its directory: %s", strerror(errno));
    do {
        below = st;
        up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (at != dir)
            close(at);
        at = up;
        if (at < 0 || fstat(at, &st) != 0)
            err = fail(DREP_ERR_ACCESS, "a directory above it: %s", strerror(errno));
        else
            err = trusted(&st, owner, true, "a directory above it");
    } while (!err && (st.st_ino != below.st_ino || st.st_dev != below.st_dev));
    if (at >= 0)
        close(at);
    return err;
}

int trust_open(int dir, const char *base, uid_t owner, struct stat *st, int *out)
{
    struct stat dir_st;
    int err = 0, fd = openat(dir, base, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return fail(DREP_ERR_NO_SUCH_FILE, "no such file");
    if (fd < 0 && errno == ELOOP)
        return fail(DREP_ERR_ACCESS, "it is a symbolic link, not a regular file");
    if (fd < 0)
        return fail(DREP_ERR_ACCESS, "%s", strerror(errno));
    if (fstat(dir, &dir_st) != 0 || fstat(fd, st) != 0)
        err = fail(DREP_ERR_IO, "%s", strerror(errno));
    if (!err && !S_ISREG(st->st_mode))
        err = fail(DREP_ERR_ACCESS, "it is not a regular file");
    if (!err)
        err = trusted(&dir_st, owner, false, "its directory");
    if (!err)
        err = trusted_above(dir, owner);
    if (!err)
        err = trusted(st, owner, false, "it");
    if (err) {
        close(fd);
        return err;
    }
    *out = fd;
    return 0;
}
