/* fuzz_write.c - a whole file of any bytes is opened for writing and everything in it changed.
 *
 * What a commit leaves opens again; if the file had no fault, it has none then. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/change.h"
#include "tests/fuzz/image.h"

static void look_again(const uint8_t *bytes, size_t size, const drep_info *info, bool good)
{
    drep_file *file = NULL;
    struct found found;

    PROMISE(drep_open_image(bytes, size, info, &file) == 0);
    if (good && !faultless(file, &found)) {
        fprintf(stderr, "%s\n", found.first);
        PROMISE(found.n == 0);
    }
    PROMISE(drep_close(file) == 0);
}

static void run(const uint8_t *data, size_t size)
{
    drep_file *file = NULL;
    struct found found;
    bool good = false;
    drep_info *info = image_hints();
    uint8_t *bytes;
    size_t after;

    if (drep_open_image(data, size, info, &file) == 0) {
        good = faultless(file, &found);
        PROMISE(drep_close(file) == 0);
    }
    bytes = size > 0 ? changed(data, size, info, data[size - 1], &after) : NULL;
    if (bytes)
        look_again(bytes, after, info, good);
    free(bytes);
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
