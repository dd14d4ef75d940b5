/* test_stream.c - containers that are written to a descriptor in order (D39). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"
#include "format/block.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

/* ---- the driver ---- */

#define SIZE ((size_t)100 << 20) /* more than the window */

static uint8_t pattern(uint64_t at)
{
    return (uint8_t)(at * 31 + (at >> 13) + (at >> 21));
}

/* Writes [from, to) in pieces, the last one first. */
static void write_backwards(struct io *io, uint64_t from, uint64_t to)
{
    static uint8_t piece[100000];

    while (to > from) {
        size_t n = to - from < sizeof piece ? (size_t)(to - from) : sizeof piece;

        to -= n;
        for (size_t i = 0; i < n; i++)
            piece[i] = pattern(to + i);
        ok(io->ops->write_at(io, piece, n, to));
    }
}

static void check_read(struct io *io, uint64_t at)
{
    uint8_t got[3] = {0};

    ok(io->ops->read_at(io, got, sizeof got, at));
    for (uint64_t i = 0; i < sizeof got; i++)
        ck_assert_uint_eq(got[i], pattern(at + i));
}

static uint64_t length(int fd)
{
    return (uint64_t)lseek(fd, 0, SEEK_END);
}

START_TEST(test_D39_bytes_leave_in_order_once_they_are_settled)
{
    int fd = open(temp_path("out"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    uint8_t b = 0;
    uint64_t size;
    struct io *io;

    ck_assert_int_ge(fd, 0);
    ok(io_stream(fd, "s", &io));
    write_backwards(io, 1000, 5000);
    check_read(io, 1000);
    ok(io->ops->read_at(io, &b, 1, 10)); /* not written yet: zero */
    ck_assert_uint_eq(b, 0);
    fails(io->ops->read_at(io, &b, 1, 5000), DREP_ERR_TRUNCATE);
    write_backwards(io, 0, 1000);
    ck_assert_uint_eq(length(fd), 0);
    ok(io->ops->settle(io, 3000)); /* few bytes wait for more */
    check_read(io, 2000);
    ok(io->ops->sync(io));
    ck_assert_uint_eq(length(fd), 3000);
    fails(io->ops->read_at(io, &b, 1, 2999), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(io->ops->write_at(io, &b, 1, 2999), DREP_ERR_UNSUPPORTED_OPERATION);
    check_read(io, 3000);
    /* Much more than fits into memory, from the end to the start, settled in steps. */
    write_backwards(io, 5000, SIZE);
    for (uint64_t at = 5000; at < SIZE; at += 7777777) {
        ok(io->ops->settle(io, at));
        check_read(io, at);
        check_read(io, SIZE - 3);
    }
    write_backwards(io, SIZE, SIZE + 10);
    ok(io->ops->settle(io, SIZE + 10));
    /* Behind that, memory is enough again; what nobody writes is zeros. */
    write_backwards(io, SIZE + 20, SIZE + 30);
    ok(io->ops->settle(io, SIZE + 40));
    ok(io->ops->sync(io));
    ok(io->ops->size(io, &size));
    ck_assert_uint_eq(size, SIZE + 40);
    ck_assert_uint_eq(length(fd), SIZE + 40);
    io->ops->close(io);
    for (uint64_t at = 0; at < SIZE + 40; at += at < SIZE - 20 ? 4099 : 1) {
        bool hole = (at >= SIZE + 10 && at < SIZE + 20) || at >= SIZE + 30;

        ck_assert_int_eq(pread(fd, &b, 1, (off_t)at), 1);
        ck_assert_uint_eq(b, hole ? 0 : pattern(at));
    }
    close(fd);
}
END_TEST

/* ---- through a pipe ---- */

struct reader {
    int fd;
    uint8_t *p;
    size_t size, room;
    pthread_t thread;
};

static void *read_all(void *ctx)
{
    struct reader *r = ctx;
    ssize_t n;

    do {
        if (r->room - r->size < 65536) {
            r->room = 2 * r->room + 65536;
            r->p = realloc(r->p, r->room);
        }
        n = read(r->fd, r->p + r->size, r->room - r->size);
        r->size += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    close(r->fd);
    return NULL;
}

/* Begins to read; gives the end to write to. */
static int pipe_to(struct reader *r)
{
    int ends[2];

    memset(r, 0, sizeof *r);
    ck_assert_int_eq(pipe(ends), 0);
    r->fd = ends[0];
    ck_assert_int_eq(pthread_create(&r->thread, NULL, read_all, r), 0);
    return ends[1];
}

static void pipe_end(struct reader *r, int fd)
{
    close(fd);
    pthread_join(r->thread, NULL);
}

#define ROWS 700
#define COLUMNS 2000

static const int64_t shape[] = {ROWS, COLUMNS}, cut[] = {64, 300};

/* A file with one dataset of each layout and a large value, of 11 MB each. */
static drep_file *source(double *data)
{
    static const int filters[] = {0, 0, DREP_FILTER_SHUFFLE};
    static char text[100000];
    const char *s = text;
    drep_file *f;

    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = i * 0.5;
    for (int i = 0; i < 3; i++) {
        drep_filter filter = {.id = filters[i]};
        drep_spec spec =
            DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = shape,
                      .layout = i == 0 ? DREP_CONTIGUOUS : DREP_CHUNKED,
                      .chunk = i == 0 ? NULL : cut, .filters = filters[i] ? &filter : NULL,
                      .nfilters = filters[i] != 0);
        drep_dataset *ds;
        char path[10];

        snprintf(path, sizeof path, "/d%d", i);
        ok(drep_dataset_create(f, path, &spec, &ds));
        ok(drep_write(ds, NULL, DREP_DOUBLE, data, NULL));
        drep_dataset_close(ds);
    }
    memset(text, 'x', sizeof text - 1);
    ok(drep_attr_write_string(f, "/", "long", s));
    return f;
}

static void check_copy(const struct reader *r, const double *data)
{
    double *out = malloc(sizeof *out * ROWS * COLUMNS);
    drep_header h = DREP_HEADER;
    drep_file *f;

    ok(drep_open_image(r->p, r->size, NULL, &f));
    ok(drep_header_get(f, &h));
    ck_assert_uint_eq(h.sequence, 1);
    ck_assert_int_eq(h.damaged_slot, 0);
    ck_assert_uint_eq(h.end, r->size - FMT_SLOT_SIZE);
    for (int i = 0; i < 3; i++) {
        drep_dataset *ds;
        char path[10];

        snprintf(path, sizeof path, "/d%d", i);
        ok(drep_dataset_open(f, path, &ds));
        ok(drep_read(ds, NULL, DREP_DOUBLE, out, NULL));
        ck_assert_int_eq(memcmp(out, data, sizeof *out * ROWS * COLUMNS), 0);
        drep_dataset_close(ds);
    }
    check_file(f);
    drep_abandon(f);
    free(out);
}

static int recut(uint64_t id, drep_spec *spec, void *ctx)
{
    static const int64_t chunks[][2] = {{1, 1}, {100, 100}, {600, COLUMNS}, {ROWS, 7}};
    static drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    int which = *(int *)ctx;

    if (which == 0)
        return 0;
    spec->layout = which == 4 ? DREP_CONTIGUOUS : DREP_CHUNKED;
    spec->chunk = which == 4 ? NULL : chunks[which];
    spec->filters = &filter;
    spec->nfilters = which != 4 && id % 2;
    return 0;
}

/* As they are, in other chunks, as slabs; under the same representation and under another. */
START_TEST(test_D39_what_is_copied_leaves_and_can_be_read)
{
    double *data = malloc(sizeof *data * ROWS * COLUMNS);
    drep_file *from = source(data), *to;
    struct reader r;

    for (int which = 0; which < 5; which++)
        for (int other = 0; other < 2; other++) {
            drep_copying how =
                DREP_COPYING(.plan = recut, .ctx = &which, .threads = 1 + which % 2 * 3);
            int fd = pipe_to(&r);

            ok(drep_create_stream(fd, other ? "internal" : NULL, other ? NULL : from, NULL, &to));
            ok(drep_copy(from, "/", to, "/", &how));
            ok(drep_close(to));
            pipe_end(&r, fd);
            check_copy(&r, data);
            free(r.p);
        }
    drep_abandon(from);
    free(data);
}
END_TEST

/* Most of a large copy has left before its end. */
START_TEST(test_D39_payload_does_not_wait_for_the_commit)
{
    double *data = malloc(sizeof *data * ROWS * COLUMNS);
    drep_file *from = source(data), *to;
    const char *path = temp_path("early");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    drep_dataset *ds;

    ok(drep_create_stream(fd, NULL, from, NULL, &to));
    ok(drep_copy(from, "/", to, "/", NULL));
    ck_assert_uint_ge(length(fd), 3 * 8 * (uint64_t)ROWS * COLUMNS - (2 << 20));
    /* Bytes that have left are refused by name, and the stream goes on. */
    ok(drep_dataset_open(to, "/d0", &ds));
    fails(drep_read(ds, NULL, DREP_DOUBLE, data, NULL), DREP_ERR_UNSUPPORTED_OPERATION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "left with the stream"));
    drep_dataset_close(ds);
    ok(drep_commit(to));
    fails(drep_group_create(to, "/late", 0), DREP_ERR_FAILED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "stream has ended"));
    drep_abandon(to);
    close(fd);
    ok(drep_open(path, DREP_RDONLY, NULL, &to));
    check_file(to);
    drep_abandon(to);
    drep_abandon(from);
    free(data);
}
END_TEST

/* Data that other calls write may change until the commit. */
START_TEST(test_D39_other_writes_wait)
{
    static int in[1000], out[1000];
    const int64_t dims[] = {1000};
    struct reader r;
    int fd = pipe_to(&r);
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create_stream(fd, "native", NULL, NULL, &f));
    ds = new_dataset(f, "/d", DREP_INT, 1, dims);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            in[i] = i * round;
        ok(drep_write(ds, NULL, DREP_INT, in, NULL));
        ok(drep_read(ds, NULL, DREP_INT, out, NULL));
        ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    }
    drep_dataset_close(ds);
    ok(drep_link_remove(f, "/d"));
    ds = new_dataset(f, "/e", DREP_INT, 1, dims);
    ok(drep_write(ds, NULL, DREP_INT, in, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    pipe_end(&r, fd);
    ok(drep_open_image(r.p, r.size, NULL, &f));
    ok(drep_dataset_open(f, "/e", &ds));
    ok(drep_read(ds, NULL, DREP_INT, out, NULL));
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
    free(r.p);
}
END_TEST

/* Every truncation of a stream is told, and none is taken for a file. */
START_TEST(test_D39_a_stream_without_its_end_is_refused)
{
    struct reader r;
    int fd = pipe_to(&r);
    drep_file *f;
    size_t whole;

    ok(drep_create_stream(fd, "external32", NULL, NULL, &f));
    ok(drep_attr_write_string(f, "/", "a", "b"));
    ok(drep_close(f));
    pipe_end(&r, fd);
    whole = r.size;
    for (size_t size = 0; size < whole; size++) {
        int err = drep_open_image(r.p, size, NULL, &f);

        ck_assert_msg(err == (size < 8 ? DREP_ERR_NOT_DREP : DREP_ERR_TRUNCATE), "%zu bytes: %d",
                      size, err);
    }
    ok(drep_open_image(r.p, whole, NULL, &f));
    drep_abandon(f);
    free(r.p);
    /* Without a commit. */
    fd = pipe_to(&r);
    ok(drep_create_stream(fd, "external32", NULL, NULL, &f));
    drep_abandon(f);
    pipe_end(&r, fd);
    ck_assert_uint_lt(r.size, whole);
    free(r.p);
}
END_TEST

START_TEST(test_D39_arguments_and_readers_that_go_away)
{
    struct reader r;
    int fd = pipe_to(&r), ends[2];
    drep_file *f;

    fails(drep_create_stream(-1, "native", NULL, NULL, &f), DREP_ERR_ARG);
    fails(drep_create_stream(fd, NULL, NULL, NULL, &f), DREP_ERR_ARG);
    fails(drep_create_stream(fd, "native", NULL, NULL, NULL), DREP_ERR_ARG);
    fails(drep_create_stream(fd, "nix", NULL, NULL, &f), DREP_ERR_UNSUPPORTED_DATAREP);
    pipe_end(&r, fd);
    free(r.p);
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    ok(drep_create_stream(ends[1], "native", NULL, NULL, &f));
    ok(drep_group_create(f, "/g", 0));
    fails(drep_commit(f), DREP_ERR_IO);
    fails(drep_commit(f), DREP_ERR_FAILED);
    drep_abandon(f);
    close(ends[1]);
}
END_TEST

/* A descriptor that does not block is waited for. */
START_TEST(test_D39_a_descriptor_that_does_not_block)
{
    double *data = malloc(sizeof *data * ROWS * COLUMNS);
    drep_file *from = source(data), *to;
    struct reader r;
    int fd = pipe_to(&r);

    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ok(drep_create_stream(fd, NULL, from, NULL, &to));
    ok(drep_copy(from, "/", to, "/", NULL));
    ok(drep_close(to));
    pipe_end(&r, fd);
    check_copy(&r, data);
    free(r.p);
    drep_abandon(from);
    free(data);
}
END_TEST

/* ---- going on ---- */

static int exists(drep_file *f, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;

    return drep_stat(f, path, &info) == 0;
}

/* Opening for writing alone changes nothing; the first change makes an ordinary file of it. */
START_TEST(test_D39_a_file_that_was_streamed_goes_on_as_any_other)
{
    const char *path = temp_path("on");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint64_t size;
    uint8_t byte;
    drep_file *f, *reader;

    ok(drep_create_stream(fd, "external32", NULL, NULL, &f));
    ok(drep_group_create(f, "/a", 0));
    ok(drep_close(f));
    size = length(fd);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_close(f));
    ck_assert_uint_eq(length(fd), size);
    ck_assert_int_eq(pread(fd, &byte, 1, 47), 1);
    ck_assert_uint_eq(byte, 1);
    ok(drep_open(path, DREP_RDONLY, NULL, &reader));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_group_create(f, "/b", 0));
    ok(drep_commit(f));
    check_file(f);
    ok(drep_group_create(f, "/c", 0));
    drep_abandon(f);
    ck_assert_int_eq(pread(fd, &byte, 1, 47), 1);
    ck_assert_uint_eq(byte, 0);
    check_file(reader); /* it stays at its commit, or moves on */
    ok(drep_refresh(reader));
    ck_assert_int_eq(exists(reader, "/b"), 1);
    drep_abandon(reader);
    ok(drep_open_commit(path, DREP_RDONLY, 1, NULL, &f));
    ck_assert_int_eq(exists(f, "/b"), 0);
    check_file(f);
    drep_abandon(f);
    close(fd);
}
END_TEST

/* A write that is lost, or torn, on the way to slot A leaves the slot at the end in force. */
START_TEST(test_D39_abandoning_after_the_first_change)
{
    const char *path = temp_path("ab");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    static int numbers[100000];
    const int64_t dims[] = {100000};
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create_stream(fd, "external32", NULL, NULL, &f));
    ok(drep_group_create(f, "/a", 0));
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ds = new_dataset(f, "/d", DREP_INT, 1, dims);
    ok(drep_write(ds, NULL, DREP_INT, numbers, NULL));
    drep_dataset_close(ds);
    drep_abandon(f);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ck_assert_int_eq(exists(f, "/a"), 1);
    ck_assert_int_eq(exists(f, "/d"), 0);
    check_file(f);
    drep_abandon(f);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_D39_bytes_leave_in_order_once_they_are_settled);
    tcase_add_test(tc, test_D39_what_is_copied_leaves_and_can_be_read);
    tcase_add_test(tc, test_D39_payload_does_not_wait_for_the_commit);
    tcase_add_test(tc, test_D39_other_writes_wait);
    tcase_add_test(tc, test_D39_a_stream_without_its_end_is_refused);
    tcase_add_test(tc, test_D39_arguments_and_readers_that_go_away);
    tcase_add_test(tc, test_D39_a_descriptor_that_does_not_block);
    tcase_add_test(tc, test_D39_a_file_that_was_streamed_goes_on_as_any_other);
    tcase_add_test(tc, test_D39_abandoning_after_the_first_change);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
