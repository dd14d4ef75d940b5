/* test_large.c - counts beyond 2^31 and sizes beyond 4 GiB (P5, P6, U5, V8).
 *
 * Memory that large is a few pages seen many times, files are sparse; but the last page of
 * either is one of its own, so that an offset cut to 32 bits misses it. */
/* SPDX-License-Identifier: MIT */
#include "rep/dispatch.h"
#include "rep/rep.h"
#include "tests/unit/bytes.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIG (((int64_t)1 << 31) + 1000)
enum { PAGE = 65536, REPEATED = 512 * PAGE };

static void must(int err)
{
    ck_assert_msg(err == 0, "error %d: %s", err, drep_error());
}

/* ---- memory */

/* size bytes, rounded up to pages, the last apart; the pages before are all the same few. */
static uint8_t *many_pages(int64_t *size)
{
    int fd = memfd_create("pages", 0);
    uint8_t *p;

    *size = (*size + PAGE - 1) / PAGE * PAGE;
    p = mmap(NULL, (size_t)*size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(fd >= 0 && p != MAP_FAILED && ftruncate(fd, REPEATED) == 0);
    for (int64_t at = 0; at < *size - PAGE; at += REPEATED) {
        int64_t n = *size - PAGE - at < REPEATED ? *size - PAGE - at : REPEATED;

        ck_assert(mmap(p + at, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
                  MAP_FAILED);
    }
    close(fd);
    return p;
}

/* Both sides end 2000 bytes behind 4 GiB, in their own pages. */
START_TEST(test_P6_pack_of_more_items_than_2_31)
{
    int64_t user_size = 2 * BIG, file_size = 2 * BIG, size, position = 0;
    int64_t last = BIG - 1;
    uint8_t *user = many_pages(&user_size), *file = many_pages(&file_size);
    short value = 0x0102;

    memset(user, 0x11, REPEATED);
    memcpy(user + 2 * last, &value, 2);
    must(drep_pack_size("external32", BIG, DREP_SHORT, &size));
    ck_assert_int_eq(size, 2 * BIG);
    must(drep_pack("external32", user, BIG, DREP_SHORT, file, size, &position));
    ck_assert_int_eq(position, 2 * BIG);
    ck_assert_int_eq(memcmp(file + 2 * last, "\1\2", 2), 0);
    ck_assert_int_eq(memcmp(file + 2 * last - 2, "\0\0", 2), 0);
    ck_assert_int_eq(memcmp(file, "\x11\x11", 2), 0);
    ck_assert_int_eq(file[2 * BIG], 0);
    memcpy(file + 2 * last, "\3\4", 2);
    position = 0;
    must(drep_unpack("external32", file, size, &position, user, BIG, DREP_SHORT));
    ck_assert_int_eq(position, 2 * BIG);
    memcpy(&value, user + 2 * last, 2);
    ck_assert_int_eq(value, 0x0304);
    munmap(user, (size_t)user_size);
    munmap(file, (size_t)file_size);
}
END_TEST

/* An extent of 0: any number of items in no memory.  The report counts them all. */
START_TEST(test_convert_and_report_more_items_than_2_31)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    drep_type *from, *to;
    int16_t in = 300;
    int8_t out = 0;

    must(drep_type_resized(0, 0, DREP_INT16_T, &from));
    must(drep_type_resized(0, 0, DREP_INT8_T, &to));
    must(drep_convert(to, &out, from, &in, BIG, &xfer));
    ck_assert_int_eq(out, 127);
    ck_assert_int_eq(report.items, BIG);
    ck_assert_int_eq(report.overflow, BIG);
    ck_assert_int_eq(report.first_overflow, 0);
    ck_assert_int_eq(report.inexact, 0);
    drep_type_free(from);
    drep_type_free(to);
}
END_TEST

START_TEST(test_P5_sizes_of_units)
{
    drep_type *t;
    int64_t size = -1;

    must(drep_pack_size("external32", (int64_t)1 << 33, DREP_LONG, &size));
    ck_assert_int_eq(size, (int64_t)1 << 35);
    must(drep_pack_size("native:i386", (int64_t)1 << 40, DREP_LONG_DOUBLE, &size));
    ck_assert_int_eq(size, 12 * ((int64_t)1 << 40));
    /* 2^20 of 2^20 of them. */
    must(drep_type_vector((int64_t)1 << 20, 1, 3, DREP_DOUBLE, &t));
    must(drep_pack_size("internal", (int64_t)1 << 20, t, &size));
    ck_assert_int_eq(size, (int64_t)1 << 43);
    ck_assert_int_eq(drep_pack_size("internal", (int64_t)1 << 40, t, &size),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(size, (int64_t)1 << 43);
    drep_type_free(t);
}
END_TEST

/* A struct of 3 items, tiled 2^40 times, and its 2^40-th data item. */
START_TEST(test_cursor_far_out)
{
    const drep_type *types[] = {DREP_INT, DREP_DOUBLE, DREP_CHAR};
    int64_t position = (int64_t)1 << 40;
    drep_cursor c;
    drep_type *t;
    drep_run run;

    must(drep_type_struct(3, NULL, (int64_t[]){0, 8, 16}, types, &t));
    must(drep_cursor_init(&c, t, position));
    for (int i = 0; i < 6; i++, position++) {
        ck_assert_int_eq(drep_cursor_next(&c, 100, &run), 1);
        ck_assert_ptr_eq(run.type, types[position % 3]);
        ck_assert_int_eq(run.offset, position / 3 * drep_type_extent(t) + position % 3 * 8);
        ck_assert_int_eq(run.count, 1);
    }
    drep_type_free(t);
}
END_TEST

/* ---- functions: count and position have 64 bits (U5, U6) */

static struct {
    int64_t next, most, calls;
} seen;

static int counting(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                    void *state)
{
    (void)user;
    (void)type;
    (void)file;
    (void)state;
    if (position != seen.next)
        return 1;
    seen.next += count;
    seen.calls++;
    seen.most = count > seen.most ? count : seen.most;
    return 0;
}

static int one_byte(const drep_type *type, int64_t *extent, void *state)
{
    (void)type;
    (void)state;
    *extent = 1;
    return 0;
}

START_TEST(test_U5_functions_take_large_counts)
{
    int64_t position = (int64_t)1 << 34, items = (int64_t)1 << 33, done, used;
    drep_type *t;
    char nothing;

    must(drep_register_datarep("counting", counting, counting, one_byte, NULL));
    must(drep_type_resized(0, 0, DREP_INT, &t));
    for (int64_t staging = BIG; staging <= 4 * BIG; staging *= 4) {
        memset(&seen, 0, sizeof seen);
        seen.next = position;
        must(rep_read_items(rep_find("counting"), NULL, &nothing, t, position, items, &nothing,
                            staging, &done, &used));
        ck_assert_int_eq(done, items);
        ck_assert_int_eq(used, items);
        ck_assert_int_eq(seen.next, position + items);
        ck_assert_int_eq(seen.most, staging < items ? staging : items);
    }
    drep_type_free(t);
}
END_TEST

/* ---- files */

static char path[300];

static void path_make(const char *name)
{
    const char *dir = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/%s-%d.drep", dir ? dir : "/tmp", name, (int)getpid());
    unlink(path);
}

/* Does the file system take a file of this size?  Otherwise says why not. */
static bool may_be_so_long(int64_t size)
{
    FILE *f = fopen(path, "w");
    bool may = f && ftruncate(fileno(f), size) == 0;

    if (!may)
        printf("skipped: a sparse file of %lld bytes: %s\n", (long long)size, strerror(errno));
    if (f)
        fclose(f);
    unlink(path);
    return may;
}

/* 2^33 doubles (64 GiB), of which a few are written. */
static void far_boxes(const drep_spec *spec)
{
    static const int64_t start[] = {0, (int64_t)1 << 29, ((int64_t)1 << 31) - 3, (int64_t)1 << 32,
                                    ((int64_t)1 << 33) - 7};
    double in[7], out[7];
    drep_selection *sel;
    drep_dataset *d;
    drep_dsinfo info = DREP_DSINFO;
    drep_file *f;

    must(drep_create(path, 0, "external32", NULL, &f));
    must(drep_dataset_create(f, "/d", spec, &d));
    for (int b = 0; b < 5; b++) {
        for (int i = 0; i < 7; i++)
            in[i] = 100 * b + i + 0.5;
        must(drep_select_box(1, &start[b], (int64_t[]){7}, NULL, NULL, &sel));
        must(drep_write(d, sel, NULL, in, NULL));
        drep_selection_free(sel);
    }
    drep_dataset_close(d);
    must(drep_close(f));
    must(drep_open(path, DREP_RDONLY, NULL, &f));
    must(drep_dataset_open(f, "/d", &d));
    must(drep_dataset_info(d, &info));
    ck_assert_int_eq(info.count, (int64_t)1 << 33);
    for (int b = 0; b < 5; b++) {
        int64_t from = start[b] - (b > 0) * 2; /* two before it, which are fill */

        must(drep_select_box(1, &from, (int64_t[]){7}, NULL, NULL, &sel));
        must(drep_read(d, sel, NULL, out, NULL));
        for (int i = 0; i < 7; i++) {
            int64_t k = from + i - start[b];

            if (out[i] != (k < 0 ? -1 : 100 * b + (double)k + 0.5))
                ck_abort_msg("element %lld is %g", (long long)(from + i), out[i]);
        }
        drep_selection_free(sel);
    }
    drep_dataset_close(d);
    must(drep_close(f));
    unlink(path);
}

static drep_spec large_spec(int layout, const int64_t *dims, const int64_t *chunk)
{
    static const double fill = -1;

    return DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .layout = layout, .chunk = chunk,
                     .fill = DREP_FILL_VALUE, .fill_value = &fill);
}

START_TEST(test_chunked_dataset_of_2_33_elements)
{
    int64_t dims = (int64_t)1 << 33, chunk = 4096;
    drep_spec spec = large_spec(DREP_CHUNKED, &dims, &chunk);

    path_make("chunked");
    far_boxes(&spec);
}
END_TEST

START_TEST(test_contiguous_dataset_of_2_33_elements)
{
    int64_t dims = (int64_t)1 << 33;
    drep_spec spec = large_spec(DREP_CONTIGUOUS, &dims, NULL);

    path_make("contiguous");
    if (may_be_so_long((int64_t)1 << 37))
        far_boxes(&spec);
}
END_TEST

START_TEST(test_V3_view_beyond_4_gib)
{
    const int64_t at[] = {0, (int64_t)1 << 29, (int64_t)1 << 30, ((int64_t)1 << 32) + 5};
    double in[3] = {1.5, -2.5, 3.5}, out[4];
    int64_t items, bytes, etypes;
    drep_view *v;

    path_make("view");
    if (!may_be_so_long((int64_t)1 << 36))
        return;
    must(drep_view_raw(path, DREP_RDWR, NULL, &v));
    must(drep_view_set(v, ((int64_t)1 << 32) + 3, DREP_DOUBLE, DREP_DOUBLE, "external32", NULL));
    for (int i = 0; i < 4; i++) {
        in[0] = i;
        must(drep_write_at(v, at[i], in, 3, DREP_DOUBLE, NULL, &items));
        ck_assert_int_eq(items, 3);
    }
    must(drep_view_byte_offset(v, at[3], &bytes));
    ck_assert_int_eq(bytes, ((int64_t)1 << 32) + 3 + 8 * at[3]);
    must(drep_view_size(v, &etypes));
    ck_assert_int_eq(etypes, at[3] + 3);
    for (int i = 0; i < 4; i++) {
        must(drep_read_at(v, at[i], out, 4, DREP_DOUBLE, NULL, &items));
        ck_assert_int_eq(items, i < 3 ? 4 : 3); /* V8: short at the end */
        if (out[0] != i || out[1] != -2.5 || out[2] != 3.5 || (i < 3 && out[3] != 0))
            ck_abort_msg("at %lld: %g %g %g %g", (long long)at[i], out[0], out[1], out[2], out[3]);
    }
    must(drep_view_close(v));
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large");
    TCase *tc = tcase_create("large");

    if (share_of(100) < 100)
        printf("skipped: converting 2^31 items, which takes minutes on an emulated machine\n");
    else if (sanitized_part(100) < 100)
        printf("skipped: converting 2^31 items, which is tried without the sanitizer\n");
    else
        tcase_add_test(tc, test_convert_and_report_more_items_than_2_31);
    if (sizeof(size_t) < 8)
        printf("skipped: more memory than this machine can address\n");
    else if (sanitized_part(share_of(100)) == 100)
        tcase_add_test(tc, test_P6_pack_of_more_items_than_2_31);
    tcase_add_test(tc, test_P5_sizes_of_units);
    tcase_add_test(tc, test_cursor_far_out);
    tcase_add_test(tc, test_U5_functions_take_large_counts);
    tcase_add_test(tc, test_chunked_dataset_of_2_33_elements);
    tcase_add_test(tc, test_contiguous_dataset_of_2_33_elements);
    tcase_add_test(tc, test_V3_view_beyond_4_gib);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
