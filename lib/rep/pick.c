/* pick.c - picks the kernel that converts items of one type and table to another's. */
/* SPDX-License-Identifier: MIT */
#include "rep/pick.h"

#include "base/error.h"
#include "format/numbers.h"
#include "kern/plan.h"
#include "rep/convert.h"
#include "rep/tables.h"

#include <string.h>

/* The encoding of a leaf under a table. Descriptions that only name a format, and custom
 * integers without gaps, become that format, so that they get the fast kernels. */
static int enc_of(struct enc *e, const struct rep_table *table, const drep_type *leaf)
{
    const drep_encoding *row = &table->row[leaf->code];

    if (leaf->kind == DREP_KIND_SCALAR) {
        const drep_scalar *s = leaf->scalar;

        *e = (struct enc){s->cls == DREP_SCALAR_REAL   ? FMT_REAL
                          : s->cls == DREP_SCALAR_BITS ? FMT_BYTES
                          : s->is_signed               ? FMT_INT
                                                       : FMT_UINT,
                          1,
                          DREP_FORMAT_CUSTOM,
                          s->order,
                          s->size,
                          s};
    } else if (leaf->kind != DREP_KIND_PREDEFINED) {
        return fail(DREP_ERR_TYPE, "items of variable length have no encoding");
    } else if (table_class(leaf->code) == FMT_BYTES) {
        /* Bytes are bytes, whatever a table says or does not say. */
        *e = (struct enc){FMT_BYTES, 1, DREP_FORMAT_BYTES, DREP_LITTLE, 1, NULL};
    } else if (row->size == 0) {
        return fail(DREP_ERR_TYPE, "the data representation has no %s", drep_code_name(leaf->code));
    } else {
        int parts = table_parts(leaf->code);

        *e = (struct enc){table_class(leaf->code), parts, row->format, row->order,
                          row->size / parts,       NULL};
        if (row->format == DREP_FORMAT_CUSTOM) {
            e->custom = &table->custom[row->custom];
            e->order = e->custom->order;
        }
    }
    /* A description that only names a format, or a plain integer, is that. */
    if (e->custom && e->custom->format != DREP_FORMAT_CUSTOM &&
        e->custom->cls != DREP_SCALAR_BITS) {
        e->format = e->custom->format;
        e->custom = NULL;
    } else if (e->custom && e->custom->cls == DREP_SCALAR_INT && e->custom->offset == 0 &&
               e->custom->precision == 8 * e->size && e->size <= 16) {
        e->format = e->custom->is_signed ? DREP_FORMAT_INT : DREP_FORMAT_UINT;
        e->custom = NULL;
    }
    /* A boolean held as an integer is still one. */
    if (e->cls == FMT_BOOL && !e->custom)
        e->format = DREP_FORMAT_BOOL;
    return 0;
}

static void name_of(const drep_type *leaf, char name[32])
{
    const char *known = leaf->kind == DREP_KIND_PREDEFINED ? drep_code_name(leaf->code) : NULL;

    strcpy(name, known ? known : leaf->kind == DREP_KIND_SCALAR ? "scalar" : "variable length");
}

int kernel_pick(struct kernel *k, const struct rep_table *dst_table, const drep_type *dst_leaf,
                const struct rep_table *src_table, const drep_type *src_leaf,
                const struct rep_opts *opts)
{
    bool same = dst_leaf == src_leaf || leaf_same(dst_leaf, src_leaf);
    struct kernel made = {.report = opts->report, .range = same ? opts->range : opts->value_range};
    struct enc dst = {0}, src = {0};
    char from[32], to[32];
    int err;

    err = enc_of(&dst, dst_table, dst_leaf);
    if (!err)
        err = enc_of(&src, src_table, src_leaf);
    if (!err)
        err = kernel_plan(&made, &dst, &src, same);
    if (!err) {
        *k = made;
        return 0;
    }
    name_of(src_leaf, from);
    name_of(dst_leaf, to);
    return fail_in(err, "%s to %s", from, to);
}
