/* fuzz_write.c - a whole file of any bytes is opened for writing and everything in it changed.
 *
 * What a commit leaves opens again; if the file had no fault, it has none then. */
#include "tests/fuzz/change.h"
#include "tests/fuzz/image.h"

static void look_again(struct io *io, const drep_info *info, bool good)
{
    struct found found;
    drep_file *file = NULL;
    uint8_t *bytes;
    uint64_t size;

    PROMISE(io->ops->size(io, &size) == 0);
    bytes = malloc(size ? (size_t)size : 1);
    PROMISE(bytes && io->ops->read_at(io, bytes, (size_t)size, 0) == 0);
    PROMISE(drep_open_image(bytes, (size_t)size, info, &file) == 0);
    if (good && !faultless(file, &found)) {
        fprintf(stderr, "%s\n", found.first);
        PROMISE(found.n == 0);
    }
    PROMISE(drep_close(file) == 0);
    free(bytes);
}

static void run(const uint8_t *data, size_t size)
{
    drep_file *file = NULL;
    struct found found;
    bool good = false;
    drep_info *info;
    struct io *io;

    PROMISE(drep_info_new(&info) == 0);
    PROMISE(drep_info_set(info, "drep_cache_size", "1048576") == 0);
    PROMISE(drep_info_set(info, "drep_threads", "1") == 0);
    if (drep_open_image(data, size, info, &file) == 0) {
        good = faultless(file, &found);
        PROMISE(drep_close(file) == 0);
    }
    io = writable(data, size);
    if (file_open_on(io, DREP_RDWR, info, 0, &file) == 0) {
        change_everything(file, data[size - 1]);
        if (drep_commit(file) == 0)
            look_again(io, info, good);
        drep_abandon(file);
    }
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
