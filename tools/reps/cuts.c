/* cuts.c - transfers of random datatypes, cut in every way.
 *
 * MPI 5.0, 14.7.3: the library may cut a transfer wherever data items end, so any start
 * with any count must do its part of what one call does. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/cuts.h"
#include "tools/reps/guarded.h"
#include "tools/reps/value.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A random type with not too many items, and three tiles of it. */
enum { CUT_ITEMS = 14, CUT_TILES = 3, CUT_MAX = CUT_ITEMS * CUT_TILES };

struct cuts {
    drep_type *type;
    int64_t n, span, size, offset[CUT_MAX + 1];
    uint8_t *user, *user2, *blank; /* values, scratch, no values: all with the same gaps */
    uint8_t *file, *file2;
};

static void cuts_release(struct cuts *c)
{
    drep_type_free(c->type);
    free(c->user);
    free(c->user2);
    free(c->blank);
    free(c->file);
    free(c->file2);
}

static bool cuts_init(struct cuts *c, struct subject *s, struct random *r)
{
    memset(c, 0, sizeof *c);
    do {
        drep_type_free(c->type);
        c->type = type_random(s, r, 2);
    } while (drep_type_items(c->type) > CUT_ITEMS);
    type_spare(c->type);
    c->n = CUT_TILES * drep_type_items(c->type);
    c->span = type_span(c->type, CUT_TILES);
    type_offsets(s, c->type, CUT_TILES, c->offset);
    c->size = c->offset[c->n];
    c->user = aligned_alloc(16, (size_t)(c->span + 15) / 16 * 16);
    c->user2 = aligned_alloc(16, (size_t)(c->span + 15) / 16 * 16);
    c->blank = aligned_alloc(16, (size_t)(c->span + 15) / 16 * 16);
    /* A function that does not know its bounds is found elsewhere. */
    c->file = calloc(1, (size_t)c->size * 4 + 4096);
    c->file2 = calloc(1, (size_t)c->size * 4 + 4096);
    if (!c->user || !c->user2 || !c->blank || !c->file || !c->file2) {
        cuts_release(c);
        return reject(s, "out of memory");
    }
    type_fill(s, c->type, CUT_TILES, VALUES_SMALL, r, 0x33, c->user);
    type_fill(s, c->type, CUT_TILES, VALUES_SMALL, r, 0x33, c->blank);
    return true;
}

/* Every start with every count writes its part of what one call writes. */
static bool cuts_write(struct subject *s, struct cuts *c)
{
    int64_t at, count;
    int err = rep_write(s, c->user, c->type, c->n, c->file, 0);

    for (at = 0; !err && at < c->n; at++)
        for (count = 1; !err && count <= c->n - at; count++) {
            int64_t size = c->offset[at + count] - c->offset[at];

            err = rep_write(s, c->user, c->type, count, c->file2, at);
            if (!err && memcmp(c->file2, c->file + c->offset[at], (size_t)size) != 0)
                return reject(s,
                              "writing %lld items from item %lld of %s on gives other bytes than "
                              "writing all at once",
                              (long long)count, (long long)at, text_of(c->type));
        }
    return !err || reject(s, "the write function gave %d for items of %s", err, text_of(c->type));
}

/* Every start with every count reads those items and no others. */
static bool cuts_read(struct subject *s, struct cuts *c)
{
    int64_t at, count;
    int err = rep_read(s, c->user, c->type, c->n, c->file, 0);

    for (at = 0; !err && at < c->n; at++)
        for (count = 1; !err && count <= c->n - at; count++) {
            /* Before, between and after by three calls: the same as by one. */
            memcpy(c->user2, c->blank, (size_t)c->span);
            if (at > 0)
                err = rep_read(s, c->user2, c->type, at, c->file, 0);
            if (!err)
                err = rep_read(s, c->user2, c->type, count, c->file + c->offset[at], at);
            if (!err && at + count < c->n)
                err = rep_read(s, c->user2, c->type, c->n - at - count,
                               c->file + c->offset[at + count], at + count);
            if (!err && memcmp(c->user2, c->user, (size_t)c->span) != 0)
                return reject(
                    s,
                    "reading %s in calls that begin at items 0, %lld and %lld gives other "
                    "memory than reading all at once",
                    text_of(c->type), (long long)at, (long long)(at + count));
        }
    return !err || reject(s, "the read function gave %d for items of %s", err, text_of(c->type));
}

bool reps_cuts(struct subject *s)
{
    struct random r = {4};
    bool fine = true;
    struct cuts c;
    int i;

    for (i = 0; fine && i < 30; i++) {
        fine = cuts_init(&c, s, &r);
        if (!fine)
            break;
        fine = cuts_write(s, &c) && cuts_read(s, &c);
        cuts_release(&c);
    }
    return fine;
}

/* In a dataset an item's bytes tell its value, wherever it stands: those of every item
 * are those that the same value has alone. */
static bool independent(struct subject *s, const struct cuts *c)
{
    int64_t at = 0, i;
    drep_cursor cursor;
    drep_run run;
    int err = rep_write(s, c->user, c->type, c->n, c->file, 0);

    for (drep_cursor_init(&cursor, c->type, 0); !err && at < c->n;) {
        if (!drep_cursor_next(&cursor, c->n - at, &run))
            break;
        for (i = 0; !err && i < run.count; i++, at++) {
            _Alignas(16) uint8_t item[ITEM_MAX] = {0};
            uint8_t alone[4096];

            memcpy(item, c->user + run.offset + i * run.stride, (size_t)drep_type_size(run.type));
            err = rep_write(s, item, run.type, 1, alone, 0);
            if (!err && memcmp(alone, c->file + c->offset[at],
                               (size_t)(c->offset[at + 1] - c->offset[at])) != 0)
                return reject(
                    s,
                    "the bytes of item %lld (%s) of %s are others than those of its value "
                    "alone",
                    (long long)at, drep_code_name(drep_type_code(run.type)), text_of(c->type));
        }
    }
    return !err || reject(s, "the write function gave %d for items of %s", err, text_of(c->type));
}

bool reps_items(struct subject *s)
{
    struct random r = {5};
    bool fine = true;
    struct cuts c;
    int i;

    for (i = 0; fine && i < 200; i++) {
        fine = cuts_init(&c, s, &r);
        if (!fine)
            break;
        fine = independent(s, &c);
        cuts_release(&c);
    }
    return fine;
}

/* -------------------------------------------------------------------- gaps */

/* Is every byte that belongs to no item as it was filled? */
static bool gaps_are(const struct cuts *c, const uint8_t *user, uint8_t gap)
{
    uint8_t *mask = calloc(1, (size_t)c->span);
    drep_cursor cursor;
    drep_run run;
    int64_t left = c->n, i;
    bool fine = mask != NULL;

    for (drep_cursor_init(&cursor, c->type, 0); fine && left > 0; left -= run.count) {
        if (!drep_cursor_next(&cursor, left, &run))
            break;
        for (i = 0; i < run.count; i++)
            memset(mask + run.offset + i * run.stride, 1, (size_t)drep_type_size(run.type));
    }
    for (i = 0; fine && i < c->span; i++)
        fine = mask[i] || user[i] == gap;
    free(mask);
    return fine;
}

static bool gaps_of(struct subject *s, struct cuts *c)
{
    int err = rep_write(s, c->user, c->type, c->n, c->file, 0);

    /* The same values with other gaps. */
    memcpy(c->user2, c->user, (size_t)c->span);
    if (!err)
        err = rep_read(s, c->user2, c->type, c->n, c->file, 0);
    if (err)
        return reject(s, "a function gave %d for items of %s", err, text_of(c->type));
    if (!gaps_are(c, c->user2, 0x33))
        return reject(s, "the read function changed bytes of %s that belong to no item",
                      text_of(c->type));
    return true;
}

/* The same seed twice: the same values between other gaps. */
static bool gaps_unseen(struct subject *s, struct cuts *c, uint64_t seed)
{
    int err;

    type_fill(s, c->type, CUT_TILES, VALUES_SMALL, &(struct random){seed}, 0x11, c->user);
    err = rep_write(s, c->user, c->type, c->n, c->file, 0);
    type_fill(s, c->type, CUT_TILES, VALUES_SMALL, &(struct random){seed}, 0xee, c->user);
    if (!err)
        err = rep_write(s, c->user, c->type, c->n, c->file2, 0);
    if (err)
        return reject(s, "the write function gave %d for items of %s", err, text_of(c->type));
    return memcmp(c->file, c->file2, (size_t)c->size) == 0 ||
           reject(s, "what is written of %s depends on bytes that belong to no item",
                  text_of(c->type));
}

bool reps_gaps(struct subject *s)
{
    struct random r = {6};
    bool fine = true;
    struct cuts c;
    int i;

    for (i = 0; fine && i < 100; i++) {
        fine = cuts_init(&c, s, &r);
        if (!fine)
            break;
        fine = gaps_of(s, &c) && gaps_unseen(s, &c, (uint64_t)i);
        cuts_release(&c);
    }
    return fine;
}

/* ----------------------------------------------------------------- threads */

enum { THREADS = 8, ROUNDS = 400 };

struct worker {
    struct subject *s;
    struct cuts cuts;
    uint8_t *expect; /* what one thread alone wrote */
    bool wrong;
    int err, rounds;
    pthread_barrier_t *barrier;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct cuts *c = &w->cuts;
    drep_datarep *rep = &w->s->rep;
    int i;

    if (w->barrier)
        pthread_barrier_wait(w->barrier);
    for (i = 0; i < w->rounds && !w->err && !w->wrong; i++) {
        /* In two calls, as the library may cut them. */
        int64_t half = i % c->n;

        if (rep->write && half > 0)
            w->err = rep->write(c->user, c->type, half, c->file, 0, rep->extra_state);
        if (rep->write && !w->err)
            w->err = rep->write(c->user, c->type, c->n - half, c->file + c->offset[half], half,
                                rep->extra_state);
        memcpy(c->user2, c->blank, (size_t)c->span);
        if (rep->read && !w->err)
            w->err = rep->read(c->user2, c->type, c->n, w->expect, 0, rep->extra_state);
        if ((rep->write && memcmp(c->file, w->expect, (size_t)c->size) != 0) ||
            (rep->read && memcmp(c->user2, c->user, (size_t)c->span) != 0))
            w->wrong = true;
    }
    return NULL;
}

static bool worker_init(struct worker *w, struct subject *s, struct random *r)
{
    int err;

    memset(w, 0, sizeof *w);
    w->s = s;
    if (!cuts_init(&w->cuts, s, r))
        return false;
    err = rep_write(s, w->cuts.user, w->cuts.type, w->cuts.n, w->cuts.file, 0);
    if (!err)
        err = rep_read(s, w->cuts.user, w->cuts.type, w->cuts.n, w->cuts.file, 0);
    w->expect = malloc((size_t)w->cuts.size + 1);
    if (!w->expect || err)
        return reject(s, "a function gave %d for items of %s", err, text_of(w->cuts.type));
    memcpy(w->expect, w->cuts.file, (size_t)w->cuts.size);
    w->rounds = (int)w->cuts.n;
    work(w);
    if (w->wrong)
        return reject(s, "one thread alone already gets other results when a transfer is cut");
    w->rounds = ROUNDS;
    return true;
}

/* Eight at once give what each gives alone. */
bool reps_threads(struct subject *s)
{
    struct worker w[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t barrier;
    struct random r = {8};
    bool fine = true;
    int i, n;

    if (s->rep.flags & DREP_REP_SERIAL)
        return true;
    for (i = 0; i < THREADS; i++) {
        if (!worker_init(&w[i], s, &r))
            return false;
        w[i].barrier = &barrier;
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    note_call(s, "the functions in eight threads at once");
    for (n = 0; n < THREADS; n++)
        if (pthread_create(&thread[n], NULL, work, &w[n]) != 0)
            return reject(s, "no thread can be started");
    for (i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    s->findings->doing[0] = '\0';
    for (i = 0; fine && i < n; i++) {
        if (w[i].err)
            fine = reject(s, "a function gave %d with eight threads at work", w[i].err);
        else if (w[i].wrong)
            fine =
                reject(s, "eight threads at once get other results than one alone: not reentrant");
    }
    return fine;
}
