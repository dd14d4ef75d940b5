/* typerec.c - datatype records, node by node.
 *
 * Children are not read here: whoever walks a record counts its depth. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"

#define LAID_OUT 1u

/* Refuses a count that the bytes left cannot hold, so that no count reaches an
 * allocation unmet. */
static void count_check(struct in *in, uint64_t count, size_t least)
{
    if (!in->err && count > in_left(in) / least)
        in_fail(in, FMT_ERR_FORMAT, "more members than the record has bytes for (R5.11)");
}

static void size_check(struct in *in, uint64_t size)
{
    IN_LIMIT(in, size, FMT_SIZE_MAX, "a size of more than 2^62", "R5.11");
}

static void rank_get(struct in *in, struct type_node *t)
{
    t->rank = in_u8(in);
    if (!in->err && t->rank == 0)
        in_fail(in, FMT_ERR_FORMAT, "a rank of 0 (R5.14)");
    IN_LIMIT(in, t->rank, FMT_RANK_MAX, "a rank of more than 32", "R5.14");
}

static void order_get(struct in *in, struct type_node *t)
{
    t->order = in_u8(in);
    if (!in->err && t->order > 1)
        in_fail(in, FMT_ERR_FORMAT, "unknown order of an array (R5.12)");
}

/* Kinds 1 to 11: of elements. */
static void element_get(struct in *in, struct type_node *t)
{
    switch (t->kind) {
    case FMT_KIND_PREDEFINED:
        t->code = in_u16(in);
        if (!in->err && t->code == 0)
            in_fail(in, FMT_ERR_FORMAT, "no datatype has number 0 (R5.5)");
        if (!in->err && t->code > FMT_CODE_MAX)
            in_fail(in, FMT_ERR_UNSUPPORTED, "unknown predefined datatype (R5.8)");
        break;
    case FMT_KIND_SCALAR:
        scalar_get(in, &t->scalar);
        break;
    case FMT_KIND_STRING:
        t->pad = in_u8(in);
        if (!in->err && t->pad > 2)
            in_fail(in, FMT_ERR_FORMAT, "unknown padding of a string (R5.12)");
        t->size = in_u64(in);
        size_check(in, t->size);
        break;
    case FMT_KIND_OPAQUE:
        t->size = in_u64(in);
        size_check(in, t->size);
        span_get(in, in_u16(in), &t->tag);
        if (!in->err && text_check(t->tag.p, t->tag.len))
            in_fail(in, FMT_ERR_FORMAT, "invalid text in a tag (R5.15)");
        break;
    case FMT_KIND_ENUM:
        t->count = in_u32(in);
        count_check(in, t->count, 2 + 8);
        break;
    case FMT_KIND_ARRAY:
        rank_get(in, t);
        for (int i = 0; !in->err && i < t->rank; i++) {
            t->dim[i] = in_u64(in);
            size_check(in, t->dim[i]);
            /* Before its element, which may be of a later version. */
            if (!in->err && t->dim[i] == 0)
                in_fail(in, FMT_ERR_FORMAT, "an array without elements (R5.7)");
        }
        break;
    case FMT_KIND_COMPOUND:
        t->count = in_u32(in);
        t->size = in_u64(in);
        count_check(in, t->count, 2 + 8 + 2);
        size_check(in, t->size);
        if (!in->err && !(t->flags & LAID_OUT) && t->size != 0)
            in_fail(in, FMT_ERR_FORMAT, "a compound that is not laid out has a size (R5.17)");
        break;
    case FMT_KIND_REFERENCE:
        t->what = in_u8(in);
        if (!in->err && t->what > 1)
            in_fail(in, FMT_ERR_FORMAT, "unknown kind of reference (R5.12)");
        break;
    }
}

/* Kinds 32 to 43: of typemaps. */
static void typemap_get(struct in *in, struct type_node *t)
{
    switch (t->kind) {
    case FMT_KIND_CONTIGUOUS:
        t->arg[0] = in_i64(in);
        break;
    case FMT_KIND_VECTOR:
    case FMT_KIND_HVECTOR:
        t->arg[0] = in_i64(in);
        t->arg[1] = in_i64(in);
        t->arg[2] = in_i64(in);
        break;
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
        t->count = in_u64(in);
        count_check(in, t->count, 8 + 8);
        break;
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        t->count = in_u64(in);
        t->arg[0] = in_i64(in);
        count_check(in, t->count, 8);
        break;
    case FMT_KIND_STRUCT:
        t->count = in_u64(in);
        count_check(in, t->count, 8 + 8 + 2);
        break;
    case FMT_KIND_SUBARRAY:
        rank_get(in, t);
        order_get(in, t);
        break;
    case FMT_KIND_DARRAY:
        rank_get(in, t);
        order_get(in, t);
        t->arg[0] = in_u32(in);
        t->arg[1] = in_u32(in);
        break;
    case FMT_KIND_RESIZED:
        t->arg[0] = in_i64(in);
        t->arg[1] = in_i64(in);
        break;
    }
}

int type_node_get(struct in *in, struct type_node *out)
{
    struct type_node t = {0};

    t.kind = in_u8(in);
    if (!in->err && !((t.kind >= FMT_KIND_PREDEFINED && t.kind <= FMT_KIND_REFERENCE) ||
                      (t.kind >= FMT_KIND_CONTIGUOUS && t.kind <= FMT_KIND_DUP)))
        in_fail(in, FMT_ERR_UNSUPPORTED, "unknown kind of datatype (R5.8)");
    t.flags = in_u8(in);
    if (!in->err && (t.flags & ~(t.kind == FMT_KIND_COMPOUND ? LAID_OUT : 0)))
        in_fail(in, FMT_ERR_FORMAT, "unknown flag of a datatype (R5.9)");
    if (t.kind <= FMT_KIND_REFERENCE)
        element_get(in, &t);
    else
        typemap_get(in, &t);
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

/* Encode a node; fields in the order of SPEC.md, and the inverse of type_node_get(). */
void type_node_put(struct out *out, const struct type_node *n)
{
    out_u8(out, n->kind);
    out_u8(out, n->flags);
    switch (n->kind) {
    case FMT_KIND_PREDEFINED:
        out_u16(out, n->code);
        break;
    case FMT_KIND_SCALAR:
        scalar_put(out, &n->scalar);
        break;
    case FMT_KIND_STRING:
        out_u8(out, n->pad);
        out_u64(out, n->size);
        break;
    case FMT_KIND_OPAQUE:
        out_u64(out, n->size);
        out_u16(out, (uint16_t)n->tag.len);
        span_put(out, &n->tag);
        break;
    case FMT_KIND_ENUM:
        out_u32(out, (uint32_t)n->count);
        break;
    case FMT_KIND_ARRAY:
        out_u8(out, n->rank);
        for (int i = 0; i < n->rank; i++)
            out_u64(out, n->dim[i]);
        break;
    case FMT_KIND_COMPOUND:
        out_u32(out, (uint32_t)n->count);
        out_u64(out, n->size);
        break;
    case FMT_KIND_REFERENCE:
        out_u8(out, n->what);
        break;
    case FMT_KIND_CONTIGUOUS:
        out_i64(out, n->arg[0]);
        break;
    case FMT_KIND_VECTOR:
    case FMT_KIND_HVECTOR:
        out_i64(out, n->arg[0]);
        out_i64(out, n->arg[1]);
        out_i64(out, n->arg[2]);
        break;
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_STRUCT:
        out_u64(out, n->count);
        break;
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        out_u64(out, n->count);
        out_i64(out, n->arg[0]);
        break;
    case FMT_KIND_SUBARRAY:
    case FMT_KIND_DARRAY:
        out_u8(out, n->rank);
        out_u8(out, n->order);
        if (n->kind == FMT_KIND_DARRAY) {
            out_u32(out, (uint32_t)n->arg[0]);
            out_u32(out, (uint32_t)n->arg[1]);
        }
        break;
    case FMT_KIND_RESIZED:
        out_i64(out, n->arg[0]);
        out_i64(out, n->arg[1]);
        break;
    }
}

/* A member of a compound may lack a name, a number of an enum may not. */
static void member_name_get(struct in *in, struct type_member *t, size_t least)
{
    span_get(in, in_u16(in), &t->name);
    IN_LIMIT(in, t->name.len, FMT_NAME_MAX, "a name of more than 1,023 bytes", "R5.15");
    if (!in->err && (t->name.len < least || text_check(t->name.p, t->name.len)))
        in_fail(in, FMT_ERR_FORMAT, "invalid name of a member (R5.15)");
}

/* Decode the entry before a child or in a list: which fields it has follows from the kind of its
 * node. */
int type_member_get(struct in *in, uint8_t kind, struct type_member *out)
{
    struct type_member t = {0};

    switch (kind) {
    case FMT_KIND_ENUM:
        member_name_get(in, &t, 1);
        t.value = in_i64(in);
        break;
    case FMT_KIND_COMPOUND:
        member_name_get(in, &t, 0);
        t.offset = in_u64(in);
        size_check(in, t.offset);
        break;
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_STRUCT:
        t.blocklen = in_i64(in);
        t.displ = in_i64(in);
        break;
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        t.displ = in_i64(in);
        break;
    case FMT_KIND_SUBARRAY:
        t.sub[0] = in_i64(in);
        t.sub[1] = in_i64(in);
        t.sub[2] = in_i64(in);
        break;
    case FMT_KIND_DARRAY:
        t.sub[0] = in_i64(in);
        t.sub[1] = in_u8(in);
        if (!in->err && t.sub[1] > 2)
            in_fail(in, FMT_ERR_FORMAT, "unknown distribution of an array (R5.12)");
        t.sub[2] = in_i64(in);
        t.sub[3] = in_u32(in);
        break;
    }
    if (in->err)
        return in->err;
    *out = t;
    return FMT_OK;
}

void type_member_put(struct out *out, uint8_t kind, const struct type_member *m)
{
    switch (kind) {
    case FMT_KIND_ENUM:
        out_u16(out, (uint16_t)m->name.len);
        span_put(out, &m->name);
        out_i64(out, m->value);
        break;
    case FMT_KIND_COMPOUND:
        out_u16(out, (uint16_t)m->name.len);
        span_put(out, &m->name);
        out_u64(out, m->offset);
        break;
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_STRUCT:
        out_i64(out, m->blocklen);
        out_i64(out, m->displ);
        break;
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        out_i64(out, m->displ);
        break;
    case FMT_KIND_SUBARRAY:
        out_i64(out, m->sub[0]);
        out_i64(out, m->sub[1]);
        out_i64(out, m->sub[2]);
        break;
    case FMT_KIND_DARRAY:
        out_i64(out, m->sub[0]);
        out_u8(out, (uint8_t)m->sub[1]);
        out_i64(out, m->sub[2]);
        out_u32(out, (uint32_t)m->sub[3]);
        break;
    }
}
