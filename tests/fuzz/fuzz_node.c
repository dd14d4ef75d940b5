/* fuzz_node.c - a block of any bytes, and the entries of a node.
 *
 * Bit 0 of the first byte makes magic, length and checksum right, so that what lies
 * behind them is reached. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "tests/fuzz/fuzz.h"

static void entries(const uint8_t *p, size_t size)
{
    uint8_t *back = malloc(size ? size : 1);
    struct out out;
    struct in in;

    out_init(&out, back, size);
    in_init(&in, p, size);
    while (in_left(&in) > 0) {
        struct entry e;
        struct ref ref;
        struct in far;

        if (entry_get(&in, &e))
            break;
        PROMISE(e.suffix >= p && e.suffix + e.suffix_len <= p + size);
        PROMISE(e.value >= p && e.value + e.value_len <= p + size);
        PROMISE(e.shared + e.suffix_len <= FMT_KEY_MAX);
        entry_put(&out, e.shared, e.suffix, e.suffix_len, e.value, e.value_len, e.far);
        PROMISE(out.at == in.at);
        if (!e.far)
            continue;
        in_init(&far, e.value, e.value_len);
        ref_get(&far, &ref);
    }
    PROMISE(!out.err && memcmp(back, p, out.at) == 0);
    free(back);
}

static void pending(const uint8_t *p, uint32_t count)
{
    struct pending_rec rec;
    struct in in;

    in_init(&in, p, (size_t)count * 24);
    while (count-- > 0)
        if (pending_get(&in, &rec))
            return;
    PROMISE(in_left(&in) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block_head head;
    const char *why = NULL;
    uint8_t *block, *back;
    struct out out;

    if (size < 1 || size > 1u << 20)
        return 0;
    size--;
    block = malloc(size ? size : 1);
    memcpy(block, data + 1, size);
    if ((data[0] & 1) && size >= FMT_BLOCK_HEAD) {
        memcpy(block, "\x44\x52\x50\x42", 4);
        out_init(&out, block, size);
        out.at = FMT_BLOCK_HEAD;
        out_patch_u32(&out, 24, (uint32_t)size);
        out_patch_u64(&out, 32, sum_with_hole(block, size, 32));
    }
    if (block_get(&head, block, size, &why)) {
        PROMISE(why != NULL);
    } else {
        back = malloc(size);
        memcpy(back, block, size);
        PROMISE(block_seal(back, &head) == head.checksum && memcmp(back, block, size) == 0);
        free(back);
        if (head.kind == FMT_NODE)
            entries(block + FMT_BLOCK_HEAD, size - FMT_BLOCK_HEAD);
        if (head.kind == FMT_PENDING)
            pending(block + FMT_BLOCK_HEAD, head.count);
    }
    free(block);
    return 0;
}
