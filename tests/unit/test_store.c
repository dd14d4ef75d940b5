/* test_store.c - a store that crashes, whose writes fail, whose memory ends, that others
 * look at meanwhile.
 *
 * What a store holds is told by one number, a sum over all its entries and chunks, so that
 * states can be compared. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "faultio.h"

#include "chunk/cache.h"
#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/write.h"
#include "space/space.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/load.h"
#include "tree/walk.h"
#include "txn/check.h"
#include "txn/commit.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/snapshot.h"
#include "txn/txn.h"
#include "tests/unit/bytes.h"
#include "tests/unit/checks.h"

#include "tests/unit/store_opts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 5;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static struct store_opts opts = STORE_OPTS(.lock = 1, .keep = 2, .cache_size = 1 << 18);

#define CHUNKS 8

static void dataset(struct chunks *cs, struct store *st, int filtered)
{
    memset(cs, 0, sizeof(*cs));
    cs->st = st;
    cs->object = filtered ? 51 : 50;
    cs->rank = 1;
    cs->payload = filtered ? 3000 : 12288;
    cs->reserve = filtered ? 0 : CHUNKS * cs->payload;
    if (filtered) {
        cs->nfilters = 1;
        cs->filter[0] = (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {8}};
    }
}

/* What the store holds, in one number; an error when it cannot be read. */
static int content(struct store *st, uint64_t *sum)
{
    static uint8_t bytes[16384];
    struct buf value = {0}, all = {0};
    struct tree_walk w;
    struct key key;
    struct out out;
    int err;

    buf_out(&all, &out);
    key_make(&key, 1, 0);
    tree_walk(&w, st, &key, 0);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        if (key_tag(key.p) == FMT_TAG_CHUNK)
            continue;
        out_bytes(&out, key.p, key.len);
        out_u64(&out, value.len);
        out_bytes(&out, value.p, value.len);
    }
    if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    for (int filtered = 0; !err && filtered < 2; filtered++) {
        struct chunks cs;

        dataset(&cs, st, filtered);
        for (uint64_t c = 0; !err && c < CHUNKS; c++) {
            uint64_t have = 0;

            err = chunk_read(&cs, &c, 0, cs.payload, bytes, &have);
            out_u64(&out, have);
            out_bytes(&out, bytes, err ? 0 : (size_t)have);
        }
    }
    if (buf_done(&all, &out) == 0 && !err)
        *sum = sum_of(all.p, all.len);
    else if (!err)
        err = DREP_ERR_NOMEM;
    buf_release(&all);
    buf_release(&value);
    return err;
}

static uint64_t must_content(struct store *st)
{
    uint64_t sum = 0;
    int err = content(st, &sum);

    ck_assert_msg(err == 0, "%d: %s", err, drep_error());
    return sum;
}

/* Step number i of a piece of work that always does the same. */
static int step(struct store *st, uint64_t i)
{
    static uint8_t bytes[3 * 12288];
    uint64_t keep = seed;
    struct chunks cs;
    struct key key;
    uint64_t c;
    int err = 0;

    seed = 1000003 * (i + 1);
    rnd(2);
    for (size_t k = 0; k < sizeof(bytes); k++)
        bytes[k] = (uint8_t)(i * 13 + k * 7 + (k >> 9));
    for (int k = 0; !err && k < 60; k++) {
        key_make(&key, 1 + rnd(300), FMT_TAG_ATTR);
        key_add_u32(&key, (uint32_t)rnd(5));
        if (rnd(4))
            err = tree_put(st, &key, bytes + rnd(100),
                           (size_t)(rnd(20) ? rnd(300) : 2000 + rnd(9000)));
        else
            err = tree_del(st, &key);
        err = err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    dataset(&cs, st, 0);
    c = rnd(CHUNKS - 2);
    if (!err && rnd(2))
        err = chunk_write(&cs, &c, 1 + rnd(3), bytes, cs.payload);
    c = rnd(CHUNKS);
    if (!err)
        err = chunk_patch(&cs, &c, &(struct patch){rnd(8000), 1 + rnd(4000), bytes, NULL, 0, NULL});
    c = rnd(CHUNKS);
    if (!err && rnd(3) == 0)
        err = chunk_remove(&cs, &c);
    dataset(&cs, st, 1);
    c = rnd(CHUNKS);
    if (!err)
        err = rnd(2) ? chunk_write(&cs, &c, 1, bytes, cs.payload)
                     : chunk_patch(&cs, &c, &(struct patch){100, 500, bytes, NULL, 0, NULL});
    seed = keep;
    return err;
}

static int commit(struct store *st)
{
    static const uint8_t header[6000] = {0, 1};

    /* Too large for the slot, so that there is a continuation. */
    return store_commit(st, header, sizeof(header), 3000);
}

static int in_operation(struct store *st, uint64_t i)
{
    int err = store_op_begin(st);

    if (err)
        return err;
    err = step(st, i);
    if (err)
        store_op_end(st, 0);
    else
        err = store_op_end(st, 1);
    return err;
}

/* ---- crashes ---- */

#define COMMITS 10

/* An earlier commit can be opened, and is whole. */
static void must_keep(struct fault_file *file, uint64_t sequence, uint64_t sum)
{
    struct store_opts earlier = opts;
    struct store *st;
    int err;

    earlier.commit = sequence;
    err = store_open(fault_io(file), 0, &earlier, &st);
    ck_assert_msg(err == 0, "commit %d: %d: %s", (int)sequence, err, drep_error());
    ck_assert_uint_eq(must_content(st), sum);
    store_close(st);
}

static void crash(const struct fault_file *file, size_t n, size_t from, const uint64_t *sums,
                  uint64_t least, uint64_t most)
{
    struct fault_file copy;
    struct store *st;
    uint64_t sequence;
    uint64_t lost = rnd(3) ? rnd(UINT64_MAX) & rnd(UINT64_MAX) : rnd(UINT64_MAX);
    int64_t torn = n > from && rnd(2) ? (int64_t)(from + rnd(n - from)) : -1;
    int err;

    fault_build(file, n, from, rnd(4) ? lost : 0, torn, &copy);
    err = store_open(fault_io(&copy), (int)rnd(2), &opts, &st);
    ck_assert_msg(err == 0, "after %zu writes: %d: %s", n, err, drep_error());
    sequence = store_slot(st)->sequence;
    ck_assert_uint_ge(sequence, least);
    ck_assert_uint_le(sequence, most);
    ck_assert_uint_eq(must_content(st), sums[sequence]);
    if (sequence > 1)
        must_keep(&copy, sequence - 1, sums[sequence - 1]);
    if (store_writable(st)) { /* and it can go on from there */
        ck_assert_int_eq(in_operation(st, 777), 0);
        ck_assert_int_eq(commit(st), 0);
        ck_assert_int_eq(store_damaged_slot(st), 0);
        sequence = must_content(st);
        store_close(st);
        ck_assert_int_eq(store_open(fault_io(&copy), 0, &opts, &st), 0);
        ck_assert_uint_eq(must_content(st), sequence);
    }
    store_close(st);
    fault_release(&copy);
}

START_TEST(test_crash_anywhere)
{
    /* A crash after any write, with any of the writes since the last sync lost or torn,
     * leaves the last commit or the one that was being made.  There is no file before it gets
     * its name, and then nothing of it can be lost: with one sync for the first commit, two for
     * each later one. */
    struct fault_file file;
    uint64_t sums[COMMITS + 2] = {0}, synced[4096] = {0};
    struct store *st;
    size_t n = 0, from = 0;
    uint64_t least = 0;
    int syncs;

    seed = 31 + (uint64_t)_i;
    fault_init(&file);
    file.record = 1;
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t c = 1; c <= COMMITS; c++) {
        for (uint64_t i = 0; i < 1 + c % 3; i++)
            ck_assert_int_eq(in_operation(st, c * 10 + i + (uint64_t)_i * 1000), 0);
        ck_assert_int_eq(commit(st), 0);
        ck_assert_uint_eq(store_slot(st)->sequence, c);
        sums[c] = must_content(st);
        ck_assert_uint_lt(file.events, 4096);
        /* Its last event is the sync behind the slot, and then the name. */
        synced[file.events - 1] = c;
        for (syncs = 0; n < file.events; n++)
            syncs += file.event[n].kind == FAULT_SYNC;
        ck_assert_int_eq(syncs, c == 1 ? 1 : 2);
    }
    for (n = 1; n <= file.events; n++) {
        if (file.event[n - 1].kind == FAULT_SYNC)
            from = n;
        if (synced[n - 1])
            least = synced[n - 1];
        if (file.event[n - 1].kind == FAULT_PUBLISH)
            ck_assert_uint_eq(from, n - 1);
        if (least == 0)
            continue;
        for (int k = 0; k < 3; k++)
            crash(&file, n, from, sums, least, least + 1);
    }
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_killed_before_sync)
{
    /* R6.12: a writer that was killed before its last sync may leave a slot that a crash loses, and
     * then the file is the commit before, with the commits that this one keeps.  Who opens it to
     * write leaves all of them whole up to its own first sync, and syncs no more often for that. */
    struct fault_file file;
    uint64_t sums[COMMITS + 2] = {0};
    struct store *st;
    size_t from = 0, n;

    seed = 77 + (uint64_t)_i;
    fault_init(&file);
    file.record = 1;
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t c = 1; c <= COMMITS; c++) {
        uint64_t before = file.events, syncs = 0;

        ck_assert_int_eq(in_operation(st, c + 100 * (uint64_t)_i), 0);
        ck_assert_int_eq(commit(st), 0);
        sums[c] = must_content(st);
        for (n = before; n < file.events; n++)
            syncs += file.event[n].kind == FAULT_SYNC;
        ck_assert_uint_eq(syncs, c == 1 ? 1 : 2);
        /* The slot of the commit before, whose sync did not happen, may be lost up to this one's
         * first sync. */
        for (n = before; from > 0 && file.event[n].kind != FAULT_SYNC; n++)
            for (int k = 0; k < 3; k++)
                crash(&file, n + 1, from, sums, c - 2, c - 1);
        for (from = file.events - 1; file.event[from - 1].kind != FAULT_SYNC;)
            from--;
        store_close(st);
        ck_assert_int_eq(store_open(fault_io(&file), 1, &opts, &st), 0);
    }
    store_close(st);
    fault_release(&file);
}
END_TEST

/* ---- failures ---- */

/* Does some work with one failure in it; 0 if the failure did not come. */
static int work_with_failure(struct fault_file *file, int64_t n, int memory)
{
    struct store *st = NULL;
    uint64_t before, after;
    int failed = 0;
    int err;

    if (memory)
        mem_fail_at(n);
    else
        file->fail_at = n;
    err = store_open(fault_io(file), 1, &opts, &st);
    if (err) {
        mem_fail_at(-1);
        file->fail_at = -1;
        ck_assert_int_eq(err, memory ? DREP_ERR_NOMEM : DREP_ERR_NO_SPACE);
        return 1;
    }
    for (uint64_t i = 0; i < 4 && !failed; i++) {
        int64_t memory_left = mem_failed(), io_left = file->fail_at;

        err = in_operation(st, 100 + i);
        if (err) {
            failed = 1;
            ck_assert_int_eq(err, memory ? DREP_ERR_NOMEM : DREP_ERR_NO_SPACE);
        } else {
            err = commit(st);
            failed = err != 0;
        }
        (void)memory_left;
        (void)io_left;
    }
    mem_fail_at(-1);
    file->fail_at = -1;
    if (failed && !st->failed) {
        /* What failed is not there, and the handle goes on. */
        before = must_content(st);
        ck_assert_int_eq(commit(st), 0);
        ck_assert_uint_eq(must_content(st), before);
    } else if (failed) {
        ck_assert_int_eq(in_operation(st, 1), DREP_ERR_FAILED);
        ck_assert_int_eq(commit(st), DREP_ERR_FAILED);
    }
    before = failed && st->failed ? 0 : must_content(st);
    store_close(st);
    ck_assert_int_eq(store_open(fault_io(file), 0, &opts, &st), 0);
    after = must_content(st);
    if (before)
        ck_assert_uint_eq(after, before);
    store_close(st);
    return failed;
}

static int count_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err;
    (void)offset;
    (void)message;
    (void)ctx;
    return 0;
}

static void check_structure(struct fault_file *file)
{
    struct store *st;
    int64_t findings = -1;

    ck_assert_int_eq(store_open(fault_io(file), 0, &opts, &st), 0);
    ck_assert_int_eq(store_check(st, count_finding, NULL, NULL, NULL, NULL, &findings, NULL), 0);
    ck_assert_msg(findings == 0, "%s", drep_error());
    store_close(st);
}

START_TEST(test_each_call_fails)
{
    /* The n-th call of the file, or the n-th allocation, fails, for n = 0, 1, 2, ... */
    struct fault_file base, file;
    struct store *st;
    int64_t n = 0;

    fault_init(&base);
    base.record = 1;
    ck_assert_int_eq(store_create(fault_io(&base), &opts, &st), 0);
    for (uint64_t i = 0; i < 5; i++) {
        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
    }
    store_close(st);
    for (n = 0;; n += 1) {
        int failed;

        fault_build(&base, base.events, base.events, 0, -1, &file);
        file.fail_code = DREP_ERR_NO_SPACE;
        failed = work_with_failure(&file, n, _i);
        check_structure(&file);
        fault_release(&file);
        if (!failed && n > 50)
            break;
        ck_assert_int_lt(n, 20000);
    }
    fault_release(&base);
}
END_TEST

START_TEST(test_undo_is_complete)
{
    /* D11: an operation that fails at any call leaves nothing of it. */
    struct fault_file base, file;
    struct store *st;
    int64_t n;

    fault_init(&base);
    base.record = 1;
    ck_assert_int_eq(store_create(fault_io(&base), &opts, &st), 0);
    for (uint64_t i = 0; i < 5; i++) {
        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
    }
    store_close(st);
    for (n = 0; n < 5000; n++) {
        uint64_t before;
        int err;

        fault_build(&base, base.events, base.events, 0, -1, &file);
        ck_assert_int_eq(store_open(fault_io(&file), 1, &opts, &st), 0);
        if (_i >= 2) /* notes go to the file */
            store_set_memory(st, 1000, 300, 2);
        /* Something of the open transaction that must survive. */
        ck_assert_int_eq(in_operation(st, 50), 0);
        ck_assert_int_eq(in_operation(st, 51), 0);
        before = must_content(st);
        if (_i % 2)
            mem_fail_at(n);
        else
            file.fail_at = n;
        err = in_operation(st, 52);
        mem_fail_at(-1);
        file.fail_at = -1;
        if (err && !st->failed)
            ck_assert_uint_eq(must_content(st), before);
        ck_assert_ptr_null(st->failed);
        ck_assert_int_eq(commit(st), 0);
        if (err)
            ck_assert_uint_eq(must_content(st), before);
        before = must_content(st);
        store_close(st);
        ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), 0);
        ck_assert_uint_eq(must_content(st), before);
        store_close(st);
        check_structure(&file);
        fault_release(&file);
        if (!err)
            break;
    }
    ck_assert_int_lt(n, 5000);
    fault_release(&base);
}
END_TEST

START_TEST(test_sync_failure_is_final)
{
    /* D22: after a failed sync the handle refuses every write and never tries again. */
    struct fault_file file;
    struct store *st;
    uint64_t before;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    ck_assert_int_eq(in_operation(st, 1), 0);
    ck_assert_int_eq(commit(st), 0);
    before = must_content(st);
    ck_assert_int_eq(in_operation(st, 2), 0);
    file.fail_syncs = 1;
    ck_assert_int_eq(commit(st), DREP_ERR_IO);
    file.fail_syncs = 0;
    ck_assert_int_eq(commit(st), DREP_ERR_FAILED);
    ck_assert_int_eq(in_operation(st, 3), DREP_ERR_FAILED);
    store_close(st);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), 0);
    ck_assert_uint_eq(must_content(st), before);
    store_close(st);
    fault_release(&file);
}
END_TEST

/* ---- others ---- */

START_TEST(test_two_writers)
{
    struct fault_file file;
    struct store *st, *other;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    ck_assert_int_eq(in_operation(st, 1), 0);
    ck_assert_int_eq(commit(st), 0);
    ck_assert_int_eq(store_open(fault_io(&file), 1, &opts, &other), DREP_ERR_FILE_IN_USE);
    store_close(st);
    ck_assert_int_eq(store_open(fault_io(&file), 1, &opts, &other), 0);
    store_close(other);
    fault_release(&file);
}
END_TEST

START_TEST(test_readers_and_reuse)
{
    /* D16: a reader's lock keeps its snapshot; without one it is told that it is stale. */
    struct fault_file file;
    struct store *st, *locked, *unlocked;
    struct store_opts no_lock = opts;
    uint64_t before, sum;
    int err;

    no_lock.lock = 0;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 10; i++) {
        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
    }
    before = must_content(st);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &locked), 0);
    for (uint64_t i = 0; i < 20; i++) {
        ck_assert_int_eq(in_operation(st, 100 + i), 0);
        ck_assert_int_eq(commit(st), 0);
        node_cache_clear(&locked->tree->nodes);
        ck_assert_uint_eq(must_content(locked), before);
    }
    store_close(locked);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &no_lock, &unlocked), 0);
    err = 0;
    for (uint64_t i = 0; i < 20 && !err; i++) {
        ck_assert_int_eq(in_operation(st, 200 + i), 0);
        ck_assert_int_eq(commit(st), 0);
        node_cache_clear(&unlocked->tree->nodes);
        chunk_cache_clear(unlocked->cache);
        err = content(unlocked, &sum);
    }
    ck_assert_int_eq(err, DREP_ERR_STALE);
    store_close(unlocked);
    store_close(st);
    fault_release(&file);
}
END_TEST

/* ---- races, one call at a time ---- */

#define RACE_COMMITS 20000

/* A writer that commits when a reader makes its call number `at`, or at each of them. */
struct race {
    struct fault_file file;
    struct store *writer;
    struct io *writer_io;
    uint64_t *sums; /* of each commit */
    int64_t calls, at;
    int commits, always;
};

static struct store_opts race_opts;

static void race_commit(struct race *r)
{
    uint64_t next = store_slot(r->writer)->sequence + 1;

    ck_assert_uint_lt(next, RACE_COMMITS);
    ck_assert_int_eq(in_operation(r->writer, next), 0);
    ck_assert_int_eq(commit(r->writer), 0);
    r->sums[next] = must_content(r->writer);
}

static void race_begin(struct race *r, int keep)
{
    memset(r, 0, sizeof(*r));
    race_opts = opts;
    race_opts.keep = keep;
    fault_init(&r->file);
    r->sums = calloc(RACE_COMMITS, sizeof(*r->sums));
    r->writer_io = fault_io(&r->file);
    ck_assert_int_eq(store_create(r->writer_io, &race_opts, &r->writer), 0);
    for (int i = 0; i < 8; i++)
        race_commit(r);
}

static void race_end(struct race *r)
{
    store_close(r->writer);
    fault_release(&r->file);
    free(r->sums);
}

static void race_hook(void *ctx)
{
    struct race *r = ctx;

    if (r->calls++ == r->at || r->always) {
        for (int i = 0; i < r->commits; i++)
            race_commit(r);
    }
}

static void race_arm(struct race *r, struct io *io, int64_t at, int commits)
{
    r->file.hook = race_hook;
    r->file.hook_ctx = r;
    r->file.hook_io = io;
    r->calls = 0;
    r->at = at;
    r->commits = commits;
    r->always = at < 0;
}

/* What a reader looks at is its commit, now and after many more. */
static void race_look(struct race *r, struct store *reader)
{
    r->file.hook = NULL;
    for (int k = 0; k < 2; k++) {
        node_cache_clear(&reader->tree->nodes);
        chunk_cache_clear(reader->cache);
        ck_assert_uint_eq(must_content(reader), r->sums[store_slot(reader)->sequence]);
        for (int i = 0; k == 0 && i < 6; i++)
            race_commit(r);
    }
}

START_TEST(test_D16_opening_while_the_writer_commits)
{
    struct race r;
    int calls = 0;

    race_begin(&r, _i);
    for (int64_t n = -1; n <= calls; n++) {
        for (int commits = 1; commits < 4; commits++) {
            struct io *io = fault_io(&r.file);
            struct store *reader;
            int err;

            race_arm(&r, io, n, commits);
            err = store_open(io, 0, &race_opts, &reader);
            ck_assert_msg(err == 0, "call %lld: %s", (long long)n, drep_error());
            if (n >= 0 && r.calls > calls)
                calls = (int)r.calls;
            race_look(&r, reader);
            store_close(reader);
        }
    }
    ck_assert_int_gt(calls, 5);
    race_end(&r);
}
END_TEST

START_TEST(test_D16_refreshing_while_the_writer_commits)
{
    struct race r;
    int calls = 0;

    race_begin(&r, _i);
    for (int64_t n = -1; n <= calls; n++) {
        for (int commits = 1; commits < 5; commits++) {
            struct io *io = fault_io(&r.file);
            struct store *reader;
            struct snapshot old;
            uint64_t before;
            int moved = 0;

            ck_assert_int_eq(store_open(io, 0, &race_opts, &reader), 0);
            for (int i = 0; i < 4; i++)
                race_commit(&r);
            before = store_slot(r.writer)->sequence;
            race_arm(&r, io, n, commits);
            ck_assert_msg(store_refresh(reader, &old, &moved) == 0, "%s", drep_error());
            ck_assert_int_eq(moved, 1);
            store_refresh_end(reader, &old, commits != 4);
            r.file.hook = NULL;
            if (commits != 4)
                ck_assert_uint_ge(store_slot(reader)->sequence, before);
            if (n >= 0 && r.calls > calls)
                calls = (int)r.calls;
            race_look(&r, reader);
            store_close(reader);
        }
    }
    ck_assert_int_gt(calls, 3);
    race_end(&r);
}
END_TEST

START_TEST(test_D16_opening_earlier_commits_while_the_writer_commits)
{
    int opened = 0, gone = 0, calls = 0;
    struct race r;

    race_begin(&r, 4);
    for (int64_t n = 0; n <= calls; n++) {
        for (int commits = 1; commits < 6; commits++) {
            for (uint64_t back = 0; back < 5; back++) {
                struct store_opts earlier = race_opts;
                struct io *io = fault_io(&r.file);
                struct store *reader;
                int err;

                earlier.commit = store_slot(r.writer)->sequence - back;
                race_arm(&r, io, n, commits);
                err = store_open(io, 0, &earlier, &reader);
                if (r.calls > calls)
                    calls = (int)r.calls;
                ck_assert_msg(err == 0 || err == DREP_ERR_NOT_FOUND, "%d: %s", err, drep_error());
                r.file.hook = NULL;
                if (err) {
                    gone++;
                    continue;
                }
                opened++;
                ck_assert_uint_eq(store_slot(reader)->sequence, earlier.commit);
                race_look(&r, reader);
                store_close(reader);
            }
        }
    }
    ck_assert_int_gt(opened, 50);
    ck_assert_int_gt(gone, 50);
    race_end(&r);
}
END_TEST

/* A reader that opens at a call of the writer. */
struct arrival {
    struct race *race;
    int64_t calls, at;
    uint64_t back;
    struct store *reader;
};

static void arrive(void *ctx)
{
    struct arrival *a = ctx;
    struct store_opts own = race_opts;

    if (a->calls++ != a->at)
        return;
    own.commit = a->back ? store_slot(a->race->writer)->sequence - a->back : 0;
    if (store_open(fault_io(&a->race->file), 0, &own, &a->reader))
        a->reader = NULL;
}

START_TEST(test_D16_readers_that_come_while_a_commit_is_made)
{
    struct arrival a = {.calls = 0};
    struct race r;
    int calls = 0, came = 0;

    race_begin(&r, _i);
    a.race = &r;
    for (int64_t n = 0; n <= calls; n++) {
        for (uint64_t back = 0; back < 3; back++) {
            a.calls = 0;
            a.at = n;
            a.back = back;
            a.reader = NULL;
            r.file.hook = arrive;
            r.file.hook_ctx = &a;
            r.file.hook_io = r.writer_io;
            race_commit(&r);
            r.file.hook = NULL;
            if (a.calls > calls && n < 70)
                calls = (int)a.calls;
            if (!a.reader)
                continue;
            came++;
            race_look(&r, a.reader);
            store_close(a.reader);
        }
    }
    ck_assert_int_gt(came, 100);
    race_end(&r);
}
END_TEST

/* ---- threads ---- */

struct reading {
    struct store *st;
    uint64_t seed, want;
    int bad;
};

static void *read_all(void *ctx)
{
    struct reading *r = ctx;
    uint8_t *bytes = malloc(12288);

    for (int k = 0; k < 300; k++) {
        struct buf value = {0};
        struct chunks cs;
        struct tree_walk w;
        struct key key;
        uint64_t have, c;
        int n = 0;

        r->seed = r->seed * 6364136223846793005ull + 1442695040888963407ull;
        c = r->seed >> 33;
        dataset(&cs, r->st, (int)(c & 1));
        c = c / 2 % CHUNKS;
        r->bad |= chunk_read(&cs, &c, r->seed % 2000, r->seed % 900, bytes, &have);
        key_make(&key, 1 + r->seed % 300, FMT_TAG_ATTR);
        tree_walk(&w, r->st, &key, 0);
        while (n++ < 10 && tree_next(&w, &key, &value) == 0)
            r->bad |= tree_get(r->st, &key, &value);
        buf_release(&value);
    }
    free(bytes);
    return NULL;
}

START_TEST(test_readers_in_threads)
{
    /* Many threads read at once, from a snapshot or from a writer's open transaction. */
    struct reading reading[4];
    pthread_t thread[4];
    struct fault_file file;
    struct store *st;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 30; i++)
        ck_assert_int_eq(in_operation(st, i), 0);
    ck_assert_int_eq(commit(st), 0);
    if (_i) {
        for (uint64_t i = 0; i < 5; i++)
            ck_assert_int_eq(in_operation(st, 50 + i), 0);
    } else {
        store_close(st);
        ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), 0);
    }
    for (int i = 0; i < 4; i++) {
        reading[i] = (struct reading){.st = st, .seed = (uint64_t)i + 9};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_all, &reading[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_int_eq(reading[i].bad, 0);
    }
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_logged_commits_stay_whole)
{
    /* D16: what the log names can be read, also while the next commit is being made. */
    static const int keeps[] = {1, 2, 3, 6};
    struct store_opts keep = opts;
    uint64_t sums[41] = {0};
    struct fault_file file;
    struct store *st, *reader;

    keep.keep = keeps[_i];
    keep.lock = 0;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &keep, &st), 0);
    for (uint64_t i = 1; i <= 40; i++) {
        struct buf value = {0};
        struct tree_walk w;
        struct key from, key;
        int logged = 0, err;

        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
        sums[i] = must_content(st);
        ck_assert_int_eq(in_operation(st, 100 + i), 0); /* under way, and larger than others */
        ck_assert_int_eq(store_open(fault_io(&file), 0, &keep, &reader), 0);
        key_make(&from, 0, FMT_TAG_LOG);
        tree_walk(&w, reader, &from, 9);
        while ((err = tree_next(&w, &key, &value)) == 0) {
            struct ref root = reader->tree->root;
            struct log_rec rec;
            struct in in;

            in_init(&in, value.p, value.len);
            ck_assert_int_eq(log_get(&in, &rec), 0);
            node_cache_clear(&reader->tree->nodes);
            chunk_cache_clear(reader->cache);
            reader->tree->root = rec.root;
            reader->tree->change++;
            ck_assert_uint_eq(must_content(reader), sums[key_u64(key.p + FMT_KEY_HEAD)]);
            reader->tree->root = root;
            reader->tree->change++;
            logged++;
        }
        ck_assert_int_eq(err, DREP_ERR_NOT_FOUND);
        ck_assert_int_eq(logged, i < (uint64_t)keep.keep ? (int)i - 1 : keep.keep - 1);
        buf_release(&value);
        store_close(reader);
    }
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_damaged_slots)
{
    /* Every byte of either slot: damage is seen, and the other slot opens. */
    struct fault_file file;
    struct store *st;
    uint64_t sums[3];

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 1; i <= 2; i++) {
        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
        sums[i] = must_content(st);
    }
    store_close(st);
    for (size_t at = 0; at < 8192; at += at % 4096 < 300 || at % 4096 > 4080 ? 1 : 97) {
        int slot = at < 4096 ? 1 : 2;

        file.p[at] ^= 4;
        ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), 0);
        ck_assert_int_eq(store_damaged_slot(st), slot);
        ck_assert_uint_eq(store_slot(st)->sequence, (uint64_t)(3 - slot));
        ck_assert_uint_eq(must_content(st), sums[3 - slot]);
        store_close(st);
        file.p[at] ^= 4;
    }
    /* A slot of zeros beside a later commit is damage too. */
    memset(file.p, 0, 4096);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), 0);
    ck_assert_int_eq(store_damaged_slot(st), 1);
    store_close(st);
    memset(file.p + 4096, 0, 4096);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &st), DREP_ERR_NOT_DREP);
    fault_release(&file);
}
END_TEST

/* Makes a half-written slot whole at call number `at` of a reader. */
struct torn {
    struct fault_file *file;
    uint8_t whole[4096];
    size_t slot;
    int calls, at;
};

static void heal(void *ctx)
{
    struct torn *t = ctx;

    if (++t->calls == t->at)
        memcpy(t->file->p + t->slot, t->whole, sizeof(t->whole));
}

START_TEST(test_a_slot_being_written_is_not_damaged)
{
    struct fault_file file;
    struct torn t = {.file = &file};
    struct store *st, *reader;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(in_operation(st, i), 0);
        ck_assert_int_eq(commit(st), 0);
    }
    for (int at = 1; at <= 12; at++) { /* 12: nobody is there to make it whole */
        struct io *io = fault_io(&file);

        t.slot = at % 2 ? 0 : 4096;
        t.calls = 0;
        t.at = at < 12 ? at : 0;
        memcpy(t.whole, file.p + t.slot, sizeof(t.whole));
        memset(file.p + t.slot + 700, at, 2000);
        if (at == 12)
            store_close(st);
        file.hook = heal;
        file.hook_ctx = &t;
        file.hook_io = io;
        ck_assert_int_eq(store_open(io, 0, &opts, &reader), 0);
        file.hook = NULL;
        ck_assert_int_eq(store_damaged_slot(reader), at < 12 ? 0 : 2);
        ck_assert_uint_eq(store_slot(reader)->sequence, 3);
        store_close(reader);
    }
    fault_release(&file);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("store");
    TCase *t = tcase_create("store");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_crash_anywhere, 0, sanitized_part(3));
    tcase_add_loop_test(t, test_killed_before_sync, 0, sanitized_part(3));
    tcase_add_loop_test(t, test_each_call_fails, 0, 2);
    tcase_add_loop_test(t, test_undo_is_complete, 0, sanitized_part(4));
    tcase_add_test(t, test_sync_failure_is_final);
    tcase_add_test(t, test_two_writers);
    tcase_add_test(t, test_readers_and_reuse);
    tcase_add_loop_test(t, test_D16_opening_while_the_writer_commits, 1, 3);
    tcase_add_loop_test(t, test_D16_refreshing_while_the_writer_commits, 1, 4);
    tcase_add_test(t, test_D16_opening_earlier_commits_while_the_writer_commits);
    tcase_add_loop_test(t, test_D16_readers_that_come_while_a_commit_is_made, 1, 3);
    tcase_add_loop_test(t, test_readers_in_threads, 0, 2);
    tcase_add_loop_test(t, test_logged_commits_stay_whole, 0, sanitized_part(4));
    tcase_add_test(t, test_damaged_slots);
    tcase_add_test(t, test_a_slot_being_written_is_not_damaged);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
