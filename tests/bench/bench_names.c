/* bench_names.c - names, listings, open and close, against LMDB, SQLite and HDF5.
 *
 * The peers are at their best: LMDB with one database of values and one of attributes, SQLite with
 * prepared statements, and both with one transaction open for all of a run, so that neither takes a
 * lock for each look-up.  Every run opens its file and closes it.  All files are synced when they
 * are made. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if HAVE_SQLITE
#include "peer_sql.h"
#endif
#if HAVE_LMDB
#include <lmdb.h>
#endif

enum {
    OBJECTS = FIGURE(100000, 70000),
    LOOKUPS = 10000,
    OPENS = 100,
    FULL = 1000,
    ATTRS = 100,
    MANY = 1000000
};

struct work {
    char drep[80], h5[80], sql[80], lmdb[80];
    int n;      /* objects */
    int attrs;  /* of each: 2, or ATTRS */
    int *which; /* looked up */
    int found;
    const char *cache; /* the hint drep_cache_size; NULL: its default */
    double *time;      /* where a run measures itself: seconds for each look-up */
};

static void remove_all(void *ctx)
{
    struct work *w = ctx;
    char lock[100];

    snprintf(lock, sizeof lock, "%s-lock", w->lmdb);
    unlink(w->drep);
    unlink(w->h5);
    unlink(w->sql);
    unlink(w->lmdb);
    unlink(lock);
}

static double size_of(const char *path)
{
    struct stat st;

    bench_must(stat(path, &st) == 0, path);
    return (double)st.st_size;
}

/* Without snprintf(), which would be a tenth of what is measured. */
static void number(char *end, int i)
{
    for (; i > 0; i /= 10)
        *end-- = (char)('0' + i % 10);
}

static void name_of(char path[16], int i)
{
    strcpy(path, "/d0000000");
    number(path + 8, i);
}

/* The first two have names of their own. */
static const char *attr_of(char name[16], int k)
{
    if (k < 2)
        return k ? "version" : "scale";
    strcpy(name, "attr000");
    number(name + 6, k);
    return name;
}

static void look(struct work *w, int at, double v)
{
    bench_must(v == at * 0.5, "comparing what was read");
    w->found++;
}

/* What a run did, so that none is faster by doing less. */
static void counted(struct work *w, int n)
{
    bench_must(w->found == n, "finding everything");
    w->found = 0;
}

/* ---- Datarep ---- */

static drep_file *our_open(const struct work *w)
{
    drep_info *info = NULL;
    drep_file *file;

    bench_must(drep_info_new(&info) == 0, "drep_info_new");
    if (w->cache)
        bench_must(drep_info_set(info, "drep_cache_size", w->cache) == 0, "drep_info_set");
    bench_must(drep_open(w->drep, DREP_RDONLY, info, &file) == 0, "drep_open");
    drep_info_free(info);
    return file;
}

static void our_make(void *ctx)
{
    struct work *w = ctx;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE);
    char path[16], name[16];
    drep_dataset *set;
    drep_file *file;

    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &file) == 0, "drep_create");
    for (int i = 0; i < w->n; i++) {
        double v = i * 0.5;

        name_of(path, i);
        bench_must(drep_dataset_create(file, path, &spec, &set) == 0 &&
                       drep_write(set, NULL, NULL, &v, NULL) == 0,
                   "writing");
        drep_dataset_close(set);
        for (int k = 0; k < w->attrs; k++)
            bench_must((k ? drep_attr_write_int64(file, path, attr_of(name, k), i)
                          : drep_attr_write_double(file, path, attr_of(name, k), v)) == 0,
                       "an attribute");
    }
    bench_must(drep_close(file) == 0, "drep_close");
}

static void our_one(struct work *w, drep_file *file, int at)
{
    drep_dataset *set;
    char path[16];
    double v = 0;

    name_of(path, at);
    bench_must(drep_dataset_open(file, path, &set) == 0 &&
                   drep_read(set, NULL, NULL, &v, NULL) == 0,
               "reading");
    drep_dataset_close(set);
    look(w, at, v);
}

static void our_find(void *ctx)
{
    struct work *w = ctx;
    drep_file *file = our_open(w);

    for (int i = 0; i < LOOKUPS; i++)
        our_one(w, file, w->which[i] % w->n);
    bench_must(drep_close(file) == 0, "drep_close");
    counted(w, LOOKUPS);
}

static int our_link(const drep_linkinfo *link, void *ctx)
{
    struct work *w = ctx;

    w->found += link->kind == DREP_OBJ_DATASET && link->name[0] == 'd';
    return 0;
}

static void our_list(void *ctx)
{
    struct work *w = ctx;
    drep_file *file = our_open(w);

    bench_must(drep_list(file, "/", DREP_BY_NAME, our_link, w) == 0, "drep_list");
    bench_must(drep_close(file) == 0, "drep_close");
    counted(w, w->n);
}

static int our_attr(const char *name, void *ctx)
{
    struct work *w = ctx;

    w->found += name[0] != '\0';
    return 0;
}

static void our_attrs(void *ctx)
{
    struct work *w = ctx;
    drep_file *file = our_open(w);
    char path[16];

    for (int i = 0; i < w->n; i++) {
        name_of(path, i);
        bench_must(drep_attr_list(file, path, DREP_BY_NAME, our_attr, w) == 0, "drep_attr_list");
    }
    bench_must(drep_close(file) == 0, "drep_close");
    counted(w, w->n * w->attrs);
}

static void our_opens(void *ctx)
{
    struct work *w = ctx;
    drep_file *file;

    for (int i = 0; i < OPENS; i++)
        bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0 && drep_close(file) == 0,
                   "opening");
}

/* ---- HDF5 ---- */

/* Objects without attributes: only opened. */
static void h5_make(void *ctx)
{
    struct work *w = ctx;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), s = H5Screate(H5S_SCALAR), f;
    char path[16];

    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int i = 0; i < w->n; i++) {
        name_of(path, i);
        H5Dclose(H5Dcreate2(f, path, H5T_NATIVE_DOUBLE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Sclose(s);
    bench_must(H5Fclose(f) >= 0, "H5Fclose");
    H5Pclose(access);
}

static void h5_opens(void *ctx)
{
    struct work *w = ctx;

    for (int i = 0; i < OPENS; i++)
        bench_must(H5Fclose(H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0, "H5Fopen");
}

/* ---- SQLite ---- */

#if HAVE_SQLITE
/* With one transaction open until sql_end(). */
static sqlite3 *sql_begin(const struct work *w, int flags)
{
    sqlite3 *db = sql_open(w->sql, flags);

    sql_run(db, "BEGIN");
    return db;
}

static void sql_end(sqlite3 *db, sqlite3_stmt *stmt)
{
    sqlite3_finalize(stmt);
    sql_run(db, "COMMIT");
    sql_close(db);
}

static void sql_object(struct work *w, sqlite3_stmt *set, sqlite3_stmt *attr, int i)
{
    char path[16], name[16];

    name_of(path, i);
    sqlite3_bind_int(set, 1, i + 1);
    sqlite3_bind_text(set, 2, path + 1, -1, SQLITE_STATIC);
    sqlite3_bind_double(set, 3, i * 0.5);
    sql_put(set);
    for (int k = 0; k < w->attrs; k++) {
        sqlite3_bind_int(attr, 1, i + 1);
        sqlite3_bind_text(attr, 2, attr_of(name, k), -1, SQLITE_STATIC);
        if (k == 0)
            sqlite3_bind_double(attr, 3, i * 0.5);
        else
            sqlite3_bind_int(attr, 3, i);
        sql_put(attr);
    }
}

static void sql_make(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_begin(w, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_stmt *set, *attr;

    sql_run(db, "CREATE TABLE dataset(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, value)");
    sql_run(db, "CREATE TABLE attr(id INTEGER, name TEXT, value, PRIMARY KEY(id, name)) "
                "WITHOUT ROWID");
    set = sql_prepare(db, "INSERT INTO dataset VALUES(?, ?, ?)");
    attr = sql_prepare(db, "INSERT INTO attr VALUES(?, ?, ?)");
    for (int i = 0; i < w->n; i++)
        sql_object(w, set, attr, i);
    sqlite3_finalize(attr);
    sql_end(db, set);
}

static void sql_find(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_begin(w, SQLITE_OPEN_READONLY);
    sqlite3_stmt *stmt = sql_prepare(db, "SELECT value FROM dataset WHERE name = ?");
    char path[16];

    for (int i = 0; i < LOOKUPS; i++) {
        int at = w->which[i] % w->n;

        name_of(path, at);
        sqlite3_bind_text(stmt, 1, path + 1, -1, SQLITE_STATIC);
        sql_step(stmt, SQLITE_ROW);
        look(w, at, sqlite3_column_double(stmt, 0));
        sqlite3_reset(stmt);
    }
    sql_end(db, stmt);
    counted(w, LOOKUPS);
}

static void sql_list(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_begin(w, SQLITE_OPEN_READONLY);
    sqlite3_stmt *stmt = sql_prepare(db, "SELECT name FROM dataset ORDER BY name");

    while (sqlite3_step(stmt) == SQLITE_ROW)
        w->found += sqlite3_column_text(stmt, 0)[0] == 'd';
    sql_end(db, stmt);
    counted(w, w->n);
}

/* The object is looked up by its name, as the other side does. */
static void sql_attrs(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_begin(w, SQLITE_OPEN_READONLY);
    sqlite3_stmt *stmt =
        sql_prepare(db, "SELECT name FROM attr WHERE id = (SELECT id FROM dataset WHERE name = ?) "
                        "ORDER BY name");
    char path[16];

    for (int i = 0; i < w->n; i++) {
        name_of(path, i);
        sqlite3_bind_text(stmt, 1, path + 1, -1, SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            w->found += sqlite3_column_text(stmt, 0)[0] != '\0';
        sqlite3_reset(stmt);
    }
    sql_end(db, stmt);
    counted(w, w->n * w->attrs);
}
#endif

/* ---- LMDB ---- */

#if HAVE_LMDB
struct lmdb {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi set, attr;
};

static void lm_must(int err)
{
    bench_must(err == 0, "a call of LMDB");
}

static void lm_open(const struct work *w, struct lmdb *m, int write)
{
    unsigned make = write ? MDB_CREATE : 0;

    lm_must(mdb_env_create(&m->env));
    lm_must(mdb_env_set_maxdbs(m->env, 2));
    lm_must(mdb_env_set_mapsize(m->env, (size_t)1 << 30));
    lm_must(mdb_env_open(m->env, w->lmdb, MDB_NOSUBDIR | (write ? 0 : MDB_RDONLY), 0600));
    lm_must(mdb_txn_begin(m->env, NULL, write ? 0 : MDB_RDONLY, &m->txn));
    lm_must(mdb_dbi_open(m->txn, "set", make, &m->set));
    lm_must(mdb_dbi_open(m->txn, "attr", make, &m->attr));
}

static void lm_close(struct lmdb *m)
{
    lm_must(mdb_txn_commit(m->txn));
    mdb_env_close(m->env);
}

static void lm_put(struct lmdb *m, MDB_dbi db, void *key, size_t key_size, void *p, size_t size)
{
    MDB_val k = {key_size, key}, v = {size, p};

    lm_must(mdb_put(m->txn, db, &k, &v, 0));
}

static void lm_make(void *ctx)
{
    struct work *w = ctx;
    char path[16], name[16], key[24];
    struct lmdb m;

    lm_open(w, &m, 1);
    for (int i = 0; i < w->n; i++) {
        double v = i * 0.5;
        int64_t n = i;

        name_of(path, i);
        lm_put(&m, m.set, path + 1, strlen(path + 1), &v, sizeof v);
        for (int k = 0; k < w->attrs; k++) {
            const char *attr = attr_of(name, k);

            for (int b = 0; b < 4; b++)
                key[b] = (char)(i >> (24 - 8 * b));
            strcpy(key + 4, attr);
            lm_put(&m, m.attr, key, 4 + strlen(attr), k ? (void *)&n : &v, 8);
        }
    }
    lm_close(&m);
}

static void lm_one(struct work *w, struct lmdb *m, int at)
{
    MDB_val k, v;
    char path[16];
    double got;

    name_of(path, at);
    k = (MDB_val){strlen(path + 1), path + 1};
    lm_must(mdb_get(m->txn, m->set, &k, &v));
    memcpy(&got, v.mv_data, sizeof got);
    look(w, at, got);
}

static void lm_find(void *ctx)
{
    struct work *w = ctx;
    struct lmdb m;

    lm_open(w, &m, 0);
    for (int i = 0; i < LOOKUPS; i++)
        lm_one(w, &m, w->which[i] % w->n);
    lm_close(&m);
    counted(w, LOOKUPS);
}

static void lm_list(void *ctx)
{
    struct work *w = ctx;
    MDB_cursor *cursor;
    struct lmdb m;
    MDB_val k, v;

    lm_open(w, &m, 0);
    lm_must(mdb_cursor_open(m.txn, m.set, &cursor));
    while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0)
        w->found += *(char *)k.mv_data == 'd';
    mdb_cursor_close(cursor);
    lm_close(&m);
    counted(w, w->n);
}

static void lm_opens(void *ctx)
{
    struct work *w = ctx;
    struct lmdb m;

    for (int i = 0; i < OPENS; i++) {
        lm_open(w, &m, 0);
        lm_close(&m);
    }
}
#endif

/* ---- rows ---- */

static int create_rows(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep", remove_all, our_make, 0},
#if HAVE_LMDB
        {"LMDB", remove_all, lm_make, 0.7},
#endif
#if HAVE_SQLITE
        {"SQLite", remove_all, sql_make, 3},
#endif
    };
    double ours, theirs;
    int missed =
        bench_versus("create 10^5 objects with 2 attributes", 5, e, sizeof e / sizeof *e, w);

    remove_all(w);
    our_make(w);
    ours = size_of(w->drep);
#if HAVE_LMDB
    lm_make(w);
    printf("  size: %.2f of LMDB's\n", ours / size_of(w->lmdb));
#endif
#if HAVE_SQLITE
    sql_make(w);
    theirs = size_of(w->sql);
    printf("  size: %.2f of SQLite's  bar %5.2f %s\n", ours / theirs, 1.2,
           ours <= 1.2 * theirs ? "met" : "MISSED");
    missed += ours > 1.2 * theirs;
#endif
    (void)ours, (void)theirs;
    return missed;
}

/* Files of w->n objects, all sides. */
static void make_all(struct work *w)
{
    remove_all(w);
    our_make(w);
#if HAVE_LMDB
    lm_make(w);
#endif
#if HAVE_SQLITE
    sql_make(w);
#endif
}

static int find_rows(struct work *w)
{
    const struct bench_entry find[] = {
        {"datarep", NULL, our_find, 0},
#if HAVE_LMDB
        {"LMDB", NULL, lm_find, 0.7},
#endif
#if HAVE_SQLITE
        {"SQLite", NULL, sql_find, 1},
#endif
    };
    const struct bench_entry list[] = {
        {"datarep", NULL, our_list, 0},
#if HAVE_LMDB
        {"LMDB", NULL, lm_list, 0.8},
#endif
#if HAVE_SQLITE
        {"SQLite", NULL, sql_list, 1},
#endif
    };
    int missed;

    make_all(w);
    missed = bench_versus("look up 10,000 of 10^5, read a scalar", 15, find,
                          sizeof find / sizeof *find, w);
    return missed + bench_versus("list 10^5 by name", 15, list, sizeof list / sizeof *list, w);
}

static int open_rows(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep", NULL, our_opens, 0},
        {"HDF5", NULL, h5_opens, 3},
#if HAVE_LMDB
        {"LMDB", NULL, lm_opens, 0.6},
#endif
    };

    make_all(w);
    h5_make(w);
    return bench_versus("open and close, 100 times, 10^5 objects", 15, e, sizeof e / sizeof *e, w);
}

static int attr_rows(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep", NULL, our_attrs, 0},
#if HAVE_SQLITE
        {"SQLite", NULL, sql_attrs, 1.5},
#endif
    };
    int missed;

    w->n = FULL;
    w->attrs = ATTRS;
    make_all(w);
    missed = bench_versus("list 100 attributes of 1,000 objects", 15, e, sizeof e / sizeof *e, w);
    w->n = OBJECTS;
    w->attrs = 2;
    return missed;
}

/* Look-ups by a file that was opened before, each object of `which` once before that. */
static void our_again(struct work *w)
{
    drep_file *file = our_open(w);

    for (int round = 0; round < 2; round++) {
        double begin = bench_now();

        for (int i = 0; i < LOOKUPS; i++)
            our_one(w, file, w->which[i] % w->n);
        *w->time = (bench_now() - begin) / LOOKUPS;
    }
    bench_must(drep_close(file) == 0, "drep_close");
    counted(w, 2 * LOOKUPS);
}

#if HAVE_LMDB
static void lm_again(struct work *w)
{
    struct lmdb m;

    lm_open(w, &m, 0);
    for (int round = 0; round < 2; round++) {
        double begin = bench_now();

        for (int i = 0; i < LOOKUPS; i++)
            lm_one(w, &m, w->which[i] % w->n);
        *w->time = (bench_now() - begin) / LOOKUPS;
    }
    lm_close(&m);
    counted(w, 2 * LOOKUPS);
}
#endif

enum { ROUNDS = 9 };

static double again(struct work *w, void (*fn)(struct work *w), const char *cache)
{
    double times[ROUNDS];

    w->cache = cache;
    for (int i = 0; i < ROUNDS; i++) {
        w->time = &times[i];
        fn(w);
    }
    w->cache = NULL;
    return bench_median(times, ROUNDS);
}

/* A look-up among 10^3 and among 10^6, when the nodes were read before. */
static int scale_rows(struct work *w)
{
    const char *all = "1073741824";
    double few, many, usual, theirs = 0;
    int missed;

    w->n = 1000;
    make_all(w);
    few = again(w, our_again, all);
    w->n = MANY;
    remove_all(w);
    our_make(w);
    many = again(w, our_again, all);
    usual = again(w, our_again, NULL);
#if HAVE_LMDB
    lm_make(w);
    theirs = again(w, lm_again, NULL);
#endif
    w->n = OBJECTS;
    missed = many > 4 * few;
    printf("look up among 10^3 %.3f us, 10^6 %.3f us; growth %.2f, at most 4 %s; default cache "
           "%.3f us\n",
           1e6 * few, 1e6 * many, many / few, missed ? "MISSED" : "met", 1e6 * usual);
    if (theirs > 0) {
        printf("  LMDB among 10^6 %.3f us, ratio %.2f, bar 1 %s\n", 1e6 * theirs, theirs / many,
               theirs >= many ? "met" : "MISSED");
        missed += theirs < many;
    }
    return missed;
}

static const struct {
    const char *name;
    int (*run)(struct work *w);
} rows[] = {{"create", create_rows},
            {"find", find_rows},
            {"open", open_rows},
            {"attrs", attr_rows},
            {"scale", scale_rows}};

int main(int argc, char **argv)
{
    struct work w = {.n = OBJECTS, .attrs = 2};
    uint32_t *random = malloc(LOOKUPS * sizeof *random);
    int missed = 0;

    snprintf(w.drep, sizeof w.drep, "%s/names-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/names-%d.h5", bench_dir(), (int)getpid());
    snprintf(w.sql, sizeof w.sql, "%s/names-%d.sqlite", bench_dir(), (int)getpid());
    snprintf(w.lmdb, sizeof w.lmdb, "%s/names-%d.lmdb", bench_dir(), (int)getpid());
    w.which = malloc(LOOKUPS * sizeof *w.which);
    bench_must(random != NULL && w.which != NULL, "memory");
    bench_random(random, LOOKUPS * sizeof *random, 3);
    for (int i = 0; i < LOOKUPS; i++)
        w.which[i] = (int)(random[i] % MANY);
    printf("median times, times faster than each peer\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_wanted(argc, argv, rows[i].name))
            missed += rows[i].run(&w);
    remove_all(&w);
    free(random);
    free(w.which);
    printf("bars missed: %d\n", missed);
    return 0;
}
