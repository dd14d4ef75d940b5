/* outfile.c - a file that appears at its place when it is whole. */
#include "outfile.h"
#include "limit.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(const char *path)
{
    tool_say(path, NULL, "%s", strerror(errno));
    return TOOL_IO;
}

/* Beside the file, so that it can be moved; with the permissions that a new file has. */
static int open_hidden(struct outfile *o)
{
    const char *slash = strrchr(o->path, '/');
    int folder = slash ? (int)(slash - o->path) + 1 : 0;
    mode_t mask = umask(0);
    int n =
        snprintf(o->hidden, sizeof o->hidden, "%.*s.%s.XXXXXX", folder, o->path, o->path + folder);

    umask(mask);
    if (n < 0 || (size_t)n >= sizeof o->hidden) {
        errno = ENAMETOOLONG;
        return refused(o->path);
    }
    o->fd = mkstemp(o->hidden);
    if (o->fd < 0)
        return refused(o->path);
    if (fchmod(o->fd, 0666 & ~mask) == 0)
        return 0;
    refused(o->path);
    outfile_close(o, false);
    return TOOL_IO;
}

int outfile_open(struct outfile *out, const char *path, bool excl)
{
    struct outfile o = {.path = path, .fd = STDOUT_FILENO, .excl = excl};
    struct stat st;
    int status = 0;

    if (strcmp(path, "-") == 0) {
        *out = o;
        return 0;
    }
    if (lstat(path, &st) == 0) {
        if (excl) {
            errno = EEXIST;
            return refused(path);
        }
        if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
            o.fd = open(path, O_WRONLY | O_CLOEXEC);
            if (o.fd < 0)
                return refused(path);
            *out = o;
            return 0;
        }
    }
    status = open_hidden(&o);
    if (!status) {
        limit_target(o.hidden);
        *out = o;
    }
    return status;
}

/* link() refuses where there is something by now, rename() replaces it. */
static int move(const struct outfile *o)
{
    if (!o->excl)
        return rename(o->hidden, o->path) == 0 ? 0 : refused(o->path);
    if (link(o->hidden, o->path) != 0)
        return refused(o->path);
    unlink(o->hidden);
    return 0;
}

int outfile_close(struct outfile *o, bool whole)
{
    int status = 0;

    if (o->fd == STDOUT_FILENO)
        return 0;
    if (whole && *o->hidden && fsync(o->fd) != 0)
        status = refused(o->path);
    if (close(o->fd) != 0 && !status)
        status = refused(o->path);
    if (!*o->hidden)
        return status;
    limit_target(NULL);
    if (whole && !status)
        status = move(o);
    if (!whole || status)
        unlink(o->hidden);
    return status;
}
