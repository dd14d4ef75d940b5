/* byte_ranges.c - which bytes of a stored element are those of some of its members.
 *
 * Where two members are neighbours their ranges become one, so that the same members are the same
 * ranges, whichever way a program named them. */
/* SPDX-License-Identifier: MIT */
#include "conv/byte_ranges.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/byteorder.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

/* Where range number i begins, and the byte behind it. */
static uint64_t begin_of(const struct byte_ranges *s, size_t i)
{
    return load_u64(s->range + i * BYTE_RANGE);
}

static uint64_t end_of(const struct byte_ranges *s, size_t i)
{
    return begin_of(s, i) + load_u64(s->range + i * BYTE_RANGE + 8);
}

static int by_begin(const void *a, const void *b)
{
    uint64_t x = load_u64(a), y = load_u64(b);

    return (x > y) - (x < y);
}

/* Ranges in any order become those of a set. */
static int settle(struct buf *b, struct byte_ranges *out)
{
    size_t n = b->len / BYTE_RANGE, kept = 0;

    *out = (struct byte_ranges){.range = b->p};
    if (n > 1)
        qsort(b->p, n, BYTE_RANGE, by_begin);
    for (size_t i = 0; i < n; i++) {
        uint64_t begin = begin_of(out, i), end = end_of(out, i);

        if (begin == end)
            continue;
        if (kept > 0 && begin <= end_of(out, kept - 1)) {
            begin = begin_of(out, --kept);
            end = end > end_of(out, kept) ? end : end_of(out, kept);
        }
        store_u64(b->p + kept * BYTE_RANGE, begin);
        store_u64(b->p + kept++ * BYTE_RANGE + 8, end - begin);
    }
    out->n = kept;
    return 0;
}

/* Appends a range to a list that settle() puts in order. */
static int add(struct buf *b, uint64_t at, uint64_t n)
{
    uint8_t range[BYTE_RANGE];

    store_u64(range, at);
    store_u64(range + 8, n);
    return buf_add(b, range, sizeof range);
}

int byte_ranges_of(const struct prog *stored, const struct type_sizes *sizes,
                   struct byte_ranges *out)
{
    int64_t left = stored->items;
    struct buf b = {0};
    drep_cursor cursor;
    drep_run run;
    int err = cursor_init(&cursor, stored, 0);

    for (; !err && left > 0 && cursor_next(&cursor, left, &run); left -= run.count) {
        int64_t size = stored_size(sizes, run.type), n = run.count;

        if (run.stride == size) {
            err = add(&b, (uint64_t)run.offset, (uint64_t)(n * size));
            continue;
        }
        for (int64_t i = 0; !err && i < n; i++)
            err = add(&b, (uint64_t)(run.offset + i * run.stride), (uint64_t)size);
    }
    if (!err)
        return settle(&b, out);
    buf_release(&b);
    return err;
}

int byte_ranges_unite(const struct byte_ranges *a, const struct byte_ranges *b,
                      struct byte_ranges *out)
{
    struct buf both = {0};
    int err;

    if (a->n == 0 || b->n == 0) { /* all members */
        *out = (struct byte_ranges){.n = 0};
        return 0;
    }
    err = buf_add(&both, a->range, byte_ranges_size(a));
    if (!err)
        err = buf_add(&both, b->range, byte_ranges_size(b));
    if (!err)
        return settle(&both, out);
    buf_release(&both);
    return err;
}

void byte_ranges_release(struct byte_ranges *s)
{
    mem_free(s->range);
    *s = (struct byte_ranges){.n = 0};
}

bool byte_ranges_same(const struct byte_ranges *a, const struct byte_ranges *b)
{
    size_t size = byte_ranges_size(a);

    return size == byte_ranges_size(b) && (size == 0 || memcmp(a->range, b->range, size) == 0);
}

/* Walks both lists upwards at once. */
bool byte_ranges_meet(const struct byte_ranges *a, const struct byte_ranges *b)
{
    if (byte_ranges_size(a) == 0 || byte_ranges_size(b) == 0)
        return true;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        if (begin_of(a, i) < end_of(b, k) && begin_of(b, k) < end_of(a, i))
            return true;
        if (end_of(a, i) < end_of(b, k))
            i++;
        else
            k++;
    }
    return false;
}

bool byte_ranges_valid(const struct byte_ranges *s, uint64_t size)
{
    uint64_t at = 0;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t begin = begin_of(s, i), n = load_u64(s->range + i * BYTE_RANGE + 8);

        if (begin < at || begin > size || n == 0 || n > size - begin)
            return false;
        at = begin + n + 1;
    }
    return true;
}

void byte_ranges_copy(const struct byte_ranges *s, uint8_t *to, const uint8_t *from, size_t size)
{
    if (byte_ranges_size(s) == 0) {
        memcpy(to, from, size);
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t at = (size_t)begin_of(s, i);

        memcpy(to + at, from + at, (size_t)end_of(s, i) - at);
    }
}

int64_t stored_size(const struct type_sizes *sizes, const drep_type *leaf)
{
    switch (leaf->kind) {
    case DREP_KIND_PREDEFINED:
        return sizes->size[leaf->code];
    case DREP_KIND_SCALAR:
        return leaf->scalar->size;
    case DREP_KIND_REFERENCE:
        return drep_type_reference_what(leaf) == DREP_REF_REGION ? sizes->region_size
                                                                 : sizes->object_size;
    case DREP_KIND_VSTRING:
        return sizes->vstring_size && !type_counted(leaf) ? sizes->vstring_size : sizes->vlen_size;
    case DREP_KIND_STRING:
        return leaf->args[0];
    default:
        return sizes->vlen_size;
    }
}
