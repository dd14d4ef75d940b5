/* test_chunk.c - chunks against a model: runs, sums, writing in place, taking back. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "faultio.h"

#include "base/pool.h"
#include "base/regions.h"
#include "chunk/cache.h"
#include "chunk/each.h"
#include "chunk/patch.h"
#include "chunk/payload.h"
#include "chunk/read.h"
#include "chunk/run.h"
#include "chunk/write.h"
#include "space/extents.h"
#include "space/space.h"
#include "tree/edit.h"
#include "txn/check.h"
#include "txn/commit.h"
#include "txn/free.h"
#include "txn/op.h"
#include "txn/open.h"
#include "txn/writeback.h"

#include "tests/unit/store_opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t seed = 99;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static struct store_opts opts = STORE_OPTS(.lock = 1, .keep = 2, .cache_size = 1 << 18);

#define DATASETS 8
#define GRID 40

struct chunk_model {
    uint8_t *p; /* NULL: absent */
    size_t size;
};

struct dataset_model {
    struct chunks cs;
    struct chunk_model c[GRID];
};

struct model {
    struct dataset_model d[DATASETS];
};

static void describe(struct model *m, struct store *st)
{
    static const uint64_t payload[DATASETS] = {8192, 65536, 1000, 40000, 5000, 12288, 3000, 40};

    for (int i = 0; i < DATASETS; i++) {
        struct chunks *cs = &m->d[i].cs;

        memset(cs, 0, sizeof(*cs));
        cs->st = st;
        cs->object = 10 + (uint64_t)i;
        cs->rank = i == 3 || i == 4 || i > 5 ? 2 : 1;
        cs->payload = payload[i];
        cs->reserve = i < 3 ? payload[i] * GRID - (i == 1 ? 1000 : 0) : 0;
        if (i == 4) {
            cs->nfilters = 2;
            cs->filter[0] =
                (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {4}};
            cs->filter[1] =
                (struct filter_rec){.id = FMT_FILTER_DELTA, .nparams = 2, .param = {2, 0}};
        }
        if (i > 5) { /* stored bytes of any length, or rows that share lines; runs of many rows */
            cs->wrap = 1;
            cs->grid[1] = 10;
            cs->nfilters = 1;
            cs->filter[0] =
                (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {4}};
#ifdef HAVE_LZ4
            if (i == 6)
                cs->filter[0] =
                    (struct filter_rec){.id = FMT_FILTER_LZ4, .nparams = 1, .param = {1}};
#endif
        }
    }
}

static void coord_of(const struct chunks *cs, int c, uint64_t *coord)
{
    coord[0] = cs->rank == 2 ? (uint64_t)c / 10 : (uint64_t)c;
    coord[1] = (uint64_t)c % 10;
}

static void set(struct chunk_model *c, const uint8_t *p, size_t size)
{
    free(c->p);
    c->p = p ? malloc(size ? size : 1) : NULL;
    c->size = size;
    if (p)
        memcpy(c->p, p, size);
}

static void copy(struct model *to, const struct model *from)
{
    for (int d = 0; d < DATASETS; d++) {
        for (int c = 0; c < GRID; c++)
            set(&to->d[d].c[c], from->d[d].c[c].p, from->d[d].c[c].size);
    }
}

static void release(struct model *m)
{
    for (int d = 0; d < DATASETS; d++) {
        for (int c = 0; c < GRID; c++)
            free(m->d[d].c[c].p);
    }
    memset(m, 0, sizeof(*m));
}

static uint8_t *random_bytes(size_t n)
{
    static uint8_t bytes[GRID * 65536];
    uint64_t a = rnd(UINT64_MAX);

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 7 + a + (i >> 8) * (a >> 8));
    for (size_t i = 0, noise = (size_t)(a % (n + 1)); a % 3 == 0 && i < noise; i++)
        bytes[i] = (uint8_t)rnd(256); /* which no filter shrinks */
    return bytes;
}

/* ---- comparing ---- */

static void same_chunk(struct dataset_model *d, int c)
{
    static uint8_t buf[1 << 17];
    uint64_t coord[2], size = 77, have = 77, offset, want;
    const struct chunk_model *m = &d->c[c];

    coord_of(&d->cs, c, coord);
    ck_assert_int_eq(chunk_size(&d->cs, coord, &size), 0);
    ck_assert_uint_eq(size, m->p ? m->size : 0);
    offset = rnd(3) ? rnd(d->cs.payload + 100) : 0;
    want = rnd(3) ? rnd(d->cs.payload + 100) : d->cs.payload;
    memset(buf, 0xee, sizeof(buf));
    ck_assert_int_eq(chunk_read(&d->cs, coord, offset, want, buf, &have), 0);
    if (!m->p || offset >= m->size) {
        ck_assert_uint_eq(have, 0);
        return;
    }
    ck_assert_uint_eq(have, m->size - offset < want ? m->size - offset : want);
    ck_assert_int_eq(memcmp(buf, m->p + offset, (size_t)have), 0);
    ck_assert_uint_eq(buf[have], 0xee);
}

struct seen {
    struct dataset_model *d;
    uint8_t at[GRID];
    int n;
};

static int each(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct seen *s = ctx;
    uint64_t c = s->d->cs.rank == 2 ? coord[0] * 10 + coord[1] : coord[0];

    for (uint32_t i = 0; i < rec->run; i++) {
        ck_assert_uint_lt(c + i, GRID);
        ck_assert_uint_eq(s->at[c + i], 0);
        s->at[c + i] = 1;
        s->n++;
        if (!rec->filtered)
            ck_assert_uint_eq(rec->size, s->d->c[c + i].size);
    }
    return 0;
}

static void same_all(struct model *m, int in_op)
{
    for (int d = 0; d < DATASETS; d++) {
        struct seen s = {.d = &m->d[d]};
        int stored = 0;

        for (int c = 0; c < GRID; c++) {
            same_chunk(&m->d[d], c);
            stored += m->d[d].c[c].p != NULL;
        }
        if (m->d[d].cs.nfilters && in_op)
            continue; /* what was changed waits in memory */
        if (m->d[d].cs.nfilters)
            ck_assert_int_eq(writeback_all(m->d[d].cs.st, m->d[d].cs.object), 0);
        ck_assert_int_eq(chunk_each(&m->d[d].cs, each, &s), 0);
        ck_assert_int_eq(s.n, stored);
    }
}

/* ---- changing ---- */

static void change_part(struct dataset_model *d, int c, const uint64_t *coord)
{
    uint64_t size = d->cs.payload;
    struct chunk_model *cm = &d->c[c];
    uint64_t offset = rnd(3) ? rnd(size) : cm->p && cm->size < size ? cm->size : 0;
    size_t n = (size_t)(1 + rnd(rnd(4) || size - offset < 50 ? size - offset : 50));
    size_t had = cm->p ? cm->size : 0, end = offset + n > had ? (size_t)offset + n : had;
    uint8_t *whole = malloc(end), *p;
    const uint8_t fill[3] = {1, 2, 3};
    int zeros = (int)rnd(2);

    for (size_t i = 0; i < end; i++)
        whole[i] = i < had ? cm->p[i] : zeros ? 0 : fill[i % 3];
    p = random_bytes(n);
    memcpy(whole + offset, p, n);
    ck_assert_msg(chunk_patch(&d->cs, coord,
                              &(struct patch){offset, n, p, zeros ? NULL : fill, 3, NULL}) == 0,
                  "%s", drep_error());
    set(cm, whole, end);
    free(whole);
}

/* Everything anew as another writer may have it: chunks back to back in one run, which share units
 * of space where their size is no multiple of one. */
static void put_run(struct dataset_model *d)
{
    struct store *st = d->cs.st;
    uint32_t n = 1 + (uint32_t)rnd(GRID);
    uint64_t size = rnd(3) ? d->cs.payload : 1 + rnd(d->cs.payload), bytes = n * size;
    uint64_t space = round_up(bytes, FMT_ALIGN), offset, first = rnd(GRID - n + 1);
    uint64_t *sums = malloc((size_t)(chunk_sums(n, size) + 1) * sizeof(*sums));
    uint8_t *p = random_bytes((size_t)bytes);

    ck_assert_int_eq(chunk_remove_all(&d->cs), 0);
    for (int c = 0; c < GRID; c++)
        set(&d->c[c], NULL, 0);
    ck_assert_int_eq(space_alloc(st, space, chunk_align(st, bytes), WITH_OP, &offset), 0);
    ck_assert_int_eq(payload_write(st, p, n, size, offset, sums), 0);
    ck_assert_int_eq(run_add(&d->cs, &first, n, offset, size, space, sums), 0);
    for (uint32_t i = 0; i < n; i++)
        set(&d->c[first + i], p + i * size, (size_t)size);
    free(sums);
}

static void change(struct model *m)
{
    struct dataset_model *d = &m->d[rnd(DATASETS)];
    struct chunks *cs = &d->cs;
    int c = (int)rnd(GRID);
    uint64_t coord[2];
    size_t size = (size_t)cs->payload;
    int row = cs->rank == 2 ? 10 - c % 10 : GRID - c;
    uint8_t *p;

    coord_of(cs, c, coord);
    if (cs->rank == 1 && rnd(25) == 0) {
        put_run(d);
        return;
    }
    switch (rnd(8)) {
    case 0:
        ck_assert_int_eq(chunk_remove(cs, coord), 0);
        set(&d->c[c], NULL, 0);
        break;
    case 1:
    case 2: { /* whole chunks */
        uint32_t n = cs->nfilters ? 1 : 1 + (uint32_t)rnd((uint64_t)row);

        if (rnd(4) == 0 || d == &m->d[7]) {
            n = 1;
            size = (size_t)rnd(size + 1);
        }
        p = random_bytes(n * size);
        ck_assert_int_eq(chunk_write(cs, coord, n, p, size), 0);
        for (uint32_t i = 0; i < n; i++)
            set(&d->c[c + (int)i], p + i * size, size);
        break;
    }
    case 3: /* one after the other */
        for (int i = 0; i < row; i++) {
            coord_of(cs, c + i, coord);
            p = random_bytes(size);
            ck_assert_int_eq(chunk_write(cs, coord, 1, p, size), 0);
            set(&d->c[c + i], p, size);
        }
        break;
    default:
        change_part(d, c, coord);
    }
}

/* ---- the store's own check, with what data/ would claim ---- */

struct claiming {
    struct model *m;
};

static int verify_one(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    uint64_t absent;

    return chunk_verify(ctx, coord, rec, CHUNK_SUMS, &absent);
}

static int claim(const struct key *key, const uint8_t *value, size_t len, uint64_t where, void *ctx)
{
    struct claiming *cl = ctx;
    struct dataset_model *d;
    struct chunk_rec rec;
    const struct buf record = {.p = (uint8_t *)value, .len = len};
    uint64_t coord[2] = {0, 0};
    struct chunk_lines lines;

    (void)where;
    if (key_tag(key->p) != FMT_TAG_CHUNK)
        return 0;
    d = &cl->m->d[key_object(key->p) - 10];
    ck_assert_msg(chunk_entry(&d->cs, key, &record, coord, &rec) == 0, "%s", drep_error());
    ck_assert_int_eq(chunk_lines(&rec, &lines), 0);
    for (uint32_t i = 0; i < lines.n; i++)
        store_check_claim(d->cs.st, lines.at[i].offset, lines.at[i].length, "payload");
    for (uint32_t i = 0; i < rec.far; i++) {
        struct ref ref;

        chunk_ref(&rec, i, &ref);
        store_check_claim(d->cs.st, ref.offset, ref.length, "sums");
    }
    ck_assert_int_eq(rows_each(&d->cs, coord, &rec, verify_one, &d->cs), 0);
    return 0;
}

static int no_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    ck_abort_msg("finding %d at %llu: %s", err, (unsigned long long)offset, message);
    return 0;
}

static drep_usage check_store(struct model *m)
{
    struct claiming cl = {m};
    drep_usage usage = DREP_USAGE;
    int64_t findings;

    ck_assert_int_eq(
        store_check(m->d[0].cs.st, no_finding, NULL, claim, NULL, &cl, &findings, &usage), 0);
    ck_assert_int_eq(findings, 0);
    ck_assert_int_eq(usage.slack, 0);
    return usage;
}

static void must_commit(struct store *st)
{
    uint8_t header[8] = {0, 1, 0, 0, 0, 2, 9, 9};
    struct key key;

    key_make(&key, 1, FMT_TAG_OBJECT);
    ck_assert_int_eq(tree_put(st, &key, "x", 1), 0);
    ck_assert_int_eq(store_commit(st, header, sizeof(header), sizeof(header)), 0);
    ck_assert_int_eq(free_begin(st), 0);
}

START_TEST(test_chunks_against_model)
{
    struct fault_file file;
    struct store *st;
    struct model m = {0}, committed = {0}, before = {0};

    seed = 4242 + (uint64_t)_i * 17;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    must_commit(st);
    for (int round = sanitized_part(share_of(60)); round > 0; round--) {
        int undone = rnd(3) == 0, wrapped = undone || rnd(2);

        if (wrapped) {
            copy(&before, &m);
            ck_assert_int_eq(store_op_begin(st), 0);
        }
        for (uint64_t i = 0, n = 1 + rnd(20); i < n; i++)
            change(&m);
        if (rnd(4) == 0)
            same_all(&m, wrapped);
        if (wrapped)
            ck_assert_int_eq(store_op_end(st, !undone), 0);
        if (undone)
            copy(&m, &before);
        if (rnd(3) == 0 || undone)
            same_all(&m, 0);
        if (rnd(4) == 0) {
            must_commit(st);
            copy(&committed, &m);
            check_store(&m);
        }
        if (rnd(8) == 0) {
            store_close(st);
            ck_assert_int_eq(store_open(fault_io(&file), 1, &opts, &st), 0);
            ck_assert_int_eq(free_begin(st), 0);
            describe(&m, st);
            copy(&m, &committed);
            same_all(&m, 0);
            check_store(&m);
        }
    }
    must_commit(st);
    same_all(&m, 0);
    for (int d = 0; d < DATASETS; d++) {
        ck_assert_int_eq(chunk_remove_all(&m.d[d].cs), 0);
        for (int c = 0; c < GRID; c++)
            set(&m.d[d].c[c], NULL, 0);
    }
    same_all(&m, 0);
    for (int i = 0; i < 10; i++)
        must_commit(st);
    ck_assert_int_eq(check_store(&m).data, 0);
    store_close(st);
    ck_assert_uint_lt(file.size, 200000); /* what was free at the end is cut off */
    release(&m);
    release(&committed);
    release(&before);
    fault_release(&file);
}
END_TEST

START_TEST(test_contiguous_is_one_run)
{
    /* D14: slabs written one by one, or row by row, or out of order come to stand in one run. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};
    struct chunks *cs = &m.d[1].cs;
    uint64_t offset;

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    for (uint64_t i = 0; i < GRID; i++) {
        uint64_t c = _i == 2 ? (i * 7 + 3) % GRID : i;
        size_t size = (size_t)cs->payload - (c == GRID - 1 ? 1000 : 0);
        uint8_t *p = random_bytes(size);
        const uint64_t other = 3;

        if (_i == 1) {
            for (size_t at = 0; at < size; at += 4000) {
                size_t n = size - at < 4000 ? size - at : 4000;

                ck_assert_int_eq(store_op_begin(st), 0);
                ck_assert_int_eq(chunk_patch(cs, &c, &(struct patch){at, n, p + at, NULL, 0, NULL}),
                                 0);
                ck_assert_int_eq(store_op_end(st, 1), 0);
            }
        } else {
            ck_assert_int_eq(store_op_begin(st), 0);
            ck_assert_int_eq(chunk_write(cs, &c, 1, p, size), 0);
            ck_assert_int_eq(store_op_end(st, 1), 0);
        }
        set(&m.d[1].c[c], p, size);
        /* Something else takes space in between. */
        ck_assert_int_eq(chunk_write(&m.d[5].cs, &other, 1, p, 12288), 0);
        set(&m.d[5].c[3], p, 12288);
    }
    must_commit(st);
    check_store(&m);
    same_all(&m, 0);
    ck_assert_int_eq(chunk_run_offset(cs, GRID, GRID * cs->payload - 1000, &offset), 0);
    ck_assert_uint_eq(offset % 4096, 0);
    for (int c = 0; c < GRID; c++)
        ck_assert_int_eq(
            memcmp(file.p + offset + (uint64_t)c * cs->payload, m.d[1].c[c].p, m.d[1].c[c].size),
            0);
    store_close(st);
    release(&m);
    fault_release(&file);
}
END_TEST

/* ---- long runs of filtered chunks ---- */

#define LONG_GRID 400

struct stored_row {
    uint64_t offset, size, sum;
};

struct long_runs {
    struct chunks cs;
    uint32_t size[LONG_GRID]; /* 0: absent */
    uint8_t fill[LONG_GRID];
    struct stored_row row[2][LONG_GRID]; /* of the last commit, and the one before */
    int rows[2];
    int records, most; /* in the tree, and rows of the longest */
    uint32_t kinds;    /* bit k: there is one of kind k */
};

static const uint8_t *long_bytes(const struct long_runs *l, int c)
{
    static uint8_t bytes[700];

    for (size_t i = 0; i < l->size[c]; i++)
        bytes[i] = (uint8_t)(l->fill[c] + i * 13);
    return bytes;
}

static void long_coord(int c, uint64_t *coord)
{
    coord[0] = (uint64_t)c / 20;
    coord[1] = (uint64_t)c % 20;
}

static void long_write(struct long_runs *l, int c)
{
    uint64_t coord[2];

    l->size[c] = rnd(3) ? 1 + (uint32_t)rnd(700) : 1 + (uint32_t)rnd(40);
    l->fill[c] = (uint8_t)rnd(256);
    long_coord(c, coord);
    ck_assert_int_eq(chunk_write(&l->cs, coord, 1, long_bytes(l, c), l->size[c]), 0);
}

static void long_same(struct long_runs *l)
{
    for (int c = 0; c < LONG_GRID; c++) {
        uint64_t coord[2], have = 0;
        uint8_t bytes[800];

        long_coord(c, coord);
        ck_assert_msg(chunk_read(&l->cs, coord, 0, 700, bytes, &have) == 0, "chunk %d: %s", c,
                      drep_error());
        ck_assert_uint_eq(have, l->size[c]);
        ck_assert_int_eq(memcmp(bytes, long_bytes(l, c), have), 0);
    }
}

static int long_row(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct long_runs *l = ctx;

    (void)coord;
    ck_assert_int_lt(l->rows[0], LONG_GRID);
    l->row[0][l->rows[0]++] = (struct stored_row){rec->offset, rec->size, rec->sum[0]};
    return 0;
}

static int long_entry(const struct key *key, const uint8_t *value, size_t len, uint64_t where,
                      void *ctx)
{
    const struct buf record = {.p = (uint8_t *)value, .len = len};
    struct long_runs *l = ctx;
    struct chunk_lines lines;
    struct chunk_rec rec;
    uint64_t coord[2];

    (void)where;
    if (key_tag(key->p) != FMT_TAG_CHUNK)
        return 0;
    ck_assert_int_eq(chunk_entry(&l->cs, key, &record, coord, &rec), 0);
    ck_assert_int_eq(chunk_lines(&rec, &lines), 0);
    for (uint32_t i = 0; i < lines.n; i++)
        store_check_claim(l->cs.st, lines.at[i].offset, lines.at[i].length, "payload");
    l->records++;
    l->most = l->most > (int)rec.run ? l->most : (int)rec.run;
    l->kinds |= 1u << rec.kind;
    return 0;
}

/* The bytes of the last two commits are in the file as these commits have them. */
static void long_untouched(const struct long_runs *l, const struct fault_file *file)
{
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < l->rows[k]; i++) {
            const struct stored_row *r = &l->row[k][i];

            ck_assert_msg(sum_stored(file->p + r->offset, (size_t)r->size) == r->sum,
                          "bytes of commit -%d at %llu were overwritten", k,
                          (unsigned long long)r->offset);
        }
    }
}

static void long_commit(struct long_runs *l, const struct fault_file *file)
{
    drep_usage usage = DREP_USAGE;
    int64_t findings;

    long_untouched(l, file);
    must_commit(l->cs.st);
    memcpy(l->row[1], l->row[0], sizeof(l->row[0]));
    l->rows[1] = l->rows[0];
    l->rows[0] = 0;
    ck_assert_int_eq(chunk_each(&l->cs, long_row, l), 0);
    l->records = l->most = 0;
    ck_assert_int_eq(
        store_check(l->cs.st, no_finding, NULL, long_entry, NULL, l, &findings, &usage), 0);
    ck_assert_int_eq(findings, 0);
    long_untouched(l, file);
}

static void long_change(struct long_runs *l)
{
    int c = (int)rnd(LONG_GRID), n = 1 + (int)rnd(rnd(3) ? 4 : 150);
    uint64_t coord[2];

    for (int kind = (int)rnd(4); n > 0 && c < LONG_GRID; n--, c++) {
        long_coord(c, coord);
        if (kind > 0) {
            long_write(l, c);
        } else {
            ck_assert_int_eq(chunk_remove(&l->cs, coord), 0);
            l->size[c] = 0;
        }
    }
}

/* Written at once: full packed records.  Then rewritten, removed, taken back and committed at
 * random: nothing that a commit has is overwritten, no space is lost or had twice. */
START_TEST(test_long_runs_of_filtered_chunks)
{
    static struct long_runs l, before;
    struct fault_file file;
    struct store *st;

    seed = 77 + (uint64_t)_i;
    memset(&l, 0, sizeof(l));
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    l.cs = (struct chunks){.st = st, .object = 60, .rank = 2, .wrap = 1, .payload = 700};
    l.cs.grid[1] = 20;
    l.cs.nfilters = 1;
    l.cs.filter[0] = (struct filter_rec){.id = FMT_FILTER_SHUFFLE, .nparams = 1, .param = {1}};
    ck_assert_int_eq(store_op_begin(st), 0);
    for (int c = 0; c < LONG_GRID; c++)
        long_write(&l, c);
    ck_assert_int_eq(store_op_end(st, 1), 0);
    long_commit(&l, &file);
    ck_assert(l.records == 4 && l.most == 128 && l.kinds == 1u << FMT_CHUNK_PACKED);
    for (int round = 0; round < sanitized_part(share_of(150)); round++) {
        int undone = rnd(4) == 0;

        before = l;
        ck_assert_int_eq(store_op_begin(st), 0);
        for (int i = 1 + (int)rnd(4); i > 0; i--)
            long_change(&l);
        if (rnd(3) == 0)
            long_same(&l);
        ck_assert_int_eq(store_op_end(st, !undone), 0);
        if (undone)
            l = before;
        long_same(&l);
        if (rnd(3) == 0)
            long_commit(&l, &file);
    }
    /* All of it once more: packed again. */
    ck_assert_int_eq(store_op_begin(st), 0);
    for (int c = 0; c < LONG_GRID; c++)
        long_write(&l, c);
    ck_assert_int_eq(store_op_end(st, 1), 0);
    long_commit(&l, &file);
    long_same(&l);
    ck_assert(l.kinds & 1u << FMT_CHUNK_PLACED); /* on the way */
    ck_assert_int_eq(chunk_remove_all(&l.cs), 0);
    store_close(st);
    fault_release(&file);
}
END_TEST

START_TEST(test_flipped_payload)
{
    /* D13: every flipped byte of payload is found by exactly the reads that touch its block. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};
    struct chunks *cs = &m.d[0].cs;
    uint64_t coord[2] = {0, 0}, offset, have;
    uint8_t *p = random_bytes(8192 * 3), buf[8192];

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    ck_assert_int_eq(chunk_write(cs, coord, 3, p, 8192), 0);
    ck_assert_int_eq(chunk_write(&m.d[4].cs, coord, 1, p, 5000), 0);
    must_commit(st);
    ck_assert_int_eq(chunk_run_offset(cs, 3, 3 * cs->payload, &offset), 0);
    for (uint64_t at = 0; at < 3 * 8192; at += 101) {
        uint64_t c = at / 8192, in = at % 8192;
        char want[100];

        file.p[offset + at] ^= (uint8_t)(1u << (at % 8));
        ck_assert_int_eq(chunk_read(cs, &c, in, 1, buf, &have), DREP_ERR_CHECKSUM);
        snprintf(want, sizeof(want), "checksum mismatch (R8.29) at byte %llu",
                 (unsigned long long)(offset + at / 4096 * 4096));
        ck_assert_str_eq(drep_error(), want);
        ck_assert_int_eq(chunk_read(cs, &c, 0, 8192, buf, &have), DREP_ERR_CHECKSUM);
        ck_assert_int_eq(chunk_read(cs, &c, in < 4096 ? 4096 : 0, 4096, buf, &have), 0);
        file.p[offset + at] ^= (uint8_t)(1u << (at % 8));
    }
    for (uint64_t at = offset + 3 * 8192; at < file.size; at++) {
        int err;

        file.p[at] ^= 0x10;
        memset(buf, 0, sizeof(buf));
        err = chunk_read(&m.d[4].cs, coord, 0, 5000, buf, &have);
        ck_assert(err == DREP_ERR_CHECKSUM || (err == 0 && memcmp(buf, p, 5000) == 0));
        chunk_cache_clear(st->cache);
        file.p[at] ^= 0x10;
    }
    store_close(st);
    release(&m);
    fault_release(&file);
}
END_TEST

START_TEST(test_committed_space_is_never_written)
{
    /* D14: what the last commit refers to stays as it is until the next but one. */
    struct fault_file file, old;
    struct store *st, *reader;
    struct model m = {0}, was = {0}, seen = {0};

    seed = 7;
    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    for (int i = 0; i < 60; i++)
        change(&m);
    must_commit(st);
    for (int round = 0; round < 20; round++) {
        copy(&was, &m);
        ck_assert_int_eq(store_open(fault_io(&file), 0, &opts, &reader), 0);
        for (int commit = 0; commit < 4; commit++) {
            for (int i = 0; i < 30; i++)
                change(&m);
            if (commit < 3)
                must_commit(st);
        }
        /* D16: the reader's lock keeps its snapshot, however many commits came after. */
        copy(&seen, &was);
        describe(&seen, reader);
        same_all(&seen, 0);
        store_close(reader);
        must_commit(st);
        fault_build(&file, 0, 0, 0, -1, &old);
        fault_release(&old);
    }
    store_close(st);
    release(&m);
    release(&was);
    release(&seen);
    fault_release(&file);
}
END_TEST

/* One operation that writes a part of chunk c of dataset d; kept, or taken back. */
static void patch_op(struct model *m, int d, uint64_t c, size_t at, size_t n, int keep)
{
    struct chunks *cs = &m->d[d].cs;
    struct chunk_model *now = &m->d[d].c[c];
    uint8_t *p = random_bytes(n);

    ck_assert_int_eq(store_op_begin(cs->st), 0);
    ck_assert_int_eq(chunk_patch(cs, &c, &(struct patch){at, n, p, NULL, 0, NULL}), 0);
    ck_assert_int_eq(store_op_end(cs->st, keep), 0);
    if (!keep)
        return;
    if (at + n > now->size) {
        now->p = realloc(now->p, at + n);
        memset(now->p + now->size, 0, at + n - now->size);
        now->size = at + n;
    }
    memcpy(now->p + at, p, n);
}

START_TEST(test_space_to_grow_into_is_freed_once)
{
    /* A chunk that grew leaves what it did not use to the commit, and to nothing later. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    for (size_t at = 0; at < 5000; at += 100)
        patch_op(&m, 1, 0, at, 100, 1);
    must_commit(st);
    patch_op(&m, 0, 3, 0, 100, 0);
    for (int i = 0; i < 5; i++) {
        patch_op(&m, 0, 3, 0, 100, i % 2);
        must_commit(st);
        check_store(&m);
        same_all(&m, 0);
    }
    store_close(st);
    release(&m);
    fault_release(&file);
}
END_TEST

/* One operation that writes n whole chunks from chunk c of dataset d on. */
static void write_op(struct model *m, int d, uint64_t c, uint32_t n, int keep)
{
    struct chunks *cs = &m->d[d].cs;
    size_t size = (size_t)cs->payload;
    uint8_t *p = random_bytes(n * size);

    ck_assert_int_eq(store_op_begin(cs->st), 0);
    ck_assert_int_eq(chunk_write(cs, &c, n, p, size), 0);
    ck_assert_int_eq(store_op_end(cs->st, keep), 0);
    for (uint32_t i = 0; keep && i < n; i++)
        set(&m->d[d].c[c + i], p + i * size, size);
}

START_TEST(test_a_run_that_grew_in_vain)
{
    /* The space that an operation added to a run is no longer the run's when it is taken back. */
    struct fault_file file;
    struct store *st;
    struct model m = {0};

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    describe(&m, st);
    write_op(&m, 5, 0, 2, 1);
    write_op(&m, 5, 2, 2, 0);
    write_op(&m, 0, 0, 3, 1); /* as many bytes: they go there */
    must_commit(st);
    for (int i = 0; i < 5; i++) {
        check_store(&m);
        same_all(&m, 0);
        write_op(&m, 1, (uint64_t)i, 1, 1);
        write_op(&m, 5, 10 + (uint64_t)i, 1, 1);
        must_commit(st);
    }
    store_close(st);
    release(&m);
    fault_release(&file);
}
END_TEST

START_TEST(test_own_space_is_free_at_once)
{
    /* Of what an operation frees, the transaction's own part can be used again, even where it
     * meets space of a commit. */
    const uint64_t size = 65536;
    struct fault_file file;
    struct store *st;
    uint64_t at[4]; /* for nodes; of the commit; of the transaction; the rest */

    fault_init(&file);
    ck_assert_int_eq(store_create(fault_io(&file), &opts, &st), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(space_alloc(st, size, 4096, ANYWAY, &at[i]), 0);
    ck_assert_uint_eq(at[2], at[1] + size);
    space_free(st, at[0], size, ANYWAY);
    space_free(st, at[2], size, ANYWAY);
    must_commit(st);
    ck_assert_int_eq(space_alloc_at(st, at[2], size), 1);
    ck_assert_int_eq(store_op_begin(st), 0);
    space_free(st, at[1], size, WITH_OP);
    space_free(st, at[2], size, WITH_OP);
    ck_assert_int_eq(store_op_end(st, 1), 0);
    ck_assert_int_eq(space_alloc_at(st, at[2], size), 1);
    ck_assert_int_eq(space_alloc_at(st, at[1], size), 0);
    store_close(st);
    fault_release(&file);
}
END_TEST

/* Pieces of any size keep what is in them while others come, go and grow. */
START_TEST(test_memory_of_the_cache)
{
    enum { PIECES = 90 };
    static const uint64_t sizes[] = {40, 32768, 65536, 100001, 524288, 1100000, 5 << 20};
    struct buf b[PIECES] = {{0}};
    uint8_t mark[PIECES] = {0};
    struct regions mem;
    struct rnd r;

    rnd_init(&r, 17);
    ck_assert_int_eq(regions_init(&mem), 0);
    for (int turn = 0; turn < 4000; turn++) {
        int i = (int)rnd_below(&r, PIECES);
        uint64_t size = sizes[rnd_below(&r, 7)];

        if (b[i].p) { /* at both ends, where a neighbour would do harm */
            ck_assert_uint_eq(b[i].p[0], mark[i]);
            ck_assert_uint_eq(b[i].p[b[i].size - 1], mark[i]);
        }
        if (b[i].p && rnd_below(&r, 8) == 0) {
            ck_assert_int_eq(buf_reserve(&b[i], b[i].size + 1), 0);
            ck_assert_uint_eq(b[i].p[0], mark[i]);
            ck_assert_ptr_null(b[i].region);
        } else {
            buf_release(&b[i]);
            buf_take(&b[i], &mem, size);
            ck_assert_int_eq(b[i].p != NULL, size >= 32768);
            ck_assert(!b[i].p || ((uintptr_t)b[i].p % 4096 == 0 && b[i].size >= size));
        }
        mark[i] = (uint8_t)turn;
        if (b[i].p)
            b[i].p[0] = b[i].p[b[i].size - 1] = mark[i];
    }
    regions_closing(&mem, 1);
    for (int i = 0; i < PIECES; i++)
        buf_release(&b[i]);
    ck_assert_ptr_null(mem.with_room);
    regions_release(&mem);
}
END_TEST

static long resident_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all, resident;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%ld %ld", &all, &resident), 2);
    fclose(f);
    return resident;
}

/* Thousands of small pieces: no two are one, and when nearly all were given back, from the first
 * on or in any order, the system has the memory again. */
START_TEST(test_small_pieces_go_back)
{
    enum { PIECES = 20000, SIZE = 6144 };
    struct place {
        struct region *from;
        uint32_t *p;
    } *all = calloc(PIECES, sizeof(*all));
    long page = sysconf(_SC_PAGESIZE), filled;
    struct regions mem;
    struct rnd r;

    rnd_init(&r, 23);
    ck_assert_int_eq(regions_init(&mem), 0);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < PIECES; i++) {
            all[i].p = region_take(&mem, SIZE, &all[i].from);
            ck_assert_ptr_nonnull(all[i].p);
            for (int k = 0; k < SIZE / 4; k++)
                all[i].p[k] = (uint32_t)i;
        }
        filled = resident_pages();
        for (int i = PIECES - 1; turn && i > 0; i--) {
            struct place other = all[i];
            int k = (int)rnd_below(&r, (uint64_t)i + 1);

            all[i] = all[k];
            all[k] = other;
        }
        for (int i = 0; i < PIECES; i++) {
            ck_assert_mem_eq(all[i].p, all[i].p + 1, SIZE - 4); /* the same number all over */
            region_give(all[i].from, all[i].p);
        }
        ck_assert_int_gt((filled - resident_pages()) * page, (long)(PIECES - 2000) * SIZE);
        ck_assert_ptr_nonnull(mem.with_room); /* one region for the next ones */
    }
    regions_release(&mem);
    free(all);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chunk");
    TCase *t = tcase_create("chunk");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_chunks_against_model, 0, 6);
    tcase_add_loop_test(t, test_contiguous_is_one_run, 0, 3);
    tcase_add_loop_test(t, test_long_runs_of_filtered_chunks, 0, 6);
    tcase_add_test(t, test_flipped_payload);
    tcase_add_test(t, test_committed_space_is_never_written);
    tcase_add_test(t, test_space_to_grow_into_is_freed_once);
    tcase_add_test(t, test_a_run_that_grew_in_vain);
    tcase_add_test(t, test_own_space_is_free_at_once);
    tcase_add_test(t, test_memory_of_the_cache);
    tcase_add_test(t, test_small_pieces_go_back);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
