/* writer.c - writes commit after commit until it is killed, and checks what is left.
 *
 *   writer write PATH    opens or creates PATH, commits for ever, saying on standard output
 *                        which commit is about to be made and which was made
 *   writer check PATH    the file holds exactly what its last commit wrote; prints which
 *
 * All of a file follows from the number of its last commit, which stands in an attribute,
 * so a checker can tell what every element must be.  Only the public interface is used. */
#include <datarep.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN 20000 /* doubles of the contiguous dataset */
#define SIDE 60   /* of the chunked one */
#define NAMES 12  /* groups that come and go */

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
    drep_objinfo info;

    snprintf(path, sizeof(path), "/g%d", (int)(n % NAMES));
    if (drep_stat(f, path, &info) == 0)
        must(drep_link_remove(f, path), path);
    else
        must(drep_group_create(f, path, 0), path);
}

static int has_name(int64_t n, int k)
{
    /* Commits k, k + NAMES, ... change it; commit 0 makes none. */
    int64_t changes = 0;

    for (int64_t i = 1; i <= n; i++)
        changes += i % NAMES == k;
    return changes % 2 == 1;
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
    must(drep_attr_write_int(f, "/", "commit", n), "attribute");
}

static void create(const char *path)
{
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {16, 32}, len = LEN;
    const drep_filter filters[1] = {{.id = DREP_FILTER_SHUFFLE}};
    const drep_spec plain = {
        .type = DREP_DOUBLE, .rank = 1, .dims = &len, .layout = DREP_CONTIGUOUS};
    const drep_spec chunked = {.type = DREP_INT32_T,
                               .rank = 2,
                               .dims = dims,
                               .layout = DREP_CHUNKED,
                               .chunk = chunk,
                               .filters = filters,
                               .nfilters = 1};
    drep_file *f;

    must(drep_create(path, DREP_RDWR, "external32", NULL, &f), "create");
    must(drep_dataset_create(f, "/plain", &plain, NULL), "plain");
    must(drep_dataset_create(f, "/chunked", &chunked, NULL), "chunked");
    must(drep_attr_write_int(f, "/", "commit", 0), "attribute");
    must(drep_close(f), "close");
}

static int64_t commit_of(drep_file *f)
{
    int64_t n = -1;

    must(drep_attr_read(f, "/", "commit", DREP_INT64_T, &n), "attribute");
    return n;
}

static void do_write(const char *path)
{
    drep_file *f;
    int64_t n;

    if (access(path, F_OK))
        create(path);
    must(drep_open(path, DREP_RDWR, NULL, &f), "open");
    n = commit_of(f);
    for (;;) {
        n++;
        printf("begin %lld\n", (long long)n);
        fflush(stdout);
        write_commit(f, n);
        must(drep_commit(f), "commit");
        printf("done %lld\n", (long long)n);
        fflush(stdout);
    }
}

static int each_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)err;
    (void)ctx;
    printf("finding at byte %llu: %s\n", (unsigned long long)offset, message);
    return 0;
}

static int same_plain(drep_file *f, int64_t n)
{
    static double got[LEN], want[LEN];
    drep_dataset *ds;

    for (int64_t k = 1; k <= n; k++) {
        for (int64_t i = 0; i < 3000; i++)
            want[from_of(k) + i] = plain_of(k, from_of(k) + i);
    }
    must(drep_dataset_open(f, "/plain", &ds), "open");
    must(drep_read(ds, NULL, NULL, got, NULL), "read");
    drep_dataset_close(ds);
    return memcmp(got, want, sizeof(got)) == 0;
}

static int same_chunked(drep_file *f, int64_t n)
{
    static int32_t got[SIDE * SIDE], want[SIDE * SIDE];
    drep_dataset *ds;

    for (int64_t k = 1; k <= n; k++) {
        for (int64_t i = 0; i < SIDE; i++)
            want[k % SIDE * SIDE + i] = chunk_of(k, i);
    }
    must(drep_dataset_open(f, "/chunked", &ds), "open");
    must(drep_read(ds, NULL, NULL, got, NULL), "read");
    drep_dataset_close(ds);
    return memcmp(got, want, sizeof(got)) == 0;
}

static int do_check(const char *path)
{
    drep_header header;
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
    if (!same_plain(f, n) || !same_chunked(f, n)) {
        printf("commit %lld: the data is another\n", (long long)n);
        return 1;
    }
    for (int k = 0; k < NAMES; k++) {
        char path_of[32];
        drep_objinfo info;

        snprintf(path_of, sizeof(path_of), "/g%d", k);
        if ((drep_stat(f, path_of, &info) == 0) != has_name(n, k)) {
            printf("commit %lld: %s should%s be there\n", (long long)n, path_of,
                   has_name(n, k) ? "" : " not");
            return 1;
        }
    }
    drep_abandon(f);
    printf("commit %lld\n", (long long)n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        do_write(argv[2]);
    if (argc == 3 && strcmp(argv[1], "check") == 0)
        return do_check(argv[2]);
    fprintf(stderr, "usage: writer write|check PATH\n");
    return 2;
}
