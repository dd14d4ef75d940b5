/* bench_types.c - derived datatypes in memory, beside hand-written loops.
 *
 * Strides, structs, subarrays and single blocks through drep_pack() and drep_unpack() in
 * one thread; a user's conversion function beside the built-in kernel, and under selections
 * of datasets; what checks and
 * reports cost; and what a second thread brings.  The argument is MiB, 256 if none. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `count` elements of `type` at user, `packed` bytes when packed. */
struct work {
    uint8_t *user, *file;
    const drep_type *type;
    const char *datarep;
    int64_t count, packed;
    /* What the loops need to know. */
    int64_t blocks, blocklen, n;
    const int64_t *displs;
    drep_dataset *dataset;
};

static int missed;

static void pack(void *ctx)
{
    struct work *w = ctx;
    int64_t position = 0;

    bench_must(drep_pack(w->datarep, w->user, w->count, w->type, w->file, w->packed, &position) ==
                   0,
               "pack");
}

static void unpack(void *ctx)
{
    struct work *w = ctx;
    int64_t position = 0;

    bench_must(drep_unpack(w->datarep, w->file, w->packed, &position, w->user, w->count, w->type) ==
                   0,
               "unpack");
}

/* The two ways of a type under one representation. */
static void rows(struct work *w, const char *title, const char *datarep, bench_fn *pack_loop,
                 bench_fn *unpack_loop, double bar)
{
    const struct bench_entry there[] = {{"loop", NULL, pack_loop, 0}, {"pack", NULL, pack, bar}};
    const struct bench_entry back[] = {{"loop", NULL, unpack_loop, 0},
                                       {"unpack", NULL, unpack, bar}};
    char name[96];

    w->datarep = datarep;
    snprintf(name, sizeof name, "%s, %s", title, datarep);
    missed += bench_row(name, (double)w->packed, 7, there, 2, w);
    missed += bench_row(name, (double)w->packed, 7, back, 2, w);
}

/* ---------------------------------------------------------------- vectors */

/* Made once for each length, so that a loop knows what its writer would know. */
#define INLINE static inline __attribute__((always_inline))
INLINE void vector_loop(struct work *w, int64_t blocklen, int swap, int back)
{
    uint64_t *restrict user = (uint64_t *)(void *)w->user, *restrict file =
                                                               (uint64_t *)(void *)w->file;

    for (int64_t i = 0; i < w->blocks; i++)
        for (int64_t k = 0; k < blocklen; k++) {
            uint64_t *to = back ? &user[2 * blocklen * i + k] : &file[blocklen * i + k];
            uint64_t v = back ? file[blocklen * i + k] : user[2 * blocklen * i + k];

            *to = swap ? __builtin_bswap64(v) : v;
        }
}
#define VECTOR(len, name, swap, back)              \
    BEST static void vector##len##_##name(void *w) \
    {                                              \
        vector_loop(w, len, swap, back);           \
    }
#define VECTORS(len)             \
    VECTOR(len, copy, 0, 0)      \
    VECTOR(len, copy_back, 0, 1) \
    VECTOR(len, swap, 1, 0)      \
    VECTOR(len, swap_back, 1, 1)
VECTORS(1)
VECTORS(4)
VECTORS(64)

static void vectors(struct work *w, int64_t bytes)
{
    static const struct {
        int64_t len;
        bench_fn *copy, *copy_back, *swap, *swap_back;
    } all[] = {{1, vector1_copy, vector1_copy_back, vector1_swap, vector1_swap_back},
               {4, vector4_copy, vector4_copy_back, vector4_swap, vector4_swap_back},
               {64, vector64_copy, vector64_copy_back, vector64_swap, vector64_swap_back}};
    drep_type *t;
    char title[64];

    for (size_t i = 0; i < 3; i++) {
        w->blocks = bytes / 16 / all[i].len;
        bench_must(drep_type_vector(w->blocks, all[i].len, 2 * all[i].len, DREP_DOUBLE, &t) == 0,
                   "type");
        w->type = t;
        w->count = 1;
        w->packed = 8 * w->blocks * all[i].len;
        snprintf(title, sizeof title, "vector, every second %lld doubles", (long long)all[i].len);
        rows(w, title, "native", all[i].copy, all[i].copy_back, 0.9);
        rows(w, title, "external32", all[i].swap, all[i].swap_back, 0.9);
        drep_type_free(t);
    }
}

/* ---------------------------------------------------------------- structs */

struct cell {
    int32_t i;
    double d;
    float f[3];
};
enum { CELL_PACKED = 24 };

INLINE void cells_pack(struct work *w, int swap)
{
    const struct cell *restrict c = (const struct cell *)(void *)w->user;
    uint8_t *restrict to = w->file;

    for (int64_t n = 0; n < w->count; n++, c++, to += CELL_PACKED) {
        uint32_t i, f[3];
        uint64_t d;

        memcpy(&i, &c->i, 4);
        memcpy(&d, &c->d, 8);
        memcpy(f, c->f, 12);
        if (swap) {
            i = __builtin_bswap32(i);
            d = __builtin_bswap64(d);
            for (int k = 0; k < 3; k++)
                f[k] = __builtin_bswap32(f[k]);
        }
        memcpy(to, &i, 4);
        memcpy(to + 4, &d, 8);
        memcpy(to + 12, f, 12);
    }
}

INLINE void cells_unpack(struct work *w, int swap)
{
    struct cell *restrict c = (struct cell *)(void *)w->user;
    const uint8_t *restrict from = w->file;

    for (int64_t n = 0; n < w->count; n++, c++, from += CELL_PACKED) {
        uint32_t i, f[3];
        uint64_t d;

        memcpy(&i, from, 4);
        memcpy(&d, from + 4, 8);
        memcpy(f, from + 12, 12);
        if (swap) {
            i = __builtin_bswap32(i);
            d = __builtin_bswap64(d);
            for (int k = 0; k < 3; k++)
                f[k] = __builtin_bswap32(f[k]);
        }
        memcpy(&c->i, &i, 4);
        memcpy(&c->d, &d, 8);
        memcpy(c->f, f, 12);
    }
}

BEST static void cells_copy(void *w)
{
    cells_pack(w, 0);
}

BEST static void cells_copy_back(void *w)
{
    cells_unpack(w, 0);
}

BEST static void cells_swap(void *w)
{
    cells_pack(w, 1);
}

BEST static void cells_swap_back(void *w)
{
    cells_unpack(w, 1);
}

static void structs(struct work *w, int64_t bytes)
{
    const drep_type *members[] = {DREP_INT32_T, DREP_DOUBLE, DREP_FLOAT};
    drep_type *t;

    bench_must(drep_type_struct(3, (int64_t[]){1, 1, 3}, NULL, members, &t) == 0 &&
                   drep_type_extent(t) == (int64_t)sizeof(struct cell),
               "type");
    w->type = t;
    w->count = bytes / (int64_t)sizeof(struct cell);
    w->packed = w->count * CELL_PACKED;
    rows(w, "structs {int32; double; float[3]}", "native", cells_copy, cells_copy_back, 0.85);
    rows(w, "structs {int32; double; float[3]}", "external32", cells_swap, cells_swap_back, 0.85);
    drep_type_free(t);
}

/* ----------------------------------------------------- subarrays and blocks */

/* n^3 floats in the middle of (n * 5 / 4)^3. */
INLINE void cube_loop(struct work *w, int swap, int back)
{
    int64_t n = w->n, size = n * 5 / 4, start = n / 8;
    uint32_t *restrict user = (uint32_t *)(void *)w->user, *restrict file =
                                                               (uint32_t *)(void *)w->file;

    for (int64_t z = 0; z < n; z++)
        for (int64_t y = 0; y < n; y++) {
            uint32_t *row = user + ((z + start) * size + y + start) * size + start;

            for (int64_t x = 0; x < n; x++) {
                uint32_t v = back ? file[x] : row[x];

                *(back ? row + x : file + x) = swap ? __builtin_bswap32(v) : v;
            }
            file += n;
        }
}

BEST static void cube_copy(void *w)
{
    cube_loop(w, 0, 0);
}

BEST static void cube_copy_back(void *w)
{
    cube_loop(w, 0, 1);
}

BEST static void cube_swap(void *w)
{
    cube_loop(w, 1, 0);
}

BEST static void cube_swap_back(void *w)
{
    cube_loop(w, 1, 1);
}

static void cube(int64_t n)
{
    int64_t sizes[3], sub[3], start[3], size = n * 5 / 4;
    struct work w = {.n = n, .count = 1, .packed = 4 * n * n * n};
    char title[64];
    drep_type *t;

    for (int d = 0; d < 3; d++) {
        sizes[d] = size;
        sub[d] = n;
        start[d] = n / 8;
    }
    w.user = malloc((size_t)(4 * size * size * size));
    w.file = malloc((size_t)w.packed);
    bench_must(w.user && w.file, "memory");
    bench_random(w.user, (size_t)(4 * size * size * size), 5);
    bench_random(w.file, (size_t)w.packed, 6);
    bench_must(drep_type_subarray(3, sizes, sub, start, DREP_ORDER_C, DREP_FLOAT, &t) == 0, "type");
    w.type = t;
    snprintf(title, sizeof title, "%lld^3 floats out of %lld^3", (long long)n, (long long)size);
    rows(&w, title, "native", cube_copy, cube_copy_back, 0.9);
    rows(&w, title, "external32", cube_swap, cube_swap_back, 0.9);
    drep_type_free(t);
    free(w.user);
    free(w.file);
}

INLINE void blocks_loop(struct work *w, int len, int swap, int back)
{
    for (int64_t i = 0; i < w->blocks; i++) {
        uint8_t *user = w->user + w->displs[i], *file = w->file + 8 * len * i;
        uint64_t v;

        for (int k = 0; k < len; k++) {
            memcpy(&v, (back ? file : user) + 8 * k, 8);
            v = swap ? __builtin_bswap64(v) : v;
            memcpy((back ? user : file) + 8 * k, &v, 8);
        }
    }
}

#define BLOCKS_LOOP(name, len, swap, back) \
    BEST static void name(void *w)         \
    {                                      \
        blocks_loop(w, len, swap, back);   \
    }
BLOCKS_LOOP(blocks_copy, 1, 0, 0)
BLOCKS_LOOP(blocks_copy_back, 1, 0, 1)
BLOCKS_LOOP(blocks_swap, 1, 1, 0)
BLOCKS_LOOP(blocks_swap_back, 1, 1, 1)
BLOCKS_LOOP(eights_copy, 8, 0, 0)
BLOCKS_LOOP(eights_copy_back, 8, 0, 1)
BLOCKS_LOOP(eights_swap, 8, 1, 0)
BLOCKS_LOOP(eights_swap_back, 8, 1, 1)

/* Fisher and Yates. */
static void shuffle(int64_t *a, int64_t n)
{
    uint64_t *r = malloc((size_t)n * sizeof *r);

    bench_must(r != NULL, "memory");
    bench_random(r, (size_t)n * sizeof *r, 10);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = (int64_t)(r[i] % (uint64_t)(i + 1)), old = a[i];

        a[i] = a[k];
        a[k] = old;
    }
    free(r);
}

/* Blocks of 1 or 8 doubles. */
static void blocks_at(struct work *w, const int64_t *displs, int64_t n, int len, const char *title)
{
    drep_type *t;

    bench_must(drep_type_hindexed_block(n, len, displs, DREP_DOUBLE, &t) == 0, "type");
    w->type = t;
    w->blocks = n;
    w->displs = displs;
    w->count = 1;
    w->packed = 8 * len * n;
    if (len == 1) {
        rows(w, title, "native", blocks_copy, blocks_copy_back, 0.7);
        rows(w, title, "external32", blocks_swap, blocks_swap_back, 0.7);
    } else {
        rows(w, title, "native", eights_copy, eights_copy_back, 0.7);
        rows(w, title, "external32", eights_swap, eights_swap_back, 0.7);
    }
    drep_type_free(t);
}

/* A million doubles, ascending, some next to each other by chance; and without order. */
static void blocks(struct work *w, int64_t bytes)
{
    int64_t n = 1 << 20, gap = bytes / 8 / n, *displs = malloc((size_t)n * sizeof *displs);
    uint8_t *gaps = malloc((size_t)n);
    int64_t at = 0;

    bench_must(displs && gaps && gap > 0, "memory");
    bench_random(gaps, (size_t)n, 9);
    for (int64_t i = 0; i < n; i++) {
        displs[i] = 8 * at;
        at += 1 + gaps[i] % (2 * gap - 1);
        at = at < bytes / 8 ? at : bytes / 8 - 1;
    }
    blocks_at(w, displs, n, 1, "a million single doubles, ascending");
    shuffle(displs, n);
    blocks_at(w, displs, n, 1, "a million single doubles, anywhere");
    /* As many places as the packed bytes have room for, a whole line of the cache each. */
    n = bytes / 64 / 2 < n ? bytes / 64 / 2 : n;
    n = FIGURE(n, n * 3 / 5);
    for (int64_t i = 0; i < n; i++)
        displs[i] = FIGURE(128, 208) * i;
    shuffle(displs, n);
    blocks_at(w, displs, n, 8, "blocks of 8 doubles, anywhere");
    free(displs);
    free(gaps);
}

/* --------------------------------------------------------- user functions */

/* The swap of 8-byte items as a user writes it, with the public cursor, and compiles it for
 * this processor. */
INLINE int user_move(uint8_t *user, const drep_type *type, int64_t count, uint8_t *file,
                     int64_t position, int back)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position))
        return 1;
    for (; count > 0 && drep_cursor_next(&cursor, count, &run); count -= run.count) {
        uint8_t *at = user + run.offset;

        for (int64_t i = 0; i < run.count; i++, at += run.stride, file += 8) {
            uint64_t v;

            memcpy(&v, back ? file : at, 8);
            v = __builtin_bswap64(v);
            memcpy(back ? at : file, &v, 8);
        }
    }
    return 0;
}

BEST static int user_read(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    (void)x;
    return user_move(u, t, n, f, p, 1);
}

BEST static int user_write(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    (void)x;
    return user_move(u, t, n, f, p, 0);
}

static int user_extent(const drep_type *type, int64_t *extent, void *x)
{
    (void)x;
    *extent = drep_type_size(type);
    return 0;
}

static void as(struct work *w, const char *datarep, bench_fn *fn)
{
    w->datarep = datarep;
    fn(w);
}

static void built_in_pack(void *w)
{
    as(w, "external32", pack);
}

static void user_pack(void *w)
{
    as(w, "swap8", pack);
}

static void built_in_unpack(void *w)
{
    as(w, "external32", unpack);
}

static void user_unpack(void *w)
{
    as(w, "swap8", unpack);
}

static void functions(struct work *w, int64_t bytes)
{
    const struct bench_entry there[] = {{"built in", NULL, built_in_pack, 0},
                                        {"a user's", NULL, user_pack, 0.6}};
    const struct bench_entry back[] = {{"built in", NULL, built_in_unpack, 0},
                                       {"a user's", NULL, user_unpack, 0.6}};
    drep_type *t;

    bench_must(drep_register_datarep("swap8", user_read, user_write, user_extent, NULL) == 0,
               "register");
    bench_must(drep_type_vector(bytes / 64, 4, 8, DREP_DOUBLE, &t) == 0, "type");
    for (int strided = 0; strided < 2; strided++) {
        w->type = strided ? t : DREP_DOUBLE;
        w->count = strided ? 1 : bytes / 8;
        w->packed = strided ? bytes / 2 : bytes;
        missed += bench_row(strided ? "swap8 of every second 4 doubles, packed" : "swap8, packed",
                            (double)w->packed, 7, there, 2, w);
        missed +=
            bench_row(strided ? "swap8 of every second 4 doubles, unpacked" : "swap8, unpacked",
                      (double)w->packed, 7, back, 2, w);
    }
    drep_type_free(t);
}

/* ------------------------------------------- selections under user functions */

/* What needs a function: doubles as an exponent of 16 bits and a fraction of 48, item by
 * item, as most users write it. */
static void item_encode(uint8_t *file, const uint8_t *user)
{
    double v;
    int exponent;
    uint64_t bits;

    memcpy(&v, user, sizeof v);
    v = frexp(v, &exponent);
    bits =
        ((uint64_t)(uint16_t)exponent << 48) | ((uint64_t)(int64_t)(v * 0x1p47) & 0xffffffffffff);
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)(bits >> (56 - 8 * i));
}

static void item_decode(uint8_t *user, const uint8_t *file)
{
    uint64_t bits = 0;
    double v;

    for (int i = 0; i < 8; i++)
        bits = bits << 8 | file[i];
    v = ldexp((double)((int64_t)(bits << 16) >> 16), (int16_t)(bits >> 48) - 47);
    memcpy(user, &v, sizeof v);
}

static int item_move(uint8_t *user, const drep_type *type, int64_t count, uint8_t *file,
                     int64_t position, int back)
{
    drep_cursor cursor;
    drep_run run;

    if (drep_cursor_init(&cursor, type, position))
        return 1;
    for (; count > 0 && drep_cursor_next(&cursor, 1, &run); count--, file += 8)
        back ? item_decode(user + run.offset, file) : item_encode(file, user + run.offset);
    return 0;
}

static int item_read(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    (void)x;
    return item_move(u, t, n, f, p, 1);
}

static int item_write(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    (void)x;
    return item_move(u, t, n, f, p, 0);
}

/* As many elements in one block and apart from each other; of one dataset. */
struct selected {
    struct work *w;
    drep_dataset *set, *table; /* the second one under external32 */
    drep_selection *block, *apart;
};

static void selected_move(const struct selected *s, drep_dataset *set, const drep_selection *sel,
                          int writing)
{
    const drep_xfer one = DREP_XFER(.threads = 1);

    bench_must((writing ? drep_write(set, sel, NULL, s->w->user, &one)
                        : drep_read(set, sel, NULL, s->w->file, &one)) == 0,
               writing ? "write" : "read");
}

static void block_read(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->set, s->block, 0);
}

static void apart_read(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->set, s->apart, 0);
}

static void table_read(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->table, s->apart, 0);
}

static void block_write(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->set, s->block, 1);
}

static void apart_write(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->set, s->apart, 1);
}

static void table_write(void *ctx)
{
    const struct selected *s = ctx;

    selected_move(s, s->table, s->apart, 1);
}

/* n ascending points of a row, some of them neighbours. */
static drep_selection *points(int64_t n, int64_t len)
{
    int64_t *coords = malloc((size_t)n * sizeof *coords);
    drep_selection *sel;

    bench_must(coords != NULL, "memory");
    for (int64_t i = 0; i < n; i++)
        coords[i] = i * (len / n) + i * i % (len / n);
    bench_must(drep_select_points(1, n, coords, &sel) == 0, "points");
    free(coords);
    return sel;
}

static void selected_rows(struct selected *s, const char *what, int64_t n, double bar)
{
    const struct bench_entry reads[] = {{"one block", NULL, block_read, 0},
                                        {"selected", NULL, apart_read, bar},
                                        {"selected, external32", NULL, table_read, 0}};
    const struct bench_entry writes[] = {{"one block", NULL, block_write, 0},
                                         {"selected", NULL, apart_write, bar},
                                         {"selected, external32", NULL, table_write, 0}};
    char title[96];

    snprintf(title, sizeof title, "a user's representation, %s, read", what);
    missed += bench_row(title, (double)n * 8, 7, reads, 3, s);
    snprintf(title, sizeof title, "a user's representation, %s, written", what);
    missed += bench_row(title, (double)n * 8, 7, writes, 3, s);
}

/* A dataset that is written already, in a file of its own. */
static drep_dataset *selected_open(const char *datarep, const drep_spec *spec, drep_file **f)
{
    size_t n = (size_t)spec->dims[0] * (spec->rank > 1 ? (size_t)spec->dims[1] : 1);
    double *all = calloc(n, sizeof *all);
    drep_dataset *set = NULL;

    bench_must(all && drep_create(":memory:", 0, datarep, NULL, f) == 0 &&
                   drep_dataset_create(*f, "/d", spec, &set) == 0 &&
                   drep_write(set, NULL, NULL, all, NULL) == 0,
               "create");
    free(all);
    return set;
}

/* What an element costs among others that are left out, and in one block.  The store's part of
 * that is the time under external32. */
static void selections(struct work *w)
{
    enum { SIDE = 1024, N = SIDE * SIDE };
    static const struct {
        const char *what;
        int rank, layout;
        int64_t dims[2], chunk[2], block[2], stride[2];
        double bar;
    } rows[] = {
        {"[::2]", 1, DREP_CHUNKED, {2 * N}, {65536}, {N}, {2}, 0.5},
        {"[::2] contiguous", 1, DREP_CONTIGUOUS, {2 * N}, {0}, {N}, {2}, 0.5},
        {"[::3, ::5]", 2, DREP_CHUNKED, {3072, 5120}, {256, 320}, {SIDE, SIDE}, {3, 5}, 0},
        {"points", 1, DREP_CHUNKED, {8 * N}, {65536}, {N}, {0}, 0},
    };
    const int64_t zero[2] = {0, 0};
    struct selected s = {.w = w};
    drep_file *f, *g;

    bench_must(drep_register_datarep("by item", item_read, item_write, user_extent, NULL) == 0,
               "register");
    bench_doubles((double *)(void *)w->user, N, 5);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const drep_spec spec =
            DREP_SPEC(.type = DREP_DOUBLE, .rank = rows[i].rank, .dims = rows[i].dims,
                      .layout = rows[i].layout,
                      .chunk = rows[i].layout == DREP_CHUNKED ? rows[i].chunk : NULL);

        s.set = selected_open("by item", &spec, &f);
        s.table = selected_open("external32", &spec, &g);
        bench_must(drep_select_box(spec.rank, zero, rows[i].block, NULL, NULL, &s.block) == 0,
                   "box");
        if (rows[i].stride[0] == 0)
            s.apart = points(N, rows[i].dims[0]);
        else
            bench_must(drep_select_box(spec.rank, zero, rows[i].block, rows[i].stride, NULL,
                                       &s.apart) == 0,
                       "box");
        selected_rows(&s, rows[i].what, N, rows[i].bar);
        drep_selection_free(s.block);
        drep_selection_free(s.apart);
        drep_dataset_close(s.set);
        drep_dataset_close(s.table);
        drep_close(f);
        drep_close(g);
    }
}

/* ----------------------------------------------------- checks and threads */

static void convert(struct work *w, int range, drep_report *report)
{
    const drep_xfer xfer = DREP_XFER(.range = range, .threads = 1, .report = report);

    bench_must(drep_convert(w->type, w->file, DREP_DOUBLE, w->user, w->count, &xfer) == 0,
               "convert");
}

static void unchecked(void *w)
{
    convert(w, DREP_RANGE_WRAP, NULL);
}

static void checked(void *w)
{
    drep_report report = DREP_REPORT;

    convert(w, DREP_RANGE_STRICT, &report);
}

static void checks(struct work *w, int64_t bytes)
{
    const struct bench_entry entry[] = {{"unchecked", NULL, unchecked, 0},
                                        {"strict, with a report", NULL, checked, 0.5}};

    bench_doubles((double *)(void *)w->user, (size_t)bytes / 8, 3);
    w->count = bytes / 8;
    w->type = DREP_FLOAT;
    missed += bench_row("double to float", (double)bytes, 7, entry, 2, w);
    /* What a strict conversion takes. */
    for (int64_t i = 0; i < w->count; i++)
        ((double *)(void *)w->user)[i] = trunc(((double *)(void *)w->user)[i]);
    w->type = DREP_INT32_T;
    missed += bench_row("double to int32", (double)bytes, 7, entry, 2, w);
}

static void *half_copy(void *ctx)
{
    struct work *w = ctx;

    memcpy(w->file + w->packed / 2, w->user + w->packed / 2, (size_t)(w->packed / 2));
    return NULL;
}

static void copy_one(void *ctx)
{
    struct work *w = ctx;

    memcpy(w->file, w->user, (size_t)w->packed);
}

static void copy_two(void *ctx)
{
    struct work *w = ctx;
    pthread_t other;

    bench_must(pthread_create(&other, NULL, half_copy, w) == 0, "thread");
    memcpy(w->file, w->user, (size_t)(w->packed / 2));
    pthread_join(other, NULL);
}

static void read_with(struct work *w, int threads)
{
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    bench_must(drep_read(w->dataset, NULL, NULL, w->user, &xfer) == 0, "read");
}

static void read_one(void *w)
{
    read_with(w, 1);
}

static void read_two(void *w)
{
    read_with(w, 2);
}

/* Swapped bytes, which memory lets two threads read as much faster as it lets them copy,
 * and a conversion that computes, which does not wait for memory. */
static void threads(struct work *w, int64_t bytes)
{
    const struct bench_entry copies[] = {{"memcpy, one thread", NULL, copy_one, 0},
                                         {"memcpy, two threads", NULL, copy_two, 0}};
    struct bench_entry reads[] = {{"one thread", NULL, read_one, 0},
                                  {"two threads", NULL, read_two, 1.7}};
    static const char *const names[] = {"external32", "hex"};
    const drep_encoding hex = {DREP_CODE_DOUBLE, DREP_FORMAT_IBM_HEX64, DREP_BIG, 8, 1, 0, 0};
    double copied;
    int64_t dims = bytes / 8;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &dims,
                               .layout = DREP_CHUNKED, .chunk = (int64_t[]){131072});
    drep_file *f;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        printf("two threads: there is one processor\n");
        return;
    }
    bench_must(drep_declare_datarep("hex", "external32", &hex, 1, NULL, 0) == 0, "declare");
    w->packed = bytes;
    missed += bench_row("memory", (double)bytes, 7, copies, 2, w);
    copied = bench_ratio();
    for (int i = 0; i < 2; i++) {
        char title[64];

        reads[1].bar = i == 0 && copied < 1.7 ? copied : 1.7;
        bench_must(drep_create(":memory:", 0, names[i], NULL, &f) == 0 &&
                       drep_dataset_create(f, "/d", &spec, &w->dataset) == 0,
                   "create");
        bench_doubles((double *)(void *)w->user, (size_t)dims, 4);
        bench_must(drep_write(w->dataset, NULL, NULL, w->user, NULL) == 0, "write");
        snprintf(title, sizeof title, "reading a chunked dataset, %s", names[i]);
        missed += bench_row(title, (double)bytes, 7, reads, 2, w);
        drep_dataset_close(w->dataset);
        drep_close(f);
    }
}

int main(int argc, char **argv)
{
    int64_t bytes = (argc > 1 ? atoll(argv[1]) : 256) << 20;
    struct work w = {.user = aligned_alloc(4096, (size_t)bytes),
                     .file = aligned_alloc(4096, (size_t)bytes)};

    bench_must(bytes > 0 && w.user && w.file, "memory");
    printf("%s\n", drep_version());
    bench_random(w.user, (size_t)bytes, 1);
    bench_random(w.file, (size_t)bytes, 2);
    vectors(&w, bytes);
    structs(&w, bytes);
    cube(bytes >= 256 << 20 ? 512 : 128);
    blocks(&w, bytes);
    functions(&w, bytes);
    selections(&w);
    checks(&w, bytes);
    threads(&w, bytes);
    printf("%d bars missed\n", missed);
    free(w.user);
    free(w.file);
    return 0;
}
