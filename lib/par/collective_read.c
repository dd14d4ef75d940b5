/* collective_read.c - reads that all ranks of a file make together.
 *
 * Chunks that one rank wants it reads itself, without a message; those that several want, and that
 * are dear, their owners send (rounds.h).  Of a dataset to which the ranks have written together
 * since the last commit rank 0 lends the records first; what single ranks have written is merged
 * before. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "par/collective.h"
#include "par/lend.h"
#include "par/marks.h"
#include "par/pending.h"
#include "par/rounds.h"
#include "par/settle.h"
#include "par/leases.h"
#include "format/byteorder.h"

struct reading {
    const char *call;
    drep_dataset *ds;
    struct team *team;
    const drep_type *type;
    struct transfer *t;
    struct shares wanted, met; /* chunks; and what others read of them, too, in runs */
    struct buf records;        /* that rank 0 lends */
    bool moved;                /* memory may have contents that are ours */
};

static int reading_agree(const struct reading *r, int err)
{
    struct team_call call = {.name = r->call, .err = err};

    return team_agree(r->team, &call);
}

/* Merges what single ranks have written to the dataset, in an operation of the store. */
static int merge_single_writes(const struct reading *r)
{
    drep_dataset *ds = r->ds;
    uint64_t any = pending_has(ds) || marks_find(ds);
    uint8_t id[8];
    const struct buf ids = {.p = id, .len = sizeof id};
    int err = team_reduce(r->team, TEAM_MAX, &any, 1);

    if (err || !any)
        return err;
    store_u64(id, ds->id);
    err = settle_pending(ds->file, r->call, &ids, &ds, true);
    return err ? err : leases_renew(ds->file);
}

/* The transfer leaves out what the owners send. */
static int leave_out(struct reading *r)
{
    int64_t *number = mem_array(r->met.n + 1, sizeof *number);

    if (!number)
        return fail_nomem();
    for (size_t i = 0; i < r->met.n; i++)
        number[i] = r->met.share[i].chunk;
    r->t->left_out = number;
    r->t->nleft_out = r->met.n;
    return 0;
}

/* Finds the chunks that owners send; *sent: there are some, of any ranks.  The result is that of
 * all ranks, though not its message. */
static int find_owners(struct reading *r, int err, bool *sent)
{
    uint64_t v[2] = {0};
    int failed;

    if (err)
        r->wanted.n = 0;
    failed = shares_meet(r->team, r->ds, TOGETHER_READ, &r->wanted);
    if (!err && !failed)
        err = shares_cut_met(r->t, &r->wanted, &r->met);
    if (!err && !failed)
        err = leave_out(r);
    v[0] = r->met.n > 0;
    v[1] = err ? 1 : 0;
    if (!failed)
        failed = team_reduce(r->team, TEAM_MAX, v, 2);
    *sent = v[0];
    return failed ? failed : err ? err : v[1] ? DREP_ERR_FAILED : 0;
}

/* Moves the elements; what fails on one rank is told at the end. */
static int move(struct reading *r, bool known)
{
    drep_dataset *ds = r->ds;
    bool meets = reads_meet(ds, r->team), sent = false;
    int err = 0;

    if (meets || (!known && ds->rec.layout == FMT_CHUNKED))
        err = shares_count(r->t, &r->wanted);
    else if (!known)
        err = shares_cut(r->t, &r->wanted);
    if (meets && (err = find_owners(r, err, &sent)))
        return err;
    if (!known)
        err = records_lend(r->team, ds, &r->wanted, &r->records, err);
    if (!err) {
        err = transfer_moves(r->t, r->type) ? transfer_layout(r->t) : 0;
        r->moved = !err;
    }
    if (sent)
        err = rounds_run(r->team, r->t, &r->met, err);
    records_return(ds);
    return err;
}

static void reading_end(struct reading *r)
{
    shares_release(&r->wanted);
    shares_release(&r->met);
    buf_release(&r->records);
    if (r->t)
        mem_free(r->t->left_out);
    transfer_end(r->t);
}

/* From here on the ranks have agreed on the dataset. */
static int read_agreed(struct reading *r)
{
    drep_dataset *ds = r->ds;
    bool known = ds->esize == 0 || ds->rec.layout == FMT_COMPACT ||
                 !idset_find(&ranks_of(ds->file)->written, ds->id);
    int err = reading_agree(r, fail_dataset(move(r, known), ds->path));

    if (err && r->moved)
        transfer_free_contents(r->t);
    return err;
}

int collective_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                    const drep_xfer *xfer, const char *call, bool alone, int err)
{
    struct reading r = {.call = call, .ds = ds, .team = &ranks_of(ds->file)->team, .type = type};

    if (!err)
        err = fail_dataset(transfer_begin(ds, sel, type, buf, xfer, READING, &r.t), ds->path);
    err = collective_meet(ds, call, err);
    if (!err && store_writable(ds->file->st))
        err = fail_dataset(merge_single_writes(&r), ds->path);
    if (alone)
        rwlock_write_to_read(&ds->file->lock);
    if (!err)
        err = read_agreed(&r);
    reading_end(&r);
    return err;
}
