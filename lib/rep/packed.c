/* packed.c - sizes of packed data items, and their conversion by the engine.
 *
 * The packed side is the same typemap laid out again without gaps, so one engine converts
 * between any two layouts. */
/* SPDX-License-Identifier: MIT */
#include "rep/packed.h"

#include "base/error.h"
#include "rep/convert.h"
#include "rep/tables.h"

/* ------------------------------------------------------------- sizes */

int packed_leaf_size(const struct type_sizes *sizes, const drep_type *leaf, int64_t *size)
{
    if (leaf->kind == DREP_KIND_SCALAR)
        *size = leaf->scalar->size;
    else if (leaf->kind == DREP_KIND_PREDEFINED)
        *size = sizes->size[leaf->code];
    else
        return fail(DREP_ERR_TYPE, "items of variable length have no packed size");
    if (*size == 0)
        return fail(DREP_ERR_TYPE, "the data representation has no %s", drep_code_name(leaf->code));
    return 0;
}

static int add_product(int64_t *sum, int64_t n, int64_t size)
{
    int64_t product;

    if (__builtin_mul_overflow(n, size, &product) || __builtin_add_overflow(*sum, product, sum) ||
        *sum > TYPE_SIZE_MAX)
        return fail(DREP_ERR_VALUE_TOO_LARGE, "data items of more than 2^62 bytes");
    return 0;
}

/* Add the bytes of the first `items` items of a node. Recursion ends: typemaps are at most as
 * deep as their types. */
static int node_size(const struct type_sizes *sizes, const struct node *node, int64_t items,
                     int64_t *sum)
{
    int64_t size = 0, per, i;
    int err = 0;

    if (node->leaf) {
        err = packed_leaf_size(sizes, node->leaf, &size);
        return err ? err : add_product(sum, items, size);
    }
    if (node->op == NODE_SEQ) {
        for (i = 0; !err && i < node->count && items > 0; i++) {
            per = node->first[i + 1] - node->first[i];
            err = node_size(sizes, node->child[i], items < per ? items : per, sum);
            items -= per;
        }
        return err;
    }
    per = node->child[0]->items;
    if (items >= per) {
        err = node_size(sizes, node->child[0], per, &size);
        if (!err)
            err = add_product(sum, items / per, size);
    }
    if (!err && items % per)
        err = node_size(sizes, node->child[0], items % per, sum);
    return err;
}

/* The bytes before item `end` of the tiled typemap. */
static int size_before(const struct type_sizes *sizes, const struct prog *prog, int64_t end,
                       int64_t *sum)
{
    int64_t tile = 0;
    int err = 0;

    *sum = 0;
    if (end >= prog->items)
        err = node_size(sizes, prog->root, prog->items, &tile);
    if (!err && end >= prog->items)
        err = add_product(sum, end / prog->items, tile);
    if (!err && end % prog->items)
        err = node_size(sizes, prog->root, end % prog->items, sum);
    return err;
}

int packed_size(const struct type_sizes *sizes, const drep_type *type, int64_t position,
                int64_t items, int64_t *size)
{
    int64_t before = 0, after = 0, end;
    int err;

    if (position < 0 || items < 0 || __builtin_add_overflow(position, items, &end))
        return fail(DREP_ERR_COUNT, "there are no %lld data items from item %lld on",
                    (long long)items, (long long)position);
    if (!type->prog.root) {
        if (items)
            return fail(DREP_ERR_COUNT, "the type has no data items");
        *size = 0;
        return 0;
    }
    if (items) {
        /* Skip whole tiles before the first item: they do not change the difference. */
        end -= position / type->prog.items * type->prog.items;
        position %= type->prog.items;
        err = size_before(sizes, &type->prog, position, &before);
        if (!err)
            err = size_before(sizes, &type->prog, end, &after);
        if (err)
            return err;
    }
    *size = after - before;
    return 0;
}

/* ------------------------------------------------------------- the engine */

int packed_convert(const struct rep_table *table, const struct packed_items *p, bool reading,
                   const struct rep_opts *opts, int64_t *done)
{
    struct type_sizes sizes;
    struct prog packed;
    struct rep_side user = {&p->type->prog, rep_native(), p->position};
    struct rep_side file = {&packed, table, 0};
    const struct rep_opts wrap = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    int64_t before;
    int err;

    if (!opts)
        opts = &wrap;
    rep_table_sizes(table, &sizes);
    err = prog_build(&packed, p->type, &sizes, PROG_PACKED);
    if (err)
        return err;
    /* The file's bytes begin with the item at position, not with the first of its tile. */
    file.position = p->type->items ? p->position % p->type->items : 0;
    err = packed_size(&sizes, p->type, 0, file.position, &before);
    packed.origin -= err ? 0 : before;
    if (!err && reading)
        err = rep_convert(p->user, &user, p->file, &file, p->items, opts, done);
    else if (!err)
        err = rep_convert(p->file, &file, p->user, &user, p->items, opts, done);
    prog_release(&packed);
    return err;
}
