/* marks.c - which elements of compact datasets a rank has written alone. */
/* SPDX-License-Identifier: MIT */
#include "par/marks.h"

#include "base/mem.h"
#include "base/vec.h"
#include "par/shares.h"

struct marked *marks_find(const drep_dataset *ds)
{
    const struct ranks *r = ranks_of(ds->file);
    const uintptr_t *at = idset_find(&r->marked_at, ds->id);

    return at && *at ? &r->marked[*at - 1] : NULL;
}

static int marked_find_or_make(const drep_dataset *ds, struct marked **out)
{
    struct ranks *r = ranks_of(ds->file);
    int64_t n = dataset_count(ds);
    uintptr_t *at = idset_add(&r->marked_at, ds->id);
    struct marked *m;

    if (at && *at) {
        *out = &r->marked[*at - 1];
        return 0;
    }
    if (!at || VEC_ROOM(r->marked, r->nmarked, r->marked_room, 1))
        return fail_nomem();
    m = &r->marked[r->nmarked];
    *m = (struct marked){ds->id, n, mem_zalloc(1, (uint64_t)n / 8 + 1)};
    if (!m->bit)
        return fail_nomem();
    *at = ++r->nmarked;
    *out = m;
    return 0;
}

int marks_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type, const void *buf,
                const drep_xfer *xfer)
{
    struct shares s = {.n = 0};
    struct transfer *t = NULL;
    struct marked *m = NULL;
    int err = transfer_begin(ds, sel, type, (char *)(uintptr_t)buf, xfer, WRITING, &t);

    if (!err)
        err = shares_cut(t, &s);
    transfer_end(t);
    if (!err && s.n > 0)
        err = marked_find_or_make(ds, &m);
    err = err ? fail_dataset(err, ds->path) : dataset_write(ds, sel, type, buf, xfer, false);
    for (size_t i = 0; !err && i < s.nruns; i++) {
        const struct share_run *run = &s.run[i];

        for (int64_t k = 0, at = run->at; k < run->n; k++, at += run->step)
            m->bit[at / 8] |= (uint8_t)(1 << at % 8);
    }
    shares_release(&s);
    return err;
}

void marks_drop(const drep_dataset *ds)
{
    struct ranks *r = ranks_of(ds->file);
    struct marked *m = marks_find(ds), *last;

    if (!m)
        return;
    last = &r->marked[r->nmarked - 1];
    mem_free(m->bit);
    *idset_find(&r->marked_at, last->object) = (uintptr_t)(m - r->marked) + 1;
    *idset_find(&r->marked_at, ds->id) = 0;
    *m = *last;
    r->nmarked--;
}
