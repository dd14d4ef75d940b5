/* bench_objects.c - many objects: making, finding and listing them, and opening a file of
 * many chunks, against HDF5 at its better setting and SQLite in one transaction.
 *
 * Every side ends with its data as durable as the others': Datarep and SQLite sync, HDF5
 * is synced by us.  SQLite has a table of datasets and one of attributes, both with the
 * keys that the look-ups need, and prepared statements. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if HAVE_SQLITE
#include "peer_sql.h"
#endif

enum { OBJECTS = 100000, LOOKUPS = 10000, CHUNKS = 100000, CHUNK = 128 };

struct work {
    char drep[80], h5[80], sql[80], raw[80];
    int n;      /* objects */
    int latest; /* HDF5's format: the library's newest, or the default */
    int *which; /* looked up */
    int64_t sum;
    /* Open while objects are looked up. */
    drep_file *file;
    hid_t h5_file;
#if HAVE_SQLITE
    sqlite3 *db;
    sqlite3_stmt *stmt;
#endif
    struct slot *table;
    const char *cache; /* the hint drep_cache_size; NULL: its default */
    char *start;       /* the program of the child processes */
    const char *child[4];
};

static void remove_all(void *ctx)
{
    struct work *w = ctx;

    unlink(w->drep);
    unlink(w->h5);
    unlink(w->sql);
}

/* Without snprintf(), which would be a tenth of what is measured. */
static void name_of(char path[32], int i)
{
    strcpy(path, "/d0000000");
    for (char *digit = path + 8; i > 0; i /= 10)
        *digit-- = (char)('0' + i % 10);
}

/* ---- Datarep ---- */

static void drep_make(void *ctx)
{
    struct work *w = ctx;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE);
    drep_file *file;
    char path[32];

    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &file) == 0, "drep_create");
    for (int i = 0; i < w->n; i++) {
        double v = i * 0.5;
        drep_dataset *set;

        name_of(path, i);
        bench_must(drep_dataset_create(file, path, &spec, &set) == 0, "drep_dataset_create");
        bench_must(drep_write(set, NULL, NULL, &v, NULL) == 0, "drep_write");
        drep_dataset_close(set);
        bench_must(drep_attr_write_int64(file, path, "version", i) == 0, "drep_attr_write_int64");
        bench_must(drep_attr_write_double(file, path, "scale", v) == 0, "attr_write_double");
    }
    bench_must(drep_close(file) == 0, "drep_close");
}

/* Files in which objects are looked up by name, and what a look-up is. */
struct side {
    const char *name;
    size_t path;    /* where struct work has the file's */
    bench_fn *make; /* the file, which is not there */
    void (*open)(struct work *w);
    void (*one)(struct work *w, const char *path, double want);
    void (*close)(struct work *w);
};

static void look_up(struct work *w, const struct side *side, int at)
{
    char path[32];

    name_of(path, at);
    side->one(w, path, at * 0.5);
}

static void find(struct work *w, const struct side *side)
{
    side->open(w);
    for (int i = 0; i < LOOKUPS; i++)
        look_up(w, side, w->which[i] % w->n);
    side->close(w);
}

static void drep_begin(struct work *w)
{
    drep_info *info = NULL;

    bench_must(drep_info_new(&info) == 0, "drep_info_new");
    if (w->cache)
        bench_must(drep_info_set(info, "drep_cache_size", w->cache) == 0, "drep_info_set");
    bench_must(drep_open(w->drep, DREP_RDONLY, info, &w->file) == 0, "drep_open");
    drep_info_free(info);
}

static void drep_one(struct work *w, const char *path, double want)
{
    drep_dataset *set;
    double v;

    bench_must(drep_dataset_open(w->file, path, &set) == 0, "drep_dataset_open");
    bench_must(drep_read(set, NULL, NULL, &v, NULL) == 0, "drep_read");
    drep_dataset_close(set);
    bench_must(v == want, "comparing what was read");
}

static void drep_end(struct work *w)
{
    bench_must(drep_close(w->file) == 0, "drep_close");
}

static const struct side drep_side = {
    "datarep", offsetof(struct work, drep), drep_make, drep_begin, drep_one, drep_end};

static void drep_find(void *ctx)
{
    find(ctx, &drep_side);
}

static int drep_count(const drep_linkinfo *link, void *ctx)
{
    struct work *w = ctx;

    w->sum += link->kind == DREP_OBJ_DATASET && link->name[0] == 'd';
    return 0;
}

static void drep_walk(struct work *w, int order)
{
    drep_file *file;

    w->sum = 0;
    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0, "drep_open");
    bench_must(drep_list(file, "/", order, drep_count, w) == 0, "drep_list");
    bench_must(drep_close(file) == 0, "drep_close");
    bench_must(w->sum == w->n, "listing everything");
}

static void drep_by_name(void *ctx)
{
    drep_walk(ctx, DREP_BY_NAME);
}

static void drep_by_creation(void *ctx)
{
    drep_walk(ctx, DREP_BY_CREATION);
}

/* ---- HDF5 ---- */

static hid_t h5_access(const struct work *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (w->latest)
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    return access;
}

static void h5_attr(hid_t d, hid_t s, const char *name, hid_t type, const void *v)
{
    hid_t a = H5Acreate2(d, name, type, s, H5P_DEFAULT, H5P_DEFAULT);

    bench_must(H5Awrite(a, type, v) >= 0, "H5Awrite");
    H5Aclose(a);
}

static void h5_make(struct work *w, int latest)
{
    hid_t access, f, s = H5Screate(H5S_SCALAR);
    char path[32];
    int fd;

    w->latest = latest;
    access = h5_access(w);
    f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int i = 0; i < w->n; i++) {
        double v = i * 0.5;
        int64_t n = i;
        hid_t d;

        name_of(path, i);
        d = H5Dcreate2(f, path, H5T_NATIVE_DOUBLE, s, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &v) >= 0,
                   "H5Dwrite");
        h5_attr(d, s, "version", H5T_NATIVE_INT64, &n);
        h5_attr(d, s, "scale", H5T_NATIVE_DOUBLE, &v);
        H5Dclose(d);
    }
    H5Sclose(s);
    H5Fclose(f);
    H5Pclose(access);
    fd = open(w->h5, O_RDONLY);
    bench_must(fd >= 0 && fdatasync(fd) == 0, "fdatasync");
    close(fd);
}

static void h5_make_latest(void *ctx)
{
    h5_make(ctx, 1);
}

static void h5_make_default(void *ctx)
{
    h5_make(ctx, 0);
}

static void h5_begin(struct work *w)
{
    w->h5_file = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT);
    bench_must(w->h5_file >= 0, "H5Fopen");
}

static void h5_one(struct work *w, const char *path, double want)
{
    hid_t d = H5Dopen2(w->h5_file, path, H5P_DEFAULT);
    double v;

    bench_must(H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &v) >= 0, "H5Dread");
    H5Dclose(d);
    bench_must(v == want, "comparing what was read");
}

static void h5_end(struct work *w)
{
    H5Fclose(w->h5_file);
}

static const struct side h5_side = {
    "HDF5", offsetof(struct work, h5), h5_make_latest, h5_begin, h5_one, h5_end};

static void h5_find(void *ctx)
{
    find(ctx, &h5_side);
}

static herr_t h5_count(hid_t group, const char *name, const H5L_info_t *info, void *ctx)
{
    struct work *w = ctx;
    H5O_info_t object;

    (void)info;
    if (H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return -1;
    w->sum += object.type == H5O_TYPE_DATASET && name[0] == 'd';
    return 0;
}

static herr_t h5_name(hid_t group, const char *name, const H5L_info_t *info, void *ctx)
{
    struct work *w = ctx;

    (void)group;
    w->sum += info->type == H5L_TYPE_HARD && name[0] == 'd';
    return 0;
}

static void h5_walk(struct work *w, H5L_iterate_t fn)
{
    hid_t f = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT);

    w->sum = 0;
    bench_must(H5Literate(f, H5_INDEX_NAME, H5_ITER_INC, NULL, fn, w) >= 0, "H5Literate");
    H5Fclose(f);
    bench_must(w->sum == w->n, "listing everything");
}

static void h5_list(void *ctx)
{
    h5_walk(ctx, h5_count);
}

static void h5_names(void *ctx)
{
    h5_walk(ctx, h5_name);
}

/* ---- SQLite ---- */

#if HAVE_SQLITE
/* The statements of one object: its row, then those of its attributes. */
static void sql_object(sqlite3_stmt *set, sqlite3_stmt *attr, int i)
{
    char path[32];

    name_of(path, i);
    sqlite3_bind_int(set, 1, i + 1);
    sqlite3_bind_text(set, 2, path + 1, -1, SQLITE_STATIC);
    sqlite3_bind_double(set, 3, i * 0.5);
    sql_put(set);
    sqlite3_bind_int(attr, 1, i + 1);
    sqlite3_bind_text(attr, 2, "version", -1, SQLITE_STATIC);
    sqlite3_bind_int64(attr, 3, i);
    sql_put(attr);
    sqlite3_bind_text(attr, 2, "scale", -1, SQLITE_STATIC);
    sqlite3_bind_double(attr, 3, i * 0.5);
    sql_put(attr);
}

static void sql_make(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_open(w->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_stmt *set, *attr;

    sql_run(db, "PRAGMA synchronous=FULL");
    sql_run(db, "BEGIN");
    sql_run(db, "CREATE TABLE dataset(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, value)");
    sql_run(db, "CREATE TABLE attr(id INTEGER, name TEXT, value, PRIMARY KEY(id, name)) "
                "WITHOUT ROWID");
    set = sql_prepare(db, "INSERT INTO dataset VALUES(?, ?, ?)");
    attr = sql_prepare(db, "INSERT INTO attr VALUES(?, ?, ?)");
    for (int i = 0; i < w->n; i++)
        sql_object(set, attr, i);
    sql_run(db, "COMMIT");
    sqlite3_finalize(set);
    sqlite3_finalize(attr);
    sql_close(db);
}

static void sql_begin(struct work *w)
{
    w->db = sql_open(w->sql, SQLITE_OPEN_READONLY);
    w->stmt = sql_prepare(w->db, "SELECT value FROM dataset WHERE name = ?");
}

static void sql_one(struct work *w, const char *path, double want)
{
    sqlite3_bind_text(w->stmt, 1, path + 1, -1, SQLITE_STATIC);
    sql_step(w->stmt, SQLITE_ROW);
    bench_must(sqlite3_column_double(w->stmt, 0) == want, "comparing what was read");
    sqlite3_reset(w->stmt);
}

static void sql_end(struct work *w)
{
    sqlite3_finalize(w->stmt);
    sql_close(w->db);
}

static const struct side sql_side = {
    "SQLite", offsetof(struct work, sql), sql_make, sql_begin, sql_one, sql_end};

static void sql_find(void *ctx)
{
    find(ctx, &sql_side);
}

static void sql_list(void *ctx)
{
    struct work *w = ctx;
    sqlite3 *db = sql_open(w->sql, SQLITE_OPEN_READONLY);
    sqlite3_stmt *stmt = sql_prepare(db, "SELECT name FROM dataset ORDER BY name");

    w->sum = 0;
    while (sqlite3_step(stmt) == SQLITE_ROW)
        w->sum += sqlite3_column_text(stmt, 0)[0] == 'd';
    bench_must(w->sum == w->n, "listing everything");
    sqlite3_finalize(stmt);
    sql_close(db);
}
#endif

/* ---- rows of many objects ---- */

static double seconds(bench_fn *fn, struct work *w)
{
    double begin;

    remove_all(w);
    begin = bench_now();
    fn(w);
    return bench_now() - begin;
}

static double size_of(const char *path)
{
    struct stat st;

    bench_must(stat(path, &st) == 0, path);
    return (double)st.st_size;
}

static int create_rows(struct work *w)
{
    /* The limit is the faster of HDF5's two settings. */
    int latest = seconds(h5_make_latest, w) < seconds(h5_make_default, w);
    const struct bench_entry e[] = {{latest ? "HDF5, latest format" : "HDF5, default format",
                                     remove_all, latest ? h5_make_latest : h5_make_default, 0},
                                    {latest ? "HDF5, default format" : "HDF5, latest format",
                                     remove_all, latest ? h5_make_default : h5_make_latest, 0},
                                    {"datarep", remove_all, drep_make, 20}};
    char title[100];
    int missed;

    snprintf(title, sizeof title, "%d scalar datasets with 2 attributes, create", w->n);
    missed = bench_row(title, 0, 3, e, 3, w);
#if HAVE_SQLITE
    {
        const struct bench_entry s[] = {{"SQLite, one transaction", remove_all, sql_make, 0},
                                        {"datarep", remove_all, drep_make, 2}};

        missed += bench_row(title, 0, 7, s, 2, w);
    }
#endif
    return missed;
}

static int size_row(struct work *w)
{
    double ours, latest, usual, ratio;

    remove_all(w);
    drep_make(w);
    ours = size_of(w->drep) / w->n;
    h5_make_latest(w);
    latest = size_of(w->h5) / w->n;
    unlink(w->h5);
    h5_make_default(w);
    usual = size_of(w->h5) / w->n;
    ratio = ours / (latest < usual ? latest : usual);
    printf("  bytes each: datarep %.1f; HDF5 in its default format %.1f, ratio %.3f, in its latest "
           "%.1f, ratio %.3f; at most 0.400 of the smaller: %s\n",
           ours, usual, ours / usual, latest, ours / latest, ratio <= 0.4 ? "met" : "MISSED");
    return ratio > 0.4;
}

/* Against the faster of two files; with them open the rows are interleaved. */
static int read_rows(struct work *w)
{
    const struct bench_entry find[] = {
        {"HDF5", NULL, h5_find, 0},
#if HAVE_SQLITE
        {"SQLite", NULL, sql_find, 0},
#endif
        {"datarep", NULL, drep_find, 15}
    };
    const struct bench_entry list[] = {
        {"HDF5, names and kinds", NULL, h5_list, 0},
        {"HDF5, names alone", NULL, h5_names, 0},
#if HAVE_SQLITE
        {"SQLite, names alone", NULL, sql_list, 0},
#endif
        {"datarep, by name", NULL, drep_by_name, 8},
        {"datarep, by creation", NULL, drep_by_creation, 0}
    };
    double time[2];
    char title[100];
    int missed;

    remove_all(w);
    drep_make(w);
#if HAVE_SQLITE
    sql_make(w);
#endif
    for (int latest = 0; latest < 2; latest++) {
        unlink(w->h5);
        h5_make(w, latest);
        h5_find(w);
        time[latest] = bench_now();
        h5_find(w);
        time[latest] = bench_now() - time[latest];
    }
    if (time[0] < time[1]) {
        unlink(w->h5);
        h5_make(w, 0);
    }
    snprintf(title, sizeof title, "%d random look-ups of %d, HDF5 in its %s format", LOOKUPS, w->n,
             w->latest ? "latest" : "default");
    missed = bench_row(title, 0, 7, find, sizeof find / sizeof *find, w);
    snprintf(title, sizeof title, "listing %d, HDF5 in its %s format", w->n,
             w->latest ? "latest" : "default");
    return missed + bench_row(title, 0, 7, list, sizeof list / sizeof *list, w);
}

/* ---- from a thousand to a million ---- */

/* The least that looking up a name takes: a hash table of names and values in memory. */
struct slot {
    char path[16];
    double value;
};

static struct slot *slot_of(const struct work *w, const char *path)
{
    uint64_t size = 2, h = 0;

    while (size < 2 * (uint64_t)w->n)
        size *= 2;
    for (const char *c = path; *c; c++)
        h = (h ^ (uint8_t)*c) * 0x9e3779b97f4a7c15u;
    for (uint64_t i = h >> 32;; i++) {
        struct slot *s = &w->table[i & (size - 1)];

        if (!s->path[0] || strcmp(s->path, path) == 0)
            return s;
    }
}

static void table_begin(struct work *w)
{
    w->table = calloc(4 * (size_t)w->n, sizeof *w->table);
    bench_must(w->table != NULL, "memory");
    for (int i = 0; i < w->n; i++) {
        struct slot *s;
        char path[32];

        name_of(path, i);
        s = slot_of(w, path);
        strcpy(s->path, path);
        s->value = i * 0.5;
    }
}

static void table_one(struct work *w, const char *path, double want)
{
    bench_must(slot_of(w, path)->value == want, "comparing what was found");
}

static void table_end(struct work *w)
{
    free(w->table);
}

static const struct side table_side = {
    "a hash table in memory", 0, NULL, table_begin, table_one, table_end};

/* Seconds for each look-up of one object in a hundred by a file newly opened, the opening not
 * counted: however many objects there are, the same part of the file is read. */
static double look_cold(struct work *w, const struct side *side)
{
    double time = 0;

    for (int done = 0; done < LOOKUPS;) {
        double begin;

        side->open(w);
        begin = bench_now();
        for (int i = 0; i < w->n / 100; i++)
            look_up(w, side, w->which[done++] % w->n);
        time += bench_now() - begin;
        side->close(w);
    }
    return time / LOOKUPS;
}

/* Of each object once, in no order. */
static double look_pass(struct work *w, const struct side *side, const uint32_t *order)
{
    double begin = bench_now();

    for (int i = 0; i < w->n; i++)
        look_up(w, side, (int)order[i]);
    return (bench_now() - begin) / w->n;
}

static uint32_t *shuffled(int n)
{
    uint32_t *order = malloc((size_t)n * sizeof *order),
             *random = malloc((size_t)n * sizeof *order);

    bench_must(order != NULL && random != NULL, "memory");
    bench_random(random, (size_t)n * sizeof *random, 5);
    for (int i = 0; i < n; i++) {
        uint32_t at = random[i] % (uint32_t)(i + 1);

        order[i] = order[at];
        order[at] = (uint32_t)i;
    }
    free(random);
    return order;
}

/* By a file newly opened, and (again) the second time. */
static double look_all(struct work *w, const struct side *side, int again)
{
    uint32_t *order = shuffled(w->n);
    double time;

    side->open(w);
    time = look_pass(w, side, order);
    if (again)
        time = look_pass(w, side, order);
    side->close(w);
    free(order);
    return time;
}

static double look_once(struct work *w, const struct side *side)
{
    return look_all(w, side, 0);
}

/* With a cache for all of it. */
static double look_again(struct work *w, const struct side *side)
{
    double time;

    w->cache = "1073741824";
    time = look_all(w, side, 1);
    w->cache = NULL;
    return time;
}

/* Other work, of all objects. */
static double each(struct work *w, bench_fn *fn)
{
    double begin = bench_now();

    fn(w);
    return (bench_now() - begin) / w->n;
}

static double cost_create(struct work *w, const struct side *side)
{
    unlink((const char *)w + side->path);
    return each(w, side->make);
}

static double cost_by_name(struct work *w, const struct side *side)
{
    (void)side;
    return each(w, drep_by_name);
}

static double cost_by_creation(struct work *w, const struct side *side)
{
    (void)side;
    return each(w, drep_by_creation);
}

struct cost {
    const char *what;
    const struct side *side;
    double (*fn)(struct work *w, const struct side *side);
    double unit[4]; /* seconds for one object */
};

/* Of as many rounds as two seconds have, at most seven. */
static double best_of(const struct cost *c, struct work *w)
{
    double best = 1e9, end = bench_now() + 2;

    for (int i = 0; i < 7 && (i == 0 || bench_now() < end); i++) {
        double time = c->fn(w, c->side);

        best = time < best ? time : best;
    }
    return best;
}

static int cost_row(const struct cost *c, double bar)
{
    double grown = c->unit[3] / c->unit[0];
    int ours = c->side == &drep_side;

    printf("  %-34s %-22s %7.2f %7.2f %7.2f %7.2f   growth %5.2f %s\n", c->what, c->side->name,
           1e6 * c->unit[0], 1e6 * c->unit[1], 1e6 * c->unit[2], 1e6 * c->unit[3], grown,
           !ours          ? ""
           : grown <= bar ? "met"
                          : "MISSED");
    return ours && grown > bar;
}

static int scale_rows(struct work *w)
{
    struct cost cost[] = {
        {"create", &drep_side, cost_create, {0}},
        {"create", &h5_side, cost_create, {0}},
#if HAVE_SQLITE
        {"create", &sql_side, cost_create, {0}},
#endif
        {"list by name", &drep_side, cost_by_name, {0}},
        {"list by creation", &drep_side, cost_by_creation, {0}},
        {"look up 1 in 100, newly opened", &drep_side, look_cold, {0}},
        {"look up 1 in 100, newly opened", &h5_side, look_cold, {0}},
#if HAVE_SQLITE
        {"look up 1 in 100, newly opened", &sql_side, look_cold, {0}},
#endif
        {"look up each once, newly opened", &drep_side, look_once, {0}},
        {"look up each again, all in memory", &drep_side, look_again, {0}},
        {"look up each again, all in memory", &table_side, look_again, {0}}
    };
    enum { COSTS = sizeof cost / sizeof *cost };
    double bar = log(1e6) / log(1e3);
    int missed = 0;

    for (int i = 0; i < 4; i++) {
        w->n = (int)pow(10, 3 + i);
        remove_all(w);
        for (int k = 0; k < COSTS; k++)
            cost[k].unit[i] = best_of(&cost[k], w);
    }
    w->n = OBJECTS;
    printf(
        "cost of one object, microseconds, among 10^3, 10^4, 10^5, 10^6; growth is at most %.1f, "
        "the ratio of the logarithms\n",
        bar);
    for (int k = 0; k < COSTS; k++)
        missed += cost_row(&cost[k], bar);
    return missed;
}

/* ---- from the start of a process to an element ---- */

extern char **environ;

static void child(void *ctx)
{
    struct work *w = ctx;
    char *argv[] = {w->start, (char *)(uintptr_t)w->child[0], (char *)(uintptr_t)w->child[1],
                    (char *)(uintptr_t)w->child[2], NULL};
    int status;
    pid_t pid;

    for (int i = 0; i < 20; i++) {
        bench_must(posix_spawn(&pid, w->start, NULL, NULL, argv, environ) == 0, "posix_spawn");
        bench_must(waitpid(pid, &status, 0) == pid && status == 0, "the child process");
    }
}

static void child_raw(void *ctx)
{
    struct work *w = ctx;

    w->child[0] = "raw";
    w->child[1] = w->raw;
    child(w);
}

static void child_drep(void *ctx)
{
    struct work *w = ctx;

    w->child[0] = "datarep";
    w->child[1] = w->drep;
    child(w);
}

/* Each chunk compressed, so that each has an entry of its own. */
static void make_chunks(struct work *w, double *v)
{
    drep_filter lz4 = {.id = DREP_FILTER_LZ4};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = (int64_t[]){(int64_t)CHUNKS * CHUNK},
                  .chunk = (int64_t[]){CHUNK}, .filters = &lz4, .nfilters = 1);
    drep_dsusage usage = DREP_DSUSAGE;
    drep_dataset *set;
    drep_file *file;
    int fd;

    for (int i = 0; i < CHUNKS * CHUNK; i++)
        v[i] = i / 3;
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &file) == 0, "drep_create");
    bench_must(drep_dataset_create(file, "/x", &spec, &set) == 0, "drep_dataset_create");
    bench_must(drep_write(set, NULL, NULL, v, NULL) == 0, "drep_write");
    bench_must(drep_dataset_usage(set, &usage) == 0 && usage.chunks == CHUNKS, "counting chunks");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
    fd = open(w->raw, O_RDWR | O_CREAT | O_TRUNC, 0600);
    bench_must(fd >= 0 && write(fd, v, sizeof *v * CHUNKS * CHUNK) > 0, "write");
    close(fd);
}

static int start_row(struct work *w)
{
    const struct bench_entry e[] = {{"open, pread", NULL, child_raw, 0},
                                    {"datarep", NULL, child_drep, 0.5}};
    double *v = malloc(sizeof *v * CHUNKS * CHUNK);
    char element[32], title[100];
    int missed;

    bench_must(v != NULL, "memory");
    make_chunks(w, v);
    free(v);
    snprintf(element, sizeof element, "%d", CHUNKS / 3 * CHUNK + 5);
    w->child[2] = element;
    snprintf(title, sizeof title, "20 processes, each reads an element of %d compressed chunks",
             CHUNKS);
    missed = bench_row(title, 0, 15, e, 2, w);
    unlink(w->raw);
    return missed;
}

/* ---- memory ---- */

static void nothing(void *ctx)
{
    (void)ctx;
}

static int peak_rows(struct work *w)
{
    const struct {
        const char *what;
        bench_fn *fn;
    } rows[] = {{"create", drep_make},
                {"look up", drep_find},
                {"list by name", drep_by_name},
                {"list by creation", drep_by_creation}};
    int missed = 0;

    w->n = 1000000;
    printf("peak memory with %d objects; at most the chunk cache of 64 and 16 MiB\n", w->n);
    remove_all(w);
    for (int i = 0; i < 4; i++) {
        double more = (bench_peak(rows[i].fn, w) - bench_peak(nothing, w)) / (1 << 20);

        printf("  %-20s %8.1f MiB %s\n", rows[i].what, more, more <= 80 ? "met" : "MISSED");
        missed += more > 80;
    }
    w->n = OBJECTS;
    return missed;
}

/* ---- all ---- */

/* A file with one scalar. */
static int scalar_row(struct work *w)
{
    double size;

    w->n = 1;
    remove_all(w);
    drep_make(w);
    size = size_of(w->drep);
    w->n = OBJECTS;
    printf("a file with one scalar: %.0f bytes, at most 12288: %s\n", size,
           size <= 12288 ? "met" : "MISSED");
    return size > 12288;
}

static const struct {
    const char *name;
    int (*run)(struct work *w);
} rows[] = {{"create", create_rows}, {"size", size_row},   {"read", read_rows},
            {"scale", scale_rows},   {"start", start_row}, {"peak", peak_rows},
            {"scalar", scalar_row}};

int main(int argc, char **argv)
{
    struct work w = {.n = OBJECTS};
    const char *slash = strrchr(argv[0], '/');
    int missed = 0;
    char start[4096];
    uint32_t *random;

    snprintf(start, sizeof start, "%.*sstart", slash ? (int)(slash + 1 - argv[0]) : 0, argv[0]);
    w.start = start;
    snprintf(w.raw, sizeof w.raw, "%s/bench-%d.raw", bench_dir(), (int)getpid());
    snprintf(w.drep, sizeof w.drep, "%s/bench-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.h5, sizeof w.h5, "%s/bench-%d.h5", bench_dir(), (int)getpid());
    snprintf(w.sql, sizeof w.sql, "%s/bench-%d.sqlite", bench_dir(), (int)getpid());
    random = malloc(LOOKUPS * sizeof *random);
    w.which = malloc(LOOKUPS * sizeof *w.which);
    bench_must(random != NULL && w.which != NULL, "memory");
    bench_random(random, LOOKUPS * sizeof *random, 3);
    for (int i = 0; i < LOOKUPS; i++)
        w.which[i] = (int)(random[i] % 1000000);
    printf("%s\n", drep_version());
#if HAVE_SQLITE
    printf("SQLite %s\n", sqlite3_libversion());
#else
    printf("without SQLite\n");
#endif
    printf("columns: median time, ratio to the first line of the same rounds\n");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_wanted(argc, argv, rows[i].name))
            missed += rows[i].run(&w);
    remove_all(&w);
    free(random);
    free(w.which);
    printf("bars missed: %d\n", missed);
    return 0;
}
