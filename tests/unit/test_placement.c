/* test_placement.c - where bytes stand: small programs against hashes of the files that they make.
 *
 * SPEC.md lets a writer place chunks as it likes; this writer places them by the order of calls
 * and by how many parts of a write are planned at once, and ranks write the same file as one
 * process only because they place alike.  So a change of order is a change of files.  The hashes
 * are in tests/vectors/placement.def; a commit that means to move bytes writes them anew with
 *
 *     UPDATE=tests/vectors/placement.def build/release/tests/unit/test_placement
 *
 * No borrowed compressor is used, whose next version may encode otherwise. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <inttypes.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MANY = 1 << 20 };

static int32_t numbers[MANY];

/* ---- a filter and a representation of the test's own ---- */

/* Drops zeros at the end; refuses a chunk that begins with the byte of its parameter. */
static int trim(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                size_t *out_size, void *state)
{
    const uint8_t *p = in;
    size_t room = *out_size, n = in_size;

    (void)state;
    if (nparams > 0 && n > 0 && p[0] == params[0])
        return 1;
    while (n > 0 && p[n - 1] == 0)
        n--;
    *out_size = n;
    if (n <= room)
        memcpy(out, p, n);
    return 0;
}

static int untrim(const uint32_t *params, int nparams, const void *in, size_t in_size, void *out,
                  size_t *out_size, void *state)
{
    (void)params, (void)nparams, (void)state;
    if (in_size > *out_size)
        return 1;
    memcpy(out, in, in_size);
    memset((uint8_t *)out + in_size, 0, *out_size - in_size);
    return 0;
}

static const drep_filter trimmed = {.id = DREP_FILTER_USER, .name = "trim"};
static const drep_filter picky = {
    .id = DREP_FILTER_USER, .name = "trim", .nparams = 1, .param = {0xee}};

/* ---- files and datasets ---- */

/* A cache of a few chunks gives them up in the order in which as many threads ask for them, so
 * their number is fixed; a pair that names it is the later one, which counts. */
static drep_info *fixed_hints(const char *pair)
{
    return hints("drep_uuid=000102030405060708090a0b0c0d0e0f", "drep_time=1700000000000000000",
                 "drep_machine=amd64", "drep_sync=none", "drep_threads=2", pair, (char *)NULL);
}

static drep_file *make(const char *path, const char *hint)
{
    drep_info *info = fixed_hints(hint);
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    return f;
}

static drep_file *reopen(const char *path)
{
    drep_info *info = fixed_hints(NULL);
    drep_file *f;

    ok(drep_open(path, DREP_RDWR, info, &f));
    drep_info_free(info);
    return f;
}

/* Two dimensions, the first unlimited; chunk NULL: contiguous, with the first as it is. */
static drep_dataset *plane(drep_file *f, const char *path, int64_t rows, int64_t columns,
                           const int64_t *chunk, const drep_filter *filter)
{
    const int64_t dims[] = {rows, columns}, max[] = {DREP_UNLIMITED, columns};
    const drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims,
                                     .maxdims = chunk == NULL ? NULL : max,
                                     .layout = chunk == NULL ? DREP_CONTIGUOUS : DREP_CHUNKED,
                                     .chunk = chunk, .filters = filter, .nfilters = filter != NULL);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static void box(drep_dataset *ds, int64_t row, int64_t column, int64_t rows, int64_t columns,
                int seed)
{
    ok(drep_write_box(ds, (const int64_t[]){row, column}, (const int64_t[]){rows, columns},
                      DREP_INT32_T, numbers + seed, NULL));
}

static void strided(drep_dataset *ds, const char *text, const int64_t *dims)
{
    drep_selection *sel;

    ok(drep_select_parse(text, 2, dims, &sel));
    ok(drep_write(ds, sel, DREP_INT32_T, numbers + 5, NULL));
    drep_selection_free(sel);
}

static void add(drep_dataset *ds, int64_t rows, int seed)
{
    ok(drep_append(ds, 0, rows, DREP_INT32_T, numbers + seed, NULL));
}

static const int64_t eight[] = {8, 8}, sixteen[] = {16, 16}, large[] = {64, 64};

/* ---- the programs ---- */

static void contiguous_whole(const char *path)
{
    drep_file *f = make(path, NULL);

    box(plane(f, "/a", 300, 300, NULL, NULL), 0, 0, 300, 300, 0);
    ok(drep_close(f));
}

static void contiguous_pieces(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 300, 300, NULL, NULL);
    drep_dataset *b = plane(f, "/b", 300, 300, NULL, NULL);

    for (int64_t row = 0; row < 300; row += 7) {
        box(a, row, 0, row + 7 > 300 ? 300 - row : 7, 300, (int)row);
        box(b, 0, row, 300, row + 7 > 300 ? 300 - row : 7, (int)row);
    }
    ok(drep_close(f));
}

static void contiguous_strided(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 400, 400, NULL, NULL);

    strided(a, "[::3,::5]", (const int64_t[]){400, 400});
    strided(a, "[100:,7:11]", (const int64_t[]){400, 400});
    ok(drep_close(f));
}

static void contiguous_again(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 400, 400, NULL, NULL);

    box(a, 0, 0, 400, 400, 0);
    for (int i = 1; i < 6; i++) {
        ok(drep_commit(f));
        box(a, 37 * i, 11, 20 * i, 300, i);
    }
    ok(drep_close(f));
}

/* 1,024 whole chunks are planned at once. */
static void chunks_many(const char *path)
{
    drep_file *f = make(path, NULL);

    box(plane(f, "/a", 400, 400, eight, NULL), 0, 0, 400, 400, 0);
    ok(drep_close(f));
}

/* Whole parts inside, partial ones around. */
static void chunks_partial(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 200, 200, sixteen, NULL);

    box(a, 3, 5, 190, 180, 0);
    box(a, 100, 100, 97, 93, 9);
    ok(drep_close(f));
}

static void chunks_backwards(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 160, 160, sixteen, NULL);

    for (int64_t row = 144; row >= 0; row -= 16)
        for (int64_t column = 144; column >= 0; column -= 16)
            box(a, row, column, 16, 16, (int)row);
    ok(drep_close(f));
}

static void chunks_strided(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 200, 200, sixteen, NULL);

    strided(a, "[::3,::5]", (const int64_t[]){200, 200});
    strided(a, "[::40,:]", (const int64_t[]){200, 200});
    ok(drep_close(f));
}

static void chunks_by_points(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 500, 500, large, NULL);
    int64_t at[2000];
    drep_selection *sel;

    for (int i = 0; i < 1000; i++) {
        at[2 * i] = i * 7919 % 500;
        at[2 * i + 1] = i * 104729 % 500;
    }
    ok(drep_select_points(2, 1000, at, &sel));
    ok(drep_write(a, sel, DREP_INT32_T, numbers, NULL));
    drep_selection_free(sel);
    ok(drep_close(f));
}

/* A chunk that was written in this transaction is overwritten where it is; once it was told that
 * the last commit has it, it moves, once. */
static void chunks_again(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 160, 160, sixteen, NULL);

    box(a, 0, 0, 160, 160, 0);
    box(a, 8, 8, 100, 100, 1);
    ok(drep_commit(f));
    box(a, 0, 0, 80, 160, 2);
    box(a, 30, 30, 100, 100, 3);
    ok(drep_commit(f));
    box(a, 0, 0, 160, 160, 4);
    ok(drep_close(f));
}

static void filtered_whole(const char *path)
{
    drep_file *f = make(path, NULL);

    box(plane(f, "/a", 400, 400, eight, &trimmed), 0, 0, 400, 400, 0);
    ok(drep_close(f));
}

static void filtered_partial(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 200, 200, sixteen, &trimmed);

    box(a, 3, 5, 190, 180, 0);
    box(a, 100, 100, 97, 93, 9);
    strided(a, "[::3,::5]", (const int64_t[]){200, 200});
    ok(drep_close(f));
}

static void filtered_again(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 160, 160, sixteen, &trimmed);

    for (int i = 0; i < 6; i++) {
        box(a, 0, 0, 160, 160, i % 2 ? 70 * i : i);
        if (i > 2)
            box(a, 9 * i, i, 64, 64, i);
        ok(drep_commit(f));
    }
    ok(drep_close(f));
}

/* The cache is small: chunks leave it before the commit. */
static void filtered_small_cache(const char *path)
{
    drep_file *f = make(path, "drep_cache_size=20000");
    drep_dataset *a = plane(f, "/a", 300, 300, sixteen, &trimmed);

    for (int64_t column = 0; column < 300; column += 5)
        box(a, 0, column, 300, 5, (int)column);
    ok(drep_close(f));
}

static void on_threads(const char *path, const char *hint)
{
    drep_file *f = make(path, hint);
    drep_dataset *a = plane(f, "/a", 700, 700, large, &trimmed);
    drep_dataset *b = plane(f, "/b", 700, 700, large, NULL);

    box(a, 3, 5, 690, 680, 0);
    box(b, 3, 5, 690, 680, 0);
    box(a, 100, 0, 200, 700, 4);
    ok(drep_close(f));
}

static void threads_1(const char *path)
{
    on_threads(path, "drep_threads=1");
}
static void threads_2(const char *path)
{
    on_threads(path, "drep_threads=2");
}
static void threads_8(const char *path)
{
    on_threads(path, "drep_threads=8");
}

/* Space that two commits let go is reused. */
static void holes(const char *path)
{
    drep_file *f = make(path, NULL);
    char name[20];

    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "/a%d", i);
        box(plane(f, name, 16 + i, 100, i % 3 ? eight : NULL, NULL), 0, 0, 16 + i, 100, i);
    }
    for (int round = 0; round < 3; round++) {
        ok(drep_commit(f));
        for (int i = round; i < 12; i += 4) {
            snprintf(name, sizeof name, "/a%d", i);
            ok(drep_link_remove(f, name));
        }
    }
    for (int i = 0; i < 3; i++) {
        ok(drep_commit(f));
        snprintf(name, sizeof name, "/b%d", i);
        box(plane(f, name, 40 - 9 * i, 90, i % 2 ? sixteen : NULL, NULL), 0, 0, 40 - 9 * i, 90, i);
    }
    ok(drep_close(f));
}

static void kept(const char *path, const char *hint)
{
    drep_file *f = make(path, hint);
    drep_dataset *a = plane(f, "/a", 64, 64, sixteen, NULL);

    for (int i = 0; i < 12; i++) {
        box(a, i, i, 40, 40, i);
        ok(drep_commit(f));
    }
    ok(drep_close(f));
}

static void keeps_1(const char *path)
{
    kept(path, "drep_keep=1");
}
static void keeps_5(const char *path)
{
    kept(path, "drep_keep=5");
}

/* A shape whose place is reserved, and filled late and beside others. */
static void reserved(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 300, 300, NULL, NULL), *b;

    box(a, 299, 0, 1, 300, 0);
    b = plane(f, "/b", 100, 100, sixteen, NULL);
    box(b, 0, 0, 100, 100, 0);
    box(a, 0, 0, 10, 300, 1);
    ok(drep_commit(f));
    box(a, 100, 0, 100, 300, 2);
    ok(drep_close(f));
}

static void appended(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 0, 50, (const int64_t[]){32, 50}, NULL);
    drep_dataset *b = plane(f, "/b", 0, 50, (const int64_t[]){32, 50}, &trimmed);
    drep_dataset *c = plane(f, "/c", 0, 1, (const int64_t[]){64, 1}, NULL);

    for (int i = 0; i < 300; i++) {
        add(a, 1, i);
        add(b, 2, i);
        add(c, 1, i);
        if (i % 37 == 0)
            ok(drep_commit(f));
    }
    ok(drep_close(f));
}

/* A day's field and its time, each day by a program of its own. */
static void daily(const char *path, int64_t times, const drep_filter *filter)
{
    drep_file *f = make(path, NULL);

    plane(f, "/field", 0, 500, (const int64_t[]){1, 500}, filter);
    plane(f, "/time", 0, 1, (const int64_t[]){times, 1}, filter);
    ok(drep_close(f));
    for (int day = 0; day < 60; day++) {
        drep_dataset *field, *time;

        f = reopen(path);
        ok(drep_dataset_open(f, "/field", &field));
        ok(drep_dataset_open(f, "/time", &time));
        add(field, 1, day);
        add(time, 1, day);
        ok(drep_close(f));
    }
}

static void daily_plain(const char *path)
{
    daily(path, 64, NULL);
}
static void daily_filtered(const char *path)
{
    daily(path, 4096, &trimmed);
}

static void sized(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 100, 100, sixteen, NULL);
    drep_dataset *b = plane(f, "/b", 100, 100, sixteen, &trimmed);

    for (int i = 0; i < 8; i++) {
        const int64_t dims[] = {i % 2 ? 30 + 11 * i : 150 - 9 * i, 100};

        box(a, 0, 0, 30, 100, i);
        box(b, 0, i, 30, 90, i);
        ok(drep_dataset_resize(a, dims));
        ok(drep_dataset_resize(b, dims));
        if (i % 3 == 0)
            ok(drep_commit(f));
    }
    ok(drep_close(f));
}

static drep_dataset *of_kind(drep_file *f, const char *path, int kind, int64_t n, int64_t chunk,
                             const drep_filter *filter, drep_type **type)
{
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &n, .chunk = &chunk, .layout = DREP_CHUNKED,
                               .filters = filter, .nfilters = filter != NULL);
    drep_dataset *ds;

    *type = value_type(kind);
    spec.type = *type;
    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static void fill_kind(drep_dataset *ds, int kind, const drep_type *type, int64_t start, int64_t n,
                      uint32_t seed)
{
    const size_t extent = (size_t)drep_type_extent(type);
    uint8_t *p = calloc((size_t)n, extent);

    for (int64_t i = 0; i < n; i++)
        value_make(kind, seed + (uint32_t)i, p + (size_t)i * extent);
    ok(drep_write_box(ds, &start, &n, type, p, NULL));
    drep_vlen_free(type, n, p);
    free(p);
}

static void variable(const char *path)
{
    static const int kinds[] = {V_VSTRING, V_SEQUENCE, V_NESTED, V_DEEP};
    drep_file *f = make(path, NULL);
    char name[20];

    for (int i = 0; i < 8; i++) {
        drep_type *type;
        drep_dataset *ds;

        snprintf(name, sizeof name, "/v%d", i);
        ds = of_kind(f, name, kinds[i % 4], 400, 64, i < 4 ? NULL : &trimmed, &type);
        fill_kind(ds, kinds[i % 4], type, 0, 400, 1);
        ok(drep_commit(f));
        fill_kind(ds, kinds[i % 4], type, 50, 200, 90);
        fill_kind(ds, kinds[i % 4], type, 60, 9, 7);
        drep_type_free(type);
    }
    ok(drep_close(f));
}

static void structs(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_type *type;
    drep_dataset *ds = of_kind(f, "/s", V_FLAT, 3000, 256, NULL, &type);

    fill_kind(ds, V_FLAT, type, 0, 3000, 1);
    fill_kind(ds, V_FLAT, type, 1000, 900, 5);
    drep_type_free(type);
    ok(drep_close(f));
}

static void objects(const char *path, const char *hint)
{
    drep_file *f = make(path, hint);
    const int64_t three = 3;
    char name[60];

    for (int i = 0; i < 300; i++) {
        const drep_spec spec =
            DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &three, .layout = DREP_COMPACT);
        drep_dataset *ds;

        snprintf(name, sizeof name, "/g%d/d%d", i % 17, i);
        if (i < 17) {
            name[strcspn(name + 1, "/") + 1] = '\0';
            ok(drep_group_create(f, name, 0));
            snprintf(name, sizeof name, "/g%d/d%d", i % 17, i);
        }
        ok(drep_dataset_create(f, name, &spec, &ds));
        ok(drep_write(ds, NULL, DREP_INT32_T, numbers + i, NULL));
        ok(drep_attr_write_string(f, name, "what", "a text that is somewhat longer than others"));
        ok(drep_attr_write_int64(f, name, "n", i));
        drep_dataset_close(ds);
        if (i % 100 == 99)
            ok(drep_commit(f));
    }
    ok(drep_close(f));
}

static void objects_spread(const char *path)
{
    objects(path, NULL);
}
static void objects_packed(const char *path)
{
    objects(path, "drep_pack=true");
}

/* Values that do not fit into a node. */
static void attributes_long(const char *path)
{
    drep_file *f = make(path, NULL);
    const int64_t n = 30000;

    for (int i = 0; i < 6; i++) {
        ok(drep_attr_write(f, "/", i % 2 ? "odd" : "even", DREP_INT32_T, 1, &n, numbers + i));
        if (i > 2)
            ok(drep_commit(f));
    }
    ok(drep_close(f));
}

static void copied(const char *path)
{
    const char *from = temp_path("from");
    drep_file *source = make(from, NULL), *f = make(path, NULL);

    box(plane(source, "/a", 200, 200, sixteen, &trimmed), 0, 0, 200, 200, 0);
    box(plane(source, "/b", 200, 200, NULL, NULL), 0, 0, 200, 200, 0);
    box(plane(source, "/c", 200, 200, sixteen, NULL), 9, 9, 100, 100, 0);
    ok(drep_commit(source));
    ok(drep_copy(source, "/", f, "/all", NULL));
    ok(drep_copy(f, "/all/a", f, "/again", NULL));
    ok(drep_close(source));
    ok(drep_close(f));
    unlink(from);
}

static void streamed(const char *path)
{
    const char *from = temp_path("from");
    drep_file *source = make(from, NULL), *f;
    drep_info *info = fixed_hints(NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    box(plane(source, "/a", 200, 200, sixteen, &trimmed), 0, 0, 200, 200, 0);
    ok(drep_commit(source));
    ok(drep_create_stream(fd, "external32", NULL, info, &f));
    ok(drep_copy(source, "/a", f, "/a", NULL));
    box(plane(f, "/b", 100, 100, sixteen, NULL), 0, 0, 100, 100, 0);
    ok(drep_close(f));
    close(fd);
    drep_info_free(info);
    ok(drep_close(source));
    unlink(from);
}

static void unsummed(const char *path)
{
    drep_file *f = make(path, "drep_checksum=deferred");

    box(plane(f, "/a", 300, 300, NULL, NULL), 0, 0, 300, 300, 0);
    box(plane(f, "/b", 300, 300, sixteen, NULL), 0, 0, 300, 300, 0);
    ok(drep_commit(f));
    ok(drep_seal(f, NULL));
    ok(drep_close(f));
}

/* What a write that fails in the middle had placed is free again. */
static void failed(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 96, 96, sixteen, &picky);

    box(a, 0, 0, 96, 96, 0);
    ok(drep_commit(f));
    numbers[48 * 96] = -0x11ffffff; /* begins with ee */
    fails(drep_write(a, NULL, DREP_INT32_T, numbers, NULL), DREP_ERR_CONVERSION);
    numbers[48 * 96] = 0;
    box(plane(f, "/b", 96, 96, sixteen, NULL), 0, 0, 96, 96, 0);
    box(a, 0, 0, 40, 96, 3);
    drep_close(f);
}

static void abandoned(const char *path)
{
    drep_file *f = make(path, NULL);
    drep_dataset *a = plane(f, "/a", 96, 96, sixteen, NULL);

    box(a, 0, 0, 96, 96, 0);
    ok(drep_close(f));
    for (int i = 1; i < 4; i++) {
        f = reopen(path);
        ok(drep_dataset_open(f, "/a", &a));
        box(a, 0, 0, 50, 96, i);
        if (i == 2)
            drep_abandon(f);
        else
            ok(drep_close(f));
    }
}

/* Datasets of other representations in one file. */
static void mixed(const char *path)
{
    static const char *const reps[] = {"native:s390x", "native:i386", "small", "internal"};
    drep_file *f = make(path, NULL);
    const int64_t dims[] = {90, 90};
    char name[20];

    for (int i = 0; i < 4; i++) {
        const drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .datarep = reps[i], .rank = 2,
                                         .dims = dims, .layout = DREP_CHUNKED, .chunk = sixteen);
        drep_dataset *ds;

        snprintf(name, sizeof name, "/%d", i);
        ok(drep_dataset_create(f, name, &spec, &ds));
        box(ds, 0, 0, 90, 90, i);
        box(ds, 5, 5, 60, 33, 2 * i);
    }
    ok(drep_close(f));
}

/* ---- against the table ---- */

static const struct program {
    const char *name;
    void (*run)(const char *path);
} programs[] = {
#define PROGRAM(name) \
    {                 \
#name, name   \
    }
    PROGRAM(contiguous_whole),
    PROGRAM(contiguous_pieces),
    PROGRAM(contiguous_strided),
    PROGRAM(contiguous_again),
    PROGRAM(chunks_many),
    PROGRAM(chunks_partial),
    PROGRAM(chunks_backwards),
    PROGRAM(chunks_strided),
    PROGRAM(chunks_by_points),
    PROGRAM(chunks_again),
    PROGRAM(filtered_whole),
    PROGRAM(filtered_partial),
    PROGRAM(filtered_again),
    PROGRAM(filtered_small_cache),
    PROGRAM(threads_1),
    PROGRAM(threads_2),
    PROGRAM(threads_8),
    PROGRAM(holes),
    PROGRAM(keeps_1),
    PROGRAM(keeps_5),
    PROGRAM(reserved),
    PROGRAM(appended),
    PROGRAM(daily_plain),
    PROGRAM(daily_filtered),
    PROGRAM(sized),
    PROGRAM(variable),
    PROGRAM(structs),
    PROGRAM(objects_spread),
    PROGRAM(objects_packed),
    PROGRAM(attributes_long),
    PROGRAM(copied),
    PROGRAM(streamed),
    PROGRAM(unsummed),
    PROGRAM(failed),
    PROGRAM(abandoned),
    PROGRAM(mixed),
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static const struct placed {
    const char *name;
    long size;
    const char *hash; /* XXH3-128, as xxh128sum prints it */
} placed[] = {
#define PLACED(name, size, hash) {#name, size, hash},
#include "tests/vectors/placement.def"
#undef PLACED
};

static char *file_hash(const char *path, long *size)
{
    static char text[33];
    size_t n;
    uint8_t *p = read_whole_file(path, &n);
    XXH128_hash_t hash = XXH3_128bits(p, n);

    free(p);
    *size = (long)n;
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    return text;
}

static void check_whole(const char *path)
{
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    check_file(f);
    ok(drep_close(f));
}

static const char *make_one(int i, long *size)
{
    const char *path = temp_path(programs[i].name), *hash;

    for (int32_t n = 0; n < MANY; n++) /* many chunks end with zeros */
        numbers[n] = n / 16 % 3 ? n % 251 : 0;
    programs[i].run(path);
    check_whole(path);
    hash = file_hash(path, size);
    unlink(path);
    return hash;
}

START_TEST(test_D53_bytes_stand_where_they_stood)
{
    const struct placed *want = placed;
    const char *hash;
    long size;

    while (want < placed + sizeof placed / sizeof placed[0] &&
           strcmp(want->name, programs[_i].name) != 0)
        want++;
    ck_assert_msg(want < placed + sizeof placed / sizeof placed[0], "%s: not in placement.def",
                  programs[_i].name);
    hash = make_one(_i, &size);
    ck_assert_msg(strcmp(hash, want->hash) == 0 && size == want->size,
                  "%s: a file of %ld bytes with hash %s, not %ld bytes with %s", want->name, size,
                  hash, want->size, want->hash);
}
END_TEST

static void begin(void)
{
    static bool done;

    register_datareps();
    if (!done)
        ok(drep_register_filter("trim", trim, untrim, NULL, 0));
    done = true;
}

/* Instead of the above: writes the table. */
START_TEST(update)
{
    FILE *out = fopen(getenv("UPDATE"), "w");
    long size;

    ck_assert_ptr_nonnull(out);
    fputs("/* placement.def - what tests/unit/test_placement.c makes, which wrote this. */\n", out);
    for (int i = 0; i < PROGRAMS; i++) {
        const char *hash = make_one(i, &size);

        fprintf(out, "PLACED(%s, %ld, \"%s\")\n", programs[i].name, size, hash);
    }
    ck_assert_int_eq(fclose(out), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("placement");
    TCase *t = tcase_create("placement");

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, begin, NULL);
    if (getenv("UPDATE") != NULL)
        tcase_add_test(t, update);
    else
        tcase_add_loop_test(t, test_D53_bytes_stand_where_they_stood, 0, PROGRAMS);
    suite_add_tcase(s, t);
    return run_suite(s);
}
