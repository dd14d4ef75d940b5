/* bench_append.c - one element at a time: appends to a dataset, with a commit at the end or
 * often, against HDF5 (H5Dset_extent and H5Dwrite) and LMDB (MDB_APPEND, integer keys).
 *
 * Every run makes its file anew, appends, closes it, and is as durable at its commits as the
 * others are at theirs: Datarep and LMDB sync as they do by default, H5Fflush() hands the bytes
 * to the kernel.  After a row its files are read and compared.  A separate run counts what one
 * commit costs: bytes given to the kernel and syncs, of which a write to a file opened with
 * O_DSYNC is one, too. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#if HAVE_LMDB
#include <lmdb.h>
#endif

enum { CHUNK = FIGURE(8192, 5000) }; /* doubles in a chunk, of 64 KiB */

struct work {
    char drep[96], h5[96], mdb[96];
    int n, each; /* elements, and how many are appended between two commits; 0: one commit */
    int deflate; /* through chunks of CHUNK elements */
};

static double value_of(int i)
{
    return (i * 37 % 1000) * 0.25 + i;
}

static int commit_due(const struct work *w, int i)
{
    return w->each && (i + 1) % w->each == 0;
}

/* ---- bytes and syncs ---- */

/* The program's own functions come before those of the C library, also for LMDB.  A call has
 * two names where the compiler takes the one for files of 64 bits. */
static struct {
    atomic_bool on;
    atomic_llong bytes, writes, syncs;
} count;

static void note_write(int fd, ssize_t n)
{
    if (!atomic_load_explicit(&count.on, memory_order_relaxed) || n <= 0)
        return;
    count.bytes += n;
    count.writes++;
    count.syncs += (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
}

static int note_sync(void)
{
    count.syncs += atomic_load_explicit(&count.on, memory_order_relaxed);
    return 0;
}

ssize_t pwrite(int fd, const void *p, size_t size, off_t at)
{
    ssize_t n = syscall(SYS_pwrite64, fd, p, size, at);

    note_write(fd, n);
    return n;
}

ssize_t write(int fd, const void *p, size_t size)
{
    ssize_t n = syscall(SYS_write, fd, p, size);

    note_write(fd, n);
    return n;
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    ssize_t done = syscall(SYS_pwritev, fd, v, n, at, 0);

    note_write(fd, done);
    return done;
}

ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t at, int flags)
{
    ssize_t done = syscall(SYS_pwritev2, fd, v, n, at, 0, flags);

    note_write(fd, done);
    count.syncs += done > 0 && (flags & (RWF_DSYNC | RWF_SYNC)) &&
                   atomic_load_explicit(&count.on, memory_order_relaxed);
    return done;
}

ssize_t old_pwrite(int fd, const void *p, size_t size, off_t at) __asm__("pwrite");
ssize_t old_pwrite(int fd, const void *p, size_t size, off_t at)
{
    return pwrite(fd, p, size, at);
}

ssize_t old_pwritev(int fd, const struct iovec *v, int n, off_t at) __asm__("pwritev");
ssize_t old_pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return pwritev(fd, v, n, at);
}

int fdatasync(int fd)
{
    note_sync();
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    note_sync();
    return (int)syscall(SYS_fsync, fd);
}

/* ---- Datarep ---- */

static void remove_all(void *ctx)
{
    struct work *w = ctx;
    char lock[128];

    unlink(w->drep);
    unlink(w->h5);
    unlink(w->mdb);
    snprintf(lock, sizeof lock, "%s-lock", w->mdb);
    unlink(lock);
}

static void our_run(void *ctx)
{
    struct work *w = ctx;
    const int64_t none = 0, max = DREP_UNLIMITED, chunk = CHUNK;
    const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &max);
    drep_dataset *set;
    drep_file *file;

    if (w->deflate) {
        spec.layout = DREP_CHUNKED;
        spec.chunk = &chunk;
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    bench_must(drep_create(w->drep, DREP_RDWR, "native", NULL, &file) == 0, "drep_create");
    bench_must(drep_dataset_create(file, "/d", &spec, &set) == 0, "drep_dataset_create");
    for (int i = 0; i < w->n; i++) {
        double v = value_of(i);

        bench_must(drep_append(set, 0, 1, NULL, &v, NULL) == 0, "drep_append");
        if (commit_due(w, i))
            bench_must(drep_commit(file) == 0, "drep_commit");
    }
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

static void must_hold(const struct work *w, const double *v, const char *what)
{
    for (int i = 0; i < w->n; i++)
        bench_must(v[i] == value_of(i), what);
}

static void our_verify(const struct work *w)
{
    double *v = malloc((size_t)w->n * sizeof *v);
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *set;
    drep_file *file;

    bench_must(v != NULL, "memory");
    bench_must(drep_open(w->drep, DREP_RDONLY, NULL, &file) == 0, "drep_open");
    bench_must(drep_dataset_open(file, "/d", &set) == 0, "drep_dataset_open");
    bench_must(drep_dataset_info(set, &info) == 0 && info.count == w->n, "the number of elements");
    bench_must(drep_read(set, NULL, NULL, v, NULL) == 0, "drep_read");
    must_hold(w, v, "comparing what datarep holds");
    drep_dataset_close(set);
    drep_close(file);
    free(v);
}

/* ---- HDF5 ---- */

static hid_t h5_dataset(const struct work *w, hid_t file)
{
    const hsize_t none = 0, max = H5S_UNLIMITED, chunk = CHUNK;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &none, &max), set;

    H5Pset_chunk(plist, 1, &chunk);
    if (w->deflate)
        H5Pset_deflate(plist, 1);
    set = H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    bench_must(set >= 0, "H5Dcreate2");
    H5Sclose(space);
    H5Pclose(plist);
    return set;
}

static void h5_append(hid_t set, hid_t mem, int i)
{
    const hsize_t len = (hsize_t)i + 1, at = (hsize_t)i, one = 1;
    double v = value_of(i);
    hid_t space;

    bench_must(H5Dset_extent(set, &len) >= 0, "H5Dset_extent");
    space = H5Dget_space(set);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    bench_must(H5Dwrite(set, H5T_NATIVE_DOUBLE, mem, space, H5P_DEFAULT, &v) >= 0, "H5Dwrite");
    H5Sclose(space);
}

/* In the newest format, whose index of chunks along one unlimited dimension is the faster one. */
static void h5_run(void *ctx)
{
    struct work *w = ctx;
    const hsize_t one = 1;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), mem = H5Screate_simple(1, &one, NULL), file, set;

    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    bench_must(file >= 0, "H5Fcreate");
    set = h5_dataset(w, file);
    for (int i = 0; i < w->n; i++) {
        h5_append(set, mem, i);
        if (commit_due(w, i))
            bench_must(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0, "H5Fflush");
    }
    H5Dclose(set);
    H5Sclose(mem);
    H5Fclose(file);
    H5Pclose(access);
}

static void h5_verify(const struct work *w)
{
    double *v = malloc((size_t)w->n * sizeof *v);
    hid_t file = H5Fopen(w->h5, H5F_ACC_RDONLY, H5P_DEFAULT), set;

    bench_must(v != NULL && file >= 0, "H5Fopen");
    set = H5Dopen2(file, "d", H5P_DEFAULT);
    bench_must(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0, "H5Dread");
    must_hold(w, v, "comparing what HDF5 holds");
    H5Dclose(set);
    H5Fclose(file);
    free(v);
}

/* ---- LMDB ---- */

#if HAVE_LMDB
static MDB_env *mdb_begin(const struct work *w, unsigned flags)
{
    MDB_env *env;

    bench_must(mdb_env_create(&env) == 0, "mdb_env_create");
    bench_must(mdb_env_set_mapsize(env, (size_t)256 << 20) == 0, "mdb_env_set_mapsize");
    bench_must(mdb_env_open(env, w->mdb, MDB_NOSUBDIR | flags, 0644) == 0, "mdb_env_open");
    return env;
}

static void mdb_run(void *ctx)
{
    struct work *w = ctx;
    MDB_env *env = mdb_begin(w, 0);
    MDB_txn *txn;
    MDB_dbi dbi;

    bench_must(mdb_txn_begin(env, NULL, 0, &txn) == 0, "mdb_txn_begin");
    bench_must(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi) == 0, "mdb_dbi_open");
    for (int i = 0; i < w->n; i++) {
        size_t number = (size_t)i;
        double v = value_of(i);
        MDB_val key = {sizeof number, &number}, data = {sizeof v, &v};

        bench_must(mdb_put(txn, dbi, &key, &data, MDB_APPEND) == 0, "mdb_put");
        if (commit_due(w, i)) {
            bench_must(mdb_txn_commit(txn) == 0, "mdb_txn_commit");
            bench_must(mdb_txn_begin(env, NULL, 0, &txn) == 0, "mdb_txn_begin");
        }
    }
    bench_must(mdb_txn_commit(txn) == 0, "mdb_txn_commit");
    mdb_env_close(env);
}

static void mdb_verify(const struct work *w)
{
    MDB_env *env = mdb_begin(w, MDB_RDONLY);
    MDB_val key, data;
    MDB_cursor *cursor;
    MDB_txn *txn;
    MDB_dbi dbi;

    bench_must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0, "mdb_txn_begin");
    bench_must(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi) == 0, "mdb_dbi_open");
    bench_must(mdb_cursor_open(txn, dbi, &cursor) == 0, "mdb_cursor_open");
    for (int i = 0; i < w->n; i++) {
        double v = value_of(i);

        bench_must(mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == 0, "mdb_cursor_get");
        bench_must(memcmp(data.mv_data, &v, sizeof v) == 0, "comparing what LMDB holds");
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
}
#endif

/* ---- rows ---- */

static void count_commits(struct work *w, const char *name, bench_fn *run)
{
    double commits = w->n / w->each;

    remove_all(w);
    count.bytes = count.writes = count.syncs = 0;
    count.on = true;
    run(w);
    count.on = false;
    printf("  %-10s for each commit: %8.0f bytes in %.1f writes, %.2f syncs\n", name,
           (double)count.bytes / commits, (double)count.writes / commits,
           (double)count.syncs / commits);
}

/* A bar of 0: the peer has no part in this row, or only shows its figure (h5 < 0: it has none). */
static int row(struct work *w, const char *title, int rounds, double h5, double mdb)
{
    struct bench_entry e[3] = {{"datarep", remove_all, our_run, 0}};
    int n = 1, missed;

    if (h5 >= 0)
        e[n++] = (struct bench_entry){w->each ? "HDF5, flushed" : "HDF5", remove_all, h5_run, h5};
#if HAVE_LMDB
    if (mdb > 0)
        e[n++] = (struct bench_entry){"LMDB", remove_all, mdb_run, mdb};
#else
    (void)mdb;
#endif
    missed = n > 1 ? bench_versus(title, rounds, e, n, w) : 0;
    remove_all(w);
    our_run(w);
    our_verify(w);
    if (h5 >= 0) {
        h5_run(w);
        h5_verify(w);
    }
#if HAVE_LMDB
    if (mdb > 0) {
        mdb_run(w);
        mdb_verify(w);
    }
#endif
    if (w->each) {
        count_commits(w, "datarep", our_run);
#if HAVE_LMDB
        count_commits(w, "LMDB", mdb_run);
#endif
    }
    remove_all(w);
    return missed;
}

static void name_files(struct work *w, const char *dir)
{
    int pid = (int)getpid();

    snprintf(w->drep, sizeof w->drep, "%s/bench-%d.drep", dir, pid);
    snprintf(w->h5, sizeof w->h5, "%s/bench-%d.h5", dir, pid);
    snprintf(w->mdb, sizeof w->mdb, "%s/bench-%d.mdb", dir, pid);
}

static int one_commit(struct work *w)
{
    w->n = 1000000;
    w->each = w->deflate = 0;
    return row(w, "10^6 appends, one commit", 5, 5, 0.5);
}

static int filtered(struct work *w)
{
    w->n = 1000000;
    w->each = 0;
    w->deflate = 1;
    return row(w, "10^6 appends through deflate, one commit", 3, 3, 0);
}

static int commit_thousand(struct work *w)
{
    w->n = 100000;
    w->each = 1000;
    w->deflate = 0;
    return row(w, "10^5 appends, a commit each 1,000", 5, 3, 0.4);
}

static int commit_each(struct work *w)
{
    w->n = 10000;
    w->each = 1;
    w->deflate = 0;
    return row(w, "10^4 appends, a commit each", 5, -1, 0.4);
}

/* Where TMPDIR says, or in /var/tmp: what the disk's syncs cost counts here. */
static int commit_disk(struct work *w)
{
    const char *dir = getenv("TMPDIR");
    int missed;

    name_files(w, dir ? dir : "/var/tmp");
    w->n = 1000;
    w->each = 1;
    w->deflate = 0;
    missed = row(w, "10^3 appends, a commit each, on a disk", 5, -1, 1);
    name_files(w, bench_dir());
    return missed;
}

/* ---- a chunk in each of many datasets ---- */

enum { DATASETS = 10000, SHORT_CHUNK = 64 };

/* Write a chunk of each, in a commit of its own. */
static void rewrite_run(void *ctx)
{
    const int64_t at = SHORT_CHUNK, n = SHORT_CHUNK;
    const struct work *w = ctx;
    drep_selection *sel;
    double v[SHORT_CHUNK];
    drep_file *file;

    bench_must(drep_select_box(1, &at, &n, NULL, NULL, &sel) == 0, "drep_select_box");
    bench_must(drep_open(w->drep, DREP_RDWR, NULL, &file) == 0, "drep_open");
    for (int i = 0; i < DATASETS; i++) {
        drep_dataset *set;
        char path[16];

        for (int k = 0; k < SHORT_CHUNK; k++)
            v[k] = value_of(i + k);
        snprintf(path, sizeof path, "/d%d", i);
        bench_must(drep_dataset_open(file, path, &set) == 0, "drep_dataset_open");
        bench_must(drep_write(set, sel, NULL, v, NULL) == 0, "drep_write");
        drep_dataset_close(set);
    }
    bench_must(drep_close(file) == 0, "drep_close");
    drep_selection_free(sel);
}

static void rewrite_make(const struct work *w)
{
    const int64_t n = 4 * SHORT_CHUNK, chunk = SHORT_CHUNK;
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n,
                                     .layout = DREP_CHUNKED, .chunk = &chunk);
    double v[4 * SHORT_CHUNK] = {0};
    drep_file *file;

    bench_must(drep_create(w->drep, 0, "native", NULL, &file) == 0, "drep_create");
    for (int i = 0; i < DATASETS; i++) {
        drep_dataset *set;
        char path[16];

        snprintf(path, sizeof path, "/d%d", i);
        bench_must(drep_dataset_create(file, path, &spec, &set) == 0, "drep_dataset_create");
        bench_must(drep_write(set, NULL, NULL, v, NULL) == 0, "drep_write");
        drep_dataset_close(set);
    }
    bench_must(drep_close(file) == 0, "drep_close");
}

static int rewrite_each(struct work *w)
{
    const struct bench_entry e[] = {{"datarep", NULL, rewrite_run, 0}};

    rewrite_make(w);
    w->n = w->each = 1;
    bench_row("a chunk in each of 10^4 datasets, one commit", DATASETS * SHORT_CHUNK * 8.0, 5, e, 1,
              w);
    count.bytes = count.writes = count.syncs = 0;
    count.on = true;
    rewrite_run(w);
    count.on = false;
    printf("  datarep: %lld bytes in %lld writes\n", (long long)count.bytes,
           (long long)count.writes);
    remove_all(w);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct work *w);
} rows[] = {{"one", one_commit},   {"deflate", filtered}, {"thousand", commit_thousand},
            {"each", commit_each}, {"disk", commit_disk}, {"rewrite", rewrite_each}};

int main(int argc, char **argv)
{
    unsigned maj, min, rel;
    struct work w = {.n = 0};
    int missed = 0;

    name_files(&w, bench_dir());
    H5get_libversion(&maj, &min, &rel);
    printf("%s; HDF5 %u.%u.%u\n", drep_version(), maj, min, rel);
#if HAVE_LMDB
    printf("%s\n", MDB_VERSION_STRING);
#else
    printf("without LMDB\n");
#endif
    printf("columns: our time, the other's, the ratio of the speeds\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_wanted(argc, argv, rows[i].name))
            missed += rows[i].run(&w);
    printf("bars missed: %d\n", missed);
    return 0;
}
