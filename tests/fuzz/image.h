/* image.h - what the fuzz targets of whole files share.
 *
 * An input is taken as it is, and then once more with all sums on the way from the slots
 * made right, so that a change somewhere inside is not merely a wrong sum. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_IMAGE_H
#define TESTS_FUZZ_IMAGE_H

#include "chunk/target.h"
#include "file/file.h"
#include "format/record.h"
#include "tests/fuzz/fuzz.h"

#include <datarep.h>
#include <fcntl.h>
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

/* Sums of the rows of filtered chunks: a sum stands at the end of each. */
static inline void heal_rows(struct image *im, const struct chunk_rec *rec)
{
    size_t width = rec->rows.len / rec->run;
    uint64_t at = 0;

    if (rec->kind == FMT_CHUNK_EXTERNAL) /* not of bytes that are here */
        return;
    for (uint32_t i = 0; i < rec->run; i++) {
        uint8_t *row = im->p + (rec->rows.p - im->p) + i * width;
        struct chunk_rec one;

        chunk_row(rec, i, &at, &one);
        if (inside(im, one.offset, one.size))
            store_u64(row + width - 8, sum_stored(im->p + one.offset, (size_t)one.size));
    }
}

/* Sums of the payload that the chunk record at p, `len` bytes, tells of. */
static inline void heal_chunk(struct image *im, uint8_t *p, size_t len)
{
    struct chunk_rec rec;
    uint64_t at, n = 0;
    struct in in;

    in_init(&in, p, len);
    if (chunk_get(&in, &rec))
        return;
    if (rec.filtered) {
        heal_rows(im, &rec);
        return;
    }
    if (!inside(im, rec.offset, rec.size * rec.run))
        return;
    for (uint32_t i = 0; i < rec.run; i++) {
        for (at = 0; at < rec.size; at += FMT_SUM_BLOCK, n++) {
            uint64_t left = rec.size - at, sum;
            uint8_t *to = p + 22 + 8 * n;
            struct ref ref = {0, 0, 0};

            left = left < FMT_SUM_BLOCK ? left : FMT_SUM_BLOCK;
            sum = sum_stored(im->p + rec.offset + i * rec.size + at, (size_t)left);
            if (rec.far) {
                const uint64_t each = (FMT_SUMS_MAX - FMT_BLOCK_HEAD) / 8;

                chunk_ref(&rec, (uint32_t)(n / each), &ref);
                if (!inside(im, ref.offset, ref.length))
                    return;
                to = im->p + ref.offset + FMT_BLOCK_HEAD + 8 * (n % each);
            }
            store_u64(to, sum);
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
        if (level == 0 && !e.far && key_known(key) == FMT_TAG_CHUNK) {
            heal_chunk(im, value, e.value_len);
            for (size_t ref = 22;
                 value[0] == FMT_CHUNK_PLAIN && (value[1] & 1) && ref + FMT_REF_SIZE <= e.value_len;
                 ref += FMT_REF_SIZE)
                heal_block(im, value + ref, depth - 1);
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

static inline void heal_slot(uint8_t *p, size_t size, size_t at)
{
    uint8_t *slot = p + at;
    struct image im = {p, size, slot + 24, BLOCKS_MAX};

    if (slot[0] != 0x89)
        return;
    for (size_t ref = 80; ref <= 120; ref += FMT_REF_SIZE)
        heal_block(&im, slot + ref, 20);
    memcpy(slot, "\x89\x44\x52\x50\x0d\x0a\x1a\x0a", 8);
    store_u64(slot + 4088, sum_of(slot, 4088));
}

/* Slots A and B, and the one at the end of a stream. */
static inline void heal(uint8_t *p, size_t size)
{
    heal_slot(p, size, 0);
    heal_slot(p, size, FMT_SLOT_SIZE);
    if (size >= FMT_SPACE_START + FMT_SLOT_SIZE)
        heal_slot(p, size, size - FMT_SLOT_SIZE);
}

/* Lets a file in memory have the targets of the vectors, so that its external rows can be read. */
static inline void image_targets(drep_file *file)
{
    static int dir = -1;

    if (dir < 0)
        dir = open("tests/vectors", O_RDONLY | O_DIRECTORY);
    targets_allow(file->st, dir);
}

/* Hints for one thread and a cache of 1 MiB; to be freed. */
static inline drep_info *image_hints(void)
{
    drep_info *info;

    PROMISE(drep_info_new(&info) == 0);
    PROMISE(drep_info_set(info, "drep_cache_size", "1048576") == 0);
    PROMISE(drep_info_set(info, "drep_threads", "1") == 0);
    return info;
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

    if (err == 0) /* no fault: a newer version wrote that */
        return 0;
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
    if (seed % 16 == 3 && size >= FMT_SPACE_START + FMT_SLOT_SIZE) /* a slot at the end */
        at = size - FMT_SLOT_SIZE + (seed >> 4) % 320;
    else if (seed % 16 < 3)
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
