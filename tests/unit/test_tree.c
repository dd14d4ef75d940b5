/* test_tree.c - the tree against a sorted array, over commits, operations and reopening. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "faultio.h"

#include "base/pool.h"
#include "tree/edit.h"
#include "tree/encode.h"
#include "tree/find.h"
#include "tree/load.h"
#include "tree/path.h"
#include "tree/spill.h"
#include "tree/undo.h"
#include "tree/walk.h"
#include "txn/check.h"
#include "txn/commit.h"
#include "txn/free.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/snapshot.h"
#include "tests/unit/bytes.h"
#include "tests/unit/checks.h"

#include "tests/unit/store_opts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static const struct store_opts opts = STORE_OPTS(.lock = 1, .keep = 2, .cache_size = 1 << 20);

/* ---- the model: entries sorted by key ---- */

struct entry_model {
    struct key key;
    size_t len;
    uint32_t salt; /* what the value is made of */
};

struct model {
    struct entry_model **e;
    size_t n, room;
};

static void value_make(uint8_t *p, size_t len, uint32_t salt)
{
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)(salt + i * 31 + (i >> 8));
}

static size_t model_find(const struct model *m, const struct key *key, int *equal)
{
    size_t low = 0, high = m->n;

    *equal = 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        size_t mlen = m->e[mid]->key.len;
        int c = memcmp(m->e[mid]->key.p, key->p, mlen < key->len ? mlen : key->len);

        c = c ? c : (mlen > key->len) - (mlen < key->len);
        if (c == 0)
            *equal = 1;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void model_put(struct model *m, const struct key *key, size_t len, uint32_t salt)
{
    int equal;
    size_t at = model_find(m, key, &equal);

    if (!equal) {
        if (m->n == m->room) {
            m->room = m->room ? m->room * 2 : 64;
            m->e = realloc(m->e, m->room * sizeof(*m->e));
        }
        memmove(m->e + at + 1, m->e + at, (m->n - at) * sizeof(*m->e));
        m->e[at] = malloc(sizeof(**m->e));
        memcpy(&m->e[at]->key, key, sizeof(*key));
        m->n++;
    }
    m->e[at]->len = len;
    m->e[at]->salt = salt;
}

static int model_del(struct model *m, const struct key *key)
{
    int equal;
    size_t at = model_find(m, key, &equal);

    if (!equal)
        return DREP_ERR_NOT_FOUND;
    free(m->e[at]);
    memmove(m->e + at, m->e + at + 1, (--m->n - at) * sizeof(*m->e));
    return 0;
}

static void model_copy(struct model *to, const struct model *from)
{
    for (size_t i = 0; i < to->n; i++)
        free(to->e[i]);
    to->n = 0;
    for (size_t i = 0; i < from->n; i++)
        model_put(to, &from->e[i]->key, from->e[i]->len, from->e[i]->salt);
}

static void model_release(struct model *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->e[i]);
    free(m->e);
    memset(m, 0, sizeof(*m));
}

/* ---- comparing ---- */

static void random_key(struct key *key, int spread)
{
    /* No records of objects: commits change those. */
    static const uint8_t tags[] = {17, 32, 33, 48, 64, 100};
    size_t len = (size_t)rnd(rnd(20) == 0 ? 1000 : 24);

    key_make(key, 1 + rnd((uint64_t)spread), tags[rnd(6)]);
    for (size_t i = 0; i < len; i++)
        key_add_u8(key, (uint8_t)(rnd(4) ? 'a' + rnd(3) : rnd(256)));
}

static void same_value(const struct entry_model *e, const struct buf *b)
{
    static uint8_t want[1 << 17];

    ck_assert_uint_eq(b->len, e->len);
    value_make(want, e->len, e->salt);
    ck_assert_int_eq(e->len ? memcmp(b->p, want, e->len) : 0, 0);
}

static void same_all(struct store *st, const struct model *m)
{
    struct buf value = {0};
    struct tree_walk w;
    struct key key, from;
    size_t i = 0;
    int err;

    key_make(&from, 1, 0);
    from.len = FMT_KEY_TAG_AT; /* behind everything of object 0 */
    tree_walk(&w, st, &from, 0);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        ck_assert_uint_lt(i, m->n);
        ck_assert_int_eq(key_compare(key.p, key.len, m->e[i]->key.p, m->e[i]->key.len), 0);
        same_value(m->e[i], &value);
        i++;
    }
    ck_assert_int_eq(err, DREP_ERR_NOT_FOUND);
    ck_assert_uint_eq(i, m->n);
    buf_release(&value);
}

static void one_look(struct store *st, const struct model *m, int spread)
{
    struct buf value = {0};
    struct key key, found;
    int equal, err;
    size_t at, prefix;

    random_key(&key, spread);
    if (m->n && rnd(2))
        memcpy(&key, &m->e[rnd(m->n)]->key, sizeof(key));
    at = model_find(m, &key, &equal);
    err = tree_get(st, &key, &value);
    ck_assert_int_eq(err, equal ? 0 : DREP_ERR_NOT_FOUND);
    if (equal)
        same_value(m->e[at], &value);
    if (!equal)
        at--;
    prefix = rnd(2) ? 0 : FMT_KEY_TAG_AT + (size_t)rnd(2);
    err = tree_floor(st, &key, prefix, &found, &value);
    /* Entries of object 0 (free space, log) stand before everything. */
    if (at == (size_t)-1 && prefix == 0 && err == 0) {
        ck_assert_uint_eq(key_object(found.p), 0);
    } else if (at == (size_t)-1 || m->e[at]->key.len < prefix ||
               memcmp(m->e[at]->key.p, key.p, prefix) != 0) {
        ck_assert_int_eq(err, DREP_ERR_NOT_FOUND);
    } else {
        ck_assert_int_eq(err, 0);
        ck_assert_int_eq(key_compare(found.p, found.len, m->e[at]->key.p, m->e[at]->key.len), 0);
        same_value(m->e[at], &value);
    }
    buf_release(&value);
}

static int no_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    ck_abort_msg("finding %d at %llu: %s", err, (unsigned long long)offset, message);
    return 0;
}

static void check_store(struct store *st)
{
    int64_t findings = 0;
    drep_usage usage = DREP_USAGE;

    ck_assert_int_eq(store_check(st, no_finding, NULL, NULL, NULL, NULL, &findings, &usage), 0);
    ck_assert_int_eq(findings, 0);
}

static void one_change(struct store *st, struct model *m, int spread, int dels)
{
    static uint8_t bytes[1 << 17];
    uint32_t salt = (uint32_t)rnd(1000);
    size_t len = (size_t)rnd(60);
    struct key key;
    int err;

    random_key(&key, spread);
    if (m->n && rnd(3) == 0)
        memcpy(&key, &m->e[rnd(m->n)]->key, sizeof(key));
    if (rnd(30) == 0)
        len = (size_t)rnd(2049);
    if (rnd(300) == 0)
        len = (size_t)rnd(100000);
    if ((int)rnd(100) < dels && m->n) {
        if (rnd(4))
            memcpy(&key, &m->e[rnd(m->n)]->key, sizeof(key));
        ck_assert_int_eq(tree_del(st, &key), model_del(m, &key));
        return;
    }
    value_make(bytes, len, salt);
    err = tree_put(st, &key, bytes, len);
    ck_assert_int_eq(err, 0);
    model_put(m, &key, len, salt);
}

static void close_and_reopen(struct fault_file *file, struct store **st)
{
    store_close(*st);
    ck_assert_int_eq(store_open(fault_io(file), 1, &opts, st), 0);
    ck_assert_int_eq(free_begin(*st), 0);
}

static void must_commit(struct store *st)
{
    uint8_t header[8] = {0, 1, 0, 0, 0, 2, 9, 9};

    ck_assert_int_eq(store_commit(st, header, sizeof(header), sizeof(header)), 0);
    ck_assert_int_eq(free_begin(st), 0);
}

START_TEST(test_tree_against_model)
{
    struct fault_file file;
    struct store *st;
    struct model m = {0}, committed = {0}, before = {0};
    int spread = _i == 0 ? 5 : _i == 1 ? 200 : 3000;

    seed = 1234567 + (uint64_t)_i;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (int round = 0; round < 60; round++) {
        int dels = round % 20 < 10 ? 20 : 70;

        for (int i = 0; i < 600; i++)
            one_change(st, &m, spread, dels);
        for (int i = 0; i < 100; i++)
            one_look(st, &m, spread);
        if (rnd(3) == 0) { /* an operation that is taken back */
            model_copy(&before, &m);
            ck_assert_int_eq(store_op_begin(st), 0);
            for (int i = 0; i < 100; i++)
                one_change(st, &m, spread, 50);
            ck_assert_int_eq(store_op_end(st, 0), 0);
            model_copy(&m, &before);
            same_all(st, &m);
        }
        if (m.n && rnd(2)) {
            must_commit(st);
            model_copy(&committed, &m);
            check_store(st);
        }
        if (rnd(5) == 0)
            same_all(st, &m);
        if (rnd(6) == 0 && committed.n) {
            close_and_reopen(&file, &st);
            model_copy(&m, &committed);
            same_all(st, &m);
            check_store(st);
        }
    }
    /* Files must not grow without bound: what is freed is used again. */
    if (m.n)
        must_commit(st);
    check_store(st);
    store_close(st);
    model_release(&m);
    model_release(&committed);
    model_release(&before);
    fault_release(&file);
}
END_TEST

/* ---- look-ups near each other, by several threads ---- */

struct near_looks {
    struct store *st;
    const struct model *m;
    uint64_t seed;
    int wrong;
};

static uint64_t near_rnd(struct near_looks *l, uint64_t n)
{
    l->seed ^= l->seed << 13;
    l->seed ^= l->seed >> 7;
    l->seed ^= l->seed << 17;
    return l->seed % n;
}

/* The key at hand, or one close to it that may not be there. */
static void near_key(struct near_looks *l, size_t at, struct key *key)
{
    memcpy(key, &l->m->e[at]->key, sizeof *key);
    switch (near_rnd(l, 8)) {
    case 0:
        key->len = key->len > FMT_KEY_HEAD ? key->len - 1 : FMT_KEY_HEAD;
        break;
    case 1:
        key_add_u8(key, (uint8_t)near_rnd(l, 256));
        break;
    case 2:
        key->p[key->len - 1] ^= (uint8_t)(1 + near_rnd(l, 3));
        break;
    default:
        break;
    }
}

static int near_same(const struct near_looks *l, const struct key *key)
{
    struct buf value = {0};
    struct peek peek;
    int equal, err = tree_get(l->st, key, &value), again = tree_peek(l->st, key, &peek);
    size_t at = model_find(l->m, key, &equal);
    int same = err == again && err == (equal ? 0 : DREP_ERR_NOT_FOUND);

    if (same && equal) {
        uint8_t *want = malloc(value.len + 1);

        value_make(want, l->m->e[at]->len, l->m->e[at]->salt);
        same = value.len == l->m->e[at]->len && peek.len == value.len;
        same = same && (value.len == 0 || (memcmp(want, value.p, value.len) == 0 &&
                                           memcmp(want, peek.p, value.len) == 0));
        free(want);
    }
    if (again == 0)
        tree_peeked(&peek);
    buf_release(&value);
    return same;
}

static void *near_thread(void *ctx)
{
    struct near_looks *l = ctx;
    size_t at = 0;
    struct key key;

    for (int i = share_of(60000); i > 0; i--) {
        uint64_t how = near_rnd(l, 100);

        if (how < 90)
            at += (size_t)near_rnd(l, 9);
        else if (how < 95)
            at -= at < 40 ? at : (size_t)near_rnd(l, 40);
        else
            at = (size_t)near_rnd(l, l->m->n);
        at %= l->m->n;
        near_key(l, at, &key);
        l->wrong += !near_same(l, &key);
    }
    return NULL;
}

START_TEST(test_tree_near)
{
    struct near_looks looks[4];
    pthread_t thread[4];
    struct fault_file file;
    struct store *st;
    struct model m = {0};

    seed = 777 + (uint64_t)_i;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (int i = 0; i < 8000; i++)
        one_change(st, &m, _i == 0 ? 20 : 4000, 0);
    must_commit(st);
    close_and_reopen(&file, &st);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 4; i++) {
            looks[i] = (struct near_looks){st, &m, 99 + (uint64_t)(i + 4 * again), 0};
            ck_assert_int_eq(pthread_create(&thread[i], NULL, near_thread, &looks[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], NULL);
            ck_assert_int_eq(looks[i].wrong, 0);
        }
        /* Another tree: what was remembered of the first must not be believed. */
        for (int i = 0; i < 2000; i++)
            one_change(st, &m, _i == 0 ? 20 : 4000, 60);
        must_commit(st);
    }
    store_close(st);
    model_release(&m);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_around_one_place)
{
    /* What is changed lies at or near what was changed last, in leaves of every fill. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};
    uint64_t at = 3000;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (int i = 0; i < 60000; i++) {
        uint8_t bytes[64];
        uint32_t salt = (uint32_t)rnd(1000);
        size_t len = (size_t)rnd(64);
        struct key key;

        at = rnd(400) == 0 ? rnd(6000) : (at + rnd(7) + 5997) % 6000;
        key_make(&key, 1 + at / 2000, FMT_TAG_LINK);
        for (uint64_t k = 0; k < at % 5; k++)
            key_add_u32(&key, 77);
        key_add_u32(&key, (uint32_t)at);
        if (rnd(3) == 0) {
            ck_assert_int_eq(tree_del(st, &key), model_del(&m, &key));
            continue;
        }
        value_make(bytes, len, salt);
        ck_assert_int_eq(tree_put(st, &key, bytes, len), 0);
        model_put(&m, &key, len, salt);
        if (i % 20000 == 19999) {
            same_all(st, &m);
            must_commit(st);
            check_store(st);
            close_and_reopen(&file, &st);
            same_all(st, &m);
        }
    }
    same_all(st, &m);
    store_close(st);
    fault_release(&file);
    model_release(&m);
}
END_TEST

static void many_key(struct key *key, uint64_t i)
{
    /* Some keys are long, and some leaves have few long keys among many short ones. */
    key_make(key, 1 + i / 1000, i % 7 ? FMT_TAG_LINK : FMT_TAG_ATTR);
    key_add_u64(key, i);
    for (uint64_t k = 0; i % 997 == 0 && k < 900; k += 4)
        key_add_u32(key, (uint32_t)(i + k));
}

START_TEST(test_tree_more_leaves_than_the_cache_holds)
{
    enum { N = 300000 };
    struct fault_file file;
    struct store *st;
    uint8_t bytes[40];
    struct key key;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < N; i++) {
        many_key(&key, i);
        value_make(bytes, (size_t)(i % 41), (uint32_t)i);
        ck_assert_int_eq(tree_put(st, &key, bytes, (size_t)(i % 41)), 0);
    }
    must_commit(st);
    close_and_reopen(&file, &st);
    for (int k = 0; k < 40000; k++) {
        struct peek peek;
        uint64_t i = rnd(N + 1000);
        int err;

        many_key(&key, i);
        if (k % 3 == 0)
            key_add_u8(&key, 0);
        err = tree_peek(st, &key, &peek);
        ck_assert_int_eq(err, i < N && k % 3 ? 0 : DREP_ERR_NOT_FOUND);
        if (err)
            continue;
        value_make(bytes, (size_t)(i % 41), (uint32_t)i);
        ck_assert_uint_eq(peek.len, i % 41);
        ck_assert(peek.len == 0 || memcmp(peek.p, bytes, peek.len) == 0);
        tree_peeked(&peek);
    }
    ck_assert_ptr_nonnull(st->tree->nodes.mem.with_room); /* leaves came from regions */
    store_close(st);
    fault_release(&file);
}
END_TEST

static void must_have(struct store *st, const struct key *key, const char *text)
{
    struct buf b = {0};
    struct peek peek = {0};

    ck_assert_int_eq(tree_get(st, key, &b), text ? 0 : DREP_ERR_NOT_FOUND);
    ck_assert_int_eq(tree_peek(st, key, &peek), text ? 0 : DREP_ERR_NOT_FOUND);
    if (text) {
        ck_assert_uint_eq(b.len, strlen(text));
        ck_assert_mem_eq(b.p, text, b.len);
        ck_assert_uint_eq(peek.len, strlen(text));
        ck_assert_mem_eq(peek.p, text, peek.len);
        tree_peeked(&peek);
    }
    buf_release(&b);
}

START_TEST(test_tree_leaves_looked_at_are_not_those_of_before)
{
    struct snapshot old;
    struct fault_file file;
    struct store *st, *reader;
    struct key a, b;
    int moved;

    fault_init(&file);
    key_make(&a, 5, FMT_TAG_OBJECT);
    key_make(&b, 5, FMT_TAG_LINK);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    must_have(st, &a, NULL);
    ck_assert_int_eq(tree_put(st, &a, "1", 1), 0);
    ck_assert_int_eq(tree_put(st, &b, "2", 1), 0);
    must_commit(st);
    ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &reader), 0);
    for (int i = 0; i < 3; i++) {
        must_have(st, &a, "1");
        must_have(st, &b, "2");
        must_have(reader, &a, "1");
        must_have(reader, &b, "2");
        ck_assert_int_eq(store_op_begin(st), 0);
        ck_assert_int_eq(tree_put(st, &a, "3", 1), 0);
        ck_assert_int_eq(tree_del(st, &b), 0);
        must_have(st, &a, "3");
        must_have(st, &b, NULL);
        ck_assert_int_eq(store_op_end(st, 0), 0);
    }
    must_commit(st); /* of what was taken back */
    must_have(st, &a, "1");
    must_have(st, &b, "2");
    ck_assert_int_eq(tree_put(st, &a, "33", 2), 0);
    must_commit(st);
    must_have(st, &a, "33");
    must_have(reader, &a, "1");
    ck_assert_int_eq(store_refresh(reader, &old, &moved), 0);
    ck_assert_int_eq(moved, 1);
    must_have(reader, &a, "33");
    store_refresh_end(reader, &old, 0);
    must_have(reader, &a, "1");
    ck_assert_int_eq(store_refresh(reader, &old, &moved), 0);
    store_refresh_end(reader, &old, 1);
    must_have(reader, &a, "33");
    ck_assert_int_eq(tree_del(st, &a), 0);
    ck_assert_int_eq(tree_del(st, &b), 0);
    must_have(st, &a, NULL);
    must_commit(st);
    must_have(st, &b, NULL);
    must_have(reader, &b, "2");
    store_close(reader);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_in_order_is_full)
{
    /* Keys in order at several places: leaves are full, wherever that is. */
    struct fault_file file;
    struct store *st;
    drep_usage usage = DREP_USAGE;
    uint64_t bytes = 0;
    uint8_t v[40] = {1};
    int64_t findings;
    struct key key;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 20000; i++) {
        key_make(&key, 1, FMT_TAG_LINK + 1);
        key_add_u64(&key, i);
        ck_assert_int_eq(tree_put(st, &key, v, 12), 0);
        key_make(&key, 7, FMT_TAG_LINK + 1);
        key_add_u64(&key, i);
        ck_assert_int_eq(tree_put(st, &key, v, 20), 0);
        key_make(&key, 100 + i, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_put(st, &key, v, 40), 0);
        bytes += 4 + 2 + 12 + 4 + 2 + 20 + 4 + 3 + 40;
    }
    must_commit(st);
    ck_assert_int_eq(store_check(st, no_finding, NULL, NULL, NULL, NULL, &findings, &usage), 0);
    ck_assert_msg((uint64_t)usage.nodes < bytes + bytes / 8, "%lld bytes of nodes for %llu",
                  (long long)usage.nodes, (unsigned long long)bytes);
    store_close(st);
    fault_release(&file);
}
END_TEST

/* Entries below a node, and the leaves that hold them. */
static void count_leaves(struct store *st, const struct ref *ref, uint32_t *entries,
                         uint32_t *leaves)
{
    struct tree_node *n;

    ck_assert_int_eq(node_load(st, ref, -1, &n), 0);
    if (n->level == 0) {
        *entries += n->n;
        ++*leaves;
    }
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        count_leaves(st, &c.ref, entries, leaves);
    }
    node_unref(n);
}

/* Long values in order, each of which grows until it is full, with other entries behind them and a
 * commit now and then: the leaf that grows stays short, those it leaves behind are filled. */
START_TEST(test_tree_long_values_fill_leaves)
{
    static const int commits[] = {1, 7, 1000000};
    enum { VALUES = 400, LONG = 1552, STEPS = 4 };
    uint32_t entries = 0, leaves = 0;
    uint8_t v[LONG] = {7};
    struct fault_file file;
    struct store *st;
    struct key key;
    size_t most = 0;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    key_make(&key, 9, FMT_TAG_OBJECT);
    ck_assert_int_eq(tree_put(st, &key, v, 700), 0);
    for (int i = 0; i < VALUES * STEPS; i++) {
        struct tree_node *leaf;

        key_make(&key, 3, FMT_TAG_LINK + 1);
        key_add_u64(&key, (uint64_t)(i / STEPS));
        ck_assert_int_eq(tree_put(st, &key, v, LONG / STEPS * (size_t)(i % STEPS + 1)), 0);
        ck_assert_int_eq(path_own(st, key.p, key.len, &leaf), 0);
        most = leaf->bytes > most ? leaf->bytes : most;
        if (i % commits[_i] == 0)
            must_commit(st);
    }
    must_commit(st);
    count_leaves(st, &st->tree->root, &entries, &leaves);
    ck_assert_uint_ge(entries, VALUES);
    ck_assert_msg(leaves <= VALUES / 10 + 3, "%u entries in %u leaves", entries, leaves);
    ck_assert_uint_le(most, LEAF_MAX);
    /* Values that are changed later, and keys between the others, find room where they are. */
    for (int i = 0; i < VALUES; i += 9) {
        key_make(&key, 3, FMT_TAG_LINK + 1);
        key_add_u64(&key, (uint64_t)i);
        ck_assert_int_eq(tree_put(st, &key, v, LONG - 200), 0);
        key_add_u8(&key, 120);
        ck_assert_int_eq(tree_put(st, &key, v, 9), 0);
    }
    must_commit(st);
    entries = leaves = 0;
    count_leaves(st, &st->tree->root, &entries, &leaves);
    ck_assert_msg(leaves <= VALUES / 8, "%u entries in %u leaves", entries, leaves);
    check_store(st);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_many_objects)
{
    /* What making many small datasets does, until interior nodes are cut too. */
    struct fault_file file;
    struct store *st;
    drep_usage usage = DREP_USAGE;
    uint8_t v[100] = {1};
    int64_t findings;
    struct key key;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 60000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "dataset%06d", (int)i);
        key_make(&key, 2 + i, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_put(st, &key, v, 60), 0);
        key_make(&key, 1, FMT_TAG_LINK);
        key_add_bytes(&key, name, 13);
        ck_assert_int_eq(tree_put(st, &key, v, 17), 0);
        key_make(&key, 1, FMT_TAG_LINK + 1);
        key_add_u64(&key, i);
        ck_assert_int_eq(tree_put(st, &key, name, 13), 0);
        key_make(&key, 1, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_put(st, &key, v, 30), 0);
        key_make(&key, 2 + i, FMT_TAG_DATA);
        ck_assert_int_eq(tree_put(st, &key, v, 100), 0);
    }
    must_commit(st);
    ck_assert_int_eq(store_check(st, no_finding, NULL, NULL, NULL, NULL, &findings, &usage), 0);
    for (uint64_t i = 0; i < 60000; i += 7) {
        key_make(&key, 2 + i, FMT_TAG_DATA);
        ck_assert_int_eq(tree_get(st, &key, NULL), 0);
        key_make(&key, 1, FMT_TAG_LINK + 1);
        key_add_u64(&key, i);
        ck_assert_int_eq(tree_get(st, &key, NULL), 0);
    }
    for (uint64_t i = 0; i < 60000; i++) { /* and cut down again */
        key_make(&key, 2 + i * 7 % 60000, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_del(st, &key), 0);
    }
    must_commit(st);
    ck_assert_int_eq(store_check(st, no_finding, NULL, NULL, NULL, NULL, &findings, &usage), 0);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_file_does_not_grow)
{
    /* D15, D16: what a commit frees is used again two commits later. */
    struct fault_file file;
    struct store *st;
    struct key key;
    uint8_t v[100] = {0};
    size_t after = 0;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 3000; i++) {
        key_make(&key, i + 1, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_put(st, &key, v, 100), 0);
    }
    must_commit(st);
    for (int round = 0; round < 400; round++) {
        for (int i = 0; i < 5; i++) {
            key_make(&key, rnd(3000) + 1, FMT_TAG_OBJECT);
            ck_assert_int_eq(tree_put(st, &key, v, 100), 0);
        }
        must_commit(st);
        if (round == 50)
            after = file.size;
        if (round % 100 == 99)
            close_and_reopen(&file, &st);
    }
    check_store(st);
    ck_assert_msg(file.size < after + after / 2, "%zu bytes after 50 commits, %zu after 400", after,
                  file.size);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_nodes_do_not_grow)
{
    /* A node that each commit changes takes no more memory after thousands of them. */
    struct fault_file file;
    uint8_t v[300] = {0};
    struct store *st;
    struct tree_node *n;
    struct key key;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint64_t i = 0; i < 3000; i++) {
        key_make(&key, 1 + i % 5, FMT_TAG_OBJECT);
        ck_assert_int_eq(tree_put(st, &key, v, (size_t)rnd(sizeof(v))), 0);
        must_commit(st);
    }
    ck_assert_int_eq(node_load(st, &st->tree->root, -1, &n), 0);
    ck_assert_uint_lt(node_memory(n), 4 * FMT_NODE_MAX);
    node_unref(n);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_spills)
{
    /* D24: many dirty leaves go to the file before the commit. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};
    uint8_t v[200];
    struct key key;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (uint32_t i = 0; i < 100000; i++) {
        key_make(&key, 1 + i % 50000, FMT_TAG_USER);
        key_add_u32(&key, i);
        value_make(v, sizeof(v), i);
        ck_assert_int_eq(tree_put(st, &key, v, sizeof(v)), 0);
        if (i % 50 == 0)
            model_put(&m, &key, sizeof(v), i);
    }
    ck_assert_uint_le(st->tree->leaves, LEAVES_MAX + 1);
    must_commit(st);
    check_store(st);
    for (int i = 0; i < 2000; i++) {
        struct buf b = {0};
        const struct entry_model *e = m.e[rnd(m.n)];

        ck_assert_int_eq(tree_get(st, &e->key, &b), 0);
        same_value(e, &b);
        buf_release(&b);
    }
    store_close(st);
    model_release(&m);
    fault_release(&file);
}
END_TEST

START_TEST(test_tree_spills_anywhere)
{
    /* Keys that come and go in no order: leaves written early are soon changed again, and
     * the places that they leave are used. */
    enum { N = 40000, STEP = 24547 };
    struct fault_file file;
    struct store *st;
    uint64_t end;
    struct key key;
    uint8_t v[100] = {1};

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    store_set_memory(st, 100, UNDO_MAX, 16);
    for (uint32_t i = 0; i < N; i++) {
        key_make(&key, 1 + i * STEP % N, FMT_TAG_USER);
        ck_assert_int_eq(tree_put(st, &key, v, sizeof(v)), 0);
        ck_assert_uint_le(st->tree->leaves, 104);
    }
    must_commit(st);
    end = st->slot.end;
    ck_assert_uint_le(end, 2 * N * 110);
    store_set_memory(st, 100, UNDO_MAX, 16);
    for (uint32_t i = 0; i < N - 1; i++) {
        key_make(&key, 1 + i * (STEP + 2) % N, FMT_TAG_USER);
        ck_assert_int_eq(tree_del(st, &key), 0);
        ck_assert_uint_le(st->tree->leaves, 104);
    }
    ck_assert_uint_le(st->space->room_touched, 3 * N);
    must_commit(st);
    ck_assert_uint_le(st->slot.end, 3 * end);
    check_store(st);
    for (int i = 0; i < 4; i++) { /* and all of it is free in the end */
        ck_assert_int_eq(tree_put(st, &key, v, (size_t)i), 0);
        must_commit(st);
    }
    ck_assert_uint_le(st->slot.end, 65536);
    store_close(st);
    fault_release(&file);
}
END_TEST

/* The words of keys, also of short ones and of ids of 64 bits, never say another order than the
 * keys. */
START_TEST(test_words_order_as_keys_do)
{
    static const uint64_t ids[] = {0,
                                   1,
                                   2,
                                   (UINT64_C(1) << 56) - 1,
                                   UINT64_C(1) << 56,
                                   (UINT64_C(1) << 56) + 1,
                                   FMT_OBJECT_END - 1,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
    struct key k[2];
    int told = 0, rounds = share_of(200000);

    for (int round = 0; round < rounds; round++) {
        int order, words;

        for (int i = 0; i < 2; i++) {
            key_make_in(&k[i], (uint8_t)(rnd(3) ? rnd(2) : 254 + rnd(2)), ids[rnd(9)],
                        (uint8_t)(rnd(2) ? 255 : rnd(3)));
            for (size_t n = (size_t)rnd(12); n > 0; n--)
                key_add_u8(&k[i], (uint8_t)(rnd(2) ? 255 : rnd(2)));
            if (rnd(4) == 0) /* a separator */
                k[i].len = (size_t)rnd(k[i].len + 1);
        }
        order = key_compare(k[0].p, k[0].len, k[1].p, k[1].len);
        words = words_compare(words_of(k[0].p, k[0].len), words_of(k[1].p, k[1].len));
        ck_assert(words == 0 || (words < 0) == (order < 0));
        told += words != 0;
    }
    ck_assert_int_gt(told, rounds / 2);
}
END_TEST

/* A node as another writer may have it, whose keys say all their bytes, and the same in ours. */
START_TEST(test_keys_that_share_less_than_they_could)
{
    enum { N = 20 };
    uint8_t block[FMT_NODE_MAX + NODE_SLACK] = {0}, again[FMT_NODE_MAX + NODE_SLACK] = {0};
    struct block_head head = {.kind = FMT_NODE, .level = (uint8_t)_i, .count = N};
    const uint8_t uuid[8] = {1};
    struct tree_node *read, *copy, *back;
    const char *why;
    struct key key;
    struct out out;
    size_t at;

    out_init(&out, block + FMT_BLOCK_HEAD, FMT_NODE_MAX - FMT_BLOCK_HEAD);
    for (uint32_t i = 0; i < N; i++) {
        struct ref ref = {FMT_SPACE_START + 4096 * i, 100, i};
        uint8_t value[FMT_REF_SIZE];
        struct out to;

        out_init(&to, value, sizeof(value));
        ref_put(&to, &ref);
        key_make(&key, 7, FMT_TAG_ATTR);
        key_add_u64(&key, i);
        entry_put(&out, 0, key.p, key.len, value, sizeof(value), 0);
    }
    head.length = (uint32_t)(FMT_BLOCK_HEAD + out.at);
    ck_assert_int_eq(node_decode(&read, NULL, block, &head, &why, &at), 0);
    copy = node_copy(read);
    ck_assert_ptr_nonnull(copy);
    ck_assert_uint_eq(copy->bytes, read->bytes - (N - 1) * 17); /* all but the last byte */
    node_encode(copy, again, uuid, 1);
    head.length = (uint32_t)copy->bytes;
    ck_assert_int_eq(node_decode(&back, NULL, again, &head, &why, &at), 0);
    for (uint32_t i = 0; i < N; i++) {
        struct key other;

        node_key(read, i, &key);
        node_key(back, i, &other);
        ck_assert_uint_eq(other.len, 18);
        ck_assert_mem_eq(other.p, key.p, other.len);
    }
    node_unref(read);
    node_unref(copy);
    node_unref(back);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tree");
    TCase *t = tcase_create("tree");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_tree_against_model, 0, 3);
    tcase_add_loop_test(t, test_tree_near, 0, 2);
    tcase_add_test(t, test_tree_around_one_place);
    tcase_add_test(t, test_tree_more_leaves_than_the_cache_holds);
    tcase_add_test(t, test_tree_leaves_looked_at_are_not_those_of_before);
    tcase_add_test(t, test_tree_in_order_is_full);
    tcase_add_loop_test(t, test_tree_long_values_fill_leaves, 0, 3);
    tcase_add_test(t, test_tree_many_objects);
    tcase_add_test(t, test_tree_file_does_not_grow);
    tcase_add_test(t, test_tree_nodes_do_not_grow);
    tcase_add_test(t, test_tree_spills);
    tcase_add_test(t, test_tree_spills_anywhere);
    tcase_add_test(t, test_words_order_as_keys_do);
    tcase_add_loop_test(t, test_keys_that_share_less_than_they_could, 0, 2);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
