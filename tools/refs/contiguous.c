/* contiguous.c - the elements of a contiguous dataset as chunks of zarr.
 *
 * They lie in the file in row-major order, in one stretch, or in several after overwriting.  Any
 * block of whole rows can be a chunk.  Large datasets are cut, for readers that take a part; those
 * in several stretches into small blocks, of which the few that are in none are written inline. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"
#include "tools/refs/writer.h"
#include "tools/walk/stretch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRETCHES 65536                  /* in memory; a dataset with more is left out */
#define BLOCKS 65536                     /* a dataset has no more, if it can be */
#define BLOCK_BYTES (INT64_C(16) << 20)  /* a large dataset is cut in blocks of at most this */
#define INLINE_PIECES (INT64_C(4) << 20) /* blocks that are in no stretch have so many bytes, */

/* Elements that follow each other in the file. */
struct stretch {
    int64_t first, count; /* elements, by their number in row-major order */
    int64_t offset;
    const char *target;
};

struct refs_stretches {
    struct array_writer *a;
    struct stretch *list;
    size_t n, room;
};

static void element_index(const struct array_writer *a, int64_t number, int64_t *index)
{
    for (int d = a->info->rank - 1; d >= 0; d--) {
        index[d] = number % a->info->dims[d];
        number /= a->info->dims[d];
    }
}

static int stretch_add(const int64_t *start, void *ctx)
{
    struct refs_stretches *s = ctx;
    struct array_writer *a = s->a;
    struct stretch *last = s->n ? &s->list[s->n - 1] : NULL;
    drep_stored at = DREP_STORED;
    int64_t index[DREP_MAX_RANK];
    int err;

    if (last && *start < last->first + last->count)
        return 0;
    element_index(a, *start, index);
    err = drep_stored_at(a->dataset, index, &at);
    if (err)
        return err;
    if (s->n == STRETCHES || !stored_target(a, &at)) {
        snprintf(a->why, REFS_WHY, "its elements are %s",
                 s->n == STRETCHES ? "in too many pieces, which `datarep convert` joins"
                                   : "in another file whose URL may be secret");
        return DREP_ERR_STOPPED;
    }
    if (VEC_ROOM(s->list, s->n, s->room, 1))
        return DREP_ERR_NOMEM;
    s->list[s->n++] = (struct stretch){.first = *start,
                                       .count = at.bytes / a->info->element_size,
                                       .offset = at.offset,
                                       .target = stored_target(a, &at)};
    return 0;
}

/* Choose the largest blocks of at most `most` bytes that consist of whole rows of some dimension;
 * all of it, if that makes too many.  Returns their elements. */
static int64_t blocks_choose(struct array_writer *a, int64_t most)
{
    int64_t row = a->info->count, block = 1, size = a->info->element_size;
    int d = 0;

    for (; d < a->info->rank && row / a->info->dims[d] * size > most; d++) {
        row /= a->info->dims[d];
        a->chunk[d] = 1;
    }
    if (d < a->info->rank) {
        row /= a->info->dims[d];
        a->chunk[d] = stretch_divisor(a->info->dims[d], most / (row * size));
    }
    for (int k = d + 1; k < a->info->rank; k++)
        a->chunk[k] = a->info->dims[k];
    for (int k = 0; k < a->info->rank; k++)
        block *= a->chunk[k];
    if (a->info->count / block <= BLOCKS)
        return block;
    memcpy(a->chunk, a->info->dims, (size_t)a->info->rank * sizeof *a->chunk);
    return a->info->count;
}

static int block_inline(struct array_writer *a, const int64_t *start, const char *key,
                        int64_t block)
{
    uint8_t *bytes;
    int err = elements_block(a, start, a->chunk, NULL, &bytes);

    if (err)
        return err;
    writer_key(a->w, a->path, key);
    writer_bytes(a->w, bytes, (size_t)(block * a->info->element_size));
    free(bytes);
    return 0;
}

/* Write blocks: at their place if they are in one stretch, else inline. */
static int blocks_put(struct array_writer *a, const struct refs_stretches *s, int64_t block,
                      bool fills)
{
    const struct stretch *is = s->list, *last = s->list + s->n;
    int64_t index[DREP_MAX_RANK];
    char key[REFS_KEY];
    int err = 0;

    for (int64_t at = 0; at < a->info->count && !err; at += block) {
        while (is < last && is->first + is->count <= at)
            is++;
        element_index(a, at, index);
        refs_chunk_key(a, index, key, sizeof key);
        if (is < last && is->first <= at && at + block <= is->first + is->count) {
            writer_key(a->w, a->path, key);
            writer_place(a->w, is->target, is->offset + (at - is->first) * a->info->element_size,
                         block * a->info->element_size);
        } else if (fills || (is < last && is->first < at + block)) {
            err = block_inline(a, index, key, block);
        }
    }
    return err;
}

int contiguous_put(struct array_writer *a)
{
    struct refs_stretches s = {.a = a};
    int64_t size = a->info->element_size, stored = 0, most = a->info->count * size, block;
    int err = drep_dataset_chunks(a->dataset, stretch_add, &s);
    bool fills, backwards = false;

    if (err == DREP_ERR_STOPPED && a->why[0])
        err = 0;
    for (size_t i = 0; i < s.n; i++) {
        stored += s.list[i].count;
        backwards |= i > 0 && s.list[i].offset < s.list[i - 1].offset;
    }
    a->whole = stored == a->info->count;
    if (s.n > 1 || !a->whole)
        most = INLINE_PIECES / (int64_t)(s.n + 1);
    else if (most > 2 * BLOCK_BYTES)
        most = BLOCK_BYTES;
    if (!err && !a->why[0]) {
        block = blocks_choose(a, most > size ? most : size);
        fills = (a->info->count - stored) * size <= INLINE_FILL;
        if (s.n > 1 && (int64_t)s.n > INLINE_MOST / size / block)
            snprintf(a->why, REFS_WHY,
                     "its elements are in %zu pieces, which `datarep convert` joins", s.n);
        if (!a->why[0] && backwards)
            writer_note(a->w, a->path, NOTE_ORDER);
        if (!a->why[0])
            err = blocks_put(a, &s, block, fills);
        a->whole |= fills;
    }
    free(s.list);
    return err;
}
