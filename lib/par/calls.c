/* calls.c - what a file that ranks share does otherwise than that of one process.
 *
 * The table of file/team.h: each entry stands for the work of one process at one place of the
 * rooms below. */
/* SPDX-License-Identifier: MIT */
#include "par/calls.h"

#include "elem/access.h"
#include "par/alone.h"
#include "par/collective.h"
#include "par/commit.h"
#include "par/marks.h"
#include "par/overlay.h"
#include "par/pending.h"
#include "whole/close.h"

#include <datarep-team.h>

/* ---- transfers ---- */

static int calls_read(struct access *a, const drep_xfer *xfer, int err)
{
    bool together = xfer && xfer->collective, alone, begun;
    drep_dataset *ds = a->ds;
    drep_file *f = ds->file;

    if (err && !together)
        return err;
    alone = together && store_writable(f->st); /* a merge may come first */
    if (!err)
        err = alone ? change_begin(f) : read_begin(f);
    begun = !err;
    if (!err)
        err = access_select(a);
    if (together)
        err = collective_read(ds, a->sel, a->type, a->buf, xfer, a->call, alone && begun, err);
    else if (!err && pending_has(ds))
        err = fail_dataset(pending_read(ds, a->sel, a->type, a->buf, xfer), ds->path);
    else if (!err)
        err = fail_dataset(dataset_read(ds, a->sel, a->type, a->buf, xfer), ds->path);
    return begun ? read_end(f, err) : err;
}

static int calls_write(struct access *a, const drep_xfer *xfer, int err)
{
    bool together = xfer && xfer->collective, begun;
    drep_dataset *ds = a->ds;
    drep_file *f = ds->file;

    if (err && !together)
        return err;
    if (!err)
        err = write_begin(f);
    begun = !err;
    if (!err)
        err = access_select(a);
    if (!err)
        err = fail_dataset(alone_refs(ds, a->sel, a->type, a->buf), ds->path);
    if (together)
        err = collective_write(ds, a->sel, a->type, a->buf, xfer, a->call, err);
    else if (!err && ds->rec.layout != FMT_COMPACT)
        err = fail_dataset(pending_add(ds, a->sel, a->type, a->buf, xfer), ds->path);
    else if (!err)
        err = marks_write(ds, a->sel, a->type, a->buf, xfer);
    return begun ? write_end(f, err) : err;
}

static int calls_may(const drep_file *f, const drep_dataset *ds, enum team_act act)
{
    if (act == TEAM_CHANGE)
        return team_dead(&ranks_of(f)->team);
    if (!file_shared(f))
        return 0;
    return act == TEAM_READ ? alone_readable(ds) : alone_writable(ds);
}

/* ---- changes of this rank ---- */

/* Elements that were cut off are gone for all ranks, and those that the rank keeps, too. */
static int calls_resized(drep_dataset *ds, const uint64_t *old)
{
    uint64_t keep[FMT_RANK_MAX];
    bool shrinks = false;
    int err = 0;

    for (int d = 0; d < ds->rec.rank; d++) {
        keep[d] = ds->rec.len[d] < old[d] ? ds->rec.len[d] : old[d];
        shrinks |= keep[d] < old[d];
    }
    if (shrinks)
        err = ranks_shrunk(ranks_of(ds->file), ds->id, ds->rec.rank, keep);
    return err ? err : pending_reshape(ds);
}

static int calls_implied(drep_file *f, uint64_t id, uint64_t group, const char *path,
                         const char *name)
{
    return ranks_implied(ranks_of(f), id, group, path, name);
}

/* ---- the file ---- */

static void calls_release(struct file_team *team)
{
    ranks_release((struct ranks *)team);
}

static int calls_refuse(const char *call, bool transfer, int err)
{
    struct team_call meeting = {.name = call, .args = transfer ? COLLECTIVE_ARGS : 0, .err = err};
    struct fail_state why;
    drep_file *f = ranks_only_file();

    if (!f)
        return err;
    fail_save(&why);
    if (file_here(f) || alone_begin(f)) {
        fail_restore(&why);
        return err;
    }
    fail_restore(&why);
    err = fail_in(team_agree(&ranks_of(f)->team, &meeting), "%s", f->path);
    alone_end(f);
    return err;
}

static const struct team_ops ranks_ops = {
    .read = calls_read,
    .write = calls_write,
    .may = calls_may,
    .resized = calls_resized,
    .implied = calls_implied,
    .commit = shared_commit,
    .close = shared_close,
    .release = calls_release,
    .refuse = calls_refuse,
};

void calls_hand_over(drep_file *f, struct ranks *r)
{
    r->shared.ops = &ranks_ops;
    r->shared.size = r->team.size;
    f->team = &r->shared;
    team_known(&ranks_ops);
    ranks_opened(r, f);
}

void drep_team_abandon(drep_file *file, const char *why)
{
    if (!file || close_check(file))
        return;
    if (file_shared(file) && !file_inherited(file)) {
        shared_abandon(file, why ? why : "");
        file->team->left = true; /* others may not close now */
    }
    file_end(file);
}
