/* test_chunk_lent.c - records of chunks that a writer lends a private store of the same file.
 *
 * The private store looks at the commit before; what it reads of lent chunks must be what the
 * writer reads, and of all others nothing.  A message may be cut or damaged anywhere: then it is
 * refused, or the reads end in an error or in some bytes, never outside of the message. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "faultio.h"

#include "chunk/lent.h"
#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/write.h"
#include "tree/edit.h"
#include "txn/commit.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/private.h"
#include "txn/writeback.h"
#include "tests/unit/store_opts.h"

static const struct store_opts opts = STORE_OPTS(.lock = 1, .keep = 2, .cache_size = 1 << 18);

enum { ROWS = 3, COLUMNS = 8, MOST = 8192 * 2 };

/* Kinds of datasets: runs of chunks of whole blocks and of others, filtered ones, and one row of
 * chunks that is a scalar's. */
static const struct {
    int rank;
    uint64_t payload;
    bool filtered;
} kinds[] = {
    {1, 8192, false}, {2, 8192, false}, {2, 5000, false}, {2, 3000, true}, {0, 700, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void describe(struct chunks *cs, struct store *st, int kind)
{
    *cs = (struct chunks){.st = st,
                          .object = 10 + (uint64_t)kind,
                          .rank = kinds[kind].rank,
                          .payload = kinds[kind].payload,
                          .wrap = kinds[kind].rank == 2,
                          .grid = {ROWS, COLUMNS}};
    if (kinds[kind].filtered) {
        cs->nfilters = 1;
        cs->filter[0] = (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {8}};
    }
}

static int chunks_of(const struct chunks *cs)
{
    return cs->rank == 0 ? 1 : cs->rank == 1 ? COLUMNS : ROWS * COLUMNS;
}

static void coord_of(const struct chunks *cs, int number, uint64_t *coord)
{
    coord[0] = (uint64_t)(cs->rank == 2 ? number / COLUMNS : number);
    coord[1] = (uint64_t)number % COLUMNS;
}

/* A writer with changes since its last commit, and a store that reads at that commit. */
struct pair {
    struct fault_file file;
    struct store *writer, *reader;
    struct chunks own, other; /* of the writer and of the reader */
};

static void change_chunks(struct chunks *cs, struct rnd *r)
{
    uint8_t bytes[MOST];
    uint64_t coord[2];

    ok(store_op_begin(cs->st));
    for (int i = 0; i < 14; i++) {
        struct patch part = {10, 1 + rnd_below(r, cs->payload - 10), bytes, NULL, 0, NULL};
        int number = (int)rnd_below(r, (uint64_t)chunks_of(cs));
        uint64_t n = cs->nfilters || cs->rank == 0 || number % COLUMNS > COLUMNS - 2 ? 1 : 2;

        coord_of(cs, number, coord);
        rnd_fill(r, bytes, sizeof bytes);
        if (i % 3)
            ok(chunk_write(cs, coord, n, bytes, cs->payload));
        else
            ok(chunk_patch(cs, coord, &part));
    }
    coord_of(cs, (int)rnd_below(r, (uint64_t)chunks_of(cs)), coord);
    if (rnd_below(r, 2))
        ok(chunk_remove(cs, coord));
    ok(store_op_end(cs->st, 1));
}

static void pair_begin(struct pair *p, int kind, uint64_t seed)
{
    static const uint8_t header[8] = {0, 1};
    struct key key;
    struct io *io;
    struct rnd r;

    rnd_init(&r, seed);
    fault_init(&p->file);
    ok(store_create(fault_io(&p->file), &opts, &p->writer));
    describe(&p->own, p->writer, kind);
    key_make(&key, 1, FMT_TAG_ATTR);
    ok(tree_put(p->writer, &key, "", 0)); /* a file has an entry */
    change_chunks(&p->own, &r);
    ok(store_commit(p->writer, header, sizeof header, sizeof header));
    ok(io_private(fault_io(&p->file), &io));
    ok(private_open(io, store_slot(p->writer), &opts, &p->reader));
    describe(&p->other, p->reader, kind);
    change_chunks(&p->own, &r);
    if (seed % 2)
        ok(writeback_all(p->writer, p->own.object)); /* nothing of it waits in the cache */
}

static void pair_end(struct pair *p)
{
    store_close(p->reader);
    store_close(p->writer);
    fault_release(&p->file);
}

/* Lends chunks [first, first + n), row by row. */
static void lend(struct pair *p, int first, int n, struct buf *b)
{
    uint64_t coord[2];

    for (int now; n > 0; first += now, n -= now) {
        now = p->own.rank == 2 ? COLUMNS - first % COLUMNS : n;
        now = now < n ? now : n;
        coord_of(&p->own, first, coord);
        ok(chunks_lend(&p->own, coord, (uint64_t)now, b));
    }
}

struct seen {
    uint64_t have;
    uint8_t p[MOST];
};

static void see_chunk(struct chunks *cs, int number, struct seen *s)
{
    uint64_t coord[2];

    coord_of(cs, number, coord);
    memset(s, 0, sizeof *s);
    ok(chunk_read(cs, coord, 0, cs->payload, s->p, &s->have));
}

static bool same_bytes(const struct seen *a, const struct seen *b)
{
    return a->have == b->have && memcmp(a->p, b->p, (size_t)a->have) == 0;
}

/* The reader has chunks [first, first + n) as the writer has them, and no others. */
static void check_lent(struct pair *p, int first, int n)
{
    static struct seen own, other;

    for (int round = 0; round < 3; round++) /* the later ones come from the cache */
        for (int i = 0; i < chunks_of(&p->own); i++) {
            see_chunk(&p->own, i, &own);
            see_chunk(&p->other, i, &other);
            if (i < first || i >= first + n)
                own.have = 0;
            ck_assert_msg(same_bytes(&own, &other), "chunk %d", i);
        }
}

/* ---- what is lent is read ---- */

START_TEST(test_the_reader_sees_what_the_writer_has)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct buf b = {0};
        struct pair p;

        pair_begin(&p, _i, seed);
        lend(&p, 0, chunks_of(&p.own), &b);
        ck_assert(b.len > 0 || p.own.rank == 0); /* a single chunk may have been removed */
        ck_assert_uint_eq(b.len % 8, 0);
        ok(chunks_borrow(&p.other, &b));
        check_lent(&p, 0, chunks_of(&p.own));
        chunks_unborrow(&p.other);
        buf_release(&b);
        pair_end(&p);
    }
}
END_TEST

START_TEST(test_some_chunks)
{
    struct pair p;

    pair_begin(&p, _i, 7);
    for (int first = 0; first < chunks_of(&p.own); first += 5)
        for (int n = 0; n <= 4 && first + n <= chunks_of(&p.own); n++) {
            struct buf b = {0};

            lend(&p, first, n, &b);
            ok(chunks_borrow(&p.other, &b));
            check_lent(&p, first, n);
            chunks_unborrow(&p.other);
            buf_release(&b);
        }
    pair_end(&p);
}
END_TEST

/* Before and after, the reader reads its own commit, whatever its cache has seen. */
START_TEST(test_the_own_commit_comes_back)
{
    static struct seen before[ROWS * COLUMNS], now;
    struct buf b = {0};
    struct pair p;
    int differ = 0;

    pair_begin(&p, _i, 8);
    for (int i = 0; i < chunks_of(&p.own); i++)
        see_chunk(&p.other, i, &before[i]);
    lend(&p, 0, chunks_of(&p.own), &b);
    ok(chunks_borrow(&p.other, &b));
    check_lent(&p, 0, chunks_of(&p.own));
    chunks_unborrow(&p.other);
    chunks_unborrow(&p.other);
    for (int i = 0; i < chunks_of(&p.own); i++) {
        see_chunk(&p.other, i, &now);
        ck_assert_msg(same_bytes(&before[i], &now), "chunk %d", i);
        see_chunk(&p.own, i, &now);
        differ += !same_bytes(&before[i], &now);
    }
    ck_assert_int_gt(differ, 0);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

/* Parts of chunks are verified by the lent checksums. */
START_TEST(test_a_payload_that_is_damaged)
{
    static struct seen s;
    struct buf b = {0};
    uint64_t coord[2] = {0, 0}, have;
    struct run_hit f = {.run = NULL};
    struct pair p;

    pair_begin(&p, 0, 9);
    rnd_fill(&(struct rnd){1, 1}, s.p, sizeof s.p);
    ok(chunk_write(&p.own, coord, 1, s.p, p.own.payload));
    lend(&p, 0, 1, &b);
    ok(run_find(&p.own, coord, &f));
    p.file.p[f.run->rec.offset + f.index * f.run->rec.size + 5000] ^= 1;
    run_done(p.writer, &f);
    ok(chunks_borrow(&p.other, &b));
    ok(chunk_read(&p.other, coord, 0, 4096, s.p, &have));
    ck_assert_int_eq(chunk_read(&p.other, coord, 4096, 4096, s.p, &have), DREP_ERR_CHECKSUM);
    chunks_unborrow(&p.other);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

/* ---- messages that are broken ---- */

/* Reads everything; errors do not count, ASan finds what leaves the message. */
static void read_anything(struct pair *p)
{
    static uint8_t bytes[MOST];
    uint64_t coord[2], have;

    for (int i = 0; i < chunks_of(&p->other); i++) {
        coord_of(&p->other, i, coord);
        (void)chunk_read(&p->other, coord, 0, p->other.payload, bytes, &have);
    }
}

/* A copy that ends where its memory ends. */
static struct buf exact_copy(const struct buf *b, size_t len)
{
    struct buf copy = {.p = mem_alloc(len), .len = len, .size = len};

    ck_assert_ptr_nonnull(copy.p);
    memcpy(copy.p, b->p, len);
    return copy;
}

START_TEST(test_every_cut)
{
    struct buf b = {0};
    struct pair p;
    int whole = 0;
    size_t step;

    pair_begin(&p, _i, 10);
    lend(&p, 0, chunks_of(&p.own), &b);
    step = b.len / 400;
    for (size_t len = 0; len < b.len; len += 1 + len % 3 * step) {
        struct buf copy = exact_copy(&b, len);
        int err = chunks_borrow(&p.other, &copy);

        ck_assert(!err || err == DREP_ERR_IO);
        ck_assert_int_eq(p.other.lent == NULL, err != 0);
        if (!err)
            read_anything(&p);
        whole += !err; /* it ends between two runs */
        ck_assert(!(len % 8) || err);
        chunks_unborrow(&p.other);
        buf_release(&copy);
    }
    ck_assert_int_ge(whole, 1);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

START_TEST(test_every_number)
{
    static const uint64_t values[] = {0,    1,     2,          7,          255,       256,
                                      4096, 65536, 1ull << 32, 1ull << 61, UINT64_MAX};
    struct buf b = {0}, copy;
    struct pair p;
    int refused = 0;

    pair_begin(&p, _i, 10);
    lend(&p, 0, chunks_of(&p.own), &b);
    copy = exact_copy(&b, b.len);
    for (size_t at = 0; at < b.len && at < 40 * 8; at += 8)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            int err;

            memcpy(copy.p, b.p, b.len);
            store_u64(copy.p + at, values[k]);
            err = chunks_borrow(&p.other, &copy);
            ck_assert(!err || err == DREP_ERR_IO);
            if (!err)
                read_anything(&p);
            refused += err != 0;
            chunks_unborrow(&p.other);
        }
    ck_assert_int_gt(refused, 40);
    buf_release(&copy);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

/* Heads that promise more or fewer numbers than their chunks have. */
START_TEST(test_heads_that_contradict)
{
    static const struct {
        uint64_t head[LENT_HEAD];
        uint64_t numbers; /* that follow */
        bool valid;
    } some[] = {
        {{1, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8192, 2}, 2, true},
        {{1, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8193, 2}, 2, false},
        {{2, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8192, 2}, 2, false},
        {{2, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8192, 4}, 4, true},
        {{2, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8192, 4}, 3, false},
        {{0, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 8192, 0}, 0, false},
        {{UINT32_MAX, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, UINT64_MAX, 2}, 2, false},
        {{1ull << 32, FMT_CHUNK_PLAIN, 0, 0, 0, 0, 4096, 0, 0}, 0, false},
        {{1, FMT_CHUNK_PLACED, 1, 0, 0, 0, 4096, 99, 1}, 1, true},
        {{1, FMT_CHUNK_PLACED, 1, 0, 0, 0, 4096, 99, 2}, 2, false},
        {{1, FMT_CHUNK_PLACED, 1, 0, 0, 0, 4096, UINT32_MAX, 1}, 1, true},
        {{1, FMT_CHUNK_PLACED, 1, 0, 0, 0, 4096, 1ull << 32, 1}, 1, false},
        {{2, FMT_CHUNK_PLACED, 1, 0, 0, 0, 4096, 99, 1}, 1, false},
        {{1, FMT_CHUNK_PLACED, 1, 1ull << 32, 0, 4096, 99, 1}, 1, false},
        {{1, FMT_CHUNK_EXTERNAL, 1, 0, 0, 1ull << 32, 4096, 99, 1}, 1, false},
        {{1, LENT_PAYLOAD, 1, 0, 0, 0, 0, 16, 2}, 2, true},
        {{1, LENT_PAYLOAD, 1, 0, 0, 0, 0, 17, 2}, 2, false},
        {{1, LENT_PAYLOAD, 1, 0, 0, 0, 0, 8, 2}, 2, false},
        {{1, LENT_PAYLOAD, 0, 0, 0, 0, 0, 16, 2}, 2, false},
        {{1, LENT_PAYLOAD, 1, 0, 0, 0, 0, UINT64_MAX, 0}, 0, false},
    };
    struct pair p;

    pair_begin(&p, 0, 11);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct buf b = {0};
        uint8_t v[8] = {0};

        for (int k = 0; k < LENT_HEAD; k++) {
            store_u64(v, some[i].head[k]);
            ok(buf_add(&b, v, 8));
        }
        memset(v, 0, 8);
        for (uint64_t k = 0; k < 1 + some[i].numbers; k++) /* one coordinate */
            ok(buf_add(&b, v, 8));
        ck_assert_msg(chunks_borrow(&p.other, &b) == (some[i].valid ? 0 : DREP_ERR_IO), "%zu", i);
        ck_assert(some[i].valid || strstr(drep_error(), "lent records"));
        chunks_unborrow(&p.other);
        buf_release(&b);
    }
    pair_end(&p);
}
END_TEST

/* Runs out of order would not be found. */
START_TEST(test_runs_out_of_order)
{
    struct buf b = {0};
    struct pair p;

    pair_begin(&p, 1, 12);
    lend(&p, COLUMNS, COLUMNS, &b);
    lend(&p, 0, COLUMNS, &b);
    ck_assert_int_eq(chunks_borrow(&p.other, &b), DREP_ERR_IO);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

START_TEST(test_no_memory)
{
    struct buf b = {0};
    struct pair p;
    int64_t n = 0;
    uint64_t coord[2] = {0, 0};
    int err;

    pair_begin(&p, 3, 12);
    do {
        b.len = 0;
        mem_fail_at(n++);
        err = chunks_lend(&p.own, coord, COLUMNS, &b);
        mem_fail_at(-1);
    } while (err == DREP_ERR_NOMEM);
    ok(err);
    ck_assert_int_gt(n, 1);
    n = 0;
    do {
        struct buf copy = exact_copy(&b, b.len);

        mem_fail_at(n++);
        err = chunks_borrow(&p.other, &copy);
        mem_fail_at(-1);
        ck_assert_int_eq(p.other.lent == NULL, err != 0);
        if (!err)
            check_lent(&p, 0, COLUMNS);
        chunks_unborrow(&p.other);
        buf_release(&copy);
    } while (err == DREP_ERR_NOMEM);
    ok(err);
    ck_assert_int_gt(n, 2);
    buf_release(&b);
    pair_end(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chunk_lent");
    TCase *t = tcase_create("chunk_lent");

    tcase_add_loop_test(t, test_the_reader_sees_what_the_writer_has, 0, KINDS);
    tcase_add_loop_test(t, test_some_chunks, 0, KINDS);
    tcase_add_loop_test(t, test_the_own_commit_comes_back, 0, KINDS);
    tcase_add_test(t, test_a_payload_that_is_damaged);
    tcase_add_loop_test(t, test_every_cut, 0, KINDS);
    tcase_add_loop_test(t, test_every_number, 0, KINDS);
    tcase_add_test(t, test_heads_that_contradict);
    tcase_add_test(t, test_runs_out_of_order);
    tcase_add_test(t, test_no_memory);
    suite_add_tcase(s, t);
    return run_suite(s);
}
