/* ranks_help.h - stories that ranks tell together, in threads, and one process alone.
 *
 * Ranks run where Check may not assert: each leaves its first failure in its teller. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_RANKS_HELP_H
#define TESTS_UNIT_RANKS_HELP_H

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
static inline bool went(struct teller *me, int err)
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
    int amode;         /* of an existing one; 0: DREP_RDWR */
    const char *style; /* hint access_style of rank 0, with a small cache; NULL: none */
    bool abandons;     /* instead of closing it */
    int64_t timeout;
    const char *hint, *value; /* NULL: none */
    struct teller teller[MAX_RANKS];
    struct thread_team all;
};

/* Hints for files that are the same each time.  Nothing is synced: no machine stops here, and disks
 * would take most of the time. */
static inline drep_info *fixed(void)
{
    drep_info *info;

    if (drep_info_new(&info))
        return NULL;
    drep_info_set(info, "drep_uuid", "000102030405060708090a0b0c0d0e0f");
    drep_info_set(info, "drep_time", "1700000000000000000");
    drep_info_set(info, "drep_sync", "none");
    return info;
}

static inline void rank_body(struct team *t, void *ctx)
{
    struct story *s = ctx;
    struct teller *me = &s->teller[t->rank];
    drep_transport transport = *t->transport;
    drep_info *info = fixed();
    drep_file *f = NULL;

    if (s->hint)
        drep_info_set(info, s->hint, s->value);
    if (s->style && t->rank == 0) {
        drep_info_set(info, "access_style", s->style);
        drep_info_set(info, "drep_cache_size", "100000");
    }
    *me = (struct teller){.rank = t->rank, .ranks = t->size, .ctx = s->ctx, .path = s->path};
    if (went(me, s->existing ? drep_team_open(&transport, t->ctx, s->path,
                                              s->amode ? s->amode : DREP_RDWR, info, &f)
                             : drep_team_create(&transport, t->ctx, s->path, DREP_RDWR, s->datarep,
                                                info, &f))) {
        s->fn(me, f);
        if (s->abandons)
            drep_abandon(f);
        else
            went(me, drep_close(f));
    }
    drep_info_free(info);
}

static inline void story_run(struct story *s, int ranks)
{
    thread_team_init(&s->all, ranks, s->timeout);
    thread_team_run(&s->all, rank_body, s);
    thread_team_release(&s->all);
}

static inline void story_run_well(struct story *s, int ranks)
{
    story_run(s, ranks);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(s->teller[r].err == 0, "rank %d of %d: error %d: %s", r, ranks,
                      s->teller[r].err, s->teller[r].text);
    ck_assert(!s->all.deadlock);
}

/* The same by one process. */
static inline void story_alone(struct story *s)
{
    struct teller me = {.rank = 0, .ranks = 1, .ctx = s->ctx, .path = s->path};
    drep_info *info = fixed();
    drep_file *f;

    if (s->hint)
        drep_info_set(info, s->hint, s->value);
    ok(s->existing ? drep_open(s->path, DREP_RDWR, info, &f)
                   : drep_create(s->path, DREP_RDWR, s->datarep, info, &f));
    s->fn(&me, f);
    ck_assert_msg(me.err == 0, "alone: %s", me.text);
    ok(drep_close(f));
    drep_info_free(info);
}

static inline void same_file(const char *a, const char *b, const char *what, int ranks)
{
    size_t na, nb;
    uint8_t *pa = read_whole_file(a, &na), *pb = read_whole_file(b, &nb);
    size_t i = 0;

    while (i < na && i < nb && pa[i] == pb[i])
        i++;
    ck_assert_msg(na == nb && i == na,
                  "%s by %d ranks: %zu and %zu bytes, the first difference at %zu", what, ranks, na,
                  nb, i);
    free(pa);
    free(pb);
}

/* By the command, of which DATAREP is the path. */
static inline void same_elements(const char *a, const char *b)
{
    char command[1200];

    snprintf(command, sizeof command, "LD_PRELOAD= \"%s\" diff \"%s\" \"%s\"", getenv("DATAREP"), a,
             b);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* A compound of the first n of two numbers. */
static inline drep_type *uint32_pair_type(int n)
{
    const char *const names[2] = {"a", "b"};
    const drep_type *const types[2] = {DREP_UINT32_T, DREP_UINT32_T};
    drep_type *out = NULL;

    drep_type_compound(n, names, NULL, types, 0, &out);
    return out;
}

#endif
