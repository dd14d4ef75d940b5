/* test_rep_convert.c - random typemaps through the engine and the dispatcher.
 *
 * The oracle converts one item at a time, at the offset that the expansion of the
 * typemap gives it (random_type.h).  Whatever way the engine takes, and however a
 * transfer is cut into calls, the bytes must be those.  U5-U8, U10, D7. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/dispatch.h"
#include "rep/packed.h"
#include "rep/pick.h"
#include "rep/rep.h"
#include "rep/encodings.h"
#include "tests/unit/bytes.h"
#include "tests/unit/random_type.h"

#include <math.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SAMPLES = 1500 };
#else
enum { SAMPLES = 40000 };
#endif

static const struct rep_opts wrap = {.range = DREP_RANGE_WRAP};

/* A sample laid out in memory, and what its items are when stored one behind the other. */
struct layout {
    struct sample sample;
    int64_t tiles, items; /* items in all tiles */
    uint8_t *room, *user; /* memory; where tile 0 begins in it */
    int64_t size;         /* of room */
    int64_t *at;          /* where each item begins when packed; items + 1 */
    uint8_t *packed;
    bool overlaps;
};

static const struct oracle_item *item_at(const struct layout *l, int64_t i, int64_t *offset)
{
    const struct oracle *o = &l->sample.map[ORACLE_MEMORY];
    const struct oracle_item *item = &o->item[i % o->n];

    *offset = i / o->n * oracle_extent(o) + item->offset;
    return item;
}

/* One item, alone. */
static void convert_one(const struct rep_table *to, void *dst, const struct rep_table *from,
                        const void *src, const drep_type *leaf)
{
    struct kernel k;

    if (kernel_pick(&k, to, leaf, from, leaf, &wrap) != 0)
        ck_abort_msg("%s", drep_error());
    kernel_run(&k, dst, 0, src, 0, 1, 0);
}

static int packed_bytes(const struct rep_table *t, const drep_type *leaf)
{
    return leaf->kind == DREP_KIND_SCALAR ? leaf->scalar->size : t->row[leaf->code].size;
}

static void find_room(struct layout *l)
{
    int64_t low = 0, high = 0, offset, i, b;
    uint8_t *seen;

    for (i = 0; i < l->items; i++) {
        const struct oracle_item *item = item_at(l, i, &offset);

        low = offset < low ? offset : low;
        high = offset + item->size > high ? offset + item->size : high;
    }
    l->size = high - low + 1;
    l->room = malloc((size_t)l->size);
    l->user = l->room - low;
    seen = calloc((size_t)l->size, 1);
    for (i = 0; i < l->items; i++) {
        const struct oracle_item *item = item_at(l, i, &offset);

        for (b = 0; b < item->size; b++)
            l->overlaps |= seen[offset - low + b]++ != 0;
    }
    free(seen);
}

/* false: the sample has no items, or items of variable length. */
static bool layout_init(struct layout *l, struct rnd *r, const struct rep_table *table)
{
    int64_t i, offset;

    memset(l, 0, sizeof *l);
    random_sample(&l->sample, 4);
    l->tiles = 1 + (int64_t)rnd_below(r, rnd_below(r, 3) ? 4 : 40);
    l->items = l->sample.map[ORACLE_MEMORY].n * l->tiles;
    for (i = 0; i < l->sample.map[ORACLE_MEMORY].n; i++) {
        const drep_type *leaf = l->sample.map[ORACLE_MEMORY].item[i].leaf;

        if (leaf->kind != DREP_KIND_PREDEFINED && leaf->kind != DREP_KIND_SCALAR)
            l->items = 0;
    }
    if (l->items == 0) {
        sample_release(&l->sample);
        return false;
    }
    find_room(l);
    rnd_fill(r, l->room, (size_t)l->size);
    l->at = malloc((size_t)(l->items + 1) * sizeof *l->at);
    l->at[0] = 0;
    for (i = 0; i < l->items; i++)
        l->at[i + 1] = l->at[i] + packed_bytes(table, item_at(l, i, &offset)->leaf);
    l->packed = malloc((size_t)l->at[l->items] + 1);
    for (i = 0; i < l->items; i++) {
        const struct oracle_item *item = item_at(l, i, &offset);

        convert_one(table, l->packed + l->at[i], rep_native(), l->user + offset, item->leaf);
    }
    return true;
}

static void layout_release(struct layout *l)
{
    sample_release(&l->sample);
    free(l->room);
    free(l->at);
    free(l->packed);
}

static void pick_range(const struct layout *l, struct rnd *r, int64_t *first, int64_t *n)
{
    *first = (int64_t)rnd_below(r, (uint64_t)l->items);
    *n = 1 + (int64_t)rnd_below(r, (uint64_t)(l->items - *first));
    if (rnd_below(r, 3) == 0) {
        *first = 0;
        *n = l->items;
    }
}

/* What memory must be after items [first, first + n) were read into it. */
static uint8_t *read_oracle(const struct layout *l, const struct rep_table *table, int64_t first,
                            int64_t n)
{
    uint8_t *room = malloc((size_t)l->size), *user = room + (l->user - l->room);
    int64_t i, offset;

    memset(room, 0x3c, (size_t)l->size);
    for (i = first; i < first + n; i++) {
        const struct oracle_item *item = item_at(l, i, &offset);

        convert_one(rep_native(), user + offset, table, l->packed + l->at[i], item->leaf);
    }
    return room;
}

static bool untouched(const uint8_t *p, int64_t from, int64_t to, uint8_t fill)
{
    for (; from < to; from++)
        if (p[from] != fill)
            return false;
    return true;
}

/* Converts items in up to three pieces. */
static void in_pieces(struct rnd *r, void *dst, struct rep_side *to, const void *src,
                      struct rep_side *from, int64_t n)
{
    int64_t piece, done;

    while (n > 0) {
        piece = rnd_below(r, 2) ? n : 1 + (int64_t)rnd_below(r, (uint64_t)n);
        if (rep_convert(dst, to, src, from, piece, &wrap, &done) != 0 || done != piece)
            ck_abort_msg("%s", drep_error());
        to->position += piece;
        from->position += piece;
        n -= piece;
    }
}

static void check_engine(struct layout *l, struct rnd *r, const struct rep_table *table)
{
    struct type_sizes sizes;
    struct prog prog;
    struct rep_side file = {&prog, table, 0};
    struct rep_side user = {&l->sample.type->prog, rep_native(), 0};
    int64_t first, n, size = l->at[l->items];
    uint8_t *out = malloc((size_t)size + 1), *memory, *want;

    pick_range(l, r, &first, &n);
    rep_table_sizes(table, &sizes);
    ck_assert_int_eq(prog_build(&prog, l->sample.type, &sizes, PROG_PACKED), 0);
    file.position = user.position = first;
    memset(out, 0xa5, (size_t)size);
    in_pieces(r, out, &file, l->user, &user, n);
    if (memcmp(out + l->at[first], l->packed + l->at[first],
               (size_t)(l->at[first + n] - l->at[first])) != 0 ||
        !untouched(out, 0, l->at[first], 0xa5) || !untouched(out, l->at[first + n], size, 0xa5))
        ck_abort_msg("written: items %lld of %lld from %lld on", (long long)n, (long long)l->items,
                     (long long)first);
    if (!l->overlaps) {
        want = read_oracle(l, table, first, n);
        memory = malloc((size_t)l->size);
        memset(memory, 0x3c, (size_t)l->size);
        file.position = user.position = first;
        in_pieces(r, memory + (l->user - l->room), &user, l->packed, &file, n);
        if (memcmp(memory, want, (size_t)l->size) != 0)
            ck_abort_msg("read: items %lld of %lld from %lld on", (long long)n, (long long)l->items,
                         (long long)first);
        free(memory);
        free(want);
    }
    prog_release(&prog);
    free(out);
}

/* The same through conversion functions, in calls of any size. */
static void check_dispatch(struct layout *l, struct rnd *r, const struct datarep *rep,
                           const struct rep_table *table)
{
    int64_t first, n, size, done, used, staging;
    uint8_t *out, *memory, *want;
    const drep_type *type = l->sample.type;

    pick_range(l, r, &first, &n);
    size = l->at[first + n] - l->at[first];
    staging = (int64_t)rnd_below(r, (uint64_t)size + 40);
    out = malloc((size_t)size + 1);
    memset(out, 0xa5, (size_t)size + 1);
    if (rep_write_items(rep, NULL, l->user, type, first, n, out, staging, &done, &used) != 0)
        ck_abort_msg("%s", drep_error());
    if (done != n || used != size || out[size] != 0xa5 ||
        memcmp(out, l->packed + l->at[first], (size_t)size) != 0)
        ck_abort_msg("written by functions: %lld items from %lld on, staging %lld", (long long)n,
                     (long long)first, (long long)staging);
    free(out);
    if (l->overlaps)
        return;
    want = read_oracle(l, table, first, n);
    memory = malloc((size_t)l->size);
    memset(memory, 0x3c, (size_t)l->size);
    if (rep_read_items(rep, NULL, memory + (l->user - l->room), type, first, n,
                       l->packed + l->at[first], staging, &done, &used) != 0)
        ck_abort_msg("%s", drep_error());
    if (done != n || used != size || memcmp(memory, want, (size_t)l->size) != 0)
        ck_abort_msg("read by functions: %lld items from %lld on, staging %lld", (long long)n,
                     (long long)first, (long long)staging);
    free(memory);
    free(want);
}

/* The sizes of items in any range, from the tree of loops. */
static void check_sizes(const struct layout *l, struct rnd *r, const struct rep_table *table)
{
    struct type_sizes sizes;
    int64_t first, n, size;

    pick_range(l, r, &first, &n);
    rep_table_sizes(table, &sizes);
    ck_assert_int_eq(packed_size(&sizes, l->sample.type, first, n, &size), 0);
    ck_assert_int_eq(size, l->at[first + n] - l->at[first]);
}

/* D7: every case through both forms of a representation. */
START_TEST(test_U6_any_cut_of_any_type_gives_the_same_bytes)
{
    static const char *const names[] = {"external32",   "internal",    "native:i386",
                                        "native:ppc64", "native:m68k", "native"};
    struct layout l;
    struct rnd r;
    int i;

    rnd_init(&r, 5);
    random_seed(77);
    for (i = share_of(SAMPLES); i > 0; i--) {
        const struct datarep *rep = rep_find(names[i % 6]);

        isa_limit((enum isa)(i % (ISAS + 1)));
        if (!layout_init(&l, &r, rep->table))
            continue;
        check_engine(&l, &r, rep->table);
        check_dispatch(&l, &r, rep, rep->table);
        check_sizes(&l, &r, rep->table);
        layout_release(&l);
    }
    isa_limit(ISAS);
}
END_TEST

/* ------------------------------------------------------- any two typemaps */

/* The items of `tiles` tiles of a sample, elsewhere: in order, with gaps, in a type of
 * its own. */
struct elsewhere {
    drep_type *type;
    int64_t n, *offset;
};

static void elsewhere_init(struct elsewhere *e, const struct layout *l, struct rnd *r,
                           int64_t tiles)
{
    int64_t per = l->sample.map[ORACLE_MEMORY].n, at = 0, offset, i, size;
    const drep_type **leaf;
    int64_t *displ;
    drep_type *bare;

    e->n = per * tiles;
    leaf = malloc((size_t)e->n * sizeof *leaf);
    displ = e->offset = malloc((size_t)e->n * sizeof *displ);
    for (i = 0; i < e->n; i++) {
        leaf[i] = item_at(l, i, &offset)->leaf;
        at += rnd_below(r, 4) ? 0 : (int64_t)rnd_below(r, 20);
        displ[i] = at;
        at += drep_type_size(leaf[i]);
    }
    size = at + (int64_t)rnd_below(r, 2) * 8;
    ck_assert_int_eq(drep_type_struct(e->n, NULL, displ, leaf, &bare), 0);
    ck_assert_int_eq(drep_type_resized(0, size, bare, &e->type), 0);
    drep_type_free(bare);
    free(leaf);
}

/* From a sample's typemap into another of the same items, holes untouched. */
static void check_elsewhere(const struct layout *l, struct rnd *r)
{
    struct elsewhere e;
    struct rep_side to = {NULL, rep_native(), 0}, from = {NULL, rep_native(), 0};
    int64_t first, n, i, offset, done, extent, size;
    uint8_t *got, *want;

    elsewhere_init(&e, l, r, 1 + (int64_t)rnd_below(r, (uint64_t)(l->tiles < 3 ? l->tiles : 3)));
    extent = drep_type_extent(e.type);
    size = (l->items / e.n + 1) * extent;
    got = malloc((size_t)size);
    want = malloc((size_t)size);
    memset(got, 0x77, (size_t)size);
    memset(want, 0x77, (size_t)size);
    pick_range(l, r, &first, &n);
    for (i = 0; i < n; i++) {
        const struct oracle_item *item = item_at(l, first + i, &offset);

        convert_one(rep_native(), want + (first + i) / e.n * extent + e.offset[(first + i) % e.n],
                    rep_native(), l->user + offset, item->leaf);
    }
    to.prog = &e.type->prog;
    from.prog = &l->sample.type->prog;
    to.position = from.position = first;
    ck_assert_int_eq(rep_convert(got, &to, l->user, &from, n, &wrap, &done), 0);
    if (done != n || memcmp(got, want, (size_t)size) != 0)
        ck_abort_msg("items %lld of %lld from %lld on", (long long)n, (long long)l->items,
                     (long long)first);
    free(got);
    free(want);
    free(e.offset);
    drep_type_free(e.type);
}

START_TEST(test_any_typemap_into_any_other)
{
    struct layout l;
    struct rnd r;
    int i;

    rnd_init(&r, 6);
    random_seed(78);
    for (i = 0; i < SAMPLES / 4; i++) {
        isa_limit((enum isa)(i % (ISAS + 1)));
        if (!layout_init(&l, &r, rep_native()))
            continue;
        check_elsewhere(&l, &r);
        layout_release(&l);
    }
    isa_limit(ISAS);
}
END_TEST

/* ------------------------------------------------- a user's representation */

/* Stores every item backwards, behind a byte that says how long it is, but bytes as they
 * are (E13, D3); written as the manual says, with a cursor. */
struct protocol {
    int calls;
    const void *userbuf;
    const drep_type *type;
    int64_t next; /* position that the next call must have */
    uint8_t *file;
    int64_t staging;
    int codes; /* extent calls for codes that are not in use */
};

static void protocol_check(struct protocol *p, const void *userbuf, const drep_type *type,
                           int64_t count, void *filebuf, int64_t position, int64_t used)
{
    if (p->calls++ == 0) {
        p->userbuf = userbuf;
        p->type = type;
        p->next = position;
        p->file = filebuf;
    }
    /* U5, U6: the same buffer and type; position goes on; filebuf begins with its item. */
    if (p->userbuf != userbuf || !drep_type_equivalent(p->type, type) || p->next != position ||
        p->file != filebuf || count < 1)
        ck_abort_msg("call %d breaks the protocol", p->calls);
    if (used > p->staging && count > 1)
        ck_abort_msg("a call of %lld bytes", (long long)used);
    p->next += count;
    p->file += used;
}

static void backwards(uint8_t *dst, const uint8_t *src, int64_t size)
{
    while (size-- > 0)
        *dst++ = src[size];
}

static bool is_bytes(const drep_type *leaf)
{
    return leaf == DREP_BYTE || leaf == DREP_PACKED;
}

static int mirror(void *userbuf, const drep_type *type, int64_t count, uint8_t *file,
                  int64_t position, void *state, bool reading)
{
    uint8_t *at = file;
    drep_cursor cursor;
    drep_run run;
    int64_t i, left = count, size;

    drep_cursor_init(&cursor, type, position);
    for (; left > 0 && drep_cursor_next(&cursor, left, &run); left -= run.count)
        for (i = 0, size = drep_type_size(run.type); i < run.count; i++, at += size) {
            uint8_t *user = (uint8_t *)userbuf + run.offset + i * run.stride;

            if (!is_bytes(run.type) && !reading)
                at[0] = (uint8_t)size;
            at += !is_bytes(run.type);
            backwards(reading ? user : at, reading ? at : user, size);
        }
    protocol_check(state, userbuf, type, count, file, position, at - file);
    return 0;
}

static int mirror_read(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                       int64_t position, void *state)
{
    return mirror(userbuf, type, count, filebuf, position, state, true);
}

static int mirror_write(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                        int64_t position, void *state)
{
    return mirror(userbuf, type, count, filebuf, position, state, false);
}

static int mirror_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    if (drep_type_kind(type) != DREP_KIND_PREDEFINED)
        return 1;
    *extent = drep_type_size(type) + !is_bytes(type);
    return 0;
}

static struct protocol protocol;

static bool all_predefined(const struct layout *l)
{
    const struct oracle *o = &l->sample.map[ORACLE_MEMORY];
    int64_t i;

    for (i = 0; i < o->n; i++)
        if (o->item[i].leaf->kind != DREP_KIND_PREDEFINED)
            return false;
    return true;
}

static void check_mirror(struct layout *l, struct rnd *r, const struct datarep *rep)
{
    int64_t first, n, size, offset, i, done, used;
    uint8_t *out, *memory, *want, *p;

    pick_range(l, r, &first, &n);
    size = l->at[first + n] - l->at[first];
    for (i = first; i < first + n; i++)
        size += !is_bytes(item_at(l, i, &offset)->leaf);
    protocol = (struct protocol){.staging = (int64_t)rnd_below(r, (uint64_t)size + 40)};
    out = malloc((size_t)size);
    ck_assert_int_eq(rep_write_items(rep, NULL, l->user, l->sample.type, first, n, out,
                                     protocol.staging, &done, &used),
                     0);
    ck_assert(done == n && used == size);
    for (i = first, p = out; i < first + n; i++) {
        const struct oracle_item *item = item_at(l, i, &offset);
        uint8_t turned[32];

        backwards(turned, l->user + offset, item->size);
        if (!is_bytes(item->leaf) && *p++ != item->size)
            ck_abort_msg("item %lld", (long long)i);
        if (memcmp(p, turned, (size_t)item->size) != 0)
            ck_abort_msg("item %lld", (long long)i);
        p += item->size;
    }
    if (!l->overlaps) {
        want = malloc((size_t)l->size);
        memory = malloc((size_t)l->size);
        memset(memory, 0x3c, (size_t)l->size);
        memset(want, 0x3c, (size_t)l->size);
        for (i = first; i < first + n; i++) {
            const struct oracle_item *item = item_at(l, i, &offset);

            memcpy(want + (l->user - l->room) + offset, l->user + offset, (size_t)item->size);
        }
        protocol = (struct protocol){.staging = (int64_t)rnd_below(r, (uint64_t)size + 40)};
        ck_assert_int_eq(rep_read_items(rep, NULL, memory + (l->user - l->room), l->sample.type,
                                        first, n, out, protocol.staging, &done, &used),
                         0);
        ck_assert(done == n && used == size);
        ck_assert_int_eq(memcmp(memory, want, (size_t)l->size), 0);
        free(memory);
        free(want);
    }
    free(out);
}

START_TEST(test_U5_calls_of_user_functions)
{
    struct layout l;
    struct rnd r;
    int i;

    ck_assert_int_eq(
        drep_register_datarep("mirror", mirror_read, mirror_write, mirror_extent, &protocol), 0);
    rnd_init(&r, 6);
    random_seed(78);
    for (i = share_of(SAMPLES / 4); i > 0; i--) {
        if (!layout_init(&l, &r, rep_native()))
            continue;
        if (all_predefined(&l))
            check_mirror(&l, &r, rep_find("mirror"));
        else
            ck_assert_int_eq(rep_write_items(rep_find("mirror"), NULL, l.user, l.sample.type, 0,
                                             l.items, NULL, INT64_MAX, NULL, NULL),
                             DREP_ERR_TYPE); /* D3: a scalar is not for them */
        layout_release(&l);
    }
}
END_TEST

/* ------------------------------------------------------------ in the middle */

/* Items before the refused one have been written, nothing behind it; the report and
 * `done` say where it is.  All three ways of the engine. */
START_TEST(test_D12_strict_stops_at_the_first_item_in_order)
{
    enum { N = 400 };
    struct pair {
        int64_t a;
        int32_t b;
        int64_t c;
    } in[N];
    const drep_type *members[] = {DREP_INT64_T, DREP_INT32_T, DREP_INT64_T};
    drep_type *memory, *narrow;
    const drep_type *small[] = {DREP_INT16_T, DREP_INT16_T, DREP_INT16_T};
    int16_t out[3 * N];
    int bad, i;

    ck_assert_int_eq(drep_type_struct(3, NULL, NULL, members, &memory), 0);
    ck_assert_int_eq(drep_type_struct(3, NULL, NULL, small, &narrow), 0);
    for (bad = 0; bad < 3 * N; bad += 37) {
        struct losses report = NO_LOSSES;
        struct rep_opts opts = {.value_range = DREP_RANGE_STRICT, .report = &report, .base = 100};
        int64_t done = -1;

        for (i = 0; i < N; i++)
            in[i] = (struct pair){i, -i, 3 * i};
        if (bad % 3 == 1)
            in[bad / 3].b = 70000;
        else
            *(bad % 3 ? &in[bad / 3].c : &in[bad / 3].a) = 70000;
        in[N - 1].c = -40000; /* a later one */
        in[bad / 3 + (bad / 3 < N - 1)].a = 1 << 20;
        memset(out, 0x55, sizeof out);
        ck_assert_int_eq(rep_convert(out, &(struct rep_side){&narrow->prog, rep_native(), 0}, in,
                                     &(struct rep_side){&memory->prog, rep_native(), 0}, 3 * N,
                                     &opts, &done),
                         DREP_ERR_CONVERSION);
        if (bad / 3 == N - 1)
            bad -= bad % 3; /* the item put in behind came first */
        ck_assert_int_eq(done, bad);
        ck_assert_int_eq(report.items, bad);
        ck_assert_int_eq(report.overflow, 1);
        ck_assert_int_eq(report.first_overflow, 100 + bad);
        for (i = 0; i < bad; i++)
            ck_assert_int_eq(out[i], i % 3 == 0 ? i / 3 : i % 3 == 1 ? -(i / 3) : 3 * (i / 3));
    }
    drep_type_free(memory);
    drep_type_free(narrow);
}
END_TEST

START_TEST(test_report_of_a_struct_is_that_of_its_items)
{
    enum { N = 3000 };
    static struct {
        double d;
        int64_t i;
    } in[N];
    static uint8_t packed[N * 8];
    const drep_type *members[] = {DREP_DOUBLE, DREP_INT64_T}, *less[] = {DREP_FLOAT, DREP_INT32_T};
    struct losses report = NO_LOSSES;
    struct rep_opts opts = {.value_range = DREP_RANGE_WRAP, .report = &report};
    drep_type *wide, *narrow;
    int i;

    for (i = 0; i < N; i++) {
        in[i].d = i >= 700 ? 0.1 : 0.5;
        in[i].i = i == 1500 || i == 2900 ? INT64_MAX : i;
    }
    in[2000].d = 1e300;
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, members, &wide), 0);
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, less, &narrow), 0);
    ck_assert_int_eq(rep_convert(packed, &(struct rep_side){&narrow->prog, rep_native(), 0}, in,
                                 &(struct rep_side){&wide->prog, rep_native(), 0}, 2 * N, &opts,
                                 NULL),
                     0);
    ck_assert_int_eq(report.items, 2 * N);
    ck_assert_int_eq(report.overflow, 3);
    ck_assert_int_eq(report.first_overflow, 2 * 1500 + 1);
    ck_assert_int_eq(report.inexact, N - 700 - 1);
    ck_assert_int_eq(report.first_inexact, 2 * 700);
    drep_type_free(wide);
    drep_type_free(narrow);
}
END_TEST

/* Memory types and elements need not be cut alike, only have the same items. */
START_TEST(test_elements_of_unequal_shape)
{
    enum { N = 900 };
    static double points[N][4];
    static uint8_t flat[N * 3 * 8];
    struct rep_side memory, file = {&DREP_DOUBLE->prog, rep_find("external32")->table, 0};
    drep_type *three, *spaced;
    int64_t i, d;

    for (i = 0; i < N; i++)
        for (d = 0; d < 4; d++)
            points[i][d] = (double)(i * 4 + d);
    ck_assert_int_eq(drep_type_contiguous(3, DREP_DOUBLE, &three), 0);
    ck_assert_int_eq(drep_type_resized(0, 32, three, &spaced), 0);
    memory = (struct rep_side){&spaced->prog, rep_native(), 0};
    for (i = 0; i < 5; i++) {
        memset(flat, 0, sizeof flat);
        memory.position = file.position = i;
        ck_assert_int_eq(rep_convert(flat, &file, points, &memory, 3 * N - 2 * i, &wrap, NULL), 0);
        for (d = i; d < 3 * N - i; d++) {
            double want = points[d / 3][d % 3];
            uint64_t bits;

            memcpy(&bits, &want, 8);
            for (int b = 0; b < 8; b++)
                ck_assert_int_eq(flat[8 * d + b], (uint8_t)(bits >> (56 - 8 * b)));
        }
    }
    drep_type_free(three);
    drep_type_free(spaced);
}
END_TEST

/* Two small elements on one side are one on the other; how far they are apart changes on
 * the way. */
START_TEST(test_turns_of_unequal_size_and_distance)
{
    enum { N = 40 };
    struct pair {
        int32_t i;
        double d;
    };
    struct two {
        struct pair a;
        char hole[8];
        struct pair b;
    };
    static char bytes[N * (32 + 48)];
    struct two got[N];
    const drep_type *fields[] = {DREP_INT32_T, DREP_DOUBLE}, *pairs[2], *rows[2];
    drep_type *pair, *row[2], *all, *two;

    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, fields, &pair), 0);
    ck_assert_int_eq(drep_type_hvector(N, 1, 32, pair, &row[0]), 0);
    ck_assert_int_eq(drep_type_hvector(N, 1, 48, pair, &row[1]), 0);
    rows[0] = row[0];
    rows[1] = row[1];
    ck_assert_int_eq(drep_type_struct(2, NULL, (int64_t[]){0, N * 32}, rows, &all), 0);
    pairs[0] = pairs[1] = pair;
    ck_assert_int_eq(
        drep_type_struct(2, NULL, (int64_t[]){0, offsetof(struct two, b)}, pairs, &two), 0);
    for (int i = 0; i < 2 * N; i++) {
        struct pair p = {i, i + 0.5};

        memcpy(bytes + (i < N ? 32 * i : 32 * N + 48 * (i - N)), &p, sizeof p);
    }
    ck_assert_int_eq(rep_convert(got, &(struct rep_side){&two->prog, rep_native(), 0}, bytes,
                                 &(struct rep_side){&all->prog, rep_native(), 0}, 4 * N, &wrap,
                                 NULL),
                     0);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(got[i].a.i, 2 * i);
        ck_assert_int_eq(got[i].b.i, 2 * i + 1);
        ck_assert(got[i].a.d == 2 * i + 0.5 && got[i].b.d == 2 * i + 1.5);
    }
    drep_type_free(pair);
    drep_type_free(row[0]);
    drep_type_free(row[1]);
    drep_type_free(all);
    drep_type_free(two);
}
END_TEST

/* D4: the engine only finds items of variable length. */
static int var_count(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                     const void *src)
{
    (void)src;
    ck_assert(dst_leaf->kind == DREP_KIND_VSTRING && src_leaf->kind == DREP_KIND_VSTRING);
    memset(dst, ++*(int *)ctx, sizeof(char *));
    return *(int *)ctx == 7 ? DREP_ERR_LIMIT : 0;
}

/* A scalar that is described by the name of its format alone. */
START_TEST(test_scalars_of_named_formats)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xfe, 0x01, 0x02, 0x03};
    static const struct {
        const char *type;
        int32_t first, second;
    } cases[] = {{"scalar{int,big,3}", -2, 0x010203},
                 {"scalar{uint,big,3}", 0xfffffe, 0x010203},
                 {"scalar{int,little,3}", (int32_t)0xfffeffff, 0x030201}};
    uint8_t back[6];
    int32_t got[2];
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        drep_type *type;

        ck_assert_int_eq(drep_type_parse(cases[i].type, &type), 0);
        ck_assert_int_eq(drep_convert(DREP_INT32_T, got, type, bytes, 2, NULL), 0);
        ck_assert_int_eq(got[0], cases[i].first);
        ck_assert_int_eq(got[1], cases[i].second);
        ck_assert_int_eq(drep_convert(type, back, DREP_INT32_T, got, 2, NULL), 0);
        ck_assert_mem_eq(back, bytes, 6);
        drep_type_free(type);
    }
}
END_TEST

START_TEST(test_D4_items_of_variable_length_are_passed_on)
{
    struct {
        char *text;
        int32_t n;
    } in[10] = {{NULL, 0}}, out[10];
    const drep_type *members[2] = {NULL, DREP_INT32_T};
    struct rep_opts opts = wrap;
    struct rep_var var;
    drep_type *text, *type;
    int64_t done;
    int seen = 0;

    ck_assert_int_eq(drep_type_vstring(&text), 0);
    members[0] = text;
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, members, &type), 0);
    var = (struct rep_var){.move = var_count, .ctx = &seen};
    ck_assert_int_eq(rep_convert(out, &(struct rep_side){&type->prog, rep_native(), 0}, in,
                                 &(struct rep_side){&type->prog, rep_native(), 0}, 20, &opts,
                                 &done),
                     DREP_ERR_TYPE);
    opts.var = &var;
    ck_assert_int_eq(rep_convert(out, &(struct rep_side){&type->prog, rep_native(), 0}, in,
                                 &(struct rep_side){&type->prog, rep_native(), 0}, 20, &opts,
                                 &done),
                     DREP_ERR_LIMIT);
    ck_assert_int_eq(seen, 7);
    ck_assert_int_eq(done, 12);
    drep_type_free(text);
    drep_type_free(type);
}
END_TEST

/* ------------------------------------------------- structs in any shape */

/* A struct of fixed-size members, whose order in memory is not that of the typemap, with
 * gaps or none, and arrays of it. */
enum { FIELDS = 300 };
struct shape_case {
    int n;
    const drep_type *type[FIELDS];
    int64_t len[FIELDS], displ[FIELDS], size[FIELDS];
    int64_t extent, packed, count;
    drep_type *element;
};

static void shape_make(struct shape_case *c, struct rnd *r)
{
    static const int codes[] = {DREP_CODE_BYTE,    DREP_CODE_INT8_T,  DREP_CODE_INT16_T,
                                DREP_CODE_FLOAT16, DREP_CODE_INT32_T, DREP_CODE_FLOAT,
                                DREP_CODE_INT64_T, DREP_CODE_DOUBLE,  DREP_CODE_INTEGER16};
    int order[FIELDS], i, k, old;
    uint64_t gaps = rnd_below(r, 3) * 4;
    drep_type *fields;

    *c = (struct shape_case){.n = 1 + (int)rnd_below(r, rnd_below(r, 50) ? 12 : FIELDS),
                             .count = 1 + (int64_t)rnd_below(r, 60)};
    for (i = 0; i < c->n; i++) {
        c->type[i] = drep_predefined(codes[rnd_below(r, sizeof codes / sizeof codes[0])]);
        c->size[i] = drep_type_size(c->type[i]);
        c->len[i] = 1 + (int64_t)rnd_below(r, 3);
        c->packed += c->len[i] * c->size[i];
        order[i] = i;
    }
    for (i = c->n - 1; i > 0; i--) {
        k = (int)rnd_below(r, (uint64_t)i + 1);
        old = order[i];
        order[i] = order[k];
        order[k] = old;
    }
    for (i = 0; i < c->n; i++) {
        k = order[i];
        c->displ[k] = c->extent + (int64_t)rnd_below(r, gaps + 1);
        c->extent = c->displ[k] + c->len[k] * c->size[k];
    }
    c->extent += (int64_t)rnd_below(r, gaps + 1);
    ck_assert_int_eq(drep_type_struct(c->n, c->len, c->displ, c->type, &fields), 0);
    ck_assert_int_eq(drep_type_resized(0, c->extent, fields, &c->element), 0);
    drep_type_free(fields);
}

/* Byte by byte: packs from user, or to it. */
static void shape_move(const struct shape_case *c, uint8_t *user, uint8_t *packed, bool turn,
                       bool back)
{
    for (int64_t e = 0; e < c->count; e++, user += c->extent)
        for (int i = 0; i < c->n; i++)
            for (int64_t k = 0; k < c->len[i]; k++, packed += c->size[i])
                for (int64_t b = 0; b < c->size[i]; b++) {
                    uint8_t *at = user + c->displ[i] + k * c->size[i] + b;
                    uint8_t *to = packed + (turn ? c->size[i] - 1 - b : b);

                    *(back ? at : to) = *(back ? to : at);
                }
}

static void shape_check(const struct shape_case *c, struct rnd *r, const char *datarep)
{
    const uint16_t probe = 1;
    bool turn = *(const uint8_t *)&probe == (strcmp(datarep, "external32") == 0);
    size_t user_size = (size_t)(c->extent * c->count), size = (size_t)(c->packed * c->count);
    uint8_t *user = malloc(user_size), *back = malloc(user_size), *same = malloc(user_size);
    uint8_t *want = malloc(size), *got = malloc(size);
    int64_t position = 0;

    rnd_fill(r, user, user_size);
    shape_move(c, user, want, turn, false);
    ck_assert_int_eq(drep_pack(datarep, user, c->count, c->element, got, (int64_t)size, &position),
                     0);
    ck_assert_msg(memcmp(got, want, size) == 0, "packed: %s", datarep);
    memset(back, 0x11, user_size);
    memset(same, 0x11, user_size);
    shape_move(c, same, want, turn, true);
    position = 0;
    ck_assert_int_eq(
        drep_unpack(datarep, got, (int64_t)size, &position, back, c->count, c->element), 0);
    ck_assert_msg(memcmp(back, same, user_size) == 0, "unpacked: %s", datarep);
    free(user);
    free(back);
    free(same);
    free(want);
    free(got);
}

/* malloc() gives no byte too many: ASan sees what is written beside the elements. */
START_TEST(test_structs_in_any_shape)
{
    struct shape_case c;
    struct rnd r;

    rnd_init(&r, 31);
    for (int i = share_of(SAMPLES / 4); i > 0; i--) {
        isa_limit((enum isa)(i % (ISAS + 1)));
        shape_make(&c, &r);
        shape_check(&c, &r, "external32");
        shape_check(&c, &r, "internal");
        drep_type_free(c.element);
    }
    isa_limit(ISAS);
}
END_TEST

/* STRICT, without a report: the first value that rounds to an infinity is found wherever it stands
 * in a tile; the values before it are written, and nothing after. */
START_TEST(test_strict_narrowing_anywhere)
{
    enum { MANY = 300 };
    static const uint64_t edge[] = {0x47efffffefffffff, 0x47effffff0000000};
    double in[MANY];
    float out[MANY];
    int64_t wide[MANY];
    int32_t thin[MANY];

    for (int at = 0; at < MANY; at++)
        for (int over = 0; over < 2; over++) {
            for (int i = 0; i < MANY; i++) {
                in[i] = i % 7 == 0 ? INFINITY : i % 7 == 1 ? NAN : i * 0.1;
                wide[i] = i - 150;
                out[i] = -1;
                thin[i] = 77777;
            }
            memcpy(&in[at], &edge[over], 8);
            wide[at] = over ? -(int64_t)INT32_MAX - 2 : -(int64_t)INT32_MAX - 1;
            ck_assert_int_eq(drep_convert(DREP_FLOAT, out, DREP_DOUBLE, in, MANY, NULL),
                             over ? DREP_ERR_CONVERSION : 0);
            ck_assert_int_eq(drep_convert(DREP_INT32_T, thin, DREP_INT64_T, wide, MANY, NULL),
                             over ? DREP_ERR_CONVERSION : 0);
            for (int i = 0; i < MANY; i++) {
                float want = over && i >= at ? -1 : (float)in[i];

                ck_assert(memcmp(&out[i], &want, 4) == 0);
                ck_assert_int_eq(thin[i], over && i >= at ? 77777 : (int32_t)wide[i]);
            }
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rep_convert");
    TCase *tc = tcase_create("rep_convert");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_U6_any_cut_of_any_type_gives_the_same_bytes);
    tcase_add_test(tc, test_any_typemap_into_any_other);
    tcase_add_test(tc, test_U5_calls_of_user_functions);
    tcase_add_test(tc, test_D12_strict_stops_at_the_first_item_in_order);
    tcase_add_test(tc, test_report_of_a_struct_is_that_of_its_items);
    tcase_add_test(tc, test_elements_of_unequal_shape);
    tcase_add_test(tc, test_turns_of_unequal_size_and_distance);
    tcase_add_test(tc, test_scalars_of_named_formats);
    tcase_add_test(tc, test_structs_in_any_shape);
    tcase_add_test(tc, test_D4_items_of_variable_length_are_passed_on);
    tcase_add_test(tc, test_strict_narrowing_anywhere);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
