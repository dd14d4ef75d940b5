/* test_view_runs.c - views over a program's own functions and over descriptors; a filetype as runs.
 */
/* SPDX-License-Identifier: MIT */
#include <check.h>

#include <datarep.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ok(call) ck_assert_msg((call) == 0, "%s: %s", #call, drep_error())
#define fails(call, code) ck_assert_int_eq(call, code)

static char path[300];

static void make_path(void)
{
    snprintf(path, sizeof path, "%s/runs-%d.raw", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
}

/* ---- a driver ---- */

struct memory {
    uint8_t bytes[256];
    size_t size;
    int closed, writes, fail;
};

static int memory_read(void *state, const drep_range *range, size_t n)
{
    const struct memory *m = state;

    for (size_t i = 0; i < n; i++) {
        if (range[i].offset + range[i].size > m->size)
            return DREP_ERR_TRUNCATE;
        memcpy(range[i].buf, m->bytes + range[i].offset, range[i].size);
    }
    return 0;
}

static int memory_size(void *state, uint64_t *size)
{
    *size = ((const struct memory *)state)->size;
    return 0;
}

static int memory_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct memory *m = state;

    if (m->fail)
        return DREP_ERR_NO_SPACE;
    ck_assert_uint_le(offset + size, sizeof m->bytes);
    memcpy(m->bytes + offset, buf, size);
    m->size = m->size > offset + size ? m->size : offset + size;
    m->writes++;
    return 0;
}

static void memory_close(void *state)
{
    ((struct memory *)state)->closed++;
}

/* Big-endian items with holes between them, which nothing is written into. */
START_TEST(test_V3_a_driver_is_read_and_written_through_a_view)
{
    struct memory m = {.size = 0};
    drep_driver driver = DREP_DRIVER(.read_many = memory_read, .file_size = memory_size,
                                     .write_at = memory_write, .close = memory_close);
    const int64_t v[4] = {1, -2, 3, 4};
    int64_t back[5] = {0}, items;
    drep_type *filetype;
    drep_view *view;

    memset(m.bytes, 0xee, sizeof m.bytes);
    ok(drep_view_driver(&driver, &m, "mine", DREP_RDWR, NULL, &view));
    ok(drep_type_resized(0, 16, DREP_INT64_T, &filetype));
    ok(drep_view_set(view, 3, DREP_INT64_T, filetype, "external32", NULL));
    ok(drep_write_at(view, 0, v, 4, DREP_INT64_T, NULL, &items));
    ck_assert_int_eq(items, 4);
    ck_assert_uint_eq(m.size, 3 + 3 * 16 + 8);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq((int8_t)m.bytes[3 + 16 * i + 7], v[i]);
        ck_assert_int_eq(m.bytes[3 + 16 * i + 8], 0xee);
    }
    ck_assert_int_eq(m.writes, 4);
    ok(drep_read_at(view, 0, back, 5, DREP_INT64_T, NULL, &items));
    ck_assert_int_eq(items, 4);
    ck_assert_mem_eq(back, v, sizeof v);
    m.fail = 1;
    fails(drep_write_at(view, 0, v, 4, DREP_INT64_T, NULL, &items), DREP_ERR_NO_SPACE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "mine: write: the driver failed at byte 3"));
    ok(drep_view_close(view));
    ck_assert_int_eq(m.closed, 1);
    drep_type_free(filetype);
}
END_TEST

START_TEST(test_a_driver_that_lacks_functions_is_refused)
{
    struct memory m = {.size = 0};
    drep_driver driver = DREP_DRIVER(.read_many = memory_read, .close = memory_close);
    drep_view *view;

    fails(drep_view_driver(&driver, &m, NULL, DREP_RDONLY, NULL, &view), DREP_ERR_ARG);
    driver.file_size = memory_size;
    fails(drep_view_driver(&driver, &m, NULL, DREP_RDWR, NULL, &view), DREP_ERR_ARG);
    fails(drep_view_driver(&driver, &m, NULL, DREP_RDWR | DREP_EXCL, NULL, &view), DREP_ERR_AMODE);
    fails(drep_view_driver(&driver, &m, NULL, DREP_RDONLY, NULL, NULL), DREP_ERR_ARG);
    ck_assert_int_eq(m.closed, 0);
    ok(drep_view_driver(&driver, &m, NULL, DREP_RDONLY, NULL, &view));
    fails(drep_write_at(view, 0, "x", 1, DREP_BYTE, NULL, NULL), DREP_ERR_READ_ONLY);
    ok(drep_view_close(view));
    ck_assert_int_eq(m.closed, 1);
}
END_TEST

START_TEST(test_a_descriptor_is_read_and_written_through_a_view)
{
    const int32_t v[3] = {7, 8, 9};
    int32_t back[3];
    uint8_t bytes[12];
    int64_t items;
    drep_view *view;
    struct stat s;
    int fd, ends[2];

    make_path();
    fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    ck_assert_int_ge(fd, 0);
    ok(drep_view_descriptor(fd, NULL, DREP_RDWR, NULL, &view));
    ok(drep_view_set(view, 0, DREP_INT32_T, DREP_INT32_T, "external32", NULL));
    ok(drep_write_at(view, 0, v, 3, DREP_INT32_T, NULL, NULL));
    ok(drep_read_at(view, 0, back, 3, DREP_INT32_T, NULL, &items));
    ck_assert_int_eq(items, 3);
    ck_assert_mem_eq(back, v, sizeof v);
    ok(drep_view_close(view));
    ck_assert_int_eq(pread(fd, bytes, 12, 0), 12); /* it is still the caller's */
    ck_assert_int_eq(bytes[11], 9);
    close(fd);
    fd = open(path, O_RDONLY);
    fails(drep_view_descriptor(fd, NULL, DREP_RDWR, NULL, &view), DREP_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(drep_error(), "(descriptor)"));
    ok(drep_view_descriptor(fd, "x", DREP_RDONLY, NULL, &view));
    ok(drep_view_close(view));
    fails(drep_view_descriptor(fd, NULL, 99, NULL, &view), DREP_ERR_AMODE);
    close(fd);
    fails(drep_view_descriptor(fd, NULL, DREP_RDONLY, NULL, &view), DREP_ERR_ARG);
    ck_assert_int_eq(pipe(ends), 0);
    fails(drep_view_descriptor(ends[0], NULL, DREP_RDONLY, NULL, &view), DREP_ERR_ACCESS);
    close(ends[0]);
    close(ends[1]);
    unlink(path);
    ck_assert_int_eq(stat(path, &s), -1);
}
END_TEST

/* ---- runs ---- */

static drep_view *view_of(const drep_type *etype, const drep_type *filetype, const char *datarep)
{
    static struct memory m;
    drep_driver driver = DREP_DRIVER(.read_many = memory_read, .file_size = memory_size);
    drep_view *view;

    ok(drep_view_driver(&driver, &m, NULL, DREP_RDONLY, NULL, &view));
    ok(drep_view_set(view, 5, etype, filetype, datarep, NULL));
    return view;
}

static void expect_runs(const drep_type *etype, const drep_type *filetype, const char *datarep,
                        int64_t n, const drep_file_run *want, int64_t extent)
{
    drep_view *view = view_of(etype, filetype, datarep);
    drep_file_run got[8], *few = got + 7;
    int64_t is = -1, step = -1;

    ok(drep_view_runs(view, got, 7, &is, &step));
    ck_assert_int_eq(is, n);
    ck_assert_int_eq(step, extent);
    for (int64_t i = 0; i < n && i < 7; i++) {
        ck_assert_int_eq(got[i].offset, want[i].offset);
        ck_assert_int_eq(got[i].size, want[i].size);
        ck_assert_int_eq(got[i].count, want[i].count);
        ck_assert_int_eq(got[i].stride, want[i].stride);
    }
    few->size = -7;
    ok(drep_view_runs(view, NULL, 0, &is, &step));
    ck_assert_int_eq(is, n);
    ck_assert_int_eq(few->size, -7);
    fails(drep_view_runs(view, NULL, 1, &is, &step), DREP_ERR_ARG);
    ok(drep_view_close(view));
}

START_TEST(test_V3_V4_a_filetype_is_the_fewest_runs)
{
    drep_type *vector, *box, *pair, *rows;

    ok(drep_type_vector(1000, 2, 8, DREP_LONG, &vector));
    expect_runs(DREP_LONG, vector, "external32", 1, &(drep_file_run){0, 8, 1000, 32},
                4 * (999 * 8 + 2));
    ok(drep_type_contiguous(100, DREP_DOUBLE, &rows));
    expect_runs(DREP_DOUBLE, rows, "external32", 1, &(drep_file_run){0, 800, 1, 800}, 800);
    ok(drep_type_subarray(3, (int64_t[]){4, 6, 8}, (int64_t[]){2, 3, 8}, (int64_t[]){1, 0, 0},
                          DREP_ORDER_C, DREP_SHORT, &box));
    expect_runs(DREP_SHORT, box, "native", 1, &(drep_file_run){96, 48, 2, 96}, 384);
    /* Members that lie back to back are one block, whatever they are. */
    ok(drep_type_struct(2, (int64_t[]){1, 2}, (int64_t[]){0, 4},
                        (const drep_type *[]){DREP_INT32_T, DREP_DOUBLE}, &pair));
    expect_runs(pair, pair, "external32", 1, &(drep_file_run){0, 20, 1, 20}, 20);
    drep_type_free(vector);
    drep_type_free(rows);
    drep_type_free(box);
    drep_type_free(pair);
}
END_TEST

/* The runs of any filetype are its items, as drep_view_byte_offset() places them. */
START_TEST(test_runs_are_where_the_items_are)
{
    int64_t lens[] = {1, 3, 2, 2, 2, 5}, displs[] = {0, 2, 5, 9, 13, 40}, n, extent, at = 0;
    drep_file_run runs[8];
    drep_type *type;
    drep_view *view;

    ok(drep_type_indexed(6, lens, displs, DREP_LONG, &type));
    view = view_of(DREP_LONG, type, "external32");
    ok(drep_view_runs(view, runs, 8, &n, &extent));
    ck_assert_int_eq(n, 4); /* 0, 2-6, 9+13, 40-44 */
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < runs[i].count; k++)
            for (int64_t b = 0; b < runs[i].size; b += 4, at++) {
                int64_t is;

                ok(drep_view_byte_offset(view, at, &is));
                ck_assert_int_eq(is, 5 + runs[i].offset + k * runs[i].stride + b);
            }
    ck_assert_int_eq(at, 15);
    ok(drep_view_close(view));
    drep_type_free(type);
}
END_TEST

/* ---- threads ---- */

/* A driver whose reads wait until they are let go on. */
static sem_t inside, go_on;

static int slow_read(void *state, const drep_range *range, size_t n)
{
    sem_post(&inside);
    sem_wait(&go_on);
    return memory_read(state, range, n);
}

static void *reads_slowly(void *view)
{
    uint8_t byte = 0;
    int err = drep_read_at(view, 1, &byte, 1, DREP_BYTE, NULL, NULL);

    return (void *)(intptr_t)(err ? -1 : byte);
}

START_TEST(test_a_view_in_use_on_another_thread_is_refused)
{
    static const drep_driver slow =
        DREP_DRIVER(.read_many = slow_read, .file_size = memory_size, .write_at = memory_write);
    struct memory m = {.bytes = {1, 2, 3}, .size = 3};
    uint8_t byte = 9;
    int64_t n;
    int amode;
    pthread_t thread;
    drep_view *view;
    void *got;

    sem_init(&inside, 0, 0);
    sem_init(&go_on, 0, 0);
    ok(drep_view_driver(&slow, &m, NULL, DREP_RDWR, NULL, &view));
    ck_assert_int_eq(pthread_create(&thread, NULL, reads_slowly, view), 0);
    sem_wait(&inside);
    fails(drep_read_at(view, 0, &byte, 1, DREP_BYTE, NULL, NULL), DREP_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(drep_error(), "on two threads at once"));
    fails(drep_write_at(view, 0, &byte, 1, DREP_BYTE, NULL, NULL), DREP_ERR_ARG);
    fails(drep_view_set(view, 1, DREP_BYTE, DREP_BYTE, NULL, NULL), DREP_ERR_ARG);
    fails(drep_view_get(view, &n, NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_view_byte_offset(view, 0, &n), DREP_ERR_ARG);
    fails(drep_view_type_extent(view, DREP_BYTE, &n), DREP_ERR_ARG);
    fails(drep_view_runs(view, NULL, 0, &n, &n), DREP_ERR_ARG);
    fails(drep_view_size(view, &n), DREP_ERR_ARG);
    fails(drep_view_close(view), DREP_ERR_ARG);
    ok(drep_view_get_amode(view, &amode));
    ck_assert_int_eq(byte, 9);
    sem_post(&go_on);
    pthread_join(thread, &got);
    ck_assert_int_eq((intptr_t)got, 2);
    ck_assert_int_eq(m.bytes[0], 1);
    ok(drep_view_get(view, &n, NULL, NULL, NULL));
    ck_assert_int_eq(n, 0);
    ok(drep_view_close(view));
}
END_TEST

enum { ROUNDS = 2000, THREADS = 3 };

/* A view that is set and read: each call is done whole, or refused.  Byte n of the memory is n. */
static void *sets_and_reads(void *view)
{
    intptr_t wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t disp = i % 100, n = 0;
        uint8_t byte[4] = {0};
        int err = drep_view_set(view, disp, DREP_BYTE, DREP_BYTE, "native", NULL);

        wrong += err != 0 && err != DREP_ERR_ARG;
        err = drep_read_at(view, 0, byte, 4, DREP_BYTE, NULL, &n);
        wrong += err ? err != DREP_ERR_ARG : n != 4 || byte[3] != byte[0] + 3;
    }
    return (void *)wrong;
}

START_TEST(test_threads_with_one_view_do_no_harm)
{
    static const drep_driver driver =
        DREP_DRIVER(.read_many = memory_read, .file_size = memory_size);
    struct memory m = {.size = 200};
    pthread_t thread[THREADS];
    drep_view *view;
    void *wrong;

    for (int i = 0; i < 200; i++)
        m.bytes[i] = (uint8_t)i;
    ok(drep_view_driver(&driver, &m, NULL, DREP_RDONLY, NULL, &view));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, sets_and_reads, view), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &wrong);
        ck_assert_int_eq((intptr_t)wrong, 0);
    }
    ok(drep_view_close(view));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("view runs");
    TCase *t = tcase_create("runs");
    SRunner *r;
    int failed;

    tcase_add_test(t, test_V3_a_driver_is_read_and_written_through_a_view);
    tcase_add_test(t, test_a_driver_that_lacks_functions_is_refused);
    tcase_add_test(t, test_a_descriptor_is_read_and_written_through_a_view);
    tcase_add_test(t, test_V3_V4_a_filetype_is_the_fewest_runs);
    tcase_add_test(t, test_runs_are_where_the_items_are);
    tcase_add_test(t, test_a_view_in_use_on_another_thread_is_refused);
    tcase_add_test(t, test_threads_with_one_view_do_no_harm);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
