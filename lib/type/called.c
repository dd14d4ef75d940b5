/* called.c - the items of a datatype that a user's functions convert.
 *
 * In a container functions see predefined types other than BYTE and PACKED: strings, opaque
 * bytes, scalars and whatever has variable length are not theirs (SPEC.md, "Data items").
 * What is left of a datatype without these items is a datatype again, with the same bounds
 * and displacements, so that one call converts the items of many elements where they lie. */
/* SPDX-License-Identifier: MIT */
#include "type/type.h"

#include "base/mem.h"

#include <datarep.h>
#include <string.h>

bool leaf_called(const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_PREDEFINED && leaf->code != DREP_CODE_BYTE &&
           leaf->code != DREP_CODE_PACKED;
}

/* True if user functions convert every leaf. */
static bool all_called(const struct node *node)
{
    if (node->leaf)
        return leaf_called(node->leaf);
    for (int64_t i = 0; i < node_children(node); i++)
        if (!all_called(node->child[i]))
            return false;
    return true;
}

static int node_called(const struct node *node, drep_type **out);

/* The branches of a sequence that have such items. */
static int seq_called(const struct node *node, drep_type **out)
{
    drep_type **part = mem_zalloc((uint64_t)node->count, sizeof *part);
    int64_t *displ = mem_array((uint64_t)node->count, sizeof *displ), n = 0;
    int err = !part || !displ ? DREP_ERR_NOMEM : 0;

    for (int64_t i = 0; !err && i < node->count; i++) {
        displ[n] = node->offset[i];
        err = node_called(node->child[i], &part[n]);
        n += !err && part[n];
    }
    if (!err && n > 0)
        err = drep_type_struct(n, NULL, displ, (const drep_type *const *)part, out);
    for (int64_t i = 0; i < n; i++)
        drep_type_free(part[i]);
    mem_free(part);
    mem_free(displ);
    return err;
}

/* *out NULL: no such items.  Nodes are at most NODE_DEPTH_MAX deep. */
static int node_called(const struct node *node, drep_type **out)
{
    drep_type *child = NULL;
    int err;

    *out = NULL;
    if (node->op == NODE_LEAF)
        return leaf_called(node->leaf)
                   ? drep_type_hvector(node->count, 1, node->stride, node->leaf, out)
                   : 0;
    if (node->op == NODE_SEQ)
        return seq_called(node, out);
    err = node_called(node->child[0], &child);
    if (err || !child)
        return err;
    err = node->op == NODE_LOOP
              ? drep_type_hvector(node->count, 1, node->stride, child, out)
              : drep_type_hindexed_block(node->count, 1, node->offset, child, out);
    drep_type_free(child);
    return err;
}

static int called_make(const drep_type *type, drep_type **out)
{
    drep_type *items = NULL, *placed = NULL;
    int err = node_called(type->prog.root, &items);

    *out = NULL;
    if (err || !items)
        return err;
    err = drep_type_struct(1, NULL, &type->prog.origin, (const drep_type *const[]){items}, &placed);
    drep_type_free(items);
    if (!err)
        err = drep_type_resized(type->lb, type->prog.extent, placed, out);
    drep_type_free(placed);
    return err;
}

int type_called(const drep_type *type, const drep_type **out)
{
    /* Made once for each type, by whoever comes first. */
    _Atomic(drep_type *) *kept = &((drep_type *)(uintptr_t)type)->called;
    drep_type *made = atomic_load(kept), *none = NULL;
    int err;

    *out = NULL;
    if (!type->prog.root)
        return 0;
    if (all_called(type->prog.root)) {
        *out = type;
        return 0;
    }
    if (!made) {
        if ((err = called_make(type, &made)) || !made)
            return err;
        if (!atomic_compare_exchange_strong(kept, &none, made)) {
            drep_type_free(made);
            made = none;
        }
    }
    *out = made;
    return 0;
}
