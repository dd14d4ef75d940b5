/* equal.c - compares leaves, typemaps and descriptions.
 *
 * Equal datatypes were made the same way; equivalent ones describe the same bytes.  Nothing is
 * ever expanded: equal programs are equal at once, and others are compared run by run.  Folding
 * (shape.c) asks for equal nodes, and a leaf may be a sequence of some other type, so that all
 * three comparisons need each other and stand here together. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include <datarep.h>
#include <string.h>

static bool scalar_equal(const drep_scalar *a, const drep_scalar *b)
{
    /* Field by field: there may be padding. */
    return a->cls == b->cls && a->order == b->order && a->size == b->size &&
           a->is_signed == b->is_signed && a->format == b->format && a->norm == b->norm &&
           a->low_pad == b->low_pad && a->high_pad == b->high_pad && a->precision == b->precision &&
           a->offset == b->offset && a->sign_pos == b->sign_pos && a->exp_pos == b->exp_pos &&
           a->exp_width == b->exp_width && a->mant_pos == b->mant_pos &&
           a->mant_width == b->mant_width && a->exp_base_log2 == b->exp_base_log2 &&
           a->exp_bias == b->exp_bias;
}

bool leaf_same(const drep_type *a, const drep_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case DREP_KIND_SCALAR:
        return scalar_equal(a->scalar, b->scalar);
    case DREP_KIND_SEQUENCE:
        return drep_type_equivalent(a->member[0], b->member[0]);
    case DREP_KIND_VSTRING:
        return a->nargs == b->nargs;
    case DREP_KIND_REFERENCE:
        return a->args[0] == b->args[0];
    case DREP_KIND_STRING:
        return a->args[0] == b->args[0] && a->args[1] == b->args[1];
    }
    return false; /* predefined: there is one of each */
}

bool node_equal(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->op != b->op || a->items != b->items || a->count != b->count ||
        a->stride != b->stride || a->depth != b->depth)
        return false;
    if (a->op == NODE_LEAF)
        return leaf_same(a->leaf, b->leaf);
    if (a->op != NODE_LOOP &&
        memcmp(a->offset, b->offset, (size_t)a->count * sizeof(*a->offset)) != 0)
        return false;
    for (int64_t i = 0; i < node_children(a); i++)
        if (!node_equal(a->child[i], b->child[i]))
            return false;
    return true;
}

bool leaf_stored_same(const drep_type *a, const drep_type *b)
{
    return a == b ||
           (leaf_same(a, b) && a->content.extent == b->content.extent &&
            a->content.origin == b->content.origin && node_equal(a->content.root, b->content.root));
}

static bool same_names(const drep_type *a, const drep_type *b)
{
    int64_t n = a->kind == DREP_KIND_ENUM ? a->args[0] : a->nmembers;

    if (!a->name || !b->name)
        return a->name == b->name;
    for (int64_t i = 0; i < n; i++)
        if (strcmp(a->name[i], b->name[i]) != 0)
            return false;
    return true;
}

int drep_type_equal(const drep_type *a, const drep_type *b)
{
    if (a == b)
        return 1;
    if (!a || !b || a->kind != b->kind || a->code != b->code || a->natural != b->natural ||
        a->nargs != b->nargs || a->nmembers != b->nmembers || a->weight != b->weight ||
        a->depth != b->depth)
        return 0;
    if (a->nargs && memcmp(a->args, b->args, (size_t)a->nargs * sizeof(*a->args)) != 0)
        return 0;
    if (strcmp(a->tag ? a->tag : "", b->tag ? b->tag : "") != 0 ||
        (a->scalar && !scalar_equal(a->scalar, b->scalar)) || !same_names(a, b))
        return 0;
    for (int64_t i = 0; i < a->nmembers; i++)
        if (!drep_type_equal(a->member[i], b->member[i]))
            return 0;
    return 1;
}

static bool same_runs(const drep_type *a, const drep_type *b)
{
    drep_cursor ca, cb;
    drep_run ra = {.count = 0};
    drep_run rb = {.count = 0};
    int64_t left = a->items;

    if (cursor_init(&ca, &a->prog, 0) || cursor_init(&cb, &b->prog, 0))
        return false;
    while (left > 0) {
        int64_t n;

        if (ra.count == 0)
            cursor_next(&ca, left, &ra);
        if (rb.count == 0)
            cursor_next(&cb, left, &rb);
        n = ra.count < rb.count ? ra.count : rb.count;
        if (ra.offset != rb.offset || !leaf_same(ra.type, rb.type) ||
            (n > 1 && ra.stride != rb.stride))
            return false;
        left -= n;
        ra.count -= n;
        ra.offset += n * ra.stride;
        rb.count -= n;
        rb.offset += n * rb.stride;
    }
    return true;
}

int drep_type_equivalent(const drep_type *a, const drep_type *b)
{
    if (a == b)
        return 1;
    if (!a || !b || a->items != b->items || a->size != b->size || a->ub - a->lb != b->ub - b->lb ||
        a->true_lb != b->true_lb || a->true_ub != b->true_ub)
        return 0;
    if (a->items == 0)
        return 1;
    if (a->prog.origin != b->prog.origin)
        return 0;
    return node_equal(a->prog.root, b->prog.root) || same_runs(a, b);
}
