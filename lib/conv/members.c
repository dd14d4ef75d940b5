/* members.c - a transfer of members by name. */
/* SPDX-License-Identifier: MIT */
#include "conv/members.h"

#include "base/error.h"

#include <datarep.h>
#include <string.h>

enum match_way picked_way(const drep_xfer *xfer, bool writing)
{
    if (writing)
        return MATCH_WRITE;
    return xfer && xfer->members == DREP_MEMBERS_FILL ? MATCH_FILL : MATCH_READ;
}

int picked_init(struct picked_members *out, const struct ftype *ft, const struct type_sizes *sizes,
                const drep_type *mem, enum match_way way)
{
    struct type_match both;
    int err;

    memset(out, 0, sizeof *out);
    if (!mem || mem == ft->type || !type_matches(ft->type, mem))
        return 0;
    if ((err = type_match(ft->type, sizes, mem, way, &both)))
        return err;
    if (both.file == ft->type && both.mem == mem) {
        type_match_release(&both);
        return 0;
    }
    *out = (struct picked_members){.used = true, .mem = both.mem, .lacks = both.lacks};
    out->ft = (struct ftype){.type = both.file, .matched = true, .part = both.part};
    err = type_stored(both.file, sizes, &out->ft.stored);
    out->ft.laid_out = !err;
    if (!err && both.part)
        err = byte_ranges_of(&out->ft.stored, sizes, &out->bytes);
    if (err)
        picked_release(out);
    return err;
}

void picked_release(struct picked_members *m)
{
    if (m->ft.laid_out)
        prog_release(&m->ft.stored);
    byte_ranges_release(&m->bytes);
    drep_type_free(m->ft.type);
    drep_type_free(m->mem);
    memset(m, 0, sizeof *m);
}
