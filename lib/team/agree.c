/* agree.c - one answer for all: the same call, the same arguments, no error.
 *
 * On the way up each rank merges the summaries of its subtree, whose size is fixed: the lowest
 * rank's call, the first call that differs from it, who is in each of them, and the lowest rank's
 * error.  Rank 0 makes the message, so that all ranks give the same one. */
/* SPDX-License-Identifier: MIT */
#include "team/wire.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 32, RANGES = 4, TEXT = 512 };

/* Ranks that are in the same call with the same arguments. */
struct group {
    uint32_t ranks, ranges; /* ranges beyond RANGES are counted in `ranks` alone */
    uint32_t first[RANGES], last[RANGES];
    char name[NAME];
    uint64_t hash[TEAM_ARGS];
};

struct summary {
    struct group group[2]; /* no ranks: none */
    uint32_t others;       /* ranks in neither */
    int32_t err, rank;     /* the error of the lowest rank that has one */
    char text[TEXT];       /* of fail_pack() */
};

enum {
    GROUP_SIZE = 8 + 8 * RANGES + NAME + 8 * TEAM_ARGS,
    SUMMARY_SIZE = 2 * GROUP_SIZE + 12 + TEXT
};

static uint8_t *group_put(uint8_t *p, const struct group *g)
{
    int i;

    store_u32(p, g->ranks);
    store_u32(p + 4, g->ranges);
    p += 8;
    for (i = 0; i < RANGES; i++, p += 8) {
        store_u32(p, g->first[i]);
        store_u32(p + 4, g->last[i]);
    }
    memcpy(p, g->name, NAME);
    p += NAME;
    for (i = 0; i < TEAM_ARGS; i++, p += 8)
        store_u64(p, g->hash[i]);
    return p;
}

static const uint8_t *group_get(struct group *g, const uint8_t *p)
{
    int i;

    g->ranks = load_u32(p);
    g->ranges = load_u32(p + 4);
    if (g->ranges > RANGES)
        g->ranges = RANGES;
    p += 8;
    for (i = 0; i < RANGES; i++, p += 8) {
        g->first[i] = load_u32(p);
        g->last[i] = load_u32(p + 4);
    }
    memcpy(g->name, p, NAME);
    g->name[NAME - 1] = '\0';
    p += NAME;
    for (i = 0; i < TEAM_ARGS; i++, p += 8)
        g->hash[i] = load_u64(p);
    return p;
}

static void summary_put(uint8_t *p, const struct summary *s)
{
    p = group_put(group_put(p, &s->group[0]), &s->group[1]);
    store_u32(p, s->others);
    store_u32(p + 4, (uint32_t)s->err);
    store_u32(p + 8, (uint32_t)s->rank);
    memcpy(p + 12, s->text, TEXT);
}

static void summary_get(struct summary *s, const uint8_t *p)
{
    p = group_get(&s->group[1], group_get(&s->group[0], p));
    s->others = load_u32(p);
    s->err = (int32_t)load_u32(p + 4);
    s->rank = (int32_t)load_u32(p + 8);
    memcpy(s->text, p + 12, TEXT);
    s->text[strnlen(s->text, TEXT - 1)] = '\0';
}

static void summary_own(struct summary *s, const struct team *t, const struct team_call *call)
{
    struct group *g = &s->group[0];
    int i;

    memset(s, 0, sizeof *s);
    g->ranks = g->ranges = 1;
    g->first[0] = g->last[0] = (uint32_t)t->rank;
    assert(strlen(call->name) < NAME && call->args <= TEAM_ARGS);
    memcpy(g->name, call->name, strlen(call->name));
    for (i = 0; i < call->args; i++)
        g->hash[i] = call->arg[i].hash;
    s->err = call->err;
    s->rank = t->rank;
    if (call->err)
        fail_pack(fail_last(), s->text, TEXT);
}

static bool same_name(const struct group *a, const struct group *b)
{
    return strcmp(a->name, b->name) == 0;
}

static bool same_call(const struct group *a, const struct group *b)
{
    return same_name(a, b) && memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

/* Add ranks that are all higher. */
static void group_join(struct group *g, const struct group *more)
{
    uint32_t i = 0;

    if (g->ranges && more->ranges && g->last[g->ranges - 1] + 1 == more->first[0])
        g->last[g->ranges - 1] = more->last[i++];
    for (; i < more->ranges && g->ranges < RANGES; i++, g->ranges++) {
        g->first[g->ranges] = more->first[i];
        g->last[g->ranges] = more->last[i];
    }
    g->ranks += more->ranks;
}

static void summary_add(struct summary *s, const struct group *g)
{
    struct group *first = &s->group[0], *second = &s->group[1];

    if (!g->ranks)
        return;
    if (same_call(first, g)) {
        group_join(first, g);
    } else if (second->ranks && same_call(second, g)) {
        group_join(second, g);
    } else if (!second->ranks || (same_name(first, second) && !same_name(first, g))) {
        /* A different call tells more than a different argument. */
        s->others += second->ranks;
        *second = *g;
    } else {
        s->others += g->ranks;
    }
}

/* Merge the summary of a child, whose ranks are all higher. */
static void summary_merge(struct summary *s, const struct summary *child)
{
    summary_add(s, &child->group[0]);
    summary_add(s, &child->group[1]);
    s->others += child->others;
    if (!s->err && child->err) {
        s->err = child->err;
        s->rank = child->rank;
        memcpy(s->text, child->text, TEXT);
    }
}

/* "rank 3", "ranks 0-2, 5 and 4 more". */
static void group_say(char *text, size_t size, const struct group *g)
{
    uint32_t i, said = 0;
    size_t len;

    snprintf(text, size, g->ranks == 1 ? "rank " : "ranks ");
    for (i = 0; i < g->ranges; i++) {
        len = strlen(text);
        snprintf(text + len, size - len, g->first[i] == g->last[i] ? "%s%u" : "%s%u-%u",
                 i ? ", " : "", g->first[i], g->last[i]);
        said += g->last[i] - g->first[i] + 1;
    }
    len = strlen(text);
    if (said < g->ranks)
        snprintf(text + len, size - len, " and %u more", g->ranks - said);
}

/* The first argument whose hash differs. */
static const char *argument(const struct summary *s, const struct team_call *call)
{
    int i;

    for (i = 0; i < call->args; i++)
        if (s->group[0].hash[i] != s->group[1].hash[i])
            return call->arg[i].name;
    return "count";
}

/* Rank 0: the answer of all.  *apart: ranks are in different calls, and will not meet again. */
static int verdict(const struct summary *s, const struct team_call *call, bool *apart)
{
    const struct group *a = &s->group[0], *b = &s->group[1];
    char few[160], many[160], rest[48] = "", error[TEXT + 24] = "";

    if (b->ranks > a->ranks) {
        a = b;
        b = &s->group[0];
    }
    group_say(many, sizeof many, a);
    group_say(few, sizeof few, b);
    if (s->others)
        snprintf(rest, sizeof rest, "; %u more differ", s->others);
    if (s->err)
        snprintf(error, sizeof error, "rank %d: %s", s->rank, s->text);
    *apart = b->ranks && !same_name(a, b);
    if (*apart)
        return fail(DREP_ERR_NOT_SAME, "%s %s in %s, %s in %s%s%s%s", few,
                    b->ranks == 1 ? "is" : "are", b->name, many, a->name, rest, s->err ? "; " : "",
                    error);
    if (s->err)
        return fail_prefix(fail_unpack(s->err, s->text, TEXT), "rank %d", s->rank);
    if (b->ranks)
        return fail(DREP_ERR_NOT_SAME, "%s: %s and %s differ in argument \"%s\"%s", a->name, few,
                    many, argument(s, call), rest);
    return 0;
}

/* An answer of rank 0: a code with its message. */
struct answer {
    int err;
    bool apart; /* ranks are in different calls, and will not meet again */
};

/* The team ends, without a word: the others know it, too. */
static int part(struct team *t, int err)
{
    int lost = wire_flush(t);

    if (lost)
        return lost;
    t->apart = true;
    t->dead = err;
    fail_save(&t->why);
    return err;
}

/* Send the answer down, or the reply. */
static int tell(struct team *t, const struct answer *answer, const struct buf *reply)
{
    int k, child, err = 0;

    if (!answer->err && reply)
        return wire_pass_down(t, reply->p, reply->len);
    for (k = t->height; !err && k >= 0; k--)
        if ((child = tree_child(t, k)) >= 0)
            err = wire_send_error(t, child, FRAME_DOWN, answer->err, answer->apart);
    if (!err && answer->apart)
        return part(t, answer->err);
    return err ? err : answer->err;
}

/* Hear the answer of rank 0. */
static int hear(struct team *t, struct answer *answer, struct buf *reply)
{
    struct drep_message *m;
    int err = wire_from_parent(t, &m);

    if (err)
        return err;
    answer->err = frame_error(m);
    answer->apart = frame_apart(m);
    if (!answer->err && reply)
        err = team_kill(t, buf_set(reply, frame_body(m), frame_size(m)));
    mem_free(m);
    return err;
}

/* What the ranks of a subtree say beside their summaries.  A rank in another call may say nothing:
 * then nobody hears anything. */
struct speech {
    struct buf sizes, bytes;
    bool lost;
};

/* Merge what child number k has sent. */
static int ask_child(struct team *t, int k, struct summary *s, struct speech *speech)
{
    struct summary child;
    struct drep_message *m;
    int from = tree_child(t, k), err = wire_from_child(t, from, &m);

    if (err)
        return err;
    if (frame_size(m) < SUMMARY_SIZE)
        err = team_kill(t, fail(DREP_ERR_FAILED, "%s: invalid summary of rank %d", t->call, from));
    if (!err) {
        summary_get(&child, frame_body(m));
        summary_merge(s, &child);
    }
    if (!err && speech && frame_size(m) == SUMMARY_SIZE)
        speech->lost = true;
    else if (!err && speech && !speech->lost)
        err = gather_take(t, k, frame_body(m) + SUMMARY_SIZE, frame_size(m) - SUMMARY_SIZE,
                          &speech->sizes, &speech->bytes);
    mem_free(m);
    return err;
}

/* Merge the summaries of the children and pass them on. */
static int ask(struct team *t, struct summary *s, struct speech *speech)
{
    struct buf body = {0};
    int k, err = 0;

    for (k = 0; !err && tree_child(t, k) >= 0; k++)
        err = ask_child(t, k, s, speech);
    if (err || !t->rank)
        return err;
    if (!(err = buf_reserve(&body, SUMMARY_SIZE))) {
        summary_put(body.p, s);
        body.len = SUMMARY_SIZE;
    }
    if (!err && speech && !speech->lost)
        err = buf_add(&body, speech->sizes.p, speech->sizes.len);
    if (!err && speech && !speech->lost)
        err = buf_add(&body, speech->bytes.p, speech->bytes.len);
    err =
        err ? team_kill(t, err) : wire_send(t, tree_parent(t->rank), FRAME_UP, 0, body.p, body.len);
    buf_release(&body);
    return err;
}

int team_agree(struct team *t, const struct team_call *call)
{
    struct answer answer = {0};
    struct summary s;
    int err;

    summary_own(&s, t, call); /* before the next message replaces that of call->err */
    if ((err = wire_begin(t, TEAM_AGREE)) != 0)
        return err;
    t->call = call->name;
    if ((err = ask(t, &s, NULL)) != 0)
        return err;
    if (!t->rank)
        answer.err = verdict(&s, call, &answer.apart);
    else if ((err = hear(t, &answer, NULL)) != 0)
        return err;
    return tell(t, &answer, NULL);
}

/* ------------------------------------------------------------------- meeting */

void team_said_release(struct team_said *said)
{
    buf_release(&said->all);
    mem_free(said->at);
    said->at = NULL;
}

/* Rank 0: what all have said. */
static int said_by_all(const struct team *t, struct speech *speech, struct team_said *said)
{
    if (speech->lost)
        return fail(DREP_ERR_FAILED, "%s: not all ranks said anything", t->call);
    if (!(said->at = mem_array((uint64_t)t->size + 1, sizeof *said->at)))
        return fail_nomem();
    gathered(t, &speech->sizes, said->at);
    said->all = speech->bytes;
    speech->bytes = (struct buf){0};
    return 0;
}

int team_meet(struct team *t, const struct team_call *call, const struct buf *mine,
              team_reply_fn *fn, void *ctx, struct team_said *said, struct buf *reply)
{
    struct speech speech = {.lost = false};
    struct answer answer = {0};
    struct summary s;
    int err;

    summary_own(&s, t, call);
    if ((err = wire_begin(t, TEAM_AGREE)) != 0)
        return err;
    t->call = call->name;
    err = gather_own(t, mine->p, mine->len, &speech.sizes, &speech.bytes);
    if (!err)
        err = ask(t, &s, &speech);
    if (!err && t->rank)
        err = hear(t, &answer, reply);
    if (!err && !t->rank && !(answer.err = verdict(&s, call, &answer.apart))) {
        answer.err = said_by_all(t, &speech, said);
        if (!answer.err)
            answer.err = fn(ctx, said, reply);
        if (answer.err)
            fail_prefix(answer.err, "rank 0");
    }
    buf_release(&speech.sizes);
    buf_release(&speech.bytes);
    return err ? err : tell(t, &answer, reply);
}
