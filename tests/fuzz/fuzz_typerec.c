/* fuzz_typerec.c - a whole datatype record of any bytes, walked as deep as one may be.
 *
 * What is accepted is encoded again and must be the same bytes. */
/* SPDX-License-Identifier: MIT */
#include "format/record.h"
#include "tests/fuzz/fuzz.h"

static int member(struct in *in, struct out *out, uint8_t kind)
{
    struct type_member m;

    if (type_member_get(in, kind, &m))
        return in->err;
    type_member_put(out, kind, &m);
    return 0;
}

static uint64_t list_of(const struct type_node *n)
{
    switch (n->kind) {
    case FMT_KIND_ENUM:
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        return n->count;
    case FMT_KIND_SUBARRAY:
    case FMT_KIND_DARRAY:
        return n->rank;
    }
    return 0;
}

static int walk(struct in *in, struct out *out, int depth)
{
    struct type_node n;

    if (depth == 0)
        return in_fail(in, FMT_ERR_LIMIT, "too deep");
    if (type_node_get(in, &n))
        return in->err;
    type_node_put(out, &n);
    for (uint64_t i = 0; i < list_of(&n); i++)
        if (member(in, out, n.kind))
            return in->err;
    switch (n.kind) {
    case FMT_KIND_PREDEFINED:
    case FMT_KIND_SCALAR:
    case FMT_KIND_STRING:
    case FMT_KIND_OPAQUE:
    case FMT_KIND_VSTRING:
    case FMT_KIND_REFERENCE:
        return 0;
    case FMT_KIND_COMPOUND:
    case FMT_KIND_STRUCT:
        for (uint64_t i = 0; i < n.count; i++)
            if (member(in, out, n.kind) || walk(in, out, depth - 1))
                return in->err;
        return 0;
    }
    return walk(in, out, depth - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *back = malloc(size + 1);
    struct out out;
    struct in in;

    in_init(&in, data, size);
    out_init(&out, back, size);
    if (walk(&in, &out, FMT_TYPE_DEPTH_MAX))
        PROMISE(in.err && in.why != NULL && in.err_at <= size);
    else
        PROMISE(!out.err && out.at == in.at && memcmp(back, data, out.at) == 0);
    free(back);
    return 0;
}
