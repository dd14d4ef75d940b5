/* commit.c - commit and close of a file that several ranks share.
 *
 * The ranks compare digests of what they changed.  Mostly they have changed the same, or some of
 * them nothing; else they bring their changes together.  Rank 0, whose store is the file's,
 * commits; the others move to the new commit. */
/* SPDX-License-Identifier: MIT */
#include "par/commit.h"

#include "par/assemble.h"
#include "par/changes.h"
#include "par/follow.h"
#include "whole/publish.h"
#include "par/settle.h"
#include "base/mem.h"
#include "par/leases.h"
#include "format/block.h"
#include "tree/journal.h"
#include "tree/touched.h"

#include <string.h>

/* ---- what the ranks changed ---- */

/* Lists of what was cut off, and marks of elements, belong to the changes. */
static int entries_digest(drep_file *f, uint64_t *digest, uint64_t *n)
{
    const struct ranks *r = ranks_of(f);
    struct buf b = {0};
    uint8_t sum[8];
    int err = journal_digest(f->st, digest, n);

    if (err || (r->nshrunk == 0 && r->nmarked == 0))
        return err;
    store_u64(sum, *digest);
    err = buf_add(&b, sum, sizeof sum);
    for (size_t i = 0; !err && i < r->nshrunk; i++) {
        const struct shrunk_dataset *s = &r->shrunk[i];

        store_u64(sum, s->id);
        err = buf_add(&b, sum, sizeof sum);
        if (!err)
            err = buf_add(&b, s->len, (size_t)s->rank * sizeof *s->len);
    }
    for (size_t i = 0; !err && i < r->nmarked; i++) {
        const struct marked *m = &r->marked[i];

        store_u64(sum, m->object);
        err = buf_add(&b, sum, sizeof sum);
        if (!err)
            err = buf_add(&b, m->bit, (size_t)m->n / 8 + 1);
    }
    *digest = err ? 0 : sum_stored(b.p, b.len);
    buf_release(&b);
    return err;
}

/* Makes this rank's message about its changes (assemble.h). */
static int tell_changes(drep_file *f, struct buf *told)
{
    uint64_t digest = 0, n = 0, hints = 0, reps = 0, witnesses = 0;
    uint8_t bytes[DIGEST_SIZE] = {0};
    int err = entries_digest(f, &digest, &n);

    if (!err)
        err = hints_digest(f, &hints);
    if (!err)
        err = own_reps_digest(f, &reps, &witnesses);
    store_u64(bytes, digest);
    store_u64(bytes + 8, n);
    store_u64(bytes + DIGEST_HINTS, hints);
    store_u64(bytes + DIGEST_REPS, reps);
    store_u64(bytes + DIGEST_WITNESSES, witnesses);
    if (!err)
        err = buf_add(told, bytes, sizeof bytes);
    if (!err)
        err = settle_waiting(f, told);
    if (!err)
        store_u64(told->p + DIGEST_LEASES, leases_used(ranks_of(f)));
    return err;
}

/* ---- the verdict ---- */

/* Rank 0 says whether the ranks differ, what its own changes are, whether leases were used, and
 * which datasets wait; or why it cannot go on. */
enum { VERDICT_USED = 4 + DIGEST_LEASES, VERDICT_HEAD = VERDICT_USED + 4 };
enum verdict { ALIKE, DIFFERENT };

static bool none_told(const uint8_t *p)
{
    return load_u64(p + 8) == 0;
}

/* What does not go with the changes of rank 0 is found in merging. */
static bool told_alike(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, DIGEST_WITNESSES) == 0 &&
           !rep_witnesses_differ(load_u64(a + DIGEST_WITNESSES), load_u64(b + DIGEST_WITNESSES));
}

/* Compare what all ranks have told with what rank 0 has, which alone calls this. */
static enum verdict compare_digests(const struct team *t, const uint8_t *all, const uint64_t *at)
{
    enum verdict verdict = ALIKE;
    bool wrote = false;

    for (int r = 0; r < t->size; r++)
        wrote |= at[r + 1] - at[r] > DIGEST_SIZE;
    for (int r = 1; r < t->size; r++) {
        const uint8_t *theirs = all + at[r];

        /* Elements that a rank wrote must follow rank 0's changes of the shape, and all take part
         * in writing those of datasets that rank 0 has made. */
        if (none_told(theirs) ? wrote && !none_told(all) : !told_alike(all, theirs))
            verdict = DIFFERENT;
    }
    return verdict;
}

static int verdict_put(void *ctx, const struct team_said *told, struct buf *b)
{
    const struct team *t = ctx;
    const uint64_t *at = told->at;
    uint8_t head[VERDICT_HEAD];
    enum verdict verdict = compare_digests(t, told->all.p, at);
    struct buf ids = {0};
    bool used = false;
    int err;

    for (int r = 0; r < t->size; r++)
        used |= load_u64(told->all.p + at[r] + DIGEST_LEASES) != 0;
    store_u32(head, verdict);
    memcpy(head + 4, told->all.p, DIGEST_LEASES);
    store_u32(head + VERDICT_USED, used);
    err = buf_add(b, head, sizeof head);
    for (int r = 0; !err && verdict == ALIKE && r < t->size; r++)
        err = buf_add(&ids, told->all.p + at[r] + DIGEST_SIZE,
                      (size_t)(at[r + 1] - at[r]) - DIGEST_SIZE);
    settle_sort(&ids);
    if (!err)
        err = buf_add(b, ids.p, ids.len);
    buf_release(&ids);
    return err;
}

/* Find out whether the ranks differ; then they bring their changes together.  *alike: this rank's
 * are those of rank 0. */
static int bring_together(drep_file *f, struct team_call *call, const struct buf *mine,
                          struct assembled *a, bool *alike)
{
    struct team *t = &ranks_of(f)->team;
    struct team_said told = {.at = NULL};
    struct buf verdict = {0};
    int err = team_meet(t, call, mine, verdict_put, t, &told, &verdict);

    if (!err)
        err = leases_end(f, load_u32(verdict.p + VERDICT_USED) != 0);
    if (!err) {
        *alike = told_alike(verdict.p + 4, mine->p);
        a->different = load_u32(verdict.p) == DIFFERENT;
        if (a->different)
            err = assemble(f, *alike, none_told(mine->p), &told, a);
        else
            err = team_kill(
                t, buf_set(&a->waiting, verdict.p + VERDICT_HEAD, verdict.len - VERDICT_HEAD));
    }
    team_said_release(&told);
    buf_release(&verdict);
    return err;
}

/* ---- the result ---- */

enum { RESULT_GRANT = 12, RESULT_KEPT = 36, RESULT_HEAD = 40 };

/* The message of rank 0: a code, the number of the commit, leases, whether it keeps what ranks
 * wrote alone, then its message or the slot. */
static int result_put(drep_file *f, int err, bool kept, bool follows, struct buf *b)
{
    uint8_t head[RESULT_HEAD];
    char why[FAIL_PACKED];
    size_t n = err ? fail_pack(fail_last(), why, sizeof why) : FMT_SLOT_SIZE;
    int failed;

    store_u32(head, (uint32_t)err);
    store_u64(head + 4, f->st->slot.sequence);
    memset(head + RESULT_GRANT, 0, LEASE_GRANT);
    if (follows)
        leases_grant_free(f, ranks_of(f), head + RESULT_GRANT);
    store_u32(head + RESULT_KEPT, kept);
    failed = buf_add(b, head, sizeof head);
    if (!failed)
        failed = buf_reserve(b, b->len + n);
    if (failed)
        return failed;
    if (err)
        memcpy(b->p + b->len, why, n);
    else
        slot_put(b->p + b->len, &f->st->slot);
    b->len += n;
    return 0;
}

/* Rank 0 tells how its commit ended.  A rank that does not hear it cannot know.  kept: also after a
 * failure, its store has all that ranks wrote alone.  follows: the others move to the commit; ids:
 * see follow(). */
static int spread_result(drep_file *f, int err, bool kept, bool follows, const struct id_pairs *ids)
{
    struct team *t = &ranks_of(f)->team;
    struct buf b = {0};
    int failed = t->rank == 0 ? result_put(f, err, kept, follows, &b) : 0, got;

    if (!failed)
        failed = team_bcast(t, &b);
    else
        team_kill(t, failed);
    got = !failed ? (int)load_u32(b.p) : 0;
    if (failed && t->rank > 0)
        failed = fail_in(DREP_ERR_UNKNOWN,
                         "commit %llu may or may not be in the file; open it again to see",
                         (unsigned long long)f->st->slot.sequence + 1);
    else if (got)
        failed = fail_prefix(fail_unpack(got, b.p + RESULT_HEAD, b.len - RESULT_HEAD), "rank 0");
    else if (!failed && follows && t->rank > 0) /* who cannot follow is of no use to the others */
        failed = team_kill(t, follow(f, b.p + RESULT_HEAD, load_u64(b.p + 4), ids));
    if (b.len >= RESULT_HEAD && load_u32(b.p + RESULT_KEPT))
        ranks_settled(ranks_of(f));
    if (b.len >= RESULT_HEAD && t->rank > 0)
        leases_begin(ranks_of(f), b.p + RESULT_GRANT);
    if (b.len >= RESULT_HEAD)
        leases_deal(ranks_of(f), b.p + RESULT_GRANT);
    buf_release(&b);
    return failed;
}

/* ---- the whole ---- */

/* Make all that ranks have done ready for the commit. */
static int prepare(drep_file *f, const char *name, int err, struct assembled *a, bool *alike)
{
    struct team_call call = {.name = name};
    struct buf mine = {0};

    call.err = err ? err : tell_changes(f, &mine);
    err = bring_together(f, &call, &mine, a, alike);
    if (!err)
        err = settle_pending(f, name, &a->waiting, a->known.n ? a->known.ds : NULL, !a->different);
    /* Shapes of others may have moved what was written. */
    if (!err && a->different && a->waiting.len > 0)
        err = leases_settle(f);
    if (!err) {
        call.err = a->failed;
        if (!call.err && f->st->private && ranks_of(f)->wrote && f->st->opts.sync)
            call.err = f->st->io->ops->sync(f->st->io);
        err = team_agree(&ranks_of(f)->team, &call);
    }
    buf_release(&mine);
    return err;
}

/* `err`: why this rank cannot take part.  Unless there is one, the caller has begun a change.
 * goes_on: the handle is used afterwards. */
static int commit(drep_file *f, const char *name, int err, bool goes_on)
{
    struct assembled a = {.stays = goes_on};
    bool alike = false;
    int failed;

    if (!err)
        err = store_may_write(f->st);
    err = prepare(f, name, err, &a, &alike);
    failed = assembled_end(f, &a, err);
    if (!err) {
        bool kept = !failed;

        if (!failed && ranks_of(f)->team.rank == 0)
            failed = file_commit(f);
        err = spread_result(f, failed, kept, goes_on, alike ? NULL : &a.ids);
    }
    if (!err) {
        ranks_committed(ranks_of(f));
        journal_clear(f->st->journal);
        touched_clear(f->st);
    }
    assembled_release(&a);
    return err;
}

int shared_commit(drep_file *f)
{
    int err = change_begin(f), begun = !err;

    err = commit(f, "drep_commit", err, true);
    return begun ? commit_end(f, err) : err;
}

/* Commit, unless a rank must not. */
static int close_commit(drep_file *f, const char *name)
{
    int err = failure_abandons(f) ? failure_repeat(&f->op.failure, false) : change_begin(f);
    bool begun = !err;

    err = fail_in(commit(f, name, err, false), "%s", f->path);
    if (begun)
        alone_end(f);
    return err;
}

/* This rank will not write any more.  When rank 0 has closed the file all have said so: nobody
 * finds it in use then. */
static void unlock_as_rank(drep_file *f)
{
    struct io *base = ranks_base(f);
    struct fail_state why;

    if (!f->st->private)
        return;
    fail_save(&why);
    base->ops->lock(base, FMT_LOCK_RANKS, 1, 0);
    fail_restore(&why);
}

/* What succeeded on each rank is committed; then all give the first failure of the lowest rank that
 * has one. */
int shared_close(drep_file *f)
{
    struct team *t = &ranks_of(f)->team;
    struct team_call call = {.name = "drep_close"};
    struct failure first = f->op.failure; /* the commit forgets it */
    int err = 0;

    if (store_writable(f->st))
        err = close_commit(f, call.name);
    ranks_of(f)->shared.left = err ? true : false; /* others may not close now */
    if (err)
        return err;
    call.err = first.operation ? failure_repeat(&first, true) : 0;
    unlock_as_rank(f);
    err = team_agree(t, &call);
    ranks_of(f)->shared.left = t->dead ? true : false;
    return err;
}

void shared_abandon(drep_file *f, const char *why)
{
    struct team_call call = {.name = "drep_team_abandon", .err = fail(DREP_ERR_FAILED, "%s", why)};

    team_agree(&ranks_of(f)->team, &call);
}
