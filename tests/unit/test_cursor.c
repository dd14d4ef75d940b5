/* test_cursor.c - compiled typemaps and cursors against typemaps expanded item by
 * item, for random types of all kinds (U5, U6, U8, V3, V4). */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/random_type.h"

#include "tests/unit/bytes.h"

#include <time.h>

#define SAMPLES 3000

static uint64_t seed;

static struct oracle_item oracle_at(const struct oracle *o, int64_t position)
{
    struct oracle_item item = o->item[position % o->n];

    item.offset += position / o->n * oracle_extent(o);
    return item;
}

/* One run from `position` on is what the oracle has there. */
static void check_run(const struct oracle *o, int64_t position, const drep_run *run)
{
    for (int64_t i = 0; i < run->count; i++) {
        struct oracle_item item = oracle_at(o, position + i);

        if (!leaf_same(item.leaf, run->type) || item.offset != run->offset + i * run->stride)
            ck_abort_msg("seed %llu: item %lld is elsewhere", (unsigned long long)seed,
                         (long long)(position + i));
    }
}

/* From a position on, in steps of at most max, `items` items. */
static void check_walk(const struct oracle *o, const struct prog *p, int64_t position,
                       int64_t items, int64_t max)
{
    drep_cursor cursor;
    drep_run run;

    ck_assert_int_eq(cursor_init(&cursor, p, position), 0);
    while (items > 0) {
        int64_t n = max < items ? max : items;

        ck_assert_int_eq(drep_cursor_next(&cursor, n, &run), 1);
        ck_assert(run.count >= 1 && run.count <= n);
        check_run(o, position, &run);
        position += run.count;
        items -= run.count;
    }
    ck_assert_int_eq(drep_cursor_next(&cursor, 0, &run), 0);
}

/* Windows from any position on: every turn's items are where the oracle has them. */
static void check_windows(const struct oracle *o, const struct prog *p, int64_t position)
{
    int64_t left = 2 * o->n, n;
    drep_cursor cursor;
    drep_run runs[WINDOW_FIELDS];

    ck_assert_int_eq(cursor_init(&cursor, p, position), 0);
    while (left > 0) {
        struct window w;
        int runs_len;

        cursor_window(&cursor, &w);
        ck_assert(w.turns >= 1 && w.inside < w.items);
        ck_assert_int_le(w.node->runs, w.node->op == NODE_SEQ ? WINDOW_FIELDS : WINDOW_RUNS);
        ck_assert(w.node->op != NODE_LEAF || w.items == w.node->count || w.turns == 1);
        if (w.node->op == NODE_LEAF) {
            runs[0] = (drep_run){w.node->leaf, 0, w.step, left < w.items ? left : w.items};
            runs_len = 1;
        } else {
            struct prog turn = {.root = (struct node *)w.node, .items = w.items};

            runs_len = prog_flat(&turn, w.items, runs, WINDOW_FIELDS);
            ck_assert_int_ge(runs_len, 1);
        }
        for (int64_t turn = 0; turn < w.turns && left > 0; turn++) {
            int64_t at = w.at + (w.list ? w.list[turn] : turn * w.stride), before = position;

            for (int i = 0; i < runs_len && left > 0; i++) {
                drep_run run = runs[i];
                int64_t skip = w.inside < run.count ? w.inside : run.count;

                w.inside -= skip;
                run.offset += at + skip * run.stride;
                run.count -= skip;
                n = run.count < left ? run.count : left;
                run.count = n;
                check_run(o, position, &run);
                position += n;
                left -= n;
            }
            ck_assert(position > before);
        }
    }
}

static void check_cursors(const struct oracle *o, const struct prog *p)
{
    static const int64_t steps[] = {1, 2, 3, 7, 1000};
    drep_cursor cursor;
    drep_run run;

    ck_assert_int_eq(p->items, o->n);
    if (!o->n) {
        ck_assert_int_eq(cursor_init(&cursor, p, 5), 0);
        ck_assert_int_eq(drep_cursor_next(&cursor, 1, &run), 0);
        return;
    }
    for (int64_t at = 0; at <= 2 * o->n; at++)
        check_walk(o, p, at,
                   2 * o->n + 3 - at < 12   ? 12
                   : 2 * o->n + 3 - at > 40 ? 40
                                            : 20,
                   steps[random_upto(4)]);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        check_walk(o, p, 0, 3 * o->n, steps[i]);
    for (int64_t at = 0; at < o->n; at += 1 + random_upto(3))
        check_windows(o, p, at + random_upto(2) * o->n);
}

static void check_flat(const struct oracle *o, const struct prog *p)
{
    drep_run runs[ITEMS_MAX];
    int n = prog_flat(p, o->n, runs, ITEMS_MAX);
    int64_t at = 0;

    ck_assert_int_ge(n, 0);
    for (int i = 0; i < n; i++) {
        check_run(o, at, &runs[i]);
        at += runs[i].count;
    }
    ck_assert_int_eq(at, o->n);
    if (n > 0)
        ck_assert_int_eq(prog_flat(p, o->n, runs, n - 1), -1);
}

static void check_bounds(const struct oracle *o, const drep_type *t)
{
    int64_t low = 0, high = 0, size = 0;

    for (int64_t i = 0; i < o->n; i++) {
        const struct oracle_item *item = &o->item[i];

        low = i == 0 || item->offset < low ? item->offset : low;
        high = i == 0 || item->offset + item->size > high ? item->offset + item->size : high;
        size += item->size;
    }
    ck_assert_int_eq(drep_type_items(t), o->n);
    ck_assert_int_eq(drep_type_size(t), size);
    ck_assert_int_eq(drep_type_true_lb(t), low);
    ck_assert_int_eq(drep_type_true_extent(t), high - low);
    ck_assert_int_eq(drep_type_lb(t), o->lb);
    ck_assert_int_eq(drep_type_extent(t), oracle_extent(o));
    if (o->n)
        ck_assert_int_eq(drep_type_align(t), o->align);
}

/* PACKED: the same items, back to back in the given sizes. */
static void check_packed(const struct oracle *o, const drep_type *t)
{
    struct oracle packed = {.n = o->n};
    struct prog p;
    int64_t at = 0;

    packed.item = malloc((size_t)o->n * sizeof(*packed.item) + 1);
    for (int64_t i = 0; i < o->n; i++) {
        packed.item[i] = o->item[i];
        packed.item[i].offset = at;
        at += o->item[i].size;
    }
    packed.ub = at;
    ck_assert_int_eq(prog_build(&p, t, view_sizes(), PROG_PACKED), 0);
    ck_assert_int_eq(p.extent, at);
    ck_assert_int_eq(p.size, at);
    check_walk(&packed, &p, 0, o->n ? 2 * o->n : 0, 1000);
    prog_release(&p);
    free(packed.item);
}

START_TEST(test_random_types_walk_as_expanded)
{
    for (int i = 0; i < SAMPLES; i++) {
        struct sample t;
        struct prog view, memory;

        seed = random_state;
        random_sample(&t, 1 + i % 5);
        check_bounds(&t.map[ORACLE_MEMORY], t.type);
        check_cursors(&t.map[ORACLE_MEMORY], &t.type->prog);
        check_flat(&t.map[ORACLE_MEMORY], &t.type->prog);
        ck_assert_int_eq(prog_build(&view, t.type, view_sizes(), PROG_VIEW), 0);
        ck_assert_int_eq(view.extent, oracle_extent(&t.map[ORACLE_VIEW]));
        check_cursors(&t.map[ORACLE_VIEW], &view);
        check_packed(&t.map[ORACLE_VIEW], t.type);
        ck_assert_int_eq(prog_build(&memory, t.type, type_native_sizes(), PROG_MEMORY), 0);
        ck_assert_int_eq(memory.extent, t.type->prog.extent);
        check_walk(&t.map[ORACLE_MEMORY], &memory, 0, t.map[ORACLE_MEMORY].n, 1000);
        prog_release(&view);
        prog_release(&memory);
        sample_release(&t);
    }
}
END_TEST

static bool oracle_same(const struct oracle *a, const struct oracle *b)
{
    if (a->n != b->n || oracle_extent(a) != oracle_extent(b))
        return false;
    for (int64_t i = 0; i < a->n; i++)
        if (!leaf_same(a->item[i].leaf, b->item[i].leaf) || a->item[i].offset != b->item[i].offset)
            return false;
    return true;
}

/* A type of the same typemap from a list of all items, made otherwise. */
static drep_type *spelled_out(const struct oracle *o)
{
    int64_t *displs = malloc((size_t)o->n * sizeof(*displs) + 1);
    const drep_type **types = malloc((size_t)o->n * sizeof(*types) + 1);
    drep_type *bare, *t;

    for (int64_t i = 0; i < o->n; i++) {
        displs[i] = o->item[i].offset;
        types[i] = o->item[i].leaf;
    }
    ck_assert_int_eq(drep_type_struct(o->n, NULL, displs, types, &bare), 0);
    ck_assert_int_eq(drep_type_resized(o->lb, oracle_extent(o), bare, &t), 0);
    drep_type_free(bare);
    free(displs);
    free(types);
    return t;
}

START_TEST(test_equivalent_is_equality_of_typemaps)
{
    for (int i = 0; i < 600; i++) {
        struct sample a, b;
        drep_type *same;

        seed = random_state;
        random_sample(&a, 1 + i % 4);
        random_sample(&b, 1 + i % 3);
        same = spelled_out(&a.map[ORACLE_MEMORY]);
        ck_assert(drep_type_equivalent(a.type, same));
        ck_assert(drep_type_equivalent(same, a.type));
        ck_assert_int_eq(drep_type_equivalent(a.type, b.type),
                         oracle_same(&a.map[ORACLE_MEMORY], &b.map[ORACLE_MEMORY]));
        drep_type_free(same);
        sample_release(&a);
        sample_release(&b);
    }
}
END_TEST

static int64_t nodes(const struct node *node)
{
    int64_t n = 1;

    for (int64_t i = 0; i < node_children(node); i++)
        n += nodes(node->child[i]);
    return n;
}

static drep_run run_at(const drep_type *t, int64_t position, int64_t max)
{
    drep_cursor cursor;
    drep_run run;

    ck_assert_int_eq(drep_cursor_init(&cursor, t, position), 0);
    ck_assert_int_eq(drep_cursor_next(&cursor, max, &run), 1);
    return run;
}

START_TEST(test_regular_typemaps_fold)
{
    const int64_t sizes[] = {4000, 4000, 4000}, subs[] = {1000, 1000, 1000}, starts[] = {5, 6, 7};
    int64_t lens[600], displs[600];
    drep_type *t, *inner, *one;
    drep_run run;

    ck_assert_int_eq(drep_type_contiguous(10, DREP_DOUBLE, &inner), 0);
    ck_assert_int_eq(drep_type_contiguous(7, inner, &t), 0);
    ck_assert_int_eq(t->prog.root->op, NODE_LEAF);
    ck_assert(t->prog.dense);
    drep_type_free(t);
    drep_type_free(inner);

    ck_assert_int_eq(drep_type_subarray(3, sizes, subs, starts, DREP_ORDER_C, DREP_DOUBLE, &t), 0);
    ck_assert_int_le(nodes(t->prog.root), 4);
    run = run_at(t, 123456789, 2000);
    ck_assert_int_eq(run.count, 211);
    ck_assert_int_eq(run.offset, ((123 + 5) * 16000000ll + (456 + 6) * 4000 + 789 + 7) * 8);
    drep_type_free(t);

    run = run_at(DREP_DOUBLE, 5, 1000);
    ck_assert(run.count == 1000 && run.offset == 40 && run.stride == 8);
    ck_assert_int_eq(drep_type_vector(1000, 1, 2, DREP_DOUBLE, &t), 0);
    run = run_at(t, 0, 5000);
    ck_assert(run.count == 1000 && run.stride == 16);
    drep_type_free(t);

    for (int i = 0; i < 600; i++) {
        lens[i] = 2;
        displs[i] = 3 + 7 * i;
    }
    ck_assert_int_eq(drep_type_indexed(600, lens, displs, DREP_INT, &t), 0);
    ck_assert_int_eq(nodes(t->prog.root), 2);
    drep_type_free(t);
    for (int i = 0; i < 600; i++) /* rows of a plane inside a volume */
        displs[i] = i / 20 * 1000 + i % 20 * 10;
    ck_assert_int_eq(drep_type_indexed_block(600, 3, displs, DREP_INT, &t), 0);
    ck_assert_int_eq(nodes(t->prog.root), 3);
    drep_type_free(t);
    for (int i = 0; i < 600; i++)
        displs[i] = 3 * i;
    ck_assert_int_eq(drep_type_indexed_block(600, 3, displs, DREP_INT, &t), 0);
    ck_assert_int_eq(nodes(t->prog.root), 1);
    drep_type_free(t);

    /* Copies of one struct stay one program. */
    ck_assert_int_eq(
        drep_type_struct(2, NULL, NULL, (const drep_type *[]){DREP_INT, DREP_DOUBLE}, &one), 0);
    for (int i = 0; i < 600; i++)
        displs[i] = i * 5 + (i & 1);
    ck_assert_int_eq(drep_type_indexed_block(600, 1, displs, one, &t), 0);
    ck_assert_int_le(nodes(t->prog.root), 6);
    drep_type_free(t);
    drep_type_free(one);
}
END_TEST

/* Equal things anywhere are one list of them, though some are neighbours by chance, or
 * equally far apart; the cursor still gives maximal runs. */
START_TEST(test_irregular_typemaps_are_lists)
{
    enum { N = 3000 };
    static int64_t displs[N];
    drep_type *t, *pair;
    drep_cursor cursor;
    drep_run run;
    int64_t at = 0, i;

    for (i = 0; i < N; i++)
        displs[i] = at += 1 + random_upto(9);
    ck_assert_int_eq(drep_type_indexed_block(N, 1, displs, DREP_DOUBLE, &t), 0);
    ck_assert_int_eq(t->prog.root->op, NODE_LIST);
    ck_assert_int_eq(nodes(t->prog.root), 2);
    ck_assert_ptr_eq(t->prog.root->leaf, DREP_DOUBLE);
    for (i = 0; i < N; i++)
        ck_assert_int_eq(run_at(t, i, 1).offset, 8 * displs[i]);
    ck_assert_int_eq(drep_cursor_init(&cursor, t, 0), 0);
    for (i = 0; i < N; i += run.count) {
        ck_assert_int_eq(drep_cursor_next(&cursor, N - i, &run), 1);
        for (int64_t k = 0; k < run.count; k++)
            ck_assert_int_eq(run.offset + k * run.stride, 8 * displs[i + k]);
        if (i + run.count < N && run.count == 1)
            ck_assert_int_ne(displs[i + 1], displs[i] + 1);
    }
    drep_type_free(t);

    ck_assert_int_eq(
        drep_type_struct(2, NULL, NULL, (const drep_type *[]){DREP_INT, DREP_DOUBLE}, &pair), 0);
    for (i = 0; i < N; i++)
        displs[i] *= 16;
    ck_assert_int_eq(drep_type_hindexed_block(N, 2, displs, pair, &t), 0);
    ck_assert_int_eq(t->prog.root->op, NODE_LIST);
    ck_assert_int_le(nodes(t->prog.root), 6);
    ck_assert_ptr_null(t->prog.root->leaf);
    run = run_at(t, 4 * (N - 1) + 3, 1);
    /* Of the second pair the double, which lies at 4 where doubles are aligned to that. */
    ck_assert(run.type == DREP_DOUBLE);
    ck_assert_int_eq(run.offset, displs[N - 1] + 2 * drep_type_extent(pair) - 8);
    drep_type_free(t);
    drep_type_free(pair);
}
END_TEST

static double seek_seconds(const drep_type *t, int64_t items)
{
    struct timespec a, b;
    double best = 1;

    for (int round = 0; round < 5; round++) {
        int64_t sum = 0;

        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < 20000; i++)
            sum += run_at(t, (int64_t)(random_next() % (uint64_t)items), 1).offset;
        clock_gettime(CLOCK_MONOTONIC, &b);
        ck_assert_int_ne(sum, -1);
        double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;

        best = s < best ? s : best;
    }
    return best;
}

/* A seek in 10^9 items takes what one in 10^3 takes; the factor is for noise. */
START_TEST(test_seek_time_does_not_grow_with_size)
{
    drep_type *t[2];
    double s[2];

    for (int i = 0; i < 2; i++) {
        int64_t n = i ? 1000 : 10;
        const int64_t sizes[] = {4 * n, 4 * n, 4 * n}, subs[] = {n, n, n}, starts[] = {1, 2, 3};

        ck_assert_int_eq(
            drep_type_subarray(3, sizes, subs, starts, DREP_ORDER_C, DREP_DOUBLE, &t[i]), 0);
        s[i] = seek_seconds(t[i], n * n * n);
    }
    ck_assert_msg(s[1] < 8 * s[0] + 1e-3, "%g s against %g s", s[1], s[0]);
    drep_type_free(t[0]);
    drep_type_free(t[1]);
}
END_TEST

/* More than 2^31 items, and as many as fit. */
START_TEST(test_huge_types)
{
    int64_t big = (int64_t)1 << 40;
    drep_cursor cursor;
    drep_type *a, *b, *pair, *t;
    drep_run run;

    ck_assert_int_eq(drep_type_contiguous(big, DREP_DOUBLE, &a), 0);
    ck_assert_int_eq(drep_type_contiguous(big / 16, DREP_DOUBLE, &t), 0);
    ck_assert_int_eq(drep_type_contiguous(16, t, &b), 0);
    drep_type_free(t);
    ck_assert(drep_type_equivalent(a, b));
    ck_assert_int_eq(run_at(a, big + 5, big).count, big);
    drep_type_free(b);
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, (const drep_type *[]){a, DREP_INT}, &pair), 0);
    ck_assert_int_eq(drep_type_contiguous(1 << 18, pair, &t), 0);
    ck_assert_int_eq(drep_type_items(t), (big + 1) * (1 << 18));
    run = run_at(t, (big + 1) * 777 + big, 100);
    ck_assert(run.type == DREP_INT && run.count == 1 &&
              run.offset == 777 * drep_type_extent(pair) + 8 * big);
    drep_type_free(t);
    drep_type_free(pair);
    ck_assert_int_eq(drep_cursor_init(&cursor, a, INT64_MAX), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_cursor_init(&cursor, a, -1), DREP_ERR_ARG);
    drep_type_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cursor");
    TCase *tc = tcase_create("cursor");
    int failed;

    random_seed(20240717);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_random_types_walk_as_expanded);
    tcase_add_test(tc, test_equivalent_is_equality_of_typemaps);
    tcase_add_test(tc, test_regular_typemaps_fold);
    tcase_add_test(tc, test_irregular_typemaps_are_lists);
    tcase_add_test(tc, test_seek_time_does_not_grow_with_size);
    tcase_add_test(tc, test_huge_types);
    suite_add_tcase(suite, tc);
    failed = run_suite(suite);
    if (failed)
        printf("the sample's DREP_TEST_SEED: %llu\n", (unsigned long long)seed);
    return failed;
}
