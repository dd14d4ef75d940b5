/* follow.c - a rank moves to the commit that rank 0 has made. */
/* SPDX-License-Identifier: MIT */
#include "api/follow.h"

#include "elem/dataset.h"
#include "format/block.h"
#include "txn/shadow.h"

int file_reload(drep_file *f)
{
    drep_file *reloaded = NULL;
    int err = header_reload(f, &reloaded);

    if (!err)
        err = datasets_refresh(f);
    if (!err) {
        header_exchange(f, reloaded);
        hints_note(f);
    }
    header_reload_free(reloaded);
    return err;
}

int follow(drep_file *f, const uint8_t *bytes, uint64_t sequence)
{
    const char *why = NULL;
    struct store *st;
    struct slot slot;
    int err;

    if (slot_get(&slot, bytes, sequence % 2 ? 0 : 1, &why) != SLOT_VALID || why)
        return fail(DREP_ERR_FORMAT, "the slot of rank 0: %s", why ? why : "damaged");
    if ((err = shadow_move(f->st, &slot, &st)))
        return err;
    f->st = st;
    hints_allow_targets(f, f->linked.dir);
    if (f->datasets.hooks)
        f->datasets.hooks->adopt(f, st);
    paths_clear(f);
    err = file_reload(f);
    f->op.error = 0;
    f->hints.changed = false;
    return err;
}
