/* open.c - opening a file on bytes of any kind. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "file/file.h"
#include "space/slots.h"
#include "txn/numbers.h"
#include "txn/open.h"
#include "txn/salvage.h"
#include "txn/private.h"

#include <datarep.h>
#include <unistd.h>

static int open_store(struct io *io, drep_file *f, const struct store_opts *opts)
{
    if (opts->slot && f->amode == DREP_RDWR)
        return private_open(io, opts->slot, opts, &f->st);
    return store_open(io, f->amode == DREP_RDWR, opts, &f->st);
}

/* The store opens twice, in effect: with the opener's hints, and then, when the header is known,
 * with those that the file adds.  slot: the commit that another handle looks at, or NULL. */
static int open_io(struct io *io, drep_file *f, const drep_info *info, uint64_t commit,
                   const struct slot *slot)
{
    struct store_opts opts;
    uint8_t uuid[16];
    int err;

    hint_store_opts(f->hints.all, &opts, uuid);
    opts.commit = commit;
    opts.slot = slot;
    err = open_store(io, f, &opts);
    if (!err)
        err = store_stale(f->st, header_load(f, info));
    if (!err && f->amode == DREP_RDWR)
        err = store_numbers(f->st);
    if (!err && drep_info_count(f->hints.stored) > 0) {
        hint_store_opts(f->hints.all, &opts, uuid); /* with what the header says */
        store_set_opts(f->st, &opts);
    }
    if (!err)
        err = file_opened(f);
    return fail_in(err, "%s", f->path);
}

int file_open_on(struct io *io, int amode, const drep_info *info, uint64_t commit, drep_file **out)
{
    drep_file *f;
    int err = file_new(io->path, amode, info, &f);

    if (err) {
        io->ops->close(io);
        return err;
    }
    err = open_io(io, f, info, commit, NULL);
    if (err) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

int file_open_other(struct io *io, const char *path, int amode, const struct slot *slot,
                    const drep_info *info, drep_file **out)
{
    drep_file *f;
    int err = file_new(path, amode, info, &f);

    if (err) {
        io->ops->close(io);
        return err;
    }
    err = open_io(io, f, info, 0, slot);
    if (!err && f->linked.follow)
        err = io_directory(path, &f->linked.dir);
    if (err) {
        file_free(f);
        return err;
    }
    hints_allow_targets(f, f->linked.dir);
    *out = f;
    return 0;
}

int file_last_commit(drep_file *f, drep_file **out)
{
    drep_file *last;
    int err = file_new(f->path, DREP_RDONLY, f->hints.all, &last);

    if (err)
        return err;
    err = store_last_commit(f->st, &last->st);
    last->linked.url = f->linked.url ? mem_strdup(f->linked.url) : NULL;
    if (!err && f->linked.url && !last->linked.url)
        err = DREP_ERR_NOMEM;
    if (!err)
        hints_allow_targets(last, f->linked.dir);
    if (!err)
        err = header_load(last, f->hints.all);
    if (err) {
        file_free(last);
        return fail_in(err, "%s", f->path);
    }
    *out = last;
    return 0;
}

int file_salvage(struct io *io, const drep_info *info, drep_finding_fn *fn, void *ctx,
                 drep_file **out, uint64_t *first)
{
    struct store_opts opts;
    uint8_t uuid[16];
    drep_file *f;
    int err = file_new(io->path, DREP_RDWR, info, &f);

    if (err) {
        io->ops->close(io);
        return err;
    }
    hint_store_opts(f->hints.all, &opts, uuid);
    opts.lock = 0;
    err = store_salvage(io, &opts, fn, ctx, &f->st, first);
    if (!err)
        err = header_load(f, info);
    if (err) {
        err = fail_in(err, "%s", f->path);
        file_free(f);
        return err;
    }
    hints_note(f);
    *out = f;
    return 0;
}
