/* fuzz_slot.c - a header slot of any bytes.
 *
 * The first byte of the input says which slot it is (bit 0) and whether magic and sum
 * are made right (bit 1), so that the fields behind them are reached. */
/* SPDX-License-Identifier: MIT */
#include "format/block.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[8] = {0x89, 0x44, 0x52, 0x50, 0x0d, 0x0a, 0x1a, 0x0a};
    uint8_t bytes[FMT_SLOT_SIZE] = {0}, back[FMT_SLOT_SIZE];
    struct slot slot;
    struct out out;
    const char *why = NULL;
    enum slot_state state;

    if (size < 1)
        return 0;
    memcpy(bytes, data + 1, size - 1 < sizeof(bytes) ? size - 1 : sizeof(bytes));
    out_init(&out, bytes, sizeof(bytes));
    out.at = 4088;
    if (data[0] & 2) {
        memcpy(bytes, magic, sizeof(magic));
        out_u64(&out, sum_of(bytes, 4088));
    }
    state = slot_get(&slot, bytes, data[0] & 1, &why);
    PROMISE(why != NULL || state == SLOT_VALID || state == SLOT_EMPTY);
    if (state == SLOT_VALID)
        PROMISE(slot.header_size <= FMT_SLOT_HEADER_MAX);
    if (state != SLOT_VALID || why || !slot_is_ours(&slot) || slot.incompatible & ~FMT_INCOMPATIBLE)
        return 0;
    if (slot_at_end(&slot)) /* readers look at no more of it */
        return 0;
    /* Readers ignore the reserved bytes. */
    memset(bytes + 168, 0, 88);
    out.at = 4088;
    out_u64(&out, sum_of(bytes, 4088));
    slot_put(back, &slot);
    PROMISE(memcmp(back, bytes, sizeof(back)) == 0);
    return 0;
}
