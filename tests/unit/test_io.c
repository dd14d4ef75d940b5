/* test_io.c - files and memory behind one interface. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "io/io.h"
#include "tests/unit/checks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static char dir[256];

static const char *in_dir(const char *name)
{
    static char path[4][512];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
    return p;
}

static int entries(void)
{
    char command[512];
    FILE *f;
    int n = -1;

    snprintf(command, sizeof(command), "ls -A '%s' | wc -l", dir);
    f = popen(command, "r");
    if (fscanf(f, "%d", &n) != 1)
        n = -1;
    pclose(f);
    return n;
}

static void make_dir(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/test-io-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_dir(void)
{
    char command[512];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_new_file_appears_whole)
{
    int visible = 0;
    /* D22: nothing is visible before publish, and an existing file is untouched. */
    const char *path = in_dir("a");
    uint8_t buf[3] = {0};
    struct stat s;
    struct io *io;
    FILE *f;

    ck_assert_int_eq(io_posix(path, IO_CREATE, 0, 0640, &io), 0);
    ck_assert_int_eq(io->ops->write_at(io, "xyz", 3, 5), 0);
    ck_assert_int_ne(access(path, F_OK), 0);
    io->ops->close(io);
    ck_assert_int_eq(entries(), 0);
    f = fopen(path, "w");
    fputs("old", f);
    fclose(f);
    umask(027);
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert_int_eq(io_posix(path, IO_CREATE, 0, 0666, &io), 0);
    ck_assert_int_eq(io->ops->write_at(io, "new", 3, 0), 0);
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_size, 3);
    ck_assert_int_eq(io->ops->publish(io, 1, &visible), 0);
    ck_assert_int_eq(visible, 1);
    ck_assert_int_eq(io->ops->publish(io, 1, &visible), 0);
    io->ops->close(io);
    ck_assert_int_eq(entries(), 1);
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_mode & 0777, 0604);
    ck_assert_int_eq(io_posix(in_dir("new"), IO_CREATE, 0, 0666, &io), 0);
    ck_assert_int_eq(io->ops->publish(io, 1, &visible), 0);
    io->ops->close(io);
    ck_assert_int_eq(stat(in_dir("new"), &s), 0);
    ck_assert_int_eq(s.st_mode & 0777, 0640);
    ck_assert_int_eq(unlink(in_dir("new")), 0);
    ck_assert_int_eq(io_posix(path, IO_READ, 0, 0, &io), 0);
    ck_assert_int_eq(io->ops->read_at(io, buf, 3, 0), 0);
    ck_assert_int_eq(memcmp(buf, "new", 3), 0);
    ck_assert_int_eq(io->ops->read_at(io, buf, 3, 1), DREP_ERR_TRUNCATE);
    ck_assert_int_eq(io->ops->write_at(io, buf, 1, 0), DREP_ERR_IO);
    io->ops->close(io);
}
END_TEST

START_TEST(test_exclusive_creation)
{
    int visible = 0;
    const char *path = in_dir("b");
    struct io *io, *other;

    ck_assert_int_eq(io_posix(path, IO_CREATE, 1, 0666, &io), 0);
    ck_assert_int_eq(io_posix(path, IO_CREATE, 1, 0666, &other), 0);
    ck_assert_int_eq(io->ops->publish(io, 1, &visible), 0);
    ck_assert_int_eq(other->ops->publish(other, 1, &visible), DREP_ERR_FILE_EXISTS);
    io->ops->close(io);
    other->ops->close(other);
    ck_assert_int_eq(io_posix(path, IO_CREATE, 1, 0666, &io), DREP_ERR_FILE_EXISTS);
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(test_names_that_are_no_files)
{
    struct io *io;

    ck_assert_int_eq(io_posix(in_dir("missing"), IO_READ, 0, 0, &io), DREP_ERR_NO_SUCH_FILE);
    ck_assert_int_eq(io_posix(in_dir("no/such"), IO_CREATE, 0, 0666, &io), DREP_ERR_NO_SUCH_FILE);
    ck_assert_int_eq(io_posix(dir, IO_READ, 0, 0, &io), DREP_ERR_ACCESS);
    ck_assert_int_eq(io_posix(dir, IO_WRITE, 0, 0, &io), DREP_ERR_ACCESS);
    ck_assert_int_eq(io_posix(dir, IO_CREATE, 0, 0666, &io), DREP_ERR_ACCESS);
    ck_assert_int_eq(io_posix("/dev/null", IO_CREATE, 0, 0666, &io), DREP_ERR_ACCESS);
    ck_assert_ptr_nonnull(strstr(drep_error(), "/dev/null"));
    ck_assert_int_eq(mkfifo(in_dir("fifo"), 0600), 0);
    ck_assert_int_eq(io_posix(in_dir("fifo"), IO_READ, 0, 0, &io), DREP_ERR_ACCESS);
}
END_TEST

START_TEST(test_links_are_followed)
{
    int visible = 0;
    /* A new file replaces what a symbolic link leads to, not the link. */
    struct stat s;
    struct io *io;
    FILE *f = fopen(in_dir("real"), "w");

    fclose(f);
    ck_assert_int_eq(symlink("real", in_dir("link")), 0);
    ck_assert_int_eq(io_posix(in_dir("link"), IO_CREATE, 0, 0666, &io), 0);
    ck_assert_int_eq(io->ops->write_at(io, "1", 1, 0), 0);
    ck_assert_int_eq(io->ops->publish(io, 1, &visible), 0);
    io->ops->close(io);
    ck_assert_int_eq(lstat(in_dir("link"), &s), 0);
    ck_assert(S_ISLNK(s.st_mode));
    ck_assert_int_eq(stat(in_dir("real"), &s), 0);
    ck_assert_int_eq(s.st_size, 1);
}
END_TEST

START_TEST(test_locks_exclude_other_handles)
{
    int visible = 0;
    const char *path = in_dir("c");
    const uint64_t byte = ((uint64_t)1 << 62) - 1;
    struct io *a, *b;
    int held = -1;

    ck_assert_int_eq(io_posix(path, IO_CREATE, 0, 0666, &a), 0);
    ck_assert_int_eq(a->ops->publish(a, 1, &visible), 0);
    ck_assert_int_eq(io_posix(path, IO_WRITE, 0, 0, &b), 0);
    ck_assert_int_eq(a->ops->lock(a, byte, 1, 2), 0);
    ck_assert_int_eq(b->ops->lock(b, byte, 1, 2), DREP_ERR_FILE_IN_USE);
    ck_assert_int_eq(b->ops->lock(b, byte, 1, 1), DREP_ERR_FILE_IN_USE);
    ck_assert_int_eq(b->ops->lock(b, byte + 7, 1, 1), 0);
    ck_assert_int_eq(a->ops->lock(a, byte + 7, 1, 1), 0);
    ck_assert_int_eq(a->ops->probe(a, byte + 1, 5, &held), 0);
    ck_assert_int_eq(held, 0);
    ck_assert_int_eq(a->ops->probe(a, byte + 1, 1000, &held), 0);
    ck_assert_int_eq(held, 1);
    b->ops->close(b);
    ck_assert_int_eq(a->ops->probe(a, byte + 1, 1000, &held), 0);
    ck_assert_int_eq(held, 0);
    ck_assert_int_eq(a->ops->lock(a, byte, 1, 0), 0);
    a->ops->close(a);
}
END_TEST

START_TEST(test_map_and_size)
{
    struct io *io;
    void *base, *handle;
    uint64_t size;

    ck_assert_int_eq(_i ? io_memory(NULL, 0, &io) : io_posix(in_dir("d"), IO_CREATE, 0, 0666, &io),
                     0);
    ck_assert_int_eq(io->ops->truncate(io, 100000), 0);
    ck_assert_int_eq(io->ops->write_at(io, "hello", 5, 5000), 0);
    ck_assert_int_eq(io->ops->sync(io), 0);
    ck_assert_int_eq(io->ops->size(io, &size), 0);
    ck_assert_uint_eq(size, 100000);
    ck_assert_int_eq(io->ops->map(io, 4998, 9, &base, &handle), 0);
    ck_assert_int_eq(memcmp(base, "\0\0hello\0\0", 9), 0);
    io->ops->unmap(handle, 9);
    ck_assert_int_eq(io->ops->truncate(io, 10), 0);
    ck_assert_int_eq(io->ops->truncate(io, 6000), 0);
    ck_assert_int_eq(io->ops->map(io, 5000, 5, &base, &handle), 0);
    ck_assert_int_eq(memcmp(base, "\0\0\0\0\0", 5), 0);
    io->ops->unmap(handle, 5);
    io->ops->close(io);
}
END_TEST

START_TEST(test_full_disk)
{
    /* Writing to a full device says so, with path and byte. */
    struct io *io;
    struct stat s;

    if (stat("/dev/full", &s))
        return;
    ck_assert_int_eq(io_posix("/dev/full", IO_WRITE, 0, 0, &io), DREP_ERR_ACCESS);
}
END_TEST

/* Bytes of the disk that the one file of the directory has. */
static int64_t on_disk(void)
{
    char command[512];
    long long blocks = -1;
    FILE *f;

    snprintf(command, sizeof(command), "stat -c %%b '%s'/.drep-*", dir);
    f = popen(command, "r");
    ck_assert_int_eq(fscanf(f, "%lld", &blocks), 1);
    pclose(f);
    return blocks * 512;
}

START_TEST(test_room_is_taken_where_it_is_asked_for)
{
    const uint64_t mib = (uint64_t)1 << 20;
    struct statfs fs;
    uint64_t size;
    struct io *io;

    ck_assert_int_eq(statfs(dir, &fs), 0);
    if (fs.f_type == 0x01021994) /* tmpfs takes no space ahead */
        return;
    ck_assert_int_eq(io_posix(in_dir("a"), IO_CREATE, 0, 0666, &io), 0);
    io->ops->room(io, 8192, 4 * mib);
    ck_assert_int_ge(on_disk(), (int64_t)(4 * mib));
    ck_assert_int_lt(on_disk(), (int64_t)(5 * mib));

    /* What is passed over stays a hole, until it is asked for, and no more of it is taken. */
    ck_assert_int_eq(io->ops->write_at(io, "x", 1, 64 * mib), 0);
    ck_assert_int_lt(on_disk(), (int64_t)(7 * mib));
    io->ops->room(io, 16 * mib, 8 * mib);
    ck_assert_int_ge(on_disk(), (int64_t)(12 * mib));
    ck_assert_int_lt(on_disk(), (int64_t)(15 * mib));
    io->ops->room(io, 60 * mib, 8 * mib);
    ck_assert_int_ge(on_disk(), (int64_t)(20 * mib));
    ck_assert_int_eq(io->ops->truncate(io, 80 * mib), 0);
    io->ops->room(io, 72 * mib, 8 * mib);
    ck_assert_int_ge(on_disk(), (int64_t)(28 * mib));
    ck_assert_int_eq(io->ops->size(io, &size), 0);
    ck_assert_uint_eq(size, 80 * mib);

    io->ops->room(io, 80 * mib, UINT64_MAX - mib); /* nonsense is not heard */
    ck_assert_int_eq(io->ops->truncate(io, mib), 0);
    ck_assert_int_le(on_disk(), (int64_t)mib);
    io->ops->close(io);
}
END_TEST

START_TEST(test_image_is_read_only)
{
    static const uint8_t image[4] = {1, 2, 3, 4};
    void *base, *handle;
    struct io *io;
    uint8_t b[4];

    ck_assert_int_eq(io_memory(image, 4, &io), 0);
    ck_assert_int_eq(io->ops->read_at(io, b, 4, 0), 0);
    ck_assert_int_eq(memcmp(b, image, 4), 0);
    ck_assert_int_eq(io->ops->read_at(io, b, 4, 1), DREP_ERR_TRUNCATE);
    ck_assert_int_eq(io->ops->read_at(io, b, 4, UINT64_MAX), DREP_ERR_TRUNCATE);
    ck_assert_int_eq(io->ops->write_at(io, b, 1, 0), DREP_ERR_READ_ONLY);
    ck_assert_int_eq(io->ops->truncate(io, 1), DREP_ERR_READ_ONLY);
    ck_assert_int_eq(io->ops->map(io, 1, 3, &base, &handle), 0);
    ck_assert_ptr_eq(base, image + 1);
    io->ops->unmap(handle, 3);
    io->ops->close(io);
}
END_TEST

/* Both drivers: ranges that touch and ranges that do not, short ones, more than one call takes. */
START_TEST(test_many_ranges)
{
    enum { RANGES = 200, BYTES = 4000 };
    static uint8_t bytes[BYTES], got[RANGES][40];
    struct io_range range[RANGES];
    uint64_t at = 7;
    struct io *io;

    for (int i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    if (_i)
        ck_assert_int_eq(io_memory(NULL, 0, &io), 0);
    else
        ck_assert_int_eq(io_posix(in_dir("many"), IO_CREATE, 0, 0666, &io), 0);
    ck_assert_int_eq(io->ops->write_at(io, bytes, BYTES, 0), 0);
    for (int i = 0; i < RANGES; i++) {
        range[i] = (struct io_range){at, (size_t)(i * 5 % 17), got[i]};
        at += range[i].size + (i % 5 == 4 ? 3 : 0);
    }
    ck_assert_uint_lt(at, BYTES);
    ck_assert_int_eq(io_read_many(io, range, RANGES), 0);
    for (int i = 0; i < RANGES; i++)
        ck_assert_int_eq(memcmp(got[i], bytes + range[i].offset, range[i].size), 0);
    ck_assert_int_eq(io_read_many(io, range, 0), 0);
    /* The end of the file, in the middle of a call and alone. */
    range[0] = (struct io_range){BYTES - 10, 8, got[0]};
    range[1] = (struct io_range){BYTES - 2, 2, got[1]};
    range[2] = (struct io_range){BYTES, 1, got[2]};
    ck_assert_int_eq(io_read_many(io, range, 2), 0);
    ck_assert_int_eq(memcmp(got[1], bytes + BYTES - 2, 2), 0);
    ck_assert_int_eq(io_read_many(io, range, 3), DREP_ERR_TRUNCATE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "4000"));
    io->ops->close(io);
}
END_TEST

/* Long reads to every place in a page, also past the end of the file: all bytes, and no others. */
START_TEST(test_reads_to_any_place)
{
    enum { BYTES = 600001, PLACES = 80, AROUND = 64 };
    uint8_t *bytes = malloc(BYTES), *page = aligned_alloc(4096, 1 << 20);
    struct io *io;

    ck_assert_ptr_nonnull(bytes);
    ck_assert_ptr_nonnull(page);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    ck_assert_int_eq(io_posix(in_dir("any"), IO_CREATE, 0, 0666, &io), 0);
    ck_assert_int_eq(io->ops->write_at(io, bytes, BYTES, 0), 0);
    for (int i = 0; i < PLACES; i++) {
        uint64_t offset = (uint64_t)(i % 3) * 8191;
        size_t size = i % 4 == 3 ? (size_t)(32 << 10) + (size_t)i : BYTES - offset;
        uint8_t *to = page + AROUND + offset % 4096 + i;

        memset(page, 0xa5, 1 << 20);
        ck_assert_int_eq(io->ops->read_at(io, to, size, offset), 0);
        ck_assert_int_eq(memcmp(to, bytes + offset, size), 0);
        for (int k = 1; k <= AROUND; k++)
            ck_assert(to[-k] == 0xa5 && to[size + (size_t)k - 1] == 0xa5);
        ck_assert_int_eq(io->ops->read_at(io, to, BYTES, offset + 1), DREP_ERR_TRUNCATE);
        ck_assert_ptr_nonnull(strstr(drep_error(), "600001"));
        ck_assert_int_eq(memcmp(to, bytes + offset + 1, BYTES - offset - 1), 0);
        ck_assert_int_eq(to[BYTES], 0xa5);
    }
    io->ops->close(io);
    free(page);
    free(bytes);
}
END_TEST

/* ---- files that a system shows late ---- */

enum { LATE_NS = 10000000 }; /* 10 ms */
#define HOUR ((int64_t)3600 * 1000000000)

/* Waits a little, then appends to the file, or creates it. */
static void *append_late(void *path)
{
    const struct timespec late = {0, LATE_NS};
    FILE *f;

    nanosleep(&late, NULL);
    f = fopen(path, "a");
    if (f) {
        fputs("late", f);
        fclose(f);
    }
    return f ? path : NULL;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

START_TEST(test_patience)
{
    const char *path = in_dir("late");
    char buf[9] = "";
    struct io *io = NULL;
    pthread_t thread;
    void *made;

    ck_assert_int_eq(pthread_create(&thread, NULL, append_late, (void *)(uintptr_t)path), 0);
    ck_assert_int_eq(io_posix_patient(path, _i ? IO_WRITE : IO_READ, HOUR, &io), 0);
    ck_assert_int_eq(io->ops->read_at(io, buf, 4, 0), 0); /* the name may come before the bytes */
    ck_assert_int_eq(pthread_join(thread, &made), 0);
    ck_assert_ptr_nonnull(made);
    ck_assert_int_eq(pthread_create(&thread, NULL, append_late, (void *)(uintptr_t)path), 0);
    ck_assert_int_eq(io->ops->read_at(io, buf, 8, 0), 0); /* half of it is there */
    ck_assert_str_eq(buf, "latelate");
    ck_assert_int_eq(pthread_join(thread, &made), 0);
    io->ops->close(io);
}
END_TEST

START_TEST(test_patience_ends)
{
    const char *path = in_dir("never");
    struct io *io = NULL;
    int64_t begin = now_ns();
    char byte;
    FILE *f;

    ck_assert_int_eq(io_posix_patient(path, IO_READ, LATE_NS, &io), DREP_ERR_NO_SUCH_FILE);
    ck_assert_int_ge(now_ns() - begin, LATE_NS);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    ck_assert_int_eq(io_posix_patient(path, IO_READ, LATE_NS, &io), 0);
    begin = now_ns();
    ck_assert_int_eq(io->ops->read_at(io, &byte, 1, 0), DREP_ERR_TRUNCATE);
    ck_assert_int_ge(now_ns() - begin, LATE_NS);
    io->ops->close(io);
    /* Time heals neither another error nor a file that nobody else writes. */
    ck_assert_int_ne(io_posix_patient(dir, IO_READ, HOUR, &io), 0);
    ck_assert_int_eq(io_posix(path, IO_READ, 0, 0, &io), 0);
    ck_assert_int_eq(io->ops->read_at(io, &byte, 1, 0), DREP_ERR_TRUNCATE);
    io->ops->close(io);
}
END_TEST

START_TEST(test_each_allocation_fails)
{
    struct io *io = NULL;
    int64_t n = 0;
    int err;

    do {
        mem_fail_at(n++);
        err = _i ? io_posix(in_dir("e"), IO_CREATE, 0, 0666, &io) : io_memory("x", 1, &io);
        mem_fail_at(-1);
    } while (err == DREP_ERR_NOMEM);
    ck_assert_int_eq(err, 0);
    io->ops->close(io);
    ck_assert_int_eq(entries(), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("io");
    TCase *t = tcase_create("io");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, make_dir, remove_dir);
    tcase_add_test(t, test_new_file_appears_whole);
    tcase_add_test(t, test_exclusive_creation);
    tcase_add_test(t, test_names_that_are_no_files);
    tcase_add_test(t, test_links_are_followed);
    tcase_add_test(t, test_locks_exclude_other_handles);
    tcase_add_loop_test(t, test_map_and_size, 0, 2);
    tcase_add_test(t, test_full_disk);
    tcase_add_test(t, test_room_is_taken_where_it_is_asked_for);
    tcase_add_test(t, test_image_is_read_only);
    tcase_add_loop_test(t, test_many_ranges, 0, 2);
    tcase_add_test(t, test_reads_to_any_place);
    tcase_add_loop_test(t, test_patience, 0, 2);
    tcase_add_test(t, test_patience_ends);
    tcase_add_loop_test(t, test_each_allocation_fails, 0, 2);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
