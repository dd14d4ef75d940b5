/* test_team.c - the patterns of a team of threads, disagreements, and thousands of faults.
 *
 * (fail) is the library's; Check has a macro of that name.  Ranks run in threads, where Check may
 * not assert: they leave what they saw in arrays, which the main thread looks at. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "tests/unit/thread_team.h"
#include "tests/unit/bytes.h"

enum { MAX_RANKS = 17 };

static const int64_t forever = 0, long_time = (int64_t)20e9;

struct seen {
    int err;
    char text[1024];
    bool right;
};

struct trial {
    struct seen seen[MAX_RANKS];
    struct team_call call[MAX_RANKS];
    uint64_t seed;
    int rounds;
    bool apart; /* ranks are in different calls */
};

static void see(struct trial *trial, const struct team *t, int err)
{
    struct seen *s = &trial->seen[t->rank];

    s->err = err;
    snprintf(s->text, sizeof s->text, "%s", err ? drep_error() : "");
}

/* ------------------------------------------------------------------ patterns */

/* The bytes of a rank in a round: the length and the contents follow from the seed. */
static size_t bytes_of(uint8_t *p, uint64_t seed, int rank, size_t most)
{
    struct rnd r;
    size_t i, n;

    rnd_init(&r, seed * 1000003 + (uint64_t)rank);
    n = rnd_below(&r, 4) ? (size_t)rnd_below(&r, most) : 0;
    for (i = 0; i < n; i++)
        p[i] = (uint8_t)rnd_u64(&r);
    return n;
}

static int concat(void *ctx, struct buf *mine, const void *theirs, size_t size)
{
    (void)ctx;
    return buf_add(mine, theirs, size);
}

enum { MOST = 3000 };

static int try_bcast(struct team *t, uint64_t seed, bool *right)
{
    uint8_t want[MOST];
    size_t n = bytes_of(want, seed, 0, MOST);
    struct buf b = {0};
    int err = buf_set(&b, t->rank ? (const uint8_t *)"rest" : want, t->rank ? 4 : n);

    if (!err)
        err = team_bcast(t, &b);
    if (!err)
        *right &= b.len == n && (!n || memcmp(b.p, want, n) == 0);
    buf_release(&b);
    return err;
}

/* Merging by concatenation and gathering give the same bytes; scattering gives them back. */
static int try_gather(struct team *t, uint64_t seed, bool *right)
{
    struct buf merged = {0}, all = {0}, part = {0};
    uint64_t offset[MAX_RANKS + 1];
    uint8_t own[MOST], want[MOST];
    size_t n = bytes_of(own, seed, t->rank, MOST), at = 0;
    int r, err = buf_set(&merged, own, n);

    if (!err)
        err = team_merge(t, 0, &merged, concat, NULL);
    if (!err)
        err = team_gather(t, own, n, t->rank ? NULL : &all, t->rank ? NULL : offset);
    for (r = 0; !err && !t->rank && r < t->size; r++) {
        size_t len = bytes_of(want, seed, r, MOST);

        *right &= offset[r] == at && offset[r + 1] == at + len &&
                  (!len || memcmp(all.p + at, want, len) == 0);
        at += len;
    }
    if (!err && !t->rank)
        *right &= all.len == at && merged.len == at && (!at || !memcmp(all.p, merged.p, at));
    if (!err)
        err = team_scatter(t, all.p, offset, &part);
    if (!err)
        *right &= part.len == n && (!n || memcmp(part.p, own, n) == 0);
    buf_release(&merged);
    buf_release(&all);
    buf_release(&part);
    return err;
}

static const struct team_call equal_call = {.name = "drep_commit", .args = 1, .arg = {{"n", 1}}};

/* The longest of what was said, and its rank. */
static int reply_longest(void *ctx, const struct team_said *said, struct buf *reply)
{
    const struct team *t = ctx;
    uint64_t longest = 0;

    for (int r = 1; r < t->size; r++)
        if (said->at[r + 1] - said->at[r] > said->at[longest + 1] - said->at[longest])
            longest = (uint64_t)r;
    return buf_add(reply, &longest, sizeof longest);
}

/* An agreement in which all say something and hear what rank 0 makes of it. */
static int try_meet(struct team *t, uint64_t seed, bool *right)
{
    struct team_said said = {.at = NULL};
    struct buf mine = {0}, reply = {0};
    uint8_t own[MOST], want[MOST];
    size_t n = bytes_of(own, seed, t->rank, MOST), most = bytes_of(want, seed, 0, MOST);
    uint64_t longest = 0;
    int r, err = buf_set(&mine, own, n);

    for (r = 1; r < t->size; r++)
        if (bytes_of(want, seed, r, MOST) > most) {
            most = bytes_of(want, seed, r, MOST);
            longest = (uint64_t)r;
        }
    if (!err)
        err = team_meet(t, &equal_call, &mine, reply_longest, t, &said, &reply);
    if (!err)
        *right &= reply.len == sizeof longest && !memcmp(reply.p, &longest, sizeof longest);
    for (r = 0; !err && !t->rank && r < t->size; r++) {
        size_t len = bytes_of(want, seed, r, MOST);

        *right &= said.at[r + 1] - said.at[r] == len &&
                  (!len || memcmp(said.all.p + said.at[r], want, len) == 0);
    }
    team_said_release(&said);
    buf_release(&mine);
    buf_release(&reply);
    return err;
}

static int try_reduce(struct team *t, uint64_t seed, bool *right)
{
    uint64_t v[3][2], own = seed * (uint64_t)(t->rank + 1) % 1009, want[3] = {0, UINT64_MAX, 0}, x;
    bool same = false;
    int r, op, err = 0;

    for (op = 0; !err && op < 3; op++) {
        v[op][0] = own;
        v[op][1] = (uint64_t)t->rank;
        err = team_reduce(t, (enum team_op)op, v[op], 2);
    }
    for (r = 0; r < t->size; r++) {
        x = seed * (uint64_t)(r + 1) % 1009;
        want[0] = x > want[0] ? x : want[0];
        want[1] = x < want[1] ? x : want[1];
        want[2] += x;
    }
    for (op = 0; !err && op < 3; op++)
        *right &= v[op][0] == want[op];
    if (!err)
        *right &= v[0][1] == (uint64_t)t->size - 1 && v[1][1] == 0;
    if (!err && (err = team_same(t, seed, &same)) == 0)
        *right &= same;
    if (!err && (err = team_same(t, t->rank == t->size - 1, &same)) == 0)
        *right &= same == (t->size == 1);
    return err;
}

/* The number of parcels from one rank to another in a round. */
static int parcels(uint64_t seed, int from, int to)
{
    struct rnd r;

    rnd_init(&r, seed * 7919 + (uint64_t)(from * 64 + to));
    return rnd_below(&r, 3) ? 0 : (int)rnd_below(&r, 4);
}

static int try_exchange(struct team *t, uint64_t seed, bool *right)
{
    struct team_parcel out[3 * MAX_RANKS];
    uint8_t bytes[3 * MAX_RANKS][64];
    struct team_inbox in = {0};
    size_t n = 0, at = 0;
    int r, i, err;

    for (r = 0; r < t->size; r++)
        for (i = 0; i < parcels(seed, t->rank, r); i++, n++) {
            memset(bytes[n], t->rank, sizeof bytes[n]);
            bytes[n][0] = (uint8_t)i;
            out[n] = (struct team_parcel){
                .to = r, .size = (size_t)(1 + (t->rank + i) % 64), .p = bytes[n]};
        }
    if ((err = team_exchange(t, out, n, &in)) != 0)
        return err;
    for (r = 0; r < t->size; r++)
        for (i = 0; i < parcels(seed, r, t->rank); i++, at++)
            *right &= at < in.n && in.in[at].from == r && in.in[at].p[0] == i &&
                      in.in[at].size == (size_t)(1 + (r + i) % 64) &&
                      (uintptr_t)in.in[at].p % 8 == 0;
    *right &= at == in.n;
    team_inbox_release(&in);
    return 0;
}

static int one_round(struct team *t, uint64_t seed, bool *right)
{
    int err = team_agree(t, &equal_call);

    if (!err)
        err = try_bcast(t, seed, right);
    if (!err)
        err = try_gather(t, seed, right);
    if (!err)
        err = try_meet(t, seed, right);
    if (!err)
        err = try_reduce(t, seed, right);
    if (!err)
        err = try_exchange(t, seed, right);
    return err;
}

static void rounds(struct team *t, void *ctx)
{
    struct trial *trial = ctx;
    bool right = true;
    int i, err = 0;

    for (i = 0; !err && i < trial->rounds; i++)
        err = one_round(t, trial->seed + (uint64_t)i, &right);
    see(trial, t, err);
    trial->seen[t->rank].right = right;
    /* A dead team gives the same error, and keeps the caller's own message out. */
    if (err && team_agree(t, &equal_call) != err)
        trial->seen[t->rank].right = false;
    if (err && strcmp(drep_error(), trial->seen[t->rank].text) != 0)
        trial->seen[t->rank].right = false;
}

START_TEST(test_patterns)
{
    struct thread_team all;
    int size, r;

    for (size = 1; size <= MAX_RANKS; size++) {
        struct trial trial = {.seed = 77 * (uint64_t)size, .rounds = 20};

        thread_team_init(&all, size, size % 2 ? forever : long_time);
        for (r = 0; r < size; r++)
            all.rank[r].max_delay_us = size % 3 ? 0 : 50;
        thread_team_run(&all, rounds, &trial);
        thread_team_release(&all);
        for (r = 0; r < size; r++) {
            ck_assert_msg(trial.seen[r].err == 0, "%d ranks, rank %d: %s", size, r,
                          trial.seen[r].text);
            ck_assert_msg(trial.seen[r].right, "%d ranks, rank %d", size, r);
        }
    }
}
END_TEST

/* -------------------------------------------------------------- disagreement */

/* Two agreements: that of trial->call, and one that shows whether the team lives on.  Ranks in
 * different calls will not meet again. */
static void agree_once(struct team *t, void *ctx)
{
    struct trial *trial = ctx;
    const struct team_call *call = &trial->call[t->rank];
    int again;

    if (call->err)
        (fail)(call->err, "disk %d is full", t->rank);
    see(trial, t, team_agree(t, call));
    again = team_agree(t, &equal_call);
    trial->seen[t->rank].right = again == (trial->apart ? trial->seen[t->rank].err : 0) &&
                                 (!again || strcmp(drep_error(), trial->seen[t->rank].text) == 0);
}

/* All ranks give this error and message. */
static void expect_all(struct trial *trial, int size, int err, const char *text)
{
    struct thread_team all;
    int r;

    trial->apart = strstr(text, " in drep_") != NULL;
    thread_team_init(&all, size, long_time);
    thread_team_run(&all, agree_once, trial);
    thread_team_release(&all);
    for (r = 0; r < size; r++) {
        ck_assert_int_eq(trial->seen[r].err, err);
        ck_assert_str_eq(trial->seen[r].text, text);
        ck_assert(trial->seen[r].right);
    }
}

static void all_call(struct trial *trial, int size, const char *name)
{
    int r;

    *trial = (struct trial){0};
    for (r = 0; r < size; r++)
        trial->call[r] = (struct team_call){
            .name = name, .args = 3, .arg = {{"path", 1}, {"datarep", 2}, {"hint cb_nodes", 3}}};
}

START_TEST(test_disagreements_name_ranks_call_and_argument)
{
    struct trial trial;

    all_call(&trial, 4, "drep_commit");
    trial.call[3].name = "drep_close";
    expect_all(&trial, 4, DREP_ERR_NOT_SAME, "rank 3 is in drep_close, ranks 0-2 in drep_commit");

    all_call(&trial, 9, "drep_write");
    trial.call[0].name = trial.call[4].name = trial.call[5].name = "drep_read";
    expect_all(&trial, 9, DREP_ERR_NOT_SAME,
               "ranks 0, 4-5 are in drep_read, ranks 1-3, 6-8 in drep_write");

    all_call(&trial, 2, "drep_mpi_open");
    trial.call[1].arg[0].hash = 7;
    expect_all(&trial, 2, DREP_ERR_NOT_SAME,
               "drep_mpi_open: rank 1 and rank 0 differ in argument \"path\"");

    all_call(&trial, 7, "drep_mpi_create");
    trial.call[5].arg[1].hash = trial.call[5].arg[2].hash = 9;
    expect_all(&trial, 7, DREP_ERR_NOT_SAME,
               "drep_mpi_create: rank 5 and ranks 0-4, 6 differ in argument \"datarep\"");

    /* A different call is named before a different argument, and both before the rest. */
    all_call(&trial, 6, "drep_commit");
    trial.call[1].arg[2].hash = 4;
    trial.call[4].name = "drep_close";
    trial.call[5].err = DREP_ERR_NO_SPACE;
    expect_all(&trial, 6, DREP_ERR_NOT_SAME,
               "rank 4 is in drep_close, ranks 0, 2-3, 5 in drep_commit; 1 more differ; "
               "rank 5: disk 5 is full");

    /* More ranges than a summary holds. */
    all_call(&trial, 17, "drep_commit");
    for (int r = 1; r < 17; r += 2)
        trial.call[r].name = "drep_close";
    expect_all(&trial, 17, DREP_ERR_NOT_SAME,
               "ranks 1, 3, 5, 7 and 4 more are in drep_close, ranks 0, 2, 4, 6 and 5 more in "
               "drep_commit");
}
END_TEST

START_TEST(test_errors_so_far)
{
    struct trial trial;
    char text[64];
    int size, r;

    for (size = 1; size <= MAX_RANKS; size++)
        for (r = 0; r < size; r++) {
            all_call(&trial, size, "drep_write");
            trial.call[r].err = DREP_ERR_NO_SPACE;
            trial.call[r].arg[0].hash = 0; /* a failed rank does not know its arguments */
            if (r < size - 1)
                trial.call[size - 1].err = DREP_ERR_NOMEM;
            snprintf(text, sizeof text, "rank %d: disk %d is full", r, r);
            expect_all(&trial, size, DREP_ERR_NO_SPACE, text);
        }
}
END_TEST

/* An error of a merge reaches rank 0 and the agreement after it all the others. */
static int merge_fails(void *ctx, struct buf *mine, const void *theirs, size_t size)
{
    (void)mine;
    (void)theirs;
    (void)size;
    return *(int *)ctx == 2 ? (fail)(DREP_ERR_EXISTS, "two values") : 0;
}

static void merge_and_agree(struct team *t, void *ctx)
{
    struct team_call call = equal_call;
    struct buf b = {0};

    call.err = team_merge(t, 0, &b, merge_fails, &t->rank);
    see(ctx, t, team_agree(t, &call));
    buf_release(&b);
}

/* Rank 0 cannot reply: an error of all.  Then a rank that only agrees is in another call. */
static int reply_fails(void *ctx, const struct team_said *said, struct buf *reply)
{
    (void)ctx;
    (void)said;
    return buf_add(reply, "half", 4) ? DREP_ERR_NOMEM : (fail)(DREP_ERR_EXISTS, "two values");
}

static void meet_in_vain(struct team *t, void *ctx)
{
    const struct team_call other = {.name = "drep_close"};
    struct trial *trial = ctx;
    struct team_said said = {.at = NULL};
    struct buf mine = {0}, reply = {0};
    int err = team_meet(t, &equal_call, &mine, reply_fails, NULL, &said, &reply);

    see(trial, t, err);
    team_said_release(&said);
    buf_release(&reply);
    err = t->rank == trial->rounds
              ? team_agree(t, &other)
              : team_meet(t, &equal_call, &mine, reply_fails, NULL, &said, &reply);
    trial->seen[t->rank].right = err == DREP_ERR_NOT_SAME && strstr(drep_error(), "in drep_close");
    if (team_agree(t, &equal_call) != err) /* they will not meet again */
        trial->seen[t->rank].right = false;
    team_said_release(&said);
    buf_release(&reply);
}

START_TEST(test_failed_meeting)
{
    struct thread_team all;

    for (int other = 0; other < 5; other++) {
        struct trial trial = {.rounds = other};

        thread_team_init(&all, 5, long_time);
        thread_team_run(&all, meet_in_vain, &trial);
        thread_team_release(&all);
        for (int r = 0; r < 5; r++) {
            ck_assert_int_eq(trial.seen[r].err, DREP_ERR_EXISTS);
            ck_assert_str_eq(trial.seen[r].text, "rank 0: two values");
            ck_assert_msg(trial.seen[r].right, "rank %d, of which %d is in another call", r, other);
        }
    }
}
END_TEST

START_TEST(test_failed_merge)
{
    struct trial trial = {0};
    struct thread_team all;
    int r;

    thread_team_init(&all, 7, forever);
    thread_team_run(&all, merge_and_agree, &trial);
    thread_team_release(&all);
    for (r = 0; r < 7; r++) {
        ck_assert_int_eq(trial.seen[r].err, DREP_ERR_EXISTS);
        ck_assert_str_eq(trial.seen[r].text, "rank 0: two values");
    }
}
END_TEST

/* -------------------------------------------------------------------- faults */

/* One rank fails at a random send of a random run.  Whatever happens: nobody hangs, results are
 * right, and errors are those of the fault.  Returns whether the fault happened. */
static bool fault_run(uint64_t seed, enum thread_fault fault, int64_t timeout, int most)
{
    struct trial trial = {.seed = seed, .rounds = 3};
    struct thread_team all;
    struct rnd r;
    int size, bad, i, failed = 0;
    bool happened;

    rnd_init(&r, seed);
    size = 2 + (int)rnd_below(&r, (uint64_t)most - 1);
    bad = (int)rnd_below(&r, (uint64_t)size);
    thread_team_init(&all, size, timeout);
    all.rank[bad].fault = fault;
    all.rank[bad].at = (int64_t)rnd_below(&r, 60);
    for (i = 0; i < size; i++)
        all.rank[i].max_delay_us = rnd_below(&r, 8) ? 0 : 100;
    thread_team_run(&all, rounds, &trial);
    ck_assert_msg(!all.deadlock, "seed %d: deadlock", (int)seed);
    happened = all.rank[bad].sends > all.rank[bad].at;
    for (i = 0; i < size; i++) {
        const struct seen *s = &trial.seen[i];

        failed += s->err != 0;
        ck_assert_msg(s->right, "seed %d: rank %d", (int)seed, i);
        ck_assert_msg(!s->err || happened, "seed %d: rank %d: %s", (int)seed, i, s->text);
        if ((fault == SEND_FAILS || fault == NO_MEMORY) && s->err)
            ck_assert_msg(s->err == (fault == NO_MEMORY ? DREP_ERR_NOMEM : DREP_ERR_IO),
                          "seed %d: rank %d: %s", (int)seed, i, s->text);
        else if (s->err && i != bad)
            ck_assert_msg(s->err == DREP_ERR_TIMEOUT, "seed %d: rank %d: %s", (int)seed, i,
                          s->text);
    }
    /* The failed rank itself always sees it. */
    if (happened && fault != RANK_STOPS)
        ck_assert_msg(failed >= 1, "seed %d", (int)seed);
    thread_team_release(&all);
    return happened;
}

/* Runs of each kind of fault: fewer under a sanitizer. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FAULTS = 400 };
#else
enum { FAULTS = 1000 };
#endif

START_TEST(test_failing_sends_are_heard_without_a_timeout)
{
    int i, happened = 0;

    for (i = 0; i < FAULTS; i++)
        happened += fault_run((uint64_t)i, i % 2 ? NO_MEMORY : SEND_FAILS, forever, 9);
    printf("counted: %d failed sends of %d runs\n", happened, FAULTS);
    ck_assert_int_ge(happened, FAULTS / 2);
}
END_TEST

START_TEST(test_dead_and_stopped_ranks)
{
    int i, happened = 0;

    for (i = 0; i < FAULTS; i++)
        happened += fault_run((uint64_t)i + 100000, i % 4 ? RANK_DIES : RANK_STOPS, long_time, 9);
    printf("counted: %d dead or stopped ranks of %d runs\n", happened, FAULTS);
    ck_assert_int_ge(happened, FAULTS / 2);
}
END_TEST

/* A rank that is absent from the start is named by all others. */
static void absent(struct team *t, void *ctx)
{
    struct trial *trial = ctx;

    if ((uint64_t)t->rank == trial->seed)
        return;
    see(trial, t, team_agree(t, &equal_call));
}

START_TEST(test_absent_rank_is_named)
{
    char want[80];
    int bad, r;

    for (bad = 0; bad < 8; bad++) {
        struct trial trial = {.seed = (uint64_t)bad};
        struct thread_team all;

        thread_team_init(&all, 8, long_time);
        thread_team_run(&all, absent, &trial);
        thread_team_release(&all);
        snprintf(want, sizeof want, "drep_commit: rank %d did not answer within 20 s", bad);
        for (r = 0; r < 8; r++)
            if (r != bad) {
                ck_assert_int_eq(trial.seen[r].err, DREP_ERR_TIMEOUT);
                ck_assert_str_eq(trial.seen[r].text, want);
            }
    }
}
END_TEST

/* -------------------------------------------------------------------- memory */

static int nomem_round(struct team *t, bool *right)
{
    uint8_t many[2000] = {0};
    struct buf b = {0};
    int err = buf_set(&b, many, sizeof many);

    if (!err)
        err = one_round(t, 5, right);
    buf_release(&b);
    return err;
}

static void alone(struct team *t, void *ctx)
{
    struct trial *trial = ctx;
    bool right = true;

    see(trial, t, nomem_round(t, &right));
    trial->seen[0].right = right;
}

/* Every allocation of a team of one fails once: an error, no leak, no wrong result. */
START_TEST(test_every_allocation_fails)
{
    int n;

    for (n = 0;; n++) {
        struct trial trial = {0};
        struct thread_team all;
        int64_t failed;

        thread_team_init(&all, 1, forever);
        mem_fail_at(n);
        thread_team_run(&all, alone, &trial);
        failed = mem_failed();
        mem_fail_at(-1);
        thread_team_release(&all);
        ck_assert(trial.seen[0].right);
        ck_assert_int_eq(trial.seen[0].err, failed ? DREP_ERR_NOMEM : 0);
        if (!failed)
            break;
    }
    ck_assert_int_ge(n, 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team");
    TCase *tc = tcase_create("team");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_patterns);
    tcase_add_test(tc, test_disagreements_name_ranks_call_and_argument);
    tcase_add_test(tc, test_errors_so_far);
    tcase_add_test(tc, test_failed_meeting);
    tcase_add_test(tc, test_failed_merge);
    tcase_add_test(tc, test_failing_sends_are_heard_without_a_timeout);
    tcase_add_test(tc, test_dead_and_stopped_ranks);
    tcase_add_test(tc, test_absent_rank_is_named);
    tcase_add_test(tc, test_every_allocation_fails);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
