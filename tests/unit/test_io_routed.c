/* test_io_routed.c - bytes of a file through a driver that may decline a call.
 *
 * The driver and the file have different bytes at each offset, so that every byte tells which of
 * them served it. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "bytes.h"
#include "io/io.h"

#include <pthread.h>

enum { SIZE = 64 };

/* The state of the driver. */
struct fast_path {
    uint8_t p[SIZE];
    pthread_t owner; /* other threads are declined */
    int declines;    /* and so is everything */
    int fails;       /* or gives this error */
    int calls, closed;
};

/* 0: the driver serves this call. */
static int serves(struct fast_path *d)
{
    __atomic_fetch_add(&d->calls, 1, __ATOMIC_RELAXED);
    if (d->fails)
        return drep_error_set(d->fails, "the fast path is blocked");
    return d->declines || !pthread_equal(pthread_self(), d->owner) ? DREP_ERR_UNSUPPORTED_OPERATION
                                                                   : 0;
}

static int fast_read(void *state, const drep_range *range, size_t n)
{
    struct fast_path *d = state;
    int err = serves(d);

    for (size_t i = 0; !err && i < n; i++) {
        if (range[i].offset > SIZE || range[i].size > SIZE - range[i].offset)
            return DREP_ERR_TRUNCATE;
        memcpy(range[i].buf, d->p + range[i].offset, range[i].size);
    }
    return err;
}

static int fast_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct fast_path *d = state;
    int err = serves(d);

    if (!err)
        memcpy(d->p + offset, buf, size);
    return err;
}

static int fast_size(void *state, uint64_t *size)
{
    (void)state;
    *size = SIZE;
    return 0;
}

static int fast_truncate(void *state, uint64_t size)
{
    (void)state;
    (void)size;
    return DREP_ERR_UNSUPPORTED_OPERATION;
}

static void fast_close(void *state)
{
    ((struct fast_path *)state)->closed++;
}

static const drep_driver driver =
    DREP_DRIVER(.read_many = fast_read, .write_at = fast_write, .file_size = fast_size,
                .truncate = fast_truncate, .close = fast_close);

/* A file whose bytes are 0, 1, 2, ..., and a driver that has 100 more at each. */
static void routed_begin(struct fast_path *d, struct io **base, struct io **routed)
{
    uint8_t bytes[SIZE];

    *d = (struct fast_path){.owner = pthread_self()};
    for (int i = 0; i < SIZE; i++) {
        bytes[i] = (uint8_t)i;
        d->p[i] = (uint8_t)(100 + i);
    }
    ck_assert_int_eq(io_memory(NULL, 0, base), 0);
    ck_assert_int_eq((*base)->ops->write_at(*base, bytes, SIZE, 0), 0);
    ck_assert_int_eq(io_routed(*base, &driver, d, routed), 0);
    ck_assert_str_eq((*routed)->path, (*base)->path);
}

static void routed_end(struct fast_path *d, struct io *base, struct io *routed)
{
    uint8_t byte = 77;

    routed->ops->close(routed);
    ck_assert_int_eq(d->closed, 1);
    ck_assert_int_eq(base->ops->read_at(base, &byte, 1, 5), 0); /* it stays open */
    ck_assert_int_eq(byte, 5);
    base->ops->close(base);
}

static uint8_t byte_at(struct io *io, uint64_t offset)
{
    uint8_t byte = 77;

    ck_assert_msg(io->ops->read_at(io, &byte, 1, offset) == 0, "%s", drep_error());
    return byte;
}

START_TEST(test_the_driver_serves_what_it_can)
{
    struct fast_path d;
    struct io *base, *io;

    routed_begin(&d, &base, &io);
    ck_assert_int_eq(byte_at(io, 9), 109);
    ck_assert_int_eq(io->ops->write_at(io, "\x2a", 1, 9), 0);
    ck_assert_int_eq(d.p[9], 42);
    ck_assert_int_eq(byte_at(base, 9), 9);
    ck_assert_int_eq(d.calls, 2);
    routed_end(&d, base, io);
}
END_TEST

START_TEST(test_what_it_declines_goes_to_the_file)
{
    struct fast_path d;
    struct io *base, *io;

    routed_begin(&d, &base, &io);
    d.declines = 1;
    ck_assert_int_eq(byte_at(io, 9), 9);
    ck_assert_int_eq(io->ops->write_at(io, "\x2a", 1, 9), 0);
    ck_assert_int_eq(d.p[9], 109);
    ck_assert_int_eq(byte_at(base, 9), 42);
    ck_assert_int_eq(d.calls, 2); /* it was asked each time: it may serve the next call */
    d.declines = 0;
    ck_assert_int_eq(byte_at(io, 9), 109);
    routed_end(&d, base, io);
}
END_TEST

struct reading {
    struct io *io;
    uint8_t low; /* what byte 0 must be */
};

static void *read_each_byte(void *ctx)
{
    const struct reading *r = ctx;

    for (int round = 0; round < 20; round++)
        for (int i = 0; i < SIZE; i++)
            if (byte_at(r->io, (uint64_t)i) != r->low + i)
                return NULL;
    return ctx;
}

/* The use that it is made for: a library that admits one thread, and calls from any. */
START_TEST(test_threads_that_the_driver_does_not_admit)
{
    struct fast_path d;
    struct io *base, *io;
    struct reading other, own;
    pthread_t thread;
    void *right;

    routed_begin(&d, &base, &io);
    other = (struct reading){io, 0};
    own = (struct reading){io, 100};
    ck_assert_int_eq(pthread_create(&thread, NULL, read_each_byte, &other), 0);
    ck_assert_ptr_nonnull(read_each_byte(&own));
    ck_assert_int_eq(pthread_join(thread, &right), 0);
    ck_assert_ptr_nonnull(right);
    ck_assert_int_eq(d.calls, 2 * 20 * SIZE);
    routed_end(&d, base, io);
}
END_TEST

/* An error is no refusal: the file must not serve what the driver has half done. */
START_TEST(test_errors_of_the_driver)
{
    struct fast_path d;
    struct io *base, *io;
    uint8_t byte = 77;

    routed_begin(&d, &base, &io);
    d.fails = DREP_ERR_NO_SPACE;
    ck_assert_int_eq(io->ops->write_at(io, "x", 1, 9), DREP_ERR_NO_SPACE);
    ck_assert_ptr_nonnull(strstr(drep_error(), base->path));
    ck_assert_ptr_nonnull(strstr(drep_error(), "byte 9: the fast path is blocked"));
    ck_assert_int_eq(byte_at(base, 9), 9);
    d.fails = DREP_ERR_TIMEOUT;
    ck_assert_int_eq(io->ops->read_at(io, &byte, 1, 9), DREP_ERR_TIMEOUT);
    d.fails = 0;
    ck_assert_int_eq(io->ops->read_at(io, &byte, 1, SIZE), DREP_ERR_TRUNCATE);
    ck_assert_int_eq(byte, 77);
    d.declines = 1;
    ck_assert_int_eq(io->ops->read_at(io, &byte, 1, SIZE), DREP_ERR_TRUNCATE); /* the file's own */
    routed_end(&d, base, io);
}
END_TEST

/* The state is closed once, whichever allocation fails. */
START_TEST(test_no_memory)
{
    struct io *base, *io = NULL;
    int err = DREP_ERR_NOMEM;

    ck_assert_int_eq(io_memory(NULL, 0, &base), 0);
    for (int n = 0; err == DREP_ERR_NOMEM; n++) {
        struct fast_path d = {.owner = pthread_self()};

        mem_fail_at(n);
        err = io_routed(base, &driver, &d, &io);
        mem_fail_at(-1);
        ck_assert_int_eq(d.closed, err != 0);
        ck_assert(err != 0 || n > 1);
        if (!err)
            io->ops->close(io);
    }
    ck_assert_int_eq(err, 0);
    base->ops->close(base);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("io_routed");
    TCase *t = tcase_create("io_routed");

    tcase_add_test(t, test_the_driver_serves_what_it_can);
    tcase_add_test(t, test_what_it_declines_goes_to_the_file);
    tcase_add_test(t, test_threads_that_the_driver_does_not_admit);
    tcase_add_test(t, test_errors_of_the_driver);
    tcase_add_test(t, test_no_memory);
    suite_add_tcase(s, t);
    return run_suite(s);
}
