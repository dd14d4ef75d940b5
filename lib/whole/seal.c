/* seal.c - checksums for what was written without them. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "elem/grid.h"
#include "file/team.h"
#include "name/object.h"
#include "txn/seal.h"

static int seal_object(drep_file *f, uint64_t id, int64_t *blocks)
{
    struct stored_object o = {0};
    struct chunks cs;
    int err = object_load(f, id, &o);

    if (!err && o.rec.kind == FMT_DATASET) {
        chunks_of(f, id, &o.rec, 1, true, "dataset", &cs);
        err = chunks_seal(&cs, blocks);
    }
    object_release(&o);
    if (err == DREP_ERR_UNSUPPORTED) /* a newer version wrote the object: what it has is its own */
        return 0;
    return fail_in(err, "object %llu", (unsigned long long)id);
}

int drep_seal(drep_file *file, int64_t *blocks)
{
    uint64_t id = 0;
    int64_t n = 0;
    int err;

    if ((err = file_check(file)) || (err = shared_refuses(file, "drep_seal")) ||
        (err = change_begin(file)))
        return err;
    while (!(err = object_next(file, id, &id)) && id != 0)
        if ((err = seal_object(file, id, &n)))
            break;
    err = change_end(file, err);
    if (!err && blocks)
        *blocks = n;
    return err;
}
