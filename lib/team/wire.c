/* wire.c - frames, waits and give-ups.
 *
 * All waiting of a team is in wire_recv().  It takes whatever arrives: an abort ends the wait, a
 * frame of a later pattern is kept, and one of this pattern that nobody can expect is a bug in the
 * caller of the team, reported rather than waited for. */
/* SPDX-License-Identifier: MIT */
#include "team/wire.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"

#include <string.h>

enum { PATIENCE = 1024, FLUSH_NS = 1000000000 };

void team_init(struct team *t, const drep_transport *transport, void *ctx)
{
    *t = (struct team){.transport = transport,
                       .ctx = ctx,
                       .rank = transport->rank,
                       .size = transport->ranks,
                       .timeout = transport->timeout_ns,
                       .call = "team"};
    while ((int64_t)1 << t->height < t->size)
        t->height++;
}

void team_release(struct team *t)
{
    size_t i;

    for (i = 0; i < t->n_early; i++)
        mem_free(t->early[i]);
    mem_free(t->early);
    t->early = NULL;
    t->n_early = t->early_room = 0;
}

/* A frame of the running pattern, its body still to be filled. */
static struct drep_message *frame_new(const struct team *t, enum team_kind kind, uint64_t note,
                                      size_t size)
{
    struct drep_message *m = mem_alloc((uint64_t)size + FRAME_HEAD + sizeof *m);

    if (!m)
        return NULL;
    m->from = t->rank;
    m->size = size + FRAME_HEAD;
    store_u32(m->bytes, t->epoch);
    store_u16(m->bytes + 4, (uint16_t)t->pattern);
    store_u16(m->bytes + 6, (uint16_t)kind);
    store_u64(m->bytes + 8, note);
    return m;
}

/* Tell a neighbour.  It may be gone, so errors do not matter. */
static void abort_send(struct team *t, int to)
{
    char why[FAIL_PACKED];
    size_t len = fail_pack(&t->why, why, sizeof why);
    struct drep_message *m = frame_new(t, FRAME_ABORT, (uint64_t)t->dead, len);

    if (!m)
        return;
    memcpy(m->bytes + FRAME_HEAD, why, len);
    t->transport->send(t->ctx, to, m);
}

int team_kill(struct team *t, int err)
{
    int k, child;

    if (!err)
        return 0;
    if (!t->dead) {
        t->dead = err;
        fail_save(&t->why);
        if (t->rank)
            abort_send(t, tree_parent(t->rank));
        for (k = 0; (child = tree_child(t, k)) >= 0; k++)
            abort_send(t, child);
    }
    fail_restore(&t->why);
    return t->dead;
}

int team_dead(const struct team *t)
{
    if (t->dead)
        fail_restore(&t->why);
    return t->dead;
}

int frame_error(const struct drep_message *m)
{
    int err = (int)(uint32_t)frame_note(m);

    return err ? fail_unpack(err, frame_body(m), frame_size(m)) : 0;
}

int wire_begin(struct team *t, enum team_pattern pattern)
{
    if (t->dead)
        return team_kill(t, t->dead);
    t->pattern = (int)pattern;
    t->epoch++;
    return 0;
}

int wire_send(struct team *t, int to, enum team_kind kind, uint64_t note, const void *p,
              size_t size)
{
    struct drep_message *m = frame_new(t, kind, note, size);
    int err;

    if (!m)
        return team_kill(t, DREP_ERR_NOMEM);
    if (size)
        memcpy(m->bytes + FRAME_HEAD, p, size);
    err = t->transport->send(t->ctx, to, m);
    if (err) /* the transport has no message for us */
        fail(err, "%s: message to rank %d: %s", t->call, to, drep_strerror(err));
    return team_kill(t, err);
}

int wire_flush(struct team *t)
{
    int err = 0;

    if (t->transport->flush)
        err = t->transport->flush(t->ctx, now_ns() + FLUSH_NS);
    if (err)
        fail(err, "%s: messages do not leave: %s", t->call, drep_strerror(err));
    return team_kill(t, err);
}

int wire_send_error(struct team *t, int to, enum team_kind kind, int err, bool apart)
{
    uint64_t note = (uint64_t)err | (uint64_t)apart << 32;
    struct fail_state why;
    char packed[FAIL_PACKED];
    int lost;

    fail_save(&why);
    lost = wire_send(t, to, kind, note, packed, err ? fail_pack(&why, packed, sizeof packed) : 0);
    if (!lost)
        fail_restore(&why);
    return lost;
}

static bool wanted(const struct team *t, const struct drep_message *m, int from, unsigned kinds)
{
    return load_u32(m->bytes) == t->epoch && (from < 0 || m->from == from) &&
           (kinds & 1u << frame_kind(m));
}

/* The oldest kept frame that is wanted. */
static struct drep_message *early_take(struct team *t, int from, unsigned kinds)
{
    struct drep_message *m;
    size_t i;

    for (i = 0; i < t->n_early; i++)
        if (wanted(t, t->early[i], from, kinds)) {
            m = t->early[i];
            t->n_early--;
            memmove(t->early + i, t->early + i + 1, (t->n_early - i) * sizeof *t->early);
            return m;
        }
    return NULL;
}

/* A frame that this rank can neither use now nor later. */
static int frame_check(struct team *t, const struct drep_message *m)
{
    uint32_t epoch;

    if (m->from < 0 || m->from >= t->size || m->size < FRAME_HEAD || !frame_kind(m) ||
        frame_kind(m) > FRAME_ABORT)
        return fail(DREP_ERR_FAILED, "%s: invalid message of rank %d", t->call, m->from);
    epoch = load_u32(m->bytes);
    if (frame_kind(m) == FRAME_ABORT)
        return 0;
    if ((int32_t)(epoch - t->epoch) < 0 ||
        (epoch == t->epoch && load_u16(m->bytes + 4) != t->pattern))
        return fail(DREP_ERR_FAILED, "%s: rank %d is at step %u (%d), rank %d at %u (%d)", t->call,
                    m->from, epoch, load_u16(m->bytes + 4), t->rank, t->epoch, t->pattern);
    return 0;
}

/* Take one frame of the transport: *m, or NULL if it was kept for later. */
static int arrive(struct team *t, int from, unsigned kinds, int64_t deadline,
                  struct drep_message **m)
{
    struct drep_message *got;
    int err = t->transport->receive(t->ctx, &got, deadline);

    *m = NULL;
    if (err && err != DREP_ERR_TIMEOUT)
        fail(err, "%s: no message came: %s", t->call, drep_strerror(err));
    if (err)
        return err;
    err = frame_check(t, got);
    if (!err && frame_kind(got) == FRAME_ABORT) {
        err = frame_error(got);
        err = team_kill(t, err ? err
                               : fail(DREP_ERR_FAILED, "%s: rank %d gave up", t->call, got->from));
    }
    if (!err && wanted(t, got, from, kinds)) {
        *m = got;
        return 0;
    }
    if (!err && (err = VEC_ROOM(t->early, t->n_early, t->early_room, 1)) == 0) {
        t->early[t->n_early++] = got;
        return 0;
    }
    mem_free(got);
    return err;
}

int wire_recv(struct team *t, int from, unsigned kinds, int blame, int64_t patience,
              struct drep_message **m)
{
    int64_t deadline = INT64_MAX;
    int err = 0;

    if (t->dead)
        return team_kill(t, t->dead);
    if (t->timeout)
        deadline = now_ns() + t->timeout / PATIENCE * patience;
    *m = early_take(t, from, kinds);
    while (!err && !*m)
        err = arrive(t, from, kinds, deadline, m);
    if (err == DREP_ERR_TIMEOUT && !t->dead)
        fail(err, "%s: rank %d did not answer within %.3g s", t->call, blame,
             (double)t->timeout / 1e9);
    return team_kill(t, err);
}

/* Three quarters of the timeout for a leaf, seven eighths for the whole tree. */
int64_t wire_patience_up(const struct team *t, int child)
{
    int low = __builtin_ctz((unsigned)child), top = t->height ? t->height : 1;

    return PATIENCE / 4 * 3 + PATIENCE / 8 * low / top;
}

/* The parent waits for others in turn: seven eighths at the root, all of it at the deepest. */
int64_t wire_patience_down(const struct team *t)
{
    int depth = __builtin_popcount((unsigned)t->rank), top = t->height ? t->height : 1;

    return PATIENCE / 8 * 7 + PATIENCE / 8 * depth / top;
}

int wire_from_child(struct team *t, int child, struct drep_message **m)
{
    return wire_recv(t, child, 1u << FRAME_UP, child, wire_patience_up(t, child), m);
}

int wire_from_parent(struct team *t, struct drep_message **m)
{
    int parent = tree_parent(t->rank);

    return wire_recv(t, parent, 1u << FRAME_DOWN, parent, wire_patience_down(t), m);
}
