/* fuzz_record.c - the records that are values of the tree.
 *
 * The first byte of the input selects the decoder.  What it accepts is encoded again and
 * must be the same bytes. */
/* SPDX-License-Identifier: MIT */
#include "format/header.h"
#include "format/record.h"
#include "tests/fuzz/fuzz.h"

static int get_put(int which, struct in *in, struct out *out)
{
    union {
        struct free_rec free;
        struct pending_rec pending;
        struct log_rec log;
        struct object_rec object;
        struct link_rec link;
        struct attr_rec attr;
        struct self_rec self;
        struct chunk_rec chunk;
        struct scalar_rec scalar;
        struct hint_rec hint;
        struct dim_rec dim;
    } rec;
    int err = 0;

#define TRY(number, name)                \
    case number:                         \
        err = name##_get(in, &rec.name); \
        if (!err)                        \
            name##_put(out, &rec.name);  \
        break;
    switch (which) {
    case 0: /* its offset stands in its key */
        err = free_get(in, FMT_SPACE_START, &rec.free);
        if (!err)
            free_put(out, &rec.free);
        break;
        TRY(1, pending)
        TRY(2, log)
        TRY(3, object)
        TRY(4, link)
        TRY(5, attr)
        TRY(6, self)
        TRY(7, chunk)
        TRY(8, scalar)
        TRY(9, hint)
        TRY(10, dim)
    }
#undef TRY
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct out out;
    struct in in;
    uint8_t *back;
    int err;

    if (size < 1)
        return 0;
    back = malloc(size);
    out_init(&out, back, size);
    in_init(&in, data + 1, size - 1);
    err = get_put(data[0] % 11, &in, &out);
    if (err && err != FMT_ERR_NOT_FOUND)
        PROMISE(in.why != NULL && in.err == err && in.err_at <= size - 1);
    if (!err)
        PROMISE(!out.err && out.at == in.at && memcmp(back, data + 1, out.at) == 0);
    free(back);
    return 0;
}
