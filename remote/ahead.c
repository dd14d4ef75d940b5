/* ahead.c - bytes that are fetched before they are asked for. */
/* SPDX-License-Identifier: MIT */
#include "remote/ahead.h"
#include <stdlib.h>
#include <string.h>

#define NEAR ((uint64_t)256 << 10)     /* a read that begins so close to the last one follows it */
#define SEQUENTIAL ((uint64_t)1 << 20) /* bytes in a row after which blocks are asked for, */
#define MANY 4                         /* or reads */
#define LITTLE ((uint64_t)128 << 10)   /* bytes that are asked for after many small reads */
#define MOST ((uint64_t)28 << 20)      /* bytes that are asked for ahead of one stream */
#define IDLE 256                       /* reads after which a stream that was left needs nothing */
#define BEHIND ((uint64_t)1 << 20)     /* bytes that are kept behind the last read */

void ahead_init(struct read_ahead *a, struct line *line, const struct version_pin *pin)
{
    memset(a, 0, sizeof *a);
    a->line = line;
    a->pin = pin;
    pthread_mutex_init(&a->lock, NULL);
}

static void block_free(struct ahead_block *b)
{
    free(b->p);
    memset(b, 0, sizeof *b);
}

void ahead_release(struct read_ahead *a)
{
    for (size_t i = 0; i < AHEAD_BLOCKS; i++) {
        struct ahead_block *b = &a->block[i];

        if (b->used) {
            line_cancel(a->line, &b->batch);
            block_free(b);
        }
    }
    pthread_mutex_destroy(&a->lock);
}

/* ---- the caller holds the lock ---- */

/* The stream that a read goes on with, or the one that was idle for longest. */
static struct ahead_stream *stream_of(struct read_ahead *a, uint64_t first, bool *follows)
{
    struct ahead_stream *oldest = &a->stream[0];

    for (size_t i = 0; i < AHEAD_STREAMS; i++) {
        struct ahead_stream *s = &a->stream[i];

        *follows = s->run > 0 && first <= s->next + NEAR && first + NEAR >= s->next;
        if (*follows)
            return s;
        if (s->age < oldest->age)
            oldest = s;
    }
    return oldest;
}

/* Forget a block; one that is still under way is ended. */
static void drop_block(struct read_ahead *a, struct ahead_block *b)
{
    if (b->users > 0) {
        b->dropped = true;
        return;
    }
    line_cancel(a->line, &b->batch);
    block_free(b);
}

/* True if a stream still needs the block, or is about to. */
static bool block_needed(const struct read_ahead *a, const struct ahead_block *b)
{
    for (size_t i = 0; i < AHEAD_STREAMS; i++) {
        const struct ahead_stream *s = &a->stream[i];

        if (s->run > 0 && a->clock - s->age < IDLE && b->first < s->asked &&
            b->first + b->size + BEHIND > s->from)
            return true;
    }
    return false;
}

static struct ahead_block *free_block(struct read_ahead *a)
{
    for (size_t i = 0; i < AHEAD_BLOCKS; i++) {
        struct ahead_block *b = &a->block[i];

        if (b->used && !b->dropped && !block_needed(a, b))
            drop_block(a, b);
        if (!b->used)
            return b;
    }
    return NULL;
}

static bool begin_block(struct read_ahead *a, uint64_t first, uint64_t size)
{
    struct ahead_block *b = free_block(a);

    if (!b || !(b->p = malloc(size)))
        return false;
    b->used = true;
    b->first = first;
    b->size = size;
    b->range = (drep_range){first, size, b->p};
    b->request = (struct request){.aim = AIM_BYTES,
                                  .pin = a->pin,
                                  .first = first,
                                  .size = size,
                                  .range = &b->range,
                                  .nrange = 1,
                                  .spare = true};
    line_start(a->line, &b->request, 1, &b->batch);
    return true;
}

/* Blocks are asked for as far ahead as was read in a row, so that little is asked for in vain. */
static void ask_ahead(struct read_ahead *a, struct ahead_stream *s)
{
    uint64_t far = s->run < LITTLE ? LITTLE : s->run < MOST ? s->run : MOST;
    uint64_t least = far / 4 < AHEAD_BLOCK ? far / 4 : AHEAD_BLOCK, upto = s->next + far;

    if (s->asked < s->next)
        s->asked = s->next;
    upto = upto < a->pin->size ? upto : a->pin->size;
    while (s->asked < upto && (upto - s->asked >= least || upto == a->pin->size)) {
        uint64_t left = upto - s->asked, size = left < AHEAD_BLOCK ? left : AHEAD_BLOCK;

        if (!begin_block(a, s->asked, size))
            return;
        s->asked += size;
    }
}

/* ---- */

void ahead_note(struct read_ahead *a, uint64_t first, uint64_t end)
{
    struct ahead_stream *s;
    bool follows;

    pthread_mutex_lock(&a->lock);
    s = stream_of(a, first, &follows);
    s->age = ++a->clock;
    if (!follows)
        *s = (struct ahead_stream){.from = first,
                                   .next = end,
                                   .run = end - first,
                                   .asked = end,
                                   .reads = 1,
                                   .age = s->age};
    else if (end > s->next) {
        s->from = first;
        s->run += end - s->next;
        s->next = end;
        s->reads++;
    }
    if (follows && (s->run >= SEQUENTIAL || s->reads >= MANY))
        ask_ahead(a, s);
    pthread_mutex_unlock(&a->lock);
}

/* Copy what a block has of a range from byte `at` on; gives the bytes, 0: none. */
static size_t copy_block(struct read_ahead *a, const drep_range *range, uint64_t at)
{
    struct ahead_block *b = NULL;
    uint64_t end = range->offset + range->size;
    struct why why = {0};
    size_t n = 0;

    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; !b && i < AHEAD_BLOCKS; i++) {
        if (a->block[i].used && !a->block[i].dropped && a->block[i].first <= at &&
            at < a->block[i].first + a->block[i].size)
            b = &a->block[i];
    }
    if (b)
        b->users++;
    pthread_mutex_unlock(&a->lock);
    if (!b)
        return 0;
    if (line_wait(a->line, &b->batch, &why) == 0) {
        n = (size_t)((end < b->first + b->size ? end : b->first + b->size) - at);
        memcpy((uint8_t *)range->buf + (at - range->offset), b->p + (at - b->first), n);
    }
    pthread_mutex_lock(&a->lock);
    b->users--;
    if (why.err || b->dropped)
        drop_block(a, b);
    pthread_mutex_unlock(&a->lock);
    return n;
}

bool ahead_take(struct read_ahead *a, const drep_range *range)
{
    uint64_t at = range->offset, end = at + range->size;

    while (at < end) {
        size_t n = copy_block(a, range, at);

        if (n == 0)
            return false;
        at += n;
    }
    return true;
}
