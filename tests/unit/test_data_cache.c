/* test_data_cache.c - elements through the chunk cache, whatever its size: random writes,
 * appends, unions and failures against plain arrays; and elements where they lie in the file. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "data_model.h"

#include <stdatomic.h>

#define DATASETS 6
#define OPS 700 /* with each cache under each representation */

/* ---- random calls against plain arrays ---- */

struct run {
    struct rnd r;
    drep_file *f;
    const char *path, *datarep, *cache;
    drep_type *type[DATASETS];
    struct m_object now[DATASETS], committed[DATASETS];
    struct choice choice;
    uint32_t v[2 * ELEMENTS];
    _Alignas(16) uint8_t buf[2 * ELEMENTS * VALUE_ROOM];
};

static const char *const caches[] = {"0", "3000", "40000", "67108864"};
enum { CACHES = sizeof caches / sizeof *caches };

static uint64_t below(struct run *t, uint64_t n)
{
    return rnd_below(&t->r, n);
}

static drep_info *run_hints(struct run *t)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);

    ok(drep_info_set(info, "drep_cache_size", t->cache));
    ok(drep_info_set(info, "drep_threads", below(t, 2) ? "1" : "3"));
    return info;
}

static drep_dataset *dataset(struct run *t, int i)
{
    char name[2] = {(char)('a' + i), '\0'};
    drep_dataset *ds;

    ok(drep_dataset_open(t->f, name, &ds));
    return ds;
}

static void make_values(struct run *t, int i, int64_t n)
{
    int64_t extent = drep_type_extent(t->type[i]);

    memset(t->buf, 0, (size_t)(n * extent));
    for (int64_t k = 0; k < n; k++) {
        t->v[k] = below(t, 4) == 0 ? 0 : (uint32_t)below(t, 2000);
        value_make(t->now[i].type, t->v[k], t->buf + k * extent);
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Two boxes at once: what is in both comes once, in row-major order. */
static void choose_union(const struct m_object *o, struct rnd *r, struct choice *c)
{
    static struct choice other;
    drep_selection *both;
    int64_t n = 0;

    choose_box(o, r, c);
    for (int i = 1 + (int)rnd_below(r, 3); i > 0; i--) {
        choose_box(o, r, &other);
        ok(drep_select_union(c->sel, other.sel, &both));
        drep_selection_free(c->sel);
        drep_selection_free(other.sel);
        c->sel = both;
        memcpy(c->at + c->n, other.at, (size_t)other.n * sizeof *c->at);
        c->n += other.n;
        qsort(c->at, (size_t)c->n, sizeof *c->at, by_number);
        n = 0;
        for (int64_t k = 0; k < c->n; k++)
            if (n == 0 || c->at[n - 1] != c->at[k])
                c->at[n++] = c->at[k];
        c->n = n;
        ck_assert_int_eq(drep_selection_count(both), n);
    }
}

static void choose_any(struct run *t, int i)
{
    if (t->now[i].rank > 0 && below(t, 4) == 0)
        choose_union(&t->now[i], &t->r, &t->choice);
    else
        choose(&t->now[i], &t->r, &t->choice);
}

static void look(struct run *t, int i)
{
    size_t extent = (size_t)drep_type_extent(t->type[i]);
    struct m_object *o = &t->now[i];
    drep_dataset *ds = dataset(t, i);

    choose_any(t, i);
    memset(t->buf, 0xee, (size_t)t->choice.n * extent);
    ok(drep_read(ds, t->choice.sel, NULL, t->buf, NULL));
    for (int64_t k = 0; k < t->choice.n; k++)
        ck_assert_msg(
            value_is(o->type, t->type[i], o->value[t->choice.at[k]], t->buf + (size_t)k * extent),
            "%s, cache %s, seed %llu: dataset %d: element %d is not value %u", t->datarep, t->cache,
            (unsigned long long)t->r.seed, i, (int)t->choice.at[k], o->value[t->choice.at[k]]);
    drep_vlen_free(t->type[i], t->choice.n, t->buf);
    drep_selection_free(t->choice.sel);
    drep_dataset_close(ds);
}

/* fail: from some allocation on, one may be missing; then nothing has changed. */
static void do_write(struct run *t, int i, bool fail)
{
    drep_dataset *ds = dataset(t, i);
    int err;

    choose_any(t, i);
    make_values(t, i, t->choice.n);
    if (fail)
        mem_fail_at((int64_t)below(t, 60));
    err = drep_write(ds, t->choice.sel, NULL, t->buf, NULL);
    mem_fail_at(-1);
    ck_assert_msg(err == 0 || (fail && err == DREP_ERR_NOMEM), "%s", drep_error());
    for (int64_t k = 0; err == 0 && k < t->choice.n; k++)
        t->now[i].value[t->choice.at[k]] = t->v[k];
    drep_vlen_free(t->type[i], t->choice.n, t->buf);
    drep_selection_free(t->choice.sel);
    drep_dataset_close(ds);
}

static void do_append(struct run *t, int i, bool fail)
{
    struct m_object *o = &t->now[i], before = *o;
    int d = (int)below(t, (uint64_t)o->rank), err;
    int64_t dims[4], n = (int64_t)below(t, 4), count = 1, at = 0;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    memcpy(dims, o->dims, sizeof dims);
    dims[d] += n;
    for (int k = 0; k < o->rank; k++)
        count *= k == d ? n : dims[k];
    if (elements(o) + count > ELEMENTS || (d > 0 && o->layout == DREP_CONTIGUOUS))
        return;
    ds = dataset(t, i);
    make_values(t, i, count);
    if (fail)
        mem_fail_at((int64_t)below(t, 60));
    err = drep_append(ds, d, n, NULL, t->buf, NULL);
    mem_fail_at(-1);
    ck_assert_msg(err == 0 || (fail && err == DREP_ERR_NOMEM), "%s", drep_error());
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[d], err == 0 ? dims[d] : o->dims[d]);
    drep_vlen_free(t->type[i], count, t->buf);
    if (err != 0)
        ok(drep_dataset_resize(ds, o->dims)); /* appending goes on here */
    drep_dataset_close(ds);
    if (err != 0)
        return;
    model_reshape(o, dims);
    for (int64_t k = 0; k < elements(o); k++) { /* the new ones, in order */
        int64_t left = k, where = 0;

        for (int e = o->rank - 1; e >= 0; e--) {
            where = e == d ? left % dims[e] : where;
            left /= dims[e];
        }
        if (where >= before.dims[d])
            o->value[k] = t->v[at++];
    }
    ck_assert_int_eq(at, count);
}

static void do_resize(struct run *t, int i)
{
    struct m_object *o = &t->now[i];
    int64_t dims[4];
    drep_dataset *ds;

    memcpy(dims, o->dims, sizeof dims);
    for (int d = 0; d < o->rank; d++)
        if (d == 0 || o->layout != DREP_CONTIGUOUS)
            dims[d] = (int64_t)below(t, (uint64_t)o->dims[d] + 3);
    if (o->rank > 0 && dims[0] * (o->rank > 1 ? dims[1] : 1) > ELEMENTS)
        return;
    ds = dataset(t, i);
    ok(drep_dataset_resize(ds, dims));
    drep_dataset_close(ds);
    model_reshape(o, dims);
}

static void reopen(struct run *t)
{
    drep_info *info = run_hints(t);

    drep_abandon(t->f);
    memcpy(t->now, t->committed, sizeof t->now);
    ok(drep_open(t->path, DREP_RDWR, info, &t->f));
    drep_info_free(info);
    for (int i = 0; i < DATASETS; i++)
        look(t, i);
}

static void step(struct run *t)
{
    int i = (int)below(t, DATASETS);
    uint64_t what = below(t, 100);

    if (what < 40) {
        do_write(t, i, false);
    } else if (what < 50) {
        do_write(t, i, true);
        look(t, i);
    } else if (what < 55) {
        do_append(t, i, what < 52);
        look(t, i);
    } else if (what < 58) {
        do_resize(t, i);
    } else if (what < 94) {
        look(t, i);
    } else if (what < 98) {
        ok(drep_commit(t->f));
        memcpy(t->committed, t->now, sizeof t->now);
    } else {
        reopen(t);
    }
}

static void create_dataset(struct run *t, int i)
{
    static const int kinds[DATASETS] = {V_INT, V_DEEP, V_SHORT, V_VSTRING, V_FLAT, V_DOUBLE};
    static const int64_t max[2] = {DREP_UNLIMITED, DREP_UNLIMITED};
    const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE, 1}};
    int64_t chunk[2] = {3, 4}, dims[2] = {20, 17};
    struct m_object *o = &t->now[i];
    char name[2] = {(char)('a' + i), '\0'};
    drep_spec spec = DREP_SPEC(.rank = 2, .dims = dims, .maxdims = max, .layout = DREP_CHUNKED);
    int64_t grows[2] = {DREP_UNLIMITED, 17};
    drep_dataset *ds;

    t->type[i] = value_type(kinds[i]);
    spec.type = t->type[i];
    spec.chunk = chunk;
    spec.nfilters = i == 0 || i == 1 || i == 4 ? drep_filter_available(DREP_FILTER_DEFLATE) + 1 : 0;
    spec.filters = spec.nfilters > 0 ? filters : NULL;
    *o = (struct m_object){.used = true, .type = kinds[i], .rank = 2, .layout = DREP_CHUNKED};
    if (i == DATASETS - 1) {
        spec.layout = o->layout = DREP_CONTIGUOUS;
        spec.chunk = NULL;
        spec.maxdims = grows;
    }
    memcpy(o->dims, dims, sizeof dims);
    ok(drep_dataset_create(t->f, name, &spec, &ds));
    drep_dataset_close(ds);
}

START_TEST(test_D11_whatever_the_cache_holds)
{
    static struct run t;
    const char *seed = getenv("DREP_TEST_SEED");
    drep_info *info;

    register_datareps();
    memset(&t, 0, sizeof t);
    t.datarep = datareps[_i / CACHES * 2]; /* external32, native, small */
    t.cache = caches[_i % CACHES];
    t.path = temp_path("cache");
    rnd_init(&t.r, seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)_i + 1);
    info = run_hints(&t);
    ok(drep_create(t.path, DREP_RDWR, t.datarep, info, &t.f));
    drep_info_free(info);
    for (int i = 0; i < DATASETS; i++)
        create_dataset(&t, i);
    ok(drep_commit(t.f));
    memcpy(t.committed, t.now, sizeof t.now);
    for (int i = share_of(OPS); i > 0; i--) {
        mark_point();
        step(&t);
    }
    check_file(t.f);
    memcpy(t.committed, t.now, sizeof t.now);
    reopen(&t);
    check_file(t.f);
    drep_abandon(t.f);
    for (int i = 0; i < DATASETS; i++)
        drep_type_free(t.type[i]);
}
END_TEST

/* A slab that grows is not copied for each append: its bytes are written about once. */
START_TEST(test_appends_to_a_contiguous_dataset)
{
    const int64_t none = 0, max = DREP_UNLIMITED, n = 3000;
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &max,
                                     .layout = DREP_CONTIGUOUS);
    const char *path = temp_path("appends");
    drep_file *f = new_file(path, "external32");
    double row[100], *back = malloc((size_t)n * sizeof row);
    drep_dataset *ds;
    drep_usage u = DREP_USAGE;

    ok(drep_dataset_create(f, "d", &spec, &ds));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 100; k++)
            row[k] = i * 100 + k;
        ok(drep_append(ds, 0, 100, NULL, row, NULL));
    }
    ok(drep_read(ds, NULL, NULL, back, NULL));
    for (int i = 0; i < n * 100; i++)
        ck_assert_double_eq(back[i], i);
    drep_dataset_close(ds);
    check_file(f);
    ok(drep_usage_get(f, &u));
    ck_assert_int_lt(u.file, n * (int64_t)sizeof row + (1 << 20));
    drep_abandon(f);
    free(back);
}
END_TEST

/* ---- space ---- */

enum { SLABS = 3072, SLAB = 512 }; /* of a page */

/* Overwrites n elements anywhere, one by one or as points; how many slabs that touched. */
static int64_t scatter(drep_dataset *ds, double *v, struct rnd *r, int n)
{
    bool slab[SLABS] = {false}, points = rnd_below(r, 2);
    int64_t at[64], count = 1, touched = 0;
    double value[64];

    for (int i = 0; i < n; i++) {
        at[i] = (int64_t)rnd_below(r, (uint64_t)SLABS * SLAB);
        value[i] = (double)rnd_below(r, 1000);
        touched += !slab[at[i] / SLAB];
        slab[at[i] / SLAB] = true;
        v[at[i]] = value[i];
    }
    for (int i = 0; i < n; i += points ? n : 1) {
        drep_selection *sel;

        if (points)
            ok(drep_select_points(1, n, at, &sel));
        else
            ok(drep_select_box(1, at + i, &count, NULL, NULL, &sel));
        ok(drep_write(ds, sel, NULL, value + i, NULL));
        drep_selection_free(sel);
    }
    return touched;
}

static int note_end(const drep_commitinfo *commit, void *ctx)
{
    *(int64_t *)ctx = (int64_t)commit->end;
    return 0;
}

/* Committed elements that are overwritten here and there: the file holds what is in it and what
 * two transactions changed, not more, however many come. */
START_TEST(test_scattered_overwriting_keeps_the_file_small)
{
    const int64_t n = (int64_t)SLABS * SLAB, slab = SLAB * (int64_t)sizeof(double);
    double *v = calloc((size_t)n, sizeof *v), *back = malloc((size_t)n * sizeof *v);
    drep_file *f = new_file(temp_path("scattered"), "internal");
    drep_dataset *ds = new_dataset(f, "d", DREP_DOUBLE, 1, &n);
    int64_t touched = 0, before, most = 0, end, longest = 0;
    struct rnd r;

    rnd_init(&r, 77 + (uint64_t)_i);
    ok(drep_write(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < 200; i++) {
        ok(drep_commit(f));
        ok(drep_log(f, note_end, &end)); /* the newest comes last */
        longest = end > longest ? end : longest;
        before = touched;
        touched = scatter(ds, v, &r, _i == 0 ? 4 : 1 + (int)rnd_below(&r, 64));
        most = before + touched > most ? before + touched : most;
    }
    check_file(f);
    ck_assert_int_le(longest, n * (int64_t)sizeof *v + (most + 4) * slab + (512 << 10));
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_int_eq(memcmp(v, back, (size_t)n * sizeof *v), 0);
    drep_dataset_close(ds);
    drep_abandon(f);
    free(v);
    free(back);
}
END_TEST

/* ---- columns of a contiguous dataset ---- */

enum { ROWS = 1200, COLUMNS = 512 }; /* a row is a slab */

static double cell(int64_t i)
{
    return (double)(i % 1000003) * 0.5;
}

static void put_column(drep_dataset *ds, double *v, int64_t column, int64_t every, double value,
                       int want)
{
    const int64_t at[] = {0, column}, n[] = {ROWS / every, 1}, stride[] = {every, 1};
    double values[ROWS];
    drep_selection *sel;

    for (int64_t i = 0; i < n[0]; i++)
        values[i] = value + (double)i;
    if (want != 0)
        values[n[0] - 1] = 1e300; /* does not fit */
    for (int64_t i = 0; want == 0 && i < n[0]; i++)
        v[i * every * COLUMNS + column] = values[i];
    ok(drep_select_box(2, at, n, stride, NULL, &sel));
    fails(drep_write(ds, sel, DREP_DOUBLE, values, &DREP_XFER(.range = DREP_RANGE_STRICT)), want);
    drep_selection_free(sel);
}

static void same_plane(drep_file *f, const double *v)
{
    float *back = malloc((size_t)ROWS * COLUMNS * sizeof *back);
    drep_dataset *ds;

    ok(drep_dataset_open(f, "d", &ds));
    ok(drep_read(ds, NULL, DREP_FLOAT, back, NULL));
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        ck_assert_msg(back[i] == (float)v[i], "element %lld", (long long)i);
    drep_dataset_close(ds);
    free(back);
}

/* A column touches every slab, or every third, or every tenth: what is between stays, a write that
 * fails leaves nothing, and a damaged slab hinders no write of others. */
START_TEST(test_D14_columns_of_a_contiguous_dataset)
{
    const int64_t dims[] = {ROWS, COLUMNS}, every[] = {1, 3, 10};
    const char *path = temp_path("columns");
    double *v = malloc((size_t)ROWS * COLUMNS * sizeof *v);
    drep_file *f = new_file(path, _i ? "external32" : "native"), *old;
    drep_dataset *ds = new_dataset(f, "d", DREP_FLOAT, 2, dims);
    double *first = malloc((size_t)ROWS * COLUMNS * sizeof *first);

    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        first[i] = v[i] = (float)cell(i);
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    ok(drep_commit(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &old));
    for (int k = 0; k < 3; k++) {
        put_column(ds, v, 7 + k, every[k], 1000 * k, 0);
        put_column(ds, v, 20 + k, every[k], 0, DREP_ERR_CONVERSION);
        same_plane(f, v);
        same_plane(old, first);
        ok(drep_commit(f));
        same_plane(old, first);
        put_column(ds, v, 30 + k, every[2 - k], 50 * k, 0);
        put_column(ds, v, 30 + k, every[k], 0, DREP_ERR_CONVERSION);
        same_plane(f, v);
    }
    check_file(f);
    drep_abandon(old);
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(first);
    free(v);
}
END_TEST

START_TEST(test_a_column_beside_a_damaged_slab)
{
    const int64_t dims[] = {ROWS, COLUMNS}, at[] = {0, 5}, n[] = {ROWS / 3, 1}, stride[] = {3, 1};
    const char *path = temp_path("damaged column");
    double *v = malloc((size_t)ROWS * COLUMNS * sizeof *v), value;
    const int64_t bad[] = {100, 9}, beside[] = {99, 5}, one[] = {1, 1};
    drep_file *f = new_file(path, "native");
    drep_dataset *ds = new_dataset(f, "d", DREP_DOUBLE, 2, dims);
    drep_selection *sel;
    FILE *file;
    long place = 0;

    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        v[i] = (double)i;
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    file = fopen(path, "r+b");
    for (double got; place == 0 && fread(&got, sizeof got, 1, file) == 1;)
        if (got == (double)(bad[0] * COLUMNS + bad[1]))
            place = ftell(file) - (long)sizeof got;
    ck_assert_int_gt(place, 0);
    fseek(file, place, SEEK_SET);
    fputc(0x55, file);
    fclose(file);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    for (int i = 0; i < ROWS / 3; i++)
        v[i] = -i;
    ok(drep_select_box(2, at, n, stride, NULL, &sel));
    ok(drep_write(ds, sel, NULL, v, NULL));
    drep_selection_free(sel);
    ok(drep_read_box(ds, beside, one, NULL, &value, NULL));
    ck_assert_double_eq(value, -33);
    fails(drep_read_box(ds, bad, one, NULL, &value, NULL), DREP_ERR_CHECKSUM);
    ok(drep_commit(f));
    fails(drep_read_box(ds, bad, one, NULL, &value, NULL), DREP_ERR_CHECKSUM);
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(v);
}
END_TEST

/* Appends, each a commit: the last slab moves each time, and what it leaves is used again. */
START_TEST(test_appends_and_commits_keep_the_file_small)
{
    const int64_t none = 0, max = DREP_UNLIMITED, slab = SLAB * (int64_t)sizeof(double);
    const int64_t some = 2000 + 11000 * _i, n = 4000000 / some * some;
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &max,
                                     .layout = DREP_CONTIGUOUS);
    double *v = malloc((size_t)some * sizeof *v), back;
    drep_file *f = new_file(temp_path("logged"), "internal");
    drep_selection *last;
    drep_dataset *ds;
    int64_t end;

    ok(drep_dataset_create(f, "d", &spec, &ds));
    for (int64_t i = 0; i < n; i += some) {
        for (int64_t k = 0; k < some; k++)
            v[k] = (double)(i + k);
        ok(drep_append(ds, 0, some, NULL, v, NULL));
        ok(drep_commit(f));
    }
    ok(drep_log(f, note_end, &end));
    ck_assert_int_le(end, n * (int64_t)sizeof *v / 100 * 101 + 6 * slab);
    for (int64_t i = 0; i < n; i += n / 100) {
        ok(drep_select_box(1, &i, (const int64_t[]){1}, NULL, NULL, &last));
        ok(drep_read(ds, last, NULL, &back, NULL));
        ck_assert_double_eq(back, (double)i);
        drep_selection_free(last);
    }
    check_file(f);
    drep_dataset_close(ds);
    drep_abandon(f);
    free(v);
}
END_TEST

/* ---- how often chunks are encoded and decoded ---- */

enum { CACHED = 32, CHUNK = 8192 }; /* chunks of 64 KiB that the cache holds */

static atomic_int encoded, decoded;

static int plain_bytes(atomic_int *count, const void *in, size_t in_size, void *out,
                       size_t *out_size)
{
    size_t room = *out_size;

    atomic_fetch_add(count, 1);
    *out_size = in_size;
    if (in_size <= room)
        memcpy(out, in, in_size);
    return 0;
}

static int count_encode(const uint32_t *params, int nparams, const void *in, size_t in_size,
                        void *out, size_t *out_size, void *extra)
{
    (void)params;
    (void)nparams;
    (void)extra;
    return plain_bytes(&encoded, in, in_size, out, out_size);
}

static int count_decode(const uint32_t *params, int nparams, const void *in, size_t in_size,
                        void *out, size_t *out_size, void *extra)
{
    (void)params;
    (void)nparams;
    (void)extra;
    return plain_bytes(&decoded, in, in_size, out, out_size);
}

static void counted_known(void)
{
    static int known;

    if (known++ == 0)
        ok(drep_register_filter("counted", count_encode, count_decode, NULL,
                                DREP_FILTER_KEEP | DREP_FILTER_NO_SUM));
}

/* A file with a committed dataset of so many chunks. */
static drep_dataset *counted_dataset(int64_t chunks, drep_file **f)
{
    drep_info *info =
        hints("drep_sync=none", "drep_cache_size=2097152", "drep_threads=2", (char *)NULL);
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "counted"};
    const int64_t n = chunks * CHUNK, chunk = CHUNK;
    const drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n, .layout = DREP_CHUNKED,
                  .chunk = &chunk, .filters = &filter, .nfilters = 1);
    double *zeros = calloc((size_t)n, sizeof *zeros);
    drep_dataset *ds;

    ok(drep_create(temp_path("counted"), DREP_RDWR, "native", info, f));
    ok(drep_dataset_create(*f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, zeros, NULL));
    ok(drep_commit(*f));
    drep_info_free(info);
    free(zeros);
    encoded = 0;
    decoded = 0;
    return ds;
}

/* Writes of `points` elements anywhere; what that costs for each, in encodings and decodings,
 * before the commit. */
static void write_anywhere(int64_t chunks, int writes, int points, double *encodes, double *decodes)
{
    const int64_t n = chunks * CHUNK;
    double *v = calloc((size_t)n, sizeof *v), *back = calloc((size_t)n, sizeof *v), value[100];
    int64_t at[100];
    drep_file *f;
    drep_dataset *ds = counted_dataset(chunks, &f);
    drep_selection *sel;
    struct rnd r;

    rnd_init(&r, (uint64_t)chunks);
    for (int i = 0; i < writes; i++) {
        for (int k = 0; k < points; k++) {
            at[k] = (int64_t)rnd_below(&r, (uint64_t)n);
            v[at[k]] = value[k] = i + 1;
        }
        ok(drep_select_points(1, points, at, &sel));
        ok(drep_write(ds, sel, NULL, value, NULL));
        drep_selection_free(sel);
    }
    *encodes = (double)encoded / writes;
    *decodes = (double)decoded / writes;
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_int_eq(memcmp(v, back, (size_t)n * sizeof *v), 0);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
    free(v);
    free(back);
}

/* As long as the chunks that are written to find room in the cache, each is decoded once, and
 * none encoded before the commit; beyond that, the cache still does what part of them it holds. */
START_TEST(test_small_writes_do_not_decode_again)
{
    double encodes, decodes;

    counted_known();
    for (int points = 1; points <= 100; points += 99) {
        write_anywhere(CACHED * 3 / 4, 600, points, &encodes, &decodes);
        ck_assert_double_eq(encodes, 0);
        ck_assert_double_le(decodes, CACHED * 0.75 / 600);
    }
    write_anywhere(CACHED * 3 / 2, 2000, 1, &encodes, &decodes); /* 1/3 is not to be had */
    ck_assert_double_le(decodes, 0.40);
    ck_assert_double_le(encodes, 0.52);
    write_anywhere(CACHED * 2, 2000, 1, &encodes, &decodes); /* 1/2 */
    ck_assert_double_le(decodes, 0.57);
    ck_assert_double_le(encodes, 0.66);
}
END_TEST

/* Of a dataset that fits into the cache chunks that are read are kept, but not when a call reads
 * all of a large one: then nobody is likely to ask again. */
START_TEST(test_a_read_of_all_keeps_little)
{
    enum { SMALL = 8, LARGE = (4 << 20) / (CHUNK * 8) };
    double *v = malloc((size_t)LARGE * CHUNK * sizeof *v);
    drep_info *info = hints("drep_cache_size=16777216", (char *)NULL);

    counted_known();
    for (int chunks = SMALL; chunks <= LARGE; chunks += LARGE - SMALL) {
        const int64_t from = 0, half = (int64_t)chunks / 2 * CHUNK, n = (int64_t)chunks * CHUNK;
        drep_file *f;
        drep_dataset *ds = counted_dataset(chunks, &f);

        for (int64_t i = 0; i < n; i++)
            v[i] = (double)i;
        ok(drep_write(ds, NULL, NULL, v, NULL));
        drep_dataset_close(ds);
        ok(drep_close(f));
        ok(drep_open(temp_path("counted"), DREP_RDONLY, info, &f));
        ok(drep_dataset_open(f, "d", &ds));
        decoded = 0;
        for (int k = 0; k < 2; k++)
            ok(drep_read_box(ds, &from, &half, NULL, v, NULL));
        ck_assert_int_eq(decoded, chunks / 2);
        for (int k = 0; k < 2; k++)
            ok(drep_read(ds, NULL, NULL, v, NULL));
        ck_assert_double_eq(v[n - 1], (double)n - 1);
        ck_assert_int_eq(decoded, chunks + (chunks == LARGE ? chunks / 2 : 0));
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    drep_info_free(info);
    free(v);
}
END_TEST

/* ---- unions ---- */

START_TEST(test_unions_that_are_none)
{
    const int64_t start[] = {0, 0}, count[] = {2, 3};
    drep_selection *box, *line, *points, *none, *out = NULL;

    ok(drep_select_box(2, start, count, NULL, NULL, &box));
    ok(drep_select_box(1, start, count, NULL, NULL, &line));
    ok(drep_select_points(2, 1, start, &points));
    ok(drep_select_box(2, start, (int64_t[]){0, 5}, NULL, NULL, &none));
    fails(drep_select_union(NULL, box, &out), DREP_ERR_ARG);
    fails(drep_select_union(box, box, NULL), DREP_ERR_ARG);
    fails(drep_select_union(box, line, &out), DREP_ERR_DIMS);
    fails(drep_select_union(box, points, &out), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(drep_select_union(points, box, &out), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_null(out);
    ok(drep_select_union(box, none, &out));
    ck_assert_int_eq(drep_selection_count(out), 6);
    drep_selection_free(out);
    ok(drep_select_union(none, none, &out));
    ck_assert_int_eq(drep_selection_count(out), 0);
    drep_selection_free(out);
    for (int n = 0;; n++) {
        int err;

        mem_fail_at(n);
        err = drep_select_union(box, box, &out);
        mem_fail_at(-1);
        if (err == 0)
            break;
        ck_assert_int_eq(err, DREP_ERR_NOMEM);
    }
    ck_assert_int_eq(drep_selection_count(out), 6);
    drep_selection_free(out);
    drep_selection_free(none);
    drep_selection_free(points);
    drep_selection_free(line);
    drep_selection_free(box);
}
END_TEST

/* Boxes without number take no memory but their own. */
START_TEST(test_union_of_wide_boxes)
{
    const int64_t huge[] = {(int64_t)1 << 30, (int64_t)1 << 30}, start[] = {7, 9}, near[] = {0, 0};
    drep_selection *a, *b, *all;

    ok(drep_select_box(2, start, huge, NULL, NULL, &a));
    ok(drep_select_box(2, near, huge, NULL, NULL, &b));
    ok(drep_select_union(a, b, &all));
    ck_assert_int_eq(drep_selection_count(all),
                     2 * huge[0] * huge[1] - (huge[0] - 7) * (huge[1] - 9));
    drep_selection_free(all);
    drep_selection_free(b);
    drep_selection_free(a);
}
END_TEST

/* ---- elements where they lie ---- */

#define N 300000 /* more than a slab */

static drep_dataset *series(drep_file *f, const char *name, const drep_type *type, int64_t n)
{
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &n, .layout = DREP_CONTIGUOUS);
    drep_dataset *ds;

    ok(drep_dataset_create(f, name, &spec, &ds));
    return ds;
}

START_TEST(test_map_is_what_read_gives)
{
    static const char *const files[] = {":memory:", NULL};
    double *v = malloc(N * sizeof *v), *back = malloc(N * sizeof *v);
    const char *path = temp_path("map");
    const void *data, *again;
    drep_dataset *ds, *empty;
    drep_file *f;
    size_t size;

    for (int i = 0; i < N; i++)
        v[i] = i * 0.75;
    for (int k = 0; k < 2; k++) {
        f = new_file(files[k] != NULL ? files[k] : path, "native");
        ds = series(f, "d", DREP_DOUBLE, N);
        ok(drep_write(ds, NULL, NULL, v, NULL));
        for (int flags = 0; flags < 2; flags++) {
            ok(drep_dataset_map(ds, (unsigned)flags, &data, &size));
            ck_assert_uint_eq(size, N * sizeof *v);
            ck_assert_int_eq(memcmp(data, v, size), 0);
            ok(drep_dataset_map(ds, 0, &again, &size)); /* two at once */
            ok(drep_read(ds, NULL, NULL, back, NULL));
            ck_assert_int_eq(memcmp(again, back, size), 0);
            ok(drep_dataset_unmap(ds, data));
            if (again != data)
                ok(drep_dataset_unmap(ds, again));
        }
        fails(drep_dataset_unmap(ds, v), DREP_ERR_ARG);
        fails(drep_dataset_map(ds, 2, &data, &size), DREP_ERR_ARG);
        fails(drep_dataset_map(ds, 0, NULL, &size), DREP_ERR_ARG);
        empty = series(f, "e", DREP_DOUBLE, 0);
        ok(drep_dataset_map(empty, 0, &data, &size));
        ck_assert(data == NULL && size == 0);
        ok(drep_dataset_unmap(empty, data));
        drep_dataset_close(empty);
        ok(drep_dataset_map(ds, 0, &data, &size)); /* closing unmaps */
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    free(v);
    free(back);
}
END_TEST

/* A compound whose stored form is the compiler's. */
START_TEST(test_map_a_compound)
{
    struct pair {
        int16_t n;
        double x;
    } v[100];
    const char *const names[] = {"n", "x"};
    const int64_t offsets[] = {offsetof(struct pair, n), offsetof(struct pair, x)};
    const drep_type *const types[] = {DREP_INT16_T, DREP_DOUBLE};
    const void *data;
    drep_type *type;
    drep_dataset *ds;
    drep_file *f;
    size_t size;

    memset(v, 0, sizeof v);
    for (int i = 0; i < 100; i++) {
        v[i].n = (int16_t)i;
        v[i].x = i / 3.0;
    }
    ok(drep_type_compound(2, names, offsets, types, sizeof *v, &type));
    f = new_file(temp_path("pairs"), "native");
    ds = series(f, "d", type, 100);
    ok(drep_write(ds, NULL, NULL, v, NULL));
    ok(drep_dataset_map(ds, 0, &data, &size));
    ck_assert_uint_eq(size, sizeof v);
    ck_assert_int_eq(memcmp(data, v, sizeof v), 0);
    drep_type_free(type);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

static void refused(drep_dataset *ds, const char *why)
{
    const void *data = NULL;
    size_t size;

    fails(drep_dataset_map(ds, 0, &data, &size), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_msg(strstr(drep_error(), why) != NULL, "\"%s\" is not in \"%s\"", why, drep_error());
    ck_assert_ptr_null(data);
    drep_dataset_close(ds);
}

START_TEST(test_map_refuses_with_the_reason)
{
    const char *other = *(const char *)&(const short){1} ? "native:s390x" : "native:amd64";
    const int64_t n = 100, chunk = 10, at = 99, one = 1;
    drep_file *f = new_file(temp_path("refused"), "native");
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &n, .chunk = &chunk);
    drep_selection *last;
    drep_type *text;
    drep_dataset *ds;
    int v = 1;

    spec.layout = DREP_CHUNKED;
    ok(drep_dataset_create(f, "chunked", &spec, &ds));
    refused(ds, "only contiguous");
    ds = series(f, "unwritten", DREP_INT, 100);
    refused(ds, "slab 0 is not stored");
    ds = series(f, "half", DREP_INT, 1000000);
    ok(drep_select_box(1, &at, &one, NULL, NULL, &last));
    ok(drep_write(ds, last, NULL, &v, NULL));
    drep_selection_free(last);
    refused(ds, "not");
    ok(drep_type_vstring(&text));
    spec.type = text;
    spec.layout = DREP_LAYOUT_AUTO;
    spec.chunk = NULL;
    ok(drep_dataset_create(f, "text", &spec, &ds));
    refused(ds, "");
    drep_type_free(text);
    drep_abandon(f);
    f = new_file(temp_path("other"), other);
    ds = series(f, "d", DREP_INT, 100);
    refused(ds, "another form");
    drep_abandon(f);
}
END_TEST

/* A map is verified once; a file that was damaged before is not handed out. */
START_TEST(test_map_of_a_damaged_run)
{
    const char *path = temp_path("damaged");
    uint32_t *v = malloc(N * sizeof *v), seen;
    drep_file *f = new_file(path, "native");
    drep_dataset *ds = series(f, "d", DREP_UINT32_T, N);
    const void *data;
    size_t size;
    FILE *file;
    long at = 0;

    for (uint32_t i = 0; i < N; i++)
        v[i] = i * 2654435761u + 77;
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    while (fseek(file, at, SEEK_SET) == 0 && fread(&seen, 4, 1, file) == 1 && seen != v[N - 1])
        at += 4;
    ck_assert_uint_eq(seen, v[N - 1]);
    fseek(file, at, SEEK_SET);
    seen ^= 0x100;
    fwrite(&seen, 4, 1, file);
    fclose(file);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_dataset_map(ds, 0, &data, &size), DREP_ERR_CHECKSUM);
    ok(drep_dataset_map(ds, DREP_MAP_UNVERIFIED, &data, &size));
    ck_assert_uint_eq(((const uint32_t *)data)[N - 1], seen);
    fails(drep_dataset_map(ds, 0, &data, &size), DREP_ERR_CHECKSUM);
    drep_dataset_close(ds);
    drep_abandon(f);
    free(v);
}
END_TEST

/* ---- more than the cache holds ---- */

enum { FIELD = 1100, BOXES = 600 };

static void field_box(struct rnd *r, int64_t *start, int64_t *count)
{
    for (int d = 0; d < 2; d++) {
        count[d] = 1 + (int64_t)rnd_below(r, 70);
        start[d] = (int64_t)rnd_below(r, (uint64_t)(FIELD - count[d]));
    }
}

static drep_dataset *field_new(drep_file *f, const char *name, int64_t side)
{
    static const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE},
                                          {.id = DREP_FILTER_USER, .name = "counted"}};
    drep_dataset *ds;

    ok(drep_dataset_create(f, name,
                           &DREP_SPEC(.type = DREP_INT32_T, .rank = 2,
                                      .dims = (int64_t[]){FIELD, FIELD},
                                      .chunk = (int64_t[]){side, side}, .layout = DREP_CHUNKED,
                                      .filters = filters, .nfilters = 2),
                           &ds));
    return ds;
}

/* Chunks of two sizes, filtered, through a cache for a third of them: whatever is pushed out,
 * used again, taken out of its shuffle or changed, boxes are what the array has. */
START_TEST(test_random_boxes_of_more_than_the_cache)
{
    static int32_t now[2][FIELD][FIELD], buf[70 * 70];
    drep_info *info = hints("drep_sync=none", "drep_cache_size=6000000", (char *)NULL);
    drep_dataset *ds[2];
    struct rnd r;
    drep_file *f;

    rnd_init(&r, 23 + (uint64_t)_i);
    counted_known();
    ok(drep_create(temp_path("more"), DREP_RDWR, "internal", info, &f));
    ds[0] = field_new(f, "a", 160);
    ds[1] = field_new(f, "b", 370);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < FIELD * FIELD; i++)
            now[k][i / FIELD][i % FIELD] = i * 3 + (int32_t)rnd_below(&r, 99);
        ok(drep_write(ds[k], NULL, NULL, now[k], NULL));
    }
    for (int i = 0; i < BOXES; i++) {
        int k = (int)rnd_below(&r, 2), writes = rnd_below(&r, 3) == 0;
        drep_xfer xfer = DREP_XFER(.threads = 1 + (int)rnd_below(&r, 2));
        int64_t start[2], count[2];
        drep_selection *sel;
        size_t n = 0;

        field_box(&r, start, count);
        ok(drep_select_box(2, start, count, NULL, NULL, &sel));
        for (int64_t a = start[0]; writes && a < start[0] + count[0]; a++)
            for (int64_t b = start[1]; b < start[1] + count[1]; b++)
                buf[n++] = now[k][a][b] = (int32_t)rnd_u64(&r);
        ok(writes ? drep_write(ds[k], sel, NULL, buf, &xfer)
                  : drep_read(ds[k], sel, NULL, buf, &xfer));
        for (int64_t a = start[0]; a < start[0] + count[0]; a++)
            for (int64_t b = 0; !writes && b < count[1]; b++)
                ck_assert_int_eq(buf[n++], now[k][a][start[1] + b]);
        drep_selection_free(sel);
        if (rnd_below(&r, 100) == 0)
            ok(drep_commit(f));
    }
    drep_dataset_close(ds[0]);
    drep_dataset_close(ds[1]);
    ok(drep_close(f));
    drep_info_free(info);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data cache");
    TCase *t = tcase_create("cache");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_D11_whatever_the_cache_holds, 0, 3 * CACHES);
    tcase_add_test(t, test_appends_to_a_contiguous_dataset);
    tcase_add_loop_test(t, test_appends_and_commits_keep_the_file_small, 0, 3);
    tcase_add_test(t, test_small_writes_do_not_decode_again);
    tcase_add_test(t, test_a_read_of_all_keeps_little);
    tcase_add_loop_test(t, test_scattered_overwriting_keeps_the_file_small, 0, 3);
    tcase_add_loop_test(t, test_D14_columns_of_a_contiguous_dataset, 0, 2);
    tcase_add_test(t, test_a_column_beside_a_damaged_slab);
    tcase_add_loop_test(t, test_random_boxes_of_more_than_the_cache, 0, 2);
    tcase_add_test(t, test_unions_that_are_none);
    tcase_add_test(t, test_union_of_wide_boxes);
    tcase_add_test(t, test_map_is_what_read_gives);
    tcase_add_test(t, test_map_a_compound);
    tcase_add_test(t, test_map_refuses_with_the_reason);
    tcase_add_test(t, test_map_of_a_damaged_run);
    suite_add_tcase(s, t);
    return run_suite(s);
}
