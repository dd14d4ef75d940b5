/* stream.c - blocks of elements cut into pieces for several processors. */
#include "stream.h"
#include "crew.h"
#include "progress.h"
#include <stdlib.h>

#define PIECE ((int64_t)8192) /* elements; a row that is longer continues on another line */

struct piece {
    int64_t first, count; /* elements, counted in the block */
    struct sink sink;
};

struct run {
    struct stream *stream;
    const drep_type *type;
    const char *elements;
    int64_t first, extent, row;
    struct piece *piece; /* kept from block to block with their buffers */
    int n, cap;
};

static void put_piece(void *ctx, int i)
{
    struct run *r = ctx;
    struct piece *p = &r->piece[i];

    r->stream->put(r->stream, &p->sink, r->type, r->elements + p->first * r->extent,
                   r->first + p->first, p->count);
}

/* The end of the piece that begins with element `at`. */
static int64_t piece_end(const struct run *r, int64_t at)
{
    int64_t in_row = at % r->row, end = (in_row / PIECE + 1) * PIECE;

    if (r->row <= PIECE)
        return at - in_row + PIECE / r->row * r->row;
    return at - in_row + (end < r->row ? end : r->row);
}

static int add_piece(struct run *r, int64_t first, int64_t count)
{
    struct piece *more;
    int cap;

    if (r->n == r->cap) {
        cap = r->cap ? 2 * r->cap : 16;
        more = realloc(r->piece, (size_t)cap * sizeof *more);
        if (!more)
            return DREP_ERR_NOMEM;
        r->piece = more;
        for (; r->cap < cap; r->cap++)
            r->piece[r->cap] = (struct piece){0};
    }
    if (!r->piece[r->n].sink.buf && sink_init(&r->piece[r->n].sink, -1))
        return DREP_ERR_NOMEM;
    r->piece[r->n].first = first;
    r->piece[r->n].count = count;
    r->n++;
    return 0;
}

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct run *r = ctx;
    struct sink *out = r->stream->sink;
    int64_t at = 0, end;
    int i, err = 0;

    r->type = type;
    r->elements = elements;
    r->first = first;
    for (r->n = 0; at < count && !err; at = end) {
        end = piece_end(r, first + at) - first;
        end = end < count ? end : count;
        err = add_piece(r, at, end - at);
    }
    if (err)
        return err;
    crew_run(r->n, put_piece, r);
    for (i = 0; i < r->n; i++) {
        sink_put(out, r->piece[i].sink.buf, r->piece[i].sink.len);
        if (r->piece[i].sink.err)
            err = DREP_ERR_NOMEM;
        r->piece[i].sink.len = 0;
    }
    r->stream->any = true;
    if (!err)
        err = progress_add((uint64_t)(count * r->extent));
    return err ? err : out->err ? DREP_ERR_STOPPED : 0;
}

int stream_run(struct stream *stream, drep_dataset *dataset, const drep_dsinfo *info,
               const drep_type *type, const struct slice *slice)
{
    struct run r = {.stream = stream, .extent = drep_type_extent(type), .row = 1};
    int i, err;

    if (slice->rank > 0 && slice->count[slice->rank - 1] > 0)
        r.row = slice->count[slice->rank - 1];
    err = blocks_each(dataset, info, type, slice, put_block, &r);
    for (i = 0; i < r.cap; i++)
        if (r.piece[i].sink.buf)
            sink_release(&r.piece[i].sink);
    free(r.piece);
    return err;
}
