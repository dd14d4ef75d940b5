/* create.c - making files.
 *
 * A new file has a header, a root group and nothing else; nobody sees it before its first commit.
 */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"

#include "base/error.h"
#include "base/url.h"
#include "name/object.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/private.h"

#include <datarep.h>
#include <string.h>
#include <unistd.h>

/* Makes the root group, whose number must be 1. */
static int root_make(drep_file *f)
{
    struct object_rec rec = {.kind = FMT_GROUP, .links = 1};
    uint64_t root;
    int err = store_op_begin(f->st);

    if (err)
        return err;
    err = store_new_objects(f->st, 1, &root);
    if (!err && root != FMT_OBJECT_ROOT)
        err = fail(DREP_ERR_FORMAT, "the root group is not object 1 (R7.2)");
    if (!err)
        err = object_store(f, FMT_OBJECT_ROOT, &rec);
    return err ? (store_op_end(f->st, 0), err) : store_op_end(f->st, 1);
}

/* Opens what the path asks for: a file, or memory. */
static int make_io(const drep_file *f, int excl, struct io **out)
{
    if (strcmp(f->path, ":memory:") == 0)
        return io_memory(NULL, 0, out);
    return io_posix(f->path, IO_CREATE, excl, hint_permissions(f->hints.all), out);
}

/* io NULL: what the path asks for; datarep NULL: that of `like`, with its hints;
 * private: the store is (txn/private.h). io is closed by whoever fails with it. */
static int create(const char *path, int excl, struct io *io, const char *datarep,
                  const drep_file *like, const drep_info *info, bool private, drep_file **out)
{
    struct store_opts opts;
    uint8_t uuid[16];
    drep_file *f = NULL;
    bool io_made = (io && !private) || strcmp(path, ":memory:") == 0;
    int err = file_new(path, DREP_RDWR, info, &f);

    if (!err)
        err = datarep ? header_start(f, datarep) : header_start_like(f, like, info);
    if (!err)
        err = hints_store(f->hints.stored, info, &f->hints.changed);
    if (!err && !io)
        err = make_io(f, excl, &io);
    if (!err) {
        hint_store_opts(f->hints.all, &opts, uuid);
        err = private ? private_create(io, &opts, &f->st) : store_create(io, &opts, &f->st);
    } else if (io) {
        io->ops->close(io);
    }
    if (!err)
        err = file_opened(f);
    if (!err && f->linked.follow && !io_made)
        err = io_directory(path, &f->linked.dir);
    if (!err)
        hints_allow_targets(f, f->linked.dir);
    if (!err)
        err = root_make(f);
    if (err) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

/* A file behind a URL is a stream, with the URL as people may see it for its name. */
static int create_url(const char *url, int excl, const char *datarep, const drep_file *like,
                      const drep_info *info, drep_file **out)
{
    struct io *io;
    int err = io_url_new(url, excl, info, &io);

    return err ? err : create(io->path, 0, io, datarep, like, info, false, out);
}

int drep_create(const char *path, int amode, const char *datarep, const drep_info *info,
                drep_file **out)
{
    if (!path || !out)
        return fail(DREP_ERR_ARG, "drep_create: null argument");
    if (amode & ~(DREP_RDWR | DREP_EXCL))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    if (!datarep)
        datarep = "native";
    if (url_is(path))
        return create_url(path, amode & DREP_EXCL, datarep, NULL, info, out);
    return create(path, amode & DREP_EXCL, NULL, datarep, NULL, info, false, out);
}

int drep_create_like(const char *path, int amode, drep_file *like, const drep_info *info,
                     drep_file **out)
{
    int err;

    if (!path || !like || !out)
        return fail(DREP_ERR_ARG, "drep_create_like: null argument");
    if (amode & ~(DREP_RDWR | DREP_EXCL))
        return fail(DREP_ERR_AMODE, "%s: access mode %d", path, amode);
    if ((err = read_begin(like)))
        return err;
    if (url_is(path))
        err = create_url(path, amode & DREP_EXCL, NULL, like, info, out);
    else
        err = create(path, amode & DREP_EXCL, NULL, NULL, like, info, false, out);
    return read_done(like, err);
}

/* Messages call it so; no file has that name. */
#define STREAM_NAME "(stream)"

int drep_create_stream(int fd, const char *datarep, drep_file *like, const drep_info *info,
                       drep_file **out)
{
    struct io *io;
    int err;

    if (!out || fd < 0 || !datarep == !like)
        return fail(DREP_ERR_ARG, "drep_create_stream: %s",
                    out && fd >= 0 ? "either a representation or a file like it" : "null argument");
    if ((err = io_stream(fd, STREAM_NAME, &io)))
        return err;
    if (!like)
        return create(STREAM_NAME, 0, io, datarep, NULL, info, false, out);
    if ((err = read_begin(like))) {
        io->ops->close(io);
        return err;
    }
    return read_done(like, create(STREAM_NAME, 0, io, NULL, like, info, false, out));
}

int file_create_on(struct io *io, const char *datarep, const drep_info *info, drep_file **out)
{
    return create(io->path, 0, io, datarep, NULL, info, false, out);
}

int file_create_private(struct io *io, const char *path, const char *datarep, const drep_info *info,
                        drep_file **out)
{
    return create(path, 0, io, datarep, NULL, info, true, out);
}
