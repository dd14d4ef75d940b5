/* get.c - a datatype record's way out of a file.
 *
 * One walk builds two things: the type as this machine would hold it, and the typemap
 * that the record describes.  Everything read is hostile until checked. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/record.h"

#include <datarep.h>
#include <string.h>

#define LAID_OUT 1

struct getter {
    struct in *in;
    const struct type_sizes *sizes;
    bool stored; /* build shapes */
    bool placed; /* types lie in memory as the record says */
    int depth, sequences;
};

static int get_type(struct getter *g, drep_type **type, struct shape *shape);

static int in_error(struct getter *g)
{
    return fail(g->in->err, "datatype record: %s at byte %zu", g->in->why ? g->in->why : "error",
                g->in->err_at);
}

static int getter_fail(struct getter *g, int err, const char *why)
{
    if (!g->in->err)
        in_fail(g->in, err, why);
    return in_error(g);
}

static int size_beyond(void)
{
    return fail(DREP_ERR_UNSUPPORTED,
                FMT_BEYOND("datatype record: a size of more than 2^62", "R5.11"));
}

/* Report a record that a constructor refuses as malformed: no writer wrote it. `kind` is that of
 * its node. */
static int refused_kind(struct getter *g, int err, int kind)
{
    const char *rule = err == DREP_ERR_NAME          ? "R5.15"
                       : err == DREP_ERR_TYPE        ? "R5.13"
                       : kind >= FMT_KIND_CONTIGUOUS ? "R5.38"
                                                     : "R5.7";

    if (err == DREP_ERR_VALUE_TOO_LARGE && kind != FMT_KIND_ENUM)
        return size_beyond();
    if (err != DREP_ERR_ARG && err != DREP_ERR_COUNT && err != DREP_ERR_DIMS &&
        err != DREP_ERR_NAME && err != DREP_ERR_TYPE)
        return fail_in(err, "datatype record: at byte %zu", g->in->last);
    return fail_in(DREP_ERR_FORMAT, "datatype record (%s): at byte %zu", rule, g->in->last);
}

static int refused(struct getter *g, int err)
{
    return refused_kind(g, err, 0);
}

/* Like refused() for a stored typemap: the representation may lack a datatype. */
static int refused_shape(struct getter *g, int err)
{
    return err == DREP_ERR_TYPE
               ? fail_in(DREP_ERR_FORMAT, "datatype record (R3.15): at byte %zu", g->in->last)
               : refused(g, err);
}

/* The stored typemap of a node whose children, if any, are in *child. */
static int getter_stored_shape(struct getter *g, const drep_type *type, const struct shape *child,
                               struct shape *shape)
{
    if (!g->stored)
        return 0;
    return refused_shape(g, shape_compose(shape, type, child, g->sizes, PROG_PACKED));
}

/* Kinds without children. */
static int get_leaf(struct getter *g, const struct type_node *n, drep_type **type)
{
    drep_scalar s;
    char *tag;
    int err;

    switch (n->kind) {
    case FMT_KIND_PREDEFINED:
        *type = drep_type_ref(drep_predefined(n->code));
        return *type ? 0 : getter_fail(g, DREP_ERR_UNSUPPORTED, "unknown predefined datatype");
    case FMT_KIND_SCALAR:
        scalar_from_rec(&n->scalar, &s);
        return refused(g, drep_type_scalar(&s, type));
    case FMT_KIND_STRING:
        return refused(g, drep_type_string((int64_t)n->size, n->pad, type));
    case FMT_KIND_VSTRING:
        return refused(g, drep_type_vstring(type));
    case FMT_KIND_REFERENCE:
        return refused(g, drep_type_reference(n->what, type));
    }
    tag = mem_strndup((const char *)n->tag.p, n->tag.len);
    if (!tag)
        return DREP_ERR_NOMEM;
    err = refused(g, drep_type_opaque((int64_t)n->size, tag, type));
    mem_free(tag);
    return err;
}

/* Names and numbers of a list, and children, as many as the node says.  A count has
 * been held against the bytes left before it came here. */
struct entry_list {
    int64_t n, named; /* entries; those with a name */
    char **name;
    int64_t *a, *b;
    drep_type **type;
    struct shape *shape;
};

static int list_init(struct entry_list *l, uint64_t count)
{
    size_t n = (size_t)count; /* of bytes in memory at most */

    memset(l, 0, sizeof(*l));
    l->n = (int64_t)n;
    l->name = mem_zalloc(n, sizeof(*l->name));
    l->a = mem_zalloc(n, sizeof(*l->a));
    l->b = mem_zalloc(n, sizeof(*l->b));
    l->type = mem_zalloc(n, sizeof(*l->type));
    l->shape = mem_zalloc(n, sizeof(*l->shape));
    return l->name && l->a && l->b && l->type && l->shape ? 0 : DREP_ERR_NOMEM;
}

static void list_release(struct entry_list *l)
{
    for (int64_t i = 0; i < l->n; i++) {
        if (l->name)
            mem_free(l->name[i]);
        if (l->type)
            drep_type_free(l->type[i]);
        if (l->shape)
            shape_release(&l->shape[i]);
    }
    mem_free(l->name);
    mem_free(l->a);
    mem_free(l->b);
    mem_free(l->type);
    mem_free(l->shape);
}

static int get_member(struct getter *g, uint8_t kind, struct type_member *m)
{
    return type_member_get(g->in, kind, m) ? in_error(g) : 0;
}

/* Read an entry of a node's list, and its child where there is one. */
static int get_entry(struct getter *g, uint8_t kind, struct entry_list *l, int64_t i)
{
    bool named = kind == FMT_KIND_ENUM || kind == FMT_KIND_COMPOUND;
    bool parent = kind == FMT_KIND_COMPOUND || kind == FMT_KIND_STRUCT;
    struct type_member m;
    int err = get_member(g, kind, &m);

    if (err)
        return err;
    l->a[i] = kind == FMT_KIND_ENUM       ? m.value
              : kind == FMT_KIND_COMPOUND ? (int64_t)m.offset
                                          : m.blocklen;
    l->b[i] = m.displ;
    if (named) {
        l->named += m.name.len > 0;
        l->name[i] = mem_strndup((const char *)m.name.p, m.name.len);
        if (!l->name[i])
            return DREP_ERR_NOMEM;
    }
    return parent ? get_type(g, &l->type[i], &l->shape[i]) : 0;
}

/* Read all entries of a node's list; the caller releases it by list_release(), after an error
 * too. */
static int get_list(struct getter *g, const struct type_node *n, struct entry_list *l)
{
    int err = list_init(l, n->count);

    for (int64_t i = 0; i < l->n && !err; i++)
        err = get_entry(g, n->kind, l, i);
    return err;
}

static int get_enum(struct getter *g, const struct type_node *n, drep_type **type)
{
    struct shape base_shape = {0};
    drep_type *base = NULL;
    struct entry_list l;
    int err = get_list(g, n, &l);

    if (!err)
        err = get_type(g, &base, &base_shape);
    if (!err)
        err =
            refused_kind(g, type_enum(base, l.n, (const char *const *)l.name, l.a, type), n->kind);
    shape_release(&base_shape);
    drep_type_free(base);
    list_release(&l);
    return err;
}

/* The stored typemap of a compound's members at their offsets (l->a), which may come in any order
 * and leave gaps. */
static int compound_shape(const struct type_node *n, struct entry_list *l, struct shape *shape)
{
    struct shape made;
    int err = shape_place(&made, l->shape, l->n, l->a, (int64_t)n->size);

    if (err)
        return err == DREP_ERR_VALUE_TOO_LARGE ? size_beyond() : err;
    err = fail_in(shape_apart(l->shape, l->n, NULL, l->a, (int64_t)n->size), "datatype record");
    if (err)
        shape_release(&made);
    else
        *shape = made;
    return err;
}

/* Keeps the offsets for transfers that take members by name. */
static int store_offsets(const struct type_node *n, const struct entry_list *l, drep_type *type)
{
    type->placed = mem_array((uint64_t)l->n + 1, sizeof *type->placed);
    if (!type->placed)
        return DREP_ERR_NOMEM;
    memcpy(type->placed, l->a, (size_t)l->n * sizeof *l->a);
    type->placed[l->n] = (int64_t)n->size;
    return 0;
}

/* Make a struct of members without names, which `size` bytes hold; 0: as C lays it out. */
static int make_struct(const struct entry_list *l, int64_t size, drep_type **type)
{
    const drep_type *const *types = (const drep_type *const *)l->type;
    drep_type *made;
    int err = drep_type_struct(l->n, NULL, size > 0 ? l->a : NULL, types, &made);

    if (err)
        return err;
    if (size == 0) {
        *type = made;
        return 0;
    }
    err = drep_type_resized(0, size, made, type);
    drep_type_free(made);
    return err;
}

/* All members have names, or none has: then it is a struct. */
static int make_compound(struct getter *g, const struct type_node *n, const struct entry_list *l,
                         drep_type **type)
{
    const drep_type *const *types = (const drep_type *const *)l->type;
    int64_t size = g->placed ? (int64_t)n->size : 0;

    if (l->named && l->named != l->n)
        return getter_fail(g, DREP_ERR_FORMAT, "some members of a compound have no names (R5.15)");
    if (!l->named)
        return refused(g, make_struct(l, size, type));
    return refused(g, drep_type_compound(l->n, (const char *const *)l->name,
                                         g->placed ? l->a : NULL, types, size, type));
}

/* Read a compound. A stored one states offsets, which may differ from this machine's: the type
 * is made as the compiler would lay it out, the shape as the record says. */
static int get_compound(struct getter *g, const struct type_node *n, drep_type **type,
                        struct shape *shape)
{
    drep_type *made = NULL;
    struct entry_list l;
    int err;

    if (n->count == 0)
        return getter_fail(g, DREP_ERR_FORMAT, "a compound without members (R5.7)");
    if ((g->stored != 0) != ((n->flags & LAID_OUT) != 0))
        return getter_fail(g, DREP_ERR_FORMAT,
                           g->stored ? "a stored compound that is not laid out (R5.17)"
                                     : "a compound that is laid out for nothing (R5.17)");
    err = get_list(g, n, &l);
    for (int64_t i = 0; i < l.n && !err && !g->stored; i++)
        if (l.a[i])
            err = getter_fail(g, DREP_ERR_FORMAT,
                              "offsets in a compound that is not laid out (R5.17)");
    if (!err)
        err = make_compound(g, n, &l, &made);
    if (!err && g->stored)
        err = store_offsets(n, &l, made);
    if (!err && g->stored)
        err = compound_shape(n, &l, shape);
    if (err)
        drep_type_free(made);
    else
        *type = made;
    list_release(&l);
    return err;
}

/* Kinds with one child and nothing else but numbers in the node. */
static int get_over_base(struct getter *g, const struct type_node *n, drep_type **type,
                         struct shape *shape)
{
    struct shape base_shape = {0};
    drep_type *base = NULL;
    drep_type *made = NULL;
    int64_t dims[FMT_RANK_MAX];
    int err = get_type(g, &base, &base_shape);

    if (err)
        return err;
    for (int d = 0; d < n->rank; d++)
        dims[d] = (int64_t)n->dim[d];
    switch (n->kind) {
    case FMT_KIND_BOOLEAN:
        err = drep_type_boolean(base, &made);
        break;
    case FMT_KIND_ARRAY:
        err = drep_type_array(n->rank, dims, base, &made);
        break;
    case FMT_KIND_SEQUENCE:
        err = drep_type_sequence(base, &made);
        break;
    case FMT_KIND_CONTIGUOUS:
        err = drep_type_contiguous(n->arg[0], base, &made);
        break;
    case FMT_KIND_VECTOR:
        err = drep_type_vector(n->arg[0], n->arg[1], n->arg[2], base, &made);
        break;
    case FMT_KIND_HVECTOR:
        err = drep_type_hvector(n->arg[0], n->arg[1], n->arg[2], base, &made);
        break;
    case FMT_KIND_RESIZED:
        err = drep_type_resized(n->arg[0], n->arg[1], base, &made);
        break;
    default:
        err = drep_type_dup(base, &made);
    }
    err = refused_kind(g, err, n->kind);
    if (!err)
        err = getter_stored_shape(g, made, &base_shape, shape);
    if (!err && g->stored && n->kind == FMT_KIND_SEQUENCE &&
        (err = prog_from(&made->content, &base_shape)))
        shape_release(shape);
    shape_release(&base_shape);
    drep_type_free(base);
    if (err)
        drep_type_free(made);
    else
        *type = made;
    return err;
}

/* indexed, hindexed and their blocks. */
static int get_blocks(struct getter *g, const struct type_node *n, drep_type **type)
{
    struct shape none = {0};
    drep_type *base = NULL;
    struct entry_list l;
    int err = get_list(g, n, &l);

    if (!err)
        err = get_type(g, &base, &none);
    if (!err && n->kind == FMT_KIND_INDEXED)
        err = refused_kind(g, drep_type_indexed(l.n, l.a, l.b, base, type), n->kind);
    else if (!err && n->kind == FMT_KIND_HINDEXED)
        err = refused_kind(g, drep_type_hindexed(l.n, l.a, l.b, base, type), n->kind);
    else if (!err && n->kind == FMT_KIND_INDEXED_BLOCK)
        err = refused_kind(g, drep_type_indexed_block(l.n, n->arg[0], l.b, base, type), n->kind);
    else if (!err)
        err = refused_kind(g, drep_type_hindexed_block(l.n, n->arg[0], l.b, base, type), n->kind);
    drep_type_free(base);
    list_release(&l);
    return err;
}

static int get_struct(struct getter *g, const struct type_node *n, drep_type **type)
{
    struct entry_list l;
    int err = get_list(g, n, &l);

    if (!err)
        err = refused_kind(
            g, drep_type_struct(l.n, l.a, l.b, (const drep_type *const *)l.type, type), n->kind);
    list_release(&l);
    return err;
}

/* subarray and darray. */
static int get_part(struct getter *g, const struct type_node *n, drep_type **type)
{
    int64_t sub[4][FMT_RANK_MAX];
    int distribs[FMT_RANK_MAX], procs[FMT_RANK_MAX];
    struct shape none = {0};
    drep_type *base = NULL;
    struct type_member m;
    int err;

    for (int d = 0; d < n->rank; d++) {
        err = get_member(g, n->kind, &m);
        if (err)
            return err;
        for (int k = 0; k < 4; k++)
            sub[k][d] = m.sub[k];
        distribs[d] = (int)(m.sub[1] & 255);
        procs[d] = m.sub[3] > INT32_MAX ? -1 : (int)m.sub[3];
    }
    if (n->arg[0] > INT32_MAX || n->arg[1] > INT32_MAX)
        return getter_fail(g, DREP_ERR_FORMAT, "too many processes (R5.38)");
    err = get_type(g, &base, &none);
    if (!err && n->kind == FMT_KIND_SUBARRAY)
        err = refused_kind(
            g, drep_type_subarray(n->rank, sub[0], sub[1], sub[2], n->order, base, type), n->kind);
    else if (!err)
        err = refused_kind(g,
                           drep_type_darray((int)n->arg[0], (int)n->arg[1], n->rank, sub[0],
                                            distribs, sub[2], procs, n->order, base, type),
                           n->kind);
    drep_type_free(base);
    return err;
}

/* Read a node by its kind. For stored elements type and shape are made side by side: the type
 * for the user's memory, the shape for the bytes of the file. */
static int get_node(struct getter *g, const struct type_node *n, drep_type **type,
                    struct shape *shape)
{
    drep_type *leaf = NULL;
    int err;

    switch (n->kind) {
    case FMT_KIND_COMPOUND:
        return get_compound(g, n, type, shape);
    case FMT_KIND_BOOLEAN:
    case FMT_KIND_ARRAY:
    case FMT_KIND_SEQUENCE:
    case FMT_KIND_CONTIGUOUS:
    case FMT_KIND_VECTOR:
    case FMT_KIND_HVECTOR:
    case FMT_KIND_RESIZED:
    case FMT_KIND_DUP:
        return get_over_base(g, n, type, shape);
    case FMT_KIND_INDEXED:
    case FMT_KIND_HINDEXED:
    case FMT_KIND_INDEXED_BLOCK:
    case FMT_KIND_HINDEXED_BLOCK:
        return get_blocks(g, n, type);
    case FMT_KIND_STRUCT:
        return get_struct(g, n, type);
    case FMT_KIND_SUBARRAY:
    case FMT_KIND_DARRAY:
        return get_part(g, n, type);
    }
    err = n->kind == FMT_KIND_ENUM ? get_enum(g, n, &leaf) : get_leaf(g, n, &leaf);
    if (err)
        return err;
    if (n->kind == FMT_KIND_ENUM && g->stored)
        err = refused_shape(g, shape_build(shape, leaf->member[0], g->sizes, PROG_PACKED));
    else
        err = getter_stored_shape(g, leaf, NULL, shape);
    if (err)
        drep_type_free(leaf);
    else
        *type = leaf;
    return err;
}

static int get_type(struct getter *g, drep_type **type, struct shape *shape)
{
    struct type_node n;
    bool sequence;
    int err;

    if (g->depth >= FMT_TYPE_DEPTH_MAX)
        return getter_fail(g, DREP_ERR_UNSUPPORTED,
                           FMT_BEYOND("more than 64 nested nodes", "R5.10"));
    if (type_node_get(g->in, &n))
        return in_error(g);
    if (g->stored && n.kind >= FMT_KIND_CONTIGUOUS)
        return getter_fail(g, DREP_ERR_FORMAT, "an element made of a typemap (R5.16)");
    sequence = n.kind == FMT_KIND_SEQUENCE || n.kind == FMT_KIND_VSTRING;
    if (sequence && g->sequences >= FMT_SEQ_DEPTH_MAX)
        return getter_fail(g, DREP_ERR_UNSUPPORTED,
                           FMT_BEYOND("more than 8 nested sequences", "R5.10"));
    g->depth++;
    g->sequences += sequence;
    err = get_node(g, &n, type, shape);
    g->sequences -= sequence;
    g->depth--;
    return err;
}

int type_get(struct in *in, const struct type_sizes *sizes, drep_type **type, struct prog *stored)
{
    struct getter g = {.in = in, .sizes = sizes, .stored = stored != NULL};
    struct shape shape = {0};
    drep_type *t = NULL;
    struct prog p;
    int err = get_type(&g, &t, &shape);

    if (!err && stored)
        err = prog_from(&p, &shape);
    shape_release(&shape);
    if (err) {
        drep_type_free(t);
        return err;
    }
    if (stored)
        *stored = p;
    *type = t;
    return 0;
}

int type_get_placed(struct in *in, const struct type_sizes *sizes, drep_type **type)
{
    struct getter g = {.in = in, .sizes = sizes, .stored = true, .placed = true};
    struct shape shape = {0};
    drep_type *t = NULL;
    int err = get_type(&g, &t, &shape);

    shape_release(&shape);
    if (err)
        drep_type_free(t);
    else
        *type = t;
    return err;
}
