/* stream.c - blocks of elements cut into pieces for several processors. */
#include "tools/text/stream.h"
#include "tools/host/progress.h"
#include "tools/host/workers.h"
#include "tools/text/sink.h"
#include <errno.h>
#include <stdlib.h>

#define PIECE ((int64_t)8192) /* elements; a row that is longer continues on another line */

struct piece {
    int64_t first, count; /* elements, counted in the block */
};

struct run {
    struct stream *stream;
    struct crew *crew;
    const drep_type *type;
    const char *elements; /* of the block at hand */
    int64_t first, extent, row;
    struct piece piece[CREW_SLOTS];
    struct sink sink[CREW_SLOTS]; /* in memory, made when first used */
};

static void make_piece(void *ctx, int slot)
{
    struct run *r = ctx;
    const struct piece *p = &r->piece[slot];
    struct sink *s = &r->sink[slot];

    if (!s->buf && sink_init(s, -1))
        s->err = ENOMEM;
    if (!s->err)
        r->stream->put(r->stream, s, r->type, r->elements + p->first * r->extent,
                       r->first + p->first, p->count);
}

static int take_piece(void *ctx, int slot)
{
    struct run *r = ctx;
    struct sink *out = r->stream->sink, *s = &r->sink[slot];

    sink_put(out, s->buf, s->len);
    s->len = 0;
    return s->err ? DREP_ERR_NOMEM : out->err ? DREP_ERR_STOPPED : 0;
}

/* The end of the piece that begins with element `at`. */
static int64_t piece_end(const struct run *r, int64_t at)
{
    int64_t in_row = at % r->row, end = (in_row / PIECE + 1) * PIECE;

    if (r->row <= PIECE)
        return at - in_row + PIECE / r->row * r->row;
    return at - in_row + (end < r->row ? end : r->row);
}

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct run *r = ctx;
    int64_t at, end;
    int slot, err;

    r->type = type;
    r->elements = elements;
    r->first = first;
    for (at = 0; at < count && (slot = crew_slot(r->crew)) >= 0; at = end) {
        end = piece_end(r, first + at) - first;
        end = end < count ? end : count;
        r->piece[slot] = (struct piece){at, end - at};
        crew_push(r->crew);
    }
    err = crew_finish(r->crew);
    r->stream->any = true;
    return err ? err : progress_add((uint64_t)(count * r->extent));
}

int stream_run(struct stream *stream, drep_dataset *dataset, const drep_dsinfo *info,
               const drep_type *type, const struct slice *slice)
{
    struct run r = {.stream = stream, .extent = drep_type_extent(type), .row = 1};
    int i, err;

    if (slice->rank > 0 && slice->count[slice->rank - 1] > 0)
        r.row = slice->count[slice->rank - 1];
    r.crew = crew_new(3, make_piece, take_piece, &r);
    err = r.crew ? blocks_each(dataset, info, type, slice, put_block, &r) : DREP_ERR_NOMEM;
    crew_free(r.crew);
    for (i = 0; i < CREW_SLOTS; i++)
        if (r.sink[i].buf)
            sink_release(&r.sink[i]);
    return err;
}
