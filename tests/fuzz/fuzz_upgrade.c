/* fuzz_upgrade.c - a whole file of any bytes, which says that it is of draft 4, is brought to
 * today's format: read to the last element, and copied as `datarep convert` does. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/image.h"
#include "tests/fuzz/visit.h"

/* Without the hint such a file is refused. */
static void open_plainly(const uint8_t *data, size_t size, bool upgraded)
{
    drep_file *file = NULL;
    int err = drep_open_image(data, size, NULL, &file);

    PROMISE(!upgraded || err == DREP_ERR_VERSION);
    if (err == 0)
        PROMISE(drep_close(file) == 0);
}

static void copy(drep_file *from, const drep_info *info)
{
    drep_copying how = DREP_COPYING(.datarep = DREP_DATAREP_STORED, .threads = 1);
    drep_file *to = NULL;

    if (drep_create_like(":memory:", 0, from, info, &to))
        return;
    if (drep_copy(from, "/", to, "/", &how) == 0)
        PROMISE(drep_commit(to) == 0);
    drep_abandon(to);
}

static void run(const uint8_t *data, size_t size)
{
    drep_file *file = NULL;
    drep_info *info = image_hints();

    PROMISE(drep_info_set(info, "drep_upgrade", "true") == 0);
    if (drep_open_image(data, size, info, &file)) {
        PROMISE(file == NULL && drep_error()[0] != 0);
        open_plainly(data, size, false);
    } else {
        image_targets(file);
        read_everything(file);
        copy(file, info);
        PROMISE(drep_close(file) == 0);
        open_plainly(data, size, true);
    }
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
