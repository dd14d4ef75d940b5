/* exchange.c - each rank sends to some, and nobody knows from how many.
 *
 * Non-blocking consensus with messages to single ranks alone: a receiver acknowledges each parcel;
 * a rank whose own parcels are all acknowledged, and whose children have reported, reports to its
 * parent; rank 0 then knows that every parcel has arrived, and says so down the tree.  Until it
 * hears that, a rank takes parcels. */
/* SPDX-License-Identifier: MIT */
#include "team/wire.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>

struct parcel_exchange {
    struct team *t;
    struct team_inbox *in;
    const struct team_parcel *out;
    uint8_t *sent;   /* of each parcel in `out`: 1 until it is acknowledged */
    size_t n, waits; /* parcels, and those not acknowledged yet ... */
    size_t first;    /* ... of which none is before this one */
    uint32_t silent; /* bit k: child number k has not reported */
    bool over;
};

/* Keep a parcel; the message is the inbox's, or freed on failure. */
static int inbox_add(struct team_inbox *in, struct drep_message *m, const uint8_t *p, size_t size)
{
    int err = VEC_ROOM(in->in, in->n, in->room, 1);

    if (err) {
        mem_free(m);
        return err;
    }
    in->in[in->n] =
        (struct team_arrival){.from = m->from, .size = size, .p = p, .message = m, .turn = in->n};
    in->n++;
    return 0;
}

/* Copy a parcel that a rank sends to itself. */
static int inbox_add_own(struct parcel_exchange *x, const struct team_parcel *o)
{
    struct drep_message *m = mem_alloc((uint64_t)o->size + sizeof *m);

    if (!m)
        return DREP_ERR_NOMEM;
    m->from = x->t->rank;
    m->size = o->size;
    if (o->size)
        memcpy(m->bytes, o->p, o->size);
    return inbox_add(x->in, m, m->bytes, o->size);
}

static int send_all(struct parcel_exchange *x)
{
    size_t i;
    int err = 0;

    if (!(x->sent = mem_zalloc(x->n, 1)))
        return team_kill(x->t, DREP_ERR_NOMEM);
    for (i = 0; !err && i < x->n; i++) {
        const struct team_parcel *o = &x->out[i];

        if (o->to == x->t->rank) {
            err = team_kill(x->t, inbox_add_own(x, o));
            continue;
        }
        x->sent[i] = 1;
        x->waits++;
        err = wire_send(x->t, o->to, FRAME_PARCEL, i, o->p, o->size);
    }
    return err;
}

/* The note of an acknowledgement is the parcel's index. */
static int acked(struct parcel_exchange *x, int from, uint64_t i)
{
    if (i >= x->n || x->out[i].to != from || !x->sent[i])
        return team_kill(x->t, fail(DREP_ERR_FAILED, "%s: invalid acknowledgement of rank %d",
                                    x->t->call, from));
    x->sent[i] = 0;
    x->waits--;
    return 0;
}

/* A child's subtree has nothing left to send: child number k is 2^k ranks further. */
static int reported(struct parcel_exchange *x, int from)
{
    uint32_t step = (uint32_t)(from - x->t->rank);

    if (__builtin_popcount(step) != 1 || !(x->silent & step))
        return team_kill(x->t,
                         fail(DREP_ERR_FAILED, "%s: invalid report of rank %d", x->t->call, from));
    x->silent &= ~step;
    return 0;
}

/* Take a frame of any rank; the message is freed or kept. */
static int take(struct parcel_exchange *x, struct drep_message *m)
{
    unsigned kind = frame_kind(m);
    uint64_t note = frame_note(m);
    int from = m->from, err;

    if (kind == FRAME_PARCEL) {
        err = team_kill(x->t, inbox_add(x->in, m, frame_body(m), frame_size(m)));
        return err ? err : wire_send(x->t, from, FRAME_ACK, note, NULL, 0);
    }
    mem_free(m);
    if (kind == FRAME_ACK)
        return acked(x, from, note);
    if (kind == FRAME_UP)
        return reported(x, from);
    if (!x->t->rank || from != tree_parent(x->t->rank))
        return team_kill(x->t,
                         fail(DREP_ERR_FAILED, "%s: rank %d ended the exchange", x->t->call, from));
    x->over = true;
    return 0;
}

/* The rank that a give-up names, and the patience with it. */
static int64_t awaited(struct parcel_exchange *x, int *rank)
{
    if (x->waits) {
        while (!x->sent[x->first])
            x->first++;
        *rank = x->out[x->first].to;
        return wire_patience_up(x->t, 1);
    }
    if (x->silent) {
        *rank = tree_child(x->t, __builtin_ctz(x->silent));
        return wire_patience_up(x->t, *rank);
    }
    *rank = tree_parent(x->t->rank);
    return wire_patience_down(x->t);
}

static int tell_children(struct team *t)
{
    int k, child, err = 0;

    for (k = t->height; !err && k >= 0; k--)
        if ((child = tree_child(t, k)) >= 0)
            err = wire_send(t, child, FRAME_DOWN, 0, NULL, 0);
    return err;
}

static int converse(struct parcel_exchange *x)
{
    static const unsigned kinds =
        1u << FRAME_PARCEL | 1u << FRAME_ACK | 1u << FRAME_UP | 1u << FRAME_DOWN;
    struct drep_message *m;
    bool told = false;
    int64_t patience;
    int rank, err = 0;

    while (!err && !x->over) {
        if (!x->waits && !x->silent && !told) {
            told = true;
            if (x->t->rank)
                err = wire_send(x->t, tree_parent(x->t->rank), FRAME_UP, 0, NULL, 0);
            else
                x->over = true;
            continue;
        }
        patience = awaited(x, &rank);
        err = wire_recv(x->t, -1, kinds, rank, patience, &m);
        if (!err)
            err = take(x, m);
    }
    return err ? err : tell_children(x->t);
}

static int by_sender(const void *a, const void *b)
{
    const struct team_arrival *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->turn < y->turn ? -1 : 1;
}

int team_exchange(struct team *t, const struct team_parcel *out, size_t n, struct team_inbox *in)
{
    struct parcel_exchange x = {.t = t, .in = in, .out = out, .n = n};
    int k, err = wire_begin(t, TEAM_EXCHANGE);

    if (err)
        return err;
    for (k = 0; tree_child(t, k) >= 0; k++)
        x.silent |= 1u << k;
    err = send_all(&x);
    if (!err)
        err = converse(&x);
    mem_free(x.sent);
    if (err)
        team_inbox_release(in);
    else if (in->n)
        qsort(in->in, in->n, sizeof *in->in, by_sender);
    return err;
}

void team_inbox_release(struct team_inbox *in)
{
    size_t i;

    for (i = 0; i < in->n; i++)
        mem_free(in->in[i].message);
    mem_free(in->in);
    *in = (struct team_inbox){0};
}
