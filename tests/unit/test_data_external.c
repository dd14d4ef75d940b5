/* test_data_external.c - chunks whose payload is in other files.
 *
 * A target is a plain file with the stored bytes of chunks in it.  A container that names them must
 * read as if they were its own, whatever else is written, and a target that is not what it was
 * must be an error.
 *
 * needs: deflate zstd */
/* SPDX-License-Identifier: MIT */
#include "chunk/each.h"
#include "chunk/write.h"
#include "elem/dataset.h"
#include "file/call.h"
#include "data_help.h"

#include <sys/stat.h>
#include <utime.h>

#include <unistd.h>

enum { ROWS = 12, COLUMNS = 20, HIGH = 4, WIDE = 5, CELLS = 3 * 4, CHUNK = HIGH * WIDE };

static const struct {
    drep_filter filter[2];
    int n;
} lists[] = {{.n = 0},
             {{{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}}, 2},
             {{{.id = DREP_FILTER_ZSTD}}, 1}};
enum { LISTS = sizeof lists / sizeof *lists };

/* Where each chunk's stored bytes are in the target. */
struct target {
    int64_t offset[CELLS], size[CELLS];
    uint32_t skipped[CELLS];
    int64_t value[CELLS][CHUNK];
    char name[40];
    uint32_t number;
};

static drep_dataset *grid(drep_file *f, const char *path, int list)
{
    const int64_t dims[] = {ROWS, COLUMNS}, chunk[] = {HIGH, WIDE},
                  most[] = {DREP_UNLIMITED, COLUMNS};
    drep_dataset *ds;

    ok(drep_dataset_create(f, path,
                           &DREP_SPEC(.type = DREP_INT64_T, .rank = 2, .dims = dims,
                                      .maxdims = most, .chunk = chunk, .layout = DREP_CHUNKED,
                                      .filters = lists[list].n ? lists[list].filter : NULL,
                                      .nfilters = lists[list].n),
                           &ds));
    return ds;
}

static void start_of(int cell, int64_t *start)
{
    start[0] = cell / 4 * HIGH;
    start[1] = cell % 4 * WIDE;
}

/* Encodes random chunks by a dataset with the same filters, and puts them into a file. */
static void target_make(struct target *t, const char *name, int list, const char *datarep,
                        struct rnd *r)
{
    const int64_t count[] = {HIGH, WIDE};
    drep_file *f;
    drep_dataset *ds;
    uint8_t bytes[4000];
    FILE *out = fopen(temp_path(name), "wb");
    int64_t start[2];

    snprintf(t->name, sizeof t->name, "%s", name);
    ck_assert_ptr_nonnull(out);
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &f));
    ds = grid(f, "d", list);
    fputs("not a container", out);
    for (int i = 0; i < CELLS; i++) {
        int64_t size;

        start_of(i, start);
        for (int k = 0; k < CHUNK; k++)
            t->value[i][k] = (int64_t)rnd_below(r, 50) - 20;
        ok(drep_write_box(ds, start, count, DREP_INT64_T, t->value[i], NULL));
        ok(drep_commit(f));
        ok(drep_read_stored(ds, start, bytes, sizeof bytes, &size, &t->skipped[i]));
        for (uint64_t gap = rnd_below(r, 9); gap > 0; gap--)
            fputc('.', out);
        t->offset[i] = ftell(out);
        t->size[i] = size;
        ck_assert_uint_eq(fwrite(bytes, 1, (size_t)size, out), (size_t)size);
    }
    fputs("end", out);
    ck_assert_int_eq(fclose(out), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}

static void point(drep_dataset *ds, const struct target *t, int cell, int from)
{
    int64_t start[2];

    start_of(cell, start);
    ok(drep_write_external(ds, start, t->number, t->offset[from], t->size[from], t->skipped[from],
                           0));
}

static drep_file *opened_with(const char *path, int amode, const char *hint)
{
    drep_info *info = hints("drep_external=true", hint, (char *)NULL);
    drep_file *f;

    ok(drep_open(path, amode, info, &f));
    drep_info_free(info);
    return f;
}

static drep_file *trusting(const char *path, int amode)
{
    return opened_with(path, amode, NULL);
}

static drep_file *trusted_file(const char *path, const char *datarep)
{
    drep_info *info = hints("drep_external=true", (char *)NULL);
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, datarep, info, &f));
    drep_info_free(info);
    return f;
}

/* ---- any mixture of own and other chunks reads as a plain array ---- */

struct model {
    int64_t rows, v[4 * ROWS][COLUMNS];
};

static void model_chunk(struct model *m, int cell, const int64_t *value)
{
    for (int k = 0; k < CHUNK; k++)
        m->v[cell / 4 * HIGH + k / WIDE][cell % 4 * WIDE + k % WIDE] = value[k];
}

static void model_check(const struct model *m, drep_dataset *ds)
{
    static int64_t out[4 * ROWS * COLUMNS];

    memset(out, 0x55, sizeof out);
    ok(drep_read(ds, NULL, DREP_INT64_T, out, NULL));
    ck_assert_mem_eq(out, m->v, (size_t)m->rows * COLUMNS * sizeof *out);
}

static void some_box(struct model *m, drep_dataset *ds, struct rnd *r, bool whole)
{
    int64_t start[2], count[2], buf[4 * ROWS * COLUMNS];

    start[0] = whole ? 0 : (int64_t)rnd_below(r, (uint64_t)m->rows);
    start[1] = whole ? 0 : (int64_t)rnd_below(r, COLUMNS);
    count[0] = whole ? m->rows : 1 + (int64_t)rnd_below(r, (uint64_t)(m->rows - start[0]));
    count[1] = whole ? COLUMNS : 1 + (int64_t)rnd_below(r, (uint64_t)(COLUMNS - start[1]));
    for (int64_t i = 0; i < count[0] * count[1]; i++) {
        buf[i] = (int64_t)rnd_below(r, 1000);
        m->v[start[0] + i / count[1]][start[1] + i % count[1]] = buf[i];
    }
    ok(drep_write_box(ds, start, count, DREP_INT64_T, buf, NULL));
}

static void resize(struct model *m, drep_dataset *ds, struct rnd *r)
{
    int64_t rows = 1 + (int64_t)rnd_below(r, 2 * ROWS), dims[] = {rows, COLUMNS};

    for (int64_t i = rows < m->rows ? rows : m->rows; i < 4 * ROWS; i++)
        memset(m->v[i], 0, sizeof m->v[i]);
    m->rows = rows;
    ok(drep_dataset_resize(ds, dims));
}

/* True if the whole chunk is inside the shape. */
static bool inside(const struct model *m, int cell)
{
    return (cell / 4 + 1) * HIGH <= m->rows;
}

static void step(struct model *m, drep_dataset *ds, const struct target *t, struct rnd *r)
{
    int cell = (int)rnd_below(r, CELLS), from = (int)rnd_below(r, CELLS);

    switch (rnd_below(r, 8)) {
    case 0:
    case 1:
        some_box(m, ds, r, false);
        break;
    case 2:
        resize(m, ds, r);
        break;
    case 3:
        if (rnd_below(r, 4) == 0)
            some_box(m, ds, r, true);
        break;
    default:
        /* Several in a row share a record. */
        for (int n = 1 + (int)rnd_below(r, 4); n > 0 && cell < CELLS && from < CELLS; n--) {
            if (inside(m, cell)) {
                point(ds, t, cell, from);
                model_chunk(m, cell, t->value[from]);
            }
            cell++;
            from++;
        }
    }
}

START_TEST(test_R8_49_any_mixture_reads_as_an_array)
{
    static struct target t[2];
    static struct model m;
    const int list = _i % LISTS;
    const char *datarep = _i / LISTS ? "external32" : "internal";
    char path[300];
    drep_file *f, *copy;
    drep_dataset *ds;
    struct rnd r;

    snprintf(path, sizeof path, "%s-%d", temp_path("mixture"), _i);
    rnd_init(&r, (uint64_t)_i + 1);
    target_make(&t[0], "one.bin", list, datarep, &r);
    target_make(&t[1], "two.bin", list, datarep, &r);
    f = trusted_file(path, datarep);
    memset(&m, 0, sizeof m);
    m.rows = ROWS;
    ds = grid(f, "d", list);
    for (int i = 0; i < 2; i++) {
        uint32_t again;

        ok(drep_external_add(f, t[i].name, &t[i].number));
        ok(drep_external_add(f, t[i].name, &again));
        ck_assert_uint_eq(again, t[i].number);
    }
    for (int i = 0; i < 120; i++) {
        step(&m, ds, &t[rnd_below(&r, 2)], &r);
        if (rnd_below(&r, 6) == 0)
            ok(drep_commit(f));
        if (rnd_below(&r, 6) == 0)
            model_check(&m, ds);
        if (rnd_below(&r, 12) == 0) {
            drep_dataset_close(ds);
            ok(drep_close(f));
            f = trusting(path, DREP_RDWR);
            ok(drep_dataset_open(f, "d", &ds));
            model_check(&m, ds);
            check_file(f);
        }
    }
    ok(drep_commit(f));
    check_file(f);
    /* A copy has the data. */
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &copy));
    ok(drep_copy(f, "/d", copy, "/d", NULL));
    drep_dataset_close(ds);
    ok(drep_dataset_open(copy, "d", &ds));
    model_check(&m, ds);
    check_file(copy);
    drep_dataset_close(ds);
    ok(drep_close(copy));
    ok(drep_link_remove(f, "/d"));
    ok(drep_commit(f));
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* ---- a target that is not what it was ---- */

/* A container with all chunks in "t.bin". */
static void pinned(const char *path, struct target *t, int list)
{
    drep_file *f;
    drep_dataset *ds;
    struct rnd r;

    rnd_init(&r, 7);
    target_make(t, "t.bin", list, "internal", &r);
    f = trusted_file(path, "internal");
    ds = grid(f, "d", list);
    ok(drep_external_add(f, t->name, &t->number));
    for (int i = 0; i < CELLS; i++)
        point(ds, t, i, i);
    drep_dataset_close(ds);
    ok(drep_close(f));
}

static int read_all(const char *path, bool trust)
{
    static int64_t out[ROWS * COLUMNS];
    drep_dataset *ds;
    drep_file *f = NULL;
    int err = 0;

    if (trust)
        f = trusting(path, DREP_RDONLY);
    else
        err = drep_open(path, DREP_RDONLY, NULL, &f);
    ok(err);
    ok(drep_dataset_open(f, "d", &ds));
    err = drep_read(ds, NULL, DREP_INT64_T, out, NULL);
    drep_dataset_close(ds);
    ok(drep_close(f));
    return err;
}

static void change_byte(const char *path, int64_t at, int by)
{
    FILE *f = fopen(path, "r+b");
    int c;

    ck_assert_ptr_nonnull(f);
    fseek(f, at, SEEK_SET);
    c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ by, f);
    fclose(f);
}

START_TEST(test_R8_46_a_target_must_be_the_same)
{
    static struct target t;
    char path[300];
    char bin[500], other[500];
    struct stat s;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, _i);
    snprintf(bin, sizeof bin, "%s", temp_path("t.bin"));
    snprintf(other, sizeof other, "%s", temp_path("elsewhere"));
    ok(read_all(path, true));
    fails(read_all(path, false), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "drep_external"));
    /* Each byte of a chunk counts. */
    change_byte(bin, t.offset[5] + t.size[5] / 2, 4);
    fails(read_all(path, true), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "t.bin"));
    change_byte(bin, t.offset[5] + t.size[5] / 2, 4);
    ok(read_all(path, true));
    /* Another length, another file, none. */
    ck_assert_int_eq(stat(bin, &s), 0);
    ck_assert_int_eq(truncate(bin, s.st_size + 1), 0);
    fails(read_all(path, true), DREP_ERR_CHECKSUM);
    ck_assert_int_eq(truncate(bin, s.st_size - 1), 0);
    fails(read_all(path, true), DREP_ERR_CHECKSUM);
    ck_assert_int_eq(rename(bin, other), 0);
    fails(read_all(path, true), DREP_ERR_NO_SUCH_FILE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "t.bin"));
    /* No link, no pipe, no directory. */
    ck_assert_int_eq(symlink(other, bin), 0);
    fails(read_all(path, true), DREP_ERR_ACCESS);
    unlink(bin);
    ck_assert_int_eq(mkfifo(bin, 0600), 0);
    fails(read_all(path, true), DREP_ERR_ACCESS);
    unlink(bin);
    ck_assert_int_eq(mkdir(bin, 0700), 0);
    ck_assert_int_ne(read_all(path, true), 0);
    rmdir(bin);
}
END_TEST

/* One chunk alone, as memory has it, goes there without a copy if the dataset is too large for the
 * cache: what it gives, counts and refuses is the same. */
START_TEST(test_R8_46_a_chunk_read_straight_is_verified)
{
    const int64_t count[] = {HIGH, WIDE}, most[] = {HIGH - 1, WIDE};
    drep_info *info = hints("drep_external=true", "drep_cache_size=0", (char *)NULL);
    static struct target t;
    int64_t start[2], out[CHUNK + 1];
    char path[300], bin[500];
    drep_dataset *ds;
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, _i);
    snprintf(bin, sizeof bin, "%s", temp_path("t.bin"));
    ok(drep_open(path, DREP_RDONLY, info, &f));
    drep_info_free(info);
    ok(drep_dataset_open(f, "d", &ds));
    for (int cell = 0; cell < CELLS; cell++) {
        drep_report report = DREP_REPORT;

        start_of(cell, start);
        memset(out, 0x55, sizeof out);
        ok(drep_read_box(ds, start, count, DREP_INT64_T, out, &DREP_XFER(.report = &report)));
        ck_assert_mem_eq(out, t.value[cell], CHUNK * sizeof *out);
        ck_assert_int_eq(out[CHUNK], 0x5555555555555555);
        ck_assert_int_eq(report.items, CHUNK);
        memset(out, 0x55, sizeof out);
        ok(drep_read_box(ds, start, most, DREP_INT64_T, out, NULL));
        ck_assert_mem_eq(out, t.value[cell], (CHUNK - WIDE) * sizeof *out);
        ck_assert_int_eq(out[CHUNK - WIDE], 0x5555555555555555);
    }
    change_byte(bin, t.offset[5] + t.size[5] - 1, 1);
    start_of(5, start);
    fails(drep_read_box(ds, start, count, DREP_INT64_T, out, NULL), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "t.bin"));
    start_of(6, start);
    ok(drep_read_box(ds, start, count, DREP_INT64_T, out, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

static int count_findings(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)offset;
    (void)message;
    *(int *)ctx += err != 0;
    return 0;
}

/* A row without a sum counts as long as its file is as old as its entry says. */
START_TEST(test_R8_52_a_row_may_lack_its_sum)
{
    static struct target t;
    const uint64_t coord[] = {0, 0};
    struct chunk_rec to = {.kind = FMT_CHUNK_EXTERNAL, .filtered = true, .run = 1, .nsums = 1};
    drep_usage usage = DREP_USAGE;
    char path[300], bin[500];
    struct utimbuf times;
    drep_dataset *ds;
    struct stat s;
    int64_t n = 0;
    drep_file *f;
    int told = 0;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, 2);
    snprintf(bin, sizeof bin, "%s", temp_path("t.bin"));
    f = trusting(path, DREP_RDWR);
    ok(drep_dataset_open(f, "d", &ds));
    to.file = t.number;
    to.offset = (uint64_t)t.offset[0];
    to.size = (uint64_t)t.size[0];
    to.skipped = t.skipped[0];
    ok(write_begin(f));
    ok(write_end(f, chunk_point(&ds->chunks, coord, &to)));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(read_all(path, true));
    f = trusting(path, DREP_RDONLY);
    ok(drep_check(f, 0, count_findings, &told, &n));
    ck_assert_int_eq(n, 0);
    ok(drep_usage_get(f, &usage));
    ck_assert_int_eq(usage.absent, 1);
    ok(drep_close(f));
    ck_assert_int_eq(stat(bin, &s), 0);
    times = (struct utimbuf){s.st_atime, s.st_mtime + 2};
    ck_assert_int_eq(utime(bin, &times), 0);
    fails(read_all(path, true), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "R8.52"));
    times.modtime = s.st_mtime;
    ck_assert_int_eq(utime(bin, &times), 0);
    ok(read_all(path, true));
}
END_TEST

/* ---- rows that get their sums later ---- */

static int64_t absent(drep_file *f)
{
    drep_usage usage = DREP_USAGE;

    ok(drep_usage_get(f, &usage));
    return usage.absent;
}

static uint64_t sequence(drep_file *f)
{
    drep_header header = DREP_HEADER;

    ok(drep_header_get(f, &header));
    return header.sequence;
}

static void set_time(const char *name, int by)
{
    struct utimbuf times;
    struct stat s;

    ck_assert_int_eq(stat(temp_path(name), &s), 0);
    times = (struct utimbuf){s.st_atime, s.st_mtime + by};
    ck_assert_int_eq(utime(temp_path(name), &times), 0);
}

/* A container with the chunks of two targets, written without sums. */
static void unsealed(const char *path, struct target t[2], int list)
{
    drep_dataset *ds;
    drep_file *f;
    struct rnd r;

    rnd_init(&r, 11);
    target_make(&t[0], "one.bin", list, "internal", &r);
    target_make(&t[1], "two.bin", list, "internal", &r);
    ok(drep_close(trusted_file(path, "internal")));
    f = opened_with(path, DREP_RDWR, "drep_checksum=deferred");
    for (int k = 0; k < 2; k++) {
        ds = grid(f, k ? "two" : "one", list);
        ok(drep_external_add(f, t[k].name, &t[k].number));
        for (int i = 0; i < CELLS; i++)
            point(ds, &t[k], i, i);
        drep_dataset_close(ds);
    }
    ok(drep_commit(f));
    ck_assert_int_eq(absent(f), 2 * CELLS);
    ok(drep_close(f));
}

static int read_error(drep_file *f, const char *name, const struct target *t)
{
    static struct model m;
    static int64_t out[ROWS * COLUMNS];
    drep_dataset *ds;
    int err;

    for (int i = 0; i < CELLS; i++)
        model_chunk(&m, i, t->value[i]);
    ok(drep_dataset_open(f, name, &ds));
    err = drep_read(ds, NULL, DREP_INT64_T, out, NULL);
    drep_dataset_close(ds);
    if (err == 0)
        ck_assert_mem_eq(out, m.v, sizeof out);
    return err;
}

START_TEST(test_R8_52_sealing_gives_rows_their_sums)
{
    static struct target t[2];
    int64_t n = -1;
    uint64_t before;
    char path[300];
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("unsealed.drep"));
    unsealed(path, t, _i);
    /* Nobody has allowed it. */
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    before = sequence(f);
    fails(drep_seal(f, &n), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "--external"));
    drep_abandon(f);
    /* One source has another time: all that could be sealed is given up with the rest. */
    set_time("two.bin", 5);
    f = trusting(path, DREP_RDWR);
    fails(drep_seal(f, &n), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "dataset \"/two\": chunk (0,0): "));
    ck_assert_ptr_nonnull(strstr(drep_error(), "two.bin: its time is not"));
    ck_assert_int_eq(n, -1);
    drep_abandon(f);
    set_time("two.bin", -5);
    f = trusting(path, DREP_RDWR);
    ck_assert_int_eq(absent(f), 2 * CELLS);
    ck_assert_uint_eq(sequence(f), before);
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, 2 * CELLS);
    ok(drep_commit(f));
    ck_assert_uint_eq(sequence(f), before + 1);
    ck_assert_int_eq(absent(f), 0);
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, 0);
    check_file(f);
    ok(drep_close(f));
    /* From now on the time is a hint, and each byte counts. */
    set_time("one.bin", 9);
    f = trusting(path, DREP_RDONLY);
    ok(read_error(f, "one", &t[0]));
    ok(read_error(f, "two", &t[1]));
    ok(drep_close(f));
    change_byte(temp_path("one.bin"), t[0].offset[7], 1);
    f = trusting(path, DREP_RDONLY);
    fails(read_error(f, "one", &t[0]), DREP_ERR_CHECKSUM);
    ok(drep_close(f));
}
END_TEST

/* The time is looked at at every read: a handle that has the source open notices a change. */
START_TEST(test_R8_52_a_change_is_seen_while_open)
{
    static struct target t[2];
    uint32_t number;
    char path[300];
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("unsealed.drep"));
    unsealed(path, t, 2);
    f = opened_with(path, DREP_RDWR, "drep_cache_size=0");
    ok(read_error(f, "one", &t[0]));
    change_byte(temp_path("one.bin"), t[0].offset[3] + 1, 2);
    set_time("one.bin", 1);
    fails(read_error(f, "one", &t[0]), DREP_ERR_CHECKSUM);
    fails(drep_seal(f, NULL), DREP_ERR_CHECKSUM);
    /* Named again it is another version, which rows written before do not get. */
    change_byte(temp_path("one.bin"), t[0].offset[3] + 1, 2);
    set_time("one.bin", 1);
    ok(drep_external_add(f, "one.bin", &number));
    ck_assert_uint_gt(number, t[1].number);
    ok(drep_external_add(f, "two.bin", &number));
    ck_assert_uint_eq(number, t[1].number);
    drep_abandon(f);
}
END_TEST

static int64_t big_room[10000];

static int note_version(const drep_external *external, void *ctx)
{
    char *at = ctx;

    snprintf(at + strlen(at), 100, "%u %s %s;", external->number, external->path,
             external->version);
    return 0;
}

/* The version is kept with the file; another one counts where a sum is lacking. */
START_TEST(test_R8_52_a_version_tells_of_a_change)
{
    static struct target t[2];
    static char longest[1025];
    char path[300], listed[400] = "";
    uint32_t number[4];
    drep_dataset *ds;
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("unsealed.drep"));
    unsealed(path, t, 1);
    f = opened_with(path, DREP_RDWR, "drep_checksum=deferred");
    ok(drep_external_add_version(f, "one.bin", "W/\"a\"", &number[0]));
    ok(drep_external_add_version(f, "one.bin", "W/\"a\"", &number[1]));
    ok(drep_external_add_version(f, "one.bin", "", &number[2]));
    ok(drep_external_add_version(f, "one.bin", "W/\"b\"", &number[3]));
    ck_assert_uint_eq(number[0], number[1]);
    ck_assert_uint_gt(number[3], number[0]);
    ok(drep_external_list(f, note_version, listed));
    ck_assert_str_eq(listed, "1 one.bin ;2 two.bin ;3 one.bin W/\"a\";4 one.bin W/\"b\";");
    ds = grid(f, "versioned", 1);
    t[0].number = number[0];
    for (int i = 0; i < CELLS; i++)
        point(ds, &t[0], i, i);
    drep_dataset_close(ds);
    ok(drep_close(f));

    f = opened_with(path, DREP_RDWR, "drep_cache_size=0");
    ok(drep_external_version(f, number[0], "W/\"a\""));
    ok(read_error(f, "versioned", &t[0]));
    ok(drep_external_version(f, number[0], "W/\"b\""));
    fails(read_error(f, "versioned", &t[0]), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "one.bin: it is another version"));
    fails(drep_seal(f, NULL), DREP_ERR_CHECKSUM);
    ok(read_error(f, "two", &t[1]));
    ok(drep_external_version(f, t[1].number, "W/\"b\"")); /* its own is unknown */
    ok(read_error(f, "two", &t[1]));
    ok(drep_external_version(f, number[0], "W/\"a\""));
    ok(drep_seal(f, NULL));
    ok(drep_external_version(f, number[0], "W/\"b\""));
    ok(read_error(f, "versioned", &t[0])); /* its sums decide */

    memset(longest, 'v', 1024);
    fails(drep_external_add_version(f, "one.bin", longest, &number[0]), DREP_ERR_ARG);
    fails(drep_external_add_version(f, "one.bin", "\xff", &number[0]), DREP_ERR_ARG);
    fails(drep_external_version(f, 99, "v"), DREP_ERR_RANGE);
    fails(drep_external_version(f, 1, ""), DREP_ERR_ARG);
    fails(drep_external_version(f, 1, NULL), DREP_ERR_ARG);
    drep_abandon(f);
}
END_TEST

struct chunk_places {
    int64_t offset[CELLS], size[CELLS];
    uint32_t skipped[CELLS];
    int n;
};

static int note_place(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct chunk_places *p = ctx;

    (void)coord;
    for (uint32_t i = 0; i < rec->run; i++) {
        p->offset[p->n] = (int64_t)(rec->offset + i * rec->size);
        p->size[p->n] = (int64_t)rec->size;
        p->skipped[p->n++] = rec->skipped;
    }
    return 0;
}

/* Makes t the chunks of a container. */
static void container_make(struct target *t, const char *name, int list)
{
    static struct chunk_places p;
    drep_dataset *ds;
    drep_file *f;
    struct rnd r;

    rnd_init(&r, 3);
    target_make(t, "values.bin", list, "internal", &r);
    ok(drep_create(temp_path(name), DREP_RDWR, "internal", NULL, &f));
    /* Something of 64 KiB in front: that much of a file is in its digest. */
    ok(drep_dataset_create(f, "front",
                           &DREP_SPEC(.type = DREP_INT64_T, .rank = 1, .dims = &(int64_t){10000},
                                      .layout = DREP_CONTIGUOUS),
                           &ds));
    ok(drep_write_box(ds, &(int64_t){0}, &(int64_t){10000}, DREP_INT64_T,
                      memset(big_room, 7, sizeof big_room), NULL));
    drep_dataset_close(ds);
    ok(drep_commit(f));
    ds = grid(f, "d", list);
    for (int i = 0; i < CELLS; i++) {
        const int64_t count[] = {HIGH, WIDE};
        int64_t start[2];

        start_of(i, start);
        ok(drep_write_box(ds, start, count, DREP_INT64_T, t->value[i], NULL));
    }
    ok(drep_commit(f));
    memset(&p, 0, sizeof p);
    ok(chunk_each(&ds->chunks, note_place, &p));
    ck_assert_int_eq(p.n, CELLS);
    drep_dataset_close(ds);
    ok(drep_close(f));
    snprintf(t->name, sizeof t->name, "%s", name);
    memcpy(t->offset, p.offset, sizeof t->offset);
    memcpy(t->size, p.size, sizeof t->size);
    memcpy(t->skipped, p.skipped, sizeof t->skipped);
    ck_assert_int_gt(t->offset[CELLS - 1], 65536);
}

/* A source that is a container gives the sums that it has, and is not read: a byte that it has lost
 * since is found when the elements are. */
START_TEST(test_D48_a_container_gives_its_sums)
{
    static struct target t;
    char path[300], bin[300];
    drep_dataset *ds, *odd;
    const bool filtered = lists[_i].n > 0;
    int64_t n = 0;
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("joined.drep"));
    snprintf(bin, sizeof bin, "%s", temp_path("source.drep"));
    container_make(&t, "source.drep", _i);
    change_byte(bin, t.offset[4] + t.size[4] / 2, 4);
    ok(drep_close(trusted_file(path, "internal")));
    f = opened_with(path, DREP_RDWR, "drep_checksum=deferred");
    ok(drep_external_add(f, t.name, &t.number));
    ds = grid(f, "d", _i);
    for (int i = 0; i < CELLS; i++)
        point(ds, &t, i, i);
    odd = grid(f, "odd", _i);
    if (filtered) /* not exactly a chunk of it */
        ok(drep_write_external(odd, (int64_t[]){0, 0}, t.number, t.offset[2] + 1, t.size[2] - 1,
                               t.skipped[2], 0));
    drep_dataset_close(odd);
    drep_dataset_close(ds);
    ok(drep_commit(f));
    ck_assert_int_eq(absent(f), filtered);
    ok(drep_seal(f, &n));
    ck_assert_int_eq(n, filtered);
    ok(drep_close(f));
    f = trusting(path, DREP_RDONLY);
    fails(read_error(f, "d", &t), DREP_ERR_CHECKSUM);
    ck_assert_ptr_nonnull(strstr(drep_error(), "chunk (1,0)"));
    ok(drep_close(f));
    change_byte(bin, t.offset[4] + t.size[4] / 2, 4);
    f = trusting(path, DREP_RDONLY);
    ok(read_error(f, "d", &t));
    ok(drep_close(f));
}
END_TEST

/* Where the bytes of a chunk are is told without opening the other file. */
START_TEST(test_the_places_of_chunks)
{
    static struct target t;
    const int64_t origin[] = {0, 0}, one[] = {1, 1};
    const int64_t value = 7;
    char path[300];
    drep_stored at = DREP_STORED;
    drep_dataset *ds;
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, _i);
    ok(drep_open(path, DREP_RDONLY, NULL, &f)); /* which does not allow to read them */
    ok(drep_dataset_open(f, "d", &ds));
    for (int i = 0; i < CELLS; i++) {
        int64_t start[2];

        start_of(i, start);
        ok(drep_stored_at(ds, start, &at));
        ck_assert_int_eq(at.external, 1);
        ck_assert_uint_eq(at.number, t.number);
        ck_assert_int_eq(at.offset, t.offset[i]);
        ck_assert_int_eq(at.bytes, t.size[i]);
        ck_assert_uint_eq(at.skipped, t.skipped[i]);
    }
    drep_dataset_close(ds);
    ok(drep_close(f));
    f = trusting(path, DREP_RDWR);
    ok(drep_dataset_open(f, "d", &ds));
    ok(drep_write_box(ds, origin, one, DREP_INT64_T, &value, NULL));
    ok(drep_commit(f));
    ok(drep_stored_at(ds, origin, &at)); /* it has a chunk of its own by now */
    ck_assert_int_eq(at.external, 0);
    ck_assert_uint_eq(at.number, 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* A missing target is one finding, not one for each chunk; repair keeps what may come back. */
START_TEST(test_check_and_repair)
{
    static struct target t;
    char path[300];
    char mended[500], bin[500], away[500];
    drep_info *info = hints("drep_external=true", (char *)NULL);
    int64_t n = 0;
    drep_file *f;
    int told = 0;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, 1);
    snprintf(mended, sizeof mended, "%s", temp_path("mended.drep"));
    snprintf(bin, sizeof bin, "%s", temp_path("t.bin"));
    snprintf(away, sizeof away, "%s", temp_path("away"));
    ck_assert_int_eq(rename(bin, away), 0);
    f = trusting(path, DREP_RDONLY);
    ok(drep_check(f, 0, count_findings, &told, &n));
    ck_assert_int_eq(told, 1);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, count_findings, &told, &n));
    ck_assert_int_eq(n, 0);
    ok(drep_close(f));
    ok(drep_repair(path, mended, 0, info, NULL, NULL, &n));
    ck_assert_int_eq(rename(away, bin), 0);
    ok(read_all(mended, true));
    drep_info_free(info);
}
END_TEST

START_TEST(test_what_is_refused)
{
    static const char *const names[] = {"",        "/etc/passwd", "../t.bin", "a/../t.bin",
                                        "./t.bin", "a//b",        "a/",       "\xff"};
    static struct target t;
    char path[300];
    const int64_t start[] = {0, 0}, odd[] = {1, 0};
    drep_usage usage = DREP_USAGE;
    drep_objusage part = DREP_OBJUSAGE;
    drep_dataset *ds;
    uint32_t number;
    drep_file *f;

    snprintf(path, sizeof path, "%s", temp_path("pinned.drep"));
    pinned(path, &t, 0);
    f = trusting(path, DREP_RDWR);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fails(drep_external_add(f, names[i], &number), DREP_ERR_NAME);
    fails(drep_external_add(f, "absent", &number), DREP_ERR_NO_SUCH_FILE);
    fails(drep_external_add(f, NULL, &number), DREP_ERR_ARG);
    fails(drep_external_add(f, "t.bin", NULL), DREP_ERR_ARG);
    fails(drep_external_list(f, NULL, NULL), DREP_ERR_ARG);
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_write_external(ds, odd, t.number, 0, 8, 0, 0), DREP_ERR_RANGE);
    fails(drep_write_external(ds, start, t.number, -1, 8, 0, 0), DREP_ERR_ARG);
    fails(drep_write_external(ds, start, t.number, 0, 0, 0, 0), DREP_ERR_ARG);
    fails(drep_write_external(ds, start, t.number, 1 << 20, 8, 0, 0), DREP_ERR_RANGE);
    fails(drep_write_external(ds, start, t.number, 0, 7, 0, 0), DREP_ERR_ARG);
    fails(drep_write_external(ds, start, 99, 0, 8, 0, 0), DREP_ERR_RANGE);
    ok(drep_usage_get(f, &usage));
    ok(drep_object_usage(f, "d", &part));
    ck_assert_int_eq(usage.external, CELLS * CHUNK * 8);
    ck_assert_int_eq(part.external, usage.external);
    ck_assert_int_eq(part.data, 0);
    drep_dataset_close(ds);
    drep_abandon(f);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    fails(drep_external_add(f, "t.bin", &number), DREP_ERR_UNSUPPORTED_OPERATION);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data external");
    TCase *t = tcase_create("external");

    tcase_add_loop_test(t, test_R8_49_any_mixture_reads_as_an_array, 0, 2 * LISTS);
    tcase_add_loop_test(t, test_R8_46_a_target_must_be_the_same, 0, LISTS);
    tcase_add_loop_test(t, test_R8_46_a_chunk_read_straight_is_verified, 0, LISTS);
    tcase_add_test(t, test_R8_52_a_row_may_lack_its_sum);
    tcase_add_loop_test(t, test_R8_52_sealing_gives_rows_their_sums, 0, LISTS);
    tcase_add_test(t, test_R8_52_a_change_is_seen_while_open);
    tcase_add_test(t, test_R8_52_a_version_tells_of_a_change);
    tcase_add_loop_test(t, test_D48_a_container_gives_its_sums, 0, LISTS);
    tcase_add_loop_test(t, test_the_places_of_chunks, 0, LISTS);
    tcase_add_test(t, test_check_and_repair);
    tcase_add_test(t, test_what_is_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
