/* bench_texts.c - 10^6 strings of 3 to 30 bytes: single ones, and all of them.
 *
 * SQLite reads the same strings by their row numbers, with a prepared statement.  The limit for
 * all of them reads the bytes of the file with pread(), sums them with XXH3 and gives each string
 * memory of its own, which is what drep_read() promises.  Rows: singles, all. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#if HAVE_SQLITE
#include "peer_sql.h"
#endif

#include <datarep.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS = FIGURE(1000000, 600000), SINGLES = 1000, LONGEST = FIGURE(30, 70), PIECE = 1 << 20 };

struct work {
    char drep[64], sql[64];
    char *bytes; /* all texts, each with its NUL, */
    char **want; /* and where each begins */
    char **got;
    int64_t *place;
    int threads;
    drep_file *file;
    drep_dataset *dataset;
    drep_type *type;
    void *piece;
    int fd;
    uint64_t size, sink;
#if HAVE_SQLITE
    sqlite3 *db;
    sqlite3_stmt *one, *all;
#endif
};

static void make_texts(struct work *w)
{
    uint8_t *random = malloc(TEXTS * (LONGEST + 1));
    char *p;

    w->bytes = p = malloc((size_t)TEXTS * (LONGEST + 1));
    w->want = malloc(TEXTS * sizeof *w->want);
    w->got = calloc(TEXTS, sizeof *w->got);
    w->place = malloc(SINGLES * sizeof *w->place);
    w->piece = malloc(PIECE);
    bench_must(random && p && w->want && w->got && w->place && w->piece, "memory");
    bench_random(random, TEXTS * (LONGEST + 1), 7);
    for (size_t i = 0; i < TEXTS; i++) {
        const uint8_t *r = random + i * (LONGEST + 1);
        int n = 3 + r[LONGEST] % (LONGEST - 2);

        w->want[i] = p;
        for (int k = 0; k < n; k++)
            *p++ = (char)('a' + r[k] % 26);
        *p++ = '\0';
    }
    bench_random(random, SINGLES * sizeof *w->place, 8);
    for (size_t i = 0; i < SINGLES; i++) {
        uint64_t v;

        memcpy(&v, random + i * sizeof v, sizeof v);
        w->place[i] = (int64_t)(v % TEXTS);
    }
    free(random);
}

static void make_files(struct work *w)
{
    const int64_t n = TEXTS;

    bench_must(drep_type_vstring(&w->type) == 0 &&
                   drep_create(w->drep, DREP_RDWR, "native", NULL, &w->file) == 0 &&
                   drep_dataset_create(w->file, "d",
                                       &DREP_SPEC(.type = w->type, .rank = 1, .dims = &n),
                                       &w->dataset) == 0 &&
                   drep_write(w->dataset, NULL, NULL, w->want, NULL) == 0,
               "write");
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
    w->fd = open(w->drep, O_RDONLY);
    w->size = (uint64_t)lseek(w->fd, 0, SEEK_END);
#if HAVE_SQLITE
    w->db = sql_open(w->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sql_run(w->db, "PRAGMA journal_mode=OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);"
                   "BEGIN");
    w->one = sql_prepare(w->db, "INSERT INTO t VALUES (?, ?)");
    for (int i = 0; i < TEXTS; i++) {
        sqlite3_bind_int(w->one, 1, i);
        sqlite3_bind_text(w->one, 2, w->want[i], -1, SQLITE_STATIC);
        sql_put(w->one);
    }
    sqlite3_finalize(w->one);
    sql_run(w->db, "COMMIT");
    sql_close(w->db);
#endif
}

/* Files are opened before each run, so that nobody's cache is warm. */
static void open_ours(void *ctx)
{
    struct work *w = ctx;

    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &w->file) == 0 &&
                   drep_dataset_open(w->file, "d", &w->dataset) == 0,
               "open");
}

static void close_ours(struct work *w)
{
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
}

static void same(const struct work *w, int64_t i, const char *text)
{
    bench_must(strcmp(text, w->want[i]) == 0, "comparing what was read");
}

static void drep_singles(void *ctx)
{
    struct work *w = ctx;
    const int64_t one = 1;
    const drep_xfer xfer = DREP_XFER(.threads = w->threads);

    for (int i = 0; i < SINGLES; i++) {
        char *text = NULL;

        bench_must(drep_read_box(w->dataset, &w->place[i], &one, NULL, &text, &xfer) == 0, "read");
        same(w, w->place[i], text);
        free(text);
    }
    close_ours(w);
}

static void drep_all(void *ctx)
{
    struct work *w = ctx;
    const drep_xfer xfer = DREP_XFER(.threads = w->threads);

    bench_must(drep_read(w->dataset, NULL, NULL, w->got, &xfer) == 0, "read");
    for (int i = 0; i < TEXTS; i++)
        same(w, i, w->got[i]);
    drep_vlen_free(w->type, TEXTS, w->got);
    close_ours(w);
}

#if HAVE_SQLITE
static void open_sql(void *ctx)
{
    struct work *w = ctx;

    w->db = sql_open(w->sql, SQLITE_OPEN_READONLY);
    sql_run(w->db, "BEGIN");
    w->one = sql_prepare(w->db, "SELECT v FROM t WHERE id = ?");
    w->all = sql_prepare(w->db, "SELECT v FROM t ORDER BY id");
}

static void close_sql(struct work *w)
{
    sqlite3_finalize(w->one);
    sqlite3_finalize(w->all);
    sql_close(w->db);
}

static void sql_singles(void *ctx)
{
    struct work *w = ctx;

    for (int i = 0; i < SINGLES; i++) {
        char *text;

        sqlite3_bind_int64(w->one, 1, w->place[i]);
        sql_step(w->one, SQLITE_ROW);
        text = strdup((const char *)sqlite3_column_text(w->one, 0));
        same(w, w->place[i], text);
        free(text);
        sqlite3_reset(w->one);
    }
    close_sql(w);
}

static void sql_all(void *ctx)
{
    struct work *w = ctx;

    for (int i = 0; i < TEXTS; i++) {
        sql_step(w->all, SQLITE_ROW);
        w->got[i] = strdup((const char *)sqlite3_column_text(w->all, 0));
    }
    for (int i = 0; i < TEXTS; i++)
        same(w, i, w->got[i]);
    for (int i = 0; i < TEXTS; i++)
        free(w->got[i]);
    close_sql(w);
}
#endif

static void raw_all(void *ctx)
{
    struct work *w = ctx;

    for (uint64_t at = 0; at < w->size; at += PIECE) {
        ssize_t n = pread(w->fd, w->piece, PIECE, (off_t)at);

        bench_must(n > 0, "pread");
        w->sink ^= bench_sums(w->piece, (size_t)n);
    }
    for (int i = 0; i < TEXTS; i++)
        w->got[i] = strdup(w->want[i]);
    for (int i = 0; i < TEXTS; i++)
        same(w, i, w->got[i]);
    for (int i = 0; i < TEXTS; i++)
        free(w->got[i]);
}

static int singles(struct work *w, const char *threads)
{
    char title[80];
    const struct bench_entry e[] = {
        {"datarep", open_ours, drep_singles, 0},
#if HAVE_SQLITE
        {"SQLite", open_sql, sql_singles, 1},
#endif
    };

    snprintf(title, sizeof title, "1,000 single strings of 10^6, %s", threads);
    return bench_versus(title, 7, e, sizeof e / sizeof *e, w);
}

static int all(struct work *w, const char *threads)
{
    char title[80];
    const struct bench_entry e[] = {
        {"datarep", open_ours, drep_all, 0},
        {"pread, XXH3, strdup", NULL, raw_all, 0.4},
#if HAVE_SQLITE
        {"SQLite", open_sql, sql_all, 0},
#endif
    };

    snprintf(title, sizeof title, "all of 10^6 strings, %s", threads);
    return bench_versus(title, 7, e, sizeof e / sizeof *e, w);
}

static const struct {
    const char *name;
    int (*run)(struct work *w, const char *threads);
} rows[] = {{"singles", singles}, {"all", all}};

int main(int argc, char **argv)
{
    struct work w = {.fd = -1};
    int missed = 0;

    snprintf(w.drep, sizeof w.drep, "%s/texts-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.sql, sizeof w.sql, "%s/texts-%d.sql", bench_dir(), (int)getpid());
    make_texts(&w);
    make_files(&w);
    printf("median times, times faster than each peer; size: %.1f bytes a string\n",
           (double)w.size / TEXTS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (w.threads = 0; w.threads < 2 && bench_wanted(argc, argv, rows[i].name); w.threads++)
            missed += rows[i].run(&w, w.threads == 1 ? "one thread" : "default threads");
    unlink(w.drep);
    unlink(w.sql);
    printf("bars missed: %d\n", missed);
    return 0;
}
