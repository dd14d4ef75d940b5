/* ahead.h - bytes that are fetched before they are asked for.
 *
 * Whoever reads one piece after the other waits for a round trip at each.  When reads follow each
 * other, the next blocks are asked for while the caller works on the last ones; they arrive in the
 * background as far as the system's buffers go, and at the next read.  A block that fails is
 * forgotten: the read that needs its bytes asks for them itself, and has its own error. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_AHEAD_H
#define REMOTE_AHEAD_H

#include "remote/line.h"

#define AHEAD_BLOCK ((uint64_t)4 << 20)
#define AHEAD_BLOCKS 12 /* at once, so 48 MiB at most are held */
#define AHEAD_STREAMS 4 /* places that are read in turn */

struct ahead_block {
    bool used;    /* the slot holds a block */
    bool dropped; /* whoever uses it last frees it */
    int users;
    uint64_t first, size;
    uint8_t *p;
    drep_range range;
    struct request request;
    struct request_batch batch;
};

struct read_ahead {
    struct line *line;
    const struct version_pin *pin;
    pthread_mutex_t lock;
    struct ahead_stream {
        uint64_t from, next; /* the last read */
        uint64_t run;        /* bytes read in a row */
        uint64_t asked;      /* end of the last block */
        unsigned reads;      /* in a row */
        unsigned age;
    } stream[AHEAD_STREAMS];
    unsigned clock;
    struct ahead_block block[AHEAD_BLOCKS];
};

void ahead_init(struct read_ahead *a, struct line *line, const struct version_pin *pin);
void ahead_release(struct read_ahead *a);
/* Note a read of bytes [first, end), and ask for what will follow. */
void ahead_note(struct read_ahead *a, uint64_t first, uint64_t end);
/* Fill a range from blocks, waiting for them; false: they do not have all of it. */
bool ahead_take(struct read_ahead *a, const drep_range *range);

#endif
