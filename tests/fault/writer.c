/* writer.c - writes commit after commit until it is killed; others check what they see of it.
 *
 *   writer write PATH    opens or creates PATH, commits for ever, saying on standard output
 *                        which commit is about to be made and which was made
 *   writer trim PATH     makes some more commits and closes the file
 *   writer check PATH    the file holds exactly what its last commit wrote; prints which
 *   writer read PATH SECONDS SEED
 *                        looks at it again and again while it is written: opens it, moves on,
 *                        opens earlier commits, keeps some of them for long, with locks and
 *                        without; prints how often
 *
 * All of a file follows from the number of its last commit, which stands in an attribute,
 * so a checker can tell what every element must be.  Only the public interface is used. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEN 20000 /* doubles of the contiguous dataset */
#define SIDE 60   /* of the chunked one */
#define NAMES 12  /* groups that come and go */
#define STEP 10   /* numbers that each commit appends one by one, */
#define ROUND 300 /* until the dataset of them begins anew */

static void must(int err, const char *what)
{
    if (!err)
        return;
    printf("%s: %s\n", what, drep_error());
    exit(1);
}

/* Which part of the datasets commit n writes, and what. */
static int64_t from_of(int64_t n)
{
    return n * 7919 % (LEN - 3000);
}

static double plain_of(int64_t n, int64_t i)
{
    return (double)n * 1e6 + (double)i;
}

static int32_t chunk_of(int64_t n, int64_t i)
{
    return (int32_t)(n * 1000003 + i * 17);
}

static void names(drep_file *f, int64_t n)
{
    char path[64];
    drep_objinfo info = DREP_OBJINFO;

    snprintf(path, sizeof(path), "/g%d", (int)(n % NAMES));
    if (drep_stat(f, path, &info) == 0)
        must(drep_link_remove(f, path), path);
    else
        must(drep_group_create(f, path, 0), path);
}

static int has_name(int64_t n, int k)
{
    /* Commits k, k + NAMES, ... change it; commit 0 makes none. */
    int64_t changes = n < k ? 0 : (n - k) / NAMES + (k > 0);

    return changes % 2 == 1;
}

/* The dataset that grows: gone with the first commit of a round, then longer with each. */
static int64_t grown_of(int64_t n)
{
    return n % ROUND * STEP;
}

static int64_t grown_value(int64_t n, int64_t i)
{
    return n / ROUND * 1000003 + i;
}

static void grow(drep_file *f, int64_t n)
{
    const int64_t none = 0, max = DREP_UNLIMITED, len = grown_of(n);
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &none, .maxdims = &max);
    drep_dataset *ds;

    if (len == 0) {
        must(drep_link_remove(f, "/grown"), "remove");
        must(drep_dataset_create(f, "/grown", &spec, NULL), "create");
        return;
    }
    must(drep_dataset_open(f, "/grown", &ds), "open");
    for (int64_t i = len - STEP; i < len; i++) {
        int64_t v = grown_value(n, i);

        must(drep_append(ds, 0, 1, DREP_INT64_T, &v, NULL), "append");
    }
    drep_dataset_close(ds);
}

static void write_commit(drep_file *f, int64_t n)
{
    static double plain[3000];
    static int32_t chunk[SIDE * SIDE];
    const int64_t from = from_of(n), count = 3000, row[2] = {n % SIDE, 0}, rows[2] = {1, SIDE};
    drep_selection *sel;
    drep_dataset *ds;

    for (int64_t i = 0; i < count; i++)
        plain[i] = plain_of(n, from + i);
    for (int64_t i = 0; i < SIDE; i++)
        chunk[i] = chunk_of(n, i);
    must(drep_dataset_open(f, "/plain", &ds), "open");
    must(drep_select_box(1, &from, &count, NULL, NULL, &sel), "select");
    must(drep_write(ds, sel, NULL, plain, NULL), "write");
    drep_selection_free(sel);
    drep_dataset_close(ds);
    must(drep_dataset_open(f, "/chunked", &ds), "open");
    must(drep_select_box(2, row, rows, NULL, NULL, &sel), "select");
    must(drep_write(ds, sel, NULL, chunk, NULL), "write");
    drep_selection_free(sel);
    drep_dataset_close(ds);
    names(f, n);
    grow(f, n);
    must(drep_attr_write_int64(f, "/", "commit", n), "attribute");
}

static void create(const char *path)
{
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {16, 32}, len = LEN;
    const drep_filter filters[1] = {{.id = DREP_FILTER_SHUFFLE}};
    const drep_spec plain =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &len, .layout = DREP_CONTIGUOUS);
    const drep_spec chunked =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = filters, .nfilters = 1);
    const int64_t none = 0, unlimited = DREP_UNLIMITED;
    const drep_spec grown =
        DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &none, .maxdims = &unlimited);
    drep_info *info;
    drep_file *f;

    must(drep_info_new(&info), "hints");
    must(drep_info_set(info, "drep_keep", "4"), "hints");
    must(drep_create(path, DREP_RDWR, "external32", info, &f), "create");
    drep_info_free(info);
    must(drep_dataset_create(f, "/grown", &grown, NULL), "grown");
    must(drep_dataset_create(f, "/plain", &plain, NULL), "plain");
    must(drep_dataset_create(f, "/chunked", &chunked, NULL), "chunked");
    must(drep_attr_write_int64(f, "/", "commit", 0), "attribute");
    must(drep_close(f), "close");
}

static int64_t commit_of(drep_file *f)
{
    int64_t n = -1;

    must(drep_attr_read(f, "/", "commit", DREP_INT64_T, &n), "attribute");
    return n;
}

/* commits 0: for ever. */
static void do_write(const char *path, int64_t commits)
{
    drep_file *f;
    int64_t n, end;

    if (access(path, F_OK))
        create(path);
    must(drep_open(path, DREP_RDWR, NULL, &f), "open");
    n = commit_of(f);
    end = commits ? n + commits : INT64_MAX;
    while (n < end) {
        n++;
        printf("begin %lld\n", (long long)n);
        fflush(stdout);
        write_commit(f, n);
        must(drep_commit(f), "commit");
        printf("done %lld\n", (long long)n);
        fflush(stdout);
    }
    must(drep_close(f), "close");
}

static int each_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err;
    (void)ctx;
    printf("finding at byte %llu: %s\n", (unsigned long long)offset, message);
    return 0;
}

/* From the last commit back: most elements are found soon. */
static int same_plain(drep_dataset *ds, int64_t n)
{
    static double got[LEN], want[LEN];
    static char known[LEN];
    int64_t left = LEN;

    memset(want, 0, sizeof(want));
    memset(known, 0, sizeof(known));
    for (int64_t k = n; k > 0 && left > 0; k--) {
        for (int64_t i = from_of(k); i < from_of(k) + 3000; i++) {
            if (known[i])
                continue;
            known[i] = 1;
            left--;
            want[i] = plain_of(k, i);
        }
    }
    must(drep_read(ds, NULL, NULL, got, NULL), "read");
    return memcmp(got, want, sizeof(got)) == 0;
}

static int same_chunked(drep_dataset *ds, int64_t n)
{
    static int32_t got[SIDE * SIDE], want[SIDE * SIDE];

    memset(want, 0, sizeof(want));
    for (int64_t k = n > SIDE ? n - SIDE : 1; k <= n; k++) {
        for (int64_t i = 0; i < SIDE; i++)
            want[k % SIDE * SIDE + i] = chunk_of(k, i);
    }
    must(drep_read(ds, NULL, NULL, got, NULL), "read");
    return memcmp(got, want, sizeof(got)) == 0;
}

static int same_grown(drep_file *f, int64_t n)
{
    static int64_t got[ROUND * STEP];
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int same;

    must(drep_dataset_open(f, "/grown", &ds), "open");
    must(drep_dataset_info(ds, &info), "info");
    same = info.dims[0] == grown_of(n);
    if (same)
        must(drep_read(ds, NULL, NULL, got, NULL), "read");
    for (int64_t i = 0; same && i < grown_of(n); i++)
        same = got[i] == grown_value(n, i);
    drep_dataset_close(ds);
    return same;
}

static int same_names(drep_file *f, int64_t n)
{
    for (int k = 0; k < NAMES; k++) {
        char path_of[32];
        drep_objinfo info = DREP_OBJINFO;

        snprintf(path_of, sizeof(path_of), "/g%d", k);
        if ((drep_stat(f, path_of, &info) == 0) != has_name(n, k)) {
            printf("commit %lld: %s should%s be there\n", (long long)n, path_of,
                   has_name(n, k) ? "" : " not");
            return 0;
        }
    }
    return 1;
}

/* All of the file is as commit n left it; plain and chunked are its datasets. */
static int same_all(drep_file *f, drep_dataset *plain, drep_dataset *chunked, int64_t n)
{
    const char *what = !same_plain(plain, n)       ? "plain"
                       : !same_chunked(chunked, n) ? "chunked"
                       : !same_grown(f, n)         ? "grown"
                       : !same_names(f, n)         ? "names"
                                                   : NULL;

    if (what)
        printf("commit %lld: %s: the data is another\n", (long long)n, what);
    return what == NULL;
}

static int do_check(const char *path)
{
    drep_dataset *plain, *chunked;
    drep_header header = DREP_HEADER;
    drep_file *f;
    int64_t n, findings = 0;

    must(drep_open(path, DREP_RDONLY, NULL, &f), "open");
    must(drep_header_get(f, &header), "header");
    if (header.damaged_slot)
        printf("slot %d is damaged\n", header.damaged_slot);
    n = commit_of(f);
    must(drep_check(f, 1, each_finding, NULL, &findings), "check");
    if (findings && !header.damaged_slot)
        return 1;
    must(drep_dataset_open(f, "/plain", &plain), "open");
    must(drep_dataset_open(f, "/chunked", &chunked), "open");
    if (!same_all(f, plain, chunked, n))
        return 1;
    drep_dataset_close(plain);
    drep_dataset_close(chunked);
    drep_abandon(f);
    printf("commit %lld\n", (long long)n);
    return 0;
}

/* ---- looking on ---- */

static uint64_t rng;

static uint64_t below(uint64_t n)
{
    rng = rng * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (rng >> 33) % n;
}

/* A handle that looks at one commit for a while. */
struct held {
    drep_file *f; /* NULL: none */
    drep_dataset *plain, *chunked;
    int64_t n;
};

#define HELD 6
static struct held held[HELD];
static struct {
    long opened, moved, earlier, gone, looked, checked, stale;
} did;

static void let_go(struct held *h)
{
    drep_dataset_close(h->plain);
    drep_dataset_close(h->chunked);
    drep_abandon(h->f);
    memset(h, 0, sizeof(*h));
}

static void hold(struct held *h, drep_file *f)
{
    drep_header header = DREP_HEADER;

    h->f = f;
    h->n = commit_of(f);
    must(drep_header_get(f, &header), "header");
    if (header.sequence != (uint64_t)h->n + 1) { /* the file was created by commit 1 */
        printf("commit %lld has sequence %llu\n", (long long)h->n,
               (unsigned long long)header.sequence);
        exit(1);
    }
    must(drep_dataset_open(f, "/plain", &h->plain), "open");
    must(drep_dataset_open(f, "/chunked", &h->chunked), "open");
}

static int note_commit(const drep_commitinfo *commit, void *ctx)
{
    uint64_t *list = ctx;

    if (list[0] < 15)
        list[++list[0]] = commit->sequence;
    return 0;
}

/* A commit of the log; the writer may be faster. */
static void open_earlier(struct held *h, const char *path)
{
    uint64_t list[16] = {0};
    drep_file *f;
    int err;

    must(drep_open(path, DREP_RDONLY, NULL, &f), "open");
    must(drep_log(f, note_commit, list), "log");
    drep_abandon(f);
    err = drep_open_commit(path, DREP_RDONLY, list[1 + below(list[0])], NULL, &f);
    if (err == DREP_ERR_NOT_FOUND) {
        did.gone++;
        return;
    }
    must(err, "an earlier commit");
    hold(h, f);
    did.earlier++;
}

static void look_at(struct held *h)
{
    int64_t findings = 0;

    if (!same_all(h->f, h->plain, h->chunked, h->n))
        exit(1);
    did.looked++;
    if (below(4))
        return;
    must(drep_check(h->f, 1, each_finding, NULL, &findings), "check");
    if (findings)
        exit(1);
    did.checked++;
}

static void move_on(struct held *h)
{
    int64_t before = h->n;

    must(drep_refresh(h->f), "refresh");
    h->n = commit_of(h->f);
    if (h->n < before) {
        printf("from commit %lld back to %lld\n", (long long)before, (long long)h->n);
        exit(1);
    }
    did.moved++;
}

/* Without a lock: what is there is right, or the snapshot is stale, and says so. */
static void look_unlocked(const char *path)
{
    static double got[LEN];
    drep_dataset *ds = NULL;
    drep_info *info;
    drep_file *f = NULL;
    int64_t n = -1;
    int err;

    must(drep_info_new(&info), "hints");
    must(drep_info_set(info, "drep_lock", "false"), "hints");
    err = drep_open(path, DREP_RDONLY, info, &f);
    drep_info_free(info);
    if (!err)
        err = drep_attr_read(f, "/", "commit", DREP_INT64_T, &n);
    if (!err)
        usleep((useconds_t)below(30000));
    if (!err)
        err = drep_dataset_open(f, "/plain", &ds);
    if (!err)
        err = drep_read(ds, NULL, NULL, got, NULL);
    if (!err && !same_plain(ds, n)) {
        printf("commit %lld: without a lock: the data is another\n", (long long)n);
        exit(1);
    }
    drep_dataset_close(ds);
    if (err != DREP_ERR_STALE)
        must(err, "without a lock");
    did.stale += err != 0;
    did.looked += !err;
    drep_abandon(f);
}

static int do_read(const char *path, int seconds)
{
    const time_t end = time(NULL) + seconds;
    drep_file *f;

    while (access(path, F_OK))
        usleep(1000);
    while (time(NULL) < end) {
        struct held *h = &held[below(HELD)];

        if (!h->f && below(2)) {
            open_earlier(h, path);
        } else if (!h->f) {
            must(drep_open(path, DREP_RDONLY, NULL, &f), "open");
            hold(h, f);
            did.opened++;
        } else if (below(3) == 0) {
            look_at(h);
            let_go(h);
        } else if (below(2)) {
            move_on(h);
        } else if (below(8) == 0) {
            look_unlocked(path);
        } else {
            look_at(h);
        }
        usleep((useconds_t)below(5000));
    }
    printf("opened %ld, moved %ld, earlier %ld, gone %ld, looked %ld, checked %ld, stale %ld\n",
           did.opened, did.moved, did.earlier, did.gone, did.looked, did.checked, did.stale);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        do_write(argv[2], 0);
    if (argc == 3 && strcmp(argv[1], "trim") == 0) {
        do_write(argv[2], 200);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "check") == 0)
        return do_check(argv[2]);
    if (argc == 5 && strcmp(argv[1], "read") == 0) {
        rng = strtoull(argv[4], NULL, 10);
        return do_read(argv[2], atoi(argv[3]));
    }
    fprintf(stderr, "usage: writer write|trim|check PATH, writer read PATH SECONDS SEED\n");
    return 2;
}
