/* read.c - a file behind a URL, read by ranges. */
/* SPDX-License-Identifier: MIT */
#include "remote/read.h"
#include "remote/ahead.h"
#include "remote/line.h"
#include "remote/plan.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_READ ((size_t)64 << 10)
#define FRONT_SECONDS 5
#define ROUND_TRIP 1000000 /* bytes that could be moved meanwhile */

struct remote_file {
    struct site site;
    struct line line;
    struct version_pin pin;
    struct read_ahead ahead;
    atomic_int reading;   /* calls that read from the server */
    pthread_mutex_t lock; /* of `front` */
    /* The first bytes, for a while: who reads them again later wants to know whether they have
     * changed. */
    uint8_t *front;
    size_t nfront;
    time_t front_until;
    bool whole; /* `front` is all of the file, and stays */
};

static void remote_close(void *state)
{
    struct remote_file *m = state;

    ahead_release(&m->ahead);
    line_release(&m->line);
    site_release(&m->site);
    free(m->front);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static int remote_size(void *state, uint64_t *size)
{
    *size = ((struct remote_file *)state)->pin.size;
    return 0;
}

static time_t now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Copy ranges from the bytes at hand; false: they are not all among them. */
static bool from_front(struct remote_file *m, const drep_range *range, size_t n)
{
    bool have;

    pthread_mutex_lock(&m->lock);
    if (!m->whole && m->front && now_seconds() > m->front_until) {
        free(m->front);
        m->front = NULL;
    }
    have = m->front && range[n - 1].offset + range[n - 1].size <= m->nfront;
    for (size_t i = 0; have && i < n; i++)
        memcpy(range[i].buf, m->front + range[i].offset, range[i].size);
    pthread_mutex_unlock(&m->lock);
    return have;
}

static int fetch_parts(struct remote_file *m, const struct part *part, size_t n)
{
    struct request *requests = calloc(n, sizeof *requests);
    struct why why = {0};

    if (!requests)
        return say_error(DREP_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct request *r = &requests[i];

        r->aim = AIM_BYTES;
        r->pin = &m->pin;
        r->first = part[i].first;
        r->size = part[i].size;
        r->range = part[i].range;
        r->nrange = part[i].nrange;
    }
    line_run(&m->line, requests, n, &why);
    free(requests);
    return why_raise(&why);
}

static int fetch_rest(struct remote_file *m, const drep_range *range, size_t n)
{
    struct part *parts = NULL;
    size_t nparts = 0;
    int err = plan_parts(range, n, &parts, &nparts);

    if (!err)
        err = fetch_parts(m, parts, nparts);
    free(parts);
    return err;
}

#define PLACES 2 /* of a read that may go on: bytes, and their checksums elsewhere */

/* Note where a read may go on: at its only places, but not at one of many that are far from each
 * other. */
static void note_places(struct remote_file *m, const drep_range *range, size_t n)
{
    struct {
        uint64_t first, end, wanted;
    } place[PLACES];
    size_t many = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t first = range[i].offset, end = first + range[i].size;

        if (many == 0 || first - place[many - 1].end > PLAN_GAP) {
            if (many == PLACES)
                return;
            place[many].first = first;
            place[many++].wanted = 0;
        }
        place[many - 1].end = end;
        place[many - 1].wanted += range[i].size;
    }
    for (size_t i = 0; i < many; i++) {
        if (place[i].end - place[i].first <= 2 * place[i].wanted)
            ahead_note(&m->ahead, place[i].first, place[i].end);
    }
}

/* Read what was fetched ahead from there, and the rest from the server. */
static int ahead_or_fetch(struct remote_file *m, const drep_range *range, size_t n)
{
    drep_range *rest = malloc(n * sizeof *rest);
    size_t nrest = 0;
    int err;

    if (!rest)
        return say_error(DREP_ERR_NOMEM, "out of memory");
    /* Who has several reads under way waits for no round trip between them. */
    if (atomic_fetch_add(&m->reading, 1) == 0)
        note_places(m, range, n);
    for (size_t i = 0; i < n; i++) {
        if (range[i].size > 0 && !ahead_take(&m->ahead, &range[i]))
            rest[nrest++] = range[i];
    }
    err = nrest > 0 ? fetch_rest(m, rest, nrest) : 0;
    atomic_fetch_sub(&m->reading, 1);
    free(rest);
    return err;
}

static int remote_read(void *state, const drep_range *range, size_t n)
{
    struct remote_file *m = state;

    while (n > 0 && range[n - 1].size == 0)
        n--;
    if (n == 0)
        return 0;
    if (range[n - 1].offset > m->pin.size || range[n - 1].size > m->pin.size - range[n - 1].offset)
        return say_error(DREP_ERR_TRUNCATE, "the file has %llu bytes",
                         (unsigned long long)m->pin.size);
    return from_front(m, range, n) ? 0 : ahead_or_fetch(m, range, n);
}

/* Take the version and the first bytes from the first answer. */
static void remote_pin(struct remote_file *m, struct request *r)
{
    const struct reply *a = &r->reply;
    bool part = a->status == 206;

    m->pin.tagged = a->tagged;
    m->pin.dated = a->dated;
    memcpy(m->pin.tag, a->tag, sizeof a->tag);
    memcpy(m->pin.date, a->date, sizeof a->date);
    m->pin.size = part ? a->total : r->sunk;
    m->front = r->sink;
    m->nfront = r->sunk;
    m->whole = !part;
    m->front_until = now_seconds() + FRONT_SECONDS;
    r->sink = NULL;
}

static int remote_first(struct remote_file *m, struct why *why)
{
    struct request r = {.aim = AIM_FIRST, .size = FIRST_READ, .room = FIRST_READ, .pin = &m->pin};
    int err;

    r.grows = m->site.whole;
    r.grow_max = m->site.whole_max > FIRST_READ ? m->site.whole_max : FIRST_READ;
    r.sink = malloc(FIRST_READ);
    if (!r.sink)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    err = line_run(&m->line, &r, 1, why);
    if (!err)
        remote_pin(m, &r);
    free(r.sink);
    return err;
}

int remote_open(const char *url, int by_file, const drep_info *hints, drep_driver *driver,
                void **state, struct why *why)
{
    struct remote_file *m = calloc(1, sizeof *m);
    int err;

    if (!m)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    pthread_mutex_init(&m->lock, NULL);
    ahead_init(&m->ahead, &m->line, &m->pin);
    err = site_init(&m->site, url, by_file, hints, why);
    /* A line without a multi handle is released all the same. */
    if (!err)
        err = line_init(&m->line, &m->site, why);
    if (!err)
        err = remote_first(m, why);
    if (err) {
        remote_close(m);
        return err;
    }
    *driver = DREP_DRIVER(.read_many = remote_read, .file_size = remote_size, .close = remote_close,
                          .round_trip = ROUND_TRIP, .first_read = FIRST_READ);
    *state = m;
    return 0;
}
