/* fuzz_repair.c - a whole file of any bytes is repaired: what comes out is a file without a
 * fault, whatever it came from. */
/* SPDX-License-Identifier: MIT */
#include "api/repair.h"
#include "tests/fuzz/image.h"

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err; /* 0: what a newer version wrote */
    (void)offset;
    (void)ctx;
    PROMISE(message != NULL && message[0]);
    return 0;
}

static void run(const uint8_t *data, size_t size)
{
    int64_t findings = 0;
    drep_info *info = image_hints();
    struct io *io;

    PROMISE(io_memory(data, size, &io) == 0);
    (void)repair_on(io, ":memory:", 0, info, finding, NULL, &findings);
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
