/* rounds.c - chunks that several ranks read: decoded once by their owners, and sent to the others.
 */
/* SPDX-License-Identifier: MIT */
#include "par/rounds.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "elem/parts.h"
#include "elem/payload.h"
#include "par/ranks.h"
#include "team/outbox.h"

#include <stdlib.h>

enum {
    PARCEL_MIN = 64 << 10, /* bytes of an answer that is not copied to others for its rank */
    UNKNOWN = 1024         /* times its bytes, with a heap of which nothing is known yet */
};

/* A chunk that this rank gives to others in this round: to those of its asks. */
struct giving {
    const struct share *own;
    struct piece *ask;
    size_t n;
    bool again; /* it was begun in a round before */
    struct decoded *d;
    struct buf *answer; /* to each ask */
};

struct rounds {
    struct team *team;
    struct transfer *t;
    const struct shares *s;
    size_t next, given;  /* shares that were asked for, or that this rank owns and gave to all */
    uint64_t awaited;    /* bytes of answers, without their heaps */
    uint64_t fixed, all; /* bytes of answers up to now, without their heaps and with them */
    struct piece *ask;   /* of others, by chunk and rank; their runs are ours */
    size_t nasks, ask_room;
    struct giving *giving;
    size_t ngiving, giving_room;
    struct decoded begun; /* the chunk of share `given`, of which some was given */
    bool is_begun;
    struct piece *answer; /* those that came */
};

/* The bytes that answers will have with their heaps, if these are like those up to now.  The first
 * ones count as if their heaps were large. */
static uint64_t with_heaps(const struct rounds *r, uint64_t size)
{
    if (!r->t->ds->ft->type->variable)
        return size;
    if (r->fixed == 0)
        return size > READ_ROUND / UNKNOWN ? UINT64_MAX : size * UNKNOWN;
    return (uint64_t)((double)size * (double)r->all / (double)r->fixed);
}

static void note_answer(struct rounds *r, int64_t n, uint64_t heap)
{
    uint64_t size = answer_size(r->t->ds, n);

    r->fixed += size;
    r->all += size + heap;
}

/* ---- asking ---- */

static int request_shares(struct rounds *r, struct outbox *o)
{
    int err = 0;

    for (; !err && r->next < r->s->n; r->next++) {
        const struct share *share = &r->s->share[r->next];
        uint64_t size = answer_size(r->t->ds, share->n);
        struct buf *b;

        if (share->owner == r->team->rank)
            continue;
        if (r->awaited > 0 && with_heaps(r, r->awaited + size) > READ_ROUND)
            break;
        r->awaited += size;
        err = outbox_share(o, r->team, share->owner, &b);
        if (!err)
            err = ask_pack(r->s, share, b);
    }
    return err;
}

/* Keeps the asks that came, with their runs, among those that wait. */
static int queue_asks(struct rounds *r, const struct team_inbox *in)
{
    struct piece *list = NULL;
    size_t n = 0;
    int err = pieces_list(r->t->ds, in, &list, &n);

    if (!err && VEC_ROOM(r->ask, r->nasks, r->ask_room, n))
        err = fail_nomem();
    for (size_t i = 0; !err && i < n; i++) {
        struct piece *p = &r->ask[r->nasks];
        uint8_t *run = mem_array(list[i].runs + 1, PIECE_RUN);

        if (!run) {
            err = fail_nomem();
            break;
        }
        memcpy(run, list[i].run, (size_t)list[i].runs * PIECE_RUN);
        *p = list[i];
        p->run = run;
        p->n = 0;
        for (uint64_t k = 0; k < p->runs; k++)
            p->n += (uint64_t)piece_run(p, k).n;
        if (p->n > (uint64_t)INT64_MAX / (uint64_t)r->t->ds->esize / 2)
            err = fail(DREP_ERR_IO, "a broken message of rank %d", p->from);
        r->nasks++;
    }
    mem_free(list);
    if (n > 0 && r->nasks > 1)
        qsort(r->ask, r->nasks, sizeof *r->ask, pieces_order);
    return err;
}

static void ask_done(struct piece *p)
{
    mem_free((void *)(uintptr_t)p->run);
    p->run = NULL;
}

/* ---- giving ---- */

/* Adds what this rank gives of a chunk, as long as there is room; *full: there is no more. */
static int give_chunk(struct rounds *r, const struct share *own, size_t first, size_t n,
                      uint64_t *bytes, bool *full)
{
    struct giving *g;
    size_t fit = 0;

    while (fit < n) {
        uint64_t size = answer_size(r->t->ds, (int64_t)r->ask[first + fit].n);

        if (*bytes > 0 && with_heaps(r, *bytes + size) > READ_ROUND)
            break;
        *bytes += size;
        fit++;
    }
    *full = fit < n;
    if (fit == 0 || (*full && r->ngiving > 0)) /* a chunk in pieces comes alone */
        return 0;
    if (VEC_ROOM(r->giving, r->ngiving, r->giving_room, 1))
        return fail_nomem();
    g = &r->giving[r->ngiving++];
    *g = (struct giving){.own = own, .ask = r->ask + first, .n = fit, .again = r->is_begun};
    g->answer = mem_zalloc(fit, sizeof *g->answer);
    if (g->again || *full)
        g->d = &r->begun;
    if (!*full)
        r->given++;
    return g->answer ? 0 : fail_nomem();
}

/* Chooses what to give: chunks for which all have asked. */
static int choose(struct rounds *r)
{
    const struct shares *s = r->s;
    uint64_t bytes = 0;
    bool full = false;
    size_t at = 0, end;
    int err = 0;

    r->ngiving = 0;
    while (!err && !full && r->given < s->n) {
        const struct share *own = &s->share[r->given];

        if (own->owner != r->team->rank) {
            r->given++;
            continue;
        }
        if (at < r->nasks && r->ask[at].chunk < own->chunk)
            return fail(DREP_ERR_IO, "a broken message of rank %d", r->ask[at].from);
        for (end = at; end < r->nasks && r->ask[end].chunk == own->chunk;)
            end++;
        if (!r->is_begun && end - at < (size_t)own->ranks - 1)
            break;
        err = give_chunk(r, own, at, end - at, &bytes, &full);
        if (r->is_begun || full)
            break; /* it is given alone */
        at = end;
    }
    return err;
}

/* Decodes a chunk, moves what this rank wants of it, and packs what the others want. */
static int give(void *ctx, int64_t i)
{
    struct rounds *r = ctx;
    struct giving *g = &r->giving[i];
    drep_dataset *ds = r->t->ds;
    struct decoded own = {.fixed = 0}, *d = g->d ? g->d : &own;
    struct chunk_part part;
    int err = 0;

    chunk_coord(&ds->rec, g->own->chunk, part.coord);
    if (!g->again) {
        err = chunk_load(ds, part.coord, &d->b, &d->fixed);
        if (!err)
            err = decoded_take(r->t, r->s, g->own, d);
    }
    for (size_t k = 0; !err && k < g->n; k++)
        err = answer_pack(ds, d, &g->ask[k], &g->answer[k]);
    buf_release(&own.b);
    return name_chunk(r->t, &part, err);
}

/* Puts the answers into parcels. */
static int post(struct rounds *r, struct outbox *o)
{
    uint64_t *most = &ranks_of(r->t->ds->file)->counted.given, sum = 0;
    int err = 0;

    for (size_t i = 0; i < r->ngiving; i++)
        for (size_t k = 0; !err && k < r->giving[i].n; k++) {
            struct buf *answer = &r->giving[i].answer[k], *b;
            int to = r->giving[i].ask[k].from;
            int64_t n = (int64_t)r->giving[i].ask[k].n;

            sum += answer->len;
            note_answer(r, n, answer->len - answer_size(r->t->ds, n));
            if (answer->len >= PARCEL_MIN) {
                err = outbox_add(o, to, &b);
                if (!err) {
                    *b = *answer;
                    *answer = (struct buf){0};
                }
                continue;
            }
            err = outbox_share(o, r->team, to, &b);
            if (!err)
                err = buf_add(b, answer->p, answer->len);
        }
    *most = sum > *most ? sum : *most;
    return err;
}

/* Forgets what was given. */
static void gave(struct rounds *r, bool begun)
{
    size_t left = 0;

    for (size_t i = 0; i < r->ngiving; i++) {
        for (size_t k = 0; k < r->giving[i].n; k++) {
            if (r->giving[i].answer)
                buf_release(&r->giving[i].answer[k]);
            ask_done(&r->giving[i].ask[k]);
        }
        mem_free(r->giving[i].answer);
    }
    r->ngiving = 0;
    for (size_t i = 0; i < r->nasks; i++)
        if (r->ask[i].run)
            r->ask[left++] = r->ask[i];
    r->nasks = left;
    r->is_begun = begun;
    if (!begun)
        buf_release(&r->begun.b);
}

static int give_all(struct rounds *r, struct outbox *o)
{
    int err = choose(r);
    bool begun;

    if (!err)
        err = pool_run(r->ngiving > 1 ? r->t->threads : 1, (int64_t)r->ngiving, give, r);
    if (!err)
        err = post(r, o);
    begun = r->ngiving == 1 && r->giving[0].d && r->giving[0].own == &r->s->share[r->given];
    gave(r, begun);
    return err;
}

/* ---- taking ---- */

static int take_piece(void *ctx, int64_t i)
{
    struct rounds *r = ctx;
    const struct piece *p = &r->answer[i];
    const struct share *share = shares_find(r->s, p->chunk);
    struct chunk_part part;
    int err;

    if (!share || share->owner != p->from)
        return fail(DREP_ERR_IO, "a broken message of rank %d", p->from);
    chunk_coord(&r->t->ds->rec, p->chunk, part.coord);
    err = answer_take(r->t, r->s, share, p);
    return name_chunk(r->t, &part, err);
}

static int take_answers(struct rounds *r, const struct team_inbox *in)
{
    uint64_t *most = &ranks_of(r->t->ds->file)->counted.got, bytes = 0, sum = 0;
    size_t n = 0;
    int err = pieces_list(r->t->ds, in, &r->answer, &n);

    for (size_t i = 0; i < in->n; i++)
        sum += in->in[i].size;
    *most = sum > *most ? sum : *most;

    for (size_t i = 0; !err && i < n; i++) {
        bytes += answer_size(r->t->ds, (int64_t)r->answer[i].n);
        note_answer(r, (int64_t)r->answer[i].n, r->answer[i].heap_size);
    }
    if (!err && bytes > r->awaited)
        err = fail(DREP_ERR_IO, "more elements came than rank %d has asked for", r->team->rank);
    if (!err) {
        r->awaited -= bytes;
        err = pool_run(threads_for(r->t, bytes), (int64_t)n, take_piece, r);
    }
    mem_free(r->answer);
    r->answer = NULL;
    return err;
}

/* ---- the rounds ---- */

static int one_round(struct rounds *r, int err)
{
    struct outbox asks = {.n = 0}, answers = {.n = 0};
    struct team_inbox in = {.n = 0};

    if (!err)
        err = request_shares(r, &asks);
    err = outbox_send(&asks, r->team, err, &in);
    if (!err)
        err = queue_asks(r, &in);
    team_inbox_release(&in);
    if (!err)
        err = give_all(r, &answers);
    err = outbox_send(&answers, r->team, err, &in);
    if (!err)
        err = take_answers(r, &in);
    team_inbox_release(&in);
    return err;
}

int rounds_run(struct team *team, struct transfer *t, const struct shares *s, int err)
{
    struct rounds r = {.team = team, .t = t, .s = s};
    uint64_t more[2];

    do {
        int failed;

        err = one_round(&r, err);
        while (r.given < s->n && s->share[r.given].owner != team->rank)
            r.given++;
        more[0] = r.next < s->n || r.awaited > 0 || r.given < s->n;
        more[1] = err ? 1 : 0;
        failed = team_reduce(team, TEAM_MAX, more, 2);
        err = failed ? failed : err;
    } while (!team->dead && more[0] && !more[1]);
    for (size_t i = 0; i < r.nasks; i++)
        ask_done(&r.ask[i]);
    mem_free(r.ask);
    mem_free(r.giving);
    buf_release(&r.begun.b);
    return err;
}
