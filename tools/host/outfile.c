/* outfile.c - a file that appears at its place when it is whole. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/outfile.h"
#include "tools/host/exit.h"
#include "tools/host/message.h"
#include "tools/host/stop.h"
#include "tools/host/unfinished.h"
#include "base/hidden.h"
#include "base/url.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LINKS_MAX 40 /* symbolic links on the way, as Linux has it */
#define ACL "system.posix_acl_access"

static int outfile_fail(const char *path)
{
    tool_say(path, NULL, "%s", strerror(errno));
    return TOOL_IO;
}

static mode_t get_umask(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return mask;
}

void outfile_from(const char *source)
{
    struct stat st;

    if (strcmp(source, "-") != 0 && stat(source, &st) == 0 && S_ISREG(st.st_mode))
        umask(get_umask() | (~st.st_mode & 0666));
}

/* Bytes of a path up to its last part. */
static int folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash - path) + 1 : 0;
}

/* --------------------------------------------------------------- where it goes */

/* One step: the place that a symbolic link at `place` names.  1 if it is a link, 0 if not. */
static int follow_symlink(char place[PATH_MAX])
{
    char target[PATH_MAX], whole[2 * PATH_MAX];
    ssize_t n = readlink(place, target, sizeof target - 1);
    int size;

    /* Not a link, missing or unreachable: the following open() reports it. */
    if (n < 0)
        return 0;
    target[n] = '\0';
    size = snprintf(whole, sizeof whole, "%.*s%s", *target == '/' ? 0 : folder_of(place), place,
                    target);
    if (size >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(place, whole, (size_t)size + 1);
    return 1;
}

static int find_place(struct outfile *o)
{
    int i, more = 1;

    if (strlen(o->path) >= sizeof o->place) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(o->place, o->path);
    for (i = 0; i <= LINKS_MAX && more == 1; i++)
        more = follow_symlink(o->place);
    if (more == 1)
        errno = ELOOP;
    return more == 0 ? 0 : -1;
}

bool outfile_same(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int outfile_permit(const char *path, bool *excl, bool force, const char *also)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return 0;
    if (url_is(path)) { /* the library looks when it makes the file */
        *excl |= !force;
        return 0;
    }
    if (lstat(path, &st) != 0) {
        /* Missing, or unreachable, which whoever makes it reports. */
        *excl |= errno == ENOENT;
        return 0;
    }
    if (*excl) {
        tool_say(path, NULL, "file exists");
        return TOOL_IO;
    }
    /* A link to nothing, an empty file, devices and pipes have nothing to lose. */
    if (force || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    tool_say(path, NULL, "file exists; --force replaces it%s%s", also ? ", " : "",
             also ? also : "");
    return TOOL_IO;
}

/* Beside the file, so that it can be moved, and under a name as the library makes them, so that who
 * makes the next file there removes it if this process is killed. */
static int open_hidden(struct outfile *o)
{
    int folder = folder_of(o->place), number, dir;
    char path[PATH_MAX], name[HIDDEN_NAME];

    snprintf(path, sizeof path, "%.*s", folder, o->place);
    dir = open(folder ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return outfile_fail(o->path);
    o->fd = -1;
    hidden_sweep(dir);
    o->fd = hidden_make(dir, 0600, name);
    number = errno;
    close(dir);
    errno = number;
    if (o->fd < 0)
        return outfile_fail(o->path);
    if (snprintf(o->hidden, sizeof o->hidden, "%s%s", path, name) < (int)sizeof o->hidden)
        return 0;
    close(o->fd);
    errno = ENAMETOOLONG;
    return outfile_fail(o->path);
}

bool outfile_is_hidden(const char *path)
{
    return hidden_is(path + folder_of(path));
}

static int open_in_place(struct outfile *o)
{
    o->fd = open(o->place, O_WRONLY | O_CLOEXEC);
    return o->fd < 0 ? outfile_fail(o->path) : 0;
}

static int open_either(struct outfile *out, const char *path, bool excl, bool regular)
{
    struct outfile o = {.path = path, .fd = STDOUT_FILENO, .excl = excl};
    struct stat st;
    int status = 0;

    if (strcmp(path, "-") == 0 && !regular) {
        *out = o;
        return 0;
    }
    if (excl && lstat(path, &st) == 0) {
        errno = EEXIST;
        return outfile_fail(path);
    }
    if (find_place(&o) < 0)
        return outfile_fail(path);
    if (stat(o.place, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return outfile_fail(path);
    }
    if (stat(o.place, &st) == 0 && !S_ISREG(st.st_mode) && regular) {
        tool_say(path, NULL, "not a regular file");
        return TOOL_IO;
    }
    if (stat(o.place, &st) == 0 && !S_ISREG(st.st_mode)) {
        status = open_in_place(&o);
    } else {
        stop_catch(); /* before there is a file that a signal could leave behind */
        status = open_hidden(&o);
    }
    if (status)
        return status;
    if (*o.hidden)
        unfinished_set(o.hidden);
    *out = o;
    return 0;
}

int outfile_open(struct outfile *out, const char *path, bool excl)
{
    return open_either(out, path, excl, false);
}

int outfile_open_regular(struct outfile *out, const char *path, bool excl)
{
    return open_either(out, path, excl, true);
}

/* ----------------------------------------------------------------- permissions */

/* An attribute of the old file; false if the new one cannot have it. */
static bool keep_attribute(int from, int to, const char *name)
{
    ssize_t size = fgetxattr(from, name, NULL, 0);
    char *value = size >= 0 ? malloc((size_t)size + 1) : NULL;
    bool kept = value && (size = fgetxattr(from, name, value, (size_t)size)) >= 0 &&
                fsetxattr(to, name, value, (size_t)size, 0) == 0;

    free(value);
    return kept;
}

/* Hands down attributes of users.  Whatever a file system does not have is not there. */
static void keep_attributes(int from, int to)
{
    ssize_t size = flistxattr(from, NULL, 0), at;
    char *names = size > 0 ? malloc((size_t)size) : NULL;

    if (names)
        size = flistxattr(from, names, (size_t)size);
    for (at = 0; names && at < size; at += (ssize_t)strlen(names + at) + 1)
        if (strncmp(names + at, "user.", 5) == 0)
            keep_attribute(from, to, names + at);
    free(names);
}

/* Hands down what the replaced file says of who may do what. */
static int keep_rights(const struct outfile *o, int from, const struct stat *st)
{
    struct stat now;
    mode_t mode = st->st_mode & 07777;

    if (fstat(o->fd, &now) != 0)
        return -1;
    if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
        fchown(o->fd, st->st_uid, st->st_gid) != 0) {
        mode &= 0777;
        /* Another group must not get what was that group's. */
        if (now.st_gid != st->st_gid && fchown(o->fd, (uid_t)-1, st->st_gid) != 0)
            mode &= (mode_t)(0707 | (mode & 7) << 3);
    }
    if (fchmod(o->fd, mode) != 0)
        return -1;
    /* With a list the group's bits are the most that anybody in the list gets. */
    if (fgetxattr(from, ACL, NULL, 0) > 0 && !keep_attribute(from, o->fd, ACL))
        return fchmod(o->fd, (mode_t)(mode & (0707 | (mode & 7) << 3)));
    return 0;
}

static int set_rights(const struct outfile *o)
{
    int from = open(o->place, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;
    struct stat st;

    if (from < 0) {
        /* One that cannot be read has its mode all the same. */
        if (stat(o->place, &st) == 0 && S_ISREG(st.st_mode))
            return fchmod(o->fd, st.st_mode & 0777 & (mode_t)(0707 | (st.st_mode & 7) << 3));
        return fchmod(o->fd, 0666 & ~get_umask());
    }
    err = fstat(from, &st);
    if (!err && S_ISREG(st.st_mode)) {
        keep_attributes(from, o->fd);
        err = keep_rights(o, from, &st);
    }
    close(from);
    return err;
}

/* ----------------------------------------------------------------------- the end */

/* link() refuses where there is something by now, rename() replaces it. */
static int move_into_place(const struct outfile *o)
{
    if (!o->excl)
        return rename(o->hidden, o->place);
    if (link(o->hidden, o->place) != 0)
        return -1;
    unlink(o->hidden);
    return 0;
}

/* Some file systems cannot sync directories and need not. */
static int sync_directory(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : -1;
}

static int publish_file(const struct outfile *o)
{
    char folder[PATH_MAX];
    int fd, err;

    snprintf(folder, sizeof folder, "%.*s", folder_of(o->place), o->place);
    fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    err = fd < 0 ? -1 : move_into_place(o);
    if (err) {
        int number = errno;

        unlink(o->hidden);
        errno = number;
    } else {
        err = sync_directory(fd);
    }
    if (fd >= 0)
        close(fd);
    return err;
}

/* A library that writes by name may have put another file in place of the one that is open. */
static int reopen_own(struct outfile *o)
{
    struct stat open_one, named;
    int fd;

    if (fstat(o->fd, &open_one) != 0 || stat(o->hidden, &named) != 0)
        return -1;
    if (open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino)
        return 0;
    fd = open(o->hidden, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    close(o->fd);
    o->fd = fd;
    return 0;
}

int outfile_close(struct outfile *o, bool whole)
{
    int status = 0;

    if (o->fd == STDOUT_FILENO)
        return 0;
    if (whole && *o->hidden && stop_asked())
        whole = false;
    if (whole && *o->hidden && (reopen_own(o) != 0 || set_rights(o) != 0 || fsync(o->fd) != 0))
        status = outfile_fail(o->path);
    if (*o->hidden && (!whole || status))
        unlink(o->hidden);
    else if (*o->hidden && publish_file(o) != 0)
        status = outfile_fail(o->path);
    /* Only now: the lock keeps the hidden file from those who remove what is left over. */
    if (close(o->fd) != 0 && !status)
        status = outfile_fail(o->path);
    if (*o->hidden)
        unfinished_set(NULL);
    return status;
}
