/* test_data_long.c - long runs of elements, read where they belong: into memory of any address, in
 * the order of bytes of any machine (D12). */
/* SPDX-License-Identifier: MIT */
#include "file/file.h" /* before Check, which has a fail() of its own */

#include "countio.h"
#include "data_help.h"

enum { BYTES = 1300 * 1000, GUARD = 4096 };

struct kind {
    const char *datarep;
    const drep_type *type;
    int size;
    bool ragged; /* the last chunk is stored in part, and fill comes behind it */
};

#define KINDS 10
static struct kind kind_of(int i)
{
    const struct kind kinds[KINDS] = {
        {"native", DREP_DOUBLE, 8, false},       {"native", DREP_UINT8_T, 1, false},
        {"external32", DREP_UINT8_T, 1, false},  {"external32", DREP_INT16_T, 2, false},
        {"external32", DREP_INT32_T, 4, true},   {"external32", DREP_DOUBLE, 8, false},
        {"external32", DREP_DOUBLE, 8, true},    {"external32", DREP_C_DOUBLE_COMPLEX, 16, false},
        {"native:s390x", DREP_INT64_T, 8, true}, {"native", DREP_INT64_T, 8, true}};

    return kinds[i];
}

/* Any bytes, but no NaN among the reals. */
static void make_values(uint8_t *v)
{
    for (int64_t i = 0; i < BYTES; i++)
        v[i] = (uint8_t)((i * 7 + i / 251) & 0x3f);
}

/* A dataset of all values; ragged: it ends inside of a chunk, and is made longer afterwards. */
static drep_dataset *make(drep_file *f, const struct kind *k, int64_t n, const uint8_t *v)
{
    const int64_t longer = n + 50000, most = DREP_UNLIMITED, chunk = (400 << 10) / k->size;
    drep_spec spec = DREP_SPEC(.type = k->type, .rank = 1, .dims = &n);
    drep_dataset *ds;

    if (k->ragged) {
        spec.maxdims = &most;
        spec.layout = DREP_CHUNKED;
        spec.chunk = &chunk;
    }
    ok(drep_dataset_create(f, "/x", &spec, &ds));
    ok(drep_write(ds, NULL, k->type, v, NULL));
    if (k->ragged)
        ok(drep_dataset_resize(ds, &longer));
    return ds;
}

/* Reads elements [from, to) to `got`, around which nothing changes. */
static void read_some(drep_dataset *ds, const struct kind *k, int64_t from, int64_t to, int threads,
                      const uint8_t *v, uint8_t *got)
{
    int64_t n = to - from, size = n * k->size, have = BYTES / k->size - from;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.threads = threads);
    int wrong = 0;

    if (threads == 1)
        xfer.report = &report;
    have = have < 0 ? 0 : have < n ? have : n;
    memset(got - GUARD, 0x55, (size_t)size + 2 * GUARD);
    ok(drep_read_box(ds, &from, &n, k->type, got, &xfer));
    ck_assert_mem_eq(got, v + from * k->size, (size_t)(have * k->size));
    for (int64_t i = have * k->size; i < size; i++)
        wrong += got[i] != 0;
    for (int i = 1; i <= GUARD; i++)
        wrong += got[-i] != 0x55 || got[size + i - 1] != 0x55;
    ck_assert_int_eq(wrong, 0);
    if (threads == 1)
        ck_assert_int_ge(report.items, n);
}

START_TEST(test_long_runs_to_any_address)
{
    const struct kind k = kind_of(_i);
    const int64_t n = BYTES / k.size, end = k.ragged ? n + 50000 : n;
    uint8_t *v = malloc(BYTES), *room;
    drep_info *info = hints("drep_cache_size=100000", (char *)NULL);
    drep_file *f = new_file(temp_path("long"), k.datarep);

    ck_assert_int_eq(posix_memalign((void **)&room, 4096, BYTES + 900000 + 4 * GUARD), 0);
    make_values(v);
    drep_dataset_close(make(f, &k, n, v));
    ok(drep_close(f));
    ok(drep_open(temp_path("long"), DREP_RDONLY, info, &f));
    drep_info_free(info);
    for (int shift = 0; shift < 96; shift += 16) {
        drep_dataset *ds;

        ok(drep_dataset_open(f, "/x", &ds));
        for (int threads = 1; threads <= 2; threads++) {
            uint8_t *got = room + GUARD + shift;

            read_some(ds, &k, 0, end, threads, v, got);
            read_some(ds, &k, 1, n, threads, v, got);
            read_some(ds, &k, 511 + shift, end - 3, threads, v, got);
            read_some(ds, &k, n / 3, n / 3 + (100 << 10) / k.size, threads, v, got);
        }
        drep_dataset_close(ds);
    }
    ok(drep_close(f));
    free(room);
    free(v);
}
END_TEST

/* A block that differs from its sum is found wherever it stands. */
START_TEST(test_damage_in_long_runs)
{
    const struct kind k = kind_of(_i);
    const int64_t n = BYTES / k.size, zero = 0;
    uint8_t *v = malloc(BYTES), *got = malloc(BYTES + 64), first[8];
    drep_dataset *ds;
    drep_file *f;

    make_values(v);
    for (int i = 0; i < 8; i++)
        first[i] = v[k.size == 8 ? 7 - i : i];
    for (int part = 0; part < 5; part++) {
        int64_t at = part == 4 ? BYTES - 9 : part * 300007 + 8;
        uint8_t bytes[8];
        FILE *raw;
        long place = -1;

        f = new_file(temp_path("damaged"), k.datarep);
        drep_dataset_close(make(f, &k, n, v));
        ok(drep_close(f));
        raw = fopen(temp_path("damaged"), "r+b");
        for (long i = 0; place < 0; i += 4096) { /* payload begins at a multiple of that */
            ck_assert_int_eq(fseek(raw, i, SEEK_SET), 0);
            ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, raw), sizeof bytes);
            place = memcmp(bytes, first, sizeof bytes) == 0 ? i : -1;
        }
        ck_assert_int_eq(fseek(raw, place + at, SEEK_SET), 0);
        ck_assert_int_eq(fputc(0xff, raw), 0xff);
        fclose(raw);
        ok(drep_open(temp_path("damaged"), DREP_RDONLY, NULL, &f));
        ok(drep_dataset_open(f, "/x", &ds));
        for (int shift = 0; shift < 64; shift += 16)
            fails(drep_read_box(ds, &zero, &n, k.type, got + shift, NULL), DREP_ERR_CHECKSUM);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    free(got);
    free(v);
}
END_TEST

/* Another order of bytes costs no more reads than one's own. */
START_TEST(test_few_reads)
{
    const struct kind k = kind_of(_i);
    const int64_t n = BYTES / k.size;
    uint8_t *v = malloc(BYTES);
    struct count_file c;
    drep_dataset *ds;
    drep_file *f = new_file(temp_path("counted"), k.datarep);

    make_values(v);
    drep_dataset_close(make(f, &k, n, v));
    ok(drep_close(f));
    count_init(&c, temp_path("counted"));
    c.round_trip = 0;
    ok(file_open_on(count_io(&c), DREP_RDONLY, NULL, 0, &f));
    ok(drep_dataset_open(f, "/x", &ds));
    count_reset(&c);
    ok(drep_read(ds, NULL, k.type, v, &DREP_XFER(.threads = 1)));
    ck_assert_int_le(c.reads, 8);
    drep_dataset_close(ds);
    ok(drep_close(f));
    count_release(&c);
    free(v);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data long");
    TCase *t = tcase_create("long");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_long_runs_to_any_address, 0, KINDS);
    tcase_add_loop_test(t, test_damage_in_long_runs, 1, 2);
    tcase_add_loop_test(t, test_damage_in_long_runs, 5, 6);
    tcase_add_loop_test(t, test_few_reads, 0, 1);
    tcase_add_loop_test(t, test_few_reads, 5, 6);
    suite_add_tcase(s, t);
    return run_suite(s);
}
