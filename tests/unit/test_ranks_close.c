/* test_ranks_close.c - the close of a file that ranks share, after a write that failed on some, and
 * after rank 0 has ended without the others.
 *
 * It has one outcome: what succeeded on each rank is committed, and all get the first error; with
 * the hint drep_close=abandon of the rank that failed nothing is.
 *
 * If rank 0 has ended, nobody else writes to the file before the others have (R6.14). */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { EACH = 50, MOST = 5 };

struct plan {
    int who;      /* the ranks whose bit is set fail */
    bool commits; /* between the failure and the close */
    bool together;
};

/* Each rank writes its elements, and some a value that does not fit. */
static void tell_failure(struct teller *me, drep_file *f)
{
    const struct plan *p = me->ctx;
    const int64_t dims = EACH * MOST, chunk = 8, n = EACH, start = EACH * me->rank;
    const bool fails = p->who >> me->rank & 1;
    drep_spec spec = DREP_SPEC(.type = DREP_INT16_T, .rank = 1, .dims = &dims,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_STRICT);
    drep_dataset *ds = NULL;
    int32_t v[EACH];
    int err;

    for (int i = 0; i < EACH; i++)
        v[i] = (int32_t)start + i;
    if (!went(me, drep_dataset_create(f, "/d", &spec, &ds)) || !went(me, drep_commit(f)))
        return;
    went(me, drep_write_box(ds, &start, &n, DREP_INT32_T, v, &xfer));
    if (fails)
        v[EACH - 1] = 1 << 20;
    xfer.collective = p->together;
    err = fails || p->together ? drep_write_box(ds, &start, &n, DREP_INT32_T, v, &xfer) : 0;
    if (err != (fails || (p->together && p->who) ? DREP_ERR_CONVERSION : 0))
        me->err = -1;
    if (p->commits)
        went(me, drep_commit(f));
    drep_dataset_close(ds);
}

static void look(const char *path, int ranks, bool committed)
{
    int32_t seen[EACH * MOST];
    drep_dataset *ds;
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/d", &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    for (int i = 0; i < EACH * MOST; i++)
        ck_assert_int_eq(seen[i], committed && i < EACH * ranks ? i : 0);
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_close(f));
}

static void run(struct plan *p, int ranks, const char *hint)
{
    const char *path = temp_path("close.drep");
    struct story s = {.fn = tell_failure, .path = path, .ctx = p, .datarep = "external32"};
    bool kept = p->commits || !hint || !p->who;
    int want = p->who && !p->commits ? DREP_ERR_CONVERSION : 0;
    char first[20];

    s.hint = hint ? "drep_close" : NULL;
    s.value = hint;
    snprintf(first, sizeof first, "rank %d: ", __builtin_ffs(p->who) - 1);
    story_run(&s, ranks);
    ck_assert(!s.all.deadlock);
    for (int r = 0; r < ranks; r++) {
        const char *text = s.teller[r].text;

        ck_assert_msg(s.teller[r].err == want, "rank %d of %d: %d: %s", r, ranks, s.teller[r].err,
                      text);
        ck_assert_msg(!want || strstr(text, first), "%s", text);
        ck_assert_msg(!want || strstr(text, kept ? "what succeeded was committed" : "was kept"),
                      "%s", text);
        ck_assert_str_eq(text, s.teller[0].text);
    }
    look(path, ranks, kept);
    unlink(path);
}

START_TEST(test_D43_close_has_one_outcome)
{
    for (int ranks = 2; ranks <= MOST; ranks += 3)
        for (int who = 0; who < 1 << ranks; who += who < 3 ? 1 : 7)
            for (int commits = 0; commits < 2; commits++) {
                struct plan p = {.who = who, .commits = commits};

                run(&p, ranks, commits ? "abandon" : NULL);
                if (who == 2)
                    run(&p, ranks, commits ? NULL : "abandon");
            }
}
END_TEST

/* A write of all that failed for one. */
START_TEST(test_D43_close_after_a_failed_collective_write)
{
    for (int ranks = 2; ranks <= MOST; ranks += 3)
        for (int who = 1; who < 1 << ranks; who *= 4) {
            struct plan p = {.who = who, .together = true};

            run(&p, ranks, NULL);
            run(&p, ranks, "abandon");
        }
}
END_TEST

/* ---- rank 0 ends first ---- */

enum { RANKS = 3, CHUNK = 1 << 14, CHUNKS = 32 };

static void new_chunks(const char *path)
{
    const int64_t dims = (int64_t)CHUNK * CHUNKS, chunk = CHUNK;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_file *f = new_file(path, "native");

    ok(drep_dataset_create(f, "/d", &spec, NULL));
    ok(drep_close(f));
}

static int put_chunks(drep_file *f, int64_t first, int64_t n, int32_t value)
{
    static int32_t v[CHUNK * CHUNKS];
    const int64_t start = first * CHUNK, count = n * CHUNK;
    drep_dataset *ds = NULL;
    int err = drep_dataset_open(f, "/d", &ds);

    for (int64_t i = 0; i < count; i++)
        v[i] = value;
    if (!err)
        err = drep_write_box(ds, &start, &count, DREP_INT32_T, v, NULL);
    drep_dataset_close(ds);
    return err;
}

/* The error with which all elements can be read, which are one value. */
static int all_are(const char *path, int32_t value)
{
    static int32_t v[CHUNK * CHUNKS];
    drep_dataset *ds;
    drep_file *f;
    int err;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/d", &ds));
    err = drep_read(ds, NULL, DREP_INT32_T, v, NULL);
    for (int i = 0; !err && i < CHUNK * CHUNKS; i++)
        ck_assert_int_eq(v[i], value);
    drep_dataset_close(ds);
    ok(drep_close(f));
    return err;
}

/* A rank in a process of its own.  Messages are packets of a socket to each other rank. */
struct process {
    int rank, to[RANKS];
    int writes, go; /* a byte is written before its payload is, and one read */
};

static int send_packet(void *ctx, int to, drep_message *m)
{
    const struct process *p = ctx;
    ssize_t n = send(p->to[to], DREP_MESSAGE_BYTES(m), m->size, MSG_NOSIGNAL);
    int err = n == (ssize_t)m->size ? 0 : DREP_ERR_IO;

    drep_message_free(m);
    return err;
}

static int receive_packet(void *ctx, drep_message **m, int64_t deadline)
{
    const struct process *p = ctx;
    static uint8_t bytes[1 << 16];
    struct pollfd fd[RANKS];
    ssize_t n = 0;

    (void)deadline;
    for (int r = 0; r < RANKS; r++)
        fd[r] = (struct pollfd){.fd = p->to[r], .events = POLLIN};
    if (poll(fd, RANKS, -1) < 0)
        return DREP_ERR_IO;
    for (int r = 0; r < RANKS; r++) {
        if (!fd[r].revents)
            continue;
        n = recv(p->to[r], bytes, sizeof bytes, 0);
        if (n <= 0 || !(*m = drep_message_new((size_t)n)))
            break;
        (*m)->from = r;
        memcpy(DREP_MESSAGE_BYTES(*m), bytes, (size_t)n);
        return 0;
    }
    return DREP_ERR_IO; /* a rank is gone */
}

/* The library reads and writes these bytes itself, when it may. */
static int late_read(void *state, const drep_range *range, size_t n)
{
    (void)state;
    (void)range;
    (void)n;
    return DREP_ERR_UNSUPPORTED_OPERATION;
}

static int late_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    const struct process *p = state;
    char c = 0;

    (void)buf;
    (void)size;
    (void)offset;
    return write(p->writes, &c, 1) == 1 && read(p->go, &c, 1) == 1 ? DREP_ERR_UNSUPPORTED_OPERATION
                                                                   : DREP_ERR_IO;
}

static int late_payload(void *ctx, const char *path, int amode, const drep_info *info,
                        drep_driver *driver, void **state)
{
    (void)path;
    (void)amode;
    (void)info;
    driver->read_many = late_read;
    driver->write_at = late_write;
    *state = ctx;
    return 0;
}

/* Write a chunk alone, to space that rank 0 has given. Rank 0 waits to be killed. */
static int rank_of_job(struct process *p, const char *path)
{
    drep_transport t = DREP_TRANSPORT(.rank = p->rank, .ranks = RANKS, .send = send_packet,
                                      .receive = receive_packet, .payload = late_payload);
    drep_file *f;

    if (drep_team_open(&t, p, path, DREP_RDWR, NULL, &f))
        return 1;
    if (p->rank == 0)
        for (;;)
            pause();
    if (put_chunks(f, p->rank, 1, 100 + p->rank))
        return 2;
    return drep_close(f) ? 0 : 3; /* rank 0 is gone */
}

struct job {
    pid_t pid[RANKS];
    int writes, go[RANKS]; /* the parent's ends */
};

/* Start all ranks, and wait until those but 0 are about to write. */
static void job_begin(struct job *j, const char *path)
{
    int pair[RANKS][RANKS], writes[2], go[RANKS][2], two[2];
    char c;

    ck_assert_int_eq(pipe(writes), 0);
    for (int r = 0; r < RANKS; r++) {
        ck_assert_int_eq(pipe(go[r]), 0);
        pair[r][r] = -1;
        for (int k = 0; k < r; k++) {
            ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, two), 0);
            pair[r][k] = two[0];
            pair[k][r] = two[1];
        }
    }
    for (int r = 0; r < RANKS; r++) {
        struct process p = {.rank = r, .writes = writes[1], .go = go[r][0]};

        memcpy(p.to, pair[r], sizeof p.to);
        j->pid[r] = fork();
        ck_assert_int_ge(j->pid[r], 0);
        if (j->pid[r])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
        for (int k = 0; k < RANKS; k++)
            for (int i = 0; i < RANKS; i++)
                if (k != r && i != k)
                    close(pair[k][i]);
        _exit(rank_of_job(&p, path));
    }
    for (int r = 0; r < RANKS; r++) {
        close(go[r][0]);
        j->go[r] = go[r][1];
        for (int k = 0; k < RANKS; k++)
            if (k != r)
                close(pair[r][k]);
    }
    close(writes[1]);
    j->writes = writes[0];
    for (int r = 1; r < RANKS; r++)
        ck_assert_int_eq(read(j->writes, &c, 1), 1);
}

static void kill_rank_0(struct job *j)
{
    ck_assert_int_eq(kill(j->pid[0], SIGKILL), 0);
    ck_assert_int_eq(waitpid(j->pid[0], NULL, 0), j->pid[0]);
}

/* Let a rank write, and wait until it has ended. */
static void rank_ends(struct job *j, int r)
{
    int status;

    ck_assert_int_eq(write(j->go[r], "", 1), 1);
    ck_assert_int_eq(waitpid(j->pid[r], &status, 0), j->pid[r]);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "rank %d ended with %x", r,
                  status);
}

static void job_end(struct job *j)
{
    for (int r = 0; r < RANKS; r++)
        close(j->go[r]);
    close(j->writes);
}

static int open_with(const char *path, const char *hint, const char *value, drep_file **f)
{
    drep_info *info;
    int err;

    ok(drep_info_new(&info));
    if (hint)
        ok(drep_info_set(info, hint, value));
    err = drep_open(path, DREP_RDWR, info, f);
    drep_info_free(info);
    return err;
}

static void ranks_are_left(const char *path)
{
    drep_file *f;

    fails(open_with(path, NULL, NULL, &f), DREP_ERR_FILE_IN_USE);
    ck_assert_msg(strstr(drep_error(), "ranks of a parallel job") && strstr(drep_error(), path),
                  "%s", drep_error());
    fails(open_with(path, "drep_lock_wait", "0.05", &f), DREP_ERR_FILE_IN_USE);
    ck_assert_msg(strstr(drep_error(), "ranks of a parallel job") &&
                      strstr(drep_error(), "after 0.05 s"),
                  "%s", drep_error());
    fails(drep_create(path, DREP_RDWR, "native", NULL, &f), DREP_ERR_FILE_IN_USE);
    ck_assert_msg(strstr(drep_error(), "ranks of a parallel job"), "%s", drep_error());
    ck_assert_int_eq(all_are(path, 0), 0);
}

/* Rank 0 is killed while the others are about to write to space that it has given them.  Nobody
 * else can write before the last of them has ended. */
START_TEST(test_rank_0_is_killed)
{
    const char *path = temp_path("killed.drep");
    struct job j;
    drep_file *f;

    new_chunks(path);
    job_begin(&j, path);
    fails(open_with(path, NULL, NULL, &f), DREP_ERR_FILE_IN_USE);
    ck_assert_msg(strstr(drep_error(), "another writer"), "%s", drep_error());
    kill_rank_0(&j);
    for (int r = 1; r < RANKS; r++) {
        ranks_are_left(path);
        rank_ends(&j, r);
    }
    job_end(&j);
    ok(open_with(path, NULL, NULL, &f));
    ok(put_chunks(f, 0, CHUNKS, 7));
    check_file(f);
    ok(drep_close(f));
    ck_assert_int_eq(all_are(path, 7), 0);
    unlink(path);
}
END_TEST

/* What the lock prevents: a writer that asks for no lock commits to the space that the ranks still
 * write to, and they overwrite its commit. */
START_TEST(test_rank_0_is_killed_without_locks)
{
    const char *path = temp_path("unlocked.drep");
    struct job j;
    drep_file *f;

    new_chunks(path);
    job_begin(&j, path);
    kill_rank_0(&j);
    ok(open_with(path, "drep_lock", "false", &f));
    ok(put_chunks(f, 0, CHUNKS, 7));
    ok(drep_close(f));
    ck_assert_int_eq(all_are(path, 7), 0);
    for (int r = 1; r < RANKS; r++)
        rank_ends(&j, r);
    job_end(&j);
    ck_assert_int_eq(all_are(path, 7), DREP_ERR_CHECKSUM);
    unlink(path);
}
END_TEST

/* ---- what rank 0 may do afterwards ---- */

struct after {
    const char *path;
    bool abandons;
    pthread_barrier_t met;
    int err[2]; /* of the first rank to open the file again: at once, and when the others are gone
                 */
};

static int slow_receive(void *ctx, drep_message **m, int64_t deadline)
{
    const struct thread_rank *me = ctx;
    drep_transport t = thread_transport(me->all, me->number);
    int err = t.receive(ctx, m, deadline);

    if (me->number > 0) /* it learns late that all have closed the file */
        usleep(5000);
    return err;
}

static void close_and_open(struct team *t, void *ctx)
{
    drep_transport transport = *t->transport;
    struct after *a = ctx;
    drep_file *f = NULL;

    transport.receive = slow_receive;
    if (drep_team_open(&transport, t->ctx, a->path, DREP_RDWR, NULL, &f))
        abort();
    if (t->rank > 0 && a->abandons)
        pthread_barrier_wait(&a->met);
    if (a->abandons)
        drep_abandon(f);
    else if (drep_close(f))
        abort();
    for (int i = 0; i < 2; i++) {
        if (t->rank == 0) {
            f = NULL;
            a->err[i] = drep_open(a->path, DREP_RDWR, NULL, &f);
            drep_abandon(f);
        }
        if (t->rank == 0 && i == 0 && a->abandons)
            pthread_barrier_wait(&a->met);
        if (i == 0)
            pthread_barrier_wait(&a->met);
    }
}

/* A file that all have closed is free at once; one that rank 0 alone has left is not. */
START_TEST(test_rank_0_opens_the_file_again)
{
    struct after a = {.path = temp_path("again.drep"), .abandons = _i};
    struct thread_team all = {.size = 0};

    new_chunks(a.path);
    pthread_barrier_init(&a.met, NULL, RANKS);
    thread_team_init(&all, RANKS, 0);
    thread_team_run(&all, close_and_open, &a);
    thread_team_release(&all);
    pthread_barrier_destroy(&a.met);
    ck_assert_int_eq(a.err[0], a.abandons ? DREP_ERR_FILE_IN_USE : 0);
    ck_assert_int_eq(a.err[1], 0);
    unlink(a.path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_close");
    TCase *tc = tcase_create("ranks_close");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_D43_close_has_one_outcome);
    tcase_add_test(tc, test_D43_close_after_a_failed_collective_write);
    tcase_add_test(tc, test_rank_0_is_killed);
    tcase_add_test(tc, test_rank_0_is_killed_without_locks);
    tcase_add_loop_test(tc, test_rank_0_opens_the_file_again, 0, 2);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
