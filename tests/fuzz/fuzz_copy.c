/* fuzz_copy.c - a whole file of any bytes is copied: as it lies there, and into another
 * representation through other chunks and filters.
 *
 * The copy of a file without a fault is one without a fault. */
#include "tests/fuzz/image.h"

#include <stdbool.h>

struct found {
    int n;
    char first[300];
};

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    struct found *found = ctx;

    if (found->n++ == 0)
        snprintf(found->first, sizeof found->first, "finding %d at byte %llu: %s", err,
                 (unsigned long long)offset, message);
    return found->n > 20 ? DREP_ERR_STOPPED : 0;
}

static bool faultless(drep_file *file)
{
    struct found found = {0};
    int64_t findings;
    int err = drep_check(file, 1, finding, &found, &findings);

    PROMISE(err == 0 || err == DREP_ERR_STOPPED || found.n == 0);
    return err == 0 && found.n == 0;
}

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

static void copy(drep_file *from, const char *datarep, const drep_info *info,
                 const drep_copying *how, bool good)
{
    struct found found = {0};
    int64_t findings = 0;
    drep_file *to = NULL;

    PROMISE(drep_create(":memory:", 0, datarep, info, &to) == 0);
    if (drep_copy(from, "/", to, "/", how) == 0) {
        PROMISE(drep_commit(to) == 0);
        (void)drep_check(to, 1, finding, &found, &findings);
        if (good && found.n > 0) {
            fprintf(stderr, "under %s: %s\n", datarep, found.first);
            PROMISE(found.n == 0);
        }
    }
    drep_abandon(to);
}

static void run(const uint8_t *data, size_t size)
{
    int64_t chunk[DREP_MAX_RANK];
    drep_copying same = {.range = DREP_RANGE_WRAP, .threads = 1};
    drep_copying other = {.range = DREP_RANGE_CLAMP, .threads = 1, .plan = plan, .ctx = chunk};
    drep_file *file = NULL;
    drep_info *info;

    PROMISE(drep_info_new(&info) == 0);
    PROMISE(drep_info_set(info, "drep_cache_size", "1048576") == 0);
    PROMISE(drep_info_set(info, "drep_threads", "1") == 0);
    if (drep_open_image(data, size, info, &file) == 0) {
        bool good = faultless(file);

        copy(file, "external32", info, &same, good);
        copy(file, "native:m68k", info, &other, good);
        PROMISE(drep_close(file) == 0);
    }
    drep_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image_run(data, size, run);
    return 0;
}
