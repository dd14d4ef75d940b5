/* fuzz_type.c - a datatype made from any bytes.
 *
 * What a record is accepted as can be printed, parsed, compared, walked, and written as
 * a record again that means the same. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "tests/fuzz/fuzz.h"
#include "type/type.h"
#include <datarep.h>

/* The first runs of items, wherever they lie. */
static void walk(const struct prog *prog)
{
    drep_cursor cursor;
    drep_run run;
    int64_t items = 0;

    if (cursor_init(&cursor, prog, 0))
        return;
    for (int i = 0; i < 100 && items < prog->items; i++) {
        int64_t max = prog->items - items;

        if (!cursor_next(&cursor, max, &run))
            break;
        PROMISE(run.count > 0 && run.count <= max);
        items += run.count;
    }
}

static void again(const drep_type *type)
{
    static uint8_t bytes[1 << 18];
    drep_type *same;
    struct out out;
    struct in in;
    int err;

    out_init(&out, bytes, sizeof(bytes));
    if (type_put(type, NULL, PROG_MEMORY, &out))
        return;
    in_init(&in, bytes, out.at);
    /* With bounds set by hand inside, a struct that was laid out as C would and the same
     * with its offsets written down have different bounds: the types are not equivalent,
     * and near the limit the second is beyond it. */
    err = type_get(&in, type_native_sizes(), &same, NULL);
    PROMISE(err == 0 || err == DREP_ERR_VALUE_TOO_LARGE);
    if (err)
        return;
    PROMISE(in_left(&in) == 0);
    PROMISE(drep_type_items(type) == drep_type_items(same));
    PROMISE(drep_type_size(type) == drep_type_size(same));
    drep_type_free(same);
}

static void text(const drep_type *type)
{
    drep_type *same;
    char *line;

    if (drep_type_print(type, &line))
        return;
    /* What cannot be parsed back is for the tests of texts; here nothing may break. */
    if (drep_type_parse(line, &same) == 0)
        drep_type_free(same);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    drep_type *type = NULL;
    struct prog stored;
    struct in in;

    if (size > 1 << 16)
        return 0;
    in_init(&in, data, size);
    if (type_get(&in, type_native_sizes(), &type, &stored) == 0) {
        PROMISE(drep_type_size(type) >= 0);
        walk(&stored);
        prog_release(&stored);
        drep_type_free(type);
    }
    in_init(&in, data, size);
    if (type_get(&in, type_native_sizes(), &type, NULL) == 0) {
        PROMISE(drep_type_size(type) >= 0);
        walk(&type->prog);
        text(type);
        again(type);
        drep_type_free(type);
    }
    return 0;
}
