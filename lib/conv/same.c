/* same.c - whether stored elements and those of memory are the same bytes. */
/* SPDX-License-Identifier: MIT */
#include "conv/same.h"

#include "rep/encodings.h"

#include <datarep.h>

#define RUNS_MAX 100000 /* of one element */

/* True if items of the two leaves are the same bytes. */
static bool leaf_is_same(const struct conv *c, const drep_type *file, const drep_type *mem,
                         int64_t size)
{
    struct kernel k;
    struct byte_moves moves;

    if ((file->kind != DREP_KIND_PREDEFINED && file->kind != DREP_KIND_SCALAR) ||
        (mem->kind != DREP_KIND_PREDEFINED && mem->kind != DREP_KIND_SCALAR))
        return false;
    return kernel_pick(&k, rep_native(), mem, c->table, file, &c->opts) == 0 &&
           kernel_bytes(&k, &moves) && moves.unit == 1 && moves.from_unit == 1 &&
           moves.units == size;
}

static bool run_is_same(const struct conv *c, const drep_run *file, const drep_run *mem,
                        const drep_run *before)
{
    int64_t size = file->type->prog.extent;

    if (file->offset != mem->offset || file->count != mem->count ||
        (file->count > 1 && file->stride != mem->stride))
        return false;
    if (before->type == file->type)
        return true; /* as the run before */
    if (file->type->kind == DREP_KIND_PREDEFINED)
        size = c->table->row[file->type->code].size;
    return leaf_is_same(c, file->type, mem->type, size);
}

bool conv_is_same(const struct conv *c)
{
    const struct prog *mem = &c->mem->prog, *file = c->stored;
    drep_run f = {0}, m = {0}, before = {0};
    drep_cursor at_file, at_mem;
    int64_t left = file->items;

    if (!c->table || c->ft->type->variable || mem->items != file->items ||
        mem->extent != file->extent || cursor_init(&at_file, file, 0) != 0 ||
        cursor_init(&at_mem, mem, 0) != 0)
        return false;
    for (int n = 0; left > 0 && n < RUNS_MAX; n++) {
        if (!cursor_next(&at_file, left, &f) || !cursor_next(&at_mem, f.count, &m) ||
            !run_is_same(c, &f, &m, &before))
            return false;
        before = f;
        left -= f.count;
    }
    return left == 0;
}
