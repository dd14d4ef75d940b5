/* test_team_scale.c - the messages of very many ranks, counted.
 *
 * Ranks are coroutines of one thread: a rank runs until it waits for a message.  Nothing is timed;
 * what counts is how many messages and bytes a collective costs in all, and what the busiest rank
 * sends and receives.  With RANKS=100000 in the environment the table is that of so many ranks. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#ifdef __GLIBC__ /* others have no coroutines */
#include "base/mem.h"
#include "par/shares.h"
#include "par/ranks.h"
#include "tests/unit/bytes.h"

#include <datarep-team.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 128 << 10, DEFAULT_RANKS = 4096, SHARES = 16, CHUNK = 1024 };

struct letter {
    struct letter *next;
    drep_message *m;
};

struct sim_rank {
    ucontext_t context;
    struct team team;
    drep_transport transport;
    struct letter *head, **tail;
    bool waits, over;
    int err;
    int64_t messages, bytes; /* sent and received */
};

typedef int step_fn(struct team *t);

static struct {
    int n;
    struct sim_rank *rank;
    int *ready; /* a ring of ranks that can run */
    int first, count;
    ucontext_t scheduler;
    step_fn *step;
    int64_t messages, bytes;
} sim;

static void make_ready(int rank)
{
    sim.ready[(sim.first + sim.count++) % sim.n] = rank;
}

static int sim_send(void *ctx, int to, drep_message *m)
{
    struct sim_rank *me = ctx, *other = &sim.rank[to];
    struct letter *l = malloc(sizeof *l);

    if (!l)
        abort();
    *l = (struct letter){NULL, m};
    *other->tail = l;
    other->tail = &l->next;
    me->messages++;
    other->messages++;
    sim.messages++;
    me->bytes += (int64_t)m->size;
    other->bytes += (int64_t)m->size;
    sim.bytes += (int64_t)m->size;
    if (other->waits) {
        other->waits = false;
        make_ready(to);
    }
    return 0;
}

static int sim_receive(void *ctx, drep_message **m, int64_t deadline)
{
    struct sim_rank *me = ctx;
    struct letter *l;

    (void)deadline;
    if (!me->head) {
        me->waits = true;
        swapcontext(&me->context, &sim.scheduler);
    }
    l = me->head;
    if (!(me->head = l->next))
        me->tail = &me->head;
    *m = l->m;
    free(l);
    return 0;
}

static void run_rank(int rank)
{
    struct sim_rank *me = &sim.rank[rank];

    me->err = sim.step(&me->team);
    me->over = true;
}

static void sim_new(int ranks)
{
    sim.n = ranks;
    sim.rank = calloc((size_t)ranks, sizeof *sim.rank);
    sim.ready = calloc((size_t)ranks, sizeof *sim.ready);
    if (!sim.rank || !sim.ready)
        abort();
    for (int r = 0; r < ranks; r++) {
        sim.rank[r].transport =
            DREP_TRANSPORT(.rank = r, .ranks = ranks, .send = sim_send, .receive = sim_receive);
        team_init(&sim.rank[r].team, &sim.rank[r].transport, &sim.rank[r]);
        sim.rank[r].tail = &sim.rank[r].head;
    }
}

/* Run a step on all ranks; each has a stack of its own meanwhile. */
static void sim_run(step_fn *step)
{
    size_t size = (size_t)sim.n * STACK;
    char *stacks = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ck_assert_ptr_ne(stacks, MAP_FAILED);
    sim.step = step;
    sim.messages = sim.bytes = 0;
    sim.first = sim.count = 0;
    for (int r = 0; r < sim.n; r++) {
        struct sim_rank *me = &sim.rank[r];

        me->messages = me->bytes = 0;
        me->over = me->waits = false;
        getcontext(&me->context);
        me->context.uc_stack.ss_sp = stacks + (size_t)r * STACK;
        me->context.uc_stack.ss_size = STACK;
        me->context.uc_link = &sim.scheduler;
        makecontext(&me->context, (void (*)(void))run_rank, 1, r);
        make_ready(r);
    }
    while (sim.count > 0) {
        int r = sim.ready[sim.first];

        sim.first = (sim.first + 1) % sim.n;
        sim.count--;
        swapcontext(&sim.scheduler, &sim.rank[r].context);
    }
    for (int r = 0; r < sim.n; r++) {
        ck_assert_msg(sim.rank[r].over, "rank %d waits for ever", r);
        ck_assert_msg(sim.rank[r].err == 0, "rank %d: %s", r, drep_error());
    }
    munmap(stacks, size);
}

/* ---- what the ranks do ---- */

static int agree(struct team *t)
{
    struct team_call call = {.name = "drep_write", .args = 2, .arg = {{"dataset", 1}, {"type", 2}}};

    return team_agree(t, &call);
}

static int broadcast(struct team *t)
{
    struct buf b = {0};
    int err = t->rank ? 0 : buf_reserve(&b, 4096);

    if (!err && !t->rank)
        memset(b.p, 1, b.len = 4096);
    err = err ? err : team_bcast(t, &b);
    if (!err && (b.len != 4096 || b.p[4095] != 1))
        err = DREP_ERR_FAILED;
    buf_release(&b);
    return err;
}

static int reduce(struct team *t)
{
    uint64_t v[2] = {1, (uint64_t)t->rank};
    int err = team_reduce(t, TEAM_SUM, v, 2);

    return err ? err : v[0] != (uint64_t)t->size ? DREP_ERR_FAILED : 0;
}

static int gather(struct team *t, size_t size)
{
    uint64_t *offset = t->rank ? NULL : malloc(((size_t)t->size + 1) * sizeof *offset);
    uint8_t *mine = calloc(size, 1);
    struct buf all = {0};
    int err = team_gather(t, mine, size, &all, offset);

    if (!err && !t->rank && all.len != size * (size_t)t->size)
        err = DREP_ERR_FAILED;
    buf_release(&all);
    free(mine);
    free(offset);
    return err;
}

static int changes(struct team *t)
{
    return gather(t, 24);
}

static int reports(struct team *t)
{
    return gather(t, SHARES * 32);
}

static int places(struct team *t)
{
    uint64_t *offset = malloc(((size_t)t->size + 1) * sizeof *offset);
    struct buf part = {0};
    uint8_t *all = t->rank ? NULL : calloc((size_t)t->size, SHARES * 8);
    int err;

    for (int r = 0; r <= t->size; r++)
        offset[r] = (uint64_t)r * SHARES * 8;
    err = team_scatter(t, all, t->rank ? NULL : offset, &part);
    if (!err && part.len != SHARES * 8)
        err = DREP_ERR_FAILED;
    buf_release(&part);
    free(all);
    free(offset);
    return err;
}

/* Each rank sends 4 KiB to its neighbours in a ring, as for pieces of chunks at borders. */
static int neighbours(struct team *t)
{
    static const uint8_t piece[4096];
    struct team_parcel out[2] = {{(t->rank + 1) % t->size, sizeof piece, piece},
                                 {(t->rank + t->size - 1) % t->size, sizeof piece, piece}};
    struct team_inbox in = {.n = 0};
    int err = team_exchange(t, out, 2, &in);

    if (!err && in.n != 2)
        err = DREP_ERR_FAILED;
    team_inbox_release(&in);
    return err;
}

/* The owners of chunks: `apart` ranks write each chunk, a stretch of SHARES chunks. */
static int owners(struct team *t, int apart)
{
    drep_dataset *ds = calloc(1, sizeof *ds);
    struct shares s = {.n = 0};
    static struct ranks all;
    static drep_file f = {.team = &all.shared};
    int group = t->rank / apart, groups = (t->size - 1) / apart + 1, err = 0;

    all.shared.size = all.team.size = all.buffering.nodes = t->size;
    ds->file = &f;
    ds->rec.layout = FMT_CHUNKED;
    ds->rec.rank = 1;
    ds->rec.chunk[0] = CHUNK;
    ds->rec.len[0] = (uint64_t)groups * SHARES * CHUNK;
    ds->esize = 8;
    for (int k = 0; !err && k < SHARES; k++) {
        struct share_run run = {.chunk = (int64_t)group * SHARES + k,
                                .at = (int64_t)(t->rank % apart) * (CHUNK / apart),
                                .step = 1,
                                .n = CHUNK / apart};

        err = shares_add(&s, &run);
    }
    if (!err)
        err = shares_group(&s);
    if (!err)
        err = shares_meet(t, ds, TOGETHER_BOX, &s);
    for (size_t k = 0; !err && k < s.n; k++)
        if (s.share[k].owner != (s.share[k].whole ? group * apart : 0))
            err = DREP_ERR_FAILED;
    shares_release(&s);
    free(ds);
    return err;
}

static int owners_alone(struct team *t)
{
    return owners(t, 1);
}

static int owners_of_four(struct team *t)
{
    return owners(t, 4);
}

/* ---- the table ---- */

static int ranks_wanted(void)
{
    const char *text = getenv("RANKS");

    return text && atoi(text) > 1 ? atoi(text) : DEFAULT_RANKS;
}

/* messages, most: what a rank may send and receive in all, in parts of the tree's height; bytes:
 * the most that passes one rank, for each rank of the team. */
static const struct {
    const char *name;
    step_fn *step;
    double messages, most, bytes;
} steps[] = {
    {"agree on a call", agree, 2, 2, 0},
    {"broadcast 4 KiB", broadcast, 1, 1, 0},
    {"reduce two numbers", reduce, 2, 2, 0},
    {"gather what changed, 24 bytes each", changes, 1, 1, 60},
    {"owners of 16 chunks, each rank's own", owners_alone, 8, 6, 0},
    {"owners of 16 chunks, of four ranks", owners_of_four, 16, 6, 0},
    {"4 KiB to both neighbours", neighbours, 6, 3, 0},
    {"gather reports of 16 chunks", reports, 1, 1, 600},
    {"give places of 16 chunks", places, 1, 1, 160},
};

START_TEST(test_messages_of_many_ranks)
{
    int ranks = ranks_wanted(), height = 0;

    sim_new(ranks);
    while (1 << height < ranks)
        height++;
    printf("%d ranks; messages and bytes sent; the busiest rank's, sent and received\n", ranks);
    printf("%-38s %10s %14s %10s %12s\n", "", "messages", "bytes", "busiest", "its bytes");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int64_t messages = 0, bytes = 0;

        sim_run(steps[i].step);
        for (int r = 0; r < ranks; r++) {
            messages = sim.rank[r].messages > messages ? sim.rank[r].messages : messages;
            bytes = sim.rank[r].bytes > bytes ? sim.rank[r].bytes : bytes;
        }
        printf("%-38s %10lld %14lld %10lld %12lld\n", steps[i].name, (long long)sim.messages,
               (long long)sim.bytes, (long long)messages, (long long)bytes);
        ck_assert_msg((double)sim.messages <= steps[i].messages * ranks, "%s: %lld messages",
                      steps[i].name, (long long)sim.messages);
        ck_assert_msg((double)messages <= steps[i].most * (height + 4), "%s: %lld of one rank",
                      steps[i].name, (long long)messages);
        ck_assert_msg(bytes <= (int64_t)(steps[i].bytes * ranks) + 200000, "%s: %lld bytes",
                      steps[i].name, (long long)bytes);
    }
    for (int r = 0; r < ranks; r++)
        team_release(&sim.rank[r].team);
    free(sim.rank);
    free(sim.ready);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team_scale");
    TCase *tc = tcase_create("team_scale");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_messages_of_many_ranks);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
#else
#include <stdio.h>

int main(void)
{
    puts("skipped: this C library has no coroutines");
    return 0;
}
#endif
