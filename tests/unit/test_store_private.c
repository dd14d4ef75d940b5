/* test_store_private.c - a store whose changes stay with it (io_private(), txn/private.h).
 *
 * A private store must answer as a writer with the same changes does, so a writer on a copy of the
 * file is the oracle; and the file must be the same bytes afterwards. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "faultio.h"

#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/write.h"
#include "space/space.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "tree/journal.h"
#include "tree/walk.h"
#include "txn/commit.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/private.h"

#include "tests/unit/store_opts.h"

#include <dirent.h>
#include <unistd.h>

static const struct store_opts opts = STORE_OPTS(.lock = 1, .keep = 2, .cache_size = 1 << 18);

static bool error_says(const char *text)
{
    return strstr(drep_error(), text) != NULL;
}

/* ---- bytes: io_private() ---- */

START_TEST(test_the_file_is_read_and_not_written)
{
    struct fault_file file;
    struct io *base, *io;
    uint64_t size = 0;
    uint8_t buf[4] = {0};

    fault_init(&file);
    file.record = 1;
    base = fault_io(&file);
    ok(base->ops->write_at(base, "abcdef", 6, 0));
    ok(io_private(base, &io));
    ck_assert_ptr_eq(io_private_base(io), base);
    ok(io->ops->read_at(io, buf, 4, 2));
    ck_assert_mem_eq(buf, "cdef", 4);
    ck_assert_int_eq(io->ops->write_at(io, "x", 1, 2), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert(error_says("byte 2 belongs to the writer"));
    ck_assert_int_eq(io->ops->write_at(io, "x", 1, IO_PRIVATE - 1), DREP_ERR_UNSUPPORTED_OPERATION);
    ok(io->ops->truncate(io, 1));
    ok(io->ops->size(io, &size));
    ck_assert_uint_eq(size, 6);
    ck_assert_int_eq(io->ops->read_at(io, buf, 1, 6), DREP_ERR_TRUNCATE);
    ok(io->ops->sync(io)); /* for what the holder of the base has written */
    ck_assert_uint_eq(file.events, 2);
    ck_assert_int_eq(file.event[1].kind, FAULT_SYNC);
    ck_assert(!io->ops->lock && !io->ops->publish && !io->ops->map);
    io->ops->close(io);
    ck_assert_uint_eq(file.size, 6);
    fault_release(&file);
}
END_TEST

START_TEST(test_its_own_bytes)
{
    struct fault_file file;
    struct io *io;
    uint8_t buf[8] = {0};

    fault_init(&file);
    ok(io_private(fault_io(&file), &io));
    ck_assert_int_eq(io->ops->read_at(io, buf, 1, IO_PRIVATE), DREP_ERR_TRUNCATE);
    ok(io->ops->write_at(io, "wxyz", 4, IO_PRIVATE + 4096));
    ok(io->ops->read_at(io, buf, 8, IO_PRIVATE + 4092));
    ck_assert_mem_eq(buf, "\0\0\0\0wxyz", 8);
    ck_assert_int_eq(io->ops->read_at(io, buf, 1, IO_PRIVATE + 4100), DREP_ERR_TRUNCATE);
    ck_assert_uint_eq(file.size, 0);
    io->ops->close(io);
    fault_release(&file);
}
END_TEST

static int names_in(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

/* On a disk its bytes are on the same disk, in a file that nobody sees. */
START_TEST(test_its_file_has_no_name)
{
    const char *tmp = getenv("TMPDIR");
    char dir[200], path[256];
    struct io *base, *io;
    uint8_t byte = 0;

    snprintf(dir, sizeof dir, "%s/private-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/file", dir);
    ok(io_posix(path, IO_RAW, 0, 0600, &base));
    ok(io_private(base, &io));
    ok(io->ops->write_at(io, "x", 1, IO_PRIVATE));
    ck_assert_int_eq(names_in(dir), 1);
    ok(io->ops->read_at(io, &byte, 1, IO_PRIVATE));
    ck_assert_int_eq(byte, 'x');
    io->ops->close(io);
    ck_assert_int_eq(names_in(dir), 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* ---- stores ---- */

enum { CHUNKS = 12, PLAIN = 12288, FILTERED = 3000 };

static void describe(struct chunks *cs, struct store *st, bool filtered)
{
    *cs = (struct chunks){.st = st,
                          .object = filtered ? 51 : 50,
                          .rank = 1,
                          .payload = filtered ? FILTERED : PLAIN,
                          .reserve = filtered ? 0 : (uint64_t)CHUNKS * PLAIN};
    if (filtered) {
        cs->nfilters = 1;
        cs->filter[0] = (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {8}};
    }
}

/* Changes entries and chunks, the same ones for the same seed. */
static int change_something(struct store *st, uint64_t seed)
{
    static uint8_t bytes[2 * PLAIN];
    struct chunks cs;
    struct patch part;
    struct key key;
    struct rnd r;
    uint64_t c;
    int err = 0;

    rnd_init(&r, seed);
    rnd_fill(&r, bytes, sizeof bytes);
    for (int i = 0; !err && i < 80; i++) {
        key_make(&key, 2 + rnd_below(&r, 200), FMT_TAG_ATTR);
        if (rnd_below(&r, 4))
            err = tree_put(st, &key, bytes, (size_t)rnd_below(&r, rnd_below(&r, 9) ? 300 : 9000));
        else
            err = tree_del(st, &key);
        err = err == DREP_ERR_NOT_FOUND ? 0 : err;
    }
    for (int filtered = 0; !err && filtered < 2; filtered++) {
        describe(&cs, st, filtered);
        c = rnd_below(&r, CHUNKS - 1);
        err = chunk_write(&cs, &c, filtered ? 1 : 2, bytes, cs.payload);
        c = rnd_below(&r, CHUNKS);
        part = (struct patch){rnd_below(&r, 1000), 1 + rnd_below(&r, 1900), bytes, NULL, 0, NULL};
        if (!err)
            err = chunk_patch(&cs, &c, &part);
        c = rnd_below(&r, CHUNKS);
        if (!err && rnd_below(&r, 2))
            err = chunk_remove(&cs, &c);
    }
    return err;
}

static int change_as_one(struct store *st, uint64_t seed)
{
    int err = store_op_begin(st);

    if (err)
        return err;
    err = change_something(st, seed);
    return err ? (store_op_end(st, 0), err) : store_op_end(st, 1);
}

static int commit_store(struct store *st)
{
    static const uint8_t header[6000] = {0, 1};

    return store_commit(st, header, sizeof header, 3000); /* a part of it is a block */
}

/* Digests all entries and chunks.  Where they stand is none of their contents. */
static uint64_t contents(struct store *st)
{
    static uint8_t bytes[PLAIN];
    struct buf value = {0}, all = {0};
    struct tree_walk w;
    struct chunks cs;
    struct key key;
    uint64_t sum, have;
    int err;

    key_make(&key, 1, 0);
    tree_walk(&w, st, &key, 0);
    while ((err = tree_next(&w, &key, &value)) == 0) {
        if (key_tag(key.p) != FMT_TAG_ATTR)
            continue;
        ok(buf_add(&all, key.p, key.len));
        ok(buf_add(&all, &value.len, sizeof value.len));
        ok(buf_add(&all, value.p, value.len));
    }
    ck_assert_int_eq(err, DREP_ERR_NOT_FOUND);
    for (int filtered = 0; filtered < 2; filtered++) {
        describe(&cs, st, filtered);
        for (uint64_t c = 0; c < CHUNKS; c++) {
            ok(chunk_read(&cs, &c, 0, cs.payload, bytes, &have));
            ok(buf_add(&all, &have, sizeof have));
            ok(buf_add(&all, bytes, (size_t)have));
        }
    }
    sum = sum_of(all.p, all.len);
    buf_release(&all);
    buf_release(&value);
    return sum;
}

/* Two files of the same bytes: the one of the private store, and one for a writer that makes the
 * same changes. */
struct twins {
    struct fault_file file, other;
    struct slot slot; /* of the commit in both */
    uint8_t *bytes;   /* of both */
    size_t size;
};

static void twins_begin(struct twins *t)
{
    struct store *st;

    fault_init(&t->file);
    ok(store_create(fault_io(&t->file), &opts, &st));
    for (uint64_t i = 0; i < 3; i++)
        ok(change_as_one(st, i));
    ok(commit_store(st));
    ok(change_as_one(st, 3));
    ok(commit_store(st));
    t->slot = *store_slot(st);
    store_close(st);
    t->size = t->file.size;
    t->bytes = malloc(t->size);
    ck_assert_ptr_nonnull(t->bytes);
    memcpy(t->bytes, t->file.p, t->size);
    fault_init(&t->other);
    fault_resize(&t->other, t->size);
    memcpy(t->other.p, t->bytes, t->size);
}

static void twins_end(struct twins *t)
{
    fault_release(&t->file);
    fault_release(&t->other);
    free(t->bytes);
}

static struct store *open_private(struct fault_file *file, const struct slot *slot)
{
    struct store *st = NULL;
    struct io *io;

    ok(io_private(fault_io(file), &io));
    ok(private_open(io, slot, &opts, &st));
    return st;
}

static struct store *open_writer(struct fault_file *file)
{
    struct store *st = NULL;

    ok(store_open(fault_io(file), 1, &opts, &st));
    return st;
}

START_TEST(test_changes_stay_with_it)
{
    struct twins t;
    struct store *st, *writer, *reader;
    uint64_t before;

    twins_begin(&t);
    st = open_private(&t.file, &t.slot);
    writer = open_writer(&t.other);
    before = contents(writer);
    ck_assert_uint_eq(contents(st), before);
    ck_assert(store_writable(st) && !store_dirty(st));
    for (uint64_t i = 10; i < 16; i++) {
        ok(change_as_one(st, i));
        ok(change_as_one(writer, i));
        ck_assert_uint_eq(contents(st), contents(writer));
    }
    ck_assert(store_dirty(st));
    ck_assert_int_eq(commit_store(st), DREP_ERR_ARG);
    ck_assert(error_says("a private store does not commit"));
    ok(store_open(fault_io(&t.file), 0, &opts, &reader));
    ck_assert_uint_eq(contents(reader), before);
    store_close(reader);
    store_close(st);
    store_close(writer);
    ck_assert_uint_eq(t.file.size, t.size);
    ck_assert_int_eq(memcmp(t.file.p, t.bytes, t.size), 0);
    twins_end(&t);
}
END_TEST

/* An operation of it rolls back as one of a writer does; its space is its own. */
START_TEST(test_rollback)
{
    struct twins t;
    struct store *st;
    uint64_t before, end[10];

    twins_begin(&t);
    st = open_private(&t.file, &t.slot);
    ok(change_as_one(st, 20));
    before = contents(st);
    for (int i = 0; i < 10; i++) {
        ok(store_op_begin(st));
        ok(change_something(st, 21));
        ck_assert_uint_ne(contents(st), before);
        ok(store_op_end(st, 0));
        ck_assert_uint_eq(contents(st), before);
        end[i] = store_end(st);
    }
    ck_assert_uint_gt(end[0], IO_PRIVATE);
    ck_assert_uint_eq(end[9], end[0]); /* the next one takes the space that one has given back */
    store_close(st);
    twins_end(&t);
}
END_TEST

/* It locks nothing, so it can stand beside the writer, who keeps the commit. */
START_TEST(test_no_locks)
{
    struct twins t;
    struct store *writer, *st;
    int locks;

    twins_begin(&t);
    writer = open_writer(&t.file);
    locks = t.file.locks;
    ck_assert_int_gt(locks, 0);
    st = open_private(&t.file, &t.slot);
    ok(change_as_one(st, 30));
    ck_assert_int_eq(t.file.locks, locks);
    store_close(st);
    ck_assert_int_eq(t.file.locks, locks);
    store_close(writer);
    twins_end(&t);
}
END_TEST

START_TEST(test_moving_to_the_next_commit)
{
    struct twins t;
    struct store *writer, *st, *moved;
    struct io payload;
    uint64_t want;
    int64_t n = 0;
    int err;

    twins_begin(&t);
    writer = open_writer(&t.file);
    st = open_private(&t.file, &t.slot);
    for (uint64_t i = 40; i < 43; i++)
        ok(change_as_one(st, i));
    want = contents(st);
    ok(change_as_one(writer, 50));
    ok(commit_store(writer));
    st->payload = &payload;
    do { /* a failure leaves it where it is */
        mem_fail_at(n++);
        err = private_move(st, store_slot(writer), &moved);
        mem_fail_at(-1);
        if (err) {
            st->payload = NULL;
            ck_assert_uint_eq(contents(st), want);
            st->payload = &payload;
        }
    } while (err == DREP_ERR_NOMEM);
    ok(err);
    ck_assert_int_gt(n, 5);
    ck_assert_ptr_eq(moved->payload, &payload);
    moved->payload = NULL;
    ck_assert_uint_eq(contents(moved), contents(writer));
    ck_assert(!store_dirty(moved));
    ok(change_as_one(moved, 51)); /* and it goes on */
    ok(change_as_one(writer, 51));
    ck_assert_uint_eq(contents(moved), contents(writer));
    store_close(moved);
    store_close(writer);
    twins_end(&t);
}
END_TEST

/* A commit that cannot be read is an error, and the store stays where it was. */
START_TEST(test_moving_to_a_damaged_commit)
{
    struct twins t;
    struct store *writer, *st, *moved = NULL;
    uint64_t want;

    twins_begin(&t);
    writer = open_writer(&t.file);
    st = open_private(&t.file, &t.slot);
    ok(change_as_one(st, 60));
    want = contents(st);
    ok(change_as_one(writer, 61));
    ok(commit_store(writer));
    t.file.p[store_slot(writer)->more.offset + 40] ^= 1; /* in the rest of the header */
    ck_assert_int_ne(private_move(st, store_slot(writer), &moved), 0);
    ck_assert_ptr_null(moved);
    ck_assert_uint_eq(contents(st), want);
    ok(change_as_one(st, 62));
    store_close(st);
    store_close(writer);
    twins_end(&t);
}
END_TEST

/* The io is closed once, whichever allocation or call of the file fails. */
START_TEST(test_opening_that_fails)
{
    struct twins t;
    struct store *st = NULL;
    struct io *io;
    int64_t n = 0;
    int err;

    twins_begin(&t);
    do {
        ok(io_private(fault_io(&t.file), &io)); /* ASan finds one that is not closed */
        if (_i)
            mem_fail_at(n++);
        else
            t.file.fail_at = n++;
        err = private_open(io, &t.slot, &opts, &st);
        mem_fail_at(-1);
        t.file.fail_at = -1;
        ck_assert_int_eq(st == NULL, err != 0);
    } while (err == (_i ? DREP_ERR_NOMEM : DREP_ERR_IO));
    ok(err);
    ck_assert_int_gt(n, _i ? 5 : 0);
    store_close(st);
    twins_end(&t);
}
END_TEST

/* A file that its writer is making is not there yet: a private store of it begins with nothing and
 * touches nothing. */
START_TEST(test_a_file_that_is_made)
{
    static const uint8_t uuid[16] = "the same number";
    struct store_opts own = opts;
    struct fault_file file;
    struct store *writer, *st, *moved;
    struct io *io;

    own.uuid = uuid;
    fault_init(&file);
    ok(store_create(fault_io(&file), &own, &writer));
    file.record = 1;
    ok(io_private(fault_io(&file), &io));
    ok(private_create(io, &own, &st));
    ok(change_as_one(st, 70));
    ck_assert_uint_eq(file.events, 0);
    file.record = 0;
    ok(change_as_one(writer, 70));
    ck_assert_uint_eq(contents(st), contents(writer));
    ck_assert_mem_eq(store_slot(st)->uuid, store_slot(writer)->uuid, 16);
    ok(commit_store(writer));
    ok(private_move(st, store_slot(writer), &moved));
    ck_assert_uint_eq(contents(moved), contents(writer));
    store_close(moved);
    store_close(writer);
    fault_release(&file);
}
END_TEST

/* Its journal and that of a writer with the same changes have one digest. */
START_TEST(test_its_journal)
{
    struct twins t;
    struct store *st, *writer;
    uint64_t own = 0, other = 1, n_own = 0, n_other = 1;

    twins_begin(&t);
    st = open_private(&t.file, &t.slot);
    writer = open_writer(&t.other);
    ok(journal_begin(writer));
    for (uint64_t i = 80; i < 83; i++) {
        ok(change_as_one(st, i));
        ok(change_as_one(writer, i));
    }
    ok(journal_digest(st, &own, &n_own));
    ok(journal_digest(writer, &other, &n_other));
    ck_assert_uint_eq(own, other);
    ck_assert_uint_eq(n_own, n_other);
    ck_assert_uint_gt(n_own, 80);
    store_close(st);
    store_close(writer);
    twins_end(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("store_private");
    TCase *t = tcase_create("store_private");

    tcase_add_test(t, test_the_file_is_read_and_not_written);
    tcase_add_test(t, test_its_own_bytes);
    tcase_add_test(t, test_its_file_has_no_name);
    tcase_add_test(t, test_changes_stay_with_it);
    tcase_add_test(t, test_rollback);
    tcase_add_test(t, test_no_locks);
    tcase_add_test(t, test_moving_to_the_next_commit);
    tcase_add_test(t, test_moving_to_a_damaged_commit);
    tcase_add_loop_test(t, test_opening_that_fails, 0, 2);
    tcase_add_test(t, test_a_file_that_is_made);
    tcase_add_test(t, test_its_journal);
    suite_add_tcase(s, t);
    return run_suite(s);
}
