/* shared.c - commit and close of a file that several ranks share.
 *
 * The ranks compare what they changed; rank 0, whose store is the file's, commits; the others move
 * to the new commit.  A rank may have changed nothing: then rank 0's changes are the file's. */
/* SPDX-License-Identifier: MIT */
#include "api/shared.h"

#include "api/follow.h"
#include "api/publish.h"
#include "elem/settle.h"
#include "file/ranks.h"
#include "format/block.h"
#include "tree/journal.h"

#include <string.h>

/* ---- what the ranks changed ---- */

enum { CHANGES_SIZE = 24 };

/* Three numbers of this rank: a digest of its changes, how many there are, a digest of the header.
 */
static int changes_of(drep_file *f, uint8_t bytes[CHANGES_SIZE])
{
    uint64_t digest = 0, n = 0, hints = 0;
    struct buf header = {0};
    size_t split = 0;
    int err = journal_digest(f->st, &digest, &n);

    if (!err)
        err = header_build(f, &header, &split);
    if (!err)
        hints = sum_stored(header.p, header.len);
    store_u64(bytes, digest);
    store_u64(bytes + 8, n);
    store_u64(bytes + 16, hints);
    buf_release(&header);
    return err;
}

/* Compare the changes of all ranks with those of rank 0, which alone calls this. */
static int changes_compare(const struct team *t, const uint8_t *all)
{
    for (int r = 1; r < t->size; r++) {
        const uint8_t *mine = all, *theirs = all + (size_t)r * CHANGES_SIZE;

        if (load_u64(theirs + 8) > 0 && memcmp(mine, theirs, 16) != 0)
            return fail(DREP_ERR_NOT_SAME,
                        "ranks 0 and %d made different changes since the last commit: %llu and "
                        "%llu entries of groups, datasets and attributes",
                        r, (unsigned long long)load_u64(mine + 8),
                        (unsigned long long)load_u64(theirs + 8));
        if (load_u64(theirs + 8) > 0 && memcmp(mine + 16, theirs + 16, 8) != 0)
            return fail(DREP_ERR_NOT_SAME, "ranks 0 and %d have different hints or representations",
                        r);
    }
    return 0;
}

/* ---- the result ---- */

enum { RESULT_HEAD = 12 };

/* The message of rank 0: a code, the number of the commit, then its message or the slot. */
static int result_put(const drep_file *f, int err, struct buf *b)
{
    uint8_t head[RESULT_HEAD];
    size_t n = err ? strlen(fail_text()) : FMT_SLOT_SIZE;
    int failed;

    store_u32(head, (uint32_t)err);
    store_u64(head + 4, f->st->slot.sequence);
    failed = buf_add(b, head, sizeof head);
    if (!failed)
        failed = buf_reserve(b, b->len + n);
    if (failed)
        return failed;
    if (err)
        memcpy(b->p + b->len, fail_text(), n);
    else
        slot_put(b->p + b->len, &f->st->slot);
    b->len += n;
    return 0;
}

/* Rank 0 tells how its commit ended.  A rank that does not hear it cannot know. */
static int spread_result(drep_file *f, int err)
{
    struct team *t = &f->ranks->team;
    struct buf b = {0};
    int failed = t->rank == 0 ? result_put(f, err, &b) : 0, got;

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
        failed =
            fail(got, "rank 0: %.*s", (int)(b.len - RESULT_HEAD), (const char *)b.p + RESULT_HEAD);
    else if (!failed && t->rank > 0)
        failed = follow(f, b.p + RESULT_HEAD, load_u64(b.p + 4));
    buf_release(&b);
    return failed;
}

/* ---- the whole ---- */

/* `err`: why this rank cannot take part.  Unless there is one, the caller has begun a change. */
static int commit(drep_file *f, const char *name, int err)
{
    struct team *t = &f->ranks->team;
    struct team_call call = {.name = name};
    uint8_t mine[CHANGES_SIZE] = {0};
    struct buf all = {0}, offset = {0};

    if (!err)
        err = buf_reserve(&offset, ((uint64_t)t->size + 1) * sizeof(uint64_t));
    err = settle_pending(f, name, err);
    if (err) {
        buf_release(&offset);
        return err;
    }
    if (f->st->shadow && f->ranks->wrote && f->st->opts.sync)
        err = f->st->io->ops->sync(f->st->io);
    if (!err)
        err = changes_of(f, mine);
    call.err = err;
    err = team_agree(t, &call);
    if (!err)
        err = team_gather(t, mine, sizeof mine, &all, (uint64_t *)(void *)offset.p);
    if (!err) {
        if (t->rank == 0)
            err = changes_compare(t, all.p);
        if (!err && t->rank == 0)
            err = file_commit(f);
        err = spread_result(f, err);
    }
    if (!err) {
        ranks_committed(f->ranks);
        journal_clear(f->st->journal);
    }
    buf_release(&all);
    buf_release(&offset);
    return err;
}

int shared_commit(drep_file *f)
{
    int err = change_begin(f), begun = !err;

    err = commit(f, "drep_commit", err);
    return begun ? change_end(f, err) : err;
}

/* The first failure of this rank since the last commit. */
static int earlier_failure(const drep_file *f)
{
    if (f->op.error)
        fail_restore(&f->op.message);
    return f->op.error;
}

int shared_close(drep_file *f)
{
    struct team_call call = {.name = "drep_close"};
    int err = earlier_failure(f), begun;

    if (!store_writable(f->st)) {
        call.err = err;
        return team_agree(&f->ranks->team, &call);
    }
    if (!err)
        err = change_begin(f);
    begun = !err;
    err = fail_in(commit(f, call.name, err), "%s", f->path);
    if (begun)
        alone_end(f);
    return err;
}
