/* test_ranks.c - files that several ranks share, with threads for ranks.
 *
 * The oracle is the file that one process writes with the same calls: it must be the same, byte for
 * byte.  Ranks run in threads, where Check may not assert: they leave what they saw in arrays. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/thread_team.h"
#include "tests/unit/data_help.h"

#include <datarep-team.h>

enum { MAX_RANKS = 16 };

/* What one rank does, and what came of it. */
struct teller {
    int rank, ranks;
    const void *ctx;
    const char *path;
    int err; /* the first */
    char text[1024];
};

/* Note a failure; true if there was none up to now. */
static bool went(struct teller *me, int err)
{
    if (err && !me->err) {
        me->err = err;
        snprintf(me->text, sizeof me->text, "%s", drep_error());
    }
    return !me->err;
}

typedef void story_fn(struct teller *me, drep_file *f);

struct story {
    story_fn *fn;
    const void *ctx;
    const char *path, *datarep;
    bool existing;
    int64_t timeout;
    struct teller teller[MAX_RANKS];
    struct thread_team all;
};

/* ---- the transport: messages of the thread team ---- */

static int t_send(void *ctx, int to, drep_message *m)
{
    struct team *t = ctx;

    return t->ops->send(t, to, m);
}

static int t_receive(void *ctx, drep_message **m, int64_t deadline)
{
    struct team *t = ctx;

    return t->ops->recv(t, m, deadline);
}

static drep_info *fixed(void)
{
    drep_info *info;

    if (drep_info_new(&info))
        return NULL;
    drep_info_set(info, "drep_uuid", "000102030405060708090a0b0c0d0e0f");
    drep_info_set(info, "drep_time", "1700000000000000000");
    return info;
}

static void rank_body(struct team *t, void *ctx)
{
    struct story *s = ctx;
    struct teller *me = &s->teller[t->rank];
    drep_transport transport = DREP_TRANSPORT(.rank = t->rank, .ranks = t->size,
                                              .timeout_ns = t->timeout, .send = t_send,
                                              .receive = t_receive);
    drep_info *info = fixed();
    drep_file *f = NULL;

    *me = (struct teller){.rank = t->rank, .ranks = t->size, .ctx = s->ctx, .path = s->path};
    if (went(me, s->existing
                     ? drep_team_open(&transport, t, s->path, DREP_RDWR, info, &f)
                     : drep_team_create(&transport, t, s->path, DREP_RDWR, s->datarep, info, &f))) {
        s->fn(me, f);
        went(me, drep_close(f));
    }
    drep_info_free(info);
}

static void story_run(struct story *s, int ranks)
{
    thread_team_init(&s->all, ranks, s->timeout);
    thread_team_run(&s->all, rank_body, s);
    thread_team_release(&s->all);
}

static void story_run_well(struct story *s, int ranks)
{
    story_run(s, ranks);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(s->teller[r].err == 0, "rank %d of %d: error %d: %s", r, ranks,
                      s->teller[r].err, s->teller[r].text);
    ck_assert(!s->all.deadlock);
}

/* The same by one process. */
static void story_alone(struct story *s)
{
    struct teller me = {.rank = 0, .ranks = 1, .ctx = s->ctx, .path = s->path};
    drep_info *info = fixed();
    drep_file *f;

    ok(s->existing ? drep_open(s->path, DREP_RDWR, info, &f)
                   : drep_create(s->path, DREP_RDWR, s->datarep, info, &f));
    s->fn(&me, f);
    ck_assert_msg(me.err == 0, "alone: %s", me.text);
    ok(drep_close(f));
    drep_info_free(info);
}

static uint8_t *read_whole_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    uint8_t *p;
    long n;

    ck_assert_ptr_nonnull(in);
    fseek(in, 0, SEEK_END);
    n = ftell(in);
    rewind(in);
    p = malloc((size_t)n + 1);
    ck_assert_uint_eq(fread(p, 1, (size_t)n, in), (size_t)n);
    fclose(in);
    *size = (size_t)n;
    return p;
}

static void same_file(const char *a, const char *b, const char *what, int ranks)
{
    size_t na, nb;
    uint8_t *pa = read_whole_file(a, &na), *pb = read_whole_file(b, &nb);
    size_t i = 0;

    while (i < na && i < nb && pa[i] == pb[i])
        i++;
    ck_assert_msg(na == nb && i == na, "%s by %d ranks: %zu and %zu bytes, the first difference at %zu",
                  what, ranks, na, nb, i);
    free(pa);
    free(pb);
}

/* ---- metadata ---- */

static void tell_metadata(struct teller *me, drep_file *f)
{
    const int64_t dims[2] = {20, 30};
    drep_dataset *ds = NULL;
    double x = 2.5;
    char path[40];

    for (int round = 0; round < 3 && !me->err; round++) {
        for (int i = 0; i < 20 && !me->err; i++) {
            drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims);

            snprintf(path, sizeof path, "/g%d/d%d", round, i);
            if (i == 0) {
                char group[20];

                snprintf(group, sizeof group, "/g%d", round);
                went(me, drep_group_create(f, group, 0));
            }
            if (went(me, drep_dataset_create(f, path, &spec, &ds)))
                drep_dataset_close(ds);
            went(me, drep_attr_write_double(f, path, "a", x));
        }
        went(me, drep_commit(f));
    }
    went(me, drep_link_remove(f, "/g1/d3"));
}

START_TEST(test_metadata_made_alike)
{
    struct story alone = {.fn = tell_metadata, .path = temp_path("alone.drep"), .datarep = "native"};

    story_alone(&alone);
    for (int ranks = 1; ranks <= 8; ranks++) {
        struct story s = {.fn = tell_metadata, .path = temp_path("ranks.drep"), .datarep = "native"};

        story_run_well(&s, ranks);
        same_file(alone.path, s.path, "metadata", ranks);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks");
    TCase *tc = tcase_create("ranks");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_metadata_made_alike);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
