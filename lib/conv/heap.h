/* heap.h - contents of variable length: the heap behind stored elements.
 *
 * A text or sequence is stored as a reference of 16 bytes, {u64 count, u64 offset}, to a heap that
 * follows the elements of its chunk or value.  Elements of sequences may hold references in turn.
 * Nothing here converts: heaps are checked, weighed and moved as bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_HEAP_H
#define CONV_HEAP_H

#include "base/buf.h"
#include "format/record.h"
#include "type/type.h"

/* A reference to a content. */
struct heap_ref {
    uint64_t count, offset; /* elements of the sequence or bytes of the text */
};
struct heap_ref heap_ref_get(const uint8_t *p);
void heap_ref_put(uint8_t *p, uint64_t count, uint64_t offset);

/* Gives the content's count * size bytes.  DREP_ERR_FORMAT: it leaves the heap. */
int heap_at(const uint8_t *heap, size_t heap_size, struct heap_ref ref, uint64_t size,
            const uint8_t **p);
/* Appends a content; `base` bytes of the heap stand elsewhere.  p NULL: zeros. */
int heap_add(struct buf *heap, uint64_t base, const void *p, uint64_t size, uint64_t *offset);
/* Add a text, and write its reference to dst; NULL is "". */
int heap_add_text(struct buf *heap, uint64_t base, const char *s, uint8_t *dst);

/* How the elements of a sequence lie in the heap: as the record of a dataset's type says, or packed
 * by the sizes of a self-described value.  *ours: the caller releases the prog. */
int heap_prog(const drep_type *leaf, const struct type_sizes *sizes, enum prog_layout layout,
              struct prog *out, bool *ours);

/* Holds the references of n stored elements against their heap: all contents lie inside, none
 * overlap unless texts or plain sequences share one whole, together they take at most 16 times the
 * heap as often as they are named (so that a hostile file cannot ask for much memory), and no
 * region holds a NUL.  Messages number the elements from 0.  sizes: of a self-described value;
 * NULL: of a dataset. */
int heap_check(const struct type_sizes *sizes, enum prog_layout layout, const struct prog *stored,
               const uint8_t *elems, int64_t n, const uint8_t *heap, size_t heap_size);
/* Bytes of heap that n stored elements refer to, without what these contents refer to in turn. */
uint64_t heap_weight(const struct prog *stored, const uint8_t *elems, int64_t step, int64_t n);
/* Copies the contents of n stored elements to the end of another heap, of which `base` bytes stand
 * elsewhere, and makes the elements refer to the copies.  Shared contents become several: sharing
 * is what others may write, and a heap that shrinks could break the bound of heap_check(). */
int heap_move(const struct prog *stored, uint8_t *elems, int64_t n, const uint8_t *heap,
              size_t heap_size, uint64_t base, struct buf *heap_out);
/* The same where the heap, or most of it, stays in the file: exactly these contents are read, and
 * checked like those of heap_check(), but that nobody knows whether they overlap others. */
struct heap_source {
    int (*read)(void *ctx, uint64_t offset, uint64_t size, uint8_t *to);
    void *ctx;
    uint64_t size; /* bytes of the heap */
};
int heap_fetch(const struct prog *stored, uint8_t *elems, int64_t n, const struct heap_source *from,
               struct buf *heap_out);

#endif
