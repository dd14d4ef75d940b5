/* stream.c - blocks of elements cut into pieces for several processors. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/stream.h"
#include "tools/host/progress.h"
#include "tools/host/workers.h"
#include "tools/text/sink.h"
#include <datarep.h>
#include <errno.h>
#include <stdlib.h>

#define PIECE ((int64_t)8192) /* elements; a row that is longer continues on another line */

struct stream_piece {
    int64_t first, count; /* elements, counted in the block */
};

struct stream_state {
    struct stream *stream;
    struct workers *workers;
    const drep_type *type;
    const char *elements; /* of the block at hand */
    int64_t first, extent, row;
    struct stream_piece piece[WORKERS_SLOTS];
    struct sink sink[WORKERS_SLOTS]; /* in memory, made when first used */
};

static void make_piece(void *ctx, int slot)
{
    struct stream_state *r = ctx;
    const struct stream_piece *p = &r->piece[slot];
    struct sink *s = &r->sink[slot];

    if (!s->buf && sink_init(s, -1))
        s->err = ENOMEM;
    if (!s->err)
        r->stream->put(r->stream, s, r->type, r->elements + p->first * r->extent,
                       r->first + p->first, p->count);
}

static int take_piece(void *ctx, int slot)
{
    struct stream_state *r = ctx;
    struct sink *out = r->stream->sink, *s = &r->sink[slot];

    sink_put(out, s->buf, s->len);
    s->len = 0;
    return s->err ? DREP_ERR_NOMEM : out->err ? DREP_ERR_STOPPED : 0;
}

/* The end of the piece that begins with element `at`. */
static int64_t piece_end(const struct stream_state *r, int64_t at)
{
    int64_t in_row = at % r->row, end = (in_row / PIECE + 1) * PIECE;

    if (r->row <= PIECE)
        return at - in_row + PIECE / r->row * r->row;
    return at - in_row + (end < r->row ? end : r->row);
}

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct stream_state *r = ctx;
    int64_t at, end;
    int slot, err;

    r->type = type;
    r->elements = elements;
    r->first = first;
    for (at = 0; at < count && (slot = workers_slot(r->workers)) >= 0; at = end) {
        end = piece_end(r, first + at) - first;
        end = end < count ? end : count;
        r->piece[slot] = (struct stream_piece){at, end - at};
        workers_push(r->workers);
    }
    err = workers_finish(r->workers);
    r->stream->any = true;
    return err ? err : progress_add((uint64_t)(count * r->extent));
}

int stream_run(struct stream *stream, drep_dataset *dataset, const drep_dsinfo *info,
               const drep_type *type, const struct slice *slice)
{
    struct stream_state r = {.stream = stream, .extent = drep_type_extent(type), .row = 1};
    int i, err;

    if (slice->rank > 0 && slice->count[slice->rank - 1] > 0)
        r.row = slice->count[slice->rank - 1];
    r.workers = workers_new(3, make_piece, take_piece, &r);
    err = r.workers ? blocks_each(dataset, info, type, slice, put_block, &r) : DREP_ERR_NOMEM;
    workers_free(r.workers);
    for (i = 0; i < WORKERS_SLOTS; i++)
        if (r.sink[i].buf)
            sink_release(&r.sink[i]);
    return err;
}
