/* fetch.c - bytes of the file that were read before they were asked for. */
/* SPDX-License-Identifier: MIT */
#include "space/fetch.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "space/space.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of one fetch: ranges that ascend and are disjoint, in memory behind the struct or
 * where the caller wants them. */
struct fetched {
    struct fetched *next;
    uint64_t size; /* bytes of all ranges */
    size_t n;
    struct io_range range[];
};

int fetch_init(struct store *st, uint64_t most)
{
    struct fetch *f = st->fetch;

    if (lock_init(&f->extent))
        return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    if (pthread_rwlock_init(&f->lock, NULL)) {
        pthread_mutex_destroy(&f->extent);
        return fail(DREP_ERR_NOMEM, "out of memory: cannot make a lock");
    }
    f->ready = true;
    f->most = st->io->round_trip ? most : 0;
    return 0;
}

static void free_all(struct fetched *m)
{
    while (m) {
        struct fetched *next = m->next;

        mem_free(m);
        m = next;
    }
}

void fetch_release(struct fetch *f)
{
    if (!f->ready)
        return;
    free_all(f->kept);
    free_all(f->lent);
    pthread_rwlock_destroy(&f->lock);
    pthread_mutex_destroy(&f->extent);
    f->ready = false;
}

/* ---- reading ---- */

static int ranges_by_offset(const void *a, const void *b)
{
    const struct io_range *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* True if range b, which begins where a ends or before, may become a part of it. */
static bool may_join(const struct io_range *a, const struct io_range *b)
{
    if (!a->buf && !b->buf)
        return true;
    return a->buf && b->buf == (uint8_t *)a->buf + a->size && b->offset == a->offset + a->size;
}

/* Join ranges that overlap or touch, or whose gap costs less than a round trip of its own where
 * the driver makes one for each range.  One that overlaps another and cannot be joined is left
 * out. */
static size_t join(const struct io *io, struct io_range *range, size_t n)
{
    uint64_t gap = io->ops->read_many ? 0 : io->round_trip;
    size_t m = 0;

    qsort(range, n, sizeof(*range), ranges_by_offset);
    for (size_t i = 1; i < n; i++) {
        uint64_t end = range[m].offset + range[m].size, far = range[i].offset + range[i].size;

        if (range[i].offset > end && (range[i].offset - end > gap || range[m].buf || range[i].buf))
            range[++m] = range[i];
        else if (!may_join(&range[m], &range[i])) {
            if (range[i].offset == end)
                range[++m] = range[i];
        } else if (far > end)
            range[m].size = (size_t)(far - range[m].offset);
    }
    return m + 1;
}

/* Leave out what is not in the file or exceeds the limit. */
static size_t limit(const struct store *st, struct io_range *range, size_t n, uint64_t *size)
{
    uint64_t end = store_end(st);
    size_t m = 0;

    *size = 0;
    for (size_t i = 0; i < n; i++) {
        if (range[i].offset > end || range[i].size > end - range[i].offset ||
            range[i].size > st->fetch->most - *size)
            continue;
        *size += range[i].size;
        range[m++] = range[i];
    }
    return m;
}

/* Take one piece of memory for all ranges that have none. */
static struct fetched *place_ranges(const struct io_range *range, size_t n)
{
    size_t head = sizeof(struct fetched) + n * sizeof(*range), size = 0;
    struct fetched *m;
    uint8_t *p;

    for (size_t i = 0; i < n; i++)
        size += range[i].buf ? 0 : range[i].size;
    m = mem_alloc(head + size);
    if (!m)
        return NULL;
    *m = (struct fetched){.size = size, .n = n};
    p = (uint8_t *)m + head;
    for (size_t i = 0; i < n; i++) {
        m->range[i] = range[i];
        if (!range[i].buf) {
            m->range[i].buf = p;
            p += range[i].size;
        }
    }
    return m;
}

/* Read what has a place; gives m, or NULL after freeing it.  Nothing that fails here is told, also
 * not by a message: the read that needs the bytes will fail too, and knows what for. */
static struct fetched *read_placed(struct io *io, struct fetched *m)
{
    struct fail_state why;

    if (!m)
        return NULL;
    fail_save(&why);
    if (io_read_many(io, m->range, m->n)) {
        mem_free(m);
        m = NULL;
    }
    fail_restore(&why);
    return m;
}

void fetch_plan(struct fetching *g, struct store *st, struct io_range *range, size_t n)
{
    uint64_t size;

    *g = (struct fetching){.io = st->io};
    if (n > 0)
        n = limit(st, range, join(st->io, range, n), &size);
    if (n > 0)
        g->m = place_ranges(range, n);
}

static void *fetch_thread(void *ctx)
{
    struct fetching *g = ctx;

    g->m = read_placed(g->io, g->m);
    return NULL;
}

void fetch_start(struct fetching *g)
{
    sigset_t all, old;

    if (!g->m)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    g->started = pthread_create(&g->thread, NULL, fetch_thread, g) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct fetched *fetch_wait(struct fetching *g)
{
    if (g->started)
        pthread_join(g->thread, NULL);
    else
        g->m = read_placed(g->io, g->m);
    g->started = false;
    return g->m;
}

struct fetched *fetch_ranges(struct store *st, struct io_range *range, size_t n)
{
    struct fetching g;

    fetch_plan(&g, st, range, n);
    return fetch_wait(&g);
}

struct fetched *fetch_front(struct store *st, size_t size)
{
    struct io_range range = {0, size, NULL};

    return read_placed(st->io, place_ranges(&range, 1));
}

bool fetch_copy(const struct fetched *m, void *buf, size_t size)
{
    if (!m || m->range[0].size < size)
        return false;
    memcpy(buf, m->range[0].buf, size);
    return true;
}

/* ---- the lists ---- */

/* The newest piece stays whatever its size, so at most twice `most` is kept. */
void fetch_insert(struct store *st, struct fetched *m)
{
    struct fetch *f = st->fetch;
    struct fetched **at;
    uint64_t size = 0;

    if (!m)
        return;
    pthread_rwlock_wrlock(&f->lock);
    m->next = f->kept;
    f->kept = m;
    for (at = &f->kept; *at && size <= f->most; at = &(*at)->next)
        size += (*at)->size;
    free_all(*at);
    *at = NULL;
    pthread_rwlock_unlock(&f->lock);
}

void fetch_lend(struct store *st, struct fetched *m)
{
    struct fetch *f = st->fetch;

    if (!m)
        return;
    pthread_rwlock_wrlock(&f->lock);
    m->next = f->lent;
    f->lent = m;
    atomic_fetch_add(&f->lent_n, 1);
    pthread_rwlock_unlock(&f->lock);
}

void fetch_end(struct store *st, struct fetched *m)
{
    struct fetch *f = st->fetch;
    struct fetched **at = &f->lent;

    if (!m)
        return;
    pthread_rwlock_wrlock(&f->lock);
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    atomic_fetch_sub(&f->lent_n, 1);
    pthread_rwlock_unlock(&f->lock);
    mem_free(m);
}

void fetch_discard(struct fetched *m)
{
    mem_free(m);
}

/* Find the last range that begins at a byte or before it; NULL: none. */
static const struct io_range *range_before(const struct fetched *m, uint64_t offset)
{
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (m->range[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? &m->range[low - 1] : NULL;
}

/* Copy bytes, which may be in several ranges that follow each other; to NULL: only look.  False:
 * not all of them are there. */
static bool copy_ranges(const struct fetched *m, uint8_t *to, size_t size, uint64_t offset)
{
    const struct io_range *r = range_before(m, offset), *end = m->range + m->n;

    for (; r && r < end; r++) {
        uint64_t in = offset - r->offset;
        size_t now;

        if (r->offset > offset || in > r->size)
            return false;
        now = r->size - in < size ? (size_t)(r->size - in) : size;
        if (to && now > 0 && to != (uint8_t *)r->buf + in)
            memcpy(to, (const uint8_t *)r->buf + in, now);
        to = to ? to + now : NULL;
        offset += now;
        size -= now;
        if (size == 0)
            return true;
    }
    return false;
}

bool fetch_take(struct store *st, enum fetch_kind kind, void *buf, size_t size, uint64_t offset)
{
    struct fetch *f = st->fetch;
    bool found = false;

    pthread_rwlock_rdlock(&f->lock);
    for (const struct fetched *m = kind == FETCH_META ? f->kept : f->lent; m && !found; m = m->next)
        found = copy_ranges(m, buf, size, offset);
    pthread_rwlock_unlock(&f->lock);
    return found;
}

/* ---- the metadata extent ---- */

/* True if the extent has this byte and may be fetched as a whole. */
static bool extent_serves(const struct store *st, uint64_t offset)
{
    const struct slot *s = &st->slot;

    return s->meta_offset && offset - s->meta_offset < s->meta_length &&
           s->meta_length <= st->fetch->most;
}

bool fetch_extent_waits(const struct store *st, uint64_t offset)
{
    return extent_serves(st, offset) &&
           atomic_load_explicit(&st->fetch->extent_tried, memory_order_acquire) !=
               st->slot.meta_offset;
}

bool fetch_extent(struct store *st, uint64_t offset)
{
    struct io_range range = {st->slot.meta_offset, (size_t)st->slot.meta_length, NULL};
    struct fetch *f = st->fetch;

    if (!fetch_extent_waits(st, offset))
        return false;
    pthread_mutex_lock(&f->extent);
    if (fetch_extent_waits(st, offset)) {
        fetch_insert(st, fetch_ranges(st, &range, 1));
        atomic_store_explicit(&f->extent_tried, range.offset, memory_order_release);
    }
    pthread_mutex_unlock(&f->extent);
    return true;
}
