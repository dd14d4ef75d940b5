/* put.c - a type's way into a file: its datatype record.
 *
 * An element in a file has no memory layout: every MPI constructor becomes the array
 * or the compound of what it picks, in typemap order. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/record.h"

#include <datarep.h>
#include <string.h>

#define LAID_OUT 1

struct putter {
    struct out *out;
    const struct type_sizes *sizes; /* NULL: nothing is laid out */
    enum prog_layout layout;
    int depth, sequences; /* nested so far */
};

static int put_type(struct putter *p, const drep_type *type);

/* The base of a node, one level down. */
static int put_child(struct putter *p, const drep_type *type)
{
    int err;

    if (p->depth >= FMT_TYPE_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "datatype record: more than %d nested types",
                    FMT_TYPE_DEPTH_MAX);
    p->depth++;
    err = put_type(p, type);
    p->depth--;
    return err;
}

/* `n` of a type: itself, or an array of it. */
static int put_many(struct putter *p, const drep_type *type, int64_t n)
{
    struct type_node node = {.kind = FMT_KIND_ARRAY, .rank = 1};

    if (n == 1)
        return put_type(p, type);
    node.dim[0] = (uint64_t)n;
    type_node_put(p->out, &node);
    return put_child(p, type);
}

static int no_items(void)
{
    return fail(DREP_ERR_TYPE, "a datatype without data items cannot be stored");
}

/* Members that hold nothing are left out. */
static bool is_stored(const drep_type *type, int64_t i)
{
    return type->member[i]->items && (!type->blocklen || type->blocklen[i]);
}

/* Each machine lays it out as its own C compiler would, so no displacements are written. */
static bool without_layout(const drep_type *type)
{
    for (int64_t i = 0; i < type->nmembers; i++)
        if (!is_stored(type, i))
            return false;
    return type_plain_struct(type);
}

/* A compound, and a struct as a compound whose members have no names. */
static int put_compound(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = FMT_KIND_COMPOUND};
    int64_t *offsets = mem_zalloc((uint64_t)type->nmembers, sizeof(*offsets));
    int64_t size = 0;
    int64_t align;
    int err = offsets ? 0 : DREP_ERR_NOMEM;

    if (!err && p->sizes)
        err = type_layout(type, p->sizes, p->layout, offsets, &size, &align);
    for (int64_t i = 0; i < type->nmembers && !err; i++) {
        node.count += is_stored(type, i);
        if (type->kind == DREP_KIND_COMPOUND && !type->member[i]->items)
            err = no_items();
    }
    if (!err && node.count == 0)
        err = no_items();
    if (!err && node.count > UINT32_MAX)
        err = fail(DREP_ERR_LIMIT, "datatype record: more than 2^32 members");
    node.flags = p->sizes ? LAID_OUT : 0;
    node.size = (uint64_t)size;
    if (!err)
        type_node_put(p->out, &node);
    for (int64_t i = 0; i < type->nmembers && !err; i++) {
        struct type_member m = {.offset = (uint64_t)offsets[i]};

        if (!is_stored(type, i))
            continue;
        if (type->name)
            m.name = (struct span){(const uint8_t *)type->name[i], strlen(type->name[i])};
        type_member_put(p->out, FMT_KIND_COMPOUND, &m);
        p->depth++;
        err = p->depth > FMT_TYPE_DEPTH_MAX
                  ? fail(DREP_ERR_LIMIT, "datatype record: more than %d nested types",
                         FMT_TYPE_DEPTH_MAX)
                  : put_many(p, type->member[i], type->blocklen ? type->blocklen[i] : 1);
        p->depth--;
    }
    mem_free(offsets);
    return err;
}

static int put_enum(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = FMT_KIND_ENUM, .count = (uint64_t)type->args[0]};

    if (node.count > UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "datatype record: more than 2^32 names");
    type_node_put(p->out, &node);
    for (int64_t i = 0; i < type->args[0]; i++) {
        struct type_member m = {
            .name = {(const uint8_t *)type->name[i], strlen(type->name[i])},
            .value = type->value[i],
        };

        type_member_put(p->out, FMT_KIND_ENUM, &m);
    }
    return put_child(p, type->member[0]);
}

static int put_sequence(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = (uint8_t)type->kind};
    int err = 0;

    if (p->sequences >= FMT_SEQ_DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "datatype record: more than %d nested sequences",
                    FMT_SEQ_DEPTH_MAX);
    type_node_put(p->out, &node);
    p->sequences++;
    if (type->kind == DREP_KIND_SEQUENCE)
        err = put_child(p, type->member[0]);
    p->sequences--;
    return err;
}

/* Kinds 1 to 11 without members. */
static int put_leaf(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = (uint8_t)type->kind, .code = (uint16_t)type->code};

    switch (type->kind) {
    case DREP_KIND_SCALAR:
        scalar_to_rec(type->scalar, &node.scalar);
        break;
    case DREP_KIND_STRING:
        node.size = (uint64_t)type->args[0];
        node.pad = (uint8_t)type->args[1];
        break;
    case DREP_KIND_OPAQUE:
        node.size = (uint64_t)type->args[0];
        node.tag = (struct span){(const uint8_t *)type->tag, strlen(type->tag)};
        break;
    case DREP_KIND_REFERENCE:
        node.what = (uint8_t)type->args[0];
        break;
    }
    type_node_put(p->out, &node);
    return 0;
}

static int put_array(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = FMT_KIND_ARRAY, .rank = (uint8_t)type->args[0]};

    if (!type->items)
        return no_items();
    for (int d = 0; d < node.rank; d++)
        node.dim[d] = (uint64_t)type->args[1 + d];
    type_node_put(p->out, &node);
    return put_child(p, type->member[0]);
}

/* The lists of MPI's constructors, as the table of records has them. */
static void put_lists(struct putter *p, const drep_type *type, const struct type_node *node)
{
    const int64_t *args = type->args;
    int64_t n = type->kind == DREP_KIND_SUBARRAY || type->kind == DREP_KIND_DARRAY
                    ? node->rank
                    : (int64_t)node->count;

    for (int64_t i = 0; i < n; i++) {
        struct type_member m = {.blocklen = 0};

        switch (type->kind) {
        case DREP_KIND_INDEXED:
        case DREP_KIND_HINDEXED:
            m.blocklen = args[1 + i];
            m.displ = args[1 + n + i];
            break;
        case DREP_KIND_INDEXED_BLOCK:
        case DREP_KIND_HINDEXED_BLOCK:
            m.displ = args[2 + i];
            break;
        case DREP_KIND_SUBARRAY:
            for (int64_t k = 0; k < 3; k++)
                m.sub[k] = args[1 + k * n + i];
            break;
        case DREP_KIND_DARRAY:
            for (int64_t k = 0; k < 4; k++)
                m.sub[k] = args[3 + k * n + i];
            break;
        }
        type_member_put(p->out, node->kind, &m);
    }
}

/* Kinds 32 to 43, as they were made. */
static int put_constructor(struct putter *p, const drep_type *type)
{
    struct type_node node = {.kind = (uint8_t)type->kind};
    const int64_t *args = type->args;
    int err = 0;

    switch (type->kind) {
    case DREP_KIND_CONTIGUOUS:
        node.arg[0] = args[0];
        break;
    case DREP_KIND_VECTOR:
    case DREP_KIND_HVECTOR:
        memcpy(node.arg, args, sizeof(node.arg));
        break;
    case DREP_KIND_INDEXED_BLOCK:
    case DREP_KIND_HINDEXED_BLOCK:
        node.arg[0] = args[1];
        node.count = (uint64_t)args[0];
        break;
    case DREP_KIND_INDEXED:
    case DREP_KIND_HINDEXED:
    case DREP_KIND_STRUCT:
        node.count = (uint64_t)args[0];
        break;
    case DREP_KIND_SUBARRAY:
        node.rank = (uint8_t)args[0];
        node.order = (uint8_t)args[type->nargs - 1];
        break;
    case DREP_KIND_DARRAY:
        node.arg[0] = args[0];
        node.arg[1] = args[1];
        node.rank = (uint8_t)args[2];
        node.order = (uint8_t)args[type->nargs - 1];
        break;
    case DREP_KIND_RESIZED:
        node.arg[0] = args[0];
        node.arg[1] = args[1];
        break;
    }
    type_node_put(p->out, &node);
    if (type->kind != DREP_KIND_STRUCT) {
        put_lists(p, type, &node);
        return put_child(p, type->member[0]);
    }
    for (int64_t i = 0; i < type->nmembers && !err; i++) {
        struct type_member m = {.blocklen = type->blocklen[i], .displ = type->displ[i]};

        type_member_put(p->out, node.kind, &m);
        err = put_child(p, type->member[i]);
    }
    return err;
}

static int put_type(struct putter *p, const drep_type *type)
{
    int64_t base_items;

    switch (type->kind) {
    case DREP_KIND_COMPOUND:
        return put_compound(p, type);
    case DREP_KIND_ENUM:
        return put_enum(p, type);
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_VSTRING:
        return put_sequence(p, type);
    case DREP_KIND_ARRAY:
        return put_array(p, type);
    case DREP_KIND_BOOLEAN:
        type_node_put(p->out, &(struct type_node){.kind = FMT_KIND_BOOLEAN});
        return put_child(p, type->member[0]);
    }
    if (type->kind < DREP_KIND_CONTIGUOUS)
        return put_leaf(p, type);
    if (type->kind == DREP_KIND_STRUCT && p->layout == PROG_MEMORY && without_layout(type))
        return put_compound(p, type);
    if (p->layout == PROG_MEMORY)
        return put_constructor(p, type);
    if (!type->items)
        return no_items();
    if (type->kind == DREP_KIND_STRUCT)
        return put_compound(p, type);
    base_items = type->member[0]->items;
    return put_many(p, type->member[0], type->items / base_items);
}

int type_put(const drep_type *type, const struct type_sizes *sizes, enum prog_layout layout,
             struct out *out)
{
    struct putter p = {.out = out, .sizes = sizes, .layout = layout, .depth = 1};
    int err = put_type(&p, type);

    if (err)
        return err;
    return out->err ? fail(out->err, "datatype record: %s", fmt_err_text(out->err)) : 0;
}
