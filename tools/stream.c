/* stream.c - blocks of elements cut into pieces for several processors. */
#include "stream.h"
#include "crew.h"
#include "progress.h"
#include <errno.h>
#include <stdlib.h>

#define PIECE ((int64_t)8192) /* elements; a row that is longer continues on another line */

struct piece {
    int64_t first, count; /* elements, counted in the block */
};

struct run {
    struct stream *stream;
    const drep_type *type;
    const char *elements;
    int64_t first, extent, row;
    struct piece *piece; /* of the block at hand */
    int n, cap;
    struct sink sink[CREW_SLOTS]; /* in memory, made when first used */
};

static void make_piece(void *ctx, int i, int slot)
{
    struct run *r = ctx;
    const struct piece *p = &r->piece[i];
    struct sink *s = &r->sink[slot];

    if (!s->buf && sink_init(s, -1))
        s->err = ENOMEM;
    if (!s->err)
        r->stream->put(r->stream, s, r->type, r->elements + p->first * r->extent,
                       r->first + p->first, p->count);
}

static int take_piece(void *ctx, int i, int slot)
{
    struct run *r = ctx;
    struct sink *out = r->stream->sink, *s = &r->sink[slot];

    (void)i;
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

static int add_piece(struct run *r, int64_t first, int64_t count)
{
    struct piece *more;
    int cap;

    if (r->n == r->cap) {
        cap = r->cap ? 2 * r->cap : 64;
        more = realloc(r->piece, (size_t)cap * sizeof *more);
        if (!more)
            return DREP_ERR_NOMEM;
        r->piece = more;
        r->cap = cap;
    }
    r->piece[r->n++] = (struct piece){first, count};
    return 0;
}

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct run *r = ctx;
    struct crew crew = {.make = make_piece, .take = take_piece, .ctx = r};
    int64_t at = 0, end;
    int err = 0;

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
    crew.n = r->n;
    err = crew_run(&crew);
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
    err = blocks_each(dataset, info, type, slice, put_block, &r);
    for (i = 0; i < CREW_SLOTS; i++)
        if (r.sink[i].buf)
            sink_release(&r.sink[i]);
    free(r.piece);
    return err;
}
