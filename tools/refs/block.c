/* block.c - elements as the file has them, and the names of chunks. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/writer.h"
#include "tools/walk/blocks.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Move rows of a small block to their places in a larger one. */
static void rows_place(const struct array_writer *a, const int64_t *count, const int64_t *room,
                       const uint8_t *from, uint8_t *to)
{
    int64_t at[DREP_MAX_RANK] = {0}, size = a->info->element_size;
    int last = a->info->rank - 1;

    for (;;) {
        int64_t where = 0;
        int d;

        for (d = 0; d <= last; d++)
            where = where * room[d] + at[d];
        memcpy(to + where * size, from, (size_t)(count[last] * size));
        from += count[last] * size;
        for (d = last - 1; d >= 0 && ++at[d] == count[d]; d--)
            at[d] = 0;
        if (d < 0)
            return;
    }
}

static int fill_elements(const struct array_writer *a, int64_t elements, uint8_t **out)
{
    size_t size = (size_t)a->info->element_size;
    uint8_t *to = malloc((size_t)elements * size);

    if (!to)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < elements; i++)
        memcpy(to + (size_t)i * size, a->fill, size);
    *out = to;
    return 0;
}

static int refs_block_read(struct array_writer *a, const int64_t *start, const int64_t *count,
                           void *buf)
{
    drep_selection *sel = NULL;
    int err = a->info->rank ? drep_select_box(a->info->rank, start, count, NULL, NULL, &sel) : 0;

    if (!err)
        err = elements_read(a->dataset, sel, a->element.memory, buf);
    drep_selection_free(sel);
    return err;
}

int elements_block(struct array_writer *a, const int64_t *start, const int64_t *count,
                   const int64_t *room, uint8_t **out)
{
    int64_t size = a->info->element_size, n = 1, all = 1;
    uint8_t *read, *to;
    int err;

    for (int d = 0; d < a->info->rank; d++) {
        n *= count[d];
        all *= room ? room[d] : count[d];
    }
    read = malloc((size_t)(n * size) + 1);
    if (!read)
        return DREP_ERR_NOMEM;
    err = n ? refs_block_read(a, start, count, read) : 0;
    if (err) {
        free(read);
        return err;
    }
    refs_element_store(&a->element, read, n * a->items);
    if (n == all) {
        *out = read;
        return 0;
    }
    err = fill_elements(a, all, &to);
    if (!err) {
        rows_place(a, count, room, read, to);
        *out = to;
    }
    free(read);
    return err;
}

const char *stored_target(const struct array_writer *a, const drep_stored *at)
{
    const struct refs_writer *w = a->w;

    if (!at->external)
        return w->refs->target;
    for (size_t i = 0; i < w->nother; i++)
        if (w->other[i].number == at->number)
            return w->other[i].target;
    return NULL;
}

void refs_chunk_key(const struct array_writer *a, const int64_t *start, char *text, size_t room)
{
    size_t len = 0;

    snprintf(text, room, "0");
    for (int d = 0; d < a->rank; d++)
        len += (size_t)snprintf(text + len, room - len, "%s%" PRId64, d ? "." : "",
                                d < a->info->rank ? start[d] / a->chunk[d] : 0);
}

/* ----------------------------------------------------------------- inline */

int inline_put(struct array_writer *a)
{
    const int64_t origin[DREP_MAX_RANK] = {0};
    char key[REFS_KEY];
    uint8_t *bytes;
    int err;

    a->codecs = (struct codecs){.n = 0};
    a->whole = true;
    for (int d = 0; d < a->rank; d++)
        a->chunk[d] = a->dims[d] > 0 ? a->dims[d] : 1;
    if (a->info->count == 0)
        return 0;
    err = elements_block(a, origin, a->info->dims, NULL, &bytes);
    if (err)
        return err;
    refs_chunk_key(a, origin, key, sizeof key);
    writer_key(a->w, a->path, key);
    writer_bytes(a->w, bytes, (size_t)(a->info->count * a->info->element_size));
    free(bytes);
    return 0;
}
