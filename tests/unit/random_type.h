/* random_type.h - random datatypes, each with its typemap expanded item by item.
 *
 * The expansion follows the standard's definitions copy by copy and knows nothing
 * of loops: it is the oracle for whatever the library compiles. */
/* SPDX-License-Identifier: MIT */
#ifndef RANDOM_TYPE_H
#define RANDOM_TYPE_H

#include "type/type.h"
#include "tests/unit/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX 400
enum { ORACLE_MEMORY, ORACLE_VIEW, ORACLES };

static uint64_t random_state = 1;

static inline uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1dull;
}

static inline int random_upto(int max) /* 0..max */
{
    return (int)((random_next() >> 33) % (uint64_t)(max + 1));
}

/* DREP_TEST_SEED, or the test's own: a failure names it. */
static inline uint64_t random_seed(uint64_t seed)
{
    const char *s = getenv("DREP_TEST_SEED");

    random_state = s ? strtoull(s, NULL, 10) : seed;
    random_state += !random_state;
    return random_state;
}

struct oracle_item {
    const drep_type *leaf;
    int64_t offset, size;
};

struct oracle {
    struct oracle_item *item;
    int64_t n;
    int64_t lb, ub, align;
    bool marked, blank;
};

struct sample {
    drep_type *type;
    struct oracle map[ORACLES];
};

/* The sizes of the view: external32's, alignments of no machine. */
static inline const struct type_sizes *view_sizes(void)
{
    static struct type_sizes s;

#define X(name, code, class, ext, internal, abi) \
    s.size[code] = ext;                          \
    s.align[code] = (ext) > 4 ? 4 : (ext);
#include "format/types.def"
#undef X
    s.vlen_size = 16;
    s.vlen_align = s.ref_align = 8;
    s.object_size = 8;
    s.region_size = 24;
    return &s;
}

static inline const struct type_sizes *sizes_of(int which)
{
    return which == ORACLE_MEMORY ? type_native_sizes() : view_sizes();
}

static inline int64_t leaf_size(const drep_type *leaf, const struct type_sizes *s)
{
    switch (leaf->kind) {
    case DREP_KIND_PREDEFINED:
        return s->size[leaf->code];
    case DREP_KIND_SCALAR:
        return leaf->scalar->size;
    case DREP_KIND_VSTRING:
        return s->vstring_size ? s->vstring_size : s->vlen_size;
    case DREP_KIND_REFERENCE:
        return leaf->args[0] ? s->region_size : s->object_size;
    }
    return s->vlen_size;
}

static inline void oracle_leaves(struct sample *t, const drep_type *leaf, int64_t n, int64_t align)
{
    for (int w = 0; w < ORACLES; w++) {
        struct oracle *o = &t->map[w];
        int64_t size = leaf_size(leaf, sizes_of(w));

        *o = (struct oracle){.n = n, .ub = n * size, .align = align};
        o->item = malloc((size_t)n * sizeof(*o->item) + 1);
        for (int64_t i = 0; i < n; i++)
            o->item[i] = (struct oracle_item){leaf, i * size, size};
    }
}

/* Copies of types, each at its displacement, one behind the other. */
struct copies {
    struct oracle sum, marks;
};

static inline void copies_init(struct copies *c)
{
    memset(c, 0, sizeof(*c));
    c->sum.blank = c->marks.blank = true;
    c->sum.align = 1;
}

static inline void oracle_bounds(struct oracle *sum, const struct oracle *o, int64_t at)
{
    if (sum->blank || o->lb + at < sum->lb)
        sum->lb = o->lb + at;
    if (sum->blank || o->ub + at > sum->ub)
        sum->ub = o->ub + at;
    sum->blank = false;
}

static inline void copies_add(struct copies *c, const struct oracle *o, int64_t at)
{
    struct oracle *s = &c->sum;

    if (o->blank)
        return;
    s->item = realloc(s->item, (size_t)(s->n + o->n) * sizeof(*s->item) + 1);
    for (int64_t i = 0; i < o->n; i++) {
        s->item[s->n] = o->item[i];
        s->item[s->n++].offset += at;
    }
    oracle_bounds(s, o, at);
    if (o->marked)
        oracle_bounds(&c->marks, o, at);
    if (o->align > s->align)
        s->align = o->align;
}

static inline void copies_end(struct copies *c, struct oracle *out)
{
    *out = c->sum;
    if (!c->marks.blank) {
        out->lb = c->marks.lb;
        out->ub = c->marks.ub;
        out->marked = true;
    }
}

static inline int64_t oracle_extent(const struct oracle *o)
{
    return o->ub - o->lb;
}

static inline int64_t up_to(int64_t a, int64_t align)
{
    while (a % align)
        a++;
    return a;
}

static inline void sample_release(struct sample *t)
{
    drep_type_free(t->type);
    for (int w = 0; w < ORACLES; w++)
        free(t->map[w].item);
    memset(t, 0, sizeof(*t));
}

static inline void random_leaf(struct sample *t)
{
    static const int codes[] = {DREP_CODE_BYTE,   DREP_CODE_INT,        DREP_CODE_INT,
                                DREP_CODE_DOUBLE, DREP_CODE_SHORT,      DREP_CODE_LONG,
                                DREP_CODE_CHAR,   DREP_CODE_LONG_DOUBLE};
    static const int64_t values[] = {-1, 5};
    static const char *const names[] = {"RED", "odd \"name\"\\\n"};
    drep_scalar scalar = {.cls = DREP_SCALAR_INT,
                          .order = DREP_LITTLE,
                          .size = 3,
                          .is_signed = 1,
                          .format = DREP_FORMAT_CUSTOM,
                          .precision = 20,
                          .offset = 2};
    int code = random_upto(2) ? codes[random_upto(7)] : 1 + random_upto(DREP_CODE_MAX - 1);
    int64_t n = 1 + random_upto(5);

    switch (random_upto(13)) {
    case 0:
        ck_assert_int_eq(drep_type_string(n, random_upto(2), &t->type), 0);
        oracle_leaves(t, DREP_BYTE, n, 1);
        return;
    case 1:
        ck_assert_int_eq(drep_type_opaque(n, random_upto(1) ? "a \"tag\"" : NULL, &t->type), 0);
        oracle_leaves(t, DREP_BYTE, n, 1);
        return;
    case 2:
        ck_assert_int_eq(drep_type_enum(DREP_INT16_T, 2, names, values, &t->type), 0);
        oracle_leaves(t, DREP_INT16_T, 1, 2);
        return;
    case 3:
        ck_assert_int_eq(drep_type_scalar(&scalar, &t->type), 0);
        oracle_leaves(t, t->type, 1, 1);
        return;
    case 4:
        if (random_upto(2) == 0)
            ck_assert_int_eq(drep_type_vstring(&t->type), 0);
        else if (random_upto(1))
            ck_assert_int_eq(drep_type_sequence(DREP_INT, &t->type), 0);
        else
            ck_assert_int_eq(drep_type_reference(random_upto(1), &t->type), 0);
        oracle_leaves(t, t->type, 1, t->type->align);
        return;
    case 5:
        ck_assert_int_eq(drep_type_boolean(DREP_C_BOOL, &t->type), 0);
        oracle_leaves(t, DREP_C_BOOL, 1, 1);
        return;
    }
    t->type = drep_type_ref(drep_predefined(code));
    oracle_leaves(t, t->type, 1, t->type->align);
}

static inline void random_sample(struct sample *t, int depth);

/* Blocks of one base: offsets in units of the base's extent, or in bytes. */
static inline void oracle_blocks(struct sample *t, const struct sample *base, int64_t n,
                                 const int64_t *lens, const int64_t *displs, bool bytes)
{
    for (int w = 0; w < ORACLES; w++) {
        const struct oracle *o = &base->map[w];
        struct copies c;

        copies_init(&c);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < lens[i]; k++)
                copies_add(&c, o,
                           (bytes ? displs[i] : displs[i] * oracle_extent(o)) +
                               k * oracle_extent(o));
        copies_end(&c, &t->map[w]);
        t->map[w].align = o->align;
    }
}

static inline void random_blocks(struct sample *t, const struct sample *base)
{
    int64_t lens[12], displs[12], step = random_upto(8) - 2;
    int64_t n = random_upto(random_upto(3) ? 4 : 12);
    int64_t at = random_upto(6) - 3;
    int how = random_upto(7);
    bool bytes = how & 1;
    bool regular = random_upto(1);
    int err = 0;

    for (int64_t i = 0; i < n; i++) {
        lens[i] = how >= 4 && i ? lens[0] : random_upto(3);
        if (how < 4 && regular && i)
            lens[i] = lens[0];
        displs[i] = at;
        at += regular ? step : random_upto(8) - 2;
    }
    if (how == 6 || how == 7) { /* a vector */
        int64_t len = n ? lens[0] : 1;

        for (int64_t i = 0; i < n; i++)
            displs[i] = i * step;
        err = bytes ? drep_type_hvector(n, len, step, base->type, &t->type)
                    : drep_type_vector(n, len, step, base->type, &t->type);
    } else if (how >= 4) {
        err = bytes ? drep_type_hindexed_block(n, n ? lens[0] : 2, displs, base->type, &t->type)
                    : drep_type_indexed_block(n, n ? lens[0] : 2, displs, base->type, &t->type);
    } else {
        err = bytes ? drep_type_hindexed(n, lens, displs, base->type, &t->type)
                    : drep_type_indexed(n, lens, displs, base->type, &t->type);
    }
    ck_assert_int_eq(err, 0);
    oracle_blocks(t, base, n, lens, displs, bytes);
}

static inline void random_contiguous(struct sample *t, const struct sample *base)
{
    int64_t dims[3] = {1 + random_upto(2), 1 + random_upto(2), 1 + random_upto(2)};
    int64_t len = random_upto(5);
    int64_t zero = 0;
    int rank = 1 + random_upto(2);

    if (random_upto(1)) {
        ck_assert_int_eq(drep_type_contiguous(len, base->type, &t->type), 0);
    } else {
        len = 1;
        for (int d = 0; d < rank; d++)
            len *= dims[d];
        ck_assert_int_eq(drep_type_array(rank, dims, base->type, &t->type), 0);
    }
    oracle_blocks(t, base, 1, &len, &zero, true);
}

/* Elements of an array that a test of its coordinates picks, in the order in which
 * they lie. */
struct grid {
    int rank, order;
    int64_t sizes[3];
    bool has[3][8]; /* by dimension and coordinate */
};

static inline void oracle_grid(struct sample *t, const struct sample *base, const struct grid *g)
{
    int64_t all = 1;

    for (int d = 0; d < g->rank; d++)
        all *= g->sizes[d];
    for (int w = 0; w < ORACLES; w++) {
        const struct oracle *o = &base->map[w];
        struct copies c;

        copies_init(&c);
        for (int64_t k = 0; k < all; k++) {
            int64_t rest = k;
            bool in = true;

            for (int i = 0; i < g->rank; i++) {
                int d = g->order == DREP_ORDER_C ? g->rank - 1 - i : i;

                in = in && g->has[d][rest % g->sizes[d]];
                rest /= g->sizes[d];
            }
            if (in)
                copies_add(&c, o, k * oracle_extent(o));
        }
        copies_end(&c, &t->map[w]);
        t->map[w].lb = 0;
        t->map[w].ub = all * oracle_extent(o);
        t->map[w].marked = true;
        t->map[w].blank = false;
        t->map[w].align = o->align;
    }
}

static inline void random_subarray(struct sample *t, const struct sample *base)
{
    struct grid g = {.rank = 1 + random_upto(2), .order = random_upto(1)};
    int64_t sub[3], start[3];

    for (int d = 0; d < g.rank; d++) {
        g.sizes[d] = 1 + random_upto(3);
        sub[d] = random_upto((int)g.sizes[d]);
        start[d] = random_upto((int)(g.sizes[d] - sub[d]));
        for (int64_t k = 0; k < g.sizes[d]; k++)
            g.has[d][k] = k >= start[d] && k < start[d] + sub[d];
    }
    ck_assert_int_eq(drep_type_subarray(g.rank, g.sizes, sub, start, g.order, base->type, &t->type),
                     0);
    oracle_grid(t, base, &g);
}

static inline void random_darray(struct sample *t, const struct sample *base)
{
    struct grid g = {.rank = 1 + random_upto(2), .order = random_upto(1)};
    int distrib[3], procs[3], coord[3], nprocs = 1, proc = 0;
    int64_t darg[3];

    for (int d = 0; d < g.rank; d++) {
        int64_t block;

        g.sizes[d] = 1 + random_upto(6);
        distrib[d] = random_upto(2);
        procs[d] = distrib[d] == DREP_DISTRIBUTE_NONE ? 1 : 1 + random_upto(2);
        coord[d] = random_upto(procs[d] - 1);
        darg[d] = DREP_DISTRIBUTE_DFLT_DARG;
        block = distrib[d] == DREP_DISTRIBUTE_CYCLIC ? 1 : (g.sizes[d] + procs[d] - 1) / procs[d];
        if (distrib[d] != DREP_DISTRIBUTE_NONE && random_upto(1)) {
            block += random_upto(2);
            darg[d] = block;
        }
        nprocs *= procs[d];
        proc = proc * procs[d] + coord[d];
        for (int64_t k = 0; k < g.sizes[d]; k++)
            g.has[d][k] = k / block % procs[d] == coord[d];
    }
    ck_assert_int_eq(drep_type_darray(nprocs, proc, g.rank, g.sizes, distrib, darg, procs, g.order,
                                      base->type, &t->type),
                     0);
    oracle_grid(t, base, &g);
}

static inline void random_members(struct sample *t, int depth)
{
    static const char *const names[] = {"a", "odd name", "c1", "\xc3\xa4\x01"};
    struct sample part[4];
    const drep_type *types[4];
    int64_t lens[4], displs[4], natural[4];
    int64_t end = 0;
    int64_t most = 1;
    int64_t size = 0;
    int n = random_upto(4);
    bool compound = random_upto(1);
    bool placed = random_upto(2) > 0;
    bool regular = random_upto(3) == 0;

    for (int i = 0; i < n; i++) {
        const struct oracle *o;

        if (i && regular)
            part[i] = part[0];
        else
            random_sample(&part[i], depth - 1);
        o = &part[i].map[ORACLE_MEMORY];
        types[i] = part[i].type;
        lens[i] = compound ? 1 : random_upto(2);
        if (!o->blank && lens[i])
            end = up_to(end, o->align);
        natural[i] = end - o->lb;
        end += lens[i] * oracle_extent(o);
        if (!o->blank && lens[i] && o->align > most)
            most = o->align;
        displs[i] = regular ? i * 24 : random_upto(40) - (compound ? 0 : 10);
        if (compound) /* inside, however low its items lie */
            displs[i] += 2000;
    }
    /* A compound takes no members put before it. */
    for (int i = 0; i < n; i++) {
        const drep_type *m = types[i];
        int64_t low = m->items && m->true_lb < m->lb ? m->true_lb : m->lb;

        compound = compound && (m->blank || (placed ? displs[i] : natural[i]) + low >= 0);
    }
    if (compound)
        ck_assert_int_eq(drep_type_compound(n, names, placed ? displs : NULL, types, 0, &t->type),
                         0);
    else
        ck_assert_int_eq(drep_type_struct(n, lens, placed ? displs : NULL, types, &t->type), 0);
    if (compound && random_upto(2) == 0 && t->type->true_ub <= t->type->ub) {
        size = t->type->ub + random_upto(3);
        drep_type_free(t->type);
        ck_assert_int_eq(
            drep_type_compound(n, names, placed ? displs : NULL, types, size, &t->type), 0);
        if (size == t->type->ub && t->type->args[n + 1] == 0)
            size = 0;
    }
    for (int w = 0; w < ORACLES; w++) {
        struct oracle *out = &t->map[w];
        struct copies c;

        copies_init(&c);
        for (int i = 0; i < n; i++)
            for (int64_t k = 0; k < lens[i]; k++) {
                struct oracle o = part[i].map[w];

                o.marked = o.marked && !compound && placed;
                copies_add(&c, &o, (placed ? displs[i] : natural[i]) + k * oracle_extent(&o));
            }
        copies_end(&c, out);
        if (compound || !placed) {
            out->lb = 0;
            out->ub = out->ub > 0 ? out->ub : 0;
            out->align = most;
        }
        if (size)
            out->ub = size;
        else if (w == ORACLE_MEMORY && !out->marked)
            out->ub = out->lb + up_to(out->ub - out->lb, out->align);
        out->blank = !out->n && !out->marked && out->ub == out->lb;
    }
    for (int i = 0; i < n; i++)
        if (!(i && regular))
            sample_release(&part[i]);
}

static inline void random_resized(struct sample *t, const struct sample *base)
{
    int64_t lb = random_upto(10) - 5;
    int64_t extent = random_upto(60);
    int64_t one = 1;
    int64_t zero = 0;

    ck_assert_int_eq(drep_type_resized(lb, extent, base->type, &t->type), 0);
    oracle_blocks(t, base, 1, &one, &zero, true);
    for (int w = 0; w < ORACLES; w++) {
        t->map[w].lb = lb;
        t->map[w].ub = lb + extent;
        t->map[w].marked = true;
        t->map[w].blank = false;
    }
}

static inline void random_sample(struct sample *t, int depth)
{
    struct sample base;
    int64_t one = 1;
    int64_t zero = 0;

    if (depth <= 1 || random_upto(9) == 0) {
        random_leaf(t);
        return;
    }
    if (random_upto(3) == 0) {
        random_members(t, depth);
    } else {
        random_sample(&base, depth - 1);
        switch (random_upto(9)) {
        case 0:
        case 1:
        case 2:
        case 3:
            random_blocks(t, &base);
            break;
        case 4:
        case 5:
            random_contiguous(t, &base);
            break;
        case 6:
            random_subarray(t, &base);
            break;
        case 7:
            random_darray(t, &base);
            break;
        case 8:
            random_resized(t, &base);
            break;
        default:
            ck_assert_int_eq(drep_type_dup(base.type, &t->type), 0);
            oracle_blocks(t, &base, 1, &one, &zero, true);
        }
        sample_release(&base);
    }
    if (t->map[0].n <= ITEMS_MAX)
        return;
    sample_release(t); /* too big to try every position of */
    random_leaf(t);
}

#endif
