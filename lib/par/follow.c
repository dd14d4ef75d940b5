/* follow.c - a rank moves to the commit that rank 0 has made. */
/* SPDX-License-Identifier: MIT */
#include "par/follow.h"

#include "elem/dataset.h"
#include "format/block.h"
#include "txn/private.h"
#include "whole/append.h"

/* Forget the numbers that objects, datatypes and representations had on this rank. */
static void renumber(drep_file *f, uint32_t first_type, const struct id_pairs *ids)
{
    datasets_renumber(f, pairs_map, ids);
    ftypes_renumbered(f, first_type);
    reps_drop_new(f);
}

/* Rank 0's merge may have added representations, and types to them, that datasets are read with: so
 * the header goes first.  There is no way back to the last commit: the store has moved. */
static int reload_all(drep_file *f)
{
    drep_file *reloaded = NULL;
    int err = header_reload(f, &reloaded);

    if (!err) {
        header_exchange(f, reloaded);
        hints_note(f);
        err = datasets_refresh(f);
    }
    header_reload_free(reloaded);
    return err;
}

int follow(drep_file *f, const uint8_t *bytes, uint64_t sequence, const struct id_pairs *ids)
{
    const char *why = NULL;
    struct store *st;
    struct slot slot;
    uint32_t first_type = f->st->slot.sequence ? f->st->slot.next_type : 0;
    int err;

    if (slot_get(&slot, bytes, sequence % 2 ? 0 : 1, &why) != SLOT_VALID || why)
        return fail(DREP_ERR_FORMAT, "the slot of rank 0: %s", why ? why : "damaged");
    if ((err = private_move(f->st, &slot, &st)))
        return err;
    file_move(f, st);
    paths_clear(f);
    if (ids)
        renumber(f, first_type, ids);
    err = reload_all(f);
    failures_clear(f);
    appends_go_on(f);
    return err;
}
