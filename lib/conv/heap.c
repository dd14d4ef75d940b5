/* heap.c - contents of variable length: the heap behind stored elements. */
/* SPDX-License-Identifier: MIT */
#include "conv/heap.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_MAX ((uint64_t)1 << 40) /* bytes of contents in one payload */
/* Contents may be shared: counted as often as they are named they take at most so many times the
 * bytes of their heap, so that a small file cannot ask for much memory. */

/* ---- references ---- */

struct heap_ref heap_ref_get(const uint8_t *p)
{
    return (struct heap_ref){key_u64(p), key_u64(p + 8)};
}

void heap_ref_put(uint8_t *p, uint64_t count, uint64_t offset)
{
    struct out out;

    out_init(&out, p, 16);
    out_u64(&out, count);
    out_u64(&out, offset);
}

/* DREP_ERR_FORMAT: a content of elements of `size` bytes leaves its heap. */
static int heap_inside(size_t heap_size, struct heap_ref at, uint64_t size)
{
    if (at.offset <= heap_size && size != 0 && at.count <= (heap_size - at.offset) / size)
        return 0;
    return fail(DREP_ERR_FORMAT,
                "a sequence of %llu elements at byte %llu exceeds its heap of %zu bytes (R5.32)",
                (unsigned long long)at.count, (unsigned long long)at.offset, heap_size);
}

int heap_at(const uint8_t *heap, size_t heap_size, struct heap_ref at, uint64_t size,
            const uint8_t **p)
{
    int err = heap_inside(heap_size, at, size);

    if (!err)
        *p = heap + at.offset;
    return err;
}

int heap_add(struct buf *h, uint64_t base, const void *p, uint64_t size, uint64_t *offset)
{
    int err;

    if (size > HEAP_MAX || h->len > HEAP_MAX - size)
        return fail(DREP_ERR_LIMIT, "variable-length data of %llu bytes", (unsigned long long)size);
    if ((err = buf_reserve(h, h->len + size)))
        return err;
    *offset = base + h->len;
    if (p && size > 0)
        memcpy(h->p + h->len, p, (size_t)size);
    else if (size > 0)
        memset(h->p + h->len, 0, (size_t)size);
    h->len += (size_t)size;
    return 0;
}

int heap_add_text(struct buf *h, uint64_t base, const char *s, uint8_t *dst)
{
    uint64_t len = s ? strlen(s) : 0, offset = 0;
    int err = len == 0 ? 0 : heap_add(h, base, s, len, &offset);

    if (!err)
        heap_ref_put(dst, len, offset);
    return err;
}

int heap_prog(const drep_type *leaf, const struct type_sizes *sizes, enum prog_layout layout,
              struct prog *out, bool *ours)
{
    *ours = sizes;
    if (*ours)
        return prog_build(out, drep_type_member(leaf, 0), sizes, layout);
    *out = leaf->content;
    return 0;
}

/* ---- moving ---- */

/* True if items of this type refer to a heap. */
static bool has_heap(const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_SEQUENCE || leaf->kind == DREP_KIND_VSTRING ||
           (leaf->kind == DREP_KIND_REFERENCE && drep_type_reference_what(leaf) == DREP_REF_REGION);
}

/* Where contents come from and go to. */
struct heap_move {
    const uint8_t *heap;
    const struct heap_source *from; /* NULL: all of the heap is in memory */
    size_t heap_size;
    struct buf *out;
    uint64_t base; /* bytes of the new heap before `out` */
    int depth;
};

/* A region is a text, without a NUL; strings hold any bytes. */
static int region_whole(const drep_type *leaf, const uint8_t *p, uint64_t size)
{
    const uint8_t *nul = leaf->kind == DREP_KIND_REFERENCE ? memchr(p, 0, (size_t)size) : NULL;

    return !nul ? 0
                : fail(DREP_ERR_FORMAT, "a region of %llu bytes has a NUL at its byte %llu (R5.35)",
                       (unsigned long long)size, (unsigned long long)(nul - p));
}

/* Contents add up to at most FMT_SHARE_MAX times their heap. */
static int heap_bound(uint64_t sum, size_t heap_size)
{
    return sum <= FMT_SHARE_MAX * (uint64_t)heap_size
               ? 0
               : fail(DREP_ERR_UNSUPPORTED,
                      FMT_BEYOND("contents of more than 16 times their heap", "R5.34"));
}

/* Appends a content to the new heap; *offset is its place in `out`.  One that is read from a file
 * is checked here: nobody has seen it before. */
static int heap_take(struct heap_move *m, const drep_type *leaf, struct heap_ref at, uint64_t size,
                     uint64_t *offset)
{
    int err;

    if (!m->from)
        return heap_add(m->out, 0, m->heap + at.offset, size, offset);
    if ((err = heap_bound(m->out->len + size, m->heap_size)) ||
        (err = heap_add(m->out, 0, NULL, size, offset)) ||
        (err = m->from->read(m->from->ctx, at.offset, size, m->out->p + *offset)))
        return err;
    return region_whole(leaf, m->out->p + *offset, size);
}

static int heap_move_item(const drep_type *leaf, uint8_t *item, struct heap_move *m);

/* Moves the contents of n elements, depth first. */
static int heap_move_elems(const struct prog *stored, uint8_t *elems, int64_t n,
                           struct heap_move *m)
{
    int64_t left = n * stored->items;
    drep_cursor cur;
    drep_run run;
    int err = cursor_init(&cur, stored, 0);

    while (!err && left > 0) {
        drep_cursor_next(&cur, left, &run);
        left -= run.count;
        if (!has_heap(run.type))
            continue;
        for (int64_t i = 0; !err && i < run.count; i++)
            err = heap_move_item(run.type, elems + run.offset + i * run.stride, m);
    }
    return err;
}

/* Copies one content. Inner references are changed in a copy beside the heap, which may move when
 * it grows. */
static int heap_move_item(const drep_type *leaf, uint8_t *item, struct heap_move *m)
{
    uint8_t *at_bytes = item + (leaf->kind == DREP_KIND_REFERENCE ? 8 : 0);
    struct heap_ref at = heap_ref_get(at_bytes);
    struct prog base = {.extent = 1};
    bool ours = false;
    const drep_type *bt = NULL;
    uint8_t *tmp = NULL;
    uint64_t offset = 0, size;
    int err = 0;

    if (at.count == 0) {
        memset(at_bytes, 0, 16);
        return 0;
    }
    if (m->depth >= FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (leaf->kind == DREP_KIND_SEQUENCE) {
        bt = drep_type_member(leaf, 0);
        if ((err = heap_prog(leaf, NULL, PROG_PACKED, &base, &ours)))
            return err;
    }
    size = at.count * (uint64_t)base.extent;
    err = heap_inside(m->heap_size, at, (uint64_t)base.extent);
    if (!err)
        err = heap_take(m, leaf, at, size, &offset);
    if (!err && bt && bt->variable) {
        tmp = mem_alloc(size);
        if (!tmp)
            err = fail_nomem();
        if (!err) {
            memcpy(tmp, m->out->p + offset, (size_t)size);
            m->depth++;
            err = heap_move_elems(&base, tmp, (int64_t)at.count, m);
            m->depth--;
        }
        if (!err)
            memcpy(m->out->p + offset, tmp, (size_t)size);
        mem_free(tmp);
    }
    if (ours)
        prog_release(&base);
    if (!err)
        heap_ref_put(at_bytes, at.count, m->base + offset);
    return err;
}

/* Counts the bytes that become waste when these elements are overwritten. */
uint64_t heap_weight(const struct prog *stored, const uint8_t *elems, int64_t step, int64_t n)
{
    uint64_t weight = 0;

    for (int64_t k = 0; k < n; k++, elems += step) {
        int64_t left = stored->items;
        drep_cursor cur;
        drep_run run;

        if (cursor_init(&cur, stored, 0) != 0)
            return weight;
        for (; left > 0 && cursor_next(&cur, left, &run); left -= run.count) {
            for (int64_t i = 0; has_heap(run.type) && i < run.count; i++) {
                const uint8_t *item = elems + run.offset + i * run.stride;
                struct heap_ref at =
                    heap_ref_get(item + (run.type->kind == DREP_KIND_REFERENCE ? 8 : 0));
                struct prog base = {.extent = 1};
                bool ours = false;

                if (run.type->kind == DREP_KIND_SEQUENCE &&
                    heap_prog(run.type, NULL, PROG_PACKED, &base, &ours) != 0)
                    continue;
                weight += at.count * (uint64_t)base.extent;
                if (ours)
                    prog_release(&base);
            }
        }
    }
    return weight;
}

int heap_move(const struct prog *stored, uint8_t *elems, int64_t n, const uint8_t *heap,
              size_t heap_size, uint64_t base, struct buf *heap_out)
{
    struct heap_move m = {.heap = heap, .heap_size = heap_size, .out = heap_out, .base = base};

    return heap_move_elems(stored, elems, n, &m);
}

int heap_fetch(const struct prog *stored, uint8_t *elems, int64_t n, const struct heap_source *from,
               struct buf *heap_out)
{
    struct heap_move m = {.from = from, .heap_size = (size_t)from->size, .out = heap_out};

    return heap_move_elems(stored, elems, n, &m);
}

/* ---- checking ---- */

/* A content that was named. */
struct content {
    uint64_t offset, bytes;
    const drep_type *leaf; /* what named it */
};

/* The contents seen so far. Each takes 16 bytes of reference somewhere, so their number is bounded
 * by the size of what was read. */
struct contents {
    const struct type_sizes *sizes;
    enum prog_layout layout;
    const uint8_t *heap;
    size_t heap_size;
    uint64_t sum; /* bytes, counted as often as they are named */
    struct content *at;
    size_t n, room, max;
    int64_t element; /* the one that is looked at, among those that are checked */
    bool disorder;
};

/* Contents without variable parts may be shared, if the base is the same too: then there is nothing
 * in them that one name could give another meaning.  Texts have no base. */
static bool content_shared(const struct content *a, const struct content *b)
{
    bool sequence = a->leaf->kind == DREP_KIND_SEQUENCE;

    if (a->offset != b->offset || a->bytes != b->bytes ||
        sequence != (b->leaf->kind == DREP_KIND_SEQUENCE))
        return false;
    return !sequence ||
           (!drep_type_member(a->leaf, 0)->variable && leaf_stored_same(a->leaf, b->leaf));
}

/* Contents mostly come in order; `disorder` says that they must be sorted before they are compared.
 */
static int contents_add(struct contents *c, const struct content *new)
{
    const struct content *last = c->n > 0 ? &c->at[c->n - 1] : NULL;
    int err;

    c->sum += new->bytes; /* at most heap_size more than the bound: no overflow */
    if ((err = heap_bound(c->sum, c->heap_size)))
        return err;
    if (last && content_shared(last, new))
        return 0;
    if (last && new->offset < last->offset + last->bytes)
        c->disorder = true;
    if (VEC_ROOM(c->at, c->n, c->room, 1) != 0) /* the list may move */
        return DREP_ERR_NOMEM;
    c->at[c->n++] = *new;
    if (c->n > c->max)
        return fail(DREP_ERR_FORMAT, "variable-length contents overlap (R5.33)");
    return 0;
}

static int contents_of(struct contents *c, const struct prog *stored, const uint8_t *elems,
                       int64_t n, int depth);

/* Checks one content and those that it refers to. */
static int content_of(struct contents *c, const drep_type *leaf, const uint8_t *item, int depth)
{
    struct heap_ref at = heap_ref_get(item + (leaf->kind == DREP_KIND_REFERENCE ? 8 : 0));
    struct prog base = {.extent = 1};
    bool ours = false;
    const drep_type *bt = NULL;
    const uint8_t *p = NULL;
    int err = 0;

    if (at.count == 0)
        return 0;
    if (depth > FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "sequences nested deeper than %d", FMT_SEQ_DEPTH_MAX);
    if (leaf->kind == DREP_KIND_SEQUENCE) {
        bt = drep_type_member(leaf, 0);
        if ((err = heap_prog(leaf, c->sizes, c->layout, &base, &ours)))
            return err;
    }
    err = heap_at(c->heap, c->heap_size, at, (uint64_t)base.extent, &p);
    if (!err)
        err = contents_add(c, &(struct content){at.offset, at.count * (uint64_t)base.extent, leaf});
    if (!err)
        err = region_whole(leaf, p, at.count);
    if (!err && bt && bt->variable)
        err = contents_of(c, &base, p, (int64_t)at.count, depth + 1);
    if (ours)
        prog_release(&base);
    return err;
}

/* Checks the contents of n elements. */
static int contents_of(struct contents *c, const struct prog *stored, const uint8_t *elems,
                       int64_t n, int depth)
{
    int64_t left = n * stored->items;
    drep_cursor cur;
    drep_run run;
    int err = cursor_init(&cur, stored, 0);

    while (!err && left > 0) {
        drep_cursor_next(&cur, left, &run);
        for (int64_t i = 0; has_heap(run.type) && !err && i < run.count; i++) {
            if (depth == 1)
                c->element = n - (left - i + stored->items - 1) / stored->items;
            err = content_of(c, run.type, elems + run.offset + i * run.stride, depth);
        }
        left -= run.count;
    }
    return err;
}

static int by_offset(const void *a, const void *b)
{
    const struct content *x = a, *y = b;

    return x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int contents_apart(struct contents *c)
{
    qsort(c->at, c->n, sizeof *c->at, by_offset);
    for (size_t i = 1; i < c->n; i++)
        if (c->at[i].offset < c->at[i - 1].offset + c->at[i - 1].bytes &&
            !content_shared(&c->at[i - 1], &c->at[i]))
            return fail(DREP_ERR_FORMAT,
                        "variable-length contents overlap at byte %llu of their heap (R5.33)",
                        (unsigned long long)c->at[i].offset);
    return 0;
}

/* True if each element has one text, and the texts stand in the heap one behind the other, as in
 * most payloads.  heap_check() looks closely at all others. */
static bool texts_in_order(const struct prog *stored, const uint8_t *elems, int64_t n,
                           size_t heap_size)
{
    uint64_t end = 0;

    if (!stored->root || stored->root->op != NODE_LEAF || stored->items != 1 ||
        stored->root->leaf->kind != DREP_KIND_VSTRING)
        return false;
    elems += stored->origin;
    for (int64_t i = 0; i < n; i++, elems += stored->extent) {
        struct heap_ref at = heap_ref_get(elems);

        if (at.count == 0)
            continue;
        if (at.offset < end || at.offset > heap_size || at.count > heap_size - at.offset)
            return false;
        end = at.offset + at.count;
    }
    return true;
}

/* Every payload from a file passes here before any converter follows its references. */
int heap_check(const struct type_sizes *sizes, enum prog_layout layout, const struct prog *stored,
               const uint8_t *elems, int64_t n, const uint8_t *heap, size_t heap_size)
{
    /* What names a content takes 16 bytes itself, among the elements or in the heap. */
    struct contents c = {.sizes = sizes,
                         .layout = layout,
                         .heap = heap,
                         .heap_size = heap_size,
                         .max = ((size_t)(n * stored->extent) + heap_size) / 16};
    int err;

    if (texts_in_order(stored, elems, n, heap_size))
        return 0;
    err = contents_of(&c, stored, elems, n, 1);
    if (err && n > 1)
        err = fail_in(err, "element %lld", (long long)c.element);
    if (!err && c.disorder)
        err = contents_apart(&c);
    mem_free(c.at);
    return err;
}
