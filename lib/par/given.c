/* given.c - elements of a merge, for which there is no selection. */
/* SPDX-License-Identifier: MIT */
#include "par/given.h"

#include "base/vec.h"

static int add_piece(void *given, int64_t chunk, int64_t at, int64_t n)
{
    struct given *g = given;

    if (VEC_ROOM(g->piece, g->n, g->room, 1))
        return fail_nomem();
    g->piece[g->n++] = (struct cut_run){.chunk = chunk, .at = at, .n = n};
    return 0;
}

static int add_stepped(struct given *g, int64_t chunk, int64_t at, int64_t step, int64_t n)
{
    int err = 0;

    if (step == 1)
        return add_piece(g, chunk, at, n);
    for (int64_t i = 0; !err && i < n; i++)
        err = add_piece(g, chunk, at + i * step, 1);
    return err;
}

/* Add the elements of a patched chunk that its owner writes. */
static int add_stretches(struct given *g, const struct remote_chunk *c)
{
    int err = 0;

    for (size_t i = 0; !err && i < c->stretches; i++)
        err = add_piece(g, c->chunk, (int64_t)load_u64(c->stretch + i * 16),
                        (int64_t)load_u64(c->stretch + i * 16 + 8));
    return err;
}

static int by_place(const void *a, const void *b)
{
    const struct cut_run *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Elements that several ranks have written come once. */
static void drop_duplicates(struct given *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct cut_run *last = n > 0 ? &g->piece[n - 1] : NULL;
        struct cut_run one = g->piece[i];
        int64_t over = last && last->chunk == one.chunk ? last->at + last->n - one.at : 0;

        over = over > 0 ? over : 0;
        one.at += over;
        one.n -= over;
        if (one.n > 0)
            g->piece[n++] = one;
    }
    g->n = n;
}

int given_make(struct given *g, const struct owning *own, struct remote *remote, int64_t *count)
{
    const struct shares *s = own->shares;
    int err = 0;

    for (size_t i = 0; !err && i < remote->n; i++)
        if (remote->chunk[i].whole && !remote->chunk[i].leased)
            err = chunk_rows(&own->t->ds->rec, remote->chunk[i].chunk, add_piece, g);
        else if (remote->chunk[i].patched)
            err = add_stretches(g, &remote->chunk[i]);
    /* Some came as pieces from this rank, too. */
    for (size_t i = 0; !sends_itself(own->t->ds, s) && !err && i < s->n; i++)
        for (size_t k = 0;
             !s->share[i].whole && !share_is_patched(&s->share[i]) && !err && k < s->share[i].runs;
             k++) {
            const struct share_run *run = &s->run[s->share[i].first + k];

            err = add_stepped(g, run->chunk, run->at, run->step, run->n);
        }
    for (size_t i = 0; !err && i < own->npieces; i++)
        for (uint64_t k = 0; k < own->piece[i].runs && !err; k++) {
            struct share_run run = piece_run(&own->piece[i], k);

            if (!remote_is_owned(remote, run.chunk))
                err = add_stepped(g, run.chunk, run.at, run.step, run.n);
        }
    vec_sort(g->piece, g->n, sizeof *g->piece, by_place);
    drop_duplicates(g);
    *count = 0;
    for (size_t i = 0; i < g->n; i++)
        *count += g->piece[i].n;
    return err;
}
