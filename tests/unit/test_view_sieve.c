/* test_view_sieve.c - items of a raw view that stand apart share calls of the system.
 *
 * The oracle knows where each item is from the lists that its filetype was made of, and keeps the
 * file as bytes: read, or written, item by item. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include <datarep.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 12, LONG = 400, FILE_MAX = 1 << 20, TRIES = 60 };

static char path[300];

static void must(int err)
{
    ck_assert_msg(err == 0, "error %d: %s", err, drep_error());
}

static void make_path(void)
{
    snprintf(path, sizeof path, "%s/sieve-%d.raw", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
}

/* ---- where items are ---- */

struct layout {
    int64_t size, disp, extent, per_tile;
    int64_t at[BLOCKS * LONG]; /* of each item of a tile */
    bool swapped;
};

static int64_t place(const struct layout *l, int64_t k)
{
    return l->disp + k / l->per_tile * l->extent + l->at[k % l->per_tile];
}

static void put_item(const struct layout *l, uint8_t *to, const uint8_t *from)
{
    for (int64_t i = 0; i < l->size; i++)
        to[i] = from[l->swapped ? l->size - 1 - i : i];
}

static const drep_type *type_of(int64_t size)
{
    return size == 1   ? DREP_INT8_T
           : size == 2 ? DREP_INT16_T
           : size == 4 ? DREP_INT32_T
                       : DREP_INT64_T;
}

/* Blocks of one to some hundred items, between them nothing, little, or more than is sieved. */
static drep_type *make_layout(struct layout *l, struct rnd *r)
{
    static const int64_t gaps[] = {0, 1, 1, 3, 60, 700, 5000};
    int n = 1 + (int)rnd_below(r, BLOCKS);
    int64_t blocks[BLOCKS], displs[BLOCKS], at = 0;
    drep_type *inner, *type;

    l->size = 1 << rnd_below(r, 4);
    l->per_tile = 0;
    l->disp = (int64_t)rnd_below(r, 100);
    l->swapped = rnd_below(r, 2) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (int b = 0; b < n; b++) {
        blocks[b] = 1 + (int64_t)rnd_below(r, rnd_below(r, 4) ? 3 : LONG);
        at += l->size * gaps[rnd_below(r, 7)];
        displs[b] = at;
        for (int64_t i = 0; i < blocks[b]; i++, at += l->size)
            l->at[l->per_tile++] = at;
    }
    l->extent = at + l->size * gaps[rnd_below(r, 7)];
    must(drep_type_hindexed(n, blocks, displs, type_of(l->size), &inner));
    must(drep_type_resized(0, l->extent, inner, &type));
    drep_type_free(inner);
    return type;
}

static drep_view *open_view(const struct layout *l, const drep_type *filetype, const char *room,
                            const char *lock)
{
    drep_info *info;
    drep_view *v;

    must(drep_info_new(&info));
    must(drep_info_set(info, "cb_buffer_size", room));
    must(drep_info_set(info, "drep_lock", lock));
    must(drep_view_raw(path, DREP_RDWR, info, &v));
    must(drep_view_set(v, l->disp, type_of(l->size), filetype, l->swapped ? "external32" : "native",
                       info));
    drep_info_free(info);
    return v;
}

/* ---- the file ---- */

static uint8_t model[FILE_MAX], bytes[FILE_MAX], in[FILE_MAX], out[FILE_MAX], want[FILE_MAX];

static void write_file(size_t size)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(model, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

static void same_file(size_t size)
{
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, f), size);
    fclose(f);
    ck_assert_mem_eq(bytes, model, size);
}

static void try_read(const struct layout *l, drep_view *v, int64_t first, int64_t n, size_t size)
{
    int64_t items = -1, there = 0;

    memset(out, 0x5a, (size_t)(n * l->size));
    memset(want, 0x5a, (size_t)(n * l->size));
    while (there < n && place(l, first + there) + l->size <= (int64_t)size) {
        put_item(l, want + there * l->size, model + place(l, first + there));
        there++;
    }
    must(drep_read_at(v, first, out, n, type_of(l->size), NULL, &items));
    ck_assert_int_eq(items, there);
    ck_assert_mem_eq(out, want, (size_t)(n * l->size));
}

static size_t try_write(const struct layout *l, drep_view *v, int64_t first, int64_t n, size_t size)
{
    int64_t items = -1;

    for (int64_t k = 0; k < n; k++) {
        size_t end = (size_t)(place(l, first + k) + l->size);

        put_item(l, model + place(l, first + k), in + k * l->size);
        size = size > end ? size : end;
    }
    must(drep_write_at(v, first, in, n, type_of(l->size), NULL, &items));
    ck_assert_int_eq(items, n);
    return size;
}

/* Items whose last one still is in our array. */
static int64_t some_items(const struct layout *l, int64_t first, struct rnd *r)
{
    int64_t n = 1 + (int64_t)rnd_below(r, rnd_below(r, 2) ? 20 : 5000);

    while (n > 1 && place(l, first + n - 1) + l->size > FILE_MAX)
        n /= 2;
    return n;
}

START_TEST(test_X_any_filetype_reads_and_writes_its_items_alone)
{
    static const char *const rooms[] = {"8", "100", "5000", "4194304"};
    static const char *const locks[] = {"true", "false"};
    static struct layout l;
    struct rnd r;

    make_path();
    rnd_init(&r, 5000 + (uint64_t)_i);
    for (int turn = 0; turn < TRIES; turn++) {
        drep_type *filetype = make_layout(&l, &r);
        size_t size = (size_t)rnd_below(&r, rnd_below(&r, 3) ? 300000 : 3000);
        drep_view *v;

        memset(model, 0, sizeof model);
        for (size_t i = 0; i < size; i++)
            model[i] = (uint8_t)rnd_u64(&r);
        for (size_t i = 0; i < 50000; i++)
            in[i] = (uint8_t)rnd_u64(&r);
        write_file(size);
        v = open_view(&l, filetype, rooms[rnd_below(&r, 4)], locks[rnd_below(&r, 2)]);
        for (int k = 0; k < 4; k++) {
            int64_t first = (int64_t)rnd_below(&r, rnd_below(&r, 2) ? 3 : 2 * (uint64_t)l.per_tile);
            int64_t n = some_items(&l, first, &r);

            if (place(&l, first + n - 1) + l.size > FILE_MAX)
                continue;
            try_read(&l, v, first, n, size);
            if (rnd_below(&r, 2))
                size = try_write(&l, v, first, n, size);
            same_file(size);
        }
        must(drep_view_close(v));
        drep_type_free(filetype);
    }
    unlink(path);
}
END_TEST

/* ---- calls ---- */

/* Calls of the system that this thread has made to read, or to write; -1: nobody counts them. */
static int64_t calls(const char *kind)
{
    FILE *f = fopen("/proc/thread-self/io", "r");
    char line[100];
    int64_t n = -1;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, kind, strlen(kind)) == 0)
            n = strtoll(line + strlen(kind), NULL, 10);
    if (f)
        fclose(f);
    return n;
}

/* One of four integers: a window is one call to read, and one more to write it back. */
START_TEST(test_X_few_calls)
{
    enum { ITEMS = 50000, BYTES = ITEMS * 16 };
    static struct layout l = {.size = 4, .extent = 16, .per_tile = 1};
    static int32_t value[ITEMS];
    const int64_t locked = _i == 0;
    int64_t reads, writes, items, own;
    drep_type *type;
    drep_view *v;

    make_path();
    unlink(path);
    must(drep_type_resized(0, 16, DREP_INT32_T, &type));
    v = open_view(&l, type, "4194304", locked ? "true" : "false");
    own = calls("syscr: ");
    if (own < 0)
        printf("# SKIP nobody counts calls of the system here\n");
    own = calls("syscr: ") - own;                      /* what counting costs */
    for (int turn = 0; own >= 0 && turn < 2; turn++) { /* the file is new, then it is there */
        reads = calls("syscr: ");
        writes = calls("syscw: ");
        must(drep_write_at(v, 0, value, ITEMS, DREP_INT32_T, NULL, &items));
        writes = calls("syscw: ") - writes;
        reads = calls("syscr: ") - reads;
        ck_assert_int_eq(items, ITEMS);
        if (locked)
            ck_assert_int_eq(writes, 1);
        else
            ck_assert_int_eq(writes, ITEMS);
        ck_assert_int_le(reads, 3 * own + (locked ? turn : 0));
    }
    reads = calls("syscr: ");
    must(drep_read_at(v, 0, value, ITEMS, DREP_INT32_T, NULL, &items));
    reads = calls("syscr: ") - reads;
    ck_assert_int_eq(items, ITEMS);
    ck_assert_int_le(reads, 1 + own);
    must(drep_view_close(v));
    drep_type_free(type);
    unlink(path);
}
END_TEST

/* Two processes write every other item of one file at the same time. */
START_TEST(test_X_nothing_is_lost_beside_another_writer)
{
    enum { ITEMS = 3000, ROUNDS = 40 };
    static struct layout l = {.size = 4, .extent = 8, .per_tile = 1};
    static int32_t value[ITEMS], all[2 * ITEMS];
    int64_t items;
    drep_type *type;
    drep_view *v;
    pid_t pid;
    int status = 1, mine;
    FILE *f;

    make_path();
    unlink(path);
    must(drep_type_resized(0, 8, DREP_INT32_T, &type));
    pid = fork();
    ck_assert_int_ge(pid, 0);
    mine = pid == 0;
    l.disp = 4 * mine;
    v = open_view(&l, type, "4000", "true");
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < ITEMS; i++)
            value[i] = round;
        if (drep_write_at(v, 0, value, ITEMS, DREP_INT32_T, NULL, &items) || items != ITEMS)
            _exit(1);
    }
    if (drep_view_close(v))
        _exit(1);
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(all, 4, 2 * ITEMS, f), 2 * ITEMS);
    fclose(f);
    for (int i = 0; i < 2 * ITEMS; i++)
        ck_assert_int_eq(all[i], ROUNDS);
    drep_type_free(type);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("view sieve");
    TCase *t = tcase_create("sieve");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, test_X_any_filetype_reads_and_writes_its_items_alone, 0, 3);
    tcase_add_loop_test(t, test_X_few_calls, 0, 2);
    tcase_add_test(t, test_X_nothing_is_lost_beside_another_writer);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
