/* open.c - opening files by path, and images of files in memory.
 *
 * The calls differ in where the bytes come from and which commit counts; file/open.c does the rest.
 * A path is opened once: the lock, the identity and the directory of links belong to that
 * descriptor, so that a file which is replaced meanwhile is noticed. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "base/url.h"
#include "file/file.h"

#include <datarep.h>

#define REPLACED_TRIES 8 /* to get at a file that others replace */

/* The paths in a file behind a URL lead to files beneath the folder of that URL. */
static int open_url(const char *url, int amode, const drep_info *info, uint64_t commit,
                    drep_file **out)
{
    struct io *io;
    drep_file *f;
    char shown[4096];
    int err;

    if (amode == DREP_RDWR)
        return fail(DREP_ERR_READ_ONLY, "%s: a file behind a URL can only be read",
                    url_shown(url, shown, sizeof shown));
    err = io_url(url, false, info, &io);
    if (!err)
        err = file_open_on(io, amode, info, commit, &f);
    if (err)
        return err;
    f->linked.url = f->linked.follow ? mem_strdup(url) : NULL;
    if (f->linked.follow && !f->linked.url) {
        file_free(f);
        return DREP_ERR_NOMEM;
    }
    hints_allow_targets(f, -1);
    *out = f;
    return 0;
}

/* A writer that finds the file replaced between opening and locking it tries again. */
static int open_path(const char *path, int amode, const drep_info *info, uint64_t commit,
                     drep_file **out)
{
    struct io *io;
    drep_file *f;
    int tries = 0, err;

    if (url_is(path))
        return open_url(path, amode, info, commit, out);
    do {
        err = io_posix(path, amode == DREP_RDWR ? IO_WRITE : IO_READ, 0, 0, &io);
        if (!err)
            err = file_open_on(io, amode, info, commit, &f);
    } while (err == DREP_ERR_STALE && amode == DREP_RDWR && ++tries < REPLACED_TRIES);
    if (err)
        return err;
    if (f->linked.follow && (err = io_directory(path, &f->linked.dir))) {
        file_free(f);
        return err;
    }
    hints_allow_targets(f, f->linked.dir);
    *out = f;
    return 0;
}

int drep_open(const char *path, int amode, const drep_info *info, drep_file **out)
{
    int mode = amode & ~DREP_HEADER_ONLY;

    if (!path || !out)
        return fail(DREP_ERR_ARG, "drep_open: null argument");
    if ((mode != DREP_RDONLY && mode != DREP_RDWR) || amode == (DREP_RDWR | DREP_HEADER_ONLY))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    return open_path(path, amode, info, 0, out);
}

int drep_open_commit(const char *path, int amode, uint64_t sequence, const drep_info *info,
                     drep_file **out)
{
    if (!path || !out)
        return fail(DREP_ERR_ARG, "drep_open_commit: null argument");
    if ((amode & ~DREP_HEADER_ONLY) != DREP_RDONLY)
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    return open_path(path, amode, info, sequence, out);
}

int drep_open_image(const void *image, size_t size, const drep_info *info, drep_file **out)
{
    struct io *io;
    int err;

    if (!image || !out)
        return fail(DREP_ERR_ARG, "drep_open_image: null argument");
    err = io_memory(image, size, &io);
    return err ? err : file_open_on(io, DREP_RDONLY, info, 0, out);
}
