/* queue.c - waiting for the writer's lock.
 *
 * Locks cannot be waited for with a limit of time, so a waiter looks again and again: when a writer
 * closes the file, as far as the system tells, and after pauses.  How often decides how soon it
 * comes in, not when: that is its number.  A new file that is to replace another has a lock of its
 * own; who waits for the other one has no number. */
/* SPDX-License-Identifier: MIT */
#include "txn/queue.h"

#include "base/clock.h"
#include "base/error.h"

#include <time.h>

#define NUMBERS (((uint64_t)1 << 32) - 1)
#define FIRST (FMT_LOCK_RANKS - NUMBERS)

/* Nanoseconds between two looks, which grow: of who is next, of the others. */
#define PAUSE_MIN ((int64_t)50000)
#define PAUSE_NEXT ((int64_t)2000000)
#define PAUSE_MAX ((int64_t)4000000)

/* *held: somebody else has a number from `from` up to, but not, `to`. */
static int numbers_in(struct store *st, uint64_t from, uint64_t to, int *held)
{
    *held = 0;
    return to > from ? st->io->ops->probe(st->io, FIRST + from, to - from, held) : 0;
}

/* Find the first number above all that are in use, or NUMBERS.  Each probe finds a higher one. */
static int number_behind(struct store *st, uint64_t *number)
{
    uint64_t low = 0, at = FIRST;
    int err = 0, held = 1;

    while (!err && held && low < NUMBERS) {
        err = st->io->ops->probe_at(st->io, FIRST + low, NUMBERS - low, &held, &at);
        if (!err && held)
            low = at - FIRST + 1;
    }
    *number = low;
    return err;
}

/* Likewise, of a driver that tells only whether some are in use. */
static int next_number(struct store *st, uint64_t *number)
{
    uint64_t low = 0, high = 1; /* it is at least low, and mostly small */
    int held, err;

    while (!(err = numbers_in(st, high, NUMBERS, &held)) && held) {
        low = high + 1;
        high *= 2;
    }
    while (!err && low < high) {
        uint64_t mid = low + (high - low) / 2;

        err = numbers_in(st, mid, NUMBERS, &held);
        low = held ? mid + 1 : low;
        high = held ? high : mid;
    }
    *number = low;
    return err;
}

/* Take a number; another waiter may be faster. */
static int take_number(struct store *st, uint64_t *number)
{
    int err;

    do {
        err = st->io->ops->probe_at ? number_behind(st, number) : next_number(st, number);
        if (!err && *number < NUMBERS)
            err = st->io->ops->lock(st->io, FIRST + *number, 1, 2);
    } while (err == DREP_ERR_FILE_IN_USE);
    return err;
}

static void give_number(struct store *st, uint64_t number)
{
    struct fail_state why;

    fail_save(&why);
    if (number < NUMBERS)
        st->io->ops->lock(st->io, FIRST + number, 1, 0);
    fail_restore(&why);
}

static void pause_for(struct store *st, int64_t ns)
{
    struct timespec t = {0, (long)ns};

    if (st->io->ops->pause)
        st->io->ops->pause(st->io, ns);
    else
        nanosleep(&t, NULL);
}

/* Lock the writer's byte, and where there may be ranks also theirs, at once: so nobody becomes the
 * writer while ranks of one that is gone still write (R6.14). */
static int lock_writer(struct store *st)
{
    const struct io_ops *ops = st->io->ops;

    return ops->where ? ops->lock(st->io, FMT_LOCK_RANKS, 2, 2)
                      : ops->lock(st->io, FMT_LOCK_WRITER, 1, 2);
}

/* Look until the number is the lowest and the lock is free, or the time is over. */
static int wait_turn(struct store *st, uint64_t number, int64_t until)
{
    int64_t pause = PAUSE_MIN, most, left;
    int earlier, err;

    for (;;) {
        err = numbers_in(st, 0, number, &earlier);
        if (!err)
            err = earlier ? io_in_use(st->io) : lock_writer(st);
        left = until - now_ns();
        if (err != DREP_ERR_FILE_IN_USE || left <= 0)
            return err;
        most = earlier ? PAUSE_MAX : PAUSE_NEXT;
        pause = pause < most ? pause : most;
        pause_for(st, pause < left ? pause : left);
        pause *= 2;
    }
}

static int wait_in_line(struct store *st, int64_t until)
{
    uint64_t number;
    int err = take_number(st, &number);

    if (err)
        return err;
    err = wait_turn(st, number, until);
    give_number(st, number);
    return err;
}

int queue_lock_writer(struct store *st)
{
    const struct io_ops *ops = st->io->ops;
    int64_t wait = st->opts.lock_wait, now = now_ns();
    int waits = 0, err = 0;

    if (wait <= 0 || !ops->probe)
        return lock_writer(st);
    err = numbers_in(st, 0, NUMBERS, &waits);
    if (!err && !waits)
        err = lock_writer(st);
    if (err != DREP_ERR_FILE_IN_USE && !waits)
        return err;
    err = wait_in_line(st, wait < INT64_MAX - now ? now + wait : INT64_MAX);
    return err == DREP_ERR_FILE_IN_USE ? fail_in(err, "after %.3g s", (double)wait / 1e9) : err;
}
