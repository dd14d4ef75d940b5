/* prog.c - from a description to its typemap, in memory and under other sizes.
 *
 * shape_compose() is the one place that knows what each constructor means.  In
 * memory it runs once a constructor, over the finished typemaps of the members;
 * with other sizes it runs for all levels, as if the same calls were made on the
 * machine that has those sizes. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

void shape_of(struct shape *out, const drep_type *type)
{
    *out = (struct shape){.node = prog_node_ref(type->prog.root),
                          .at = type->prog.origin,
                          .items = type->items,
                          .size = type->size,
                          .lb = type->lb,
                          .ub = type->ub,
                          .true_lb = type->true_lb,
                          .true_ub = type->true_ub,
                          .align = type->align,
                          .marked = type->marked,
                          .blank = type->blank};
}

int prog_from(struct prog *out, struct shape *s)
{
    struct prog p = {.root = s->node, .origin = s->at, .items = s->items, .size = s->size};
    bool over = false;

    p.extent = size_add(s->ub, -s->lb, &over);
    if (over)
        return size_fail();
    p.depth = p.root ? p.root->depth : 0;
    p.dense = p.root && p.root->op == NODE_LEAF && p.origin == 0 && p.extent == p.size &&
              (p.items == 1 || p.root->stride == p.size / p.items);
    s->node = NULL;
    *out = p;
    return 0;
}

void prog_release(struct prog *prog)
{
    node_free(prog->root);
    memset(prog, 0, sizeof(*prog));
}

/* ---------------------------------------------------------- MPI's constructors */

/* The arguments of `type` from number `from` on. */
static const int64_t *args_at(const drep_type *type, int64_t from)
{
    return type->args + from;
}

static int compose_vector(struct shape *s, const drep_type *type, int64_t unit)
{
    bool over = false;
    int64_t extent = size_add(s->ub, -s->lb, &over);
    int64_t stride = size_mul(type->args[2], unit, &over);
    int err;

    if (over)
        return size_fail();
    err = shape_repeat(s, type->args[1], extent);
    return err ? err : shape_repeat(s, type->args[0], stride);
}

/* `s` becomes what was joined, with the alignment it has.  The join ends whatever comes. */
static int join_replace(struct join *j, int err, struct shape *s)
{
    struct shape joined;

    if (err)
        join_release(j);
    else
        err = join_finish(j, &joined);
    if (err)
        return err;
    joined.align = s->align;
    shape_release(s);
    *s = joined;
    return 0;
}

/* Blocks at displacements; lens NULL: all `len` long. */
static int compose_blocks(struct shape *s, int64_t n, const int64_t *lens, int64_t len,
                          const int64_t *displs, int64_t unit)
{
    struct shape block;
    struct join j;
    bool over = false;
    int64_t extent = size_add(s->ub, -s->lb, &over);
    int err = over ? size_fail() : 0;

    join_init(&j);
    shape_copy(&block, s);
    if (!err && !lens)
        err = shape_repeat(&block, len, extent);
    for (int64_t i = 0; i < n && !err; i++) {
        /* Neighbouring blocks of one length share their nodes. */
        if (lens && (i == 0 || lens[i] != lens[i - 1])) {
            shape_release(&block);
            shape_copy(&block, s);
            err = shape_repeat(&block, lens[i], extent);
        }
        if (!err)
            err = join_add(&j, &block, size_mul(displs[i], unit, &over));
        if (!err && over)
            err = size_fail();
    }
    shape_release(&block);
    return join_replace(&j, err, s);
}

/* The whole array's bounds for a part of it. */
static int mark_whole(struct shape *s, int rank, const int64_t *sizes, int64_t extent)
{
    bool over = false;

    for (int d = 0; d < rank; d++)
        extent = size_mul(extent, sizes[d], &over);
    if (over)
        return size_fail();
    shape_mark(s, 0, extent);
    return 0;
}

static int compose_subarray(struct shape *s, const drep_type *type)
{
    int rank = (int)type->args[0];
    const int64_t *sizes = args_at(type, 1);
    const int64_t *subsizes = args_at(type, 1 + rank);
    const int64_t *starts = args_at(type, 1 + 2 * rank);
    bool fortran = type->args[1 + 3 * rank] == DREP_ORDER_FORTRAN;
    bool over = false;
    int64_t extent = size_add(s->ub, -s->lb, &over);
    int64_t stride = extent;
    int err = 0;

    for (int i = 0; i < rank && !err; i++) {
        int d = fortran ? i : rank - 1 - i;
        int64_t start = size_mul(starts[d], stride, &over);

        err = over ? size_fail() : shape_repeat(s, subsizes[d], stride);
        if (!err)
            err = shape_shift(s, start);
        stride = size_mul(stride, sizes[d], &over);
    }
    if (!err && over)
        err = size_fail();
    return err ? err : mark_whole(s, rank, sizes, extent);
}

/* Compose the share of process `r` of `p` in a dimension of g elements dealt in blocks of b:
 * full blocks, then the rest of one. */
static int compose_dealt(struct shape *s, int64_t g, int64_t b, int64_t p, int64_t r,
                         int64_t stride)
{
    bool over = false;
    int64_t first = size_mul(r, b, &over);
    int64_t period = over || b > g / p ? g : b * p; /* beyond g there is no second block */
    int64_t full = 0, tail, bytes;
    struct shape rest;
    struct join j;
    int err;

    if (over || first >= g)
        return shape_repeat(s, 0, 0);
    tail = g - first;
    if (tail >= b) { /* then a period is not less than a block */
        full = tail / period;
        tail %= period;
    }
    if (tail >= b) {
        full++;
        tail = 0;
    }
    bytes = size_mul(period, stride, &over);
    first = size_mul(first, stride, &over);
    if (over)
        return size_fail();
    shape_copy(&rest, s);
    err = shape_repeat(&rest, tail, stride);
    if (!err)
        err = shape_repeat(s, b, stride);
    if (!err)
        err = shape_repeat(s, full, bytes);
    join_init(&j);
    if (!err)
        err = join_add(&j, s, 0);
    if (!err)
        err = join_add(&j, &rest, size_mul(full, bytes, &over));
    if (!err && over)
        err = size_fail();
    shape_release(&rest);
    err = join_replace(&j, err, s);
    return err ? err : shape_shift(s, first);
}

/* Compose the share of one process in a distributed array (MPI 5.0, 5.1.4), dimension by
 * dimension from the fastest, as blocks of blocks. */
static int compose_darray(struct shape *s, const drep_type *type)
{
    int rank = (int)type->args[2];
    const int64_t *gsizes = args_at(type, 3);
    const int64_t *distribs = args_at(type, 3 + rank);
    const int64_t *dargs = args_at(type, 3 + 2 * rank);
    const int64_t *psizes = args_at(type, 3 + 3 * rank);
    bool fortran = type->args[3 + 4 * rank] == DREP_ORDER_FORTRAN;
    int64_t coord[DREP_MAX_RANK];
    int64_t rest = type->args[1];
    bool over = false;
    int64_t extent = size_add(s->ub, -s->lb, &over);
    int64_t stride = extent;
    int err = 0;

    /* The grid of processes is row-major whatever the order of the array. */
    for (int d = rank - 1; d >= 0; d--) {
        coord[d] = rest % psizes[d];
        rest /= psizes[d];
    }
    for (int i = 0; i < rank && !err; i++) {
        int d = fortran ? i : rank - 1 - i;
        int64_t g = gsizes[d];
        int64_t b = dargs[d];

        if (distribs[d] == DREP_DISTRIBUTE_NONE)
            b = g;
        else if (b == DREP_DISTRIBUTE_DFLT_DARG)
            b = distribs[d] == DREP_DISTRIBUTE_CYCLIC ? 1 : g / psizes[d] + (g % psizes[d] != 0);
        err = over    ? size_fail()
              : g > 0 ? compose_dealt(s, g, b, psizes[d], coord[d], stride)
                      : shape_repeat(s, 0, 0);
        stride = size_mul(stride, g, &over);
    }
    if (!err && over)
        err = size_fail();
    return err ? err : mark_whole(s, rank, gsizes, extent);
}

/* ---------------------------------------------------------------- structures */

int shape_layout(const struct shape *members, int64_t n, const int64_t *blocklens, bool packed,
                 int64_t *offsets, int64_t *size, int64_t *align)
{
    bool over = false;
    int64_t end = 0;
    int64_t most = 1;

    for (int64_t i = 0; i < n; i++) {
        int64_t extent = size_add(members[i].ub, -members[i].lb, &over);

        if (!packed && !members[i].blank && !(blocklens && blocklens[i] == 0)) {
            end = size_align(end, members[i].align, &over);
            most = members[i].align > most ? members[i].align : most;
        }
        offsets[i] = end;
        end = size_add(end, size_mul(extent, blocklens ? blocklens[i] : 1, &over), &over);
    }
    end = size_align(end, most, &over);
    if (over)
        return size_fail();
    *size = end;
    *align = most;
    return 0;
}

/* The bytes that a member takes in its compound. */
struct member_span {
    int64_t number, at, end;
};

static int by_place(const void *a, const void *b)
{
    const struct member_span *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

int shape_apart(const struct shape *members, int64_t n, const int64_t *blocklens,
                const int64_t *offsets, int64_t size)
{
    struct member_span *span = mem_array((uint64_t)n, sizeof(*span));
    bool over = false, order = true;
    int err = 0;

    if (!span)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n && !err; i++) {
        int64_t extent = size_mul(shape_extent(&members[i]), blocklens ? blocklens[i] : 1, &over);

        span[i] = extent == 0
                      ? (struct member_span){i, 0, 0}
                      : (struct member_span){i, offsets[i], size_add(offsets[i], extent, &over)};
        if (over || offsets[i] < 0 || span[i].end > size)
            err = fail(DREP_ERR_FORMAT,
                       "member %lld of %lld bytes at byte %lld is outside %lld (R5.18)",
                       (long long)i, (long long)extent, (long long)offsets[i], (long long)size);
        order = order && (i == 0 || span[i].at >= span[i - 1].end);
    }
    if (!err && !order)
        qsort(span, (size_t)n, sizeof(*span), by_place);
    for (int64_t i = 1; i < n && !err; i++)
        if (span[i].at < span[i - 1].end)
            err = fail(DREP_ERR_FORMAT, "members %lld and %lld overlap (R5.18)",
                       (long long)span[i - 1].number, (long long)span[i].number);
    mem_free(span);
    return err;
}

/* Without displacements a member counts with its extent, wherever its marks lie. */
static bool is_natural(const drep_type *type)
{
    return type->kind == DREP_KIND_COMPOUND || type->natural;
}

/* Members at `offsets` of their origins. */
static int compose_members(struct shape *out, const drep_type *type, const struct shape *members,
                           const int64_t *offsets)
{
    struct join j;
    int err = 0;

    join_init(&j);
    for (int64_t i = 0; i < type->nmembers && !err; i++) {
        struct shape block;
        bool over = false;
        int64_t extent = size_add(members[i].ub, -members[i].lb, &over);

        shape_copy(&block, &members[i]);
        block.marked = block.marked && !is_natural(type);
        err = over ? size_fail()
                   : shape_repeat(&block, type->blocklen ? type->blocklen[i] : 1, extent);
        if (!err)
            err = join_add(&j, &block, offsets[i]);
        shape_release(&block);
    }
    if (!err)
        return join_finish(&j, out);
    join_release(&j);
    return err;
}

/* Do the members have room in the file where they were put in memory? */
static int placed_apart(const drep_type *type, const struct shape *members)
{
    int err = type->lb < 0
                  ? fail(DREP_ERR_TYPE, "an element that begins before its first byte")
                  : shape_apart(members, type->nmembers, type->blocklen, type->displ, type->ub);

    return err == DREP_ERR_FORMAT
               ? fail_in(DREP_ERR_TYPE, "a compound cannot keep its layout in the file")
               : err;
}

/* STRUCT and PACKED: members in order, at the offsets their sizes ask for. */
static int compose_laid_out(struct shape *out, const drep_type *type, const struct shape *members,
                            bool packed)
{
    int64_t *offsets = mem_array((uint64_t)type->nmembers, sizeof(*offsets));
    int64_t size, align;
    int err;

    if (!offsets)
        return DREP_ERR_NOMEM;
    err = shape_layout(members, type->nmembers, type->blocklen, packed, offsets, &size, &align);
    if (!err)
        err = compose_members(out, type, members, offsets);
    mem_free(offsets);
    if (err)
        return err;
    out->align = align;
    out->lb = 0;
    out->ub = size;
    out->marked = false;
    out->blank = !out->items && size == 0;
    return 0;
}

/* Lay a compound out as PROG_PLACED says: members at the offsets that they have in memory, with the
 * file's sizes, so that no offset depends on the members before it.  `members` stays the caller's.
 * DREP_ERR_TYPE: they would overlap. */
static int compose_kept(struct shape *out, const drep_type *type, const struct shape *members)
{
    int err = placed_apart(type, members);

    if (!err)
        err = compose_members(out, type, members, type->displ);
    if (err)
        return err;
    out->align = 1;
    out->lb = 0;
    out->ub = type->ub;
    out->marked = false;
    out->blank = !out->items && type->ub == 0;
    return 0;
}

/* MEMORY and VIEW: members where they were put.  A struct's bounds are those of its
 * members, of the marked ones alone if there are any; otherwise it is rounded up to
 * its alignment in memory.  A compound begins at 0 like a C struct. */
static int compose_placed(struct shape *out, const drep_type *type, const struct shape *members,
                          bool round)
{
    bool over = false;
    struct shape s;
    int err = compose_members(&s, type, members, type->displ);

    if (err)
        return err;
    if (is_natural(type)) {
        s.ub = s.ub > 0 ? s.ub : 0;
        s.lb = 0;
    }
    if (type->kind == DREP_KIND_COMPOUND && type->args[type->nargs - 1])
        s.ub = type->args[type->nargs - 1];
    else if (round && !s.marked)
        s.ub = size_add(s.lb, size_align(size_add(s.ub, -s.lb, &over), s.align, &over), &over);
    s.blank = !s.items && !s.marked && s.ub == s.lb;
    if (over) {
        shape_release(&s);
        return size_fail();
    }
    *out = s;
    return 0;
}

static int compose_struct(struct shape *out, const drep_type *type, const struct shape *members,
                          enum prog_layout layout)
{
    if (layout == PROG_PLACED)
        return compose_kept(out, type, members);
    if (layout == PROG_PACKED || layout == PROG_STRUCT)
        return compose_laid_out(out, type, members, layout == PROG_PACKED);
    return compose_placed(out, type, members, layout == PROG_MEMORY);
}

/* -------------------------------------------------------------------- leaves */

/* Compose a leaf with the size and alignment of the representation. */
static int compose_leaf(struct shape *out, const drep_type *type, const struct type_sizes *sizes)
{
    int64_t size, align;
    bool pointer;

    switch (type->kind) {
    case DREP_KIND_PREDEFINED:
        size = sizes->size[type->code];
        align = sizes->align[type->code];
        if (!size)
            return fail(DREP_ERR_TYPE, "this data representation has no %s",
                        drep_code_name(type->code));
        break;
    case DREP_KIND_SCALAR:
        size = type->scalar->size;
        align = 1;
        break;
    case DREP_KIND_VSTRING:
        pointer = sizes->vstring_size && !type_counted(type);
        size = pointer ? sizes->vstring_size : sizes->vlen_size;
        align = pointer ? sizes->vstring_align : sizes->vlen_align;
        break;
    case DREP_KIND_REFERENCE:
        size = type->args[0] == DREP_REF_REGION ? sizes->region_size : sizes->object_size;
        align = sizes->ref_align;
        break;
    default:
        size = sizes->vlen_size;
        align = sizes->vlen_align;
    }
    return shape_leaf(out, type, size, align > 0 ? align : 1, 1);
}

/* Compose any constructor over one base as stored: its base elements back to back. */
static int compose_stored(struct shape *s, const drep_type *type)
{
    int64_t base_items = type->member[0]->items;

    return shape_repeat(s, base_items ? type->items / base_items : 0, shape_extent(s));
}

/* Compose a constructor over one base with the displacements it was made with. */
static int compose_placed_base(struct shape *s, const drep_type *type)
{
    const int64_t *args = type->args;
    bool over = false;
    int64_t extent = size_add(s->ub, -s->lb, &over);
    int64_t n = 1;

    if (over)
        return size_fail();
    switch (type->kind) {
    case DREP_KIND_ARRAY:
        for (int64_t d = 0; d < args[0]; d++)
            n = size_mul(n, args[1 + d], &over);
        return over ? size_fail() : shape_repeat(s, n, extent);
    case DREP_KIND_CONTIGUOUS:
        return shape_repeat(s, args[0], extent);
    case DREP_KIND_VECTOR:
        return compose_vector(s, type, extent);
    case DREP_KIND_HVECTOR:
        return compose_vector(s, type, 1);
    case DREP_KIND_INDEXED:
        return compose_blocks(s, args[0], args_at(type, 1), 0, args_at(type, 1 + args[0]), extent);
    case DREP_KIND_HINDEXED:
        return compose_blocks(s, args[0], args_at(type, 1), 0, args_at(type, 1 + args[0]), 1);
    case DREP_KIND_INDEXED_BLOCK:
        return compose_blocks(s, args[0], NULL, args[1], args_at(type, 2), extent);
    case DREP_KIND_HINDEXED_BLOCK:
        return compose_blocks(s, args[0], NULL, args[1], args_at(type, 2), 1);
    case DREP_KIND_SUBARRAY:
        return compose_subarray(s, type);
    case DREP_KIND_DARRAY:
        return compose_darray(s, type);
    case DREP_KIND_RESIZED:
        n = size_add(args[0], args[1], &over);
        if (over)
            return size_fail();
        shape_mark(s, args[0], n);
        return 0;
    }
    return 0; /* enum, boolean, dup */
}

/* Stored layouts drop displacements and holes, so any constructor over one base is so many of it
 * back to back; the others place the base where the constructor says. */
int shape_compose(struct shape *out, const drep_type *type, const struct shape *members,
                  const struct type_sizes *sizes, enum prog_layout layout)
{
    struct shape s;
    int err;

    switch (type->kind) {
    case DREP_KIND_STRING:
    case DREP_KIND_OPAQUE:
        return type->text ? shape_leaf(out, type, type->args[0], 1, 1)
                          : shape_leaf(out, DREP_BYTE, 1, 1, type->args[0]);
    case DREP_KIND_STRUCT:
    case DREP_KIND_COMPOUND:
        return compose_struct(out, type, members, layout);
    case DREP_KIND_PREDEFINED:
    case DREP_KIND_SCALAR:
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_VSTRING:
    case DREP_KIND_REFERENCE:
        return compose_leaf(out, type, sizes);
    }
    shape_copy(&s, &members[0]);
    if (layout == PROG_PACKED || layout == PROG_STRUCT || layout == PROG_PLACED)
        err = compose_stored(&s, type);
    else
        err = compose_placed_base(&s, type);
    if (err) {
        shape_release(&s);
        return err;
    }
    *out = s;
    return 0;
}

/* -------------------------------------------------------------- other sizes */

/* The shapes of all members; a sequence's base lies elsewhere and has none. */
static int build_members(struct shape **out, const drep_type *type, const struct type_sizes *sizes,
                         enum prog_layout layout)
{
    int64_t n = type->kind == DREP_KIND_SEQUENCE ? 0 : type->nmembers;
    struct shape *members = mem_zalloc((uint64_t)n, sizeof(*members));
    int err = 0;

    if (!members)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n && !err; i++) {
        if (i > 0 && type->member[i] == type->member[i - 1])
            shape_copy(&members[i], &members[i - 1]);
        else
            err = shape_build(&members[i], type->member[i], sizes, layout);
    }
    if (!err) {
        *out = members;
        return 0;
    }
    for (int64_t i = 0; i < n; i++)
        shape_release(&members[i]);
    mem_free(members);
    return err;
}

static void members_free(struct shape *members, const drep_type *type)
{
    int64_t n = type->kind == DREP_KIND_SEQUENCE ? 0 : type->nmembers;

    for (int64_t i = 0; i < n; i++)
        shape_release(&members[i]);
    mem_free(members);
}

int shape_build(struct shape *out, const drep_type *type, const struct type_sizes *sizes,
                enum prog_layout layout)
{
    struct shape *members;
    int err = build_members(&members, type, sizes, layout);

    if (err)
        return err;
    err = shape_compose(out, type, members, sizes, layout);
    members_free(members, type);
    return err;
}

int prog_build(struct prog *out, const drep_type *type, const struct type_sizes *sizes,
               enum prog_layout layout)
{
    struct shape s;
    int err = shape_build(&s, type, sizes, layout);

    if (err)
        return err;
    err = prog_from(out, &s);
    shape_release(&s);
    return err;
}

static int placed_layout(const drep_type *type, const struct shape *members, int64_t *offsets,
                         int64_t *size, int64_t *align)
{
    int err = placed_apart(type, members);

    if (err)
        return err;
    for (int64_t i = 0; i < type->nmembers; i++)
        offsets[i] = type->displ[i];
    *size = type->ub;
    *align = 1;
    return 0;
}

int type_layout(const drep_type *type, const struct type_sizes *sizes, enum prog_layout layout,
                int64_t *offsets, int64_t *size, int64_t *align)
{
    bool structure = type->kind == DREP_KIND_STRUCT || type->kind == DREP_KIND_COMPOUND;
    struct shape *members;
    struct shape whole;
    int err;

    if (structure) {
        err = build_members(&members, type, sizes, layout);
        if (err)
            return err;
        if (layout == PROG_PLACED)
            err = placed_layout(type, members, offsets, size, align);
        else
            err = shape_layout(members, type->nmembers, type->blocklen, layout == PROG_PACKED,
                               offsets, size, align);
        members_free(members, type);
        return err;
    }
    err = shape_build(&whole, type, sizes, layout);
    if (err)
        return err;
    for (int64_t i = 0; i < type->nmembers; i++)
        offsets[i] = 0;
    *size = shape_extent(&whole);
    *align = layout == PROG_STRUCT ? whole.align : 1;
    shape_release(&whole);
    return 0;
}

int prog_flat(const struct prog *p, int64_t items, drep_run *runs, int max)
{
    drep_cursor cursor;
    int n = 0;

    if (cursor_init(&cursor, p, 0))
        return -1;
    for (; items > 0; items -= runs[n++].count)
        if (n == max || !cursor_next(&cursor, items, &runs[n]))
            return -1;
    return n;
}
