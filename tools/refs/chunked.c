/* chunked.c - the chunks of a chunked dataset.
 *
 * They are walked twice: first it is counted which filters they have, since an array of zarr has
 * one list for all, then they are written. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/writer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dataset has at most so many bytes of chunks inline that are not where zarr could read them. */
#define MASKS 16

/* Chunks that skipped the same filters. */
struct mask_count {
    uint32_t skipped;
    int64_t chunks, bytes;
};

struct chunk_survey {
    struct array_writer *a;
    struct mask_count mask[MASKS];
    int masks;
    int64_t chunks, short_chunks, other_masks;
    int64_t last;      /* offset of the chunk before */
    int64_t backwards; /* chunks that are in front of the one before them */
    uint32_t skipped;  /* the filters that the array does not have */
    bool fills;        /* chunks that are not stored are written, too */
    int64_t next;      /* number of the next cell of the grid */
};

/* What is at a chunk's place, if zarr cannot read it there: it is shorter than it should be. */
static bool stored_short(const struct array_writer *a, uint32_t skipped, int64_t bytes)
{
    return bytes < a->payload && codecs_keep_length(a->info, skipped);
}

static int survey_chunk(const int64_t *start, void *ctx)
{
    struct chunk_survey *v = ctx;
    drep_stored at = DREP_STORED;
    int m, err = drep_stored_at(v->a->dataset, start, &at);

    if (err)
        return err;
    if (!stored_target(v->a, &at)) {
        snprintf(v->a->why, REFS_WHY, "its chunks are in another file whose URL may be secret");
        return DREP_ERR_STOPPED;
    }
    v->chunks++;
    v->short_chunks += stored_short(v->a, at.skipped, at.bytes);
    v->backwards += at.offset < v->last;
    v->last = at.offset;
    for (m = 0; m < v->masks && v->mask[m].skipped != at.skipped; m++)
        ;
    if (m == MASKS) {
        v->other_masks++;
        return 0;
    }
    if (m == v->masks)
        v->mask[v->masks++].skipped = at.skipped;
    v->mask[m].chunks++;
    v->mask[m].bytes += at.bytes;
    return 0;
}

/* Choose the filters that most bytes have, among those that numcodecs reads. */
static void survey_choose(struct chunk_survey *v)
{
    struct array_writer *a = v->a;
    char why[REFS_WHY];
    int64_t most = -1, inlined = 0;
    struct codecs codecs;

    for (int m = 0; m < v->masks; m++) {
        if (v->mask[m].bytes <= most)
            continue;
        if (!codecs_init(&codecs, a->info, v->mask[m].skipped, a->payload, why, sizeof why)) {
            if (!a->why[0])
                snprintf(a->why, REFS_WHY, "%s", why);
            continue;
        }
        most = v->mask[m].bytes;
        v->skipped = v->mask[m].skipped;
        a->codecs = codecs;
        inlined = v->chunks - v->mask[m].chunks;
    }
    if (most < 0)
        return;
    inlined += v->short_chunks;
    if (inlined > INLINE_MOST / a->payload)
        snprintf(a->why, REFS_WHY,
                 "%" PRId64 " of its chunks skipped filters, which zarr cannot say of a chunk; "
                 "they are too large to be written inline",
                 inlined);
    else
        a->why[0] = 0;
}

struct first_chunk {
    struct chunk_survey *v;
    bool read; /* numcodecs can */
};

static int first_look(const int64_t *start, void *ctx)
{
    struct first_chunk *first = ctx;
    struct array_writer *a = first->v->a;
    int64_t size = 0;
    uint32_t skipped = 0;
    uint8_t *bytes;
    int err = drep_read_stored(a->dataset, start, NULL, 0, &size, &skipped);

    if (err || skipped != first->v->skipped)
        return err;
    bytes = malloc((size_t)size + 1);
    if (!bytes)
        return DREP_ERR_NOMEM;
    err = drep_read_stored(a->dataset, start, bytes, size, &size, &skipped);
    if (!err)
        first->read = codecs_read(&a->codecs, bytes, size);
    free(bytes);
    return err ? err : DREP_ERR_STOPPED;
}

/* Look at the first stream, whose kind is that of the others: one writer made them. */
static void survey_stream(struct chunk_survey *v)
{
    struct first_chunk first = {v, true};

    if (codecs_frames(&v->a->codecs))
        drep_dataset_chunks(v->a->dataset, first_look, &first); /* if it fails, so will a reader */
    if (!first.read)
        snprintf(v->a->why, REFS_WHY,
                 "numcodecs does not read Zstandard frames that do not say their length");
}

static int chunk_inline(struct array_writer *a, const int64_t *start, const char *key)
{
    int64_t count[DREP_MAX_RANK];
    size_t size = (size_t)a->payload;
    uint8_t *bytes;
    int err;

    for (int d = 0; d < a->info->rank; d++)
        count[d] = a->info->dims[d] - start[d] < a->info->chunk[d] ? a->info->dims[d] - start[d]
                                                                   : a->info->chunk[d];
    err = elements_block(a, start, count, a->info->chunk, &bytes);
    if (err)
        return err;
    err = codecs_encode(&a->codecs, &bytes, &size);
    if (!err) {
        writer_key(a->w, a->path, key);
        writer_bytes(a->w, bytes, size);
    }
    free(bytes);
    return err;
}

/* The number of a chunk in the grid. */
static int64_t cell_number(const struct array_writer *a, const int64_t *start)
{
    int64_t n = 0;

    for (int d = 0; d < a->info->rank; d++)
        n = n * ((a->info->dims[d] - 1) / a->info->chunk[d] + 1) + start[d] / a->info->chunk[d];
    return n;
}

/* Write cells of the grid that are all fill, up to one. */
static int fills_put(struct chunk_survey *v, int64_t end)
{
    const struct array_writer *a = v->a;
    char key[REFS_KEY];
    int err = 0;

    for (; v->fills && v->next < end && !err; v->next++) {
        int64_t start[DREP_MAX_RANK], left = v->next;

        for (int d = a->info->rank - 1; d >= 0; d--) {
            int64_t cells = (a->info->dims[d] - 1) / a->info->chunk[d] + 1;

            start[d] = left % cells * a->info->chunk[d];
            left /= cells;
        }
        refs_chunk_key(a, start, key, sizeof key);
        err = chunk_inline(v->a, start, key);
    }
    return err;
}

static int refs_chunk_put(const int64_t *start, void *ctx)
{
    struct chunk_survey *v = ctx;
    struct array_writer *a = v->a;
    drep_stored at = DREP_STORED;
    char key[REFS_KEY];
    int err = fills_put(v, v->fills ? cell_number(a, start) : 0);

    v->next++;
    if (!err)
        err = drep_stored_at(a->dataset, start, &at);
    if (err)
        return err;
    refs_chunk_key(a, start, key, sizeof key);
    if (at.skipped != v->skipped || stored_short(a, at.skipped, at.bytes))
        return chunk_inline(a, start, key);
    writer_key(a->w, a->path, key);
    writer_place(a->w, stored_target(a, &at), at.offset, at.bytes - a->codecs.tail);
    return a->w->sink->err ? DREP_ERR_STOPPED : 0;
}

int chunked_put(struct array_writer *a)
{
    struct chunk_survey v = {.a = a};
    double cells = 1;
    int err = drep_dataset_chunks(a->dataset, survey_chunk, &v);

    if (err == DREP_ERR_STOPPED && a->why[0])
        return 0;
    if (!err)
        survey_choose(&v);
    if (!err && !a->why[0])
        survey_stream(&v);
    if (err || a->why[0])
        return err;
    for (int d = 0; d < a->info->rank; d++)
        cells *= (double)((a->info->dims[d] - 1) / a->info->chunk[d] + 1);
    v.fills = cells > (double)v.chunks &&
              (cells - (double)v.chunks) * (double)a->payload <= (double)INLINE_FILL;
    a->whole = v.fills || cells <= (double)v.chunks;
    if (v.backwards > 0)
        writer_note(a->w, a->path, NOTE_ORDER);
    err = drep_dataset_chunks(a->dataset, refs_chunk_put, &v);
    if (!err && v.fills)
        err = fills_put(&v, (int64_t)cells);
    return a->w->sink->err ? 0 : err;
}
