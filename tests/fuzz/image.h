/* image.h - what the fuzz targets of whole files share.
 *
 * An input is taken as it is, and then once more with all sums on the way from the slots
 * made right, so that a change somewhere inside is not merely a wrong sum. */
#ifndef TESTS_FUZZ_IMAGE_H
#define TESTS_FUZZ_IMAGE_H

#include "format/record.h"
#include "tests/fuzz/fuzz.h"

#include <datarep.h>
#include <stdbool.h>

#define IMAGE_MAX (4u << 20)
#define BLOCKS_MAX 3000

/* A copy lies in memory whole, and a slab of it may be large where its source had a few bytes:
 * then memory ends, which is an error like others. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

/* ---- making sums right ---- */

struct image {
    uint8_t *p;
    size_t size;
    const uint8_t *uuid;
    int blocks; /* left to visit: references may go in circles */
};

static inline int inside(const struct image *im, uint64_t offset, uint64_t size)
{
    return offset <= im->size && size <= im->size - offset;
}

/* Sums of the payload that the chunk record at p, `len` bytes, tells of. */
static inline void heal_chunk(struct image *im, uint8_t *p, size_t len)
{
    struct chunk_rec rec;
    uint8_t *sums = p + 26;
    uint64_t at, n = 0;
    struct in in;

    in_init(&in, p, len);
    if (chunk_get(&in, &rec) || !inside(im, rec.offset, rec.size * rec.run))
        return;
    if (rec.filtered) {
        store_u64(sums, sum_stored(im->p + rec.offset, (size_t)rec.size));
        return;
    }
    if (rec.far) {
        if (!inside(im, rec.sums.offset, rec.sums.length))
            return;
        sums = im->p + rec.sums.offset + FMT_BLOCK_HEAD;
    }
    for (uint32_t i = 0; i < rec.run; i++) {
        for (at = 0; at < rec.size; at += FMT_SUM_BLOCK) {
            uint64_t left = rec.size - at;

            left = left < FMT_SUM_BLOCK ? left : FMT_SUM_BLOCK;
            store_u64(sums + 8 * n++,
                      sum_stored(im->p + rec.offset + i * rec.size + at, (size_t)left));
        }
    }
}

static inline void heal_block(struct image *im, uint8_t *at, int depth);

static inline void heal_node(struct image *im, uint8_t *block, size_t size, int level, int depth)
{
    uint8_t key[FMT_KEY_MAX];
    struct entry e;
    struct in in;

    in_init(&in, block + FMT_BLOCK_HEAD, size - FMT_BLOCK_HEAD);
    memset(key, 0, sizeof(key));
    while (in_left(&in) > 0 && entry_get(&in, &e) == 0) {
        uint8_t *value = block + (e.value - block);

        memcpy(key + e.shared, e.suffix, e.suffix_len);
        if (level == 0 && !e.far && key_tag(key) == FMT_TAG_CHUNK) {
            heal_chunk(im, value, e.value_len);
            if (e.value_len >= 46 && (value[0] & 2))
                heal_block(im, value + 26, depth - 1);
        }
        if (e.value_len == FMT_REF_SIZE && (level > 0 || e.far))
            heal_block(im, value, depth - 1);
    }
}

/* Makes the block right that the reference at `at` leads to, then the reference. */
static inline void heal_block(struct image *im, uint8_t *at, int depth)
{
    uint64_t offset = load_u64(at);
    uint32_t length = load_u32(at + 8);
    uint8_t *block;
    uint64_t sum;

    if (depth == 0 || im->blocks-- <= 0 || offset < FMT_SPACE_START || length < FMT_BLOCK_HEAD ||
        !inside(im, offset, length))
        return;
    block = im->p + offset;
    if (block[4] == FMT_NODE && length <= FMT_NODE_MAX)
        heal_node(im, block, length, block[5], depth);
    memcpy(block, "\x44\x52\x50\x42", 4);
    memcpy(block + 8, im->uuid, 8);
    memcpy(block + 24, at + 8, 4);
    sum = sum_with_hole(block, length, 32);
    store_u64(block + 32, sum);
    store_u64(at + 12, sum);
}

static inline void heal(uint8_t *p, size_t size)
{
    for (size_t at = 0; at < FMT_SPACE_START; at += FMT_SLOT_SIZE) {
        uint8_t *slot = p + at;
        struct image im = {p, size, slot + 24, BLOCKS_MAX};

        if (slot[0] != 0x89)
            continue;
        for (size_t ref = 80; ref <= 120; ref += FMT_REF_SIZE)
            heal_block(&im, slot + ref, 20);
        memcpy(slot, "\x89\x44\x52\x50\x0d\x0a\x1a\x0a", 8);
        store_u64(slot + 4088, sum_of(slot, 4088));
    }
}

/* Calls run() with the input, and with the input made right. */
static inline void image_run(const uint8_t *data, size_t size,
                             void (*run)(const uint8_t *data, size_t size))
{
    uint8_t *copy;

    if (size > IMAGE_MAX)
        return;
    copy = malloc(size ? size : 1);
    PROMISE(copy != NULL);
    memcpy(copy, data, size);
    run(copy, size);
    if (size >= FMT_SPACE_START) {
        heal(copy, size);
        if (memcmp(copy, data, size) != 0)
            run(copy, size);
    }
    free(copy);
}

/* ---- is it without a fault? ---- */

struct found {
    int n;
    char first[300];
};

static inline int found_one(int err, uint64_t offset, const char *message, void *ctx)
{
    struct found *found = ctx;

    if (found->n++ == 0)
        snprintf(found->first, sizeof found->first, "finding %d at byte %llu: %s", err,
                 (unsigned long long)offset, message);
    return found->n > 20 ? DREP_ERR_STOPPED : 0;
}

static inline bool faultless(drep_file *file, struct found *found)
{
    int64_t findings;
    int err;

    found->n = 0;
    err = drep_check(file, 1, found_one, found, &findings);
    PROMISE(err == 0 || err == DREP_ERR_STOPPED || found->n == 0);
    return err == 0 && found->n == 0;
}

/* ---- changing inputs ---- */

/* Only libFuzzer has it; without it nothing asks for changes. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Mostly changes a few bytes in place, where a file has something to say: a change of
 * length would move all that references lead to. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint8_t few[48];
    size_t at, n;

    if (size <= FMT_SPACE_START || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max);
    if (seed % 16 < 3)
        at = (seed >> 5) % 320 + (seed >> 4 & 1) * FMT_SLOT_SIZE;
    else
        at = FMT_SPACE_START + (seed >> 4) % (size - FMT_SPACE_START);
    n = 1 + (seed >> 20) % sizeof(few);
    n = n < size - at ? n : size - at;
    memcpy(few, data + at, n);
    n = LLVMFuzzerMutate(few, n, n);
    memcpy(data + at, few, n);
    return size;
}

#endif
