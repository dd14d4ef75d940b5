/* fuzz_copy.c - a whole file of any bytes is copied: as it lies there, into another
 * representation through other chunks and filters, and without what a newer version wrote.
 *
 * The copy of a file without a fault is one without a fault. */
/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/image.h"

/* Small chunks for what is small: a file of some bytes may hold millions of elements. */
static int plan(uint64_t id, drep_spec *spec, void *ctx)
{
    static const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    int64_t *chunk = ctx, elements = 1;

    for (int k = 0; k < spec->rank; k++)
        if (__builtin_mul_overflow(elements, spec->dims[k], &elements))
            return 0;
    if (spec->rank < 1 || elements > 4096)
        return 0;
    for (int k = 0; k < spec->rank; k++)
        chunk[k] = 1 + (int64_t)((id + (uint64_t)k) % 5);
    spec->layout = DREP_CHUNKED;
    spec->chunk = chunk;
    spec->filters = &filter;
    spec->nfilters = 1;
    return 0;
}

static int leave(uint64_t id, const char *what, void *ctx)
{
    (void)id, (void)ctx;
    PROMISE(what[0] != '\0');
    return 0;
}

static void copy(drep_file *from, const char *datarep, const drep_info *info,
                 const drep_copying *how, bool good)
{
    struct found found;
    drep_file *to = NULL;

    PROMISE(drep_create(":memory:", 0, datarep, info, &to) == 0);
    if (drep_copy(from, "/", to, "/", how) == 0) {
        PROMISE(drep_commit(to) == 0);
        if (!faultless(to, &found) && good) {
            fprintf(stderr, "under %s: %s\n", datarep, found.first);
            PROMISE(found.n == 0);
        }
    }
    drep_abandon(to);
}

static void run(const uint8_t *data, size_t size)
{
    int64_t chunk[DREP_MAX_RANK];
    drep_copying same = DREP_COPYING(.range = DREP_RANGE_WRAP, .threads = 1);
    drep_copying other =
        DREP_COPYING(.range = DREP_RANGE_CLAMP, .threads = 1, .plan = plan, .ctx = chunk);
    drep_copying part = DREP_COPYING(.range = DREP_RANGE_WRAP, .threads = 1, .left_out = leave);
    drep_file *file = NULL;
    drep_info *info = image_hints();

    if (drep_open_image(data, size, info, &file) == 0) {
        struct found found;
        bool good;

        image_targets(file);
        good = faultless(file, &found);

        copy(file, "external32", info, &same, good);
        copy(file, "native:m68k", info, &other, good);
        copy(file, "external32", info, &part, good);
        PROMISE(drep_close(file) == 0);
    }
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
