/* fuzz_open.c - a whole file of any bytes: opened, listed, read to the last element,
 * checked and closed. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/image.h"
#include "tests/fuzz/visit.h"

static void run(const uint8_t *data, size_t size)
{
    drep_file *file = NULL;
    drep_info *info = image_hints();

    PROMISE(drep_info_set(info, "drep_external", "true") == 0);
    if (drep_open_image(data, size, info, &file)) {
        PROMISE(file == NULL && drep_error()[0] != 0);
    } else {
        image_targets(file);
        read_everything(file);
        PROMISE(drep_close(file) == 0);
    }
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
