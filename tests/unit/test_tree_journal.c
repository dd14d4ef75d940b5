/* test_tree_journal.c - which entries changed since the last commit (tree/journal.h).
 *
 * A list of the keys that the test has changed, with the values that they have in the end, is the
 * oracle of the notes; of digests it is that stores with the same entries, which got them in
 * another order and with detours, agree, and others do not. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "faultio.h"

#include "chunk/write.h"
#include "format/block.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/journal.h"
#include "tree/tree.h"
#include "txn/commit.h"
#include "txn/free.h"
#include "txn/op.h"
#include "txn/open.h"
#include "tests/unit/store_opts.h"

static const struct store_opts opts = STORE_OPTS(.keep = 2, .cache_size = 1 << 18);

static struct store *new_store(struct fault_file *file)
{
    struct store *st = NULL;

    fault_init(file);
    ok(store_create(fault_io(file), &opts, &st));
    ok(journal_begin(st));
    return st;
}

static void end_store(struct fault_file *file, struct store *st)
{
    store_close(st);
    fault_release(file);
}

static int commit_store(struct store *st)
{
    static const uint8_t header[8] = {0, 1};
    int err = store_commit(st, header, sizeof header, sizeof header);

    return err ? err : free_begin(st);
}

static struct key key_of(uint64_t object, uint8_t tag, const char *name)
{
    struct key key;

    key_make(&key, object, tag);
    ok(key_add_bytes(&key, name, strlen(name)));
    return key;
}

static void put_text(struct store *st, uint64_t object, const char *name, const char *text)
{
    struct key key = key_of(object, FMT_TAG_ATTR, name);

    ok(tree_put(st, &key, text, strlen(text)));
}

static void remove_text(struct store *st, uint64_t object, const char *name)
{
    struct key key = key_of(object, FMT_TAG_ATTR, name);

    ok(tree_del(st, &key));
}

struct summary {
    uint64_t digest, n;
};

static struct summary summarise(struct store *st)
{
    struct summary s = {0, 0};

    ok(journal_digest(st, &s.digest, &s.n));
    return s;
}

/* ---- what is noted ---- */

enum { KEYS = 400 };

struct expected {
    struct key key;
    uint8_t value[64];
    size_t len;
    bool there;
};

struct listed {
    struct expected *e;
    size_t at, n;
};

static int expect_next(void *ctx, const struct key *key, const struct buf *value)
{
    struct listed *l = ctx;
    const struct expected *e = l->e + l->at++;

    ck_assert_uint_le(l->at, l->n);
    ck_assert_uint_eq(key->len, e->key.len);
    ck_assert_int_eq(memcmp(key->p, e->key.p, key->len), 0);
    ck_assert_int_eq(value != NULL, e->there);
    if (value) {
        ck_assert_uint_eq(value->len, e->len);
        ck_assert_int_eq(memcmp(value->p, e->value, e->len), 0);
    }
    return 0;
}

static int compare_expected(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;

    return key_compare(x->key.p, x->key.len, y->key.p, y->key.len);
}

/* Keys of any length, some the beginning of others. */
static void random_key(struct rnd *r, int number, struct key *key)
{
    uint8_t tail[FMT_KEY_MAX] = {0};

    key_make(key, 2 + rnd_below(r, 30), FMT_TAG_ATTR);
    ok(key_add_bytes(key, tail, (size_t)rnd_below(r, 6)));
    key_add_u32(key, (uint32_t)number);
    if (rnd_below(r, 20) == 0)
        ok(key_add_bytes(key, tail, FMT_KEY_MAX - key->len));
}

START_TEST(test_each_changed_entry_once_in_order)
{
    static struct expected model[KEYS];
    struct listed all = {.e = model, .n = KEYS};
    struct fault_file file;
    struct store *st = new_store(&file);
    struct rnd r;

    rnd_init(&r, (uint64_t)_i);
    for (int i = 0; i < KEYS; i++)
        random_key(&r, i, &model[i].key);
    for (int step = 0; step < 5 * KEYS; step++) {
        struct expected *e = model + (step < KEYS ? step : (int)rnd_below(&r, KEYS));

        if (step < KEYS || rnd_below(&r, 3)) {
            e->len = (size_t)rnd_below(&r, sizeof e->value);
            rnd_fill(&r, e->value, e->len);
            ok(tree_put(st, &e->key, e->value, e->len));
            e->there = true;
        } else if (e->there) {
            ok(tree_del(st, &e->key));
            e->there = false;
        }
    }
    qsort(model, KEYS, sizeof *model, compare_expected);
    ck_assert_uint_eq(summarise(st).n, KEYS);
    ok(journal_each(st, expect_next, &all));
    ck_assert_uint_eq(all.at, KEYS);
    end_store(&file, st);
}
END_TEST

/* Where a store put something is not what it holds. */
START_TEST(test_places_are_left_out)
{
    static const uint8_t bytes[8192] = {1};
    struct fault_file file;
    struct store *st = new_store(&file);
    struct chunks cs = {.st = st, .object = 9, .rank = 1, .payload = sizeof bytes};
    uint64_t c = 0;

    put_text(st, 5, "a", "1");
    ok(commit_store(st)); /* entries of the log and of free space */
    journal_clear(st->journal);
    ok(chunk_write(&cs, &c, 1, bytes, sizeof bytes));
    ok(commit_store(st));
    ok(chunk_write(&cs, &c, 1, bytes, sizeof bytes));
    ok(commit_store(st));
    ck_assert_uint_eq(summarise(st).n, 0);
    put_text(st, 5, "b", "1");
    ck_assert_uint_eq(summarise(st).n, 1);
    end_store(&file, st);
}
END_TEST

/* A commit does not clear it: whoever keeps it says when its entries are settled. */
START_TEST(test_clearing_and_pausing)
{
    struct fault_file file;
    struct store *st = new_store(&file);
    struct summary empty = summarise(st), one;

    put_text(st, 5, "a", "1");
    one = summarise(st);
    ck_assert_uint_eq(one.n, 1);
    ck_assert_uint_ne(one.digest, empty.digest);
    ok(commit_store(st));
    ck_assert_uint_eq(summarise(st).digest, one.digest);
    journal_clear(st->journal);
    ck_assert_uint_eq(summarise(st).digest, empty.digest);
    st->journal->paused = true;
    put_text(st, 5, "b", "1");
    st->journal->paused = false;
    ck_assert_uint_eq(summarise(st).n, 0);
    put_text(st, 5, "b", "2");
    ck_assert_uint_eq(summarise(st).n, 1);
    journal_end(st);
    put_text(st, 5, "c", "1"); /* no journal, no note */
    journal_end(st);
    end_store(&file, st);
}
END_TEST

/* Rolling back leaves notes of entries that are as before. */
START_TEST(test_rollback)
{
    struct expected e = {.key = key_of(5, FMT_TAG_ATTR, "a"), .value = "old", .len = 3};
    struct listed one = {.e = &e, .n = 1};
    struct fault_file file;
    struct store *st = new_store(&file);

    put_text(st, 5, "a", "old");
    journal_clear(st->journal);
    ok(store_op_begin(st));
    put_text(st, 5, "a", "new");
    ok(store_op_end(st, 0));
    ck_assert_uint_eq(summarise(st).n, 1);
    e.there = true;
    ok(journal_each(st, expect_next, &one));
    ck_assert_uint_eq(one.at, 1);
    end_store(&file, st);
}
END_TEST

static int stop_at_second(void *ctx, const struct key *key, const struct buf *value)
{
    (void)key;
    (void)value;
    return ++*(int *)ctx == 2 ? DREP_ERR_LIMIT : 0;
}

START_TEST(test_a_callback_that_fails)
{
    struct fault_file file;
    struct store *st = new_store(&file);
    int calls = 0;

    for (uint64_t object = 2; object < 9; object++)
        put_text(st, object, "a", "1");
    ck_assert_uint_eq(summarise(st).n, 7);
    ck_assert_int_eq(journal_each(st, stop_at_second, &calls), DREP_ERR_LIMIT);
    ck_assert_int_eq(calls, 2);
    end_store(&file, st);
}
END_TEST

/* ---- digests ---- */

/* The same entries by several ways. */
static void make_entries(struct store *st, int way)
{
    if (way == 1)
        put_text(st, 7, "c", "a detour");
    if (way == 2) {
        put_text(st, 7, "c", "3");
        ok(commit_store(st));
    }
    for (int i = 0; i < 100; i++)
        put_text(st, (uint64_t)(way == 3 ? 199 - i : 100 + i), "many", "x");
    put_text(st, 5, "a", "1");
    put_text(st, 5, "b", "2");
    put_text(st, 6, "gone", "");
    remove_text(st, 6, "gone");
    put_text(st, 7, "c", "3");
    if (way == 4)
        for (int i = 0; i < 300; i++) /* noted as often */
            put_text(st, i % 2 ? 5 : 7, i % 2 ? "a" : "c", i % 2 ? "1" : "3");
}

START_TEST(test_equal_entries_have_equal_digests)
{
    struct fault_file file, other;
    struct store *st = new_store(&file), *same;
    struct summary s;

    make_entries(st, 0);
    s = summarise(st);
    ck_assert_uint_eq(s.n, 104);
    for (int way = 1; way < 5; way++) {
        same = new_store(&other);
        make_entries(same, way);
        ck_assert_uint_eq(summarise(same).digest, s.digest);
        ck_assert_uint_eq(summarise(same).n, s.n);
        end_store(&other, same);
    }
    ck_assert_uint_eq(summarise(st).digest, s.digest); /* asking changes nothing */
    end_store(&file, st);
}
END_TEST

/* One difference at a time; also where a key ends and its value begins. */
static void make_other(struct store *st, int difference)
{
    make_entries(st, 0);
    switch (difference) {
    case 0:
        put_text(st, 5, "a", "2");
        break;
    case 1:
        put_text(st, 5, "a", "11");
        break;
    case 2:
        remove_text(st, 5, "a");
        break;
    case 3:
        put_text(st, 6, "gone", "");
        break;
    case 4:
        put_text(st, 6, "new", "");
        break;
    case 5:
        put_text(st, 5, "a1", "");
        break;
    default:
        journal_clear(st->journal);
    }
}

START_TEST(test_other_entries_have_other_digests)
{
    enum { DIFFERENCES = 7 };
    uint64_t digest[DIFFERENCES + 1];
    struct fault_file file;
    struct store *st;

    for (int i = 0; i <= DIFFERENCES; i++) {
        st = new_store(&file);
        if (i < DIFFERENCES)
            make_other(st, i);
        else
            make_entries(st, 0);
        digest[i] = summarise(st).digest;
        for (int k = 0; k < i; k++)
            ck_assert_msg(digest[k] != digest[i], "%d and %d", k, i);
        end_store(&file, st);
    }
}
END_TEST

START_TEST(test_key_and_value_are_told_apart)
{
    struct fault_file file, other;
    struct store *st = new_store(&file), *second = new_store(&other);

    put_text(st, 5, "ab", "c");
    put_text(second, 5, "a", "bc");
    ck_assert_uint_ne(summarise(st).digest, summarise(second).digest);
    end_store(&other, second);
    end_store(&file, st);
}
END_TEST

/* ---- no memory ---- */

/* A change succeeds though its note is lost; the digest is an error then, until the next clear. */
START_TEST(test_a_note_that_is_lost)
{
    struct fault_file file;
    struct store *st = new_store(&file);
    struct key key = key_of(5, FMT_TAG_ATTR, "a");
    uint64_t digest = 1, n = 2;

    mem_fail_at(0);
    journal_note(st->journal, key.p, key.len);
    mem_fail_at(-1);
    ck_assert_int_eq(journal_digest(st, &digest, &n), DREP_ERR_NOMEM);
    put_text(st, 5, "b", "1");
    ck_assert_int_eq(journal_digest(st, &digest, &n), DREP_ERR_NOMEM);
    ck_assert_uint_eq(digest, 1);
    ck_assert_uint_eq(n, 2);
    journal_clear(st->journal);
    put_text(st, 5, "b", "2");
    ck_assert_uint_eq(summarise(st).n, 1);
    end_store(&file, st);
}
END_TEST

START_TEST(test_each_allocation_of_a_digest_fails)
{
    struct fault_file file;
    struct store *st = new_store(&file);
    struct summary want, s = {1, 2};
    int64_t failed = 0;
    int err;

    make_entries(st, 4);
    do {
        mem_fail_at(failed);
        err = journal_digest(st, &s.digest, &s.n);
        mem_fail_at(-1);
        ck_assert(err || failed > 0);
        failed++;
        if (err) {
            ck_assert_int_eq(err, DREP_ERR_NOMEM);
            ck_assert_uint_eq(s.digest, 1);
            ck_assert_uint_eq(s.n, 2);
        }
    } while (err);
    want = summarise(st);
    ck_assert_uint_eq(s.digest, want.digest);
    ck_assert_uint_eq(want.n, 104);
    end_store(&file, st);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tree_journal");
    TCase *t = tcase_create("tree_journal");

    tcase_add_loop_test(t, test_each_changed_entry_once_in_order, 0, 3);
    tcase_add_test(t, test_places_are_left_out);
    tcase_add_test(t, test_clearing_and_pausing);
    tcase_add_test(t, test_rollback);
    tcase_add_test(t, test_a_callback_that_fails);
    tcase_add_test(t, test_equal_entries_have_equal_digests);
    tcase_add_test(t, test_other_entries_have_other_digests);
    tcase_add_test(t, test_key_and_value_are_told_apart);
    tcase_add_test(t, test_a_note_that_is_lost);
    tcase_add_test(t, test_each_allocation_of_a_digest_fails);
    suite_add_tcase(s, t);
    return run_suite(s);
}
